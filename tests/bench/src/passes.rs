//! Passes over tile programs: rules a second, time and room against program size, and the removal of conversions beside Triton's.
use crate::report::Report;
use lanebook::TABLES;
use lanebook::ir::{Node, Options, Program, Storage, parse, verify};
use lanebook::pipeline::{REMOVE_CONVERSIONS, apply};
use lanebook::relayout::bill;
use std::fmt::Write;
use std::time::Instant;

/// The section's heading.
pub const SECTION: &str = "Passes over tile programs (time an operation against that at 64 operations: 1 is linear)";
/// The heading of the comparison.
pub const TRITON: &str = "Removal of conversions beside Triton's own (3.9.0, the same texts; its times from tests/passes/compare.py, this machine)";

/// Room for 4,096 operations.
type Room = Storage<8192, 16384, 32768, 16384, 1024, 1024, 250_000>;

/// Kernels before the pass, and after Triton's, with the milliseconds that it took.
const KERNELS: [(&str, &str, &str, f64); 5] = [
    (
        "gemm_epilogue sm_90",
        include_str!("../../passes/ttgir/gemm_epilogue.sm_90.before.mlir"),
        include_str!("../../passes/triton/gemm_epilogue.sm_90.before.mlir"),
        4.70,
    ),
    ("attention sm_90", include_str!("../../passes/ttgir/attention.sm_90.before.mlir"), include_str!("../../passes/triton/attention.sm_90.before.mlir"), 3.02),
    ("gemm_fp8 sm_90", include_str!("../../passes/ttgir/gemm_fp8.sm_90.before.mlir"), include_str!("../../passes/triton/gemm_fp8.sm_90.before.mlir"), 3.38),
    (
        "layer_norm sm_90",
        include_str!("../../passes/ttgir/layer_norm.sm_90.before.mlir"),
        include_str!("../../passes/triton/layer_norm.sm_90.before.mlir"),
        1.24,
    ),
    ("softmax sm_90", include_str!("../../passes/ttgir/softmax.sm_90.before.mlir"), include_str!("../../passes/triton/softmax.sm_90.before.mlir"), 1.53),
];

/// A program of about `size` operations: loads, sums and conversions, a store for every sixteen.
#[must_use]
pub fn chain(size: usize) -> String {
    let mut text = String::from(
        "#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module {
func @f(%A: memref<32x16xf32, #gmem>, %n: index) {\n",
    );
    for block in 0..size.div_ceil(16) {
        let _ = writeln!(text, "  %l{block} = tiled_load %A : memref<32x16xf32, #gmem> -> tensor<32x16xf32, #a>");
        let mut last = format!("%l{block}");
        for step in 0..7 {
            let (from, to) = if step % 2 == 0 { ("#a", "#b") } else { ("#b", "#a") };
            let (c, s) = (format!("%c{block}_{step}"), format!("%s{block}_{step}"));
            let _ = writeln!(text, "  {c} = convert_layout {last} : tensor<32x16xf32, {from}> -> tensor<32x16xf32, {to}>");
            let _ = writeln!(text, "  {s} = add {c}, {c} : tensor<32x16xf32, {to}>");
            last = s;
        }
        let _ = writeln!(text, "  tiled_store {last}, %A : tensor<32x16xf32, #b> -> memref<32x16xf32, #gmem>");
    }
    text.push_str("  return\n}\n}\n");
    text
}

fn room() -> Box<Room> {
    // Made on a stack that is large enough, and only then boxed.
    std::thread::Builder::new().stack_size(64 << 20).spawn(|| Box::new(Room::new())).expect("a thread").join().expect("it is made")
}

/// The least of so many is taken.
const TIMES: usize = if cfg!(debug_assertions) { 1 } else { 7 };

const LOOSE: Options = Options { keep_unknown: true, free_names: true };

fn read<'s, 't>(room: &'s mut Room, text: &'t str) -> Program<'s, 't> {
    let mut program = parse(room.pools(), &TABLES, text, LOOSE).unwrap_or_else(|e| panic!("{e:?}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}"));
    program
}

/// What the pass costs on a program, in nanoseconds, the changes that it makes, and the bytes in use afterwards.
fn pass(room: &mut Room, work: &mut heapless::Vec<Node, 65000>, text: &str) -> (f64, u32, usize) {
    let (mut once, mut changes) = (f64::INFINITY, 0);
    for _ in 0..TIMES {
        let mut program = read(room, text);
        let mut fuel = 1_000_000;
        let start = Instant::now();
        changes = apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |_| {}).expect("it runs").applied;
        once = once.min(start.elapsed().as_nanos() as f64);
    }
    let mut program = read(room, text);
    let mut fuel = 1_000_000;
    apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |_| {}).expect("it runs");
    let bytes = program.usage().iter().filter(|pool| pool.pool != lanebook::ir::Pool::Journal).map(|pool| pool.used * pool.bytes).sum();
    (once, changes, bytes)
}

/// Measures passes.
pub fn measure(report: &mut Report) {
    let mut room = room();
    let mut work = Box::new(heapless::Vec::<Node, 65000>::new());
    let mut first = None;
    for size in [16usize, 64, 256, 1024, 4096] {
        let text = chain(size);
        let (time, changes, bytes) = pass(&mut room, &mut work, &text);
        let ops = text.lines().filter(|line| line.starts_with("  ")).count() as f64;
        let each = time / ops;
        if size == 64 {
            first = Some(each);
        }
        match first {
            Some(first) => report.held(SECTION, format!("{REMOVE_CONVERSIONS}, {ops} operations"), each, "ns/op", first, "at 64"),
            None => report.alone(SECTION, format!("{REMOVE_CONVERSIONS}, {ops} operations"), each, "ns/op"),
        }
        report.held(SECTION, format!("{REMOVE_CONVERSIONS}, {ops} operations: room"), bytes as f64 / ops, "B/op", 160.0, "the budget");
        if size == 4096 {
            report.alone(SECTION, "changes a second (rules and analyses)", f64::from(changes) / (time * 1e-9), "/s");
        }
    }
    for (name, before, theirs, milliseconds) in KERNELS {
        let (time, ..) = pass(&mut room, &mut work, before);
        report.held(TRITON, format!("{name}: time"), time / 1000.0, "us", milliseconds * 1000.0, "Triton");
        let left = {
            let mut program = read(&mut room, before);
            let mut fuel = 1_000_000;
            apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |_| {}).expect("it runs");
            bill(&mut program).expect("there is room")
        };
        let triton = bill(&mut read(&mut room, theirs)).expect("there is room");
        if left.conversions == 0 && triton.conversions == 0 {
            report.note(TRITON, format!("{name}: neither leaves a conversion"));
            continue;
        }
        report.held(TRITON, format!("{name}: conversions left"), f64::from(left.conversions), "", f64::from(triton.conversions), "Triton");
        report.held(TRITON, format!("{name}: their cost"), left.written as f64, "mcyc", triton.written as f64, "Triton");
        report.held(TRITON, format!("{name}: the same, loops counted"), left.executed as f64, "mcyc", triton.executed as f64, "Triton");
    }
    report.note(TRITON, "mcyc: thousandths of a cycle of a multiprocessor, by the weights of rules/cost.ron");
}
