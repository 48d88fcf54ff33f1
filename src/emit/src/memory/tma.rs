//! Copies through tensor maps: one thread announces the bytes, then starts one copy a box.
//!
//! An instance's coordinates are the tile's start and what the instance's element adds; a
//! coordinate that the innermost loop moves is advanced by the loop. Bytes are announced once for
//! all movements that share an mbarrier, before the first of them. Copies out of shared
//! memory complete otherwise: by steps that stand before whatever writes their source again, and
//! before the kernel's end.

use crate::expr::{Reg, RegBank};
use crate::lower::context::{Advance, EmitError, LowerContext};
use crate::lower::index::Moved;
use crate::lower::interface::ParamKind;
use crate::lower::kept::KeptFor;
use crate::pool::EmitPool;
use crate::step::{InstKind, Slot, slot};
use crate::sync::mbarrier::MbarrierRegs;
use crate::sync::order::{PendingAccesses, push};
use lanebook_ir::{Loop, Value};
use lanebook_plan::{End, GlobalPlan, MAP_RANK, TiledPlan, TransferPlan};
use lanebook_tables::{IndexOp, SyncStep, TiledMove};
use lanebook_tile::unit::has;

/// Most steps before a kernel's end.
const LAST: usize = 16;

/// A tiled movement with what it refers to.
struct TiledCopy<'t> {
    form: &'t TiledMove<'t>,
    plan: TiledPlan,
    global: GlobalPlan,
    alloc: u16,
    order: [u8; MAP_RANK],
}

/// What of boxes is computed.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum BoxPart {
    /// All of it.
    Whole,
    /// Where they are in shared memory, and the map's address.
    Places,
    /// Where they begin in the tensor.
    Coordinates,
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    fn tiled(&self, plan: &TransferPlan) -> Result<TiledCopy<'t>, EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        let tiled = plan.tiled.ok_or(unplanned)?;
        let form =
            self.machine.tables.units.tiled_moves.get(usize::from(tiled.form)).ok_or(unplanned)?;
        let map = self.plan.maps.get(usize::from(tiled.map)).ok_or(unplanned)?;
        let (End::Global(g), End::Shared(alloc)) =
            (if form.loads { (plan.from, plan.to) } else { (plan.to, plan.from) })
        else {
            return Err(unplanned);
        };
        let global = *self.plan.globals.get(usize::from(g)).ok_or(unplanned)?;
        Ok(TiledCopy { form, plan: tiled, global, alloc, order: map.order })
    }

    /// Where the tile starts along each dimension of the map, and what an instance adds: in
    /// elements, innermost first.
    fn coordinate(
        tiled: &TiledCopy<'_>,
        plan: &TransferPlan,
        instance: u32,
        dim: usize,
    ) -> Option<(Value, u32)> {
        let (row, col) = tiled.global.map.shape.position(plan.tiling.element(instance));
        let dim = usize::from(*tiled.order.get(dim)?);
        match dim.checked_sub(tiled.global.leads().count()) {
            None => tiled.global.leads().nth(dim).map(|lead| (lead.start, 0)),
            Some(0) => tiled.global.start.0.map(|start| (start, row)),
            Some(1) => Some((tiled.global.start.1, col)),
            Some(_) => None,
        }
    }

    /// Computes what does not change inside `innermost`: the map's address, the tile's places and
    /// the coordinates' starts.
    #[inline(never)]
    pub(crate) fn prepare_tiled(
        &mut self,
        plan: &TransferPlan,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        self.prepare_boxes(plan, (BoxPart::Whole, innermost))
    }

    /// The same, or a part of it.
    #[inline(never)]
    pub(crate) fn prepare_boxes(
        &mut self,
        plan: &TransferPlan,
        (part, innermost): (BoxPart, Option<&Loop>),
    ) -> Result<(), EmitError> {
        let op = plan.op;
        let unplanned = EmitError::Unplanned(op);
        let tiled = self.tiled(plan)?;
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::FirstAddress;
        let _ = self.first_thread()?;
        let _ = self.parameter(op, tiled.global.memref, ParamKind::Map(tiled.plan.map))?;
        let alloc = self.plan.allocs.get(usize::from(tiled.alloc)).ok_or(unplanned)?;
        let places = alloc.map().ok_or(unplanned)?;
        for instance in 0..plan.tiling.count() {
            self.steps.purpose =
                if instance == 0 { InstKind::FirstAddress } else { InstKind::FurtherAddress };
            if part != BoxPart::Coordinates {
                let bytes =
                    alloc.offset.saturating_add(places.at(plan.tiling.element(instance)).bytes);
                let node = self.shared_address(bytes)?;
                let reg = self.compute(node, RegBank::Vector)?;
                self.keep(number, KeptFor::BoxPlace(instance), reg)?;
            }
            if part == BoxPart::Places {
                continue;
            }
            for dim in 0..tiled.form.at.len().min(MAP_RANK) {
                let (start, more) =
                    Self::coordinate(&tiled, plan, instance, dim).ok_or(unplanned)?;
                let what = KeptFor::BoxCoordinate(u8::try_from(dim).unwrap_or(u8::MAX), more);
                if self.kept(op, what).is_some() {
                    continue;
                }
                let start_node = self.index_value(op, start, innermost)?;
                let node = match (start_node, more) {
                    (None, more) => self.arena.constant(more)?,
                    (Some(node), 0) => node,
                    (Some(node), more) => {
                        self.arena.op_const(IndexOp::Add, node, u64::from(more))?
                    }
                };
                let mut reg = self.compute(node, RegBank::Vector)?;
                if let Some(at) = innermost
                    && let Some(step) = self.stepped(op, start, at)?
                {
                    // Another coordinate of the copy may begin with the same number, and stay.
                    let kept = self.addresses.iter().any(|a| a.op == number && a.reg == reg);
                    reg = if kept {
                        self.copy(reg)?
                    } else {
                        self.own(op, reg, innermost, &tiled.global)?
                    };
                    let owner = u16::try_from(at.op.index()).unwrap_or(u16::MAX);
                    let waits = self.waits_for_turns(at, op);
                    let capacity = u32::try_from(self.advances.capacity()).unwrap_or(u32::MAX);
                    let (by, bytes) = match step {
                        Moved::By(step) => (None, step),
                        Moved::Node(step) => (Some(self.compute(step, RegBank::Vector)?), 0),
                    };
                    self.advances
                        .push(Advance { owner, reg, by, bytes, waits })
                        .map_err(|_| EmitError::full(EmitPool::Advances, capacity))?;
                }
                self.keep(number, what, reg)?;
            }
        }
        Ok(())
    }

    /// Emits a tiled movement.
    #[inline(never)]
    pub(crate) fn tiled_movement(
        &mut self,
        plan: &TransferPlan,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let op = plan.op;
        let unplanned = EmitError::Unplanned(op);
        let tiled = self.tiled(plan)?;
        self.meet(op, open, true)?;
        let on = self.first_thread()?;
        let signal: Option<(u8, MbarrierRegs)> = match (tiled.form.signal, tiled.plan.completion) {
            (Some(operand), Some(number)) => {
                Some((operand, self.completion(self.announced_to(number))?))
            }
            (None, None) => None,
            _ => return Err(unplanned),
        };
        if let Some(number) = tiled.plan.completion.filter(|_| self.announces(plan)) {
            let bytes = self.announced(number).ok_or(unplanned)?;
            self.expect(self.announced_to(number), bytes)?;
        }
        let map = self.parameter(op, tiled.global.memref, ParamKind::Map(tiled.plan.map))?;
        let map = self.compute(map, RegBank::Vector)?;
        let atom = self.machine.tables.atom(tiled.form.atom).ok_or(unplanned)?;
        self.steps.purpose = InstKind::Move;
        for instance in 0..plan.tiling.count() {
            let mut args = [Slot::None; crate::step::MAX_ARGS];
            let mut set = |number: u8, reg: Reg| {
                if let Some(place) = args.get_mut(usize::from(number)) {
                    *place = slot(reg);
                }
            };
            set(tiled.form.on, on);
            set(tiled.form.tensor, map);
            let place = self.kept(op, KeptFor::BoxPlace(instance));
            set(tiled.form.shared, place.ok_or(unplanned)?);
            for (dim, operand) in tiled.form.at.iter().enumerate() {
                let (_, more) = Self::coordinate(&tiled, plan, instance, dim).ok_or(unplanned)?;
                let what = KeptFor::BoxCoordinate(u8::try_from(dim).unwrap_or(u8::MAX), more);
                set(*operand, self.kept(op, what).ok_or(unplanned)?);
            }
            if let Some((operand, completion)) = signal {
                set(operand, completion.address);
            }
            self.steps
                .append(tiled.form.atom, args.get(..atom.operands.len()).ok_or(unplanned)?)?;
        }
        Ok(())
    }

    /// What stands before the kernel's end, for copies that may still read shared memory there.
    #[inline(never)]
    pub(crate) fn leave_tiled(&mut self, open: &PendingAccesses) -> Result<(), EmitError> {
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let mut done: heapless::Vec<SyncStep<'t>, LAST> = heapless::Vec::new();
        self.steps.purpose = InstKind::Sync;
        for form in
            tables.units.tiled_moves.iter().filter(|f| has(arch, f.feature) && !f.last.is_empty())
        {
            let read = if form.loads { form.to } else { form.from };
            if !open.has(read) {
                continue;
            }
            for step in form.last.iter().filter(|step| {
                !done.iter().any(|d| d.atom == step.atom && d.immediates == step.immediates)
            }) {
                push(tables, step, &mut self.steps)?;
            }
            for step in form.last {
                done.push(*step).map_err(|_| EmitError::full(EmitPool::LastSteps, LAST as u32))?;
            }
        }
        Ok(())
    }

    /// Whether a movement is the first of those with its mbarrier.
    pub(crate) fn announces(&self, plan: &TransferPlan) -> bool {
        let number = plan.tiled.and_then(|t| t.completion);
        number.is_some()
            && self
                .plan
                .transfers
                .iter()
                .find(|m| m.tiled.and_then(|t| t.completion) == number)
                .map(|m| m.op)
                == Some(plan.op)
    }

    /// Bytes that all movements with an mbarrier bring together.
    fn announced(&self, number: u8) -> Option<u32> {
        let mut total = 0u32;
        for m in self
            .plan
            .transfers
            .iter()
            .filter(|m| m.tiled.and_then(|t| t.completion) == Some(number))
        {
            let End::Shared(k) = m.to else { return None };
            total = total.checked_add(
                u32::try_from(self.plan.allocs.get(usize::from(k))?.shape.bytes()).ok()?,
            )?;
        }
        Some(total)
    }
}
