//! Removal of conversions on one connected region, by size: what a question costs must not grow with
//! the program around it.
use crate::clock::Effort;
use crate::report::Report;
use lanebook::TABLES;
use lanebook::ir::{Node, Options, Storage, parse, verify};
use lanebook::pipeline::{REMOVE_CONVERSIONS, apply};
use std::fmt::Write;
use std::time::Instant;

/// The section's heading.
pub const SECTION: &str =
    "Removal of conversions on one connected region (budget 3 us an operation)";

/// Room for 30,000 operations, and for as many that the pass makes before it takes others out.
type Room = Storage<65_536, 124_000, 130_000, 65_536, 2048, 8192, 400_000>;

/// What the programs begin with.
const HEAD: &str = "#a = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#at = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#b = #ttg.blocked<{sizePerThread = [2, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>
module {
func @f(%A: memref<32x32xf32, #gmem>, %n: index) {
";
const LOADS: &str = "  %e0 = tiled_load %A : memref<32x32xf32, #gmem> -> tensor<32x32xf32, #a>
  %x0 = tiled_load %A : memref<32x32xf32, #gmem> -> tensor<32x32xf32, #b>
  %y0 = convert_layout %x0 : tensor<32x32xf32, #b> -> tensor<32x32xf32, #a>
";

/// Sums over a ladder; every tenth value is also stored in another layout.
fn ladder(out: &mut String, n: usize) {
    let p = n - 1;
    let _ = writeln!(out, "  %e{n} = exp %e{p} : tensor<32x32xf32, #a>");
    let _ = writeln!(out, "  %y{n} = add %e{n}, %y{p} : tensor<32x32xf32, #a>");
}

/// Transpositions back and forth, likewise.
fn transposed(out: &mut String, n: usize) {
    let p = n - 1;
    const ORDER: &str = "{order = array<i32: 1, 0>}";
    let _ = writeln!(
        out,
        "  %t{n} = tt.trans %y{p} {ORDER} : tensor<32x32xf32, #a> -> tensor<32x32xf32, #at>"
    );
    let _ = writeln!(
        out,
        "  %y{n} = tt.trans %t{n} {ORDER} : tensor<32x32xf32, #at> -> tensor<32x32xf32, #a>"
    );
}

/// How a region grows, by name.
type Shape = (&'static str, fn(&mut String, usize));

/// A program of about so many operations.
fn program((_, part): Shape, size: usize) -> String {
    let mut out = format!("{HEAD}{LOADS}");
    for n in 1..=size * 10 / 22 {
        part(&mut out, n);
        if n % 10 == 0 {
            let _ = writeln!(
                out,
                "  %c{n} = convert_layout %y{n} : tensor<32x32xf32, #a> -> tensor<32x32xf32, #b>"
            );
            let _ = writeln!(
                out,
                "  tiled_store %c{n}, %A : tensor<32x32xf32, #b> -> memref<32x32xf32, #gmem>"
            );
        }
    }
    out.push_str("  return\n}\n}\n");
    out
}

/// Measures regions of 60 to 30,000 operations.
///
/// # Panics
/// If the pass refuses one.
pub fn measure(report: &mut Report) {
    let sizes: &[usize] = match report.effort {
        Effort::Full => &[60, 600, 6000, 30_000],
        Effort::Once => &[60],
    };
    let mut room = crate::boxed(Room::new);
    let mut work = Box::new(heapless::Vec::<Node, 130_000>::new());
    for shape in
        [("a ladder of sums", ladder as fn(&mut String, usize)), ("transpositions", transposed)]
    {
        for size in sizes {
            let text = program(shape, *size);
            let (mut least, mut ops) = (f64::INFINITY, 0);
            for _ in 0..report.effort.times(5) {
                let options = Options { keep_unknown: true, free_names: true };
                let mut program = parse(room.pools(), &TABLES, &text, options)
                    .unwrap_or_else(|e| panic!("{}: {e:?}", shape.0));
                verify(&mut program).unwrap_or_else(|e| panic!("{}: {e:?}", shape.0));
                ops = program.all().count();
                let mut fuel = 10_000_000;
                let start = Instant::now();
                apply(
                    &TABLES,
                    REMOVE_CONVERSIONS,
                    &mut program,
                    work.as_mut_view(),
                    &mut fuel,
                    |_| {},
                )
                .unwrap_or_else(|e| panic!("{} of {ops}: {e:?}", shape.0));
                least = least.min(start.elapsed().as_nanos() as f64);
            }
            let what = format!("{}, {ops} operations", shape.0);
            report.held(SECTION, what, least / 1e3 / ops as f64, "us/op", 3.0, "the budget");
        }
    }
}
