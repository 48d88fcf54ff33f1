//! Architectures by their names, and words for numbers and statuses.
use crate::problem::Problem;
use lanebook_suggest::nearest;
use lanebook_tables::{Arch, ArchId, Isa, Status, Tables};

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

/// `3 errors`, `1 error`.
pub fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// How much a status is in doubt: the words stand from the most certain to the least.
pub const fn doubt(status: Status) -> u8 {
    status as u8
}
