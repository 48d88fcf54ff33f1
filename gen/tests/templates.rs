//! A template in one string gives back the pieces that it was made from.
use lanebook_tables::{Piece, Template};

fn encoded(pieces: &[Piece<'_>]) -> String {
    let mut out = String::new();
    for (start, text, end) in pieces.iter().map(|piece| Template::written(*piece).unwrap()) {
        if let Some((sign, number)) = start {
            out.extend([sign, number]);
        }
        out.push_str(text);
        out.extend(end);
    }
    out
}

#[test]
fn there_and_back() {
    let pieces = [
        Piece::Text("ld.shared.v4 "),
        Piece::Operand(0),
        Piece::Text(", ["),
        Piece::Operand(63),
        Piece::Optional(2, "+"),
        Piece::Text("];\n\tadd "),
        Piece::Half(3, false),
        Piece::Half(3, true),
        Piece::Optional(4, " offset:"),
        Piece::Optional(5, ""),
    ];
    let text = encoded(&pieces);
    assert_eq!(Template(&text).pieces().collect::<Vec<_>>(), pieces);
    assert_eq!(Template("").pieces().next(), None);
    assert_eq!(Template("plain").into_iter().collect::<Vec<_>>(), [Piece::Text("plain")]);
}

#[test]
fn what_cannot_be_written_is_refused() {
    for piece in [
        Piece::Frame("x"),
        Piece::Operand(64),
        Piece::Half(200, true),
        Piece::Text("\u{1}"),
        Piece::Optional(0, "\u{3}"),
    ] {
        assert_eq!(Template::written(piece), None, "{piece:?}");
    }
}

#[test]
fn damaged_text_ends() {
    for damaged in ["\u{1}", "\u{1} ", "\u{2}0", "\u{2}0 +", "\u{3}0", "\u{1}\u{20ac}", "\u{0}a"] {
        assert_eq!(Template(damaged).pieces().next(), None, "{damaged:?}");
    }
    assert_eq!(Template("a\u{3}").pieces().collect::<Vec<_>>(), [Piece::Text("a")]);
}

/// All templates of this repository's tables survive: each operand that is not implicit is in its
/// template, unless the instruction's descriptor says it (the extents of products in tensor
/// memory).
#[test]
fn the_repository_s_templates_name_their_operands() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let compiled = lanebook_gen::compile(&root, lanebook_gen::Mode::Draft)
        .unwrap_or_else(|failure| panic!("{}", failure.full()));
    for atom in compiled.tables().atoms {
        for (number, operand) in
            atom.operands.iter().enumerate().filter(|(_, operand)| !operand.implicit)
        {
            let shown = atom
                .template
                .into_iter()
                .any(|piece| matches!(piece, Piece::Operand(k) | Piece::Optional(k, _) | Piece::Half(k, _) if usize::from(k) == number));
            let described =
                atom.tensor().is_some() && operand.role == lanebook_tables::Role::Immediate;
            assert!(shown || described, "{} {}", atom.name(), operand.name.text());
        }
    }
}
