//! Shadow tags: where a 16-bit unit of data came from.
//!
//! A tag is a buffer number and the index of a 16-bit unit in that buffer, packed in a `u32`; 0 is
//! "made here, from nowhere". Tags travel with data through copies and through the bit operations
//! that move whole halves; any other arithmetic drops them.

/// A packed tag; 0 = none.
pub type Tag = u32;

const UNIT_BITS: u32 = 24;

/// The tag of unit `unit` (16 bits each) of buffer `buffer`, or none when either is too large.
pub(crate) fn pack(buffer: u32, unit: u64) -> Tag {
    if buffer < 0xff && unit < 1 << UNIT_BITS {
        ((buffer + 1) << UNIT_BITS) | unit as u32
    } else {
        0
    }
}

/// Buffer number and unit index of a tag.
pub(crate) fn unpack(tag: Tag) -> Option<(u32, u32)> {
    (tag != 0).then(|| ((tag >> UNIT_BITS) - 1, tag & ((1 << UNIT_BITS) - 1)))
}

/// A 32-bit value with the tags of its halves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub value: u32,
    pub tags: [Tag; 2],
}

impl Word {
    fn half(self, index: usize) -> (u32, Tag) {
        ((self.value >> (16 * index)) & 0xffff, self.tags[index])
    }
}

/// Tags of `a & b`: a half survives a mask of all ones.
pub(crate) fn tags_of_and(a: Word, b: Word) -> [Tag; 2] {
    std::array::from_fn(|i| {
        let ((va, ta), (vb, tb)) = (a.half(i), b.half(i));
        match (ta, tb) {
            (t, 0) if vb == 0xffff => t,
            (0, t) if va == 0xffff => t,
            _ => 0,
        }
    })
}

/// Tags of `a | b` (and of a disjoint `a + b`, `a ^ b`): a half survives an untagged zero.
pub(crate) fn tags_of_or(a: Word, b: Word) -> [Tag; 2] {
    std::array::from_fn(|i| {
        let ((va, ta), (vb, tb)) = (a.half(i), b.half(i));
        match (ta, tb) {
            (t, 0) if vb == 0 => t,
            (0, t) if va == 0 => t,
            _ => 0,
        }
    })
}

/// Tags of a shift by a known amount: whole halves move.
pub(crate) fn tags_of_shift(a: Word, left: bool, amount: u32) -> [Tag; 2] {
    match (amount, left) {
        (0, _) => a.tags,
        (16, true) => [0, a.tags[0]],
        (16, false) => [a.tags[1], 0],
        _ => [0, 0],
    }
}

/// Tags of a byte permutation; `picks[i]` is the byte (0..4 of `low`, 4..8 of `high`) that becomes
/// byte `i`, or 8 and up for a made-up byte.
pub(crate) fn tags_of_bytes(low: Word, high: Word, picks: [u32; 4]) -> [Tag; 2] {
    std::array::from_fn(|i| {
        let (p, q) = (picks[2 * i], picks[2 * i + 1]);
        if p % 2 == 0 && q == p + 1 && p < 8 {
            let word = if p < 4 { low } else { high };
            word.tags[(p as usize % 4) / 2]
        } else {
            0
        }
    })
}
