//! Going through the entries of a file, and places where something else can stand.
use crate::change::Mutant;
use crate::facts::{Kind, UNTOUCHED};
use crate::seed::Seed;
use lanebook_gen::source::{FileId, Sources, Span};
use lanebook_gen::tree::{Node, Tree};

/// Entries that say nothing of machines, or that are there to be held against others.
const NONE: [&str; 5] = ["agreements", "figures", "waits", "answers", "families"];

/// What can be done to a place.
#[derive(Clone, Debug)]
pub(crate) struct Slip {
    pub kind: Kind,
    pub path: String,
    pub span: Span,
    pub new: String,
}

/// Whether a field of the tables is for people, or is there to be held against others.
pub(crate) fn is_silent(name: &str) -> bool {
    UNTOUCHED.contains(&name) || NONE.contains(&name)
}

/// The places of a file.
pub(crate) struct Places<'s> {
    pub sources: &'s Sources,
    pub file: FileId,
    pub out: &'s mut Vec<Slip>,
}

impl<'s> Places<'s> {
    pub fn text(&self, tree: &Tree) -> &'s str {
        self.sources.text(tree.span)
    }

    /// Something else in a place, if it is something else.
    pub fn add(&mut self, kind: Kind, path: &[String], span: Span, new: String) {
        if self.sources.text(span) != new {
            self.out.push(Slip { kind, path: path.join("."), span, new });
        }
    }

    /// Two places of a list as one, with other texts in the places of them.
    pub fn both(&self, first: &Tree, second: &Tree, texts: [&str; 2]) -> (Span, String) {
        let span = Span::new(self.file, first.span.start as usize, second.span.end as usize);
        let between = Span::new(self.file, first.span.end as usize, second.span.start as usize);
        (span, format!("{}{}{}", texts[0], self.sources.text(between), texts[1]))
    }

    /// An entry of a list with the comma behind it.
    pub fn with_comma(&self, item: &Tree) -> Span {
        self.from(item.span.start as usize, item)
    }

    /// A field with its name and the comma behind it.
    pub fn field(&self, name: &str, value: &Tree) -> Option<Span> {
        let text = &self.sources.file(self.file).text[..value.span.start as usize];
        let before = text.trim_end().strip_suffix(':')?.trim_end().strip_suffix(name)?;
        Some(self.from(before.len(), value))
    }

    fn from(&self, start: usize, value: &Tree) -> Span {
        let rest = &self.sources.file(self.file).text[value.span.end as usize..];
        let comma = rest.trim_start().starts_with(',');
        let comma = if comma { rest.find(',').map_or(0, |at| at + 1) } else { 0 };
        Span::new(self.file, start, value.span.end as usize + comma)
    }
}

/// What is looked for in a tree. Paths end with the name of a field.
pub(crate) trait Visit {
    /// Whether nothing in a field of this name is looked at.
    fn skips(&self, _name: &str) -> bool {
        false
    }
    fn field(&mut self, _name: &str, _value: &Tree, _path: &[String]) {}
    fn list(&mut self, _tree: &Tree, _items: &[Tree], _path: &[String]) {}
    fn leaf(&mut self, _tree: &Tree, _path: &[String]) {}
}

/// Goes through a tree, each entry before what is in it.
pub(crate) fn visit(visitor: &mut impl Visit, tree: &Tree, path: &mut Vec<String>) {
    match &tree.node {
        Node::Record(fields) => {
            for (name, value) in fields {
                path.push(name.clone());
                visitor.field(name, value, path);
                if !visitor.skips(name) {
                    visit(visitor, value, path);
                }
                path.pop();
            }
        }
        Node::List(items) => {
            visitor.list(tree, items, path);
            items.iter().for_each(|item| visit(visitor, item, path));
        }
        Node::Map(entries) => {
            for (key, value) in entries {
                path.push(key.leaf().unwrap_or_default().to_string());
                visit(visitor, value, path);
                path.pop();
            }
        }
        Node::Leaf(_) => visitor.leaf(tree, path),
    }
}

/// So many of each kind of what can be done.
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
        sample(
            &of,
            &paths,
            |slip, path| slip.path == *path,
            share,
            seed,
            |slip, _| {
                let old = sources.text(slip.span).to_string();
                let (path, new) = (slip.path.clone(), slip.new.clone());
                plant(&mut out, Mutant { kind: slip.kind, path, span: slip.span, old, new })
            },
        );
    }
    out
}

/// Plants so many of some: half of them by path, so that a long list does not hide the others, half
/// by how often they stand there. What `plant` does not take is drawn again, 50 times as often at
/// the most.
pub(crate) fn sample<T, P>(
    of: &[&T],
    paths: &[P],
    stands_at: impl Fn(&T, &P) -> bool,
    share: usize,
    seed: &mut Seed,
    mut plant: impl FnMut(&T, &mut Seed) -> bool,
) {
    let (mut made, mut tries) = (0, 0);
    while made < share && tries < 50 * share {
        tries += 1;
        let one = if tries % 2 == 0 {
            seed.pick(of).copied()
        } else {
            seed.pick(paths).and_then(|path| {
                let here: Vec<&T> = of.iter().copied().filter(|one| stands_at(one, path)).collect();
                seed.pick(&here).copied()
            })
        };
        let Some(one) = one else { break };
        made += usize::from(plant(one, seed));
    }
}

/// Takes a mutant that is not there yet.
pub(crate) fn plant(out: &mut Vec<Mutant>, mutant: Mutant) -> bool {
    let is_new = out.iter().all(|other| other.span != mutant.span || other.new != mutant.new);
    if is_new {
        out.push(mutant);
    }
    is_new
}
