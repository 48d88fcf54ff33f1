//! The arena of index expressions.
//!
//! Nodes live in storage that the caller lends. Equal nodes are one node (hash-consing), operands
//! always come before their users (so one pass over the arena is a pass in topological order),
//! nodes never change, and each carries its [`BitFacts`]. The arena only grows, except by
//! [`ExprArena::truncate`].
use crate::expr::{BitFacts, ExprError};
use heapless::VecView;
use lanebook_tables::IndexOp;

/// Most nodes of an [`ExprArena`], whatever it is lent.
pub const MAX_NODES: usize = 4096;

/// A node of an [`ExprArena`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ExprId(pub u16);

impl ExprId {
    /// No node.
    pub const NONE: ExprId = ExprId(u16::MAX);
    /// The number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable of an [`ExprArena`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct VarId(pub u16);

impl VarId {
    /// The number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a variable. Start from [`Variable::word`] or [`Variable::long`] and narrow it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Variable(BitFacts);

impl Variable {
    /// A 32-bit value that may differ between lanes.
    #[must_use]
    pub const fn word() -> Self {
        Self(BitFacts::unknown(32))
    }
    /// A 64-bit value that may differ between lanes.
    #[must_use]
    pub const fn long() -> Self {
        Self(BitFacts::unknown(64))
    }
    /// Less than `limit`, unsigned (0 is taken as 1).
    #[must_use]
    pub const fn below(mut self, limit: u64) -> Self {
        let high = limit.saturating_sub(1);
        if high < self.0.high {
            self.0.high = high;
        }
        Self(self.0.tightened())
    }
    /// These bits are 0.
    #[must_use]
    pub const fn zeros(mut self, mask: u64) -> Self {
        self.0.zeros |= mask;
        Self(self.0.tightened())
    }
    /// A multiple of 2^`bits`.
    #[must_use]
    pub const fn aligned(self, bits: u8) -> Self {
        match 1u64.checked_shl(bits as u32) {
            Some(bit) => self.zeros(bit.wrapping_sub(1)),
            None => self.zeros(u64::MAX),
        }
    }
    /// Equal in all lanes of a wave.
    #[must_use]
    pub const fn uniform(self) -> Self {
        self.varying(0)
    }
    /// Only these bits may differ between lanes of a wave (e.g. the low six of a thread number).
    #[must_use]
    pub const fn varying(mut self, mask: u64) -> Self {
        self.0.varying &= mask;
        self
    }
    /// Changes with the loop at this level (0 = with none, 1 = the outermost).
    #[must_use]
    pub const fn level(mut self, level: u8) -> Self {
        self.0.level = level;
        self
    }
    /// What is known of it.
    #[must_use]
    pub const fn facts(&self) -> &BitFacts {
        &self.0
    }
}

/// What a node is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant; 32-bit ones zero-extended. Its width is in its facts.
    Const(u64),
    /// A variable.
    Var(VarId),
    /// A word with its arguments ([`ExprId::NONE`] where it has fewer than two).
    Op(IndexOp, [ExprId; 2]),
}

/// A node with its facts. Opaque outside this module except as storage.
#[derive(Copy, Clone, Debug)]
pub struct ExprNode {
    pub(super) facts: BitFacts,
    pub(super) tag: u8,
    pub(super) args: [ExprId; 2],
    next: ExprId,
}

const TAG_CONST: u8 = 254;
const TAG_VAR: u8 = 255;

impl ExprNode {
    fn expr(&self) -> Expr {
        match self.tag {
            TAG_CONST => Expr::Const(self.facts.ones),
            TAG_VAR => Expr::Var(VarId(self.args[0].0)),
            tag => match IndexOp::ALL.get(usize::from(tag)) {
                Some(op) => Expr::Op(*op, self.args),
                None => Expr::Const(0),
            },
        }
    }
    fn same(&self, other: &ExprNode) -> bool {
        self.tag == other.tag
            && self.args == other.args
            && self.facts.width == other.facts.width
            && (self.tag != TAG_CONST || self.facts.ones == other.facts.ones)
    }
    fn hash(&self) -> usize {
        let key = (u64::from(self.tag) << 48)
            ^ (u64::from(self.args[0].0) << 24)
            ^ (u64::from(self.args[1].0) << 8)
            ^ u64::from(self.facts.width);
        let key = if self.tag == TAG_CONST { key ^ self.facts.ones.rotate_left(17) } else { key };
        (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize
    }
}

/// Expressions in the caller's storage.
pub struct ExprArena<'s> {
    nodes: &'s mut VecView<ExprNode>,
    variables: &'s mut VecView<Variable>,
    buckets: &'s mut [ExprId],
}

impl<'s> ExprArena<'s> {
    /// An empty arena. It holds at most `nodes.capacity()` nodes (never more than [`MAX_NODES`]);
    /// look-up is fastest when `buckets` is about as long as that, and must not be empty.
    #[must_use]
    pub fn new(
        nodes: &'s mut VecView<ExprNode>,
        variables: &'s mut VecView<Variable>,
        buckets: &'s mut [ExprId],
    ) -> Self {
        nodes.clear();
        variables.clear();
        buckets.fill(ExprId::NONE);
        Self { nodes, variables, buckets }
    }
    /// Number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    /// Most nodes it can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.nodes.capacity().min(MAX_NODES)
    }
    /// Number of variables.
    #[must_use]
    pub fn variables(&self) -> usize {
        self.variables.len()
    }
    /// A variable's facts.
    #[must_use]
    pub fn variable(&self, var: VarId) -> Option<&Variable> {
        self.variables.get(var.index())
    }
    /// What a node is.
    #[must_use]
    pub fn get(&self, id: ExprId) -> Option<Expr> {
        self.nodes.get(id.index()).map(ExprNode::expr)
    }
    /// What is known of a node.
    #[must_use]
    pub fn facts(&self, id: ExprId) -> Option<&BitFacts> {
        self.nodes.get(id.index()).map(|node| &node.facts)
    }
    /// A node's value, if it is a constant node.
    #[must_use]
    pub fn constant_value(&self, id: ExprId) -> Option<u64> {
        match self.get(id) {
            Some(Expr::Const(value)) => Some(value),
            _ => None,
        }
    }
    /// A 32-bit constant.
    pub fn constant(&mut self, value: u32) -> Result<ExprId, ExprError> {
        self.constant_of(u64::from(value), 32)
    }
    /// A constant of 32 or 64 bits.
    pub fn constant_of(&mut self, value: u64, width: u8) -> Result<ExprId, ExprError> {
        if width != 32 && width != 64 {
            return Err(ExprError::BadWidth { bits: width });
        }
        self.intern(ExprNode {
            facts: BitFacts::constant(value, width),
            tag: TAG_CONST,
            args: [ExprId::NONE; 2],
            next: ExprId::NONE,
        })
    }
    /// A new variable.
    pub fn declare(&mut self, variable: Variable) -> Result<VarId, ExprError> {
        let full = ExprError::Variables {
            capacity: u16::try_from(self.variables.capacity()).unwrap_or(u16::MAX),
        };
        let id = u16::try_from(self.variables.len()).map_err(|_| full)?;
        self.variables.push(variable).map_err(|_| full)?;
        Ok(VarId(id))
    }
    /// The node of a variable.
    pub fn var(&mut self, var: VarId) -> Result<ExprId, ExprError> {
        let facts = *self.variable(var).ok_or(ExprError::UnknownVariable(var))?.facts();
        self.intern(ExprNode {
            facts,
            tag: TAG_VAR,
            args: [ExprId(var.0), ExprId::NONE],
            next: ExprId::NONE,
        })
    }
    /// Declares a variable and answers its node.
    pub fn variable_node(&mut self, variable: Variable) -> Result<(VarId, ExprId), ExprError> {
        let var = self.declare(variable)?;
        Ok((var, self.var(var)?))
    }
    /// A word applied to arguments. Nothing is simplified, but arguments of a commuting word are
    /// put in a fixed order: constants last, else the older node first.
    pub fn op(&mut self, op: IndexOp, args: &[ExprId]) -> Result<ExprId, ExprError> {
        let given = u8::try_from(args.len()).unwrap_or(u8::MAX);
        let (a, b) = match (op.arity(), args) {
            (1, [a]) => (*a, ExprId::NONE),
            (2, [a, b]) => (*a, *b),
            _ => return Err(ExprError::Arity { op, given }),
        };
        let facts_a = *self.facts(a).ok_or(ExprError::UnknownNode(a))?;
        let facts_b = if b == ExprId::NONE {
            BitFacts::constant(0, 32)
        } else {
            *self.facts(b).ok_or(ExprError::UnknownNode(b))?
        };
        for (argument, facts, id) in [(0, &facts_a, a), (1, &facts_b, b)] {
            if id != ExprId::NONE && facts.width != op.argument_width(argument) {
                return Err(ExprError::Width { op, argument, bits: facts.width });
            }
        }
        let is_const = |id: ExprId| self.constant_value(id).is_some();
        let swap = op.commutes() && (is_const(a), a) > (is_const(b), b);
        let args = if swap { [b, a] } else { [a, b] };
        self.intern(ExprNode {
            facts: BitFacts::of(op, &facts_a, &facts_b),
            tag: op as u8,
            args,
            next: ExprId::NONE,
        })
    }
    /// `a op b` with a constant of the right width on the right.
    pub fn op_const(&mut self, op: IndexOp, a: ExprId, b: u64) -> Result<ExprId, ExprError> {
        let b = self.constant_of(b, op.argument_width(1))?;
        self.op(op, &[a, b])
    }
    /// Removes all nodes from `len` on. Their handles become invalid.
    pub fn truncate(&mut self, len: usize) {
        while self.nodes.len() > len {
            let Some(node) = self.nodes.pop() else { return };
            // Nodes leave in the reverse order of arrival, so the last one heads its chain.
            if let Some(head) = bucket(self.buckets, &node) {
                *head = node.next;
            }
        }
    }
    /// Removes the last variables as far as no node stands for them.
    pub(crate) fn drop_variables(&mut self) {
        let of = |node: &ExprNode| (node.tag == TAG_VAR).then(|| usize::from(node.args[0].0));
        let kept = self.nodes.iter().filter_map(of).max();
        self.variables.truncate(kept.map_or(0, |last| last.saturating_add(1)));
    }
    fn intern(&mut self, mut node: ExprNode) -> Result<ExprId, ExprError> {
        let full =
            ExprError::Nodes { capacity: u16::try_from(self.capacity()).unwrap_or(u16::MAX) };
        let head = bucket(self.buckets, &node).ok_or(full)?;
        let mut at = *head;
        while let Some(other) = self.nodes.get(at.index()) {
            if other.same(&node) {
                return Ok(at);
            }
            at = other.next;
        }
        let id = u16::try_from(self.nodes.len())
            .ok()
            .filter(|id| usize::from(*id) < MAX_NODES)
            .map(ExprId)
            .ok_or(full)?;
        node.next = *head;
        self.nodes.push(node).map_err(|_| full)?;
        *head = id;
        Ok(id)
    }
}

fn bucket<'b>(buckets: &'b mut [ExprId], node: &ExprNode) -> Option<&'b mut ExprId> {
    let slot = node.hash().checked_rem(buckets.len())?;
    buckets.get_mut(slot)
}
