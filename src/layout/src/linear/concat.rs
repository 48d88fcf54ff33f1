//! Putting linear layouts side by side, and leaving out dimensions that have no bits.

use super::{Dims, Linear};
use crate::axis::AxisId;
use crate::error::{Error, Result};

fn both(a: &Dims, b: &Dims) -> Result<Dims> {
    let mut out = a.clone();
    for (axis, bits) in b.iter() {
        out.push(axis, bits)?;
    }
    Ok(out)
}

/// The first dimension in which they differ, as an error.
fn same(a: &Dims, b: &Dims) -> Result<()> {
    for (axis, expected) in a.iter() {
        let (_, found) = b.place(axis).ok_or(Error::NoDim { axis })?;
        if expected != found {
            return Err(Error::DimBits { axis, expected, found });
        }
    }
    match b.iter().find(|(axis, _)| a.place(*axis).is_none()) {
        Some((axis, _)) => Err(Error::NoDim { axis }),
        None => Ok(()),
    }
}

impl<F, T> Linear<F, T> {
    /// The map on the input dimensions of both, which are different: `(x, y)` goes to `self(x) ^
    /// other(y)`.
    ///
    /// # Errors
    /// [`Error::NoDim`], [`Error::DimBits`] unless the outputs are the same up to order;
    /// [`Error::NoDim`] for an input dimension of both; [`Error::Capacity`].
    pub fn concat_ins(&self, other: &Self) -> Result<Self> {
        same(&self.outs, &other.outs)?;
        let remap = super::dims::Remap::new(&other.outs, &self.outs)?;
        let mut out = Self::zero(both(&self.ins, &other.ins)?, self.outs.clone());
        out.push_columns(0, self.columns().iter().copied());
        let at = usize::from(self.ins.bits());
        out.push_columns(at, other.columns().iter().map(|c| remap.apply(*c)));
        Ok(out)
    }

    /// The map to the output dimensions of both, which are different: `x` goes to `(self(x),
    /// other(x))`.
    ///
    /// # Errors
    /// As [`Linear::concat_ins`], with inputs and outputs exchanged.
    pub fn concat_outs(&self, other: &Self) -> Result<Self> {
        same(&self.ins, &other.ins)?;
        let mut out = Self::zero(self.ins.clone(), both(&self.outs, &other.outs)?);
        let up = u32::from(self.outs.bits());
        let mut at = 0usize;
        for (axis, bits) in self.ins.iter() {
            for bit in 0..bits {
                let low = self.column(axis, bit).unwrap_or(0);
                let high = other.column(axis, bit).unwrap_or(0);
                let high = high.checked_shl(up).unwrap_or(0);
                out.push_columns(at, core::iter::once(low | high));
                at = at.saturating_add(1);
            }
        }
        Ok(out)
    }

    /// The same map without an input dimension of no bits.
    ///
    /// # Errors
    /// [`Error::NoDim`]; [`Error::DimBits`] if it has bits.
    pub fn squeeze_in(&self, axis: AxisId) -> Result<Self> {
        self.reshape_ins(squeezed(&self.ins, axis)?)
    }

    /// The same map without an output dimension of no bits.
    ///
    /// # Errors
    /// [`Error::NoDim`]; [`Error::DimBits`] if it has bits.
    pub fn squeeze_out(&self, axis: AxisId) -> Result<Self> {
        self.reshape_outs(squeezed(&self.outs, axis)?)
    }

    /// Whether these input dimensions move nothing along these output dimensions.
    #[must_use]
    pub fn is_zero_between(&self, ins: &[AxisId], outs: &[AxisId]) -> bool {
        ins.iter().all(|axis| {
            (0..self.ins.bits_of(*axis))
                .all(|bit| outs.iter().all(|o| self.column_on(*axis, bit, *o).unwrap_or(0) == 0))
        })
    }
}

fn squeezed(dims: &Dims, axis: AxisId) -> Result<Dims> {
    let (_, found) = dims.place(axis).ok_or(Error::NoDim { axis })?;
    if found != 0 {
        return Err(Error::DimBits { axis, expected: 0, found });
    }
    let mut out = Dims::new();
    for (a, bits) in dims.iter().filter(|d| d.0 != axis) {
        out.push(a, bits)?;
    }
    Ok(out)
}
