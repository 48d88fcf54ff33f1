//! What tables say and the planner cannot use: waves, threads and banks out of its bounds, extents
//! that are no powers of two, operands that it cannot lay out bit by bit.
//!
//! The planner is asked itself, atom by atom: no limit of it is repeated here.
use lanebook::map::{MAX_BANKS, log2_exact};
use lanebook::tile::copy_atom::CopyAtom;
use lanebook::tile::evaluate::is_addressable;
use lanebook::tile::unlaid::unlaid;
use lanebook_gen::Compiled;
use lanebook_gen::audit::PLAN;
use lanebook_gen::diagnostics::{Diagnostic, Diagnostics, Level};
use lanebook_tables::{Arch, Atom, AtomId, Isa, Space, Tables};
use std::collections::BTreeMap;

/// Architectures that a note spells out.
const FEW: usize = 4;

/// All architectures and their atoms.
pub fn check(compiled: &Compiled) -> Diagnostics {
    let tables = &compiled.tables();
    let mut found = Diagnostics::new();
    let mut atoms: BTreeMap<AtomId, (String, Vec<&str>)> = BTreeMap::new();
    for (arch, model) in tables.archs.iter().zip(&compiled.model.archs) {
        if !model.whole {
            continue;
        }
        let Some(isa) = tables.isa(arch.isa) else { continue };
        for wrong in machine(arch) {
            found.push(
                Diagnostic::at(
                    model.name.span,
                    format!("{} cannot be planned for: {wrong}", arch.name),
                )
                .help("every program for it is refused, or planned without what the fact says")
                .as_level(Level::Note),
            );
        }
        let wave = arch.wave_lanes.first().copied().unwrap_or(0);
        for (id, atom) in tables.list_native(arch) {
            if let Some(wrong) = unusable((tables, isa), id, atom, wave) {
                atoms.entry(id).or_insert((wrong, Vec::new())).1.push(arch.name);
            }
        }
    }
    // Atoms that the same architectures cannot use for the same reason are one note, at the first.
    let mut alike: BTreeMap<(Vec<&str>, String), Vec<AtomId>> = BTreeMap::new();
    for (id, (wrong, archs)) in atoms {
        alike.entry((archs, wrong)).or_default().push(id);
    }
    for ((archs, wrong), ids) in alike {
        let name = |id: &AtomId| compiled.model.atom(*id).name.value.as_str();
        let listed = |all: &[&str]| {
            let more = all.len().saturating_sub(FEW);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", all.iter().take(FEW).copied().collect::<Vec<_>>().join(", "))
        };
        let names: Vec<String> = ids.iter().map(|id| format!("`{}`", name(id))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("no plan of {} has {}: {wrong}", listed(&archs), listed(&names));
        let Some(first) = ids.first() else { continue };
        found.push(
            Diagnostic::at(compiled.model.atom(*first).name.span, message)
                .help("others are chosen in their place; `lanebook compile` refuses what only they could do")
                .as_level(Level::Note),
        );
    }
    found.named(PLAN)
}

/// What is wrong with a machine's own figures.
fn machine(arch: &Arch<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let wave = arch.wave_lanes.first().copied().unwrap_or(0);
    if log2_exact(u64::from(wave)).is_none_or(|bits| bits > 6) {
        out.push(format!("waves of {wave} lanes, where a plan has 1, 2, 4, ... 64"));
    }
    if arch.max_threads < wave {
        out.push(format!("{} threads at most do not fill a wave of {wave}", arch.max_threads));
    }
    for model in arch.banks {
        if model.banks == 0 || model.bank_bytes == 0 || u32::from(model.banks) > MAX_BANKS {
            out.push(format!(
                "bank model `{}` has {} banks of {} bytes, where conflicts are counted of 1 to {MAX_BANKS} banks",
                model.name, model.banks, model.bank_bytes
            ));
        }
    }
    out
}

/// Why no plan can have an atom; `None` if one can, or if it is nothing that plans choose.
fn unusable(
    (tables, isa): (&Tables<'_>, &Isa<'_>),
    id: AtomId,
    atom: &Atom<'_>,
    wave: u16,
) -> Option<String> {
    if let Some(movement) = atom.movement {
        let ends = [movement.from.space, movement.to.space];
        // Those of tensor memory are planned by its own facts.
        if ends.contains(&Space::Tensor) {
            return None;
        }
        if let Some(copy) = CopyAtom::of(id, atom) {
            if !is_addressable(isa, atom) {
                return Some("a copy's addresses are words of the lanes in shared memory; in global memory 64 bits of the lanes, or 64 bits of the wave and words of the lanes; for the whole wave a scalar register, or a special one that is not shown".into());
            }
            let lanes = 1u32.checked_shl(u32::from(copy.lanes)).unwrap_or(0);
            let of_registers = ends.contains(&Space::Register);
            return (of_registers && lanes != u32::from(wave))
                .then(|| format!("a copy fills the registers of the {wave} lanes of a wave, and these are {lanes}"));
        }
        let odd = movement.extents.iter().find(|n| !n.is_power_of_two());
        return Some(match odd {
            _ if movement.unit_bits % 8 != 0 => {
                format!(
                    "a copy moves whole bytes, and these move units of {} bits",
                    movement.unit_bits
                )
            }
            Some(n) => format!("a copy has extents that are powers of two, and these have {n}"),
            None => "a copy has strides that are powers of two, and these have others".into(),
        });
    }
    if atom.product().is_none() && atom.scaled().is_none() {
        return None;
    }
    let why = unlaid(tables, id, atom, wave)?;
    Some(format!("such an instruction {}", why.display(tables)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanebook::TABLES;
    use lanebook_tables::BankModel;

    fn arch() -> Arch<'static> {
        TABLES.archs.first().copied().expect("an architecture")
    }

    #[test]
    fn the_built_in_machines_can_be_planned_for() {
        for arch in TABLES.archs {
            assert_eq!(machine(arch), Vec::<String>::new(), "{}", arch.name);
        }
    }

    #[test]
    fn waves_threads_and_banks_out_of_bounds_are_said() {
        let odd = Arch { wave_lanes: &[48], max_threads: 1024, ..arch() };
        assert_eq!(machine(&odd), ["waves of 48 lanes, where a plan has 1, 2, 4, ... 64"]);
        let wide = Arch { wave_lanes: &[128], ..arch() };
        assert!(machine(&wide)[0].starts_with("waves of 128 lanes"));
        let few = Arch { wave_lanes: &[64], max_threads: 32, ..arch() };
        assert_eq!(machine(&few), ["32 threads at most do not fill a wave of 64"]);
        let model = BankModel { banks: 96, ..*arch().banks.first().expect("a model") };
        let banks = [model];
        // A table is static: this one lives as long as the test's process.
        let many = Arch { banks: &*Box::leak(Box::new(banks)), ..arch() };
        assert!(machine(&many)[0].contains("has 96 banks of"), "{:?}", machine(&many));
    }

    /// An entry with three rows is none that a plan has, and says why.
    #[test]
    fn odd_extents_are_said() {
        let native = |atom: &&Atom<'static>| atom.product().is_some() && atom.instances() == 1;
        let sound = TABLES.atoms.iter().find(native).expect("a product");
        let isa = TABLES.isa(sound.isa).expect("its instruction set");
        let id = TABLES.atom_named(sound.name()).expect("its number");
        let wave = [32, 64]
            .into_iter()
            .find(|wave| unusable((&TABLES, isa), id, sound, *wave).is_none())
            .expect("a wave that multiplies");
        let shape = sound.matrix.expect("extents");
        let odd = Atom { matrix: Some(lanebook_tables::MatrixShape { m: 24, ..shape }), ..*sound };
        let said = unusable((&TABLES, isa), id, &odd, wave).expect("a reason");
        assert!(said.contains("counts no whole registers"), "{said}");
        assert!(
            unusable((&TABLES, isa), id, sound, wave / 2)
                .expect("a reason")
                .contains("lanes of a wave")
        );
    }
}
