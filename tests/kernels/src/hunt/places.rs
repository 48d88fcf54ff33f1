//! Numbers that no memory holds: coordinates, indices and arguments in all elements; sums of them,
//! comparisons, what these choose.

use super::generate::Generator;
use super::kinds::{extent, reduced, same_type};
use super::program::{Argument, Id, Statement, Type};

/// Arguments that are no indices.
const NUMBERS: [(&str, &str); 3] = [("s", "f32"), ("t", "f32"), ("w", "i32")];

/// Relations of whole numbers.
pub(super) const RELATIONS: [&str; 10] = [
    "compare.eq",
    "compare.ne",
    "compare.slt",
    "compare.sle",
    "compare.sgt",
    "compare.sge",
    "compare.ult",
    "compare.ule",
    "compare.ugt",
    "compare.uge",
];

/// Tiles of such numbers, stored and chosen by.
pub(super) fn places(g: &mut Generator) {
    for (name, element) in NUMBERS {
        g.program.arguments.push(Argument::Number { name, element });
    }
    let ty = Type::of(extent(g), extent(g), "f32");
    let block = g.named("block_id x", &[]);
    let far = g.index("index.mul", &block, &ty.shape[0].to_string());
    let back = g.index("index.sub", "%n", "%m");
    let mut known: Vec<String> = ["%m", "%n", "%p"].map(String::from).to_vec();
    known.extend([block, far, back]);
    let first = if g.choices.once_in(3) { g.load_transposed(&ty) } else { g.load(&ty) };
    let mut value = steps(g, first, &known);
    if g.choices.once_in(2) {
        let around = known.clone();
        value = g.repeat(&[value], |g, inside| {
            let mut known = around;
            known.extend(g.counter());
            known.extend(g.counter());
            vec![steps(g, inside[0], &known)]
        })[0];
    }
    if g.choices.once_in(2) {
        let whole = number(g, &ty.with("i32"), &known);
        let whole = counted(g, whole, &known);
        g.store(whole);
    }
    g.store(value);
}

/// A few operations on a tile of floats.
fn steps(g: &mut Generator, from: Id, known: &[String]) -> Id {
    let mut value = from;
    for _ in 0..1 + g.choices.below(4) {
        let ty = g.ty(value);
        value = match g.choices.below(7) {
            6 => {
                // Without its sign, and where nothing is lost with it.
                let bits = g.op("arith.bitcast", vec![value], ty.with("i32"), "");
                let all = g.choices.of(&["2147483647", "-1", "-4096"]);
                let mask = g.constant(ty.with("i32"), all);
                let kept = g.op("arith.andi", vec![bits, mask], ty.with("i32"), "");
                g.op("arith.bitcast", vec![kept], ty, "")
            }
            0 => {
                let name = g.choices.of(&["%s", "%t"]);
                let other = g.full(ty.clone(), name, "f32");
                let name = g.choices.of(&["add", "mul", "max", "sub"]);
                g.op(name, vec![value, other], ty, "")
            }
            1 => {
                let sums = reduced(g, value);
                g.op("max", vec![value, sums], ty, "")
            }
            2 => {
                let line = Type { shape: vec![ty.shape[0]], element: "f32" };
                let all = g.full(line, "%t", "f32");
                let wide = g.op("broadcast", vec![all], ty.clone(), "axis = 1");
                g.op("min", vec![value, wide], ty, "")
            }
            3 => {
                let other = g.pick(|t| *t == ty).unwrap_or(value);
                masked(g, value, other, known)
            }
            _ => {
                let other = g.constant(ty.clone(), "-7.0");
                masked(g, value, other, known)
            }
        };
    }
    value
}

/// One of two tiles, by what their coordinates are.
fn masked(g: &mut Generator, a: Id, b: Id, known: &[String]) -> Id {
    let ty = g.ty(a).with("i32");
    let left = number(g, &ty, known);
    let left = counted(g, left, known);
    let right = number(g, &ty, known);
    let name = g.choices.of(&RELATIONS);
    let truth = g.value(ty.with("i1"));
    let (ins, attributes) = (vec![left, right], String::new());
    g.push(Statement::Op { name, ins, out: truth, attributes });
    let ty = g.ty(a);
    g.op("select", vec![truth, a, b], ty, "")
}

/// Maybe something more is added.
fn counted(g: &mut Generator, value: Id, known: &[String]) -> Id {
    let ty = g.ty(value);
    match g.choices.below(3) {
        0 => {
            let more = number(g, &ty, known);
            let name = g.choices.of(&["add", "sub", "arith.maxsi", "arith.minsi", "arith.xori"]);
            g.op(name, vec![value, more], ty, "")
        }
        1 => {
            let other = same_type(g, value);
            g.op("add", vec![value, other], ty, "")
        }
        _ => value,
    }
}

/// A tile of coordinates, or of one number.
fn number(g: &mut Generator, ty: &Type, known: &[String]) -> Id {
    let start = g.choices.of(&["", ", start = -3", ", start = 100", ", start = 2147480000"]);
    match g.choices.below(6) {
        0 => {
            let name = g.choices.of(known);
            g.full(ty.clone(), &name, "index")
        }
        1 => g.full(ty.clone(), "%w", "i32"),
        2 => {
            let (axis, dim) = g.choices.of(&[(1, 0), (0, 1)]);
            let line = Type { shape: vec![ty.shape[dim]], element: "i32" };
            let all = g.op("tt.make_range", Vec::new(), line, &format!("axis = 0{start}"));
            g.op("broadcast", vec![all], ty.clone(), &format!("axis = {axis}"))
        }
        _ => {
            let axis = g.choices.below(2);
            g.op("iota", Vec::new(), ty.clone(), &format!("axis = {axis}{start}"))
        }
    }
}
