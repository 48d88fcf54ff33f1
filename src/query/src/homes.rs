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
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::query::{Distribution, ElementBit, NoDistribution, QueryStorage, Tile, WarpSplit, distributions};
///
/// // Two layouts of one tile, as distributions over the waves of a machine.
/// let arch = TABLES.arch_named("gfx942").unwrap();
/// let tile = Tile { extents: &[64, 4], element_bits: 32 };
/// let texts = ["S[(64,4):(1@laneid,32@bit)]", "S[(16,4,4):(4@laneid,32@bit,1@laneid)]"];
/// let mut storage = Box::new(QueryStorage::new());
/// distributions(&TABLES, arch, texts, tile, WarpSplit::Halves, &mut storage).unwrap();
/// let [from, _to]: &[Distribution; 2] = storage.distributions();
/// assert_eq!((from.wave, from.warps, from.home(2)), (6, 0, Some(ElementBit::Lane(0))));
/// assert_eq!(from.written_register(3), 3);
/// let mut written = String::new();
/// from.write(0, &mut written).unwrap();
/// assert!(written.starts_with("S["), "{written}");
/// // Which of the two is none, and why.
/// let refused = distributions(&TABLES, arch, ["no_such", texts[1]], tile, WarpSplit::named("halves").unwrap(), &mut storage);
/// let (number, why) = refused.unwrap_err();
/// assert!(number == 0 && matches!(why, NoDistribution::Query(_)));
/// assert!(why.number() > 0 && !why.describe().is_empty() && WarpSplit::NAMED.len() == 2);
/// ```
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
