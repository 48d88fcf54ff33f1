//! The banks that a movement's memory side touches, group of lanes by group of lanes.
//!
//! Which bank a slot touches depends on its address. The picture takes one that is stated: slot `s`
//! at `s * stride`.
use crate::{Cell, Colours, DrawError, Panel, Picture};
use lanebook_layout::AxisId;
use lanebook_tables::{Arch, Atom, BankModel, Side};
use std::collections::{BTreeMap, BTreeSet};

/// The picture of an atom's bank accesses. `stride`: bytes from one slot's address to the next;
/// none: as many as a slot supplies.
///
/// # Errors
/// When no side of the atom has a bank model of the architecture.
pub fn picture(
    arch: &Arch<'_>,
    atom: &Atom<'_>,
    stride: Option<u32>,
) -> Result<Picture, DrawError> {
    let mut panels = Vec::new();
    let mut subtitle = vec![crate::atom::template(atom)];
    for (word, side) in
        atom.movement.iter().flat_map(|movement| [("from", &movement.from), ("to", &movement.to)])
    {
        let Some(model) =
            arch.banks.iter().find(|model| !side.banks.is_empty() && model.name == side.banks)
        else {
            continue;
        };
        let step = stride.unwrap_or(u32::from(side.slot_bytes));
        let (panel, passes) = panel(word, side, model, step)?;
        subtitle.push(format!(
            "{word} {}: {} banks of {} B, {} groups, {passes} passes with slots {step} B apart",
            crate::atom::space(side.space),
            model.banks,
            model.bank_bytes,
            model.groups.len()
        ));
        panels.push(Panel { place: (0, panels.len()), ..panel });
    }
    if panels.is_empty() {
        return Err(DrawError::new(
            format!("no side of `{}` has a bank model on {}", atom.name(), arch.name),
            "draw an atom that moves shared memory",
        ));
    }
    Ok(Picture {
        title: format!("banks of {} on {}", atom.name(), arch.name),
        subtitle,
        panels,
        colours: Some(Colours { count: 32, what: "slot".into(), prefix: "s".into(), wraps: true }),
        notes: vec![
            "a row is one pass: what the banks deliver at once; s3: bytes of address slot 3".into(),
        ],
    })
}

/// The passes of a side: a row a pass, a column a bank.
fn panel(
    word: &str,
    side: &Side<'_>,
    model: &BankModel<'_>,
    stride: u32,
) -> Result<(Panel, usize), DrawError> {
    let unknown =
        || DrawError::new("the side's layout has a number that is not known", "draw another atom");
    let (banks, width) = (i64::from(model.banks.max(1)), i64::from(model.bank_bytes.max(1)));
    // The words (bank-wide pieces of memory) of each slot.
    let mut words: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for x in 0..side.layout.size_value().map_err(|_| unknown())? {
        let slot = side.layout.offset_on(x, AxisId::SLOT).map_err(|_| unknown())?;
        let byte = side.layout.offset_on(x, AxisId::BYTE).map_err(|_| unknown())?;
        words.entry(slot).or_default().insert((slot * i64::from(stride) + byte).div_euclid(width));
    }
    let (mut rows, mut cells, mut rules) = (Vec::new(), Vec::new(), 0);
    for (group, mask) in model.groups.iter().enumerate() {
        // Words by bank; equal words are delivered together.
        let mut by_bank: BTreeMap<i64, BTreeMap<i64, Vec<i64>>> = BTreeMap::new();
        for (slot, list) in words.iter().filter(|(slot, _)| **slot < 64 && mask >> **slot & 1 == 1)
        {
            for at in list {
                by_bank
                    .entry(at.rem_euclid(banks))
                    .or_default()
                    .entry(*at)
                    .or_default()
                    .push(*slot);
            }
        }
        let passes = by_bank.values().map(BTreeMap::len).max().unwrap_or(0);
        for pass in 0..passes {
            rows.push(format!("{group}.{pass}"));
            for bank in 0..banks {
                let here = by_bank.get(&bank).and_then(|found| found.values().nth(pass));
                cells.push(here.map_or_else(Cell::default, |slots| Cell {
                    lines: vec![
                        slots.iter().map(|slot| format!("s{slot}")).collect::<Vec<_>>().join(" "),
                    ],
                    colour: slots.first().map(|slot| slot.rem_euclid(32) as u16),
                }));
            }
        }
        rules = rules.max(passes);
    }
    let passes = rows.len();
    let panel = Panel {
        parts: vec![word.to_string()],
        title: format!("{word}: model `{}`, rows are group.pass", model.name),
        axes: ("pass".into(), "bank".into()),
        row_labels: rows,
        column_labels: (0..banks).map(|bank| bank.to_string()).collect(),
        cells,
        rule: if rules > 1 && passes == rules * model.groups.len() { rules } else { 0 },
        ..Panel::default()
    };
    Ok((panel, passes))
}
