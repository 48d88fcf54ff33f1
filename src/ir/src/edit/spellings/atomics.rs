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
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, TextRef};
use crate::program::Program;
use lanebook_tables::{DtypeKind, OpRole};

/// Most words in front of an operation's operands.
const WORDS: usize = 3;

/// Of which elements a word of Triton's speaks.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Of {
    Floats,
    Whole,
    Signed,
    Unsigned,
    All,
}

/// What Triton's words are here.
const KINDS: [(&str, &str, Of); 10] = [
    ("fadd", attr_names::ADD, Of::Floats),
    ("add", attr_names::ADD, Of::Whole),
    ("max", attr_names::MAX, Of::Signed),
    ("min", attr_names::MIN, Of::Signed),
    ("umax", attr_names::MAX, Of::Unsigned),
    ("umin", attr_names::MIN, Of::Unsigned),
    ("and", attr_names::AND, Of::Whole),
    ("or", attr_names::OR, Of::Whole),
    ("xor", attr_names::XOR, Of::Whole),
    ("exch", attr_names::EXCHANGED, Of::All),
];
/// Orders: what they are called, whether they release, whether they acquire.
const ORDERS: [(&str, bool, bool); 4] = [
    ("relaxed", false, false),
    ("release", true, false),
    ("acquire", false, true),
    ("acq_rel", true, true),
];
/// Whose accesses a barrier may be about.
const BARRIERS: [&str; 4] = ["all", "local", "global_read", "global_write"];
/// Who sees the order: the block itself, which orders what it does anyhow, or the device.
const SCOPES: [(&str, bool); 2] = [("cta", false), (attr_names::GPU, true)];

/// Lets an atomic operation say its kind, and fences its order.
pub(super) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let Some(AttrValue::Text(said)) = program.attr(op, attr_names::PREFIX) else { return Ok(()) };
    // The kind is said in front.
    let said_twice = program.attr(op, attr_names::KIND).is_some();
    let found = told(program, op, said).filter(|_| !said_twice);
    let (kind, before, behind) = found.ok_or(ErrorKind::AtomicWords)?;
    program.remove_attr(op, attr_names::PREFIX)?;
    let word = AttrValue::Word(program.word(kind)?);
    program.set_attr(op, attr_names::KIND, word)?;
    let is_read = program.result(op, 0).is_some_and(|answer| program.is_used(answer));
    if before {
        fence(program, op, Some(op))?;
    }
    if behind && is_read {
        let next = program.next(op);
        fence(program, op, next)?;
    }
    Ok(())
}

/// Lets a barrier of the block say nothing of whose accesses it is about, `ttg.barrier all`: as a
/// fence it orders all of them.
pub(super) fn settle_barrier(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let said = program.attr(op, attr_names::PREFIX);
    let is_known = |word: TextRef| BARRIERS.contains(&program.text(word));
    match said {
        Some(AttrValue::Text(word)) if is_known(word) => {
            program.remove_attr(op, attr_names::PREFIX)
        }
        _ => Ok(()),
    }
}

/// A fence that all of the device sees, for which `op` stands: before `at`, or at its block's end.
fn fence(program: &mut Program<'_, '_>, op: Op, at: Option<Op>) -> Edit {
    let decl = program.tables().op_of_role(OpRole::Fence).ok_or(ErrorKind::UnknownOp)?;
    let data = program.op_data(op).ok_or(ErrorKind::Stale)?;
    let (name, block) = (data.name, program.block_of(op).ok_or(ErrorKind::Broken)?);
    let new = match at {
        Some(at) => program.insert_before(at, decl, &[], &[])?,
        None => program.append(block, decl, &[], &[])?,
    };
    program.pools.edit::<OpData>(new.index(), |data| data.name = name)?;
    let scope = AttrValue::Word(program.word(attr_names::GPU)?);
    program.set_attr(new, attr_names::SCOPE, scope)
}

/// The kind of an operation with such words in front, and whether it releases and acquires as the
/// device sees it.
fn told(program: &Program<'_, '_>, op: Op, said: TextRef) -> Option<(&'static str, bool, bool)> {
    let [first, second, third] = words(program.text(said))?;
    // Without a kind: what is compared stands beside what is exchanged.
    let is_compared = third.is_empty();
    let (order, scope) = if is_compared { (first, second) } else { (second, third) };
    let dtype = program.operand(op, 1).and_then(|value| program.type_of(value).dtype);
    let dtype = dtype.and_then(|dtype| program.tables().dtype(dtype))?.kind;
    let is_of = |of: Of| match of {
        Of::All => true,
        Of::Floats => dtype == DtypeKind::Float,
        Of::Whole => matches!(dtype, DtypeKind::Signed | DtypeKind::Unsigned),
        Of::Signed => dtype == DtypeKind::Signed,
        Of::Unsigned => dtype == DtypeKind::Unsigned,
    };
    let known = KINDS.iter().find(|(word, _, of)| *word == first && is_of(*of));
    let kind = if is_compared { attr_names::CAS } else { known?.1 };
    let (_, releases, acquires) = ORDERS.iter().find(|(word, ..)| *word == order)?;
    let (_, is_wide) = SCOPES.iter().find(|(word, _)| *word == scope)?;
    Some((kind, *releases && *is_wide, *acquires && *is_wide))
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
