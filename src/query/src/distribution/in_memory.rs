//! Layouts of shared memory, in whatever notation, written in TIRx's for a tile of some extents.

use crate::distribution::{BLOCKS, NoDistribution, evaluated};
use crate::error::Why;
use crate::shaped;
use crate::value::{Asked, LentPlace, QueryStorage, QueryValue};
use core::fmt::Write;
use lanebook_layout::linear::Span;
use lanebook_layout::notation::{cute, tirx};
use lanebook_layout::{AxisId, Iter, Layout, NoSyms, Padding, PostMap, Swizzle, Unit, WellKnown};
use lanebook_tables::{ArchId, Tables};

/// Writes a layout of shared memory, in whatever notation, in TIRx's for a tile of some extents (in
/// CuTe's where it counts the first coordinate fastest), with padding as distances; one that no strides
/// say bit by bit in Triton's, with the places of bits in [`QueryStorage::bit_places`].
///
/// # Errors
/// Why it is none of such a tile.
#[doc(hidden)] // Of the crate on top.
pub fn memory_layout(
    tables: &Tables<'_>,
    arch: ArchId,
    text: &str,
    extents: &[u32],
    storage: &mut QueryStorage,
    out: &mut impl Write,
) -> Result<(), NoDistribution> {
    let own = evaluated(tables, arch, text, storage)?;
    storage.places.clear();
    storage.room.back = LentPlace::Empty;
    if let Err(why) = shaped::give(Asked { tables, arch: Some(own) }, storage, 0, extents) {
        return by_bits(storage, why, extents, out);
    }
    let QueryValue::Layout(placed) = storage.value(0) else {
        return Err(NoDistribution::Registers);
    };
    let view = placed.layout.view();
    if !view.axes().map_err(Why::from)?.iter().all(|axis| *axis == AxisId::M) {
        let axes = view.axes().map_err(Why::from)?;
        let blocks = BLOCKS.iter().any(|axis| axes.contains(axis));
        return Err(if blocks { NoDistribution::Blocks } else { NoDistribution::Registers });
    }
    if !view.replica.is_empty() {
        return Err(NoDistribution::Several);
    }
    written_in_memory(&placed.layout, placed.elements.row_major, out)
}

/// Writes an encoding of memory that no strides say as what each bit of a place holds, and keeps
/// where each bit of an element's number lies; `why` is what else is said of it.
#[inline(never)]
fn by_bits(
    storage: &mut QueryStorage,
    why: Why,
    extents: &[u32],
    out: &mut impl Write,
) -> Result<(), NoDistribution> {
    let QueryStorage { room, places, .. } = storage;
    let LentPlace::Full(back) = &room.back else { return Err(why.into()) };
    let total = extents.iter().try_fold(1u64, |all, extent| all.checked_mul(u64::from(*extent)));
    let columns = back.columns();
    let count = u32::try_from(columns.len()).unwrap_or(u32::MAX);
    if total != 1u64.checked_shl(count) || back.outs().bits_of(AxisId::M) != back.outs().bits() {
        return Err(why.into());
    }
    if let LentPlace::Full(_) = &room.padding {
        return Err(NoDistribution::PaddedSwizzle);
    }
    for column in columns {
        let place = u32::try_from(*column).map_err(|_| NoDistribution::Extents)?;
        places.push(place).map_err(|_| NoDistribution::Extents)?;
    }
    let places = Span::of(columns);
    if u32::from(places.rank()) < count {
        return Err(NoDistribution::Twice);
    }
    let element = |bit: u32| places.solve(1u64.checked_shl(bit)?);
    if (0..count).any(|bit| element(bit).is_none()) {
        return Err(why.into());
    }
    let elements = (0..count).filter_map(element);
    bases(elements, extents, &mut crate::write::Out::new(out)).map_err(|_| Why::TooDeep.into())
}

/// Coordinates of the elements that bits of a place hold.
fn bases(
    elements: impl Iterator<Item = u64>,
    extents: &[u32],
    out: &mut crate::write::Out<'_, impl Write>,
) -> core::fmt::Result {
    out.text("#ttg.shared_linear<{offset = [")?;
    for (number, element) in elements.enumerate() {
        out.text(if number > 0 { ", [" } else { "[" })?;
        for (dim, extent) in extents.iter().enumerate() {
            let behind = extents.iter().skip(dim.saturating_add(1));
            let behind = behind.fold(1u64, |all, extent| all.saturating_mul(u64::from(*extent)));
            let index = element.checked_div(behind).unwrap_or(0);
            out.text(if dim > 0 { ", " } else { "" })?;
            out.unsigned(index.checked_rem(u64::from(*extent)).unwrap_or(0))?;
        }
        out.text("]")?;
    }
    out.text("]}, alignment = 16>")
}

/// Writes a layout of memory: in CuTe's notation where the first coordinate is the fastest, as there.
#[inline(never)]
fn written_in_memory(
    layout: &Layout,
    row_major: bool,
    out: &mut impl Write,
) -> Result<(), NoDistribution> {
    let mut plain = match layout.view().post.padding() {
        None => layout.clone(),
        Some(padding) => padded(layout, padding)?,
    };
    let post = match layout.view().post {
        PostMap::None | PostMap::Padding(_) => PostMap::None,
        PostMap::Swizzle(swizzle) if swizzle.unit != Unit::Byte => {
            let unit = if row_major { Unit::Element } else { Unit::Codomain };
            PostMap::Swizzle(Swizzle { unit, ..swizzle })
        }
        _ => return Err(NoDistribution::PaddedSwizzle),
    };
    plain.set_post(PostMap::None).map_err(Why::from)?;
    let short = lanebook_layout::tirx::canonicalize(&plain.view());
    let mut plain = short.map_err(Why::from)?;
    plain.set_post(post).map_err(Why::from)?;
    let printed = match row_major {
        true => tirx::print(&plain.view(), &WellKnown, &NoSyms, out),
        false => cute::print(&plain.view(), &WellKnown, &NoSyms, out),
    };
    printed.map_err(|_| NoDistribution::Post)
}

/// A layout behind whose positions padding stands, without it: what is added for each bit of a
/// position does not depend on the others where padding stands behind powers of two.
#[inline(never)]
fn padded(layout: &Layout, padding: &Padding) -> Result<Layout, NoDistribution> {
    let mut out = Layout::new();
    let mut taken = 0u64;
    for iter in layout.view().shard {
        let extent = iter.extent_value().map_err(Why::from)?;
        let stride = iter.stride_value().map_err(Why::from)?;
        if !extent.is_power_of_two() || stride.count_ones() != 1 {
            return Err(NoDistribution::Extents);
        }
        for bit in 0..extent.checked_ilog2().unwrap_or(0) {
            let place = stride.checked_shl(bit).unwrap_or(0);
            // One bit of a position each: else they carry, and the sum is not that of the parts.
            if place <= 0 || taken & place.unsigned_abs() != 0 {
                return Err(NoDistribution::Several);
            }
            taken |= place.unsigned_abs();
            let stride = padding.apply(place.unsigned_abs()).map_err(Why::from)?;
            let stride = i64::try_from(stride).map_err(|_| NoDistribution::Extents)?;
            out.push_shard(Iter::new(2, stride, AxisId::M)).map_err(Why::from)?;
        }
    }
    if padding.pads().iter().any(|pad| !pad.interval.is_power_of_two()) {
        return Err(NoDistribution::Intervals);
    }
    Ok(out)
}
