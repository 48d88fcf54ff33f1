//! The `lanebook` command.
//!
//! One file a command under [`commands`]; [`report`] makes what `compile` prints, [`problem`] says
//! what is wrong and how that is shown, [`output`] writes results so that an error leaves nothing
//! behind. A command makes its whole result before any of it is written. Nothing here knows an
//! architecture, an instruction or a layout of its own.
#![forbid(unsafe_code)]

mod args;
mod assemblers;
mod commands;
mod encodings;
mod findings;
mod notation;
mod output;
mod plannable;
mod problem;
mod report;
mod table;
mod tables;

use clap::Parser;
use problem::Problem;
use std::process::ExitCode;

/// Stack of the thread that works: the fixed storage of the library is built there, some megabytes
/// at a time.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    let colour = cli.color;
    let worker =
        std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || commands::run(cli));
    let outcome = match worker {
        Ok(worker) => worker.join().unwrap_or_else(|_| {
            Err(Problem::internal("the command panicked", "report this with the input").into())
        }),
        Err(error) => {
            Err(Problem::internal(format!("cannot start a thread: {error}"), "free some memory")
                .into())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            eprint!("{}", problems.render(colour.on_stderr()));
            ExitCode::from(problems.exit_code())
        }
    }
}
