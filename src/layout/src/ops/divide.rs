//! Dividing a layout by a tile, and repeating a layout as a tile.

use super::complement::{GapsEnd, push_complement, push_gaps, push_nested};
use super::{
    Iters, coalesced, compose, or_collision, or_symbol, push, push_composed, refuse_rest, tree_of,
};
use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_MODES, position};
use crate::num::Int;
use crate::post::PostMap;
use core::cmp::Ordering;

/// CuTe's logical divide, `a o (t, complement(t, size(a)))`: mode 0 is the tile, mode 1 the tiles.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::logical_divide(&of("16:3").view(), &of("4:2").view()).unwrap(), of("(4,(2,2)):(6,(3,24))"));
/// ```
///
/// # Errors
/// Those of [`super::complement`] (for `t`) and [`compose`].
pub fn logical_divide(a: &LayoutRef<'_>, t: &LayoutRef<'_>) -> Result<Layout> {
    compose(a, &with_complement(t, a.size()?)?.view())
}

/// Appends [`logical_divide`] as one node, without what `a` has beside its shard.
#[inline(never)]
pub(crate) fn push_divided(out: &mut Layout, a: &LayoutRef<'_>, t: &LayoutRef<'_>) -> Result<()> {
    let pair = with_complement(t, a.size()?)?;
    push_composed(out, a, &pair.view())?;
    Ok(())
}

/// The tile, and what it leaves of `size` positions.
fn with_complement(t: &LayoutRef<'_>, size: Int) -> Result<Layout> {
    refuse_rest(t)?;
    let mut out = Layout::new();
    out.open()?;
    out.push_node(t)?;
    push_complement(&mut out, t, size)?;
    out.close()?;
    Ok(out)
}

/// [`logical_divide`] of each of the first modes of `a` by its own tile; further modes are kept.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (rows, columns) = (of("2:1"), of("4:1"));
/// let tiles = [rows.view(), columns.view()];
/// let made = ops::logical_divide_by_mode(&of("(8,8):(8,1)").view(), &tiles).unwrap();
/// assert_eq!(made, of("((2,4),(4,2)):((8,16),(1,4))"));
/// ```
///
/// # Errors
/// [`Error::Rank`] if there are more tiles than modes; else those of [`logical_divide`].
pub fn logical_divide_by_mode(a: &LayoutRef<'_>, tiles: &[LayoutRef<'_>]) -> Result<Layout> {
    let rank = a.rank();
    if tiles.len() > rank || rank > MAX_MODES {
        return Err(Error::Rank { expected: position(rank), found: position(tiles.len()) });
    }
    let mut out = Layout::new();
    out.open()?;
    for (k, (shard, profile)) in a.modes().enumerate() {
        let mode = LayoutRef { profile, ..LayoutRef::new(shard) };
        match tiles.get(k) {
            Some(t) => push_divided(&mut out, &mode, t)?,
            None => out.push_node(&mode)?,
        }
    }
    out.close()?;
    out.copy_rest(a)?;
    Ok(out)
}

/// CuTe's logical product, `(a, complement(a, size(a) * cosize(b)) o b)`: `a` repeated at the tiles
/// that `b` counts.
///
/// If `b` stays at 0, no complement is needed, and none need exist. Where padding makes `a` longer
/// than its size, so that the cotarget is too small, repetitions still begin after whole blocks.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::logical_product(&of("(2,2):(4,1)").view(), &of("6:1").view()).unwrap(), of("((2,2),(2,3)):((4,1),(2,8))"));
/// ```
///
/// # Errors
/// Those of [`super::complement`] (for `a`) and [`compose`].
pub fn logical_product(a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<Layout> {
    let shard = LayoutRef { post: PostMap::None, offset: &[], ..*a };
    let mut out = Layout::new();
    push_multiplied(&mut out, &shard, b)?;
    out.copy_rest(a)?;
    Ok(out)
}

/// Appends [`logical_product`] as one node, without what `a` has beside its shard.
pub(crate) fn push_multiplied(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
) -> Result<()> {
    refuse_rest(a)?;
    out.open()?;
    out.push_node(a)?;
    push_repetition(out, a, b)?;
    out.close()
}

/// Appends the second mode of [`logical_product`] as one node.
#[inline(never)]
pub(crate) fn push_repetition(
    out: &mut Layout,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
) -> Result<()> {
    push_repetition_nested(out, a, b).map_err(|fault| or_collision(fault, a.shard))
}

fn push_repetition_nested(out: &mut Layout, a: &LayoutRef<'_>, b: &LayoutRef<'_>) -> Result<()> {
    refuse_rest(b)?;
    if is_still(b.shard) {
        return push_still(out, b);
    }
    let cosize = counted(b)?;
    let mut tiles = Layout::new();
    push_counted(&mut tiles, a, cosize)?;
    push_composed(out, &tiles.view(), b)?;
    Ok(())
}

/// How far a layout counts, plus 1. Where run-time values decide, one of them stands for it: what a
/// layout counts in is taken on beyond its end.
pub(crate) fn counted(b: &LayoutRef<'_>) -> Result<Int> {
    match b.cosize(AxisId::M) {
        Ok(cosize) => Ok(Int::known(cosize)),
        Err(Error::NeedsValue { sym }) => Ok(Int::sym(sym)),
        Err(fault) => Err(fault),
    }
}

/// Whether nothing of it moves.
pub(crate) fn is_still(iters: &[Iter]) -> bool {
    iters.iter().all(|it| it.is_unit() || it.stride() == Int::ZERO)
}

/// Appends where so many repetitions of `a` start; where strides do not nest, nobody asks whether
/// coordinates meet.
pub(crate) fn push_counted(tiles: &mut Layout, a: &LayoutRef<'_>, cosize: Int) -> Result<()> {
    if !cosize.syms().is_none() {
        return push_gaps(tiles, a, GapsEnd::Steps(cosize));
    }
    push_nested(tiles, a, a.size()?.checked_mul(cosize)?)?;
    if tiles.view().size()?.compare(cosize) == Some(Ordering::Less) {
        // Padding made `a` longer than its size says: what counts on must count whole blocks.
        *tiles = Layout::new();
        push_nested(tiles, a, span(a)?.checked_mul(cosize)?)?;
    }
    Ok(())
}

/// The greatest extent times stride.
fn span(a: &LayoutRef<'_>) -> Result<Int> {
    let mut top = Int::ONE;
    for it in a.shard.iter().filter(|it| !it.is_unit()) {
        let end = it.extent().checked_mul(it.stride())?;
        if end.compare(top) == Some(Ordering::Greater) {
            top = end;
        }
    }
    Ok(top)
}

/// Appends the tree of `b` with every stride 0.
pub(crate) fn push_still(out: &mut Layout, b: &LayoutRef<'_>) -> Result<()> {
    let mut iters = Iters::new();
    for it in b.shard {
        push(&mut iters, Iter::symbolic(it.extent(), Int::ZERO, AxisId::M)?)?;
    }
    out.push_node(&LayoutRef { profile: b.profile, ..LayoutRef::new(&iters) })
}

/// The exact quotient `q` with `l = q * atom`, `atom` being the fastest part: `l(x) = atom(x mod
/// size(atom)) + q(x div size(atom))`, per mode if both have the same rank above 1, else flat.
///
/// Strides of the quotient stay in the units of `l`. Replicas, offset and post-map of `l` are kept
/// in the quotient; the atom must not have any. The quotient's size is the number of atoms that
/// make up `l`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(ops::divide(&of("(64,64):(64,1)").view(), &of("(8,8):(64,1)").view()).unwrap(), of("(8,8):(512,8)"));
/// ```
///
/// # Errors
/// [`Error::NotDivisible`] with the mode and the atom's iter (coalesced, in that mode) that `l`
/// does not have.
pub fn divide(l: &LayoutRef<'_>, atom: &LayoutRef<'_>) -> Result<Layout> {
    refuse_rest(atom)?;
    let rank = l.rank();
    let mut out;
    if rank > 1 && rank == atom.rank() {
        if rank > MAX_MODES && !l.profile.is_flat() {
            return Err(Error::Capacity { limit: Limit::Modes, max: MAX_MODES as u32 });
        }
        out = Layout::new();
        out.open()?;
        for (k, ((whole, _), (part, _))) in l.modes().zip(atom.modes()).enumerate() {
            out.push_node(
                &tree_of(
                    &quotient(whole, part, position(k)).map_err(|e| or_symbol(e, whole))?,
                    whole,
                )?
                .view(),
            )?;
        }
        out.close()?;
    } else {
        out = tree_of(
            &quotient(l.shard, atom.shard, 0).map_err(|e| or_symbol(e, l.shard))?,
            l.shard,
        )?;
    }
    out.copy_rest(l)?;
    out.view().check()?;
    Ok(out)
}

/// The exact factor `c` with `l = c * upper`, `upper` being the slowest part: `l(x) = c(x mod
/// size(c)) + upper(x div size(c))`, per mode if both have the same rank above 1, else flat. The
/// strides of `upper` are in the units of `l`.
///
/// Replicas, offset and post-map of `l` are kept; `upper` must not have any.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let made = ops::divide_right(&of("32:1").view(), &of("4:8").view()).unwrap();
/// assert_eq!(made, of("8:1"));
/// ```
///
/// # Errors
/// As [`divide`]; parts count from the slowest.
pub fn divide_right(l: &LayoutRef<'_>, upper: &LayoutRef<'_>) -> Result<Layout> {
    refuse_rest(upper)?;
    let rank = l.rank();
    let mut out;
    if rank > 1 && rank == upper.rank() {
        if rank > MAX_MODES && !l.profile.is_flat() {
            return Err(Error::Capacity { limit: Limit::Modes, max: MAX_MODES as u32 });
        }
        out = Layout::new();
        out.open()?;
        for (k, ((whole, _), (part, _))) in l.modes().zip(upper.modes()).enumerate() {
            out.push_node(
                &tree_of(
                    &below(whole, part, position(k)).map_err(|e| or_symbol(e, whole))?,
                    whole,
                )?
                .view(),
            )?;
        }
        out.close()?;
    } else {
        out =
            tree_of(&below(l.shard, upper.shard, 0).map_err(|e| or_symbol(e, l.shard))?, l.shard)?;
    }
    out.copy_rest(l)?;
    out.view().check()?;
    Ok(out)
}

/// What is below `part` in `whole`.
fn below(whole: &[Iter], part: &[Iter], mode: u8) -> Result<Iters> {
    let (mut whole, part) = (coalesced(whole)?, coalesced(part)?);
    for (k, p) in part.iter().rev().enumerate() {
        let fault = Error::NotDivisible { mode, part: position(k) };
        let w = whole.pop().ok_or(fault)?;
        if w.axis() != p.axis() {
            return Err(fault);
        }
        let times = multiple(w.extent(), p.extent(), fault)?;
        same(w.stride().checked_mul(times)?, p.stride(), fault)?;
        if times != Int::ONE {
            push(&mut whole, Iter::symbolic(times, w.stride(), w.axis())?)?;
        }
    }
    Ok(whole)
}

fn quotient(whole: &[Iter], part: &[Iter], mode: u8) -> Result<Iters> {
    let (whole, part) = (coalesced(whole)?, coalesced(part)?);
    let mut rest = whole.iter().copied();
    let mut front = rest.next();
    for (k, p) in part.iter().enumerate() {
        let fault = Error::NotDivisible { mode, part: position(k) };
        let w = front.take().ok_or(fault)?;
        if w.axis() != p.axis() {
            return Err(fault);
        }
        same(w.stride(), p.stride(), fault)?;
        let times = multiple(w.extent(), p.extent(), fault)?;
        front = if times == Int::ONE {
            rest.next()
        } else {
            Some(Iter::symbolic(times, w.stride().checked_mul(p.extent())?, w.axis())?)
        };
    }
    let mut out = Iters::new();
    for it in front.into_iter().chain(rest) {
        push(&mut out, it)?;
    }
    Ok(out)
}

/// That two numbers are equal; the error names a symbol if its value decides.
fn same(a: Int, b: Int, fault: Error) -> Result<()> {
    if a == b {
        return Ok(());
    }
    Err(if a.compare(b).is_some() { fault } else { a.needs_value(b) })
}

/// `whole / part`; the error names a symbol if its value decides.
fn multiple(whole: Int, part: Int, fault: Error) -> Result<Int> {
    let known = whole.as_known().is_some() && part.as_known().is_some();
    whole.div_exact(part).ok_or(if known { fault } else { whole.needs_value(part) })
}
