//! Dividing shapes: CuTe's `shape_div` and `ceil_div`, and the element-wise division with a
//! rounding mode.

use super::tuple::{IntTuple, TupleRef};
use super::walk::{TreeStep, TreeWalk};
use crate::error::{Error, Result};
use crate::layout::position;
use crate::num::Int;
use crate::profile::{CLOSE, LEAF, OPEN};
use core::cmp::Ordering;

/// How an extent that is not a multiple of its divisor is rounded.
///
/// ```
/// # use lanebook_layout::cute::shape::{Rounding, div_each};
/// # use lanebook_layout::{Int, NoSyms, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let shape = tree("(8,20)");
/// assert_eq!(div_each(shape.view(), Int::known(8), Rounding::Floor).unwrap(), tree("(1,2)"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Rounding {
    /// It is refused.
    Exact,
    /// Up.
    Ceil,
    /// Down; a result of 0 is no extent and is refused.
    Floor,
}

/// CuTe's `shape_div`: an integer divisor is carried through the leaves of `a`, leftmost first
/// (`(4,6) / 8 = (1,3)`); a tuple divides by mode, and divides an integer by its product.
///
/// At each leaf one of extent and divisor must divide the other; a divisor is at least 1.
///
/// ```
/// # use lanebook_layout::{NoSyms, cute, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let made = cute::shape_div(tree("(4,8)").view(), tree("(2,4)").view()).unwrap();
/// assert_eq!(made, tree("(2,2)"));
/// ```
///
/// # Errors
/// [`Error::ShapeDivisibility`], [`Error::NotCongruent`], [`Error::NeedsValue`].
pub fn shape_div(a: TupleRef<'_>, b: TupleRef<'_>) -> Result<IntTuple> {
    let mut out = IntTuple::new();
    let missing = Error::NotCongruent { node: 0 };
    let mut extents = a.leaves().iter().enumerate();
    let mut divisors = b.leaves().iter();
    let mut walk = TreeWalk::exact(b.tokens(), a.tokens()).or_deeper();
    while let Some(step) = walk.step()? {
        match step {
            TreeStep::Open => out.open()?,
            TreeStep::Close => out.close()?,
            TreeStep::Deeper(tuple) => {
                let mut by = Int::ONE;
                for v in divisors.by_ref().take(crate::profile::leaves(tuple)) {
                    by = by.checked_mul(*v)?;
                }
                let (k, extent) = extents.next().ok_or(missing)?;
                out.push_leaf(carry(*extent, by, k)?.0)?;
            }
            TreeStep::Node(_, node) | TreeStep::Rest(node) => {
                let mut by = *divisors.next().ok_or(missing)?;
                for t in node {
                    match *t {
                        OPEN => out.open()?,
                        CLOSE => out.close()?,
                        _ => {
                            let (k, extent) = extents.next().ok_or(missing)?;
                            let (quotient, after) = carry(*extent, by, k)?;
                            out.push_leaf(quotient)?;
                            by = after;
                        }
                    }
                }
            }
        }
    }
    Ok(out)
}

/// One leaf: `extent / by`, and what is left of the divisor.
fn carry(extent: Int, by: Int, leaf: usize) -> Result<(Int, Int)> {
    // Zero is a multiple of every extent, and divides none.
    if let (Some(divisor @ ..1), extent) = (by.as_known(), extent.as_known().unwrap_or(0)) {
        return Err(Error::ShapeDivisibility { leaf: position(leaf), extent, divisor });
    }
    if let Some(quotient) = extent.div_exact(by) {
        return Ok((quotient, Int::ONE));
    }
    if let Some(after) = by.div_exact(extent) {
        return Ok((Int::ONE, after));
    }
    match (extent.as_known(), by.as_known()) {
        (Some(extent), Some(divisor)) => {
            Err(Error::ShapeDivisibility { leaf: position(leaf), extent, divisor })
        }
        _ => Err(extent.needs_value(by)),
    }
}

/// CuTe's `ceil_div`: by mode, an integer divides the size of the sub-shape, rounded up; a tuple
/// divides an extent by its product; modes of `a` that the tiler does not mention are kept
/// (`((32,2),4) / ((8,1))` is `((4,2),4)`).
///
/// ```
/// # use lanebook_layout::{NoSyms, cute, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let made = cute::ceil_div(tree("(100,64)").view(), tree("(16,64)").view()).unwrap();
/// assert_eq!(made, tree("(7,1)"));
/// ```
///
/// # Errors
/// [`Error::NotCongruent`] if the tiler has more modes; [`Error::ShapeDivisibility`] for a divisor
/// below 1; [`Error::NeedsValue`].
pub fn ceil_div(a: TupleRef<'_>, tiler: TupleRef<'_>) -> Result<IntTuple> {
    let mut out = IntTuple::new();
    if a.as_leaf().is_some() && tiler.rank() > 1 {
        return Err(Error::NotCongruent { node: 1 });
    }
    let (mut extents, mut divisors) = (a.leaves(), tiler.leaves());
    let mut walk = TreeWalk::partial(tiler.tokens(), a.tokens()).or_deeper();
    let mut leaf = 0usize;
    while let Some(step) = walk.step()? {
        // The node of `a`, and how many divisors meet it.
        let (node, count) = match step {
            TreeStep::Open => {
                out.open()?;
                continue;
            }
            TreeStep::Close => {
                out.close()?;
                continue;
            }
            TreeStep::Node(_, node) => (node, 1),
            TreeStep::Rest(node) => (node, 0),
            TreeStep::Deeper(tuple) => (&[LEAF][..], crate::profile::leaves(tuple)),
        };
        let missing = Error::NotCongruent { node: position(leaf) };
        let (own, after) = extents.split_at_checked(crate::profile::leaves(node)).ok_or(missing)?;
        let (by, rest) = divisors.split_at_checked(count).ok_or(missing)?;
        (extents, divisors) = (after, rest);
        if count == 0 {
            let mut numbers = own.iter();
            for t in node {
                match *t {
                    OPEN => out.open()?,
                    CLOSE => out.close()?,
                    _ => out.push_leaf(numbers.next().copied().unwrap_or(Int::ONE))?,
                }
            }
        } else {
            out.push_leaf(quotient(product(own)?, product(by)?, Rounding::Ceil, leaf)?)?;
        }
        leaf = leaf.saturating_add(own.len());
    }
    Ok(out)
}

fn product(numbers: &[Int]) -> Result<Int> {
    let mut out = Int::ONE;
    for v in numbers {
        out = out.checked_mul(*v)?;
    }
    Ok(out)
}

/// Divides every leaf of `a` by one integer, rounding as asked.
///
/// ```
/// # use lanebook_layout::cute::shape::{Rounding, div_each};
/// # use lanebook_layout::{Int, NoSyms, notation};
/// # let tree = |text: &str| notation::cute::parse_tuple(text, &mut NoSyms).unwrap();
/// let shape = tree("(8,(12,20))");
/// assert_eq!(div_each(shape.view(), Int::known(4), Rounding::Exact).unwrap(), tree("(2,(3,5))"));
/// assert!(div_each(shape.view(), Int::known(8), Rounding::Exact).is_err());
/// ```
///
/// # Errors
/// [`Error::ShapeDivisibility`] where [`Rounding::Exact`] does not come out even, where
/// [`Rounding::Floor`] gives 0, and for a divisor below 1; [`Error::NeedsValue`].
pub fn div_each(a: TupleRef<'_>, by: Int, rounding: Rounding) -> Result<IntTuple> {
    let mut out = IntTuple::new();
    let mut numbers = a.leaves().iter().enumerate();
    for t in a.tokens() {
        match *t {
            OPEN => out.open()?,
            CLOSE => out.close()?,
            _ => {
                let missing = Error::NotCongruent { node: 0 };
                let (k, extent) = numbers.next().ok_or(missing)?;
                out.push_leaf(quotient(*extent, by, rounding, k)?)?;
            }
        }
    }
    Ok(out)
}

/// One quotient, at least 1. Never forms `a + b - 1`, which could overflow.
fn quotient(a: Int, by: Int, rounding: Rounding, leaf: usize) -> Result<Int> {
    let fault =
        Error::ShapeDivisibility { leaf: position(leaf), extent: a.coeff(), divisor: by.coeff() };
    if by.coeff() < 1 || a.coeff() < 1 {
        return Err(fault);
    }
    if let Some(q) = a.div_exact(by) {
        return Ok(q);
    }
    if rounding == Rounding::Ceil && a.compare(by) == Some(Ordering::Less) {
        return Ok(Int::ONE);
    }
    if rounding == Rounding::Ceil {
        return a.ceil_div(by);
    }
    let (a, b) = (a.value()?, by.value()?);
    let down = a.checked_div(b).ok_or(fault)?;
    if rounding == Rounding::Exact || down < 1 { Err(fault) } else { Ok(Int::known(down)) }
}
