//! Tiles as bits: the linear form that choosing and emitting work in.
//!
//! A tile of `2^r` rows and `2^c` columns has `r + c` *element bits*: column bits low, row bits
//! above. A [`Fragment`] says which element bits each register, lane and warp bit stands for
//! (hardware to logical); a [`MemoryMap`] says how many bytes each element bit is worth (logical to
//! hardware). Both are derived from [`lanebook_layout`] layouts or from the tables and can be
//! turned back into one.
//!
//! An extent that is no power of two is an odd number times one: the tile is a *grid* of equal
//! *panels*, and bits speak of one panel. A panel's number is the high part of an element's (and of
//! an instance's, and of a register place's) number; what it adds is plain addition, in every map.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::map::{BankAccess, BitMatrix, Conflicts, MAX_BANKS, MAX_BITS, MemoryMap, RepeatGrid, RowRotation, SharedLayout, TileShape, count_conflicts, log2_exact};
//! use lanebook_layout::{PostMap, Swizzle, Unit};
//!
//! // A tile of 8 by 64 elements of 16 bits in shared memory, row-major, then with its vectors of 16 bytes swizzled by row.
//! let shape = TileShape::new(8, 64, 16).unwrap();
//! let plain = SharedLayout::BY_ROWS;
//! let swizzled = SharedLayout { post: PostMap::Swizzle(Swizzle::new(3, 4, 3, Unit::Codomain).unwrap()), ..plain };
//! // Eight lanes read a vector each, one below the other: slot bit k is row bit k.
//! let mut rows: BitMatrix<u32, 6> = BitMatrix::new();
//! for bit in 0..3 {
//!     assert!(rows.push(shape.row_bit(bit)));
//! }
//! let access = BankAccess { slots: &rows, slot_bytes: 16, kept: 0 };
//! let arch = TABLES.arch(TABLES.arch_named("sm_80").unwrap()).unwrap();
//! let banks = arch.banks.iter().find(|model| u32::from(model.banks) <= MAX_BANKS && model.groups.len() == 4).unwrap();
//! let count = |layout: &SharedLayout| count_conflicts(&layout.map(shape).unwrap(), access, banks).unwrap();
//! let (bad, good): (Conflicts, Conflicts) = (count(&plain), count(&swizzled));
//! assert_eq!((bad.transactions, good.transactions, bad.extra()), (8, 1, 7));
//! // How many bytes it takes, where it may begin, after how many bytes its pattern comes again.
//! assert_eq!((swizzled.bytes(shape), swizzled.end(shape)), (Some(1024), Some(1024)));
//! assert_eq!((swizzled.align(16), swizzled.period(16)), (128, 1024));
//! assert_eq!(swizzled.to_layout(shape).unwrap().view().size_value(), Ok(512));
//! // The map by bits: element (1, 0) lies 128 bytes on, and the swizzle moves it by 16.
//! let map: MemoryMap = swizzled.map(shape).unwrap();
//! assert_eq!((map.at(shape.element(1, 0)).bytes, map.panel(0).bytes), (128 + 16, 0));
//! assert!(map.storage_order().is_some() && map.without(true, true).at(5).is_zero());
//! assert_eq!(MemoryMap::global(shape, true).at(1).bytes, 2);
//!
//! // Extents with an odd factor are a grid of panels.
//! let odd = TileShape::new(24, 64, 16).unwrap();
//! assert_eq!((odd.grid, odd.row_count(), odd.col_count()), (RepeatGrid { rows: 3, cols: 1 }, 24, 64));
//! assert_eq!((odd.grid.count(), odd.grid.at(2), RepeatGrid::ONE.panel(0, true)), (3, (2, 0), 0));
//! assert_eq!((odd.bytes(), odd.panel_bytes(), odd.total()), (3072, 1024, 9));
//! assert_eq!((odd.position(odd.element(5, 7)), odd.transposed().row_count()), ((5, 7), 64));
//! assert_eq!(shape.transposed().position(shape.transpose_element(shape.element(5, 7))), (7, 5));
//! assert!(usize::from(shape.total()) <= MAX_BITS && log2_exact(24).is_none() && log2_exact(32) == Some(5));
//! // Rows counted in another order: the low bits go above those that came after them.
//! assert_eq!(RowRotation { low: 1, count: 2 }.place(0), 2);
//! // Short lists of bits.
//! assert_eq!((rows.len(), rows.is_empty(), rows.get(0), rows.as_slice().len()), (3, false, Some(shape.row_bit(0)), 3));
//! assert_eq!((rows.at(0b11), rows.as_mut_slice().len()), (shape.row_bit(0) ^ shape.row_bit(1), 3));
//! ```
pub(crate) mod bank;
pub(crate) mod fragment;
pub(crate) mod memory;
pub(crate) mod slice;
pub(crate) mod span;
pub(crate) mod table;

pub(crate) use crate::map::bank::count_within;
pub use crate::map::bank::{BankAccess, Conflicts, MAX_BANKS, count_conflicts};
pub use crate::map::fragment::{Fragment, RepeatGrid, TileShape};
pub use crate::map::memory::{MemoryMap, RowRotation, SharedLayout};
pub use crate::map::table::PlaceTable;

#[doc(hidden)]
pub use crate::map::memory::{Column, Combine};
#[doc(hidden)]
pub use crate::map::slice::{KeptAxis, PartPlaces};
#[doc(hidden)]
pub use crate::map::span::Subspace;

/// Most element bits of a panel, and of a tile (2^20 elements).
pub const MAX_BITS: usize = 20;

/// A short list of columns, one for each bit of something.
#[doc(hidden)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BitMatrix<T: Copy, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> BitMatrix<T, N> {
    /// No bits.
    #[must_use]
    pub fn new() -> Self {
        Self { items: [T::default(); N], len: 0 }
    }

    /// Appends a bit; `false` if there is no room.
    #[must_use]
    pub fn push(&mut self, item: T) -> bool {
        match self.items.get_mut(usize::from(self.len)) {
            Some(slot) => {
                *slot = item;
                self.len = self.len.saturating_add(1);
                true
            }
            None => false,
        }
    }

    /// The bits in order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.items.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// The bits in order, to change.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.items.get_mut(..usize::from(self.len)).unwrap_or(&mut [])
    }

    /// Column of one bit.
    #[must_use]
    pub fn get(&self, bit: usize) -> Option<T> {
        self.as_slice().get(bit).copied()
    }

    /// Number of bits.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// No bits at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: Copy + Default, const N: usize> Default for BitMatrix<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> BitMatrix<u32, N> {
    /// The exclusive or of the columns whose bit is set in `index`.
    #[must_use]
    pub fn at(&self, index: u32) -> u32 {
        let (columns, mut out, mut rest) = (self.as_slice(), 0, index);
        while let Some(column) = columns.get(rest.trailing_zeros() as usize) {
            out ^= column;
            rest &= rest.wrapping_sub(1);
        }
        out
    }
}

/// The exponent of a power of two.
#[must_use]
pub fn log2_exact(n: u64) -> Option<u8> {
    if n.is_power_of_two() { u8::try_from(n.trailing_zeros()).ok() } else { None }
}
