//! Why no layouts were chosen.

/// Why no layouts were chosen; the program is as it was.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ChoiceError {
    /// Choosing needs room that the caller did not lend.
    NoRoom,
    /// Neither the caller nor the program names an architecture that the tables have.
    NoArch,
    /// The program does not say how many warps work together, or a number that is none.
    NoWarps,
    /// So many warps share no tile out by bits.
    WarpCount {
        /// How many.
        warps: u32,
    },
    /// Blocks of a cluster share the tiles: which of them has what is not chosen here.
    Cluster,
    /// What is known of loops did not settle.
    Sweeps,
    /// Lent storage is full.
    Full {
        /// Which.
        pool: ChoicePool,
        /// How many it holds.
        capacity: u32,
    },
}

/// Storage that choosing layouts needs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ChoicePool {
    /// Layouts that were made.
    SeededLayouts,
    /// What is known of values.
    Facts,
    /// Candidates.
    Candidates,
    /// Members of groups.
    Members,
    /// Classes of linked accesses.
    Classes,
    /// Copy atoms of the architecture.
    CopyAtoms,
}

impl ChoicePool {
    /// What runs out, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::SeededLayouts => "layouts that are made",
            Self::Facts => "values to know of",
            Self::Candidates => "candidates",
            Self::Members => "members of groups",
            Self::Classes => "classes of linked accesses",
            Self::CopyAtoms => "instructions that move",
        }
    }
}

lanebook_layout::sentences! { ChoiceError, sink;
    NoRoom => ("choosing layouts needs room that was not lent");
    NoArch => ("for no architecture that the tables have");
    NoWarps => ("the program does not say how many warps work together");
    WarpCount { warps } => ("~ warps work together, and layouts share tiles out among a power of two", warps);
    Cluster => ("the blocks of a cluster share the module's tiles, and which of them has what is not chosen here");
    Sweeps => ("what is known of loops did not settle");
    Full { pool, capacity } => ("more than ~ ~", capacity, pool.describe());
}
