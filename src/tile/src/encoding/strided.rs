//! Accumulators as a strided layout: also for an instruction whose N is no power of two.
//!
//! The rule: the instruction's own result layout, then the warps that share a block, then
//! repetition in registers, along n before m, until the shape is covered. The layout's extents are
//! the shape rounded up to whole instructions (and at least one for each warp); a caller masks what
//! lies beyond. Nothing is clipped, since registers of a whole instruction exist whether or not the
//! tensor fills them.

use crate::encoding::TableTiles;
use lanebook_layout::triton::{
    EncodingError, EncodingField, MatrixUnit, NvidiaMma, TileRequest, TileSide,
};
use lanebook_layout::{AxisId, Error, Iter, Layout};

/// The accumulators of a warpgroup-level instruction over a `rows` by `cols` tensor: from (row,
/// column), row-major, to (`laneid`, `warpid`, `bit` of the lane's registers). Each iter is listed
/// fastest first: columns, then rows. Without a cluster.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::encoding::{TableTiles, strided::accumulators};
/// use lanebook::layout::notation::ttg;
/// use lanebook::layout::triton::Base;
///
/// // 96 columns are no power of two: a strided layout says them.
/// let text = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 96, 16]}>";
/// let Base::NvidiaMma(mma) = ttg::parse(text).unwrap().base else { panic!() };
/// let tiles = TableTiles::new(&TABLES, TABLES.arch_named("sm_90a").unwrap());
/// assert_eq!(accumulators(&tiles, &mma, 64, 96).unwrap().view().size_value(), Ok(64 * 96));
/// ```
///
/// # Errors
/// [`EncodingError::NoInstruction`] if the tables have no instruction of the encoding's m and n;
/// [`EncodingError::BadValue`] for another version, a cluster, or warps along m that are no whole
/// group.
pub fn accumulators(
    tiles: &TableTiles<'_>,
    mma: &NvidiaMma,
    rows: u32,
    cols: u32,
) -> Result<Layout, EncodingError> {
    if mma.major != 3 {
        return Err(EncodingError::BadValue {
            field: EncodingField::Version,
            value: u32::from(mma.major),
        });
    }
    if !mma.cga.bases.is_empty() {
        return Err(EncodingError::BadValue {
            field: EncodingField::Cga,
            value: mma.cga.bases.len() as u32,
        });
    }
    let instr = |k: usize| mma.instr_shape.get(k).and_then(|v| u16::try_from(v).ok()).unwrap_or(0);
    let warps = |k: usize| mma.warps_per_cta.get(k).unwrap_or(1);
    let (m, n) = (instr(0), instr(1));
    let request = TileRequest {
        unit: MatrixUnit::WarpGroup,
        side: TileSide::D,
        m,
        n,
        k: instr(2),
        accumulator_bits: 32,
    };
    let unknown = EncodingError::NoInstruction { m, n, k: request.k, bits: 32 };
    let (instance, shape) = tiles.best(&request, false).ok_or(unknown)?;
    let own = instance.layout(shape.d).ok_or(unknown)?;
    let group = u32::from(shape.m).checked_div(u32::from(m)).filter(|g| *g > 0).ok_or(unknown)?;
    let odd_warps = EncodingError::BadValue { field: EncodingField::WarpsPerCta, value: warps(0) };
    let groups = warps(0)
        .checked_div(group)
        .filter(|g| *g > 0 && g.saturating_mul(group) == warps(0))
        .ok_or(odd_warps)?;
    // The instruction's iters, fastest first, cut where its columns end.
    let mut layout = Layout::new();
    let mut columns = 1u32;
    let mut rest = own.view().shard.iter();
    while columns < u32::from(n) {
        let it = rest.next().ok_or(EncodingError::OddTile)?;
        columns = columns.saturating_mul(it.extent_value()?);
        push(&mut layout, it.extent_value()?, it.stride_value()?, it.axis())?;
    }
    if columns != u32::from(n) {
        return Err(EncodingError::OddTile);
    }
    // Warps of a block: those of a group go down the rows, then the groups, then the columns.
    let across = warps(1);
    // What one instruction's result takes of a lane's registers.
    let registers = tiles.tuple_bits(&instance, shape.d).ok_or(unknown)?;
    let reps = |extent: u32, tile: u32| extent.div_ceil(tile.max(1)).max(1);
    let across_reps = reps(cols, u32::from(n).saturating_mul(across));
    let down_reps = reps(rows, u32::from(shape.m).saturating_mul(groups));
    push(&mut layout, across, i64::from(warps(0)), AxisId::WARP)?;
    push(&mut layout, across_reps, registers, AxisId::BIT)?;
    for it in rest {
        push(&mut layout, it.extent_value()?, it.stride_value()?, it.axis())?;
    }
    push(&mut layout, groups, i64::from(group), AxisId::WARP)?;
    push(&mut layout, down_reps, registers.saturating_mul(i64::from(across_reps)), AxisId::BIT)?;
    Ok(layout)
}

fn push(layout: &mut Layout, extent: u32, stride: i64, axis: AxisId) -> Result<(), Error> {
    if extent > 1 { layout.push_shard(Iter::new(extent, stride, axis)) } else { Ok(()) }
}
