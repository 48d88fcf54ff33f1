//! `lanebook completions` and `lanebook man`: what shells and `man` read, made of the command line
//! itself.
use crate::args::{Cli, Completions, Man};
use crate::output;
use clap::CommandFactory;
use clap_mangen::Man as Page;
use lanebook_report::problem::{Problem, Problems};
use std::fs;

/// Prints the completions of a shell.
pub fn completions(args: &Completions) -> Result<(), Problems> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lanebook", &mut text);
    Ok(output::write(args.output.as_deref(), &utf8(text)?)?)
}

/// Writes a page for the command and for each of its own.
pub fn man(args: &Man) -> Result<(), Problems> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut pages = vec![("lanebook".to_string(), command.clone())];
    for own in command.get_subcommands() {
        let name = format!("lanebook-{}", own.get_name());
        pages.push((name, own.clone()));
    }
    // All of them are made before one is written.
    let mut texts = Vec::new();
    for (name, command) in pages {
        let mut text = Vec::new();
        Page::new(command).render(&mut text).map_err(|error| made(&error))?;
        texts.push((args.output.join(format!("{name}.1")), utf8(text)?));
    }
    fs::create_dir_all(&args.output).map_err(|error| {
        Problem::system(
            format!("cannot make {}: {error}", args.output.display()),
            "name a folder that you may write to",
        )
    })?;
    for (path, text) in texts {
        output::write(Some(&path), &text)?;
    }
    Ok(())
}

fn utf8(text: Vec<u8>) -> Result<String, Problem> {
    String::from_utf8(text).map_err(|error| made(&error))
}

fn made(error: &dyn std::fmt::Display) -> Problem {
    Problem::internal(format!("a page cannot be made: {error}"), "report this")
}
