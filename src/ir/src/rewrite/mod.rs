//! The rule engine: one matcher over compiled rules, for every term language.
//!
//! [`run`] takes nodes from a worklist, tries the rules of their root in the table's order, builds
//! the replacement of the first that matches and whose conditions hold, and goes on with the new
//! nodes. It never recurses, it is deterministic, each rewrite costs one unit of fuel, and when
//! fuel or room ends the graph is as it was before.
//!
//! It does not decide what a rule may do: that is checked when rules are compiled
//! (`rules/README.md`).
pub(crate) mod build;
pub(crate) mod engine;
pub(crate) mod graph;
pub(crate) mod matcher;
pub(crate) mod trace;

pub use crate::rewrite::engine::{RunError, Stats, Work, run};
pub use crate::rewrite::graph::{Bound, Graph, Terms, TileMake, View};
pub use crate::rewrite::matcher::{Binding, Swaps, find, matches, next_swaps};
#[doc(hidden)]
pub use crate::rewrite::matcher::{RootView, find_plausible, signed};
pub use crate::rewrite::trace::{Applied, Ring};
