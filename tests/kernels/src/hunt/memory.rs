//! Kinds of programs that are about memory: shared tiles, written layouts, tensors of more
//! dimensions, tensors that are written and read again.

use super::generate::Generator;
use super::kinds::{ELEMENTS, extent, stores};
use super::program::{Argument, Id, Place, Statement, Type};

pub(super) fn copy(g: &mut Generator) {
    let ty = Type::of(extent(g), extent(g), g.choices.of(&ELEMENTS));
    let shared = g.alloc(&ty);
    let ins = g.choices.below(3);
    let in_loop = ins > 0;
    if in_loop {
        let read = ins == 2;
        g.repeat(&[], |g, _| {
            let from = g.source(&ty);
            g.push(Statement::Copy { from, to: Place::Shared(shared), ty: ty.clone() });
            if read {
                g.read(shared);
            }
            Vec::new()
        });
    } else {
        let from = g.source(&ty);
        g.push(Statement::Copy { from, to: Place::Shared(shared), ty: ty.clone() });
    }
    if g.choices.once_in(2) {
        let value = g.read(shared);
        g.store(value);
    } else {
        let to = g.destination(&ty);
        g.push(Statement::Copy { from: Place::Shared(shared), to, ty });
    }
}

/// A shared tile gets its elements: by a copy, or through registers.
fn fill(g: &mut Generator, tile: Id, ty: &Type) {
    let from = g.source(ty);
    if g.choices.once_in(2) {
        g.push(Statement::Copy { from, to: Place::Shared(tile), ty: ty.clone() });
    } else {
        let value = g.load(ty);
        g.push(Statement::Store { value, to: Place::Shared(tile) });
    }
}

/// Several shared tiles that live at once, written and read in different orders and directions.
pub(super) fn shared(g: &mut Generator) {
    live_at_once(g, |_| ());
}

/// The same, and between what is done with them fences, and groups of copies that are closed and
/// waited for.
pub(super) fn ordered(g: &mut Generator) {
    live_at_once(g, |g| {
        if g.choices.once_in(2) {
            let said = g.choices.of(&[
                "fence",
                "fence {scope = workgroup}",
                "async_commit",
                "async_wait",
                "async_wait {num = 1}",
            ]);
            g.push(Statement::Line(said.to_string()));
        }
    });
}

fn live_at_once(g: &mut Generator, order: fn(&mut Generator)) {
    let ty = Type::of(extent(g), extent(g), g.choices.of(&["f16", "f32", "bf16", "f16"]));
    let mut tiles = Vec::new();
    for _ in 0..2 + g.choices.below(2) {
        let tile = g.alloc(&ty);
        fill(g, tile, &ty);
        order(g);
        tiles.push(tile);
    }
    for _ in 0..2 + g.choices.below(4) {
        let tile = g.choices.of(&tiles);
        match g.choices.below(6) {
            0 => {
                if let Some(value) = g.pick(|t| *t == ty) {
                    g.push(Statement::Store { value, to: Place::Shared(tile) });
                }
            }
            1 => {
                let from = g.source(&ty);
                g.push(Statement::Copy { from, to: Place::Shared(tile), ty: ty.clone() });
            }
            2 => {
                let to = g.destination(&ty);
                g.push(Statement::Copy { from: Place::Shared(tile), to, ty: ty.clone() });
            }
            3 => {
                let value = g.read(tile);
                g.op("trans", vec![value], ty.flipped(), "");
            }
            4 => {
                g.repeat(&[], |g, _| {
                    order(g);
                    let value = g.read(tile);
                    g.store(value);
                    Vec::new()
                });
            }
            _ => drop(g.read(tile)),
        }
        order(g);
    }
    stores(g);
}

/// Tiles whose layouts are written.
pub(super) fn written(g: &mut Generator) {
    let ty = Type::of(
        g.choices.of(&[16, 32, 64, 128]),
        g.choices.of(&[16, 32, 64, 128]),
        g.choices.of(&["f16", "f32", "bf16", "i8", "e4m3"]),
    );
    for _ in 0..1 + g.choices.below(2) {
        let tile = g.value(ty.clone());
        let layout = Some(g.written(&ty));
        g.push(Statement::Alloc { out: tile, layout });
        fill(g, tile, &ty);
        if g.choices.once_in(3) {
            let to = g.destination(&ty);
            g.push(Statement::Copy { from: Place::Shared(tile), to, ty: ty.clone() });
        } else {
            let value = g.read(tile);
            let value = if g.choices.once_in(2) {
                g.op("trans", vec![value], ty.flipped(), "")
            } else {
                value
            };
            g.store(value);
        }
    }
    if ty.element == "f16" && ty.shape[0] == ty.shape[1] {
        let sum = g.constant(Type::of(ty.shape[0], ty.shape[0], "f32"), "0.0");
        if let Some(a) = g.pick(|t| *t == ty) {
            let b = g.pick(|t| *t == ty).unwrap_or(a);
            let out = g.ty(sum);
            let d = g.op("mma", vec![a, b, sum], out, "");
            g.store(d);
        }
    }
}

/// Tiles of tensors of three dimensions.
pub(super) fn batch(g: &mut Generator) {
    let ty = Type::of(extent(g), extent(g), g.choices.of(&["f16", "f32", "bf16", "e4m3"]));
    let deep = Type { shape: vec![1, ty.shape[0], ty.shape[1]], element: ty.element };
    let (from, to) = (g.tensor(&deep), g.tensor(&deep));
    let shared = g.choices.once_in(2).then(|| g.alloc(&ty));
    let to_corner = |b: &str| vec![b.to_string(), "%m".to_string(), "%n".to_string()];
    let body = |g: &mut Generator, b: &str| {
        let source = Place::Global(from, vec![b.to_string(), "16".to_string(), "%n".to_string()]);
        if let Some(tile) = shared {
            g.push(Statement::Copy { from: source, to: Place::Shared(tile), ty: ty.clone() });
            g.push(Statement::Copy {
                from: Place::Shared(tile),
                to: Place::Global(to, to_corner(b)),
                ty: ty.clone(),
            });
        } else {
            let value = g.value(ty.clone());
            g.push(Statement::Load { out: value, from: source });
            g.push(Statement::Store { value, to: Place::Global(to, to_corner(b)) });
        }
    };
    if g.choices.once_in(2) {
        body(g, "2");
    } else {
        g.repeat_over("%b0", "3", 1, &[], |g, _| {
            body(g, "%b0");
            Vec::new()
        });
    }
}

/// One tensor that is written and read again, by tiles that overlap and move: straight, through
/// shared memory, in loops.
pub(super) fn again(g: &mut Generator) {
    let ty = Type::of(extent(g), extent(g), g.choices.of(&["f32", "f16", "bf16", "i32", "e4m3"]));
    let tensor = g.tensor(&ty);
    // Counters go as far as their loops do.
    if let Some(Argument::Tensor { extents, .. }) = g.program.arguments.get_mut(tensor) {
        extents.fill(None);
    }
    let others = g.load(&ty);
    let steps = 3 + g.choices.below(4);
    rewritten(g, &ty, tensor, steps, 1);
    if g.choices.once_in(2) {
        g.store(others);
    }
    stores(g);
}

fn rewritten(g: &mut Generator, ty: &Type, tensor: usize, steps: usize, depth: usize) {
    for _ in 0..steps {
        let corner = g.corner(2);
        let place = Place::Global(tensor, corner);
        match g.choices.below(9) {
            0..=2 => {
                let out = g.value(ty.clone());
                g.push(Statement::Load { out, from: place });
                g.show(out);
            }
            3..=5 => {
                if let Some(value) = g.pick(|t| t == ty) {
                    g.push(Statement::Store { value, to: place });
                }
            }
            6 => {
                let tile = g.alloc(ty);
                let to = Place::Global(tensor, g.corner(2));
                g.push(Statement::Copy { from: place, to: Place::Shared(tile), ty: ty.clone() });
                g.push(Statement::Copy { from: Place::Shared(tile), to, ty: ty.clone() });
            }
            7 => {
                if let Some(value) = g.pick(|t| t == ty) {
                    let tile = g.alloc(ty);
                    g.push(Statement::Store { value, to: Place::Shared(tile) });
                    g.push(Statement::Copy {
                        from: Place::Shared(tile),
                        to: place,
                        ty: ty.clone(),
                    });
                }
            }
            _ if depth > 0 => {
                let steps = 1 + g.choices.below(3);
                g.repeat(&[], |g, _| {
                    rewritten(g, ty, tensor, steps, depth - 1);
                    Vec::new()
                });
            }
            _ => {}
        }
    }
}
