//! Programs that say their own grid, launched whole: sizes that are multiples of nothing where the
//! program takes them.

use crate::cases::{Case, f16, f32s, noise, unwritten, whole};
use lanebook_kernels::tested;
use std::collections::BTreeMap;

/// A case of a tested program in one launch.
fn case(
    name: &'static str,
    operands: Vec<crate::cases::Operand>,
    values: &[(&'static str, u32)],
    want: Vec<f64>,
    tolerance: f64,
) -> Case {
    Case {
        name,
        program: tested(name),
        result: operands.len() - 1,
        operands,
        launches: vec![values.iter().copied().collect::<BTreeMap<_, _>>()],
        want,
        tolerance,
    }
}

/// A product of f16 in whole numbers, so that its sums are exact.
fn product(name: &'static str, [m, n, k]: [u32; 3]) -> Case {
    let (a, b) = (whole(m * k, 3, 7.0), whole(k * n, 1 << 19, 7.0));
    let mut want = Vec::new();
    for at in 0..m * n {
        let (i, j) = (at / n, at % n);
        let terms =
            (0..k).map(|x| f64::from(a[(i * k + x) as usize]) * f64::from(b[(x * n + j) as usize]));
        want.push(terms.sum());
    }
    let operands = vec![f16([m, k], &a), f16([k, n], &b), unwritten([m, n])];
    case(name, operands, &[("M", m), ("N", n), ("K", k)], want, 0.0)
}

/// Twice every element.
fn doubled(name: &'static str, [m, n]: [u32; 2]) -> Case {
    let a: Vec<f32> = (0..m * n).map(noise).collect();
    let want = a.iter().map(|v| f64::from(*v) * 2.0).collect();
    case(name, vec![f32s([m, n], &a), unwritten([m, n])], &[("M", m), ("N", n)], want, 0.0)
}

/// Powers of two of each row, less its greatest, over one more than the sum of those that a row of
/// weights counts. What lies outside of the row counts as 0.
fn softmax(name: &'static str, [m, n]: [u32; 2]) -> Case {
    let x: Vec<f32> = (0..m * n).map(|i| noise(i) * 3.0).collect();
    let weights: Vec<f32> = (0..n).map(|j| (j % 3) as f32).collect();
    let mut want = Vec::new();
    for row in x.chunks(n as usize) {
        let top = row.iter().copied().fold(0.0, f32::max);
        let powers: Vec<f64> = row
            .iter()
            .zip(&weights)
            .map(|(v, w)| (f64::from(*v) - f64::from(top)).exp2() * f64::from(*w))
            .collect();
        let sum = powers.iter().sum::<f64>() + 1.0;
        want.extend(powers.iter().map(|p| p / sum));
    }
    let rows: Vec<f32> = (0..16 * n).map(|at| weights[(at % n) as usize]).collect();
    let operands = vec![f32s([m, n], &x), f32s([16, n], &rows), unwritten([m, n])];
    case(name, operands, &[("M", m), ("N", n)], want, 1e-5)
}

/// The cases; extents grow with `tiles`.
#[must_use]
pub fn all(tiles: u32) -> Vec<Case> {
    vec![
        product("grid_gemm_swizzled", [64 * (tiles + 1), 64 * (tiles + 2), 32 * tiles]),
        product("tails_gemm_f16", [64 * tiles + 37, 64 * tiles + 13, 32 * tiles + 5]),
        doubled("grid_of_copies", [32 * (tiles + 1), 64 * tiles]),
        doubled("persistent_blocks", [16 * (tiles + 2), 48 * (tiles + 1)]),
        softmax("tails_softmax", [16 * tiles + 5, 77]),
    ]
}
