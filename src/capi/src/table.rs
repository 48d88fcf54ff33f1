//! Layouts that are read once, in memory that C lends, and evaluated in tables.

use crate::code::{CallStatus, LbError};
use crate::lend;
use crate::query::storage;
use core::ffi::c_void;
use lanebook::TABLES;
use lanebook::layout::{AxisNames, Coord, WellKnown};
use lanebook::query::{Placed, ask};

/// What marks memory that [`lb_layout_read`] filled.
const READ: u64 = u64::from_be_bytes(*b"layout-1");
/// Most coordinates of an element.
const MAX_RANK: usize = 32;

/// A layout that was read. C sees only its address.
#[derive(Debug)]
#[repr(C)]
pub struct LbLayout {
    read: u64,
    placed: Placed,
}

/// Bytes of memory that a layout which was read needs.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn lb_layout_bytes() -> usize {
    size_of::<LbLayout>()
}

/// Reads a layout in any notation into lent memory; `lanebook.h` says all of it.
///
/// # Safety
/// `text` and `arch` are null or readable for their lengths; `scratch` is null or writable for
/// `scratch_bytes`, `memory` for `memory_bytes`, and nothing else uses them during the call;
/// `layout` and `err` are null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_layout_read(
    text: *const u8,
    text_bytes: usize,
    arch: *const u8,
    arch_bytes: usize,
    scratch: *mut c_void,
    scratch_bytes: usize,
    memory: *mut c_void,
    memory_bytes: usize,
    layout: *mut *const LbLayout,
    err: *mut LbError,
) -> u32 {
    let result = (|| {
        lend::plausible(text, text_bytes, 1)?;
        lend::plausible(arch, arch_bytes, 3)?;
        if layout.is_null() || !layout.is_aligned() {
            return Err(LbError::argument(9));
        }
        let kept: *mut LbLayout = memory.cast();
        if memory.is_null() || !kept.is_aligned() || memory_bytes < size_of::<LbLayout>() {
            return Err(LbError::argument(7));
        }
        let lent = [(text.addr(), text_bytes), (arch.addr(), arch_bytes)];
        let room = storage(scratch, scratch_bytes, lent, (memory.addr(), memory_bytes))?;
        // SAFETY: readable by the caller's word, and apart from what is written.
        let (query, name) =
            unsafe { (lend::text(text, text_bytes, 1)?, lend::text(arch, arch_bytes, 3)?) };
        let arch = match name {
            "" => None,
            name => Some(TABLES.arch_named(name).ok_or(LbError::of(CallStatus::Arch))?),
        };
        // SAFETY: as in `lb_query`: `storage` checked the memory, and zeros are an empty
        // `QueryStorage`.
        let room = unsafe {
            room.write_bytes(0, 1);
            &mut *room
        };
        let answer = ask(&TABLES, arch, query, room).map_err(|error| LbError {
            line: error.line,
            column: error.column,
            ..LbError::of(CallStatus::Query)
        })?;
        let placed = answer.layout().ok_or(LbError::of(CallStatus::LayoutText))?;
        // SAFETY: not null, aligned, large enough, and writable by the caller's word. A `Placed` is
        // numbers without anything to drop.
        unsafe {
            (&raw mut (*kept).placed).copy_from_nonoverlapping(placed, 1);
            (&raw mut (*kept).read).write(READ);
            layout.write(kept);
        }
        Ok(())
    })();
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}

/// A layout that C hands back.
///
/// # Safety
/// `layout` is null or what [`lb_layout_read`] answered, in memory that is as it left it.
unsafe fn read<'l>(layout: *const LbLayout) -> Result<&'l Placed, LbError> {
    if layout.is_null() || !layout.is_aligned() {
        return Err(LbError::argument(1));
    }
    // SAFETY: not null and aligned; readable by the caller's word.
    let known = unsafe { &*layout };
    if known.read == READ { Ok(&known.placed) } else { Err(LbError::argument(1)) }
}

/// The extents of a layout's coordinates; `lanebook.h` says all of it.
///
/// # Safety
/// `layout` is null or what [`lb_layout_read`] answered; `extents` is null or writable for `room`
/// numbers; `rank`, `row_major` and `err` are null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_layout_shape(
    layout: *const LbLayout,
    extents: *mut u32,
    room: usize,
    rank: *mut usize,
    row_major: *mut u32,
    err: *mut LbError,
) -> u32 {
    let result = (|| {
        // SAFETY: the caller's word is the one that is asked for.
        let placed = unsafe { read(layout)? };
        // SAFETY: writable by the caller's word; whatever is there is a number.
        let out = unsafe { lend::list_mut(extents, room, 2)? };
        if rank.is_null() || !rank.is_aligned() {
            return Err(LbError::argument(4));
        }
        if row_major.is_null() || !row_major.is_aligned() {
            return Err(LbError::argument(5));
        }
        let mut own = [0u32; MAX_RANK];
        let own = placed.extents(&mut own);
        if own.len() > out.len() {
            let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
            let numbers = [signed(own.len()), signed(out.len()), 0];
            return Err(LbError { numbers, ..LbError::of(CallStatus::Room) });
        }
        for (place, extent) in out.iter_mut().zip(own) {
            *place = *extent;
        }
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe {
            rank.write(own.len());
            row_major.write(u32::from(placed.elements.row_major));
        }
        Ok(())
    })();
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}

/// Where a layout puts neighbouring elements, on one axis; `lanebook.h` says all of it.
///
/// # Safety
/// `layout` is null or what [`lb_layout_read`] answered; `axis` is null or readable for its length,
/// `positions` null or writable for `count` numbers; `err` is null or writable. None of them
/// overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_layout_table(
    layout: *const LbLayout,
    axis: *const u8,
    axis_bytes: usize,
    first: u64,
    positions: *mut i64,
    count: usize,
    err: *mut LbError,
) -> u32 {
    let result = (|| {
        // SAFETY: the caller's word is the one that is asked for.
        let (placed, axis, out) = unsafe {
            (read(layout)?, lend::text(axis, axis_bytes, 2)?, lend::list_mut(positions, count, 5)?)
        };
        let axis = WellKnown
            .axis(if axis.is_empty() { "m" } else { axis })
            .ok_or(LbError::of(CallStatus::Axis))?;
        let view = placed.layout.view();
        let mut at = Coord::new();
        let refused = LbError::of(CallStatus::LayoutApply);
        let size = view.size_value().map_err(|_| refused)?;
        let count = u64::try_from(out.len()).map_err(|_| refused)?;
        if first.checked_add(count).is_none_or(|end| end > size) {
            let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
            return Err(LbError {
                numbers: [signed(size), signed(first), signed(count)],
                ..refused
            });
        }
        for (flat, place) in (first..).zip(out) {
            view.apply_flat(flat, &mut at).map_err(|_| refused)?;
            *place = at.get(axis);
        }
        Ok(())
    })();
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}
