//! Two layouts in, the instructions between them out: a conversion by itself.

use crate::code::{CallStatus, LbError};
use crate::lend;
use crate::sink::{Callback, LbSink};
use crate::snippet::{
    LbRegisterRun, LbTileRegisters, SnippetCall, SnippetFacts, SnippetStorage, asked, emit,
    emptied, if_said, lent_storage, split_of, tile, told,
};
use core::ffi::c_void;
use lanebook::TABLES;
use lanebook::convert::{Conversion, ConvertError, write_conversion};
use lanebook::emit::{ParamKind, Snippet};
use lanebook::tables::ArchId;

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

// SAFETY: its first field is `bytes`.
unsafe impl SnippetCall for LbConversion {
    fn write_list(&self) -> (*mut LbRegisterRun, usize) {
        (self.writes, self.write_room)
    }

    fn take(&mut self, facts: &SnippetFacts) {
        (self.scratch_bytes, self.scratch_align) = (facts.scratch_bytes, facts.scratch_align);
        self.thread_prefix = facts.thread_prefix;
        self.thread_prefix_bytes = facts.thread_prefix_bytes;
        self.thread_register = facts.thread_register;
        (self.group_threads, self.wave_lanes) = (facts.group_threads, facts.wave_lanes);
        (self.instructions, self.write_count) = (facts.instructions, facts.write_count);
    }

    fn describe(&mut self, snippet: &Snippet<'_>) -> Result<(), LbError> {
        let none = LbError::of(CallStatus::Plan);
        let given = snippet.inputs().find(|value| value.kind == ParamKind::Tile);
        tile(&given.ok_or(none)?, &mut self.given);
        tile(&snippet.outputs().next().ok_or(none)?, &mut self.made);
        let base = snippet.inputs().find(|value| value.kind == ParamKind::Scratch);
        let prefix = base.map_or("", |value| value.prefix);
        (self.scratch_prefix, self.scratch_prefix_bytes) = (prefix.as_ptr(), prefix.len());
        self.scratch_register = base.map_or(0, |value| u32::from(value.first));
        Ok(())
    }
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
    size_of::<SnippetStorage>()
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
    emit(room, arch, sink, own)
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
) -> Result<(&'c mut LbConversion, &'c mut SnippetStorage, ArchId), LbError> {
    // SAFETY: the caller's word is the one that is asked for.
    let own = unsafe { asked(conversion)? };
    let room = storage(conversion.addr(), own, (arch.0.addr(), arch.1), scratch)?;
    // SAFETY: readable by the caller's word, and apart from scratch.
    let wanted = unsafe { wanted(own, arch)? };
    // SAFETY: `storage` checked it; the caller says that nothing else uses it.
    let room = unsafe { emptied(room) };
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
    let (threads, scratch) = (if_said(own.threads), if_said(own.scratch_most));
    let split = split_of(own.split)?;
    let arch = TABLES.arch_named(arch).ok_or(LbError::of(CallStatus::Arch))?;
    let conversion = Conversion { from, to, extents, dtype, threads, split, scratch };
    Ok(CallConversion { conversion, arch })
}

/// Writes the program.
#[inline(never)]
fn program(room: &mut SnippetStorage, wanted: &CallConversion<'_>) -> Result<(), LbError> {
    let SnippetStorage { query, text, .. } = room;
    let made = write_conversion(&TABLES, wanted.arch, &wanted.conversion, query, text);
    // There is no word for registers that are copies.
    let all = made.and_then(|sides| {
        sides.from.handed_over().map_err(ConvertError::From)?;
        sides.to.handed_over().map_err(ConvertError::To)
    });
    all.map_err(|error| told(&error))
}

/// Checks lent scratch, and the list that is lent.
fn storage(
    at: usize,
    own: &LbConversion,
    arch: (usize, usize),
    scratch: (*mut c_void, usize),
) -> Result<*mut SnippetStorage, LbError> {
    let read = [
        (own.from.addr(), own.from_bytes),
        (own.to.addr(), own.to_bytes),
        (own.dtype.addr(), own.dtype_bytes),
        (at, size_of::<LbConversion>()),
        arch,
    ];
    lent_storage(&read, (own.extents, own.rank), (own.writes, own.write_room), scratch)
}

#[cfg(test)]
mod tests {
    use super::{CallConversion, SnippetStorage, program};
    use lanebook::TABLES;
    use lanebook::convert::Conversion;

    /// A layout some of whose registers are copies is refused on either side: nothing would say which.
    #[test]
    fn copies_of_registers_are_refused() {
        const PLAIN: &str = "S[(32,4):(1@laneid,1@register)]";
        const COPIED: &str = "S[(32,4):(1@laneid,1@register)] + R[2:4@register]";
        let mut room = std::boxed::Box::<SnippetStorage>::new_uninit();
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
