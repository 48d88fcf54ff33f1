//! Emitted steps: instructions over virtual registers.
//!
//! Selection ([`crate::expr::Selector`]) and the emitter speak to one [`InstSink`]. A register is virtual
//! and a tuple of one class; which physical registers it gets is decided later. Nothing here knows
//! an instruction's text.
use lanebook_tables::{AtomId, ClassId};

/// A virtual register tuple.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg {
    /// Its class, in the architecture's instruction set.
    pub class: ClassId,
    /// Number of its first member among the virtual registers of that class.
    pub first: u16,
    /// How many registers of the class it spans.
    pub count: u16,
}

impl Reg {
    /// One of its registers.
    pub(crate) const fn member(self, k: u16) -> Self {
        self.members(k, 1)
    }

    /// So many of its registers, from one on.
    pub(crate) const fn members(self, k: u16, count: u16) -> Self {
        Self { first: self.first.wrapping_add(k), count, ..self }
    }
}

/// An operand of a step, in the order of the atom's operands (the result included).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// Nothing: an operand that the text does not show.
    None,
    /// A register tuple.
    Reg(Reg),
    /// A number in the text.
    Imm(i64),
    /// A label.
    Label(u16),
}

/// Takes emitted steps.
pub trait InstSink {
    /// Why a step was not taken.
    type Error: Copy;
    /// A fresh virtual tuple of `count` registers of a class.
    fn fresh(&mut self, class: ClassId, count: u16) -> Result<Reg, Self::Error>;
    /// One instruction; `args` has one entry for each operand of the atom, in its numbering.
    fn push(&mut self, atom: AtomId, args: &[Arg]) -> Result<(), Self::Error>;
}
