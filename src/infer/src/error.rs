//! Why an index map could not be computed.

/// A pool that the caller lends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PoolName {
    /// Variables and what is derived of them.
    Bases,
    /// Terms of index maps.
    Terms,
    /// Words for checks that go point by point.
    Points,
    /// Accesses of operators.
    Accesses,
    /// Operators.
    Operators,
    /// Buffers.
    Buffers,
    /// Layouts.
    Layouts,
    /// Threads of a block.
    Threads,
    /// The queue of operators.
    Queue,
    /// Terms of one index map in hand, bases under one map, or outputs solved for at once.
    Scratch,
}

/// An index map that cannot be computed. Everything lent is as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FormError {
    /// A lent pool is full.
    Full {
        /// Which.
        pool: PoolName,
        /// How many entries it has.
        has: u32,
    },
    /// A number leaves 63 bits, or an extent 32.
    Overflow,
    /// Division by a number that is not positive.
    Divisor {
        /// The number.
        found: i64,
    },
    /// A handle that is none of this arena.
    Stale,
}

/// The result of this crate's algebra.
pub type FormResult<T> = core::result::Result<T, FormError>;
