//! What the tables of a folder weigh in a build, by kind, and what planning and emission need of
//! them: `cargo run -p lanebook-gen --example weigh -- [ROOT [ARCHS]]`.
use lanebook_gen::{BuildOptions, Mode, compile_with_options, select};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let root = args.next().unwrap_or_else(|| ".".into());
    let archs = args.next().and_then(|names| select::listed(&names));
    match compile_with_options(Path::new(&root), Mode::Draft, &BuildOptions { archs, extra: None })
    {
        Ok(compiled) => {
            for (what, weights) in
                [("in all", compiled.weights()), ("of the lean tables", compiled.lean_weights())]
            {
                for weight in &weights {
                    println!(
                        "{:>8} bytes  {:>5} statics  {:>6} values  {}",
                        weight.bytes, weight.statics, weight.items, weight.kind
                    );
                }
                println!(
                    "{:>8} bytes {what}\n",
                    weights.iter().map(|weight| weight.bytes).sum::<usize>()
                );
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprint!("{}", failure.full());
            ExitCode::FAILURE
        }
    }
}
