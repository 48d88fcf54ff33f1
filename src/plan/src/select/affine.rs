//! Affine maps of indices, as operations on indices: one for each step of the map.

use crate::select::before::Before;
use heapless::Vec;
use lanebook_ir::{AffineStep, Op, Program, Value, attr_names};
use lanebook_tables::{IndexWord, OpRole};

/// Most values that wait for the operation that takes them: one more than operators do.
const WAITING: usize = 28;

/// Whether an operation applies a map.
pub(crate) fn is_one(program: &Program<'_, '_>, op: Op) -> bool {
    program.role(op) == OpRole::Index && program.attr(op, attr_names::MAP).is_some()
}

/// The step of this number; `None` behind the last one.
fn step(program: &Program<'_, '_>, op: Op, number: usize) -> Option<AffineStep> {
    let (mut at, mut found) = (0usize, None);
    let _ = program.affine_steps(op, |step| {
        if at == number {
            found = Some(step);
            return None;
        }
        at = at.checked_add(1)?;
        Some(())
    });
    found
}

/// Puts others before it, and says what they make in place of its result; `None` where the program
/// has no room for them.
pub(crate) fn made(program: &mut Program<'_, '_>, op: Op) -> Option<[Option<Value>; 2]> {
    let mut waiting: Vec<Value, WAITING> = Vec::new();
    let mut number = 0usize;
    while let Some(step) = step(program, op, number) {
        number = number.checked_add(1)?;
        let before = &mut Before { program, op };
        let word = match step {
            AffineStep::Number(n) => {
                waiting.push(before.index(n)?).ok()?;
                continue;
            }
            AffineStep::Operand(at) => {
                waiting.push(before.program.operand(op, usize::from(at))?).ok()?;
                continue;
            }
            AffineStep::Add => IndexWord::Add,
            AffineStep::Sub => IndexWord::Sub,
            AffineStep::Mul => IndexWord::Mul,
            AffineStep::FloorDiv => IndexWord::Div,
            AffineStep::CeilDiv => IndexWord::CeilDiv,
            AffineStep::Mod => IndexWord::Rem,
        };
        let (b, a) = (waiting.pop()?, waiting.pop()?);
        waiting.push(before.of_indices(word, a, b)?).ok()?;
    }
    let result = waiting.pop()?;
    // A number or an operand alone is no operation's result.
    let is_made = number > 1;
    let before = &mut Before { program, op };
    let result = match is_made {
        true => result,
        false => {
            let zero = before.index(0)?;
            before.of_indices(IndexWord::Add, result, zero)?
        }
    };
    Some([Some(result), None])
}
