//! Affine maps as MLIR writes them, computed while they are read: indices of 32 bits that wrap.

use super::Said;
use super::text::list;

/// What a map says of these operands, `affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%j]` being written.
pub(super) fn applied(said: &str, value: impl Fn(&str) -> Said<i64>) -> Said<i64> {
    // Its map stands behind the operands as an attribute, or in front of them.
    let (map, operands) = match said.split_once("{map = ") {
        Some((operands, map)) => (map.trim_end().trim_end_matches(['}', '>']), operands),
        None => said.trim().split_once(">(").ok_or("no operands of a map")?,
    };
    let (names, result) =
        map.trim_start_matches("affine_map<").split_once("->").ok_or("no result of a map")?;
    let all = |text: &str| list(&text.replace(")[", ", ").replace(['(', ')', '[', ']'], " "));
    let mut known = Vec::new();
    let (names, operands) = (all(names.trim()), all(operands.trim()));
    if names.len() != operands.len() {
        return Err("another number of operands than names".to_string());
    }
    for (name, operand) in names.iter().zip(&operands) {
        known.push((name.trim().to_string(), value(operand.trim())?));
    }
    let mut tokens = words(result);
    tokens.reverse();
    let mut reader = Reader { tokens, known };
    let out = reader.sum()?;
    if reader.tokens.is_empty() { Ok(out) } else { Err("more than a map's result".to_string()) }
}

fn words(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut joins = false;
    for c in text.chars() {
        let is_word = c.is_ascii_alphanumeric();
        match out.last_mut().filter(|_| joins && is_word) {
            Some(last) => last.push(c),
            None if c.is_whitespace() => {}
            None => out.push(c.to_string()),
        }
        joins = is_word;
    }
    out
}

struct Reader {
    /// Last first.
    tokens: Vec<String>,
    known: Vec<(String, i64)>,
}

fn whole(n: i64) -> i64 {
    i64::from(n as u32 as i32)
}

impl Reader {
    fn takes(&mut self, wanted: &[&str]) -> Option<String> {
        if wanted.contains(&self.tokens.last()?.as_str()) { self.tokens.pop() } else { None }
    }

    fn sum(&mut self) -> Said<i64> {
        let mut a = self.product()?;
        while let Some(how) = self.takes(&["+", "-"]) {
            let b = self.product()?;
            a = whole(if how == "+" { a + b } else { a - b });
        }
        Ok(a)
    }

    fn product(&mut self) -> Said<i64> {
        let mut a = self.factor()?;
        while let Some(how) = self.takes(&["*", "floordiv", "ceildiv", "mod"]) {
            let b = self.factor()?;
            if how != "*" && b < 1 {
                return Err("a divisor below 1".to_string());
            }
            a = whole(match how.as_str() {
                "*" => a.wrapping_mul(b),
                "floordiv" => a.div_euclid(b),
                "ceildiv" => -(-a).div_euclid(b),
                _ => a.rem_euclid(b),
            });
        }
        Ok(a)
    }

    fn factor(&mut self) -> Said<i64> {
        let token = self.tokens.pop().ok_or("the end of a map")?;
        match token.as_str() {
            "-" => Ok(whole(-self.factor()?)),
            "(" => {
                let inside = self.sum()?;
                self.takes(&[")"]).map(|_| inside).ok_or_else(|| "no `)`".to_string())
            }
            _ => match token.parse() {
                Ok(number) => Ok(number),
                Err(_) => self
                    .known
                    .iter()
                    .find(|(name, _)| *name == token)
                    .map(|(_, value)| *value)
                    .ok_or_else(|| format!("no `{token}` in a map")),
            },
        }
    }
}
