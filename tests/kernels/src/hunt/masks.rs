//! Loads and stores of some elements of a tile: inside of a tensor that ends there, of some rows, of
//! those that data say; what stands in the place of the others.

use super::generate::Generator;
use super::program::{Argument, Combines, Id, Place, Statement, Type, bytes};

const ELEMENTS: [&str; 10] = ["f32", "f16", "bf16", "i32", "f32", "f64", "i8", "u8", "i16", "e4m3"];

pub(super) fn masks(g: &mut Generator) {
    let element = g.choices.of(&ELEMENTS);
    let is_line = g.choices.once_in(6);
    let (rows, cols) = (g.choices.of(&[16, 32, 64, 48]), g.choices.of(&[16, 32, 64, 96, 40]));
    let ty = if is_line {
        Type { shape: vec![g.choices.of(&[64, 128, 256, 96])], element }
    } else {
        Type::of(rows, cols, element)
    };
    let mut all = Vec::new();
    for _ in 0..1 + g.choices.below(3) {
        all.push(taken(g, &ty));
    }
    if g.choices.once_in(3) && !is_line {
        let value = all[0];
        let turned = g.op("trans", vec![value], ty.flipped(), "");
        given(g, turned);
    }
    if g.choices.once_in(3) && all.len() > 1 && ["f32", "i32", "f16"].contains(&element) {
        let name = g.choices.of(&["add", "mul", "sub"]);
        all.push(g.op(name, vec![all[0], all[1]], ty.clone(), ""));
    }
    for value in all {
        given(g, value);
    }
}

/// How many rows and columns there are beyond which nothing is.
pub(super) fn ends(g: &mut Generator, ty: &Type) -> Vec<u32> {
    ty.shape
        .iter()
        .map(|extent| match g.choices.below(4) {
            0 => *extent,
            1 => (extent / 2).max(1),
            2 => extent.saturating_sub(3).max(1),
            _ => 1 + g.choices.below(*extent as usize) as u32,
        })
        .collect()
}

/// A tensor that ends where tiles may be touched, and the tile's corner in it.
pub(super) fn tensor(g: &mut Generator, ty: &Type, ends: &[u32]) -> Place {
    let from: Vec<u32> = ends.iter().map(|_| g.choices.of(&[0, 16, 0])).collect();
    let number = g.program.arguments.len();
    g.program.arguments.push(Argument::Tensor {
        extents: ends.iter().zip(&from).map(|(end, from)| Some(end + from)).collect(),
        element: ty.element,
        align: g.choices.of(&[16, 16, 4]).max(bytes(ty.element)),
        div: 1,
        bounds: Vec::new(),
    });
    Place::Global(number, from.iter().map(ToString::to_string).collect())
}

/// Which elements are there.
pub(super) fn mask(g: &mut Generator, ty: &Type, ends: &[u32]) -> Id {
    let (index, truth) = (ty.with("i32"), ty.with("i1"));
    let mut out = None;
    for (axis, (end, extent)) in ends.iter().zip(&ty.shape).enumerate() {
        if end == extent && g.choices.once_in(2) {
            continue;
        }
        let count = g.op("iota", Vec::new(), index.clone(), &format!("axis = {axis}"));
        let last = g.constant(index.clone(), &end.to_string());
        let (name, ins) = g.choices.of(&[
            ("compare.slt", [count, last]),
            ("compare.ult", [count, last]),
            ("compare.sgt", [last, count]),
        ]);
        let inside = g.op(name, ins.to_vec(), truth.clone(), "");
        out = Some(match out {
            None => inside,
            Some(other) => g.op("arith.andi", vec![other, inside], truth.clone(), ""),
        });
    }
    if g.choices.once_in(4) {
        // Of these, some that data say.
        let data = g.load(&index);
        let bit = g.constant(index.clone(), "4");
        let bits = g.op("arith.andi", vec![data, bit], index, "");
        let said = g.op("compare.eq", vec![bits, bit], truth.clone(), "");
        out = Some(match out {
            None => said,
            Some(other) => g.op("arith.andi", vec![other, said], truth.clone(), ""),
        });
    }
    out.unwrap_or_else(|| g.constant(truth, "1"))
}

pub(super) fn taken(g: &mut Generator, ty: &Type) -> Id {
    let ends = ends(g, ty);
    let from = tensor(g, ty, &ends);
    let mask = mask(g, ty, &ends);
    let is_choosable = !["f64", "e4m3"].contains(&ty.element);
    let other = match g.choices.below(4) {
        0 if is_choosable => Some(g.constant(ty.clone(), "5")),
        1 if is_choosable => Some(g.load(ty)),
        2 => Some(g.constant(ty.clone(), "0")),
        _ => None,
    };
    let out = g.value(ty.clone());
    g.push(Statement::LoadSome { out, from, index: None, mask: Some(mask), other });
    g.show(out)
}

pub(super) fn given(g: &mut Generator, value: Id) {
    if g.choices.once_in(3) {
        return g.store(value);
    }
    let ty = g.ty(value);
    let ends = ends(g, &ty);
    let to = tensor(g, &ty, &ends);
    let mask = mask(g, &ty, &ends);
    g.push(Statement::StoreSome {
        value,
        to,
        index: None,
        mask: Some(mask),
        combines: Combines::default(),
    });
}
