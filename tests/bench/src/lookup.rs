//! Look-up by id and by name, beside a search through all names and the standard library's map.
use crate::report::Report;
use lanebook::TABLES;
use lanebook::tables::{ArchId, AtomId, Capability, DtypeId};
use lanebook_gen::dispatch::{answered, capabilities};
use std::collections::HashMap;

/// The section's heading.
pub const SECTION: &str = "Look-up (every name once a round, in order; time of one)";

/// Calls before the names begin again where they do not fit.
const ROUND: usize = 1024;
/// What a look-up by name may take.
const NAME_NANOSECONDS: f64 = 8.0;
/// What a look-up by capability may take.
const CAPABILITY_NANOSECONDS: f64 = 5.0;
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
        let map: HashMap<&str, usize> =
            names.iter().enumerate().map(|(id, name)| (*name, id)).collect();
        let perfect = effort.nanoseconds(|call| (kind.by_name)(round[call & (ROUND - 1)]));
        let std_map = effort.nanoseconds(|call| map.get(round[call & (ROUND - 1)]).copied());
        let search = effort
            .nanoseconds(|call| names.iter().position(|name| *name == round[call & (ROUND - 1)]));
        let id = effort.nanoseconds(|call| (kind.by_id)(((call & (ROUND - 1)) % LEAST) as u16));
        report.held(
            SECTION,
            format!("{} by name, {count} names", kind.what),
            perfect,
            "ns",
            std_map,
            "std HashMap",
        );
        report.held(
            SECTION,
            format!("{} by name, {count} names", kind.what),
            perfect,
            "ns",
            search,
            "search through the names",
        );
        report.held(
            SECTION,
            format!("{} by name, {count} names", kind.what),
            perfect,
            "ns",
            NAME_NANOSECONDS,
            "budget",
        );
        report.held(SECTION, format!("{} by id", kind.what), id, "ns", perfect, "the same by name");
    }
    for arch in
        TABLES.archs.iter().filter(|arch| ["sm_75", "sm_100a", "gfx942"].contains(&arch.name))
    {
        let wanted = answered(&TABLES, arch);
        let round: Vec<Capability> = wanted.iter().copied().cycle().take(ROUND).collect();
        let first = |found: &[AtomId]| found.first().map(|id| id.index());
        let hashed = effort.nanoseconds(|call| first(arch.dispatch(round[call & (ROUND - 1)])));
        // What asking would be without the index, the walk alone: each atom's capabilities are at
        // hand.
        let each: Vec<Vec<Capability>> = arch
            .atoms
            .iter()
            .map(|have| {
                TABLES.atom(have.atom).map_or_else(Vec::new, |atom| {
                    capabilities(&TABLES, atom, have.native).into_iter().map(|(c, _)| c).collect()
                })
            })
            .collect();
        let walked = effort.nanoseconds(|call| {
            each.iter().position(|can| can.contains(&round[call & (ROUND - 1)]))
        });
        let what = format!("{} by capability, {} of them", arch.name, wanted.len());
        report.held(SECTION, what.clone(), hashed, "ns", CAPABILITY_NANOSECONDS, "budget");
        report.held(SECTION, what, hashed, "ns", walked, "a walk over the architecture's atoms");
    }
}
