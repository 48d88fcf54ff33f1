//! Every public entry point of lanebook as a C function that takes run-time inputs.
//!
//! The wrappers are written by `entries.py` from rustdoc's list of the public API, so none can be
//! forgotten; what cannot be wrapped mechanically is in [`by_hand`]. Linked with `--gc-sections`,
//! this library must leave no panic behind: the panic handler calls a symbol that nobody defines.
//! See `panic_free.sh` and `stackbound.py`.
#![cfg(any(feature = "algebra", feature = "broken"))]
#![no_std]

use core::fmt::{Arguments, Error, Result, Write};

#[cfg(feature = "engine")]
mod by_hand;

unsafe extern "C" {
    fn LANEBOOK_PANIC_REACHABLE() -> !;
    /// The embedder's text sink; the stack bound gives it a stated budget.
    fn lanebook_proof_sink(text: *const u8, bytes: usize) -> bool;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: never linked: a program in which this call remains has no such symbol.
    unsafe { LANEBOOK_PANIC_REACHABLE() }
}

/// Named by the unwind tables of the toolchain's ready-made 128-bit division; nothing unwinds, so
/// nothing calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// A text sink outside this program.
pub struct Sink;

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> Result {
        // SAFETY: address and length of a string that outlives the call.
        if unsafe { lanebook_proof_sink(text.as_ptr(), text.len()) } { Ok(()) } else { Err(Error) }
    }
    fn write_fmt(&mut self, _: Arguments<'_>) -> Result {
        Err(Error)
    }
}

/// One entry point: a C function under the path of what it calls.
macro_rules! entry {
    ($name:literal, ($($arg:ident: $ty:ty),* $(,)?) $call:expr) => {
        const _: () = {
            #[unsafe(export_name = $name)]
            #[allow(improper_ctypes_definitions, clippy::too_many_arguments)]
            pub extern "C" fn entry($($arg: $ty),*) {
                let _ = core::hint::black_box($call);
            }
        };
    };
}

/// What a closure of the embedder answers: nobody knows.
#[inline(always)]
pub fn any<T>() -> T {
    // SAFETY: linked and measured, never run; the optimiser must take every value for possible.
    unsafe { core::hint::black_box(core::mem::MaybeUninit::uninit()).assume_init() }
}

/// Runs an iterator to its end.
#[inline(always)]
pub fn drain(items: impl Iterator) {
    for item in items {
        core::hint::black_box(&item);
    }
}

#[cfg(feature = "broken")]
entry!("broken", (at: usize) [1u8, 2, 3][at]);

#[cfg(feature = "algebra")]
#[allow(improper_ctypes_definitions, unused_braces, unused_parens, clippy::all)]
mod entries {
    include!(env!("LANEBOOK_ENTRIES"));
}
