//! Tests of the crate: the worked examples of the seeds as `errata.md` rules them, and laws on
//! small domains.
//!
//! Laws are checked by evaluating points, never by comparing spellings.

mod convert;
mod counterparts;
mod cute_boxes;
mod cute_laws;
mod cute_seed;
mod cute_text;
mod errors;
mod explain;
mod hostile;
mod large;
mod laws;
mod linear;
mod notation;
mod packed;
mod refusals;
mod seed_cute;
mod seed_tirx;
mod swizzled;
mod symbolic;
mod tilelang;
mod tirx_forms;
mod tirx_laws;
mod tirx_printed;
mod tirx_refusals;
mod triton;
mod triton_shapes;
mod ttg;

use crate::notation::{cute, tirx};
use crate::{AxisId, Coord, Layout, LayoutRef, NoSyms, WellKnown};
use std::string::String;
use std::vec::Vec;

/// The layout of a CuTe text.
fn c(text: &str) -> Layout {
    cute::parse(text, &WellKnown, &mut NoSyms).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

/// The layout of a TIRx text.
fn t(text: &str) -> Layout {
    tirx::parse(text, &WellKnown, &mut NoSyms).unwrap_or_else(|e| panic!("{text}: {e:?}"))
}

/// The CuTe text of a layout.
fn show(l: &Layout) -> String {
    let mut out = String::new();
    cute::print(&l.view(), &WellKnown, &NoSyms, &mut out).expect("printable");
    out
}

/// The TIRx text of a layout.
fn show_tirx(l: &Layout) -> String {
    let mut out = String::new();
    tirx::print(&l.view(), &WellKnown, &NoSyms, &mut out).expect("printable");
    out
}

/// All positions on axis `m`.
fn table(l: &LayoutRef<'_>) -> Vec<i64> {
    (0..l.size_value().unwrap()).map(|x| l.offset_on(x, AxisId::M).unwrap()).collect()
}

/// The position on axis `m` beyond the size too.
fn extended(l: &LayoutRef<'_>, x: i64) -> i64 {
    let mut out = Coord::new();
    l.apply_extended(u64::try_from(x).unwrap(), &mut out).unwrap();
    out.get(AxisId::M)
}

/// All layouts on axis `m` with up to `rank` iters, extents 1..=`extent` and the given strides.
fn family(rank: usize, extent: u32, strides: &[i64]) -> Vec<Layout> {
    let mut all = Vec::from([Layout::new()]);
    let mut from = 0;
    for _ in 0..rank {
        let to = all.len();
        for k in from..to {
            for e in 1..=extent {
                for s in strides {
                    let mut l = all[k].clone();
                    l.push_shard(crate::Iter::new(e, *s, AxisId::M)).unwrap();
                    all.push(l);
                }
            }
        }
        from = to;
    }
    all
}

/// A small generator of numbers, the same ones every time.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `n`.
    fn below(&mut self, n: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as u32) % n
    }
}
