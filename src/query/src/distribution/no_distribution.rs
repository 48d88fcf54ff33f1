//! Reasons why a layout is none of registers, or none of memory, that can be asked for.

use crate::error::{QueryError, Why};

/// Why a layout is no distribution that registers can have.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum NoDistribution {
    /// The text is no layout.
    Query(QueryError),
    /// It names no lanes: what it is of is memory.
    Memory,
    /// Extents that are no powers of two and no panels in other registers of each lane, or too many
    /// elements.
    Extents,
    /// It is of another number of elements, or of another shape.
    Shape,
    /// It has an offset, a swizzle or padding.
    Post,
    /// A bit of an element's number is in several places at once, or in none.
    Several,
    /// Two bits of an element's number are in the same place.
    Twice,
    /// It has more lanes than a wave.
    Lanes,
    /// Nothing is said of some lanes: neither an element is there nor a copy.
    Unsaid,
    /// Elements neither fill a register side by side nor have one each.
    Packing,
    /// Two copies of an element in one register.
    CopyInside,
    /// More warps than the threads make, or fewer threads than a wave.
    Threads,
    /// Its elements are in several blocks of a cluster or a grid: registers of other blocks cannot be
    /// reached, whatever both layouts say of them.
    Blocks,
    /// It names lanes: what it is of is registers, and memory is asked for.
    Registers,
    /// Some of its registers are copies of others, in a tile that is handed over as it lies.
    HandedCopies,
    /// Copies that are no power of two many, or as far apart, or of registers in a tile of panels.
    Copies,
    /// It is of memory, and has padding behind a swizzle.
    PaddedSwizzle,
    /// It is of memory, and its padding does not stand behind powers of two.
    Intervals,
    /// It is written as the type of a tile of other elements.
    ElementType,
}

impl NoDistribution {
    /// Its number.
    #[must_use]
    pub const fn number(&self) -> u32 {
        match self {
            Self::Query(_) => 1,
            Self::Memory => 2,
            Self::Extents => 3,
            Self::Shape => 4,
            Self::Post => 5,
            Self::Several => 6,
            Self::Twice => 7,
            Self::Lanes => 8,
            Self::Unsaid => 9,
            Self::Packing => 10,
            Self::CopyInside => 11,
            Self::Threads => 12,
            Self::Blocks => 13,
            Self::Registers => 14,
            Self::HandedCopies => 15,
            Self::Copies => 16,
            Self::PaddedSwizzle => 17,
            Self::Intervals => 18,
            Self::ElementType => 19,
        }
    }

    /// What is wrong, in words.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Query(_) => "the text is no layout",
            Self::Memory => {
                "it names no lanes, or what is neither a thread nor a register: write a distribution over lanes and registers, such as an operand or #ttg.blocked"
            }
            Self::Extents => {
                "its extents are no powers of two and no equal panels of powers of two, in other registers of each lane; or they have more than 2^24 elements"
            }
            Self::Shape => "it has another number of elements than the tile",
            Self::Post => "it has an offset, a swizzle or padding, which registers do not have",
            Self::Several => {
                "an element's row or column is spread over several lane or register bits"
            }
            Self::Twice => "two elements are in the same place",
            Self::Lanes => {
                "it has more lanes than the architecture's wave; say `on ARCH` behind it, or choose that one"
            }
            Self::Unsaid => {
                "it says nothing of some lanes of the wave; say `on ARCH` behind a layout of another architecture's warps"
            }
            Self::Packing => {
                "its elements neither lie side by side nor have a register each, or registers between them hold nothing"
            }
            Self::CopyInside => {
                "a register holds the same element twice, and others are in further registers: each of them would have a part that is handed over and one that is not"
            }
            Self::Threads => {
                "the threads are not the warps that it has, or no power of two of waves"
            }
            Self::Blocks => {
                "its elements are in several blocks, and a conversion between the blocks of a cluster is not supported; write the layout of one block's part of the tile"
            }
            Self::HandedCopies => {
                "some of its registers are copies of others, and of a tile that a function takes or returns each register is handed over; write it without the copies"
            }
            Self::Copies => {
                "its copies are so many, or so far from each other, as is no power of two, or are of registers in a tile with an extent that is none"
            }
            Self::PaddedSwizzle => {
                "it has padding behind a swizzle: where an element lies is then no combination of what the bits of its number are worth; write one of them alone"
            }
            Self::ElementType => "the type that it stands in has other elements than the tile",
            Self::Intervals => "its padding does not stand behind powers of two of elements",
            Self::Registers => {
                "it names lanes, warps or registers: write a layout of memory, such as #ttg.swizzled_shared"
            }
        }
    }
}

impl From<Why> for NoDistribution {
    fn from(why: Why) -> Self {
        Self::Query(QueryError { line: 1, column: 1, why })
    }
}
