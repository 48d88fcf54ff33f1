//! The verdict on a program: what inference answers, checked point by point against the program
//! itself, beside what TileLang answered.

use crate::expr;
use crate::program::{Told, Units, list, tell};
use lanebook_infer::{BufferId, FragmentForm, IndexForm, Inference, MachineFigures, Stop, Tape};
use lanebook_report::memory::LoopMemory;
use lanebook_tables::CostPolicy;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};

/// Threads and local index of each point, row-major.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The threads of each point.
    pub threads: Vec<BTreeSet<i64>>,
    /// The local index of each point.
    pub index: Vec<i64>,
}

impl Table {
    /// How many registers a thread needs.
    pub fn slots(&self) -> i64 {
        self.index.iter().max().map_or(0, |m| m + 1)
    }
}

/// What inference answered.
#[derive(Debug)]
pub enum Answer {
    /// The program could not be told.
    Unread(String),
    /// Layouts: of buffers by name, of loops in order.
    Layouts(HashMap<String, Table>, Vec<Option<Table>>),
    /// None.
    Stopped(String),
}

/// Asks the inference about a program. The layouts are checked.
pub fn ask(
    memory: &mut LoopMemory,
    program: &Value,
    machine: MachineFigures,
    policy: &CostPolicy<'_>,
    units: Units<'_>,
) -> (Answer, Vec<String>) {
    let threads = u32::try_from(program["threads"].as_u64().unwrap_or(0)).unwrap_or(0);
    let mut inference = Inference::new(memory.parts().inference, machine);
    let told = match tell(&mut inference, program, units) {
        Ok(told) => told,
        Err(e) => return (Answer::Unread(e), Vec::new()),
    };
    if let Err(stop) = inference.run(policy, &mut ()) {
        return (Answer::Stopped(stopped(&told, stop)), Vec::new());
    }
    let mut buffers = HashMap::new();
    let mut faults = Vec::new();
    for (name, id) in &told.buffers {
        if let Some(f) = inference.layout(*id) {
            let table = tabulate(&inference, &f);
            sound(name, &table, i64::from(threads), &mut faults);
            buffers.insert(name.clone(), table);
        }
    }
    check_accesses(&inference, &told, &mut faults);
    let loops = told.loops.iter();
    let loops = loops.map(|l| inference.spread(l.0).map(|f| tabulate(&inference, &f))).collect();
    (Answer::Layouts(buffers, loops), faults)
}

fn stopped(told: &Told, stop: Stop) -> String {
    let text = format!("{stop:?}");
    let named = told.buffers.iter().map(|(n, id)| (format!("{id:?}"), n));
    named.fold(text, |t, (id, name)| t.replace(&id, name))
}

/// All threads and indices of a fragment; outer variables are 0.
pub fn tabulate(inference: &Inference<'_>, f: &FragmentForm) -> Table {
    let arena = &inference.arena;
    let vars: Vec<_> = f.vars.iter().map(|v| (v, arena.extent(v).expect("a variable"))).collect();
    let mut tape = Tape::new(arena, &[f.thread, f.index]).expect("a tape");
    let mut out = Table { threads: Vec::new(), index: Vec::new() };
    let total: u64 = vars.iter().map(|v| u64::from(v.1)).product();
    for flat in 0..total {
        let mut rest = flat;
        for (id, extent) in vars.iter().rev() {
            tape.set(*id, i64::try_from(rest % u64::from(*extent)).expect("small"));
            rest /= u64::from(*extent);
        }
        let mut set = BTreeSet::new();
        let mut index = 0;
        for copy in 0..f.copies {
            tape.set(f.copy, i64::from(copy));
            tape.derive(arena).expect("values");
            set.insert(tape.value(arena, f.thread).expect("a thread"));
            index = tape.value(arena, f.index).expect("an index");
        }
        out.threads.push(set);
        out.index.push(index);
    }
    out
}

/// No two elements at one place, no thread outside of the block.
fn sound(name: &str, table: &Table, threads: i64, faults: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (point, (set, index)) in table.threads.iter().zip(&table.index).enumerate() {
        for t in set {
            if *t < 0 || *t >= threads || *index < 0 {
                faults.push(format!("{name}: element {point} on thread {t} at {index}"));
                return;
            }
            if !seen.insert((*t, *index)) {
                faults.push(format!("{name}: two elements on thread {t} at {index}"));
                return;
            }
        }
    }
}

/// Each access of each operator: who executes it holds the element, and who holds what is written
/// writes it.
fn check_accesses(inference: &Inference<'_>, told: &Told, faults: &mut Vec<String>) {
    let names: HashMap<BufferId, &String> = told.buffers.iter().map(|(n, id)| (*id, n)).collect();
    let mut tables: HashMap<BufferId, Table> = HashMap::new();
    for id in told.buffers.values() {
        if let Some(f) = inference.layout(*id) {
            tables.insert(*id, tabulate(inference, &f));
        }
    }
    let arena = &inference.arena;
    for k in 0..inference.counts().1 {
        let id = lanebook_infer::OperatorId(u16::try_from(k).expect("few"));
        let op = *inference.operator_of(id).expect("an operator");
        let Some(spread) = inference.spread(id) else { continue };
        for access in inference.accesses_of(&op) {
            let Some(table) = tables.get(&access.buffer) else { continue };
            let dims = inference.buffer_of(access.buffer).expect("a buffer").dims;
            let shape: Vec<i64> =
                dims.iter().map(|d| i64::from(arena.extent(d).expect("an extent"))).collect();
            if let Some(fault) = check_access(inference, &spread, access, table, &shape) {
                faults.push(format!("operator {k}, {}: {fault}", names[&access.buffer]));
            }
        }
    }
}

fn check_access(
    inference: &Inference<'_>,
    spread: &FragmentForm,
    access: &lanebook_infer::Access,
    table: &Table,
    shape: &[i64],
) -> Option<String> {
    let arena = &inference.arena;
    let mut forms: Vec<IndexForm> = vec![spread.thread];
    forms.extend_from_slice(access.indices());
    let mut tape = Tape::new(arena, &forms).expect("a tape");
    let mut vars = arena.variables(&forms).expect("variables");
    vars.retain(|v| v.0 != spread.copy);
    let mut counters = vec![0u32; vars.len()];
    loop {
        for ((id, _), at) in vars.iter().zip(&counters) {
            tape.set(*id, i64::from(*at));
        }
        let mut doers = BTreeSet::new();
        let mut flat = 0;
        for copy in 0..spread.copies {
            tape.set(spread.copy, i64::from(copy));
            tape.derive(arena).expect("values");
            doers.insert(tape.value(arena, spread.thread).expect("a thread"));
            flat = 0;
            for (index, extent) in access.indices().iter().zip(shape) {
                let at = tape.value(arena, *index).expect("an index");
                if at < 0 || at >= *extent {
                    return Some(format!("index {at} of {extent}"));
                }
                flat = flat * extent + at;
            }
        }
        let holders = &table.threads[usize::try_from(flat).expect("small")];
        if !doers.is_subset(holders) {
            return Some(format!("{doers:?} ask for element {flat}, {holders:?} hold it"));
        }
        if access.write && doers != *holders {
            return Some(format!("{doers:?} write element {flat}, {holders:?} hold it"));
        }
        let mut k = counters.len();
        loop {
            if k == 0 {
                return None;
            }
            k -= 1;
            counters[k] += 1;
            if counters[k] < vars[k].1 {
                break;
            }
            counters[k] = 0;
        }
    }
}

/// TileLang's table of a layout; `None` of one in shared memory, which names no threads.
///
/// # Errors
/// What cannot be read.
pub fn recorded(layout: &Value) -> Result<Option<Table>, String> {
    let Some(replicate) = layout.get("replicate").and_then(Value::as_i64) else {
        return Ok(None);
    };
    let shape: Vec<i64> = list(&layout["shape"]).iter().filter_map(Value::as_i64).collect();
    let total: i64 = shape.iter().product();
    // Variables from outside of the layout are 0, as in the recorded tables.
    fn of(names: &HashMap<String, i64>) -> impl Fn(&str) -> Option<i64> {
        move |name| names.get(name).copied().or_else(|| name.starts_with('?').then_some(0))
    }
    let mut out = Table { threads: Vec::new(), index: Vec::new() };
    for flat in 0..total {
        let mut names = HashMap::new();
        let mut rest = flat;
        for (k, extent) in shape.iter().enumerate().rev() {
            names.insert(format!("i{k}"), rest % extent);
            rest /= extent;
        }
        let mut set = BTreeSet::new();
        for rep in 0..replicate {
            names.insert("rep".into(), rep);
            set.insert(expr::value(&layout["thread_expr"], &of(&names))?);
        }
        let mut index = 0;
        for (e, extent) in list(&layout["index_expr"]).iter().zip(list(&layout["out_shape"])) {
            index = index * extent.as_i64().unwrap_or(1) + expr::value(e, &of(&names))?;
        }
        out.threads.push(set);
        out.index.push(index);
    }
    Ok(Some(out))
}
