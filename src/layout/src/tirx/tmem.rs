//! Accumulators and operands in tensor memory: which lane and column holds an element.
//!
//! A matrix instruction writes its rows to lanes along a *data path*; where it uses fewer rows than
//! there are lanes, the columns are folded over the free lanes or the rows are scattered. All of
//! that is data ([`Datapath`]).

use super::{bare, canonicalize};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout};
use crate::num::Int;

/// How a matrix instruction's rows lie over the lanes of tensor memory.
///
/// ```
/// # use lanebook_layout::tirx::{Datapath, facts};
/// let paths: &[Datapath] = facts::DATAPATHS;
/// assert!(paths.iter().any(|path| path.letter == 'D'));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datapath {
    /// Its letter.
    pub letter: char,
    /// Rows of the tile that one block holds.
    pub rows: u32,
    /// Iters `(extent, lanes)` of the rows, slowest first.
    pub row: &'static [(u32, u32)],
    /// Into how many parts the columns are folded; 1: not at all.
    pub folds: u32,
    /// Lanes between two folds.
    pub fold_lanes: u32,
    /// Lanes to the second place of the tile, if it can lie in two.
    pub slab_lanes: Option<u32>,
    /// The forms of a left operand in tensor memory.
    pub operand: &'static [OperandA],
}

/// A form of the left operand in tensor memory.
///
/// ```
/// # use lanebook_layout::tirx::{OperandA, TmemOperand, datapath, facts, operand_layout};
/// // The path of 128 rows takes a left factor as it is.
/// assert!(operand_layout(facts::DATAPATHS, facts::DATAPATH_USES, TmemOperand::A, (128, 1, false), &[128, 64]).is_ok());
/// assert_eq!(datapath(facts::DATAPATHS, 'D').unwrap().operand, [OperandA::Plain]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandA {
    /// `(rows, k)`: row and column are lane and column.
    Plain,
    /// `(rows, k)`, copied once a fold.
    Copied,
    /// `(folds, rows, k)`: a tile a fold.
    Batched,
}

/// Which instruction uses which data path.
///
/// ```
/// # use lanebook_layout::tirx::{DatapathUse, facts};
/// let uses: &[DatapathUse] = facts::DATAPATH_USES;
/// assert!(uses.iter().any(|used| used.letter == 'D'));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DatapathUse {
    /// Rows of the instruction.
    pub rows: u32,
    /// Blocks that take part.
    pub blocks: u32,
    /// Whether it is the weight-stationary form.
    pub stationary: bool,
    /// The letter of the data path.
    pub letter: char,
}

/// An operand that lies in tensor memory.
///
/// ```
/// # use lanebook_layout::tirx::{TmemOperand, facts, operand_layout};
/// let made = operand_layout(facts::DATAPATHS, facts::DATAPATH_USES, TmemOperand::D, (128, 1, false), &[128, 256]);
/// assert_eq!(made.unwrap().view().size_value(), Ok(128 * 256));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TmemOperand {
    /// The left factor.
    A,
    /// The accumulator.
    D,
}

/// The data path with this letter.
///
/// ```
/// # use lanebook_layout::tirx::{datapath, facts};
/// assert_eq!(datapath(facts::DATAPATHS, 'F').unwrap().letter, 'F');
/// assert!(datapath(facts::DATAPATHS, 'X').is_err());
/// ```
///
/// # Errors
/// [`Error::NoVariant`] with the letter's code point.
pub fn datapath(paths: &[Datapath], letter: char) -> Result<&Datapath> {
    let none = Error::NoVariant { found: u32::from(letter) };
    paths.iter().find(|p| p.letter == letter).ok_or(none)
}

/// Where a `rows` x `cols` accumulator lies; TIRx: `tmem_datapath_layout`. `slab` 1 is the tile's
/// second place.
///
/// ```
/// # use lanebook_layout::tirx::{datapath, facts, tmem_datapath_layout};
/// # use lanebook_layout::AxisId;
/// // Path D: a row a lane, a column a column.
/// let path = datapath(facts::DATAPATHS, 'D').unwrap();
/// let layout = tmem_datapath_layout(path, 128, 256, 0).unwrap();
/// let at = layout.view().offsets_on(256 * 5 + 7, [AxisId::TLANE, AxisId::TCOL]).unwrap();
/// assert_eq!(at, [5, 7]);
/// ```
///
/// # Errors
/// [`Error::BadShape`] with dimension 0 if the path has not that many rows, with dimension 1 if
/// `cols` cannot be folded; [`Error::NoVariant`] if there is no such slab.
pub fn tmem_datapath_layout(path: &Datapath, rows: u32, cols: u32, slab: u32) -> Result<Layout> {
    check_rows(path.rows, rows)?;
    let none = Error::NoVariant { found: slab };
    let start = match (slab, path.slab_lanes) {
        (0, _) => 0,
        (1, Some(lanes)) => lanes,
        _ => return Err(none),
    };
    let width = fold(path, cols, 1)?;
    let mut out = Layout::from_iters(&[Iter::new(width, 1, AxisId::TCOL)])?;
    if path.folds > 1 {
        out.push_shard(lanes(path.folds, path.fold_lanes))?;
    }
    for (extent, step) in path.row.iter().rev() {
        out.push_shard(lanes(*extent, *step))?;
    }
    out.add_offset(Int::known(i64::from(start)), AxisId::TLANE)?;
    Ok(out)
}

/// Where an operand of a matrix instruction lies; TIRx: `tmem_mma_operand_layout`. `shape` may name
/// the folds:
///
/// - the accumulator: `(rows, n)`; with folds also `(folds, rows, n/folds)`, `(rows, folds,
///   n/folds)` and `(rows, segments, folds, n)`;
/// - the left factor: see [`OperandA`].
///
/// ```
/// # use lanebook_layout::tirx::{TmemOperand, facts, operand_layout};
/// # use lanebook_layout::AxisId;
/// let layout = operand_layout(facts::DATAPATHS, facts::DATAPATH_USES, TmemOperand::D, (64, 1, false), &[64, 32]).unwrap();
/// assert_eq!(layout.view().is_injective(), Ok(true));
/// assert_eq!(layout.view().cosize(AxisId::TCOL), Ok(32));
/// ```
///
/// # Errors
/// [`Error::NoVariant`] if no instruction has `used`'s rows, blocks and form; [`Error::Rank`] if
/// the shape has none of the forms; else those of [`tmem_datapath_layout`].
pub fn operand_layout(
    paths: &[Datapath],
    uses: &[DatapathUse],
    operand: TmemOperand,
    used: (u32, u32, bool),
    shape: &[u32],
) -> Result<Layout> {
    let (rows, blocks, stationary) = used;
    let found =
        uses.iter().find(|u| (u.rows, u.blocks, u.stationary) == (rows, blocks, stationary));
    let none = Error::NoVariant { found: rows };
    let path = datapath(paths, found.ok_or(none)?.letter)?;
    let layout = match operand {
        TmemOperand::D => accumulator(path, shape)?,
        TmemOperand::A => left(path, shape)?,
    };
    canonicalize(&layout.view())
}

fn accumulator(path: &Datapath, shape: &[u32]) -> Result<Layout> {
    let (folds, step) = (path.folds, path.fold_lanes);
    if folds > 1 {
        match *shape {
            [f, rows, cols] if f == folds => return batched(path, f, rows, cols),
            [rows, f, cols] if f == folds => {
                check_rows(path.rows, rows)?;
                return bare(&[lanes(rows, 1), lanes(f, step), columns(cols, 1)]);
            }
            [rows, segments, f, cols] if f == folds => {
                check_rows(path.rows, rows)?;
                return bare(&[
                    lanes(rows, 1),
                    columns(segments, cols),
                    lanes(f, step),
                    columns(cols, 1),
                ]);
            }
            _ => {}
        }
    }
    match *shape {
        [rows, cols] => tmem_datapath_layout(path, rows, cols, 0),
        _ => Err(no_form(shape)),
    }
}

fn left(path: &Datapath, shape: &[u32]) -> Result<Layout> {
    for form in path.operand {
        match (form, shape) {
            (OperandA::Plain | OperandA::Copied, [rows, cols]) => {
                check_rows(path.rows, *rows)?;
                let mut out = bare(&[lanes(*rows, 1), columns(*cols, 1)])?;
                if *form == OperandA::Copied {
                    out.push_replica(lanes(path.folds, path.fold_lanes))?;
                }
                return Ok(out);
            }
            (OperandA::Batched, [f, rows, cols]) if *f == path.folds => {
                return batched(path, *f, *rows, *cols);
            }
            _ => {}
        }
    }
    Err(no_form(shape))
}

fn batched(path: &Datapath, folds: u32, rows: u32, cols: u32) -> Result<Layout> {
    check_rows(path.rows, rows)?;
    bare(&[lanes(folds, path.fold_lanes), lanes(rows, 1), columns(cols, 1)])
}

fn no_form(shape: &[u32]) -> Error {
    Error::Rank { expected: 2, found: crate::layout::position(shape.len()) }
}

fn check_rows(needed: u32, found: u32) -> Result<()> {
    if needed == found {
        return Ok(());
    }
    Err(Error::BadShape { dim: 0, found, needed })
}

/// The columns of one fold.
fn fold(path: &Datapath, cols: u32, dim: u8) -> Result<u32> {
    let fault = Error::BadShape { dim, found: cols, needed: path.folds };
    if cols.checked_rem(path.folds) != Some(0) {
        return Err(fault);
    }
    cols.checked_div(path.folds).ok_or(fault)
}

fn lanes(extent: u32, step: u32) -> Iter {
    Iter::new(extent, i64::from(step), AxisId::TLANE)
}

fn columns(extent: u32, step: u32) -> Iter {
    Iter::new(extent, i64::from(step), AxisId::TCOL)
}
