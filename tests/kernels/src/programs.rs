//! Programs of any shape, and whether their kernels compute the right thing.

use crate::judge::parsed;
use crate::maps::{kernel_maps, map_params};
use lanebook_replay::{BankModel, BufferId, Launch, Memory, Param, run};

/// Rows, columns and depth of a tile of a product, and threads.
pub type Shape = (u32, u32, u32, u32);

/// A product whose result goes through shared memory.
#[must_use]
pub fn stored((m, n, k, t): Shape) -> String {
    format!(
        "func @gemm(%A: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %m: index {{div = {m}}}, %n: index {{div = {n}}}, %K: index) {{threads = {t}}} {{
  %sa = alloc_tensor : tensor<{m}x{k}xf16, #smem>
  %sb = alloc_tensor : tensor<{k}x{n}xf16, #smem>
  %sc = alloc_tensor : tensor<{m}x{n}xf32, #smem>
  %z  = constant 0.0 : tensor<{m}x{n}xf32>
  %r  = scf.for %k = 0 to %K step {k} iter_args(%c = %z) -> tensor<{m}x{n}xf32> {{
    copy %A[%m, %k], %sa : memref<?x?xf16, #gmem> -> tensor<{m}x{k}xf16, #smem>
    copy %B[%k, %n], %sb : memref<?x?xf16, #gmem> -> tensor<{k}x{n}xf16, #smem>
    %a = tiled_load %sa : tensor<{m}x{k}xf16, #smem> -> tensor<{m}x{k}xf16>
    %b = tiled_load %sb : tensor<{k}x{n}xf16, #smem> -> tensor<{k}x{n}xf16>
    %d = mma %a, %b, %c : tensor<{m}x{n}xf32>
    scf.yield %d : tensor<{m}x{n}xf32>
  }}
  tiled_store %r, %sc : tensor<{m}x{n}xf32> -> tensor<{m}x{n}xf32, #smem>
  copy %sc, %C[%m, %n] : tensor<{m}x{n}xf32, #smem> -> memref<?x?xf32, #gmem>
}}
"
    )
}

/// Two products in a row, the first one's result through a conversion into the second: D = (A *
/// B) * E, B and E tile by tile. While one half of a turn goes on, the other half's tile is not
/// needed.
#[must_use]
pub fn chained((m, n, k, t): Shape) -> String {
    format!(
        "func @chain(%A: memref<?x{k}xf16, #gmem> {{align = 16}}, %B: memref<?x{k}xf16, #gmem> {{align = 16}}, %E: memref<?x{k}xf16, #gmem> {{align = 16}}, %C: memref<?x{k}xf32, #gmem> {{align = 16}}, %m: index {{div = {m}}}, %N: index) {{threads = {t}}} {{
  %sa = alloc_tensor : tensor<{m}x{k}xf16, #smem>
  %sb = alloc_tensor : tensor<{n}x{k}xf16, #smem>
  %se = alloc_tensor : tensor<{n}x{k}xf16, #smem>
  %zs = constant 0.0 : tensor<{m}x{n}xf32>
  %zo = constant 0.0 : tensor<{m}x{k}xf32>
  copy %A[%m, 0], %sa : memref<?x{k}xf16, #gmem> -> tensor<{m}x{k}xf16, #smem>
  %a  = tiled_load %sa : tensor<{m}x{k}xf16, #smem> -> tensor<{m}x{k}xf16>
  %r  = scf.for %n = 0 to %N step {n} iter_args(%c = %zo) -> tensor<{m}x{k}xf32> {{
    copy %B[%n, 0], %sb : memref<?x{k}xf16, #gmem> -> tensor<{n}x{k}xf16, #smem>
    copy %E[%n, 0], %se : memref<?x{k}xf16, #gmem> -> tensor<{n}x{k}xf16, #smem>
    %b  = tiled_load %sb : tensor<{n}x{k}xf16, #smem> -> tensor<{n}x{k}xf16>
    %bt = trans %b : tensor<{n}x{k}xf16> -> tensor<{k}x{n}xf16>
    %s  = mma %a, %bt, %zs : tensor<{m}x{n}xf32>
    %h  = cast %s : tensor<{m}x{n}xf32> -> tensor<{m}x{n}xf16>
    %p  = convert_layout %h : tensor<{m}x{n}xf16> -> tensor<{m}x{n}xf16>
    %e  = tiled_load %se : tensor<{n}x{k}xf16, #smem> -> tensor<{n}x{k}xf16>
    %d  = mma %p, %e, %c : tensor<{m}x{k}xf32>
    scf.yield %d : tensor<{m}x{k}xf32>
  }}
  tiled_store %r, %C[%m, 0] : tensor<{m}x{k}xf32> -> memref<?x{k}xf32, #gmem>
}}
"
    )
}

fn execute(
    arch: &str,
    source: &str,
    text: &str,
    threads: u32,
    buffers: &[(BufferId, u32, u32)],
    params: Vec<Param>,
    memory: &mut Memory,
) -> Result<(), String> {
    let mut params = params;
    params.extend(map_params(&kernel_maps(source, arch), buffers, memory));
    let kernel = parsed(text, arch).map_err(|e| e.to_string())?;
    let dynamic = if text.contains(".extern .shared") { 220 << 10 } else { 0 };
    let launch =
        Launch { dynamic_shared: dynamic, ..Launch::new(threads, params).banks(BankModel::none()) };
    run(&kernel, &launch, memory).map(|_| ()).map_err(|f| f.to_string())
}

/// How many elements of C are wrong that a text of [`stored`] computes.
///
/// # Errors
/// What the replay finds.
pub fn stored_wrong(
    arch: &str,
    source: &str,
    text: &str,
    (m, n, k, t): Shape,
) -> Result<usize, String> {
    let depth = 2 * k;
    let a: Vec<f32> = (0..m * depth).map(|i| ((i * 7 + i / depth) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..depth * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let (ia, ib, ic) = (
        memory.add_f16("A", &a),
        memory.add_f16("B", &b),
        memory.add_f32("C", &vec![7.0; (m * n) as usize]),
    );
    let matrix =
        |id, r: u32, c: u32| [Param::Buffer(id), Param::U32(r), Param::U32(c), Param::U32(c)];
    let mut params = [matrix(ia, m, depth), matrix(ib, depth, n), matrix(ic, m, n)].concat();
    params.extend([Param::U32(0), Param::U32(0), Param::U32(depth)]);
    execute(
        arch,
        source,
        text,
        t,
        &[(ia, m, depth), (ib, depth, n), (ic, m, n)],
        params,
        &mut memory,
    )?;
    let c = memory.f32s(ic);
    let want = |i: u32, j: u32| -> f32 {
        (0..depth).map(|x| a[(i * depth + x) as usize] * b[(x * n + j) as usize]).sum()
    };
    Ok((0..m * n).filter(|at| c[*at as usize] != want(at / n, at % n)).count())
}

/// The same for [`chained`].
///
/// # Errors
/// What the replay finds.
pub fn chained_wrong(
    arch: &str,
    source: &str,
    text: &str,
    (m, n, k, t): Shape,
) -> Result<usize, String> {
    let all = 2 * n;
    // Few ones, so that every sum is a small whole number that f16 holds.
    let ones = |rows: u32, salt: u32| -> Vec<f32> {
        (0..rows * k)
            .map(|i| {
                f32::from(u8::from(
                    (i.wrapping_mul(2_654_435_761) >> 13).wrapping_add(salt) % 9 == 0,
                ))
            })
            .collect()
    };
    let (a, b, e) = (ones(m, 1), ones(all, 4), ones(all, 7));
    let mut memory = Memory::new();
    let (ia, ib, ie) = (memory.add_f16("A", &a), memory.add_f16("B", &b), memory.add_f16("E", &e));
    let ic = memory.add_f32("C", &vec![7.0; (m * k) as usize]);
    let mut params = Vec::new();
    for (id, rows) in [(ia, m), (ib, all), (ie, all), (ic, m)] {
        params.extend([Param::Buffer(id), Param::U32(rows)]);
    }
    params.extend([Param::U32(0), Param::U32(all)]);
    execute(
        arch,
        source,
        text,
        t,
        &[(ia, m, k), (ib, all, k), (ie, all, k), (ic, m, k)],
        params,
        &mut memory,
    )?;
    let c = memory.f32s(ic);
    let s: Vec<f32> = (0..m * all)
        .map(|at| {
            (0..k).map(|x| a[(at / all * k + x) as usize] * b[(at % all * k + x) as usize]).sum()
        })
        .collect();
    let want = |i: u32, j: u32| -> f32 {
        (0..all).map(|x| s[(i * all + x) as usize] * e[(x * k + j) as usize]).sum()
    };
    Ok((0..m * k).filter(|at| c[*at as usize] != want(at / k, at % k)).count())
}

/// A product C = A * B of f16 with a loop over the depth.
#[must_use]
pub fn multiplied(shape: Shape) -> String {
    let text = stored(shape);
    let kept: Vec<&str> = text.lines().filter(|l| !l.contains("%sc")).collect();
    let (m, n, ..) = shape;
    let end = format!(
        "  tiled_store %r, %C[%m, %n] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>\n}}\n"
    );
    format!("{}\n{end}", kept.join("\n").trim_end().trim_end_matches('}').trim_end())
}
