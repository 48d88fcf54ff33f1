//! Each index and tile rule decreases a measure, so rewriting ends.
//!
//! The measure is lexicographic.
//! 1. *Weight*: a constant counts 1, anything a slot holds at least 1, a word `factor * (sum of its
//!    arguments) + offset` by `rules/measure.ron`. Both sides are then linear in what the slots
//!    hold, and the right side must be smaller for all values: no slot may count more than before.
//! 2. If both weights are the same function: *constants outward*. Both sides have the same size
//!    (number of words and slots), and the sum, over words with a constant argument, of the size of
//!    their other argument grows.
//!
//! Rewriting runs phase by phase, so a phase of tile rules may have a measure of its own.
//!
//! Both parts decrease in any context: weights are strictly monotone, and a context sees only the
//! size, which 2 keeps.
use super::RuleModel;
use super::rule::CompiledRule;
use super::schema::{MeasureEntry, MeasureFile};
use super::tree::{self, Head, Tree};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables::{IndexOp, Language};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// What words count.
#[derive(Debug, Default)]
pub struct Measures {
    index: BTreeMap<IndexOp, (i64, i64)>,
    tile: Vec<Spanned<MeasureEntry>>,
    /// Of phases that have a measure of their own.
    phases: BTreeMap<u8, Phase>,
}

/// What operations count in one phase.
#[derive(Debug)]
struct Phase {
    others: (i64, i64),
    tile: Vec<Spanned<MeasureEntry>>,
}

/// What operations count that no entry lists.
const PLAIN: (i64, i64) = (1, 1);

pub(super) fn resolve(file: MeasureFile, phases: &[String], diags: &mut Diagnostics) -> Measures {
    let mut index = BTreeMap::new();
    for entry in &file.index {
        match IndexOp::ALL.into_iter().find(|op| op.name() == entry.word.value) {
            Some(op) => {
                index.insert(op, (entry.factor, entry.offset));
            }
            None => {
                let known = IndexOp::ALL.iter().map(|op| op.name());
                diags.push(
                    Diagnostic::at(entry.word.span, format!("unknown word `{}`", entry.word.value))
                        .help(remedy(&entry.word, known, "rules/README.md lists the words")),
                );
            }
        }
    }
    grow(&file.index, diags);
    let mut own = BTreeMap::new();
    for entry in file.phases {
        let Some(phase) = phases
            .iter()
            .position(|name| *name == entry.phase.value)
            .and_then(|at| u8::try_from(at).ok())
        else {
            let help = remedy(
                &entry.phase,
                phases.iter().map(String::as_str),
                "rules/passes.ron lists the phases",
            );
            diags.push(
                Diagnostic::at(entry.phase.span, format!("unknown phase `{}`", entry.phase.value))
                    .help(help),
            );
            continue;
        };
        grow(&entry.tile, diags);
        grows(entry.others.value, entry.others.span, diags);
        match own.entry(phase) {
            Entry::Vacant(place) => {
                place.insert(Phase { others: entry.others.value, tile: entry.tile });
            }
            Entry::Occupied(_) => diags.push(
                Diagnostic::at(
                    entry.phase.span,
                    format!("phase `{}` has two measures", entry.phase.value),
                )
                .help("keep one"),
            ),
        }
    }
    Measures { index, phases: own, ..of_tile(file.tile, diags) }
}

/// What operations count, nothing else.
pub(crate) fn of_tile(tile: Vec<Spanned<MeasureEntry>>, diags: &mut Diagnostics) -> Measures {
    grow(&tile, diags);
    Measures { tile, ..Measures::default() }
}

fn grow(entries: &[Spanned<MeasureEntry>], diags: &mut Diagnostics) {
    for entry in entries {
        grows((entry.factor, entry.offset), entry.span, diags);
    }
}

fn grows((factor, offset): (i64, i64), span: Span, diags: &mut Diagnostics) {
    if factor < 1 || offset < 0 {
        diags.push(
            Diagnostic::at(span, "a measure must grow with its arguments")
                .help("factor at least 1, offset at least 0"),
        );
    }
}

/// `constant + sum of slot * factor`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Linear {
    constant: i64,
    slots: BTreeMap<u8, i64>,
}

impl Linear {
    fn add(&mut self, other: &Linear, factor: i64) {
        self.constant += other.constant * factor;
        for (slot, count) in &other.slots {
            *self.slots.entry(*slot).or_default() += count * factor;
        }
    }
    /// Whether this minus `other` is at least `least` for all slot values from 1 on.
    fn exceeds(&self, other: &Linear, least: i64) -> bool {
        let mut difference = self.clone();
        difference.add(other, -1);
        difference.slots.values().all(|factor| *factor >= 0)
            && difference.constant + difference.slots.values().sum::<i64>() >= least
    }
}

/// The measure of one phase.
struct Scale<'a> {
    measures: &'a Measures,
    others: (i64, i64),
    tile: &'a [Spanned<MeasureEntry>],
    model: &'a RuleModel,
}

impl<'a> Scale<'a> {
    fn new(measures: &'a Measures, phase: u8, model: &'a RuleModel) -> Self {
        let own = measures.phases.get(&phase);
        let (others, tile) =
            own.map_or((PLAIN, &measures.tile), |phase| (phase.others, &phase.tile));
        Self { measures, others, tile, model }
    }
    fn of(&self, head: Head) -> (i64, i64) {
        match head {
            Head::Index(op) => self.measures.index.get(&op).copied().unwrap_or(PLAIN),
            Head::Tile(id) => {
                let listed = self
                    .tile
                    .iter()
                    .find(|entry| self.model.ops.named(&entry.word.value) == Some(id));
                listed.map_or(self.others, |entry| (entry.factor, entry.offset))
            }
            Head::Role(_) => self.others,
            Head::Inst(_) => PLAIN,
        }
    }
    fn weight(&self, tree: &Tree) -> Linear {
        match tree {
            Tree::Any(slot) => Linear { constant: 0, slots: BTreeMap::from([(*slot, 1)]) },
            Tree::AnyConst(_) | Tree::Const(_) => Linear { constant: 1, slots: BTreeMap::new() },
            Tree::Node(head, args) => {
                let (factor, offset) = self.of(*head);
                let mut sum = Linear { constant: offset, slots: BTreeMap::new() };
                for arg in args {
                    sum.add(&self.weight(arg), factor);
                }
                sum
            }
        }
    }
}

/// Size, and the sum of the sizes beside constants.
fn outward(tree: &Tree) -> (Linear, Linear) {
    match tree {
        Tree::Any(slot) => {
            (Linear { constant: 0, slots: BTreeMap::from([(*slot, 1)]) }, Linear::default())
        }
        Tree::AnyConst(_) | Tree::Const(_) => {
            (Linear { constant: 1, slots: BTreeMap::new() }, Linear::default())
        }
        Tree::Node(_, args) => {
            let (mut size, mut beside) =
                (Linear { constant: 1, slots: BTreeMap::new() }, Linear::default());
            let with_constant =
                args.iter().any(|arg| matches!(arg, Tree::AnyConst(_) | Tree::Const(_)));
            for arg in args {
                let (own, inner) = outward(arg);
                size.add(&own, 1);
                beside.add(&inner, 1);
                if with_constant {
                    beside.add(&own, 1);
                }
            }
            (size, beside)
        }
    }
}

fn decreases(rule: &CompiledRule, scale: &Scale<'_>) -> bool {
    let (left, right) = (tree::pattern(rule), tree::replacement(rule));
    let (before, after) = (scale.weight(&left), scale.weight(&right));
    if before.exceeds(&after, 1) {
        return true;
    }
    let ((size, beside), (new_size, new_beside)) = (outward(&left), outward(&right));
    before == after && size == new_size && new_beside.exceeds(&beside, 1)
}

/// Every index and tile rule decreases the measure.
pub(crate) fn check(model: &RuleModel, measures: &Measures, diags: &mut Diagnostics) {
    for rule in model.rules.iter().filter(|rule| rule.language != Language::Target) {
        let scale = Scale::new(measures, rule.phase, model);
        if !decreases(rule, &scale) {
            let show = |tree: &Tree| {
                let weight = scale.weight(tree);
                let mut out = weight.constant.to_string();
                for (slot, factor) in &weight.slots {
                    let name =
                        rule.slots.get(usize::from(*slot)).map_or("?", |slot| slot.name.as_str());
                    out.push_str(&format!(" + {factor} {name}"));
                }
                out
            };
            let (left, right) = (show(&tree::pattern(rule)), show(&tree::replacement(rule)));
            diags.push(
                Diagnostic::at(rule.replacement_span, format!("rule `{}` does not decrease its measure: {left} becomes {right}", rule.name.value))
                    .note(rule.pattern_span, "the pattern")
                    .help("turn it round, or bring constants outward; rules/README.md says how the measure counts"),
            );
        }
    }
}
