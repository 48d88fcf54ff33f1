//! Compiles the tables of a folder and says what is wrong with them.
//!
//! `cargo run -p lanebook-gen --example tables -- [ROOT] [--ids] [--verdicts] [--times] [--rust FILE]`:
//! `--ids` writes the ledger first, `--verdicts` what all assemblers say, `--times` says how long
//! compiling and each check take, and which errors they find, `--rust` writes the generated source.
use lanebook_gen::audit::{self, verdicts};
use lanebook_gen::diagnostics::Level;
use lanebook_gen::{Mode, compile};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let (mut root, mut rust) = (PathBuf::from("."), None);
    let (mut ids, mut judged, mut times) = (false, false, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--ids" => ids = true,
            "--verdicts" => judged = true,
            "--times" => times = true,
            "--rust" => rust = args.next(),
            _ => root = arg.into(),
        }
    }
    let start = Instant::now();
    let compiled = match compile(&root, Mode::Draft) {
        Ok(compiled) => compiled,
        Err(failure) => {
            eprint!("{}", failure.full());
            eprintln!("{} errors", failure.diagnostics.errors());
            return ExitCode::FAILURE;
        }
    };
    if times {
        println!("{:>8} us  compiling", start.elapsed().as_micros());
        for (name, check) in audit::ALL {
            let start = Instant::now();
            let found = check(&compiled);
            println!("{:>8} us  {name}: {}", start.elapsed().as_micros(), found.len());
            for wrong in found.iter().filter(|one| one.level == Level::Error) {
                println!("             {}", wrong.message);
            }
        }
    }
    if ids && let Err(error) = std::fs::write(root.join("hw-tables/ids.ron"), compiled.ledger()) {
        eprintln!("cannot write the ledger: {error}");
        return ExitCode::FAILURE;
    }
    if judged {
        let written = verdicts::record(&compiled).and_then(|text| {
            std::fs::write(root.join(verdicts::FILE), text).map_err(|error| error.to_string())
        });
        if let Err(why) = written {
            eprintln!("no verdicts: {why}");
            return ExitCode::FAILURE;
        }
    }
    let text = compiled.rust();
    if let Some(file) = rust
        && let Err(error) = std::fs::write(&file, &text)
    {
        eprintln!("cannot write {file}: {error}");
        return ExitCode::FAILURE;
    }
    let tables = compiled.tables();
    println!(
        "{} atoms, {} architectures, {} bytes of source",
        tables.atoms.len(),
        tables.archs.len(),
        text.len()
    );
    ExitCode::SUCCESS
}
