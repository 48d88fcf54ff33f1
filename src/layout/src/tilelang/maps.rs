//! The algebra of plain maps: repeat, expand, reshape, and the row-major map.

use super::{LayoutBuilder, NOTHING, output};
use crate::axis::{AxisId, WellKnown};
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_MODES, position};
use crate::notation::cute;
use crate::num::NoSyms;
use crate::ops::{Iters, coalesced, push};
use crate::tirx;

/// The shape of a layout, first dimension first.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tilelang};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tilelang::shape_of(&of("(16,8):(1,16)").view()).unwrap(), [8, 16]);
/// ```
///
/// # Errors
/// [`Error::NeedsValue`], [`Error::Overflow`].
pub fn shape_of(l: &LayoutRef<'_>) -> Result<heapless::Vec<u32, MAX_MODES>> {
    let mut out = heapless::Vec::new();
    for (mode, _) in l.modes() {
        let mut extent = 1u32;
        for it in mode {
            let e = it.extent_value()?;
            extent = extent.checked_mul(e).ok_or(Error::Overflow)?;
        }
        let full = Error::Capacity { limit: crate::error::Limit::Modes, max: MAX_MODES as u32 };
        out.push(extent).map_err(|_| full)?;
    }
    out.reverse();
    Ok(out)
}

/// The row-major map of a shape; TileLang: `make_linear_layout`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tilelang};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tilelang::linear(&[8, 16]).unwrap(), of("(16,8):(1,16)"));
/// ```
///
/// # Errors
/// [`Error::BadExtent`], [`Error::Capacity`], [`Error::Overflow`].
pub fn linear(shape: &[u32]) -> Result<Layout> {
    let mut b = LayoutBuilder::new();
    let mut stride = 1i64;
    for extent in shape.iter().rev() {
        b.push(Iter::new(*extent, stride, AxisId::M))?;
        b.end()?;
        stride = stride.checked_mul(i64::from(*extent)).ok_or(Error::Overflow)?;
    }
    b.finish(&NOTHING)
}

/// Dimension `dim` made `factor` times as long; which repetition it is becomes a new first output.
/// TileLang: `Layout.repeat`. The layout must not use axis `@15`.
///
/// ```
/// # use lanebook_layout::tilelang;
/// let rows = tilelang::repeat(&tilelang::linear(&[8, 16]).unwrap().view(), 0, 4).unwrap();
/// assert_eq!(tilelang::shape_of(&rows.view()).unwrap(), [32, 16]);
/// ```
///
/// # Errors
/// [`Error::Rank`] if there is no such dimension; [`Error::BadExtent`] for a factor of 0;
/// [`Error::Capacity`].
pub fn repeat(l: &LayoutRef<'_>, dim: u8, factor: u32) -> Result<Layout> {
    let rank = l.rank();
    let from_end = rank.checked_sub(1).and_then(|r| r.checked_sub(usize::from(dim)));
    let wanted = from_end.ok_or(Error::Rank { expected: position(rank), found: dim })?;
    let mut b = LayoutBuilder::new();
    for (k, (mode, _)) in l.modes().enumerate() {
        for it in mode {
            b.push(renumbered(it, 1)?)?;
        }
        if k == wanted {
            b.push(Iter::new(factor, 1, output(0, 2)?))?;
        }
        b.end()?;
    }
    b.finish(&moved_rest(l, 1, &mut Iters::new(), &mut Layout::new())?)
}

/// New first dimensions of these extents, each its own new first output. TileLang: `Layout.expand`.
///
/// ```
/// # use lanebook_layout::tilelang;
/// // Two stages of a tile: which stage is an output of its own.
/// let stages = tilelang::expand(&tilelang::linear(&[8, 16]).unwrap().view(), &[2]).unwrap();
/// assert_eq!(tilelang::shape_of(&stages.view()).unwrap(), [2, 8, 16]);
/// ```
///
/// # Errors
/// [`Error::Capacity`], [`Error::BadExtent`].
pub fn expand(l: &LayoutRef<'_>, leading: &[u32]) -> Result<Layout> {
    let count = leading.len();
    let mut b = LayoutBuilder::new();
    for (mode, _) in l.modes() {
        for it in mode {
            b.push(renumbered(it, count)?)?;
        }
        b.end()?;
    }
    for (k, extent) in leading.iter().enumerate().rev() {
        b.push(Iter::new(*extent, 1, output(k, count.saturating_add(1))?))?;
        b.end()?;
    }
    b.finish(&moved_rest(l, count, &mut Iters::new(), &mut Layout::new())?)
}

/// The iter with its numbered axis counted on by `by`.
fn renumbered(it: &Iter, by: usize) -> Result<Iter> {
    match it.axis().as_dim() {
        Some(n) => Iter::symbolic(it.extent(), it.stride(), shifted(n, by)?),
        None => Ok(*it),
    }
}

fn shifted(n: u8, by: usize) -> Result<AxisId> {
    let k = usize::from(n).saturating_add(by);
    output(k, k.saturating_add(2))
}

/// Replicas, offset and post-map of `l` with their numbered axes counted on.
fn moved_rest<'a>(
    l: &LayoutRef<'a>,
    by: usize,
    replica: &'a mut Iters,
    offset: &'a mut Layout,
) -> Result<LayoutRef<'a>> {
    for it in l.replica {
        push(replica, renumbered(it, by)?)?;
    }
    for o in l.offset {
        let axis = match o.axis().as_dim() {
            Some(n) => shifted(n, by)?,
            None => o.axis(),
        };
        offset.add_offset(o.value(), axis)?;
    }
    Ok(LayoutRef { replica, offset: offset.view().offset, post: l.post, ..NOTHING })
}

/// The same map of row-major positions over another shape. `rescale` gives the element widths
/// `(old, new)` in bits: elements split into narrower ones, or joined to wider ones, are neighbours
/// in the last output. TileLang: `Layout.reshape` and `Fragment.reshape`.
///
/// ```
/// # use lanebook_layout::tilelang;
/// let tile = tilelang::linear(&[8, 16]).unwrap();
/// let rows = tilelang::reshape(&tile.view(), &[4, 32], None).unwrap();
/// assert_eq!(tilelang::shape_of(&rows.view()).unwrap(), [4, 32]);
/// // The same bytes as elements of half the width.
/// let bytes = tilelang::reshape(&tile.view(), &[8, 32], Some((16, 8))).unwrap();
/// assert_eq!(tilelang::shape_of(&bytes.view()).unwrap(), [8, 32]);
/// ```
///
/// # Errors
/// [`Error::CannotGroup`] if the new boundaries cut an iter where it does not divide, or the sizes
/// differ; [`Error::CannotPack`] if joined elements are not neighbours; [`Error::BadElement`] if
/// neither width divides the other; [`Error::Capacity`].
pub fn reshape(l: &LayoutRef<'_>, shape: &[u32], rescale: Option<(u32, u32)>) -> Result<Layout> {
    let flat = coalesced(l.shard)?;
    let plain = LayoutRef { shard: &flat, profile: crate::profile::Profile::FLAT, ..*l };
    let (old, new) = rescale.unwrap_or((1, 1));
    let bits = Error::BadElement { bits: new };
    let ratio = |a: u32, b: u32| a.checked_div(b).filter(|_| a.checked_rem(b) == Some(0));
    let sized = match (ratio(old, new), ratio(new, old)) {
        (Some(n), _) => tirx::unpack(&plain, n, AxisId::M)?,
        (None, Some(n)) => tirx::pack(&plain, n, AxisId::M)?,
        (None, None) => return Err(bits),
    };
    let grouped = tirx::group(&sized.view(), shape)?;
    let view = grouped.layout.view();
    let mut b = LayoutBuilder::new();
    let mut iters = view.shard.iter();
    let ends = grouped.separators.as_slice();
    for (low, high) in ends.iter().zip(ends.get(1..).unwrap_or(&[])).rev() {
        let count = usize::from(high.saturating_sub(*low));
        for it in iters.by_ref().take(count) {
            b.push(*it)?;
        }
        b.end()?;
    }
    b.finish(&view)
}

/// The map called `name`, from a table such as [`super::index_maps::LANES_32`].
///
/// ```
/// # use lanebook_layout::tilelang::{self, index_maps};
/// let map = tilelang::index_map(index_maps::LANES_32, "ldmatrix_32x8_to_shared_16x16_layout").unwrap();
/// assert_eq!(map.view().size_value(), Ok(256));
/// assert!(tilelang::index_map(index_maps::LANES_64, "no_such_layout").is_err());
/// ```
///
/// # Errors
/// [`Error::NoVariant`] if the table has no such name, or its text is no layout.
pub fn index_map(table: &[super::index_maps::IndexMap], name: &str) -> Result<Layout> {
    let none = Error::NoVariant { found: 0 };
    let (_, text) = table.iter().find(|(n, _)| *n == name).ok_or(none)?;
    cute::parse(text, &WellKnown, &mut NoSyms).map_err(|_| none)
}
