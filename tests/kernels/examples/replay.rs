//! `cargo run --release -p lanebook-kernels --example replay -- FILE... [--arch NAME]... [--wrong]`:
//! compiles tile programs, runs what comes out lane by lane with every contents and number of turns
//! that the hunt has, and compares memory with what the program says. One line each: right, wrong,
//! what the checkers say, or what refuses it; `--wrong` prints those alone that are wrong. Fails if
//! something is wrong.

use lanebook::TABLES;
use lanebook_kernels::Workshop;
use lanebook_kernels::hunt::verdict::references;
use lanebook_kernels::hunt::{Verdict, pair};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut files, mut archs, mut only_wrong) = (Vec::new(), Vec::new(), false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--arch" => archs.extend(words.next()),
            "--wrong" => only_wrong = true,
            _ => files.push(word),
        }
    }
    if archs.is_empty() {
        archs = TABLES.archs.iter().map(|a| a.name.to_string()).collect();
    }
    let (mut bad, mut right, mut refused) = (0, 0, 0);
    let mut workshop = Workshop::default();
    for file in &files {
        let program = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(e) => {
                println!("{file}: {e}");
                bad += 1;
                continue;
            }
        };
        let known = match references(&program) {
            Ok(known) if !known.is_empty() => known,
            other => {
                let why = other.err().unwrap_or("it reads what nothing wrote".to_string());
                println!("{file}: not understood: {why}");
                bad += 1;
                continue;
            }
        };
        let mut done = Vec::new();
        for arch in &archs {
            let said = match pair(&mut workshop, &program, arch, &known, &mut done) {
                Ok(_) => {
                    right += 1;
                    "right".to_string()
                }
                Err(Verdict::Refused(why)) => {
                    refused += 1;
                    format!("refused: {why}")
                }
                Err(Verdict::Wrong(symptom)) => {
                    bad += 1;
                    let turns = symptom.turns.map_or(String::new(), |t| format!(" at {t} turns"));
                    println!("{file} {arch}: WRONG {}{turns}: {}", symptom.class, symptom.detail);
                    continue;
                }
            };
            if !only_wrong {
                println!("{file} {arch}: {said}");
            }
        }
    }
    println!("{right} right, {refused} refused, {bad} wrong");
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
