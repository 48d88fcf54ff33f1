//! Finding atoms by what they do: the frame's own small needs (moves, fills, in-place sums),
//! answered by the tables.

use crate::expr::Reg;
use lanebook_tables::{
    Arch, Atom, AtomId, Capability, ClassId, IndexOp, Isa, RegisterKind, Second, Tables, TermNode,
};

/// A machine to look things up in.
#[derive(Copy, Clone)]
pub struct TargetQueries<'t> {
    /// Tables.
    pub tables: &'t Tables<'t>,
    /// Architecture.
    pub arch: &'t Arch<'t>,
    /// Instruction set.
    pub isa: &'t Isa<'t>,
}

impl<'t> TargetQueries<'t> {
    /// The architecture's atoms that can do something, the first choice first.
    fn able(&self, wanted: Capability) -> impl Iterator<Item = (AtomId, &'t Atom<'t>)> {
        let tables = self.tables;
        self.arch.dispatch(wanted).iter().filter_map(move |id| Some((*id, tables.atom(*id)?)))
    }

    /// The kind of a class.
    #[must_use]
    pub fn kind(&self, class: ClassId) -> Option<RegisterKind> {
        self.isa.classes.get(class.index()).map(|c| c.kind)
    }

    /// The first class of a kind and width in bits.
    #[must_use]
    pub fn class(&self, kind: RegisterKind, bits: u16) -> Option<ClassId> {
        let found = self.isa.classes.iter().position(|c| c.kind == kind && c.bits == bits)?;
        u16::try_from(found).ok().map(ClassId)
    }

    /// An atom that copies a register of a class: (atom, whether it copies from a register, not
    /// only from a number).
    #[must_use]
    pub fn copy_into(&self, class: ClassId, count: u16, from: ClassId) -> Option<AtomId> {
        let registers = u8::try_from(count).ok()?;
        self.arch.dispatch(Capability::Copy { into: class, from, registers }).first().copied()
    }

    /// An atom for `d = a op number` that leaves its result in another class: (the class of `d`,
    /// that of `a`).
    #[must_use]
    pub fn binary_into(
        &self,
        op: IndexOp,
        (into, from): (ClassId, ClassId),
        number: i64,
    ) -> Option<AtomId> {
        self.able(Capability::Index { op, class: into, from, registers: 1, second: Second::Number })
            .find(|(_, a)| in_order(a) && reaches(a, 2, number))
            .map(|(id, _)| id)
    }

    /// An atom that joins two registers to one of a wider class, the lower one first, and the
    /// operands that take them.
    #[must_use]
    pub fn joins(&self, wide: ClassId, narrow: ClassId) -> Option<(AtomId, [u8; 2])> {
        let (id, atom) = self.able(Capability::Join { wide, narrow }).next()?;
        let [low, high] = *atom.does?.uses else { return None };
        Some((id, [low, high]))
    }

    /// An atom that takes a register apart into two of a narrower class, its first two operands,
    /// the lower one first.
    #[must_use]
    pub fn parts(&self, narrow: ClassId, wide: ClassId) -> Option<AtomId> {
        self.arch.dispatch(Capability::Split { wide, narrow }).first().copied()
    }

    /// Whether a register of one class has the bits of two of another.
    #[must_use]
    pub fn is_twice(&self, wide: ClassId, narrow: ClassId) -> bool {
        let bits = |class: ClassId| self.isa.classes.get(class.index()).map_or(0, |c| c.bits);
        bits(narrow) > 0 && bits(wide) == bits(narrow).saturating_mul(2)
    }

    /// An atom that puts a known number into a register of a class, and whether the number is an
    /// operand.
    #[must_use]
    pub fn fill(&self, class: ClassId, value: i64) -> Option<(AtomId, bool)> {
        let able = || self.able(Capability::Fill(class));
        let own = able()
            .find(|(_, a)| matches!(*a.means, [TermNode::Const(c)] if c == value))
            .map(|(id, _)| (id, false));
        own.or_else(|| able().find(|(_, a)| reaches(a, 1, value)).map(|(id, _)| (id, true)))
    }

    /// An atom for `d = a op b` on registers of a class, with a register or a number as `b`.
    #[must_use]
    pub fn binary(
        &self,
        op: IndexOp,
        class: ClassId,
        count: u16,
        b: SecondOperand,
    ) -> Option<AtomId> {
        let registers = u8::try_from(count).ok()?;
        let able = |second: Second| {
            self.able(Capability::Index { op, class, from: class, registers, second })
                .filter(|(_, a)| in_order(a))
        };
        match b {
            SecondOperand::Reg(reg) => {
                let registers = u8::try_from(reg.count).ok()?;
                able(Second::Register(reg.class, registers)).next()
            }
            SecondOperand::Number(n) => {
                let fits = |a: &Atom<'_>| reaches(a, 2, n);
                // A 64-bit sum may take its number as an extended word.
                let extended = || able(Second::ExtendedNumber).find(|(_, a)| n >= 0 && fits(a));
                able(Second::Number).find(|(_, a)| fits(a)).or_else(extended)
            }
        }
        .map(|(id, _)| id)
    }
}

impl<'t> TargetQueries<'t> {
    /// An atom for `d = a + number` on registers of a class, whichever of its two operands takes the
    /// number, and whether it is the first of them.
    #[must_use]
    pub fn add_number(&self, class: ClassId, number: i64) -> Option<(AtomId, bool)> {
        if let Some(atom) = self.binary(IndexOp::Add, class, 1, SecondOperand::Number(number)) {
            return Some((atom, false));
        }
        let second = Second::Register(class, 1);
        self.able(Capability::Index { op: IndexOp::Add, class, from: class, registers: 1, second })
            .find(|(_, a)| in_order(a) && a.operands.len() == 3 && reaches(a, 1, number))
            .map(|(id, _)| (id, true))
    }

    /// An atom for `d = b + a` on registers of a class, whose first summand may be of another one.
    #[must_use]
    pub fn add_register(&self, class: ClassId, first: ClassId) -> Option<AtomId> {
        let second = Second::Register(class, 1);
        let takes = |a: &Atom<'_>| a.operands.get(1).is_some_and(|o| o.accepts(first));
        self.able(Capability::Index { op: IndexOp::Add, class, from: class, registers: 1, second })
            .find(|(_, a)| in_order(a) && a.operands.len() == 3 && takes(a))
            .map(|(id, _)| id)
    }

    /// An atom for `d = a + b` on pairs of a class, `b` being one register that is extended by
    /// zeros.
    #[must_use]
    pub fn add_extended(&self, class: ClassId, b: ClassId) -> Option<AtomId> {
        let second = Second::ExtendedRegister(b, 1);
        self.able(Capability::Index {
            op: IndexOp::Add64,
            class,
            from: class,
            registers: 2,
            second,
        })
        .find(|(_, a)| in_order(a))
        .map(|(id, _)| id)
    }

    /// An atom that shifts a register of a class right by a number, and the numbers of the operands
    /// for the register and the shift.
    #[must_use]
    pub fn shift_right(&self, class: ClassId, by: i64) -> Option<(AtomId, usize, usize)> {
        self.able(Capability::Index {
            op: IndexOp::Shr,
            class,
            from: class,
            registers: 1,
            second: Second::Number,
        })
        .find_map(|(id, a)| {
            let [_, TermNode::Operand(value), TermNode::Operand(count)] = *a.means else {
                return None;
            };
            let (value, count) = (usize::from(value), usize::from(count));
            (a.operands.len() == 3 && reaches(a, count, by)).then_some((id, value, count))
        })
    }
}

/// Whether an atom's first value is operand 1 and its second operand 2.
fn in_order(atom: &Atom<'_>) -> bool {
    matches!(
        *atom.means,
        [_, TermNode::Operand(1), TermNode::Operand(2)]
            | [_, TermNode::Operand(1), _, TermNode::Operand(2)]
    )
}

/// Whether a number is in the range of an operand.
fn reaches(atom: &Atom<'_>, operand: usize, number: i64) -> bool {
    atom.operands.get(operand).is_some_and(|o| o.range.0 <= number && number <= o.range.1)
}

/// The second operand of a binary atom.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SecondOperand {
    /// A register.
    Reg(Reg),
    /// A number.
    Number(i64),
}
