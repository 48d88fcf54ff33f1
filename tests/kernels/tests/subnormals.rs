//! Subnormal numbers are numbers: arithmetic in f32 keeps them, and so do the conversions to bf16,
//! on every architecture alike.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::{execute, run_text};
use lanebook_kernels::{Assembler, kernel_text, try_kernel_text};
use lanebook_replay::number::f32_to_bf16;
use lanebook_replay::{Memory, Param};

/// Architectures that the replay knows, one of each descriptor and text.
const ARCHS: [&str; 12] = [
    "sm_75",
    "sm_80",
    "sm_90a",
    "sm_120a",
    "gfx908",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1100.w64",
    "gfx1200",
    "gfx1250",
];
const ROWS: u32 = 8;
const COLS: u32 = 128;

/// A program of one operation on two tiles, and what it computes.
struct Case {
    op: &'static str,
    operands: &'static str,
    of: fn(f32, f32) -> f32,
}

const CASES: [Case; 6] = [
    Case { op: "add", operands: "%x, %y", of: |x, y| x + y },
    Case { op: "sub", operands: "%x, %y", of: |x, y| x - y },
    Case { op: "mul", operands: "%x, %y", of: |x, y| x * y },
    Case { op: "max", operands: "%x, %y", of: f32::max },
    Case { op: "min", operands: "%x, %y", of: f32::min },
    Case { op: "fma", operands: "%x, %y, %x", of: |x, y| x.mul_add(y, x) },
];

fn program(case: &Case, to: &str) -> String {
    let tile = format!("tensor<{ROWS}x{COLS}xf32>");
    let global = |element: &str| format!("memref<?x{COLS}x{element}, #gmem>");
    let (value, cast) = match to {
        "f32" => ("%r", String::new()),
        _ => ("%n", format!("  %n = cast %r : {tile} -> tensor<{ROWS}x{COLS}x{to}>\n")),
    };
    format!(
        "func @f(%X: {f32s} {{align = 16}}, %Y: {f32s} {{align = 16}}, %Z: {out} {{align = 16}}, %m: index {{div = {ROWS}}}) {{threads = 128}} {{
  %x = tiled_load %X[%m, 0] : {f32s} -> {tile}
  %y = tiled_load %Y[%m, 0] : {f32s} -> {tile}
  %r = {op} {operands} : {tile}
{cast}  tiled_store {value}, %Z[%m, 0] : tensor<{ROWS}x{COLS}x{to}> -> {out}
}}
",
        f32s = global("f32"),
        out = global(to),
        op = case.op,
        operands = case.operands,
    )
}

/// Numbers around the least normal one, of both signs; every third is large enough that a product
/// of two is subnormal.
fn numbers(seed: u32) -> Vec<f32> {
    let one = |i: u32| {
        let bits = (i ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(13).wrapping_mul(0x85eb_ca6b);
        let magnitude =
            if i.is_multiple_of(3) { 0x1f80_0000 | bits & 0xff_ffff } else { bits & 0x00ff_ffff };
        f32::from_bits(bits & 0x8000_0000 | magnitude)
    };
    (0..ROWS * COLS).map(one).collect()
}

/// How many elements are wrong, and how many of the results are subnormal.
fn wrong(arch: &str, text: &str, case: &Case, to: &str) -> (usize, usize) {
    let (x, y) = (numbers(1), numbers(0x5bd1_e995));
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut memory = Memory::new();
    let size = if to == "f32" { 4 } else { 2 };
    let ids = [
        memory.add("X", bytes(&x)),
        memory.add("Y", bytes(&y)),
        memory.add("Z", vec![0xaa; x.len() * size]),
    ];
    let params = ids
        .iter()
        .flat_map(|id| [Param::Buffer(*id), Param::U32(ROWS)])
        .chain([Param::U32(0)])
        .collect();
    execute(arch, text, 128, params, &mut memory)
        .unwrap_or_else(|f| panic!("{arch} {}: {f:?}\n{text}", case.op));
    let wanted: Vec<f32> = x.iter().zip(&y).map(|(x, y)| (case.of)(*x, *y)).collect();
    let said = |v: f32| {
        if to == "f32" { v.to_le_bytes().to_vec() } else { f32_to_bf16(v).to_le_bytes().to_vec() }
    };
    let off = wanted
        .iter()
        .zip(memory.bytes(ids[2]).chunks(size))
        .filter(|(want, got)| said(**want) != *got)
        .count();
    (off, wanted.iter().filter(|v| v.is_subnormal()).count())
}

#[test]
fn arithmetic_keeps_subnormal_numbers_on_every_architecture() {
    for arch in ARCHS {
        let (target, wave) =
            arch.strip_suffix(".w64").map_or((arch, ""), |target| (target, "+wavefrontsize64"));
        for (case, to) in CASES.iter().flat_map(|case| [(case, "f32"), (case, "bf16")]) {
            if (arch, to) == ("sm_75", "bf16") {
                continue; // it has no bf16
            }
            let text = try_kernel_text(&program(case, to), arch)
                .unwrap_or_else(|e| panic!("{arch} {}: {e}", case.op));
            if to == "f32" {
                Assembler::of(arch)
                    .assemble_with(&text, target, wave)
                    .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
            }
            assert!(!text.contains(".ftz"), "{arch}\n{text}");
            let (off, subnormal) = wrong(arch, &text, case, to);
            assert!(
                off == 0 && subnormal > 100,
                "{arch} {} {to}: {off} wrong, {subnormal} subnormal\n{text}",
                case.op
            );
        }
    }
}

#[test]
fn a_descriptor_that_flushes_is_seen() {
    for arch in ["gfx908", "gfx942", "gfx1030", "gfx1100", "gfx1200", "gfx1250"] {
        let text = try_kernel_text(&program(&CASES[0], "f32"), arch).expect("a text");
        for mode in ["0", "1", "2"] {
            let flushing = text.replace(
                ".amdhsa_float_denorm_mode_32 3",
                &format!(".amdhsa_float_denorm_mode_32 {mode}"),
            );
            assert_ne!(text, flushing);
            assert!(wrong(arch, &flushing, &CASES[0], "f32").0 > 100, "{arch} {mode}");
        }
        // Without the line it is as if it said 0.
        let silent = text.replace("        .amdhsa_float_denorm_mode_32 3\n", "");
        assert!(wrong(arch, &silent, &CASES[0], "f32").0 > 100, "{arch}");
    }
}

/// MI200's matrix instructions take subnormal numbers of 16 bits as zero, those of other machines
/// do not: the tables say so, the replay does so, and the reference follows the tables.
#[test]
fn factors_that_a_matrix_unit_flushes() {
    let program = |element: &str| {
        let (global, factor) =
            (format!("memref<?x64x{element}, #gmem>"), format!("tensor<32x64x{element}>"));
        format!(
            "func @f(%A: {global} {{align = 16}}, %B: {global} {{align = 16}}, %C: memref<?x32xf32, #gmem> {{align = 16}}, %m: index {{div = 32}}) {{threads = 64}} {{
  %a = tiled_load %A[%m, 0] : {global} -> {factor}
  %b0 = tiled_load %B[%m, 0] : {global} -> {factor}
  %b = trans %b0 : {factor} -> tensor<64x32x{element}>
  %z = constant 0.0 : tensor<32x32xf32>
  %d = mma %a, %b, %z : tensor<32x32xf32>
  tiled_store %d, %C[%m, 0] : tensor<32x32xf32> -> memref<?x32xf32, #gmem>
}}
"
        )
    };
    let mut different = 0;
    for element in ["f16", "bf16"] {
        let text = program(element);
        let said = Interpreted::with(&text, Given { turns: 2, salt: 2, fill: Some(Fill::Edges) })
            .expect("a program");
        for arch in ["gfx908", "gfx90a", "gfx942"] {
            let id = TABLES.arch_named(arch).expect("an architecture");
            let flushed = TABLES.arch(id).is_some_and(|a| !a.flushed.is_empty());
            assert_eq!(flushed, arch == "gfx90a");
            let kernel = kernel_text(&text, arch);
            run_text(&said, &kernel, &[], arch)
                .unwrap_or_else(|e| panic!("{element}, {arch}: {e}"));
            // As another machine would have it, it is wrong; beside other numbers those of bf16 are
            // too small to be seen.
            let other = if flushed { "gfx942" } else { "gfx90a" };
            different += usize::from(
                element == "f16"
                    && said.on(arch).expect().expect("a run")[2].items
                        != said.on(other).expect().expect("a run")[2].items,
            );
        }
    }
    assert_eq!(different, 3);
}

/// Where no unit takes the factors as they are, and they become wider, their subnormal numbers stay.
#[test]
fn widened_factors_keep_them() {
    let text = "func @f(%A: memref<32x2xf16, #gmem> {align = 16}, %B: memref<2x32xf16, #gmem> {align = 16}, %C: memref<32x32xf32, #gmem> {align = 16}) {threads = 64} {
  %a = tiled_load %A[0, 0] : memref<32x2xf16, #gmem> -> tensor<32x2xf16>
  %b = tiled_load %B[0, 0] : memref<2x32xf16, #gmem> -> tensor<2x32xf16>
  %z = constant 0.0 : tensor<32x32xf32>
  %d = mma %a, %b, %z : tensor<32x32xf32>
  tiled_store %d, %C[0, 0] : tensor<32x32xf32> -> memref<32x32xf32, #gmem>
}
";
    let mut seen = false;
    for salt in 0..4 {
        let said = Interpreted::with(text, Given { turns: 1, salt, fill: Some(Fill::Edges) })
            .expect("a program");
        let kernel = kernel_text(text, "gfx90a");
        run_text(&said, &kernel, &[], "gfx90a").unwrap_or_else(|e| panic!("{e}"));
        let items = |arch: &str| said.on(arch).expect().expect("a run")[2].items.clone();
        assert_eq!(items("gfx90a"), items("gfx942"));
        // With 32 times the depth a unit takes them, and they count as zero.
        let deep = text.replace("<32x2x", "<32x64x").replace("<2x32x", "<64x32x");
        let deep = Interpreted::with(&deep, Given { turns: 1, salt, fill: Some(Fill::Edges) });
        let deep = deep.expect("a program");
        let items = |arch: &str| deep.on(arch).expect().expect("a run")[2].items.clone();
        seen |= items("gfx90a") != items("gfx942");
    }
    assert!(seen);
}
