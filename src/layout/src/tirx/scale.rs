//! Scale factors of block-scaled matrix products: packed into 32-bit cells, copied to every warp's
//! lanes, reused by several instructions, and buffered in stages.

use super::direct_sum;
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef};

/// How scale factors are stored: numbers of a machine, see [`super::facts::SCALE_ATOM`].
///
/// ```
/// # use lanebook_layout::tirx::{ScaleAtom, facts};
/// let atom: ScaleAtom = facts::SCALE_ATOM;
/// assert_eq!((atom.lanes, atom.copies, atom.per_cell), (32, 4, 4));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaleAtom {
    /// Lanes, hence rows, of one group.
    pub lanes: u32,
    /// How often a group is copied over the lanes.
    pub copies: u32,
    /// Scale factors that fill one cell.
    pub per_cell: u32,
}

/// Scale factors of one operand.
///
/// ```
/// # use lanebook_layout::tirx::{ScaleLayout, facts, scale_factor_layout};
/// // 128 rows with 8 factors each, four an instruction; no stages.
/// let scale = ScaleLayout { rows: 128, factors: 8, per_instruction: 4, reuse: 1, stages: None };
/// assert!(scale_factor_layout(&scale, &facts::SCALE_ATOM).is_ok());
/// assert!(scale_factor_layout(&ScaleLayout { rows: 100, ..scale }, &facts::SCALE_ATOM).is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScaleLayout {
    /// Rows of the operand.
    pub rows: u32,
    /// Different scale factors of a row.
    pub factors: u32,
    /// How many of them one instruction reads.
    pub per_instruction: u32,
    /// How many instructions read the same ones; 1: each its own.
    pub reuse: u32,
    /// Stages, slowest of all; `None`: the shape has no such dimension.
    pub stages: Option<u32>,
}

/// Where the scale factors lie in tensor memory, over `([stages,] rows, factors * reuse)`.
/// Positions on `TCol` count scale factors, so that a cell of 32 bits holds [`ScaleAtom::per_cell`]
/// of them.
///
/// An instruction's factors are neighbours; as many instructions as fit share a cell; then come the
/// groups of rows, and then the next cells of the same rows. A reused factor is a dimension that
/// does not move.
///
/// ```
/// # use lanebook_layout::tirx::{ScaleLayout, facts, scale_factor_layout};
/// # use lanebook_layout::AxisId;
/// let scale = ScaleLayout { rows: 128, factors: 4, per_instruction: 4, reuse: 1, stages: None };
/// let layout = scale_factor_layout(&scale, &facts::SCALE_ATOM).unwrap();
/// // A copy for the lanes of each warp.
/// assert_eq!((layout.view().cosize(AxisId::TLANE), layout.view().cosize(AxisId::TCOL)), (Ok(128), Ok(16)));
/// ```
///
/// # Errors
/// [`Error::BadShape`]: dimension 0, rows that do not fill groups; dimension 1, factors that do not fill instructions,
/// or instructions that do not fill a cell. [`Error::BadExtent`] for a count of 0.
pub fn scale_factor_layout(scale: &ScaleLayout, atom: &ScaleAtom) -> Result<Layout> {
    let groups = exact(scale.rows, atom.lanes, 0)?;
    let steps = exact(scale.factors, scale.per_instruction, 1)?;
    let most = exact(atom.per_cell, scale.per_instruction, 1)?;
    let stage = groups.checked_mul(atom.per_cell).ok_or(Error::Overflow)?;
    let shared = common(steps, most);
    let cells = exact(steps, shared, 1)?;
    let copies = lanes(atom.copies, atom.lanes);
    let factors = [columns(scale.per_instruction, 1), lanes(atom.lanes, 1)];
    let outer = [
        columns(shared, scale.per_instruction),
        columns(cells, stage),
        columns(groups, atom.per_cell),
    ];
    let factors = LayoutRef { replica: core::slice::from_ref(&copies), ..LayoutRef::new(&factors) };
    let outer = LayoutRef::new(&outer);
    factors.check()?;
    outer.check()?;
    let once =
        direct_sum(&outer, &[groups, steps], &factors, &[atom.lanes, scale.per_instruction])?;
    let mut out = Layout::new();
    if scale.reuse != 1 {
        out.push_shard(columns(scale.reuse, 0))?;
    }
    let view = once.view();
    for it in view.shard {
        out.push_shard(*it)?;
    }
    if let Some(stages) = scale.stages {
        let all = stage.checked_mul(cells).ok_or(Error::Overflow)?;
        out.push_shard(columns(stages, all))?;
    }
    out.push_replica(lanes(atom.copies, atom.lanes))?;
    Ok(out)
}

/// Where the same scale factors lie in shared memory before the copy, over the same shape;
/// positions on `m` count scale factors.
///
/// The copy reads a block of [`ScaleAtom::copies`] groups of rows: a line of cells a lane, one cell
/// a group.
///
/// ```
/// # use lanebook_layout::tirx::{ScaleLayout, facts, scale_factor_shared_layout};
/// # use lanebook_layout::AxisId;
/// let scale = ScaleLayout { rows: 128, factors: 4, per_instruction: 4, reuse: 1, stages: None };
/// let layout = scale_factor_shared_layout(&scale, &facts::SCALE_ATOM).unwrap();
/// assert_eq!((layout.view().cosize(AxisId::M), layout.view().is_injective()), (Ok(512), Ok(true)));
/// ```
///
/// # Errors
/// [`Error::BadShape`]: dimension 0, rows that do not fill blocks; dimension 1, factors that do not fill cells.
pub fn scale_factor_shared_layout(scale: &ScaleLayout, atom: &ScaleAtom) -> Result<Layout> {
    let block = atom.lanes.checked_mul(atom.copies).ok_or(Error::Overflow)?;
    let blocks = exact(scale.rows, block, 0)?;
    let cells = exact(scale.factors, atom.per_cell, 1)?;
    exact(atom.per_cell, scale.per_instruction, 1)?;
    let wide = |a: u32, b: u32| a.checked_mul(b).ok_or(Error::Overflow);
    let line = wide(atom.per_cell, atom.copies)?;
    let step = wide(line, atom.lanes)?;
    let row_block = wide(step, cells)?;
    let memory = |extent, stride: u32| Iter::new(extent, i64::from(stride), AxisId::M);
    let mut out = Layout::new();
    if scale.reuse != 1 {
        out.push_shard(memory(scale.reuse, 0))?;
    }
    out.push_shard(memory(atom.per_cell, 1))?;
    out.push_shard(memory(cells, step))?;
    out.push_shard(memory(atom.lanes, line))?;
    out.push_shard(memory(atom.copies, atom.per_cell))?;
    out.push_shard(memory(blocks, row_block))?;
    if let Some(stages) = scale.stages {
        out.push_shard(memory(stages, wide(row_block, blocks)?))?;
    }
    Ok(out)
}

/// The greatest number that divides `steps` and is `most` halved any number of times.
fn common(steps: u32, most: u32) -> u32 {
    let mut shared = most;
    while shared > 1 && steps.checked_rem(shared) != Some(0) {
        shared = shared.wrapping_shr(1);
    }
    shared.max(1)
}

fn exact(whole: u32, part: u32, dim: u8) -> Result<u32> {
    let fault = Error::BadShape { dim, found: whole, needed: part };
    if whole.checked_rem(part) != Some(0) {
        return Err(fault);
    }
    whole.checked_div(part).ok_or(fault)
}

fn lanes(extent: u32, step: u32) -> Iter {
    Iter::new(extent, i64::from(step), AxisId::TLANE)
}

fn columns(extent: u32, step: u32) -> Iter {
    Iter::new(extent, i64::from(step), AxisId::TCOL)
}
