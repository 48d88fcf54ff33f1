//! The one door from a wish to the atoms that grant it: for each architecture a perfect hash from
//! capabilities to atoms.
//!
//! The table compiler asks each atom of an architecture what it can do and files it under every
//! such [`Capability`]; the engine asks [`Arch::dispatch`] and never walks over an architecture's
//! atoms. The hash is phf's (buckets, displacements) over an integer hash of our own, looked up
//! with checked access: nothing here can panic.
use crate::hash::{Divisor, Hashes, finish, mix};
use crate::{
    AccessId, Arch, ArchAtom, AtomId, AtomicOp, ClassId, DtypeId, IndexOp, Isa, OpWord, Space,
};

/// What can be asked of an architecture. Unless it says otherwise the answer holds atoms that are
/// one machine instruction, those that issue soonest first, and otherwise in the order of the
/// tables.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Capability {
    /// Moves tile elements between two spaces. Those that move the most bytes a lane stand first.
    Transfer {
        /// Source.
        from: Space,
        /// Destination.
        to: Space,
    },
    /// Stores from the upper halves of registers what another atom stores from their lower ones, with
    /// the same addresses.
    StoreUpper {
        /// The one that stores from lower halves.
        lower: AtomId,
    },
    /// Combines registers of elements with global memory, each element in one step. Those that take
    /// the most bytes a lane stand first.
    Atomic {
        /// How.
        op: AtomicOp,
        /// Elements.
        dtype: DtypeId,
        /// Whether it answers what stood there before.
        answers: bool,
    },
    /// Multiplies matrices of these elements, dense or scaled, by one instruction or by what the
    /// assembler makes of it ([`ArchAtom::native`] tells which), in the order of the tables.
    Product {
        /// Elements of A.
        a: DtypeId,
        /// Elements of B.
        b: DtypeId,
        /// Elements of C.
        c: DtypeId,
        /// Elements of D.
        d: DtypeId,
    },
    /// Multiplies matrices to elements of this type, in the order of the tables.
    ProductInto(DtypeId),
    /// A dense product one of whose operands has elements of so many bits, in the order of the
    /// tables.
    ProductOf {
        /// Which operand.
        operand: Factor,
        /// Bits of an element.
        bits: u16,
    },
    /// A dense product of `m` x `n` results a wave (0 x 0: of any), by one wave or by a group of
    /// them together, native or not, in the order of the tables.
    ProductTile {
        /// Rows of one wave.
        m: u16,
        /// Columns.
        n: u16,
        /// Several waves work together.
        group: bool,
    },
    /// A product whose operands have scales by blocks, native or not, in the order of the tables.
    ScaledProduct,
    /// A product of elements of these types by instructions of one lane each, native or not: for
    /// where no matrix unit has one.
    LaneProduct {
        /// Of A.
        a: DtypeId,
        /// Of B.
        b: DtypeId,
        /// Of C.
        c: DtypeId,
        /// Of D.
        d: DtypeId,
    },
    /// A product that reads an operand from shared memory by a descriptor.
    SharedProduct,
    /// Does an elementwise operation, or a step of one ([`OpWord`]), on registers of elements.
    /// Those that take the most operand registers at once stand first.
    Elementwise {
        /// What.
        word: OpWord,
        /// Operands of the operation.
        arity: u8,
        /// Elements of the operands.
        from: DtypeId,
        /// Elements of the result.
        to: DtypeId,
        /// Which result register's elements, where an operand register has those of several.
        part: u8,
    },
    /// Each lane receives a register of the lane whose number differs from its own in a mask:
    /// shuffles by XOR, DPP, swizzles.
    ShuffleXor,
    /// Each lane receives a register of the lane whose number stands in a register.
    ShuffleIndex,
    /// Makes a register of any bytes of two.
    BytePermute,
    /// Joins two registers to one of a wider class, native or not.
    Join {
        /// The class of the result.
        wide: ClassId,
        /// That of both parts.
        narrow: ClassId,
    },
    /// Takes a register apart into two of a narrower class, native or not.
    Split {
        /// The class of the operand.
        wide: ClassId,
        /// That of both parts.
        narrow: ClassId,
    },
    /// Copies registers, native or not.
    Copy {
        /// Class that is written.
        into: ClassId,
        /// Class that is read.
        from: ClassId,
        /// Registers in the tuple.
        registers: u8,
    },
    /// Puts a number, its operand or its own, into a register, native or not.
    Fill(ClassId),
    /// An operation of addresses on two values, native or not.
    Index {
        /// The operation.
        op: IndexOp,
        /// Class of the result and of the first value.
        class: ClassId,
        /// Class of the first value.
        from: ClassId,
        /// Registers of result and first value.
        registers: u8,
        /// The second value.
        second: Second,
    },
    /// Waits until no more than so many operations that a counter counts are under way: the number
    /// stands in [`crate::Counter::operand`].
    Wait {
        /// Index into [`Arch::counters`].
        counter: u8,
    },
    /// What stands between an access and a later one to the same place, in this order; their
    /// immediates are in the rule of [`Arch::sync_between`].
    Order {
        /// Kind of the earlier access.
        before: AccessId,
        /// Kind of the later access.
        after: AccessId,
    },
}

/// An operand of a product.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Factor {
    /// The left factor.
    A,
    /// The right factor.
    B,
    /// What is added.
    C,
}

/// The second value of an operation of addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Second {
    /// A number in some range: [`crate::Operand::range`] says which.
    Number,
    /// The same, which the instruction extends by zeros.
    ExtendedNumber,
    /// A register of a class, and how many of them.
    Register(ClassId, u8),
    /// The same, which the instruction extends by zeros.
    ExtendedRegister(ClassId, u8),
}

/// A capability as a number: what the perfect hash is over.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityKey(pub u32);

/// Packs fields from the lowest bit up; what does not fit leaves nothing.
struct Pack {
    value: u32,
    at: u32,
    fits: bool,
}

impl Pack {
    const fn new(tag: u32) -> Self {
        Self { value: tag, at: 4, fits: true }
    }
    const fn with(self, field: u32, bits: u32) -> Self {
        let Some(shifted) = field.checked_shl(self.at) else { return Self { fits: false, ..self } };
        let room = 1u32.wrapping_shl(bits);
        Self {
            value: self.value | shifted,
            at: self.at.saturating_add(bits),
            fits: self.fits && field < room && self.at.saturating_add(bits) <= 32,
        }
    }
    const fn dtype(self, id: DtypeId) -> Self {
        self.with(id.0 as u32, 6)
    }
    const fn class(self, id: ClassId) -> Self {
        self.with(id.0 as u32, 5)
    }
    const fn done(self) -> Option<CapabilityKey> {
        if self.fits { Some(CapabilityKey(self.value)) } else { None }
    }
}

impl Capability {
    /// The capability's number; `None` if a field is greater than any table's.
    #[must_use]
    pub const fn key(self) -> Option<CapabilityKey> {
        let packed = match self {
            Self::Transfer { from, to } => Pack::new(0).with(from as u32, 2).with(to as u32, 2),
            // Behind what a transfer says.
            Self::Atomic { op, dtype, answers } => Pack::new(0)
                .with(0, 4)
                .with(1, 1)
                .with(op as u32, 3)
                .dtype(dtype)
                .with(answers as u32, 1),
            Self::Product { a, b, c, d } => Pack::new(1).dtype(a).dtype(b).dtype(c).dtype(d),
            Self::ProductInto(d) => Pack::new(2).dtype(d),
            Self::ProductOf { operand, bits } => {
                Pack::new(3).with(operand as u32, 2).with(bits as u32, 10)
            }
            Self::ProductTile { m, n, group } => {
                Pack::new(4).with(m as u32, 10).with(n as u32, 10).with(group as u32, 1)
            }
            // Behind what a product of matrices says.
            Self::LaneProduct { a, b, c, d } => {
                Pack::new(1).dtype(a).dtype(b).dtype(c).dtype(d).with(1, 1)
            }
            Self::ScaledProduct => Pack::new(5),
            Self::SharedProduct => Pack::new(6),
            Self::Elementwise { word, arity, from, to, part } => {
                let word = match word {
                    OpWord::Op(id) => id.0 as u32,
                    OpWord::ShuffleXor => 507,
                    OpWord::ShuffleIndex => 508,
                    OpWord::BytePermute => 509,
                    OpWord::ConcatRegs => 510,
                    OpWord::SplitRegs => 511,
                };
                Pack::new(7)
                    .with(word, 9)
                    .with(arity as u32, 3)
                    .dtype(from)
                    .dtype(to)
                    .with(part as u32, 4)
            }
            Self::ShuffleXor => Pack::new(8),
            // Behind what shuffles say.
            Self::StoreUpper { lower } => Pack::new(8).with(1, 1).with(lower.0 as u32, 16),
            Self::ShuffleIndex => Pack::new(9),
            Self::BytePermute => Pack::new(10),
            Self::Join { wide, narrow } => Pack::new(11).class(wide).class(narrow),
            Self::Split { wide, narrow } => Pack::new(12).class(wide).class(narrow),
            Self::Copy { into, from, registers } => {
                Pack::new(13).class(into).class(from).with(registers as u32, 6)
            }
            Self::Fill(class) => Pack::new(14).class(class),
            Self::Index { op, class, from, registers, second } => {
                let packed = Pack::new(15)
                    .with(op as u32, 4)
                    .class(class)
                    .class(from)
                    .with(registers as u32, 3);
                match second {
                    Second::Number => packed,
                    Second::ExtendedNumber => packed.with(1, 2),
                    Second::Register(class, registers) => {
                        packed.with(2, 2).class(class).with(registers as u32, 3)
                    }
                    Second::ExtendedRegister(class, registers) => {
                        packed.with(3, 2).class(class).with(registers as u32, 3)
                    }
                }
            }
            // Behind what scaled products say, and what products of shared memory do.
            Self::Wait { counter } => Pack::new(5).with(1, 1).with(counter as u32, 8),
            Self::Order { before, after } => {
                Pack::new(6).with(1, 1).with(before.0 as u32, 12).with(after.0 as u32, 12)
            }
        };
        packed.done()
    }
}

/// A perfect hash from capabilities to lists of atoms.
#[derive(Copy, Clone, Debug)]
pub struct Dispatch<'a> {
    /// Seed of the hash.
    pub seed: u64,
    /// Displacements by bucket.
    pub displacements: &'a [(u16, u16)],
    /// The capability in each slot.
    pub keys: &'a [u32],
    /// Where each slot's atoms begin in `atoms`; one more for the end.
    pub begins: &'a [u16],
    /// Lists of atoms, one after the other.
    pub atoms: &'a [AtomId],
    /// By the number of displacements.
    pub buckets: Divisor,
    /// By the number of slots.
    pub slots: Divisor,
}

/// The hash of a capability's number.
#[must_use]
#[inline]
pub const fn capability_hash(key: u32, seed: u64) -> Hashes {
    finish(mix(key as u64 ^ seed))
}

impl<'a> Dispatch<'a> {
    /// Answers nothing.
    pub const EMPTY: Dispatch<'static> = Dispatch {
        seed: 0,
        displacements: &[],
        keys: &[],
        begins: &[],
        atoms: &[],
        buckets: Divisor::by(0),
        slots: Divisor::by(0),
    };

    /// The atoms under a capability.
    #[must_use]
    #[inline]
    pub fn get(&self, wanted: Capability) -> &'a [AtomId] {
        wanted.key().and_then(|key| self.find(key)).unwrap_or(&[])
    }

    fn find(&self, key: CapabilityKey) -> Option<&'a [AtomId]> {
        let slot =
            capability_hash(key.0, self.seed).slot(self.displacements, self.buckets, self.slots)?;
        if *self.keys.get(slot)? != key.0 {
            return None;
        }
        let begin = usize::from(*self.begins.get(slot)?);
        let end = usize::from(*self.begins.get(slot.checked_add(1)?)?);
        self.atoms.get(begin..end)
    }
}

impl<'a> Arch<'a> {
    /// The atoms of the architecture that can do something, the first choice first; none if it
    /// cannot.
    #[must_use]
    #[inline]
    pub fn dispatch(&self, wanted: Capability) -> &'a [AtomId] {
        self.dispatch.get(wanted)
    }

    /// What the architecture says of an atom; `None` if it does not have it.
    #[must_use]
    pub fn own(&self, atom: AtomId) -> Option<ArchAtom> {
        let at = self.atoms.binary_search_by_key(&atom, |have| have.atom).ok()?;
        self.atoms.get(at).copied()
    }
}

impl<'a> Isa<'a> {
    /// The same for all that speak the instruction set's language, for text that is written for
    /// "some" machine: transfers and tiles of products.
    #[must_use]
    pub fn dispatch(&self, wanted: Capability) -> &'a [AtomId] {
        self.dispatch.get(wanted)
    }
}
