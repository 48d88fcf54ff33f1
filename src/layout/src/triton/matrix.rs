//! Accumulators and operands of matrix instructions: a tile from the hardware tables, and how warps
//! share a product.

use super::bases::{Bases, LANE, REGISTER, ShapeBits, WARP, log2, matrix_order};
use super::distributed::k_dim;
use super::few::Few;
use super::scales::ScaleTile;
use super::{
    AmdMfma, AmdWmma, Cga, DotOp, EncodingError, EncodingField, MAX_RANK, NvidiaMma, Order,
};
use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical};

/// The families of matrix units that encodings speak of.
///
/// ```
/// # use lanebook_layout::triton::MatrixUnit;
/// assert_ne!(MatrixUnit::Mfma(3), MatrixUnit::Mfma(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatrixUnit {
    /// Instructions of one warp (`nvidia_mma`, major version 2).
    Warp,
    /// Instructions of four warps (`nvidia_mma`, major version 3); tiles are those of one warp.
    WarpGroup,
    /// `amd_mfma` of this version.
    Mfma(u8),
    /// `amd_wmma` of this version.
    Wmma(u8),
}

/// Which matrix of the product.
///
/// ```
/// # use lanebook_layout::triton::{TileSide, WarpTile};
/// assert_eq!(WarpTile::default().run_of(TileSide::D), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileSide {
    /// A: m rows, k columns.
    A,
    /// B: k rows, n columns.
    B,
    /// C and D: m rows, n columns.
    D,
}

/// Whose tile is wanted.
///
/// ```
/// # use lanebook_layout::triton::{MatrixTiles, MatrixUnit, NoTiles, TileRequest, TileSide};
/// let request = TileRequest { unit: MatrixUnit::Wmma(1), side: TileSide::A, m: 16, n: 16, k: 16, accumulator_bits: 32 };
/// // Without tables no instruction is known.
/// assert!(NoTiles.tile(request).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileRequest {
    /// The unit.
    pub unit: MatrixUnit,
    /// The matrix.
    pub side: TileSide,
    /// Rows of the result (of one warp).
    pub m: u16,
    /// Columns of the result.
    pub n: u16,
    /// Depth; 0: not said.
    pub k: u16,
    /// Bits of an accumulator element; 0: not said.
    pub accumulator_bits: u16,
}

/// What a bit of a lane's or register's number moves.
///
/// ```
/// # use lanebook_layout::triton::{Few, TileBit, WarpTile};
/// // Lanes 4 and up hold the rows that lanes 0 to 3 hold.
/// let lane = Few::from_slice(&[TileBit::Row(0), TileBit::Row(1), TileBit::Copy]).unwrap();
/// assert_eq!(WarpTile { lane, ..WarpTile::default() }.lane.len(), 3);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TileBit {
    /// Nothing: lanes hold copies.
    #[default]
    Copy,
    /// This bit of the row.
    Row(u8),
    /// This bit of the column.
    Col(u8),
}

/// One instruction's operand in one warp. Registers count elements.
///
/// ```
/// # use lanebook_layout::triton::{Few, TileBit, TileSide, WarpTile};
/// # use lanebook_layout::{AxisId, Dims, Hw, Linear, Logical};
/// // Two registers along a row, eight rows and four pairs over 32 lanes: A of a product of 8 by 8.
/// let ins = Dims::from_slice(&[(AxisId::REGISTER, 1), (AxisId::LANE, 5)]).unwrap();
/// let outs = Dims::from_slice(&[(AxisId::dim(0), 3), (AxisId::dim(1), 3)]).unwrap();
/// let columns = [8, 16, 32, 1, 2, 4];
/// let linear: Linear<Hw, Logical> = Linear::from_columns(ins, outs, &columns).unwrap();
/// let tile = WarpTile::from_linear(&linear).unwrap();
/// assert_eq!(tile.register, Few::from_slice(&[TileBit::Col(0)]).unwrap());
/// assert_eq!((tile.run_of(TileSide::A), tile.run_of(TileSide::B)), (1, 0));
/// assert_eq!(tile.transposed().run_of(TileSide::B), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpTile {
    /// Bits of the element's number in the lane.
    pub register: Few<TileBit, 12>,
    /// Bits of the lane.
    pub lane: Few<TileBit, 7>,
    /// How many of the lowest register bits walk along k in one run (operands): the encoding's
    /// `kWidth` replaces them.
    pub run: u8,
}

impl WarpTile {
    /// From a linear layout with inputs `register` and `laneid` and two output dimensions: row,
    /// column.
    ///
    /// # Errors
    /// [`EncodingError::OddTile`] if a bit moves more than one bit.
    pub fn from_linear(linear: &Linear<Hw, Logical>) -> Result<Self, EncodingError> {
        let mut out = Self::default();
        let place = |label: AxisId, bit: u8| {
            let part = |d: u8| linear.column_on(label, bit, AxisId::dim(d)).unwrap_or(0);
            let exponent = |v: u64| u8::try_from(v.trailing_zeros()).unwrap_or(u8::MAX);
            match (part(0), part(1)) {
                (0, 0) => Ok(TileBit::Copy),
                (row, 0) if row.is_power_of_two() => Ok(TileBit::Row(exponent(row))),
                (0, col) if col.is_power_of_two() => Ok(TileBit::Col(exponent(col))),
                _ => Err(EncodingError::OddTile),
            }
        };
        for bit in 0..linear.ins().bits_of(AxisId::REGISTER) {
            out.register.push(place(AxisId::REGISTER, bit)?)?;
        }
        for bit in 0..linear.ins().bits_of(AxisId::LANE) {
            out.lane.push(place(AxisId::LANE, bit)?)?;
        }
        Ok(out)
    }

    /// The lowest register bits that walk along the columns (of A) or rows (of B) without a gap.
    #[must_use]
    pub fn run_of(&self, side: TileSide) -> u8 {
        let bits = (0u8..).zip(self.register.iter());
        let walks = |(k, bit): &(u8, TileBit)| match side {
            TileSide::A => *bit == TileBit::Col(*k),
            _ => *bit == TileBit::Row(*k),
        };
        u8::try_from(bits.take_while(walks).count()).unwrap_or(0)
    }

    /// The tile of the transposed matrix.
    #[must_use]
    pub fn transposed(mut self) -> Self {
        let swap = |bit: &mut TileBit| {
            *bit = match *bit {
                TileBit::Row(b) => TileBit::Col(b),
                TileBit::Col(b) => TileBit::Row(b),
                TileBit::Copy => TileBit::Copy,
            }
        };
        self.register.as_mut_slice().iter_mut().for_each(swap);
        self.lane.as_mut_slice().iter_mut().for_each(swap);
        self
    }
}

/// Where tiles come from.
///
/// ```
/// # use lanebook_layout::triton::{EncodingError, MatrixTiles, MatrixUnit, NoTiles, TileRequest, TileSide, WarpTile};
/// // A source that knows one instruction.
/// struct One(WarpTile);
/// impl MatrixTiles for One {
///     fn tile(&self, request: TileRequest) -> Result<WarpTile, EncodingError> {
///         if (request.m, request.n) == (16, 8) { Ok(self.0) } else { NoTiles.tile(request) }
///     }
/// }
/// let request = TileRequest { unit: MatrixUnit::Warp, side: TileSide::D, m: 16, n: 8, k: 0, accumulator_bits: 32 };
/// assert!(One(WarpTile::default()).tile(request).is_ok());
/// assert!(One(WarpTile::default()).tile(TileRequest { n: 16, ..request }).is_err());
/// // It knows nothing of block scales.
/// let scales = One(WarpTile::default()).scale_tile(request, 32);
/// assert!(matches!(scales, Err(EncodingError::NoInstruction { m: 16, n: 8, .. })));
/// ```
pub trait MatrixTiles {
    /// The tile of a matrix instruction's operand. An implementation may answer with that of a
    /// kindred instruction of the same m and n where `k` or the accumulator's width does not move
    /// elements.
    ///
    /// # Errors
    /// [`EncodingError::NoInstruction`], [`EncodingError::OddTile`].
    fn tile(&self, request: TileRequest) -> Result<WarpTile, EncodingError>;

    /// Where the block scales of an operand stand, one for `run` neighbours along k; the request's
    /// `k` and accumulator do not matter.
    ///
    /// # Errors
    /// [`EncodingError::NoInstruction`] if no instruction of these rows and columns has such
    /// scales; [`EncodingError::OddTile`].
    fn scale_tile(&self, request: TileRequest, run: u16) -> Result<ScaleTile, EncodingError> {
        let _ = run;
        Err(unknown(request))
    }
}

impl<T: MatrixTiles + ?Sized> MatrixTiles for &T {
    fn tile(&self, request: TileRequest) -> Result<WarpTile, EncodingError> {
        (**self).tile(request)
    }

    fn scale_tile(&self, request: TileRequest, run: u16) -> Result<ScaleTile, EncodingError> {
        (**self).scale_tile(request, run)
    }
}

/// No tables: every matrix instruction is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoTiles;

impl MatrixTiles for NoTiles {
    fn tile(&self, request: TileRequest) -> Result<WarpTile, EncodingError> {
        Err(unknown(request))
    }
}

fn unknown(request: TileRequest) -> EncodingError {
    EncodingError::NoInstruction {
        m: request.m,
        n: request.n,
        k: request.k,
        bits: request.accumulator_bits,
    }
}

/// A batch dimension may stand before rows and columns.
fn check_rank(shape: &ShapeBits) -> Result<(usize, usize), EncodingError> {
    match shape.rank() {
        2 => Ok((0, 1)),
        3 => Ok((1, 2)),
        _ => {
            Err(EncodingError::Rank { field: EncodingField::Shape, expected: 2, found: shape.rank })
        }
    }
}

fn small(field: EncodingField, value: u32) -> Result<u16, EncodingError> {
    u16::try_from(value).map_err(|_| EncodingError::BadValue { field, value })
}

fn at(list: &[u32], k: usize, otherwise: u32) -> u32 {
    list.get(k).copied().unwrap_or(otherwise)
}

/// k fastest, then the other dimension of the operand, then the batch.
fn operand_order(dot: &DotOp, rank: usize) -> Result<Order, EncodingError> {
    matrix_order(rank, dot.op_idx == 0)
}

/// Pushes one tile as it stands.
fn place(out: &mut Bases, tile: &WarpTile, row: usize, col: usize) -> Result<(), EncodingError> {
    for (input, bits) in [(REGISTER, tile.register.as_slice()), (LANE, tile.lane.as_slice())] {
        for bit in bits {
            push(out, input, *bit, row, col)?;
        }
    }
    Ok(())
}

fn push(
    out: &mut Bases,
    input: u8,
    bit: TileBit,
    row: usize,
    col: usize,
) -> Result<(), EncodingError> {
    match bit {
        TileBit::Copy => out.push(input, [0; MAX_RANK]),
        TileBit::Row(b) => out.push_bit(input, row, b),
        TileBit::Col(b) => out.push_bit(input, col, b),
    }
}

/// An operand's tile with another width of k: `(bits of the tile's own run of k, register bits,
/// lane bits)`, in which bits of k count from the end of the run, and are `Row`, bits of the other
/// dimension `Col`.
struct Stretched {
    above: Few<TileBit, 12>,
    lane: Few<TileBit, 7>,
}

/// The run of k in the lowest registers is taken out: it is the convention of the product, `kWidth`
/// replaces it.
fn stretched(tile: &WarpTile, side: TileSide) -> Result<Stretched, EncodingError> {
    let tile = if side == TileSide::A { tile.transposed() } else { *tile };
    let run = tile.run;
    let lower = |bit: TileBit| match bit {
        TileBit::Row(b) => b.checked_sub(run).map(TileBit::Row).ok_or(EncodingError::OddTile),
        other => Ok(other),
    };
    let mut out = Stretched { above: Few::new(), lane: Few::new() };
    for bit in tile.register.iter().skip(usize::from(run)) {
        out.above.push(lower(bit)?)?;
    }
    for bit in tile.lane.iter() {
        out.lane.push(lower(bit)?)?;
    }
    Ok(out)
}

/// Pushes `width` registers of k, then a stretched tile's other registers (if asked for) and its
/// lanes.
fn place_operand(
    out: &mut Bases,
    tile: &Stretched,
    width: u8,
    whole: bool,
    k: usize,
    other: usize,
) -> Result<(), EncodingError> {
    let raise = |bit: TileBit| match bit {
        TileBit::Row(b) => TileBit::Row(b.saturating_add(width)),
        bit => bit,
    };
    for b in 0..width {
        push(out, REGISTER, TileBit::Row(b), k, other)?;
    }
    for bit in tile.lane.iter() {
        push(out, LANE, raise(bit), k, other)?;
    }
    for bit in tile.above.iter().filter(|b| whole || !matches!(b, TileBit::Row(_))) {
        push(out, REGISTER, raise(bit), k, other)?;
    }
    Ok(())
}

fn operand_side(dot: &DotOp) -> TileSide {
    if dot.op_idx == 0 { TileSide::A } else { TileSide::B }
}

/// `nvidia_mma` and its operands.
#[inline(never)]
pub(super) fn nvidia(
    mma: &NvidiaMma,
    dot: Option<&DotOp>,
    shape: &ShapeBits,
    tiles: &impl MatrixTiles,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    let (row, col) = check_rank(shape)?;
    shape.fits(EncodingField::WarpsPerCta, mma.warps_per_cta.len())?;
    let instr = mma.instr_shape.as_slice();
    // Version 2 says (batch,) m, n; version 3 says m, n, k, the m of one of its four warps.
    let (unit, m, n, k) = match mma.major {
        2 => {
            shape.fits(EncodingField::InstrShape, instr.len())?;
            (MatrixUnit::Warp, at(instr, row, 0), at(instr, col, 0), 0)
        }
        3 => (MatrixUnit::WarpGroup, at(instr, 0, 0), at(instr, 1, 0), at(instr, 2, 0)),
        other => {
            return Err(EncodingError::BadValue {
                field: EncodingField::Version,
                value: u32::from(other),
            });
        }
    };
    let (m, n) = (small(EncodingField::InstrShape, m)?, small(EncodingField::InstrShape, n)?);
    // The warps of a warpgroup go down the rows first.
    let warp_order = matrix_order(shape.rank(), mma.major == 2)?;
    let warps = mma.warps_per_cta.as_slice();
    let mut request = TileRequest {
        unit,
        side: TileSide::D,
        m,
        n,
        k: small(EncodingField::InstrShape, k)?,
        accumulator_bits: 0,
    };
    let Some(dot) = dot else {
        if !n.is_power_of_two() {
            return Err(EncodingError::OddInstruction { n });
        }
        let tile = tiles.tile(request)?;
        out.begin(shape.rank(), matrix_order(shape.rank(), true)?);
        place(out, &tile, row, col)?;
        out.nested(EncodingField::WarpsPerCta, WARP, warps, warp_order.as_slice())?;
        return out.combine(&mma.cga, shape);
    };
    let k_at = k_dim(dot, shape.rank())?;
    if unit == MatrixUnit::WarpGroup && dot.op_idx == 1 {
        return Err(EncodingError::OperandInMemory { operand: 1 });
    }
    request.side = operand_side(dot);
    request.k = 0;
    let other = if request.side == TileSide::A { row } else { col };
    let tile = stretched(&tiles.tile(request)?, request.side)?;
    out.begin(shape.rank(), operand_order(dot, shape.rank())?);
    let width = log2(EncodingField::KWidth, 0, dot.k_width)?;
    place_operand(out, &tile, width, true, k_at, other)?;
    out.nested_but(EncodingField::WarpsPerCta, WARP, warps, warp_order.as_slice(), k_at)?;
    out.combine(&shared_along(&mma.cga, k_at), shape)
}

/// The cluster of an operand: blocks that differ along k share it.
pub(super) fn shared_along(cga: &Cga, k: usize) -> Cga {
    let mut out = *cga;
    for basis in out.bases.as_mut_slice() {
        if let Some(slot) = basis.get_mut(k) {
            *slot = 0;
        }
    }
    out
}

/// `amd_mfma` and its operands.
#[inline(never)]
pub(super) fn mfma(
    mfma: &AmdMfma,
    dot: Option<&DotOp>,
    shape: &ShapeBits,
    tiles: &impl MatrixTiles,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    let (row, col) = check_rank(shape)?;
    let rank = shape.rank();
    shape.fits(EncodingField::WarpsPerCta, mfma.warps_per_cta.len())?;
    if !mfma.tiles_per_warp.is_empty() {
        shape.fits(EncodingField::TilesPerWarp, mfma.tiles_per_warp.len())?;
    }
    let instr = mfma.instr_shape.as_slice();
    let m = small(EncodingField::InstrShape, at(instr, 0, 0))?;
    let n = small(EncodingField::InstrShape, at(instr, 1, 0))?;
    let mut request = TileRequest {
        unit: MatrixUnit::Mfma(mfma.version),
        side: TileSide::D,
        m,
        n,
        k: small(EncodingField::InstrShape, at(instr, 2, 0))?,
        accumulator_bits: mfma.element_bits,
    };
    let warps = mfma.warps_per_cta.as_slice();
    let per_warp =
        |d: usize| log2(EncodingField::TilesPerWarp, d, at(mfma.tiles_per_warp.as_slice(), d, 1));
    let warp_bits = |d: usize| log2(EncodingField::WarpsPerCta, d, at(warps, d, 1));
    let Some(dot) = dot else {
        // An oblong result of 64 rows is that of 64 columns with the operands exchanged, so it
        // comes out transposed.
        if m > n && !mfma.is_transposed {
            return Err(EncodingError::MustBeTransposed { m, n });
        }
        let tile = if mfma.is_transposed {
            (request.m, request.n) = (n, m);
            tiles.tile(request)?.transposed()
        } else {
            tiles.tile(request)?
        };
        out.begin(rank, matrix_order(rank, true)?);
        place(out, &tile, row, col)?;
        out.extend(REGISTER, col, per_warp(col)?)?;
        out.extend(WARP, col, warp_bits(col)?)?;
        // Tiles go on along a whole row of the tensor before the next row of tiles begins.
        let rest = shape.get(col).saturating_sub(out.bits.get(col));
        out.extend(REGISTER, col, rest)?;
        out.extend(REGISTER, row, per_warp(row)?)?;
        out.extend(WARP, row, warp_bits(row)?)?;
        if rank == 3 {
            out.extend(WARP, 0, warp_bits(0)?)?;
        }
        return out.combine(&mfma.cga, shape);
    };
    let k_at = k_dim(dot, rank)?;
    request.side = operand_side(dot);
    let other = if request.side == TileSide::A { row } else { col };
    let tile = stretched(&tiles.tile(request)?, request.side)?;
    let order = operand_order(dot, rank)?;
    out.begin(rank, order);
    let width = log2(EncodingField::KWidth, 0, dot.k_width)?;
    place_operand(out, &tile, width, true, k_at, other)?;
    let rest = shape.get(k_at).saturating_sub(out.bits.get(k_at));
    out.extend(REGISTER, k_at, rest)?;
    out.extend(REGISTER, other, per_warp(other)?)?;
    let warp_order = matrix_order(rank, true)?;
    out.nested_but(EncodingField::WarpsPerCta, WARP, warps, warp_order.as_slice(), k_at)?;
    // As Triton has it, blocks that differ along k do not share an operand here, as they do
    // elsewhere.
    out.combine(&mfma.cga, shape)
}

/// The widths of k that the notation takes for an operand of WMMA version 1, 2, 3 (none listed: any
/// but 0). Triton's attribute says so, not the machine: the layout is defined for others as well,
/// but no such attribute exists.
const WMMA_WIDTHS: [&[u32]; 3] = [&[8, 16], &[4, 8, 16], &[]];

fn wmma_width(version: u8, k_width: u32) -> Result<u8, EncodingError> {
    let width = log2(EncodingField::KWidth, 0, k_width)?;
    let listed = usize::from(version)
        .checked_sub(1)
        .and_then(|k| WMMA_WIDTHS.get(k))
        .copied()
        .unwrap_or(&[]);
    if listed.is_empty() || listed.contains(&k_width) {
        return Ok(width);
    }
    Err(EncodingError::BadValue { field: EncodingField::KWidth, value: k_width })
}

/// `amd_wmma` and its operands.
#[inline(never)]
pub(super) fn wmma(
    wmma: &AmdWmma,
    dot: Option<&DotOp>,
    shape: &ShapeBits,
    tiles: &impl MatrixTiles,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    let (row, col) = check_rank(shape)?;
    let rank = shape.rank();
    shape.fits(EncodingField::Shape, usize::from(wmma.rank))?;
    let instr = wmma.instr_shape.as_slice();
    // An oblong form is squares, one above the other in further registers; the transposed form
    // exchanges m and n.
    let (m, n) = match (at(instr, 0, 0), at(instr, 1, 0), wmma.is_transposed) {
        (m, n, false) => (m, n),
        (m, n, true) => (n, m),
    };
    let side = m.min(n);
    let side_bits = log2(EncodingField::InstrShape, 0, side)?;
    let more_rows = log2(EncodingField::InstrShape, 0, m)?.saturating_sub(side_bits);
    let more_cols = log2(EncodingField::InstrShape, 1, n)?.saturating_sub(side_bits);
    let side = small(EncodingField::InstrShape, side)?;
    let depth = at(instr, 2, 0);
    let mut request = TileRequest {
        unit: MatrixUnit::Wmma(wmma.version),
        side: TileSide::D,
        m: side,
        n: side,
        k: small(EncodingField::InstrShape, depth)?,
        accumulator_bits: 32,
    };
    let wide = |bases: &super::TileBases, without: Option<usize>| {
        let mut out: Few<[u32; MAX_RANK], { super::MAX_TILE_BASES }> = Few::new();
        for basis in bases.iter() {
            let mut at = [0u32; MAX_RANK];
            for (d, (slot, v)) in at.iter_mut().zip(basis).enumerate() {
                if d >= rank && v != 0 {
                    return Err(EncodingError::Rank {
                        field: EncodingField::Bases,
                        expected: shape.rank,
                        found: u8::try_from(d).unwrap_or(u8::MAX).saturating_add(1),
                    });
                }
                *slot = if without == Some(d) { 0 } else { u32::from(v) };
            }
            out.push(at)?;
        }
        Ok(out)
    };
    let Some(dot) = dot else {
        let tile = tiles.tile(request)?;
        let tile = if wmma.is_transposed { tile.transposed() } else { tile };
        out.begin(rank, matrix_order(rank, true)?);
        place(out, &tile, row, col)?;
        out.extend(REGISTER, row, more_rows)?;
        out.extend(REGISTER, col, more_cols)?;
        let own = out.bits;
        out.on_top(REGISTER, wide(&wmma.reg_bases, None)?.as_slice(), &own)?;
        out.on_top(WARP, wide(&wmma.warp_bases, None)?.as_slice(), &own)?;
        return out.combine(&wmma.cga, shape);
    };
    let k_at = k_dim(dot, rank)?;
    let width = wmma_width(wmma.version, dot.k_width)?;
    request.side = operand_side(dot);
    let other = if request.side == TileSide::A { row } else { col };
    let tile = stretched(&tiles.tile(request)?, request.side)?;
    out.begin(rank, operand_order(dot, rank)?);
    place_operand(out, &tile, width, false, k_at, other)?;
    // Lanes that do not number rows number k, or hold copies; either way they count for the
    // repetition along k.
    let lanes = u8::try_from(tile.lane.len()).unwrap_or(u8::MAX);
    let spare = lanes.saturating_sub(side_bits);
    let k_bits = log2(EncodingField::InstrShape, 2, depth)?;
    let rest = k_bits.saturating_sub(width.saturating_add(spare));
    out.extend(REGISTER, k_at, rest)?;
    let more = if other == row { more_rows } else { more_cols };
    out.extend(REGISTER, other, more)?;
    let own = out.bits;
    let mut kept: Few<[u32; MAX_RANK], { super::MAX_TILE_BASES }> = Few::new();
    for basis in wide(&wmma.reg_bases, Some(k_at))?.iter() {
        if basis.iter().any(|v| *v != 0) {
            kept.push(basis)?;
        }
    }
    out.on_top(REGISTER, kept.as_slice(), &own)?;
    let warps = wide(&wmma.warp_bases, Some(k_at))?;
    out.on_top(WARP, warps.as_slice(), &own)?;
    out.combine(&shared_along(&wmma.cga, k_at), shape)
}
