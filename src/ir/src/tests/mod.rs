//! Tests of the tile IR.
pub(crate) mod agents;
pub(crate) mod calls;
pub(crate) mod edit;
pub(crate) mod errors;
mod explain;
pub(crate) mod fuzz;
pub(crate) mod graph;
pub(crate) mod journal;
mod layouts;
pub(crate) mod limits;
pub(crate) mod number;
pub(crate) mod pairs;
pub(crate) mod parallel;
pub(crate) mod ranks;
pub(crate) mod round;
pub(crate) mod scalars;
pub(crate) mod seed;
pub(crate) mod support;
