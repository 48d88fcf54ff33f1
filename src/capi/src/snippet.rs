//! What a conversion and a movement by themselves have in common: the room that a call works in, the
//! program that stands for what is wanted, and the snippet that it becomes, as C sees it.

use crate::code::{CallStatus, LbError};
use crate::compile::{CallKernelStorage, CallStorage, read, refused, resolve};
use crate::lend;
use crate::sink::{Callback, GATHERED};
use core::ffi::c_void;
use core::fmt::{Arguments, Error, Result as FmtResult, Write};
use lanebook::TABLES;
use lanebook::compile::{CompileError, compile};
use lanebook::convert::ConvertError;
use lanebook::emit::{Compiled, Snippet, SnippetValue};
use lanebook::ir::Program;
use lanebook::query::{QueryStorage, WarpSplit};
use lanebook::tables::ArchId;

/// Bytes of the program that stands for what is wanted.
const PROGRAM_BYTES: usize = 4096;

/// What a call works in.
pub(crate) struct SnippetStorage {
    pub(crate) compile: CallStorage,
    pub(crate) query: QueryStorage,
    pub(crate) text: ProgramText,
}

/// The program that stands for what is wanted.
pub(crate) struct ProgramText {
    bytes: [u8; PROGRAM_BYTES],
    used: usize,
}

impl Write for ProgramText {
    fn write_str(&mut self, text: &str) -> FmtResult {
        let end = self.used.checked_add(text.len()).ok_or(Error)?;
        let room = self.bytes.get_mut(self.used..end).ok_or(Error)?;
        for (place, byte) in room.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
        self.used = end;
        Ok(())
    }
    /// Formatting machinery links panics; the library never formats.
    fn write_fmt(&mut self, _: Arguments<'_>) -> FmtResult {
        Err(Error)
    }
}

impl ProgramText {
    pub(crate) fn text(&self) -> &str {
        self.bytes.get(..self.used).and_then(|b| core::str::from_utf8(b).ok()).unwrap_or("")
    }
}

/// A tile in registers; `lanebook.h` says all of it.
#[derive(Copy, Clone)]
#[repr(C)]
pub struct LbTileRegisters {
    /// What the registers' names begin with.
    pub prefix: *const u8,
    /// Its bytes.
    pub prefix_bytes: usize,
    /// The first register's number.
    pub first: u32,
    /// Registers, one behind the other.
    pub count: u32,
    /// Bits of one.
    pub register_bits: u32,
    /// Bits from one element to the next.
    pub place_bits: u32,
    /// Bits of the element's place in a lane, of the lane's number and of the warp's.
    pub place_count: u32,
    /// See `place_count`.
    pub lane_count: u32,
    /// See `place_count`.
    pub warp_count: u32,
    /// 1: the snippet leaves something else there.
    pub overwritten: u32,
    /// The element that each bit of the place adds, by exclusive or.
    pub place: [u32; 12],
    /// The same of the lane's number.
    pub lane: [u32; 6],
    /// The same of the warp's.
    pub warp: [u32; 5],
    /// Rows of a panel; columns; panels below each other; beside each other.
    pub panel_rows: u32,
    /// See `panel_rows`.
    pub panel_columns: u32,
    /// See `panel_rows`.
    pub panels_down: u32,
    /// See `panel_rows`.
    pub panels_across: u32,
    /// 1: panels follow each other by rows of them; 0: by columns.
    pub panels_by_rows: u32,
}

impl LbTileRegisters {
    /// No tile.
    pub(crate) const NONE: Self = Self {
        prefix: "".as_ptr(),
        prefix_bytes: 0,
        first: 0,
        count: 0,
        register_bits: 0,
        place_bits: 0,
        place_count: 0,
        lane_count: 0,
        warp_count: 0,
        overwritten: 0,
        place: [0; 12],
        lane: [0; 6],
        warp: [0; 5],
        panel_rows: 0,
        panel_columns: 0,
        panels_down: 0,
        panels_across: 0,
        panels_by_rows: 0,
    };
}

/// Registers that the instructions write; `lanebook.h` says all of it.
#[derive(Copy, Clone)]
#[repr(C)]
pub struct LbRegisterRun {
    /// What the registers' names begin with; the whole name where `count` is 0.
    pub prefix: *const u8,
    /// Its bytes.
    pub prefix_bytes: usize,
    /// The first one's number.
    pub first: u32,
    /// How many there are.
    pub count: u32,
}

/// A call's structure: what is wanted, and where what comes out goes.
///
/// # Safety
/// Its first field is a `usize`: the bytes of it that the caller knows.
pub(crate) unsafe trait SnippetCall {
    /// Where the runs of registers that are written go, and how many there is room for.
    fn write_list(&self) -> (*mut LbRegisterRun, usize);

    /// Describes what is the call's own: its tiles, and the registers that it is given.
    fn describe(&mut self, snippet: &Snippet<'_>) -> Result<(), LbError>;

    /// Takes what is the same of all.
    fn take(&mut self, facts: &SnippetFacts);
}

/// What is the same of all snippets; `lanebook.h` says what each is.
pub(crate) struct SnippetFacts {
    pub(crate) scratch_bytes: u32,
    pub(crate) scratch_align: u32,
    pub(crate) thread_prefix: *const u8,
    pub(crate) thread_prefix_bytes: usize,
    pub(crate) thread_register: u32,
    pub(crate) group_threads: u32,
    pub(crate) wave_lanes: u32,
    pub(crate) instructions: u32,
    pub(crate) write_count: usize,
}

/// A call's structure, if it is there and as large as this library's.
///
/// # Safety
/// `given` is null, or its first field is written and it is writable for as many bytes as that says;
/// nothing else uses it during the call.
pub(crate) unsafe fn asked<'c, T: SnippetCall>(given: *mut T) -> Result<&'c mut T, LbError> {
    if given.is_null() || !given.is_aligned() {
        return Err(LbError::argument(1));
    }
    // SAFETY: not null, aligned, and its first field is a number that is written by the caller's word.
    if unsafe { given.cast::<usize>().read() } < size_of::<T>() {
        return Err(LbError::argument(1));
    }
    // SAFETY: as large as this one; nothing else uses it during the call.
    Ok(unsafe { &mut *given })
}

/// Empty storage in scratch that was checked.
///
/// # Safety
/// `room` comes from [`lent_storage`], and is writable; nothing else uses it during the call.
pub(crate) unsafe fn emptied<'c>(room: *mut SnippetStorage) -> &'c mut SnippetStorage {
    // SAFETY: aligned and large enough by `lent_storage`. Zeros are storage: see `lb_compile` and
    // `lb_query`; of a text they are one without bytes.
    unsafe {
        room.write_bytes(0, 1);
        &mut *room
    }
}

/// How two warps of 32 lie in a wave of 64, by its number.
pub(crate) fn split_of(number: u32) -> Result<WarpSplit, LbError> {
    match number {
        0 => Ok(WarpSplit::Halves),
        1 => Ok(WarpSplit::Interleaved),
        _ => Err(LbError::argument(1)),
    }
}

/// A number, if it is not 0.
pub(crate) fn if_said(number: u32) -> Option<u32> {
    Some(number).filter(|number| *number != 0)
}

/// A refusal as C sees it.
pub(crate) fn told(error: &ConvertError) -> LbError {
    let place = error.place().unwrap_or((0, 0));
    let (detail, number) = error.numbers();
    LbError {
        detail,
        line: place.0,
        column: place.1,
        numbers: [i64::from(number.0), i64::from(number.1), 0],
        ..LbError::of(CallStatus::Convert)
    }
}

/// Compiles the program, describes it and writes its text.
#[inline(never)]
pub(crate) fn emit<T: SnippetCall>(
    room: &mut SnippetStorage,
    arch: ArchId,
    sink: Option<Callback>,
    out: &mut T,
) -> Result<(), LbError> {
    let SnippetStorage { compile, text, .. } = room;
    let CallStorage { program, kernel, layouts, text: gathered } = compile;
    let slot = &mut None;
    let program = read(program, text.text(), slot)?;
    if let Err(error) = resolve(arch, program, layouts) {
        return Err(unplaced(&error, program));
    }
    compiled(program, arch, kernel, (sink, gathered), out)
}

/// The same of a program whose layouts are resolved. A frame of its own, which is not there while they
/// are.
#[inline(never)]
fn compiled<T: SnippetCall>(
    program: &mut Program<'_, '_>,
    arch: ArchId,
    kernel: &mut CallKernelStorage,
    text: (Option<Callback>, &mut [u8; GATHERED]),
    out: &mut T,
) -> Result<(), LbError> {
    match &compile(&TABLES, arch, program, kernel.scratch()) {
        Ok(compiled) => hand_out(program, compiled, text, out),
        Err(error) => Err(unplaced(error, program)),
    }
}

/// An error without its place: that is of a text that the caller does not see. It has a frame of its
/// own, which is not there while the compiler works.
#[inline(never)]
fn unplaced(error: &CompileError, program: &Program<'_, '_>) -> LbError {
    LbError { line: 0, column: 0, offset: 0, bytes: 0, ..refused(*error, program) }
}

/// Describes the snippet, then writes its text.
#[inline(never)]
fn hand_out<T: SnippetCall>(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    (sink, gathered): (Option<Callback>, &mut [u8; GATHERED]),
    out: &mut T,
) -> Result<(), LbError> {
    let snippet = compiled.snippet(&TABLES, program).ok_or(LbError::of(CallStatus::Plan))?;
    out.describe(&snippet)?;
    let (scratch_bytes, scratch_align) = snippet.scratch();
    let (prefix, number) = snippet.thread_register().unwrap_or(("", 0));
    let (list, room) = out.write_list();
    let write_count = writes(&snippet, (list, room));
    out.take(&SnippetFacts {
        scratch_bytes,
        scratch_align,
        thread_prefix: prefix.as_ptr(),
        thread_prefix_bytes: prefix.len(),
        thread_register: u32::from(number),
        group_threads: snippet.threads(),
        wave_lanes: snippet.wave_lanes(),
        instructions: u32::try_from(snippet.instructions()).unwrap_or(u32::MAX),
        write_count,
    });
    if write_count > room {
        let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let numbers = [signed(write_count), signed(room), 0];
        return Err(LbError { numbers, ..LbError::of(CallStatus::Room) });
    }
    let Some(callback) = sink else { return Ok(()) };
    let mut sink = callback.gathering(gathered);
    snippet.write(&mut sink).map_err(|e| refused(e.into(), program))?;
    sink.finish().map_err(|_| LbError::of(CallStatus::Sink))
}

/// Describes a tile.
pub(crate) fn tile(value: &SnippetValue<'_>, out: &mut LbTileRegisters) {
    (out.prefix, out.prefix_bytes) = (value.prefix.as_ptr(), value.prefix.len());
    (out.first, out.count) = (u32::from(value.first), u32::from(value.count));
    out.register_bits = u32::from(value.register_bits);
    out.overwritten = u32::from(value.overwritten);
    (out.place, out.lane, out.warp) = ([0; 12], [0; 6], [0; 5]);
    let Some(fragment) = value.fragment else { return };
    let shape = fragment.shape;
    let power = |log: u8| 1u32.checked_shl(u32::from(log)).unwrap_or(0);
    (out.panel_rows, out.panel_columns) = (power(shape.rows), power(shape.cols));
    (out.panels_down, out.panels_across) = (shape.grid.rows.into(), shape.grid.cols.into());
    out.panels_by_rows = u32::from(fragment.by_rows);
    out.place_bits = u32::from(fragment.place_bits());
    for (columns, slots, count) in [
        (fragment.register.as_slice(), out.place.as_mut_slice(), &mut out.place_count),
        (fragment.lane.as_slice(), out.lane.as_mut_slice(), &mut out.lane_count),
        (fragment.warp.as_slice(), out.warp.as_mut_slice(), &mut out.warp_count),
    ] {
        *count = u32::try_from(columns.len()).unwrap_or(0);
        for (slot, column) in slots.iter_mut().zip(columns) {
            // Elements' numbers count row by row of a panel.
            *slot = *column;
        }
    }
}

/// Writes the runs of registers that there is room for, and answers how many there are.
fn writes(snippet: &Snippet<'_>, (list, room): (*mut LbRegisterRun, usize)) -> usize {
    let mut count = 0usize;
    let mut push = |run: LbRegisterRun| {
        if count < room {
            // SAFETY: `lent_storage` checked that the list is not null, aligned and no longer than an
            // object can be; the caller says that it is writable.
            unsafe { list.add(count).write(run) }
        }
        count = count.saturating_add(1);
    };
    for set in snippet.clobbers() {
        let (prefix, prefix_bytes) = (set.prefix.as_ptr(), set.prefix.len());
        let mut run = LbRegisterRun { prefix, prefix_bytes, first: 0, count: 0 };
        if set.is_special {
            push(run);
            continue;
        }
        for (first, count) in set.runs() {
            (run.first, run.count) = (first, count);
            push(run);
        }
    }
    count
}

/// Checks lent scratch, and the list of registers that is lent; `read` are the addresses and bytes of
/// what is read besides.
pub(crate) fn lent_storage(
    read: &[(usize, usize)],
    (extents, rank): (*const u32, usize),
    (writes, room): (*mut LbRegisterRun, usize),
    (scratch, bytes): (*mut c_void, usize),
) -> Result<*mut SnippetStorage, LbError> {
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let fits = |count: usize, each: usize| {
        count.checked_mul(each).filter(|bytes| isize::try_from(*bytes).is_ok())
    };
    let write_bytes = fits(room, size_of::<LbRegisterRun>()).ok_or(LbError::argument(1))?;
    if room > 0 && (writes.is_null() || !writes.is_aligned()) {
        return Err(LbError::argument(1));
    }
    let extent_bytes = fits(rank, size_of::<u32>()).ok_or(LbError::argument(1))?;
    if scratch.is_null() {
        return Err(LbError::argument(4));
    }
    let room: *mut SnippetStorage = scratch.cast();
    if !room.is_aligned() {
        let past = scratch.addr() & align_of::<SnippetStorage>().saturating_sub(1);
        let numbers = [number(align_of::<SnippetStorage>()), number(past), 0];
        return Err(LbError { numbers, ..LbError::of(CallStatus::ScratchAlign) });
    }
    let needed = size_of::<SnippetStorage>();
    if bytes < needed {
        let numbers = [number(needed), number(bytes), 0];
        return Err(LbError { numbers, ..LbError::of(CallStatus::ScratchBytes) });
    }
    let lists = [(extents.addr(), extent_bytes), (writes.addr(), write_bytes)];
    let mut lent = read.iter().chain(&lists);
    if lent.any(|part| lend::overlap(scratch.addr(), bytes, part.0, part.1)) {
        return Err(LbError::of(CallStatus::Overlap));
    }
    Ok(room)
}
