//! Loops whose copies run ahead: one to three tiles of different sizes, from places that go on or
//! stay, of tensors with bounds or without; products, sums, several loads of one tile, values kept
//! from turn to turn, loops in and behind each other; bounds that are numbers or arguments.

use super::generate::Generator;
use super::kinds::{gemm, same_type, stores};
use super::program::{Id, Place, Statement, Type};

const STAGES: [u32; 5] = [2, 3, 3, 4, 5];

/// The kind whose loops have warps of their own for their copies.
pub const APART: &str = "apart";

pub(super) fn stages(g: &mut Generator) {
    if g.choices.once_in(2) {
        gemm(g);
        let stages = g.choices.of(&STAGES);
        return g.stage(stages);
    }
    let element = g.choices.of(&["f16", "f32", "f16", "f32", "bf16", "i32", "f64"]);
    let sizes = [16, 32, 64, 16, 32, 8, 48];
    let (rows, cols) = (g.choices.of(&sizes), g.choices.of(&[32, 64, 16, 32]));
    let ty = Type::of(rows, cols, element);
    let mut kept = vec![g.constant(ty.clone(), if element == "i32" { "3" } else { "0.5" })];
    for _ in 0..1 + g.choices.below(2) {
        let start = g.choices.of(&kept);
        if g.choices.once_in(3) {
            let outer = g.new_counter();
            let to = if g.choices.once_in(2) { "%K".to_string() } else { (cols * 2).to_string() };
            let ends = g.repeat_from(&outer, ("0", &to), cols, &[start], |g, inside| {
                vec![loop_of(g, &ty, inside[0])]
            });
            kept.extend(ends);
        } else {
            kept.push(loop_of(g, &ty, start));
        }
    }
    let last = g.choices.of(&kept);
    g.store(last);
    stores(g);
}

/// A loop with stages that adds what it copies to a tile.
fn loop_of(g: &mut Generator, ty: &Type, start: Id) -> Id {
    let step = g.choices.of(&[ty.shape[1], ty.shape[1], 16, 64]);
    let turns = g.choices.below(7) as u32;
    let (from, to) = match g.choices.below(5) {
        0 => ("0".to_string(), (step * turns).to_string()),
        1 => (step.to_string(), (step * turns + step / 2).to_string()),
        2 => ("%m".to_string(), "%K".to_string()),
        _ => ("0".to_string(), "%K".to_string()),
    };
    let many = 1 + g.choices.below(3);
    let tiles: Vec<Id> = (0..many)
        .map(|_| {
            let tile = g.value(ty.clone());
            g.push(Statement::Alloc { out: tile, layout: None });
            tile
        })
        .collect();
    let counter = g.new_counter();
    let end = g.repeat_from(&counter, (&from, &to), step, &[start], |g, inside| {
        let mut sum = inside[0];
        for &tile in &tiles {
            let from = g.source(ty);
            g.push(Statement::Copy { from, to: Place::Shared(tile), ty: ty.clone() });
        }
        for &tile in &tiles {
            for _ in 0..1 + usize::from(g.choices.once_in(4)) {
                let read = g.read(tile);
                let name = g.choices.of(&["add", "add", "max", "sub"]);
                sum = g.op(name, vec![sum, read], ty.clone(), "");
            }
        }
        if g.choices.once_in(3) {
            let other = same_type(g, sum);
            sum = g.op("add", vec![sum, other], ty.clone(), "");
        }
        vec![sum]
    })[0];
    let stages = g.choices.of(&STAGES);
    g.stage(stages);
    end
}
