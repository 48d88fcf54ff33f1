//! Look-up by id and by name, beside a search through all names and the standard library's map.
use crate::report::Report;
use lanebook::TABLES;
use lanebook::tables::{ArchId, AtomId, DtypeId};
use std::collections::HashMap;

/// The section's heading.
pub const SECTION: &str = "Look-up (every name once a round, in order; time of one)";

/// Calls before the names begin again where they do not fit.
const ROUND: usize = 1024;
/// Ids that are looked up; every table has so many or answers `None` as fast.
const LEAST: usize = 8;

/// One kind of names: all of them, the perfect map, and the table behind the ids.
struct Kind<'n> {
    what: &'static str,
    names: Vec<&'n str>,
    by_name: fn(&str) -> Option<usize>,
    by_id: fn(u16) -> usize,
}

/// Measures all kinds.
pub fn measure(report: &mut Report) {
    let effort = report.effort;
    let kinds = [
        Kind {
            what: "architecture",
            names: TABLES.archs.iter().map(|a| a.name).collect(),
            by_name: |name| TABLES.arch_named(name).map(ArchId::index),
            by_id: |id| TABLES.arch(ArchId(id)).map_or(0, |a| a.name.len()),
        },
        Kind {
            what: "atom",
            names: TABLES.atoms.iter().map(|a| a.name()).collect(),
            by_name: |name| TABLES.atom_named(name).map(AtomId::index),
            by_id: |id| TABLES.atom(AtomId(id)).map_or(0, |a| a.name().len()),
        },
        Kind {
            what: "element type",
            names: TABLES.dtypes.iter().map(|d| d.name).collect(),
            by_name: |name| TABLES.dtype_named(name).map(DtypeId::index),
            by_id: |id| TABLES.dtype(DtypeId(id)).map_or(0, |d| d.name.len()),
        },
    ];
    for kind in kinds {
        let names = &kind.names;
        let count = names.len();
        // A round repeated to a power of two: the index costs nothing worth measuring.
        let round: Vec<&str> = names.iter().copied().cycle().take(ROUND).collect();
        let map: HashMap<&str, usize> = names.iter().enumerate().map(|(id, name)| (*name, id)).collect();
        let perfect = effort.nanoseconds(|call| (kind.by_name)(round[call & (ROUND - 1)]));
        let std_map = effort.nanoseconds(|call| map.get(round[call & (ROUND - 1)]).copied());
        let search = effort.nanoseconds(|call| names.iter().position(|name| *name == round[call & (ROUND - 1)]));
        let id = effort.nanoseconds(|call| (kind.by_id)(((call & (ROUND - 1)) % LEAST) as u16));
        report.held(SECTION, format!("{} by name, {count} names", kind.what), perfect, "ns", std_map, "std HashMap");
        report.held(SECTION, format!("{} by name, {count} names", kind.what), perfect, "ns", search, "search through the names");
        report.held(SECTION, format!("{} by id", kind.what), id, "ns", perfect, "the same by name");
    }
}
