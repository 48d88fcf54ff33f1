//! Why a pass changed nothing: below the analyses that say so and the pipeline that hands it on.
use crate::{ChoiceError, Diagnostic};
use lanebook_ir::rewrite::RunError;
use lanebook_ir::{ErrorKind, Op};

/// Why a pass changed nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PassError {
    /// No pass of this name in the tables.
    Unknown,
    /// A run ended early.
    Run(RunError<ErrorKind>),
    /// No layouts could be chosen.
    Choice(ChoiceError),
    /// An analysis cannot do what the program asks for.
    Refused {
        /// Why, with its fixed text.
        diagnostic: Diagnostic,
        /// The operation concerned.
        at: Op,
    },
}
