//! What a static library needs where there is no std.
//!
//! The panic handler is never linked into a program that was optimised (`tests/proof` shows it); it
//! is here because the compiler asks for one. It stops.

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

/// Named by the unwind tables of the toolchain's ready-made 128-bit division; nothing unwinds, so
/// nothing calls it.
// SAFETY: no other function of this name is in a program without std.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
