//! Text that assembles but cannot run rightly: register pools, tuple alignment, operand rules.
//!
//! These are judgments, not parse errors: the run reports them before the first instruction.

use super::op::{Gfx, Header, M0, Op, Place, Src};
use super::text::{Line, Operand};
use crate::fault::FaultKind;

pub(super) struct Checker {
    vgprs: u32,
    agprs: u32,
    sgprs: u32,
    /// Scalar registers and literals that a vector instruction reads.
    scalar_reads: usize,
    /// Tuples of vector registers begin at even ones.
    even: bool,
    /// Global offsets reach so far both ways.
    reach: i64,
    pub objections: Vec<(u32, FaultKind, String)>,
}

impl Checker {
    pub fn new(header: &Header) -> Self {
        let rdna = header.gfx.is_rdna();
        Checker {
            vgprs: header.accum_offset.min(header.vgprs),
            agprs: if header.gfx == Gfx::Gfx908 {
                header.vgprs
            } else {
                header.vgprs.saturating_sub(header.accum_offset)
            },
            sgprs: header.sgprs,
            scalar_reads: if rdna { 2 } else { 1 },
            even: !rdna && header.gfx != Gfx::Gfx908,
            reach: match header.gfx {
                Gfx::Rdna2 => 2048,
                gfx if gfx.is_gfx12() => 1 << 23,
                _ => 4096,
            },
            objections: Vec::new(),
        }
    }

    fn object(&mut self, line: u32, kind: FaultKind, sentence: String) {
        self.objections.push((line, kind, sentence));
    }

    /// Rules that only need the operands as written.
    pub fn check(&mut self, line: &Line) {
        let mut scalars: Vec<(u8, u8)> = Vec::new();
        let mut literals: Vec<i64> = Vec::new();
        let is_vector = line.mnemonic.starts_with("v_");
        for (index, operand) in line.operands.iter().enumerate() {
            match *operand {
                Operand::V { first, len, acc } => {
                    let (limit, name) = if acc { (self.agprs, 'a') } else { (self.vgprs, 'v') };
                    if u32::from(first + len) > limit {
                        let sentence = format!(
                            "{name}{} lies outside the {limit} registers of its kind that the header declares",
                            first + len - 1
                        );
                        self.object(line.line, FaultKind::RegisterOutsidePool, sentence);
                    }
                    if self.even
                        && len > 1
                        && first % 2 == 1
                        && line.mnemonic != "ds_read_b96_tr_b6"
                    {
                        let sentence =
                            format!("a tuple must start at an even register, not at {name}{first}");
                        self.object(line.line, FaultKind::RegisterOutsidePool, sentence);
                    }
                }
                Operand::S { first, len } => {
                    if first < 102 && u32::from(first + len) > self.sgprs {
                        let sentence = format!(
                            "s{} lies outside the {} scalar registers that the header declares",
                            first + len - 1,
                            self.sgprs
                        );
                        self.object(line.line, FaultKind::RegisterOutsidePool, sentence);
                    }
                    if len > 1 && first % (len.min(4)) != 0 {
                        let sentence =
                            format!("a tuple of {len} scalar registers cannot start at s{first}");
                        self.object(line.line, FaultKind::RegisterOutsidePool, sentence);
                    }
                    let is_result = index == 0
                        || (index == 1 && line.mnemonic.contains("_co_u32"))
                        || (index == 1 && line.mnemonic == "v_mad_u64_u32");
                    if is_vector && !is_result && !scalars.contains(&(first, len)) {
                        scalars.push((first, len));
                    }
                }
                Operand::Int(value)
                    if index > 0 && !(-16..=64).contains(&value) && !literals.contains(&value) =>
                {
                    literals.push(value)
                }
                Operand::Float(value) if !INLINE.contains(&value.abs()) => {
                    literals.push(i64::from((value as f32).to_bits()))
                }
                _ => {}
            }
        }
        if is_vector && scalars.len() + literals.len() > self.scalar_reads {
            let sentence = format!(
                "a vector instruction of this generation reads {} scalar registers or literals",
                self.scalar_reads
            );
            self.object(line.line, FaultKind::InvalidOperand, sentence);
        }
        let is_scalar = line.mnemonic.starts_with("s_") && !line.mnemonic.starts_with("s_load");
        if is_scalar && literals.len() > 1 {
            self.object(
                line.line,
                FaultKind::InvalidOperand,
                "an instruction carries one literal".to_string(),
            );
        }
        if self.scalar_reads == 1
            && !literals.is_empty()
            && is_vector
            && line.operands.len() > 3
            && line.mnemonic != "v_cndmask_b32"
            && !line.mnemonic.contains("_co_")
        {
            let sentence =
                "the three-source encoding of this generation takes no literal".to_string();
            self.object(line.line, FaultKind::InvalidOperand, sentence);
        }
    }

    /// Rules that need the meaning.
    pub fn check_op(&mut self, line: u32, op: &Op) {
        match op {
            Op::ReadLane { dst: M0, .. } => {
                self.object(
                    line,
                    FaultKind::InvalidOperand,
                    "a lane read cannot write m0: go through another scalar register".to_string(),
                );
            }
            Op::Vmem(v) => match v.place {
                Place::Buffer { .. } if !(0..4096).contains(&v.offset) => {
                    let sentence = format!(
                        "a buffer offset has 12 bits; the assembler drops the high bits of {}",
                        v.offset
                    );
                    self.object(line, FaultKind::InvalidOperand, sentence);
                }
                Place::Flat(_) | Place::Based { .. }
                    if !(-self.reach..self.reach).contains(&v.offset) =>
                {
                    let sentence = format!(
                        "a global offset reaches {} bytes both ways, {} does not fit",
                        self.reach, v.offset
                    );
                    self.object(line, FaultKind::InvalidOperand, sentence);
                }
                _ => {}
            },
            Op::Mfma(f) | Op::Scaled(super::scaled::Scaled { mfma: f, .. }) => {
                // LLVM marks results of more than 4 registers as early clobber: the instruction
                // writes D while it still reads A and B.
                let (d, n) = (f.d, f.result_regs());
                let overlaps = |first: u16, len: u16| first < d + n && d < first + len;
                if n > 4 && (overlaps(f.a, f.source_regs()) || overlaps(f.b, f.source_regs())) {
                    self.object(
                        line,
                        FaultKind::InvalidOperand,
                        "D overlaps A or B, which are read while D is written".to_string(),
                    );
                }
                if let Src::V(c) = f.c
                    && c != d
                    && overlaps(c, n)
                {
                    self.object(
                        line,
                        FaultKind::InvalidOperand,
                        "C and D overlap in part".to_string(),
                    );
                }
            }
            Op::ScalarLoad { imm, .. } if imm % 4 != 0 => {
                self.object(
                    line,
                    FaultKind::Misaligned,
                    "scalar loads ignore the low two bits of the offset".to_string(),
                );
            }
            _ => {}
        }
    }
}

const INLINE: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 4.0];
