//! Tiles from the tables, strided accumulators, bank conflicts.

use crate::encoding::conflicts::{
    Collision, ReadWrite, RegisterAccess, StridedAccess, count, count_strided, model, vector_bits,
};
use crate::encoding::{TableTiles, strided, to_linear};
use lanebook::TABLES;
use lanebook_layout::AxisId;
use lanebook_layout::notation::ttg::parse;
use lanebook_layout::triton::address::Addresses;
use lanebook_layout::triton::{
    Base, Encoding, EncodingError, MatrixTiles, MatrixUnit, TileRequest, TileSide,
};
use lanebook_tables::BankModel;
use std::format;
use std::string::String;
use std::vec::Vec;

fn e(text: &str) -> Encoding {
    parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

#[test]
fn every_matrix_atom_gives_tiles() {
    let mut seen = 0;
    for (k, arch) in TABLES.archs.iter().enumerate() {
        let tiles = TableTiles::new(&TABLES, lanebook_tables::ArchId(k as u16));
        for atom in arch.atoms {
            let Some(shape) = TABLES.atom(atom.atom).and_then(|a| a.matrix) else { continue };
            // An N that is no power of two has no tile of bits.
            let (unit, m) = if shape.m == 64 {
                (MatrixUnit::WarpGroup, 16)
            } else {
                (MatrixUnit::Mfma(0), shape.m)
            };
            for side in [TileSide::A, TileSide::D] {
                let request =
                    TileRequest { unit, side, m, n: shape.n, k: shape.k, accumulator_bits: 0 };
                let tile = tiles.tile(request);
                assert_eq!(
                    tile.is_ok(),
                    side == TileSide::A || shape.n.is_power_of_two(),
                    "{} {request:?} {tile:?}",
                    arch.name
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 100);
}

#[test]
fn unknown_instructions_are_refused() {
    let arch = TABLES.arch_named("sm_80").unwrap();
    let mma = e("#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [4, 1], instrShape = [32, 8]}>");
    assert_eq!(
        to_linear(&TABLES, arch, &mma, &[64, 64]).err(),
        Some(EncodingError::NoInstruction { m: 32, n: 8, k: 0, bits: 0 })
    );
}

#[test]
fn an_odd_n_is_strided() {
    let arch = TABLES.arch_named("sm_90a").unwrap();
    let tiles = TableTiles::new(&TABLES, arch);
    let mma =
        e("#ttg.nvidia_mma<{versionMajor = 3, warpsPerCTA = [4, 1], instrShape = [16, 24, 16]}>");
    assert_eq!(
        to_linear(&TABLES, arch, &mma, &[64, 64]).err(),
        Some(EncodingError::OddInstruction { n: 24 })
    );
    let Base::NvidiaMma(mma) = mma.base else { panic!() };
    // Three instructions of 24 columns cover 64.
    let layout = strided::accumulators(&tiles, &mma, 64, 64).unwrap();
    let size = layout.view().size().unwrap().value();
    assert_eq!(size, Ok(64 * 72));
    assert!(
        strided::accumulators(
            &tiles,
            &lanebook_layout::triton::NvidiaMma { major: 2, ..mma },
            64,
            64
        )
        .is_err()
    );
}

/// 32 lanes read one column of a row-major tile of 32-bit words, 32 columns wide.
#[test]
fn a_column_conflicts_and_a_swizzle_or_a_pad_helps() {
    let registers = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [0, 1]}>";
    let arch = TABLES.arch_named("sm_80").unwrap();
    let registers = to_linear(&TABLES, arch, &e(registers), &[32, 32]).unwrap();
    let model: &BankModel<'_> =
        TABLES.arch(arch).unwrap().banks.iter().find(|b| b.name == "access32").unwrap();
    let conflicts = |shared: &str| {
        let shared = Addresses::new(&e(shared), &[32, 32], 32).unwrap();
        let mut list: Vec<Collision> = Vec::new();
        let access = RegisterAccess { registers: &registers, shared: &shared, vector_bytes: 4 };
        let found = count(&access, 0, 0, model, |c| list.push(c)).unwrap();
        (found.transactions, list)
    };
    let (plain, pairs) =
        conflicts("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>");
    assert_eq!((plain, pairs.len()), (32, 32 * 31 / 2));
    assert_eq!(pairs[0], Collision { group: 0, bank: 0, lanes: (0, 1), words: (0, 32) });
    let (swizzled, pairs) =
        conflicts("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 32, order = [1, 0]}>");
    assert_eq!((swizzled, pairs.len()), (1, 0));
    let (padded, pairs) =
        conflicts("#ttg.padded_shared<[32:+1] {order = [1, 0], shape = [32, 32]}>");
    assert_eq!((padded, pairs.len()), (1, 0));
    let (halved, pairs) =
        conflicts("#ttg.padded_shared<[32:+2] {order = [1, 0], shape = [32, 32]}>");
    assert_eq!((halved, pairs.len()), (2, 16));
}

#[test]
fn vectors_follow_registers_and_padding() {
    let registers = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>";
    let arch = TABLES.arch_named("sm_80").unwrap();
    let registers = to_linear(&TABLES, arch, &e(registers), &[32, 64]).unwrap();
    let width = |text: &str, bits: u16| {
        vector_bits(&registers, &Addresses::new(&e(text), &[32, 64], bits).unwrap()).unwrap()
    };
    let plain = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>";
    assert_eq!((width(plain, 16), width(plain, 32), width(plain, 8)), (3, 2, 3));
    // A swizzle of four elements leaves vectors of four.
    assert_eq!(
        width("#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>", 16),
        2
    );
    let padded = |pair: &str| {
        String::from("#ttg.padded_shared<[") + pair + "] {order = [1, 0], shape = [32, 64]}>"
    };
    assert_eq!(
        (width(&padded("64:+8"), 16), width(&padded("64:+4"), 16), width(&padded("2:+8"), 16)),
        (3, 2, 1)
    );
    assert_eq!(registers.column_on(AxisId::REGISTER, 0, AxisId::dim(1)), Some(1));
}

#[test]
fn unusable_bank_models_are_refused() {
    let arch = TABLES.arch_named("sm_80").unwrap();
    let layout = "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>";
    let registers = to_linear(&TABLES, arch, &e(layout), &[1, 32]).unwrap();
    let shared = Addresses::new(
        &e("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"),
        &[1, 32],
        32,
    )
    .unwrap();
    let access = RegisterAccess { registers: &registers, shared: &shared, vector_bytes: 4 };
    let model = TABLES.arch(arch).unwrap().banks[0];
    assert_eq!(count(&access, 0, 0, &BankModel { banks: 0, ..model }, |_| {}), None);
    assert_eq!(count(&access, 9, 0, &model, |_| {}), None);
}

/// 24 lanes read a column of 24 words each of a tile of 24 columns: no matrix over bits says it.
#[test]
fn strided_layouts_are_counted_too() {
    use lanebook_layout::notation::tirx;
    use lanebook_layout::{Layout, NoSyms, Pad, Padding, PostMap, Unit, WellKnown, ops};
    let arch = TABLES.arch_named("sm_80").unwrap();
    let read = model(&TABLES, arch, 4, ReadWrite::Read).unwrap();
    assert_eq!(read.name, "access32");
    assert_eq!(model(&TABLES, arch, 3, ReadWrite::Read).map(|m| m.name), None);
    let layout = |text: &str| -> Layout { tirx::parse(text, &WellKnown, &mut NoSyms).unwrap() };
    let registers = layout("S[(24,24):(1@laneid,32@bit)]");
    let inverse = ops::guarded_inverse(&registers.view()).unwrap();
    let worst = |shared: &Layout| {
        let access = StridedAccess {
            registers: &inverse,
            shared: shared.view(),
            element_bits: 32,
            vector_bytes: 4,
        };
        let mut pairs = 0;
        let found = count_strided(&access, 32 * 5, 0, read, |_| pairs += 1).unwrap();
        (found.transactions, pairs)
    };
    let mut tile = layout("S[(24,24):(24,1)]");
    // By hand: lane l reads word 24 l + 5, and 24 l takes four values modulo 32, six lanes each.
    assert_eq!(worst(&tile), (6, 4 * 15));
    tile.set_post(PostMap::Padding(
        Padding::new(&[Pad { interval: 24, pad: 1 }], Unit::Element).unwrap(),
    ))
    .unwrap();
    assert_eq!(worst(&tile), (1, 0));
    // Lanes 24 to 31 hold nothing; beyond the registers nobody does.
    let access = StridedAccess {
        registers: &inverse,
        shared: tile.view(),
        element_bits: 32,
        vector_bytes: 4,
    };
    assert_eq!(count_strided(&access, 32 * 24, 0, read, |_| {}).unwrap().transactions, 0);
    let small = layout("S[(4,24):(24,1)]");
    assert_eq!(
        count_strided(&StridedAccess { shared: small.view(), ..access }, 0, 0, read, |_| {}),
        None
    );
}

/// Both ways of counting agree on layouts that both forms can say, for every width, way and
/// architecture.
#[test]
fn both_forms_count_alike() {
    use lanebook_layout::{Layout, convert, ops};
    let text = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>";
    let mut seen = 0;
    for (k, _) in TABLES.archs.iter().enumerate() {
        let arch = lanebook_tables::ArchId(k as u16);
        let registers = to_linear(&TABLES, arch, &e(text), &[16, 64]).unwrap();
        let strided: Layout = convert::to_strided(&registers.invert().unwrap()).unwrap();
        // Columns are the fastest mode of a flat coordinate, registers count elements of 16 bits.
        let places =
            ops::sublayout(&strided.view(), &[1, 0], &[AxisId::REGISTER, AxisId::LANE]).unwrap();
        let mut by_bits = Layout::new();
        for it in places.view().shard {
            let (stride, axis) =
                if it.axis() == AxisId::REGISTER { (16, AxisId::BIT) } else { (1, it.axis()) };
            by_bits
                .push_shard(lanebook_layout::Iter::new(
                    it.extent_value().unwrap(),
                    stride * it.stride_value().unwrap(),
                    axis,
                ))
                .unwrap();
        }
        let inverse = ops::guarded_inverse(&by_bits.view()).unwrap();
        for (shared, shared_text) in [
            (
                "(64,16):(1,64)",
                "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>",
            ),
            (
                "S<3,3,3> o 0 o (64,16):(1,64)",
                "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
            ),
        ] {
            let shared = lanebook_layout::notation::cute::parse(
                shared,
                &lanebook_layout::WellKnown,
                &mut lanebook_layout::NoSyms,
            )
            .unwrap();
            let addresses = Addresses::new(&e(shared_text), &[16, 64], 16).unwrap();
            for (bytes, way) in [2u16, 4, 8, 16]
                .into_iter()
                .flat_map(|b| [(b, ReadWrite::Read), (b, ReadWrite::Write)])
            {
                let Some(model) = model(&TABLES, arch, bytes, way) else { continue };
                for register in 0..4u32 {
                    let linear = RegisterAccess {
                        registers: &registers,
                        shared: &addresses,
                        vector_bytes: bytes,
                    };
                    let strided = StridedAccess {
                        registers: &inverse,
                        shared: shared.view(),
                        element_bits: 16,
                        vector_bytes: bytes,
                    };
                    let (mut one, mut other) = (Vec::new(), Vec::new());
                    let first = count(&linear, register, 0, model, |c| one.push(c));
                    assert_eq!(
                        first,
                        count_strided(&strided, 16 * register, 0, model, |c| other.push(c))
                    );
                    assert_eq!(one, other);
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

/// An operand whose instruction names a k that the architecture does not have: lanes share k in the
/// manner of its other instructions, in one run each (recorded from Triton).
#[test]
fn a_foreign_k_is_one_run() {
    let arch = TABLES.arch_named("gfx950").unwrap();
    let text = "#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 8], isTransposed = true, tilesPerWarp = [2, 1]}>, kWidth = 16}>";
    let form = to_linear(&TABLES, arch, &e(text), &[256, 32]).unwrap();
    let on = |axis: AxisId, dim: u8| -> Vec<u64> {
        (0..form.ins().bits_of(axis))
            .map(|b| form.column_on(axis, b, AxisId::dim(dim)).unwrap())
            .collect()
    };
    assert_eq!(on(AxisId::REGISTER, 1), [1, 2, 4, 8, 0, 0, 0]);
    assert_eq!(on(AxisId::REGISTER, 0), [0, 0, 0, 0, 16, 64, 128]);
    assert_eq!(
        (on(AxisId::LANE, 0), on(AxisId::LANE, 1)),
        ([1, 2, 4, 8, 0, 0].into(), [0, 0, 0, 0, 16, 0].into())
    );
}

/// Every transposing read of the tables, element by element: what lane and word address is what a
/// lane's register is to hold. And Triton's own figures for packed 4-bit operands
/// (`chooseDsReadTrLayout` in its unit tests of LinearLayoutConversions, Triton 3.5), in which a byte
/// holds two rows.
#[test]
fn transposing_reads_address_what_registers_hold() {
    use lanebook_layout::triton::addressed;
    use lanebook_layout::{Coord, Dims, Hw, Linear, Logical};
    let mut held = 0;
    for arch in TABLES.archs {
        for atom in arch.atoms.iter().filter_map(|a| TABLES.atom(a.atom)) {
            let Some(moved) = atom.movement.filter(|moved| moved.crosses_lanes) else { continue };
            let (from, to) = (moved.from.layout, moved.to.layout);
            let lanes = to.cosize(AxisId::LANE).unwrap_or(0);
            let (bits, unit) = (to.cosize(AxisId::BIT).unwrap_or(0), i64::from(moved.unit_bits));
            let (Some(words), true) = (bits.checked_add(unit - 1).map(|n| n / unit), lanes > 1)
            else {
                continue;
            };
            if !words.unsigned_abs().is_power_of_two() || !lanes.unsigned_abs().is_power_of_two() {
                continue;
            }
            let (e, l) = (words.trailing_zeros() as u8, lanes.trailing_zeros() as u8);
            let ins = Dims::from_slice(&[(AxisId::REGISTER, e), (AxisId::LANE, l)]).unwrap();
            let outs = Dims::from_slice(&[(AxisId::dim(0), e + l)]).unwrap();
            let columns: Vec<u64> = (0..e + l).map(|bit| 1u64 << bit).collect();
            let own: Linear<Hw, Logical> = Linear::from_columns(ins, outs, &columns).unwrap();
            let Ok(read) = addressed(&own, from, to, moved.unit_bits) else { continue };
            let place = |side: &lanebook_layout::LayoutRef<'_>, x: u64| {
                let mut at = Coord::new();
                side.apply_flat(x, &mut at).unwrap();
                let bits = at.get(AxisId::BIT) + 8 * at.get(AxisId::BYTE);
                [
                    (AxisId::REGISTER, (bits / unit) as u64),
                    (AxisId::LANE, (at.get(AxisId::LANE) + at.get(AxisId::SLOT)) as u64),
                ]
            };
            for x in 0..from.size_value().unwrap() {
                let (mut there, mut here) = (Coord::new(), Coord::new());
                read.apply(&place(from, x), &mut there).unwrap();
                own.apply(&place(to, x), &mut here).unwrap();
                let dim = AxisId::dim(0);
                assert_eq!(there.get(dim), here.get(dim), "{} at {x}", atom.name());
            }
            held += 1;
        }
    }
    assert!(held > 10, "{held}");

    let gfx950 = TABLES.arch_named("gfx950").unwrap();
    let (_, atom) = TABLES.family(Some(gfx950), "ds_read_b64_tr_b4").next().unwrap();
    let moved = atom.movement.unwrap();
    let step = |at: [u64; 2], shape: [u32; 2]| at[0] + at[1] * u64::from(shape[0]);
    for (index, side, registers, lanes, warps) in [
        (
            0,
            16,
            &[[1, 0], [2, 0], [4, 0], [0, 16], [0, 128], [32, 0], [64, 0], [128, 0]][..],
            [[0, 1], [0, 2], [0, 4], [0, 8], [0, 32], [0, 64]],
            [[8, 0], [16, 0]],
        ),
        (
            1,
            16,
            &[
                [0, 1],
                [0, 2],
                [0, 4],
                [16, 0],
                [128, 0],
                [0, 8],
                [0, 16],
                [0, 32],
                [0, 64],
                [0, 128],
            ][..],
            [[1, 0], [2, 0], [4, 0], [8, 0], [32, 0], [64, 0]],
            [[0, 0], [0, 0]],
        ),
        (
            0,
            32,
            &[[1, 0], [2, 0], [4, 0], [0, 16], [0, 64], [0, 128], [64, 0], [128, 0]][..],
            [[0, 1], [0, 2], [0, 4], [0, 8], [8, 0], [0, 32]],
            [[16, 0], [32, 0]],
        ),
        (
            1,
            32,
            &[
                [0, 1],
                [0, 2],
                [0, 4],
                [16, 0],
                [64, 0],
                [128, 0],
                [0, 16],
                [0, 32],
                [0, 64],
                [0, 128],
            ][..],
            [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [32, 0]],
            [[0, 0], [0, 0]],
        ),
    ] {
        let text = format!(
            "#ttg.dot_op<{{opIdx = {index}, parent = #ttg.amd_mfma<{{version = 4, warpsPerCTA = [4, 1], \
             instrShape = [{side}, {side}, {}], isTransposed = true}}>, kWidth = 32}}>",
            2048 / side
        );
        // Elements of 4 bits: of rows (or columns) twice as many as bytes.
        let shape = if index == 0 { [512, 256] } else { [256, 512] };
        let operand = to_linear(&TABLES, gfx950, &e(&text), &shape).unwrap();
        let read = addressed(&operand, moved.from.layout, moved.to.layout, 4).unwrap();
        // The lowest element of a word is the second half of its byte; bytes count pairs.
        let (packed, own) = (index as usize, |at: [u64; 2]| {
            let mut at = at;
            at[index as usize] *= 2;
            step(at, shape)
        });
        let mut half = [0u64; 2];
        half[packed] = 1;
        let expected: Vec<u64> =
            core::iter::once(step(half, shape)).chain(registers.iter().copied().map(own)).collect();
        let found = |axis: AxisId, n: usize| -> Vec<u64> {
            (0..n as u8).map(|bit| read.column(axis, bit).unwrap()).collect()
        };
        assert_eq!(found(AxisId::REGISTER, registers.len() + 1), expected, "{text}");
        assert_eq!(read.ins().bits_of(AxisId::REGISTER) as usize, registers.len() + 1);
        assert_eq!(found(AxisId::LANE, 6), lanes.map(own).to_vec(), "{text}");
        assert_eq!(found(AxisId::WARP, 2), warps.map(own).to_vec(), "{text}");
    }
}
