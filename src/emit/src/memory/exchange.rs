//! Conversions between distributions, and what warps leave for each other: store, order, load.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::MovementEnd;
use crate::memory::movement::{data_operand, register_class};
use crate::step::{InstError, InstKind, Missing, Slot, int, slot};
use crate::sync::access::MemAccess;
use crate::sync::order::PendingAccesses;
use lanebook_ir::Op;
use lanebook_plan::{End, TransferPlan};
use lanebook_tables::Space;
use lanebook_tile::map::Fragment;

impl LowerContext<'_, '_, '_, '_> {
    /// The accesses of one half of an exchange.
    fn touched_by(&self, half: &TransferPlan) -> Option<MemAccess> {
        let movement = self.machine.tables.atom(half.atom)?.movement.as_ref()?;
        [(&movement.from, half.from, false), (&movement.to, half.to, true)].into_iter().find_map(
            |(side, end, writes)| {
                let End::Shared(alloc) = end else { return None };
                let tile = self
                    .plan
                    .allocs
                    .get(usize::from(alloc))
                    .filter(|_| side.space == Space::Shared)?;
                Some(MemAccess::shared(tile, side.access, writes))
            },
        )
    }

    /// Orders one half of an exchange after what is open.
    fn meet_half(
        &mut self,
        op: Op,
        half: &TransferPlan,
        open: &mut PendingAccesses,
        emit: bool,
    ) -> Result<(), EmitError> {
        let touched = self.touched_by(half).ok_or(EmitError::Unplanned(op))?;
        self.meet_all(&[touched], open, emit).map(|_| ())
    }

    /// What an exchange opens and needs, without emitting it.
    #[inline(never)]
    pub(crate) fn order_exchange(
        &mut self,
        op: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        self.order_parts(op, (true, false), open)?;
        self.order_parts(op, (false, false), open)?;
        let Some(exchange) = self.plan.exchange_of(op) else { return Ok(()) };
        for _ in 0..exchange.round_count() {
            for half in exchange.moves() {
                self.meet_half(op, &half, open, false)?;
            }
        }
        Ok(())
    }

    /// Computes the addresses of an operation's exchange.
    #[inline(never)]
    pub(crate) fn prepare_exchange(&mut self, op: Op) -> Result<(), EmitError> {
        let Some(exchange) = self.plan.exchange_of(op) else { return Ok(()) };
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let [store, load] = exchange.moves();
        if self.addresses.iter().any(|a| a.op == number && a.what.is_place_of(MovementEnd::To)) {
            return Ok(());
        }
        self.prepare_sides(&store, None)?;
        self.prepare_sides(&load, None)
    }

    /// An operation's exchange: from registers `from` to fresh ones.
    #[inline(never)]
    pub(crate) fn exchange(
        &mut self,
        op: Op,
        from: Reg,
        open: &mut PendingAccesses,
    ) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(op);
        self.prepare_exchange(op)?;
        let exchange = self.plan.exchange_of(op).ok_or(refuse)?;
        let (given, target) = (exchange.from, exchange.to);
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let [store, load] = exchange.moves();
        let data =
            data_operand(self.machine.tables.atom(store.atom).ok_or(refuse)?).ok_or(refuse)?;
        let from = self.suited(op, from, data)?;
        let packed = self.alone_from(from, &given).ok_or(refuse)?;
        let class = register_class(self.machine.tables.atom(load.atom)).ok_or(refuse)?;
        let rounds = exchange.round_count();
        let part = |half: &TransferPlan, round: u32| {
            let each = half.tiling.count().checked_div(rounds)?;
            let first = each.checked_mul(round)?;
            Some(first..first.checked_add(each)?)
        };
        self.half(op, &store, part(&store, 0).ok_or(refuse)?, (from, packed), open)?;
        let to = self.tile(class, &target)?;
        self.half(op, &load, part(&load, 0).ok_or(refuse)?, (to, None), open)?;
        for round in 1..rounds {
            self.half(op, &store, part(&store, round).ok_or(refuse)?, (from, packed), open)?;
            self.half(op, &load, part(&load, round).ok_or(refuse)?, (to, None), open)?;
        }
        Ok(to)
    }

    /// How many elements a register of a tile has, and their bits, where the exchange takes each of
    /// them by itself and the tile's registers are fewer; the last one may have room left.
    fn alone_from(&self, tile: Reg, given: &Fragment) -> Option<Option<(u16, u16)>> {
        if given.registers() <= tile.count {
            return Some(None);
        }
        let class = self.machine.isa.classes.get(tile.class.index())?;
        let each = class.bits.checked_div(given.shape.bits)?;
        let whole = given.registers().div_ceil(each.max(1)) == tile.count;
        whole.then_some(Some((each, given.shape.bits)))
    }

    /// Element `k` of a packed tile, `each` to a register, in the low part of a register.
    fn alone(&mut self, op: Op, from: Reg, k: u16, each: u16, bits: u16) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let (register, part) =
            (k.checked_div(each).ok_or(refuse)?, k.checked_rem(each).ok_or(refuse)?);
        let whole = from.member(register);
        let shift = i64::from(part.wrapping_mul(bits));
        if shift == 0 {
            return Ok(whole);
        }
        let missing = InstError::NoAtom(Missing::Move(from.class));
        let to = self.steps.tuple(from.class, 1)?;
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Fill);
        let (atom, value, count) = self.machine.shift_right(from.class, shift).ok_or(missing)?;
        let mut args = [slot(to); 3];
        *args.get_mut(value).ok_or(refuse)? = slot(whole);
        *args.get_mut(count).ok_or(refuse)? = int(shift).ok_or(refuse)?;
        self.steps.append(atom, &args)?;
        self.steps.purpose = purpose;
        Ok(to)
    }

    /// The elements of an instance that begins at `register` of a packed tile, each in the low part
    /// of a register, next to each other: how many there are to a register of the tile, and their
    /// bits.
    #[inline(never)]
    fn each_alone(
        &mut self,
        op: Op,
        tile: Reg,
        (register, half): (u32, &TransferPlan),
        (each, bits): (u16, u16),
    ) -> Result<Slot, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let missing = InstError::NoAtom(Missing::Move(tile.class));
        let places = half.tiling.tuple.as_slice();
        let count = 1u8.checked_shl(u32::try_from(places.len()).unwrap_or(8)).ok_or(refuse)?;
        let all = self.steps.tuple(tile.class, u16::from(count))?;
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Fill);
        for member in 0..count {
            let own = |(k, place): (usize, &u8)| {
                let taken = (member >> k) & 1 == 1;
                if taken { 1u32.checked_shl(u32::from(*place)).unwrap_or(0) } else { 0 }
            };
            let element = places.iter().enumerate().map(own).fold(register, u32::wrapping_add);
            let k = u16::try_from(element).map_err(|_| refuse)?;
            let from = self.alone(op, tile, k, each, bits)?;
            let to = Reg { first: all.first.wrapping_add(u16::from(member)), count: 1, ..all };
            let atom = self.machine.copy_into(to.class, 1, from.class).ok_or(missing)?;
            self.steps.append(atom, &[slot(to), slot(from)])?;
        }
        self.steps.purpose = purpose;
        Ok(slot(all))
    }

    /// Some instances of one half of an exchange. Of a `packed` tile each element goes alone: how
    /// many there are to a register, and their bits.
    fn half(
        &mut self,
        op: Op,
        half: &TransferPlan,
        instances: core::ops::Range<u32>,
        (tile, packed): (Reg, Option<(u16, u16)>),
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        self.meet_half(op, half, open, true)?;
        let refuse = EmitError::Unplanned(op);
        let first = self.first_of_copies(half)?;
        for i in instances {
            let register = half.tiling.register(i);
            let data = match packed {
                None => self.part_of(tile, register, half.tiling.tuple.as_slice())?,
                Some((each, bits)) if half.tiling.tuple.as_slice().is_empty() => {
                    let k = u16::try_from(register).map_err(|_| refuse)?;
                    let alone = self.alone(op, tile, k, each, bits)?;
                    self.part_of(alone, 0, &[])?
                }
                Some(packed) => self.each_alone(op, tile, (register, half), packed)?,
            };
            self.steps.guard = first;
            let id = half.tiling.atom_of(i, half.atom);
            let atom = self.machine.tables.atom(id).ok_or(refuse)?;
            self.instance(half, id, atom, i, Some(data))?;
            self.steps.guard = None;
        }
        Ok(())
    }

    /// A conversion: nothing where both sides are the same.
    #[inline(never)]
    pub(crate) fn convert(&mut self, op: Op, open: &mut PendingAccesses) -> Result<(), EmitError> {
        if !self.plan.converts(op) {
            return self.rename(op);
        }
        let refuse = EmitError::Unplanned(op);
        let (from, to) =
            (self.program.operand(op, 0).ok_or(refuse)?, self.program.result(op, 0).ok_or(refuse)?);
        let reg = self.tile_of(op, from)?;
        let plan = self.plan;
        let reg = match plan.lanes_ahead(op) {
            Some(lanes) => self.convert_lanes(lanes, reg)?,
            None => reg,
        };
        let reg = if plan.exchange_of(op).is_some() { self.exchange(op, reg, open)? } else { reg };
        let reg = match plan.lanes_of(op) {
            Some(lanes) => self.convert_lanes(lanes, reg)?,
            None => reg,
        };
        self.hold(to, reg)
    }
}
