//! Registers as a limit: programs whose tiles do not fit into a lane's registers whole are compiled piece by piece and slice by slice, and compute
//! the right thing.
#![allow(missing_docs)]

use lanebook::{TABLES, check};
use lanebook_kernels::programs::{Shape, chained, chained_wrong, multiplied, stored_wrong};
use lanebook_kernels::{Assembler, try_kernel_text, with_kernel};

fn compiled(source: &str, arch: &str) -> String {
    let text = try_kernel_text(source, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{source}"));
    Assembler::of(arch).assemble(&text, arch).unwrap_or_else(|said| panic!("{arch}: {said}\n{text}"));
    with_kernel(source, arch, |program, compiled, text| {
        check::plan(&TABLES, program, &compiled.plan).unwrap_or_else(|v| panic!("{arch}: {v:?}"));
        check::order(&TABLES, program, compiled).unwrap_or_else(|v| panic!("{arch}: {v:?}\n{text}"));
    });
    text
}

/// Products whose extents are odd multiples of the instruction's: their inputs come slice by slice too.
#[test]
fn panels_slice_by_slice() {
    let cases: [(&str, Shape); 3] = [("gfx1100", (48, 80, 32, 32)), ("gfx1100", (64, 192, 64, 128)), ("gfx1200", (80, 80, 32, 32))];
    for (arch, shape) in cases {
        let source = multiplied(shape);
        let text = compiled(&source, arch);
        assert_eq!(stored_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
    }
}

/// A tile that is used up while the next one is made of it: sums of the first product, rounded to half their width.
#[test]
fn tiles_piece_by_piece() {
    let cases: [(&str, Shape); 3] = [("gfx950", (64, 128, 64, 64)), ("gfx950", (128, 128, 64, 128)), ("gfx1100", (64, 64, 64, 64))];
    for (arch, shape) in cases {
        let source = chained(shape);
        let text = compiled(&source, arch);
        assert_eq!(chained_wrong(arch, &source, &text, shape), Ok(0), "{arch} {shape:?}\n{text}");
    }
}
