//! Tiles of three and four dimensions: matrices side by side, and what goes along other dimensions
//! than a matrix has.

use super::generate::Generator;
use super::kinds::same_type;
use super::program::{Id, Place, Statement, Type};

const ELEMENTS: [&str; 8] = ["f32", "f32", "f16", "f16", "bf16", "i32", "u32", "i16"];

pub(super) fn ranks(g: &mut Generator) {
    if g.choices.once_in(4) {
        return products(g);
    }
    let front =
        g.choices.of(&[vec![2], vec![4], vec![1], vec![2, 2], vec![3], vec![8], vec![1, 4]]);
    let inner = [g.choices.of(&[8, 16, 4, 32]), g.choices.of(&[16, 32, 64, 8])];
    let shape: Vec<u32> = front.into_iter().chain(inner).collect();
    let ty = Type { shape, element: g.choices.of(&ELEMENTS) };
    for _ in 0..1 + g.choices.below(2) {
        begin(g, &ty);
    }
    for _ in 0..1 + g.choices.below(4) {
        let Some(tile) = g.pick(|t| t.shape.len() > 2) else { break };
        if g.choices.once_in(5) {
            around(g, tile);
        } else {
            step(g, tile);
        }
    }
    for _ in 0..1 + g.choices.below(2) {
        if let Some(value) = g.pick(|_| true) {
            end(g, value);
        }
    }
}

/// A place in a tensor of as many dimensions as the tile has, near its beginning in front.
fn place(g: &mut Generator, ty: &Type) -> Place {
    let tensor = g.tensor(ty);
    let rank = ty.shape.len();
    let corner = (0..rank)
        .map(|dimension| match rank - dimension {
            1 => g.choices.of(&["%n", "0", "32"]).to_string(),
            2 => g.choices.of(&["%m", "16", "0"]).to_string(),
            _ => g.choices.of(&["0", "1", "2"]).to_string(),
        })
        .collect();
    Place::Global(tensor, corner)
}

fn matrix(ty: &Type) -> Type {
    let (last, others) = ty.shape.split_last().expect("a dimension");
    Type { shape: vec![others.iter().product(), *last], element: ty.element }
}

/// A tile that is loaded as it is, or as one matrix.
fn begin(g: &mut Generator, ty: &Type) -> Id {
    if g.choices.once_in(3) {
        let flat = g.load(&matrix(ty));
        return g.op("reshape", vec![flat], ty.clone(), "");
    }
    let from = place(g, ty);
    let out = g.value(ty.clone());
    g.push(Statement::Load { out, from });
    g.show(out)
}

/// A tile that is stored as it is, or as one matrix.
fn end(g: &mut Generator, value: Id) {
    let ty = g.ty(value);
    if ty.shape.len() < 3 {
        return g.store(value);
    }
    if g.choices.once_in(3) {
        let flat = g.op("reshape", vec![value], matrix(&ty), "");
        return g.store(flat);
    }
    let to = place(g, &ty);
    g.push(Statement::Store { value, to });
}

/// A loop or a branch that hands the tile on.
fn around(g: &mut Generator, tile: Id) {
    let more = |g: &mut Generator, inside: Id| {
        let ty = g.ty(inside);
        let other = begin(g, &ty);
        vec![g.op("add", vec![inside, other], ty, "")]
    };
    if g.choices.once_in(2) {
        g.repeat(&[tile], |g, inside| more(g, inside[0]));
    } else {
        let condition = g.named("index.cmp", &["eq", "%p", "0"]);
        g.branch(&condition, &[tile], |g| more(g, tile), None::<fn(&mut Generator) -> Vec<Id>>);
    }
}

fn step(g: &mut Generator, a: Id) {
    let own = g.ty(a);
    let rank = own.shape.len();
    let axis = g.choices.below(rank);
    match g.choices.below(8) {
        0 => {
            let mut order: Vec<usize> = (0..rank).collect();
            for place in (1..rank).rev() {
                order.swap(place, g.choices.below(place + 1));
            }
            let shape = order.iter().map(|dimension| own.shape[*dimension]).collect();
            let order: Vec<String> = order.iter().map(ToString::to_string).collect();
            let attributes = format!("order = [{}]", order.join(", "));
            g.op("trans", vec![a], Type { shape, element: own.element }, &attributes);
        }
        1 | 2 => {
            let mut shape = own.shape.clone();
            shape.remove(axis);
            let kind = g.choices.of(&["add", "max", "min"]);
            let less = Type { shape, element: own.element };
            let made = g.op("reduce", vec![a], less, &format!("axis = {axis}, kind = {kind}"));
            if g.choices.once_in(2) {
                g.op("broadcast", vec![made], own, &format!("axis = {axis}"));
            }
        }
        3 if own.shape[axis].is_power_of_two() => {
            let kind = g.choices.of(&["add", "max", "min"]);
            let reverse = g.choices.of(&["", ", reverse"]);
            g.op("scan", vec![a], own, &format!("axis = {axis}, kind = {kind}{reverse}"));
        }
        4 => {
            let (mut shape, mut starts) = (own.shape.clone(), Vec::new());
            for extent in &mut shape {
                let many = if extent.is_power_of_two() { g.choices.of(&[1, 2]) } else { 1 };
                let many = many.min(*extent);
                *extent /= many;
                starts.push((g.choices.below(many as usize) as u32 * *extent).to_string());
            }
            let (part, starts) = (Type { shape, element: own.element }, starts.join(", "));
            let made = g.op("extract_slice", vec![a], part, &starts);
            if g.choices.once_in(2) {
                let other = same_type(g, a);
                g.op("insert_slice", vec![made, other], own, &starts);
            }
        }
        5 => {
            let mut halves = own.shape.clone();
            *halves.last_mut().expect("a dimension") /= 2;
            let mut pairs = halves.clone();
            pairs.push(2);
            let of = |shape: Vec<u32>| Type { shape, element: own.element };
            let both = g.op("reshape", vec![a], of(pairs.clone()), "");
            let first = g.op("first", vec![both], of(halves.clone()), "");
            let second = g.op("second", vec![both], of(halves), "");
            let joined = g.op("join", vec![second, first], of(pairs), "");
            g.op("reshape", vec![joined], own, "");
        }
        6 => {
            let mut shape = own.shape.clone();
            shape[axis] = 1;
            let line = Type { shape, element: own.element };
            let line = begin(g, &line);
            let wide = g.op("broadcast", vec![line], own.clone(), "");
            g.op("add", vec![a, wide], own, "");
        }
        _ => {
            let b = same_type(g, a);
            let name = g.choices.of(&["add", "max", "min"]);
            g.op(name, vec![a, b], own, "");
        }
    }
}

/// Products side by side.
fn products(g: &mut Generator) {
    let count = g.choices.of(&[2, 1, 4]);
    let (m, n) = (g.choices.of(&[16, 32, 64]), g.choices.of(&[16, 32, 64]));
    let k = g.choices.of(&[32, 64]);
    let of = |rows, cols, element| Type { shape: vec![count, rows, cols], element };
    let factor = g.choices.of(&["f16", "bf16"]);
    let a = begin(g, &of(m, k, factor));
    let b = if g.choices.once_in(2) {
        let turned = begin(g, &of(n, k, factor));
        g.op("trans", vec![turned], of(k, n, factor), "order = [0, 2, 1]")
    } else {
        begin(g, &of(k, n, factor))
    };
    let sum = of(m, n, "f32");
    let zero = g.constant(sum.clone(), "0.0");
    let made = if g.choices.once_in(3) {
        let carried = g
            .repeat(&[zero], |g, inside| vec![g.op("mma", vec![a, b, inside[0]], sum.clone(), "")]);
        carried[0]
    } else {
        g.op("mma", vec![a, b, zero], sum.clone(), "")
    };
    if g.choices.once_in(3) {
        let narrow = g.op("cast", vec![made], sum.with("f16"), "");
        return end(g, narrow);
    }
    end(g, made);
}
