//! `lanebook check`: the table compiler's checks, without a build.
use crate::args::Check;
use crate::output;
use crate::problem::{Kind, Problem, Problems};
use crate::tables::counted;
use lanebook_gen::{Mode, compile, load};

/// Runs the command.
pub fn run(args: &Check) -> Result<(), Problems> {
    let root = &args.root;
    for folder in load::FOLDERS {
        if !root.join(folder).is_dir() {
            let what = format!("{} has no folder {folder}", root.display());
            return Err(Problem::system(what, "name a folder that holds hw-tables/ and rules/, such as a checkout of lanebook").into());
        }
    }
    let mode = if args.draft { Mode::Draft } else { Mode::Release };
    match compile(root, mode) {
        Err(failure) => {
            let count = counted(failure.diagnostics.sorted().len(), "error");
            Err(Problems::Rendered(Kind::Refused, format!("{}{count}\n", failure.full())))
        }
        Ok(compiled) => {
            let tables = compiled.tables();
            let line = format!(
                "{}, {}, {}: no errors\n",
                counted(tables.archs.len(), "architecture"),
                counted(tables.atoms.len(), "atom"),
                counted(tables.rules.rules.len(), "rule")
            );
            Ok(output::write(None, &line)?)
        }
    }
}
