//! Slips of the hand: what goes wrong when entries are copied, moved and typed.
//!
//! Two neighbours exchanged, a value taken from the entry above, an entry twice or not at all, a
//! digit too many; a word that claims more than its sources do; a format of numbers that is another.
//! These kinds were thought of before it was known what the audit says of them.
use crate::change::{Mutant, shares};
use crate::facts::{Kind, SLIPS, UNTOUCHED, kind};
use crate::seed::Seed;
use crate::walk::{Places, Slip, Visit, draw, is_silent, visit};
use lanebook_gen::load::Loaded;
use lanebook_gen::source::Sources;
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
/// The file of element types.
const TYPES: &str = "hw-tables/dtypes.ron";
/// The file of what facts cite.
const DOCUMENTS: &str = "hw-tables/sources.ron";

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
            let places = Places { sources, file: id, out: &mut all };
            let mut walk = Walk { places, types };
            let lists = fields.iter().filter_map(|(_, list)| match &list.node {
                Node::List(items) => Some(items),
                _ => None,
            });
            lists.flatten().for_each(|item| walk.document(item));
        }
        if (Loaded::is_hardware(file) || types)
            && let Some(tree) = tree::read(sources, id)
        {
            let places = Places { sources, file: id, out: &mut all };
            visit(&mut Walk { places, types }, &tree, &mut Vec::new());
        }
    }
    draw(sources, &all, shares(&SLIPS, kinds, count), &mut seed)
}

struct Walk<'s> {
    places: Places<'s>,
    types: bool,
}

impl Visit for Walk<'_> {
    fn skips(&self, name: &str) -> bool {
        is_silent(name)
    }

    fn field(&mut self, name: &str, value: &Tree, path: &[String]) {
        if name == "sources" {
            self.claims(value, path);
        }
    }

    fn list(&mut self, _: &Tree, items: &[Tree], path: &[String]) {
        let last = path.last().map_or("", String::as_str);
        let fact = kind(path).is_some();
        let ordered = !UNORDERED.contains(&last);
        for pair in items.windows(2) {
            let [first, second] = pair else { continue };
            let texts = [self.text(second).to_string(), self.text(first).to_string()];
            if fact && ordered && texts[0] != texts[1] {
                let (span, new) = self.places.both(first, second, [&texts[0], &texts[1]]);
                self.places.add(Kind::Swapped, path, span, new);
            }
            self.fields(first, second, path);
        }
        for item in items.iter().filter(|item| matches!(item.node, Node::Record(_))) {
            let span = self.places.with_comma(item);
            let text = self.text(item).to_string();
            self.places.add(Kind::Doubled, path, item.span, format!("{text}, {text}"));
            self.places.add(Kind::Dropped, path, span, String::new());
        }
    }

    fn leaf(&mut self, tree: &Tree, path: &[String]) {
        let text = self.text(tree).to_string();
        if self.types {
            match text.as_str() {
                "true" => self.places.add(Kind::Types, path, tree.span, "false".into()),
                "false" => self.places.add(Kind::Types, path, tree.span, "true".into()),
                _ => {}
            }
            if let Ok(value) = text.parse::<i64>() {
                self.places.add(Kind::Types, path, tree.span, (value + 1).to_string());
                self.places.add(Kind::Types, path, tree.span, (value - 1).max(0).to_string());
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
                self.places.add(Kind::Digits, path, tree.span, new);
            }
        }
    }
}

impl Walk<'_> {
    fn text(&self, tree: &Tree) -> &str {
        self.places.text(tree)
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
            self.places.add(Kind::Copied, &at, other.span, texts[0].clone());
            let (span, new) = self.places.both(value, other, [&texts[1], &texts[0]]);
            self.places.add(Kind::Exchanged, &at, span, new);
        }
    }

    /// Claims: a source less, one that is said to say what it does not, a word beside them.
    fn claims(&mut self, value: &Tree, path: &[String]) {
        let Node::List(items) = &value.node else { return };
        if items.len() > 1 {
            for pair in items.windows(2) {
                let [first, second] = pair else { continue };
                let text = self.text(second).to_string();
                let (span, _) = self.places.both(first, second, ["", ""]);
                self.places.add(Kind::Evidence, path, span, text);
            }
        }
        for item in items {
            let own = self.text(item).to_string();
            let bare = own.trim_matches('"');
            match bare.strip_prefix(['~', '!']) {
                // What is like the fact, or contradicts it, is taken to say it.
                Some(key) => self.places.add(Kind::Evidence, path, item.span, format!("\"{key}\"")),
                None => {
                    self.places.add(Kind::Evidence, path, item.span, format!("\"!{bare}\""));
                    self.places.add(Kind::Evidence, path, item.span, format!("\"~{bare}\""));
                }
            }
        }
        // A word that claims more, typed beside what they make it.
        let typed = format!("{}, status: measured", self.text(value));
        self.places.add(Kind::Evidence, path, value.span, typed);
    }

    /// What a source is: a measurement, where it is a document or a program; two origins, where they are one.
    fn document(&mut self, tree: &Tree) {
        let Node::Record(fields) = &tree.node else { return };
        let has = |wanted: &str| fields.iter().any(|(name, _)| name == wanted);
        let Some((_, key)) = fields.iter().find(|(name, _)| name == "key") else { return };
        let path = ["sources".to_string(), "key".to_string()];
        if !["texts", "hardware", "document"].into_iter().any(has) {
            let new = format!("{}, hardware: true", self.text(key));
            self.places.add(Kind::Evidence, &path, key.span, new);
        }
        for (name, value) in fields {
            let path = ["sources".to_string(), name.clone()];
            match name.as_str() {
                "texts" | "hardware" | "document" => {
                    self.places.add(Kind::Evidence, &path, value.span, "false".into());
                }
                "origin" => {
                    self.places.add(Kind::Evidence, &path, value.span, "\"elsewhere\"".into())
                }
                _ => {}
            }
        }
    }
}
