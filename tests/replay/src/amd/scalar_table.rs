//! Scalar operations: name to function and operand widths.

use super::op::ScalarFn;

/// A scalar operation: function, words of the result (0 = only SCC), words of the sources
/// (0 = source absent).
pub(super) struct Entry {
    pub f: ScalarFn,
    pub dst: u8,
    pub a: u8,
    pub b: u8,
}

fn add(a: u64, b: u64, carry: bool) -> (u64, Option<bool>) {
    let sum = a + b + u64::from(carry);
    (sum, Some(sum >> 32 != 0))
}

fn sub(a: u64, b: u64, borrow: bool) -> (u64, Option<bool>) {
    let difference = a.wrapping_sub(b).wrapping_sub(borrow.into());
    (difference, Some(difference >> 32 != 0))
}

fn i32_of(v: u64) -> i32 {
    v as u32 as i32
}

fn test(value: u64) -> (u64, Option<bool>) {
    (value, Some(value != 0))
}

fn shift_add(a: u64, b: u64, shift: u32) -> (u64, Option<bool>) {
    let sum = (a << shift) + b;
    (sum, Some(sum >> 32 != 0))
}

fn field(b: u64) -> (u64, u64) {
    (b & 31, (b >> 16) & 127)
}

/// Looks a mnemonic up.
pub(super) fn find(name: &str) -> Option<Entry> {
    let entry = |f: ScalarFn, dst: u8, a: u8, b: u8| Some(Entry { f, dst, a, b });
    let (w, l) = (1, 2);
    match name {
        "s_mov_b32" | "s_movk_i32" => entry(|a, _, _| (a, None), w, w, 0),
        "s_mov_b64" => entry(|a, _, _| (a, None), l, l, 0),
        "s_not_b32" => entry(|a, _, _| test(!a & 0xffff_ffff), w, w, 0),
        "s_not_b64" => entry(|a, _, _| test(!a), l, l, 0),
        "s_brev_b32" => entry(|a, _, _| ((a as u32).reverse_bits().into(), None), w, w, 0),
        "s_ff1_i32_b32" => entry(
            |a, _, _| (if a == 0 { u64::MAX } else { a.trailing_zeros().into() }, None),
            w,
            w,
            0,
        ),
        "s_flbit_i32_b32" | "s_clz_i32_u32" => entry(
            |a, _, _| (if a == 0 { u64::MAX } else { (a as u32).leading_zeros().into() }, None),
            w,
            w,
            0,
        ),
        "s_bcnt1_i32_b32" => entry(|a, _, _| test(a.count_ones().into()), w, w, 0),
        "s_bcnt1_i32_b64" => entry(|a, _, _| test(a.count_ones().into()), w, l, 0),
        "s_add_u32" => entry(|a, b, _| add(a, b, false), w, w, w),
        "s_addc_u32" => entry(add, w, w, w),
        "s_sub_u32" => entry(|a, b, _| sub(a, b, false), w, w, w),
        "s_subb_u32" => entry(sub, w, w, w),
        "s_add_i32" | "s_addk_i32" => entry(
            |a, b, _| {
                let (sum, over) = i32_of(a).overflowing_add(i32_of(b));
                (sum as u32 as u64, Some(over))
            },
            w,
            w,
            w,
        ),
        "s_sub_i32" => entry(
            |a, b, _| {
                let (sum, over) = i32_of(a).overflowing_sub(i32_of(b));
                (sum as u32 as u64, Some(over))
            },
            w,
            w,
            w,
        ),
        "s_mul_i32" | "s_mulk_i32" => {
            entry(|a, b, _| ((a as u32).wrapping_mul(b as u32).into(), None), w, w, w)
        }
        "s_mul_hi_u32" => entry(|a, b, _| ((a * b) >> 32, None), w, w, w),
        "s_mul_hi_i32" => entry(
            |a, b, _| (((i64::from(i32_of(a)) * i64::from(i32_of(b))) >> 32) as u64, None),
            w,
            w,
            w,
        ),
        "s_lshl_b32" => entry(|a, b, _| test((a as u32).wrapping_shl(b as u32).into()), w, w, w),
        "s_lshr_b32" => entry(|a, b, _| test((a as u32).wrapping_shr(b as u32).into()), w, w, w),
        "s_ashr_i32" => {
            entry(|a, b, _| test(i32_of(a).wrapping_shr(b as u32) as u32 as u64), w, w, w)
        }
        "s_lshl_b64" => entry(|a, b, _| test(a.wrapping_shl(b as u32)), l, l, w),
        "s_lshr_b64" => entry(|a, b, _| test(a.wrapping_shr(b as u32)), l, l, w),
        "s_ashr_i64" => entry(|a, b, _| test((a as i64).wrapping_shr(b as u32) as u64), l, l, w),
        "s_and_b32" => entry(|a, b, _| test(a & b), w, w, w),
        "s_or_b32" => entry(|a, b, _| test(a | b), w, w, w),
        "s_xor_b32" => entry(|a, b, _| test(a ^ b), w, w, w),
        "s_andn2_b32" => entry(|a, b, _| test(a & !b), w, w, w),
        "s_orn2_b32" => entry(|a, b, _| test((a | !b) & 0xffff_ffff), w, w, w),
        "s_and_b64" => entry(|a, b, _| test(a & b), l, l, l),
        "s_or_b64" => entry(|a, b, _| test(a | b), l, l, l),
        "s_xor_b64" => entry(|a, b, _| test(a ^ b), l, l, l),
        "s_andn2_b64" => entry(|a, b, _| test(a & !b), l, l, l),
        "s_orn2_b64" => entry(|a, b, _| test(a | !b), l, l, l),
        "s_bfe_u32" => entry(
            |a, b, _| {
                let (at, len) = field(b);
                test((a >> at) & ((1u64 << len.min(32)) - 1))
            },
            w,
            w,
            w,
        ),
        "s_bfe_i32" => entry(
            |a, b, _| {
                let (at, len) = field(b);
                let len = len.min(32 - at);
                let value = if len == 0 { 0 } else { (i32_of(a) << (32 - at - len)) >> (32 - len) };
                test(value as u32 as u64)
            },
            w,
            w,
            w,
        ),
        "s_bfm_b32" => {
            entry(|a, b, _| ((((1u64 << (a & 31)) - 1) << (b & 31)) & 0xffff_ffff, None), w, w, w)
        }
        "s_lshl1_add_u32" => entry(|a, b, _| shift_add(a, b, 1), w, w, w),
        "s_lshl2_add_u32" => entry(|a, b, _| shift_add(a, b, 2), w, w, w),
        "s_lshl3_add_u32" => entry(|a, b, _| shift_add(a, b, 3), w, w, w),
        "s_lshl4_add_u32" => entry(|a, b, _| shift_add(a, b, 4), w, w, w),
        "s_min_u32" => entry(|a, b, _| (a.min(b), Some(a < b)), w, w, w),
        "s_max_u32" => entry(|a, b, _| (a.max(b), Some(a > b)), w, w, w),
        "s_min_i32" => entry(
            |a, b, _| (i32_of(a).min(i32_of(b)) as u32 as u64, Some(i32_of(a) < i32_of(b))),
            w,
            w,
            w,
        ),
        "s_max_i32" => entry(
            |a, b, _| (i32_of(a).max(i32_of(b)) as u32 as u64, Some(i32_of(a) > i32_of(b))),
            w,
            w,
            w,
        ),
        "s_pack_ll_b32_b16" => {
            entry(|a, b, _| ((a & 0xffff) | ((b & 0xffff) << 16), None), w, w, w)
        }
        "s_cmp_eq_u64" => entry(|a, b, _| (0, Some(a == b)), 0, l, l),
        "s_cmp_lg_u64" => entry(|a, b, _| (0, Some(a != b)), 0, l, l),
        "s_bitcmp0_b32" => entry(|a, b, _| (0, Some(a >> (b & 31) & 1 == 0)), 0, w, w),
        "s_bitcmp1_b32" => entry(|a, b, _| (0, Some(a >> (b & 31) & 1 == 1)), 0, w, w),
        _ => compare(name).map(|f| Entry { f, dst: 0, a: w, b: w }),
    }
}

fn compare(name: &str) -> Option<ScalarFn> {
    let name = name.strip_prefix("s_cmpk_").or_else(|| name.strip_prefix("s_cmp_"))?;
    Some(match name {
        "eq_u32" | "eq_i32" => |a, b, _| (0, Some(a as u32 == b as u32)),
        "lg_u32" | "lg_i32" => |a, b, _| (0, Some(a as u32 != b as u32)),
        "gt_u32" => |a, b, _| (0, Some(a as u32 > b as u32)),
        "ge_u32" => |a, b, _| (0, Some(a as u32 >= b as u32)),
        "lt_u32" => |a, b, _| (0, Some((a as u32) < b as u32)),
        "le_u32" => |a, b, _| (0, Some(a as u32 <= b as u32)),
        "gt_i32" => |a, b, _| (0, Some(i32_of(a) > i32_of(b))),
        "ge_i32" => |a, b, _| (0, Some(i32_of(a) >= i32_of(b))),
        "lt_i32" => |a, b, _| (0, Some(i32_of(a) < i32_of(b))),
        "le_i32" => |a, b, _| (0, Some(i32_of(a) <= i32_of(b))),
        _ => return None,
    })
}
