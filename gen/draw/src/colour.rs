//! Colours: eight hues that people with any kind of colour vision tell apart (Okabe and Ito's), in
//! shades.
//!
//! Number `k` of `n` has hue `8k/n`; what is left of `k` is its shade, so neighbours share a hue
//! and differ in lightness. Text on every shade keeps a contrast of at least 4.5 to 1 in light and
//! in dark (tested).

/// Okabe and Ito's palette, its black replaced by a grey.
const HUES: [[u8; 3]; 8] = [
    [0xE6, 0x9F, 0x00],
    [0x56, 0xB4, 0xE9],
    [0x00, 0x9E, 0x73],
    [0xF0, 0xE4, 0x42],
    [0xCC, 0x79, 0xA7],
    [0x00, 0x72, 0xB2],
    [0xD5, 0x5E, 0x00],
    [0x99, 0x99, 0x99],
];

/// Page and text in one of the two schemes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// Behind everything.
    pub page: [u8; 3],
    /// Text.
    pub ink: [u8; 3],
    /// Text of less weight.
    pub faint: [u8; 3],
    /// Lines between cells.
    pub line: [u8; 3],
    dark: bool,
}

/// Black on white.
pub const LIGHT: Scheme = Scheme {
    page: [0xFF; 3],
    ink: [0x14, 0x17, 0x1A],
    faint: [0x5A, 0x63, 0x6B],
    line: [0xFF; 3],
    dark: false,
};
/// White on black.
pub const DARK: Scheme = Scheme {
    page: [0x14, 0x17, 0x1A],
    ink: [0xF4, 0xF5, 0xF6],
    faint: [0x9A, 0xA4, 0xAD],
    line: [0x14, 0x17, 0x1A],
    dark: true,
};

impl Scheme {
    /// The fill of colour `k` of `count`.
    #[must_use]
    pub fn fill(&self, k: u16, count: u16) -> [u8; 3] {
        let hues = HUES.len() as u16;
        let (hue, shade, shades) = if count <= hues {
            (k * (hues / count.max(1)).max(1), 0, 1)
        } else {
            let shades = count.div_ceil(hues);
            (k / shades, k % shades, shades)
        };
        let base = HUES[usize::from(hue) % HUES.len()];
        let step = if shades <= 1 { 0.5 } else { f64::from(shade) / f64::from(shades - 1) };
        if self.dark {
            // As bright as white text allows, and from there down towards the page.
            let top = scaled(base, 0.15);
            mix(self.page, top, 1.0 - 0.55 * step)
        } else {
            mix(self.page, base, 0.68 - 0.46 * step)
        }
    }
}

/// The same hue at a given luminance, if it is brighter.
fn scaled(colour: [u8; 3], most: f64) -> [u8; 3] {
    let now = luminance(colour);
    let factor = (most / now).min(1.0);
    colour.map(|c| to_srgb(to_linear(c) * factor))
}

fn mix(a: [u8; 3], b: [u8; 3], part: f64) -> [u8; 3] {
    let one = |k: usize| (f64::from(a[k]) * (1.0 - part) + f64::from(b[k]) * part).round() as u8;
    [one(0), one(1), one(2)]
}

fn to_linear(c: u8) -> f64 {
    let c = f64::from(c) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

fn to_srgb(c: f64) -> u8 {
    let c = if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    (c * 255.0).round().clamp(0.0, 255.0) as u8
}

/// Relative luminance as WCAG defines it.
#[must_use]
pub fn luminance(colour: [u8; 3]) -> f64 {
    let [r, g, b] = colour.map(to_linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Contrast as WCAG defines it, 1 to 21.
#[must_use]
pub fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// `#rrggbb`.
#[must_use]
pub fn hex(colour: [u8; 3]) -> String {
    let [r, g, b] = colour;
    format!("#{r:02x}{g:02x}{b:02x}")
}
