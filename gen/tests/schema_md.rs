//! The examples of `hw-tables/SCHEMA.md` are read with the schema that they document.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::families;
use lanebook_gen::schema::{Arch, Atom, Broadcast, Group, HwFile, Isa, IsaFile, Operand, SourcesFile, unit};
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
            _ if block.starts_with("arch:") || block.starts_with("units:") => format!("({block})"),
            _ => format!("[{block}]"),
        };
        let id = sources.add("SCHEMA.md", None, text);
        let span = whole(&sources, id);
        if block.starts_with("(sources:") {
            parsed::<SourcesFile>(&sources, span);
            kinds.push("sources");
        } else if block.starts_with("(\n    isa:") {
            let file: IsaFile = parsed(&sources, span);
            parsed::<Isa>(&sources, file.isa.span);
            kinds.push("isa");
        } else if is_file {
            let file: HwFile = parsed(&sources, span);
            let groups: Vec<Spanned<Group>> = file.groups.iter().map(|g| Spanned { value: parsed(&sources, g.span), span: g.span }).collect();
            assert_eq!((groups.len(), file.accesses.len(), file.tags.len()), (1, 3, 1));
            kinds.push("file");
        } else if block.starts_with("units:") {
            units(&sources, span);
            kinds.push("units");
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
    assert_eq!(kinds, ["sources", "file", "atom", "broadcast", "family", "atom", "operand", "atom", "operand", "units", "arch", "isa"]);
}

/// Every list of `units`, and every word of each type is in its example.
fn units(sources: &Sources, span: Span) {
    #[derive(serde::Deserialize)]
    struct Part {
        units: unit::Units,
    }
    let units = parsed::<Part>(sources, span).units;
    let text = sources.text(span);
    for entry in &units.descriptors {
        parsed::<unit::Descriptor>(sources, entry.span);
    }
    for entry in &units.swizzles {
        parsed::<unit::SwizzleMode>(sources, entry.span);
    }
    for entry in &units.operand_tiles {
        parsed::<unit::OperandTile>(sources, entry.span);
    }
    for entry in &units.tensor_memories {
        parsed::<unit::TensorMemory>(sources, entry.span);
    }
    for entry in &units.tensor_tiles {
        parsed::<unit::TensorTile>(sources, entry.span);
    }
    for entry in &units.tensor_moves {
        parsed::<unit::TensorMove>(sources, entry.span);
    }
    for entry in &units.shapes {
        parsed::<unit::UnitShape>(sources, entry.span);
    }
    for entry in &units.tensor_maps {
        parsed::<unit::TensorMap>(sources, entry.span);
    }
    // The words of the schema, from its source.
    let schema = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/unit.rs")).unwrap();
    for line in schema.lines().map(str::trim).filter(|line| line.starts_with("pub ") && line.ends_with(',')) {
        let word = line.trim_start_matches("pub ").split(':').next().unwrap();
        assert!(text.contains(&format!("{word}:")), "SCHEMA.md shows no `{word}` of a matrix unit");
    }
}
