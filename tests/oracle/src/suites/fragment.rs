//! What an operand layout of the tables says, lane by lane, for the suites of the hardware.

use crate::tables::tables;
use lanebook_layout::{AxisId, Coord, LayoutRef};
use lanebook_tables::{Instance, Piece};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The mnemonic of an instance: the first word of its text, with the parameters' words and numbers.
fn instance_mnemonic(instance: &Instance<'_>) -> String {
    let mut out = String::new();
    for piece in instance.atom.template {
        match piece {
            Piece::Text(text) => match text.split_once(char::is_whitespace) {
                Some((last, _)) => return out + last,
                None => out.push_str(text),
            },
            Piece::Operand(k) => match (instance.word(k), instance.value(k)) {
                (Some(word), _) => out.push_str(word.text),
                (_, Some(value)) => out.push_str(&value.to_string()),
                _ => return out,
            },
            _ => return out,
        }
    }
    out
}

/// All instances of table atoms by their mnemonics.
fn by_mnemonic() -> &'static BTreeMap<String, Vec<Instance<'static>>> {
    static ALL: OnceLock<BTreeMap<String, Vec<Instance<'static>>>> = OnceLock::new();
    ALL.get_or_init(|| {
        let instances = tables()
            .atoms
            .iter()
            .flat_map(|atom| (0..atom.instances()).filter_map(|k| atom.instance(k)));
        let mut all: BTreeMap<String, Vec<Instance<'static>>> = BTreeMap::new();
        instances.for_each(|i| all.entry(instance_mnemonic(&i)).or_default().push(i));
        all
    })
}

/// The instances of table atoms with this mnemonic; several if its operands can be in different
/// places.
pub fn instances(name: &str) -> &'static [Instance<'static>] {
    by_mnemonic().get(name).map_or(&[], Vec::as_slice)
}

/// Every instance of every table atom with its mnemonic.
pub fn all_instances() -> impl Iterator<Item = (String, Instance<'static>)> {
    by_mnemonic().iter().flat_map(|(name, all)| all.iter().map(|i| (name.clone(), *i)))
}

/// Where elements are: (lane, bit of the lane's tuple) to the element's row-major number. A lane
/// counts over warps.
pub fn places(layout: &LayoutRef<'_>) -> Result<BTreeMap<(u64, u64), u64>, String> {
    let size = layout.size().map_err(|e| format!("{e:?}"))?.value();
    let size = size.map_err(|e| format!("{e:?}"))? as u64;
    let mut out = BTreeMap::new();
    for x in 0..size {
        let mut put = |at: &Coord| {
            let lane = at.get(AxisId::LANE) + 32 * at.get(AxisId::WARP);
            out.insert((lane as u64, at.get(AxisId::BIT) as u64), x);
        };
        let mut at = Coord::new();
        layout.apply_flat(x, &mut at).map_err(|e| format!("{e:?}"))?;
        // Copies: every combination of the replica iters.
        let mut copies = vec![at];
        for it in layout.replica {
            let extent = it.extent_value().map_err(|e| format!("{e:?}"))?;
            let stride = it.stride_value().map_err(|e| format!("{e:?}"))?;
            copies = copies
                .iter()
                .flat_map(|c| {
                    (0..extent).map(move |k| {
                        let mut next = c.clone();
                        let _ = next.add(it.axis(), stride * i64::from(k));
                        next
                    })
                })
                .collect();
        }
        copies.iter().for_each(&mut put);
    }
    Ok(out)
}
