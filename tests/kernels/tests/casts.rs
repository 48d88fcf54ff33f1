//! Conversions of element types: to wider and narrower ones, on every architecture that has the
//! instructions, against plain arithmetic: ties, the greatest numbers, tiny numbers, and what is no
//! number.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::{Assembler, try_kernel_text};
use lanebook_replay::number::{
    bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, float8, to_float8,
};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");
/// Architectures that the replay knows, one of each way to convert.
const ARCHS: [&str; 13] = [
    "sm_75",
    "sm_80",
    "sm_89",
    "sm_90a",
    "sm_120a",
    "gfx908",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1030.w64",
    "gfx1100",
    "gfx1100.w64",
    "gfx1200",
];

const ROWS: u32 = 8;
const COLS: u32 = 256;

/// `Y = X / 2` by way of f32.
fn program(from: &str, to: &str) -> String {
    let f32s = format!("tensor<{ROWS}x{COLS}xf32>");
    let (wide, narrow) =
        (if from == "f32" { "%x" } else { "%w" }, if to == "f32" { "%y" } else { "%n" });
    let widen = if from == "f32" {
        String::new()
    } else {
        format!("  %w = cast %x : tensor<{ROWS}x{COLS}x{from}> -> {f32s}\n")
    };
    let shrink = if to == "f32" {
        String::new()
    } else {
        format!("  %n = cast %y : {f32s} -> tensor<{ROWS}x{COLS}x{to}>\n")
    };
    format!(
        "func @half(%X: memref<?x{COLS}x{from}, #gmem> {{align = 16}}, %Y: memref<?x{COLS}x{to}, #gmem> {{align = 16}}, %m: index {{div = {ROWS}}}) {{threads = 128}} {{
  %x = tiled_load %X[%m, 0] : memref<?x{COLS}x{from}, #gmem> -> tensor<{ROWS}x{COLS}x{from}>
{widen}  %c = constant 0.5 : {f32s}
  %y = mul {wide}, %c : {f32s}
{shrink}  tiled_store {narrow}, %Y[%m, 0] : tensor<{ROWS}x{COLS}x{to}> -> memref<?x{COLS}x{to}, #gmem>
}}
"
    )
}

/// An element's bytes, and its value, by type.
fn bytes(x: f32, dtype: &str, saturate: bool) -> Vec<u8> {
    match dtype {
        "f16" => f32_to_f16(x).to_le_bytes().to_vec(),
        "bf16" => f32_to_bf16(x).to_le_bytes().to_vec(),
        "f32" => x.to_le_bytes().to_vec(),
        narrow => vec![to_float8(
            x,
            if narrow.starts_with("e4m3") { 3 } else { 2 },
            narrow.ends_with("fnuz"),
            saturate,
        )],
    }
}

fn value(b: &[u8], dtype: &str) -> f32 {
    match dtype {
        "f16" => f16_to_f32(u16::from_le_bytes([b[0], b[1]])),
        "bf16" => bf16_to_f32(u16::from_le_bytes([b[0], b[1]])),
        "f32" => f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        narrow => {
            float8(b[0], if narrow.starts_with("e4m3") { 3 } else { 2 }, narrow.ends_with("fnuz"))
                as f32
        }
    }
}

/// Numbers at which roundings differ, and others. 8-bit types have no infinities on some machines,
/// and what lies beyond them becomes the greatest number on some and none on others: `limit` keeps
/// away from there.
fn numbers(limit: f32) -> Vec<f32> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::NAN,
        1.003_906_2,
        1.011_718_8,
        3.007_812_5,
        1.000_488_3,
        1.001_464_8,
        0.171_875,
        0.203_125,
        1.0625,
        1.1875,
        1.25,
        1.75,
        2.5,
        3.5,
    ];
    let noise = |i: u32| {
        let mut x = i.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
        x = (x ^ (x >> 15)).wrapping_mul(0x85eb_ca6b);
        ((x ^ (x >> 13)) & 0xffff) as f32 / 32768.0 - 1.0
    };
    let ordinary = (0..ROWS * COLS).map(|i| noise(i) * limit * [1.0, 0.1, 0.01][i as usize % 3]);
    special
        .into_iter()
        .map(|x| if x.is_nan() { f32::from_bits(0x7f80_0001 | 0x40_0000) } else { x })
        .chain(ordinary)
        .take((ROWS * COLS) as usize)
        .collect()
}

/// How many elements are wrong.
fn wrong(arch: &str, text: &str, from: &str, to: &str) -> usize {
    let ptx = arch.starts_with("sm_");
    let limit = if from.len() > 4 || to.len() > 4 || [from, to].iter().any(|t| t.starts_with('e')) {
        200.0
    } else {
        60000.0
    };
    let input: Vec<u8> = numbers(limit).into_iter().flat_map(|x| bytes(x, from, true)).collect();
    let size = |dtype: &str| bytes(0.0, dtype, true).len();
    let mut memory = Memory::new();
    let x = memory.add("X", input.clone());
    let y = memory.add("Y", vec![0xaa; (ROWS * COLS) as usize * size(to)]);
    let params =
        vec![Param::Buffer(x), Param::U32(ROWS), Param::Buffer(y), Param::U32(ROWS), Param::U32(0)];
    let parsed = if ptx { Kernel::parse_ptx(text) } else { Kernel::parse_amdgcn(text) };
    let kernel = parsed.unwrap_or_else(|e| panic!("{arch} {from} {to}: {e}\n{text}"));
    let banks = if ptx {
        BankModel::nvidia_of(arch)
    } else {
        BankModel::from_jsonl(arch, PHASES).expect("phases")
    };
    run(&kernel, &Launch::new(128, params).banks(banks), &mut memory)
        .unwrap_or_else(|f| panic!("{arch} {from} {to}: {f}\n{text}"));
    let got = memory.bytes(y);
    let pairs = input.chunks(size(from)).zip(got.chunks(size(to)));
    pairs
        .filter(|(a, b)| {
            let want = bytes(value(a, from) * 0.5, to, ptx);
            let (want, got) = (value(&want, to), value(b, to));
            want.to_bits() != got.to_bits() && !(want.is_nan() && got.is_nan())
        })
        .count()
}

#[test]
fn every_conversion_is_right() {
    let types = ["f16", "bf16", "f32", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"];
    let mut done = std::collections::BTreeMap::<(&str, &str), Vec<&str>>::new();
    for arch in ARCHS {
        for from in types {
            for to in types.into_iter().filter(|to| *to != from) {
                let text = match try_kernel_text(&program(from, to), arch) {
                    Ok(text) => text,
                    // No instruction: said of the conversion, not of something else.
                    Err(e) => {
                        assert!(e.contains("Unsupported"), "{arch} {from} {to}: {e}");
                        continue;
                    }
                };
                let (target, wave) = arch
                    .strip_suffix(".w64")
                    .map_or((arch, ""), |target| (target, "+wavefrontsize64"));
                Assembler::of(arch)
                    .assemble_with(&text, target, wave)
                    .unwrap_or_else(|said| panic!("{arch} {from} {to}: {said}\n{text}"));
                assert_eq!(wrong(arch, &text, from, to), 0, "{arch} {from} {to}\n{text}");
                done.entry((from, to)).or_default().push(arch);
            }
        }
    }
    // None is missing: what no instruction does is done by the bits.
    for from in types {
        for to in types.into_iter().filter(|to| *to != from) {
            assert_eq!(
                done.get(&(from, to)).map_or(0, Vec::len),
                ARCHS.len(),
                "{from} {to}: {done:?}"
            );
        }
    }
}

#[test]
fn a_wrong_half_is_seen() {
    assert!(TABLES.arch_named("gfx942").is_some());
    let text = try_kernel_text(&program("f16", "f32"), "gfx942").expect("a text");
    let fault = text.replacen("v_cvt_f32_f16_sdwa", "v_cvt_f32_f16", 1).replacen(
        " dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1",
        "",
        1,
    );
    assert_ne!(text, fault);
    assert!(wrong("gfx942", &fault, "f16", "f32") > 0);
}
