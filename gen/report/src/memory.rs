//! What inference borrows, taken from the host's heap; the library itself allocates nothing.
use lanebook::infer::{
    Access, ArenaParts, BaseEntry, Buffer, DigitTerm, FragmentForm, InferenceParts, Operator,
};
use lanebook::ir::{Op, Value};
use lanebook::loops::{Fact, LoopParts};

/// How large a function may be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LoopRoom {
    /// Loops and tile operations.
    pub operators: usize,
    /// Buffers.
    pub buffers: usize,
    /// Values of the program.
    pub values: usize,
    /// Distinct terms of index expressions.
    pub terms: usize,
}

impl Default for LoopRoom {
    /// Room for every program that is likely to be written by hand or printed by a compiler.
    fn default() -> Self {
        Self { operators: 4096, buffers: 1024, values: 16_384, terms: 1 << 20 }
    }
}

/// Memory for the inference of one function; every function may use it after the one before.
///
/// ```
/// use lanebook_report::memory::{LoopMemory, LoopRoom};
///
/// let mut memory = LoopMemory::sized(LoopRoom { operators: 64, ..LoopRoom::default() });
/// assert_eq!(memory.parts().inference.operators.len(), 64);
/// ```
pub struct LoopMemory {
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

impl Default for LoopMemory {
    fn default() -> Self {
        Self::sized(LoopRoom::default())
    }
}

impl LoopMemory {
    /// Memory for functions up to a size.
    #[must_use]
    pub fn sized(room: LoopRoom) -> Self {
        let LoopRoom { operators, buffers, values, terms } = room;
        Self {
            bases: vec![BaseEntry::default(); 65_535],
            terms: vec![DigitTerm::default(); terms],
            buckets: vec![0; (16 * operators).next_power_of_two().clamp(1024, 1 << 15)],
            buffers: vec![Buffer::default(); buffers],
            operators: vec![Operator::default(); operators],
            accesses: vec![Access::default(); 8 * operators],
            layouts: vec![None; 4 * (buffers + operators)],
            queue: vec![0; operators],
            points: vec![0; 1 << 15],
            values: vec![Fact::default(); values],
            ops: vec![None; operators],
            names: vec![None; buffers],
        }
    }

    /// What [`lanebook::loops::tell`] borrows; its `inference` is what inference alone does.
    pub fn parts(&mut self) -> LoopParts<'_> {
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
