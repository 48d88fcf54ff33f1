//! Layout algebra beside its peers: Triton's linear layouts, CuTe's Python algebra, TVM's TIRx layouts.
//!
//! The peers' figures are medians from `shared/facts/triton.md` section 7 and `shared/facts/cute_tirx.md` "Speed",
//! measured on another machine: read the ratios as orders of magnitude.
use crate::clock::nanoseconds;
use crate::report::Report;
use lanebook::layout::notation::{cute, tirx as notation};
use lanebook::layout::triton::{Base, Blocked, Cga, Encoding, Extents, Few, NvidiaMma, Order, Swizzled};
use lanebook::layout::{AxisId, Coord, Hw, Int, Layout, Linear, Logical, NoSyms, PostMap, Swizzle, Unit, WellKnown, convert, ops, tirx};
use lanebook::{TABLES, encoding};
use std::hint::black_box as opaque;

/// The section's heading.
pub const SECTION: &str = "Layout algebra (peers' figures from their own measurements, another machine)";

const TRITON: &str = "Triton 3.9, facts/triton.md 7";
const PYCUTE: &str = "pycute, facts/cute_tirx.md";
const TVM: &str = "TVM 0.27 less the call, facts/cute_tirx.md";

/// The shape that Triton's figures are for.
const SHAPE: [u32; 2] = [128, 64];

fn written(text: &str) -> Layout {
    cute::parse(text, &WellKnown, &mut NoSyms).expect("a layout in CuTe's notation")
}

fn named(text: &str) -> Layout {
    notation::parse(text, &WellKnown, &mut NoSyms).expect("a layout in TIRx's notation")
}

fn extents(of: &[u32]) -> Extents {
    Few::from_slice(of).expect("few dimensions")
}

fn order() -> Order {
    Few::from_slice(&[1, 0]).expect("two dimensions")
}

fn blocked() -> Base {
    Base::Blocked(Blocked {
        size_per_thread: extents(&[1, 8]),
        threads_per_warp: extents(&[4, 8]),
        warps_per_cta: extents(&[4, 1]),
        order: order(),
        cga: Cga::default(),
    })
}

fn accumulators() -> Base {
    Base::NvidiaMma(NvidiaMma { major: 2, minor: 0, warps_per_cta: extents(&[2, 2]), instr_shape: extents(&[16, 8]), cga: Cga::default() })
}

/// Measures the linear form, then the strided form.
pub fn measure(report: &mut Report) {
    linear(report);
    strided(report);
}

fn linear(report: &mut Report) {
    let arch = TABLES.arch_named("sm_80").or_else(|| TABLES.archs.first().map(|_| lanebook::tables::ArchId(0))).expect("an architecture");
    let swizzled = Base::Swizzled(Swizzled { vec: 8, per_phase: 1, max_phase: 8, order: order(), cga: Cga::default() });
    let form = |encoding: &Encoding| encoding::to_linear(&TABLES, arch, opaque(encoding), &SHAPE);
    let cases: [(&str, Encoding, f64); 4] = [
        ("blocked", blocked().into(), 64.0),
        ("mma v2 accumulators", accumulators().into(), 87.0),
        ("mma v2 operand A", Encoding::dot_op(accumulators(), 0, 2), 84.0),
        ("swizzled shared", swizzled.into(), 36.0),
    ];
    for (what, encoding, peer) in &cases {
        form(encoding).unwrap_or_else(|e| panic!("{what}: {e:?}"));
        report.held(SECTION, format!("linear form of an encoding: {what}"), nanoseconds(|_| form(encoding)) / 1e3, "us", *peer, TRITON);
    }
    let of = |encoding: &Encoding| -> Linear<Hw, Logical> { form(encoding).expect("measured above") };
    let (from, to, shared) = (of(&cases[0].1), of(&cases[1].1), of(&cases[3].1));
    let mut held = |what: &str, nanoseconds: f64, peer: f64| report.held(SECTION, what, nanoseconds / 1e3, "us", peer, TRITON);
    from.invert_and_compose(&to).expect("registers to registers");
    held("invert_and_compose blocked to mma v2", nanoseconds(|_| opaque(&from).invert_and_compose(opaque(&to))), 41.0);
    from.invert_and_compose(&shared).expect("registers to shared memory");
    held("invert_and_compose blocked to swizzled shared", nanoseconds(|_| opaque(&from).invert_and_compose(opaque(&shared))), 31.0);
    held("pseudo_invert mma v2", nanoseconds(|_| opaque(&to).pseudo_invert()), 36.0);
    let there = shared.invert().expect("a bijection");
    held("invert swizzled shared", nanoseconds(|_| opaque(&shared).invert()), 32.0);
    there.compose(&from).expect("shared memory from registers");
    held("compose", nanoseconds(|_| opaque(&there).compose(opaque(&from))), 5.7);
    let apply = nanoseconds(|call| opaque(&to).apply_packed((call & 0x1fff) as u64));
    held("apply to one index", apply, 1.0);
}

fn strided(report: &mut Report) {
    let mut cute = |what: &str, nanoseconds: f64, peer: f64| report.held(SECTION, what, nanoseconds / 1e3, "us", peer, PYCUTE);
    let (a, b) = (written("((2,4),(8,16)):((1,16),(2,64))"), written("(8,4):(4,1)"));
    cute("composition of a nested layout", nanoseconds(|_| ops::compose(&opaque(a.view()), &opaque(b.view())).expect("CuTe composes them")), 20.4);
    let a = written("(4,8):(1,64)");
    cute("complement((4,8):(1,64), 4096)", nanoseconds(|_| ops::complement(&opaque(a.view()), Int::known(4096)).expect("a complement")), 5.4);
    let (a, b) = (written("128:1"), written("32:1"));
    cute("logical_divide(128:1, 32:1)", nanoseconds(|_| ops::logical_divide(&opaque(a.view()), &opaque(b.view())).expect("a quotient")), 12.0);
    let a = written("(16,8):(8,1)");
    cute("right_inverse((16,8):(8,1))", nanoseconds(|_| ops::right_inverse(&opaque(a.view())).expect("an inverse")), 5.5);
    let mut tvm = |what: &str, nanoseconds: f64, peer: f64| report.held(SECTION, what, nanoseconds / 1e3, "us", peer, TVM);
    let fragment = named("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid");
    let view = fragment.view();
    let mut out = Coord::new();
    tvm("apply, fragment with a replica", nanoseconds(|call| view.apply_flat((call & 127) as u64, opaque(&mut out))), 2.1);
    let mut tile = written("(64,8):(1,64)");
    tile.set_post(PostMap::Swizzle(Swizzle { b: 3, m: 3, s: 3, unit: Unit::Element })).expect("a memory axis");
    let tile = tile.view();
    tvm("apply, swizzled tile", nanoseconds(|call| tile.offset_on((call & 511) as u64, AxisId::M)), 2.4);
    let linear = convert::to_linear(&named("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]").view()).expect("powers of two");
    tvm("apply, fragment in the linear form", nanoseconds(|call| opaque(&linear).apply_packed((call & 127) as u64)), 2.1);
    let (outer, inner) = (named("S[(2,4):(4,1)]"), named("S[(8,8):(8,1)]"));
    let tiled = || tirx::tile(&opaque(inner.view()), &[8, 8], &opaque(outer.view()), &[2, 4]).expect("a tile of tiles");
    tvm("tile 8x8 by 2x4", nanoseconds(|_| tiled()), 9.0);
}
