//! Prints the report: `cargo run --release -p lanebook-bench`.
fn main() {
    if cfg!(debug_assertions) {
        eprintln!("note: built without optimisation; the times mean nothing (use --release)");
    }
    print!("{}", lanebook_bench::report());
}
