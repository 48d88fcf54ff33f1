//! The tables that a command works with: those that were built in, or a folder's.
use crate::problem::{Kind, Problem, Problems};
use lanebook_gen::beside::{self, Beside};
use lanebook_gen::suggest::nearest;
use lanebook_gen::{Mode, compile, load};
use lanebook_tables::{Arch, ArchId, Isa, Status, Tables};
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

/// The architecture with a name.
pub fn arch<'t>(
    tables: &Tables<'t>,
    name: &str,
) -> Result<(ArchId, &'t Arch<'t>, &'t Isa<'t>), Problem> {
    let found = tables.arch_named(name).and_then(|id| Some((id, tables.arch(id)?)));
    let found = found.and_then(|(id, arch)| Some((id, arch, tables.isa(arch.isa)?)));
    found.ok_or_else(|| {
        let known = known_archs(tables);
        let near = nearest(name, known.iter().copied())
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        Problem::usage(
            format!("unknown architecture `{name}`"),
            format!("{near}known: {}", known.join(", ")),
        )
    })
}

/// Names of all architectures in alphabetical order.
pub fn known_archs<'t>(tables: &Tables<'t>) -> Vec<&'t str> {
    let mut names: Vec<&str> = tables.archs.iter().map(|arch| arch.name).collect();
    names.sort_unstable();
    names
}

/// A status as people read it.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Verified => "verified",
        Status::Documented => "documented",
        Status::Measured => "measured",
        Status::OneSource => "one source",
        Status::Contested => "contested",
        Status::Assumed => "assumed",
    }
}

/// `3 errors`, `1 error`.
pub fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// How much a status is in doubt: the words stand from the most certain to the least.
pub const fn doubt(status: Status) -> u8 {
    status as u8
}
