//! Functions of parallel loops: their layouts, in memory that grows with them.

use lanebook::TABLES;
use lanebook::infer::{
    Access, ArenaParts, BaseEntry, Buffer, DigitTerm, FragmentForm, InferenceParts, Operator,
};
use lanebook::ir::{Op, Program, Value};
use lanebook::loops::{Fact, LoopParts, Told, tell};
use lanebook::tables::ArchId;

/// Values of a program.
const VALUES: usize = 8192;
/// Buffers of a function.
const BUFFERS: usize = 64;
/// Operators of a function.
const OPERATORS: usize = 256;

/// Room for inference.
pub struct Memory {
    bases: Vec<BaseEntry>,
    terms: Vec<DigitTerm>,
    buckets: Vec<u16>,
    buffers: Vec<Buffer>,
    operators: Vec<Operator>,
    accesses: Vec<Access>,
    layouts: Vec<Option<FragmentForm>>,
    queue: Vec<u16>,
    points: Vec<u64>,
    values: Vec<Fact>,
    ops: Vec<Option<Op>>,
    names: Vec<Option<Value>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            bases: vec![BaseEntry::default(); 32_768],
            terms: vec![DigitTerm::default(); 1 << 17],
            buckets: vec![0; 1024],
            buffers: vec![Buffer::default(); BUFFERS],
            operators: vec![Operator::default(); OPERATORS],
            accesses: vec![Access::default(); 4 * OPERATORS],
            layouts: vec![None; 4 * (BUFFERS + OPERATORS)],
            queue: vec![0; OPERATORS],
            points: vec![0; 1 << 15],
            values: vec![Fact::default(); VALUES],
            ops: vec![None; OPERATORS],
            names: vec![None; BUFFERS],
        }
    }
}

impl Memory {
    fn parts(&mut self) -> LoopParts<'_> {
        LoopParts {
            inference: InferenceParts {
                arena: ArenaParts {
                    bases: &mut self.bases,
                    terms: &mut self.terms,
                    buckets: &mut self.buckets,
                },
                buffers: &mut self.buffers,
                operators: &mut self.operators,
                accesses: &mut self.accesses,
                layouts: &mut self.layouts,
                queue: &mut self.queue,
                points: &mut self.points,
            },
            values: &mut self.values,
            operators: &mut self.ops,
            buffers: &mut self.names,
        }
    }
}

/// A function of parallel loops with the layouts that inference finds.
///
/// # Errors
/// What cannot be told, or why there are no layouts, in Debug form.
pub fn inferred<'m>(
    memory: &'m mut Memory,
    program: &Program<'_, '_>,
    function: Op,
    arch: ArchId,
) -> Result<Told<'m>, String> {
    let arch = TABLES.arch(arch).ok_or("unknown architecture")?;
    let policy = TABLES.policies.first().ok_or("no policy")?;
    let mut told = tell(program, function, &TABLES, arch, memory.parts())
        .map_err(|error| format!("Told({error:?})"))?;
    told.inference.run(policy, &mut ()).map_err(|stop| format!("Stop({stop:?})"))?;
    Ok(told)
}
