//! Candidates for shared layouts: the plain tile, XOR swizzles, padding.
//!
//! The families follow from figures in the tables alone (bank span, access widths, the run of a
//! wave-uniform writer), so a new architecture brings its own. Order matters only for ties: plain
//! first, then swizzles (they cost no memory), then padding, smaller before larger.

use crate::copy_atom::CopyAtom;
use crate::map::{SharedLayout, TileShape};
use lanebook_layout::{Pad, Padding, PostMap, Swizzle, Unit};
use lanebook_tables::{Arch, Space, Tables};

/// Figures that shape the families.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FamilyFigures {
    /// Bytes that all banks deliver together, the widest model.
    pub bank_span: u32,
    /// Widest access in bytes.
    pub widest: u32,
    /// Bytes of the longest wave-uniform run; 0 = none.
    pub run: u32,
}

impl FamilyFigures {
    /// Those of an architecture whose shared memory these copy atoms touch.
    pub fn of<I: Iterator<Item = CopyAtom>>(
        tables: &Tables<'_>,
        arch: &Arch<'_>,
        movers: I,
    ) -> Self {
        let banks = arch.banks.iter();
        let spans = banks.map(|b| u32::from(b.banks).saturating_mul(u32::from(b.bank_bytes)));
        let mut out = Self { bank_span: spans.max().unwrap_or(0), widest: 0, run: 0 };
        for copy_atom in movers {
            let Some(movement) = tables.atom(copy_atom.atom).and_then(|a| a.movement.as_ref())
            else {
                continue;
            };
            for side in [&movement.from, &movement.to] {
                if side.space == Space::Shared {
                    // A wave-uniform side has one slot, and the whole run behind it.
                    let bytes = u32::from(side.slot_bytes);
                    if copy_atom.uniform {
                        out.run = out.run.max(bytes);
                    } else {
                        out.widest = out.widest.max(bytes);
                    }
                }
            }
        }
        out
    }
}

/// The candidates for a tile, in order.
pub fn candidates(shape: TileShape, family: FamilyFigures) -> impl Iterator<Item = SharedLayout> {
    [true, false].into_iter().flat_map(move |row_major| {
        let plain = core::iter::once(PostMap::None);
        plain
            .chain(swizzles(shape, family, row_major))
            .chain(paddings(shape, family, row_major))
            .map(move |post| SharedLayout { row_major, post, ..SharedLayout::BY_ROWS })
    })
}

fn log2(n: u32) -> u8 {
    u8::try_from(n.max(1).ilog2()).unwrap_or(0)
}

/// log2 of the bytes of a contiguous row.
fn row_bits(shape: TileShape, row_major: bool) -> u8 {
    let inner = if row_major { shape.cols } else { shape.rows };
    inner.saturating_add(log2(u32::from(shape.bits / 8)))
}

/// Swizzles that permute pieces of 4 to `widest` bytes inside the bank span by bits of the row
/// number.
fn swizzles(
    shape: TileShape,
    family: FamilyFigures,
    row_major: bool,
) -> impl Iterator<Item = PostMap> {
    let (top, span) = (log2(family.widest), log2(family.bank_span));
    let row = row_bits(shape, row_major);
    let total = shape.total().saturating_add(log2(u32::from(shape.bits / 8)));
    let element = log2(u32::from(shape.bits / 8));
    // The coarsest piece first: it keeps the widest accesses whole.
    (element.max(2)..=top).rev().flat_map(move |base| {
        let most = span.min(row).saturating_sub(base);
        (1..=most).rev().flat_map(move |bits| {
            (0u8..=3).filter_map(move |skip| {
                let source = row.checked_add(skip)?;
                let shift = source.checked_sub(base)?;
                if shift < bits || source.checked_add(bits)? > total {
                    return None;
                }
                Swizzle::new(bits, base, i8::try_from(shift).ok()?, Unit::Byte)
                    .ok()
                    .map(PostMap::Swizzle)
            })
        })
    })
}

/// Padding after each row, or after each wave-uniform run where that is longer.
fn paddings(
    shape: TileShape,
    family: FamilyFigures,
    row_major: bool,
) -> impl Iterator<Item = PostMap> {
    let row = 1u32.checked_shl(u32::from(row_bits(shape, row_major))).unwrap_or(u32::MAX);
    let intervals = [row, if family.run > row { family.run } else { 0 }];
    intervals.into_iter().filter(|&i| i > 0).flat_map(move |interval| {
        let mut pad = family.widest;
        let least = 4u32.max(u32::from(shape.bits / 8));
        let mut pads = [0u32; 6];
        for slot in &mut pads {
            *slot = if pad >= least { pad } else { 0 };
            pad /= 2;
        }
        let wide = [family.widest.saturating_mul(2), family.widest.saturating_mul(4)];
        pads.into_iter().chain(wide).filter(|&p| p > 0).filter_map(move |pad| {
            Padding::new(&[Pad { interval, pad }], Unit::Byte).ok().map(PostMap::Padding)
        })
    })
}
