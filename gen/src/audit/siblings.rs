//! Instructions that are alike in text and width are alike in what goes with these.
//!
//! Alignment, banks, counter, offset field and kind of access belong to a form of access, not to a
//! single instruction: of two atoms of one architecture whose texts begin with the same words, and
//! that move as much between the same spaces, each has what the other has.
use super::spelling::{text, words};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, HwModel, Side};
use crate::source::Span;
use lanebook_layout::AxisId;
use lanebook_tables::{Atomic, Space};
use std::collections::{BTreeMap, BTreeSet};

/// What goes with a form: the form, what, the value and where it stands.
pub(super) struct Trait {
    pub(super) form: String,
    pub(super) what: &'static str,
    pub(super) value: String,
    pub(super) at: Span,
}

/// What is said of a movement that crosses lanes.
const CROSSES: &str = " across lanes";

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let all: Vec<Vec<Trait>> = model.atoms.iter().map(|atom| traits(model, atom)).collect();
    let mut diags = Diagnostics::new();
    let mut seen = BTreeSet::new();
    // Generations differ: what one architecture has is alike.
    for arch in &model.archs {
        type Values<'t> = BTreeMap<&'t str, Vec<Span>>;
        let mut groups: BTreeMap<(&str, &'static str), Values<'_>> = BTreeMap::new();
        for one in arch.atoms.iter().flat_map(|entry| &all[entry.atom.index()]) {
            let values = groups.entry((&one.form, one.what)).or_default();
            values.entry(&one.value).or_default().push(one.at);
        }
        for ((form, what), values) in groups.iter().filter(|(_, values)| values.len() > 1) {
            // What most of them have comes first, what fewest have is most likely wrong.
            let mut list: Vec<(&&str, &Vec<Span>)> = values.iter().collect();
            list.sort_by_key(|(value, spans)| (std::cmp::Reverse(spans.len()), **value));
            let (Some((usual, of)), Some((odd, at))) = (list.first(), list.last()) else {
                continue;
            };
            let (Some(here), Some(there)) = (at.first(), of.first()) else { continue };
            if !seen.insert((*here, *what)) {
                continue;
            }
            let message = format!("{what} of `{form}` is {odd} here and {usual} elsewhere");
            diags.push(
                Diagnostic::at(here.head(), message)
                    .note(there.head(), "elsewhere")
                    .note(arch.name.span, "of this architecture")
                    .help(
                        "instructions that are alike in text and width agree: correct one of them",
                    ),
            );
        }
    }
    diags
}

/// The first words of a text.
fn head(text: &str, count: usize) -> String {
    let mnemonic = text.split_whitespace().next().unwrap_or_default().replace('_', ".");
    words(&mnemonic).take(count).collect::<Vec<_>>().join(".")
}

/// What is said of a movement that answers what stood in memory before: it counts as a load does,
/// and has what it compares with in operands of its own.
pub(super) fn answers(movement: &crate::model::Movement) -> &'static str {
    match movement.atomic {
        Some(Atomic { old: Some(_), compare: Some(_), .. }) => " and back, compared",
        Some(Atomic { old: Some(_), .. }) => " and back",
        _ => "",
    }
}

fn traits(model: &HwModel, atom: &Atom) -> Vec<Trait> {
    let mut out = super::forms::traits(model, atom);
    let Some(movement) = &atom.movement else { return out };
    let isa = &model.isa(atom.isa).name.value;
    let text = text(atom);
    let (from, to) = (&movement.from, &movement.to);
    let crosses = if movement.crosses_lanes { CROSSES } else { "" };
    let answers = answers(movement);
    let ways = format!("{:?} to {:?}{crosses}{answers}", from.space, to.space).to_lowercase();
    let two = head(&text, 2);
    let counter = atom.counter.as_ref();
    out.push(Trait {
        form: format!("{isa}: {} {ways}", head(&text, 1)),
        what: "the counter",
        value: counter.map_or("none".into(), |name| name.value.clone()),
        at: counter.map_or(atom.name.span, |name| name.span),
    });
    let tags: Vec<&str> =
        atom.tags.iter().map(|tag| model.tags[tag.index()].name.value.as_str()).collect();
    let register = [from, to].into_iter().find(|side| side.space == Space::Register);
    let held = register
        .and_then(|side| atom.operands.get(usize::from(side.operand)))
        .map_or(0, |operand| operand.registers);
    out.push(Trait {
        form: format!("{isa}: {two} {ways}, {held} registers"),
        what: "the tags",
        value: tags.join(", "),
        at: atom.name.span,
    });
    // Offsets of two places count elements, or many of them, and are shorter.
    let has_two = movement.offsets.iter().any(|field| field.place != 0);
    let pair = if has_two { ", two places" } else { "" };
    let counted = if has_two { head(&text, usize::MAX) } else { two.clone() };
    for field in &movement.offsets {
        let operand = atom.operands.get(usize::from(field.operand));
        let range = operand.and_then(|operand| operand.range.as_ref());
        let on = match (field.on_from, field.on_to) {
            (true, true) => "both sides",
            (true, false) => "from",
            _ => "to",
        };
        out.push(Trait {
            form: format!("{isa}: {counted} {ways}, {on}{pair}"),
            what: "the unit of the offset",
            value: field.scale.to_string(),
            at: field.span,
        });
        if let Some(range) = range {
            out.push(Trait {
                form: format!("{isa}: {} {ways}{pair}", head(&text, 1)),
                what: "the range of the offset",
                value: format!("{} to {}", range.value.0, range.value.1),
                at: range.span,
            });
        }
    }
    let updates = if movement.atomic.is_some() { ", updated" } else { "" };
    for (side, reading) in [(from, true), (to, false)] {
        let ways = Ways { isa, ways: &ways, updates, pair };
        memory(model, &two, &ways, (side, reading), &mut out);
    }
    out
}

/// How a movement goes: its instruction set, from where to where, whether memory is changed there, and
/// whether it has two places.
struct Ways<'a> {
    isa: &'a str,
    ways: &'a str,
    updates: &'a str,
    pair: &'a str,
}

fn memory(
    model: &HwModel,
    two: &str,
    how: &Ways<'_>,
    (side, reading): (&Side, bool),
    out: &mut Vec<Trait>,
) {
    let Ways { isa, ways, updates, pair } = *how;
    if !matches!(side.space, Space::Shared | Space::Global) {
        return;
    }
    let bytes = side.slot_bytes.as_ref().map_or(0, |bytes| bytes.value);
    let which = if reading { "from" } else { "to" };
    // What a machine asks of an address goes by how it is reached and by what is taken there, not by a
    // mnemonic.
    if bytes != 0 {
        // Banks are reached alike, also by lanes that ask for what others get.
        let reached = if side.space == Space::Shared {
            format!("{}{updates}{pair}, {which} slots of {bytes} bytes", ways.replace(CROSSES, ""))
        } else {
            format!("{isa}: {ways}{updates}, {which} slots of {bytes} bytes")
        };
        out.push(Trait {
            form: reached,
            what: "the alignment",
            value: side.align_bytes.to_string(),
            at: side.span,
        });
    }
    let form = format!("{isa}: {two} {ways}, {which} {bytes} bytes");
    out.push(Trait {
        form: form.clone(),
        what: "the alignment",
        value: side.align_bytes.to_string(),
        at: side.span,
    });
    // A uniform address supplies all lanes: how much each gets is not said by it.
    if side.layout.axes().contains(&AxisId::SLOT) {
        out.push(Trait {
            form,
            what: "the bank model",
            value: side.banks.as_ref().map_or("none".into(), |name| name.value.clone()),
            at: side.banks.as_ref().map_or(side.span, |name| name.span),
        });
    }
    out.push(Trait {
        form: format!("{isa}: {two} {ways}, {which}"),
        what: "the kind of access",
        value: side
            .access
            .map_or("none".into(), |id| model.accesses[id.index()].name.value.clone()),
        at: side.span,
    });
}
