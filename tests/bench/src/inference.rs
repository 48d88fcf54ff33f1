//! Layout inference: of the kernels that TileLang's was timed with, and by the number of loops. Telling
//! the program is counted as well.
use crate::clock::Effort;
use crate::peer::TILELANG;
use crate::report::Report;
use lanebook::TABLES;
use lanebook::infer::Inference;
use lanebook::ir::{LargeStorage, Options, isolate_kernel, parse, verify};
use lanebook::loops::lay_shared;
use lanebook_inference_tests::program::tell;
use lanebook_inference_tests::unit::{arch, figures, unit};
use lanebook_report::memory::{LoopMemory, LoopRoom};
use serde_json::{Value, json};
use std::time::Instant;

/// The section's heading.
pub const SECTION: &str = "Layout inference";

fn buffer(name: &str, shape: &[u32], dtype: &str, scope: &str) -> Value {
    json!({ "name": name, "shape": shape, "dtype": dtype, "scope": scope })
}

fn copy(src: &str, dst: &str) -> Value {
    json!({ "op": "copy", "src": src, "dst": dst })
}

fn fill(dst: &str) -> Value {
    json!({ "op": "fill", "dst": dst, "value": 0 })
}

/// One tile of a product: 128 x 128 x 32 in f16 with f32 sums.
fn gemm(target: &str, threads: u32) -> Value {
    json!({
        "id": "gemm", "target": target, "threads": threads,
        "buffers": [
            buffer("A", &[128, 32], "float16", "global"), buffer("B", &[32, 128], "float16", "global"),
            buffer("C", &[128, 128], "float32", "global"),
            buffer("sa", &[128, 32], "float16", "shared"), buffer("sb", &[32, 128], "float16", "shared"),
            buffer("c", &[128, 128], "float32", "fragment"),
        ],
        "ops": [
            fill("c"), copy("A", "sa"), copy("B", "sb"),
            json!({ "op": "gemm", "a": "sa", "b": "sb", "c": "c", "ta": false, "tb": false }),
            copy("c", "C"),
        ],
    })
}

fn load(name: &str, index: &[&str]) -> Value {
    json!(["load", name, index])
}

fn each(extents: &[u32], name: &str, value: Value) -> Value {
    let names = ["i", "j"];
    let vars: Vec<Value> = extents.iter().zip(names).map(|(n, v)| json!([v, n])).collect();
    let index = &names[..extents.len()];
    json!({ "op": "parallel", "vars": vars, "body": [{ "st": "store", "buf": name, "idx": index, "val": value }] })
}

fn reduce(kind: &str, src: &str, dst: &str) -> Value {
    json!({ "op": "reduce", "kind": kind, "src": src, "dst": dst, "dim": 1 })
}

/// A turn of attention with a running softmax, for 64 rows of Q and 64 of K and V.
fn attention(target: &str, depth: u32) -> Value {
    let tile = [64, depth];
    let mut buffers = Vec::new();
    for name in ["Q", "K", "V"] {
        buffers.push(buffer(name, &tile, "float16", "global"));
        buffers.push(buffer(&format!("s{name}"), &tile, "float16", "shared"));
    }
    buffers.push(buffer("O", &tile, "float32", "global"));
    buffers.push(buffer("s", &[64, 64], "float32", "fragment"));
    buffers.push(buffer("p", &[64, 64], "float16", "fragment"));
    buffers.push(buffer("o", &tile, "float32", "fragment"));
    for name in ["mx", "old", "scale", "sum", "l"] {
        buffers.push(buffer(name, &[64], "float32", "fragment"));
    }
    let (ij, i) = (["i", "j"], ["i"]);
    let ops = json!([
        copy("Q", "sQ"), fill("o"), fill("l"), fill("mx"),
        copy("K", "sK"), fill("s"),
        { "op": "gemm", "a": "sQ", "b": "sK", "c": "s", "ta": false, "tb": true, "policy": "FullRow" },
        copy("mx", "old"), reduce("max", "s", "mx"),
        each(&[64], "scale", json!(["-", load("old", &i), load("mx", &i)])),
        each(&[64, 64], "s", json!(["-", load("s", &ij), load("mx", &i)])),
        reduce("sum", "s", "sum"),
        each(&[64], "l", json!(["+", ["*", load("l", &i), load("scale", &i)], load("sum", &i)])),
        copy("s", "p"),
        each(&tile, "o", json!(["*", load("o", &ij), load("scale", &i)])),
        copy("V", "sV"),
        { "op": "gemm", "a": "p", "b": "sV", "c": "o", "policy": "FullRow" },
        each(&tile, "o", json!(["*", load("o", &ij), load("l", &i)])),
        copy("o", "O"),
    ]);
    json!({ "id": "attention", "target": target, "threads": 128, "buffers": buffers, "ops": ops })
}

/// How loops hang together, by name: buffers that loop `k` reads and writes.
type Shape = (&'static str, fn(u32) -> (u32, u32));

const SHAPES: [Shape; 4] = [
    ("a chain", |k| (k, k + 1)),
    ("all over one buffer", |k| (0, k + 1)),
    ("apart", |k| (2 * k, 2 * k + 1)),
    ("in two widths by turns", |k| (k, k + 1)),
];

/// `count` loops over fragments of 64 x 64, the first of them filled from memory.
fn loops((name, joined): Shape, count: u32) -> Value {
    let mut buffers = vec![buffer("G", &[64, 64], "float16", "global")];
    let most = (0..count).map(|k| joined(k).1).max().unwrap_or(0);
    let by_turns = name.contains("turns");
    for k in 0..=most {
        let dtype = if by_turns && k % 2 == 1 { "float32" } else { "float16" };
        buffers.push(buffer(&format!("f{k}"), &[64, 64], dtype, "fragment"));
    }
    let ops: Vec<Value> = (0..count)
        .map(|k| {
            let (from, to) = joined(k);
            let from = load(&format!("f{from}"), &["i", "j"]);
            let from = if k == 0 { load("G", &["i", "j"]) } else { from };
            each(&[64, 64], &format!("f{to}"), json!(["+", from, 1]))
        })
        .collect();
    json!({ "id": name, "target": "sm_80", "threads": 128, "buffers": buffers, "ops": ops })
}

/// The least time in microseconds of several inferences.
fn microseconds(memory: &mut LoopMemory, program: &Value, effort: Effort) -> f64 {
    let target = program["target"].as_str().unwrap_or_default();
    let machine = figures(arch(target).expect("an architecture"));
    let policy = TABLES.policies.first().expect("a policy");
    let mut least = f64::INFINITY;
    for _ in 0..effort.times(9) {
        let mut inference = Inference::new(memory.parts().inference, machine);
        tell(&mut inference, program, &unit).unwrap_or_else(|e| panic!("{}: {e}", program["id"]));
        let start = Instant::now();
        inference.run(policy, &mut ()).unwrap_or_else(|e| panic!("{}: {e:?}", program["id"]));
        least = least.min(start.elapsed().as_nanos() as f64 / 1e3);
    }
    least
}

/// The least time in microseconds of inference and of the layouts of shared tiles, together, of an
/// example in loops.
fn with_shared(memory: &mut LoopMemory, name: &str, target: &str, effort: Effort) -> f64 {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gen/cli/examples/loops");
    let text = std::fs::read_to_string(format!("{path}/{name}.tile"))
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut pools = Box::new(LargeStorage::new());
    let mut program = parse(pools.pools(), &TABLES, &text, Options::default())
        .unwrap_or_else(|e| panic!("{name}: {e:?}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let function = isolate_kernel(&mut program, None).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let (machine, policy) = (arch(target).expect("an architecture"), &TABLES.policies[0]);
    let mut least = f64::INFINITY;
    for _ in 0..effort.times(9) {
        let mut told = lanebook::loops::tell(&program, function, &TABLES, machine, memory.parts())
            .unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let start = Instant::now();
        told.inference.run(policy, &mut ()).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        lay_shared(&mut told, &program, &TABLES, machine, &mut ())
            .unwrap_or_else(|e| panic!("{name}: {e:?}"));
        least = least.min(start.elapsed().as_nanos() as f64 / 1e3);
    }
    least
}

/// Measures kernels and growth.
///
/// # Panics
/// If a program is refused.
pub fn measure(report: &mut Report) {
    let mut memory = LoopMemory::default();
    // TileLang's median in milliseconds.
    let kernels = [
        ("gemm on sm_80", gemm("sm_80", 128), 200.0, 237.7),
        ("gemm on sm_90", gemm("sm_90", 128), 200.0, 12.0),
        ("gemm on gfx942", gemm("gfx942", 256), 200.0, 64.4),
        ("attention, 64 deep, on sm_80", attention("sm_80", 64), 1000.0, 1038.7),
        ("attention, 64 deep, on sm_90", attention("sm_90", 64), 1000.0, 242.7),
        ("attention, 64 deep, on gfx942", attention("gfx942", 64), 1000.0, 224.4),
        ("attention, 128 deep, on sm_80", attention("sm_80", 128), 1000.0, 726.9),
        ("attention, 128 deep, on sm_90", attention("sm_90", 128), 1000.0, 186.6),
        ("attention, 128 deep, on gfx942", attention("gfx942", 128), 1000.0, 311.8),
    ];
    for (what, program, budget, peer) in kernels {
        let took = microseconds(&mut memory, &program, report.effort);
        report.held(SECTION, what, took, "us", budget, "the budget");
        report.held(
            SECTION,
            format!("{what}, beside TileLang"),
            took,
            "us",
            peer * 1e3,
            TILELANG.to_string(),
        );
    }
    for (name, budget) in [("gemm", 200.0), ("attention", 1000.0)] {
        for target in ["sm_80", "sm_90", "gfx942"] {
            let took = with_shared(&mut memory, name, target, report.effort);
            let what = format!("{name} in loops, shared tiles laid out too, on {target}");
            report.held(SECTION, what, took, "us", budget, "the budget");
        }
    }
    let sizes: &[u32] = match report.effort {
        Effort::Full => &[4, 40, 400, 2000],
        Effort::Once => &[4],
    };
    let mut memory =
        LoopMemory::sized(LoopRoom { operators: 4100, buffers: 4100, ..LoopRoom::default() });
    for shape in SHAPES {
        let mut first = None;
        for size in sizes {
            let each =
                microseconds(&mut memory, &loops(shape, *size), report.effort) / f64::from(*size);
            let least = *first.get_or_insert(each);
            let what = format!("{size} loops, {}: a loop", shape.0);
            report.held(
                SECTION,
                what,
                each,
                "us/loop",
                least,
                "a loop of the smallest program of its shape",
            );
        }
    }
}
