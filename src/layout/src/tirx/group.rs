//! Cutting the iters of a layout at the boundaries of one shape, or of several at once.

use super::canonical::canonical_written;
use super::{from_written, written};
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, position};
use crate::num::Int;
use crate::ops::{Iters, push};
use crate::order::sort_by;

/// Where each dimension begins among the iters as written; one more than dimensions, the last being
/// the iter count.
pub type Separators = heapless::Vec<u8, { MAX_ITERS + 1 }>;

/// How many shapes [`group_many`] takes.
pub const MAX_SHAPES: usize = 4;

/// A layout whose iters do not cross the boundaries of a shape.
///
/// ```
/// # use lanebook_layout::tirx::{Grouped, Separators, group};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// let tile = notation::tirx::parse("S[64:1]", &WellKnown, &mut NoSyms).unwrap();
/// let grouped: Grouped = group(&tile.view(), &[4, 16]).unwrap();
/// let bounds: Separators = grouped.separators;
/// assert_eq!(bounds, [0, 1, 2]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grouped {
    /// The same map, cut.
    pub layout: Layout,
    /// Dimension `k` has the iters from `separators[k]` up to `separators[k + 1]`, as written.
    pub separators: Separators,
}

/// A layout cut at the boundaries of several shapes.
///
/// ```
/// # use lanebook_layout::tirx::{GroupedMany, group_many};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// let tile = notation::tirx::parse("S[64:1]", &WellKnown, &mut NoSyms).unwrap();
/// let grouped: GroupedMany = group_many(&tile.view(), &[&[4, 16], &[8, 8]]).unwrap();
/// assert_eq!(grouped.separators.len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedMany {
    /// The same map, cut.
    pub layout: Layout,
    /// For each shape what [`Grouped::separators`] is for one.
    pub separators: heapless::Vec<Separators, MAX_SHAPES>,
}

/// The same map with its iters cut so that each belongs to one dimension of `shape`. A dimension of
/// extent 1 gets an iter of extent 1.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let grouped = tirx::group(&of("S[(2,32):(32,1)]").view(), &[8, 8]).unwrap();
/// assert_eq!(grouped.layout, of("S[(2,4,8):(32,8,1)]"));
/// assert!(tirx::group(&of("S[(2,32):(32,1)]").view(), &[3, 8]).is_err());
/// ```
///
/// # Errors
/// [`Error::CannotGroup`] if a boundary falls inside an iter where it does not divide, or the sizes
/// differ; [`Error::NeedsValue`], [`Error::Capacity`].
pub fn group(l: &LayoutRef<'_>, shape: &[u32]) -> Result<Grouped> {
    let mut made = CutIters::EMPTY;
    cut(&mut made, &written(l)?, shape)?;
    Ok(Grouped { layout: from_written(&made.iters, l)?, separators: made.separators })
}

/// Iters cut at the boundaries of a shape. A list of its own, filled where it lies: handed back, it would
/// lie on the stack twice.
pub(super) struct CutIters {
    pub(super) iters: Iters,
    pub(super) separators: Separators,
}

impl CutIters {
    pub(super) const EMPTY: Self = Self { iters: Iters::new(), separators: Separators::new() };

    /// The iters of dimension `k`.
    pub(super) fn dim(&self, k: usize) -> &[Iter] {
        dim(&self.iters, &self.separators, k)
    }

    /// [`cut`] of a layout's canonical iters as written, which are on the stack no longer than that
    /// takes. Errors as there.
    #[inline(never)]
    pub(super) fn cut_canonical(&mut self, l: &LayoutRef<'_>, shape: &[u32]) -> Result<()> {
        cut(self, &canonical_written(l)?, shape)
    }
}

/// Cuts iters, slowest first, at the boundaries of `shape`.
#[inline(never)]
pub(super) fn cut(into: &mut CutIters, shard: &[Iter], shape: &[u32]) -> Result<()> {
    let CutIters { iters: out, separators } = into;
    mark(separators, 0)?;
    let mut dims = shape.iter().copied().enumerate().peekable();
    // The iters taken since the last boundary, times what is left of the iter in hand.
    let mut open = 1u64;
    for (k, it) in shard.iter().enumerate() {
        let mut extent = it.extent_value()?;
        open = open.checked_mul(u64::from(extent)).ok_or(Error::Overflow)?;
        while let Some((dim, want)) = dims.peek().copied() {
            let wide = u64::from(want);
            if open.checked_rem(wide) != Some(0) {
                break;
            }
            let fault = Error::CannotGroup { dim: position(dim), iter: position(k), extent: want };
            let rest = open.checked_div(wide).ok_or(fault)?;
            let rest = u32::try_from(rest).map_err(|_| fault)?;
            if extent.checked_rem(rest) != Some(0) {
                return Err(fault);
            }
            push(out, part(it, extent.checked_div(rest).ok_or(fault)?, rest)?)?;
            (extent, open) = (rest, u64::from(rest));
            dims.next();
            mark(separators, out.len())?;
        }
        if extent == 1 {
            continue;
        }
        let Some((..)) = dims.peek() else {
            return Err(Error::CannotGroup {
                dim: position(shape.len()),
                iter: position(k),
                extent: 1,
            });
        };
        push(out, part(it, extent, 1)?)?;
    }
    for (dim, want) in dims {
        if want != 1 || open != 1 {
            return Err(Error::CannotGroup {
                dim: position(dim),
                iter: position(shard.len()),
                extent: want,
            });
        }
        mark(separators, out.len())?;
    }
    Ok(())
}

/// The part of `it` with this extent that moves `below` steps at once.
fn part(it: &Iter, extent: u32, below: u32) -> Result<Iter> {
    Iter::symbolic(
        Int::known(i64::from(extent)),
        it.stride().checked_mul(Int::known(i64::from(below)))?,
        it.axis(),
    )
}

fn mark(separators: &mut Separators, at: usize) -> Result<()> {
    separators
        .push(position(at))
        .map_err(|_| Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 })
}

/// The dimension `k` of what [`cut`] gave.
pub(super) fn dim<'a>(shard: &'a [Iter], separators: &[u8], k: usize) -> &'a [Iter] {
    let at = |k: usize| separators.get(k).copied().map_or(shard.len(), usize::from);
    shard.get(at(k)..at(k.saturating_add(1))).unwrap_or(&[])
}

/// The same map cut at the boundaries of all `shapes`: the coarsest layout whose iters belong to
/// one dimension of each.
///
/// Dimensions of extent 1 keep an iter of extent 1, as do iters of extent 1.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Cut where either shape has a boundary.
/// let shapes: [&[u32]; 2] = [&[4, 16], &[16, 4]];
/// assert!(shapes.len() <= tirx::MAX_SHAPES);
/// let grouped = tirx::group_many(&of("S[64:1]").view(), &shapes).unwrap();
/// assert_eq!(grouped.layout, of("S[(4,4,4):(16,4,1)]"));
/// ```
///
/// # Errors
/// [`Error::CannotGroup`] (its dimension and extent are those of the boundary met from the left) if
/// boundaries do not divide each other or sizes differ; [`Error::Rank`] for no shape, an empty one
/// or a layout without iters; [`Error::Capacity`].
pub fn group_many(l: &LayoutRef<'_>, shapes: &[&[u32]]) -> Result<GroupedMany> {
    let shard = written(l)?;
    let mut own: heapless::Vec<u32, MAX_ITERS> = heapless::Vec::new();
    for it in &shard {
        let _ = own.push(it.extent_value()?);
    }
    if shapes.len() > MAX_SHAPES {
        return Err(Error::Capacity { limit: Limit::Shapes, max: MAX_SHAPES as u32 });
    }
    if shard.is_empty() || shapes.is_empty() || shapes.iter().any(|s| s.is_empty()) {
        return Err(Error::Rank { expected: 1, found: 0 });
    }
    let size = l.size_value()?;
    for (k, shape) in shapes.iter().enumerate() {
        if super::evaluate::product(shape)? != size {
            return Err(Error::CannotGroup {
                dim: position(shape.len()),
                iter: position(k),
                extent: 0,
            });
        }
    }
    // Boundaries are sizes of leading parts; equal ones (of extents of 1) are kept as often as they
    // occur most.
    let mut bounds = Boundaries::new();
    for sequence in shapes.iter().copied().chain([own.as_slice()]) {
        bounds.include(sequence)?;
    }
    let mut cuts = Iters::new();
    let places = bounds.places(&own)?;
    for (k, it) in shard.iter().enumerate() {
        let (from, to) = ends(&places, k);
        for at in from..to {
            let (extent, below) = bounds.step(at, to).ok_or(Error::CannotGroup {
                dim: position(at),
                iter: position(k),
                extent: 0,
            })?;
            push(&mut cuts, part(it, extent, below)?)?;
        }
    }
    let mut separators = heapless::Vec::new();
    for shape in shapes {
        let _ = separators.push(bounds.places(shape)?);
    }
    Ok(GroupedMany { layout: from_written(&cuts, l)?, separators })
}

fn ends(places: &Separators, k: usize) -> (usize, usize) {
    let at = |k: usize| places.get(k).copied().map_or(0, usize::from);
    (at(k), at(k.saturating_add(1)))
}

/// The common boundaries of several shapes, in increasing order; at most one more than iters fit.
struct Boundaries(heapless::Vec<u64, { MAX_ITERS + 1 }>);

impl Boundaries {
    fn new() -> Self {
        Self(heapless::Vec::new())
    }

    fn count(&self, value: u64) -> usize {
        self.0.iter().filter(|b| **b == value).count()
    }

    /// Adds the boundaries of a shape that are not there as often yet.
    fn include(&mut self, shape: &[u32]) -> Result<()> {
        let mut boundary = 1u64;
        let mut run = 0usize;
        for extent in [1].iter().chain(shape) {
            let next = boundary.checked_mul(u64::from(*extent)).ok_or(Error::Overflow)?;
            run = if next == boundary { run.saturating_add(1) } else { 1 };
            boundary = next;
            if run > self.count(boundary) {
                self.0
                    .push(boundary)
                    .map_err(|_| Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 })?;
                sort_by(&mut self.0, |a, b| a < b);
            }
        }
        Ok(())
    }

    /// Where the boundaries of a shape stand: of equal ones the first, second and so on, but the
    /// shape's last one at the very end.
    fn places(&self, shape: &[u32]) -> Result<Separators> {
        let mut out = Separators::new();
        let mut boundary = 1u64;
        mark(&mut out, 0)?;
        let mut at = 0usize;
        for (k, extent) in shape.iter().enumerate() {
            boundary = boundary.checked_mul(u64::from(*extent)).ok_or(Error::Overflow)?;
            let first = self.0.iter().filter(|b| **b < boundary).count();
            at = first.max(at.saturating_add(1));
            if k.saturating_add(1) == shape.len() {
                at = self.0.len().saturating_sub(1);
            }
            mark(&mut out, at)?;
        }
        Ok(out)
    }

    /// The extent between boundary `at` and the next, and how much lies between that and boundary
    /// `to`; `None` if a boundary does not divide.
    fn step(&self, at: usize, to: usize) -> Option<(u32, u32)> {
        let (low, high, end) =
            (*self.0.get(at)?, *self.0.get(at.checked_add(1)?)?, *self.0.get(to)?);
        if high.checked_rem(low)? != 0 || end.checked_rem(high)? != 0 {
            return None;
        }
        Some((
            u32::try_from(high.checked_div(low)?).ok()?,
            u32::try_from(end.checked_div(high)?).ok()?,
        ))
    }
}
