//! Tiles that begin in front of their tensor: what is there is outside of bounds, or a mask leaves
//! it out. Stencils, convolutions and shifts are made of them.

use super::generate::Generator;
use super::program::{Argument, Combines, Id, Place, Statement, Type, bytes};

const ELEMENTS: [&str; 9] = ["f32", "f16", "bf16", "f32", "i32", "f64", "i8", "u8", "e4m3"];

/// The argument that is a bound.
const BOUND: &str = "most0";

pub(super) fn halo(g: &mut Generator) {
    let element = g.choices.of(&ELEMENTS);
    let ty = match g.choices.below(6) {
        0 => Type { shape: vec![g.choices.of(&[64, 128, 256, 96])], element },
        _ => {
            Type::of(g.choices.of(&[16, 32, 64, 8]), g.choices.of(&[16, 32, 64, 128, 40]), element)
        }
    };
    let div = g.choices.of(&[1, 8, 16, 3, 2]);
    g.program.arguments.push(Argument::Index { name: BOUND, div: Some(div) });
    let mut all = Vec::new();
    for _ in 0..1 + g.choices.below(3) {
        all.push(taken(g, &ty));
    }
    if g.choices.once_in(2) {
        g.repeat(&[], |g, _| {
            let value = taken(g, &ty);
            given(g, value);
            Vec::new()
        });
    }
    if all.len() > 1 && ["f32", "i32", "f16"].contains(&element) {
        let name = g.choices.of(&["add", "mul", "sub"]);
        all.push(g.op(name, vec![all[0], all[1]], ty.clone(), ""));
    }
    for value in all {
        given(g, value);
    }
}

/// An index that may be below zero.
fn start(g: &mut Generator) -> String {
    let by = g.choices.of(&["1", "2", "3", "4", "8", "16", "5", "32"]);
    match g.choices.below(8) {
        0 => g.choices.of(&["%m", "%n", "0", "8"]).to_string(),
        1 => g.index("index.sub", "0", by),
        2 => g.index("index.sub", "%m", "%p"),
        3 | 4 => match g.counter() {
            Some(counter) => g.index("index.sub", &counter, by),
            None => g.index("index.sub", "%m", by),
        },
        5 => {
            let less = g.index("index.sub", "%n", by);
            g.index("index.mul", &less, "2")
        }
        6 => {
            let less = g.index("index.sub", "%n", "4");
            let half = g.index("index.div", &less, "2");
            g.index("index.max", &half, "-3")
        }
        _ => g.index("index.sub", "%n", by),
    }
}

/// A tensor with bounds along all dimensions, or along none, and a start in it.
fn place(g: &mut Generator, ty: &Type, is_bounded: bool) -> Place {
    let rank = ty.shape.len().max(1 + g.choices.below(3));
    let bounds: Vec<u32> = (0..rank).map(|_| g.choices.of(&[1, 16, 33, 40, 64, 77])).collect();
    let known = g.choices.once_in(3);
    let number = g.program.arguments.len();
    g.program.arguments.push(Argument::Tensor {
        extents: bounds
            .iter()
            .map(|bound| Some(bound + 3).filter(|_| known && is_bounded))
            .collect(),
        element: ty.element,
        align: g.choices.of(&[16, 16, 4, 8]).max(bytes(ty.element)),
        div: g.choices.of(&[1, 8, 16]),
        bounds: match is_bounded {
            true => {
                let is_argument = !known && g.choices.once_in(2);
                let said = |bound: &u32| match is_argument {
                    true => format!("%{BOUND}"),
                    false => bound.to_string(),
                };
                bounds.iter().map(said).collect()
            }
            false => Vec::new(),
        },
    });
    Place::Global(number, (0..rank).map(|_| start(g)).collect())
}

/// A place that a mask keeps to what is there, and the mask.
fn masked(g: &mut Generator, ty: &Type) -> (Place, Id) {
    let Place::Global(number, mut at) = place(g, ty, false) else { unreachable!() };
    let outer = at.len() - ty.shape.len();
    at[..outer].fill("1".to_string());
    let (index, truth) = (ty.with("i32"), ty.with("i1"));
    let mut out: Option<Id> = None;
    for (axis, first) in at[outer..].iter().enumerate() {
        let count = g.op("iota", Vec::new(), index.clone(), &format!("axis = {axis}"));
        let first = match first.strip_prefix('%') {
            Some(_) => g.full(index.clone(), first, "index"),
            None => g.constant(index.clone(), first),
        };
        let sum = g.op("add", vec![count, first], index.clone(), "");
        let zero = g.constant(index.clone(), "0");
        let inside = g.op("compare.sge", vec![sum, zero], truth.clone(), "");
        out = Some(match out {
            None => inside,
            Some(other) => g.op("arith.andi", vec![other, inside], truth.clone(), ""),
        });
    }
    (Place::Global(number, at), out.expect("a tile has dimensions"))
}

fn taken(g: &mut Generator, ty: &Type) -> Id {
    if g.choices.once_in(4) {
        let (from, mask) = masked(g, ty);
        let out = g.value(ty.clone());
        g.push(Statement::LoadSome { out, from, index: None, mask: Some(mask), other: None });
        return g.show(out);
    }
    let from = place(g, ty, true);
    g.brought(from, ty)
}

fn given(g: &mut Generator, value: Id) {
    let ty = g.ty(value);
    match g.choices.below(4) {
        0 => g.store(value),
        1 => {
            let (to, mask) = masked(g, &ty);
            let combines = Combines::default();
            g.push(Statement::StoreSome { value, to, index: None, mask: Some(mask), combines });
        }
        2 => {
            let to = place(g, &ty, true);
            g.store_by_shared(value, to);
        }
        _ => {
            let to = place(g, &ty, true);
            g.push(Statement::Store { value, to });
        }
    }
}
