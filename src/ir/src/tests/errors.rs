//! Every error a text can cause, with its place.
use super::support::*;
use crate::parse;
use crate::verify;
use crate::{ErrorKind as K, IrError, Lexeme, Pool, ValueSlot, WantedType};
use std::string::String;

/// Line, column and kind.
#[track_caller]
fn at(text: &str, line: u32, column: u32, kind: K) {
    let error = error(text);
    assert_eq!((error.kind, error.at.line, error.at.column), (kind, line, column), "{text}");
}

/// The text inside a function with a few arguments, from line 2 column 3 on.
#[track_caller]
fn inside(body: &str, line: u32, column: u32, kind: K) {
    // Only the first line of the body is indented.
    at(&wrap(body), line + 1, if line == 1 { column + 2 } else { column }, kind);
}

fn wrap(body: &str) -> String {
    std::format!(
        "func @f(%A: memref<?x?xf16>, %s: tensor<128x64xf16, #smem>, %t: tensor<128x64xf16>, %w: tensor<64x32xf16>, %f: tensor<128x32xf32>, %i: index, %c: i1) {{\n  {body}\n}}\n"
    )
}

const fn got(want: Lexeme, got: Lexeme) -> K {
    K::Expected { want, got }
}

#[test]
fn errors_are_small() {
    assert!(size_of::<IrError>() <= 40, "{}", size_of::<IrError>());
}

#[test]
fn spelling() {
    use Lexeme::*;
    at("func @f(", 1, 9, got(ValueName, End));
    at("\u{feff}func @f() {}", 1, 1, got(Operation, ByteOrderMark));
    at("func f()", 1, 6, got(Symbol, Word));
    at("func @f() {", 1, 12, got(Char(b'}'), End));
    at("}", 1, 1, got(Operation, Char(b'}')));
    at("func @f()\n  %", 2, 3, got(Char(b'{'), Char(b'%')));
    at("ä", 1, 1, got(Operation, Unknown));
    at("// ä ö\n  é", 2, 3, got(Operation, Unknown));
    at("%x 5", 1, 4, got(Char(b'='), Integer));
    at("%x = 5", 1, 6, got(Operation, Integer));
    at("^bb0:", 1, 1, got(Operation, Label));
    at("#a = ", 1, 6, got(AttrValue, End));
    inside("use %i {k = }", 1, 13, got(AttrValue, Char(b'}')));
    inside("use %i {5}", 1, 9, got(Word, Integer));
    inside("use %i[", 2, 1, got(Operand, Char(b'}')));
    inside("use %i, x", 1, 9, got(Operand, Word));
    inside("use %i : 5", 1, 10, got(Type, Integer));
    inside("use %i : tensor<4>", 1, 18, got(Char(b'x'), Char(b'>')));
    inside("use %i : tensor<4x>", 1, 19, got(Dtype, Char(b'>')));
    inside("use %i : tensor<4xf16, #smem, #a, #b>", 1, 35, got(Char(b'>'), Alias));
    inside("scf.for %k = 0 %i", 1, 16, got(To, ValueName));
    inside("scf.for %k = 0 to %i 1", 1, 22, got(Step, Integer));
    inside("scf.for %k = 0 to %i step 1\n}", 2, 1, got(Char(b'{'), Char(b'}')));
    inside("scf.while () : () -> () {\n}\nfence", 3, 1, got(Do, Word));
    inside("agent_switch\nfence", 2, 1, got(Char(b'{'), Word));
}

#[test]
fn names() {
    inside("use %nowhere", 1, 5, K::Undefined);
    inside("scf.for %k = 0 to %i step 1 {\n}\nuse %k", 3, 5, K::Undefined);
    inside("%x = index.add %x, 1 : index", 1, 16, K::Undefined);
    inside("%i = constant 1 : index", 1, 1, K::Redefined { line: 1 });
    inside(
        "scf.for %k = 0 to %i step 1 {\n%k = constant 1 : index\n}",
        2,
        1,
        K::Redefined { line: 2 },
    );
    inside("%x, %x = call @f() : () -> (index, index)", 1, 5, K::Redefined { line: 2 });
    at("func @f(%a: index,\n  %a: index) {\n}", 2, 3, K::Redefined { line: 1 });
    at("#a = <4,1>\n#a = <4,1>\n", 2, 1, K::AliasRedefined);
    inside(
        "%r:2 = call @f() : () -> (index, index)\nuse %r#2",
        2,
        8,
        K::ResultNumber { results: 2 },
    );
    inside("%x = make %i", 1, 6, K::UnknownOp);
    let error = error(&wrap("%x = tiled_laod %i"));
    assert_eq!((error.kind, error.at.len), (K::UnknownOp, 10));
    inside("use %t : tensor<128x64xf17>", 1, 24, K::UnknownDtype);
    inside("use %i : i33", 1, 10, K::UnknownDtype);
}

#[test]
fn numbers_and_brackets() {
    inside("use 99999999999999999999", 1, 5, K::NumberTooLarge);
    inside("use 0x1ffffffffffffffff", 1, 5, K::NumberTooLarge);
    inside("use 1.99999999999999999999", 1, 5, K::NumberTooLarge);
    inside("use %i : tensor<4294967295xf16>", 1, 17, K::NumberTooLarge);
    inside("use %i : tensor<4x0xf16>", 1, 19, K::Extent);
    inside("%r:0 = use %i", 1, 4, K::NumberTooLarge);
    inside("use %i {k = <(1, 2>}", 1, 13, K::Unclosed);
    inside("use %i : tensor<4xf16, <(4],1>>", 1, 24, K::Unclosed);
    at("#a = <4,1\n", 1, 6, K::Unclosed);
    inside("use %i {k = 1, k = 2}", 1, 16, K::AttrTwice);
    inside("use %i {k = \"open}", 1, 13, got(Lexeme::AttrValue, Lexeme::Char(b'"')));
    at("%x = affine.apply affine_map<(d0) %x", 1, 19, K::Unclosed);
}

#[test]
fn counts() {
    inside(
        "%x = trans %t, %t : tensor<64x128xf16>",
        1,
        6,
        K::OperandCount { least: 1, most: 1, found: 2 },
    );
    inside(
        "copy %s : tensor<128x64xf16, #smem>",
        1,
        1,
        K::OperandCount { least: 2, most: 2, found: 1 },
    );
    inside("%x = tiled_store %t, %s", 1, 6, K::ResultCount { least: 0, most: 0, found: 1 });
    inside(
        "%x, %y = scf.for %k = 0 to %i step 1 {\n}",
        1,
        10,
        K::ResultCount { least: 0, most: 0, found: 2 },
    );
    inside("%x, %y = trans %t : index", 1, 10, K::TypeCount { values: 2, types: 1 });
    inside("use %i : index, index", 1, 1, K::TypeCount { values: 1, types: 2 });
    inside(
        "%r = scf.for %k = 0 to %i step 1 iter_args(%x = %i) -> (index, index) {\n}",
        1,
        56,
        K::TypeCount { values: 1, types: 2 },
    );
    inside(
        "%x = trans %t : tensor<128x32xf16> -> tensor<64x128xf16>",
        1,
        6,
        K::WrittenType { operand: 0 },
    );
    inside(
        "tiled_store %t, %A[%i, %i] : tensor<128x64xf16> -> memref<?x?xf32>",
        1,
        1,
        K::WrittenType { operand: 1 },
    );
    inside(
        "tiled_store %t, %A[%i] : tensor<128x64xf16> -> memref<?x?xf16>",
        1,
        1,
        K::Subscripts { rank: 2, found: 1 },
    );
    inside(
        "tiled_store %t, %A[%i, %t] : tensor<128x64xf16> -> memref<?x?xf16>",
        1,
        1,
        K::OperandKind { operand: 1, want: WantedType::Index },
    );
    inside("use %i[%i]", 1, 1, K::OperandKind { operand: 0, want: WantedType::Tile });
}

#[test]
fn shapes() {
    let (a, b, c, d) =
        (ValueSlot::Operand(0), ValueSlot::Operand(1), ValueSlot::Operand(2), ValueSlot::Result(0));
    let extents = |left, left_dimension, right, right_dimension, a, b| K::Extents {
        left,
        left_dimension,
        right,
        right_dimension,
        a,
        b,
    };
    inside("%x = mma %t, %f, %f : tensor<128x32xf32>", 1, 6, extents(a, 1, b, 0, 64, 128));
    inside("%x = mma %t, %w, %t : tensor<64x32xf32>", 1, 6, extents(a, 0, d, 0, 128, 64));
    inside("%x = mma %t, %w, %f : tensor<128x64xf32>", 1, 6, extents(b, 1, d, 1, 32, 64));
    inside("%x = mma %t, %w, %t : tensor<128x32xf32>", 1, 6, extents(c, 1, d, 1, 64, 32));
    inside(
        "%x = mma %t, %w, %f : tensor<128x32xf16>",
        1,
        6,
        K::Dtypes { left: c, right: d, a: dtype("f32"), b: dtype("f16") },
    );
    inside(
        "%x = mma %t, %w, %i : tensor<128x32xf16>",
        1,
        6,
        K::OperandKind { operand: 2, want: WantedType::Matrix },
    );
    inside(
        "%x = mma %t, %w : tensor<4x4x128x32xf16>",
        1,
        6,
        K::ResultKind { result: 0, want: WantedType::Matrix },
    );
    inside(
        "%x = mma %t, %w : tensor<4x128x32xf16>",
        1,
        6,
        K::Ranks { left: a, right: d, a: 2, b: 3 },
    );
    inside(
        "copy %A[%i, %i], %f : memref<?x?xf16> -> tensor<128x32xf32>",
        1,
        1,
        K::Dtypes { left: a, right: b, a: dtype("f16"), b: dtype("f32") },
    );
    inside(
        "copy %s, %w : tensor<128x64xf16, #smem> -> tensor<64x32xf16>",
        1,
        1,
        extents(a, 0, b, 0, 128, 64),
    );
    inside("copy %i, %s", 1, 1, K::OperandKind { operand: 0, want: WantedType::Tile });
    inside(
        "%x = tiled_load %t : tensor<128x64xf16> -> tensor<128x64xf16>",
        1,
        6,
        K::OperandKind { operand: 0, want: WantedType::Memory },
    );
    inside(
        "%x = tiled_load %s : tensor<128x64xf16, #smem> -> tensor<64x64xf16>",
        1,
        6,
        extents(a, 0, d, 0, 128, 64),
    );
    inside(
        "%x = tiled_load %s : tensor<128x64xf16, #smem> -> index",
        1,
        6,
        K::ResultKind { result: 0, want: WantedType::Tile },
    );
    inside(
        "%x = tiled_load %A[%i, %i] : memref<?x?xf16> -> tensor<4x8x8xf16>",
        1,
        6,
        K::Ranks { left: a, right: d, a: 2, b: 3 },
    );
    inside("tiled_store %t, %w", 1, 1, K::OperandKind { operand: 1, want: WantedType::Memory });
    inside(
        "%x = convert_layout %t : tensor<128x64xf16> -> tensor<64x128xf16>",
        1,
        6,
        extents(a, 0, d, 0, 128, 64),
    );
    inside(
        "%x = trans %t : tensor<128x64xf16> -> tensor<128x64xf16>",
        1,
        6,
        extents(a, 1, d, 0, 64, 128),
    );
    inside(
        "%x = trans %t {order = [0, 0]} : tensor<128x64xf16> -> tensor<128x128xf16>",
        1,
        16,
        K::AttrValue,
    );
    inside(
        "%x = trans %t {order = [0, 2]} : tensor<128x64xf16> -> tensor<128x64xf16>",
        1,
        16,
        K::AttrValue,
    );
    inside(
        "%x = trans %t {order = 1} : tensor<128x64xf16> -> tensor<128x64xf16>",
        1,
        16,
        K::AttrValue,
    );
    inside(
        "%x = reshape %t : tensor<128x64xf16> -> tensor<128x32xf16>",
        1,
        6,
        K::Elements { a: 8192, b: 4096 },
    );
    inside(
        "%x = reduce %t {axis = 1} : tensor<128x64xf16> -> tensor<64xf16>",
        1,
        6,
        extents(a, 0, d, 0, 128, 64),
    );
    inside("%x = reduce %t {axis = 2} : tensor<128x64xf16> -> tensor<64xf16>", 1, 17, K::AttrValue);
    inside(
        "%x = reduce %t : tensor<128x64xf16> -> tensor<128x64xf16>",
        1,
        6,
        K::Ranks { left: a, right: d, a: 2, b: 2 },
    );
    inside(
        "%x = broadcast %t : tensor<128x64xf16> -> tensor<128x32xf16>",
        1,
        6,
        extents(a, 1, d, 1, 64, 32),
    );
    inside(
        "%x = broadcast %t : tensor<128x64xf16> -> tensor<128xf16>",
        1,
        6,
        K::Ranks { left: a, right: d, a: 2, b: 1 },
    );
    inside("%x = add %t, %w : tensor<128x64xf16>", 1, 6, extents(b, 0, d, 0, 64, 128));
    inside(
        "%x = add %t, %t : tensor<128x64xf32>",
        1,
        6,
        K::Dtypes { left: a, right: d, a: dtype("f16"), b: dtype("f32") },
    );
    inside(
        "%x = select %i, %t, %t : tensor<128x64xf16>",
        1,
        6,
        K::OperandKind { operand: 0, want: WantedType::Condition },
    );
    inside("%x = select %c, %t, %w : tensor<128x64xf16>", 1, 6, extents(c, 0, d, 0, 64, 128));
    inside("%x = select %c, %t, %s : tensor<128x64xf16>", 1, 6, K::Types { left: c, right: d });
    inside("%x = alloc_tensor : index", 1, 6, K::ResultKind { result: 0, want: WantedType::Tile });
    inside("%x = constant %i : index", 1, 6, K::ConstantLiteral);
    inside(
        "%x = view %t : tensor<128x64xf32>",
        1,
        6,
        K::Dtypes { left: a, right: d, a: dtype("f16"), b: dtype("f32") },
    );
}

fn dtype(name: &str) -> Option<lanebook_tables::DtypeId> {
    tables().dtype_named(name)
}

#[test]
fn regions() {
    let dtypes = "tensor<128x32xf32>";
    inside(
        "%r = scf.for %k = 0 to %i step 1 iter_args(%x = %f) -> tensor<128x32xf32> {\n}",
        1,
        6,
        K::NoTerminator,
    );
    inside(
        &std::format!(
            "%r = scf.for %k = 0 to %i step 1 iter_args(%x = %f) -> {dtypes} {{\nscf.yield\n}}"
        ),
        1,
        6,
        K::RegionValues { needed: 1, found: 0 },
    );
    inside(
        &std::format!(
            "%r = scf.for %k = 0 to %i step 1 iter_args(%x = %f) -> {dtypes} {{\nscf.yield %t : tensor<128x64xf16>\n}}"
        ),
        1,
        6,
        K::Types { left: ValueSlot::Yielded(0), right: ValueSlot::Result(0) },
    );
    inside(
        &std::format!(
            "%r = scf.for %k = 0 to %i step 1 iter_args(%x = %t) -> {dtypes} {{\nscf.yield %x : {dtypes}\n}}"
        ),
        1,
        6,
        K::Types { left: ValueSlot::Operand(3), right: ValueSlot::Argument(1) },
    );
    // One tile, or two where one says what stays of the other.
    let count = |least: u8, found| K::OperandCount { least, most: least, found };
    let line = "tensor<128xf32>";
    for (operands, types, results, kind) in [
        ("%f", dtypes.into(), line.into(), count(2, 1)),
        ("%f, %f", std::format!("{dtypes}, {dtypes}"), std::format!("{line}, {line}"), count(1, 2)),
    ] {
        let (names, word) = match kind == count(2, 1) {
            true => ("%r", "argmax"),
            false => ("%r, %q", "max"),
        };
        let text = std::format!(
            "{names} = reduce {operands} {{axis = 1, kind = {word}}} : {types} -> {results}"
        );
        inside(&text, 1, text.find("reduce").map_or(0, |at| at as u32 + 1), kind);
    }
    inside(
        &std::format!(
            "%r, %q = reduce %f, %t {{axis = 1, kind = argmin}} : {dtypes}, tensor<128x64xf16> -> {line}, {line}"
        ),
        1,
        10,
        K::Extents {
            left: ValueSlot::Operand(0),
            left_dimension: 1,
            a: 32,
            right: ValueSlot::Operand(1),
            right_dimension: 1,
            b: 64,
        },
    );
    let scaled = |sa: &str, sb: &str| {
        std::format!(
            "%x = alloc_tensor : {sa}\n%y = alloc_tensor : {sb}\n%d = mma_scaled %t, %w, %f, %x, %y : tensor<128x32xf32>"
        )
    };
    let (of_a, of_b) = ("tensor<128x2xe8m0>", "tensor<32x2xe8m0>");
    let extents = |operand, a, b| K::Extents {
        left: ValueSlot::Operand(operand),
        left_dimension: 0,
        right: ValueSlot::Operand(operand - 3),
        right_dimension: operand - 3,
        a,
        b,
    };
    inside(&scaled("tensor<64x2xe8m0>", of_b), 3, 6, extents(3, 64, 128));
    inside(&scaled(of_a, of_a), 3, 6, extents(4, 128, 32));
    inside(
        &scaled("tensor<128xe8m0>", of_b),
        3,
        6,
        K::OperandKind { operand: 3, want: WantedType::Matrix },
    );
    inside(
        &scaled("tensor<128x3xe8m0>", "tensor<32x3xe8m0>"),
        3,
        6,
        K::Blocks { depth: 64, blocks: 3 },
    );
    inside("scf.for %k = 0 to %i step 0 {\n}", 1, 1, K::LoopStep);
    inside(
        "scf.for %k = 0 to %t step 1 {\n}",
        1,
        1,
        K::OperandKind { operand: 1, want: WantedType::Index },
    );
    inside("scf.for %k = 0 to %i step 1 {\nreturn\n}", 1, 1, K::NoTerminator);
    inside("return\nfence", 1, 1, K::EarlyTerminator);
    inside("scf.if %f {\n}", 1, 1, K::OperandKind { operand: 0, want: WantedType::Condition });
    inside("%r = scf.if %c -> index {\nscf.yield %i : index\n}", 1, 6, K::NoTerminator);
    inside("scf.while () : () -> () {\n} do {\n}", 1, 1, K::NoTerminator);
    inside(
        "scf.while () : () -> () {\nscf.condition(%c) %i\n} do {\n}",
        1,
        1,
        K::RegionValues { needed: 1, found: 2 },
    );
    let told = |out: &str, passed: &str, back: &str| {
        std::format!(
            "%r = scf.while (%a = %i) : (index) -> ({out}) {{\nscf.condition(%c) {passed}\n}} do {{\n^bb0(%b: {out}):\nscf.yield {back}\n}}"
        )
    };
    inside(
        &told("index", "%a", "%c"),
        1,
        6,
        K::Types { left: ValueSlot::Yielded(0), right: ValueSlot::Argument(0) },
    );
    inside(
        &told("i1", "%a", "%i"),
        1,
        6,
        K::Types { left: ValueSlot::Yielded(0), right: ValueSlot::Result(0) },
    );
    inside(
        "%j = join %t, %t : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x64x4xf16>",
        1,
        6,
        K::Elements { a: 32768, b: 8192 },
    );
    inside(
        "%j = join %t, %t : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x64xf16>",
        1,
        6,
        K::Ranks { left: ValueSlot::Result(0), right: ValueSlot::Operand(0), a: 2, b: 2 },
    );
    inside(
        "%a, %b = split %t : tensor<128x64xf16> -> tensor<128x32xf16>",
        1,
        10,
        K::Ranks { left: ValueSlot::Operand(0), right: ValueSlot::Result(0), a: 2, b: 2 },
    );
    inside("func @g() {\n}", 1, 1, K::Misplaced);
    at("return", 1, 1, K::Misplaced);
    at("func @f() {threads = 0} {\n}", 1, 12, K::AttrValue);
    at("func @f() {threads = many} {\n}", 1, 12, K::AttrValue);
    at("func @f(%a: memref<?xf16> {align = 12}) {\n}", 1, 28, K::AttrValue);
    at("func @f(%a: index {div = 0}) {\n}", 1, 20, K::AttrValue);
    at("func @f(%a: memref<?xf16> {stride_div = -8}) {\n}", 1, 28, K::AttrValue);
    at(
        "func @f(%a: memref<?xf16> {x = %a}) {\n}",
        1,
        32,
        got(Lexeme::AttrValue, Lexeme::ValueName),
    );
}

#[test]
fn layouts() {
    inside(
        "%x = alloc_tensor : tensor<8x8xf16, S[(8,4):(4@laneid,1)]>",
        1,
        6,
        K::LayoutSize { layout: 32, tile: 64 },
    );
    inside(
        "%x = alloc_tensor : tensor<8x8xf16, (8,(2,2)):(4,1)>",
        1,
        6,
        K::LayoutSize { layout: 32, tile: 64 },
    );
    inside("%x = alloc_tensor : tensor<8x8xf16, (8,*):(4,1)>", 1, 6, K::LayoutText);
    inside("%x = alloc_tensor : tensor<8x8xf16, (8,8)>", 1, 6, K::LayoutText);
    at(
        &(String::from("#l = <(8,4),(4,1)>\n") + &wrap("%x = alloc_tensor : tensor<8x8xf16, #l>")),
        3,
        8,
        K::LayoutSize { layout: 32, tile: 64 },
    );
    at(
        &(String::from("#l = <(8,4),(4,1)>\n")
            + &wrap(
                "%x = tiled_load %s {layout = #l} : tensor<128x64xf16, #smem> -> tensor<128x64xf16>",
            )),
        3,
        8,
        K::LayoutSize { layout: 32, tile: 8192 },
    );
    at("func @f(%a: tensor<8x8xf16, <4,1>>) {\n}", 1, 1, K::LayoutSize { layout: 4, tile: 64 });
}

/// A value whose definition does not reach: only edits can make one, since names are looked up in
/// scope.
#[test]
fn dominance() {
    let mut storage = small();
    let text = wrap("%x = index.add %i, 1 : index\n%y = index.add %x, 1 : index");
    let mut program = parse(storage.pools(), tables(), &text, STRICT).unwrap();
    let ops: std::vec::Vec<_> = program.all().collect();
    program.move_before(ops[2], ops[1]).unwrap();
    let error = verify(&mut program).unwrap_err();
    assert_eq!(
        (error.kind, error.at.line, error.at.op),
        (K::NotDominated { operand: 0 }, 3, Some(ops[2]))
    );
}

#[test]
fn capacity_has_a_place() {
    let mut text = String::from("func @f() {\n");
    for _ in 0..70 {
        text += "  fence\n";
    }
    let mut storage = small();
    let error = parse(storage.pools(), tables(), &text, STRICT).unwrap_err();
    assert_eq!(
        (error.kind, error.at.line, error.at.column),
        (K::Capacity { pool: Pool::Ops, limit: 64 }, 65, 3)
    );
}

#[test]
fn every_error_says_what_to_do() {
    for error in [error("func"), error("%x = foo"), error(&wrap("%x = alloc_tensor : index"))] {
        assert!(!error.kind.message().is_empty() && !error.kind.remedy().is_empty());
    }
}
