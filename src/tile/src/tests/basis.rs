//! That the places meet in no bank where two sides take as much at once, on every way that the
//! machines group lanes; and how near they are to the best of many others where they do not.

use super::{HalfAccess, PlaceBasis, construct, masks};
use crate::copy_atom::CopyAtom;
use crate::evaluate::{EndMap, TargetInfo};
use crate::map::{Fragment, SharedLayout, Subspace, TileShape};
use crate::noise::Noise;
use lanebook::TABLES;
use lanebook_tables::{Capability, Space, TupleStyle};
use std::vec::Vec;

/// A distribution whose first register bits are those given.
fn fragment(noise: &mut Noise, shape: TileShape, front: &[u32], wave: u8) -> Fragment {
    let mut rest = noise.shuffled(shape.total());
    rest.retain(|e| !front.contains(e));
    let mut out = Fragment::new(shape);
    for (k, &e) in front.iter().chain(&rest).enumerate() {
        let registers = usize::from(shape.total() - wave - 2);
        assert!(if k < registers {
            out.register.push(e)
        } else if k < registers + usize::from(wave) {
            out.lane.push(e)
        } else {
            out.warp.push(e)
        });
    }
    out
}

struct Machine {
    target: TargetInfo<'static>,
    wave: u8,
}

impl Machine {
    fn new(name: &str) -> Self {
        let arch = TABLES.arch_named(name).and_then(|id| TABLES.arch(id)).expect("there");
        let isa = TABLES.isa(arch.isa).expect("its instruction set");
        let wave = arch.wave_lanes[0].ilog2() as u8;
        let target = TargetInfo { tables: &TABLES, arch, isa, wave, warps: 2, as_held: true };
        Self { target, wave }
    }

    fn atom(&self, name: &str, (from, to): (Space, Space)) -> CopyAtom {
        let all = self.target.arch.dispatch(Capability::Transfer { from, to });
        let named = all.iter().find(|id| TABLES.atom(**id).is_some_and(|a| a.name() == name));
        let id = *named.unwrap_or_else(|| panic!("no {name}"));
        CopyAtom::of(id, TABLES.atom(id).expect("it")).expect("a copy atom")
    }

    fn half<'a>(&'a self, copy_atom: &'a CopyAtom, fragment: &'a Fragment) -> HalfAccess<'a> {
        let movement = TABLES.atom(copy_atom.atom).and_then(|a| a.movement).expect("it moves");
        let side = if movement.to.space == Space::Shared { &movement.to } else { &movement.from };
        let banks = self.target.arch.banks.iter().find(|m| m.name == side.banks);
        HalfAccess { copy_atom, fragment, banks }
    }

    fn places(
        &self,
        (store, load): (&CopyAtom, &CopyAtom),
        from: &Fragment,
        to: &Fragment,
    ) -> Option<PlaceBasis> {
        let any = self.target.isa.tuples == TupleStyle::Braces;
        construct(&self.half(store, from), &self.half(load, to), false, any)
    }

    /// Passes of both halves and the fewest for their widths; `None` where one is no movement.
    fn passes(
        &self,
        (store, load): (&CopyAtom, &CopyAtom),
        from: &Fragment,
        to: &Fragment,
        basis: &PlaceBasis,
    ) -> Option<(u32, u32)> {
        let map = SharedLayout::BY_ROWS.map(from.shape).expect("a map");
        let memory = EndMap::Shared(&map, 16);
        let (from, to) = (basis.apply(from), basis.apply(to));
        let store = self.target.evaluate(store, EndMap::Registers(&from), memory, u32::MAX).ok()?;
        let load = self.target.evaluate(load, memory, EndMap::Registers(&to), u32::MAX).ok()?;
        let all = |f: fn(&crate::map::Conflicts) -> u32| {
            store.figures.count * f(&store.figures.conflicts)
                + load.figures.count * f(&load.figures.conflicts)
        };
        Some((all(|c| c.transactions), all(|c| c.least)))
    }
}

const STORE: (Space, Space) = (Space::Register, Space::Shared);
const LOAD: (Space, Space) = (Space::Shared, Space::Register);

/// What both sides take at once is the same: no conflict is left, whatever the lanes are.
#[test]
fn equal_widths_meet_in_no_bank() {
    let mut noise = Noise(3);
    let mut seen = 0;
    for (name, store, load, vector) in [
        ("sm_80", "st.shared.v4.b32", "ld.shared.v4.b32", 2),
        ("sm_80", "st.shared.v2.b32", "ld.shared.v2.b32", 1),
        ("sm_80", "st.shared.b32", "ld.shared.b32", 0),
        ("gfx942", "ds_write_b128", "ds_read_b128", 2),
        ("gfx942", "ds_write_b64", "ds_read_b64", 1),
        ("gfx950", "ds_write_b64", "ds_read_b64", 1),
    ] {
        let machine = Machine::new(name);
        let (store, load) = (machine.atom(store, STORE), machine.atom(load, LOAD));
        let shape = TileShape::new(64, 64, 32).expect("a shape");
        for _ in 0..60 {
            let mut front = noise.shuffled(shape.total());
            front.truncate(vector);
            let from = fragment(&mut noise, shape, &front, machine.wave);
            let to = fragment(&mut noise, shape, &front, machine.wave);
            let basis = machine.places((&store, &load), &from, &to).expect("places");
            let (passes, least) =
                machine.passes((&store, &load), &from, &to, &basis).expect("a movement");
            assert_eq!(passes, least, "{name}\n{from:?}\n{to:?}\n{basis:?}");
            seen += 1;
        }
    }
    assert_eq!(seen, 360);
}

/// Where one side takes more at once than the other, no order of the elements' bits that is tried
/// has fewer passes, and rarely so few.
#[test]
fn unequal_widths_are_as_good_as_the_best_order() {
    let mut noise = Noise(5);
    let machine = Machine::new("sm_80");
    let store = machine.atom("st.shared.v4.b32", STORE);
    let load = machine.atom("ld.shared.b32", LOAD);
    let shape = TileShape::new(32, 32, 32).expect("a shape");
    let (mut tried, mut free) = (0, 0);
    for _ in 0..20 {
        let from = fragment(&mut noise, shape, &[], machine.wave);
        let to = fragment(&mut noise, shape, &[], machine.wave);
        let basis = machine.places((&store, &load), &from, &to).expect("places");
        let (passes, least) =
            machine.passes((&store, &load), &from, &to, &basis).expect("a movement");
        free += u32::from(passes == least);
        for _ in 0..400 {
            // The vector stays; the other bits come in any order.
            let vector: Vec<u32> =
                (0..shape.total()).map(|k| 1 << k).filter(|e: &u32| basis.at(*e) < 4).collect();
            let mut order = noise.shuffled(shape.total());
            order.retain(|e| !vector.contains(e));
            let mut other = basis;
            for (k, e) in order.iter().enumerate() {
                let bit = e.trailing_zeros() as usize;
                other.places.as_mut_slice()[bit] = 4 << k;
            }
            if let Some((others, _)) = machine.passes((&store, &load), &from, &to, &other) {
                tried += 1;
                assert!(passes <= others, "{passes} > {others}\n{from:?}\n{to:?}\n{basis:?}");
            }
        }
    }
    assert!(tried > 4000 && free > 10, "{tried} others tried, {free} without conflicts");
}

/// Every place is one element's.
#[test]
fn places_are_all_different() {
    let mut noise = Noise(7);
    let machine = Machine::new("gfx950");
    let (store, load) = (machine.atom("ds_write_b64", STORE), machine.atom("ds_read_b32", LOAD));
    let shape = TileShape::new(32, 32, 32).expect("a shape");
    for _ in 0..20 {
        let from = fragment(&mut noise, shape, &[1], machine.wave);
        let to = fragment(&mut noise, shape, &[1], machine.wave);
        let basis = machine.places((&store, &load), &from, &to).expect("places");
        let mut all: Vec<u32> = (0..1 << shape.total()).map(|e| basis.at(e)).collect();
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..1 << shape.total()), "{basis:?}");
    }
}

/// Numbers with so many bits come from the highest down, each once.
#[test]
fn numbers_with_so_many_bits_descend() {
    for count in 0..=10u32 {
        for ones in 0..=count {
            let all: Vec<u32> =
                (0..1u32 << count).rev().filter(|mask| mask.count_ones() == ones).collect();
            assert_eq!(masks(count, ones).collect::<Vec<_>>(), all, "{ones} of {count}");
        }
    }
}

/// A subspace holds the sums of what was put in, and says of each as the sum of what, whatever the
/// order of the vectors.
#[test]
fn a_subspace_names_the_sums_of_its_vectors() {
    let mut noise = Noise(11);
    let (mut inside, mut refused) = (0, 0);
    for _ in 0..200 {
        let (mut space, mut given): (Subspace, Vec<u32>) = (Subspace::new(), Vec::new());
        let mut sums = std::vec![0u32];
        for _ in 0..8 {
            let vector = noise.below(1 << 20) as u32 & [0x1f, 0xf_ffff][noise.below(2)];
            let is_new = !sums.contains(&vector);
            assert_eq!(space.insert(vector, 1 << given.len()), is_new, "{vector:x} in {given:x?}");
            if is_new {
                sums.extend(sums.clone().iter().map(|sum| sum ^ vector));
                given.push(vector);
            } else {
                refused += 1;
            }
        }
        assert_eq!(usize::from(space.rank()), given.len());
        for _ in 0..64 {
            let vector = if noise.below(2) == 0 {
                sums[noise.below(sums.len())]
            } else {
                noise.below(1 << 20) as u32
            };
            let names = space.names(vector);
            assert_eq!(names.is_some(), sums.contains(&vector));
            assert_eq!(space.contains(vector), names.is_some());
            if let Some(names) = names {
                let named = (0..given.len()).filter(|k| names >> k & 1 == 1);
                assert_eq!(named.fold(0, |sum, k| sum ^ given[k]), vector);
                inside += 1;
            }
        }
    }
    assert!(inside > 4000 && refused > 50, "{inside} inside, {refused} refused");
    // A number that is no element's has no room.
    assert!(!Subspace::new().insert(1 << 20, 1));
}
