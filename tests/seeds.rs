//! The worked examples of the seed documents, section by section in their order, with their
//! numbers.
//!
//! One file a document: `tirx` is 000, `triton` 002, `tilelang` 003, `cute` 004. Where the ruling
//! is that a document is wrong, the test has the right numbers and says that it is a ruling.
//! (Document 001 is the tile programs': `src/ir/src/tests/seed.rs` and `tests/passes`.)

#[path = "seeds/cute.rs"]
mod cute;
#[path = "seeds/tilelang.rs"]
mod tilelang;
#[path = "seeds/tirx.rs"]
mod tirx;
#[path = "seeds/triton.rs"]
mod triton;

use lanebook::layout::notation::{cute as cute_text, tirx as tirx_text};
use lanebook::layout::{AxisId, Coord, Layout, LayoutRef, NoSyms, WellKnown};

/// The layout of a text in CuTe's notation.
fn c(text: &str) -> Layout {
    cute_text::parse(text, &WellKnown, &mut NoSyms).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

/// The layout of a text in TIRx's notation.
fn t(text: &str) -> Layout {
    tirx_text::parse(text, &WellKnown, &mut NoSyms).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

/// The text of a layout in CuTe's notation.
fn show(l: &Layout) -> String {
    let mut out = String::new();
    cute_text::print(&l.view(), &WellKnown, &NoSyms, &mut out).expect("printable");
    out
}

/// The positions on axis `m`, in order.
fn table(l: &LayoutRef<'_>) -> Vec<i64> {
    (0..l.size_value().unwrap()).map(|x| l.offset_on(x, AxisId::M).unwrap()).collect()
}

/// The position of a flat coordinate on some axes.
fn at<const N: usize>(l: &LayoutRef<'_>, x: u64, axes: [AxisId; N]) -> [i64; N] {
    let mut out = Coord::new();
    l.apply_flat(x, &mut out).unwrap();
    axes.map(|axis| out.get(axis))
}
