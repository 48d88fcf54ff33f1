//! The nearest known name to a misspelt one: by insertions, deletions, replacements and swaps of neighbours.
#![forbid(unsafe_code)]

use strsim::osa_distance;

/// The candidate with the smallest edit distance, if it is near enough to be meant: a third of the
/// length, at least 1, and not every letter. Ties go to the first in order.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = osa_distance(word, candidate);
        if distance <= limit && best.is_none_or(|(d, _)| distance < d) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// The remedy for an unknown word: the nearest known one, or what to do if there is none.
#[must_use]
pub fn remedy<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    otherwise: &str,
) -> String {
    match nearest(word, candidates) {
        Some(name) => format!("did you mean `{name}`?"),
        None => otherwise.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far() {
        assert_eq!(nearest("vgrp", ["sgpr", "vgpr"]), Some("vgpr"));
        assert_eq!(nearest("b3", ["b32", "b64"]), Some("b32"));
        assert_eq!(nearest("z", ["x"]), None);
        assert_eq!(nearest("wholly.else", ["b32", "b64"]), None);
    }
}
