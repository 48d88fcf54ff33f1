//! The swizzle modes of an architecture: found by name, by number in an encoding, or by what they
//! do.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::layout::Unit;
//! use lanebook::unit::swizzle::{apply, code, in_elements, modes, named, numbered, of_post, post_map};
//!
//! let arch = TABLES.arch(TABLES.arch_named("sm_90a").unwrap()).unwrap();
//! let mode = named(&TABLES, arch, "128B").unwrap();
//! assert!(modes(&TABLES, arch).any(|one| one.name == "64B"));
//! // Row 1 of 128 bytes: its first vector goes to the second place.
//! assert_eq!(apply(mode, 128), 128 + 16);
//! // Its number in an encoding, and back.
//! let (encoding, number) = mode.codes[0];
//! assert_eq!((code(mode, encoding), numbered(&TABLES, arch, encoding, number).unwrap().name), (Some(number), "128B"));
//! // As a post-map of elements of 16 bits, and the mode that does that.
//! let post = post_map(mode, 16).unwrap();
//! assert_eq!(of_post(&TABLES, arch, encoding, &post, 16).unwrap().name, "128B");
//! let swizzle = in_elements(mode.xor[0], 16, Unit::Element).unwrap();
//! assert_eq!((swizzle.b, swizzle.m, swizzle.s), (3, 3, 3));
//! ```

use crate::unit::{UnitError, has};
use lanebook_layout::{PostMap, Swizzle, Unit};
use lanebook_tables::{Arch, SwizzleMode, Tables};

/// The architecture's modes.
pub fn modes<'a, 't>(
    tables: &Tables<'a>,
    arch: &'t Arch<'_>,
) -> impl Iterator<Item = &'a SwizzleMode<'a>> + use<'a, 't> {
    tables.units.swizzles.iter().copied().filter(|mode| has(arch, mode.feature))
}

/// The mode with this name.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn named<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    name: &str,
) -> Result<&'a SwizzleMode<'a>, UnitError> {
    modes(tables, arch).find(|mode| mode.name == name).ok_or(UnitError::Absent)
}

/// The mode with this number in an encoding. Where several have it, because the encoding is half of
/// one, the first.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn numbered<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    encoding: &str,
    number: u16,
) -> Result<&'a SwizzleMode<'a>, UnitError> {
    modes(tables, arch).find(|mode| code(mode, encoding) == Some(number)).ok_or(UnitError::Absent)
}

/// The number of a mode in an encoding, if it has one there.
#[must_use]
pub fn code(mode: &SwizzleMode<'_>, encoding: &str) -> Option<u16> {
    mode.codes.iter().find(|(name, _)| *name == encoding).map(|(_, number)| *number)
}

/// Where the byte at an address goes.
#[must_use]
pub fn apply(mode: &SwizzleMode<'_>, address: u64) -> u64 {
    mode.xor.iter().fold(address, |at, xor| at ^ xor.apply(address) ^ address)
}

/// The mode that does what `post` does to elements of so many bits, among those that have a number
/// in `encoding`.
///
/// # Errors
/// [`UnitError::NoMode`] with the swizzle in bytes; [`UnitError::Width`] for elements that are no power of
/// two of bits.
pub fn of_post<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    encoding: &str,
    post: &PostMap,
    element_bits: u16,
) -> Result<&'a SwizzleMode<'a>, UnitError> {
    let wanted = match post.swizzle() {
        Some(swizzle) if swizzle.b != 0 => Some(in_bytes(swizzle, element_bits)?),
        _ => None,
    };
    let refused = wanted.map_or(UnitError::NoMode { b: 0, m: 0, s: 0 }, |w| UnitError::NoMode {
        b: w.b,
        m: w.m,
        s: w.s,
    });
    if post.padding().is_some_and(|p| p.pads().iter().any(|pad| pad.pad != 0)) {
        return Err(UnitError::NoMode { b: 0, m: 0, s: 0 });
    }
    let same = |mode: &&SwizzleMode<'_>| match (mode.xor, wanted) {
        ([], None) => true,
        ([only], Some(wanted)) => (only.b, only.m, only.s) == (wanted.b, wanted.m, wanted.s),
        _ => false,
    };
    modes(tables, arch).filter(|mode| code(mode, encoding).is_some()).find(same).ok_or(refused)
}

/// What the mode does to positions that count elements of so many bits.
///
/// # Errors
/// [`UnitError::NoMode`] for a mode of more than one exchange, which no single swizzle is;
/// [`UnitError::Width`] for elements that are no power of two of bits, or wider than what the mode
/// keeps together.
pub fn post_map(mode: &SwizzleMode<'_>, element_bits: u16) -> Result<PostMap, UnitError> {
    match mode.xor {
        [] => Ok(PostMap::None),
        [only] => Ok(PostMap::Swizzle(in_elements(*only, element_bits, Unit::Element)?)),
        [first, ..] => Err(UnitError::NoMode { b: first.b, m: first.m, s: first.s }),
    }
}

/// What a swizzle of bytes does to positions that count elements of so many bits.
///
/// # Errors
/// [`UnitError::Width`] for elements that are no power of two of bits, or wider than what the swizzle
/// keeps together.
pub fn in_elements(bytes: Swizzle, element_bits: u16, unit: Unit) -> Result<Swizzle, UnitError> {
    let fault = UnitError::Width { bits: element_bits };
    let shift = 3i8.checked_sub(log2(element_bits)?).ok_or(fault)?;
    bytes.rescaled(shift, unit).map_err(|_| fault)
}

/// A swizzle that counts bytes, from one that counts elements, or whatever the layout counts.
fn in_bytes(swizzle: Swizzle, element_bits: u16) -> Result<Swizzle, UnitError> {
    let shift = match swizzle.unit {
        Unit::Byte => 0,
        Unit::Element | Unit::Codomain => {
            log2(element_bits)?.checked_sub(3).ok_or(UnitError::Width { bits: element_bits })?
        }
    };
    swizzle.rescaled(shift, Unit::Byte).map_err(|_| UnitError::NoMode {
        b: swizzle.b,
        m: swizzle.m,
        s: swizzle.s,
    })
}

fn log2(bits: u16) -> Result<i8, UnitError> {
    let fault = UnitError::Width { bits };
    if !bits.is_power_of_two() {
        return Err(fault);
    }
    i8::try_from(bits.trailing_zeros()).map_err(|_| fault)
}
