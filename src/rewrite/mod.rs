//! The rule engine: one matcher over compiled rules, for every term language.
//!
//! [`run`] takes nodes from a worklist, tries the rules of their root in the table's order, builds
//! the replacement of the first that matches and whose conditions hold, and goes on with the new
//! nodes. It never recurses, it is deterministic, each rewrite costs one unit of fuel, and when
//! fuel or room ends the graph is as it was before.
//!
//! It does not decide what a rule may do: that is checked when rules are compiled
//! (`rules/README.md`).
mod build;
mod engine;
mod graph;
mod matcher;
mod trace;

pub use engine::{RunError, Stats, Work, run};
pub use graph::{Bound, Graph, Terms, TileMake, View};
pub use matcher::{Binding, Swaps, find, matches, next_swaps};
pub(crate) use matcher::{Look, find_at, signed};
pub use trace::{Applied, Ring};

#[cfg(test)]
mod tests;
