//! A 32-bit value whose halves know where they came from and whether they were ever written.
//!
//! Only operations that move or mask whole halves go through here; all others need fully written
//! sources and drop the tags.

use crate::tags::{self, Tag, Word};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tracked {
    pub value: u32,
    pub tags: [Tag; 2],
    /// Bit 0: the low half is written; bit 1: the high half. Bits 4 to 7: bytes that are written, of
    /// halves that are not.
    pub defined: u8,
}

const WHOLE: u8 = 3;

impl Tracked {
    pub fn plain(value: u32) -> Self {
        Tracked { value, tags: [0, 0], defined: WHOLE }
    }

    fn word(self) -> Word {
        Word { value: self.value, tags: self.tags }
    }

    fn half_is(self, half: u8, value: u32) -> bool {
        self.defined >> half & 1 == 1 && (self.value >> (16 * half)) & 0xffff == value
    }
}

fn halves(f: impl Fn(u8) -> bool) -> u8 {
    u8::from(f(0)) | u8::from(f(1)) << 1
}

pub(super) fn and(a: Tracked, b: Tracked) -> Tracked {
    let both = a.defined & b.defined;
    let defined = halves(|h| both >> h & 1 == 1 || a.half_is(h, 0) || b.half_is(h, 0));
    Tracked { value: a.value & b.value, tags: tags::tags_of_and(a.word(), b.word()), defined }
}

pub(super) fn or(a: Tracked, b: Tracked) -> Tracked {
    let both = a.defined & b.defined;
    let defined = halves(|h| both >> h & 1 == 1 || a.half_is(h, 0xffff) || b.half_is(h, 0xffff));
    Tracked { value: a.value | b.value, tags: tags::tags_of_or(a.word(), b.word()), defined }
}

pub(super) fn xor(a: Tracked, b: Tracked) -> Tracked {
    Tracked { value: a.value ^ b.value, tags: [0, 0], defined: a.defined & b.defined }
}

fn not(a: Tracked) -> Tracked {
    Tracked { value: !a.value, tags: [0, 0], ..a }
}

pub(super) fn shl(a: Tracked, count: Tracked) -> Tracked {
    let n = count.value & 31;
    let (low, all) = (a.defined & 1 == 1, a.defined == WHOLE);
    let defined =
        if n < 16 { halves(|h| if h == 0 { low } else { all }) } else { halves(|h| h == 0 || low) };
    let defined = if count.defined == WHOLE { defined } else { 0 };
    Tracked { value: a.value << n, tags: tags::tags_of_shift(a.word(), true, n), defined }
}

pub(super) fn shr(a: Tracked, count: Tracked) -> Tracked {
    let n = count.value & 31;
    let (high, all) = (a.defined & 2 == 2, a.defined == WHOLE);
    let defined = if n < 16 {
        halves(|h| if h == 1 { high } else { all })
    } else {
        halves(|h| h == 1 || high)
    };
    let defined = if count.defined == WHOLE { defined } else { 0 };
    Tracked { value: a.value >> n, tags: tags::tags_of_shift(a.word(), false, n), defined }
}

/// `(mask & a) | (!mask & b)`
pub(super) fn bfi(mask: Tracked, a: Tracked, b: Tracked) -> Tracked {
    or(and(mask, a), and(not(mask), b))
}

/// Low 32 bits of `high:low >> bits`.
pub(super) fn align(high: Tracked, low: Tracked, bits: u32) -> Tracked {
    if bits == 0 {
        return low;
    }
    or(shr(low, Tracked::plain(bits)), shl(high, Tracked::plain(32 - bits)))
}

/// Bits of a value, by its place and how many they are: what they are is known where their halves
/// are written.
pub(super) fn field([a, at, len]: [Tracked; 3], f: fn([u32; 3]) -> u32) -> Tracked {
    let (first, width) = (at.value & 31, len.value & 31);
    let last = (first + width.max(1) - 1).min(31);
    let needed = halves(|h| (first / 16..=last / 16).contains(&u32::from(h)));
    let is_known =
        at.defined == WHOLE && len.defined == WHOLE && (width == 0 || a.defined & needed == needed);
    Tracked {
        value: f([a.value, at.value, len.value]),
        tags: [0, 0],
        defined: if is_known { WHOLE } else { 0 },
    }
}

/// `v_perm_b32`: bytes 0-3 are the second source's, 4-7 the first's, 12 is 0, 13 and up 0xff;
/// 8 to 11 replicate the sign of the halves.
pub(super) fn perm(high: Tracked, low: Tracked, selector: Tracked) -> Tracked {
    let all = u64::from(high.value) << 32 | u64::from(low.value);
    let known = |pick: u32| {
        let word = if pick < 4 { low } else { high };
        word.defined >> (pick % 4 / 2) & 1 == 1 || word.defined >> (4 + pick % 4) & 1 == 1
    };
    let (mut value, mut picks, mut bytes) = (0, [8; 4], [true; 4]);
    for i in 0..4 {
        let pick = selector.value >> (8 * i) & 0xff;
        let byte = match pick {
            0..=7 => (all >> (8 * pick)) as u32 & 0xff,
            8..=11 => {
                if all >> (16 * (pick - 8) + 15) & 1 == 1 {
                    0xff
                } else {
                    0
                }
            }
            12 => 0,
            _ => 0xff,
        };
        value |= byte << (8 * i);
        if pick < 8 {
            picks[i as usize] = pick;
            bytes[i as usize] = known(pick);
        } else if pick < 12 {
            bytes[i as usize] = known(2 * (pick - 8));
        }
    }
    let whole = halves(|h| bytes[2 * h as usize] && bytes[2 * h as usize + 1]);
    let alone = (0..4).filter(|byte| bytes[*byte] && whole >> (byte / 2) & 1 == 0);
    let alone = alone.fold(0, |all, byte| all | 1 << (4 + byte));
    let defined = if selector.defined == WHOLE { whole | alone } else { 0 };
    Tracked { value, tags: tags::tags_of_bytes(low.word(), high.word(), picks), defined }
}

/// Low halves of both.
pub(super) fn pack(low: Tracked, high: Tracked) -> Tracked {
    or(and(low, Tracked::plain(0xffff)), shl(high, Tracked::plain(16)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four bytes of four registers, of each of which only the low half is written.
    #[test]
    fn bytes_travel_alone() {
        let byte = |value| Tracked { value, tags: [0, 0], defined: 1 };
        let two = perm(byte(2), byte(1), Tracked::plain(0x0302_0400));
        assert_eq!(two.defined & WHOLE, 1);
        let three = perm(byte(3), two, Tracked::plain(0x0304_0100));
        assert_eq!((three.defined & WHOLE, three.value & 0xff_ffff), (1, 0x03_0201));
        let four = perm(byte(4), three, Tracked::plain(0x0402_0100));
        assert_eq!((four.defined, four.value), (WHOLE, 0x0403_0201));
        // What nobody wrote is not written by being moved.
        assert_eq!(perm(byte(4), two, Tracked::plain(0x0402_0100)).defined & WHOLE, 1);
    }

    #[test]
    fn halves_travel() {
        let a = Tracked { value: 0x1111_2222, tags: [5, 6], defined: WHOLE };
        let half = Tracked { value: 0xdead_3333, tags: [7, 0], defined: 1 };
        let packed = pack(half, a);
        assert_eq!((packed.value, packed.tags, packed.defined), (0x2222_3333, [7, 5], WHOLE));
        let same = perm(a, half, Tracked::plain(0x0504_0100));
        assert_eq!((same.value, same.tags, same.defined), (0x2222_3333, [7, 5], WHOLE));
        assert_eq!(perm(a, half, Tracked::plain(0x0504_0302)).defined, 2);
        assert_eq!(align(a, a, 16).tags, [6, 5]);
        assert_eq!(bfi(Tracked::plain(0xffff), half, a).tags, [7, 6]);
        assert_eq!(perm(a, a, Tracked::plain(0x0d0c_0c0c)).value, 0xff00_0000);
    }
}
