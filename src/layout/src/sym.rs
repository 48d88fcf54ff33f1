//! The name of a run-time symbol: below numbers, and below the errors that say whose value is
//! missing.

use core::num::NonZeroU8;

/// A run-time symbol, number 1 to 127; its name is kept by a [`SymNames`](crate::SymNames).
///
/// ```
/// use lanebook_layout::{Int, SymId};
///
/// // Numbers of symbols count from 1.
/// assert_eq!(SymId::new(0), None);
/// let first = SymId::new(1).unwrap();
/// assert_eq!(Int::sym(first).syms().iter().next(), Some(first));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymId(pub(crate) NonZeroU8);

impl SymId {
    /// The symbol with a number from 1 to 127.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        match NonZeroU8::new(number) {
            Some(own) if number < 128 => Some(Self(own)),
            _ => None,
        }
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for SymId {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "SymId({})", self.0.get());
    }
}
