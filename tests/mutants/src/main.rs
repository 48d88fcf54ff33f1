//! `cargo run --release -p lanebook-mutants -- [COUNT] [--seed N] [--assemblers off|require]
//! [--root DIR] [--slips N] [--all]`: plants wrong facts, and N slips of the hand, and prints what the audit catches, by kind, and every
//! one that it does not. Exit status 1: of some kind less than 75 % were caught.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::load;
use lanebook_mutants::{change, facts::Facts, judge::Judge, report, slips};
use std::path::PathBuf;
use std::process::ExitCode;

/// Wanted of each kind, in percent.
const FLOOR: usize = 75;

fn main() -> ExitCode {
    let (mut count, mut seed, mut assemblers) = (400usize, 1u64, true);
    let (mut root, mut all, mut slips) = (PathBuf::from("."), false, 0usize);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let known = match arg.as_str() {
            "--seed" => args.next().and_then(|n| n.parse().ok()).is_some_and(|n| {
                seed = n;
                true
            }),
            "--assemblers" => {
                let word = args.next();
                assemblers = word.as_deref() != Some("off");
                matches!(word.as_deref(), Some("off" | "require"))
            }
            "--root" => args.next().is_some_and(|folder| {
                root = folder.into();
                true
            }),
            "--slips" => args.next().and_then(|n| n.parse().ok()).is_some_and(|n| {
                slips = n;
                true
            }),
            "--all" => {
                all = true;
                true
            }
            number => number.parse().is_ok_and(|n| {
                count = n;
                true
            }),
        };
        if !known {
            eprintln!(
                "usage: lanebook-mutants [COUNT] [--seed N] [--assemblers off|require] [--root DIR] [--slips N] [--all]"
            );
            return ExitCode::from(2);
        }
    }
    let mut diags = Diagnostics::new();
    let sources = load::find(&root, &mut diags);
    let facts = Facts::of(&sources);
    let mut mutants = change::plan(&sources, &facts, count, seed);
    mutants.extend(slips::plan(&sources, slips, seed));
    let judge = match Judge::new(sources.clone(), assemblers) {
        Ok(judge) => judge,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let outcomes = judge.all(&mutants);
    print!("{}", report::survivors(&sources, &mutants, &outcomes, all));
    println!("\n{} facts, {} mutants, seed {seed}", facts.list.len(), mutants.len());
    print!("{}", report::table(&mutants, &outcomes));
    let weak = report::weak(&mutants, &outcomes, FLOOR);
    if weak.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("below {FLOOR} %: {}", weak.join(", "));
    ExitCode::FAILURE
}
