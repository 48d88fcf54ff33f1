//! Elements of 64 bits move as two whole numbers of 32: what goes between lanes, or to another
//! place of a tile, goes once for the lower halves and once for the upper ones, bit for bit.
//!
//! A reduction of them combines neighbours: under the shape of rows of two elements each row's first
//! and second one, apart, are tiles of half as many, which are combined element by element; and so
//! on until one is left of each row.

use crate::data::{PlanError, Unparted};
use crate::select::before::Before;
use lanebook_ir::{Op, Program, Type, Value, attr_names};
use lanebook_tables::{DtypeKind, OpRole, OpWord};
use lanebook_tile::shaping::combiner;

/// Bits of an element.
const WIDE: u16 = 64;
/// Bits of a half.
const HALF: u32 = 32;

/// Whether an operation moves elements of 64 bits.
pub(crate) fn is_one(program: &Program<'_, '_>, op: Op) -> bool {
    let wide = |value: Value| {
        let dtype = program.type_of(value).dtype.and_then(|dtype| program.tables().dtype(dtype));
        dtype.is_some_and(|dtype| dtype.bits == WIDE)
    };
    let first = || program.operand(op, 0).is_some_and(wide);
    match program.role(op) {
        OpRole::Slice | OpRole::Join | OpRole::Split => first(),
        OpRole::Reduce => {
            let is_number = program.results(op).any(|value| program.constant(value).is_some());
            program.operand_count(op) == 1 && first() && !is_number
        }
        _ => false,
    }
}

/// Rows and columns of a reduced tile, and whether it goes along its columns.
fn extents(program: &Program<'_, '_>, op: Op) -> Option<(u32, u32, bool)> {
    let (rows, cols) = program.type_of(program.operand(op, 0)?).shape.pair()?;
    match program.int_attr(op, attr_names::AXIS)? {
        1 => Some((rows, cols, false)),
        0 => Some((cols, rows, true)),
        _ => None,
    }
}

/// Checks that a reduction is one that can be done.
pub(crate) fn check(program: &Program<'_, '_>, op: Op) -> Result<(), PlanError> {
    let refuse = |why| Err(PlanError::Part { op, why });
    match (program.role(op), extents(program, op)) {
        (OpRole::Reduce, None) => refuse(Unparted::Dimension),
        (OpRole::Reduce, Some((_, along, _))) if !along.is_power_of_two() => {
            refuse(Unparted::Steps)
        }
        _ => Ok(()),
    }
}

/// Puts others before an operation, and says what they make in place of its results; `None` where
/// the program has no room for them.
pub(crate) fn made(program: &mut Program<'_, '_>, op: Op) -> Option<[Option<Value>; 2]> {
    if program.role(op) == OpRole::Reduce {
        return Some([Some(reduced(program, op)?), None]);
    }
    let decl = program.decl_id(op)?;
    let (operands, results) = (program.operand_count(op), program.results(op).count());
    let before = &mut Before { program, op };
    let word = before.word()?;
    let mut parts: heapless::Vec<[Value; 2], 2> = heapless::Vec::new();
    for number in 0..operands {
        let of = before.program.operand(op, number)?;
        parts.push(before.halves(of)?).ok()?;
    }
    let mut types: heapless::Vec<Type, 2> = heapless::Vec::new();
    for number in 0..results {
        let ty = before.program.type_of(before.program.result(op, number)?);
        types.push(Type::tensor(ty.shape, word)).ok()?;
    }
    let last = operands.checked_sub(1)?;
    let mut moved: heapless::Vec<[Value; 2], 2> = heapless::Vec::new();
    for half in 0..2usize {
        let mut own: heapless::Vec<Value, 2> = heapless::Vec::new();
        for part in &parts {
            own.push(*part.get(half)?).ok()?;
        }
        let made = before.program.insert_before(op, decl, &own, &types).ok()?;
        let mut number = 0usize;
        loop {
            let start = before.program.subscripts(op, last).nth(number);
            let Some(start) = start else { break };
            before.program.add_subscript(made, start).ok()?;
            number = number.saturating_add(1);
        }
        let first = before.program.result(made, 0)?;
        let second = before.program.result(made, 1).unwrap_or(first);
        moved.push([first, second]).ok()?;
    }
    let (low, high) = (moved.first().copied()?, moved.get(1).copied()?);
    let mut out = [None; 2];
    for (number, out) in out.iter_mut().enumerate().take(results) {
        let result = before.program.result(op, number)?;
        if before.program.uses(result).next().is_none() {
            continue;
        }
        let ty = before.program.type_of(result);
        *out = Some(before.rejoined([*low.get(number)?, *high.get(number)?], ty)?);
    }
    Some(out)
}

/// What is left of each row.
fn reduced(program: &mut Program<'_, '_>, op: Op) -> Option<Value> {
    let (rows, along, is_turned) = extents(program, op)?;
    let OpWord::Op(decl) = combiner(program, op)? else { return None };
    let (from, to) = (program.operand(op, 0)?, program.result(op, 0)?);
    let ty = program.type_of(to);
    let before = &mut Before { program, op };
    let mut at = if is_turned { before.turned(from)? } else { from };
    let mut left = along;
    while left > 1 {
        left /= 2;
        let lines = rows.checked_mul(left)?;
        let [first, second] = pairs(before, at, lines)?;
        let dtype = before.program.type_of(first).dtype?;
        at = before.made(decl, &[first, second], Before::shaped(&[lines], dtype)?)?;
    }
    let at = before.reshaped(at, &[rows])?;
    before.said(at, ty)
}

/// The first ones of all pairs of neighbours, and the second ones.
fn pairs(before: &mut Before<'_, '_, '_>, of: Value, lines: u32) -> Option<[Value; 2]> {
    let (shape, word) = ([lines, 2], before.word()?);
    let at = before.reshaped(of, &shape)?;
    let (ty, words) = (before.program.type_of(at), Before::shaped(&shape, word)?);
    let (line, own) = (Before::shaped(&[lines], word)?, Before::shaped(&[lines], ty.dtype?)?);
    let halves = before.halves(at)?;
    let zeros = before.number(0, words)?;
    let mut out = [at; 2];
    for (number, out) in (0u32..).zip(out.iter_mut()) {
        let is_own = before.places(&shape, 1, "compare.eq", number)?;
        let mut kept = halves;
        for half in &mut kept {
            let only = before.of(OpRole::Select, &[is_own, *half, zeros], words)?;
            *half = before.only(only, 1, line)?;
        }
        *out = before.rejoined(kept, own)?;
    }
    Some(out)
}

impl Before<'_, '_, '_> {
    /// The lower and the upper halves of elements of 64 bits.
    pub(crate) fn halves(&mut self, of: Value) -> Option<[Value; 2]> {
        let ty = self.program.type_of(of);
        let tables = self.program.tables();
        let (whole, word) = (tables.dtype_of(DtypeKind::Signed, WIDE)?, self.word()?);
        let (long, half) = (Type::tensor(ty.shape, whole), Type::tensor(ty.shape, word));
        let bits = match ty.dtype == Some(whole) {
            true => of,
            false => self.named("arith.bitcast", &[of], long)?,
        };
        let places = self.number(HALF, long)?;
        let upper = self.named("arith.shrui", &[bits, places], long)?;
        Some([
            self.named("arith.trunci", &[bits], half)?,
            self.named("arith.trunci", &[upper], half)?,
        ])
    }

    /// Elements of a type again, as the program writes it, of their halves.
    pub(crate) fn rejoined(&mut self, [low, high]: [Value; 2], ty: Type) -> Option<Value> {
        let whole = self.program.tables().dtype_of(DtypeKind::Signed, WIDE)?;
        let long = Type::tensor(ty.shape, whole);
        let low = self.named("arith.extui", &[low], long)?;
        let high = self.named("arith.extui", &[high], long)?;
        let places = self.number(HALF, long)?;
        let upper = self.named("arith.shli", &[high, places], long)?;
        let both = self.named("arith.ori", &[low, upper], long)?;
        match ty.dtype == Some(whole) {
            true => self.said(both, ty),
            false => self.named("arith.bitcast", &[both], ty),
        }
    }
}
