//! The cheapest expression for a map from bits to byte columns.
//!
//! A layout says what each bit of lane, warp and loop numbers contributes to an address: its
//! *column*. Contributions are combined by exclusive or (linear and swizzled layouts) or by
//! addition (strided and padded ones). Bits that move by one common distance become one shift and
//! mask; bits whose columns are one common multiple of their weight become a mask and a product,
//! where that is fewer words.
//!
//! What is built is already near its best form; the index rules remove masks that known bits make
//! idle and turn combinations of disjoint parts into whatever the target has instructions for.
use crate::expr::{ExprArena, ExprError, ExprId};
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
        let part = build(arena, term)?;
        sum = Some(match sum {
            Some(sum) => arena.op(word, &[sum, part])?,
            None => part,
        });
    }
    match sum {
        Some(sum) if offset == 0 => Ok(sum),
        Some(sum) => arena.op_const(word, sum, u64::from(offset)),
        None => arena.constant(offset),
    }
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

/// Splits the columns of one value into terms.
fn terms_of(
    value: ExprId,
    own: &mut [u32; 32],
    combine: Combine,
    terms: &mut BitTerms,
) -> Result<(), ExprError> {
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
    // Bit 31 + d: some bit moves by d.
    let mut distances = 0u64;
    for (number, column) in (0u32..).zip(own.iter()) {
        distances |= u64::from(*column).wrapping_shl(31u32.saturating_sub(number));
    }
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
