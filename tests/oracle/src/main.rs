//! The oracle runner: lanebook's answers beside those recorded from other systems.
//!
//! ```text
//! cargo run --release -p lanebook-oracle -- [--all] [--tables DIR] [DIR]
//! ```
//!
//! Reads every `.jsonl` under DIR (default: the project's copy in `tests/oracle/data`), finds the
//! suite that knows the records' shape, and prints one row a file. Exit status 1: a difference, a
//! record that no stated rule explains, or an unreadable file or record. Files of no known schema
//! are listed and do not fail the run. `--all` prints every difference instead of the first few of
//! each file. `--tables DIR` compares the tables of a folder that holds `hw-tables/` and `rules/`,
//! read now, in place of those that were built in.
//!
//! A new suite is a file in `suites/` and a line in [`SUITES`].

mod report;
mod runner;
mod suites;
#[cfg(feature = "tables")]
mod tables;
#[cfg(all(test, feature = "tables"))]
mod tests;

use std::path::PathBuf;
use std::process::ExitCode;
use suites::Suite;

/// The suites, in the order in which they are asked whether they know a record.
const SUITES: &[&dyn Suite] = &[
    &suites::cute::Cute,
    &suites::tirx::Tirx,
    #[cfg(feature = "tables")]
    &suites::triton::Triton,
    #[cfg(feature = "tables")]
    &suites::tilelang::TileLang,
    #[cfg(feature = "tables")]
    &suites::nvidia::Nvidia,
    #[cfg(feature = "tables")]
    &suites::amd::Amd,
];

/// The project's own copy of the recorded answers.
fn own_data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("data")
}

#[cfg(feature = "tables")]
use tables::read as read_tables;

#[cfg(not(feature = "tables"))]
fn read_tables(_: &std::path::Path) -> Result<(), String> {
    Err("this runner was built without tables".to_string())
}

/// How it is called.
const USAGE: &str = "usage: lanebook-oracle [--all] [--tables DIR] [DIR]";

fn main() -> ExitCode {
    let (mut dir, mut all) = (None, false);
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--all" {
            all = true;
        } else if arg == "--tables" {
            let read = args.next().ok_or_else(|| "which folder?".to_string());
            if let Err(why) = read.and_then(|root| read_tables(&PathBuf::from(root))) {
                eprintln!("--tables: {why}");
                return ExitCode::FAILURE;
            }
        } else if arg == "--help" || arg == "-h" {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        } else if dir.is_none() && !arg.to_string_lossy().starts_with('-') {
            dir = Some(PathBuf::from(arg));
        } else {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    let dir = dir.unwrap_or_else(own_data);
    let report = runner::run(&dir, SUITES);
    print!("{}", report.render(if all { usize::MAX } else { 5 }));
    if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
