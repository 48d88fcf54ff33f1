//! Conversions between register layouts beside Triton's, record by record.
//!
//! A record of `conversion_costs.jsonl` names two layouts and what Triton 3.9 pays to go from one to
//! the other. Here a program holds a tile in the first, converts it to the second and stores it;
//! the conversion between the two is counted alone, as if nothing stood before it: all instructions
//! that its addresses need are its own. The text runs on labelled elements, so that a conversion
//! that brings a wrong one is found, and the replay counts the bank passes a second time.
use crate::slice::slice;
use lanebook::TABLES;
use lanebook::compile::{Capacities, Compiled, compile};
use lanebook::emit::step::{Inst, InstKind, NO_GUARD};
use lanebook::ir::{Options, Program, SmallStorage, parse, verify};
use lanebook::plan::SharedExchange;
use lanebook::tables::{ArchId, AtomClass, OpRole};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");

/// Room for tiles of 256 registers a lane, converted three times.
const ROOM: Capacities = Capacities {
    steps: 16_384,
    tuples: 8_192,
    nodes: 4_096,
    shuffles: 16,
    patterns: 128,
    addresses: 1_024,
    buckets: 1_024,
    ..Capacities::DEFAULT
};

type Room = lanebook::compile_storage!(ROOM);

/// Bytes of stack to measure with.
const STACK: usize = 64 << 20;

/// What one conversion costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Instructions of a thread that go to shared memory or to other lanes.
    pub memory: u64,
    /// Bank passes of the whole block.
    pub passes: u64,
    /// Instructions of a thread that addresses need.
    pub address: u64,
    /// Other instructions of a thread.
    pub alu: u64,
    /// Barriers.
    pub barriers: u64,
    /// Bytes of shared memory.
    pub scratch: u64,
}

impl Cost {
    /// All instructions.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.memory + self.address + self.alu
    }
}

/// A conversion with both costs.
#[derive(Clone, Debug)]
pub struct Record {
    /// The record's name.
    pub id: String,
    /// The architecture.
    pub target: String,
    /// The element's type.
    pub elem: String,
    /// Triton's way: `register`, `shuffle` or `shared`.
    pub class: String,
    /// Triton's cost.
    pub triton: Cost,
    /// Ours, or why it is refused.
    pub ours: Result<Cost, String>,
    /// Triton's passes as recorded, where its own instructions cannot do with so few: see
    /// [`least_of`].
    pub refuted: Option<u64>,
    /// The instructions of ours, by name.
    pub atoms: String,
}

/// What the figures of the project's own records may be at the most: a floor that is lowered is
/// noticed. Each is a sum, or a number of those records in which Triton goes through memory.
pub const BUDGET: [(&str, u64); 8] = [
    ("refused", 2),
    ("wrong", 0),
    ("passes", 22_696),
    ("memory instructions", 1_896),
    ("instructions", 8_430),
    ("scratch", 1_153_024),
    ("records with more passes", 0),
    ("records with more memory instructions", 9),
];

fn number(value: &Value, key: &str) -> Result<u64, String> {
    value[key].as_u64().ok_or_else(|| format!("no number `{key}`"))
}

fn word<'v>(value: &'v Value, key: &str) -> Result<&'v str, String> {
    value[key].as_str().ok_or_else(|| format!("no text `{key}`"))
}

/// Reads and measures every record of a file.
///
/// # Errors
/// A file or a record that cannot be read.
pub fn records(path: &Path) -> Result<Vec<Record>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let lines: Vec<(usize, String)> = (1..)
        .zip(text.lines().map(str::to_string))
        .filter(|(_, line)| !line.trim().is_empty())
        .collect();
    let name = path.display().to_string();
    let all = move || {
        lines.iter().map(|(at, l)| record(l).map_err(|e| format!("{name}:{at}: {e}"))).collect()
    };
    // The pools stand on the stack before they are boxed, where nothing is optimised.
    let thread =
        std::thread::Builder::new().stack_size(STACK).spawn(all).map_err(|e| e.to_string())?;
    thread.join().unwrap_or_else(|_| Err("a record made the measurement panic".to_string()))
}

fn record(line: &str) -> Result<Record, String> {
    let value: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let peer = &value["triton"];
    let counts = peer["memory"].as_object().ok_or("no `memory`")?;
    let triton = Cost {
        memory: counts.values().filter_map(Value::as_u64).sum(),
        passes: number(peer, "passes")?,
        address: number(peer, "address")?,
        alu: number(peer, "alu")?,
        barriers: number(peer, "barriers")?,
        scratch: number(peer, "scratch")?,
    };
    let (target, elem) = (word(&value, "target")?, word(&value, "elem")?);
    let shape: Vec<u64> =
        value["shape"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
    let [rows, cols] = shape[..] else { return Err(format!("a shape of two extents: {shape:?}")) };
    let source =
        source(word(&value, "src")?, word(&value, "dst")?, (rows, cols, elem), threads(target)?)?;
    let mut atoms = String::new();
    let ours = measure_one(&source, target, (rows * cols, bytes_of(elem)?), &mut atoms);
    let least = least_of(&value)?;
    let refuted = (triton.passes < least).then_some(triton.passes);
    let triton = Cost { passes: refuted.map_or(triton.passes, |_| least), ..triton };
    Ok(Record {
        id: word(&value, "id")?.to_string(),
        target: target.to_string(),
        elem: elem.to_string(),
        class: word(&value, "cls")?.to_string(),
        triton,
        ours,
        refuted,
        atoms,
    })
}

/// Bytes that a lane stores or loads by an instruction of shared memory of this name; 0 for one that
/// moves registers between lanes. `None` if the name does not say.
#[must_use]
pub fn lane_bytes(name: &str) -> Option<u64> {
    if name.starts_with("shfl") || name.starts_with("ds_bpermute") {
        return Some(0);
    }
    let number = |from: &str| {
        let digits: String = from.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    if let Some((_, many)) = name.split_once("m8n8.x") {
        // A matrix of 8 x 8 elements of 16 bits is 4 bytes of each of 32 lanes.
        return Some(4 * number(many)?);
    }
    let at = name.rfind(['b', 'u'])?;
    let pieces = if name.contains(".v4.") {
        4
    } else if name.contains(".v2.") || name.contains("read2") || name.contains("write2") {
        2
    } else {
        1
    };
    let bits = match name.contains("_d16_hi") {
        true => 16,
        false => number(name.get(at + 1..)?)?,
    };
    Some(pieces * bits / 8)
}

/// The fewest passes that Triton's own instructions can take: in one, all banks side by side, and
/// where lanes hold no copies, each lane of an instruction moves other bytes. Warps with copies of
/// what is stored may leave their stores out.
///
/// # Errors
/// A record that cannot be read; an instruction of which nothing is known.
pub fn least_of(value: &Value) -> Result<u64, String> {
    let copies = value["copies"].as_array().ok_or("no `copies`")?;
    if copies.iter().any(|kind| kind == "lanecopy") {
        return Ok(0);
    }
    let target = word(value, "target")?;
    let arch = TABLES.arch_named(target).and_then(|id| TABLES.arch(id));
    let arch = arch.ok_or(format!("{target}: unknown"))?;
    let span = arch.banks.iter().map(|m| u64::from(m.banks) * u64::from(m.bank_bytes)).max();
    let (lanes, span) = (arch.wave_lanes.first().ok_or("no wave")?, span.ok_or("no banks")?);
    let has_copies = word(value, "src")?.split_once("R[").is_some_and(|r| r.1.contains("@warpid"));
    let counts = value["triton"]["memory"].as_object().ok_or("no `memory`")?;
    counts
        .iter()
        .map(|(name, count)| {
            let bytes = lane_bytes(name).ok_or(format!("{name}: of unknown width"))?;
            let stores = name.starts_with("st") || name.starts_with("ds_write");
            let warps = if stores && has_copies { 1 } else { WARPS };
            let count = count.as_u64().ok_or("no count")?;
            Ok(count * warps * (u64::from(*lanes) * bytes).div_ceil(span))
        })
        .sum()
}

/// Warps of Triton's programs.
const WARPS: u64 = 4;

/// Triton's programs have four warps.
fn threads(target: &str) -> Result<u32, String> {
    let arch = TABLES.arch_named(target).and_then(|id| TABLES.arch(id));
    let wave = arch.and_then(|arch| arch.wave_lanes.first()).ok_or(format!("{target}: unknown"))?;
    Ok(WARPS as u32 * u32::from(*wave))
}

fn bytes_of(elem: &str) -> Result<u64, String> {
    let dtype = TABLES.dtypes.iter().find(|d| d.name == elem).ok_or(format!("{elem}: unknown"))?;
    Ok(u64::from(dtype.bits) / 8)
}

/// Rows of neighbours, as tiles lie between memory and what is converted: neither end of the
/// conversion is loaded or stored as it is, whose addresses it would share then.
fn neighbours((rows, cols, elem): (u64, u64, &str), threads: u32) -> Result<String, String> {
    let (wave, bits) = (u64::from(threads) / WARPS, 8 * bytes_of(elem)?);
    let all = rows * cols;
    let own = (all / u64::from(threads)).max(32 / bits);
    let vector = (64 / bits).min(cols).min(own);
    let lanes = (all / vector).min(wave);
    let warps = (all / vector / lanes).min(WARPS);
    let copies = |left: u64, apart: u64, axis: &str| match left {
        1 => String::new(),
        _ => format!(" + R[{left}:{apart}@{axis}]"),
    };
    Ok(format!(
        "S[({},{warps},{lanes},{vector}):({}@bit,1@warpid,1@laneid,{bits}@bit)]{}{}",
        all / vector / lanes / warps,
        vector * bits,
        copies(wave / lanes, lanes, "laneid"),
        copies(WARPS / warps, warps, "warpid"),
    ))
}

/// Holds a tile in one layout, converts it to the other, stores it.
fn source(src: &str, dst: &str, of: (u64, u64, &str), threads: u32) -> Result<String, String> {
    let ((rows, cols, elem), outside) = (of, neighbours(of, threads)?);
    let (memref, tile) =
        (format!("memref<{rows}x{cols}x{elem}, #gmem>"), format!("tensor<{rows}x{cols}x{elem}"));
    Ok(format!(
        "#src = {src}
#dst = {dst}
#outside = {outside}
func @conversion(%X: {memref} {{align = 16}}, %Y: {memref} {{align = 16}}) {{threads = {threads}}} {{
  %x = tiled_load %X[0, 0] : {memref} -> {tile}, #outside>
  %s = convert_layout %x : {tile}, #outside> -> {tile}, #src>
  %d = convert_layout %s : {tile}, #src> -> {tile}, #dst>
  %y = convert_layout %d : {tile}, #dst> -> {tile}, #outside>
  tiled_store %y, %Y[0, 0] : {tile}, #outside> -> {memref}
}}
"
    ))
}

fn measure_one(
    source: &str,
    target: &str,
    tile: (u64, u64),
    atoms: &mut String,
) -> Result<Cost, String> {
    let arch = TABLES.arch_named(target).ok_or("an unknown architecture")?;
    let mut storage = Box::new(SmallStorage::new());
    let mut program = parse(storage.pools(), &TABLES, source, Options::default())
        .map_err(|e| format!("{e:?}"))?;
    verify(&mut program).map_err(|e| format!("{e:?}"))?;
    let mut room = Box::new(Room::new());
    let compiled =
        compile(&TABLES, arch, &mut program, room.scratch()).map_err(|e| format!("{e:?}"))?;
    lanebook::check::plan(&TABLES, &program, &compiled.plan)
        .map_err(|e| format!("WRONG: the plan: {e:?}"))?;
    lanebook::check::order(&TABLES, &program, &compiled)
        .map_err(|e| format!("WRONG: the order: {e:?}"))?;
    let mut text = String::new();
    compiled.write(&TABLES, &program, &mut text).map_err(|e| format!("{e:?}"))?;
    replay(&text, target, tile, &compiled).map_err(|e| format!("WRONG: {e}"))?;
    cost(&program, &compiled, arch, atoms)
}

/// Runs the text on labelled elements, digit by digit where they are narrow, and holds its passes
/// against the plan's.
fn replay(
    text: &str,
    target: &str,
    (elements, each): (u64, u64),
    compiled: &Compiled<'_>,
) -> Result<(), String> {
    let is_ptx = target.starts_with("sm_");
    let kernel = if is_ptx { Kernel::parse_ptx(text) } else { Kernel::parse_amdgcn(text) }
        .map_err(|e| e.to_string())?;
    let banks = if is_ptx {
        Ok(BankModel::nvidia_of(target))
    } else {
        BankModel::from_jsonl(target, PHASES)
    }
    .map_err(|e| e.to_string())?;
    for digit in 0..elements.ilog2().div_ceil(8 * each as u32) {
        let label = |e: u64| e >> (8 * each * u64::from(digit));
        let bytes: Vec<u8> = (0..elements)
            .flat_map(|e| label(e).to_le_bytes().into_iter().take(each as usize))
            .collect();
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        let mut memory = Memory::new();
        let x = memory.add_u32("X", &words);
        let y = memory.add_zeros("Y", bytes.len());
        let launch = Launch::new(compiled.plan.threads, vec![Param::Buffer(x), Param::Buffer(y)]);
        let report = run(&kernel, &launch.banks(banks.clone()), &mut memory)
            .map_err(|fault| fault.to_string())?;
        if memory.bytes(y) != bytes {
            return Err("an element in a wrong place".to_string());
        }
        let seen: u64 = report.sites.values().map(|site| site.transactions).sum();
        let planned: u64 =
            compiled.plan.exchanges.iter().map(|e| passes(e, compiled.plan.warps)).sum();
        let is_modelled = report.sites.values().all(|site| site.not_modelled == 0);
        if is_modelled && seen != planned {
            return Err(format!("{planned} bank passes planned, {seen} in the replay"));
        }
    }
    Ok(())
}

/// Bank passes of an exchange in all warps.
fn passes(exchange: &SharedExchange, warps: u8) -> u64 {
    exchange.store.passes(warps) + exchange.load.passes(warps)
}

fn cost(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    arch: ArchId,
    atoms: &mut String,
) -> Result<Cost, String> {
    let op = program
        .inside(compiled.function)
        .filter(|op| program.role(*op) == OpRole::Convert)
        .nth(1)
        .ok_or("no conversion")?;
    let origin = u16::try_from(op.index()).map_err(|e| e.to_string())?;
    let own = |step: &Inst| step.origin == origin && step.purpose != InstKind::Label;
    let mut cost = Cost::default();
    if let Some(exchange) = compiled.plan.exchange_of(op) {
        let tile = compiled.plan.allocs.get(usize::from(exchange.alloc)).ok_or("no tile")?;
        cost.scratch = u64::from(tile.bytes);
        cost.passes = passes(exchange, compiled.plan.warps);
    }
    let moves: Vec<usize> = (0..compiled.steps.len())
        .filter(|at| own(&compiled.steps[*at]) && is_memory(&compiled.steps[*at]))
        .collect();
    // What is behind the barrier before a store, such as a movement between lanes, needs none.
    let through =
        |at: &usize| TABLES.atom(compiled.steps[*at].atom).is_some_and(|a| a.movement.is_some());
    let halves: Vec<usize> = moves.iter().copied().filter(through).collect();
    let slice = slice(compiled, &moves, &[], arch);
    let mut names: Vec<(&str, u32)> = Vec::new();
    for (at, step) in compiled.steps.iter().enumerate() {
        let inside = halves.first() <= Some(&at) && Some(&at) <= halves.last();
        let atom = TABLES.atom(step.atom).filter(|_| step.purpose != InstKind::Label);
        let Some(atom) = atom else { continue };
        if moves.contains(&at) {
            cost.memory += 1;
            cost.alu += kept_lines(compiled, at);
        } else if slice.contains(&at) {
            cost.address += 1;
        } else if own(step) && step.purpose != InstKind::Sync && atom.class != AtomClass::Sync {
            cost.alu += 1;
        } else if inside && is_barrier(arch, step) {
            cost.barriers += 1;
        }
        if own(step) {
            match names.iter_mut().find(|(name, _)| *name == atom.name()) {
                Some((_, n)) => *n += 1,
                None => names.push((atom.name(), 1)),
            }
        }
    }
    *atoms = names.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ");
    Ok(cost)
}

/// Instructions around a step that keep it to some lanes: those of the text, which says for steps
/// one after the other once what they have in common.
fn kept_lines(compiled: &Compiled<'_>, at: usize) -> u64 {
    let (arch, step) = (TABLES.arch(compiled.plan.arch), &compiled.steps[at]);
    let rules = arch.and_then(|arch| TABLES.isa(arch.isa)).and_then(|isa| isa.guard);
    let kept = |step: &Inst| (step.guard != NO_GUARD).then_some((step.guard_class, step.guard));
    let is_first = at == 0 || kept(&compiled.steps[at - 1]) != kept(step);
    match rules {
        Some(rules) if kept(step).is_some() && rules.test.is_none() && is_first => {
            u64::from(rules.issue)
        }
        _ => 0,
    }
}

/// Whether a step goes to shared memory, or to other lanes by the same way.
fn is_memory(step: &Inst) -> bool {
    let through_crossbar = |name: &str| name.starts_with("shfl") || name.starts_with("ds_");
    step.purpose != InstKind::Label
        && TABLES
            .atom(step.atom)
            .is_some_and(|atom| atom.movement.is_some() || through_crossbar(atom.name()))
}

fn is_barrier(arch: ArchId, step: &Inst) -> bool {
    let rules = TABLES.arch(arch).map(|arch| arch.sync).into_iter().flatten();
    rules.flat_map(|rule| rule.steps).any(|s| s.barrier && s.atom == step.atom)
}

/// The same figure of both sides.
type Figure = (&'static str, fn(&Cost) -> u64);

const FIGURES: [Figure; 6] = [
    ("passes", |c| c.passes),
    ("memory instructions", |c| c.memory),
    ("address instructions", |c| c.address),
    ("instructions", Cost::instructions),
    ("barriers", |c| c.barriers),
    ("scratch", |c| c.scratch),
];

/// Sums, means and how many are fewer, equal and more, of some records.
fn summary(name: &str, records: &[&Record], out: &mut String) {
    let both: Vec<(&Cost, &Cost)> =
        records.iter().filter_map(|r| Some((r.ours.as_ref().ok()?, &r.triton))).collect();
    let _ =
        writeln!(out, "{name}: {} records, {} refused", records.len(), records.len() - both.len());
    for (what, figure) in FIGURES {
        let pairs: Vec<(u64, u64)> = both.iter().map(|(a, b)| (figure(a), figure(b))).collect();
        let positive: Vec<f64> = pairs
            .iter()
            .filter(|(a, b)| *a > 0 && *b > 0)
            .map(|(a, b)| (*a as f64 / *b as f64).ln())
            .collect();
        let mean = (positive.iter().sum::<f64>() / positive.len().max(1) as f64).exp();
        let count = |is: fn(&(u64, u64)) -> bool| pairs.iter().filter(|pair| is(pair)).count();
        let _ = writeln!(
            out,
            "  {what:<22} {:>8} Triton {:>8}  mean {mean:>5.2}  fewer {:>3} equal {:>3} more {:>3}",
            pairs.iter().map(|(a, _)| a).sum::<u64>(),
            pairs.iter().map(|(_, b)| b).sum::<u64>(),
            count(|(a, b)| a < b),
            count(|(a, b)| a == b),
            count(|(a, b)| a > b),
        );
    }
}

/// The figures that [`BUDGET`] holds, by its names.
fn held(records: &[Record]) -> Vec<(&'static str, u64)> {
    let figure = |name: &str| FIGURES.iter().find(|(what, _)| *what == name).map(|(_, f)| *f);
    let ours = || records.iter().filter_map(|r| Some((r.ours.as_ref().ok()?, &r.triton)));
    // Triton's moves between lanes are no passes: only where it goes through memory, too, can ours be
    // more.
    let through = || {
        let shared = records.iter().filter(|r| r.class == "shared");
        shared.filter_map(|r| Some((r.ours.as_ref().ok()?, &r.triton)))
    };
    let value = |name: &str| match name {
        "refused" => records.iter().filter(|r| r.ours.is_err()).count() as u64,
        "wrong" => records.iter().filter(|r| is_wrong(r)).count() as u64,
        _ => match (name.strip_prefix("records with more ").and_then(figure), figure(name)) {
            (Some(f), _) => through().filter(|(a, b)| f(a) > f(b)).count() as u64,
            (None, Some(f)) => ours().map(|(a, _)| f(a)).sum(),
            (None, None) => u64::MAX,
        },
    };
    BUDGET.iter().map(|(name, _)| (*name, value(name))).collect()
}

fn is_wrong(record: &Record) -> bool {
    record.ours.as_ref().is_err_and(|why| why.starts_with("WRONG"))
}

/// The table of all records as text, one line a record with `each`; and what is above `budget`.
#[must_use]
pub fn table(
    records: &[Record],
    each: bool,
    budget: Option<&[(&str, u64)]>,
) -> (String, Vec<String>) {
    let mut out = String::new();
    for r in records {
        match &r.ours {
            Err(why) => {
                let _ = writeln!(out, "{} {} {}: {why}", r.id, r.target, r.elem);
            }
            Ok(_) if r.refuted.is_some() && !each => {
                let (recorded, least) = (r.refuted.unwrap_or(0), r.triton.passes);
                let _ = writeln!(
                    out,
                    "{} {}: {recorded} passes recorded, but its own instructions take no fewer than {least}",
                    r.id, r.target
                );
            }
            Ok(ours) if each => {
                let _ = write!(out, "{} {} {} {}:", r.id, r.target, r.elem, r.class);
                for (what, figure) in FIGURES {
                    let _ = write!(out, " {what} {}/{}", figure(ours), figure(&r.triton));
                }
                let _ = writeln!(out, " | {}", r.atoms);
            }
            Ok(_) => {}
        }
    }
    let mut groups: Vec<(String, Vec<&Record>)> =
        vec![("all".to_string(), records.iter().collect())];
    for r in records {
        let bits = bytes_of(&r.elem).map_or(0, |bytes| 8 * bytes);
        for name in [format!("{bits} bits"), r.class.clone(), r.target.clone()] {
            match groups.iter_mut().find(|(group, _)| *group == name) {
                Some((_, members)) => members.push(r),
                None => groups.push((name, vec![r])),
            }
        }
    }
    groups[1..].sort_by(|a, b| a.0.cmp(&b.0));
    groups.iter().for_each(|(name, members)| summary(name, members, &mut out));
    let mut above: Vec<String> =
        records.iter().filter(|r| is_wrong(r)).map(|r| format!("{} is wrong", r.id)).collect();
    for ((name, value), (_, most)) in held(records).iter().zip(budget.into_iter().flatten()) {
        let _ = writeln!(out, "{name}: {value}, at the most {most}");
        if value > most {
            above.push(format!("{name}: {value}, but at the most {most}"));
        }
    }
    (out, above)
}

/// The project's own records.
#[must_use]
pub fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracle/data/triton/conversion_costs.jsonl")
}
