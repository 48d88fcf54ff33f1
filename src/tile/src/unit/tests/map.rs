//! Tensor maps: each rule of the document, and boxes from layouts.
use crate::unit::UnitError;
use crate::unit::map::{MapRule, Refusal, Request, check, derive};
use crate::unit::tests::arch;
use lanebook::TABLES;
use lanebook_layout::{AxisId, Iter, Layout, PostMap, Swizzle, Unit};

const GOOD: Request<'static> = Request {
    element: "f16",
    interleave: "none",
    swizzle: "128B",
    base: 4096,
    extents: &[4096, 512],
    strides: &[8192],
    boxed: &[64, 128],
    steps: &[1, 1],
    shared: 1024,
    copies: (true, true),
};

fn refused(arch_name: &str, request: &Request<'_>) -> Refusal {
    match check(&TABLES, arch(arch_name), request) {
        Err(UnitError::Map(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_rule_is_broken_once() {
    assert_eq!(check(&TABLES, arch("sm_90a"), &GOOD).unwrap().bytes, 64 * 128 * 2);
    let refusal = |rule, dim, found, needed| Refusal { rule, dim, found, needed };
    let cases = [
        (Request { extents: &[], ..GOOD }, refusal(MapRule::Rank, 0, 0, 5)),
        (Request { steps: &[1], ..GOOD }, refusal(MapRule::Rank, 0, 1, 2)),
        (Request { boxed: &[64, 257], ..GOOD }, refusal(MapRule::BoxExtent, 1, 257, 256)),
        (Request { boxed: &[64, 0], ..GOOD }, refusal(MapRule::BoxExtent, 1, 0, 256)),
        (Request { boxed: &[20, 8], ..GOOD }, refusal(MapRule::BoxBytes, 0, 40, 16)),
        (Request { boxed: &[128, 8], ..GOOD }, refusal(MapRule::BoxSpan, 0, 256, 128)),
        (Request { swizzle: "32B", ..GOOD }, refusal(MapRule::BoxSpan, 0, 128, 32)),
        (Request { steps: &[1, 9], ..GOOD }, refusal(MapRule::Step, 1, 9, 8)),
        (
            Request { extents: &[4096, (1 << 32) + 1], ..GOOD },
            refusal(MapRule::Extent, 1, (1 << 32) + 1, 1 << 32),
        ),
        (Request { strides: &[8200], ..GOOD }, refusal(MapRule::StrideMultiple, 1, 8200, 16)),
        (
            Request { strides: &[1 << 40], ..GOOD },
            refusal(MapRule::StrideLimit, 1, 1 << 40, 1 << 40),
        ),
        (Request { extents: &[4092, 512], ..GOOD }, refusal(MapRule::Edge, 0, 8184, 16)),
        (Request { base: 4104, ..GOOD }, refusal(MapRule::Base, 0, 4104, 16)),
        (Request { shared: 64, ..GOOD }, refusal(MapRule::Shared, 0, 64, 128)),
        (Request { interleave: "16B", ..GOOD }, refusal(MapRule::InterleaveRank, 0, 2, 3)),
    ];
    for (request, expected) in cases {
        assert_eq!(refused("sm_90a", &request), expected);
    }
    // What only loads may end within a run.
    let loads = Request { extents: &[4092, 512], copies: (true, false), ..GOOD };
    assert!(check(&TABLES, arch("sm_90a"), &loads).is_ok());
    let deep = Request {
        interleave: "32B",
        extents: &[16, 8, 8],
        strides: &[32, 256],
        boxed: &[16, 4, 4],
        steps: &[1, 1, 1],
        ..GOOD
    };
    assert_eq!(refused("sm_90a", &deep).rule, MapRule::InterleaveSwizzle);
    assert!(check(&TABLES, arch("sm_90a"), &Request { swizzle: "32B", ..deep }).is_ok());
    let odd = Request { swizzle: "32B", strides: &[48, 256], ..deep };
    assert_eq!(refused("sm_90a", &odd), refusal(MapRule::StrideMultiple, 1, 48, 32));
    let packed = Request {
        element: "b6x16_p32",
        extents: &[256, 64],
        strides: &[192],
        boxed: &[128, 8],
        ..GOOD
    };
    assert!(check(&TABLES, arch("sm_100a"), &packed).is_ok());
    assert_eq!(check(&TABLES, arch("sm_90a"), &packed).unwrap_err(), UnitError::Absent);
    assert_eq!(
        refused("sm_100a", &Request { boxed: &[64, 8], ..packed }),
        refusal(MapRule::BoxInner, 0, 64, 128)
    );
    assert_eq!(
        refused("sm_100a", &Request { extents: &[192, 64], ..packed }),
        refusal(MapRule::ExtentMultiple, 0, 192, 128)
    );
    assert_eq!(
        refused("sm_100a", &Request { base: 16, ..packed }),
        refusal(MapRule::Base, 0, 16, 32)
    );
    assert_eq!(
        check(&TABLES, arch("sm_90a"), &Request { swizzle: "128B_ATOM_64B", ..GOOD }).unwrap_err(),
        UnitError::Absent
    );
    assert!(check(&TABLES, arch("sm_100a"), &Request { swizzle: "128B_ATOM_64B", ..GOOD }).is_ok());
}

fn layout(iters: &[(u32, i64)], swizzle: Option<(u8, u8, i8)>) -> Layout {
    let mut out = Layout::new();
    for (extent, stride) in iters {
        out.push_shard(Iter::new(*extent, *stride, AxisId::M)).unwrap();
    }
    if let Some((b, m, s)) = swizzle {
        out.set_post(PostMap::Swizzle(Swizzle::new(b, m, s, Unit::Element).unwrap())).unwrap();
    }
    out
}

#[test]
fn boxes_follow_from_layouts() {
    let of = |l: &Layout, shape: &[u32]| derive(&TABLES, arch("sm_90a"), "f16", &l.view(), shape);
    // Rows of 64 elements, swizzled over 128 bytes.
    let rows = of(&layout(&[(64, 1), (128, 64)], Some((3, 3, 3))), &[128, 64]).unwrap();
    assert_eq!(
        (rows.swizzle.name, &rows.extents[..2], &rows.order[..2], &rows.boxes[..2]),
        ("128B", &[64, 128][..], &[1, 0][..], &[1, 1][..])
    );
    // 128 columns: two boxes of 64, one behind the other.
    let two =
        of(&layout(&[(64, 1), (2, 64 * 128), (128, 64)], Some((3, 3, 3))), &[128, 128]).unwrap();
    assert_eq!(
        (&two.extents[..2], &two.boxes[..2], two.steps[0]),
        (&[64, 128][..], &[2, 1][..], 8192)
    );
    // Columns side by side: the other coordinate is the innermost.
    let turned = of(&layout(&[(64, 64), (64, 1)], Some((3, 3, 3))), &[64, 64]).unwrap();
    assert_eq!((&turned.order[..2], &turned.extents[..2]), (&[0, 1][..], &[64, 64][..]));
    // 24 rows of 96 elements.
    let plain = of(&layout(&[(96, 1), (24, 96)], None), &[24, 96]).unwrap();
    assert_eq!((plain.swizzle.name, &plain.extents[..2]), ("none", &[96, 24][..]));
}

#[test]
fn what_has_no_box_is_refused_by_name() {
    let of = |l: &Layout, shape: &[u32]| {
        derive(&TABLES, arch("sm_90a"), "f16", &l.view(), shape).unwrap_err()
    };
    let rule = |error| {
        if let UnitError::Map(refusal) = error { refusal.rule } else { panic!("{error:?}") }
    };
    assert_eq!(rule(of(&layout(&[(64, 2), (64, 128)], None), &[64, 64])), MapRule::Contiguous);
    assert_eq!(rule(of(&layout(&[(64, 1), (64, 72)], None), &[64, 64])), MapRule::Dense);
    assert_eq!(
        rule(of(&layout(&[(128, 1), (64, 128)], Some((3, 3, 3))), &[64, 128])),
        MapRule::BoxSpan
    );
    assert_eq!(rule(of(&layout(&[(4, 1), (64, 4)], None), &[64, 4])), MapRule::BoxBytes);
    assert_eq!(rule(of(&layout(&[(8, 1), (512, 8)], None), &[512, 8])), MapRule::BoxExtent);
    assert_eq!(rule(of(&layout(&[(2, 1); 6], None), &[2; 6])), MapRule::Rank);
    // Boxes that start inside the swizzle's pattern.
    assert_eq!(
        rule(of(&layout(&[(64, 1), (2, 64 * 4), (4, 64)], Some((3, 3, 3))), &[4, 128])),
        MapRule::Shared
    );
    assert_eq!(
        of(&layout(&[(64, 1), (64, 64)], Some((3, 2, 3))), &[64, 64]),
        UnitError::NoMode { b: 3, m: 3, s: 3 }
    );
}

#[test]
fn elements_and_modes_that_do_not_go_together() {
    let named = |refusal: Refusal| {
        assert_eq!(refusal.rule, MapRule::Limit);
        TABLES.units.map_limits[usize::try_from(refusal.found).unwrap()].name
    };
    let (load, store) = ((true, false), (false, true));
    let packed = |element, swizzle, copies| Request {
        element,
        swizzle,
        extents: &[4096, 512],
        strides: &[4096],
        boxed: if element == "b4x16" { &[256, 64] } else { &[128, 64] },
        copies,
        ..GOOD
    };
    let fine = |name: &str, request: &Request<'_>| check(&TABLES, arch(name), request).is_ok();
    for (element, direction) in [("b4x16_p64", load), ("b6x16_p32", load), ("b6x16_p32", store)] {
        for (swizzle, taken) in [
            ("none", true),
            ("128B", true),
            ("128B_ATOM_32B", true),
            ("32B", false),
            ("64B", false),
            ("128B_ATOM_32B_FLIP_8B", false),
        ] {
            let request = packed(element, swizzle, direction);
            assert_eq!(fine("sm_100a", &request), taken, "{element} {swizzle}");
            if !taken {
                assert_eq!(
                    named(refused("sm_100a", &request)),
                    "padded elements are swizzled by 128 bytes or not"
                );
            }
        }
    }
    assert_eq!(
        named(refused("sm_100a", &packed("b4x16_p64", "128B", store))),
        "padded 4 bits are only loaded"
    );
    assert!(
        !fine("sm_103a", &packed("b6x16_p32", "128B_ATOM_64B", load))
            && fine("sm_103a", &packed("b6x16_p32", "128B_ATOM_64B", store))
    );
    // sm_120a loads no packed elements and in atoms of 16 bytes alone; it stores them, and its
    // plain loads are those of others.
    for element in ["b4x16", "b4x16_p64", "b6x16_p32"] {
        assert_eq!(
            named(refused("sm_120a", &packed(element, "128B", load))),
            "sm_120a loads no elements narrower than a byte"
        );
    }
    assert!(
        fine("sm_100a", &packed("b4x16", "128B", load))
            && fine("sm_120a", &packed("b4x16", "128B", store))
    );
    for swizzle in ["128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B"] {
        let request = Request { swizzle, copies: load, ..GOOD };
        assert!(
            fine("sm_100a", &request) && fine("sm_121a", &Request { copies: store, ..request })
        );
        assert_eq!(named(refused("sm_121a", &request)), "sm_120a loads in atoms of 16 bytes alone");
    }
    assert!(fine("sm_120a", &Request { copies: load, ..GOOD }) && fine("sm_120f", &GOOD));
}
