//! `lanebook compile`: a tile program to a plan, its reasons, and the instruction sequence.
use crate::args::{Compile, CompileFormat};
use crate::output;
use crate::tables::arch;
use lanebook::emit::EmitStage;
use lanebook_report::compile::{compiled, dumped, launched};
use lanebook_report::plan::Parts;
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::program::{GEMM, Source, read};
use lanebook_suggest::nearest;
use lanebook_tables::{Arch, Isa, Tables};

/// Runs the command.
pub fn run(args: &Compile, tables: &Tables<'_>) -> Result<(), Problems> {
    let (_, arch, isa) = arch(tables, &args.arch)?;
    if args.dump.as_deref() == Some("list") {
        return Ok(output::write(args.output.as_deref(), &stages())?);
    }
    let parts = parts(&args.emit, tables, arch, isa)?;
    if args.explain && !matches!(parts, Parts::All | Parts::Report) {
        let said = format!("--emit {} has no place for what --explain says", args.emit);
        return Err(Problem::usage(said, "use --emit report, or leave one of them out").into());
    }
    if !args.set.is_empty() && args.format != CompileFormat::Json {
        let said = "--set says numbers for a grid, and nothing that is asked for has one";
        return Err(Problem::usage(said, "use --format json, or leave it out").into());
    }
    let mut source = read(args.file.as_deref())?;
    source.function.clone_from(&args.function);
    source.warps = args.num_warps;
    if let Some(stage) = &args.dump {
        let text = dumped(tables, &args.arch, &source, &wanted_stages(stage)?)?;
        return Ok(output::write(args.output.as_deref(), &text)?);
    }
    let text = match args.format {
        CompileFormat::Text => compiled(tables, &args.arch, &source, parts, args.explain)?,
        CompileFormat::Json => launched(tables, &args.arch, &source, &args.set)?,
    };
    output::write(args.output.as_deref(), &text)?;
    Ok(())
}

/// What each stage makes, a line each.
fn stages() -> String {
    let does = |stage| match stage {
        EmitStage::Lower => "steps over virtual registers, with addresses and barriers",
        EmitStage::Allocate => "the same over physical registers",
        EmitStage::Waits => "with waits and wait states: what is written",
    };
    EmitStage::ALL.map(|stage| format!("{:<10} {}\n", stage.name(), does(stage))).concat()
}

/// The stages that --dump asks for.
fn wanted_stages(word: &str) -> Result<Vec<EmitStage>, Problem> {
    if word == "all" {
        return Ok(EmitStage::ALL.to_vec());
    }
    let names = EmitStage::ALL.map(EmitStage::name);
    EmitStage::named(word).map(|stage| vec![stage]).ok_or_else(|| {
        let near =
            nearest(word, names).map_or_else(String::new, |n| format!("did you mean `{n}`? "));
        Problem::usage(
            format!("--dump {word} is no stage of emission"),
            format!("{near}the stages are {}; all and list are words too", names.join(", ")),
        )
    })
}

/// The example programs: those that stand in gen/cli/examples.
pub fn examples() -> Vec<Source> {
    let programs = [("gemm", GEMM.1), ("transpose", include_str!("../../examples/transpose.tile"))];
    programs.into_iter().map(|(name, text)| Source::new(name, text)).collect()
}

/// A program with what was chosen for each line behind it; or the first line of why it is refused.
pub fn annotated(tables: &Tables<'_>, arch_name: &str, source: &Source) -> Result<String, String> {
    let first_line = |problem: Problems| {
        problem
            .render(false)
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_string()
    };
    compiled(tables, arch_name, source, Parts::Program, false).map_err(first_line)
}

/// What `--emit` asks for. Instruction sets are named by the tables.
fn parts(
    word: &str,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
) -> Result<Parts, Problem> {
    // Variants of one instruction set have one name.
    let mut isas: Vec<&str> = tables.isas.iter().map(|isa| isa.name).collect();
    isas.dedup();
    match word {
        "all" => Ok(Parts::All),
        "ir" => Ok(Parts::Program),
        "report" => Ok(Parts::Report),
        _ if word == isa.name => Ok(Parts::Kernel),
        _ if isas.contains(&word) => {
            let what = format!("{} executes {}, not {word}", arch.name, isa.name);
            let others: Vec<&str> = tables
                .archs
                .iter()
                .filter(|a| tables.isa(a.isa).is_some_and(|i| i.name == word))
                .map(|a| a.name)
                .collect();
            Err(Problem::usage(
                what,
                format!(
                    "use --emit {}, or an architecture that executes {word}: {}",
                    isa.name,
                    others.join(", ")
                ),
            ))
        }
        _ => {
            let known = format!("all, ir, report, {}", isas.join(", "));
            Err(Problem::usage(
                format!("--emit {word} is nothing that can be printed"),
                format!("use one of {known}"),
            ))
        }
    }
}
