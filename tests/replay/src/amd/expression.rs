//! Constant expressions of directives: `((12 + 3) / 4) * 4 + 16`.

/// Value of an expression over numbers and the given symbols.
pub(super) fn evaluate(text: &str, symbol: &dyn Fn(&str) -> Option<i64>) -> Result<i64, String> {
    let mut reader = Reader { text, at: 0, symbol };
    let value = reader.sum(0)?;
    match reader.peek() {
        None => Ok(value),
        Some(c) => Err(format!("unexpected `{c}` in `{text}`")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    symbol: &'a dyn Fn(&str) -> Option<i64>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, c: char) -> bool {
        let hit = self.peek() == Some(c);
        self.at += if hit { c.len_utf8() } else { 0 };
        hit
    }

    fn sum(&mut self, depth: u32) -> Result<i64, String> {
        let mut value = self.product(depth)?;
        loop {
            if self.eat('+') {
                value = value.wrapping_add(self.product(depth)?);
            } else if self.eat('-') {
                value = value.wrapping_sub(self.product(depth)?);
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self, depth: u32) -> Result<i64, String> {
        let mut value = self.atom(depth)?;
        loop {
            if self.eat('*') {
                value = value.wrapping_mul(self.atom(depth)?);
            } else if self.eat('/') {
                let by = self.atom(depth)?;
                value = value.checked_div(by).ok_or("division by zero")?;
            } else {
                return Ok(value);
            }
        }
    }

    fn atom(&mut self, depth: u32) -> Result<i64, String> {
        if depth > 32 {
            return Err("an expression is nested too deep".to_string());
        }
        if self.eat('(') {
            let value = self.sum(depth + 1)?;
            return if self.eat(')') { Ok(value) } else { Err("expected `)`".to_string()) };
        }
        if self.eat('-') {
            return Ok(self.atom(depth + 1)?.wrapping_neg());
        }
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_.$".contains(c)));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        if word == "max" && self.eat('(') {
            let first = self.sum(depth + 1)?;
            let second = if self.eat(',') {
                self.sum(depth + 1)?
            } else {
                return Err("expected `,`".to_string());
            };
            return if self.eat(')') {
                Ok(first.max(second))
            } else {
                Err("expected `)`".to_string())
            };
        }
        let value = super::text::number(word).or_else(|| (self.symbol)(word));
        value.ok_or_else(|| format!("`{word}` is no number"))
    }
}

#[cfg(test)]
mod tests {
    use super::evaluate;

    #[test]
    fn precedence_and_symbols() {
        let symbol = |name: &str| (name == "n").then_some(13);
        assert_eq!(evaluate("((n+3)/4)*4+8", &symbol), Ok(24));
        assert_eq!(evaluate("-2 * 0x10 - 1", &symbol), Ok(-33));
        assert_eq!(evaluate("max(3, n) + 1", &symbol), Ok(14));
        assert!(evaluate("1 +", &symbol).is_err());
        assert!(evaluate("m", &symbol).is_err());
        assert!(evaluate("4 4", &symbol).is_err());
    }
}
