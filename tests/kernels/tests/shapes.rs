//! Other tile shapes, thread counts, types and alignments than the examples': each compiles,
//! assembles and is right.
#![allow(missing_docs)]

use lanebook_kernels::{Assembler, kernel_text, try_kernel_text};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};

const ARCHS: [&str; 2] = ["sm_80", "gfx950"];

struct Shape {
    m: u32,
    n: u32,
    k: u32,
    threads: u32,
    /// What the pointers and indices are known to be multiples of: bytes, elements, elements.
    known: (u32, u32, u32),
    element: &'static str,
}

fn program(s: &Shape) -> String {
    let (m, n, k, t) = (s.m, s.n, s.k, s.threads);
    let (align, stride, div) = s.known;
    let e = s.element;
    format!(
        "func @gemm(%A: memref<?x?x{e}, #gmem> {{align = {align}, stride_div = {stride}}}, %B: memref<?x?x{e}, #gmem> {{align = {align}, stride_div = {stride}}},
           %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %m: index {{div = {div}}}, %n: index {{div = {div}}}, %K: index) {{threads = {t}}} {{
  %sa = alloc_tensor : tensor<{m}x{k}x{e}, #smem>
  %sb = alloc_tensor : tensor<{k}x{n}x{e}, #smem>
  %z  = constant 0.0 : tensor<{m}x{n}xf32>
  %r  = scf.for %k = 0 to %K step {k} iter_args(%c = %z) -> tensor<{m}x{n}xf32> {{
    copy %A[%m, %k], %sa : memref<?x?x{e}, #gmem> -> tensor<{m}x{k}x{e}, #smem>
    copy %B[%k, %n], %sb : memref<?x?x{e}, #gmem> -> tensor<{k}x{n}x{e}, #smem>
    %a = tiled_load %sa : tensor<{m}x{k}x{e}, #smem> -> tensor<{m}x{k}x{e}>
    %b = tiled_load %sb : tensor<{k}x{n}x{e}, #smem> -> tensor<{k}x{n}x{e}>
    %d = mma %a, %b, %c : tensor<{m}x{n}xf32>
    scf.yield %d : tensor<{m}x{n}xf32>
  }}
  tiled_store %r, %C[%m, %n] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>
}}
"
    )
}

fn check(arch: &str, s: &Shape, text: &str) {
    let (m, n, k) = (2 * s.m as usize, 2 * s.n as usize, 2 * s.k as usize);
    let (row, col) = (s.m as usize, s.n as usize);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let mut add = |name: &str, v: &[f32]| {
        if s.element == "bf16" { memory.add_bf16(name, v) } else { memory.add_f16(name, v) }
    };
    let (ia, ib) = (add("A", &a), add("B", &b));
    let ic = memory.add_f32("C", &vec![7.0; m * n]);
    let matrix = |id, r: usize, c: usize| {
        [Param::Buffer(id), Param::U32(r as u32), Param::U32(c as u32), Param::U32(c as u32)]
    };
    let mut params = Vec::new();
    params.extend(matrix(ia, m, k));
    params.extend(matrix(ib, k, n));
    params.extend(matrix(ic, m, n));
    params.extend([Param::U32(row as u32), Param::U32(col as u32), Param::U32(k as u32)]);
    let kernel =
        if arch.starts_with("gfx") { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) }
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let launch = Launch {
        dynamic_shared: kernel_dynamic(text),
        ..Launch::new(s.threads, params).banks(BankModel::none())
    };
    run(&kernel, &launch, &mut memory).unwrap_or_else(|f| {
        panic!("{arch} {}x{}x{} on {} threads: {f}\n{text}", s.m, s.n, s.k, s.threads)
    });
    let c = memory.f32s(ic);
    for i in 0..m {
        for j in 0..n {
            let inside = i >= row && j >= col;
            let want: f32 =
                if inside { (0..k).map(|x| a[i * k + x] * b[x * n + j]).sum() } else { 7.0 };
            assert_eq!(
                c[i * n + j],
                want,
                "{arch} {}x{}x{} on {} threads: C({i},{j})",
                s.m,
                s.n,
                s.k,
                s.threads
            );
        }
    }
}

/// Bytes to launch with, where the text leaves the size to the launch.
fn kernel_dynamic(text: &str) -> u32 {
    if text.contains(".extern .shared") { 160 << 10 } else { 0 }
}

#[test]
fn other_shapes() {
    let wide = (16, 8, 32);
    let shapes = [
        Shape { m: 64, n: 64, k: 32, threads: 128, known: wide, element: "f16" },
        Shape { m: 64, n: 64, k: 64, threads: 64, known: wide, element: "f16" },
        Shape { m: 128, n: 64, k: 32, threads: 128, known: wide, element: "bf16" },
        Shape { m: 64, n: 128, k: 64, threads: 256, known: wide, element: "f16" },
        Shape { m: 128, n: 128, k: 32, threads: 256, known: wide, element: "f16" },
        Shape { m: 256, n: 128, k: 64, threads: 256, known: wide, element: "f16" },
        Shape { m: 32, n: 32, k: 64, threads: 64, known: wide, element: "bf16" },
        // Less is known: narrower accesses.
        Shape { m: 64, n: 64, k: 32, threads: 128, known: (8, 4, 4), element: "f16" },
        Shape { m: 64, n: 64, k: 32, threads: 128, known: (4, 2, 2), element: "f16" },
        Shape { m: 64, n: 64, k: 32, threads: 128, known: (2, 1, 1), element: "f16" },
    ];
    let mut refused = Vec::new();
    for s in &shapes {
        for arch in ARCHS {
            match try_kernel_text(&program(s), arch) {
                Ok(text) => {
                    Assembler::of(arch)
                        .assemble(&text, arch)
                        .unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
                    check(arch, s, &text);
                }
                Err(e) => refused.push(format!(
                    "{arch} {}x{}x{} on {} threads, known {:?}: {e}",
                    s.m, s.n, s.k, s.threads, s.known
                )),
            }
        }
    }
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
}

#[test]
fn a_copy_through_shared_memory_of_every_width() {
    for arch in ARCHS {
        for (element, bytes) in [("f16", 2u32), ("f32", 4)] {
            for known in [1u32, 2, 4, 8] {
                let text = format!(
                    "func @move(%A: memref<?x?x{element}, #gmem> {{align = {a}, stride_div = {known}}}, %B: memref<?x?x{element}, #gmem> {{align = {a}, stride_div = {known}}}) {{threads = 128}} {{
  %s = alloc_tensor : tensor<64x64x{element}, #smem>
  copy %A[0, 0], %s : memref<?x?x{element}, #gmem> -> tensor<64x64x{element}, #smem>
  %t = tiled_load %s : tensor<64x64x{element}, #smem> -> tensor<64x64x{element}>
  tiled_store %t, %B[0, 0] : tensor<64x64x{element}> -> memref<?x?x{element}, #gmem>
}}
",
                    a = known * bytes
                );
                let built = match try_kernel_text(&text, arch) {
                    Ok(built) => built,
                    // Halves that lie alone in memory would have to be packed into registers, which
                    // no atom here does.
                    Err(e) if known * bytes < 4 => {
                        assert!(
                            e.contains("Packing") || e.contains("Alignment") || e.contains("Share"),
                            "{arch} {element} {known}: {e}"
                        );
                        continue;
                    }
                    Err(e) => panic!("{arch} {element} {known}: {e}"),
                };
                let mut memory = Memory::new();
                let n = 64 * 64 * bytes as usize;
                let data: Vec<u8> = (0..n).map(|i| (i * 31 + i / 251) as u8).collect();
                let (ia, ib) = (memory.add("A", data.clone()), memory.add_zeros("B", n));
                let matrix =
                    |id| [Param::Buffer(id), Param::U32(64), Param::U32(64), Param::U32(64)];
                let params = matrix(ia).into_iter().chain(matrix(ib)).collect();
                let kernel = if arch.starts_with("gfx") {
                    Kernel::parse_amdgcn(&built)
                } else {
                    Kernel::parse_ptx(&built)
                }
                .unwrap_or_else(|e| panic!("{e}"));
                run(&kernel, &Launch::new(128, params).banks(BankModel::none()), &mut memory)
                    .unwrap_or_else(|f| panic!("{arch} {element} {known}: {f}\n{built}"));
                assert_eq!(memory.bytes(ib), &data[..], "{arch} {element} {known}");
            }
        }
    }
}

#[test]
fn the_same_program_twice_is_the_same_text() {
    let s = Shape { m: 64, n: 64, k: 32, threads: 128, known: (16, 8, 32), element: "f16" };
    for arch in ARCHS {
        assert_eq!(kernel_text(&program(&s), arch), kernel_text(&program(&s), arch));
    }
}
