//! Prints the report: `cargo run --release -p lanebook-bench`; with `-- passes room`, those parts
//! of it alone; with `-- --json` as JSON, for comparison of two commits; with `-- --steps` the
//! counted address instructions.
use lanebook_bench::{Effort, PARTS, Report, address, budget};

fn main() {
    let mut asked: Vec<String> = std::env::args().skip(1).collect();
    let json = asked.iter().any(|arg| arg == "--json");
    asked.retain(|arg| arg != "--json");
    if asked.iter().any(|arg| arg == "--steps") {
        return print!("{}", address::listing());
    }
    if let Some(unknown) = asked.iter().find(|arg| PARTS.iter().all(|(name, _)| name != arg)) {
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "{unknown}: no part of the report; there are {}, --json and --steps",
            names.join(", ")
        );
        std::process::exit(2);
    }
    if cfg!(debug_assertions) {
        eprintln!("note: built without optimisation; the times mean nothing (use --release)");
    }
    let mut report = Report::new(Effort::Full);
    for (name, measure) in PARTS {
        if asked.is_empty() || asked.iter().any(|arg| arg == name) {
            measure(&mut report);
        }
    }
    if json {
        return print!("{}", report.json());
    }
    print!("{report}");
    print!("{}", budget::table(&report));
}
