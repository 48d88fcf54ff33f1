//! Triton's encodings: the worked examples of seed 002, refusals, and laws of shape operations.

use crate::axis::AxisId;
use crate::error::Error;
use crate::linear::{Hw, Linear, Logical};
use crate::notation::ttg::parse;
use crate::triton::address::Addresses;
use crate::triton::exchange::{ExchangeScope, crossings, renames_alike, scope};
use crate::triton::{
    Encoding, EncodingError, EncodingField, MatrixTiles, NoTiles, TileBit, TileRequest, TileSide,
    WarpTile, infer, to_linear,
};
use std::string::String;
use std::vec::Vec;

type L = Linear<Hw, Logical>;

fn e(text: &str) -> Encoding {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn l(text: &str, shape: &[u32]) -> L {
    to_linear(&e(text), shape, &NoTiles).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn refusal(text: &str, shape: &[u32]) -> EncodingError {
    to_linear(&e(text), shape, &NoTiles).expect_err(text)
}

/// The coordinates at (register, lane, warp).
fn at(layout: &L, register: u64, lane: u64, warp: u64) -> Vec<u64> {
    let ins = layout.ins();
    let put = |v, axis| ins.insert(v, axis).unwrap();
    let index = put(register, AxisId::REGISTER) | put(lane, AxisId::LANE) | put(warp, AxisId::WARP);
    let value = layout.apply_packed(index);
    layout.outs().iter().map(|(d, _)| layout.outs().extract(value, d).unwrap()).collect()
}

const ORDER_10: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [2, 2], order = [1, 0]}>";
const ORDER_01: &str = "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [0, 1]}>";

#[test]
fn seed_blocked_repeats_over_the_tensor() {
    // 16 x 4 threads of 1 x 8 elements and 2 x 2 warps cover 32 x 64; 64 x 128 is four repetitions.
    let a = l(ORDER_10, &[64, 128]);
    assert_eq!(a.ins().bits_of(AxisId::REGISTER), 5);
    assert_eq!(at(&a, 7, 0, 0), [0, 7]);
    assert_eq!(at(&a, 0, 1, 0), [0, 8]);
    assert_eq!(at(&a, 0, 4, 0), [1, 0]);
    assert_eq!(at(&a, 0, 0, 1), [0, 32]);
    assert_eq!(at(&a, 0, 0, 2), [16, 0]);
    assert_eq!(at(&a, 8, 0, 0), [0, 64]);
    assert_eq!(at(&a, 16, 0, 0), [32, 0]);
    // The other order is the transpose of the same thing.
    let b = l(ORDER_01, &[128, 64]);
    assert!(infer::transposed(&b, &[1, 0]).unwrap().same_map(&a));
    let named = infer::transposed_encoding(&e(ORDER_01), &[1, 0]).unwrap();
    assert_eq!(named, e(ORDER_10));
}

#[test]
fn seed_swizzle_and_padding_place_rows_on_other_banks() {
    // 32 x 64 x f16: vec 8, one row a phase, eight phases: phase = row % 8, column ((c / 8) ^
    // phase) * 8 + c % 8.
    let swizzled = e("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>");
    let addresses = Addresses::new(&swizzled, &[32, 64], 16).unwrap();
    // Padding of 8 elements after every 64.
    let padded = e("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>");
    let with_pads = Addresses::new(&padded, &[32, 64], 16).unwrap();
    for r in 0..32u32 {
        for c in 0..64u32 {
            let column = ((c / 8) ^ (r % 8)) * 8 + c % 8;
            assert_eq!(addresses.byte(&[r, c]), Ok(u64::from(2 * (64 * r + column))));
            assert_eq!(with_pads.byte(&[r, c]), Ok(u64::from(2 * (72 * r + c))));
        }
    }
    assert_eq!(addresses.bytes(), 32 * 128);
    assert_eq!(with_pads.bytes(), 2 * (31 * 72 + 64));
    assert_eq!(
        with_pads.element(&[32, 0]),
        Err(EncodingError::Layout(Error::OutOfRange { mode: 0, coord: 32, extent: 32 }))
    );
    assert_eq!(
        with_pads.element(&[0]),
        Err(EncodingError::Rank { field: EncodingField::Shape, expected: 2, found: 1 })
    );
    assert_eq!(to_linear(&padded, &[32, 64], &NoTiles).err(), Some(EncodingError::Padded));
}

/// The 16 x 16 x 16 form of the seed: four rows in registers, columns over sixteen lanes; operands
/// in runs of four.
pub(super) struct Seed;

impl MatrixTiles for Seed {
    fn tile(&self, request: TileRequest) -> Result<WarpTile, EncodingError> {
        let bits = |row: bool, list: &[u8]| -> Vec<TileBit> {
            list.iter().map(|b| if row { TileBit::Row(*b) } else { TileBit::Col(*b) }).collect()
        };
        let mut tile = WarpTile { run: 2, ..WarpTile::default() };
        let (registers, lanes) = match request.side {
            TileSide::A => {
                (bits(false, &[0, 1]), [bits(true, &[0, 1, 2, 3]), bits(false, &[2, 3])].concat())
            }
            _ => (bits(true, &[0, 1]), [bits(false, &[0, 1, 2, 3]), bits(true, &[2, 3])].concat()),
        };
        registers.iter().for_each(|b| tile.register.push(*b).unwrap());
        lanes.iter().for_each(|b| tile.lane.push(*b).unwrap());
        Ok(tile)
    }
}

#[test]
fn seed_mfma_and_its_operands() {
    let text = |transposed: &str| {
        String::from(
            "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 4], instrShape = [16, 16, 16], isTransposed = ",
        ) + transposed
            + "}>"
    };
    // Without transposition threads own four consecutive rows, with it four consecutive columns.
    let c = to_linear(&e(&text("false")), &[64, 64], &Seed).unwrap();
    assert_eq!((at(&c, 3, 0, 0), at(&c, 0, 16, 0)), ([3, 0].into(), [4, 0].into()));
    let t = to_linear(&e(&text("true")), &[64, 64], &Seed).unwrap();
    assert_eq!((at(&t, 3, 0, 0), at(&t, 0, 16, 0)), ([0, 3].into(), [0, 4].into()));
    // kWidth 8: each thread has eight consecutive k, two instructions' worth.
    let dot = |op: &str| {
        String::from("#ttg.dot_op<{opIdx = ")
            + op
            + ", parent = "
            + &text("false")
            + ", kWidth = 8}>"
    };
    let a = to_linear(&e(&dot("0")), &[64, 64], &Seed).unwrap();
    assert_eq!(
        (at(&a, 7, 0, 0), at(&a, 0, 16, 0), at(&a, 8, 0, 0)),
        ([0, 7].into(), [0, 8].into(), [0, 32].into())
    );
    let b = to_linear(&e(&dot("1")), &[64, 64], &Seed).unwrap();
    assert_eq!(
        (at(&b, 7, 0, 0), at(&b, 0, 16, 0), at(&b, 0, 1, 0)),
        ([7, 0].into(), [8, 0].into(), [0, 1].into())
    );
    // Warps along the other operand's dimension share.
    assert_eq!((at(&a, 0, 0, 1), at(&a, 0, 0, 4)), ([0, 0].into(), [16, 0].into()));
    assert!(matches!(
        refusal(&dot("0"), &[64, 64]),
        EncodingError::NoInstruction { m: 16, n: 16, .. }
    ));
}

#[test]
fn slices_nest_and_expand_again() {
    let text = String::from("#ttg.slice<{dim = 1, parent = ") + ORDER_10 + "}>";
    let rows = l(&text, &[64]);
    let whole = l(ORDER_10, &[64, 1]);
    assert_eq!(rows.ins().bits_of(AxisId::REGISTER), 1);
    let back = infer::expand_dims(&e(&text), &[64], 1, &NoTiles).unwrap();
    assert!(back.same_map(&whole));
    // Another axis: a dimension of extent 1 is put in, nothing else changes.
    let other = infer::expand_dims(&e(&text), &[64], 0, &NoTiles).unwrap();
    assert!(infer::reshaped(&other, &[64]).unwrap().same_map(&rows));
    assert_eq!(
        refusal(&(String::from("#ttg.slice<{dim = 3, parent = ") + ORDER_10 + "}>"), &[64]),
        EncodingError::BadValue { field: EncodingField::Dim, value: 3 }
    );
}

#[test]
fn shape_operations_undo_each_other() {
    let a = l(ORDER_10, &[64, 128]);
    let reshaped = infer::reshaped(&a, &[4, 16, 128]).unwrap();
    assert!(infer::reshaped(&reshaped, &[64, 128]).unwrap().same_map(&a));
    assert_eq!(
        infer::reshaped(&a, &[64, 64]).err(),
        Some(EncodingError::Reshape { old: 13, new: 12 })
    );
    let joined = infer::join(&a).unwrap();
    assert_eq!(joined.outs().bits_of(AxisId::dim(2)), 1);
    assert!(infer::split(&joined).unwrap().same_map(&a));
    assert_eq!(infer::split(&a).err(), Some(EncodingError::CannotSplit { extent: 128 }));
    assert_eq!(
        infer::transposed(&a, &[0, 0]).err(),
        Some(EncodingError::NotAnOrder { at: 1, value: 0 })
    );
}

#[test]
fn blocks_split_and_share() {
    let text = String::from(
        "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0], [0, 0]]}>",
    );
    let a = l(&text, &[8, 32]);
    assert_eq!(a.column_on(AxisId::BLOCK, 0, AxisId::dim(0)), Some(4));
    assert_eq!(a.column(AxisId::BLOCK, 1), Some(0));
    // One row cannot be split: both blocks hold it.
    assert_eq!(l(&text, &[1, 32]).column(AxisId::BLOCK, 0), Some(0));
}

#[test]
fn exchanges_have_scopes() {
    let a = l(ORDER_10, &[64, 128]);
    assert_eq!(scope(&a, &a), ExchangeScope::Thread);
    assert!(renames_alike(&a, &a));
    let lanes = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [2, 2], order = [0, 1]}>";
    assert_eq!(scope(&l(ORDER_10, &[32, 64]), &l(lanes, &[32, 64])), ExchangeScope::Block);
    let one = |order: &str| {
        String::from(
            "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = ",
        ) + order
            + "}>"
    };
    assert_eq!(
        scope(&l(&one("[0, 1]"), &[8, 4]), &l(&one("[1, 0]"), &[8, 4])),
        ExchangeScope::Warp
    );
    // Lanes permute; then two bits change places with registers.
    let rows = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>";
    let columns = "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>";
    assert_eq!(crossings(&l(&one("[0, 1]"), &[8, 4]), &l(&one("[1, 0]"), &[8, 4])), 0);
    let (a, b) = (l(rows, &[32, 4]), l(columns, &[32, 4]));
    assert_eq!(
        (scope(&a, &b), crossings(&a, &b), crossings(&b, &a), crossings(&a, &a)),
        (ExchangeScope::Warp, 2, 2, 0)
    );
}

#[test]
fn refusals_say_why() {
    use EncodingError as E;
    let nvmma = |swizzle: &str, rest: &str| {
        String::from("#ttg.nvmma_shared<{swizzlingByteWidth = ")
            + swizzle
            + ", transposed = false, elementBitWidth = 16"
            + rest
            + "}>"
    };
    assert_eq!(refusal(&nvmma("128", ""), &[64, 32]), E::SpanTooShort { needed: 64, found: 32 });
    assert_eq!(refusal(&nvmma("128", ""), &[4, 64]), E::TooFewRows { needed: 8, found: 4 });
    assert_eq!(refusal(&nvmma("128", ", rank = 1"), &[64]), E::SwizzleNeedsRows { rank: 1 });
    assert_eq!(
        refusal(&nvmma("48", ""), &[64, 64]),
        E::BadValue { field: EncodingField::SwizzlingByteWidth, value: 48 }
    );
    let tensor = |text: &str| String::from("#ttng.tensor_memory_encoding<") + text + ">";
    assert_eq!(
        refusal(&tensor("blockM = 128, blockN = 64"), &[64, 64]),
        E::BlockTooLarge { dim: 0, block: 128, extent: 64 }
    );
    assert_eq!(
        refusal(&tensor("blockM = 64, blockN = 64, colStride = 2, fp4Padded = true"), &[64, 64]),
        E::Fp4ColStride { found: 2 }
    );
    assert_eq!(
        refusal(&tensor("blockM = 32, blockN = 64"), &[64, 64]),
        E::BadValue { field: EncodingField::BlockM, value: 32 }
    );
    let linear = |bases: &str| {
        String::from("#ttg.linear<{register = ")
            + bases
            + ", lane = [[1], [2]], warp = [], block = []}>"
    };
    assert_eq!(refusal(&linear("[[12]]"), &[16]), E::NotAPermutation { input: 0, bit: 0 });
    assert_eq!(refusal(&linear("[[2]]"), &[4]), E::NotAPermutation { input: 1, bit: 1 });
    assert_eq!(
        refusal(ORDER_10, &[64, 96]),
        E::NotPowerOfTwo { field: EncodingField::Shape, at: 1, value: 96 }
    );
    assert_eq!(
        refusal(ORDER_10, &[64]),
        E::Rank { field: EncodingField::SizePerThread, expected: 1, found: 2 }
    );
    let three = "#ttg.blocked<{sizePerThread = [1, 3], threadsPerWarp = [16, 4], warpsPerCTA = [2, 2], order = [1, 0]}>";
    assert_eq!(
        refusal(three, &[64, 64]),
        E::NotPowerOfTwo { field: EncodingField::SizePerThread, at: 1, value: 3 }
    );
    let mma = |n: &str| {
        String::from("#ttg.nvidia_mma<{versionMajor = 3, warpsPerCTA = [4, 1], instrShape = [16, ")
            + n
            + ", 16]}>"
    };
    assert_eq!(refusal(&mma("24"), &[64, 64]), E::OddInstruction { n: 24 });
    assert_eq!(refusal("#gluon.auto_encoding", &[64]), E::Placeholder);
    let tall = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [64, 4, 4], isTransposed = false}>";
    assert_eq!(refusal(tall, &[64, 64]), E::MustBeTransposed { m: 64, n: 4 });
    let dot = String::from("#ttg.dot_op<{opIdx = 1, parent = ") + &mma("32") + ", kWidth = 2}>";
    assert_eq!(refusal(&dot, &[64, 64]), E::OperandInMemory { operand: 1 });
    let dot = String::from("#ttg.dot_op<{opIdx = 2, parent = ") + &mma("32") + ", kWidth = 2}>";
    assert_eq!(refusal(&dot, &[64, 64]), E::BadValue { field: EncodingField::OpIdx, value: 2 });
}

#[test]
fn partitions_deal_pieces_round_robin() {
    let inner = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>";
    let text = String::from(
        "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = ",
    ) + inner
        + "}>";
    // 128 rows are eight pieces of sixteen: even pieces in one allocation, odd ones in the other.
    let a = l(&text, &[128, 32]);
    assert_eq!(a.column_on(AxisId::BANK, 0, AxisId::dim(0)), Some(16));
    assert_eq!(a.column_on(AxisId::M, 9, AxisId::dim(0)), Some(32));
    assert!(a.is_bijective());
}

#[test]
fn linear_layouts_stand_side_by_side() {
    let a = L::identity1d(2, AxisId::REGISTER, AxisId::dim(0)).unwrap();
    let b = L::identity1d(2, AxisId::LANE, AxisId::dim(0)).unwrap();
    let both = a.concat_ins(&b).unwrap();
    assert_eq!(both.columns(), [1, 2, 1, 2]);
    assert!(a.concat_ins(&a).is_err());
    let c = L::identity1d(2, AxisId::REGISTER, AxisId::dim(1)).unwrap();
    assert_eq!(a.concat_outs(&c).unwrap().columns(), [5, 10]);
    assert!(a.is_zero_between(&[AxisId::REGISTER], &[AxisId::dim(1)]));
    assert!(a.squeeze_in(AxisId::REGISTER).is_err());
}
