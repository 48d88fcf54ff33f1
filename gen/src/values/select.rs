//! Leaving architectures out of compiled tables.
//!
//! A build for some architectures carries what these need and no more: their instruction sets, the
//! atoms that they have (and those that their frames name), and of the target rules those that make
//! only such atoms. Everything has been checked before, left out or not. Ids are dense again
//! afterwards; stable numbers stay what they are.
use crate::diagnostics::Diagnostic;
use crate::leak::{list, one, shared};
use crate::names::perfect;
use lanebook_tables as t;
use std::collections::{BTreeMap, BTreeSet};

/// The variable of the build that lists architectures.
pub const VARIABLE: &str = "LANEBOOK_ARCHS";

/// The architectures that a comma list names; `None` stands for all (an empty list).
#[must_use]
pub fn listed(list: &str) -> Option<Vec<String>> {
    let names: Vec<String> = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_string)
        .collect();
    (!names.is_empty()).then_some(names)
}

/// The tables with the named architectures only, in the order that they have there.
///
/// # Errors
/// One for each name that no architecture has.
pub fn select(
    tables: &t::Tables<'static>,
    names: &[String],
) -> Result<t::Tables<'static>, Vec<Diagnostic>> {
    let known: Vec<&str> = tables.archs.iter().map(|arch| arch.name).collect();
    let unknown = unknown(names, &known);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let archs: Vec<&t::Arch<'static>> =
        tables.archs.iter().filter(|arch| names.iter().any(|name| name == arch.name)).collect();
    let isas = Kept::new(archs.iter().map(|arch| arch.isa.0).collect());
    let of_units = crate::lower_units::atoms(&tables.units, &features(&archs));
    let atoms = archs
        .iter()
        .flat_map(|arch| of_arch(arch))
        .chain(isas.of(tables.isas).flat_map(of_frame))
        .chain(of_units)
        .map(|id| id.0);
    let atoms = Kept::new(atoms.collect());
    Ok(crate::dispatch::indexed(kept(tables, &archs, Keep { isas, atoms }, |_| true)))
}

/// The tables that planning and emission need: without names of operands, rules and atoms (but for
/// movers, which a program may name), without sources, without what passes over the tile IR read,
/// and without matrix instructions that are no product of dense operands, which are not planned.
/// Ids of atoms and rules differ from those of `tables`.
#[must_use]
pub fn lean(tables: &t::Tables<'static>) -> t::Tables<'static> {
    let archs: Vec<&t::Arch<'static>> = tables.archs.iter().collect();
    let planned = |atom: &t::Atom<'_>| {
        atom.matrix.is_none()
            || atom.product().is_some()
            || atom.tensor().is_some()
            || atom.scaled().is_some()
    };
    let referred = archs
        .iter()
        .flat_map(|arch| beside(arch))
        .chain(tables.isas.iter().flat_map(of_frame))
        .map(|id| id.0);
    let referred = referred.chain(
        crate::lower_units::atoms(&tables.units, &features(&archs)).into_iter().map(|id| id.0),
    );
    let atoms = (0..)
        .zip(tables.atoms)
        .filter(|(_, atom)| planned(atom))
        .map(|(id, _)| id)
        .chain(referred)
        .collect();
    let isas = Kept::new((0..).take(tables.isas.len()).collect());
    let chosen = kept(tables, &archs, Keep { isas, atoms: Kept::new(atoms) }, |rule| {
        rule.language != t::Language::Tile
    });
    let mut operands: BTreeMap<*const t::Operand<'static>, &'static t::Operand<'static>> =
        BTreeMap::new();
    let mut operand = |of: &'static t::Operand<'static>| {
        *operands.entry(of).or_insert_with(|| one(t::Operand { name: t::Name::EMPTY, ..*of }))
    };
    let movers: Vec<(&str, u16)> = chosen
        .atoms
        .iter()
        .zip(0..)
        .filter(|(atom, _)| atom.class == t::AtomClass::Move)
        .map(|(atom, id)| (atom.name(), id))
        .collect();
    // The others are for people.
    let named_features = crate::lower_units::with_facts(&chosen.units);
    let engine_reads = |feature: &&t::FeatureId| feature.index() < named_features;
    crate::dispatch::indexed(t::Tables {
        archs: list(chosen.archs.iter().map(|arch| t::Arch {
            vendor: "",
            sources: &[],
            features: list(arch.features.iter().filter(engine_reads).copied()),
            banks: list(arch.banks.iter().map(|model| t::BankModel { sources: &[], ..*model })),
            sync: list(arch.sync.iter().map(|rule| t::SyncRule { sources: &[], ..*rule })),
            ..*arch
        })),
        atoms: list(chosen.atoms.iter().map(|atom| {
            // A program may say by name what moves a tile.
            let named = atom.note.filter(|_| atom.class == t::AtomClass::Move).map(|note| {
                one(t::AtomNote {
                    name: note.name,
                    stable: 0,
                    feature: t::FeatureId(0),
                    sources: t::List::EMPTY,
                })
            });
            t::Atom {
                note: named,
                operands: t::Operands(shared(atom.operands.iter().map(&mut operand))),
                ..*atom
            }
        })),
        rules: t::Rules { names: &[], docs: &[], passes: &[], ..chosen.rules },
        accesses: &[],
        tags: &[],
        sources: &[],
        units: t::Units {
            features: chosen.units.features.get(..named_features).unwrap_or_default(),
            ..chosen.units
        },
        seeding: t::Seeding::EMPTY,
        contract: crate::rules::contract::lean(&tables.contract),
        // An operation that instructions do needs no other operations in its place.
        sequences: list(tables.sequences.iter().copied().filter(|one| {
            let Some((least, most)) = tables.op(one.op).map(|op| op.operands) else { return true };
            let (word, arity) = (t::OpWord::Op(one.op), usize::from(least));
            let does = |arch: &&t::Arch<'_>| {
                least == most && tables.is_done(arch, word, arity, (one.from, one.to))
            };
            !archs.iter().all(does)
        })),
        // Of those alone that have names.
        atom_names: perfect(&movers).leak(),
        ..chosen
    })
}

/// What emission reads of the lean tables: neither what a program may say nor what planning puts in
/// its place. Ids are those of the lean tables, as plans have them.
#[must_use]
pub fn emission(lean: &t::Tables<'static>) -> t::Tables<'static> {
    t::Tables { contract: t::Contract::EMPTY, sequences: &[], ..*lean }
}

/// Features that some of these architectures have.
fn features(archs: &[&t::Arch<'static>]) -> Vec<t::FeatureId> {
    archs.iter().flat_map(|arch| arch.features).copied().collect()
}

/// What remains of the tables, with ids made dense: some architectures and rules.
fn kept(
    tables: &t::Tables<'static>,
    archs: &[&t::Arch<'static>],
    keep: Keep,
    wanted: impl Fn(&t::Rule<'_>) -> bool,
) -> t::Tables<'static> {
    let features = features(archs);
    let stays = |rule: &t::Rule<'_>| {
        wanted(rule) && rule.replacement.iter().all(|node| keep.buildable(node))
    };
    let rules = Kept::new(
        (0..).zip(tables.rules.rules).filter(|(_, rule)| stays(rule)).map(|(id, _)| id).collect(),
    );
    t::Tables {
        isas: list(keep.isas.of(tables.isas).map(|isa| keep.isa(isa))),
        archs: list(archs.iter().map(|arch| keep.arch(arch))),
        atoms: list(
            keep.atoms
                .of(tables.atoms)
                .map(|atom| t::Atom { isa: t::IsaId(keep.isas.new_of(atom.isa.0)), ..*atom }),
        ),
        rules: keep.rules(&tables.rules, &rules),
        units: crate::lower_units::select(&tables.units, &features, |id| keep.atom(id)),
        arch_names: named(archs.iter().map(|arch| arch.name)),
        atom_names: named(keep.atoms.of(tables.atoms).map(t::Atom::name)),
        ..*tables
    }
}

/// An error for each name that is none of the known architectures.
pub(crate) fn unknown(names: &[String], known: &[&str]) -> Vec<Diagnostic> {
    names
        .iter()
        .filter(|name| !known.contains(&name.as_str()))
        .map(|name| refused(name, known))
        .collect()
}

fn refused(name: &str, known: &[&str]) -> Diagnostic {
    let near = lanebook_suggest::nearest(name, known.iter().copied())
        .map(|near| format!("did you mean `{near}`? "))
        .unwrap_or_default();
    Diagnostic::nowhere(format!("{VARIABLE} names an unknown architecture `{name}`"))
        .help(format!("{near}known are {}", known.join(", ")))
        .lacks(name)
}

fn named<'a>(names: impl Iterator<Item = &'a str>) -> t::NameMap<'static> {
    perfect(&names.zip(0..).collect::<Vec<_>>()).leak()
}

/// Atoms that an architecture refers to.
fn of_arch(arch: &t::Arch<'_>) -> Vec<t::AtomId> {
    arch.atoms.iter().map(|a| a.atom).chain(beside(arch)).collect()
}

/// Atoms that an architecture refers to beside its list.
fn beside(arch: &t::Arch<'_>) -> Vec<t::AtomId> {
    let synchronising = arch.sync.iter().flat_map(|rule| rule.steps).map(|step| step.atom);
    synchronising
        .chain(arch.counters.iter().map(|counter| counter.wait))
        .chain(arch.hazards.iter().filter_map(|hazard| hazard.wait))
        .collect()
}

/// Atoms that an instruction set refers to.
fn of_frame(isa: &t::Isa<'_>) -> Vec<t::AtomId> {
    let needed =
        [isa.load_param32, isa.load_param64, isa.branch, isa.branch_if, isa.compare_less, isa.end];
    needed
        .into_iter()
        .chain(
            [
                isa.param_address,
                isa.read_thread,
                isa.make_uniform,
                isa.shared_base,
                isa.nop,
                isa.divide,
                isa.leading_zeros,
                isa.compare_signed,
            ]
            .into_iter()
            .flatten(),
        )
        .chain(isa.read_block.iter().chain(isa.read_blocks).copied())
        .chain(isa.guard.and_then(|guard| guard.test))
        .collect()
}

/// Entries of a table that stay; the new id of one is its place among them.
struct Kept(Vec<u16>);

impl Kept {
    fn new(ids: BTreeSet<u16>) -> Self {
        Self(ids.into_iter().collect())
    }
    fn new_id(&self, old: u16) -> Option<u16> {
        self.0.binary_search(&old).ok().and_then(|at| u16::try_from(at).ok())
    }
    /// The new id of an entry that was collected.
    fn new_of(&self, old: u16) -> u16 {
        self.new_id(old).unwrap_or(0)
    }
    fn of<'t, T>(&self, table: &'t [T]) -> impl Iterator<Item = &'t T> {
        self.0.iter().filter_map(|id| table.get(usize::from(*id)))
    }
}

struct Keep {
    isas: Kept,
    atoms: Kept,
}

impl Keep {
    fn atom(&self, id: t::AtomId) -> t::AtomId {
        t::AtomId(self.atoms.new_of(id.0))
    }

    /// Whether a node of a replacement makes nothing that is left out.
    fn buildable(&self, node: &t::BuildNode) -> bool {
        match node {
            t::BuildNode::Inst(atom, _) => self.atoms.new_id(atom.0).is_some(),
            _ => true,
        }
    }

    fn isa(&self, isa: &t::Isa<'static>) -> t::Isa<'static> {
        t::Isa {
            read_thread: isa.read_thread.map(|id| self.atom(id)),
            read_block: list(isa.read_block.iter().map(|id| self.atom(*id))),
            read_blocks: list(isa.read_blocks.iter().map(|id| self.atom(*id))),
            divide: isa.divide.map(|id| self.atom(id)),
            leading_zeros: isa.leading_zeros.map(|id| self.atom(id)),
            compare_signed: isa.compare_signed.map(|id| self.atom(id)),
            load_param32: self.atom(isa.load_param32),
            load_param64: self.atom(isa.load_param64),
            param_address: isa.param_address.map(|id| self.atom(id)),
            make_uniform: isa.make_uniform.map(|id| self.atom(id)),
            shared_base: isa.shared_base.map(|id| self.atom(id)),
            branch: self.atom(isa.branch),
            branch_if: self.atom(isa.branch_if),
            compare_less: self.atom(isa.compare_less),
            guard: isa
                .guard
                .map(|guard| t::LaneGuard { test: guard.test.map(|id| self.atom(id)), ..guard }),
            end: self.atom(isa.end),
            nop: isa.nop.map(|id| self.atom(id)),
            ..*isa
        }
    }

    fn arch(&self, arch: &t::Arch<'static>) -> t::Arch<'static> {
        let steps = |steps: &[t::SyncStep<'static>]| {
            list(steps.iter().map(|step| t::SyncStep { atom: self.atom(step.atom), ..*step }))
        };
        t::Arch {
            isa: t::IsaId(self.isas.new_of(arch.isa.0)),
            atoms: list(arch.atoms.iter().filter_map(|a| {
                Some(t::ArchAtom { atom: t::AtomId(self.atoms.new_id(a.atom.0)?), ..*a })
            })),
            sync: list(
                arch.sync.iter().map(|rule| t::SyncRule { steps: steps(rule.steps), ..*rule }),
            ),
            counters: list(
                arch.counters
                    .iter()
                    .map(|counter| t::Counter { wait: self.atom(counter.wait), ..*counter }),
            ),
            hazards: list(arch.hazards.iter().map(|hazard| t::Hazard {
                wait: hazard.wait.map(|atom| self.atom(atom)),
                ..*hazard
            })),
            ..*arch
        }
    }

    fn rules(&self, rules: &t::Rules<'static>, kept: &Kept) -> t::Rules<'static> {
        let node = |node: &t::BuildNode| match node {
            t::BuildNode::Inst(atom, count) => t::BuildNode::Inst(self.atom(*atom), *count),
            other => *other,
        };
        let set = |set: &t::RuleSet<'static>| {
            let isa = match set.isa {
                Some(isa) => Some(t::IsaId(self.isas.new_id(isa.0)?)),
                None => None,
            };
            let ids = |ids: &[t::RuleId]| {
                list(ids.iter().filter_map(|id| kept.new_id(id.0).map(t::RuleId)))
            };
            Some(t::RuleSet { isa, roots: list(set.roots.iter().map(|root| ids(root))), ..*set })
        };
        t::Rules {
            rules: list(kept.of(rules.rules).map(|rule| t::Rule {
                replacement: list(rule.replacement.iter().map(node)),
                ..*rule
            })),
            names: list(kept.of(rules.names).copied()),
            sets: list(rules.sets.iter().filter_map(set)),
            ..*rules
        }
    }
}
