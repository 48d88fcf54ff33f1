//! Accumulators in tensor memory: sound plans pass; each planted fault is refused for what it is.

use crate::{Violation, plan as check};
use lanebook::TABLES;
use lanebook::compile::{CompileError, CompileStorage, plan};
use lanebook_ir::parse;
use lanebook_ir::verify;
use lanebook_ir::{Options, Program, SmallStorage};
use lanebook_plan::{Plan, PlanError};
use std::boxed::Box;
use std::string::String;

const GEMM: &str = include_str!("../../../../gen/cli/examples/gemm.tile");
const NARROW: &str = include_str!("../../../../gen/cli/examples/gemm_fp8.tile");

fn planned<R>(
    text: &str,
    f: impl FnOnce(&Program<'_, '_>, &mut Plan<'_>) -> R,
) -> Result<R, CompileError> {
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, text, Options::default()).expect("parses");
    verify(&mut program).expect("verifies");
    let mut room: Box<CompileStorage<2048, 768, 1024, 256>> = Box::default();
    let id = TABLES.arch_named("sm_100a").expect("an architecture");
    let mut planned = plan(&TABLES, id, &mut program, room.scratch())?;
    Ok(f(&program, &mut planned.plan))
}

fn broken(text: &str, damage: impl FnOnce(&mut Plan<'_>)) -> Violation {
    planned(text, |program, plan| {
        let sound = check(&TABLES, program, plan).expect("sound before");
        assert_eq!(sound.cells, 128 * 128, "every element is loaded once");
        damage(plan);
        check(&TABLES, program, plan).expect_err("broken")
    })
    .expect("a plan")
}

/// The field of the product's instruction descriptor with this name, as a violation.
fn field_named(plan: &Plan<'_>, name: &str) -> u8 {
    let atom = TABLES.atom(plan.products[0].product.atom).expect("an atom");
    let descriptor = atom.tensor().expect("in tensor memory").descriptor;
    let table =
        TABLES.units.descriptors.iter().find(|d| d.name == descriptor).expect("a descriptor");
    u8::try_from(table.fields.iter().position(|f| f.name == name).expect("a field")).expect("few")
}

#[test]
fn an_instruction_descriptor_that_says_something_else() {
    for text in [GEMM, NARROW] {
        let table = |plan: &Plan<'_>, name: &str| {
            let atom = TABLES.atom(plan.products[0].product.atom).expect("an atom");
            let descriptor = atom.tensor().expect("in tensor memory").descriptor;
            let table = TABLES
                .units
                .descriptors
                .iter()
                .find(|d| d.name == descriptor)
                .expect("a descriptor");
            *table.fields.iter().find(|f| f.name == name).expect("a field")
        };
        for name in ["atype", "btype", "trans_a", "trans_b", "n", "m", "neg_a", "sparse", "dtype"] {
            let mut number = 0;
            let found = broken(text, |plan| {
                number = field_named(plan, name);
                let at = table(plan, name).at;
                plan.products[0].tensor.as_mut().expect("in tensor memory").word ^= 1 << at;
            });
            assert!(
                matches!(found, Violation::Instruction { field, .. } if field == number || field == u8::MAX),
                "{name}: {found:?}"
            );
        }
    }
}

#[test]
fn a_matrix_descriptor_that_says_something_else() {
    // Offsets of both operands, the swizzle mode, the constant.
    for (side, bit) in [(0, 33), (0, 40), (1, 17), (1, 34), (0, 62), (1, 62), (1, 46), (0, 1)] {
        let found = broken(GEMM, |plan| {
            plan.products[0].shared[side].as_mut().expect("in shared memory").word ^= 1 << bit
        });
        assert!(
            matches!(found, Violation::Operand { .. } | Violation::End { .. }),
            "{side} {bit}: {found:?}"
        );
    }
    // Leading and stride offset of B exchanged.
    let found = broken(GEMM, |plan| {
        let word = &mut plan.products[0].shared[1].as_mut().expect("in shared memory").word;
        let (leading, stride) = (*word >> 16 & 0x3fff, *word >> 32 & 0x3fff);
        assert_ne!(leading, stride);
        *word = *word & !(0x3fff << 16 | 0x3fff << 32) | stride << 16 | leading << 32;
    });
    assert!(matches!(found, Violation::Operand { .. }), "{found:?}");
    let found = broken(GEMM, |plan| {
        let given = plan.products[0].shared[1].as_mut().expect("in shared memory");
        given.outer_major = !given.outer_major;
    });
    assert!(
        matches!(
            found,
            Violation::Operand { .. } | Violation::End { .. } | Violation::Instruction { .. }
        ),
        "{found:?}"
    );
}

#[test]
fn loads_of_other_cells() {
    // Two columns exchanged, a row and a column, two warps' lanes.
    let change = |plan: &mut Plan<'_>, change: &dyn Fn(&mut lanebook_tile::map::Fragment)| {
        change(&mut plan.products[0].product.c);
        let whole = plan.products[0].product.c;
        let value = plan.products[0].tensor.expect("in tensor memory").value;
        let others: std::vec::Vec<_> = plan
            .fragments
            .iter()
            .filter(|f| f.fragment.shape == whole.shape)
            .map(|f| f.value)
            .collect();
        assert!(others.contains(&value));
        plan.fragments
            .iter_mut()
            .filter(|f| others.contains(&f.value))
            .for_each(|f| f.fragment = whole);
    };
    let swap = |columns: &mut [u32], i: usize, j: usize| columns.swap(i, j);
    let rebuilt =
        |c: &lanebook_tile::map::Fragment, registers: &[u32], lanes: &[u32], warps: &[u32]| {
            let mut out = lanebook_tile::map::Fragment::new(c.shape);
            registers.iter().for_each(|e| assert!(out.register.push(*e)));
            lanes.iter().for_each(|e| assert!(out.lane.push(*e)));
            warps.iter().for_each(|e| assert!(out.warp.push(*e)));
            out
        };
    let found = broken(GEMM, |plan| {
        change(plan, &|c| {
            let mut r = c.register.as_slice().to_vec();
            swap(&mut r, 0, 1);
            *c = rebuilt(c, &r, c.lane.as_slice(), c.warp.as_slice());
        })
    });
    assert!(matches!(found, Violation::Cell { .. }), "{found:?}");
    let found = broken(GEMM, |plan| {
        change(plan, &|c| {
            let mut l = c.lane.as_slice().to_vec();
            swap(&mut l, 0, 3);
            *c = rebuilt(c, c.register.as_slice(), &l, c.warp.as_slice());
        })
    });
    assert!(matches!(found, Violation::Cell { .. }), "{found:?}");
    // Warps that would have to load each other's lanes.
    let found = broken(GEMM, |plan| {
        change(plan, &|c| {
            let mut w = c.warp.as_slice().to_vec();
            swap(&mut w, 0, 1);
            *c = rebuilt(c, c.register.as_slice(), c.lane.as_slice(), &w);
        })
    });
    assert!(matches!(found, Violation::Reach { .. }), "{found:?}");
}

#[test]
fn columns_that_are_not_there() {
    for damage in [
        (|plan| plan.products[0].tensor.as_mut().expect("in tensor memory").first = 32)
            as fn(&mut Plan<'_>),
        |plan| plan.tensor_columns = 64,
        |plan| plan.tensor_columns = 96,
        |plan| plan.tensor_columns = 0,
        |plan| plan.tensor_slot -= 16,
        |plan| plan.products[0].tensor.as_mut().expect("in tensor memory").carrier = None,
        |plan| {
            let loads = plan.products[0].product.tensor.as_mut().expect("in tensor memory");
            loads.columns = core::num::NonZeroU16::new(64).expect("not 0");
        },
    ] {
        let found = broken(GEMM, damage);
        assert!(matches!(found, Violation::Accumulator { .. }), "{found:?}");
    }
}

fn wide(rows: u32, cols: u32, threads: u32, products: u32) -> String {
    use std::format;
    let mut out = format!(
        "func @many(%A: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %B: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, \
         %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}) {{threads = {threads}}} {{
  %sa = alloc_tensor : tensor<{rows}x64xf16, #smem>
  %sb = alloc_tensor : tensor<64x{cols}xf16, #smem>
  %z  = constant 0.0 : tensor<{rows}x{cols}xf32>
  copy %A[0, 0], %sa : memref<?x?xf16, #gmem> -> tensor<{rows}x64xf16, #smem>
  copy %B[0, 0], %sb : memref<?x?xf16, #gmem> -> tensor<64x{cols}xf16, #smem>\n"
    );
    for k in 0..products {
        out += &format!(
            "  %a{k} = tiled_load %sa : tensor<{rows}x64xf16, #smem> -> tensor<{rows}x64xf16>
  %b{k} = tiled_load %sb : tensor<64x{cols}xf16, #smem> -> tensor<64x{cols}xf16>
  %d{k} = mma %a{k}, %b{k}, %z : tensor<{rows}x{cols}xf32>
  tiled_store %d{k}, %C[0, {}] : tensor<{rows}x{cols}xf32> -> memref<?x?xf32, #gmem>\n",
            k * cols
        );
    }
    out + "}\n"
}

/// The columns are a power of two, 512 at most; what needs more takes another instruction for a
/// product, and where none can is refused by that rule.
#[test]
fn exhausted() {
    let columns = |text: &str| planned(text, |_, plan| plan.tensor_columns);
    assert_eq!(columns(&wide(128, 224, 128, 1)).ok(), Some(256));
    assert_eq!(columns(&wide(128, 16, 128, 1)).ok(), Some(32));
    assert_eq!(columns(&wide(128, 224, 128, 2)).ok(), Some(512));
    assert_eq!(columns(&wide(128, 224, 128, 3)).ok(), Some(512));
    let in_tensor = planned(&wide(128, 224, 128, 3), |_, plan| {
        plan.products.iter().map(|p| p.tensor.is_some()).collect::<std::vec::Vec<_>>()
    });
    assert_eq!(in_tensor.expect("a plan"), [true, true, false]);
    for (text, need) in [(wide(256, 512, 256, 1), 1024), (wide(256, 512, 128, 1), 1024)] {
        let refused = columns(&text).expect_err("too much");
        assert!(
            matches!(refused, CompileError::Plan(PlanError::TensorMemory { need: n, have: 512, .. }) if n == need),
            "{refused:?}"
        );
    }
}
