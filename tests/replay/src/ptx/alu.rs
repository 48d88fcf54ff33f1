//! PTX arithmetic on 64-bit cells: pure functions of values, no registers.

use super::op::{Alu, Cmp, Relation, Ty};
use crate::number::{
    bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, f64_to_odd, fused_odd, greater, smaller,
};

/// Low `bits` bits.
pub(super) fn truncate(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

fn signed(value: u64, bits: u32) -> i64 {
    if bits >= 64 { value as i64 } else { ((value << (64 - bits)) as i64) >> (64 - bits) }
}

/// The value as an integer of its type.
pub(super) fn widen(value: u64, ty: Ty) -> i128 {
    if ty.is_signed() {
        i128::from(signed(value, ty.bits()))
    } else {
        i128::from(truncate(value, ty.bits()))
    }
}

/// Computes one lane. `Err` says what is not modelled.
pub(super) fn compute(f: Alu, ty: Ty, s: [u64; 4]) -> Result<u64, String> {
    if ty.is_float() {
        return float(f, ty, s);
    }
    if let Ty::U16x2 | Ty::S16x2 = ty {
        let half = if ty == Ty::U16x2 { Ty::U(16) } else { Ty::S(16) };
        let low = compute(f, half, s.map(|v| v & 0xffff))?;
        return Ok(low | compute(f, half, s.map(|v| v >> 16 & 0xffff))? << 16);
    }
    let bits = ty.bits();
    let [a, b, c] = [0, 1, 2].map(|i| truncate(s[i], bits));
    let [wa, wb, wc] = [0, 1, 2].map(|i| widen(s[i], ty));
    let count = s[1] as u32;
    Ok(match f {
        Alu::Add => truncate(a.wrapping_add(b), bits),
        Alu::Sub => truncate(a.wrapping_sub(b), bits),
        Alu::MulLo => truncate(a.wrapping_mul(b), bits),
        Alu::MulHi => truncate((wa.wrapping_mul(wb) >> bits) as u64, bits),
        Alu::MulWide => truncate((wa * wb) as u64, 2 * bits),
        Alu::MadLo => truncate(a.wrapping_mul(b).wrapping_add(c), bits),
        Alu::MadHi => truncate(((wa.wrapping_mul(wb) >> bits) + wc) as u64, bits),
        Alu::MadWide => truncate(((wa * wb) as u64).wrapping_add(s[2]), 2 * bits),
        Alu::Mul24 | Alu::Mad24 => {
            let narrow = |v: u64| {
                if ty.is_signed() { i128::from(signed(v, 24)) } else { i128::from(v & 0xff_ffff) }
            };
            let product = (narrow(a) * narrow(b)) as u64;
            truncate(if f == Alu::Mad24 { product.wrapping_add(c) } else { product }, bits)
        }
        Alu::Div if b == 0 => return Err("division by zero".to_string()),
        Alu::Rem if b == 0 => return Err("remainder by zero".to_string()),
        Alu::Div => truncate((wa / wb) as u64, bits),
        Alu::Rem => truncate((wa % wb) as u64, bits),
        Alu::Shl => {
            if count >= bits {
                0
            } else {
                truncate(a << count, bits)
            }
        }
        Alu::Shr if ty.is_signed() => {
            truncate((signed(a, bits) >> count.min(bits - 1)) as u64, bits)
        }
        Alu::Shr => {
            if count >= bits {
                0
            } else {
                a >> count
            }
        }
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        Alu::Not => truncate(!a, bits),
        Alu::Neg => truncate(a.wrapping_neg(), bits),
        Alu::Abs => truncate(signed(a, bits).unsigned_abs(), bits),
        Alu::Min => truncate(wa.min(wb) as u64, bits),
        Alu::Max => truncate(wa.max(wb) as u64, bits),
        Alu::Lop3(table) => lop3(a as u32, b as u32, c as u32, table).into(),
        Alu::Bfe => extract(a, s[1] as u32 & 0xff, s[2] as u32 & 0xff, ty),
        Alu::Bfi => insert(a, b, s[2] as u32 & 0xff, s[3] as u32 & 0xff, bits),
        Alu::Prmt => permute(a as u32, b as u32, s[2] as u32).into(),
        Alu::ShfL { wrap } => funnel(a as u32, b as u32, s[2] as u32, wrap, true).into(),
        Alu::ShfR { wrap } => funnel(a as u32, b as u32, s[2] as u32, wrap, false).into(),
        Alu::Popc => a.count_ones().into(),
        Alu::Clz => (a.leading_zeros() - (64 - bits)).into(),
        Alu::Brev => a.reverse_bits() >> (64 - bits),
        Alu::Mul | Alu::Fma | Alu::Ex2 | Alu::Rsqrt | Alu::Rcp | Alu::Sqrt | Alu::Lg2 => {
            return Err("a float operation on integers".to_string());
        }
    })
}

/// Any function of three bits, bit by bit; the table's index is `4a + 2b + c`.
fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let pick = |v: u32, set: bool| if set { v } else { !v };
    (0..8u32)
        .filter(|i| table >> i & 1 == 1)
        .fold(0, |sum, i| sum | (pick(a, i & 4 != 0) & pick(b, i & 2 != 0) & pick(c, i & 1 != 0)))
}

fn extract(a: u64, pos: u32, len: u32, ty: Ty) -> u64 {
    let bits = ty.bits();
    let top = bits - 1;
    let fill = if !ty.is_signed() || len == 0 { 0 } else { a >> (pos + len - 1).min(top) & 1 };
    let mut out = 0;
    for i in 0..bits {
        let bit = if i < len && pos + i <= top { a >> (pos + i) & 1 } else { fill };
        out |= bit << i;
    }
    out
}

fn insert(field: u64, base: u64, pos: u32, len: u32, bits: u32) -> u64 {
    let mut out = base;
    for i in 0..len {
        if pos + i < bits {
            out = out & !(1 << (pos + i)) | (field >> i & 1) << (pos + i);
        }
    }
    out
}

/// Byte permutation; selector nibble bit 3 replicates the sign.
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let all = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |out, i| {
        let pick = selector >> (4 * i) & 15;
        let byte = (all >> (8 * (pick & 7))) as u32 & 0xff;
        let byte = if pick & 8 == 0 {
            byte
        } else if byte & 0x80 != 0 {
            0xff
        } else {
            0
        };
        out | byte << (8 * i)
    })
}

/// `a` is the low word, `b` the high word.
fn funnel(a: u32, b: u32, count: u32, wrap: bool, left: bool) -> u32 {
    let n = if wrap { count & 31 } else { count.min(32) };
    let all = u64::from(b) << 32 | u64::from(a);
    if left { ((all << n) >> 32) as u32 } else { (all >> n) as u32 }
}

fn float(f: Alu, ty: Ty, s: [u64; 4]) -> Result<u64, String> {
    if matches!(ty, Ty::F16x2 | Ty::Bf16x2) {
        let half = if ty == Ty::F16x2 { Ty::F16 } else { Ty::Bf16 };
        let low = float(f, half, s.map(|v| v & 0xffff))?;
        return Ok(low | float(f, half, s.map(|v| v >> 16 & 0xffff))? << 16);
    }
    // Two products of 11 or 24 bit fractions are exact in binary64, so one rounding remains.
    let [a, b, c] = [0, 1, 2].map(|i| to_f64(s[i], ty));
    let value = match f {
        Alu::Add => a + b,
        Alu::Sub => a - b,
        Alu::Mul => a * b,
        Alu::Div => a / b,
        Alu::Fma if ty == Ty::F32 => f64::from((a as f32).mul_add(b as f32, c as f32)),
        Alu::Fma if ty == Ty::F64 => a.mul_add(b, c),
        Alu::Fma => fused_odd(a, b, c),
        Alu::Neg => -a,
        Alu::Abs => a.abs(),
        Alu::Min => smaller(a, b),
        Alu::Max => greater(a, b),
        Alu::Ex2 => a.exp2(),
        Alu::Rsqrt => 1.0 / a.sqrt(),
        Alu::Rcp => 1.0 / a,
        Alu::Sqrt => a.sqrt(),
        Alu::Lg2 => a.log2(),
        _ => return Err("an integer operation on floats".to_string()),
    };
    Ok(from_f64(value, ty))
}

/// The number that a pattern means.
pub(super) fn to_f64(bits: u64, ty: Ty) -> f64 {
    match ty {
        Ty::F16 => f16_to_f32(bits as u16).into(),
        Ty::Bf16 => bf16_to_f32(bits as u16).into(),
        Ty::F64 => f64::from_bits(bits),
        _ => f32::from_bits(bits as u32).into(),
    }
}

/// The nearest pattern.
pub(super) fn from_f64(value: f64, ty: Ty) -> u64 {
    match ty {
        Ty::F16 => f32_to_f16(f64_to_odd(value)).into(),
        Ty::Bf16 => f32_to_bf16(f64_to_odd(value)).into(),
        Ty::F64 => value.to_bits(),
        _ => (value as f32).to_bits().into(),
    }
}

/// `cvt` of one element.
pub(super) fn convert(to: Ty, from: Ty, round: Option<&str>, value: u64) -> Result<u64, String> {
    match (to.is_float(), from.is_float()) {
        (false, false) => {
            let narrow = truncate(widen(value, from) as u64, to.bits());
            Ok(if to.is_signed() { signed(narrow, to.bits()) as u64 } else { narrow })
        }
        // Rounded once.
        (true, false) if to == Ty::F32 => Ok(u64::from((widen(value, from) as f32).to_bits())),
        (true, false) if to == Ty::F64 || from.bits() < 64 => {
            Ok(from_f64(widen(value, from) as f64, to))
        }
        (true, false) => Err("a conversion from 64 bits to a short float is not modelled".into()),
        (false, true) => {
            let x = to_f64(value, from);
            let x = match round {
                Some("rzi") => x.trunc(),
                Some("rni") => x.round_ties_even(),
                Some("rmi") => x.floor(),
                Some("rpi") => x.ceil(),
                _ => return Err("a conversion to integer needs a rounding".to_string()),
            };
            // What is too large becomes the type's greatest number; what is no number 0, but the
            // highest bit alone where either type has 64 bits (PTX ISA, `cvt`).
            let bits = to.bits();
            if x.is_nan() {
                return Ok(if from == Ty::F64 || bits == 64 { 1 << (bits - 1) } else { 0 });
            }
            let (least, most) = if to.is_signed() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            Ok(truncate((x as i128).clamp(least, most) as u64, bits))
        }
        (true, true) => match round {
            None | Some("rn") => Ok(from_f64(to_f64(value, from), to)),
            // To a whole number of the same type.
            Some("rmi") if from == to => Ok(from_f64(to_f64(value, from).floor(), to)),
            Some("rni") if from == to => Ok(from_f64(to_f64(value, from).round_ties_even(), to)),
            Some("rzi") if from == to => Ok(from_f64(to_f64(value, from).trunc(), to)),
            Some("rpi") if from == to => Ok(from_f64(to_f64(value, from).ceil(), to)),
            Some(other) => Err(format!("rounding `{other}` is not modelled")),
        },
    }
}

/// `setp`'s comparison.
pub(super) fn compare(cmp: Cmp, ty: Ty, a: u64, b: u64) -> bool {
    let order = if ty.is_float() {
        to_f64(a, ty).partial_cmp(&to_f64(b, ty))
    } else {
        Some(widen(a, ty).cmp(&widen(b, ty)))
    };
    let Some(order) = order else { return matches!(cmp, Cmp::Unordered(_)) };
    match cmp {
        Cmp::Numbers => true,
        Cmp::Unordered(Relation::Never) => false,
        Cmp::Unordered(Relation::Eq) => order.is_eq(),
        Cmp::Unordered(Relation::Ne) => order.is_ne(),
        Cmp::Unordered(Relation::Lt) => order.is_lt(),
        Cmp::Unordered(Relation::Le) => order.is_le(),
        Cmp::Unordered(Relation::Gt) => order.is_gt(),
        Cmp::Unordered(Relation::Ge) => order.is_ge(),
        Cmp::Eq => order.is_eq(),
        Cmp::Ne => order.is_ne(),
        Cmp::Lt => order.is_lt(),
        Cmp::Le => order.is_le(),
        Cmp::Gt => order.is_gt(),
        Cmp::Ge => order.is_ge(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const U32: Ty = Ty::U(32);

    fn u32_of(f: Alu, s: [u64; 4]) -> u64 {
        compute(f, U32, s).expect("modelled")
    }

    #[test]
    fn swizzle_by_lop3() {
        assert_eq!(
            u32_of(Alu::Lop3(0x78), [0b1010, 0b0110, 0b0100, 0]),
            0b1010 ^ (0b0110 & 0b0100)
        );
        assert_eq!(u32_of(Alu::Lop3(0xf0), [7, 1, 2, 0]), 7);
    }

    #[test]
    fn fields_and_funnels() {
        assert_eq!(u32_of(Alu::Bfe, [0xabcd, 4, 8, 0]), 0xbc);
        assert_eq!(compute(Alu::Bfe, Ty::S(32), [0x80, 4, 4, 0]).expect("modelled"), 0xffff_fff8);
        assert_eq!(u32_of(Alu::Bfi, [0x5, 0xff00, 4, 4,]), 0xff50);
        assert_eq!(u32_of(Alu::Prmt, [0x3322_1100, 0x7766_5544, 0x5410, 0]), 0x5544_1100);
        assert_eq!(u32_of(Alu::ShfL { wrap: true }, [0x8000_0000, 1, 1, 0]), 3);
        assert_eq!(u32_of(Alu::ShfR { wrap: true }, [0, 1, 1, 0]), 0x8000_0000);
        assert_eq!(u32_of(Alu::ShfR { wrap: false }, [1, 7, 40, 0]), 7);
        assert_eq!(u32_of(Alu::Shl, [1, 32, 0, 0]), 0);
    }

    #[test]
    fn products_keep_their_sign() {
        assert_eq!(
            compute(Alu::MulWide, Ty::S(32), [0xffff_ffff, 4, 0, 0]).expect("modelled"),
            (-4i64) as u64
        );
        assert_eq!(u32_of(Alu::MulHi, [0xffff_ffff, 0xffff_ffff, 0, 0]), 0xffff_fffe);
        assert_eq!(
            compute(Alu::MadWide, U32, [3, 5, 1 << 40, 0]).expect("modelled"),
            (1 << 40) + 15
        );
    }
}
