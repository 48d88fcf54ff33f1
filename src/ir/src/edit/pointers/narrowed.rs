//! By how much one pointer is moved, as an index, where it is a whole number of 64 bits that 32
//! certainly hold: sums, differences and products have the same lower half in 32 bits.

use crate::attr::Literal;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{Worked, WorkedPart, made, missing, sign_extended, work_out, worked};
use crate::edit::pointers::{is_long, is_whole_word};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{Type, TypeKind};
use heapless::Vec;
use lanebook_tables::IndexWord;

/// Most values that such a number is computed of.
const SOURCES: usize = 32;

/// Between which numbers one lies.
type Range = (i64, i64);

/// What a number of 64 bits is in 32, computed before an operation; `None` where it may be more than
/// they hold, or has other bits.
pub(super) fn near(program: &mut Program<'_, '_>, op: Op, value: Value) -> Edit<Option<Value>> {
    let word = i64::from(i32::MIN)..=i64::from(i32::MAX);
    let is_own = is_long(program, &program.type_of(value));
    let range = is_own.then(|| range(program, value)).flatten();
    if !range.is_some_and(|(low, high)| word.contains(&low) && word.contains(&high)) {
        return Ok(None);
    }
    work_out(value, |at, known| {
        let new = match (leaf(program, at), summed(program, at)) {
            (Some(Leaf::Number(number)), _) => program.literal_value(Literal::Int(number))?,
            (Some(Leaf::Widened(own)), _) => own,
            (None, Some((word, of))) => {
                let [Some(a), Some(b)] = of.map(|value| worked(known, value)) else {
                    return after(known, of);
                };
                let decl = program.tables().op_of_index(word);
                made(program, op, decl.ok_or(ErrorKind::UnknownOp)?, &[a, b], Type::INDEX)?
            }
            (None, None) => return Err(ErrorKind::Broken),
        };
        Ok(WorkedPart::Done(new))
    })
    .map(Some)
}

/// The first of the operands that is missing.
fn after<T: Copy>(known: &Worked<T>, of: [Value; 2]) -> Edit<WorkedPart<T>> {
    missing(known, of).map(WorkedPart::After).ok_or(ErrorKind::Broken)
}

/// Lets an operand be in 32 bits what it was in 64, if they hold it.
pub(super) fn narrow(
    program: &mut Program<'_, '_>,
    (op, number): (Op, usize),
    value: Value,
) -> Edit {
    let Some(new) = near(program, op, value)? else { return Ok(()) };
    program.set_operand(op, number, new)?;
    // What it was made of may have had no other reader.
    let mut old: Vec<Value, SOURCES> = Vec::new();
    let _ = old.push(value);
    while let Some(value) = old.pop() {
        let Some(def) = program.def_op(value).filter(|_| !program.is_used(value)) else { continue };
        let is_own = program.results(def).count() == 1
            && (program.int(value).is_some()
                || widened(program, value).is_some()
                || summed(program, value).is_some());
        if !is_own {
            continue;
        }
        for operand in program.operands(def) {
            let _ = old.push(operand);
        }
        program.erase(def)?;
    }
    Ok(())
}

/// A number in 32 bits, before an operation: one of 64 that they may not hold is refused.
pub(crate) fn in_a_word(program: &mut Program<'_, '_>, op: Op, value: Value) -> Edit<Value> {
    if !is_long(program, &program.type_of(value)) {
        return Ok(value);
    }
    near(program, op, value)?.ok_or(ErrorKind::IndexBits)
}

/// What such a number begins with.
enum Leaf {
    /// It is written.
    Number(i64),
    /// It is one of 32 bits.
    Widened(Value),
}

fn leaf(program: &Program<'_, '_>, value: Value) -> Option<Leaf> {
    let number = program.int(value).filter(|number| i32::try_from(*number).is_ok());
    number.map(Leaf::Number).or_else(|| widened(program, value).map(Leaf::Widened))
}

/// Between which numbers one certainly lies that is computed of leaves; `None` where it is not.
fn range(program: &Program<'_, '_>, value: Value) -> Option<Range> {
    let found = work_out(value, |at, known| {
        let own = match leaf(program, at) {
            Some(Leaf::Number(number)) => Some((number, number)),
            Some(Leaf::Widened(of)) => {
                let facts = program.index_facts(of);
                Some((facts.low, facts.high))
            }
            None => match summed(program, at) {
                Some((word, of)) => {
                    let [Some(a), Some(b)] = of.map(|value| worked(known, value)) else {
                        return after(known, of);
                    };
                    combined(word, a, b)
                }
                None => None,
            },
        };
        own.map(WorkedPart::Done).ok_or(ErrorKind::IndexBits)
    });
    found.ok()
}

/// Between which numbers a sum, difference or product lies.
fn combined(word: IndexWord, (a, b): Range, (c, d): Range) -> Option<Range> {
    match word {
        IndexWord::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        IndexWord::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        _ => {
            let all = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((all.into_iter().min()?, all.into_iter().max()?))
        }
    }
}

/// The number of 32 bits that one of 64 was made of.
fn widened(program: &Program<'_, '_>, value: Value) -> Option<Value> {
    let own = sign_extended(program, value)?;
    let ty = program.type_of(own);
    let is_word = ty.kind == TypeKind::Scalar && is_whole_word(program, ty.dtype);
    (is_word || ty.kind == TypeKind::Index).then_some(own)
}

/// The operation on indices and the operands of one whose lower half is that of its operands'.
fn summed(program: &Program<'_, '_>, value: Value) -> Option<(IndexWord, [Value; 2])> {
    let def = program.def_op(value)?;
    let word = program.index_word(def)?;
    let is_own = matches!(word, IndexWord::Add | IndexWord::Sub | IndexWord::Mul);
    let ty = program.type_of(value);
    let is_number = ty.kind == TypeKind::Scalar && is_long(program, &ty);
    let (a, b) = (program.operand(def, 0)?, program.operand(def, 1)?);
    (is_own && is_number).then_some((word, [a, b]))
}
