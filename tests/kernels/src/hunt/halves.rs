//! Elements of half a byte: taken apart, put together, multiplied, with block scales and without.

use super::generate::Generator;
use super::program::{Id, Type};

const HALVES: [&str; 3] = ["i4", "u4", "e2m1"];
const WIDE: [&str; 8] = ["f32", "f16", "bf16", "i32", "i8", "u8", "f64", "i16"];

pub(super) fn halves(g: &mut Generator) {
    match g.choices.below(4) {
        0 => apart(g),
        1 => together(g),
        2 => products(g),
        _ => scaled(g),
    }
}

fn shape(g: &mut Generator) -> (u32, u32) {
    (g.choices.of(&[16, 32, 64, 48, 8]), g.choices.of(&[32, 64, 96, 128, 16, 80]))
}

/// A tile, along its rows or along its columns.
fn tile(g: &mut Generator, ty: &Type) -> Id {
    if g.choices.once_in(3) { g.load_transposed(ty) } else { g.load(ty) }
}

fn apart(g: &mut Generator) {
    let (rows, cols) = shape(g);
    let ty = Type::of(rows, cols, g.choices.of(&HALVES));
    for _ in 0..1 + g.choices.below(2) {
        let from = tile(g, &ty);
        let from =
            if g.choices.once_in(4) { g.op("trans", vec![from], ty.flipped(), "") } else { from };
        let wide = g.ty(from).with(g.choices.of(&WIDE));
        let value = g.op("cast", vec![from], wide.clone(), "");
        let value = match g.choices.below(3) {
            0 => g.op("add", vec![value, value], wide, ""),
            _ => value,
        };
        g.store(value);
    }
}

fn together(g: &mut Generator) {
    let (rows, cols) = shape(g);
    let ty = Type::of(rows, cols, g.choices.of(&WIDE));
    let from = g.load(&ty);
    let ty = g.ty(from);
    let from =
        if g.choices.once_in(4) { g.op("trans", vec![from], ty.flipped(), "") } else { from };
    let narrow = g.ty(from).with(g.choices.of(&HALVES));
    let value = g.op("cast", vec![from], narrow, "");
    g.store(value);
}

/// Two factors, neighbours along the depth two by two.
fn factors(g: &mut Generator, (m, n, k): (u32, u32, u32), of: [&'static str; 2]) -> (Id, Id) {
    let [of_a, of_b] = of;
    (g.load(&Type::of(m, k, of_a)), g.load_transposed(&Type::of(k, n, of_b)))
}

fn in_turns(g: &mut Generator, zero: Id, body: impl FnOnce(&mut Generator, Id) -> Id) {
    let sum = if g.choices.once_in(2) {
        body(g, zero)
    } else {
        g.repeat(&[zero], |g, inside| vec![body(g, inside[0])])[0]
    };
    g.store(sum);
}

fn products(g: &mut Generator) {
    let at @ (m, n, _) = (
        g.choices.of(&[16, 32, 64, 128]),
        g.choices.of(&[16, 32, 64, 8]),
        g.choices.of(&[64, 128, 32, 256]),
    );
    let of = [g.choices.of(&HALVES), g.choices.of(&HALVES)];
    let to = if of.contains(&"e2m1") { "f32" } else { "i32" };
    let sum = Type::of(m, n, to);
    let zero = g.constant(sum.clone(), if to == "f32" { "0.0" } else { "0" });
    in_turns(g, zero, |g, before| {
        let (a, b) = factors(g, at, of);
        g.op("mma", vec![a, b, before], sum, "")
    });
}

fn scaled(g: &mut Generator) {
    let at @ (m, n, k) = (
        g.choices.of(&[64, 128, 32, 16]),
        g.choices.of(&[64, 128, 32, 16]),
        g.choices.of(&[128, 64, 256]),
    );
    let (scale, run) = g.choices.of(&[("e8m0", 32), ("ue4m3", 16)]);
    let sum = Type::of(m, n, "f32");
    let zero = g.constant(sum.clone(), "0.0");
    in_turns(g, zero, |g, before| {
        let (a, b) = factors(g, at, ["e2m1"; 2]);
        let scales = [m, n].map(|rows| g.load(&Type::of(rows, k / run, scale)));
        g.op("mma_scaled", vec![a, b, before, scales[0], scales[1]], sum, "")
    });
}
