//! Collects the measurements of a run; both machines report to it.

use crate::atomic::Atomic;
use crate::bank::BankModel;
use crate::fault::Clash;
use crate::global::{By, Global};
use crate::memory::Memory;
use crate::report::{Access, InstructionCount, MatrixEvent, Report, SharedSite, Space};
use crate::shared::Shared;
use crate::tags::Tag;

pub(crate) struct Recorder<'a> {
    pub report: Report,
    pub banks: &'a BankModel,
    pub keep_accesses: bool,
    pub keep_matrix: bool,
    /// Executions by statement (warps, lanes), folded into the report at the end.
    pub counts: Vec<(u64, u64)>,
}

/// What the recorder needs to know of the place of an access.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub line: u32,
    pub block: [u32; 3],
    pub warp: u32,
}

impl<'a> Recorder<'a> {
    pub fn new(
        banks: &'a BankModel,
        statements: usize,
        keep_accesses: bool,
        keep_matrix: bool,
    ) -> Self {
        Recorder {
            report: Report::default(),
            banks,
            keep_accesses,
            keep_matrix,
            counts: vec![(0, 0); statements],
        }
    }

    pub fn count(&mut self, statement: usize, lanes: u32) {
        let entry = &mut self.counts[statement];
        entry.0 += 1;
        entry.1 += u64::from(lanes);
    }

    pub fn access(
        &mut self,
        site: Site,
        space: Space,
        is_write: bool,
        bytes: u32,
        addresses: Vec<(u32, u64)>,
    ) {
        if self.keep_accesses {
            let Site { line, block, warp } = site;
            self.report.accesses.push(Access {
                line,
                block,
                warp,
                space,
                is_write,
                bytes,
                addresses,
            });
        }
    }

    /// Counts transactions of `accesses` = (lane, address, bytes) by the first rule named.
    pub fn transactions(&mut self, line: u32, names: &[&str], accesses: &[(u32, u64, u32)]) {
        if accesses.is_empty() {
            return;
        }
        let entry: &mut SharedSite = self.report.sites.entry(line).or_default();
        match self.banks.rule(names) {
            Some(rule) => {
                let cost = rule.cost(accesses);
                entry.executions += 1;
                entry.transactions += cost.transactions;
                entry.least += cost.least;
            }
            None => entry.not_modelled += 1,
        }
    }

    pub fn matrix(&mut self, event: MatrixEvent) {
        if self.keep_matrix {
            self.report.matrix.push(event);
        }
    }

    pub fn finish(mut self, mnemonics: Vec<(u32, String)>) -> Report {
        let counted = mnemonics.into_iter().zip(self.counts);
        let counts = counted.map(|((line, mnemonic), (warps, lanes))| InstructionCount {
            line,
            mnemonic,
            warps,
            lanes,
        });
        self.report.instructions = counts.collect();
        self.report
    }
}

/// The memories and the recorder, borrowed together by an executing warp.
pub(crate) struct World<'a, 'b> {
    pub memory: &'a mut Memory,
    pub shared: Shared,
    pub global: Global,
    pub recorder: &'a mut Recorder<'b>,
    pub block: [u32; 3],
    /// Number of the warp's step that runs.
    pub step: u64,
}

impl World<'_, '_> {
    fn by(&self, thread: u32, line: u32) -> By {
        By { thread, line, step: self.step }
    }

    /// A thread reads global memory.
    pub fn load(
        &mut self,
        (thread, line): (u32, u32),
        address: u64,
        data: &mut [u8],
        tags: &mut [Tag],
    ) -> Result<(), Clash> {
        self.memory.read(address, data, tags).map_err(|c| c.by(thread))?;
        self.global.read(&self.shared, self.by(thread, line), address, data.len() as u64)
    }

    /// A copy that is waited for later reads global memory.
    pub fn load_for_copy(
        &mut self,
        (thread, line): (u32, u32),
        copy: u32,
        (address, len): (u64, u64),
    ) -> Result<(), Clash> {
        self.global.begin(&self.shared, copy, self.by(thread, line), address, len)
    }

    /// A unit reads global memory for a thread, with a copy that completes on a barrier.
    pub fn load_by_unit(
        &mut self,
        (thread, line): (u32, u32),
        (barrier, address): (u64, u64),
        data: &mut [u8],
        tags: &mut [Tag],
    ) -> Result<(), Clash> {
        self.memory.read(address, data, tags).map_err(|c| c.by(thread))?;
        let span = (address, data.len() as u64);
        self.global.read_by_unit(&self.shared, self.by(thread, line), barrier, span)
    }

    /// A thread, or a unit for it, writes global memory; who waits for a unit records it elsewhere.
    pub fn store(
        &mut self,
        (thread, line): (u32, u32),
        address: u64,
        data: &[u8],
        by_unit: bool,
    ) -> Result<(), Clash> {
        self.memory.check(address, data.len()).map_err(|c| c.by(thread))?;
        let by = self.by(thread, line);
        self.global.write(&self.shared, self.memory, by, (address, data, !by_unit, None))?;
        self.memory.write(address, data)
    }

    /// A thread combines a word of global memory with another one, if it compares with one that is
    /// compared; what stood there before.
    pub fn atomic(
        &mut self,
        (thread, line): (u32, u32),
        address: u64,
        (moved, compared): (u64, Option<u64>),
        how: Atomic,
    ) -> Result<u64, Clash> {
        let bytes = how.bytes() as usize;
        let (mut old, mut tags) = ([0; 8], [0; 4]);
        let (given, given_tags) = (&mut old[..bytes], &mut tags[..bytes / 2]);
        self.memory.read(address, given, given_tags).map_err(|c| c.by(thread))?;
        let old = u64::from_le_bytes(old);
        let new = how.of(old, moved, compared).to_le_bytes();
        let (new, by) = (&new[..bytes], self.by(thread, line));
        self.global.write(&self.shared, self.memory, by, (address, new, true, Some(how.op)))?;
        self.memory.write(address, new)?;
        Ok(old)
    }
}
