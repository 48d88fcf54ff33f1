//! Products, composition and division of linear layouts.

use super::dims::Remap;
use super::{Dims, Linear, MAX_BITS, low_mask};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::iter::position;

/// The dimensions of `a`, then those only in `b`; bits of a common dimension add up.
fn joined(a: &Dims, b: &Dims) -> Result<Dims> {
    let mut out = Dims::new();
    for (axis, bits) in a.iter() {
        out.push(axis, bits.saturating_add(b.bits_of(axis)))?;
    }
    for (axis, bits) in b.iter().filter(|d| a.place(d.0).is_none()) {
        out.push(axis, bits)?;
    }
    Ok(out)
}

/// What is left of `a` when the bits of `b` are taken away; the dimensions of `a` stay, with 0 bits
/// if need be.
fn without(a: &Dims, b: &Dims) -> Result<Dims> {
    let mut out = Dims::new();
    for (axis, bits) in a.iter() {
        let taken = b.bits_of(axis);
        out.push(
            axis,
            bits.checked_sub(taken).ok_or(Error::DimBits { axis, expected: taken, found: bits })?,
        )?;
    }
    match b.iter().find(|(axis, bits)| *bits > 0 && a.place(*axis).is_none()) {
        Some((axis, _)) => Err(Error::NoDim { axis }),
        None => Ok(out),
    }
}

/// Moves a packed value from `part` into the dimensions `whole`, each dimension shifted up by its
/// bits in `below`.
fn lift(value: u64, part: &Dims, whole: &Dims, below: Option<&Dims>) -> u64 {
    let mut out = 0;
    for (axis, bits) in part.iter() {
        if let (true, Some((shift, _)), Some(v)) =
            (bits > 0, whole.place(axis), part.extract(value, axis))
        {
            let up = below.map_or(0, |b| b.bits_of(axis));
            out |= v.wrapping_shl(u32::from(shift.saturating_add(up)));
        }
    }
    out
}

impl<F, T> Linear<F, T> {
    /// The direct sum `self * upper`: in each dimension `self` has the low bits and `upper` the
    /// high ones.
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub fn product(&self, upper: &Self) -> Result<Self> {
        let ins = joined(&self.ins, &upper.ins)?;
        let mut out = Self::zero(ins, joined(&self.outs, &upper.outs)?);
        let mut at = 0usize;
        for (axis, bits) in out.ins.clone().iter() {
            let low = self.ins.bits_of(axis);
            for k in 0..bits {
                let column = match k.checked_sub(low) {
                    None => lift(self.column(axis, k).unwrap_or(0), &self.outs, &out.outs, None),
                    Some(k) => lift(
                        upper.column(axis, k).unwrap_or(0),
                        &upper.outs,
                        &out.outs,
                        Some(&self.outs),
                    ),
                };
                out.push_columns(at, core::iter::once(column));
                at = at.saturating_add(1);
            }
        }
        Ok(out)
    }

    /// `self` after `inner`: `x` goes to `self(inner(x))`.
    ///
    /// Dimensions are matched by label; a dimension of `inner`'s output may be smaller than in
    /// `self`'s input.
    ///
    /// # Errors
    /// [`Error::NoDim`], [`Error::DimBits`].
    pub fn compose<G>(&self, inner: &Linear<G, F>) -> Result<Linear<G, T>> {
        if let Some((axis, _)) =
            self.ins.iter().find(|d| d.1 > 0 && inner.outs.place(d.0).is_none())
        {
            return Err(Error::NoDim { axis });
        }
        let remap = Remap::new(&inner.outs, &self.ins)?;
        let mut out = Linear::zero(inner.ins.clone(), self.outs.clone());
        for (slot, c) in out.columns.iter_mut().zip(inner.columns()) {
            *slot = self.apply_packed(remap.apply(*c));
        }
        Ok(out)
    }

    /// `c` with `lower * c = self`.
    ///
    /// # Errors
    /// [`Error::NotDivisible`] with the input dimension's position and the bit that does not fit;
    /// [`Error::NoDim`], [`Error::DimBits`] if `lower` has more.
    pub fn divide_left(&self, lower: &Self) -> Result<Self> {
        self.divide(lower, true)
    }

    /// `c` with `c * upper = self`.
    ///
    /// # Errors
    /// As [`Linear::divide_left`].
    pub fn divide_right(&self, upper: &Self) -> Result<Self> {
        self.divide(upper, false)
    }

    fn divide(&self, by: &Self, left: bool) -> Result<Self> {
        let mut out = Self::zero(without(&self.ins, &by.ins)?, without(&self.outs, &by.outs)?);
        let mut at = 0usize;
        for (d, (axis, bits)) in self.ins.iter().enumerate() {
            let rest = out.ins.bits_of(axis);
            let low = if left { bits.saturating_sub(rest) } else { rest };
            for k in 0..bits {
                let fault = Error::NotDivisible { mode: position(d), part: k };
                let column = self.column(axis, k).ok_or(fault)?;
                // Which factor this bit belongs to, and which bit it is there.
                let (in_low, bit) = match k.checked_sub(low) {
                    None => (true, k),
                    Some(bit) => (false, bit),
                };
                let lower_outs = if left { &by.outs } else { &out.outs };
                let upper_outs = if left { &out.outs } else { &by.outs };
                if in_low == left {
                    let own = by.column(axis, bit).ok_or(fault)?;
                    let below = if left { None } else { Some(lower_outs) };
                    if lift(own, &by.outs, &self.outs, below) != column {
                        return Err(fault);
                    }
                } else {
                    let part =
                        self.drop_part(column, lower_outs, upper_outs, in_low).ok_or(fault)?;
                    out.push_columns(at, core::iter::once(part));
                    at = at.saturating_add(1);
                }
            }
        }
        Ok(out)
    }

    /// A column of a product as a column of its lower or upper factor; `None` if it has bits of the
    /// other.
    fn drop_part(&self, column: u64, lower: &Dims, upper: &Dims, keep_low: bool) -> Option<u64> {
        let (mut out, mut shift) = (0u64, 0u32);
        let kept = if keep_low { lower } else { upper };
        for (axis, _) in kept.iter() {
            let v = self.outs.extract(column, axis).unwrap_or(0);
            let low = lower.bits_of(axis);
            let (low_part, high_part) =
                (v & low_mask(low), if low >= 64 { 0 } else { v.wrapping_shr(u32::from(low)) });
            let part = if keep_low { low_part } else { high_part };
            out |= part.wrapping_shl(shift);
            shift = shift.saturating_add(u32::from(kept.bits_of(axis)));
        }
        let below = if keep_low { None } else { Some(lower) };
        if lift(out, kept, &self.outs, below) == column { Some(out) } else { None }
    }

    /// Whether the map is the identity on these dimensions and mixes them with no other.
    #[must_use]
    pub fn is_trivial_over(&self, dims: &[AxisId]) -> bool {
        self.ins.iter().all(|(axis, bits)| {
            let inside = dims.contains(&axis);
            (0..bits).all(|k| {
                let column = self.column(axis, k).unwrap_or(0);
                self.outs.iter().all(|(o, _)| {
                    let v = self.outs.extract(column, o).unwrap_or(0);
                    if inside && o == axis {
                        v == 1u64.wrapping_shl(u32::from(k))
                    } else if inside || dims.contains(&o) {
                        v == 0
                    } else {
                        true
                    }
                })
            })
        }) && dims.iter().all(|d| self.ins.bits_of(*d) == self.outs.bits_of(*d))
    }

    /// The map without these dimensions, if it is [trivial](Linear::is_trivial_over) over them;
    /// else `None`.
    pub fn quotient(&self, dims: &[AxisId]) -> Result<Option<Self>> {
        if !self.is_trivial_over(dims) {
            return Ok(None);
        }
        let rest = |d: &Dims| -> heapless::Vec<AxisId, { super::MAX_DIMS }> {
            let mut out = heapless::Vec::new();
            for (axis, _) in d.iter().filter(|d| !dims.contains(&d.0)) {
                let _ = out.push(axis);
            }
            out
        };
        self.sublayout(&rest(&self.ins), &rest(&self.outs)).map(Some)
    }

    /// How many consecutive values of the first output dimension consecutive indices of the first
    /// input dimension give, wherever one starts (a power of two, at least 1): the width of a
    /// vector access.
    #[must_use]
    pub fn num_consecutive_in_out(&self) -> u64 {
        let (Some((_, first_bits)), Some((out, out_bits))) =
            (self.ins.iter().next(), self.outs.iter().next())
        else {
            return 1;
        };
        let consecutive = (0u32..)
            .zip(self.columns().iter().take(usize::from(first_bits)))
            .take_while(|(k, c)| *k < u32::from(out_bits) && **c == 1u64.wrapping_shl(*k))
            .count();
        let others = self.columns().iter().skip(consecutive).fold(0, |sum, c| sum | c);
        let others = self.outs.extract(others, out).unwrap_or(0);
        let low = (consecutive as u32)
            .min(others.trailing_zeros())
            .min((MAX_BITS as u32).saturating_sub(1));
        1u64.wrapping_shl(low)
    }
}
