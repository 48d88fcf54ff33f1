//! Copies through registers that stand one behind the other: all of them are loaded before the first
//! is stored, so that none waits for another one's way from global memory.

use crate::RegisterPressureLevel;
use crate::lower::context::{EmitError, LowerContext};
use crate::memory::movement::{data_operand, register_class};
use crate::sync::access::TouchedList;
use crate::sync::order::PendingAccesses;
use lanebook_ir::{Loop, Op};
use lanebook_plan::{AllocPlan, End, TransferPlan};
use lanebook_tables::OpRole;

/// Most registers of a lane that are loaded at a time.
const MOST: u32 = 64;

/// Copies that are loaded together.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Together {
    first: Op,
    last: Op,
}

impl LowerContext<'_, '_, '_, '_> {
    /// A copy through registers that can be loaded with others, and its tile.
    fn loadable(&self, op: Op) -> Option<(&TransferPlan, &AllocPlan)> {
        let m = self.plan.move_of(op).filter(|_| self.program.role(op) == OpRole::Copy)?;
        let (End::Global(_), End::Shared(alloc)) = (m.from, m.to) else { return None };
        let plain = m.second.is_some() && m.tiled.is_none() && self.indexed_tile(m).is_none();
        let tile = self.plan.allocs.get(usize::from(alloc))?;
        (plain && !self.plan.runs_ahead(op)).then_some((m, tile))
    }

    /// Registers of a lane that a copy loads.
    fn loads(&self, m: &TransferPlan) -> u32 {
        let each = self.machine.tables.atom(m.atom).and_then(data_operand);
        m.tiling.count().saturating_mul(each.map_or(1, |o| o.registers.into()))
    }

    /// The copies that one is loaded with; nothing if it is alone. Their tiles lie apart.
    fn together(&self, op: Op) -> Option<Together> {
        if self.pressure >= RegisterPressureLevel::Blocks {
            return None;
        }
        let _ = self.loadable(op)?;
        let mut first = op;
        while let Some(before) =
            self.program.previous(first).filter(|b| self.loadable(*b).is_some())
        {
            first = before;
        }
        // From the first one on, as many as there is room for, then the next ones.
        let mut all = Together { first, last: first };
        let mut registers = self.loads(self.loadable(first)?.0);
        let mut behind = false;
        loop {
            behind |= all.last == op;
            let next = self.program.next(all.last);
            let Some((next, (m, tile))) = next.and_then(|n| Some((n, self.loadable(n)?))) else {
                break;
            };
            registers = registers.saturating_add(self.loads(m));
            let mut earlier = self.members(all);
            if registers <= MOST
                && !earlier.any(|e| self.loadable(e).is_some_and(|(_, other)| other.meets(tile)))
            {
                all.last = next;
            } else if behind {
                break;
            } else {
                (all, registers) = (Together { first: next, last: next }, self.loads(m));
            }
        }
        (all.first != all.last).then_some(all)
    }

    fn members(&self, all: Together) -> impl Iterator<Item = Op> + use<'_> {
        let program = self.program;
        let mut at = Some(all.first);
        core::iter::from_fn(move || {
            let op = at?;
            at = program.next(op).filter(|_| op != all.last);
            Some(op)
        })
    }

    /// Whether an earlier copy has loaded and stored this one with its own.
    pub(crate) fn is_loaded_before(&self, op: Op) -> bool {
        self.together(op).is_some_and(|all| all.first != op)
    }

    /// What copies that are loaded together have done when the last of them is ordered after what
    /// stands before: all of it comes behind. The list is room alone: on the deepest path it stands
    /// in one frame.
    pub(crate) fn reopen_together(
        &self,
        op: Op,
        open: &mut PendingAccesses,
        touched: &mut TouchedList,
    ) -> Result<(), EmitError> {
        let Some(all) = self.together(op).filter(|all| all.last == op) else { return Ok(()) };
        for earlier in self.members(all).filter(|earlier| *earlier != op) {
            touched.clear();
            self.touched(earlier, touched);
            for &touched in touched.iter() {
                open.reopen(touched)?;
            }
        }
        Ok(())
    }

    /// Copies that are loaded together, at the first of them; whether there are more than this one.
    #[inline(never)]
    pub(crate) fn copy_together(
        &mut self,
        op: Op,
        innermost: Option<&Loop>,
        open: &mut PendingAccesses,
    ) -> Result<bool, EmitError> {
        let Some(all) = self.together(op) else { return Ok(false) };
        let mut at = Some(all.first);
        let next = |this: &Self, op: Op| this.program.next(op).filter(|_| op != all.last);
        while let Some(op) = at {
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            self.meet(op, open, true)?;
            at = next(self, op);
        }
        let first = self.steps.next_register();
        at = Some(all.first);
        while let Some(op) = at {
            self.reserve(op)?;
            at = next(self, op);
        }
        let mut register = first;
        at = Some(all.first);
        while let Some(op) = at {
            register = self.load_half((op, innermost), register, None)?;
            at = next(self, op);
        }
        register = first;
        at = Some(all.first);
        while let Some(op) = at {
            register = self.store_half(op, register)?;
            at = next(self, op);
        }
        Ok(true)
    }

    /// Registers for all that a copy loads, one behind the other.
    pub(crate) fn reserve(&mut self, op: Op) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let plan = self.plan.move_of(op).ok_or(refuse)?;
        let atom = self.machine.tables.atom(plan.atom);
        let (class, count) = register_class(atom).zip(atom.and_then(data_operand)).ok_or(refuse)?;
        for _ in 0..plan.tiling.count() {
            let _ = self.steps.tuple(class, u16::from(count.registers))?;
        }
        Ok(())
    }
}
