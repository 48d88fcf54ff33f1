//! Why a program does not compile, in words.

use crate::code::{CallStatus, LbError};
use crate::compile::{CallKernelStorage, CallRoom, ProgramStorage, lent_room, resolve};
use crate::lend;
use crate::sink::AnswerBuffer;
use core::ffi::c_void;
use lanebook::compile::{CompileError, compile};
use lanebook::layout::sentence;

use lanebook::tables::ArchId;
use lanebook::{TABLES, ir};

/// Says in a sentence why a program does not compile; `lanebook.h` says all of it.
///
/// # Safety
/// `text` and `arch` are null or readable for their lengths; `scratch` is null or writable for
/// `scratch_bytes`, `answer` for `answer_room`, and nothing else uses them during the call;
/// `answer_bytes` and `err` are null or writable. None of them overlap.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_explain(
    text: *const u8,
    text_bytes: usize,
    arch: *const u8,
    arch_bytes: usize,
    scratch: *mut c_void,
    scratch_bytes: usize,
    answer: *mut u8,
    answer_room: usize,
    answer_bytes: *mut usize,
    err: *mut LbError,
) -> u32 {
    let result = (|| {
        lend::plausible(answer, answer_room, 7)?;
        if answer_bytes.is_null() || !answer_bytes.is_aligned() {
            return Err(LbError::argument(9));
        }
        let out = (answer.addr(), answer_room);
        for other in
            [(text.addr(), text_bytes), (arch.addr(), arch_bytes), (scratch.addr(), scratch_bytes)]
        {
            if lend::overlap(out.0, out.1, other.0, other.1) {
                return Err(LbError::of(CallStatus::Overlap));
            }
        }
        // SAFETY: the caller's word is the one that is asked for.
        let room =
            unsafe { lent_room((text, text_bytes), (arch, arch_bytes), scratch, scratch_bytes)? };
        // SAFETY: not null, no longer than an object can be, apart from what is read, and writable
        // by the caller's word.
        let mut out = unsafe { AnswerBuffer::lent(answer, answer_room) };
        let result = explained(room, &mut out);
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe { out.finish(answer_bytes)? }
        result
    })();
    // SAFETY: `err` is null or writable by the caller's word.
    unsafe { lend::finish(result, err) }
}

/// Compiles, and writes why that failed. A lent buffer refuses nothing: it counts on. What reads, and
/// what writes, has a frame of its own: none of it lies under the compiler's.
#[inline(never)]
fn explained(room: CallRoom<'_>, out: &mut AnswerBuffer<'_>) -> Result<(), LbError> {
    let CallRoom { storage, text, arch } = room;
    let slot = &mut None;
    let program = read(&mut storage.program, text, (slot, &mut *out))?;
    let done = resolve(arch, program, &mut storage.layouts)
        .and_then(|()| tried(program, arch, &mut storage.kernel));
    match done {
        Ok(()) => Ok(()),
        Err(error) => Err(said(&error, arch, program, out)),
    }
}

#[inline(never)]
fn tried(
    program: &mut ir::Program<'_, '_>,
    arch: ArchId,
    kernel: &mut CallKernelStorage,
) -> Result<(), CompileError> {
    // Looked at where it lies: moved, it would lie on the stack twice.
    let compiled = compile(&TABLES, arch, program, kernel.scratch());
    compiled.as_ref().map(|_| ()).map_err(|error| *error)
}

#[inline(never)]
fn read<'a, 's>(
    pools: &'s mut ProgramStorage,
    text: &'s str,
    (slot, out): (&'a mut Option<ir::Program<'s, 's>>, &mut AnswerBuffer<'_>),
) -> Result<&'a mut ir::Program<'s, 's>, LbError> {
    let mut program =
        ir::parse(pools.pools(), &TABLES, text, ir::Options::default()).map_err(|error| {
            let _ = error.write_named(&TABLES, out);
            LbError::of_ir(CallStatus::Parse, error)
        })?;
    ir::verify(&mut program).map_err(|error| {
        let _ = error.write_named(&TABLES, out);
        LbError::of_ir(CallStatus::Verify, error)
    })?;
    match ir::isolate_kernel(&mut program, None) {
        Err(error) if error.at.line > 0 => {
            let _ = error.write_named(&TABLES, out);
            Err(LbError::of_ir(CallStatus::Verify, error))
        }
        // A text without functions is refused where it is compiled.
        _ => Ok(slot.insert(program)),
    }
}

#[inline(never)]
fn said(
    error: &CompileError,
    arch: ArchId,
    program: &ir::Program<'_, '_>,
    out: &mut AnswerBuffer<'_>,
) -> LbError {
    let told = LbError::of_compile(*error, program);
    // A breach of the contract says its place itself.
    if told.line > 0 && told.code != CallStatus::Contract as u32 {
        let _ = sentence!(out, "line ~, column ~: ", told.line, told.column);
    }
    let _ = error.write_named(&TABLES, arch, program, out);
    told
}
