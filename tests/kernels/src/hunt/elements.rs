//! Arithmetic on elements of any type: sums, bits, shifts, comparisons and choices, and casts from
//! one to the next, of 8 to 64 bits, with signs and without.

use super::generate::Generator;
use super::kinds::extent;
use super::places::RELATIONS;
use super::program::{Id, Type};

const WHOLE: [&str; 8] = ["i64", "u64", "i32", "u32", "i16", "u16", "i8", "u8"];
const FLOATS: [&str; 8] = ["f64", "f32", "f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"];

/// Elements of 64 bits as often as all others.
fn element(g: &mut Generator) -> &'static str {
    match g.choices.below(4) {
        0 => g.choices.of(&["i64", "u64", "f64"]),
        1 => "f64",
        2 => g.choices.of(&FLOATS),
        _ => g.choices.of(&WHOLE),
    }
}

fn is_float(element: &str) -> bool {
    FLOATS.contains(&element)
}

pub(super) fn elements(g: &mut Generator) {
    let element = element(g);
    let ty = Type::of(extent(g), g.choices.of(&[16, 32, 64, 24]), element);
    let mut all = vec![g.load(&ty), g.load(&ty)];
    if g.choices.once_in(3) {
        let said = match element {
            _ if is_float(element) => g.choices.of(&["-0.5", "1.5", "0.25", "0.0"]),
            _ if element.starts_with('u') => g.choices.of(&["3", "0x7F", "200"]),
            _ => g.choices.of(&["3", "-7", "0x7F"]),
        };
        all.push(g.constant(ty.clone(), said));
    }
    for _ in 0..1 + g.choices.below(4) {
        let last = *all.last().unwrap_or(&all[0]);
        let new = match g.choices.below(4) {
            0 => other(g, last),
            1 => chosen(g, &all),
            _ => computed(g, &all),
        };
        if g.ty(new).element != element || g.choices.once_in(6) {
            g.store(new);
        } else {
            all.push(new);
        }
    }
    if let Some(last) = all.last() {
        g.store(*last);
    }
}

/// As another type, and maybe computed with as that.
fn other(g: &mut Generator, value: Id) -> Id {
    let own = g.ty(value);
    let to = element(g);
    if to == own.element {
        return computed(g, &[value]);
    }
    let cast = g.op("cast", vec![value], own.with(to), "");
    if g.choices.once_in(2) { computed(g, &[cast]) } else { cast }
}

/// One of two by a comparison.
pub(super) fn chosen(g: &mut Generator, all: &[Id]) -> Id {
    let (a, b) = (g.choices.of(all), g.choices.of(all));
    let ty = g.ty(a);
    let name = if is_float(ty.element) {
        g.choices.of(&FLOAT_RELATIONS)
    } else {
        g.choices.of(&RELATIONS)
    };
    let truth = g.op(name, vec![a, b], ty.with("i1"), "");
    g.op("select", vec![truth, b, a], ty, "")
}

/// Relations of floats.
const FLOAT_RELATIONS: [&str; 14] = [
    "compare.oeq",
    "compare.one",
    "compare.olt",
    "compare.ole",
    "compare.ogt",
    "compare.oge",
    "compare.ord",
    "compare.uno",
    "compare.ueq",
    "compare.une",
    "compare.ult",
    "compare.ule",
    "compare.ugt",
    "compare.uge",
];

/// One operation on elements of one type.
pub(super) fn computed(g: &mut Generator, all: &[Id]) -> Id {
    let (a, b, c) = (g.choices.of(all), g.choices.of(all), g.choices.of(all));
    let ty = g.ty(a);
    let name = if is_float(ty.element) {
        g.choices.of(&[
            "add",
            "sub",
            "mul",
            "max",
            "min",
            "neg",
            "math.absf",
            "math.floor",
            "math.ceil",
            "arith.maximumf",
            "arith.minimumf",
            "fma",
        ])
    } else {
        g.choices.of(&[
            "add",
            "sub",
            "mul",
            "max",
            "min",
            "neg",
            "arith.andi",
            "arith.ori",
            "arith.xori",
            "arith.shli",
            "arith.shrui",
            "arith.shrsi",
            "arith.maxsi",
            "arith.minui",
            "tt.mulhiui",
        ])
    };
    let operands = match name {
        "neg" | "math.absf" | "math.floor" | "math.ceil" => vec![a],
        "fma" => vec![a, b, c],
        // The interpreter fixes what counts below the width give.
        _ if name.starts_with("arith.sh") => {
            let most = g.constant(ty.clone(), "7");
            let count = g.op("arith.andi", vec![b, most], ty.clone(), "");
            vec![a, count]
        }
        _ => vec![a, b],
    };
    g.op(name, operands, ty, "")
}

/// Functions of floats, also of what others made, and quotients.
pub(super) fn functions(g: &mut Generator) {
    let element = if g.choices.once_in(2) { "f64" } else { g.choices.of(&FLOATS) };
    let ty = Type::of(g.choices.of(&[8, 16]), g.choices.of(&[16, 32, 24]), element);
    let mut all = vec![g.load(&ty), g.load(&ty)];
    for _ in 0..1 + g.choices.below(3) {
        let (a, b) = (g.choices.of(&all), g.choices.of(&all));
        let new = match g.choices.below(5) {
            0 => g.op("div", vec![a, b], ty.clone(), ""),
            1 => computed(g, &all),
            _ => {
                let name = g.choices.of(&FUNCTIONS);
                g.op(name, vec![a], ty.clone(), "")
            }
        };
        if g.choices.once_in(3) {
            g.store(new);
        }
        all.push(new);
    }
    if let Some(last) = all.last() {
        g.store(*last);
    }
}

const FUNCTIONS: [&str; 15] = [
    "exp",
    "exp2",
    "log",
    "math.log2",
    "math.sqrt",
    "rsqrt",
    "rcp",
    "math.sin",
    "math.cos",
    "math.tanh",
    "math.erf",
    "math.floor",
    "math.ceil",
    "math.roundeven",
    "math.trunc",
];
