//! `lanebook opt`: runs passes over a tile program and prints what they make of it.
use crate::args::Opt;
use crate::commands::compile::{Source, read};
use crate::output;
use crate::problem::{Excerpt, Problem, Problems};
use crate::report::refusal::of_program;
use crate::tables::counted;
use lanebook::ir::{self, ErrorKind, Node, Op, Place, Program};
use lanebook::passes::{Analysis, Event};
use lanebook::pipeline::{PassError, apply};
use lanebook::rewrite::RunError;
use lanebook_gen::suggest::nearest;
use lanebook_tables::{PassStep, Tables};
use std::fmt::Write;

/// Operations, values, operands, attributes, types, regions and undo records that there is room for.
type ProgramRoom = ir::Storage<8192, 16384, 32768, 16384, 1024, 1024, 65000>;

/// Entries of the worklist.
const WORK: usize = 65_000;

/// Runs the command.
pub fn run(args: &Opt, tables: &Tables<'_>) -> Result<(), Problems> {
    if args.list {
        return Ok(output::write(None, &listed(tables))?);
    }
    let passes = wanted(&args.passes, tables)?;
    let Some(file) = args.file.as_deref() else {
        return Err(Problem::usage("no program is named", "lanebook opt FILE --passes a,b,c; `-` reads standard input").into());
    };
    let source = read(Some(file))?;
    let options = ir::Options { keep_unknown: args.loose, free_names: args.loose };
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = ir::parse(storage.pools(), tables, &source.text, options).map_err(|error| of_program(tables, &source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, &source, &error))?;
    let mut out = String::new();
    let mut work = Box::new(heapless::Vec::<Node, WORK>::new());
    let mut left = args.fuel;
    for pass in passes {
        let (mut lines, mut findings) = (Vec::new(), Vec::new());
        let outcome = apply(tables, pass, &mut program, work.as_mut_view(), &mut left, |event| match event {
            Event::Rule { rule, at } => lines.push((tables.rules.rule(rule).map_or("?", |rule| rule.name), Some(at))),
            Event::Change { analysis, .. } => lines.push((analysis.name(), None)),
            Event::Finding { diagnostic, at } => findings.push((diagnostic.text(), at)),
        });
        let stats = outcome.map_err(|error| refused(&program, &source, pass, error))?;
        ir::verify(&mut program).map_err(|error| {
            let place = program.place(error.at.op.unwrap_or_else(|| program.first(program.root()).expect("an operation that is wrong")));
            excerpted(
                Problem::internal(format!("pass {pass} left a program that is not well formed: {}", error.kind.message()), "report this with the program"),
                &source,
                place,
            )
        })?;
        for (text, at) in findings {
            eprintln!("warning: {}: {pass}: {}: {text}", position(&source, program.place(at)), program.op_name(at));
        }
        if args.trace {
            for (number, (name, _)) in lines.iter().enumerate() {
                let _ = writeln!(out, "// {pass} {:>4} {name}{}", number + 1, doc(tables, name));
            }
        }
        if args.print_after_all {
            let _ = writeln!(out, "// ---- after {pass}: {}", counted(stats.applied as usize, "change"));
            print(&program, &mut out)?;
        }
    }
    if !args.print_after_all {
        print(&program, &mut out)?;
    }
    Ok(output::write(args.output.as_deref(), &out)?)
}

fn print(program: &Program<'_, '_>, out: &mut String) -> Result<(), Problem> {
    ir::print(program, &ir::Plain, out).map_err(|_| Problem::internal("the program cannot be written as text", "report this with the program"))
}

/// What a rule says, behind its name in a trace.
fn doc(tables: &Tables<'_>, name: &str) -> String {
    let rule = tables.rules.rules.iter().find(|rule| rule.name == name);
    rule.map_or_else(String::new, |rule| {
        format!(" (rule, phase {}, priority {})", tables.rules.phases.get(usize::from(rule.phase)).copied().unwrap_or("?"), rule.priority)
    })
}

/// Passes by their names.
fn wanted<'t>(names: &[String], tables: &Tables<'t>) -> Result<Vec<&'t str>, Problem> {
    let known: Vec<&'t str> = tables.rules.passes.iter().map(|pass| pass.name).collect();
    names
        .iter()
        .map(|name| {
            known.iter().copied().find(|pass| pass == name).ok_or_else(|| {
                let near = nearest(name, known.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                Problem::usage(format!("unknown pass `{name}`"), format!("{near}known: {}", known.join(", ")))
            })
        })
        .collect()
}

/// Passes and their steps.
fn listed(tables: &Tables<'_>) -> String {
    let mut out = String::new();
    for pass in tables.rules.passes {
        let steps = pass.steps.iter().map(|step| match step {
            PassStep::Rules { phase, sweeps } => {
                let phase = tables.rules.phases.get(usize::from(*phase)).copied().unwrap_or("?");
                if *sweeps > 1 { format!("{phase} x{sweeps}") } else { phase.to_string() }
            }
            PassStep::Analysis(name) if Analysis::named(name).is_some() => format!("[{name}]"),
            PassStep::Analysis(name) => format!("({name})"),
        });
        let _ = writeln!(out, "{:<20} {}", pass.name, steps.collect::<Vec<_>>().join(", "));
    }
    out.push_str("\n[name]: an analysis; (name): part of `lanebook compile`, not run by `opt`; others: phases of rules\n");
    out
}

/// Why a pass changed nothing.
fn refused(program: &Program<'_, '_>, source: &Source, pass: &str, error: PassError) -> Problem {
    let op = |op: Op| program.place(op);
    match error {
        PassError::Refused { diagnostic, at } => {
            let what = format!("{pass}: {}", diagnostic.text());
            excerpted(Problem::refused(what, "the program is unchanged; change the operation shown, or leave the pass out"), source, op(at))
        }
        PassError::Run(RunError::Fuel { limit }) => {
            Problem::refused(format!("{pass}: more than {limit} changes"), "the program is unchanged; allow more with --fuel")
        }
        PassError::Run(RunError::Work { capacity }) => {
            Problem::refused(format!("{pass}: more than {capacity} operations wait to be looked at"), "split the program")
        }
        PassError::Run(RunError::Graph(ErrorKind::Capacity { pool, limit })) => {
            Problem::refused(format!("{pass}: more than {limit} {}", pool.describe()), "the program is unchanged; split it")
        }
        other => Problem::internal(format!("{pass}: {other:?}"), "report this with the program"),
    }
}

fn excerpted(problem: Problem, source: &Source, place: Place) -> Problem {
    if place.line == 0 {
        return problem;
    }
    let start = place.offset as usize;
    problem.at(Excerpt { name: source.name.clone(), text: source.text.clone(), range: start..start + usize::from(place.len), label: String::new() })
}

fn position(source: &Source, place: Place) -> String {
    if place.line == 0 { source.name.clone() } else { format!("{}:{}:{}", source.name, place.line, place.column) }
}
