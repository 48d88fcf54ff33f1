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
pub(crate) mod bank;
pub(crate) mod fragment;
pub(crate) mod memory;
pub(crate) mod slice;
pub(crate) mod span;

pub(crate) use crate::map::bank::count_within;
pub use crate::map::bank::{BankAccess, Conflicts, MAX_BANKS, count_conflicts};
pub use crate::map::fragment::{Fragment, RepeatGrid, TileShape};
pub use crate::map::memory::{MemoryMap, RowRotation, SharedLayout};

#[doc(hidden)]
pub use crate::map::memory::{Column, Combine};
#[doc(hidden)]
pub use crate::map::slice::KeptAxis;
#[doc(hidden)]
pub use crate::map::span::Subspace;

/// Most element bits of a panel, and of a tile (2^20 elements).
pub const MAX_BITS: usize = 20;

/// A short list of columns, one for each bit of something.
#[doc(hidden)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Columns<T: Copy, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> Columns<T, N> {
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

impl<T: Copy + Default, const N: usize> Default for Columns<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> Columns<u32, N> {
    /// The exclusive or of the columns whose bit is set in `index`.
    #[must_use]
    pub fn at(&self, index: u32) -> u32 {
        let mut out = 0;
        for (bit, column) in self.as_slice().iter().enumerate() {
            if (index >> bit) & 1 == 1 {
                out ^= column;
            }
        }
        out
    }
}

/// The exponent of a power of two.
#[must_use]
pub fn log2_exact(n: u64) -> Option<u8> {
    if n.is_power_of_two() { u8::try_from(n.trailing_zeros()).ok() } else { None }
}
