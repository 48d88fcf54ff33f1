//! What `compile` takes of operations is the same wherever it is called the same.
//!
//! A key has one form of value among operations of one kind; a default is a value that may be
//! written; words of a key are those that the engine knows. Optional operands of one name take the
//! same; what any number of may stand is there from none on. Tiles that an operation computes of
//! one another have the same elements, written layouts are obeyed wherever tiles are, and what is
//! computed one by one takes as many operands as it is declared with. What a loop gives in the end its
//! turns are given.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::rules::contract::{AttrEntry, ElementsWord, Form, OpEntry, SlotEntry};
use crate::rules::ops::Op;
use crate::schema::Name;
use crate::source::Span;
use lanebook_tables::{AtomicOp, IndexWord, OpRole, RELATIONS};
use std::collections::BTreeMap;

/// The kind of a place where tiles in registers may stand.
const REGISTERS: &str = "registers";
/// The kind of a place where a tile of tensor memory stands.
const TENSOR: &str = "tensor";
/// What says what is done.
const KIND: &str = "kind";

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    let (contract, ops) = (&compiled.rules.contract, &compiled.rules.ops);
    let mut forms: Forms<'_> = BTreeMap::new();
    let mut optional: BTreeMap<&str, (String, Span)> = BTreeMap::new();
    let mut ranks: BTreeMap<&str, ((u8, u8), Span)> = BTreeMap::new();
    let mut layouts: Option<(Vec<&str>, Span)> = None;
    for entry in &contract.compiled {
        let entry = &entry.value;
        let own = || entry.ops.iter().filter_map(|name| ops.named(name).and_then(|id| ops.get(id)));
        let Some((op, at)) = own().next().zip(entry.ops.first()) else { continue };
        let slots = || entry.operands.iter().chain(&entry.results).chain(&entry.arguments);
        for attr in entry.attributes.iter().chain(slots().flat_map(|slot| &slot.attributes)) {
            form(attr, family(op), &mut forms, diags);
            default(attr, diags);
        }
        words(entry, op, diags);
        for slot in slots() {
            counted(slot, at.span, diags);
            if let [only] = &slot.kinds[..]
                && only.value == TENSOR
            {
                ranked(slot, &only.value, at.span, &mut ranks, diags);
            }
        }
        for slot in entry.operands.iter().filter(|slot| slot.count == (0, 1)) {
            let takes = format!("{} of elements `{:?}`", listed(&slot.kinds), slot.elements);
            same(&slot.name, takes, at.span, &mut optional, diags);
        }
        elements(entry, op, at.span, diags);
        places(entry, op, at.span, diags);
        written(entry, op, at.span, &mut layouts, diags);
        if matches!(op.role, OpRole::For | OpRole::While) {
            carried(entry, op, at.span, diags);
        }
        for op in own() {
            let all = op.role.is_lanewise() || op.role == OpRole::Index;
            exact(entry, op, at.span, all, diags);
        }
    }
}

/// Tiles that are in one kind of place alone have the ranks that others there have.
fn ranked<'c>(
    slot: &'c SlotEntry,
    kind: &'c str,
    at: Span,
    seen: &mut BTreeMap<&'c str, ((u8, u8), Span)>,
    diags: &mut Diagnostics,
) {
    let (other, there) = *seen.entry(kind).or_insert((slot.ranks, at));
    if other != slot.ranks {
        let message = format!(
            "`{}` in `{kind}` has ranks {:?}, and others have {other:?}",
            slot.name, slot.ranks
        );
        diags.push(
            Diagnostic::at(at, message)
                .note(there, "the others")
                .help("tiles of one place have the ranks that are there: correct `ranks`"),
        );
    }
}

/// Forms of a key among operations of one kind, with where each stands.
type Forms<'c> = BTreeMap<(&'static str, &'c str), (String, Span)>;

/// What operations are alike in.
fn family(op: &Op) -> &'static str {
    match op.role {
        OpRole::Load | OpRole::Store | OpRole::Atomic | OpRole::Copy => "memory",
        OpRole::Reduce | OpRole::Scan => "combining",
        OpRole::Index if op.index.is_some() => "index",
        OpRole::Index => "range",
        OpRole::Broadcast => "broadcast",
        OpRole::Matrix => "matrix",
        _ => "other",
    }
}

fn listed(names: &[Name]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
    names.join(", ")
}

/// A form as it is written.
fn shown(form: &Form) -> String {
    match form {
        Form::Unit => "unit".into(),
        Form::Int(least, most) => format!("int({least}, {most})"),
        Form::Power(least, most) => format!("power({least}, {most})"),
        Form::Word(words) => format!("word({})", words.join(", ")),
        Form::Text => "text".into(),
        Form::Symbol => "symbol".into(),
        Form::Ints(numbers) => format!("ints({numbers:?})"),
        Form::Layout(names) => format!("layout({})", listed(names)),
        Form::Grid => "grid".into(),
        Form::Bounds => "bounds".into(),
        Form::Map => "map".into(),
        Form::Dense => "dense".into(),
    }
}

/// A key has one form, the words of what is done aside.
fn form<'c>(
    attr: &'c AttrEntry,
    family: &'static str,
    forms: &mut Forms<'c>,
    diags: &mut Diagnostics,
) {
    if attr.key.value == KIND {
        return;
    }
    let own = format!("{} {}{:?}", shown(&attr.value), attr.default, (attr.required, attr.ranks));
    let key = (family, attr.key.value.as_str());
    let (other, span) = forms.entry(key).or_insert((own.clone(), attr.key.span));
    if *other != own {
        let message = format!("attribute `{}` is `{own}`, and `{other}` elsewhere", attr.key.value);
        diags.push(
            Diagnostic::at(attr.key.span, message)
                .note(*span, "the other")
                .help("one key is one thing: correct one of them, or call it otherwise"),
        );
    }
}

/// A default that could be written is one that may be, and a span of numbers goes up.
fn default(attr: &AttrEntry, diags: &mut Diagnostics) {
    let mut say = |what: &str| {
        let message = format!("attribute `{}`, {}: {what}", attr.key.value, shown(&attr.value));
        diags.push(Diagnostic::at(attr.key.span, message).help("correct `value` or `default`"));
    };
    let number = attr.default.parse::<i64>();
    match &attr.value {
        Form::Int(least, most) | Form::Power(least, most) => {
            if least > most {
                say("the least is above the most");
            }
            if number.is_ok_and(|number| number < *least || number > *most) {
                say("the default is none of these numbers");
            }
            let power = |value: i64| value > 0 && value & (value - 1) == 0;
            if matches!(attr.value, Form::Power(..)) && !(power(*least) && power(*most)) {
                say("an end is no power of two");
            }
        }
        Form::Word(words) => {
            let one = !attr.default.is_empty() && !attr.default.contains(' ');
            if one && !words.contains(&attr.default) {
                say("the default is none of these words");
            }
        }
        _ => {}
    }
}

/// The words for what is done are those that there are.
fn words(entry: &OpEntry, op: &Op, diags: &mut Diagnostics) {
    let Some(attr) = entry.attributes.iter().find(|attr| attr.key.value == KIND) else { return };
    let Form::Word(words) = &attr.value else { return };
    let known: Vec<&str> = match op.role {
        OpRole::Atomic => AtomicOp::NAMES.iter().map(|(_, name)| *name).collect(),
        OpRole::Index if op.index == Some(IndexWord::Compare) => {
            RELATIONS.iter().map(|(name, ..)| *name).collect()
        }
        _ => return,
    };
    let (strange, left) = (
        words.iter().find(|word| !known.contains(&word.as_str())),
        known.iter().find(|word| !words.iter().any(|one| one == *word)),
    );
    let what = strange
        .map(|word| format!("`{word}` is none"))
        .or(left.map(|word| format!("`{word}` is missing")));
    if let Some(what) = what {
        let message = format!("`{}` has words for what it does: {what}", op.entry.name.value);
        diags.push(
            Diagnostic::at(attr.key.span, message).help(format!("there are {}", known.join(", "))),
        );
    }
}

/// What may stand any number of times may stand no time.
fn counted(slot: &SlotEntry, at: Span, diags: &mut Diagnostics) {
    let (least, most) = slot.count;
    let (low, high) = slot.ranks;
    let what = if most == u8::MAX && least != 0 {
        format!("any number from {least} on")
    } else if least > most || most == 0 {
        format!("{least} to {most}")
    } else if low == 0 || low > high {
        format!("tiles of {low} to {high} dimensions")
    } else {
        return;
    };
    diags.push(
        Diagnostic::at(at, format!("`{}` takes {what}", slot.name))
            .help("the least comes first; any number is none as well"),
    );
}

/// What is called the same takes the same.
fn same<'c>(
    name: &'c str,
    takes: String,
    at: Span,
    seen: &mut BTreeMap<&'c str, (String, Span)>,
    diags: &mut Diagnostics,
) {
    // What is called by its place says nothing of what it is.
    if ["first", "second"].contains(&name) {
        return;
    }
    let (other, span) = seen.entry(name).or_insert((takes.clone(), at));
    if *other != takes {
        diags.push(
            Diagnostic::at(at, format!("`{name}` takes {takes}, and {other} elsewhere"))
                .note(*span, "the other")
                .help("an optional operand of one name is one thing: correct one of them"),
        );
    }
}

fn holds_tiles(slot: &SlotEntry) -> bool {
    slot.kinds.iter().any(|kind| kind.value == REGISTERS)
}

/// Tiles that are computed of one another have the same elements, but for truths; a result is in
/// registers where all operands are.
fn elements(entry: &OpEntry, op: &Op, at: Span, diags: &mut Diagnostics) {
    let computes = !op.entry.reads && !op.entry.writes && op.role != OpRole::Index;
    if !computes {
        return;
    }
    let mut slots = entry.operands.iter().chain(&entry.results);
    let word = |slot: &SlotEntry| format!("{:?}", slot.elements);
    let truths = format!("{:?}", ElementsWord::Truths);
    let tiles: Vec<&SlotEntry> =
        slots.clone().filter(|slot| holds_tiles(slot) && word(slot) != truths).collect();
    if let Some(two) = tiles.windows(2).find(|two| word(two[0]) != word(two[1])) {
        let message = format!(
            "`{}` of `{}` has elements `{}`, and `{}` has `{}`",
            two[0].name,
            op.entry.name.value,
            word(two[0]).to_lowercase(),
            two[1].name,
            word(two[1]).to_lowercase()
        );
        diags.push(
            Diagnostic::at(at, message)
                .help("what is computed of tiles has their elements: correct `elements`"),
        );
    }
    let lanewise = op.role.is_lanewise();
    if lanewise && let Some(slot) = slots.find(|slot| !holds_tiles(slot)) {
        let message =
            format!("`{}` of `{}` is no tile in registers", slot.name, op.entry.name.value);
        diags.push(
            Diagnostic::at(at, message).help("what is computed element by element is in registers"),
        );
    }
    let truth = entry.results.iter().all(|slot| word(slot) == truths);
    if lanewise && truth != op.entry.truth {
        let message = format!("what results of `{}` are is said in two ways", op.entry.name.value);
        diags.push(
            Diagnostic::at(at, message)
                .note(op.entry.name.span, "the operation")
                .help("`truth` and `elements: truths` go together"),
        );
    }
}

/// Layouts of tiles are obeyed in the same notations wherever such tiles are made.
fn written<'c>(
    entry: &'c OpEntry,
    op: &Op,
    at: Span,
    seen: &mut Option<(Vec<&'c str>, Span)>,
    diags: &mut Diagnostics,
) {
    let made = entry.results.iter().chain(&entry.arguments).filter(|slot| holds_tiles(slot));
    for slot in made {
        let own: Vec<&str> = slot.layouts.iter().map(|name| name.value.as_str()).collect();
        // What a call or a wait hands back, and pointers, have the layouts of what they are made of; a
        // token of what is under way has none.
        let hands_on = matches!(
            op.role,
            OpRole::Call | OpRole::Index | OpRole::Consume | OpRole::Opaque | OpRole::Store
        );
        if own.is_empty() && hands_on {
            continue;
        }
        let (other, span) = seen.get_or_insert((own.clone(), at));
        if *other != own {
            let message = format!(
                "layouts of `{}` are obeyed in {}, and elsewhere in {}",
                slot.name,
                if own.is_empty() { "no notation".to_string() } else { own.join(", ") },
                other.join(", ")
            );
            diags.push(Diagnostic::at(at, message).note(*span, "there").help(
                "tiles in registers take layouts in one set of notations: correct `layouts`",
            ));
        }
    }
}

/// What a role of operations takes and gives: tiles in registers, or indices.
fn places(entry: &OpEntry, op: &Op, at: Span, diags: &mut Diagnostics) {
    use OpRole as R;
    let (operands, results): (&[&str], &[&str]) = match op.role {
        R::Index if op.index.is_some() => (&["index", "number"], &["index"]),
        R::Elementwise | R::Select | R::Transpose | R::Permute | R::Reduce | R::Scan => {
            (&[REGISTERS], &[REGISTERS])
        }
        R::Load | R::Broadcast | R::Atomic | R::Matrix => (&[], &[REGISTERS]),
        _ => return,
    };
    for (slots, wanted) in [(&entry.operands, operands), (&entry.results, results)] {
        // One index is told from tiles: a number that all lanes have.
        let index = op.role == R::Index;
        let is_other = |slot: &&SlotEntry| {
            let own: Vec<&str> = slot.kinds.iter().map(|kind| kind.value.as_str()).collect();
            !wanted.is_empty() && own != wanted && !(index && own == [REGISTERS])
        };
        if let Some(slot) = slots.iter().find(is_other) {
            let message = format!(
                "`{}` of `{}` is {}, and {} goes with its role",
                slot.name,
                op.entry.name.value,
                listed(&slot.kinds),
                wanted.join(", ")
            );
            diags.push(
                Diagnostic::at(at, message)
                    .note(op.entry.role.span, "its role")
                    .help("correct `kinds`, or the operation's `role`"),
            );
        }
    }
}

/// What goes round in a loop is an argument of its turns, as it is a result.
fn carried(entry: &OpEntry, op: &Op, at: Span, diags: &mut Diagnostics) {
    let takes = |slot: &SlotEntry| {
        format!("{} of elements `{:?}` {:?}", listed(&slot.kinds), slot.elements, slot.count)
    };
    for result in &entry.results {
        let own = entry.arguments.iter().find(|slot| slot.name == result.name);
        let own = own.map_or("none".to_string(), takes);
        if own != takes(result) {
            let message = format!(
                "`{}` gives `{}`, {}, and its turns are given {own}",
                op.entry.name.value,
                result.name,
                takes(result)
            );
            diags.push(Diagnostic::at(at, message).help(
                "what goes round is an argument and a result: correct `arguments` or `results`",
            ));
        }
    }
}

/// What is computed one by one takes what it is declared with; of other operations what may be left
/// out is as it is declared. (A product's sum and what a slice gives may be left out by those who
/// write elsewhere; `compile` has no such place.)
fn exact(entry: &OpEntry, op: &Op, at: Span, all: bool, diags: &mut Diagnostics) {
    let sum = |slots: &[SlotEntry], part: fn(&SlotEntry) -> u8| {
        slots.iter().fold(0u8, |sum, slot| sum.saturating_add(part(slot)))
    };
    for (what, slots, declared) in [
        ("operands", &entry.operands, op.entry.operands),
        ("results", &entry.results, op.entry.results),
    ] {
        let own = (sum(slots, |slot| slot.count.0), sum(slots, |slot| slot.count.1));
        let free = matches!(op.role, OpRole::Matrix | OpRole::Slice);
        if if all { own != declared } else { !free && own.0 != declared.0 } {
            let message = format!(
                "`{}` takes {own:?} {what} here, and has {declared:?} by its declaration",
                op.entry.name.value
            );
            diags.push(
                Diagnostic::at(at, message)
                    .note(op.entry.name.span, "the declaration")
                    .help("what is computed one by one takes all of its operands, and the others as many at the least as are declared"),
            );
        }
    }
}
