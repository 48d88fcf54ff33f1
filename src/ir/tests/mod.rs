//! Tests of the tile IR.
mod edit;
mod errors;
mod fuzz;
mod graph;
mod journal;
mod limits;
mod number;
mod round;
mod seed;
mod support;
