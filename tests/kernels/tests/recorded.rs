//! Recorded programs of TileLang's (`tests/oracle/data/tilelang`), written as texts of the tile
//! language: those that TileLang lowers are compiled, checked, and run by the replay against the
//! interpreter of their text. None may be wrong; what is refused is refused for a reason that is
//! counted here.
#![allow(missing_docs)]

use lanebook_inference_tests::expr;
use lanebook_inference_tests::text::{tile_text, with_casts};
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::{assembled, checked, parallel, try_with_kernel};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const ARCHS: [&str; 3] = ["sm_80", "gfx942", "gfx1100"];

/// Where these refuse a program, because they have no unit for it, others of their vendors do not.
const FURTHER: [&str; 2] = ["sm_89", "gfx950"];

/// Programs that run right on an architecture of each vendor, at the least.
const RIGHT: usize = 309;

/// The records of all families.
fn records() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracle/data/tilelang");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("recorded programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("programs_"))
        })
        .collect();
    files.sort();
    let text = |file: std::path::PathBuf| std::fs::read_to_string(file).expect("text");
    let lines = files.into_iter().map(text).collect::<String>();
    lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// The text of a program whose tensors begin where TileLang takes them to begin.
fn aligned(program: &Value) -> Result<String, String> {
    let text = tile_text(&with_casts(program))?;
    let (head, body) = text.split_once(") {threads").ok_or("no threads")?;
    let head = head.replace('>', "> {align = 16}");
    Ok(format!("{head}) {{threads{body}"))
}

/// The same where what all threads read outside of loops may go through shared memory: a written
/// layout is obeyed, and TileLang reads there what a thread does not hold.
fn exchanged(text: &str) -> String {
    let mut out = String::new();
    let mut inside = 0usize;
    for line in text.lines() {
        let is_nest = line.trim_start().starts_with("parallel");
        let is_load = line.contains("= memref.load %") && inside == 0;
        match line.split_once(" : ").filter(|_| is_load) {
            Some((load, ty)) => out += &format!("{load} {{exchange = allow}} : {ty}\n"),
            None => out += &format!("{line}\n"),
        }
        // Of a nest everything is inside until its bracket closes.
        if is_nest || inside > 0 {
            inside = (inside + line.matches('{').count()).saturating_sub(line.matches('}').count());
        }
    }
    out
}

/// The kind of a refusal: its words without numbers.
fn kind(why: &str) -> String {
    let word = |w: &str| w.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_string();
    if let Some((_, why)) = why.split_once("why: ") {
        return format!("elements: {}", word(why));
    }
    why.split('{').next().unwrap_or(why).chars().take(60).collect()
}

/// What became of a program.
#[derive(Default)]
struct Told {
    /// It is right on a machine of each vendor.
    right: bool,
    /// Why it is refused.
    refused: Vec<String>,
    /// What is wrong.
    wrong: Vec<String>,
}

/// The vendor of an architecture, by a number.
fn vendor(arch: &str) -> usize {
    usize::from(arch.starts_with("gfx"))
}

/// Compiles, checks and runs a program.
fn attempt(
    id: &str,
    (text, said): (&str, &Interpreted),
    arch: &str,
    (done, out): (&mut [bool; 2], &mut Told),
) {
    let made = try_with_kernel(text, arch, |program, compiled, out| {
        (checked(program, compiled), out.to_string())
    });
    match made {
        Ok((sound, kernel)) => {
            let taken = sound.and_then(|()| assembled(arch, &kernel));
            match taken.and_then(|()| run_text(said, &kernel, &[], arch)) {
                Ok(()) => done[vendor(arch)] = true,
                Err(why) => out.wrong.push(format!("{id}, {arch}: {why}\n{text}")),
            }
        }
        Err(why) => out.refused.push(format!("{arch}: {}", kind(&why))),
    }
}

fn told(record: &Value, archs: &[&str]) -> Told {
    let mut out = Told::default();
    let id = record["program"]["id"].as_str().expect("an id");
    let text = match aligned(&record["program"]) {
        Ok(text) => text,
        Err(why) => {
            out.refused.push(format!("unsaid: {why}"));
            return out;
        }
    };
    let given = Given { turns: 2, salt: 0, fill: Some(Fill::Small) };
    let said = match Interpreted::with(&text, given) {
        Ok(said) => said,
        Err(why) => {
            out.refused.push(format!("not read: {why}"));
            return out;
        }
    };
    let mut done = [false; 2];
    for &arch in archs {
        attempt(id, (&text, &said), arch, (&mut done, &mut out));
    }
    // What is refused for lack of a unit, or because a layout is obeyed.
    let mut others = Told::default();
    for arch in FURTHER.into_iter().filter(|_| archs == ARCHS) {
        if !done[vendor(arch)] {
            attempt(id, (&text, &said), arch, (&mut done, &mut others));
        }
    }
    let exchanged = exchanged(&text);
    if done != [true; 2] && exchanged != text {
        let said = Interpreted::with(&exchanged, given).expect("the same program");
        for &arch in archs {
            attempt(id, (&exchanged, &said), arch, (&mut done, &mut others));
        }
    }
    out.wrong.append(&mut others.wrong);
    out.right = done == [true; 2];
    out
}

#[test]
fn recorded_programs_run_right_or_are_refused() {
    let records = records();
    let lower: Vec<_> = records.iter().filter(|r| r["result"]["verdict"] == "lowers").collect();
    let all = parallel::each(&lower, |record| told(record, &ARCHS));
    let mut refused: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (record, told) in lower.iter().zip(&all) {
        let id = record["program"]["id"].as_str().expect("an id");
        told.refused.iter().for_each(|why| refused.entry(why).or_default().push(id));
    }
    for (why, ids) in &refused {
        println!("{:4} {why}: {}", ids.len(), ids[..ids.len().min(4)].join(" "));
    }
    let wrong: Vec<&str> = all.iter().flat_map(|told| &told.wrong).map(String::as_str).collect();
    let right = all.iter().filter(|told| told.right).count();
    println!("{right} of {} right on {ARCHS:?}, {} wrong", all.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(right >= RIGHT, "{right} of {} right, {RIGHT} before", all.len());
}

/// Three, six and twelve waves: loops are dealt out to any number of whole ones.
#[test]
fn recorded_programs_run_right_on_three_waves() {
    let mut records = records();
    records.retain(|r| r["result"]["verdict"] == "lowers");
    let few: Vec<Value> = (records.into_iter().step_by(3))
        .zip([96, 192, 384].into_iter().cycle())
        .map(|(mut record, threads)| {
            record["program"]["threads"] = threads.into();
            record
        })
        .collect();
    let all = parallel::each(&few, |record| told(record, &["sm_80", "gfx942"]));
    let wrong: Vec<&str> = all.iter().flat_map(|told| &told.wrong).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let right = all.iter().filter(|told| told.right).count();
    println!("{right} of {} right", all.len());
    // Waves of 64 are no part of 96 threads.
    assert!(right * 2 >= all.len(), "{right} of {}", all.len());
}

/// How many neighbouring elements a thread of TileLang's loop moves at a time, by the tables: as many
/// as lie next to each other in its work, and make 16 bytes at the most.
fn vector(plan: &Value, bytes: u64) -> Option<u64> {
    let numbers =
        |of: &Value| -> Option<Vec<i64>> { of.as_array()?.iter().map(Value::as_i64).collect() };
    let threads = numbers(&plan["thread"]["table"])?;
    let index = numbers(&plan["index"][0]["table"])?;
    let copies = usize::try_from(plan["replicate"].as_u64()?).ok()?;
    let threads: Vec<i64> = threads.chunks(copies).map(|own| own[0]).collect();
    let fits = |many: &u64| {
        let many = usize::try_from(*many).expect("small");
        threads.len().is_multiple_of(many)
            && threads.chunks(many).zip(index.chunks(many)).all(|(own, at)| {
                own.iter().all(|t| *t == own[0]) && at.windows(2).all(|pair| pair[0] + 1 == pair[1])
            })
    };
    [16, 8, 4, 2, 1].into_iter().filter(|many| many * bytes <= 16).find(fits)
}

/// Loops between tensors take no more instructions of memory than TileLang's plans do.
#[test]
fn copies_take_no_more_instructions_than_in_tilelang() {
    let (mut seen, mut worse) = (0, Vec::new());
    for record in records() {
        let program = &record["program"];
        let family = program["family"].as_str().unwrap_or_default();
        let plans = record["result"]["loops"].as_array().cloned().unwrap_or_default();
        if record["result"]["verdict"] != "lowers"
            || !["vcopy", "loopann", "ragged"].contains(&family)
        {
            continue;
        }
        let buffers = program["buffers"].as_array().expect("buffers");
        let wide = buffers.iter().filter_map(bytes).max().expect("elements");
        if buffers.iter().any(|b| b["scope"] == "shared" || bytes(b) != Some(wide)) {
            continue;
        }
        // Through a fragment, its layout says what a copy into it and out of it moves.
        let held = &record["result"]["buffers"]["f"];
        let plan = if held.is_object() { held } else { plans.first().unwrap_or(held) };
        let Some(many) = vector(plan, wide) else { continue };
        let id = program["id"].as_str().expect("an id");
        let slots = plan["facts"]["local_slots"].as_u64().or_else(|| {
            let table = plan["index"][0]["table"].as_array()?;
            table.iter().filter_map(Value::as_u64).max().map(|last| last + 1)
        });
        let allowed = slots.expect("slots").div_ceil(many);
        let text = aligned(program).expect("a text");
        for (arch, loads, stores) in
            [("sm_80", "ld.global", "st.global"), ("gfx942", "global_load", "global_store")]
        {
            let Ok(kernel) = try_with_kernel(&text, arch, |_, _, out| out.to_string()) else {
                continue;
            };
            seen += 1;
            for word in [loads, stores] {
                let have = kernel.matches(word).count() as u64;
                if have > allowed {
                    worse.push(format!("{id}, {arch}: {have} of {word}, {allowed} in TileLang"));
                }
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
    assert!(seen >= 30, "only {seen} kernels");
}

/// The elements of a loop's accesses to global memory, as TileLang's plan deals them out: by thread
/// and local index, and where in the buffer.
struct PlannedLoop {
    slots: usize,
    /// Of each thread's local indices the point of the loop.
    points: BTreeMap<(i64, i64), usize>,
    /// Of each access the element at each point, and its bytes.
    accesses: Vec<(Vec<i64>, u64)>,
}

/// The buffers that an expression loads from, with their indices.
fn loads<'v>(e: &'v Value, out: &mut Vec<(&'v str, &'v Value)>) {
    let Some(parts) = e.as_array() else { return };
    if parts.first().and_then(Value::as_str) == Some("load") {
        out.push((parts[1].as_str().expect("a buffer"), &parts[2]));
    }
    parts.iter().for_each(|part| loads(part, out));
}

impl PlannedLoop {
    /// `None` where the record keeps no tables, and of a body that is more than stores.
    fn of(program: &Value, op: &Value, plan: &Value) -> Option<Self> {
        let numbers = |of: &Value| -> Option<Vec<i64>> {
            of["table"].as_array()?.iter().map(Value::as_i64).collect()
        };
        let threads = numbers(&plan["thread"])?;
        let copies = usize::try_from(plan["replicate"].as_u64()?).ok()?;
        let shape: Vec<i64> =
            plan["out_shape"].as_array()?.iter().filter_map(Value::as_i64).collect();
        let mut index = vec![0; threads.len() / copies];
        for (part, extent) in plan["index"].as_array()?.iter().zip(&shape) {
            for (to, at) in index.iter_mut().zip(numbers(part)?) {
                *to = *to * extent + at;
            }
        }
        let first = threads.chunks(copies).map(|own| own[0]);
        let points = first.zip(&index).enumerate().map(|(point, (t, at))| ((t, *at), point));
        let vars = op["vars"].as_array()?;
        let extents: Option<Vec<i64>> = vars.iter().map(|v| v[1].as_i64()).collect();
        let extents = extents?;
        if extents.iter().product::<i64>() != i64::try_from(index.len()).ok()? {
            return None;
        }
        let mut out = Self {
            slots: usize::try_from(shape.iter().product::<i64>()).ok()?,
            points: points.collect(),
            accesses: Vec::new(),
        };
        for statement in op["body"].as_array()? {
            if statement["st"] != "store" {
                return None;
            }
            let mut own = vec![(statement["buf"].as_str()?, &statement["idx"])];
            loads(&statement["val"], &mut own);
            for (name, indices) in own {
                let buffer = program["buffers"].as_array()?.iter().find(|b| b["name"] == name)?;
                if buffer["scope"] != "global" {
                    continue;
                }
                let bytes = bytes(buffer)?;
                let mut at = Vec::new();
                for point in 0..index.len() {
                    let mut rest = i64::try_from(point).ok()?;
                    let mut values = vec![0; extents.len()];
                    for (value, extent) in values.iter_mut().zip(&extents).rev() {
                        (*value, rest) = (rest % extent, rest / extent);
                    }
                    let known =
                        |name: &str| vars.iter().position(|v| v[0] == name).map(|k| values[k]);
                    let mut element = 0;
                    let dims = buffer["shape"].as_array()?;
                    for (own, extent) in indices.as_array()?.iter().zip(dims) {
                        element = element * extent.as_i64()? + expr::value(own, &known).ok()?;
                    }
                    at.push(element);
                }
                out.accesses.push((at, bytes));
            }
        }
        Some(out)
    }

    /// Whether a thread's neighbouring local indices are so many neighbours in memory.
    fn runs(&self, elements: &[i64], many: usize) -> bool {
        let many = i64::try_from(many).expect("small");
        self.points.iter().all(|((thread, index), point)| {
            let within = index % many;
            let first = self.points.get(&(*thread, index - within));
            first.is_some_and(|first| {
                elements[*first] % many == 0 && elements[*point] == elements[*first] + within
            })
        })
    }

    /// Whether each access leaves no gap between one thread and the next that has work there: what
    /// does moves more sectors for its few instructions.
    fn is_dense(&self) -> bool {
        let many = self.vector();
        self.accesses.iter().all(|(elements, _)| {
            let firsts = self.points.iter().filter(|((_, index), _)| *index == 0);
            let firsts: Vec<i64> = firsts.map(|(_, point)| elements[*point]).collect();
            firsts.windows(2).all(|two| two[1] - two[0] == many as i64 || two[0] == two[1])
        })
    }

    /// Instructions of a thread: one vector for all accesses of the loop, as TileLang's vectorizer
    /// has it.
    fn instructions(&self) -> usize {
        self.slots / self.vector() * self.accesses.len()
    }

    fn vector(&self) -> usize {
        let Some(wide) = self.accesses.iter().map(|(_, bytes)| *bytes).max() else { return 1 };
        let fits = |many: &usize| {
            *many as u64 * wide <= 16
                && self.slots.is_multiple_of(*many)
                && self.accesses.iter().all(|(elements, _)| self.runs(elements, *many))
        };
        [16, 8, 4, 2, 1].into_iter().find(fits).expect("one by one")
    }
}

/// Bytes of an element.
fn bytes(buffer: &Value) -> Option<u64> {
    match buffer["dtype"].as_str() {
        Some("float64") => Some(8),
        Some("float32" | "int32") => Some(4),
        Some("float16" | "bfloat16") => Some(2),
        Some(_) => Some(1),
        None => None,
    }
}

/// Whether a record's loops are served and race nowhere, by its own exact checks: of others nobody
/// can ask for less.
fn is_sound(record: &Value) -> bool {
    let plans = record["result"]["loops"].as_array().into_iter().flatten();
    let mut checks = plans.flat_map(|plan| plan["exact_check"].as_array().into_iter().flatten());
    let served = |check: &Value| {
        check["loop_threads_own"] != false
            && check["owners_all_write"] != false
            && check["iterations"].as_u64() <= check["distinct_targets"].as_u64()
    };
    checks.all(served) && record["result"]["cpu_run"]["match"] != false
}

/// Programs of loops alone take no more instructions of global memory than the plans that TileLang
/// has for all their loops, where these are dense.
#[test]
fn loops_take_no_more_instructions_than_in_tilelang() {
    let (mut seen, mut fewer, mut worse) = (0, 0, Vec::new());
    for record in records() {
        let program = &record["program"];
        let ops = program["ops"].as_array().expect("operations");
        let plans = record["result"]["loops"].as_array().cloned().unwrap_or_default();
        let plain = ops.iter().all(|op| op["op"] == "parallel") && ops.len() == plans.len();
        if record["result"]["verdict"] != "lowers" || !plain {
            continue;
        }
        let planned: Option<Vec<_>> =
            ops.iter().zip(&plans).map(|(op, plan)| PlannedLoop::of(program, op, plan)).collect();
        let Some(planned) = planned else { continue };
        let allowed: usize = planned.iter().map(PlannedLoop::instructions).sum();
        let id = program["id"].as_str().expect("an id");
        let Ok(text) = aligned(program) else { continue };
        for (arch, loads, stores) in
            [("sm_80", "ld.global", "st.global"), ("gfx942", "global_load", "global_store")]
        {
            let Ok(kernel) = try_with_kernel(&text, arch, |_, _, out| out.to_string()) else {
                continue;
            };
            seen += 1;
            let have = kernel.matches(loads).count() + kernel.matches(stores).count();
            fewer += usize::from(have < allowed);
            if have > allowed && planned.iter().all(PlannedLoop::is_dense) && is_sound(&record) {
                worse.push(format!("{id}, {arch}: {have}, {allowed} in TileLang"));
            }
        }
    }
    println!("{seen} kernels, {fewer} with fewer, {} with more", worse.len());
    assert!(worse.is_empty(), "{}", worse.join("\n"));
    assert!(seen >= 150, "only {seen} kernels");
}
