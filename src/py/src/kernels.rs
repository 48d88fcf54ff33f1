//! Tile programs to kernels.

use crate::LanebookError;
use crate::answers::arch_named;
use lanebook::compile::{CompileStorage, compile as compile_program};
use lanebook::detail::of_compile;
use lanebook::{TABLES, ir};
use pyo3::prelude::*;

/// Instructions, register tuples, index-expression nodes and reasons that there is room for.
type KernelRoom = CompileStorage<16384, 4096, 4096, 16384>;
/// A program's operations, values, operands, attributes, types, regions and undo records.
type ProgramRoom = ir::Storage<8192, 12288, 24576, 8192, 1024, 512, 64>;

/// Stack of the thread that compiles: storage of some megabytes is made there.
const STACK_BYTES: usize = 256 << 20;

/// What a kernel's launch needs beside its text.
type KernelParts = (String, String, u32, u32);

/// A kernel: its text, its name, threads of a group and bytes of shared memory.
#[pyfunction]
pub fn compile(py: Python<'_>, text: &str, arch: &str) -> PyResult<KernelParts> {
    let text = text.to_string();
    let id = arch_named(Some(arch))?
        .ok_or_else(|| LanebookError::new_err("an architecture is needed".to_string()))?;
    let made = py.detach(|| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn(move || made(&text, id))
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        worker
            .join()
            .map_err(|_| "the compiler panicked; report this with the program".to_string())?
    });
    made.map_err(LanebookError::new_err)
}

fn made(text: &str, arch: lanebook::tables::ArchId) -> Result<KernelParts, String> {
    let at = |error: ir::IrError| {
        format!("line {}, column {}: {:?}", error.at.line, error.at.column, error.kind)
    };
    let mut storage = Box::new(ProgramRoom::new());
    let mut program =
        ir::parse(storage.pools(), &TABLES, text, ir::Options::default()).map_err(at)?;
    ir::verify(&mut program).map_err(at)?;
    let mut room = Box::new(KernelRoom::new());
    let compiled = compile_program(&TABLES, arch, &mut program, room.scratch())
        .map_err(|error| format!("it is not compiled: {:?}", of_compile(error)))?;
    let mut out = String::new();
    compiled
        .write(&TABLES, &program, &mut out)
        .map_err(|_| "the kernel cannot be written".to_string())?;
    let kernel = compiled
        .kernel(&TABLES, &program)
        .ok_or_else(|| "the plan is of other tables".to_string())?;
    Ok((out, kernel.name.to_string(), kernel.threads, kernel.shared_bytes))
}
