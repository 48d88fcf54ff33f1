//! Compiles the GEMM example for an architecture of each vendor on a Cortex-M4F.
//!
//! Prints one line an architecture: name, bytes of text, FNV-1a of the text; `run.sh` compares them
//! with what the command writes on the host. The exit status goes through semihosting: 0 = done,
//! 1 = an error or a panic.
#![no_std]
#![no_main]

mod board;

use core::fmt::{Result, Write};
use lanebook::TABLES;
use lanebook::compile::{KernelStorage, compile};
use lanebook::ir::{self, Options};

const PROGRAM: &str = include_str!("../../../gen/cli/examples/gemm.tile");
const ARCHS: [&str; 2] = ["sm_80", "gfx950"];

/// A sink that keeps the length and the hash of what it is given.
struct Hash {
    bytes: u32,
    fnv: u64,
}

impl Write for Hash {
    fn write_str(&mut self, text: &str) -> Result {
        for byte in text.bytes() {
            self.fnv = (self.fnv ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            self.bytes = self.bytes.wrapping_add(1);
        }
        Ok(())
    }
}

/// Compiles for one architecture; the error is the step that failed.
fn compiled(name: &str, room: &mut ir::SmallStorage, kernel: &mut KernelStorage) -> core::result::Result<Hash, &'static str> {
    let arch = TABLES.arch_named(name).ok_or("no such architecture")?;
    let mut program = ir::parse(room.pools(), &TABLES, PROGRAM, Options::default()).map_err(|_| "parse")?;
    ir::verify(&mut program).map_err(|_| "verify")?;
    let compiled = compile(&TABLES, arch, &mut program, kernel.scratch()).map_err(|_| "compile")?;
    let mut hash = Hash { bytes: 0, fnv: 0xcbf2_9ce4_8422_2325 };
    compiled.write(&TABLES, &program, &mut hash).map_err(|_| "write")?;
    Ok(hash)
}
