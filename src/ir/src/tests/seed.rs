//! Every IR snippet of seed 001 (TileAS layout and buffer family) reads as it stands, and reads
//! back when printed.
//!
//! Names that a snippet leaves free become arguments of the outermost block.
use super::support::*;
use crate::parse;
use crate::{AttrValue, ErrorKind, TypeKind, attr_names};
use lanebook_tables::{OpRole, Space};
use std::vec::Vec;

#[test]
fn assign_layouts_input() {
    round(
        "%a = nv_tileas.tiled_load %src : memref<128x64xf16, #smem> -> tensor<128x64xf16>
%b = nv_tileas.convert_layout %a : tensor<128x64xf16> -> tensor<128x64xf16, #dot_a>
%r = nv_tileas.wgmma %b, %w, %acc : ...
",
        SNIPPET,
    );
}

#[test]
fn assign_layouts_output() {
    let out = round(
        "%a = nv_tileas.tiled_load %src
{nv_tileas.layout = <(128, 64), (64, 1), swizzle<3, 4, 3>>}
: memref<128x64xf16, #smem> -> tensor<128x64xf16, #dot_a>
%r = nv_tileas.wgmma %a, %w, %acc : ...
",
        SNIPPET,
    );
    assert_eq!(
        out,
        "%a = tiled_load %src {nv_tileas.layout = <(128, 64), (64, 1), swizzle<3, 4, 3>>} : memref<128x64xf16, #smem> -> tensor<128x64xf16, #dot_a>
%r = mma %a, %w, %acc
"
    );
}

#[test]
fn remove_conversions() {
    round(
        "%t = nv_tileas.tiled_load %src : memref<...> -> tensor<128x64xf16, #smem_blocked>
%c = nv_tileas.convert_layout %t : tensor<128x64xf16, #smem_blocked>
-> tensor<128x64xf16, #smem_swizzled>
%r = nv_tileas.wgmma %c, %w, %acc : ...
",
        SNIPPET,
    );
    let mut storage = small();
    let text = "%t = nv_tileas.tiled_load %src : memref<...> -> tensor<128x64xf16, #smem_swizzled>
%r = nv_tileas.wgmma %t, %w, %acc : ...
";
    let program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let load = program.all().next().unwrap();
    let ty = program.type_of(program.result(load, 0).unwrap());
    assert_eq!((ty.space, ty.shape.pair()), (Some(Space::Shared), Some((128, 64))));
    let source = program.type_of(program.operand(load, 0).unwrap());
    assert_eq!((source.kind, source.shape.is_known()), (TypeKind::Memref, false));
}

#[test]
fn buffer_select() {
    round(
        "// Before
%a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
%b = nv_tileas.view %a {offset = 8192} : tensor<128x64xf16, #smem>
%buf = tile.select %flag, %a, %b : tensor<128x64xf16, #smem>
",
        SNIPPET,
    );
    // The offset that is an operation becomes one of its own, and an operand.
    let text = "// After — both arms share the canonical allocation %a; the select is gone.
%a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
%buf = nv_tileas.view %a {offset = tile.select(%flag, 0, 8192)} : tensor<128x64xf16, #smem>
";
    round(text, SNIPPET);
    let mut storage = small();
    let program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let roles: Vec<_> = program.all().map(|op| program.role(op)).collect();
    assert_eq!(roles, [OpRole::Alloc, OpRole::Select, OpRole::View]);
    let view = program.all().last().unwrap();
    let Some(AttrValue::Operand(offset)) = program.attr(view, attr_names::OFFSET) else { panic!() };
    assert_eq!(program.def_op(offset).map(|op| program.role(op)), Some(OpRole::Select));
    assert_eq!(program.operand_count(view), 1);
}

#[test]
fn loop_carried_alias() {
    round(
        "// Before — %buf is loop-carried but every iteration yields the same allocation.
%a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
%r = scf.for %i = %c0 to %n step %c1 iter_args(%buf = %a) -> tensor<128x64xf16, #smem> {
%x = use %buf
scf.yield %a : tensor<128x64xf16, #smem>
}
",
        SNIPPET,
    );
    round(
        "// After — %a is referenced directly inside the body; the iter-arg is gone.
%a = nv_tileas.alloc_tensor : tensor<128x64xf16, #smem>
scf.for %i = %c0 to %n step %c1 {
%x = use %a
}
",
        SNIPPET,
    );
}

#[test]
fn dead_arguments() {
    let out = round(
        "%r:2 = scf.for %i = %c0 to %n step %c1
iter_args(%acc = %init_acc, %pre_acc = %init_pre)
-> (tensor<128x128xf32>, tensor<128x128xf32>) {
%x = nv_tileas.wgmma %a, %b, %acc : tensor<128x128xf32>
scf.yield %x, %pre_acc : tensor<128x128xf32>, tensor<128x128xf32>
}
%out = use %r#0
",
        SNIPPET,
    );
    assert!(out.ends_with("%out = use %r#0\n"), "{out}");
    round(
        "%r = scf.for %i = %c0 to %n step %c1
iter_args(%acc = %init_acc) -> tensor<128x128xf32> {
%x = nv_tileas.wgmma %a, %b, %acc : tensor<128x128xf32>
scf.yield %x : tensor<128x128xf32>
}
%out = use %r
",
        SNIPPET,
    );
}

#[test]
fn slicing() {
    let text = "scf.for %i = %c0 to %c64 step %c1 iter_args(%acc = %init) -> tensor<...>
attributes {sliceCount = 2 : i32} {
%a = nv_tileas.tiled_load %src[%i] : ... -> tensor<...>
%x = nv_tileas.wgmma %a, %b, %acc : tensor<...>
scf.yield %x : tensor<...>
}
";
    let out = round(text, SNIPPET);
    assert!(out.contains("attributes {sliceCount = 2 : i32} {"), "{out}");
    let mut storage = small();
    let program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let at = program.all().next().unwrap();
    assert_eq!(
        (program.int_attr(at, attr_names::SLICE_COUNT), program.results(at).count()),
        (Some(2), 1)
    );
    round(
        "scf.for %i = %c0 to %c32 step %c1 iter_args(%acc0 = %init) -> tensor<...> {
%a0 = nv_tileas.tiled_load %src[%i] : ... -> tensor<...>
%x0 = nv_tileas.wgmma %a0, %b, %acc0 : tensor<...>
scf.yield %x0 : tensor<...>
}
scf.for %j = %c32 to %c64 step %c1 iter_args(%acc1 = %init) -> tensor<...> {
%a1 = nv_tileas.tiled_load %src[%j] : ... -> tensor<...>
%x1 = nv_tileas.wgmma %a1, %b, %acc1 : tensor<...>
scf.yield %x1 : tensor<...>
}
",
        SNIPPET,
    );
}

/// Two arms of one condition, paired pipeline operations and fences, which the seed speaks of
/// without showing them.
#[test]
fn spoken_of() {
    round(
        "%y = scf.if %c -> tensor<128x64xf16, #a> {
%p = nv_tileas.convert_layout %x : tensor<128x64xf16> -> tensor<128x64xf16, #a>
scf.yield %p : tensor<128x64xf16, #a>
} else {
scf.yield %z : tensor<128x64xf16, #a>
}
nv_tileas.fence
nv_tileas.async_wait 0
nv_tileas.async.pipeline.agent_switch %y : tensor<128x64xf16, #a> {
}
%w = insert_slice %x, %d[%i, 0] : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x64xf16>
",
        SNIPPET,
    );
}

#[test]
fn layout_descriptors() {
    for (layout, shape) in [
        ("<(1,1),(0,0)>", "1x1"),
        ("<(16,16),(1,16)>", "16x16"),
        ("<(16,16),(1,16),swizzle<2,5,2>>", "16x16"),
        ("<(16,(8,2)),(1,(16,8))>", "16x16"),
        ("<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>", "128x64"),
        ("<((4,32),64),((1,512),16),elem=mxf4>", "128x64"),
    ] {
        round(
            &std::format!(
                "%a = alloc_tensor : tensor<{shape}xf16, #smem, {layout}>\n%b = tiled_load %a {{layout = {layout}}} : tensor<{shape}xf16, #smem, {layout}> -> tensor<{shape}xf16>\n"
            ),
            SNIPPET,
        );
        let wrong = std::format!("%a = alloc_tensor : tensor<7x{shape}xf16, #smem, {layout}>\n");
        assert!(
            matches!(error(&wrong).kind, ErrorKind::LayoutSize { layout, tile } if tile == 7 * layout),
            "{layout}"
        );
    }
}
