//! Where a box of a tiled copy begins in its row, and where a row ends within it: a corner or a bound
//! of which too little is certain is no reason to go wrong. An H100 answers a box that begins
//! elsewhere with an illegal instruction, and an H200 writes sixteen bytes at once, also behind a
//! bound; so does the replay, and the checker knows it before.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, MapFault, Violation};
use lanebook::ir::{LargeStorage, Options, parse};
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::maps::text_and_maps;
use lanebook_kernels::{kernel_text, try_kernel_text, try_with_plan};

/// A tile from a corner to a corner by way of shared memory; elements of so many bytes.
fn program((dtype, div, mover): (&str, u32, &str), at: &str) -> String {
    format!(
        "func @f(%A: memref<?x?x{dtype}, #gmem> {{align = 16, stride_div = 16}}, %B: memref<?x?x{dtype}, #gmem> {{align = 16, stride_div = 16}}, %n: index {{div = {div}}}) {{threads = 64}} {{
  %s = alloc_tensor : tensor<32x64x{dtype}, #smem>
  copy %A[0, {at}], %s{mover} : memref<?x?x{dtype}, #gmem> -> tensor<32x64x{dtype}, #smem>
  %a = tiled_load %s : tensor<32x64x{dtype}, #smem> -> tensor<32x64x{dtype}>
  tiled_store %a, %B[0, 0] : tensor<32x64x{dtype}> -> memref<?x?x{dtype}, #gmem>
}}
"
    )
}

const TYPES: [(&str, u32); 3] = [("f32", 4), ("f16", 2), ("i8", 1)];

#[test]
fn a_box_begins_at_sixteen_bytes() {
    let mut boxes = 0;
    for (dtype, bytes) in TYPES {
        for div in [1, 2, 4, 8, 16, 32] {
            for arch in ["sm_90a", "sm_100a", "sm_120a"] {
                let program = program((dtype, div, ""), "%n");
                let (text, maps) = text_and_maps(&program, arch);
                let is_boxed = text.contains("cp.async.bulk.tensor");
                boxes += usize::from(is_boxed);
                let may = bytes * div % 16 == 0;
                assert!(may || !is_boxed, "{dtype} {div} {arch}\n{text}");
                for salt in 0..3 {
                    let given = Given { turns: 2, salt, fill: Some(Fill::Small) };
                    let said = Interpreted::with(&program, given).expect("a program");
                    run_text(&said, &text, &maps, arch)
                        .unwrap_or_else(|e| panic!("{dtype} {div} {arch}: {e}\n{text}"));
                }
            }
        }
    }
    assert!(boxes > 20, "{boxes} kernels copy boxes");
}

/// The mover that is written is refused where it cannot, and says why.
#[test]
fn a_written_mover_says_what_is_missing() {
    let mover = " {mover = \"tma.2d.load.one\"}";
    let why = try_kernel_text(&program(("f16", 4, mover), "%n"), "sm_90a").expect_err("a corner");
    assert!(
        why.contains("Corner") && why.contains("found: 8") && why.contains("needed: 16"),
        "{why}"
    );
    let text = kernel_text(&program(("f16", 8, mover), "%n"), "sm_90a");
    assert!(text.contains("cp.async.bulk.tensor"), "{text}");
}

/// What the checker says of a program's plan, held against another program.
fn of_another(own: &str, other: &str) -> Result<(), Violation> {
    let said = try_with_plan(own, "sm_90a", |program, compiled, _| {
        assert!(!compiled.plan.maps.is_empty(), "no map");
        check::plan(&TABLES, program, &compiled.plan).expect("a plan");
        let mut pools = Box::new(LargeStorage::new());
        let other = parse(pools.pools(), &TABLES, other, Options::default()).expect("text");
        check::plan(&TABLES, &other, &compiled.plan).map(|_| ())
    });
    said.expect("a kernel")
}

/// The checker has its own account of it: a plan for a corner that is certain, held against a
/// program whose corner is not.
#[test]
fn the_checker_knows_the_corner() {
    let certain = program(("f16", 8, ""), "%n");
    // The same, but for what is promised.
    let uncertain = program(("f16", 4, ""), "%n");
    let caught = of_another(&certain, &uncertain);
    assert!(
        matches!(caught, Err(Violation::Map { what: MapFault::Corner, want: 16, .. })),
        "{caught:?}"
    );
}

/// A copy of a matrix with bounds, to another one, by way of shared memory.
fn bounded(dtype: &str, bound: &str, number: &str) -> String {
    format!(
        "func @f(%A: memref<?x?x{dtype}, #gmem> {{align = 16, stride_div = 16, bounds = (%M, {bound})}}, %B: memref<?x?x{dtype}, #gmem> {{align = 16, stride_div = 16, bounds = (%M, {bound})}}, %M: index, %N: index{number}) {{threads = 128, grid = (cdiv(%N, 64), cdiv(%M, 32))}} {{
  %s = alloc_tensor : tensor<32x64x{dtype}, #smem>
  %x = block_id x : index
  %y = block_id y : index
  %m = index.mul %y, 32 : index
  %n = index.mul %x, 64 : index
  copy %A[%m, %n], %s : memref<?x?x{dtype}, #gmem> -> tensor<32x64x{dtype}, #smem>
  copy %s, %B[%m, %n] : tensor<32x64x{dtype}, #smem> -> memref<?x?x{dtype}, #gmem>
}}
"
    )
}

#[test]
fn a_row_that_is_stored_ends_at_sixteen_bytes() {
    let (mut stored, mut loaded) = (0, 0);
    for (dtype, bytes) in TYPES {
        for (bound, number, divisor) in [
            ("%N", String::new(), 1),
            ("%N", " {div = 4}".into(), 4),
            ("%N", " {div = 8}".into(), 8),
            ("%N", " {div = 16}".into(), 16),
            ("100", " {div = 4}".into(), 4),
            ("112", " {div = 16}".into(), 16),
        ] {
            let program = bounded(dtype, bound, &number);
            for arch in ["sm_90a", "sm_100a", "sm_120a"] {
                let (text, maps) = text_and_maps(&program, arch);
                let may = bytes * divisor % 16 == 0;
                let is_stored = text.contains("cp.async.bulk.tensor.2d.global");
                assert!(may || !is_stored, "{dtype} {bound}{number} {arch}\n{text}");
                stored += usize::from(is_stored);
                loaded += usize::from(text.contains("cp.async.bulk.tensor.2d.shared"));
                for salt in 0..2 {
                    let given = Given { turns: 2, salt, fill: Some(Fill::Small) };
                    let said = Interpreted::with(&program, given).expect("a program");
                    run_text(&said, &text, &maps, arch)
                        .unwrap_or_else(|e| panic!("{dtype} {bound} {arch}: {e}\n{text}"));
                }
            }
        }
    }
    assert!(stored > 15 && loaded > stored, "{stored} and {loaded} kernels copy boxes");
}

/// The checker has its own account of it: a plan for a bound that divides by eight, held against a
/// program whose bound need not.
#[test]
fn the_checker_knows_the_edge() {
    let certain = bounded("f16", "%N", " {div = 8}");
    let uncertain = bounded("f16", "%N", " {div = 4}");
    let caught = of_another(&certain, &uncertain);
    assert!(
        matches!(caught, Err(Violation::Map { what: MapFault::Edge, found: 8, want: 16, .. })),
        "{caught:?}"
    );
}
