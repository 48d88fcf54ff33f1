//! Whole numbers of all widths, with signs and without: arithmetic, comparisons, choices, and casts
//! between them and floats.

use super::generate::Generator;
use super::places::RELATIONS;
use super::program::{Id, Type, bytes};

const WHOLE: [&str; 6] = ["i8", "u8", "i16", "u16", "i32", "u32"];
const FLOATS: [&str; 3] = ["f32", "f16", "bf16"];
const PAIRS: [&str; 16] = [
    "add",
    "sub",
    "mul",
    "max",
    "min",
    "arith.maxsi",
    "arith.minsi",
    "arith.maxui",
    "arith.minui",
    "arith.andi",
    "arith.ori",
    "arith.xori",
    "arith.shli",
    "arith.shrui",
    "arith.shrsi",
    "tt.mulhiui",
];
const QUOTIENTS: [&str; 4] = ["divsi", "divui", "remsi", "remui"];

/// Quotients and remainders, by what is loaded, by small numbers, by one number, of what was made.
pub(super) fn quotients(g: &mut Generator) {
    let ty = Type::of(
        g.choices.of(&[16, 32, 48, 8]),
        g.choices.of(&[32, 64, 96, 16, 40]),
        g.choices.of(&WHOLE),
    );
    let mut all = vec![g.load(&ty), g.load(&ty)];
    for _ in 0..1 + g.choices.below(3) {
        let (a, b) = (g.choices.of(&all), g.choices.of(&all));
        let by = match g.choices.below(4) {
            0 => {
                let number = g.choices.of(&["1", "2", "3", "7", "10", "100", "127"]);
                g.constant(ty.clone(), number)
            }
            1 => {
                let (low, one) = (g.constant(ty.clone(), "15"), g.constant(ty.clone(), "1"));
                let few = g.op("arith.andi", vec![b, low], ty.clone(), "");
                g.op("add", vec![few, one], ty.clone(), "")
            }
            _ => b,
        };
        let name = g.choices.of(&QUOTIENTS);
        let new = g.op(name, vec![a, by], ty.clone(), "");
        g.store(new);
        all.push(new);
    }
}

pub(super) fn whole(g: &mut Generator) {
    let (rows, cols) = (g.choices.of(&[16, 32, 48, 8]), g.choices.of(&[32, 64, 96, 16, 40]));
    let element = g.choices.of(&WHOLE);
    let ty = Type::of(rows, cols, element);
    for _ in 0..1 + g.choices.below(2) {
        if g.choices.once_in(4) {
            g.load_transposed(&ty);
        } else {
            g.load(&ty);
        }
    }
    for _ in 0..2 + g.choices.below(6) {
        let Some(a) = g.pick(|t| t.element != "i1") else { break };
        step(g, a);
    }
    for _ in 0..1 + g.choices.below(3) {
        if let Some(value) = g.pick(|t| t.element != "i1") {
            g.store(value);
        }
    }
}

fn step(g: &mut Generator, a: Id) {
    let own = g.ty(a);
    if FLOATS.contains(&own.element) {
        let to = g.choices.of(&WHOLE);
        let name = g.choices.of(&["cast", "arith.fptosi", "arith.fptoui"]);
        g.op(name, vec![a], own.with(to), "");
        return;
    }
    let same = own.clone();
    let b = g.pick(|t| *t == same).unwrap_or(a);
    match g.choices.below(9) {
        0..=2 => {
            let name = g.choices.of(&PAIRS);
            let count = if name.starts_with("arith.sh") { counts(g, b, &own) } else { b };
            g.op(name, vec![a, count], own, "");
        }
        3 => {
            let truths = own.with("i1");
            let name = g.choices.of(&RELATIONS);
            let truth = g.op(name, vec![a, b], truths, "");
            g.op("select", vec![truth, b, a], own, "");
        }
        4 => {
            let said = g.choices.of(&["3", "100", "0x7F"]);
            let number = g.constant(own.clone(), said);
            g.op("sub", vec![number, a], own, "");
        }
        5 => {
            let to = g.choices.of(&FLOATS);
            let name = g.choices.of(&["cast", "arith.sitofp", "arith.uitofp"]);
            g.op(name, vec![a], own.with(to), "");
        }
        6 => {
            let name = g.choices.of(&["trans", "neg", "convert_layout"]);
            let ty = if name == "trans" { own.flipped() } else { own };
            g.op(name, vec![a], ty, "");
        }
        _ => {
            let to = g.choices.of(&WHOLE);
            let names: &[&str] = match bytes(to).cmp(&bytes(own.element)) {
                std::cmp::Ordering::Less => &["cast", "arith.trunci"],
                std::cmp::Ordering::Greater => &["cast", "arith.extsi", "arith.extui"],
                std::cmp::Ordering::Equal => &["cast", "arith.bitcast"],
            };
            let name = g.choices.of(names);
            if to != own.element {
                g.op(name, vec![a], own.with(to), "");
            }
        }
    }
}

/// Numbers below the width of what they shift by.
fn counts(g: &mut Generator, of: Id, ty: &Type) -> Id {
    let most = (8 * bytes(ty.element) - 1).to_string();
    let most = g.constant(ty.clone(), &most);
    g.op("arith.andi", vec![of, most], ty.clone(), "")
}
