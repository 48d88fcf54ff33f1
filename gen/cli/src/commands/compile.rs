//! `lanebook compile`: a tile program to a plan, its reasons, and the instruction sequence.
use crate::args::Compile;
use crate::output;
use crate::problem::{Problem, Problems};
use crate::program::{GEMM, Source, read};
use crate::report::refusal::{of_compile, of_program};
use crate::report::words::Lines;
use crate::report::{Parts, Report, written};
use crate::tables::arch;
use lanebook::compile::{CompileStorage, compile, compile_until};
use lanebook::emit::EmitStage;
use lanebook::ir;
use lanebook::remat::check_layouts;
use lanebook_gen::suggest::nearest;
use lanebook_tables::{Arch, Isa, Tables};

/// Instructions, register tuples, index-expression nodes and reasons that there is room for.
type Room = CompileStorage<16384, 4096, 4096, 16384>;

/// Operations, values, operands, attributes, types, regions and undo records that there is room
/// for.
type ProgramRoom = ir::Storage<8192, 12288, 24576, 8192, 1024, 512, 64>;

/// Runs the command.
pub fn run(args: &Compile, tables: &Tables<'_>) -> Result<(), Problems> {
    let (id, arch, isa) = arch(tables, &args.arch)?;
    if args.dump.as_deref() == Some("list") {
        return Ok(output::write(args.output.as_deref(), &stages())?);
    }
    let parts = parts(&args.emit, tables, arch, isa)?;
    let source = read(args.file.as_deref())?;
    if let Some(stage) = &args.dump {
        let text = dumped(tables, &args.arch, &source, &wanted_stages(stage)?)?;
        return Ok(output::write(args.output.as_deref(), &text)?);
    }
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = ir::parse(storage.pools(), tables, &source.text, ir::Options::default())
        .map_err(|error| of_program(tables, &source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, &source, &error))?;
    check_layouts(&program).map_err(|error| of_program(tables, &source, &error))?;
    written::check(&program, &source)?;
    let mut room = Box::new(Room::new());
    let compiled = compile(tables, id, &mut program, room.scratch())
        .map_err(|error| of_compile(tables, arch, isa, &program, &source, &error))?;
    let report = Report {
        tables,
        arch,
        isa,
        program: &program,
        compiled: &compiled,
        explain: args.explain,
        lines: Lines::default(),
    };
    let text = report.render(parts).map_err(|()| {
        Problem::internal("the result cannot be written as text", "report this with the program")
    })?;
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

/// The instructions of a program after stages of emission.
fn dumped(
    tables: &Tables<'_>,
    arch_name: &str,
    source: &Source,
    stages: &[EmitStage],
) -> Result<String, Problems> {
    let (id, arch, isa) = arch(tables, arch_name)?;
    let mut out = String::new();
    for stage in stages {
        let mut storage = Box::new(ProgramRoom::new());
        let mut program = ir::parse(storage.pools(), tables, &source.text, ir::Options::default())
            .map_err(|error| of_program(tables, source, &error))?;
        ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
        check_layouts(&program).map_err(|error| of_program(tables, source, &error))?;
        written::check(&program, source)?;
        let mut room = Box::new(Room::new());
        let made = compile_until(tables, id, &mut program, room.scratch(), *stage)
            .map_err(|error| of_compile(tables, arch, isa, &program, source, &error))?;
        out.push_str(&format!("{} after {}\n", isa.comment, stage.name()));
        made.dump(tables, &program, &mut out).map_err(|_| {
            Problem::internal("the steps cannot be written", "report this with the program")
        })?;
    }
    Ok(out)
}

/// The example programs: those that stand in gen/cli/examples.
pub fn examples() -> Vec<Source> {
    let programs = [("gemm", GEMM.1), ("transpose", include_str!("../../examples/transpose.tile"))];
    programs
        .into_iter()
        .map(|(name, text)| Source { name: name.into(), text: text.into() })
        .collect()
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
    let made = || -> Result<String, Problems> {
        let (id, arch, isa) = arch(tables, arch_name)?;
        let mut storage = Box::new(ProgramRoom::new());
        let mut program = ir::parse(storage.pools(), tables, &source.text, ir::Options::default())
            .map_err(|error| of_program(tables, source, &error))?;
        ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
        let mut room = Box::new(Room::new());
        let compiled = compile(tables, id, &mut program, room.scratch())
            .map_err(|error| of_compile(tables, arch, isa, &program, source, &error))?;
        let report = Report {
            tables,
            arch,
            isa,
            program: &program,
            compiled: &compiled,
            explain: false,
            lines: Lines::default(),
        };
        report.render(Parts::Program).map_err(|()| {
            Problem::internal(
                "the result cannot be written as text",
                "report this with the program",
            )
            .into()
        })
    };
    made().map_err(first_line)
}

/// What `--emit` asks for. Instruction sets are named by the tables.
fn parts(
    word: &str,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
) -> Result<Parts, Problem> {
    let isas: Vec<&str> = tables.isas.iter().map(|isa| isa.name).collect();
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
