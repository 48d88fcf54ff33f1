//! Layouts as text: their size, and where they put an element.

use crate::code::{CallStatus, LbError};
use crate::lend;
use lanebook::layout::notation::{cute, tirx};
use lanebook::layout::{AxisNames, Coord, Layout, NoSyms, WellKnown};

/// A layout in either notation: TIRx text begins with `S[`, all else is CuTe's.
fn read(text: &str) -> Result<Layout, LbError> {
    let parsed = if text.trim_ascii_start().as_bytes().starts_with(b"S[") {
        tirx::parse(text, &WellKnown, &mut NoSyms)
    } else {
        cute::parse(text, &WellKnown, &mut NoSyms)
    };
    parsed.map_err(LbError::of_layout)
}

/// The number of elements of a layout.
///
/// # Safety
/// `text` is null or readable for its length; `size` and `err` are null or writable. None of them
/// overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_layout_size(
    text: *const u8,
    text_bytes: usize,
    size: *mut u64,
    err: *mut LbError,
) -> u32 {
    // SAFETY: readable by the caller's word.
    let result = unsafe { lend::text(text, text_bytes, 1) }.and_then(|text| {
        if size.is_null() || !size.is_aligned() {
            return Err(LbError::argument(3));
        }
        let elements =
            read(text)?.view().size_value().map_err(|_| LbError::of(CallStatus::LayoutApply))?;
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe { size.write(elements) }
        Ok(())
    });
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}

/// Where a layout puts an element, on one axis; `lanebook.h` says all of it.
///
/// # Safety
/// `text` and `axis` are null or readable for their lengths, `coords` for `coord_count` numbers;
/// `position` and `err` are null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_layout_apply(
    text: *const u8,
    text_bytes: usize,
    coords: *const u64,
    coord_count: usize,
    axis: *const u8,
    axis_bytes: usize,
    position: *mut i64,
    err: *mut LbError,
) -> u32 {
    // SAFETY: readable by the caller's word.
    let lent = unsafe {
        (
            lend::text(text, text_bytes, 1),
            lend::list(coords, coord_count, 3),
            lend::text(axis, axis_bytes, 5),
        )
    };
    let result = (|| {
        let (text, coords, axis) = (lent.0?, lent.1?, lent.2?);
        if position.is_null() || !position.is_aligned() {
            return Err(LbError::argument(7));
        }
        let axis = WellKnown
            .axis(if axis.is_empty() { "m" } else { axis })
            .ok_or(LbError::of(CallStatus::Axis))?;
        let layout = read(text)?;
        let mut at = Coord::new();
        let done = match coords {
            [flat] => layout.view().apply_flat(*flat, &mut at),
            _ => layout.view().apply(coords, &mut at),
        };
        done.map_err(|_| LbError::of(CallStatus::LayoutApply))?;
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe { position.write(at.get(axis)) }
        Ok(())
    })();
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}
