//! Arithmetic on indices as it stands in a program: what an operation computes, between which
//! numbers a value lies and what it is a multiple of, and by how much a loop moves it.
//!
//! Indices have 32 bits in two's complement. Facts hold of every value that an index can have where
//! whoever starts the kernel keeps to what the contract asks of him. Nothing recurses: a value that
//! is computed by more operations than there is room for counts as unknown.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::handle::{Op, Value};
use crate::program::{Def, Loop, Program};
use crate::types::TypeKind;
use heapless::Vec;
use lanebook_tables::{IndexWord, OpRole, RELATIONS};

/// Most values that wait for their operands.
const WAITING: usize = 24;
/// Most values of one expression that are remembered.
const KNOWN: usize = 32;
/// How many blocks lie along each axis at the most, where that is known.
type BlockBounds = [Option<i64>; 3];

/// Most values that a loop moves.
const MOVED: usize = 64;

/// What is known of an index.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IndexFacts {
    /// Its least value.
    pub low: i64,
    /// Its greatest value.
    pub high: i64,
    /// It is a multiple of this; 0 where it is 0.
    pub multiple: u32,
}

impl IndexFacts {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { low: i32::MIN as i64, high: i32::MAX as i64, multiple: 1 };

    const fn number(value: i64) -> Self {
        // Above 2^31 there are numbers without signs only.
        Self { low: value, high: value, multiple: value.unsigned_abs() as u32 }
    }

    /// Whether it is certainly not below zero.
    #[must_use]
    pub const fn is_plain(self) -> bool {
        self.low >= 0
    }

    /// A number that certainly divides it, at least 1.
    #[must_use]
    pub const fn divisor(self) -> u32 {
        if self.multiple == 0 { 1 << 30 } else { self.multiple }
    }

    /// What wraps may be any number, and is a multiple of powers of two alone.
    fn within_32_bits(self, overflow: Overflow) -> Self {
        let Self { low, high, multiple } = self;
        let Self { low: least, high: most, .. } = Self::UNKNOWN;
        if low >= least && high <= most {
            return self;
        }
        if overflow == Overflow::Never {
            let (low, high) = (low.clamp(least, most), high.clamp(least, most));
            return Self { low, high, multiple };
        }
        Self { multiple: multiple & multiple.wrapping_neg(), ..Self::UNKNOWN }
    }

    fn among(values: [Option<i64>; 4], multiple: u32) -> Self {
        let mut out: Option<(i64, i64)> = None;
        for value in values {
            let Some(value) = value else { return Self::UNKNOWN };
            out = Some(out.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
        out.map_or(Self::UNKNOWN, |(low, high)| Self { low, high, multiple })
    }

    fn either(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            multiple: gcd(self.multiple, other.multiple),
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    let (mut a, mut b) = (a, b);
    while let Some(rest) = a.checked_rem(b) {
        (a, b) = (b, rest);
    }
    a
}

/// `a / b` rounded down.
fn floor_div(a: i64, b: i64) -> Option<i64> {
    let (q, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    let is_above = rest != 0 && (rest < 0) != (b < 0);
    q.checked_sub(i64::from(is_above))
}

/// `a / b` rounded up.
pub(crate) fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let (q, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    let is_below = rest != 0 && (rest < 0) == (b < 0);
    q.checked_add(i64::from(is_below))
}

/// By how much a loop moves an index in each turn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum IndexStep {
    /// It stays.
    Fixed,
    /// By this number.
    By(i64),
    /// By so many of the loop's steps, which is no number that the program says.
    Times(i64),
    /// Not by the same in each turn.
    Other,
}

impl IndexStep {
    fn sum(self, other: Self, sign: i64) -> Self {
        let total = |a: i64, b: i64| b.checked_mul(sign).and_then(|b| a.checked_add(b));
        let step = match (self, other) {
            (Self::Fixed, Self::Fixed) => return Self::Fixed,
            (Self::By(a), Self::By(b)) => total(a, b).map(Self::By),
            (Self::Times(a), Self::Times(b)) => total(a, b).map(Self::Times),
            (Self::By(a), Self::Fixed) => Some(Self::By(a)),
            (Self::Times(a), Self::Fixed) => Some(Self::Times(a)),
            (Self::Fixed, Self::By(b)) => total(0, b).map(Self::By),
            (Self::Fixed, Self::Times(b)) => total(0, b).map(Self::Times),
            _ => None,
        };
        match step {
            Some(Self::By(0) | Self::Times(0)) => Self::Fixed,
            Some(step) => step,
            None => Self::Other,
        }
    }

    fn times(self, number: i64) -> Self {
        let step = match self {
            _ if number == 0 => return Self::Fixed,
            Self::Fixed => Some(Self::Fixed),
            Self::By(a) => a.checked_mul(number).map(Self::By),
            Self::Times(a) => a.checked_mul(number).map(Self::Times),
            Self::Other => None,
        };
        step.unwrap_or(Self::Other)
    }

    fn over(self, number: i64) -> Self {
        match self {
            Self::Fixed => Self::Fixed,
            Self::By(a) if a.checked_rem(number) == Some(0) => {
                a.checked_div(number).map_or(Self::Other, Self::By)
            }
            _ => Self::Other,
        }
    }
}

/// What becomes of a number that 32 bits do not hold.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Overflow {
    /// It wraps.
    Wraps,
    /// There is none.
    Never,
}

/// What an index is made of.
#[derive(Copy, Clone)]
enum Made {
    /// Nothing of the program.
    Leaf,
    /// An operation's operands.
    Word(IndexWord, Op),
    /// A loop's bounds and step.
    Counter(Loop),
}

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// What an operation on indices computes.
    #[must_use]
    pub fn index_word(&self, op: Op) -> Option<IndexWord> {
        self.decl(op)?.index
    }

    /// The axis of the grid that an operation asks for, 0 for x.
    #[must_use]
    pub fn grid_axis(&self, op: Op) -> Option<u8> {
        match self.attr(op, attr_names::AXIS).or_else(|| self.attr(op, attr_names::PREFIX))? {
            AttrValue::Int(axis @ 0..=2, _) => u8::try_from(axis).ok(),
            AttrValue::Text(name) => {
                let at = ["x", "y", "z"].iter().position(|axis| *axis == self.text(name))?;
                u8::try_from(at).ok()
            }
            _ => None,
        }
    }

    /// The relation that a comparison asks for: whether signs are left out, whether it holds of a
    /// smaller, an equal and a greater number.
    #[must_use]
    pub fn relation(&self, op: Op) -> Option<(bool, [bool; 3])> {
        let name = self.relation_name(op)?;
        RELATIONS.iter().find(|known| known.0 == name).map(|(_, plain, holds)| (*plain, *holds))
    }

    /// What a comparison calls the relation that it asks for.
    pub(crate) fn relation_name(&self, op: Op) -> Option<&str> {
        match self.attr(op, attr_names::KIND).or_else(|| self.attr(op, attr_names::PREFIX))? {
            AttrValue::Word(name) | AttrValue::Str(name) | AttrValue::Text(name) => {
                Some(self.text(name))
            }
            _ => None,
        }
    }

    fn made(&self, value: Value) -> Made {
        if self.int(value).is_some() {
            return Made::Leaf;
        }
        match self.def(value) {
            Def::Result(op, _) => self.index_word(op).map_or(Made::Leaf, |w| Made::Word(w, op)),
            Def::Argument(block, _) => self
                .owner_of(block)
                .and_then(|owner| self.counted_loop(owner))
                .filter(|at| at.induction == value)
                .map_or(Made::Leaf, Made::Counter),
            _ => Made::Leaf,
        }
    }

    pub(crate) fn leaf_facts(&self, value: Value) -> IndexFacts {
        if let Some(n) = self.int(value) {
            return IndexFacts::number(n);
        }
        match self.def(value) {
            Def::Argument(block, _)
                if self.owner_of(block).is_some_and(|at| self.role(at) == OpRole::Function) =>
            {
                // A number that is no index has its sign.
                let signed = self.value_attr(value, attr_names::SIGNED).is_some()
                    || self.type_of(value).kind == TypeKind::Scalar;
                let div = self.int_value_attr(value, attr_names::DIV).unwrap_or(1);
                IndexFacts {
                    low: if signed { IndexFacts::UNKNOWN.low } else { 0 },
                    multiple: u32::try_from(div).unwrap_or(1).max(1),
                    ..IndexFacts::UNKNOWN
                }
            }
            _ => IndexFacts::UNKNOWN,
        }
    }

    /// Facts of the one element of a tile: of a truth, 1 or 0.
    fn uniform_facts(&self, op: Op) -> IndexFacts {
        let dtype = self.operand(op, 0).and_then(|tile| self.type_of(tile).dtype);
        match dtype.and_then(|dtype| self.tables().dtype(dtype)).map(|dtype| dtype.bits) {
            Some(1) => IndexFacts { low: 0, high: 1, multiple: 1 },
            _ => IndexFacts::UNKNOWN,
        }
    }

    /// How many blocks lie along each axis at the most, by the grid of the function around an
    /// operation.
    #[inline(never)] // Beside what is known of other indices, not on top of it.
    fn block_bounds(&self, op: Op) -> BlockBounds {
        let mut around = core::iter::successors(self.parent(op), |at| self.parent(*at));
        let function = around.find(|at| self.role(*at) == OpRole::Function);
        [0, 1, 2].map(|axis| self.most_blocks(function?, axis))
    }

    /// Facts of where a block is, or of how many there are: the function's grid bounds both.
    fn block_facts(&self, word: IndexWord, op: Op, bounds: &BlockBounds) -> IndexFacts {
        let facts = computed(word, [IndexFacts::UNKNOWN; 3], Overflow::Wraps);
        let axis = self.grid_axis(op).map(usize::from);
        let most = axis.and_then(|axis| bounds.get(axis).copied().flatten());
        let less = i64::from(word == IndexWord::Block);
        let high = most.map_or(facts.high, |most| most.saturating_sub(less).max(facts.low));
        IndexFacts { high: facts.high.min(high), ..facts }
    }

    /// Between which numbers an index lies, and what it is a multiple of.
    #[must_use]
    pub fn index_facts(&self, value: Value) -> IndexFacts {
        self.facts_where(value, Overflow::Wraps)
    }

    /// Whether a subscript of memory may be below zero, as a difference may. What only wraps there
    /// says no place in memory, and nothing is divided by what is not above zero.
    #[must_use]
    pub fn may_be_below_zero(&self, subscript: Value) -> bool {
        !self.facts_where(subscript, Overflow::Never).is_plain()
    }

    #[inline(never)] // What the grid says is no matter of the frame that asks.
    fn facts_where(&self, value: Value, overflow: Overflow) -> IndexFacts {
        match self.facts_within(value, overflow, None) {
            Ok(facts) => facts,
            Err(op) => {
                let bounds = self.block_bounds(op);
                let found = self.facts_within(value, overflow, Some(&bounds));
                found.unwrap_or(IndexFacts::UNKNOWN)
            }
        }
    }

    /// The same by what the grid says; the first operation that asks for a block, where nobody has
    /// looked at the grid.
    #[inline(never)] // Its lists leave the stack before the grid is looked at.
    fn facts_within(
        &self,
        value: Value,
        overflow: Overflow,
        bounds: Option<&BlockBounds>,
    ) -> Result<IndexFacts, Op> {
        let mut waiting: Vec<Value, WAITING> = Vec::new();
        let mut known: Vec<(Value, IndexFacts), KNOWN> = Vec::new();
        let _ = waiting.push(value);
        while let Some(&top) = waiting.last() {
            let made = self.made(top);
            let find = |value: Value| match self.made(value) {
                Made::Leaf => Some(self.leaf_facts(value)),
                _ => known.iter().find(|(v, _)| *v == value).map(|(_, facts)| *facts),
            };
            let mut facts = [IndexFacts::UNKNOWN; 3];
            let mut missing = None;
            let operands = match made {
                Made::Leaf => [None; 3],
                Made::Word(_, op) => {
                    [self.operand(op, 0), self.operand(op, 1), self.operand(op, 2)]
                }
                Made::Counter(at) => [Some(at.lower), Some(at.upper), Some(at.step)],
            };
            for (place, operand) in facts.iter_mut().zip(operands) {
                let Some(operand) = operand else { continue };
                match find(operand) {
                    Some(found) => *place = found,
                    None => missing = missing.or(Some(operand)),
                }
            }
            if let Some(operand) = missing {
                if waiting.push(operand).is_err() {
                    return Ok(IndexFacts::UNKNOWN);
                }
                continue;
            }
            let found = match made {
                Made::Leaf => self.leaf_facts(top),
                Made::Word(IndexWord::Uniform, op) => self.uniform_facts(op),
                Made::Word(word @ (IndexWord::Block | IndexWord::Blocks), op) => {
                    self.block_facts(word, op, bounds.ok_or(op)?)
                }
                Made::Word(word, _) => computed(word, facts, overflow),
                Made::Counter(_) => counter(facts),
            };
            let _ = waiting.pop();
            if waiting.is_empty() {
                return Ok(found);
            }
            if known.push((top, found)).is_err() {
                return Ok(IndexFacts::UNKNOWN);
            }
        }
        Ok(IndexFacts::UNKNOWN)
    }

    /// Whether an index is computed of a tile's element, also by way of loops' bounds; of one that
    /// is computed of more values than are followed it is said that it is.
    #[must_use]
    #[inline(never)]
    pub fn is_of_elements(&self, value: Value) -> bool {
        let mut found: Vec<Value, MOVED> = Vec::new();
        let _ = found.push(value);
        let mut next = 0usize;
        while let Some(&at) = found.get(next) {
            next = next.saturating_add(1);
            let operands = match self.made(at) {
                Made::Word(IndexWord::Uniform, _) => return true,
                Made::Leaf => continue,
                Made::Word(_, op) => {
                    [self.operand(op, 0), self.operand(op, 1), self.operand(op, 2)]
                }
                Made::Counter(at) => [Some(at.lower), Some(at.upper), Some(at.step)],
            };
            for operand in operands.into_iter().flatten() {
                if !found.contains(&operand) && found.push(operand).is_err() {
                    return true;
                }
            }
        }
        false
    }

    /// By how much a loop moves an index in each turn.
    #[must_use]
    #[inline(never)]
    pub fn index_step(&self, value: Value, at: &Loop) -> IndexStep {
        let mut moved: Vec<(Value, IndexStep), MOVED> = Vec::new();
        let own = match self.int(at.step) {
            Some(step) => IndexStep::By(step),
            None => IndexStep::Times(1),
        };
        let _ = moved.push((at.induction, own));
        let find = |moved: &Vec<(Value, IndexStep), MOVED>, value: Value| {
            let known = moved.iter().find(|(v, _)| *v == value).map(|(_, step)| *step);
            known.unwrap_or_else(|| {
                if self.int(value).is_some() || !self.is_made_inside(value, at.op) {
                    IndexStep::Fixed
                } else {
                    IndexStep::Other
                }
            })
        };
        for op in self.inside(at.op) {
            if !moved.is_empty() && find(&moved, value) != IndexStep::Other {
                break;
            }
            let new = match self.role(op) {
                OpRole::Index => {
                    let Some(result) = self.result(op, 0) else { continue };
                    let steps = [0, 1, 2].map(|k| {
                        self.operand(op, k).map_or(IndexStep::Fixed, |value| find(&moved, value))
                    });
                    (result, self.moved_by(op, steps))
                }
                OpRole::For => {
                    let Some(inner) = self.counted_loop(op) else { continue };
                    let stays = find(&moved, inner.lower) == IndexStep::Fixed
                        && find(&moved, inner.step) == IndexStep::Fixed;
                    (inner.induction, if stays { IndexStep::Fixed } else { IndexStep::Other })
                }
                _ => continue,
            };
            if moved.push(new).is_err() {
                break;
            }
        }
        find(&moved, value)
    }

    /// Whether a value is made inside an operation.
    fn is_made_inside(&self, value: Value, around: Op) -> bool {
        let home = match self.def(value) {
            Def::Result(op, _) => self.parent(op),
            Def::Argument(block, _) => self.owner_of(block),
            _ => None,
        };
        core::iter::successors(home, |at| self.parent(*at)).any(|at| at == around)
    }

    /// By how much a result moves, whose operands move so.
    fn moved_by(&self, op: Op, steps: [IndexStep; 3]) -> IndexStep {
        let [a, b, _] = steps;
        if steps.iter().all(|step| *step == IndexStep::Fixed) {
            return IndexStep::Fixed;
        }
        let number = |k: usize| self.operand(op, k).and_then(|value| self.int(value));
        let facts =
            |k: usize| self.operand(op, k).map_or(IndexFacts::UNKNOWN, |v| self.index_facts(v));
        // What may have wrapped does not move evenly where it is divided.
        let is_even = || {
            let facts = facts(0);
            facts.low > IndexFacts::UNKNOWN.low && facts.high < IndexFacts::UNKNOWN.high
        };
        let by = number(1).filter(|by| *by > 0 && b == IndexStep::Fixed);
        match self.index_word(op) {
            Some(IndexWord::Add) => a.sum(b, 1),
            Some(IndexWord::Sub) => a.sum(b, -1),
            Some(IndexWord::Cast) => a,
            Some(IndexWord::Mul) => match (number(0), number(1)) {
                (_, Some(by)) => a.times(by),
                (Some(by), _) => b.times(by),
                _ => IndexStep::Other,
            },
            Some(word @ (IndexWord::Div | IndexWord::CeilDiv | IndexWord::DivUnsigned))
                if is_even() && (word != IndexWord::DivUnsigned || facts(0).is_plain()) =>
            {
                by.map_or(IndexStep::Other, |by| a.over(by))
            }
            Some(IndexWord::Rem) if is_even() => match by.map(|by| a.over(by)) {
                Some(IndexStep::By(_)) => IndexStep::Fixed,
                _ => IndexStep::Other,
            },
            _ => IndexStep::Other,
        }
    }

    /// The block scales of a product: of A over (m, blocks), of B over (n, blocks).
    #[must_use]
    pub fn scales(&self, op: Op) -> Option<[Value; 2]> {
        if self.role(op) != OpRole::Matrix {
            return None;
        }
        let scales = [self.operand(op, 3)?, self.operand(op, 4)?];
        // One in place has conditions behind its tiles.
        let in_place = self.operand(op, 2).is_some_and(|sum| self.type_of(sum).is_memory());
        let apart = scales.iter().any(|value| !self.type_of(*value).is_tile());
        (!(in_place && apart)).then_some(scales)
    }

    /// How many neighbours along a product's depth have one scale.
    #[must_use]
    pub fn scaled_run(&self, op: Op) -> Option<u32> {
        let [scales, _] = self.scales(op)?;
        let factor = self.type_of(self.operand(op, 0)?);
        let pairs = self.tables().dtype(factor.dtype?)?.pair_of.is_some();
        let depth = factor.shape.extent(1)?.checked_mul(if pairs { 2 } else { 1 })?;
        let blocks = self.type_of(scales).shape.extent(1)?;
        (depth.checked_rem(blocks) == Some(0)).then(|| depth.checked_div(blocks))?
    }
}

/// Facts of a loop's counter, from those of its bounds and step.
fn counter([lower, upper, step]: [IndexFacts; 3]) -> IndexFacts {
    IndexFacts {
        low: lower.low,
        high: upper.high.saturating_sub(1).max(lower.low),
        multiple: gcd(lower.multiple, step.multiple),
    }
}

/// Facts of what an operation computes.
fn computed(word: IndexWord, [a, b, c]: [IndexFacts; 3], overflow: Overflow) -> IndexFacts {
    // Where nothing wraps, no divisor is below zero either.
    let is_divided = matches!(word, IndexWord::Div | IndexWord::CeilDiv | IndexWord::Rem);
    let b = match overflow {
        Overflow::Never if is_divided => IndexFacts { low: b.low.max(1), ..b },
        _ => b,
    };
    let both = gcd(a.multiple, b.multiple);
    let corners = |f: fn(i64, i64) -> Option<i64>, b: IndexFacts, multiple: u32| {
        IndexFacts::among(
            [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)],
            multiple,
        )
    };
    // No divisor is 0.
    let divisor = IndexFacts { low: b.low.max(1), ..b };
    // Of one certain divisor: what is known to divide that one may be less than itself.
    let quotient = || {
        let by = u32::try_from(b.low).ok().filter(|_| b.low == b.high);
        let by = by.filter(|by| a.multiple.checked_rem(*by) == Some(0));
        by.and_then(|by| a.multiple.checked_div(by)).unwrap_or(1)
    };
    let plain = a.is_plain() && b.is_plain();
    let left = |high: i64| IndexFacts { low: 0, high, multiple: both };
    match word {
        IndexWord::Block => IndexFacts { low: 0, high: IndexFacts::UNKNOWN.high - 1, multiple: 1 },
        IndexWord::Blocks => IndexFacts { low: 1, ..IndexFacts::UNKNOWN },
        IndexWord::Add => IndexFacts {
            low: a.low.saturating_add(b.low),
            high: a.high.saturating_add(b.high),
            multiple: both,
        }
        .within_32_bits(overflow),
        IndexWord::Sub => IndexFacts {
            low: a.low.saturating_sub(b.high),
            high: a.high.saturating_sub(b.low),
            multiple: both,
        }
        .within_32_bits(overflow),
        IndexWord::Mul => {
            let multiple = a.multiple.checked_mul(b.multiple);
            let of = multiple.unwrap_or_else(|| a.multiple.max(b.multiple));
            corners(i64::checked_mul, b, of).within_32_bits(overflow)
        }
        IndexWord::Div if b.is_plain() => corners(floor_div, divisor, quotient()),
        IndexWord::DivUnsigned if plain => corners(floor_div, divisor, quotient()),
        IndexWord::CeilDiv if b.is_plain() => corners(ceil_div, divisor, quotient()),
        IndexWord::CeilDivUnsigned if plain => corners(ceil_div, divisor, quotient()),
        IndexWord::Rem | IndexWord::RemUnsigned if plain => {
            left(a.high.min(b.high.saturating_sub(1)).max(0))
        }
        IndexWord::Rem if b.is_plain() => left(b.high.saturating_sub(1).max(0)),
        // One below zero is 2^32 more without a sign: of what divides it, a power of two stays.
        IndexWord::RemUnsigned if b.is_plain() => IndexFacts {
            multiple: both & both.wrapping_neg(),
            ..left(b.high.saturating_sub(1).max(0))
        },
        IndexWord::Min => {
            IndexFacts { low: a.low.min(b.low), high: a.high.min(b.high), multiple: both }
        }
        IndexWord::Max => {
            IndexFacts { low: a.low.max(b.low), high: a.high.max(b.high), multiple: both }
        }
        IndexWord::MinUnsigned if plain => {
            IndexFacts { low: a.low.min(b.low), high: a.high.min(b.high), multiple: both }
        }
        IndexWord::MaxUnsigned if plain => {
            IndexFacts { low: a.low.max(b.low), high: a.high.max(b.high), multiple: both }
        }
        IndexWord::MinUnsigned | IndexWord::MaxUnsigned => a.either(b),
        IndexWord::Compare => IndexFacts { low: 0, high: 1, multiple: 1 },
        IndexWord::Select => b.either(c),
        IndexWord::Cast => a,
        _ => IndexFacts::UNKNOWN,
    }
}
