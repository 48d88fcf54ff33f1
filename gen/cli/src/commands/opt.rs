//! `lanebook opt`: runs passes over a tile program and prints what they make of it.
use crate::args::{Opt, OptFormat};
use crate::candidates;
use crate::declared::Declared;
use crate::output;
use crate::tables::{beside, counted};
use lanebook::ir::{self, ErrorKind, Node, Op, Program, SourcePlace};
use lanebook::layout_seeding::{SeedingOptions, arch_of};
use lanebook::passes::{Analysis, ChoiceError, Event};
use lanebook::pipeline::{PassError, PassScratch, apply_with};
use lanebook::remat::check_layouts;
use lanebook::rewrite::RunError;
use lanebook_report::passes::{ChoiceRoom, Compiler, KnownPrices, ProgramRoom, WORK};
use lanebook_report::problem::{Excerpt, Problem, Problems};
use lanebook_report::program::{Source, read};
use lanebook_report::refused::of_program;
use lanebook_suggest::nearest;
use lanebook_tables::{ArchId, PassStep, RuleId, Tables};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &Opt, tables: &Tables<'_>) -> Result<(), Problems> {
    let set = args
        .rules
        .as_deref()
        .map(|file| beside(tables, file))
        .transpose()?
        .map(|set| set.tables(tables));
    let sets = Sets { own: set.as_ref(), tables };
    if args.list {
        let own = sets
            .own
            .map_or_else(String::new, |own| listed(own) + "\nand of those that are built in:\n");
        return Ok(output::write(None, &(own + &listed(tables)))?);
    }
    let passes = sets.wanted(&args.passes)?;
    let Some(file) = args.file.as_deref() else {
        return Err(Problem::usage(
            "no program is named",
            "lanebook opt FILE --passes a,b,c; `-` reads standard input",
        )
        .into());
    };
    let mut source = read(Some(file))?;
    let arch = args.arch.as_deref().map(|name| find(tables, name)).transpose()?;
    let wishes = SeedingOptions { arch, prefer_bulk: args.prefer_tma };
    let options = ir::Options { keep_unknown: args.loose, free_names: args.loose };
    let declared = args.figures.as_deref().map(|file| Declared::read(tables, file)).transpose()?;
    let mut out = String::new();
    let mut told: Vec<serde_json::Value> = Vec::new();
    let mut left = args.fuel;
    let mut last = None;
    let known = KnownPrices::default();
    for (number, (tables, pass)) in passes.iter().copied().enumerate() {
        // Each pass reads the text that the one before it left: layouts that it made have no other
        // name.
        if let Some(text) = last.take() {
            let name = format!("{}, as the passes before {pass} left it", file.display());
            source = Source::new(name, text);
        }
        last = Some(one(
            args,
            (tables, pass),
            passes.get(number + 1..).unwrap_or(&[]),
            &source,
            options,
            wishes,
            declared.as_ref(),
            &known,
            &mut left,
            &mut out,
            &mut told,
        )?);
    }
    if args.format == OptFormat::Json {
        let program = match last {
            Some(text) => text,
            None => normal(tables, &source, options)?,
        };
        let value = serde_json::json!({ "program": program, "passes": told });
        return Ok(output::write(args.output.as_deref(), &format!("{value:#}\n"))?);
    }
    if !args.print_after_all {
        match last {
            Some(text) => out.push_str(&text),
            None => out.push_str(&normal(tables, &source, options)?),
        }
    }
    Ok(output::write(args.output.as_deref(), &out)?)
}

/// An architecture by its name.
fn find(tables: &Tables<'_>, name: &str) -> Result<ArchId, Problem> {
    tables.arch_named(name).ok_or_else(|| {
        let known: Vec<&str> = tables.archs.iter().map(|arch| arch.name).collect();
        let near = nearest(name, known.iter().copied())
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        Problem::usage(
            format!("unknown architecture `{name}`"),
            format!("{near}known: {}", known.join(", ")),
        )
    })
}

/// The program in the printer's spelling.
fn normal(tables: &Tables<'_>, source: &Source, options: ir::Options) -> Result<String, Problems> {
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = ir::parse(storage.pools(), tables, &source.text, options)
        .map_err(|error| of_program(tables, source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
    check_layouts(&program).map_err(|error| of_program(tables, source, &error))?;
    let mut out = String::new();
    print(&program, &ir::Plain, &mut out)?;
    Ok(out)
}

/// One pass over a text; what it reports goes to `out`, the text after it is the answer.
#[allow(clippy::too_many_arguments)]
fn one(
    args: &Opt,
    (tables, pass): (&Tables<'_>, &str),
    following: &[(&Tables<'_>, &str)],
    source: &Source,
    options: ir::Options,
    wishes: SeedingOptions,
    declared: Option<&Declared>,
    known: &KnownPrices,
    left: &mut u32,
    out: &mut String,
    told: &mut Vec<serde_json::Value>,
) -> Result<String, Problems> {
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = ir::parse(storage.pools(), tables, &source.text, options)
        .map_err(|error| of_program(tables, source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
    check_layouts(&program).map_err(|error| of_program(tables, source, &error))?;
    let mut work = Box::new(heapless::Vec::<Node, WORK>::new());
    let mut lent_room = Box::new(ChoiceRoom::new());
    let mut room = lent_room.room();
    let mut text = String::new();
    {
        let (mut lines, mut findings) = (Vec::new(), Vec::new());
        let mut compiler = Compiler { tables, following, options, wishes, known };
        let mut lent = PassScratch {
            work: work.as_mut_view(),
            fuel: left,
            room: Some(&mut room),
            wishes,
            appraiser: Some(&mut compiler),
        };
        let outcome = apply_with(tables, pass, &mut program, &mut lent, |event| match event {
            Event::Rule { rule, .. } => lines.push(traced(tables, rule)),
            Event::Change { analysis, .. } => {
                lines.push(format!("{}: {}", analysis.name(), analysis.reason()))
            }
            Event::Finding { diagnostic, at } => findings.push((diagnostic.text(), at)),
        });
        let stats = outcome.map_err(|error| refused(&program, source, pass, error))?;
        ir::verify(&mut program).map_err(|error| {
            let place = program.place(error.at.op.unwrap_or_else(|| {
                program.first(program.root()).expect("an operation that is wrong")
            }));
            excerpted(
                Problem::internal(
                    format!(
                        "pass {pass} left a program that is not well formed: {}",
                        error.kind.message()
                    ),
                    "report this with the program",
                ),
                source,
                place,
            )
        })?;
        let findings: Vec<(&str, Op)> = findings;
        let found: Vec<_> = findings
            .iter()
            .map(|(text, at)| {
                let place = program.place(*at);
                serde_json::json!({
                    "line": place.line, "column": place.column, "op": program.op_name(*at), "what": text,
                })
            })
            .collect();
        told.push(serde_json::json!({
            "pass": pass, "changes": stats.applied, "trace": lines, "findings": found,
        }));
        for (text, at) in findings.into_iter().filter(|_| args.format == OptFormat::Text) {
            eprintln!(
                "warning: {}: {pass}: {}: {text}",
                position(source, program.place(at)),
                program.op_name(at)
            );
        }
        if args.trace {
            for (number, line) in lines.iter().enumerate() {
                let _ = writeln!(out, "// {pass} {:>4} {line}", number + 1);
            }
        }
        if args.explain {
            let arch = arch_of(&program, tables, &wishes);
            let judged = candidates::Judged {
                candidates: room.candidates,
                dropped: room.dropped,
                declared,
                arch,
            };
            out.push_str(&candidates::text(tables, &program, &judged));
        }
        if args.print_after_all {
            let _ = writeln!(
                out,
                "// ---- after {pass}: {}",
                counted(stats.applied as usize, "change")
            );
        }
    }
    print(&program, &room.book, &mut text)?;
    if args.print_after_all {
        out.push_str(&text);
    }
    Ok(text)
}

fn print(
    program: &Program<'_, '_>,
    annotate: &dyn ir::Annotate,
    out: &mut String,
) -> Result<(), Problem> {
    ir::print(program, annotate, out).map_err(|_| {
        Problem::internal("the program cannot be written as text", "report this with the program")
    })
}

/// An application of a rule in a trace: its name, where it stands, and what it says.
fn traced(tables: &Tables<'_>, rule: RuleId) -> String {
    let name = tables.rules.name(rule);
    let Some(of) = tables.rules.rule(rule) else { return name.to_string() };
    let phase = tables.rules.phases.get(usize::from(of.phase)).copied().unwrap_or("?");
    format!("{name} (rule, phase {phase}, priority {}): {}", of.priority, tables.rules.doc(rule))
}

/// The rule sets that a command has.
struct Sets<'t> {
    /// Tables with the rules of the caller's file.
    own: Option<&'t Tables<'t>>,
    /// Tables with the built-in rules.
    tables: &'t Tables<'t>,
}

impl<'t> Sets<'t> {
    fn each(&self) -> impl Iterator<Item = &'t Tables<'t>> + use<'t> {
        self.own.into_iter().chain([self.tables])
    }
    /// Passes by their names, each with the tables that have it. A name that both sets have would
    /// be one or the other by chance.
    fn wanted(&self, names: &[String]) -> Result<Vec<(&'t Tables<'t>, &'t str)>, Problem> {
        let known: Vec<(&'t Tables<'t>, &'t str)> = self
            .each()
            .flat_map(|set| set.rules.passes.iter().map(move |pass| (set, pass.name)))
            .collect();
        let named = |name: &str| {
            known.iter().filter(|(_, pass)| *pass == name).copied().collect::<Vec<_>>()
        };
        let one = |name: &String| match named(name).as_slice() {
            [found] => Ok(*found),
            [] => {
                let all: Vec<&str> = known.iter().map(|(_, pass)| *pass).collect();
                let near = nearest(name, all.iter().copied())
                    .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                Err(Problem::usage(
                    format!("unknown pass `{name}`"),
                    format!("{near}known: {}", all.join(", ")),
                ))
            }
            _ => Err(Problem::usage(
                format!("pass `{name}` is built in, and also in the file of --rules"),
                "give it another name there",
            )),
        };
        names.iter().map(one).collect()
    }
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
    let what = format!("{pass}: {error}");
    let remedy = match error {
        PassError::Refused { .. } => {
            "the program is unchanged; change the operation shown, or leave the pass out"
        }
        PassError::Run(RunError::Fuel { .. }) => "the program is unchanged; allow more with --fuel",
        PassError::Run(RunError::Work { .. }) => "split the program",
        PassError::Run(RunError::Graph(ErrorKind::Capacity { .. }))
        | PassError::Choice(ChoiceError::Full { .. }) => "the program is unchanged; split it",
        PassError::Choice(ChoiceError::NoArch) => "name one with --arch",
        PassError::Choice(ChoiceError::NoWarps) => {
            "give the function `threads`, or the module `ttg.num-warps`"
        }
        PassError::Choice(ChoiceError::WarpCount { .. }) => {
            "leave the pass out, or let a power of two of warps work together (`threads`)"
        }
        PassError::Choice(ChoiceError::Cluster) => "leave the pass out, or say `ttg.num-ctas` = 1",
        PassError::Choice(ChoiceError::Sweeps) => "the program is unchanged; take loops apart",
        _ => return Problem::internal(what, "report this with the program"),
    };
    let problem = Problem::refused(what, remedy);
    match error {
        PassError::Refused { at, .. } => excerpted(problem, source, program.place(at)),
        _ => problem,
    }
}

fn excerpted(problem: Problem, source: &Source, place: SourcePlace) -> Problem {
    if place.line == 0 {
        return problem;
    }
    let start = place.offset as usize;
    problem.at(Excerpt {
        name: source.name.clone(),
        text: source.text.clone(),
        range: start..start + usize::from(place.len),
        label: String::new(),
    })
}

fn position(source: &Source, place: SourcePlace) -> String {
    if place.line == 0 {
        source.name.clone()
    } else {
        format!("{}:{}:{}", source.name, place.line, place.column)
    }
}
