//! A distribution over lanes, warps and registers: for each bit of an element's number, where it is.

/// Most bits of an element's number.
pub(crate) const MOST_BITS: usize = 24;

/// Where a bit of an element's number is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)] // Zeros are one, also where C lends the memory.
pub enum ElementBit {
    /// A bit of the lane's number.
    Lane(u8),
    /// A bit of the warp's number.
    Warp(u8),
    /// A bit of the element's place in its lane's registers, in bits of a register.
    Bit(u8),
}

/// A layout as a distribution of `2^bits` elements.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Bits of an element's number.
    pub bits: u8,
    /// log2 of a wave's lanes.
    pub wave: u8,
    /// log2 of the warps that it speaks of.
    pub warps: u8,
    /// Bits of an element.
    pub element_bits: u16,
    /// Bits of the register's number that hold copies: in registers that differ in one of these
    /// the layout has the same element.
    pub register_copies: u32,
    pub(crate) homes: [ElementBit; MOST_BITS],
}

impl Distribution {
    /// Of one element.
    pub(crate) const EMPTY: Self = Self {
        bits: 0,
        wave: 0,
        warps: 0,
        element_bits: 0,
        register_copies: 0,
        homes: [ElementBit::Lane(0); MOST_BITS],
    };

    /// Where a bit of an element's number is.
    #[must_use]
    pub fn home(&self, bit: u8) -> Option<ElementBit> {
        self.homes.get(..usize::from(self.bits))?.get(usize::from(bit)).copied()
    }

    pub(crate) fn homes(&self) -> &[ElementBit] {
        self.homes.get(..usize::from(self.bits)).unwrap_or(&[])
    }
}
