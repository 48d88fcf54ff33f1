//! The tables that answers are compared on: the library's own, or others that were read at run
//! time.
use lanebook_gen::{Compiled, Mode};
use lanebook_tables::Tables;
use std::path::Path;
use std::sync::OnceLock;

static READ: OnceLock<Tables<'static>> = OnceLock::new();

/// The tables.
pub fn tables() -> &'static Tables<'static> {
    READ.get().unwrap_or(&lanebook::TABLES)
}

/// Takes the tables of a folder that holds `hw-tables/` and `rules/`, for the rest of the run.
///
/// # Errors
/// What is wrong with them.
pub fn read(root: &Path) -> Result<(), String> {
    let compiled: Compiled =
        lanebook_gen::compile(root, Mode::Draft).map_err(|failure| failure.plain())?;
    READ.set(compiled.tables()).map_err(|_| "tables were read before".to_string())
}
