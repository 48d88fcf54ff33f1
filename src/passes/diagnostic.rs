//! Diagnostics with fixed texts.

/// What a pass has to say about an operation. The texts are the ones that log readers of the TileAS passes look for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Diagnostic {
    /// A buffer could not be traced to one allocation; the alias stays.
    LastWritten,
    /// A view reaches past its allocation; it is left as written.
    ViewOutside,
}

impl Diagnostic {
    /// The text, byte for byte, without a line break of its own unless the original has one.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::LastWritten => "Cannot find last written SSA.",
            Self::ViewOutside => "the view reaches past its allocation",
        }
    }
}
