//! Parts of tiles taken out and put in, pairs, scans, reductions of narrow elements.

use super::generate::Generator;
use super::kinds::{places_of, same_type};
use super::program::{Id, Type};

const ELEMENTS: [&str; 10] = ["f32", "f32", "f16", "f16", "bf16", "i32", "u32", "i8", "u8", "i16"];

pub(super) fn parts(g: &mut Generator) {
    let (rows, cols) = (g.choices.of(&[16, 32, 8, 64]), g.choices.of(&[32, 64, 16, 128]));
    let ty = Type::of(rows, cols, g.choices.of(&ELEMENTS));
    steps(g, &ty);
}

/// The same of elements of 64 bits, and where their extremes are.
pub(super) fn long(g: &mut Generator) {
    let (rows, cols) = (g.choices.of(&[8, 16, 32]), g.choices.of(&[16, 32, 64]));
    let ty = Type::of(rows, cols, g.choices.of(&["i64", "u64", "f64", "i64"]));
    if g.choices.once_in(3) {
        let tile = g.load(&ty);
        places_of(g, tile, true);
    }
    if ty.element != "f64" && g.choices.once_in(2) {
        let (a, b) = (g.load(&ty), g.load(&ty));
        let by = if g.choices.once_in(3) {
            let number = g.choices.of(&["1", "3", "10", "4294967296", "9000000000000000000"]);
            g.constant(ty.clone(), number)
        } else {
            b
        };
        let name = g.choices.of(&["divsi", "divui", "remsi", "remui"]);
        let quotient = g.op(name, vec![a, by], ty.clone(), "");
        g.store(quotient);
    }
    steps(g, &ty);
}

/// What can be written in more than one way: reductions that keep their dimension, by the type or
/// by an attribute too, and attributes without a value that have one.
pub(super) fn spelled(g: &mut Generator) {
    let (rows, cols) = (g.choices.of(&[16, 32, 64]), g.choices.of(&[32, 64, 16]));
    let ty = Type::of(rows, cols, g.choices.of(&ELEMENTS));
    for _ in 0..1 + g.choices.below(2) {
        g.load(&ty);
    }
    for _ in 0..2 + g.choices.below(3) {
        let Some(a) = g.pick(|t| *t == ty) else { break };
        let axis = g.choices.below(2);
        let kind = g.choices.of(&["add", "max", "min"]);
        if g.choices.once_in(3) {
            let reverse = g.choices.of(&[", reverse = true", ", reverse = false", ", reverse"]);
            g.op("scan", vec![a], ty.clone(), &format!("axis = {axis}{reverse}, kind = {kind}"));
            continue;
        }
        let mut shape = ty.shape.clone();
        shape[axis] = 1;
        let kept = Type { shape, element: ty.element };
        let says = g.choices.of(&["", ", keep_dims", ", keep_dims = true"]);
        let mut line =
            g.op("reduce", vec![a], kept, &format!("axis = {axis}, kind = {kind}{says}"));
        if g.choices.once_in(3) {
            let own = g.ty(line);
            line = g.op("max", vec![line, line], own, "");
        }
        if g.choices.once_in(4) {
            g.store(line);
        }
        let whole = g.op("broadcast", vec![line], ty.clone(), "");
        let name = g.choices.of(&["add", "max", "min"]);
        g.op(name, vec![whole, a], ty.clone(), "");
    }
    if let Some(value) = g.pick(|t| t.shape.len() == 2) {
        g.store(value);
    }
}

fn steps(g: &mut Generator, ty: &Type) {
    for _ in 0..1 + g.choices.below(2) {
        if g.choices.once_in(4) {
            g.load_transposed(ty);
        } else {
            g.load(ty);
        }
    }
    for _ in 0..1 + g.choices.below(4) {
        let Some(tile) = g.pick(|t| t.shape.len() == 2) else { break };
        step(g, tile);
    }
    for _ in 0..1 + g.choices.below(2) {
        if let Some(value) = g.pick(|_| true) {
            g.store(value);
        }
    }
}

/// A part's extents, and where it begins.
fn part(g: &mut Generator, of: &Type) -> (Type, String) {
    let mut shape = of.shape.clone();
    let mut starts = Vec::new();
    for extent in &mut shape {
        let many = g.choices.of(&[1, 2, 2, 4]).min(*extent);
        *extent /= many;
        starts.push((g.choices.below(many as usize) as u32 * *extent).to_string());
    }
    (Type { shape, element: of.element }, starts.join(", "))
}

pub(super) fn step(g: &mut Generator, a: Id) {
    let own = g.ty(a);
    let axis = g.choices.below(2);
    let line = Type { shape: vec![own.shape[1 - axis]], element: own.element };
    match g.choices.below(9) {
        0 | 1 => {
            let (ty, starts) = part(g, &own);
            g.op("extract_slice", vec![a], ty, &starts);
        }
        2 => {
            let (ty, starts) = part(g, &own);
            let piece = match g.pick(|t| *t == ty) {
                Some(piece) => piece,
                None => g.load(&ty),
            };
            g.op("insert_slice", vec![piece, a], own, &starts);
        }
        3 | 4 => {
            let count = own.shape.iter().product::<u32>() / 2;
            let (pairs, single) = (vec![count, 2], vec![count]);
            let of = |shape: Vec<u32>| Type { shape, element: own.element };
            let both = g.op("reshape", vec![a], of(pairs.clone()), "");
            let first = g.op("first", vec![both], of(single.clone()), "");
            let second = g.op("second", vec![both], of(single), "");
            let back = match g.choices.below(3) {
                0 => vec![first, second],
                1 => vec![second, first],
                _ => vec![second, second],
            };
            let both = g.op("join", back, of(pairs), "");
            g.op("reshape", vec![both], own, "");
        }
        5 => {
            let kind = g.choices.of(&["add", "max", "min", "add"]);
            let reverse = g.choices.of(&["", ", reverse"]);
            g.op("scan", vec![a], own, &format!("axis = {axis}, kind = {kind}{reverse}"));
        }
        6 => {
            let kind = g.choices.of(&["add", "max", "min"]);
            let made = g.op("reduce", vec![a], line, &format!("axis = {axis}, kind = {kind}"));
            if g.choices.once_in(2) {
                g.op("broadcast", vec![made], own, &format!("axis = {axis}"));
            }
        }
        7 => {
            g.op("trans", vec![a], own.flipped(), "");
        }
        _ => {
            let b = same_type(g, a);
            let name = g.choices.of(&["add", "max", "min"]);
            g.op(name, vec![a, b], own, "");
        }
    }
}
