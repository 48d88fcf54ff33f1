//! `cargo run --release -p lanebook-kernels --example hunt -- [--seed S] [--first F] [--count N]
//! [--arch A]... [--kind K]... [--out DIR] [--fast]`: random programs on every architecture, see
//! `lanebook_kernels::hunt`. Wrong ones are made small and written to `target/hunt`, or to DIR.
//! `--fast` leaves out the assemblers, `--whole` the shrinking; `--seconds` ends it early;
//! `--print` prints the programs; `--refused WORD` makes small what is refused for a reason with
//! that word in it. Fails if something is wrong.

use lanebook_kernels::hunt::{Wish, hunt};
use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut wish = Wish {
        seed: 1,
        first: 0,
        count: 100,
        archs: Vec::new(),
        kinds: Vec::new(),
        seconds: None,
        assemble: true,
        shrink: true,
        refusal: None,
    };
    let mut out = PathBuf::from("target/hunt");
    let mut print = false;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word.as_str() {
            "--seed" => wish.seed = value().parse().unwrap_or(1),
            "--first" => wish.first = value().parse().unwrap_or(0),
            "--count" => wish.count = value().parse().unwrap_or(100),
            "--seconds" => wish.seconds = value().parse().ok(),
            "--arch" => wish.archs.push(value()),
            "--kind" => wish.kinds.push(value()),
            "--out" => out = value().into(),
            "--refused" => wish.refusal = Some(value()),
            "--fast" => wish.assemble = false,
            "--whole" => wish.shrink = false,
            "--print" => print = true,
            other => {
                eprintln!("unknown: {other}");
                return ExitCode::from(2);
            }
        }
    }
    if print {
        (wish.first..wish.first + wish.count)
            .filter_map(|k| wish.program(k))
            .for_each(|p| println!("// {}\n{}", p.kind, p.text("f")));
        return ExitCode::SUCCESS;
    }
    if let Err(e) = std::fs::create_dir_all(&out) {
        eprintln!("{}: {e}", out.display());
        return ExitCode::from(3);
    }
    // What is caught is reported; the default message would say it twice.
    std::panic::set_hook(Box::new(|_| {}));
    let report = hunt(&wish, |found| {
        println!("WRONG {found}");
        let class: String = found
            .symptom
            .class
            .chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect();
        let file = out
            .join(format!("{}_{}_{}_{class}.tile", found.program.kind, found.seed, found.number));
        if let Err(e) = std::fs::write(&file, found.to_string()) {
            eprintln!("{}: {e}", file.display());
        }
    });
    println!("{report}");
    if report.wrong == 0 && report.not_understood.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
