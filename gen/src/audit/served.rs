//! Bank models hold together: what is served at once, by the models of one memory.
use super::figures::numbered;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Arch, HwModel};
use crate::source::Span;
use lanebook_layout::AxisId;
use lanebook_tables::Status;
use std::collections::{BTreeMap, BTreeSet};

/// Of one architecture.
pub(super) fn banks(
    model: &HwModel,
    arch: &Arch,
    seen: &mut BTreeSet<Span>,
    diags: &mut Diagnostics,
) {
    let Some(first) = arch.banks.first() else { return };
    served(model, arch, seen, diags);
    for bank in &arch.banks {
        let whole = u32::from(bank.banks) * u32::from(bank.bank_bytes);
        if !bank.banks.is_power_of_two() || !bank.bank_bytes.is_power_of_two() {
            if seen.insert(bank.name.span) {
                let message = format!("{} banks of {} bytes", bank.banks, bank.bank_bytes);
                let found = Diagnostic::at(bank.name.span, message);
                // A machine of its own, of which no source is claimed, may be so.
                let own = bank.status == Status::Assumed
                    && arch.banks.iter().all(|other| {
                        (other.banks, other.bank_bytes) == (bank.banks, bank.bank_bytes)
                    });
                diags.push(match own {
                    true => found
                        .help("both are powers of two on all machines that are known; conflicts are counted word by word")
                        .as_level(Level::Note),
                    false => found.help("both are powers of two"),
                });
            }
            continue;
        }
        if bank.bank_bytes != first.bank_bytes && seen.insert(bank.name.span) {
            let message = format!(
                "banks of {} bytes here and of {} for `{}`",
                bank.bank_bytes, first.bank_bytes, first.name.value
            );
            diags.push(
                Diagnostic::at(bank.name.span, message)
                    .note(first.name.span, "the other")
                    .help("one memory has banks of one width: correct `bank_bytes`"),
            );
        }
        // Lanes that are served at once fetch what the banks give at once, or less.
        let Some((_, bits)) = numbered(&bank.name.value) else { continue };
        let wide = bank.groups.iter().map(|group| group.value.count_ones() * bits / 8).max();
        let lanes = bank.groups.iter().map(|group| group.value.count_ones());
        if lanes.clone().min() != lanes.max() && seen.insert(bank.groups_span) {
            diags.push(
                Diagnostic::at(bank.groups_span, "groups of other sizes")
                    .help("as many lanes are served each time: correct `groups`"),
            );
        }
        // But for what was measured: how many passes a group takes is then known.
        if wide.is_some_and(|wide| bits.is_multiple_of(8) && wide > whole && bits > 16)
            && bank.status != Status::Measured
            && seen.insert(bank.name.span)
        {
            let message = format!(
                "{} lanes of {bits} bits are served at once by {whole} bytes of banks",
                bank.groups.first().map_or(0, |group| group.value.count_ones())
            );
            diags.push(
                Diagnostic::at(bank.groups_span, message)
                    .help("fewer lanes are served at once: correct `groups`, `banks` or the name"),
            );
        }
    }
}

/// Bytes of a slot that the accesses of each model of an architecture take.
fn taken<'m>(model: &'m HwModel, arch: &Arch) -> BTreeMap<&'m str, BTreeSet<u32>> {
    let atoms = arch.atoms.iter().map(|entry| model.atom(entry.atom));
    let mut out: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for side in atoms.filter_map(|atom| atom.movement.as_ref()).flat_map(|m| [&m.from, &m.to]) {
        // One slot is a uniform address: what stands behind it is not what a lane takes.
        let slots = side.layout.most(AxisId::SLOT) > 0;
        if let (Some(name), Some(bytes), true) = (&side.banks, &side.slot_bytes, slots) {
            out.entry(name.value.as_str()).or_default().insert(u32::from(bytes.value));
        }
    }
    out
}

/// Models of as many banks serve as many bytes at once, whatever the width of the access; slots are
/// no more than lanes.
fn served(model: &HwModel, arch: &Arch, seen: &mut BTreeSet<Span>, diags: &mut Diagnostics) {
    let most = arch.wave_lanes.value.iter().copied().max().unwrap_or(0);
    let taken = taken(model, arch);
    let mut usual: BTreeMap<u16, BTreeMap<u32, Vec<&crate::model::Bank>>> = BTreeMap::new();
    for bank in &arch.banks {
        if bank.slots > most && seen.insert(bank.name.span) {
            let message = format!("{} slots, where a wave has {most} lanes", bank.slots);
            diags.push(
                Diagnostic::at(bank.name.span, message)
                    .help("each lane has one address at most: correct `slots`"),
            );
        }
        // As the model is called, unless no access takes so much.
        let called = numbered(&bank.name.value).map(|(_, bits)| bits / 8);
        let taken = taken.get(bank.name.as_str());
        let bytes = called
            .filter(|bytes| taken.is_none_or(|taken| taken.contains(bytes)))
            .or_else(|| taken.and_then(|taken| taken.last().copied()));
        let Some(bytes) = bytes.filter(|bytes| *bytes > 2 && bank.status != Status::Measured)
        else {
            continue;
        };
        let lanes = bank.groups.iter().map(|group| group.value.count_ones()).max().unwrap_or(0);
        let bytes = (lanes * bytes).next_power_of_two();
        usual.entry(bank.banks).or_default().entry(bytes).or_default().push(bank);
    }
    for found in usual.into_values().filter(|found| found.len() > 1) {
        let mut list: Vec<_> = found.into_iter().collect();
        list.sort_by_key(|(bytes, banks)| (std::cmp::Reverse(banks.len()), *bytes));
        let Some((usual, there)) = list.first().and_then(|(most, of)| Some((most, of.first()?)))
        else {
            continue;
        };
        for (odd, at) in list.iter().skip(1) {
            for here in at.iter().filter(|here| seen.insert(here.groups_span)) {
                let message = format!(
                    "{odd} bytes are served at once here, and {usual} for `{}`",
                    there.name.value
                );
                diags.push(
                    Diagnostic::at(here.groups_span, message)
                        .note(there.name.span, "the other")
                        .help("as many bytes are served each time, of fewer lanes where they are wider: correct `groups`"),
                );
            }
        }
    }
}
