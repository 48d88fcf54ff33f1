//! Every public operation on layouts made to break it: extents of 0 and of 32 bits, strides of 64
//! bits and both signs, fractions, symbols, replicas, offsets at the ends of the range, post-maps
//! that no memory has, trees that are none, all capacities used up. Whatever the answer, there is
//! one: no panic (arithmetic is checked in this build), and soon. What is answered of layouts is a
//! layout.

use super::{c, t};
use crate::cute::{self, IntTuple, Rounding, Tiler};
use crate::tirx::facts as machine;
use crate::{
    AxisId, Coord, Int, Iter, Layout, LayoutRef, NoSyms, Offset, Pad, Padding, PostMap, Profile,
    Result, Swizzle, SymNames, SymTable, Unit, WellKnown,
};
use crate::{convert, ops, tilelang, tirx};
use std::hint::black_box as ignore;
use std::time::{Duration, Instant};
use std::vec::Vec;

/// Layouts that the crate itself can build.
fn owned() -> Vec<Layout> {
    let mut all: Vec<Layout> = [
        "4294967295:9223372036854775807",
        "(4294967295,4294967295,4294967295):(1,4294967295,-9223372036854775808)",
        "(2,3):(-9223372036854775808,9223372036854775807)",
        "((2,(3,(4,(5,6)))),7):((1,(-2,(0,(-24,120)))),5)",
        "(3,3):(1/2@0,-1/3@1)",
        "(4,4):(1@0@1,1@1)",
        "(1,1,1):(0,0,0)",
        "():()",
        "(8,8):(1,1)",
        "(2147483648,2):(1,2147483648)",
        "(6,10,15):(1,6,60)",
    ]
    .iter()
    .map(|text| c(text))
    .collect();
    all.extend(
        [
            "S[4:1] + R[4294967295:9223372036854775807]",
            "S[(8,4):(1@laneid,1)] + R[3:0@warpid] + -9223372036854775808",
            "S[()] + R[2:1]",
        ]
        .map(t),
    );
    let ones = ["1"; 16].join(",");
    all.push(c(&std::format!("({ones}):({ones})")));
    let twos = ["2"; 32].join(",");
    all.push(t(&std::format!("S[({twos}):({})]", ["-1"; 32].join(","))));
    let mut syms = SymTable::new();
    for text in ["(?,4):(1,?)", "(M,N):(N,-1)", "(M*N,4):(1/2@0,M*M*M)"] {
        all.push(crate::notation::cute::parse(text, &WellKnown, &mut syms).unwrap());
    }
    for (text, post) in [
        ("4294967295:2147483647", PostMap::Swizzle(Swizzle::new(3, 54, 6, Unit::Byte).unwrap())),
        ("(8,8):(8,-1)", PostMap::Swizzle(Swizzle::new(2, 0, -3, Unit::Codomain).unwrap())),
        (
            "(8,8):(8,1)",
            PostMap::Padding(
                Padding::new(&[Pad { interval: 1, pad: u32::MAX }; 4], Unit::Element).unwrap(),
            ),
        ),
        (
            "4:4611686018427387904",
            PostMap::Padding(
                Padding::new(&[Pad { interval: u32::MAX, pad: u32::MAX }], Unit::Byte).unwrap(),
            ),
        ),
    ] {
        let mut l = c(text);
        l.set_post(post).unwrap();
        all.push(l);
    }
    all
}

/// Calls `on` with those, and with literals that no parser would make.
fn each(mut on: impl FnMut(&LayoutRef<'_>)) {
    owned().iter().for_each(|l| on(&l.view()));
    let zero = [Iter::new(0, 1, AxisId::M), Iter::new(3, -1, AxisId(u16::MAX))];
    let four = [Iter::new(4, i64::MIN, AxisId::M); 4];
    let bad = Swizzle { b: 255, m: 255, s: -128, unit: Unit::Byte };
    let offsets = [Offset::new(i64::MAX, AxisId::M), Offset::new(i64::MIN, AxisId::LANE)];
    let many = [Iter::new(3, 1, AxisId::LANE); 40];
    let base = LayoutRef::new(&four);
    let literals = [
        LayoutRef::new(&zero),
        LayoutRef { replica: &zero, ..base },
        LayoutRef { offset: &offsets, ..base },
        LayoutRef { post: PostMap::Swizzle(bad), ..base },
        LayoutRef { profile: Profile::from_tokens(&[1, 0, 0, 2, 2, 7]), ..base },
        LayoutRef { profile: Profile::from_tokens(&[1, 1, 1, 1]), ..base },
        LayoutRef::new(&many),
    ];
    literals.iter().for_each(on);
}

type Unary = fn(&LayoutRef<'_>) -> Result<Layout>;
type Binary = fn(&LayoutRef<'_>, &LayoutRef<'_>) -> Result<Layout>;

/// Operations on one layout.
const UNARY: &[(&str, Unary)] = &[
    ("to_owned", |l| l.to_owned()),
    ("coalesce", ops::coalesce),
    ("flatten", ops::flatten),
    ("right_inverse", ops::right_inverse),
    ("left_inverse", ops::left_inverse),
    ("rename", |l| ops::rename_axis(l, AxisId::M, AxisId::LANE)),
    ("sublayout", |l| ops::sublayout(l, &[0, 40], &[AxisId::M, AxisId::M])),
    ("resize", |l| ops::resize_mode(l, 0, Int::known(i64::MAX))),
    ("complement", |l| ops::complement(l, Int::known(i64::MAX))),
    ("complement 0", |l| ops::complement(l, Int::ZERO)),
    ("complement below", |l| ops::complement(l, Int::known(i64::MIN))),
    ("canonical", cute::canonical),
    ("filter", cute::filter),
    ("filter_zeros", cute::filter_zeros),
    ("nullspace", cute::nullspace),
    ("basis right", cute::basis::right_inverse),
    ("basis left", cute::basis::left_inverse),
    ("make_like", cute::make_layout_like),
    ("select", |l| cute::select(l, &[7, 0, 0])),
    ("group", |l| cute::group_modes(l, -1, 300)),
    ("group two", |l| cute::group_modes(l, 0, 2)),
    ("recast up", |l| cute::recast(l, 65535, 1)),
    ("recast down", |l| cute::recast(l, 1, 65535)),
    ("recast 0", |l| cute::recast(l, 0, 8)),
    ("tirx canonicalize", tirx::canonicalize),
    ("tirx canonicalize_for", |l| tirx::canonicalize_for(l, &WellKnown, machine::WARP_32)),
    ("tirx group", |l| tirx::group(l, &[0, u32::MAX]).and(Ok(Layout::new()))),
    ("tirx permute", |l| tirx::permute_dims(l, &[1, 1, 255])),
    ("tirx pack", |l| tirx::pack(l, u32::MAX, AxisId::M)),
    ("tirx pack 0", |l| tirx::pack(l, 0, AxisId::M)),
    ("tirx unpack", |l| tirx::unpack(l, u32::MAX, AxisId::M)),
    ("tirx unpack 0", |l| tirx::unpack(l, 0, AxisId::M)),
    ("tirx storage", |l| tirx::storage(l, &WellKnown)),
    ("tirx broadcast", |l| tirx::broadcast(l, u32::MAX, i32::MIN, AxisId::LANE)),
    ("tirx slice", |l| tirx::slice(l, &[u32::MAX, 2], &[(1, u32::MAX), (2, 1)])),
    ("tirx slice 0", |l| tirx::slice(l, &[0], &[(0, 0)])),
    ("tirx tile_to", |l| tirx::tile_to(l, &[u32::MAX, 0], &[0, 3])),
    ("tirx swizzle", |l| tirx::compose_swizzle(l, 255, 255, 255, true)),
    ("tilelang repeat", |l| tilelang::repeat(l, 200, u32::MAX)),
    ("tilelang repeat 0", |l| tilelang::repeat(l, 0, 0)),
    ("tilelang expand", |l| tilelang::expand(l, &[0, u32::MAX])),
    ("tilelang reshape", |l| tilelang::reshape(l, &[u32::MAX, u32::MAX, 0], Some((0, 7)))),
    ("strided again", |l| convert::to_strided(&convert::to_linear(l)?)),
];

/// Operations on two.
const BINARY: &[(&str, Binary)] = &[
    ("compose", ops::compose),
    ("logical_divide", ops::logical_divide),
    ("logical_product", ops::logical_product),
    ("divide", ops::divide),
    ("divide_right", ops::divide_right),
    ("tuple", |a, b| ops::tuple(&[*a, *b])),
    ("between", |a, b| ops::between(a, b).and(Ok(Layout::new()))),
    ("blocked", cute::blocked_product),
    ("raked", cute::raked_product),
    ("max_common", cute::max_common_layout),
    ("zipped", |a, b| cute::zipped_divide(a, &Tiler::Layout(*b))),
    ("by shape", |a, b| cute::flat_divide(a, &Tiler::Shape(IntTuple::shape_of(b)?.view()))),
    ("product by shape", |a, b| {
        cute::tiled_product(a, &Tiler::Shape(IntTuple::shape_of(b)?.view()))
    }),
    ("tile_to_shape", |a, b| {
        cute::tile_to_shape(a, IntTuple::shape_of(b)?.view(), IntTuple::flat(&[1, 0])?.view())
    }),
    ("slice", |a, b| cute::slice(IntTuple::shape_of(b)?.view(), a)),
    ("dice", |a, b| cute::dice(IntTuple::shape_of(b)?.view(), a)),
    ("by profile", |a, b| cute::coalesce_by_profile(a, IntTuple::shape_of(b)?.view())),
    ("equivalent", |a, b| cute::equivalent(a, b).and(Ok(Layout::new()))),
    ("tirx tile", |a, b| tirx::tile(a, &[u32::MAX, 2], b, &[2, u32::MAX])),
    ("tirx direct_sum", |a, b| tirx::direct_sum(a, &[4], b, &[0])),
    ("tirx outer", |a, b| tirx::outer_of_tile(a, &[8, 8], b, &[2, 2])),
    ("tirx inner", |a, b| tirx::inner_of_tile(a, &[8, 8], b, &[0, 2])),
];

/// Longest that one operation may take in this unoptimised build on a busy machine.
const SOON: Duration = Duration::from_secs(2);

/// Runs an operation on `args`; of layouts it must give a layout, of literals that are none
/// anything but a panic.
fn timed(name: &str, args: &[LayoutRef<'_>], f: impl FnOnce() -> Result<Layout>) {
    let start = Instant::now();
    let found = f();
    assert!(start.elapsed() < SOON, "{name} on {args:?} took {:?}", start.elapsed());
    if let Ok(found) = found.as_ref()
        && args.iter().all(|l| l.check().is_ok())
    {
        assert_eq!(
            found.view().check(),
            Ok(()),
            "{name} of {:?}",
            args.iter().map(|l| l.to_owned().map(|l| super::show(&l))).collect::<Vec<_>>()
        );
    }
}

#[test]
fn operations_on_one() {
    each(|l| {
        for (name, op) in UNARY {
            timed(name, &[*l], || op(l));
        }
    });
}

#[test]
fn operations_on_two() {
    each(|a| {
        each(|b| {
            for (name, op) in BINARY {
                timed(name, &[*a, *b], || op(a, b));
            }
        });
    });
}

#[test]
fn questions() {
    let far = [0, 1, 7, u64::from(u32::MAX), u64::MAX / 2, u64::MAX];
    each(|l| {
        let mut at = Coord::new();
        for x in far {
            let _ = ignore((
                l.apply_flat(x, &mut at),
                l.apply_extended(x, &mut at),
                l.offset_on(x, AxisId::M),
            ));
            let _ = ignore((
                l.apply(&[x, x], &mut at),
                tirx::apply_iters(l, &[x, x], &mut at),
                tirx::apply_shaped(l, &[x], &[u32::MAX], &mut at),
            ));
            let _ = ignore((
                cute::coordinate(l, x),
                tirx::place(l, x, u32::MAX, &machine::BANKS),
                tirx::place(l, x, 3, &tirx::Banks { count: 0, bank_bytes: 0 }),
            ));
            // The copies are as many as there are: one is enough here.
            let mut seen = 0;
            let _ = l.apply_all(x, &mut at, |_| {
                seen += 1;
                if seen > 3 { Err(crate::Error::Overflow) } else { Ok(()) }
            });
        }
        for axis in [AxisId::M, AxisId::LANE, AxisId(u16::MAX)] {
            let _ = ignore((
                l.reach(axis),
                l.cosize(axis),
                l.cosize_bound(axis),
                l.span(axis),
                l.size_on(axis),
                l.offset_of(axis),
            ));
            let _ = ignore((
                ops::consecutive(l, axis),
                l.table_on(axis, &mut [0; 5]),
                tirx::footprint(l, axis),
                ops::quotient(l, 0, axis).is_ok(),
            ));
        }
        let _ = ignore((
            l.size(),
            l.rank(),
            l.axes(),
            l.is_injective(),
            l.collision(),
            ops::is_surjective(l),
            ops::free_iters(l),
            cute::basis::cosize(l),
        ));
        let _ = ignore((
            tirx::is_trivial(l, &WellKnown),
            tirx::memory_span(l, &WellKnown),
            tirx::well_formed(l, &WellKnown),
            tilelang::shape_of(l),
        ));
        let _ = ignore((
            convert::to_linear(l).is_ok(),
            convert::to_hw_linear(l).is_ok(),
            convert::to_affine(l).is_ok(),
        ));
        let inverse = ops::guarded_inverse(l);
        let lent = l.to_owned();
        if let (Ok(inverse), Ok(l)) = (inverse, lent) {
            for p in [i64::MIN, -1, 0, 1, i64::MAX] {
                let mut at = Coord::new();
                at.add(AxisId::M, p).unwrap();
                if let Ok(Some(e)) = inverse.at(&at) {
                    assert!(l.view().size_value().is_ok_and(|size| e.flat < size), "{l:?}");
                }
            }
        }
        let fragment = l.to_owned().and_then(tilelang::Fragment::new);
        if let Ok(f) = fragment {
            let _ = ignore((
                f.thread_extent(),
                f.index_extent(),
                f.copies(),
                f.condense().is_ok(),
                f.inverse().is_ok(),
                f.replicate(u32::MAX).is_ok(),
            ));
            let _ = ignore((
                f.forward_thread(u64::MAX, u64::MAX),
                f.forward_index(u64::MAX),
                f.element(i64::MIN, i64::MAX),
                f.repeat(&[0, u32::MAX], true, false).is_ok(),
            ));
        }
    });
}

#[test]
fn trees_of_numbers() {
    let texts = [
        "()",
        "0",
        "-1",
        "9223372036854775807",
        "(-9223372036854775808,0)",
        "((),((3,0),_))",
        "(_,_)",
        "(4294967296,7)",
        "(((((((((1)))))))))",
    ];
    let trees: Vec<IntTuple> = texts
        .iter()
        .map(|text| crate::notation::cute::parse_tuple(text, &mut NoSyms).unwrap())
        .collect();
    let mut syms = SymTable::new();
    let symbol = Int::sym(syms.sym("M").unwrap());
    for a in &trees {
        let a = a.view();
        let _ = ignore((
            a.product(),
            a.product_each().is_ok(),
            cute::make_layout(a).is_ok(),
            cute::make_identity_layout(a).is_ok(),
            a.rank(),
            a.depth(),
        ));
        for by in [Int::ZERO, Int::known(-1), Int::known(i64::MIN), Int::known(i64::MAX), symbol] {
            for rounding in [Rounding::Ceil, Rounding::Floor, Rounding::Exact] {
                let _ = ignore(cute::div_each(a, by, rounding).is_ok());
            }
            let _ = ignore(cute::idx2crd(by, a).is_ok());
        }
        for b in &trees {
            let b = b.view();
            let _ = ignore((
                cute::shape_div(a, b).is_ok(),
                cute::ceil_div(a, b).is_ok(),
                cute::make_ordered_layout(a, b).is_ok(),
            ));
            let _ = ignore((
                cute::crd2crd(a, b, None).is_ok(),
                cute::crd2crd(a, b, Some(a)).is_ok(),
                cute::congruent(a, b),
                cute::weakly_congruent(a, b),
            ));
            each(|l| {
                let _ = ignore((
                    cute::crd2idx(a, l).is_ok(),
                    cute::slice(a, l).is_ok(),
                    cute::dice(a, l).is_ok(),
                ));
            });
        }
    }
}

#[test]
fn encodings() {
    use crate::triton::{address::Addresses, infer, to_linear};
    let texts = [
        "#ttg.blocked<{sizePerThread = [2147483648, 2147483648], threadsPerWarp = [2147483648, 1], warpsPerCTA = [1, 1], order = [1, 0]}>",
        "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0], CGALayout = [[65535], [65535]]}>",
        "#ttg.blocked<{sizePerThread = [], threadsPerWarp = [], warpsPerCTA = [], order = []}>",
        "#ttg.slice<{dim = 255, parent = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>}>",
        "#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [2147483648, 2147483648], instrShape = [16, 8]}>",
        "#ttg.nvidia_mma<{versionMajor = 3, warpsPerCTA = [4, 1], instrShape = [16, 65535, 65535]}>",
        "#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [1, 1], instrShape = [0, 0]}>",
        "#ttg.amd_mfma<{version = 255, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true, tilesPerWarp = [2147483648, 2147483648]}>",
        "#ttg.dot_op<{opIdx = 1, kWidth = 2147483648, parent = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [16, 16, 16], isTransposed = true}>}>",
        "#ttg.amd_wmma<{version = 3, ctaLayout = {warp = [[65535, 65535]], register = [[32768, 1]]}, instrShape = [2147483648, 1, 0], rank = 2}>",
        "#ttg.linear<{register = [[2147483648, 1]], lane = [], warp = [], block = []}>",
        "#ttg.swizzled_shared<{vec = 2147483648, perPhase = 2147483648, maxPhase = 2147483648, order = [1, 0]}>",
        "#ttg.amd_rotating_shared<{vec = 1, perPhase = 2147483648, maxPhase = 2147483648, order = [1, 0]}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 32768, fp4Padded = true, rank = 2}>",
        "#ttg.padded_shared<[1:+4294967295, 2147483648:+4294967295] {order = [1, 0], shape = [2147483648, 2147483648]}>",
        "#ttng.tensor_memory_encoding<blockM = 128, blockN = 2147483648, colStride = 2147483648>",
    ];
    let shapes: [&[u32]; 8] = [
        &[],
        &[0],
        &[u32::MAX, 2],
        &[1 << 31, 1 << 31],
        &[1 << 31, 1 << 31, 1 << 31],
        &[1; 8],
        &[1; 9],
        &[64, 64],
    ];
    let tiles = super::triton::Seed;
    let (mut answered, mut refused) = (0, Vec::new());
    for text in texts {
        let encoding = match crate::notation::ttg::parse(text) {
            Ok(encoding) => encoding,
            // What the parser refuses already is a number that no field has.
            Err(e) => {
                refused.push((text, e));
                continue;
            }
        };
        for shape in shapes {
            let start = Instant::now();
            if let Ok(l) = to_linear(&encoding, shape, &tiles) {
                answered += 1;
                let _ = ignore((
                    infer::split(&l).is_ok(),
                    infer::join(&l).is_ok(),
                    infer::expanded(&l, 255).is_ok(),
                    l.pseudo_invert().is_ok(),
                ));
                for to in shapes {
                    let _ = ignore((
                        infer::reshaped(&l, to).is_ok(),
                        infer::broadcast(&encoding, shape, to, &tiles).is_ok(),
                    ));
                }
            }
            let _ = ignore((
                infer::reduced(&encoding, shape, 255, &tiles).is_ok(),
                infer::joined(&encoding, shape, &tiles).is_ok(),
            ));
            for bits in [0, 4, u16::MAX] {
                if let Ok(a) = Addresses::new(&encoding, shape, bits) {
                    let far = [u32::MAX; 8];
                    let _ = ignore((
                        a.bytes(),
                        a.element(&far[..shape.len().min(8)]),
                        a.byte(shape),
                        a.padded(u64::MAX),
                        a.element_packed(u64::MAX),
                    ));
                }
            }
            assert!(start.elapsed() < SOON, "{text} at {shape:?}");
        }
    }
    assert!(answered > 5 && refused.len() < 5, "{answered} {refused:#?}");
}
