//! Shared memory: which lanes are served together, and what transposing loads make of it.

use super::{Verdict, archs, atoms, mnemonic};
use crate::suites::fragment::places;
use crate::tables::tables;
use lanebook_layout::{AxisId, Coord};
use lanebook_tables::{Arch, Atom, BankModel, Space};
use serde_json::Value;

/// The bank model of the access that an operation's plain form makes.
fn model(arch: &'static Arch<'static>, op: &str) -> Result<&'static BankModel<'static>, String> {
    // ds_read_b128 is ds_load_b128 in later generations.
    let later = op.replace("ds_read", "ds_load").replace("ds_write", "ds_store");
    let all = arch.atoms.iter().filter_map(|have| tables().atom(have.atom));
    let atom = all
        .into_iter()
        .find(|atom| mnemonic(atom) == op || mnemonic(atom) == later)
        .ok_or_else(|| format!("{} has no {op}", arch.name))?;
    let movement = atom.movement.ok_or("it moves nothing")?;
    let side = [&movement.from, &movement.to]
        .into_iter()
        .find(|side| side.space == Space::Shared)
        .ok_or("it does not touch shared memory")?;
    arch.banks
        .iter()
        .find(|bank| bank.name == side.banks)
        .ok_or_else(|| format!("{} has no bank model `{}`", arch.name, side.banks.text()))
}

/// Groups of lanes served together, and the banks.
pub fn banks(record: &Value) -> Result<Verdict, String> {
    for arch in archs(record)? {
        let model = model(arch, record["op"].as_str().ok_or("no operation")?)?;
        let mut expected: Vec<u64> = Vec::new();
        for group in record["groups"].as_array().ok_or("no groups")? {
            let lanes = group.as_array().ok_or("no group")?;
            expected.push(
                lanes.iter().filter_map(Value::as_u64).fold(0, |mask, lane| mask | 1 << lane),
            );
        }
        let mut found = model.groups.to_vec();
        if record["group_order_known"].as_bool() != Some(true) {
            expected.sort_unstable();
            found.sort_unstable();
        }
        if found != expected {
            return Err(format!("{}: groups {expected:x?}, found {found:x?}", arch.name));
        }
        for (key, found) in
            [("banks", u64::from(model.banks)), ("bank_bytes", u64::from(model.bank_bytes))]
        {
            if record[key].as_u64().is_some_and(|wanted| wanted != found) {
                return Err(format!("{}: {key} {}, found {found}", arch.name, record[key]));
            }
        }
    }
    Ok(Verdict::Agree)
}

/// `map[dst lane][element]` = `[source lane, source element]`, against the two sides of the
/// movement.
pub fn transposing(record: &Value) -> Result<Verdict, String> {
    let name = record["inst"].as_str().ok_or("no instruction")?;
    for arch in archs(record)? {
        let found = atoms(arch, name);
        if found.is_empty() {
            return Err(format!("{} has no {name}", arch.name));
        }
        for atom in found {
            compare(atom, record)
                .map_err(|what| format!("{} {}: {what}", arch.name, atom.name()))?;
        }
    }
    Ok(Verdict::Agree)
}

fn compare(atom: &'static Atom<'static>, record: &Value) -> Result<(), String> {
    let movement = atom.movement.ok_or("it moves nothing")?;
    let bits = record["elem_bits"].as_u64().ok_or("no width")?;
    if u64::from(movement.unit_bits) != bits {
        return Err(format!("elements of {bits} bits, found {}", movement.unit_bits));
    }
    let mut places = places(movement.to.layout)?;
    let mut at = Coord::new();
    for (lane, list) in (0u64..).zip(record["map"].as_array().ok_or("no map")?) {
        for (k, cell) in (0u64..).zip(list.as_array().ok_or("no lane")?) {
            let x = places
                .remove(&(lane, k * bits))
                .ok_or_else(|| format!("lane {lane} receives no element {k}"))?;
            // The source lane is the address slot. A byte holds several elements narrower than it:
            // the layout counts them.
            at.clear();
            movement.from.layout.apply_flat(x, &mut at).map_err(|e| format!("{e:?}"))?;
            let on = |axis| at.get(axis) as u64;
            let within = (on(AxisId::BYTE) * 8 + on(AxisId::BIT)) / bits;
            let expected =
                (cell[0].as_u64().unwrap_or(u64::MAX), cell[1].as_u64().unwrap_or(u64::MAX));
            if (on(AxisId::SLOT), within) != expected {
                return Err(format!(
                    "lane {lane}, element {k} comes from {expected:?}, found {:?}",
                    (on(AxisId::SLOT), within)
                ));
            }
        }
    }
    if places.is_empty() {
        Ok(())
    } else {
        Err(format!("{} places more than the record has", places.len()))
    }
}
