//! Layouts by how many different ones a text has: reading it, and removing its conversions. What a
//! layout costs must not grow with how many there are.
use crate::clock::Effort;
use crate::report::Report;
use lanebook::TABLES;
use lanebook::ir::{Node, Options, Storage, parse, verify};
use lanebook::pipeline::{REMOVE_CONVERSIONS, apply};
use std::fmt::Write;
use std::time::Instant;

/// The section's heading.
pub const SECTION: &str = "Different layouts of one text (time a layout against that of the smallest number: 1 or less is linear)";

/// What a layout of the greatest number may cost, in those of the smallest: caches are left, looking
/// through all others would be 32.
pub const GROWTH: f64 = 2.0;

/// Room for 3,200 layouts, each under a name, and for those that the pass makes.
type Room = Storage<16_384, 32_768, 60_000, 16_384, 16_384, 64, 200_000>;

/// Bits of the tile's elements: rows, then columns.
const BITS: [&str; 12] = [
    "[0, 1]", "[0, 2]", "[0, 4]", "[0, 8]", "[0, 16]", "[0, 32]", "[1, 0]", "[2, 0]", "[4, 0]",
    "[8, 0]", "[16, 0]", "[32, 0]",
];

/// A layout of its own for each number below 12!: the bits in another order, 5 of them in registers,
/// 5 in lanes, 2 in warps.
fn layout(number: usize) -> String {
    let (mut left, mut rest) = (BITS.to_vec(), number);
    let mut order = Vec::new();
    while !left.is_empty() {
        order.push(left.remove(rest % left.len()));
        rest /= left.len() + 1;
    }
    let part = |range: std::ops::Range<usize>| order[range].join(", ");
    format!(
        "#ttg.linear<{{register = [{}], lane = [{}], warp = [{}], block = []}}>",
        part(0..5),
        part(5..10),
        part(10..12)
    )
}

/// A text of so many layouts: each by its name, in a type of its own, reached by a conversion.
#[must_use]
pub fn program(layouts: usize) -> String {
    let mut out = String::new();
    for n in 0..layouts {
        let _ = writeln!(out, "#l{n} = {}", layout(n));
    }
    out.push_str("module {\nfunc @f(%A: memref<64x64xf32, #gmem>, %n: index) {\n");
    for n in 0..layouts {
        let _ = write!(
            out,
            "  %x{n} = tiled_load %A : memref<64x64xf32, #gmem> -> tensor<64x64xf32, #l{n}>
  %e{n} = exp %x{n} : tensor<64x64xf32, #l{n}>
  %c{n} = convert_layout %e{n} : tensor<64x64xf32, #l{n}> -> tensor<64x64xf32, #l0>
  tiled_store %c{n}, %A : tensor<64x64xf32, #l0> -> memref<64x64xf32, #gmem>
"
        );
    }
    out.push_str("  return\n}\n}\n");
    out
}

/// Nanoseconds a layout for reading and for removing conversions, at each number of layouts.
///
/// # Panics
/// If a text is refused.
#[must_use]
pub fn times(sizes: &[usize], effort: Effort) -> Vec<(usize, [f64; 2])> {
    let mut room = crate::boxed(Room::new);
    let mut work = Box::new(heapless::Vec::<Node, 65_000>::new());
    let mut all = Vec::new();
    for size in sizes {
        let text = program(*size);
        let mut least = [f64::INFINITY; 2];
        for _ in 0..effort.times(5) {
            let start = Instant::now();
            let mut program = parse(room.pools(), &TABLES, &text, Options::default())
                .unwrap_or_else(|e| panic!("{size} layouts: {e:?}"));
            let read = start.elapsed().as_nanos() as f64;
            verify(&mut program).unwrap_or_else(|e| panic!("{size} layouts: {e:?}"));
            let mut fuel = 10_000_000;
            let start = Instant::now();
            apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |_| {})
                .unwrap_or_else(|e| panic!("{size} layouts: {e:?}"));
            let removed = start.elapsed().as_nanos() as f64;
            for (least, time) in least.iter_mut().zip([read, removed]) {
                *least = least.min(time / *size as f64);
            }
        }
        all.push((*size, least));
    }
    all
}

/// Measures texts of 100 to 3,200 layouts.
pub fn measure(report: &mut Report) {
    let sizes: &[usize] = match report.effort {
        Effort::Full => &[100, 1000, 3200],
        Effort::Once => &[10, 100],
    };
    let times = times(sizes, report.effort);
    for (at, what) in ["read", "conversions removed"].into_iter().enumerate() {
        let first = times.first().map(|(_, time)| time[at]);
        for (number, (size, time)) in times.iter().enumerate() {
            let (what, time) = (format!("{size} layouts, {what}"), time[at]);
            match first {
                Some(first) if number > 0 => {
                    report.held(SECTION, what, time, "ns a layout", first, "the smallest")
                }
                _ => report.alone(SECTION, what, time, "ns a layout"),
            }
        }
        if let (Some((few, least)), Some((many, most))) = (times.first(), times.last()) {
            let what = format!("growth from {few} to {many} layouts, {what}");
            report.held(SECTION, what, most[at] / least[at], "x", GROWTH, "the budget");
        }
    }
}
