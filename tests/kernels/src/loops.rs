//! Functions of parallel loops: their layouts, in memory that grows with them.

use lanebook::TABLES;
use lanebook::infer::Level;
use lanebook::ir::{Op, Program, attr_names};
use lanebook::loops::{Told, fuse_loops, reduce_in_fragments, tell};
use lanebook::tables::ArchId;
use lanebook_report::infer::{Request, read_through_memory};
use lanebook_report::memory::{LoopMemory, LoopRoom};

/// Room for the functions of tests.
#[must_use]
pub fn memory() -> LoopMemory {
    LoopMemory::sized(LoopRoom { operators: 256, buffers: 64, values: 8192, terms: 1 << 17 })
}

/// A function of parallel loops with the layouts that inference finds; its loops that may read
/// through shared memory do so where they must.
///
/// # Errors
/// What cannot be told, or why there are no layouts, in Debug form.
pub fn inferred<'m>(
    memory: &'m mut LoopMemory,
    program: &mut Program<'_, '_>,
    function: Op,
    arch: ArchId,
) -> Result<Told<'m>, String> {
    let arch = TABLES.arch(arch).ok_or("unknown architecture")?;
    let policy = TABLES.policies.first().ok_or("no policy")?;
    reduce_in_fragments(program, function).ok_or("no room for fragments")?;
    let _ = fuse_loops(program, function, &TABLES, arch);
    let says = program.inside(function).any(|op| program.has_attr(op, attr_names::EXCHANGE));
    if says {
        let request = Request { arch, level: Level::Free, policy };
        read_through_memory(&TABLES, program, function, request)
            .map_err(|error| format!("Told({error:?})"))?;
    }
    let mut told = tell(program, function, &TABLES, arch, memory.parts())
        .map_err(|error| format!("Told({error:?})"))?;
    told.inference.run(policy, &mut ()).map_err(|stop| format!("Stop({stop:?})"))?;
    Ok(told)
}
