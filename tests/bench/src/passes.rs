//! Passes over tile programs: rules a second, time and room against program size, and the removal
//! of conversions beside Triton's.
use crate::clock::Effort;
use crate::peer::TRITON_REMOVAL;
use crate::report::Report;
use lanebook::TABLES;
use lanebook::ir::{Node, Options, Pool, Program, Storage, TileGraph, parse, verify};
use lanebook::passes::{Analysis, Event};
use lanebook::pipeline::{REMOVE_CONVERSIONS, apply};
use lanebook::remat::bill;
use lanebook::rewrite::{Work, run};
use lanebook::tables::{Language, RuleId};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// The section's heading.
pub const SECTION: &str =
    "Passes over tile programs (time an operation against that at 16: 1 or less is linear)";
/// The heading of the costs by rule.
pub const APPLICATIONS: &str = "One application, by rule and analysis";
/// The heading of the comparison.
pub const TRITON: &str = "Removal of conversions beside Triton's own";

/// Room for 4,096 operations.
type Room = Storage<8192, 16384, 32768, 16384, 1024, 1024, 400_000>;

/// Kernels before the pass, and after Triton's, with the milliseconds that it took.
const KERNELS: [(&str, &str, &str, f64); 5] = [
    (
        "gemm_epilogue sm_90",
        include_str!("../../passes/ttgir/gemm_epilogue.sm_90.before.mlir"),
        include_str!("../../passes/triton/gemm_epilogue.sm_90.before.mlir"),
        4.70,
    ),
    (
        "attention sm_90",
        include_str!("../../passes/ttgir/attention.sm_90.before.mlir"),
        include_str!("../../passes/triton/attention.sm_90.before.mlir"),
        3.02,
    ),
    (
        "gemm_fp8 sm_90",
        include_str!("../../passes/ttgir/gemm_fp8.sm_90.before.mlir"),
        include_str!("../../passes/triton/gemm_fp8.sm_90.before.mlir"),
        3.38,
    ),
    (
        "layer_norm sm_90",
        include_str!("../../passes/ttgir/layer_norm.sm_90.before.mlir"),
        include_str!("../../passes/triton/layer_norm.sm_90.before.mlir"),
        1.24,
    ),
    (
        "softmax sm_90",
        include_str!("../../passes/ttgir/softmax.sm_90.before.mlir"),
        include_str!("../../passes/triton/softmax.sm_90.before.mlir"),
        1.53,
    ),
];

/// How a program is made that grows.
type Shape = (&'static str, fn(&mut Body, usize));

/// Programs whose operations depend on each other in different ways.
const SHAPES: [Shape; 4] = [
    ("short chains", Body::blocks),
    ("one long chain", Body::chain),
    ("one value, many readers", Body::fan),
    ("loops", Body::loops),
];

/// The two layouts.
const LAYOUTS: [&str; 2] = ["#a", "#b"];

/// The operations of a function, counted.
#[derive(Default)]
struct Body {
    text: String,
    count: usize,
}

impl Body {
    /// A program of a shape, of about `size` operations, and their number.
    fn program((_, fill): Shape, size: usize) -> (String, usize) {
        let mut body = Self {
            text: String::from(
                "#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module {
func @f(%A: memref<32x16xf32, #gmem>, %n: index) {\n",
            ),
            count: 0,
        };
        fill(&mut body, size);
        body.op("return");
        body.text.push_str("}\n}\n");
        (body.text, body.count)
    }
    fn op(&mut self, text: &str) {
        let _ = writeln!(self.text, "  {text}");
        self.count += 1;
    }
    fn load(&mut self, to: &str) {
        self.op(&format!(
            "{to} = tiled_load %A : memref<32x16xf32, #gmem> -> tensor<32x16xf32, #a>"
        ));
    }
    fn store(&mut self, what: &str, layout: usize) {
        self.op(&format!(
            "tiled_store {what}, %A : tensor<32x16xf32, {}> -> memref<32x16xf32, #gmem>",
            LAYOUTS[layout]
        ));
    }
    /// Converts from a layout to the other.
    fn convert(&mut self, to: &str, what: &str, from: usize) {
        let text = format!(
            "{to} = convert_layout {what} : tensor<32x16xf32, {}> -> tensor<32x16xf32, {}>",
            LAYOUTS[from],
            LAYOUTS[1 - from]
        );
        self.op(&text);
    }
    fn compute(&mut self, name: &str, to: &str, what: &str, layout: usize) {
        self.op(&format!("{to} = {name} {what} : tensor<32x16xf32, {}>", LAYOUTS[layout]));
    }
    /// Loads, each with seven conversions and sums, and a store.
    fn blocks(&mut self, size: usize) {
        for block in 0..size.div_ceil(16) {
            let mut last = format!("%l{block}");
            self.load(&last);
            for step in 0..7 {
                let (c, s) = (format!("%c{block}_{step}"), format!("%s{block}_{step}"));
                self.convert(&c, &last, step % 2);
                self.compute("add", &s, &format!("{c}, {c}"), 1 - step % 2);
                last = s;
            }
            self.store(&last, 1);
        }
    }
    /// One load, and everything else of it, one after the other.
    fn chain(&mut self, size: usize) {
        self.load("%e0");
        let steps = size / 2;
        for step in 0..steps {
            self.convert(&format!("%c{step}"), &format!("%e{step}"), step % 2);
            self.compute("exp", &format!("%e{}", step + 1), &format!("%c{step}"), 1 - step % 2);
        }
        self.store(&format!("%e{steps}"), steps % 2);
    }
    /// One load that everything reads.
    fn fan(&mut self, size: usize) {
        self.load("%l");
        for step in 0..size.div_ceil(3) {
            self.convert(&format!("%c{step}"), "%l", 0);
            self.compute("exp", &format!("%e{step}"), &format!("%c{step}"), 1);
            self.store(&format!("%e{step}"), 1);
        }
    }
    /// Loops, one after the other, each of what the one before carried out.
    fn loops(&mut self, size: usize) {
        self.load("%r0");
        let loops = size.div_ceil(5);
        for at in 0..loops {
            self.op(&format!("%r{} = scf.for %i{at} = 0 to 8 step 1 iter_args(%x{at} = %r{at}) -> tensor<32x16xf32, #a> {{", at + 1));
            self.convert(&format!("%c{at}"), &format!("%x{at}"), 0);
            self.compute("exp", &format!("%e{at}"), &format!("%c{at}"), 1);
            self.convert(&format!("%d{at}"), &format!("%e{at}"), 1);
            self.op(&format!("scf.yield %d{at} : tensor<32x16xf32, #a>"));
            self.text.push_str("  }\n");
        }
        self.store(&format!("%r{loops}"), 0);
    }
}

/// The least of so many is taken.
const TIMES: usize = 7;

const LOOSE: Options = Options { keep_unknown: true, free_names: true };

fn read<'s, 't>(room: &'s mut Room, text: &'t str) -> Program<'s, 't> {
    let mut program = parse(room.pools(), &TABLES, text, LOOSE).unwrap_or_else(|e| panic!("{e:?}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}"));
    program
}

/// What a pass did to a program.
struct Ran {
    /// The least time, in nanoseconds.
    time: f64,
    /// Rules applied, and changes of analyses.
    changes: u32,
    /// Bytes of the program's records at their fullest.
    bytes: usize,
    /// Bytes of the journal when the pass is done.
    journal: usize,
}

/// Nodes to look at.
type Nodes = heapless::Vec<Node, 65_000>;

fn pass(room: &mut Room, work: &mut Nodes, text: &str, effort: Effort) -> Ran {
    let (mut time, mut last) = (f64::INFINITY, None);
    for _ in 0..effort.times(TIMES) {
        let mut program = read(room, text);
        // With a mark around it the journal is still there afterwards.
        let mark = program.mark();
        let mut fuel = 10_000_000;
        let start = Instant::now();
        let stats =
            apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |_| {})
                .expect("it runs");
        time = time.min(start.elapsed().as_nanos() as f64);
        let size = |journal: bool| {
            program
                .usage()
                .iter()
                .filter(|pool| (pool.pool == Pool::Journal) == journal)
                .map(|pool| pool.used * pool.bytes)
                .sum()
        };
        last = Some((stats.applied, size(false), size(true)));
        program.keep(mark);
    }
    let (changes, bytes, journal) = last.expect("it ran");
    Ran { time, changes, bytes, journal }
}

/// Time of the rules that push conversions, and then of those that clean up, alone, and how many
/// were applied.
fn rules(room: &mut Room, work: &mut Nodes, text: &str, effort: Effort) -> (f64, u32) {
    let (mut time, mut applied) = (f64::INFINITY, 0);
    for _ in 0..effort.times(TIMES) {
        let mut program = read(room, text);
        let mut fuel = 10_000_000;
        let start = Instant::now();
        applied = 0;
        for phase in ["push_conversions", "clean_conversions", "sink_conversions"] {
            let phase = TABLES.rules.phase_named(phase).expect("a phase");
            let set = TABLES.rules.set(Language::Tile, None, phase).expect("it has rules");
            let mut work = Work::new(work.as_mut_view());
            let mut graph = TileGraph::new(&mut program);
            graph.push_all_last_first(&mut work).expect("there is room");
            applied += run(&mut graph, &TABLES.rules, set, &mut work, &mut fuel, |_, _| {})
                .expect("they run")
                .applied;
        }
        time = time.min(start.elapsed().as_nanos() as f64);
    }
    (time, applied)
}

/// By what was done (a rule, or an analysis): how often in one run over all programs, and
/// nanoseconds each, the least of several runs. A step's time is that until the next is told of:
/// what it changes, and looking for what fits next. Telling the time is in it.
#[must_use]
pub fn applications(effort: Effort) -> Vec<(String, u32, f64)> {
    let (mut room, mut work) = (crate::boxed(Room::new), Box::new(Nodes::new()));
    let mut texts: Vec<String> =
        SHAPES.iter().map(|shape| Body::program(*shape, sizes(effort)[2]).0).collect();
    texts.extend(KERNELS.iter().map(|kernel| kernel.1.to_string()));
    let mut best: BTreeMap<String, (u32, f64)> = BTreeMap::new();
    for _ in 0..effort.times(TIMES) {
        let mut seen: BTreeMap<String, (u32, f64)> = BTreeMap::new();
        for text in &texts {
            let mut program = read(&mut room, text);
            let mut last: Option<(Step, Instant)> = None;
            let mut note = |last: Option<(Step, Instant)>, now: Instant| {
                if let Some((step, since)) = last {
                    let entry = seen.entry(step.name()).or_default();
                    *entry = (entry.0 + 1, entry.1 + (now - since).as_nanos() as f64);
                }
            };
            let mut fuel = 10_000_000;
            apply(
                &TABLES,
                REMOVE_CONVERSIONS,
                &mut program,
                work.as_mut_view(),
                &mut fuel,
                |event| {
                    let now = Instant::now();
                    let step = match event {
                        Event::Rule { rule, .. } => Step::Rule(rule),
                        Event::Change { analysis, .. } => Step::Analysis(analysis),
                        Event::Finding { .. } => return,
                    };
                    note(last.replace((step, now)), now);
                },
            )
            .expect("it runs");
            // The last one's time would hold all that comes after it.
        }
        for (name, (count, time)) in seen {
            let entry = best.entry(name).or_insert((count, f64::INFINITY));
            entry.1 = entry.1.min(time);
        }
    }
    best.into_iter()
        .map(|(name, (count, time))| (name, count, time / f64::from(count.max(1))))
        .collect()
}

/// What a pass tells of.
#[derive(Copy, Clone)]
enum Step {
    Rule(RuleId),
    Analysis(Analysis),
}

impl Step {
    fn name(self) -> String {
        match self {
            Self::Rule(id) => TABLES.rules.rule(id).map_or_else(String::new, |rule| {
                let phase =
                    TABLES.rules.phases.get(usize::from(rule.phase)).copied().unwrap_or("?");
                format!("{phase}: {}", TABLES.rules.name(id))
            }),
            Self::Analysis(analysis) => format!("[{}]", analysis.name()),
        }
    }
}

/// Sizes of programs.
const fn sizes(effort: Effort) -> [usize; 5] {
    match effort {
        Effort::Full => [16, 64, 256, 1024, 4096],
        Effort::Once => [16, 32, 64, 128, 256],
    }
}

/// By shape, the journal's bytes an operation at 64 and at 1,024 operations: what is written,
/// whatever the machine.
#[must_use]
pub fn growth() -> Vec<(&'static str, f64, f64)> {
    let (mut room, mut work) = (crate::boxed(Room::new), Box::new(Nodes::new()));
    let mut at = |shape, size| {
        let (text, ops) = Body::program(shape, size);
        pass(&mut room, &mut work, &text, Effort::Once).journal as f64 / ops as f64
    };
    SHAPES.iter().map(|shape| (shape.0, at(*shape, 64), at(*shape, 1024))).collect()
}

/// Measures passes.
pub fn measure(report: &mut Report) {
    let effort = report.effort;
    let mut room = crate::boxed(Room::new);
    let mut work = Box::new(Nodes::new());
    for shape in SHAPES {
        let (mut first, mut most) = (None, (0f64, 0f64));
        for size in sizes(effort) {
            let (text, ops) = Body::program(shape, size);
            let ran = pass(&mut room, &mut work, &text, effort);
            let each = |figure: f64| figure / ops as f64;
            let what = format!("{}: {REMOVE_CONVERSIONS}, {ops} operations", shape.0);
            match first {
                Some(first) => report.held(SECTION, what, each(ran.time), "ns/op", first, "at 16"),
                None => report.alone(SECTION, what, each(ran.time), "ns/op"),
            }
            first = first.or(Some(each(ran.time)));
            most = (most.0.max(each(ran.bytes as f64)), most.1.max(each(ran.journal as f64)));
            if size == sizes(effort)[3] {
                let what = format!("{}: {REMOVE_CONVERSIONS}, {ops} operations: changes", shape.0);
                report.alone(SECTION, what, f64::from(ran.changes), "");
                let (time, applied) = rules(&mut room, &mut work, &text, effort);
                if applied == 0 {
                    report.note(
                        SECTION,
                        format!(
                            "{}: no rule applies; what changes is the work of analyses",
                            shape.0
                        ),
                    );
                    continue;
                }
                let what = |end: &str| {
                    format!("{}: {ops} operations, {applied} rules applied{end}", shape.0)
                };
                report.alone(SECTION, what(", a second"), f64::from(applied) / (time * 1e-9), "/s");
                report.alone(SECTION, what(", each"), time / f64::from(applied), "ns");
            }
        }
        report.held(
            SECTION,
            format!("{}: records, the most", shape.0),
            most.0,
            "B/op",
            160.0,
            "the budget",
        );
        report.alone(
            SECTION,
            format!("{}: undo journal when done, the most", shape.0),
            most.1,
            "B/op",
        );
    }
    for (name, count, time) in applications(effort) {
        report.alone(APPLICATIONS, format!("{name}, {count} times"), time, "ns");
    }
    report.note(APPLICATIONS, "over the programs above of 256 operations and the kernels below; from one to the next, looking for it included");
    for (name, before, theirs, milliseconds) in KERNELS {
        let time = pass(&mut room, &mut work, before, effort).time;
        report.held(
            TRITON,
            format!("{name}: time"),
            time / 1000.0,
            "us",
            milliseconds * 1000.0,
            TRITON_REMOVAL.to_string(),
        );
        let left = {
            let mut program = read(&mut room, before);
            let mut fuel = 1_000_000;
            apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |_| {})
                .expect("it runs");
            bill(&mut program).expect("there is room")
        };
        let triton = bill(&mut read(&mut room, theirs)).expect("there is room");
        if left.conversions == 0 && triton.conversions == 0 {
            report.note(TRITON, format!("{name}: neither leaves a conversion"));
            continue;
        }
        report.held(
            TRITON,
            format!("{name}: conversions left"),
            f64::from(left.conversions),
            "",
            f64::from(triton.conversions),
            TRITON_REMOVAL.to_string(),
        );
        report.held(
            TRITON,
            format!("{name}: their cost"),
            left.written as f64,
            "mcyc",
            triton.written as f64,
            TRITON_REMOVAL.to_string(),
        );
        report.held(
            TRITON,
            format!("{name}: the same, loops counted"),
            left.executed as f64,
            "mcyc",
            triton.executed as f64,
            TRITON_REMOVAL.to_string(),
        );
    }
    report.note(
        TRITON,
        "mcyc: thousandths of a cycle of a multiprocessor, by the weights of rules/cost.ron",
    );
}
