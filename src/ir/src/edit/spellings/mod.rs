//! What a program may write in more than one way, as what follows reads it.

pub(crate) mod atomics;
mod chosen;
mod combined;
mod counted;
mod filled;
mod flags;
mod formats;
mod general;
mod hints;
mod kept;
mod loops;
pub(crate) mod module;
mod parameters;
mod symbols;

use crate::attr_names;
use crate::edit::inline::{is_no, not_kept};
use crate::edit::moves;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, TextRef};
use crate::program::Program;
use lanebook_tables::OpRole;

/// Lets a kernel's operations be those that planning knows.
///
/// # Errors
/// Room that ran out, at the operation's place.
#[inline(never)] // Its caller's own steps are deep.
pub(crate) fn respell(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    if let Some(key) = idle_noinline(program, kernel) {
        return Err(not_kept(program, key));
    }
    if program.has_loops(kernel) {
        return Ok(());
    }
    let at = SourcePlace { op: None, ..program.place(kernel) };
    let own = flags::settle(program, kernel).and_then(|()| parameters::settle(program, kernel));
    own.map_err(|kind: ErrorKind| IrError { kind, at })?;
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        let at = SourcePlace { op: None, ..program.place(op) };
        let is_combined = program.role(op).combines();
        let (before, block) = (program.previous(op), program.block_of(op));
        let named = if is_combined { combined::name_region(program, op) } else { Ok(false) };
        if named == Ok(true) {
            // What stands in its place comes next.
            let first = || block.and_then(|block| program.first(block));
            next = before.map_or_else(first, |before| program.next(before));
            continue;
        }
        next = program.following(op, Some(kernel));
        let settled = named
            .and_then(|_| flags::settle(program, op))
            .and_then(|()| hints::settle(program, op))
            .and_then(|()| moves::settle(program, op));
        if !program.is_alive(op) {
            settled.map_err(|kind: ErrorKind| IrError { kind, at })?;
            continue;
        }
        let done = settled.and_then(|()| match program.role(op) {
            OpRole::Alloc => filled::store_first(program, op),
            OpRole::Matrix => {
                formats::settle(program, op).and_then(|()| filled::load_factors(program, op))
            }
            OpRole::For => {
                let ended = loops::end_parts(program, op);
                let counted = ended.and_then(|()| loops::count_by_index(program, op));
                counted.and_then(|()| loops::take_hint(program, op))
            }
            OpRole::If => loops::end_parts(program, op),
            OpRole::Elementwise => symbols::settle(program, op),
            OpRole::Select => chosen::spread_truth(program, op),
            OpRole::Reshape | OpRole::Convert => chosen::reshape_numbers(program, op),
            OpRole::Broadcast => chosen::spread_numbers(program, op),
            OpRole::Reduce => kept::drop_dimension(program, op),
            OpRole::Fence => atomics::settle_barrier(program, op),
            OpRole::Atomic => {
                atomics::settle(program, op).and_then(|()| moves::mask_bounds(program, op))
            }
            OpRole::Load | OpRole::Store => moves::mask_bounds(program, op),
            OpRole::Opaque => counted::lower(program, op),
            _ => Ok(()),
        });
        done.map_err(|kind: ErrorKind| IrError { kind, at })?;
    }
    moves::forget(program, kernel)
}

/// What a kernel says of its calls, of which there are none, unless it is what holds anyhow.
fn idle_noinline(program: &Program<'_, '_>, kernel: Op) -> Option<TextRef> {
    let said = program.attrs(kernel).find(|attr| program.key_is(attr.key, attr_names::NOINLINE));
    said.filter(|attr| !is_no(program, attr.value)).map(|attr| attr.key)
}
