//! Block scales of an operand: where each lane has the scales of the rows (or columns) that a matrix
//! instruction takes them from.
//!
//! A scale tensor has the operand's own dimension, m or n, and one number for each run along k: for
//! either operand `(m or n, k / run)`. Which lane gives the scale of which row is a fact of the
//! instruction ([`MatrixTiles::scale_tile`]); how warps and repetitions share the tensor is the
//! operand's encoding. Lanes whose scales the instruction does not read hold copies, or, where the
//! target's convention is to use both halves, the rows of the next repetition.
//!
//! Triton has these as functions of their own beside the encodings (`getSM120DotScaledScaleLayout`,
//! `chooseScaledMfmaScaleLayout`, `chooseScaledWmmaScaleLayout`).

use super::bases::{Bases, DISTRIBUTED, LANE, REGISTER, ShapeBits, WARP, log2, matrix_order};
use super::matrix::{MatrixTiles, MatrixUnit, TileBit, TileRequest, TileSide, WarpTile};
use super::{
    Base, Cga, DotOp, Encoding, EncodingError, EncodingField, Few, MAX_CGA_BITS, MAX_RANK,
    MAX_TILE_BASES, TileBases,
};
use crate::linear::{Hw, Linear, Logical};

/// The scales of one instruction's operand in one warp.
///
/// ```
/// # use lanebook_layout::triton::{Few, ScaleTile, TileBit, WarpTile};
/// // Sixteen lanes have a row's scale each, the others those of the next sixteen rows.
/// let lane = Few::from_slice(&[TileBit::Row(0), TileBit::Row(1), TileBit::Row(2), TileBit::Row(3)]).unwrap();
/// let scales = ScaleTile { tile: WarpTile { lane, ..WarpTile::default() }, next_rows: true };
/// assert!(scales.next_rows && scales.tile.register.is_empty());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScaleTile {
    /// Rows are the operand's own dimension, columns the runs along k.
    pub tile: WarpTile,
    /// Lanes that the instruction does not read have the rows of the next repetition.
    pub next_rows: bool,
}

/// What the warps and repetitions of an operand's parent do along the operand's own dimension.
struct OperandShare {
    request: TileRequest,
    /// Registers, then warps, in tiles.
    registers: Few<u32, MAX_TILE_BASES>,
    warps: Few<u32, MAX_TILE_BASES>,
    cga: Cga,
}

/// The linear form of the block scales of `operand`, a tensor of `shape`: m or n, and runs of `run`
/// elements along k.
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::{EncodingError, NoTiles, scales_to_linear};
/// let text = "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>, kWidth = 4}>";
/// // Which lanes have them is a fact of the tables.
/// let without = scales_to_linear(&ttg::parse(text).unwrap(), &[128, 4], 32, &NoTiles);
/// assert!(matches!(without, Err(EncodingError::NoInstruction { m: 16, n: 8, .. })));
/// ```
///
/// # Errors
/// [`EncodingError::WrongKind`] for anything but an operand of a warp's matrix instruction;
/// [`EncodingError::NoInstruction`] if none of its shape has such scales; those of a shape.
pub fn scales_to_linear(
    operand: &Encoding,
    shape: &[u32],
    run: u16,
    tiles: &impl MatrixTiles,
) -> Result<Linear<Hw, Logical>, EncodingError> {
    let bits = ShapeBits::new(shape)?;
    let expected = EncodingError::Rank {
        field: EncodingField::Shape,
        expected: 2,
        found: u8::try_from(bits.rank()).unwrap_or(u8::MAX),
    };
    bits.fits(EncodingField::Shape, 2).map_err(|_| expected)?;
    let mut out = Bases::new();
    fill(&share(operand)?, &bits, run, tiles, &mut out)?;
    out.finish(&DISTRIBUTED, &bits)
}

#[inline(never)]
fn fill(
    share: &OperandShare,
    shape: &ShapeBits,
    run: u16,
    tiles: &impl MatrixTiles,
    out: &mut Bases,
) -> Result<(), EncodingError> {
    let scales = tiles.scale_tile(share.request, run)?;
    let lanes = tiles.tile(share.request)?.lane.len();
    out.begin(2, matrix_order(2, true)?);
    let place = |out: &mut Bases, input: u8, bit: TileBit| match bit {
        TileBit::Row(b) => out.push_bit(input, 0, b),
        TileBit::Col(b) => out.push_bit(input, 1, b),
        TileBit::Copy => out.copies(input, 1),
    };
    for bit in scales.tile.register.iter() {
        place(out, REGISTER, bit)?;
    }
    let mut unread = None;
    let more = lanes.saturating_sub(scales.tile.lane.len());
    for bit in scales.tile.lane.iter().chain(core::iter::repeat_n(TileBit::Copy, more)) {
        if bit == TileBit::Copy && scales.next_rows {
            unread = unread.or(Some(out.all().len()));
        }
        place(out, LANE, bit)?;
    }
    let rest = shape.get(1).saturating_sub(out.bits.get(1));
    out.extend(REGISTER, 1, rest)?;
    let own = out.bits;
    let along = |steps: &Few<u32, MAX_TILE_BASES>| {
        let mut all: Few<[u32; MAX_RANK], MAX_TILE_BASES> = Few::new();
        for step in steps.iter() {
            all.push([step, 0, 0, 0, 0, 0, 0, 0])?;
        }
        Ok::<_, EncodingError>(all)
    };
    let first = out.all().len();
    out.on_top(REGISTER, along(&share.registers)?.as_slice(), &own)?;
    out.on_top(WARP, along(&share.warps)?.as_slice(), &own)?;
    out.combine(&share.cga, shape)?;
    if let Some(lane) = unread {
        out.hand_over(REGISTER, first, lane);
    }
    Ok(())
}

/// Reads what the parent says about one operand.
#[inline(never)]
fn share(operand: &Encoding) -> Result<OperandShare, EncodingError> {
    let dot = operand.dot.as_ref().ok_or(EncodingError::WrongKind)?;
    if !operand.slices.is_empty() || operand.partition.is_some() {
        return Err(EncodingError::WrongKind);
    }
    match &operand.base {
        Base::NvidiaMma(mma) if mma.major == 2 => {
            let shape = mma.instr_shape.as_slice();
            let request = asked(dot, MatrixUnit::Warp, shape)?;
            let warps = warps(dot, mma.warps_per_cta.as_slice(), 1)?;
            Ok(OperandShare { request, registers: Few::new(), warps, cga: cluster(dot, &mma.cga)? })
        }
        Base::AmdMfma(mfma) => {
            let shape = mfma.instr_shape.as_slice();
            let request = asked(dot, MatrixUnit::Mfma(mfma.version), shape)?;
            let mut registers = Few::new();
            let tiles = mfma.tiles_per_warp.as_slice();
            let tiles = tiles.get(usize::from(dot.op_idx)).copied().unwrap_or(1);
            for k in 0..log2(EncodingField::TilesPerWarp, 0, tiles)? {
                registers.push(1u32.checked_shl(u32::from(k)).unwrap_or(0))?;
            }
            let warps = warps(dot, mfma.warps_per_cta.as_slice(), tiles)?;
            // As Triton has it, blocks of a cluster do not share these tensors.
            Ok(OperandShare { request, registers, warps, cga: Cga::default() })
        }
        Base::AmdWmma(wmma) if wmma.rank == 2 => {
            let shape = wmma.instr_shape.as_slice();
            let mut request = asked(dot, MatrixUnit::Wmma(wmma.version), shape)?;
            if wmma.is_transposed {
                // The instruction takes the operands the other way round.
                request.side = match request.side {
                    TileSide::A => TileSide::B,
                    _ => TileSide::A,
                };
            }
            let registers = along(dot, &wmma.reg_bases, true)?;
            let warps = along(dot, &wmma.warp_bases, false)?;
            Ok(OperandShare { request, registers, warps, cga: cluster(dot, &wmma.cga)? })
        }
        _ => Err(EncodingError::WrongKind),
    }
}

fn asked(dot: &DotOp, unit: MatrixUnit, shape: &[u32]) -> Result<TileRequest, EncodingError> {
    let field = EncodingField::InstrShape;
    let number = |at: usize| {
        let value = shape.get(at).copied().unwrap_or(0);
        u16::try_from(value).map_err(|_| EncodingError::BadValue { field, value })
    };
    let side = if dot.op_idx == 0 { TileSide::A } else { TileSide::B };
    Ok(TileRequest { unit, side, m: number(0)?, n: number(1)?, k: number(2)?, accumulator_bits: 0 })
}

/// Warps along the columns first, each so many tiles further; those along the other operand's
/// dimension have copies.
fn warps(
    dot: &DotOp,
    warps: &[u32],
    tiles: u32,
) -> Result<Few<u32, MAX_TILE_BASES>, EncodingError> {
    let mut out = Few::new();
    for dim in [1usize, 0] {
        let count = warps.get(dim).copied().unwrap_or(1);
        let own = dim == usize::from(dot.op_idx);
        for k in 0..log2(EncodingField::WarpsPerCta, dim, count)? {
            let step = tiles.checked_shl(u32::from(k)).unwrap_or(0);
            out.push(if own { step } else { 0 })?;
        }
    }
    Ok(out)
}

/// Bases along the operand's own dimension; `moving`: without copies.
fn along(
    dot: &DotOp,
    bases: &TileBases,
    moving: bool,
) -> Result<Few<u32, MAX_TILE_BASES>, EncodingError> {
    let mut out = Few::new();
    for basis in bases.iter() {
        let step = u32::from(basis.get(usize::from(dot.op_idx)).copied().unwrap_or(0));
        if step != 0 || !moving {
            out.push(step)?;
        }
    }
    Ok(out)
}

/// The cluster along the operand's own dimension; the other's blocks share the scales.
fn cluster(dot: &DotOp, cga: &Cga) -> Result<Cga, EncodingError> {
    let mut bases: Few<[u16; MAX_RANK], MAX_CGA_BITS> = Few::new();
    for basis in cga.bases.iter() {
        let step = basis.get(usize::from(dot.op_idx)).copied().unwrap_or(0);
        bases.push([step, 0, 0, 0, 0, 0, 0, 0])?;
    }
    Ok(Cga { bases })
}
