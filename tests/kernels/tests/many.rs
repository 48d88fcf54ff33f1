//! Small and odd tiles, on one architecture of each kind: what is compiled multiplies.
#![allow(missing_docs)]

use lanebook_kernels::maps::{kernel_maps, map_params};
use lanebook_kernels::{Assembler, try_kernel_text};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};

const ARCHS: [&str; 12] = [
    "sm_80", "sm_89", "sm_90a", "sm_100a", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100",
    "gfx1200", "gfx1250", "gfx1251",
];

fn program((m, n, k, t): (u32, u32, u32, u32), e: &str, turned: bool) -> String {
    let b = if turned { format!("tensor<{n}x{k}x{e}") } else { format!("tensor<{k}x{n}x{e}") };
    let at = if turned { "%n, %k" } else { "%k, %n" };
    let load = if turned {
        format!(
            "%b0 = tiled_load %sb : {b}, #smem> -> {b}>\n    %b = trans %b0 : {b}> -> tensor<{k}x{n}x{e}>"
        )
    } else {
        format!("%b = tiled_load %sb : {b}, #smem> -> {b}>")
    };
    format!(
        "func @gemm(%A: memref<?x?x{e}, #gmem> {{align = 16, stride_div = 16}}, %B: memref<?x?x{e}, #gmem> {{align = 16, stride_div = 16}}, %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %m: index {{div = {m}}}, %n: index {{div = {n}}}, %K: index) {{threads = {t}}} {{
  %sa = alloc_tensor : tensor<{m}x{k}x{e}, #smem>
  %sb = alloc_tensor : {b}, #smem>
  %z  = constant 0.0 : tensor<{m}x{n}xf32>
  %r  = scf.for %k = 0 to %K step {k} iter_args(%c = %z) -> tensor<{m}x{n}xf32> {{
    copy %A[%m, %k], %sa : memref<?x?x{e}, #gmem> -> tensor<{m}x{k}x{e}, #smem>
    copy %B[{at}], %sb : memref<?x?x{e}, #gmem> -> {b}, #smem>
    %a = tiled_load %sa : tensor<{m}x{k}x{e}, #smem> -> tensor<{m}x{k}x{e}>
    {load}
    %d = mma %a, %b, %c : tensor<{m}x{n}xf32>
    scf.yield %d : tensor<{m}x{n}xf32>
  }}
  tiled_store %r, %C[%m, %n] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>
}}
"
    )
}

/// How many elements of the result are wrong; the program says whether it is f32 or f16.
fn wrong(
    arch: &str,
    source: &str,
    text: &str,
    (m, n, k, t): (u32, u32, u32, u32),
    e: &str,
    turned: bool,
) -> Result<usize, String> {
    let depth = 2 * k;
    let a: Vec<f32> = (0..m * depth).map(|i| ((i * 7 + i / depth) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..depth * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let bt: Vec<f32> = if turned {
        (0..n * depth).map(|i| b[((i % depth) * n + i / depth) as usize]).collect()
    } else {
        b.clone()
    };
    let mut memory = Memory::new();
    // Bytes that are not signed are no less than zero.
    let unsigned = [e == "u8", source.contains("%B: memref<?x?xu8")];
    let a: Vec<f32> = a.into_iter().map(|x| if unsigned[0] { x + 240.0 } else { x }).collect();
    let (b, bt) = if unsigned[1] {
        (b.iter().map(|x| x + 240.0).collect(), bt.iter().map(|x| x + 240.0).collect())
    } else {
        (b, bt)
    };
    let mut add = |name: &str, v: &[f32]| match e {
        "f64" => memory.add(name, v.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect()),
        "tf32" => memory.add_f32(name, v),
        "i8" | "u8" => memory.add(name, v.iter().map(|x| *x as i32 as u8).collect()),
        "bf16" => memory.add_bf16(name, v),
        "f16" => memory.add_f16(name, v),
        _ => memory.add(
            name,
            v.iter()
                .map(|x| lanebook_replay::number::to_float8(*x, 3, e.ends_with("fnuz"), true))
                .collect(),
        ),
    };
    let (ia, ib) = (add("A", &a), add("B", &bt));
    let halves = source.contains("%C: memref<?x?xf16");
    let seven = vec![7.0; (m * n) as usize];
    let ints = source.contains("%C: memref<?x?xi32");
    let wide = source.contains("%C: memref<?x?xf64");
    let ic = if wide {
        memory.add("C", seven.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect())
    } else if halves {
        memory.add_f16("C", &seven)
    } else {
        memory.add_f32("C", &seven)
    };
    let matrix =
        |id, r: u32, c: u32| [Param::Buffer(id), Param::U32(r), Param::U32(c), Param::U32(c)];
    let (br, bc) = if turned { (n, depth) } else { (depth, n) };
    let mut params = Vec::new();
    params.extend(matrix(ia, m, depth));
    params.extend(matrix(ib, br, bc));
    params.extend(matrix(ic, m, n));
    params.extend([Param::U32(0), Param::U32(0), Param::U32(depth)]);
    params.extend(map_params(
        &kernel_maps(source, arch),
        &[(ia, m, depth), (ib, br, bc), (ic, m, n)],
        &memory,
    ));
    let kernel =
        if arch.starts_with("gfx") { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) }
            .map_err(|e| e.to_string())?;
    let dynamic = if text.contains(".extern .shared") { 220 << 10 } else { 0 };
    let launch =
        Launch { dynamic_shared: dynamic, ..Launch::new(t, params).banks(BankModel::none()) };
    run(&kernel, &launch, &mut memory).map_err(|f| f.to_string())?;
    let c: Vec<f32> = match (halves, ints) {
        _ if wide => memory
            .bytes(ic)
            .as_chunks::<8>()
            .0
            .iter()
            .map(|x| f64::from_le_bytes(*x) as f32)
            .collect(),
        (true, _) => memory.f16s(ic),
        (_, true) => memory.u32s(ic).into_iter().map(|n| n as i32 as f32).collect(),
        _ => memory.f32s(ic),
    };
    let mut bad = 0;
    for i in 0..m {
        for j in 0..n {
            let want: f32 =
                (0..depth).map(|x| a[(i * depth + x) as usize] * b[(x * n + j) as usize]).sum();
            bad += usize::from(c[(i * n + j) as usize] != want);
        }
    }
    Ok(bad)
}

#[test]
fn small_tiles_are_right() {
    // The last one's operands come by copies of two kinds on sm_90a, in front of which different
    // things have to stand.
    let mut done = 0;
    for (shape, e, turned) in [
        ((32, 32, 32, 64), "f16", false),
        ((48, 64, 32, 64), "f16", true),
        ((64, 64, 32, 128), "bf16", true),
        ((32, 64, 64, 64), "e4m3", true),
    ] {
        let mut seen: Vec<String> = Vec::new();
        for arch in ARCHS {
            // What has no matrix instruction for the type is refused.
            let source = program(shape, e, turned);
            let Ok(text) = try_kernel_text(&source, arch) else {
                assert_eq!(e, "e4m3", "{arch} {shape:?}");
                continue;
            };
            let body = text.splitn(4, '\n').nth(3).unwrap_or("").to_string();
            if seen.contains(&body) {
                continue;
            }
            seen.push(body);
            done += 1;
            let bad = wrong(arch, &source, &text, shape, e, turned)
                .unwrap_or_else(|fault| panic!("{arch} {shape:?} {e}: {fault}\n{text}"));
            assert_eq!(bad, 0, "{arch} {shape:?} {e}\n{text}");
        }
    }
    assert!(done > 20, "{done}");
}

/// Tiles that have fewer instances than the group has warps: what is left of the warps does what
/// others do.
#[test]
fn tiles_of_less_than_a_warp_each_are_right() {
    for arch in ARCHS.into_iter().filter(|arch| *arch != "gfx908") {
        for (shape, e, turned) in [
            ((16, 16, 32, 128), "f16", false),
            ((16, 16, 32, 256), "bf16", true),
            ((16, 32, 32, 512), "f16", true),
            ((16, 48, 32, 128), "f16", false),
        ] {
            let source = program(shape, e, turned);
            let text = try_kernel_text(&source, arch)
                .unwrap_or_else(|why| panic!("{arch} {shape:?}: {why}"));
            let bad = wrong(arch, &source, &text, shape, e, turned)
                .unwrap_or_else(|fault| panic!("{arch} {shape:?} {e}: {fault}\n{text}"));
            assert_eq!(bad, 0, "{arch} {shape:?} {e}\n{text}");
        }
    }
}

/// gfx1250's own instructions are 32 deep; those of 16 its assembler takes, and nothing says that
/// it has them.
#[test]
fn what_only_the_assembler_takes_is_not_picked() {
    for arch in ["gfx1250", "gfx1251"] {
        for e in ["f16", "bf16"] {
            let (shape, turned) = ((16, 16, 16, 32), false);
            let source = program(shape, e, turned);
            let text = try_kernel_text(&source, arch).unwrap_or_else(|why| panic!("{arch}: {why}"));
            // Wider elements, of which the machine has this depth.
            assert!(!text.contains("16x16x16") && text.contains("_f32_16x16x4_f32"), "{text}");
            assert_eq!(wrong(arch, &source, &text, shape, e, turned), Ok(0), "{arch} {e}\n{text}");
        }
        assert!(try_kernel_text(&program((16, 16, 32, 32), "f16", false), arch).is_ok(), "{arch}");
    }
}

/// Sums of halves: what no instruction stores as the product leaves it goes another way round.
#[test]
fn sums_of_halves_are_right() {
    let mut done = 0;
    for arch in ARCHS {
        for (shape, turned) in
            [((32, 64, 32, 64), false), ((64, 64, 32, 128), true), ((16, 16, 32, 128), false)]
        {
            let source = program(shape, "f16", turned)
                .replace("f32", "f16")
                .replace("stride_div = 4", "stride_div = 8");
            let text = match try_kernel_text(&source, arch) {
                Ok(text) => text,
                // CDNA adds up in f32 alone.
                Err(why) if arch.starts_with("gfx9") && why.contains("NoMatrixAtom") => continue,
                Err(why) => panic!("{arch} {shape:?}: {why}"),
            };
            done += 1;
            let bad = wrong(arch, &source, &text, shape, "f16", turned)
                .unwrap_or_else(|fault| panic!("{arch} {shape:?}: {fault}\n{text}"));
            assert_eq!(bad, 0, "{arch} {shape:?}\n{text}");
        }
    }
    assert!(done >= 18, "{done}");
}

/// Bytes with and without a sign, in any pair.
#[test]
fn products_of_bytes_are_right() {
    let mut done = 0;
    for arch in ARCHS {
        for (a, b, shape, turned) in [
            ("i8", "i8", (32, 64, 64, 64), false),
            ("u8", "u8", (32, 32, 64, 64), true),
            ("i8", "u8", (32, 32, 64, 64), true),
            ("u8", "i8", (32, 32, 64, 64), false),
        ] {
            // What turns bytes around on its way out of shared memory there is not modelled.
            let turned = turned || arch == "sm_100a";
            let source = program(shape, a, turned)
                .replace("f32", "i32")
                .replace("constant 0.0", "constant 0");
            let of_b = |line: &str| {
                if line.contains("%sb") || line.contains("%b ") {
                    line.replace(&format!("x{a}"), &format!("x{b}"))
                } else {
                    line.to_string()
                }
            };
            let source: String =
                source
                    .lines()
                    .map(|line| {
                        of_b(&line.replace(
                            &format!("%B: memref<?x?x{a}"),
                            &format!("%B: memref<?x?x{b}"),
                        )) + "\n"
                    })
                    .collect();
            let text = match try_kernel_text(&source, arch) {
                Ok(text) => text,
                // CDNA's are signed.
                Err(why)
                    if arch.starts_with("gfx9")
                        && (a, b) != ("i8", "i8")
                        && why.contains("NoMatrixAtom") =>
                {
                    continue;
                }
                Err(why) => panic!("{arch} {a} {b} {shape:?}: {why}\n{source}"),
            };
            done += 1;
            let bad = wrong(arch, &source, &text, shape, a, turned)
                .unwrap_or_else(|fault| panic!("{arch} {a} {b} {shape:?}: {fault}\n{text}"));
            assert_eq!(bad, 0, "{arch} {a} {b} {shape:?}\n{text}");
        }
    }
    assert!(done >= 28, "{done}");
}

/// Products of f64, whose registers hold two of a tile's on NVIDIA's machines, and of tf32 where
/// the program asks for it.
#[test]
fn products_of_wide_elements_are_right() {
    let mut done = 0;
    for arch in ARCHS {
        for (e, shape, turned) in [
            ("f64", (32, 32, 16, 64), false),
            ("f64", (16, 16, 16, 128), true),
            ("tf32", (32, 32, 16, 64), true),
            ("tf32", (32, 64, 32, 128), false),
        ] {
            let source = program(shape, e, turned);
            let source = if e == "f64" { source.replace("f32", "f64") } else { source };
            let text = match try_kernel_text(&source, arch) {
                Ok(text) => text,
                Err(why) if arch.starts_with("gfx") && why.contains("NoMatrixAtom") => continue,
                Err(why) => panic!("{arch} {e} {shape:?}: {why}"),
            };
            if e == "tf32" && text.contains("xf32") {
                // CDNA3's are not modelled.
                continue;
            }
            Assembler::of(arch)
                .assemble(&text, arch)
                .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
            done += 1;
            let bad = wrong(arch, &source, &text, shape, e, turned)
                .unwrap_or_else(|fault| panic!("{arch} {e} {shape:?}: {fault}\n{text}"));
            assert_eq!(bad, 0, "{arch} {e} {shape:?}\n{text}");
        }
    }
    assert!(done >= 16, "{done}");
}
