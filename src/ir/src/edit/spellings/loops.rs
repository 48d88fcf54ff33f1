//! Loops as Triton prints them: a counter is a whole number of 32 bits, and the body of such a loop
//! that passes nothing on has no end of its own; nor has that of a branch.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::is_word;
use crate::error::ErrorKind;
use crate::handle::Op;
use crate::program::Program;
use crate::types::Type;
use lanebook_tables::{OpRole, Space};

/// Lets each part of a branch, or of a loop that counts by a whole number, end with what it passes on.
pub(super) fn end_parts(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let is_ours = program.role(op) == OpRole::For && !counts_by_number(program, op);
    if program.result(op, 0).is_some() || is_ours {
        return Ok(());
    }
    let name = program.op_data(op).ok_or(ErrorKind::Stale)?.name;
    let mut part = 0usize;
    while let Some(block) = program.entry(op, part) {
        part = part.saturating_add(1);
        if program.terminator(block).is_some() {
            continue;
        }
        let decl = program.tables().op_of_role(OpRole::Yield).ok_or(ErrorKind::UnknownOp)?;
        let end = program.append(block, decl, &[], &[])?;
        program.pools.edit::<OpData>(end.index(), |data| data.name = name)?;
    }
    Ok(())
}

/// Whether a loop's counter is a whole number of 32 bits.
fn counts_by_number(program: &Program<'_, '_>, op: Op) -> bool {
    program.counted_loop(op).is_some_and(|at| is_word(program, at.induction))
}

/// Lets Triton's number of stages be no order where nothing can obey it, in a loop that holds no copy
/// into shared memory: a hint there, as Triton has it, that the loop says it was given.
pub(super) fn take_hint(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let is_hint = |text: &str| text.strip_prefix(HINT_PREFIX) == Some(attr_names::STAGES);
    let said = program.attrs(op).find(|attr| is_hint(program.text(attr.key)));
    let Some(said) = said.filter(|_| !holds_copies(program, op)) else { return Ok(()) };
    program.remove_attr(op, attr_names::STAGES)?;
    match said.value {
        AttrValue::Int(2.., _) => program.set_attr(op, attr_names::UNSTAGED, said.value),
        AttrValue::Int(1, _) => Ok(()),
        // What is left is refused, as any attribute that nothing obeys.
        other => program.set_attr(op, attr_names::STAGES, other),
    }
}

/// What stands in front of a hint's key.
const HINT_PREFIX: &str = "tt.";

/// Whether something in a loop copies, in the loop itself or for another agent, or may: a call.
fn holds_copies(program: &Program<'_, '_>, op: Op) -> bool {
    program.inside(op).any(|inner| {
        let is_copy = matches!(
            program.role(inner),
            OpRole::Copy | OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch | OpRole::Call
        );
        // So does what stores into shared memory by names of other compilers.
        let is_shared = |value| program.type_of(value).space == Some(Space::Shared);
        is_copy || program.role(inner) == OpRole::Opaque && program.operands(inner).any(is_shared)
    })
}

/// Lets a loop's counter be an index.
pub(super) fn count_by_index(program: &mut Program<'_, '_>, op: Op) -> Edit {
    match program.counted_loop(op) {
        Some(at) if counts_by_number(program, op) => program.set_type(at.induction, Type::INDEX),
        _ => Ok(()),
    }
}
