//! The name of a run-time symbol: below numbers, and below the errors that say whose value is
//! missing.

use core::num::NonZeroU8;

/// A run-time symbol; its name is kept by a [`SymNames`](crate::SymNames).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymId(pub NonZeroU8);

#[cfg(feature = "defmt")]
impl defmt::Format for SymId {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "SymId({})", self.0.get());
    }
}
