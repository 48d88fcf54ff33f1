//! Arguments of `check`.
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const CHECK: &str = "\
Examples:
  lanebook check                                    the tables of the folder this is run in
  lanebook check hw-tables/amd                      only what concerns these files
  lanebook check ~/my-tables --tables ~/lanebook    further tables, upon those of a checkout
  lanebook check ~/lanebook --draft                 tables on the way: no ledger, no certificates asked for
  lanebook check --format sarif -o audit.sarif --deny warnings
                                                    for a code host; fails on warnings, too
  lanebook check --explain waits                    what a check demands, with an example
  lanebook check --write-baseline known.ron         what is found now; with --baseline known.ron it is left out
  lanebook check --against HEAD~1                   which facts the last commit changed, and which choices for the
                                                    example programs that alters

Findings of the text format go to standard error, its last line to standard output unless the audit fails. Other
formats go to standard output or -o. Their order is by file and place. Exit status 0: no errors (and with --deny
warnings no warnings); 1: there are; 4: none in PATHS, but errors in other files keep them from being judged in
full; 2 and 3 as for all commands. `lanebook check --list` names the checks.

check.ron beside hw-tables/ (or --config) holds what a project has decided; the command line goes before it:
  (
      levels: {\"unused\": allow, \"capacity\": warn, \"status\": deny},
      suppressed: [
          (check: \"siblings\", file: \"hw-tables/x/moves.ron\", says: \"the alignment\", reason: \"erratum 7 of the manual\", until: \"2027-06-30\"),
      ],
  )
A suppression that has ended, or that suppresses nothing, is a warning. Levels are those of the audit's own checks.";

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK)]
pub struct Check {
    /// A folder that holds hw-tables/ and rules/, files or folders inside one, or folders of
    /// further tables
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// How to write what was found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub format: Format,
    /// What counts as an error: `warnings`, `changes` (facts that differ from --against), or a check
    #[arg(long, value_name = "warnings|changes|CHECK")]
    pub deny: Vec<String>,
    /// Findings of this check are warnings
    #[arg(long, value_name = "CHECK")]
    pub warn: Vec<String>,
    /// Findings of this check are left out
    #[arg(long, value_name = "CHECK")]
    pub allow: Vec<String>,
    /// Levels and suppressions; without it check.ron beside hw-tables/, if there is one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Leave out the findings of this file
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write all errors and warnings to a file for --baseline
    #[arg(long, value_name = "FILE")]
    pub write_baseline: Option<PathBuf>,
    /// Say what a check demands, with an example; `all`: of all checks, as gen/CHECKS.md
    #[arg(long, value_name = "CHECK")]
    pub explain: Option<String>,
    /// Say which facts differ from another version: a folder, or a commit of the repository; and
    /// which choices follow
    #[arg(long, value_name = "REV|DIR")]
    pub against: Option<String>,
    /// Whether the vendors' assemblers judge the atoms' texts (LANEBOOK_PTXAS, LANEBOOK_LLVM_MC or
    /// the path say where they are)
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Assemblers::Auto)]
    pub assemblers: Assemblers,
    /// Where to keep what assemblers said, so that texts which have not changed are not assembled
    /// again; without it target/lanebook-check beside hw-tables/, if there is a target/
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Assemble everything anew, and keep nothing of it
    #[arg(long, conflicts_with = "cache")]
    pub no_cache: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show notes in text, too: facts that are contested or assumed
    #[arg(long)]
    pub notes: bool,
    /// Do not ask for stable numbers and proof certificates
    #[arg(long)]
    pub draft: bool,
    /// Name all checks with what they demand
    #[arg(long)]
    pub list: bool,
    /// Of each kind of fact, how many rest on hardware, on two sources, on one, on none
    #[arg(long)]
    pub coverage: bool,
    /// Compare the tables with the answers recorded of other systems as well: runs lanebook-oracle,
    /// which stands beside this program or in the path (LANEBOOK_ORACLE says where)
    #[arg(long)]
    pub oracle: bool,
}

/// Whether assemblers are asked.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Assemblers {
    /// Those that are found; the others are named as skipped
    Auto,
    /// All: one that is not found is an error
    Require,
    /// None
    Off,
}

/// Formats of findings.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: a line an editor understands, and the excerpt
    Text,
    /// One object, everything by name
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// JUnit XML, for CI servers
    Junit,
}

/// What can be denied beside a check: all warnings, and facts that differ from `--against`.
pub const DENIED: [&str; 2] = ["warnings", "changes"];
