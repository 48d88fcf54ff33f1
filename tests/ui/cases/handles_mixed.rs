//! A value is no operation, and an operation no block.
use lanebook::ir::{Block, Op, Value};

fn op(value: Value) -> Op {
    value
}

fn block(op: Op) -> Block {
    op
}

fn main() {}
