//! Tiles of tensor memory: what is stored into them, added to them and loaded from them, in a row and
//! in loops.

use super::generate::Generator;
use super::program::{Argument, Statement};

/// What statements on these tiles are made of.
struct Sums {
    /// Types of the factors in shared memory, of a tile in registers and of one in tensor memory.
    a: String,
    b: String,
    tile: String,
    sums: String,
    /// How many tiles there are.
    count: usize,
    /// How many names there are.
    names: usize,
    /// A tile in registers.
    held: String,
}

fn line(g: &mut Generator, text: String) {
    g.push(Statement::Line(text));
}

impl Sums {
    /// A product that adds to a tile, or one that is told whether it does.
    fn product(&self, g: &mut Generator, k: usize, told: &str) {
        let Self { a, b, sums, .. } = self;
        line(g, format!("tc_gen5_mma %sa, %sb, %s{k}{told} : {a}, {b}, {sums}"));
    }

    /// Any statement on one of the tiles.
    fn any(&mut self, g: &mut Generator) {
        let k = g.choices.below(self.count);
        let truths = ["%yes", "%yes", "%no"];
        let (adds, done) = (g.choices.of(&truths), g.choices.of(&truths));
        let (tile, sums) = (&self.tile, &self.sums);
        self.names += 1;
        let number = self.names;
        match g.choices.below(4) {
            0 => line(g, format!("tmem_store {}, %s{k}, {done} : {tile} -> {sums}", self.held)),
            1 => {
                line(g, format!("%r{number} = tmem_load %s{k} : {sums} -> {tile}"));
                line(g, format!("%h{number} = add %r{number}, %d : {tile}"));
                self.held = format!("%h{number}");
            }
            _ => self.product(g, k, &format!(", {adds}, {done}")),
        }
    }
}

/// One or two tiles, whose difference is stored.
pub(super) fn sums(g: &mut Generator) {
    let (element, div) = g.choices.of(&[("f16", 8), ("bf16", 8), ("e4m3", 16), ("e5m2", 16)]);
    let (rows, cols) = (g.choices.of(&[64, 128, 128, 256]), g.choices.of(&[16, 32, 64]));
    g.program.threads = if rows == 256 { 256 } else { g.choices.of(&[128, 128, 256]) };
    let first = g.program.arguments.len();
    let of = |extents: Vec<Option<u32>>, element, div| Argument::Tensor {
        extents,
        element,
        align: 16,
        div,
        bounds: Vec::new(),
    };
    for _ in 0..2 {
        g.program.arguments.push(of(vec![None, None], element, div));
    }
    for _ in 0..2 {
        g.program.arguments.push(of(vec![Some(rows), Some(cols)], "f32", 1));
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| format!("%A{}", first + k));
    let from = format!("memref<?x?x{element}, #gmem>");
    let to = format!("memref<{rows}x{cols}xf32, #gmem>");
    let mut made = Sums {
        a: format!("tensor<{rows}x64x{element}, #smem>"),
        b: format!("tensor<64x{cols}x{element}, #smem>"),
        tile: format!("tensor<{rows}x{cols}xf32>"),
        sums: format!("tensor<{rows}x{cols}xf32, #tmem>"),
        count: 1 + g.choices.below(2),
        names: 0,
        held: "%d".to_string(),
    };
    let (tile, sums) = (made.tile.clone(), made.sums.clone());
    line(g, format!("%sa = alloc_tensor : {}", made.a));
    line(g, format!("%sb = alloc_tensor : {}", made.b));
    line(g, "%yes = constant 1 : index".to_string());
    line(g, "%no = constant 0 : index".to_string());
    line(g, format!("%d = tiled_load {d}[0, 0] : {to} -> {tile}"));
    for k in 0..made.count {
        let text = match g.choices.below(2) {
            0 => format!("%s{k} = tmem_alloc : {sums}"),
            _ => format!("%s{k} = ttng.tmem_alloc %d : ({tile}) -> {sums}"),
        };
        line(g, text);
    }
    let copies = |g: &mut Generator, made: &Sums, at: &str| {
        line(g, format!("copy {a}[0, {at}], %sa : {from} -> {}", made.a));
        line(g, format!("copy {b}[{at}, 0], %sb : {from} -> {}", made.b));
    };
    copies(g, &made, "0");
    for _ in 0..g.choices.below(3) {
        made.any(g);
    }
    if g.choices.below(3) > 0 {
        let held = made.held.clone();
        g.open();
        copies(g, &made, "%k");
        for k in 0..made.count {
            made.product(g, k, ", %yes, %yes");
        }
        for _ in 0..g.choices.below(3) {
            made.any(g);
        }
        line(g, "scf.yield".to_string());
        g.close("scf.for %k = 0 to %K step 64 {".to_string());
        made.held = held;
    }
    for k in 0..made.count {
        made.product(g, k, "");
    }
    line(g, format!("%e0 = tmem_load %s0 : {sums} -> {tile}"));
    let last = if made.count == 1 { "%e0" } else { "%e" };
    if made.count > 1 {
        line(g, format!("%e1 = tmem_load %s1 : {sums} -> {tile}"));
        line(g, format!("%e = sub %e0, %e1 : {tile}"));
    }
    line(g, format!("tiled_store {last}, {c}[0, 0] : {tile} -> {to}"));
}
