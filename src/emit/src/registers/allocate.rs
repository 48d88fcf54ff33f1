//! Register allocation: virtual tuples to the numbers in the text.
//!
//! Classes without a pool are numbered through, since the assembler allocates. Classes with a pool
//! are allocated by a linear scan over live ranges: a range that enters a loop from outside lasts
//! to the loop's end, tuples are consecutive and aligned, and what the frame defines stays where it
//! is. Where the pool runs out, tuples fall into pieces (module `live_range_split`); where nothing
//! else helps, instructions stand later (module `schedule`). Running out then is an error that says
//! how many registers were wanted; nothing is spilled.

use crate::Param;
use crate::registers::accumulator_spill::Spilling;
use crate::registers::schedule::{Lacking, sink_to_readers};
use crate::step::{
    Inst, InstError, InstKind, LoopSpan, NO_GUARD, Slot, TupleStride, VRegTuple, for_each_register,
    owner,
};
use heapless::VecView;
use lanebook_tables::{Arch, ClassId, Isa, Tables};

/// Most registers of one class that a pool can have.
const POOL_WORDS: usize = 16;
/// Most classes of an instruction set.
pub const MAX_CLASSES: usize = 16;

/// How many registers of each class the kernel uses: one past the highest number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RegisterUsage {
    /// By class.
    pub high: [u16; MAX_CLASSES],
}

/// Most times that values are moved to the accumulators, before registers are too few.
const MOST_SPILLS: usize = 24;
/// Behind the last step.
const END: u16 = u16::MAX - 1;

/// Gives every virtual tuple its numbers and rewrites the steps.
#[inline(never)]
pub fn allocate(
    tables: &Tables<'_>,
    isa: &Isa<'_>,
    steps: &mut VecView<Inst>,
    registers: &mut VecView<VRegTuple>,
    patterns: &VecView<TupleStride>,
    loops: &VecView<LoopSpan>,
) -> Result<RegisterUsage, InstError> {
    let mut owners = Owners::new();
    find_live_ranges(tables, steps, registers, patterns, loops, &mut owners);
    let mut usage = RegisterUsage { high: [0; MAX_CLASSES] };
    for (number, class) in isa.classes.iter().enumerate() {
        let Ok(narrow) = u8::try_from(number) else { continue };
        let high = match class.pool.1 {
            0 => number_through(registers, narrow),
            _ => match scan(registers, narrow, class.pool, class.tuple_align) {
                Ok(high) => high,
                Err(_) => crate::registers::live_range_split::place(
                    tables,
                    steps,
                    registers,
                    patterns,
                    loops,
                    (narrow, class),
                )?,
            },
        };
        if let Some(slot) = usage.high.get_mut(number) {
            *slot = high;
        }
    }
    for step in steps.iter_mut() {
        if step.purpose == InstKind::Label {
            continue;
        }
        let own = |number: u16, owners: &mut Owners| {
            owners
                .find(registers, number)
                .and_then(|k| registers.get(k))
                .map(|tuple| tuple.physical.wrapping_add(number.wrapping_sub(tuple.first)))
        };
        if step.guard != NO_GUARD {
            step.guard = own(step.guard, &mut owners).unwrap_or(step.guard);
        }
        for arg in &mut step.args {
            if let Slot::Reg { first, .. } | Slot::Spread { first, .. } = arg
                && let Some(physical) = own(*first, &mut owners)
            {
                *first = physical;
            }
        }
    }
    Ok(usage)
}

/// The same, where nothing else makes do with fewer registers: where there are too few, arithmetic
/// moves down to what reads it first, where that is not enough, loads do, and in the end what is
/// seldom touched lives among the accumulators, on a machine that has them beside the others.
///
/// # Errors
/// As of [`allocate`].
#[inline(never)] // Beside the first attempt, not below it.
pub fn allocate_late(
    tables: &Tables<'_>,
    (arch, isa): (&Arch<'_>, &Isa<'_>),
    steps: &mut VecView<Inst>,
    registers: &mut VecView<VRegTuple>,
    patterns: &VecView<TupleStride>,
    loops: &mut VecView<LoopSpan>,
) -> Result<RegisterUsage, InstError> {
    let mut allocated = allocate(tables, isa, steps, registers, patterns, loops);
    for loads_sink in [false, true] {
        let Err(InstError::Pool { class: ClassId(class), .. }) = allocated else { break };
        let lacking = Lacking { class: class as u8, loads_sink };
        sink_to_readers(tables, steps, registers, patterns, loops, lacking);
        allocated = allocate(tables, isa, steps, registers, patterns, loops);
    }
    let first = allocated;
    for _ in 0..MOST_SPILLS {
        let Err(InstError::Pool { class, wanted, .. }) = allocated else { return allocated };
        let mut spilling = Spilling { tables, arch, isa, steps, registers, patterns, loops };
        if !spilling.spill(class, wanted) {
            return first;
        }
        allocated = allocate(tables, isa, steps, registers, patterns, loops);
    }
    if allocated.is_ok() { allocated } else { first }
}

/// Writes down in which registers a snippet's parameters are.
pub fn settle(params: &mut VecView<Param>, registers: &VecView<VRegTuple>) {
    for reg in params.iter_mut().filter_map(|param| param.register.as_mut()) {
        if let Some(tuple) = owner(registers, reg.first).and_then(|k| registers.get(k)) {
            reg.first = tuple.physical.wrapping_add(reg.first.wrapping_sub(tuple.first));
        }
    }
}

/// Tuples that were asked for lately, by some of their number's bits: steps that stand together
/// have registers in common.
pub(crate) struct Owners([u16; 512]);

impl Owners {
    pub(crate) fn new() -> Self {
        Self([NONE; 512])
    }

    /// Index of the tuple that owns a virtual number.
    fn find(&mut self, registers: &VecView<VRegTuple>, number: u16) -> Option<usize> {
        let Some(place) = self.0.get_mut(usize::from((number >> 1) & 511)) else {
            return owner(registers, number);
        };
        let known = registers
            .get(usize::from(*place))
            .is_some_and(|t| t.first <= number && number.wrapping_sub(t.first) < t.count);
        if !known {
            let found = owner(registers, number)?;
            *place = u16::try_from(found).unwrap_or(NONE);
            return Some(found);
        }
        Some(usize::from(*place))
    }
}

pub(crate) fn find_live_ranges(
    tables: &Tables<'_>,
    steps: &VecView<Inst>,
    registers: &mut VecView<VRegTuple>,
    patterns: &VecView<TupleStride>,
    loops: &VecView<LoopSpan>,
    owners: &mut Owners,
) {
    for (at, step) in steps.iter().enumerate() {
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        for_each_register(tables, step, patterns, |touch| {
            let (mut k, count) = (0u16, touch.count);
            while k < count {
                let number = touch.first.wrapping_add(k);
                k = k.saturating_add(1);
                let Some(tuple) = owners.find(registers, number).and_then(|i| registers.get_mut(i))
                else {
                    continue;
                };
                tuple.live = (tuple.live.0.min(at), tuple.live.1.max(at));
                // The registers behind it that are the same tuple's.
                let rest = tuple
                    .first
                    .saturating_add(tuple.count)
                    .saturating_sub(number)
                    .saturating_sub(1);
                k = k.saturating_add(rest);
            }
        });
    }
    // What the frame defines is there from the start.
    for tuple in registers.iter_mut() {
        if tuple.given || tuple.kept && tuple.live.0 == u16::MAX {
            tuple.live.0 = 0;
        }
        if tuple.kept {
            tuple.live.1 = END;
        }
        if tuple.pinned && tuple.live.0 != u16::MAX {
            tuple.live.0 = 0;
        }
    }
    // Inner loops come after their outer ones start; two rounds reach the fixed point for any
    // nesting written in order.
    for _ in 0..2 {
        for span in loops.iter() {
            for tuple in registers.iter_mut() {
                let enters = tuple.live.0 < span.first && tuple.live.1 >= span.first;
                if enters && tuple.live.1 < span.last {
                    tuple.live.1 = span.last;
                }
            }
        }
    }
}

fn number_through(registers: &mut VecView<VRegTuple>, class: u8) -> u16 {
    // Behind those that have their places: nothing is numbered twice.
    let end = |t: &VRegTuple| t.physical.saturating_add(t.count);
    let pinned = registers.iter().filter(|t| t.class == class && t.pinned);
    let mut next = pinned.map(end).max().unwrap_or(0);
    for tuple in registers.iter_mut().filter(|t| t.class == class && !t.pinned) {
        tuple.physical = next;
        next = next.saturating_add(tuple.count);
    }
    next
}

/// A pool's free registers.
pub(crate) struct FreeRegisters {
    taken: [u64; POOL_WORDS],
    first: u16,
    count: u16,
}

impl FreeRegisters {
    /// All of them free.
    pub(crate) fn new((first, count): (u16, u16)) -> Self {
        Self { taken: [0; POOL_WORDS], first, count }
    }

    /// The first register from `number` on that is free, or that is taken.
    fn next(&self, number: u16, taken: bool) -> u16 {
        let mut at = number;
        while let Some(word) = self.taken.get(usize::from(at >> 6)) {
            let word = if taken { *word } else { !*word };
            let rest = word.wrapping_shr(u32::from(at & 63));
            if rest != 0 {
                return at.saturating_add(rest.trailing_zeros() as u16);
            }
            at = (at | 63).saturating_add(1);
        }
        at
    }

    pub(crate) fn set_all(&mut self, tuple: &VRegTuple, taken: bool) {
        let (mut at, mut left) = (tuple.physical, tuple.count);
        while left > 0 {
            let (low, room) = (at & 63, 64u16.saturating_sub(at & 63));
            let count = left.min(room);
            let bits = u64::MAX.wrapping_shr(64u32.saturating_sub(u32::from(count)));
            let bits = bits.wrapping_shl(u32::from(low));
            if let Some(word) = self.taken.get_mut(usize::from(at >> 6)) {
                *word = if taken { *word | bits } else { *word & !bits };
            }
            (at, left) = (at.saturating_add(count), left.saturating_sub(count));
        }
    }

    pub(crate) fn find(&self, count: u16, align: u8) -> Option<u16> {
        let end = self.first.checked_add(self.count)?;
        let step = if count > 1 { u16::from(align.max(1)) } else { 1 };
        let mut at = self.first.checked_next_multiple_of(step)?;
        while at.checked_add(count)? <= end {
            let begin = self.next(at, false).checked_next_multiple_of(step)?;
            let clash = self.next(begin, true);
            if begin.checked_add(count)? > end {
                return None;
            }
            if clash >= begin.saturating_add(count) {
                return Some(begin);
            }
            at = clash.checked_add(1)?;
        }
        None
    }
}

/// No tuple.
pub(crate) const NONE: u16 = u16::MAX;

/// The tuples of a class that need a place, by the start of their live ranges and, where that is
/// the same, by their number. Answers the first.
pub(crate) fn by_start(registers: &mut VecView<VRegTuple>, class: u8) -> u16 {
    let (mut head, mut tail) = (NONE, NONE);
    for k in 0..registers.len() {
        let Some(&tuple) =
            registers.get(k).filter(|t| t.class == class && !t.pinned && t.live.0 != u16::MAX)
        else {
            continue;
        };
        let Ok(number) = u16::try_from(k) else { break };
        let start = |at: u16| registers.get(usize::from(at)).map(|t| t.live.0);
        // Tuples are made roughly in the order of their first use: most belong at the end.
        let mut before =
            if start(tail).is_some_and(|last| last <= tuple.live.0) { tail } else { NONE };
        if before == NONE {
            let mut at = head;
            while start(at).is_some_and(|s| s <= tuple.live.0) {
                before = at;
                at = registers.get(usize::from(at)).map_or(NONE, |t| t.next);
            }
        }
        let next = match registers.get_mut(usize::from(before)) {
            Some(before) => core::mem::replace(&mut before.next, number),
            None => core::mem::replace(&mut head, number),
        };
        if let Some(tuple) = registers.get_mut(k) {
            tuple.next = next;
        }
        if next == NONE {
            tail = number;
        }
    }
    head
}

/// Frees the registers of tuples that ended before step `at`, and answers the list of the others
/// and the first step at which one ends.
fn release_ended(
    registers: &mut VecView<VRegTuple>,
    busy: u16,
    at: u16,
    free: &mut FreeRegisters,
) -> (u16, u16) {
    let (mut head, mut last, mut number, mut soonest) = (busy, NONE, busy, u16::MAX);
    while let Some(&tuple) = registers.get(usize::from(number)) {
        if tuple.live.1 < at {
            free.set_all(&tuple, false);
            match registers.get_mut(usize::from(last)) {
                Some(last) => last.next = tuple.next,
                None => head = tuple.next,
            }
        } else {
            last = number;
            soonest = soonest.min(tuple.live.1);
        }
        number = tuple.next;
    }
    (head, soonest)
}

fn scan(
    registers: &mut VecView<VRegTuple>,
    class: u8,
    pool: (u16, u16),
    align: u8,
) -> Result<u16, InstError> {
    let mut high = 0u16;
    let mut free = FreeRegisters::new(pool);
    for tuple in registers.iter().filter(|t| t.class == class && t.pinned && t.live.0 != u16::MAX) {
        high = high.max(tuple.physical.saturating_add(tuple.count));
        free.set_all(tuple, true);
    }
    let (mut number, mut busy, mut before, mut soonest) =
        (by_start(registers, class), NONE, 0u16, u16::MAX);
    while let Some(&tuple) = registers.get(usize::from(number)) {
        if tuple.live.0 != before {
            before = tuple.live.0;
            if soonest < before {
                (busy, soonest) = release_ended(registers, busy, before, &mut free);
            }
        }
        soonest = soonest.min(tuple.live.1);
        let Some(found) = free.find(tuple.count, align) else {
            let busy: u32 = free.taken.iter().map(|w| w.count_ones()).sum();
            let wanted = u16::try_from(busy).unwrap_or(u16::MAX).saturating_add(tuple.count);
            let class = ClassId(u16::from(class));
            return Err(InstError::Pool { class, wanted, op: None });
        };
        if let Some(t) = registers.get_mut(usize::from(number)) {
            (t.physical, t.next) = (found, busy);
        }
        busy = number;
        free.set_all(&VRegTuple { physical: found, ..tuple }, true);
        high = high.max(found.saturating_add(tuple.count));
        number = tuple.next;
    }
    Ok(high)
}
