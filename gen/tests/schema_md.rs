//! The examples of `hw-tables/SCHEMA.md` are read with the schema that they document.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::families;
use lanebook_gen::schema::{
    Arch, Atom, AxesFile, Axis, Broadcast, Dtype, DtypesFile, Group, HwFile, IsaFile, IsaPart,
    Operand, SourcesFile, Verdicts, VerdictsFile, unit,
};
use lanebook_gen::source::{Sources, Span};
use lanebook_gen::spanned::{Entry, Spanned, read, whole};
use serde::de::DeserializeOwned;
use std::path::Path;

/// The field that is read so that the audit can say that it is not written: no example has it.
const READ_TO_BE_REFUSED: &str = "status";

fn parsed<T: DeserializeOwned>(sources: &Sources, span: Span) -> T {
    read(sources, span)
        .unwrap_or_else(|error| panic!("{}\n{}", error.plain(sources), error.excerpt(sources)))
}

/// The atoms of a family, each of them sound.
fn family(text: &str) -> usize {
    let (mut sources, mut diags) = (Sources::default(), Diagnostics::new());
    let file = format!("(groups: [(name: \"g\", isa: \"i\", families: [{text}])])");
    let id = sources.add("hw-tables/example.ron", None, file);
    families::expand(&mut sources, &mut diags);
    assert!(diags.is_empty(), "{}", diags.plain(&sources));
    let group: Group =
        parsed(&sources, parsed::<HwFile>(&sources, whole(&sources, id)).groups[0].span);
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
        let is_file = ["(sources:", "(dtypes:", "(axes:", "(verdicts:", "(\n    //", "(\n    isa:"]
            .iter()
            .any(|start| block.starts_with(start));
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
        } else if block.starts_with("(dtypes:") {
            for entry in parsed::<DtypesFile>(&sources, span).dtypes {
                parsed::<Dtype>(&sources, entry.span);
            }
        } else if block.starts_with("(axes:") {
            for entry in parsed::<AxesFile>(&sources, span).axes {
                parsed::<Axis>(&sources, entry.span);
            }
        } else if block.starts_with("(verdicts:") {
            for entry in parsed::<VerdictsFile>(&sources, span).verdicts {
                parsed::<Verdicts>(&sources, entry.span);
            }
        } else if block.starts_with("(\n    isa:") {
            let file: IsaFile = parsed(&sources, span);
            parsed::<IsaPart>(&sources, file.isa.span).complete(None).unwrap();
            kinds.push("isa");
        } else if is_file {
            let file: HwFile = parsed(&sources, span);
            let groups: Vec<Spanned<Group>> = file
                .groups
                .iter()
                .map(|g| Spanned { value: parsed(&sources, g.span), span: g.span })
                .collect();
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
    assert_eq!(
        kinds,
        [
            "sources",
            "file",
            "atom",
            "broadcast",
            "family",
            "atom",
            "operand",
            "atom",
            "operand",
            "units",
            "arch",
            "isa"
        ]
    );
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
    for entry in &units.order_limits {
        parsed::<unit::OrderLimit>(sources, entry.span);
    }
    for entry in &units.map_limits {
        parsed::<unit::MapLimit>(sources, entry.span);
    }
    for entry in &units.tensor_maps {
        parsed::<unit::TensorMap>(sources, entry.span);
    }
    // The words of the schema, from its source.
    let schema =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/unit.rs"))
            .unwrap();
    for line in
        schema.lines().map(str::trim).filter(|line| line.starts_with("pub ") && line.ends_with(','))
    {
        let word = line.trim_start_matches("pub ").split(':').next().unwrap();
        assert!(
            word == READ_TO_BE_REFUSED || text.contains(&format!("{word}:")),
            "SCHEMA.md shows no `{word}` of a matrix unit"
        );
    }
}

/// Fields of the schema's records and words of its lists, read from its source: `(type, name)`.
fn names(kind: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).unwrap();
        let (mut owner, mut read) = (None::<String>, false);
        for line in text.lines() {
            if line.starts_with("#[derive(") {
                read = line.contains("Deserialize");
            } else if let Some(rest) = line.strip_prefix(&format!("pub {kind} ")).filter(|_| read) {
                owner = Some(rest.split([' ', '<', '(']).next().unwrap_or_default().to_string());
            } else if line == "}" {
                owner = None;
            } else if let (Some(owner), Some(rest)) = (
                &owner,
                line.strip_prefix("    ").filter(|rest| !rest.starts_with([' ', '/', '#', '}'])),
            ) {
                let name = rest
                    .strip_prefix("pub ")
                    .unwrap_or(rest)
                    .split([':', ',', '(', ' ', '{'])
                    .next()
                    .unwrap_or_default();
                out.push((owner.clone(), name.to_string()));
            }
        }
    }
    assert!(out.len() > 20, "{kind}: {out:?}");
    out
}

fn has_word(text: &str, word: &str, before: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let rest = &text[at + word.len()..];
        !text[..at].ends_with(inside) && !rest.starts_with(inside) && rest.starts_with(before)
    })
}

/// Every field that the schema reads stands in an example, and every word of its closed lists is
/// explained.
#[test]
fn every_field_and_word_is_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hw-tables/SCHEMA.md");
    let text = std::fs::read_to_string(path).unwrap();
    let examples: String =
        text.split("```ron\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(
        text.contains("a `status` that is typed is a finding")
            && !has_word(&examples, READ_TO_BE_REFUSED, ":")
    );
    let fields = names("struct").into_iter().filter(|(_, name)| name != READ_TO_BE_REFUSED);
    let fields = fields.filter(|(_, name)| !has_word(&examples, name, ":"));
    let snake = |name: &str| -> String {
        let letters = name.chars().enumerate();
        letters
            .flat_map(|(at, c)| {
                (c.is_uppercase() && at > 0).then_some('_').into_iter().chain(c.to_lowercase())
            })
            .collect()
    };
    let words = names("enum").into_iter().filter(|(owner, _)| snake(owner) != READ_TO_BE_REFUSED);
    let words = words.filter(|(_, name)| !has_word(&text, &snake(name), ""));
    let missing: Vec<String> =
        fields.chain(words).map(|(owner, name)| format!("{owner}::{name}")).collect();
    assert!(missing.is_empty(), "hw-tables/SCHEMA.md has no example of {}", missing.join(", "));
}
