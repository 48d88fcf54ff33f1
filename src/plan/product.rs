//! A matrix product as instances of one atom.

use crate::map::Fragment;
use lanebook_tables::{AtomId, MatrixShape};

/// A product `(m, k) x (k, n) + (m, n)` of a tile by one atom, split over warps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// The table's atom.
    pub atom: AtomId,
    /// Its shape and operand numbers.
    pub shape: MatrixShape,
    /// log2 of the warps along m and n.
    pub warps: (u8, u8),
    /// log2 of the instances along m, n and k that a warp issues.
    pub repeats: (u8, u8, u8),
    /// Fragments of A, B and C (= D).
    pub a: Fragment,
    /// B.
    pub b: Fragment,
    /// C and D.
    pub c: Fragment,
    /// Cycles of one instance; 0 = not known.
    pub cycles: u16,
}
impl Product {
    /// Number of instances a warp issues.
    #[must_use]
    pub fn count(&self) -> u32 {
        let (m, n, k) = self.repeats;
        1u32.checked_shl(u32::from(m) + u32::from(n) + u32::from(k)).unwrap_or(u32::MAX)
    }
}
