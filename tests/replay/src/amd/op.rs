//! Decoded AMDGCN: registers, operands, operations.

use super::tracked::Tracked;
use super::transpose::Transpose;
use crate::number::{bf16_to_f32, e2m1_to_f32, f16_to_f32, float8};

/// Numbers of the special scalar registers.
pub(super) const VCC: u8 = 106;
pub(super) const M0: u8 = 124;
/// The first trap temporary.
pub(super) const TTMP: u8 = 108;
pub(super) const EXEC: u8 = 126;
/// Reads as zero, takes everything (here after the assembler's own number for it before gfx11).
pub(super) const NULL: u8 = 125;

/// Accumulation registers follow the 256 architectural ones.
pub(super) const ACC: u16 = 256;

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Src {
    S(u8),
    V(u16),
    /// A constant, sign-extended to 64 bits.
    K(u64),
}

/// (result, new SCC) of (sources, SCC).
pub(super) type ScalarFn = fn(u64, u64, bool) -> (u64, Option<bool>);

/// What one lane computes.
#[derive(Clone, Copy)]
pub(super) enum LaneFn {
    Plain(fn([u32; 3]) -> u32),
    /// Arithmetic in f32, under the mode that the kernel's descriptor sets.
    Float(fn([u32; 3]) -> u32),
    /// From f32 to narrower numbers, under the same mode for what is read.
    Narrow(fn([u32; 3]) -> u32),
    /// Of the transcendental unit, which takes and gives zero for a subnormal number whatever the
    /// mode.
    Approximate(fn([u32; 3]) -> u32),
    /// Keeps tags and half-definedness.
    Tracked(fn([Tracked; 3]) -> Tracked),
    /// A function of the lane's number too.
    Indexed(fn([u32; 3], u32) -> u32),
}

/// Vector operations on 64-bit values or with carries.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wide {
    AddCo,
    AddcCo,
    SubCo,
    SubbCo,
    MadU64U32,
    LshlAddU64,
    LshlB64,
    LshrB64,
    AshrI64,
    MovB64,
    /// A function of whole values, by words of its sources and of its result.
    Of {
        f: fn([u64; 3]) -> u64,
        sources: [u16; 3],
        result: u16,
    },
}

impl Wide {
    /// Words of the sources, none where there is no such source, and of the result.
    pub(super) fn words(self) -> ([u16; 3], u16) {
        match self {
            Self::AddCo | Self::AddcCo | Self::SubCo | Self::SubbCo => ([1, 1, 0], 1),
            Self::MadU64U32 => ([1, 1, 2], 2),
            Self::LshlAddU64 => ([2, 1, 2], 2),
            Self::LshlB64 | Self::LshrB64 | Self::AshrI64 => ([1, 2, 0], 2),
            Self::MovB64 => ([2, 0, 0], 2),
            Self::Of { sources, result, .. } => (sources, result),
        }
    }
}

/// When a branch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cond {
    Always,
    Scc(bool),
    Vccz(bool),
    Execz(bool),
}

/// Which part of a register a narrow access uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Words,
    Zero8,
    Sign8,
    Zero16,
    Sign16,
    Low16,
    High16,
    /// A byte extended to 16 bits, in one half (stores take that half's lower byte).
    Zero8To16 {
        high: bool,
    },
    Sign8To16 {
        high: bool,
    },
}

/// Where a vector memory instruction gets its addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// 64-bit address in a register pair.
    Flat(u16),
    /// Scalar base and 32-bit vector offset.
    Based { base: u8, offset: Option<u16> },
    /// Buffer resource, vector offset, scalar offset.
    Buffer { resource: u8, offset: Option<u16>, scalar: Src },
}

/// A vector memory instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vmem {
    pub store: bool,
    /// Data go to LDS, not to registers.
    pub to_lds: bool,
    /// The register with each lane's address in LDS: between there and global memory, by the
    /// counter for that.
    pub lds_at: Option<u16>,
    pub transpose: Option<Transpose>,
    /// Memory is changed by what is stored.
    pub atomic: Option<crate::atomic::Atomic>,
    /// The register that receives what stood there before.
    pub answer: Option<u16>,
    pub bytes: u32,
    pub part: Part,
    pub data: u16,
    pub place: Place,
    pub offset: i64,
}

/// An LDS instruction. `count` is 2 for the `read2` / `write2` forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ds {
    pub write: bool,
    pub bytes: u32,
    pub part: Part,
    pub transpose: Option<Transpose>,
    pub data: [u16; 2],
    pub addr: u16,
    pub count: u32,
    pub offsets: [u32; 2],
}

/// A matrix instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mfma {
    pub m: u32,
    pub k: u32,
    /// Of A and of B.
    pub kinds: [Element; 2],
    pub passes: u32,
    /// Tells different instructions apart for the accumulator forwarding rule.
    pub id: u32,
    pub d: u16,
    pub a: u16,
    pub b: u16,
    pub c: Src,
}

/// A matrix instruction of RDNA: 16 x 16, and so deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wmma {
    pub k: u32,
    /// Sixteen rows each, one behind the other in registers.
    pub parts: u16,
    pub kinds: [Element; 2],
    pub wave: u32,
    /// Lanes of both halves hold the same of A and B.
    pub copies: bool,
    /// Bytes along k that the two halves hold in turn.
    pub piece: u32,
    pub sum: Sum,
    /// RDNA3: which half of each register has C and D of 16 bits; the other one of D stays as it
    /// is.
    pub half: Option<u16>,
    /// Vector instructions that must stand between this one and the next that reads the result as A
    /// or B; one less before others that touch the result, or overwrite A or B.
    pub apart: u32,
    pub d: u16,
    pub a: u16,
    pub b: u16,
    pub c: Src,
    /// Of a product with block scales.
    pub scales: Option<Blocks>,
}

/// Where the scales of A and of B lie: a byte for each run along k, a lane for each row (column of
/// B).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Elements of a run.
    pub run: u32,
    /// First register, and the first of its sixteen lanes.
    pub at: [(u16, u32); 2],
}

impl Blocks {
    /// Registers of the scales of one operand.
    pub fn registers(&self, k: u32) -> u16 {
        (k / self.run).div_ceil(4) as u16
    }
}

impl Wmma {
    /// Registers of a part of A (and of B).
    pub fn source_regs(&self) -> u16 {
        let lanes = if self.copies { 16 } else { self.wave };
        (16 * self.k * self.kinds[0].bits() / (lanes * 32)) as u16
    }

    /// Registers of a part of C (and of D).
    pub fn result_regs(&self) -> u16 {
        let packed = self.half.is_none() && matches!(self.sum, Sum::F16 | Sum::Bf16);
        (256 / self.wave / if packed { 2 } else { 1 }) as u16
    }

    /// Row (A) or column (B), and k, of element `i` of a lane.
    pub fn source(&self, lane: u32, i: u32) -> (u32, u32) {
        if self.copies {
            return (lane % 16, i);
        }
        // Pieces go to the lower and the upper sixteen lanes in turn; waves of 64 lanes have the
        // upper half of the registers in their upper half.
        let each = 8 * self.piece / self.kinds[0].bits();
        let held = 16 * self.k / self.wave;
        let i = i + lane / 32 * held;
        (lane % 16, i / each * 2 * each + lane / 16 % 2 * each + i % each)
    }

    /// Row and column of result element `element` of a lane: a register each, or half of one.
    pub fn result(&self, lane: u32, element: u32) -> (u32, u32) {
        if self.copies {
            return (self.wave / 16 * element + lane / 16, lane % 16);
        }
        (lane / 32 * 4 + lane / 16 % 2 * 8 + element, lane % 16)
    }
}

/// Types of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    F32,
    /// Two in a register.
    F16,
    Bf16,
    I32,
}

/// Element types of matrix instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F64,
    F32,
    /// An f32 of which 19 bits are read.
    Xf32,
    F16,
    Bf16,
    I8,
    U8,
    I4,
    U4,
    E2m1,
    /// OCP, or with one zero and no infinity (fnuz).
    E4m3 {
        fnuz: bool,
    },
    E5m2 {
        fnuz: bool,
    },
}

impl Element {
    pub fn bits(self) -> u32 {
        match self {
            Element::F64 => 64,
            Element::F32 | Element::Xf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I8 | Element::U8 | Element::E4m3 { .. } | Element::E5m2 { .. } => 8,
            Element::I4 | Element::U4 | Element::E2m1 => 4,
        }
    }

    /// The value of a bit pattern.
    pub fn value(self, raw: u64) -> f64 {
        match self {
            Element::F64 => f64::from_bits(raw),
            Element::F32 => f32::from_bits(raw as u32).into(),
            Element::Xf32 => f32::from_bits(raw as u32 & !0x1fff).into(),
            Element::F16 => f16_to_f32(raw as u16).into(),
            Element::Bf16 => bf16_to_f32(raw as u16).into(),
            Element::I8 => f64::from(raw as u8 as i8),
            Element::U8 => f64::from(raw as u8),
            Element::I4 => f64::from((raw as u8 as i8) << 4 >> 4),
            Element::U4 => f64::from(raw as u8 & 15),
            Element::E2m1 => e2m1_to_f32(raw as u8).into(),
            Element::E4m3 { fnuz } => float8(raw as u8, 3, fnuz),
            Element::E5m2 { fnuz } => float8(raw as u8, 2, fnuz),
        }
    }
}

impl Mfma {
    /// Registers of A (and of B).
    pub fn source_regs(&self) -> u16 {
        (self.m * self.k * self.kinds[0].bits() / (64 * 32)) as u16
    }

    /// Registers of C (and of D).
    pub fn result_regs(&self) -> u16 {
        (self.m * self.m / 64 * if self.kinds[0] == Element::F64 { 2 } else { 1 }) as u16
    }
}

/// A decoded operation.
#[derive(Clone)]
pub(super) enum Op {
    Scalar {
        f: ScalarFn,
        dst: Option<(u8, u8)>,
        a: (Src, u8),
        b: (Src, u8),
    },
    Select {
        dst: (u8, u8),
        a: Src,
        b: Src,
    },
    SaveExec {
        f: ScalarFn,
        dst: u8,
        src: Src,
    },
    ScalarLoad {
        dst: u8,
        words: u8,
        base: u8,
        offset: Src,
        imm: i64,
    },
    Branch {
        cond: Cond,
        target: usize,
    },
    End,
    Nop {
        states: u32,
    },
    /// By [`Queue`].
    Wait(Counts),
    Barrier,
    /// The first half of a barrier.
    Signal,
    /// The second half.
    WaitSignal,
    Hint,
    Lane {
        f: LaneFn,
        dst: u16,
        src: [Src; 3],
    },
    Bitop3 {
        table: u8,
        dst: u16,
        src: [Src; 3],
    },
    Wide {
        f: Wide,
        dst: u16,
        carry_out: Option<u8>,
        src: [Src; 3],
        carry_in: Option<u8>,
    },
    Compare {
        f: fn(u64, u64) -> bool,
        wide: bool,
        dst: u8,
        a: Src,
        b: Src,
    },
    Cndmask {
        dst: u16,
        a: Src,
        b: Src,
        mask: u8,
    },
    ReadLane {
        dst: u8,
        src: u16,
        lane: Option<Src>,
    },
    WriteLane {
        dst: u16,
        value: Src,
        lane: Src,
    },
    Swap {
        rows: u32,
        a: u16,
        b: u16,
    },
    /// Exchange of lanes through the LDS hardware: `ds_bpermute_b32` pulls, `ds_permute_b32`
    /// pushes.
    Permute {
        pull: bool,
        dst: u16,
        addr: u16,
        data: u16,
        offset: u32,
    },
    /// Each lane receives a register of the lane that the pattern names.
    Lanes {
        pattern: Pattern,
        dst: u16,
        data: u16,
        /// Through the LDS hardware.
        ds: bool,
    },
    Mfma(Mfma),
    Scaled(super::scaled::Scaled),
    Wmma(Wmma),
    /// Each lane receives what the lane 32 further (around) has.
    OtherHalf {
        dst: u16,
        src: u16,
    },
    Ds(Ds),
    Vmem(Vmem),
}

/// One instruction.
pub(crate) struct Stmt {
    pub line: u32,
    pub mnemonic: String,
    pub(super) op: Op,
}

/// The generation, as far as it changes meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gfx {
    Gfx908,
    Gfx90a,
    Gfx942,
    Gfx950,
    /// gfx1030.
    Rdna2,
    /// gfx1100, gfx1150, gfx1151.
    Rdna3,
    /// gfx1200, gfx1201.
    Rdna4,
    Gfx1250,
    Gfx1251,
}

impl Gfx {
    /// Wave size by the text, two scalar sources an instruction, more counters, and no accumulation
    /// registers.
    pub fn is_rdna(self) -> bool {
        self >= Self::Rdna2
    }

    /// Counters for each kind of operation, barriers in two halves.
    pub fn is_gfx12(self) -> bool {
        self >= Self::Rdna4
    }

    /// gfx1250 or gfx1251.
    pub fn is_gfx125(self) -> bool {
        self >= Self::Gfx1250
    }

    /// Its place in lists of the CDNA generations from gfx90a on; gfx908 knows what gfx90a does.
    pub fn cdna(self) -> Option<usize> {
        match self {
            Self::Gfx908 | Self::Gfx90a => Some(0),
            Self::Gfx942 => Some(1),
            Self::Gfx950 => Some(2),
            _ => None,
        }
    }
}

/// What counts an operation that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// Vector memory (without stores where they have their own): `vmcnt`, `loadcnt`.
    Vm,
    /// LDS: `dscnt`; older machines count scalar loads with it: `lgkmcnt`.
    Lgkm,
    /// Stores: `vscnt`, `storecnt`.
    Vs,
    /// Scalar loads: `kmcnt`.
    Km,
    /// Copies between global memory and LDS: `asynccnt`.
    Async,
}

impl Queue {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Vm, Self::Lgkm, Self::Vs, Self::Km, Self::Async];

    /// The counter's name.
    pub fn name(self, gfx: Gfx) -> &'static str {
        match (self, gfx.is_gfx12()) {
            (Self::Vm, false) => "vmcnt",
            (Self::Vm, true) => "loadcnt",
            (Self::Lgkm, false) => "lgkmcnt",
            (Self::Lgkm, true) => "dscnt",
            (Self::Vs, false) => "vscnt",
            (Self::Vs, true) => "storecnt",
            (Self::Km, _) => "kmcnt",
            (Self::Async, _) => "asynccnt",
        }
    }
}

/// By [`Queue`], how many operations may be outstanding.
pub(super) type Counts = [Option<u32>; 5];

/// What the kernel descriptor says.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub lds_bytes: u32,
    pub(super) gfx: Gfx,
    /// Lanes of a wave.
    pub(super) wave: u32,
    /// D16 loads keep the other half only without SRAM ECC.
    pub(super) sramecc_off: bool,
    pub(super) kernarg_at: Option<u8>,
    pub(super) kernarg_bytes: Option<u32>,
    pub(super) user_sgprs: u8,
    pub(super) block_ids: [bool; 3],
    pub(super) workitem_id: u32,
    pub(super) vgprs: u32,
    pub(super) sgprs: u32,
    pub(super) accum_offset: u32,
    pub(super) most_threads: Option<u32>,
    pub(super) subnormals: Subnormals,
}

/// What f32 arithmetic does with subnormal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subnormals {
    /// Read as they are; else as zero of their sign.
    pub read: bool,
    /// Written as they are.
    pub written: bool,
}

impl Subnormals {
    pub const NONE: Self = Self { read: false, written: false };

    /// By the number in a kernel descriptor, whose bits keep what is read and what is written.
    pub fn of_mode(mode: u32) -> Self {
        Self { read: mode & 2 != 0, written: mode & 1 != 0 }
    }
    fn kept(bits: u32, keep: bool) -> u32 {
        if keep || !f32::from_bits(bits).is_subnormal() { bits } else { bits & 0x8000_0000 }
    }
    pub fn reads(self, words: [u32; 3]) -> [u32; 3] {
        words.map(|bits| Self::kept(bits, self.read))
    }
    pub fn writes(self, bits: u32) -> u32 {
        Self::kept(bits, self.written)
    }
}

/// A parsed text.
pub(crate) struct Program {
    pub name: String,
    pub header: Header,
    pub code: Vec<Stmt>,
    /// Text that assembles but cannot run rightly: line, class, reason.
    pub(super) objections: Vec<(u32, crate::fault::FaultKind, String)>,
}

/// Which lane is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Of each four.
    Quad([u8; 4]),
    /// So many lanes down, around, in each 16.
    Rotate(usize),
    /// In each 16, from the other end.
    Mirror,
    /// In each 8, from the other end.
    HalfMirror,
    /// In each 16, this exclusive or.
    Xor(usize),
    /// In each 32: and, or, xor.
    Bits(usize, usize, usize),
}

impl Pattern {
    /// The lane that `lane` reads.
    pub fn of(self, lane: usize) -> usize {
        match self {
            Self::Quad(from) => lane & !3 | usize::from(from[lane & 3]),
            Self::Rotate(n) => lane & !15 | (lane & 15).wrapping_sub(n) & 15,
            Self::Xor(mask) => lane ^ mask,
            Self::Mirror => lane ^ 15,
            Self::HalfMirror => lane ^ 7,
            Self::Bits(and, or, xor) => lane & !31 | ((lane & 31 & and | or) ^ xor),
        }
    }
}
