//! Which matrix instruction: by its cycles, by the registers that it needs and by the movements
//! that its operands ask for; and no other would be cheaper.
#![allow(missing_docs)]

use lanebook::compile::{CompileStorage, compile};
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook::plan::{Candidate, Reject};
use lanebook::tables::{Arch, ArchAtom, AtomId, DtypeKind, Tables};
use lanebook::{TABLES, check};
use lanebook_kernels::checked::every_kernel_by;
use lanebook_kernels::{Assembler, example};

/// What a compilation decided.
struct Decided {
    atom: String,
    /// The whole cost by the terms of rules/cost.ron, counted here from the plan.
    total: u64,
    /// Of it, what the matrix unit takes.
    unit: u64,
    rejected: Vec<(Candidate, Reject, u32)>,
    text: String,
}

fn decide(tables: &Tables<'_>, source: &str, arch: &str) -> Option<Decided> {
    let id = tables.arch_named(arch).expect("an architecture");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), tables, source, Options::default())
        .unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    let mut room = Box::new(<CompileStorage<2048, 768, 1024, 1024>>::new());
    let compiled = compile(tables, id, &mut program, room.scratch()).ok()?;
    every_kernel_by(tables, &program, &compiled, source, arch);
    let plan = &compiled.plan;
    check::plan(tables, &program, plan).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    let product = &plan.products.first().expect("a product").product;
    let w = &tables.weights;
    // All of these programs: everything but the last store stands in one loop.
    let trips = u64::from(w.loop_trips);
    let moves: u64 = plan
        .transfers
        .iter()
        .map(|m| {
            u64::from(m.figures.cost)
                * if m.op == plan.transfers.last().expect("a store").op { 1 } else { trips }
        })
        .sum();
    let padding: u64 = plan
        .allocs
        .iter()
        .map(|a| (u64::from(a.bytes) - a.shape.bytes()) * u64::from(w.pad_kib) / 1024)
        .sum();
    let unit = u64::from(product.count())
        * (u64::from(product.cycles) * u64::from(w.matrix_cycle) + u64::from(w.instruction))
        * trips;
    let held: u64 =
        product.in_registers().map(|f| u64::from(f.registers()) * u64::from(w.register)).sum();
    let rejected = plan
        .rejected
        .iter()
        .filter(|l| matches!(l.what, Candidate::Matrix(..) | Candidate::Transposed(..)))
        .map(|l| (l.what, l.why, l.cost))
        .collect();
    let atom = tables.atom(product.atom).expect("an atom").name().to_string();
    let mut text = String::new();
    compiled.write(tables, &program, &mut text).ok()?;
    Some(Decided { atom, total: moves + padding + unit + held, unit, rejected, text })
}

/// A product of (m x k) and (k x n) in f16, four or fewer warps.
fn gemm((m, n, k): (u32, u32, u32), threads: u32) -> String {
    let text = example("gemm.tile")
        .replace("128x128", &format!("{m}x{n}"))
        .replace("128x64", &format!("{m}x{k}"))
        .replace("64x128", &format!("{k}x{n}"));
    text.replace(
        "%m: index {div = 128}, %n: index {div = 128}",
        &format!("%m: index {{div = {m}}}, %n: index {{div = {n}}}"),
    )
    .replace("step 64", &format!("step {k}"))
    .replace("threads = 128", &format!("threads = {threads}"))
}

/// Every matrix instruction of f16 that the architecture has, alone among its kind.
fn alone(arch: &str) -> Vec<AtomId> {
    let tables = &TABLES;
    let f16 = tables
        .dtypes
        .iter()
        .position(|d| d.name == "f16" && d.kind == DtypeKind::Float)
        .expect("f16");
    let have = tables.archs.iter().find(|a| a.name == arch).expect("an architecture");
    let takes = |a: &&ArchAtom| {
        let Some(atom) = tables.atom(a.atom) else { return false };
        let Some(shape) = atom.matrix else { return false };
        a.native
            && atom
                .operands
                .get(usize::from(shape.a))
                .and_then(|o| o.dtype)
                .is_some_and(|d| d.index() == f16)
    };
    have.atoms.iter().filter(takes).map(|a| a.atom).collect()
}

/// The whole choice made again for every matrix instruction by itself: the pick is the cheapest of
/// them.
fn exhaustive(source: &str, arch: &str) -> (Decided, Vec<(String, u64, u64)>) {
    let free = decide(&TABLES, source, arch).expect("a kernel");
    let all = alone(arch);
    let mut others = Vec::new();
    for only in &all {
        let own = TABLES.archs.iter().find(|a| a.name == arch).expect("an architecture");
        let atoms: Vec<ArchAtom> = own
            .atoms
            .iter()
            .filter(|a| a.atom == *only || !all.contains(&a.atom))
            .copied()
            .collect();
        let archs: Vec<Arch<'_>> = TABLES
            .archs
            .iter()
            .map(|a| if a.name == arch { Arch { atoms: &atoms, ..*a } } else { *a })
            .collect();
        if let Some(decided) = decide(&Tables { archs: &archs, ..TABLES }, source, arch) {
            others.push((decided.atom, decided.total, decided.unit));
        }
    }
    (free, others)
}

#[test]
fn the_shape_of_the_tile_decides_and_nothing_is_cheaper() {
    // Tile, threads, what is taken.
    let cases = [
        ("gfx942", (128, 128, 64), 128, "32x32x8"),
        ("gfx942", (16, 64, 64), 64, "16x16x16"),
        ("gfx942", (64, 16, 32), 64, "16x16x16"),
        ("gfx950", (128, 128, 64), 128, "32x32x16"),
        ("gfx950", (16, 64, 64), 64, "16x16x32"),
        ("gfx950", (16, 64, 16), 64, "16x16x16"),
    ];
    for (arch, tile, threads, wanted) in cases {
        let source = gemm(tile, threads);
        let (free, others) = exhaustive(&source, arch);
        println!("{arch} {tile:?}: {} {} of {others:?}", free.atom, free.total);
        assert!(free.atom.contains(wanted), "{arch} {tile:?}: {}", free.atom);
        assert!(others.iter().any(|(name, ..)| *name == free.atom), "{arch} {tile:?}");
        let least = others.iter().map(|(_, total, _)| *total).min().expect("a candidate");
        assert_eq!(free.total, least, "{arch} {tile:?}: {others:?}");
        // What lost says what it would have cost, and no loser claims less than the pick costs.
        let dearer: Vec<u64> = free
            .rejected
            .iter()
            .filter(|(_, why, _)| *why == Reject::Dearer)
            .map(|(.., cost)| u64::from(*cost))
            .collect();
        assert!(
            dearer.iter().all(|cost| *cost >= free.total),
            "{arch} {tile:?}: {} {dearer:?}",
            free.total
        );
        assert!(free.unit > 0 && free.unit < free.total);
        Assembler::of(arch)
            .assemble(&free.text, arch)
            .unwrap_or_else(|said| panic!("{arch} {tile:?}: {said}"));
    }
}
