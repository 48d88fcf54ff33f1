//! Wait states that software owes: distances between instructions which gfx90a, gfx942 and gfx950 do
//! not interlock.
//!
//! Distance = wait states strictly between the two: one for each instruction, N + 1 for `s_nop N`.
//! Numbers: LLVM `GCNHazardRecognizer.cpp` (llvm/llvm-project: `checkMAIHazards90A`,
//! `checkMAIVALUHazards`, `checkVALUHazards`, `checkVMEMHazards`, `checkReadM0Hazards`, gfx950 changes
//! in pull requests 117263, 117285, 117287, 126132), compared with `llc-22` output. `P` = passes:
//!
//! | first | then | gfx90a | gfx942 | gfx950 |
//! | --- | --- | --- | --- | --- |
//! | MFMA writes | VALU, VMEM, DS or MFMA A/B reads; VALU or load writes | P+3 | P+3 | P+4 (2 passes: 5) |
//! | MFMA writes | MFMA reads as C, other tuple or other instruction | P | P+1 | P+2 |
//! | MFMA writes | same MFMA reads the same tuple as C | 0 | 0 (2 passes: 2) | 0 (2 passes: 2) |
//! | MFMA reads as C | VALU or load writes | P-1 | P-1 | P-1 |
//! | VALU writes VGPR | MFMA reads | 2 | 2 | 2 |
//! | VALU writes VGPR | `v_readlane`, `v_readfirstlane` reads | - | 1 | 1 |
//! | VALU writes VGPR | VALU with DPP reads | 2 | 2 | 2 |
//! | VALU writes VGPR | `v_permlane*_swap` reads | - | - | 2 |
//! | VALU writes SGPR | VMEM reads | 5 | 5 | 5 |
//! | VALU writes SGPR (VCC) | VALU reads | - | 2 | 2 |
//! | VALU writes SGPR | lane select reads | 4 | 4 | 4 |
//! | SALU writes M0 | load to LDS | 1 | 1 | 1 |
//! | VMEM stores more than 64 bits | VALU writes the data | 1 | 2 | 2 |
//!
//! "Other instruction" in row 2 is stricter than LLVM 22: pull request 218363 (open) says that
//! forwarding the accumulator only works between equal instructions.
//!
//! RDNA's hardware waits by itself, but for a matrix instruction's result as A or B of the next one (llc-22: one `v_nop` between).
//!
//! Not modelled: what gfx908 owes (LLVM's list for it is another one), and transcendental, SDWA, f64 and exec hazards (no such instruction is executed).

use super::op::{EXEC, Gfx, Mfma, Src};
use crate::fault::{Clash, FaultKind};

/// Clock after the instruction, 0 = never.
type After = u32;

#[derive(Clone, Copy, Default)]
struct Vector {
    mfma: After,
    passes: u32,
    id: u32,
    tuple: (u16, u16),
    as_c: After,
    as_c_passes: u32,
    valu: After,
    wide_store: After,
    wmma: After,
}

/// The history of one wave.
pub(super) struct Hazards {
    gfx: Gfx,
    clock: u32,
    vector: Vec<Vector>,
    scalar: [After; 128],
    m0: After,
}

/// Who uses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    Valu,
    Readlane,
    Dpp,
    Swap,
    Memory,
}

impl Hazards {
    pub fn new(gfx: Gfx) -> Self {
        Hazards { gfx, clock: 1000, vector: vec![Vector::default(); 512], scalar: [0; 128], m0: 0 }
    }

    /// An instruction has been issued.
    pub fn advance(&mut self, states: u32) {
        self.clock += states;
    }

    fn owe(&self, after: After, need: u32, what: impl Fn() -> String) -> Result<(), Clash> {
        let between = self.clock - after;
        if self.gfx.is_rdna() || self.gfx == Gfx::Gfx908 || after == 0 || between >= need {
            return Ok(());
        }
        let sentence = format!("{}: {need} wait states are needed, there are {between}", what());
        Err(Clash::new(FaultKind::MissingWaitStates, sentence))
    }

    fn mfma_distance(&self, passes: u32) -> u32 {
        passes + 3 + u32::from(self.gfx == Gfx::Gfx950 && passes != 2)
    }

    /// A matrix instruction of RDNA reads a register as A or B.
    pub fn reads_after_wmma(&self, register: u16) -> Result<(), Clash> {
        let after = self.vector[register as usize].wmma;
        if after == 0 || self.clock > after {
            return Ok(());
        }
        let sentence = format!("{} is the result of the matrix instruction just before", super::wave::name(register));
        Err(Clash::new(FaultKind::MissingWaitStates, sentence))
    }

    /// Notes a result of a matrix instruction of RDNA; call after [`Hazards::advance`].
    pub fn did_wmma(&mut self, register: u16) {
        self.vector[register as usize] = Vector { wmma: self.clock, ..Vector::default() };
    }

    /// A vector instruction, load or store reads a vector register.
    pub fn reads(&self, register: u16, user: User) -> Result<(), Clash> {
        let v = self.vector[register as usize];
        let name = || super::wave::name(register);
        self.owe(v.mfma, self.mfma_distance(v.passes), || format!("{} is the result of a matrix instruction", name()))?;
        if user == User::Readlane && self.gfx >= Gfx::Gfx942 {
            self.owe(v.valu, 1, || format!("{} was just written and its lane is read", name()))?;
        }
        if user == User::Dpp {
            self.owe(v.valu, 2, || format!("{} was just written and another lane reads it", name()))?;
        }
        if user == User::Swap {
            self.owe(v.valu, 2, || format!("{} was just written and its lanes are swapped", name()))?;
        }
        Ok(())
    }

    /// A vector instruction or load writes a vector register.
    pub fn writes(&mut self, register: u16, user: User) -> Result<(), Clash> {
        let v = self.vector[register as usize];
        let name = || super::wave::name(register);
        self.owe(v.mfma, self.mfma_distance(v.passes), || format!("{} is still written by a matrix instruction", name()))?;
        self.owe(v.as_c, v.as_c_passes - u32::from(v.as_c_passes > 0), || format!("{} is still read as C by a matrix instruction", name()))?;
        if user != User::Memory {
            let need = if self.gfx >= Gfx::Gfx942 { 2 } else { 1 };
            self.owe(v.wide_store, need, || format!("{} is still read by a store of more than 64 bits", name()))?;
        }
        Ok(())
    }

    /// Notes a write; call after [`Hazards::advance`].
    pub fn wrote(&mut self, register: u16, user: User) {
        let after = if user == User::Memory { 0 } else { self.clock };
        self.vector[register as usize] = Vector { valu: after, ..Vector::default() };
    }

    /// Notes the data of a store of more than 64 bits; call after [`Hazards::advance`].
    pub fn stored_wide(&mut self, register: u16) {
        self.vector[register as usize].wide_store = self.clock;
    }

    /// A vector instruction reads a scalar register; `select` as a lane number.
    pub fn reads_scalar(&self, register: u8, select: bool) -> Result<(), Clash> {
        if register >= EXEC {
            return Ok(());
        }
        let what = || format!("{} was written by a vector instruction", super::wave::scalar_name(register));
        if select {
            self.owe(self.scalar[register as usize], 4, what)?;
        }
        if self.gfx >= Gfx::Gfx942 { self.owe(self.scalar[register as usize], 2, what) } else { Ok(()) }
    }

    /// A vector memory instruction reads a scalar register.
    pub fn memory_reads_scalar(&self, register: u8) -> Result<(), Clash> {
        let what = || format!("{} was written by a vector instruction and is read by a memory instruction", super::wave::scalar_name(register));
        self.owe(self.scalar[register as usize], 5, what)
    }

    /// A load to LDS reads M0.
    pub fn reads_m0(&self) -> Result<(), Clash> {
        self.owe(self.m0, 1, || "m0 was just written and a load to LDS reads it".to_string())?;
        self.memory_reads_scalar(super::op::M0)
    }

    /// Notes a scalar register written by a vector instruction, or by a scalar one.
    pub fn wrote_scalar(&mut self, register: u8, by_vector: bool) {
        self.scalar[register as usize] = if by_vector { self.clock } else { 0 };
        if register == super::op::M0 && !by_vector {
            self.m0 = self.clock;
        }
    }

    /// A matrix instruction is about to read and write.
    pub fn matrix(&self, mfma: &Mfma) -> Result<(), Clash> {
        let n = mfma.source_regs();
        for register in (mfma.a..mfma.a + n).chain(mfma.b..mfma.b + n) {
            let v = self.vector[register as usize];
            let name = || super::wave::name(register);
            self.owe(v.valu, 2, || format!("{} was just written by a vector instruction", name()))?;
            self.owe(v.mfma, self.mfma_distance(v.passes), || format!("{} is the result of a matrix instruction, read as A or B", name()))?;
        }
        let Src::V(c) = mfma.c else { return Ok(()) };
        let n = mfma.result_regs();
        for register in c..c + n {
            let v = self.vector[register as usize];
            let name = || super::wave::name(register);
            self.owe(v.valu, 2, || format!("{} was just written by a vector instruction", name()))?;
            let need = if v.tuple == (c, n) && v.id == mfma.id {
                if v.passes == 2 && self.gfx >= Gfx::Gfx942 { 2 } else { 0 }
            } else {
                v.passes + self.gfx.cdna().unwrap_or(0) as u32
            };
            self.owe(v.mfma, need, || format!("{} is the result of another matrix instruction, read as C", name()))?;
        }
        Ok(())
    }

    /// Notes a matrix instruction; call after [`Hazards::advance`].
    pub fn did_matrix(&mut self, mfma: &Mfma) {
        let n = mfma.result_regs();
        if let Src::V(c) = mfma.c {
            for register in c..c + n {
                let v = &mut self.vector[register as usize];
                (v.as_c, v.as_c_passes) = (self.clock, mfma.passes);
            }
        }
        for register in mfma.d..mfma.d + n {
            let v = &mut self.vector[register as usize];
            (v.mfma, v.passes, v.id, v.tuple, v.valu) = (self.clock, mfma.passes, mfma.id, (mfma.d, n), 0);
        }
    }
}
