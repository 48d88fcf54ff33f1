//! Arithmetic of indices: expressions over block numbers, arguments, counters and numbers of either
//! sign, as subscripts and as bounds of loops.

use super::generate::Generator;
use super::program::{Argument, Id, Place, Statement, Type, bytes};

/// Operations of two numbers; relations; operations whose second number is a divisor.
const PLAIN: [&str; 7] =
    ["index.add", "index.sub", "index.mul", "index.min", "index.max", "index.minu", "index.maxu"];
const RELATIONS: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
const DIVIDING: [&str; 8] = [
    "index.div",
    "index.rem",
    "index.cdiv",
    "index.divu",
    "index.remu",
    "index.cdivu",
    "arith.divsi",
    "arith.remsi",
];
/// Numbers, small and at the ends of what 32 bits hold.
const NUMBERS: [&str; 14] = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "16",
    "100",
    "-1",
    "-3",
    "-64",
    "46341",
    "1000003",
    "2147483647",
    "-2147483648",
];
const DIVISORS: [&str; 12] =
    ["1", "2", "3", "5", "7", "16", "64", "100", "641", "1000003", "-1", "-6"];

/// Tiles added up at places that are computed, in and out of loops.
pub(super) fn expressions(g: &mut Generator) {
    computed(g, false);
}

/// The same, and affine maps between them.
pub(super) fn maps(g: &mut Generator) {
    computed(g, true);
}

fn computed(g: &mut Generator, has_maps: bool) {
    let element = "f32";
    let ty = Type::of(g.choices.of(&[16, 32, 8]), g.choices.of(&[16, 32, 64]), element);
    let mut known: Vec<String> = ["%m", "%n", "%p"].map(String::from).to_vec();
    let blocks = [g.named("block_id x", &[]), g.named("block_id y", &[])];
    known.extend(blocks.clone());
    if g.choices.once_in(2) {
        known.push(g.named("num_blocks y", &[]));
    }
    grow(g, &mut known, has_maps);
    let mut value = taken(g, &ty, &known);
    if g.choices.below(3) > 0 {
        let from = within(g, &known, "7");
        let from = g.index("index.sub", &from, "3");
        let turns = within(g, &known, "4");
        let to = g.index("index.add", &from, &turns);
        let counter = g.new_counter();
        let step = g.choices.of(&[1, 2, 1, 3]);
        let around = known.clone();
        value = g.repeat_from(&counter.clone(), (&from, &to), step, &[value], |g, inside| {
            let mut known = around;
            known.push(counter.clone());
            known.push(counter);
            grow(g, &mut known, has_maps);
            let more = taken(g, &ty, &known);
            vec![sum(g, inside[0], more, &ty)]
        })[0];
    }
    // Each block has a place of its own.
    let rows = g.index("index.mul", &blocks[0], &ty.shape[0].to_string());
    let cols = g.index("index.mul", &blocks[1], &ty.shape[1].to_string());
    let number = tensor(g, &ty);
    g.push(Statement::Store { value, to: Place::Global(number, vec![rows, cols]) });
}

fn sum(g: &mut Generator, a: Id, b: Id, ty: &Type) -> Id {
    g.op("add", vec![a, b], ty.clone(), "")
}

fn tensor(g: &mut Generator, ty: &Type) -> usize {
    let align = g.choices.of(&[16, 16, 8, 4]).max(bytes(ty.element));
    let div = g.choices.of(&[8, 16, 1, 4]);
    let extents = vec![None, None];
    g.program.arguments.push(Argument::Tensor {
        extents,
        element: ty.element,
        align,
        div,
        bounds: Vec::new(),
    });
    g.program.arguments.len() - 1
}

/// A tile at a place that is computed.
fn taken(g: &mut Generator, ty: &Type, known: &[String]) -> Id {
    let from = tensor(g, ty);
    let most = g.choices.of(&["40", "7", "16"]);
    let row = within(g, known, most);
    let mut col = within(g, known, "5");
    if g.choices.once_in(2) {
        col = g.index("index.mul", &col, "8");
    }
    let out = g.value(ty.clone());
    g.push(Statement::Load { out, from: Place::Global(from, vec![row, col]) });
    g.show(out)
}

/// An index from 0 up to below a number.
fn within(g: &mut Generator, known: &[String], below: &str) -> String {
    let of = g.choices.of(known);
    let how = g.choices.of(&["index.remu", "index.rem"]);
    g.index(how, &of, below)
}

/// More indices from those that there are.
fn grow(g: &mut Generator, known: &mut Vec<String>, has_maps: bool) {
    for _ in 0..3 + g.choices.below(8) {
        if has_maps && g.choices.once_in(2) {
            let new = map(g, known);
            known.push(new);
            continue;
        }
        let (a, b) = (operand(g, known), operand(g, known));
        let new = match g.choices.below(9) {
            7.. => {
                let kind = g.choices.of(&RELATIONS);
                g.named("index.cmp", &[&a, &format!("{b} {{kind = {kind}}}")])
            }
            0..3 => {
                let how = g.choices.of(&PLAIN);
                g.named(how, &[&a, &b])
            }
            3..6 => {
                let how = g.choices.of(&DIVIDING);
                let by = match g.choices.below(3) {
                    0 => g.index("index.max", &b, "1"),
                    1 if !how.ends_with('u') => g.index("index.min", &b, "-1"),
                    _ => g.choices.of(&DIVISORS).to_string(),
                };
                g.named(how, &[&a, &by])
            }
            6 => {
                let c = operand(g, known);
                g.named("index.select", &[&a, &b, &c])
            }
        };
        known.push(new);
    }
}

fn operand(g: &mut Generator, known: &[String]) -> String {
    if g.choices.once_in(4) { g.choices.of(&NUMBERS).to_string() } else { g.choices.of(known) }
}

/// A map of up to two dimensions and a symbol.
fn map(g: &mut Generator, known: &[String]) -> String {
    let (dims, symbols) = (1 + g.choices.below(2), g.choices.below(2));
    let names: Vec<String> =
        (0..dims).map(|k| format!("d{k}")).chain((0..symbols).map(|k| format!("s{k}"))).collect();
    let text = part(g, &names, 3);
    let given: Vec<String> = names.iter().map(|_| operand(g, known)).collect();
    let in_front = names[..dims].join(", ");
    let (symbols, rest) = match symbols {
        0 => (String::new(), String::new()),
        _ => (format!("[{}]", names[dims..].join(", ")), format!(", {}", given[dims..].join(", "))),
    };
    let said = format!(
        "affine_map<({in_front}){symbols} -> ({text})>({}{rest})",
        given[..dims].join(", ")
    );
    g.named("affine.apply", &[&said])
}

/// A part of a map's expression.
fn part(g: &mut Generator, names: &[String], depth: usize) -> String {
    match g.choices.below(if depth == 0 { 3 } else { 9 }) {
        0 => g
            .choices
            .of(&["0", "1", "3", "16", "100", "-7", "2147483647", "-2147483648"])
            .to_string(),
        1 => format!("-{}", g.choices.of(names)),
        2 => g.choices.of(names),
        3..6 => {
            let (a, b) = (part(g, names, depth - 1), part(g, names, depth - 1));
            let how = g.choices.of(&["+", "-", "*"]);
            // Also without brackets, by what binds more tightly.
            if g.choices.once_in(2) {
                format!("({a}) {how} ({b})")
            } else {
                format!("{a} {how} {b}")
            }
        }
        _ => {
            let a = part(g, names, depth - 1);
            let how = g.choices.of(&["floordiv", "ceildiv", "mod"]);
            let by = g.choices.of(&["1", "2", "3", "7", "64", "1000003"]);
            if g.choices.once_in(2) {
                format!("({a}) {how} {by}")
            } else {
                format!("{a} {how} {by}")
            }
        }
    }
}
