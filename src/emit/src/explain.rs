//! Why there are no instructions, in words.
//!
//! With the names of an architecture, of its registers and of a program's operations where they are
//! at hand ([`EmitError::write_named`]), and without.

use crate::expr::{ExprError, SelectError};
use crate::lower::context::{EmitError, Unsimplified};
use crate::step::{InstError, Missing};
use crate::text::TextError;
use core::fmt::{Display, Formatter, Result, Write};
use lanebook_ir::{Op, Program};
use lanebook_layout::{sentence, sentences, shown};
use lanebook_tables::{Arch, AtomId, ClassId, IndexOp, Isa, RegisterClass, Tables};

sentences! { TextError, sink;
    Sink => ("the text could not be written");
    Tables => ("the plan, or a step, names something that these tables lack");
}

sentences! { Unsimplified, sink;
    Fuel => ("more changes of index expressions than one kernel may have");
    Work { capacity } => ("more than ~ operations wait to be looked at", capacity);
    BadRule(rule) => ("rule ~ of the tables is not well formed", rule.0);
}

sentences! { ExprError, sink;
    Nodes { capacity } => ("more than ~ nodes of index expressions", capacity);
    Variables { capacity } => ("more than ~ variables of index expressions", capacity);
    Scratch { needed, lent } => ("an index expression needs ~ entries of lent memory, and ~ are lent", needed, lent);
    UnknownNode(_) => ("an index expression names a node that is not there");
    UnknownVariable(_) => ("an index expression names a variable that is not there");
    Arity { op, given } => ("`~` of an index expression has ~ arguments, and takes another number", op.name(), given);
    Width { op, argument, bits } => ("argument ~ of `~` has ~ bits, and another width is taken", argument, op.name(), bits);
    BadWidth { bits } => ("numbers of ~ bits are not computed with, those of 32 and 64 bits are", bits);
    NoValue(_) => ("an index expression has no value, such as a shift by its width");
    Bit { bit } => ("bit ~ is none of the value's", bit);
    Columns { capacity } => ("more than ~ different columns of a map of bits", capacity);
    TileOperation => ("an operation on tiles stands in an index expression");
}

impl<E: Display> Display for SelectError<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::UnknownArch(_) => f.write_str("the tables have no such architecture"),
            Self::NoRules { phase, .. } => {
                sentence!(f, "the instruction set has no rules of phase ~", *phase)
            }
            Self::TooManyRules { rules } => {
                sentence!(f, "~ rules select instructions, more than there is room for", *rules)
            }
            Self::Scratch { needed, lent } => {
                sentence!(
                    f,
                    "selection needs ~ entries of lent memory, and ~ are lent",
                    *needed,
                    *lent
                )
            }
            Self::NoInstruction { scalar, op, .. } => sentence!(
                f,
                "no instruction computes ~ into a ~ register",
                op.map_or("an index", IndexOp::name),
                if *scalar { "scalar" } else { "vector" }
            ),
            Self::BadRule(rule) => sentence!(f, "rule ~ of the tables is not well formed", rule.0),
            Self::Sink(error) => error.fmt(f),
        }
    }
}

impl<E: core::fmt::Debug + Display> core::error::Error for SelectError<E> {}

/// Names for a sentence, as far as they are at hand.
#[derive(Copy, Clone)]
struct EmitNames<'n, 'a, 't> {
    arch: Option<&'n Arch<'n>>,
    tables: Option<&'n Tables<'n>>,
    program: Option<&'n Program<'a, 't>>,
}

impl<'n> EmitNames<'n, '_, '_> {
    const NONE: Self = Self { arch: None, tables: None, program: None };

    fn arch(self) -> &'n str {
        self.arch.map_or("the architecture", |arch| arch.name)
    }
    fn isa(self) -> Option<&'n Isa<'n>> {
        self.tables.zip(self.arch).and_then(|(tables, arch)| tables.isa(arch.isa))
    }
    fn register_class(self, class: usize) -> Option<&'n RegisterClass<'n>> {
        self.isa()?.classes.get(class)
    }
    /// A class of registers; where it has no name here, what stands in its place.
    fn class(self, class: usize) -> &'n str {
        self.register_class(class).map_or("such", |class| class.name)
    }
    /// How many registers of a class there are: as many as a tile can have, where the assembler
    /// allocates.
    fn pool(self, class: usize) -> u16 {
        let known = self.register_class(class).map(|class| class.pool.1);
        let most = || self.isa().map(Isa::tile_most);
        known.filter(|pool| *pool > 0).or_else(most).unwrap_or(0)
    }
    fn atom(self, atom: AtomId) -> &'n str {
        let atom = self.tables.and_then(|tables| tables.atom(atom));
        atom.map_or("the instruction", |atom| atom.name())
    }
    fn access(self, access: u16) -> &'n str {
        let accesses = self.tables.map_or(&[][..], |tables| tables.accesses);
        accesses.get(usize::from(access)).copied().unwrap_or("one kind of access")
    }

    fn missing(self, missing: Missing, sink: &mut impl Write) -> Result {
        let class = |id: ClassId| self.class(id.index());
        sentence!(sink, "the tables of ~ lack ", self.arch())?;
        match missing {
            Missing::Move(id) => sentence!(sink, "a move between ~ registers", class(id)),
            Missing::Fill(id) => sentence!(sink, "a way to fill ~ registers", class(id)),
            Missing::Special(id) => sentence!(sink, "a way to write ~ registers", class(id)),
            Missing::Sync { producer, consumer } => sentence!(
                sink,
                "a synchronisation rule from ~ to ~",
                self.access(producer),
                self.access(consumer)
            ),
            Missing::Frame => sink.write_str("a frame instruction"),
            Missing::Class => sink.write_str("a register class"),
            Missing::Lanes(mask) => sentence!(
                sink,
                "an exchange between lanes whose numbers differ by an exclusive or with ~",
                mask
            ),
            Missing::Divide => {
                sink.write_str("a way to divide numbers by one that is no power of two")
            }
            Missing::Wait => sink.write_str("a wait for a counter"),
        }
    }

    fn step(self, error: InstError, sink: &mut impl Write) -> Result {
        match error {
            InstError::Steps { capacity } => full("instructions", capacity, sink),
            InstError::Registers { capacity } => full("register tuples", capacity, sink),
            InstError::TupleStrides { capacity } => full("orders of registers", capacity, sink),
            InstError::Loops { capacity } => full("loops", capacity, sink),
            InstError::Capacity { pool, capacity } => full(pool.describe(), capacity, sink),
            InstError::Operand { atom, operand } => {
                sentence!(sink, "operand ~ of ~ cannot be written", operand, self.atom(atom))
            }
            InstError::Class { atom, operand, class } => sentence!(
                sink,
                "operand ~ of ~ takes no ~ register, and the kernel needs one there",
                operand,
                self.atom(atom),
                self.class(class.into())
            ),
            InstError::Pool { class, wanted, .. } => sentence!(
                sink,
                "the kernel needs ~ ~ registers at once, ~ has ~",
                wanted,
                self.class(class.index()),
                self.arch(),
                self.pool(class.index())
            ),
            InstError::NoAtom(missing) => self.missing(missing, sink),
        }
    }

    fn unplanned(self, op: Op, sink: &mut impl Write) -> Result {
        let name = self.program.map_or("operation", |program| program.op_name(op));
        sentence!(
            sink,
            "no instructions can be written for this `~` as its tiles are distributed and held here",
            name
        )
    }

    fn emit(self, error: EmitError, sink: &mut impl Write) -> Result {
        match error {
            EmitError::Inst(error) => self.step(error, sink),
            EmitError::Expr(error) => {
                sink.write_str("the program is too large: an index expression: ")?;
                error.write_text(sink)
            }
            EmitError::Simplify(_) => {
                sink.write_str("the program is too large: index simplification ended early")
            }
            EmitError::Select(SelectError::NoInstruction { op: Some(op), .. }) => sentence!(
                sink,
                "no usable rule of ~ covers ~, which an index of this program needs",
                self.arch(),
                op.name()
            ),
            EmitError::Select(_) => sentence!(
                sink,
                "no instruction of ~ computes an index of this program",
                self.arch()
            ),
            EmitError::Unplanned(op) => self.unplanned(op, sink),
            EmitError::Index(_) => {
                sink.write_str("an index of this operation is none that a kernel computes")
            }
            EmitError::Carried(_) => {
                sink.write_str("a carried value is neither updated in place nor movable")
            }
            EmitError::Rules => {
                sentence!(
                    sink,
                    "the tables of ~ have no rules that select instructions",
                    self.arch()
                )
            }
            EmitError::Constant(_) => sink
                .write_str("this computes with a number of 64 bits, which no one register holds"),
            EmitError::Element { why, .. } => sink.write_str(why.message()),
        }
    }
}

fn full(what: &str, capacity: u32, sink: &mut impl Write) -> Result {
    sentence!(sink, "the program is too large: its kernel needs more than ~ ~", capacity, what)
}

impl InstError {
    /// Writes what is wrong, without names.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        EmitNames::NONE.step(*self, sink)
    }
}

impl EmitError {
    /// Writes what is wrong, without names.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        EmitNames::NONE.emit(*self, sink)
    }

    /// Writes what is wrong, with the names of the architecture, its registers and the program.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_named(
        &self,
        tables: &Tables<'_>,
        arch: &Arch<'_>,
        program: &Program<'_, '_>,
        sink: &mut impl Write,
    ) -> Result {
        let names = EmitNames { arch: Some(arch), tables: Some(tables), program: Some(program) };
        names.emit(*self, sink)
    }
}

shown!(InstError, EmitError);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ElementReason;
    use crate::pool::EmitPool;
    use lanebook_layout::every_variant_speaks;
    use lanebook_tables::{ArchId, IndexOp, IsaId, RuleId};

    #[test]
    fn each_error_says_what_is_wrong() {
        let op = Op::at(0).expect("an operation");
        let (pool, capacity, bits) = (EmitPool::Steps, 3, 8);
        let (needed, lent) = (9, 8);
        let node = crate::expr::ExprId(0);
        let variable = crate::expr::VarId(0);
        every_variant_speaks!(TextError: Sink, Tables);
        every_variant_speaks!(ExprError:
            Nodes { capacity }, Variables { capacity }, Scratch { needed, lent }, UnknownNode(node),
            UnknownVariable(variable), Arity { op: IndexOp::Add, given: 3 },
            Width { op: IndexOp::Add, argument: 1, bits }, BadWidth { bits }, NoValue(node),
            Bit { bit: 40 }, Columns { capacity }, TileOperation);
        let capacity = 3;
        every_variant_speaks!(InstError:
            Steps { capacity }, Registers { capacity }, Operand { atom: AtomId(0), operand: 1 },
            Class { atom: AtomId(0), operand: 1, class: 2 }, TupleStrides { capacity },
            Capacity { pool, capacity }, Loops { capacity },
            Pool { class: ClassId(0), wanted: 300, op: None }, NoAtom(Missing::Wait));
        every_variant_speaks!(SelectError<InstError>:
            UnknownArch(ArchId(0)), NoRules { isa: IsaId(0), phase: 1 }, TooManyRules { rules: 9 },
            Scratch { needed, lent }, NoInstruction { node, scalar: true, op: None }, BadRule(RuleId(1)),
            Sink(InstError::Steps { capacity }));
        every_variant_speaks!(Unsimplified: Fuel, Work { capacity: 9 }, BadRule(RuleId(1)));
        let why = ElementReason::Subscript;
        every_variant_speaks!(EmitError:
            Inst(InstError::Steps { capacity }), Expr(ExprError::TileOperation),
            Simplify(Unsimplified::Fuel), Select(SelectError::BadRule(RuleId(1))),
            Unplanned(op), Index(op), Carried(op), Rules, Constant(op),
            Element { op, why });
    }
}
