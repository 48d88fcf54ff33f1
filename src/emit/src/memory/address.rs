//! Addresses: the quotient of a movement as index expressions, computed before the innermost loop
//! around it.
//!
//! An address is `start + lanes ^ phase + immediate`: the part that differs between lanes and warps
//! is one expression, each distinct swizzle phase (and each distinct outer step of a global tile)
//! one more register, and everything else goes into the instruction's offset field as far as the
//! field allows. A counter of the innermost loop is taken out: its part is advanced by the loop
//! itself.

use crate::expr::{BitColumn, ExprId, RegBank, Variable, from_bits};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::interface::ParamKind;
use crate::lower::kept::{KeptFor, MovementEnd};
use crate::memory::repeated_step::AddedSteps;
use crate::memory::tma::BoxPart;
use crate::pool::EmitPool;
use lanebook_ir::{Loop, Op};
use lanebook_plan::{AllocPlan, End, GlobalPlan, Lead, TransferPlan};
use lanebook_tables::{Atom, IndexOp, OffsetField, RegisterKind, Space};
use lanebook_tile::map::{Combine, MemoryMap};
use lanebook_tile::offset::{
    AddressOrigin, Delta, MOST_KEYS, RegisterKey, delta, immediate_start, offset_field,
};
use lanebook_tile::tiling::Tiling;

/// Bytes of a row's front that are added to the lanes' offsets, which are words of 32 bits.
const NEAR: u64 = 1 << 31;

/// One side of one atom of a movement.
#[derive(Copy, Clone)]
pub(crate) struct SideView<'v> {
    /// Which end of the movement.
    pub at: MovementEnd,
    /// The atom's side.
    pub side: &'v lanebook_tables::Side<'v>,
    /// The atom's offset field on this side.
    pub offset: Option<OffsetField>,
    /// That of the second place of each slot.
    pub second: Option<OffsetField>,
    /// The plan's end.
    pub end: End,
    /// The operand that holds the address.
    pub operand: Option<&'v lanebook_tables::Operand<'v>>,
}

impl SideView<'_> {
    /// Whether each lane, or slot, has an address of its own.
    fn has_slots(&self) -> bool {
        self.side.layout.axes().is_ok_and(|axes| axes.contains(&lanebook_layout::AxisId::SLOT))
    }
}

/// The memory sides of a movement's atom. `Space::Register` sides are left out.
pub(crate) fn memory_sides<'v>(
    atom: &'v Atom<'v>,
    from: End,
    to: End,
) -> heapless::Vec<SideView<'v>, 2> {
    let mut out = heapless::Vec::new();
    if let Some(m) = atom.movement.as_ref() {
        for (at, side, end) in [(MovementEnd::From, &m.from, from), (MovementEnd::To, &m.to, to)] {
            if side.space != Space::Register {
                let operand = atom.operands.get(usize::from(side.operand));
                let field = |place| offset_field(m, at == MovementEnd::From, place);
                let (offset, second) = (field(0), field(1));
                let _ = out.push(SideView { at, side, offset, second, end, operand });
            }
        }
    }
    out
}

/// The smallest outer step among the instances.
fn least_lead(map: &MemoryMap, tiling: &Tiling) -> u32 {
    let steps = tiling
        .instances
        .as_slice()
        .iter()
        .map(|&e| map.at(e).lead)
        .chain([map.panels.0.lead, map.panels.1.lead]);
    steps.filter(|&l| l != 0).min().unwrap_or(1)
}

/// An address with the same bytes that lies one step before: by the smallest step, or by the
/// largest bit.
///
/// `before`: the keys of the addresses that are there, in the order of `known`.
fn nearest(
    known: &[ExprId],
    before: &[RegisterKey],
    d: Delta,
    least: u32,
) -> Option<(ExprId, u32)> {
    let top = 1u32.checked_shl(d.lead.checked_ilog2()?)?;
    let panel = d.lead & d.lead.wrapping_neg();
    [least, top, panel].into_iter().find_map(|step| {
        let wanted = (d.phase, d.add, d.lead.checked_sub(step)?);
        let at = before.iter().position(|key| *key == wanted)?;
        Some((*known.get(at)?, step))
    })
}

/// An address that differs in the bytes added alone, and how many more they are now.
fn below(known: &[ExprId], before: &[RegisterKey], d: Delta) -> Option<(ExprId, u32)> {
    let mut found = before.iter().zip(known).filter_map(|(&(phase, add, lead), node)| {
        let more = d.add.checked_sub(add).filter(|_| (phase, lead) == (d.phase, d.lead))?;
        Some((*node, more))
    });
    found.next()
}

/// What addresses in global memory count by: bytes, where the stride is known and no scalar base
/// takes the steps (`counted`).
pub(crate) fn steps_of(map: &MemoryMap, counted: bool) -> AddressOrigin {
    AddressOrigin { start: 0, outer_bytes: map.outer_bytes.filter(|_| !counted) }
}

impl LowerContext<'_, '_, '_, '_> {
    /// Computes every address of a movement that does not change inside `innermost`.
    pub(crate) fn prepare(
        &mut self,
        plan: &TransferPlan,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        if self.addresses.iter().any(|a| a.op == number) {
            return Ok(());
        }
        self.steps.origin = number;
        if plan.tiled.is_some() {
            return self.prepare_tiled(plan, innermost);
        }
        self.prepare_sides(plan, innermost)?;
        match &plan.transpose {
            Some(transpose) => self
                .prepare_transposed(plan, transpose, innermost)
                .and_then(|()| self.prepare_choices(plan, transpose)),
            None => Ok(()),
        }
    }

    /// In the head of a loop of stages: where a copy begins that does not go on evenly.
    #[inline(never)]
    pub(crate) fn prepare_later(&mut self, op: Op, parts: &Loop) -> Result<(), EmitError> {
        let plan = *self.plan.move_of(op).ok_or(EmitError::Unplanned(op))?;
        if self.is_even(&plan, parts) {
            return Ok(());
        }
        self.prepare_part(&plan, false)
    }

    /// Addresses of a movement in shared memory, or of the rest of it.
    #[inline(never)]
    pub(crate) fn prepare_part(
        &mut self,
        plan: &TransferPlan,
        shared: bool,
    ) -> Result<(), EmitError> {
        self.steps.origin = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        if plan.tiled.is_some() {
            let part = if shared { BoxPart::Places } else { BoxPart::Coordinates };
            return self.prepare_boxes(plan, (part, None));
        }
        let refuse = EmitError::Unplanned(plan.op);
        let store = match &plan.transpose {
            Some(transpose) => {
                TransferPlan { tiling: transpose.second(&plan.tiling).ok_or(refuse)?, ..*plan }
            }
            None => *plan,
        };
        for (number, own) in [(Some(plan.atom), plan), (plan.second, &store)] {
            let Some(number) = number else { continue };
            let atom = self.machine.tables.atom(number).ok_or(refuse)?;
            for view in &memory_sides(atom, plan.from, plan.to) {
                if (view.side.space == Space::Shared) == shared {
                    self.prepare_side(own, view, None)?;
                }
            }
        }
        match &plan.transpose {
            Some(transpose) if shared => self.prepare_choices(plan, transpose),
            _ => Ok(()),
        }
    }

    /// The same, whatever is known already.
    pub(crate) fn prepare_sides(
        &mut self,
        plan: &TransferPlan,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        let tables = self.machine.tables;
        self.steps.origin = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        let first = tables.atom(plan.atom).ok_or(EmitError::Unplanned(plan.op))?;
        for view in &memory_sides(first, plan.from, plan.to) {
            self.prepare_side(plan, view, innermost)?;
        }
        if let Some(second) = plan.second.filter(|_| plan.transpose.is_none()) {
            let second = tables.atom(second).ok_or(EmitError::Unplanned(plan.op))?;
            for view in &memory_sides(second, plan.from, plan.to) {
                self.prepare_side(plan, view, innermost)?;
            }
        }
        Ok(())
    }

    pub(crate) fn prepare_side(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        match view.end {
            End::Shared(k) => {
                let alloc = self.plan.allocs.get(usize::from(k)).ok_or(unplanned)?;
                self.prepare_shared_side(plan, view, alloc)
            }
            End::Global(k) => {
                let global = self.plan.globals.get(usize::from(k)).ok_or(unplanned)?;
                if global.indexed.is_some() {
                    return self.prepare_indexed_side(plan, view, global, innermost);
                }
                self.prepare_global(plan, view, global, innermost)
            }
            End::Registers(_) => Ok(()),
        }
    }

    /// The same of a shared tile.
    #[inline(never)] // A tile's map stands on the stack only where it is asked for.
    fn prepare_shared_side(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        alloc: &AllocPlan,
    ) -> Result<(), EmitError> {
        let map = alloc.map().ok_or(EmitError::Unplanned(plan.op))?;
        // A run's start stands in a register that the text does not show.
        if view.operand.is_some_and(|operand| operand.implicit) {
            self.prepare_run(plan, view, &map, alloc.offset)
        } else {
            self.prepare_shared(plan, view, &map, alloc)
        }
    }

    /// The same of a global tile of which a tile of indices says where its elements lie.
    #[inline(never)] // So does another global tile's map.
    fn prepare_indexed_side(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        global: &GlobalPlan,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        let placed = GlobalPlan { map: global.placed(), ..*global };
        self.prepare_indexed(plan, &placed)?;
        self.prepare_global(plan, view, &placed, innermost)
    }

    /// Bits of the thread number with what they add: bytes, or outer steps if it is `lead` that
    /// counts.
    pub(crate) fn thread_bits(
        &mut self,
        map: &MemoryMap,
        tiling: &Tiling,
        combine: Combine,
        lead: bool,
    ) -> Result<Option<ExprId>, EmitError> {
        let lanes = tiling.address_lanes.as_slice();
        self.spread_bits(self.thread, (lanes, tiling.warps.as_slice()), map, combine, lead)
    }

    /// The same of a side's addresses: where there is one for the whole wave, lanes add nothing to
    /// it.
    fn address_bits(
        &mut self,
        view: &SideView<'_>,
        map: &MemoryMap,
        tiling: &Tiling,
        combine: Combine,
        lead: bool,
    ) -> Result<Option<ExprId>, EmitError> {
        if view.has_slots() {
            return self.thread_bits(map, tiling, combine, lead);
        }
        let value = match self.address_bank(view) {
            RegBank::Scalar => self.wave_start()?,
            _ => self.thread,
        };
        self.spread_bits(value, (&[], tiling.warps.as_slice()), map, combine, lead)
    }

    /// Where a side's address stands: for the whole wave in a scalar register, if the operand takes
    /// no other.
    fn address_bank(&self, view: &SideView<'_>) -> RegBank {
        let takes = |kind: RegisterKind| {
            view.operand.is_some_and(|operand| {
                self.machine.kind(operand.class) == Some(kind)
                    || operand.also.iter().any(|class| self.machine.kind(*class) == Some(kind))
            })
        };
        if takes(RegisterKind::Scalar) && !takes(RegisterKind::Vector) {
            RegBank::Scalar
        } else {
            RegBank::Vector
        }
    }

    #[inline(never)]
    fn spread_bits(
        &mut self,
        value: ExprId,
        (lanes, warps): (&[u32], &[u32]),
        map: &MemoryMap,
        combine: Combine,
        lead: bool,
    ) -> Result<Option<ExprId>, EmitError> {
        let mut columns: heapless::Vec<BitColumn, 16> = heapless::Vec::new();
        let wave = self.plan.wave;
        for (bit, &e) in (0u8..).zip(lanes).chain((wave..).zip(warps)) {
            let column = map.at(e);
            let column = if lead { column.lead } else { column.bytes };
            if column != 0 {
                columns
                    .push(BitColumn { value, bit, column })
                    .map_err(|_| EmitError::full(EmitPool::AddressBits, 16))?;
            }
        }
        if columns.is_empty() {
            return Ok(None);
        }
        Ok(Some(from_bits(&mut self.arena, &columns, combine, 0)?))
    }

    #[inline(never)]
    fn prepare_shared(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        map: &MemoryMap,
        tile: &AllocPlan,
    ) -> Result<(), EmitError> {
        use crate::step::InstKind;
        let bank = self.address_bank(view);
        let mut start = self.address_bits(view, map, &plan.tiling, map.combine, false)?;
        let immediate = immediate_start(tile.offset, tile.bytes, view.offset);
        let fixed = match (self.shared_base, tile.offset.wrapping_sub(immediate)) {
            (base, 0) => base,
            (None, rest) => Some(self.arena.constant(rest)?),
            (Some(base), rest) => Some(self.arena.op_const(IndexOp::Add, base, u64::from(rest))?),
        };
        // Where the tile's start keeps clear of every bit that phases change, it can be added before
        // them.
        let before = if tile.is_clear() { fixed } else { None };
        let behind = if tile.is_clear() { None } else { fixed };
        start = self.sum(IndexOp::Add, start, before)?;
        let start = match start {
            Some(start) => start,
            None => self.arena.constant(0)?,
        };
        let origin = AddressOrigin { start: immediate, outer_bytes: None };
        self.for_each_delta(plan, (map, origin), view.offset, |this, d, before| {
            this.steps.purpose =
                if before.is_empty() { InstKind::FirstAddress } else { InstKind::FurtherAddress };
            let node = this.exclusive(Some(start), d.phase)?;
            let node = this.sum(IndexOp::Add, node, behind)?;
            let node = this.further(node, d.add)?.unwrap_or(start);
            let reg = this.compute(node, bank)?;
            let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
            this.keep(number, KeptFor::Lane(view.at, d.key()), reg)
        })
    }

    /// Calls `f` once for each distinct register key among the instances, the first instance's
    /// first, with the keys that came before.
    pub(crate) fn for_each_delta(
        &mut self,
        plan: &TransferPlan,
        (map, origin): (&MemoryMap, AddressOrigin),
        field: Option<OffsetField>,
        mut f: impl FnMut(&mut Self, Delta, &[RegisterKey]) -> Result<(), EmitError>,
    ) -> Result<(), EmitError> {
        let mut seen: heapless::Vec<RegisterKey, MOST_KEYS> = heapless::Vec::new();
        for i in 0..plan.tiling.count() {
            let d = delta(map, &plan.tiling, plan.tiling.element(i), origin, field);
            let key = d.key();
            if seen.contains(&key) {
                continue;
            }
            f(self, d, &seen)?;
            seen.push(key)
                .map_err(|_| EmitError::full(EmitPool::MovementAddresses, MOST_KEYS as u32))?;
        }
        Ok(())
    }

    /// Bytes of the outer stride as an expression.
    pub(crate) fn outer_bytes(&mut self, op: Op, global: &GlobalPlan) -> Result<ExprId, EmitError> {
        if let Some(bytes) = global.map.outer_bytes {
            return Ok(self.arena.constant(bytes)?);
        }
        self.stride_bytes(op, global, global.leads().count())
    }

    /// Bytes from one element to the next of a memref's dimension, which its type does not say.
    fn stride_bytes(
        &mut self,
        op: Op,
        global: &GlobalPlan,
        dim: usize,
    ) -> Result<ExprId, EmitError> {
        let dim = u8::try_from(dim).map_err(|_| EmitError::Unplanned(op))?;
        let stride = self.parameter(op, global.memref, ParamKind::Stride(dim))?;
        let element = u64::from(global.map.shape.bits / 8);
        Ok(self.arena.op_const(IndexOp::Mul, stride, element)?)
    }

    /// Bytes from one index of a dimension in front of the tile's to the next as an expression.
    pub(crate) fn lead_bytes(
        &mut self,
        op: Op,
        global: &GlobalPlan,
        dim: usize,
        lead: &Lead,
    ) -> Result<ExprId, EmitError> {
        match lead.bytes {
            Some(bytes) => Ok(self.arena.constant(bytes)?),
            None => self.stride_bytes(op, global, dim),
        }
    }

    /// Where a tile's matrix begins.
    #[inline(never)]
    fn matrix_start(
        &mut self,
        op: Op,
        global: &GlobalPlan,
        innermost: Option<&Loop>,
    ) -> Result<ExprId, EmitError> {
        let mut at = self.parameter(op, global.memref, ParamKind::Pointer)?;
        for (dim, lead) in global.leads().enumerate() {
            if global.is_indexed(dim) {
                continue;
            }
            let bytes = self.lead_bytes(op, global, dim, lead)?;
            let number = self.index_value(op, lead.start, innermost)?;
            at = match global.may_start_below(dim) {
                true => self.add_signed_product(Some(at), number, bytes)?,
                false => self.add_product(Some(at), number, bytes)?,
            }
            .unwrap_or(at);
        }
        Ok(at)
    }

    #[inline(never)]
    fn prepare_global(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        global: &GlobalPlan,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        use crate::step::InstKind;
        let op = plan.op;
        // Of the one branch or the other.
        let mut known: heapless::Vec<ExprId, MOST_KEYS> = heapless::Vec::new();
        let mut added = AddedSteps::new();
        self.steps.purpose = InstKind::FirstAddress;
        let element = u64::from(global.map.shape.bits / 8);
        let pointer = self.matrix_start(op, global, innermost)?;
        let outer_bytes = self.outer_bytes(op, global)?;
        // What an index counts from is part of the index.
        let rank = global.rank();
        let outer = match global.start.0 {
            Some(row) if !global.is_indexed(rank.saturating_sub(2)) => {
                self.index_value(op, row, innermost)?
            }
            _ => None,
        };
        let inner = match global.is_indexed(rank.saturating_sub(1)) {
            true => None,
            false => self.index_value(op, global.start.1, innermost)?,
        };
        let bank = self.address_bank(view);
        let outer_lanes = self.address_bits(view, &global.map, &plan.tiling, Combine::Xor, true)?;
        let inner_lanes =
            self.address_bits(view, &global.map, &plan.tiling, Combine::Xor, false)?;
        let split = view.side.base.is_some();
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        // The wave-uniform part, 64 bits.
        let mut uniform = Some(pointer);
        // What may be below zero is multiplied by itself: rows of lanes are not.
        let (mut outer, mut inner) = (outer, inner);
        if global.may_start_below(rank.saturating_sub(2)) {
            uniform = self.add_signed_product(uniform, outer.take(), outer_bytes)?;
        }
        if global.may_start_below(rank.saturating_sub(1)) {
            let size = self.arena.constant(u32::from(global.map.shape.bits / 8))?;
            uniform = self.add_signed_product(uniform, inner.take(), size)?;
        }
        if split {
            uniform = self.add_product(uniform, outer, outer_bytes)?;
            uniform = self.add_scaled(uniform, inner, element)?;
            let node = uniform.unwrap_or(pointer);
            let computed = self.compute(node, RegBank::Scalar)?;
            let reg = self.own(op, computed, innermost, global)?;
            self.keep(number, KeptFor::Base(view.at), reg)?;
            self.advance(op, reg, global, outer_bytes, innermost)?;
            let least = least_lead(&global.map, &plan.tiling);
            let rows = self.strides(plan, view, &global.map);
            if let Some(rows) = &rows {
                self.prepare_strides(op, view.at, rows, outer_bytes)?;
            }
            // What the scalar base takes is counted in outer steps.
            let origin = steps_of(&global.map, rows.is_some());
            return self.for_each_delta(
                plan,
                (&global.map, origin),
                view.offset,
                |this, d, before| {
                    let d = if rows.is_some() { Delta { lead: 0, ..d } } else { d };
                    if rows.is_some() && this.kept(op, KeptFor::Lane(view.at, d.key())).is_some() {
                        return Ok(());
                    }
                    this.steps.purpose = if before.is_empty() {
                        InstKind::FirstAddress
                    } else {
                        InstKind::FurtherAddress
                    };
                    let reg = match nearest(&known, before, d, least) {
                        _ if let Some((from, more)) = below(&known, before, d) => {
                            let node = this.arena.op_const(IndexOp::Add, from, u64::from(more))?;
                            this.compute(node, RegBank::Vector)?
                        }
                        // One step from an offset that is there already: the step is the same in
                        // all lanes.
                        Some((from, step))
                            if outer_lanes.is_none_or(|l| {
                                this.arena
                                    .facts(l)
                                    .is_some_and(|f| f.possible() & u64::from(d.lead) == 0)
                            }) =>
                        {
                            let far =
                                this.arena.op_const(IndexOp::Mul, outer_bytes, u64::from(step))?;
                            let sum = (IndexOp::Add, from, far);
                            this.add_step(sum, RegBank::Vector, &mut added)?.1
                        }
                        _ => {
                            let rows = this.exclusive(outer_lanes, d.lead)?;
                            let offset = match rows {
                                Some(rows) => {
                                    Some(this.arena.op(IndexOp::Mul, &[rows, outer_bytes])?)
                                }
                                None => None,
                            };
                            let columns = this.exclusive(inner_lanes, d.phase)?;
                            let columns = this.further(columns, d.add)?;
                            let node = match this.sum(IndexOp::Add, offset, columns)? {
                                Some(node) => node,
                                None => this.arena.constant(0)?,
                            };
                            this.compute(node, RegBank::Vector)?
                        }
                    };
                    let node = this.declare(Variable::word(), reg)?;
                    known.push(node).map_err(|_| {
                        EmitError::full(EmitPool::MovementAddresses, MOST_KEYS as u32)
                    })?;
                    this.keep(number, KeptFor::Lane(view.at, d.key()), reg)
                },
            );
        }
        if global.indexed.is_some() {
            uniform = self.add_product(uniform, outer, outer_bytes)?;
            uniform = self.add_scaled(uniform, inner, element)?;
            let base = uniform.unwrap_or(pointer);
            self.places_before_index(plan, view, global, base, (outer_lanes, inner_lanes))?;
            return self.advance_places((op, view.at), global, outer_bytes, innermost);
        }
        // One 64-bit address a lane; further outer steps are added to it. Where the tile begins in
        // its row is known to be near, or part of what is the same in all lanes.
        let near = inner.is_none_or(|node| self.is_near(node, element));
        if !near {
            uniform = self.add_scaled(uniform, inner, element)?;
        }
        let rows = self.sum(IndexOp::Add, outer, outer_lanes)?;
        let start = self.add_product(uniform, rows, outer_bytes)?;
        let inner_bytes = match inner.filter(|_| near) {
            Some(inner) => Some(self.arena.op_const(IndexOp::Mul, inner, element)?),
            None => None,
        };
        let plain = start.unwrap_or(pointer);
        let least = least_lead(&global.map, &plan.tiling);
        let origin = steps_of(&global.map, false);
        self.for_each_delta(plan, (&global.map, origin), view.offset, |this, d, before| {
            this.steps.purpose =
                if before.is_empty() { InstKind::FirstAddress } else { InstKind::FurtherAddress };
            // A step is the same in all lanes where none of its bits is one of theirs.
            let own = outer_lanes.is_some_and(|lanes| {
                let facts = this.arena.facts(lanes);
                facts.is_none_or(|f| f.possible() & u64::from(d.lead) != 0)
            });
            let (node, reg) = if let Some((from, more)) = below(&known, before, d) {
                let more = this.arena.constant(more)?;
                let more = this.arena.op(IndexOp::Extend64, &[more])?;
                let node = this.arena.op(IndexOp::Add64, &[from, more])?;
                (node, this.compute(node, bank)?)
            } else if d.lead == 0 || own {
                let plain = if d.lead == 0 {
                    plain
                } else {
                    let rows = this.exclusive(outer_lanes, d.lead)?;
                    let rows = this.sum(IndexOp::Add, outer, rows)?;
                    this.add_product(uniform, rows, outer_bytes)?.unwrap_or(pointer)
                };
                let columns = this.exclusive(inner_lanes, d.phase)?;
                let columns = this.sum(IndexOp::Add, inner_bytes, columns)?;
                let node = match this.further(columns, d.add)? {
                    Some(columns) => {
                        let wide = this.arena.op(IndexOp::Extend64, &[columns])?;
                        this.arena.op(IndexOp::Add64, &[plain, wide])?
                    }
                    None => plain,
                };
                (node, this.compute(node, bank)?)
            } else {
                // From the nearest address that is there already, by one step.
                let (from, step) =
                    nearest(&known, before, d, least).ok_or(EmitError::Unplanned(op))?;
                let step = this.arena.constant(step)?;
                let step = this.arena.op(IndexOp::MulWide64, &[step, outer_bytes])?;
                this.add_step((IndexOp::Add64, from, step), bank, &mut added)?
            };
            // What was computed is the node in its simplest form: the next step starts from this
            // one.
            this.selector.remember(node, reg);
            known
                .push(node)
                .map_err(|_| EmitError::full(EmitPool::MovementAddresses, MOST_KEYS as u32))?;
            this.keep(number, KeptFor::Lane(view.at, d.key()), reg)
        })?;
        self.advance_places((op, view.at), global, outer_bytes, innermost)
    }

    /// Whether so many elements are certainly few enough that their bytes and a tile's make a word
    /// of 32 bits.
    fn is_near(&self, node: ExprId, element: u64) -> bool {
        let high = self.arena.facts(node).map(|facts| facts.high.saturating_mul(element));
        high.is_some_and(|bytes| bytes < NEAR)
    }

    /// `node` with known bits XORed in; absent stands for zero.
    pub(crate) fn exclusive(
        &mut self,
        node: Option<ExprId>,
        bits: u32,
    ) -> Result<Option<ExprId>, EmitError> {
        Ok(match (node, bits) {
            (node, 0) => node,
            (None, bits) => Some(self.arena.constant(bits)?),
            (Some(node), bits) => Some(self.arena.op_const(IndexOp::Xor, node, u64::from(bits))?),
        })
    }

    /// `node` and so many bytes; absent stands for zero.
    pub(crate) fn further(
        &mut self,
        node: Option<ExprId>,
        bytes: u32,
    ) -> Result<Option<ExprId>, EmitError> {
        Ok(match (node, bytes) {
            (node, 0) => node,
            (None, bytes) => Some(self.arena.constant(bytes)?),
            (Some(node), bytes) => {
                Some(self.arena.op_const(IndexOp::Add, node, u64::from(bytes))?)
            }
        })
    }

    /// A node computed now and a variable from here on, so that later expressions start from its
    /// register.
    pub(crate) fn settled(&mut self, node: ExprId, place: RegBank) -> Result<ExprId, EmitError> {
        if let Some((_, variable)) = self.settled.iter().find(|(n, _)| *n == node) {
            return Ok(*variable);
        }
        let reg = self.compute(node, place)?;
        let variable =
            if place == RegBank::Scalar { Variable::word().uniform() } else { Variable::word() };
        let variable = self.declare(variable, reg)?;
        // A full list only costs a second computation.
        let _ = self.settled.push((node, variable));
        Ok(variable)
    }

    fn add_product(
        &mut self,
        to: Option<ExprId>,
        count: Option<ExprId>,
        bytes: ExprId,
    ) -> Result<Option<ExprId>, EmitError> {
        let product = match count {
            Some(count) => Some(self.arena.op(IndexOp::MulWide64, &[count, bytes])?),
            None => None,
        };
        self.sum(IndexOp::Add64, to, product)
    }

    /// A product as [`Self::add_product`] adds it, of a count with a sign: without one it is too
    /// much by the bytes' 2^32-fold where the count is below zero.
    fn add_signed_product(
        &mut self,
        to: Option<ExprId>,
        count: Option<ExprId>,
        bytes: ExprId,
    ) -> Result<Option<ExprId>, EmitError> {
        let Some(number) = count else { return Ok(to) };
        let zero = self.arena.constant(0)?;
        let is_below = self.arena.op_const(IndexOp::Shr, number, 31)?;
        let less = self.arena.op(IndexOp::Sub, &[zero, bytes])?;
        let less = self.arena.op(IndexOp::Mul, &[is_below, less])?;
        let less = self.arena.op(IndexOp::Extend64, &[less])?;
        let less = self.arena.op_const(IndexOp::Shl64, less, 32)?;
        let to = self.sum(IndexOp::Add64, to, Some(less))?;
        self.add_product(to, count, bytes)
    }

    fn add_scaled(
        &mut self,
        to: Option<ExprId>,
        count: Option<ExprId>,
        bytes: u64,
    ) -> Result<Option<ExprId>, EmitError> {
        let product = match count {
            Some(count) => {
                let size = self.arena.constant(u32::try_from(bytes).unwrap_or(1))?;
                Some(self.arena.op(IndexOp::MulWide64, &[count, size])?)
            }
            None => None,
        };
        self.sum(IndexOp::Add64, to, product)
    }
}
