//! Executes emitted kernel text on the CPU, all threads of a block, and judges it.
//!
//! This crate is the project's independent truth: it shares no code and no table with the engine.
//! It reads PTX (sm_80 to sm_120a, as far as the kernels use it) and AMDGCN assembler text (gfx908
//! to gfx1251), runs every lane, and answers with a [`Report`] or with the first [`Fault`]:
//!
//! - values: registers, shared and global memory, matrix instructions in full;
//! - order: every byte of shared and of global memory knows who wrote and read it last, see
//!   `shared.rs` and `global.rs`;
//! - asynchrony: copies and loads that were not waited for are faults, as are missing wait states;
//! - measures: instruction counts, exact bank conflicts, every address, and for every element of a
//!   matrix operand the buffer, row and column it came from.
//!
//! Nothing is skipped: a statement that is not understood is a [`ParseFault`].
//!
//! Not modelled: time; races between blocks (but every buffer counts how often each byte was
//! written, [`Memory::write_counts`]); uninitialised global memory; clusters, stores
//! through tensor maps, tcgen05; DPP, SDWA, packed and transcendental arithmetic, atomics; 8-bit
//! and smaller tags (a tag stands for 16 bits); the order of additions within a matrix instruction
//! (sums are exact, then rounded once, so tests should use small integers).
//!
//! ```
//! use lanebook_replay::{Kernel, Launch, Memory, Param, run};
//! let text = "
//!     .version 7.0
//!     .target sm_80
//!     .address_size 64
//!     .visible .entry twice(.param .u64 p) {
//!       .reg .b64 %a<3>; .reg .b32 %r<3>;
//!       ld.param.u64 %a0, [p];
//!       mov.u32 %r0, %tid.x;
//!       mul.wide.u32 %a1, %r0, 4;
//!       add.s64 %a2, %a0, %a1;
//!       ld.global.b32 %r1, [%a2];
//!       add.u32 %r2, %r1, %r1;
//!       st.global.b32 [%a2], %r2;
//!       ret;
//!     }";
//! let kernel = Kernel::parse_ptx(text).unwrap();
//! let mut memory = Memory::new();
//! let p = memory.add_u32("p", &[1, 2, 3, 4]);
//! let report = run(&kernel, &Launch::new(4, vec![Param::Buffer(p)]), &mut memory).unwrap();
//! assert_eq!(memory.u32s(p), [2, 4, 6, 8]);
//! assert_eq!(report.executed("add.u32"), 1);
//! ```

pub mod bank;
pub mod fault;
pub mod json;
pub mod launch;
pub mod memory;
pub mod number;
pub mod report;
pub mod tags;
pub mod tensor;

mod amd;
mod atomic;
mod global;
mod ptx;
mod recorder;
mod shared;

use std::collections::BTreeMap;

pub use bank::{BankCost, BankModel, BankRule};
pub use fault::{Fault, FaultKind, ParseFault};
pub use launch::{Launch, Param};
pub use memory::{BufferId, MatrixShape, Memory, Origin};
pub use report::{Access, InstructionCount, MatrixEvent, Report, SharedSite, Space};
pub use tensor::TensorMap;

enum Body {
    Ptx(ptx::Program),
    Amd(amd::Program),
}

/// A kernel that was understood completely.
pub struct Kernel {
    body: Body,
    lines: Vec<String>,
}

impl Kernel {
    /// Reads a PTX module with one entry.
    pub fn parse_ptx(text: &str) -> Result<Kernel, ParseFault> {
        Ok(Kernel {
            body: Body::Ptx(ptx::parse(text)?),
            lines: text.lines().map(str::to_string).collect(),
        })
    }

    /// Reads AMDGCN assembler text with one kernel.
    pub fn parse_amdgcn(text: &str) -> Result<Kernel, ParseFault> {
        Ok(Kernel {
            body: Body::Amd(amd::parse(text)?),
            lines: text.lines().map(str::to_string).collect(),
        })
    }

    /// The entry's name.
    pub fn name(&self) -> &str {
        match &self.body {
            Body::Ptx(p) => &p.name,
            Body::Amd(p) => &p.name,
        }
    }

    /// How many threads a block has, where the text says that exactly.
    pub fn block_threads(&self) -> Option<u32> {
        match &self.body {
            Body::Ptx(p) => p.block_threads(),
            Body::Amd(_) => None,
        }
    }

    /// Bytes of shared memory that the text declares.
    pub fn shared_bytes(&self) -> u32 {
        match &self.body {
            Body::Ptx(p) => p.shared_bytes,
            Body::Amd(p) => p.header.lds_bytes,
        }
    }

    /// (line, mnemonic) of every instruction.
    pub fn instructions(&self) -> Vec<(u32, String)> {
        match &self.body {
            Body::Ptx(p) => p.code.iter().map(|s| (s.line, s.mnemonic.clone())).collect(),
            Body::Amd(p) => p.code.iter().map(|s| (s.line, s.mnemonic.clone())).collect(),
        }
    }

    /// How often each mnemonic stands in the text.
    pub fn static_counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (_, mnemonic) in self.instructions() {
            *counts.entry(mnemonic).or_insert(0) += 1;
        }
        counts
    }

    /// Lines of the instructions whose mnemonic starts with `prefix`.
    pub fn lines_of(&self, prefix: &str) -> Vec<u32> {
        self.instructions()
            .into_iter()
            .filter(|(_, m)| m.starts_with(prefix))
            .map(|(line, _)| line)
            .collect()
    }

    /// Text of a line, from 1.
    pub fn line(&self, line: u32) -> &str {
        (line as usize).checked_sub(1).and_then(|i| self.lines.get(i)).map_or("", String::as_str)
    }
}

/// Runs a kernel; the first fault ends the run.
pub fn run(kernel: &Kernel, launch: &Launch, memory: &mut Memory) -> Result<Report, Fault> {
    launch.check().map_err(|c| c.place(0, "", [0; 3]))?;
    let instructions = kernel.instructions();
    let mut recorder = recorder::Recorder::new(
        &launch.banks,
        instructions.len(),
        launch.record_accesses,
        launch.record_matrix,
    );
    let params = launch.pack(memory);
    for block in launch.blocks() {
        let outcome = match &kernel.body {
            Body::Ptx(p) => ptx::run_block(p, launch, &params, block, memory, &mut recorder),
            Body::Amd(p) => amd::run_block(p, launch, &params, block, memory, &mut recorder),
        };
        outcome.map_err(|(line, clash)| clash.place(line, kernel.line(line), block))?;
    }
    Ok(recorder.finish(instructions))
}
