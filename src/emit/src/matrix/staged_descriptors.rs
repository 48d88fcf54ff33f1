//! Descriptors of tiles of several buffers: where a tile begins goes on from buffer to buffer in a
//! register, and each turn makes its descriptors of that.

use crate::expr::{ExprId, RegBank, Variable};
use crate::lower::context::{Advance, EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::lower::stages::StagedLoop;
use crate::lower::target::SecondOperand;
use crate::matrix::product::stored;
use crate::pool::EmitPool;
use crate::step::InstKind;
use lanebook_ir::{Loop, Op};
use lanebook_plan::{InShared, ProductPlan};
use lanebook_tables::{FieldRole, IndexOp};
use lanebook_tile::map::Fragment;
use lanebook_tile::product::ProductInput;
use lanebook_tile::unit::descriptor_named;

/// An operand that a product reads from a tile of several buffers.
struct StagedOperand<'p> {
    input: ProductInput,
    given: InShared,
    fragment: &'p Fragment,
    /// Bytes that the descriptor's start counts in, and its first bit.
    scale: u32,
    at: u8,
}

impl StagedOperand<'_> {
    /// What so many bytes are in a descriptor.
    fn start(&self, bytes: u32) -> u32 {
        let units = bytes.checked_div(self.scale).unwrap_or(0);
        units.checked_shl(u32::from(self.at)).unwrap_or(0)
    }
}

impl LowerContext<'_, '_, '_, '_> {
    fn staged_operand<'p>(
        &self,
        plan: &'p ProductPlan,
        input: ProductInput,
    ) -> Option<StagedOperand<'p>> {
        let given = input.of(plan.shared)?;
        let _ = self.plan.allocs.get(usize::from(given.alloc)).filter(|a| a.stages > 1)?;
        let atom = self.machine.tables.atom(plan.product.atom)?;
        let (shape, product) = (plan.product.shape, &plan.product);
        let number = input.of([shape.a, shape.b]);
        let fragment = input.of([&product.a, &product.b]);
        let how = atom.shared(number)?;
        let table =
            descriptor_named(self.machine.tables, self.machine.arch, how.descriptor).ok()?;
        let field = table.fields.iter().find(|f| f.role == FieldRole::Start)?;
        Some(StagedOperand { input, given, fragment, scale: field.scale.max(1), at: field.at })
    }

    /// By how much the descriptors of a product's operand go on from buffer to buffer.
    pub(crate) fn descriptor_step(&self, plan: &ProductPlan, input: ProductInput) -> Option<u32> {
        let operand = self.staged_operand(plan, input)?;
        let tile = self.plan.allocs.get(usize::from(operand.given.alloc))?;
        Some(operand.start(tile.stage_bytes()))
    }

    /// Before its loop: where an operand's first tile begins, as the lower half of a descriptor.
    #[inline(never)]
    pub(crate) fn prepare_lower(
        &mut self,
        plan: &ProductPlan,
        input: ProductInput,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        let operand = self.staged_operand(plan, input).ok_or(unplanned)?;
        let tile = self.plan.allocs.get(usize::from(operand.given.alloc)).ok_or(unplanned)?;
        let warps = self.warp_starts(operand.fragment, &operand.given, tile)?;
        self.steps.purpose = InstKind::FirstAddress;
        let word = u32::try_from(operand.given.word & u64::from(u32::MAX)).unwrap_or(0);
        let more = self.arena.constant(word.wrapping_add(operand.start(tile.offset)))?;
        let node = match self.sum(IndexOp::Add, self.shared_base, warps)? {
            Some(base) => {
                let scale = u64::from(operand.scale.trailing_zeros());
                let units = self.arena.op_const(IndexOp::Shr, base, scale)?;
                let field = self.arena.op_const(IndexOp::Shl, units, u64::from(operand.at))?;
                self.arena.op(IndexOp::Add, &[field, more])?
            }
            None => more,
        };
        let reg = self.compute(node, RegBank::Vector)?;
        let reg = self.copy(reg)?;
        let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        self.keep(number, KeptFor::LowerHalf(input), reg)?;
        let upper = self.upper_half(plan.op, operand.given.word)?;
        let upper = self.compute(upper, RegBank::Vector)?;
        self.keep(number, KeptFor::UpperHalf(input), upper)
    }

    /// The same registers go on by one buffer a turn.
    #[inline(never)]
    pub(crate) fn advance_descriptors(
        &mut self,
        plan: &ProductPlan,
        (parts, staged): (&Loop, &StagedLoop),
        step_of: impl Fn(u32) -> Option<crate::expr::Reg>,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let owner = u16::try_from(parts.op.index()).unwrap_or(u16::MAX);
        for input in ProductInput::BOTH {
            let Some(step) = self.descriptor_step(plan, input) else { continue };
            let reg = self.kept(plan.op, KeptFor::LowerHalf(input)).ok_or(refuse)?;
            let by = step_of(step).ok_or(refuse)?;
            // One buffer before the copies come round.
            self.steps.purpose = InstKind::FurtherAddress;
            if self.is_apart(parts.op) {
                self.go_to_buffer(parts, staged, (reg, step))?;
            } else {
                self.add_in_place(reg, SecondOperand::Number(i64::from(step)), IndexOp::Add)?;
            }
            let capacity = u32::try_from(self.advances.capacity()).unwrap_or(u32::MAX);
            self.advances
                .push(Advance { owner, reg, by: Some(by), bytes: 0, waits: false })
                .map_err(|_| EmitError::full(EmitPool::Advances, capacity))?;
        }
        Ok(())
    }

    /// The descriptors of this turn.
    #[inline(never)]
    pub(crate) fn make_descriptors(&mut self, plan: &ProductPlan) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        for input in ProductInput::BOTH {
            let Some(operand) = self.staged_operand(plan, input) else { continue };
            self.steps.purpose = InstKind::FurtherAddress;
            let lower = self.kept(plan.op, KeptFor::LowerHalf(input)).ok_or(unplanned)?;
            let upper = self.kept(plan.op, KeptFor::UpperHalf(input)).ok_or(unplanned)?;
            let lower = self.declare(Variable::word().level(1), lower)?;
            let lower = self.arena.op(IndexOp::Extend64, &[lower])?;
            let upper = self.declare(Variable::long(), upper)?;
            let first = self.arena.op(IndexOp::Add64, &[upper, lower])?;
            let first = self.compute(first, RegBank::Vector)?;
            let base = self.declare(Variable::long().level(1), first)?;
            let tile = self.plan.allocs.get(usize::from(operand.given.alloc)).ok_or(unplanned)?;
            let (shape, map) = (tile.shape, tile.map().ok_or(unplanned)?);
            let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
            let mut block = 0u32;
            while let Some(e) = block_element(operand.fragment, block) {
                let e = stored(operand.fragment, &operand.given, &shape, e);
                let more = u64::from(operand.start(map.at(e).bytes));
                let reg = match more {
                    0 => first,
                    more => {
                        let node = self.arena.op_const(IndexOp::Add64, base, more)?;
                        self.compute(node, RegBank::Vector)?
                    }
                };
                self.keep(number, KeptFor::Block(operand.input, block), reg)?;
                block = block.saturating_add(1);
            }
        }
        Ok(())
    }

    /// A descriptor's upper half, in its place.
    pub(crate) fn upper_half(&mut self, op: Op, word: u64) -> Result<ExprId, EmitError> {
        // Numbers in instructions have 32 bits: it is made once, from a register.
        let upper = u32::try_from(word >> 32).map_err(|_| EmitError::Unplanned(op))?;
        let upper = self.arena.constant(upper)?;
        let upper = self.settled(upper, RegBank::Vector)?;
        let upper = self.arena.op(IndexOp::Extend64, &[upper])?;
        Ok(self.arena.op_const(IndexOp::Shl64, upper, 32)?)
    }
}

/// The element that a block of an operand begins with, by its number.
pub(crate) fn block_element(fragment: &Fragment, block: u32) -> Option<u32> {
    let shape = fragment.shape;
    let panels = u32::from(shape.grid.rows).saturating_mul(u32::from(shape.grid.cols));
    let bits = u32::try_from(fragment.register.len()).ok()?;
    let inside = 1u32.checked_shl(bits)?;
    let panel = block.checked_div(inside).filter(|panel| *panel < panels)?;
    let high = panel.checked_shl(u32::from(shape.total()))?;
    Some(high | fragment.register.at(block.checked_rem(inside)?))
}
