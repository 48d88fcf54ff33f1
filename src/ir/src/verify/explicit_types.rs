//! How many elements a written layout covers, read from its shape alone.
//!
//! Knows the beginnings of the three notations: `S[(2,4):...]`, `(2,4):...`, `<(2,4),...>`. It does
//! not judge the rest: the layout crate does that when a pass needs the layout.

/// What a layout's text says about its size.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// The shape's product.
    Elements(u64),
    /// Another form (`#ttg.blocked<..>`), or a symbolic extent.
    Unknown,
    /// One of the three notations, but the shape cannot be read.
    Unreadable,
}

/// The size of a layout's text.
pub(crate) fn elements(text: &str) -> Size {
    let bytes = text.trim_ascii().as_bytes();
    let (body, end) = match bytes {
        [b'S', b'[', rest @ ..] => (rest, b':'),
        [b'<', rest @ ..] => (rest, b','),
        [b'(' | b'0'..=b'9', ..] => (bytes, b':'),
        _ => return Size::Unknown,
    };
    let (mut depth, mut product, mut number, mut symbolic) = (0u32, 1u64, None::<u64>, false);
    for byte in body.iter().copied().chain(core::iter::once(b')')) {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            let next = number
                .unwrap_or(0)
                .checked_mul(10)
                .and_then(|number| number.checked_add(u64::from(digit)));
            let Some(next) = next else { return Size::Unreadable };
            number = Some(next);
            continue;
        }
        if let Some(extent) = number.take() {
            let Some(next) = product.checked_mul(extent).filter(|product| *product > 0) else {
                return Size::Unreadable;
            };
            product = next;
        }
        match byte {
            b'(' => depth = depth.saturating_add(1),
            b')' if depth > 0 => depth = depth.saturating_sub(1),
            byte if byte == end && depth == 0 => {
                return if symbolic { Size::Unknown } else { Size::Elements(product) };
            }
            b',' | b' ' | b'\n' | b'\t' | b'\r' => {}
            byte if byte.is_ascii_alphabetic() || byte == b'_' => symbolic = true,
            _ => return Size::Unreadable,
        }
    }
    Size::Unreadable
}
