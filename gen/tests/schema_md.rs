//! The examples of `hw-tables/SCHEMA.md` are read with the schema that they document.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::families;
use lanebook_gen::schema::{Arch, Atom, Broadcast, Group, HwFile, IsaFile, IsaPart, Operand, SourcesFile};
use lanebook_gen::source::{Sources, Span};
use lanebook_gen::spanned::{Entry, Spanned, read, whole};
use serde::de::DeserializeOwned;
use std::path::Path;

fn parsed<T: DeserializeOwned>(sources: &Sources, span: Span) -> T {
    read(sources, span).unwrap_or_else(|error| panic!("{}\n{}", error.plain(sources), error.excerpt(sources)))
}

/// The atoms of a family, each of them sound.
fn family(text: &str) -> usize {
    let (mut sources, mut diags) = (Sources::default(), Diagnostics::new());
    let file = format!("(groups: [(name: \"g\", isa: \"i\", families: [{text}])])");
    let id = sources.add("hw-tables/example.ron", None, file);
    families::expand(&mut sources, &mut diags);
    assert!(diags.is_empty(), "{}", diags.plain(&sources));
    let group: Group = parsed(&sources, parsed::<HwFile>(&sources, whole(&sources, id)).groups[0].span);
    let members: Vec<_> = families::members(&sources, group.families[0].span).collect();
    members.iter().for_each(|member| drop(parsed::<Atom>(&sources, whole(&sources, *member))));
    members.len()
}

#[test]
fn every_example_is_sound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hw-tables/SCHEMA.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut kinds = Vec::new();
    for block in text.split("```ron\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        let mut sources = Sources::default();
        // Lists of entries and the architecture stand without what they are in.
        let is_file = ["(sources:", "(\n    //", "(\n    isa:"].iter().any(|start| block.starts_with(start));
        let text = match block {
            _ if is_file => block.to_string(),
            _ if block.starts_with("arch:") => format!("({block})"),
            _ => format!("[{block}]"),
        };
        let id = sources.add("SCHEMA.md", None, text);
        let span = whole(&sources, id);
        if block.starts_with("(sources:") {
            parsed::<SourcesFile>(&sources, span);
            kinds.push("sources");
        } else if block.starts_with("(\n    isa:") {
            let file: IsaFile = parsed(&sources, span);
            parsed::<IsaPart>(&sources, file.isa.span).complete(None).unwrap();
            kinds.push("isa");
        } else if is_file {
            let file: HwFile = parsed(&sources, span);
            let groups: Vec<Spanned<Group>> = file.groups.iter().map(|g| Spanned { value: parsed(&sources, g.span), span: g.span }).collect();
            assert_eq!((groups.len(), file.accesses.len(), file.tags.len()), (1, 3, 1));
            kinds.push("file");
        } else if block.starts_with("arch:") {
            parsed::<Arch>(&sources, parsed::<HwFile>(&sources, span).arch.unwrap().span);
            kinds.push("arch");
        } else {
            for entry in parsed::<Vec<Entry>>(&sources, span) {
                let text = sources.text(entry.span);
                if text.contains("each:") {
                    assert_eq!(family(text), 4, "two rows of each table");
                    kinds.push("family");
                } else if text.contains("rows:") {
                    parsed::<Broadcast>(&sources, entry.span);
                    kinds.push("broadcast");
                } else if text.contains("template:") {
                    parsed::<Atom>(&sources, entry.span);
                    kinds.push("atom");
                } else {
                    parsed::<Operand>(&sources, entry.span);
                    kinds.push("operand");
                }
            }
        }
    }
    kinds.dedup();
    assert_eq!(kinds, ["sources", "file", "atom", "broadcast", "family", "atom", "operand", "atom", "operand", "arch", "isa"]);
}
