//! The examples with operands and references: whole results, computed plainly on the host in f64.

use lanebook_kernels::{e4m3, example};
use lanebook_replay::Memory;
use std::collections::BTreeMap;

/// An operand: its extents, outermost first, and its bytes before the launch.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Extents of a dense tensor.
    pub extents: Vec<u32>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A program with operands and what must come out.
#[derive(Clone, Debug)]
pub struct Case {
    /// The example's name.
    pub name: &'static str,
    /// The program.
    pub program: String,
    /// In the order of the kernel's arguments.
    pub operands: Vec<Operand>,
    /// Numbers of each launch, by the argument's name: of a whole grid where the program says one,
    /// else of one block.
    pub launches: Vec<BTreeMap<&'static str, u32>>,
    /// Which operand is the result, of f32.
    pub result: usize,
    /// What it must hold.
    pub want: Vec<f64>,
    /// How far an element may be off, absolutely and by its size; 0: it is exact.
    pub tolerance: f64,
}

impl Case {
    /// Elements of the result that are wrong, and operands that were changed though they are only
    /// read.
    #[must_use]
    pub fn wrong(&self, after: &[Vec<u8>]) -> usize {
        let mut wrong = usize::from(after.len() != self.operands.len());
        for (k, (operand, bytes)) in self.operands.iter().zip(after).enumerate() {
            if k != self.result {
                wrong += usize::from(operand.bytes != *bytes);
                continue;
            }
            let (got, rest) = bytes.as_chunks::<4>();
            wrong += got.len().abs_diff(self.want.len()) + rest.len();
            for (got, want) in got.iter().zip(&self.want) {
                let got = f64::from(f32::from_le_bytes(*got));
                let near = (got - want).abs() <= self.tolerance * (1.0 + want.abs());
                wrong += usize::from(!near);
            }
        }
        wrong
    }
}

pub(crate) fn f16(extents: [u32; 2], values: &[f32]) -> Operand {
    let mut memory = Memory::new();
    let id = memory.add_f16("", values);
    Operand { extents: extents.to_vec(), bytes: memory.bytes(id).to_vec() }
}

pub(crate) fn f32s(extents: [u32; 2], values: &[f32]) -> Operand {
    Operand {
        extents: extents.to_vec(),
        bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    }
}

/// An f32 result that nothing has written yet: not a number anywhere.
pub(crate) fn unwritten(extents: [u32; 2]) -> Operand {
    f32s(extents, &vec![f32::NAN; (extents[0] * extents[1]) as usize])
}

/// A number of no pattern in [-1, 1).
pub(crate) fn noise(i: u32) -> f32 {
    let mut x = i.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x = (x ^ (x >> 15)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    ((x ^ (x >> 16)) & 0xffff) as f32 / 32768.0 - 1.0
}

/// Whole numbers from -limit to limit.
pub(crate) fn whole(count: u32, salt: u32, limit: f32) -> Vec<f32> {
    (0..count).map(|i| (noise(i + salt) * (limit + 1.0)).trunc()).collect()
}

/// How the operands of a GEMM lie.
#[derive(Clone, Copy)]
struct Product {
    name: &'static str,
    /// B is n x k.
    by_columns: bool,
    /// Elements are e4m3 instead of f16.
    bytes: bool,
}

const PRODUCTS: [Product; 4] = [
    Product { name: "gemm", by_columns: false, bytes: false },
    Product { name: "gemm_bt", by_columns: true, bytes: false },
    Product { name: "gemm_store", by_columns: false, bytes: false },
    Product { name: "gemm_fp8", by_columns: true, bytes: true },
];

fn product(kind: Product, m: u32, n: u32, k: u32) -> Case {
    let (a, b) = (whole(m * k, 1, 7.0), whole(k * n, 1 << 20, 7.0));
    let (rows, cols) = if kind.by_columns { (n, k) } else { (k, n) };
    let operand = |extents: [u32; 2], values: &[f32]| {
        if kind.bytes {
            Operand { extents: extents.to_vec(), bytes: values.iter().map(|v| e4m3(*v)).collect() }
        } else {
            f16(extents, values)
        }
    };
    let at = |x: u32, j: u32| if kind.by_columns { j * k + x } else { x * n + j };
    let mut want = Vec::new();
    for i in 0..m {
        for j in 0..n {
            want.push(
                (0..k)
                    .map(|x| f64::from(a[(i * k + x) as usize]) * f64::from(b[at(x, j) as usize]))
                    .sum(),
            );
        }
    }
    let tiles = (0..m).step_by(128).flat_map(|i| (0..n).step_by(128).map(move |j| (i, j)));
    Case {
        name: kind.name,
        program: example(&format!("{}.tile", kind.name)),
        operands: vec![operand([m, k], &a), operand([rows, cols], &b), unwritten([m, n])],
        launches: tiles.map(|(i, j)| BTreeMap::from([("m", i), ("n", j), ("K", k)])).collect(),
        result: 2,
        want,
        tolerance: 0.0,
    }
}

fn transpose(m: u32, n: u32) -> Case {
    let a: Vec<f32> = (0..m * n).map(noise).collect();
    let want = (0..m * n).map(|at| f64::from(a[(at % m * n + at / m) as usize])).collect();
    let tiles = (0..m).step_by(64).flat_map(|i| (0..n).step_by(64).map(move |j| (i, j)));
    Case {
        name: "transpose",
        program: example("transpose.tile"),
        operands: vec![f32s([m, n], &a), unwritten([n, m])],
        launches: tiles.map(|(i, j)| BTreeMap::from([("m", i), ("n", j)])).collect(),
        result: 1,
        want,
        tolerance: 0.0,
    }
}

fn attention(rows: u32, keys: u32) -> Case {
    let depth = 64u32;
    let scale = std::f64::consts::LOG2_E * 0.125;
    let half = |v: f32| (v * 64.0).round() / 64.0;
    let q: Vec<f32> = (0..rows * depth).map(|i| half(noise(i) * 3.0)).collect();
    let k: Vec<f32> = (0..keys * depth).map(|i| half(noise(i + (1 << 20)) * 1.5)).collect();
    let v: Vec<f32> = (0..keys * depth).map(|i| half(noise(i + (2 << 20)) * 2.0)).collect();
    let mut want = Vec::new();
    for row in 0..rows {
        let dot = |key: u32| {
            (0..depth)
                .map(|d| {
                    f64::from(q[(row * depth + d) as usize])
                        * f64::from(k[(key * depth + d) as usize])
                })
                .sum::<f64>()
        };
        let scores: Vec<f64> = (0..keys).map(|key| dot(key) * scale).collect();
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|s| (s - top).exp2()).collect();
        let sum: f64 = weights.iter().sum();
        for d in 0..depth {
            want.push(
                (0..keys)
                    .map(|key| weights[key as usize] * f64::from(v[(key * depth + d) as usize]))
                    .sum::<f64>()
                    / sum,
            );
        }
    }
    Case {
        name: "attention",
        program: example("attention.tile"),
        operands: vec![
            f16([rows, depth], &q),
            f16([keys, depth], &k),
            f16([keys, depth], &v),
            unwritten([rows, depth]),
        ],
        launches: (0..rows)
            .step_by(64)
            .map(|at| BTreeMap::from([("m", at), ("N", keys)]))
            .collect(),
        result: 3,
        want,
        // The weights are rounded to f16 before the second product.
        tolerance: 2e-3,
    }
}

fn layer_norm(rows: u32) -> Case {
    let cols = 1024u32;
    let x: Vec<f32> = (0..rows * cols).map(|i| noise(i) * 3.0 + (i / cols) as f32 * 0.5).collect();
    let (w, b): (Vec<f32>, Vec<f32>) = (
        (0..cols).map(|i| 1.0 + noise(i + 77)).collect(),
        (0..cols).map(|i| noise(i + 7777)).collect(),
    );
    let mut want = Vec::new();
    for line in x.chunks(cols as usize) {
        let mean = line.iter().map(|v| f64::from(*v)).sum::<f64>() / f64::from(cols);
        let variance =
            line.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / f64::from(cols);
        want.extend(line.iter().zip(w.iter().zip(&b)).map(|(v, (w, b))| {
            (f64::from(*v) - mean) / (variance + 1e-5).sqrt() * f64::from(*w) + f64::from(*b)
        }));
    }
    Case {
        name: "layer_norm",
        program: example("layer_norm.tile"),
        operands: vec![
            f32s([rows, cols], &x),
            f32s([1, cols], &w),
            f32s([1, cols], &b),
            unwritten([rows, cols]),
        ],
        launches: (0..rows).step_by(8).map(|at| BTreeMap::from([("m", at)])).collect(),
        result: 3,
        want,
        tolerance: 1e-4,
    }
}

/// Every case; `tiles` by `tiles` tiles of each result, and so many steps of each loop.
#[must_use]
pub fn all(tiles: u32) -> Vec<Case> {
    let mut out: Vec<Case> = PRODUCTS
        .into_iter()
        .map(|kind| product(kind, 128 * tiles, 128 * tiles, 128 * tiles))
        .collect();
    out.extend([
        transpose(64 * (tiles + 1), 64 * tiles),
        attention(64 * tiles, 64 * (tiles + 1)),
        layer_norm(8 * tiles),
    ]);
    out.extend(crate::grids::all(tiles));
    out
}
