//! What atoms do to tile elements: a word of `does` is an elementwise operation of `rules/ops.ron`
//! or a step of
//! [`OpWord::STEPS`], and the entry beside it has the operands and fields that go with it.
//!
//! A word that nothing asks for would leave an atom unused, and programs planned without it: so it
//! is an error.
use super::Ops;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{self, HwModel};
use crate::schema::Name;
use crate::source::Span;
use lanebook_suggest::remedy;
use lanebook_tables::{OpId, OpWord};

/// The number of a word; `op` answers for operations.
pub(crate) fn word(name: &str, op: impl FnOnce(&str) -> Option<OpId>) -> Option<OpWord> {
    let step = OpWord::STEPS.iter().find(|(known, _)| *known == name);
    step.map(|(_, word)| *word).or_else(|| op(name).map(OpWord::Op))
}

/// Every word is known, and said of operands that it can be said of.
pub(crate) fn check(hw: &HwModel, ops: &Ops, diags: &mut Diagnostics) {
    for (name, at) in
        OpWord::STEPS.iter().filter_map(|(step, _)| elementwise(ops).find(|(name, _)| name == step))
    {
        let message = format!("operation `{name}` has the name of a step that atoms do");
        diags.push(
            Diagnostic::at(at, message).help("name it otherwise: a word of `does` would mean both"),
        );
    }
    for atom in &hw.atoms {
        let Some(does) = &atom.does else { continue };
        match word(&does.op, |name| ops.named(name)) {
            Some(word) => said(atom, does, word, ops, diags),
            None => diags.push(unknown(&does.op, ops)),
        }
    }
}

/// Names and aliases of the elementwise operations, with their places.
pub(super) fn elementwise(ops: &Ops) -> impl Iterator<Item = (&str, Span)> {
    let named = ops
        .list
        .iter()
        .filter(|op| op.role.is_lanewise())
        .flat_map(|op| [&op.entry.name].into_iter().chain(&op.entry.aliases));
    named.map(|name| (name.as_str(), name.span))
}

fn unknown(name: &Name, ops: &Ops) -> Diagnostic {
    let steps = OpWord::STEPS.map(|(step, _)| step);
    let otherwise =
        format!("name an elementwise operation of rules/ops.ron, or one of {}", steps.join(", "));
    let help = remedy(name, elementwise(ops).map(|(name, _)| name).chain(steps), &otherwise);
    Diagnostic::at(name.span, format!("nothing asks an atom for `{}`", name.value))
        .help(help)
        .lacks(name)
}

/// The operands and fields that go with a word.
fn said(atom: &model::Atom, does: &model::Does, word: OpWord, ops: &Ops, diags: &mut Diagnostics) {
    let mut wrong = |what: String, help: &str| {
        diags.push(
            Diagnostic::at(does.op.span, format!("atom `{}`: {what}", atom.name.value)).help(help),
        )
    };
    let name = &does.op.value;
    let moves = matches!(word, OpWord::ShuffleXor | OpWord::ShuffleIndex);
    if moves == does.lanes.is_empty() {
        let what = if moves {
            format!("`{name}` without `lanes`")
        } else {
            format!("`{name}` moves nothing between lanes, here are `lanes`")
        };
        wrong(what, "`lanes` says between which lanes a register goes");
    }
    if (word == OpWord::BytePermute) != (does.selector > 0) {
        let what = if word == OpWord::BytePermute {
            format!("`{name}` without `selector`")
        } else {
            format!("`{name}` chooses no bytes, here is a `selector`")
        };
        wrong(what, "`selector` is how many bits of the last operand say one byte");
    }
    // An operand stands once for each element that a register of the result takes of it.
    let operands = match word {
        OpWord::Op(id) => ops.get(id).map_or(1, |op| usize::from(op.entry.operands.0)),
        OpWord::ShuffleXor | OpWord::SplitRegs | OpWord::ShuffleIndex => 1,
        OpWord::BytePermute => 3,
        OpWord::ConcatRegs => 2,
    };
    if let OpWord::Op(id) = word
        && ops.get(id).is_none_or(|op| !op.role.is_lanewise())
    {
        wrong(
            format!("`{name}` is no elementwise operation"),
            "an atom does such alone, or one of the steps in hw-tables/SCHEMA.md",
        );
    } else if does.uses.is_empty() || !does.uses.len().is_multiple_of(operands.max(1)) {
        wrong(
            format!("`{name}` takes {operands} operands, `uses` names {}", does.uses.len()),
            "name the operation's operands in order, each as often as the others",
        );
    }
}
