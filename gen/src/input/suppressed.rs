//! What could not be read or resolved, so that nothing is said about names that it may have
//! declared.
//!
//! A stage that leaves something out says so ([`crate::diagnostics::Diagnostics::lose`]) beside its
//! error. A later error that is only about the absence of a name (it carries the name:
//! [`crate::diagnostics::Diagnostic::lacks`]) is held back if the name may be one of those, and
//! counted at what was left out.
use crate::pattern::fits;
use crate::source::Span;
use lanebook_suggest::nearest;

/// Fields that give a thing its name.
const NAMING: [&str; 3] = ["name", "key", "rule"];
/// Fields that list names.
const LISTING: [&str; 2] = ["aliases", "phases"];

/// Something that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressed {
    /// Where it stands.
    pub span: Span,
    /// Errors that were held back because of it.
    pub held: usize,
    /// What was left out in the first place (its number among all that was), if this is only a
    /// consequence.
    pub root: Option<usize>,
    /// The names that it declares, `*` for any text.
    names: Vec<String>,
}

impl Suppressed {
    /// One name.
    #[must_use]
    pub fn name(name: &str, span: Span) -> Self {
        Self { span, held: 0, root: None, names: vec![name.to_string()] }
    }
    /// A file or an entry with this text. Where no name can be found, it may be any, but for a text
    /// of nothing.
    #[must_use]
    pub fn text(text: &str, span: Span, entry: bool) -> Self {
        let mut names = declared(text);
        let nothing = text.trim().is_empty();
        if !nothing && (names.is_empty() || (entry && !is_named(text))) {
            names = vec!["*".into()];
        }
        Self { span, held: 0, root: None, names }
    }
    /// A field with this text, and the names in it.
    #[must_use]
    pub fn part(text: &str, span: Span) -> Self {
        Self { span, held: 0, root: None, names: declared(text) }
    }
    /// The same as a consequence of something else, by its number among all that was left out.
    #[must_use]
    pub fn because_of(self, root: Option<usize>) -> Self {
        Self { root, ..self }
    }
    /// The same, with nothing held back yet.
    #[must_use]
    pub fn afresh(&self) -> Self {
        Self { held: 0, ..self.clone() }
    }
    /// Whether a name may be one of those.
    #[must_use]
    pub fn covers(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| fits(pattern, name))
    }
}

/// The names that a text gives to things, whether it is well formed or not.
fn declared(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices(':') {
        let (before, after) = (text[..at].trim_end(), text[at + 1..].trim_start());
        if let Some(key) = before.strip_suffix('"').and_then(|rest| rest.rsplit('"').next()) {
            // The key of a map.
            out.push(key.to_string());
            continue;
        }
        let word =
            before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
        if LISTING.contains(&word) {
            let list = after.split(']').next().unwrap_or_default();
            out.extend(list.split('"').skip(1).step_by(2).map(str::to_string));
        } else if let Some(value) = after.strip_prefix('"')
            && (NAMING.contains(&word) || nearest(word, NAMING).is_some())
        {
            let name = value.split(['"', '\n']).next().unwrap_or_default();
            out.push(pattern(name));
            // A quote may be what is missing.
            out.extend(name.split([',', ' ']).next().map(pattern));
        }
    }
    out.retain(|name| !name.is_empty());
    out
}

/// A name with `*` for what its parameters (`{n}`) and its family's words (`_word_`) stand for.
fn pattern(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        out.push('*');
        rest = rest[at..].split_once('}').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    let mut words = out.split('_');
    let first = words.next().unwrap_or_default().to_string();
    let words: Vec<&str> = words.collect();
    match words.len() {
        0 | 1 => out,
        // Which of the words a family replaces is not known here.
        _ => format!("{first}*{}", words.last().copied().unwrap_or_default()),
    }
}

/// Whether an entry, which is well formed, has a field with its name.
fn is_named(text: &str) -> bool {
    let (mut depth, mut in_string, mut skip) = (0u32, false, false);
    let mut word = String::new();
    for letter in text.chars() {
        if in_string {
            in_string = skip || letter != '"';
            skip = !skip && letter == '\\';
            continue;
        }
        match letter {
            '"' => in_string = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ':' if depth == 1
                && (NAMING.contains(&word.as_str()) || nearest(&word, NAMING).is_some()) =>
            {
                return true;
            }
            _ => {}
        }
        match letter {
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            c if c.is_whitespace() => {}
            _ => word.clear(),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn what_is_lost_covers_its_names_and_no_others() {
        let at = Span::new(FileId(0), 0, 0);
        let text = r#"(groups: [(name: "g.one", isa: "t" atoms: [(nmae: "v_b_bits_", template: "x"), (name: "w{n}.k", tags: ["tag"])])], aliases: ["p", "q"])"#;
        let lost = Suppressed::text(text, at, false);
        for name in ["g.one", "v_b128", "w16.k", "p", "q"] {
            assert!(lost.covers(name), "{name}");
        }
        for name in ["g.two", "t", "x", "tag", "w16", "groups"] {
            assert!(!lost.covers(name), "{name}");
        }
        // The quote that ends the name is missing.
        assert!(Suppressed::text("(name: \"abc, isa: \"t\")", at, false).covers("abc"));
        // An entry without a name may be any; one with a name is that.
        assert!(
            Suppressed::text("(isa: \"t\", atoms: [(name: \"a\")])", at, true).covers("anything")
        );
        assert!(
            !Suppressed::text("(isa: \"a(b\", name: \"t\", atoms: [(name: \"a\")])", at, true)
                .covers("anything")
        );
        assert!(Suppressed::text("()", at, false).covers("anything"));
        // An empty file is none.
        assert!(!Suppressed::text(" \n", at, false).covers("anything"));
    }
}
