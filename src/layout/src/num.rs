//! Numbers in a layout: an integer, or an integer times run-time symbols; as a stride also a
//! fraction of one.
//!
//! [`Int`] is `coeff / den * s0 * s1 * s2` with at most three symbols. A symbol stands for a
//! **positive** integer that is known only at run time, the same everywhere it occurs. Whatever can
//! be decided for all such values is decided; the rest is [`Error::NeedsValue`] with the symbol.
//! Sums of different products are not represented.
//!
//! Fractions exist for CuTe's scaled bases (`1/2@0`). They are kept reduced, with the sign on the
//! numerator, and are exact in every operation; where an integer is needed, a fraction is
//! [`Error::NotIntegral`].

use crate::error::{Error, Limit, Result};
use crate::order::sort_by;
use core::cmp::Ordering;
use core::num::{NonZeroU8, NonZeroU32};

pub use crate::sym::SymId;

/// A product of at most three symbols, sorted; the empty product is 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Syms([Option<NonZeroU8>; 3]);

impl Syms {
    /// The empty product.
    pub const NONE: Self = Self([None; 3]);

    /// The product that is one symbol.
    #[must_use]
    pub const fn one(sym: SymId) -> Self {
        Self([Some(sym.0), None, None])
    }

    /// The symbols, in increasing order, repeated as often as they occur.
    pub fn iter(self) -> impl Iterator<Item = SymId> {
        self.0.into_iter().flatten().map(SymId)
    }

    /// Whether the product is empty.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0[0].is_none()
    }

    fn first(self) -> Option<SymId> {
        self.iter().next()
    }

    fn times(self, other: Self) -> Result<Self> {
        let mut merged: heapless::Vec<NonZeroU8, 6> = heapless::Vec::new();
        for s in self.iter().chain(other.iter()) {
            let _ = merged.push(s.0);
        }
        sort_by(&mut merged, |a, b| a < b);
        let mut out = Self::NONE;
        for (k, s) in merged.iter().enumerate() {
            let slot =
                out.0.get_mut(k).ok_or(Error::Capacity { limit: Limit::SymFactors, max: 3 })?;
            *slot = Some(*s);
        }
        Ok(out)
    }

    /// `self / other` when every symbol of `other` occurs in `self`.
    fn over(self, other: Self) -> Option<Self> {
        let mut rest: heapless::Vec<NonZeroU8, 3> = heapless::Vec::new();
        let mut divisor = other.0.into_iter().flatten().peekable();
        for s in self.0.into_iter().flatten() {
            if divisor.peek() == Some(&s) {
                divisor.next();
            } else {
                let _ = rest.push(s);
            }
        }
        if divisor.next().is_some() {
            return None;
        }
        let mut out = Self::NONE;
        for (slot, s) in out.0.iter_mut().zip(rest.iter()) {
            *slot = Some(*s);
        }
        Some(out)
    }
}

/// A number: an integer, or a reduced fraction, times at most three run-time symbols.
///
/// ```
/// use lanebook_layout::{Int, SymNames, SymTable};
///
/// let mut names = SymTable::new();
/// let m = names.sym("M").unwrap();
/// let product = Int::known(8).checked_mul(Int::sym(m)).unwrap();
/// assert_eq!((product.coeff(), product.as_known()), (8, None));
/// assert_eq!(product.substitute(m, 4).unwrap().value(), Ok(32));
/// assert_eq!(Int::ratio(6, 4).unwrap().den().get(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Int {
    coeff: i64,
    den: NonZeroU32,
    syms: Syms,
}

const _: () = assert!(core::mem::size_of::<Int>() <= 16);

/// The denominator of an integer.
const WHOLE: NonZeroU32 = NonZeroU32::MIN;

impl From<i64> for Int {
    fn from(value: i64) -> Self {
        Self::known(value)
    }
}

impl Int {
    /// Zero.
    pub const ZERO: Self = Self::known(0);
    /// One.
    pub const ONE: Self = Self::known(1);

    /// A plain integer.
    #[must_use]
    pub const fn known(value: i64) -> Self {
        Self { coeff: value, den: WHOLE, syms: Syms::NONE }
    }

    /// One symbol.
    #[must_use]
    pub const fn sym(sym: SymId) -> Self {
        Self { coeff: 1, den: WHOLE, syms: Syms::one(sym) }
    }

    /// `coeff` times `syms`.
    #[must_use]
    pub const fn new(coeff: i64, syms: Syms) -> Self {
        if coeff == 0 {
            return Self::ZERO;
        }
        Self { coeff, den: WHOLE, syms }
    }

    /// `num / den`, reduced.
    ///
    /// # Errors
    /// [`Error::NotIntegral`] for a denominator of zero, [`Error::Overflow`] if the reduced numbers
    /// do not fit 64 bits signed over 32 bits unsigned.
    pub fn ratio(num: i64, den: i64) -> Result<Self> {
        if den == 0 {
            return Err(Error::NotIntegral { num, den: 0 });
        }
        Self::reduced(i128::from(num), i128::from(den), Syms::NONE)
    }

    /// `num / den` times `syms`, for `den` other than 0.
    fn reduced(num: i128, den: i128, syms: Syms) -> Result<Self> {
        let (mut a, mut b) = (num.unsigned_abs(), den.unsigned_abs());
        while let Some(r) = a.checked_rem(b) {
            (a, b) = (b, r);
        }
        let common = i128::try_from(a).map_err(|_| Error::Overflow)?;
        let common = if den < 0 { common.wrapping_neg() } else { common };
        let divided = |x: i128| x.checked_div(common).ok_or(Error::Overflow);
        let coeff = i64::try_from(divided(num)?).map_err(|_| Error::Overflow)?;
        let den = u32::try_from(divided(den)?).ok().and_then(NonZeroU32::new);
        let den = den.ok_or(Error::Overflow)?;
        if coeff == 0 {
            return Ok(Self::ZERO);
        }
        Ok(Self { coeff, den, syms })
    }

    /// The number with its denominator replaced; for the parts of an iter.
    pub(crate) const fn over(self, den: NonZeroU32) -> Self {
        Self { den, ..self }
    }

    /// The integer factor; for a fraction, its numerator.
    #[must_use]
    pub const fn coeff(self) -> i64 {
        self.coeff
    }

    /// The denominator: 1 for an integer.
    #[must_use]
    pub const fn den(self) -> NonZeroU32 {
        self.den
    }

    /// Whether the number is an integer (times symbols) and no fraction.
    #[must_use]
    pub const fn is_whole(self) -> bool {
        self.den.get() == 1
    }

    /// The symbols.
    #[must_use]
    pub const fn syms(self) -> Syms {
        self.syms
    }

    /// The value, if it is an integer without symbols.
    #[must_use]
    pub const fn as_known(self) -> Option<i64> {
        if self.syms.is_none() && self.is_whole() { Some(self.coeff) } else { None }
    }

    /// The value, or which symbol or fraction is in the way.
    #[inline]
    pub fn value(self) -> Result<i64> {
        match self.as_known() {
            Some(value) => Ok(value),
            None => Err(self.needs_value(self)),
        }
    }

    /// The product.
    pub fn checked_mul(self, other: Self) -> Result<Self> {
        if !(self.is_whole() && other.is_whole()) {
            let den = i128::from(self.den.get()).saturating_mul(i128::from(other.den.get()));
            let num = i128::from(self.coeff).saturating_mul(i128::from(other.coeff));
            return Self::reduced(num, den, self.syms.times(other.syms)?);
        }
        let coeff = self.coeff.checked_mul(other.coeff).ok_or(Error::Overflow)?;
        if coeff == 0 {
            return Ok(Self::ZERO);
        }
        Ok(Self { coeff, den: WHOLE, syms: self.syms.times(other.syms)? })
    }

    /// The sum, where it is again a product of this form; else [`Error::NeedsValue`].
    pub fn checked_add(self, other: Self) -> Result<Self> {
        if self.coeff == 0 {
            return Ok(other);
        }
        if other.coeff == 0 {
            return Ok(self);
        }
        if self.syms != other.syms {
            return Err(self.needs_value(other));
        }
        if !(self.is_whole() && other.is_whole()) {
            let (a, b) = self.crossed(other);
            let den = i128::from(self.den.get()).saturating_mul(i128::from(other.den.get()));
            return Self::reduced(a.saturating_add(b), den, self.syms);
        }
        Ok(Self::new(self.coeff.checked_add(other.coeff).ok_or(Error::Overflow)?, self.syms))
    }

    /// Both numerators over the common denominator that is the product of both.
    fn crossed(self, other: Self) -> (i128, i128) {
        let times = |a: Self, b: Self| i128::from(a.coeff).saturating_mul(i128::from(b.den.get()));
        (times(self, other), times(other, self))
    }

    /// `self / other` when that is an integer for all values of the symbols, else `None` (also for
    /// `other` = 0).
    #[must_use]
    pub fn div_exact(self, other: Self) -> Option<Self> {
        let quotient = if self.is_whole() && other.is_whole() {
            if self.coeff.checked_rem(other.coeff)? != 0 {
                return None;
            }
            self.coeff.checked_div(other.coeff)?
        } else {
            let (a, b) = self.crossed(other);
            if a.checked_rem(b)? != 0 {
                return None;
            }
            i64::try_from(a.checked_div(b)?).ok()?
        };
        Some(Self::new(quotient, self.syms.over(other.syms)?))
    }

    /// How two numbers compare, if that is so for all values of the symbols.
    ///
    /// Decided when the symbols agree, and when one product of positive numbers contains the other.
    #[must_use]
    pub fn compare(self, other: Self) -> Option<Ordering> {
        let order = if self.den == other.den {
            self.coeff.cmp(&other.coeff)
        } else {
            let (a, b) = self.crossed(other);
            a.cmp(&b)
        };
        if self.syms == other.syms {
            return Some(order);
        }
        if self.coeff <= 0 && other.coeff > 0 {
            return Some(Ordering::Less);
        }
        if self.coeff > 0 && other.coeff <= 0 {
            return Some(Ordering::Greater);
        }
        // p*S against q*S*T with T >= 1: decided if p < q (both positive).
        if self.coeff > 0 && other.coeff > 0 {
            if order == Ordering::Less && other.syms.over(self.syms).is_some() {
                return Some(Ordering::Less);
            }
            if order == Ordering::Greater && self.syms.over(other.syms).is_some() {
                return Some(Ordering::Greater);
            }
        }
        None
    }

    /// Whether `self <= other` for all values of the symbols: as [`Int::compare`] decides, and when
    /// one product contains the other by a factor that may be 1 (`1 <= M`).
    #[must_use]
    pub fn at_most(self, other: Self) -> bool {
        match self.compare(other) {
            Some(order) => order != Ordering::Greater,
            None => {
                let (a, b) = self.crossed(other);
                a > 0 && a <= b && other.syms.over(self.syms).is_some()
            }
        }
    }

    /// The number with `sym` replaced by `value`.
    pub fn substitute(self, sym: SymId, value: i64) -> Result<Self> {
        let mut out = Self { syms: Syms::NONE, ..self };
        for s in self.syms.iter() {
            let factor = if s == sym { Self::known(value) } else { Self::sym(s) };
            out = out.checked_mul(factor)?;
        }
        Ok(out)
    }

    /// The error that names a symbol of `self` or else of `other`, or a fraction;
    /// [`Error::Overflow`] if there is neither.
    pub(crate) fn needs_value(self, other: Self) -> Error {
        if let Some(sym) = self.syms.first().or(other.syms.first()) {
            return Error::NeedsValue { sym };
        }
        match [self, other].into_iter().find(|x| !x.is_whole()) {
            Some(x) => Error::NotIntegral { num: x.coeff, den: x.den.get() },
            None => Error::Overflow,
        }
    }
}

/// Names of symbols, both ways; a parser asks for a symbol, a printer for its name.
pub trait SymNames {
    /// The symbol called `name`; may create it. `None` refuses the name.
    fn sym(&mut self, name: &str) -> Option<SymId>;
    /// The name of `sym`, if it has one.
    fn name(&self, sym: SymId) -> Option<&str>;
    /// A symbol that no text has met yet, for CuTe's `?`. `None` refuses it.
    fn fresh(&mut self) -> Option<SymId> {
        None
    }
}

/// No symbols: every identifier is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoSyms;

impl SymNames for NoSyms {
    fn sym(&mut self, _: &str) -> Option<SymId> {
        None
    }

    fn name(&self, _: SymId) -> Option<&str> {
        None
    }
}

/// Up to 16 symbols with names of up to 23 bytes, created as they are met. Fresh ones are called
/// `?a`, `?b` and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymTable {
    names: heapless::Vec<heapless::String<23>, 16>,
}

impl SymTable {
    /// An empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self { names: heapless::Vec::new() }
    }
}

impl SymNames for SymTable {
    fn sym(&mut self, name: &str) -> Option<SymId> {
        let at = match self.names.iter().position(|n| n.as_str() == name) {
            Some(at) => at,
            None => {
                let mut owned = heapless::String::new();
                owned.push_str(name).ok()?;
                self.names.push(owned).ok()?;
                self.names.len().checked_sub(1)?
            }
        };
        NonZeroU8::new(u8::try_from(at.checked_add(1)?).ok()?).map(SymId)
    }

    fn fresh(&mut self) -> Option<SymId> {
        (b'a'..=b'z').find_map(|letter| {
            let bytes = [b'?', letter];
            let name = core::str::from_utf8(&bytes).ok()?;
            if self.names.iter().any(|n| n.as_str() == name) {
                return None;
            }
            self.sym(name)
        })
    }

    fn name(&self, sym: SymId) -> Option<&str> {
        let at = usize::from(sym.0.get()).checked_sub(1)?;
        self.names.get(at).map(heapless::String::as_str)
    }
}
