//! Why an operation on a layout is refused.
//!
//! One enum for the whole algebra; text errors are [`crate::notation::ParseError`]. Every variant
//! carries the numbers that matter (mode or iter position, extent, stride). Positions count from 0
//! in the order of the strided form, that is, fastest first. No variant holds a string; the host
//! renders them.
//!
//! ```
//! use lanebook_layout::error::{Error, Limit, NotLinear, NotStrided, Result};
//! use lanebook_layout::{AxisId, Layout, convert};
//!
//! // Errors are plain values with the place and the figures in them; texts are made where they are read.
//! let layout: Layout = Layout::leaf(24, 1)?;
//! let refused: Result<_> = convert::to_linear(&layout.view());
//! let Err(Error::NotLinear { iter: 0, extent: 24, why, .. }) = refused else { panic!() };
//! assert_eq!(why, NotLinear::Extent);
//! // Each says what it means, by itself and as a sentence.
//! let mut text = String::new();
//! Error::NotLinear { iter: 0, extent: 24, stride: 1, why }.write_text(&mut text)?;
//! assert!(text.contains("24"), "{text}");
//! assert!(!why.describe().is_empty() && !Limit::Bits.describe().is_empty() && !NotStrided::TwoAxes.describe().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::axis::AxisId;
use crate::sym::SymId;

/// Result of an operation on layouts.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// A capacity of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Limit {
    /// Shard and replica iters of one layout together.
    Iters,
    /// Top-level modes of one layout.
    Modes,
    /// Offsets (one an axis) of one layout.
    Offsets,
    /// Tokens of a profile: leaves and parentheses.
    Profile,
    /// Different axes in one coordinate.
    Axes,
    /// Interval paddings of one layout.
    Pads,
    /// Symbols multiplied in one number.
    SymFactors,
    /// Names in a [`crate::num::SymTable`], or bytes of one of them.
    Symbols,
    /// Dimensions on one side of a linear layout.
    Dims,
    /// Bits on one side of a linear layout.
    Bits,
    /// Shapes that a layout is grouped by at once.
    Shapes,
    /// Records, iters, tokens or offsets of a caller's arena.
    Arena,
}

/// Why a strided layout has no linear form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NotLinear {
    /// The extent is not a power of two.
    Extent,
    /// The stride is negative.
    NegativeStride,
    /// The contribution shares a bit with another on the same axis, so adding carries.
    Carry,
    /// The offset is not zero and a linear map has none (use [`crate::convert::to_affine`]).
    Offset,
    /// Interval padding is not linear.
    Padding,
    /// There are replicas, and the direction asked for has one value a point.
    Replica,
    /// The physical positions have a hole, so the map from hardware is not total.
    Hole,
}

/// Why a linear layout has no strided form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NotStrided {
    /// A column moves along two output dimensions at once.
    TwoAxes,
    /// Two columns share a bit, and no swizzle of the memory axis explains it.
    SharedBit,
}

/// Why a swizzle before a layout is none after it.
///
/// ```
/// # use lanebook_layout::error::{Error, NotSwizzle};
/// # use lanebook_layout::{NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // Steps of 3 mix the bits that the inner swizzle exchanges.
/// let refused = ops::compose(&of("64:3").view(), &of("S<1,0,3> o 0 o 64:1").view());
/// assert!(matches!(refused, Err(Error::NotSwizzle { why: NotSwizzle::Mixed, .. })));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NotSwizzle {
    /// No bit of the layout's positions shows the bit by itself.
    Mixed,
    /// The bits of the swizzle do not stay side by side, at one distance.
    Apart,
    /// The swizzle leaves the positions that there are.
    Outside,
}

/// Why an operation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Error {
    /// More than the capacity `max` of `limit`.
    Capacity {
        /// Which capacity.
        limit: Limit,
        /// Its value.
        max: u32,
    },
    /// A number left the 64-bit range (32 bits for an extent).
    Overflow,
    /// The value of a run-time symbol decides the answer.
    NeedsValue {
        /// The symbol.
        sym: SymId,
    },
    /// An exact answer was not found within the fixed number of steps.
    Undecided {
        /// The steps spent.
        steps: u32,
    },
    /// The profile is not a tree over exactly the shard iters.
    BadProfile {
        /// The shard iters.
        iters: u16,
        /// The leaves of the profile.
        leaves: u16,
    },
    /// An extent is zero or negative.
    BadExtent {
        /// Position of the iter (replicas count on after the shard).
        iter: u8,
    },
    /// A swizzle's fields overlap or leave the 63 usable bits: needs `|s| >= b` and `m + b + |s| <=
    /// 63`.
    BadSwizzle {
        /// Bits exchanged.
        b: u8,
        /// Bits left alone below.
        m: u8,
        /// Distance of source from target.
        s: i8,
    },
    /// A padding's interval is zero.
    BadPadding {
        /// Position of the pair.
        pair: u8,
    },
    /// A coordinate is not below its extent.
    OutOfRange {
        /// The mode (0 for a flat coordinate).
        mode: u8,
        /// The coordinate.
        coord: u64,
        /// The extent it must stay below.
        extent: u64,
    },
    /// The number of coordinates, modes or layouts does not fit.
    Rank {
        /// How many are needed.
        expected: u8,
        /// How many were given.
        found: u8,
    },
    /// A post-map or an inverse met a negative position.
    NegativeOffset {
        /// The position.
        offset: i64,
    },
    /// The operation is not defined for a layout that has a post-map.
    HasPostMap,
    /// The operation is not defined for a layout that has replicas of extent above 1.
    HasReplica,
    /// The operation is not defined for a layout whose offset is not zero.
    HasOffset {
        /// The axis of the offset.
        axis: AxisId,
    },
    /// The operation needs all iters on one axis, or on another axis than this.
    WrongAxis {
        /// Position of the offending iter.
        iter: u8,
        /// Its axis.
        axis: AxisId,
    },
    /// A stride is negative where that has no meaning.
    NegativeStride {
        /// Position of the iter.
        iter: u8,
        /// Its stride.
        stride: i64,
    },
    /// `compose(a, b)`: a stride of `b` neither divides nor is divided by the extent it meets in
    /// `a`.
    StrideDivisibility {
        /// The leaf of `b`.
        leaf: u8,
        /// What is left of its stride.
        stride: i64,
        /// The extent met in `a`, coalesced.
        extent: i64,
    },
    /// `compose(a, b)`: an extent of `b` is not a multiple of the run it takes from `a`.
    ExtentDivisibility {
        /// The leaf of `b`.
        leaf: u8,
        /// What is left of its extent.
        extent: i64,
        /// The run it takes.
        run: i64,
    },
    /// `compose(a, b)`: the leaves of `b` together carry out of a mode of `a`, so the result is not
    /// strided.
    Carry {
        /// The mode of `a`, coalesced.
        mode: u8,
        /// The largest digit that the leaves reach together.
        reach: i64,
        /// The extent it must stay below.
        extent: i64,
    },
    /// Two coordinates reach the same position.
    NotInjective {
        /// Position of the iter.
        iter: u8,
        /// Its stride.
        stride: i64,
        /// What the stride would have to be, or be a multiple of.
        unit: i64,
    },
    /// Steps of one iter fall between those of another, so that positions have no digits: no
    /// strided layout is the inverse or the complement. No two coordinates are shown to meet.
    Interleaved {
        /// Position of the iter.
        iter: u8,
        /// Its stride.
        stride: i64,
        /// What the stride would have to reach, or be a multiple of.
        unit: i64,
    },
    /// Positions are left out, so there is no exact inverse.
    NotSurjective {
        /// The axis with the hole.
        axis: AxisId,
        /// The stride found.
        stride: i64,
        /// The stride that would leave no hole.
        expected: i64,
    },
    /// The divisor is not a factor of the dividend.
    NotDivisible {
        /// The mode, or for a linear layout the input dimension's position.
        mode: u8,
        /// The iter of the divisor, or for a linear layout the bit.
        part: u8,
    },
    /// The strided layout has no linear form.
    NotLinear {
        /// Position of the offending iter (replicas count on after the shard).
        iter: u8,
        /// Its extent (0 if symbolic).
        extent: u32,
        /// Its stride (or the offset, or what is left of it).
        stride: i64,
        /// Why.
        why: NotLinear,
    },
    /// The linear layout has no strided form.
    NotStrided {
        /// Input dimension of the offending column.
        dim: AxisId,
        /// Bit within that dimension.
        bit: u8,
        /// The column, packed.
        column: u64,
        /// Why.
        why: NotStrided,
    },
    /// A swizzle before a layout is no swizzle after it.
    NotSwizzle {
        /// The bit of the position at which it ends; where bits are apart, after the layout.
        bit: u8,
        /// Why.
        why: NotSwizzle,
    },
    /// A layout has no such dimension or axis, or has it already.
    NoDim {
        /// The label.
        axis: AxisId,
    },
    /// A dimension has not the number of bits that the operation needs.
    DimBits {
        /// The label.
        axis: AxisId,
        /// Bits needed.
        expected: u8,
        /// Bits found.
        found: u8,
    },
    /// A linear system has no solution: this column is not reached.
    NoSolution {
        /// The column to be expressed, packed.
        column: u64,
        /// Its position.
        bit: u8,
    },
    /// The matrix is not square and of full rank.
    NotInvertible {
        /// Input bits.
        inputs: u8,
        /// Output bits.
        outputs: u8,
        /// The rank.
        rank: u8,
    },
    /// A fraction stands where an integer is needed; a denominator of 0 is no number at all.
    NotIntegral {
        /// The numerator, reduced.
        num: i64,
        /// The denominator.
        den: u32,
    },
    /// Two trees (shape, stride, coordinate, profile, tiler) do not have the structure that the
    /// operation needs.
    NotCongruent {
        /// Position of the first node that does not fit, in the order of the text, parentheses
        /// counted.
        node: u8,
    },
    /// A coordinate is negative, or not a number where one is needed.
    BadCoord {
        /// Its position among the leaves.
        leaf: u8,
        /// Its value.
        value: i64,
    },
    /// There is no such mode, or the range of modes is empty.
    NoMode {
        /// The mode asked for.
        mode: i16,
        /// The number of modes.
        rank: u8,
    },
    /// A shape is not divisible: neither the extent nor the divisor is a multiple of the other, or
    /// it rounds to 0, or the divisor is below 1 (an extent that is not known is then 0 here).
    ShapeDivisibility {
        /// The leaf of the shape.
        leaf: u8,
        /// Its extent.
        extent: i64,
        /// What is left of the divisor.
        divisor: i64,
    },
    /// One numbered axis is the prefix of another (`1@0` beside `1@1@0`), so that positions are no
    /// coordinate.
    NestedAxes {
        /// The shorter of the two.
        axis: AxisId,
    },
    /// A layout cannot be recast to elements of another width: a stride or offset falls between two
    /// of them.
    Recast {
        /// The iter, or 255 for the offset and 254 for the swizzle.
        iter: u8,
        /// Its stride, the offset, or the swizzle's `m`.
        value: i64,
        /// New over old width in bits, reduced: numerator.
        num: u16,
        /// Denominator.
        den: u16,
    },
    /// Two thread axes place the same scope in different ones, so no chain of scopes holds them.
    ScopeConflict {
        /// The axis met first.
        axis: AxisId,
        /// The axis that contradicts it.
        other: AxisId,
    },
    /// A thread axis is not connected with the innermost one by a chain of scopes.
    ScopeGap {
        /// The axis outside the chain.
        axis: AxisId,
    },
    /// It is not known whether this axis is one of threads or of memory.
    UnknownAxis {
        /// The axis.
        axis: AxisId,
    },
    /// The iters cannot be cut at the boundaries of a shape.
    CannotGroup {
        /// The dimension, as written, whose boundary falls inside an iter or beyond the last.
        dim: u8,
        /// The iter, as written, counted before any cut.
        iter: u8,
        /// The dimension's extent.
        extent: u32,
    },
    /// A number of elements, rows or columns is not what the constructor needs.
    BadShape {
        /// The dimension, as written.
        dim: u8,
        /// What was given.
        found: u32,
        /// What it must be or be a multiple of; 0 if the choices are a list.
        needed: u32,
    },
    /// There is no layout of this kind for elements of this width.
    BadElement {
        /// The element's bits.
        bits: u32,
    },
    /// The elements to be packed are not neighbours in memory.
    CannotPack {
        /// The iter, as written, that stands in the way (replicas and offsets count on after the
        /// shard).
        iter: u8,
        /// How many elements were to be packed.
        count: u32,
    },
    /// The region is empty, or no strided layout walks over it.
    CannotSlice {
        /// The dimension, as written.
        dim: u8,
        /// The region's first coordinate.
        begin: u32,
        /// One past the region's last coordinate.
        end: u32,
    },
    /// The numbers are no permutation, or the positions no increasing sequence.
    BadPermutation {
        /// The place of the offending number.
        at: u8,
        /// The number.
        value: u8,
    },
    /// There is no such variant.
    NoVariant {
        /// What was asked for.
        found: u32,
    },
}

const _: () = assert!(core::mem::size_of::<Error>() <= 40);
