//! Runs of neighbours in a tile of integers or pointers, dimension by dimension: how many count up
//! by one, how many are equal, and what the first of a run is a multiple of. All of them powers of
//! two, held as exponents.
//!
//! What operations do to runs is here; what an operation *is* comes from `rules/seeding.ron`. A
//! transfer never claims more than holds for all values: where nothing is known the answer is 1.
use lanebook_ir::MAX_RANK;
use lanebook_tables::AxisWord;

/// The exponent that stands for "any": of the number 0, and before anything is known.
pub(super) const ANY: u8 = 62;

/// What is known of one dimension.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Runs {
    /// log2 of how many neighbours count up by one.
    pub contiguity: u8,
    /// log2 of what the first of a run is a multiple of (pointers: in bytes).
    pub divisibility: u8,
    /// log2 of how many neighbours are equal.
    pub constancy: u8,
}

impl Runs {
    /// Nothing is known.
    pub const NONE: Self = Self { contiguity: 0, divisibility: 0, constancy: 0 };
    /// Nothing restricts it yet.
    const TOP: Self = Self { contiguity: ANY, divisibility: ANY, constancy: ANY };

    fn join(self, other: Self) -> Self {
        Self {
            contiguity: self.contiguity.min(other.contiguity),
            divisibility: chosen(self, other),
            constancy: self.constancy.min(other.constancy),
        }
    }
}

/// What both are multiples of where either may be taken: runs of different lengths break the longer
/// one up.
fn chosen(a: Runs, b: Runs) -> u8 {
    let both = a.divisibility.min(b.divisibility);
    if a.contiguity == b.contiguity || a.contiguity == ANY || b.contiguity == ANY {
        both
    } else {
        both.min(a.contiguity).min(b.contiguity)
    }
}

/// log2 of the largest power of two that divides a number.
pub(super) fn power(number: i64) -> u8 {
    if number == 0 { ANY } else { (number.trailing_zeros() as u8).min(ANY) }
}

/// What is known of a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AxisInfo {
    dims: [Runs; MAX_RANK],
    rank: u8,
    constant: Option<i64>,
    /// The operation of this number is linked to that one (see [`crate::layout_seeding::links`]).
    pub(super) link: u16,
    /// The first class of accesses that are linked to the operation of this number.
    pub(super) class: u16,
}

impl AxisInfo {
    /// Not looked at yet.
    pub const UNSEEN: Self = Self {
        dims: [Runs::NONE; MAX_RANK],
        rank: u8::MAX,
        constant: None,
        link: u16::MAX,
        class: u16::MAX,
    };

    /// Nothing is known of a value of `rank` dimensions (a scalar counts as one).
    #[must_use]
    pub fn none(rank: usize) -> Self {
        Self::all(rank, Runs::NONE)
    }
    /// Nothing restricts a value yet.
    #[must_use]
    pub fn top(rank: usize) -> Self {
        Self::all(rank, Runs::TOP)
    }
    fn all(rank: usize, runs: Runs) -> Self {
        let rank = rank.clamp(1, MAX_RANK);
        let mut dims = [Runs::NONE; MAX_RANK];
        dims.iter_mut().take(rank).for_each(|dim| *dim = runs);
        Self { dims, rank: rank as u8, constant: None, link: u16::MAX, class: u16::MAX }
    }
    /// Whether it was looked at.
    #[must_use]
    pub const fn is_seen(&self) -> bool {
        self.rank != u8::MAX
    }
    /// Number of dimensions.
    #[must_use]
    pub const fn rank(&self) -> usize {
        if self.is_seen() { self.rank as usize } else { 0 }
    }
    /// What is known of a dimension.
    #[must_use]
    pub fn runs(&self, dimension: usize) -> Runs {
        if dimension < self.rank() {
            self.dims.get(dimension).copied().unwrap_or(Runs::NONE)
        } else {
            Runs::NONE
        }
    }
    /// The one number that all elements are.
    #[must_use]
    pub const fn constant(&self) -> Option<i64> {
        self.constant
    }
    pub(super) fn dim_mut(&mut self, dimension: usize) -> Option<&mut Runs> {
        self.dims.get_mut(..usize::from(self.rank))?.get_mut(dimension)
    }
    /// Whether the same is known.
    pub(super) fn same(&self, other: &Self) -> bool {
        (self.rank, self.constant) == (other.rank, other.constant)
            && (0..self.rank()).all(|at| self.runs(at) == other.runs(at))
    }
    /// Takes on what is known, not the links.
    pub(super) fn learn(&mut self, new: &Self) {
        (self.dims, self.rank, self.constant) = (new.dims, new.rank, new.constant);
    }
    /// All elements are this number.
    #[must_use]
    pub fn number(value: i64, shape: &[u32]) -> Self {
        let mut out = Self::none(shape.len());
        for at in 0..out.rank() {
            if let Some(dim) = out.dim_mut(at) {
                *dim = Runs {
                    contiguity: 0,
                    divisibility: power(value),
                    constancy: shape.get(at).map_or(0, |extent| log2(*extent)),
                };
            }
        }
        Self { constant: Some(value), ..out }
    }
    /// Numbers from `start` on, `count` of them.
    #[must_use]
    pub fn range(start: i64, count: i64) -> Self {
        let mut out = Self::none(1);
        if let Some(dim) = out.dim_mut(0) {
            *dim = Runs { contiguity: power(count), divisibility: power(start), constancy: 0 };
        }
        out
    }
    /// What holds for either of two values.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        if !self.is_seen() {
            return *other;
        }
        if !other.is_seen() || self.rank != other.rank {
            return *self;
        }
        let mut out = *self;
        for (at, dim) in out.dims.iter_mut().enumerate().take(self.rank()) {
            *dim = self.runs(at).join(other.runs(at));
        }
        out.constant = if self.constant == other.constant { self.constant } else { None };
        out
    }
    /// One number for a whole tile.
    #[must_use]
    pub fn splat(&self, shape: &[u32]) -> Self {
        let mut out = Self::none(shape.len());
        let divisibility = self.runs(0).divisibility;
        for (at, extent) in shape.iter().enumerate() {
            if let Some(dim) = out.dim_mut(at) {
                *dim = Runs { contiguity: 0, divisibility, constancy: log2(*extent) };
            }
        }
        Self { constant: self.constant, ..out }
    }
    /// A new dimension of extent 1 before dimension `axis`.
    #[must_use]
    pub fn expand(&self, axis: usize) -> Self {
        let rank = self.rank().saturating_add(1);
        let mut out = Self::none(rank);
        // A run counts from its first: its members are multiples of nothing.
        let first = (0..self.rank())
            .map(|at| self.runs(at))
            .map(|runs| if runs.contiguity > 0 { 0 } else { runs.divisibility })
            .min();
        let divisibility = self.constant.map_or(first.unwrap_or(0), power);
        for at in 0..rank {
            let runs = match at.cmp(&axis) {
                core::cmp::Ordering::Less => self.runs(at),
                core::cmp::Ordering::Equal => Runs { contiguity: 0, divisibility, constancy: 0 },
                core::cmp::Ordering::Greater => self.runs(at.saturating_sub(1)),
            };
            if let Some(dim) = out.dim_mut(at) {
                *dim = runs;
            }
        }
        Self { constant: self.constant, ..out }
    }
    /// Dimensions of extent 1 repeated.
    #[must_use]
    pub fn repeat(&self, from: &[u32], to: &[u32]) -> Self {
        let mut out = *self;
        for (at, (from, to)) in from.iter().zip(to).enumerate() {
            if let Some(dim) = out.dim_mut(at).filter(|_| *from == 1) {
                (dim.contiguity, dim.constancy) = (0, log2(*to));
            }
        }
        out
    }
    /// Dimensions in another order: dimension `i` of the result is dimension `order[i]`.
    #[must_use]
    pub fn permute(&self, order: &[i64]) -> Self {
        let mut out = *self;
        for (at, from) in order.iter().enumerate() {
            let runs = usize::try_from(*from).map_or(Runs::NONE, |from| self.runs(from));
            if let Some(dim) = out.dim_mut(at) {
                *dim = runs;
            }
        }
        out
    }
    /// What is known of elements read from memory: equal addresses give equal elements.
    #[must_use]
    pub fn loaded(&self, mask: Option<&Self>) -> Self {
        let mut out = Self::none(self.rank());
        for at in 0..self.rank() {
            let equal =
                self.runs(at).constancy.min(mask.map_or(ANY, |mask| mask.runs(at).constancy));
            if let Some(dim) = out.dim_mut(at) {
                dim.constancy = equal;
            }
        }
        out
    }
}

/// log2 of an extent, rounded down.
pub(super) fn log2(extent: u32) -> u8 {
    extent.max(1).ilog2() as u8
}

/// An operation on two values (or one condition and two): shape of the result, bytes of what
/// pointers point to, predicate.
pub(super) struct Operation<'a> {
    pub word: AxisWord,
    pub shape: &'a [u32],
    pub element_bytes: u32,
    pub predicate: &'a str,
}

impl Operation<'_> {
    /// What is known of `word(a, b)`.
    pub fn binary(&self, a: &AxisInfo, b: &AxisInfo) -> AxisInfo {
        let rank = a.rank().max(1);
        let mut out = AxisInfo::none(rank);
        let number = match (a.constant(), b.constant()) {
            (Some(x), Some(y)) => self.value(x, y),
            (None, Some(1)) if self.word == AxisWord::Rem => Some(0),
            _ => None,
        };
        for at in 0..rank {
            let (x, y) = (a.runs(at), b.runs(at));
            let runs = match number {
                Some(number) if !matches!(self.word, AxisWord::Compare | AxisWord::Extremum) => {
                    Runs {
                        contiguity: 0,
                        divisibility: power(number),
                        constancy: x.constancy.max(y.constancy),
                    }
                }
                Some(_) if self.word == AxisWord::Extremum => Runs::NONE,
                _ => self.runs(a, b, x, y, at),
            };
            if let Some(dim) = out.dim_mut(at) {
                *dim = runs;
            }
        }
        AxisInfo { constant: number, ..out }
    }

    /// One of two by a condition.
    pub fn select(
        &self,
        condition: &AxisInfo,
        by_element: bool,
        a: &AxisInfo,
        b: &AxisInfo,
    ) -> AxisInfo {
        match condition.constant() {
            Some(0) => return *b,
            Some(_) => return *a,
            None => {}
        }
        let mut out = a.join(b);
        for at in 0..out.rank() {
            let equal = condition.runs(at).constancy;
            if let Some(dim) = out.dim_mut(at).filter(|_| by_element) {
                (dim.contiguity, dim.constancy) =
                    (dim.contiguity.min(equal), dim.constancy.min(equal));
            }
        }
        out
    }

    fn value(&self, x: i64, y: i64) -> Option<i64> {
        match self.word {
            AxisWord::Add => x.checked_add(y),
            AxisWord::Sub => x.checked_sub(y),
            AxisWord::Mul => x.checked_mul(y),
            AxisWord::Div => x.checked_div(y),
            AxisWord::Rem => x.checked_rem(y),
            AxisWord::And => Some(x & y),
            AxisWord::Or => Some(x | y),
            AxisWord::Xor => Some(x ^ y),
            AxisWord::Shl => u32::try_from(y).ok().and_then(|y| x.checked_shl(y)),
            AxisWord::Shr | AxisWord::Ashr => u32::try_from(y).ok().and_then(|y| x.checked_shr(y)),
            AxisWord::Pointer => {
                y.checked_mul(i64::from(self.element_bytes)).and_then(|y| x.checked_add(y))
            }
            // Which of two numbers, or whether: nobody asks.
            AxisWord::Compare
            | AxisWord::Extremum
            | AxisWord::Select
            | AxisWord::Range
            | AxisWord::Same => None,
        }
    }

    /// Whether all elements of a dimension count up, or are equal.
    fn whole(&self, length: u8, at: usize) -> bool {
        self.shape.get(at).is_some_and(|extent| length >= log2(*extent))
    }

    /// What holds of a dimension. Where a result's runs are shorter than those it is made of, they
    /// begin inside of these: at a multiple of their own length, and of no more.
    fn runs(&self, a: &AxisInfo, b: &AxisInfo, x: Runs, y: Runs, at: usize) -> Runs {
        let mut out = self.claimed(a, b, x, y, at);
        if matches!(self.word, AxisWord::Add | AxisWord::Sub | AxisWord::Pointer | AxisWord::Rem) {
            let bytes = if self.word == AxisWord::Pointer { log2(self.element_bytes) } else { 0 };
            for (runs, unit) in [(x, 0), (y, bytes)] {
                if runs.contiguity > out.contiguity {
                    out.divisibility = out.divisibility.min(out.contiguity.saturating_add(unit));
                }
            }
        }
        out
    }

    fn claimed(&self, a: &AxisInfo, b: &AxisInfo, x: Runs, y: Runs, at: usize) -> Runs {
        let equal = x.constancy.min(y.constancy);
        // A run's first is the only one that is a multiple; what scales or shifts it must take the
        // others for odd.
        let scaled = |runs: Runs, unscaled: bool| {
            if runs.contiguity > 0 && !unscaled { 0 } else { runs.divisibility }
        };
        match self.word {
            AxisWord::Add | AxisWord::Pointer => {
                let bytes =
                    if self.word == AxisWord::Pointer { log2(self.element_bytes) } else { 0 };
                Runs {
                    contiguity: x.constancy.min(y.contiguity).max(x.contiguity.min(y.constancy)),
                    divisibility: x.divisibility.min(y.divisibility.saturating_add(bytes).min(ANY)),
                    constancy: equal,
                }
            }
            AxisWord::Sub => Runs {
                contiguity: x.contiguity.min(y.constancy),
                divisibility: x.divisibility.min(y.divisibility),
                constancy: equal,
            },
            AxisWord::Mul => {
                let (left_is_one, right_is_one) =
                    (a.constant() == Some(1), b.constant() == Some(1));
                let contiguity = if right_is_one { x.contiguity } else { 0 }.max(if left_is_one {
                    y.contiguity
                } else {
                    0
                });
                let divisibility =
                    scaled(x, right_is_one).saturating_add(scaled(y, left_is_one)).min(ANY);
                Runs { contiguity, divisibility, constancy: equal }
            }
            AxisWord::Div | AxisWord::Rem => self.claimed_by_quotient(a, b, x, y, at),
            AxisWord::And | AxisWord::Or | AxisWord::Xor => {
                Runs { contiguity: 0, divisibility: 0, constancy: equal }
            }
            AxisWord::Shl => {
                let by = b.constant().and_then(|by| u8::try_from(by).ok()).filter(|by| *by < ANY);
                let kept = by.unwrap_or(0);
                let contiguity = if by == Some(0) { x.contiguity } else { 0 };
                Runs {
                    contiguity,
                    divisibility: scaled(x, by == Some(0)).saturating_add(kept).min(ANY),
                    constancy: equal,
                }
            }
            AxisWord::Shr | AxisWord::Ashr => {
                let by = b.constant().and_then(|by| u8::try_from(by).ok());
                let contiguity = if by == Some(0) { x.contiguity } else { 0 };
                Runs {
                    contiguity,
                    divisibility: by.map_or(0, |by| scaled(x, by == 0).saturating_sub(by)),
                    constancy: equal,
                }
            }
            AxisWord::Extremum => Runs {
                contiguity: x.contiguity.min(y.contiguity),
                divisibility: chosen(x, y),
                constancy: equal,
            },
            AxisWord::Compare => self.claimed_by_comparison(a, b, x, y, at),
            AxisWord::Select | AxisWord::Range | AxisWord::Same => Runs::NONE,
        }
    }

    /// The same of a quotient and of what is left of it.
    fn claimed_by_quotient(&self, a: &AxisInfo, b: &AxisInfo, x: Runs, y: Runs, at: usize) -> Runs {
        let tile = !self.shape.is_empty();
        let equal = x.constancy.min(y.constancy);
        let rest = x.contiguity.min(x.divisibility).min(y.divisibility);
        let runs = tile && self.whole(x.contiguity, at) && self.whole(y.constancy, at);
        if self.word == AxisWord::Rem {
            return Runs {
                contiguity: if runs { rest } else { 0 },
                divisibility: if y.constancy > 0 { x.divisibility.min(y.divisibility) } else { 0 },
                constancy: if tile { equal } else { 0 },
            };
        }
        let one = b.constant() == Some(1);
        let divisibility = match (a.constant(), b.constant()) {
            (Some(0), _) | (_, Some(1)) => x.divisibility,
            (_, Some(by)) if by.unsigned_abs().is_power_of_two() && x.contiguity == 0 => {
                x.divisibility.saturating_sub(power(by))
            }
            _ => 0,
        };
        let constancy = match (tile, runs) {
            (false, _) => 0,
            (true, true) => equal.max(rest),
            (true, false) => equal,
        };
        Runs { contiguity: if one { x.contiguity } else { 0 }, divisibility, constancy }
    }

    /// The same of a comparison.
    fn claimed_by_comparison(
        &self,
        a: &AxisInfo,
        b: &AxisInfo,
        x: Runs,
        y: Runs,
        at: usize,
    ) -> Runs {
        let both = x.divisibility.min(y.divisibility);
        let steps = match self.predicate {
            "sgt" | "ugt" | "sle" | "ule" if self.whole(x.constancy, at) => y.contiguity.min(both),
            "slt" | "ult" | "sge" | "uge" if self.whole(y.constancy, at) => x.contiguity.min(both),
            _ => 0,
        };
        let known = a.constant().is_some() && b.constant().is_some();
        let constancy = match (self.shape.is_empty(), known) {
            (true, _) => 0,
            (false, true) => x.constancy,
            (false, false) => x.constancy.min(y.constancy).max(steps),
        };
        Runs { contiguity: 0, divisibility: 0, constancy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(word: AxisWord, shape: &[u32]) -> Operation<'_> {
        Operation { word, shape, element_bytes: 2, predicate: "slt" }
    }

    /// Every claim, tried on the numbers themselves.
    #[test]
    fn claims_hold_for_the_numbers() {
        let size = 64usize;
        let made: [(AxisInfo, std::vec::Vec<i64>); 5] = [
            (AxisInfo::range(0, 64), (0..64).collect()),
            (AxisInfo::range(16, 64), (16..80).collect()),
            (AxisInfo::number(8, &[64]), std::vec![8; size]),
            (AxisInfo::number(1, &[64]), std::vec![1; size]),
            (AxisInfo::number(12, &[64]), std::vec![12; size]),
        ];
        let words = [
            AxisWord::Add,
            AxisWord::Sub,
            AxisWord::Mul,
            AxisWord::Div,
            AxisWord::Rem,
            AxisWord::And,
            AxisWord::Or,
            AxisWord::Xor,
            AxisWord::Shl,
            AxisWord::Shr,
            AxisWord::Ashr,
        ];
        for word in words {
            for (a, xs) in &made {
                for (b, ys) in &made {
                    let values: Option<std::vec::Vec<i64>> =
                        xs.iter().zip(ys).map(|(x, y)| op(word, &[64]).value(*x, *y)).collect();
                    let Some(values) = values else { continue };
                    let facts = op(word, &[64]).binary(a, b);
                    let runs = facts.runs(0);
                    for (at, value) in values.iter().enumerate() {
                        let (run, same) =
                            (1usize << runs.contiguity.min(6), 1usize << runs.constancy.min(6));
                        assert_eq!(
                            *value,
                            values[at / same * same],
                            "{word:?} {a:?} {b:?}: {runs:?}"
                        );
                        assert_eq!(
                            *value,
                            values[at / run * run] + (at % run) as i64,
                            "{word:?} {a:?} {b:?}: {runs:?}"
                        );
                        if at % run == 0 && at % same == 0 {
                            assert_eq!(
                                value.trailing_zeros().min(62).min(u32::from(runs.divisibility)),
                                u32::from(runs.divisibility),
                                "{word:?} {a:?} {b:?}: {runs:?}, {value}"
                            );
                        }
                    }
                    if let Some(number) = facts.constant() {
                        assert!(values.iter().all(|value| *value == number));
                    }
                }
            }
        }
    }

    #[test]
    fn pointers_count_bytes() {
        let base = AxisInfo {
            dims: [Runs { contiguity: 0, divisibility: 4, constancy: 6 }; MAX_RANK],
            rank: 1,
            constant: None,
            link: 0,
            class: 0,
        };
        let runs = op(AxisWord::Pointer, &[64]).binary(&base, &AxisInfo::range(8, 64)).runs(0);
        assert_eq!(runs, Runs { contiguity: 6, divisibility: 4, constancy: 0 });
    }
}
