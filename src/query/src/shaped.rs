//! Shapes given to layouts and encodings (`A @ 16x8`), and one layout after another (`A o B`).

use crate::algebra;
use crate::error::{KindOfValue, Why};
use crate::functions::QueryFunction;
use crate::literal::on_elements;
use crate::value::{
    Asked, ElementOrder, EncodingRoom, LentPlace, LooseSwizzle, Placed, QueryStorage, QueryValue,
};
use lanebook_layout::triton::address::Addresses;
use lanebook_layout::triton::{Base, CtaMode, Encoding, NoTiles};
use lanebook_layout::{
    AxisId, Error, Hw, Int, Iter, Layout, LayoutRef, Linear, Logical, Offset, Pad, Padding,
    PostMap, Unit, convert, ops, triton,
};
use lanebook_tile::encoding::TableTiles;

/// Gives value `at` a shape.
pub(crate) fn give(
    asked: Asked<'_>,
    storage: &mut QueryStorage,
    at: usize,
    extents: &[u32],
) -> Result<(), Why> {
    let QueryStorage { values, room, .. } = storage;
    let value = values.get_mut(at).ok_or(Why::TooDeep)?;
    let mut buffers = None;
    match value {
        QueryValue::Layout(placed) => {
            let size = placed.layout.view().size_value()?;
            let wanted =
                extents.iter().fold(1u64, |all, extent| all.saturating_mul(u64::from(*extent)));
            if size != wanted {
                return Err(Why::OtherElements { first: size, second: wanted });
            }
            placed.elements = placed.elements.shaped(extents);
            return Ok(());
        }
        QueryValue::Encoding(encoding) if encoding.is_distributed() => {
            linear(asked, encoding, extents, room)?;
            turned(room, extents.len())?;
        }
        QueryValue::Encoding(encoding) if cells(encoding).is_some() => {
            let copied = cells(encoding) == Some(true);
            linear(asked, encoding, extents, room)?;
            turned(room, extents.len())?;
            without_holes(room, copied)?;
        }
        QueryValue::Encoding(encoding) => buffers = addresses(encoding, extents, room)?,
        other => return Err(other.no_layout()),
    }
    let elements = ElementOrder { row_major: true, ..ElementOrder::default() }.shaped(extents);
    strided(room, value)?;
    flat(value, elements)?;
    if let (Some(buffers), QueryValue::Layout(placed)) = (buffers, &mut *value) {
        placed.layout.push_shard(buffers)?;
    }
    finished(room, value)
}

/// `scales(OPERAND, SHAPE, RUN)`: the block scales of an operand that is an encoding.
#[inline(never)]
pub(crate) fn scales(asked: Asked<'_>, storage: &mut QueryStorage, at: usize) -> Result<(), Why> {
    let QueryStorage { values, room, .. } = storage;
    let Some([value, shape, run]) = values.get_mut(at..at.saturating_add(3)) else {
        return Err(Why::TooDeep);
    };
    let extents = extents_of(shape)?;
    let run = u16::try_from(run.count()?).map_err(|_| Error::Overflow)?;
    let QueryValue::Encoding(encoding) = &*value else {
        return Err(Why::Kind { wanted: KindOfValue::Encoding, found: value.kind() });
    };
    let found = match asked.arch {
        Some(arch) => {
            triton::scales_to_linear(encoding, &extents, run, &TableTiles::new(asked.tables, arch))
        }
        None => triton::scales_to_linear(encoding, &extents, run, &NoTiles),
    };
    room.linear = LentPlace::Full(found.map_err(|error| unknown(asked, error))?);
    room.padding = LentPlace::Empty;
    turned(room, extents.len())?;
    let elements = ElementOrder { row_major: true, ..ElementOrder::default() }.shaped(&extents);
    strided(room, value)?;
    flat(value, elements)?;
    finished(room, value)
}

/// `addressed(ENCODING, SHAPE, INSTRUCTION)`: which elements each lane's address reaches, so that an instruction which
/// exchanges elements between lanes leaves the registers of the encoding.
#[inline(never)]
pub(crate) fn addressed(
    asked: Asked<'_>,
    storage: &mut QueryStorage,
    at: usize,
) -> Result<(), Why> {
    let QueryStorage { values, room, .. } = storage;
    let Some([value, shape, instruction]) = values.get_mut(at..at.saturating_add(3)) else {
        return Err(Why::TooDeep);
    };
    let extents = extents_of(shape)?;
    let QueryValue::Instruction(picked) = &*instruction else {
        return Err(Why::Kind { wanted: KindOfValue::Instruction, found: instruction.kind() });
    };
    let atom = asked.tables.atom(picked.atom).ok_or(Why::UnknownInstruction)?;
    let moved = atom.movement.filter(|moved| moved.crosses_lanes).ok_or(Why::WrongInstruction)?;
    let QueryValue::Encoding(encoding) = &*value else {
        return Err(Why::Kind { wanted: KindOfValue::Encoding, found: value.kind() });
    };
    linear(asked, encoding, &extents, room)?;
    if let LentPlace::Full(registers) = &mut room.linear {
        let (from, to) = (moved.from.layout, moved.to.layout);
        *registers = triton::addressed(registers, from, to, moved.unit_bits)?;
    }
    turned(room, extents.len())?;
    let elements = ElementOrder { row_major: true, ..ElementOrder::default() }.shaped(&extents);
    strided(room, value)?;
    flat(value, elements)?;
    finished(room, value)
}

/// `permute_columns(ENCODING, SHAPE, PART, ORDER)`: an encoding whose bits of a part of the machine do what others did.
#[inline(never)]
pub(crate) fn permuted(
    asked: Asked<'_>,
    storage: &mut QueryStorage,
    at: usize,
    text: &str,
) -> Result<(), Why> {
    let QueryStorage { values, room, .. } = storage;
    let Some([value, shape, part, order]) = values.get_mut(at..at.saturating_add(4)) else {
        return Err(Why::TooDeep);
    };
    order.make_tuple()?;
    let extents = extents_of(shape)?;
    let QueryValue::Word(word) = &*part else {
        return Err(Why::Kind { wanted: KindOfValue::Word, found: part.kind() });
    };
    let axis = match algebra::unquoted(*word, text) {
        "register" | "reg" => AxisId::REGISTER,
        "lane" => AxisId::LANE,
        "warp" => AxisId::WARP,
        "block" => AxisId::BLOCK,
        _ => return Err(Why::BadWord),
    };
    let mut bits: heapless::Vec<u8, 32> = heapless::Vec::new();
    for bit in &algebra::numbers(order)? {
        bits.push(u8::try_from(*bit).unwrap_or(u8::MAX)).map_err(|_| Why::TooDeep)?;
    }
    let QueryValue::Encoding(encoding) = &*value else {
        return Err(Why::Kind { wanted: KindOfValue::Encoding, found: value.kind() });
    };
    if !encoding.is_distributed() {
        return Err(Why::NoRegisters);
    }
    linear(asked, encoding, &extents, room)?;
    if let LentPlace::Full(registers) = &mut room.linear {
        *registers = registers.permute_columns(axis, &bits)?;
    }
    turned(room, extents.len())?;
    let elements = ElementOrder { row_major: true, ..ElementOrder::default() }.shaped(&extents);
    strided(room, value)?;
    flat(value, elements)?;
    finished(room, value)
}

/// A shape's numbers.
fn extents_of(shape: &QueryValue) -> Result<heapless::Vec<u32, { triton::MAX_RANK }>, Why> {
    let mut extents = heapless::Vec::new();
    for extent in shape.tuple()?.view().leaves() {
        let extent = u32::try_from(extent.value()?).map_err(|_| Error::Overflow)?;
        extents.push(extent).map_err(|_| Why::TooDeep)?;
    }
    Ok(extents)
}

/// Of an encoding of tensor memory: whether lanes that number no element have copies.
fn cells(encoding: &Encoding) -> Option<bool> {
    match &encoding.base {
        Base::TensorMemory(memory) => Some(memory.cta_mode == CtaMode::TwoLhs),
        Base::TensorMemoryScales(..) => Some(true),
        _ => None,
    }
}

/// The linear form of a register encoding; matrix tiles are the architecture's.
#[inline(never)]
fn linear(
    asked: Asked<'_>,
    encoding: &Encoding,
    extents: &[u32],
    room: &mut EncodingRoom,
) -> Result<(), Why> {
    let found = match asked.arch {
        Some(arch) => triton::to_linear(encoding, extents, &TableTiles::new(asked.tables, arch)),
        None => triton::to_linear(encoding, extents, &NoTiles),
    };
    room.linear = LentPlace::Full(found.map_err(|error| unknown(asked, error))?);
    room.padding = LentPlace::Empty;
    Ok(())
}

/// Without an architecture no instruction is known.
fn unknown(asked: Asked<'_>, error: triton::EncodingError) -> Why {
    match error {
        triton::EncodingError::NoInstruction { .. } if asked.arch.is_none() => Why::NeedsArch,
        error => error.into(),
    }
}

/// From the coordinates, the last the fastest, to register, lane, warp and block.
#[inline(never)]
fn turned(room: &mut EncodingRoom, rank: usize) -> Result<(), Why> {
    let LentPlace::Full(linear) = &room.linear else { return Err(Why::TooDeep) };
    let back = linear.pseudo_invert()?;
    room.back = LentPlace::Full(row_major(&back, rank)?);
    Ok(())
}

/// The map with the last dimension lowest.
#[inline(never)]
fn row_major(linear: &Linear<Logical, Hw>, rank: usize) -> Result<Linear<Logical, Hw>, Why> {
    let mut order: heapless::Vec<AxisId, 8> = heapless::Vec::new();
    for k in (0..rank).rev() {
        let dim = AxisId::dim(u8::try_from(k).unwrap_or(u8::MAX));
        order.push(dim).map_err(|_| Why::TooDeep)?;
    }
    Ok(linear.transpose_ins(&order)?)
}

/// From the coordinates, the last the fastest, to the place in shared memory, in elements. An extent more than the
/// encoding has dimensions counts buffers, one behind the other: their iter is what is answered.
#[inline(never)]
fn addresses(
    encoding: &Encoding,
    extents: &[u32],
    room: &mut EncodingRoom,
) -> Result<Option<Iter>, Why> {
    if let Some(fault) = elements_placed(encoding, extents, room)? {
        let [count, tile @ ..] = extents else { return Err(fault) };
        if tile.is_empty() {
            return Err(fault);
        }
        match elements_placed(encoding, tile, room)? {
            None => {}
            // It has not one dimension less either: what is wrong is wrong with the whole.
            Some(Why::Encoding(triton::EncodingError::Rank { .. })) => return Err(fault),
            Some(other) => return Err(other),
        }
        let size = tile.iter().try_fold(1i64, |all, extent| all.checked_mul(i64::from(*extent)));
        let size = size.ok_or(lanebook_layout::Error::Overflow)?;
        return Ok(Some(Iter::new(*count, size, AxisId::M)));
    }
    Ok(None)
}

/// Puts the map of one buffer into the room; or why the encoding has none of this shape.
#[inline(never)]
fn elements_placed(
    encoding: &Encoding,
    extents: &[u32],
    room: &mut EncodingRoom,
) -> Result<Option<Why>, Why> {
    // Addresses count elements here: the width of an element does not matter.
    let addresses = match Addresses::new(encoding, extents, 8) {
        Ok(addresses) => addresses,
        Err(error) => return Ok(Some(error.into())),
    };
    room.linear = LentPlace::Empty;
    room.back = LentPlace::Full(row_major(addresses.offsets(), extents.len())?);
    room.padding = LentPlace::Empty;
    if addresses.is_padded() {
        let mut pads: heapless::Vec<Pad, { lanebook_layout::MAX_PADS }> = heapless::Vec::new();
        for (interval, pad) in addresses.pads().iter().filter(|(_, pad)| *pad > 0) {
            pads.push(Pad { interval: *interval, pad: *pad }).map_err(|_| Why::TooDeep)?;
        }
        room.padding = LentPlace::Full(Padding::new(&pads, Unit::Codomain)?);
    }
    Ok(None)
}

/// The map in the room without columns of tensor memory that no element is in, and without lanes:
/// what the tensor leaves alone; unless lanes hold copies.
#[inline(never)] // Its maps leave the stack before the strided form is made.
fn without_holes(room: &mut EncodingRoom, copied: bool) -> Result<(), Why> {
    let LentPlace::Full(linear) = &mut room.linear else { return Ok(()) };
    *linear = linear.remove_zero_bases(AxisId::TCOL)?;
    if !copied {
        *linear = linear.remove_zero_bases(AxisId::TLANE)?;
    }
    Ok(())
}

/// The strided form of the map in the room.
#[inline(never)]
fn strided(room: &EncodingRoom, value: &mut QueryValue) -> Result<(), Why> {
    let LentPlace::Full(back) = &room.back else { return Err(Why::TooDeep) };
    let made = convert::to_strided(back);
    taken(&made, value)
}

/// Puts a layout into a value.
#[inline(never)]
fn taken(made: &lanebook_layout::Result<Layout>, value: &mut QueryValue) -> Result<(), Why> {
    let layout = made.as_ref().map_err(|error| *error)?;
    *value = QueryValue::Layout(Placed { layout: layout.clone(), ..Placed::default() });
    Ok(())
}

/// The layout of a value without its tree.
#[inline(never)]
fn flat(value: &mut QueryValue, elements: ElementOrder) -> Result<(), Why> {
    let made = lanebook_layout::ops::flatten(&value.layout()?);
    taken(&made, value)?;
    if let QueryValue::Layout(placed) = value {
        placed.elements = elements;
    }
    Ok(())
}

/// Positions that hold a copy become replicas; padding is added.
#[inline(never)]
fn finished(room: &EncodingRoom, value: &mut QueryValue) -> Result<(), Why> {
    let QueryValue::Layout(placed) = value else { return Err(Why::TooDeep) };
    if let LentPlace::Full(linear) = &room.linear {
        for (axis, bits) in linear.ins().iter() {
            for bit in (0..bits).filter(|bit| linear.column(axis, *bit) == Some(0)) {
                let stride = 1i64.checked_shl(u32::from(bit)).unwrap_or(0);
                placed.layout.push_replica(Iter::new(2, stride, axis))?;
            }
        }
    }
    if let LentPlace::Full(padding) = &room.padding {
        let post = match placed.layout.view().post.swizzle() {
            Some(swizzle) => PostMap::SwizzlePadding(swizzle, *padding),
            None => PostMap::Padding(*padding),
        };
        placed.layout.set_post(post)?;
    }
    Ok(())
}

/// Whether value `at` is no layout yet, so that what stands before it waits for what comes behind
/// it: `A o 3 o B` is A of B moved by 3.
pub(crate) fn waits(storage: &QueryStorage, at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| storage.value(before));
    match storage.value(at) {
        QueryValue::Swizzle(_) => matches!(
            before,
            Some(QueryValue::Layout(_) | QueryValue::Swizzle(_) | QueryValue::Number(_))
        ),
        QueryValue::Number(_) => matches!(before, Some(QueryValue::Layout(_))),
        _ => false,
    }
}

/// Value `at` after value `at + 1`: the second, then the first.
#[inline(never)]
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
            loose.bits = *bits;
            Ok(())
        }
        (QueryValue::Swizzle(loose), QueryValue::Layout(placed)) => {
            let loose = *loose;
            swizzled(loose, placed)?;
            moved_down(first, second);
            Ok(())
        }
        (QueryValue::Number(offset), QueryValue::Layout(placed)) => {
            moved_by(*offset, placed)?;
            moved_down(first, second);
            Ok(())
        }
        (QueryValue::Layout(_), QueryValue::Layout(_)) => {
            let args = pair.get_mut(..2).ok_or(Why::TooDeep)?;
            algebra::apply(QueryFunction::Compose, args, "")
        }
        (QueryValue::Pointer(bits), QueryValue::Layout(placed)) => {
            placed.elements.bits = *bits;
            moved_down(first, second);
            Ok(())
        }
        (QueryValue::Layout(_) | QueryValue::Swizzle(_), other) => Err(other.no_layout()),
        (other, _) => Err(other.no_layout()),
    }
}

/// Puts a value into the place of another.
#[inline(never)]
fn moved_down(into: &mut QueryValue, from: &QueryValue) {
    into.clone_from(from);
}

#[inline(never)]
fn swizzled(loose: LooseSwizzle, placed: &mut Placed) -> Result<(), Why> {
    if loose.bits > 0 {
        placed.elements.bits = loose.bits;
    }
    let post = PostMap::Swizzle(loose.swizzle);
    if placed.layout.view().post.is_identity() {
        placed.layout.set_post(post)?;
        placed.layout.add_offset(loose.offset, AxisId::M)?;
        return Ok(());
    }
    behind(loose.offset, post, placed)
}

/// A layout whose positions are moved.
#[inline(never)]
fn moved_by(offset: Int, placed: &mut Placed) -> Result<(), Why> {
    if placed.layout.view().post.is_identity() {
        placed.layout.add_offset(offset, AxisId::M)?;
        return Ok(());
    }
    behind(offset, PostMap::None, placed)
}

/// Positions that are swizzled already: moved and mapped once more.
#[inline(never)]
fn behind(offset: Int, post: PostMap, placed: &mut Placed) -> Result<(), Why> {
    let step = [Iter::new(1, 1, AxisId::M)];
    let offset = [Offset::symbolic(offset, AxisId::M)];
    let outer = LayoutRef { offset: &offset, post, ..LayoutRef::new(&step) };
    let made = ops::compose(&outer, &placed.layout.view());
    let layout = made.as_ref().map_err(|error| *error)?;
    placed.layout.clone_from(layout);
    Ok(())
}
