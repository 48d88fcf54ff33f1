//! Bases and terms in lent memory, and who owns what.

use crate::error::{FormError, FormResult, PoolName};
use crate::pool::LentStack;

/// How many terms one index map can have while it is worked on.
pub const MAX_TERMS: usize = 32;

/// Terms of an index map in hand.
pub(crate) type DigitTerms = heapless::Vec<DigitTerm, MAX_TERMS>;

/// A variable, or a value derived of others: what digits are taken of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct BaseId(pub(crate) u16);

impl BaseId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A digit of a base: `(base / unit) % extent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BaseDigit {
    /// Whose digit.
    pub base: BaseId,
    /// What is divided by.
    pub unit: u32,
    /// How many values it has; for the highest digit of a base a bound on them.
    pub extent: u32,
}

/// A digit times a stride.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DigitTerm {
    /// What a step is worth.
    pub stride: i64,
    /// The digit.
    pub digit: BaseDigit,
}

impl DigitTerm {
    /// What a lent term may hold before it is used.
    pub const EMPTY: Self =
        Self { stride: 0, digit: BaseDigit { base: BaseId(0), unit: 0, extent: 0 } };
}

/// An index map: a sum of digits times strides, and a constant. A handle: its terms lie in the
/// [`FormArena`]. In canonical form the digits of each base are apart, in order, and as long as
/// possible, so that equal sums of plain digits are equal term by term.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IndexForm {
    pub(crate) start: u32,
    pub(crate) len: u16,
    /// What is added.
    pub constant: i64,
}

impl IndexForm {
    /// The constant map.
    #[must_use]
    pub const fn constant(value: i64) -> Self {
        Self { start: 0, len: 0, constant: value }
    }

    /// Whether it is the same at every point.
    #[must_use]
    pub const fn is_constant(&self) -> bool {
        self.len == 0
    }
}

/// An operation between index maps that no sum of digits says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)] // From 0 on: memory of zeros may be lent.
pub enum FormOp {
    /// Product.
    Mul,
    /// Quotient, toward minus infinity; 0 where the divisor is 0.
    Div,
    /// Remainder of [`FormOp::Div`].
    Rem,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// Bits of both.
    And,
    /// Bits of either.
    Or,
    /// Bits of just one.
    Xor,
    /// 1 where less, else 0.
    Less,
    /// 1 where equal, else 0.
    Equal,
}

impl FormOp {
    /// The operation on numbers.
    pub fn apply(self, a: i64, b: i64) -> FormResult<i64> {
        match self {
            Self::Mul => a.checked_mul(b).ok_or(FormError::Overflow),
            Self::Div if b == 0 => Ok(0),
            Self::Div => floor_div(a, b),
            Self::Rem if b == 0 => Ok(0),
            Self::Rem => {
                let q = floor_div(a, b)?;
                q.checked_mul(b).and_then(|m| a.checked_sub(m)).ok_or(FormError::Overflow)
            }
            Self::Min => Ok(a.min(b)),
            Self::Max => Ok(a.max(b)),
            Self::And => Ok(a & b),
            Self::Or => Ok(a | b),
            Self::Xor => Ok(a ^ b),
            Self::Less => Ok(i64::from(a < b)),
            Self::Equal => Ok(i64::from(a == b)),
        }
    }
}

/// `a / b` toward minus infinity.
pub(crate) fn floor_div(a: i64, b: i64) -> FormResult<i64> {
    let q = a.checked_div(b).ok_or(FormError::Overflow)?;
    let exact = q.checked_mul(b) == Some(a);
    if !exact && ((a < 0) != (b < 0)) {
        return q.checked_sub(1).ok_or(FormError::Overflow);
    }
    Ok(q)
}

/// What a variable stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)] // From 0 on: memory of zeros may be lent.
pub enum VarRole {
    /// A variable of a parallel loop.
    Loop,
    /// A serial loop inside a parallel one.
    Inner,
    /// A serial loop around operators.
    Outer,
    /// A dimension of a buffer.
    Dim,
    /// The number of a copy.
    Copy,
    /// An output that is solved for: a thread, a local index.
    Output,
}

/// What digits are taken of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)] // From 0 on: memory of zeros may be lent.
pub enum FormBase {
    /// A variable from 0 to `extent - 1`.
    Var {
        /// How many values it has.
        extent: u32,
        /// What it stands for.
        role: VarRole,
    },
    /// A sum of digits that is divided as a whole, because no division splits it: `14 * i + j`.
    /// Its values lie from `min` to `extent - 1`.
    Sum {
        /// The sum.
        form: IndexForm,
        /// The least value.
        min: u32,
        /// A bound of the values.
        extent: u32,
    },
    /// 1 where an odd number of these digits, of two values each, is 1.
    Parity {
        /// The digits, each with stride 1.
        form: IndexForm,
    },
    /// `op(a, b) - min`.
    Op {
        /// The operation.
        op: FormOp,
        /// Its first operand.
        a: IndexForm,
        /// Its second.
        b: IndexForm,
        /// The least value of it.
        min: i64,
        /// How many values it may have.
        extent: u32,
    },
}

impl FormBase {
    /// A bound of the values, all from 0 on.
    #[must_use]
    pub const fn extent(&self) -> u32 {
        match self {
            Self::Var { extent, .. } | Self::Sum { extent, .. } | Self::Op { extent, .. } => {
                *extent
            }
            Self::Parity { .. } => 2,
        }
    }

    /// The least value.
    pub(crate) const fn min(&self) -> u32 {
        match self {
            Self::Sum { min, .. } => *min,
            _ => 0,
        }
    }
}

impl FormBase {
    const ONE: Self = Self::Var { extent: 1, role: VarRole::Loop };
}

impl Default for FormBase {
    fn default() -> Self {
        Self::ONE
    }
}

/// A base with its place in the chain of its hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct BaseEntry {
    base: FormBase,
    next: u16,
    bucket: u16,
}

impl BaseEntry {
    /// What a lent entry may hold before it is used; bytes of 0 may stand there as well.
    pub const EMPTY: Self = Self { base: FormBase::ONE, next: 0, bucket: 0 };
}

/// No base: the end of a chain.
const END: u16 = u16::MAX;

/// The memory of an arena, lent.
#[derive(Debug)]
pub struct ArenaParts<'a> {
    /// Bases; at most 65,535 are used.
    pub bases: &'a mut [BaseEntry],
    /// Terms.
    pub terms: &'a mut [DigitTerm],
    /// Heads of hash chains; a power of two.
    pub buckets: &'a mut [u16],
}

/// Bases, each once, and the terms of index maps.
///
/// ```
/// use lanebook_infer::{ArenaParts, BaseEntry, DigitTerm, FormArena};
///
/// let (mut bases, mut terms, mut buckets) = (vec![BaseEntry::EMPTY; 64], vec![DigitTerm::EMPTY; 512], vec![0; 64]);
/// let parts = ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets };
/// let _arena = FormArena::new(parts);
/// ```
#[derive(Debug)]
pub struct FormArena<'a> {
    bases: LentStack<'a, BaseEntry>,
    pub(crate) terms: LentStack<'a, DigitTerm>,
    buckets: &'a mut [u16],
}

/// How full an arena was.
#[derive(Clone, Copy, Debug)]
pub struct ArenaMark {
    bases: usize,
    terms: usize,
}

impl<'a> FormArena<'a> {
    /// An empty arena in lent memory.
    pub fn new(parts: ArenaParts<'a>) -> Self {
        parts.buckets.fill(END);
        Self {
            bases: LentStack::new(parts.bases, PoolName::Bases),
            terms: LentStack::new(parts.terms, PoolName::Terms),
            buckets: parts.buckets,
        }
    }

    /// How full it is.
    #[doc(hidden)]
    #[must_use]
    pub fn mark(&self) -> ArenaMark {
        ArenaMark { bases: self.bases.len(), terms: self.terms.len() }
    }

    /// Gives back all that came after `mark`.
    #[doc(hidden)]
    pub fn release(&mut self, mark: ArenaMark) {
        for entry in self.bases.as_slice().get(mark.bases..).unwrap_or(&[]).iter().rev() {
            if let Some(head) = self.buckets.get_mut(usize::from(entry.bucket)) {
                *head = entry.next;
            }
        }
        self.bases.truncate(mark.bases);
        self.terms.truncate(mark.terms);
    }

    /// How many bases and terms are used.
    #[doc(hidden)]
    #[must_use]
    pub fn used(&self) -> (usize, usize) {
        (self.bases.len(), self.terms.len())
    }

    /// A base.
    #[doc(hidden)]
    pub fn base(&self, id: BaseId) -> FormResult<FormBase> {
        self.bases.get(id.index()).map(|e| e.base).ok_or(FormError::Stale)
    }

    /// A bound of a base's values.
    #[doc(hidden)]
    pub fn extent(&self, id: BaseId) -> FormResult<u32> {
        self.base(id).map(|b| b.extent())
    }

    /// A new variable from 0 to `extent - 1`.
    pub fn var(&mut self, extent: u32, role: VarRole) -> FormResult<BaseId> {
        self.push(FormBase::Var { extent: extent.max(1), role }, END)
    }

    fn push(&mut self, base: FormBase, bucket: u16) -> FormResult<BaseId> {
        let full = self.bases.full();
        let next = self.buckets.get(usize::from(bucket)).copied().unwrap_or(END);
        let at = self.bases.push(BaseEntry { base, next, bucket })?;
        let id = u16::try_from(at).ok().filter(|id| *id != END).ok_or(full)?;
        if let Some(head) = self.buckets.get_mut(usize::from(bucket)) {
            *head = id;
        }
        Ok(BaseId(id))
    }

    /// The base that is derived so, made once.
    pub(crate) fn intern(&mut self, base: FormBase) -> FormResult<BaseId> {
        let mut hash = Hash::new();
        match base {
            FormBase::Sum { form, .. } => self.hash_form(&mut hash, 1, form),
            FormBase::Parity { form } => self.hash_form(&mut hash, 2, form),
            FormBase::Op { op, a, b, .. } => {
                hash.add(op as u64);
                self.hash_form(&mut hash, 3, a);
                self.hash_form(&mut hash, 4, b);
            }
            FormBase::Var { .. } => {}
        }
        let mask = self.buckets.len().saturating_sub(1);
        let bucket = usize::try_from(hash.finish() >> 20).unwrap_or(0) & mask;
        let mut at = self.buckets.get(bucket).copied().unwrap_or(END);
        while at != END {
            let Some(entry) = self.bases.get(usize::from(at)) else { break };
            if self.same_base(&entry.base, &base) {
                return Ok(BaseId(at));
            }
            at = entry.next;
        }
        self.push(base, u16::try_from(bucket).unwrap_or(END))
    }

    fn hash_form(&self, hash: &mut Hash, tag: u64, form: IndexForm) {
        hash.add(tag);
        hash.add(form.constant.cast_unsigned());
        for t in self.terms_of(form) {
            hash.add(t.stride.cast_unsigned());
            hash.add(u64::from(t.digit.base.0));
            hash.add(u64::from(t.digit.unit) << 32 | u64::from(t.digit.extent));
        }
    }

    fn same_base(&self, a: &FormBase, b: &FormBase) -> bool {
        match (a, b) {
            (FormBase::Sum { form: x, .. }, FormBase::Sum { form: y, .. })
            | (FormBase::Parity { form: x }, FormBase::Parity { form: y }) => self.same(*x, *y),
            (FormBase::Op { op: p, a: x, b: z, .. }, FormBase::Op { op: q, a: y, b: w, .. }) => {
                p == q && self.same(*x, *y) && self.same(*z, *w)
            }
            _ => false,
        }
    }

    /// Whether two maps have the same terms. Maps that differ so may still be equal, if they take
    /// digits of sums.
    #[doc(hidden)]
    #[must_use]
    pub fn same(&self, a: IndexForm, b: IndexForm) -> bool {
        a.constant == b.constant && self.terms_of(a) == self.terms_of(b)
    }

    /// The terms of a map.
    #[doc(hidden)]
    #[must_use]
    pub fn terms_of(&self, form: IndexForm) -> &[DigitTerm] {
        self.terms.range(usize::try_from(form.start).unwrap_or(usize::MAX), usize::from(form.len))
    }

    /// A term of a map, for walks that store further maps meanwhile.
    pub(crate) fn term(&self, form: IndexForm, k: u16) -> Option<DigitTerm> {
        self.terms_of(form).get(usize::from(k)).copied()
    }

    /// Stores a map.
    pub(crate) fn store(&mut self, terms: &[DigitTerm], constant: i64) -> FormResult<IndexForm> {
        if terms.is_empty() {
            return Ok(IndexForm::constant(constant));
        }
        let start = u32::try_from(self.terms.len()).map_err(|_| self.terms.full())?;
        for t in terms {
            self.terms.push(*t)?;
        }
        let len = u16::try_from(terms.len()).map_err(|_| too_many())?;
        Ok(IndexForm { start, len, constant })
    }
}

/// More terms than a map in hand can have.
pub(crate) fn too_many() -> FormError {
    FormError::Full { pool: PoolName::Scratch, has: MAX_TERMS as u32 }
}

/// An integer hash of a few words.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }

    fn finish(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}
