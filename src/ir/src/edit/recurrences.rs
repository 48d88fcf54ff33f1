//! Loops as `scf.for` without indices that go round: an index that a loop carries is what it began
//! with and what the turns so far have added, and a `scf.while` that goes on while such an index is
//! below a bound counts.
//!
//! Addresses are expressions over counters, so that nothing but these changes from turn to turn.

use crate::attr::Literal;
use crate::attr_names;
use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Block, Op, TextRef, Value};
use crate::program::{Def, Loop, Program};
use crate::types::{Type, TypeKind};
use lanebook_tables::{IndexWord, OpRole};

/// What remainders are by, and what is added to them, is less: their product, by which turns are
/// jumped over, is an index.
const REMAINDERS: i64 = 1 << 15;
/// Operands of a counted loop before those that it carries.
const BOUNDS: usize = 3;

/// How a carried index changes in each turn.
#[derive(Copy, Clone)]
struct Growth {
    /// What is added, outside of the loop.
    by: Value,
    /// It is taken away instead.
    is_less: bool,
    /// What is left of the sum by this number.
    modulus: Option<i64>,
}

/// What a counted loop has had of turns, at some place.
#[derive(Copy, Clone)]
enum Turns {
    /// As its counter says inside.
    SoFar,
    /// All of them, behind it.
    All,
}

/// Brings the loops of a function to the form of a counted loop that carries tiles.
///
/// # Errors
/// A loop that has no such form, at its place; room that ran out.
#[inline(never)]
pub(crate) fn count_loops(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        match program.role(op) {
            OpRole::While => {
                let at = SourcePlace { op: None, ..program.place(op) };
                let failed = |kind| IrError { kind, at };
                if let Some(key) = idle_attr(program, op) {
                    let at = SourcePlace { op: None, ..program.place_of(key) };
                    return Err(IrError { kind: ErrorKind::IdleAttr, at });
                }
                let count = While::of(program, op).ok_or(failed(ErrorKind::WhileForm))?;
                next = Some(count.count(program).map_err(failed)?);
                continue;
            }
            OpRole::For => take_indices_out(program, op)?,
            _ => {}
        }
        next = program.following(op, Some(kernel));
    }
    Ok(())
}

/// An attribute of a `scf.while`, or of the end of its first part: they have none.
fn idle_attr(program: &Program<'_, '_>, op: Op) -> Option<TextRef> {
    let end = program.entry(op, 0).and_then(|decides| program.terminator(decides));
    let mut attrs = core::iter::once(op).chain(end).flat_map(|op| program.attrs(op));
    attrs.next().map(|attr| attr.key)
}

/// Lets everybody read what the indices that a loop carries are, and carries them no more.
fn take_indices_out(program: &mut Program<'_, '_>, op: Op) -> Result<(), IrError> {
    let mut number = 0usize;
    loop {
        let Some(at) = program.counted_loop(op) else { return Ok(()) };
        let Some(carried) = program.carried(op).nth(number) else { return Ok(()) };
        if program.type_of(carried.argument).kind != TypeKind::Index {
            number = number.saturating_add(1);
            continue;
        }
        let place = program.terminator(at.body).unwrap_or(op);
        let place = SourcePlace { op: None, ..program.place(place) };
        let failed = |kind| IrError { kind, at: place };
        let yielded = carried.yielded.ok_or(failed(ErrorKind::NoTerminator))?;
        if yielded == carried.argument {
            // It never changes.
            program.replace_all_uses(carried.argument, carried.init).map_err(failed)?;
            if let Some(result) = carried.result {
                program.replace_all_uses(result, carried.init).map_err(failed)?;
            }
            drop_carried(program, &at, number).map_err(failed)?;
            continue;
        }
        let growth = growth(program, op, carried.argument, yielded)
            .filter(|growth| begins_inside(program, carried.init, growth))
            .ok_or(failed(ErrorKind::CarriedIndex))?;
        let made = |program: &mut Program<'_, '_>| -> Edit {
            // Before anything of the body, which may read it.
            let first = program.first(at.body).ok_or(ErrorKind::NoTerminator)?;
            // What it goes on by reads it, too.
            let own = program.def_op(yielded);
            let is_read = |user: Option<Op>| user != own && user != program.terminator(at.body);
            if program.uses(carried.argument).any(|place| is_read(program.user(place))) {
                let inside = grown(program, first, &at, (carried.init, growth, Turns::SoFar))?;
                program.replace_all_uses(carried.argument, inside)?;
            } else {
                program.replace_all_uses(carried.argument, carried.init)?;
            }
            let result = carried.result.filter(|result| program.is_used(*result));
            if let Some(result) = result {
                let behind = program.next(op).ok_or(ErrorKind::Misplaced)?;
                let whole = grown(program, behind, &at, (carried.init, growth, Turns::All))?;
                program.replace_all_uses(result, whole)?;
            }
            drop_carried(program, &at, number)?;
            let own = program.def_op(yielded).filter(|own| is_idle(program, *own));
            own.map_or(Ok(()), |own| program.erase(own))
        };
        made(program).map_err(failed)?;
    }
}

/// Whether nobody reads what an operation makes, and it says nothing more that could be refused.
fn is_idle(program: &Program<'_, '_>, op: Op) -> bool {
    let is_read = program.results(op).any(|value| program.is_used(value));
    !is_read && program.attrs(op).next().is_none()
}

/// Carries a value no more that nobody reads.
fn drop_carried(program: &mut Program<'_, '_>, at: &Loop, number: usize) -> Edit {
    let end = program.terminator(at.body).ok_or(ErrorKind::NoTerminator)?;
    program.remove_operand(end, number)?;
    program.remove_argument(at.body, number.saturating_add(1))?;
    program.remove_operand(at.op, number.saturating_add(BOUNDS))?;
    program.remove_result(at.op, number)
}

/// A value that is the same in all turns of a loop, as it can be named before it.
fn fixed(program: &mut Program<'_, '_>, op: Op, value: Value) -> Option<Value> {
    if let Some(number) = program.int(value) {
        return program.literal_value(Literal::Int(number)).ok();
    }
    let home = match program.def(value) {
        Def::Result(def, _) => def,
        Def::Argument(block, _) => program.owner_of(block)?,
        Def::Literal(_) => return Some(value),
        Def::Nothing => return None,
    };
    (home != op && !program.is_inside(home, op)).then_some(value)
}

/// How a value that a loop passes on is made of the one that it had.
fn growth(
    program: &mut Program<'_, '_>,
    op: Op,
    argument: Value,
    yielded: Value,
) -> Option<Growth> {
    let made = program.def_op(yielded)?;
    let (a, b) = (program.operand(made, 0)?, program.operand(made, 1)?);
    match program.index_word(made)? {
        IndexWord::Add => {
            let by = if a == argument { b } else { a };
            let is_own = a == argument || b == argument;
            let by = fixed(program, op, is_own.then_some(by)?)?;
            Some(Growth { by, is_less: false, modulus: None })
        }
        IndexWord::Sub => {
            let by = fixed(program, op, (a == argument).then_some(b)?)?;
            Some(Growth { by, is_less: true, modulus: None })
        }
        IndexWord::Rem | IndexWord::RemUnsigned => {
            let modulus = program.int(b).filter(|number| (1..REMAINDERS).contains(number))?;
            let inner = program.def_op(a)?;
            let is_sum = program.index_word(inner)? == IndexWord::Add;
            let (a, b) = (program.operand(inner, 0)?, program.operand(inner, 1)?);
            let by = if a == argument { b } else { a };
            let is_own = is_sum && (a == argument || b == argument);
            let by = fixed(program, op, is_own.then_some(by)?)?;
            let small = program.int(by).is_some_and(|by| (0..REMAINDERS).contains(&by));
            small.then_some(Growth { by, is_less: false, modulus: Some(modulus) })
        }
        _ => None,
    }
}

/// Whether what an index begins with is one of the numbers that its remainders are.
fn begins_inside(program: &Program<'_, '_>, init: Value, growth: &Growth) -> bool {
    let init = program.int(init);
    growth.modulus.is_none_or(|modulus| init.is_some_and(|init| (0..modulus).contains(&init)))
}

/// Puts operations on indices before another operation.
struct IndexMaker<'p, 's, 't> {
    program: &'p mut Program<'s, 't>,
    before: Op,
}

impl IndexMaker<'_, '_, '_> {
    fn number(&mut self, number: i64) -> Edit<Value> {
        self.program.literal_value(Literal::Int(number))
    }

    fn of(&mut self, word: IndexWord, a: Value, b: Value) -> Edit<Value> {
        let decl = self.program.tables().op_of_index(word).ok_or(ErrorKind::UnknownOp)?;
        let made = self.program.insert_before(self.before, decl, &[a, b], &[Type::INDEX])?;
        self.program.result(made, 0).ok_or(ErrorKind::Broken)
    }

    /// A product or quotient by a number; the value itself by 1.
    fn by(&mut self, word: IndexWord, value: Value, number: i64) -> Edit<Value> {
        if number == 1 {
            return Ok(value);
        }
        let number = self.number(number)?;
        self.of(word, value, number)
    }

    /// A sum; the other value where one is 0.
    fn sum(&mut self, a: Value, b: Value) -> Edit<Value> {
        if self.program.int(a) == Some(0) { Ok(b) } else { self.of(IndexWord::Add, a, b) }
    }
}

/// What an index has become, before an operation.
fn grown(
    program: &mut Program<'_, '_>,
    before: Op,
    at: &Loop,
    (init, growth, turns): (Value, Growth, Turns),
) -> Edit<Value> {
    let (by, step) = (program.int(growth.by), program.int(at.step));
    let starts_at_zero = program.int(at.lower) == Some(0);
    let mut make = IndexMaker { program, before };
    let end = match turns {
        Turns::SoFar => at.induction,
        Turns::All => at.upper,
    };
    let way = if starts_at_zero { end } else { make.of(IndexWord::Sub, end, at.lower)? };
    let count = |make: &mut IndexMaker<'_, '_, '_>| -> Edit<Value> {
        let word = match turns {
            Turns::SoFar => IndexWord::Div,
            Turns::All => IndexWord::CeilDiv,
        };
        let count = match step {
            Some(step) => make.by(word, way, step)?,
            None => make.of(word, way, at.step)?,
        };
        match turns {
            Turns::SoFar => Ok(count),
            // A loop may run no turn.
            Turns::All => {
                let zero = make.number(0)?;
                make.of(IndexWord::Max, count, zero)
            }
        }
    };
    if let Some(modulus) = growth.modulus {
        let count = count(&mut make)?;
        let modulus = make.number(modulus)?;
        let left = make.of(IndexWord::Rem, count, modulus)?;
        let more = make.of(IndexWord::Mul, left, growth.by)?;
        let sum = make.sum(init, more)?;
        return make.of(IndexWord::Rem, sum, modulus);
    }
    let more = match (turns, by, step) {
        // Whole steps of the counter.
        (Turns::SoFar, Some(by), Some(step))
            if by > 0 && by.checked_rem(step) == Some(0) && step > 0 =>
        {
            make.by(IndexWord::Mul, way, by.checked_div(step).unwrap_or(0))?
        }
        (Turns::SoFar, Some(by), Some(step)) if by > 0 && step.checked_rem(by) == Some(0) => {
            make.by(IndexWord::Div, way, step.checked_div(by).unwrap_or(1))?
        }
        _ => {
            let count = count(&mut make)?;
            match by {
                Some(by) => make.by(IndexWord::Mul, count, by)?,
                None => make.of(IndexWord::Mul, count, growth.by)?,
            }
        }
    };
    if growth.is_less { make.of(IndexWord::Sub, init, more) } else { make.sum(init, more) }
}

/// A `scf.while` that counts.
struct While {
    op: Op,
    decides: Block,
    works: Block,
    /// The argument that counts.
    counter: usize,
    upper: Value,
    /// The bound is reached, too.
    is_closed: bool,
    step: Value,
}

impl While {
    /// The loop's parts, if it goes on while an index that grows is below a bound.
    fn of(program: &mut Program<'_, '_>, op: Op) -> Option<Self> {
        let (decides, works) = (program.entry(op, 0)?, program.entry(op, 1)?);
        let (end, back) = (program.terminator(decides)?, program.terminator(works)?);
        // The first part computes nothing but the condition, and passes on what goes round.
        let passes = (0..program.results(op).count()).all(|k| passed(program, op, k).is_some());
        let test = program.def_op(program.operand(end, 0)?)?;
        let own = |key| [attr_names::KIND, attr_names::PREFIX].contains(&program.text(key));
        let is_test = program.index_word(test)? == IndexWord::Compare
            && program.attrs(test).all(|attr| own(attr.key));
        let is_known = |one: Op| {
            let is_number = program.role(one) == OpRole::Constant;
            one == end || one == test || is_number && program.attrs(one).next().is_none()
        };
        if !is_test || !passes || !program.ops(decides).all(is_known) {
            return None;
        }
        let (plain, holds) = program.relation(test)?;
        let (a, b) = (program.operand(test, 0)?, program.operand(test, 1)?);
        let own = |value: Value| match program.def(value) {
            Def::Argument(block, number) if block == decides => Some(usize::from(number)),
            _ => None,
        };
        let (counter, bound, holds) = match (own(a), own(b), holds) {
            (Some(counter), None, [below, same, above]) => (counter, b, [below, same, above]),
            (None, Some(counter), [below, same, above]) => (counter, a, [above, same, below]),
            _ => return None,
        };
        let [true, is_closed, false] = holds else { return None };
        let upper = fixed(program, op, bound)?;
        let init = program.operand(op, counter)?;
        let is_plain = |value| program.index_facts(value).is_plain();
        if plain && !(is_plain(init) && is_plain(upper)) {
            return None;
        }
        // What the second part has of the counter.
        let number =
            (0..program.results(op).count()).find(|k| passed(program, op, *k) == Some(counter))?;
        let argument = program.arguments(works).nth(number)?;
        let yielded = program.operand(back, counter)?;
        let growth = growth(program, op, argument, yielded)?;
        let grows = program.index_facts(growth.by).low >= 1;
        let is_step = grows && !growth.is_less && growth.modulus.is_none();
        let step = is_step.then_some(growth.by)?;
        Some(Self { op, decides, works, counter, upper, is_closed, step })
    }

    /// A counted loop in its place.
    fn count(&self, program: &mut Program<'_, '_>) -> Edit<Op> {
        let Self { op, decides, works, counter, step, .. } = *self;
        let decl = program.tables().op_of_role(OpRole::For).ok_or(ErrorKind::UnknownOp)?;
        let lower = program.operand(op, counter).ok_or(ErrorKind::Stale)?;
        let mut make = IndexMaker { program, before: op };
        let one = make.number(1)?;
        let upper =
            if self.is_closed { make.of(IndexWord::Add, self.upper, one)? } else { self.upper };
        let new = program.insert_before(op, decl, &[lower, upper, step], &[])?;
        // Errors about it are about what the program says.
        let name = program.op_data(op).ok_or(ErrorKind::Stale)?.name;
        program.pools.edit::<OpData>(new.index(), |data| data.name = name)?;
        let body = program.body(new).ok_or(ErrorKind::Broken)?;
        let induction = program.add_argument(body, Type::INDEX)?;
        let back = program.terminator(works).ok_or(ErrorKind::NoTerminator)?;
        let end = program.tables().op_of_role(OpRole::Yield).ok_or(ErrorKind::UnknownOp)?;
        let end = program.append(body, end, &[], &[])?;
        for number in 0..program.arguments(decides).count() {
            if number == counter {
                continue;
            }
            let argument = program.arguments(decides).nth(number).ok_or(ErrorKind::Broken)?;
            let ty = program.type_of(argument);
            let init = program.operand(op, number).ok_or(ErrorKind::Stale)?;
            program.add_operand(new, init)?;
            program.add_argument(body, ty)?;
            program.add_result(new, ty)?;
        }
        let at = Loop { op: new, lower, upper, step, body, induction };
        for number in 0..program.results(op).count() {
            let from = passed(program, op, number).ok_or(ErrorKind::Broken)?;
            let argument = program.arguments(works).nth(number).ok_or(ErrorKind::Broken)?;
            let result = program.result(op, number).ok_or(ErrorKind::Broken)?;
            if from == counter {
                program.replace_all_uses(argument, induction)?;
                if program.is_used(result) {
                    let growth = Growth { by: step, is_less: false, modulus: None };
                    let last = grown(program, op, &at, (lower, growth, Turns::All))?;
                    program.replace_all_uses(result, last)?;
                }
                continue;
            }
            let place = if from < counter { from } else { from.saturating_sub(1) };
            let inside = program.arguments(body).nth(place.saturating_add(1));
            program.replace_all_uses(argument, inside.ok_or(ErrorKind::Broken)?)?;
            let outside = program.result(new, place).ok_or(ErrorKind::Broken)?;
            program.replace_all_uses(result, outside)?;
        }
        while let Some(first) = program.first(works).filter(|first| *first != back) {
            program.move_before(first, end)?;
        }
        for number in 0..program.operand_count(back) {
            let value = program.operand(back, number).ok_or(ErrorKind::Stale)?;
            if number != counter {
                program.add_operand(end, value)?;
            }
        }
        let last = program.operand(back, counter).and_then(|value| program.def_op(value));
        program.erase(op)?;
        if let Some(last) = last.filter(|last| is_idle(program, *last)) {
            program.erase(last)?;
        }
        Ok(new)
    }
}

/// Which of the values that go round a `scf.while` passes on as this one.
fn passed(program: &Program<'_, '_>, op: Op, number: usize) -> Option<usize> {
    let decides = program.entry(op, 0)?;
    let value = program.operand(program.terminator(decides)?, number.checked_add(1)?)?;
    match program.def(value) {
        Def::Argument(block, number) if block == decides => Some(usize::from(number)),
        _ => None,
    }
}
