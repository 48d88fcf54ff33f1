//! The room of a program cannot be lent again while the program is in use.
use lanebook::{TABLES, ir};

fn main() {
    let mut storage = ir::SmallStorage::new();
    let first = ir::parse(storage.pools(), &TABLES, "", ir::Options::default());
    let second = ir::parse(storage.pools(), &TABLES, "", ir::Options::default());
    drop((first, second));
}
