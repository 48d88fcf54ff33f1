//! Why a pass changed nothing: below the analyses that say so and the pipeline that hands it on.
use crate::{ChoiceError, Diagnostic};
use core::fmt::{Display, Formatter, Result};
use lanebook_ir::rewrite::RunError;
use lanebook_ir::{ErrorKind, Op};
use lanebook_layout::sentence;

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

impl Display for PassError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Unknown => f.write_str("no pass has this name"),
            // Of the program's graph only room is missing; what of it is the pool's to say.
            Self::Run(RunError::Graph(ErrorKind::Capacity { pool, limit })) => {
                sentence!(f, "more than ~ ~", *limit, pool.describe())
            }
            Self::Run(error) => error.fmt(f),
            Self::Choice(error) => error.fmt(f),
            Self::Refused { diagnostic, .. } => f.write_str(diagnostic.text()),
        }
    }
}

impl core::error::Error for PassError {}

#[cfg(test)]
mod tests {
    use super::{ErrorKind, Op, PassError, RunError};
    use crate::{ChoiceError, ChoicePool, Diagnostic};
    use lanebook_ir::Pool;
    use lanebook_layout::every_variant_speaks;
    use std::string::ToString;

    #[test]
    fn each_error_says_what_is_wrong() {
        let pool = ChoicePool::SeededLayouts;
        let count = every_variant_speaks!(ChoiceError:
            NoRoom, NoArch, NoWarps, WarpCount { warps: 6 }, Cluster, Sweeps, Full { pool, capacity: 3 });
        assert_eq!(count, 7);
        let (diagnostic, at) = (Diagnostic::SliceCount, Op::at(0).expect("an operation"));
        let count = every_variant_speaks!(PassError:
            Unknown, Run(RunError::Fuel { limit: 7 }), Choice(ChoiceError::NoArch),
            Refused { diagnostic, at });
        assert_eq!(count, 4);
        let graph = RunError::Graph(ErrorKind::Capacity { pool: Pool::Ops, limit: 7 });
        assert_eq!(PassError::Run(graph).to_string(), "more than 7 operations");
    }
}
