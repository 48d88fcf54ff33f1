//! One entry point that compiles a program, for its size.
//!
//! Without features the program is in memory already (the caller built it), and is planned and
//! emitted; with `emit` its plan is there too; with `whole` the entry point reads the text, checks
//! it, runs the passes and prints it as well. All storage is the caller's.
#![no_std]

use core::fmt::{Arguments, Error, Result, Write};
#[cfg(feature = "emit")]
use lanebook::EMISSION;
#[cfg(not(feature = "emit"))]
use lanebook::LEAN;
use lanebook::ir::Program;
#[cfg(not(feature = "emit"))]
use lanebook::compile::{Scratch, compile};

unsafe extern "C" {
    /// The embedder's text sink.
    fn lanebook_image_sink(text: *const u8, bytes: usize) -> bool;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Named by the unwind tables of the toolchain's ready-made functions; nothing unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

struct Sink;

impl Write for Sink {
    fn write_str(&mut self, text: &str) -> Result {
        // SAFETY: address and length of a string that outlives the call.
        if unsafe { lanebook_image_sink(text.as_ptr(), text.len()) } { Ok(()) } else { Err(Error) }
    }
    fn write_fmt(&mut self, _: Arguments<'_>) -> Result {
        Err(Error)
    }
}

#[cfg(not(feature = "emit"))]
fn emit(program: &mut Program<'_, '_>, arch: u16, scratch: Scratch<'_>) -> bool {
    match compile(&LEAN, lanebook::tables::ArchId(arch), program, scratch) {
        Ok(compiled) => compiled.write(&LEAN, program, &mut Sink).is_ok(),
        Err(_) => false,
    }
}

/// Emits what was planned before.
#[cfg(feature = "emit")]
#[unsafe(no_mangle)]
#[allow(improper_ctypes_definitions)]
pub extern "C" fn image(program: &Program<'_, '_>, planned: lanebook::compile::Planned<'_>) -> bool {
    match planned.emit(&EMISSION, program) {
        Ok(compiled) => compiled.write(&EMISSION, program, &mut Sink).is_ok(),
        Err(_) => false,
    }
}

/// Chooses and emits.
#[cfg(not(any(feature = "whole", feature = "emit")))]
#[unsafe(no_mangle)]
#[allow(improper_ctypes_definitions)]
pub extern "C" fn image(program: &mut Program<'_, '_>, arch: u16, scratch: Scratch<'_>) -> bool {
    emit(program, arch, scratch)
}

/// Reads, checks, rewrites, prints, chooses and emits.
#[cfg(feature = "whole")]
#[unsafe(no_mangle)]
#[allow(improper_ctypes_definitions)]
pub extern "C" fn image(pools: lanebook::ir::Pools<'static>, text: &'static str, arch: u16, work: &mut heapless::VecView<lanebook::ir::Node>, scratch: Scratch<'_>) -> bool {
    use lanebook::TABLES;
    use lanebook::ir::{Options, Plain, parse, print, verify};
    use lanebook::pipeline::{REMOVE_CONVERSIONS, apply};
    let Ok(mut program) = parse(pools, &TABLES, text, Options::default()) else { return false };
    let mut fuel = 1000;
    verify(&mut program).is_ok()
        && apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work, &mut fuel, |_| ()).is_ok()
        && print(&program, &Plain, &mut Sink).is_ok()
        && emit(&mut program, arch, scratch)
}
