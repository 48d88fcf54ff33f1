//! A program's text in, a kernel's text out.

use crate::code::{CallStatus, LbError};
use crate::launch::{LaunchLists, LbLaunch};
use crate::lend;
use crate::maps::LbTensorMap;
use crate::sink::{Callback, GATHERED, LbSink};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use lanebook::compile::storage::Capacities;
use lanebook::compile::{Compiled, compile};
use lanebook::ir::{self, Options, Program};

use lanebook::written::{LayoutStorage, resolve_layouts};
use lanebook::{TABLES, tables::ArchId};

/// Storage of a program of up to 512 operations, those that others stand for among them.
pub(crate) type ProgramStorage = ir::Storage<512, 1024, 2048, 512, 64, 32, 512>;

/// More than the usual room of what such a program has many of: a caller in C cannot lend more.
const KERNEL: Capacities =
    Capacities { steps: 3072, tuples: 1536, nodes: 1536, fragments: 160, ..Capacities::DEFAULT };

/// Storage of a kernel.
pub(crate) type CallKernelStorage = lanebook::compile_storage!(KERNEL);

/// What a call works in: a program and a kernel.
pub(crate) struct CallStorage {
    pub(crate) program: ProgramStorage,
    pub(crate) kernel: CallKernelStorage,
    /// What layouts in notations of other systems are read in.
    pub(crate) layouts: LayoutStorage,
    /// Text on its way to the sink.
    pub(crate) text: [u8; GATHERED],
}

/// What a call was lent, checked: its memory, empty, the program's text and the architecture.
pub(crate) struct CallRoom<'c> {
    pub(crate) storage: &'c mut CallStorage,
    pub(crate) text: &'c str,
    pub(crate) arch: ArchId,
}

/// What is wanted besides the text.
enum Wanted<'o> {
    Text,
    /// The tensor maps, and how many there are.
    Maps(&'o mut [MaybeUninit<LbTensorMap>], usize),
    Launch(LaunchLists<'o>),
}

/// Bytes of scratch that [`lb_compile`] needs for an architecture; 0 = no such architecture.
///
/// # Safety
/// `arch` is null or readable for `arch_bytes` bytes.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_scratch_bytes(arch: *const u8, arch_bytes: usize) -> usize {
    // SAFETY: the caller's word is the one that is asked for.
    let found = unsafe { lend::text(arch, arch_bytes, 1) }
        .is_ok_and(|name| TABLES.arch_named(name).is_some());
    if found { size_of::<CallStorage>() } else { 0 }
}

/// The alignment that scratch must have, in bytes.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn lb_scratch_align() -> usize {
    align_of::<CallStorage>()
}

/// Compiles a program; `lanebook.h` says all of it.
///
/// # Safety
/// `text` and `arch` are null or readable for their lengths; `scratch` is null or writable for
/// `scratch_bytes`, and nothing else uses it during the call; `write` may be called with `user`;
/// `err` is null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_compile(
    text: *const u8,
    text_bytes: usize,
    arch: *const u8,
    arch_bytes: usize,
    scratch: *mut c_void,
    scratch_bytes: usize,
    write: LbSink,
    user: *mut c_void,
    err: *mut LbError,
) -> u32 {
    let Some(write) = write else {
        // SAFETY: `err` is null or writable by the caller's word.
        return unsafe { lend::finish(Err(LbError::argument(7)), err) };
    };
    // SAFETY: the caller's word is the one that is asked for.
    let result = unsafe {
        run(
            (text, text_bytes),
            (arch, arch_bytes),
            scratch,
            scratch_bytes,
            Some(Callback { write, user }),
            &mut Wanted::Text,
        )
    };
    // SAFETY: `err` is null or writable by the caller's word, and nothing lent outlives `run`.
    unsafe { lend::finish(result, err) }
}

/// The same, and the tensor maps that the kernel takes; `lanebook.h` says all of it.
///
/// # Safety
/// As [`lb_compile`]; `write` may be null; `maps` is null or writable for `map_room` of them,
/// `map_count` is null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_compile_maps(
    text: *const u8,
    text_bytes: usize,
    arch: *const u8,
    arch_bytes: usize,
    scratch: *mut c_void,
    scratch_bytes: usize,
    write: LbSink,
    user: *mut c_void,
    maps: *mut LbTensorMap,
    map_room: usize,
    map_count: *mut usize,
    err: *mut LbError,
) -> u32 {
    let fits = map_room
        .checked_mul(size_of::<LbTensorMap>())
        .filter(|bytes| isize::try_from(*bytes).is_ok());
    let apart = |bytes: usize| !lend::overlap(scratch.addr(), scratch_bytes, maps.addr(), bytes);
    let lent = map_room == 0 || (!maps.is_null() && maps.is_aligned() && fits.is_some_and(apart));
    let result = if !lent {
        Err(LbError::argument(9))
    } else if map_count.is_null() || !map_count.is_aligned() {
        Err(LbError::argument(11))
    } else {
        let out: &mut [MaybeUninit<LbTensorMap>] = match map_room {
            0 => &mut [],
            // SAFETY: not null, aligned, no longer than an object can be, apart from scratch, and
            // writable by the caller's word.
            room => unsafe { core::slice::from_raw_parts_mut(maps.cast(), room) },
        };
        let sink = write.map(|write| Callback { write, user });
        let mut wanted = Wanted::Maps(out, 0);
        // SAFETY: the caller's word is the one that is asked for.
        let done = unsafe {
            run((text, text_bytes), (arch, arch_bytes), scratch, scratch_bytes, sink, &mut wanted)
        };
        if let (Ok(()), Wanted::Maps(_, count)) = (&done, wanted) {
            // SAFETY: not null and aligned, and writable by the caller's word.
            unsafe { map_count.write(count) }
        }
        done
    };
    // SAFETY: `err` is null or writable by the caller's word, and nothing lent outlives `run`.
    unsafe { lend::finish(result, err) }
}

/// As [`lb_compile`], and everything that a launch of the kernel needs; `lanebook.h` says all of
/// it.
///
/// # Safety
/// As [`lb_compile`]; `write` may be null; `launch` is null or writable for one, its first fields
/// are written and what they lend is writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_compile_launch(
    text: *const u8,
    text_bytes: usize,
    arch: *const u8,
    arch_bytes: usize,
    scratch: *mut c_void,
    scratch_bytes: usize,
    write: LbSink,
    user: *mut c_void,
    launch: *mut LbLaunch,
    err: *mut LbError,
) -> u32 {
    // SAFETY: the caller's word is the one that is asked for.
    let lists = unsafe { LaunchLists::read(launch, scratch, scratch_bytes, 9) };
    let result = lists.and_then(|lists| {
        let sink = write.map(|write| Callback { write, user });
        let mut wanted = Wanted::Launch(lists);
        // SAFETY: the caller's word is the one that is asked for.
        unsafe {
            run((text, text_bytes), (arch, arch_bytes), scratch, scratch_bytes, sink, &mut wanted)
        }
    });
    // SAFETY: `err` is null or writable by the caller's word, and nothing lent outlives `run`.
    unsafe { lend::finish(result, err) }
}

/// # Safety
/// As [`lb_compile`].
unsafe fn run(
    text: (*const u8, usize),
    arch: (*const u8, usize),
    scratch: *mut c_void,
    scratch_bytes: usize,
    sink: Option<Callback>,
    wanted: &mut Wanted<'_>,
) -> Result<(), LbError> {
    // SAFETY: the caller's word is the one that is asked for.
    let room = unsafe { lent_room(text, arch, scratch, scratch_bytes)? };
    emit(room, sink, wanted)
}

/// Checks what a call is lent, and empties its memory.
///
/// # Safety
/// As [`lb_compile`].
pub(crate) unsafe fn lent_room<'c>(
    text: (*const u8, usize),
    arch: (*const u8, usize),
    scratch: *mut c_void,
    scratch_bytes: usize,
) -> Result<CallRoom<'c>, LbError> {
    lend::plausible(text.0, text.1, 1)?;
    lend::plausible(arch.0, arch.1, 3)?;
    // Before anything is read: what a text in scratch says depends on what was there before.
    let room = room((text.0.addr(), text.1), (arch.0.addr(), arch.1), scratch, scratch_bytes)?;
    // SAFETY: readable by the caller's word.
    let (text, name) = unsafe { (lend::text(text.0, text.1, 1)?, lend::text(arch.0, arch.1, 3)?) };
    let arch = TABLES.arch_named(name).ok_or(LbError::of(CallStatus::Arch))?;
    // SAFETY: `room` checked that the memory is aligned, large enough and apart from both texts;
    // the caller says that it is writable and that nothing else uses it. Zeros are a `CallStorage`:
    // numbers, options of them, and lists whose length is a number. That they are the empty one,
    // which `Storage::new` writes, shows in the firmware's image, where statics of it are zeros.
    // Written in place: made elsewhere and moved, a room would stand on the stack.
    let storage = unsafe {
        room.write_bytes(0, 1);
        &mut *room
    };
    Ok(CallRoom { storage, text, arch })
}

/// Compiles, then hands out what is asked for. What reads layouts has not the compiler's frame under
/// it.
fn emit(
    room: CallRoom<'_>,
    sink: Option<Callback>,
    wanted: &mut Wanted<'_>,
) -> Result<(), LbError> {
    let CallStorage { program, kernel, layouts, text: gathered } = room.storage;
    let slot = &mut None;
    let program = read(program, room.text, slot)?;
    if let Err(error) = resolve(room.arch, program, layouts) {
        return Err(refused(error, program));
    }
    compiled(program, room.arch, kernel, (sink, gathered), wanted)
}

#[inline(never)]
fn compiled(
    program: &mut Program<'_, '_>,
    arch: ArchId,
    kernel: &mut CallKernelStorage,
    (sink, gathered): (Option<Callback>, &mut [u8; GATHERED]),
    wanted: &mut Wanted<'_>,
) -> Result<(), LbError> {
    // Looked at where it lies: moved, it would lie on the stack twice.
    let compiled = compile(&TABLES, arch, program, kernel.scratch());
    match &compiled {
        Ok(compiled) => hand_out(program, compiled, sink, gathered, wanted),
        Err(error) => Err(refused(*error, program)),
    }
}

/// Reads and verifies a program. A frame of its own: what the reader keeps on the stack lies under
/// nothing else. The program goes into a slot: handed back, it would lie on the stack twice.
#[inline(never)]
pub(crate) fn read<'s, 'p>(
    pools: &'p mut ProgramStorage,
    text: &'p str,
    slot: &'s mut Option<Program<'p, 'p>>,
) -> Result<&'s mut Program<'p, 'p>, LbError> {
    let mut program = ir::parse(pools.pools(), &TABLES, text, Options::default())
        .map_err(|e| LbError::of_ir(CallStatus::Parse, e))?;
    ir::verify(&mut program).map_err(|e| LbError::of_ir(CallStatus::Verify, e))?;
    isolate(&mut program)?;
    Ok(slot.insert(program))
}

/// Leaves the one kernel of a program.
#[inline(never)]
pub(crate) fn isolate(program: &mut Program<'_, '_>) -> Result<(), LbError> {
    match ir::isolate_kernel(program, None) {
        Ok(_) => Ok(()),
        Err(e) if e.kind == ir::ErrorKind::NoKernel && e.at.line == 0 => {
            Err(LbError::of(CallStatus::NoFunction))
        }
        Err(e) => Err(LbError::of_ir(CallStatus::Verify, e)),
    }
}

/// Brings layouts in notations of other systems to one that is planned in. A frame of its own, as
/// [`read`] has.
#[inline(never)]
pub(crate) fn resolve(
    arch: ArchId,
    program: &mut Program<'_, '_>,
    layouts: &mut LayoutStorage,
) -> Result<(), lanebook::compile::CompileError> {
    let function = program.functions().next();
    match function {
        Some(function) => resolve_layouts(&TABLES, arch, program, function, layouts),
        None => Ok(()),
    }
}

/// Describes what is asked for, then writes the text. A frame of its own:
/// nothing of it is there while a kernel is compiled.
#[inline(never)]
fn hand_out(
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    sink: Option<Callback>,
    gathered: &mut [u8; GATHERED],
    wanted: &mut Wanted<'_>,
) -> Result<(), LbError> {
    match wanted {
        Wanted::Text => {}
        Wanted::Maps(maps, count) => {
            let launch = compiled.launch(&TABLES, program).ok_or(LbError::of(CallStatus::Plan))?;
            *count = crate::maps::describe(&launch, maps)?;
        }
        Wanted::Launch(lists) => lists.write(program, compiled)?,
    }
    if let Some(callback) = sink {
        let mut sink = callback.gathering(gathered);
        compiled.write(&TABLES, program, &mut sink).map_err(|e| refused(e.into(), program))?;
        sink.finish().map_err(|_| LbError::of(CallStatus::Sink))?;
    }
    Ok(())
}

/// A refusal as C sees it. A frame of its own, as [`hand_out`] has.
#[inline(never)]
pub(crate) fn refused(
    error: lanebook::compile::CompileError,
    program: &Program<'_, '_>,
) -> LbError {
    LbError::of_compile(error, program)
}

/// Checks lent scratch.
fn room(
    text: (usize, usize),
    arch: (usize, usize),
    scratch: *mut c_void,
    bytes: usize,
) -> Result<*mut CallStorage, LbError> {
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let room = scratch.cast::<CallStorage>();
    if scratch.is_null() {
        return Err(LbError::argument(5));
    }
    if !room.is_aligned() {
        let past = scratch.addr() & align_of::<CallStorage>().saturating_sub(1);
        return Err(LbError {
            numbers: [number(align_of::<CallStorage>()), number(past), 0],
            ..LbError::of(CallStatus::ScratchAlign)
        });
    }
    if bytes < size_of::<CallStorage>() {
        return Err(LbError {
            numbers: [number(size_of::<CallStorage>()), number(bytes), 0],
            ..LbError::of(CallStatus::ScratchBytes)
        });
    }
    if lend::overlap(scratch.addr(), bytes, text.0, text.1)
        || lend::overlap(scratch.addr(), bytes, arch.0, arch.1)
    {
        return Err(LbError::of(CallStatus::Overlap));
    }
    Ok(room)
}

#[cfg(test)]
mod tests {
    use super::{CallStorage, lb_compile};
    use crate::code::{CallStatus, LbError};
    use core::ffi::c_void;
    use core::mem::MaybeUninit;

    /// Details of errors: a list of a plan is full, a pool of the program, a list of emission.
    const CAPACITY: u32 = 11;
    const PROGRAM_CAPACITY: u32 = 28;
    const STEP_CAPACITY: u32 = 5;

    /// A product of fp8 that is widened is more than 4,096 instructions; so are, or more than there is
    /// room to plan, those with block scales that no instruction of the architecture takes.
    const TOO_LARGE: [(&str, &str); 4] = [
        ("gemm_fp8.tile", "gfx942"),
        ("gemm_mxfp8.tile", "gfx942"),
        ("gemm_mxfp8_tails.tile", "gfx942"),
        ("gemm_mxfp8_tails.tile", "sm_90a"),
    ];

    /// A call has room for all examples but these, on architectures of both vendors: a caller cannot
    /// lend more of anything.
    #[test]
    fn there_is_room_for_the_examples() {
        extern "C" fn forget(_: *mut c_void, _: *const u8, _: usize) -> i32 {
            0
        }
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gen/cli/examples");
        let (mut compiled, mut full) = (0, std::vec::Vec::new());
        let is_full = |error: &LbError| {
            let (plan, emit) = (CallStatus::Plan as u32, CallStatus::Emit as u32);
            [(plan, CAPACITY), (plan, PROGRAM_CAPACITY), (emit, STEP_CAPACITY)]
                .contains(&(error.code, error.detail))
        };
        let mut room = std::boxed::Box::<CallStorage>::new_uninit();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "tile") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for arch in ["sm_90a", "gfx942"] {
                let mut error = MaybeUninit::<LbError>::uninit();
                // SAFETY: all is lent for the call, as long as it says, and apart.
                let status = unsafe {
                    lb_compile(
                        text.as_ptr(),
                        text.len(),
                        arch.as_ptr(),
                        arch.len(),
                        room.as_mut_ptr().cast(),
                        size_of::<CallStorage>(),
                        Some(forget),
                        core::ptr::null_mut(),
                        error.as_mut_ptr(),
                    )
                };
                if status == CallStatus::Ok as u32 {
                    compiled += 1;
                    continue;
                }
                // SAFETY: written where the call fails.
                let error = unsafe { error.assume_init() };
                if is_full(&error) {
                    let name = path.file_name().unwrap().to_string_lossy().into_owned();
                    full.push((name, arch, error));
                }
            }
        }
        let mut names: std::vec::Vec<_> =
            full.iter().map(|(name, arch, _)| (name.as_str(), *arch)).collect();
        names.sort_unstable();
        assert_eq!(names, TOO_LARGE, "{full:?}");
        assert!(compiled > 50, "{compiled} compiled");
    }

    /// What [`super::run`] makes of lent memory: nothing is in it.
    #[test]
    fn zeros_are_empty_storage() {
        // SAFETY: see `run`.
        let room = unsafe { std::boxed::Box::<CallStorage>::new_zeroed().assume_init() };
        assert!(
            room.kernel
                .usage()
                .iter()
                .filter(|pool| pool.what != "buckets")
                .all(|pool| pool.used == 0)
        );
    }
}
