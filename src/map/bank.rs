//! Exact bank conflicts: how many transactions one access of one wave takes.

use super::{Columns, Combine, MemoryMap};
use lanebook_tables::BankModel;

/// One instruction's access pattern over its address slots.
#[derive(Copy, Clone, Debug)]
pub struct Access<'a> {
    /// Element bits that each slot bit adds; the slot's address is the map of their exclusive or.
    pub slots: &'a Columns<u32, 6>,
    /// Bytes that one slot's address supplies.
    pub slot_bytes: u16,
}

/// The outcome of a count.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Conflicts {
    /// Cycles (passes over the banks) that one instruction takes.
    pub transactions: u32,
    /// Cycles it would take if no two slots met in a bank: one for each group that does anything, or more if a group's
    /// words do not fit the banks at once.
    pub least: u32,
}

impl Conflicts {
    /// Cycles lost.
    #[must_use]
    pub fn extra(self) -> u32 {
        self.transactions.saturating_sub(self.least)
    }
}

/// Most words one group can touch: 64 slots of 16 bytes.
const MAX_WORDS: usize = 256;

/// Counts the transactions of one instruction, group by group: in each group the cost is the largest number of
/// *different* words that fall into one bank; equal words are delivered together.
///
/// `None` if the model's figures cannot be used (no banks, a bank of no bytes, more than 64 banks, or a group with more
/// than 256 words).
#[must_use]
pub fn count_conflicts(map: &MemoryMap, access: Access<'_>, model: &BankModel<'_>) -> Option<Conflicts> {
    let bank_bytes = u32::from(model.bank_bytes);
    let banks = u32::from(model.banks);
    if bank_bytes == 0 || banks == 0 || banks > 64 {
        return None;
    }
    let words_per_slot = u32::from(access.slot_bytes).div_ceil(bank_bytes).max(1);
    let addresses = slot_addresses(map, access.slots);
    let slot_count = 1u64.checked_shl(access.slots.len() as u32)?.min(64);
    let present = u64::MAX.checked_shr(64u32.saturating_sub(slot_count as u32)).unwrap_or(0);
    let mut seen = BankWords::new();
    let mut out = Conflicts::default();
    // Under exclusive or, lanes shifted by a constant have addresses shifted by a constant: the same picture again.
    let aligned = map.combine == Combine::Xor && banks.is_power_of_two() && bank_bytes.is_power_of_two() && words_per_slot.is_power_of_two();
    let mut first: Option<(u64, u32, u32)> = None;
    for &group in model.groups {
        if let Some((mask, worst, least)) = first.filter(|_| aligned)
            && is_shift(mask, group)
            && group & present == group
        {
            out.transactions = out.transactions.saturating_add(worst);
            out.least = out.least.saturating_add(least);
            continue;
        }
        seen.clear();
        let mut rest = group & present;
        while rest != 0 {
            let slot = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            let first = addresses.get(slot as usize)?.checked_div(bank_bytes)?;
            for k in 0..words_per_slot {
                let word = first.wrapping_add(k);
                seen.add(word, word.checked_rem(banks)?)?;
            }
        }
        if seen.len == 0 {
            continue;
        }
        let least = u32::from(seen.len).checked_add(banks.saturating_sub(1)).and_then(|n| n.checked_div(banks)).unwrap_or(1).max(1);
        out.transactions = out.transactions.saturating_add(seen.worst);
        out.least = out.least.saturating_add(least);
        if first.is_none() && group & present == group {
            first = Some((group, seen.worst, least));
        }
    }
    Some(out)
}

/// Whether one set of lanes is the other with every lane number XORed by one constant.
fn is_shift(a: u64, b: u64) -> bool {
    let by = a.trailing_zeros() ^ b.trailing_zeros();
    let halves = [0x5555_5555_5555_5555, 0x3333_3333_3333_3333, 0x0f0f_0f0f_0f0f_0f0f, 0x00ff_00ff_00ff_00ff, 0x0000_ffff_0000_ffff, 0x0000_0000_ffff_ffff];
    let mut moved = a;
    for (bit, half) in halves.into_iter().enumerate() {
        if (by >> bit) & 1 == 1 {
            let step = 1u32.wrapping_shl(bit as u32);
            moved = ((moved & half).wrapping_shl(step)) | (moved.wrapping_shr(step) & half);
        }
    }
    moved == b
}

/// Address of each slot: each from the one without its lowest bit, as long as no two slot bits share an element bit.
fn slot_addresses(map: &MemoryMap, slots: &Columns<u32, 6>) -> [u32; 64] {
    let mut out = [0u32; 64];
    let columns = slots.as_slice();
    let sum: u32 = columns.iter().fold(0, |m, e| m | e);
    let disjoint = columns.iter().map(|e| e.count_ones()).sum::<u32>() == sum.count_ones();
    for slot in 1..64usize {
        if slot >> columns.len() != 0 {
            break;
        }
        let value = if disjoint || map.combine == Combine::Xor {
            let below = slot & slot.wrapping_sub(1);
            let bit = slot.trailing_zeros() as usize;
            let column = columns.get(bit).map_or(0, |&e| map.at(e).bytes);
            let before = out.get(below).copied().unwrap_or(0);
            if map.combine == Combine::Xor { before ^ column } else { before.wrapping_add(column) }
        } else {
            map.at(slots.at(slot as u32)).bytes
        };
        if let Some(place) = out.get_mut(slot) {
            *place = value;
        }
    }
    out
}

/// The different words of one group, chained by bank.
struct BankWords {
    /// First word of each bank's chain, as a position plus one.
    heads: [u16; 64],
    /// Word and next position plus one.
    words: [(u32, u16); MAX_WORDS],
    len: u16,
    worst: u32,
}

impl BankWords {
    fn new() -> Self {
        Self { heads: [0; 64], words: [(0, 0); MAX_WORDS], len: 0, worst: 0 }
    }

    fn clear(&mut self) {
        self.heads = [0; 64];
        (self.len, self.worst) = (0, 0);
    }

    /// Adds a word unless it is there; `None` when there is no room.
    fn add(&mut self, word: u32, bank: u32) -> Option<()> {
        let head = self.heads.get_mut(bank as usize)?;
        let (mut at, mut depth) = (*head, 1u32);
        while at != 0 {
            let (other, next) = *self.words.get(usize::from(at.wrapping_sub(1)))?;
            if other == word {
                return Some(());
            }
            at = next;
            depth = depth.wrapping_add(1);
        }
        *self.words.get_mut(usize::from(self.len))? = (word, *head);
        self.len = self.len.checked_add(1)?;
        *head = self.len;
        self.worst = self.worst.max(depth);
        Some(())
    }
}
