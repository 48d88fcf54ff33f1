//! The commands, one file each. Each makes its result as a text and writes it in one go.
mod against;
mod arch;
mod ask;
mod atoms;
mod check;
pub mod compile;
mod convert;
mod diff;
mod dispatch;
mod infer;
pub mod lint;
mod moved;
mod ops;
mod opt;
mod rules;
mod session;
mod show;
mod size;
mod tables;

use crate::args::{Cli, Command};
use crate::tables as chosen;
use lanebook_report::problem::Problems;

/// Runs a command.
pub fn run(cli: Cli) -> Result<(), Problems> {
    let folder = cli.tables.as_deref();
    let Some(command) = cli.command else { return session::run(&chosen::of(folder)?) };
    match command {
        Command::Compile(args) => {
            let (tables, unproved) = chosen::judged(folder)?;
            if let Some(unproved) = unproved {
                eprintln!("{unproved}");
            }
            compile::run(&args, &tables)
        }
        Command::Opt(args) => opt::run(&args, &chosen::of(folder)?),
        Command::Rules(args) => rules::run(&args, &chosen::of(folder)?),
        Command::Atoms(args) => atoms::run(&args, &chosen::of(folder)?),
        Command::Ops(args) => ops::run(&args, &chosen::of(folder)?),
        Command::Ask(args) => ask::run(&args, &chosen::of(folder)?),
        Command::Convert(args) => convert::run(&args, &chosen::of(folder)?),
        Command::Movement(args) => convert::movement(&args, &chosen::of(folder)?),
        Command::Show(args) => show::run(&args, &chosen::of(folder)?, cli.color),
        Command::Dispatch(args) => dispatch::run(&args, &chosen::of(folder)?),
        Command::Arch(args) => arch::run(&args, &chosen::of(folder)?),
        Command::Check(args) => check::run(&args, folder),
        Command::Infer(args) => infer::run(&args, &chosen::of(folder)?, cli.color),
        Command::Lint(args) => lint::run(&args, &chosen::of(folder)?),
        Command::Ids(args) => tables::ids::run(&args, folder),
        Command::Prove(args) => tables::prove::run(&args, folder),
        Command::Diff(args) => diff::run(&args, &chosen::of(folder)?),
        Command::Size(args) => size::run(&args, &chosen::of(folder)?),
        Command::NewArch(args) => tables::new_arch::run(&args, folder),
        Command::Completions(args) => crate::manual::completions(&args),
        Command::Man(args) => crate::manual::man(&args),
    }
}
