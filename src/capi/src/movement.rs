//! A tile and where it lies in, the instructions that load, store or copy it out: a movement by
//! itself.

use crate::code::{CallStatus, LbError};
use crate::lend;
use crate::sink::{Callback, LbSink};
use crate::snippet::{
    LbRegisterRun, LbTileRegisters, SnippetCall, SnippetFacts, SnippetStorage, asked, emit,
    emptied, if_said, lent_storage, split_of, tile, told,
};
use core::ffi::c_void;
use lanebook::TABLES;
use lanebook::convert::{ConvertError, MovedMemory, MovementKind, TileMovement, write_movement};
use lanebook::emit::{ParamKind, Snippet};
use lanebook::tables::ArchId;

/// A movement: what is wanted, and what came out; `lanebook.h` says all of it.
#[repr(C)]
pub struct LbMovement {
    /// In: bytes of this structure as the caller knows it.
    pub bytes: usize,
    /// In: 0 load, 1 store, 2 copy.
    pub kind: u32,
    /// In: how two warps of 32 lie in a wave of 64: 0 halves, 1 interleaved.
    pub split: u32,
    /// In: the layout in registers; of a copy nothing.
    pub registers: *const u8,
    /// Its bytes.
    pub registers_bytes: usize,
    /// In: the layout in shared memory.
    pub shared: *const u8,
    /// Its bytes; 0: one is chosen.
    pub shared_bytes: usize,
    /// In: of a load or a store 1: memory is shared memory, 0: global memory.
    pub in_shared: u32,
    /// In: threads of the group; 0: as many as the layout speaks of, of a copy a wave.
    pub threads: u32,
    /// In: elements from one row to the next in global memory; 0: rows follow each other.
    pub stride: u32,
    /// In: bytes that the address in global memory is a multiple of; 0: an element.
    pub align: u32,
    /// In: extents of the tile, the last the fastest.
    pub extents: *const u32,
    /// How many there are.
    pub rank: usize,
    /// In: the elements' type.
    pub dtype: *const u8,
    /// Its bytes.
    pub dtype_bytes: usize,
    /// In: where the registers that are written go, and how many runs there is room for.
    pub writes: *mut LbRegisterRun,
    /// See `writes`.
    pub write_room: usize,
    /// How many runs there are.
    pub write_count: usize,
    /// The tile: of a load what comes out, of a store what goes in; of a copy all 0.
    pub tile: LbTileRegisters,
    /// The registers that the address in global memory arrives in; none: `count` is 0.
    pub address: LbRegisterRun,
    /// What the name of the register begins with that holds where shared memory's tile begins.
    pub scratch_prefix: *const u8,
    /// Its bytes; 0: there is none.
    pub scratch_prefix_bytes: usize,
    /// Its number.
    pub scratch_register: u32,
    /// Bytes of shared memory, that of the tile among them.
    pub scratch_bytes: u32,
    /// What its start is a multiple of.
    pub scratch_align: u32,
    /// The number of the register that holds the thread's number in its group.
    pub thread_register: u32,
    /// What its name begins with.
    pub thread_prefix: *const u8,
    /// Its bytes; 0: none is read.
    pub thread_prefix_bytes: usize,
    /// Threads of the group.
    pub group_threads: u32,
    /// Lanes of a wave.
    pub wave_lanes: u32,
    /// Instructions.
    pub instructions: u32,
    /// 1: the snippet leaves something else in the address's registers.
    pub address_overwritten: u32,
}

// SAFETY: its first field is `bytes`.
unsafe impl SnippetCall for LbMovement {
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
        let none = LbRegisterRun { prefix: "".as_ptr(), prefix_bytes: 0, first: 0, count: 0 };
        (self.address, self.address_overwritten) = (none, 0);
        (self.scratch_prefix, self.scratch_prefix_bytes) = ("".as_ptr(), 0);
        (self.scratch_register, self.tile) = (0, LbTileRegisters::NONE);
        for value in snippet.inputs().chain(snippet.outputs()) {
            let (prefix, prefix_bytes) = (value.prefix.as_ptr(), value.prefix.len());
            let (first, count) = (u32::from(value.first), u32::from(value.count));
            match value.kind {
                ParamKind::Tile | ParamKind::Result(_) => tile(&value, &mut self.tile),
                ParamKind::Scratch => {
                    (self.scratch_prefix, self.scratch_prefix_bytes) = (prefix, prefix_bytes);
                    self.scratch_register = first;
                }
                ParamKind::Pointer => {
                    self.address = LbRegisterRun { prefix, prefix_bytes, first, count };
                    self.address_overwritten = u32::from(value.overwritten);
                }
                // Nothing else is asked for by what `write_movement` writes.
                _ => return Err(LbError::of(CallStatus::Plan)),
            }
        }
        Ok(())
    }
}

/// What is wanted, read.
struct CallMovement<'a> {
    movement: TileMovement<'a>,
    arch: ArchId,
}

/// Writes the instructions that load, store or copy a tile; `lanebook.h` says all of it.
///
/// # Safety
/// `movement` is null or writable for one, its inputs are written, and what they lend is readable
/// (`writes`: writable); `arch` is null or readable for its length; `scratch` is null or writable for
/// `scratch_bytes`, and nothing else uses it during the call; `write` may be called with `user`; `err`
/// is null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_move(
    movement: *mut LbMovement,
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
            movement,
            (arch, arch_bytes),
            (scratch, scratch_bytes),
            write.map(|write| Callback { write, user }),
        )
    };
    // SAFETY: `err` is null or writable by the caller's word, and nothing lent outlives `run`.
    unsafe { lend::finish(result, err) }
}

/// # Safety
/// As [`lb_move`].
unsafe fn run(
    movement: *mut LbMovement,
    arch: (*const u8, usize),
    scratch: (*mut c_void, usize),
    sink: Option<Callback>,
) -> Result<(), LbError> {
    // SAFETY: the caller's word is the one that is asked for.
    let (own, room, arch) = unsafe { prepared(movement, arch, scratch)? };
    emit(room, arch, sink, own)
}

/// What is wanted, and the room with the program that does it. A frame of its own, which is not there
/// while the compiler works.
///
/// # Safety
/// As [`lb_move`].
#[inline(never)]
unsafe fn prepared<'c>(
    movement: *mut LbMovement,
    arch: (*const u8, usize),
    scratch: (*mut c_void, usize),
) -> Result<(&'c mut LbMovement, &'c mut SnippetStorage, ArchId), LbError> {
    // SAFETY: the caller's word is the one that is asked for.
    let own = unsafe { asked(movement)? };
    let read = [
        (own.registers.addr(), own.registers_bytes),
        (own.shared.addr(), own.shared_bytes),
        (own.dtype.addr(), own.dtype_bytes),
        (movement.addr(), size_of::<LbMovement>()),
        (arch.0.addr(), arch.1),
    ];
    let (extents, writes) = ((own.extents, own.rank), (own.writes, own.write_room));
    let room = lent_storage(&read, extents, writes, scratch)?;
    // SAFETY: readable by the caller's word, and apart from scratch.
    let wanted = unsafe { wanted(own, arch)? };
    // SAFETY: `lent_storage` checked it; the caller says that nothing else uses it.
    let room = unsafe { emptied(room) };
    program(room, &wanted)?;
    let arch = wanted.arch;
    Ok((own, room, arch))
}

/// What the caller wants.
///
/// # Safety
/// As [`lb_move`].
#[inline(never)]
unsafe fn wanted<'a>(
    own: &LbMovement,
    arch: (*const u8, usize),
) -> Result<CallMovement<'a>, LbError> {
    // SAFETY: readable by the caller's word.
    let (registers, shared, extents, dtype, arch) = unsafe {
        (
            lend::text(own.registers, own.registers_bytes, 1)?,
            lend::text(own.shared, own.shared_bytes, 1)?,
            lend::list(own.extents, own.rank, 1)?,
            lend::text(own.dtype, own.dtype_bytes, 1)?,
            lend::text(arch.0, arch.1, 2)?,
        )
    };
    let kind = MovementKind::NAMED.get(usize::try_from(own.kind).unwrap_or(usize::MAX));
    let (_, kind) = *kind.ok_or(LbError::argument(1))?;
    let (threads, split) = (if_said(own.threads), split_of(own.split)?);
    let apart = extents.last().copied().unwrap_or(0);
    let stride = if_said(own.stride).unwrap_or(apart);
    let global = MovedMemory::Global { stride, align: own.align };
    let (memory, other) = match (kind, own.in_shared) {
        (MovementKind::Copy, 0 | 1) => (MovedMemory::Shared(shared), Some(global)),
        (_, 0) => (global, None),
        (_, 1) => (MovedMemory::Shared(shared), None),
        _ => return Err(LbError::argument(1)),
    };
    let arch = TABLES.arch_named(arch).ok_or(LbError::of(CallStatus::Arch))?;
    let movement = TileMovement { kind, registers, memory, other, extents, dtype, threads, split };
    Ok(CallMovement { movement, arch })
}

/// Writes the program.
#[inline(never)]
fn program(room: &mut SnippetStorage, wanted: &CallMovement<'_>) -> Result<(), LbError> {
    let SnippetStorage { query, text, .. } = room;
    let made = write_movement(&TABLES, wanted.arch, &wanted.movement, query, text);
    // There is no word for registers that are copies.
    let in_registers = wanted.movement.kind != MovementKind::Copy;
    let made = made.and_then(|_| match query.distributions() {
        [found, _] if in_registers => found.handed_over().map_err(ConvertError::From),
        _ => Ok(()),
    });
    made.map_err(|error| told(&error))
}
