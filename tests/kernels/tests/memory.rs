//! Shared memory as a limit: programs whose tiles fit only without their padding, or over each other's bytes, are compiled, multiply right, and
//! each fault in it is caught.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::compile::plan;
use lanebook::ir::{Options, Program, SmallStorage, parse, verify};
use lanebook::plan::{Candidate, Plan, Reject};
use lanebook_kernels::maps::{kernel_maps, map_params};
use lanebook_kernels::{Assembler, Room, try_kernel_text, with_kernel};
use lanebook_replay::{BankModel, BufferId, Kernel, Launch, Memory, Param, run};

/// Rows, columns and depth of a tile of a product, and threads.
type Shape = (u32, u32, u32, u32);

/// Machines, with a tile of which 64 or 96 KiB are nearly all there is.
const FULL: [(&str, Shape); 6] = [
    ("gfx908", (128, 128, 16, 256)),
    ("gfx942", (64, 256, 16, 256)),
    ("gfx1100", (128, 128, 16, 256)),
    ("gfx1200", (256, 64, 16, 256)),
    ("sm_89", (128, 128, 16, 256)),
    ("sm_89", (192, 128, 16, 256)),
];

/// A product whose result goes through shared memory.
fn stored((m, n, k, t): Shape) -> String {
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

/// Two products in a row, the first one's result through a conversion into the second: D = (A * B) * E, B and E tile by tile. While one half
/// of a turn goes on, the other half's tile is not needed.
fn chained((m, n, k, t): Shape) -> String {
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
    let kernel = if arch.starts_with("gfx") { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) }.map_err(|e| e.to_string())?;
    let dynamic = if text.contains(".extern .shared") { 220 << 10 } else { 0 };
    let launch = Launch { dynamic_shared: dynamic, ..Launch::new(threads, params).banks(BankModel::none()) };
    run(&kernel, &launch, memory).map(|_| ()).map_err(|f| f.to_string())
}

/// How many elements of C are wrong.
fn stored_wrong(arch: &str, source: &str, text: &str, (m, n, k, t): Shape) -> Result<usize, String> {
    let depth = 2 * k;
    let a: Vec<f32> = (0..m * depth).map(|i| ((i * 7 + i / depth) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..depth * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let (ia, ib, ic) = (memory.add_f16("A", &a), memory.add_f16("B", &b), memory.add_f32("C", &vec![7.0; (m * n) as usize]));
    let matrix = |id, r: u32, c: u32| [Param::Buffer(id), Param::U32(r), Param::U32(c), Param::U32(c)];
    let mut params = [matrix(ia, m, depth), matrix(ib, depth, n), matrix(ic, m, n)].concat();
    params.extend([Param::U32(0), Param::U32(0), Param::U32(depth)]);
    execute(arch, source, text, t, &[(ia, m, depth), (ib, depth, n), (ic, m, n)], params, &mut memory)?;
    let c = memory.f32s(ic);
    let want = |i: u32, j: u32| -> f32 { (0..depth).map(|x| a[(i * depth + x) as usize] * b[(x * n + j) as usize]).sum() };
    Ok((0..m * n).filter(|at| c[*at as usize] != want(at / n, at % n)).count())
}

fn chained_wrong(arch: &str, source: &str, text: &str, (m, n, k, t): Shape) -> Result<usize, String> {
    let all = 2 * n;
    // Few ones, so that every sum is a small whole number that f16 holds.
    let ones = |rows: u32, salt: u32| -> Vec<f32> {
        (0..rows * k).map(|i| f32::from(u8::from((i.wrapping_mul(2_654_435_761) >> 13).wrapping_add(salt) % 9 == 0))).collect()
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
    execute(arch, source, text, t, &[(ia, m, k), (ib, all, k), (ie, all, k), (ic, m, k)], params, &mut memory)?;
    let c = memory.f32s(ic);
    let s: Vec<f32> = (0..m * all).map(|at| (0..k).map(|x| a[(at / all * k + x) as usize] * b[(at % all * k + x) as usize]).sum()).collect();
    let want = |i: u32, j: u32| -> f32 { (0..all).map(|x| s[(i * all + x) as usize] * e[(x * k + j) as usize]).sum() };
    Ok((0..m * k).filter(|at| c[*at as usize] != want(at / k, at % k)).count())
}

fn with_plan<R>(text: &str, arch: &str, f: impl FnOnce(&Program<'_, '_>, &mut Plan<'_>) -> R) -> R {
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, text, Options::default()).expect("parses");
    verify(&mut program).expect("verifies");
    let mut room = Box::new(Room::new());
    let id = TABLES.arch_named(arch).expect("an architecture");
    let mut planned = plan(&TABLES, id, &mut program, room.scratch()).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    f(&program, &mut planned.plan)
}

fn checked(source: &str, arch: &str) {
    with_kernel(source, arch, |program, compiled, text| {
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{arch}: {v:?}"));
        check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
    });
}

/// A tile that fills the memory does without padding, and says so.
#[test]
fn a_tile_as_large_as_the_memory() {
    let mut without = 0;
    for (arch, shape) in FULL {
        let source = stored(shape);
        let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {shape:?}: {e}"));
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
        checked(&source, arch);
        assert_eq!(stored_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
        without += with_plan(&source, arch, |_, plan| {
            let room = TABLES.arch(plan.arch).expect("a machine").shared.max_bytes;
            assert!(plan.shared_bytes <= room, "{arch}");
            plan.losers.iter().filter(|l| matches!((l.what, l.why), (Candidate::Shared(_), Reject::Room { bytes, most }) if bytes > most)).count()
        });
    }
    assert!(without > 0, "no tile lost a layout to the others");
}

/// Machines and chains whose tiles fit only where a conversion has the bytes of a tile that its turn no longer needs.
const CHAINS: [(&str, Shape); 4] =
    [("sm_89", (32, 192, 128, 64)), ("sm_120a", (64, 192, 128, 128)), ("gfx942", (64, 128, 128, 256)), ("gfx1200", (64, 128, 128, 256))];

#[test]
fn scratch_over_tiles_of_the_same_turn() {
    let mut shared = 0;
    for (arch, shape) in CHAINS {
        let source = chained(shape);
        let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {shape:?}: {e}"));
        Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
        checked(&source, arch);
        assert_eq!(chained_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
        shared += with_plan(&source, arch, |program, plan| {
            let over = |k: usize, j: usize| {
                let (a, b) = (plan.allocs[k], plan.allocs[j]);
                a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes
            };
            let scratch: Vec<usize> = plan.exchanges.iter().map(|e| usize::from(e.alloc)).collect();
            let found: Vec<usize> = scratch.iter().copied().filter(|k| (1..3).any(|j| over(*k, j))).collect();
            // Over the tile that comes behind it is refused.
            for &k in &found {
                let old = plan.allocs[k].offset;
                plan.allocs[k].offset = plan.allocs[2].offset;
                let v = check::plan(&TABLES, program, plan).expect_err("the second product's tile is gone");
                assert!(matches!(v, Violation::Overlap { .. } | Violation::Segment { .. } | Violation::Base { .. }), "{v:?}");
                plan.allocs[k].offset = old;
            }
            found.len()
        });
    }
    assert!(shared > 0, "no conversion shares a tile's bytes");
}

/// Sums and factors of two products that do not fit into tensor memory as each of them would have them alone.
#[test]
fn products_that_share_tensor_memory() {
    let (arch, shape) = ("sm_100a", (128, 128, 128, 256));
    let source = chained(shape);
    let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {shape:?}: {e}"));
    Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
    checked(&source, arch);
    assert_eq!(chained_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
    with_plan(&source, arch, |_, plan| {
        let given_up = |why: Reject| matches!(why, Reject::Columns { need, have } if need > have && need <= 512);
        assert!(plan.products.iter().filter(|p| p.tensor.is_some()).count() == 2 && plan.losers.iter().any(|l| given_up(l.why)), "{arch}");
    });
}
