//! A matrix product as instances of one atom.

use crate::map::Fragment;
use crate::repeat_places::RepeatPlaces;
use core::num::NonZeroU16;
use lanebook_tables::{AtomId, MatrixShape};

/// How a tile goes between tensor memory and registers: an accumulator by loads, and its start or A
/// by stores of the same form.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TensorLoads {
    /// The form, as an index into the tables' tensor moves.
    pub form: u8,
    /// log2 of the registers that one load or store moves.
    pub registers: u8,
    /// The form's count.
    pub count: u16,
    /// Columns that the tile takes. Not 0, which makes products smaller.
    pub columns: NonZeroU16,
}

/// A tile of a product.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ProductTile {
    /// The first factor: rows along m, columns along k.
    A,
    /// The second factor: rows along k, columns along n.
    B,
    /// What is added to, and the result: rows along m, columns along n.
    C,
}

/// An input of a product. What is said of both stands in pairs, A's first.
///
/// ```
/// # use lanebook_tile::product::ProductInput;
/// let rows = ProductInput::B.of([128, 64]);
/// assert_eq!(rows, 64);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ProductInput {
    /// The left one: rows along m, columns along k.
    A,
    /// The right one: rows along k, columns along n.
    B,
}

impl ProductInput {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// Its own of a pair.
    pub fn of<T>(self, [a, b]: [T; 2]) -> T {
        match self {
            Self::A => a,
            Self::B => b,
        }
    }
}

/// A product `(m, k) x (k, n) + (m, n)` of a tile by one atom, split over warps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The table's atom.
    pub atom: AtomId,
    /// Its shape and operand numbers.
    pub shape: MatrixShape,
    /// The elements of A and B are two each of those that the atom takes, neighbours along the
    /// depth: so the shape's depth, and fragments, count pairs.
    pub pairs: bool,
    /// The atom computes the transposed product: its A is the program's B, and what is said here of
    /// m and n is the other way round (but for the fragments, which are those of the program's
    /// tiles).
    pub transposed: bool,
    /// log2 of the warps along m and n, each of them alone or a group of those that work together.
    pub warps: (u8, u8),
    /// log2 of the warps that do the same as each of those, where the tile has too few instances
    /// for a group.
    pub replicated_warps: u8,
    /// log2 of the warps that work on one instance together.
    pub warpgroup: u8,
    /// log2 of the instances along m, n and k that a warp issues.
    pub repeats: (u8, u8, u8),
    /// Panels along m, n and k that instances are in: each warp issues its instances once for each
    /// of them. An instruction of so many panels itself takes as many of the tile's at once.
    pub panels: (u8, u8, u8),
    /// What the instruction's panels are counted by, where an extent of it is no power of two.
    pub below: RepeatPlaces,
    /// Fragments of A, B and C (= D). Of an operand in shared memory: register bits are those of
    /// the block's number.
    pub a: Fragment,
    /// B.
    pub b: Fragment,
    /// C and D.
    pub c: Fragment,
    /// Whether A and B are read from shared memory.
    pub shared: [bool; 2],
    /// Where C and D are in tensor memory: how they are fetched into the registers that `c`
    /// describes.
    pub tensor: Option<TensorLoads>,
    /// Where A is in tensor memory: how it is stored there from the registers that `a` describes.
    pub tensor_a: Option<TensorLoads>,
    /// Cycles of one instance; 0 = not known.
    pub cycles: u16,
}
impl Product {
    /// The fragments of what lanes hold: C (= D), and A and B unless they are in shared memory.
    pub fn in_registers(&self) -> impl Iterator<Item = &Fragment> {
        let [a, b] = self.shared;
        [(&self.a, a), (&self.b, b), (&self.c, false)]
            .into_iter()
            .filter(|(_, shared)| !shared)
            .map(|(f, _)| f)
    }

    /// Elements of the atom along the depth of an instance.
    #[must_use]
    pub fn depth(&self) -> u16 {
        self.shape.k.saturating_mul(if self.pairs { 2 } else { 1 })
    }

    /// Whether an instance takes panels of the tiles that do not stand beside each other in registers:
    /// an extent of the instruction is no power of two.
    #[must_use]
    pub fn takes_panels(&self) -> bool {
        let MatrixShape { m, n, k, .. } = self.shape;
        [m, n, k].iter().any(|extent| !extent.is_power_of_two())
    }

    /// Number of instances a warp issues.
    #[must_use]
    pub fn count(&self) -> u32 {
        let (m, n, k) = self.repeats;
        let (pm, pn, pk) = self.panels;
        let panels = u32::from(pm).saturating_mul(u32::from(pn)).saturating_mul(u32::from(pk));
        1u32.checked_shl(u32::from(m) + u32::from(n) + u32::from(k))
            .unwrap_or(u32::MAX)
            .saturating_mul(panels)
    }

    /// Numbers of the instances along m, n and k that a warp issues.
    #[must_use]
    pub fn counts(&self) -> (u16, u16, u16) {
        let count = |bits: u8, panels: u8| {
            u16::from(panels).checked_shl(u32::from(bits)).unwrap_or(u16::MAX)
        };
        let ((m, n, k), (pm, pn, pk)) = (self.repeats, self.panels);
        (count(m, pm), count(n, pn), count(k, pk))
    }

    /// The register blocks of A, B and C (= D) that the instance `(m, n, k)` works on, each block
    /// one operand of the atom.
    #[must_use]
    pub fn blocks(&self, (m, n, k): (u16, u16, u16)) -> (u16, u16, u16) {
        let ((rm, rn, rk), (_, pn, pk)) = (self.repeats, self.panels);
        let split = |v: u16, bits: u8| {
            let high = v.checked_shr(u32::from(bits)).unwrap_or(0);
            (high, v ^ high.checked_shl(u32::from(bits)).unwrap_or(0))
        };
        let join = |panel: u16, bits: (u8, u8), (low, high): (u16, u16)| {
            let high = high.checked_shl(u32::from(bits.0)).unwrap_or(0);
            panel.checked_shl(u32::from(bits.0.saturating_add(bits.1))).unwrap_or(0) | high | low
        };
        let ((hm, m), (hn, n), (hk, k)) = (split(m, rm), split(n, rn), split(k, rk));
        // The accumulator's registers follow the program's columns first.
        let (inner, outer) = if self.transposed { ((rm, m), (rn, n)) } else { ((rn, n), (rm, m)) };
        let panel =
            |row: u16, cols: u8, col: u16| row.saturating_mul(u16::from(cols)).saturating_add(col);
        (
            join(panel(hm, pk, hk), (rk, rm), (k, m)),
            join(panel(hk, pn, hn), (rk, rn), (k, n)),
            join(panel(hm, pn, hn), (inner.0, outer.0), (inner.1, outer.1)),
        )
    }
}

impl Product {
    /// log2 of the blocks of an input along the depth and along its other dimension.
    #[must_use]
    pub fn block_bits(&self, input: ProductInput) -> (u8, u8) {
        let (m, n, k) = self.repeats;
        (k, input.of([m, n]))
    }
}
