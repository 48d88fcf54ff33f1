//! Atomic operations as Triton prints them, `tt.atomic_rmw fadd, acq_rel, gpu, %p, %t, %mask` and
//! `tt.atomic_cas acq_rel, gpu, %p, %expected, %new`: the first word is the kind, and the order among
//! accesses is that of fences around it.
//!
//! What one block does before a release is there for who has seen the operation; what it does behind
//! an acquire finds what was there before those that the answer shows. Nobody can tell what an
//! operation acquires whose answer nobody reads.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::made;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, TextRef};
use crate::program::Program;
use crate::types::Type;
use lanebook_tables::{AtomicOp, AtomicWord, DtypeId, DtypeKind, OpRole, OrderWord};

/// Most words in front of an operation's operands.
const WORDS: usize = 3;

/// Lets an atomic operation say its kind, and fences its order.
pub(super) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let Some(AttrValue::Text(said)) = program.attr(op, attr_names::PREFIX) else { return Ok(()) };
    // The kind is said in front.
    let said_twice = program.attr(op, attr_names::KIND).is_some();
    let found = told(program, op, said).filter(|_| !said_twice);
    let found = found.ok_or(ErrorKind::AtomicWords)?;
    program.remove_attr(op, attr_names::PREFIX)?;
    let word = AttrValue::Word(program.word(found.kind)?);
    program.set_attr(op, attr_names::KIND, word)?;
    if let Some(signed) = found.elements {
        take_as(program, op, signed)?;
    }
    let is_read = program.result(op, 0).is_some_and(|answer| program.is_used(answer));
    let Some(scope) = found.scope else { return Ok(()) };
    if found.order.releases {
        fence(program, op, Some(op), scope)?;
    }
    if found.order.acquires && is_read {
        let next = program.next(op);
        fence(program, op, next, scope)?;
    }
    Ok(())
}

/// Lets an operation be done to elements of another type with the same bits: its value is taken as
/// such, and its answer is what it was.
fn take_as(program: &mut Program<'_, '_>, op: Op, dtype: DtypeId) -> Edit {
    let cast = program.tables().op_named("arith.bitcast").ok_or(ErrorKind::UnknownOp)?;
    let value = program.operand(op, 1).ok_or(ErrorKind::Stale)?;
    let ty = Type { dtype: Some(dtype), ..program.type_of(value) };
    let taken = made(program, op, cast, &[value], ty)?;
    program.set_operand(op, 1, taken)?;
    let Some(answer) = program.result(op, 0) else { return Ok(()) };
    let whole = program.type_of(answer);
    if program.is_used(answer)
        && let Some(next) = program.next(op)
    {
        let was = made(program, next, cast, &[answer], whole)?;
        program.replace_all_uses(answer, was)?;
        let own = program.def_op(was).ok_or(ErrorKind::Broken)?;
        program.set_operand(own, 0, answer)?;
    }
    program.set_type(answer, Type { dtype: Some(dtype), ..whole })
}

/// Lets a barrier of the block say nothing of whose accesses it is about, `ttg.barrier all`: as a
/// fence it orders all of them.
pub(super) fn settle_barrier(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let said = program.attr(op, attr_names::PREFIX);
    let is_known = |word: TextRef| program.tables().seeding.barriers.contains(&program.text(word));
    match said {
        Some(AttrValue::Text(word)) if is_known(word) => {
            program.remove_attr(op, attr_names::PREFIX)
        }
        _ => Ok(()),
    }
}

/// A fence of a scope, for which `op` stands: before `at`, or at its block's end.
fn fence(program: &mut Program<'_, '_>, op: Op, at: Option<Op>, scope: &str) -> Edit {
    let decl = program.tables().op_of_role(OpRole::Fence).ok_or(ErrorKind::UnknownOp)?;
    let data = program.op_data(op).ok_or(ErrorKind::Stale)?;
    let (name, block) = (data.name, program.block_of(op).ok_or(ErrorKind::Broken)?);
    let new = match at {
        Some(at) => program.insert_before(at, decl, &[], &[])?,
        None => program.append(block, decl, &[], &[])?,
    };
    program.pools.edit::<OpData>(new.index(), |data| data.name = name)?;
    let scope = AttrValue::Word(program.word(scope)?);
    program.set_attr(new, attr_names::SCOPE, scope)
}

/// What the words in front of an operation say.
struct AtomicPrefix<'t> {
    /// What is done, as the contract has it.
    kind: &'static str,
    /// The elements that it is done to, where the word says another sign than the tile's have.
    elements: Option<DtypeId>,
    order: OrderWord<'t>,
    /// Who sees the order, if others than the block do.
    scope: Option<&'t str>,
}

/// The words in front of an operation, as `rules/seeding.ron` knows them.
fn told<'t>(program: &Program<'_, 't>, op: Op, said: TextRef) -> Option<AtomicPrefix<'t>> {
    let [first, second, third] = words(program.text(said))?;
    // Without a kind: what is compared stands beside what is exchanged.
    let is_compared = third.is_empty();
    let (order, scope) = if is_compared { (first, second) } else { (second, third) };
    let tables = program.tables();
    let dtype = program.operand(op, 1).and_then(|value| program.type_of(value).dtype);
    let of = dtype.and_then(|dtype| tables.dtype(dtype))?.kind;
    let seeding = &tables.seeding;
    let named = |known: &&AtomicWord<'_>| known.text == first;
    let own = seeding.atomics.iter().filter(named).find(|known| known.of.contains(&of));
    // Whole numbers have the sign that the word says.
    let is_whole = |kind: DtypeKind| matches!(kind, DtypeKind::Signed | DtypeKind::Unsigned);
    let bits = dtype.and_then(|dtype| tables.dtype(dtype))?.bits;
    let other = seeding.atomics.iter().filter(named).find_map(|known| {
        let kind = known.of.iter().copied().find(|kind| is_whole(*kind) && is_whole(of))?;
        Some((known, tables.dtype_of(kind, bits)?))
    });
    let (known, elements) = match (own, other) {
        (None, Some((known, elements))) => (Some(known), Some(elements)),
        _ => (own, None),
    };
    let done = if is_compared { AtomicOp::Cas } else { known?.op };
    let (_, kind) = AtomicOp::NAMES.iter().find(|(op, _)| *op == done)?;
    let order = *seeding.orders.iter().find(|known| known.text == order)?;
    let scope = seeding.scopes.iter().find(|known| known.text == scope)?.scope;
    Some(AtomicPrefix { kind, elements, order, scope })
}

/// Words with commas between them; nothing in the places of those that are not there.
fn words(text: &str) -> Option<[&str; WORDS]> {
    let mut out = [""; WORDS];
    let (mut number, mut start) = (0usize, 0usize);
    for (at, byte) in text.bytes().chain(core::iter::once(b',')).enumerate() {
        if byte == b',' {
            *out.get_mut(number)? = text.get(start..at)?.trim_ascii();
            (number, start) = (number.saturating_add(1), at.saturating_add(1));
        }
    }
    Some(out)
}

/// Refuses an order that the device sees in a loop whose copies run ahead of it.
///
/// # Errors
/// The attribute by which the loop says that they do.
pub(crate) fn heed_fences(program: &Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let is_wide = |op: &Op| program.fence_scope(*op).is_some();
    for fence in program.inside(kernel).filter(is_wide) {
        let around = core::iter::successors(program.parent(fence), |at| program.parent(*at));
        let mut staged = around.filter(|at| program.stages(*at) > 1);
        if let Some(around) = staged.next() {
            let said =
                program.attrs(around).find(|attr| program.key_is(attr.key, attr_names::STAGES));
            let at = SourcePlace { op: None, ..program.place(around) };
            let at = said.map_or(at, |attr| program.place_of(attr.key));
            return Err(IrError { kind: ErrorKind::FencedStages, at });
        }
    }
    Ok(())
}
