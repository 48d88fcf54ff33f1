//! The nearest known name to a misspelt one.

/// The candidate with the smallest edit distance, if it is near enough to be meant: a third of the
/// length, at least 1, and not every letter. Ties go to the first in order.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = distance(word, candidate);
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

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut rows = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[(i - 1) * width + j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least =
                    replaced.min(rows[(i - 1) * width + j] + 1).min(rows[i * width + j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[(i - 2) * width + j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len() * width + b.len()]
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
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
