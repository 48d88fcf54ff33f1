//! Patterns and replacements as trees, for the checks.
use super::rule::CompiledRule;
use lanebook_tables::{BuildNode, IndexOp, NO_SLOT, OpId, OpRole, PatternNode};

/// A term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// A slot that takes anything.
    Any(u8),
    /// A slot that takes constants, or a computed constant.
    AnyConst(u8),
    /// A constant.
    Const(i64),
    /// A word with its arguments.
    Node(Head, Vec<Tree>),
}

/// What stands at the root of a term.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Head {
    /// An index word.
    Index(IndexOp),
    /// A tile operation.
    Tile(OpId),
    /// Any tile operation of a role.
    Role(OpRole),
    /// An instruction.
    Inst(u16),
}

impl Head {
    /// Whether arguments may change places.
    #[must_use]
    pub fn commutes(self) -> bool {
        matches!(self, Head::Index(op) if op.commutes())
    }
}

/// The left side.
#[must_use]
pub fn pattern(rule: &CompiledRule) -> Tree {
    read(&mut rule.pattern.iter().map(|node| match *node {
        PatternNode::Any(slot) => (Tree::Any(slot), 0),
        PatternNode::AnyConst(slot) => (Tree::AnyConst(slot), 0),
        PatternNode::Const(value) => (Tree::Const(value.get()), 0),
        PatternNode::Index(op, arity, _) => (Tree::Node(Head::Index(op), Vec::new()), arity),
        PatternNode::Tile(op, _, arity) => (Tree::Node(Head::Tile(op), Vec::new()), arity),
        PatternNode::Role(role, _, arity) => (Tree::Node(Head::Role(role), Vec::new()), arity),
    }))
}

/// The right side. Operations that are `same` as another have that one's head.
#[must_use]
pub fn replacement(rule: &CompiledRule) -> Tree {
    build(rule, &rule.replacement)
}

/// A term of the right side or of a `let`.
#[must_use]
pub fn build(rule: &CompiledRule, term: &[BuildNode]) -> Tree {
    read(&mut term.iter().map(|node| match *node {
        BuildNode::Slot(slot)
            if rule.slots.get(usize::from(slot)).is_some_and(|slot| slot.constant) =>
        {
            (Tree::AnyConst(slot), 0)
        }
        BuildNode::Slot(slot) => (Tree::Any(slot), 0),
        BuildNode::Const(value, _) => (Tree::Const(value.get()), 0),
        BuildNode::Fold(op, arity) | BuildNode::Index(op, arity) => {
            (Tree::Node(Head::Index(op), Vec::new()), arity)
        }
        BuildNode::TrailingZeros | BuildNode::Low32 | BuildNode::High32 => {
            (Tree::Node(Head::Inst(u16::MAX), Vec::new()), 1)
        }
        BuildNode::Inst(atom, arity) => (Tree::Node(Head::Inst(atom.0), Vec::new()), arity),
        BuildNode::Tile(tile) => {
            let head = tile
                .op
                .map(Head::Tile)
                .or_else(|| head_of(rule, tile.like))
                .unwrap_or(Head::Role(OpRole::Opaque));
            (Tree::Node(head, Vec::new()), tile.arity)
        }
    }))
}

fn head_of(rule: &CompiledRule, wanted: u8) -> Option<Head> {
    rule.pattern.iter().find_map(|node| match *node {
        PatternNode::Tile(op, slot, _) if slot == wanted && slot != NO_SLOT => Some(Head::Tile(op)),
        PatternNode::Role(role, slot, _) if slot == wanted && slot != NO_SLOT => {
            Some(Head::Role(role))
        }
        _ => None,
    })
}

fn read(nodes: &mut dyn Iterator<Item = (Tree, u8)>) -> Tree {
    let Some((mut tree, arity)) = nodes.next() else {
        return Tree::Const(0);
    };
    for _ in 0..arity {
        let arg = read(nodes);
        if let Tree::Node(_, args) = &mut tree {
            args.push(arg);
        }
    }
    tree
}
