//! Collects the measurements of a run; both machines report to it.

use crate::bank::BankModel;
use crate::memory::Memory;
use crate::report::{Access, InstructionCount, MatrixEvent, Report, SharedSite, Space};

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
    pub shared: crate::shared::Shared,
    pub recorder: &'a mut Recorder<'b>,
    pub block: [u32; 3],
}
