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
