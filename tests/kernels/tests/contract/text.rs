//! Programs and values as text: one program for each operation of the contract, with marks where
//! more can be written, and what may be written as the value of an attribute.

use lanebook::tables::contract::kind;
use lanebook::tables::{AttrForm, OpContract, OpDecl, OpRole};

/// Marks in a program: where attributes of the operation, of an argument or a further operand are
/// written, and the layout of its result.
pub const ATTR: &str = "/*attr*/";
pub const ARGUMENT: &str = "/*argument*/";
pub const MORE: &str = "/*more*/";
pub const LAYOUT: &str = "/*layout*/";

/// The program without marks.
pub fn plain(program: &str) -> String {
    [ATTR, ARGUMENT, MORE, LAYOUT]
        .iter()
        .fold(program.to_string(), |text, mark| text.replace(mark, ""))
}

pub fn marked(program: &str, mark: &str, with: &str) -> String {
    plain(&program.replace(mark, with))
}

pub fn memref(ty: &str) -> String {
    format!("memref<?x?x{ty}, #gmem> {{align = 16, stride_div = 16}}")
}

/// A kernel of 64 or 128 threads around a body; `%A` and `%B` are read, `%C` is written.
pub fn kernel(body: &str, ty: &str, out: &str) -> String {
    format!(
        "func @f(%A: {}, %B: {}, %C: {}, %m: index {{div = 32}}, %K: index) {{threads = 128}} {{\n{body}}}\n",
        memref(ty),
        memref(ty),
        memref(out)
    )
}

pub fn load(name: &str, from: &str, shape: &str, ty: &str) -> String {
    format!(
        "  %{name} = tiled_load %{from}[0, 0] : memref<?x?x{ty}, #gmem> -> tensor<{shape}x{ty}>\n"
    )
}

/// The same through shared memory.
pub fn through(name: &str, from: &str, shape: &str, ty: &str) -> String {
    let tile = format!("tensor<{shape}x{ty}, #smem>");
    format!(
        "  %s{name} = alloc_tensor : {tile}\n  copy %{from}[0, 0], %s{name} : memref<?x?x{ty}, #gmem> -> {tile}\n  %{name} = tiled_load %s{name} : {tile} -> tensor<{shape}x{ty}>\n"
    )
}

pub fn store(name: &str, shape: &str, ty: &str) -> String {
    format!("  tiled_store %{name}, %C[0, 0] : tensor<{shape}x{ty}> -> memref<?x?x{ty}, #gmem>\n")
}

/// The same of a tile whose type may say a layout.
pub fn store_laid(name: &str, shape: &str, ty: &str) -> String {
    store(name, shape, ty).replacen('>', &format!("{LAYOUT}>"), 1)
}

/// Whether an operation is one on tiles of tensor memory.
pub fn is_of_tensor_memory(decl: &OpDecl<'_>) -> bool {
    ["tmem_", "tc_gen5"].iter().any(|word| decl.name.contains(word))
}

/// A program with one of these.
fn in_tensor_memory(name: &str, ty: &str) -> String {
    let own = |at: &str, mark: &str| if at == name { mark.to_string() } else { String::new() };
    let (tile, sums) = (format!("tensor<128x64x{ty}>"), format!("tensor<128x64x{ty}, #tmem>"));
    let (alloc, product) = ("ttng.tmem_alloc", "ttng.tc_gen5_mma");
    let (load, stored) = ("ttng.tmem_load", "ttng.tmem_store");
    let body = format!(
        "  %sa = alloc_tensor : tensor<128x64xf16, #smem>\n  %sb = alloc_tensor : tensor<64x64xf16, #smem>\n  copy %B[0, 0], %sa : memref<?x?xf16, #gmem> -> tensor<128x64xf16, #smem>\n  copy %B[128, 0], %sb : memref<?x?xf16, #gmem> -> tensor<64x64xf16, #smem>\n{}  \
         %s = {alloc} %a{} {{{}}} : ({tile}) -> {sums}\n  {stored} %a, %s, 1{} {{{}}} : {tile} -> {sums}\n  {product} %sa, %sb, %s, 1, 1{} {{{}}} : tensor<128x64xf16, #smem>, tensor<64x64xf16, #smem>, {sums}\n  \
         %r = {load} %s{} {{{}}} : {sums} -> tensor<128x64x{ty}{}>\n{}",
        self::load("a", "A", "128x64", ty),
        own(alloc, MORE),
        own(alloc, ATTR),
        own(stored, MORE),
        own(stored, ATTR),
        own(product, MORE),
        own(product, ATTR),
        own(load, MORE),
        own(load, ATTR),
        own(load, LAYOUT),
        store("r", "128x64", ty).replacen('>', &format!("{}>", own(load, LAYOUT)), 1)
    );
    kernel(&body, ty, ty).replace(&format!("%B: memref<?x?x{ty},"), "%B: memref<?x?xf16,")
}

/// A program in which one operation stands, with marks; `ty`: the element type that it is about.
/// `None`: the contract takes the operation, and there is none here.
pub fn program(decl: &OpDecl<'_>, contract: &OpContract<'_>, ty: &str) -> Option<String> {
    let name = decl.name;
    let t = |shape: &str| format!("tensor<{shape}x{ty}{LAYOUT}>");
    if let Some(program) = super::moves::program(decl, ty) {
        return Some(program);
    }
    Some(match decl.role {
        _ if is_of_tensor_memory(decl) => in_tensor_memory(name, ty),
        OpRole::Function => {
            let body = format!(
                "{}{}",
                "  %a = tiled_load %A[0, %m] : memref<?x?xTY, #gmem> -> tensor<32x32xTY>\n",
                store("a", "32x32", "TY")
            )
            .replace("TY", ty);
            kernel(&body, ty, ty)
                .replace("{align = 16, stride_div = 16}, %B", &format!("{{{ARGUMENT}}}, %B"))
                .replace("{threads = 128}", &format!("{{threads = 128{ATTR}}}"))
        }
        OpRole::Call => {
            let called = format!(
                "func private @g(%t: tensor<32x32x{ty}>, %k: index) -> tensor<32x32x{ty}> {{\n  return %t : tensor<32x32x{ty}>\n}}\n"
            );
            let body = format!(
                "{}  %r = call @g(%a, %m{MORE}) {{{ATTR}}} : (tensor<32x32x{ty}>, index) -> tensor<32x32x{ty}>\n{}",
                load("a", "A", "32x32", ty),
                store("r", "32x32", ty)
            );
            format!("{called}{}", kernel(&body, ty, ty))
        }
        OpRole::Opaque if name == "tt.gather" => {
            let square = format!("tensor<32x32x{ty}>");
            let body = format!(
                "{}  %p = constant 3 : tensor<32x32xi32>\n  %x = {name} %a[%p]{MORE} {{{ATTR}}} : ({square}, tensor<32x32xi32>) -> tensor<32x32x{ty}{LAYOUT}>\n{}",
                load("a", "A", "32x32", ty),
                store("x", "32x32", &format!("{ty}{LAYOUT}"))
            );
            kernel(&body, ty, ty)
        }
        OpRole::Opaque if name == "tt.histogram" => {
            let body = format!(
                "{}  %f = reshape %a : tensor<32x32x{ty}> -> tensor<1024x{ty}>\n  %h = {name} %f{MORE} {{{ATTR}}} : tensor<1024x{ty}> -> tensor<64x{ty}{LAYOUT}>\n  %x = reshape %h : tensor<64x{ty}{LAYOUT}> -> tensor<2x32x{ty}>\n{}",
                load("a", "A", "32x32", ty),
                store("x", "2x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::Opaque => {
            let body = format!("{}{}", load("a", "A", "32x32", ty), store("a", "32x32", ty));
            format!("module attributes {{{ATTR}}} {{\n{}}}\n", kernel(&body, ty, ty))
        }
        OpRole::Return => kernel(
            &format!(
                "{}{}  return {MORE} {{{ATTR}}}\n",
                load("a", "A", "32x32", ty),
                store("a", "32x32", ty)
            ),
            ty,
            ty,
        ),
        OpRole::Yield if name == "combine.return" => {
            let (from, to) = (format!("tensor<32x32x{ty}>"), format!("tensor<32x32x{ty}{LAYOUT}>"));
            let body = format!(
                "{}  %x = \"tt.scan\"(%a) <{{axis = 1 : i32, reverse = false}}> ({{\n  ^bb0(%p: {ty}, %q: {ty}):\n    %s = max %p, %q : {ty}\n    tt.scan.return %s{MORE} {{{ATTR}}} : {ty}\n  }}) : ({from}) -> {to}\n",
                load("a", "A", "32x32", ty)
            );
            kernel(&(body + &store_laid("x", "32x32", ty)), ty, ty)
        }
        OpRole::For | OpRole::Yield => {
            let (of_loop, of_yield) =
                if decl.role == OpRole::For { (ATTR, "") } else { ("", ATTR) };
            let body = format!(
                "{}  %r = scf.for %i = 0 to %K step 32 iter_args(%c = %a) -> {} attributes {{{of_loop}}} {{\n    %b = tiled_load %B[0, %i] : memref<?x?x{ty}, #gmem> -> tensor<32x32x{ty}>\n    scf.yield %b {{{of_yield}}} : tensor<32x32x{ty}>\n  }}\n{}",
                load("a", "A", "32x32", ty),
                t("32x32"),
                store_laid("r", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::Produce | OpRole::Consume => {
            let (of_copies, of_rest) =
                if decl.role == OpRole::Produce { (ATTR, "") } else { ("", ATTR) };
            let (of_one, more) = if decl.role == OpRole::Produce { (MORE, "") } else { ("", MORE) };
            let (tile, t) = (format!("tensor<32x32x{ty}, #smem>"), format!("tensor<32x32x{ty}>"));
            let laid = format!("tensor<32x32x{ty}{LAYOUT}>");
            let body = format!(
                "{}  %s = alloc_tensor : {tile}\n  %r = scf.for %i = 0 to %K step 32 iter_args(%c = %a) -> {t} {{num_stages = 2}} {{\n    produce_one {of_one} attributes {{{of_copies}}} {{\n      copy %B[0, %i], %s : memref<?x?x{ty}, #gmem> -> {tile}\n    }}\n    %e = consume_one %c{more} : {t} -> {laid} attributes {{{of_rest}}} {{\n    ^bb0(%d: {t}):\n      %b = tiled_load %s : {tile} -> {t}\n      %x = add %b, %d : {t}\n      async.pipeline.yield %x : {t}\n    }}\n    scf.yield %e : {t}\n  }}\n{}",
                load("a", "A", "32x32", ty),
                store("r", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::AgentSwitch => {
            let (tile, t) = (format!("tensor<32x32x{ty}, #smem>"), format!("tensor<32x32x{ty}>"));
            let body = format!(
                "{}  %s = alloc_tensor : {tile}\n  agent_switch {MORE} attributes {{{ATTR}}} {{\n    scf.for %j = 0 to %K step 32 {{num_stages = 2}} {{\n      copy %B[0, %j], %s : memref<?x?x{ty}, #gmem> -> {tile}\n      scf.yield\n    }}\n  }}\n  %r = scf.for %i = 0 to %K step 32 iter_args(%c = %a) -> {t} {{\n    %b = tiled_load %s : {tile} -> {t}\n    %x = add %b, %c : {t}\n    scf.yield %x : {t}\n  }}\n{}",
                load("a", "A", "32x32", ty),
                store("r", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::While | OpRole::Condition => {
            let (of_loop, of_end) =
                if decl.role == OpRole::While { (ATTR, "") } else { ("", ATTR) };
            let t = format!("tensor<32x32x{ty}>");
            let body = format!(
                "{}  %j, %r = scf.while (%i = 0, %c = %a) : (index, {t}) -> (index, {t}) {{\n    %q = index.cmp slt, %i, %K : index\n    scf.condition(%q) %i, %c {{{of_end}}} : index, {t}\n  }} do {{\n  ^bb0(%n: index, %d: {t}):\n    %b = tiled_load %B[0, %n] : memref<?x?x{ty}, #gmem> -> {t}\n    %o = index.add %n, 32 : index\n    scf.yield %o, %b : index, {t}\n  }} {{{of_loop}}}\n{}",
                load("a", "A", "32x32", ty),
                store("r", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::If => {
            let body = format!(
                "{}  %q = index.cmp %m, 1 {{kind = ugt}} : index\n  %r = scf.if %q{MORE} -> {} {{\n    %b = tiled_load %B[0, %m] : memref<?x?x{ty}, #gmem> -> tensor<32x32x{ty}>\n    scf.yield %b : tensor<32x32x{ty}>\n  }} else {{\n    scf.yield %a : tensor<32x32x{ty}>\n  }} {{{ATTR}}}\n{}",
                load("a", "A", "32x32", ty),
                t("32x32"),
                store_laid("r", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::Atomic => {
            let body = format!(
                "{}  %o = {name} %a, %B[%m, 0]{MORE} {{{ATTR}}} : tensor<32x32x{ty}>, memref<?x?x{ty}, #gmem> -> {}\n{}",
                load("a", "A", "32x32", ty),
                t("32x32"),
                store_laid("o", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::Load | OpRole::Store if ["gather", "scatter"].contains(&name) => {
            let rows = "  %i = iota {axis = 0} : tensor<32x32xi32>\n";
            // Along either dimension every element is put into a place of its own.
            let places = "  %r = iota {axis = 0} : tensor<32x32xi32>
  %q = iota {axis = 1} : tensor<32x32xi32>
  %i = add %r, %q : tensor<32x32xi32>
";
            let types = format!("memref<?x?x{ty}, #gmem>, tensor<32x32xi32>");
            let body = if decl.role == OpRole::Load {
                format!(
                    "{rows}  %a = {name} %A[%m, 0], %i{MORE} {{{ATTR}}} : {types} -> {}\n{}",
                    t("32x32"),
                    store_laid("a", "32x32", ty)
                )
            } else {
                format!(
                    "{places}{}  {name} %a, %C[%m, 0], %i{MORE} {{{ATTR}}} : tensor<32x32x{ty}>, {types}\n",
                    load("a", "A", "32x32", ty)
                )
            };
            kernel(&body, ty, ty)
        }
        OpRole::Alloc | OpRole::Copy | OpRole::Load | OpRole::Store
            if decl.layout != lanebook::tables::LayoutTrait::Fixing =>
        {
            let own = |role: OpRole, text: &str| {
                if role == decl.role { text.to_string() } else { String::new() }
            };
            let (alloc, copy, load, stored) =
                (OpRole::Alloc, OpRole::Copy, OpRole::Load, OpRole::Store);
            let body = format!(
                "  %s = alloc_tensor {}{{{}}} : tensor<32x32x{ty}, #smem{}>\n  copy %A[%m, 0], %s{} {{{}}} : memref<?x?x{ty}, #gmem> -> tensor<32x32x{ty}, #smem{}>\n  \
                 %a = tiled_load %s{} {{{}}} : tensor<32x32x{ty}, #smem{}> -> tensor<32x32x{ty}{}>\n  tiled_store %a, %C[0, 0]{} {{{}}} : tensor<32x32x{ty}{}> -> memref<?x?x{ty}, #gmem>\n",
                own(alloc, MORE),
                own(alloc, ATTR),
                own(alloc, LAYOUT),
                own(copy, MORE),
                own(copy, ATTR),
                own(alloc, LAYOUT),
                own(load, MORE),
                own(load, ATTR),
                own(alloc, LAYOUT),
                own(load, LAYOUT),
                own(stored, MORE),
                own(stored, ATTR),
                own(load, LAYOUT),
            );
            kernel(&body, ty, ty)
        }
        role if role.is_composed() => composed(name, role, ty),
        OpRole::Convert | OpRole::Transpose | OpRole::Reshape | OpRole::Permute => kernel(
            &format!(
                "{}  %x = {name} %a{MORE} {{{ATTR}}} : tensor<32x32x{ty}> -> {}\n{}",
                load("a", "A", "32x32", ty),
                t("32x32"),
                store_laid("x", "32x32", ty)
            ),
            ty,
            ty,
        ),
        OpRole::Reduce | OpRole::Broadcast => {
            let (reduces, spreads) = if decl.role == OpRole::Reduce {
                (ATTR, "axis = 1".to_string())
            } else {
                ("axis = 1, kind = add", ATTR.to_string())
            };
            let own = |role: OpRole, mark: &str| {
                if role == decl.role { mark.to_string() } else { String::new() }
            };
            let body = format!(
                "{}  %v = reduce %a{} {{{reduces}}} : tensor<32x32x{ty}> -> tensor<32x{ty}{}>\n  %x = broadcast %v{} {{{spreads}}} : tensor<32x{ty}> -> tensor<32x32x{ty}{}>\n  %y = add %x, %a : tensor<32x32x{ty}>\n{}",
                load("a", "A", "32x32", ty),
                own(OpRole::Reduce, MORE),
                own(OpRole::Reduce, LAYOUT),
                own(OpRole::Broadcast, MORE),
                own(OpRole::Broadcast, LAYOUT),
                store("y", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::Constant => kernel(
            &format!(
                "{}  %x = constant 2.5{MORE} {{{ATTR}}} : {}\n  %y = add %a, %x : tensor<32x32x{ty}>\n{}",
                load("a", "A", "32x32", ty),
                t("32x32"),
                store("y", "32x32", ty)
            ),
            ty,
            ty,
        ),
        OpRole::Matrix => {
            let scaled = contract.operands.len() == 5;
            let sum = match ty {
                "f64" => "f64",
                "i8" | "u8" | "i4" | "u4" => "i32",
                _ => "f32",
            };
            let scales = if scaled { ", %xa, %xb" } else { "" };
            let mut body = format!(
                "{}{}  %z = constant 0.0 : tensor<32x32x{sum}>\n",
                through("a", "A", "32x32", ty),
                through("b", "B", "32x32", ty)
            );
            if scaled {
                body += "  %xa = tiled_load %A[0, 0] : memref<?x?xTY, #gmem> -> tensor<32x1xTY>\n  %xb = tiled_load %B[0, 0] : memref<?x?xTY, #gmem> -> tensor<32x1xTY>\n".replace("TY", ty).as_str();
            }
            body += &format!(
                "  %d = {name} %a, %b, %z{scales}{MORE} {{{ATTR}}} : tensor<32x32x{sum}{LAYOUT}>\n{}",
                store_laid("d", "32x32", sum)
            );
            kernel(&body, ty, sum)
        }
        OpRole::Elementwise if decl.truth => kernel(
            &format!(
                "{}{}  %p = {name} %a, %b{MORE} {{{ATTR}}} : tensor<32x32x{ty}>, tensor<32x32x{ty}> -> tensor<32x32xi1{LAYOUT}>\n  %x = select %p, %a, %b : tensor<32x32xi1{LAYOUT}>, tensor<32x32x{ty}>\n{}",
                load("a", "A", "32x32", ty),
                load("b", "B", "32x32", ty),
                store("x", "32x32", ty)
            ),
            ty,
            ty,
        ),
        OpRole::Select => {
            let relation = if ty.contains('f') { "olt" } else { "slt" };
            let body = format!(
                "{}{}  %p = compare.{relation} %a, %b : tensor<32x32x{ty}>, tensor<32x32x{ty}> -> tensor<32x32xi1>\n  %x = {name} %p, %a, %b{MORE} {{{ATTR}}} : tensor<32x32xi1>, {}\n{}",
                load("a", "A", "32x32", ty),
                load("b", "B", "32x32", ty),
                t("32x32"),
                store_laid("x", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        OpRole::Elementwise => {
            // What changes the element type, from `ty` to each that some instruction makes of it,
            // is asked elsewhere; here to itself, or to f32.
            let to = if name == "cast" { if ty == "f32" { "f16" } else { "f32" } } else { ty };
            let inputs: Vec<String> = ["a", "b", "c"]
                .iter()
                .take(contract.operands.len())
                .map(|n| format!("%{n}"))
                .collect();
            let loads: String = [("a", "A"), ("b", "B"), ("c", "B")]
                .iter()
                .take(inputs.len())
                .map(|(n, from)| load(n, from, "32x32", ty))
                .collect();
            let types = if inputs.len() == 1 {
                format!("tensor<32x32x{ty}> -> tensor<32x32x{to}{LAYOUT}>")
            } else {
                format!("tensor<32x32x{to}{LAYOUT}>")
            };
            kernel(
                &format!(
                    "{loads}  %x = {name} {}{MORE} {{{ATTR}}} : {types}\n{}",
                    inputs.join(", "),
                    store_laid("x", "32x32", to)
                ),
                ty,
                to,
            )
        }
        OpRole::Fence | OpRole::Wait => kernel(
            &format!(
                "{}  {name}{MORE} {{{ATTR}}}\n{}",
                load("a", "A", "32x32", ty),
                store("a", "32x32", ty)
            ),
            ty,
            ty,
        ),
        OpRole::Index if name == "tt.addptr" => {
            let (one, all) = (format!("!tt.ptr<{ty}>"), format!("tensor<256x!tt.ptr<{ty}>>"));
            format!(
                "func @f(%A: {one}, %C: {one}, %m: index {{div = 32}}) {{threads = 128}} {{\n  %i = iota {{axis = 0}} : tensor<256xi32>\n  %b = tt.addptr %A, %m : {one}, index\n  %p = broadcast %b : {one} -> {all}\n  %q = tt.addptr %p, %i {{{ATTR}}} : {all}, tensor<256xi32>\n  %a = tiled_load %q : {all} -> tensor<256x{ty}>\n  %c = broadcast %C : {one} -> {all}\n  %d = tt.addptr %c, %i : {all}, tensor<256xi32>\n  tiled_store %d, %a : {all}, tensor<256x{ty}>\n}}\n"
            )
        }
        OpRole::Index if contract.results.iter().any(|slot| slot.kinds & kind::REGISTERS != 0) => {
            let ty = "i32";
            let made = format!("  %x = {name}{MORE} {{{ATTR}}} : tensor<32x32x{ty}{LAYOUT}>\n");
            kernel(&(made + &store_laid("x", "32x32", ty)), ty, ty)
        }
        // The one element of a tile.
        OpRole::Index if contract.operands.iter().any(|slot| slot.kinds & kind::REGISTERS != 0) => {
            let ids = "memref<?x?xi32, #gmem>";
            let body = format!(
                "  %e = tiled_load %B[0, %m] : {ids} -> tensor<1x1xi32>\n  %s = constant 15 : tensor<1x1xi32>\n  %r = arith.andi %e, %s : tensor<1x1xi32>\n  %w = reshape %r : tensor<1x1xi32> -> tensor<1xi32>\n  %q = {name} %w{MORE} {{{ATTR}}} : tensor<1xi32> -> index\n  %a = tiled_load %A[%q, 0] : memref<?x?x{ty}, #gmem> -> tensor<32x32x{ty}>\n{}",
                store("a", "32x32", ty)
            );
            kernel(&body, ty, ty).replace(&format!("%B: memref<?x?x{ty}"), "%B: memref<?x?xi32")
        }
        OpRole::Index => {
            let inputs = ["", "%m", "%m, 2", "%m, 2, 1"][contract.operands.len()];
            let body = format!(
                "  %q = {name} {inputs}{MORE} {{{ATTR}}} : index\n  %a = tiled_load %A[%q, 0] : memref<?x?x{ty}, #gmem> -> tensor<32x32x{ty}>\n{}",
                store("a", "32x32", ty)
            );
            kernel(&body, ty, ty)
        }
        _ => return None,
    })
}

/// A program of a scan, a part of a tile, or pairs.
fn composed(name: &str, role: OpRole, ty: &str) -> String {
    let square = format!("tensor<32x32x{ty}>");
    let to = format!("tensor<32x32x{ty}{LAYOUT}>");
    let (pairs, single) = (format!("tensor<512x2x{ty}>"), format!("tensor<512x{ty}>"));
    let own = |of: OpRole, mark: &str| if of == role { mark.to_string() } else { String::new() };
    let (join, split) = (OpRole::Join, OpRole::Split);
    let body = match (role, name) {
        (OpRole::Scan, _) => {
            let loaded = load("a", "A", "32x32", ty);
            format!("{loaded}  %x = {name} %a{MORE} {{{ATTR}}} : {square} -> {to}\n")
        }
        (OpRole::Slice, "extract_slice") => {
            let loaded = load("a", "A", "64x32", ty);
            format!(
                "{loaded}  %x = {name} %a[32, 0]{MORE} {{{ATTR}}} : tensor<64x32x{ty}> -> {to}\n"
            )
        }
        (OpRole::Slice, _) => {
            let (a, b) = (load("a", "A", "32x32", ty), load("b", "B", "16x32", ty));
            format!(
                "{a}{b}  %x = {name} %b, %a[16, 0]{MORE} {{{ATTR}}} : tensor<16x32x{ty}>, {square} -> {to}\n"
            )
        }
        _ => format!(
            "{}  %p = reshape %a : {square} -> {pairs}
  %e, %o = split %p{} {{{}}} : {pairs} -> {single}, {single}
  %q = join %o, %e{} {{{}}} : {single}, {single} -> {pairs}
  %x = reshape %q : {pairs} -> {to}\n",
            load("a", "A", "32x32", ty),
            own(split, MORE),
            own(split, ATTR),
            own(join, MORE),
            own(join, ATTR)
        ),
    };
    kernel(&(body + &store_laid("x", "32x32", ty)), ty, ty)
}

/// What may be written as the value of an attribute, with whether the contract takes it.
pub fn values(form: &AttrForm<'_>) -> Vec<(String, bool)> {
    let mut out: Vec<(String, bool)> = Vec::new();
    match form {
        AttrForm::Unit => out.extend(["", "true"].map(|value| (value.to_string(), true))),
        AttrForm::Int(least, most) | AttrForm::Power(least, most) => {
            let power = matches!(form, AttrForm::Power(..));
            let of = |n: i64| {
                (n.to_string(), (*least..=*most).contains(&n) && (!power || n.count_ones() == 1))
            };
            out.extend(
                [-1, 0, 1, 2, 3, 4, 8, 16, 32, 64, 256, 12, *least, *most, least - 1, most + 1]
                    .map(of),
            );
        }
        AttrForm::Word(words) => out.extend(words.iter().map(|word| ((*word).to_string(), true))),
        AttrForm::Text => out.push(("\"no.such.name\"".to_string(), true)),
        AttrForm::Symbol => {}
        AttrForm::Grid => out.extend(
            [
                ("(4)", true),
                ("(cdiv(%m, 16), 2)", true),
                ("(min(%m, 2) * 1, 2)", true),
                ("(1, 2, 3, 4)", false),
                ("(cdiv(%x, 16))", false),
                ("(4 +)", false),
            ]
            .map(|(text, is_taken)| (text.to_string(), is_taken)),
        ),
        AttrForm::Bounds => out.extend(
            [
                ("(100, 77)", true),
                ("(%m, _)", true),
                ("(_, m)", true),
                ("(7)", false),
                ("(1, 2, 3)", false),
                ("(0, 1)", false),
                ("(%x, 16)", false),
                ("(2147483648, 16)", false),
                ("(cdiv(%m, 2), 16)", false),
            ]
            .map(|(text, is_taken)| (text.to_string(), is_taken)),
        ),
        AttrForm::Dense => out.extend(
            [
                ("dense<16> : tensor<1xi32>", true),
                ("dense<[4, 8]> : tensor<2xi32>", true),
                ("dense<0> : tensor<1xi32>", false),
                ("dense<a> : tensor<1xi32>", false),
                ("16", false),
            ]
            .map(|(text, is_taken)| (text.to_string(), is_taken)),
        ),
        AttrForm::Map => out.extend(
            [
                ("affine_map<(d0) -> (d0)>", true),
                ("affine_map<()[s0] -> ((-s0 + 32) * 2 mod 7)>", true),
                ("affine_map<(d0) -> (d0 ceildiv 0)>", false),
                ("affine_map<(d0, d1) -> (d0)>", false),
                ("affine_map<(d0) -> (d0, d0)>", false),
                ("affine_map<(d0) -> (d0 * )>", false),
                ("affine_map<(d0) -> (d1)>", false),
            ]
            .map(|(text, is_taken)| (text.to_string(), is_taken)),
        ),
        AttrForm::Ints(numbers) => out.push((format!("{:?}", numbers.slice()), true)),
        AttrForm::Layout(_) => out.extend(layouts(32).into_iter().map(|(_, text)| (text, true))),
    }
    // What is of no form, or of another one.
    for value in [
        "",
        "true",
        "nonsense",
        "\"text\"",
        "1.5",
        "[0, 1]",
        "[1, 0, 2]",
        "%m",
        "@f",
        "#undefined",
        "S[(32,32):(1@laneid,1@warpid)]",
    ] {
        if !out.iter().any(|(other, _)| other == value) {
            out.push((value.to_string(), false));
        }
    }
    out.sort();
    out.dedup();
    out
}

/// A layout of each notation for a tile of 32 x 32.
pub fn layouts(lanes: u32) -> Vec<(&'static str, String)> {
    let of_lanes = if lanes == 64 {
        "S[(2,16,4,8):(1@warpid,4@laneid,1@laneid,32@bit)]"
    } else {
        "S[(4,8,4,8):(1@warpid,4@laneid,1@laneid,32@bit)]"
    };
    vec![
        ("lanes", of_lanes.into()),
        ("tirx", "S[(32,32):(36,1)]".into()),
        ("tirx, swizzled", "S<3,2,3> o 0 o (32,32):(32,1)".into()),
        ("cute", "(32,32):(1,36)".into()),
        ("tileas", "<(32,32),(1,32)>".into()),
        // None of these is what would be chosen.
        (
            "triton",
            format!(
                "#ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [{}, 4], warpsPerCTA = [{}, 1], order = [1, 0]}}>",
                lanes / 4,
                128 / lanes
            ),
        ),
        ("cute, threads and values", "(128,8):(1,128)".into()),
        (
            "triton, shared",
            "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 4, order = [1, 0]}>".into(),
        ),
        (
            "linear",
            "#ttg.linear<{register = [[0, 1]], lane = [[1, 0]], warp = [[2, 0]], block = []}>"
                .into(),
        ),
        ("tilelang, expressions", "{thread = v0 * 4 + v1 / 8, index = v1 % 8}".into()),
        ("tilelang", "T.Fragment([32, 32], forward_thread_fn=lambda i, j: i)".into()),
        ("nothing", "#nothing".into()),
        ("nonsense", "rubbish".into()),
    ]
}

pub fn joined(key: &str, value: &str) -> String {
    if value.is_empty() { key.to_string() } else { format!("{key} = {value}") }
}

/// The attributes that an operation needs, as they are written.
pub fn required(contract: &OpContract<'_>, without: &str) -> String {
    let mut out = Vec::new();
    for attr in contract.attrs.iter().filter(|attr| {
        attr.required && attr.key != without && attr.key != "sym_name" && attr.key != "threads"
    }) {
        let value = match attr.form {
            AttrForm::Word(words) => words.first().copied().unwrap_or("").to_string(),
            AttrForm::Int(_, most) => most.to_string(),
            AttrForm::Power(least, _) => least.to_string(),
            AttrForm::Map => "affine_map<(d0) -> (d0)>".to_string(),
            _ => panic!("a required attribute `{}` that this test cannot write", attr.key),
        };
        out.push(joined(attr.key, &value));
    }
    out.join(", ")
}

pub fn listed(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
}

/// Of the function: behind the number of threads.
pub fn own(decl: &OpDecl<'_>, text: &str) -> String {
    if decl.role == OpRole::Function && !text.is_empty() {
        format!(", {text}")
    } else {
        text.to_string()
    }
}
