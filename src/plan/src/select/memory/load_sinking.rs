//! Loads moved into loops: a tile of shared memory that a loop's product reads, and that is loaded
//! once before the loop, holds its registers as long as the loop goes on. Where there are too few,
//! each turn loads it anew, beside the product or slice by slice inside it; the bytes stay as they
//! are meanwhile.
//!
//! Does not move a load whose tile anything else reads, or whose bytes the loop writes.

use lanebook_ir::{Op, Program, Value};
use lanebook_tables::OpRole;

/// Most operations moved.
const MOST: usize = 8;
/// Most operations between a load and its product.
const WAY: usize = 3;

/// What was moved, each with what stood behind it.
#[derive(Default)]
#[doc(hidden)]
pub struct LoadSinking {
    moved: heapless::Vec<(Op, Op), MOST>,
}

impl LoadSinking {
    /// Moves every load that can be moved into the loop of its product; false if there is none.
    #[doc(hidden)]
    pub fn sink(&mut self, program: &mut Program<'_, '_>, function: Op) -> bool {
        while let Some(product) = self.next(program, function) {
            for side in 0..2 {
                if let Some(chain) = chain(program, product, side)
                    && !self.bring(program, product, &chain)
                {
                    self.rollback(program);
                    return false;
                }
            }
        }
        !self.moved.is_empty()
    }

    /// A product one of whose inputs could be loaded nearer.
    fn next(&self, program: &Program<'_, '_>, function: Op) -> Option<Op> {
        let is_far = |op: Op| (0..2).any(|side| chain(program, op, side).is_some());
        program.inside(function).find(|op| program.role(*op) == OpRole::Matrix && is_far(*op))
    }

    /// Moves a load and what stands between it and its product, the load first.
    fn bring(&mut self, program: &mut Program<'_, '_>, product: Op, chain: &[Op]) -> bool {
        for &op in chain.iter().rev() {
            let Some(behind) = program.next(op).filter(|_| !self.moved.is_full()) else {
                return false;
            };
            if program.move_before(op, product).is_err() || self.moved.push((op, behind)).is_err() {
                return false;
            }
        }
        true
    }

    /// Puts everything back.
    #[doc(hidden)]
    pub fn rollback(&mut self, program: &mut Program<'_, '_>) {
        while let Some((op, behind)) = self.moved.pop() {
            let _ = program.move_before(op, behind);
        }
    }
}

/// From a product's input back to a load outside its loop, if nothing else reads the tile on the
/// way and nothing in the loop writes its bytes.
fn chain(program: &Program<'_, '_>, product: Op, side: usize) -> Option<heapless::Vec<Op, WAY>> {
    let mut out = heapless::Vec::new();
    let mut value: Value = program.operand(product, side)?;
    loop {
        let op = program.def_op(value).filter(|_| program.uses(value).count() == 1)?;
        out.push(op).ok()?;
        match program.role(op) {
            OpRole::Load => break,
            OpRole::Transpose => value = program.operand(op, 0)?,
            _ => return None,
        }
    }
    let load = *out.last()?;
    let around = core::iter::successors(program.parent(product), |at| program.parent(*at))
        .filter(|at| program.role(*at) == OpRole::For);
    let outer = around.filter(|at| !program.is_inside(load, *at)).last()?;
    let tile = program.operand(load, 0).filter(|tile| {
        program.def_op(*tile).is_some_and(|def| program.role(def) == OpRole::Alloc)
    })?;
    // From the load on the tile is only read.
    let mut at = program.next(load);
    let mut behind = false;
    while let Some(op) = at {
        behind |= op == outer;
        let writes = |op: Op| {
            matches!(program.role(op), OpRole::Copy | OpRole::Store)
                && program.operand(op, 1) == Some(tile)
        };
        if writes(op) || program.inside(op).any(writes) {
            return None;
        }
        at = if behind { None } else { program.next(op) };
    }
    behind.then_some(out)
}
