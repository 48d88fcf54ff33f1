//! A tile program to a plan, its reasons, and the instruction sequence.
use crate::archs::arch;
use crate::infer::{Request, exchanged, found};
use crate::inferred::races::races;
use crate::memory::LoopMemory;
use crate::plan::words::Lines;
use crate::plan::{Parts, Report};
use crate::problem::{Problem, Problems};
use crate::program::Source;
use crate::race::RaceFinding;
use crate::refused::functions::isolate;
use crate::refused::{of_compile, of_program, written};
use crate::resolved::resolve;
use crate::warps;
use lanebook::compile::{Capacities, compile, compile_loops, compile_until, price};
use lanebook::emit::EmitStage;
use lanebook::ir;
use lanebook::layout_seeding::ProgramPrice;
use lanebook::remat::check_layouts;
use lanebook_tables::{Arch, Tables};

/// Instructions, register tuples, index-expression nodes, reasons, tiles and constants that there is
/// room for: every program that is likely to be written by hand or printed by a compiler.
pub const SIZES: Capacities = Capacities {
    steps: 16384,
    tuples: 4096,
    nodes: 4096,
    rejected: 16384,
    transfers: 512,
    staged: 1024,
    allocs: 256,
    fragments: 4096,
    globals: 512,
    products: 128,
    exchanges: 128,
    shuffles: 256,
    splats: 256,
    expansions: 4096,
    waiting: 4096,
    conversions: 256,
    addresses: 2048,
    advances: 1024,
    indices: 512,
    computed: 1024,
    params: 256,
    loops: 64,
    ..Capacities::DEFAULT
};

/// What the command compiles in. It is large: made on the heap, in a thread whose stack it fits.
pub type Room = lanebook::compile_storage!(SIZES);

/// Operations, values, operands, attributes, types, regions and undo records that there is room
/// for.
pub type ProgramRoom = ir::Storage<8192, 12288, 24576, 8192, 1024, 512, 8192>;

/// A program compiled for the architecture of a name: the parts that are wanted, as one text; `explain`: with every loser.
///
/// # Errors
/// What is wrong with the program, at its place; why there is no kernel; an unknown architecture.
pub fn compiled(
    tables: &Tables<'_>,
    arch_name: &str,
    source: &Source,
    parts: Parts,
    explain: bool,
) -> Result<String, Problems> {
    let render = |report: &Report<'_>| report.render(parts).map_err(|_| unwritten());
    reported(tables, arch_name, source, explain, render)
}

/// A program compiled for the architecture of a name as a JSON object: the kernel's text and its launch. `values` are those of
/// index arguments, by name, that the blocks of its grid are wanted for.
///
/// # Errors
/// As [`compiled`]; a value of no index argument, or a grid that has no number of blocks there.
pub fn launched(
    tables: &Tables<'_>,
    arch_name: &str,
    source: &Source,
    values: &[(String, i64)],
) -> Result<String, Problems> {
    reported(tables, arch_name, source, false, |report| {
        let mut object = match report.snippet(None) {
            Some(snippet) => snippet,
            None => report.launch(values)?,
        };
        object["arch"] = report.arch.name.into();
        object["races"] = report.races.iter().map(RaceFinding::json).collect();
        object["isa"] = report.isa.name.into();
        if object["text"].is_null() {
            object["text"] = report.render(Parts::Kernel).map_err(|_| unwritten())?.into();
        }
        serde_json::to_string_pretty(&object).map(|text| text + "\n").map_err(|_| unwritten())
    })
}

/// What cannot be written as text.
pub fn unwritten() -> Problem {
    Problem::internal("the result cannot be written as text", "report this with the program")
}

/// A program compiled for the architecture of a name, and what `say` makes of it; `explain`: with every loser.
///
/// # Errors
/// As [`compiled`]; what `say` refuses.
pub fn reported<T>(
    tables: &Tables<'_>,
    arch_name: &str,
    source: &Source,
    explain: bool,
    say: impl FnOnce(&Report<'_>) -> Result<T, Problem>,
) -> Result<T, Problems> {
    let (id, arch, isa) = arch(tables, arch_name)?;
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = read((tables, arch), source, &mut storage)?;
    resolve(tables, (id, arch), &mut program, source)?;
    let mut room = Box::new(Room::new());
    let of_loops = program.functions().next().is_some_and(|f| program.has_loops(f));
    let mut memory = of_loops.then(LoopMemory::default);
    let mut meeting = Vec::new();
    let compiled = match &mut memory {
        Some(memory) => {
            let request = Request::usual(tables, arch)?;
            exchanged(tables, &mut program, source, request)?;
            let (mut told, timeline) = found(memory, tables, &program, source, request, |_, _| ())?;
            meeting = races(&program, &mut told, timeline.names())?;
            compile_loops(tables, id, &mut program, room.scratch(), &mut told)
        }
        None => compile(tables, id, &mut program, room.scratch()),
    };
    let compiled = compiled.map_err(|error| of_compile(tables, arch, &program, source, &error))?;
    let report = Report {
        tables,
        arch,
        isa,
        program: &program,
        compiled: &compiled,
        explain,
        races: meeting,
        lines: Lines::default(),
    };
    Ok(say(&report)?)
}

/// What a program costs as it is compiled for the architecture of a name; `None` if it is not.
#[must_use]
pub fn priced(tables: &Tables<'_>, arch_name: &str, source: &Source) -> Option<ProgramPrice> {
    reported(tables, arch_name, source, false, |report| {
        Ok(price(report.tables, report.program, report.compiled))
    })
    .ok()
}

/// The instructions of a program after stages of emission.
///
/// # Errors
/// As [`compiled`].
pub fn dumped(
    tables: &Tables<'_>,
    arch_name: &str,
    source: &Source,
    stages: &[EmitStage],
) -> Result<String, Problems> {
    let (id, arch, isa) = arch(tables, arch_name)?;
    let mut out = String::new();
    for stage in stages {
        let mut storage = Box::new(ProgramRoom::new());
        let mut program = read((tables, arch), source, &mut storage)?;
        resolve(tables, (id, arch), &mut program, source)?;
        let mut room = Box::new(Room::new());
        let made = compile_until(tables, id, &mut program, room.scratch(), *stage)
            .map_err(|error| of_compile(tables, arch, &program, source, &error))?;
        out.push_str(&format!("{} after {}\n", isa.comment, stage.name()));
        made.dump(tables, &program, &mut out).map_err(|_| {
            Problem::internal("the steps cannot be written", "report this with the program")
        })?;
    }
    Ok(out)
}

/// A program that may be compiled: read, verified, its layouts readable.
fn read<'s>(
    (tables, arch): (&'s Tables<'s>, &Arch<'_>),
    source: &'s Source,
    storage: &'s mut ProgramRoom,
) -> Result<ir::Program<'s, 's>, Problem> {
    let mut program = ir::parse(storage.pools(), tables, &source.text, ir::Options::default())
        .map_err(|error| of_program(tables, source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
    check_layouts(&program).map_err(|error| of_program(tables, source, &error))?;
    warps::say(tables, arch, &mut program, source)?;
    isolate(tables, &mut program, source)?;
    written::check(&program, source)?;
    Ok(program)
}
