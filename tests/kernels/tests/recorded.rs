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
const RIGHT: usize = 302;

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
