//! Matrix units and their memories, from the tables: descriptors, swizzle modes, operand tiles,
//! tensor memory, tensor maps.
//!
//! - [`descriptor`]: a word of bit fields is packed and unpacked by the names of its fields;
//! - [`swizzle`]: the modes of an architecture, by name, by number in an encoding, and by what they
//!   do;
//! - [`tile`]: layouts with parameters: made for a shape, and found again in a layout;
//! - [`operand`]: tiles of operands in shared memory, and the descriptor that describes a given
//!   one;
//! - [`shared_tile`]: layouts of tiles that a unit reads by itself, and its word for them;
//! - [`tensor`]: places, allocations and reach in tensor memory, and the shapes of products;
//! - [`map`]: what a tiled copy of a tensor can describe, checked, and derived from a layout.
//!
//! Everything takes the tables as an argument and an architecture, whose features decide what there
//! is. Nothing allocates; what cannot be is an [`UnitError`] with the numbers that matter.
pub mod descriptor;
pub mod map;
pub mod operand;
#[doc(hidden)]
pub mod shared_tile;
pub mod swizzle;
pub mod tensor;
#[cfg(test)]
mod tests;
#[doc(hidden)]
pub mod tile;

use lanebook_tables::{Arch, Descriptor, FeatureId, Tables};

/// Why something about a matrix unit cannot be.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::unit::{UnitError, descriptor_named, has};
///
/// let arch = TABLES.arch(TABLES.arch_named("sm_90a").unwrap()).unwrap();
/// let descriptor = descriptor_named(&TABLES, arch, "wgmma.shared").unwrap();
/// assert!(has(arch, descriptor.feature));
/// // Another generation's descriptor is not there.
/// let refused = descriptor_named(&TABLES, arch, "tcgen05.shared").unwrap_err();
/// let mut why = String::new();
/// refused.write_text(&mut why).unwrap();
/// assert_eq!(refused, UnitError::Absent);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum UnitError {
    /// The architecture has nothing of this name.
    Absent,
    /// The descriptor has no field of this name.
    NoField,
    /// The field has no value of this name.
    NoWord {
        /// Number of the field.
        field: u8,
    },
    /// A value is outside the field's range.
    Range {
        /// Number of the field.
        field: u8,
        /// The value.
        value: u64,
        /// The lowest.
        low: u32,
        /// The highest.
        high: u32,
    },
    /// A value is no multiple of the field's unit.
    Step {
        /// Number of the field.
        field: u8,
        /// The value.
        value: u64,
        /// The unit.
        scale: u32,
    },
    /// The field does not have this value.
    NotListed {
        /// Number of the field.
        field: u8,
        /// The value.
        value: u64,
    },
    /// Bits outside all fields are set.
    Reserved {
        /// These.
        bits: u64,
    },
    /// The layout algebra refuses.
    Layout(lanebook_layout::Error),
    /// An extent does not fit the tile.
    Extent {
        /// The coordinate, slowest first.
        dim: u8,
        /// The extent.
        found: u64,
        /// What it must be, or be a multiple of.
        needed: u64,
    },
    /// A step of the layout is not the tile's.
    Stride {
        /// The tile's iter, slowest first.
        iter: u8,
        /// The layout's step.
        found: i64,
        /// The tile's; 0: any, but one step and not several.
        needed: i64,
    },
    /// A parameter of a tile has no value.
    NoValue {
        /// Number of the parameter.
        param: u8,
    },
    /// No swizzle mode of the architecture permutes addresses like this.
    NoMode {
        /// Bits exchanged, 0 if padding is in the way.
        b: u8,
        /// Bits left alone below.
        m: u8,
        /// Distance.
        s: i8,
    },
    /// The unit does not take elements of this width in this order.
    Width {
        /// Bits of an element.
        bits: u16,
    },
    /// An address is not aligned.
    Unaligned {
        /// The address.
        address: u64,
        /// What it must be a multiple of.
        needed: u32,
    },
    /// An allocation or address leaves the tensor memory, or is no power of two.
    Columns {
        /// Columns, or the last column.
        found: u32,
        /// Fewest.
        low: u32,
        /// Most.
        high: u32,
    },
    /// A warp does not reach a lane of the tensor memory.
    Reach {
        /// The warp's number in its group.
        warp: u32,
        /// The lane.
        lane: u32,
        /// The first lane that it reaches.
        first: u32,
    },
    /// Products of these columns do not take an operand of this type in this order.
    Order {
        /// Number of the limit in [`lanebook_tables::Units::order_limits`].
        limit: u16,
        /// 0 = A, 1 = B.
        operand: u8,
        /// Columns of the product.
        columns: u16,
    },
    /// A rule of tiled copies.
    Map(map::Refusal),
}

impl From<lanebook_layout::Error> for UnitError {
    fn from(error: lanebook_layout::Error) -> Self {
        Self::Layout(error)
    }
}

const _: () = assert!(core::mem::size_of::<UnitError>() <= 40);

/// Whether an architecture has a feature: its features ascend.
#[must_use]
pub fn has(arch: &Arch<'_>, feature: FeatureId) -> bool {
    arch.features.binary_search(&feature).is_ok()
}

/// The architecture's descriptor of this name.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn descriptor_named<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    name: &str,
) -> Result<&'a Descriptor<'a>, UnitError> {
    tables
        .units
        .descriptors
        .iter()
        .find(|d| d.name == name && has(arch, d.feature))
        .ok_or(UnitError::Absent)
}
