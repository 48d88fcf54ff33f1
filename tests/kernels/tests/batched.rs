//! Many matrices in one tensor: tiles of one of them, by every kind of mover, and through tensor
//! maps of three dimensions each field of which is needed.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check;
use lanebook_kernels::maps::{KernelMap, kernel_maps};
use lanebook_kernels::{Assembler, try_kernel_text, with_kernel};
use lanebook_replay::{BankModel, FaultKind, Kernel, Launch, Memory, Param, TensorMap, run};

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");
const COUNT: u32 = 3;

/// C[b] = A[b] * B[b]: a tile of 64 x 64 of one of the products.
const PRODUCT: &str = "func @batched(%A: memref<?x?x?xf16, #gmem> {align = 16, stride_div = 8}, %B: memref<?x?x?xf16, #gmem> {align = 16, stride_div = 8},
              %C: memref<?x?x?xf32, #gmem> {align = 16, stride_div = 4}, %b: index, %m: index {div = 64}, %n: index {div = 64}, %K: index) {threads = 128} {
  %sa = alloc_tensor : tensor<64x64xf16, #smem>
  %sb = alloc_tensor : tensor<64x64xf16, #smem>
  %z  = constant 0.0 : tensor<64x64xf32>
  %r  = scf.for %k = 0 to %K step 64 iter_args(%c = %z) -> tensor<64x64xf32> {
    copy %A[%b, %m, %k], %sa : memref<?x?x?xf16, #gmem> -> tensor<64x64xf16, #smem>
    copy %B[%b, %k, %n], %sb : memref<?x?x?xf16, #gmem> -> tensor<64x64xf16, #smem>
    %a = tiled_load %sa : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
    %bb = tiled_load %sb : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
    %d = mma %a, %bb, %c : tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tiled_store %r, %C[%b, %m, %n] : tensor<64x64xf32> -> memref<?x?x?xf32, #gmem>
}
";

/// Matrix after matrix, through shared memory; the loop counts them.
const EACH: &str = "func @each(%A: memref<?x?x?xf32, #gmem> {align = 16, stride_div = 4}, %C: memref<3x64x64xf32, #gmem> {align = 16}) {threads = 128} {
  %s = alloc_tensor : tensor<64x32xf32, #smem>
  scf.for %b = 0 to 3 step 1 {
    copy %A[%b, 0, 32], %s : memref<?x?x?xf32, #gmem> -> tensor<64x32xf32, #smem>
    copy %s, %C[%b, 0, 0] : tensor<64x32xf32, #smem> -> memref<3x64x64xf32, #gmem>
    scf.yield
  }
}
";

const ARCHS: [&str; 8] =
    ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120", "gfx942", "gfx950", "gfx1100"];

fn assembled(program: &str, arch: &str) -> String {
    let text = try_kernel_text(program, arch).unwrap_or_else(|e| panic!("{arch}: {e}"));
    Assembler::of(arch)
        .assemble(&text, arch)
        .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
    with_kernel(program, arch, |program, compiled, _| {
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{arch}: {v:?}"));
        check::order(&TABLES, program, compiled)
            .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
    });
    text
}

fn launched(
    arch: &str,
    text: &str,
    params: Vec<Param>,
    memory: &mut Memory,
) -> Result<(), FaultKind> {
    let is_amd = arch.starts_with("gfx");
    let parsed = if is_amd { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) };
    let kernel = parsed.unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    let banks = if is_amd {
        BankModel::from_jsonl(arch, PHASES).unwrap_or_else(|_| BankModel::nvidia_of(arch))
    } else {
        BankModel::nvidia_of(arch)
    };
    run(&kernel, &Launch::new(128, params).banks(banks), memory).map(|_| ()).map_err(|f| {
        println!("{arch}: {f}");
        f.kind
    })
}

fn tensor(id: lanebook_replay::BufferId, rows: u32, cols: u32) -> [Param; 6] {
    [
        Param::Buffer(id),
        Param::U32(COUNT),
        Param::U32(rows),
        Param::U32(cols),
        Param::U32(rows * cols),
        Param::U32(cols),
    ]
}

/// Wrong elements of the tile of matrix `which`, and of everything else.
fn product(
    arch: &str,
    text: &str,
    maps: &[KernelMap],
    which: u32,
    change: impl Fn(&mut TensorMap),
) -> Result<usize, FaultKind> {
    let (m, n, k) = (128u32, 128u32, 128u32);
    let value = |i: u32, salt: u32| ((i * 7 + i / 128 + i / 16384 * salt) % 9) as f32 - 4.0;
    let fill = |salt: u32| (0..COUNT * m * k).map(|i| value(i, salt)).collect::<Vec<f32>>();
    let (a, b) = (fill(3), fill(5));
    let mut memory = Memory::new();
    let (ia, ib) = (memory.add_f16("A", &a), memory.add_f16("B", &b));
    let ic = memory.add_f32("C", &vec![0.5; (COUNT * m * n) as usize]);
    let mut params: Vec<Param> = [tensor(ia, m, k), tensor(ib, k, n), tensor(ic, m, n)].concat();
    params.extend([Param::U32(which), Param::U32(64), Param::U32(0), Param::U32(k)]);
    let ids = [(ia, [COUNT, m, k]), (ib, [COUNT, k, n]), (ic, [COUNT, m, n])];
    for map in maps {
        let (buffer, extents) = ids[map.memref];
        let mut filled = map.fill_many(buffer, &extents, &memory);
        change(&mut filled);
        params.push(Param::Tensor(filled));
    }
    launched(arch, text, params, &mut memory)?;
    let c = memory.f32s(ic);
    let want = |at: u32| {
        let (matrix, i, j) = (at / (m * n), at / n % m, at % n);
        if matrix != which || i < 64 || j >= 64 {
            return 0.5;
        }
        (0..k)
            .map(|x| {
                a[(matrix * m * k + i * k + x) as usize] * b[(matrix * k * n + x * n + j) as usize]
            })
            .sum()
    };
    Ok((0..COUNT * m * n).filter(|at| c[*at as usize] != want(*at)).count())
}

#[test]
fn a_product_of_many() {
    for arch in ARCHS {
        let text = assembled(PRODUCT, arch);
        let maps = kernel_maps(PRODUCT, arch);
        let tiled = ["sm_90a", "sm_100a", "sm_120"].contains(&arch);
        assert_eq!(
            (maps.len(), text.contains("cp.async.bulk.tensor.3d")),
            (if tiled { 2 } else { 0 }, tiled),
            "{arch}\n{text}"
        );
        for which in [0, 2] {
            assert_eq!(product(arch, &text, &maps, which, |_| {}), Ok(0), "{arch} {which}\n{text}");
        }
    }
}

#[test]
fn matrix_after_matrix() {
    for arch in ARCHS {
        let text = assembled(EACH, arch);
        let a: Vec<f32> = (0..COUNT * 64 * 64).map(|i| i as f32).collect();
        let mut memory = Memory::new();
        let (ia, ic) =
            (memory.add_f32("A", &a), memory.add_f32("C", &vec![-1.0; (COUNT * 64 * 64) as usize]));
        let mut params = tensor(ia, 64, 64).to_vec();
        params.push(Param::Buffer(ic));
        let ids = [ia, ic];
        params.extend(
            kernel_maps(EACH, arch).iter().map(|map| {
                Param::Tensor(map.fill_many(ids[map.memref], &[COUNT, 64, 64], &memory))
            }),
        );
        assert_eq!(launched(arch, &text, params, &mut memory), Ok(()), "{arch}\n{text}");
        let c = memory.f32s(ic);
        let wrong =
            (0..c.len()).filter(|i| c[*i] != if i % 64 < 32 { a[i + 32] } else { -1.0 }).count();
        assert_eq!(wrong, 0, "{arch}\n{text}");
    }
}

#[test]
fn each_part_of_the_third_dimension_is_needed() {
    type Change = fn(&mut TensorMap);
    let fields: [(&str, Change); 5] = [
        ("distance", |m| m.strides[2] /= 2),
        ("extent", |m| m.extents[2] = 1),
        ("box", |m| m.boxed[2] = 2),
        ("rank", |m| m.rank = 2),
        ("order", |m| m.strides.swap(1, 2)),
    ];
    let arch = "sm_90a";
    let (text, maps) = (assembled(PRODUCT, arch), kernel_maps(PRODUCT, arch));
    for (field, change) in fields {
        assert_ne!(product(arch, &text, &maps, 2, change), Ok(0), "{field}");
    }
    // The coordinate that says which matrix, of every copy: another's, and none.
    let copies = text.lines().filter(|line| line.contains("bulk.tensor.3d")).count();
    for number in 0..copies {
        for other in ["%r0", ""] {
            let mut seen = 0;
            let damaged: String = text
                .lines()
                .map(|line| {
                    let own = line.contains("bulk.tensor.3d");
                    seen += usize::from(own);
                    match line.rsplit_once(", ") {
                        Some((head, _)) if own && seen == number + 1 => {
                            // `[dst], [map, {x, y, z}], [bar];`
                            let (head, z) = head.rsplit_once(", ").expect("three coordinates");
                            let rest = line.rsplit_once(", ").map_or("", |(_, bar)| bar);
                            let z = if other.is_empty() {
                                head.rsplit_once(", ").map_or(z, |(_, y)| y).to_string()
                            } else {
                                other.to_string()
                            };
                            format!("{head}, {z}}}], {rest}\n")
                        }
                        _ => format!("{line}\n"),
                    }
                })
                .collect();
            assert_ne!(damaged, text);
            assert_ne!(
                product(arch, &damaged, &maps, 2, |_| {}),
                Ok(0),
                "copy {number}\n{damaged}"
            );
        }
    }
}

/// Every head of every sequence, tile after tile, by as many dimensions as are asked for; and one
/// row, from and to memory of one dimension.
fn heads(rank: usize, from: &[&str], known: bool) -> String {
    let shape = if known {
        "2x3x2x64x64".split('x').skip(5 - rank).collect::<Vec<_>>().join("x")
    } else {
        vec!["?"; rank].join("x")
    };
    let at = from.join(", ");
    format!(
        "func @heads(%A: memref<{shape}xf16, #gmem> {{align = 16, stride_div = 8}}, %C: memref<{shape}xf16, #gmem> {{align = 16, stride_div = 8}},
              %h: index, %n: index) {{threads = 128}} {{
  %s = alloc_tensor : tensor<32x64xf16, #smem>
  copy %A[{at}, 32, 0], %s : memref<{shape}xf16, #gmem> -> tensor<32x64xf16, #smem>
  copy %s, %C[{at}, 32, 0] : tensor<32x64xf16, #smem> -> memref<{shape}xf16, #gmem>
}}
"
    )
}

#[test]
fn up_to_five_dimensions() {
    let extents = [2u32, 3, 2, 64, 64];
    for arch in ["sm_80", "sm_90a", "gfx950", "gfx1100"] {
        for (rank, places) in [(3, vec!["%n"]), (4, vec!["%h", "%n"]), (5, vec!["1", "%h", "%n"])] {
            for known in [true, false] {
                let program = heads(rank, &places, known);
                let text = assembled(&program, arch);
                let tiled = arch == "sm_90a";
                assert_eq!(
                    text.contains(&format!("bulk.tensor.{rank}d")),
                    tiled,
                    "{arch} {rank}\n{text}"
                );
                let own = &extents[5 - rank..];
                let count: u32 = own.iter().product();
                let a: Vec<f32> = (0..count).map(|i| (i % 2039) as f32).collect();
                let mut memory = Memory::new();
                let (ia, ic) =
                    (memory.add_f16("A", &a), memory.add_f16("C", &vec![-1.0; count as usize]));
                let mut params = Vec::new();
                for id in [ia, ic] {
                    params.push(Param::Buffer(id));
                    if !known {
                        params.extend(own.iter().map(|extent| Param::U32(*extent)));
                        params.extend((1..rank).map(|dim| Param::U32(own[dim..].iter().product())));
                    }
                }
                params.extend([Param::U32(2), Param::U32(1)]);
                let ids = [ia, ic];
                params.extend(
                    kernel_maps(&program, arch)
                        .iter()
                        .map(|map| Param::Tensor(map.fill_many(ids[map.memref], own, &memory))),
                );
                assert_eq!(
                    launched(arch, &text, params, &mut memory),
                    Ok(()),
                    "{arch} {rank}\n{text}"
                );
                // The tile's matrix: the innermost leading index is %n = 1, then %h = 2, then 1.
                let matrix = match rank {
                    3 => 1,
                    4 => 2 * 2 + 1,
                    _ => (3 + 2) * 2 + 1,
                };
                let c = memory.f16s(ic);
                let own = |i: usize| i / 4096 == matrix && i % 4096 >= 2048;
                let wrong =
                    (0..c.len()).filter(|i| c[*i] != if own(*i) { a[*i] } else { -1.0 }).count();
                assert_eq!(wrong, 0, "{arch} {rank}\n{text}");
            }
        }
    }
}

/// Y = X + B, where B is a vector, and L the sums of Y's rows.
const VECTORS: &str = "func @vectors(%X: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %B: memref<?xf32, #gmem> {align = 16},
              %Y: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %L: memref<?xf32, #gmem> {align = 16}, %m: index {div = 64}, %n: index {div = 64}) {threads = 128} {
  %x = tiled_load %X[%m, %n] : memref<?x?xf32, #gmem> -> tensor<64x64xf32>
  %b = tiled_load %B[%n] : memref<?xf32, #gmem> -> tensor<64xf32>
  %bb = broadcast %b {axis = 0} : tensor<64xf32> -> tensor<64x64xf32>
  %y = add %x, %bb : tensor<64x64xf32>
  tiled_store %y, %Y[%m, %n] : tensor<64x64xf32> -> memref<?x?xf32, #gmem>
  %l = reduce %y {axis = 1, kind = add} : tensor<64x64xf32> -> tensor<64xf32>
  tiled_store %l, %L[%m] : tensor<64xf32> -> memref<?xf32, #gmem>
}
";

#[test]
fn vectors_in_memory() {
    for arch in ARCHS {
        let text = assembled(VECTORS, arch);
        let (x, b): (Vec<f32>, Vec<f32>) = (
            (0..128 * 128).map(|i| (i % 251) as f32).collect(),
            (0..128).map(|i| (i * 3) as f32).collect(),
        );
        let mut memory = Memory::new();
        let (ix, ib) = (memory.add_f32("X", &x), memory.add_f32("B", &b));
        let (iy, il) =
            (memory.add_f32("Y", &vec![-1.0; 128 * 128]), memory.add_f32("L", &[-1.0; 128]));
        let matrix = |id| [Param::Buffer(id), Param::U32(128), Param::U32(128), Param::U32(128)];
        let vector = |id| [Param::Buffer(id), Param::U32(128)];
        let mut params = [&matrix(ix)[..], &vector(ib), &matrix(iy), &vector(il)].concat();
        params.extend([Param::U32(64), Param::U32(64)]);
        assert_eq!(launched(arch, &text, params, &mut memory), Ok(()), "{arch}\n{text}");
        let (y, l) = (memory.f32s(iy), memory.f32s(il));
        for i in 0..128usize {
            let row: Vec<f32> = (0..128usize)
                .map(|j| if i >= 64 && j >= 64 { x[i * 128 + j] + b[j] } else { -1.0 })
                .collect();
            assert_eq!(&y[i * 128..][..128], &row[..], "{arch} {i}\n{text}");
            assert_eq!(
                l[i],
                if i < 64 { -1.0 } else { row[64..].iter().sum() },
                "{arch} {i}\n{text}"
            );
        }
    }
}
