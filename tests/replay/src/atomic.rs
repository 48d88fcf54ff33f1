//! Atomic operations on global memory: what stands there afterwards.

use crate::number::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// What is computed of a word of memory and one that is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combine {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    /// The one that is moved, where what stands there is what it is compared with.
    Cas,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Unsigned,
    Signed,
    F32,
    /// One of 16 bits.
    F16,
    Bf16,
    /// Two of them.
    F16x2,
    Bf16x2,
    /// Of 64 bits.
    Unsigned64,
    Signed64,
    F64,
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Atomic {
    pub op: Combine,
    pub word: Word,
}

impl Atomic {
    /// The one of an instruction's words; `None` if there is none such.
    pub fn new(op: &str, word: Word) -> Option<Self> {
        let op = match op {
            "add" => Combine::Add,
            "min" => Combine::Min,
            "max" => Combine::Max,
            "and" => Combine::And,
            "or" => Combine::Or,
            "xor" => Combine::Xor,
            "exch" => Combine::Exch,
            "cas" => Combine::Cas,
            _ => return None,
        };
        use Word::{Signed, Signed64, Unsigned, Unsigned64};
        let is_whole = matches!(word, Unsigned | Signed | Unsigned64 | Signed64);
        (is_whole || op == Combine::Add).then_some(Self { op, word })
    }

    /// Bytes of a word.
    pub fn bytes(self) -> u32 {
        match self.word {
            Word::Unsigned64 | Word::Signed64 | Word::F64 => 8,
            Word::F16 | Word::Bf16 => 2,
            _ => 4,
        }
    }

    /// What stands in memory afterwards; of a comparison, with what it compares.
    pub fn of(self, old: u64, moved: u64, compared: Option<u64>) -> u64 {
        if let Some(compared) = compared {
            return if old == compared { moved } else { old };
        }
        // Numbers of 32 bits are in the same order as the same numbers of 64, and so are their sums
        // but for what is above.
        let wide = |word: u64| {
            if self.word == Word::Signed { word as i32 as u64 } else { u64::from(word as u32) }
        };
        let signed = matches!(self.word, Word::Signed | Word::Signed64);
        match self.word {
            Word::F64 => (f64::from_bits(old) + f64::from_bits(moved)).to_bits(),
            Word::F32 | Word::F16x2 | Word::Bf16x2 => self.float(old as u32, moved as u32).into(),
            Word::F16 | Word::Bf16 => (self.float(old as u32, moved as u32) & 0xffff).into(),
            Word::Unsigned64 | Word::Signed64 => self.whole(old, moved, signed),
            Word::Unsigned | Word::Signed => {
                self.whole(wide(old), wide(moved), signed) & u64::from(u32::MAX)
            }
        }
    }

    fn whole(self, old: u64, moved: u64, signed: bool) -> u64 {
        match self.op {
            Combine::Add => old.wrapping_add(moved),
            Combine::And => old & moved,
            Combine::Or => old | moved,
            Combine::Xor => old ^ moved,
            Combine::Exch | Combine::Cas => moved,
            Combine::Min if signed => (old as i64).min(moved as i64) as u64,
            Combine::Max if signed => (old as i64).max(moved as i64) as u64,
            Combine::Min => old.min(moved),
            Combine::Max => old.max(moved),
        }
    }

    /// Floats of 32 bits and less are added.
    fn float(self, old: u32, moved: u32) -> u32 {
        let halves = |sum: fn(u16, u16) -> u16| {
            let low = sum(old as u16, moved as u16);
            let high = sum((old >> 16) as u16, (moved >> 16) as u16);
            u32::from(low) | u32::from(high) << 16
        };
        match self.word {
            Word::F16x2 | Word::F16 => halves(|a, b| f32_to_f16(f16_to_f32(a) + f16_to_f32(b))),
            Word::Bf16x2 | Word::Bf16 => {
                halves(|a, b| f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b)))
            }
            _ => (f32::from_bits(old) + f32::from_bits(moved)).to_bits(),
        }
    }
}
