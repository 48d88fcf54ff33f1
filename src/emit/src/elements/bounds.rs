//! Bounds of a memref, element by element: a slot's guard keeps its access inside.
//!
//! Neighbours that are certainly all inside or none have the same guard, so that one instruction
//! serves them.

use crate::elements::address::Place;
use crate::elements::nest::Chunk;
use crate::elements::slots::LANES;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::ExprId;
use crate::lower::context::{EmitError, LowerContext};
use lanebook_infer::IndexForm;
use lanebook_ir::MemrefBound;
use lanebook_loops::Told;
use lanebook_tables::IndexOp;

/// Most neighbours that one instruction moves.
const NEIGHBOURS: u32 = 16;

/// Guards of a chunk's slots, as they were before an access.
pub(crate) type Guards = heapless::Vec<Option<ExprId>, LANES>;

impl LowerContext<'_, '_, '_, '_> {
    /// Keeps the slots of a chunk to what lies inside of a memref's bounds; what their guards were
    /// before.
    #[inline(never)]
    pub(crate) fn keep_inside(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        place: &Place<'_>,
    ) -> Result<Guards, EmitError> {
        let mut before = Guards::new();
        for slot in &*chunk.slots {
            let pushed = before.push(slot.guard);
            pushed.map_err(|_| refused(place.op, ElementReason::Room))?;
        }
        let Some(bounds) = self.program.bounds(place.value) else { return Ok(before) };
        for (dim, bound) in bounds.iter().enumerate() {
            let Some(index) = place.indices.get(dim).copied() else { break };
            if matches!(bound, MemrefBound::None) {
                continue;
            }
            for number in 0..chunk.slots.len() {
                self.keep_below_bound(told, chunk, (place, index, *bound), number)?;
            }
        }
        Ok(before)
    }

    /// The guards of a chunk's slots as they were.
    pub(crate) fn restore(chunk: &mut Chunk<'_>, before: &Guards) {
        for (slot, guard) in chunk.slots.iter_mut().zip(before) {
            slot.guard = *guard;
        }
    }

    /// One dimension of one slot.
    fn keep_below_bound(
        &mut self,
        told: &mut Told<'_>,
        chunk: &mut Chunk<'_>,
        (place, index, bound): (&Place<'_>, IndexForm, MemrefBound),
        number: usize,
    ) -> Result<(), EmitError> {
        let full = of_form(place.op);
        let thread = chunk.executing.thread;
        let Some(slot) = chunk.slots.get_mut(number).filter(|slot| slot.live) else {
            return Ok(());
        };
        let arena = &mut told.inference.arena;
        let mut form = arena.substitute(index, &slot.vars).map_err(&full)?;
        let (low, high) = arena.range(form).map_err(&full)?;
        let divisor = match bound {
            MemrefBound::Number(n) if low >= 0 && high < i64::from(n) => return Ok(()),
            MemrefBound::Number(n) => n,
            MemrefBound::Argument(value) => self.program.index_facts(value).divisor(),
            MemrefBound::Half(value) => self.program.index_facts(value).divisor() >> 1,
            MemrefBound::None => return Ok(()),
        };
        // All of a group of neighbours are inside where its first one is.
        let group = arena.terms_of(form).iter().fold(divisor | NEIGHBOURS, |all, term| {
            all | u32::try_from(term.stride.unsigned_abs() & u64::from(u32::MAX)).unwrap_or(0)
        });
        let group = 1i64.checked_shl(group.trailing_zeros()).unwrap_or(1);
        let further = form.constant.checked_rem_euclid(group).unwrap_or(0);
        form.constant = form.constant.saturating_sub(further);
        let mut guard = slot.guard;
        let node = self.form_node(place.op, told, form, thread)?;
        let end = self.bound(place.op, bound)?;
        let distance = self.arena.op(IndexOp::Sub, &[node, end])?;
        self.keep_word(&mut guard, distance)?;
        if low < 0 {
            let above = self.arena.op_const(IndexOp::Xor, node, u64::from(u32::MAX))?;
            self.keep_word(&mut guard, above)?;
        }
        if let Some(slot) = chunk.slots.get_mut(number) {
            slot.guard = guard;
        }
        Ok(())
    }
}
