//! 004, the CuTe layout algebra and descriptor grammar. Rows are those of the rulings on this
//! document.

use crate::{c, show, table};
use lanebook::TABLES;
use lanebook::layout::cute::candidate::{LayoutCandidate, PositionKind};
use lanebook::layout::cute::intern::Record;
use lanebook::layout::cute::{self, Arena, IntTuple, Rounding, Tiler};
use lanebook::layout::notation::{Expected, basis, cute as text};
use lanebook::layout::{
    AxisId, Error, Int, Iter, Layout, NoSyms, Offset, Swizzle, Unit, WellKnown, ops,
};
use lanebook::unit::swizzle;

fn tuple(written: &str) -> IntTuple {
    text::parse_tuple(written, &mut NoSyms).unwrap()
}

fn spell(t: &IntTuple) -> String {
    let mut out = String::new();
    text::print_tuple(t.view(), &NoSyms, &mut out).unwrap();
    out
}

fn index(coord: &str, layout: &str) -> i64 {
    cute::crd2idx(tuple(coord).view(), &c(layout).view()).unwrap().value().unwrap()
}

fn composed(a: &str, b: &str) -> Result<String, Error> {
    ops::compose(&c(a).view(), &c(b).view()).map(|l| show(&l))
}

/// "Layout Model": size, offset, cosize; row-major and column-major tiles; hierarchy matters.
#[test]
fn the_layout_model() {
    for (row, column) in (0..2).flat_map(|r| (0..2).map(move |c| (r, c))) {
        let coord = format!("({row},{column})");
        assert_eq!(index(&coord, "(2,2):(2,1)"), row * 2 + column);
        assert_eq!(index(&coord, "(2,2):(1,2)"), row + column * 2);
    }
    let l = c("((2,2),4):((1,2),4)");
    assert_eq!(
        (l.view().size_value(), l.view().rank(), l.view().cosize(AxisId::M)),
        (Ok(16), 2, Ok(16))
    );
    assert_ne!(l, c("(2,2,4):(1,2,4)"));
    // Cosize is the greatest reachable offset + 1, of the image (row 31).
    assert_eq!(c("8:2").view().cosize(AxisId::M), Ok(15));
    assert_eq!(c("(2,3):(-1,2)").view().cosize(AxisId::M), Ok(5));
}

fn printed(written: &str) -> String {
    let mut out = String::new();
    basis::print(&basis::parse(written).unwrap(), &NoSyms, &mut out).unwrap();
    out
}

/// "Descriptor Grammar" with its five examples, blanks, empty groups and fractions; "Parser
/// Algorithm"; "Round Trip".
#[test]
fn descriptors() {
    for (written, prints) in [
        ("(1@0, 1@1)", "(1@0,1@1)"),
        ("(16@0, 1@1)", "(16@0,1@1)"),
        ("((1@0, 8@1), 1@2)", "((1@0,8@1),1@2)"),
        ("(1/2@0, 4@1)", "(1/2@0,4@1)"),
        ("(1@0@1)", "(1@0@1)"),
        ("()", "()"),
        ("( ( ) ,\t1 @ 0 )", "((),1@0)"),
        // Rows 34 and 36: fractions are reduced, blanks may stand at every token.
        ("(3/6@0)", "(1/2@0)"),
        ("(6/3@0, 0/3@1)", "(2@0,0@1)"),
        ("(-4/6@0)", "(-2/3@0)"),
    ] {
        assert_eq!(printed(written), prints);
        assert_eq!(basis::parse(prints), basis::parse(written), "parse, print, parse");
    }
    // "Malformed descriptors must surface as invalid attributes with a precise diagnostic, never as
    // a default layout."
    let fails =
        |written: &str| basis::parse(written).map_err(|e| (e.line, e.col, e.expected)).unwrap_err();
    assert_eq!(fails("(1@0, 1@1"), (1, 10, Expected::CommaOrClose));
    assert_eq!(fails("(1@0) x"), (1, 7, Expected::End));
    assert_eq!(fails("(1/0@0)"), (1, 4, Expected::Denominator));
    assert_eq!(fails("(1/2)"), (1, 5, Expected::At));
    assert_eq!(fails("(1@)"), (1, 4, Expected::Axis));
    assert!(
        basis::parse("").is_err()
            && basis::parse("(1@0,)").is_err()
            && basis::parse("(1@-1)").is_err()
    );
    // Over the two "degenerate" descriptors a layout exists; a fraction never reaches lowering.
    let stored =
        |written: &str, shape: &str| basis::parse(written).unwrap().over(tuple(shape).view());
    assert_eq!(show(&stored("(1@0, 8@1)", "(4,2)").unwrap()), "(4,2):(1@0,8@1)");
    let mut room = Room::default();
    let half = stored("(1/2@0, 4@1)", "(4,2)").unwrap();
    assert_eq!(
        room.arena(|arena| LayoutCandidate::new(&half.view(), arena).map(|_| ())),
        Err(Error::NotIntegral { num: 1, den: 2 })
    );
}

/// "Composition", and "Composition, dense one-mode case": the order is C(i) = A(B(i)) and no size
/// is in the way (rows 1 and 2).
#[test]
fn composition() {
    assert_eq!(table(&c("8:2").view()), [0, 2, 4, 6, 8, 10, 12, 14]);
    assert_eq!(table(&c("4:1").view()), [0, 1, 2, 3]);
    assert_eq!(composed("8:2", "4:1").unwrap(), "4:2");
    assert_eq!(composed("4:1", "8:2").unwrap(), "8:2");
    // "Hierarchical case": walk B and look up A at each image element.
    let (a, b) = (c("(4,2):(1,4)"), c("(2,2):(1,2)"));
    let looked_up: Vec<i64> = table(&b.view())
        .iter()
        .map(|x| a.view().offset_on(*x as u64, AxisId::M).unwrap())
        .collect();
    assert_eq!(looked_up, [0, 1, 2, 3]);
    assert_eq!(composed("(4,2):(1,4)", "(2,2):(1,2)").unwrap(), "(2,2):(1,2)");
    // "Algebra Rules": the shape comes from B (row 4); a carry or a stride in the way is refused
    // (row 3).
    assert_eq!(composed("(4,2):(2,1)", "(2,4):(1,2)").unwrap(), "(2,(2,2)):(2,(4,1))");
    assert!(matches!(composed("(6,2):(1,7)", "(3,2):(2,3)"), Err(Error::Carry { .. })));
    assert!(matches!(composed("(4,6,8):(2,3,5)", "6:3"), Err(Error::StrideDivisibility { .. })));
}

/// "Layout Primitives": crd2idx, shape_div, ceil_div, filter_zeros, group_modes, coalesce,
/// complement.
#[test]
fn primitives() {
    assert_eq!(index("((1,1),3)", "((2,2),4):((1,2),4)"), 15);
    // Row 6: an integer on a tuple is split.
    assert_eq!((index("(3,1)", "((2,2),4):((1,8),2)"), index("5", "(2,4):(4,1)")), (11, 6));
    // Row 7: the divisor is carried; the listing's element-wise division is another function, by
    // rounding mode.
    let divided =
        |a: &str, b: &str| cute::shape_div(tuple(a).view(), tuple(b).view()).map(|t| spell(&t));
    assert_eq!(divided("(4,6)", "8").unwrap(), "(1,3)");
    assert!(divided("7", "2").is_err() && divided("(2,2)", "3").is_err());
    let each = |by: i64, how| {
        cute::div_each(tuple("(4,6)").view(), Int::known(by), how).map(|t| spell(&t))
    };
    assert_eq!(
        (each(4, Rounding::Ceil).unwrap(), each(4, Rounding::Floor).unwrap()),
        ("(1,2)".into(), "(1,1)".into())
    );
    assert!(each(4, Rounding::Exact).is_err());
    let up = |a: &str, b: &str| spell(&cute::ceil_div(tuple(a).view(), tuple(b).view()).unwrap());
    assert_eq!(
        (up("(7,9)", "(2,4)"), up("7", "2"), up("8", "2")),
        ("(4,3)".into(), "4".into(), "4".into())
    );
    // Row 8: no overflow on the way.
    assert_eq!(up("9223372036854775807", "9223372036854775806"), "2");
    let grouped = cute::group_modes(&c("(2,3,4):(1,2,6)").view(), 0, 2).unwrap();
    assert_eq!(show(&grouped), "((2,3),4):((1,2),6)");
    assert_eq!(show(&ops::flatten(&grouped.view()).unwrap()), "(2,3,4):(1,2,6)");
}

/// "Complement, gap-filling case": (32,2):(1,128), which covers [0, 256) (rows 14 to 16).
#[test]
fn complements() {
    let a = c("4:32");
    assert_eq!(table(&a.view()), [0, 32, 64, 96]);
    let of = |written: &str, size: i64| {
        ops::complement(&c(written).view(), Int::known(size)).map(|l| show(&l))
    };
    assert_eq!(of("4:32", 256).unwrap(), "(32,2):(1,128)");
    assert_eq!(of("4:32", 128).unwrap(), "32:1");
    let rest = table(&ops::complement(&a.view(), Int::known(256)).unwrap().view());
    let mut covered: Vec<i64> =
        table(&a.view()).iter().flat_map(|x| rest.iter().map(move |y| x + y)).collect();
    covered.sort_unstable();
    assert_eq!(covered, (0..256).collect::<Vec<i64>>());
    assert_eq!(of("4:1", 6).unwrap(), "2:4");
    assert!(matches!(of("(4,4):(1,2)", 32), Err(Error::NotInjective { .. })));
}

/// "Logical divide, one-mode case" and "Logical product, one-mode case" (rows 17 to 21).
#[test]
fn divides_and_products() {
    let divide = |a: &str, b: &str| show(&ops::logical_divide(&c(a).view(), &c(b).view()).unwrap());
    let product =
        |a: &str, b: &str| show(&ops::logical_product(&c(a).view(), &c(b).view()).unwrap());
    assert_eq!(composed("128:1", "32:1").unwrap(), "32:1");
    assert_eq!(show(&ops::complement(&c("32:1").view(), Int::known(128)).unwrap()), "4:32");
    assert_eq!(divide("128:1", "32:1"), "(32,4):(1,32)");
    assert_eq!(divide("8:2", "2:1"), "(2,4):(2,4)");
    assert_eq!(show(&ops::complement(&c("128:1").view(), Int::known(512)).unwrap()), "4:128");
    assert_eq!(product("128:1", "4:32"), "(128,4):(1,4096)");
    assert_eq!(product("128:1", "4:1"), "(128,4):(1,128)");
    // "tiled_divide, flat_divide, zipped_divide, raked_product and blocked_product are the same
    // operation".
    let (a, shape) = (c("(12,5):(1,12)"), tuple("(8,2)"));
    let by = Tiler::Shape(shape.view());
    let zipped = cute::zipped_divide(&a.view(), &by).unwrap();
    assert_eq!(show(&zipped), "((8,2),(2,3)):((1,12),(8,24))");
    for other in [cute::tiled_divide(&a.view(), &by), cute::flat_divide(&a.view(), &by)] {
        assert_eq!(table(&other.unwrap().view()), table(&zipped.view()));
    }
    let (a, b) = (c("(2,2):(2,1)"), c("(3,4):(4,1)"));
    assert_eq!(
        show(&cute::blocked_product(&a.view(), &b.view()).unwrap()),
        "((2,3),(2,4)):((2,16),(1,4))"
    );
    assert_eq!(
        show(&cute::raked_product(&a.view(), &b.view()).unwrap()),
        "((3,2),(4,2)):((16,2),(4,1))"
    );
}

/// "Coalesce, contiguous-mode case" and "Filter-zeros, broadcasting-mode case" (rows 9 to 13).
#[test]
fn coalescing_and_filtering() {
    let coalesced = |written: &str| show(&ops::coalesce(&c(written).view()).unwrap());
    assert_eq!(
        (coalesced("(2,4):(4,1)"), c("(2,4):(4,1)").view().offset_on(1, AxisId::M)),
        ("(2,4):(4,1)".into(), Ok(4))
    );
    assert_eq!(coalesced("(4,2):(1,4)"), "8:1");
    assert_eq!(coalesced("(2,4):(8,1)"), "(2,4):(8,1)");
    assert_eq!(
        (coalesced("(2,(1,6)):(1,(6,2))"), coalesced("(1,1):(3,5)")),
        ("12:1".into(), "1:0".into())
    );
    let l = c("(4,3):(1,0)");
    assert_eq!(show(&cute::filter_zeros(&l.view()).unwrap()), "(4,1):(1,0)");
    let filtered = cute::filter(&l.view()).unwrap();
    assert_eq!(show(&filtered), "4:1");
    // "Idempotent" it is; it does not preserve the layout's domain.
    assert_eq!(cute::filter(&filtered.view()).as_ref(), Ok(&filtered));
    assert_eq!(cute::equivalent(&filtered.view(), &l.view()), Ok(false));
}

/// "Swizzle Operator": the formula, `swizzle<3, 4, 3>(0x40)` and its neighbours (rows 22 to 27).
#[test]
fn the_swizzle() {
    let hardware = |b: u8, m: u8, s: i8| Swizzle::new(b, m, s, Unit::Byte).unwrap();
    let sw = hardware(3, 4, 3);
    // The printed formula reads bits [S, S + B); it agrees with the hardware on 512 of the first
    // 4096 addresses.
    let printed = |x: u64| x ^ (((x & 0x38) >> 3) << 4);
    assert_eq!(
        (printed(0x40), printed(0x18), printed(0x20)),
        (0x40, 0x28, 0x60),
        "the document's own arithmetic"
    );
    assert_eq!((0..4096).filter(|x| printed(*x) == sw.apply(*x)).count(), 512);
    assert_eq!(
        [0x40, 0x18, 0x20, 0x80, 0x100, 0x380].map(|x| sw.apply(x)),
        [0x40, 0x18, 0x20, 0x90, 0x120, 0x3f0]
    );
    // Eight consecutive 8-byte rows stay where they are: banks 0, 2, ..., 14, no conflict before or
    // after.
    let rows = (0..8).map(|k| 8 * k);
    assert_eq!(
        rows.clone().map(|x| sw.apply(x)).collect::<Vec<_>>(),
        rows.clone().collect::<Vec<_>>()
    );
    assert_eq!(rows.map(|x| sw.apply(x) / 4 % 32).collect::<Vec<_>>(), [0, 2, 4, 6, 8, 10, 12, 14]);
    // What it is for, a column of 128-byte rows: bank 0 eight times becomes 0, 4, ..., 28 (rows 25
    // and 29).
    let column = |f: &dyn Fn(u64) -> u64| (0..8).map(|k| f(128 * k) / 4 % 32).collect::<Vec<_>>();
    assert_eq!((column(&|x| x), column(&printed)), (vec![0; 8], vec![0; 8]));
    assert_eq!(column(&|x| sw.apply(x)), [0, 4, 8, 12, 16, 20, 24, 28]);
    // "Applying it twice returns the original offset": the hardware's does, the printed one not at
    // 3072 of 4096.
    for (b, m, s) in [(1, 4, 3), (2, 4, 3), (3, 4, 3), (2, 5, 2), (3, 4, -3)] {
        assert!((0..4096).all(|x| hardware(b, m, s).apply(hardware(b, m, s).apply(x)) == x));
    }
    assert_eq!((0..4096).filter(|x| printed(printed(*x)) != *x).count(), 3072);
    // Row 27: the size stays, the cosize does not.
    let l = c("S<3,0,3> o 0 o (3,3):(9,1)");
    assert_eq!((l.view().size_value(), l.view().cosize(AxisId::M)), (Ok(9), Ok(23)));
    assert_eq!(c("(3,3):(9,1)").view().cosize(AxisId::M), Ok(21));
}

/// "Canonical SMEM Swizzle Modes": triples, row widths and the field of the wgmma descriptor, and
/// the other two encodings (row 28).
#[test]
fn canonical_modes() {
    let arch = |name: &str| TABLES.arch(TABLES.arch_named(name).unwrap()).unwrap();
    for (name, b, wgmma, tma, tcgen05) in
        [("none", 0u32, 0, 0, 0), ("32B", 1, 3, 1, 6), ("64B", 2, 2, 2, 4), ("128B", 3, 1, 3, 2)]
    {
        for machine in ["sm_90a", "sm_100a"] {
            let mode = swizzle::named(&TABLES, arch(machine), name).unwrap();
            let codes = ["wgmma", "tma", "tcgen05"].map(|encoding| swizzle::code(mode, encoding));
            assert_eq!(codes, [wgmma, tma, tcgen05].map(Some), "{name}");
            for x in 0..4096u64 {
                let row = x >> 7 & ((1 << b) - 1);
                assert_eq!(swizzle::apply(mode, x), x ^ row << 4, "swizzle<{b},4,3>({x:#x})");
            }
        }
    }
    // Row 30: the unit matters. f16 elements want S<3,3,3>; S<3,4,3> on element offsets leaves
    // conflicts of two.
    let banks = |written: &str| {
        (0..8)
            .map(|i| 2 * c(written).view().offset_on(i, AxisId::M).unwrap() / 4 % 32)
            .collect::<Vec<_>>()
    };
    assert_eq!(banks("S<3,3,3> o 0 o (8,64):(64,1)"), [0, 4, 8, 12, 16, 20, 24, 28]);
    assert_eq!(banks("S<3,4,3> o 0 o (8,64):(64,1)"), [0, 0, 8, 8, 16, 16, 24, 24]);
    let bytes = cute::recast(&c("S<3,3,3> o 0 o (8,64):(64,1)").view(), 8, 16).unwrap();
    assert_eq!(show(&bytes), "S<3,4,3> o 0 o (8,128):(128,1)");
    // "Two layouts with the same (shape, stride) but different swizzles are distinct."
    let (one, other) = (c("S<3,4,3> o 0 o (8,128):(128,1)"), c("S<2,4,3> o 0 o (8,128):(128,1)"));
    assert_eq!(cute::equivalent(&one.view(), &other.view()), Ok(false));
    assert_eq!(cute::equivalent(&one.view(), &one.view()), Ok(true));
}

/// A caller's arena.
struct Room {
    records: [Record; 8],
    iters: [Iter; 32],
    tokens: [u8; 64],
    offsets: [Offset; 8],
}

impl Default for Room {
    fn default() -> Self {
        Self {
            records: [Record::EMPTY; 8],
            iters: [Iter::new(1, 0, AxisId::M); 32],
            tokens: [0; 64],
            offsets: [Offset::new(0, AxisId::M); 8],
        }
    }
}

impl Room {
    fn arena<R>(&mut self, f: impl FnOnce(&mut Arena<'_>) -> R) -> R {
        f(&mut Arena::new(&mut self.records, &mut self.iters, &mut self.tokens, &mut self.offsets))
    }
}

/// "Candidate Records": basis list, kind, optional swizzle, normalized stride, uniqued identity,
/// reference state.
#[test]
fn candidate_records() {
    let of = |l: &Layout, arena: &mut Arena<'_>| LayoutCandidate::new(&l.view(), arena).unwrap();
    Room::default().arena(|arena| {
        let nested = of(&c("((2,2),4):((1,2),4)"), arena);
        let flat = of(&c("16:1"), arena);
        // Written apart, the same function: one normal form, one identity.
        assert_ne!(nested.written, flat.written);
        assert_eq!(
            (nested.normal, nested.kind, nested.swizzle),
            (flat.normal, PositionKind::Strided, None)
        );
        assert_eq!(of(&c("((2,2),4):((1,2),4)"), arena).written, nested.written);
        assert_eq!(of(&c("(4,2):(1@0,1@1)"), arena).kind, PositionKind::Basis);
        let mut swizzled = of(&c("S<3,4,3> o 0 o 1024:1"), arena);
        assert_eq!(swizzled.swizzle, Some(Swizzle::new(3, 4, 3, Unit::Codomain).unwrap()));
        swizzled.retain().unwrap();
        assert!(!swizzled.release());
    });
}

/// "Invariants": congruent trees, sizes, and text that comes back the same.
#[test]
fn invariants() {
    for written in [
        "((2,2),4):((1,2),4)",
        "(20):(2)",
        "20:2",
        "():()",
        "S<3,4,3> o 0 o (8,8):(8,1)",
        "(2,(3,4)):(1@0,(1@0@1,-4@2))",
    ] {
        let l = c(written);
        assert_eq!(show(&l), written);
        let size: u64 =
            l.view().shard.iter().map(|it| u64::from(it.extent_value().unwrap())).product();
        assert_eq!(l.view().size_value(), Ok(size));
    }
    // Row 35: a 1-tuple is no leaf. Row 33 and the rule of the document: malformed text is never a
    // layout.
    assert_ne!(c("(20):(2)"), c("20:2"));
    for malformed in [
        "",
        "1/0@0",
        "1/2",
        "+1",
        "(2,3",
        "(2,3):(1,2) x",
        "9223372036854775808:1",
        "S<3,4,2> o 0 o 8:1",
        "(2,3):(1,(2))",
    ] {
        assert!(text::parse(malformed, &WellKnown, &mut NoSyms).is_err(), "{malformed}");
    }
    // "Normalization may simplify hierarchy but must not change the layout function."
    for written in
        ["((2,2),4):((1,2),4)", "(2,(1,6)):(1,(6,2))", "(4,3):(1,0)", "S<2,0,3> o 4 o (8,8):(8,1)"]
    {
        let l = c(written);
        assert_eq!(table(&cute::canonical(&l.view()).unwrap().view()), table(&l.view()));
    }
}
