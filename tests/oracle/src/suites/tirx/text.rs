//! The notation: texts of the records, and lanebook's own printing.

use super::answer;
use super::model::{self, Model};
use super::tally::Tally;
use crate::suites::Verdict;
use lanebook_layout::notation::Expected;
use lanebook_layout::tirx;
use lanebook_layout::{Layout, NoSyms, WellKnown, notation};
use serde_json::Value;

/// The peer's own text of the layout is read as this layout, and printing parses back.
pub fn both_ways(record: &Value, l: &Layout, tally: &mut Tally) {
    let Some(text) = record["text"].as_str() else {
        return;
    };
    match model::parse(text) {
        Ok(read) => tally
            .same(read.view().shard == l.view().shard, || format!("{text} is read as {read:?}")),
        Err(e) => tally.differ(format!("{text}: {e:?}")),
    }
    let mut printed = String::new();
    let done = notation::tirx::print(&l.view(), &WellKnown, &NoSyms, &mut printed);
    tally.same(done.is_ok() && model::parse(&printed).as_ref() == Ok(l), || {
        format!("printed as {printed}")
    });
}

/// `op: spec`.
pub fn spec(record: &Value) -> Result<Verdict, String> {
    let text = record["text"].as_str().ok_or("text")?;
    let wanted = answer(&record["layout"]).map(Model::read).transpose()?;
    let l = match (model::parse(text), &wanted) {
        (Ok(l), Some(_)) => l,
        (Err(_), None) => return Ok(Verdict::Refused("both refuse the text")),
        (Err(e), Some(_)) => {
            return Ok(match e.expected {
                Expected::OneShard => Verdict::Refused("a second S, which TIRx drops"),
                Expected::OneReplica => Verdict::Refused("a second R, which replaces the first"),
                Expected::PositiveExtent => Verdict::Refused("an extent below 1"),
                _ if unequal(text) => {
                    Verdict::Refused("strides and extents differ in number, which TIRx zips")
                }
                other => Verdict::Differ(format!("{text}: expected {other:?}")),
            });
        }
        (Ok(l), None) => {
            return Ok(match beyond_python(text) {
                Some(why) => Verdict::Ruled(why),
                None => Verdict::Differ(format!("{text} is read as {l:?}")),
            });
        }
    };
    let mut tally = Tally::default();
    if let Some(wanted) = &wanted {
        tally.check(text, model::same_iters(&l, wanted));
    }
    super::forms::scopes(record, &l, &mut tally);
    if record.get("canonical").is_some() {
        let found = tirx::canonicalize_for(&l.view(), &WellKnown, &[]);
        super::rewrites::canonical(&record["canonical"], found, &mut tally)?;
    }
    if let Some(size) = answer(&record["size"]).and_then(Value::as_u64) {
        let found = l.view().size_value();
        tally.same(found == Ok(size), || format!("size {found:?}"));
    }
    Ok(tally.verdict())
}

/// Whether an `S[...]` or `R[...]` of a text has another number of strides than of extents.
fn unequal(text: &str) -> bool {
    let specs = text.split(['S', 'R']).filter_map(|t| t.strip_prefix('['));
    let mut specs = specs.filter_map(|t| t.split_once(']')?.0.split_once(':'));
    specs.any(|(extents, strides)| items(extents) != items(strides))
}

/// The items of a list, or 1 for what is none.
fn items(list: &str) -> usize {
    let inner = list.trim().strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let Some(inner) = inner else {
        return 1;
    };
    let (mut depth, mut count, mut open) = (0, 0, false);
    for c in inner.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => (count, open) = (count + 1, false),
            _ => {}
        }
        open |= !(c.is_whitespace() || c == ',' && depth == 0);
    }
    count + usize::from(open)
}

/// What a text says that Python's operators cannot, although it has one meaning.
fn beyond_python(text: &str) -> Option<&'static str> {
    let first = text.split(['S', 'R']).next().unwrap_or_default();
    if first.contains('@') {
        return Some("an offset with an axis before the S, which Python cannot add");
    }
    let strides = text.split(':').skip(1).filter_map(|t| t.split(']').next());
    let mut names = strides.flat_map(|t| t.split(['(', ',', ')']));
    names
        .any(|t| t.trim().starts_with(|c: char| c.is_ascii_alphabetic()))
        .then_some("an axis without number or quotes, which is no stride in Python")
}
