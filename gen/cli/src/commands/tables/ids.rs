//! `lanebook ids`: gives new atoms their stable numbers.
use crate::args::{Ids, TableFormat};
use crate::output;
use crate::tables::whole;
use lanebook_gen::{Mode, compile, load};
use lanebook_report::problem::{Kind, Problem, Problems};
use lanebook_report::table::{Align, Table};
use std::fs;
use std::path::Path;

/// Runs the command.
pub fn run(args: &Ids, folder: Option<&Path>) -> Result<(), Problems> {
    let root = args.root.as_deref().or(folder).unwrap_or(Path::new("."));
    whole(root)?;
    let path = root.join(load::LEDGER);
    let compiled = compile(root, Mode::Draft)
        .map_err(|failure| Problems::Rendered(Kind::Refused, failure.full()))?;
    let text = compiled.ledger();
    let old = match fs::read_to_string(&path) {
        Ok(old) => old,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(Problem::system(
                format!("cannot read {}: {error}", path.display()),
                "make it readable",
            )
            .into());
        }
    };
    if old == text {
        return said(args, &path, 0, format!("{} is current\n", path.display()));
    }
    output::write(Some(&path), &text)?;
    let added = text.lines().filter(|line| !old.lines().any(|o| o == *line)).count();
    said(
        args,
        &path,
        added,
        format!("{}: {added} lines new or changed; commit it\n", path.display()),
    )
}

/// What became of the ledger.
fn said(args: &Ids, path: &Path, changed: usize, words: String) -> Result<(), Problems> {
    let mut table = Table::new(&[("LEDGER", Align::Left), ("CHANGED", Align::Right)]);
    table.row([path.display().to_string(), changed.to_string()]);
    Ok(output::write(
        None,
        &if args.format == TableFormat::Text { words } else { args.format.of(&table) },
    )?)
}
