//! What operations element by element make of numbers.
//!
//! A number is the bits of its element type. What is not told here, or what no program may rely on
//! (a shift by the width, a quotient by zero, a float beyond its type), has no value.
use crate::model::Dtype;
use lanebook_tables::DtypeKind;

/// The bits that a type has.
fn mask(bits: u16) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Bits as a number with a sign.
fn signed(value: u64, bits: u16) -> i64 {
    let free = 64 - u32::from(bits.clamp(1, 64));
    ((value << free) as i64) >> free
}

/// A truth, or a number without a sign.
fn is_unsigned(dtype: &Dtype) -> bool {
    dtype.bits == 1 || dtype.kind == DtypeKind::Unsigned
}

/// The number that the bits of a float are.
pub(super) fn decode(dtype: &Dtype, bits: u64) -> Option<f64> {
    let format = dtype.format.as_ref()?;
    if dtype.bits == 64 {
        return Some(f64::from_bits(bits));
    }
    if dtype.bits == 32 {
        return Some(f64::from(f32::from_bits(bits as u32)));
    }
    let (fraction, exponent) = (u32::from(format.fraction), u32::from(format.exponent));
    let field = (bits >> fraction) & mask(exponent as u16);
    let low = bits & mask(fraction as u16);
    // Which of the highest are no numbers is the type's affair.
    if field == mask(exponent as u16) || !format.signed || !format.zero {
        return None;
    }
    let unit = |e: i64| 2f64.powi((e - i64::from(format.bias) - i64::from(fraction)) as i32);
    let size = if field == 0 {
        low as f64 * unit(1)
    } else {
        (low + (1 << fraction)) as f64 * unit(field as i64)
    };
    let negative = bits >> (fraction + exponent) & 1 == 1;
    // A zero with a sign is a NaN in some types.
    (size != 0.0 || !negative).then_some(if negative { -size } else { size })
}

/// The bits of the float that is next to a number, the even one of two.
pub(super) fn encode(dtype: &Dtype, value: f64) -> Option<u64> {
    let format = dtype.format.as_ref()?;
    if dtype.bits == 64 {
        return Some(value.to_bits());
    }
    if dtype.bits == 32 {
        return Some(u64::from((value as f32).to_bits()));
    }
    let (fraction, exponent) = (i32::from(format.fraction), u32::from(format.exponent));
    if !value.is_finite()
        || !format.signed
        || !format.zero
        || value == 0.0 && value.is_sign_negative()
    {
        return None;
    }
    let least = 1 - i32::from(format.bias);
    let size = value.abs();
    let power = (size.to_bits() >> 52) as i32 - 1023;
    let power = power.max(least);
    let scaled = size * 2f64.powi(fraction - power);
    let near = scaled.floor();
    let over = scaled - near;
    let even = near % 2.0 == 0.0;
    let near = near + f64::from(u8::from(over > 0.5 || over == 0.5 && !even));
    // A fraction that rounds up to the next power is that power.
    let bits = if power == least && near < f64::from(1 << fraction) {
        near as u64
    } else {
        let field = (power - least + 1) as u64;
        (field << fraction) + near as u64 - (1 << fraction)
    };
    let top = mask(exponent as u16) << fraction;
    if bits >= top || bits == 0 && value < 0.0 {
        return None;
    }
    Some(bits | u64::from(value < 0.0) << (fraction + exponent as i32))
}

/// What an operation makes of operands of one type (a selection: of a truth and two others).
pub(super) fn value(op: &str, from: &Dtype, to: &Dtype, of: &[u64]) -> Option<u64> {
    let float = |dtype: &Dtype| dtype.kind == DtypeKind::Float;
    if let ("select", [p, a, b]) = (op, of) {
        return Some(if *p & 1 == 1 { *a } else { *b });
    }
    if op == "arith.bitcast" {
        return (from.bits == to.bits).then_some(*of.first()?);
    }
    if let Some(relation) = op.strip_prefix("compare.") {
        let [a, b] = of else { return None };
        return compare(relation, from, *a, *b).map(u64::from);
    }
    match (float(from), float(to)) {
        (false, false) => whole(op, from, to, of).map(|value| value & mask(to.bits)),
        (true, true) => floats(op, from, to, of),
        (false, true) => {
            let a = *of.first()?;
            let with_sign = match op {
                "arith.sitofp" => true,
                "arith.uitofp" => false,
                "cast" => !is_unsigned(from),
                _ => return None,
            };
            let a = if with_sign { i128::from(signed(a, from.bits)) } else { i128::from(a) };
            // Rounded once.
            match to.bits {
                32 => Some(u64::from((a as f32).to_bits())),
                _ if a.unsigned_abs() > 1 << 53 && to.bits < 64 => None,
                _ => encode(to, a as f64),
            }
        }
        (true, false) => {
            let a = decode(from, *of.first()?)?;
            let with_sign = match op {
                "arith.fptosi" => true,
                "arith.fptoui" => false,
                "cast" => !is_unsigned(to),
                _ => return None,
            };
            let all = mask(to.bits);
            let half = (all >> 1) as i64;
            let value = if with_sign {
                (a as i64).clamp(-half - 1, half) as u64
            } else {
                (a as u64).min(all)
            };
            Some(value & all)
        }
    }
}

fn compare(relation: &str, from: &Dtype, a: u64, b: u64) -> Option<bool> {
    let order = if from.kind == DtypeKind::Float {
        let (a, b) = (decode(from, a)?, decode(from, b)?);
        let order = a.partial_cmp(&b);
        let unordered = order.is_none();
        let (relation, open) = match relation {
            "uno" => return Some(unordered),
            "ord" => return Some(!unordered),
            _ => (relation.get(1..)?, relation.starts_with('u')),
        };
        let Some(order) = order else { return Some(open) };
        return told(relation, order);
    } else {
        match relation.get(..1)? {
            _ if ["eq", "ne"].contains(&relation) => a.cmp(&b),
            "s" => signed(a, from.bits).cmp(&signed(b, from.bits)),
            "u" => a.cmp(&b),
            _ => return None,
        }
    };
    let relation = if relation.len() == 3 { relation.get(1..)? } else { relation };
    told(relation, order)
}

fn told(relation: &str, order: std::cmp::Ordering) -> Option<bool> {
    Some(match relation {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "lt" => order.is_lt(),
        "le" => order.is_le(),
        "gt" => order.is_gt(),
        "ge" => order.is_ge(),
        _ => return None,
    })
}

/// Integers and bits, and truths.
fn whole(op: &str, from: &Dtype, to: &Dtype, of: &[u64]) -> Option<u64> {
    let bits = from.bits;
    let s = |value: u64| signed(value, bits);
    Some(match (op, of) {
        ("arith.extui", [a]) => *a,
        ("arith.extsi", [a]) => s(*a) as u64,
        ("arith.trunci", [a]) => *a,
        ("cast", [a]) if is_unsigned(from) => *a,
        // A truth of a number is that it is not zero, or its lowest bit: it is not said.
        ("cast", [_]) if to.bits == 1 => return None,
        ("cast", [a]) => s(*a) as u64,
        ("neg", [a]) => a.wrapping_neg(),
        ("math.absi", [a]) => s(*a).unsigned_abs(),
        ("add", [a, b]) => a.wrapping_add(*b),
        ("sub", [a, b]) => a.wrapping_sub(*b),
        ("mul", [a, b]) => a.wrapping_mul(*b),
        ("fma", [a, b, c]) => a.wrapping_mul(*b).wrapping_add(*c),
        ("arith.andi", [a, b]) => a & b,
        ("arith.ori", [a, b]) => a | b,
        ("arith.xori", [a, b]) => a ^ b,
        ("arith.shli" | "arith.shrui" | "arith.shrsi", [_, b]) if *b >= u64::from(bits) => {
            return None;
        }
        ("arith.shli", [a, b]) => a << b,
        ("arith.shrui", [a, b]) => a >> b,
        ("arith.shrsi", [a, b]) => (s(*a) >> b) as u64,
        ("arith.minsi", [a, b]) => s(*a).min(s(*b)) as u64,
        ("arith.maxsi", [a, b]) => s(*a).max(s(*b)) as u64,
        ("arith.minui", [a, b]) => *a.min(b),
        ("arith.maxui", [a, b]) => *a.max(b),
        ("divui" | "divsi" | "remui" | "remsi", [_, 0]) => return None,
        ("divui", [a, b]) => a / b,
        ("remui", [a, b]) => a % b,
        ("divsi", [a, b]) => s(*a).checked_div(s(*b))? as u64,
        ("remsi", [a, b]) => s(*a).checked_rem(s(*b))? as u64,
        ("tt.mulhiui", [a, b]) => ((u128::from(*a) * u128::from(*b)) >> bits) as u64,
        _ => return None,
    })
}

/// Operations whose value here is the one that is next to the true one, also in 64 bits.
pub(super) fn is_rounded_once(op: &str) -> bool {
    let name = op.rsplit('.').next().unwrap_or(op);
    ["exp", "exp2", "log", "log2", "sin", "cos", "tanh", "erf", "rsqrt"]
        .iter()
        .all(|of| *of != name)
}

fn floats(op: &str, from: &Dtype, to: &Dtype, of: &[u64]) -> Option<u64> {
    let of: Vec<f64> = of.iter().map(|bits| decode(from, *bits)).collect::<Option<_>>()?;
    if let ("fma", &[a, b, c], 32) = (op, &of[..], from.bits) {
        return Some(u64::from((a as f32).mul_add(b as f32, c as f32).to_bits()));
    }
    let number = |a: f64, b: f64, least: bool| match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if least => a.min(b),
        _ => a.max(b),
    };
    let result = match (op, &of[..]) {
        ("cast", &[a]) => a,
        ("neg", &[a]) => -a,
        ("math.absf", &[a]) => a.abs(),
        ("add", &[a, b]) => a + b,
        ("sub", &[a, b]) => a - b,
        ("mul", &[a, b]) => a * b,
        ("div", &[a, b]) => a / b,
        ("fma", &[a, b, c]) if from.bits == 64 => a.mul_add(b, c),
        ("min", &[a, b]) => number(a, b, true),
        ("max", &[a, b]) => number(a, b, false),
        ("arith.minimumf" | "arith.maximumf", &[a, b]) if a.is_nan() || b.is_nan() => f64::NAN,
        ("arith.minimumf", &[a, b]) => a.min(b),
        ("arith.maximumf", &[a, b]) => a.max(b),
        ("math.floor", &[a]) => a.floor(),
        ("math.ceil", &[a]) => a.ceil(),
        ("math.trunc", &[a]) => a.trunc(),
        ("math.roundeven", &[a]) => a.round_ties_even(),
        ("rcp", &[a]) => 1.0 / a,
        ("rsqrt", &[a]) => 1.0 / a.sqrt(),
        ("math.sqrt", &[a]) => a.sqrt(),
        ("exp", &[a]) => a.exp(),
        ("exp2", &[a]) => a.exp2(),
        ("log", &[a]) => a.ln(),
        ("math.log2", &[a]) => a.log2(),
        ("math.sin", &[a]) => a.sin(),
        ("math.cos", &[a]) => a.cos(),
        ("math.tanh", &[a]) => a.tanh(),
        ("math.erf", &[a]) => libm::erf(a),
        _ => return None,
    };
    encode(to, result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};
    use crate::spanned::Spanned;
    use lanebook_tables::{FloatFormat, Specials};

    fn dtype(kind: DtypeKind, bits: u16, format: Option<FloatFormat>) -> Dtype {
        let name = Spanned { value: String::new(), span: Span::new(FileId(0), 0, 0) };
        Dtype { name, bits, held: bits, kind, format, unread: 0, pair_of: None }
    }

    /// A float of 16 bits is read and written again, and rounds to the even one of two.
    #[test]
    fn narrow_floats_come_back() {
        let format = FloatFormat {
            signed: true,
            exponent: 5,
            fraction: 10,
            bias: 15,
            specials: Specials::Ieee,
            zero: true,
        };
        let half = dtype(DtypeKind::Float, 16, Some(format));
        for bits in (0..0x7c00u64).chain(0x8001..0xfc00) {
            let value = decode(&half, bits).unwrap();
            assert_eq!(encode(&half, value), Some(bits), "{bits:#x} is {value}");
        }
        assert_eq!(decode(&half, 0x3c00), Some(1.0));
        assert_eq!(encode(&half, 2049.0), encode(&half, 2048.0));
        assert_eq!(encode(&half, 2051.0), encode(&half, 2052.0));
        assert_eq!(encode(&half, 1e6), None);
    }

    #[test]
    fn signs_are_where_they_belong() {
        let (byte, word) = (dtype(DtypeKind::Signed, 8, None), dtype(DtypeKind::Signed, 32, None));
        assert_eq!(value("arith.extsi", &byte, &word, &[0x80]), Some(0xffff_ff80));
        assert_eq!(value("arith.extui", &byte, &word, &[0x80]), Some(0x80));
        assert_eq!(value("compare.slt", &byte, &byte, &[0x80, 1]), Some(1));
        assert_eq!(value("compare.ult", &byte, &byte, &[0x80, 1]), Some(0));
        assert_eq!(value("arith.shrsi", &byte, &byte, &[0x80, 7]), Some(0xff));
        assert_eq!(value("arith.shli", &byte, &byte, &[1, 8]), None);
        assert_eq!(value("divsi", &word, &word, &[7, 0]), None);
    }
}
