//! Runs kernels on a device and prints one JSON line for each.
//!
//! `cargo run --release -p lanebook-gpu -- --arch sm_80 --arch sm_90a` runs the examples on the GPU
//! of this machine, `--device replay` on the emulator; `programs FILE...` runs tile programs, `hunt`
//! random ones, both against the interpreter of their text. Exit: 0 if every kernel that the
//! architecture has was right, 1 if one was not, 2 if there is no such device.

use clap::{Parser, Subcommand, ValueEnum};
use lanebook_gpu::facts::{self, Asked};
use lanebook_gpu::hunted::{Outcome, judge};
use lanebook_gpu::{Device, cases, cuda::Cuda, job, replay::Replay, speed};
use lanebook_kernels::Workshop;
use lanebook_kernels::hunt::Wish;
use serde::Serialize;
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum On {
    /// The first GPU, through its CUDA driver.
    Cuda,
    /// The replay of the emitted text on this machine.
    Replay,
}

/// Runs kernels on a device against independent references.
#[derive(Parser)]
struct Options {
    /// Architectures to compile for.
    #[arg(long, global = true, default_values_t = ["sm_80".to_string(), "sm_90a".to_string()])]
    arch: Vec<String>,
    /// Where to run.
    #[arg(long, global = true, value_enum, default_value = "cuda")]
    device: On,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Subcommand)]
enum What {
    /// The examples, against plain references; what is run without a word.
    Examples {
        /// Tiles of each result along each side, and steps of each loop.
        #[arg(long, default_value_t = 3)]
        tiles: u32,
    },
    /// Tile programs, against the interpreter.
    Programs {
        /// Files.
        files: Vec<PathBuf>,
    },
    /// Facts of the tables, each by itself.
    Facts {
        /// Print them as `hw-tables` keep them, as answers of the machine whose source has this key.
        #[arg(long, value_name = "KEY")]
        keep: Option<String>,
    },
    /// How long example kernels take.
    Speed,
    /// One box through a tensor map that begins so many bytes behind where its row does.
    Corner {
        /// Bytes.
        bytes: u32,
        /// The box is stored, not loaded.
        #[arg(long)]
        store: bool,
    },
    /// Random programs, against the interpreter.
    Hunt {
        /// Programs are made from this number on.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Number of the first program.
        #[arg(long, default_value_t = 0)]
        first: usize,
        /// Programs.
        #[arg(long, default_value_t = 100)]
        count: usize,
        /// Kinds; all without it.
        #[arg(long)]
        kind: Vec<String>,
    },
}

/// What happened to a kernel.
#[derive(Serialize)]
struct Row {
    kernel: String,
    arch: String,
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    elements: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

impl Row {
    fn new(kernel: &str, arch: &str, device: &dyn Device) -> Self {
        Self {
            kernel: kernel.to_string(),
            arch: arch.to_string(),
            device: device.name(),
            elements: None,
            runs: None,
            wrong: None,
            refused: None,
            failed: None,
        }
    }

    /// Prints it; whether nothing is wrong.
    fn tell(&self) -> bool {
        println!("{}", serde_json::to_string(self).expect("a row of text and numbers"));
        self.failed.is_none() && self.wrong.is_none_or(|wrong| wrong == 0)
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let mut device: Box<dyn Device> = match options.device {
        On::Replay => Box::new(Replay),
        On::Cuda => match Cuda::open() {
            Ok(device) => {
                if let Some(arch) = options.arch.iter().find(|arch| !device.takes(arch)) {
                    eprintln!("this device does not run text for {arch}: {}", device.name());
                    return ExitCode::from(2);
                }
                Box::new(device)
            }
            Err(said) => {
                eprintln!("{said}");
                return ExitCode::from(2);
            }
        },
    };
    let right = match options.what.unwrap_or(What::Examples { tiles: 3 }) {
        What::Examples { tiles } => examples(&mut *device, &options.arch, tiles),
        What::Programs { files } => {
            let read = |path: &PathBuf| {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                std::fs::read_to_string(path).map(|text| (name, text))
            };
            match files.iter().map(read).collect::<Result<Vec<_>, _>>() {
                Ok(programs) => {
                    interpreted(&mut *device, &options.arch, &programs, |archs, range| {
                        let files = files[range].iter().map(|path| path.clone().into_os_string());
                        again(archs, ["programs".into()].into_iter().chain(files))
                    })
                }
                Err(said) => {
                    eprintln!("{said}");
                    return ExitCode::from(2);
                }
            }
        }
        What::Facts { keep } => {
            let (mut right, mut all) = (true, Vec::new());
            for arch in options.arch.iter().filter_map(|name| Asked::named(name)) {
                facts::all(&mut *device, arch, |found| {
                    right &= found.differs.is_none();
                    if keep.is_some() {
                        all.push(found.clone());
                    } else {
                        println!(
                            "{}",
                            serde_json::to_string(found).expect("a row of text and numbers")
                        );
                    }
                });
            }
            if let Some(key) = keep {
                print!("(\n{})\n", facts::kept(&all, &key));
            }
            right
        }
        What::Speed => {
            let mut all = true;
            for arch in &options.arch {
                speed::all(&mut *device, arch, |taken| {
                    all &= taken.is_told();
                    println!(
                        "{}",
                        serde_json::to_string(taken).expect("a row of text and numbers")
                    );
                });
            }
            all
        }
        What::Corner { bytes, store } => {
            let mut archs = options.arch.iter().filter_map(|name| Asked::named(name));
            archs.all(|arch| match facts::tiled::corner(&mut *device, arch, bytes, store) {
                Ok(()) => true,
                Err(said) => {
                    eprintln!("{said}");
                    false
                }
            })
        }
        What::Hunt { seed, first, count, kind } => {
            let wish = Wish {
                seed,
                first,
                count,
                archs: options.arch.clone(),
                kinds: kind,
                seconds: None,
                assemble: false,
                shrink: false,
                refusal: None,
            };
            let programs = (first..first + count).filter_map(|number| {
                let program = wish.program(number)?;
                Some((format!("{}_{seed}_{number}", program.kind), program.text("f")))
            });
            let programs: Vec<_> = programs.collect();
            interpreted(&mut *device, &options.arch, &programs, |archs, range| {
                let mut words = vec!["hunt".to_string(), "--seed".into(), seed.to_string()];
                words.extend(["--first".into(), (first + range.start).to_string()]);
                words.extend(["--count".into(), range.len().to_string()]);
                words.extend(wish.kinds.iter().flat_map(|kind| ["--kind".into(), kind.clone()]));
                again(archs, words.into_iter().map(OsString::from))
            })
        }
    };
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn examples(device: &mut dyn Device, archs: &[String], tiles: u32) -> bool {
    let mut right = true;
    let cases = cases::all(tiles.max(1));
    for (arch, case) in archs.iter().flat_map(|arch| cases.iter().map(move |case| (arch, case))) {
        let mut row = Row::new(case.name, arch, device);
        row.elements = Some(case.want.len());
        let operands: Vec<_> = case.operands.iter().map(|o| o.bytes.clone()).collect();
        match job(case, arch) {
            Err(why) => row.refused = Some(why),
            Ok(job) => match device.run(&job, &operands) {
                Ok(after) => row.wrong = Some(case.wrong(&after)),
                Err(said) => row.failed = Some(said),
            },
        }
        right &= row.tell();
    }
    right
}

/// Asks another process of this program for the rest; whether all of it was right.
fn again(archs: &[String], words: impl Iterator<Item = OsString>) -> bool {
    let archs = archs.iter().flat_map(|arch| ["--arch".into(), OsString::from(arch)]);
    let own = std::env::current_exe()
        .and_then(|program| std::process::Command::new(program).args(words.chain(archs)).status());
    own.is_ok_and(|status| status.success())
}

/// The programs by their name and text; what is left after a fault is asked by another process.
fn interpreted(
    device: &mut dyn Device,
    archs: &[String],
    programs: &[(String, String)],
    go_on: impl Fn(&[String], Range<usize>) -> bool,
) -> bool {
    let (mut right, mut workshop) = (true, Workshop::default());
    for (number, (name, program)) in programs.iter().enumerate() {
        for arch in archs {
            let mut row = Row::new(name, arch, device);
            match judge(&mut workshop, device, (program, arch)) {
                Ok(Outcome::Right(runs)) => row.runs = Some(runs),
                Ok(Outcome::Refused(why)) => row.refused = Some(why),
                Ok(Outcome::Wrong(why)) => row.failed = Some(why),
                Err(why) => row.failed = Some(format!("not understood: {why}")),
            }
            right &= row.tell();
            if device.is_spoiled() {
                let left = archs.iter().skip_while(|other| *other != arch).skip(1);
                let left: Vec<String> = left.cloned().collect();
                // This one on the other architectures, then all that follow.
                let this = left.is_empty() || go_on(&left, number..number + 1);
                return go_on(archs, number + 1..programs.len()) && this && right;
            }
        }
    }
    right
}
