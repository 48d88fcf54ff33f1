//! Kernels as Triton gives them to LLVM: buffers, copies and tokens of its stages by hand.
#![allow(missing_docs)]

use lanebook_kernels::{assembled, checked, try_with_kernel};

fn printed(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../passes/printed/");
    std::fs::read_to_string(format!("{folder}{name}")).expect("a printed kernel")
}

#[test]
fn attention_in_its_last_form_is_compiled_and_sound() {
    let text = printed("attn_fwd.gfx950.final.mlir");
    // Copies, a buffer that the loop carries, and what ends their lives.
    for word in ["async_copy_global_to_local", "mutable>, !ttg.memdesc", "ttg.local_dealloc"] {
        assert!(text.contains(word), "{word}");
    }
    let (sound, kernel) = try_with_kernel(&text, "gfx950", |program, compiled, out| {
        (checked(program, compiled), out.to_string())
    })
    .expect("a kernel");
    sound.expect("a sound plan");
    assembled("gfx950", &kernel).expect("a kernel that the assembler takes");
    assert!(kernel.contains("v_mfma_f32") && kernel.contains("s_barrier"), "{kernel}");
}

#[test]
fn a_tile_is_not_touched_behind_the_end_of_its_life() {
    let program = |behind: &str| {
        format!(
            "func @f(%x: memref<?x16xf32, #gmem>) {{threads = 32}} {{\n  %a = tiled_load %x[0, 0] : memref<?x16xf32, #gmem> -> tensor<16x16xf32>\n  %s = ttg.local_alloc %a : (tensor<16x16xf32>) -> !ttg.memdesc<16x16xf32, #smem, mutable>\n  %b = ttg.local_load %s : !ttg.memdesc<16x16xf32, #smem, mutable> -> tensor<16x16xf32>\n  ttg.local_dealloc %s : !ttg.memdesc<16x16xf32, #smem, mutable>\n{behind}  tiled_store %b, %x[16, 0] : tensor<16x16xf32> -> memref<?x16xf32, #gmem>\n}}\n"
        )
    };
    let kernel = |text: &str| try_with_kernel(text, "sm_80", |_, _, out| out.to_string());
    kernel(&program("")).expect("a kernel");
    let touched = program(
        "  ttg.local_store %b, %s : tensor<16x16xf32> -> !ttg.memdesc<16x16xf32, #smem, mutable>\n",
    );
    let refused = kernel(&touched).expect_err("a store behind the end");
    assert!(refused.contains("BufferForm"), "{refused}");
}

#[test]
fn descriptions_that_are_not_known_are_refused() {
    let text = "func @f(%x: !tt.ptr<f32>, %m: index, %n: index) {threads = 32} {\n  %one = arith.constant 1 : i64\n  %d = tt.make_tensor_descriptor %x, [%m, 16], [16, %one] : <f32>, <16x16xf32>\n  %a = tt.descriptor_load %d[0, 0] : !tt.tensordesc<16x16xf32> -> tensor<16x16xf32>\n  tt.descriptor_store %d[%n, 0], %a : !tt.tensordesc<16x16xf32>, tensor<16x16xf32>\n}\n";
    let kernel = |text: &str| try_with_kernel(text, "sm_80", |_, _, out| out.to_string());
    kernel(text).expect("a kernel");
    let flat = text.replace("%d[0, 0]", "%d[0]");
    let padded = text.replace("[16, %one] :", "[16, %one] {padding = 2 : i32} :");
    for (text, why) in [(flat, "DescriptorForm"), (padded, "IdleAttr")] {
        let refused = kernel(&text).expect_err("another form");
        assert!(refused.contains(why), "{refused}");
    }
}
