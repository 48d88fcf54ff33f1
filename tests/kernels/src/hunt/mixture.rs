//! Anything in anything: loads and stores with masks and indices, products, reductions, scans, parts
//! and pairs of tiles, choices by data, by counts and by indices, atomic operations, in loops, staged
//! and not, and in branches, each beside each.

use super::flow::{chosen, matrix_types};
use super::generate::Generator;
use super::kinds::{same_type, stores};
use super::program::{Id, Place, Statement, Type};
use super::{elements, indices, masks, parts};

/// Steps that [`chosen`] makes.
const STEPS: [&str; 12] = [
    "load",
    "elementwise",
    "product",
    "product",
    "cast",
    "trans",
    "convert",
    "reduce",
    "round",
    "copied",
    "function",
    "reshape",
];

pub(super) fn mixture(g: &mut Generator) {
    let mut types = matrix_types(g);
    let whole = g.choices.of(&["i32", "i32", "u8", "i16", "i64"]);
    let (rows, cols) = (types[0].shape[0].min(64), types[0].shape[1].min(64));
    types.push(Type::of(rows, cols, whole));
    for _ in 0..2 {
        let ty = g.choices.of(&types);
        g.load(&ty);
    }
    let steps = 2 + g.choices.below(5);
    block(g, &types, steps, 2);
    stores(g);
}

fn is_tile(ty: &Type) -> bool {
    ty.shape.len() == 2
}

fn block(g: &mut Generator, types: &[Type], steps: usize, depth: usize) {
    for _ in 0..steps {
        match g.choices.below(18) {
            0 | 1 if depth > 0 => turns(g, types, depth - 1),
            2 | 3 if depth > 0 => branch(g, types, depth - 1),
            step => made(g, types, step),
        }
    }
}

fn turns(g: &mut Generator, types: &[Type], depth: usize) {
    let starts = starts(g);
    g.repeat(&starts, |g, inside| {
        let steps = 1 + g.choices.below(4);
        block(g, types, steps, depth);
        inside.iter().map(|id| same_type(g, *id)).collect()
    });
    if g.choices.once_in(10) {
        let stages = g.choices.of(&[2, 3]);
        g.stage(stages);
    }
}

fn branch(g: &mut Generator, types: &[Type], depth: usize) {
    let condition = condition(g);
    let starts = starts(g);
    let part = |g: &mut Generator| {
        let steps = g.choices.below(3);
        block(g, types, steps, depth);
        starts.iter().map(|id| same_type(g, *id)).collect::<Vec<Id>>()
    };
    let has_second = g.choices.once_in(2);
    g.branch(&condition, &starts, part, has_second.then_some(part));
}

/// What a loop carries, or a branch makes.
fn starts(g: &mut Generator) -> Vec<Id> {
    (0..g.choices.below(3)).filter_map(|_| g.pick(is_tile)).collect()
}

/// An index that is 0 or 1.
fn condition(g: &mut Generator) -> String {
    let of = g.counter().unwrap_or_else(|| g.choices.of(&["%m", "%K", "%p"]).to_string());
    let by = g.choices.of(&["16", "32", "%p", "%m", "0"]);
    let kind = g.choices.of(&["eq", "ne", "ult", "uge", "slt", "sge"]);
    g.named("index.cmp", &[&of, &format!("{by} {{kind = {kind}}}")])
}

fn made(g: &mut Generator, types: &[Type], step: usize) {
    let Some(tile) = g.pick(is_tile) else { return };
    let ty = g.ty(tile);
    match step {
        4 | 5 => parts::step(g, tile),
        6 => _ = masks::taken(g, &ty),
        7 => _ = indices::taken(g, &ty),
        8 => masks::given(g, tile),
        9 => indices::given(g, tile),
        10 | 11 => {
            let all = [tile, same_type(g, tile)];
            _ = match g.choices.once_in(2) {
                true => elements::chosen(g, &all),
                false => elements::computed(g, &all),
            };
        }
        12 => by_count(g, tile),
        13 => by_index(g, tile),
        14 => along(g, tile),
        _ => _ = chosen(g, types, &STEPS),
    }
}

/// Rows, columns or a triangle of a tile and of another one: as an attention masks.
fn by_count(g: &mut Generator, tile: Id) {
    let (ty, other) = (g.ty(tile), same_type(g, tile));
    let index = ty.with("i32");
    let count = g.op("iota", Vec::new(), index.clone(), "axis = 0");
    let beside = match g.choices.below(3) {
        0 => g.op("iota", Vec::new(), index.clone(), "axis = 1"),
        1 => {
            let name = g.counter().unwrap_or_else(|| "%p".to_string());
            g.full(index, &name, "index")
        }
        _ => g.constant(index, "7"),
    };
    let name = g.choices.of(&["compare.sge", "compare.slt", "compare.ne", "compare.ult"]);
    let truth = g.op(name, vec![count, beside], ty.with("i1"), "");
    let is_square = ty.shape[0] == ty.shape[1];
    let truth = if is_square && g.choices.once_in(3) {
        g.op("trans", vec![truth], ty.with("i1"), "")
    } else {
        truth
    };
    g.op("select", vec![truth, tile, other], ty, "");
}

/// One or the other tile by an index, which is the same for all elements.
fn by_index(g: &mut Generator, tile: Id) {
    let (ty, other) = (g.ty(tile), same_type(g, tile));
    let condition = condition(g);
    let index = ty.with("i32");
    let of = g.full(index.clone(), &condition, "index");
    let zero = g.constant(index, "0");
    let truth = g.op("compare.ne", vec![of, zero], ty.with("i1"), "");
    g.op("select", vec![truth, tile, other], ty, "");
}

/// A line that is read along the other dimension, through memory or as it is.
fn along(g: &mut Generator, tile: Id) {
    let ty = g.ty(tile);
    let axis = g.choices.below(2);
    let kind = g.choices.of(&["add", "max", "min"]);
    let line = Type { shape: vec![ty.shape[1 - axis]], element: ty.element };
    let mut made =
        g.op("reduce", vec![tile], line.clone(), &format!("axis = {axis}, kind = {kind}"));
    if g.choices.once_in(3) {
        let shared = g.alloc(&line);
        g.push(Statement::Store { value: made, to: Place::Shared(shared) });
        made = g.read(shared);
    }
    let other = if ty.shape[0] == ty.shape[1] { g.choices.below(2) } else { axis };
    let wide = g.op("broadcast", vec![made], ty.clone(), &format!("axis = {other}"));
    let name = g.choices.of(&["add", "max", "min"]);
    g.op(name, vec![wide, tile], ty, "");
}
