//! What a program costs as it is planned and emitted: passes that would say what a planner decides
//! ask before they say it.
//!
//! Passes lie below whoever plans. A caller that can plan a program lends an [`Appraiser`];
//! without one, passes go by the shapes of products alone.
use core::fmt::Debug;
use lanebook_ir::{Annotate, Program};

/// What a program costs as it is planned and emitted.
///
/// ```
/// use lanebook::layout_seeding::ProgramPrice;
///
/// let own = ProgramPrice { executed: 400, written: 90 };
/// assert!(ProgramPrice { executed: 380, written: 90 }.is_at_most(own));
/// // Faster, but longer: neither is at most the other.
/// let longer = ProgramPrice { executed: 380, written: 120 };
/// assert!(!longer.is_at_most(own) && !own.is_at_most(longer));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProgramPrice {
    /// What its instructions and accesses cost, in quarters of an issue slot, those of loops as
    /// often as loops are taken to run.
    pub executed: u64,
    /// Instructions of its text.
    pub written: u32,
}

impl ProgramPrice {
    /// Whether it is no more than another in either way.
    #[must_use]
    pub const fn is_at_most(self, other: Self) -> bool {
        self.executed <= other.executed && self.written <= other.written
    }
}

/// Plans and emits programs, to say what they cost. It is called while passes run: what it takes of
/// the stack comes on top of what they take.
///
/// ```
/// use lanebook::ir::{Annotate, Program};
/// use lanebook::layout_seeding::{Appraiser, ProgramPrice};
///
/// /// The fewer operations the better.
/// #[derive(Debug)]
/// struct Count;
/// impl Appraiser for Count {
///     fn price(&mut self, program: &Program<'_, '_>, _: &dyn Annotate) -> Option<ProgramPrice> {
///         let written = u32::try_from(program.all().count()).ok()?;
///         Some(ProgramPrice { executed: written.into(), written })
///     }
/// }
/// let _: &dyn Appraiser = &Count;
/// ```
pub trait Appraiser: Debug {
    /// What a program costs; `None` if it is not compiled. `layouts` writes those that passes made.
    fn price(&mut self, program: &Program<'_, '_>, layouts: &dyn Annotate) -> Option<ProgramPrice>;
}
