//! Tiles that begin far from their tensor's start: beyond what 32 bits hold, along rows, columns
//! and matrices, on every architecture; tiles that span too much are refused.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook_kernels::judge::execute;
use lanebook_kernels::try_kernel_text;
use lanebook_replay::{FaultKind, Memory, Param};

const ROWS: u64 = 32;
const COLS: u64 = 96;
/// Where the tiles begin.
const MATRIX: u64 = (1 << 14) + 3;
const ROW: u64 = 1 << 30;
const COL: u64 = (1 << 30) + 64;
/// Elements from matrix to matrix.
const APART: u64 = (1 << 29) - 32;

/// Moves 32 rows from one tensor to another, 32 columns a turn: through registers alone, through
/// shared memory, or with rows as columns.
fn program(batched: bool, body: &str) -> String {
    let (ty, start) = if batched { ("?x?x?", "%b, ") } else { ("?x?", "") };
    let body = body
        .replace("AT", &format!("[{start}%m, %k]"))
        .replace("MEM", &format!("memref<{ty}xf32, #gmem>"));
    format!(
        "func @far(%X: memref<{ty}xf32, #gmem>, %Y: memref<{ty}xf32, #gmem>, %b: index, %m: index, %n: index, %u: index) {{threads = 128}} {{
  scf.for %k = %n to %u step 32 {{
{body}
    scf.yield
  }}
}}"
    )
}

const BODIES: [&str; 3] = [
    "    %x = tiled_load %XAT : MEM -> tensor<32x32xf32>
    tiled_store %x, %YAT : tensor<32x32xf32> -> MEM",
    "    %s = alloc_tensor : tensor<32x32xf32, #smem>
    copy %XAT, %s : MEM -> tensor<32x32xf32, #smem>
    %x = tiled_load %s : tensor<32x32xf32, #smem> -> tensor<32x32xf32>
    tiled_store %x, %YAT : tensor<32x32xf32> -> MEM",
    "    %x = tiled_load %XAT : MEM -> tensor<32x32xf32>
    %t = trans %x : tensor<32x32xf32> -> tensor<32x32xf32>
    %z = arith.addf %t, %t : tensor<32x32xf32>
    %y = trans %z : tensor<32x32xf32> -> tensor<32x32xf32>
    tiled_store %y, %YAT : tensor<32x32xf32> -> MEM",
];

/// Whether the result is right; `wrap` keeps so many bits of the distance to the tile.
fn run(arch: &str, batched: bool, body: usize, wrap: u64) -> Result<bool, FaultKind> {
    let text = try_kernel_text(&program(batched, BODIES[body]), arch)
        .unwrap_or_else(|e| panic!("{arch}: {e}"));
    let mut memory = Memory::new();
    let count = (ROWS * COLS) as usize;
    let x: Vec<f32> = (0..count).map(|i| i as f32 + 0.5).collect();
    let (ix, iy) = (memory.add_f32("X", &x), memory.add_f32("Y", &vec![0.0; count]));
    let far = 4 * (ROW * COLS + COL + if batched { MATRIX * APART } else { 0 });
    let mut params = Vec::new();
    for id in [ix, iy] {
        params.push(Param::U64(memory.address(id).wrapping_sub(far & wrap)));
        if batched {
            params.push(Param::U32(u32::MAX >> 1));
        }
        params.extend([Param::U32(u32::MAX >> 1); 2]);
        if batched {
            params.push(Param::U32(APART as u32));
        }
        params.push(Param::U32(COLS as u32));
    }
    for n in [MATRIX, ROW, COL, COL + COLS] {
        params.push(Param::U32(n as u32));
    }
    execute(arch, &text, 128, params, &mut memory)?;
    let factor = if body == 2 { 2.0 } else { 1.0 };
    Ok(memory.f32s(iy).iter().zip(&x).all(|(y, x)| *y == factor * x))
}

#[test]
fn tiles_begin_anywhere() {
    for arch in TABLES.archs {
        for (batched, body) in [(false, 0), (false, 1), (true, 1), (false, 2)] {
            assert_eq!(run(arch.name, batched, body, u64::MAX), Ok(true), "{} {body}", arch.name);
        }
    }
}

/// One pointer that is moved by whole numbers of 64 bits: before it fills a tile, in a loop, and
/// alone; tiles reach in front of where it points to.
const POINTERS: &str = "tt.func @far(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %s: i64, %n: i32, %m: i32) attributes {threads = 128} {
  %n64 = arith.extsi %n : i32 to i64
  %m64 = arith.extsi %m : i32 to i64
  %row = arith.muli %n64, %m64 : i64
  %c9 = arith.constant -8589934592 : i64
  %begin = arith.addi %row, %c9 : i64
  %r = tt.make_range {start = 0 : i32, end = 128 : i32} : tensor<128xi32>
  %c64 = arith.constant dense<64> : tensor<128xi32>
  %z = arith.constant dense<0.000000e+00> : tensor<128xf32>
  %o = arith.subi %r, %c64 : tensor<128xi32>
  %p = tt.addptr %x, %begin : !tt.ptr<f32>, i64
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %a = tt.addptr %q, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %by = tt.splat %s : i64 -> tensor<128xi64>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %t:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%at = %a, %c = %z) -> (tensor<128x!tt.ptr<f32>>, tensor<128xf32>)  : i32 {
    %v = tt.load %at : tensor<128x!tt.ptr<f32>>
    %w = arith.addf %c, %v : tensor<128xf32>
    %next = tt.addptr %at, %by : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
    scf.yield %next, %w : tensor<128x!tt.ptr<f32>>, tensor<128xf32>
  }
  %one = tt.load %p : !tt.ptr<f32>
  %ones = tt.splat %one : f32 -> tensor<128xf32>
  %sum = arith.addf %t#1, %ones : tensor<128xf32>
  %u = tt.addptr %y, %row : !tt.ptr<f32>, i64
  %us = tt.splat %u : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %ua = tt.addptr %us, %r : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  tt.store %ua, %sum : tensor<128x!tt.ptr<f32>>
  tt.return
}";

/// Whether the kernel finds what lies so far from where its pointers point to: turns lie a number
/// of elements apart, one behind the other or in front.
fn pointers_run(program: &str, arch: &str, (n, m, step): (i32, i32, i64)) -> Result<bool, String> {
    let text = try_kernel_text(program, arch)?;
    let mut memory = Memory::new();
    let data: Vec<f32> = (0..512).map(|i| i as f32 + 0.5).collect();
    let (ix, iy) = (memory.add_f32("X", &data), memory.add_f32("Y", &[0.0; 128]));
    let far = i64::from(n) * i64::from(m);
    // All turns but the first are as far from it as the tensor is long.
    let first = if step < 0 { 384 } else { 64 };
    let bytes = |elements: i64| elements.wrapping_mul(4).cast_unsigned();
    let x = memory.address(ix).wrapping_sub(bytes(far - (1 << 33) - first));
    let y = memory.address(iy).wrapping_sub(bytes(far));
    let params = [Param::U64(x), Param::U64(y)]
        .into_iter()
        .chain([step as u32, (step >> 32) as u32, n as u32, m as u32].map(Param::U32));
    execute(arch, &text, 128, params.collect(), &mut memory).map_err(|e| format!("{e:?}"))?;
    let want = |i: i64| -> f32 {
        let turns = (0..3).map(|turn| data[(first + i - 64 + turn * step) as usize]);
        turns.sum::<f32>() + data[first as usize]
    };
    Ok(memory.f32s(iy).iter().zip(0..).all(|(y, i)| *y == want(i)))
}

/// The same moves as tiles of numbers of 64 bits: rows that lie a number of elements apart, columns
/// behind them.
fn of_tiles() -> String {
    let begin = "  %p = tt.addptr %x, %begin : !tt.ptr<f32>, i64
  %q = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %a = tt.addptr %q, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %by = tt.splat %s : i64 -> tensor<128xi64>
";
    let tiles = "  %p = tt.addptr %x, %begin : !tt.ptr<f32>, i64
  %q = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  %c99 = arith.constant dense<-8589934592> : tensor<128xi64>
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  %d = arith.constant dense<0> : tensor<128xi32>
  %nd = arith.addi %ns, %d : tensor<128xi32>
  %nl = arith.extsi %nd : tensor<128xi32> to tensor<128xi64>
  %ml = tt.splat %m64 : i64 -> tensor<128xi64>
  %rows = arith.muli %nl, %ml : tensor<128xi64>
  %ol = arith.extsi %o : tensor<128xi32> to tensor<128xi64>
  %all = arith.addi %rows, %ol : tensor<128xi64>
  %from = arith.addi %all, %c99 : tensor<128xi64>
  %a = tt.addptr %q, %from : tensor<128x!tt.ptr<f32>>, tensor<128xi64>
  %sl = tt.splat %s : i64 -> tensor<128xi64>
  %zl = arith.constant dense<0> : tensor<128xi64>
  %by = arith.addi %sl, %zl : tensor<128xi64>
";
    assert!(POINTERS.contains(begin));
    POINTERS.replace(begin, tiles)
}

#[test]
fn pointers_are_moved_anywhere() {
    for arch in ["sm_80", "sm_90a", "gfx90a", "gfx942", "gfx1030", "gfx1200"] {
        for (n, m, step) in [
            (3, 5, 96),
            (1 << 20, 1 << 14, 96),
            (-(1 << 21), (1 << 12) + 7, -112),
            ((1 << 28) - 1, 1, 128),
        ] {
            let given = (n, m, step);
            assert_eq!(pointers_run(POINTERS, arch, given), Ok(true), "{arch} {given:?}");
            assert_eq!(pointers_run(&of_tiles(), arch, given), Ok(true), "{arch} {given:?}");
        }
    }
}

/// What the other test would see of an address that is cut to 32 bits.
#[test]
fn a_start_that_is_cut_faults() {
    for arch in ["sm_80", "gfx942"] {
        assert_eq!(run(arch, false, 0, u64::from(u32::MAX)), Err(FaultKind::GlobalOutOfBounds));
    }
}

/// One row apart is the largest distance that is taken; types that say more are refused, and a
/// smaller tile is not.
#[test]
fn tiles_that_span_too_much_are_refused() {
    let text = |rows: u32, cols: u64| {
        format!(
            "func @far(%X: memref<64x{cols}xf32, #gmem>, %Y: memref<?x?xf32, #gmem>) {{threads = 128}} {{
  %x = tiled_load %X[0, 0] : memref<64x{cols}xf32, #gmem> -> tensor<{rows}x32xf32>
  tiled_store %x, %Y[0, 0] : tensor<{rows}x32xf32> -> memref<?x?xf32, #gmem>
}}"
        )
    };
    for arch in ["sm_80", "sm_90a", "gfx942", "gfx1200"] {
        for (rows, cols, bytes) in
            [(32, 1u64 << 25, 31u64 << 27 | 128), (2, 1 << 29, 1 << 31), (2, 1 << 31, 1 << 33)]
        {
            let error = try_kernel_text(&text(rows, cols), arch).unwrap_err();
            assert!(error.contains("GlobalReach"), "{arch}: {error}");
            assert!(error.contains(&format!("bytes: {bytes}")), "{arch}: {error}");
        }
        assert!(try_kernel_text(&text(8, 1 << 25), arch).is_ok());
    }
}
