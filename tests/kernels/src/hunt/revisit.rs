//! Few tensors met often, at few places: before, inside, between and behind loops in loops, whose
//! addresses have parts in common; copies whose tiles are read at once, later, or never, while what
//! they were copied from is written.

use super::generate::Generator;
use super::kinds::{same_type, stores};
use super::program::{Argument, Id, Place, Statement, Type};

pub(super) fn revisit(g: &mut Generator) {
    let sizes = [8, 16, 32, 24, 12, 1, 64];
    let element = g.choices.of(&["f32", "f32", "f32", "f16", "i32", "e4m3", "f64"]);
    let ty = Type::of(g.choices.of(&sizes), g.choices.of(&sizes), element);
    let tensors: Vec<usize> = (0..1 + g.choices.below(2)).map(|_| g.tensor(&ty)).collect();
    for number in &tensors {
        // Counters go as far as their loops do.
        if let Some(Argument::Tensor { extents, .. }) = g.program.arguments.get_mut(*number) {
            extents.fill(None);
        }
    }
    walk(g, &ty, &tensors, &mut Vec::new(), 2);
    stores(g);
}

fn walk(g: &mut Generator, ty: &Type, tensors: &[usize], tiles: &mut Vec<Id>, depth: usize) {
    for _ in 0..2 + g.choices.below(4) {
        match g.choices.below(10) {
            0..=2 => {
                let from = place(g, tensors);
                let out = g.value(ty.clone());
                g.push(Statement::Load { out, from });
                g.show(out);
            }
            3 => {
                let tile = if tiles.is_empty() || g.choices.once_in(2) {
                    let tile = g.value(ty.clone());
                    g.push(Statement::Alloc { out: tile, layout: None });
                    tiles.push(tile);
                    tile
                } else {
                    g.choices.of(tiles)
                };
                let from = place(g, tensors);
                g.push(Statement::Copy { from, to: Place::Shared(tile), ty: ty.clone() });
            }
            4 if !tiles.is_empty() => {
                let tile = g.choices.of(tiles);
                g.read(tile);
            }
            5 => {
                if let Some(value) = g.pick(|t| t == ty) {
                    let to = place(g, tensors);
                    g.push(Statement::Store { value, to });
                }
            }
            6 if ty.element == "f32" => {
                if let Some(value) = g.pick(|t| t == ty) {
                    let other = same_type(g, value);
                    g.op("add", vec![value, other], ty.clone(), "");
                }
            }
            7..=9 if depth > 0 => {
                let starts: Vec<Id> =
                    (0..g.choices.below(3)).filter_map(|_| g.pick(|t| t == ty)).collect();
                let mark = tiles.len();
                g.repeat(&starts, |g, inside| {
                    walk(g, ty, tensors, tiles, depth - 1);
                    inside.iter().map(|i| same_type(g, *i)).collect()
                });
                tiles.truncate(mark);
            }
            _ => {
                if let Some(value) = g.pick(|t| t == ty)
                    && g.choices.once_in(2)
                {
                    g.store(value);
                }
            }
        }
    }
}

/// One of few places in one of few tensors.
fn place(g: &mut Generator, tensors: &[usize]) -> Place {
    let number = g.choices.of(tensors);
    let at = (0..2)
        .map(|dim| match (g.choices.below(4), g.counter()) {
            (0 | 1, Some(counter)) => counter,
            (2, _) => "0".to_string(),
            _ => if dim == 0 { "%n" } else { "%m" }.to_string(),
        })
        .collect();
    Place::Global(number, at)
}
