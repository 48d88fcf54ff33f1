//! Layout algebra beside its peers: Triton's linear layouts, CuTe's Python algebra, TVM's TIRx
//! layouts.
//!
//! The peers' figures are medians that others measured ([`crate::peer`]): read the ratios as orders of
//! magnitude.
use crate::peer::{PYCUTE, TRITON_LAYOUTS, TVM};
use crate::report::Report;
use lanebook::layout::cute::{self as tree, IntTuple, Tiler};
use lanebook::layout::notation::{cute, tirx as notation, ttg};
use lanebook::layout::triton::Encoding;
use lanebook::layout::{
    AxisId, Coord, Hw, Int, Layout, Linear, Logical, NoSyms, PostMap, Swizzle, Unit, WellKnown,
    convert, ops, tirx,
};
use lanebook::{TABLES, encoding};
use std::hint::black_box as opaque;

/// The section's heading.
pub const SECTION: &str = "Layout algebra";

/// The shape that Triton's figures are for.
const SHAPE: [u32; 2] = [128, 64];

fn written(text: &str) -> Layout {
    cute::parse(text, &WellKnown, &mut NoSyms).expect("a layout in CuTe's notation")
}

fn named(text: &str) -> Layout {
    notation::parse(text, &WellKnown, &mut NoSyms).expect("a layout in TIRx's notation")
}

fn attribute(text: &str) -> Encoding {
    ttg::parse(text).expect("one of Triton's attributes")
}

fn tuple(text: &str) -> IntTuple {
    cute::parse_tuple(text, &mut NoSyms).expect("a tree of numbers")
}

/// Encodings at [`SHAPE`]: name, architecture, attribute, and what Triton takes in microseconds.
const ENCODINGS: [(&str, &str, &str, f64); 12] = [
    (
        "blocked",
        "sm_80",
        "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
        64.0,
    ),
    (
        "mma v2 accumulators",
        "sm_80",
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
        87.0,
    ),
    (
        "mma v2 operand A",
        "sm_80",
        "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>, kWidth = 2}>",
        84.0,
    ),
    (
        "swizzled shared",
        "sm_80",
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        36.0,
    ),
    (
        "mma v3 accumulators",
        "sm_90a",
        "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
        87.0,
    ),
    (
        "nvmma shared, 128 bytes",
        "sm_90a",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
        80.0,
    ),
    (
        "mfma accumulators",
        "gfx942",
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>",
        100.0,
    ),
    (
        "mfma operand B",
        "gfx942",
        "#ttg.dot_op<{opIdx = 1, parent = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>, kWidth = 4}>",
        84.0,
    ),
    (
        "wmma accumulators",
        "gfx1200",
        "#ttg.amd_wmma<{version = 2, isTransposed = true, ctaLayout = {register = [], warp = [[0, 1], [1, 0]]}, instrShape = [16, 16, 16]}>",
        100.0,
    ),
    (
        "wmma operand A",
        "gfx1200",
        "#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_wmma<{version = 2, isTransposed = true, ctaLayout = {register = [], warp = [[0, 1], [1, 0]]}, instrShape = [16, 16, 16]}>, kWidth = 8}>",
        84.0,
    ),
    (
        "slice of mma v2",
        "sm_80",
        "#ttg.slice<{dim = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>}>",
        127.0,
    ),
    (
        "tensor memory",
        "sm_90a",
        "#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>",
        80.0,
    ),
];

/// Measures the linear form, then the strided form.
pub fn measure(report: &mut Report) {
    linear(report);
    strided(report);
}

fn linear(report: &mut Report) {
    let effort = report.effort;
    let mut forms: Vec<Linear<Hw, Logical>> = Vec::new();
    for (what, arch, text, peer) in ENCODINGS {
        // Built for other architectures alone, the bench leaves this one's instructions out.
        let Some(arch) = TABLES.arch_named(arch) else {
            report.note(SECTION, format!("{what}: {arch} is not in the tables of this build"));
            continue;
        };
        let encoding = attribute(text);
        let shape = if what.starts_with("slice") { &SHAPE[1..] } else { &SHAPE[..] };
        let form =
            |encoding: &Encoding| encoding::to_linear(&TABLES, arch, opaque(encoding), shape);
        forms.push(form(&encoding).unwrap_or_else(|e| panic!("{what}: {e:?}")));
        report.held(
            SECTION,
            format!("linear form of an encoding: {what}"),
            effort.nanoseconds(|_| form(&encoding)) / 1e3,
            "us",
            peer,
            TRITON_LAYOUTS.to_string(),
        );
    }
    let [from, to, _, shared, ..] = forms.as_slice() else { return };
    let mut held = |what: &str, nanoseconds: f64, peer: f64| {
        report.held(SECTION, what, nanoseconds / 1e3, "us", peer, TRITON_LAYOUTS.to_string())
    };
    from.invert_and_compose(to).expect("registers to registers");
    held(
        "invert_and_compose blocked to mma v2",
        effort.nanoseconds(|_| opaque(from).invert_and_compose(opaque(to))),
        41.0,
    );
    from.invert_and_compose(shared).expect("registers to shared memory");
    held(
        "invert_and_compose blocked to swizzled shared",
        effort.nanoseconds(|_| opaque(from).invert_and_compose(opaque(shared))),
        31.0,
    );
    held("pseudo_invert mma v2", effort.nanoseconds(|_| opaque(to).pseudo_invert()), 36.0);
    let there = shared.invert().expect("a bijection");
    held("invert swizzled shared", effort.nanoseconds(|_| opaque(shared).invert()), 32.0);
    there.compose(from).expect("shared memory from registers");
    held("compose", effort.nanoseconds(|_| opaque(&there).compose(opaque(from))), 5.7);
    let apply = effort.nanoseconds(|call| opaque(to).apply_packed((call & 0x1fff) as u64));
    held("apply to one index", apply, 1.0);
    let pair = (
        "product of two 1-bit layouts",
        Linear::<Hw, Logical>::identity1d(1, AxisId::REGISTER, AxisId::dim(0)).expect("one bit"),
    );
    held(pair.0, effort.nanoseconds(|_| opaque(&pair.1).product(opaque(&pair.1))), 1.5);
    // A whole table: each value once, in order.
    let count = 1usize << to.ins().bits();
    let mut table = vec![0u64; count];
    let whole = effort.nanoseconds(|_| to.table(opaque(&mut table)));
    report.held(
        SECTION,
        "apply, a whole table of the linear form",
        count as f64 / whole * 1e3,
        "M/s",
        GOAL,
        "the budget, elements a second on one core",
    );
}

/// Elements of an apply table, in millions a second.
const GOAL: f64 = 150.0;

fn strided(report: &mut Report) {
    let effort = report.effort;
    let mut cute = |what: &str, nanoseconds: f64, peer: f64| {
        report.held(SECTION, what, nanoseconds / 1e3, "us", peer, PYCUTE.to_string())
    };
    let (a, b) = (written("((2,4),(8,16)):((1,16),(2,64))"), written("(8,4):(4,1)"));
    cute(
        "composition of a nested layout",
        effort.nanoseconds(|_| {
            ops::compose(&opaque(a.view()), &opaque(b.view())).expect("CuTe composes them")
        }),
        20.4,
    );
    let a = written("(4,8):(1,64)");
    cute(
        "complement((4,8):(1,64), 4096)",
        effort.nanoseconds(|_| {
            ops::complement(&opaque(a.view()), Int::known(4096)).expect("a complement")
        }),
        5.4,
    );
    let (a, b) = (written("128:1"), written("32:1"));
    cute(
        "logical_divide(128:1, 32:1)",
        effort.nanoseconds(|_| {
            ops::logical_divide(&opaque(a.view()), &opaque(b.view())).expect("a quotient")
        }),
        12.0,
    );
    let (a, b) = (written("(64,128):(128,1)"), written("32:2"));
    cute(
        "composition, (64,128):(128,1) o 32:2",
        effort.nanoseconds(|_| {
            ops::compose(&opaque(a.view()), &opaque(b.view())).expect("CuTe composes them")
        }),
        5.3,
    );
    let a = written("4:32");
    cute(
        "complement(4:32, 256)",
        effort.nanoseconds(|_| {
            ops::complement(&opaque(a.view()), Int::known(256)).expect("a complement")
        }),
        3.8,
    );
    let (a, shape) = (written("(128,64):(64,1)"), tuple("(16,8)"));
    let by = Tiler::Shape(shape.view());
    cute(
        "logical_divide by mode, (128,64):(64,1)",
        effort.nanoseconds(|_| tree::logical_divide(&opaque(a.view()), &by).expect("a quotient")),
        27.0,
    );
    cute(
        "zipped_divide((128,64):(64,1), (16,8))",
        effort.nanoseconds(|_| tree::zipped_divide(&opaque(a.view()), &by).expect("a quotient")),
        33.8,
    );
    let a = written("((2,4),(8,16)):((1,16),(2,64))");
    cute(
        "coalesce of the nested layout",
        effort.nanoseconds(|_| ops::coalesce(&opaque(a.view())).expect("coalesced")),
        4.5,
    );
    let at = tuple("77");
    cute(
        "crd2idx of an integer",
        effort.nanoseconds(|_| tree::crd2idx(opaque(&at).view(), &a.view()).expect("an index")),
        3.6,
    );
    let (a, b) = (written("(16,8):(8,1)"), tuple("(2,4)"));
    let by = Tiler::Shape(b.view());
    cute(
        "logical_product((16,8):(8,1), (2,4))",
        effort.nanoseconds(|_| tree::logical_product(&opaque(a.view()), &by).expect("a product")),
        17.1,
    );
    cute(
        "left_inverse((16,8):(8,1))",
        effort.nanoseconds(|_| ops::left_inverse(&opaque(a.view())).expect("an inverse")),
        13.0,
    );
    cute(
        "right_inverse((16,8):(8,1))",
        effort.nanoseconds(|_| ops::right_inverse(&opaque(a.view())).expect("an inverse")),
        5.5,
    );
    let mut tvm = |what: &str, nanoseconds: f64, peer: f64| {
        report.held(SECTION, what, nanoseconds / 1e3, "us", peer, TVM.to_string())
    };
    let fragment = named("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid");
    let view = fragment.view();
    let mut out = Coord::new();
    tvm(
        "apply, fragment with a replica",
        effort.nanoseconds(|call| view.apply_flat((call & 127) as u64, opaque(&mut out))),
        2.1,
    );
    let mut tile = written("(64,8):(1,64)");
    tile.set_post(PostMap::Swizzle(Swizzle { b: 3, m: 3, s: 3, unit: Unit::Element }))
        .expect("a memory axis");
    let tile = tile.view();
    tvm(
        "apply, swizzled tile",
        effort.nanoseconds(|call| tile.offset_on((call & 511) as u64, AxisId::M)),
        2.4,
    );
    let linear = convert::to_linear(&named("S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)]").view())
        .expect("powers of two");
    tvm(
        "apply, fragment in the linear form",
        effort.nanoseconds(|call| opaque(&linear).apply_packed((call & 127) as u64)),
        2.1,
    );
    let (outer, inner) = (named("S[(2,4):(4,1)]"), named("S[(8,8):(8,1)]"));
    let tiled = || {
        tirx::tile(&opaque(inner.view()), &[8, 8], &opaque(outer.view()), &[2, 4])
            .expect("a tile of tiles")
    };
    tvm("tile 8x8 by 2x4", effort.nanoseconds(|_| tiled()), 9.0);
    let summed = || {
        tirx::direct_sum(&opaque(inner.view()), &[8, 8], &opaque(outer.view()), &[2, 4])
            .expect("a sum")
    };
    tvm("direct_sum", effort.nanoseconds(|_| summed()), 7.7);
    tvm(
        "canonicalize, fragment",
        effort.nanoseconds(|_| tirx::canonicalize(&opaque(view)).expect("canonical")),
        1.9,
    );
    tvm(
        "group, fragment to (8,16)",
        effort.nanoseconds(|_| tirx::group(&opaque(view), &[8, 16]).expect("groups")),
        3.1,
    );
    let plain = named("S[(8,64):(64,1)]");
    tvm(
        "slice of a tile",
        effort.nanoseconds(|_| {
            tirx::slice(&opaque(plain.view()), &[8, 64], &[(2, 6), (8, 40)]).expect("a slice")
        }),
        9.8,
    );
    let size = view.size_value().expect("known");
    let mut sum = Coord::new();
    let whole = effort.nanoseconds(|_| {
        (0..size).filter(|x| view.apply_flat(*x, opaque(&mut sum)).is_ok()).count()
    });
    report.held(
        SECTION,
        "apply, all elements of a fragment",
        size as f64 / whole * 1e3,
        "M/s",
        GOAL,
        "the budget, elements a second on one core",
    );
    let odd = named("S[(24,96):(96,1)]");
    for (what, tile) in [("a swizzled tile", tile), ("24 rows of 96", odd.view())] {
        let size = tile.size_value().expect("known");
        let mut table = vec![0i64; size as usize];
        tile.table_on(AxisId::M, &mut table).expect("a table");
        let whole = effort.nanoseconds(|_| tile.table_on(AxisId::M, opaque(&mut table)).is_ok());
        report.held(
            SECTION,
            format!("apply, a whole table of {what}"),
            size as f64 / whole * 1e3,
            "M/s",
            GOAL,
            "the budget, elements a second on one core",
        );
    }
}
