//! Swizzles as TIRx writes them, their parameters from element width and mode, and where an element
//! lands in banks.
//!
//! TIRx's letters are `per_element` (low bits left alone), `swizzle_len` (bits exchanged) and
//! `atom_len` (distance), counted in elements; in [`Swizzle`] they are `m`, `b` and `s`. The usual
//! direction XORs the upper field into the lower one; `swizzle_inner=False` exchanges the fields,
//! which is a negative `s`.

use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, position};
use crate::post::{PostMap, Swizzle, Unit};

/// TIRx's swizzle: `inner` XORs the field at `per_element + atom_len` into the one at
/// `per_element`, else the other way.
///
/// ```
/// # use lanebook_layout::{Unit, tirx};
/// let s = tirx::swizzle(3, 3, 3, true).unwrap();
/// assert_eq!((s.b, s.m, s.s, s.unit), (3, 3, 3, Unit::Element));
/// ```
///
/// # Errors
/// [`Error::BadSwizzle`] unless `atom_len >= swizzle_len` and all bits are below 63.
pub const fn swizzle(
    per_element: u8,
    swizzle_len: u8,
    atom_len: u8,
    inner: bool,
) -> Result<Swizzle> {
    let far = Error::BadSwizzle { b: swizzle_len, m: per_element, s: i8::MAX };
    if atom_len > 63 {
        return Err(far);
    }
    let distance = (atom_len & 63) as i8;
    let s = if inner { distance } else { distance.wrapping_neg() };
    Swizzle::new(swizzle_len, per_element, s, Unit::Element)
}

/// TIRx's parameters of a swizzle: `per_element`, `swizzle_len`, `atom_len`, and whether it is
/// `swizzle_inner`.
///
/// ```
/// # use lanebook_layout::tirx;
/// assert_eq!(tirx::swizzle_parts(tirx::swizzle(3, 2, 4, false).unwrap()), (3, 2, 4, false));
/// ```
#[must_use]
pub const fn swizzle_parts(s: Swizzle) -> (u8, u8, u8, bool) {
    (s.m, s.b, s.s.unsigned_abs(), s.s >= 0)
}

/// `ComposeLayout(per_element, swizzle_len, atom_len, tile, swizzle_inner=inner)`.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let tile = tirx::compose_swizzle(&of("S[(8,64):(64,1)]").view(), 3, 3, 3, true).unwrap();
/// assert_eq!(tile.view().offset_on(64, AxisId::M), Ok(72));
/// assert!(tirx::compose_swizzle(&of("S[32:1@laneid]").view(), 3, 3, 3, true).is_err());
/// ```
///
/// # Errors
/// [`Error::WrongAxis`] with the iter, as written, that is not on axis `m` (replicas, then offsets
/// count on after the shard): a swizzle acts on memory, and TIRx's own `apply` fails there;
/// [`Error::HasPostMap`] if `tile` is composed already; [`Error::BadSwizzle`].
pub fn compose_swizzle(
    tile: &LayoutRef<'_>,
    per_element: u8,
    swizzle_len: u8,
    atom_len: u8,
    inner: bool,
) -> Result<Layout> {
    let mut out = Layout::from_ref(*tile)?;
    swizzle_in_place(&mut out, [per_element, swizzle_len, atom_len], inner)?;
    Ok(out)
}

/// [`compose_swizzle`] where the tile is: a layout is long, and the text's reader stands deep.
/// `three`: `per_element`, `swizzle_len`, `atom_len`.
pub(crate) fn swizzle_in_place(tile: &mut Layout, three: [u8; 3], inner: bool) -> Result<()> {
    let [per_element, swizzle_len, atom_len] = three;
    let post = swizzle(per_element, swizzle_len, atom_len, inner)?;
    let view = tile.view();
    if !view.post.is_identity() {
        return Err(Error::HasPostMap);
    }
    let shard = view.shard.iter().rev().map(Iter::axis);
    let axes = shard.chain(view.replica.iter().map(Iter::axis));
    for (k, axis) in axes.chain(view.offset.iter().map(|o| o.axis())).enumerate() {
        if axis != AxisId::M {
            return Err(Error::WrongAxis { iter: position(k), axis });
        }
    }
    tile.set_post(PostMap::Swizzle(post))
}

/// `SwizzleLayout(per_element, swizzle_len, atom_len)` of TIRx 0.25: the swizzle over the identity
/// of one period.
///
/// ```
/// # use lanebook_layout::{AxisId, tirx};
/// let layout = tirx::bare_swizzle(3, 3, 3, true).unwrap();
/// assert_eq!((layout.view().size_value(), layout.view().offset_on(65, AxisId::M)), (Ok(512), Ok(73)));
/// ```
///
/// # Errors
/// [`Error::BadSwizzle`]; [`Error::Overflow`] if the period has more than 2^31 elements.
pub fn bare_swizzle(per_element: u8, swizzle_len: u8, atom_len: u8, inner: bool) -> Result<Layout> {
    let post = swizzle(per_element, swizzle_len, atom_len, inner)?;
    let bits = u32::from(per_element)
        .saturating_add(u32::from(swizzle_len))
        .saturating_add(u32::from(atom_len));
    let period = 1u32.checked_shl(bits).ok_or(Error::Overflow)?;
    let mut out = Layout::from_iters(&[Iter::new(period, 1, AxisId::M)])?;
    out.set_post(PostMap::Swizzle(post))?;
    Ok(out)
}

/// What the swizzle modes of a memory have in common.
///
/// ```
/// # use lanebook_layout::tirx::{SwizzleAtom, facts};
/// let atom: SwizzleAtom = facts::SWIZZLE;
/// assert_eq!((atom.vector_bytes, atom.distance), (16, 3));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SwizzleAtom {
    /// Bytes that are moved together; a power of two.
    pub vector_bytes: u32,
    /// Distance of the exchanged fields in bits, `atom_len`.
    pub distance: u8,
}

/// The swizzle of a mode that is `mode_bytes` wide, for elements of `element_bits`: whole vectors
/// stay together, and as many bits are exchanged as count the vectors of one mode's width.
///
/// ```
/// # use lanebook_layout::tirx::{facts, swizzle_for, swizzle_parts};
/// // Elements of 16 bits in the 128-byte mode.
/// let s = swizzle_for(16, 128, &facts::SWIZZLE).unwrap();
/// assert_eq!(swizzle_parts(s), (3, 3, 3, true));
/// ```
///
/// # Errors
/// [`Error::BadElement`] if no power of two of elements fills a vector; [`Error::NoVariant`] if the
/// mode is no power of two of vectors; [`Error::BadSwizzle`].
pub fn swizzle_for(element_bits: u32, mode_bytes: u32, atom: &SwizzleAtom) -> Result<Swizzle> {
    let log2 = |whole: u32, part: u32, fault: Error| -> Result<u8> {
        let exact = whole.checked_rem(part) == Some(0);
        let ratio = whole.checked_div(part).filter(|q| exact && q.is_power_of_two());
        let ratio = ratio.ok_or(fault)?;
        u8::try_from(ratio.trailing_zeros()).map_err(|_| Error::Overflow)
    };
    let vector_bits = atom.vector_bytes.checked_mul(8).ok_or(Error::Overflow)?;
    let bits = Error::BadElement { bits: element_bits };
    let per_element = log2(vector_bits, element_bits, bits)?;
    let mode = Error::NoVariant { found: mode_bytes };
    let swizzle_len = log2(mode_bytes, atom.vector_bytes, mode)?;
    swizzle(per_element, swizzle_len, atom.distance, true)
}

/// The banks of a memory: consecutive words of `bank_bytes` lie in consecutive banks.
///
/// ```
/// # use lanebook_layout::tirx::{Banks, place};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// // 64 banks of 4 bytes: element 128 of 16 bits lies on the next line.
/// let banks = Banks { count: 64, bank_bytes: 4 };
/// let tile = notation::tirx::parse("S[256:1]", &WellKnown, &mut NoSyms).unwrap();
/// let at = place(&tile.view(), 130, 16, &banks).unwrap();
/// assert_eq!((at.bank, at.line), (1, 1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Banks {
    /// How many there are; they make one line.
    pub count: u32,
    /// Bytes of a bank's word.
    pub bank_bytes: u32,
}

/// Where an element lies in a banked memory.
///
/// ```
/// # use lanebook_layout::tirx::{BankPlace, facts, place};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// let tile = notation::tirx::parse("S[64:1]", &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(place(&tile.view(), 3, 16, &facts::BANKS), Ok(BankPlace { bit: 48, bank: 1, line: 0 }));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BankPlace {
    /// First bit, from the layout's origin.
    pub bit: u64,
    /// The bank of that bit.
    pub bank: u32,
    /// The line of that bit.
    pub line: u64,
}

/// Bank and line of the element with flat coordinate `x`, row-major, whose position on axis `m`
/// counts elements.
///
/// ```
/// # use lanebook_layout::tirx::{facts, place};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// let tile = notation::tirx::parse("S[(8,64):(64,1)]", &WellKnown, &mut NoSyms).unwrap();
/// // All rows of a tile 64 elements of 16 bits wide begin in bank 0.
/// assert!((0..8).all(|row| place(&tile.view(), row * 64, 16, &facts::BANKS).unwrap().bank == 0));
/// ```
///
/// # Errors
/// [`Error::NegativeOffset`], [`Error::NoVariant`] for banks without bytes, [`Error::Overflow`];
/// else as [`LayoutRef::offset_on`].
pub fn place(l: &LayoutRef<'_>, x: u64, element_bits: u32, banks: &Banks) -> Result<BankPlace> {
    let offset = l.offset_on(x, AxisId::M)?;
    let index = u64::try_from(offset).map_err(|_| Error::NegativeOffset { offset })?;
    let bit = index.checked_mul(u64::from(element_bits)).ok_or(Error::Overflow)?;
    let none = Error::NoVariant { found: banks.count };
    let word_bits = u64::from(banks.bank_bytes).saturating_mul(8);
    let word = bit.checked_div(word_bits).ok_or(none)?;
    let count = u64::from(banks.count);
    let bank = word.checked_rem(count).ok_or(none)?;
    Ok(BankPlace {
        bit,
        bank: u32::try_from(bank).map_err(|_| Error::Overflow)?,
        line: word.checked_div(count).ok_or(none)?,
    })
}
