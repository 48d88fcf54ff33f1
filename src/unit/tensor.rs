//! Tensor memory: where tiles lie in it, what can be allocated, what a warp reaches, and the shapes of products.

use super::tile::{self, Values};
use super::{Error, has};
use lanebook_layout::Layout;
use lanebook_tables::{Arch, Tables, TensorMemory, TensorTile, UnitShape};

/// The architecture's tensor memory.
///
/// # Errors
/// [`Error::Absent`].
pub fn memory<'a>(tables: &Tables<'a>, arch: &Arch<'_>) -> Result<&'a TensorMemory, Error> {
    tables.units.tensor_memories.iter().find(|m| has(arch, m.feature)).ok_or(Error::Absent)
}

/// The architecture's tile with this name.
///
/// # Errors
/// [`Error::Absent`].
pub fn tile_named<'a>(tables: &Tables<'a>, arch: &Arch<'_>, name: &str) -> Result<&'a TensorTile<'a>, Error> {
    tables.units.tensor_tiles.iter().find(|t| t.name == name && has(arch, t.feature)).ok_or(Error::Absent)
}

/// Where the elements of a `rows` x `columns` tile lie, relative to its first cell. `second` asks for the tile's second place.
///
/// # Errors
/// [`Error::Extent`] for a shape that the tile does not have; [`Error::Absent`] if there is no second place.
pub fn layout(tile: &TensorTile<'_>, rows: u32, columns: u32, second: bool) -> Result<Layout, Error> {
    let mut out = tile::make(&tile.layout, &[rows, columns], &mut Values::default())?;
    if second {
        if tile.second_lanes == 0 {
            return Err(Error::Absent);
        }
        out.add_offset(lanebook_layout::Int::known(i64::from(tile.second_lanes)), lanebook_layout::AxisId::TLANE)?;
    }
    Ok(out)
}

/// The address of a cell.
///
/// # Errors
/// [`Error::Columns`] for a column outside, [`Error::Unaligned`] for a lane outside the memory (what it must stay below).
pub fn address(memory: &TensorMemory, lane: u32, column: u32) -> Result<u32, Error> {
    if column >= u32::from(memory.columns) {
        return Err(Error::Columns { found: column, low: 0, high: u32::from(memory.columns).saturating_sub(1) });
    }
    let outside = Error::Unaligned { address: u64::from(lane), needed: u32::from(memory.lanes) };
    if lane >= u32::from(memory.lanes) {
        return Err(outside);
    }
    Ok(lane.checked_shl(memory.lane_shift.into()).ok_or(outside)? | column)
}

/// The columns that must be allocated to have so many: a power of two.
///
/// # Errors
/// [`Error::Columns`] for none, or more than there are.
pub fn allocation(memory: &TensorMemory, columns: u32) -> Result<u32, Error> {
    let (low, high) = (u32::from(memory.allocation.0), u32::from(memory.allocation.1));
    let refused = Error::Columns { found: columns, low, high };
    if columns == 0 {
        return Err(refused);
    }
    let most = columns.checked_next_power_of_two().ok_or(refused)?.max(low);
    if most > high { Err(refused) } else { Ok(most) }
}

/// The lanes that a warp reaches by loads and stores: the first, and how many.
#[must_use]
pub fn reach(memory: &TensorMemory, warp: u32) -> (u32, u32) {
    let part = warp.checked_rem(u32::from(memory.warps)).unwrap_or(0);
    (part.saturating_mul(u32::from(memory.lanes_per_warp)), u32::from(memory.lanes_per_warp))
}

/// Whether a warp reaches `lanes` lanes from `lane` on.
///
/// # Errors
/// [`Error::Reach`] with the first lane that it does not reach.
pub fn reaches(memory: &TensorMemory, warp: u32, lane: u32, lanes: u32) -> Result<(), Error> {
    let (first, count) = reach(memory, warp);
    let end = first.saturating_add(count);
    let last = lane.saturating_add(lanes.saturating_sub(1));
    if lane < first || lane >= end {
        return Err(Error::Reach { warp, lane, first });
    }
    if last >= end {
        return Err(Error::Reach { warp, lane: end, first });
    }
    Ok(())
}

/// What a product is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Product<'k> {
    /// Its kind, as the tables name it.
    pub kind: &'k str,
    /// Blocks that work together.
    pub blocks: u8,
    /// Whether B stays in the unit.
    pub stationary: bool,
    /// Whether A is sparse.
    pub sparse: bool,
    /// Rows.
    pub m: u32,
    /// Columns.
    pub n: u32,
    /// Depth.
    pub k: u32,
}

/// The table's shape for a product, and the accumulator's tile.
///
/// # Errors
/// [`Error::Absent`] if no shape has the kind, blocks and form; else [`Error::Extent`] for dimension 0 (rows), 1 (columns) or 2
/// (depth) that none of these has: `needed` is one that exists, the nearest below if there is one.
pub fn shape<'a>(tables: &Tables<'a>, arch: &Arch<'_>, product: &Product<'_>) -> Result<(&'a UnitShape<'a>, &'a TensorTile<'a>), Error> {
    let same = |s: &&UnitShape<'_>| {
        has(arch, s.feature) && s.kind == product.kind && (s.blocks, s.stationary, s.sparse) == (product.blocks, product.stationary, product.sparse)
    };
    let mut refused = Error::Absent;
    for shape in tables.units.shapes.iter().filter(same) {
        let nearest = |dim: u8, found: u32, needed: Option<u16>| Error::Extent { dim, found: u64::from(found), needed: u64::from(needed.unwrap_or(0)) };
        let below = |number: &&u16, most: u32| u32::from(**number) <= most;
        let Some((_, tile)) = shape.m.iter().find(|(m, _)| u32::from(*m) == product.m) else {
            let rows = shape.m.iter().map(|(m, _)| m);
            let near = rows.clone().filter(|m| below(m, product.m)).max().or(rows.min());
            refused = nearest(0, product.m, near.copied());
            continue;
        };
        let in_steps = |s: &lanebook_tables::Steps| {
            let from = product.n.checked_sub(u32::from(s.low));
            product.n <= u32::from(s.high) && from.and_then(|d| d.checked_rem(u32::from(s.step))) == Some(0)
        };
        if !shape.n.iter().any(in_steps) {
            refused = nearest(1, product.n, shape.n.first().map(|s| s.step.max(s.low)));
            continue;
        }
        if !shape.k.iter().any(|k| u32::from(*k) == product.k) {
            refused = nearest(2, product.k, shape.k.first().copied());
            continue;
        }
        return Ok((shape, tile_named(tables, arch, tile)?));
    }
    Err(refused)
}
