//! Layouts of shared buffers beside TileLang's: place by place, and where they differ by the passes
//! of the banks that the same instructions take under both.

use crate::beside::TextRoom;
use crate::expr;
use crate::program::list;
use crate::text::{tile_text, with_casts};
use lanebook::TABLES;
use lanebook::encoding::conflicts::count_bytes;
use lanebook::ir::{Options, parse, verify};
use lanebook::loops::{SlotAccess, lay_shared, shared_accesses, tell};
use lanebook_infer::MemoryScope;
use lanebook_report::memory::LoopMemory;
use lanebook_tables::{Arch, CostPolicy};
use serde_json::Value;
use std::collections::HashMap;

/// How the layouts of a program's shared buffers stand beside TileLang's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedBeside {
    /// The language does not say the program.
    Unsaid,
    /// Every element lies where TileLang has it.
    Same,
    /// Some lie elsewhere, and all instructions together take fewer passes of the banks.
    Fewer,
    /// Some lie elsewhere, and they take as many.
    Equal,
}

/// Where each element of a recorded layout lies, in elements, row-major.
///
/// # Errors
/// What cannot be read, or two elements in one place.
pub fn recorded_places(layout: &Value) -> Result<Vec<u64>, String> {
    let shape: Vec<i64> = list(&layout["shape"]).iter().filter_map(Value::as_i64).collect();
    let total: i64 = shape.iter().product();
    let mut out = Vec::new();
    for flat in 0..total {
        let (mut names, mut rest) = (HashMap::new(), flat);
        for (k, extent) in shape.iter().enumerate().rev() {
            names.insert(format!("i{k}"), rest % extent);
            rest /= extent;
        }
        let of =
            |name: &str| names.get(name).copied().or_else(|| name.starts_with('?').then_some(0));
        let mut place = 0;
        for (e, extent) in list(&layout["index_expr"]).iter().zip(list(&layout["out_shape"])) {
            place = place * extent.as_i64().unwrap_or(1) + expr::value(e, &of)?;
        }
        out.push(u64::try_from(place).map_err(|_| "a place below zero".to_owned())?);
    }
    let mut sorted = out.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == out.len() { Ok(out) } else { Err("two elements in one place".into()) }
}

/// Compares the shared buffers of a recorded program with those of a result.
///
/// # Errors
/// What is not sound, or takes more passes.
pub fn shared_beside(
    memory: &mut LoopMemory,
    program: &Value,
    recorded: &Value,
    arch: &Arch<'static>,
    policy: &CostPolicy<'_>,
) -> Result<SharedBeside, String> {
    let Ok(text) = tile_text(&with_casts(program)) else { return Ok(SharedBeside::Unsaid) };
    let mut storage = Box::new(TextRoom::new());
    let ir = parse(storage.pools(), &TABLES, &text, Options::default());
    let mut ir = ir.map_err(|error| format!("its text does not parse: {error:?}\n{text}"))?;
    if verify(&mut ir).is_err() {
        return Ok(SharedBeside::Unsaid);
    }
    let function = ir.functions().next().ok_or("no function")?;
    let mut told = tell(&ir, function, &TABLES, arch, memory.parts())
        .map_err(|error| format!("its text cannot be told: {error:?}"))?;
    told.inference.run(policy, &mut ()).map_err(|stop| format!("no layouts: {stop:?}"))?;
    lay_shared(&mut told, &ir, &TABLES, arch, &mut ()).map_err(|error| format!("{error:?}"))?;
    let buffers: Vec<_> = told.buffers().collect();
    let mut worst = SharedBeside::Same;
    for (id, value) in buffers {
        let own = *told.inference.buffer_of(id).map_err(|error| format!("{error:?}"))?;
        let name = ir.value_name(value).trim_start_matches("b_").to_owned();
        let layout = &recorded[&name];
        if own.scope != MemoryScope::Shared || own.storage != id || layout.is_null() {
            continue;
        }
        // What lies by columns has fewer instructions, of which accesses row by row know nothing.
        if told.inference.strips(id) == Some(own.bits / 8) {
            continue;
        }
        let theirs = recorded_places(layout).map_err(|what| format!("{name}: {what}"))?;
        let element = u64::from(own.bits / 8);
        let placed = |e: u64| told.inference.placed_byte(id, e * element);
        let places: Option<Vec<u64>> = (0..theirs.len() as u64).map(placed).collect();
        let mut ours = places.clone().ok_or(format!("{name}: an element has no place"))?;
        let place = |byte: u64| {
            let own = usize::try_from(byte / element).ok();
            own.and_then(|e| places.as_ref()?.get(e)).map(|at| at + byte % element)
        };
        let same = ours.iter().zip(&theirs).all(|(a, b)| *a == b * element);
        ours.sort_unstable();
        let whole = (0..).zip(&ours).all(|(k, byte): (u64, _)| k * element == *byte);
        if !whole {
            return Err(format!("{name}: two elements in one place, or one outside of the buffer"));
        }
        if same {
            continue;
        }
        let at = |byte: u64| {
            let own = usize::try_from(byte / element).ok().and_then(|e| theirs.get(e));
            own.map(|own| own * element + byte % element)
        };
        let mut sums = (0u64, 0u64, String::new());
        let give = |access: &SlotAccess| {
            let own = passes(arch, access, &place);
            let their = passes(arch, access, &at);
            match (own, their) {
                (Some(own), Some(their)) => {
                    sums.0 += own * u64::from(access.times);
                    sums.1 += their * u64::from(access.times);
                }
                // What tears a row that an instruction brings to all lanes cannot be read so.
                (Some(_), None) => sums.1 += u64::from(u32::MAX),
                (None, _) => sums.2 = format!("an access of {access:?} cannot be counted"),
            }
        };
        shared_accesses(&mut told, &ir, (&TABLES, arch), id, give)
            .map_err(|error| format!("{error:?}"))?;
        if !sums.2.is_empty() {
            return Err(format!("{name}: {}", sums.2));
        }
        let found = match sums.0.cmp(&sums.1) {
            std::cmp::Ordering::Less => SharedBeside::Fewer,
            std::cmp::Ordering::Equal => SharedBeside::Equal,
            std::cmp::Ordering::Greater => {
                return Err(format!("{name} takes {} passes of the banks, not {}", sums.0, sums.1));
            }
        };
        worst = worst.max(found);
    }
    Ok(worst)
}

/// Passes of an access whose bytes lie so: instruction by instruction where they are torn apart.
fn passes(arch: &Arch<'_>, access: &SlotAccess, place: &dyn Fn(u64) -> Option<u64>) -> Option<u64> {
    let model = arch.banks.get(usize::from(access.model))?;
    // The longest pieces that lie next to each other in all slots, at multiples of their bytes.
    let together = |piece: u64| {
        access.places.iter().all(|byte| {
            let first = u64::from(*byte);
            (0..u64::from(access.bytes) / piece).all(|k| {
                let start = place(first + k * piece);
                let on = (0..piece).all(|b| place(first + k * piece + b) == start.map(|s| s + b));
                on && start.is_some_and(|start| start % piece == 0)
            })
        })
    };
    let mut piece = u64::from(access.bytes);
    while piece > 1 && !together(piece) {
        piece /= 2;
    }
    if access.is_whole && piece < u64::from(access.bytes) {
        return None;
    }
    let slots = u32::try_from(access.places.len()).ok()?;
    let bytes = u16::try_from(piece).ok()?;
    let mut sum = 0;
    for k in 0..u64::from(access.bytes) / piece {
        let byte = |slot: u32| {
            let own = access.places.get(usize::try_from(slot).ok()?)?;
            Some(Some(place(u64::from(*own) + k * piece)?))
        };
        sum += u64::from(count_bytes(model, slots, bytes, byte, |_| {})?.transactions);
    }
    Some(sum)
}
