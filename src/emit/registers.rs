//! Register allocation: virtual tuples to the numbers in the text.
//!
//! Classes without a pool are numbered through, since the assembler allocates. Classes with a pool are allocated by a
//! linear scan over live ranges: a range that enters a loop from outside lasts to the loop's end, tuples are
//! consecutive and aligned. Running out is an error that says how many registers were wanted; nothing is spilled.

use super::step::{LoopSpan, Pattern, Purpose, Slot, Step, StepError, Virtual, for_each_register, owner};
use heapless::VecView;
use lanebook_tables::{ClassId, Isa, Tables};

/// Most registers of one class that a pool can have.
const POOL_WORDS: usize = 16;
/// Most classes of an instruction set.
pub const MAX_CLASSES: usize = 16;

/// How many registers of each class the kernel uses: one past the highest number.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// By class.
    pub high: [u16; MAX_CLASSES],
}

/// Gives every virtual tuple its numbers and rewrites the steps.
#[inline(never)]
pub fn allocate(
    tables: &Tables<'_>,
    isa: &Isa<'_>,
    steps: &mut VecView<Step>,
    registers: &mut VecView<Virtual>,
    patterns: &VecView<Pattern>,
    loops: &VecView<LoopSpan>,
) -> Result<Usage, StepError> {
    find_live_ranges(tables, steps, registers, patterns, loops);
    let mut usage = Usage { high: [0; MAX_CLASSES] };
    for (number, class) in isa.classes.iter().enumerate() {
        let Ok(narrow) = u8::try_from(number) else { continue };
        let high = if class.pool.1 == 0 { number_through(registers, narrow) } else { scan(registers, narrow, class.pool, class.tuple_align)? };
        if let Some(slot) = usage.high.get_mut(number) {
            *slot = high;
        }
    }
    for step in steps.iter_mut() {
        if step.purpose == Purpose::Label {
            continue;
        }
        for arg in &mut step.args {
            if let Slot::Reg { first, .. } | Slot::Spread { first, .. } = arg
                && let Some(tuple) = owner(registers, *first).and_then(|k| registers.get(k))
            {
                *first = tuple.physical.wrapping_add(first.wrapping_sub(tuple.first));
            }
        }
    }
    Ok(usage)
}

fn find_live_ranges(tables: &Tables<'_>, steps: &VecView<Step>, registers: &mut VecView<Virtual>, patterns: &VecView<Pattern>, loops: &VecView<LoopSpan>) {
    for (at, step) in steps.iter().enumerate() {
        let at = u16::try_from(at).unwrap_or(u16::MAX);
        for_each_register(tables, step, patterns, |touch| {
            for k in 0..touch.count {
                let Some(tuple) = owner(registers, touch.first.wrapping_add(u16::from(k))).and_then(|i| registers.get_mut(i)) else { continue };
                tuple.live = (tuple.live.0.min(at), tuple.live.1.max(at));
            }
        });
    }
    // Inner loops come after their outer ones start; two rounds reach the fixed point for any nesting written in order.
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

fn number_through(registers: &mut VecView<Virtual>, class: u8) -> u16 {
    let mut next = 0u16;
    for tuple in registers.iter_mut().filter(|t| t.class == class && !t.pinned) {
        tuple.physical = next;
        next = next.saturating_add(u16::from(tuple.count));
    }
    next
}

/// A pool's free registers.
struct Pool {
    taken: [u64; POOL_WORDS],
    first: u16,
    count: u16,
}

impl Pool {
    fn is_taken(&self, number: u16) -> bool {
        let word = self.taken.get(usize::from(number >> 6)).copied().unwrap_or(u64::MAX);
        (word >> (number & 63)) & 1 == 1
    }

    fn set(&mut self, number: u16, taken: bool) {
        if let Some(word) = self.taken.get_mut(usize::from(number >> 6)) {
            let bit = 1u64.wrapping_shl(u32::from(number & 63));
            *word = if taken { *word | bit } else { *word & !bit };
        }
    }

    fn find(&self, count: u8, align: u8) -> Option<u16> {
        let end = self.first.checked_add(self.count)?;
        let step = if count > 1 { u16::from(align.max(1)) } else { 1 };
        let mut at = self.first.checked_next_multiple_of(step)?;
        while at.checked_add(u16::from(count))? <= end {
            let clash = (0..u16::from(count)).rev().map(|k| at.wrapping_add(k)).find(|&n| self.is_taken(n));
            match clash {
                None => return Some(at),
                Some(n) => at = n.checked_add(1)?.checked_next_multiple_of(step)?,
            }
        }
        None
    }
}

fn scan(registers: &mut VecView<Virtual>, class: u8, pool: (u16, u16), align: u8) -> Result<u16, StepError> {
    let mut high = 0u16;
    for tuple in registers.iter().filter(|t| t.class == class && t.pinned && t.live.0 != u16::MAX) {
        high = high.max(tuple.physical.saturating_add(u16::from(tuple.count)));
    }
    let mut free = Pool { taken: [0; POOL_WORDS], first: pool.0, count: pool.1 };
    // Tuples are created roughly in the order of their first use; allocation goes by the start of the live range.
    let mut start = 0u16;
    loop {
        // The next start of a live range.
        let next = registers.iter().filter(|t| t.class == class && !t.pinned && t.live.0 != u16::MAX && t.live.0 >= start).map(|t| t.live.0).min();
        let Some(at) = next else { break };
        for k in 0..registers.len() {
            let Some(t) = registers.get(k).copied() else { continue };
            if t.class == class && !t.pinned && t.live.0 < at && t.live.1 < at && t.live.1 >= start.saturating_sub(1) {
                release(&mut free, &t);
            }
        }
        for k in 0..registers.len() {
            let Some(t) = registers.get_mut(k) else { continue };
            if t.class != class || t.pinned || t.live.0 != at {
                continue;
            }
            let Some(found) = free.find(t.count, align) else {
                let busy: u32 = free.taken.iter().map(|w| w.count_ones()).sum();
                let wanted = u16::try_from(busy).unwrap_or(u16::MAX).saturating_add(u16::from(t.count));
                return Err(StepError::Pool { class: ClassId(u16::from(class)), wanted, pool: pool.1 });
            };
            t.physical = found;
            for n in 0..u16::from(t.count) {
                free.set(found.wrapping_add(n), true);
            }
            high = high.max(found.saturating_add(u16::from(t.count)));
        }
        start = at.saturating_add(1);
    }
    Ok(high)
}

fn release(pool: &mut Pool, tuple: &Virtual) {
    for n in 0..u16::from(tuple.count) {
        pool.set(tuple.physical.wrapping_add(n), false);
    }
}
