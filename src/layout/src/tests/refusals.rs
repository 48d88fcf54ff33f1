//! Refusals that no other test reaches: each capacity, each parameter of an encoding, each failing
//! sink.

use super::{c, t};
use crate::convert::to_affine;
use crate::cute::intern::Record;
use crate::cute::{Arena, equivalent};
use crate::error::{Error, Limit, NotLinear};
use crate::notation::ttg::parse;
use crate::notation::{Expected, ParseError, PrintError, cute, tileas, tirx, ttg, ttg_print};
use crate::triton::{
    EncodingError as E, EncodingField, MatrixTiles, TileRequest, WarpTile, to_linear,
};
use crate::{
    AxisId, Coord, Dims, Hw, Int, Iter, Layout, LayoutRef, Linear, Logical, NoSyms, Offset, Pad,
    Padding, PostMap, Profile, SymNames, SymTable, Unit, WellKnown,
};
use core::fmt::{self, Write};
use std::string::String;

fn full<T>(limit: Limit, max: u32) -> Result<T, Error> {
    Err(Error::Capacity { limit, max })
}

#[test]
fn capacities_are_named() {
    let mut at = Coord::new();
    for k in 0..16u16 {
        at.add(AxisId(k), 1).unwrap();
    }
    assert_eq!(at.add(AxisId(16), 1), full(Limit::Axes, 16));
    let mut many = Layout::new();
    for k in 0..17u16 {
        many.push_shard(Iter::new(2, 1, AxisId(k))).unwrap();
    }
    assert_eq!(many.view().axes(), full(Limit::Axes, 16));
    let mut syms = SymTable::new();
    let mut product = Int::ONE;
    for name in ["a", "b", "c"] {
        product = product.checked_mul(Int::sym(syms.sym(name).unwrap())).unwrap();
    }
    assert_eq!(product.checked_mul(Int::sym(syms.sym("d").unwrap())), full(Limit::SymFactors, 3));
    let mut dims = Dims::new();
    for k in 0..16u16 {
        dims.push(AxisId(k), 0).unwrap();
    }
    assert_eq!(dims.push(AxisId(16), 0), full(Limit::Dims, 16));
    let one = [2u32];
    let shapes: [&[u32]; 9] = [&one; 9];
    let grouped = crate::tirx::group_many(&t("S[2:1]").view(), &shapes);
    assert!(matches!(grouped, Err(Error::Capacity { limit: Limit::Shapes, .. })));
    // An arena that is full says so and stays as it was.
    let (mut records, mut iters, mut tokens) =
        ([Record::EMPTY; 1], [Iter::new(1, 0, AxisId::M); 3], [0u8; 8]);
    let mut offsets = [Offset::new(0, AxisId::M); 1];
    let mut arena = Arena::new(&mut records, &mut iters, &mut tokens, &mut offsets);
    assert_eq!(arena.intern(&c("(2,2,2,2):(1,2,4,8)").view()), full(Limit::Arena, 3));
    assert!(arena.is_empty());
    let id = arena.intern(&c("8:1").view()).unwrap();
    assert_eq!(arena.intern(&c("8:2").view()), full(Limit::Arena, 1));
    assert_eq!((arena.intern(&c("8:1").view()), arena.len()), (Ok(id), 1));
    let mut none: [Record; 0] = [];
    let mut empty = Arena::new(&mut none, &mut iters, &mut tokens, &mut offsets);
    assert_eq!(empty.intern(&c("8:1").view()), full(Limit::Arena, 0));
}

#[test]
fn forms_that_do_not_fit() {
    let mut l = c("16:1");
    l.set_post(PostMap::Padding(
        Padding::new(&[Pad { interval: 4, pad: 1 }], Unit::Element).unwrap(),
    ))
    .unwrap();
    let padded =
        Err(Error::NotLinear { iter: u8::MAX, extent: 0, stride: 0, why: NotLinear::Padding });
    assert_eq!(to_affine(&l.view()).map(|_| ()), padded);
    // Two post-maps that differ on a layout without a linear form: the answer is not guessed.
    let (a, b) = (c("S<1,0,1> o 0 o (3,3):(1,3)"), c("S<1,0,2> o 0 o (3,3):(1,3)"));
    assert_eq!(equivalent(&a.view(), &b.view()), Err(Error::Undecided { steps: 0 }));
    // A padding whose first interval is never left does nothing.
    let mut whole = c("(3,3):(1,3)");
    whole
        .set_post(PostMap::Padding(
            Padding::new(&[Pad { interval: 9, pad: 1 }], Unit::Element).unwrap(),
        ))
        .unwrap();
    assert_eq!(equivalent(&whole.view(), &c("9:1").view()), Ok(true));
    // One that begins at the last position moves that.
    whole
        .set_post(PostMap::Padding(
            Padding::new(&[Pad { interval: 8, pad: 1 }], Unit::Element).unwrap(),
        ))
        .unwrap();
    assert_ne!(equivalent(&whole.view(), &c("9:1").view()), Ok(true));
    // A swizzle down reads below where it writes: position 1 becomes 5.
    let down = c("S<1,0,-2> o 0 o 4:1");
    assert_eq!(down.view().offset_on(1, AxisId::M), Ok(5));
    assert_eq!(equivalent(&down.view(), &c("4:1").view()), Ok(false));
    let ins = Dims::one(AxisId::LANE, 3).unwrap();
    let outs = Dims::one(AxisId::dim(0), 3).unwrap();
    let short = Linear::<Hw, Logical>::from_columns(ins, outs, &[1, 2]);
    assert_eq!(short, Err(Error::DimBits { axis: AxisId::LANE, expected: 3, found: 2 }));
    let wide = Linear::<Hw, Logical>::from_columns(
        Dims::one(AxisId::LANE, 1).unwrap(),
        Dims::one(AxisId::dim(0), 1).unwrap(),
        &[2],
    );
    assert_eq!(wide, full(Limit::Bits, 1));
    // A sum of positions that is searched for too long.
    let mut hard = Layout::new();
    for k in 0..32i64 {
        hard.push_shard(Iter::new(
            40,
            1_000_000_007 * (k + 3) * (k + 3) + 7919 * k * k * k + 13 * k,
            AxisId::M,
        ))
        .unwrap();
    }
    let searched = hard.view().is_injective();
    assert!(
        matches!(searched, Err(Error::Undecided { .. }) | Ok(_)),
        "an answer or none, in bounded time: {searched:?}"
    );
}

/// Tiles of one element a lane, for whatever instruction.
struct Any;

impl MatrixTiles for Any {
    fn tile(&self, _: TileRequest) -> Result<WarpTile, E> {
        let mut tile = WarpTile::default();
        for bit in 0..3 {
            tile.lane.push(crate::triton::TileBit::Row(bit))?;
        }
        Ok(tile)
    }
}

/// What refuses an encoding: its text, where it contradicts itself, or its linear form.
fn refusal(text: &str, shape: &[u32]) -> E {
    match parse(text) {
        Ok(encoding) => to_linear(&encoding, shape, &Any).expect_err(text),
        Err(ParseError { expected: Expected::Encoding(why), .. }) => why,
        Err(e) => panic!("{text}: {e:?}"),
    }
}

#[test]
fn every_parameter_is_checked() {
    let not_a_power = |field, at, value| E::NotPowerOfTwo { field, at, value };
    let rank = |field, expected, found| E::Rank { field, expected, found };
    let blocked = |threads: &str, warps: &str, order: &str, cga: &str| {
        std::format!(
            "#ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = {threads}, warpsPerCTA = {warps}, order = {order}, CGALayout = {cga}}}>"
        )
    };
    let shape = [64, 64];
    assert_eq!(
        refusal(&blocked("[3, 8]", "[1, 1]", "[1, 0]", "[]"), &shape),
        not_a_power(EncodingField::ThreadsPerWarp, 0, 3)
    );
    assert_eq!(
        refusal(&blocked("[8]", "[1, 1]", "[1, 0]", "[]"), &shape),
        rank(EncodingField::ThreadsPerWarp, 2, 1)
    );
    assert_eq!(
        refusal(&blocked("[4, 8]", "[1, 6]", "[1, 0]", "[]"), &shape),
        not_a_power(EncodingField::WarpsPerCta, 1, 6)
    );
    assert_eq!(
        refusal(&blocked("[4, 8]", "[1, 1]", "[1, 1]", "[]"), &shape),
        E::NotAnOrder { at: 1, value: 1 }
    );
    assert_eq!(
        refusal(&blocked("[4, 8]", "[1, 1]", "[1]", "[]"), &shape),
        rank(EncodingField::Order, 2, 1)
    );
    assert_eq!(
        refusal(&blocked("[4, 8]", "[1, 1]", "[1, 0]", "[[0, 0, 1]]"), &shape),
        rank(EncodingField::Cga, 2, 3)
    );
    // A cluster must not leave a block out.
    assert_eq!(
        refusal(&blocked("[4, 8]", "[1, 1]", "[1, 0]", "[[2, 0]]"), &shape),
        E::ClusterNotCovered { dim: 0, bits: 2 }
    );
    // Bases that mix dimensions are fine as long as they reach every block.
    let mixed = blocked("[4, 8]", "[1, 1]", "[1, 0]", "[[1, 0], [1, 1], [0, 1]]");
    assert!(to_linear(&parse(&mixed).unwrap(), &shape, &Any).is_ok());
    let mma = |major: u32, warps: &str, instr: &str| {
        std::format!(
            "#ttg.nvidia_mma<{{versionMajor = {major}, warpsPerCTA = {warps}, instrShape = {instr}}}>"
        )
    };
    assert_eq!(refusal(&mma(2, "[4]", "[16, 8]"), &shape), rank(EncodingField::WarpsPerCta, 2, 1));
    assert_eq!(
        refusal(&mma(2, "[4, 1]", "[1, 16, 8]"), &shape),
        rank(EncodingField::InstrShape, 2, 3)
    );
    assert_eq!(
        refusal(&mma(2, "[4, 1]", "[16, 70000]"), &shape),
        E::BadValue { field: EncodingField::InstrShape, value: 70000 }
    );
    assert_eq!(
        refusal(&mma(5, "[4, 1]", "[16, 8]"), &shape),
        E::BadValue { field: EncodingField::Version, value: 5 }
    );
    let dot = std::format!(
        "#ttg.dot_op<{{opIdx = 0, parent = {}, kWidth = 3}}>",
        mma(2, "[4, 1]", "[16, 8]")
    );
    assert_eq!(refusal(&dot, &shape), not_a_power(EncodingField::KWidth, 0, 3));
    let mfma = |tiles: &str| {
        std::format!(
            "#ttg.amd_mfma<{{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 16], isTransposed = true, tilesPerWarp = {tiles}}}>"
        )
    };
    assert_eq!(refusal(&mfma("[1]"), &shape), rank(EncodingField::TilesPerWarp, 2, 1));
    assert_eq!(refusal(&mfma("[1, 3]"), &shape), not_a_power(EncodingField::TilesPerWarp, 1, 3));
    let wmma = |bases: &str| {
        std::format!(
            "#ttg.amd_wmma<{{version = 2, ctaLayout = {{warp = {bases}}}, instrShape = [16, 16, 16], rank = 2}}>"
        )
    };
    assert_eq!(refusal(&wmma("[[0, 0, 1]]"), &shape), rank(EncodingField::Bases, 2, 3));
    let linear = "#ttg.linear<{register = [[1]], lane = [[2]], warp = [], block = []}>";
    assert_eq!(refusal(linear, &shape), rank(EncodingField::Bases, 2, 1));
    let swizzled = |vec: u32, per: u32, most: u32| {
        std::format!(
            "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = [1, 0]}}>"
        )
    };
    assert_eq!(refusal(&swizzled(3, 1, 1), &shape), not_a_power(EncodingField::Vec, 0, 3));
    assert_eq!(refusal(&swizzled(1, 0, 1), &shape), not_a_power(EncodingField::PerPhase, 0, 0));
    assert_eq!(refusal(&swizzled(1, 1, 6), &shape), not_a_power(EncodingField::MaxPhase, 0, 6));
    let nvmma =
        "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 12}>";
    assert_eq!(refusal(nvmma, &shape), not_a_power(EncodingField::ElementBitWidth, 0, 12));
    let memory = |n: u32, stride: u32| {
        std::format!(
            "#ttng.tensor_memory_encoding<blockM = 64, blockN = {n}, colStride = {stride}>"
        )
    };
    assert_eq!(refusal(&memory(24, 1), &shape), not_a_power(EncodingField::BlockN, 0, 24));
    assert_eq!(refusal(&memory(32, 3), &shape), not_a_power(EncodingField::ColStride, 0, 3));
    let parts = |n: u32| {
        std::format!(
            "#ttg.partitioned_shared<{{numPartitions = {n}, numGroups = 1, partitionDim = 0, partitionLayout = {}}}>",
            swizzled(1, 1, 1)
        )
    };
    assert_eq!(refusal(&parts(3), &shape), not_a_power(EncodingField::Partitions, 0, 3));
    assert_eq!(
        refusal(&parts(128), &shape),
        E::BadValue { field: EncodingField::Partitions, value: 128 }
    );
    let padded = parse("#ttg.padded_shared<[0:+8] {order = [1, 0], shape = [64, 64]}>").unwrap();
    let addresses = crate::triton::address::Addresses::new(&padded, &shape, 16).map(|_| ());
    assert_eq!(addresses, Err(E::BadValue { field: EncodingField::Interval, value: 0 }));
    // A tile in which one bit of the lane moves two of the element.
    let outs = Dims::from_slice(&[(AxisId::dim(0), 1), (AxisId::dim(1), 1)]).unwrap();
    let odd = Linear::<Hw, Logical>::from_columns(Dims::one(AxisId::LANE, 1).unwrap(), outs, &[3])
        .unwrap();
    assert_eq!(WarpTile::from_linear(&odd), Err(E::OddTile));
}

/// A sink that takes so many bytes and then fails.
struct Narrow(usize);

impl Write for Narrow {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}

#[test]
fn printers_pass_a_full_sink_on() {
    let l = c("S<3,4,3> o 8 o ((2,2),4):((1,2),4)");
    let whole = super::show(&l).len();
    let named = t("S[(8,4):(4@laneid,1@laneid)] + R[2:1@warpid] + 5@warpid");
    let attribute = parse("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [4, 4]}>").unwrap();
    let elements = [("f16", 16u16)];
    let descriptor =
        tileas::parse("<(16,8),(1,16),swizzle<2,4,3>,elem=f16>", &elements[..]).unwrap();
    for room in 0..12 {
        assert_eq!(
            cute::print(&l.view(), &WellKnown, &NoSyms, &mut Narrow(room)),
            Err(PrintError::Sink)
        );
        assert_eq!(
            tirx::print(&named.view(), &WellKnown, &NoSyms, &mut Narrow(room)),
            Err(PrintError::Sink)
        );
        assert_eq!(ttg_print::print(&mut Narrow(room), &attribute), Err(PrintError::Sink));
        assert_eq!(
            tileas::print(&descriptor, &elements[..], &mut Narrow(room)),
            Err(PrintError::Sink)
        );
    }
    assert_eq!(cute::print(&l.view(), &WellKnown, &NoSyms, &mut Narrow(whole)), Ok(()));
    let mut syms = SymTable::new();
    let open = cute::parse("(M,4):(1,M)", &WellKnown, &mut syms).unwrap();
    let sym = syms.sym("M").unwrap();
    assert_eq!(
        cute::print(&open.view(), &WellKnown, &NoSyms, &mut String::new()),
        Err(PrintError::UnnamedSymbol(sym))
    );
    let bad = [Iter::new(4, 1, AxisId::M)];
    let bad = LayoutRef { profile: Profile::from_tokens(&[1, 0]), ..LayoutRef::new(&bad) };
    let fault = bad.check().unwrap_err();
    assert_eq!(
        cute::print(&bad, &WellKnown, &NoSyms, &mut String::new()),
        Err(PrintError::Invalid(fault))
    );
    let none: [(&str, u16); 0] = [];
    let missing = PrintError::Invalid(Error::Capacity { limit: Limit::Symbols, max: 0 });
    assert_eq!(tileas::print(&descriptor, &none[..], &mut String::new()), Err(missing));
}

#[test]
fn brackets_are_asked_for_where_they_are_missing() {
    let at = |text: &str| ttg::parse(text).map(|_| ()).map_err(|e| (e.line, e.col, e.expected));
    assert_eq!(
        at("#ttg.swizzled_shared<{vec = 8 perPhase = 1}>"),
        Err((1, 31, Expected::CloseBrace))
    );
    assert_eq!(
        at("#ttg.swizzled_shared<vec = 8 perPhase = 1>"),
        Err((1, 30, Expected::CloseAngle))
    );
    assert_eq!(
        at("#ttg.amd_wmma<{ctaLayout = [register = []]}>"),
        Err((1, 28, Expected::OpenBrace))
    );
    assert_eq!(
        cute::parse_swizzle("S<3,4,3").map_err(|e| (e.line, e.col, e.expected)),
        Err((1, 8, Expected::CloseAngle))
    );
}
