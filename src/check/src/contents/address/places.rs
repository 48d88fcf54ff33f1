//! The address that a movement's step has in a thread, against the places of its elements.

use crate::contents::address::{GLOBAL_BITS, ThreadRun};
use crate::contents::storage::NONE;
use crate::evaluator::{Memory, power, spot};
use crate::memory::movement::{Move, coordinates};
use crate::stages::{StagedTile, ahead_of};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_layout::AxisId;
use lanebook_plan::{End, TransferPlan};
use lanebook_tables::{Atom, AtomId, Movement, OffsetField, Side, Space};

impl ThreadRun<'_, '_> {
    /// Compares the addresses of a movement's step with the places of its element.
    #[inline(never)]
    pub(super) fn compare(
        &mut self,
        at: u16,
        step: &Inst,
        atom: &Atom<'_>,
    ) -> Result<(), Violation> {
        let (Some(movement), InstKind::Move) = (atom.movement, step.purpose) else { return Ok(()) };
        let Some(m) = self.look.movement_of(step) else { return Ok(()) };
        self.ahead = ahead_of(self.look.program, m.op);
        let compared = self.compare_sides((at, step, atom), movement, &m);
        self.ahead = None;
        compared
    }

    /// The same for both sides.
    fn compare_sides(
        &mut self,
        (at, step, atom): (u16, &Inst, &Atom<'_>),
        movement: &Movement<'_>,
        m: &TransferPlan,
    ) -> Result<(), Violation> {
        for (side, end, from) in [(&movement.from, m.from, true), (&movement.to, m.to, false)] {
            let is_there = matches!(
                (side.space, end),
                (Space::Shared, End::Shared(_)) | (Space::Global, End::Global(_))
            );
            if !is_there {
                continue;
            }
            let thread = u16::try_from(self.thread).unwrap_or(u16::MAX);
            let address = self.address(step, atom, side).ok_or(Violation::Address {
                op: m.op,
                step: at,
                thread,
                address: u64::MAX,
            })?;
            let slots = self.slots(step.atom, movement, from);
            let has_two = movement.offsets.iter().any(|o| o.place != 0);
            for place in 0..=u8::from(has_two) {
                let more = immediates(step, movement, (from, place));
                let address = address.wrapping_add(more.cast_unsigned());
                self.place(at, m, (side, end), (slots, place != 0), address)?;
            }
        }
        Ok(())
    }

    /// The address that a step's registers hold.
    fn address(&self, step: &Inst, atom: &Atom<'_>, side: &Side<'_>) -> Option<u64> {
        let value = |k: u8| {
            let table = atom.operands.get(usize::from(k))?;
            self.operand(step, table.class.0, usize::from(k))
        };
        let own = value(side.operand)?;
        match side.base {
            Some(base) => Some((value(base)? & GLOBAL_BITS).wrapping_add(own)),
            None => Some(own),
        }
    }

    /// How many slots a side of an atom has.
    fn slots(&mut self, atom: AtomId, movement: &Movement<'_>, from: bool) -> u32 {
        if let Some(found) = self.slots.iter().find(|(a, f, _)| (*a, *f) == (atom, from)) {
            return found.2;
        }
        let side = if from { &movement.from } else { &movement.to };
        let found = coordinates(movement).and_then(|c| slots_of(side, c.0)).unwrap_or(1);
        let _ = self.slots.push((atom, from, found));
        found
    }

    /// Which instance stands at an address; it is the same one wherever the step is met.
    fn place(
        &mut self,
        at: u16,
        m: &TransferPlan,
        (side, end): (&Side<'_>, End),
        (slots, second): (u32, bool),
        address: u64,
    ) -> Result<(), Violation> {
        let missing = Violation::Missing(m.op);
        let plan = self.look.plan;
        let (lane, warp) = (
            self.thread & power(usize::from(plan.wave)).ok_or(missing)?.wrapping_sub(1),
            self.thread.checked_shr(u32::from(plan.wave)).unwrap_or(0),
        );
        // Lanes without a slot are not asked for their address; where there is no slot at all, all
        // have the same.
        let slots = slots.min(power(m.tiling.address_lanes.len()).ok_or(missing)?);
        let slot = if slots == 1 { 0 } else { lane };
        if slot >= slots {
            return Ok(());
        }
        let panels = u32::from(m.tiling.grid.rows).saturating_mul(u32::from(m.tiling.grid.cols));
        let instances =
            power(m.tiling.instances.len()).and_then(|n| n.checked_mul(panels)).ok_or(missing)?;
        let this = Move {
            m,
            warps: power(usize::from(plan.warps)).ok_or(missing)?,
            instances,
            segment_align: plan.shared_align,
        };
        let memory = Memory::of(plan, end).unwrap_or(Err(missing))?;
        let indexed = match end {
            End::Global(_) => self.look.program.indexed_dim(m.op),
            _ => None,
        };
        let Some(tile) = self.start(end, indexed) else { return Ok(()) };
        let share = u32::from(side.slot_bytes);
        if tile.index.is_some() {
            return self.indexed(at, m, end, &tile, address, instances, |i| {
                this.address(&memory, side, (slot, second), warp, i).map(|(_, p)| p)
            });
        }
        let stands = |i: u32| {
            this.address(&memory, side, (slot, second), warp, i)
                .map(|(_, p)| tile.meets(p, 0, address).then_some(p))
        };
        let Some(&known) = self.instances.get(usize::from(at)) else { return Ok(()) };
        if known == NONE {
            // Where rows are nearer to each other than they are long, several have one address: each
            // step is another of them.
            let mut found = None;
            for i in 0..instances {
                if let Some(p) = stands(i)? {
                    let is_new = !self.is_taken(at, i);
                    if is_new || found.is_none() {
                        found = Some((i, p));
                    }
                    if is_new {
                        break;
                    }
                }
            }
            if let Some((i, p)) = found {
                if let Some(known) = self.instances.get_mut(usize::from(at)) {
                    *known = u16::try_from(i).unwrap_or(NONE);
                }
                self.compared = self.compared.saturating_add(1);
                return self.guarded(at, end, (p, None), share);
            }
        } else if let Some(p) = stands(u32::from(known))? {
            self.compared = self.compared.saturating_add(1);
            return self.guarded(at, end, (p, None), share);
        }
        Err(Violation::Address {
            op: m.op,
            step: at,
            thread: u16::try_from(self.thread).unwrap_or(u16::MAX),
            address,
        })
    }

    /// The buffer that the step which is looked at copies into, or reads.
    pub(in crate::contents) fn buffer(&self, tile: &StagedTile) -> Option<u64> {
        let order = self.look.order();
        if order.is_apart(tile.around) {
            // The one whose object was waited for, or announced to, last: a loop goes on with them.
            let ring = order.ring(tile.around)?;
            let [announced, waited] = *self.rings.get(usize::from(ring.first))?;
            let reads = self.thread < self.look.plan.threads;
            let next = if reads { waited } else { announced };
            let last = next.checked_add(ring.count)?.checked_sub(1)?;
            return last.checked_rem(ring.count).map(u64::from);
        }
        let times = u64::from(self.turns_of(tile.around)?.checked_sub(1)?);
        let behind = u64::from(self.behind(tile.around));
        let turn =
            if self.ahead == Some(tile.around) { times } else { times.checked_sub(behind)? };
        turn.checked_rem(u64::from(tile.stages))
    }

    /// Whether another step of the same movement is an instance.
    pub(in crate::contents) fn is_taken(&self, at: u16, instance: u32) -> bool {
        let Some(own) = self.look.steps.get(usize::from(at)) else { return false };
        let same = |step: &Inst| (step.origin, step.atom) == (own.origin, own.atom);
        let others = (0u16..).zip(self.look.steps).zip(self.instances.iter());
        others
            .filter(|((_, step), known)| u32::from(**known) == instance && same(step))
            .any(|((number, _), _)| number != at)
    }
}

/// Bytes that the immediates of a step add to the addresses of a side, for one place of each slot.
fn immediates(step: &Inst, movement: &Movement<'_>, (from, place): (bool, u8)) -> i64 {
    let own = |o: &&OffsetField| o.place == place && if from { o.on_from } else { o.on_to };
    let mut more = 0i64;
    for field in movement.offsets.iter().filter(own) {
        if let Slot::Int(v) = step.arg(usize::from(field.operand)) {
            more = more.saturating_add(i64::from(v).saturating_mul(i64::from(field.scale)));
        }
    }
    more
}

/// How many slots a side has.
fn slots_of(side: &Side<'_>, coordinates: u64) -> Option<u32> {
    let mut most = 0u32;
    for x in 0..coordinates {
        most = most.max(spot(side, x, AxisId::SLOT, AxisId::BYTE)?.0);
    }
    most.checked_add(1)
}
