//! `cargo run --release -p lanebook-assemble --example waits`: asks LLVM's hazard recogniser for
//! the wait states between pairs of instructions, and prints `hw-tables/amd/waits.ron`.
use lanebook_assemble::{tables, waits};
use std::process::ExitCode;

fn main() -> ExitCode {
    match waits::record(&tables(&[])) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
