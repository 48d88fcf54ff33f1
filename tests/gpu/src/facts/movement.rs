//! Moves between registers and shared memory, and between lanes: every unit arrives where the tables'
//! layouts say, whatever addresses the slots supply.

use super::probe::{LANES, Probe};
use super::{Asked, Finding, any_word, copies, draws, said};
use crate::Device;
use lanebook::layout::{AxisId, Coord};
use lanebook::tables::{Instance, Movement, Side, Space};
use lanebook_gen::fact;
use lanebook_kernels::hunt::choices::Choices;

/// Draws of contents and addresses for each instance.
const TRIALS: usize = 8;
/// Bytes of shared memory: a probe's addresses are anywhere in it.
const SHARED: usize = 8192;

/// Holds a move against the device; `None` if it is none, or not one of registers and shared memory
/// alone that is over when the instruction is.
pub fn hold(device: &mut dyn Device, asked: Asked<'_>, instance: &Instance<'_>) -> Option<Finding> {
    let movement = instance.atom.movement?;
    let sides = [&movement.from, &movement.to];
    let near = |side: &&Side<'_>| matches!(side.space, Space::Register | Space::Shared);
    let is_plain = movement.size.is_none()
        && movement.atomic.is_none()
        && instance.atom.counter.is_none()
        && sides.iter().all(|side| near(side) && side.base.is_none());
    if !is_plain || sides.iter().all(|side| side.space == Space::Shared) {
        return None;
    }
    let fact = fact::movement(movement)?;
    let mut finding = Finding {
        kind: "movement",
        arch: asked.name.into(),
        name: fact::name(instance),
        text: said(instance),
        fact,
        trials: 0,
        cycles: String::new(),
        differs: None,
    };
    let mut draws = draws(&finding.name);
    for _ in 0..TRIALS {
        match trial(device, asked, instance, movement, &mut draws) {
            Ok(()) => finding.trials += 1,
            Err(why) => {
                finding.differs = Some(why);
                break;
            }
        }
    }
    Some(finding)
}

/// Where an element stands on a side, copies included: lane and bit, or slot and bit behind its
/// address.
fn places(side: &Side<'_>, element: u64) -> Result<Vec<(usize, usize)>, String> {
    let place = |at: &Coord| {
        let (major, minor) = if side.space == Space::Shared {
            (at.get(AxisId::SLOT), at.get(AxisId::BYTE) * 8 + at.get(AxisId::BIT))
        } else {
            (at.get(AxisId::LANE), at.get(AxisId::BIT))
        };
        Some((usize::try_from(major).ok()?, usize::try_from(minor).ok()?))
    };
    let found: Option<Vec<_>> = copies(side.layout, element)?.iter().map(place).collect();
    found.ok_or_else(|| format!("element {element} is nowhere"))
}

fn bits_of(bytes: &[u8], at: usize, count: usize) -> u64 {
    (0..count).fold(0, |sum, k| {
        let bit = at + k;
        sum | u64::from(bytes[bit / 8] >> (bit % 8) & 1) << k
    })
}

fn trial(
    device: &mut dyn Device,
    asked: Asked<'_>,
    instance: &Instance<'_>,
    movement: &Movement<'_>,
    draws: &mut Choices,
) -> Result<(), String> {
    let sides = [&movement.from, &movement.to];
    let memory = sides.into_iter().find(|side| side.space == Space::Shared);
    let shared = memory.map_or((0, None), |side| (SHARED, Some(side.operand)));
    let probe = Probe::new(asked, instance, |_| Some(0), shared).ok_or("not a probe")?;
    let mut before = probe.state();
    before.registers.iter_mut().flatten().for_each(|word| *word = any_word(draws));
    before.shared.iter_mut().for_each(|byte| *byte = draws.below(256) as u8);
    let mut addresses = [0usize; LANES];
    if let Some(side) = memory {
        // Each slot's share is somewhere else, no two overlap.
        let share = usize::from(side.slot_bytes.max(side.align_bytes)).next_power_of_two().max(16);
        let mut free: Vec<usize> = (0..SHARED / share).collect();
        for address in &mut addresses {
            *address = share * free.swap_remove(draws.below(free.len()));
        }
        let (slot, _) = probe.operands[usize::from(side.operand)];
        for (lane, address) in addresses.iter().enumerate() {
            before.registers[slot][lane] = *address as u64;
        }
    }
    let after = probe.run(device, &before)?;
    let unit = usize::from(movement.unit_bits);
    let count: u64 = movement.extents.iter().map(|extent| u64::from(*extent)).product();
    let mut want = before.clone();
    let register = |side: &Side<'_>, bit: usize| {
        let number = usize::from(side.operand);
        let wide = probe.bits[number];
        (probe.operands[number].0 + bit / wide, bit % wide)
    };
    for x in 0..count {
        let is_memory = |side: &Side<'_>| side.space == Space::Shared;
        let from = places(&movement.from, x)?;
        let (major, minor) = *from.first().ok_or("an element that comes from nowhere")?;
        let value = if is_memory(&movement.from) {
            bits_of(&before.shared, addresses[major] * 8 + minor, unit)
        } else {
            (0..unit).fold(0, |sum, k| {
                let (slot, bit) = register(&movement.from, minor + k);
                sum | (before.registers[slot][major] >> bit & 1) << k
            })
        };
        for (major, minor) in places(&movement.to, x)? {
            for k in 0..unit {
                let one = value >> k & 1;
                if is_memory(&movement.to) {
                    let bit = addresses[major] * 8 + minor + k;
                    let byte = &mut want.shared[bit / 8];
                    *byte = *byte & !(1 << (bit % 8)) | (one as u8) << (bit % 8);
                } else {
                    let (slot, bit) = register(&movement.to, minor + k);
                    let word = &mut want.registers[slot][major];
                    *word = *word & !(1 << bit) | one << bit;
                    // What is to be compared.
                    if after.registers[slot][major] >> bit & 1 != one {
                        return Err(format!(
                            "unit {x} is not in lane {major} at bit {minor}: bit {k} differs"
                        ));
                    }
                }
            }
        }
    }
    let wrong = want.shared.iter().zip(&after.shared).position(|(want, got)| want != got);
    wrong.map_or(Ok(()), |at| Err(format!("byte {at} of shared memory is another")))
}
