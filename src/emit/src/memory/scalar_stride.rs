//! Strides: outer steps of a global tile that a scalar base takes, in place of address registers in
//! every lane.
//!
//! Where rows lie a run-time stride apart and registers run short, the lanes keep the offsets of
//! their first row alone. The base goes from row to row by scalar sums, which stand between the
//! movement's instructions; these come in the order of their rows.

use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::{KeptFor, KeptRegister, MovementEnd};
use crate::matrix::k_slices::RegisterPressureLevel;
use crate::memory::address::SideView;
use crate::step::{InstError, Missing, slot};
use lanebook_ir::Op;
use lanebook_plan::{End, TransferPlan};
use lanebook_tables::IndexOp;
use lanebook_tile::map::{Column, MemoryMap};
use lanebook_tile::offset::{Delta, reach};
use lanebook_tile::tiling::Tiling;

/// Most different steps from row to row.
const STEPS: usize = 4;
/// Most rows.
const ROWS: usize = 64;
/// Most instances that are put into the order of their rows.
pub(crate) const INSTANCES: usize = 256;
/// Fewest rows that are worth it.
const FEWEST: usize = 4;

/// The row that a scalar base stands at.
#[derive(Copy, Clone, Debug)]
pub struct Stride {
    op: u16,
    end: MovementEnd,
    lead: u32,
    reg: Reg,
}

/// Outer steps of a movement's instances, each once, ascending; `None` if there are too many.
fn rows(map: &MemoryMap, tiling: &Tiling) -> Option<heapless::Vec<u32, ROWS>> {
    let mut out: heapless::Vec<u32, ROWS> = heapless::Vec::new();
    out.push(0).ok()?;
    for i in 0..tiling.count() {
        let row = map.at(tiling.element(i)).lead;
        if !out.contains(&row) {
            out.push(row).ok()?;
            sink(out.as_mut_slice());
        }
    }
    Some(out)
}

/// Moves the last entry in front of all that are greater.
fn sink<T: Ord>(list: &mut [T]) {
    let mut rest = list;
    while let [.., before, last] = rest
        && *before > *last
    {
        core::mem::swap(before, last);
        let Some((_, front)) = rest.split_last_mut() else { return };
        rest = front;
    }
}

/// Distances from one row to the next, each once.
fn distances(rows: &[u32]) -> Option<heapless::Vec<u32, STEPS>> {
    let mut out: heapless::Vec<u32, STEPS> = heapless::Vec::new();
    for (before, after) in rows.iter().zip(rows.iter().skip(1)) {
        let step = after.wrapping_sub(*before);
        if !out.contains(&step) {
            out.push(step).ok()?;
        }
    }
    Some(out)
}

impl LowerContext<'_, '_, '_, '_> {
    /// Whether a side's outer steps go to its scalar base: its rows, ascending.
    pub(crate) fn strides(
        &self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        map: &MemoryMap,
    ) -> Option<heapless::Vec<u32, ROWS>> {
        if self.pressure < RegisterPressureLevel::Most || view.side.base.is_none() {
            return None;
        }
        let tiling = &plan.tiling;
        let lanes = tiling
            .address_lanes
            .as_slice()
            .iter()
            .chain(tiling.warps.as_slice())
            .fold(0, |mask, &e| mask | map.at(e).lead);
        let is_first = (0..tiling.count()).any(|i| map.at(tiling.element(i)).lead == 0);
        let rows = rows(map, tiling).filter(|rows| {
            is_first && rows.len() >= FEWEST && rows.iter().all(|row| row & lanes == 0)
        })?;
        // Known strides cost registers only where they lead beyond the offset field.
        let reach = view.offset.map_or(1, reach);
        let last = Column { bytes: 0, lead: rows.last().copied()? };
        let fields = map.known_bytes(last).and_then(|bytes| bytes.checked_div(reach));
        if fields.is_some_and(|fields| fields < FEWEST as u32) {
            return None;
        }
        distances(&rows).map(|_| rows)
    }

    /// Whether the outer steps of a side go to its scalar base.
    pub(crate) fn has_strides(&self, op: Op, end: MovementEnd) -> bool {
        let is_step = |what: KeptFor| matches!(what, KeptFor::Stride(own, _) if own == end);
        self.pressure >= RegisterPressureLevel::Most
            && self.addresses.iter().any(|a| usize::from(a.op) == op.index() && is_step(a.what))
    }

    /// The part of an instance's address that is a register of the lane: without outer steps, where
    /// the base takes them.
    pub(crate) fn in_lane(&self, op: Op, end: MovementEnd, d: Delta) -> Delta {
        if self.has_strides(op, end) { Delta { lead: 0, ..d } } else { d }
    }

    /// The order of a movement's instances, where a scalar base goes from row to row; `None` for
    /// that of their numbers.
    #[inline(never)]
    pub(crate) fn by_rows(&self, plan: &TransferPlan, out: &mut heapless::Vec<u16, INSTANCES>) {
        out.clear();
        let ends = [(MovementEnd::From, plan.from), (MovementEnd::To, plan.to)];
        let found = ends.into_iter().find_map(|(at, end)| match end {
            End::Global(k) if self.has_strides(plan.op, at) => {
                self.plan.globals.get(usize::from(k))
            }
            _ => None,
        });
        let Some(global) = found.filter(|_| plan.tiling.count() <= INSTANCES as u32) else {
            return;
        };
        // By row, and where that is the same by number.
        let mut order: heapless::Vec<(u32, u16), INSTANCES> = heapless::Vec::new();
        for i in 0..plan.tiling.count() {
            let _ = order.push((
                global.map.at(plan.tiling.element(i)).lead,
                u16::try_from(i).unwrap_or(u16::MAX),
            ));
            sink(order.as_mut_slice());
        }
        for (_, i) in &order {
            let _ = out.push(*i);
        }
    }

    /// Scalar registers for the steps from row to row, and the lanes' offsets in the first one.
    pub(crate) fn prepare_strides(
        &mut self,
        op: Op,
        end: MovementEnd,
        rows: &[u32],
        outer_bytes: ExprId,
    ) -> Result<(), EmitError> {
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        for step in distances(rows).ok_or(EmitError::Unplanned(op))? {
            let count = self.arena.constant(step)?;
            let bytes = self.arena.op(IndexOp::Mul, &[count, outer_bytes])?;
            let reg = self.compute(bytes, RegBank::Scalar)?;
            self.keep(number, KeptFor::Stride(end, step), reg)?;
        }
        Ok(())
    }

    /// The scalar base at row `lead` of an end, from where it stands.
    pub(crate) fn base_at(
        &mut self,
        op: Op,
        end: MovementEnd,
        lead: u32,
    ) -> Result<Reg, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let number = u16::try_from(op.index()).map_err(|_| refuse)?;
        let first = self.kept(op, KeptFor::Base(end)).ok_or(refuse)?;
        if lead == 0 {
            return Ok(first);
        }
        let known = self.stride.filter(|at| (at.op, at.end) == (number, end) && at.lead <= lead);
        let (mut row, mut from) = known.map_or((0, first), |at| (at.lead, at.reg));
        let into = match known {
            Some(at) => at.reg,
            None => self.steps.tuple(first.class, first.count)?,
        };
        while row < lead {
            // The longest step that does not lead too far.
            let fits = |a: &KeptRegister| match a.what {
                KeptFor::Stride(own, step)
                    if a.op == number && own == end && row.saturating_add(step) <= lead =>
                {
                    Some((step, a.reg))
                }
                _ => None,
            };
            let (step, by) = self
                .addresses
                .iter()
                .filter_map(fits)
                .max_by_key(|(step, _)| *step)
                .ok_or(refuse)?;
            self.add_bytes(into, from, by)?;
            (row, from) = (row.saturating_add(step), into);
        }
        self.stride = Some(Stride { op: number, end, lead, reg: into });
        Ok(into)
    }

    /// `into = from + by`, 64 bits and 32.
    fn add_bytes(&mut self, into: Reg, from: Reg, by: Reg) -> Result<(), EmitError> {
        let missing = InstError::NoAtom(Missing::Move(into.class));
        let sum = self.machine.add_extended(into.class, by.class).ok_or(missing)?;
        Ok(self.steps.append(sum, &[slot(into), slot(from), slot(by)])?)
    }
}
