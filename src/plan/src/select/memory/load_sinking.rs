//! Loads moved to the products that read them, where there are too few registers: a tile of shared
//! memory that is loaded once before a loop holds its registers as long as the loop goes on, so
//! each turn loads it anew, beside the product or slice by slice inside it; and a tile that is
//! loaded in front of another product, whose result the one that reads it waits for, is loaded
//! behind that.
//!
//! Does not move a load whose tile anything else reads, or whose bytes are written meanwhile.

use lanebook_ir::{Op, Program, Value};
use lanebook_tables::OpRole;

/// Most operations moved.
const MOST: usize = 8;
/// Most operations between a load and its product.
const WAY: usize = 4;

/// What was moved, each with what stood behind it.
#[derive(Default)]
#[doc(hidden)]
pub struct LoadSinking {
    moved: heapless::Vec<(Op, Op), MOST>,
}

impl LoadSinking {
    /// Moves every load that can be moved to its product; false if there is none.
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

/// From a product's input back to a load that stands before its loop, or before another product,
/// if nothing else reads the tile on the way and nothing writes its bytes meanwhile.
fn chain(program: &Program<'_, '_>, product: Op, side: usize) -> Option<heapless::Vec<Op, WAY>> {
    let mut out = heapless::Vec::new();
    let mut value: Value = program.operand(product, side)?;
    loop {
        let op = program.def_op(value).filter(|_| program.uses(value).count() == 1)?;
        out.push(op).ok()?;
        match program.role(op) {
            OpRole::Load => break,
            OpRole::Transpose | OpRole::Convert => value = program.operand(op, 0)?,
            _ => return None,
        }
    }
    let load = *out.last()?;
    if program.block_of(load) == program.block_of(product) {
        return is_behind_another(program, load, product).then_some(out);
    }
    if out.iter().any(|op| program.role(*op) == OpRole::Convert) {
        return None;
    }
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
        let writes = |op: Op| program.writes_to(op, tile);
        if writes(op) || program.inside(op).any(writes) {
            return None;
        }
        at = if behind { None } else { program.next(op) };
    }
    behind.then_some(out)
}

/// Whether another product stands between a load and the product that reads its tile, and nothing
/// that may write memory.
fn is_behind_another(program: &Program<'_, '_>, load: Op, product: Op) -> bool {
    let behind = core::iter::successors(program.next(load), |at| program.next(*at));
    let mut between = behind.take_while(|op| *op != product);
    between.any(|op| program.role(op) == OpRole::Matrix) && !program.is_overwritten(load, product)
}
