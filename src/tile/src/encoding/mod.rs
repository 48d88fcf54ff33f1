//! Triton's encodings with the tiles that the hardware tables give their matrix units.
//!
//! [`to_linear`] is [`lanebook_layout::triton::to_linear`] with [`TableTiles`]; [`strided`] has the
//! accumulators whose instruction N is no power of two; [`conflicts`] counts bank conflicts of a
//! register layout on a shared one. An architecture supplies tiles by what its atoms say: nothing
//! here knows a mnemonic or a lane.
pub mod conflicts;
pub mod strided;
#[cfg(test)]
mod tests;
pub(crate) mod tiles;

use lanebook_layout::triton::{Encoding, EncodingError};
use lanebook_layout::{Hw, Linear, Logical};
use lanebook_tables::{ArchId, Tables};

pub use crate::encoding::tiles::TableTiles;

/// The linear form of `encoding` at `shape`, matrix tiles from the atoms of `arch`.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::encoding::to_linear;
/// use lanebook::layout::notation::ttg;
/// use lanebook::layout::AxisId;
///
/// // The accumulators of a matrix instruction: its tile comes from the tables.
/// let text = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [1, 1], instrShape = [16, 8]}>";
/// let linear = to_linear(&TABLES, TABLES.arch_named("sm_80").unwrap(), &ttg::parse(text).unwrap(), &[16, 8]).unwrap();
/// assert!(linear.is_bijective());
/// assert_eq!(linear.column_on(AxisId::LANE, 2, AxisId::dim(0)), Some(1));
/// ```
///
/// # Errors
/// [`EncodingError`].
pub fn to_linear(
    tables: &Tables<'_>,
    arch: ArchId,
    encoding: &Encoding,
    shape: &[u32],
) -> Result<Linear<Hw, Logical>, EncodingError> {
    lanebook_layout::triton::to_linear(encoding, shape, &TableTiles::new(tables, arch))
}
