//! Tensor memory: where tiles lie in it, what can be allocated, what a warp reaches, and the shapes
//! of products.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::tables::Major;
//! use lanebook::unit::tensor::{Instruction, ProductRequest, address, allocation, instruction, layout, memory, move_named, reach, reaches, shape, tile_named};
//!
//! let arch = TABLES.arch(TABLES.arch_named("sm_100a").unwrap()).unwrap();
//! let tensor = memory(&TABLES, arch).unwrap();
//! // Lane and column as an address; columns are allocated in powers of two; a warp reaches its own lanes.
//! assert_eq!(address(tensor, 1, 4), Ok((1 << 16) + 4));
//! assert_eq!((allocation(tensor, 65), reach(tensor, 1)), (Ok(128), (32, 32)));
//! assert!(reaches(tensor, 0, 0, 32).is_ok() && reaches(tensor, 0, 32, 32).is_err());
//! // Where an accumulator of 128 rows lies, and which tile a product has.
//! let tile = tile_named(&TABLES, arch, "D").unwrap();
//! assert_eq!(layout(tile, 128, 64, false).unwrap().view().size_value(), Ok(128 * 64));
//! let product = ProductRequest { kind: "f16", blocks: 1, stationary: false, sparse: false, m: 128, n: 64, k: 16 };
//! let (_, accumulator) = shape(&TABLES, arch, &product).unwrap();
//! assert_eq!(accumulator.name, "D");
//! assert!(shape(&TABLES, arch, &ProductRequest { n: 60, ..product }).is_err());
//! // The instruction's descriptor, and the instruction that loads what it leaves.
//! let asked = Instruction {
//!     descriptor: "tcgen05.instr.f16", blocks: 1, rows: 128, columns: 64,
//!     types: ["f16", "f16", "f32"], majors: [Major::Depth, Major::Depth],
//! };
//! assert!(instruction(&TABLES, arch, &asked).unwrap() != 0);
//! assert_eq!(move_named(&TABLES, arch, "32x32b").unwrap().name, "32x32b");
//! ```

use crate::map::log2_exact;
use crate::unit::descriptor::DescriptorWord;
use crate::unit::tile::{self, ParamValues};
use crate::unit::{UnitError, descriptor_named, has};
use lanebook_layout::{AxisId, Int, Iter, Layout};
use lanebook_tables::{
    Arch, FieldRole, Major, Tables, TensorMemory, TensorMove, TensorTile, TileLayout, UnitShape,
};

/// The architecture's tensor memory.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn memory<'a>(tables: &Tables<'a>, arch: &Arch<'_>) -> Result<&'a TensorMemory<'a>, UnitError> {
    tables.units.tensor_memories.iter().find(|m| has(arch, m.feature)).ok_or(UnitError::Absent)
}

/// The architecture's tile with this name.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn tile_named<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    name: &str,
) -> Result<&'a TensorTile<'a>, UnitError> {
    tables
        .units
        .tensor_tiles
        .iter()
        .find(|t| t.name == name && has(arch, t.feature))
        .ok_or(UnitError::Absent)
}

/// Bytes of a cell: the axis `TCol` counts columns of 32 bits.
const CELL_BYTES: i64 = 4;

/// Where the elements of a `rows` x `columns` tile lie, relative to its first cell. `second` asks
/// for the tile's second place.
///
/// # Errors
/// [`UnitError::Extent`] for a shape that the tile does not have, or for more bytes than a cell has (4
/// is `needed` then); [`UnitError::Absent`] if there is no second place.
pub fn layout(
    tile: &TensorTile<'_>,
    rows: u32,
    columns: u32,
    second: bool,
) -> Result<Layout, UnitError> {
    let mut out = tile::make(&tile.layout, &[rows, columns], &mut ParamValues::default())?;
    // Bytes beyond a cell are those of its neighbours.
    let (_, last) = out.view().reach(AxisId::BYTE).map_err(UnitError::Layout)?;
    if last >= CELL_BYTES {
        return Err(UnitError::Extent {
            dim: 1,
            found: u64::from(columns),
            needed: CELL_BYTES.unsigned_abs(),
        });
    }
    if second {
        if tile.second_lanes == 0 {
            return Err(UnitError::Absent);
        }
        out.add_offset(Int::known(i64::from(tile.second_lanes)), AxisId::TLANE)?;
    }
    Ok(out)
}

/// The address of a cell.
///
/// # Errors
/// [`UnitError::Columns`] for a column outside, [`UnitError::Unaligned`] for a lane outside the memory
/// (what it must stay below).
pub fn address(memory: &TensorMemory<'_>, lane: u32, column: u32) -> Result<u32, UnitError> {
    if column >= u32::from(memory.columns) {
        return Err(UnitError::Columns {
            found: column,
            low: 0,
            high: u32::from(memory.columns).saturating_sub(1),
        });
    }
    let outside =
        UnitError::Unaligned { address: u64::from(lane), needed: u32::from(memory.lanes) };
    if lane >= u32::from(memory.lanes) {
        return Err(outside);
    }
    Ok(lane.checked_shl(memory.lane_shift.into()).ok_or(outside)? | column)
}

/// The columns that must be allocated to have so many: a power of two.
///
/// # Errors
/// [`UnitError::Columns`] for none, or more than there are.
pub fn allocation(memory: &TensorMemory<'_>, columns: u32) -> Result<u32, UnitError> {
    let (low, high) = (u32::from(memory.allocation.0), u32::from(memory.allocation.1));
    let refused = UnitError::Columns { found: columns, low, high };
    if columns == 0 {
        return Err(refused);
    }
    let most = columns.checked_next_power_of_two().ok_or(refused)?.max(low);
    if most > high { Err(refused) } else { Ok(most) }
}

/// The lanes that a warp reaches by loads and stores: the first, and how many.
#[must_use]
pub fn reach(memory: &TensorMemory<'_>, warp: u32) -> (u32, u32) {
    let part = warp.checked_rem(u32::from(memory.warps)).unwrap_or(0);
    (part.saturating_mul(u32::from(memory.lanes_per_warp)), u32::from(memory.lanes_per_warp))
}

/// Whether a warp reaches `lanes` lanes from `lane` on.
///
/// # Errors
/// [`UnitError::Reach`] with the first lane that it does not reach.
pub fn reaches(
    memory: &TensorMemory<'_>,
    warp: u32,
    lane: u32,
    lanes: u32,
) -> Result<(), UnitError> {
    let (first, count) = reach(memory, warp);
    let end = first.saturating_add(count);
    let last = lane.saturating_add(lanes.saturating_sub(1));
    if lane < first || lane >= end {
        return Err(UnitError::Reach { warp, lane, first });
    }
    if last >= end {
        return Err(UnitError::Reach { warp, lane: end, first });
    }
    Ok(())
}

/// What a product is asked for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProductRequest<'k> {
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
/// [`UnitError::Absent`] if no shape has the kind, blocks and form; else [`UnitError::Extent`] for
/// dimension 0 (rows), 1 (columns) or 2 (depth) that none of these has: `needed` is one that
/// exists, the nearest below if there is one.
pub fn shape<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    product: &ProductRequest<'_>,
) -> Result<(&'a UnitShape<'a>, &'a TensorTile<'a>), UnitError> {
    let same = |s: &&UnitShape<'_>| {
        has(arch, s.feature)
            && s.kind == product.kind
            && (s.blocks, s.stationary, s.sparse)
                == (product.blocks, product.stationary, product.sparse)
    };
    let mut refused = UnitError::Absent;
    for shape in tables.units.shapes.iter().filter(same) {
        let nearest = |dim: u8, found: u32, needed: Option<u16>| UnitError::Extent {
            dim,
            found: u64::from(found),
            needed: u64::from(needed.unwrap_or(0)),
        };
        let below = |number: &&u16, most: u32| u32::from(**number) <= most;
        let Some((_, tile)) = shape.m.iter().find(|(m, _)| u32::from(*m) == product.m) else {
            let rows = shape.m.iter().map(|(m, _)| m);
            let near = rows.clone().filter(|m| below(m, product.m)).max().or(rows.min());
            refused = nearest(0, product.m, near.copied());
            continue;
        };
        let in_steps = |s: &lanebook_tables::Steps| {
            let from = product.n.checked_sub(u32::from(s.low));
            product.n <= u32::from(s.high)
                && from.and_then(|d| d.checked_rem(u32::from(s.step))) == Some(0)
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

/// What an instruction descriptor is to say.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Instruction<'k> {
    /// The descriptor's name.
    pub descriptor: &'k str,
    /// Blocks that work together.
    pub blocks: u8,
    /// Rows of the product.
    pub rows: u16,
    /// Columns of the product.
    pub columns: u16,
    /// Element types of A, B and D, by name.
    pub types: [&'k str; 3],
    /// Which coordinate of A and of B is contiguous.
    pub majors: [Major; 2],
}

/// Whether products of so many columns take operand `operand` (0 = A, 1 = B) of this type in this
/// order, as far as the limits of the tables go; which swizzle modes an order has is
/// [`crate::unit::operand`]'s.
///
/// # Errors
/// [`UnitError::Order`] with the first limit that forbids it.
#[doc(hidden)]
pub fn takes_order(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    (descriptor, blocks): (&str, u8),
    (operand, dtype, major): (u8, &str, Major),
    columns: u16,
) -> Result<(), UnitError> {
    for (limit, it) in (0u16..).zip(tables.units.order_limits) {
        let concerned = if operand == 0 { it.operands.0 } else { it.operands.1 };
        let speaks = has(arch, it.feature)
            && concerned
            && it.major == major
            && (it.blocks == 0 || it.blocks == blocks);
        let inside = |s: &lanebook_tables::Steps| {
            columns <= s.high
                && columns.checked_sub(s.low).and_then(|above| above.checked_rem(s.step)) == Some(0)
        };
        if speaks
            && it.types.contains(&dtype)
            && it.descriptors.contains(&descriptor)
            && !it.n.iter().any(inside)
        {
            return Err(UnitError::Order { limit, operand, columns });
        }
    }
    Ok(())
}

/// The instruction descriptor of a product.
///
/// # Errors
/// [`UnitError::Absent`] if the architecture has no such descriptor; [`UnitError::NoWord`] for a type or an
/// order that it does not know, [`UnitError::Range`] or [`UnitError::Step`] for a shape that its fields do
/// not hold, [`UnitError::Order`] for an order that such products do not take.
pub fn instruction(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    asked: &Instruction<'_>,
) -> Result<u32, UnitError> {
    let Instruction { descriptor, blocks, rows, columns, types, majors } = *asked;
    let table = descriptor_named(tables, arch, descriptor)?;
    for ((operand, dtype), major) in (0u8..).zip(types).zip(majors) {
        takes_order(tables, arch, (descriptor, blocks), (operand, dtype, major), columns)?;
    }
    let mut word = DescriptorWord::new(table);
    for (number, field) in (0u8..).zip(table.fields) {
        match field.role {
            FieldRole::Rows => word.set_at(number, u64::from(rows))?,
            FieldRole::Columns => word.set_at(number, u64::from(columns))?,
            FieldRole::Type(of) => {
                word.set_word(field.name, types.get(usize::from(of)).ok_or(UnitError::NoField)?)?
            }
            FieldRole::Major(of) => {
                let major = majors.get(usize::from(of)).ok_or(UnitError::NoField)?;
                word.set_word(field.name, if *major == Major::Depth { "depth" } else { "outer" })?;
            }
            FieldRole::Plain
            | FieldRole::Scale(_)
            | FieldRole::Start
            | FieldRole::Pattern(_)
            | FieldRole::Swizzle => {}
        }
    }
    u32::try_from(word.pack()?).map_err(|_| UnitError::NoField)
}

/// The lane of tensor memory that a row of a tile adds, for tiles whose rows lie in lanes and whose
/// columns lie side by side in columns; else `None`.
#[doc(hidden)]
#[must_use]
pub fn row_lane(tile: &TensorTile<'_>, row: u32) -> Option<u32> {
    let [rows, _] = *tile.layout.dims else { return None };
    let (of_rows, of_columns) = tile.layout.iters.split_at_checked(usize::from(rows))?;
    let [column] = of_columns else { return None };
    if (column.axis, column.stride.factor, column.stride.param) != (AxisId::TCOL, 1, 0)
        || !tile.layout.replicas.is_empty()
    {
        return None;
    }
    let (mut rest, mut lane) = (row, 0u32);
    for it in of_rows.iter().rev() {
        if it.axis != AxisId::TLANE || it.extent.param != 0 || it.stride.param != 0 {
            return None;
        }
        lane =
            lane.checked_add(rest.checked_rem(it.extent.factor)?.checked_mul(it.stride.factor)?)?;
        rest = rest.checked_div(it.extent.factor)?;
    }
    (rest == 0).then_some(lane)
}

/// Most bits of a load's coordinate.
#[doc(hidden)]
pub const MAX_MOVE_BITS: usize = 16;

/// One bit of what a load moves.
#[doc(hidden)]
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MoveBit {
    /// Of the lane of tensor memory (else of the column), as log2.
    pub lane_cell: bool,
    /// See `lane_cell`.
    pub cell: u8,
    /// Of the warp's lane (else of the number of the 32-bit register), as log2.
    pub lane: bool,
    /// See `lane`.
    pub place: u8,
}

/// The bits of a load or store for a count, without packing; a form that takes an offset takes
/// `count` for it, so that its parts follow each other. `None` if its extents and steps are no
/// powers of two.
#[doc(hidden)]
#[must_use]
pub fn move_bits(
    form: &TensorMove<'_>,
    count: u16,
) -> Option<heapless::Vec<MoveBit, MAX_MOVE_BITS>> {
    let mut out = heapless::Vec::new();
    let amount = |a: lanebook_tables::Amount| {
        u32::from(if a.param == 0 { 1 } else { count }).checked_mul(a.factor)
    };
    for (cell, tuple) in form.cells.iters.iter().zip(form.tuple.iters) {
        let bits = log2_exact(u64::from(amount(cell.extent)?))?;
        let (from, to) = (
            log2_exact(u64::from(amount(cell.stride)?))?,
            log2_exact(u64::from(amount(tuple.stride)?))?,
        );
        let lane = tuple.axis == AxisId::LANE;
        for bit in 0..bits {
            let place = to.checked_add(bit)?.checked_sub(if lane { 0 } else { 5 })?;
            out.push(MoveBit {
                lane_cell: cell.axis == AxisId::TLANE,
                cell: from.checked_add(bit)?,
                lane,
                place,
            })
            .ok()?;
        }
    }
    Some(out)
}

/// The architecture's form of loads and stores with this name.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn move_named<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    name: &str,
) -> Result<&'a TensorMove<'a>, UnitError> {
    tables
        .units
        .tensor_moves
        .iter()
        .find(|m| m.name == name && has(arch, m.feature))
        .ok_or(UnitError::Absent)
}

/// What one instruction moves: cells of tensor memory relative to its address, and the lane and bit
/// where each is, over the same (row, column), row-major; packed ones over (row, column, half of a
/// register).
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedCells {
    /// To lane and column of tensor memory.
    pub cells: Layout,
    /// To lane and bit.
    pub tuple: Layout,
}

/// The layouts of a load or store for a count, with the offset that the instruction takes (0 where
/// it takes none). `packed` moves the lower bits of cells, several a register.
///
/// # Errors
/// [`UnitError::Extent`] for a count that the form does not have (`needed`: the greatest below, or the
/// least).
#[doc(hidden)]
pub fn moved(
    form: &TensorMove<'_>,
    count: u16,
    offset: u32,
    packed: bool,
) -> Result<MovedCells, UnitError> {
    if !form.counts.contains(&count) {
        let below = form.counts.iter().filter(|c| **c <= count).max().or(form.counts.first());
        return Err(UnitError::Extent {
            dim: 1,
            found: u64::from(count),
            needed: u64::from(below.copied().unwrap_or(0)),
        });
    }
    let make = |tile: &TileLayout<'_>, cells: bool| -> Result<Layout, UnitError> {
        let mut values = ParamValues::default();
        for (number, _) in (1u8..).zip(tile.params) {
            let counts = tile.iters.iter().any(|it| it.extent.param == number);
            let value = if counts { u64::from(count) } else { u64::from(offset) };
            if !values.set(number, value) {
                return Err(UnitError::NoValue { param: number.saturating_sub(1) });
            }
        }
        let (neighbours, bits) = (u32::from(form.packed.0), i64::from(form.packed.1));
        let mut out = Layout::new();
        if packed {
            let step = if cells { (1, AxisId::TCOL) } else { (bits, AxisId::BIT) };
            out.push_shard(Iter::new(neighbours, step.0, step.1))?;
        }
        for it in tile.iters.iter().rev() {
            let overflow = UnitError::Layout(lanebook_layout::Error::Overflow);
            let missing = UnitError::NoValue { param: it.extent.param.saturating_sub(1) };
            let extent = values.of(it.extent).and_then(|e| u32::try_from(e).ok()).ok_or(missing)?;
            let stride = values.of(it.stride).and_then(|s| i64::try_from(s).ok()).ok_or(missing)?;
            // Columns of packed cells are apart by what a register holds; the offset is the
            // instruction's own.
            let wide = packed && it.axis == AxisId::TCOL && it.stride.param == 0;
            let stride =
                stride.checked_mul(if wide { i64::from(neighbours) } else { 1 }).ok_or(overflow)?;
            out.push_shard(Iter::new(extent, stride, it.axis))?;
        }
        Ok(out)
    };
    Ok(MovedCells { cells: make(&form.cells, true)?, tuple: make(&form.tuple, false)? })
}
