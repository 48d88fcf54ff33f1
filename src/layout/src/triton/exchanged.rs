//! Reads that exchange elements between lanes, as transposing reads of shared memory do: what the
//! lanes address, so that registers hold what is wanted.
//!
//! Such an instruction fetches a word for each lane and hands its elements round. Where a layout of
//! registers is the goal, each lane addresses the elements that the instruction takes elsewhere:
//! Triton's `chooseDsReadTrLayout`, from the two sides of the instruction alone.

use super::EncodingError;
use crate::axis::AxisId;
use crate::coord::Coord;
use crate::layout::LayoutRef;
use crate::linear::{Hw, Linear, Logical};

/// Which element each lane's address reaches, at each place of its words: `registers` before the
/// exchange. `from` and `to` are the sides of one instruction over one coordinate of elements of
/// `element_bits` bits: to address slot and bit or byte, and to lane and bit.
///
/// ```
/// # use lanebook_layout::triton::{EncodingError, addressed};
/// # use lanebook_layout::{AxisId, Dims, Hw, Linear, Logical, NoSyms, WellKnown, notation};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Two lanes fetch two halves each, and the second halves change places.
/// let (from, to) = (of("S[(2,2):(1@laneid,16@bit)]"), of("S[(2,2):(16@bit,1@laneid)]"));
/// // A lane is to hold one row of two.
/// let ins = Dims::from_slice(&[(AxisId::REGISTER, 1), (AxisId::LANE, 1)]).unwrap();
/// let outs = Dims::from_slice(&[(AxisId::dim(0), 1), (AxisId::dim(1), 1)]).unwrap();
/// let rows: Linear<Hw, Logical> = Linear::from_columns(ins, outs, &[2, 1]).unwrap();
/// let read = addressed(&rows, &from.view(), &to.view(), 16).unwrap();
/// // So it addresses a column.
/// assert_eq!(read.columns(), &[1, 2]);
/// let narrow = addressed(&rows, &from.view(), &to.view(), 8);
/// assert!(matches!(narrow, Err(EncodingError::Layout(_))));
/// ```
///
/// # Errors
/// [`EncodingError::OddTile`] if a bit of the coordinate is no single bit of a side, or two of them
/// are the same; [`EncodingError::Layout`] if `registers` have fewer lanes or elements than the
/// instruction.
pub fn addressed(
    registers: &Linear<Hw, Logical>,
    from: &LayoutRef<'_>,
    to: &LayoutRef<'_>,
    element_bits: u16,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let size = from.size_value()?;
    if !size.is_power_of_two() || to.size_value()? != size {
        return Err(EncodingError::OddTile);
    }
    let mut out = registers.clone();
    let mut met = [0u64; 2];
    for bit in 0..size.trailing_zeros() {
        let x = 1u64.wrapping_shl(bit);
        let (source, place) = single(from, x, element_bits)?;
        let (target, taken) = single(to, x, element_bits)?;
        let seen =
            met.get_mut(usize::from(source == AxisId::LANE)).ok_or(EncodingError::OddTile)?;
        let mark = 1u64.wrapping_shl(u32::from(place));
        if *seen & mark != 0 {
            return Err(EncodingError::OddTile);
        }
        *seen |= mark;
        let missing = crate::error::Error::NoDim { axis: target };
        let column = registers.column(target, taken).ok_or(missing)?;
        out.set_column(source, place, column)?;
    }
    Ok(out)
}

/// The one bit of a lane's number, or of an element's in it, that a coordinate moves.
fn single(side: &LayoutRef<'_>, x: u64, element_bits: u16) -> Result<(AxisId, u8), EncodingError> {
    let mut at = Coord::new();
    side.apply_flat(x, &mut at)?;
    let mut found = None;
    for axis in &side.axes()? {
        let value = match *axis {
            AxisId::BYTE => at.get(*axis).saturating_mul(8),
            other => at.get(other),
        };
        if value == 0 {
            continue;
        }
        let value = u64::try_from(value).map_err(|_| EncodingError::OddTile)?;
        let (label, number) = match *axis {
            AxisId::BYTE | AxisId::BIT => {
                let element = value.checked_rem(u64::from(element_bits));
                if element != Some(0) {
                    return Err(EncodingError::OddTile);
                }
                (AxisId::REGISTER, value.checked_div(u64::from(element_bits)).unwrap_or(0))
            }
            _ => (AxisId::LANE, value),
        };
        if found.is_some() || !number.is_power_of_two() {
            return Err(EncodingError::OddTile);
        }
        found = Some((label, u8::try_from(number.trailing_zeros()).unwrap_or(u8::MAX)));
    }
    found.ok_or(EncodingError::OddTile)
}
