//! Wait states that software owes: distances between instructions which gfx90a, gfx942 and gfx950
//! do not interlock.
//!
//! Distance = wait states strictly between the two: one for each instruction, N + 1 for `s_nop N`.
//! Numbers: LLVM `GCNHazardRecognizer.cpp` (llvm/llvm-project: `checkMAIHazards90A`,
//! `checkMAIVALUHazards`, `checkVALUHazards`, `checkVMEMHazards`, `checkReadM0Hazards`, gfx950
//! changes in pull requests 117263, 117285, 117287, 126132), compared with `llc-22` output. `P` =
//! passes:
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
//! RDNA's hardware waits by itself, but for a matrix instruction's result as A or B of the next one
//! (llc-22: one `v_nop` between).
//!
//! gfx125x: the matrix unit and the transcendental one run beside the vector unit, and only vector
//! instructions count. A result that the next matrix instruction reads as A or B needs 2, 5, 9 or
//! 17 of them between (by form, see `decode_vector.rs`), one less where a vector instruction reads
//! or writes it, or overwrites A or B. Behind a transcendental one the next other vector
//! instruction neither reads its result nor overwrites its source (LLVM:
//! `checkWMMACoexecutionHazards`, `checkTRANSCoexecutionHazards`).
//!
//! Not modelled: what gfx908 owes (LLVM's list for it is another one), and transcendental, SDWA,
//! f64 and exec hazards (no such instruction is executed).

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
    /// gfx125x, by the clock of vector instructions: result or source of a matrix instruction and
    /// how many must follow; of a transcendental one.
    product: After,
    product_apart: u32,
    factor: After,
    factor_apart: u32,
    trans: After,
    trans_source: After,
}

/// The history of one wave.
pub(super) struct Hazards {
    gfx: Gfx,
    clock: u32,
    /// Counts vector instructions.
    vector_clock: u32,
    /// The present one is transcendental.
    is_trans: bool,
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
    /// gfx125x's matrix instructions, whose own distances are asked for elsewhere.
    Wmma,
}

impl Hazards {
    pub fn new(gfx: Gfx) -> Self {
        Hazards {
            gfx,
            clock: 1000,
            vector_clock: 1000,
            is_trans: false,
            vector: vec![Vector::default(); 512],
            scalar: [0; 128],
            m0: 0,
        }
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

    /// A vector instruction is about to run.
    pub fn vector_instruction(&mut self, is_trans: bool) {
        self.vector_clock += 1;
        self.is_trans = is_trans;
    }

    /// So many vector instructions must have come between.
    fn apart(&self, after: After, need: u32, what: impl Fn() -> String) -> Result<(), Clash> {
        let between = (self.vector_clock - after).saturating_sub(1);
        if after == 0 || between >= need {
            return Ok(());
        }
        let sentence = format!(
            "{}: {need} vector instructions are needed between, there are {between}",
            what()
        );
        Err(Clash::new(FaultKind::MissingWaitStates, sentence))
    }

    /// A matrix instruction of gfx125x reads a register as A or B.
    pub fn wmma_reads(&self, register: u16) -> Result<(), Clash> {
        let v = self.vector[register as usize];
        let name = || super::wave::name(register);
        self.apart(v.product, v.product_apart, || {
            format!("{} is the result of a matrix instruction, read as A or B", name())
        })
    }

    /// Notes A or B of a matrix instruction of gfx125x.
    pub fn wmma_read(&mut self, register: u16, apart: u32) {
        let v = &mut self.vector[register as usize];
        (v.factor, v.factor_apart) = (self.vector_clock, apart.saturating_sub(1));
    }

    /// Notes a source of a transcendental instruction.
    pub fn trans_read(&mut self, register: u16) {
        self.vector[register as usize].trans_source = self.vector_clock;
    }

    fn beside(&self, register: u16, user: User, writes: bool) -> Result<(), Clash> {
        if !self.gfx.is_gfx125() || user == User::Memory {
            return Ok(());
        }
        let v = self.vector[register as usize];
        let name = || super::wave::name(register);
        if user != User::Wmma {
            self.apart(v.product, v.product_apart.saturating_sub(1), || {
                format!("{} is the result of a matrix instruction", name())
            })?;
            if writes {
                self.apart(v.factor, v.factor_apart, || {
                    format!("{} is still read by a matrix instruction", name())
                })?;
            }
        }
        if self.is_trans {
            return Ok(());
        }
        if writes {
            self.apart(v.trans_source, 1, || {
                format!("{} is still read by a transcendental instruction", name())
            })
        } else {
            self.apart(v.trans, 1, || {
                format!("{} is the result of a transcendental instruction", name())
            })
        }
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
        let sentence = format!(
            "{} is the result of the matrix instruction just before",
            super::wave::name(register)
        );
        Err(Clash::new(FaultKind::MissingWaitStates, sentence))
    }

    /// Notes a result of a matrix instruction of RDNA; call after [`Hazards::advance`].
    pub fn did_wmma(&mut self, register: u16, apart: u32) {
        let (product, product_apart) = (if apart > 0 { self.vector_clock } else { 0 }, apart);
        self.vector[register as usize] = Vector {
            wmma: if self.gfx.is_gfx125() { 0 } else { self.clock },
            product,
            product_apart,
            ..Vector::default()
        };
    }

    /// A vector instruction, load or store reads a vector register.
    pub fn reads(&self, register: u16, user: User) -> Result<(), Clash> {
        self.beside(register, user, false)?;
        let v = self.vector[register as usize];
        let name = || super::wave::name(register);
        self.owe(v.mfma, self.mfma_distance(v.passes), || {
            format!("{} is the result of a matrix instruction", name())
        })?;
        if user == User::Readlane && self.gfx >= Gfx::Gfx942 {
            self.owe(v.valu, 1, || format!("{} was just written and its lane is read", name()))?;
        }
        if user == User::Dpp {
            self.owe(v.valu, 2, || {
                format!("{} was just written and another lane reads it", name())
            })?;
        }
        if user == User::Swap {
            self.owe(v.valu, 2, || {
                format!("{} was just written and its lanes are swapped", name())
            })?;
        }
        Ok(())
    }

    /// A vector instruction or load writes a vector register.
    pub fn writes(&mut self, register: u16, user: User) -> Result<(), Clash> {
        self.beside(register, user, true)?;
        let v = self.vector[register as usize];
        let name = || super::wave::name(register);
        self.owe(v.mfma, self.mfma_distance(v.passes), || {
            format!("{} is still written by a matrix instruction", name())
        })?;
        self.owe(v.as_c, v.as_c_passes - u32::from(v.as_c_passes > 0), || {
            format!("{} is still read as C by a matrix instruction", name())
        })?;
        if user != User::Memory {
            let need = if self.gfx >= Gfx::Gfx942 { 2 } else { 1 };
            self.owe(v.wide_store, need, || {
                format!("{} is still read by a store of more than 64 bits", name())
            })?;
        }
        Ok(())
    }

    /// Notes a write; call after [`Hazards::advance`].
    pub fn wrote(&mut self, register: u16, user: User) {
        let after = if user == User::Memory { 0 } else { self.clock };
        let trans = if self.is_trans && user != User::Memory { self.vector_clock } else { 0 };
        // What a matrix instruction still reads stays read, whoever writes it.
        let Vector { factor, factor_apart, .. } = self.vector[register as usize];
        self.vector[register as usize] =
            Vector { valu: after, trans, factor, factor_apart, ..Vector::default() };
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
        let what = || {
            format!("{} was written by a vector instruction", super::wave::scalar_name(register))
        };
        if select {
            self.owe(self.scalar[register as usize], 4, what)?;
        }
        if self.gfx >= Gfx::Gfx942 {
            self.owe(self.scalar[register as usize], 2, what)
        } else {
            Ok(())
        }
    }

    /// A vector memory instruction reads a scalar register.
    pub fn memory_reads_scalar(&self, register: u8) -> Result<(), Clash> {
        let what = || {
            format!(
                "{} was written by a vector instruction and is read by a memory instruction",
                super::wave::scalar_name(register)
            )
        };
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
            self.owe(v.mfma, self.mfma_distance(v.passes), || {
                format!("{} is the result of a matrix instruction, read as A or B", name())
            })?;
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
            self.owe(v.mfma, need, || {
                format!("{} is the result of another matrix instruction, read as C", name())
            })?;
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
            (v.mfma, v.passes, v.id, v.tuple, v.valu) =
                (self.clock, mfma.passes, mfma.id, (mfma.d, n), 0);
        }
    }
}
