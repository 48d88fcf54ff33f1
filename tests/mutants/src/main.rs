//! Plants wrong facts in the tables, slips of the hand and misreadings, and prints what the audit catches, by kind,
//! and every one that it does not. Exit status 1: of some kind less than 75 % were caught.
//!
//! `cargo run --release -p lanebook-mutants -- 400 --slips 150 --seed 3`; of one kind alone:
//! `-- 60 --kind limits`. The other options: `--help`.
use clap::{Parser, ValueEnum};
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::load;
use lanebook_mutants::facts::{Facts, Kind};
use lanebook_mutants::{change, judge::Judge, knowledge, misreadings, omissions, report, slips};
use std::path::PathBuf;
use std::process::ExitCode;

/// Wanted of each kind, in percent.
const FLOOR: usize = 75;
/// Mutants of which is told at once.
const TOLD: usize = 16;

#[derive(Parser)]
struct Args {
    /// Wrong facts.
    #[arg(default_value_t = 400)]
    count: usize,
    /// Slips of the hand.
    #[arg(long, default_value_t = 0)]
    slips: usize,
    /// Misreadings of a manual.
    #[arg(long, default_value_t = 0)]
    misreadings: usize,
    /// Fields and words that are forgotten, or stand where they do not belong.
    #[arg(long, default_value_t = 0)]
    omissions: usize,
    /// Mistakes in the rules.
    #[arg(long, default_value_t = 0)]
    rules: usize,
    /// Which ones: the same number plants the same.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Whether the vendors' assemblers are asked.
    #[arg(long, value_enum, default_value_t = Assemblers::Require)]
    assemblers: Assemblers,
    /// The folder with hw-tables and rules.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// Of this kind alone, as the table names it; may be repeated.
    #[arg(long = "kind", value_name = "KIND", value_parser = kind)]
    kinds: Vec<Kind>,
    /// The caught ones are listed too, with what was said of them.
    #[arg(long)]
    all: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, ValueEnum)]
enum Assemblers {
    Off,
    Require,
}

fn kind(text: &str) -> Result<Kind, String> {
    let known = || report::kinds().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
    let found = report::kinds().find(|(_, name)| *name == text).map(|(kind, _)| kind);
    found.ok_or_else(|| format!("there are: {}", known()))
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut diags = Diagnostics::new();
    let sources = load::find(&args.root, &mut diags);
    let facts = Facts::of(&sources);
    let mut mutants = change::plan(&sources, &facts, &args.kinds, args.count, args.seed);
    mutants.extend(slips::plan(&sources, &args.kinds, args.slips, args.seed));
    mutants.extend(misreadings::plan(&sources, &args.kinds, args.misreadings, args.seed));
    mutants.extend(omissions::plan(&sources, &facts, &args.kinds, args.omissions, args.seed));
    mutants.extend(knowledge::plan(&sources, &args.kinds, args.rules, args.seed));
    let judge = match Judge::new(sources.clone(), args.assemblers == Assemblers::Require) {
        Ok(judge) => judge,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    // What is not caught is told while the others are judged: many of them take a while.
    let mut outcomes = Vec::new();
    for some in mutants.chunks(TOLD) {
        let judged = judge.all(some);
        print!("{}", report::survivors(&sources, some, &judged, args.all));
        outcomes.extend(judged);
    }
    println!("\n{} facts, {} mutants, seed {}", facts.list.len(), mutants.len(), args.seed);
    print!("{}", report::table(&mutants, &outcomes));
    let weak = report::weak(&mutants, &outcomes, FLOOR);
    if weak.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("below {FLOOR} %: {}", weak.join(", "));
    ExitCode::FAILURE
}
