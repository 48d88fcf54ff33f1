//! Block scales of a product's operand: which tile holds them, and how an instance names its own.

use crate::data::{End, InShared};
use lanebook_tables::AtomId;
use lanebook_tile::map::{BitMatrix, Fragment};

/// What a bit of a block's number does to find the block's scales.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BlockBitRole {
    /// It counts registers: this bit of the register's number in a panel.
    Register(u8),
    /// It adds to an immediate, which says which part of a register or whose lane's is read.
    Immediate {
        /// The atom's operand.
        by: u8,
        /// What is added.
        value: u8,
    },
}

impl Default for BlockBitRole {
    fn default() -> Self {
        Self::Register(0)
    }
}

/// The scales of A or of B in registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ScalePlan {
    /// The tile: rows are A's rows or B's columns, columns are blocks along the depth.
    pub end: End,
    /// The atom's operand that takes the register.
    pub operand: u8,
    /// For each bit of the block's number, as [`Product::blocks`](lanebook_tile::product::Product::blocks) gives it, below the panel's:
    /// along the depth first.
    pub choice: BitMatrix<BlockBitRole, 12>,
    /// Registers of a panel.
    pub registers: u8,
}

impl ScalePlan {
    /// Which register of the tile a block reads.
    #[must_use]
    pub fn register(&self, block: u16) -> u16 {
        let mut out = self.panel(block).wrapping_mul(u16::from(self.registers));
        for (bit, choice) in self.choice.as_slice().iter().enumerate() {
            if let BlockBitRole::Register(place) = choice
                && is_set(block, bit)
            {
                out = out.wrapping_add(1u16.checked_shl(u32::from(*place)).unwrap_or(0));
            }
        }
        out
    }

    /// What an immediate is for a block.
    #[must_use]
    pub fn immediate(&self, block: u16, operand: u8) -> u8 {
        let bits = self.choice.as_slice().iter().enumerate();
        bits.fold(0, |sum, (bit, choice)| match *choice {
            BlockBitRole::Immediate { by, value } if by == operand && is_set(block, bit) => {
                sum.wrapping_add(value)
            }
            _ => sum,
        })
    }

    /// The number of a block's panel.
    #[must_use]
    pub fn panel(&self, block: u16) -> u16 {
        block.checked_shr(u32::try_from(self.choice.len()).unwrap_or(u32::MAX)).unwrap_or(0)
    }
}

/// A tile of scales as it is to be distributed, and how instances find theirs in it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ScaleFeed {
    /// The distribution.
    pub fragment: Fragment,
    /// The rest; its end is not known yet.
    pub plan: ScalePlan,
}

/// The scales of A or of B that a copy brings to tensor memory, piece after piece, before each
/// product.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ScaleCopy {
    /// The tile in shared memory: rows are A's rows or B's columns, columns are runs of the depth.
    /// The descriptor is that of a piece.
    pub given: InShared,
    /// What copies a piece.
    pub atom: AtomId,
    /// The product's operand that says where the scales begin.
    pub operand: u8,
    /// First column, from the allocation's; set by placement.
    pub first: u16,
    /// Rows and runs of a piece, and the columns that it fills.
    pub piece: (u16, u16, u16),
    /// Pieces along the rows and along the runs.
    pub pieces: (u16, u16),
    /// Lowest bit of the field of the instruction descriptor that says which run of a piece is
    /// meant.
    pub field: u8,
}

impl ScaleCopy {
    /// Columns of all pieces.
    #[must_use]
    pub fn columns(&self) -> u16 {
        self.pieces.0.saturating_mul(self.pieces.1).saturating_mul(self.piece.2)
    }

    /// The column where a piece begins, by its place along the rows and the runs: pieces of the
    /// same runs follow each other.
    #[must_use]
    pub fn column(&self, (row, run): (u16, u16)) -> u16 {
        let number = run.saturating_mul(self.pieces.0).saturating_add(row);
        self.first.saturating_add(number.saturating_mul(self.piece.2))
    }
}

fn is_set(block: u16, bit: usize) -> bool {
    u32::try_from(bit).ok().and_then(|bit| block.checked_shr(bit)).unwrap_or(0) & 1 == 1
}
