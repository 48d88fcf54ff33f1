//! Runs the examples on a device and prints one JSON line for each kernel.
//!
//! `cargo run --release -p lanebook-gpu -- --arch sm_80 --arch sm_90a` asks the GPU of this
//! machine, `--device replay` the emulator. Exit: 0 if every kernel that the architecture has was
//! right, 1 if one was not, 2 if there is no such device.

use clap::{Parser, ValueEnum};
use lanebook_gpu::{Device, cases, cuda::Cuda, job, replay::Replay};
use serde::Serialize;
use std::process::ExitCode;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum On {
    /// The first GPU, through its CUDA driver.
    Cuda,
    /// The replay of the emitted text on this machine.
    Replay,
}

/// Runs the example kernels on a device against plain references.
#[derive(Parser)]
struct Options {
    /// Architectures to compile for.
    #[arg(long, default_values_t = ["sm_80".to_string(), "sm_90a".to_string()])]
    arch: Vec<String>,
    /// Where to run.
    #[arg(long, value_enum, default_value = "cuda")]
    device: On,
    /// Tiles of each result along each side, and steps of each loop.
    #[arg(long, default_value_t = 3)]
    tiles: u32,
}

/// What happened to a kernel.
#[derive(Serialize)]
struct Row {
    kernel: &'static str,
    arch: String,
    device: String,
    elements: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let (mut cuda, mut replay) = (None, Replay);
    if options.device == On::Cuda {
        match Cuda::open() {
            Ok(device) => cuda = Some(device),
            Err(said) => {
                eprintln!("{said}");
                return ExitCode::from(2);
            }
        }
    }
    if let Some(arch) =
        options.arch.iter().find(|arch| cuda.as_ref().is_some_and(|device| !device.takes(arch)))
    {
        eprintln!(
            "this device does not run text for {arch}: {}",
            cuda.as_ref().map_or_else(String::new, Device::name)
        );
        return ExitCode::from(2);
    }
    let mut code = ExitCode::SUCCESS;
    let cases = cases::all(options.tiles.max(1));
    for arch in &options.arch {
        for case in &cases {
            let device: &mut dyn Device = cuda.as_mut().map_or(&mut replay, |device| device);
            let mut row = Row {
                kernel: case.name,
                arch: arch.clone(),
                device: device.name(),
                elements: case.want.len(),
                wrong: None,
                refused: None,
                failed: None,
            };
            match job(case, arch) {
                Err(why) => row.refused = Some(why),
                Ok(job) => match device
                    .run(&job, &case.operands.iter().map(|o| o.bytes.clone()).collect::<Vec<_>>())
                {
                    Ok(after) => row.wrong = Some(case.wrong(&after)),
                    Err(said) => row.failed = Some(said),
                },
            }
            if row.wrong != Some(0) && row.refused.is_none() {
                code = ExitCode::FAILURE;
            }
            println!("{}", serde_json::to_string(&row).expect("a row of text and numbers"));
        }
    }
    code
}
