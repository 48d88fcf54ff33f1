//! Maps of shared memory that XOR one output with another, or with bits that a pitch keeps apart:
//! linear over bits.
//!
//! All extents must be powers of two. Input dimension `k` of the linear form is mode `k` of the
//! layout it stands for, the last dimension first; its outputs are those of the other helpers.

use super::{RowSwizzle, output, padded};
use crate::axis::AxisId;
use crate::error::{Error, Limit, NotLinear, Result};
use crate::layout::{Layout, position};
use crate::linear::{Dims, Hw, Linear, Logical, MAX_BITS};

/// A map of shared memory in whichever form says it.
///
/// ```
/// # use lanebook_layout::tilelang::{Crosswise, Shared, facts, shared_operand_v1};
/// let maps: [Crosswise; 1] = [facts::CROSSWISE];
/// // A tile that fills the map has a linear form; one that does not is padded, a strided one.
/// assert!(matches!(shared_operand_v1(&[64, 64], 16, &maps, &facts::ROW_SWIZZLE), Ok(Shared::Linear(_))));
/// assert!(matches!(shared_operand_v1(&[24, 24], 16, &maps, &facts::ROW_SWIZZLE), Ok(Shared::Strided(_))));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the larger form on")]
pub enum Shared {
    /// A strided layout.
    Strided(Layout),
    /// A linear map, from dimensions to outputs.
    Linear(Linear<Logical, Hw>),
}

/// A map of a tile by bits: numbers of a machine, see [`super::facts::CROSSWISE`].
///
/// Each bit of row and column moves `pitch * a ^ b` for its entry `(a, b)`; bits beyond the entries
/// go on by doubling.
///
/// ```
/// # use lanebook_layout::tilelang::{Crosswise, facts};
/// let map: Crosswise = facts::CROSSWISE;
/// assert!(map.columns.is_power_of_two() && !map.row.is_empty());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crosswise {
    /// Rows must be a multiple of this.
    pub rows: u32,
    /// Columns must be a multiple of this.
    pub columns: u32,
    /// Whether the pitch is the number of rows; else it is that of columns.
    pub pitch_rows: bool,
    /// Entries of the row's bits, the last being that of the first further bit.
    pub row: &'static [(u64, u64)],
    /// Entries of the column's bits, the last being that of the first further bit.
    pub column: &'static [(u64, u64)],
}

/// Rows swizzled by phase: see [`super::facts::PHASE_SWIZZLE`].
///
/// ```
/// # use lanebook_layout::tilelang::{PhaseSwizzle, facts, phase_swizzled};
/// let atom: PhaseSwizzle = facts::PHASE_SWIZZLE;
/// assert!(phase_swizzled(16, 64, 16, 4, &atom).unwrap().is_injective());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PhaseSwizzle {
    /// Bits of one line of all banks.
    pub line_bits: u32,
    /// Lanes that are served together.
    pub lanes: u32,
}

/// The columns of a linear map on their way into it; each input bit moves at most two outputs.
struct XorColumns {
    ins: Dims,
    moves: heapless::Vec<[(AxisId, u64); 2], MAX_BITS>,
}

impl XorColumns {
    fn new() -> Self {
        Self { ins: Dims::new(), moves: heapless::Vec::new() }
    }

    /// A further dimension; each of its bits moves what `of` says.
    fn dim(&mut self, extent: u32, of: impl Fn(u32) -> [(AxisId, u64); 2]) -> Result<()> {
        let k = self.ins.len();
        if !extent.is_power_of_two() {
            return Err(Error::NotLinear {
                iter: position(k),
                extent,
                stride: 0,
                why: NotLinear::Extent,
            });
        }
        let full = Error::Capacity { limit: Limit::Bits, max: MAX_BITS as u32 };
        let axis = u8::try_from(k).ok().and_then(AxisId::basis).ok_or(full)?;
        let bits = extent.trailing_zeros();
        self.ins.push(axis, u8::try_from(bits).map_err(|_| full)?)?;
        for bit in 0..bits {
            self.moves.push(of(bit)).map_err(|_| full)?;
        }
        Ok(())
    }

    /// The map with these outputs, each as wide as it needs.
    fn finish(self, outputs: impl Iterator<Item = Result<AxisId>>) -> Result<Linear<Logical, Hw>> {
        let mut outs = Dims::new();
        for axis in outputs {
            let axis = axis?;
            let own = self.moves.iter().flatten().filter(|m| m.0 == axis);
            let all = own.fold(0u64, |sum, m| sum | m.1);
            let bits = u64::BITS.saturating_sub(all.leading_zeros());
            outs.push(axis, u8::try_from(bits).map_err(|_| Error::Overflow)?)?;
        }
        let mut columns: heapless::Vec<u64, MAX_BITS> = heapless::Vec::new();
        for [a, b] in &self.moves {
            let column = outs.insert(a.1, a.0)? ^ outs.insert(b.1, b.0)?;
            let _ = columns.push(column);
        }
        Linear::from_columns(self.ins, outs, &columns)
    }
}

/// `2^bit`.
fn bit(bit: u32) -> u64 {
    1u64.wrapping_shl(bit)
}

/// The leading dimensions, each its own output, and the outputs in order.
fn leading(c: &mut XorColumns, leading: &[u32], outputs: usize) -> Result<()> {
    for (k, extent) in leading.iter().enumerate().rev() {
        let axis = output(k, outputs)?;
        c.dim(*extent, |b| [(axis, bit(b)), (AxisId::M, 0)])?;
    }
    Ok(())
}

fn tile(shape: &[u32]) -> Result<(u32, u32, &[u32])> {
    match shape {
        [leading @ .., rows, columns] => Ok((*rows, *columns, leading)),
        _ => Err(Error::Rank { expected: 2, found: position(shape.len()) }),
    }
}

/// An operand of the first generation of matrix instructions; TileLang:
/// `make_volta_swizzled_layout`. The first map of `maps` whose multiples the tile has is taken,
/// else the tile is padded.
///
/// ```
/// # use lanebook_layout::tilelang::{Shared, facts, shared_operand_v1};
/// let maps = [facts::CONGRUOUS_A, facts::CONGRUOUS_B];
/// let Shared::Linear(map) = shared_operand_v1(&[64, 64], 16, &maps, &facts::ROW_SWIZZLE).unwrap() else { panic!() };
/// assert!(map.is_injective());
/// ```
///
/// # Errors
/// [`Error::NotLinear`] if a map fits and an extent is no power of two; [`Error::Rank`]; those of
/// [`padded`].
pub fn shared_operand_v1(
    shape: &[u32],
    element_bits: u32,
    maps: &[Crosswise],
    atom: &RowSwizzle,
) -> Result<Shared> {
    let (rows, columns, before) = tile(shape)?;
    let fits = |m: &&Crosswise| {
        rows.checked_rem(m.rows) == Some(0) && columns.checked_rem(m.columns) == Some(0)
    };
    let Some(map) = maps.iter().find(fits) else {
        return padded(shape, element_bits, atom).map(Shared::Strided);
    };
    let pitch = u64::from(if map.pitch_rows { rows } else { columns });
    let moves = |entries: &[(u64, u64)], b: u32| {
        let last = entries.len().saturating_sub(1);
        let k = usize::try_from(b).unwrap_or(usize::MAX).min(last);
        let (a, x) = entries.get(k).copied().unwrap_or((0, 0));
        let value = pitch.wrapping_mul(a) ^ x;
        let beyond = b.saturating_sub(u32::try_from(k).unwrap_or(0));
        [(AxisId::M, value.wrapping_shl(beyond)), (AxisId::M, 0)]
    };
    let mut c = XorColumns::new();
    c.dim(columns, |b| moves(map.column, b))?;
    c.dim(rows, |b| moves(map.row, b))?;
    let outputs = before.len().saturating_add(1);
    leading(&mut c, before, outputs)?;
    c.finish((0..outputs).map(|k| output(k, outputs))).map(Shared::Linear)
}

/// A tile that keeps its rows apart and swizzles the vectors of each; TileLang:
/// `make_mma_swizzle_layout`. The outputs are the leading dimensions, which run of a mode's width,
/// the row, and the element in the run. Rows that are no multiple of the second mode stay as they
/// are, each dimension its own output.
///
/// ```
/// # use lanebook_layout::tilelang::{facts, rows_swizzled};
/// let map = rows_swizzled(&[64, 64], 16, &facts::ROW_SWIZZLE).unwrap();
/// assert!(map.is_injective());
/// ```
///
/// # Errors
/// [`Error::NotLinear`] if an extent is no power of two; [`Error::BadElement`], [`Error::Rank`].
pub fn rows_swizzled(
    shape: &[u32],
    element_bits: u32,
    atom: &RowSwizzle,
) -> Result<Linear<Logical, Hw>> {
    let (rows, columns, before) = tile(shape)?;
    let bits = Error::BadElement { bits: element_bits };
    let vector = atom.vector_bits.checked_div(element_bits).ok_or(bits)?;
    let [wide, least, ..] = atom.modes else {
        return Err(bits);
    };
    let unit = vector.checked_mul(*least).ok_or(Error::Overflow)?;
    let mut c = XorColumns::new();
    if columns.checked_rem(unit) != Some(0) || !vector.is_power_of_two() {
        let outputs = shape.len();
        c.dim(columns, |b| [(AxisId::M, bit(b)), (AxisId::M, 0)])?;
        let row = output(outputs.saturating_sub(2), outputs)?;
        c.dim(rows, |b| [(row, bit(b)), (AxisId::M, 0)])?;
        leading(&mut c, before, outputs)?;
        return c.finish((0..outputs).map(|k| output(k, outputs)));
    }
    let outputs = shape.len().saturating_add(1);
    let run = output(outputs.saturating_sub(3), outputs)?;
    let row = output(outputs.saturating_sub(2), outputs)?;
    let vectors = columns.checked_div(vector).ok_or(bits)?.min(*wide);
    let width = vector.checked_mul(vectors).ok_or(Error::Overflow)?;
    let width_bits = width.trailing_zeros();
    c.dim(columns, |b| match b.checked_sub(width_bits) {
        None => [(AxisId::M, bit(b)), (AxisId::M, 0)],
        Some(beyond) => [(run, bit(beyond)), (AxisId::M, 0)],
    })?;
    // The upper bits of the row in a block of rows, as many as count the vectors.
    let all = atom.rows.trailing_zeros();
    let first = all.saturating_sub(vectors.trailing_zeros());
    c.dim(rows, |b| {
        let moved = b.checked_sub(first).filter(|_| b < all);
        let moved = moved.map_or(0, |k| bit(k).wrapping_mul(u64::from(vector)));
        [(row, bit(b)), (AxisId::M, moved)]
    })?;
    leading(&mut c, before, outputs)?;
    c.finish((0..outputs).map(|k| output(k, outputs)))
}

/// A tile that keeps its rows apart and swizzles runs of `vector` elements by the row's phase;
/// TileLang: `make_mfma_swizzle_layout`. The outputs are the row and the column.
///
/// ```
/// # use lanebook_layout::tilelang::{facts, phase_swizzled};
/// // Rows of 64 elements of 16 bits, in runs of 4: the first row stands as it is.
/// let map = phase_swizzled(16, 64, 16, 4, &facts::PHASE_SWIZZLE).unwrap();
/// assert_eq!(map.apply_packed(5), map.outs().insert(5, lanebook_layout::AxisId::M).unwrap());
/// ```
///
/// # Errors
/// [`Error::NotLinear`] if an extent is no power of two; [`Error::BadShape`] if no run fits a row.
pub fn phase_swizzled(
    rows: u32,
    columns: u32,
    element_bits: u32,
    vector: u32,
    atom: &PhaseSwizzle,
) -> Result<Linear<Logical, Hw>> {
    let bits = Error::BadElement { bits: element_bits };
    let line = atom.line_bits.checked_div(element_bits).ok_or(bits)?;
    let short = Error::BadShape { dim: 1, found: columns, needed: vector };
    let per_phase = line.checked_div(columns).ok_or(short)?.max(1);
    let runs = columns.checked_div(vector).ok_or(short)?;
    let phases = atom.lanes.checked_div(per_phase).unwrap_or(0).min(runs);
    let powers = [per_phase, phases, vector];
    if let Some(found) = powers.into_iter().find(|n| !n.is_power_of_two()) {
        return Err(Error::NotLinear { iter: 1, extent: found, stride: 0, why: NotLinear::Extent });
    }
    let (first, count) = (per_phase.trailing_zeros(), phases.trailing_zeros());
    let row = output(0, 2)?;
    let mut c = XorColumns::new();
    c.dim(columns, |b| [(AxisId::M, bit(b)), (AxisId::M, 0)])?;
    c.dim(rows, |b| {
        let moved = b.checked_sub(first).filter(|k| *k < count);
        let moved = moved.map_or(0, |k| bit(k).wrapping_mul(u64::from(vector)));
        [(row, bit(b)), (AxisId::M, moved)]
    })?;
    c.finish([Ok(row), Ok(AxisId::M)].into_iter())
}
