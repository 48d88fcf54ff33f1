//! Tiles of tensor memory as programs write them: random programs do what their text says, say the
//! same as `mma {sums = tensor}`, and what is not followed is refused with its reason.
#![allow(missing_docs)]

use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::maps::kernel_maps;
use lanebook_kernels::{assembled, kernel_text, try_kernel_text};

/// Numbers that look random.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A program of some statements on one or two tiles, some of them in a loop.
fn program(draws: &mut Draws) -> String {
    let (element, most) = draws.of(&[("f16", 8), ("bf16", 8), ("e4m3", 16), ("e5m2", 16)]);
    let (rows, cols) = (draws.of(&[64, 128, 128, 256]), draws.of(&[16, 32, 64]));
    let threads = if rows == 256 { 256 } else { draws.of(&[128, 128, 256]) };
    let (a, b) = (format!("tensor<{rows}x64x{element}"), format!("tensor<64x{cols}x{element}"));
    let (tile, sums) =
        (format!("tensor<{rows}x{cols}xf32>"), format!("tensor<{rows}x{cols}xf32, #tmem>"));
    let (from, to) =
        (format!("memref<?x?x{element}, #gmem>"), format!("memref<{rows}x{cols}xf32, #gmem>"));
    let mut text = format!(
        "func @f(%A: {from} {{align = 16, stride_div = {most}}}, %B: {from} {{align = 16, stride_div = {most}}}, %C: {to} {{align = 16}}, %D: {to} {{align = 16}}, %K: index) {{threads = {threads}}} {{\n  %sa = alloc_tensor : {a}, #smem>\n  %sb = alloc_tensor : {b}, #smem>\n  %yes = constant 1 : index\n  %no = constant 0 : index\n  %d = tiled_load %D[0, 0] : {to} -> {tile}\n"
    );
    let tiles: u64 = 1 + draws.below(2);
    for k in 0..tiles {
        text += &match draws.below(2) {
            0 => format!("  %s{k} = tmem_alloc : {sums}\n"),
            _ => format!("  %s{k} = ttng.tmem_alloc %d : ({tile}) -> {sums}\n"),
        };
    }
    let mut number = 0;
    let mut statement = |draws: &mut Draws, text: &mut String, k: u64, held: &mut String| {
        let (adds, done) = (draws.of(&["%yes", "%yes", "%no"]), draws.of(&["%yes", "%yes", "%no"]));
        number += 1;
        match draws.below(4) {
            0 => *text += &format!("  tmem_store {held}, %s{k}, {done} : {tile} -> {sums}\n"),
            1 => {
                *text += &format!(
                    "  %r{number} = tmem_load %s{k} : {sums} -> {tile}\n  %h{number} = add %r{number}, %d : {tile}\n"
                );
                *held = format!("%h{number}");
            }
            _ => {
                *text += &format!(
                    "  tc_gen5_mma %sa, %sb, %s{k}, {adds}, {done} : {a}, #smem>, {b}, #smem>, {sums}\n"
                )
            }
        }
    };
    let copies = |at: &str| {
        format!(
            "  copy %A[0, {at}], %sa : {from} -> {a}, #smem>\n  copy %B[{at}, 0], %sb : {from} -> {b}, #smem>\n"
        )
    };
    text += &copies("0");
    let mut held = "%d".to_string();
    for _ in 0..draws.below(3) {
        let k = draws.below(tiles);
        statement(draws, &mut text, k, &mut held);
    }
    if draws.below(3) > 0 {
        text += "  scf.for %k = 0 to %K step 64 {\n";
        text += &copies("%k");
        let mut inside = held.clone();
        for k in 0..tiles {
            text += &format!(
                "  tc_gen5_mma %sa, %sb, %s{k}, %yes, %yes : {a}, #smem>, {b}, #smem>, {sums}\n"
            );
        }
        for _ in 0..draws.below(3) {
            let k = draws.below(tiles);
            statement(draws, &mut text, k, &mut inside);
        }
        text += "  scf.yield\n  }\n";
    }
    for k in 0..tiles {
        text += &format!("  tc_gen5_mma %sa, %sb, %s{k} : {a}, #smem>, {b}, #smem>, {sums}\n");
    }
    text += &format!("  %e0 = tmem_load %s0 : {sums} -> {tile}\n");
    let last = match tiles {
        1 => "%e0",
        _ => {
            text += &format!(
                "  %e1 = tmem_load %s1 : {sums} -> {tile}\n  %e = sub %e0, %e1 : {tile}\n"
            );
            "%e"
        }
    };
    text + &format!("  tiled_store {last}, %C[0, 0] : {tile} -> {to}\n}}\n")
}

#[test]
fn random_programs_do_what_they_say() {
    let mut draws = Draws(0x2545_f491_4f6c_dd1d);
    let (mut compiled, mut refused) = (0, Vec::new());
    for _ in 0..60 {
        let text = program(&mut draws);
        for arch in ["sm_100a", "sm_110a"] {
            let kernel = match try_kernel_text(&text, arch) {
                Ok(kernel) => kernel,
                Err(why) => {
                    refused.push(why);
                    continue;
                }
            };
            assert!(kernel.contains("tcgen05.mma"), "{arch}:\n{text}");
            assert!(!kernel.contains("mma.sync"), "{arch}:\n{text}");
            if compiled % 8 == 0 {
                assembled(arch, &kernel).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
            }
            for turns in [0, 1, 3] {
                let given = Given { turns, salt: 0, fill: Some(Fill::Small) };
                let said =
                    Interpreted::with(&text, given).unwrap_or_else(|e| panic!("{e}\n{text}"));
                run_text(&said, &kernel, &kernel_maps(&text, arch), arch)
                    .unwrap_or_else(|e| panic!("{arch}, {turns} turns: {e}\n{text}"));
            }
            compiled += 1;
        }
    }
    println!("{compiled} compiled, refused: {refused:?}");
    assert!(compiled >= 80, "{compiled}");
}

/// One product, written in both ways.
fn two_ways(rows: u32) -> [String; 2] {
    let around = |inside: &str| {
        format!(
            "func @f(%A: memref<{rows}x64xf16, #gmem> {{align = 16}}, %B: memref<64x64xf16, #gmem> {{align = 16}}, %C: memref<{rows}x64xf32, #gmem> {{align = 16}}) {{threads = 128}} {{
  %sa = alloc_tensor : tensor<{rows}x64xf16, #smem>
  %sb = alloc_tensor : tensor<64x64xf16, #smem>
  copy %A[0, 0], %sa : memref<{rows}x64xf16, #gmem> -> tensor<{rows}x64xf16, #smem>
  copy %B[0, 0], %sb : memref<64x64xf16, #gmem> -> tensor<64x64xf16, #smem>
{inside}  tiled_store %r, %C[0, 0] : tensor<{rows}x64xf32> -> memref<{rows}x64xf32, #gmem>
}}
"
        )
    };
    let factors = format!("tensor<{rows}x64xf16, #smem>, tensor<64x64xf16, #smem>");
    let sums = format!("tensor<{rows}x64xf32, #tmem>");
    [
        around(&format!(
            "  %s = tmem_alloc : {sums}\n  tc_gen5_mma %sa, %sb, %s : {factors}, {sums}\n  %r = tmem_load %s : {sums} -> tensor<{rows}x64xf32>\n"
        )),
        around(&format!(
            "  %z = constant 0.0 : tensor<{rows}x64xf32>\n  %a = tiled_load %sa : tensor<{rows}x64xf16, #smem> -> tensor<{rows}x64xf16>\n  %b = tiled_load %sb : tensor<64x64xf16, #smem> -> tensor<64x64xf16>\n  %r = mma %a, %b, %z {{sums = tensor}} : tensor<{rows}x64xf32>\n"
        )),
    ]
}

#[test]
fn both_ways_to_say_it_are_one() {
    for rows in [64, 128] {
        let [words, attribute] = two_ways(rows);
        assert_eq!(kernel_text(&words, "sm_100a"), kernel_text(&attribute, "sm_100a"));
    }
}

#[test]
fn what_is_not_followed_is_refused() {
    let [words, attribute] = two_ways(128);
    for arch in ["sm_90a", "sm_120a", "gfx950"] {
        for text in [&words, &attribute] {
            let refused = try_kernel_text(text, arch).expect_err(arch);
            assert!(refused.contains("Sums") && refused.contains("Absent"), "{arch}: {refused}");
        }
    }
    for text in two_ways(32) {
        let refused = try_kernel_text(&text, "sm_100a").expect_err("no form");
        assert!(refused.contains("Sums") && refused.contains("Form"), "{refused}");
    }
    let encoded = |text: &str| {
        words.replace("#tmem>", &format!("#tmem, #ttng.tensor_memory_encoding<{text}>>"))
    };
    assert!(
        try_kernel_text(&encoded("blockM = 128, blockN = 64, colStride = 1"), "sm_100a").is_ok()
    );
    for (text, why) in [
        (encoded("blockM = 64, blockN = 64, colStride = 1"), "TensorLayout"),
        (encoded("blockM = 128, blockN = 32, colStride = 1"), "TensorLayout"),
        (encoded("blockM = 128, blockN = 64, colStride = 2"), "TensorLayout"),
        (encoded("blockM = 128, blockN = 64, colStride = 1, twoCTAs = true"), "TensorLayout"),
        (words.replace("%sb, %s :", "%sb, %s {is_async} :"), "IdleAttr"),
        (words.replace("tmem_alloc :", "tmem_alloc {two_ctas} :"), "IdleAttr"),
        (words.replace("%sb, %s :", "%sb, %s, 1, 1, %sb :"), "TensorForm"),
        (words.replace("  tc_gen5_mma", "  %m = block_id x : index\n  tc_gen5_mma").replace("%sb, %s :", "%sb, %s, %m :"), "TensorForm"),
        (words.replace("  tc_gen5_mma", "  %m = block_id x : index\n  scf.if %m {\n  tc_gen5_mma").replace("  %r = tmem", "  }\n  %r = tmem"), "TensorForm"),
        (words.replace("%sa, %sb, %s : tensor<128x64xf16, #smem>, tensor<64x64xf16, #smem>", "%sa, %q, %s : tensor<128x64xf16, #smem>, tensor<64x64xf16>").replace("  %s = ", "  %q = tiled_load %sb : tensor<64x64xf16, #smem> -> tensor<64x64xf16>\n  %s = "), "TensorForm"),
        (words.lines().filter(|line| !line.contains("gen5")).map(|line| format!("{line}\n")).collect(), "TensorForm"),
    ] {
        assert_ne!(text, words);
        let refused = try_kernel_text(&text, "sm_100a").expect_err(why);
        assert!(refused.contains(why), "{why}: {refused}\n{text}");
    }
}
