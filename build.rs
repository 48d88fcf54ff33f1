//! Compiles the tables.
fn main() {}
