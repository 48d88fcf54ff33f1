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
///
/// ```
/// use lanebook::rewrite::{Bound, Graph, RunError, Terms, TileMake, View, Work};
/// use lanebook::tables::{IndexOp, Word};
///
/// // Sums of constants, the smallest graph: rules see nodes, ask of them, and make new ones.
/// #[derive(Default)]
/// struct Sums(Vec<Option<(u16, u16)>>, Vec<u64>);
///
/// impl Terms for Sums {
///     type Id = u16;
///     fn view(&self, id: u16) -> View {
///         match self.0[usize::from(id)] {
///             Some(_) => View::Index(IndexOp::Add),
///             None => View::Const { value: self.1[usize::from(id)], width: 32 },
///         }
///     }
///     fn arity(&self, id: u16) -> u8 {
///         if self.0[usize::from(id)].is_some() { 2 } else { 0 }
///     }
///     fn operand(&self, id: u16, number: u8) -> Option<u16> {
///         self.0[usize::from(id)].map(|(a, b)| if number == 0 { a } else { b })
///     }
///     fn holds(&self, _: Word, _: &[Bound<u16>]) -> bool {
///         false
///     }
/// }
///
/// impl Graph for Sums {
///     type Error = u32;
///     type Mark = usize;
///     fn refresh(&mut self, id: u16) -> Result<Option<u16>, u32> {
///         Ok(Some(id))
///     }
///     fn settle(&mut self, _: u16) {}
///     fn make_const(&mut self, value: u64, _: u8) -> Result<u16, u32> {
///         self.0.push(None);
///         self.1.push(value);
///         Ok(self.0.len() as u16 - 1)
///     }
///     fn make_index(&mut self, _: IndexOp, args: &[u16]) -> Result<u16, u32> {
///         self.0.push(Some((args[0], args[1])));
///         self.1.push(0);
///         Ok(self.0.len() as u16 - 1)
///     }
///     fn make_tile(&mut self, _: TileMake<u16>, _: &[u16], _: u16) -> Result<u16, u32> {
///         Err(0)
///     }
///     fn replace(&mut self, old: u16, new: u16, _: &mut Work<'_, u16>) -> Result<(), RunError<u32>> {
///         for place in self.0.iter_mut().flatten() {
///             for operand in [&mut place.0, &mut place.1] {
///                 if *operand == old {
///                     *operand = new;
///                 }
///             }
///         }
///         Ok(())
///     }
///     fn checkpoint(&mut self) -> usize {
///         self.0.len()
///     }
///     fn rollback(&mut self, mark: usize) {
///         self.0.truncate(mark);
///         self.1.truncate(mark);
///     }
/// }
///
/// let mut sums = Sums::default();
/// let (one, two) = (sums.make_const(1, 32).unwrap(), sums.make_const(2, 32).unwrap());
/// let sum = sums.make_index(IndexOp::Add, &[one, two]).unwrap();
/// assert_eq!((sums.view(sum), sums.arity(sum), sums.operand(sum, 1)), (View::Index(IndexOp::Add), 2, Some(two)));
/// ```
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
