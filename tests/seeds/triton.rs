//! 002, Triton's bespoke layouts: tiles of matrix instructions from the hardware tables.

use lanebook::TABLES;
use lanebook::encoding::conflicts::{ReadWrite, RegisterAccess, count, model, vector_bits};
use lanebook::encoding::to_linear;
use lanebook::layout::notation::ttg;
use lanebook::layout::triton::address::Addresses;
use lanebook::layout::triton::{Encoding, EncodingError, infer};
use lanebook::layout::{AxisId, Hw, Linear, Logical};

type L = Linear<Hw, Logical>;

fn e(text: &str) -> Encoding {
    ttg::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn form(arch: &str, text: &str, shape: &[u32]) -> L {
    to_linear(&TABLES, TABLES.arch_named(arch).unwrap(), &e(text), shape)
        .unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// The element at (register, lane, warp).
fn at(l: &L, register: u64, lane: u64, warp: u64) -> [u64; 2] {
    let put = |v, axis| l.ins().insert(v, axis).unwrap();
    let value = l.apply_packed(
        put(register, AxisId::REGISTER) | put(lane, AxisId::LANE) | put(warp, AxisId::WARP),
    );
    [0, 1].map(|d| l.outs().extract(value, AxisId::dim(d)).unwrap())
}

const ORDER_10: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [2, 2], order = [1, 0]}>";
const ORDER_01: &str = "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [0, 1]}>";

/// "Blocked layout": both examples on 64 x 128, every element from the nested tiles' own
/// arithmetic.
#[test]
fn blocked() {
    // Elements of a thread, threads, warps, repetitions: how many along each dimension; the fastest
    // dimension.
    for (text, size, threads, fast) in
        [(ORDER_10, [1u64, 8u64], [16u64, 4u64], 1usize), (ORDER_01, [8, 1], [4, 16], 0)]
    {
        let l = form("gfx942", text, &[64, 128]);
        let slow = 1 - fast;
        let split = |n: u64, extents: [u64; 2]| {
            let mut out = [0; 2];
            (out[fast], out[slow]) = (n % extents[fast], n / extents[fast] % extents[slow]);
            out
        };
        let tile = [0, 1].map(|d| size[d] * threads[d] * 2);
        let repeats = [64 / tile[0], 128 / tile[1]];
        assert_eq!(
            repeats[0] * repeats[1],
            4,
            "a tile is 32 x 64 or 64 x 32: four repetitions in a wrap-around manner"
        );
        for register in 0..32 {
            for lane in 0..64 {
                for warp in 0..4 {
                    let own = split(register % 8, size);
                    let (thread, warps, again) =
                        (split(lane, threads), split(warp, [2, 2]), split(register / 8, repeats));
                    let expected = [0, 1].map(|d| {
                        own[d] + size[d] * (thread[d] + threads[d] * warps[d]) + tile[d] * again[d]
                    });
                    assert_eq!(
                        at(&l, register, lane, warp),
                        expected,
                        "{text} {register} {lane} {warp}"
                    );
                }
            }
        }
    }
    // "Order lists dimensions from fastest to slowest": the transpose has the orders' roles
    // exchanged.
    let turned = infer::transposed(&form("gfx942", ORDER_01, &[128, 64]), &[1, 0]).unwrap();
    assert!(turned.same_map(&form("gfx942", ORDER_10, &[64, 128])));
    // "If the tensor's shape is smaller than the unit, we broadcast there."
    let small = form("gfx942", ORDER_10, &[8, 16]);
    assert_eq!(
        (at(&small, 0, 32, 0), at(&small, 0, 2, 0), at(&small, 0, 0, 3)),
        ([0, 0], [0, 0], [0, 0])
    );
    assert!(small.is_surjective() && !small.is_injective());
}

const MFMA: &str =
    "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 4], instrShape = [16, 16, 16], isTransposed = ";

fn dot(index: u32, width: u32) -> String {
    format!("#ttg.dot_op<{{opIdx = {index}, parent = {MFMA}false}}>, kWidth = {width}}}>")
}

/// "MMA layouts": without the transpose bit a thread owns four consecutive elements along M, with
/// it along N.
#[test]
fn accumulators() {
    for (transposed, along) in [("false", 0), ("true", 1)] {
        let l = form("gfx942", &format!("{MFMA}{transposed}}}>"), &[64, 64]);
        for (register, lane, warp) in
            (0..4).flat_map(|r| (0..64).flat_map(move |l| (0..8).map(move |w| (r, l, w))))
        {
            let mut expected = [0; 2];
            (expected[along], expected[1 - along]) = (register + 4 * (lane / 16), lane % 16);
            expected[0] += 16 * (warp / 4);
            expected[1] += 16 * (warp % 4);
            assert_eq!(at(&l, register, lane, warp), expected);
        }
    }
    // C^T = B^T A^T: the transposed one is the other's transpose.
    let plain = form("gfx942", &format!("{MFMA}false}}>"), &[16, 16]);
    let other = form("gfx942", &format!("{MFMA}true}}>"), &[16, 16]);
    assert!(infer::transposed(&plain, &[1, 0]).unwrap().same_map(&other));
}

/// "Dot operand layout": a thread of V_MFMA_F32_16X16X16_F16 owns 16 x 16 / 64 = 4 elements
/// (kBase); kWidth 8 is two instructions' worth (kPack 2) in one 128-bit access.
#[test]
fn operands() {
    let arch = TABLES.arch_named("gfx942").unwrap();
    let (a, b) = (form("gfx942", &dot(0, 8), &[64, 64]), form("gfx942", &dot(1, 8), &[64, 64]));
    for (register, lane, warp) in
        (0..16).flat_map(|r| (0..64).flat_map(move |l| (0..8).map(move |w| (r, l, w))))
    {
        let k = register % 8 + 8 * (lane / 16) + 32 * (register / 8);
        // A: two rows of warps, 16 rows each, then again 32 further down; four columns of warps
        // share.
        assert_eq!(at(&a, register, lane, warp), [lane % 16 + 16 * (warp / 4), k]);
        assert_eq!(at(&b, register, lane, warp), [k, lane % 16 + 16 * (warp % 4)]);
    }
    let base = form("gfx942", &dot(0, 4), &[16, 16]);
    assert_eq!(base.ins().bits_of(AxisId::REGISTER), 2, "kBase = 4");
    // 64 bits of an instruction's own, 128 bits with kWidth 8: what a thread can read at once from
    // rows along k.
    let rows = Addresses::new(
        &e("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
        &[64, 64],
        16,
    )
    .unwrap();
    assert_eq!(vector_bits(&form("gfx942", &dot(0, 4), &[64, 64]), &rows), Ok(2));
    assert_eq!(vector_bits(&a, &rows), Ok(3));
    // "The instructions may not be portable across generations": the intrinsic decides the tile.
    let none = to_linear(
        &TABLES,
        arch,
        &e("#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [1, 1], instrShape = [16, 8]}>"),
        &[16, 8],
    );
    assert!(matches!(none, Err(EncodingError::NoInstruction { .. })));
}

/// Lanes that read columns of 16 bytes, one row a lane, over 32 banks: the access that both shared
/// layouts are made for.
const ROWS: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [0, 1]}>";

/// The passes over the least for every access of [`ROWS`].
fn extra_passes(shared: &str) -> u32 {
    let arch = TABLES.arch_named("sm_80").unwrap();
    let registers = to_linear(&TABLES, arch, &e(ROWS), &[32, 64]).unwrap();
    let addresses = Addresses::new(&e(shared), &[32, 64], 16).unwrap();
    let banks = model(&TABLES, arch, 16, ReadWrite::Read).unwrap();
    assert_eq!(banks.banks, 32);
    let access = RegisterAccess { registers: &registers, shared: &addresses, vector_bytes: 16 };
    (0..8)
        .map(|vector| {
            let found = count(&access, 8 * vector, 0, banks, |_| {}).unwrap();
            found.transactions - found.least
        })
        .sum()
}

/// "Swizzled shared layout": phase = (r / perPhase) % maxPhase, column ((c / vec) ^ phase) * vec +
/// c % vec.
#[test]
fn swizzled_shared() {
    for (vec, per_phase, max_phase) in [(8u32, 1u32, 8u32), (4, 2, 4), (2, 4, 2), (1, 1, 1)] {
        let text = format!(
            "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = [1, 0]}}>"
        );
        let addresses = Addresses::new(&e(&text), &[32, 64], 16).unwrap();
        for (r, c) in (0..32).flat_map(|r| (0..64).map(move |c| (r, c))) {
            let phase = r / per_phase % max_phase;
            let column = ((c / vec) ^ phase) * vec + c % vec;
            assert_eq!(addresses.byte(&[r, c]), Ok(u64::from(2 * (64 * r + column))), "{text}");
        }
    }
    // "For a 32x64xf16 tensor, we can achieve 32-bank conflict free with vec = 8, per_phase = 1,
    // max_phase = 8."
    assert_eq!(
        extra_passes("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>"),
        0
    );
    assert!(
        extra_passes("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>")
            > 0
    );
}

/// "Padded shared layout": 8 elements (16 bytes, 4 banks) after every 64 (128 bytes); tiers add up;
/// no linear form.
#[test]
fn padded_shared() {
    let padded = e("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>");
    let addresses = Addresses::new(&padded, &[32, 64], 16).unwrap();
    for (r, c) in (0..32u32).flat_map(|r| (0..64).map(move |c| (r, c))) {
        let flat = 64 * r + c;
        assert_eq!(addresses.byte(&[r, c]), Ok(u64::from(2 * (flat + flat / 64 * 8))));
    }
    assert_eq!(extra_passes("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [32, 64]}>"), 0);
    let tiers = Addresses::new(
        &e("#ttg.padded_shared<[64:+8, 256:+16] {order = [1, 0], shape = [32, 64]}>"),
        &[32, 64],
        16,
    )
    .unwrap();
    for flat in 0..2048u32 {
        assert_eq!(
            tiers.byte(&[flat / 64, flat % 64]),
            Ok(u64::from(2 * (flat + flat / 64 * 8 + flat / 256 * 16)))
        );
    }
    // "Padded shared layout cannot be directly converted to linear layout"; its n-D side still can
    // be transposed.
    let arch = TABLES.arch_named("gfx950").unwrap();
    assert_eq!(to_linear(&TABLES, arch, &padded, &[32, 64]).err(), Some(EncodingError::Padded));
    let turned = infer::transposed_encoding(&padded, &[1, 0]).unwrap();
    let turned = Addresses::new(&turned, &[64, 32], 16).unwrap();
    assert_eq!(turned.byte(&[5, 3]), addresses.byte(&[3, 5]));
}
