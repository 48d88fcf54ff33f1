//! Prints the report: `cargo run --release -p lanebook-bench`; with `-- passes room`, those parts
//! of it alone; with `-- --steps` the counted address instructions.
use lanebook_bench::{Effort, PARTS, Report, address};

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if asked.iter().any(|arg| arg == "--steps") {
        return print!("{}", address::listing());
    }
    if let Some(unknown) = asked.iter().find(|arg| PARTS.iter().all(|(name, _)| name != arg)) {
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        eprintln!("{unknown}: no part of the report; there are {} and --steps", names.join(", "));
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
    print!("{report}");
}
