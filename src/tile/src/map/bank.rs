//! Exact bank conflicts: how many transactions one access of one wave takes.

use crate::map::{BitMatrix, Combine, MemoryMap};
use lanebook_tables::BankModel;

/// One instruction's access pattern over its address slots.
#[derive(Copy, Clone, Debug)]
pub struct BankAccess<'a> {
    /// Element bits that each slot bit adds; the slot's address is the map of their exclusive or.
    pub slots: &'a BitMatrix<u32, 6>,
    /// Bytes that one slot's address supplies.
    pub slot_bytes: u16,
    /// Bits of a slot's number that are zero in all slots that take part.
    pub kept: u8,
}

/// The outcome of a count.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Conflicts {
    /// Cycles (passes over the banks) that one instruction takes.
    pub transactions: u32,
    /// Cycles it would take if no two slots met in a bank: one for each group that does anything,
    /// or more if a group's words do not fit the banks at once.
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

/// Most banks that conflicts are counted of.
pub const MAX_BANKS: u32 = 64;

/// Counts the transactions of one instruction, group by group: in each group the cost is the
/// largest number of *different* words that fall into one bank; equal words are delivered together.
///
/// Where addresses combine by exclusive or and the groups are cosets (all that the tables have),
/// ranks give the numbers; else words are counted one by one.
///
/// `None` if the model's figures cannot be used (no banks, a bank of no bytes, more than 64 banks,
/// or a group with more than 256 words).
#[must_use]
pub fn count_conflicts(
    map: &MemoryMap,
    access: BankAccess<'_>,
    model: &BankModel<'_>,
) -> Option<Conflicts> {
    count_within(map, access, model, u32::MAX)
}

/// [`count_conflicts`] up to a number of transactions: what takes more has more in the answer, but
/// not all.
pub(crate) fn count_within(
    map: &MemoryMap,
    access: BankAccess<'_>,
    model: &BankModel<'_>,
    most: u32,
) -> Option<Conflicts> {
    let bank_bytes = u32::from(model.bank_bytes);
    let banks = u32::from(model.banks);
    if bank_bytes == 0 || banks == 0 || banks > MAX_BANKS {
        return None;
    }
    // A group takes one at the least.
    let present = present(access);
    let groups = model
        .groups
        .iter()
        .filter(|group| **group & present != 0)
        .fold(0u32, |n, _| n.saturating_add(1));
    if groups > most {
        return Some(Conflicts { transactions: groups, least: groups });
    }
    count_by_rank(map, access, model)
        .or_else(|| count_each(map, access, model, most.saturating_sub(groups)))
}

/// The slots of an access that take part, as a set.
fn present(access: BankAccess<'_>) -> u64 {
    let count = 1u64.checked_shl(access.slots.len() as u32).unwrap_or(64).min(64);
    let all = u64::MAX.checked_shr(64u32.saturating_sub(count as u32)).unwrap_or(0);
    CLEAR.iter().enumerate().fold(all, |set, (bit, clear)| {
        if (access.kept >> bit) & 1 == 1 { set & clear } else { set }
    })
}

/// For each bit of a slot's number, the slots where it is zero.
pub(crate) const CLEAR: [u64; 6] = [
    0x5555_5555_5555_5555,
    0x3333_3333_3333_3333,
    0x0f0f_0f0f_0f0f_0f0f,
    0x00ff_00ff_00ff_00ff,
    0x0000_ffff_0000_ffff,
    0x0000_0000_ffff_ffff,
];

/// The count by linear algebra over bits: a group that is a coset of lanes touches a coset of
/// words. `2^rank` words, spread evenly over `2^(rank of the bank bits)` banks.
#[inline(never)]
pub(super) fn count_by_rank(
    map: &MemoryMap,
    access: BankAccess<'_>,
    model: &BankModel<'_>,
) -> Option<Conflicts> {
    let (bank_bytes, banks) = (u32::from(model.bank_bytes), u32::from(model.banks));
    let words_per_slot = u32::from(access.slot_bytes).div_ceil(bank_bytes.max(1)).max(1);
    let powers = [bank_bytes, banks, words_per_slot].iter().all(|n| n.is_power_of_two());
    if map.combine != Combine::Xor || !powers {
        return None;
    }
    // Words of a slot are a coset only where slots begin at multiples of their size.
    let inside = bank_bytes.saturating_mul(words_per_slot).saturating_sub(1);
    let mut words = [0u32; 6];
    for (word, &e) in words.iter_mut().zip(access.slots.as_slice()) {
        let bytes = map.at(e).bytes;
        if words_per_slot > 1 && bytes & inside != 0 {
            return None;
        }
        *word = bytes.checked_shr(bank_bytes.trailing_zeros())?;
    }
    let present = present(access);
    let mut out = Conflicts::default();
    let mut known: Option<(u64, u32, u32)> = None;
    for &group in model.groups {
        let lanes = group & present;
        if lanes == 0 {
            continue;
        }
        let (mask, worst, least) = match known {
            // Lanes shifted by a constant have addresses shifted by a constant: the same picture
            // again.
            Some(known) if is_shift(known.0, lanes) => known,
            _ => {
                let (every, low) = ranks(lanes, &words, words_per_slot, banks.wrapping_sub(1))?;
                let worst = 1u32.checked_shl(every.checked_sub(low)?)?;
                let count = 1u32.checked_shl(every)?;
                // banks is a power of two
                (lanes, worst, count.checked_shr(banks.trailing_zeros())?.max(1))
            }
        };
        known = Some((mask, worst, least));
        out.transactions = out.transactions.saturating_add(worst);
        out.least = out.least.saturating_add(least);
    }
    Some(out)
}

/// Dimension of the words that a coset of lanes touches, and of their banks; `None` if the lanes
/// are no coset.
fn ranks(lanes: u64, words: &[u32; 6], words_per_slot: u32, bank_mask: u32) -> Option<(u32, u32)> {
    // Lanes as differences from the first: a coset if and only if they are all the sums of a few of
    // them.
    let lanes = shifted(lanes, lanes.trailing_zeros());
    let (mut word_span, mut bank_span) = (BankSubspace::new(), BankSubspace::new());
    let mut piece = 1u32;
    while piece < words_per_slot {
        let _ = (word_span.add(piece), bank_span.add(piece & bank_mask));
        piece = piece.checked_shl(1)?;
    }
    let mut sums = 1u64;
    while lanes & !sums != 0 {
        let lane = (lanes & !sums).trailing_zeros();
        sums |= shifted(sums, lane);
        let word = words
            .iter()
            .enumerate()
            .fold(0, |sum, (bit, word)| if (lane >> bit) & 1 == 1 { sum ^ word } else { sum });
        let _ = (word_span.add(word), bank_span.add(word & bank_mask));
    }
    (sums == lanes).then_some((word_span.rank, bank_span.rank))
}

/// A vector space over bits.
struct BankSubspace {
    leaders: [u32; 32],
    rank: u32,
}

impl BankSubspace {
    fn new() -> Self {
        Self { leaders: [0; 32], rank: 0 }
    }

    /// Adds a vector; whether it was new.
    fn add(&mut self, vector: u32) -> bool {
        let mut v = vector;
        while let Some(top) = v.checked_ilog2() {
            let Some(leader) = self.leaders.get_mut(top as usize) else { return false };
            if *leader == 0 {
                *leader = v;
                self.rank = self.rank.saturating_add(1);
                return true;
            }
            v ^= *leader;
        }
        false
    }
}

/// The count word by word, given up after a group with which more than `extra` transactions are
/// lost.
#[inline(never)]
pub(super) fn count_each(
    map: &MemoryMap,
    access: BankAccess<'_>,
    model: &BankModel<'_>,
    extra: u32,
) -> Option<Conflicts> {
    let bank_bytes = u32::from(model.bank_bytes);
    let banks = u32::from(model.banks);
    let words_per_slot = u32::from(access.slot_bytes).div_ceil(bank_bytes.max(1)).max(1);
    let addresses = slot_addresses(map, access.slots);
    // Slots that begin at multiples of their size meet as a whole or not at all: then they are
    // counted in place of their words.
    let slot_bytes = bank_bytes.saturating_mul(words_per_slot);
    let whole = slot_bytes.is_power_of_two()
        && banks.is_power_of_two()
        && words_per_slot <= banks
        && addresses.iter().fold(0, |all, address| all | address) & slot_bytes.wrapping_sub(1) == 0;
    let (step, words_per_step) = if whole { (words_per_slot, 1) } else { (1, words_per_slot) };
    let bank = Divider::by(bank_bytes.checked_mul(step)?);
    let bank_number = Divider::by(banks.checked_div(step)?);
    let present = present(access);
    let mut seen = BankWords::new();
    let mut out = Conflicts::default();
    let mut lost = 0u32;
    for &group in model.groups {
        seen.clear();
        let mut rest = group & present;
        while rest != 0 {
            let slot = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1);
            let first = bank.quotient(*addresses.get(slot as usize)?)?;
            for k in 0..words_per_step {
                let word = first.wrapping_add(k);
                seen.add(word, bank_number.remainder(word)?)?;
            }
        }
        if seen.len == 0 {
            continue;
        }
        let least = u32::from(seen.len)
            .saturating_mul(step)
            .saturating_add(banks.saturating_sub(1))
            .checked_div(banks)?
            .max(1);
        out.transactions = out.transactions.saturating_add(seen.worst);
        out.least = out.least.saturating_add(least);
        lost = lost.saturating_add(seen.worst.saturating_sub(1));
        if lost > extra {
            // Whatever the other groups take, they take one each.
            out.transactions = u32::MAX;
            break;
        }
    }
    Some(out)
}

/// A number to divide by: a shift where it is a power of two, as banks mostly are.
#[derive(Copy, Clone)]
struct Divider {
    number: u32,
    shift: Option<u32>,
}

impl Divider {
    fn by(number: u32) -> Self {
        Self { number, shift: number.is_power_of_two().then_some(number.trailing_zeros()) }
    }

    fn quotient(self, of: u32) -> Option<u32> {
        match self.shift {
            Some(shift) => Some(of.wrapping_shr(shift)),
            None => of.checked_div(self.number),
        }
    }

    fn remainder(self, of: u32) -> Option<u32> {
        match self.shift {
            Some(_) => Some(of & self.number.wrapping_sub(1)),
            None => of.checked_rem(self.number),
        }
    }
}

/// Whether one set of lanes is the other with every lane number XORed by one constant.
pub(crate) fn is_shift(a: u64, b: u64) -> bool {
    shifted(a, a.trailing_zeros() ^ b.trailing_zeros()) == b
}

/// The set with every number in it XORed by one constant.
fn shifted(set: u64, by: u32) -> u64 {
    let mut moved = set;
    for (bit, half) in CLEAR.into_iter().enumerate() {
        if (by >> bit) & 1 == 1 {
            let step = 1u32.wrapping_shl(bit as u32);
            moved = ((moved & half).wrapping_shl(step)) | (moved.wrapping_shr(step) & half);
        }
    }
    moved
}

/// Address of each slot: each from the one without its lowest bit, as long as no two slot bits
/// share an element bit.
fn slot_addresses(map: &MemoryMap, slots: &BitMatrix<u32, 6>) -> [u32; 64] {
    let mut out = [0u32; 64];
    let columns = slots.as_slice();
    let sum: u32 = columns.iter().fold(0, |m, e| m | e);
    let disjoint = columns.iter().map(|e| e.count_ones()).sum::<u32>() == sum.count_ones();
    let mut bytes = [0u32; 6];
    for (place, e) in bytes.iter_mut().zip(columns) {
        *place = map.at(*e).bytes;
    }
    for slot in 1..64usize {
        if slot >> columns.len() != 0 {
            break;
        }
        let value = if disjoint || map.combine == Combine::Xor {
            let below = slot & slot.wrapping_sub(1);
            let bit = slot.trailing_zeros() as usize;
            let column = bytes.get(bit).copied().unwrap_or(0);
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

/// The different words of one group, chained by bank. Positions are bytes: it stands on the stack
/// under everything that prices a movement.
struct BankWords {
    /// The position of the last word of each bank that has one.
    heads: [u8; MAX_BANKS as usize],
    /// Banks that have one.
    used: u64,
    /// The words.
    words: [u32; MAX_WORDS],
    /// For each the position of the one before it in its bank, or its own.
    before: [u8; MAX_WORDS],
    len: u16,
    worst: u32,
}

impl BankWords {
    fn new() -> Self {
        Self {
            heads: [0; MAX_BANKS as usize],
            used: 0,
            words: [0; MAX_WORDS],
            before: [0; MAX_WORDS],
            len: 0,
            worst: 0,
        }
    }

    fn clear(&mut self) {
        (self.used, self.len, self.worst) = (0, 0, 0);
    }

    /// Adds a word unless it is there; `None` when there is no room.
    fn add(&mut self, word: u32, bank: u32) -> Option<()> {
        let own = 1u64.checked_shl(bank)?;
        let head = self.heads.get_mut(bank as usize)?;
        let place = u8::try_from(self.len).ok()?;
        let has_words = self.used & own != 0;
        let (mut at, mut depth) = (has_words.then_some(*head), 1u32);
        while let Some(place) = at.map(usize::from) {
            if *self.words.get(place)? == word {
                return Some(());
            }
            depth = depth.wrapping_add(1);
            let before = *self.before.get(place)?;
            at = (usize::from(before) != place).then_some(before);
        }
        *self.words.get_mut(usize::from(place))? = word;
        *self.before.get_mut(usize::from(place))? = if has_words { *head } else { place };
        self.len = self.len.checked_add(1)?;
        self.used |= own;
        *head = place;
        self.worst = self.worst.max(depth);
        Some(())
    }
}

#[cfg(test)]
#[path = "bank_tests.rs"]
mod tests;
