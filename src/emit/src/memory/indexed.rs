//! Indices: where a tile says along a dimension of a memref which place each element has.
//!
//! What is the same for all elements of an instance, and what its lanes add along the other
//! dimensions, is an address as of any tile, computed before the loops that do not change it. An
//! instance takes its index out of the tile, with a step that says so, adds where it counts from,
//! and puts so many strides on top. Its coordinate is one number of 32 bits, from which the address
//! and the guard are both made.

use crate::expr::{ExprId, Reg, RegBank, Variable};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::memory::address::{SideView, steps_of};
use crate::step::{InstKind, Slot};
use lanebook_ir::{MemrefBound, Value};
use lanebook_plan::{End, GlobalPlan, TransferPlan};
use lanebook_tables::{Atom, AtomId, IndexOp, RegisterKind};

/// Variables that each instance fills anew.
#[derive(Copy, Clone, Debug)]
pub struct IndexedPlace {
    /// Its index; none before the first.
    index: ExprId,
    /// Its address without the index.
    start: ExprId,
    /// Where the tile begins.
    base: ExprId,
    /// What a lane adds to that.
    lane: ExprId,
}

impl IndexedPlace {
    /// Before the first instance.
    pub(crate) const NONE: Self =
        Self { index: ExprId::NONE, start: ExprId::NONE, base: ExprId::NONE, lane: ExprId::NONE };
}

impl LowerContext<'_, '_, '_, '_> {
    /// The tile of global memory of a movement, where indices say where its elements lie.
    pub(crate) fn indexed_tile(&self, plan: &TransferPlan) -> Option<&GlobalPlan> {
        [plan.from, plan.to].into_iter().find_map(|end| match end {
            End::Global(k) => {
                self.plan.globals.get(usize::from(k)).filter(|global| global.indexed.is_some())
            }
            _ => None,
        })
    }

    /// The register of a tile that is distributed as what a movement moves, which has what belongs
    /// to a lane's first element of an instance.
    pub(crate) fn beside(
        &mut self,
        plan: &TransferPlan,
        tile: Value,
        instance: u32,
    ) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let ((End::Registers(k), _) | (_, End::Registers(k))) = (plan.from, plan.to) else {
            return Err(refuse);
        };
        let moved = &self.plan.fragments.get(usize::from(k)).ok_or(refuse)?.fragment;
        let place = plan
            .tiling
            .first_bit(instance)
            .checked_div(u32::from(moved.place_bits()))
            .and_then(|place| u16::try_from(place).ok())
            .ok_or(refuse)?;
        let source = self.source(plan.op, tile)?;
        self.register(&source, place).ok_or(refuse)
    }

    /// Makes available before loops what indices are multiplied by.
    #[inline(never)]
    pub(crate) fn prepare_indexed(
        &mut self,
        plan: &TransferPlan,
        global: &GlobalPlan,
    ) -> Result<(), EmitError> {
        let stride = self.index_stride(plan, global)?;
        let stride = self.simplified(stride)?;
        if self.arena.constant_value(stride).is_none() {
            self.compute(stride, RegBank::Any)?;
        }
        Ok(())
    }

    /// Addresses without what indices add: where the tile begins, and what lanes and instances add
    /// along the other dimensions, a word of 32 bits.
    #[inline(never)]
    pub(crate) fn places_before_index(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        global: &GlobalPlan,
        base: ExprId,
        (rows, columns): (Option<ExprId>, Option<ExprId>),
    ) -> Result<(), EmitError> {
        let op = plan.op;
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let base = self.compute(base, self.uniform_bank())?;
        let base = self.refilled(self.indexed.base, Variable::long().uniform(), base)?;
        self.indexed.base = base;
        let outer_bytes = self.outer_bytes(op, global)?;
        let origin = steps_of(&global.map, false);
        self.for_each_delta(plan, (&global.map, origin), view.offset, |this, d, _| {
            let rows = this.exclusive(rows, d.lead)?;
            let rows = match rows {
                Some(rows) => Some(this.arena.op(IndexOp::Mul, &[rows, outer_bytes])?),
                None => None,
            };
            let columns = this.exclusive(columns, d.phase)?;
            let columns = this.further(columns, d.add)?;
            let reg = match this.sum(IndexOp::Add, rows, columns)? {
                None => this.compute(base, RegBank::Any)?,
                Some(lane) => {
                    let lane = this.compute(lane, RegBank::Vector)?;
                    let mark = this.steps.next_register();
                    let lane = this.refilled(this.indexed.lane, Variable::word(), lane)?;
                    this.indexed.lane = lane;
                    let wide = this.arena.op(IndexOp::Extend64, &[lane])?;
                    let node = this.arena.op(IndexOp::Add64, &[base, wide])?;
                    let reg = this.compute(node, RegBank::Vector)?;
                    // The next one has another lane's part.
                    this.selector.forget_from(mark);
                    reg
                }
            };
            this.keep(number, KeptFor::Lane(view.at, d.key()), reg)
        })
    }

    /// Bytes from one index to the next.
    fn index_stride(
        &mut self,
        plan: &TransferPlan,
        global: &GlobalPlan,
    ) -> Result<ExprId, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let dim = usize::from(global.indexed.ok_or(refuse)?);
        if let Some(lead) = global.leads().nth(dim) {
            return self.lead_bytes(plan.op, global, dim, lead);
        }
        if dim.saturating_add(1) < global.rank() {
            return self.outer_bytes(plan.op, global);
        }
        Ok(self.arena.constant(u32::from(global.map.shape.bits / 8))?)
    }

    /// The coordinate of an instance's first element along the dimension of its index.
    pub(crate) fn index_coordinate(
        &mut self,
        plan: &TransferPlan,
        global: &GlobalPlan,
    ) -> Result<ExprId, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let index = self.indexed.index;
        let dim = usize::from(global.indexed.ok_or(refuse)?);
        let start = global.starts().nth(dim).ok_or(refuse)?;
        // It was computed before the first instance.
        let start = self.known_index(plan.op, start)?.ok_or(refuse)?;
        if self.arena.constant_value(start) == Some(0) {
            return Ok(index);
        }
        Ok(self.sum(IndexOp::Add, Some(index), Some(start))?.unwrap_or(index))
    }

    /// A register with an instance's address: `start` and so many strides.
    pub(crate) fn at_index(&mut self, plan: &TransferPlan, start: Reg) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let global = *self.indexed_tile(plan).ok_or(refuse)?;
        self.steps.purpose = InstKind::FurtherAddress;
        let held = self.refilled(self.indexed.start, Variable::long(), start)?;
        self.indexed.start = held;
        let coordinate = self.index_coordinate(plan, &global)?;
        let stride = self.index_stride(plan, &global)?;
        let further = self.arena.op(IndexOp::MulWide64, &[coordinate, stride])?;
        let node = self.arena.op(IndexOp::Add64, &[held, further])?;
        self.compute(node, RegBank::Vector)
    }

    /// One instruction of a movement whose elements lie where indices say.
    #[inline(never)]
    pub(crate) fn indexed_instance(
        &mut self,
        plan: &TransferPlan,
        (id, atom): (AtomId, &Atom<'_>),
        instance: u32,
        data: Option<Slot>,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let tile = self.program.index_tile(plan.op).ok_or(refuse)?;
        let mark = self.steps.next_register();
        let found = self.beside(plan, tile, instance)?;
        let class = self.machine.class(RegisterKind::Vector, 32).ok_or(refuse)?;
        let index = self.steps.tuple(class, 1)?;
        self.copy_tile(plan.op, found, index)?;
        if let Some(last) = self.steps.steps.last_mut() {
            last.purpose = InstKind::Index;
        }
        let node = self.refilled(self.indexed.index, Variable::word(), index)?;
        self.indexed.index = node;
        self.instance(plan, id, atom, instance, data)?;
        // The next instance has another index.
        self.forget_since(mark);
        Ok(())
    }

    /// Numbers that do not change from instance to instance.
    #[inline(never)]
    pub(crate) fn indexed_start(&mut self, plan: &TransferPlan) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let global = *self.indexed_tile(plan).ok_or(refuse)?;
        self.steps.purpose = InstKind::FurtherAddress;
        for start in global.starts() {
            self.index_value(plan.op, start, None)?;
        }
        let bounds = self.program.bounds(global.memref).unwrap_or_default();
        for bound in &bounds {
            if let MemrefBound::Argument(value) | MemrefBound::Half(value) = *bound {
                let kind = crate::lower::interface::ParamKind::Scalar;
                self.parameter(plan.op, value, kind)?;
            }
        }
        self.prepare_indexed(plan, &global)
    }

    /// A variable with another register than before.
    fn refilled(&mut self, node: ExprId, kind: Variable, reg: Reg) -> Result<ExprId, EmitError> {
        if node == ExprId::NONE {
            return self.declare(kind, reg);
        }
        if let Some(crate::expr::Expr::Var(var)) = self.arena.get(node)
            && let Some(place) = self.registers.get_mut(var.index())
        {
            *place = Some(reg);
        }
        self.selector.forget(node);
        self.selector.remember(node, reg);
        Ok(node)
    }
}
