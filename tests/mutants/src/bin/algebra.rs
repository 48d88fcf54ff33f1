//! `cargo run -p lanebook-mutants --bin algebra -- [--every N] [--records] [WORD]`: plants bugs in a copy of
//! the algebra (every Nth of the list; those whose file or text holds WORD) and prints who notices:
//! the recorded answers, and without `--records` the unit tests.
//! Exit status 1: one that nobody notices, or that does not apply.
use lanebook_mutants::algebra::{BUGS, Noticed, Workshop};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut every, mut tests, mut word) = (1usize, true, String::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--every" {
            every = args.next().and_then(|n| n.parse().ok()).unwrap_or(1).max(1);
        } else if arg == "--records" {
            tests = false;
        } else {
            word = arg;
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shop = match Workshop::new(&root, &root.join("target/algebra"), tests) {
        Ok(shop) => shop,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let (mut oracle, mut tests, mut nobody, mut faults) = (0, 0, 0, 0);
    let chosen = BUGS.iter().filter(|b| b.file.contains(&word) || b.what.contains(&word));
    for bug in chosen.step_by(every) {
        let by = match shop.plant(bug) {
            Ok(Noticed::Oracle(line)) => {
                oracle += 1;
                format!("oracle: {}", line.chars().take(100).collect::<String>())
            }
            Ok(Noticed::Test(name)) => {
                tests += 1;
                format!("test: {name}")
            }
            Ok(Noticed::Nobody) => {
                nobody += 1;
                "NOBODY".to_owned()
            }
            Err(why) => {
                faults += 1;
                format!("FAULT {why}")
            }
        };
        println!("{}: {}: {by}", bug.file, bug.what);
    }
    println!(
        "{oracle} by the oracle, {tests} by unit tests, {nobody} by nobody, {faults} faults of the list"
    );
    if nobody + faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
