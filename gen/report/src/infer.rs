//! Layouts of a program's parallel loops and fragments, and how they came about.
use crate::inferred::fragments;
use crate::inferred::refused::{of_stop, of_told};
use crate::inferred::timeline::{Names, Timeline, layout};
use crate::problem::{Problem, Problems};
use crate::program::Source;
use crate::refused::of_program;
use lanebook::infer::{self, ArenaParts, InferenceParts, Level, MemoryScope};
use lanebook::ir::{self, Op, Program};
use lanebook::loops::{Fact, LoopLayouts, LoopParts, Told, tell};
use lanebook_draw::Picture;
use lanebook_tables::{Arch, CostPolicy, OpRole, Tables};
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

/// The memory of inference.
pub(crate) struct Memory {
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
    pub(crate) fn new() -> Self {
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

/// A function of parallel loops with the layouts that the first cost of the tables finds.
pub(crate) fn found<'m>(
    memory: &'m mut Memory,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    source: &Source,
) -> Result<Told<'m>, Problems> {
    let policy = tables
        .policies
        .first()
        .ok_or_else(|| Problem::internal("the tables have no cost", "add one to rules/cost.ron"))?;
    let function = function(program, source)?;
    let mut told = tell(program, function, tables, arch, memory.parts())
        .map_err(|error| of_told(program, source, error))?;
    let mut timeline = Timeline::new(Names::of(program, &told), &told);
    told.inference
        .run(policy, &mut timeline)
        .map_err(|stop| of_stop(program, source, &timeline, stop))?;
    Ok(told)
}

/// What is inferred, and how far.
#[derive(Copy, Clone)]
pub struct Request<'t> {
    /// For which machine.
    pub arch: &'t Arch<'t>,
    /// How far inference goes.
    pub level: Level,
    /// By what candidates are compared.
    pub policy: &'t CostPolicy<'t>,
}

/// What was inferred of one function.
pub struct Inferred<'i, 'p> {
    program: &'i mut Program<'p, 'p>,
    function: Op,
    request: Request<'i>,
    told: Told<'i>,
    timeline: Timeline,
}

/// Infers the layouts of a program's one function, and hands them to `take`.
///
/// # Errors
/// What is wrong with the program, at its place; why there are no layouts; what `take` refuses.
pub fn inferred<T>(
    tables: &Tables<'_>,
    source: &Source,
    request: Request<'_>,
    take: impl FnOnce(Inferred<'_, '_>) -> Result<T, Problems>,
) -> Result<T, Problems> {
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = ir::parse(storage.pools(), tables, &source.text, ir::Options::default())
        .map_err(|error| of_program(tables, source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
    let function = function(&program, source)?;
    let mut memory = Memory::new();
    let mut told = tell(&program, function, tables, request.arch, memory.parts())
        .map_err(|error| of_told(&program, source, error))?;
    let mut timeline = Timeline::new(Names::of(&program, &told), &told);
    told.inference
        .run_to(request.level, request.policy, &mut timeline)
        .map_err(|stop| of_stop(&program, source, &timeline, stop))?;
    take(Inferred { program: &mut program, function, request, told, timeline })
}

impl Inferred<'_, '_> {
    /// The program with its layouts, and the course of inference behind it; `explain`: with what was asked and rejected.
    ///
    /// # Errors
    /// A layout that cannot be written.
    pub fn text(self, explain: bool) -> Result<String, Problems> {
        self.told
            .annotate(self.program)
            .map_err(|error| Problem::internal(error.message(), "report this with the program"))?;
        let mut out = String::new();
        ir::print(self.program, &LoopLayouts(&self.told), &mut out)
            .map_err(|_| Problem::internal("a layout cannot be written", "report this"))?;
        out.push_str(&format!("\n// Inferred for {}.\n//\n", self.request.arch.name));
        for line in self.timeline.text(explain).lines() {
            out.push_str(format!("// {line}").trim_end());
            out.push('\n');
        }
        Ok(out)
    }

    /// Layouts and timeline as JSON, everything by name.
    #[must_use]
    pub fn json(&self) -> Json {
        json(self.program, self.function, self.request.arch, &self.told, &self.timeline)
    }

    /// The fragments: thread and local index of each element.
    #[must_use]
    pub fn picture(&self) -> Picture {
        fragments::picture(&self.told.inference, self.timeline.names(), &fragments_of(&self.told))
    }
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
