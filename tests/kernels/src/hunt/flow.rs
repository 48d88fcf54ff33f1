//! Random data flow: operations on any tiles that can be named.

use super::generate::Generator;
use super::kinds::{reduced, same_type};
use super::program::{Id, Place, Statement, Type};

/// A few types whose tiles can be factors of each other, added to and cast into each other.
pub(super) fn matrix_types(g: &mut Generator) -> Vec<Type> {
    let (r, c) = (g.choices.of(&[64, 32, 16, 128]), g.choices.of(&[64, 32, 16, 128]));
    let half = g.choices.of(&["f16", "f16", "bf16"]);
    vec![Type::of(r, c, "f32"), Type::of(r, c, half), Type::of(c, r, half), Type::of(r, r, "f32")]
}

/// Sums that are read again when a product has begun with them: as they are, turned around,
/// converted, as what a loop had before.
pub(super) fn kept(g: &mut Generator) {
    let (m, n, k) =
        (g.choices.of(&[64, 32, 16]), g.choices.of(&[64, 32, 16]), g.choices.of(&[32, 16, 64]));
    let half = g.choices.of(&["f16", "bf16"]);
    let (left, right, sum) = (Type::of(m, k, half), Type::of(k, n, half), Type::of(m, n, "f32"));
    let start = match g.choices.below(3) {
        0 => g.constant(sum.clone(), "0.0"),
        _ => g.load(&sum),
    };
    let add = |g: &mut Generator, to: Id| {
        let a = g.load(&left);
        let b = if g.choices.once_in(2) { g.load(&right) } else { g.load_transposed(&right) };
        g.op("mma", vec![a, b, to], sum.clone(), "")
    };
    let first = add(g, start);
    let mut all = vec![start, first];
    for _ in 0..1 + g.choices.below(3) {
        let from = g.choices.of(&all);
        let new = match g.choices.below(6) {
            0..=2 => add(g, from),
            3 => {
                let other = g.choices.of(&all);
                g.op("add", vec![from, other], sum.clone(), "")
            }
            4 => g.op("convert_layout", vec![from], sum.clone(), ""),
            // What the sum was, and what it is.
            _ => {
                let results =
                    g.repeat(&[from, from], |g, inside| vec![add(g, inside[0]), inside[0]]);
                all.push(results[1]);
                results[0]
            }
        };
        all.push(new);
    }
    for _ in 0..2 + g.choices.below(2) {
        let value = g.choices.of(&all);
        if g.choices.once_in(3) {
            let turned = g.op("trans", vec![value], sum.flipped(), "");
            g.store(turned);
        } else {
            g.store(value);
        }
    }
}

/// So many random steps; loops go so deep.
pub(super) fn flow(g: &mut Generator, types: &[Type], steps: usize, depth: usize) {
    const NAMES: [&str; 19] = [
        "choice",
        "load",
        "load",
        "load",
        "elementwise",
        "elementwise",
        "product",
        "product",
        "cast",
        "cast",
        "trans",
        "convert",
        "reduce",
        "round",
        "round",
        "copied",
        "function",
        "reshape",
        "loop",
    ];
    for _ in 0..steps {
        let name = g.choices.of(&NAMES);
        if name != "loop" {
            chosen(g, types, &[name]);
        } else if depth > 0 {
            let starts: Vec<Id> =
                (0..g.choices.below(3)).filter_map(|_| g.pick(|t| t.shape.len() == 2)).collect();
            g.repeat(&starts, |g, inside| {
                let steps = g.choices.below(4);
                flow(g, types, steps, depth - 1);
                inside.iter().map(|i| same_type(g, *i)).collect()
            });
        }
    }
}

/// Functions of one number, by an instruction or by several operations.
const FUNCTIONS: [&str; 9] =
    ["exp2", "rcp", "rsqrt", "math.sqrt", "math.log2", "exp", "log", "math.tanh", "math.erf"];

/// Comparisons of floats.
const RELATIONS: [&str; 6] =
    ["compare.olt", "compare.oge", "compare.une", "compare.oeq", "compare.ult", "compare.uno"];

/// One step of one of these names; its result.
pub(super) fn chosen(g: &mut Generator, types: &[Type], names: &[&str]) -> Option<Id> {
    match g.choices.of(names) {
        "load" => {
            let ty = g.choices.of(types);
            Some(if g.choices.once_in(4) { g.load_transposed(&ty) } else { g.load(&ty) })
        }
        "elementwise" => elementwise(g),
        "function" => {
            let a = g.pick(|t| t.element == "f32")?;
            let ty = g.ty(a);
            let name = g.choices.of(&FUNCTIONS);
            // Arguments that no error carries far.
            let half = g.constant(ty.clone(), "0.5");
            let square = g.op("mul", vec![a, a], ty.clone(), "");
            let above = g.op("max", vec![square, half], ty.clone(), "");
            let two = g.constant(ty.clone(), "2.0");
            let within = g.op("min", vec![above, two], ty.clone(), "");
            Some(g.op(name, vec![within], ty, ""))
        }
        "choice" => {
            let a = g.pick(|t| t.element == "f32")?;
            let (ty, b) = (g.ty(a), same_type(g, a));
            let name = g.choices.of(&RELATIONS);
            // Nothing else reads a truth.
            let truth = g.value(ty.with("i1"));
            let ins = vec![a, b];
            g.push(Statement::Op { name, ins, out: truth, attributes: String::new() });
            Some(g.op("select", vec![truth, a, b], ty, ""))
        }
        "product" => product(g),
        "cast" => {
            let a = g.pick(|t| matches!(t.element, "f32" | "f16" | "bf16"))?;
            let ty = g.ty(a);
            let to = if ty.element == "f32" {
                types.iter().map(|t| t.element).find(|e| *e != "f32")?
            } else {
                "f32"
            };
            Some(g.op("cast", vec![a], ty.with(to), ""))
        }
        "trans" => {
            let a = g.pick(|t| t.shape.len() == 2)?;
            let ty = g.ty(a).flipped();
            Some(g.op("trans", vec![a], ty, ""))
        }
        "reshape" => {
            let a = g.pick(|t| t.shape.len() == 2)?;
            let ty = g.ty(a);
            let (r, c) = (ty.shape[0], ty.shape[1]);
            let shape = if g.choices.once_in(2) { vec![r * 2, c / 2] } else { vec![r / 2, c * 2] };
            Some(g.op("reshape", vec![a], Type { shape, element: ty.element }, ""))
        }
        "convert" => {
            let a = g.pick(|t| t.shape.len() == 2)?;
            let ty = g.ty(a);
            Some(g.op("convert_layout", vec![a], ty, ""))
        }
        "reduce" => {
            let a = g.pick(|t| t.element == "f32" && t.shape.len() == 2)?;
            Some(reduced(g, a))
        }
        // Through shared memory, maybe another way round.
        "round" => {
            let a = g.pick(|t| t.shape.len() == 2)?;
            let ty = g.ty(a);
            let shared = g.alloc(&ty);
            g.push(Statement::Store { value: a, to: Place::Shared(shared) });
            let back = g.read(shared);
            Some(if g.choices.once_in(3) {
                g.op("trans", vec![back], ty.flipped(), "")
            } else {
                back
            })
        }
        // A copy that is read, or not.
        _ => {
            let ty = g.choices.of(types);
            let shared = g.alloc(&ty);
            let from = g.source(&ty);
            g.push(Statement::Copy { from, to: Place::Shared(shared), ty });
            (g.choices.below(3) > 0).then(|| g.read(shared))
        }
    }
}

fn elementwise(g: &mut Generator) -> Option<Id> {
    let half = g.choices.once_in(4);
    let a = g.pick(|t| t.element == if half { "f16" } else { "f32" })?;
    if g.choices.once_in(6) {
        let names = ["neg", "math.absf", "math.floor", "math.ceil"];
        let name = g.choices.of(if half { &names[..2] } else { &names });
        return Some(g.op(name, vec![a], g.ty(a), ""));
    }
    let ty = g.ty(a);
    let b = same_type(g, a);
    Some(match g.choices.below(7) {
        0 => {
            let c = same_type(g, b);
            g.op("fma", vec![a, b, c], ty, "")
        }
        1 => {
            let c = g.constant(ty.clone(), "0.25");
            g.op("fma", vec![a, c, b], ty, "")
        }
        n => {
            let name = ["add", "sub", "mul", "max", "min"][n - 2];
            g.op(name, vec![a, b], ty, "")
        }
    })
}

fn product(g: &mut Generator) -> Option<Id> {
    let a = g.pick(|t| matches!(t.element, "f16" | "bf16") && t.shape.len() == 2)?;
    let left = g.ty(a);
    let b =
        g.pick(|t| t.element == left.element && t.shape.len() == 2 && t.shape[0] == left.shape[1])?;
    let ty = Type::of(left.shape[0], g.ty(b).shape[1], "f32");
    let kept = g.choices.below(2) == 0;
    let c = g.pick(|t| kept && *t == ty);
    let c = c.unwrap_or_else(|| g.constant(ty.clone(), "0.0"));
    Some(g.op("mma", vec![a, b, c], ty, ""))
}
