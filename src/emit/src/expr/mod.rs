//! Index expressions: integer terms over lane, warp, loop and parameter variables, and the way to
//! instructions.
//!
//! - [`ExprArena`]: hash-consed nodes in the caller's storage, each with its [`BitFacts`] (known bits,
//!   range, uniformity, loop level);
//! - [`from_bits`]: the cheapest expression for a map from bits to byte columns;
//! - `simplify`: index rules applied to the roots; [`split_constant`] takes the immediate offset
//!   off;
//! - [`Selector`]: target rules cover the expressions with instructions, by cost, into a
//!   [`InstSink`];
//! - [`evaluate`]: the value for given variables, for tests and checks.
//!
//! Nothing recurses, allocates or panics; what the algebra and the instructions are stands in rule
//! tables, not here.
pub(crate) mod arena;
pub(crate) mod bits;
pub(crate) mod cover;
pub(crate) mod error;
pub(crate) mod eval;
pub(crate) mod facts;
pub(crate) mod reach;
pub(crate) mod select;
#[doc(hidden)]
pub mod simplify;
pub(crate) mod split;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub(crate) mod want;

pub use crate::expr::arena::{Expr, ExprArena, ExprId, ExprNode, MAX_NODES, VarId, Variable};
pub use crate::expr::bits::{BitColumn, Combine, MAX_BIT_COLUMNS, from_bits};
pub use crate::expr::cover::NodeChoice;
pub use crate::expr::error::ExprError;
pub use crate::expr::eval::evaluate;
pub use crate::expr::facts::BitFacts;
pub use crate::expr::select::Selector;
pub use crate::expr::simplify::{SimplifyScratch, simplify};
pub use crate::expr::split::{frontier, split_constant};
pub use crate::expr::step::{Arg, InstSink, Reg};
pub use crate::expr::want::{RegBank, SelectError, SelectScratch, Want};

/// Name of the phase whose rules simplify index expressions.
pub(crate) const SIMPLIFY: &str = "simplify";
/// Name of the phase whose rules select instructions.
#[doc(hidden)]
pub const SELECT: &str = "select";
