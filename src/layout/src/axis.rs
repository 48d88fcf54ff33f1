//! Names of physical and logical dimensions, as numbers.
//!
//! An [`AxisId`] is a dense number; the text behind it comes from an [`AxisNames`] resolver that
//! the caller passes to a parser or printer (the hardware tables have their own). The numbers below
//! [`AxisId::FIRST_FREE`] are fixed here for ever. Numbered axes (`1@0`, `1@0@1` in CuTe,
//! dimensions of a logical tensor) need no resolver: the number is the path. Nothing here says what
//! an axis *means* on a machine.
//!
//! ```
//! use lanebook_layout::{AxisId, AxisNames, WellKnown};
//!
//! // The axes that lanebook knows, by the name that texts use; `@0`, `@1` are logical dimensions.
//! let known = [
//!     AxisId::M, AxisId::LANE, AxisId::WARP, AxisId::BIT, AxisId::SLOT, AxisId::BYTE, AxisId::REGISTER,
//!     AxisId::BLOCK, AxisId::REPLICA, AxisId::PLACE, AxisId::BANK, AxisId::TCOL, AxisId::TLANE, AxisId::P, AxisId::F,
//! ];
//! for axis in known {
//!     assert_eq!(WellKnown.axis(WellKnown.name(axis).unwrap()), Some(axis));
//! }
//! // TIRx's axes of a launch: blocks, clusters, threads of a block, of a warpgroup.
//! for (axis, name) in [
//!     (AxisId::BX, "bx"), (AxisId::BY, "by"), (AxisId::BZ, "bz"), (AxisId::CBX, "cbx"), (AxisId::CBY, "cby"),
//!     (AxisId::CBZ, "cbz"), (AxisId::TX, "tx"), (AxisId::WGID, "wgid"), (AxisId::TID_IN_WG, "tid_in_wg"),
//!     (AxisId::WID_IN_WG, "wid_in_wg"),
//! ] {
//!     assert_eq!(WellKnown.name(axis), Some(name));
//! }
//! assert_eq!((AxisId::dim(1).as_dim(), AxisId::LANE.as_dim()), (Some(1), None));
//! // A crate's own axes count from here.
//! assert_eq!(WellKnown.name(AxisId(AxisId::FIRST_FREE)), None);
//! ```

/// A named or numbered axis.
///
/// Bit 15 set: a numbered axis, a path of 1 to 3 mode numbers 0..=15 (CuTe's basis `@p0@p1@p2`).
/// Otherwise a name.
///
/// ```
/// use lanebook_layout::{AxisId, AxisNames, WellKnown};
///
/// assert_eq!(WellKnown.axis("laneid"), Some(AxisId::LANE));
/// // CuTe's basis vector `1@0@2` walks on a numbered axis.
/// let axis = AxisId::path(&[0, 2]).unwrap();
/// assert!(axis.is_basis() && axis.basis_path().eq([0, 2]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AxisId(pub u16);

const NUMBERED: u16 = 0x8000;

impl AxisId {
    /// `m`: the default memory axis; its unit is given by the context.
    pub const M: Self = Self(0);
    /// `laneid`: lane in the warp or wave.
    pub const LANE: Self = Self(1);
    /// `warpid`: warp in the block.
    pub const WARP: Self = Self(2);
    /// `bit`: bit offset in the lane's registers.
    pub const BIT: Self = Self(3);
    /// `slot`: address slot, that is the lane that supplies an address.
    pub const SLOT: Self = Self(4);
    /// `byte`: byte offset from the slot's address.
    pub const BYTE: Self = Self(5);
    /// `bx`: block index in the grid, x.
    pub const BX: Self = Self(6);
    /// `by`: block index in the grid, y.
    pub const BY: Self = Self(7);
    /// `bz`: block index in the grid, z.
    pub const BZ: Self = Self(8);
    /// `cbx`: block index in the cluster, x.
    pub const CBX: Self = Self(9);
    /// `cby`: block index in the cluster, y.
    pub const CBY: Self = Self(10);
    /// `cbz`: block index in the cluster, z.
    pub const CBZ: Self = Self(11);
    /// `tx`: thread in the block.
    pub const TX: Self = Self(12);
    /// `wgid`: warpgroup in the block.
    pub const WGID: Self = Self(13);
    /// `tid_in_wg`: thread in the warpgroup.
    pub const TID_IN_WG: Self = Self(14);
    /// `wid_in_wg`: warp in the warpgroup.
    pub const WID_IN_WG: Self = Self(15);
    /// `P`: partition of a two-dimensional scratchpad.
    pub const P: Self = Self(16);
    /// `F`: free axis of a two-dimensional scratchpad.
    pub const F: Self = Self(17);
    /// `Bank`: bank of that scratchpad.
    pub const BANK: Self = Self(18);
    /// `TCol`: column of tensor memory.
    pub const TCOL: Self = Self(19);
    /// `TLane`: lane of tensor memory.
    pub const TLANE: Self = Self(20);
    /// `register`: register index in the lane (Triton's first input dimension).
    pub const REGISTER: Self = Self(21);
    /// `block`: thread block in the cluster (Triton's last input dimension).
    pub const BLOCK: Self = Self(22);
    /// `replica`: which of several copies; the dimension that replicas become in a linear form.
    pub const REPLICA: Self = Self(23);
    /// `place`: which of the places that one address slot supplies, each behind an offset of its own.
    pub const PLACE: Self = Self(24);
    /// The first number that a resolver outside this crate may use for its own names.
    pub const FIRST_FREE: u16 = 64;

    /// The numbered axis `@n`, also dimension `n` of a logical tensor. `None` above 15.
    #[must_use]
    pub const fn basis(n: u8) -> Option<Self> {
        Self::path(&[n])
    }

    /// The dimension `n % 16` of a logical tensor; for a constant `n` below 16 the same as
    /// [`AxisId::basis`].
    #[must_use]
    pub const fn dim(n: u8) -> Self {
        Self(NUMBERED | (1 << 12) | (n & 15) as u16)
    }

    /// The numbered axis with this path, as written: CuTe writes the innermost mode first (`1@1@0`
    /// is sub-mode 1 of mode 0). `None` unless it has 1 to 3 numbers 0..=15.
    #[must_use]
    pub const fn path(path: &[u8]) -> Option<Self> {
        let (a, b, c, len) = match path {
            [a] => (*a, 0, 0, 1),
            [a, b] => (*a, *b, 0, 2),
            [a, b, c] => (*a, *b, *c, 3),
            _ => return None,
        };
        if a > 15 || b > 15 || c > 15 {
            return None;
        }
        Some(Self(NUMBERED | (len << 12) | ((c as u16) << 8) | ((b as u16) << 4) | a as u16))
    }

    /// Whether this is a numbered axis.
    #[must_use]
    pub const fn is_basis(self) -> bool {
        self.0 & NUMBERED != 0
    }

    /// The mode numbers of a numbered axis, as written; none for a named one.
    pub fn basis_path(self) -> impl Iterator<Item = u8> + Clone {
        let len = if self.is_basis() { (self.0 >> 12) & 3 } else { 0 };
        (0..3u16)
            .take(len as usize)
            .map(move |k| (self.0.wrapping_shr(u32::from(k) << 2) & 15) as u8)
    }

    /// The mode number of a numbered axis with a path of length one.
    #[must_use]
    pub const fn as_dim(self) -> Option<u8> {
        if self.0 & 0xf000 == NUMBERED | (1 << 12) { Some((self.0 & 15) as u8) } else { None }
    }
}

/// Names of axes, both ways. Numbered axes never reach a resolver.
pub trait AxisNames {
    /// The axis called `name`, if there is one.
    fn axis(&self, name: &str) -> Option<AxisId>;
    /// The name of `axis`, if it has one.
    fn name(&self, axis: AxisId) -> Option<&str>;
}

/// The resolver for the axes that this crate fixes, among them all of TIRx's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WellKnown;

const NAMES: [(&str, AxisId); 25] = [
    ("m", AxisId::M),
    ("laneid", AxisId::LANE),
    ("warpid", AxisId::WARP),
    ("bit", AxisId::BIT),
    ("slot", AxisId::SLOT),
    ("byte", AxisId::BYTE),
    ("bx", AxisId::BX),
    ("by", AxisId::BY),
    ("bz", AxisId::BZ),
    ("cbx", AxisId::CBX),
    ("cby", AxisId::CBY),
    ("cbz", AxisId::CBZ),
    ("tx", AxisId::TX),
    ("wgid", AxisId::WGID),
    ("tid_in_wg", AxisId::TID_IN_WG),
    ("wid_in_wg", AxisId::WID_IN_WG),
    ("P", AxisId::P),
    ("F", AxisId::F),
    ("Bank", AxisId::BANK),
    ("TCol", AxisId::TCOL),
    ("TLane", AxisId::TLANE),
    ("register", AxisId::REGISTER),
    ("block", AxisId::BLOCK),
    ("replica", AxisId::REPLICA),
    ("place", AxisId::PLACE),
];

impl AxisNames for WellKnown {
    fn axis(&self, name: &str) -> Option<AxisId> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, a)| *a)
    }

    fn name(&self, axis: AxisId) -> Option<&str> {
        NAMES.get(axis.0 as usize).map(|(n, _)| *n)
    }
}

impl<T: AxisNames + ?Sized> AxisNames for &T {
    fn axis(&self, name: &str) -> Option<AxisId> {
        (**self).axis(name)
    }

    fn name(&self, axis: AxisId) -> Option<&str> {
        (**self).name(axis)
    }
}
