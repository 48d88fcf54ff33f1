//! Names that fit a pattern.

/// Whether a name fits a pattern in which `*` stands for any text.
#[must_use]
pub fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, wanted) in [
            ("a.b", "a.b", true),
            ("a.b", "a.bc", false),
            ("a*", "a", true),
            ("*b", "aab", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abcd", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("", "a", false),
        ] {
            assert_eq!(fits(pattern, name), wanted, "{pattern} {name}");
        }
    }
}
