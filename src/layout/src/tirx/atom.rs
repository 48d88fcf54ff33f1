//! Register tiles of a warpgroup: what an instruction form spreads over lanes and registers, as
//! data.

use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout};

/// A number of a form: fixed, or that times the number of repeats.
///
/// ```
/// # use lanebook_layout::tirx::{Count, FormIter};
/// assert_eq!(FormIter::repeats(2).stride, Count::Fixed(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Count {
    /// A constant.
    Fixed(u32),
    /// A constant times the repeats.
    Repeats(u32),
}

impl Count {
    /// The number for so many repeats.
    pub(crate) fn value(self, repeats: u32) -> Result<u32> {
        match self {
            Self::Fixed(n) => Ok(n),
            Self::Repeats(n) => n.checked_mul(repeats).ok_or(Error::Overflow),
        }
    }
}

/// An iter of a form. Strides on axis `m` count 32-bit registers.
///
/// ```
/// # use lanebook_layout::AxisId;
/// # use lanebook_layout::tirx::{Count, FormIter};
/// // Eight rows of four lanes each, and a register for each repeat.
/// let rows = FormIter::fixed(8, 4, AxisId::LANE);
/// assert_eq!((rows.extent, rows.stride, FormIter::repeats(1).axis), (Count::Fixed(8), Count::Fixed(4), AxisId::M));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FormIter {
    /// The number of steps.
    pub extent: Count,
    /// The length of a step.
    pub stride: Count,
    /// The axis.
    pub axis: AxisId,
}

impl FormIter {
    /// An iter with fixed numbers.
    #[must_use]
    pub const fn fixed(extent: u32, stride: u32, axis: AxisId) -> Self {
        Self { extent: Count::Fixed(extent), stride: Count::Fixed(stride), axis }
    }

    /// An iter over the repeats, `stride` registers apart.
    #[must_use]
    pub const fn repeats(stride: u32) -> Self {
        Self { extent: Count::Repeats(1), stride: Count::Fixed(stride), axis: AxisId::M }
    }
}

/// One form of an instruction that moves a tile between registers and tensor memory.
///
/// ```
/// # use lanebook_layout::tirx::{AtomForm, Count, FormIter, atom_layout};
/// # use lanebook_layout::AxisId;
/// // A made instruction: a row a lane, each repeat one register more.
/// const FORM: AtomForm = AtomForm {
///     name: "rows",
///     rows: 32,
///     columns: 1,
///     repeats: &[1, 2, 4],
///     ..lanebook_layout::tirx::facts::ATOM_FORMS[0]
/// };
/// assert_eq!(FormIter::fixed(32, 1, AxisId::LANE).extent, Count::Fixed(32));
/// assert_eq!(FormIter::repeats(1).extent, Count::Repeats(1));
/// assert!(atom_layout(&[FORM], "rows", 32, 3, 32).is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AtomForm {
    /// The form's name: rows of a warp times bits of a repeat.
    pub name: &'static str,
    /// Rows of the tile.
    pub rows: u32,
    /// Columns of 32 bits that one repeat adds.
    pub columns: u32,
    /// The repeats that the instruction has.
    pub repeats: &'static [u32],
    /// Element widths in bits that may fill a register.
    pub element_bits: &'static [u32],
    /// The iters of the rows, slowest first.
    pub row: &'static [FormIter],
    /// The iters of the 32-bit columns, slowest first.
    pub column: &'static [FormIter],
}

/// Bits of a register.
const REGISTER_BITS: u32 = 32;

/// The register tile of `rows` x `cols` elements that the form called `name` moves; TIRx:
/// `tcgen05_atom_layout`.
///
/// Elements narrower than a register are packed into it, neighbours in a row; positions on `m`
/// count elements.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let tile = tirx::atom_layout(tirx::facts::ATOM_FORMS, "32x32b", 128, 8, 32).unwrap();
/// assert_eq!(tirx::canonicalize(&tile.view()).unwrap(), of("S[(128,8):(1@tid_in_wg,1)]"));
/// ```
///
/// # Errors
/// [`Error::NoVariant`] if no form has the name; [`Error::BadElement`]; [`Error::BadShape`] with
/// dimension 0 if the form has not that many rows, and with dimension 1 if `cols` is no multiple of
/// a repeat's columns (`needed`) or the instruction does not repeat that often (`needed` 0).
pub fn atom_layout(
    forms: &[AtomForm],
    name: &str,
    rows: u32,
    cols: u32,
    element_bits: u32,
) -> Result<Layout> {
    let mut named = forms.iter().filter(|f| f.name == name).peekable();
    if named.peek().is_none() {
        return Err(Error::NoVariant { found: rows });
    }
    let bits = Error::BadElement { bits: element_bits };
    let widths = forms.iter().filter(|f| f.name == name);
    if !widths.flat_map(|f| f.element_bits).any(|b| *b == element_bits) {
        return Err(bits);
    }
    let form =
        named.find(|f| f.rows == rows).ok_or(Error::BadShape { dim: 0, found: rows, needed: 0 })?;
    if !form.element_bits.contains(&element_bits) {
        return Err(bits);
    }
    let packed = REGISTER_BITS.checked_div(element_bits).ok_or(bits)?;
    let unit = form.columns.checked_mul(packed).ok_or(Error::Overflow)?;
    let fault = |needed| Error::BadShape { dim: 1, found: cols, needed };
    if cols.checked_rem(unit) != Some(0) {
        return Err(fault(unit));
    }
    let repeats = cols.checked_div(unit).ok_or(fault(unit))?;
    if !form.repeats.contains(&repeats) {
        return Err(fault(0));
    }
    let mut out = Layout::new();
    if packed > 1 {
        out.push_shard(Iter::new(packed, 1, AxisId::M))?;
    }
    for it in form.column.iter().rev().chain(form.row.iter().rev()) {
        let mut stride = i64::from(it.stride.value(repeats)?);
        if it.axis == AxisId::M {
            stride = stride.checked_mul(i64::from(packed)).ok_or(Error::Overflow)?;
        }
        out.push_shard(Iter::new(it.extent.value(repeats)?, stride, it.axis))?;
    }
    Ok(out)
}

/// A tile with one row a thread of the warpgroup and its columns in the thread's registers; TIRx:
/// `wg_local_layout`.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::wg_local_layout(128, 64).unwrap(), of("S[(128,64):(1@tid_in_wg,1)]"));
/// ```
///
/// # Errors
/// [`Error::BadExtent`] for a dimension of extent 0.
pub fn wg_local_layout(rows: u32, cols: u32) -> Result<Layout> {
    Layout::from_iters(&[Iter::new(cols, 1, AxisId::M), Iter::new(rows, 1, AxisId::TID_IN_WG)])
}
