//! A query's text in, the answer's text, JSON or picture out.

use crate::code::{CallStatus, LbError};
use crate::lend;
use crate::sink::AnswerBuffer;
use core::ffi::c_void;
use lanebook::TABLES;
use lanebook::query::{QueryError, QueryStorage, WriteError, ask};

/// How an answer is written: as text.
const TEXT: u32 = 0;
/// As a picture; what lies between is JSON.
const SVG: u32 = 2;

/// Bytes of scratch that [`lb_query`] needs.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn lb_query_scratch_bytes() -> usize {
    size_of::<QueryStorage>()
}

/// Answers a query; `lanebook.h` says all of it.
///
/// # Safety
/// `text` and `arch` are null or readable for their lengths; `scratch` is null or writable for `scratch_bytes`, `answer`
/// for `answer_room`, and nothing else uses them during the call; `answer_bytes` and `err` are null or writable. None of
/// them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_query(
    text: *const u8,
    text_bytes: usize,
    arch: *const u8,
    arch_bytes: usize,
    format: u32,
    scratch: *mut c_void,
    scratch_bytes: usize,
    answer: *mut u8,
    answer_room: usize,
    answer_bytes: *mut usize,
    err: *mut LbError,
) -> u32 {
    let result = (|| {
        if format > SVG {
            return Err(LbError::argument(5));
        }
        lend::plausible(text, text_bytes, 1)?;
        lend::plausible(arch, arch_bytes, 3)?;
        lend::plausible(answer, answer_room, 8)?;
        if answer_bytes.is_null() || !answer_bytes.is_aligned() {
            return Err(LbError::argument(10));
        }
        let lent = [(text.addr(), text_bytes), (arch.addr(), arch_bytes)];
        let room = storage(scratch, scratch_bytes, lent, (answer.addr(), answer_room))?;
        // SAFETY: readable by the caller's word, and apart from what is written.
        let (query, name) =
            unsafe { (lend::text(text, text_bytes, 1)?, lend::text(arch, arch_bytes, 3)?) };
        // SAFETY: `storage` checked that the memory is aligned, large enough and apart from all texts; the caller says that it
        // is writable and that nothing else uses it. Zeros are an empty `QueryStorage`: values whose tag 0 is nothing, and lists
        // whose length is a number.
        let room = unsafe {
            room.write_bytes(0, 1);
            &mut *room
        };
        // SAFETY: not null, no longer than an object can be, apart from what is read, and writable
        // by the caller's word.
        let mut out = unsafe { AnswerBuffer::lent(answer, answer_room) };
        let result = answered(query, name, format, room, &mut out);
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe { out.finish(answer_bytes)? }
        result
    })();
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}

/// The memory of a query in what is lent, or what is wrong with it.
pub(crate) fn storage(
    scratch: *mut c_void,
    bytes: usize,
    texts: [(usize, usize); 2],
    answer: (usize, usize),
) -> Result<*mut QueryStorage, LbError> {
    let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
    if scratch.is_null() {
        return Err(LbError::argument(6));
    }
    let needed = size_of::<QueryStorage>();
    if bytes < needed {
        let numbers = [signed(needed), signed(bytes), 0];
        return Err(LbError { numbers, ..LbError::of(CallStatus::ScratchBytes) });
    }
    let room: *mut QueryStorage = scratch.cast();
    if !room.is_aligned() {
        let past = scratch.addr() & align_of::<QueryStorage>().wrapping_sub(1);
        let numbers = [signed(align_of::<QueryStorage>()), signed(past), 0];
        return Err(LbError { numbers, ..LbError::of(CallStatus::ScratchAlign) });
    }
    let [text, arch] = texts;
    for (a, b) in [
        ((scratch.addr(), bytes), text),
        ((scratch.addr(), bytes), arch),
        ((scratch.addr(), bytes), answer),
        (answer, text),
        (answer, arch),
    ] {
        if lend::overlap(a.0, a.1, b.0, b.1) {
            return Err(LbError::of(CallStatus::Overlap));
        }
    }
    Ok(room)
}

/// Writes the answer, or why there is none.
fn answered(
    text: &str,
    arch: &str,
    format: u32,
    storage: &mut QueryStorage,
    out: &mut AnswerBuffer<'_>,
) -> Result<(), LbError> {
    let id = match arch {
        "" => None,
        name => Some(TABLES.arch_named(name).ok_or(LbError::of(CallStatus::Arch))?),
    };
    let answer = match ask(&TABLES, id, text, storage) {
        Ok(answer) => answer,
        Err(error) => return refused(&error, text, format, out),
    };
    let written = match format {
        TEXT => answer.write_text(out),
        SVG => answer.write_svg(out),
        _ => answer.write_json(out),
    };
    match written {
        Ok(()) => Ok(()),
        Err(WriteError::Sink) => Err(LbError::of(CallStatus::Sink)),
        // It showed while the answer was written: the words take its place.
        Err(WriteError::Refused(why)) => {
            out.used = 0;
            refused(&answer.error(why), text, format, out)
        }
    }
}

fn refused(
    error: &QueryError,
    text: &str,
    format: u32,
    out: &mut AnswerBuffer<'_>,
) -> Result<(), LbError> {
    let _ = match format {
        TEXT | SVG => error.write_text(text, out),
        _ => error.write_json(text, out),
    };
    Err(LbError { line: error.line, column: error.column, ..LbError::of(CallStatus::Query) })
}
