//! Vector operations that compute each lane by itself: name to function and number of sources.

use super::op::{LaneFn, Wide};
use super::tracked::{self, Tracked};
use crate::number::{
    f16_to_f32, f32_to_bf16, f32_to_f16, f32_to_f16_rtz, f64_to_odd, float8, fused_odd, greater,
    smaller, to_float8,
};
use std::cmp::Ordering;

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn byte_align([a, b, c]: [u32; 3]) -> u32 {
    (((u64::from(a) << 32) | u64::from(b)) >> (8 * (c & 3))) as u32
}

fn bfe_u32([a, b, c]: [u32; 3]) -> u32 {
    ((u64::from(a) >> (b & 31)) & ((1 << (c & 31)) - 1)) as u32
}

fn bfe_i32([a, b, c]: [u32; 3]) -> u32 {
    let (at, len) = (b & 31, c & 31);
    if len == 0 {
        return 0;
    }
    let len = len.min(32 - at);
    (((a << (32 - at - len)) as i32) >> (32 - len)) as u32
}

/// A function of the numbers in lower halves, and of those in upper ones. Sums and products of two
/// are exact before they are rounded.
fn halves(all: [Tracked; 3], f: fn(f64, f64, f64) -> f64) -> Tracked {
    let one = |shift: u32| {
        let [a, b, c] = all.map(|t| f64::from(f16_to_f32((t.value >> shift) as u16)));
        u32::from(f32_to_f16(f64_to_odd(f(a, b, c)))) << shift
    };
    let defined = all.iter().fold(3, |seen, t| seen & t.defined);
    Tracked { value: one(0) | one(16), tags: [0, 0], defined }
}

/// A function of the whole numbers in lower halves, and of those in upper ones.
fn whole_halves([a, b, _]: [Tracked; 3], f: fn(u16, u16) -> u16) -> Tracked {
    let one =
        |shift: u32| u32::from(f((a.value >> shift) as u16, (b.value >> shift) as u16)) << shift;
    Tracked { value: one(0) | one(16), tags: [0, 0], defined: a.defined & b.defined }
}

/// Packed arithmetic of whole numbers.
fn find_pairs(name: &str) -> Option<LaneFn> {
    use LaneFn::Tracked as Keep;
    Some(match name {
        "v_pk_add_u16" => Keep(|all| whole_halves(all, u16::wrapping_add)),
        "v_pk_sub_i16" => Keep(|all| whole_halves(all, u16::wrapping_sub)),
        "v_pk_mul_lo_u16" => Keep(|all| whole_halves(all, u16::wrapping_mul)),
        "v_pk_max_i16" => Keep(|all| {
            whole_halves(all, |x, y| x.cast_signed().max(y.cast_signed()).cast_unsigned())
        }),
        "v_pk_min_i16" => Keep(|all| {
            whole_halves(all, |x, y| x.cast_signed().min(y.cast_signed()).cast_unsigned())
        }),
        "v_pk_max_u16" => Keep(|all| whole_halves(all, u16::max)),
        "v_pk_min_u16" => Keep(|all| whole_halves(all, u16::min)),
        "v_pk_lshlrev_b16" => Keep(|all| whole_halves(all, |n, x| x << (n & 15))),
        "v_pk_lshrrev_b16" => Keep(|all| whole_halves(all, |n, x| x >> (n & 15))),
        "v_pk_ashrrev_i16" => {
            Keep(|all| whole_halves(all, |n, x| (x.cast_signed() >> (n & 15)).cast_unsigned()))
        }
        _ => return None,
    })
}

/// Looks a mnemonic up. `v_bitop3_b32` is decoded elsewhere, for its table.
pub(super) fn find(name: &str) -> Option<(LaneFn, usize)> {
    use LaneFn::{Approximate, Float, Indexed, Narrow, Plain, Tracked as Keep};
    Some(match name {
        "v_mov_b32" | "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => {
            (Keep(|[a, ..]| a), 1)
        }
        "v_not_b32" => (Plain(|[a, ..]| !a), 1),
        "v_bfrev_b32" => (Plain(|[a, ..]| a.reverse_bits()), 1),
        "v_add_u32" => (Plain(|[a, b, _]| a.wrapping_add(b)), 2),
        "v_sub_u32" => (Plain(|[a, b, _]| a.wrapping_sub(b)), 2),
        "v_subrev_u32" => (Plain(|[a, b, _]| b.wrapping_sub(a)), 2),
        "v_lshlrev_b32" => (Keep(|[n, a, _]| tracked::shl(a, n)), 2),
        "v_lshrrev_b32" => (Keep(|[n, a, _]| tracked::shr(a, n)), 2),
        "v_ashrrev_i32" => (Plain(|[n, a, _]| ((a as i32) >> (n & 31)) as u32), 2),
        "v_and_b32" => (Keep(|[a, b, _]| tracked::and(a, b)), 2),
        "v_or_b32" => (Keep(|[a, b, _]| tracked::or(a, b)), 2),
        "v_xor_b32" => (Keep(|[a, b, _]| tracked::xor(a, b)), 2),
        "v_xnor_b32" => (Plain(|[a, b, _]| !(a ^ b)), 2),
        "v_min_u32" => (Plain(|[a, b, _]| a.min(b)), 2),
        "v_max_u32" => (Plain(|[a, b, _]| a.max(b)), 2),
        "v_min_i32" => (Plain(|[a, b, _]| (a as i32).min(b as i32) as u32), 2),
        "v_max_i32" => (Plain(|[a, b, _]| (a as i32).max(b as i32) as u32), 2),
        "v_mul_u32_u24" => (Plain(|[a, b, _]| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff)), 2),
        "v_mul_lo_u32" => (Plain(|[a, b, _]| a.wrapping_mul(b)), 2),
        "v_mul_hi_u32" => (Plain(|[a, b, _]| ((u64::from(a) * u64::from(b)) >> 32) as u32), 2),
        "v_lshl_add_u32" => (Plain(|[a, b, c]| (a << (b & 31)).wrapping_add(c)), 3),
        "v_add_lshl_u32" => (Plain(|[a, b, c]| a.wrapping_add(b) << (c & 31)), 3),
        "v_add3_u32" => (Plain(|[a, b, c]| a.wrapping_add(b).wrapping_add(c)), 3),
        "v_xad_u32" => (Plain(|[a, b, c]| (a ^ b).wrapping_add(c)), 3),
        "v_mad_u32_u24" => {
            (Plain(|[a, b, c]| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c)), 3)
        }
        "v_mad_u32_u16" => (Plain(|[a, b, c]| ((a & 0xffff) * (b & 0xffff)).wrapping_add(c)), 3),
        "v_lshl_or_b32" => (Keep(|[a, n, c]| tracked::or(tracked::shl(a, n), c)), 3),
        "v_and_or_b32" => (Keep(|[a, b, c]| tracked::or(tracked::and(a, b), c)), 3),
        "v_or3_b32" => (Keep(|[a, b, c]| tracked::or(tracked::or(a, b), c)), 3),
        "v_bfi_b32" => (Keep(|[m, a, b]| tracked::bfi(m, a, b)), 3),
        "v_perm_b32" => (Keep(|[a, b, s]| tracked::perm(a, b, s)), 3),
        "v_alignbit_b32" => (Keep(|[a, b, n]| tracked::align(a, b, n.value & 31)), 3),
        "v_alignbyte_b32" => (
            Keep(|[a, b, n]| {
                let out = tracked::align(a, b, 8 * (n.value & 3));
                Tracked { value: byte_align([a.value, b.value, n.value]), ..out }
            }),
            3,
        ),
        "v_pack_b32_f16" => (Keep(|[a, b, _]| tracked::pack(a, b)), 2),
        "v_bfe_u32" => (Keep(|all| tracked::field(all, bfe_u32)), 3),
        "v_bfe_i32" => (Keep(|all| tracked::field(all, bfe_i32)), 3),
        "v_bcnt_u32_b32" => (Plain(|[a, b, _]| a.count_ones() + b), 2),
        "v_mbcnt_lo_u32_b32" => (
            Indexed(|[a, b, _], lane| {
                (a & (if lane < 32 { (1 << lane) - 1 } else { u32::MAX }))
                    .count_ones()
                    .wrapping_add(b)
            }),
            2,
        ),
        "v_mbcnt_hi_u32_b32" => (
            Indexed(|[a, b, _], lane| {
                (a & (if lane < 32 { 0 } else { (1 << (lane - 32)) - 1 }))
                    .count_ones()
                    .wrapping_add(b)
            }),
            2,
        ),
        "v_add_f32" => (Float(|[a, b, _]| (f(a) + f(b)).to_bits()), 2),
        "v_sub_f32" => (Float(|[a, b, _]| (f(a) - f(b)).to_bits()), 2),
        "v_mul_f32" => (Float(|[a, b, _]| (f(a) * f(b)).to_bits()), 2),
        "v_max_f32" => (Float(|[a, b, _]| (greater(f(a).into(), f(b).into()) as f32).to_bits()), 2),
        "v_min_f32" => (Float(|[a, b, _]| (smaller(f(a).into(), f(b).into()) as f32).to_bits()), 2),
        "v_fma_f32" => (Float(|[a, b, c]| f(a).mul_add(f(b), f(c)).to_bits()), 3),
        "v_dot2_f32_f16" => (Float(dot2), 3),
        "v_dot4_i32_i8" => (Plain(|[a, b, c]| dot4(a, b, c, |byte| i32::from(byte as i8))), 3),
        "v_dot4_u32_u8" => (Plain(|[a, b, c]| dot4(a, b, c, i32::from)), 3),
        "v_exp_f32" => (Approximate(|[a, ..]| f(a).exp2().to_bits()), 1),
        "v_rsq_f32" => (Approximate(|[a, ..]| (1.0 / f(a).sqrt()).to_bits()), 1),
        "v_rcp_f32" => (Approximate(|[a, ..]| (1.0 / f(a)).to_bits()), 1),
        "v_sqrt_f32" => (Approximate(|[a, ..]| f(a).sqrt().to_bits()), 1),
        "v_log_f32" => (Approximate(|[a, ..]| f(a).log2().to_bits()), 1),
        "v_floor_f32" => (Float(|[a, ..]| f(a).floor().to_bits()), 1),
        "v_rndne_f32" => (Float(|[a, ..]| f(a).round_ties_even().to_bits()), 1),
        "v_trunc_f32" => (Float(|[a, ..]| f(a).trunc().to_bits()), 1),
        "v_ceil_f32" => (Float(|[a, ..]| f(a).ceil().to_bits()), 1),
        "v_pk_add_f16" => (Keep(|[a, b, _]| halves([a, b, b], |x, y, _| x + y)), 2),
        "v_pk_add_f16.less" => (Keep(|[a, b, _]| halves([a, b, b], |x, y, _| x - y)), 2),
        "v_pk_mul_f16" => (Keep(|[a, b, _]| halves([a, b, b], |x, y, _| x * y)), 2),
        "v_pk_fma_f16" => (Keep(|all| halves(all, fused_odd)), 3),
        "v_pk_max_f16" => (Keep(|[a, b, _]| halves([a, b, b], |x, y, _| greater(x, y))), 2),
        "v_pk_min_f16" => (Keep(|[a, b, _]| halves([a, b, b], |x, y, _| smaller(x, y))), 2),
        "v_cvt_f32_u32" => (Plain(|[a, ..]| (a as f32).to_bits()), 1),
        "v_cvt_f32_i32" => (Plain(|[a, ..]| (a as i32 as f32).to_bits()), 1),
        "v_cvt_u32_f32" => (Plain(|[a, ..]| f(a) as u32), 1),
        "v_cvt_i32_f32" => (Plain(|[a, ..]| f(a) as i32 as u32), 1),
        // The source's high half is not looked at.
        "v_cvt_f32_f16" => (
            Keep(|[a, ..]| Tracked {
                value: f16_to_f32(a.value as u16).to_bits(),
                tags: [0, 0],
                defined: 3 * (a.defined & 1),
            }),
            1,
        ),
        "v_cvt_f32_f16.upper" => (
            Keep(|[a, ..]| Tracked {
                value: f16_to_f32((a.value >> 16) as u16).to_bits(),
                tags: [0, 0],
                defined: 3 * (a.defined >> 1 & 1),
            }),
            1,
        ),
        "v_cvt_f16_f32" => (Plain(|[a, ..]| f32_to_f16(f(a)).into()), 1),
        "v_cvt_pkrtz_f16_f32" => (
            Plain(|[a, b, _]| {
                u32::from(f32_to_f16_rtz(f(a))) | u32::from(f32_to_f16_rtz(f(b))) << 16
            }),
            2,
        ),
        "v_cvt_pk_f16_f32" => {
            (Plain(|[a, b, _]| u32::from(f32_to_f16(f(a))) | u32::from(f32_to_f16(f(b))) << 16), 2)
        }
        "v_cvt_pk_bf16_f32" => (
            Narrow(|[a, b, _]| u32::from(f32_to_bf16(f(a))) | u32::from(f32_to_bf16(f(b))) << 16),
            2,
        ),
        _ => return find_pairs(name).map(|f| (f, 2)),
    })
}

/// The products of both halves and a sum, which counts as zero where it is subnormal, as the result
/// does (LLVM, performFMACombine).
fn dot2([a, b, c]: [u32; 3]) -> u32 {
    let half = |word: u32, high: bool| {
        f64::from(f16_to_f32(if high { (word >> 16) as u16 } else { word as u16 }))
    };
    let flushed = |x: f32| if x.is_subnormal() { 0.0f32.copysign(x) } else { x };
    let products = half(a, false) * half(b, false) + half(a, true) * half(b, true);
    flushed((products + f64::from(flushed(f32::from_bits(c)))) as f32).to_bits()
}

/// The products of four bytes and a sum.
fn dot4(a: u32, b: u32, c: u32, number: fn(u8) -> i32) -> u32 {
    let bytes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    let sum = bytes.fold(c as i32, |sum, (a, b)| sum.wrapping_add(number(a) * number(b)));
    sum as u32
}

/// Vector operations on pairs of registers: function, words of the sources and of the result.
pub(super) fn find_pair(name: &str) -> Option<Wide> {
    const fn d(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    let of =
        |f: fn([u64; 3]) -> u64, sources: [u16; 3], result: u16| Wide::Of { f, sources, result };
    Some(match name {
        "v_add_f64" => of(|[a, b, _]| (d(a) + d(b)).to_bits(), [2, 2, 0], 2),
        "v_add_f64.less" => of(|[a, b, _]| (d(a) - d(b)).to_bits(), [2, 2, 0], 2),
        "v_mul_f64" => of(|[a, b, _]| (d(a) * d(b)).to_bits(), [2, 2, 0], 2),
        "v_fma_f64" => of(|[a, b, c]| d(a).mul_add(d(b), d(c)).to_bits(), [2, 2, 2], 2),
        "v_max_f64" => of(|[a, b, _]| greater(d(a), d(b)).to_bits(), [2, 2, 0], 2),
        "v_min_f64" => of(|[a, b, _]| smaller(d(a), d(b)).to_bits(), [2, 2, 0], 2),
        "v_floor_f64" => of(|[a, ..]| d(a).floor().to_bits(), [2, 0, 0], 2),
        "v_rndne_f64" => of(|[a, ..]| d(a).round_ties_even().to_bits(), [2, 0, 0], 2),
        "v_trunc_f64" => of(|[a, ..]| d(a).trunc().to_bits(), [2, 0, 0], 2),
        "v_ceil_f64" => of(|[a, ..]| d(a).ceil().to_bits(), [2, 0, 0], 2),
        "v_cvt_f64_f32" => of(|[a, ..]| f64::from(f(a as u32)).to_bits(), [1, 0, 0], 2),
        "v_cvt_f64_i32" => of(|[a, ..]| f64::from(a as u32 as i32).to_bits(), [1, 0, 0], 2),
        "v_cvt_f64_u32" => of(|[a, ..]| f64::from(a as u32).to_bits(), [1, 0, 0], 2),
        "v_cvt_f32_f64" => of(|[a, ..]| u64::from((d(a) as f32).to_bits()), [2, 0, 0], 1),
        "v_cvt_i32_f64" => of(|[a, ..]| u64::from(d(a) as i32 as u32), [2, 0, 0], 1),
        "v_cvt_u32_f64" => of(|[a, ..]| u64::from(d(a) as u32), [2, 0, 0], 1),
        "v_sub_nc_u64" => of(|[a, b, _]| a.wrapping_sub(b), [2, 2, 0], 2),
        "v_mul_u64" => of(|[a, b, _]| a.wrapping_mul(b), [2, 2, 0], 2),
        "v_max_u64" => of(|[a, b, _]| a.max(b), [2, 2, 0], 2),
        "v_min_u64" => of(|[a, b, _]| a.min(b), [2, 2, 0], 2),
        "v_max_i64" => of(|[a, b, _]| (a as i64).max(b as i64) as u64, [2, 2, 0], 2),
        "v_min_i64" => of(|[a, b, _]| (a as i64).min(b as i64) as u64, [2, 2, 0], 2),
        _ => return None,
    })
}

/// Conversions of 8-bit floats by format (`fp8`, `bf8`), by kind (`ocp`, `fnuz`) and by what is
/// converted: to the lower or upper half (`lo`, `hi`), or from the byte of a number. What is too
/// large becomes no number.
pub(super) fn find_narrow(format: &str, kind: &str, which: &str) -> Option<LaneFn> {
    const fn fraction<const BF8: bool>() -> u32 {
        if BF8 { 2 } else { 3 }
    }
    fn pair<const BF8: bool, const FNUZ: bool>(a: u32, b: u32) -> u32 {
        let bits = |x: u32| u32::from(to_float8(f(x), fraction::<BF8>(), FNUZ, false));
        bits(a) | bits(b) << 8
    }
    fn low<const BF8: bool, const FNUZ: bool>([a, b, _]: [Tracked; 3]) -> Tracked {
        Tracked { value: pair::<BF8, FNUZ>(a.value, b.value), tags: [0, 0], defined: 1 }
    }
    fn high<const BF8: bool, const FNUZ: bool>([a, b, old]: [Tracked; 3]) -> Tracked {
        Tracked {
            value: pair::<BF8, FNUZ>(a.value, b.value) << 16 | old.value & 0xffff,
            tags: [0, 0],
            defined: 2 | old.defined & 1,
        }
    }
    fn byte<const BF8: bool, const FNUZ: bool, const N: u32>([a, ..]: [Tracked; 3]) -> Tracked {
        let bits = (a.value >> (8 * N)) as u8;
        Tracked {
            value: (float8(bits, fraction::<BF8>(), FNUZ) as f32).to_bits(),
            tags: [0, 0],
            defined: 3 * (a.defined >> (N / 2) & 1),
        }
    }
    macro_rules! of {
        ($bf8:literal, $fnuz:literal) => {
            match which {
                "lo" => low::<$bf8, $fnuz>,
                "hi" => high::<$bf8, $fnuz>,
                "0" => byte::<$bf8, $fnuz, 0>,
                "1" => byte::<$bf8, $fnuz, 1>,
                "2" => byte::<$bf8, $fnuz, 2>,
                "3" => byte::<$bf8, $fnuz, 3>,
                _ => return None,
            }
        };
    }
    let f: fn([Tracked; 3]) -> Tracked = match (format, kind) {
        ("fp8", "ocp") => of!(false, false),
        ("bf8", "ocp") => of!(true, false),
        ("fp8", "fnuz") => of!(false, true),
        ("bf8", "fnuz") => of!(true, true),
        _ => return None,
    };
    Some(LaneFn::Tracked(f))
}

/// A comparison of two lanes' values.
pub(super) type CompareFn = fn(u64, u64) -> bool;

/// Integer and float comparisons of `v_cmp_*`: function and whether the sources are 64 bits wide.
pub(super) fn find_compare(name: &str) -> Option<(CompareFn, bool)> {
    let (relation, ty) = name.strip_prefix("v_cmp_")?.rsplit_once('_')?;
    let wide = matches!(ty, "u64" | "i64" | "f64");
    let compare: CompareFn = match (relation, ty) {
        ("eq", "u32" | "i32" | "u64" | "i64") => |a, b| a == b,
        ("ne", "u32" | "i32" | "u64" | "i64") => |a, b| a != b,
        ("lt", "u32" | "u64") => |a, b| a < b,
        ("le", "u32" | "u64") => |a, b| a <= b,
        ("gt", "u32" | "u64") => |a, b| a > b,
        ("ge", "u32" | "u64") => |a, b| a >= b,
        ("eq", "f64") => |a, b| f64::from_bits(a) == f64::from_bits(b),
        ("neq", "f64") => |a, b| f64::from_bits(a) != f64::from_bits(b),
        ("lt", "f64") => |a, b| f64::from_bits(a) < f64::from_bits(b),
        ("le", "f64") => |a, b| f64::from_bits(a) <= f64::from_bits(b),
        ("u", "f64") => |a, b| f64::from_bits(a).is_nan() || f64::from_bits(b).is_nan(),
        ("lt", "i64") => |a, b| (a as i64) < (b as i64),
        ("le", "i64") => |a, b| (a as i64) <= (b as i64),
        ("gt", "i64") => |a, b| (a as i64) > (b as i64),
        ("lt", "i32") => |a, b| (a as u32 as i32) < (b as u32 as i32),
        ("le", "i32") => |a, b| (a as u32 as i32) <= (b as u32 as i32),
        ("gt", "i32") => |a, b| (a as u32 as i32) > (b as u32 as i32),
        ("ge", "i32") => |a, b| (a as u32 as i32) >= (b as u32 as i32),
        ("u", "f32") => |a, b| f(a as u32).is_nan() || f(b as u32).is_nan(),
        ("o", "f32") => |a, b| !f(a as u32).is_nan() && !f(b as u32).is_nan(),
        ("lg", "f32") => |a, b| f(a as u32) < f(b as u32) || f(a as u32) > f(b as u32),
        ("neq", "f32") => |a, b| f(a as u32) != f(b as u32),
        ("nlg", "f32") => |a, b| !(f(a as u32) < f(b as u32) || f(a as u32) > f(b as u32)),
        ("nlt", "f32") => |a, b| f(a as u32).partial_cmp(&f(b as u32)).is_none_or(Ordering::is_ge),
        ("nle", "f32") => |a, b| f(a as u32).partial_cmp(&f(b as u32)).is_none_or(Ordering::is_gt),
        ("ngt", "f32") => |a, b| f(a as u32).partial_cmp(&f(b as u32)).is_none_or(Ordering::is_le),
        ("nge", "f32") => |a, b| f(a as u32).partial_cmp(&f(b as u32)).is_none_or(Ordering::is_lt),
        ("eq", "f32") => |a, b| f(a as u32) == f(b as u32),
        ("lt", "f32") => |a, b| f(a as u32) < f(b as u32),
        ("le", "f32") => |a, b| f(a as u32) <= f(b as u32),
        ("gt", "f32") => |a, b| f(a as u32) > f(b as u32),
        ("ge", "f32") => |a, b| f(a as u32) >= f(b as u32),
        _ => return None,
    };
    Some((compare, wide))
}
