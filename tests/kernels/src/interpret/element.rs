//! Element types: their bits, their values, how far apart neighbours are.

use super::Said;
use lanebook_replay::number::{
    bf16_to_f32, e8m0_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, float8, to_float8,
};
use std::cmp::Ordering::Less;

/// What three bits of an e2m1 are.
const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// binary64.
    F64,
    /// binary32.
    F32,
    /// binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// Eight bits with so many of fraction; `fnuz`: one zero, no infinity.
    Float8 {
        /// Bits of fraction.
        fraction: u32,
        /// One zero, no infinity, a bias greater by one.
        fnuz: bool,
    },
    /// Eight bits with three of fraction and a sign that does not count: a block's scale.
    Ue4m3,
    /// Four bits: a sign, two of exponent, one of fraction.
    E2m1,
    /// A power of two.
    E8m0,
    /// A whole number.
    Whole {
        /// Its bits.
        bits: u32,
        /// Whether it has a sign.
        signed: bool,
    },
}

impl Element {
    /// By name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn of(name: &str) -> Said<Self> {
        Ok(match name {
            "f64" => Self::F64,
            "f32" => Self::F32,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "e4m3" => Self::Float8 { fraction: 3, fnuz: false },
            "e5m2" => Self::Float8 { fraction: 2, fnuz: false },
            "e4m3fnuz" => Self::Float8 { fraction: 3, fnuz: true },
            "e5m2fnuz" => Self::Float8 { fraction: 2, fnuz: true },
            "ue4m3" => Self::Ue4m3,
            "e2m1" => Self::E2m1,
            "e8m0" => Self::E8m0,
            "i1" => Self::Whole { bits: 1, signed: false },
            "i4" => Self::Whole { bits: 4, signed: true },
            "u4" => Self::Whole { bits: 4, signed: false },
            "i8" => Self::Whole { bits: 8, signed: true },
            "u8" => Self::Whole { bits: 8, signed: false },
            "i16" => Self::Whole { bits: 16, signed: true },
            "u16" => Self::Whole { bits: 16, signed: false },
            "i32" => Self::Whole { bits: 32, signed: true },
            "u32" => Self::Whole { bits: 32, signed: false },
            "i64" => Self::Whole { bits: 64, signed: true },
            "u64" => Self::Whole { bits: 64, signed: false },
            other => {
                // Another system's name.
                let known = &lanebook::TABLES.seeding.dtypes;
                let own = known.iter().find(|known| known.text == other && known.dtype != other);
                return match own {
                    Some(own) => Self::of(own.dtype),
                    None => Err(format!("element type {other}")),
                };
            }
        })
    }

    /// Bits of an element.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::F64 => 64,
            Self::F32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::Float8 { .. } | Self::E8m0 | Self::Ue4m3 => 8,
            Self::E2m1 => 4,
            Self::Whole { bits, .. } => bits,
        }
    }

    /// Bytes of an element.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.bits() as usize / 8
    }

    /// Whether it is a whole number.
    #[must_use]
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Whole { .. })
    }

    /// Bits of a significand, the leading one included.
    #[must_use]
    pub fn precision(self) -> i32 {
        match self {
            Self::F64 => 53,
            Self::F32 => 24,
            Self::F16 => 11,
            Self::Bf16 => 8,
            Self::Float8 { fraction, .. } => fraction as i32 + 1,
            Self::Ue4m3 => 4,
            Self::E2m1 => 2,
            Self::E8m0 => 1,
            Self::Whole { bits, .. } => bits as i32,
        }
    }

    /// Exponent of the least normal number.
    fn least_exponent(self) -> i32 {
        match self {
            Self::F64 => -1022,
            Self::F32 | Self::Bf16 => -126,
            Self::F16 => -14,
            Self::Float8 { fraction, fnuz } => 2 - (1 << (6 - fraction)) + i32::from(!fnuz) - 1,
            Self::Ue4m3 => -6,
            Self::E2m1 => 0,
            Self::E8m0 => -127,
            Self::Whole { .. } => 0,
        }
    }

    /// The greatest number; of an eight-bit float, those beyond it have no pattern that all
    /// machines agree on.
    #[must_use]
    pub fn greatest(self) -> f64 {
        if let Self::Float8 { .. } = self {
            self.decode(self.encode(f64::INFINITY))
        } else {
            f64::MAX
        }
    }

    /// Value of a pattern.
    #[must_use]
    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Self::F64 => f64::from_bits(bits),
            Self::F32 => f32::from_bits(bits as u32).into(),
            Self::F16 => f16_to_f32(bits as u16).into(),
            Self::Bf16 => bf16_to_f32(bits as u16).into(),
            Self::Float8 { fraction, fnuz } => float8(bits as u8, fraction, fnuz),
            Self::Ue4m3 => float8(bits as u8 & 0x7f, 3, false),
            Self::E2m1 => {
                let size = E2M1[bits as usize & 7];
                if bits & 8 == 0 { size } else { -size }
            }
            Self::E8m0 => e8m0_to_f32(bits as u8).into(),
            Self::Whole { bits: width, signed: true } => {
                (((bits << (64 - width)) as i64) >> (64 - width)) as f64
            }
            Self::Whole { .. } => bits as f64,
        }
    }

    /// Nearest pattern of a value, of two the even one; whole numbers wrap, eight-bit floats
    /// saturate.
    #[must_use]
    pub fn encode(self, v: f64) -> u64 {
        match self {
            Self::F64 => v.to_bits(),
            Self::F32 => u64::from((v as f32).to_bits()),
            Self::F16 => u64::from(f32_to_f16(odd(v))),
            Self::Bf16 => u64::from(f32_to_bf16(odd(v))),
            Self::Float8 { fraction, fnuz } => u64::from(to_float8(odd(v), fraction, fnuz, true)),
            Self::Ue4m3 => u64::from(to_float8(odd(v.abs()), 3, false, true)),
            Self::E2m1 => {
                // Of two that are as near the even one; what is no number is the greatest.
                let far = |k: &usize| ((E2M1[*k] - v.abs().min(6.0)).abs(), k & 1);
                let near = (0..8).min_by(|a, b| far(a).partial_cmp(&far(b)).unwrap_or(Less));
                let size = if v.is_nan() { 7 } else { near.unwrap_or(7) as u64 };
                size | if v.is_sign_negative() && !v.is_nan() { 8 } else { 0 }
            }
            Self::E8m0 => (v.log2().round() as i64).saturating_add(127) as u64 & 0xff,
            Self::Whole { bits, .. } => v as i128 as u64 & (u64::MAX >> (64 - bits)),
        }
    }

    /// The least number that has all bits of a significand; 0 where there is none.
    #[must_use]
    pub fn least_normal(self) -> f64 {
        if self.is_whole() { 0.0 } else { 2f64.powi(self.least_exponent()) }
    }

    /// Whether a pattern is a number below the least normal one, and not zero.
    #[must_use]
    pub fn is_subnormal(self, bits: u64) -> bool {
        let value = self.decode(bits).abs();
        !self.is_whole() && value > 0.0 && value < 2f64.powi(self.least_exponent())
    }

    /// Distance of the neighbours of a value.
    #[must_use]
    pub fn step(self, v: f64) -> f64 {
        if self.is_whole() {
            return 1.0;
        }
        let exponent =
            if v == 0.0 || !v.is_finite() { i32::MIN / 2 } else { v.abs().log2().floor() as i32 };
        2f64.powi(exponent.max(self.least_exponent()) + 1 - self.precision())
    }
}

/// A number as an f32 that is rounded further as the number itself is: what f32 does not have is
/// between two of its numbers, and the odd one of them stands for it.
fn odd(v: f64) -> f32 {
    let near = v as f32;
    if v.is_nan() || f64::from(near) == v {
        return near;
    }
    let below = if f64::from(near).abs() > v.abs() { near.to_bits() - 1 } else { near.to_bits() };
    f32::from_bits(below | 1)
}
