//! The text's own small forms: types, lists, attributes.

use super::Said;
use super::element::Element;

/// Extents (`None` for `?`) and element type of `tensor<4x8xf32, #smem>` or of a memref.
pub(super) fn shape_of(text: &str) -> Said<(Vec<Option<usize>>, Element)> {
    // A number.
    if let Ok(element) = Element::of(text.trim()) {
        return Ok((Vec::new(), element));
    }
    let inside = text
        .split_once('<')
        .map(|(_, rest)| rest.split(['>', ',']).next().unwrap_or(""))
        .ok_or_else(|| format!("no type in `{text}`"))?;
    let mut words: Vec<&str> = inside.trim().split('x').collect();
    let element = Element::of(words.pop().unwrap_or("").trim())?;
    let extents = words.iter().map(|w| {
        if *w == "?" {
            Ok(None)
        } else {
            w.parse().map(Some).map_err(|_| format!("extent `{w}` of `{text}`"))
        }
    });
    Ok((extents.collect::<Said<Vec<_>>>()?, element))
}

/// The same of a tile, whose extents are numbers.
pub(super) fn tile_type(text: &str) -> Said<(Vec<usize>, Element)> {
    let (extents, element) = shape_of(text)?;
    Ok((
        extents
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| format!("a tile of no extent: `{text}`"))?,
        element,
    ))
}

/// A line without its comment. In braces that close again `//` divides, as in a written layout.
pub(super) fn code(line: &str) -> &str {
    let mut depth = 0i32;
    for (at, c) in line.char_indices() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        let rest = &line[at..];
        let closes = depth > 0 && rest.contains('}');
        if rest.starts_with("//") && !closes {
            return &line[..at];
        }
    }
    line
}

/// Splits at commas that stand in no bracket.
pub(super) fn list(text: &str) -> Vec<String> {
    let (mut out, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        depth += i32::from("[({<".contains(c)) - i32::from("])}".contains(c)) - i32::from(c == '>');
        if c == ',' && depth <= 0 {
            out.push(String::new());
        } else if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.into_iter().map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect()
}

/// An attribute's value.
pub(super) fn attribute<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let inside = text.split_once('{')?.1.rsplit_once('}')?.0;
    let mut rest = inside;
    while let Some((name, behind)) = rest.split_once('=') {
        // A list in brackets is one value.
        let value = behind.trim_start();
        let end = if value.starts_with(['[', '(']) {
            value.find([']', ')']).map_or(value.len(), |e| e + 1)
        } else {
            value.find(',').unwrap_or(value.len())
        };
        // Attributes without a value may stand in front.
        if name.rsplit(',').next().is_some_and(|name| name.trim() == key) {
            return Some(value[..end].trim());
        }
        rest = value[end..].trim_start_matches(',');
    }
    None
}

/// Whether an attribute that has no value is there.
pub(super) fn is_flagged(text: &str, key: &str) -> bool {
    match attribute(text, key) {
        Some(value) => value == "true",
        None => text.split(['{', '}', ',']).any(|word| word.trim() == key),
    }
}

/// The bits of a constant: hexadecimal digits of a float are its bits.
pub(super) fn constant(text: &str, element: Element) -> Said<u64> {
    let text = match text.trim() {
        "true" => "1",
        "false" => "0",
        other => other,
    };
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).map_err(|_| format!("no digits: `{text}`")),
        None => {
            // Whole numbers of 64 bits are more than a float tells apart.
            if let (Element::Whole { bits: 64, .. }, Ok(whole)) = (element, text.parse::<i128>()) {
                return Ok(whole as u64);
            }
            let value = number(text)?;
            // A cast saturates; a constant is the number that is written.
            let infinite =
                value.is_infinite() && element == Element::Float8 { fraction: 2, fnuz: false };
            let sign = u64::from(value.is_sign_negative()) << 7;
            Ok(if infinite { sign | 0x7c } else { element.encode(value) })
        }
    }
}

/// A number as constants are written.
fn number(text: &str) -> Said<f64> {
    text.trim().parse().map_err(|_| format!("no number: `{text}`"))
}
