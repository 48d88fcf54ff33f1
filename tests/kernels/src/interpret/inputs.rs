//! What the matrices hold before: contents in which each element can be told from its neighbours,
//! and those that arithmetic finds hard.

use super::element::Element;

/// Kinds of contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// Small whole numbers or eighths: sums of products are exact.
    Small,
    /// As many different numbers of moderate size as the type has.
    Distinct,
    /// The same with both zeros, subnormal numbers, the least normal one and, in narrow types, the
    /// largest among them: numbers that may be added up.
    Edges,
    /// Every pattern: both zeros, infinities, what is no number, subnormals, the largest.
    Patterns,
}

fn mixed(i: u32, salt: u32) -> u32 {
    let mut x = i.wrapping_mul(0x9e37_79b9) ^ salt.wrapping_mul(0x85eb_ca6b);
    x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x ^ x >> 12
}

/// A bijection of the low bits; that of every other run says more of the higher ones, so that both
/// together tell more elements apart.
fn spread(i: u32, salt: u32) -> u64 {
    let higher = if salt >> 6 & 1 == 1 { (i >> 7).wrapping_mul(0x85eb_ca6b) } else { 0 };
    u64::from(
        i.wrapping_mul(0x9e37_79b1)
            .wrapping_add(higher)
            .wrapping_add(salt.wrapping_mul(0x632b_e5ab)),
    )
}

/// A byte that with those of another salt says which of 65,536 neighbours an element is.
fn eight(i: u32, salt: u32) -> u32 {
    let (low, salt) = (i & 0xff, salt + (salt >> 6));
    let high = i >> 8 & 0xff;
    (if salt & 1 == 0 {
        low.wrapping_mul(37).wrapping_add(high.wrapping_mul(12))
    } else {
        high.wrapping_mul(59).wrapping_add(low.wrapping_mul(101))
    })
    .wrapping_add(salt.wrapping_mul(29))
        & 0xff
}

/// The pattern of element `i` of a matrix; `salt` tells matrices and runs apart.
#[must_use]
pub fn pattern(element: Element, fill: Fill, i: usize, salt: u32) -> u64 {
    let i = i as u32;
    match fill {
        Fill::Small => {
            let step = f64::from(mixed(i, salt) % 17) - 8.0;
            let value = match element {
                Element::E8m0 => return u64::from(124 + mixed(i, salt) % 7),
                Element::Ue4m3 => return u64::from(0x28 + 8 * (mixed(i, salt) % 5)),
                Element::E2m1 => step / 2.0,
                Element::Whole { signed: false, .. } => step + 8.0,
                Element::Whole { .. } => step,
                _ => step / 8.0,
            };
            element.encode(value)
        }
        Fill::Distinct => distinct(element, i, salt),
        Fill::Edges => edges(element, i, salt),
        Fill::Patterns => patterns(element, i, salt),
    }
}

/// A number of moderate size, different from those of the elements near by.
fn distinct(element: Element, i: u32, salt: u32) -> u64 {
    let x = spread(i, salt);
    match element {
        Element::F64 => element.encode((x as f64 / 2f64.powi(31) - 1.0) * 3.0),
        Element::F32 => element.encode(f64::from((x >> 8) as i32 - (1 << 23)) / 2f64.powi(22)),
        // Sign, three bits of exponent, the fraction.
        Element::F16 => (x & 0x8000) | (11 + (x >> 10 & 7)) << 10 | x & 0x3ff,
        Element::Bf16 => (x & 0x8000) | (123 + (x >> 7 & 7)) << 7 | x & 0x7f,
        Element::Float8 { fraction, .. } => {
            let e = u64::from(eight(i, salt));
            let lowest = if fraction == 3 { 4 } else { 11 };
            (e & 0x80) | (lowest + (e >> fraction & 7)) << fraction | e & ((1 << fraction) - 1)
        }
        Element::Ue4m3 => 0x28 + u64::from(eight(i, salt)) % 0x28,
        Element::E2m1 => u64::from(eight(i, salt)) & 15,
        Element::E8m0 => 120 + u64::from(eight(i, salt)) % 13,
        Element::Whole { bits: 8, .. } => u64::from(eight(i, salt)),
        Element::Whole { bits: 4, .. } => u64::from(eight(i, salt)) & 15,
        Element::Whole { bits, .. } => (x >> 3) & (u64::MAX >> (64 - bits)),
    }
}

/// Whether all patterns of a type are numbers of moderate size.
fn has_no_edges(element: Element) -> bool {
    matches!(element, Element::E8m0 | Element::Ue4m3 | Element::E2m1)
}

/// A number of moderate size; every fifth one of those at the edges.
fn edges(element: Element, i: u32, salt: u32) -> u64 {
    if !mixed(i, salt ^ 0x55).is_multiple_of(5) || element.is_whole() || has_no_edges(element) {
        return distinct(element, i, salt);
    }
    let (sign, fraction) = (1u64 << (element.bits() - 1), element.precision() - 1);
    let largest = match element {
        Element::F16 => element.encode(f64::INFINITY) - 1,
        Element::Float8 { .. } => element.encode(f64::INFINITY),
        _ => 1 << fraction,
    };
    // Some types have no negative zero.
    let negative = if element.decode(sign) == 0.0 { sign } else { 0 };
    let all = [0, negative, 1, sign | ((1 << fraction) - 1), 1 << fraction, largest];
    all[mixed(i, salt ^ 0xaa) as usize % all.len()]
}

/// Any pattern of 64 bits; every other one of those that lie between two neighbours of a shorter
/// float, in the middle or right beside it.
fn wide(element: Element, i: u32, salt: u32) -> u64 {
    let (x, y) = (spread(i, salt), mixed(i, salt ^ 0x33));
    if y & 1 == 0 {
        return x << 32 | u64::from(y);
    }
    let digits = [8, 11, 24, 53][(y >> 1) as usize & 3];
    let middle = (x << 21 | u64::from(y >> 8)) & ((1 << digits) - 1) | 1 << digits | 1;
    let beside = i64::from(y >> 3 & 3) - 1;
    if element == Element::F64 {
        let value = f64::from_bits(middle << (52 - digits.min(52)) & ((1 << 52) - 1) | 1023 << 52);
        let value = f64::from_bits((value.to_bits() as i64 + beside) as u64);
        let scaled = value * 2f64.powi((y >> 5 & 15) as i32 - 7);
        return if y >> 9 & 1 == 1 { (-scaled).to_bits() } else { scaled.to_bits() };
    }
    let shift = (y >> 5) % (62 - digits as u32);
    let value = ((middle << shift) as i64).wrapping_add(beside);
    (if y >> 11 & 1 == 1 { value.wrapping_neg() } else { value }) as u64
}

/// Any pattern; every fifth one of those that are special.
fn patterns(element: Element, i: u32, salt: u32) -> u64 {
    let x = spread(i, salt);
    let mask = u64::MAX >> (64 - element.bits());
    let sign = 1u64 << (element.bits() - 1);
    let infinity = element.encode(f64::INFINITY);
    let all = match element {
        Element::F64 | Element::Whole { bits: 64, .. } => wide(element, i, salt),
        Element::Ue4m3 => distinct(element, i, salt),
        _ if element.bits() <= 8 => u64::from(eight(i, salt)) & mask,
        _ => x & mask,
    };
    if !mixed(i, salt ^ 0x55).is_multiple_of(5) || element.is_whole() || has_no_edges(element) {
        return all;
    }
    let fraction = element.precision() - 1;
    let special = [
        0,
        sign,
        infinity,
        infinity | sign,
        infinity | 1,
        infinity | 1 << (fraction - 1),
        1,
        sign | ((1 << fraction) - 1),
        1 << fraction,
        infinity - 1,
        sign | (infinity - 1),
    ];
    special[mixed(i, salt ^ 0xaa) as usize % special.len()] & mask
}
