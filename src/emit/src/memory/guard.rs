//! Guards: which lanes an instruction is kept to, where a tile may reach beyond its tensor's
//! bounds, or a mask says which elements are touched.
//!
//! Along each dimension the distance of a lane's first element from the bound is below zero where
//! that element is inside. All of these distances joined by "and" are one word that is below zero
//! in the lanes that take part; the tables say how an instruction is kept to those. A truth of a
//! mask is such a word as it stands.

use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::interface::ParamKind;
use crate::step::{InstError, InstKind, Missing, Slot, member_offset, slot};
use lanebook_ir::{MemrefBound, Op};
use lanebook_plan::{End, GlobalPlan, TransferPlan};
use lanebook_tables::{ClassId, IndexOp, RegisterKind};
use lanebook_tile::map::Combine;

impl LowerContext<'_, '_, '_, '_> {
    /// Computes the numbers that guards of a movement compare, as far as they are not there yet:
    /// before the frames of a guard are on the stack.
    #[inline(never)]
    pub(crate) fn know_bounds(&mut self, plan: &TransferPlan, end: End) -> Result<(), EmitError> {
        let End::Global(k) = end else { return Ok(()) };
        let all = self.plan;
        let global = all.globals.get(usize::from(k)).ok_or(EmitError::Unplanned(plan.op))?;
        if global.guards == 0 {
            return Ok(());
        }
        let purpose = self.steps.purpose;
        self.steps.purpose = InstKind::Control;
        let bounds = self.program.bounds(global.memref).unwrap_or_default();
        for (dim, (bound, start)) in bounds.iter().zip(global.starts()).enumerate() {
            if global.guards.checked_shr(dim as u32).unwrap_or(0) & 1 != 0 {
                self.index_value(plan.op, start, None)?;
                self.bound(plan.op, *bound)?;
            }
        }
        self.steps.purpose = purpose;
        Ok(())
    }

    /// The register that keeps an instance of a movement to the lanes inside of its tensor's
    /// bounds; `None` where all lanes are. `end` is its end in global memory.
    #[inline(never)]
    pub(crate) fn guard(
        &mut self,
        plan: &TransferPlan,
        end: End,
        instance: u32,
    ) -> Result<Option<Reg>, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let End::Global(k) = end else { return Ok(None) };
        let mut global = *self.plan.globals.get(usize::from(k)).ok_or(refuse)?;
        let copies = self.copies_of(plan);
        if global.guards == 0 && !global.is_masked && copies == 0 {
            return Ok(None);
        }
        global.map = global.placed();
        let purpose = self.steps.purpose;
        self.steps.purpose = InstKind::Control;
        let word = if global.is_masked {
            self.truth_of(plan, instance)?
        } else {
            let inside = match global.guards {
                0 => None,
                _ => Some(self.inside(plan, &global, instance)?),
            };
            let first = self.is_first(copies)?;
            let word = self.sum(IndexOp::And, inside, first)?.ok_or(refuse)?;
            self.compute(word, RegBank::Vector)?
        };
        let guard = self.kept_by(plan.op, word, 0)?;
        self.steps.purpose = purpose;
        Ok(Some(guard))
    }

    /// The register that keeps instructions to the lanes in which a word is below `number`, which
    /// is 0 where nothing compares.
    fn kept_by(&mut self, op: Op, word: Reg, number: i32) -> Result<Reg, EmitError> {
        let missing = InstError::NoAtom(Missing::Frame);
        let rules = self.machine.isa.guard.ok_or(missing)?;
        let guard = match rules.test {
            Some(test) => {
                let guard = self.predicate(test)?.ok_or(missing)?;
                self.frame_step(test, Some(guard), &[slot(word), Slot::Int(number)])?;
                guard
            }
            None => word,
        };
        if guard.class == rules.class && guard.count == 1 {
            Ok(guard)
        } else {
            Err(EmitError::Unplanned(op))
        }
    }

    /// The register that keeps a half of an exchange to the first of those threads that hold the
    /// same elements; `None` where all take part.
    #[inline(never)]
    pub(crate) fn first_of_copies(
        &mut self,
        half: &TransferPlan,
    ) -> Result<Option<Reg>, EmitError> {
        let purpose = self.steps.purpose;
        self.steps.purpose = InstKind::Control;
        let guard = match u32::from(half.kept) {
            0 => None,
            bits => {
                let (word, below) = self.below_of_first(bits)?;
                let compares = self.machine.isa.guard.is_some_and(|rules| rules.test.is_some());
                let (word, number) = match compares {
                    true => (word, below),
                    false => {
                        let below = u64::from(below.wrapping_neg());
                        (self.arena.op_const(IndexOp::Add, word, below)?, 0)
                    }
                };
                let word = self.compute(word, RegBank::Vector)?;
                let number = i32::try_from(number).map_err(|_| EmitError::Unplanned(half.op))?;
                Some(self.kept_by(half.op, word, number)?)
            }
        };
        self.steps.purpose = purpose;
        Ok(guard)
    }

    /// A word, and the number that it is below in the first of the threads whose numbers differ in
    /// some bits: where these are the highest, the thread's own number.
    fn below_of_first(&mut self, bits: u32) -> Result<(ExprId, u32), EmitError> {
        let threads = u32::from(self.plan.wave).saturating_add(u32::from(self.plan.warps));
        let all = 1u32.checked_shl(threads).unwrap_or(0);
        let below = 1u32.checked_shl(bits.trailing_zeros()).unwrap_or(0);
        if bits.checked_add(below) == Some(all) {
            return Ok((self.thread, below));
        }
        Ok((self.arena.op_const(IndexOp::And, self.thread, u64::from(bits))?, 1))
    }

    /// Bits of a thread's number that tell those apart that hold the same elements of what an
    /// atomic operation moves: each element is to be combined once.
    fn copies_of(&self, plan: &TransferPlan) -> u32 {
        if self.program.atomic_op(plan.op).is_none() {
            return 0;
        }
        let of = |columns: &[u32], bits: u8| {
            let is_copy = |bit: &u8| columns.get(usize::from(*bit)).is_none_or(|e| *e == 0);
            let all = (0..bits).filter(is_copy).map(|bit| 1u32.wrapping_shl(bit.into()));
            all.fold(0, |mask, bit| mask | bit)
        };
        let warps = of(plan.tiling.warps.as_slice(), self.plan.warps);
        of(plan.tiling.address_lanes.as_slice(), self.plan.wave)
            | warps.wrapping_shl(u32::from(self.plan.wave))
    }

    /// A word that is below zero in the first of the threads whose numbers differ in some bits.
    fn is_first(&mut self, bits: u32) -> Result<Option<ExprId>, EmitError> {
        if bits == 0 {
            return Ok(None);
        }
        let own = self.arena.op_const(IndexOp::And, self.thread, u64::from(bits))?;
        Ok(Some(self.arena.op_const(IndexOp::Add, own, u64::from(u32::MAX))?))
    }

    /// The register of a movement's mask that says whether a lane's first element of an instance is
    /// touched: a truth is all ones, which is below zero, or all zeros.
    #[inline(never)]
    fn truth_of(&mut self, plan: &TransferPlan, instance: u32) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let mask = self.program.mask(plan.op).ok_or(refuse)?;
        let reg = self.beside(plan, mask, instance)?;
        let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
        if reg.class == class {
            return Ok(reg);
        }
        let copy = self.steps.tuple(class, 1)?;
        self.copy_tile(plan.op, reg, copy)?;
        self.steps.purpose = InstKind::Control;
        Ok(copy)
    }

    /// A register with the bytes of each lane's share that a copy reads: all of `share`, or none
    /// beyond the bounds.
    #[inline(never)]
    pub(crate) fn size_within(
        &mut self,
        plan: &TransferPlan,
        end: End,
        instance: u32,
        share: u32,
    ) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let End::Global(k) = end else { return Err(refuse) };
        let global = *self.plan.globals.get(usize::from(k)).ok_or(refuse)?;
        if global.guards == 0 || !share.is_power_of_two() {
            return Err(refuse);
        }
        let purpose = self.steps.purpose;
        self.steps.purpose = InstKind::Control;
        let word = self.inside(plan, &global, instance)?;
        // The word's sign where the share's bit stands.
        let places = u64::from(share.leading_zeros());
        let moved = self.arena.op_const(IndexOp::Shr, word, places)?;
        let size = self.arena.op_const(IndexOp::And, moved, u64::from(share))?;
        let size = self.compute(size, RegBank::Vector)?;
        self.steps.purpose = purpose;
        Ok(size)
    }

    /// A word that is below zero in lanes whose first element of an instance is inside.
    fn inside(
        &mut self,
        plan: &TransferPlan,
        global: &GlobalPlan,
        instance: u32,
    ) -> Result<ExprId, EmitError> {
        let op = plan.op;
        let refuse = EmitError::Unplanned(op);
        let bounds = self.program.bounds(global.memref).ok_or(refuse)?;
        let column = global.map.at(plan.tiling.element(instance));
        let element = u32::from(global.map.shape.bits / 8);
        let mut word = None;
        for (dim, (bound, start)) in bounds.iter().zip(global.starts()).enumerate() {
            if global.guards.checked_shr(dim as u32).unwrap_or(0) & 1 == 0 {
                continue;
            }
            if global.is_indexed(dim) {
                let inside = self.is_index_inside(plan, global, *bound)?;
                word = self.sum(IndexOp::And, word, Some(inside))?;
                continue;
            }
            let start = self.known_index(op, start)?.ok_or(refuse)?;
            let bound = self.bound(op, *bound)?;
            let distance = self.arena.op(IndexOp::Sub, &[start, bound])?;
            // Whether it counts rows, and by how many bytes it goes on.
            let own = match bounds.len().saturating_sub(dim) {
                1 => Some((false, column.bytes, element)),
                2 => Some((true, column.lead, 1)),
                _ => None,
            };
            let at = match own {
                Some((rows, further, unit)) => {
                    let lanes = self.lanes_along(plan, global, rows)?;
                    Some((lanes, further.checked_div(unit).ok_or(refuse)?))
                }
                None => None,
            };
            let of = |this: &mut Self, start| match at {
                Some((lanes, further)) => this.along(start, lanes, further),
                None => Ok(start),
            };
            let own = of(self, distance)?;
            word = self.sum(IndexOp::And, word, Some(own))?;
            if global.may_start_below(dim) {
                let own = of(self, start)?;
                let not_below = self.arena.op_const(IndexOp::Xor, own, u64::from(u32::MAX))?;
                word = self.sum(IndexOp::And, word, Some(not_below))?;
            }
        }
        word.ok_or(refuse)
    }

    /// Where a tensor ends along a dimension.
    pub(crate) fn bound(&mut self, op: Op, bound: MemrefBound) -> Result<ExprId, EmitError> {
        match bound {
            MemrefBound::Number(n) => Ok(self.arena.constant(n)?),
            MemrefBound::Argument(value) => self.parameter(op, value, ParamKind::Scalar),
            MemrefBound::Half(value) => {
                let whole = self.parameter(op, value, ParamKind::Scalar)?;
                Ok(self.arena.op_const(IndexOp::Shr, whole, 1)?)
            }
            MemrefBound::None => Err(EmitError::Unplanned(op)),
        }
    }

    /// A word that is below zero where an index is inside of its tensor: below the bound, and not
    /// below zero itself.
    fn is_index_inside(
        &mut self,
        plan: &TransferPlan,
        global: &GlobalPlan,
        bound: MemrefBound,
    ) -> Result<ExprId, EmitError> {
        let at = self.index_coordinate(plan, global)?;
        let bound = self.bound(plan.op, bound)?;
        let beyond = self.arena.op(IndexOp::Sub, &[at, bound])?;
        let not_below = self.arena.op_const(IndexOp::Xor, at, u64::from(u32::MAX))?;
        Ok(self.arena.op(IndexOp::And, &[beyond, not_below])?)
    }

    /// Which row of the tile, or which column, a lane begins with.
    fn lanes_along(
        &mut self,
        plan: &TransferPlan,
        global: &GlobalPlan,
        rows: bool,
    ) -> Result<Option<ExprId>, EmitError> {
        let lanes = self.thread_bits(&global.map, &plan.tiling, Combine::Xor, rows)?;
        let bytes = u64::from(global.map.shape.bits / 8);
        Ok(match lanes {
            Some(lanes) if !rows => {
                let places = u64::from(bytes.trailing_zeros());
                Some(self.arena.op_const(IndexOp::Shr, lanes, places)?)
            }
            lanes => lanes,
        })
    }

    /// A start with what its lanes and an instance add.
    fn along(
        &mut self,
        start: ExprId,
        lanes: Option<ExprId>,
        further: u32,
    ) -> Result<ExprId, EmitError> {
        let Some(lanes) = lanes else {
            return Ok(self.arena.op_const(IndexOp::Add, start, u64::from(further))?);
        };
        let apart =
            self.arena.facts(lanes).is_some_and(|facts| facts.possible() & u64::from(further) == 0);
        if !apart {
            let lanes = self.arena.op_const(IndexOp::Xor, lanes, u64::from(further))?;
            return Ok(self.arena.op(IndexOp::Add, &[start, lanes])?);
        }
        let first = self.arena.op(IndexOp::Add, &[start, lanes])?;
        if further == 0 {
            return Ok(first);
        }
        let first = self.settled(first, RegBank::Vector)?;
        Ok(self.arena.op_const(IndexOp::Add, first, u64::from(further))?)
    }

    /// Fills what a guarded load leaves as it is in the other lanes.
    pub(crate) fn fill_outside(&mut self, data: Slot) -> Result<(), EmitError> {
        let purpose = self.steps.purpose;
        self.steps.purpose = InstKind::Fill;
        match data {
            Slot::Reg { class, count, first } => {
                self.fill(Reg { class: ClassId(u16::from(class)), first, count }, 0)?;
            }
            Slot::Spread { class, count, first, pattern } => {
                for member in 0..count {
                    let weights = self.steps.patterns.get(usize::from(pattern));
                    let place = weights.map_or(0, |weights| member_offset(weights, member));
                    let first = first.wrapping_add(place);
                    self.fill(Reg { class: ClassId(u16::from(class)), first, count: 1 }, 0)?;
                }
            }
            _ => {}
        }
        self.steps.purpose = purpose;
        Ok(())
    }
}
