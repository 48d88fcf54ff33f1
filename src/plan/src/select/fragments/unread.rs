//! Tiles that nothing reads: results of pure operations from which no way leads to a store, a loop
//! or a product. They get no distribution and nothing is emitted for them, so they bind nothing
//! else.

use lanebook_ir::{Op, Program, Value};
use lanebook_tables::OpRole;

/// Most tiles that are looked for; what is beyond is made, though nothing reads it.
const MOST: usize = 48;

/// Tiles that nothing reads.
#[derive(Default)]
pub(crate) struct Unread(heapless::Vec<Value, MOST>);

impl Unread {
    /// Those of a function.
    #[inline(never)]
    pub(crate) fn of(program: &Program<'_, '_>, function: Op) -> Self {
        let mut found = Self::default();
        // Each round finds at least the operations right before those that are known.
        loop {
            let before = found.0.len();
            for op in program.inside(function).filter(|op| is_pure(program, *op)) {
                let read = program
                    .results(op)
                    .flat_map(|value| program.uses(value))
                    .filter_map(|place| program.user(place))
                    .any(|user| !found.covers(program, user));
                if !read && !found.covers(program, op) {
                    for value in program.results(op) {
                        if found.0.push(value).is_err() {
                            return found;
                        }
                    }
                }
            }
            if found.0.len() == before {
                return found;
            }
        }
    }

    /// Whether nothing reads a tile.
    pub(crate) fn contains(&self, program: &Program<'_, '_>, value: Value) -> bool {
        let nobody = || program.uses(value).next().is_none();
        self.0.contains(&value)
            || nobody() && program.def_op(value).is_some_and(|op| is_pure(program, op))
    }

    /// Whether nothing reads what an operation makes.
    pub(crate) fn covers(&self, program: &Program<'_, '_>, op: Op) -> bool {
        is_pure(program, op) && program.results(op).all(|value| self.contains(program, value))
    }
}

/// Operations that are left out where nothing reads their result.
fn is_pure(program: &Program<'_, '_>, op: Op) -> bool {
    matches!(
        program.role(op),
        OpRole::Elementwise
            | OpRole::Select
            | OpRole::Reduce
            | OpRole::Broadcast
            | OpRole::Transpose
            | OpRole::Reshape
            | OpRole::Permute
            | OpRole::Convert
    ) && program.results(op).next().is_some()
        || program.role(op).is_composed()
        || program.coordinates(op).is_some()
}
