//! The tables that a command works with: those that were built in, or a folder's.
use lanebook_gen::beside::{self, Beside};
use lanebook_gen::{Mode, compile, load};
pub use lanebook_report::archs::{arch, counted, doubt, known_archs};
use lanebook_report::problem::{Kind, Problem, Problems};
use lanebook_tables::Tables;
use std::path::Path;

/// The tables to use.
pub fn of(folder: Option<&Path>) -> Result<Tables<'static>, Problems> {
    let Some(root) = folder else { return Ok(lanebook::TABLES) };
    whole(root)?;
    match compile(root, Mode::Draft) {
        Ok(compiled) => Ok(compiled.tables()),
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
