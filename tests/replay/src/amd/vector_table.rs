//! Vector operations that compute each lane by itself: name to function and number of sources.

use super::op::LaneFn;
use super::tracked::{self, Tracked};
use crate::number::{f16_to_f32, f32_to_bf16, f32_to_f16, f32_to_f16_rtz};

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn byte_align([a, b, c]: [u32; 3]) -> u32 {
    (((u64::from(a) << 32) | u64::from(b)) >> (8 * (c & 3))) as u32
}

fn bfe_i32([a, b, c]: [u32; 3]) -> u32 {
    let (at, len) = (b & 31, c & 31);
    if len == 0 {
        return 0;
    }
    let len = len.min(32 - at);
    (((a << (32 - at - len)) as i32) >> (32 - len)) as u32
}

/// Looks a mnemonic up. `v_bitop3_b32` is decoded elsewhere, for its table.
pub(super) fn find(name: &str) -> Option<(LaneFn, usize)> {
    use LaneFn::{Indexed, Plain, Tracked as Keep};
    Some(match name {
        "v_mov_b32" | "v_accvgpr_read_b32" | "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => (Keep(|[a, ..]| a), 1),
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
        "v_xor_b32" => (Plain(|[a, b, _]| a ^ b), 2),
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
        "v_mad_u32_u24" => (Plain(|[a, b, c]| (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c)), 3),
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
        "v_bfe_u32" => (Plain(|[a, b, c]| ((u64::from(a) >> (b & 31)) & ((1 << (c & 31)) - 1)) as u32), 3),
        "v_bfe_i32" => (Plain(bfe_i32), 3),
        "v_bcnt_u32_b32" => (Plain(|[a, b, _]| a.count_ones() + b), 2),
        "v_mbcnt_lo_u32_b32" => (Indexed(|[a, b, _], lane| (a & (if lane < 32 { (1 << lane) - 1 } else { u32::MAX })).count_ones().wrapping_add(b)), 2),
        "v_mbcnt_hi_u32_b32" => (Indexed(|[a, b, _], lane| (a & (if lane < 32 { 0 } else { (1 << (lane - 32)) - 1 })).count_ones().wrapping_add(b)), 2),
        "v_add_f32" => (Plain(|[a, b, _]| (f(a) + f(b)).to_bits()), 2),
        "v_sub_f32" => (Plain(|[a, b, _]| (f(a) - f(b)).to_bits()), 2),
        "v_mul_f32" => (Plain(|[a, b, _]| (f(a) * f(b)).to_bits()), 2),
        "v_max_f32" => (Plain(|[a, b, _]| f(a).max(f(b)).to_bits()), 2),
        "v_min_f32" => (Plain(|[a, b, _]| f(a).min(f(b)).to_bits()), 2),
        "v_fma_f32" => (Plain(|[a, b, c]| f(a).mul_add(f(b), f(c)).to_bits()), 3),
        "v_exp_f32" => (Plain(|[a, ..]| f(a).exp2().to_bits()), 1),
        "v_rsq_f32" => (Plain(|[a, ..]| (1.0 / f(a).sqrt()).to_bits()), 1),
        "v_rcp_f32" => (Plain(|[a, ..]| (1.0 / f(a)).to_bits()), 1),
        "v_cvt_f32_u32" => (Plain(|[a, ..]| (a as f32).to_bits()), 1),
        "v_cvt_f32_i32" => (Plain(|[a, ..]| (a as i32 as f32).to_bits()), 1),
        "v_cvt_u32_f32" => (Plain(|[a, ..]| f(a) as u32), 1),
        "v_cvt_i32_f32" => (Plain(|[a, ..]| f(a) as i32 as u32), 1),
        // The source's high half is not looked at.
        "v_cvt_f32_f16" => (Keep(|[a, ..]| Tracked { value: f16_to_f32(a.value as u16).to_bits(), tags: [0, 0], defined: 3 * (a.defined & 1) }), 1),
        "v_cvt_f16_f32" => (Plain(|[a, ..]| f32_to_f16(f(a)).into()), 1),
        "v_cvt_pkrtz_f16_f32" => (Plain(|[a, b, _]| u32::from(f32_to_f16_rtz(f(a))) | u32::from(f32_to_f16_rtz(f(b))) << 16), 2),
        "v_cvt_pk_f16_f32" => (Plain(|[a, b, _]| u32::from(f32_to_f16(f(a))) | u32::from(f32_to_f16(f(b))) << 16), 2),
        "v_cvt_pk_bf16_f32" => (Plain(|[a, b, _]| u32::from(f32_to_bf16(f(a))) | u32::from(f32_to_bf16(f(b))) << 16), 2),
        _ => return None,
    })
}

/// A comparison of two lanes' values.
pub(super) type CompareFn = fn(u64, u64) -> bool;

/// Integer and float comparisons of `v_cmp_*`: function and whether the sources are 64 bits wide.
pub(super) fn find_compare(name: &str) -> Option<(CompareFn, bool)> {
    let (relation, ty) = name.strip_prefix("v_cmp_")?.rsplit_once('_')?;
    let wide = matches!(ty, "u64" | "i64");
    let compare: CompareFn = match (relation, ty) {
        ("eq", "u32" | "i32" | "u64" | "i64") => |a, b| a == b,
        ("ne", "u32" | "i32" | "u64" | "i64") => |a, b| a != b,
        ("lt", "u32" | "u64") => |a, b| a < b,
        ("le", "u32" | "u64") => |a, b| a <= b,
        ("gt", "u32" | "u64") => |a, b| a > b,
        ("ge", "u32" | "u64") => |a, b| a >= b,
        ("lt", "i64") => |a, b| (a as i64) < (b as i64),
        ("gt", "i64") => |a, b| (a as i64) > (b as i64),
        ("lt", "i32") => |a, b| (a as u32 as i32) < (b as u32 as i32),
        ("le", "i32") => |a, b| (a as u32 as i32) <= (b as u32 as i32),
        ("gt", "i32") => |a, b| (a as u32 as i32) > (b as u32 as i32),
        ("ge", "i32") => |a, b| (a as u32 as i32) >= (b as u32 as i32),
        ("eq", "f32") => |a, b| f(a as u32) == f(b as u32),
        ("lt", "f32") => |a, b| f(a as u32) < f(b as u32),
        ("le", "f32") => |a, b| f(a as u32) <= f(b as u32),
        ("gt", "f32") => |a, b| f(a as u32) > f(b as u32),
        ("ge", "f32") => |a, b| f(a as u32) >= f(b as u32),
        _ => return None,
    };
    Some((compare, wide))
}
