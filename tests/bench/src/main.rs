//! Prints the report: `cargo run --release -p lanebook-bench`; with `-- passes room`, those parts
//! of it alone; with `-- --json` as JSON, of which `-- --against FILE` tells what is more and less than
//! then; with `-- --steps` the
//! counted address instructions; with `-- conversions [--all] [FILE]` conversions beside Triton's.
use lanebook_bench::{Effort, PARTS, Report, address, against, budget, conversions};

/// Every recorded conversion beside Triton's; status 1 where one is wrong, or the project's own
/// records cost more than their budget.
fn converted(args: &[String]) -> ! {
    let each = args.iter().any(|arg| arg == "--all");
    let file = args.iter().find(|arg| *arg != "--all");
    let path = file.map_or_else(conversions::own, std::path::PathBuf::from);
    let records = conversions::records(&path).unwrap_or_else(|e| {
        eprintln!("{e}");
        std::process::exit(2)
    });
    let budget = file.is_none().then_some(&conversions::BUDGET[..]);
    let (text, above) = conversions::table(&records, each, budget);
    print!("{text}");
    above.iter().for_each(|line| eprintln!("{line}"));
    std::process::exit(i32::from(!above.is_empty()))
}

fn main() {
    let mut asked: Vec<String> = std::env::args().skip(1).collect();
    if asked.first().is_some_and(|arg| arg == "conversions") {
        converted(&asked[1..]);
    }
    let older = asked.iter().position(|arg| arg == "--against").map(|at| {
        asked.remove(at);
        let file = (at < asked.len()).then(|| asked.remove(at));
        let text = file
            .ok_or("--against FILE".to_string())
            .and_then(|file| std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}")));
        text.unwrap_or_else(|e| {
            eprintln!("{e}");
            std::process::exit(2)
        })
    });
    let json = asked.iter().any(|arg| arg == "--json");
    asked.retain(|arg| arg != "--json");
    if asked.iter().any(|arg| arg == "--steps") {
        return print!("{}", address::listing());
    }
    if let Some(unknown) = asked.iter().find(|arg| PARTS.iter().all(|(name, _)| name != arg)) {
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "{unknown}: no part of the report; there are {}, --json, --against FILE and --steps",
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
        return print!("{}", against::document(&report));
    }
    if let Some(older) = older {
        match against::compared(&report, &older) {
            Ok(text) => return print!("{text}"),
            Err(e) => {
                eprintln!("{e}");
                std::process::exit(2)
            }
        }
    }
    print!("{report}");
    print!("{}", budget::table(&report));
}
