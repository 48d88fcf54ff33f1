//! Text templates: `{name}`, `{name.lo}`, `{name.hi}`, `{name?TEXT}`, `{{` and `}}`.

/// A piece of a template before names are resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands.
    Text(String),
    /// A placeholder.
    Name(String),
    /// A placeholder that disappears with the text before it when it is zero.
    Optional(String, String),
}

/// `a.lo` and `a.hi`: the operand, and whether the upper half is meant.
#[must_use]
pub fn half(name: &str) -> Option<(&str, bool)> {
    name.strip_suffix(".lo")
        .map(|name| (name, false))
        .or_else(|| name.strip_suffix(".hi").map(|name| (name, true)))
}

/// Splits a template. The error is the byte offset of the offending character and what is wrong.
pub fn parse(text: &str) -> Result<Vec<Piece>, (usize, &'static str)> {
    let mut out = Vec::new();
    let mut plain = String::new();
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        match c {
            '{' | '}' if rest.peek().is_some_and(|(_, next)| *next == c) => {
                rest.next();
                plain.push(c);
            }
            '}' => return Err((at, "a `}` without its `{`: write `}}` for a brace")),
            '{' => {
                let mut inside = String::new();
                loop {
                    match rest.next() {
                        Some((_, '}')) => break,
                        Some((_, c)) => inside.push(c),
                        None => return Err((at, "a `{` without its `}`: write `{{` for a brace")),
                    }
                }
                if !plain.is_empty() {
                    out.push(Piece::Text(std::mem::take(&mut plain)));
                }
                out.push(match inside.split_once('?') {
                    Some((name, before)) => Piece::Optional(name.to_string(), before.to_string()),
                    None => Piece::Name(inside),
                });
            }
            c => plain.push(c),
        }
    }
    if !plain.is_empty() {
        out.push(Piece::Text(plain));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces() {
        let name = |n: &str| Piece::Name(n.into());
        let text = |t: &str| Piece::Text(t.into());
        assert_eq!(
            parse("ld {dst}, [{addr}{off?+}];").unwrap(),
            [
                text("ld "),
                name("dst"),
                text(", ["),
                name("addr"),
                Piece::Optional("off".into(), "+".into()),
                text("];")
            ]
        );
        assert_eq!(
            (half("a.lo"), half("a.hi"), half("a")),
            (Some(("a", false)), Some(("a", true)), None)
        );
        assert_eq!(parse("{{{a}}}").unwrap(), [text("{"), name("a"), text("}")]);
        assert_eq!(parse("a}").unwrap_err().0, 1);
        assert_eq!(parse("a{b").unwrap_err().0, 1);
    }
}
