//! Banks of shared memory, by time: a warp's accesses take as long as the tables' model counts
//! passes, whatever addresses its lanes supply.
//!
//! Addresses are drawn at random, no two alike: which lanes are served together, how many banks
//! there are and how wide they are all show in how often a bank is wanted twice. A model is right
//! if the time of every draw is one line over the passes that it counts.

use super::probe::{LANES, declare, head, line, tuple};
use super::{Asked, Finding, draws, said};
use crate::{Arg, Device, Job, JobLaunch};
use lanebook::TABLES;
use lanebook::layout::{AxisId, Coord};
use lanebook::tables::{BankModel, Instance, Movement, Role, Side, Space};
use lanebook_gen::fact;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Accesses in a row of each test.
const ACCESSES: usize = 32;
/// Tests of one launch are run so often; the least time counts.
const REPEATS: usize = 4;
/// Bytes of shared memory.
const SHARED: usize = 34 << 10;
/// Draws for each access.
const DRAWS: usize = 400;
/// Most rows of banks that a draw's addresses lie in.
const ROWS: usize = 8;

/// Every access of shared memory of every bank model.
pub fn all(device: &mut dyn Device, asked: Asked<'_>) -> Vec<Finding> {
    let arch = TABLES.arch(asked.arch).filter(|_| device.is_timed());
    let Some(arch) = arch else { return Vec::new() };
    let mut out = Vec::new();
    for instance in asked.instances() {
        let Some(movement) = instance.atom.movement else { continue };
        let sides = [&movement.from, &movement.to];
        let plain = movement.size.is_none()
            && movement.atomic.is_none()
            && instance.atom.counter.is_none()
            && sides.iter().any(|side| side.space == Space::Register)
            && sides.iter().all(|side| matches!(side.space, Space::Register | Space::Shared));
        let Some(side) = fact::shared(movement).filter(|_| plain) else { continue };
        let Some(model) = arch.banks.iter().find(|model| model.name == &*side.banks) else {
            continue;
        };
        out.extend(hold(device, asked, &instance, movement, model));
    }
    out
}

fn hold(
    device: &mut dyn Device,
    asked: Asked<'_>,
    instance: &Instance<'_>,
    movement: &Movement<'_>,
    model: &BankModel<'_>,
) -> Option<Finding> {
    let shared = fact::shared(movement)?;
    let slots = slots(movement, shared)?;
    let width = usize::from(shared.slot_bytes).max(1);
    let mut finding = Finding {
        kind: "banks",
        arch: asked.name.into(),
        name: fact::name(instance),
        text: said(instance),
        fact: fact::banks(model),
        trials: 0,
        cycles: String::new(),
        differs: None,
    };
    let row = usize::from(model.banks) * usize::from(model.bank_bytes);
    let step = width.max(usize::from(shared.align_bytes).max(1));
    let mut draws = draws(&finding.name);
    let mut tests: Vec<[u32; LANES]> = Vec::new();
    for _ in 0..DRAWS {
        // From all places of many rows to few places of each, where banks are wanted often.
        let columns = 1 + draws.below(row / step);
        let rows = slots.div_ceil(columns).max(ROWS);
        let mut free: Vec<usize> =
            (0..rows).flat_map(|r| (0..columns).map(move |c| r * row + c * step)).collect();
        let mut test = [0; LANES];
        for at in test.iter_mut().take(slots) {
            *at = free.swap_remove(draws.below(free.len())) as u32;
        }
        tests.push(test);
    }
    let cycles = match time(device, asked, instance, shared.operand, &tests) {
        Ok(cycles) => cycles,
        Err(why) => {
            finding.differs = Some(why);
            return Some(finding);
        }
    };
    finding.trials = tests.len();
    let passes: Vec<u32> = tests.iter().map(|test| passes(model, width, &test[..slots])).collect();
    finding.differs = judge(&cycles, &passes, &mut finding.cycles).err();
    Some(finding)
}

/// Slots whose addresses an access takes.
fn slots(movement: &Movement<'_>, side: &Side<'_>) -> Option<usize> {
    let count: u64 = movement.extents.iter().map(|extent| u64::from(*extent)).product();
    let mut most = 0;
    for x in 0..count {
        let mut at = Coord::new();
        side.layout.apply_flat(x, &mut at).ok()?;
        most = most.max(usize::try_from(at.get(AxisId::SLOT)).ok()?);
    }
    Some(most + 1).filter(|slots| *slots <= LANES && *slots > 1)
}

/// Passes that a model counts: of each group the bank that is wanted in most rows.
fn passes(model: &BankModel<'_>, width: usize, addresses: &[u32]) -> u32 {
    let (bank, banks) = (usize::from(model.bank_bytes), usize::from(model.banks));
    let of_group = |mask: &u64| {
        let mut wanted = vec![BTreeSet::new(); banks];
        for (_, at) in addresses.iter().enumerate().filter(|(slot, _)| mask >> slot & 1 == 1) {
            let at = *at as usize;
            for word in at / bank..=(at + width - 1) / bank {
                wanted[word % banks].insert(word);
            }
        }
        wanted.iter().map(BTreeSet::len).max().unwrap_or(0) as u32
    };
    model.groups.iter().map(of_group).sum()
}

/// Holds times against the passes that a model counts; the line goes into `fact`.
fn judge(cycles: &[u32], passes: &[u32], said: &mut String) -> Result<(), String> {
    let mut by_passes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (time, count) in cycles.iter().zip(passes) {
        by_passes.entry(*count).or_default().push(*time);
    }
    let (Some((low, _)), Some((high, _))) =
        (by_passes.first_key_value(), by_passes.last_key_value())
    else {
        return Err("no times".into());
    };
    if low == high {
        return Err(format!("{low} passes in every draw"));
    }
    // The least squares of time over passes.
    let n = cycles.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) = (
        passes.iter().map(|count| f64::from(*count)).collect(),
        cycles.iter().map(|time| f64::from(*time) / ACCESSES as f64).collect(),
    );
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let dot = |a: &[f64], ma: f64, b: &[f64], mb: f64| {
        a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum::<f64>()
    };
    let slope = dot(&x, mx, &y, my) / dot(&x, mx, &x, mx);
    let base = my - slope * mx;
    *said = format!("{base:.2} and {slope:.2} for each pass");
    let worst = x.iter().zip(&y).map(|(x, y)| (y - base - slope * x).abs()).fold(0.0, f64::max);
    if slope < 0.5 || worst > slope / 2.0 {
        let spread = by_passes.iter().map(|(count, times)| {
            let each = |time: &u32| f64::from(*time) / ACCESSES as f64;
            let least = times.iter().min().map_or(0.0, each);
            let most = times.iter().max().map_or(0.0, each);
            format!("{count}: {least:.2} to {most:.2}")
        });
        return Err(format!("cycles by passes: {}", spread.collect::<Vec<_>>().join(", ")));
    }
    Ok(())
}

/// Cycles of each test, the least of its runs.
fn time(
    device: &mut dyn Device,
    asked: Asked<'_>,
    instance: &Instance<'_>,
    address: u8,
    tests: &[[u32; LANES]],
) -> Result<Vec<u32>, String> {
    let text = kernel(asked, instance, address, tests.len()).ok_or("not to be timed")?;
    let addresses: Vec<u8> = tests.iter().flatten().flat_map(|at| at.to_le_bytes()).collect();
    let mut least = vec![u32::MAX; tests.len()];
    let args = vec![Arg::Pointer(0), Arg::Pointer(1)];
    let job = Job {
        text,
        kernel: "probe".into(),
        threads: LANES as u32,
        dynamic_shared: 0,
        launches: vec![JobLaunch { grid: [1; 3], args }],
    };
    for _ in 0..REPEATS {
        let after = device.run(&job, &[addresses.clone(), vec![0; 4 * tests.len()]])?;
        let times = after.get(1).map_or(&[][..], |bytes| bytes.as_chunks::<4>().0);
        for (least, time) in least.iter_mut().zip(times) {
            *least = u32::from_le_bytes(*time).min(*least);
        }
    }
    Ok(least)
}

/// Loads one after the other, each at an address that needs the one before; or stores, each with a
/// load behind it that does.
fn kernel(asked: Asked<'_>, instance: &Instance<'_>, address: u8, tests: usize) -> Option<String> {
    let isa = TABLES.isa(instance.atom.isa)?;
    let (mut written, mut result, mut next) = (Vec::new(), None, 40usize);
    for (number, operand) in (0u8..).zip(instance.atom.operands) {
        let name = match (fact::parameter(instance, number), operand.role) {
            (Some(fixed), _) => fixed,
            _ if number == address => "%r9".to_string(),
            (_, Role::Immediate) => "0".to_string(),
            _ => {
                let class = isa.classes.get(operand.class.index())?;
                let count = usize::from(instance.registers(number)?).max(1);
                let names: Vec<String> =
                    (0..count).map(|k| format!("{}{}", class.prefix, next + k)).collect();
                next += count;
                if operand.role == Role::Def {
                    result = Some((names.first()?.clone(), class.bits));
                }
                tuple(&names)
            }
        };
        written.push(name);
    }
    let line = line(instance, &written)?;
    let mut out = head(asked, SHARED);
    declare(&mut out, 40 + next);
    out.push_str("    ld.param.u64 %rd0, [param_0];\n    ld.param.u64 %rd1, [param_1];\n    mov.u32 %r0, %tid.x;\n    mov.u32 %r1, smem;\n    mov.u32 %r2, 0;\n");
    // Shared memory is zero; what is stored is zero.
    let _ = writeln!(
        out,
        "    shl.b32 %r4, %r0, 2;\n    add.u32 %r4, %r4, %r1;\n    mov.u32 %r5, 0;\nZ:\n    st.shared.b32 [%r4], %r2;\n    add.u32 %r4, %r4, 128;\n    add.u32 %r5, %r5, 1;\n    setp.lt.u32 %p0, %r5, {};\n    @%p0 bra Z;",
        SHARED / 128
    );
    for k in 40..next {
        let _ = writeln!(
            out,
            "    mov.b32 %r{k}, 0;\n    mov.b64 %rd{k}, 0;\n    mov.b16 %h{k}, 0;\n    mov.f32 %f{k}, 0f00000000;"
        );
    }
    out.push_str("    mul.wide.u32 %rd2, %r0, 4;\n    add.u64 %rd0, %rd0, %rd2;\n    mov.u32 %r6, 0;\nT:\n    ld.global.b32 %r9, [%rd0];\n    add.u32 %r9, %r9, %r1;\n    mov.u32 %r10, %r9;\n    bar.sync 0;\n");
    out.push_str("    mov.u32 %r7, %clock;\n");
    for _ in 0..ACCESSES {
        let _ = writeln!(out, "    {line}");
        match &result {
            Some((name, 16)) => {
                let _ = writeln!(out, "    cvt.u32.u16 %r11, {name};\n    add.u32 %r9, %r9, %r11;");
            }
            Some((name, 64)) => {
                let _ = writeln!(out, "    cvt.u32.u64 %r11, {name};\n    add.u32 %r9, %r9, %r11;");
            }
            Some((name, _)) => {
                let _ = writeln!(out, "    mov.b32 %r11, {name};\n    add.u32 %r9, %r9, %r11;");
            }
            // The load waits behind the store.
            None => out
                .push_str("    ld.volatile.shared.b32 %r11, [%r1];\n    add.u32 %r9, %r9, %r11;\n"),
        }
    }
    out.push_str("    ld.volatile.shared.b32 %r11, [%r1];\n    add.u32 %r9, %r9, %r11;\n    // Nothing of it is left out: the last address counts.\n    sub.u32 %r9, %r9, %r10;\n    add.u32 %r2, %r2, %r9;\n    mov.u32 %r8, %clock;\n    sub.u32 %r8, %r8, %r7;\n    add.u32 %r8, %r8, %r9;\n    setp.eq.u32 %p1, %r0, 0;\n    @%p1 st.global.b32 [%rd1], %r8;\n");
    let _ = writeln!(
        out,
        "    add.u64 %rd0, %rd0, 128;\n    add.u64 %rd1, %rd1, 4;\n    add.u32 %r6, %r6, 1;\n    setp.lt.u32 %p0, %r6, {tests};\n    @%p0 bra T;\n    ret;\n}}"
    );
    Some(out)
}
