//! Guards: a step is carried out in exactly the lanes whose elements are inside of their tensor's
//! bounds, or of which the mask says so, and what a load leaves alone in the others is 0.

use crate::contents::address::{TURNS, ThreadRun};
use crate::contents::arguments::Edge;
use crate::contents::flow::{is_written, role_of};
use crate::contents::goal::{Goal, What};
use crate::contents::storage::{ContentsScratch, LOOPS};
use crate::contents::through::BitRange;
use crate::contents::{Content, ContentsContext, ContentsSummary, count};
use crate::evaluator::Position;
use crate::violation::Violation;
use lanebook_emit::ParamKind;
use lanebook_emit::step::{GUARD_OPERAND, Inst, NO_GUARD, Slot};
use lanebook_ir::{Def, MemrefBound, Op, Value};
use lanebook_plan::{End, GlobalPlan, TransferPlan};
use lanebook_tables::{Movement, OpRole, Role, Space};

/// Most bounds that are arguments.
pub(super) const EDGES: usize = 16;

/// Registers that a guarded load fills in some lanes hold 0 before it.
#[inline(never)]
pub(super) fn filled(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
) -> Result<(), Violation> {
    for (at, step) in (0u16..).zip(look.steps).filter(|(_, step)| step.guard != NO_GUARD) {
        let Some(atom) = look.atom(step) else { continue };
        if look.of_loops.is_some() {
            // Copies into fragments and stores are kept to lanes there, too; loads are filled.
            if atom.movement.is_none_or(|m| m.to.space != Space::Register) {
                continue;
            }
        }
        let wrong = Violation::Guard { step: at, thread: u16::MAX };
        // Nothing else is guarded than movements between registers and global memory, and stores of
        // which the first of several threads with copies does each.
        let sides = atom.movement.map(|m| (m.from.space, m.to.space));
        let is_first = sides == Some((Space::Register, Space::Shared))
            && look.movement_of(step).is_some_and(|m| m.kept != 0);
        if !is_first
            && !matches!(
                sides,
                Some((Space::Global, Space::Register) | (Space::Register, Space::Global))
            )
            && look.of_loops.is_none()
        {
            return Err(wrong);
        }
        for (k, operand) in (0u8..).zip(atom.operands.iter()) {
            // What else a movement writes is read by nobody: a register of its own.
            if !is_written(role_of(step, operand.role))
                || !atom.movement.is_none_or(|m| fills(m, k))
            {
                continue;
            }
            for member in 0..count(step.arg(usize::from(k))) {
                let before = scratch.read(look, at, k, member);
                if before.and_then(|content| scratch.known(look, content)) != Some(0) {
                    return Err(wrong);
                }
            }
        }
    }
    Ok(())
}

/// Whether an operand of a movement receives what it moves, or what stood in memory.
fn fills(movement: &Movement<'_>, operand: u8) -> bool {
    let to = &movement.to;
    (to.space == Space::Register && to.operand == operand)
        || movement.atomic.is_some_and(|atomic| atomic.old == Some(operand))
}

/// What the guard of a masked movement's step must hold: the truth of the first element that each
/// lane moves.
#[inline(never)]
pub(super) fn masked(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
    m: &TransferPlan,
    out: &mut ContentsSummary,
) -> Result<(), Violation> {
    let Some(mask) = look.program.mask(m.op) else { return Ok(()) };
    let wrong = Violation::Guard { step: at, thread: u16::MAX };
    let Some(instance) = scratch.instance(at) else {
        out.unfollowed = out.unfollowed.saturating_add(1);
        return Ok(());
    };
    let rules = look.isa.guard.ok_or(wrong)?;
    let mut content = scratch.read(look, at, GUARD_OPERAND, 0).ok_or(wrong)?;
    if let Some(test) = rules.test {
        let Content::Inst(number, _) = content else { return Err(wrong) };
        let step = look.steps.get(usize::from(number)).filter(|s| s.atom == test).ok_or(wrong)?;
        let atom = look.atom(step).ok_or(wrong)?;
        let word = atom.operands.iter().position(|o| o.role == Role::Use).ok_or(wrong)?;
        // Below zero, not below another number.
        let others = atom.operands.iter().enumerate().skip(word.saturating_add(1));
        for (k, _) in others.filter(|(_, o)| o.role != Role::Def) {
            if step.arg(k) != Slot::Int(0) {
                return Err(wrong);
            }
        }
        let word = u8::try_from(word).map_err(|_| wrong)?;
        content = scratch.read(look, number, word, 0).ok_or(wrong)?;
    }
    scratch.want(Goal {
        bits: BitRange { content, bit: 0, width: 32 },
        what: What::Tile(mask),
        at: look.beside(m, mask, instance).ok_or(wrong)?,
        sink: at,
    })
}

impl ThreadRun<'_, '_> {
    /// What an instance's step does in this thread is what its tensor's bounds say: `first` is the
    /// first byte of the lane's share, of so many bytes.
    pub(super) fn guarded(
        &self,
        at: u16,
        end: End,
        (first, coordinate): (Position, Option<u64>),
        share: u32,
    ) -> Result<(), Violation> {
        let wrong =
            Violation::Guard { step: at, thread: u16::try_from(self.thread).unwrap_or(u16::MAX) };
        let step = self.look.steps.get(usize::from(at)).ok_or(wrong)?;
        let End::Global(k) = end else {
            let kept = self.look.movement_of(step).map_or(0, |m| u32::from(m.kept));
            let is_kept = match kept {
                0 => step.guard == NO_GUARD,
                _ => self.takes_part(step) == Some(self.thread & kept == 0),
            };
            return if is_kept { Ok(()) } else { Err(wrong) };
        };
        let tile = self.look.plan.globals.get(usize::from(k)).ok_or(wrong)?;
        let is_sized = (self.look.atom(step).and_then(|atom| atom.movement?.size)).is_some();
        let mask = self.look.movement_of(step).and_then(|m| self.look.program.mask(m.op));
        let copies = self.copies(step).ok_or(wrong)?;
        if let Some(mask) = mask {
            // What its guard holds is shown of each instance; here, that one truth is enough.
            let element = u32::from(tile.map.shape.bits / 8);
            let is_one = share == element || self.look.program.is_same_along_rows(mask);
            let is_kept = step.guard != NO_GUARD && !is_sized && is_one;
            let op = self.look.movement_of(step).ok_or(wrong)?.op;
            let memref = self.look.program.accessed_number(op);
            let beside = self.look.program.bounds_beside_mask(op, memref);
            let is_plain = beside.is_none() && copies == 0;
            return if is_kept && is_plain { Ok(()) } else { Err(wrong) };
        }
        // Of the threads that hold an element the first one combines it.
        let is_first = self.thread & copies == 0;
        if self.look.program.bounds(tile.memref).is_none() {
            let is_kept = match copies {
                0 => step.guard == NO_GUARD,
                _ => self.takes_part(step) == Some(is_first),
            };
            return if is_kept && !is_sized { Ok(()) } else { Err(wrong) };
        }
        // Indices of tensors with bounds are below this, also those beyond the bounds.
        let indexed = self.look.movement_of(step).and_then(|m| self.look.program.indexed_dim(m.op));
        if self.last_index(tile, first, indexed).is_none_or(|last| last >= 1 << 31) {
            return Ok(());
        }
        let index = match (indexed, coordinate) {
            (None, None) => None,
            (Some(dim), Some(at)) => Some((usize::from(dim), at)),
            _ => return Err(wrong),
        };
        let last = first.plus(share.saturating_sub(1)).ok_or(wrong)?;
        let inside = self.is_inside(tile, first, index).ok_or(wrong)?;
        let takes_part = match self.look.atom(step).and_then(|atom| atom.movement?.size) {
            // All of a share is read, or nothing.
            Some(size) => match self.operand(step, u16::MAX, usize::from(size)) {
                Some(0) => false,
                Some(bytes) if bytes & 0xffff_ffff == u64::from(share) => true,
                _ => return Err(wrong),
            },
            None => self.takes_part(step).ok_or(wrong)?,
        };
        // A share is all inside or all outside.
        if (inside && is_first) == takes_part && self.is_inside(tile, last, index) == Some(inside) {
            Ok(())
        } else {
            Err(wrong)
        }
    }

    /// The greatest index of a byte of a tile along a dimension of its tensor.
    fn last_index(&self, tile: &GlobalPlan, at: Position, indexed: Option<u8>) -> Option<u64> {
        let mut most = 0;
        for (dim, start) in (0u8..).zip(tile.starts()) {
            if Some(dim) == indexed {
                continue;
            }
            let last = self.index(start)?.checked_add(i64::from(at.byte.max(at.lead)))?;
            most = u64::try_from(last).unwrap_or(0).max(most);
        }
        Some(most)
    }

    /// Bits of a thread's number that tell those apart that hold the same elements of an atomic
    /// operation's tile; none of any other step.
    fn copies(&self, step: &Inst) -> Option<u32> {
        let Some(m) = self.look.movement_of(step) else { return Some(0) };
        if self.look.program.atomic_op(m.op).is_none() {
            return Some(0);
        }
        let wave = u32::from(self.look.plan.wave);
        let mut copies = 0u32;
        let columns = [(0, wave, m.tiling.address_lanes.as_slice())];
        let warps = (wave, u32::from(self.look.plan.warps), m.tiling.warps.as_slice());
        for (first, bits, columns) in columns.into_iter().chain([warps]) {
            for bit in 0..bits {
                if columns.get(usize::try_from(bit).ok()?).is_none_or(|element| *element == 0) {
                    copies |= 1u32.checked_shl(first.checked_add(bit)?)?;
                }
            }
        }
        Some(copies)
    }

    /// Whether a step is carried out in this thread.
    fn takes_part(&self, step: &Inst) -> Option<bool> {
        if step.guard == NO_GUARD {
            return Some(true);
        }
        let guard = self.look.isa.guard.filter(|g| g.class.0 == u16::from(step.guard_class))?;
        let found = self.register(step.guard_class, step.guard)?;
        Some(match guard.test {
            Some(_) => found != 0,
            None => (found as u32).cast_signed() < 0,
        })
    }

    /// Whether a byte of a tile belongs to an element inside of the bounds.
    fn is_inside(
        &self,
        tile: &GlobalPlan,
        at: Position,
        index: Option<(usize, u64)>,
    ) -> Option<bool> {
        let element = u32::from(tile.map.shape.bits / 8);
        let bounds = self.look.program.bounds(tile.memref)?;
        let mut inside = true;
        for (dim, (bound, start)) in bounds.iter().zip(tile.starts()).enumerate() {
            let further = match bounds.len().saturating_sub(dim) {
                1 => at.byte.checked_div(element)?,
                2 => at.lead,
                _ => 0,
            };
            let bound = match *bound {
                MemrefBound::None => continue,
                MemrefBound::Number(n) => u64::from(n),
                MemrefBound::Argument(value) => self.argument(value, ParamKind::Scalar)?,
                MemrefBound::Half(value) => self.argument(value, ParamKind::Scalar)? / 2,
            };
            if let Some((_, coordinate)) = index.filter(|(own, _)| *own == dim) {
                // Below zero is above all bounds.
                inside &= coordinate < bound;
                continue;
            }
            let place = self.index(start)?.checked_add(i64::from(further))?;
            inside &= u64::try_from(place).is_ok_and(|place| place < bound);
        }
        Some(inside)
    }
}

impl ContentsContext<'_> {
    /// Of each bound that is an argument, a value with which a tile of its tensor reaches beyond it
    /// and begins before, if there is one, another one each time; and what else is no usual
    /// argument.
    #[inline(never)]
    pub(super) fn edges(
        &self,
        scratch: &mut ContentsScratch<'_>,
        nth: u64,
    ) -> heapless::Vec<Edge, EDGES> {
        let mut out: heapless::Vec<Edge, EDGES> = heapless::Vec::new();
        let _ = out.extend_from_slice(self.edges);
        // In the last turns that are gone through.
        let mut run = ThreadRun::of(self, scratch, false);
        run.turns = [TURNS; LOOPS];
        for tile in self.plan.globals.iter() {
            let Some(bounds) = self.program.bounds(tile.memref) else { continue };
            for (dim, (bound, start)) in bounds.iter().zip(tile.starts()).enumerate() {
                let (value, of_each) = match *bound {
                    MemrefBound::Argument(value) => (value, 1),
                    MemrefBound::Half(value) => (value, 2),
                    MemrefBound::None | MemrefBound::Number(_) => continue,
                };
                let extent = match bounds.len().saturating_sub(dim) {
                    1 => tile.map.shape.col_count(),
                    2 => tile.map.shape.row_count(),
                    _ => 1,
                };
                let div = u64::from(self.program.index_facts(value).divisor());
                let is_known = out.iter().any(|edge| edge.value == value);
                if is_known || self.decides(value, start) {
                    continue;
                }
                let Some(from) = run.index(start) else { continue };
                let inside = from.saturating_add_unsigned(part(extent, nth));
                let inside = u64::try_from(inside).unwrap_or(0).saturating_mul(of_each);
                let number = inside.next_multiple_of(div);
                if number < 1 << 31 {
                    let _ = out.push(Edge { value, number });
                }
            }
        }
        out
    }

    /// Whether an argument is the bound of a loop, or what a loop's bound or an index is computed
    /// of.
    fn decides(&self, argument: Value, index: Value) -> bool {
        let Some(function) = self.program.functions().next() else { return true };
        let bounds_loop = |op: Op| {
            self.program.role(op) == OpRole::For
                && self.program.counted_loop(op).is_some_and(|at| {
                    at.upper == argument || at.lower == argument || self.feeds(argument, at.upper)
                })
        };
        let is_plain = matches!(self.program.def(index), Def::Argument(..));
        self.program.inside(function).any(bounds_loop)
            || index == argument
            || (!is_plain && self.feeds(argument, index))
    }
}

/// A part of an extent, from 1 to all of it: five eighths, then another one each time.
fn part(extent: u64, nth: u64) -> u64 {
    let most = extent.saturating_mul(5).checked_div(8).unwrap_or(0);
    let more = nth.saturating_mul(most | 1);
    let part = most.max(1).saturating_sub(1).saturating_add(more);
    part.checked_rem(extent).unwrap_or(0).saturating_add(1)
}
