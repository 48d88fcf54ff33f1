//! Tiles, and how sure one is of each element: what is defined to the bit, what within a bound,
//! what not at all.

use super::element::Element;

/// What the language fixes of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sure {
    /// Every bit.
    Bits,
    /// The value, up to this distance (0: either zero will do).
    Near(f64),
    /// That it is no number.
    Nan,
    /// Nothing.
    Free,
    /// Nothing wrote it.
    Unwritten,
}

/// An element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// Its pattern.
    pub bits: u64,
    /// What of it is fixed.
    pub sure: Sure,
}

/// A tile in registers or shared memory.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Extents.
    pub shape: Vec<usize>,
    /// Element type.
    pub element: Element,
    /// Elements, the last dimension fastest.
    pub items: Vec<Item>,
}

impl Item {
    /// A pattern that is fixed.
    #[must_use]
    pub fn exact(bits: u64) -> Self {
        Self { bits, sure: Sure::Bits }
    }

    /// The result of an operation, up to an error: what is no number has any pattern of one.
    #[must_use]
    pub fn rounded(element: Element, value: f64, error: f64) -> Self {
        let bits = element.encode(value);
        let stored = element.decode(bits);
        let sure = match () {
            () if stored.is_nan() && error == 0.0 => Sure::Nan,
            () if !error.is_finite() || (error > 0.0 && !stored.is_finite()) => Sure::Free,
            () if error == 0.0 => Sure::Bits,
            () => Sure::Near(error + element.step(stored.abs() + error)),
        };
        Self { bits, sure }
    }

    /// The same, made of these values: of a zero of which the sign is not fixed come zeros without
    /// one, and infinities.
    #[must_use]
    pub fn of_either_zero(
        self,
        element: Element,
        from: impl IntoIterator<Item = (f64, Self)>,
    ) -> Self {
        let either =
            from.into_iter().any(|(value, item)| value == 0.0 && item.sure == Sure::Near(0.0));
        let value = element.decode(self.bits);
        match self.sure {
            Sure::Bits if either && value == 0.0 => Self { sure: Sure::Near(0.0), ..self },
            Sure::Bits if either && value.is_infinite() => Self { sure: Sure::Free, ..self },
            _ => self,
        }
    }

    /// How far the value may be off; `None` where nothing is known.
    #[must_use]
    pub fn error(self) -> Option<f64> {
        match self.sure {
            Sure::Bits | Sure::Nan => Some(0.0),
            Sure::Near(by) => Some(by),
            Sure::Free | Sure::Unwritten => None,
        }
    }

    /// Whether a pattern found in memory is this element.
    #[must_use]
    pub fn admits(self, element: Element, got: u64) -> bool {
        let (got_value, want) = (element.decode(got), element.decode(self.bits));
        match self.sure {
            Sure::Bits => got == self.bits,
            Sure::Near(by) => got_value == want || (got_value - want).abs() <= by,
            Sure::Nan => got_value.is_nan(),
            Sure::Free | Sure::Unwritten => true,
        }
    }
}

impl Tile {
    /// The first element as an index of 32 bits; of a truth, 1 or 0.
    ///
    /// # Errors
    /// One that is not known, or is no whole number.
    pub fn number(&self) -> Result<i64, String> {
        let item = self.items.first().filter(|item| item.sure == Sure::Bits);
        let bits = item.ok_or("an index that is not known")?.bits;
        match self.element {
            _ if self.element.bits() == 1 => Ok((bits & 1) as i64),
            Element::Whole { bits: width @ ..32, signed: true } => {
                Ok(((bits << (64 - width)) as i64) >> (64 - width))
            }
            Element::Whole { .. } => Ok(i64::from(bits as i32)),
            _ => Err("a number that is no index".to_string()),
        }
    }

    /// A tile of one pattern.
    #[must_use]
    pub fn filled(shape: Vec<usize>, element: Element, item: Item) -> Self {
        let items = vec![item; shape.iter().product()];
        Self { shape, element, items }
    }

    /// Values.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        self.items.iter().map(|i| self.element.decode(i.bits)).collect()
    }
}

/// Exponent of the lowest bit that is set in any of some values; `None` where one is not finite.
#[must_use]
pub fn lowest_bit(values: &[f64]) -> Option<i32> {
    let mut lowest = i32::MAX;
    for v in values {
        if !v.is_finite() {
            return None;
        }
        if *v != 0.0 {
            let bits = v.to_bits();
            let exponent = (bits >> 52 & 0x7ff) as i32;
            let fraction = (bits & ((1 << 52) - 1)) | if exponent > 0 { 1 << 52 } else { 0 };
            lowest = lowest.min(exponent.max(1) - 1075 + fraction.trailing_zeros() as i32);
        }
    }
    Some(lowest)
}
