//! What errors of the algebra say to a person.

use crate::error::{Error, Limit, NotLinear, NotStrided, NotSwizzle};

impl Limit {
    /// What there is room for, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Iters => "iters of one layout",
            Self::Modes => "modes of one layout",
            Self::Offsets => "offsets of one layout",
            Self::Profile => "leaves and parentheses of one profile",
            Self::Axes => "different axes of one coordinate",
            Self::Pads => "intervals of padding of one layout",
            Self::SymFactors => "symbols multiplied in one number",
            Self::Symbols => "symbols, or characters of one",
            Self::Dims => "dimensions on one side of a linear layout",
            Self::Bits => "bits on one side of a linear layout",
            Self::Shapes => "shapes that a layout is grouped by at once",
            Self::Arena => "entries of the lent arena",
        }
    }
}

impl NotLinear {
    /// Why, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Extent => "the extent is no power of two",
            Self::NegativeStride => "the stride is negative",
            Self::Carry => "its steps carry into those of another iter",
            Self::Offset => "there is an offset",
            Self::Padding => "there is padding",
            Self::Replica => "there are copies, and one value for each point is asked for",
            Self::Hole => "positions are left out",
        }
    }
}

impl NotStrided {
    /// Why, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::TwoAxes => "a column moves along two dimensions at once",
            Self::SharedBit => "two columns share a bit, and no swizzle explains it",
        }
    }
}

impl NotSwizzle {
    /// Why, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Mixed => "the layout moves the bit together with others",
            Self::Apart => "the layout moves its bits apart",
            Self::Outside => "it leaves the positions that there are",
        }
    }
}

crate::sentences! { Error, sink;
    Capacity { limit, max } => ("the layout needs more than ~ ~; join modes or take a part of it", max, limit.describe());
    Overflow => ("a number is too large or negative; choose a smaller one");
    NeedsValue {} => ("the value of a run-time symbol decides; write a number in its place");
    Undecided {} => ("no answer was found in a fixed number of steps; ask about a smaller layout");
    BadProfile {} => ("the trees have another structure; write both alike");
    BadExtent {} => ("an extent is below 1; leave the mode out");
    BadSwizzle { b, m, s } => ("S<~,~,~> has fields that overlap; it needs |S| >= B and M + B + |S| <= 63", b, m, s);
    BadPadding {} => ("a padding's interval is 0; give one of 1 or more");
    OutOfRange { coord, extent } => ("coordinate ~ is outside; give one below ~", coord, extent);
    Rank { expected, found } => ("~ are needed, and there are ~; give each mode one", expected, found);
    NegativeOffset {} => ("a position is negative; add an offset");
    HasPostMap => ("a swizzle or padding stands in the way; ask without it");
    HasReplica => ("there are copies; ask without them");
    HasOffset {} => ("there is an offset; ask without it");
    WrongAxis {} => ("all positions have to be on one axis; ask about a part of the layout");
    NegativeStride {} => ("a stride is negative; turn the mode round");
    StrideDivisibility { stride, extent } => ("stride ~ neither divides nor is divided by the extent ~ that it meets; choose a tile that fits", stride, extent);
    ExtentDivisibility { extent, run } => ("extent ~ is no multiple of the run ~ that it takes; choose a tile that fits", extent, run);
    Carry { reach, extent } => ("the second layout reaches ~, beyond extent ~ of a mode of the first; choose one that stays inside", reach, extent);
    NotInjective { iter, stride, unit } => ("elements meet: iter ~ has stride ~, and ~ or more are needed; only a layout without that has an inverse", iter, stride, unit);
    Interleaved { iter, stride, unit } => ("steps fall between steps: iter ~ has stride ~, and ~ or more are needed", iter, stride, unit);
    NotSurjective { stride, expected } => ("positions are left out: stride ~ where ~ leaves no gap; ask for right_inverse or left_inverse", stride, expected);
    NotDivisible {} => ("the second is no part of the first; choose an atom that tiles it");
    NotLinear { extent, stride, why } => ("extent ~ with stride ~ has no form by bits: ~; extents have to be powers of two that do not carry", extent, stride, why.describe());
    NotStrided { why } => ("the layout has no form by strides: ~", why.describe());
    NotSwizzle { bit, why } => ("the swizzle is none behind the layout, at bit ~: ~; ask about the linear form", bit, why.describe());
    NoDim {} => ("there is no such axis; ask for the layout alone to see its axes");
    DimBits {} => ("the numbers of bits differ; both have to be of the same elements");
    NoSolution {} => ("there is no inverse; positions are left out or meet");
    NotInvertible {} => ("there is no inverse; positions are left out or meet");
    NotIntegral {} => ("a fraction stands where an integer is needed");
    NotCongruent {} => ("the trees have another structure; write both alike");
    BadCoord {} => ("a coordinate is negative or no number; write numbers from 0");
    NoMode { mode, rank } => ("there is no mode ~ among ~", mode, rank);
    ShapeDivisibility { extent, divisor } => ("~ and ~ do not divide each other; choose a shape that divides", extent, divisor);
    NestedAxes {} => ("an axis is the beginning of another, so that positions are no coordinate");
    Recast { value, num, den } => ("~ falls between two elements of ~/~ the width; choose another width", value, num, den);
    ScopeConflict {} => ("two axes of threads place one scope in different ones; name axes of one chain");
    ScopeGap {} => ("an axis of threads is not connected with the innermost one; name the axes between");
    UnknownAxis {} => ("whether an axis is one of threads or of memory is not known; name a known one");
    CannotGroup { dim, extent } => ("the layout cannot be cut at the borders of dimension ~, extent ~", dim, extent);
    BadShape { dim, found, needed } => ("dimension ~ is ~, and ~ is needed", dim, found, needed);
    BadElement { bits } => ("there is no such layout for elements of ~ bits", bits);
    CannotPack {} => ("the elements are no neighbours in memory");
    CannotSlice {} => ("no layout walks over this region; choose another");
    BadPermutation {} => ("the numbers are no order; write each of 0, 1, ... once");
    NoVariant {} => ("there is no such variant; see what the function takes");
}
