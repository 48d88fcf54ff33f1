//! What is known of a value without running it: bits, range, lanes, loop level.
//!
//! Every fact is an over-approximation: `zeros` and `ones` name bits that are certain, `high` is a
//! bound, `varying` names bits that *may* differ between lanes. Facts of a node follow from those
//! of its operands alone.
use lanebook_tables::IndexOp;

/// Facts about one value. 32-bit values are kept zero-extended, so their upper 32 bits are known
/// zero.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BitFacts {
    /// Bits that are certainly 0.
    pub zeros: u64,
    /// Bits that are certainly 1.
    pub ones: u64,
    /// Greatest value, unsigned.
    pub high: u64,
    /// Bits that may differ between the lanes of a wave.
    pub varying: u64,
    /// Innermost loop level that the value depends on; 0 = outside all loops.
    pub level: u8,
    /// Width in bits: 32 or 64.
    pub width: u8,
}

const fn mask_of(width: u8) -> u64 {
    if width == 32 { u32::MAX as u64 } else { u64::MAX }
}

/// All bits up to and including the highest bit set in `value`.
const fn fill(value: u64) -> u64 {
    match u64::MAX.checked_shr(value.leading_zeros()) {
        Some(mask) => mask,
        None => 0,
    }
}

/// All bits from the lowest bit set in `value` upward.
const fn from_lowest(value: u64) -> u64 {
    match u64::MAX.checked_shl(value.trailing_zeros()) {
        Some(mask) => mask,
        None => 0,
    }
}

impl BitFacts {
    /// A constant.
    #[must_use]
    pub const fn constant(value: u64, width: u8) -> Self {
        let value = value & mask_of(width);
        Self { zeros: !value, ones: value, high: value, varying: 0, level: 0, width }
    }
    /// A value of which nothing is known but its width.
    #[must_use]
    pub const fn unknown(width: u8) -> Self {
        let mask = mask_of(width);
        Self { zeros: !mask, ones: 0, high: mask, varying: mask, level: 0, width }
    }
    /// Bits that can be 1.
    #[must_use]
    pub const fn possible(&self) -> u64 {
        !self.zeros
    }
    /// The value, if it is certain.
    #[must_use]
    pub const fn value(&self) -> Option<u64> {
        if self.zeros == !self.ones { Some(self.ones) } else { None }
    }
    /// Whether the value is equal in all lanes of a wave.
    #[must_use]
    pub const fn uniform(&self) -> bool {
        self.varying == 0
    }
    /// Number of low bits that are certainly 0.
    #[must_use]
    pub const fn trailing_zeros(&self) -> u32 {
        self.zeros.trailing_ones()
    }
    /// Makes range and bits agree and drops what lies above the width.
    #[must_use]
    pub const fn tightened(mut self) -> Self {
        let mask = mask_of(self.width);
        self.ones &= mask;
        self.zeros |= !mask;
        if self.high > mask {
            self.high = mask;
        }
        self.zeros |= !fill(self.high);
        let most = !self.zeros;
        if self.high > most {
            self.high = most;
        }
        self.varying &= !self.zeros & !self.ones;
        self
    }

    /// Facts of a word's value, from those of its arguments.
    #[must_use]
    pub const fn of(op: IndexOp, a: &BitFacts, b: &BitFacts) -> Self {
        let width = op.width();
        let level = if a.level > b.level { a.level } else { b.level };
        let varies = a.varying | b.varying;
        let wide = Self { zeros: 0, ones: 0, high: u64::MAX, varying: u64::MAX, level, width };
        let out = match op {
            IndexOp::And => Self {
                zeros: a.zeros | b.zeros,
                ones: a.ones & b.ones,
                high: if a.high < b.high { a.high } else { b.high },
                varying: (a.varying & !b.zeros) | (b.varying & !a.zeros),
                ..wide
            },
            IndexOp::Or => Self {
                zeros: a.zeros & b.zeros,
                ones: a.ones | b.ones,
                varying: (a.varying & !b.ones) | (b.varying & !a.ones),
                ..wide
            },
            IndexOp::Xor => Self {
                zeros: (a.zeros & b.zeros) | (a.ones & b.ones),
                ones: (a.zeros & b.ones) | (a.ones & b.zeros),
                varying: varies,
                ..wide
            },
            IndexOp::Add | IndexOp::Add64 => {
                let (zeros, ones) = sum(a.zeros, a.ones, b.zeros, b.ones, 0);
                let high = match a.high.checked_add(b.high) {
                    Some(high) if high <= mask_of(width) => high,
                    _ => mask_of(width),
                };
                let varying = if !a.zeros & !b.zeros == 0 { varies } else { from_lowest(varies) };
                Self { zeros, ones, high, varying, ..wide }
            }
            IndexOp::Sub => {
                let (zeros, ones) = sum(a.zeros, a.ones, b.ones, b.zeros, 1);
                Self {
                    zeros,
                    ones,
                    high: if a.ones >= b.high { a.high } else { mask_of(width) },
                    varying: from_lowest(varies),
                    ..wide
                }
            }
            IndexOp::Mul | IndexOp::MulWide64 => Self::of_product(a, b, wide),
            IndexOp::Shl | IndexOp::Shl64 => Self::shifted_left(a, b, wide),
            IndexOp::Shr => Self::shifted_right(a, b, wide),
            IndexOp::Extend64 => Self {
                zeros: a.zeros,
                ones: a.ones,
                high: a.high,
                varying: a.varying,
                level: a.level,
                width,
            },
        };
        out.tightened()
    }

    /// All bits vary where any of the arguments do.
    const fn all_vary(a: &Self, b: &Self) -> u64 {
        if a.varying | b.varying == 0 { 0 } else { u64::MAX }
    }

    /// Facts of a product; `wide` is what holds of any value of its width, as below.
    const fn of_product(a: &Self, b: &Self, wide: Self) -> Self {
        let most = mask_of(wide.width);
        let zeros = match 1u64.checked_shl(a.trailing_zeros().saturating_add(b.trailing_zeros())) {
            Some(bit) => bit.wrapping_sub(1),
            None => u64::MAX,
        };
        let high = match a.high.checked_mul(b.high) {
            Some(high) if high <= most => high,
            _ => most,
        };
        Self { zeros, high, varying: Self::all_vary(a, b), ..wide }
    }

    const fn shifted_left(a: &Self, b: &Self, wide: Self) -> Self {
        match b.value() {
            Some(by) if by < wide.width as u64 => {
                let by = by as u32;
                let low = match 1u64.checked_shl(by) {
                    Some(bit) => bit.wrapping_sub(1),
                    None => u64::MAX,
                };
                let most = mask_of(wide.width);
                let fits = a.high <= most.wrapping_shr(by);
                Self {
                    zeros: a.zeros.wrapping_shl(by) | low,
                    ones: a.ones.wrapping_shl(by),
                    high: if fits { a.high.wrapping_shl(by) } else { most },
                    varying: a.varying.wrapping_shl(by),
                    ..wide
                }
            }
            _ => Self { zeros: !from_lowest(!a.zeros), varying: Self::all_vary(a, b), ..wide },
        }
    }

    const fn shifted_right(a: &Self, b: &Self, wide: Self) -> Self {
        match b.value() {
            Some(by) if by < 32 => {
                let by = by as u32;
                Self {
                    zeros: !((!a.zeros).wrapping_shr(by)),
                    ones: a.ones.wrapping_shr(by),
                    high: a.high.wrapping_shr(by),
                    varying: a.varying.wrapping_shr(by),
                    ..wide
                }
            }
            _ => Self { high: a.high, varying: Self::all_vary(a, b), ..wide },
        }
    }
}

/// Known bits of a sum with a carry into bit 0, modulo 2^64 (bits above a narrower width are wrong
/// and dropped later).
const fn sum(a_zeros: u64, a_ones: u64, b_zeros: u64, b_ones: u64, carry: u64) -> (u64, u64) {
    let most = (!a_zeros).wrapping_add(!b_zeros).wrapping_add(carry);
    let least = a_ones.wrapping_add(b_ones).wrapping_add(carry);
    let carry_zero = !(most ^ a_zeros ^ b_zeros);
    let carry_one = least ^ a_ones ^ b_ones;
    let known = (a_zeros | a_ones) & (b_zeros | b_ones) & (carry_zero | carry_one);
    (!most & known, least & known)
}
