//! Mbarriers: in each thread each has its own address and keeps it, and those of a ring follow one another in the
//! parities of their phases.

use crate::contents::ContentsContext;
use crate::contents::address::ThreadRun;
use crate::contents::storage::NONE;
use crate::order::ring::ObjectRing;
use crate::reader::{has, tensor_memory};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind};
use lanebook_tables::{Atom, FrameOperand, Mbarrier};

impl ContentsContext<'_> {
    /// The address of an mbarrier.
    fn place_of_object(&self, table: &Mbarrier<'_>, number: u32) -> u64 {
        let start = self.base().saturating_add(u64::from(self.plan.mbarrier_offset));
        start.saturating_add(u64::from(table.bytes).saturating_mul(u64::from(number)))
    }
}

impl ThreadRun<'_, '_> {
    /// An mbarrier's address, where one is made, announced to, waited for or arrived at:
    /// each has its own, and keeps it.
    pub(super) fn object(
        &mut self,
        at: u16,
        step: &Inst,
        atom: &Atom<'_>,
    ) -> Result<(), Violation> {
        let look = self.look;
        let Some(table) = look
            .tables
            .units
            .mbarriers
            .iter()
            .find(|c| has(look.arch, c.feature) && look.plan.mbarriers > 0)
        else {
            return Ok(());
        };
        let around = tensor_memory(look.tables, look.arch)
            .and_then(|m| m.around.iter().find(|f| f.atom == step.atom));
        let number = match step.atom {
            a if a == table.init || a == table.expect => 1,
            a if a == table.wait => 0,
            _ if look.order().frees(step).is_some() => 0,
            _ => match around
                .and_then(|f| f.operands.iter().position(|o| *o == FrameOperand::Barrier))
            {
                Some(number) => number,
                None => return Ok(()),
            },
        };
        if let Some(ring) = look.order().ring_of(at.into(), step) {
            return self.next_of_ring(at, step, atom, (table, ring));
        }
        let found = u8::try_from(number).ok().and_then(|number| self.given(step, atom, number));
        let own = (0..u32::from(look.plan.mbarriers))
            .find(|k| Some(look.place_of_object(table, *k)) == found);
        // An object is the one that was made with the same register.
        let makes = |s: &Inst| s.purpose != InstKind::Label && s.atom == table.init;
        let made = look.steps.iter().position(|s| makes(s) && s.arg(1) == step.arg(number));
        let known = made.and_then(|made| self.instances.get(made)).copied().filter(|k| *k != NONE);
        // They are made in their order.
        let made_before = look.steps.iter().take(usize::from(at)).filter(|s| makes(s)).count();
        let nth = u32::try_from(made_before).unwrap_or(u32::MAX);
        let right = own.is_some_and(|k| {
            known.is_none_or(|known| u32::from(known) == k)
                && (step.atom != table.init || nth == k)
                && self.bind(at, k)
        });
        if right { Ok(()) } else { Err(Violation::Stray { step: at }) }
    }

    /// An announcement to a ring's next object, or a wait for it, in the parity of the phase that
    /// is its next.
    fn next_of_ring(
        &mut self,
        at: u16,
        step: &Inst,
        atom: &Atom<'_>,
        (table, ring): (&Mbarrier<'_>, ObjectRing),
    ) -> Result<(), Violation> {
        let stray = Violation::Stray { step: at };
        let waits = step.atom == table.wait;
        let arrives = self.look.order().frees(step).is_some();
        let named = u8::from(!waits && !arrives);
        let (address, parity) = (self.given(step, atom, named), self.given(step, atom, 1));
        // A buffer that was never filled is free: the phase before the first one is over.
        let order = self.look.order();
        let is_freed = order.ring(ring.around).is_some_and(|of| of.first != ring.first);
        let of_ring = self.rings.get_mut(usize::from(ring.first)).ok_or(stray)?;
        let [announced, waited] = of_ring;
        let next = if waits { waited } else { announced };
        let phase = next.checked_div(ring.count).ok_or(stray)?;
        let object = ring.first.saturating_add(next.checked_rem(ring.count).ok_or(stray)?);
        // Parities come round with every second phase.
        let all = ring.count.saturating_mul(2);
        *next = next.saturating_add(1).checked_rem(all).ok_or(stray)?;
        self.compared = self.compared.saturating_add(1);
        let is_place = address == Some(self.look.place_of_object(table, object.into()));
        let is_phase = !waits || parity == Some(u64::from(phase) ^ u64::from(is_freed));
        if is_place && is_phase { Ok(()) } else { Err(stray) }
    }

    /// Whether a copy completes on the object of its ring that was announced to last.
    pub(super) fn is_announced(
        &self,
        at: u16,
        step: &Inst,
        atom: &Atom<'_>,
        signal: u8,
    ) -> Option<bool> {
        let Some(ring) = self.look.order().ring_of(at.into(), step) else { return Some(true) };
        let [announced, _] = *self.rings.get(usize::from(ring.first))?;
        let last = announced.checked_add(ring.count)?.checked_sub(1)?.checked_rem(ring.count)?;
        let order = self.look.order();
        let object = u32::from(ring.first.checked_add(last)?);
        let place = self.look.place_of_object(order.object()?, object);
        Some(self.given(step, atom, signal) == Some(place))
    }
}
