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

impl ElementBit {
    /// The one behind it in the same number.
    pub(crate) fn next(self) -> Option<Self> {
        Some(match self {
            Self::Lane(bit) => Self::Lane(bit.checked_add(1)?),
            Self::Warp(bit) => Self::Warp(bit.checked_add(1)?),
            Self::Bit(bit) => Self::Bit(bit.checked_add(1)?),
        })
    }
}

/// How many panels a tile has along rows and columns: two odd numbers. Each lane has them in
/// other registers, here one behind the other.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PanelGrid {
    pub(crate) rows: u8,
    pub(crate) cols: u8,
    /// Panels are counted row by row (else column by column).
    pub(crate) by_rows: bool,
    /// log2 of a panel's columns.
    pub(crate) column_bits: u8,
    /// log2 of the bits of registers from one panel to the next.
    pub(crate) step: u8,
    /// As the layout is written, panels along columns and those along rows may stand between the bits
    /// of a register's number in one panel: above so many of them.
    pub(crate) columns_above: u8,
    pub(crate) rows_above: u8,
}

/// A layout as a distribution of `2^bits` elements, or of panels of so many: extents that are no powers
/// of two are panels of some, an odd number of them along each dimension.
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
/// assert_eq!((from.written_register(3), from.handed_over()), (3, Ok(())));
/// let mut written = String::new();
/// from.write(0, &mut written).unwrap();
/// assert!(written.starts_with("S["), "{written}");
/// // Which of the two is none, and why.
/// let refused = distributions(&TABLES, arch, ["no_such", texts[1]], tile, WarpSplit::named("halves").unwrap(), &mut storage);
/// let (number, why) = refused.unwrap_err();
/// assert!(number == 0 && matches!(why, NoDistribution::Query(_)));
/// // Elements of 4 bits: bit 0 of their number tells the halves of a byte apart.
/// let halves = Tile { extents: &[64, 8], element_bits: 4 };
/// let texts = ["S[(64,8):(1@laneid,4@bit)]"; 2];
/// distributions(&TABLES, arch, texts, halves, WarpSplit::Halves, &mut storage).unwrap();
/// let (half, bytes) = storage.distributions()[0].of_bytes().unwrap();
/// assert_eq!((half, bytes.bits, bytes.home(0)), (0, 8, Some(ElementBit::Bit(3))));
/// assert!(why.number() > 0 && !why.describe().is_empty() && WarpSplit::NAMED.len() == 2);
/// // Three panels of 64 x 4 elements side by side.
/// let wide = Tile { extents: &[64, 12], element_bits: 32 };
/// let texts = ["S[(64,3,4):(1@laneid,128@bit,32@bit)]"; 2];
/// distributions(&TABLES, arch, texts, wide, WarpSplit::Halves, &mut storage).unwrap();
/// let from = &storage.distributions()[0];
/// assert_eq!((from.bits, from.panels(), from.home(2)), (8, [1, 3], Some(ElementBit::Lane(0))));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Distribution {
    /// Bits of an element's number, row by row in its panel.
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
    /// Registers hold elements and copies of them side by side, which are left out.
    pub(crate) has_copies_inside: bool,
    /// Without these, elements are in other registers, or other parts of them, than it says.
    pub(crate) is_packed_anew: bool,
    /// Bits of a place inside of a register that hold copies, until those are left out.
    pub(crate) inside_copies: u32,
    pub(crate) panels: PanelGrid,
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
        has_copies_inside: false,
        is_packed_anew: false,
        inside_copies: 0,
        panels: PanelGrid {
            rows: 1,
            cols: 1,
            by_rows: true,
            column_bits: 0,
            step: 0,
            columns_above: 0,
            rows_above: 0,
        },
        homes: [ElementBit::Lane(0); MOST_BITS],
    };

    /// Where a bit of an element's number is.
    #[must_use]
    pub fn home(&self, bit: u8) -> Option<ElementBit> {
        self.homes.get(..usize::from(self.bits))?.get(usize::from(bit)).copied()
    }

    /// How many panels there are along rows and along columns, all dimensions but the last counted as
    /// rows.
    #[must_use]
    pub fn panels(&self) -> [u8; 2] {
        [self.panels.rows.max(1), self.panels.cols.max(1)]
    }

    /// log2 of a panel's columns.
    #[doc(hidden)] // Of the crate on top.
    #[must_use]
    pub fn column_bits(&self) -> u8 {
        self.panels.column_bits
    }

    /// Of elements of half a byte, the bit of their number that tells the two halves of a byte apart,
    /// and the distribution of the bytes, whose numbers lack it; `None` where no byte has two.
    #[must_use]
    pub fn of_bytes(&self) -> Option<(u8, Self)> {
        if self.element_bits != 4 {
            return None;
        }
        let half = self.homes().iter().position(|home| *home == ElementBit::Bit(2))?;
        let mut out = Self { bits: self.bits.checked_sub(1)?, element_bits: 8, ..*self };
        let above = self.homes().iter().skip(half.saturating_add(1));
        for (place, home) in out.homes.iter_mut().skip(half).zip(above) {
            *place = *home;
        }
        if half < usize::from(self.panels.column_bits) {
            out.panels.column_bits = self.panels.column_bits.checked_sub(1)?;
        }
        Some((u8::try_from(half).ok()?, out))
    }

    pub(crate) fn homes(&self) -> &[ElementBit] {
        self.homes.get(..usize::from(self.bits)).unwrap_or(&[])
    }
}
