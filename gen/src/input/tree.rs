//! RON as a tree with places, whatever its schema: to compare two versions of the tables field by
//! field.
//!
//! The tables are read by serde ([`crate::spanned`]); this reader knows no field and so needs no
//! change when a field is added. It takes what ron takes in the tables: records, tuples, lists,
//! maps, words with or without arguments, strings, numbers, comments. What is not well formed ends
//! the tree early: ron has reported it.
use crate::source::{FileId, Sources, Span};
use std::collections::BTreeMap;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// What it is.
    pub node: Node,
    /// Where it stands.
    pub span: Span,
}

/// Kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `(name: value, ...)`, or `word(name: value, ...)`, whose word is the field `is`.
    Record(Vec<(String, Tree)>),
    /// `(value, ...)`, `[value, ...]`, or `word(value, ...)`, whose word is the first leaf.
    List(Vec<Tree>),
    /// `{key: value, ...}`.
    Map(Vec<(Tree, Tree)>),
    /// A word, a number or a string; numbers are written in decimal, strings without quotes.
    Leaf(String),
}

impl Tree {
    /// A field of a record.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&Tree> {
        match &self.node {
            Node::Record(fields) => {
                fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }
    /// The text of a leaf.
    #[must_use]
    pub fn leaf(&self) -> Option<&str> {
        match &self.node {
            Node::Leaf(text) => Some(text),
            _ => None,
        }
    }
}

/// The tree of a file.
#[must_use]
pub fn read(sources: &Sources, file: FileId) -> Option<Tree> {
    let text = &sources.file(file).text;
    Reader { text, at: 0, file }.value()
}

/// The end of a field whose name ends at a byte of a text: behind its value and the comma after it.
/// Of a text that is not well formed, none.
#[must_use]
pub fn field_end(text: &str, at: usize) -> Option<usize> {
    let mut reader = Reader { text, at, file: FileId(0) };
    if !reader.take(':') {
        return None;
    }
    reader.value()?;
    reader.take(',');
    Some(reader.at)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    file: FileId,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    /// Past white space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let length = if self.rest().starts_with("//") {
                self.rest().find('\n').unwrap_or(self.rest().len())
            } else if self.rest().starts_with("/*") {
                self.rest().find("*/").map_or(self.rest().len(), |at| at + 2)
            } else {
                return;
            };
            self.at += length;
        }
    }
    fn take(&mut self, wanted: char) -> bool {
        self.skip();
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }
    fn word(&mut self) -> String {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.')))
            .unwrap_or(rest.len());
        let word = rest[..length].to_string();
        self.at += length;
        word
    }
    fn string(&mut self) -> Option<String> {
        let rest = self.rest();
        if let Some(raw) = rest.strip_prefix('r').filter(|raw| raw.starts_with(['#', '"'])) {
            let hashes = raw.find('"')?;
            let end = format!("\"{}", "#".repeat(hashes));
            let body = &raw[hashes + 1..];
            let length = body.find(&end)?;
            let text = body[..length].to_string();
            self.at += 1 + hashes + 1 + length + end.len();
            return Some(text);
        }
        let mut letters = rest.char_indices().skip(1);
        let mut out = String::new();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at += at + 1;
                    return Some(out);
                }
                '\\' => match letters.next()?.1 {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    other => out.push(other),
                },
                other => out.push(other),
            }
        }
        None
    }
    fn value(&mut self) -> Option<Tree> {
        self.skip();
        let start = self.at;
        let node = match self.peek()? {
            '(' => self.tuple()?,
            '[' => {
                self.at += 1;
                Node::List(self.items(']')?)
            }
            '{' => self.map()?,
            '"' => Node::Leaf(self.string()?),
            'r' if self.rest()[1..].starts_with(['#', '"']) => Node::Leaf(self.string()?),
            _ => {
                let word = self.word();
                if word.is_empty() {
                    return None;
                }
                let end = self.at;
                self.skip();
                if self.peek() == Some('(') {
                    let word =
                        Tree { node: Node::Leaf(word), span: Span::new(self.file, start, end) };
                    match self.tuple()? {
                        Node::Record(fields) => Node::Record(
                            std::iter::once(("is".to_string(), word)).chain(fields).collect(),
                        ),
                        Node::List(items) => {
                            Node::List(std::iter::once(word).chain(items).collect())
                        }
                        other => other,
                    }
                } else {
                    self.at = end;
                    Node::Leaf(decimal(&word))
                }
            }
        };
        Some(Tree { node, span: Span::new(self.file, start, self.at) })
    }
    fn items(&mut self, close: char) -> Option<Vec<Tree>> {
        let mut out = Vec::new();
        while !self.take(close) {
            out.push(self.value()?);
            if !self.take(',')
                && !{
                    self.skip();
                    self.peek() == Some(close)
                }
            {
                return None;
            }
        }
        Some(out)
    }
    fn tuple(&mut self) -> Option<Node> {
        self.at += 1;
        self.skip();
        let start = self.at;
        // A record if its first value is a word before a colon.
        let word = self.word();
        let is_record = !word.is_empty() && self.take(':');
        self.at = start;
        if !is_record {
            return self.items(')').map(Node::List);
        }
        let mut fields = Vec::new();
        while !self.take(')') {
            self.skip();
            let name = self.word();
            if name.is_empty() || !self.take(':') {
                return None;
            }
            fields.push((name, self.value()?));
            if !self.take(',')
                && !{
                    self.skip();
                    self.peek() == Some(')')
                }
            {
                return None;
            }
        }
        Some(Node::Record(fields))
    }
    fn map(&mut self) -> Option<Node> {
        self.at += 1;
        let mut entries = Vec::new();
        while !self.take('}') {
            let key = self.value()?;
            if !self.take(':') {
                return None;
            }
            entries.push((key, self.value()?));
            if !self.take(',')
                && !{
                    self.skip();
                    self.peek() == Some('}')
                }
            {
                return None;
            }
        }
        Some(Node::Map(entries))
    }
}

/// Hexadecimal numbers as decimal ones; other words as they are.
fn decimal(word: &str) -> String {
    let (sign, digits) = word.strip_prefix('-').map_or(("", word), |digits| ("-", digits));
    let digits = digits.replace('_', "");
    match digits.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok()) {
        Some(value) => format!("{sign}{value}"),
        None => word.to_string(),
    }
}

/// A value on one line, as RON but for quotes around words.
#[must_use]
pub fn one_line(tree: &Tree) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match &tree.node {
        Node::Leaf(text) => text.replace('\n', "\\n"),
        Node::List(items) => format!("[{}]", joined(items.iter().map(one_line).collect())),
        Node::Map(entries) => format!(
            "{{{}}}",
            joined(
                entries
                    .iter()
                    .map(|(key, value)| format!("{}: {}", one_line(key), one_line(value)))
                    .collect()
            )
        ),
        Node::Record(fields) => format!(
            "({})",
            joined(
                fields.iter().map(|(name, value)| format!("{name}: {}", one_line(value))).collect()
            )
        ),
    }
}

/// Facts by what they are about: `atom ldmatrix.x4` to `movement.from.align_bytes` to the value and
/// its place.
pub type Facts = BTreeMap<String, BTreeMap<String, (String, Span)>>;

/// Lists whose entries are things of their own, with what one is called.
const THINGS: [(&str, &str); 15] = [
    ("families", "family"),
    ("broadcasts", "broadcast"),
    ("atoms", "atom"),
    ("groups", "group"),
    ("rules", "rule"),
    ("accesses", "access kind"),
    ("tags", "tag"),
    ("sources", "source"),
    ("dtypes", "element type"),
    ("axes", "axis"),
    ("agreements", "agreement"),
    ("ops", "operation"),
    ("passes", "pass"),
    ("arch", "architecture"),
    ("isa", "instruction set"),
];

/// All facts of some files. What tools write (the ledger, the certificates) holds none.
#[must_use]
pub fn facts(sources: &Sources) -> Facts {
    let mut out = Facts::new();
    for (id, file) in sources.iter() {
        if file.name == crate::files::LEDGER || file.name == crate::files::PROOFS {
            continue;
        }
        if let Some(tree) = read(sources, id) {
            walk(&tree, &file.name, String::new(), "", &mut out);
        }
    }
    out
}

/// A name, or what else tells entries of a list apart.
fn label(tree: &Tree) -> Option<String> {
    let leaf = |name| tree.field(name).and_then(Tree::leaf);
    leaf("name").or_else(|| leaf("key")).map(str::to_string).or_else(|| {
        match (leaf("producer"), leaf("consumer")) {
            (Some(from), Some(to)) => {
                let more: Vec<&str> =
                    ["operand", "producer_operand", "on"].into_iter().filter_map(leaf).collect();
                Some([&[from, to], more.as_slice()].concat().join(" > "))
            }
            _ => None,
        }
    })
}

fn walk(tree: &Tree, thing: &str, path: String, list: &str, out: &mut Facts) {
    // An entry with a name in a list of things is a thing; what it was found in is a fact of it.
    if let Some((_, what)) = THINGS.iter().find(|(name, _)| *name == list)
        && let (Node::Record(fields), Some(name)) = (&tree.node, label(tree))
    {
        let own = format!("{what} {name}");
        let facts = out.entry(own.clone()).or_default();
        facts.insert(String::new(), (String::new(), tree.span));
        if !thing.contains('/') {
            facts.insert("in".into(), (thing.to_string(), tree.span));
        }
        for (field, value) in fields {
            walk(value, &own, field.clone(), field, out);
        }
        return;
    }
    let below =
        |part: &str| if path.is_empty() { part.to_string() } else { format!("{path}.{part}") };
    match &tree.node {
        Node::Record(fields) => {
            for (field, value) in fields {
                walk(value, thing, below(field), field, out);
            }
        }
        Node::List(items) if items.iter().any(|item| matches!(item.node, Node::Record(_))) => {
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            for (number, item) in items.iter().enumerate() {
                let name = label(item).unwrap_or_else(|| number.to_string());
                let count = seen.entry(name.clone()).or_default();
                *count += 1;
                let name = if *count > 1 { format!("{name} #{count}") } else { name };
                walk(item, thing, format!("{path}[{name}]"), list, out);
            }
        }
        _ => {
            out.entry(thing.to_string()).or_default().insert(path, (one_line(tree), tree.span));
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
