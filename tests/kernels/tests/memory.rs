//! Shared memory as a limit: programs whose tiles fit only without their padding, or over each
//! other's bytes, are compiled, multiply right, and each fault in it is caught.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::compile::plan;
use lanebook::ir::{Options, Program, SmallStorage, parse, verify};
use lanebook::plan::{Candidate, Plan, Reject};
use lanebook_kernels::programs::{Shape, chained, chained_wrong, stored, stored_wrong};
use lanebook_kernels::{Assembler, room, try_kernel_text, with_kernel};

/// Machines, with a tile of which 64 or 96 KiB are nearly all there is.
const FULL: [(&str, Shape); 6] = [
    ("gfx908", (128, 128, 16, 256)),
    ("gfx942", (64, 256, 16, 256)),
    ("gfx1100", (128, 128, 16, 256)),
    ("gfx1200", (256, 64, 16, 256)),
    ("sm_89", (128, 128, 16, 256)),
    ("sm_89", (192, 128, 16, 256)),
];

fn with_plan<R>(text: &str, arch: &str, f: impl FnOnce(&Program<'_, '_>, &mut Plan<'_>) -> R) -> R {
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, text, Options::default()).expect("parses");
    verify(&mut program).expect("verifies");
    let mut room = room();
    let id = TABLES.arch_named(arch).expect("an architecture");
    let mut planned =
        plan(&TABLES, id, &mut program, room.scratch()).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    f(&program, &mut planned.plan)
}

fn checked(source: &str, arch: &str) {
    with_kernel(source, arch, |program, compiled, text| {
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{arch}: {v:?}"));
        check::order(&TABLES, program, compiled)
            .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
    });
}

/// A tile that fills the memory does without padding, and says so.
#[test]
fn a_tile_as_large_as_the_memory() {
    let mut without = 0;
    for (arch, shape) in FULL {
        let source = stored(shape);
        let text =
            try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {shape:?}: {e}"));
        Assembler::of(arch)
            .assemble(&text, arch)
            .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
        checked(&source, arch);
        assert_eq!(stored_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
        without += with_plan(&source, arch, |_, plan| {
            let room = TABLES.arch(plan.arch).expect("a machine").shared.max_bytes;
            assert!(plan.shared_bytes <= room, "{arch}");
            plan.rejected.iter().filter(|l| matches!((l.what, l.why), (Candidate::Shared(_), Reject::Room { bytes, most }) if bytes > most)).count()
        });
    }
    assert!(without > 0, "no tile lost a layout to the others");
}

/// Machines and chains whose tiles fit only where a conversion has the bytes of a tile that its
/// turn no longer needs.
const CHAINS: [(&str, Shape); 4] = [
    ("sm_89", (32, 192, 128, 64)),
    ("sm_120a", (64, 192, 128, 128)),
    ("gfx942", (64, 128, 128, 256)),
    ("gfx1200", (64, 128, 128, 256)),
];

#[test]
fn scratch_over_tiles_of_the_same_turn() {
    let mut shared = 0;
    for (arch, shape) in CHAINS {
        let source = chained(shape);
        let text =
            try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {shape:?}: {e}"));
        Assembler::of(arch)
            .assemble(&text, arch)
            .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
        checked(&source, arch);
        assert_eq!(chained_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
        shared += with_plan(&source, arch, |program, plan| {
            let over = |k: usize, j: usize| {
                let (a, b) = (plan.allocs[k], plan.allocs[j]);
                a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes
            };
            let scratch: Vec<usize> = plan.exchanges.iter().map(|e| usize::from(e.alloc)).collect();
            let found: Vec<usize> =
                scratch.iter().copied().filter(|k| (1..3).any(|j| over(*k, j))).collect();
            // Over the tile that comes behind it is refused.
            for &k in &found {
                let old = plan.allocs[k].offset;
                plan.allocs[k].offset = plan.allocs[2].offset;
                let v = check::plan(&TABLES, program, plan)
                    .expect_err("the second product's tile is gone");
                assert!(
                    matches!(
                        v,
                        Violation::Overlap { .. }
                            | Violation::Segment { .. }
                            | Violation::Base { .. }
                    ),
                    "{v:?}"
                );
                plan.allocs[k].offset = old;
            }
            found.len()
        });
    }
    assert!(shared > 0, "no conversion shares a tile's bytes");
}

/// Sums and factors of two products that do not fit into tensor memory as each of them would have
/// them alone.
#[test]
fn products_that_share_tensor_memory() {
    let (arch, shape) = ("sm_100a", (128, 128, 128, 256));
    let source = chained(shape);
    let text = try_kernel_text(&source, arch).unwrap_or_else(|e| panic!("{arch} {shape:?}: {e}"));
    Assembler::of(arch)
        .assemble(&text, arch)
        .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
    checked(&source, arch);
    assert_eq!(chained_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
    with_plan(&source, arch, |_, plan| {
        let given_up = |why: Reject| matches!(why, Reject::Columns { need, have } if need > have && need <= 512);
        assert!(
            plan.products.iter().filter(|p| p.tensor.is_some()).count() == 2
                && plan.rejected.iter().any(|l| given_up(l.why)),
            "{arch}"
        );
    });
}
