//! Tensors of one to five dimensions, of known and unknown extents, odd ones among them, reached at
//! corners of which little is known.

use super::generate::Generator;
use super::kinds::{ELEMENTS, extent};
use super::program::{Argument, Id, Place, Statement, Type, bytes};

/// Tiles moved between such tensors, some of them turned around, added to or multiplied on the way.
pub(super) fn corner(g: &mut Generator) {
    let element = g.choices.of(&ELEMENTS);
    let ty = if g.choices.once_in(5) {
        Type { shape: vec![extent(g) * g.choices.of(&[1, 2, 4])], element }
    } else {
        Type::of(extent(g), extent(g), element)
    };
    let mut values = Vec::new();
    for _ in 0..1 + g.choices.below(3) {
        values.push(taken(g, &ty));
    }
    if g.choices.once_in(3) {
        g.repeat(&[], |g, _| {
            let value = taken(g, &ty);
            given(g, value);
            Vec::new()
        });
    }
    for value in values {
        let value = changed(g, value);
        given(g, value);
    }
}

/// A tile from such a tensor, straight or by way of shared memory.
fn taken(g: &mut Generator, ty: &Type) -> Id {
    let from = place(g, ty);
    g.brought(from, ty)
}

/// A tile to such a tensor.
fn given(g: &mut Generator, value: Id) {
    let ty = g.ty(value);
    let to = place(g, &ty);
    if g.choices.once_in(2) {
        return g.push(Statement::Store { value, to });
    }
    g.store_by_shared(value, to);
}

fn changed(g: &mut Generator, value: Id) -> Id {
    let ty = g.ty(value);
    match g.choices.below(4) {
        0 if ty.shape.len() == 2 => g.op("trans", vec![value], ty.flipped(), ""),
        1 if ty.element == "f32" => g.op("mul", vec![value, value], ty, ""),
        2 if matches!(ty.element, "f16" | "bf16") && ty.shape.len() == 2 => {
            let turned = g.op("trans", vec![value], ty.flipped(), "");
            let square = Type::of(ty.shape[0], ty.shape[0], "f32");
            let zero = g.constant(square.clone(), "0.0");
            g.op("mma", vec![value, turned, zero], square, "")
        }
        _ => value,
    }
}

/// A corner in a new tensor.
fn place(g: &mut Generator, ty: &Type) -> Place {
    let rank = ty.shape.len().max(1 + g.choices.below(5));
    let outer = rank - ty.shape.len();
    let more = g.choices.of(&[96, 97, 101, 128, 100]);
    let mut extents = Vec::new();
    for dim in 0..rank {
        let wide = if dim < outer { 1 } else { ty.shape[dim - outer] };
        extents.push(match g.choices.below(3) {
            0 if dim < outer => Some(3 + g.choices.below(3) as u32),
            0 => Some(wide + more),
            _ => None,
        });
    }
    let align = g.choices.of(&[16, 16, 16, 8, 4, 2, 1]).max(bytes(ty.element));
    let div = g.choices.of(&[16, 1, 8, 2, 4, 3]);
    let known = extents.clone();
    g.program.arguments.push(Argument::Tensor {
        extents,
        element: ty.element,
        align,
        div,
        bounds: Vec::new(),
    });
    let number = g.program.arguments.len() - 1;
    let at = (0..rank)
        .map(|dim| {
            if dim < outer {
                return g.choices.of(&["0", "1", "2"]).to_string();
            }
            match g.choices.below(7) {
                0 => "%p".to_string(),
                1 => g.choices.of(&["0", "1", "3", "8", "64"]).to_string(),
                2 => part(g, "%m"),
                3 if known[dim].is_none() => g.counter().unwrap_or("%n".to_string()),
                4 if known[dim].is_none() => {
                    g.counter().map_or("%m".to_string(), |counter| part(g, &counter))
                }
                5 => "%n".to_string(),
                _ => "%m".to_string(),
            }
        })
        .collect();
    Place::Global(number, at)
}

/// An index divided by a power of two.
fn part(g: &mut Generator, of: &str) -> String {
    let by = g.choices.of(&["2", "4", "16", "64"]);
    g.index("index.div", of, by)
}
