//! Arguments of `lint`.
use super::TableFormat;
use clap::Args;
use lanebook_report::lint::LINT_CHECKS;
use std::path::PathBuf;

const LINT: &str = "\
Examples:
  lanebook lint kernel.ttgir                     the module says the target
  lanebook lint kernel.ttgir --arch sm_90a --quiet
  lanebook lint *.ttgir --check bank-conflicts --check uncoalesced --format csv
  lanebook lint kernel.ttgir --format json | jq '.findings[] | select(.severity != \"note\")'
  lanebook lint --list                           what is looked for

Triton's TTGIR is read as Triton prints it. Each finding names its line, what to do, and a query (`lanebook ask`) that shows
it again. Exit status 1 where something is wrong; with --deny also where something is costly.";

/// Arguments of `lint`.
#[derive(Debug, Args)]
#[command(after_help = LINT)]
pub struct Lint {
    /// The programs; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Architecture; without it the one that the program's module names
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// Only what this check finds; may be given several times
    #[arg(long, value_name = "CHECK", value_parser = check_name)]
    pub check: Vec<String>,
    /// Leave notes out
    #[arg(short, long)]
    pub quiet: bool,
    /// Fail where something is costly, too
    #[arg(long)]
    pub deny: bool,
    /// List the checks
    #[arg(long)]
    pub list: bool,
    /// How to write what is found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Names of checks, for the command line.
fn check_name(name: &str) -> Result<String, String> {
    let known: Vec<&str> = LINT_CHECKS.iter().map(|(_, name, _)| *name).collect();
    match known.contains(&name) {
        true => Ok(name.to_string()),
        false => Err(format!("known: {}", known.join(", "))),
    }
}
