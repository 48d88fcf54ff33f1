//! Division: does a tile movement decompose into an atom and a quotient that its addressing can
//! supply?
//!
//! The tile's composed map (register bits to element bits to bytes) is divided by the atom's layout
//! bit by bit: where the atom fixes both the register place and the byte, the tile must agree
//! exactly; where the atom leaves an address slot free, the tile's column becomes that slot's
//! address. What is left over are the instances.

use crate::copy_atom::{BitPlace, CopyAtom, PlacePair};
use crate::map::{BitMatrix, Combine, Fragment, MemoryMap, log2_exact};
use crate::tiling::{Reject, Tiling};
use lanebook_tables::Space;

/// Divides a movement between registers (`fragment`) and memory (`map`) by `copy_atom`.
///
/// `need` is the alignment in bytes that the atom wants, `align` the certain one of the tile's
/// start and of every multiple of its run-time stride; `any`: a tuple's registers need not be
/// consecutive; `as_held`: lanes with the same element may all store it, and halves of a register are
/// stored one by one.
pub fn fit_registers(
    copy_atom: &CopyAtom,
    fragment: &Fragment,
    map: &MemoryMap,
    need: u32,
    align: u32,
    any: bool,
    as_held: bool,
) -> Result<Tiling, Reject> {
    let out = divide(copy_atom, fragment, map, any, as_held)?;
    let share =
        copy_atom.bits.as_slice().iter().fold(0, |mask, &bit| match copy_atom.sides(bit).1 {
            BitPlace::Byte(k) => mask | bytes_of(k),
            _ => mask,
        });
    let moved = moved(map, &out, copy_atom);
    check_alignment(map, &out, moved, need, align)?;
    check_share(map, &out, moved, share)?;
    Ok(out)
}

/// Byte bits that some slot, warp or instance moves.
fn moved(map: &MemoryMap, tiling: &Tiling, copy_atom: &CopyAtom) -> u32 {
    tiling
        .supplied(copy_atom)
        .iter()
        .chain(tiling.warps.as_slice())
        .chain(tiling.instances.as_slice())
        .chain(core::iter::once(&tiling.second))
        .fold(0, |all, &e| all | map.at(e).bytes)
}

/// The division itself. It looks only at what lies within the copy atom's share of each lane: where
/// rows (or columns) lie next to each other for at least as many bytes, padding and swizzles change
/// nothing of it.
#[doc(hidden)]
pub fn divide(
    copy_atom: &CopyAtom,
    fragment: &Fragment,
    map: &MemoryMap,
    any: bool,
    as_held: bool,
) -> Result<Tiling, Reject> {
    let (element, tile_bits) = check_lane_share(copy_atom, fragment, as_held)?;
    let wave = copy_atom.lanes;
    let packing = fragment.packing();
    let mut used = 0u32;
    let mut slots: [Option<u32>; 6] = [None; 6];
    let mut fixed: [Option<u32>; 6] = [None; 6];
    let mut tuple = BitMatrix::new();
    let mut second = 0;
    for &bit in copy_atom.bits.as_slice() {
        let (register, memory) = copy_atom.sides(bit);
        let e = match register {
            BitPlace::Lane(k) => fragment
                .lane
                .get(usize::from(k))
                .ok_or(Reject::Lanes { atom: copy_atom.lanes, wave })?,
            BitPlace::RegisterBit(k) if k < element => {
                // Inside one element: both sides must keep its bytes in order.
                if memory != BitPlace::Byte(k.saturating_sub(3)) {
                    return Err(Reject::Element { element_bits: fragment.shape.bits });
                }
                if k >= 5 {
                    push_tuple(&mut tuple, k.saturating_sub(5))?;
                }
                continue;
            }
            BitPlace::RegisterBit(k) => {
                let place = k.saturating_sub(if fragment.unpacked { 5 } else { element });
                if place < packing {
                    used |= 1u32.checked_shl(u32::from(place)).ok_or(Reject::Size)?;
                    fragment
                        .register
                        .get(usize::from(place))
                        .ok_or(Reject::Packing { atom_bits: copy_atom.register_bits })?
                } else {
                    let chosen = match copy_atom.pair.filter(|_| memory == BitPlace::Second) {
                        Some(pair) => {
                            second_register_bit(fragment, map, used, place, packing, pair)?
                        }
                        None => {
                            choose_register_bit(fragment, map, memory, used, place, packing, any)?
                        }
                    };
                    used |= 1u32.checked_shl(u32::from(chosen)).ok_or(Reject::Size)?;
                    push_tuple(
                        &mut tuple,
                        chosen.saturating_sub(packing).saturating_add(wide(element)),
                    )?;
                    fragment.register.get(usize::from(chosen)).ok_or(Reject::RegisterOrder)?
                }
            }
            _ => continue,
        };
        match memory {
            BitPlace::Slot(k) => {
                *slots.get_mut(usize::from(k)).ok_or(Reject::Size)? = Some(e);
            }
            BitPlace::Byte(want) => {
                check_byte(map, e, bytes_of(want))?;
                if let BitPlace::Lane(k) = register {
                    *fixed.get_mut(usize::from(k)).ok_or(Reject::Size)? = Some(e);
                }
            }
            BitPlace::Second => second = e,
            _ => {}
        }
    }
    let grid = fragment.shape.grid;
    if grid.count() > 1 && tile_bits < 32 && !fragment.unpacked {
        return Err(Reject::Packing { atom_bits: copy_atom.register_bits });
    }
    let mut out = Tiling {
        address_lanes: BitMatrix::new(),
        warps: fragment.warp,
        instances: BitMatrix::new(),
        tuple,
        instance_registers: BitMatrix::new(),
        upper: None,
        second,
        grid,
        by_rows: fragment.by_rows,
        panel_bits: fragment.shape.total(),
    };
    for slot in if copy_atom.is_fixed { fixed } else { slots } {
        match slot {
            Some(e) if out.address_lanes.push(e) => {}
            Some(_) => return Err(Reject::Size),
            None => break,
        }
    }
    push_instances(&mut out, copy_atom, fragment, (used, element))?;
    Ok(out)
}

/// What the atom leaves of a lane's registers are the bits of an instance's number.
fn push_instances(
    out: &mut Tiling,
    copy_atom: &CopyAtom,
    fragment: &Fragment,
    (used, element): (u32, u8),
) -> Result<(), Reject> {
    let packing = fragment.packing();
    for (place, &e) in fragment.register.as_slice().iter().enumerate() {
        let place = u8::try_from(place).map_err(|_| Reject::Size)?;
        if (used >> place) & 1 == 1 {
            continue;
        }
        if place < packing {
            out.upper = copy_atom.upper.filter(|_| moves_halves(copy_atom, fragment));
            let pushed = out.instances.push(e) && out.instance_registers.push(Tiling::HALF);
            if out.upper.is_none() {
                return Err(Reject::Packing { atom_bits: copy_atom.register_bits });
            }
            if !pushed {
                return Err(Reject::Size);
            }
            continue;
        }
        if !out.instances.push(e)
            || !out
                .instance_registers
                .push(place.saturating_sub(packing).saturating_add(wide(element)))
        {
            return Err(Reject::Size);
        }
    }
    Ok(())
}

/// Whether a copy atom can fill or empty whole registers of what a lane holds, each byte once; log2
/// of the bits of an element, and the bits of a lane's share of a panel.
fn check_lane_share(
    copy_atom: &CopyAtom,
    fragment: &Fragment,
    as_held: bool,
) -> Result<(u8, u32), Reject> {
    let wave = u8::try_from(fragment.lane.len()).map_err(|_| Reject::Size)?;
    if copy_atom.lanes != wave {
        return Err(Reject::Lanes { atom: copy_atom.lanes, wave });
    }
    let (element_bits, atom_bits) = (fragment.shape.bits, copy_atom.register_bits);
    let element = log2_exact(u64::from(element_bits)).ok_or(Reject::Element { element_bits })?;
    if element < 3 {
        return Err(Reject::Element { element_bits });
    }
    let tile_bits =
        u32::from(element_bits).checked_shl(fragment.register.len() as u32).ok_or(Reject::Size)?;
    // In registers apart from each other a piece is an element, each with a register to itself.
    let piece_bits = copy_atom.piece_bits;
    let held_bits = if fragment.unpacked && piece_bits == u32::from(element_bits) {
        tile_bits.checked_div(piece_bits).and_then(|n| n.checked_mul(32)).ok_or(Reject::Size)?
    } else {
        tile_bits
    };
    if atom_bits > held_bits {
        return Err(Reject::Share { atom_bits, tile_bits });
    }
    if piece_bits < u32::from(element_bits) {
        return Err(Reject::Element { element_bits });
    }
    if copy_atom.register_base != 0 {
        return Err(Reject::Upper);
    }
    let whole = piece_bits == u32::from(element_bits);
    let parted = piece_bits < 32 && !(as_held && moves_halves(copy_atom, fragment));
    if element_bits < 32 && if fragment.unpacked { !whole } else { parted } {
        return Err(match fragment.unpacked {
            true => Reject::Alone { atom_bits },
            false => Reject::Packing { atom_bits },
        });
    }
    // Two lanes with the same element would write the same bytes at once: only where a panel has
    // fewer elements than there are threads, or nothing else can be.
    let few = usize::from(fragment.shape.total())
        < fragment.lane.len().saturating_add(fragment.warp.len());
    if !as_held
        && !few
        && copy_atom.from == Space::Register
        && copy_atom.to == Space::Shared
        && fragment.lane.as_slice().iter().chain(fragment.warp.as_slice()).any(|&e| e == 0)
    {
        return Err(Reject::Copies);
    }
    Ok((element, tile_bits))
}

/// Whether a copy atom moves elements of which two share a register one by one: those in upper halves
/// are another one's.
fn moves_halves(copy_atom: &CopyAtom, fragment: &Fragment) -> bool {
    let own = !fragment.unpacked && fragment.packing() == 1 && !fragment.register.is_empty();
    own && copy_atom.upper.is_some() && copy_atom.register_bits == 16
}

/// log2 of the registers one element spans.
fn wide(element: u8) -> u8 {
    element.saturating_sub(5)
}

fn push_tuple(tuple: &mut BitMatrix<u8, 5>, bit: u8) -> Result<(), Reject> {
    if tuple.push(bit) { Ok(()) } else { Err(Reject::Size) }
}

/// The fragment's register bit for the atom's next register bit: the next one in order where
/// registers must be consecutive; else the first unused one that the memory side can take.
fn choose_register_bit(
    fragment: &Fragment,
    map: &MemoryMap,
    memory: BitPlace,
    used: u32,
    place: u8,
    packing: u8,
    any: bool,
) -> Result<u8, Reject> {
    let count = u8::try_from(fragment.register.len()).map_err(|_| Reject::Size)?;
    if !any {
        return if place < count { Ok(place) } else { Err(Reject::RegisterOrder) };
    }
    let mut found = Err(Reject::RegisterOrder);
    for candidate in packing..count {
        if (used >> candidate) & 1 == 1 {
            continue;
        }
        let e = fragment.register.get(usize::from(candidate)).ok_or(Reject::Size)?;
        match memory {
            BitPlace::Byte(want) => match check_byte(map, e, bytes_of(want)) {
                Ok(()) => return Ok(candidate),
                Err(reason) => found = found.or(Err(reason)),
            },
            _ => return Ok(candidate),
        }
    }
    found
}

/// The fragment's register bit that leads from the first place of each slot to the second: the next
/// one in order, or, where the registers of both are apart, the first that the offset can say.
fn second_register_bit(
    fragment: &Fragment,
    map: &MemoryMap,
    used: u32,
    place: u8,
    packing: u8,
    pair: PlacePair,
) -> Result<u8, Reject> {
    let count = u8::try_from(fragment.register.len()).map_err(|_| Reject::Size)?;
    let varying = fragment
        .lane
        .as_slice()
        .iter()
        .chain(fragment.warp.as_slice())
        .fold(0, |all, e| all | map.at(*e).bytes);
    let candidates =
        if pair.is_apart { packing.max(place)..count } else { place..place.saturating_add(1) };
    let mut found = Err(Reject::RegisterOrder);
    for candidate in candidates.filter(|c| *c < count && (used >> c) & 1 == 0) {
        let e = fragment.register.get(usize::from(candidate)).ok_or(Reject::Size)?;
        let column = map.at(e);
        let scale = u32::from(pair.second.scale.max(1));
        let reach = u32::try_from(pair.second.max).unwrap_or(0).saturating_mul(scale);
        let fits = column.lead == 0
            && column.bytes != 0
            && column.bytes <= reach
            && column.bytes.checked_rem(scale) == Some(0)
            && (map.combine == Combine::Add || column.bytes & varying == 0);
        if fits {
            return Ok(candidate);
        }
        let atom_bytes = if column.bytes > reach { reach } else { scale };
        found = found.or(Err(Reject::Apart { atom_bytes, tile_bytes: column.bytes }));
    }
    found
}

fn bytes_of(exponent: u8) -> u32 {
    1u32.checked_shl(u32::from(exponent)).unwrap_or(0)
}

/// The element bits `e` must be exactly `want` bytes away.
fn check_byte(map: &MemoryMap, e: u32, want: u32) -> Result<(), Reject> {
    let have = map.at(e);
    if have.lead != 0 {
        return Err(Reject::Strided { atom_bytes: want });
    }
    if have.bytes != want {
        return Err(Reject::Apart { atom_bytes: want, tile_bytes: have.bytes });
    }
    Ok(())
}

/// A lane's bytes follow each other from wherever its slot starts: where columns combine by
/// exclusive or, no slot, warp or instance may touch the byte bits `share` inside a lane's part (a
/// swizzle in finer steps exchanges pieces of it).
#[inline]
fn check_share(map: &MemoryMap, tiling: &Tiling, moved: u32, share: u32) -> Result<(), Reject> {
    if map.combine == Combine::Add || moved & share == 0 {
        Ok(())
    } else {
        Err(share_moved(map, tiling, share))
    }
}

/// The first column that moves something of a lane's part.
#[inline(never)]
fn share_moved(map: &MemoryMap, tiling: &Tiling, share: u32) -> Reject {
    for &e in tiling
        .address_lanes
        .as_slice()
        .iter()
        .chain(tiling.warps.as_slice())
        .chain(tiling.instances.as_slice())
        .chain(core::iter::once(&tiling.second))
    {
        let bytes = map.at(e).bytes;
        let common = bytes & share;
        if common != 0 {
            let atom_bytes = 1u32.checked_shl(common.trailing_zeros()).unwrap_or(0);
            return Reject::Apart { atom_bytes, tile_bytes: bytes };
        }
    }
    Reject::Form
}

/// Every slot's address is a multiple of `need`.
#[inline]
fn check_alignment(
    map: &MemoryMap,
    tiling: &Tiling,
    moved: u32,
    need: u32,
    align: u32,
) -> Result<(), Reject> {
    let mut have = align;
    if moved != 0 {
        have = have.min(1u32.checked_shl(moved.trailing_zeros()).unwrap_or(u32::MAX));
    }
    for (panels, column) in [(tiling.grid.rows, map.panels.0), (tiling.grid.cols, map.panels.1)] {
        if panels > 1 && column.bytes != 0 {
            have = have.min(1u32.checked_shl(column.bytes.trailing_zeros()).unwrap_or(u32::MAX));
        }
    }
    if have < need { Err(Reject::Alignment { need, have }) } else { Ok(()) }
}

/// Who moves a tile from memory to memory.
#[derive(Copy, Clone, Debug)]
pub struct CopyWorkers {
    /// log2 of the lanes of a wave.
    pub wave: u8,
    /// log2 of the waves.
    pub warps: u8,
    /// Bytes of global memory that come at once.
    pub segment_bytes: u32,
}

/// Divides a movement from one memory to another by `copy_atom`. The distribution over lanes, warps
/// and instances is free; it is chosen so that neighbouring lanes take neighbouring shares of
/// global memory, or, where the destination is one wave-uniform run, so that the run is filled in
/// order.
pub fn divide_copy(
    copy_atom: &CopyAtom,
    from: &MemoryMap,
    to: &MemoryMap,
    workers: CopyWorkers,
    need: (u32, u32),
    align: (u32, u32),
) -> Result<Tiling, Reject> {
    let CopyWorkers { wave, warps, segment_bytes } = workers;
    if copy_atom.lanes != wave {
        return Err(Reject::Lanes { atom: copy_atom.lanes, wave });
    }
    let total = from.shape.total();
    let element = log2_exact(u64::from(from.shape.bits))
        .filter(|&e| e >= 3)
        .ok_or(Reject::Element { element_bits: from.shape.bits })?;
    let element_bytes =
        1u32.checked_shl(u32::from(element.saturating_sub(3))).ok_or(Reject::Size)?;
    let mut share_bits = 0u8;
    let mut run = false;
    for bit in copy_atom.bits.as_slice() {
        match (bit.from, bit.to) {
            (BitPlace::Byte(a), BitPlace::Byte(b)) if a == b => {
                share_bits = share_bits.saturating_add(1)
            }
            (BitPlace::Slot(a), BitPlace::Slot(b)) if a == b => {}
            (BitPlace::Slot(_), BitPlace::Byte(_)) => run = true,
            _ => return Err(Reject::Form),
        }
    }
    let share_bytes = 1u32.checked_shl(u32::from(share_bits)).ok_or(Reject::Size)?;
    let fixed = u32::from(share_bits).checked_sub(u32::from(element.saturating_sub(3))).ok_or(
        Reject::Share {
            atom_bits: share_bytes.saturating_mul(8),
            tile_bits: u32::from(from.shape.bits),
        },
    )?;
    let needed = fixed.saturating_add(u32::from(wave)).saturating_add(u32::from(warps));
    // Lanes beyond the panel's elements would write what others write.
    if u32::from(total) < needed {
        return Err(Reject::Share {
            atom_bits: share_bytes.saturating_mul(8),
            tile_bits: u32::from(from.shape.bits),
        });
    }
    // Element bits in the order in which they are dealt out: share, lanes, warps, instances.
    let (order, inner) = if run {
        (to.storage_order().ok_or(Reject::Run { byte: 0 })?, 0)
    } else if let Some(found) = stored_rows(from, to, fixed, segment_bytes) {
        found
    } else {
        (plain_order(total).ok_or(Reject::Size)?, 0)
    };
    // The bits of a row, then the rest in order.
    let low = 1u32.checked_shl(inner).unwrap_or(0).wrapping_sub(1);
    let dealt = (0..inner)
        .filter_map(|k| 1u32.checked_shl(k))
        .chain(order.as_slice().iter().copied().filter(|e| e & low == 0));
    let mut out = Tiling {
        address_lanes: BitMatrix::new(),
        warps: BitMatrix::new(),
        instances: BitMatrix::new(),
        tuple: BitMatrix::new(),
        instance_registers: BitMatrix::new(),
        upper: None,
        second: 0,
        grid: from.shape.grid,
        by_rows: true,
        panel_bits: total,
    };
    for (k, e) in (0u32..).zip(dealt) {
        let byte = element_bytes.checked_shl(k).ok_or(Reject::Size)?;
        let pushed = if k < fixed {
            check_byte(from, e, byte)?;
            check_byte(to, e, byte)?;
            true
        } else if k < fixed.saturating_add(u32::from(wave)) {
            if run && to.at(e).bytes != byte {
                return Err(Reject::Run { byte });
            }
            out.address_lanes.push(e)
        } else if k < needed {
            out.warps.push(e)
        } else {
            out.instances.push(e)
        };
        if !pushed {
            return Err(Reject::Size);
        }
    }
    let moved = (moved(from, &out, copy_atom), moved(to, &out, copy_atom));
    check_alignment(from, &out, moved.0, need.0, align.0)?;
    check_alignment(to, &out, moved.1, need.1, align.1)?;
    check_share(from, &out, moved.0, share_bytes.saturating_sub(1))?;
    check_share(to, &out, moved.1, share_bytes.saturating_sub(1))?;
    Ok(out)
}

/// Where rows are so short in global memory that they lie apart whatever the order of the lanes is:
/// how many bits of a row come first, and the order in which the destination stores the others,
/// which are rows. `fixed`: element bits of a share, which stay in front. Rows shorter than
/// `segment_bytes` are short.
fn stored_rows(
    from: &MemoryMap,
    to: &MemoryMap,
    fixed: u32,
    segment_bytes: u32,
) -> Option<(BitMatrix<u32, { crate::map::MAX_BITS }>, u32)> {
    let lead = |bit: u32| from.columns.get(bit as usize).is_some_and(|column| column.lead != 0);
    let all = u32::try_from(from.columns.len()).ok()?;
    let inner = (0..all).take_while(|bit| !lead(*bit)).fold(0u32, |n, _| n.saturating_add(1));
    let bytes = u32::from(from.shape.bits / 8).checked_shl(inner)?;
    // A permuted tile has its order already: that of whole rows.
    let short =
        inner >= fixed && bytes < segment_bytes && (inner == fixed || to.combine == Combine::Add);
    let stored = if short && (inner..all).all(lead) { to.storage_order()? } else { return None };
    let low = 1u32.checked_shl(inner)?.checked_sub(1)?;
    // An element is of a row's bytes, or of rows; as many of either as there are bits.
    let apart = stored.as_slice().iter().all(|e| e & low == 0 || *e <= low);
    let rows =
        stored.as_slice().iter().filter(|e| **e & low == 0).fold(0u32, |n, _| n.saturating_add(1));
    (apart && inner.checked_add(rows) == Some(all)).then_some((stored, inner))
}

/// Element bits from the lowest.
fn plain_order(total: u8) -> Option<BitMatrix<u32, { crate::map::MAX_BITS }>> {
    let mut out = BitMatrix::new();
    for k in 0..total {
        if !out.push(1u32.checked_shl(u32::from(k))?) {
            return None;
        }
    }
    Some(out)
}
