//! Words of this repository's tables, misspelt: each is an error at its place, with the word that
//! was meant.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::source::Sources;
use lanebook_gen::{Mode, compile_sources, load};
use std::path::Path;

/// A misspelt word of `does`, and what it was.
const MISSPELT: [(&str, &str); 5] = [
    ("shufle_xor", "shuffle_xor"),
    ("mx", "max"),
    ("concat_reg", "concat_regs"),
    ("cats", "cast"),
    ("byte_permut", "byte_permute"),
];

/// The repository's inputs, where the first atom with each word has it misspelt.
fn misspelt() -> Sources {
    let found =
        load::find(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut Diagnostics::new());
    let (mut sources, mut left) = (Sources::default(), MISSPELT.to_vec());
    for (_, file) in found.iter() {
        let mut text = file.text.clone();
        left.retain(|(wrong, right)| {
            let (word, typo) =
                (format!("does: (op: \"{right}\""), format!("does: (op: \"{wrong}\""));
            let before = text.clone();
            text = text.replacen(&word, &typo, 1);
            text == before
        });
        sources.add(&file.name, None, text);
    }
    assert!(left.is_empty(), "no atom does {left:?}");
    sources
}

#[test]
fn a_misspelt_word_of_an_atom_is_an_error_at_its_place() {
    let failure = compile_sources(misspelt(), Diagnostics::new(), Mode::Draft).unwrap_err();
    let said = failure.plain();
    for (wrong, right) in MISSPELT {
        let line =
            said.lines().find(|line| line.contains(&format!("nothing asks an atom for `{wrong}`")));
        let line = line.unwrap_or_else(|| panic!("{wrong}: {said}"));
        assert!(
            line.starts_with("hw-tables/") && line.contains(&format!("did you mean `{right}`?")),
            "{line}"
        );
        let place: Vec<&str> = line.splitn(4, ':').collect();
        let (number, column): (usize, usize) =
            (place[1].parse().unwrap(), place[2].parse().unwrap());
        let file = failure.sources.iter().find(|(_, file)| file.name == place[0]).unwrap().1;
        let at: String =
            file.text.lines().nth(number - 1).unwrap().chars().skip(column - 1).collect();
        assert!(at.starts_with(&format!("\"{wrong}\"")), "{line}: {at}");
    }
}

/// The kind of a tensor unit's shape is what its descriptor describes.
#[test]
fn a_misspelt_kind_of_a_shape_is_an_error_at_its_place() {
    let found =
        load::find(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut Diagnostics::new());
    let mut sources = Sources::default();
    for (_, file) in found.iter() {
        sources.add(
            &file.name,
            None,
            file.text.replacen(
                "(kind: \"mxf4nvf4\", blocks: 2",
                "(kind: \"mxf4nfv4\", blocks: 2",
                1,
            ),
        );
    }
    let said = compile_sources(sources, Diagnostics::new(), Mode::Draft).unwrap_err().plain();
    let line = said
        .lines()
        .find(|line| line.contains("a shape of kind `mxf4nfv4`"))
        .unwrap_or_else(|| panic!("{said}"));
    assert!(
        line.starts_with("hw-tables/nvidia/tensor_memory.ron:")
            && line.contains("did you mean `mxf4nvf4`?"),
        "{line}"
    );
}
