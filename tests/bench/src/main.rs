//! Prints the report: `cargo run --release -p lanebook-bench`; with `-- --steps` the counted address instructions.
fn main() {
    if std::env::args().any(|arg| arg == "--steps") {
        return print!("{}", lanebook_bench::address::listing());
    }
    if cfg!(debug_assertions) {
        eprintln!("note: built without optimisation; the times mean nothing (use --release)");
    }
    print!("{}", lanebook_bench::report(lanebook_bench::Effort::Full));
}
