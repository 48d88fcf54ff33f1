//! Layouts in notations of other systems, brought to the one that is planned in.
use crate::problem::Problem;
use crate::program::Source;
use crate::refused::of_compile;
use lanebook::ir;
use lanebook::written::{LayoutStorage, resolve_layouts};
use lanebook_tables::{Arch, ArchId, Tables};

/// Brings layouts in notations of other systems to one that is planned in.
pub(crate) fn resolve(
    tables: &Tables<'_>,
    (id, arch): (ArchId, &Arch<'_>),
    program: &mut ir::Program<'_, '_>,
    source: &Source,
) -> Result<(), Problem> {
    let Some(function) = program.functions().next() else { return Ok(()) };
    let mut storage = Box::new(LayoutStorage::new());
    resolve_layouts(tables, id, program, function, &mut storage)
        .map_err(|error| of_compile(tables, arch, program, source, &error))
}
