//! Diagnostics with fixed texts.

/// What a pass has to say about an operation. The texts are the ones that log readers of the TileAS
/// passes look for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Diagnostic {
    /// A buffer could not be traced to one allocation; the alias stays.
    LastWritten,
    /// A view reaches past its allocation; it is left as written.
    ViewOutside,
    /// `sliceCount` is no integer, or none that fits the loop's iterations.
    SliceCount,
    /// An operation in the loop cannot be copied for each slice.
    SliceOp,
    /// The loop's lower bound is neither a number nor an affine map of enclosing loops' variables.
    SliceLower,
    /// An initial value leaves the function or is carried by an outer loop.
    SliceInitial,
    /// An operation in a slice was not planned for.
    SliceInside,
    /// A copy has no layout yet, so no atom is known for it.
    SliceCopyAtom,
    /// The operations of a group have no kind of memory in common.
    NoCommonMemory,
    /// No candidate of an operation is legal; its group gets no layout.
    NoCandidate,
}

impl Diagnostic {
    /// The text, byte for byte, without a line break of its own unless the original has one.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::LastWritten => "Cannot find last written SSA.",
            Self::SliceCount => "The `sliceCount` need to be a `IntegerAttr`",
            Self::SliceOp => "unsupported op in Slicing pass",
            // The space at the end is part of it.
            Self::SliceLower => "unsupported op to be a lower bound in slicing pass ",
            Self::SliceInitial => "fail to get an initial forOperand in slicing pass",
            Self::SliceInside => "is not expected inside sliced part in SlicingPass",
            Self::SliceCopyAtom => "unsupported atom of copyOp in slicing pass",
            // The space before it and the line break behind it are part of it.
            Self::NoCommonMemory => " can not find common memKind among pipeline alias group\n",
            Self::NoCandidate => "no candidate layout fits every operation of this group",
            Self::ViewOutside => "the view reaches past its allocation",
        }
    }
}
