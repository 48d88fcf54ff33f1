//! What a rule claims, with instructions replaced by their meanings.
use crate::Refusal;
use lanebook_gen::model::HwModel;
use lanebook_gen::rules::{CompiledRule, Slot};
use lanebook_tables::{AtomId, BuildNode, CondArg, IndexOp, PatternNode, Role, TermNode, Word};

/// A term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A slot.
    Slot(u8),
    /// A constant: value and width in bits.
    Const(u64, u8),
    /// An index word.
    Op(IndexOp, Vec<Node>),
    /// Number of low zero bits; no value for 0.
    TrailingZeros(Box<Node>),
    /// Low 32 bits of a 64-bit value.
    Low32(Box<Node>),
    /// High 32 bits of a 64-bit value.
    High32(Box<Node>),
    /// Three-input bitwise function: table, then the inputs.
    Lut3(u8, Vec<Node>),
}

/// A rule's claim.
#[derive(Clone, Debug)]
pub struct Formula {
    /// Slots by number.
    pub slots: Vec<Slot>,
    /// Computed constants.
    pub lets: Vec<(u8, Node)>,
    /// Conditions.
    pub conditions: Vec<(Word, Vec<CondArg>)>,
    /// Left side.
    pub left: Node,
    /// Right side.
    pub right: Node,
    /// Slots that the pattern binds to words: they equal these terms.
    pub parts: Vec<(u8, Node)>,
}

impl Node {
    /// Width in bits.
    #[must_use]
    pub fn width(&self, slots: &[Slot]) -> u8 {
        match self {
            Node::Slot(slot) => slots.get(usize::from(*slot)).map_or(32, |slot| slot.width),
            Node::Const(_, width) => *width,
            Node::Op(op, _) => op.width(),
            Node::TrailingZeros(_) | Node::Low32(_) | Node::High32(_) | Node::Lut3(..) => 32,
        }
    }
    /// Calls `f` for the node and everything in it.
    pub fn walk(&self, f: &mut impl FnMut(&Node)) {
        f(self);
        match self {
            Node::Op(_, args) | Node::Lut3(_, args) => args.iter().for_each(|arg| arg.walk(f)),
            Node::TrailingZeros(arg) | Node::Low32(arg) | Node::High32(arg) => arg.walk(f),
            _ => {}
        }
    }
    /// The value for given slot values, if every word in it has one.
    #[must_use]
    pub fn eval(&self, slots: &[u64]) -> Option<u64> {
        match self {
            Node::Slot(slot) => slots.get(usize::from(*slot)).copied(),
            Node::Const(value, _) => Some(*value),
            Node::Op(op, args) => {
                let a = args.first()?.eval(slots)?;
                let b = args.get(1).map_or(Some(0), |arg| arg.eval(slots))?;
                op.eval(a, b)
            }
            Node::High32(arg) => arg.eval(slots).map(|value| value >> 32),
            Node::Low32(arg) => arg.eval(slots).map(|value| u64::from(value as u32)),
            Node::TrailingZeros(arg) => arg
                .eval(slots)
                .filter(|value| *value != 0)
                .map(|value| u64::from(value.trailing_zeros())),
            Node::Lut3(table, args) => {
                let mut values = [0u32; 3];
                for (value, arg) in values.iter_mut().zip(args) {
                    *value = arg.eval(slots)? as u32;
                }
                let [a, b, c] = values;
                Some((0..32).fold(0u64, |out, bit| {
                    let index = (a >> bit & 1) * 4 + (b >> bit & 1) * 2 + (c >> bit & 1);
                    out | u64::from(u32::from(*table) >> index & 1) << bit
                }))
            }
        }
    }
}

fn truncate(value: i64, width: u8) -> u64 {
    if width == 32 { u64::from(value as u32) } else { value as u64 }
}

impl Formula {
    /// The claim of a rule.
    ///
    /// # Errors
    /// Tile rules, atoms without a meaning, words that proofs do not know.
    pub fn of(rule: &CompiledRule, hw: &HwModel) -> Result<Self, Refusal> {
        let mut parts = Vec::new();
        let mut pattern = rule.pattern.iter().copied();
        let left = read_pattern(&mut pattern, rule, rule.width, &mut parts)?;
        let lets = rule
            .lets
            .iter()
            .map(|(slot, term)| Ok((*slot, read_build(&mut term.iter(), hw)?)))
            .collect::<Result<_, _>>()?;
        let right = read_build(&mut rule.replacement.iter(), hw)?;
        Ok(Self {
            slots: rule.slots.clone(),
            lets,
            conditions: rule.conditions.clone(),
            left,
            right,
            parts,
        })
    }
    /// The value of every slot, given those that the pattern binds to anything; `None` if a
    /// computed one has no value.
    #[must_use]
    pub fn complete(&self, mut slots: Vec<u64>) -> Option<Vec<u64>> {
        for (slot, term) in self.parts.iter().chain(&self.lets) {
            slots[usize::from(*slot)] = term.eval(&slots)?;
        }
        Some(slots)
    }
    /// Slots whose values are free.
    pub fn free(&self) -> impl Iterator<Item = u8> + '_ {
        (0..self.slots.len() as u8)
            .filter(|slot| !self.lets.iter().chain(&self.parts).any(|(name, _)| name == slot))
    }
    /// All terms.
    pub fn terms(&self) -> impl Iterator<Item = &Node> {
        [&self.left, &self.right]
            .into_iter()
            .chain(self.lets.iter().map(|(_, term)| term))
            .chain(self.parts.iter().map(|(_, term)| term))
    }
}

fn read_pattern(
    nodes: &mut impl Iterator<Item = PatternNode>,
    rule: &CompiledRule,
    width: u8,
    parts: &mut Vec<(u8, Node)>,
) -> Result<Node, Refusal> {
    match nodes.next() {
        Some(PatternNode::Any(slot) | PatternNode::AnyConst(slot)) => Ok(Node::Slot(slot)),
        Some(PatternNode::Const(value)) => Ok(Node::Const(truncate(value.get(), width), width)),
        Some(PatternNode::Index(op, arity, slot)) => {
            let args = (0..arity)
                .map(|number| read_pattern(nodes, rule, op.argument_width(number), parts))
                .collect::<Result<_, _>>()?;
            let node = Node::Op(op, args);
            if usize::from(slot) < rule.slots.len() {
                parts.push((slot, node.clone()));
            }
            Ok(node)
        }
        _ => Err(Refusal::NoFormula("tile rules are checked by running them".into())),
    }
}

fn read_build<'a>(
    nodes: &mut impl Iterator<Item = &'a BuildNode>,
    hw: &HwModel,
) -> Result<Node, Refusal> {
    let none = || Refusal::NoFormula("the right side is not a term".into());
    match nodes.next().ok_or_else(none)? {
        BuildNode::Slot(slot) => Ok(Node::Slot(*slot)),
        BuildNode::Const(value, width) => Ok(Node::Const(truncate(value.get(), *width), *width)),
        BuildNode::Fold(op, arity) | BuildNode::Index(op, arity) => {
            Ok(Node::Op(*op, (0..*arity).map(|_| read_build(nodes, hw)).collect::<Result<_, _>>()?))
        }
        BuildNode::TrailingZeros => Ok(Node::TrailingZeros(Box::new(read_build(nodes, hw)?))),
        BuildNode::High32 => Ok(Node::High32(Box::new(read_build(nodes, hw)?))),
        BuildNode::Low32 => Ok(Node::Low32(Box::new(read_build(nodes, hw)?))),
        BuildNode::Inst(atom, arity) => {
            let args = (0..*arity).map(|_| read_build(nodes, hw)).collect::<Result<Vec<_>, _>>()?;
            meaning(*atom, &args, hw)
        }
        BuildNode::Tile(_) => Err(none()),
    }
}

/// An instruction's meaning with its operands replaced by arguments.
fn meaning(id: AtomId, args: &[Node], hw: &HwModel) -> Result<Node, Refusal> {
    let atom = hw.atom(id);
    let mut by_operand: Vec<Option<Node>> = vec![None; atom.operands.len()];
    let inputs = atom
        .operands
        .iter()
        .enumerate()
        .filter(|(_, operand)| operand.role != Role::Def && !operand.implicit);
    for ((number, _), arg) in inputs.zip(args) {
        by_operand[number] = Some(arg.clone());
    }
    let means = lanebook_gen::rules::meaning(id, hw);
    read_means(&mut means.iter(), &by_operand, 32).ok_or_else(|| {
        Refusal::NoFormula(format!("the meaning of `{}` cannot be read", atom.name.value))
    })
}

fn read_means<'a>(
    nodes: &mut impl Iterator<Item = &'a TermNode>,
    operands: &[Option<Node>],
    width: u8,
) -> Option<Node> {
    match nodes.next()? {
        TermNode::Operand(number) => operands.get(usize::from(*number))?.clone(),
        TermNode::Const(value) => Some(Node::Const(truncate(*value, width), width)),
        TermNode::Op(op, arity) => Some(Node::Op(
            *op,
            (0..*arity)
                .map(|number| read_means(nodes, operands, op.argument_width(number)))
                .collect::<Option<_>>()?,
        )),
        TermNode::Lut3(table) => {
            let Some(Node::Const(table, _)) = operands.get(usize::from(*table))? else {
                return None;
            };
            let table = u8::try_from(*table).ok()?;
            Some(Node::Lut3(
                table,
                (0..3).map(|_| read_means(nodes, operands, 32)).collect::<Option<_>>()?,
            ))
        }
        TermNode::BytePermute => None,
    }
}
