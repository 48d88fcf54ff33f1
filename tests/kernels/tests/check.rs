//! The independent checker on compiled kernels: sound ones pass, and a step taken out or moved is
//! noticed.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::check::{self, Violation};
use lanebook::emit::step::{Inst, InstKind};
use lanebook_kernels::{example, with_kernel};

const ARCHS: [&str; 2] = ["sm_80", "gfx950"];

#[test]
fn examples_pass() {
    for name in ["gemm.tile", "transpose.tile"] {
        for arch in ARCHS {
            with_kernel(&example(name), arch, |program, compiled, _| {
                let plan = check::plan(&TABLES, program, &compiled.plan)
                    .unwrap_or_else(|v| panic!("{name} {arch}: {v:?}"));
                assert!(plan.bytes > 0);
                let order = check::order(&TABLES, program, compiled)
                    .unwrap_or_else(|v| panic!("{name} {arch}: {v:?}"));
                assert_eq!(order.meets, if name == "gemm.tile" { 2 } else { 0 });
                assert!(order.accesses > 0, "{name} {arch}: {order:?}");
            });
        }
    }
}

/// Takes out each synchronisation step in turn; those that the table's rules name must be missed by
/// someone.
#[test]
fn a_missing_step() {
    for name in ["gemm.tile", "transpose.tile"] {
        for arch in ARCHS {
            with_kernel(&example(name), arch, |program, compiled, text| {
                let steps: Vec<Inst> = compiled.steps.to_vec();
                let machine = TABLES.arch(compiled.plan.arch).expect("an architecture");
                let barrier = |s: &Inst| {
                    machine.sync.iter().flat_map(|r| r.steps).any(|w| w.barrier && w.atom == s.atom)
                };
                let (mut barriers, mut noticed) = (0, 0);
                for k in 0..steps.len() {
                    if steps[k].purpose != InstKind::Sync {
                        continue;
                    }
                    let mut without = steps.clone();
                    let _ = without.remove(k);
                    let found = check::order_of(&TABLES, program, &compiled.plan, &without);
                    if barrier(&steps[k]) {
                        barriers += 1;
                        assert!(
                            matches!(found, Err(Violation::Race { .. })),
                            "{name} {arch}: step {k} {found:?}\n{text}"
                        );
                    }
                    noticed += u32::from(matches!(found, Err(Violation::Race { .. })));
                }
                assert!(
                    barriers > 0 && noticed > barriers,
                    "{name} {arch}: {noticed} noticed, {barriers} of them barriers"
                );
            });
        }
    }
}

/// A wait before its producer waits for nothing.
#[test]
fn a_wait_before_its_producer() {
    for arch in ARCHS {
        with_kernel(&example("gemm.tile"), arch, |program, compiled, _| {
            let steps: Vec<Inst> = compiled.steps.to_vec();
            let machine = TABLES.arch(compiled.plan.arch).expect("an architecture");
            let waits: Vec<_> = machine.counters.iter().map(|c| c.wait).collect();
            let of = |k: usize| compiled.plan.transfers[k].op.index();
            let last_copy = steps
                .iter()
                .rposition(|s| s.purpose == InstKind::Move && usize::from(s.origin) == of(1))
                .expect("copies");
            let first_copy = steps
                .iter()
                .position(|s| s.purpose == InstKind::Move && usize::from(s.origin) == of(0))
                .expect("copies");
            // A wait that an earlier one for loaded registers makes redundant may move; the others
            // may not.
            let moved =
                (last_copy..steps.len()).filter(|&k| waits.contains(&steps[k].atom)).map(|wait| {
                    let mut steps = steps.clone();
                    let step = steps.remove(wait);
                    steps.insert(first_copy, step);
                    check::order_of(&TABLES, program, &compiled.plan, &steps)
                });
            assert!(
                moved.into_iter().any(|found| matches!(found, Err(Violation::Race { .. }))),
                "{arch}"
            );
        });
    }
}

/// An instruction left out, and one that belongs to nothing.
#[test]
fn a_missing_instance() {
    for arch in ARCHS {
        with_kernel(&example("gemm.tile"), arch, |program, compiled, _| {
            let mut steps: Vec<Inst> = compiled.steps.to_vec();
            let at = steps.iter().position(|s| s.purpose == InstKind::Move).expect("a movement");
            let _ = steps.remove(at);
            assert!(
                matches!(
                    check::order_of(&TABLES, program, &compiled.plan, &steps),
                    Err(Violation::Count { .. })
                ),
                "{arch}"
            );
        });
    }
}

/// Two tiles one after the other in the same bytes: the second write must wait for the first tile's
/// readers.
#[test]
fn tiles_one_after_the_other() {
    let source = "func @two(%A: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}, %B: memref<?x?xf32, #gmem> {align = 16, stride_div = 4}) {threads = 128} {
  %s = alloc_tensor : tensor<64x64xf32, #smem>
  %q = alloc_tensor : tensor<64x64xf32, #smem>
  copy %A[0, 0], %s : memref<?x?xf32, #gmem> -> tensor<64x64xf32, #smem>
  %t = tiled_load %s : tensor<64x64xf32, #smem> -> tensor<64x64xf32>
  tiled_store %t, %B[0, 0] : tensor<64x64xf32> -> memref<?x?xf32, #gmem>
  copy %A[0, 64], %q : memref<?x?xf32, #gmem> -> tensor<64x64xf32, #smem>
  %u = tiled_load %q : tensor<64x64xf32, #smem> -> tensor<64x64xf32>
  tiled_store %u, %B[0, 64] : tensor<64x64xf32> -> memref<?x?xf32, #gmem>
}";
    for arch in ARCHS {
        with_kernel(source, arch, |program, compiled, text| {
            check::plan(&TABLES, program, &compiled.plan)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}"));
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
        });
    }
}

/// A tensor that a kernel writes and reads: what other threads wrote is met behind the rule's
/// steps, a thread's own elements at once.
#[test]
fn a_tensor_that_is_read_where_it_was_written() {
    let program = |back: &str, more: &str| {
        format!(
            "func @f(%A: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %B: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}) {{threads = 128}} {{
  %s = alloc_tensor : tensor<64x32xf32, #smem>
  %t = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<64x32xf32>
  tiled_store %t, %{back}[0, 0] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>
{more}}}
"
        )
    };
    let through = "  copy %B[0, 0], %s : memref<?x?xf32, #gmem> -> tensor<64x32xf32, #smem>
  %u = tiled_load %s : tensor<64x32xf32, #smem> -> tensor<64x32xf32>
  tiled_store %u, %A[64, 0] : tensor<64x32xf32> -> memref<?x?xf32, #gmem>\n";
    for arch in ["sm_75", "sm_80", "gfx950", "gfx1100"] {
        // In place: no two threads meet.
        with_kernel(&program("A", ""), arch, |program, compiled, text| {
            check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{arch}: {v:?}"));
            assert!(!text.contains("bar"), "{arch}\n{text}");
        });
        // Another part of the tensor, whose rows may be the same, as far as the program says.
        with_kernel(&program("B", through), arch, |program, compiled, text| {
            check::order(&TABLES, program, compiled)
                .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
            let steps: Vec<Inst> = compiled.steps.to_vec();
            let machine = TABLES.arch(compiled.plan.arch).expect("an architecture");
            let barrier = |s: &Inst| {
                s.purpose == InstKind::Sync
                    && machine
                        .sync
                        .iter()
                        .flat_map(|r| r.steps)
                        .any(|w| w.barrier && w.atom == s.atom)
            };
            let first = steps
                .iter()
                .position(barrier)
                .unwrap_or_else(|| panic!("{arch}: a barrier\n{text}"));
            let moves = |from: usize, to: usize| {
                steps[from..to].iter().filter(|s| s.purpose == InstKind::Move).count()
            };
            assert!(moves(0, first) > 0 && moves(first, steps.len()) > 0, "{arch}\n{text}");
            let mut without = steps.clone();
            let _ = without.remove(first);
            assert!(
                matches!(
                    check::order_of(&TABLES, program, &compiled.plan, &without),
                    Err(Violation::Race { .. })
                ),
                "{arch}\n{text}"
            );
        });
    }
}
