//! Index expressions: integer terms over lane, warp, loop and parameter variables, and the way to
//! instructions.
//!
//! - [`Arena`]: hash-consed nodes in the caller's storage, each with its [`Facts`] (known bits,
//!   range, uniformity, loop level);
//! - [`from_bits`]: the cheapest expression for a map from bits to byte columns;
//! - [`simplify`]: index rules applied to the roots; [`split_constant`] takes the immediate offset
//!   off;
//! - [`Selector`]: target rules cover the expressions with instructions, by cost, into a
//!   [`StepSink`];
//! - [`evaluate`]: the value for given variables, for tests and checks.
//!
//! Nothing recurses, allocates or panics; what the algebra and the instructions are stands in rule
//! tables, not here.
mod arena;
mod bits;
mod cover;
mod error;
mod eval;
mod facts;
mod reach;
mod select;
mod simplify;
mod split;
mod step;
mod want;

pub use arena::{Arena, Expr, ExprId, MAX_NODES, Node, VarId, Variable};
pub use bits::{BitColumn, Combine, MAX_BIT_COLUMNS, from_bits};
pub use cover::Choice;
pub use error::ExprError;
pub use eval::evaluate;
pub use facts::Facts;
pub use select::Selector;
pub use simplify::{SimplifyScratch, simplify};
pub use split::{frontier, split_constant};
pub use step::{Arg, Reg, StepSink};
pub use want::{Place, SelectError, SelectScratch, Want};

#[cfg(test)]
mod tests;
