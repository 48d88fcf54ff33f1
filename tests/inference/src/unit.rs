//! Targets of recorded programs: the architecture, its figures, and the instruction of a product.

use crate::program::Product;
use lanebook::TABLES;
use lanebook_infer::{MachineFigures, UnitSide, UnitTile};
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{Arch, Capability, Instance};

/// The table's name of an element type, as an operand of a product or as its result.
fn dtype(name: &str, operand: bool) -> &str {
    match name {
        "float16" => "f16",
        "bfloat16" => "bf16",
        "float32" if operand => "tf32",
        "float32" => "f32",
        "float64" => "f64",
        "float8_e4m3" | "float8_e4m3fn" => "e4m3",
        "int8" => "i8",
        "int32" => "i32",
        other => other,
    }
}

/// The architecture that TileLang calls so: with all that it has, where there are two.
#[must_use]
pub fn arch(target: &str) -> Option<&'static Arch<'static>> {
    let named = |name: &str| TABLES.arch_named(name).and_then(|id| TABLES.arch(id));
    named(&format!("{target}a")).or_else(|| named(target))
}

/// What inference must know of it.
#[must_use]
pub fn figures(arch: &Arch<'_>) -> MachineFigures {
    MachineFigures {
        wave: arch.wave_lanes.first().map_or(0, |lanes| u32::from(*lanes)),
        access_bits: TABLES.weights.shared_align * 8,
        sector_bytes: TABLES.weights.segment_bytes,
    }
}

/// Warps that work together in the tile of a layout: 1 where it names none.
fn together(layout: &LayoutRef<'_>) -> u32 {
    let warps = layout.shard.iter().filter(|it| it.axis() == AxisId::WARP);
    warps.map(|it| it.extent_value().unwrap_or(1)).product()
}

/// Gives the tile of the instruction that TileLang takes: one of a group of warps where the
/// architecture has it and the result is tall enough, else the least of one warp.
pub fn unit(product: &Product<'_>, give: &mut dyn FnMut(&UnitTile<'_>)) -> bool {
    let Some(arch) = arch(product.target) else { return false };
    let wave = figures(arch).wave;
    let transposed = TABLES.anchors.units.iter().any(|u| u.arch == arch.name && u.transposes);
    let mut best: Option<(bool, u16, u16, Instance<'static>)> = None;
    for instance in instances(arch, product) {
        let Some(shape) = instance.shape() else { continue };
        let Some(layout) = instance.layout(shape.d) else { continue };
        let warps = together(&layout.view());
        let (m, n) = product.extents;
        let fits = m % u32::from(shape.m) == 0 && n % u32::from(shape.n) == 0;
        if !fits || !product.threads.is_multiple_of(warps * wave) {
            continue;
        }
        // Groups first, then the smaller result, then the greater depth.
        let rank = (warps == 1, shape.m * shape.n, u16::MAX - shape.k);
        if best.as_ref().is_none_or(|b| rank < (b.0, b.1, b.2)) {
            best = Some((rank.0, rank.1, rank.2, instance));
        }
    }
    let Some((_, _, _, instance)) = best else { return false };
    let shape = instance.shape().expect("it was seen");
    let (number, rows, columns) = match (product.side, transposed) {
        (UnitSide::D, _) => (shape.d, shape.m, shape.n),
        (UnitSide::A, false) | (UnitSide::B, true) => (shape.a, shape.m, shape.k),
        (UnitSide::B, false) | (UnitSide::A, true) => (shape.b, shape.k, shape.n),
    };
    let (Some(layout), Some(result)) = (instance.layout(number), instance.layout(shape.d)) else {
        return false;
    };
    give(&UnitTile {
        layout: &layout.view(),
        rows: u32::from(rows),
        columns: u32::from(columns),
        together: together(&result.view()),
        wave,
        transposed,
    });
    true
}

/// Dense products of these elements.
fn instances(arch: &'static Arch<'static>, product: &Product<'_>) -> Vec<Instance<'static>> {
    let operand = TABLES.dtype_named(dtype(product.operand, true));
    let result = TABLES.dtype_named(dtype(product.result, false));
    let (Some(a), Some(d)) = (operand, result) else { return Vec::new() };
    let atoms = arch.dispatch(Capability::Product { a, b: a, c: d, d });
    let mut out = Vec::new();
    for id in atoms {
        let Some(atom) = TABLES.atom(*id) else { continue };
        let dense = atom.more.is_none_or(|more| more.index.is_none() && more.blocks <= 1);
        if dense && arch.own(*id).is_some_and(|own| own.native) {
            out.extend((0..atom.instances()).filter_map(|k| atom.instance(k)));
        }
    }
    out
}
