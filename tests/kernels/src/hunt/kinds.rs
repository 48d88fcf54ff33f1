//! The kinds of programs.

use super::addressed::addressed;
use super::branches::branches;
use super::calls::{CALLS, calls};
use super::choices::Choices;
use super::corner::corner;
use super::elements::{elements, functions};
use super::expressions::{expressions, maps};
use super::flow::{chosen, flow, kept, matrix_types};
use super::generate::Generator;
use super::halo::halo;
use super::halves::halves;
use super::indices::{answers, atomics, few, indices};
use super::line::line;
use super::masks::masks;
use super::memory::{again, batch, copy, ordered, shared, written};
use super::mixture::mixture;
use super::nests::nests;
use super::parts::{long, parts, spelled};
use super::places::places;
use super::program::{Id, Program, Type};
use super::ranks::ranks;
use super::recurrences::{RECURRENCES, recurrences};
use super::revisit::revisit;
use super::spread::spread;
use super::stages::{APART, stages};
use super::sums::sums;
use super::turns::turns;
use super::whole::{quotients, whole};

type Make = fn(&mut Generator);

/// The kinds by name.
pub const KINDS: [(&str, Make); 50] = [
    ("gemm", gemm),
    ("transpose", transpose),
    ("reduce", reduce),
    ("cast", cast),
    ("copy", copy),
    ("chain", chain),
    ("flow", data_flow),
    ("graph", graph),
    ("carried", carried),
    ("nest", nest),
    ("shared", shared),
    ("written", written),
    ("scaled", scaled),
    ("batch", batch),
    ("again", again),
    ("numbers", numbers),
    ("corner", corner),
    ("line", line),
    ("spread", spread),
    ("turns", turns),
    ("kept", kept),
    ("revisit", revisit),
    ("expressions", expressions),
    ("nests", nests),
    ("places", places),
    ("stages", stages),
    ("whole", whole),
    ("masks", masks),
    ("indices", indices),
    ("branches", branches),
    ("parts", parts),
    ("ordered", ordered),
    ("maps", maps),
    (CALLS, calls),
    (RECURRENCES, recurrences),
    ("ranks", ranks),
    ("elements", elements),
    ("atomics", atomics),
    ("quotients", quotients),
    (APART, stages),
    ("halves", halves),
    ("answers", answers),
    ("long", long),
    ("functions", functions),
    ("few", few),
    ("sums", sums),
    ("halo", halo),
    ("spelled", spelled),
    ("addressed", addressed),
    ("mixture", mixture),
];

/// A program of a kind.
#[must_use]
pub fn generate(kind: &str, choices: Choices) -> Option<Program> {
    let (name, make) = KINDS.iter().find(|(name, _)| *name == kind)?;
    let mut g = Generator::new(name, choices);
    make(&mut g);
    Some(g.finish())
}

pub(super) fn extent(g: &mut Generator) -> u32 {
    g.choices.of(&[16, 32, 64, 32, 64, 48, 96, 128, 80, 24, 40, 112, 8])
}

pub(super) const ELEMENTS: [&str; 14] = [
    "f16", "bf16", "f32", "f32", "f16", "e4m3", "e5m2", "i8", "i32", "f64", "i16", "u8",
    "e4m3fnuz", "e5m2fnuz",
];

/// Types of the factors and of the sum.
const PRODUCTS: [(&str, &str, &str); 22] = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f32"),
    ("bf16", "bf16", "f32"),
    ("bf16", "bf16", "f32"),
    ("e4m3", "e4m3", "f32"),
    ("e5m2", "e5m2", "f32"),
    ("e4m3fnuz", "e4m3fnuz", "f32"),
    ("e5m2fnuz", "e5m2fnuz", "f32"),
    ("i8", "i8", "i32"),
    ("f64", "f64", "f64"),
    ("f16", "f16", "f16"),
    ("f32", "f32", "f32"),
    ("u8", "u8", "i32"),
    ("bf16", "bf16", "bf16"),
    ("e4m3", "e4m3", "f16"),
    ("f16", "f16", "f32"),
    ("e4m3", "e5m2", "f32"),
    ("e5m2", "e4m3", "f32"),
    ("e5m2fnuz", "e4m3fnuz", "f32"),
    ("i8", "u8", "i32"),
    ("u8", "i8", "i32"),
    ("e5m2", "e4m3", "f16"),
];

/// C = A B with any element types, extents, orders, ways and epilogue.
pub(super) fn gemm(g: &mut Generator) {
    let (left, right, sum) = g.choices.of(&PRODUCTS);
    let factors = (left, right);
    let (m, n, k) = (extent(g), extent(g), g.choices.of(&[16, 32, 64, 32, 128, 48]));
    let acc = Type::of(m, n, sum);
    let start = match g.choices.below(6) {
        0 => g.load(&acc),
        1 => {
            let said = if sum == "i32" { "3" } else { g.choices.of(&["0.5", "0.1", "-3.0"]) };
            g.constant(acc.clone(), said)
        }
        _ => g.constant(acc.clone(), "0.0"),
    };
    let flips = (g.choices.once_in(3), g.choices.once_in(2));
    let result = if g.choices.once_in(4) {
        product(g, (m, n, k), factors, start, flips)
    } else {
        let step = k;
        let name = "%k0".to_string();
        let to = if g.choices.once_in(5) { (2 * k).to_string() } else { "%K".to_string() };
        g.repeat_over(&name, &to, step, &[start], |g, inside| {
            vec![product(g, (m, n, k), factors, inside[0], flips)]
        })[0]
    };
    epilogue(g, result);
}

/// A factor: its sum's dimension first or last in memory.
fn product(
    g: &mut Generator,
    (m, n, k): (u32, u32, u32),
    factors: (&'static str, &'static str),
    sum: Id,
    flips: (bool, bool),
) -> Id {
    let (ta, tb) = (Type::of(m, k, factors.0), Type::of(k, n, factors.1));
    let a = if flips.0 { g.load_transposed(&ta) } else { g.load(&ta) };
    let b = if flips.1 { g.load_transposed(&tb) } else { g.load(&tb) };
    let ty = g.ty(sum);
    g.op("mma", vec![a, b, sum], ty, "")
}

fn epilogue(g: &mut Generator, mut value: Id) {
    for _ in 0..g.choices.below(3) {
        value = after(g, value);
    }
    if g.choices.once_in(5) {
        g.store(value);
        value = after(g, value);
    }
    g.store(value);
}

/// One step of an epilogue.
fn after(g: &mut Generator, value: Id) -> Id {
    let ty = g.ty(value);
    let single = ty.element == "f32";
    match g.choices.below(7) {
        0 if single => {
            let zero = g.constant(ty.clone(), "0.0");
            g.op("max", vec![value, zero], ty, "")
        }
        1 if single => {
            let row = g.load(&Type::of(1, ty.shape[1], "f32"));
            let wide = g.op("broadcast", vec![row], ty.clone(), "");
            g.op("add", vec![value, wide], ty, "")
        }
        2 if single => {
            let other = g.load(&ty);
            g.op("sub", vec![value, other], ty, "")
        }
        3 if single => {
            let sums = reduced(g, value);
            let ty = g.ty(value);
            g.op("sub", vec![value, sums], ty, "")
        }
        4 => g.op("trans", vec![value], ty.flipped(), ""),
        5 if single => {
            let to = g.choices.of(&["f16", "bf16", "e4m3", "e5m2"]);
            g.op("cast", vec![value], ty.with(to), "")
        }
        _ => g.op("convert_layout", vec![value], ty, ""),
    }
}

/// A reduction along one dimension, repeated along it.
pub(super) fn reduced(g: &mut Generator, value: Id) -> Id {
    let ty = g.ty(value);
    let axis = g.choices.below(2);
    let kind = g.choices.of(&["add", "max", "min", "add", "max", "min", "mul"]);
    let line = Type { shape: vec![ty.shape[1 - axis]], element: ty.element };
    let mut sums =
        g.op("reduce", vec![value], line.clone(), &format!("axis = {axis}, kind = {kind}"));
    if g.choices.once_in(4) && line.element == "f32" {
        let half = g.constant(line.clone(), "0.5");
        sums = g.op("mul", vec![sums, half], line, "");
    }
    g.op("broadcast", vec![sums], ty, &format!("axis = {axis}"))
}

fn transpose(g: &mut Generator) {
    let ty = Type::of(extent(g), extent(g), g.choices.of(&ELEMENTS));
    let x = g.load(&ty);
    let y = g.op("trans", vec![x], ty.flipped(), "");
    if g.choices.once_in(3) {
        g.store(x);
    }
    if g.choices.once_in(4) {
        let z = g.op("trans", vec![y], ty, "");
        g.store(z);
    }
    g.store(y);
}

pub(super) fn reduce(g: &mut Generator) {
    let from = g.choices.of(&["f32", "f32", "f16", "bf16"]);
    let ty = Type::of(extent(g), g.choices.of(&[32, 64, 128, 192, 256, 96]), from);
    let x = g.load(&ty);
    let wide = ty.with("f32");
    let x = if from == "f32" { x } else { g.op("cast", vec![x], wide.clone(), "") };
    let mut value = x;
    if g.choices.once_in(3) {
        places_of(g, x, false);
    }
    for _ in 0..1 + g.choices.below(2) {
        let sums = reduced(g, value);
        value = g.op("sub", vec![value, sums], wide.clone(), "");
    }
    epilogue(g, value);
}

/// Where the extremes of lines are, or what else stands beside them.
pub(super) fn places_of(g: &mut Generator, value: Id, is_long: bool) {
    let ty = g.ty(value);
    let axis = g.choices.below(2);
    if is_long && g.choices.once_in(2) {
        let beside = g.load(&ty.with("i64"));
        let kind = g.choices.of(&["argmax", "argmin"]);
        let line = Type { shape: vec![ty.shape[1 - axis]], element: "i64" };
        let attributes = format!("axis = {axis}, kind = {kind}");
        let place = g.op("place", vec![value, beside], line, &attributes);
        return g.store(place);
    }
    let beside = if g.choices.once_in(3) {
        g.load(&ty.with("i32"))
    } else {
        g.op("iota", vec![], ty.with("i32"), &format!("axis = {}", axis))
    };
    let kind = g.choices.of(&["argmax", "argmin"]);
    let line = Type { shape: vec![ty.shape[1 - axis]], element: "i32" };
    let place = g.op("place", vec![value, beside], line, &format!("axis = {axis}, kind = {kind}"));
    g.store(place);
}

fn cast(g: &mut Generator) {
    const NARROW: [&str; 9] =
        ["f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "f32", "i8", "i32"];
    let ty = Type::of(extent(g), extent(g), g.choices.of(&NARROW));
    let mut value = match g.choices.below(8) {
        0 | 1 => g.load_transposed(&ty),
        2 => {
            let row = g.load(&Type::of(1, ty.shape[1], ty.element));
            g.op("broadcast", vec![row], ty.clone(), "")
        }
        _ => g.load(&ty),
    };
    let first = value;
    for _ in 0..1 + g.choices.below(3) {
        let own = g.ty(value);
        let to = g.choices.of(&NARROW);
        value = match g.choices.below(4) {
            0 => g.op("trans", vec![value], own.flipped(), ""),
            1 if !own.element.starts_with('i') && !to.starts_with('i') && own.element != to => {
                let name = g.choices.of(&["cast", "tt.fp_to_fp"]);
                g.op(name, vec![value], own.with(to), "")
            }
            _ if own.element == "f32" => g.op("cast", vec![value], own.with(to), ""),
            _ => g.op("cast", vec![value], own.with("f32"), ""),
        };
    }
    if g.choices.once_in(3) {
        g.store(first);
    }
    g.store(value);
}

/// The result of a product is a factor of the next.
fn chain(g: &mut Generator) {
    let half = g.choices.of(&["f16", "bf16", "e4m3"]);
    let (m, k, n, p) = (
        g.choices.of(&[64, 32, 48, 96]),
        g.choices.of(&[32, 64, 16]),
        g.choices.of(&[32, 64, 96, 128]),
        g.choices.of(&[32, 64, 16]),
    );
    let a = g.load(&Type::of(m, k, half));
    let zero = g.constant(Type::of(m, n, "f32"), "0.0");
    let start = g.constant(Type::of(m, p, "f32"), "0.0");
    let body = |g: &mut Generator, sum: Id| {
        let b = if g.choices.once_in(2) {
            g.load_transposed(&Type::of(k, n, half))
        } else {
            g.load(&Type::of(k, n, half))
        };
        let mut s = g.op("mma", vec![a, b, zero], Type::of(m, n, "f32"), "");
        if g.choices.once_in(3) {
            let scale = g.constant(Type::of(m, n, "f32"), "0.0625");
            s = g.op("mul", vec![s, scale], Type::of(m, n, "f32"), "");
        }
        let mut h = g.op("cast", vec![s], Type::of(m, n, half), "");
        if g.choices.once_in(2) {
            h = g.op("convert_layout", vec![h], Type::of(m, n, half), "");
        }
        let e = g.load(&Type::of(n, p, half));
        g.op("mma", vec![h, e, sum], Type::of(m, p, "f32"), "")
    };
    let result = if g.choices.once_in(2) {
        body(g, start)
    } else {
        g.repeat(&[start], |g, inside| vec![body(g, inside[0])])[0]
    };
    epilogue(g, result);
}

pub(super) fn data_flow(g: &mut Generator) {
    let types = matrix_types(g);
    let steps = 4 + g.choices.below(7);
    flow(g, &types, steps, 2);
    stores(g);
}

/// Stores some of what can be named.
pub(super) fn stores(g: &mut Generator) {
    for _ in 0..1 + g.choices.below(3) {
        if let Some(value) = g.pick(|_| true) {
            g.store(value);
        }
    }
}

/// Elementwise operations on few tiles, each used several times.
fn graph(g: &mut Generator) {
    let ty = Type::of(extent(g), extent(g), "f32");
    for _ in 0..1 + g.choices.below(3) {
        if g.choices.once_in(3) {
            g.load_transposed(&ty);
        } else {
            g.load(&ty);
        }
    }
    for _ in 0..3 + g.choices.below(8) {
        chosen(
            g,
            std::slice::from_ref(&ty),
            &[
                "elementwise",
                "elementwise",
                "elementwise",
                "convert",
                "trans",
                "reduce",
                "function",
                "choice",
            ],
        );
    }
    stores(g);
}

/// Loops whose values are permuted, kept as previous ones, or yielded twice.
pub(super) fn carried(g: &mut Generator) {
    let element = g.choices.of(&["f32", "f32", "f32", "f16"]);
    let ty = Type::of(extent(g), extent(g), element);
    let mut starts = Vec::new();
    for _ in 0..1 + g.choices.below(3) {
        starts.push(g.load(&ty));
    }
    if g.choices.once_in(2) {
        starts.push(g.constant(ty.clone(), "1.0"));
    }
    if g.choices.once_in(3) {
        starts.push(starts[0]);
    }
    let results = turning(g, &ty, &starts, 2);
    for value in results {
        if g.choices.below(4) > 0 {
            g.store(value);
        }
    }
}

fn turning(g: &mut Generator, ty: &Type, starts: &[Id], depth: usize) -> Vec<Id> {
    g.repeat(starts, |g, inside| {
        let mut own = inside.to_vec();
        for _ in 0..g.choices.below(3) {
            let names = ["load", "elementwise", "convert", "reduce", "elementwise", "trans"];
            if let Some(new) = chosen(g, std::slice::from_ref(ty), &names)
                && g.ty(new) == *ty
            {
                own.push(new);
            }
        }
        if depth > 1 && g.choices.once_in(4) {
            let starts: Vec<Id> = inside.to_vec();
            own.extend(turning(g, ty, &starts, depth - 1));
        }
        let rotate = g.choices.below(4);
        (0..inside.len())
            .map(|k| if rotate == 0 { inside[(k + 1) % inside.len()] } else { g.choices.of(&own) })
            .collect()
    })
}

/// Loops in loops around loads, products and shared tiles.
fn nest(g: &mut Generator) {
    let types = matrix_types(g);
    let before = 1 + g.choices.below(3);
    flow(g, &types, before, 0);
    for _ in 0..1 + g.choices.below(2) {
        let starts: Vec<Id> =
            (0..g.choices.below(3)).filter_map(|_| g.pick(|t| t.shape.len() == 2)).collect();
        g.repeat(&starts, |g, inside| {
            let steps = 1 + g.choices.below(3);
            flow(g, &types, steps, 2);
            inside.iter().map(|i| same_type(g, *i)).collect()
        });
    }
    stores(g);
}

/// A register tile of the same type as another.
pub(super) fn same_type(g: &mut Generator, id: Id) -> Id {
    let ty = g.ty(id);
    g.pick(|t| *t == ty).unwrap_or(id)
}

/// Products with a scale for each run of elements.
fn scaled(g: &mut Generator) {
    let (m, n) = (g.choices.of(&[64, 128, 32, 16]), g.choices.of(&[64, 128, 32, 16]));
    let k = g.choices.of(&[128, 64, 256]);
    let (ea, eb) =
        (g.choices.of(&["e4m3", "e4m3", "e5m2"]), g.choices.of(&["e4m3", "e4m3", "e5m2"]));
    let acc = g.constant(Type::of(m, n, "f32"), "0.0");
    let body = |g: &mut Generator, sum: Id| {
        let a = g.load(&Type::of(m, k, ea));
        let b = g.load_transposed(&Type::of(k, n, eb));
        let (sa, sb) = (g.load(&Type::of(m, k / 32, "e8m0")), g.load(&Type::of(n, k / 32, "e8m0")));
        g.op("mma_scaled", vec![a, b, sum, sa, sb], Type::of(m, n, "f32"), "")
    };
    let result = if g.choices.once_in(2) {
        body(g, acc)
    } else {
        g.repeat(&[acc], |g, inside| vec![body(g, inside[0])])[0]
    };
    epilogue(g, result);
}

/// Elementwise operations in any type, on all its numbers: where nothing else stands between, both
/// zeros, infinities, subnormal and the largest ones.
fn numbers(g: &mut Generator) {
    let element = g.choices.of(&["f32", "f16", "bf16", "f64", "i32", "f32"]);
    let ty = Type::of(extent(g), extent(g), element);
    let mut all = vec![g.load(&ty), g.load(&ty)];
    if g.choices.once_in(3) {
        let said = if element == "i32" {
            g.choices.of(&["3", "-7", "0x7F"])
        } else {
            g.choices.of(&["-0.5", "0.1", "65504.0", "-0.0", "inf", "-inf", "1.0009766"])
        };
        all.push(g.constant(ty.clone(), said));
    }
    for _ in 0..1 + g.choices.below(3) {
        let (a, b, c) = (g.choices.of(&all), g.choices.of(&all), g.choices.of(&all));
        let new = match g.choices.below(8) {
            0 => g.op("fma", vec![a, b, c], ty.clone(), ""),
            1 => g.op("neg", vec![a], ty.clone(), ""),
            2 => g.op("sub", vec![a, b], ty.clone(), ""),
            3 => g.op("mul", vec![a, b], ty.clone(), ""),
            4 => g.op("max", vec![a, b], ty.clone(), ""),
            5 => g.op("min", vec![a, b], ty.clone(), ""),
            6 if element == "f32" => {
                let to = g.choices.of(&["f16", "bf16"]);
                let narrow = g.op("cast", vec![a], ty.with(to), "");
                g.op("cast", vec![narrow], ty.clone(), "")
            }
            _ => g.op("add", vec![a, b], ty.clone(), ""),
        };
        all.push(new);
    }
    if let Some(last) = all.last() {
        g.store(*last);
    }
}
