//! Registers that an operation keeps from instruction to instruction, and what each is for:
//! addresses, descriptors, lanes' numbers.

use crate::expr::Reg;
use crate::lanes::shuffle::ByteSelector;
use crate::lower::context::{EmitError, LowerContext, full};
use crate::pool::EmitPool;
use lanebook_ir::Op;
use lanebook_tile::offset::RegisterKey;
use lanebook_tile::product::ProductInput;

/// An end of a movement.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MovementEnd {
    /// Where it comes from.
    From,
    /// Where it goes to.
    To,
}

/// A tile of a product that is loaded from, or stored to, tensor memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TensorResident {
    /// The accumulator.
    Sums,
    /// A.
    Left,
}

/// What a register is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KeptFor {
    /// The wave-uniform base of a movement's end.
    Base(MovementEnd),
    /// A lane's address at an end: swizzle phase in bytes, further bytes and outer steps.
    Lane(MovementEnd, RegisterKey),
    /// Bytes of so many outer steps, which an end's scalar base goes on by.
    Stride(MovementEnd, u32),
    /// Where an instance of a copy of boxes is in shared memory.
    BoxPlace(u32),
    /// A coordinate of boxes: the dimension, and elements behind the tile's start.
    BoxCoordinate(u8, u32),
    /// The lane that differs from one's own in a bit: the bit's worth.
    LaneAcross(u32),
    /// The lane that a shuffle's word comes from: how far it is, by exclusive or.
    Sender(u32),
    /// Which bytes of two registers are chosen.
    Selector(ByteSelector),
    /// The descriptor of a block of an input in shared memory, or its address in tensor memory.
    Block(ProductInput, u32),
    /// The lower half of an input's descriptor, which goes from buffer to buffer.
    LowerHalf(ProductInput),
    /// Its upper half, which stays.
    UpperHalf(ProductInput),
    /// The address of a block of the accumulator in tensor memory.
    Accumulator(u32),
    /// The instruction descriptor, by the run of scales that it names.
    Instruction(u32),
    /// The descriptor of a piece of an input's block scales in shared memory.
    ScalePiece(ProductInput, u32),
    /// Where in tensor memory that piece goes.
    ScaleColumn(ProductInput, u32),
    /// Where a load or store of a tile in tensor memory begins.
    TensorPart(TensorResident, u32),
}

impl KeptFor {
    /// Whether it says where in memory an end of a movement lies, for one lane or for all; boxes
    /// are copied into shared memory where this is asked.
    pub(crate) fn is_place_of(self, end: MovementEnd) -> bool {
        match self {
            Self::Base(own) | Self::Lane(own, _) => own == end,
            Self::BoxPlace(_) => end == MovementEnd::To,
            _ => false,
        }
    }
}

/// A register that an operation keeps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct KeptRegister {
    /// The operation's index.
    pub op: u16,
    /// What it is for.
    pub what: KeptFor,
    /// The register.
    pub reg: Reg,
}

impl LowerContext<'_, '_, '_, '_> {
    /// Keeps a register of an operation, by its index.
    pub(crate) fn keep(&mut self, op: u16, what: KeptFor, reg: Reg) -> Result<(), EmitError> {
        let entry = KeptRegister { op, what, reg };
        self.addresses.push(entry).map_err(|_| full(EmitPool::Addresses, self.addresses))
    }

    /// The register that an operation keeps for something.
    pub(crate) fn kept(&self, op: Op, what: KeptFor) -> Option<Reg> {
        let number = u16::try_from(op.index()).ok()?;
        self.addresses.iter().find(|k| k.op == number && k.what == what).map(|k| k.reg)
    }

    /// Whether an operation keeps any register.
    pub(crate) fn keeps_any(&self, op: u16) -> bool {
        self.addresses.iter().any(|k| k.op == op)
    }
}
