//! Recorded programs as texts of the tile language: each is answered as the program itself is.

use lanebook::TABLES;
use lanebook_inference_tests::beside::same_as_text;
use lanebook_inference_tests::judge::ask;
use lanebook_inference_tests::unit::{arch, figures, unit};
use lanebook_report::memory::LoopMemory;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// TileLang's default.
const POLICY: &str = "register_count";

#[test]
fn texts_are_answered_as_their_programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../oracle/data/tilelang");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("recorded programs")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("programs_"))
        })
        .collect();
    files.sort();
    let policy = TABLES.policy_named(POLICY).expect("a policy");
    let mut memory = LoopMemory::default();
    let (mut said, mut all, mut wrong) = (0, 0, Vec::new());
    for file in files {
        for line in fs::read_to_string(&file).expect("text").lines() {
            let record: Value = serde_json::from_str(line).expect("a record");
            let program = &record["program"];
            let arch = arch(program["target"].as_str().expect("a target")).expect("tables");
            let (answer, _) = ask(&mut memory, program, figures(arch), policy, &unit);
            all += 1;
            match same_as_text(&mut memory, program, arch, policy, &answer) {
                Ok(told) => said += u32::from(told),
                Err(what) => wrong.push(format!("{}: {what}", program["id"])),
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {all}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(said * 10 > all * 9, "only {said} of {all} programs are texts of the language");
}
