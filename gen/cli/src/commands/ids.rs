//! `lanebook ids`: gives new atoms their stable numbers.
use crate::args::Ids;
use crate::output;
use crate::tables::whole;
use lanebook_gen::{Mode, compile, load};
use lanebook_report::problem::{Kind, Problem, Problems};
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
        return Ok(output::write(None, &format!("{} is current\n", path.display()))?);
    }
    output::write(Some(&path), &text)?;
    let added = text.lines().filter(|line| !old.lines().any(|o| o == *line)).count();
    Ok(output::write(
        None,
        &format!("{}: {added} lines new or changed; commit it\n", path.display()),
    )?)
}
