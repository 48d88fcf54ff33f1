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

impl PoolName {
    /// What it holds, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Bases => "variables and what is derived of them",
            Self::Terms => "terms of index maps",
            Self::Points => "words for checks point by point",
            Self::Accesses => "accesses",
            Self::Operators => "operators",
            Self::Buffers => "buffers",
            Self::Layouts => "layouts",
            Self::Threads => "threads",
            Self::Queue => "operators that wait",
            Self::Scratch => "parts of an index",
        }
    }
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

lanebook_layout::sentences! { FormError, sink;
    Full { pool, has } => { full(pool, has, sink) };
    Overflow => ("an index, or an extent, is too large");
    Divisor { found } => ("an index is divided by ~", found);
    Stale => ("an access has another number of indices than its buffer has dimensions");
}

fn full(pool: PoolName, has: u32, sink: &mut impl core::fmt::Write) -> core::fmt::Result {
    let sentence = match pool {
        PoolName::Scratch => "an index has more than ~ parts",
        PoolName::Threads => "there are more than ~ threads",
        _ => {
            return lanebook_layout::sentence!(
                sink,
                "the program is too large for inference: more than ~ ~",
                has,
                pool.describe()
            );
        }
    };
    lanebook_layout::sentence!(sink, sentence, has)
}
