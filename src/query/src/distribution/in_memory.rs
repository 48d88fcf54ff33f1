//! Layouts of shared memory, in whatever notation, written in TIRx's for a tile of some extents.

use crate::distribution::{BLOCKS, NoDistribution, evaluated};
use crate::error::Why;
use crate::shaped;
use crate::value::{Asked, QueryStorage, QueryValue};
use core::fmt::Write;
use lanebook_layout::notation::tirx;
use lanebook_layout::{AxisId, Iter, Layout, NoSyms, Padding, PostMap, Swizzle, Unit, WellKnown};
use lanebook_tables::{ArchId, Tables};

/// Writes a layout of shared memory, in whatever notation, in TIRx's for a tile of some extents, with
/// padding as distances.
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
    shaped::give(Asked { tables, arch: Some(own) }, storage, 0, extents)?;
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
    written_in_memory(&placed.layout, out)
}

/// Writes a layout of memory.
#[inline(never)]
fn written_in_memory(layout: &Layout, out: &mut impl Write) -> Result<(), NoDistribution> {
    let mut plain = match layout.view().post.padding() {
        None => layout.clone(),
        Some(padding) => padded(layout, padding)?,
    };
    let post = match layout.view().post {
        PostMap::None | PostMap::Padding(_) => PostMap::None,
        PostMap::Swizzle(swizzle) if swizzle.unit != Unit::Byte => {
            PostMap::Swizzle(Swizzle { unit: Unit::Element, ..swizzle })
        }
        _ => return Err(NoDistribution::Post),
    };
    plain.set_post(PostMap::None).map_err(Why::from)?;
    let short = lanebook_layout::tirx::canonicalize(&plain.view());
    let mut plain = short.map_err(Why::from)?;
    plain.set_post(post).map_err(Why::from)?;
    tirx::print(&plain.view(), &WellKnown, &NoSyms, out).map_err(|_| NoDistribution::Post)
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
        return Err(NoDistribution::Post);
    }
    Ok(out)
}
