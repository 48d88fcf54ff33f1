//! Parallel loops over elements: read, printed, verified.
use super::support::*;
use crate::{ErrorKind as K, IrError, Lexeme, ValueSlot, WantedType};
use lanebook_tables::OpRole;
use std::string::String;

/// The worked example of document 003.
const PLAN_THEN_BUFFER: &str = "\
func @plan_then_buffer(%A: memref<4x16xf32, #gmem>, %B: memref<4xf32, #gmem>) {threads = 64} {
  %f = alloc_tensor : tensor<4x16xf32, #fragment>
  scf.parallel (%row, %col) in (4, 16) {
    %a = memref.load %A[%row, %col] : f32
    memref.store %a, %f[%row, %col] : tensor<4x16xf32, #fragment>
  }
  scf.parallel (%group, %within) in (2, 2) attributes {coalesced_width = 2} {
    %two = index.mul %group, 2 : index
    %row = index.add %two, %within : index
    %x = memref.load %f[%row, 0] : f32
    memref.store %x, %B[%row] : memref<4xf32, #gmem>
  }
}
";

fn wrap(body: &str) -> String {
    std::format!(
        "func @f(%A: memref<4x16xf32>, %H: memref<4x16xf16>, %x: f32, %n: index) {{\n  \
         %f = alloc_tensor : tensor<4x16xf32, #fragment>\n  \
         %r = alloc_tensor : tensor<4xf32, #fragment>\n  {body}\n}}\n"
    )
}

#[track_caller]
fn inside(body: &str, line: u32, column: u32, kind: K) {
    let error: IrError = error(&wrap(body));
    let column = if line == 1 { column + 2 } else { column };
    assert_eq!((error.kind, error.at.line, error.at.column), (kind, line + 3, column), "{body}");
}

#[test]
fn prints_as_it_is_written() {
    assert_eq!(round(PLAN_THEN_BUFFER, STRICT), PLAN_THEN_BUFFER);
}

/// One line stands for a nest of loops, however it is spelt.
#[test]
fn spellings() {
    let want = "  scf.parallel (%i, %j) in (4, 16) {\n    memref.store 0.0, %f[%i, %j] : \
                tensor<4x16xf32, #fragment>\n  }\n";
    let store = "memref.store 0.0, %f[%i, %j]";
    for nest in [
        "parallel (%i, %j) in (4, 16) { STORE }",
        "tl.parallel (%i, %j) = (0, 0) to (4, 16) step (1, 1) { STORE }",
        "parallel %i in 4 { scf.parallel (%j) in (16) { STORE } }",
        "scf.parallel %i = 0 to 4 step 1 { parallel %j = 0 to 16 step 1 { STORE } }",
    ] {
        let out = round(&wrap(&nest.replace("STORE", store)), STRICT);
        assert!(out.contains(want), "{nest}:\n{out}");
    }
    // Loops that are no nest stay apart.
    for apart in [
        "parallel %i in 4 {\n    parallel %j in 16 attributes {coalesced_width = 2} {",
        "parallel %i in 4 {\n    parallel %j in %i {",
    ] {
        let out = round(&wrap(&std::format!("{apart} {store} }} }}")), STRICT);
        assert!(out.contains(&apart.replace("parallel", "scf.parallel")), "{out}");
    }
    let stepped = "  scf.parallel (%i, %j) = (0, 1) to (4, 16) step (1, 2) {\n";
    assert!(round(&wrap(&std::format!("{stepped} {store} }}")), STRICT).contains(stepped));
}

#[test]
fn the_rest_of_the_language() {
    let body = "\
copy %A[0, 0], %f : memref<4x16xf32, #gmem> -> tensor<4x16xf32, #fragment>
  fill 0.0, %r : tensor<4xf32, #fragment>
  reduce_into %f, %r {axis = 1, kind = add} : tensor<4x16xf32, #fragment>, tensor<4xf32, #fragment>
  %g = view %f : tensor<64xf32, #fragment>
  %h = view %f : tensor<128xf16, #fragment>
  %w = alloc_tensor : tensor<4x16xf32, #fragment, {thread = v0 * 16 + v1 // 2 % 4, index = v1 % 2}>
  scf.parallel %k in 64 attributes {layout = {thread = v0, replicate = 1}, threads = [0, 64]} {
    %c = index.cmp lt, %k, 3 : index
    scf.if %c {
      memref.store %x, %g[%k] : tensor<64xf32, #fragment>
    }
    scf.for %s = 0 to 4 step 1 {
      %y = memref.load %g[%k] : f32
      %z = add %y, %x : f32
      memref.store %z, %g[%k] : tensor<64xf32, #fragment>
    }
  }
";
    let out = round(&wrap(body), STRICT);
    for line in body.lines() {
        let line = line.trim().trim_end_matches(" : index");
        assert!(out.contains(line), "{line}\n{out}");
    }
    let product = "func @p(%x: index) {threads = 128} {\n  \
        %a = alloc_tensor : tensor<32x64xf16, #smem>\n  \
        %b = alloc_tensor : tensor<16x32xf16, #smem>\n  \
        %c = alloc_tensor : tensor<64x16xf32, #fragment>\n  \
        gemm %a, %b, %c {policy = FullRow, transpose_a, transpose_b} : \
        tensor<32x64xf16, #smem>, tensor<16x32xf16, #smem>, tensor<64x16xf32, #fragment>\n}\n";
    assert_eq!(round(product, STRICT), product);
}

/// The type of an element that is loaded is the place's.
#[test]
fn types_of_elements() {
    let mut storage = small();
    let text = wrap("%e = memref.load %H[0, 0]\n %g = memref.load %H[0, 1] : memref<4x16xf16>");
    let program = crate::parse(storage.pools(), tables(), &text, STRICT).unwrap();
    let loads = program.all().filter(|op| program.role(*op) == OpRole::ElementLoad);
    let half = tables().dtype_named("f16");
    let types = loads.map(|op| program.type_of(program.result(op, 0).unwrap()).dtype);
    assert!(types.eq([half, half]));
}

#[test]
fn errors() {
    inside("parallel (%i, %j) in (4) {", 1, 22, K::OperandCount { least: 2, most: 2, found: 1 });
    inside("%n = parallel %j in 4 {", 1, 6, K::ResultCount { least: 0, most: 0, found: 1 });
    inside(
        "parallel (%j, %k) of",
        1,
        19,
        K::Expected { want: Lexeme::Char(b'='), got: Lexeme::Word },
    );
    inside("memref.store %x, %A[0]", 1, 1, K::Subscripts { rank: 2, found: 1 });
    inside("memref.store %x, %A", 1, 1, K::Subscripts { rank: 2, found: 0 });
    inside("%e = memref.load %x", 1, 6, K::OperandKind { operand: 0, want: WantedType::Buffer });
    let types = |left, right, a: &str, b: &str| K::Dtypes {
        left,
        right,
        a: tables().dtype_named(a),
        b: tables().dtype_named(b),
    };
    inside(
        "memref.store %x, %H[0, 0]",
        1,
        1,
        types(ValueSlot::Operand(0), ValueSlot::Operand(1), "f32", "f16"),
    );
    inside("fill %x, %H", 1, 1, types(ValueSlot::Operand(0), ValueSlot::Operand(1), "f32", "f16"));
    let both = "%g = view %f : tensor<32xf32, #fragment>";
    inside(both, 1, 6, K::Elements { a: 2048, b: 1024 });
    let out = "%g = view %f : tensor<64xf32, #smem>";
    let (left, right) = (ValueSlot::Operand(0), ValueSlot::Result(0));
    inside(out, 1, 6, K::Types { left, right });
    inside(
        "reduce_into %f, %r {axis = 0, kind = add}",
        1,
        1,
        K::Extents {
            left: ValueSlot::Operand(0),
            left_dimension: 1,
            right: ValueSlot::Operand(1),
            right_dimension: 0,
            a: 16,
            b: 4,
        },
    );
    inside(
        "gemm %f, %f, %f",
        1,
        1,
        K::Extents {
            left: ValueSlot::Operand(0),
            left_dimension: 1,
            right: ValueSlot::Operand(1),
            right_dimension: 0,
            a: 16,
            b: 4,
        },
    );
}
