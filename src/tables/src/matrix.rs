//! What a matrix instruction has beyond one product of dense operands: blocks, sparsity indices,
//! block scales, and modifiers that move or exchange what it reads.

use crate::AccessId;

/// What a matrix instruction has beyond one product of dense operands. An atom without any of it
/// has none of this.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MatrixMore<'a> {
    /// Independent products in one instruction. With more than one, rows of A, C and D and rows of
    /// B count through the blocks: A is (blocks x m, k), B is (blocks x k, n), C and D are (blocks
    /// x m, n).
    pub blocks: u16,
    /// Operand with the sparsity indices. A then is (m, k / 2): stored elements; the indices are
    /// (m, k / 2) as well.
    pub index: Option<u8>,
    /// Operands with the block scales of A, over (m, k / run), and of B, over (k / run, n).
    pub scales: (Option<u8>, Option<u8>),
    /// Operands whose layout an immediate moves.
    pub moves: &'a [FieldMove],
    /// What modifiers make of an operand.
    pub broadcasts: &'a [Broadcast<'a>],
    /// Operands that stand in shared memory and are given by a descriptor.
    pub shared: &'a [SharedOperand<'a>],
    /// Kind of what the unit does to its registers, where it runs beside the lanes: what the
    /// architecture's synchronisation table has for it as a consumer stands before a product, what
    /// it has as a producer after one.
    pub runs: Option<AccessId>,
    /// Significant bits that the unit keeps of a sum, where they are fewer than the accumulator has:
    /// what lies so many bits below the greatest term is lost. None: all of the accumulator's.
    pub sum_bits: Option<u8>,
    /// The accumulator (C and D) stands in tensor memory.
    pub tensor: Option<&'a TensorOperand<'a>>,
}

/// An accumulator in tensor memory, and what an instruction with one takes beside its operands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TensorOperand<'a> {
    /// The tile that it is, by name.
    pub tile: &'a str,
    /// The instruction descriptor, by name.
    pub descriptor: &'a str,
    /// The operand that holds the instruction descriptor.
    pub word: u8,
    /// The predicate that says whether the old accumulator is added.
    pub adds: u8,
    /// The predicate that is true in the one thread that issues the instruction.
    pub one: u8,
    /// Kind of the unit's access to the accumulator.
    pub writes: AccessId,
    /// Kind of the loads that fetch the accumulator.
    pub reads: AccessId,
    /// Kind of the lanes' access to what these loads have filled.
    pub fetched: AccessId,
    /// Kind of the stores that fill tensor memory: an accumulator's start, or A.
    pub stores: AccessId,
    /// A stands in tensor memory as well: kind of the unit's access to it. Its rows are in the
    /// lanes of the accumulator's tile, its depth in columns, as many neighbours in a cell as it
    /// has room for, lowest first.
    pub a: Option<AccessId>,
}

/// An operand in shared memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SharedOperand<'a> {
    /// Its number; the register holds the descriptor.
    pub operand: u8,
    /// The descriptor, by name.
    pub descriptor: &'a str,
    /// Kind of the access.
    pub access: AccessId,
    /// The immediate that says which coordinate is contiguous: 0 depth, 1 the outer one. Without it
    /// depth is.
    pub along: Option<u8>,
}

/// Each unit of an immediate moves an operand's layout up by some bits or lanes: which half of a
/// register, which set of indices, whose register.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::tables::{FieldMove, TensorOperand};
///
/// // Operands that say which lanes of another hold something.
/// let moves: Vec<&FieldMove> = TABLES.atoms.iter().filter_map(|atom| atom.more).flat_map(|more| more.moves).collect();
/// assert!(moves.iter().all(|field| field.by != field.of));
/// let tensor: Option<&TensorOperand> = TABLES.atoms.iter().find_map(|atom| atom.tensor());
/// assert!(tensor.is_some_and(|operand| !operand.descriptor.is_empty()));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FieldMove {
    /// The immediate.
    pub by: u8,
    /// The operand that it moves.
    pub of: u8,
    /// Bits a unit.
    pub bits: u16,
    /// Lanes a unit.
    pub lanes: u16,
}

/// What a modifier makes of an operand: which part of it is read in place of which.
///
/// ```
/// use lanebook::tables::Broadcast;
///
/// // Value 1 reverses two runs of 16 lanes each; value 0 leaves them.
/// let runs = Broadcast::Lanes(3, 0, 16, &[&[0, 1], &[1, 0]]);
/// assert_eq!(runs.operand(), 3);
/// assert_eq!((runs.lane(0, 17), runs.lane(1, 17)), (Some(17), Some(1)));
/// // Of each pair of blocks all lanes take the second.
/// let pairs = Broadcast::Blocks(3, 4, 2);
/// assert_eq!(pairs.block(1, 1, 2), Some(3));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Broadcast<'a> {
    /// For value `v` of the immediate, lane `l` is read from lane `run * rows[v][l / run] + l %
    /// run`.
    Lanes(u8, u8, u8, &'a [&'a [u8]]),
    /// Block `b` is read from block `b` rounded down to a multiple of `1 << size`, plus `member`.
    Blocks(u8, u8, u8),
}

impl Broadcast<'_> {
    /// The operand that is read.
    #[must_use]
    pub const fn operand(&self) -> u8 {
        match self {
            Self::Lanes(operand, ..) | Self::Blocks(operand, ..) => *operand,
        }
    }
    /// The lane that is read for `lane` where the modifier's value is `value`; `None` beyond its
    /// table, and for blocks.
    #[must_use]
    pub fn lane(&self, value: u8, lane: u16) -> Option<u16> {
        let Self::Lanes(_, _, run, rows) = *self else { return None };
        let run = u16::from(run);
        let row = rows.get(usize::from(value))?.get(usize::from(lane.checked_div(run)?))?;
        u16::from(*row).checked_mul(run)?.checked_add(lane.checked_rem(run)?)
    }
    /// The block that is read for `block` where the modifiers' values are `size` and `member`;
    /// `None` for lanes.
    #[must_use]
    pub fn block(&self, size: u8, member: u16, block: u16) -> Option<u16> {
        let Self::Blocks(..) = *self else { return None };
        let group = 1u16.checked_shl(u32::from(size))?;
        let low = group.checked_sub(1)?;
        (block & !low).checked_add(member)
    }
}
