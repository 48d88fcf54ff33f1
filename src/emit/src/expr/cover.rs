//! What one rule costs at one node: legality of its operands and the price of its arguments.
//!
//! Legality comes from the tables alone: register classes, ranges of immediates, integers that any
//! operand takes, how many scalar registers and literals one vector instruction may read.
use crate::expr::simplify::{holds, operand, view};
use crate::expr::{ExprArena, ExprId};
use lanebook_ir::rewrite::{Binding, Bound, Terms, View, signed};
use lanebook_tables::{
    Arch, Atom, AtomId, BuildNode, ClassId, Isa, MAX_INSTRUCTIONS, Operand, RegisterKind, Role,
    Rule, Tables, Word,
};

/// Where a value lives.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum HeldBank {
    /// One value a lane.
    Vector = 0,
    /// One value a wave.
    Scalar = 1,
}

use HeldBank::{Scalar, Vector};

impl HeldBank {
    /// Both.
    pub(super) const BOTH: [Self; 2] = [Self::Vector, Self::Scalar];
}

/// The price of one issue slot.
pub(super) const SLOT: u32 = 16;
/// No way.
pub(super) const NEVER: u32 = u32::MAX / 4;

/// The best way known to compute a node into one kind of register. Storage for [`crate::expr::Selector`];
/// opaque.
#[derive(Copy, Clone, Debug)]
pub struct NodeChoice {
    pub(super) cost: u32,
    pub(super) rule: u16,
    pub(super) swaps: u16,
    pub(super) needed: bool,
    pub(super) chain: bool,
}

impl NodeChoice {
    /// Nothing known.
    pub const NONE: NodeChoice =
        NodeChoice { cost: NEVER, rule: u16::MAX, swaps: 0, needed: false, chain: false };
    /// Zeros, for storage that is written before it is read.
    #[doc(hidden)]
    pub const EMPTY: NodeChoice =
        NodeChoice { cost: 0, rule: 0, swaps: 0, needed: false, chain: false };
}

/// An arena as target patterns see it.
pub(super) struct Terminal<'a, 's> {
    pub(super) arena: &'a ExprArena<'s>,
    pub(super) uses: &'a [u16],
}

impl Terms for Terminal<'_, '_> {
    type Id = ExprId;
    fn view(&self, id: ExprId) -> View {
        view(self.arena, id)
    }
    fn arity(&self, id: ExprId) -> u8 {
        match view(self.arena, id) {
            View::Index(op) => op.arity(),
            _ => 0,
        }
    }
    fn operand(&self, id: ExprId, number: u8) -> Option<ExprId> {
        operand(self.arena, id, number)
    }
    fn holds(&self, word: Word, args: &[Bound<ExprId>]) -> bool {
        holds(self.arena, self.uses, word, args)
    }
}

/// How an argument of an instruction is supplied.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Supply {
    /// Not a leaf of the replacement.
    None,
    /// A number in the text.
    Imm(i64),
    /// The node's register of a kind.
    Node(ExprId, HeldBank),
}

/// A rule at a node, priced.
#[derive(Copy, Clone, Debug)]
pub(super) struct PricedRule {
    pub(super) cost: u32,
    pub(super) bank: HeldBank,
    /// Width of the result in bits.
    pub(super) width: u32,
    pub(super) supplies: [Supply; MAX_INSTRUCTIONS],
}

impl PricedRule {
    /// Nothing yet: it is filled where it lies.
    pub(super) const EMPTY: Self = Self {
        cost: 0,
        bank: HeldBank::Vector,
        width: 0,
        supplies: [Supply::None; MAX_INSTRUCTIONS],
    };
}

/// What the machine allows.
#[derive(Copy, Clone)]
pub(super) struct Machine<'t> {
    pub(super) tables: &'t Tables<'t>,
    pub(super) arch: &'t Arch<'t>,
    pub(super) isa: &'t Isa<'t>,
}

/// A value on the way from the leaves of a replacement to its root.
#[derive(Copy, Clone)]
enum Value {
    Leaf(Bound<ExprId>, usize),
    /// In a kind of register, so many bits wide.
    Made(HeldBank, u32),
}

/// What an operand takes without a register.
enum Immediate {
    No,
    Free(i64),
    Literal(i64),
}

impl<'t> Machine<'t> {
    /// Vector or scalar registers? Others hold no index values.
    pub(super) fn bank(&self, class: ClassId) -> Option<HeldBank> {
        match self.isa.classes.get(class.index())?.kind {
            RegisterKind::Vector => Some(HeldBank::Vector),
            RegisterKind::Scalar => Some(HeldBank::Scalar),
            _ => None,
        }
    }
    fn bits(&self, class: ClassId, registers: u8) -> u32 {
        self.isa
            .classes
            .get(class.index())
            .map_or(0, |class| u32::from(class.bits).saturating_mul(u32::from(registers)))
    }
    fn takes(&self, operand: &Operand<'_>, bank: HeldBank, width: u32) -> bool {
        core::iter::once(&operand.class).chain(operand.also).any(|class| {
            self.bank(*class) == Some(bank) && self.bits(*class, operand.registers) == width
        })
    }
    fn immediate(&self, operand: &Operand<'_>, value: u64, width: u8) -> Immediate {
        let (low, high) = self.arch.inline_integers;
        let (as_signed, as_unsigned) =
            (signed(value, width), i64::try_from(value).unwrap_or(i64::MIN));
        let (from, to) = *operand.range;
        if operand.role != Role::Immediate
            && (i64::from(low)..=i64::from(high)).contains(&as_signed)
        {
            return Immediate::Free(as_signed);
        }
        let free = operand.role == Role::Immediate || self.arch.scalar_reads == 0;
        for value in [as_signed, as_unsigned] {
            if (from..=to).contains(&value) {
                return if free { Immediate::Free(value) } else { Immediate::Literal(value) };
            }
        }
        Immediate::No
    }
    /// The operands that take arguments, in order.
    pub(super) fn inputs(atom: &'t Atom<'t>) -> impl Iterator<Item = (usize, &'t Operand<'t>)> {
        atom.operands
            .iter()
            .enumerate()
            .filter(|(_, operand)| operand.role != Role::Def && !operand.implicit)
    }
    /// The kind of register that an atom's result goes to.
    pub(super) fn result(&self, atom: AtomId) -> Option<(HeldBank, ClassId, u8)> {
        let first =
            self.tables.atom(atom)?.operands.first().filter(|operand| operand.role == Role::Def)?;
        Some((self.bank(first.class)?, first.class, first.registers))
    }

    /// What a rule's instructions cost without their arguments, and where the result goes.
    pub(super) fn least(&self, rule: &Rule<'_>) -> Option<(u32, HeldBank)> {
        let Some(BuildNode::Inst(root, _)) = rule.replacement.first() else {
            return None;
        };
        let (bank, _, _) = self.result(*root)?;
        let mut issue = 0u32;
        for node in rule.replacement {
            if let BuildNode::Inst(atom, _) = node {
                issue = issue.checked_add(u32::from(self.tables.atom(*atom)?.cost.issue))?;
            }
        }
        Some((issue.checked_mul(SLOT)?, bank))
    }

    /// Prices a rule with what its slots hold; `None` if an operand cannot be supplied. `price`
    /// answers what a node in a kind of register costs.
    pub(super) fn plan(
        &self,
        arena: &ExprArena<'_>,
        rule: &Rule<'_>,
        binding: &Binding<ExprId>,
        price: impl Fn(ExprId, HeldBank) -> u32,
        plan: &mut PricedRule,
    ) -> Option<()> {
        *plan = PricedRule::EMPTY;
        let mut stack = [Value::Made(HeldBank::Vector, 0); MAX_INSTRUCTIONS];
        let mut depth = 0usize;
        for (at, node) in rule.replacement.iter().enumerate().rev() {
            let value = match *node {
                BuildNode::Slot(slot) => Value::Leaf(binding.get(slot), at),
                BuildNode::Const(value, width) => Value::Leaf(
                    Bound::Const(
                        if width == 32 {
                            u64::from(value.get() as u32)
                        } else {
                            value.get() as u64
                        },
                        width,
                    ),
                    at,
                ),
                BuildNode::Inst(atom, arity) => {
                    let start = depth.checked_sub(usize::from(arity))?;
                    let (bank, class, registers) = self.result(atom)?;
                    let atom = self.tables.atom(atom)?;
                    let args = stack.get(start..depth)?;
                    let cost =
                        self.instruction(arena, atom, bank, args, &price, &mut plan.supplies)?;
                    plan.cost = plan.cost.checked_add(cost)?;
                    plan.bank = bank;
                    plan.width = self.bits(class, registers);
                    depth = start;
                    Value::Made(bank, plan.width)
                }
                // Constants are computed by `let`s in target rules; the rule compiler sees to that.
                _ => return None,
            };
            *stack.get_mut(depth)? = value;
            depth = depth.checked_add(1)?;
        }
        let root_is_made = matches!(stack.first(), Some(Value::Made(..)));
        (depth == 1 && root_is_made && plan.cost < NEVER).then_some(())
    }

    fn instruction(
        &self,
        arena: &ExprArena<'_>,
        atom: &'t Atom<'t>,
        bank: HeldBank,
        args: &[Value],
        price: &impl Fn(ExprId, HeldBank) -> u32,
        supplies: &mut [Supply; MAX_INSTRUCTIONS],
    ) -> Option<u32> {
        let mut cost = u32::from(atom.cost.issue).checked_mul(SLOT)?;
        let limited = self.arch.scalar_reads > 0;
        let (mut reads, mut literals) = (0u8, [None::<i64>; 1]);
        let limit = if bank == Vector { self.arch.scalar_reads } else { u8::MAX };
        let mut scalars = [None::<ExprId>; 4];
        // Literals first: they cannot be moved elsewhere, scalar registers can (to a vector
        // register).
        let mut inputs = Self::inputs(atom);
        for value in args.iter().rev() {
            let (place, operand) = inputs.next()?;
            let Value::Leaf(bound, at) = *value else {
                continue;
            };
            let Some((number, width)) = number(arena, bound) else {
                continue;
            };
            let immediate = if is_halved(atom, place) {
                Immediate::No
            } else {
                self.immediate(operand, number, width)
            };
            let supply = match immediate {
                Immediate::Free(value) => Supply::Imm(value),
                Immediate::Literal(value) if literals == [None] && reads < limit => {
                    literals = [Some(value)];
                    reads = reads.saturating_add(u8::from(bank == Vector));
                    Supply::Imm(value)
                }
                Immediate::Literal(value) if literals == [Some(value)] => Supply::Imm(value),
                _ => match bound {
                    Bound::Node(_) => continue,
                    _ => return None,
                },
            };
            *supplies.get_mut(at)? = supply;
        }
        if inputs.next().is_some() {
            return None;
        }
        let mut inputs = Self::inputs(atom);
        for value in args.iter().rev() {
            let (_, operand) = inputs.next()?;
            if operand.role == Role::Immediate {
                if !matches!(value, Value::Leaf(_, at) if matches!(supplies.get(*at), Some(Supply::Imm(_))))
                {
                    return None;
                }
                continue;
            }
            match *value {
                Value::Made(from, width) => {
                    // A value made inside the rule is read once; scalars count against the limit.
                    if !self.takes(operand, from, width) {
                        return None;
                    }
                    if from == Scalar && bank == Vector && limited {
                        reads = reads.checked_add(1).filter(|reads| *reads <= limit)?;
                    }
                }
                Value::Leaf(_, at) if matches!(supplies.get(at), Some(Supply::Imm(_))) => {}
                Value::Leaf(Bound::Node(id), at) => {
                    let width = u32::from(arena.facts(id)?.width);
                    let known = scalars.contains(&Some(id));
                    let scalar_fits = self.takes(operand, Scalar, width)
                        && (bank == Scalar || !limited || known || reads < limit);
                    let vector =
                        if self.takes(operand, Vector, width) { price(id, Vector) } else { NEVER };
                    let scalar = if scalar_fits { price(id, Scalar) } else { NEVER };
                    let (from, paid) =
                        if scalar < vector { (Scalar, scalar) } else { (Vector, vector) };
                    if paid >= NEVER {
                        return None;
                    }
                    if from == Scalar && bank == Vector && limited && !known {
                        reads = reads.saturating_add(1);
                        if let Some(place) = scalars.iter_mut().find(|place| place.is_none()) {
                            *place = Some(id);
                        }
                    }
                    cost = cost.checked_add(paid)?;
                    *supplies.get_mut(at)? = Supply::Node(id, from);
                }
                Value::Leaf(..) => return None,
            }
        }
        Some(cost)
    }
}

/// Whether an atom of several instructions takes an operand by halves: those of a number have no
/// text.
fn is_halved(atom: &Atom<'_>, place: usize) -> bool {
    atom.operands.get(place).is_some_and(|operand| operand.registers > 1)
        && u8::try_from(place).is_ok_and(|place| atom.template.halves(place))
}

fn number(arena: &ExprArena<'_>, bound: Bound<ExprId>) -> Option<(u64, u8)> {
    match bound {
        Bound::Const(value, width) => Some((value, width)),
        Bound::Node(id) => Some((arena.constant_value(id)?, arena.facts(id)?.width)),
        Bound::Free => None,
    }
}
