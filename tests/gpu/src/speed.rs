//! How long example kernels take on a device, beside what they compute and move: launches of whole
//! grids, one after the other, between two events.
//!
//! `tests/gpu/peers.py` times the same work of the same sizes by Triton and PyTorch.

use crate::Device;
use crate::cases::{Case, Operand, noise};
use lanebook_kernels::example;
use lanebook_replay::Memory;
use serde::Serialize;
use std::collections::BTreeMap;

/// Launches that are timed together, after some that are not.
const RUNS: u32 = 20;

/// A kernel at a size.
struct Work {
    name: &'static str,
    /// Extents and bytes of an element: 2 are f16, 4 f32.
    operands: Vec<([u32; 2], u32)>,
    /// Numbers by the argument's name; those that are no indices by their bits.
    numbers: Vec<(&'static str, u32)>,
    /// Additions and multiplications.
    flops: f64,
    /// Bytes that go from and to memory at least.
    bytes: f64,
}

/// What a device took.
#[derive(Serialize)]
pub struct Taken {
    kernel: &'static str,
    arch: String,
    device: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    microseconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    teraflops: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gigabytes: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

impl Taken {
    /// Whether it ran.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.microseconds.is_some()
    }
}

fn product(name: &'static str, n: u32, result: u32, bias: bool) -> Work {
    let (matrix, size) = (([n, n], 2), f64::from(n));
    let mut operands = vec![matrix, matrix];
    if bias {
        operands.push(([1, n], 4));
    }
    operands.push(([n, n], result));
    Work {
        name,
        operands,
        numbers: vec![("M", n), ("N", n), ("K", n)],
        flops: 2.0 * size.powi(3),
        bytes: size * size * f64::from(4 + result),
    }
}

fn rows(name: &'static str, [m, n]: [u32; 2], of_columns: usize) -> Work {
    let mut operands = vec![([m, n], 4)];
    operands.extend(vec![([1, n], 4); of_columns]);
    operands.push(([m, n], 4));
    let numbers = vec![
        ("M", m),
        ("N", n),
        ("s", 1f32.to_bits()),
        ("i", (1.0 / n as f32).to_bits()),
        ("e", 1e-5f32.to_bits()),
    ];
    let bytes = f64::from(m) * f64::from(n) * 8.0;
    Work { name, operands, numbers, flops: 0.0, bytes }
}

fn works() -> Vec<Work> {
    let keys = 16384;
    let size = f64::from(keys);
    let of_keys = ([keys, 64], 2);
    let attention = Work {
        name: "attention_causal",
        operands: vec![of_keys, of_keys, of_keys, ([keys, 64], 4)],
        numbers: vec![("N", keys), ("s", 0.18f32.to_bits())],
        flops: 2.0 * size * size * 64.0,
        bytes: size * 64.0 * 10.0,
    };
    let side = 8192;
    let transpose = Work {
        name: "transpose_tails",
        operands: vec![([side, side], 2); 2],
        numbers: vec![("M", side), ("N", side)],
        flops: 0.0,
        bytes: f64::from(side).powi(2) * 4.0,
    };
    vec![
        product("gemm_stages", 4096, 4, false),
        product("gemm_warp_specialized", 4096, 4, false),
        product("gemm_bias_gelu", 4096, 2, true),
        attention,
        transpose,
        rows("softmax", [8192, 4096], 0),
        rows("layer_norm_rows", [8192, 4096], 2),
    ]
}

/// Times every kernel; what is refused says so.
pub fn all(device: &mut dyn Device, arch: &str, mut tell: impl FnMut(&Taken)) {
    for work in works() {
        let operand = |&(extents, bytes): &([u32; 2], u32)| {
            let count = extents[0] * extents[1];
            let values: Vec<f32> = (0..count).map(|i| noise(i % (1 << 20))).collect();
            let mut memory = Memory::new();
            let id =
                if bytes == 2 { memory.add_f16("", &values) } else { memory.add_f32("", &values) };
            Operand { extents: extents.to_vec(), bytes: memory.bytes(id).to_vec() }
        };
        let case = Case {
            name: work.name,
            program: example(&format!("{}.tile", work.name)),
            operands: work.operands.iter().map(operand).collect(),
            launches: vec![work.numbers.iter().copied().collect::<BTreeMap<_, _>>()],
            result: 0,
            want: Vec::new(),
            tolerance: 0.0,
        };
        let operands: Vec<_> = case.operands.iter().map(|o| o.bytes.clone()).collect();
        let taken = crate::job(&case, arch).and_then(|job| device.time(&job, &operands, RUNS));
        let rate = |work: f64, per: f64| {
            let taken = taken.as_ref().ok()?;
            (work > 0.0).then(|| (work / taken / per * 10.0).round() / 10.0)
        };
        tell(&Taken {
            kernel: work.name,
            arch: arch.to_string(),
            device: device.name(),
            microseconds: taken.as_ref().ok().map(|us| (us * 10.0).round() / 10.0),
            teraflops: rate(work.flops, 1e6),
            gigabytes: rate(work.bytes, 1e3),
            refused: taken.as_ref().err().cloned(),
        });
    }
}
