//! A fact made wrong: another value of the same form.
use crate::facts::{Fact, Facts, Form, KINDS, Kind, folder};
use crate::seed::Seed;
use crate::walk::{plant, sample};
use lanebook_gen::source::{Sources, Span};

/// A planted mistake.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Of what kind the fact is.
    pub kind: Kind,
    /// Where it stands in what.
    pub path: String,
    /// Its place.
    pub span: Span,
    /// What stands there.
    pub old: String,
    /// What stands there instead.
    pub new: String,
}

/// So many mutants, about as many of each of some kinds (of none named: of all); fewer if there are
/// not so many facts.
#[must_use]
pub fn plan(
    sources: &Sources,
    facts: &Facts,
    kinds: &[Kind],
    count: usize,
    seed: u64,
) -> Vec<Mutant> {
    let mut seed = Seed(seed);
    let mut out: Vec<Mutant> = Vec::new();
    for (kind, share) in shares(&KINDS, kinds, count) {
        // Paths first: a list that is long must not hide the others.
        let of: Vec<&Fact> = facts.list.iter().filter(|fact| fact.kind == kind).collect();
        let mut paths: Vec<(&str, Form)> = Vec::new();
        for fact in &of {
            if !paths.iter().any(|(path, form)| *path == fact.path && *form == fact.form) {
                paths.push((&fact.path, fact.form));
            }
        }
        let stands_at =
            |fact: &Fact, (path, form): &(&str, Form)| fact.path == *path && fact.form == *form;
        sample(&of, &paths, stands_at, share, &mut seed, |fact, seed| {
            let old = sources.text(fact.span).to_string();
            let new = changed(sources, fact, &old, facts, seed).filter(|new| *new != old);
            let Some(new) = new else { return false };
            let path = fact.path.clone();
            plant(&mut out, Mutant { kind: fact.kind, path, span: fact.span, old, new })
        });
    }
    out
}

/// How many of each: `count` in even parts over the kinds that are `wanted`, or over all if none is.
pub(crate) fn shares(
    all: &[(Kind, &str)],
    wanted: &[Kind],
    count: usize,
) -> impl Iterator<Item = (Kind, usize)> {
    let of: Vec<Kind> = all
        .iter()
        .map(|(kind, _)| *kind)
        .filter(|kind| wanted.is_empty() || wanted.contains(kind))
        .collect();
    let parts = of.len();
    let share = move |at: usize| count * (at + 1) / parts - count * at / parts;
    of.into_iter().enumerate().map(move |(at, kind)| (kind, share(at)))
}

fn changed(
    sources: &Sources,
    fact: &Fact,
    old: &str,
    facts: &Facts,
    seed: &mut Seed,
) -> Option<String> {
    if fact.form == Form::Whole {
        return Some(String::new());
    }
    let last = fact.path.rsplit('.').next().unwrap_or_default();
    if let Ok(value) = old.parse::<i64>() {
        return Some(number(value, seed).to_string());
    }
    if let Some(value) = old.strip_prefix("0x").and_then(|hex| i64::from_str_radix(hex, 16).ok()) {
        return Some(number(value, seed).to_string());
    }
    match old {
        "true" => return Some("false".into()),
        "false" => return Some("true".into()),
        _ => {}
    }
    if let Some(text) = old.strip_prefix('"').and_then(|t| t.strip_suffix('"')) {
        if text.contains("S[") {
            return layout(text, seed).map(|new| format!("\"{new}\""));
        }
        if last == "template" {
            return template(text, seed).map(|new| format!("\"{new}\""));
        }
        if last == "name" {
            return name(text, seed).map(|new| format!("\"{new}\""));
        }
    }
    // Where an operand is named, another of the same atom.
    let operands = facts.operands(sources, fact.span);
    if fact.kind != Kind::Operands && operands.iter().any(|name| name == old) {
        let others: Vec<&String> = operands.iter().filter(|name| *name != old).collect();
        return seed.pick(&others).map(|other| (*other).clone());
    }
    // Else another word that stands in such a place somewhere in the same folder.
    let place = (folder(&sources.file(fact.span.file).name), fact.path.clone());
    let others: Vec<&String> =
        facts.seen.get(&place)?.iter().filter(|other| *other != old).collect();
    seed.pick(&others).map(|other| (*other).clone())
}

pub(crate) fn number(value: i64, seed: &mut Seed) -> i64 {
    let others = [value + 1, value - 1, value * 2, value / 2, value + 4];
    let right = |other: &&i64| **other != value && (**other >= 0 || value < 0);
    let others: Vec<i64> = others.iter().filter(right).copied().collect();
    seed.pick(&others).copied().unwrap_or(value + 1)
}

/// Runs of digits in a text.
fn digits(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        if at > start {
            out.push((start, at));
        } else {
            at += 1;
        }
    }
    out
}

fn with_number(text: &str, (start, end): (usize, usize), value: i64) -> String {
    format!("{}{value}{}", &text[..start], &text[end..])
}

/// A layout with another stride, two strides exchanged, or another axis.
fn layout(text: &str, seed: &mut Seed) -> Option<String> {
    let strides = text.split_once(':')?;
    let head = strides.0.len() + 1;
    match seed.below(4) {
        0 => {
            let axes: [(&str, &str); 5] = [
                ("laneid", "bit"),
                ("bit", "laneid"),
                ("TLane", "TCol"),
                ("TCol", "TLane"),
                ("slot", "byte"),
            ];
            let found: Vec<(usize, &str, &str)> = axes
                .iter()
                .flat_map(|(from, to)| text.match_indices(from).map(|(at, _)| (at, *from, *to)))
                .collect();
            let (at, from, to) = seed.pick(&found)?;
            Some(format!("{}{to}{}", &text[..*at], &text[at + from.len()..]))
        }
        1 => {
            let end = head + strides.1.find(')')?;
            let inside = &text[head..end];
            let open = inside.strip_prefix('(')?;
            let mut parts: Vec<&str> = open.split(',').collect();
            if parts.len() < 2 {
                return None;
            }
            let at = seed.below(parts.len() - 1);
            parts.swap(at, at + 1);
            Some(format!("{}({}{}", &text[..head], parts.join(","), &text[end..]))
        }
        _ => {
            let runs: Vec<(usize, usize)> =
                digits(text).into_iter().filter(|(start, _)| *start >= head).collect();
            let run = *seed.pick(&runs)?;
            let value: i64 = text[run.0..run.1].parse().ok()?;
            Some(with_number(text, run, number(value, seed).max(1)))
        }
    }
}

/// Words of texts that are easily mistaken for one another.
const NEAR: [(&str, &str); 16] = [
    ("f16", "bf16"),
    ("bf16", "f16"),
    ("u32", "i32"),
    ("i32", "u32"),
    ("s32", "u32"),
    ("b32", "b64"),
    ("b16", "b32"),
    ("add", "sub"),
    ("sub", "add"),
    ("e4m3", "e5m2"),
    ("fp8", "bf8"),
    ("min", "max"),
    ("max", "min"),
    ("lshl", "lshr"),
    ("_lo_", "_hi_"),
    ("load", "store"),
];

/// A text with another number, another word, or two operands exchanged.
fn template(text: &str, seed: &mut Seed) -> Option<String> {
    match seed.below(3) {
        0 => {
            let runs = digits(text);
            let run = *seed.pick(&runs)?;
            let value: i64 = text[run.0..run.1].parse().ok()?;
            Some(with_number(text, run, number(value, seed)))
        }
        1 => word(text, seed),
        _ => {
            // Placeholders; braces that stand around one belong to the text.
            let names: Vec<(usize, usize)> = text
                .match_indices('{')
                .filter_map(|(at, _)| Some((at, at + text[at..].find('}')? + 1)))
                .filter(|(at, end)| !text[at + 1..*end].contains('{'))
                .collect();
            if names.len() < 2 {
                return None;
            }
            let first = seed.below(names.len() - 1);
            let ((a, b), (c, d)) = (names[first], names[first + 1]);
            Some(format!(
                "{}{}{}{}{}",
                &text[..a],
                &text[c..d],
                &text[b..c],
                &text[a..b],
                &text[d..]
            ))
        }
    }
}

fn word(text: &str, seed: &mut Seed) -> Option<String> {
    let found: Vec<(usize, &str, &str)> = NEAR
        .iter()
        .flat_map(|(from, to)| text.match_indices(from).map(|(at, _)| (at, *from, *to)))
        .collect();
    let (at, from, to) = seed.pick(&found)?;
    Some(format!("{}{to}{}", &text[..*at], &text[at + from.len()..]))
}

/// A name with another number or word.
fn name(text: &str, seed: &mut Seed) -> Option<String> {
    if seed.below(2) == 0 {
        return word(text, seed);
    }
    let runs = digits(text);
    let run = *seed.pick(&runs)?;
    let value: i64 = text[run.0..run.1].parse().ok()?;
    Some(with_number(text, run, number(value, seed)))
}
