//! Tiles of pointers that branches pass out: of both parts they point into the same tensor, and how
//! far they are from its beginning is passed out beside them.

use crate::edit::edit_ops::Edit;
use crate::edit::pointers::carried::{Carries, distances, distances_type, is_pointer};
use crate::error::{ErrorKind, Pool};
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::storage::full;
use heapless::Vec;
use lanebook_tables::OpRole;

/// Most pointers that the branches of a kernel pass out.
const PASSED: usize = 16;
/// Most operations between a pointer and the parameter that it goes back to.
const STEPS: usize = 64;
/// Parts of a branch.
const PARTS: [usize; 2] = [0, 1];

/// All of a kernel's.
#[derive(Default)]
pub(super) struct BranchedPointers(Vec<(Op, usize), PASSED>);

/// What a part of a branch passes out.
fn passed(program: &Program<'_, '_>, op: Op, part: usize, number: usize) -> Option<Value> {
    program.operand(program.terminator(program.entry(op, part)?)?, number)
}

/// What a result of a branch is in its first part.
pub(super) fn in_first_part(program: &Program<'_, '_>, value: Value) -> Option<Value> {
    let Def::Result(op, number) = program.def(value) else { return None };
    let is_branch = program.role(op) == OpRole::If;
    passed(program, op, 0, usize::from(number)).filter(|_| is_branch)
}

/// The parameter that a tile of pointers goes back to, if nothing moves one pointer on the way:
/// what a loop carries is one of those whose tiles of distances it `carries`.
pub(super) fn root(
    program: &Program<'_, '_>,
    value: Value,
    carries: impl Fn(Value) -> bool,
) -> Option<Value> {
    let mut at = value;
    for _ in 0..STEPS {
        at = match program.def(at) {
            Def::Argument(block, _) => {
                let around = program.owner_of(block)?;
                let own = program.carried(around).find(|one| one.argument == at);
                match own {
                    Some(own) if program.role(around) == OpRole::For && carries(at) => own.init,
                    Some(_) => return None,
                    None => return Some(at),
                }
            }
            Def::Result(op, number) => match program.role(op) {
                OpRole::If => in_first_part(program, at)?,
                OpRole::For if carries(at) => program.carried(op).nth(usize::from(number))?.init,
                OpRole::For => return None,
                _ if program.type_of(at).is_kept() => program.operand(op, 0)?,
                _ => return None,
            },
            _ => return None,
        };
    }
    None
}

impl BranchedPointers {
    /// Lets a branch pass out how far its pointers are; `None` where they point into several
    /// tensors, or one pointer is moved on the way.
    pub(super) fn enter(
        &mut self,
        program: &mut Program<'_, '_>,
        (op, carries): (Op, &Carries),
    ) -> Edit<Option<()>> {
        for number in 0..program.results(op).count() {
            let result = program.result(op, number).ok_or(ErrorKind::Broken)?;
            if !is_pointer(program, result) {
                continue;
            }
            let roots = PARTS.map(|part| {
                let value = passed(program, op, part, number)?;
                root(program, value, |one| carries.has_distances(one))
            });
            let [Some(first), Some(second)] = roots else { return Ok(None) };
            if first != second || !program.type_of(result).is_kept() {
                return Ok(None);
            }
            let ty = distances_type(program, result)?;
            let far = program.add_result(op, ty)?;
            program.set_twin(result, Some(far))?;
            self.0.push((op, number)).map_err(|_| full(Pool::List, PASSED))?;
        }
        Ok(Some(()))
    }

    /// Whether an operation ends a part of such a branch.
    pub(super) fn ends(&self, program: &Program<'_, '_>, op: Op) -> bool {
        let owner = program.block_of(op).and_then(|block| program.owner_of(block));
        self.0.iter().any(|(branch, _)| Some(*branch) == owner)
    }

    /// Passes distances out, and no pointers any more.
    pub(super) fn leave(&self, program: &mut Program<'_, '_>) -> Edit {
        for (op, number) in &self.0 {
            for part in PARTS {
                let value = passed(program, *op, part, *number).ok_or(ErrorKind::Broken)?;
                let end = program.entry(*op, part).and_then(|block| program.terminator(block));
                let end = end.ok_or(ErrorKind::NoTerminator)?;
                let far = distances(program, end, value)?;
                program.add_operand(end, far)?;
            }
        }
        for (op, number) in self.0.iter().rev() {
            for part in PARTS {
                let end = program.entry(*op, part).and_then(|block| program.terminator(block));
                program.remove_operand(end.ok_or(ErrorKind::NoTerminator)?, *number)?;
            }
        }
        Ok(())
    }

    /// Takes the pointers away that nobody reads any more.
    pub(super) fn forget(&self, program: &mut Program<'_, '_>) -> Edit {
        for (op, number) in self.0.iter().rev() {
            let result = program.result(*op, *number).ok_or(ErrorKind::Broken)?;
            program.set_twin(result, None)?;
            program.remove_result(*op, *number)?;
        }
        Ok(())
    }
}
