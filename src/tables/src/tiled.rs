//! Copies that one thread starts and a unit carries out: of boxes of a tensor, through a tensor
//! map; and the objects in shared memory that such work completes on.
use crate::{AccessId, AtomId, FeatureId, SourceId, Status, SyncStep};

/// A copy of a box of a tensor between global and shared memory.
///
/// Operands of its atom are numbers in the atom's list.
#[derive(Copy, Clone, Debug)]
pub struct TiledMove<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// The instruction.
    pub atom: AtomId,
    /// Name of the [`crate::TensorMap`] whose rules hold.
    pub map: &'a str,
    /// From global to shared memory (`true`), or back.
    pub loads: bool,
    /// Kind of the access that reads.
    pub from: AccessId,
    /// Kind of the access that writes.
    pub to: AccessId,
    /// Operand: the predicate of the one thread that starts the copy.
    pub on: u8,
    /// Operand: the tile's address in shared memory.
    pub shared: u8,
    /// Operand: the tensor map's address.
    pub tensor: u8,
    /// Operands: coordinates of the box's first element, innermost dimension first. As many as the
    /// map has dimensions.
    pub at: &'a [u8],
    /// Operand: the address of the mbarrier, which counts the copied bytes down; `None`
    /// where it completes otherwise.
    pub signal: Option<u8>,
    /// What stands between the copy and the end of the kernel, where nothing of that was needed
    /// before.
    pub last: &'a [SyncStep<'a>],
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// An object in shared memory that work of units completes on: a count of arrivals and of bytes,
/// and a phase that flips when both are done.
#[derive(Copy, Clone, Debug)]
pub struct Mbarrier<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// Its size in bytes, and its alignment.
    pub bytes: u16,
    /// Makes one: operands (predicate, address, number of arrivals in a phase).
    pub init: AtomId,
    /// What stands after all of them were made and before their first use.
    pub publish: &'a [SyncStep<'a>],
    /// Arrives once and announces bytes: operands (predicate, address, bytes).
    pub expect: AtomId,
    /// Waits until the phase with a parity is over: operands (address, parity). The first phase has
    /// parity 0.
    pub wait: AtomId,
    /// The kind of access that a wait is to the object.
    pub waits: AccessId,
    /// The kind of access that an announcement is.
    pub announces: AccessId,
    /// Most bytes that a phase can count.
    pub most_bytes: u32,
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}

/// Warps of a block that only start copies, and hand their tiles over to the others by completion
/// objects: what they take for that, beside [`Mbarrier`].
///
/// ```
/// use lanebook_tables::WarpSpecialization;
///
/// fn at_launch(s: &WarpSpecialization<'_>, threads: u32) -> u32 {
///     // What a lane may have when the block begins, before registers are given up and taken.
///     (s.file / threads).next_multiple_of(u32::from(s.registers.2))
/// }
/// # let _ = at_launch;
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WarpSpecialization<'a> {
    /// Its name.
    pub name: &'a str,
    /// The feature it belongs to.
    pub feature: FeatureId,
    /// Threads that give up or take registers together: so many are set aside.
    pub threads: u16,
    /// What some of a block's threads meet at: immediates (number, threads).
    pub barrier: AtomId,
    /// The number of that barrier: not that of one which all threads meet at.
    pub number: u8,
    /// Arrives at an mbarrier: operand (address).
    pub arrive: AtomId,
    /// Changes how many registers a thread has: immediates (registers from then on, 0 where some are
    /// given up and 1 where some are taken, when there are so many).
    pub resize: AtomId,
    /// Fewest and most registers of a thread that these may leave, and of what they are multiples.
    pub registers: (u16, u16, u16),
    /// Says how many registers a thread has when the block begins, in front of the number.
    pub directive: &'a str,
    /// Registers that the threads of a block have together at most.
    pub file: u32,
    /// How sure this is.
    pub status: Status,
    /// Where it comes from.
    pub sources: &'a [SourceId],
}
