//! Which facts differ between two versions of the tables, field by field.
use crate::source::{Sources, Span};
use crate::tree::{self, Facts};
use std::collections::BTreeMap;

/// What became of a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The thing and everything about it is new; so many facts.
    Appeared(usize),
    /// The thing and everything about it is gone; so many facts.
    Vanished(usize),
    /// A field is new: its value.
    Added(String),
    /// A field is gone: its value.
    Removed(String),
    /// A field has another value: the old one, the new one.
    Changed(String, String),
}

/// A fact that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it is about, such as `atom ldmatrix.x4`.
    pub thing: String,
    /// The field, such as `movement.from.align_bytes`; empty for the whole thing.
    pub field: String,
    /// What became of it.
    pub change: Change,
    /// Where it stands now; what is gone stands where its thing does, if that is still there.
    pub place: Option<Span>,
}

impl Difference {
    /// As one line.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { thing, field, .. } = self;
        match &self.change {
            Change::Appeared(facts) => format!("{thing} is new, with {facts} facts"),
            Change::Vanished(facts) => format!("{thing} is gone, with {facts} facts"),
            Change::Added(new) => format!("{thing}: {field} is new: {new}"),
            Change::Removed(old) => format!("{thing}: {field} is gone: {old}"),
            Change::Changed(old, new) => format!("{thing}: {field} was {old}, is {new}"),
        }
    }
}

/// How many fields a thing has.
fn fields(facts: &BTreeMap<String, (String, Span)>) -> usize {
    facts.keys().filter(|field| !field.is_empty()).count()
}

/// What differs from `old` to `new`, by thing and field.
#[must_use]
pub fn compare(old: &Sources, new: &Sources) -> Vec<Difference> {
    let (old, new): (Facts, Facts) = (tree::facts(old), tree::facts(new));
    let mut out = Vec::new();
    let mut things: Vec<&String> = old.keys().chain(new.keys()).collect();
    things.sort();
    things.dedup();
    for thing in things {
        let whole = |change, place| Difference {
            thing: thing.clone(),
            field: String::new(),
            change,
            place,
        };
        match (old.get(thing), new.get(thing)) {
            (None, Some(facts)) => out.push(whole(
                Change::Appeared(fields(facts)),
                facts.values().next().map(|(_, span)| *span),
            )),
            (Some(facts), None) => out.push(whole(Change::Vanished(fields(facts)), None)),
            (Some(before), Some(after)) => {
                let here = after.get("").map(|(_, span)| *span);
                let mut fields: Vec<&String> = before.keys().chain(after.keys()).collect();
                fields.sort();
                fields.dedup();
                for field in fields {
                    let (change, place) = match (before.get(field), after.get(field)) {
                        (Some((a, _)), Some((b, span))) if a != b => {
                            (Change::Changed(a.clone(), b.clone()), Some(*span))
                        }
                        (Some((a, _)), None) => (Change::Removed(a.clone()), here),
                        (None, Some((b, span))) => (Change::Added(b.clone()), Some(*span)),
                        _ => continue,
                    };
                    out.push(Difference {
                        thing: thing.clone(),
                        field: field.clone(),
                        change,
                        place,
                    });
                }
            }
            (None, None) => {}
        }
    }
    out
}
