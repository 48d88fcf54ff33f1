//! The `lanebook` command.
//!
//! | module | what |
//! | --- | --- |
//! | [`args`] [`commands`] | the command line; one file a command |
//! | [`candidates`] [`declared`] [`verdicts`] | what `opt` says of candidates; figures that somebody declared beside them; both in words |
//! | [`findings`] | what an audit found, for people and tools; what becomes of it |
//! | [`assemblers`] [`encodings`] [`plannable`] | the audit's checks that need programs or the library |
//! | [`manual`] | completions and manual pages, of the command line itself |
//! | [`tables`] [`output`] | the tables that a command works with; results, whole or not at all |
//!
//! A command makes its whole result before any of it is written. Nothing here knows an
//! architecture, an instruction or a layout of its own.
#![forbid(unsafe_code)]

mod args;
mod assemblers;
mod candidates;
mod commands;
mod declared;
mod encodings;
mod findings;
mod manual;
mod output;
mod plannable;
mod tables;
mod verdicts;

use clap::Parser;
use lanebook_report::problem::Problem;
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
