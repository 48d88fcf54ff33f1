//! Evaluating a layout at a coordinate.
//!
//! A flat coordinate is split over the shard iters, first iter fastest. The strict forms refuse a
//! coordinate outside the layout; [`LayoutRef::apply_extended`] lets the last iter run on, as CuTe
//! does. All extents and strides met must be known. Cost: one division an iter, a shift where the
//! extent is a power of two.

use crate::axis::AxisId;
use crate::coord::Coord;
use crate::error::{Error, Result};
use crate::layout::{Iter, LayoutRef, position};
use crate::post::PostMap;

/// `(x mod extent, x div extent)`.
#[inline]
fn split(x: u64, extent: u32, iter: usize) -> Result<(u64, u64)> {
    if extent.is_power_of_two() {
        let mask = u64::from(extent).wrapping_sub(1);
        return Ok((x & mask, x.wrapping_shr(extent.trailing_zeros())));
    }
    let bad = Error::BadExtent { iter: position(iter) };
    if let Ok(small) = u32::try_from(x) {
        let q = small.checked_div(extent).ok_or(bad)?;
        return Ok((u64::from(small.wrapping_sub(q.wrapping_mul(extent))), u64::from(q)));
    }
    let wide = u64::from(extent);
    let q = x.checked_div(wide).ok_or(bad)?;
    Ok((x.wrapping_sub(q.wrapping_mul(wide)), q))
}

/// What one digit adds on its iter's axis.
#[inline]
fn contribution(it: &Iter, digit: u64) -> Result<i64> {
    let stride = it.stride_value()?;
    i64::try_from(digit).ok().and_then(|d| d.checked_mul(stride)).ok_or(Error::Overflow)
}

/// Splits `x` over `iters` and hands each contribution on; returns what is left beyond the last
/// iter: 0 for a coordinate inside, and always if `extended`, which gives it to the last iter.
#[inline]
fn digits(
    iters: &[Iter],
    x: u64,
    extended: bool,
    mut add: impl FnMut(&Iter, i64) -> Result<()>,
) -> Result<u64> {
    let mut rest = x;
    let last = if extended { iters.len().wrapping_sub(1) } else { usize::MAX };
    for (k, it) in iters.iter().enumerate() {
        let digit = if k == last {
            core::mem::replace(&mut rest, 0)
        } else {
            let (d, q) = split(rest, it.extent_value()?, k)?;
            rest = q;
            d
        };
        add(it, contribution(it, digit)?)?;
    }
    Ok(rest)
}

/// [`digits`] for iters with known numbers and a coordinate inside; `None` for everything else, of
/// which the slower walk says what it is.
#[inline]
fn plain_digits(
    iters: &[Iter],
    x: u64,
    mut add: impl FnMut(AxisId, i64) -> Option<()>,
) -> Option<()> {
    let mut rest = x;
    for it in iters {
        let (extent, stride) = it.known()?;
        let mask = extent.wrapping_sub(1);
        let digit = if extent & mask == 0 {
            let digit = rest & u64::from(mask);
            rest = rest.wrapping_shr(extent.trailing_zeros());
            digit
        } else {
            let small = u32::try_from(rest).ok()?;
            let quotient = small.checked_div(extent)?;
            rest = u64::from(quotient);
            u64::from(small.wrapping_sub(quotient.wrapping_mul(extent)))
        };
        // A digit has 32 bits.
        add(it.axis(), (digit as i64).checked_mul(stride)?)?;
    }
    (rest == 0).then_some(())
}

#[cold]
fn out_of_range(iters: &[Iter], mode: usize, coord: u64) -> Error {
    let mut extent = 1u64;
    for it in iters {
        match it.extent_value() {
            Ok(e) => extent = extent.saturating_mul(u64::from(e)),
            Err(e) => return e,
        }
    }
    Error::OutOfRange { mode: position(mode), coord, extent }
}

impl LayoutRef<'_> {
    /// The position of flat coordinate `x` (below [`LayoutRef::size`]), replicas at their first
    /// copy.
    ///
    /// Clears `out` first. Every axis of a shard iter or offset is present in `out`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::NeedsValue`], [`Error::Overflow`],
    /// [`Error::NegativeOffset`].
    #[inline]
    pub fn apply_flat(&self, x: u64, out: &mut Coord) -> Result<()> {
        self.base(x, false, out)?;
        self.finish(out)
    }

    /// As [`LayoutRef::apply_flat`], but the last iter is unbounded, so that any `x` has a
    /// position.
    ///
    /// This is the map that [`crate::ops::compose`] composes with.
    pub fn apply_extended(&self, x: u64, out: &mut Coord) -> Result<()> {
        self.base(x, true, out)?;
        self.finish(out)
    }

    /// The position of a coordinate with one number a top-level mode (each split within its mode,
    /// fastest first).
    ///
    /// # Errors
    /// As [`LayoutRef::apply_flat`], and [`Error::Rank`].
    pub fn apply(&self, coords: &[u64], out: &mut Coord) -> Result<()> {
        out.clear();
        let rank = self.rank();
        if rank != coords.len() {
            return Err(Error::Rank { expected: position(rank), found: position(coords.len()) });
        }
        for (k, ((mode, _), x)) in self.modes().zip(coords).enumerate() {
            if digits(mode, *x, false, |it, d| out.add(it.axis(), d))? != 0 {
                return Err(out_of_range(mode, k, *x));
            }
        }
        self.add_offsets(out)?;
        self.finish(out)
    }

    /// Calls `visit` with every position of flat coordinate `x`: one a combination of replica
    /// steps, the first replica fastest. Positions that coincide are visited each time. `out` is
    /// working space.
    ///
    /// # Errors
    /// As [`LayoutRef::apply_flat`]; an error of `visit` ends the walk.
    pub fn apply_all(
        &self,
        x: u64,
        out: &mut Coord,
        mut visit: impl FnMut(&Coord) -> Result<()>,
    ) -> Result<()> {
        let mut copies = 1u64;
        for it in self.replica {
            copies = copies.checked_mul(u64::from(it.extent_value()?)).ok_or(Error::Overflow)?;
        }
        for r in 0..copies {
            self.base(x, false, out)?;
            digits(self.replica, r, false, |it, d| out.add(it.axis(), d))?;
            self.finish(out)?;
            visit(out)?;
        }
        Ok(())
    }

    /// The position of flat coordinate `x` on one axis, 0 if the layout does not mention it: the
    /// fast path.
    ///
    /// # Errors
    /// As [`LayoutRef::apply_flat`].
    #[inline]
    pub fn offset_on(&self, x: u64, axis: AxisId) -> Result<i64> {
        let mut sum = 0i64;
        let plain = plain_digits(self.shard, x, |of, d| {
            if of == axis {
                sum = sum.checked_add(d)?;
            }
            Some(())
        });
        if plain.is_none() {
            sum = self.sum_on(x, axis)?;
        }
        for o in self.offset.iter().filter(|o| o.axis() == axis) {
            sum = sum.checked_add(o.value().value()?).ok_or(Error::Overflow)?;
        }
        if axis == AxisId::M { self.post.apply(sum) } else { Ok(sum) }
    }

    /// What the shard adds on one axis, with the reason where it adds nothing known.
    #[cold]
    fn sum_on(&self, x: u64, axis: AxisId) -> Result<i64> {
        let mut sum = 0i64;
        let left = digits(self.shard, x, false, |it, d| {
            if it.axis() == axis {
                sum = sum.checked_add(d).ok_or(Error::Overflow)?;
            }
            Ok(())
        })?;
        if left == 0 { Ok(sum) } else { Err(out_of_range(self.shard, 0, x)) }
    }

    /// The positions of flat coordinate `x` on several axes, in one walk; otherwise as
    /// [`LayoutRef::offset_on`].
    ///
    /// # Errors
    /// As [`LayoutRef::apply_flat`].
    pub fn offsets_on<const N: usize>(&self, x: u64, axes: [AxisId; N]) -> Result<[i64; N]> {
        let mut sums = [0i64; N];
        let add = |sums: &mut [i64; N], axis: AxisId, by: i64| {
            for (sum, _) in sums.iter_mut().zip(axes).filter(|(_, of)| *of == axis) {
                *sum = sum.checked_add(by).ok_or(Error::Overflow)?;
            }
            Ok(())
        };
        let plain = plain_digits(self.shard, x, |axis, d| match d {
            0 => Some(()),
            d => add(&mut sums, axis, d).ok(),
        });
        if plain.is_none() {
            for (sum, axis) in sums.iter_mut().zip(axes) {
                *sum = self.sum_on(x, axis)?;
            }
        }
        for o in self.offset {
            add(&mut sums, o.axis(), o.value().value()?)?;
        }
        if !matches!(self.post, PostMap::None) {
            for (sum, _) in sums.iter_mut().zip(axes).filter(|(_, of)| *of == AxisId::M) {
                *sum = self.post.apply(*sum)?;
            }
        }
        Ok(sums)
    }

    /// Writes the positions on `axis` of the flat coordinates 0, 1, 2, ..., as many as there are or
    /// `out` holds; how many. As [`LayoutRef::offset_on`], but with one addition a position (and
    /// the post-map).
    ///
    /// # Errors
    /// [`Error::NeedsValue`]; [`Error::Overflow`] if some position of the layout does not fit;
    /// [`Error::NegativeOffset`] if a post-map meets a negative one. What `out` holds is then
    /// unspecified.
    pub fn table_on(&self, axis: AxisId, out: &mut [i64]) -> Result<usize> {
        // The reach bounds every sum below.
        let (low, _) = LayoutRef { replica: &[], ..*self }.reach(axis)?;
        let post = axis == AxisId::M && !matches!(self.post, PostMap::None);
        if post && low < 0 {
            return Err(Error::NegativeOffset { offset: low });
        }
        let start = self.offset_of(axis)?.value()?;
        let Some(first) = out.first_mut() else {
            return Ok(0);
        };
        *first = start;
        let mut done = 1usize;
        for it in self.shard {
            let step = if it.axis() == axis { it.stride_value()? } else { 0 };
            let Some((block, mut rest)) = out.split_at_mut_checked(done) else {
                break;
            };
            let mut by = 0i64;
            for _ in 1..it.extent_value()? {
                if rest.is_empty() {
                    break;
                }
                by = by.wrapping_add(step);
                let Some((here, after)) = rest.split_at_mut_checked(block.len().min(rest.len()))
                else {
                    break;
                };
                for (slot, x) in here.iter_mut().zip(block.iter()) {
                    *slot = x.wrapping_add(by);
                }
                done = done.saturating_add(here.len());
                rest = after;
            }
        }
        if post {
            for slot in out.iter_mut().take(done) {
                *slot = self.post.apply(*slot)?;
            }
        }
        Ok(done)
    }

    #[inline]
    fn base(&self, x: u64, extended: bool, out: &mut Coord) -> Result<()> {
        out.clear();
        if extended || plain_digits(self.shard, x, |axis, d| out.add(axis, d).ok()).is_none() {
            out.clear();
            self.shard_positions(x, extended, out)?;
        }
        self.add_offsets(out)
    }

    /// Adds what the shard adds to a coordinate without axes, or says why it cannot.
    #[inline(never)]
    fn shard_positions(&self, x: u64, extended: bool, out: &mut Coord) -> Result<()> {
        if digits(self.shard, x, extended, |it, d| out.add(it.axis(), d))? != 0 {
            return Err(out_of_range(self.shard, 0, x));
        }
        Ok(())
    }

    #[inline]
    fn add_offsets(&self, out: &mut Coord) -> Result<()> {
        for o in self.offset {
            out.add(o.axis(), o.value().value()?)?;
        }
        Ok(())
    }

    #[inline]
    fn finish(&self, out: &mut Coord) -> Result<()> {
        if matches!(self.post, PostMap::None) {
            return Ok(());
        }
        out.update(AxisId::M, |x| self.post.apply(x))
    }
}
