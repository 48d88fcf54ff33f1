//! Branches: `scf.if` as loops of at most one turn, put into the program before anything is chosen.
//!
//! With a condition of 0 or 1, `to` it the first part runs as often as it says, and from it to 1 the
//! second part. Everything that knows loops which may run no turn then knows branches: lives of
//! tiles, synchronisation, registers, both checkers. A result is carried through both loops. Where
//! the second part only passes on what stands outside there is one loop, which begins with that.
//!
//! The branch is the first loop itself, so that errors about it are about what the program says.

use lanebook_ir::{Block, Def, Literal, Op, Program, Type, Value};
use lanebook_tables::{IndexWord, OpId, OpRole};

/// What is needed to make a branch of its loops again.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TurnedBranch {
    condition: Value,
    /// The loop of its second part, where that does anything.
    other: Option<Op>,
    /// Whether each part has said what it ends with.
    ended: [bool; 2],
}

impl TurnedBranch {
    /// The second loop.
    pub(crate) const fn other(&self) -> Option<Op> {
        self.other
    }
}

/// Operands of a loop before those that it carries.
const BOUNDS: usize = 3;

/// Makes loops of a branch; `None` where the program has no room for them, and is as it was.
#[inline(never)]
pub(crate) fn turn(program: &mut Program<'_, '_>, op: Op) -> Option<TurnedBranch> {
    let mark = program.mark();
    match turned(program, op) {
        Some(branch) => {
            program.keep(mark);
            Some(branch)
        }
        None => {
            program.undo(mark);
            None
        }
    }
}

fn turned(program: &mut Program<'_, '_>, op: Op) -> Option<TurnedBranch> {
    let condition = program.operand(op, 0)?;
    let decl = program.tables().op_of_role(OpRole::For)?;
    let mut ended = [false; 2];
    for (number, ended) in ended.iter_mut().enumerate() {
        let block = program.entry(op, number)?;
        *ended = program.terminator(block).is_some();
        if !*ended {
            end(program, block)?;
        }
    }
    let truth = truth(program, op, condition)?;
    let [zero, one] = [0, 1].map(|n| program.literal_value(Literal::Int(n)).ok());
    let (zero, one) = (zero?, one?);
    let results = program.results(op).count();
    let only_passes = program.entry(op, 1).and_then(|block| program.first(block));
    let only_passes = only_passes.is_some_and(|first| program.role(first) == OpRole::Yield)
        && (0..results).all(|k| passed(program, op, 1, k).is_some());
    program.add_operand(op, truth).ok()?;
    program.add_operand(op, one).ok()?;
    for number in 0..results {
        let init = match passed(program, op, 1, number).or(passed(program, op, 0, number)) {
            Some(value) => value,
            None => zeros(program, op, number)?,
        };
        program.add_operand(op, init).ok()?;
    }
    // Last, since the condition may be a number that only stands here.
    program.set_operand(op, 0, zero).ok()?;
    let body = program.entry(op, 0)?;
    arguments(program, op, body)?;
    program.set_decl(op, decl).ok()?;
    if only_passes {
        program.remove_last_region(op).ok()?;
        return Some(TurnedBranch { condition, other: None, ended });
    }
    let other = behind(program, op, decl, [truth, one, one])?;
    program.swap_regions((op, 1), (other, 0)).ok()?;
    program.remove_last_region(op).ok()?;
    let body = program.entry(other, 0)?;
    for number in 0..results {
        let result = program.result(op, number)?;
        let ty = program.type_of(result);
        let new = program.add_result(other, ty).ok()?;
        program.replace_all_uses(result, new).ok()?;
        program.add_operand(other, result).ok()?;
    }
    arguments(program, other, body)?;
    Some(TurnedBranch { condition, other: Some(other), ended })
}

/// Makes a branch of its loops again; what was put before it is left to the caller. All that this
/// needs room for was given back before.
#[inline(never)]
pub(crate) fn undo(program: &mut Program<'_, '_>, op: Op, branch: &TurnedBranch) -> Option<()> {
    let body = program.entry(op, 0)?;
    no_arguments(program, body)?;
    let part = program.add_region(op).ok()?;
    if let Some(other) = branch.other {
        for number in 0..program.results(op).count() {
            let (from, to) = (program.result(other, number)?, program.result(op, number)?);
            program.replace_all_uses(from, to).ok()?;
        }
        let part = program.entry(other, 0)?;
        no_arguments(program, part)?;
        program.swap_regions((op, 1), (other, 0)).ok()?;
        program.erase(other).ok()?;
    } else {
        let end = end(program, part)?;
        for number in BOUNDS..program.operand_count(op) {
            let value = program.operand(op, number)?;
            program.add_operand(end, value).ok()?;
        }
    }
    program.set_operand(op, 0, branch.condition).ok()?;
    while let Some(last) = program.operand_count(op).checked_sub(1).filter(|last| *last > 0) {
        program.remove_operand(op, last).ok()?;
    }
    for (number, ended) in branch.ended.into_iter().enumerate() {
        let block = program.entry(op, number)?;
        if let Some(end) = program.terminator(block).filter(|_| !ended) {
            program.erase(end).ok()?;
        }
    }
    let decl = program.tables().op_of_role(OpRole::If)?;
    program.set_decl(op, decl).ok()
}

/// What says how often the first part runs: 1 where the condition is not 0.
fn truth(program: &mut Program<'_, '_>, op: Op, condition: Value) -> Option<Value> {
    let facts = program.index_facts(condition);
    if facts.low >= 0 && facts.high <= 1 {
        return Some(condition);
    }
    let decl = program.tables().op_of_index(IndexWord::MinUnsigned)?;
    let one = program.literal_value(Literal::Int(1)).ok()?;
    let made = program.insert_before(op, decl, &[condition, one], &[Type::INDEX]).ok()?;
    program.result(made, 0)
}

/// What a part passes out, where it stands outside of the branch.
fn passed(program: &Program<'_, '_>, op: Op, part: usize, number: usize) -> Option<Value> {
    let end = program.terminator(program.entry(op, part)?)?;
    let value = program.operand(end, number)?;
    let home = match program.def(value) {
        Def::Result(def, _) => def,
        Def::Argument(block, _) => program.owner_of(block)?,
        _ => return None,
    };
    (home != op && !program.is_inside(home, op)).then_some(value)
}

/// A tile of zeros, for a result to begin with.
fn zeros(program: &mut Program<'_, '_>, op: Op, number: usize) -> Option<Value> {
    let decl = program.tables().op_of_role(OpRole::Constant)?;
    let ty = program.type_of(program.result(op, number)?);
    let zero = program.literal_value(Literal::Hex(0)).ok()?;
    let made =
        program.insert_before(op, decl, &[zero], &[Type::tensor(ty.shape, ty.dtype?)]).ok()?;
    program.result(made, 0)
}

/// An operation right behind another.
fn behind(
    program: &mut Program<'_, '_>,
    op: Op,
    decl: OpId,
    operands: [Value; BOUNDS],
) -> Option<Op> {
    match program.next(op) {
        Some(next) => program.insert_before(next, decl, &operands, &[]).ok(),
        None => program.append(program.block_of(op)?, decl, &operands, &[]).ok(),
    }
}

fn end(program: &mut Program<'_, '_>, block: Block) -> Option<Op> {
    let decl = program.tables().op_of_role(OpRole::Yield)?;
    program.append(block, decl, &[], &[]).ok()
}

/// A loop's counter and what it carries, as arguments of its body.
fn arguments(program: &mut Program<'_, '_>, op: Op, body: Block) -> Option<()> {
    program.add_argument(body, Type::INDEX).ok()?;
    for number in 0..program.results(op).count() {
        let ty = program.type_of(program.result(op, number)?);
        program.add_argument(body, ty).ok()?;
    }
    Some(())
}

fn no_arguments(program: &mut Program<'_, '_>, body: Block) -> Option<()> {
    while let Some(last) = program.arguments(body).count().checked_sub(1) {
        program.remove_argument(body, last).ok()?;
    }
    Some(())
}
