//! Tiles from and to where indices say: rows of a list that data say, elements one by one, along any
//! dimension; indices that are outside of a tensor's bounds, masks; in loops. Atomic operations, with
//! indices and without.

use super::generate::Generator;
use super::masks::{ends, mask};
use super::program::{Argument, Combines, Id, Place, Statement, Type, bytes};

const ELEMENTS: [&str; 9] = ["f32", "f16", "bf16", "i32", "u32", "f64", "i8", "i16", "e4m3"];

/// Bits of an index.
const BITS: [u32; 4] = [3, 4, 5, 6];

/// A tensor whose elements indices say, and what they may be.
struct Indexed {
    /// The tensor, with the tile's corner in it.
    place: Place,
    /// The dimension along which they count.
    axis: usize,
    /// They are below this power of two.
    bits: u32,
    /// Whether they may be outside.
    is_bounded: bool,
}

pub(super) fn indices(g: &mut Generator) {
    let element = g.choices.of(&ELEMENTS);
    let is_line = g.choices.once_in(6);
    let (rows, cols) = (g.choices.of(&[16, 32, 64, 48]), g.choices.of(&[16, 32, 64, 96, 40]));
    let ty = if is_line {
        Type { shape: vec![g.choices.of(&[64, 128, 256, 96])], element }
    } else {
        Type::of(rows, cols, element)
    };
    let mut all = Vec::new();
    for _ in 0..1 + g.choices.below(2) {
        all.push(taken(g, &ty));
    }
    let is_summed = ["f32", "i32", "f16", "bf16", "f64"].contains(&element);
    if is_summed && g.choices.once_in(3) {
        all.push(turned(g, &ty, all[0]));
    }
    if is_summed && all.len() > 1 && g.choices.once_in(2) {
        let name = g.choices.of(&["add", "mul", "sub"]);
        all.push(g.op(name, vec![all[0], all[1]], ty.clone(), ""));
    }
    for value in all {
        given(g, value);
    }
}

/// A tensor of as many dimensions as the tile, one more, or one.
fn tensor(g: &mut Generator, ty: &Type, is_written: bool) -> Indexed {
    let more = usize::from(g.choices.once_in(4));
    let rank = if g.choices.once_in(5) { 1 } else { ty.shape.len() + more };
    let axis = if g.choices.once_in(2) { 0 } else { g.choices.below(rank) };
    let tile_dim = (axis + ty.shape.len()).checked_sub(rank);
    let mut bits = g.choices.of(&BITS);
    if is_written && tile_dim.is_some() {
        // No two elements may have one place.
        let all =
            if rank == 1 { ty.shape.iter().product() } else { ty.shape[tile_dim.unwrap_or(0)] };
        bits = all.next_power_of_two().ilog2();
    }
    let is_bounded = g.choices.once_in(3);
    let start = g.choices.of(&[0, 0, 8, 3]);
    let number = g.program.arguments.len();
    let (mut extents, mut bounds, mut corner) = (Vec::new(), Vec::new(), Vec::new());
    for dim in 0..rank {
        let own = (dim + ty.shape.len()).checked_sub(rank).map(|dim| ty.shape[dim]);
        if dim == axis {
            // Where nothing bounds them all that they may be are there.
            let all: u32 = 1 << bits;
            let less = if is_bounded { g.choices.below(3) as u32 } else { 0 };
            let most = if is_bounded { all.saturating_sub(less).max(2) } else { all };
            extents.push(Some(most + start));
            bounds.push((most + start - u32::from(is_bounded)).to_string());
            corner.push(start.to_string());
        } else {
            let from = g.choices.of(&[0, 0, 16, 32]);
            let most = from + own.unwrap_or(1 + g.choices.below(3) as u32);
            let ends = is_bounded && g.choices.once_in(3) && most > 1;
            extents.push(if ends || g.choices.once_in(2) { Some(most) } else { None });
            bounds.push(if ends { (most - 1).to_string() } else { "_".to_string() });
            let last = own.map_or(most - 1 - from, |_| 0);
            corner.push((from + last).to_string());
        }
    }
    let align = g.choices.of(&[16, 16, 4]).max(bytes(ty.element));
    g.program.arguments.push(Argument::Tensor {
        extents,
        element: ty.element,
        align,
        div: if g.choices.once_in(3) { 1 } else { (align / bytes(ty.element)).max(1) },
        bounds: if is_bounded { bounds } else { Vec::new() },
    });
    Indexed { place: Place::Global(number, corner), axis, bits, is_bounded }
}

/// A tile of indices of which no two elements have one place.
fn distinct(g: &mut Generator, ty: &Type, to: &Indexed) -> Id {
    let Place::Global(_, corner) = &to.place else { return index(g, ty, to) };
    let rank = corner.len();
    let Some(dim) = (to.axis + ty.shape.len()).checked_sub(rank) else { return index(g, ty, to) };
    let whole = ty.with("i32");
    let is_by_rows = ty.shape.len() == 2 && dim == 0 && rank > 1 && g.choices.once_in(2);
    let own =
        if is_by_rows { Type { shape: vec![ty.shape[0]], element: "i32" } } else { whole.clone() };
    let mut out = g.op("iota", Vec::new(), own.clone(), &format!("axis = {dim}"));
    if rank == 1 && ty.shape.len() == 2 {
        let rows = g.op("iota", Vec::new(), own.clone(), "axis = 0");
        let cols = g.constant(own.clone(), &ty.shape[1].to_string());
        let first = g.op("mul", vec![rows, cols], own.clone(), "");
        out = g.op("add", vec![first, out], own.clone(), "");
    }
    let other = g.choices.below(1 << to.bits);
    let other = g.constant(own.clone(), &other.to_string());
    out = g.op("arith.xori", vec![out, other], own.clone(), "");
    if to.is_bounded {
        let less = g.constant(own.clone(), "5");
        out = g.op("sub", vec![out, less], own.clone(), "");
    }
    if is_by_rows { g.op("broadcast", vec![out], whole, "axis = 1") } else { out }
}

/// A tile of indices.
fn index(g: &mut Generator, ty: &Type, to: &Indexed) -> Id {
    let whole = ty.with("i32");
    let is_by_rows = ty.shape.len() == 2 && g.choices.below(3) > 0;
    let own =
        if is_by_rows { Type { shape: vec![ty.shape[0]], element: "i32" } } else { whole.clone() };
    let count = g.choices.below(own.shape.len());
    let mut out = match g.choices.below(4) {
        0 => g.op("iota", Vec::new(), own.clone(), &format!("axis = {count}, start = -2")),
        _ => g.load(&own),
    };
    // What is bounded may be anything near, below zero too.
    let bits = if to.is_bounded { to.bits + 1 } else { to.bits };
    let low = g.constant(own.clone(), &((1u32 << bits) - 1).to_string());
    out = g.op("arith.andi", vec![out, low], own.clone(), "");
    if to.is_bounded {
        let less = g.constant(own.clone(), "5");
        out = g.op("sub", vec![out, less], own.clone(), "");
    }
    if is_by_rows { g.op("broadcast", vec![out], whole, "axis = 1") } else { out }
}

fn masked(g: &mut Generator, ty: &Type) -> Option<Id> {
    if g.choices.below(3) > 0 {
        return None;
    }
    let ends = ends(g, ty);
    Some(mask(g, ty, &ends))
}

pub(super) fn taken(g: &mut Generator, ty: &Type) -> Id {
    let from = tensor(g, ty, false);
    let index = (index(g, ty, &from), from.axis);
    let mask = masked(g, ty);
    let is_choosable = !["f64", "e4m3"].contains(&ty.element);
    let other = match g.choices.below(3) {
        0 if is_choosable && mask.is_some() => Some(g.constant(ty.clone(), "5")),
        _ => None,
    };
    let out = g.value(ty.clone());
    g.push(Statement::LoadSome { out, from: from.place, index: Some(index), mask, other });
    g.show(out)
}

/// A sum of what each turn of a loop takes from further columns.
fn turned(g: &mut Generator, ty: &Type, start: Id) -> Id {
    let mut from = tensor(g, ty, false);
    let axis = from.axis;
    let outside = index(g, ty, &from);
    let counter = g.new_counter();
    let step = *ty.shape.last().unwrap_or(&16);
    // Along the columns, if the indices do not say these.
    if let Place::Global(number, corner) = &mut from.place {
        let last = corner.len() - 1;
        if axis != last && !from.is_bounded {
            corner[last] = counter.clone();
            if let Argument::Tensor { extents, .. } = &mut g.program.arguments[*number] {
                extents[last] = None;
            }
        }
    }
    g.repeat_from(&counter, ("0", "%K"), step, &[start], |g, inside| {
        let index = if g.choices.once_in(2) { index(g, ty, &from) } else { outside };
        let read = g.value(ty.clone());
        g.push(Statement::LoadSome {
            out: read,
            from: from.place.clone(),
            index: Some((index, axis)),
            mask: None,
            other: None,
        });
        vec![g.op("add", vec![inside[0], read], ty.clone(), "")]
    })[0]
}

/// What atomic operations do to elements of a type.
fn combined(element: &str) -> &'static [&'static str] {
    match element {
        "i32" | "u32" => &["add", "min", "max", "and", "or", "xor", "add"],
        "f32" | "f16" | "bf16" => &["add"],
        _ => &[],
    }
}

/// All of them.
fn combined_in_all(element: &str) -> &'static [&'static str] {
    match element {
        "f16" | "bf16" => &["add"],
        "f32" | "f64" => &["add", "exch"],
        _ => &["add", "min", "max", "and", "or", "xor", "exch"],
    }
}

/// Tiles of any type that atomic operations take, combined with tensors in any way.
pub(super) fn atomics(g: &mut Generator) {
    let element = g.choices.of(&["i64", "u64", "f64", "i32", "u32", "f32", "i64", "f64", "f16"]);
    let ty = match g.choices.below(4) {
        0 => Type { shape: vec![g.choices.of(&[64, 16, 256, 96])], element },
        _ => Type::of(g.choices.of(&[8, 16, 32, 64]), g.choices.of(&[16, 32, 64, 40]), element),
    };
    for _ in 0..1 + g.choices.below(2) {
        let value = match g.choices.below(3) {
            0 => g.load(&ty),
            _ => taken(g, &ty),
        };
        combine(g, value, combined_in_all(element));
    }
}

/// Combines a tile with a tensor: where it is, or where indices say, which may be the same place
/// for several elements.
fn combine(g: &mut Generator, value: Id, kinds: &[&'static str]) {
    let (ty, kind) = (g.ty(value), Some(g.choices.of(kinds)));
    let combines = Combines { kind, ..Combines::default() };
    if g.choices.once_in(3) {
        let ends = ends(g, &ty);
        let to = super::masks::tensor(g, &ty, &ends);
        let mask = Some(mask(g, &ty, &ends));
        return g.push(Statement::StoreSome { value, to, index: None, mask, combines });
    }
    // Of exchanges that meet nothing is known.
    let is_apart = kind == Some("exch");
    let to = tensor(g, &ty, is_apart);
    let index = match g.choices.below(4) {
        0 => None,
        _ if is_apart => Some((distinct(g, &ty, &to), to.axis)),
        _ => Some((index(g, &ty, &to), to.axis)),
    };
    if index.is_none() {
        let to = g.destination(&ty);
        return g.push(Statement::StoreSome { value, to, index: None, mask: None, combines });
    }
    let mask = masked(g, &ty);
    g.push(Statement::StoreSome { value, to: to.place, index, mask, combines });
}

/// What stood in memory before atomic operations: stored, or put together with other tiles; of
/// elements that meet in a place it is not known. Comparisons with what stands there, with what
/// does not, with numbers.
pub(super) fn answers(g: &mut Generator) {
    let element = g.choices.of(&["i32", "u32", "f32", "i64", "u64", "f64", "i32", "f16"]);
    let ty = match g.choices.below(4) {
        0 => Type { shape: vec![g.choices.of(&[128, 256, 512])], element },
        _ => Type::of(g.choices.of(&[8, 16, 32]), g.choices.of(&[16, 32, 64, 40]), element),
    };
    asked(g, &ty);
}

/// The same of tiles whose elements cannot be dealt out, as many to each thread; also what answers
/// nothing.
pub(super) fn few(g: &mut Generator) {
    let element = g.choices.of(&["i32", "u32", "f32", "i64", "u64", "f64", "i32", "f16"]);
    let ty = match g.choices.below(3) {
        0 => Type::of(g.choices.of(&[1, 2, 4, 8]), g.choices.of(&[1, 2, 4, 8, 16]), element),
        1 => Type { shape: vec![g.choices.of(&[3, 12, 96, 7, 48])], element },
        _ => Type { shape: vec![g.choices.of(&[1, 1, 2, 4, 16, 32, 64])], element },
    };
    if g.choices.once_in(3) {
        let value = g.load(&ty);
        combine(g, value, combined_in_all(element));
    }
    asked(g, &ty);
}

/// Atomic operations on tiles of a type, and what is done with what they answer.
fn asked(g: &mut Generator, ty: &Type) {
    let mut told = Vec::new();
    for _ in 0..1 + g.choices.below(2) {
        let value = match g.choices.below(4) {
            0 => taken(g, ty),
            1 => g.constant(ty.clone(), "3"),
            _ => g.load(ty),
        };
        told.push(answer(g, value, &told));
    }
    for old in told {
        let beside = g.load(ty);
        let shown = match g.choices.below(3) {
            0 => g.op("add", vec![old, beside], ty.clone(), ""),
            1 if ty.shape.len() == 2 => g.op("trans", vec![old], ty.flipped(), ""),
            _ => old,
        };
        g.store(shown);
    }
}

/// One atomic operation that answers.
fn answer(g: &mut Generator, value: Id, told: &[Id]) -> Id {
    let ty = g.ty(value);
    let kinds: &[&'static str] = match ty.element {
        "f16" => &["add"],
        "f32" | "f64" => &["add", "exch", "cas", "cas"],
        _ => &["add", "min", "max", "and", "or", "xor", "exch", "cas", "cas"],
    };
    let kind = g.choices.of(kinds);
    let is_met = kind != "cas" && kind != "exch" && g.choices.once_in(5);
    let to = tensor(g, &ty, !is_met);
    let index = match g.choices.below(3) {
        0 => None,
        _ if is_met => Some((index(g, &ty, &to), to.axis)),
        _ => Some((distinct(g, &ty, &to), to.axis)),
    };
    let (place, mask) = match index {
        Some(_) => (to.place.clone(), masked(g, &ty)),
        None if g.choices.once_in(3) => {
            let ends = ends(g, &ty);
            let place = super::masks::tensor(g, &ty, &ends);
            (place, Some(mask(g, &ty, &ends)))
        }
        None => (g.destination(&ty), None),
    };
    let compared = (kind == "cas").then(|| match (g.choices.below(4), told.first()) {
        (0, Some(old)) => *old,
        (1, _) => g.constant(ty.clone(), number_of(ty.element)),
        (2, _) => g.load(&ty),
        _ => expected(g, &ty, &place, index, mask),
    });
    let old = g.value(ty);
    let combines = Combines { kind: Some(kind), compared, old: Some(old) };
    g.push(Statement::StoreSome { value, to: place, index, mask, combines });
    old
}

/// What stands in a place.
fn expected(
    g: &mut Generator,
    ty: &Type,
    place: &Place,
    index: Option<(Id, usize)>,
    mask: Option<Id>,
) -> Id {
    let out = g.value(ty.clone());
    let from = place.clone();
    match (index, mask) {
        (None, None) => g.push(Statement::Load { out, from }),
        _ => g.push(Statement::LoadSome { out, from, index, mask, other: None }),
    }
    out
}

/// A number that some elements of a type are.
fn number_of(element: &str) -> &'static str {
    if element.starts_with('f') { "0.0" } else { "0" }
}

pub(super) fn given(g: &mut Generator, value: Id) {
    let ty = g.ty(value);
    let kinds = combined(ty.element);
    if !kinds.is_empty() && g.choices.once_in(2) {
        return combine(g, value, kinds);
    }
    if g.choices.once_in(2) {
        return g.store(value);
    }
    let to = tensor(g, &ty, true);
    let index = (distinct(g, &ty, &to), to.axis);
    let mask = masked(g, &ty);
    g.push(Statement::StoreSome {
        value,
        to: to.place,
        index: Some(index),
        mask,
        combines: Combines::default(),
    });
}
