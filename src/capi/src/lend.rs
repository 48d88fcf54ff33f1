//! Reading what C lends.

use crate::code::{CallStatus, LbError};

/// Whether a stretch of memory that C lends can be one; nothing is read.
///
/// # Errors
/// [`CallStatus::Argument`] for null with a length, or a length beyond what an object can have.
pub(crate) fn plausible(text: *const u8, bytes: usize, argument: u32) -> Result<(), LbError> {
    let can_be = bytes == 0 || (!text.is_null() && isize::try_from(bytes).is_ok());
    if can_be { Ok(()) } else { Err(LbError::argument(argument)) }
}

/// Text that C lends for a call.
///
/// # Errors
/// Those of [`plausible`]; [`CallStatus::Utf8`].
///
/// # Safety
/// `text` is null or readable for `bytes` bytes, which nobody writes as long as `'a` lasts.
pub(crate) unsafe fn text<'a>(
    text: *const u8,
    bytes: usize,
    argument: u32,
) -> Result<&'a str, LbError> {
    plausible(text, bytes, argument)?;
    if bytes == 0 {
        return Ok("");
    }
    // SAFETY: not null, readable for `bytes` by the caller's word, and no longer than an object can
    // be.
    let raw = unsafe { core::slice::from_raw_parts(text, bytes) };
    core::str::from_utf8(raw).map_err(|e| LbError {
        offset: u32::try_from(e.valid_up_to()).unwrap_or(u32::MAX),
        ..LbError::of(CallStatus::Utf8)
    })
}

/// A list that C lends for a call.
///
/// # Errors
/// [`CallStatus::Argument`] for null, an address that is not aligned, or a length beyond what an object
/// can have.
///
/// # Safety
/// `list` is null or readable for `count` elements, which nobody writes as long as `'a` lasts.
pub(crate) unsafe fn list<'a, T>(
    list: *const T,
    count: usize,
    argument: u32,
) -> Result<&'a [T], LbError> {
    if count == 0 {
        return Ok(&[]);
    }
    let fits =
        count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if list.is_null() || !list.is_aligned() || !fits {
        return Err(LbError::argument(argument));
    }
    // SAFETY: not null, aligned, readable by the caller's word, and no longer than an object can
    // be.
    Ok(unsafe { core::slice::from_raw_parts(list, count) })
}

/// A list that C lends to be written.
///
/// # Errors
/// Those of [`list`].
///
/// # Safety
/// `list` is null or writable for `count` elements, which nothing else uses as long as `'a` lasts;
/// whatever is there is a `T`.
pub(crate) unsafe fn list_mut<'a, T>(
    list: *mut T,
    count: usize,
    argument: u32,
) -> Result<&'a mut [T], LbError> {
    if count == 0 {
        return Ok(&mut []);
    }
    let fits =
        count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if list.is_null() || !list.is_aligned() || !fits {
        return Err(LbError::argument(argument));
    }
    // SAFETY: not null, aligned, writable by the caller's word, and no longer than an object can
    // be.
    Ok(unsafe { core::slice::from_raw_parts_mut(list, count) })
}

/// Whether two stretches of memory have a byte in common.
pub(crate) fn overlap(a: usize, a_bytes: usize, b: usize, b_bytes: usize) -> bool {
    a_bytes > 0 && b_bytes > 0 && a < b.saturating_add(b_bytes) && b < a.saturating_add(a_bytes)
}

/// Tells C how a call ended, and answers its code.
///
/// # Safety
/// `err` is null, or writable for one [`LbError`] that nothing else in the call refers to.
pub(crate) unsafe fn finish(result: Result<(), LbError>, err: *mut LbError) -> u32 {
    let told = result.err().unwrap_or(LbError::of(CallStatus::Ok));
    if !err.is_null() && err.is_aligned() {
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe { err.write(told) }
    }
    told.code
}
