//! Branches by arguments, counters and what is computed of them: with results and without, in loops
//! and in each other, around loops, with loads, copies, products, sums of rows and stores inside.

use super::flow::{chosen, matrix_types};
use super::generate::Generator;
use super::kinds::{same_type, stores};
use super::program::{Id, Type};

pub(super) fn branches(g: &mut Generator) {
    let types = matrix_types(g);
    g.load(&types[0]);
    for _ in 0..1 + g.choices.below(3) {
        if g.choices.once_in(2) {
            branch(g, &types, 2);
        } else {
            turning(g, &types, 1);
        }
        if g.choices.once_in(3) {
            step(g, &types);
        }
    }
    stores(g);
}

/// A loop with branches inside.
fn turning(g: &mut Generator, types: &[Type], depth: usize) {
    let starts: Vec<Id> =
        (0..g.choices.below(3)).filter_map(|_| g.pick(|t| t.shape.len() == 2)).collect();
    g.repeat(&starts, |g, inside| {
        for _ in 0..1 + g.choices.below(2) {
            if g.choices.once_in(4) {
                step(g, types);
            } else {
                branch(g, types, depth);
            }
        }
        inside.iter().map(|i| same_type(g, *i)).collect()
    });
}

fn branch(g: &mut Generator, types: &[Type], depth: usize) {
    let condition = condition(g);
    let starts: Vec<Id> =
        (0..g.choices.below(3)).filter_map(|_| g.pick(|t| t.shape.len() == 2)).collect();
    let has_second = g.choices.below(3) > 0;
    let part = |g: &mut Generator| {
        for _ in 0..g.choices.below(3) {
            match g.choices.below(6) {
                0 if depth > 0 => branch(g, types, depth - 1),
                1 if depth > 1 => turning(g, types, 0),
                // Both parts may write one tensor, or one of them another.
                2 => {
                    if let Some(value) = g.pick(|t| t.shape.len() == 2) {
                        g.store(value);
                    }
                }
                _ => step(g, types),
            }
        }
        starts.iter().map(|start| same_type(g, *start)).collect::<Vec<Id>>()
    };
    g.branch(&condition, &starts, part, has_second.then_some(part));
}

fn step(g: &mut Generator, types: &[Type]) {
    let names = ["load", "elementwise", "elementwise", "product", "copied", "round", "reduce"];
    chosen(g, types, &names);
}

/// An index that is 0 or not, in some turns, or always.
fn condition(g: &mut Generator) -> String {
    let counter = g.counter();
    let of = match (g.choices.below(4), counter) {
        (0 | 1, Some(counter)) => counter,
        (2, _) => "%m".to_string(),
        (3, _) => "%K".to_string(),
        _ => "%p".to_string(),
    };
    match g.choices.below(6) {
        // An index that is not 0 is true, whatever it is.
        0 => of,
        1 => g.choices.of(&["0", "1", "3"]).to_string(),
        2 => {
            let turn = g.index("index.div", &of, "16");
            g.index("index.rem", &turn, "2")
        }
        3 => {
            let less = g.index("index.sub", &of, "32");
            let kind = g.choices.of(&["slt", "sge", "eq"]);
            g.named("index.cmp", &[&less, &format!("0 {{kind = {kind}}}")])
        }
        _ => {
            let kind = g.choices.of(&["eq", "ne", "ult", "uge", "slt"]);
            let by = g.choices.of(&["16", "%p", "%m", "32", "0"]);
            g.named("index.cmp", &[&of, &format!("{by} {{kind = {kind}}}")])
        }
    }
}
