//! Loops of every kind of bound: numbers, arguments, counters of outer loops; none to five turns;
//! beside and in each other, with values kept from one to the other.

use super::flow::{chosen, matrix_types};
use super::generate::Generator;
use super::kinds::{same_type, stores};
use super::program::{Id, Type};

pub(super) fn turns(g: &mut Generator) {
    let types = matrix_types(g);
    let first = g.load(&types[0]);
    let numbers = ["0.0", "-0.0", "1.0", "-inf", "0xFF800000", "-3.5", "inf"];
    let number = g.choices.of(&numbers);
    let start = g.constant(types[0].clone(), number);
    let mut kept = vec![first, start];
    for depth in [2, 1, 0].into_iter().take(1 + g.choices.below(3)) {
        let starts: Vec<Id> = (0..1 + g.choices.below(3)).map(|_| g.choices.of(&kept)).collect();
        kept.extend(loop_of(g, &types, &starts, depth));
    }
    let last = g.choices.of(&kept);
    g.store(last);
    stores(g);
}

fn loop_of(g: &mut Generator, types: &[Type], starts: &[Id], depth: usize) -> Vec<Id> {
    let step = g.choices.of(&[16, 32, 1, 48, 8, 64]);
    let turns = g.choices.below(6) as u32;
    let outer = g.counter();
    let (from, to) = match (g.choices.below(8), outer) {
        (0 | 1, Some(outer)) => ("0".to_string(), outer),
        (2, Some(outer)) => (outer, "%K".to_string()),
        (3, Some(outer)) => (outer, (step * turns).to_string()),
        (0 | 4, _) => ("%m".to_string(), "%K".to_string()),
        (1 | 5, _) => ((step * 2).to_string(), (step * (2 + turns)).to_string()),
        // The last turn is cut short.
        (2 | 6, _) => ("0".to_string(), (step * turns + step / 2).to_string()),
        (3, _) => ("%p".to_string(), (step * turns).to_string()),
        _ => ("0".to_string(), "%K".to_string()),
    };
    let counter = g.new_counter();
    g.repeat_from(&counter, (&from, &to), step, starts, |g, inside| {
        for _ in 0..1 + g.choices.below(3) {
            if depth > 0 && g.choices.once_in(2) {
                let own: Vec<Id> = inside.iter().map(|i| same_type(g, *i)).collect();
                loop_of(g, types, &own, depth - 1);
            } else {
                let names =
                    ["load", "elementwise", "elementwise", "product", "copied", "round", "trans"];
                chosen(g, types, &names);
            }
        }
        inside.iter().map(|i| same_type(g, *i)).collect()
    })
}
