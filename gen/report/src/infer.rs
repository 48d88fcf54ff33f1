//! Layouts of a program's parallel loops and fragments, and how they came about.
use crate::inferred::fragments;
use crate::inferred::races::races;
use crate::inferred::refused::{of_stop, of_told};
use crate::inferred::shared::swizzle;
use crate::inferred::timeline::{Names, Timeline, layout};
use crate::memory::LoopMemory;
use crate::problem::{Problem, Problems};
use crate::program::Source;
use crate::race::RaceFinding;
use crate::refused::functions::isolate;
use crate::refused::of_program;
use crate::resolved::resolve;
use lanebook::infer::{
    self, BufferId, Inference, InferenceEvent, Level, Listener, MemoryScope, OperatorId, Reason,
    Rejection, Stop,
};
use lanebook::ir::{self, Op, Program, Value};
use lanebook::loops::{
    LoopError, LoopLayouts, Told, exchange, exchange_uniform, fuse_loops, lay_shared,
    reduce_in_fragments, tell,
};
use lanebook_draw::Picture;
use lanebook_tables::{Arch, CostPolicy, OpRole, Tables};
use serde_json::{Value as Json, json};

/// Operations, values, operands, attributes, types, regions and undo records that there is room
/// for.
type ProgramRoom = ir::Storage<8192, 16384, 32768, 16384, 1024, 1024, 65000>;

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

impl<'t> Request<'t> {
    /// As far as inference goes, by the first cost of the tables.
    ///
    /// # Errors
    /// The tables have no cost.
    pub fn usual(tables: &Tables<'t>, arch: &'t Arch<'t>) -> Result<Self, Problem> {
        let policy = tables.policies.first().ok_or_else(|| {
            Problem::internal("the tables have no cost", "add one to rules/cost.ron")
        })?;
        Ok(Self { arch, level: Level::Free, policy })
    }
}

/// What of a fragment no loop that accesses it owns.
struct Readers<'t> {
    /// Loops that may go through shared memory.
    may: &'t dyn Fn(OperatorId) -> bool,
    last: Option<(OperatorId, BufferId)>,
    /// What all threads read outside of loops and not all of them hold.
    uniform: Option<BufferId>,
}

impl Listener for Readers<'_> {
    fn event(&mut self, _: &Inference<'_>, event: InferenceEvent) {
        let InferenceEvent::Rejected(Rejection { operator, reason, .. }) = event else { return };
        if let Reason::Uniform { buffer } = reason {
            self.uniform = Some(buffer);
        }
        let (Reason::NotOwner { buffer }
        | Reason::NotWritten { buffer }
        | Reason::ThreadRange { buffer }
        | Reason::InnerVariable { buffer }
        | Reason::OuterVariable { buffer }
        | Reason::Threads { buffer: Some(buffer) }) = reason
        else {
            return;
        };
        if (self.may)(operator) {
            self.last = Some((operator, buffer));
        }
    }
}

/// Lets reductions of shared tiles go through fragments, fuses loops with a large fragment between
/// them, and lets loops with `exchange = allow` access through shared memory what no layout of theirs
/// owns, until there are layouts or nothing more is allowed; how many fragments went away as loops were
/// fused.
///
/// # Errors
/// What cannot be told to inference.
pub(crate) fn exchanged(
    tables: &Tables<'_>,
    program: &mut Program<'_, '_>,
    source: &Source,
    request: Request<'_>,
) -> Result<usize, Problems> {
    let function = function(program, source)?;
    reduce_in_fragments(program, function).ok_or_else(|| {
        Problem::refused("the program has no room for fragments to reduce in", "split the function")
    })?;
    let fused = fuse_loops(program, function, tables, request.arch);
    let says = |program: &Program<'_, '_>| {
        program.inside(function).any(|op| program.has_attr(op, ir::attr_names::EXCHANGE))
    };
    if says(program) {
        read_through_memory(tables, program, function, request)
            .map_err(|error| of_told(program, source, error))?;
    }
    Ok(fused)
}

/// The same of a function.
///
/// # Errors
/// What cannot be told to inference.
pub fn read_through_memory(
    tables: &Tables<'_>,
    program: &mut Program<'_, '_>,
    function: Op,
    request: Request<'_>,
) -> Result<(), LoopError> {
    let mut memory = LoopMemory::default();
    loop {
        let mut told = tell(program, function, tables, request.arch, memory.parts())?;
        let ops: Vec<(OperatorId, Op)> = told.operators().collect();
        let nest = |id| ops.iter().find(|(own, _)| *own == id).map(|(_, op)| *op);
        let may = |id| nest(id).is_some_and(|op| program.has_attr(op, ir::attr_names::EXCHANGE));
        let mut readers = Readers { may: &may, last: None, uniform: None };
        let runs = told.inference.run_to(request.level, request.policy, &mut readers).is_ok();
        // What a thread would pick out of many registers by its number is cheaper in memory, and what
        // all of them would hold to read little of it.
        let picked = |told: &mut Told<'_>, id| {
            let spilled = told.inference.spilled(id).ok()?;
            Some((id, spilled.or(told.inference.held_by_all(id).ok()?)?))
        };
        let wanted: Vec<(OperatorId, BufferId)> = match runs {
            true => {
                let loops = ops.iter().filter(|(id, _)| may(*id));
                loops.filter_map(|(id, _)| picked(&mut told, *id)).collect()
            }
            false => readers.last.into_iter().collect(),
        };
        let places: Vec<(Option<Op>, Option<Value>)> =
            wanted.iter().map(|(id, buffer)| (nest(*id), told.value(*buffer))).collect();
        let uniform = readers.uniform.and_then(|buffer| told.value(buffer));
        let brought = uniform.is_some_and(|own| exchange_uniform(program, function, own) > 0);
        let brought = brought
            || places.into_iter().any(|place| match place {
                (Some(nest), Some(fragment)) => exchange(program, nest, fragment).is_some(),
                _ => false,
            });
        if !brought {
            return Ok(());
        }
    }
}

/// The course of an inference that gave no layouts.
pub struct Stopped {
    function: String,
    arch: String,
    timeline: Timeline,
}

impl Stopped {
    /// The course as text: what was asked, and what was rejected.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = format!("// No layouts for {}.\n//\n", self.arch);
        comment(&mut out, &self.timeline.text(true));
        out
    }

    /// The course as JSON, and why there are no layouts.
    #[must_use]
    pub fn json(&self, why: &Problems) -> Json {
        json!({
            "function": self.function, "arch": self.arch, "refused": why.what(),
            "timeline": self.timeline.json(),
        })
    }
}

/// Lines behind comment signs.
fn comment(out: &mut String, text: &str) {
    for line in text.lines() {
        out.push_str(format!("// {line}").trim_end());
        out.push('\n');
    }
}

/// A function of parallel loops with its layouts, and how they came about; `stopped` hears the
/// course of an inference that gives no layouts.
pub(crate) fn found<'m>(
    memory: &'m mut LoopMemory,
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    request: Request<'_>,
    stopped: impl FnOnce(Stopped, &Problems),
) -> Result<(Told<'m>, Timeline), Problems> {
    let function = function(program, source)?;
    let mut told = tell(program, function, tables, request.arch, memory.parts())
        .map_err(|error| of_told(program, source, error))?;
    let mut timeline = Timeline::new(Names::of(program, &told), &told);
    let mut done = told.inference.run_to(request.level, request.policy, &mut timeline);
    if done.is_ok() && request.level == Level::Free {
        done = lay_shared(&mut told, program, tables, request.arch, &mut timeline)
            .map_err(Stop::Failed);
    }
    let Err(stop) = done else { return Ok((told, timeline)) };
    let why = of_stop(program, source, &timeline, stop).into();
    let (function, arch) = (program.symbol(function).to_string(), request.arch.name.to_string());
    stopped(Stopped { function, arch, timeline }, &why);
    Err(why)
}

/// What was inferred of one function.
pub struct Inferred<'i, 'p> {
    program: &'i mut Program<'p, 'p>,
    function: Op,
    request: Request<'i>,
    told: Told<'i>,
    timeline: Timeline,
    races: Vec<RaceFinding>,
    /// Fragments that went away as loops were fused.
    fused: usize,
}

/// Infers the layouts of a program's one kernel, and hands them to `take`; to `stopped` how it came
/// that there are none.
///
/// # Errors
/// What is wrong with the program, at its place; why there are no layouts; what `take` refuses.
pub fn inferred<T>(
    tables: &Tables<'_>,
    source: &Source,
    request: Request<'_>,
    take: impl FnOnce(Inferred<'_, '_>) -> Result<T, Problems>,
    stopped: impl FnOnce(Stopped, &Problems),
) -> Result<T, Problems> {
    let mut storage = Box::new(ProgramRoom::new());
    let mut program = ir::parse(storage.pools(), tables, &source.text, ir::Options::default())
        .map_err(|error| of_program(tables, source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
    isolate(tables, &mut program, source)?;
    let function = function(&program, source)?;
    if let Some(arch) = tables.arch_named(request.arch.name) {
        resolve(tables, (arch, request.arch), &mut program, source)?;
    }
    let fused = exchanged(tables, &mut program, source, request)?;
    let mut memory = LoopMemory::default();
    let (mut told, timeline) = found(&mut memory, tables, &program, source, request, stopped)?;
    let races = races(&program, &mut told, timeline.names())?;
    take(Inferred { program: &mut program, function, request, told, timeline, races, fused })
}

impl Inferred<'_, '_> {
    /// The program with its layouts, races of its loops, and the course of inference behind it; `explain`: with what was asked and rejected.
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
        for race in &self.races {
            out.push_str(&format!("// {}.\n//\n", race.text()));
        }
        if self.fused > 0 {
            out.push_str(&format!(
                "// Fragments that would fill too many of a lane's registers are gone, the loops around them fused: {}.\n//\n",
                self.fused
            ));
        }
        comment(&mut out, &self.timeline.text(explain));
        Ok(out)
    }

    /// Layouts and timeline as JSON, everything by name.
    #[must_use]
    pub fn json(&self) -> Json {
        let mut out =
            json(self.program, self.function, self.request.arch, &self.told, &self.timeline);
        out["races"] = self.races.iter().map(RaceFinding::json).collect();
        out["fused"] = json!(self.fused);
        out
    }

    /// The fragments: thread and local index of each element; shared buffers under a swizzle: where
    /// each element lies.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let shown = (
            &*buffers_of(&self.told, MemoryScope::Fragment),
            &*buffers_of(&self.told, MemoryScope::Shared),
        );
        fragments::picture(&self.told.inference, self.timeline.names(), shown)
    }
}

/// The function whose loops are inferred.
fn function(program: &Program<'_, '_>, source: &Source) -> Result<Op, Problem> {
    program.functions().next().ok_or_else(|| {
        Problem::refused(
            format!("{} has no function", source.name),
            "write func @name(...) {threads = N} { ... }",
        )
    })
}

/// The buffers that lie somewhere.
fn buffers_of(told: &Told<'_>, scope: MemoryScope) -> Vec<infer::BufferId> {
    let there = |id: infer::BufferId| told.inference.buffer_of(id).is_ok_and(|b| b.scope == scope);
    told.buffers().map(|(id, _)| id).filter(|id| there(*id)).collect()
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
            let mut out = json!({
                "name": names.buffer(id), "scope": scope,
                "layout": inference.layout(id).as_ref().map(form),
            });
            if scope == "shared" {
                out["swizzle"] = json!(inference.swizzle(id).map(|own| swizzle(Some(own))));
            }
            out
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
