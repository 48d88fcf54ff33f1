//! Tiles of one dimension: loaded, copied, kept in shared memory, added to each other, spread over
//! rows and columns, made of both.

use super::generate::Generator;
use super::kinds::same_type;
use super::program::{Id, Place, Statement, Type};

pub(super) fn line(g: &mut Generator) {
    let element = g.choices.of(&["f32", "f32", "f32", "f32", "i32", "f16", "bf16", "f64", "i8"]);
    let (rows, cols) = (long(g), long(g));
    let line = Type { shape: vec![cols], element };
    let wide = Type::of(rows, cols, element);
    let first = taken(g, &line);
    if element != "f32" {
        return moved(g, first);
    }
    let start = if g.choices.once_in(2) { first } else { g.constant(line, "-inf") };
    let steps = 1 + g.choices.below(5);
    if g.choices.once_in(2) {
        let results = g.repeat(&[start, first], |g, inside| {
            let steps = 1 + g.choices.below(4);
            mixed(g, &wide, steps);
            inside.iter().map(|i| same_type(g, *i)).collect()
        });
        results.into_iter().for_each(|value| given(g, value));
    }
    mixed(g, &wide, steps);
    for _ in 0..1 + g.choices.below(3) {
        if let Some(value) = g.pick(|_| true) {
            given(g, value);
        }
    }
}

fn long(g: &mut Generator) -> u32 {
    g.choices.of(&[32, 64, 128, 16, 256, 96, 24, 8, 40])
}

/// Through shared memory, and out again.
fn moved(g: &mut Generator, first: Id) {
    let ty = g.ty(first);
    let second = taken(g, &ty);
    if g.choices.once_in(2) && ty.element == "i32" {
        let rows = long(g);
        let axis = g.choices.below(2);
        let wide = if axis == 0 { vec![rows, ty.shape[0]] } else { vec![ty.shape[0], rows] };
        let wide = Type { shape: wide, element: ty.element };
        let spread = g.op("broadcast", vec![second], wide, &format!("axis = {axis}"));
        given(g, spread);
    }
    given(g, second);
    given(g, first);
}

fn taken(g: &mut Generator, ty: &Type) -> Id {
    // Of a tensor of one dimension or a row of one of two.
    let rank = ty.shape.len().max(1 + g.choices.below(2));
    let tensor = g.tensor(&Type { shape: vec![ty.shape[0]; rank], element: ty.element });
    let from = Place::Global(tensor, corners(g, rank));
    g.brought(from, ty)
}

fn corners(g: &mut Generator, rank: usize) -> Vec<String> {
    (0..rank).map(|_| g.choices.of(&["%m", "%n", "0", "16", "%n"]).to_string()).collect()
}

fn given(g: &mut Generator, value: Id) {
    let ty = g.ty(value);
    let rank = ty.shape.len();
    let tensor = g.tensor(&ty);
    let to = Place::Global(tensor, corners(g, rank));
    if g.choices.below(3) > 0 {
        return g.push(Statement::Store { value, to });
    }
    g.store_by_shared(value, to);
}

/// Lines and matrices made of each other.
fn mixed(g: &mut Generator, wide: &Type, steps: usize) {
    let single = |g: &mut Generator, axis: usize| {
        let n = wide.shape[1 - axis];
        let ty = Type { shape: vec![n], element: "f32" };
        g.pick(|t| *t == ty).unwrap_or_else(|| taken(g, &ty))
    };
    for _ in 0..steps {
        let axis = g.choices.below(2);
        match g.choices.below(9) {
            0 | 1 => {
                let value = single(g, axis);
                let spread =
                    g.op("broadcast", vec![value], wide.clone(), &format!("axis = {axis}"));
                if let Some(other) = g.pick(|t| t == wide) {
                    g.op("add", vec![spread, other], wide.clone(), "");
                }
            }
            2 | 3 => {
                let value = g.pick(|t| t == wide).unwrap_or_else(|| taken(g, wide));
                let rest = Type { shape: vec![wide.shape[1 - axis]], element: "f32" };
                let kind = g.choices.of(&["add", "max", "min", "mul"]);
                let made =
                    g.op("reduce", vec![value], rest, &format!("axis = {axis}, kind = {kind}"));
                let other = single(g, axis);
                let ty = g.ty(made);
                g.op("max", vec![made, other], ty, "");
            }
            4 => drop(taken(g, wide)),
            5 => {
                // Through shared memory.
                let value = single(g, axis);
                let ty = g.ty(value);
                let shared = g.alloc(&ty);
                g.push(Statement::Store { value, to: Place::Shared(shared) });
                g.read(shared);
            }
            6 => {
                let value = single(g, axis);
                let ty = g.ty(value);
                g.op("convert_layout", vec![value], ty, "");
            }
            7 => {
                let value = single(g, axis);
                let ty = g.ty(value);
                let half = g.op("cast", vec![value], ty.with("f16"), "");
                g.op("cast", vec![half], ty, "");
            }
            _ => {
                let (a, b) = (single(g, axis), single(g, axis));
                let ty = g.ty(a);
                let name = g.choices.of(&["add", "sub", "mul", "max", "min"]);
                g.op(name, vec![a, b], ty, "");
            }
        }
    }
}
