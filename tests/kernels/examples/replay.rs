//! `cargo run -p lanebook-kernels --example replay -- FILE... [--arch NAME]...`: compiles tile
//! programs, runs what comes out lane by lane, and compares memory with what the program says. One
//! line each: right, wrong, the fault, or what refuses it. Fails if something is wrong.

use lanebook::TABLES;
use lanebook_kernels::interpret::Interpreted;
use lanebook_kernels::judge::run_interpreted;
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut files, mut archs) = (Vec::new(), Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--arch" { archs.extend(words.next()) } else { files.push(word) }
    }
    if archs.is_empty() {
        archs = TABLES.archs.iter().map(|a| a.name.to_string()).collect();
    }
    let mut bad = 0;
    for file in &files {
        let program = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(e) => {
                println!("{file}: {e}");
                bad += 1;
                continue;
            }
        };
        let said = match Interpreted::new(&program) {
            Ok(said) => said,
            Err(e) => {
                println!("{file}: not understood: {e}");
                bad += 1;
                continue;
            }
        };
        for arch in &archs {
            let outcome = std::panic::catch_unwind(|| run_interpreted(&said, &program, arch))
                .unwrap_or_else(|_| Err("panicked".to_string()));
            bad += usize::from(outcome.is_err());
            println!("{file} {arch}: {}", outcome.unwrap_or_else(|e| format!("WRONG {e}")));
        }
    }
    if bad == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
