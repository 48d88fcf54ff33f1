//! The 16-bit float formats, bit for bit: binary16 and bfloat16, round to nearest even.

/// The greater of two numbers as machines have it: the one that is a number, and +0 before -0 (PTX
/// ISA, `max`; AMD's ISA documents, V_MAX_F32). The host's own leaves the sign of zero open.
#[must_use]
pub fn greater(a: f64, b: f64) -> f64 {
    match () {
        () if a.is_nan() && b.is_nan() => f64::NAN,
        () if a == b => {
            if a.is_sign_negative() {
                b
            } else {
                a
            }
        }
        () => a.max(b),
    }
}

/// The smaller one, -0 before +0.
#[must_use]
pub fn smaller(a: f64, b: f64) -> f64 {
    -greater(-a, -b)
}

/// Value of a binary16 pattern.
pub fn f16_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10) & 31;
    let fraction = u32::from(bits) & 0x3ff;
    let magnitude = match exponent {
        0 => return f32::from_bits(sign | (fraction as f32 * (1.0 / 16_777_216.0)).to_bits()),
        31 => 0x7f80_0000 | (fraction << 13),
        _ => ((exponent + 112) << 23) | (fraction << 13),
    };
    f32::from_bits(sign | magnitude)
}

/// A binary64 as a binary32 that is rounded to less as the number itself is: what binary32 does not
/// have becomes the odd one of the two that it lies between.
#[must_use]
pub fn f64_to_odd(value: f64) -> f32 {
    let near = value as f32;
    if value.is_nan() || f64::from(near) == value {
        return near;
    }
    let beyond = f64::from(near).abs() > value.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}

/// `a b + c` of numbers of at most 16 bits, as an odd binary64 where that does not have it.
#[must_use]
pub fn fused_odd(a: f64, b: f64, c: f64) -> f64 {
    let (product, sum) = (a * b, a * b + c);
    // The greater of two summands loses nothing: what the other one loses is exact.
    let (large, small) = if product.abs() > c.abs() { (product, c) } else { (c, product) };
    let lost = small - (sum - large);
    if !sum.is_finite() || lost == 0.0 {
        return sum;
    }
    let inward = (lost > 0.0) == (sum < 0.0);
    f64::from_bits((if inward { sum.to_bits() - 1 } else { sum.to_bits() }) | 1)
}

/// Nearest binary16 pattern, ties to even, overflow to infinity.
pub fn f32_to_f16(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    if magnitude >= 0x477f_f000 {
        return sign | 0x7c00;
    }
    if magnitude < 0x3880_0000 {
        // Subnormal result: scale so that one unit is 2^-24; the addition of 2^23 rounds to even.
        let scaled = f32::from_bits(magnitude) * 16_777_216.0;
        let rounded = (scaled + 8_388_608.0) - 8_388_608.0;
        return sign | rounded as u16;
    }
    let rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
    sign | ((rounded - (112 << 23)) >> 13) as u16
}

/// binary16 pattern rounded toward zero (AMD's `cvt_pkrtz`).
pub fn f32_to_f16_rtz(value: f32) -> u16 {
    let nearest = f32_to_f16(value);
    if value.is_finite() && f16_to_f32(nearest).abs() > value.abs() { nearest - 1 } else { nearest }
}

/// Value of a bfloat16 pattern.
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Nearest bfloat16 pattern, ties to even.
pub fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits.wrapping_add(0x7fff + ((bits >> 16) & 1))) >> 16) as u16
}

/// Value of an 8-bit pattern with 4 bits of exponent and 3 of fraction: no infinities, all ones is
/// no number.
pub fn e4m3_to_f32(bits: u8) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 3 & 15), f32::from(bits & 7));
    let magnitude = match (exponent, bits & 7) {
        (15, 7) => f32::NAN,
        (0, _) => fraction * 2f32.powi(-9),
        _ => (8.0 + fraction) * 2f32.powi(exponent - 10),
    };
    if bits >> 7 == 1 { -magnitude } else { magnitude }
}

/// Value of an 8-bit float pattern with `fraction` bits of fraction: e4m3 or e5m2 of OCP, or with
/// one zero, no infinity and a bias greater by one (`fnuz`).
pub fn float8(bits: u8, fraction: u32, fnuz: bool) -> f64 {
    if !fnuz {
        return if fraction == 3 { e4m3_to_f32(bits).into() } else { e5m2_to_f32(bits).into() };
    }
    if bits == 0x80 {
        return f64::NAN;
    }
    let (exponent, low) = (
        i32::from(bits >> fraction & (0x7f >> fraction)),
        f64::from(u32::from(bits) & ((1 << fraction) - 1)),
    );
    let bias = 1 << (6 - fraction);
    let one = f64::from(1u32 << fraction);
    let magnitude = if exponent == 0 {
        low / one * 2f64.powi(1 - bias)
    } else {
        (1.0 + low / one) * 2f64.powi(exponent - bias)
    };
    if bits >> 7 == 1 { -magnitude } else { magnitude }
}

/// The nearest 8-bit float pattern, of two the even one; a value beyond all of them becomes the
/// greatest (`saturate`), or no number.
pub fn to_float8(value: f32, fraction: u32, fnuz: bool, saturate: bool) -> u8 {
    let none = if fnuz { 0x80 } else { 0x7f };
    if value.is_nan() {
        return none;
    }
    let value = f64::from(value);
    let sign = u8::from(value.is_sign_negative()) << 7;
    let magnitudes = || {
        (0u8..0x80).map(|bits| (bits, float8(bits, fraction, fnuz))).filter(|(_, v)| v.is_finite())
    };
    let (last, greatest) =
        magnitudes().fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best });
    // Half a step beyond the greatest still rounds to it.
    let step = greatest - float8(last - 1, fraction, fnuz);
    let magnitude = value.abs();
    if magnitude >= greatest + step / 2.0 {
        return sign | if saturate { last } else { none };
    }
    let better = |a: (u8, f64), b: (u8, f64)| {
        let (da, db) = ((a.1 - magnitude).abs(), (b.1 - magnitude).abs());
        if db < da || db == da && b.0 & 1 == 0 { b } else { a }
    };
    let bits = magnitudes().fold((0, 0.0), better).0;
    if fnuz && bits == 0 { 0 } else { sign | bits }
}

/// Value of an 8-bit pattern with 5 bits of exponent and 2 of fraction: the upper half of a
/// binary16.
pub fn e5m2_to_f32(bits: u8) -> f32 {
    f16_to_f32(u16::from(bits) << 8)
}

/// Value of a block scale: a power of two, all ones is no number.
/// Four bits: a sign, two of exponent, one of fraction (OCP MX, "FP4").
#[must_use]
pub fn e2m1_to_f32(bits: u8) -> f32 {
    let (exponent, fraction) = (bits >> 1 & 3, f32::from(bits & 1));
    let size = match exponent {
        0 => fraction / 2.0,
        _ => (1.0 + fraction / 2.0) * f32::from(1u8 << (exponent - 1)),
    };
    if bits & 8 == 0 { size } else { -size }
}

/// A power of two.
#[must_use]
pub fn e8m0_to_f32(bits: u8) -> f32 {
    if bits == 255 { f32::NAN } else { (2f64.powi(i32::from(bits) - 127)) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_f16_survives_the_round_trip() {
        for bits in 0..=u16::MAX {
            let value = f16_to_f32(bits);
            if !value.is_nan() {
                assert_eq!(f32_to_f16(value), bits, "{bits:#x}");
            }
        }
    }

    #[test]
    fn eight_bits_of_both_kinds() {
        // e4m3: 1, the greatest, the least; fnuz has half of each, one more at the top, and no
        // negative zero.
        assert_eq!([0x38, 0x7e, 0x01].map(|b| float8(b, 3, false)), [1.0, 448.0, 1.0 / 512.0]);
        assert_eq!(
            [0x38, 0x40, 0x7f, 0x01, 0xc0].map(|b| float8(b, 3, true)),
            [0.5, 1.0, 240.0, 1.0 / 1024.0, -1.0]
        );
        assert_eq!([0x40, 0x7f, 0x01].map(|b| float8(b, 2, true)), [1.0, 57344.0, 1.0 / 131_072.0]);
        assert!(
            float8(0x80, 3, true).is_nan()
                && float8(0x80, 2, true).is_nan()
                && float8(0x80, 3, false) == 0.0
        );
    }

    #[test]
    fn ties_go_to_even() {
        assert_eq!(f32_to_f16(2049.0), f32_to_f16(2048.0));
        assert_eq!(f32_to_f16(2051.0), f32_to_f16(2052.0));
        assert_eq!(f32_to_f16(65520.0), 0x7c00);
        assert_eq!(f32_to_f16_rtz(2051.0), f32_to_f16(2050.0));
        assert_eq!(f32_to_bf16(1.0), 0x3f80);
        assert_eq!(f32_to_bf16(257.0), f32_to_bf16(256.0));
    }
}
