//! The tables that a command works with: those that were built in, or a folder's.
use lanebook_gen::beside::{self, Beside};
use lanebook_gen::rules::certificate;
use lanebook_gen::{Mode, compile, load};
pub use lanebook_report::archs::{arch, counted, doubt, known_archs};
use lanebook_report::problem::{Kind, Problem, Problems};
use lanebook_tables::Tables;
use std::path::Path;

/// The tables to use.
pub fn of(folder: Option<&Path>) -> Result<Tables<'static>, Problems> {
    Ok(judged(folder)?.0)
}

/// The tables to use, and which rules of a folder are not proved as they stand there, if any: those
/// that are built in are all proved.
pub fn judged(folder: Option<&Path>) -> Result<(Tables<'static>, Option<String>), Problems> {
    let Some(root) = folder else { return Ok((lanebook::TABLES, None)) };
    whole(root)?;
    match compile(root, Mode::Draft) {
        Ok(compiled) => {
            let certificates = &compiled.rules.certificates;
            let names = certificate::unproved(&compiled.rules, &compiled.model, certificates);
            Ok((compiled.tables(), unproved(&names, root)))
        }
        Err(failure) => Err(Problems::Rendered(
            Kind::Refused,
            format!(
                "{}{} in {}\n",
                failure.full(),
                counted(failure.diagnostics.errors(), "error"),
                root.display()
            ),
        )),
    }
}

/// That rules are not proved: `a, b, c and 4 more`.
fn unproved(names: &[&str], root: &Path) -> Option<String> {
    let (shown, rest) = names.split_at(names.len().min(4));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    (!names.is_empty()).then(|| {
        format!(
            "warning: {} of {} not proved, so that what is computed may be wrong: {}{more}; help: `lanebook prove {}`",
            counted(names.len(), "rule"),
            root.display(),
            shown.join(", "),
            root.display(),
        )
    })
}

/// A folder that was named for its tables has them.
///
/// # Errors
/// The command line is wrong where it names another.
pub fn whole(root: &Path) -> Result<(), Problem> {
    let missing: Vec<&str> =
        load::FOLDERS.into_iter().filter(|name| !root.join(name).is_dir()).collect();
    let what = match (missing.is_empty(), root.is_dir()) {
        (true, _) => return Ok(()),
        (false, true) => {
            format!("{} has no folder {}", root.display(), missing.join(" and no folder "))
        }
        (false, false) => format!("there is no folder {}", root.display()),
    };
    Err(Problem::usage(
        what,
        "name a folder that holds hw-tables/ and rules/, such as a checkout of lanebook",
    ))
}

/// A set of rules from a file, over the operations of `tables`.
pub fn beside(tables: &Tables<'_>, file: &Path) -> Result<Beside, Problems> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        Problem::usage(
            format!("cannot read {}: {error}", file.display()),
            "name a file with a set of rules; rules/README.md says what it holds",
        )
    })?;
    beside::compile(tables, &file.display().to_string(), Some(file), &text).map_err(|failure| {
        let errors = counted(failure.diagnostics.errors(), "error");
        Problems::Rendered(
            Kind::Refused,
            format!("{}{errors} in {}\n", failure.full(), file.display()),
        )
    })
}
