//! Rank, solving and inversion of linear layouts.
//!
//! Where a solution is not unique, the input bits that are free (their column is a sum of earlier
//! columns) are zero; this is Triton's choice for pseudo-inverses too.

use super::dims::Remap;
use super::{Dims, Linear, MAX_BITS};
use crate::axis::AxisId;
use crate::error::{Error, Result};

/// The span of columns, taken in order: which of them are independent, and how to express a vector
/// by those.
///
/// ```
/// use lanebook_layout::linear::Span;
///
/// // Columns 1 and 2 are independent, the third is their sum.
/// let span = Span::of(&[0b01, 0b10, 0b11]);
/// assert_eq!((span.rank(), span.pivots()), (2, 0b011));
/// // 3 is columns 0 and 1 together; 4 is beyond the span, and what is left of it is itself.
/// assert_eq!((span.solve(0b11), span.solve(0b100)), (Some(0b011), None));
/// assert_eq!((span.remainder(0b11), span.remainder(0b110)), (0, 0b100));
/// ```
#[derive(Clone)]
pub struct Span {
    /// Reduced vectors by their highest bit, with the columns that make them up.
    rows: [(u64, u64); MAX_BITS],
    held: u64,
    pivots: u64,
}

/// Number of bits up to the highest set one.
pub(super) fn width(v: u64) -> u8 {
    u8::try_from(u64::BITS.saturating_sub(v.leading_zeros())).unwrap_or(64)
}

impl Span {
    /// The span of `columns`; bit `j` of every mask below stands for column `j`. At most 64 count.
    #[must_use]
    pub fn of(columns: &[u64]) -> Self {
        let mut span = Self { rows: [(0, 0); MAX_BITS], held: 0, pivots: 0 };
        for (j, c) in columns.iter().take(MAX_BITS).enumerate() {
            let own = 1u64.wrapping_shl(j as u32);
            let (rest, by) = span.reduce(*c);
            if rest != 0 {
                let top = u64::BITS.wrapping_sub(1).wrapping_sub(rest.leading_zeros());
                if let Some(row) = span.rows.get_mut(top as usize) {
                    *row = (rest, by ^ own);
                    span.held |= 1u64.wrapping_shl(top);
                    span.pivots |= own;
                }
            }
        }
        span
    }

    #[inline]
    fn reduce(&self, v: u64) -> (u64, u64) {
        let (mut rest, mut by) = (v, 0u64);
        let mut hits = rest & self.held;
        while hits != 0 {
            let top = 63 & (u64::BITS.wrapping_sub(1).wrapping_sub(hits.leading_zeros()));
            let Some((value, combo)) = self.rows.get(top as usize) else {
                return (rest, by);
            };
            rest ^= value;
            by ^= combo;
            // Only bits below the one just cleared can change.
            hits = rest & self.held & 1u64.wrapping_shl(top).wrapping_sub(1);
        }
        (rest, by)
    }

    /// The number of independent columns.
    #[must_use]
    pub fn rank(&self) -> u8 {
        u8::try_from(self.held.count_ones()).unwrap_or(64)
    }

    /// The columns that are no sum of earlier ones.
    #[must_use]
    pub const fn pivots(&self) -> u64 {
        self.pivots
    }

    /// What is left of `v` when the span is taken out: 0 exactly if `v` is in it, and the same for
    /// vectors that differ by one of the span.
    #[inline]
    #[must_use]
    pub fn remainder(&self, v: u64) -> u64 {
        self.reduce(v).0
    }

    /// The independent columns whose sum is `v`; `None` if `v` is outside the span.
    #[inline]
    #[must_use]
    pub fn solve(&self, v: u64) -> Option<u64> {
        let (rest, by) = self.reduce(v);
        if rest == 0 { Some(by) } else { None }
    }
}

impl<F, T> Linear<F, T> {
    /// The rank over GF(2).
    #[must_use]
    pub fn rank(&self) -> u8 {
        Span::of(self.columns()).rank()
    }

    /// Whether different indices have different values.
    #[must_use]
    pub fn is_injective(&self) -> bool {
        self.rank() == self.ins().bits()
    }

    /// Whether every value is reached.
    #[must_use]
    pub fn is_surjective(&self) -> bool {
        self.rank() == self.outs().bits()
    }

    /// Whether the map has an exact inverse.
    #[must_use]
    pub fn is_bijective(&self) -> bool {
        self.is_injective() && self.is_surjective()
    }

    /// For each input dimension a mask of its free bits: those whose column is a sum of earlier
    /// columns.
    #[must_use]
    pub fn free_variable_masks(&self) -> heapless::Vec<(AxisId, u64), { super::MAX_DIMS }> {
        let free = !Span::of(self.columns()).pivots() & self.ins().mask();
        let mut out = heapless::Vec::new();
        for (axis, _) in self.ins().iter() {
            let _ = out.push((axis, self.ins().extract(free, axis).unwrap_or(0)));
        }
        out
    }

    /// The inverse.
    ///
    /// # Errors
    /// [`Error::NotInvertible`] unless the matrix is square and of full rank.
    pub fn invert(&self) -> Result<Linear<T, F>> {
        let span = Span::of(self.columns());
        let (inputs, outputs, rank) = (self.ins().bits(), self.outs().bits(), span.rank());
        if inputs != outputs || rank != inputs {
            return Err(Error::NotInvertible { inputs, outputs, rank });
        }
        self.solve_units(&span)
    }

    /// A right inverse: `self` after it is the identity. Free input bits are zero.
    ///
    /// # Errors
    /// [`Error::NoSolution`] if the map is not surjective.
    pub fn pseudo_invert(&self) -> Result<Linear<T, F>> {
        self.solve_units(&Span::of(self.columns()))
    }

    fn solve_units(&self, span: &Span) -> Result<Linear<T, F>> {
        let mut out = Linear::zero(self.outs().clone(), self.ins().clone());
        for (k, slot) in (0u8..).zip(out.columns.iter_mut().take(usize::from(self.outs().bits()))) {
            let column = 1u64.wrapping_shl(u32::from(k));
            *slot = span.solve(column).ok_or(Error::NoSolution { column, bit: k })?;
        }
        Ok(out)
    }

    /// `other^-1` after `self`: the map `c` with `other(c(x)) = self(x)`.
    ///
    /// Where `other` is not injective this is Triton's choice: an input dimension with the same
    /// label and columns on both sides maps to itself, otherwise free bits of `other` are zero.
    ///
    /// # Errors
    /// [`Error::NoSolution`] if a value of `self` is not one of `other`; [`Error::NoDim`],
    /// [`Error::DimBits`] if an output dimension of `self` is missing or larger than in `other`.
    pub fn invert_and_compose<G>(&self, other: &Linear<G, T>) -> Result<Linear<F, G>> {
        let remap = Remap::new(self.outs(), other.outs())?;
        // Columns of dimensions that are the same on both sides, on the side of self and of other.
        let (mut same_self, mut same_other) = (0u64, 0u64);
        let mut pairs: heapless::Vec<(u8, u8, u8), { super::MAX_DIMS }> = heapless::Vec::new();
        for (axis, bits) in self.ins().iter() {
            let (Some((here, _)), Some((there, others))) =
                (self.ins().place(axis), other.ins().place(axis))
            else {
                continue;
            };
            if bits != others || bits == 0 {
                continue;
            }
            let ours = self.columns().iter().skip(usize::from(here)).take(usize::from(bits));
            let theirs = other.columns().iter().skip(usize::from(there)).take(usize::from(bits));
            if ours.map(|c| remap.apply(*c)).eq(theirs.copied()) {
                same_self |= super::low_mask(bits).wrapping_shl(u32::from(here));
                same_other |= super::low_mask(bits).wrapping_shl(u32::from(there));
                let _ = pairs.push((here, there, bits));
            }
        }
        match self.solve_rest(other, &remap, same_self, same_other, &pairs) {
            Err(Error::NoSolution { .. }) if !pairs.is_empty() => {
                self.solve_rest(other, &remap, 0, 0, &[])
            }
            answer => answer,
        }
    }

    fn solve_rest<G>(
        &self,
        other: &Linear<G, T>,
        remap: &Remap,
        same_self: u64,
        same_other: u64,
        pairs: &[(u8, u8, u8)],
    ) -> Result<Linear<F, G>> {
        let mut columns = other.columns;
        for (j, c) in (0u32..).zip(columns.iter_mut()) {
            if same_other.wrapping_shr(j) & 1 == 1 {
                *c = 0;
            }
        }
        let span = Span::of(columns.get(..usize::from(other.ins().bits())).unwrap_or(&[]));
        let mut out = Linear::zero(self.ins().clone(), other.ins().clone());
        for (j, (slot, c)) in (0u8..).zip(out.columns.iter_mut().zip(self.columns())) {
            if same_self.wrapping_shr(u32::from(j)) & 1 == 1 {
                continue;
            }
            let column = remap.apply(*c);
            *slot = span.solve(column).ok_or(Error::NoSolution { column, bit: j })?;
        }
        for (here, there, bits) in pairs {
            for k in 0..*bits {
                let at = usize::from(here.saturating_add(k));
                if let Some(slot) = out.columns.get_mut(at) {
                    *slot = 1u64.wrapping_shl(u32::from(there.saturating_add(k)));
                }
            }
        }
        Ok(out)
    }

    /// Whether both maps are the same function: dimensions may differ in order, and those of 0 bits
    /// are ignored.
    #[must_use]
    pub fn same_map(&self, other: &Self) -> bool {
        let sized = |d: &Dims, e: &Dims| d.iter().all(|(a, bits)| bits == e.bits_of(a));
        if !sized(self.ins(), other.ins()) || !sized(other.ins(), self.ins()) {
            return false;
        }
        if !sized(self.outs(), other.outs()) || !sized(other.outs(), self.outs()) {
            return false;
        }
        let Ok(remap) = Remap::new(self.outs(), other.outs()) else {
            return false;
        };
        self.ins().iter().all(|(axis, bits)| {
            (0..bits).all(|k| self.column(axis, k).map(|c| remap.apply(c)) == other.column(axis, k))
        })
    }
}
