//! Shapes given to layouts and encodings (`A @ 16x8`), and one layout after another (`A o B`).

use crate::algebra;
use crate::error::{KindOfValue, Why};
use crate::functions::QueryFunction;
use crate::literal::on_elements;
use crate::value::{Asked, ElementOrder, LooseSwizzle, Placed, QueryStorage, QueryValue};
use lanebook_layout::triton::address::Addresses;
use lanebook_layout::triton::{Encoding, NoTiles};
use lanebook_layout::{
    AxisId, Hw, Iter, Layout, Linear, Logical, Pad, Padding, PostMap, Unit, convert, triton,
};
use lanebook_tile::encoding::TableTiles;

/// Gives value `at` a shape.
pub(crate) fn give(
    asked: Asked<'_>,
    storage: &mut QueryStorage,
    at: usize,
    extents: &[u32],
) -> Result<(), Why> {
    match storage.slot(at) {
        QueryValue::Layout(placed) => {
            let size = placed.layout.view().size_value()?;
            let wanted =
                extents.iter().fold(1u64, |all, extent| all.saturating_mul(u64::from(*extent)));
            if size != wanted {
                return Err(Why::OtherElements { first: size, second: wanted });
            }
            placed.elements = placed.elements.shaped(extents);
            Ok(())
        }
        QueryValue::Encoding(_) => {
            let layout = encoded(asked, storage.value(at), extents)?;
            let elements =
                ElementOrder { row_major: true, ..ElementOrder::default() }.shaped(extents);
            storage.set(at, QueryValue::Layout(Placed { layout, elements }))
        }
        other => Err(Why::Kind { wanted: KindOfValue::Layout, found: other.kind() }),
    }
}

#[inline(never)]
fn encoded(asked: Asked<'_>, value: &QueryValue, extents: &[u32]) -> Result<Layout, Why> {
    let QueryValue::Encoding(encoding) = value else {
        return Err(Why::Kind { wanted: KindOfValue::Encoding, found: value.kind() });
    };
    if encoding.is_distributed() {
        return distributed(&linear(asked, encoding, extents)?, extents.len());
    }
    shared(encoding, extents)
}

/// The linear form of a register encoding; matrix tiles are the architecture's.
#[inline(never)]
pub(crate) fn linear(
    asked: Asked<'_>,
    encoding: &Encoding,
    extents: &[u32],
) -> Result<Linear<Hw, Logical>, Why> {
    let found = match asked.arch {
        Some(arch) => triton::to_linear(encoding, extents, &TableTiles::new(asked.tables, arch)),
        None => triton::to_linear(encoding, extents, &NoTiles),
    };
    match found {
        Err(triton::EncodingError::NoInstruction { .. }) if asked.arch.is_none() => {
            Err(Why::NeedsArch)
        }
        found => Ok(found?),
    }
}

/// From the coordinates, the last the fastest, to register, lane, warp and block; positions that hold a copy are
/// replicas.
#[inline(never)]
fn distributed(linear: &Linear<Hw, Logical>, rank: usize) -> Result<Layout, Why> {
    let mut back = linear.pseudo_invert()?;
    back = row_major(&back, rank)?;
    let strided = convert::to_strided(&back)?;
    let mut out = ops_flat(&strided)?;
    for (axis, bits) in linear.ins().iter() {
        let free = (0..bits).filter(|bit| linear.column(axis, *bit) == Some(0));
        for bit in free {
            let stride = 1i64.checked_shl(u32::from(bit)).unwrap_or(0);
            out.push_replica(Iter::new(2, stride, axis))?;
        }
    }
    Ok(out)
}

fn ops_flat(layout: &Layout) -> Result<Layout, Why> {
    Ok(lanebook_layout::ops::flatten(&layout.view())?)
}

/// The map with the last dimension lowest.
fn row_major<T>(linear: &Linear<Logical, T>, rank: usize) -> Result<Linear<Logical, T>, Why> {
    let mut order: heapless::Vec<AxisId, 8> = heapless::Vec::new();
    for k in (0..rank).rev() {
        let dim = AxisId::dim(u8::try_from(k).unwrap_or(u8::MAX));
        order.push(dim).map_err(|_| Why::TooDeep)?;
    }
    Ok(linear.transpose_ins(&order)?)
}

/// From the coordinates, the last the fastest, to the place in shared memory, in elements.
#[inline(never)]
fn shared(encoding: &Encoding, extents: &[u32]) -> Result<Layout, Why> {
    // Addresses count elements here: the width of an element does not matter.
    let addresses = Addresses::new(encoding, extents, 8)?;
    let back = row_major(addresses.offsets(), extents.len())?;
    let mut out = ops_flat(&renamed(&convert::to_strided(&back)?)?)?;
    if addresses.is_padded() {
        let mut pads: heapless::Vec<Pad, { lanebook_layout::MAX_PADS }> = heapless::Vec::new();
        for (interval, pad) in addresses.pads().iter().filter(|(_, pad)| *pad > 0) {
            pads.push(Pad { interval: *interval, pad: *pad }).map_err(|_| Why::TooDeep)?;
        }
        let padding = Padding::new(&pads, Unit::Codomain)?;
        out.set_post(match out.view().post.swizzle() {
            Some(swizzle) => PostMap::SwizzlePadding(swizzle, padding),
            None => PostMap::Padding(padding),
        })?;
    }
    Ok(out)
}

/// Offsets as the memory axis has them.
fn renamed(layout: &Layout) -> Result<Layout, Why> {
    Ok(layout.clone())
}

/// Value `at` after value `at + 1`: the second, then the first.
pub(crate) fn after(storage: &mut QueryStorage, at: usize) -> Result<(), Why> {
    let pair = storage.values.get_mut(at..).ok_or(Why::TooDeep)?;
    let [first, second, ..] = pair else { return Err(Why::TooDeep) };
    match (&mut *first, &mut *second) {
        (QueryValue::Swizzle(loose), QueryValue::Number(offset)) => {
            loose.offset = loose.offset.checked_add(*offset)?;
            Ok(())
        }
        (QueryValue::Swizzle(loose), QueryValue::Pointer(bits)) => {
            // Behind a pointer the swizzle counts bytes.
            loose.swizzle =
                on_elements(lanebook_layout::Swizzle { unit: Unit::Byte, ..loose.swizzle }, *bits)?;
            Ok(())
        }
        (QueryValue::Swizzle(loose), QueryValue::Layout(placed)) => {
            let loose = *loose;
            swizzled(loose, placed)?;
            core::mem::swap(first, second);
            Ok(())
        }
        (QueryValue::Layout(_), QueryValue::Layout(_)) => {
            let args = pair.get_mut(..2).ok_or(Why::TooDeep)?;
            algebra::apply(QueryFunction::Compose, args, "")
        }
        (QueryValue::Pointer(bits), QueryValue::Layout(placed)) => {
            placed.elements.bits = *bits;
            core::mem::swap(first, second);
            Ok(())
        }
        (QueryValue::Layout(_) | QueryValue::Swizzle(_), other) => {
            Err(Why::Kind { wanted: KindOfValue::Layout, found: other.kind() })
        }
        (other, _) => Err(Why::Kind { wanted: KindOfValue::Layout, found: other.kind() }),
    }
}

fn swizzled(loose: LooseSwizzle, placed: &mut Placed) -> Result<(), Why> {
    if !placed.layout.view().post.is_identity() {
        return Err(Why::Layout(lanebook_layout::Error::HasPostMap));
    }
    placed.layout.set_post(PostMap::Swizzle(loose.swizzle))?;
    placed.layout.add_offset(loose.offset, AxisId::M)?;
    Ok(())
}
