//! How the passes grow with the program: each on programs of its own, of 16 to 4,096 operations;
//! index rules on expressions, of which an arena holds fewer.
use crate::clock::Effort;
use crate::report::Report;
use lanebook::TABLES;
use lanebook::expr::{ExprArena, ExprId, MAX_NODES, SimplifyScratch, Variable, simplify};
use lanebook::ir::{Node, Options, Pool, Storage, parse, verify};
use lanebook::layout_seeding::{SeedingOptions, SeedingStorage};
use lanebook::pipeline::{PassScratch, apply_with};
use lanebook_tables::IndexOp;
use std::fmt::Write;
use std::time::Instant;

/// The section's heading.
pub const SECTION: &str = "Every other pass, by size (time an operation against that of the smallest: 1 or less is linear)";

/// Room for 4,096 operations and what slicing makes of them.
type Program = Storage<16384, 32768, 60_000, 32768, 2048, 8192, 200_000>;
/// Room for the layouts that are chosen.
type Choice = SeedingStorage<1024, 60_000, 4096, 64>;

/// How a part of a program is written: its number, and what it is appended to.
type Part = fn(&mut String, usize);

/// A pass, what its programs begin and end with, and what they consist of.
struct Case {
    pass: &'static str,
    begin: &'static str,
    part: Part,
    end: &'static str,
    /// The architecture that layouts are chosen for.
    arch: Option<&'static str>,
}

const SOFTMAX: &str = include_str!("../../passes/anchors/softmax.sm_90.blocked.mlir");
const GEMM: &str = include_str!("../../passes/anchors/gemm.sm_80.coalesced.mlir");

fn cases() -> [Case; 7] {
    let case = |pass, part| Case { pass, begin: "", part, end: "", arch: None };
    [
        case("remove-aliases", aliases),
        case("remove-dead-args", dead),
        case("slice", slices),
        case("resolve-agent-boundaries", agents),
        Case { arch: Some("sm_90a"), ..case("assign-layouts", accesses) },
        Case {
            begin: head(SOFTMAX),
            end: "  }\n}\n",
            ..case("coalesce", |out, at| copy(out, SOFTMAX, at))
        },
        Case {
            begin: head(GEMM),
            end: "  }\n}\n",
            ..case("accelerate-matmul", |out, at| copy(out, GEMM, at))
        },
    ]
}

fn aliases(out: &mut String, n: usize) {
    let _ = write!(
        out,
        "%a{n} = alloc_tensor : tensor<1024xf16, #smem>
%u{n} = view %a{n} {{offset = 512}} : tensor<256xf16, #smem>
%v{n} = view %a{n} {{offset = 256}} : tensor<512xf16, #smem>
%w{n} = view %v{n} {{offset = 128}} : tensor<256xf16, #smem>
%s{n} = select %c, %w{n}, %u{n} : tensor<256xf16, #smem>
use %s{n} : tensor<256xf16, #smem>
"
    );
}

fn dead(out: &mut String, n: usize) {
    let _ = write!(
        out,
        "%r{n} = scf.for %i{n} = 0 to %n step 1 iter_args(%a{n} = %x) -> (f32) {{
  %q{n} = scf.for %j{n} = 0 to %n step 1 iter_args(%b{n} = %a{n}) -> (f32) {{
    use %j{n} : index
    scf.yield %b{n} : f32
  }}
  scf.yield %a{n} : f32
}}
"
    );
}

fn slices(out: &mut String, n: usize) {
    let _ = write!(
        out,
        "scf.for %i{n} = 0 to 64 step 1 attributes {{sliceCount = 2 : i32}} {{
  %l{n} = tiled_load %p[%i{n}, 0] : memref<?x?xf16> -> tensor<4x4xf16>
  %e{n} = exp %l{n} : tensor<4x4xf16>
  tiled_store %e{n}, %p[%i{n}, 0] : tensor<4x4xf16> -> memref<?x?xf16>
}}
"
    );
}

fn agents(out: &mut String, n: usize) {
    const T: &str = "tensor<4x4xf32, #x>";
    let _ = write!(
        out,
        "%e{n} = exp %p : {T} -> {T}
agent_switch {{
  use %e{n} : {T}
  %s{n} = add %e{n}, %e{n} : {T}
  use %s{n} : {T}
}}
"
    );
}

fn accesses(out: &mut String, n: usize) {
    let _ = write!(
        out,
        "%s{n} = alloc_tensor : tensor<64x64xf16, #smem>
copy %A[%m, %k], %s{n} : memref<?x?xf16, #gmem> -> tensor<64x64xf16, #smem>
%a{n} = tiled_load %s{n} : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
use %a{n} : tensor<64x64xf16>
"
    );
}

/// A module up to the first operation of its function.
fn head(text: &str) -> &str {
    let at = text
        .find("tt.func")
        .and_then(|at| Some(at + text[at..].find("{\n")? + 2))
        .expect("a function");
    &text[..at]
}

/// A kernel's body once more, with names of its own.
fn copy(out: &mut String, text: &str, n: usize) {
    let head = head(text);
    let rest = &text[head.len()..];
    let body = &rest[..rest.rfind("    tt.return").expect("an end")];
    let given: Vec<&str> =
        head.split('%').skip(1).map(|name| &name[..name.find(':').unwrap_or(0)]).collect();
    let mut parts = body.split('%');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let len = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
        let (name, tail) = part.split_at(len);
        let _ = if given.contains(&name) {
            write!(out, "%{name}{tail}")
        } else {
            write!(out, "%{name}_k{n}{tail}")
        };
    }
}

/// What a pass did to programs of several sizes.
pub struct Grown {
    /// The pass.
    pub pass: &'static str,
    /// Sizes in order.
    pub sizes: Vec<Size>,
}

/// What a pass did to a program.
#[derive(Copy, Clone, Debug)]
pub struct Size {
    /// Operations before the pass.
    pub ops: usize,
    /// Nanoseconds, the least of several runs.
    pub time: f64,
    /// Rules applied and changes of analyses.
    pub changes: u32,
    /// Records of the journal when the pass is done.
    pub journal: usize,
}

/// Runs every pass on programs of at least so many operations.
///
/// # Panics
/// If a pass refuses its program.
#[must_use]
pub fn grown(sizes: &[usize], effort: Effort) -> Vec<Grown> {
    let (mut storage, mut choice) = (crate::boxed(Program::new), crate::boxed(Choice::new));
    let mut work = Box::new(heapless::Vec::<Node, 65_000>::new());
    let mut all = Vec::new();
    for case in cases() {
        let wishes = SeedingOptions {
            arch: case.arch.and_then(|name| TABLES.arch_named(name)),
            prefer_bulk: false,
        };
        if case.arch.is_some() && wishes.arch.is_none() {
            continue;
        }
        let mut part = String::new();
        (case.part)(&mut part, 0);
        let each = part.lines().filter(|line| !line.trim_start().starts_with(['}', '^'])).count();
        let mut grown = Grown { pass: case.pass, sizes: Vec::new() };
        for size in sizes {
            let mut text = String::from(case.begin);
            for number in 0..size.div_ceil(each) {
                (case.part)(&mut text, number);
            }
            text.push_str(case.end);
            let mut least: Option<Size> = None;
            for _ in 0..effort.times(5) {
                let options = Options { keep_unknown: true, free_names: true };
                let mut program = parse(storage.pools(), &TABLES, &text, options)
                    .unwrap_or_else(|e| panic!("{}: {e:?}", case.pass));
                verify(&mut program).unwrap_or_else(|e| panic!("{}: {e:?}", case.pass));
                let ops = program.all().count();
                let mark = program.mark();
                let mut fuel = 1_000_000;
                let mut room = choice.room();
                let mut lent = PassScratch {
                    work: work.as_mut_view(),
                    fuel: &mut fuel,
                    room: Some(&mut room),
                    wishes,
                    appraiser: None,
                };
                let start = Instant::now();
                let stats = apply_with(&TABLES, case.pass, &mut program, &mut lent, |_| {})
                    .unwrap_or_else(|e| panic!("{} of {ops}: {e:?}", case.pass));
                let time = start.elapsed().as_nanos() as f64;
                let journal = program
                    .usage()
                    .iter()
                    .find(|pool| pool.pool == Pool::Journal)
                    .map_or(0, |pool| pool.used);
                program.keep(mark);
                let best = least.map_or(time, |least| least.time.min(time));
                least = Some(Size { ops, time: best, changes: stats.applied, journal });
            }
            grown.sizes.extend(least);
        }
        all.push(grown);
    }
    all.push(simplified(sizes, effort));
    all
}

/// Nodes of a part of [`addresses`].
const PART: usize = 8;

/// Addresses as a kernel has them, before anything is simplified: a lane's row and column, scaled
/// by powers of two, and constants on top.
fn addresses(arena: &mut ExprArena<'_>, parts: usize, roots: &mut Vec<ExprId>) {
    let (_, lane) = arena.variable_node(Variable::word().below(1024)).expect("there is room");
    for number in 0..parts as u64 {
        let mut op = |op, a, b| arena.op_const(op, a, b).expect("there is room");
        let row = op(IndexOp::Add, lane, number);
        let wrapped = op(IndexOp::And, row, 1023);
        let scaled = op(IndexOp::Mul, wrapped, 8);
        let wide = op(IndexOp::Shl, scaled, 3);
        let first = op(IndexOp::Add, wide, number);
        roots.push(op(IndexOp::Add, first, 3 * number + 1));
    }
}

/// Runs the index rules on expressions of about so many nodes; sizes that leave an arena no room
/// are left out.
fn simplified(sizes: &[usize], effort: Effort) -> Grown {
    let mut nodes = Box::new(heapless::Vec::<lanebook::expr::ExprNode, MAX_NODES>::new());
    let (mut variables, mut work) =
        (heapless::Vec::<Variable, 4>::new(), Box::new(heapless::Vec::<ExprId, MAX_NODES>::new()));
    let (mut buckets, mut forward, mut uses) =
        (vec![ExprId::NONE; MAX_NODES], vec![ExprId::NONE; MAX_NODES], vec![0u16; MAX_NODES]);
    let phase = TABLES
        .rules
        .phases
        .iter()
        .position(|phase| *phase == "simplify")
        .and_then(|phase| u8::try_from(phase).ok())
        .expect("a phase");
    let mut grown = Grown { pass: "simplify-index", sizes: Vec::new() };
    for size in sizes.iter().filter(|size| **size <= MAX_NODES / 2) {
        let mut least: Option<Size> = None;
        for _ in 0..effort.times(5) {
            let mut roots = Vec::new();
            let mut arena =
                ExprArena::new(nodes.as_mut_view(), variables.as_mut_view(), &mut buckets);
            addresses(&mut arena, size.div_ceil(PART), &mut roots);
            let (ops, mut fuel) = (arena.len(), 1_000_000);
            let mut scratch = SimplifyScratch {
                forward: &mut forward,
                uses: &mut uses,
                work: work.as_mut_view(),
            };
            let start = Instant::now();
            let stats = simplify(
                &mut arena,
                &TABLES.rules,
                phase,
                &mut roots,
                &mut scratch,
                &mut fuel,
                |_, _| {},
            )
            .expect("there is room");
            let time = start.elapsed().as_nanos() as f64;
            let best = least.map_or(time, |least| least.time.min(time));
            // What is written is nodes.
            least =
                Some(Size { ops, time: best, changes: stats.applied, journal: arena.len() - ops });
        }
        grown.sizes.extend(least);
    }
    grown
}

/// Measures the growth of every pass.
pub fn measure(report: &mut Report) {
    let sizes: &[usize] = match report.effort {
        Effort::Full => &[16, 64, 256, 1024, 4096],
        Effort::Once => &[16, 128],
    };
    for Grown { pass, sizes } in grown(sizes, report.effort) {
        let first = sizes.first().map(|size| size.time / size.ops as f64);
        for (number, size) in sizes.iter().enumerate() {
            let each = size.time / size.ops as f64;
            let what = format!("{pass}, {} operations, {} changes", size.ops, size.changes);
            match first {
                Some(first) if number > 0 => {
                    report.held(SECTION, what, each, "ns/op", first, "the smallest")
                }
                _ => report.alone(SECTION, what, each, "ns/op"),
            }
        }
    }
}
