//! Operands of steps: which registers one reads and writes, and what two have in common.

use crate::contents::{ContentsContext, class, count};
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_tables::{Role, SyncStep};

/// Whether a step is one of the synchronisation table's, with its immediates.
pub(super) fn is_step(look: &ContentsContext<'_>, step: &Inst, want: &SyncStep<'_>) -> bool {
    if step.purpose == InstKind::Label || step.atom != want.atom {
        return false;
    }
    let Some(atom) = look.atom(step) else { return false };
    let fixed = (0usize..)
        .zip(atom.operands.iter())
        .filter(|(_, o)| o.role == Role::Immediate)
        .map(|(k, _)| step.arg(k));
    fixed.zip(want.immediates).all(|(arg, value)| arg == Slot::Int(*value))
}

/// Whether two operands have a register in common.
pub(super) fn overlap(look: &ContentsContext<'_>, a: Slot, b: Slot) -> bool {
    if class(a).is_none() || class(a) != class(b) {
        return false;
    }
    (0..count(a)).any(|k| {
        let own = look.number(a, k);
        own.is_some() && (0..count(b)).any(|n| look.number(b, n) == own)
    })
}

/// Whether an operand is read, and whether it is written.
pub(super) fn uses(role: Role) -> (bool, bool) {
    match role {
        Role::Def => (false, true),
        Role::UseDef => (true, true),
        Role::Use | Role::Address => (true, false),
        Role::Immediate | Role::Label => (false, false),
    }
}
