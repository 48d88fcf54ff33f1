//! Tiles between tensor memory and registers: accumulators fetched when all is added up, and what
//! is stored before a product works on it: an accumulator's start, and A. Each warp moves the lanes
//! that it reaches.

use crate::expr::{BitColumn, Combine, ExprId, Reg, RegBank, from_bits};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::{KeptFor, TensorResident};
use crate::pool::EmitPool;
use crate::step::{InstKind, MAX_ARGS, Slot, int, slot};
use crate::sync::access::{MemAccess, TouchedMemory};
use crate::sync::order::{PendingAccesses, between};
use lanebook_ir::{Op, Value};
use lanebook_plan::{InTensor, ProductPlan, stored_before};
use lanebook_tables::{AccessId, Atom, AtomId, IndexOp, OpRole, Role};
use lanebook_tile::map::Fragment;
use lanebook_tile::product::TensorLoads;
use lanebook_tile::tensor_blocks::TensorBlocks;
use lanebook_tile::unit::tensor;

/// A tile of a product in tensor memory.
#[derive(Copy, Clone)]
struct TensorMemoryTile<'p> {
    /// Which one.
    which: TensorResident,
    loads: TensorLoads,
    fragment: &'p Fragment,
    blocks: TensorBlocks,
    /// Its first column, from the allocation's.
    first: u16,
}

impl TensorMemoryTile<'_> {
    /// An access to its columns.
    fn touched(&self, kind: AccessId, writes: bool) -> MemAccess {
        let from = u32::from(self.first);
        MemAccess {
            memory: TouchedMemory::Tensor,
            from,
            to: from.saturating_add(u32::from(self.loads.columns.get())),
            dealt: 0,
            kind,
            writes,
            completion: None,
        }
    }

    /// Loads or stores, and registers that one moves.
    fn count(&self) -> Option<(u32, u32)> {
        let each = 1u32.checked_shl(u32::from(self.loads.registers))?;
        Some((u32::from(self.fragment.registers()).checked_div(each)?, each))
    }
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    fn sums<'p>(&self, plan: &'p ProductPlan) -> Option<TensorMemoryTile<'p>> {
        Some(TensorMemoryTile {
            which: TensorResident::Sums,
            loads: plan.product.tensor?,
            fragment: &plan.product.c,
            blocks: plan.product.blocked_c(),
            first: plan.tensor?.first,
        })
    }

    /// A, where it is in tensor memory.
    fn factors<'p>(&self, plan: &'p ProductPlan) -> Option<TensorMemoryTile<'p>> {
        let loads = plan.product.tensor_a?;
        let memory = self.tensor_memory(plan.op).ok()?;
        Some(TensorMemoryTile {
            which: TensorResident::Left,
            loads,
            fragment: &plan.product.a,
            blocks: plan.product.blocked_a(memory.cell_bits)?,
            first: plan.tensor?.first_a,
        })
    }

    /// The accesses of a product's unit to tensor memory.
    pub(crate) fn touched_in_tensor(&self, plan: &ProductPlan) -> [Option<MemAccess>; 2] {
        let Some(own) = self.machine.tables.atom(plan.product.atom).and_then(Atom::tensor) else {
            return [None; 2];
        };
        let sums = self.sums(plan).map(|part| part.touched(own.writes, true));
        [sums, self.factors(plan).zip(own.a).map(|(part, kind)| part.touched(kind, false))]
    }

    /// In a rehearsal of `around`, the stores in front of a product inside it.
    pub(crate) fn order_tensor_store(
        &self,
        around: Op,
        product: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let Some((plan, place)) = self.plan.product_of(product).and_then(|p| Some((p, p.tensor?)))
        else {
            return Ok(());
        };
        let Some(own) = self.machine.tables.atom(plan.product.atom).and_then(Atom::tensor) else {
            return Ok(());
        };
        let start = self.sums(plan).filter(|_| place.stored && place.carrier != Some(around));
        let factors =
            self.factors(plan).filter(|_| stored_before(self.program, product) != Some(around));
        for part in start.into_iter().chain(factors) {
            let _ = open.meet(
                self.machine.tables,
                self.machine.arch,
                &[part.touched(own.stores, true)],
                |_, _| false,
            )?;
        }
        Ok(())
    }

    /// In a rehearsal of `around`, the loads of what is fetched inside it.
    pub(crate) fn order_fetch(
        &self,
        around: Op,
        product: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let Some(plan) = self
            .plan
            .product_of(product)
            .filter(|p| p.tensor.is_some_and(|place| place.carrier != Some(around)))
        else {
            return Ok(());
        };
        let own = self.machine.tables.atom(plan.product.atom).and_then(Atom::tensor);
        if let (Some(part), Some(own)) = (self.sums(plan), own) {
            let _ = open.meet(
                self.machine.tables,
                self.machine.arch,
                &[part.touched(own.reads, false)],
                |_, _| false,
            )?;
        }
        Ok(())
    }

    /// Addresses of loads and stores that stand beside the product itself, where they change in no
    /// loop.
    #[inline(never)]
    pub(crate) fn prepare_transfers(&mut self, plan: &ProductPlan) -> Result<(), EmitError> {
        let beside = plan.tensor.is_some_and(|place| place.carrier.is_none());
        let factors = self.factors(plan).filter(|_| stored_before(self.program, plan.op).is_none());
        for part in [self.sums(plan).filter(|_| beside), factors].into_iter().flatten() {
            let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
            let (count, _) = part.count().ok_or(EmitError::Unplanned(plan.op))?;
            for k in 0..count {
                self.steps.purpose =
                    if k == 0 { InstKind::FirstAddress } else { InstKind::FurtherAddress };
                let node = self.transfer_address(plan, &part, k)?;
                let reg = self.compute(node, RegBank::Vector)?;
                self.keep(number, KeptFor::TensorPart(part.which, k), reg)?;
            }
        }
        Ok(())
    }

    /// Where load or store `number` of a tile begins.
    fn transfer_address(
        &mut self,
        plan: &ProductPlan,
        part: &TensorMemoryTile<'_>,
        number: u32,
    ) -> Result<ExprId, EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        let memory = self.tensor_memory(plan.op)?;
        let own =
            *self.machine.tables.atom(plan.product.atom).and_then(Atom::tensor).ok_or(unplanned)?;
        let rows = tensor::tile_named(self.machine.tables, self.machine.arch, own.tile)
            .map_err(|_| unplanned)?;
        // The address of an element's cell, from the tile's first.
        let cell = |e: u32| -> Option<u32> {
            let (row, column) = part.blocks.cell(e)?;
            tensor::row_lane(rows, row)?
                .checked_shl(u32::from(memory.lane_shift))?
                .checked_add(column)
        };
        let mut bits: heapless::Vec<BitColumn, 8> = heapless::Vec::new();
        for (bit, &e) in (self.plan.wave..).zip(part.fragment.warp.as_slice()) {
            let column = cell(e).ok_or(unplanned)?;
            bits.push(BitColumn { value: self.thread, bit, column })
                .map_err(|_| EmitError::full(EmitPool::AddressBits, 8))?;
        }
        let base = self.tensor.and_then(|frame| frame.base()).ok_or(unplanned)?;
        let warps = from_bits(&mut self.arena, &bits, Combine::Add, 0)?;
        let start = self.sum(IndexOp::Add, Some(base), Some(warps))?.ok_or(unplanned)?;
        let (_, each) = part.count().ok_or(unplanned)?;
        // Places are elements: a register of a narrow A has several.
        let places = 32u32.checked_div(u32::from(part.fragment.place_bits())).ok_or(unplanned)?;
        let e = part.fragment.element(number.saturating_mul(each).saturating_mul(places), 0, 0);
        let offset =
            cell(e).and_then(|cell| cell.checked_add(u32::from(part.first))).ok_or(unplanned)?;
        Ok(if offset == 0 {
            start
        } else {
            self.arena.op_const(IndexOp::Add, start, u64::from(offset))?
        })
    }

    /// The atom that loads or stores a tile.
    fn mover_of(
        &self,
        op: Op,
        part: &TensorMemoryTile<'_>,
        stores: bool,
    ) -> Result<(AtomId, &'t Atom<'t>), EmitError> {
        let unplanned = EmitError::Unplanned(op);
        let form = self
            .machine
            .tables
            .units
            .tensor_moves
            .get(usize::from(part.loads.form))
            .ok_or(unplanned)?;
        let single = u16::from(form.registers).saturating_mul(part.loads.count) == 1;
        let (usual, one) = if stores { form.store_atoms } else { form.load_atoms };
        let id = one.filter(|_| single).unwrap_or(usual);
        Ok((id, self.machine.tables.atom(id).ok_or(unplanned)?))
    }

    /// Moves a tile between its columns and its registers.
    #[inline(never)]
    fn transfer(
        &mut self,
        plan: &ProductPlan,
        part: &TensorMemoryTile<'_>,
        (id, atom): (AtomId, &Atom<'_>),
        tile: Reg,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        let (count, each) = part.count().ok_or(unplanned)?;
        self.steps.purpose = InstKind::FirstAddress;
        for k in 0..count {
            let register = k.saturating_mul(each);
            let known = self.kept(plan.op, KeptFor::TensorPart(part.which, k));
            let address = match known {
                Some(address) => address,
                None => {
                    let node = self.transfer_address(plan, part, k)?;
                    self.compute(node, RegBank::Vector)?
                }
            };
            self.steps.purpose = InstKind::Move;
            let piece = Slot::Reg {
                class: tile.class.0 as u8,
                count: u16::try_from(each).map_err(|_| unplanned)?,
                first: tile.first.wrapping_add(u16::try_from(register).map_err(|_| unplanned)?),
            };
            let mut args = [Slot::None; MAX_ARGS];
            for (arg, operand) in args.iter_mut().zip(atom.operands) {
                *arg = match operand.role {
                    Role::Def | Role::Use => piece,
                    Role::Address => slot(address),
                    // The first of its words; its count, and an offset that lets its parts follow
                    // each other.
                    _ if operand.vary.is_some_and(|vary| !vary.words.is_empty()) => Slot::Int(0),
                    _ => int(i64::from(part.loads.count)).ok_or(unplanned)?,
                };
            }
            let used = args.get(..atom.operands.len()).ok_or(unplanned)?;
            self.steps.append(id, used)?;
            self.steps.purpose = InstKind::FurtherAddress;
        }
        Ok(())
    }

    /// Stores what a product takes from registers through tensor memory: A, and where its
    /// accumulator begins.
    pub(crate) fn store_inputs(
        &mut self,
        plan: &ProductPlan,
        place: &InTensor,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        let operand = |k: usize| self.program.operand(plan.op, k).ok_or(unplanned);
        let (a, c) = (operand(0)?, self.kept_sums(plan).map_or_else(|| operand(2), Ok)?);
        if let Some(part) =
            self.factors(plan).filter(|_| stored_before(self.program, plan.op).is_none())
        {
            self.store(plan, &part, a, open)?;
        }
        if let Some(part) = self.sums(plan).filter(|_| place.stored && place.carrier.is_none()) {
            self.store(plan, &part, c, open)?;
        }
        Ok(())
    }

    /// Stores where accumulators begin that a loop carries in tensor memory, and each A that was
    /// there before the loop.
    #[inline(never)]
    pub(crate) fn store_carried(
        &mut self,
        carrier: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        for k in 0..self.plan.products.len() {
            let Some(plan) = self.plan.products.get(k).copied() else { continue };
            if let Some(part) = self
                .factors(&plan)
                .filter(|_| stored_before(self.program, plan.op) == Some(carrier))
            {
                let a = self.program.operand(plan.op, 0).ok_or(EmitError::Unplanned(carrier))?;
                self.store(&plan, &part, a, open)?;
                // Without a turn no product waits for it before tensor memory is given back.
                if !self.goes_round(carrier) {
                    self.stored_alone(&plan)?;
                }
            }
            let Some(part) = self.sums(&plan).filter(|_| {
                plan.tensor.is_some_and(|place| place.stored && place.carrier == Some(carrier))
            }) else {
                continue;
            };
            if let Some(sums) = self.kept_sums(&plan) {
                self.store(&plan, &part, sums, open)?;
                continue;
            }
            let argument = self.program.operand(plan.op, 2);
            let start = self
                .program
                .carried(carrier)
                .find(|carried| Some(carried.argument) == argument)
                .map(|carried| carried.init);
            self.store(&plan, &part, start.ok_or(EmitError::Unplanned(carrier))?, open)?;
        }
        Ok(())
    }

    /// The wait for stores by the warp itself.
    fn stored_alone(&mut self, plan: &ProductPlan) -> Result<(), EmitError> {
        let own = *self
            .machine
            .tables
            .atom(plan.product.atom)
            .and_then(Atom::tensor)
            .ok_or(EmitError::Unplanned(plan.op))?;
        self.steps.purpose = InstKind::Sync;
        between(
            self.machine.tables,
            self.machine.arch,
            (own.stores, own.reads),
            &mut self.steps,
            |_, _| None,
        )?;
        Ok(())
    }

    #[inline(never)]
    fn store(
        &mut self,
        plan: &ProductPlan,
        part: &TensorMemoryTile<'_>,
        value: Value,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        self.steps.origin = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        let own =
            *self.machine.tables.atom(plan.product.atom).and_then(Atom::tensor).ok_or(unplanned)?;
        let (id, atom) = self.mover_of(plan.op, part, true)?;
        let held = self.tile_of(plan.op, value)?;
        let source = atom.operands.iter().find(|o| o.role == Role::Use).ok_or(unplanned)?;
        let tile = self.suited(plan.op, held, source)?;
        let wanted = open.meet(
            self.machine.tables,
            self.machine.arch,
            &[part.touched(own.stores, true)],
            |_, _| false,
        )?;
        self.steps.purpose = InstKind::Sync;
        self.carry_out(&wanted)?;
        self.transfer(plan, part, (id, atom), tile)
    }

    /// Fetches what a loop has carried in tensor memory.
    #[inline(never)]
    pub(crate) fn fetch_carried(
        &mut self,
        carrier: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        for k in 0..self.plan.products.len() {
            let Some(plan) = self.plan.products.get(k).copied() else { continue };
            if let Some(place) = plan.tensor.filter(|place| place.carrier == Some(carrier)) {
                self.fetch(&plan, &place, open)?;
            }
        }
        Ok(())
    }

    /// The fragment that a product in place adds to, which has its registers all along.
    fn kept_sums(&self, plan: &ProductPlan) -> Option<Value> {
        let place = plan.tensor.filter(|_| self.program.role(plan.op) == OpRole::ProductInto)?;
        Some(place.value)
    }

    /// Registers that the product's result can have because they held what it began with, and
    /// nobody reads that any more.
    fn reused(&self, plan: &ProductPlan, place: &InTensor) -> Option<Reg> {
        let c =
            self.program.operand(plan.op, 2).filter(|_| place.stored && place.carrier.is_none())?;
        self.held_by(c).filter(|reg| self.is_free_after(plan.op, *reg))
    }

    /// Fetches a product's accumulators into registers.
    #[inline(never)]
    pub(crate) fn fetch(
        &mut self,
        plan: &ProductPlan,
        place: &InTensor,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        self.steps.origin = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        let own =
            *self.machine.tables.atom(plan.product.atom).and_then(Atom::tensor).ok_or(unplanned)?;
        let part = self.sums(plan).ok_or(unplanned)?;
        let (id, atom) = self.mover_of(plan.op, &part, false)?;
        let class =
            atom.operands.iter().find(|o| o.role == Role::Def).map(|o| o.class).ok_or(unplanned)?;
        let kept = self.kept_sums(plan).and_then(|sums| self.held_by(sums));
        let reused = kept.or_else(|| self.reused(plan, place));
        let tile = match reused.filter(|reg| reg.class == class) {
            Some(reg) => reg,
            None => self.tile(class, &plan.product.c)?,
        };
        self.hold(place.value, tile)?;
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        self.steps.purpose = InstKind::Sync;
        let wanted = open.meet(tables, arch, &[part.touched(own.reads, false)], |_, _| false)?;
        self.carry_out(&wanted)?;
        // A loop that never went round leaves zeros, or what was stored.
        let empty = match place.carrier {
            Some(carrier) if !place.stored && !self.goes_round(carrier) => {
                self.steps.purpose = InstKind::Control;
                let later = self.is_later(carrier)?;
                self.steps.purpose = InstKind::Fill;
                self.fill(tile, 0)?;
                let (load, done) = (self.fresh_label(), self.fresh_label());
                let mark = self.steps.next_register();
                self.steps.purpose = InstKind::Control;
                let (branch, branch_if) = (self.machine.isa.branch, self.machine.isa.branch_if);
                self.frame_step(branch_if, Some(later), &[Slot::Label(load)])?;
                self.steps.append(branch, &[Slot::Label(done)])?;
                self.steps.label(load)?;
                Some((done, mark))
            }
            _ => None,
        };
        // Without a turn no product has come between the stores and the loads.
        if place.stored && place.carrier.is_some_and(|carrier| !self.goes_round(carrier)) {
            self.stored_alone(plan)?;
        }
        self.transfer(plan, &part, (id, atom), tile)?;
        self.steps.purpose = InstKind::Sync;
        between(tables, arch, (own.reads, own.fetched), &mut self.steps, |_, _| None)?;
        if let Some((done, mark)) = empty {
            self.steps.label(done)?;
            self.forget_since(mark);
        }
        Ok(())
    }
}
