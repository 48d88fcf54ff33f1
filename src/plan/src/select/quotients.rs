//! Quotients of indices that are rounded towards zero, by those that are rounded down: where signs
//! differ and something is left, the one is greater by one.

use crate::select::before::Before;
use lanebook_ir::{Op, Program, Value};
use lanebook_tables::{IndexWord, OpRole};

/// What they are called, the quotient and what it leaves.
const TO_ZERO: [&str; 2] = ["arith.divsi", "arith.remsi"];

/// Whether an operation is one of them, of indices.
pub(crate) fn is_one(program: &Program<'_, '_>, op: Op) -> bool {
    program.role(op) == OpRole::Index
        && program.index_word(op).is_none()
        && TO_ZERO.contains(&program.op_name(op))
        && program.result(op, 0).is_some_and(|value| !program.type_of(value).is_tile())
}

/// Puts others before it, and says what they make in place of its result; `None` where the program
/// has no room for them.
pub(crate) fn made(program: &mut Program<'_, '_>, op: Op) -> Option<[Option<Value>; 2]> {
    let [_, rest] = TO_ZERO;
    let is_rest = program.op_name(op) == rest;
    let (a, b) = (program.operand(op, 0)?, program.operand(op, 1)?);
    let before = &mut Before { program, op };
    let down = before.of_indices(IndexWord::Div, a, b)?;
    // A second division may be as long as the first one.
    let whole = before.of_indices(IndexWord::Mul, down, b)?;
    let left = before.of_indices(IndexWord::Sub, a, whole)?;
    let zero = before.index(0)?;
    let is_left = before.compared("ne", left, zero)?;
    let (zero_a, zero_b) = (before.index(0)?, before.index(0)?);
    let below_a = before.compared("slt", a, zero_a)?;
    let below_b = before.compared("slt", b, zero_b)?;
    let differ = before.compared("ne", below_a, below_b)?;
    let more = before.of_indices(IndexWord::Mul, is_left, differ)?;
    let quotient = before.of_indices(IndexWord::Add, down, more)?;
    if !is_rest {
        return Some([Some(quotient), None]);
    }
    let taken = before.of_indices(IndexWord::Mul, quotient, b)?;
    Some([Some(before.of_indices(IndexWord::Sub, a, taken)?), None])
}
