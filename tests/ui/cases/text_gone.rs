//! A program points into its text.
use lanebook::{TABLES, ir};

fn main() {
    let mut storage = ir::SmallStorage::new();
    let text = String::from("func @f() {threads = 32} {\n}");
    let program = ir::parse(storage.pools(), &TABLES, &text, ir::Options::default());
    drop(text);
    drop(program);
}
