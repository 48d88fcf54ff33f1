//! Reductions and movements between distributions: what they need beside registers, and what they
//! cost.
//!
//! A reduction is done inside each lane, then between the lanes that share a row by exchanges,
//! then, where warps share one, through shared memory: each warp leaves its part in a line of its
//! own, and every warp reads all lines (so do lanes that no instruction joins). A conversion
//! between two distributions goes through shared memory the same way. Both are an *exchange*: a
//! tile that one distribution writes and another reads, under the layout that is cheapest for the
//! two together.

use crate::data::PlanError;
use crate::select::elementwise::select_elementwise;
use crate::select::planner::Planner;
use lanebook_ir::Op;
use lanebook_tables::OpRole;
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::map::{Fragment, KeptAxis, TileShape};
use lanebook_tile::shaping::{combiner, reduced, repeated};

/// The distributions of an exchange.
#[derive(Copy, Clone, Debug)]
pub(crate) struct ExchangeSides {
    pub(crate) from: Fragment,
    pub(crate) to: Fragment,
}

impl ExchangeSides {
    /// What warps leave for each other in a reduction of `whole` to `kept`, and lanes whose numbers
    /// differ in a bit where nothing but memory joins them (`apart`); `None` if no two of these
    /// share a row, or the distribution is not one of single coordinates.
    pub(crate) fn new(
        whole: &Fragment,
        kept: KeptAxis,
        apart: impl Fn(u8) -> bool,
    ) -> Option<Self> {
        let (bits, panels) = kept.extent(whole.shape);
        let shared = |e: u32| e != 0 && kept.part(whole.shape, e) == 0;
        let far = |bit: usize| 1u8.checked_shl(bit as u32).is_some_and(&apart);
        let lanes = whole
            .lane
            .as_slice()
            .iter()
            .enumerate()
            .filter(|(bit, e)| shared(**e) && far(*bit))
            .count();
        let lines =
            whole.warp.as_slice().iter().filter(|e| shared(**e)).count().saturating_add(lanes);
        let lines = u8::try_from(lines).ok().filter(|n| *n > 0)?;
        let columns = u64::from(panels).checked_shl(u32::from(bits))?;
        let shape = TileShape::new(1u64.checked_shl(u32::from(lines))?, columns, whole.shape.bits)?;
        let row = TileShape::new(1, columns, whole.shape.bits)?;
        let slice = whole.slice(kept, row)?;
        let (mut from, mut to) = (Fragment::new(shape), Fragment::new(shape));
        for line in 0..lines {
            if !to.register.push(shape.row_bit(line)) {
                return None;
            }
        }
        for &e in slice.register.as_slice() {
            if !from.register.push(e) || !to.register.push(e) {
                return None;
            }
        }
        // Lines are counted by the lanes' bits first.
        let mut line = 0u8;
        to.lane = slice.lane;
        for (bit, (&e, &part)) in
            whole.lane.as_slice().iter().zip(slice.lane.as_slice()).enumerate()
        {
            let own = shared(e) && far(bit);
            if !from.lane.push(if own { shape.row_bit(line) } else { part }) {
                return None;
            }
            line = line.saturating_add(u8::from(own));
        }
        for &e in whole.warp.as_slice() {
            let part = kept.part(whole.shape, e);
            let mine = if shared(e) { shape.row_bit(line) } else { part };
            line = line.saturating_add(u8::from(shared(e)));
            if !from.warp.push(mine) || !to.warp.push(part) {
                return None;
            }
        }
        Some(Self { from, to })
    }
}

impl Planner<'_, '_, '_, '_> {
    /// Whether a reduction or repetition is one that can be done.
    pub(crate) fn collect_shaping(&self, op: Op) -> Result<(), PlanError> {
        let TargetInfo { tables, arch, .. } = self.target;
        let program = self.program;
        let unsupported = PlanError::Unsupported(op);
        // What nothing reads is not computed: others may stand in its place.
        if self.unread.covers(program, op) {
            return Ok(());
        }
        let operand = program.operand(op, 0).ok_or(unsupported)?;
        let result = program.result(op, 0).ok_or(unsupported)?;
        // A constant has no distribution of its own: what is not one number again is combined of
        // nothing.
        if program.operands(op).count() != 1
            || program.constant(operand).is_some() != program.constant(result).is_some()
        {
            return Err(unsupported);
        }
        // Elements are combined and repeated register by register; who reads a number has it.
        let is_number = program.role(op) == OpRole::Broadcast && program.constant(result).is_some();
        if is_number {
            return repeated(program, op).map(|_| ()).ok_or(unsupported);
        }
        // What is repeated is registers, or pairs of them.
        let repeats = program.role(op) == OpRole::Broadcast;
        let bits = [self.shape_of(op, operand)?.bits, self.shape_of(op, result)?.bits];
        if bits != [32; 2] && !(repeats && bits == [64; 2]) {
            return Err(PlanError::Element(op));
        }
        if repeats {
            return repeated(program, op).map(|_| ()).ok_or(unsupported);
        }
        let dtype = program.type_of(operand).dtype.ok_or(unsupported)?;
        let kind = combiner(program, op).ok_or(unsupported)?;
        reduced(program, op).ok_or(unsupported)?;
        select_elementwise(tables, arch, kind, 2, (dtype, dtype), 0).map(|_| ()).ok_or(unsupported)
    }

    /// What a reduction or conversion exchanges through shared memory, if its ends are known and it
    /// does.
    pub(crate) fn between(&self, op: Op) -> Option<ExchangeSides> {
        let program = self.program;
        // What is a number needs no operation.
        if program.result(op, 0).is_some_and(|result| program.constant(result).is_some()) {
            return None;
        }
        let fragment = |v| self.plan.fragment_of(v).map(|(_, f)| *f);
        match program.role(op) {
            // Nothing is exchanged for a result that nobody reads.
            OpRole::Reduce => {
                let whole = fragment(program.operand(op, 0)?)
                    .filter(|_| program.result(op, 0).and_then(fragment).is_some())?;
                ExchangeSides::new(&whole, reduced(program, op)?, |mask| self.apart & mask != 0)
            }
            OpRole::Convert => {
                let (from, to) =
                    (fragment(program.operand(op, 0)?)?, fragment(program.result(op, 0)?)?);
                (from != to).then_some(ExchangeSides { from, to })
            }
            _ => None,
        }
    }

    /// Cost of all exchanges and reductions whose ends are known, estimated: the layouts are chosen
    /// when all is decided.
    pub(crate) fn shaping_cost(&self) -> u32 {
        self.reduction_cost().saturating_add(self.shaping_cost_of(OpRole::Convert))
    }

    /// The same of reductions alone: their elements have 32 bits, whatever becomes of narrower
    /// ones.
    pub(crate) fn reduction_cost(&self) -> u32 {
        self.shaping_cost_of(OpRole::Reduce)
    }

    #[inline(never)]
    fn shaping_cost_of(&self, role: OpRole) -> u32 {
        let w = &self.target.tables.weights;
        let mut sum = 0u32;
        for op in self.program.inside(self.function).filter(|op| self.program.role(*op) == role) {
            let mut cost = 0u32;
            if role == OpRole::Reduce
                && let Some(whole) = self
                    .program
                    .operand(op, 0)
                    .and_then(|v| self.plan.fragment_of(v))
                    .map(|(_, f)| *f)
                && let Some(kept) = reduced(self.program, op)
            {
                let shared = whole
                    .lane
                    .as_slice()
                    .iter()
                    .filter(|e| **e != 0 && kept.part(whole.shape, **e) == 0)
                    .count();
                let kept_bits = whole
                    .register
                    .as_slice()
                    .iter()
                    .filter(|e| kept.part(whole.shape, **e) != 0)
                    .count();
                let held = 1u32.checked_shl(kept_bits as u32).unwrap_or(u32::MAX);
                let each = held.saturating_mul(w.instruction).saturating_mul(2);
                cost = each.saturating_mul(u32::try_from(shared).unwrap_or(u32::MAX));
            }
            if let Some(between) = self.between(op) {
                let (from, to) = (between.from.registers(), between.to.registers());
                let shared = if from.max(to) > self.target.isa.tile_most() {
                    u32::MAX
                } else {
                    self.exchange_estimate(u32::from(from).saturating_add(u32::from(to)))
                };
                let inside = if role == OpRole::Convert {
                    self.lanes_estimate(op, &between)
                } else {
                    u32::MAX
                };
                cost = cost.saturating_add(shared.min(inside));
            }
            sum = sum.saturating_add(self.weigh_at(op, cost));
        }
        sum
    }

    /// What a conversion costs inside each warp, if it is one.
    #[inline(never)]
    fn lanes_estimate(&self, op: Op, between: &ExchangeSides) -> u32 {
        // Both sides stand beside each other: what is too large is a last resort.
        let (from, to) = (between.from.registers(), between.to.registers());
        if u32::from(from).saturating_add(u32::from(to)) > self.most_packed() {
            return u32::MAX;
        }
        self.lanes(op, &between.from, &between.to).map_or(u32::MAX, |plan| plan.cost)
    }

    /// What an exchange through shared memory costs before its layout is chosen: every register,
    /// written and read, and the addresses.
    pub(crate) fn exchange_estimate(&self, registers: u32) -> u32 {
        let w = &self.target.tables.weights;
        let instructions = registers.saturating_add(w.exchange_addresses);
        registers
            .saturating_mul(w.pass())
            .saturating_add(instructions.saturating_mul(w.instruction))
    }
}
