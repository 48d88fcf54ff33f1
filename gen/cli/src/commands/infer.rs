//! `lanebook infer`: layouts of a program's parallel loops and fragments, and how they came about.
use crate::args::{Colour, Infer, InferFormat, InferLevel};
use crate::output;
use crate::problem::{Problem, Problems};
use crate::program::{Source, read};
use crate::report::fragments;
use crate::report::inferred::{of_stop, of_told};
use crate::report::refusal::of_program;
use crate::report::timeline::{Names, Timeline, layout};
use lanebook::infer::{self, ArenaParts, InferenceParts, Level, MemoryScope};
use lanebook::ir::{self, Op, Program};
use lanebook::loops::{Fact, LoopLayouts, LoopParts, Told, tell};
use lanebook_draw::{svg, text};
use lanebook_gen::suggest::nearest;
use lanebook_tables::{Arch, OpRole, Tables};
use serde_json::{Value as Json, json};

/// Operations, values, operands, attributes, types, regions and undo records that there is room
/// for.
type ProgramRoom = ir::Storage<8192, 16384, 32768, 16384, 1024, 1024, 65000>;

/// Values of a program.
const VALUES: usize = 16384;
/// Buffers of a function.
const BUFFERS: usize = 1024;
/// Operators of a function.
const OPERATORS: usize = 4096;

/// Rows and columns that a terminal shows of a picture.
const MOST: usize = 64;

/// The memory of inference.
struct Memory {
    bases: Vec<infer::BaseEntry>,
    terms: Vec<infer::DigitTerm>,
    buckets: Vec<u16>,
    buffers: Vec<infer::Buffer>,
    operators: Vec<infer::Operator>,
    accesses: Vec<infer::Access>,
    layouts: Vec<Option<infer::FragmentForm>>,
    queue: Vec<u16>,
    points: Vec<u64>,
    values: Vec<Fact>,
    ops: Vec<Option<Op>>,
    names: Vec<Option<ir::Value>>,
}

impl Memory {
    fn new() -> Self {
        Self {
            bases: vec![Default::default(); 65_535],
            terms: vec![Default::default(); 1 << 20],
            buckets: vec![0; 4096],
            buffers: vec![Default::default(); BUFFERS],
            operators: vec![Default::default(); OPERATORS],
            accesses: vec![Default::default(); 4 * OPERATORS],
            layouts: vec![None; 4 * (BUFFERS + OPERATORS)],
            queue: vec![0; OPERATORS],
            points: vec![0; 1 << 15],
            values: vec![Fact::default(); VALUES],
            ops: vec![None; OPERATORS],
            names: vec![None; BUFFERS],
        }
    }
    fn parts(&mut self) -> LoopParts<'_> {
        LoopParts {
            inference: InferenceParts {
                arena: ArenaParts {
                    bases: &mut self.bases,
                    terms: &mut self.terms,
                    buckets: &mut self.buckets,
                },
                buffers: &mut self.buffers,
                operators: &mut self.operators,
                accesses: &mut self.accesses,
                layouts: &mut self.layouts,
                queue: &mut self.queue,
                points: &mut self.points,
            },
            values: &mut self.values,
            operators: &mut self.ops,
            buffers: &mut self.names,
        }
    }
}

/// Runs the command.
pub fn run(args: &Infer, tables: &Tables<'_>, colour: Colour) -> Result<(), Problems> {
    let source = read(Some(&args.file))?;
    let arch = arch(tables, args.arch.as_deref())?;
    let policy = match args.cost.as_deref() {
        Some(name) => tables.policy_named(name),
        None => tables.policies.first(),
    };
    let policy = policy.ok_or_else(|| {
        let known: Vec<&str> = tables.policies.iter().map(|policy| policy.name).collect();
        Problem::usage(
            format!("unknown cost `{}`", args.cost.as_deref().unwrap_or("")),
            format!("known: {}", known.join(", ")),
        )
    })?;
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = ir::parse(storage.pools(), tables, &source.text, ir::Options::default())
        .map_err(|error| of_program(tables, &source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, &source, &error))?;
    let function = function(&program, &source)?;
    let mut memory = Memory::new();
    let mut told = tell(&program, function, tables, arch, memory.parts())
        .map_err(|error| of_told(&program, &source, error))?;
    let mut timeline = Timeline::new(Names::of(&program, &told), &told);
    let level = match args.level {
        InferLevel::Strict => Level::Strict,
        InferLevel::Common => Level::Common,
        InferLevel::Free => Level::Free,
    };
    told.inference
        .run_to(level, policy, &mut timeline)
        .map_err(|stop| of_stop(&program, &source, &timeline, stop))?;
    if args.picture {
        return drawn(args, &told, &timeline, colour);
    }
    let out = match args.format {
        InferFormat::Json => {
            let answer = json(&program, function, arch, &told, &timeline);
            serde_json::to_string_pretty(&answer)
                .map_err(|error| Problem::internal(error.to_string(), "report this"))?
                + "\n"
        }
        InferFormat::Text => {
            told.annotate(&mut program).map_err(|error| {
                Problem::internal(error.message(), "report this with the program")
            })?;
            let mut out = String::new();
            ir::print(&program, &LoopLayouts(&told), &mut out)
                .map_err(|_| Problem::internal("a layout cannot be written", "report this"))?;
            out.push_str(&format!("\n// Inferred for {}.\n//\n", arch.name));
            for line in timeline.text(args.explain).lines() {
                out.push_str(format!("// {line}").trim_end());
                out.push('\n');
            }
            out
        }
    };
    Ok(output::write(args.output.as_deref(), &out)?)
}

/// An architecture by its name, the first without one.
fn arch<'t>(tables: &'t Tables<'t>, name: Option<&str>) -> Result<&'t Arch<'t>, Problem> {
    let known = || tables.archs.iter().map(|arch| arch.name);
    let found = match name {
        Some(name) => tables.arch_named(name).and_then(|id| tables.arch(id)),
        None => tables.archs.iter().next(),
    };
    found.ok_or_else(|| {
        let name = name.unwrap_or("");
        let near = nearest(name, known())
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        Problem::usage(
            format!("unknown architecture `{name}`"),
            format!("{near}known: {}", known().collect::<Vec<_>>().join(", ")),
        )
    })
}

/// The function whose loops are inferred.
fn function(program: &Program<'_, '_>, source: &Source) -> Result<Op, Problem> {
    let functions: Vec<Op> = program.functions().collect();
    match functions[..] {
        [only] => Ok(only),
        [] => Err(Problem::refused(
            format!("{} has no function", source.name),
            "write func @name(...) {threads = N} { ... }",
        )),
        _ => Err(Problem::refused(
            format!("{} has several functions", source.name),
            "write each into a file of its own",
        )),
    }
}

/// The buffers that are fragments.
fn fragments_of(told: &Told<'_>) -> Vec<infer::BufferId> {
    let fragment = |id: infer::BufferId| {
        told.inference.buffer_of(id).is_ok_and(|b| b.scope == MemoryScope::Fragment)
    };
    told.buffers().map(|(id, _)| id).filter(|id| fragment(*id)).collect()
}

fn drawn(
    args: &Infer,
    told: &Told<'_>,
    timeline: &Timeline,
    colour: Colour,
) -> Result<(), Problems> {
    let picture = fragments::picture(&told.inference, timeline.names(), &fragments_of(told));
    let vector =
        |path: &std::path::PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
    match &args.output {
        Some(path) if vector(path) => Ok(output::write(Some(path), &svg::render(&picture))?),
        path => {
            let painted = path.is_none() && colour.on_stdout();
            let options = text::Options { colour: painted, most: MOST };
            Ok(output::write(path.as_deref(), &text::render(&picture, options))?)
        }
    }
}

/// Everything by name.
fn json(
    program: &Program<'_, '_>,
    function: Op,
    arch: &Arch<'_>,
    told: &Told<'_>,
    timeline: &Timeline,
) -> Json {
    let inference = &told.inference;
    let names = timeline.names();
    let form = |form: &infer::FragmentForm| {
        json!({
            "text": layout(inference, form), "replicate": form.copies, "slots": form.slots,
            "padded": form.padded,
        })
    };
    let buffers: Vec<Json> = told
        .buffers()
        .map(|(id, _)| {
            let scope = match inference.buffer_of(id).map(|b| b.scope) {
                Ok(MemoryScope::Fragment) => "fragment",
                Ok(MemoryScope::Shared) => "shared",
                _ => "global",
            };
            json!({
                "name": names.buffer(id), "scope": scope,
                "layout": inference.layout(id).as_ref().map(form),
            })
        })
        .collect();
    let operators: Vec<Json> = told
        .operators()
        .map(|(id, op)| {
            json!({
                "name": names.operator(id), "line": program.place(op).line,
                "loop": program.role(op) == OpRole::Parallel,
                "layout": inference.spread(id).as_ref().map(form),
            })
        })
        .collect();
    json!({
        "function": program.symbol(function), "arch": arch.name, "buffers": buffers,
        "operators": operators, "timeline": timeline.json(),
    })
}
