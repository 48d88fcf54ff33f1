//! From tables to Rust source: statics with every list shared, formatted, the same bytes for the
//! same tables.
//!
//! The text defines `pub static TABLES`, `pub static LEAN` and `pub static EMISSION` in the module that includes it. It
//! holds data only, names no local path, and begins with the names of the files that it was made
//! from.
mod pretty;
mod values;

use crate::source::Sources;
use lanebook_tables::{Rules, Tables};
use pretty::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Something that can be written as a constant expression.
trait Render {
    /// Its type as generated code writes it.
    fn type_name() -> String;
    /// Its value as generated code writes it. Lists go through [`Shared::list`].
    fn render(&self, shared: &mut Shared) -> Value;
}

/// The lists and values that the tables refer to, each once.
#[derive(Default)]
struct Shared {
    /// (type, text) to the static's name.
    names: BTreeMap<(String, String), String>,
    /// How many statics there are of a name: types may share one.
    counts: BTreeMap<String, usize>,
    /// Their definitions in order of first use.
    text: String,
    /// Type of an element to the lists of it: number, elements, bytes of an element.
    weights: BTreeMap<String, (usize, usize, usize)>,
    /// The texts that are referred to, each once.
    strings: BTreeSet<String>,
}

impl Shared {
    /// A reference to a value; equal values of one type are one static.
    fn one<T: Render>(&mut self, value: &T) -> Value {
        let text = value.render(self).pretty(0);
        self.reference::<T>(T::type_name(), 1, text)
    }

    /// A reference to a list; equal lists of one type are one static.
    fn list<T: Render>(&mut self, items: &[T]) -> Value {
        if items.is_empty() {
            return Value::Word("&[]".into());
        }
        let value = Value::List(
            "[".into(),
            items.iter().map(|item| item.render(self)).collect(),
            "]".into(),
        );
        self.reference::<T>(
            format!("[{}; {}]", T::type_name(), items.len()),
            items.len(),
            value.pretty(0),
        )
    }

    /// A reference to the static of this type, which holds so many values of `T`, with this text.
    fn reference<T: Render>(&mut self, type_name: String, items: usize, text: String) -> Value {
        let key = (type_name, text);
        if let Some(name) = self.names.get(&key) {
            return Value::Word(format!("&{name}"));
        }
        let item = T::type_name();
        let stem = static_name(&item);
        let count = self.counts.entry(stem.clone()).or_default();
        let name = format!("{stem}_{count}");
        *count += 1;
        let weight = self.weights.entry(item).or_insert((0, 0, size_of::<T>()));
        (weight.0, weight.1) = (weight.0 + 1, weight.1 + items);
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "static {name}: {} = {};", key.0, key.1);
        self.names.insert(key, name.clone());
        Value::Word(format!("&{name}"))
    }
}

/// `Operand<'static>` to `OPERAND`, `(&'static str, u16)` to `STR_U16`, `&'static [RuleId]` to
/// `LIST_RULE_ID`.
fn static_name(type_name: &str) -> String {
    let mut out = String::new();
    for word in type_name
        .replace("'static", " ")
        .replace('[', " LIST ")
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|w| !w.is_empty())
    {
        if !out.is_empty() {
            out.push('_');
        }
        let mut lower_before = false;
        for c in word.chars() {
            if c.is_ascii_uppercase() && lower_before {
                out.push('_');
            }
            lower_before = c.is_ascii_lowercase() || c.is_ascii_digit();
            out.push(c.to_ascii_uppercase());
        }
    }
    out
}

/// What one kind of data weighs in compiled tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weight {
    /// Its type; `str` for all text.
    pub kind: String,
    /// How many statics there are of it.
    pub statics: usize,
    /// How many values they hold.
    pub items: usize,
    /// Their size on this machine in bytes.
    pub bytes: usize,
}

/// What the statics of `tables` weigh on this machine, the heaviest first. Equal lists and equal
/// texts count once, as they are built.
#[must_use]
pub fn weigh(tables: &Tables<'_>) -> Vec<Weight> {
    let mut shared = Shared::default();
    tables.render(&mut shared);
    let lists = shared.weights.into_iter().map(|(kind, (statics, items, one))| Weight {
        kind,
        statics,
        items,
        bytes: items * one,
    });
    let text = shared.strings.iter().map(String::len).sum();
    let mut out: Vec<Weight> = lists.collect();
    out.push(Weight {
        kind: "str".into(),
        statics: shared.strings.len(),
        items: text,
        bytes: text,
    });
    out.push(Weight {
        kind: Tables::type_name(),
        statics: 1,
        items: 1,
        bytes: size_of::<Tables<'_>>(),
    });
    out.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.kind.cmp(&b.kind)));
    out
}

/// Where generated source comes from.
fn head(sources: &Sources) -> String {
    let mut out = String::from("// Generated by lanebook-gen; do not edit. Made from:\n");
    for (_, file) in sources.iter().filter(|(_, file)| file.family.is_none()) {
        out.push_str("//     ");
        out.push_str(&file.name);
        out.push('\n');
    }
    out
}

/// The generated source of a set of rules alone, as `pub static RULES`; `sources` are the files
/// named at its top.
#[must_use]
pub fn render_rules(rules: &Rules<'_>, sources: &Sources) -> String {
    let mut shared = Shared::default();
    let value = rules.render(&mut shared).pretty(0);
    let mut out = head(sources);
    out.push_str("#[allow(clippy::all, unused_imports)]\n#[rustfmt::skip]\nmod compiled {\nuse lanebook_tables::*;\n\n");
    out.push_str(&shared.text);
    out.push_str("\n/// The rules of this set.\npub static RULES: Rules<'static> = ");
    out.push_str(&value);
    out.push_str(";\n}\npub use compiled::RULES;\n");
    out
}

/// The generated source of `tables`, of what planning and emission need of them and of what emission
/// alone needs; `sources` are the files named at its top.
#[must_use]
pub fn render(
    tables: &Tables<'_>,
    lean: &Tables<'_>,
    emission: &Tables<'_>,
    sources: &Sources,
) -> String {
    let mut shared = Shared::default();
    let value = tables.render(&mut shared).pretty(0);
    let small = lean.render(&mut shared).pretty(0);
    let least = emission.render(&mut shared).pretty(0);
    let mut out = head(sources);
    out.push_str("#[allow(clippy::all, unused_imports)]\n#[rustfmt::skip]\nmod compiled {\n");
    out.push_str("use lanebook_layout::{AxisId, Iter, LayoutRef, Offset, PostMap, Profile, Swizzle, Unit};\nuse lanebook_tables::*;\n\n");
    out.push_str(&shared.text);
    out.push_str("\n/// The tables of this build.\npub static TABLES: Tables<'static> = ");
    out.push_str(&value);
    out.push_str(
        ";\n\n/// What planning and emission need of them.\npub static LEAN: Tables<'static> = ",
    );
    out.push_str(&small);
    out.push_str(
        ";\n\n/// What emission alone needs of them.\npub static EMISSION: Tables<'static> = ",
    );
    out.push_str(&least);
    out.push_str(";\n}\npub use compiled::{EMISSION, LEAN, TABLES};\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lists_are_shared_by_type() {
        let mut shared = Shared::default();
        let reference = |value: Value| value.pretty(0);
        let (a, b, c): (&[u16], &[u32], &[u16]) = (&[1, 2], &[1, 2], &[1, 2]);
        assert_eq!(reference(shared.list(a)), "&U16_0");
        assert_eq!(reference(shared.list(b)), "&U32_0");
        assert_eq!(reference(shared.list(c)), "&U16_0");
        assert_eq!(reference(shared.list(&[a, c])), "&LIST_U16_0");
        assert_eq!(reference(shared.list::<u16>(&[])), "&[]");
        let expected = "static U16_0: [u16; 2] = [1, 2];\nstatic U32_0: [u32; 2] = [1, 2];\nstatic LIST_U16_0: [&'static [u16]; 2] = [&U16_0, &U16_0];\n";
        assert_eq!(shared.text, expected);
    }

    #[test]
    fn long_expressions_break() {
        let word = |n: usize| Value::Word("x".repeat(n));
        let list = |parts: Vec<Value>| Value::List("[".into(), parts, "]".into());
        assert_eq!(
            list((0..3).map(|_| word(30)).collect()).pretty(0),
            format!("[{0}, {0}, {0}]", "x".repeat(30))
        );
        assert_eq!(
            list((0..4).map(|_| word(30)).collect()).pretty(0),
            format!("[\n    {0},\n    {0},\n    {0},\n    {0},\n]", "x".repeat(30))
        );
        let packed = list((0..40).map(|_| word(9)).collect()).pretty(0);
        assert!(
            packed.lines().all(|line| line.len() <= 120) && packed.lines().count() == 6,
            "{packed}"
        );
    }
}
