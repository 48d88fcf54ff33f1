//! PTX words: comments out, words and punctuation with their lines.

use crate::fault::ParseFault;

/// A word (with its dots) or one character of punctuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub text: String,
    pub line: u32,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$%.".contains(c)
}

/// Splits a module into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ParseFault> {
    let chars: Vec<char> = text.chars().collect();
    let (mut at, mut line, mut out) = (0, 1, Vec::new());
    let next_is = |at: usize, c: char| chars.get(at + 1) == Some(&c);
    while at < chars.len() {
        let c = chars[at];
        if c == '\n' {
            line += 1;
            at += 1;
        } else if c.is_whitespace() {
            at += 1;
        } else if c == '/' && next_is(at, '/') {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
        } else if c == '/' && next_is(at, '*') {
            at += 2;
            while at < chars.len() && !(chars[at] == '*' && next_is(at, '/')) {
                line += u32::from(chars[at] == '\n');
                at += 1;
            }
            at += 2;
        } else if is_word(c) {
            let mut word = String::new();
            while at < chars.len() {
                if is_word(chars[at]) {
                    word.push(chars[at]);
                    at += 1;
                } else if chars[at] == ':' && next_is(at, ':') {
                    word.push_str("::");
                    at += 2;
                } else {
                    break;
                }
            }
            out.push(Token { text: word, line });
        } else if c == '"' {
            let end = (at + 1..chars.len()).find(|&i| chars[i] == '"').unwrap_or(chars.len());
            out.push(Token { text: chars[at..end].iter().collect(), line });
            at = end + 1;
        } else if "[]{}(),;:+-@!<>|=".contains(c) {
            out.push(Token { text: c.to_string(), line });
            at += 1;
        } else {
            let text = text.lines().nth(line as usize - 1).unwrap_or("").to_string();
            return Err(ParseFault { line, text, sentence: format!("unexpected character `{c}`") });
        }
    }
    Ok(out)
}
