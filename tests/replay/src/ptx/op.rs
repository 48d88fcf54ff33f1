//! Decoded PTX: types, operands, operations.

/// An instruction type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ty {
    Pred,
    B(u32),
    U(u32),
    S(u32),
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    Tf32,
    F64,
    /// Two whole numbers.
    U16x2,
    /// Two with signs.
    S16x2,
    /// Eight bits, of matrix operands only.
    E4m3,
    E5m2,
    /// Four bits.
    E2m1,
}

impl Ty {
    pub fn bits(self) -> u32 {
        match self {
            Ty::Pred => 1,
            Ty::B(n) | Ty::U(n) | Ty::S(n) => n,
            Ty::F16 | Ty::Bf16 => 16,
            Ty::F16x2 | Ty::Bf16x2 | Ty::U16x2 | Ty::S16x2 | Ty::F32 | Ty::Tf32 => 32,
            Ty::F64 => 64,
            Ty::E4m3 | Ty::E5m2 => 8,
            Ty::E2m1 => 4,
        }
    }

    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Ty::S(_))
    }

    pub fn is_float(self) -> bool {
        !matches!(self, Ty::Pred | Ty::B(_) | Ty::U(_) | Ty::S(_) | Ty::U16x2 | Ty::S16x2)
    }

    pub fn parse(word: &str) -> Option<Ty> {
        Some(match word {
            "pred" => Ty::Pred,
            "f16" => Ty::F16,
            "f16x2" => Ty::F16x2,
            "bf16" => Ty::Bf16,
            "bf16x2" => Ty::Bf16x2,
            "f32" => Ty::F32,
            "tf32" => Ty::Tf32,
            "f64" => Ty::F64,
            "u16x2" => Ty::U16x2,
            "s16x2" => Ty::S16x2,
            _ => {
                let (head, bits) = word.split_at_checked(1)?;
                let bits: u32 = bits.parse().ok().filter(|b| [8, 16, 32, 64, 128].contains(b))?;
                match head {
                    "b" => Ty::B(bits),
                    "u" if bits < 128 => Ty::U(bits),
                    "s" if bits < 128 => Ty::S(bits),
                    _ => return None,
                }
            }
        })
    }
}

/// A register: first cell and width. A cell holds up to 64 bits; 128-bit registers take two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg {
    pub cell: u32,
    pub bits: u32,
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    LaneId,
    WarpId,
    NWarpId,
    LaneMask(Mask),
    WarpSize,
}

/// The lane mask registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mask {
    Lt,
    Le,
    Eq,
    Ge,
    Gt,
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Src {
    Reg(Reg),
    Imm(u64),
    Special(Special),
    /// Address of a shared symbol in the shared window.
    Shared(u32),
}

/// An address: base and byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addr {
    pub base: Src,
    pub offset: i64,
}

/// State space of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Where {
    Global,
    Shared,
    Param,
    Generic,
}

/// Lane-wise operations with up to three sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alu {
    Add,
    Sub,
    MulLo,
    MulHi,
    MulWide,
    MadLo,
    MadHi,
    MadWide,
    Mul24,
    Mad24,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Not,
    Neg,
    Abs,
    Min,
    Max,
    Lop3(u8),
    Bfe,
    Bfi,
    Prmt,
    ShfL { wrap: bool },
    ShfR { wrap: bool },
    Popc,
    Clz,
    Brev,
    Mul,
    Fma,
    Ex2,
    Rsqrt,
    Rcp,
    Sqrt,
    Lg2,
}

/// Comparison of `setp` and `set`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Of floats: the same, and of what is no number.
    Unordered(Relation),
    /// Neither is a NaN.
    Numbers,
}

/// What holds of two numbers, or of a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Of numbers nothing.
    Never,
}

/// How `setp` combines with a further predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
    Xor,
}

/// Lane exchange patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    Bfly,
    Idx,
    Up,
    Down,
}

/// The matrix product forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MmaForm {
    /// Rows of A: 16, or 8 for integers on sm_75.
    pub m: u32,
    pub k: u32,
    pub a: Ty,
    pub b: Ty,
    /// f32, f16 or s32.
    pub acc: Ty,
}

/// A product of a warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnitForm {
    pub n: u32,
    pub k: u32,
    pub a: Ty,
    pub b: Ty,
    pub acc: Ty,
    /// The outer coordinate of A is contiguous, not its depth.
    pub trans_a: bool,
    pub trans_b: bool,
}

/// A predicate guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Guard {
    pub reg: Reg,
    pub negated: bool,
}

/// A decoded operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    Alu {
        f: Alu,
        ty: Ty,
        dst: Reg,
        src: [Src; 4],
    },
    Setp {
        cmp: Cmp,
        ty: Ty,
        dst: Reg,
        other: Option<Reg>,
        a: Src,
        b: Src,
        join: Option<(Join, Src, bool)>,
    },
    Selp {
        ty: Ty,
        dst: Reg,
        a: Src,
        b: Src,
        p: Src,
    },
    Mov {
        ty: Ty,
        dst: Reg,
        src: Src,
    },
    Pack {
        ty: Ty,
        dst: Reg,
        src: Vec<Src>,
    },
    Unpack {
        ty: Ty,
        dst: Vec<Option<Reg>>,
        src: Src,
    },
    Cvt {
        to: Ty,
        from: Ty,
        round: Option<String>,
        dst: Reg,
        src: Src,
        second: Option<Src>,
    },
    /// Two f32 to two 8-bit floats (`second` is the lower one), or two of these to two f16;
    /// `fraction`: bits of it.
    Cvt8 {
        fraction: u32,
        dst: Reg,
        src: Src,
        second: Option<Src>,
    },
    Cvta {
        to_space: bool,
        space: Where,
        dst: Reg,
        src: Src,
    },
    LdParam {
        ty: Ty,
        dst: Vec<Reg>,
        offset: i64,
    },
    Ld {
        space: Where,
        ty: Ty,
        dst: Vec<Reg>,
        addr: Addr,
    },
    St {
        space: Where,
        ty: Ty,
        src: Vec<Src>,
        addr: Addr,
    },
    Red {
        how: crate::atomic::Atomic,
        /// What stood there before.
        dst: Option<Reg>,
        src: Src,
        /// What a comparison compares with.
        compared: Option<Src>,
        addr: Addr,
    },
    CpAsync {
        bytes: u32,
        dst: Addr,
        src: Addr,
        src_bytes: Option<Src>,
    },
    CommitGroup,
    WaitGroup(u32),
    WaitAll,
    LdMatrix {
        dst: Vec<Reg>,
        form: super::fragment::Move,
        addr: Addr,
    },
    StMatrix {
        src: Vec<Src>,
        form: super::fragment::Move,
        addr: Addr,
    },
    MovMatrix {
        dst: Reg,
        src: Src,
    },
    Scaled(Box<super::scaled::Scaled>),
    /// A product of f64.
    MmaF64 {
        shape: [u32; 3],
        d: Vec<Reg>,
        a: Vec<Src>,
        b: Vec<Src>,
        c: Vec<Src>,
    },
    Mma {
        form: MmaForm,
        d: Vec<Reg>,
        a: Vec<Src>,
        b: Vec<Src>,
        c: Vec<Src>,
    },
    Unit {
        form: UnitForm,
        d: Vec<Reg>,
        a: super::unit::From,
        b: Src,
        read: Src,
    },
    UnitFence,
    UnitCommit,
    UnitWait(u32),
    ProxyFence,
    MakeBarrier {
        addr: Addr,
        count: Src,
    },
    PublishBarriers,
    Announce {
        addr: Addr,
        bytes: Src,
    },
    /// Every thread arrives at a barrier.
    Arrive {
        addr: Addr,
    },
    /// So many registers for each thread of the warp, more (`true`) or fewer than it had.
    SetMaxRegisters {
        count: u32,
        more: bool,
    },
    TryWait {
        done: Reg,
        addr: Addr,
        parity: Src,
    },
    TensorCopy {
        dst: Addr,
        map: Addr,
        at: Vec<Src>,
        barrier: Addr,
    },
    TensorStore {
        map: Addr,
        at: Vec<Src>,
        src: Addr,
    },
    CommitStores,
    WaitStores {
        keep: u32,
        read: bool,
    },
    Memory(super::tmem::TensorOp),
    Barrier {
        id: Src,
        count: Option<Src>,
    },
    WarpSync {
        mask: Src,
    },
    Fence,
    Shfl {
        mode: Exchange,
        dst: Reg,
        ok: Option<Reg>,
        a: Src,
        b: Src,
        c: Src,
        mask: Src,
    },
    Bra {
        target: usize,
    },
    Exit,
}

/// One statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub line: u32,
    pub mnemonic: String,
    pub(super) guard: Option<Guard>,
    pub(super) op: Op,
}

/// Threads of a block that the text asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threads {
    Any,
    Exactly(u32),
    AtMost(u32),
}

impl Threads {
    /// How many, where that is certain.
    pub(super) fn exactly(self) -> Option<u32> {
        if let Self::Exactly(threads) = self { Some(threads) } else { None }
    }
}

/// A parsed module.
pub(crate) struct Program {
    pub name: String,
    pub code: Vec<Stmt>,
    pub(super) threads: Threads,
    /// Registers of each thread when the block begins, where that is said.
    pub(super) entry_registers: Option<u32>,
    /// Bytes of the parameter area.
    pub(super) param_bytes: u32,
    pub shared_bytes: u32,
    pub(super) cells: u32,
}

impl Program {
    /// How many threads a block has, where the text says that exactly.
    pub fn block_threads(&self) -> Option<u32> {
        self.threads.exactly()
    }
}
