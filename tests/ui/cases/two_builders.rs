//! One builder at a time, and the program is the builder's as long as it builds.
use lanebook::{TABLES, ir};

fn main() {
    let mut storage = ir::SmallStorage::new();
    let mut program = ir::Program::new(storage.pools(), &TABLES, "").unwrap();
    let mut first = ir::Builder::new(&mut program);
    let second = ir::Builder::new(&mut program);
    let _ = first.int(0);
    drop(second);
    let builder = ir::Builder::new(&mut program);
    let count = program.functions().count();
    drop((builder, count));
}
