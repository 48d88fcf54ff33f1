//! What the engine needs to know of a term graph.
//!
//! Index expressions and the tile IR implement [`Terms`] and [`Graph`]; the engine is compiled for
//! each (no dynamic dispatch).
use crate::rewrite::{RunError, Work};
use lanebook_tables::{IndexOp, OpId, OpRole, Word};

/// How a node looks to a pattern.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum View {
    /// A constant; 32-bit ones zero-extended.
    Const {
        /// Its value.
        value: u64,
        /// Its width in bits.
        width: u8,
    },
    /// An index word.
    Index(IndexOp),
    /// A tile operation.
    Tile(OpId, OpRole),
    /// Anything else: a variable, a block argument, one of several results.
    Leaf,
}

/// What a slot holds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bound<I> {
    /// Nothing yet.
    Free,
    /// A node.
    Node(I),
    /// A computed constant that is no node (yet): value and width in bits.
    Const(u64, u8),
}

/// A tile operation to be made: the compiled [`lanebook_tables::TileBuild`] with its slots looked
/// up.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TileMake<I> {
    /// Which operation; `None`: the same as `like`.
    pub op: Option<OpId>,
    /// Attributes, shape and element type come from here; `None`: no attributes, shape and element
    /// type of the first operand.
    pub like: Option<I>,
    /// The result's layout (and memory space) comes from here; `None`: from `like`.
    pub layout: Option<I>,
    /// That layout is first carried from the result of this operation to its first operand.
    pub through: Option<I>,
}

/// Terms that patterns can look at.
///
/// An `Id` names a node. For the tile IR it is an operation or a value; a value stands for the
/// operation that defines it, when that has one result.
pub trait Terms {
    /// Names a node.
    type Id: Copy + PartialEq;

    /// How a node looks to a pattern.
    fn view(&self, id: Self::Id) -> View;
    /// Number of its operands.
    fn arity(&self, id: Self::Id) -> u8;
    /// One of its operands.
    fn operand(&self, id: Self::Id, number: u8) -> Option<Self::Id>;
    /// Whether a condition holds that needs the graph's own knowledge. Words that speak of
    /// constants alone (`power_of_two`, `low_mask`, `fits`, `equal`, `less`, `is_const`,
    /// `not_const`) are answered by the engine and never asked here; a word that the language does
    /// not have is `false`.
    fn holds(&self, word: Word, args: &[Bound<Self::Id>]) -> bool;
}

/// A graph of terms that rules rewrite.
pub trait Graph: Terms {
    /// Why the graph could not be changed.
    type Error: Copy;
    /// A state to which the graph can return.
    type Mark;

    /// Called when a node is taken from the worklist: brings it up to date with replacements of its
    /// operands and answers the node to be matched, or `None` if there is nothing to do (dead, or
    /// already settled).
    fn refresh(&mut self, id: Self::Id) -> Result<Option<Self::Id>, Self::Error>;
    /// Called when no rule applies to a node any more.
    fn settle(&mut self, id: Self::Id);

    /// A constant node.
    fn make_const(&mut self, value: u64, width: u8) -> Result<Self::Id, Self::Error>;
    /// An index word.
    fn make_index(&mut self, op: IndexOp, args: &[Self::Id]) -> Result<Self::Id, Self::Error>;
    /// A tile operation, standing right before `root`, the operation being replaced.
    fn make_tile(
        &mut self,
        make: TileMake<Self::Id>,
        args: &[Self::Id],
        root: Self::Id,
    ) -> Result<Self::Id, Self::Error>;
    /// All users of `old` see `new` from now on. Nodes that must be looked at again because of that
    /// (users) are pushed on `work`; the new nodes themselves are pushed by the engine afterwards,
    /// so they come first.
    fn replace(
        &mut self,
        old: Self::Id,
        new: Self::Id,
        work: &mut Work<'_, Self::Id>,
    ) -> Result<(), RunError<Self::Error>>;

    /// The present state. At most one mark is outstanding.
    fn checkpoint(&mut self) -> Self::Mark;
    /// Returns to a state.
    fn rollback(&mut self, mark: Self::Mark);
}
