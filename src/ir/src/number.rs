//! Numbers of the text as bits of a type: decimal digits rounded once, to the nearest number of the
//! format, of two the even one.
//!
//! The number is kept as a fraction of two whole numbers of fixed size, and divided bit by bit; no
//! step before the last one rounds.

use crate::{Literal, Program};
use core::cmp::Ordering;
use lanebook_tables::{Dtype, DtypeKind, FloatFormat, Specials};

/// Words of a large number: room for 10^400, digits and the bits of a quotient.
const WORDS: usize = 26;
/// Powers of ten beyond which a number of 19 digits is zero or too large in every format.
const TENS: i16 = 400;

/// The format of a double.
const DOUBLE: FloatFormat = FloatFormat {
    signed: true,
    exponent: 11,
    fraction: 52,
    bias: 1023,
    specials: Specials::Ieee,
    zero: true,
};

/// A whole number, its low word first.
#[derive(Clone)]
struct Large([u64; WORDS]);

impl Large {
    /// `number * 10^tens`.
    fn new(number: u64, tens: u16) -> Self {
        let mut out = Self([0; WORDS]);
        if let Some(low) = out.0.first_mut() {
            *low = number;
        }
        for _ in 0..tens {
            let mut carry = 0u128;
            for word in &mut out.0 {
                let product = u128::from(*word).wrapping_mul(10).wrapping_add(carry);
                (*word, carry) = (product as u64, product >> 64);
            }
        }
        out
    }

    fn bits(&self) -> u32 {
        let top = (0u32..).zip(&self.0).filter(|(_, word)| **word != 0).last();
        top.map_or(0, |(at, word)| {
            at.wrapping_add(1).wrapping_mul(64).wrapping_sub(word.leading_zeros())
        })
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Shifted to the left.
    fn shl(&mut self, by: u32) {
        for _ in 0..by / 64 {
            let mut low = 0;
            for word in &mut self.0 {
                low = core::mem::replace(word, low);
            }
        }
        for _ in 0..by % 64 {
            let mut carry = 0;
            for word in &mut self.0 {
                let next = *word >> 63;
                *word = (*word << 1) | carry;
                carry = next;
            }
        }
    }

    /// Shifted to the right by one.
    fn halve(&mut self) {
        let mut carry = 0;
        for word in self.0.iter_mut().rev() {
            let next = *word << 63;
            *word = (*word >> 1) | carry;
            carry = next;
        }
    }

    /// Takes away another number if it is not larger; whether it did.
    fn take(&mut self, other: &Self) -> bool {
        if self.0.iter().rev().cmp(other.0.iter().rev()) == Ordering::Less {
            return false;
        }
        let mut borrow = false;
        for (word, less) in self.0.iter_mut().zip(&other.0) {
            let (rest, first) = word.overflowing_sub(*less);
            let (rest, second) = rest.overflowing_sub(u64::from(borrow));
            (*word, borrow) = (rest, first || second);
        }
        true
    }
}

/// `number * 10^tens * 2^twos` rounded down, below 2^60, and whether that is exact.
#[inline(never)]
fn scaled(number: u64, tens: i16, twos: i32) -> (u64, bool) {
    let (up, down) =
        (u16::try_from(tens).unwrap_or(0), u16::try_from(tens.saturating_neg()).unwrap_or(0));
    let (mut rest, mut by) = (Large::new(number, up), Large::new(1, down));
    match u32::try_from(twos) {
        Ok(twos) => rest.shl(twos),
        Err(_) => by.shl(twos.unsigned_abs()),
    }
    by.shl(60);
    let mut quotient = 0u64;
    for _ in 0..60 {
        by.halve();
        quotient = (quotient << 1) | u64::from(rest.take(&by));
    }
    (quotient, rest.is_zero())
}

/// The bits of `number * 10^tens` without a sign in a format; `None` if that is too large, or no
/// number of a format that has powers of two alone.
fn magnitude(number: u64, tens: i16, format: &FloatFormat) -> Option<u64> {
    if number == 0 || tens < -TENS {
        return format.zero.then_some(0);
    }
    if tens > TENS {
        return None;
    }
    let fraction = i32::from(format.fraction);
    let bias = i32::from(format.bias);
    let least = if format.zero { 1i32.checked_sub(bias)? } else { bias.checked_neg()? };
    let most = 1i32.checked_shl(u32::from(format.exponent))?.checked_sub(bias)?;
    let lengths = |tens: i16| {
        let (up, down) =
            (u16::try_from(tens).unwrap_or(0), u16::try_from(tens.saturating_neg()).unwrap_or(0));
        (Large::new(number, up).bits(), Large::new(1, down).bits())
    };
    let (above, below) = lengths(tens);
    // The exponent, or one more.
    let mut exponent = i32::try_from(above).ok()?.checked_sub(i32::try_from(below).ok()?)?;
    if exponent > most.checked_add(1)? {
        return None;
    }
    loop {
        let at = exponent.max(least);
        // One bit more than the format has.
        let (bits, exact) = scaled(number, tens, fraction.checked_sub(at)?.checked_add(1)?);
        if exponent > least && bits.checked_shr(u32::from(format.fraction).checked_add(1)?)? == 0 {
            exponent = exponent.checked_sub(1)?;
            continue;
        }
        let (whole, half) = (bits >> 1, bits & 1 == 1);
        let place = u64::try_from(at.checked_sub(least)?).ok()?;
        if !format.zero {
            // Powers of two alone.
            let is_one = whole == 1 && !half && exact;
            return Some(place).filter(|bits| is_one && *bits <= format.largest());
        }
        let up = half && (!exact || whole & 1 == 1);
        let bits = place
            .checked_shl(u32::from(format.fraction))?
            .checked_add(whole)?
            .checked_add(u64::from(up))?;
        return Some(bits).filter(|bits| *bits <= format.largest());
    }
}

/// A decimal number's bits in a format.
pub(crate) fn decimal(digits: i64, tens: i16, format: &FloatFormat) -> Option<u64> {
    let bits = magnitude(digits.unsigned_abs(), tens, format)?;
    if digits < 0 { negative(bits, format) } else { Some(bits) }
}

/// The same number with a minus sign: what rounds to a zero that has no sign is that zero.
fn negative(bits: u64, format: &FloatFormat) -> Option<u64> {
    match (format.specials, bits) {
        _ if !format.signed => None,
        (Specials::OneZero, 0) => Some(0),
        _ => Some(bits | format.sign()),
    }
}

/// A decimal number as a double; infinite where it is too large.
pub(crate) fn double(digits: i64, tens: i16) -> f64 {
    let sign = if digits < 0 { -1.0 } else { 1.0 };
    decimal(digits, tens, &DOUBLE).map_or(f64::INFINITY * sign, f64::from_bits)
}

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// The bits of a literal in an element type, rounded once; `None` if the type has no such
    /// number: it is too large, has no infinity, no sign or no zero, or more digits than fit.
    #[must_use]
    pub fn literal_bits(&self, literal: Literal, dtype: &Dtype<'_>) -> Option<u64> {
        let all = u64::MAX.checked_shr(64u32.checked_sub(u32::from(dtype.bits))?)?;
        if let Literal::Hex(bits) = literal {
            return Some(bits).filter(|bits| bits & !all == 0);
        }
        match (dtype.kind, dtype.format) {
            (DtypeKind::Float, Some(format)) => match literal {
                Literal::Int(value) => decimal(value, 0, &format),
                Literal::Large(value) => magnitude(value, 0, &format),
                Literal::Decimal { digits, exponent } => decimal(digits, exponent, &format),
                Literal::MinusZero => {
                    (format.signed && format.zero && format.specials != Specials::OneZero)
                        .then_some(format.sign())
                }
                Literal::Hex(bits) => Some(bits),
                Literal::Word(name) => match self.text(name) {
                    "inf" => format.infinity(),
                    "-inf" => format.infinity().and_then(|bits| negative(bits, &format)),
                    "nan" => Some(format.nan()),
                    _ => None,
                },
            },
            (DtypeKind::Bits, _) if dtype.bits == 1 => match literal {
                Literal::Int(value @ (0 | 1)) => Some(value.unsigned_abs()),
                Literal::Word(name) => match self.text(name) {
                    "true" => Some(1),
                    "false" => Some(0),
                    _ => None,
                },
                _ => None,
            },
            // A type whose format the tables do not say is filled with zero alone.
            (DtypeKind::Float | DtypeKind::Bits, _) => literal.is_zero().then_some(0),
            (DtypeKind::Signed | DtypeKind::Unsigned, _) => {
                // The digits of a number without a sign are its bits in a signed type as well, as
                // MLIR reads them, whose `i32` has no sign of its own.
                if let Literal::Large(value) = literal {
                    return Some(value).filter(|bits| bits & !all == 0);
                }
                let value = literal.to_int()?;
                let lowest = if dtype.kind == DtypeKind::Signed {
                    i64::MIN.checked_shr(64u32.checked_sub(u32::from(dtype.bits))?)?
                } else {
                    0
                };
                let fits = value >= lowest && (value < 0 || value.cast_unsigned() & !all == 0);
                fits.then_some(value.cast_unsigned() & all)
            }
        }
    }
}
