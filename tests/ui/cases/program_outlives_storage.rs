//! A program does not outlive the pools that it lies in.
use lanebook::{TABLES, ir};

fn main() {
    let program = {
        let mut storage = ir::SmallStorage::new();
        ir::Program::new(storage.pools(), &TABLES, "")
    };
    drop(program);
}
