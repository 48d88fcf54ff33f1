//! Finding atoms by what they do: the frame's own small needs (moves, fills, in-place sums), answered by the tables.

use crate::expr::Reg;
use lanebook_tables::{Arch, Atom, AtomClass, AtomId, ClassId, IndexOp, Isa, OpWord, RegisterKind, Role, Tables, TermNode};

/// A machine to look things up in.
#[derive(Copy, Clone)]
pub struct Lookup<'t> {
    /// Tables.
    pub tables: &'t Tables<'t>,
    /// Architecture.
    pub arch: &'t Arch<'t>,
    /// Instruction set.
    pub isa: &'t Isa<'t>,
}

impl<'t> Lookup<'t> {
    /// The architecture's atoms.
    pub fn atoms(&self) -> impl Iterator<Item = (AtomId, &'t Atom<'t>)> {
        let tables = self.tables;
        self.arch.atoms.iter().filter_map(move |a| Some((a.atom, tables.atom(a.atom)?)))
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

    /// An atom that copies a register of a class: (atom, whether it copies from a register, not only from a number).
    #[must_use]
    pub fn copy_into(&self, class: ClassId, count: u8, from: ClassId) -> Option<AtomId> {
        self.atoms()
            .find(|(_, a)| {
                let into = a.operands.first().is_some_and(|o| o.role == Role::Def && o.class == class && o.registers == count);
                let source = a.operands.get(1).is_some_and(|o| o.role == Role::Use && (o.class == from || o.also.contains(&from)) && o.registers == count);
                a.operands.len() == 2 && into && source && (matches!(*a.means, [TermNode::Operand(1)]) || self.kind(class) == Some(RegisterKind::Special))
            })
            .map(|(id, _)| id)
    }

    /// An atom for `d = a op number` that leaves its result in another class: (the class of `d`, that of `a`).
    #[must_use]
    pub fn binary_into(&self, op: IndexOp, (into, from): (ClassId, ClassId), number: i64) -> Option<AtomId> {
        self.atoms()
            .find(|(_, a)| {
                let of = |k: usize| a.operands.get(k).filter(|o| o.registers == 1);
                let result = of(0).is_some_and(|o| o.role == Role::Def && o.class == into);
                let first = of(1).is_some_and(|o| o.class == from || o.also.contains(&from));
                let second = of(2).is_some_and(|o| o.range.0 <= number && number <= o.range.1);
                result && first && second && matches!(*a.means, [TermNode::Op(o, 2), TermNode::Operand(1), TermNode::Operand(2)] if o == op)
            })
            .map(|(id, _)| id)
    }

    /// An atom that joins two registers to one of a wider class, the lower one first, and the operands that take them.
    #[must_use]
    pub fn joins(&self, wide: ClassId, narrow: ClassId) -> Option<(AtomId, [u8; 2])> {
        self.atoms().find_map(|(id, a)| {
            let [low, high] = *a.does.filter(|does| does.op == OpWord::Pack)?.uses else { return None };
            let takes = |k: u8| a.operands.get(usize::from(k)).is_some_and(|o| o.class == narrow && o.registers == 1 && o.dtype.is_none());
            let makes = a.operands.first().is_some_and(|o| o.role == Role::Def && o.class == wide && o.registers == 1);
            (a.operands.len() == 3 && makes && takes(low) && takes(high)).then_some((id, [low, high]))
        })
    }

    /// An atom that takes a register apart into two of a narrower class, its first two operands, the lower one first.
    #[must_use]
    pub fn parts(&self, narrow: ClassId, wide: ClassId) -> Option<AtomId> {
        let is = |a: &Atom<'_>, k: usize, role: Role, class: ClassId| a.operands.get(k).is_some_and(|o| (o.role, o.class, o.registers) == (role, class, 1));
        let found = |a: &Atom<'_>| {
            let named = a.does.is_some_and(|does| does.op == OpWord::Unpack) && a.operands.len() == 3;
            named && is(a, 0, Role::Def, narrow) && is(a, 1, Role::Def, narrow) && is(a, 2, Role::Use, wide)
        };
        self.atoms().find(|(_, a)| found(a)).map(|(id, _)| id)
    }

    /// Whether a register of one class has the bits of two of another.
    #[must_use]
    pub fn is_twice(&self, wide: ClassId, narrow: ClassId) -> bool {
        let bits = |class: ClassId| self.isa.classes.get(class.index()).map_or(0, |c| c.bits);
        bits(narrow) > 0 && bits(wide) == bits(narrow).saturating_mul(2)
    }

    /// An atom that puts a known number into a register of a class, and whether the number is an operand.
    #[must_use]
    pub fn fill(&self, class: ClassId, value: i64) -> Option<(AtomId, bool)> {
        let defines =
            |a: &Atom<'_>| a.class == AtomClass::Alu && a.operands.first().is_some_and(|o| o.role == Role::Def && o.class == class && o.registers == 1);
        let by_name = self.atoms().find(|(_, a)| defines(a) && a.operands.len() == 1 && matches!(*a.means, [TermNode::Const(c)] if c == value));
        if let Some((id, _)) = by_name {
            return Some((id, false));
        }
        let number = |a: &Atom<'_>| a.operands.get(1).is_some_and(|o| o.range.0 <= value && value <= o.range.1);
        self.atoms().find(|(_, a)| defines(a) && a.operands.len() == 2 && matches!(*a.means, [TermNode::Operand(1)]) && number(a)).map(|(id, _)| (id, true))
    }

    /// An atom for `d = a op b` on registers of a class, with a register or a number as `b`.
    #[must_use]
    pub fn binary(&self, op: IndexOp, class: ClassId, count: u8, b: Operand) -> Option<AtomId> {
        self.atoms()
            .find(|(_, a)| {
                let plain = matches!(*a.means, [TermNode::Op(o, 2), TermNode::Operand(1), TermNode::Operand(2)] if o == op);
                // A 64-bit sum may take its number as an extended word.
                let extended =
                    matches!(*a.means, [TermNode::Op(o, 2), TermNode::Operand(1), TermNode::Op(IndexOp::Extend64, 1), TermNode::Operand(2)] if o == op);
                let shape = plain || (extended && matches!(b, Operand::Number(n) if n >= 0));
                let first = |k: usize| a.operands.get(k).is_some_and(|o| (o.class == class || o.also.contains(&class)) && o.registers == count);
                let last = a.operands.get(2).is_some_and(|o| match b {
                    Operand::Reg(reg) => (o.class == reg.class || o.also.contains(&reg.class)) && o.registers == reg.count,
                    Operand::Number(n) => o.range.0 <= n && n <= o.range.1,
                });
                shape && first(0) && first(1) && last
            })
            .map(|(id, _)| id)
    }
}

impl<'t> Lookup<'t> {
    /// An atom for `d = a + b` on pairs of a class, `b` being one register that is extended by zeros.
    #[must_use]
    pub fn add_extended(&self, class: ClassId, b: ClassId) -> Option<AtomId> {
        self.atoms()
            .find(|(_, a)| {
                let sum = matches!(*a.means, [TermNode::Op(IndexOp::Add64, 2), TermNode::Operand(1), TermNode::Op(IndexOp::Extend64, 1), TermNode::Operand(2)]);
                let is = |k: usize, class: ClassId, count: u8| a.operands.get(k).is_some_and(|o| o.class == class && o.registers == count);
                sum && is(0, class, 2) && is(1, class, 2) && is(2, b, 1)
            })
            .map(|(id, _)| id)
    }

    /// An atom that shifts a register of a class right by a number, and the numbers of the operands for the register and the shift.
    #[must_use]
    pub fn shift_right(&self, class: ClassId, by: i64) -> Option<(AtomId, usize, usize)> {
        self.atoms().find_map(|(id, a)| {
            let (value, count) = match &*a.means {
                [TermNode::Op(IndexOp::Shr, 2), TermNode::Operand(x), TermNode::Operand(y)] => (usize::from(*x), usize::from(*y)),
                _ => return None,
            };
            let takes = |k: usize| a.operands.get(k).is_some_and(|o| (o.class == class || o.also.contains(&class)) && o.registers == 1);
            let counted = a.operands.get(count).is_some_and(|o| o.range.0 <= by && by <= o.range.1);
            (a.operands.len() == 3 && takes(0) && takes(value) && counted).then_some((id, value, count))
        })
    }
}

/// The second operand of a binary atom.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A number.
    Number(i64),
}
