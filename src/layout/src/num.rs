//! Numbers in a layout: an integer, or an integer times run-time symbols; as a stride also a
//! fraction of one.
//!
//! [`Int`] is `coeff / den * s0 * s1 * s2` with at most three symbols. A symbol stands for a
//! **positive** integer that is known only at run time, the same everywhere it occurs. Whatever can
//! be decided for all such values is decided; the rest is [`Error::NeedsValue`] with the symbol.
//! Sums of different products are not represented.
//!
//! How many tiles of 128 cover `M` is a factor too, `ceil_div(M,128)`: a quotient that is rounded up.
//! It takes the places of its symbols, one for the divisor and one for a number before the symbols
//! (`ceil_div(8*M,3)`). The divisor is an odd number up to 31 times a power of two up to 2^15 (but not
//! 31 times 2^15 or 2^14), the number before one up to 31 times a power up to 2^7. A divisor may be a
//! symbol, below a symbol or a number: `ceil_div(M,N)`, `ceil_div(8,N)`; such a quotient takes all
//! places. For others it is [`Error::NeedsValue`].
//!
//! Fractions exist for CuTe's scaled bases (`1/2@0`). They are kept reduced, with the sign on the
//! numerator, and are exact in every operation; where an integer is needed, a fraction is
//! [`Error::NotIntegral`].

use crate::error::{Error, Limit, Result};
use crate::order::sort_by;
use core::cmp::Ordering;
use core::num::{NonZeroU8, NonZeroU32};

pub use crate::sym::SymId;

/// A product of at most three symbols; the empty product is 1. Some of them may stand in a quotient
/// that is rounded up, whose divisor takes the place of one, and a number before them that of another.
///
/// Sorted: plain symbols, then those of the quotient, then the number before them, if it is not 1,
/// then the divisor. Below a symbol there is one place of three: the other's, or a number's.
///
/// ```
/// use lanebook_layout::num::{Int, Quotient, SymId, Syms};
///
/// let m = SymId::new(1).unwrap();
/// assert!(Syms::NONE.is_none() && !Syms::one(m).is_none());
/// // ceil_div(M, 128) is a symbol in a quotient.
/// let tiles = Int::sym(m).ceil_div(Int::known(128)).unwrap();
/// let of: Quotient = tiles.syms().quotient().unwrap();
/// assert_eq!((of.times, of.by, of.of.plain().next()), (1, 128, Some(m)));
/// assert_eq!((tiles.syms().plain().count(), tiles.syms().iter().count()), (0, 1));
/// // So it is where the divisor is a symbol.
/// let tile = SymId::new(2).unwrap();
/// let of = Int::sym(m).ceil_div(Int::sym(tile)).unwrap().syms().quotient().unwrap();
/// assert_eq!((of.by, of.under.plain().next()), (1, Some(tile)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Syms([Option<NonZeroU8>; 3]);

/// `ceil_div(times * of, by * under)`, reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quotient {
    /// The number in the dividend.
    pub times: u32,
    /// Its symbols, all of them plain.
    pub of: Syms,
    /// The divisor's number.
    pub by: u32,
    /// The divisor's symbols, all of them plain.
    pub under: Syms,
}

/// Set in the places of symbols that stand in a quotient; symbols have lower numbers, and so has
/// what stands for a number before them.
const DIVIDED: u8 = 0x80;
/// In the last place: before it stands the symbol that divides the one in the first place.
const BELOW_SYMBOL: NonZeroU8 = NonZeroU8::MAX;
/// In the last place: before it stands the number that the symbol in the first place divides.
const BELOW_NUMBER: NonZeroU8 = NonZeroU8::MIN.saturating_add(0xfd);
/// Bits of the exponent of two in the place of a divisor, and of a number before symbols.
const POWER: [u32; 2] = [4, 3];

/// A number above 1 in the place of a symbol: half of its odd factor, rounded down, above `bits` of
/// its exponent of two.
fn packed(number: u32, bits: u32) -> Option<NonZeroU8> {
    let power = number.trailing_zeros();
    let half = number.checked_shr(power)? >> 1;
    let fits = half < 16 && power.checked_shr(bits) == Some(0);
    let both = half.checked_shl(bits)? | power;
    let place = if fits { u8::try_from(both).ok().and_then(NonZeroU8::new) } else { None };
    place.filter(|place| *place < BELOW_NUMBER)
}

/// The number that [`packed`] packed.
fn unpacked(place: NonZeroU8, bits: u32) -> u32 {
    let place = u32::from(place.get());
    let half = place.wrapping_shr(bits);
    let power = place ^ half.wrapping_shl(bits);
    // At most 31 * 2^15.
    (half.wrapping_shl(1) | 1).wrapping_shl(power)
}

impl Quotient {
    /// The same in lowest terms as places; `None` where there is no room. Of the symbols there are
    /// fewer than three.
    fn places(self) -> Option<heapless::Vec<NonZeroU8, 5>> {
        let mut out = heapless::Vec::new();
        if !self.under.is_none() {
            let (mut above, mut below) = (self.of.plain(), self.under.plain());
            let (symbol, divisor) = (above.next(), below.next()?);
            let [first, second, last] = match symbol {
                Some(symbol) if self.times == 1 => [symbol.0 | DIVIDED, divisor.0, BELOW_SYMBOL],
                None => [divisor.0 | DIVIDED, packed(self.times, POWER[1])?, BELOW_NUMBER],
                Some(_) => return None,
            };
            let is_whole = above.next().is_none() && below.next().is_none() && self.by == 1;
            out.extend_from_slice(&[first, second, last]).ok()?;
            return Some(out).filter(|_| is_whole);
        }
        for s in self.of.plain() {
            out.push(s.0 | DIVIDED).ok()?;
        }
        if self.times > 1 {
            out.push(packed(self.times, POWER[1])?).ok()?;
        }
        out.push(packed(self.by, POWER[0])?).ok()?;
        Some(out)
    }
}

impl Syms {
    /// The empty product.
    pub const NONE: Self = Self([None; 3]);

    /// The product that is one symbol.
    #[must_use]
    pub const fn one(sym: SymId) -> Self {
        Self([Some(sym.0), None, None])
    }

    /// The symbols, in increasing order, repeated as often as they occur; those of a quotient
    /// behind the others.
    pub fn iter(self) -> impl Iterator<Item = SymId> + use<> {
        let (plain, quotient) = self.parts();
        let both = quotient.map(|quotient| (quotient.of, quotient.under)).unwrap_or_default();
        plain.symbols().chain(both.0.symbols()).chain(both.1.symbols())
    }

    /// The symbols that are factors by themselves, in increasing order, repeated as often as they
    /// occur.
    pub fn plain(self) -> impl Iterator<Item = SymId> + use<> {
        self.parts().0.symbols()
    }

    /// The quotient that is rounded up.
    #[must_use]
    pub fn quotient(self) -> Option<Quotient> {
        self.parts().1
    }

    /// Whether the product is empty.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0[0].is_none()
    }

    /// What stands in the places, taken for symbols.
    fn symbols(self) -> impl Iterator<Item = SymId> + use<> {
        self.0.into_iter().flatten().map(SymId)
    }

    /// Plain symbols, and the quotient.
    fn parts(self) -> (Self, Option<Quotient>) {
        let is_plain = |place: &Option<NonZeroU8>| place.is_some_and(|s| s.get() & DIVIDED == 0);
        if self.0.iter().flatten().all(|place| place.get() & DIVIDED == 0) {
            return (self, None);
        }
        if let [Some(first), Some(second), Some(last)] = self.0 {
            let own = NonZeroU8::new(first.get() & !DIVIDED).map(|own| Syms::one(SymId(own)));
            let alone = |times, of, under| Some(Quotient { times, of, by: 1, under });
            match (own, last) {
                (Some(own), BELOW_SYMBOL) => {
                    return (Syms::NONE, alone(1, own, Syms::one(SymId(second))));
                }
                (Some(own), BELOW_NUMBER) => {
                    return (Syms::NONE, alone(unpacked(second, POWER[1]), Syms::NONE, own));
                }
                _ => {}
            }
        }
        let (mut plain, mut of) = (Sorted::default(), Sorted::default());
        let mut places = self.0.into_iter().peekable();
        while let Some(Some(place)) = places.next_if(is_plain) {
            plain.push(place);
        }
        let (mut times, mut by) = (1, 1);
        let mut places = places.flatten().peekable();
        while let Some(place) = places.next() {
            let is_last = places.peek().is_none();
            match NonZeroU8::new(place.get() & !DIVIDED) {
                _ if is_last => by = unpacked(place, POWER[0]),
                Some(sym) if place.get() & DIVIDED != 0 => of.push(sym),
                _ => times = unpacked(place, POWER[1]),
            }
        }
        (plain.product(), Some(Quotient { times, of: of.product(), by, under: Syms::NONE }))
    }

    /// Both parts together, if there is room.
    fn joined(plain: Self, quotient: Option<Quotient>) -> Result<Self> {
        let full = Error::Capacity { limit: Limit::SymFactors, max: 3 };
        let Some(quotient) = quotient else { return Ok(plain) };
        let places = quotient.places().ok_or(full)?;
        let mut out = Self::NONE;
        let places = places.iter().copied();
        for (k, place) in plain.symbols().map(|s| s.0).chain(places).enumerate() {
            *out.0.get_mut(k).ok_or(full)? = Some(place);
        }
        Ok(out)
    }

    /// The first place is a symbol in any case.
    fn first(self) -> Option<SymId> {
        NonZeroU8::new(self.0[0]?.get() & !DIVIDED).map(SymId)
    }

    /// Symbols of a quotient are marked, so that they sort behind all others; what follows them stays
    /// where it is. (Places alone, and small frames: products are deep in the algebra.)
    fn times(self, other: Self) -> Result<Self> {
        let full = Error::Capacity { limit: Limit::SymFactors, max: 3 };
        let (mut first, mut second, mut at) = (0usize, 0usize, 0usize);
        let mut out = Self::NONE;
        loop {
            let heads = (self.place(first), other.place(second));
            let next = match heads {
                (None, None) => return Ok(out),
                (Some(a), Some(b)) if a.get() & b.get() & DIVIDED != 0 => return Err(full),
                (Some(a), Some(b)) if a <= b => a,
                (Some(a), None) => a,
                (_, Some(b)) => b,
            };
            if heads.0 == Some(next) {
                first = first.wrapping_add(1);
            } else {
                second = second.wrapping_add(1);
            }
            *out.0.get_mut(at).ok_or(full)? = Some(next);
            at = at.wrapping_add(1);
        }
    }

    /// `self / other` when every factor of `other` occurs in `self`.
    fn over(self, other: Self) -> Option<Self> {
        let (mut own, mut by, mut at) = (0usize, 0usize, 0usize);
        // Behind a symbol of a quotient both must be the same to the end.
        let mut is_divided = false;
        let mut out = Self::NONE;
        while let Some(place) = self.place(own) {
            let is_marked = place.get() & DIVIDED != 0;
            match other.place(by) {
                Some(same) if same == place => {
                    is_divided |= is_marked;
                    by = by.wrapping_add(1);
                }
                Some(divisor) if is_marked || divisor < place => return None,
                _ if is_divided => return None,
                _ => {
                    *out.0.get_mut(at)? = Some(place);
                    at = at.wrapping_add(1);
                }
            }
            own = own.wrapping_add(1);
        }
        if other.place(by).is_some() { None } else { Some(out) }
    }

    /// What stands in a place.
    fn place(self, at: usize) -> Option<NonZeroU8> {
        self.0.get(at).copied().flatten()
    }

    /// `times * self / by` rounded up, all reduced; `None` if there is no room for it.
    fn rounded_up(self, times: u32, by: u32) -> Option<Self> {
        let quotient = match self.parts() {
            (of, None) => Quotient { times, of, by, under: Syms::NONE },
            // Rounded up twice is rounded up once.
            (plain, Some(before)) if plain.is_none() && times == 1 && before.under.is_none() => {
                let by = by.checked_mul(before.by)?;
                let (mut common, mut rest) = (by, before.times);
                while let Some(next) = common.checked_rem(rest) {
                    (common, rest) = (rest, next);
                }
                Quotient {
                    times: before.times.checked_div(common)?,
                    of: before.of,
                    by: by.checked_div(common)?,
                    under: Syms::NONE,
                }
            }
            _ => return None,
        };
        Self::joined(Self::NONE, Some(quotient)).ok()
    }
}

/// Symbols in increasing order; of two products at the most.
#[derive(Default)]
struct Sorted(heapless::Vec<NonZeroU8, 6>);

impl Sorted {
    fn push(&mut self, place: NonZeroU8) {
        // Two products have six at the most.
        let _ = self.0.push(place);
        sort_by(&mut self.0, |a, b| a < b);
    }

    /// The first three.
    fn product(&self) -> Syms {
        let mut out = Syms::NONE;
        for (slot, s) in out.0.iter_mut().zip(&self.0) {
            *slot = Some(*s);
        }
        out
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
///
/// ```
/// use core::cmp::Ordering;
/// use lanebook_layout::{Int, NoSyms, SymNames, SymTable};
///
/// let mut names = SymTable::new();
/// let m = Int::sym(names.sym("M").unwrap());
/// let eight = m.checked_mul(Int::known(8)).unwrap();
/// // M is at least 1, so 8*M is more than M and at least 8; whether it is more than 9 depends.
/// assert_eq!((eight.compare(m), Int::known(8).at_most(eight)), (Some(Ordering::Greater), true));
/// assert_eq!(eight.compare(Int::known(9)), None);
/// assert_eq!((eight.div_exact(m), m.div_exact(eight)), (Some(Int::known(8)), None));
/// assert_eq!(eight.checked_add(m).unwrap().div_exact(m), Some(Int::known(9)));
/// assert_eq!(Int::known(9).ceil_div(Int::known(4)), Ok(Int::known(3)));
/// assert!(Int::ZERO.is_whole() && Int::ONE.syms().is_none());
/// // A fresh symbol for a text that says `?`; whoever takes none refuses all names.
/// assert!(names.fresh().is_some() && NoSyms.sym("M").is_none());
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

    /// `self / by` rounded up, for positive `by`: exact where it is, else by value, else as a
    /// quotient of symbols. Not for fractions.
    ///
    /// # Errors
    /// [`Error::NeedsValue`] where there is no room for the quotient; [`Error::Overflow`].
    pub fn ceil_div(self, by: Self) -> Result<Self> {
        if let Some(exact) = self.div_exact(by) {
            return Ok(exact);
        }
        let needed = self.needs_value(by);
        if !(self.is_whole() && by.is_whole()) || by.coeff < 1 {
            return Err(needed);
        }
        if !by.syms.is_none() {
            return self.over_symbol(by).ok_or(needed);
        }
        if self.syms.is_none() {
            let down = self.coeff.checked_div_euclid(by.coeff).ok_or(Error::Overflow)?;
            return Ok(Self::known(down.checked_add(1).ok_or(Error::Overflow)?));
        }
        let reduced = Self::reduced(i128::from(self.coeff), i128::from(by.coeff), Syms::NONE);
        let (coeff, den) = reduced.map(|q| (q.coeff, q.den.get())).map_err(|_| needed)?;
        let times = u32::try_from(coeff).map_err(|_| needed)?;
        self.syms.rounded_up(times, den).map(|syms| Self::new(1, syms)).ok_or(needed)
    }

    /// The quotient, rounded up, of a symbol or a positive number by a symbol.
    fn over_symbol(self, by: Self) -> Option<Self> {
        let is_plain = self.syms.quotient().is_none() && by.syms.quotient().is_none();
        let times = u32::try_from(self.coeff).ok().filter(|times| *times > 0 && is_plain)?;
        // One lies below every symbol, or reaches it.
        if by.coeff == 1 && times == 1 && self.syms.is_none() {
            return Some(Self::ONE);
        }
        let by_times = u32::try_from(by.coeff).ok()?;
        let quotient = Quotient { times, of: self.syms, by: by_times, under: by.syms };
        let syms = Syms::joined(Syms::NONE, Some(quotient)).ok()?;
        Some(Self::new(1, syms))
    }

    /// The number with `sym` replaced by `value`.
    ///
    /// # Errors
    /// [`Error::NeedsValue`] where a symbol divides another, and a number has no form in the place of
    /// this one; [`Error::Overflow`].
    pub fn substitute(self, sym: SymId, value: i64) -> Result<Self> {
        let put = |product: Syms| -> Result<Self> {
            let mut out = Self::ONE;
            for s in product.plain() {
                let factor = if s == sym { Self::known(value) } else { Self::sym(s) };
                out = out.checked_mul(factor)?;
            }
            Ok(out)
        };
        let mut out = Self { syms: Syms::NONE, ..self }.checked_mul(put(self.syms)?)?;
        if let Some(Quotient { times, of, by, under }) = self.syms.quotient() {
            let dividend = put(of)?.checked_mul(Self::known(i64::from(times)))?;
            let divisor = put(under)?.checked_mul(Self::known(i64::from(by)))?;
            out = out.checked_mul(dividend.ceil_div(divisor)?)?;
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
///
/// ```
/// use lanebook_layout::{SymNames, SymTable};
///
/// let mut names = SymTable::new();
/// let k = names.sym("K").unwrap();
/// assert_eq!((names.sym("K"), names.name(k)), (Some(k), Some("K")));
/// // CuTe's `?` is another symbol each time.
/// assert_ne!(names.fresh(), names.fresh());
/// ```
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
///
/// ```
/// use lanebook_layout::{SymNames, SymTable};
///
/// // Sixteen names at most.
/// let mut names = SymTable::new();
/// let kept = (0..20).filter(|k| names.sym(&format!("n{k}")).is_some()).count();
/// assert_eq!(kept, usize::from(SymTable::MOST));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SymTable {
    names: heapless::Vec<heapless::String<23>, { SymTable::MOST as usize }>,
}

impl SymTable {
    /// How many symbols there are at most; they are numbered from 1 on.
    pub const MOST: u8 = 16;

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
