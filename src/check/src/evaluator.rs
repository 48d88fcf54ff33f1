//! The checker's own evaluator of fragments and memory maps.

use crate::violation::Violation;
use lanebook_ir::{Op, Program, Value};
use lanebook_layout::AxisId;
use lanebook_plan::{AllocPlan, End, GlobalPlan, Plan};
use lanebook_tables::Side;
use lanebook_tile::map::{BitMatrix, Fragment, PlaceTable, TileShape};

/// A place in memory, relative to its tile's start.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Multiples of the outer stride (global tiles; else 0).
    pub lead: u32,
    /// Bytes.
    pub byte: u32,
}

impl Position {
    /// So many bytes further.
    pub(crate) fn plus(self, bytes: u32) -> Option<Self> {
        Some(Self { byte: self.byte.checked_add(bytes)?, ..self })
    }
}

/// Exclusive or of the columns that `index` selects; `None` if it selects one that is not there.
pub(crate) fn pick(columns: &[u32], index: u32) -> Option<u32> {
    let mut out = 0u32;
    let mut rest = index;
    for column in columns {
        if rest & 1 == 1 {
            out ^= column;
        }
        rest >>= 1;
    }
    if rest == 0 { Some(out) } else { None }
}

/// `2^n`.
pub(crate) fn power(n: usize) -> Option<u32> {
    1u32.checked_shl(u32::try_from(n).ok()?)
}

/// The dimension that the columns span.
pub(crate) fn rank(columns: impl Iterator<Item = u32>) -> u8 {
    let mut leaders = [0u32; 32];
    let mut out = 0u8;
    for column in columns {
        let mut left = column;
        while let Some(top) = left.checked_ilog2() {
            let Some(leader) = leaders.get_mut(top as usize) else { break };
            if *leader == 0 {
                *leader = left;
                out = out.saturating_add(1);
                break;
            }
            left ^= *leader;
        }
    }
    out
}

/// Bytes of an element; `None` unless it is a whole number of them.
pub(crate) fn element_bytes(shape: TileShape) -> Option<u32> {
    if shape.bits == 0 || !shape.bits.is_multiple_of(8) {
        None
    } else {
        Some(u32::from(shape.bits) / 8)
    }
}

/// Elements of a panel.
pub(crate) fn panel_size(shape: TileShape) -> Option<u32> {
    power(usize::from(shape.rows).checked_add(usize::from(shape.cols))?)
}

/// Panel, row and column in it of an element; `None` outside the tile.
fn in_panel(shape: TileShape, e: u32) -> Option<(u32, u32, u32)> {
    let (size, cols) = (panel_size(shape)?, power(usize::from(shape.cols))?);
    let (panel, inside) = (e.checked_div(size)?, e.checked_rem(size)?);
    let panels = u32::from(shape.grid.rows).checked_mul(u32::from(shape.grid.cols))?;
    if panel < panels {
        Some((panel, inside.checked_div(cols)?, inside.checked_rem(cols)?))
    } else {
        None
    }
}

/// Row and column of an element; `None` outside the tile.
pub(crate) fn row_col(shape: TileShape, e: u32) -> Option<(u32, u32)> {
    let (panel, row, col) = in_panel(shape, e)?;
    let across = u32::from(shape.grid.cols);
    let up = panel.checked_div(across)?.checked_mul(power(usize::from(shape.rows))?)?;
    let right = panel.checked_rem(across)?.checked_mul(power(usize::from(shape.cols))?)?;
    Some((row.checked_add(up)?, col.checked_add(right)?))
}

/// The element in a row and a column of a tile.
pub(crate) fn element_at(shape: TileShape, row: u32, col: u32) -> Option<u32> {
    let (height, width) = (power(usize::from(shape.rows))?, power(usize::from(shape.cols))?);
    let panel = row
        .checked_div(height)?
        .checked_mul(u32::from(shape.grid.cols))?
        .checked_add(col.checked_div(width)?)?;
    let inside =
        row.checked_rem(height)?.checked_mul(width)?.checked_add(col.checked_rem(width)?)?;
    let e = panel.checked_mul(height.checked_mul(width)?)?.checked_add(inside)?;
    (row_col(shape, e) == Some((row, col))).then_some(e)
}

/// The number of the panel that comes `index`-th, when panels are counted row by row or column by
/// column.
pub(crate) fn nth_panel(shape: TileShape, by_rows: bool, index: u32) -> Option<u32> {
    let (rows, cols) = (u32::from(shape.grid.rows), u32::from(shape.grid.cols));
    if index >= rows.checked_mul(cols)? {
        return None;
    }
    if by_rows {
        Some(index)
    } else {
        index.checked_rem(rows)?.checked_mul(cols)?.checked_add(index.checked_div(rows)?)
    }
}

/// A tile in memory.
#[derive(Copy, Clone)]
pub(crate) enum Memory<'p> {
    /// In shared memory.
    Shared(&'p AllocPlan),
    /// In global memory: rows are contiguous (else columns).
    Global(&'p GlobalPlan, bool),
}

impl<'p> Memory<'p> {
    /// The memory at an end of a movement.
    pub(crate) fn of(plan: &'p Plan<'_>, end: End) -> Option<Result<Self, Violation>> {
        match end {
            End::Registers(_) => None,
            End::Shared(k) => plan.allocs.get(usize::from(k)).map(|a| Ok(Self::Shared(a))),
            End::Global(k) => {
                let g = plan.globals.get(usize::from(k))?;
                let order = [true, false]
                    .into_iter()
                    .find(|&row_major| is_global_map(g, row_major) == Some(true));
                Some(
                    order
                        .map(|row_major| Self::Global(g, row_major))
                        .ok_or(Violation::GlobalMap { global: k }),
                )
            }
        }
    }

    pub(crate) fn shape(&self) -> TileShape {
        match self {
            Self::Shared(a) => a.shape,
            Self::Global(g, _) => g.map.shape,
        }
    }

    fn row_major(&self) -> bool {
        match self {
            Self::Shared(a) => a.layout.row_major,
            Self::Global(_, row_major) => *row_major,
        }
    }

    /// Where an element starts; `None` outside the tile.
    pub(crate) fn at(&self, e: u32) -> Option<Position> {
        let shape = self.shape();
        let bytes = element_bytes(shape)?;
        match self {
            Self::Global(_, row_major) => {
                let (row, col) = row_col(shape, e)?;
                let (outer, inner) = if *row_major { (row, col) } else { (col, row) };
                Some(Position { lead: outer, byte: inner.checked_mul(bytes)? })
            }
            Self::Shared(a) if a.layout.by_table => {
                let byte = by_table(a.table.as_ref()?, in_panel(shape, e)?, shape)?;
                Some(Position { lead: 0, byte })
            }
            Self::Shared(a) => {
                // Panels one after the other, each in its own order.
                let (panel, row, col) = in_panel(shape, e)?;
                let (outer, inner, inner_bits) = if a.layout.row_major {
                    (row, col, shape.cols)
                } else {
                    (col, row, shape.rows)
                };
                let start = u64::from(panel).checked_mul(u64::from(panel_size(shape)?))?;
                // Strip after strip, all rows of the panel in each; a whole row is one strip.
                let column_block = a
                    .layout
                    .column_block
                    .map_or(inner_bits, |column_block| column_block.min(inner_bits));
                let outer_bits = if a.layout.row_major { shape.rows } else { shape.cols };
                let (number, rest) = (
                    inner.checked_shr(u32::from(column_block))?,
                    inner & 1u32.checked_shl(u32::from(column_block))?.wrapping_sub(1),
                );
                let outer = turned(a, outer)?;
                let line = u64::from(number)
                    .checked_shl(u32::from(outer_bits))?
                    .checked_add(u64::from(outer))?;
                let inside =
                    line.checked_shl(u32::from(column_block))?.checked_add(u64::from(rest))?;
                let plain = start.checked_add(inside)?.checked_mul(u64::from(bytes))?;
                let placed = a.layout.post.apply(i64::try_from(plain).ok()?).ok()?;
                Some(Position { lead: 0, byte: u32::try_from(placed).ok()? })
            }
        }
    }

    /// The element that is `index` along the contiguous dimension.
    pub(crate) fn inner(&self, index: u32) -> Option<u32> {
        if self.row_major() { Some(index) } else { index.checked_shl(u32::from(self.shape().cols)) }
    }
}

/// The byte that a table says for a row and a column of a panel.
fn by_table(
    table: &PlaceTable,
    (panel, row, col): (u32, u32, u32),
    shape: TileShape,
) -> Option<u32> {
    let (down, along) = table.panels();
    let across = u32::from(shape.grid.cols);
    let mut byte = panel
        .checked_div(across)?
        .checked_mul(down)?
        .checked_add(panel.checked_rem(across)?.checked_mul(along)?)?;
    let (cols, rows) = table.columns().split_at_checked(usize::from(shape.cols))?;
    for (index, bits) in [(col, cols), (row, rows)] {
        for (bit, bytes) in (0u32..).zip(bits) {
            if index.checked_shr(bit)? & 1 == 1 {
                byte = if table.adds() { byte.checked_add(*bytes)? } else { byte ^ bytes };
            }
        }
    }
    Some(byte)
}

/// A row's number in the order in which rows are stored.
fn turned(a: &AllocPlan, row: u32) -> Option<u32> {
    let Some(turn) = a.layout.turn else { return Some(row) };
    let (low, count) = (u32::from(turn.low), u32::from(turn.count));
    let bits = |from: u32, many: u32| {
        Some(row.checked_shr(from)? & 1u32.checked_shl(many)?.checked_sub(1)?)
    };
    let above = low.checked_add(count)?;
    let high = row.checked_shr(above)?.checked_shl(above)?;
    Some(high | bits(0, low)?.checked_shl(count)? | bits(low, count)?)
}

/// Whether a global tile's columns are those of its rows and columns.
fn is_global_map(g: &GlobalPlan, row_major: bool) -> Option<bool> {
    let shape = g.map.shape;
    let bytes = element_bytes(shape)?;
    let total = usize::from(shape.rows).checked_add(usize::from(shape.cols))?;
    if g.map.columns.as_slice().len() != total {
        return Some(false);
    }
    for (bit, column) in g.map.columns.as_slice().iter().enumerate() {
        let (row, col) = row_col(shape, power(bit)?)?;
        let (outer, inner) = if row_major { (row, col) } else { (col, row) };
        if column.lead != outer || column.bytes != inner.checked_mul(bytes)? {
            return Some(false);
        }
    }
    let size = panel_size(shape)?;
    let steps = [
        (g.map.panels.0, u32::from(shape.grid.cols), shape.grid.rows),
        (g.map.panels.1, 1, shape.grid.cols),
    ];
    for (column, step, count) in steps {
        if count > 1 {
            let (row, col) = row_col(shape, size.checked_mul(step)?)?;
            let (outer, inner) = if row_major { (row, col) } else { (col, row) };
            if column.lead != outer || column.bytes != inner.checked_mul(bytes)? {
                return Some(false);
            }
        }
    }
    Some(true)
}

/// Bits of a place: an element, or a whole register where each narrow one has its own (the rest of
/// it is nobody's).
pub(crate) fn place_bits(f: &Fragment) -> u32 {
    let bits = u32::from(f.shape.bits);
    if f.unpacked { bits.max(32) } else { bits }
}

/// The element at a bit offset of a lane's tile registers, and which byte of it.
pub(crate) fn held(f: &Fragment, bit: u32, lane: u32, warp: u32) -> Option<(u32, u32)> {
    let width = place_bits(f);
    if bit.checked_rem(width)? >= u32::from(f.shape.bits) {
        return None;
    }
    let place = bit.checked_div(width)?;
    let places = power(f.register.as_slice().len())?;
    let panel = nth_panel(f.shape, f.by_rows, place.checked_div(places)?)?;
    let inside = pick(f.register.as_slice(), place.checked_rem(places)?)?
        ^ pick(f.lane.as_slice(), lane)?
        ^ pick(f.warp.as_slice(), warp)?;
    let e = panel.checked_mul(panel_size(f.shape)?)?.checked_add(inside)?;
    Some((e, bit.checked_rem(width)? / 8))
}

/// Sum of `2^weight` over the bits of `index`.
pub(crate) fn weigh<const N: usize>(weights: &BitMatrix<u8, N>, index: u32) -> Option<u32> {
    let mut out = 0u32;
    let mut rest = index;
    for &weight in weights.as_slice() {
        if rest & 1 == 1 {
            out = out.checked_add(power(usize::from(weight))?)?;
        }
        rest >>= 1;
    }
    if rest == 0 { Some(out) } else { None }
}

/// Where a coordinate of an atom stands on one side: (lane, bit) or (slot, byte).
pub(crate) fn spot(side: &Side<'_>, x: u64, major: AxisId, minor: AxisId) -> Option<(u32, u32)> {
    let on = |axis| u32::try_from(side.layout.offset_on(x, axis).ok()?).ok();
    Some((on(major)?, on(minor)?))
}

/// Every fragment has the group's lanes and warps and all elements.
pub(crate) fn fragments(plan: &Plan<'_>) -> Result<(), Violation> {
    for (k, f) in plan.fragments.iter().enumerate() {
        let f = &f.fragment;
        let fragment = u16::try_from(k).unwrap_or(u16::MAX);
        let length = |have: usize, want: u8| -> Result<(), Violation> {
            let have = u8::try_from(have).unwrap_or(u8::MAX);
            if have == want { Ok(()) } else { Err(Violation::Fragment { fragment, have, want }) }
        };
        length(f.lane.as_slice().len(), plan.wave)?;
        length(f.warp.as_slice().len(), plan.warps)?;
        let columns = || {
            f.register.as_slice().iter().chain(f.lane.as_slice()).chain(f.warp.as_slice()).copied()
        };
        let want = f.shape.rows.saturating_add(f.shape.cols);
        length(usize::from(rank(columns())), want)?;
        if columns().any(|c| row_col(f.shape, c).is_none()) {
            return Err(Violation::Fragment { fragment, have: u8::MAX, want });
        }
    }
    Ok(())
}

/// Statement 10: the tiles of an elementwise operation are distributed alike.
pub(crate) fn elementwise(
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    op: Op,
) -> Result<(), Violation> {
    let fragment = |v: Value| {
        plan.fragments
            .iter()
            .find(|f| f.value == v)
            .map(|f| f.fragment)
            .ok_or(Violation::Missing(op))
    };
    let result = fragment(program.result(op, 0).ok_or(Violation::Missing(op))?)?;
    for (k, value) in (0u8..).zip(program.operands(op)) {
        // A constant is the same everywhere.
        if program.constant(value).is_some() {
            continue;
        }
        let other = fragment(value)?;
        let same_shape = (other.shape.rows, other.shape.cols, other.shape.grid)
            == (result.shape.rows, result.shape.cols, result.shape.grid);
        let same_places = (other.register, other.lane, other.warp, other.by_rows)
            == (result.register, result.lane, result.warp, result.by_rows);
        if !same_shape || !same_places {
            return Err(Violation::End { op, operand: k });
        }
    }
    Ok(())
}

/// Whether the plan gives no result of an operation a distribution, and none is needed: who reads a
/// tile looks for one, and a number has none.
pub(crate) fn is_undecided(program: &Program<'_, '_>, plan: &Plan<'_>, op: Op) -> bool {
    program.results(op).all(|value| {
        program.constant(value).is_some() || plan.fragments.iter().all(|f| f.value != value)
    })
}
