//! Run-time values: whatever is answered with a symbol is the answer for every value put in for it,
//! and what is refused is refused by the symbol's name unless no value helps.

use super::cute_laws::Random;
use super::{c, extended, show, table};
use crate::cute::{self, IntTuple, Tiler};
use crate::error::{Error, Result};
use crate::num::Int;
use crate::ops;
use crate::{AxisId, Iter, Layout, LayoutRef, SymId, SymNames, SymTable};
use std::string::String;
use std::vec::Vec;

const VALUES: [i64; 6] = [1, 2, 3, 4, 6, 12];

/// Layouts of up to three leaves in which some extents and strides are products with `sym`.
fn layout(random: &mut Random, sym: SymId) -> Layout {
    let mut out = Layout::new();
    out.open().unwrap();
    let m = Int::sym(sym);
    let mut running = Int::ONE;
    for _ in 0..1 + random.below(3) {
        let extent = match random.below(4) {
            0 => m,
            1 => m.checked_mul(Int::known(2)).unwrap(),
            _ => Int::known([1, 2, 3, 4, 6, 8][random.below(6) as usize]),
        };
        let stride = match random.below(5) {
            0 => m,
            1 => Int::known([0, 1, 2, 3, 4][random.below(5) as usize]),
            2 => m.checked_mul(Int::known(2)).unwrap(),
            // As if contiguous.
            _ => running,
        };
        out.push_leaf(Iter::symbolic(extent, stride, AxisId::M).unwrap()).unwrap();
        running = running.checked_mul(extent).unwrap_or(Int::ONE);
    }
    out.close().unwrap();
    out
}

/// An operation on one or two layouts.
pub(super) type Operation = (&'static str, fn(&LayoutRef<'_>, &LayoutRef<'_>) -> Result<Layout>);

fn tiled(
    op: fn(&LayoutRef<'_>, &Tiler<'_>) -> Result<Layout>,
    a: &LayoutRef<'_>,
    b: &LayoutRef<'_>,
) -> Result<Layout> {
    op(a, &Tiler::Layout(*b))
}

fn by_shape(
    op: fn(&LayoutRef<'_>, &Tiler<'_>) -> Result<Layout>,
    a: &LayoutRef<'_>,
) -> Result<Layout> {
    let tile = IntTuple::flat(&[2])?;
    op(a, &Tiler::Shape(tile.view()))
}

pub(super) const OPERATIONS: [Operation; 45] = [
    ("coalesce", |a, _| ops::coalesce(a)),
    ("flatten", |a, _| ops::flatten(a)),
    ("filter", |a, _| cute::filter(a)),
    ("filter_zeros", |a, _| cute::filter_zeros(a)),
    ("nullspace", |a, _| cute::nullspace(a)),
    ("make_layout_like", |a, _| cute::make_layout_like(a)),
    ("canonical", |a, _| cute::canonical(a)),
    ("select", |a, _| cute::select(a, &[0])),
    ("group", |a, _| cute::group_modes(a, 0, 1)),
    ("right_inverse", |a, _| ops::right_inverse(a)),
    ("left_inverse", |a, _| ops::left_inverse(a)),
    ("inverse", |a, _| ops::inverse(a).map(|i| i.layout)),
    ("complement", |a, b| ops::complement(a, b.size()?)),
    ("compose", ops::compose),
    ("logical_divide", |a, b| tiled(cute::logical_divide, a, b)),
    ("zipped_divide", |a, _| by_shape(cute::zipped_divide, a)),
    ("logical_product", |a, b| tiled(cute::logical_product, a, b)),
    ("blocked_product", cute::blocked_product),
    ("raked_product", cute::raked_product),
    ("recast down", |a, _| cute::recast(a, 8, 16)),
    ("recast up", |a, _| cute::recast(a, 16, 8)),
    ("divide", ops::divide),
    ("divide_right", ops::divide_right),
    ("resize_mode", |a, b| ops::resize_mode(a, 0, b.size()?)),
    ("tiled_divide", |a, b| tiled(cute::tiled_divide, a, b)),
    ("flat_divide", |a, _| by_shape(cute::flat_divide, a)),
    ("zipped_product", |a, b| tiled(cute::zipped_product, a, b)),
    ("tiled_product", |a, _| by_shape(cute::tiled_product, a)),
    ("flat_product", |a, b| tiled(cute::flat_product, a, b)),
    ("composition by shape", |a, _| by_shape(cute::composition, a)),
    ("slice", |a, _| cute::slice(pick(a)?.view(), a)),
    ("dice", |a, _| cute::dice(pick(a)?.view(), a)),
    ("coalesce_by_profile", |a, _| cute::coalesce_by_profile(a, IntTuple::flat(&[1])?.view())),
    ("tuple", |a, b| ops::tuple(&[*a, *b])),
    ("make_layout", |a, _| cute::make_layout(IntTuple::shape_of(a)?.view())),
    ("make_ordered_layout", |a, _| {
        let shape = IntTuple::shape_of(a)?;
        let order: std::vec::Vec<i64> = (0..shape.view().rank() as i64).rev().collect();
        cute::make_ordered_layout(shape.view(), IntTuple::flat(&order)?.view())
    }),
    ("max_common_layout", cute::max_common_layout),
    ("rename", |a, _| ops::rename_axis(a, AxisId::M, AxisId::M)),
    ("sublayout", |a, _| ops::sublayout(a, &[0], &[AxisId::M])),
    ("tirx canonicalize", |a, _| crate::tirx::canonicalize(a)),
    ("tirx unpack", |a, _| crate::tirx::unpack(a, 2, AxisId::M)),
    ("tirx pack", |a, _| crate::tirx::pack(a, 2, AxisId::M)),
    ("tirx storage", |a, _| crate::tirx::storage(a, &crate::WellKnown)),
    ("tilelang expand", |a, _| crate::tilelang::expand(a, &[3])),
    ("tilelang repeat", |a, _| crate::tilelang::repeat(a, 0, 3)),
];

/// A coordinate that keeps the first mode and stands at the start of the others.
fn pick(l: &LayoutRef<'_>) -> Result<IntTuple> {
    let mut out = IntTuple::default();
    out.open()?;
    out.push_keep()?;
    for _ in 1..l.rank() {
        out.push_leaf(Int::ZERO)?;
    }
    out.close()?;
    Ok(out)
}

/// Whether both are one function where both are small enough to try.
fn same(a: &Layout, b: &Layout) -> bool {
    a.view().size() == b.view().size()
        && (a.view().size_value().unwrap() > 5000 || table(&a.view()) == table(&b.view()))
}

#[test]
fn answers_hold_for_every_value_and_refusals_name_the_symbol() {
    let mut syms = SymTable::new();
    let sym = syms.sym("M").unwrap();
    let mut random = Random(0x5eed_0201);
    let mut answered = [0usize; OPERATIONS.len()];
    let mut named = 0;
    for _ in 0..500 {
        let (a, b) = (layout(&mut random, sym), layout(&mut random, sym));
        let spelled = |l: &Layout| -> String {
            let mut out = String::new();
            crate::notation::cute::print(&l.view(), &crate::WellKnown, &syms, &mut out).unwrap();
            out
        };
        for (k, (name, op)) in OPERATIONS.iter().enumerate() {
            let whole = op(&a.view(), &b.view());
            let place = || std::format!("{name} {} {}: {whole:?}", spelled(&a), spelled(&b));
            let numeric: Vec<(i64, Result<Layout>)> = VALUES
                .iter()
                .map(|v| {
                    let (x, y) = (a.substitute(sym, *v).unwrap(), b.substitute(sym, *v).unwrap());
                    (*v, op(&x.view(), &y.view()))
                })
                .collect();
            match &whole {
                Ok(answer) => {
                    answered[k] += 1;
                    for (v, expected) in &numeric {
                        let put = answer.substitute(sym, *v).unwrap();
                        // A run-time stride is not taken for the contiguous one, even where it
                        // happens to be 1.
                        if *name == "recast down" && *v == 1 {
                            continue;
                        }
                        match expected {
                            // One-sided inverses are not unique: the law decides.
                            Ok(_) if *name == "left_inverse" => {
                                let x = a.substitute(sym, *v).unwrap();
                                for y in table(&x.view()) {
                                    // Up to modes that stand still.
                                    assert_eq!(
                                        extended(&x.view(), extended(&put.view(), y)),
                                        y,
                                        "{} at {v}",
                                        place()
                                    );
                                }
                            }
                            Ok(_) if *name == "right_inverse" => {
                                let x = a.substitute(sym, *v).unwrap();
                                for (i, y) in table(&put.view()).into_iter().enumerate() {
                                    assert_eq!(
                                        x.view().offset_on(y as u64, AxisId::M),
                                        Ok(i as i64),
                                        "{} at {v}",
                                        place()
                                    );
                                }
                            }
                            // One that is common for every value is no longer than the longest for
                            // each.
                            Ok(expected) if *name == "max_common_layout" => {
                                let (x, y) = (
                                    a.substitute(sym, *v).unwrap(),
                                    b.substitute(sym, *v).unwrap(),
                                );
                                assert!(
                                    put.view().size_value().unwrap()
                                        <= expected.view().size_value().unwrap()
                                );
                                for at in table(&put.view()) {
                                    assert_eq!(
                                        extended(&x.view(), at),
                                        extended(&y.view(), at),
                                        "{} at {v}",
                                        place()
                                    );
                                }
                            }
                            Ok(expected) => assert!(
                                same(&put, expected),
                                "{} at {v}: {} against {}",
                                place(),
                                show(&put),
                                show(expected)
                            ),
                            // The number's own refusal is of a form; the answer must hold all the
                            // same.
                            Err(_) if *name == "compose" => {
                                let (x, y) = (
                                    a.substitute(sym, *v).unwrap(),
                                    b.substitute(sym, *v).unwrap(),
                                );
                                let inner = table(&y.view());
                                let points: Vec<i64> =
                                    inner.iter().map(|i| extended(&x.view(), *i)).collect();
                                assert_eq!(table(&put.view()), points, "{} at {v}", place());
                            }
                            Err(e) => assert!(*v == 1, "{} but {e:?} at {v}", place()),
                        }
                    }
                }
                Err(Error::NeedsValue { sym: found }) => {
                    named += 1;
                    assert_eq!(*found, sym);
                }
                Err(_) => {
                    let helps = numeric.iter().find(|(v, answer)| *v > 1 && answer.is_ok());
                    assert!(helps.is_none(), "{}, though {helps:?}", place());
                }
            }
        }
    }
    for (k, n) in answered.iter().enumerate() {
        assert!(*n > 4, "{} answered {n} times", OPERATIONS[k].0);
    }
    assert!(named > 200, "{named}");
}

#[test]
fn quantities_name_the_symbol() {
    let mut syms = SymTable::new();
    let sym = syms.sym("M").unwrap();
    let l = crate::notation::cute::parse("(M,4):(1,M)", &crate::WellKnown, &mut syms).unwrap();
    let needs = Error::NeedsValue { sym };
    assert_eq!(l.view().size(), Int::sym(sym).checked_mul(Int::known(4)));
    assert_eq!(l.view().cosize(AxisId::M), Err(needs));
    assert_eq!(l.view().cosize_bound(AxisId::M), Err(needs));
    assert_eq!(l.view().is_injective(), Err(needs));
    assert_eq!(l.view().span(AxisId::M), Err(needs));
    assert_eq!(l.view().table_on(AxisId::M, &mut [0; 4]), Err(needs));
    assert_eq!(crate::convert::to_linear(&l.view()).map(|_| ()), Err(needs));
    assert_eq!(ops::guarded_inverse(&l.view()).map(|_| ()), Err(needs));
    assert_eq!(l.view().rank(), 2);
    // A coordinate times a symbol is a position, as long as nothing else is to be added.
    let at = |text: &str| {
        let coord = crate::notation::cute::parse_tuple(text, &mut crate::NoSyms).unwrap();
        cute::crd2idx(coord.view(), &l.view())
    };
    assert_eq!(at("(0,3)"), Int::sym(sym).checked_mul(Int::known(3)));
    assert_eq!(at("(2,0)"), Ok(Int::known(2)));
    assert_eq!(at("(2,3)"), Err(needs));
    let shape = IntTuple::shape_of(&l.view()).unwrap();
    let by = IntTuple::leaf(2).unwrap();
    assert_eq!(cute::shape_div(shape.view(), by.view()), Err(needs));
    assert_eq!(c("8:1").view().size(), Ok(Int::known(8)));
}

/// A layout with run-time extents is cut into tiles that need not divide them: how many there are
/// is a quotient that is rounded up, in print and for every value.
#[test]
fn tiles_that_need_not_divide_are_counted_rounded_up() {
    let mut syms = SymTable::new();
    let mut read =
        |text: &str| crate::notation::cute::parse(text, &crate::WellKnown, &mut syms).expect(text);
    let cases = [
        (
            "(M,K):(K,1)",
            "(128,64)",
            "((128,ceil_div(M,128)),(64,ceil_div(K,64))):((K,128*K),(1,64))",
        ),
        ("(M,K):(1,M)", "(96,7)", "((96,ceil_div(M,96)),(7,ceil_div(K,7))):((1,96),(M,7*M))"),
        ("(4*M,K):(1,4*M)", "(16,4)", "((16,ceil_div(M,4)),(4,ceil_div(K,4))):((1,16),(4*M,16*M))"),
        ("(8*M,6):(K,1)", "(3,4)", "((3,ceil_div(8*M,3)),(4,2)):((K,3*K),(1,4))"),
        ("M:1", "128", "(128,ceil_div(M,128)):(1,128)"),
        ("ceil_div(M,8):K", "4", "(4,ceil_div(M,32)):(K,4*K)"),
        ("K*ceil_div(M,8):1", "K", "(K,ceil_div(M,8)):(1,K)"),
        // The tile's extents are run-time values themselves.
        ("(M,K):(K,1)", "(N,64)", "((N,ceil_div(M,N)),(64,ceil_div(K,64))):((K,K*N),(1,64))"),
        ("(M,K):(1,M)", "(N,N)", "((N,ceil_div(M,N)),(N,ceil_div(K,N))):((1,N),(M,M*N))"),
        ("(M,8):(8,1)", "(4,N)", "((4,ceil_div(M,4)),(N,ceil_div(8,N))):((8,32),(1,N))"),
        ("ceil_div(M,N):1", "ceil_div(M,N)", "(ceil_div(M,N),1):(1,0)"),
    ];
    let read_all: Vec<_> = cases.iter().map(|(a, by, out)| (read(a), *by, read(out))).collect();
    let named = ["M", "K", "N"].map(|name| syms.sym(name).unwrap());
    for ((whole, by, wanted), (text, _, out)) in read_all.iter().zip(cases) {
        let tile = crate::notation::cute::parse_tuple(by, &mut syms).unwrap();
        let divided = cute::logical_divide(&whole.view(), &Tiler::Shape(tile.view()));
        let divided = divided.unwrap_or_else(|e| panic!("{text} by {by}: {e:?}"));
        assert_eq!(&divided, wanted, "{text} by {by}");
        let mut spelled = String::new();
        crate::notation::cute::print(&divided.view(), &crate::WellKnown, &syms, &mut spelled)
            .unwrap();
        assert_eq!(spelled, out);
        for values in [
            [1, 1, 3],
            [5, 3, 2],
            [127, 64, 128],
            [128, 65, 64],
            [129, 1, 1],
            [300, 100, 7],
            [1000, 7, 24],
        ] {
            // Divisors first: more numbers have a form below a symbol than above one.
            let all = || named.into_iter().zip(values).rev();
            let put = |l: &Layout| {
                all().fold(l.clone(), |l, (sym, value)| l.substitute(sym, value).unwrap())
            };
            let mut numbers = IntTuple::default();
            if tile.view().as_leaf().is_none() {
                numbers.open().unwrap();
            }
            for leaf in tile.view().leaves() {
                let put = |n: Int, (sym, value)| n.substitute(sym, value).unwrap();
                numbers.push_leaf(all().fold(*leaf, put)).unwrap();
            }
            if tile.view().as_leaf().is_none() {
                numbers.close().unwrap();
            }
            let numeric = cute::logical_divide(&put(whole).view(), &Tiler::Shape(numbers.view()));
            assert!(same(&put(&divided), &numeric.unwrap()), "{text} by {by} at {values:?}");
        }
    }
}

/// A block is repeated as often as run-time values say: as CuTe has it with `?`, and for every value.
#[test]
fn blocks_are_repeated_as_often_as_a_value_says() {
    type Product = fn(&LayoutRef<'_>, &LayoutRef<'_>) -> Result<Layout>;
    let logical: Product = |a, b| cute::logical_product(a, &Tiler::Layout(*b));
    let mut syms = SymTable::new();
    let mut read =
        |text: &str| crate::notation::cute::parse(text, &crate::WellKnown, &mut syms).expect(text);
    let cases: [(Product, &str, &str, &str); 8] = [
        (logical, "(4,8):(8,1)", "M:1", "((4,8),M):((8,1),32)"),
        (logical, "(4,8):(8,1)", "(M,N):(1,M)", "((4,8),(M,N)):((8,1),(32,32*M))"),
        (logical, "(4,8):(9,1)", "M:2", "((4,8),M):((9,1),72)"),
        (logical, "(2,2):(1,4)", "(2,M):(1,2)", "((2,2),(2,M)):((1,4),(2,8))"),
        (logical, "(M,8):(8,1)", "N:1", "((M,8),N):((8,1),8*M)"),
        (cute::blocked_product, "(4,8):(8,1)", "(M,N):(1,M)", "((4,M),(8,N)):((8,32),(1,32*M))"),
        (cute::raked_product, "(4,8):(8,1)", "(M,N):(N,1)", "((M,4),(N,8)):((32*N,8),(32,1))"),
        (
            cute::blocked_product,
            "(2,2):(1@0,1@1)",
            "(M,N):(1@0,1@1)",
            "((2,M),(2,N)):((1@0,2@0),(1@1,2@1))",
        ),
    ];
    let read_all: Vec<_> = cases.iter().map(|(_, a, b, w)| [read(a), read(b), read(w)]).collect();
    let tiled = {
        let shape = crate::notation::cute::parse_tuple("(M,N)", &mut syms).unwrap();
        let order = crate::notation::cute::parse_tuple("(1,0)", &mut syms).unwrap();
        cute::make::tile_to_shape(&c("(8,64):(64,1)").view(), shape.view(), order.view()).unwrap()
    };
    let mut spelled = String::new();
    crate::notation::cute::print(&tiled.view(), &crate::WellKnown, &syms, &mut spelled).unwrap();
    assert_eq!(
        spelled,
        "((8,ceil_div(M,8)),(64,ceil_div(N,64))):((64,512*ceil_div(N,64)),(1,512))"
    );
    let named = ["M", "N"].map(|name| syms.sym(name).unwrap());
    for ((product, a, b, _), [block, tiles, wanted]) in cases.iter().zip(&read_all) {
        let made =
            product(&block.view(), &tiles.view()).unwrap_or_else(|e| panic!("{a} {b}: {e:?}"));
        assert_eq!(&made, wanted, "{a} {b}");
        for values in [[1, 1], [2, 3], [5, 4], [7, 1], [1, 6]] {
            let put = |l: &Layout| {
                let one = l.substitute(named[0], values[0]).unwrap();
                one.substitute(named[1], values[1]).unwrap()
            };
            let numeric = product(&put(block).view(), &put(tiles).view()).unwrap();
            assert!(same(&put(&made), &numeric), "{a} by {b} at {values:?}");
        }
    }
}

/// What has no such form names the symbol, and quotients compare as far as all values do.
#[test]
fn quotients_that_are_rounded_up_are_numbers() {
    let mut syms = SymTable::new();
    let [m, k] = ["M", "K"].map(|name| syms.sym(name).unwrap());
    let (of_m, of_k) = (Int::sym(m), Int::sym(k));
    let up = |a: Int, by: i64| a.ceil_div(Int::known(by));
    let needs = |sym| Error::NeedsValue { sym };
    assert_eq!(up(of_m, 1), Ok(of_m));
    assert_eq!(up(of_m, 37), Err(needs(m)));
    assert_eq!(up(of_m, 1 << 40), Err(needs(m)));
    assert_eq!(up(Int::known((1 << 40) + 1), 1 << 40), Ok(Int::known(2)));
    assert_eq!(up(of_m, 31 << 13).map(|q| q.syms().quotient().unwrap().by), Ok(31 << 13));
    assert_eq!(up(of_m, 29 << 15).map(|q| q.syms().quotient().unwrap().by), Ok(29 << 15));
    assert_eq!((up(of_m, 31 << 15), up(of_m, 31 << 14)), (Err(needs(m)), Err(needs(m))));
    let eight = of_m.checked_mul(Int::known(8)).unwrap();
    let thirds = up(eight, 3).unwrap();
    let parts = thirds.syms().quotient().unwrap();
    assert_eq!((parts.times, parts.of, parts.by), (8, of_m.syms(), 3));
    assert_eq!(up(thirds, 4), up(of_m.checked_mul(Int::known(2)).unwrap(), 3));
    assert_eq!(thirds.substitute(m, 5), Ok(Int::known(14)));
    assert_eq!(up(of_m.checked_mul(Int::known(37)).unwrap(), 4), Err(needs(m)));
    assert_eq!(
        up(of_m.checked_mul(of_k).and_then(|p| p.checked_mul(Int::known(3))).unwrap(), 4),
        Err(needs(m))
    );
    let tiles = up(of_m, 128).unwrap();
    assert_eq!(tiles.value(), Err(needs(m)));
    assert_eq!(tiles.compare(Int::ZERO), Some(core::cmp::Ordering::Greater));
    assert!(Int::ONE.at_most(tiles));
    assert_eq!(tiles.compare(of_m), None);
    assert_eq!(tiles.div_exact(tiles), Some(Int::ONE));
    assert_eq!(tiles.checked_add(tiles), tiles.checked_mul(Int::known(2)));
    assert_eq!(up(tiles, 3).map(|q| q.syms().quotient().unwrap().by), Ok(384));
    assert_eq!(
        tiles.checked_mul(tiles).map(|_| ()),
        Err(Error::Capacity { limit: crate::error::Limit::SymFactors, max: 3 })
    );
    // Each symbol of a product may get its value first.
    let both = up(of_m.checked_mul(of_k).unwrap(), 12).unwrap();
    for (a, b) in [(5, 7), (12, 1), (24, 5), (36, 2)] {
        let one = both.substitute(m, a).unwrap();
        assert_eq!(one.substitute(k, b), Ok(Int::known((a * b + 11) / 12)), "{a} {b}");
    }
    // A symbol divides a symbol or a number, and nothing else.
    let tiled = of_m.ceil_div(of_k).unwrap();
    let parts = tiled.syms().quotient().unwrap();
    assert_eq!((parts.times, parts.of, parts.by, parts.under), (1, of_m.syms(), 1, of_k.syms()));
    assert_eq!(tiled.syms().iter().collect::<Vec<_>>(), [m, k]);
    let counted = Int::known(96).ceil_div(of_k).unwrap();
    assert_eq!(counted.syms().iter().collect::<Vec<_>>(), [k]);
    for (a, b) in [(5, 7), (12, 1), (24, 5), (36, 3)] {
        let first = tiled.substitute(m, a).and_then(|n| n.substitute(k, b));
        let last = tiled.substitute(k, b).and_then(|n| n.substitute(m, a));
        assert_eq!((first, last), (Ok(Int::known((a + b - 1) / b)), first), "{a} {b}");
        assert_eq!(counted.substitute(k, b), Ok(Int::known((96 + b - 1) / b)), "{b}");
    }
    assert_eq!(Int::ONE.ceil_div(of_k), Ok(Int::ONE));
    assert_eq!(tiled.checked_mul(Int::known(4)).unwrap().div_exact(tiled), Some(Int::known(4)));
    assert!(Int::ONE.at_most(tiled) && tiled.compare(counted).is_none());
    assert_eq!(up(tiled, 4), Err(needs(m)));
    assert_eq!(tiled.ceil_div(of_k), Err(needs(m)));
    assert_eq!(eight.ceil_div(of_k), Err(needs(m)));
    assert_eq!(of_m.ceil_div(of_k.checked_mul(Int::known(2)).unwrap()), Err(needs(m)));
    assert_eq!(
        tiled.checked_mul(of_k).map(|_| ()),
        Err(Error::Capacity { limit: crate::error::Limit::SymFactors, max: 3 })
    );
    assert_eq!(crate::SymId::new(0), None);
    assert_eq!(crate::SymId::new(128), None);
    assert_eq!(crate::SymId::new(1), Some(m));
    for bad in
        ["ceil_div(M,0):1", "ceil_div(M,37):1", "ceil_div(M):1", "ceil_div(M,):1", "ceil_div(M,8:1"]
    {
        assert!(crate::notation::cute::parse(bad, &crate::WellKnown, &mut syms).is_err(), "{bad}");
    }
}
