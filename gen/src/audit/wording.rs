//! What the text of an instruction says, word by word.
//!
//! Letters and numbers of a text, the words of the index language among them, and the order in which
//! operands stand in it. Nothing is judged here.
use super::spelling::text;
use crate::means::INDEX_WORDS;
use crate::model::Atom;
use crate::template::{Piece, half};
use std::collections::BTreeSet;

/// A text as it is written in the tables.
pub(super) fn template(atom: &Atom) -> String {
    let pieces = atom.template.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Name(name) => format!("{{{name}}}"),
        Piece::Optional(name, before) => format!("{{{name}?{before}}}"),
    });
    pieces.collect()
}

/// Runs of letters of an instruction's first word.
pub(super) fn letters(atom: &Atom) -> Vec<String> {
    let text = text(atom);
    let mnemonic = text.split_whitespace().next().unwrap_or_default();
    let parts = mnemonic.split(|c: char| !c.is_ascii_alphabetic());
    parts.filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// Whether an atom is one line of text.
pub(super) fn one_line(atom: &Atom) -> bool {
    !text(atom).trim_end().contains('\n')
}

/// A word of the index language without its width.
pub(super) fn stem(word: &str) -> &str {
    word.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or(word)
}

/// The words of the index language that a text says.
pub(super) fn said(letters: &[String]) -> BTreeSet<&'static str> {
    let stems = INDEX_WORDS.iter().map(|(word, ..)| stem(word));
    stems
        .filter(|stem| {
            letters.iter().any(|word| word == stem || stem.len() > 2 && word.contains(stem))
        })
        .collect()
}

/// Names of operands in the order of a text.
pub(super) fn written(atom: &Atom) -> Vec<&str> {
    let names = atom.template.iter().filter_map(|piece| match piece {
        // A half of a tuple stands for it.
        Piece::Name(name) | Piece::Optional(name, _) => {
            Some(half(name).map_or(name.as_str(), |(whole, _)| whole))
        }
        Piece::Text(_) => None,
    });
    names.collect()
}

/// Whether a mnemonic says that it takes its operands the other way round.
pub(super) fn reversed(atom: &Atom) -> bool {
    letters(atom).iter().any(|word| word.ends_with("rev"))
}

/// Numbers in the text.
pub(super) fn numbers_in(text: &str) -> BTreeSet<u64> {
    let digits = text.split(|c: char| !c.is_ascii_digit());
    let mut out: BTreeSet<u64> = digits.filter_map(|run| run.parse().ok()).collect();
    let hex = text.split(|c: char| !c.is_ascii_alphanumeric());
    out.extend(hex.filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()));
    out
}
