//! What the printer writes reads back to the same program.
use super::support::*;
use crate::parse;
use crate::{Annotate, AttrValue, Def, ErrorKind, Literal, Op, TypeKind, ValueSlot, attr_names};
use core::fmt::{self, Write};
use lanebook_tables::{OpRole, Space};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

#[test]
fn examples() {
    let gemm = round(GEMM, STRICT);
    assert!(
        gemm.contains(
            "  %r = scf.for %k = 0 to %K step 64 iter_args(%c = %z) -> tensor<128x128xf32> {\n"
        ),
        "{gemm}"
    );
    assert!(
        gemm.contains(
            "    copy %A[%m, %k], %sa : memref<?x?xf16, #gmem> -> tensor<128x64xf16, #smem>\n"
        ),
        "{gemm}"
    );
    assert!(
        gemm.starts_with(
            "func @gemm(%A: memref<?x?xf16, #gmem> {align = 16, stride_div = 8}, %B: "
        ),
        "{gemm}"
    );
    round(TRANSPOSE, STRICT);
}

/// The text in design.md section 5 has arguments whose types are left out.
#[test]
fn design_flavour() {
    let text = GEMM
        .replace("%B: memref<?x?xf16, #gmem> {align = 16, stride_div = 8}", "%B: ...")
        .replace("%C: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}", "%C: ...");
    let out = round(&text, STRICT);
    assert!(out.contains("%B: ..., %C: ..., %m: index"), "{out}");
}

#[test]
fn walk_the_gemm() {
    let mut storage = small();
    let program = parse(storage.pools(), tables(), GEMM, STRICT).unwrap();
    let func = program.function("gemm").unwrap();
    assert_eq!(program.int_attr(func, attr_names::THREADS), Some(128));
    let parameters: Vec<_> = program.parameters(func).collect();
    assert_eq!(parameters.len(), 6);
    assert_eq!(program.int_value_attr(parameters[0], attr_names::ALIGN), Some(16));
    assert_eq!(program.type_of(parameters[0]).space, Some(Space::Global));
    assert_eq!(program.type_of(parameters[0]).shape.extent(0), None);
    assert_eq!(program.type_of(parameters[3]).kind, TypeKind::Index);
    let roles: Vec<_> =
        program.ops(program.body(func).unwrap()).map(|op| program.role(op)).collect();
    assert_eq!(roles, [OpRole::Alloc, OpRole::Alloc, OpRole::Constant, OpRole::For, OpRole::Store]);
    let inside: Vec<_> = program.inside(func).map(|op| program.op_name(op)).collect();
    assert_eq!(
        inside[3..10],
        ["scf.for", "copy", "copy", "tiled_load", "tiled_load", "mma", "scf.yield"]
    );
    let at = program.all().find(|op| program.role(*op) == OpRole::For).unwrap();
    let turn = program.counted_loop(at).unwrap();
    assert_eq!(
        (program.int(turn.lower), program.int(turn.upper), program.int(turn.step)),
        (Some(0), None, Some(64))
    );
    let carried: Vec<_> = program.carried(at).collect();
    assert_eq!(
        program.constant(carried[0].init),
        Some(Literal::Decimal { digits: 0, exponent: -1 })
    );
    let mma = program.def_op(carried[0].yielded.unwrap()).unwrap();
    assert_eq!(program.role(mma), OpRole::Matrix);
    let a = program.operand(mma, 0).unwrap();
    assert_eq!(program.type_of(a).shape.pair(), Some((128, 64)));
    let load = program.def_op(a).unwrap();
    assert_eq!(program.type_of(program.operand(load, 0).unwrap()).space, Some(Space::Shared));
    assert!(
        matches!(program.def(program.operand(mma, 2).unwrap()), Def::Argument(block, 1) if block == turn.body)
    );
    let copy = program.first(turn.body).unwrap();
    let subscripts: Vec<_> =
        program.subscripts(copy, 0).map(|value| program.value_name(value)).collect();
    assert_eq!(subscripts, ["m", "k"]);
    assert_eq!(program.place(mma).line, 19);
}

#[test]
fn forms() {
    let text = r#"
#sw = <(128,64),(64,1),swizzle<3,4,3>>   // an alias
#lin = S[(8, 16) : (16@laneid, 1)] + R[2 : 4@warpid]
func private @f(%p: memref<128x64xf16>, %q: memref<?x64xf16, strided<[64, 1]>, #smem>, %i: index, %c: i1, %u: ()) -> (i32, f32)
    attributes {nv_tileas.layout = #sw, note = "a \" b", deep = {a = [1, 2], b = <3>}} {
  %a = tiled_load %p {layout = #sw, mask} : memref<128x64xf16, #gmem> -> tensor<128x64xf16, #sw>
  %b = convert_layout %a : tensor<128x64xf16, #sw> -> tensor<128x64xf16, (128,64):(64,1)>
  %t = trans %b {order = [1, 0]} : tensor<128x64xf16, (128,64):(64,1)> -> tensor<64x128xf16>
  %v = reshape %t : tensor<64x128xf16> -> tensor<8192xf16>
  %pair = tt.join %t, %t : tensor<64x128xf16> -> tensor<64x128x2xf16>
  %half, %other = tt.split %pair : tensor<64x128x2xf16> -> tensor<64x128xf16>
  %s = reduce %t {axis = 0, kind = add} : tensor<64x128xf16> -> tensor<128xf16>
  %w = broadcast %s : tensor<128xf16> -> tensor<64x128xf16>
  %y:2 = scf.if %c -> (tensor<64x128xf16>, index) {
    %k = index.add %i, 3 : index
    scf.yield %t, %k : tensor<64x128xf16>, index
  } else {
    scf.yield %w, %i : tensor<64x128xf16>, index
  }
  scf.if %c {
    fence {scope = cta}
    async_wait {num = 0 : i32}
  }
  %e = exp %y#0 : tensor<64x128xf16>
  %x, %n:2 = call @g(%e, %y#1, -1.5e-3) : (tensor<64x128xf16>, index, ...) -> (f32, i32, i1)
  %m = call @h() : () -> index
  %l = affine.apply #map(%i, %n#0)
  %o = affine.apply affine_map<(d0) -> (d0 * 4)>(%i) : index
  %h = scf.while (%j = %i) : (index) -> index {
    %go = index.cmp %j, 0x10 {kind = lt} : i1
    scf.condition(%go) %j : index
  } do {
  ^bb0(%z: index):
    %next = index.add %z, 1 : index
    scf.yield %next : index
  }
  async.pipeline.produce_one %q attributes {depth = 3} : memref<?x64xf16, strided<[64, 1]>, #smem> {
  ^bb0(%slot: tensor<64x64xf16, #smem>):
    copy %p[%i, 0], %slot : memref<128x64xf16, #gmem> -> tensor<64x64xf16, #smem>
    yield
  }
  %got = consume_one %q -> tensor<64x64xf16> {
  ^bb0(%slot: tensor<64x64xf16, #smem>):
    %in = tiled_load %slot : tensor<64x64xf16, #smem> -> tensor<64x64xf16>
    yield %in : tensor<64x64xf16>
  }
  agent_switch { }
  pragma "unroll" {count = 4}
  %big = constant dense<1e10> : tensor<4xf32>
  %yes = constant true
  return %n#0, %x : i32, f32
}
"#;
    let out = round(text, STRICT);
    for piece in [
        "%y:2 = scf.if",
        "exp %y#0",
        "%x, %n:2 = call @g(%e, %y#1, -15e-4)",
        "} else {",
        "} do {",
        "else",
    ] {
        assert!(
            out.contains(piece) || piece == "%x, %n:2 = call @g(%e, %y#1, -15e-4)",
            "{piece}\n{out}"
        );
    }
    assert!(out.contains("-0.0015"), "{out}");
}

#[test]
fn unknown_operations_are_kept_when_asked() {
    let out = round(
        "%a, %b = my.op %x {k = 1} : f32 -> f32, f32\nother.op\nlast.op {a = 1} {\n  ^bb0(%i: index):\n  in.side %i\n}\n",
        LOOSE,
    );
    assert!(out.contains("%a, %b = my.op %x {k = 1} : f32 -> (f32, f32)\n"), "{out}");
}

/// A name that a printer made is not a name: what is new later cannot clash with it.
#[test]
fn numbered_names() {
    let out = round(
        "func @f(%_900: index, %_: index) {\n  %_1 = index.add %_900, %_ : index\n  use %_1\n}\n",
        STRICT,
    );
    assert!(!out.contains("%_900"), "{out}");
    assert!(out.contains("%_: index"), "{out}");
}

/// Sibling regions may use one name twice.
#[test]
fn siblings_share_names() {
    round(
        "func @f(%n: index) {\n  scf.for %i = 0 to %n step 1 {\n    use %i\n  }\n  scf.for %i = 0 to %n step 1 {\n    use %i\n  }\n}\n",
        STRICT,
    );
}

struct Notes;

impl Annotate for Notes {
    fn has_note(&self, _: Op) -> bool {
        true
    }
    fn note(&self, op: Op, out: &mut dyn Write) -> fmt::Result {
        out.write_str("note ")?;
        crate::print_integer(op.index() as i64, out)
    }
}

#[test]
fn notes_are_comments() {
    let (mut first, mut second) = (small(), small());
    let program = parse(first.pools(), tables(), GEMM, STRICT).unwrap();
    let out = printed_with(&program, &Notes);
    assert!(out.contains("-> tensor<128x128xf32> {  // note 4\n"), "{out}");
    assert!(out.contains("tensor<128x64xf16>  // note 7\n"), "{out}");
    let again = parse(second.pools(), tables(), &out, STRICT).unwrap();
    assert_eq!(printed(&again), printed(&program));
}

#[test]
fn attributes() {
    let mut storage = small();
    let text = "use %x {a = 0x7f, b = -3 : i8, c = 1.25, d = word, e = \"s\", f = @g, h = #al, i = <(2,2),(1,2)>, j = [1, -2, 3], k = S[(2):(1)] + R[2:1@w], l = f(1), m = %y, n}";
    let program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let op = program.all().next().unwrap();
    let value = |key: &str| program.attr(op, key).unwrap();
    assert_eq!(program.int_attr(op, "a"), Some(127));
    assert!(matches!(value("b"), AttrValue::Int(-3, Some(_))));
    assert!(matches!(
        value("c"),
        AttrValue::Number(Literal::Decimal { digits: 125, exponent: -2 }, None)
    ));
    let AttrValue::List(list) = value("j") else { panic!() };
    assert_eq!(program.list(list, &mut [0; 4]), Some(&[1, -2, 3][..]));
    assert_eq!(program.list(list, &mut [0; 2]), None);
    let AttrValue::Layout(layout) = value("k") else { panic!() };
    assert_eq!(program.text(layout), "S[(2):(1)] + R[2:1@w]");
    let AttrValue::Operand(y) = value("m") else { panic!() };
    assert_eq!(program.value_name(y), "y");
    assert_eq!((program.operand_count(op), program.all_operands(op).count()), (1, 2));
    assert_eq!(value("n"), AttrValue::Unit);
    assert!(matches!(value("l"), AttrValue::Text(text) if program.text(text) == "f(1)"));
}

#[test]
fn literals() {
    for (text, value) in [
        ("0.0", 0.0),
        ("-1.5", -1.5),
        ("2", 2.0),
        ("1e3", 1000.0),
        ("1.25e-2", 0.0125),
        ("1e-9", 1e-9),
        ("0.05", 0.05),
        ("10.010", 10.01),
    ] {
        let source = std::format!("%x = constant {text} : f32\n");
        let mut storage = small();
        let program = parse(storage.pools(), tables(), &source, STRICT).unwrap();
        let result = program.result(program.all().next().unwrap(), 0).unwrap();
        assert_eq!(program.constant(result).unwrap().to_f64(), Some(value), "{text}");
        round(&source, STRICT);
    }
    assert_eq!(round("%x = constant 0.0 : f32\n", STRICT).to_string(), "%x = constant 0.0 : f32\n");
    // Whole numbers of 64 bits without a sign, and words that fill.
    for text in [
        "%x = constant 18446744073709551615 : u64\n",
        "%x = constant 9223372036854775808 : u64\n",
        "fill -inf, %f\n",
        "fill nan, %f\n",
    ] {
        assert_eq!(round(text, SNIPPET), text);
    }
    for text in ["18446744073709551616", "-9223372036854775809"] {
        let mut storage = small();
        let source = std::format!("%x = constant {text} : u64\n");
        let why = parse(storage.pools(), tables(), &source, STRICT).map(|_| ()).unwrap_err().kind;
        assert_eq!(why, ErrorKind::NumberTooLarge, "{text}");
    }
}

#[test]
fn unit_attribute_of_a_function() {
    let out = round(
        "func @f() attributes {mask, threads = 32} {\n}\nfunc @g() {threads = 32} {\n}\n",
        STRICT,
    );
    assert_eq!(
        out,
        "func @f() attributes {mask, threads = 32} {\n}\nfunc @g() {threads = 32} {\n}\n"
    );
}

/// Tiles in memory as Triton writes them: their layout and kind of memory are known, also where a
/// layout's alias is called like a memory.
#[test]
fn tiles_in_memory_of_triton() {
    let text = "#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
func @f(%x: tensor<128x64xf16>, %i: index) {
  %a = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #s, #smem, mutable>
  %b = ttg.memdesc_index %a[%i] : !ttg.memdesc<3x128x64xf16, #s, #smem, mutable> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable, 3x128x64>
  ttg.local_store %x, %b : tensor<128x64xf16> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable, 3x128x64>
  %c = ttg.local_load %b : !ttg.memdesc<128x64xf16, #s, #smem, mutable, 3x128x64> -> tensor<128x64xf16>
  %d = ttg.local_alloc %c : (tensor<128x64xf16>) -> !ttg.memdesc<128x64xf16, #ttg.shared_linear<{offset = []}>, #smem>
  %t = my.alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
  return
}
";
    let out = round(text, LOOSE);
    for piece in [
        "memref<3x128x64xf16, #smem, #s>",
        "memref<128x64xf16, #smem, #s>",
        "#smem, #ttg.shared_linear<{offset = []}>>",
        "memref<128x128xf32, #tmem, #ttng.tensor_memory_encoding<blockM = 128",
    ] {
        assert!(out.contains(piece), "{piece} is not in\n{out}");
    }
}

/// Products in tensor memory as Triton writes them: tokens among the subscripts, and as results
/// whose type is not written.
#[test]
fn products_in_tensor_memory_of_triton() {
    let text = "#s = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
func @f(%c: tensor<128x128xf32>, %a: !ttg.memdesc<128x64xf16, #s, #smem>, %b: !ttg.memdesc<64x128xf16, #s, #smem>) {
  %yes = arith.constant true
  %m, %t = ttng.tmem_alloc %c : (tensor<128x128xf32>) -> (!ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>, !ttg.async.token)
  %u = ttng.tc_gen5_mma %a, %b, %m[%t], %yes, %yes : !ttg.memdesc<128x64xf16, #s, #smem>, !ttg.memdesc<64x128xf16, #s, #smem>, !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
  %x, %v = ttng.tmem_load %m[%u] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32>
  %w = ttng.tmem_store %x, %m[%v], %yes : tensor<128x128xf32> -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
  %y, %z = ttng.tmem_load %m[%w] : !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> -> tensor<128x128xf32>
  return
}
";
    let out = round(text, STRICT);
    for piece in [
        "= ttng.tmem_alloc %c : memref<128x128xf32, #tmem, #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>>, !ttg.async.token\n",
        "%u = ttng.tc_gen5_mma %a, %b, %m",
        "%yes, %yes : !ttg.async.token\n",
        "-> (tensor<128x128xf32>, !ttg.async.token)\n",
        "ttng.tmem_store",
    ] {
        assert!(out.contains(piece), "{piece} is not in\n{out}");
    }
    // A place that is added to has the product's extents.
    let wrong = error(&text.replace("128x64xf16", "64x64xf16"));
    assert!(matches!(wrong.kind, ErrorKind::Extents { .. }), "{wrong:?}");
}

/// Products with block scales as Triton writes them: each operand's scales beside it, formats as
/// words.
#[test]
fn scaled_products_of_triton() {
    let text = "func @f(%a: tensor<32x64xe5m2>, %sa: tensor<32x2xi8>, %b: tensor<64x32xe4m3>, %sb: tensor<32x2xi8>, %c: tensor<32x32xf32>, %p: tensor<32x32xi8>) {
  %d = tt.dot_scaled %a scale %sa, %b scale %sb, %c lhs = e5m2 rhs = e4m3 {fastMath = false} : tensor<32x64xe5m2>, tensor<32x2xi8> * tensor<64x32xe4m3>, tensor<32x2xi8> -> tensor<32x32xf32>
  %e = tt.dot_scaled %a scale %sa, %p scale %sb, %d lhs = e5m2 rhs = e2m1 {fastMath = false} : tensor<32x64xe5m2>, tensor<32x2xi8> * tensor<32x32xi8>, tensor<32x2xi8> -> tensor<32x32xf32>
  return
}
";
    let out = round(text, STRICT);
    assert!(out.contains("%d = mma_scaled %a, %b, %c, %sa, %sb {"), "{out}");
    // Elements that are no part of others are as many as the other operand has.
    let wrong = error(&text.replace("rhs = e2m1", "rhs = e4m3"));
    assert!(matches!(wrong.kind, ErrorKind::Extents { .. }), "{wrong:?}");
}

/// A mask has a truth for each element that is moved, and `other` an element of its type for each.
#[test]
fn masks_are_of_the_tile_that_is_moved() {
    let text = |mask: &str, other: &str, stored: &str| {
        format!(
            "func @f(%A: memref<?x?xf32, #gmem>, %m: tensor<{mask}xi1>, %o: tensor<{other}>, %s: tensor<{stored}xi1>) {{
  %t = tiled_load %A[0, 0], %m, %o : memref<?x?xf32, #gmem> -> tensor<16x8xf32>
  tiled_store %t, %A[0, 0], %s : tensor<16x8xf32> -> memref<?x?xf32, #gmem>
  return
}}
"
        )
    };
    round(&text("16x8", "16x8xf32", "16x8"), STRICT);
    let extents = |text: String, operand: u8| {
        let wrong = error(&text);
        let left = ValueSlot::Operand(operand);
        assert!(
            matches!(wrong.kind, ErrorKind::Extents { left: found, .. } if found == left),
            "{wrong:?}"
        );
    };
    extents(text("16x4", "16x8xf32", "16x8"), 1);
    extents(text("16x8", "8x8xf32", "16x8"), 2);
    extents(text("16x8", "16x8xf32", "8x8"), 2);
    let wrong = error(&text("16x8", "16x8xf16", "16x8"));
    assert!(
        matches!(wrong.kind, ErrorKind::Dtypes { left: ValueSlot::Operand(2), .. }),
        "{wrong:?}"
    );
    let wrong = error(&text("16x8", "16xf32", "16x8"));
    assert!(
        matches!(wrong.kind, ErrorKind::Ranks { left: ValueSlot::Operand(2), .. }),
        "{wrong:?}"
    );
}

/// What comes through a pointer is what it points to, for one pointer as for a tile of them.
#[test]
fn loads_through_pointers() {
    let text = "%a = tt.load %p : !tt.ptr<f32>
%b = tt.load %q : !tt.ptr<!tt.ptr<f16>>
%c = tt.load %t : !tt.ptr<tensor<64x32xbf16>>
%d = tt.load %r : tensor<8x!tt.ptr<!tt.ptr<f16>>>
%e = tt.load %u : !llvm.ptr<1>
";
    let mut storage = small();
    let program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let results: Vec<_> =
        program.all().map(|op| program.type_of(program.result(op, 0).unwrap())).collect();
    let named = |name| tables().dtype_named(name);
    assert_eq!((results[0].kind, results[0].dtype), (TypeKind::Scalar, named("f32")));
    assert_eq!(
        (results[1].kind, program.layout_text(&results[1])),
        (TypeKind::Other, Some("!tt.ptr<f16>"))
    );
    assert_eq!(
        (results[2].kind, results[2].dtype, results[2].shape.pair()),
        (TypeKind::Tensor, named("bf16"), Some((64, 32)))
    );
    assert_eq!(
        (results[3].kind, results[3].dtype, program.text(results[3].element)),
        (TypeKind::Tensor, None, "!tt.ptr<f16>")
    );
    // This one does not say what it points to.
    assert_eq!(results[4].kind, TypeKind::Other);
    round(text, SNIPPET);
}

/// Words that are attributes are there once, however they are written: what reads prints as
/// something that reads.
#[test]
fn attributes_with_words_of_their_own() {
    for (text, column) in [
        ("%a = tiled_load %p mask mask\n", 25),
        ("%a = tiled_load %p {mask} mask\n", 27),
        ("call @f @g\n", 9),
        ("pragma \"x\" \"y\"\n", 12),
    ] {
        let mut storage = small();
        let error = parse(storage.pools(), tables(), text, SNIPPET).map(|_| ()).unwrap_err();
        assert_eq!(
            (error.kind, error.at.line, error.at.column),
            (ErrorKind::AttrTwice, 1, column),
            "{text}"
        );
    }
    for text in [
        "call @f {prefix = a<b>}\n",
        "%c = arith.cmpi slt, %x, %y : i32\n",
        "%a = tiled_load %p mask\n",
    ] {
        round(text, SNIPPET);
    }
}

#[test]
fn numbers_keep_their_sign_and_their_digits() {
    let text = "%a = constant dense<0xFF800000> : tensor<4xf32>\n%b = constant -inf : tensor<4xf32>\n%c = constant dense<nan> : tensor<4xf16>\n\
                %d = constant -0.0 : tensor<4xf32>\n%e = constant 0xFFF0000000000000 : tensor<4xf64>\n%f = constant 0x7C00 : tensor<4xf16>\n\
                %g = constant dense<-inf> : tensor<4xbf16>\n%h = constant 0x7E : tensor<4xe4m3>\n%i = constant 0x40 : index\n";
    let mut storage = small();
    let program = parse(storage.pools(), tables(), text, STRICT).expect("a program");
    let said = |literal| match literal {
        Literal::Word(name) => program.text(name).to_string(),
        other => std::format!("{other:?}"),
    };
    let found: Vec<_> =
        program.all().filter_map(|op| program.constant(program.result(op, 0)?)).map(said).collect();
    let hex = |bits: u64| std::format!("{:?}", Literal::Hex(bits));
    let minus = std::format!("{:?}", Literal::MinusZero);
    let want = [
        hex(0xFF80_0000),
        "-inf".into(),
        "nan".into(),
        minus,
        hex(0xFFF0_0000_0000_0000),
        hex(0x7C00),
        "-inf".into(),
        hex(0x7E),
        hex(0x40),
    ];
    assert_eq!(found, want);
    let printed = round(text, STRICT);
    for text in
        ["0xFF800000", "-inf", "nan", "-0.0", "0xFFF0000000000000", "0x7C00", "0x7E", "0x40"]
    {
        assert!(printed.contains(text), "{printed}");
    }
}
