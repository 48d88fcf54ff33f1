//! Recorded programs of TileLang's (`tests/oracle/data/tilelang`), written as texts of the tile
//! language: those that TileLang lowers are compiled, checked, and run by the replay against the
//! interpreter of their text. None may be wrong; what is refused is refused for a reason that is
//! counted here.
#![allow(missing_docs)]

use lanebook_inference_tests::text::{tile_text, with_casts};
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::{assembled, checked, parallel, try_with_kernel};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const ARCHS: [&str; 3] = ["sm_80", "gfx942", "gfx1100"];

/// Programs that run right on an architecture of each vendor, at the least.
const RIGHT: usize = 305;

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
        let made = try_with_kernel(&text, arch, |program, compiled, out| {
            (checked(program, compiled), out.to_string())
        });
        match made {
            Ok((sound, kernel)) => {
                let taken = sound.and_then(|()| assembled(arch, &kernel));
                match taken.and_then(|()| run_text(&said, &kernel, &[], arch)) {
                    Ok(()) => done[usize::from(arch.starts_with("gfx"))] = true,
                    Err(why) => out.wrong.push(format!("{id}, {arch}: {why}\n{text}")),
                }
            }
            Err(why) => out.refused.push(format!("{arch}: {}", kind(&why))),
        }
    }
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
        let bytes = |b: &Value| match b["dtype"].as_str() {
            Some("float64") => Some(8u64),
            Some("float32" | "int32") => Some(4),
            Some("float16" | "bfloat16") => Some(2),
            Some(_) => Some(1),
            None => None,
        };
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
