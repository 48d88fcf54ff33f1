//! Conversions between distributions, and what warps leave for each other: store, order, load.

use super::context::{Context, EmitError};
use super::movement::{data_operand, register_class};
use super::step::{Missing, Purpose, StepError, int, slot};
use super::sync::{Open, Touched};
use crate::expr::Reg;
use crate::ir::Op;
use crate::map::Fragment;
use crate::plan::{End, MovePlan};
use lanebook_tables::Space;

impl Context<'_, '_, '_, '_> {
    /// The accesses of one half of an exchange.
    fn touched_by(&self, half: &MovePlan) -> Option<Touched> {
        let movement = self.machine.tables.atom(half.atom)?.movement.as_ref()?;
        [(&movement.from, half.from, false), (&movement.to, half.to, true)].into_iter().find_map(
            |(side, end, writes)| {
                let End::Shared(alloc) = end else { return None };
                let tile = self
                    .plan
                    .allocs
                    .get(usize::from(alloc))
                    .filter(|_| side.space == Space::Shared)?;
                Some(Touched {
                    from: tile.offset,
                    to: tile.offset.saturating_add(tile.bytes),
                    dealt: 0,
                    kind: side.access,
                    writes,
                    completion: None,
                })
            },
        )
    }

    /// Orders one half of an exchange after what is open.
    fn meet_half(
        &mut self,
        op: Op,
        half: &MovePlan,
        open: &mut Open,
        emit: bool,
    ) -> Result<(), EmitError> {
        let touched = self.touched_by(half).ok_or(EmitError::Unplanned(op))?;
        self.meet_all(&[touched], open, emit).map(|_| ())
    }

    /// What an exchange opens and needs, without emitting it.
    #[inline(never)]
    pub(super) fn rehearse_exchange(&mut self, op: Op, open: &mut Open) -> Result<(), EmitError> {
        let Some(exchange) = self.plan.exchange_of(op) else { return Ok(()) };
        for half in exchange.moves() {
            self.meet_half(op, &half, open, false)?;
        }
        Ok(())
    }

    /// Computes the addresses of an operation's exchange.
    #[inline(never)]
    pub(super) fn prepare_exchange(&mut self, op: Op) -> Result<(), EmitError> {
        let Some(exchange) = self.plan.exchange_of(op) else { return Ok(()) };
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let [store, load] = exchange.moves();
        if self.addresses.iter().any(|a| a.op == number && a.side == 1) {
            return Ok(());
        }
        self.prepare_sides(&store, None)?;
        self.prepare_sides(&load, None)
    }

    /// An operation's exchange: from registers `from` to fresh ones.
    #[inline(never)]
    pub(super) fn exchange(
        &mut self,
        op: Op,
        from: Reg,
        open: &mut Open,
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
        let from = if u16::from(from.count) == given.registers() {
            from
        } else {
            self.unpack(op, from, &given)?
        };
        self.half(op, &store, from, open)?;
        let class = register_class(self.machine.tables.atom(load.atom)).ok_or(refuse)?;
        let to = self.tile(op, class, &target)?;
        self.half(op, &load, to, open)?;
        Ok(to)
    }

    /// Each element of a packed tile in the low part of a register of its own.
    fn unpack(&mut self, op: Op, from: Reg, loose: &Fragment) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let each = loose.registers().checked_div(u16::from(from.count)).ok_or(refuse)?;
        let missing = StepError::NoAtom(Missing::Move(from.class));
        let to = self.tile(op, from.class, loose)?;
        let copy = self.machine.copy_into(from.class, 1, from.class).ok_or(missing)?;
        self.steps.purpose = Purpose::Fill;
        let one = |reg: Reg, k: u16| {
            slot(Reg { class: reg.class, first: reg.first.wrapping_add(k), count: 1 })
        };
        for k in 0..loose.registers() {
            let (register, part) =
                (k.checked_div(each).ok_or(refuse)?, k.checked_rem(each).ok_or(refuse)?);
            let shift = i64::from(part.wrapping_mul(loose.shape.bits));
            if shift == 0 {
                self.steps.append(copy, &[one(to, k), one(from, register)])?;
            } else {
                let (atom, value, count) =
                    self.machine.shift_right(from.class, shift).ok_or(missing)?;
                let mut args = [one(to, k); 3];
                *args.get_mut(value).ok_or(refuse)? = one(from, register);
                *args.get_mut(count).ok_or(refuse)? = int(shift).ok_or(refuse)?;
                self.steps.append(atom, &args)?;
            }
        }
        Ok(to)
    }

    fn half(
        &mut self,
        op: Op,
        half: &MovePlan,
        tile: Reg,
        open: &mut Open,
    ) -> Result<(), EmitError> {
        self.meet_half(op, half, open, true)?;
        let atom = self.machine.tables.atom(half.atom).ok_or(EmitError::Unplanned(op))?;
        for i in 0..half.fit.count() {
            let data = self.part_of(tile, half.fit.register(i), half.fit.tuple.as_slice())?;
            self.instance(half, half.atom, atom, i, Some(data))?;
        }
        Ok(())
    }

    /// A conversion: nothing where both sides are the same.
    #[inline(never)]
    pub(super) fn convert(&mut self, op: Op, open: &mut Open) -> Result<(), EmitError> {
        if !self.plan.converts(op) {
            return self.rename(op);
        }
        let refuse = EmitError::Unplanned(op);
        let (from, to) =
            (self.program.operand(op, 0).ok_or(refuse)?, self.program.result(op, 0).ok_or(refuse)?);
        let reg = self.tile_of(op, from)?;
        let reg =
            if self.plan.exchange_of(op).is_some() { self.exchange(op, reg, open)? } else { reg };
        let reg = if self.plan.lanes_of(op).is_some() { self.convert_lanes(op, reg)? } else { reg };
        self.hold(to, reg)
    }
}
