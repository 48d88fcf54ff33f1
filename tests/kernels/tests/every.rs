//! Every example on every architecture: compiled, checked, assembled for it and run lane by lane
//! against a plain reference; or refused for a reason that stands here. What is neither fails, so
//! that no gap can hide: not a kernel that the replay does not understand, not an architecture that
//! is new, not an example that nobody judges.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check;
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::{
    attention, execute, execute_grid, layer_norm, matrix, noise, run_text,
};
use lanebook_kernels::maps::{KernelMap, map_params, text_and_maps, try_text_and_maps};
use lanebook_kernels::{
    Assembler, assembled, e4m3, example, kernel_text, try_kernel_text, with_kernel,
};
use lanebook_replay::{Memory, Param};
use std::collections::{BTreeMap, BTreeSet};

/// Judged here.
const KERNELS: [&str; 9] = [
    "attention.tile",
    "gemm.tile",
    "gemm_bt.tile",
    "gemm_fp8.tile",
    "gemm_mxfp8.tile",
    "gemm_store.tile",
    "layer_norm.tile",
    "layer_norm_rows.tile",
    "transpose.tile",
];
/// Judged by the interpreter of their text, at these numbers of turns and contents: `(turns, salt)`.
const SAID: [(&str, &[(u32, u32)]); 4] = [
    ("attention_lazy.tile", &[(1, 0), (2, 1), (3, 2)]),
    ("attention_causal.tile", &[(1, 0), (2, 1), (3, 2)]),
    ("gemm_stages.tile", &[(0, 1), (1, 0), (2, 1), (3, 0), (5, 2)]),
    ("softmax.tile", &[(1, 0), (2, 1), (3, 2)]),
];
/// Turns of a loop whose bound is an argument, and what other arguments are.
type Size = (u32, &'static [(&'static str, u32)]);
/// Judged by the interpreter of their text, of whole grids, at three sizes that end inside of tiles;
/// and what a text says in place of something that then means something else.
const SIZED: [(&str, [Size; 3], (&str, &str)); 20] = [
    (
        "argmax.tile",
        [(1, &[("M", 33), ("N", 300)]), (1, &[("M", 16), ("N", 128)]), (1, &[("M", 40), ("N", 5)])],
        ("kind = argmax", "kind = argmin"),
    ),
    (
        "attention_backward.tile",
        [(1, &[("M", 70), ("N", 100)]), (1, &[("M", 32), ("N", 64)]), (1, &[("M", 5), ("N", 130)])],
        ("sub %dp, %db", "sub %dp, %dp"),
    ),
    (
        "cumsum.tile",
        [(1, &[("M", 33), ("N", 300)]), (1, &[("M", 16), ("N", 128)]), (1, &[("M", 3), ("N", 70)])],
        ("add %y, %o", "add %y, %y"),
    ),
    (
        "dropout.tile",
        [(1, &[("M", 33), ("N", 300)]), (1, &[("M", 16), ("N", 256)]), (1, &[("M", 3), ("N", 84)])],
        ("0 to 10 step", "0 to 9 step"),
    ),
    (
        "embedding.tile",
        [(1, &[("V", 300), ("T", 100)]), (2, &[("V", 5), ("T", 31)]), (3, &[("V", 7), ("T", 65)])],
        ("gather %E[0, %d]", "gather %E[1, %d]"),
    ),
    (
        "gemm_batched.tile",
        [
            (1, &[("P", 3), ("M", 40), ("N", 24), ("K", 48)]),
            (1, &[("P", 5), ("M", 32), ("N", 32), ("K", 32)]),
            (1, &[("P", 2), ("M", 7), ("N", 72), ("K", 8)]),
        ],
        ("constant 0.0", "constant 1.0"),
    ),
    (
        "gemm_bias_gelu.tile",
        [
            (1, &[("M", 77), ("N", 56), ("K", 104)]),
            (1, &[("M", 130), ("N", 72), ("K", 24)]),
            (1, &[("M", 3), ("N", 8), ("K", 264)]),
        ],
        ("constant 1.0", "constant 2.0"),
    ),
    (
        "gemm_epilogue.tile",
        [
            (1, &[("M", 77), ("N", 56), ("K", 104), ("bias", 1), ("act", 2)]),
            (1, &[("M", 130), ("N", 72), ("K", 24), ("bias", 0), ("act", 0)]),
            (1, &[("M", 3), ("N", 8), ("K", 264), ("bias", 5), ("act", 1)]),
        ],
        ("eq, %act, 1", "eq, %act, 2"),
    ),
    (
        "gemm_functions.tile",
        [
            (1, &[("M", 77), ("N", 168), ("K", 104), ("P", 2)]),
            (1, &[("M", 130), ("N", 72), ("K", 24), ("P", 5)]),
            (1, &[("M", 3), ("N", 200), ("K", 264), ("P", 1)]),
        ],
        ("constant 1.0", "constant 2.0"),
    ),
    (
        "gemm_int4.tile",
        [
            (1, &[("M", 77), ("N", 50), ("K", 128)]),
            (1, &[("M", 64), ("N", 64), ("K", 64)]),
            (1, &[("M", 3), ("N", 130), ("K", 192)]),
        ],
        ("constant 8.0", "constant 7.0"),
    ),
    (
        "gemm_moe.tile",
        [
            (1, &[("T", 90), ("N", 70), ("L", 100)]),
            (2, &[("T", 6), ("N", 33), ("L", 64)]),
            (3, &[("T", 5), ("N", 129), ("L", 7)]),
        ],
        ("constant 0.0", "constant 1.0"),
    ),
    (
        "gemm_mxfp4.tile",
        [
            (1, &[("M", 130), ("N", 40), ("K", 160), ("G", 5)]),
            (1, &[("M", 128), ("N", 128), ("K", 256), ("G", 8)]),
            (1, &[("M", 3), ("N", 260), ("K", 32), ("G", 1)]),
        ],
        ("constant 0.0", "constant 1.0"),
    ),
    (
        "gemm_mxfp8_tails.tile",
        [
            (1, &[("M", 130), ("N", 40), ("K", 160), ("G", 5)]),
            (1, &[("M", 128), ("N", 128), ("K", 256), ("G", 8)]),
            (1, &[("M", 3), ("N", 260), ("K", 32), ("G", 1)]),
        ],
        ("constant 0.0", "constant 1.0"),
    ),
    (
        "gemm_nvfp4.tile",
        [
            (1, &[("M", 130), ("N", 40), ("K", 160), ("G", 10)]),
            (1, &[("M", 128), ("N", 128), ("K", 256), ("G", 16)]),
            (1, &[("M", 3), ("N", 260), ("K", 32), ("G", 2)]),
        ],
        ("constant 0.0", "constant 1.0"),
    ),
    (
        "gemm_split_k.tile",
        [
            (1, &[("M", 77), ("N", 50), ("K", 100)]),
            (1, &[("M", 64), ("N", 64), ("K", 31)]),
            (1, &[("M", 3), ("N", 9), ("K", 65)]),
        ],
        ("constant 0.0", "constant 1.0"),
    ),
    (
        "gemm_warp_specialized.tile",
        [
            (1, &[("M", 77), ("N", 56), ("K", 104)]),
            (1, &[("M", 130), ("N", 72), ("K", 328)]),
            (1, &[("M", 3), ("N", 136), ("K", 520)]),
        ],
        ("constant 0.0", "constant 1.0"),
    ),
    (
        "histogram.tile",
        [(1, &[("N", 2500)]), (1, &[("N", 1024)]), (1, &[("N", 77)])],
        ("%one = constant 1", "%one = constant 2"),
    ),
    (
        "im2col.tile",
        [
            (1, &[("N", 1), ("H", 3), ("W", 40), ("C", 40)]),
            (1, &[("N", 1), ("H", 4), ("W", 32), ("C", 32)]),
            (1, &[("N", 3), ("H", 1), ("W", 5), ("C", 72)]),
        ],
        ("sub %xj, 1", "sub %xj, 2"),
    ),
    (
        "rotary.tile",
        [
            (1, &[("M", 33), ("N", 128), ("P", 64)]),
            (1, &[("M", 16), ("N", 64), ("P", 32)]),
            (1, &[("M", 3), ("N", 72), ("P", 36)]),
        ],
        ("join %dh, %eh", "join %eh, %dh"),
    ),
    (
        "transpose_tails.tile",
        [(1, &[("M", 77), ("N", 50)]), (1, &[("M", 64), ("N", 128)]), (1, &[("M", 3), ("N", 65)])],
        ("%B[%n, %m]", "%B[%n, %n]"),
    ),
];
/// The one of them whose copies run ahead.
const STAGED: &str = "gemm_stages.tile";
/// No kernels: programs for one pass, whose operands are tiles of shared memory that somebody else
/// filled.
const FOR_A_PASS: [&str; 2] = ["seed_scores.bound.tile", "seed_scores.free.tile"];

/// Machines without products with block scales, of which some multiply factors by their scales before
/// plain products: not of half a byte, nor by scales that have digits.
const UNSCALED: &[&str] = &[
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_103", "sm_110",
    "sm_120", "sm_121", "gfx1030", "gfx1100", "gfx1150", "gfx1151", "gfx1200", "gfx1201", "gfx908",
    "gfx90a", "gfx942",
];

/// Those of them whose lanes have too few registers for the examples' factors in whole.
const WIDENED_SCALED: &[&str] = &["=gfx1200", "=gfx1201", "gfx908", "gfx90a", "gfx942"];
/// The same, of one tile by itself.
const FEW_REGISTERS: &[&str] = &["gfx1100", "gfx1150", "gfx1151"];

/// An example, machines (name, or name and anything behind a dot; with `=` the name alone), and how the value begins that
/// refuses it there.
const REFUSED: [(&str, &[&str], &str); 18] = [
    // No matrix instructions at all: products in each lane, with few registers; and no atomic sums of floats.
    ("attention_causal.tile", &["gfx1030"], "Emit(Inst(Pool {"),
    ("attention_lazy.tile", &["gfx1030"], "Emit(Inst(Pool {"),
    ("attention_backward.tile", &["gfx1030"], "Plan(Atomic {"),
    ("gemm_moe.tile", &["gfx1030"], "Plan(Atomic {"),
    ("gemm_split_k.tile", &["gfx1030"], "Plan(Atomic {"),
    // No products of eight-bit floats before Ada, CDNA3 and RDNA4; CDNA3's are of another type. Factors become wider, element by element:
    // more registers and instructions than there are.
    ("gemm_fp8.tile", &["gfx1030"], "Capacity { pool: Steps"),
    ("gemm_fp8.tile", &["gfx1100.w64", "gfx1150.w64", "gfx1151.w64"], "Capacity { pool: Steps"),
    (
        "gemm_fp8.tile",
        &["gfx1100", "gfx1150", "gfx1151", "gfx908", "gfx90a", "gfx942"],
        "Emit(Inst(Pool {",
    ),
    // Nothing that moves registers between warps.
    (
        "gemm_warp_specialized.tile",
        &[
            "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110",
            "sm_120", "sm_121", "gfx1030", "gfx1100", "gfx1150", "gfx1151", "gfx1200", "gfx1201",
            "gfx1250", "gfx1251", "gfx908", "gfx90a", "gfx942", "gfx950",
        ],
        "Plan(Stages {",
    ),
    // No block scales, and no products of elements that have the range of such scales.
    ("gemm_mxfp8.tile", &["sm_75", "gfx1030"], "Plan(Unscaled {"),
    ("gemm_mxfp8_tails.tile", &["sm_75", "gfx1030"], "Plan(Unscaled {"),
    // Factors multiplied by their scales take more registers than there are.
    ("gemm_mxfp8.tile", FEW_REGISTERS, "Plan(Registers {"),
    ("gemm_mxfp8_tails.tile", FEW_REGISTERS, "Plan(Registers {"),
    ("gemm_mxfp8.tile", WIDENED_SCALED, "Emit(Inst(Pool {"),
    ("gemm_mxfp8_tails.tile", WIDENED_SCALED, "Emit(Inst(Pool {"),
    ("gemm_mxfp4.tile", UNSCALED, "Plan(Unscaled {"),
    ("gemm_nvfp4.tile", UNSCALED, "Plan(Unscaled {"),
    // No scales that are floats.
    ("gemm_nvfp4.tile", &["gfx950", "gfx1250", "gfx1251"], "Plan(Unscaled {"),
];

/// A text and the tensor maps that it takes.
type Built = (String, Vec<KernelMap>);

/// The text as the replay reads it: machines that it does not tell apart have one.
fn unnamed(text: &str, arch: &str) -> String {
    if arch.starts_with("sm_") {
        return format!(
            ".version 8.0\n.target sm_80\n{}",
            text.splitn(3, '\n').nth(2).expect("a body")
        );
    }
    [("gfx1150", "gfx1100"), ("gfx1151", "gfx1100"), ("gfx1201", "gfx1200")]
        .iter()
        .fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}

/// How the refusal of an example on an architecture begins.
fn reason(name: &str, arch: &str) -> Option<&'static str> {
    let machine = arch.split('.').next().expect("a name");
    REFUSED
        .iter()
        .find(|(kernel, machines, _)| {
            let alone = machines.iter().any(|own| own.strip_prefix('=') == Some(arch));
            *kernel == name && (alone || machines.contains(&arch) || machines.contains(&machine))
        })
        .map(|(_, _, reason)| *reason)
}

/// Texts of an example with the architectures that have each.
fn texts(name: &str) -> BTreeMap<Built, Vec<&'static str>> {
    let program = example(name);
    let mut out: BTreeMap<Built, Vec<&'static str>> = BTreeMap::new();
    for arch in TABLES.archs {
        match (try_text_and_maps(&program, arch.name), reason(name, arch.name)) {
            (Ok(_), Some(_)) => panic!("{name}, {}: it is no longer refused", arch.name),
            (Err(why), None) => panic!("{name}, {}: {why}", arch.name),
            (Err(why), Some(reason)) => {
                assert!(why.starts_with(reason), "{name}, {}: {why}", arch.name)
            }
            (Ok((text, maps)), None) => {
                // The wave size stands in the text's kernel descriptor; the assembler wants to know
                // it before.
                let wave = if arch.name.ends_with(".w64") { "+wavefrontsize64" } else { "" };
                Assembler::of(arch.name)
                    .assemble_with(&text, arch.target, wave)
                    .unwrap_or_else(|said| panic!("{name}, {}: {said}\n{text}", arch.name));
                out.entry((unnamed(&text, arch.name), maps)).or_default().push(arch.name);
            }
        }
    }
    out
}

/// Runs each text of an example.
fn everywhere(name: &str, judge: impl Fn(&str, &str, &[KernelMap])) {
    let texts = texts(name);
    let all: usize = texts.values().map(Vec::len).sum();
    let refused: usize =
        TABLES.archs.iter().filter(|arch| reason(name, arch.name).is_some()).count();
    assert!(
        all + refused == TABLES.archs.len() && texts.len() >= 3,
        "{name}: {all} architectures, {} texts",
        texts.len()
    );
    for ((text, maps), archs) in &texts {
        println!("{name}: {archs:?}");
        judge(archs[0], text, maps);
        with_kernel(&example(name), archs[0], |program, compiled, _| {
            check::plan(&TABLES, program, &compiled.plan)
                .unwrap_or_else(|v| panic!("{name} {archs:?}: {v:?}"));
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{name} {archs:?}: {v:?}\n{text}"));
        });
    }
}

fn kernels() -> impl Iterator<Item = &'static str> {
    let sized = SIZED.map(|(name, ..)| name);
    KERNELS.into_iter().chain(SAID.map(|(name, _)| name)).chain(sized)
}

/// Where copies run ahead the kernel does what its text says, in fewer turns than stages too.
#[test]
fn stages_do_what_their_text_says() {
    let source = example(STAGED);
    let sizes = SAID.into_iter().find(|(name, _)| *name == STAGED).expect("its sizes").1;
    for arch in [
        "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120a", "gfx908",
        "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1250",
    ] {
        let (text, maps) = text_and_maps(&source, arch);
        assembled(arch, &text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
        for &(turns, salt) in sizes {
            let said = Interpreted::with(&source, Given { turns, salt, fill: None });
            let said = said.expect("a program");
            run_text(&said, &text, &maps, arch)
                .unwrap_or_else(|e| panic!("{arch}, {turns} turns, {salt}: {e}\n{text}"));
        }
    }
}

/// What the texts say is what the kernels do; without what their masks leave out they do something
/// else.
#[test]
fn kernels_do_what_their_texts_say() {
    for (name, sizes) in SAID.into_iter().filter(|(name, _)| *name != STAGED) {
        let source = example(name);
        let of = |text: &str, (turns, salt): (u32, u32)| {
            Interpreted::with(text, Given { turns, salt, fill: None }).expect("a program")
        };
        let other = source.replace("= select %on, %y, %no", "= select %on, %y, %y");
        assert_ne!(source, other, "{name}");
        for arch in ["sm_80", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1100", "gfx1200"] {
            let (text, maps) = text_and_maps(&source, arch);
            assembled(arch, &text).unwrap_or_else(|e| panic!("{name}, {arch}: {e}\n{text}"));
            for size in sizes {
                run_text(&of(&source, *size), &text, &maps, arch)
                    .unwrap_or_else(|e| panic!("{name}, {arch}, {size:?}: {e}\n{text}"));
            }
            let meant = of(&other, sizes[0]);
            assert!(run_text(&meant, &text, &maps, arch).is_err(), "{name}, {arch}: no masks");
        }
    }
}

/// The text with numbers for its arguments.
fn sized(text: &str, sizes: &[(&str, u32)]) -> String {
    sizes.iter().fold(text.to_string(), |text, (name, value)| {
        let argument = format!("%{name}: index");
        let (before, behind) = text.split_once(&argument).expect("the argument");
        // The number takes the place of what it is said to be a multiple of.
        let promised = behind.strip_prefix(" {div = ").and_then(|rest| rest.split_once('}'));
        let behind = match promised {
            Some((of, rest)) => {
                assert_eq!(value % of.parse::<u32>().expect("a number"), 0, "{argument}");
                rest
            }
            None => behind,
        };
        // A loop goes as far, where else its turns would be said.
        let behind = behind.replace(&format!(" to %{name} step "), &format!(" to {value} step "));
        format!("{before}{argument} {{div = {value}}}{behind}")
    })
}

/// Kernels with indices and atomic operations do what their texts say, at each of their sizes.
#[test]
fn kernels_of_three_sizes_do_what_their_texts_say() {
    for (name, sizes, (from, to)) in SIZED {
        let source = example(name);
        let of = |text: &str, (turns, sizes): Size| {
            // A threshold of random numbers is any number, and two halves of a byte are all of it.
            let is_any = ["dropout.tile", "gemm_int4.tile"].contains(&name);
            let fill = if is_any { Fill::Distinct } else { Fill::Small };
            let given = Given { turns, salt: 0, fill: Some(fill) };
            Interpreted::with(&sized(text, sizes), given).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let other = source.replace(from, to);
        assert_ne!(source, other, "{name}");
        let said = sizes.map(|size| of(&source, size));
        for (said, (_, size)) in said.iter().zip(sizes) {
            for (index, value) in size {
                let (own, value) = (format!("%{index}"), i64::from(*value));
                let found = said.indices.iter().find(|(name, _)| *name == own).map(|(_, n)| *n);
                // What says the grid is more where one block was all.
                let is_end = source.contains(&format!(" to {own} step "));
                let fits = |n: i64| n == value || !is_end && n % value.max(1) == 0;
                assert!(found.is_some_and(fits), "{name}: {index} is {found:?}");
            }
        }
        let blocks: u32 = said.iter().map(|said| said.grid.iter().product::<u32>()).sum();
        assert!(blocks >= 5, "{name}: {blocks} blocks");
        let archs = ["sm_80", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1100", "gfx1200"];
        for arch in archs.into_iter().filter(|arch| reason(name, arch).is_none()) {
            let (text, maps) = text_and_maps(&source, arch);
            assembled(arch, &text).unwrap_or_else(|e| panic!("{name}, {arch}: {e}\n{text}"));
            for (said, size) in said.iter().zip(sizes) {
                run_text(said, &text, &maps, arch)
                    .unwrap_or_else(|e| panic!("{name}, {arch}, {size:?}: {e}\n{text}"));
            }
            let meant = of(&other, sizes[0]);
            assert!(run_text(&meant, &text, &maps, arch).is_err(), "{name}, {arch}: {to}");
        }
    }
}

/// Philox-4x32-10 of a counter and a key, as its authors give it.
fn philox(mut c: [u32; 4], mut k: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let (a, b) = (0xd251_1f53 * u64::from(c[0]), 0xcd9e_8d57 * u64::from(c[2]));
        let high = |x: u64| (x >> 32) as u32;
        c = [high(b) ^ c[1] ^ k[0], b as u32, high(a) ^ c[3] ^ k[1], a as u32];
        k = [k[0].wrapping_add(0x9e37_79b9), k[1].wrapping_add(0xbb67_ae85)];
    }
    c
}

/// What is dropped is what the generator says, which brings the numbers that its authors publish
/// (`philox 4x32 10` of `kat_vectors` in Random123).
#[test]
fn dropouts() {
    let zeros = philox([0; 4], [0; 2]);
    assert_eq!(zeros, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    let ones = philox([u32::MAX; 4], [u32::MAX; 2]);
    assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    let (rows, cols, key, share) = (20u32, 300u32, [0xa409_3822, 0x299f_31d0], 0x4000_0000);
    let text = |arch: &str| kernel_text(&example("dropout.tile"), arch);
    for arch in ["sm_80", "gfx942", "gfx1200"] {
        let mut memory = Memory::new();
        let x: Vec<f32> = (1..=rows * cols).map(|i| i as f32).collect();
        let (ix, iy) = (memory.add_f32("X", &x), memory.add_f32("Y", &vec![-1.0; x.len()]));
        let mut params: Vec<Param> = [matrix(ix, rows, cols), matrix(iy, rows, cols)].concat();
        params.extend([rows, cols, key[0], key[1], share].map(Param::U32));
        params.push(Param::U32(1.5f32.to_bits()));
        let mut dropped = 0;
        let grid = [cols.div_ceil(256), rows.div_ceil(16), 1];
        execute_grid(arch, &text(arch), (128, grid), params, &mut memory)
            .unwrap_or_else(|f| panic!("{arch}: {f:?}"));
        for (at, (y, x)) in memory.f32s(iy).iter().zip(&x).enumerate() {
            let (row, col) = (at as u32 / cols, at as u32 % cols);
            let words = philox([64 * (col / 256) + col % 64, row, 0, 0], key);
            let kept = words[(col / 64 % 4) as usize] >= share;
            dropped += u32::from(!kept);
            assert_eq!(*y, if kept { 1.5 * x } else { 0.0 }, "{arch}: row {row}, column {col}");
        }
        assert!((1400..1600).contains(&dropped), "{arch}: {dropped} of {}", x.len());
    }
}

#[test]
fn every_example_is_known() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gen/cli/examples");
    let found: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("examples")
        .map(|e| e.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|n| n.ends_with(".tile"))
        .collect();
    let known: BTreeSet<String> = kernels().chain(FOR_A_PASS).map(str::to_string).collect();
    assert_eq!(found, known);
    for name in FOR_A_PASS {
        for arch in TABLES.archs {
            let why = try_kernel_text(&example(name), arch.name).expect_err(name);
            assert!(why.starts_with("Contract("), "{name}, {}: {why}", arch.name);
        }
    }
    // Each line of refusals says something.
    for (name, machines, _) in REFUSED {
        assert!(
            kernels().any(|kernel| kernel == name)
                && machines
                    .iter()
                    .map(|m| m.trim_start_matches('='))
                    .all(|m| TABLES.archs.iter().any(|a| a.name == m)),
            "{name} {machines:?}"
        );
    }
}

/// A product of 128 x 256: the right half is the block's. Where shared memory is `roomy`, no access
/// waits for another one's bank.
fn product(
    arch: &str,
    text: &str,
    maps: &[KernelMap],
    (turned, narrow): (bool, bool),
    roomy: bool,
) {
    let (m, n, k) = (128u32, 256u32, if narrow { 256u32 } else { 128 });
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let other: Vec<f32> = if turned {
        (0..n * k).map(|i| b[((i % k) * n + i / k) as usize]).collect()
    } else {
        b.clone()
    };
    let (rows, cols) = if turned { (n, k) } else { (k, n) };
    let mut memory = Memory::new();
    let mut add = |name: &str, v: &[f32]| {
        if narrow {
            memory.add(name, v.iter().map(|x| e4m3(*x)).collect())
        } else {
            memory.add_f16(name, v)
        }
    };
    let (ia, ib) = (add("A", &a), add("B", &other));
    let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
    let mut params: Vec<Param> =
        [matrix(ia, m, k), matrix(ib, rows, cols), matrix(ic, m, n)].concat();
    params.extend([Param::U32(0), Param::U32(128), Param::U32(k)]);
    params.extend(map_params(maps, &[(ia, m, k), (ib, rows, cols), (ic, m, n)], &memory));
    let report = execute(arch, text, 128, params, &mut memory)
        .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
    // Bank models of AMD's are measured for some accesses of some machines only.
    assert!(
        !arch.starts_with("sm_") || !roomy || report.conflicts() == 0,
        "{arch}: bank conflicts\n{text}"
    );
    let c = memory.f32s(ic);
    for i in 0..m {
        for j in 0..n {
            let want = if j >= 128 {
                (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum()
            } else {
                7.0
            };
            assert_eq!(c[(i * n + j) as usize], want, "{arch}: row {i}, column {j}");
        }
    }
}

#[test]
fn gemm() {
    everywhere("gemm.tile", |arch, text, maps| product(arch, text, maps, (false, false), true));
}

#[test]
fn gemm_bt() {
    everywhere("gemm_bt.tile", |arch, text, maps| product(arch, text, maps, (true, false), true));
}

#[test]
fn gemm_store() {
    // The tile of C is 64 KiB: where there is no more, it does without pads.
    let room = |arch: &str| {
        TABLES
            .arch_named(arch)
            .and_then(|id| TABLES.arch(id))
            .map_or(0, |machine| machine.shared.max_bytes)
    };
    everywhere("gemm_store.tile", |arch, text, maps| {
        product(arch, text, maps, (false, false), room(arch) > 64 << 10)
    });
}

#[test]
fn gemm_fp8() {
    everywhere("gemm_fp8.tile", |arch, text, maps| product(arch, text, maps, (true, true), true));
}

#[test]
fn gemm_mxfp8() {
    everywhere("gemm_mxfp8.tile", |arch, text, maps| {
        let (m, k, runs) = (128u32, 256u32, 8u32);
        let values = |step: u32| -> Vec<f32> {
            (0..m * k).map(|i| ((i * step + i / k) % 7) as f32 - 3.0).collect()
        };
        let scales = |salt: u32| -> Vec<u8> {
            (0..m * runs)
                .map(|i| (124 + (i / runs * 3 + i % runs * 5 + i / runs / 16 * 2 + salt) % 7) as u8)
                .collect()
        };
        let (a, b, sa, sb) = (values(5), values(3), scales(0), scales(4));
        let mut memory = Memory::new();
        let mut add =
            |name: &str, v: &[f32]| memory.add(name, v.iter().map(|x| e4m3(*x)).collect());
        let (ia, ib) = (add("A", &a), add("B", &b));
        let (isa, isb) = (memory.add("SA", sa.clone()), memory.add("SB", sb.clone()));
        let ic = memory.add_f32("C", &vec![7.0; (m * m) as usize]);
        let all = [(ia, m, k), (ib, m, k), (isa, m, runs), (isb, m, runs), (ic, m, m)];
        let mut params: Vec<Param> =
            all.iter().flat_map(|&(id, rows, cols)| matrix(id, rows, cols)).collect();
        params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
        params.extend(map_params(maps, &all, &memory));
        execute(arch, text, 128, params, &mut memory)
            .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
        let c = memory.f32s(ic);
        let power = |bits: u8| 2f32.powi(i32::from(bits) - 127);
        for (at, got) in c.iter().enumerate() {
            let (i, j) = (at as u32 / m, at as u32 % m);
            let run = |r: u32| -> f32 {
                (32 * r..32 * r + 32)
                    .map(|x| a[(i * k + x) as usize] * b[(j * k + x) as usize])
                    .sum()
            };
            let want: f32 = (0..runs)
                .map(|r| {
                    run(r) * power(sa[(i * runs + r) as usize]) * power(sb[(j * runs + r) as usize])
                })
                .sum();
            assert_eq!(*got, want, "{arch}: row {i}, column {j}");
        }
    });
}

#[test]
fn transposes() {
    let (rows, cols) = (128u32, 64u32);
    let a: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    everywhere("transpose.tile", |arch, text, maps| {
        let mut memory = Memory::new();
        let (ia, ib) =
            (memory.add_f32("A", &a), memory.add_f32("B", &vec![-1.0; (rows * cols) as usize]));
        let mut params: Vec<Param> = [matrix(ia, rows, cols), matrix(ib, cols, rows)].concat();
        params.extend([Param::U32(64), Param::U32(0)]);
        params.extend(map_params(maps, &[(ia, rows, cols), (ib, cols, rows)], &memory));
        execute(arch, text, 128, params, &mut memory)
            .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
        let b = memory.f32s(ib);
        for i in 0..cols {
            for j in 0..rows {
                let want = if j >= 64 { a[(j * cols + i) as usize] } else { -1.0 };
                assert_eq!(b[(i * rows + j) as usize], want, "{arch}: row {i}, column {j}");
            }
        }
    });
}

#[test]
fn layer_norms() {
    everywhere("layer_norm.tile", |arch, text, maps| {
        for at in [0, 8] {
            let wrong = layer_norm(arch, (text, maps), 128, (8, 1024), at)
                .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{arch}: wrong elements of Y");
        }
    });
}

/// Rows whose length is a multiple of nothing, far from zero: what lies behind a row's end must not
/// count in its variance.
#[test]
fn layer_norms_of_any_length() {
    everywhere("layer_norm_rows.tile", |arch, text, maps| {
        assert!(maps.is_empty(), "{arch}: tensor maps");
        for (rows, cols) in [(19u32, 301u32), (32, 128), (3, 5)] {
            let x: Vec<f32> =
                (0..rows * cols).map(|i| noise(i) + 3.0 + (i / cols) as f32).collect();
            let (w, b): (Vec<f32>, Vec<f32>) =
                (0..cols).map(|i| (1.0 + noise(i + 77), noise(i + 7777))).unzip();
            let mut memory = Memory::new();
            let (ix, iw) = (memory.add_f32("X", &x), memory.add_f32("W", &w));
            let (ib, iy) = (memory.add_f32("B", &b), memory.add_f32("Y", &vec![7.0; x.len()]));
            let row = |id| [Param::Buffer(id), Param::U32(cols), Param::U32(cols)];
            let mut params: Vec<Param> = matrix(ix, rows, cols).to_vec();
            params.extend(row(iw).into_iter().chain(row(ib)).chain(matrix(iy, rows, cols)));
            let numbers = [1.0 / cols as f32, 1e-5].map(f32::to_bits);
            params.extend([rows, cols, numbers[0], numbers[1]].map(Param::U32));
            let grid = [rows.div_ceil(16), 1, 1];
            execute_grid(arch, text, (128, grid), params, &mut memory)
                .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
            let y = memory.f32s(iy);
            for (row, line) in x.chunks(cols as usize).enumerate() {
                let sum =
                    |of: &dyn Fn(f64) -> f64| line.iter().map(|v| of((*v).into())).sum::<f64>();
                let mean = sum(&|v| v) / f64::from(cols);
                let variance = sum(&|v| (v - mean).powi(2)) / f64::from(cols);
                for (col, v) in line.iter().enumerate() {
                    let norm = (f64::from(*v) - mean) / (variance + 1e-5).sqrt();
                    let want = norm * f64::from(w[col]) + f64::from(b[col]);
                    let got = f64::from(y[row * cols as usize + col]);
                    assert!((got - want).abs() < 1e-4, "{arch}: {row}, {col}: {got}, not {want}");
                }
            }
        }
    });
}

#[test]
fn attentions() {
    everywhere("attention.tile", |arch, text, maps| {
        for (at, keys) in [(0, 64), (64, 192)] {
            let (wrong, report) = attention(arch, (text, maps), 128, (64, 64), at, keys)
                .unwrap_or_else(|f| panic!("{arch}: {f:?}\n{text}"));
            assert_eq!(wrong, 0, "{arch}: wrong elements of O, {keys} keys");
            assert_eq!(report.conflicts(), 0, "{arch}: bank conflicts");
        }
    });
}
