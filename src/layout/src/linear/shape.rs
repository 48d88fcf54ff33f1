//! Regrouping, selecting and resizing the dimensions of a linear layout.

use super::dims::Remap;
use super::{Dims, Linear};
use crate::axis::AxisId;
use crate::error::{Error, Result};

impl<F, T> Linear<F, T> {
    /// The same columns under other input dimensions of as many bits in all.
    pub fn reshape_ins(&self, ins: Dims) -> Result<Self> {
        same_bits(&self.ins, &ins)?;
        let mut out = self.clone();
        out.ins = ins;
        Ok(out)
    }

    /// The same packed values under other output dimensions of as many bits in all.
    pub fn reshape_outs(&self, outs: Dims) -> Result<Self> {
        same_bits(&self.outs, &outs)?;
        let mut out = self.clone();
        out.outs = outs;
        Ok(out)
    }

    /// All input dimensions as one.
    pub fn flatten_ins(&self, axis: AxisId) -> Result<Self> {
        self.reshape_ins(Dims::one(axis, self.ins.bits())?)
    }

    /// All output dimensions as one.
    pub fn flatten_outs(&self, axis: AxisId) -> Result<Self> {
        self.reshape_outs(Dims::one(axis, self.outs.bits())?)
    }

    /// The same map with the input dimensions in this order.
    pub fn transpose_ins(&self, order: &[AxisId]) -> Result<Self> {
        let ins = self.ins.reordered(order)?;
        let mut out = Self::zero(ins, self.outs.clone());
        let mut at = 0usize;
        for axis in order {
            let bits = self.ins.bits_of(*axis);
            out.push_columns(at, (0..bits).map(|k| self.column(*axis, k).unwrap_or(0)));
            at = at.saturating_add(usize::from(bits));
        }
        Ok(out)
    }

    /// The same map with the output dimensions in this order.
    pub fn transpose_outs(&self, order: &[AxisId]) -> Result<Self> {
        let outs = self.outs.reordered(order)?;
        let remap = Remap::new(&self.outs, &outs)?;
        let mut out = Self::zero(self.ins.clone(), outs);
        out.push_columns(0, self.columns().iter().map(|c| remap.apply(*c)));
        Ok(out)
    }

    /// The same map with an input dimension under another label.
    pub fn rename_in(&self, from: AxisId, to: AxisId) -> Result<Self> {
        self.reshape_ins(renamed(&self.ins, from, to)?)
    }

    /// The same map with an output dimension under another label.
    pub fn rename_out(&self, from: AxisId, to: AxisId) -> Result<Self> {
        self.reshape_outs(renamed(&self.outs, from, to)?)
    }

    /// The map restricted to some input dimensions (the others at 0) and projected to some output
    /// dimensions.
    pub fn sublayout(&self, ins: &[AxisId], outs: &[AxisId]) -> Result<Self> {
        let pick = |d: &Dims, names: &[AxisId]| -> Result<Dims> {
            let mut out = Dims::new();
            for axis in names {
                out.push(*axis, d.place(*axis).ok_or(Error::NoDim { axis: *axis })?.1)?;
            }
            Ok(out)
        };
        let mut out = Self::zero(pick(&self.ins, ins)?, pick(&self.outs, outs)?);
        let mut at = 0usize;
        for axis in ins {
            for k in 0..self.ins.bits_of(*axis) {
                let whole = self.column(*axis, k).unwrap_or(0);
                let mut column = 0;
                for o in outs {
                    column |= out.outs.insert(self.outs.extract(whole, *o).unwrap_or(0), *o)?;
                }
                out.push_columns(at, core::iter::once(column));
                at = at.saturating_add(1);
            }
        }
        Ok(out)
    }

    /// The map with an input dimension of `bits` bits: high bits are dropped, or added with zero
    /// columns.
    pub fn resize_in(&self, axis: AxisId, bits: u8) -> Result<Self> {
        let ins = resized(&self.ins, axis, bits)?;
        let mut out = Self::zero(ins, self.outs.clone());
        let mut at = 0usize;
        for (a, n) in out.ins.clone().iter() {
            out.push_columns(at, (0..n).map(|k| self.column(a, k).unwrap_or(0)));
            at = at.saturating_add(usize::from(n));
        }
        Ok(out)
    }

    /// The map with an output dimension of `bits` bits: high bits are added, or dropped where no
    /// column uses them.
    ///
    /// # Errors
    /// [`Error::DimBits`] with the bits that the columns need.
    pub fn resize_out(&self, axis: AxisId, bits: u8) -> Result<Self> {
        let outs = resized(&self.outs, axis, bits)?;
        let mut out = Self::zero(self.ins.clone(), outs);
        for (slot, c) in out.columns.iter_mut().zip(self.columns()) {
            for (o, _) in self.outs.iter() {
                *slot |= out.outs.insert(self.outs.extract(*c, o).unwrap_or(0), o)?;
            }
        }
        Ok(out)
    }

    /// The map without the zero columns of an input dimension, which shrinks.
    pub fn remove_zero_bases(&self, axis: AxisId) -> Result<Self> {
        let (_, bits) = self.ins.place(axis).ok_or(Error::NoDim { axis })?;
        let used = (0..bits).filter(|k| self.column(axis, *k) != Some(0)).count();
        let ins = resized(&self.ins, axis, u8::try_from(used).unwrap_or(bits))?;
        let mut out = Self::zero(ins, self.outs.clone());
        let mut at = 0usize;
        for (a, n) in self.ins.iter() {
            for column in (0..n).filter_map(|k| self.column(a, k)).filter(|c| a != axis || *c != 0)
            {
                out.push_columns(at, core::iter::once(column));
                at = at.saturating_add(1);
            }
        }
        Ok(out)
    }

    /// The map with the columns of an input dimension in another order: bit `k` of it does what bit
    /// `order[k]` did, and bits that are left out are dropped with what they moved. Triton's column
    /// actions on registers, and the inverse of one by the inverse order.
    ///
    /// # Errors
    /// [`Error::NoDim`]; [`Error::BadPermutation`] if `order` names a bit twice, or one that is not
    /// there.
    pub fn permute_columns(&self, axis: AxisId, order: &[u8]) -> Result<Self> {
        let (_, bits) = self.ins.place(axis).ok_or(Error::NoDim { axis })?;
        let mut named = 0u64;
        for (at, &bit) in (0u8..).zip(order) {
            let mark = 1u64.checked_shl(u32::from(bit)).unwrap_or(0);
            if bit >= bits || named & mark != 0 {
                return Err(Error::BadPermutation { at, value: bit });
            }
            named |= mark;
        }
        let left = u8::try_from(order.len()).unwrap_or(u8::MAX);
        let mut out = Self::zero(resized(&self.ins, axis, left)?, self.outs.clone());
        let mut at = 0usize;
        for (a, n) in self.ins.iter() {
            let column = |bit: u8| self.column(a, bit).unwrap_or(0);
            if a == axis {
                out.push_columns(at, order.iter().map(|bit| column(*bit)));
                at = at.saturating_add(order.len());
            } else {
                out.push_columns(at, (0..n).map(column));
                at = at.saturating_add(usize::from(n));
            }
        }
        Ok(out)
    }
}

fn same_bits(old: &Dims, new: &Dims) -> Result<()> {
    if old.bits() == new.bits() {
        return Ok(());
    }
    let axis = new.iter().next().map_or(AxisId::M, |d| d.0);
    Err(Error::DimBits { axis, expected: old.bits(), found: new.bits() })
}

fn resized(dims: &Dims, axis: AxisId, bits: u8) -> Result<Dims> {
    dims.place(axis).ok_or(Error::NoDim { axis })?;
    let mut out = Dims::new();
    for (a, n) in dims.iter() {
        out.push(a, if a == axis { bits } else { n })?;
    }
    Ok(out)
}

fn renamed(dims: &Dims, from: AxisId, to: AxisId) -> Result<Dims> {
    dims.place(from).ok_or(Error::NoDim { axis: from })?;
    let mut out = Dims::new();
    for (a, n) in dims.iter() {
        out.push(if a == from { to } else { a }, n)?;
    }
    Ok(out)
}
