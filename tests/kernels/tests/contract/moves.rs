//! Programs of movements as Triton's last form has them, and of what stands beside those.

use super::text::{ATTR, LAYOUT, MORE};
use lanebook::tables::OpDecl;

/// Operations that have a program here.
const NAMES: [&str; 9] = [
    "amdg.buffer_load",
    "amdg.buffer_store",
    "amdg.scaled_upcast_fp8",
    "tt.descriptor_load",
    "tt.descriptor_store",
    "tt.make_tensor_descriptor",
    "ttg.async_copy_global_to_local",
    "ttg.local_dealloc",
    "ttng.warp_group_dot_wait",
];

/// A program with one of these; `None` of others.
pub fn program(decl: &OpDecl<'_>, ty: &str) -> Option<String> {
    let name = NAMES.iter().find(|name| **name == decl.name)?;
    let more = |own: &str| if own == *name { MORE } else { "" };
    let attr = |own: &str| if own == *name { format!(" {{{ATTR}}}") } else { String::new() };
    let laid = |own: &str| if own == *name { LAYOUT } else { "" };
    let [load, store, upcast, from, to, describe, copy, free, wait] = NAMES;
    let pointer = format!("!tt.ptr<{ty}>");
    let (tile, moved) = (format!("tensor<32x32x{ty}>"), format!("tensor<32x32x{pointer}>"));
    let shared = format!("!ttg.memdesc<32x32x{ty}, #smem, mutable>");
    let described = "!tt.tensordesc<32x32>";
    let scaled = name == &upcast;
    let upcasts = format!(
        "  %e = tiled_load %E[0, 0] : memref<32x32xe4m3, #gmem> -> tensor<32x32xe4m3>\n  %s = tiled_load %S[0, 0] : memref<32x32xbf16, #gmem> -> tensor<32x32xbf16>\n  %u = {upcast} %e scale %s{}{} : tensor<32x32xe4m3>, tensor<32x32xbf16> -> tensor<32x32xbf16{}>\n  tiled_store %u, %S[0, 0] : tensor<32x32xbf16{}> -> memref<32x32xbf16, #gmem>\n",
        more(upcast),
        attr(upcast),
        laid(upcast),
        laid(upcast),
    );
    let moves = format!(
        "  %r = iota {{axis = 0}} : tensor<32x32xi32>\n  %c = iota {{axis = 1}} : tensor<32x32xi32>\n  %w = constant 32 : tensor<32x32xi32>\n  %n = mul %r, %w : tensor<32x32xi32>\n  %o = add %n, %c : tensor<32x32xi32>\n  %all = tt.splat %A : {pointer} -> {moved}\n  %at = tt.addptr %all, %o : {moved}, tensor<32x32xi32>\n  %s = ttg.local_alloc : () -> {shared}\n  \
         {copy} %at, %s{}{} : {moved} -> {shared}\n  %a = ttg.local_load %s : {shared} -> {tile}\n  {free} %s{}{} : {shared}\n  %b = {load} %A[%o]{}{} : {pointer} -> tensor<32x32x{ty}{}>\n  %d = {describe} %C, [%m, 32], [32, 1{}]{} : <{ty}>, <32x32>\n  %x = {from} %d[0, 0]{}{} : {described} -> tensor<32x32x{ty}{}>\n  \
         %y = add %a, %x : {tile}\n  %z = {wait} %y{}{} : {tile}\n  {to} %d[0, 0], %z{}{} : {described}, {tile}\n  {store} %b, %B[%o]{}{} : {pointer} -> tensor<32x32x{ty}{}>\n",
        more(copy),
        attr(copy),
        more(free),
        attr(free),
        more(load),
        attr(load),
        laid(load),
        more(describe),
        attr(describe),
        more(from),
        attr(from),
        laid(from),
        more(wait),
        attr(wait),
        more(to),
        attr(to),
        more(store),
        attr(store),
        laid(load),
    );
    Some(match scaled {
        true => format!(
            "func @f(%E: memref<32x32xe4m3, #gmem>, %S: memref<32x32xbf16, #gmem>) {{threads = 128}} {{\n{upcasts}}}\n"
        ),
        false => format!(
            "func @f(%A: {pointer}, %B: {pointer}, %C: {pointer}, %m: index {{div = 32}}) {{threads = 128}} {{\n{moves}}}\n"
        ),
    })
}
