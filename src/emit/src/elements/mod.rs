//! Parallel loops: each thread's iterations one after the other, elements by their own addresses.
//!
//! Which iteration a thread executes in a slot of its work is the inverse of the loop's layout; a
//! lane that has none there is kept out by a guard. Neighbouring slots make a chunk: what lies next
//! to each other in memory is moved by one instruction, everything else is done slot by slot.
//! Fragments are a register for each local index.
//!
//! | module | what |
//! | --- | --- |
//! | `forms` | index maps as index expressions |
//! | `slots` | iterations of a slot, and in which threads there is one |
//! | `lookups` | iterations by tables, where no structure inverts a layout |
//! | `nest` | loops and tile operations in place, chunk by chunk |
//! | `body` | operations of a chunk, inner loops unrolled |
//! | `access` | elements of memory: one instruction for several |
//! | `address` | their addresses |
//! | `bounds` | bounds of their memrefs |
//! | `mover` | the instruction that moves them, guards |
//! | `fragment` | elements of fragments |
//! | `storage` | how many registers an element has, or how many elements a register |
//! | `explain` | why elements have no instructions, in words |
//! | `cast` | elements as those of another type |
//! | `reduce` | reductions of fragments: the threads of their rows and shared memory for these, what combines elements |
//! | `outside` | values and branches outside of parallel loops |
//! | `swizzle` | shared tiles under the swizzles that were found for them |
//! | `product` | products of fragments and shared tiles |
//! | `unit_products` | those of a group of warps, whose unit reads shared tiles by itself |
//! | `sums` | where these add up |

mod access;
mod address;
mod body;
mod bounds;
mod cast;
mod element_copy_atom;
mod explain;
mod forms;
mod fragment;
mod lookups;
mod nest;
mod outside;
mod product;
mod reduce;
mod slots;
mod storage;
mod sums;
mod swizzle;
mod unit_products;

pub use address::{ElementSpot, KnownAddress};
pub(crate) use forms::KnownQuotient;
pub use nest::ElementLists;
pub use reduce::rows::reserve_reductions;
pub use slots::{KNOWN, LANES, WRITTEN, WorkSlot};
pub use swizzle::place_swizzled;

use lanebook_ir::Op;

use crate::lower::context::EmitError;
use lanebook_infer::FormError;
use lanebook_loops::Told;

/// Why elements of a loop have no instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum ElementReason {
    /// An index map cannot be computed, or lent memory is full.
    Form = 1,
    /// The loop's layout does not tell the iteration of a thread and slot.
    Inverse = 2,
    /// A place in a fragment depends on the thread or on a loop's counter: one of too many, or a
    /// reduction's row.
    LocalIndex = 3,
    /// A subscript depends on data.
    Subscript = 4,
    /// Elements that are no 8, 16, 32 or 64 bits, that no instruction moves alone, or reductions and
    /// numbers of 64 bits.
    Element = 5,
    /// A condition that is neither an index nor a truth of elements, or a branch with results.
    Condition = 6,
    /// An inner loop whose bounds are no numbers, or that turns too often.
    InnerLoop = 7,
    /// An operation that has no meaning for elements, or no instruction.
    Operation = 8,
    /// A fragment with more elements a thread than one list of registers has.
    Fragment = 9,
    /// A view with elements of another width, of which not every one lies in a part of one
    /// register, or which a product, a reduction or a place that is chosen at run time touches.
    View = 10,
    /// More values, loops or conditions in one body than there is room for.
    Room = 11,
    /// The layouts are none of this function's.
    Foreign = 12,
    /// An index that may be below zero is divided, or strides that the program does not say.
    Sign = 13,
    /// A reduction of other buffers than fragments, into other threads than hold its rows, of rows
    /// without an element, or of some threads whose first is amid a row.
    Reduction = 14,
    /// A product in place whose instruction does not take its operands where they lie: one of
    /// several warps, or fragments that lie elsewhere than it wants them.
    Product = 15,
    /// Several threads execute an iteration, which changes an element in memory that it reads, and
    /// a fragment.
    Copies = 17,
    /// A reduction of rows that no exchange combines, of more than 1024 elements.
    Rows = 18,
    /// A reduction of which a thread has more results than are served.
    Results = 19,
    /// An index that may be below zero is taken without its sign.
    Unsigned = 20,
}

/// An error about elements.
pub(crate) const fn refused(op: Op, why: ElementReason) -> EmitError {
    EmitError::Element { op, why }
}

/// An error of the algebra of index maps.
pub(crate) fn of_form(op: Op) -> impl Fn(FormError) -> EmitError {
    move |_| refused(op, ElementReason::Form)
}

/// Where a function's loops come from. What compiles functions without any is compiled by itself,
/// so that its stack is none the deeper.
#[doc(hidden)]
pub trait LoopSource<'f> {
    /// The function that was told, if it is one of loops.
    fn told(&mut self) -> Option<&mut Told<'f>>;
}

/// Of functions without loops.
#[doc(hidden)]
#[derive(Copy, Clone, Debug)]
pub struct NoLoops;

impl<'f> LoopSource<'f> for NoLoops {
    #[inline(always)]
    fn told(&mut self) -> Option<&mut Told<'f>> {
        None
    }
}

impl<'f> LoopSource<'f> for Told<'f> {
    #[inline(always)]
    fn told(&mut self) -> Option<&mut Self> {
        Some(self)
    }
}
