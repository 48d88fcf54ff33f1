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
mod ids;
mod infer;
pub mod lint;
mod moved;
mod new_arch;
mod ops;
mod opt;
mod prove;
mod rules;
mod session;
mod show;
mod size;

use crate::args::{Cli, Command};
use crate::tables;
use lanebook_report::problem::Problems;

/// Runs a command.
pub fn run(cli: Cli) -> Result<(), Problems> {
    let folder = cli.tables.as_deref();
    let Some(command) = cli.command else { return session::run(&tables::of(folder)?) };
    match command {
        Command::Compile(args) => {
            let (tables, unproved) = tables::judged(folder)?;
            if let Some(unproved) = unproved {
                eprintln!("{unproved}");
            }
            compile::run(&args, &tables)
        }
        Command::Opt(args) => opt::run(&args, &tables::of(folder)?),
        Command::Rules(args) => rules::run(&args, &tables::of(folder)?),
        Command::Atoms(args) => atoms::run(&args, &tables::of(folder)?),
        Command::Ops(args) => ops::run(&args, &tables::of(folder)?),
        Command::Ask(args) => ask::run(&args, &tables::of(folder)?),
        Command::Convert(args) => convert::run(&args, &tables::of(folder)?),
        Command::Movement(args) => convert::movement(&args, &tables::of(folder)?),
        Command::Show(args) => show::run(&args, &tables::of(folder)?, cli.color),
        Command::Dispatch(args) => dispatch::run(&args, &tables::of(folder)?),
        Command::Arch(args) => arch::run(&args, &tables::of(folder)?),
        Command::Check(args) => check::run(&args, folder),
        Command::Infer(args) => infer::run(&args, &tables::of(folder)?, cli.color),
        Command::Lint(args) => lint::run(&args, &tables::of(folder)?),
        Command::Ids(args) => ids::run(&args, folder),
        Command::Prove(args) => prove::run(&args, folder),
        Command::Diff(args) => diff::run(&args, &tables::of(folder)?),
        Command::Size(args) => size::run(&args, &tables::of(folder)?),
        Command::NewArch(args) => new_arch::run(&args, folder),
        Command::Completions(args) => crate::manual::completions(&args),
        Command::Man(args) => crate::manual::man(&args),
    }
}
