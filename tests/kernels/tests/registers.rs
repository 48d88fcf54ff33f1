//! Registers as a limit: programs whose tiles do not fit into a lane's registers whole are compiled
//! piece by piece and slice by slice, and compute the right thing.
#![allow(missing_docs)]

use lanebook::check::Violation;
use lanebook::plan::{End, TransferPlan};
use lanebook::{TABLES, check};
use lanebook_kernels::programs::{Shape, chained, chained_wrong, multiplied, stored_wrong};
use lanebook_kernels::{Assembler, try_kernel_text, with_kernel};

fn compiled(source: &str, arch: &str) -> String {
    let text = try_kernel_text(source, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{source}"));
    Assembler::of(arch)
        .assemble(&text, arch)
        .unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
    with_kernel(source, arch, |program, compiled, text| {
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{arch}: {v:?}"));
        check::order(&TABLES, program, compiled)
            .unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
    });
    text
}

/// Products whose extents are odd multiples of the instruction's: their inputs come slice by slice
/// too.
#[test]
fn panels_slice_by_slice() {
    let cases: [(&str, Shape); 3] = [
        ("gfx1100", (48, 80, 32, 32)),
        ("gfx1100", (64, 192, 64, 128)),
        ("gfx1200", (80, 80, 32, 32)),
    ];
    for (arch, shape) in cases {
        let source = multiplied(shape);
        let text = compiled(&source, arch);
        assert_eq!(stored_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
    }
}

/// A tile that is used up while the next one is made of it: sums of the first product, rounded to
/// half their width.
#[test]
fn tiles_piece_by_piece() {
    let cases: [(&str, Shape); 3] = [
        ("gfx950", (64, 128, 64, 64)),
        ("gfx950", (128, 128, 64, 128)),
        ("gfx1100", (64, 64, 64, 64)),
    ];
    for (arch, shape) in cases {
        let source = chained(shape);
        let text = compiled(&source, arch);
        assert_eq!(chained_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
    }
}

/// Both inputs block by block, one of them more than once: nearly all registers are the sum's.
#[test]
fn blocks_again_and_again() {
    let cases: [(&str, Shape); 4] = [
        ("gfx1200", (128, 224, 64, 128)),
        ("gfx1100", (192, 128, 32, 128)),
        ("gfx1250", (80, 80, 32, 32)),
        ("gfx1100", (80, 80, 32, 32)),
    ];
    let mut again = 0;
    for (arch, shape) in cases {
        let source = multiplied(shape);
        let text = compiled(&source, arch);
        assert_eq!(stored_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
        again += with_kernel(&source, arch, |program, compiled, _| {
            let loads =
                |m: &&TransferPlan| matches!((m.from, m.to), (End::Shared(_), End::Registers(_)));
            let texts = |m: &TransferPlan| {
                compiled
                    .steps
                    .iter()
                    .filter(|s| s.atom == m.atom && usize::from(s.origin) == m.op.index())
                    .count()
            };
            let once = |m: &TransferPlan| usize::try_from(m.tiling.count()).expect("small");
            let repeated: Vec<&TransferPlan> = compiled
                .plan
                .transfers
                .iter()
                .filter(loads)
                .filter(|m| texts(m) > once(m))
                .collect();
            for m in &repeated {
                // One of them less, or more, is none that the product asks for.
                let at = compiled
                    .steps
                    .iter()
                    .position(|s| s.atom == m.atom && usize::from(s.origin) == m.op.index())
                    .expect("a load");
                let mut less = compiled.steps.to_vec();
                let step = less.remove(at);
                let mut more = compiled.steps.to_vec();
                more.insert(at, step);
                for steps in [less, more] {
                    let v = check::order_of(&TABLES, program, &compiled.plan, &steps)
                        .expect_err("another number of loads");
                    assert!(matches!(v, Violation::Count { .. }), "{v:?}");
                }
            }
            repeated.len()
        });
    }
    assert!(again > 0, "nothing was loaded twice");
}

/// A tile that was loaded before the loop is loaded in each turn, from bytes that nothing else has
/// meanwhile.
#[test]
fn loads_inside_the_loop() {
    let cases: [(&str, Shape); 3] = [
        ("gfx950", (64, 64, 128, 64)),
        ("gfx1200", (64, 64, 128, 64)),
        ("gfx1250", (64, 64, 128, 64)),
    ];
    for (arch, shape) in cases {
        let source = chained(shape);
        let text = compiled(&source, arch);
        assert_eq!(chained_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
        with_kernel(&source, arch, |program, compiled, _| {
            let first = &compiled
                .plan
                .transfers
                .iter()
                .find(|m| matches!(m.to, End::Registers(_)))
                .expect("a load");
            assert!(
                program.parent(first.op).is_some_and(|at| program.op_name(at) == "scf.for"),
                "{arch}: it stands before the loop"
            );
        });
    }
}
