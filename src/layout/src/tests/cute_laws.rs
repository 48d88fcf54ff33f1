//! Laws of CuTe's operations: exhaustive on small domains, random beyond.

use super::{c, extended, family, show, table};
use crate::cute::intern::Record;
use crate::cute::{self, Arena, IntTuple, Tiler};
use crate::error::Error;
use crate::ops::compose;
use crate::{AxisId, Int, Iter, Layout, LayoutRef, Offset, SymNames, SymTable};
use std::collections::{BTreeMap, BTreeSet};
use std::vec::Vec;

/// A small generator; the seed is the test's.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    /// A layout of up to four leaves in up to three modes.
    fn layout(&mut self, extents: &[u32], strides: &[i64]) -> Layout {
        let mut out = Layout::new();
        out.open().unwrap();
        for _ in 0..=self.below(2) {
            let nested = self.below(3) == 0;
            if nested {
                out.open().unwrap();
            }
            for _ in 0..=u64::from(nested) {
                let extent = extents[self.below(extents.len() as u64) as usize];
                let stride = strides[self.below(strides.len() as u64) as usize];
                out.push_leaf(Iter::new(extent, stride, AxisId::M)).unwrap();
            }
            if nested {
                out.close().unwrap();
            }
        }
        out.close().unwrap();
        out
    }
}

const EXTENTS: [u32; 8] = [1, 2, 3, 4, 5, 6, 8, 12];
const STRIDES: [i64; 10] = [0, 1, 2, 3, 4, 6, 8, 12, 24, 48];

#[test]
fn index_and_coordinate_are_inverse() {
    let mut random = Random(0x5eed_0001);
    for _ in 0..300 {
        let l = random.layout(&EXTENTS, &STRIDES);
        let shape = IntTuple::shape_of(&l.view()).unwrap();
        let compact = cute::make_layout(shape.view()).unwrap();
        for x in 0..l.view().size_value().unwrap().min(200) {
            let idx = Int::known(x as i64);
            let coord = cute::idx2crd(idx, shape.view()).unwrap();
            assert_eq!(cute::crd2idx(coord.view(), &compact.view()), Ok(idx));
            let at = cute::crd2idx(coord.view(), &l.view()).unwrap();
            assert_eq!(at.value(), l.view().offset_on(x, AxisId::M), "{}", show(&l));
        }
    }
}

#[test]
fn random_composition_is_function_composition() {
    let mut random = Random(0x5eed_0002);
    let (mut answered, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let (a, b) = (random.layout(&EXTENTS, &STRIDES), random.layout(&EXTENTS, &STRIDES));
        let Ok(l) = compose(&a.view(), &b.view()) else {
            refused += 1;
            continue;
        };
        answered += 1;
        for (x, y) in table(&b.view()).into_iter().enumerate() {
            let found = l.view().offset_on(x as u64, AxisId::M).unwrap();
            assert_eq!(found, extended(&a.view(), y), "{} o {}", show(&a), show(&b));
        }
    }
    assert!(answered > 1000 && refused > 1000, "{answered} {refused}");
}

#[test]
fn a_divide_moves_every_element_once() {
    for a in family(2, 6, &[1, 2, 6]).iter().filter(|a| !a.view().shard.is_empty()) {
        for tile in ["2:1", "3:1", "2:3", "(2,2):(1,3)", "4:2"] {
            let tile = c(tile);
            let Ok(l) = cute::logical_divide(&a.view(), &Tiler::Layout(tile.view())) else {
                continue;
            };
            let (size, part) = (a.view().size_value().unwrap(), tile.view().size_value().unwrap());
            if size % part != 0 || l.view().size_value().unwrap() != size {
                continue;
            }
            let tiles: Vec<i64> = table(&tile.view());
            if tiles == [0, 1, 3, 4] {
                // A tile with a hole: the next one begins where it ends, at 6.
                let points = (0..size / 4).flat_map(|k| tiles.iter().map(move |x| (k, *x)));
                let at = |(k, x): (u64, i64)| extended(&a.view(), 6 * k as i64 + x);
                assert_eq!(table(&l.view()), points.map(at).collect::<Vec<_>>(), "{}", show(a));
                continue;
            }
            let mut whole = table(&a.view());
            let mut cut = table(&l.view());
            whole.sort_unstable();
            cut.sort_unstable();
            assert_eq!(whole, cut, "{} by {}", show(a), show(&tile));
            let first: Vec<i64> = tiles.iter().map(|x| extended(&a.view(), *x)).collect();
            assert_eq!(table(&l.view().mode(0).unwrap()), first);
        }
    }
}

#[test]
fn a_product_repeats_without_overlap() {
    let blocks = ["4:1", "(2,2):(2,1)", "(2,3):(1,4)", "3:5", "(4,8):(9,1)", "(2,3):(1,5)"];
    for (a, b) in blocks.iter().flat_map(|a| ["2:1", "3:2", "(2,3):(3,1)"].map(|b| (c(a), c(b)))) {
        let Ok(logical) = cute::logical_product(&a.view(), &Tiler::Layout(b.view())) else {
            continue;
        };
        for l in [
            logical,
            cute::blocked_product(&a.view(), &b.view()).unwrap(),
            cute::raked_product(&a.view(), &b.view()).unwrap(),
        ] {
            let all = table(&l.view());
            let distinct: BTreeSet<i64> = all.iter().copied().collect();
            assert_eq!(distinct.len(), all.len(), "{}", show(&l));
            assert_eq!(all.len(), table(&a.view()).len() * table(&b.view()).len());
        }
    }
}

#[test]
fn equality_is_that_of_functions() {
    let all = family(3, 3, &[0, 1, 2, 3]);
    let mut by_table: BTreeMap<Vec<i64>, Layout> = BTreeMap::new();
    for l in &all {
        let canonical = cute::canonical(&l.view()).unwrap();
        assert_eq!(table(&canonical.view()), table(&l.view()));
        let first = by_table.entry(table(&l.view())).or_insert_with(|| canonical.clone());
        assert_eq!(*first, canonical, "one spelling a function: {}", show(l));
        assert_eq!(cute::equivalent(&first.view(), &l.view()), Ok(true));
    }
    let some: Vec<&Layout> = by_table.values().take(40).collect();
    for (i, a) in some.iter().enumerate() {
        for b in some.iter().take(i) {
            assert_eq!(cute::equivalent(&a.view(), &b.view()), Ok(false));
        }
    }
    let same = |a: &str, b: &str| cute::equivalent(&c(a).view(), &c(b).view());
    assert_eq!(same("S<3,4,3> o 0 o (8,8):(8,1)", "(8,8):(8,1)"), Ok(true), "below its period");
    assert_eq!(same("S<3,4,3> o 0 o (8,64):(64,1)", "(8,64):(64,1)"), Ok(false));
    assert_eq!(same("S<1,0,2> o 0 o 2:4", "2:5"), Ok(true));
    assert_eq!(same("4:0@0", "4:0@1"), Ok(true));
}

#[test]
fn recasting_touches_the_same_storage() {
    let mut random = Random(0x5eed_0003);
    let widths = [(8, 16), (16, 8), (8, 32), (32, 8), (8, 6), (6, 8), (16, 24), (24, 16)];
    let (mut answered, mut refused) = (0, 0);
    for round in 0..6000usize {
        let l = random.layout(&EXTENTS, &STRIDES);
        let (new, old) = widths[round % widths.len()];
        let Ok(seen) = cute::recast(&l.view(), new as u16, old as u16) else {
            refused += 1;
            continue;
        };
        answered += 1;
        let (mut touched, mut begun) = (BTreeSet::new(), BTreeSet::new());
        for x in table(&l.view()) {
            begun.insert(x * old / new);
            touched.extend(x * old / new..=(x * old + old - 1) / new);
        }
        let reached: BTreeSet<i64> = table(&seen.view()).into_iter().collect();
        let least = if new < old { &begun } else { &touched };
        let text = std::format!("{} {old} to {new}: {}", show(&l), show(&seen));
        assert!(reached.is_subset(&touched) && least.is_subset(&reached), "{text}");
    }
    assert!(answered > 2 * refused, "{answered} {refused}");
}

#[test]
fn slices_are_the_function_with_an_argument_fixed() {
    let mut random = Random(0x5eed_0004);
    for _ in 0..200 {
        let l = random.layout(&EXTENTS, &STRIDES);
        let post = ["", "S<2,0,3> o 5 o ", "S<1,1,-2> o 0 o "][random.below(3) as usize];
        let l = c(&std::format!("{post}{}", show(&l)));
        let v = l.view();
        let mut coord = IntTuple::new();
        coord.open().unwrap();
        let mut extents = Vec::new();
        for (mode, _) in v.modes() {
            let size = LayoutRef::new(mode).size_value().unwrap();
            if random.below(2) == 0 {
                coord.push_keep().unwrap();
                extents.push((size, None));
            } else {
                let x = random.below(size);
                coord.push_leaf(Int::known(x as i64)).unwrap();
                extents.push((size, Some(x)));
            }
        }
        coord.close().unwrap();
        let part = cute::slice(coord.view(), &v).unwrap();
        let mut expected = Vec::new();
        for x in 0..v.size_value().unwrap() {
            let mut rest = x;
            let mut inside = true;
            for (size, fixed) in &extents {
                inside &= fixed.is_none_or(|f| f == rest % size);
                rest /= size;
            }
            if inside {
                expected.push(v.offset_on(x, AxisId::M).unwrap());
            }
        }
        assert_eq!(table(&part.view()), expected, "{}", show(&l));
    }
}

#[test]
fn what_is_fixed_or_added_is_not_lost() {
    let mut coord = IntTuple::new();
    coord.open().unwrap();
    coord.push_keep().unwrap();
    coord.push_leaf(Int::known(5)).unwrap();
    coord.close().unwrap();
    let part = cute::slice(coord.view(), &c("(4,8):(1@0,3@1)").view()).unwrap();
    let axis = AxisId::path(&[1]).unwrap();
    assert_eq!(part.view().offset_of(axis), Ok(Int::known(15)));
    let mut moved = c("(4,8):(1,4)");
    moved.add_offset(Int::known(7), AxisId::M).unwrap();
    let shape = IntTuple::shape_of(&moved.view()).unwrap();
    for x in 0..32 {
        let at = cute::idx2crd(Int::known(x), shape.view()).unwrap();
        assert_eq!(cute::crd2idx(at.view(), &moved.view()), Ok(Int::known(x + 7)));
    }
    // The length of a step says which is the fastest, not its direction.
    let alike = cute::make_layout_like(&c("(4,3,2):(-3,1,24)").view()).unwrap();
    assert_eq!(show(&alike), "(4,3,2):(3,1,12)");
}

#[test]
fn symbols_are_carried_where_their_value_is_not_needed() {
    let mut syms = SymTable::new();
    let mut parse =
        |t: &str| crate::notation::cute::parse(t, &crate::WellKnown, &mut syms).unwrap();
    let a = parse("(128,(8,K)):(1,(128,1024))");
    let sym = syms.sym("K").unwrap();
    let known = a.substitute(sym, 12).unwrap();
    let tile = [c("32:1"), c("8:1")];
    let views: Vec<_> = tile.iter().map(Layout::view).collect();
    let tiler = Tiler::Modes(&views);
    // Each answer with K = 12 put in is the answer for 12.
    type Op = fn(&LayoutRef<'_>, &Tiler<'_>) -> crate::Result<Layout>;
    let ops: [Op; 4] =
        [cute::logical_divide, cute::zipped_divide, cute::flat_divide, cute::composition];
    for op in ops {
        let symbolic = op(&a.view(), &tiler).unwrap();
        let numbers = op(&known.view(), &tiler).unwrap();
        let put = symbolic.substitute(sym, 12).unwrap();
        assert_eq!(cute::equivalent(&put.view(), &numbers.view()), Ok(true));
    }
    let one = |l: crate::Result<Layout>| l.unwrap().substitute(sym, 12).unwrap();
    for op in [cute::filter_zeros, cute::make_layout_like, cute::nullspace, cute::canonical] {
        assert_eq!(one(op(&a.view())), op(&known.view()).unwrap());
    }
    assert_eq!(one(cute::recast(&a.view(), 8, 16)), cute::recast(&known.view(), 8, 16).unwrap());
    let coord = crate::notation::cute::parse_tuple("(5,(1,_))", &mut crate::NoSyms).unwrap();
    let (part, offset) = cute::slice_and_offset(coord.view(), &a.view()).unwrap();
    assert_eq!((one(Ok(part)), offset), (c("(12):(1024)"), Int::known(133)));
    // Where a value decides, the symbol is named.
    assert_eq!(cute::equivalent(&a.view(), &known.view()), Err(Error::NeedsValue { sym }));
    let flat = IntTuple::leaf(2048).unwrap();
    assert!(cute::crd2idx(flat.view(), &a.view()).is_ok(), "the last leaf is unbounded");
}

/// A tree of tiles from layouts in the order of the tree; `(` and `)` open and close.
fn tiles(text: &str) -> cute::TileTree {
    let mut out = cute::TileTree::new();
    for word in text.split(' ') {
        match word {
            "(" => out.open().unwrap(),
            ")" => out.close().unwrap(),
            tile => out.push(&c(tile).view()).unwrap(),
        }
    }
    out
}

#[test]
fn a_tree_of_tiles_is_the_same_by_hand() {
    type Op = fn(&LayoutRef<'_>, &Tiler<'_>) -> crate::Result<Layout>;
    let ops: [Op; 9] = [
        cute::composition,
        cute::logical_divide,
        cute::zipped_divide,
        cute::tiled_divide,
        cute::flat_divide,
        cute::logical_product,
        cute::zipped_product,
        cute::tiled_product,
        cute::flat_product,
    ];
    let a = c("(8,(4,6)):(1,(8,32))");
    let shape = crate::notation::cute::parse_tuple("(4,(2,3))", &mut crate::NoSyms).unwrap();
    let same = tiles("( 4:1 ( 2:1 3:1 ) )");
    let (flat, two) = (tiles("( 4:2 (4,3):(1,8) )"), [c("4:2"), c("(4,3):(1,8)")]);
    let two: Vec<_> = two.iter().map(Layout::view).collect();
    for op in ops {
        // Extents are the layouts that they stand for, and one level is the tiler by mode.
        let by_shape = op(&a.view(), &Tiler::Shape(shape.view())).unwrap();
        assert_eq!(op(&a.view(), &Tiler::Tree(&same)).unwrap(), by_shape);
        assert_eq!(op(&a.view(), &Tiler::Tree(&flat)), op(&a.view(), &Tiler::Modes(&two)));
    }
    // Sub-modes one by one.
    let nested = tiles("( 2:4 ( 2:2 3:2 ) )");
    let made = cute::composition(&a.view(), &Tiler::Tree(&nested)).unwrap();
    let part = |mode: &str, tile: &str| show(&compose(&c(mode).view(), &c(tile).view()).unwrap());
    let parts = [part("8:1", "2:4"), part("4:8", "2:2"), part("6:32", "3:2")];
    assert_eq!(parts, ["2:4", "2:16", "3:64"]);
    assert_eq!(show(&made), "(2,(2,3)):(4,(16,64))");
    // A tuple more than there are modes, and one where a leaf is.
    for wrong in ["( 2:1 2:1 2:1 )", "( ( 2:1 ) 2:1 )", "( 2:1 ( 2:1 2:1 2:1 ) )"] {
        let found = cute::logical_divide(&a.view(), &Tiler::Tree(&tiles(wrong)));
        assert!(matches!(found, Err(Error::NotCongruent { .. })), "{wrong}: {found:?}");
    }
    assert_eq!(nested.tile(1).map(|l| show(&l.to_owned().unwrap())).as_deref(), Some("2:2"));
    assert_eq!((nested.tile(3), nested.guide().len()), (None, 7));
    let mut text = std::string::String::new();
    let printed =
        crate::notation::cute::print_tiles(&flat, &crate::WellKnown, &crate::NoSyms, &mut text);
    assert_eq!((printed, text.as_str()), (Ok(()), "(4:2,(4,3):(1,8))"));
    let swizzled = cute::TileTree::new().push(&c("S<1,0,1> o 0 o 4:1").view());
    assert_eq!(swizzled, Err(Error::HasPostMap));
}

#[test]
fn interning() {
    let mut records = [Record::EMPTY; 8];
    let mut iters = [Iter::new(1, 0, AxisId::M); 12];
    let (mut tokens, mut offsets) = ([0u8; 40], [Offset::new(0, AxisId::M); 4]);
    let mut arena = Arena::new(&mut records, &mut iters, &mut tokens, &mut offsets);
    assert!(arena.is_empty());
    let texts = ["(2,4):(1,2)", "8:1", "(8):(1)", "S<1,4,3> o 16 o 8:1", "2:1@0"];
    let ids: Vec<_> = texts.iter().map(|t| arena.intern(&c(t).view()).unwrap()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), texts.len());
    for (t, id) in texts.iter().zip(&ids) {
        assert_eq!(arena.intern(&c(t).view()), Ok(*id));
        assert_eq!(arena.get(*id).unwrap().to_owned(), Ok(c(t)));
    }
    assert_eq!(arena.len(), 5);
    // Full, by iters: an error, and what is there stays.
    let wide = c("(2,2,2,2,2,2,2):(1,2,4,8,16,32,64)");
    assert!(matches!(arena.intern(&wide.view()), Err(Error::Capacity { .. })));
    assert_eq!(arena.intern(&c("8:1").view()), Ok(ids[1]));
    let candidate = |t: &str, arena: &mut Arena<'_>| {
        crate::cute::candidate::LayoutCandidate::new(&c(t).view(), arena)
    };
    let (a, b) = (candidate("(2,4):(1,2)", &mut arena), candidate("8:1", &mut arena));
    let (mut a, b) = (a.unwrap(), b.unwrap());
    assert!(a.normal == b.normal && a.written != b.written);
    a.retain().unwrap();
    assert!(!a.release());
    assert_eq!(candidate("2:1/2@0", &mut arena), Err(Error::NotIntegral { num: 1, den: 2 }));
    let mut none = Arena::new(&mut [], &mut [], &mut [], &mut []);
    assert!(none.intern(&c("8:1").view()).is_err());
}
