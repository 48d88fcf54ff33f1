//! Exact bank conflicts: how many transactions one access of one wave takes.

use super::{Columns, MemoryMap};
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
    let slot_count = 1u32.checked_shl(access.slots.len() as u32)?;
    let words_per_slot = u32::from(access.slot_bytes).div_ceil(bank_bytes).max(1);
    let mut out = Conflicts::default();
    for &group in model.groups {
        let mut seen = BankWords::new();
        let mut slot = 0u32;
        while slot < slot_count.min(64) {
            if (group >> slot) & 1 == 1 {
                let address = map.at(access.slots.at(slot)).bytes;
                let first = address.checked_div(bank_bytes)?;
                for k in 0..words_per_slot {
                    let word = first.wrapping_add(k);
                    seen.add(word, word.checked_rem(banks)?)?;
                }
            }
            slot = slot.wrapping_add(1);
        }
        if seen.len == 0 {
            continue;
        }
        out.transactions = out.transactions.saturating_add(seen.worst);
        out.least = out.least.saturating_add(u32::from(seen.len).div_ceil(banks).max(1));
    }
    Some(out)
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
