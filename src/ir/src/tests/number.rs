//! Numbers of the text, against the standard library's and against all patterns of the small types.
use crate::Literal;
use crate::number::decimal;
use crate::text::parse_attr::decimal as read;
use lanebook_tables::{DtypeKind, FloatFormat};
use std::format;
use std::string::String;
use std::vec::Vec;

fn format_of(name: &str) -> FloatFormat {
    let dtype = lanebook::TABLES.dtypes.iter().find(|d| d.name == name).expect("an element type");
    assert_eq!(dtype.kind, DtypeKind::Float);
    dtype.format.expect("a format")
}

fn bits(text: &str, format: &FloatFormat) -> Option<u64> {
    match read(text).unwrap_or_else(|| panic!("{text}")) {
        Literal::Decimal { digits, exponent } => decimal(digits, exponent, format),
        Literal::MinusZero => Some(format.sign()),
        other => panic!("{text}: {other:?}"),
    }
}

/// A number that is not the last one.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn doubles_and_singles_are_those_of_the_standard_library() {
    let (double, single) = (format_of("f64"), format_of("f32"));
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..1_500 {
        let digits = next(&mut state) % 10u64.pow(1 + (next(&mut state) % 18) as u32);
        let tens = (next(&mut state) % 700) as i32 - 360;
        texts.push(format!("{digits}e{tens}"));
        texts.push(format!("-{digits}e{}", tens % 45));
        // What a double or a single says of itself, and what lies half between two singles.
        let one = f64::from_bits(next(&mut state));
        let small = f32::from_bits(next(&mut state) as u32);
        if one.is_finite() && small.is_finite() && small.abs() < 1e30 {
            texts.push(format!("{one:e}"));
            texts.push(format!("{small:e}"));
            let half = (f64::from(small) + f64::from(f32::from_bits(small.to_bits() + 1))) / 2.0;
            texts.push(format!("{half:e}"));
        }
    }
    texts.extend(
        [
            "2.2250738585072011e-308",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "1.7976931348623157e308",
            "1.7976931348623159e308",
            "9007199254740993.0",
            "1e-400",
            "1e400",
            "3.4028235677973366e38",
            "3.4028235677973365e38",
            "7.006492321624085e-46",
            "7.0064923216240854e-46",
        ]
        .map(String::from),
    );
    let mut infinite = 0;
    for text in &texts {
        let (wide, narrow): (f64, f32) =
            (text.parse().expect("a number"), text.parse().expect("a number"));
        let expected = Some(wide.to_bits()).filter(|_| wide.is_finite());
        infinite += u32::from(expected.is_none());
        assert_eq!(bits(text, &double), expected, "{text}");
        let expected = Some(u64::from(narrow.to_bits())).filter(|_| narrow.is_finite());
        assert_eq!(bits(text, &single), expected, "{text} as f32");
        let literal = read(text).expect("a literal");
        assert_eq!(literal.to_f64().map(f64::to_bits), Some(wide.to_bits()), "{text}");
    }
    assert!(texts.len() > 5_000 && infinite > 50, "{} texts, {infinite} infinite", texts.len());
}

/// The value of a finite pattern without a sign.
fn value(bits: u64, f: &FloatFormat) -> f64 {
    let (field, fraction) = (bits >> f.fraction, bits & ((1 << f.fraction) - 1));
    let (field, bias, width) = (field as i32, i32::from(f.bias), i32::from(f.fraction));
    if !f.zero {
        return 2f64.powi(field - bias);
    }
    let whole = if field == 0 { fraction } else { fraction | 1 << f.fraction } as f64;
    whole * 2f64.powi(field.max(1) - bias - width)
}

#[test]
fn every_number_of_a_small_type_is_read_and_what_lies_between_goes_to_the_nearest() {
    for name in ["f16", "bf16", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz"] {
        let f = format_of(name);
        let largest = f.largest();
        for at in 1..=largest {
            let text = format!("{:e}", value(at, &f));
            assert_eq!(bits(&text, &f), Some(at), "{name} {text}");
            assert_eq!(bits(&format!("-{text}"), &f), Some(at | f.sign()), "{name} -{text}");
        }
        for at in 0..largest {
            // A double holds what lies in the middle, and 17 digits show where its neighbours are.
            let (low, high) = (value(at, &f), value(at + 1, &f));
            let middle = (low + high) / 2.0;
            let near = |bits: u64| format!("{:.17e}", f64::from_bits(bits));
            let below = bits(&near(middle.to_bits() - 4), &f);
            let above = bits(&near(middle.to_bits() + 4), &f);
            assert_eq!((below, above), (Some(at), Some(at + 1)), "{name} {middle:e}");
            let text = format!("{middle:e}");
            // All its digits, where they are few.
            let few = text.bytes().filter(u8::is_ascii_digit).count() < 16;
            if few && (middle * 65536.0).fract() == 0.0 && middle < 1e9 {
                assert_eq!(bits(&text, &f), Some((at + 1) & !1), "{name} {text}");
            }
        }
        let beyond = 2.0 * value(largest, &f);
        assert_eq!(bits(&format!("{beyond:e}"), &f), None, "{name}");
        let tiny = if f.sign() != 0 && name.ends_with("fnuz") { 0 } else { f.sign() };
        assert_eq!(bits("-1e-300", &f), Some(tiny), "{name}: what rounds to zero");
    }
    let scale = format_of("e8m0");
    for at in 110..=185 {
        // All digits: the shortest text of a large double is not the double.
        let power = value(at, &scale);
        let text = if at < 127 { format!("{power:e}") } else { format!("{power:.1}") };
        assert_eq!(bits(&text, &scale), Some(at), "{text}");
    }
    for text in ["0.0", "3.0", "-1.0", "1.5", "1e39"] {
        assert_eq!(bits(text, &scale), None, "{text}");
    }
}
