//! The interpreter itself: what it fixes of an element, what it leaves open, and what the matrices
//! hold.
#![allow(missing_docs)]

use lanebook_kernels::interpret::element::Element;
use lanebook_kernels::interpret::inputs::{Fill, pattern};
use lanebook_kernels::interpret::tile::Sure;
use lanebook_kernels::interpret::{Given, Global, Interpreted, UNWRITTEN};
use std::collections::BTreeSet;

fn program(arguments: &str, body: &str) -> String {
    format!(
        "func @f({arguments}, %m: index {{div = 16}}, %K: index) {{threads = 32}} {{\n{body}}}\n"
    )
}

fn after(text: &str, turns: u32, fill: Fill) -> Vec<Global> {
    let said = Interpreted::with(text, Given { turns, salt: 0, fill: Some(fill) })
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    said.expect().unwrap_or_else(|e| panic!("{e}\n{text}"))
}

const TWO: &str = "%X: memref<?x?xf32, #gmem>, %Y: memref<?x?xf32, #gmem>";

/// Elements of a tile are told apart by what two runs hold there; each pattern of a type occurs.
#[test]
fn contents_tell_elements_apart() {
    let all = [
        "f64", "f32", "f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "i8", "u8", "i16",
        "i32",
    ];
    for name in all {
        let element = Element::of(name).expect("a type");
        let seen = |fill| {
            (0..1 << 14)
                .map(|i| [0, 1].map(|run| pattern(element, fill, i, 1 + 64 * run)))
                .collect::<BTreeSet<_>>()
                .len()
        };
        // Numbers of moderate size are fewer; every fifth pattern is a special one.
        let share = if element.bits() == 8 && !element.is_whole() { 8 } else { 1 };
        let (distinct, patterns) = (seen(Fill::Distinct), seen(Fill::Patterns));
        assert!(
            distinct * share >= 1 << 14 && patterns * 2 >= 1 << 14,
            "{name}: {distinct}, {patterns}"
        );
    }
    for name in ["f16", "bf16", "e4m3", "e5m2"] {
        let element = Element::of(name).expect("a type");
        let values: Vec<f64> =
            (0..4096).map(|i| element.decode(pattern(element, Fill::Patterns, i, 1))).collect();
        let greatest = (0..1u64 << element.bits())
            .map(|b| element.decode(b))
            .filter(|v| v.is_finite())
            .fold(0.0, f64::max);
        let least = (0..1u64 << element.bits())
            .map(|b| element.decode(b))
            .filter(|v| *v > 0.0)
            .fold(1.0, f64::min);
        assert!(
            values.iter().any(|v| v.is_nan())
                && values.iter().any(|v| *v == 0.0 && v.is_sign_negative()),
            "{name}"
        );
        assert!(
            values.contains(&greatest)
                && values.contains(&least)
                && (name == "e4m3" || values.contains(&f64::INFINITY)),
            "{name}"
        );
    }
}

#[test]
fn loops_turn_as_often_as_asked() {
    let body = "  %x = tiled_load %X[%m, 0] : memref<?x?xf32, #gmem> -> tensor<8x8xf32>
  %o = constant 1.0 : tensor<8x8xf32>
  %p, %q = scf.for %k = 0 to %K step 16 iter_args(%a = %x, %b = %o) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %s = add %a, %b : tensor<8x8xf32>
    scf.yield %b, %s : tensor<8x8xf32>, tensor<8x8xf32>
  }
  tiled_store %p, %Y[%m, 0] : tensor<8x8xf32> -> memref<?x?xf32, #gmem>
";
    let text = program(TWO, body);
    for (turns, by, plus) in
        [(0, 1.0, 0.0), (1, 0.0, 1.0), (2, 1.0, 1.0), (3, 1.0, 2.0), (5, 3.0, 5.0)]
    {
        let globals = after(&text, turns, Fill::Small);
        let at = 16 * globals[0].extents[1] + 3;
        let value = |g: &Global| g.element.decode(g.items[at].bits);
        assert_eq!(value(&globals[1]), value(&globals[0]) * by + plus, "{turns} turns");
    }
}

#[test]
fn what_nothing_wrote_is_not_read() {
    let body = "  %s = alloc_tensor : tensor<8x8xf32, #smem>
  scf.for %k = 0 to %K step 16 {
    copy %X[%k, 0], %s : memref<?x?xf32, #gmem> -> tensor<8x8xf32, #smem>
    scf.yield
  }
  copy %s, %Y[%m, 0] : tensor<8x8xf32, #smem> -> memref<?x?xf32, #gmem>
";
    let said = |turns| Interpreted::with(&program(TWO, body), Given { turns, salt: 0, fill: None });
    assert!(said(1).is_ok());
    assert!(said(0).expect_err("nothing is there").contains(UNWRITTEN));
}

/// Casts are exact, also of what is no number; beyond the greatest float of eight bits nothing is
/// fixed; sums are exact where every order is.
#[test]
fn what_is_fixed() {
    let cast = |from: &str, to: &str| {
        let arguments = format!("%X: memref<?x?x{from}, #gmem>, %Y: memref<?x?x{to}, #gmem>");
        let body = format!(
            "  %x = tiled_load %X[%m, 0] : memref<?x?x{from}, #gmem> -> tensor<32x64x{from}>
  %y = cast %x : tensor<32x64x{from}> -> tensor<32x64x{to}>
  tiled_store %y, %Y[%m, 0] : tensor<32x64x{to}> -> memref<?x?x{to}, #gmem>
"
        );
        after(&program(&arguments, &body), 1, Fill::Patterns)
    };
    for (from, to, open) in [
        ("f32", "f16", false),
        ("f16", "f32", false),
        ("f32", "e4m3", true),
        ("e5m2", "f32", false),
    ] {
        let globals = cast(from, to);
        let mut free = 0;
        for (x, y) in globals[0]
            .items
            .iter()
            .zip(&globals[1].items)
            .filter(|(_, y)| y.bits != globals[1].element.encode(7.0))
        {
            let (v, w) = (globals[0].element.decode(x.bits), globals[1].element.decode(y.bits));
            match y.sure {
                Sure::Bits => assert!(
                    w == v
                        || (w - v).abs() <= globals[1].element.step(v)
                        || w.is_infinite() && v.abs() > 65504.0,
                    "{v} became {w}"
                ),
                Sure::Nan => assert!(v.is_nan() && w.is_nan()),
                Sure::Free => free += usize::from(v.abs() > 448.0),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(free > 0, open, "{from} to {to}");
    }
    let body = "  %x = tiled_load %X[%m, 0] : memref<?x?xf32, #gmem> -> tensor<16x64xf32>
  %r = reduce %x {axis = 1, kind = add} : tensor<16x64xf32> -> tensor<16xf32>
  %y = broadcast %r {axis = 1} : tensor<16xf32> -> tensor<16x64xf32>
  tiled_store %y, %Y[%m, 0] : tensor<16x64xf32> -> memref<?x?xf32, #gmem>
";
    for (fill, exact) in [(Fill::Small, true), (Fill::Distinct, false)] {
        let globals = after(&program(TWO, body), 1, fill);
        let item = globals[1].items[16 * globals[1].extents[1]];
        assert_eq!(matches!(item.sure, Sure::Bits | Sure::Near(0.0)), exact, "{item:?}");
        assert!(item.error().is_some_and(|e| e < 1e-3));
        let off = |by: f64| globals[1].element.encode(globals[1].element.decode(item.bits) + by);
        assert!(
            item.admits(globals[1].element, item.bits)
                && !item.admits(globals[1].element, off(0.01)),
            "{item:?}"
        );
    }
}

/// A tile of a tensor of three dimensions; subscripts that leave it are an error.
#[test]
fn tensors_of_three_dimensions() {
    let arguments = "%X: memref<?x?x?xf32, #gmem>, %Y: memref<2x64x64xf32, #gmem>";
    let body = |b: u32| {
        format!(
            "  %x = tiled_load %X[2, %m, 16] : memref<?x?x?xf32, #gmem> -> tensor<8x16xf32>
  tiled_store %x, %Y[{b}, 0, 16] : tensor<8x16xf32> -> memref<2x64x64xf32, #gmem>
"
        )
    };
    let globals = after(&program(arguments, &body(1)), 1, Fill::Distinct);
    let [_, rows, cols] = globals[0].extents[..] else { panic!("{:?}", globals[0].extents) };
    for (i, j) in [(0, 0), (7, 15), (3, 9)] {
        assert_eq!(
            globals[1].items[(64 + i) * 64 + 16 + j],
            globals[0].items[(2 * rows + 16 + i) * cols + 16 + j]
        );
    }
    assert!(
        Interpreted::new(&program(arguments, &body(2)))
            .expect_err("two matrices")
            .contains("leaves")
    );
}
