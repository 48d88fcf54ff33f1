//! Tiles of tensor memory as programs write them: random programs do what their text says, say the
//! same as `mma {sums = tensor}`, and what is not followed is refused with its reason.
#![allow(missing_docs)]

use lanebook_kernels::hunt::choices::Choices;
use lanebook_kernels::hunt::kinds::generate;
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::maps::try_text_and_maps;
use lanebook_kernels::{assembled, kernel_text, try_kernel_text};

#[test]
fn random_programs_do_what_they_say() {
    let (mut compiled, mut refused) = (0, Vec::new());
    for number in 0..60 {
        let program = generate("sums", Choices::seeded(number)).expect("a kind");
        let text = program.text("f");
        for arch in ["sm_100a", "sm_110a"] {
            let (kernel, maps) = match try_text_and_maps(&text, arch) {
                Ok(made) => made,
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
                run_text(&said, &kernel, &maps, arch)
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
    // Narrower blocks follow each other. Of fewer rows the instruction has another order of lanes.
    let narrow = encoded("blockM = 128, blockN = 32, colStride = 1");
    assert!(try_kernel_text(&narrow, "sm_100a").is_ok());
    let [few, _] = two_ways(64);
    for (text, is_same) in [
        ("#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>", true),
        ("S[(4,16,64):(32@TLane,1@TLane,1@TCol)]", true),
        ("S[(64,64):(1@TLane,1@TCol)]", false),
        ("#ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>", false),
    ] {
        let text = few.replace("#tmem>", &format!("#tmem, {text}>"));
        let made = try_kernel_text(&text, "sm_100a");
        assert_eq!(made.is_ok(), is_same, "{made:?}");
        assert!(is_same || made.unwrap_err().contains("TensorLayout"));
    }
    // In any notation of places, if it is that one.
    let placed = |text: &str| words.replace("#tmem>", &format!("#tmem, {text}>"));
    for same in ["S[(128,64):(1@TLane,1@TCol)]", "S[(128,2,32):(1@TLane,32@TCol,1@TCol)]"] {
        assert!(try_kernel_text(&placed(same), "sm_100a").is_ok(), "{same}");
    }
    for (text, why) in [
        (placed("S[(128,64):(1@TLane,2@TCol)]"), "TensorLayout"),
        (placed("S[(128,64):(1@TLane,1@TCol)] + 4@TCol"), "TensorLayout"),
        (placed("S[(128,2,32):(1@TLane,1@TCol,2@TCol)]"), "TensorLayout"),
        (placed("S[(128,64):(1@TCol,1@TLane)]"), "TensorLayout"),
        (encoded("blockM = 64, blockN = 64, colStride = 1"), "TensorLayout"),
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
