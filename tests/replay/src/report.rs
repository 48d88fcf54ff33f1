//! What a run is measured by: counts, bank conflicts, matrix issues, addresses.

use std::collections::BTreeMap;

use crate::memory::{Memory, Origin};
use crate::tags::Tag;

/// How often an instruction of the text ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstructionCount {
    /// Line of the text.
    pub line: u32,
    /// The mnemonic with its suffixes.
    pub mnemonic: String,
    /// Executions by a warp (or wave).
    pub warps: u64,
    /// Executions by a thread.
    pub lanes: u64,
}

/// Shared-memory transactions of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedSite {
    /// Executions by a warp with a bank rule.
    pub executions: u64,
    /// Transactions used.
    pub transactions: u64,
    /// Transactions needed at least.
    pub least: u64,
    /// Executions for which the model has no rule.
    pub not_modelled: u64,
}

impl SharedSite {
    /// Transactions beyond the least.
    pub fn conflicts(&self) -> u64 {
        self.transactions - self.least
    }
}

/// Which memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory.
    Global,
    /// Shared memory (LDS).
    Shared,
}

/// One executed memory instruction of one warp. An instruction that touches two places (a copy from
/// global to shared memory, `ds_read2`) leaves two records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Line of the text.
    pub line: u32,
    /// The block.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// Which memory.
    pub space: Space,
    /// Written or read.
    pub is_write: bool,
    /// Bytes at each address.
    pub bytes: u32,
    /// (thread in the block, address as the instruction sees it).
    pub addresses: Vec<(u32, u64)>,
}

/// One executed matrix instruction of one warp, with the origin of every element of A and B (but for
/// products into tensor memory, which keep none).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixEvent {
    /// Line of the text.
    pub line: u32,
    /// The block.
    pub block: [u32; 3],
    /// The warp in its block.
    pub warp: u32,
    /// M, N, K.
    pub shape: [u32; 3],
    /// Bits of an element of A and B.
    pub element_bits: u32,
    /// Tags of A, lane by lane, one for each element in register order.
    pub a: Vec<Tag>,
    /// Tags of B, likewise.
    pub b: Vec<Tag>,
    /// Lanes of the warp.
    pub lanes: u32,
    /// Groups of copies (`cp.async`) that its first lane has closed, that bring something, and that
    /// it has not waited for, and barriers in shared memory that copies of boxes will complete on.
    /// Other copies are not counted.
    pub groups_in_flight: u32,
    /// Copies to shared memory and loads of registers from global memory (AMD) that its wave has begun
    /// and not waited for.
    pub copies_in_flight: u32,
}

impl MatrixEvent {
    /// Elements of A that a lane holds.
    pub fn a_per_lane(&self) -> usize {
        self.a.len() / self.lanes as usize
    }

    /// Elements of B that a lane holds.
    pub fn b_per_lane(&self) -> usize {
        self.b.len() / self.lanes as usize
    }

    /// Origin of element `i` of lane `lane` of A.
    pub fn a_origin(&self, memory: &Memory, lane: u32, i: usize) -> Option<Origin> {
        memory.origin(self.a[lane as usize * self.a_per_lane() + i])
    }

    /// Origin of element `i` of lane `lane` of B.
    pub fn b_origin(&self, memory: &Memory, lane: u32, i: usize) -> Option<Origin> {
        memory.origin(self.b[lane as usize * self.b_per_lane() + i])
    }
}

/// Everything measured in a run without faults.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// In the order of the text; instructions that never ran are there with zeros.
    pub instructions: Vec<InstructionCount>,
    /// By line, shared-memory accesses only.
    pub sites: BTreeMap<u32, SharedSite>,
    /// In order of execution.
    pub matrix: Vec<MatrixEvent>,
    /// In order of execution.
    pub accesses: Vec<Access>,
    /// Barriers met by whole blocks or parts of them.
    pub barriers: u64,
    /// Address of the first byte of shared memory.
    pub shared_base: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: u32,
    /// Accesses that a range check turned into zeros or dropped: those of buffers by lane, those of
    /// boxes by row.
    pub clamped: u64,
}

impl Report {
    /// Executions (by warps) of each mnemonic.
    pub fn dynamic_counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for count in self.instructions.iter().filter(|c| c.warps > 0) {
            *counts.entry(count.mnemonic.clone()).or_insert(0) += count.warps;
        }
        counts
    }

    /// Executions (by warps) of the mnemonics that start with `prefix`.
    pub fn executed(&self, prefix: &str) -> u64 {
        self.instructions.iter().filter(|c| c.mnemonic.starts_with(prefix)).map(|c| c.warps).sum()
    }

    /// Bank conflicts of all sites.
    pub fn conflicts(&self) -> u64 {
        self.sites.values().map(SharedSite::conflicts).sum()
    }

    /// Addresses that a thread of block (0,0,0) used at a line, in order.
    pub fn addresses(&self, line: u32, space: Space, thread: u32) -> Vec<u64> {
        let here = self
            .accesses
            .iter()
            .filter(|a| a.line == line && a.space == space && a.block == [0; 3]);
        here.flat_map(|a| a.addresses.iter().filter(|(t, _)| *t == thread).map(|(_, at)| *at))
            .collect()
    }
}
