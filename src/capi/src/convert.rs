//! Two layouts in, the instructions between them out: a conversion by itself.

use crate::code::{CallStatus, LbError};
use crate::compile::{CallStorage, read, refused};
use crate::lend;
use crate::sink::{Callback, GATHERED, LbSink};
use core::ffi::c_void;
use core::fmt::{Arguments, Error, Result as FmtResult, Write};
use lanebook::TABLES;
use lanebook::compile::{CompileError, compile};
use lanebook::convert::{Conversion, ConvertError, write_conversion};
use lanebook::emit::{Compiled, ParamKind, Snippet, SnippetValue};
use lanebook::ir::Program;
use lanebook::query::{QueryStorage, WarpSplit};
use lanebook::tables::ArchId;

/// Bytes of the program that stands for a conversion.
const PROGRAM_BYTES: usize = 4096;

/// What a call works in.
pub(crate) struct ConvertStorage {
    pub(crate) compile: CallStorage,
    pub(crate) query: QueryStorage,
    pub(crate) text: ProgramText,
}

/// The program that stands for a conversion.
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
    /// 0.
    pub reserved: u32,
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
        reserved: 0,
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

/// A conversion: what is wanted, and what came out.
#[repr(C)]
pub struct LbConversion {
    /// In: bytes of this structure as the caller knows it.
    pub bytes: usize,
    /// In: the layout that there is.
    pub from: *const u8,
    /// Its bytes.
    pub from_bytes: usize,
    /// In: the layout that is wanted.
    pub to: *const u8,
    /// Its bytes.
    pub to_bytes: usize,
    /// In: extents of the tile, the last the fastest.
    pub extents: *const u32,
    /// How many there are.
    pub rank: usize,
    /// In: the elements' type.
    pub dtype: *const u8,
    /// Its bytes.
    pub dtype_bytes: usize,
    /// In: threads of the group; 0: as many as the layouts speak of.
    pub threads: u32,
    /// In: how two warps of 32 lie in a wave of 64: 0 halves, 1 interleaved.
    pub split: u32,
    /// In: where the registers that are written go, and how many runs there is room for.
    pub writes: *mut LbRegisterRun,
    /// See `writes`.
    pub write_room: usize,
    /// How many runs there are.
    pub write_count: usize,
    /// The tile that goes in.
    pub given: LbTileRegisters,
    /// The tile that comes out.
    pub made: LbTileRegisters,
    /// What the name of the register begins with that holds where the scratch begins.
    pub scratch_prefix: *const u8,
    /// Its bytes; 0: there is none.
    pub scratch_prefix_bytes: usize,
    /// Its number.
    pub scratch_register: u32,
    /// Bytes of shared memory.
    pub scratch_bytes: u32,
    /// What its start is a multiple of.
    pub scratch_align: u32,
    /// What the name of the register begins with that holds the thread's number.
    pub thread_register: u32,
    /// See `thread_register`.
    pub thread_prefix: *const u8,
    /// Its bytes; 0: there is none.
    pub thread_prefix_bytes: usize,
    /// Threads of the group.
    pub group_threads: u32,
    /// Lanes of a wave.
    pub wave_lanes: u32,
    /// Instructions.
    pub instructions: u32,
    /// In: most bytes of shared memory that it may go through; 0: as many as the tile has.
    pub scratch_most: u32,
}

/// What is wanted, read.
struct CallConversion<'a> {
    conversion: Conversion<'a>,
    arch: ArchId,
}

/// Bytes of scratch that [`lb_convert`] needs.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn lb_convert_scratch_bytes() -> usize {
    size_of::<ConvertStorage>()
}

/// Writes the instructions that convert a register tile; `lanebook.h` says all of it.
///
/// # Safety
/// `conversion` is null or writable for one, its inputs are written, and what they lend is readable
/// (`writes`: writable); `arch` is null or readable for its length; `scratch` is null or writable for
/// `scratch_bytes`, and nothing else uses it during the call; `write` may be called with `user`; `err`
/// is null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_convert(
    conversion: *mut LbConversion,
    arch: *const u8,
    arch_bytes: usize,
    scratch: *mut c_void,
    scratch_bytes: usize,
    write: LbSink,
    user: *mut c_void,
    err: *mut LbError,
) -> u32 {
    // SAFETY: the caller's word is the one that is asked for.
    let result = unsafe {
        run(
            conversion,
            (arch, arch_bytes),
            (scratch, scratch_bytes),
            write.map(|write| Callback { write, user }),
        )
    };
    // SAFETY: `err` is null or writable by the caller's word, and nothing lent outlives `run`.
    unsafe { lend::finish(result, err) }
}

/// # Safety
/// As [`lb_convert`].
unsafe fn run(
    conversion: *mut LbConversion,
    arch: (*const u8, usize),
    scratch: (*mut c_void, usize),
    sink: Option<Callback>,
) -> Result<(), LbError> {
    // SAFETY: the caller's word is the one that is asked for.
    let (own, room, arch) = unsafe { prepared(conversion, arch, scratch)? };
    let ConvertStorage { compile, text, .. } = room;
    emit(compile, text.text(), arch, sink, own)
}

/// What is wanted, and the room with the program that does it. A frame of its own, which is not there
/// while the compiler works.
///
/// # Safety
/// As [`lb_convert`].
#[inline(never)]
unsafe fn prepared<'c>(
    conversion: *mut LbConversion,
    arch: (*const u8, usize),
    scratch: (*mut c_void, usize),
) -> Result<(&'c mut LbConversion, &'c mut ConvertStorage, ArchId), LbError> {
    if conversion.is_null() || !conversion.is_aligned() {
        return Err(LbError::argument(1));
    }
    // SAFETY: not null, aligned, and its first field is written by the caller's word.
    if unsafe { (*conversion).bytes } < size_of::<LbConversion>() {
        return Err(LbError::argument(1));
    }
    // SAFETY: not null, aligned, and as large as this one; nothing else uses it during the call.
    let own = unsafe { &mut *conversion };
    let room = storage(conversion.addr(), own, (arch.0.addr(), arch.1), scratch)?;
    // SAFETY: readable by the caller's word, and apart from scratch.
    let wanted = unsafe { wanted(own, arch)? };
    // SAFETY: `storage` checked that the memory is aligned, large enough and apart from all that is
    // read; the caller says that it is writable and that nothing else uses it. Zeros are storage: see
    // `lb_compile` and `lb_query`; of a text they are one without bytes.
    let room = unsafe {
        room.write_bytes(0, 1);
        &mut *room
    };
    program(room, &wanted)?;
    let arch = wanted.arch;
    Ok((own, room, arch))
}

/// What the caller wants.
///
/// # Safety
/// As [`lb_convert`].
#[inline(never)]
unsafe fn wanted<'a>(
    own: &LbConversion,
    arch: (*const u8, usize),
) -> Result<CallConversion<'a>, LbError> {
    // SAFETY: readable by the caller's word.
    let (from, to, extents, dtype, arch) = unsafe {
        (
            lend::text(own.from, own.from_bytes, 1)?,
            lend::text(own.to, own.to_bytes, 1)?,
            lend::list(own.extents, own.rank, 1)?,
            lend::text(own.dtype, own.dtype_bytes, 1)?,
            lend::text(arch.0, arch.1, 2)?,
        )
    };
    let split = match own.split {
        0 => WarpSplit::Halves,
        1 => WarpSplit::Interleaved,
        _ => return Err(LbError::argument(1)),
    };
    let threads = if own.threads == 0 { None } else { Some(own.threads) };
    let arch = TABLES.arch_named(arch).ok_or(LbError::of(CallStatus::Arch))?;
    let scratch = if own.scratch_most == 0 { None } else { Some(own.scratch_most) };
    let conversion = Conversion { from, to, extents, dtype, threads, split, scratch };
    Ok(CallConversion { conversion, arch })
}

/// Writes the program.
#[inline(never)]
fn program(room: &mut ConvertStorage, wanted: &CallConversion<'_>) -> Result<(), LbError> {
    let ConvertStorage { query, text, .. } = room;
    let made = write_conversion(&TABLES, wanted.arch, &wanted.conversion, query, text);
    // There is no word for registers that are copies.
    let all = made.and_then(|sides| {
        sides.from.handed_over().map_err(ConvertError::From)?;
        sides.to.handed_over().map_err(ConvertError::To)
    });
    all.map_err(|error| told(&error))
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
fn emit(
    room: &mut CallStorage,
    text: &str,
    arch: ArchId,
    sink: Option<Callback>,
    out: &mut LbConversion,
) -> Result<(), LbError> {
    let CallStorage { program, kernel, text: gathered, .. } = room;
    let slot = &mut None;
    let program = read(program, text, slot)?;
    let compiled = compile(&TABLES, arch, program, kernel.scratch());
    match &compiled {
        Ok(compiled) => hand_out(program, compiled, (sink, gathered), out),
        Err(error) => Err(unplaced(error, program)),
    }
}

/// An error without its place: that is of a text that the caller does not see. It has a frame of its
/// own, which is not there while the compiler works.
#[inline(never)]
pub(crate) fn unplaced(error: &CompileError, program: &Program<'_, '_>) -> LbError {
    LbError { line: 0, column: 0, offset: 0, bytes: 0, ..refused(*error, program) }
}

/// Describes the snippet, then writes its text.
#[inline(never)]
fn hand_out(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    (sink, gathered): (Option<Callback>, &mut [u8; GATHERED]),
    out: &mut LbConversion,
) -> Result<(), LbError> {
    let none = LbError::of(CallStatus::Plan);
    let snippet = compiled.snippet(&TABLES, program).ok_or(none)?;
    let given = snippet.inputs().find(|value| value.kind == ParamKind::Tile);
    tile(&given.ok_or(none)?, &mut out.given);
    tile(&snippet.outputs().next().ok_or(none)?, &mut out.made);
    let base = snippet.inputs().find(|value| value.kind == ParamKind::Scratch);
    let prefix = base.map_or("", |value| value.prefix);
    (out.scratch_prefix, out.scratch_prefix_bytes) = (prefix.as_ptr(), prefix.len());
    out.scratch_register = base.map_or(0, |value| u32::from(value.first));
    (out.scratch_bytes, out.scratch_align) = snippet.scratch();
    let (prefix, number) = snippet.thread_register().unwrap_or(("", 0));
    (out.thread_prefix, out.thread_prefix_bytes) = (prefix.as_ptr(), prefix.len());
    out.thread_register = u32::from(number);
    (out.group_threads, out.wave_lanes) = (snippet.threads(), snippet.wave_lanes());
    out.instructions = u32::try_from(snippet.instructions()).unwrap_or(u32::MAX);
    let count = writes(&snippet, (out.writes, out.write_room));
    out.write_count = count;
    if count > out.write_room {
        let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let numbers = [signed(count), signed(out.write_room), 0];
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
    out.reserved = 0;
    (out.place, out.lane, out.warp) = ([0; 12], [0; 6], [0; 5]);
    let Some(fragment) = value.fragment else { return };
    out.place_bits = u32::from(fragment.place_bits());
    for (columns, slots, count) in [
        (fragment.register.as_slice(), out.place.as_mut_slice(), &mut out.place_count),
        (fragment.lane.as_slice(), out.lane.as_mut_slice(), &mut out.lane_count),
        (fragment.warp.as_slice(), out.warp.as_mut_slice(), &mut out.warp_count),
    ] {
        *count = u32::try_from(columns.len()).unwrap_or(0);
        for (slot, column) in slots.iter_mut().zip(columns) {
            // A tile of one panel: its elements' numbers count row by row.
            *slot = *column;
        }
    }
}

/// Writes the runs of registers that there is room for, and answers how many there are.
pub(crate) fn writes(snippet: &Snippet<'_>, (list, room): (*mut LbRegisterRun, usize)) -> usize {
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

/// Checks lent scratch, and the list that is lent.
fn storage(
    at: usize,
    own: &LbConversion,
    arch: (usize, usize),
    scratch: (*mut c_void, usize),
) -> Result<*mut ConvertStorage, LbError> {
    let read = [
        (own.from.addr(), own.from_bytes),
        (own.to.addr(), own.to_bytes),
        (own.dtype.addr(), own.dtype_bytes),
        (at, size_of::<LbConversion>()),
        arch,
    ];
    lent_storage(&read, (own.extents, own.rank), (own.writes, own.write_room), scratch)
}

/// Checks lent scratch, and the list of registers that is lent; `read` are the addresses and bytes of
/// what is read besides.
pub(crate) fn lent_storage(
    read: &[(usize, usize)],
    (extents, rank): (*const u32, usize),
    (writes, room): (*mut LbRegisterRun, usize),
    (scratch, bytes): (*mut c_void, usize),
) -> Result<*mut ConvertStorage, LbError> {
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
    let room: *mut ConvertStorage = scratch.cast();
    if !room.is_aligned() {
        let past = scratch.addr() & align_of::<ConvertStorage>().saturating_sub(1);
        let numbers = [number(align_of::<ConvertStorage>()), number(past), 0];
        return Err(LbError { numbers, ..LbError::of(CallStatus::ScratchAlign) });
    }
    let needed = size_of::<ConvertStorage>();
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

#[cfg(test)]
mod tests {
    use super::{CallConversion, ConvertStorage, program};
    use lanebook::TABLES;
    use lanebook::convert::Conversion;

    /// A layout some of whose registers are copies is refused on either side: nothing would say which.
    #[test]
    fn copies_of_registers_are_refused() {
        const PLAIN: &str = "S[(32,4):(1@laneid,1@register)]";
        const COPIED: &str = "S[(32,4):(1@laneid,1@register)] + R[2:4@register]";
        let mut room = std::boxed::Box::<ConvertStorage>::new_uninit();
        // SAFETY: plain data, of which zeros are a value, as in `lb_convert`.
        let room = unsafe {
            room.as_mut_ptr().write_bytes(0, 1);
            room.assume_init_mut()
        };
        let arch = TABLES.arch_named("sm_80").unwrap();
        let mut refused = |from, to| {
            let conversion = Conversion { from, to, ..Conversion::of(&[32, 4], "f32") };
            program(room, &CallConversion { conversion, arch }).err().map(|error| error.numbers[0])
        };
        assert_eq!(refused(PLAIN, PLAIN), None);
        // Registers that are copies, of a tile that is handed over.
        assert_eq!([refused(COPIED, PLAIN), refused(PLAIN, COPIED)], [Some(15); 2]);
    }
}
