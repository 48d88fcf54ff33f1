//! Register tiles whose distribution over lanes, warps and registers is written.

use super::generate::Generator;
use super::kinds::reduced;
use super::program::{Id, Place, Statement, Type, bytes};

pub(super) fn spread(g: &mut Generator) {
    let element =
        g.choices.of(&["f32", "f32", "f16", "bf16", "i8", "i32", "f64", "e4m3", "u16", "i16"]);
    let size = [8, 16, 32, 64, 128, 64, 32];
    let ty = Type::of(g.choices.of(&size), g.choices.of(&size), element);
    let wave = g.choices.of(&[5, 5, 6]);
    let from = g.source(&ty);
    let first = g.value(ty.clone());
    g.push(Statement::Load { out: first, from });
    g.show(first);
    lay(g, first, wave);
    let mut value = first;
    if g.choices.once_in(3) {
        // What goes through the loop has one type, its layout as well.
        let own = g.program.layouts.get(&value).cloned();
        let same = |g: &mut Generator, id: Id| {
            if let Some(own) = &own {
                g.program.layouts.insert(id, own.clone());
            }
        };
        let results = g.repeat(&[value], |g, inside| {
            same(g, inside[0]);
            let new = step(g, inside[0], wave);
            if g.ty(new) != g.ty(inside[0]) {
                return vec![inside[0]];
            }
            let ty = g.ty(new);
            let back = g.op("convert_layout", vec![new], ty, "");
            same(g, back);
            vec![back]
        });
        value = results[0];
        same(g, value);
    }
    for _ in 0..1 + g.choices.below(4) {
        value = step(g, value, wave);
    }
    if g.choices.once_in(3) {
        g.store(first);
    }
    g.store(value);
}

fn step(g: &mut Generator, value: Id, wave: u32) -> Id {
    let ty = g.ty(value);
    let new = match g.choices.below(8) {
        0..=2 => {
            let attributes = rounds(g, &ty);
            g.op("convert_layout", vec![value], ty, &attributes)
        }
        3 => g.op("trans", vec![value], ty.flipped(), ""),
        4 if ty.element == "f32" => g.op("add", vec![value, value], ty, ""),
        5 if ty.element == "f32" => return reduced(g, value),
        6 if ty.element == "f32" => g.op("cast", vec![value], ty.with("f16"), ""),
        6 if ty.element == "f16" => g.op("cast", vec![value], ty.with("f32"), ""),
        _ => {
            let shared = g.alloc(&ty);
            g.push(Statement::Store { value, to: Place::Shared(shared) });
            g.read(shared)
        }
    };
    lay(g, new, wave);
    new
}

/// How much shared memory a conversion may take, where the program says so: a part of what the tile
/// has, in rounds.
fn rounds(g: &mut Generator, ty: &Type) -> String {
    if g.choices.below(3) > 0 {
        return String::new();
    }
    let whole = ty.shape.iter().product::<u32>() * bytes(ty.element);
    let parts = g.choices.of(&[2, 4, 8, 3, 1]);
    format!("scratch = {}", (whole / parts).max(1))
}

/// Where a bit of an element's number is said.
#[derive(Clone, Copy)]
enum Home {
    Lane(u32),
    Warp(u32),
    Register(u32),
}

/// Writes a layout for a value, or none.
fn lay(g: &mut Generator, id: Id, wave: u32) {
    let ty = g.ty(id);
    let all = g.program.threads.ilog2();
    let count: u32 = ty.shape.iter().map(|e| e.trailing_zeros()).sum();
    if g.choices.once_in(4) || all < wave || ty.shape.iter().any(|e| !e.is_power_of_two()) {
        return;
    }
    let warps = all - wave;
    let (bits, registers) = (8 * bytes(ty.element), count.saturating_sub(all));
    if bits << registers > 2048 {
        return;
    }
    let mut homes: Vec<Home> = (0..registers)
        .map(Home::Register)
        .chain((0..wave).map(Home::Lane))
        .chain((0..warps).map(Home::Warp))
        .collect();
    let natural = g.choices.below(3);
    if natural == 0 {
        for k in (1..homes.len()).rev() {
            let other = g.choices.below(k + 1);
            homes.swap(k, other);
        }
    } else if natural == 1 {
        // A part of the registers last.
        let by = g.choices.below(registers as usize + 1);
        homes.rotate_left(by);
    }
    let copies = homes.split_off(count as usize);
    // What is repeated is not in a register.
    if copies.iter().any(|h| matches!(h, Home::Register(_))) {
        return;
    }
    let stride = |h: &Home| match h {
        Home::Lane(b) => format!("{}@laneid", 1u32 << b),
        Home::Warp(b) => format!("{}@warpid", 1u32 << b),
        Home::Register(b) => format!("{}@bit", bits << b),
    };
    let list = |homes: &[Home]| {
        let strides: Vec<String> = homes.iter().rev().map(stride).collect();
        format!("[({}):({})]", vec!["2"; homes.len()].join(","), strides.join(","))
    };
    let mut text = format!("S{}", list(&homes));
    if !copies.is_empty() {
        text += &format!(" + R{}", list(&copies));
    }
    g.program.layouts.insert(id, text);
}
