//! How the bits of a floating-point number are divided.

/// A binary floating-point format: sign (if it has one), exponent, fraction, from the highest bit
/// down. An exponent field of 0 is that of subnormal numbers.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::tables::{FloatFormat, Specials};
///
/// let format = |name: &str| TABLES.dtype(TABLES.dtype_named(name).unwrap()).unwrap().format.unwrap();
/// let half: FloatFormat = format("f16");
/// assert_eq!((half.exponent, half.fraction, half.specials), (5, 10, Specials::Ieee));
/// assert_eq!((half.sign(), half.largest(), half.infinity(), half.nan()), (0x8000, 0x7bff, Some(0x7c00), 0x7e00));
/// // No infinity in the 8-bit type of four exponent bits.
/// assert_eq!(format("e4m3").infinity(), None);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// Whether it has a sign.
    pub signed: bool,
    /// Bits of the exponent.
    pub exponent: u8,
    /// Bits of the fraction.
    pub fraction: u8,
    /// The exponent's bias.
    pub bias: i16,
    /// Which patterns are no numbers.
    pub specials: Specials,
    /// Whether it has a zero; else it has powers of two alone, and no subnormal numbers.
    pub zero: bool,
}

/// Which patterns of a floating-point format are no finite numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Specials {
    /// The highest exponent: infinities, and NaN.
    Ieee,
    /// All ones are NaN; no infinity.
    Ones,
    /// The pattern of the negative zero is NaN; no infinity.
    OneZero,
}

impl FloatFormat {
    /// The sign bit; 0 where there is none.
    #[must_use]
    pub fn sign(&self) -> u64 {
        let at = u32::from(self.exponent).wrapping_add(u32::from(self.fraction));
        if self.signed { 1u64.checked_shl(at).unwrap_or(0) } else { 0 }
    }

    /// Whether it has every number of another format, the infinities and NaN among them.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let format = |name: &str| TABLES.dtype(TABLES.dtype_named(name).unwrap()).unwrap().format.unwrap();
    /// assert!(format("f16").holds(&format("e5m2")) && format("f32").holds(&format("bf16")));
    /// assert!(!format("f16").holds(&format("bf16")) && !format("bf16").holds(&format("f16")));
    /// ```
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        let greatest = |format: &Self| {
            let top = 1i32.checked_shl(u32::from(format.exponent)).unwrap_or(0);
            let unused = if format.specials == Specials::Ieee { 2 } else { 1 };
            top.wrapping_sub(unused).wrapping_sub(i32::from(format.bias))
        };
        let least = Self::least;
        (self.signed || !other.signed)
            && self.fraction >= other.fraction
            && greatest(self) >= greatest(other)
            && least(self) <= least(other)
            && (self.specials == Specials::Ieee || self.specials == other.specials)
            && (self.zero || !other.zero)
    }

    /// Whether it has every number of another format, all but 0 as normal numbers: for who takes
    /// subnormal ones as 0.
    ///
    /// ```
    /// use lanebook::TABLES;
    ///
    /// let format = |name: &str| TABLES.dtype(TABLES.dtype_named(name).unwrap()).unwrap().format.unwrap();
    /// // The least numbers of the one are subnormal halves.
    /// assert!(!format("f16").holds_as_normal(&format("e5m2")));
    /// assert!(format("f16").holds_as_normal(&format("e4m3")));
    /// ```
    #[must_use]
    pub fn holds_as_normal(&self, other: &Self) -> bool {
        let normal = Self { fraction: 0, ..*self };
        self.holds(other) && Self::least(&normal) <= Self::least(other)
    }

    /// The power of two of the least number above 0.
    fn least(format: &Self) -> i32 {
        let first = if format.zero { 1i32 } else { 0 };
        first.wrapping_sub(i32::from(format.bias)).wrapping_sub(i32::from(format.fraction))
    }

    /// All bits below the sign.
    fn ones(&self) -> u64 {
        let bits = u32::from(self.exponent).wrapping_add(u32::from(self.fraction));
        1u64.checked_shl(bits).unwrap_or(0).wrapping_sub(1)
    }

    /// The bits of the highest exponent with a fraction of 0.
    fn top(&self) -> u64 {
        let fraction = 1u64.checked_shl(u32::from(self.fraction)).unwrap_or(0).wrapping_sub(1);
        self.ones() & !fraction
    }

    /// The bits of the largest number.
    #[must_use]
    pub fn largest(&self) -> u64 {
        match self.specials {
            Specials::Ieee => self.top().wrapping_sub(1),
            Specials::Ones => self.ones().wrapping_sub(1),
            Specials::OneZero => self.ones(),
        }
    }

    /// The bits of infinity, if there is one.
    #[must_use]
    pub fn infinity(&self) -> Option<u64> {
        (self.specials == Specials::Ieee).then(|| self.top())
    }

    /// The bits of a NaN: a quiet one where there are several.
    #[must_use]
    pub fn nan(&self) -> u64 {
        match self.specials {
            Specials::Ieee => {
                self.top() | 1u64.checked_shl(u32::from(self.fraction)).unwrap_or(0) >> 1
            }
            Specials::Ones => self.ones(),
            Specials::OneZero => self.sign(),
        }
    }
}
