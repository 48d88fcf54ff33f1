//! The cheapest expression for a map from bits to byte columns.
//!
//! A layout says what each bit of lane, warp and loop numbers contributes to an address: its
//! *column*. Contributions are combined by exclusive or (linear and swizzled layouts) or by
//! addition (strided and padded ones). Bits that move by one common distance become one shift and
//! mask; bits whose columns are one common multiple of their weight become a mask and a product,
//! where that is fewer words. A shift that most parts have in common is taken out of them and done
//! once, last, where it is one instruction with the sum that follows. Two parts of a short value
//! whose shifts are far apart are one product, which copies it, and one mask.
//!
//! What is built is already near its best form; the index rules remove masks that known bits make
//! idle and turn combinations of disjoint parts into whatever the target has instructions for.
use crate::expr::{BitFacts, ExprArena, ExprError, ExprId};
use lanebook_tables::IndexOp;
pub use lanebook_tile::map::Combine;

/// Most bits in one map.
pub const MAX_BIT_COLUMNS: usize = 64;

/// What one bit of a value contributes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BitColumn {
    /// The 32-bit value.
    pub value: ExprId,
    /// The bit's number, below 32.
    pub bit: u8,
    /// What it contributes when it is 1, usually in bytes.
    pub column: u32,
}

/// Some bits of a value (`mask`), moved left (`shift` >= 0) or right, times `factor`.
#[derive(Copy, Clone)]
struct Term {
    value: ExprId,
    mask: u32,
    shift: i8,
    factor: u32,
}

impl Term {
    /// The lowest bit that it contributes to.
    fn lowest(&self) -> u32 {
        let moved = i32::from(self.shift)
            .saturating_add_unsigned(self.mask.trailing_zeros())
            .saturating_add_unsigned(self.factor.trailing_zeros());
        u32::try_from(moved).unwrap_or(0)
    }
    /// The part without a shift to the left by `by`, which is taken from its factor first.
    fn less(&self, by: u32) -> Term {
        let from_factor = self.factor.trailing_zeros().min(by);
        let rest = i8::try_from(by.saturating_sub(from_factor)).unwrap_or(i8::MAX);
        Term {
            shift: self.shift.saturating_sub(rest),
            factor: self.factor.checked_shr(from_factor).unwrap_or(1),
            ..*self
        }
    }
}

struct BitTerms {
    list: [Option<Term>; MAX_BIT_COLUMNS],
    len: usize,
}

impl BitTerms {
    fn push(&mut self, term: Term) -> Result<(), ExprError> {
        let full = ExprError::Columns { capacity: MAX_BIT_COLUMNS as u16 };
        *self.list.get_mut(self.len).ok_or(full)? = Some(term);
        self.len = self.len.checked_add(1).ok_or(full)?;
        Ok(())
    }
}

/// The expression with the value `offset` combined with the columns of all bits that are 1.
///
/// A (value, bit) that occurs twice contributes both columns. Parts that depend on outer loops,
/// then parts that are equal in all lanes, are combined first, so that they can be computed once.
///
/// # Errors
/// A bit that is none, more than [`MAX_BIT_COLUMNS`] columns or terms, a full arena.
pub fn from_bits(
    arena: &mut ExprArena<'_>,
    columns: &[BitColumn],
    combine: Combine,
    offset: u32,
) -> Result<ExprId, ExprError> {
    if columns.len() > MAX_BIT_COLUMNS {
        return Err(ExprError::Columns { capacity: MAX_BIT_COLUMNS as u16 });
    }
    let mut terms = BitTerms { list: [None; MAX_BIT_COLUMNS], len: 0 };
    for (number, column) in columns.iter().enumerate() {
        let facts = arena.facts(column.value).ok_or(ExprError::UnknownNode(column.value))?;
        if column.bit >= 32 || facts.width != 32 {
            return Err(ExprError::Bit { bit: column.bit });
        }
        if columns.iter().take(number).any(|earlier| earlier.value == column.value) {
            continue;
        }
        let mut own = [0u32; 32];
        for other in columns.iter().filter(|other| other.value == column.value) {
            let Some(place) = own.get_mut(usize::from(other.bit)) else {
                return Err(ExprError::Bit { bit: other.bit });
            };
            *place = match combine {
                Combine::Xor => *place ^ other.column,
                Combine::Add => place.wrapping_add(other.column),
            };
        }
        // Bits that are never set contribute nothing.
        let possible = facts.possible();
        for (bit, place) in (0u32..).zip(own.iter_mut()) {
            if possible.wrapping_shr(bit) & 1 == 0 {
                *place = 0;
            }
        }
        terms_of(column.value, &mut own, combine, &mut terms)?;
    }
    let common = take_common_shift(arena, &mut terms, offset);
    let offset = offset.checked_shr(common).unwrap_or(0);
    let word = match combine {
        Combine::Xor => IndexOp::Xor,
        Combine::Add => IndexOp::Add,
    };
    let mut sum: Option<ExprId> = None;
    let mut used = [false; MAX_BIT_COLUMNS];
    for _ in 0..terms.len {
        let mut best: Option<(usize, Term, (u8, bool))> = None;
        for (number, (term, used)) in terms.list.iter().zip(used).enumerate() {
            let Some(term) = term else { continue };
            let rank =
                arena.facts(term.value).map_or((0, false), |facts| (facts.level, !facts.uniform()));
            if !used && best.is_none_or(|(_, _, least)| rank < least) {
                best = Some((number, *term, rank));
            }
        }
        let Some((number, term, _)) = best else { break };
        if let Some(place) = used.get_mut(number) {
            *place = true;
        }
        let partner = terms.list.iter().zip(used.iter_mut()).find_map(|(other, used)| {
            let both = joined(arena, term, (*other)?).filter(|_| !*used)?;
            *used = true;
            Some(both)
        });
        let part = match partner {
            Some(copies) => build_copies(arena, copies)?,
            None => build(arena, term)?,
        };
        sum = Some(match sum {
            Some(sum) => arena.op(word, &[sum, part])?,
            None => part,
        });
    }
    let whole = match sum {
        Some(sum) if offset == 0 => sum,
        Some(sum) => arena.op_const(word, sum, u64::from(offset))?,
        None => arena.constant(offset)?,
    };
    if common == 0 { Ok(whole) } else { arena.op_const(IndexOp::Shl, whole, u64::from(common)) }
}

/// The shift to the left that leaves fewest parts with one of their own, taken out of all of them:
/// it is one instruction for them together. None where there is one part alone, where parts are
/// computed at different times, or the part of the offset could not follow.
fn take_common_shift(arena: &ExprArena<'_>, terms: &mut BitTerms, offset: u32) -> u32 {
    let rank = |term: &Term| arena.facts(term.value).map(|facts| (facts.level, facts.uniform()));
    let mut parts = terms.list.iter().flatten();
    let Some(first) = parts.next().map(rank) else { return 0 };
    if terms.len < 2 || parts.any(|term| rank(term) != first) {
        return 0;
    }
    let room = |term: &Term| term.lowest();
    let most = terms.list.iter().flatten().map(room).fold(offset.trailing_zeros(), u32::min);
    let masked = |term: Term| {
        let possible = arena.facts(term.value).map_or(u64::MAX, BitFacts::possible);
        let right = u32::from(term.shift.min(0).unsigned_abs());
        possible.checked_shr(right) != term.mask.checked_shr(right).map(u64::from)
    };
    let moved = |by: u32| {
        let parts = terms.list.iter().flatten().map(|term| term.less(by));
        parts.fold(0u32, |sum, t| {
            sum.wrapping_add(u32::from(t.shift != 0)).wrapping_add(u32::from(masked(t)))
        })
    };
    let shifts = terms.list.iter().flatten().filter_map(|t| u32::try_from(t.shift).ok());
    let best = shifts.filter(|by| *by <= most).map(|by| (moved(by), by)).min();
    let Some((_, by)) = best.filter(|(after, _)| *after < moved(0)) else { return 0 };
    for term in terms.list.iter_mut().flatten() {
        *term = term.less(by);
    }
    by
}

fn bit(number: u32) -> u32 {
    1u32.checked_shl(number).unwrap_or(0)
}

/// Bits whose column is the same multiple of their weight as bit `of`'s.
fn same_factor(own: &[u32; 32], of: u32) -> u32 {
    let ratio = |number: u32| {
        own.get(number as usize)
            .map(|column| u64::from(*column).wrapping_shl(31u32.saturating_sub(number)))
    };
    (0..32)
        .filter(|number| {
            own.get(*number as usize).is_some_and(|column| *column != 0)
                && ratio(*number) == ratio(of)
        })
        .fold(0, |mask, number| mask | bit(number))
}

/// Bits of the value that have a column bit at the distance `shift`.
fn at_distance(own: &[u32; 32], shift: i8) -> u32 {
    let mut mask = 0;
    for (number, column) in (0i8..).zip(own) {
        let to = number.saturating_add(shift);
        if let Ok(to) = u32::try_from(to)
            && column & bit(to) != 0
        {
            mask |= bit(number as u32);
        }
    }
    mask
}

/// Bit 31 + d: some bit moves by d.
fn distances_of(own: &[u32; 32]) -> u64 {
    (0u32..).zip(own).fold(0, |all, (number, column)| {
        all | u64::from(*column).wrapping_shl(31u32.saturating_sub(number))
    })
}

/// The two distances of a value that is added as a whole, and once more without its lowest bits and
/// less far: shifts alone, no masks. One product is better where all bits have both.
fn twice(own: &[u32; 32]) -> Option<(i8, i8)> {
    let distances = distances_of(own);
    if distances.count_ones() != 2 {
        return None;
    }
    let high = i8::try_from(distances.checked_ilog2()?).ok()?.checked_sub(31)?;
    let low = i8::try_from(distances.trailing_zeros()).ok()?.checked_sub(31)?;
    let (whole, rest) = (at_distance(own, high), at_distance(own, low));
    let lost = u32::from(high.abs_diff(low));
    let kept = whole.checked_shr(lost)?.checked_shl(lost)?;
    (high > 0 && rest != 0 && rest != whole && rest == kept).then_some((high, low))
}

/// Splits the columns of one value into terms.
fn terms_of(
    value: ExprId,
    own: &mut [u32; 32],
    combine: Combine,
    terms: &mut BitTerms,
) -> Result<(), ExprError> {
    if let Some((high, low)) = twice(own).filter(|_| combine == Combine::Add) {
        let mask = |shift| at_distance(own, shift);
        terms.push(Term { value, mask: mask(high), shift: high, factor: 1 })?;
        return terms.push(Term { value, mask: mask(low), shift: low, factor: 1 });
    }
    for number in 0..32u32 {
        let column = own.get(number as usize).copied().unwrap_or(0);
        let single = column.is_power_of_two();
        if column == 0 || (combine == Combine::Xor && single) {
            continue;
        }
        let mask = same_factor(own, number);
        if combine == Combine::Xor && !product_pays(own, mask, column, number) {
            continue;
        }
        // column = factor * 2^twos, factor odd; the value's bits move by twos - number.
        let twos = column.trailing_zeros();
        let odd = column.checked_shr(twos).unwrap_or(1);
        let shift = (twos as i8).saturating_sub(number as i8);
        if single || shift < 0 {
            terms.push(Term { value, mask, shift, factor: odd })?;
        } else {
            terms.push(Term {
                value,
                mask,
                shift: 0,
                factor: odd.checked_shl(shift as u32).unwrap_or(0),
            })?;
        }
        for (number, place) in (0u32..).zip(own.iter_mut()) {
            if mask & bit(number) != 0 {
                *place = 0;
            }
        }
    }
    if combine == Combine::Add {
        return Ok(());
    }
    let mut distances = distances_of(own);
    while distances != 0 {
        let shift = (distances.trailing_zeros() as i8).saturating_sub(31);
        distances &= distances.wrapping_sub(1);
        terms.push(Term { value, mask: at_distance(own, shift), shift, factor: 1 })?;
    }
    Ok(())
}

/// Whether bits that share a factor of several bits are better multiplied: their images must not
/// overlap (so that exclusive or is addition), and at least two distances must be needed for them
/// alone.
fn product_pays(own: &[u32; 32], mask: u32, column: u32, number: u32) -> bool {
    let mut images = 0u32;
    for at in (0..32u32).filter(|at| mask & bit(*at) != 0) {
        let image = own.get(at as usize).copied().unwrap_or(0);
        if images & image != 0 {
            return false;
        }
        images |= image;
    }
    let freed = (0..32i8)
        .filter(|to| {
            column & bit(*to as u32) != 0
                && at_distance(own, to.saturating_sub(number as i8)) & !mask == 0
        })
        .count();
    freed >= 2
}

/// Two copies of a value beside each other, of which some bits are wanted.
#[derive(Copy, Clone)]
struct CopiedParts {
    value: ExprId,
    /// The value moves right by so much before.
    right: u32,
    /// One bit where each copy begins.
    factor: u32,
    /// Wanted bits of the product.
    mask: u32,
}

/// Both parts as copies of one value, made by one product: their shifts are so far apart that the
/// copies do not overlap. `None` if they cannot, or if it saves nothing.
fn joined(arena: &ExprArena<'_>, one: Term, other: Term) -> Option<CopiedParts> {
    let (low, high) = if one.shift < other.shift { (one, other) } else { (other, one) };
    if low.value != high.value || low.factor != 1 || high.factor != 1 || high.shift <= 0 {
        return None;
    }
    let right = u32::from(low.shift.min(0).unsigned_abs());
    let left = u32::from(low.shift.max(0).unsigned_abs());
    let whole = |mask: u32| mask.checked_shr(right)?.checked_shl(right).filter(|m| *m == mask);
    (whole(low.mask).is_some() && whole(high.mask).is_some()).then_some(())?;
    let possible = arena.facts(low.value)?.possible().checked_shr(right)?;
    let gap = u32::from(high.shift.abs_diff(low.shift));
    let shifted = possible.checked_shl(gap.checked_add(left)?)?;
    if possible.checked_shl(left)? & shifted != 0 || shifted > u64::from(u32::MAX) {
        return None;
    }
    let at = |mask: u32, by: u32| mask.checked_shr(right)?.checked_shl(left.checked_add(by)?);
    Some(CopiedParts {
        value: low.value,
        right,
        factor: bit(left) | bit(left.checked_add(gap)?),
        mask: at(low.mask, 0)? | at(high.mask, gap)?,
    })
}

/// `((value >> right) * factor) & mask`.
fn build_copies(arena: &mut ExprArena<'_>, copies: CopiedParts) -> Result<ExprId, ExprError> {
    let moved = match copies.right {
        0 => copies.value,
        right => arena.op_const(IndexOp::Shr, copies.value, u64::from(right))?,
    };
    let all = arena.op_const(IndexOp::Mul, moved, u64::from(copies.factor))?;
    arena.op_const(IndexOp::And, all, u64::from(copies.mask))
}

/// `((value << shift) & (mask << shift)) * factor`.
fn build(arena: &mut ExprArena<'_>, term: Term) -> Result<ExprId, ExprError> {
    let distance = u32::from(term.shift.unsigned_abs());
    let (moved, mask) = if term.shift > 0 {
        (
            arena.op_const(IndexOp::Shl, term.value, u64::from(distance))?,
            term.mask.checked_shl(distance).unwrap_or(0),
        )
    } else if term.shift < 0 {
        (
            arena.op_const(IndexOp::Shr, term.value, u64::from(distance))?,
            term.mask.checked_shr(distance).unwrap_or(0),
        )
    } else {
        (term.value, term.mask)
    };
    let masked = arena.op_const(IndexOp::And, moved, u64::from(mask))?;
    if term.factor == 1 {
        Ok(masked)
    } else {
        arena.op_const(IndexOp::Mul, masked, u64::from(term.factor))
    }
}
