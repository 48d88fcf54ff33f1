//! Slips of the hand: what goes wrong when entries are copied, moved and typed.
//!
//! Two neighbours exchanged, a value taken from the entry above, an entry twice or not at all, a
//! digit too many; a word that claims more than its sources do; a format of numbers that is another.
//! These kinds were thought of before it was known what the audit says of them.
use crate::change::{Mutant, shares};
use crate::facts::{Kind, SLIPS, UNTOUCHED, kind};
use crate::seed::Seed;
use lanebook_gen::load::Loaded;
use lanebook_gen::source::{FileId, Sources, Span};
use lanebook_gen::tree::{self, Node, Tree};

/// Lists whose order says nothing.
const UNORDERED: [&str; 21] = [
    "shapes",
    "order_limits",
    "offsets",
    "shared",
    "broadcasts",
    "has",
    "without",
    "lacks",
    "tags",
    "also",
    "assembles",
    "expanded",
    "flushed",
    "counts",
    "groups",
    "atoms",
    "words",
    "dtypes",
    "accesses",
    "sync",
    "hazards",
];
/// Entries that say nothing of machines, or that are there to be held against others.
const NONE: [&str; 5] = ["agreements", "figures", "waits", "answers", "families"];
/// The file of element types.
const TYPES: &str = "hw-tables/dtypes.ron";
/// The file of what facts cite.
const DOCUMENTS: &str = "hw-tables/sources.ron";

/// What can be done to a place.
#[derive(Clone, Debug)]
pub(crate) struct Slip {
    pub kind: Kind,
    pub path: String,
    pub span: Span,
    pub new: String,
}

/// So many slips, about as many of each of some kinds (of none named: of all).
#[must_use]
pub fn plan(sources: &Sources, kinds: &[Kind], count: usize, seed: u64) -> Vec<Mutant> {
    let mut seed = Seed(seed ^ 0x511b);
    let mut all: Vec<Slip> = Vec::new();
    for (id, file) in sources.iter() {
        let types = file.name == TYPES;
        if file.name == DOCUMENTS
            && let Some(tree) = tree::read(sources, id)
            && let Node::Record(fields) = &tree.node
        {
            let mut walk = Walk { sources, file: id, types, out: &mut all };
            let lists = fields.iter().filter_map(|(_, list)| match &list.node {
                Node::List(items) => Some(items),
                _ => None,
            });
            lists.flatten().for_each(|item| walk.document(item));
        }
        if (Loaded::is_hardware(file) || types)
            && let Some(tree) = tree::read(sources, id)
        {
            Walk { sources, file: id, types, out: &mut all }.at(&tree, &mut Vec::new());
        }
    }
    draw(sources, &all, shares(&SLIPS, kinds, count), &mut seed)
}

/// So many of each kind: half of them by path, half by how often they stand there.
pub(crate) fn draw(
    sources: &Sources,
    all: &[Slip],
    shares: impl Iterator<Item = (Kind, usize)>,
    seed: &mut Seed,
) -> Vec<Mutant> {
    let mut out: Vec<Mutant> = Vec::new();
    for (kind, share) in shares {
        let of: Vec<&Slip> = all.iter().filter(|slip| slip.kind == kind).collect();
        let mut paths: Vec<&str> = of.iter().map(|slip| slip.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        let (mut made, mut tries) = (0, 0);
        while made < share && tries < 50 * share {
            tries += 1;
            let slip = if tries % 2 == 0 {
                seed.pick(&of).copied()
            } else {
                seed.pick(&paths).and_then(|path| {
                    let here: Vec<&&Slip> = of.iter().filter(|slip| slip.path == *path).collect();
                    seed.pick(&here).map(|slip| **slip)
                })
            };
            let Some(slip) = slip else { break };
            if out.iter().any(|other| other.span == slip.span && other.new == slip.new) {
                continue;
            }
            made += 1;
            out.push(Mutant {
                kind: slip.kind,
                path: slip.path.clone(),
                span: slip.span,
                old: sources.text(slip.span).to_string(),
                new: slip.new.clone(),
            });
        }
    }
    out
}

struct Walk<'s> {
    sources: &'s Sources,
    file: FileId,
    types: bool,
    out: &'s mut Vec<Slip>,
}

impl Walk<'_> {
    fn text(&self, tree: &Tree) -> &str {
        self.sources.text(tree.span)
    }

    fn at(&mut self, tree: &Tree, path: &mut Vec<String>) {
        match &tree.node {
            Node::Record(fields) => {
                for (name, value) in fields {
                    if name == "sources" {
                        self.claims(name, value, path);
                    }
                    let silent =
                        UNTOUCHED.contains(&name.as_str()) || NONE.contains(&name.as_str());
                    if !silent {
                        path.push(name.clone());
                        self.at(value, path);
                        path.pop();
                    }
                }
            }
            Node::List(items) => {
                self.list(items, path);
                items.iter().for_each(|item| self.at(item, path));
            }
            Node::Map(entries) => {
                for (key, value) in entries {
                    path.push(key.leaf().unwrap_or_default().to_string());
                    self.at(value, path);
                    path.pop();
                }
            }
            Node::Leaf(_) => self.leaf(tree, path),
        }
    }

    fn add(&mut self, kind: Kind, path: &[String], span: Span, new: String) {
        if self.sources.text(span) != new {
            self.out.push(Slip { kind, path: path.join("."), span, new });
        }
    }

    /// Two places of a list as one, with other texts in the places of them.
    fn both(&self, first: &Tree, second: &Tree, texts: [&str; 2]) -> (Span, String) {
        let span = Span::new(self.file, first.span.start as usize, second.span.end as usize);
        let between = Span::new(self.file, first.span.end as usize, second.span.start as usize);
        (span, format!("{}{}{}", texts[0], self.sources.text(between), texts[1]))
    }

    fn list(&mut self, items: &[Tree], path: &[String]) {
        let last = path.last().map_or("", String::as_str);
        let fact = kind(path).is_some();
        let ordered = !UNORDERED.contains(&last);
        for pair in items.windows(2) {
            let [first, second] = pair else { continue };
            let texts = [self.text(second).to_string(), self.text(first).to_string()];
            if fact && ordered && texts[0] != texts[1] {
                let (span, new) = self.both(first, second, [&texts[0], &texts[1]]);
                self.add(Kind::Swapped, path, span, new);
            }
            self.fields(first, second, path);
        }
        for item in items.iter().filter(|item| matches!(item.node, Node::Record(_))) {
            let rest = &self.sources.file(self.file).text[item.span.end as usize..];
            let comma = if rest.trim_start().starts_with(',') {
                rest.find(',').map_or(0, |at| at + 1)
            } else {
                0
            };
            let span =
                Span::new(self.file, item.span.start as usize, item.span.end as usize + comma);
            let text = self.text(item).to_string();
            self.add(Kind::Doubled, path, item.span, format!("{text}, {text}"));
            self.add(Kind::Dropped, path, span, String::new());
        }
    }

    /// Fields of two entries, one above the other.
    fn fields(&mut self, first: &Tree, second: &Tree, path: &[String]) {
        let (Node::Record(own), Node::Record(theirs)) = (&first.node, &second.node) else { return };
        for (name, value) in own {
            let Some((_, other)) = theirs.iter().find(|(theirs, _)| theirs == name) else {
                continue;
            };
            let mut at = path.to_vec();
            at.push(name.clone());
            let silent = UNTOUCHED.contains(&name.as_str()) || name == "name";
            if silent || kind(&at).is_none() || self.text(value) == self.text(other) {
                continue;
            }
            let texts = [self.text(value).to_string(), self.text(other).to_string()];
            self.add(Kind::Copied, &at, other.span, texts[0].clone());
            let (span, new) = self.both(value, other, [&texts[1], &texts[0]]);
            self.add(Kind::Exchanged, &at, span, new);
        }
    }

    fn leaf(&mut self, tree: &Tree, path: &[String]) {
        let text = self.text(tree).to_string();
        if self.types {
            match text.as_str() {
                "true" => self.add(Kind::Types, path, tree.span, "false".into()),
                "false" => self.add(Kind::Types, path, tree.span, "true".into()),
                _ => {}
            }
            if let Ok(value) = text.parse::<i64>() {
                self.add(Kind::Types, path, tree.span, (value + 1).to_string());
                self.add(Kind::Types, path, tree.span, (value - 1).max(0).to_string());
            }
            return;
        }
        if kind(path).is_none() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        let mut typed = vec![format!("{text}{}", &text[text.len() - 1..]), format!("1{text}")];
        if text.len() > 1 {
            typed.push(text[1..].to_string());
            typed.push(text[..text.len() - 1].to_string());
            let mut swapped: Vec<u8> = text.bytes().collect();
            let at = swapped.len() - 1;
            swapped.swap(at - 1, at);
            typed.extend(String::from_utf8(swapped));
        }
        for new in typed {
            // Another value, not the same with a zero in front.
            if new.parse::<u64>().is_ok_and(|new| text.parse() != Ok(new)) {
                self.add(Kind::Digits, path, tree.span, new);
            }
        }
    }

    /// Claims: a source less, one that is said to say what it does not, a word beside them.
    fn claims(&mut self, name: &str, value: &Tree, path: &[String]) {
        let Node::List(items) = &value.node else { return };
        let mut at = path.to_vec();
        at.push(name.to_string());
        if items.len() > 1 {
            for pair in items.windows(2) {
                let [first, second] = pair else { continue };
                let text = self.text(second).to_string();
                let (span, _) = self.both(first, second, ["", ""]);
                self.add(Kind::Evidence, &at, span, text);
            }
        }
        for item in items {
            let own = self.text(item).to_string();
            let bare = own.trim_matches('"');
            match bare.strip_prefix(['~', '!']) {
                // What is like the fact, or contradicts it, is taken to say it.
                Some(key) => self.add(Kind::Evidence, &at, item.span, format!("\"{key}\"")),
                None => {
                    self.add(Kind::Evidence, &at, item.span, format!("\"!{bare}\""));
                    self.add(Kind::Evidence, &at, item.span, format!("\"~{bare}\""));
                }
            }
        }
        // A word that claims more, typed beside what they make it.
        let typed = format!("{}, status: measured", self.text(value));
        self.add(Kind::Evidence, &at, value.span, typed);
    }

    /// What a source is: a measurement, where it is a document or a program; two origins, where they are one.
    fn document(&mut self, tree: &Tree) {
        let Node::Record(fields) = &tree.node else { return };
        let has = |wanted: &str| fields.iter().any(|(name, _)| name == wanted);
        let Some((_, key)) = fields.iter().find(|(name, _)| name == "key") else { return };
        let path = ["sources".to_string(), "key".to_string()];
        if !["texts", "hardware", "document"].into_iter().any(has) {
            let new = format!("{}, hardware: true", self.text(key));
            self.add(Kind::Evidence, &path, key.span, new);
        }
        for (name, value) in fields {
            let path = ["sources".to_string(), name.clone()];
            match name.as_str() {
                "texts" | "hardware" | "document" => {
                    self.add(Kind::Evidence, &path, value.span, "false".into());
                }
                "origin" => self.add(Kind::Evidence, &path, value.span, "\"elsewhere\"".into()),
                _ => {}
            }
        }
    }
}
