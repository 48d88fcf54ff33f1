//! Scheduling where registers do not suffice: arithmetic and loads sink to what reads them.
//!
//! Tiles are computed one operation after the other: of a chain of operations on a tile all of its
//! registers are there at once. Where allocation finds too few, an instruction whose operands live
//! on behind it anyway, or are made by such instructions, moves down to its first reader, so that
//! what it makes lives no longer than that: chains go register by register. Instructions stay
//! in their block, but for what a loop alone reads (`into_loops`); none is added, and none passes
//! another that touches what it does.
//!
//! A load sinks where it leaves more behind than its address, past nothing that writes memory or
//! orders accesses.
//!
//! Registers that are not allocated (a carry, a condition) join instructions: who writes one and
//! who reads it move together, with all between them.

mod inst_set;
mod into_loops;

use crate::registers::allocate::{Owners, find_live_ranges};
use crate::registers::schedule::inst_set::{InstSet, WINDOW};
use crate::step::{
    Inst, InstKind, LoopSpan, NO_GUARD, Slot, TupleStride, VRegTuple, for_each_register, owner,
};
use heapless::{Vec, VecView};
use lanebook_tables::{AtomClass, Role, Space, Tables};

/// Most registers, or runs of them, that instructions which move together touch.
const TOUCHES: usize = 24;

/// Registers that follow each other, as a step touches them.
#[derive(Copy, Clone)]
struct RegisterRun {
    class: u8,
    first: u16,
    count: u16,
    written: bool,
    read: bool,
    /// Not allocated: by its class alone.
    is_fixed: bool,
}

/// Classes of registers that are not allocated, a bit each.
struct FixedClasses {
    read: u16,
    written: u16,
}

/// The steps of a kernel, and what their registers are.
struct Schedule<'s> {
    tables: &'s Tables<'s>,
    steps: &'s mut VecView<Inst>,
    registers: &'s VecView<VRegTuple>,
    patterns: &'s VecView<TupleStride>,
    /// Of which class there are too few: its tuples know how long they live.
    lacking: Lacking,
    /// Classes of registers that are not allocated and that some block reads before it writes
    /// them, a bit each.
    across: u16,
    /// Each step that moves together with the next one.
    joined: InstSet,
    /// Each step that is worth moving.
    sinks: InstSet,
    /// The window's first step.
    base: usize,
}

/// Moves arithmetic, and loads where that is said, down to what reads it, where registers of a
/// class do not suffice. `registers` are as an allocation left them that failed, and have to be
/// allocated anew.
#[inline(never)] // Beside what is emitted, not below it.
pub(crate) fn sink_to_readers(
    tables: &Tables<'_>,
    steps: &mut VecView<Inst>,
    registers: &mut VecView<VRegTuple>,
    patterns: &VecView<TupleStride>,
    loops: &mut VecView<LoopSpan>,
    lacking: Lacking,
) {
    schedule((tables, patterns), steps, registers, Some(&mut *loops), lacking);
    forget(registers);
    find_live_ranges(tables, steps, registers, patterns, loops, &mut Owners::new());
    schedule((tables, patterns), steps, registers, None, lacking);
    forget(registers);
}

/// What is done about too few registers.
#[derive(Copy, Clone)]
pub(crate) struct Lacking {
    /// The class of which there are too few.
    pub(crate) class: u8,
    /// Whether loads sink as well: what reads them waits for each.
    pub(crate) loads_sink: bool,
}

/// One round over all blocks: into loops where these are given, else to the readers in the block.
#[inline(never)]
fn schedule(
    (tables, patterns): (&Tables<'_>, &VecView<TupleStride>),
    steps: &mut VecView<Inst>,
    registers: &VecView<VRegTuple>,
    mut loops: Option<&mut VecView<LoopSpan>>,
    lacking: Lacking,
) {
    let mut schedule = Schedule {
        tables,
        steps,
        registers,
        patterns,
        lacking,
        across: 0,
        joined: InstSet::new(),
        sinks: InstSet::new(),
        base: 0,
    };
    schedule.across = schedule.fixed_across_blocks();
    let mut begin = 0usize;
    while begin < schedule.steps.len() {
        let end = schedule.end_of_block(begin);
        schedule.base = begin;
        schedule.find_sinks(end);
        match loops.as_deref_mut() {
            Some(loops) => schedule.sink_into_loops(end, loops),
            None => schedule.sink_all(end),
        };
        // What moved away from here stands behind: the next block begins earlier.
        begin = schedule.end_of_block(begin);
    }
}

/// Lives are to be found anew.
pub(crate) fn forget(registers: &mut VecView<VRegTuple>) {
    for tuple in registers.iter_mut() {
        (tuple.live, tuple.next) = ((u16::MAX, 0), u16::MAX);
    }
}

impl Schedule<'_> {
    fn touches(&self, at: usize, mut f: impl FnMut(RegisterRun)) {
        let Some(step) = self.steps.get(at) else { return };
        let Some(atom) = self.tables.atom(step.atom).filter(|_| step.purpose != InstKind::Label)
        else {
            return;
        };
        for_each_register(self.tables, step, self.patterns, |touch| {
            let tuple = owner(self.registers, touch.first).and_then(|k| self.registers.get(k));
            f(RegisterRun {
                class: touch.class,
                first: touch.first,
                count: touch.count,
                written: touch.written,
                read: touch.read,
                is_fixed: tuple.is_none_or(|tuple| tuple.pinned),
            });
        });
        for operand in atom.operands.iter().filter(|operand| operand.implicit) {
            f(RegisterRun {
                class: operand.class.0 as u8,
                first: 0,
                count: 1,
                written: matches!(operand.role, Role::Def | Role::UseDef),
                read: operand.role != Role::Def,
                is_fixed: true,
            });
        }
    }

    /// Whether a step touches what one of these touches that are allocated, so that they have to
    /// stay in their order.
    fn overlaps_any(&self, at: usize, own: &[RegisterRun]) -> bool {
        self.steps.get(at).is_some_and(|step| {
            let mut meets = false;
            for_each_register(self.tables, step, self.patterns, |touch| {
                meets |= own.iter().any(|mine| {
                    (touch.written || mine.written)
                        && touch.overlaps(mine.class, mine.first, mine.count)
                });
            });
            meets
        })
    }

    /// One past the last step of the block that begins at a step: a label begins one, a branch ends
    /// it.
    fn end_of_block(&self, begin: usize) -> usize {
        let most = begin.saturating_add(WINDOW).min(self.steps.len());
        for at in begin..most {
            if self.ends_block(at) {
                let is_label = self.steps.get(at).is_some_and(|s| s.purpose == InstKind::Label);
                return if is_label && at > begin { at } else { at.saturating_add(1) };
            }
        }
        most
    }

    /// Whether a step is a label or a branch.
    fn ends_block(&self, at: usize) -> bool {
        self.steps.get(at).is_some_and(|step| {
            step.purpose == InstKind::Label
                || step.args.iter().any(|arg| matches!(arg, Slot::Label(_)))
        })
    }

    /// Which registers that are not allocated a step touches.
    fn fixed_at(&self, at: usize) -> FixedClasses {
        let mut out = FixedClasses { read: 0, written: 0 };
        self.touches(at, |touch| {
            let bit = 1u16.wrapping_shl(u32::from(touch.class & 15));
            if touch.is_fixed {
                out.read |= if touch.read { bit } else { 0 };
                out.written |= if touch.written { bit } else { 0 };
            }
        });
        out
    }

    /// Whether a step touches a register that is not allocated and lives from block to block.
    fn is_bound(&self, at: usize) -> bool {
        let fixed = self.fixed_at(at);
        (fixed.read | fixed.written) & self.across != 0
    }

    /// Classes of registers that are not allocated and that live from block to block.
    fn fixed_across_blocks(&self) -> u16 {
        let (mut begin, mut across, mut ever) = (0usize, 0u16, 0u16);
        while begin < self.steps.len() {
            let end = self.end_of_block(begin);
            let mut written = 0u16;
            for at in begin..end {
                let fixed = self.fixed_at(at);
                across |= fixed.read & !written;
                written |= fixed.written;
            }
            ever |= written;
            begin = end;
        }
        // What nothing writes is the same everywhere.
        across & ever
    }

    /// Finds what is worth moving in a block, from the window's first step to before `end`.
    fn find_sinks(&mut self, end: usize) {
        (self.joined, self.sinks) = (InstSet::new(), InstSet::new());
        for at in self.base..end {
            self.join(at, end);
        }
        let mut at = self.base;
        while at < end {
            let next = self.end_of_group(at, end);
            if self.is_worth(at, next) {
                self.sinks.set(at.saturating_sub(self.base), true);
            }
            at = next;
        }
    }

    /// Sinks what is worth it in a block.
    fn sink_all(&mut self, end: usize) {
        let mut last = end;
        while last > self.base {
            let first = self.start_of_group(last);
            if self.sinks.has(first.saturating_sub(self.base)) {
                self.sink(first, last, end);
            }
            last = first;
        }
    }

    /// Joins a step with those up to the last reader of each register that it writes and that is
    /// not allocated.
    fn join(&mut self, at: usize, end: usize) {
        let mut waiting = self.fixed_at(at).written;
        let (mut last, mut next) = (at, at.saturating_add(1));
        while waiting != 0 && next < end {
            let fixed = self.fixed_at(next);
            if fixed.read & waiting != 0 {
                last = next;
            }
            waiting &= !fixed.written;
            next = next.saturating_add(1);
        }
        for joined in at..last {
            self.joined.set(joined.saturating_sub(self.base), true);
        }
    }

    /// One past the last of the steps that move together with the one at `at`.
    fn end_of_group(&self, at: usize, end: usize) -> usize {
        let mut last = at;
        while last.saturating_add(1) < end && self.joined.has(last.saturating_sub(self.base)) {
            last = last.saturating_add(1);
        }
        last.saturating_add(1).min(end)
    }

    /// The first of the steps that move together with the one before `end`.
    fn start_of_group(&self, end: usize) -> usize {
        let mut first = end.saturating_sub(1);
        while first > self.base
            && self.joined.has(first.saturating_sub(self.base).saturating_sub(1))
        {
            first = first.saturating_sub(1);
        }
        first
    }

    /// Whether steps that move together are arithmetic, all of whose operands live on behind them
    /// or are made by others that are worth moving, or a load of more registers than end there.
    fn is_worth(&self, first: usize, end: usize) -> bool {
        if end.saturating_sub(first) > TOUCHES {
            return false;
        }
        if self.is_load(first) {
            let is_alone = end == first.saturating_add(1);
            return self.lacking.loads_sink && is_alone && self.leaves_more(first);
        }
        let mut helps = false;
        for at in first..end {
            let own = |touch: RegisterRun| touch.written && touch.class == self.lacking.class;
            self.touches(at, |touch| helps |= own(touch));
        }
        helps
            && (first..end).all(|at| self.is_arithmetic(at) && self.operands_stay(at, (first, end)))
    }

    /// Whether a step brings elements from memory into registers, and does nothing else.
    fn is_load(&self, at: usize) -> bool {
        let Some(step) = self.steps.get(at).filter(|step| step.purpose == InstKind::Move) else {
            return false;
        };
        let atom = self.tables.atom(step.atom).filter(|_| step.guard == NO_GUARD);
        atom.and_then(|atom| atom.movement).is_some_and(|movement| {
            movement.atomic.is_none()
                && movement.to.space == Space::Register
                && matches!(movement.from.space, Space::Shared | Space::Global)
        })
    }

    /// Whether a step writes memory or orders accesses: no load passes it.
    fn keeps_loads(&self, at: usize) -> bool {
        let Some(step) = self.steps.get(at) else { return true };
        let atom = self.tables.atom(step.atom).filter(|_| step.purpose != InstKind::Label);
        atom.is_none_or(|atom| match atom.movement {
            Some(movement) => movement.atomic.is_some() || movement.to.space != Space::Register,
            None => matches!(atom.class, AtomClass::Sync | AtomClass::Control | AtomClass::Move),
        })
    }

    /// The purpose and the operation of steps whose order tells which part of a tile each is for:
    /// those of a movement with an index tile.
    fn ordered_among(&self, first: usize, last: usize) -> Option<(InstKind, u16)> {
        let mut own = (first..last).filter_map(|at| self.steps.get(at));
        let step = own.find(|step| matches!(step.purpose, InstKind::Move | InstKind::Index))?;
        let is_indexed = |s: &Inst| s.purpose == InstKind::Index && s.origin == step.origin;
        self.steps.iter().any(is_indexed).then_some((step.purpose, step.origin))
    }

    /// Whether a load makes more registers than it reads for the last time.
    fn leaves_more(&self, at: usize) -> bool {
        let (mut made, mut ended) = (0u32, 0u32);
        self.touches(at, |touch| {
            if touch.is_fixed || touch.class != self.lacking.class {
                return;
            }
            let count = u32::from(touch.count);
            let tuple = owner(self.registers, touch.first).and_then(|k| self.registers.get(k));
            if touch.written {
                made = made.saturating_add(count);
            } else if tuple.is_none_or(|tuple| usize::from(tuple.live.1) <= at) {
                ended = ended.saturating_add(count);
            }
        });
        made > ended && !self.is_bound(at)
    }

    fn is_arithmetic(&self, at: usize) -> bool {
        let Some(step) = self.steps.get(at) else { return false };
        let is_plain = matches!(
            step.purpose,
            InstKind::FirstAddress
                | InstKind::FurtherAddress
                | InstKind::Fill
                | InstKind::Arithmetic
                | InstKind::Index
        );
        let atom = self.tables.atom(step.atom).filter(|_| is_plain && step.guard == NO_GUARD);
        let is_alu = atom.is_some_and(|atom| {
            matches!(atom.class, AtomClass::Alu | AtomClass::Convert)
                && atom.movement.is_none()
                && atom.matrix.is_none()
                && atom.counter.is_none()
        });
        is_alu && !self.is_bound(at)
    }

    /// Whether no operand of a step ends there that was not made by the steps that move with it,
    /// or by others that are worth moving.
    fn operands_stay(&self, at: usize, (first, end): (usize, usize)) -> bool {
        let mut stay = true;
        self.touches(at, |touch| {
            if touch.is_fixed || !touch.read || touch.class != self.lacking.class {
                return;
            }
            let tuple = owner(self.registers, touch.first).and_then(|k| self.registers.get(k));
            let lives_on = tuple.is_some_and(|tuple| usize::from(tuple.live.1) >= end);
            stay &= (lives_on && !touch.written) || self.is_made_by_worthy(&touch, (first, at));
        });
        stay
    }

    /// Whether the last step that writes registers before a step is worth moving, or moves with it.
    fn is_made_by_worthy(&self, touch: &RegisterRun, (first, at): (usize, usize)) -> bool {
        let mut before = at;
        while before > self.base {
            before = before.saturating_sub(1);
            if self.overlaps_any(before, &[RegisterRun { written: false, ..*touch }]) {
                let own = self.start_of_group(before.saturating_add(1));
                return before >= first || self.sinks.has(own.saturating_sub(self.base));
            }
        }
        false
    }

    /// Moves steps that stand together down to the first that touches what they do, if there is
    /// one.
    fn sink(&mut self, first: usize, last: usize, end: usize) {
        let mut own: Vec<RegisterRun, TOUCHES> = Vec::new();
        let mut is_full = false;
        for at in first..last {
            self.touches(at, |touch| {
                if !touch.is_fixed {
                    is_full |= own.push(touch).is_err();
                }
            });
        }
        if is_full {
            return;
        }
        let (is_load, ordered) = (self.is_load(first), self.ordered_among(first, last));
        let mut to = last;
        while to < end {
            let next = self.end_of_group(to, end);
            let meets = (to..next).any(|at| {
                let of = self.steps.get(at).map(|step| (step.purpose, step.origin));
                is_load && self.keeps_loads(at)
                    || ordered.is_some() && ordered == of
                    || self.overlaps_any(at, &own)
            });
            if meets {
                break;
            }
            to = next;
        }
        if to >= end || to == last {
            return;
        }
        let count = last.saturating_sub(first);
        self.rotate(first, count, to);
        let from = first.saturating_sub(self.base);
        self.joined.rotate(from, count, to.saturating_sub(self.base));
        self.sinks.rotate(from, count, to.saturating_sub(self.base));
    }

    /// The steps from `first` on, `count` of them, go behind the others before `to`.
    fn rotate(&mut self, first: usize, count: usize, to: usize) {
        let Some(steps) = self.steps.get_mut(first..to) else { return };
        if let Some((moved, others)) = steps.split_at_mut_checked(count) {
            moved.reverse();
            others.reverse();
            steps.reverse();
        }
    }
}
