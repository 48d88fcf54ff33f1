//! Operations that change a tile's shape: what the distribution of one side says about the other.

use crate::map::{Fragment, KeptAxis, PartPlaces, TileShape};
use lanebook_ir::{AttrValue, Op, Program, Value, attr_names};
use lanebook_tables::{OpRole, OpWord};

/// How a tile relates to a larger one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Shaping {
    /// It is what stays when a dimension of the larger one is combined away.
    Slice(KeptAxis),
    /// It has the same elements in the same order.
    Line,
}

impl Shaping {
    /// The smaller tile's fragment.
    #[doc(hidden)]
    pub fn of(self, large: &Fragment, shape: TileShape) -> Option<Fragment> {
        match self {
            Self::Slice(kept) => large.slice(kept, shape),
            Self::Line if large.shape == shape => Some(*large),
            Self::Line => large.reshaped(shape),
        }
    }

    /// The register of the smaller tile that has what a register of the larger one repeats;
    /// elements of 32 bits.
    #[doc(hidden)]
    pub fn place(self, large: &Fragment, place: u32) -> u32 {
        match self {
            Self::Slice(kept) => large.slice_place(kept, place),
            Self::Line => place,
        }
    }
}

/// The shape of a tile with known extents; one dimension counts as a row.
#[doc(hidden)]
pub fn tile_shape(program: &Program<'_, '_>, value: Value) -> Option<TileShape> {
    let ty = program.type_of(value);
    let bits = ty.dtype.and_then(|d| program.tables().dtype(d)).map_or(0, |d| d.held);
    let (rows, cols) = match ty.shape.rank() {
        1 => (1, ty.shape.extent(0)?),
        _ => ty.shape.pair()?,
    };
    TileShape::new(u64::from(rows), u64::from(cols), bits)
}

/// What stays of a reduction's operand; of two operands others stand in its place.
#[doc(hidden)]
pub fn reduced(program: &Program<'_, '_>, op: Op) -> Option<KeptAxis> {
    if program.operand_count(op) != 1 {
        return None;
    }
    let from = program.type_of(program.operand(op, 0)?);
    match (from.shape.rank(), program.int_attr(op, attr_names::AXIS)?) {
        (2, 0) => Some(KeptAxis::Cols),
        (2, 1) => Some(KeptAxis::Rows),
        _ => None,
    }
}

/// The operation by which a reduction combines two elements.
#[doc(hidden)]
pub fn combiner(program: &Program<'_, '_>, op: Op) -> Option<OpWord> {
    let name = match program.attr(op, attr_names::KIND)? {
        AttrValue::Word(name) | AttrValue::Str(name) | AttrValue::Text(name) => program.text(name),
        _ => return None,
    };
    program.tables().op_named(name).map(OpWord::Op)
}

/// How a broadcast's operand relates to its result.
#[doc(hidden)]
pub fn repeated(program: &Program<'_, '_>, op: Op) -> Option<Shaping> {
    let (small, large) = (program.operand(op, 0)?, program.result(op, 0)?);
    let (a, b) = (tile_shape(program, small)?, tile_shape(program, large)?);
    let line = |s: TileShape| s.row_count() == 1 || s.col_count() == 1;
    if a == b || (line(b) && a.total() == b.total() && a.grid.count() == b.grid.count()) {
        return Some(Shaping::Line);
    }
    let rows = a.row_count().saturating_mul(a.col_count()) == b.row_count();
    let cols = a.row_count().saturating_mul(a.col_count()) == b.col_count();
    let kept = match program.type_of(small).shape.rank() {
        1 => match (program.int_attr(op, attr_names::AXIS), rows, cols) {
            (Some(1), true, _) | (None, true, false) => KeptAxis::Rows,
            (Some(0), _, true) | (None, false, true) => KeptAxis::Cols,
            _ => return None,
        },
        _ if a.col_count() == 1 && rows => KeptAxis::Rows,
        _ if a.row_count() == 1 && cols => KeptAxis::Cols,
        _ => return None,
    };
    Some(Shaping::Slice(kept))
}

/// A part of a tile that an operation takes out, or puts in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct TilePart {
    /// The tile; of an operation that puts a part in, what it was before.
    pub whole: Value,
    /// The part.
    pub part: Value,
    /// What the tile is with the part put in; `None` where one is taken out.
    pub put: Option<Value>,
    /// The row and the column at which the part begins.
    pub start: (u32, u32),
}

impl TilePart {
    /// The part of an operation on parts, which [`lanebook_ir`] has checked; `None` where a part of
    /// this size and place cannot be some of a lane's registers, whatever the distribution is:
    /// where elements that share a register are in several parts, or the part goes over several
    /// panels.
    #[doc(hidden)]
    pub fn of(program: &Program<'_, '_>, op: Op) -> Option<Self> {
        if program.role(op) != OpRole::Slice {
            return None;
        }
        let last = program.operand_count(op).checked_sub(1)?;
        let whole = program.operand(op, last)?;
        let (part, put) = match last {
            0 => (program.result(op, 0)?, None),
            _ => (program.operand(op, 0)?, Some(program.result(op, 0)?)),
        };
        let mut starts = program.subscripts(op, last).map(|value| program.int(value));
        let mut start = || u32::try_from(starts.next()??).ok();
        let start = match program.type_of(whole).shape.rank() {
            1 => (0, start()?),
            _ => (start()?, start()?),
        };
        let (large, small) = (tile_shape(program, whole)?, tile_shape(program, part)?);
        // Of as many as share a register at least.
        let shared = 32u64.checked_div(u64::from(large.bits))?.max(1);
        let fits = |whole: u64, part: u64| part == whole || part >= shared;
        let rows = fits(large.row_count(), small.row_count());
        let own = Self { whole, part, put, start };
        (rows && fits(large.col_count(), small.col_count()) && large.has_part(small)).then_some(own)
    }

    /// The part's distribution, and where it lies in the tile's.
    #[doc(hidden)]
    pub fn places(self, whole: &Fragment, small: TileShape) -> Option<(Fragment, PartPlaces)> {
        whole.part(small, self.start)
    }
}

/// The larger tile of an operation that shapes, the smaller one, and how they relate; `None` for
/// any other.
#[doc(hidden)]
pub fn shaping(program: &Program<'_, '_>, op: Op) -> Option<(Value, Value, Shaping)> {
    let (operand, result) = (program.operand(op, 0)?, program.result(op, 0)?);
    match program.role(op) {
        OpRole::Reduce => Some((operand, result, Shaping::Slice(reduced(program, op)?))),
        OpRole::Broadcast => Some((result, operand, repeated(program, op)?)),
        _ => None,
    }
}
