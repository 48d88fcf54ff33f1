//! PTX instructions: mnemonic and operands to an operation. A suffix that is not known is an error.

use super::decode_memory;
use super::op::{Addr, Alu, Cmp, Exchange, Join, Op, Reg, Relation, Src, Ty, Where};
use super::parse::Operand;

pub(super) type Decoded<T> = Result<T, String>;

/// Cache, ordering and prefetch suffixes that do not change what a single block computes.
const HINTS: [&str; 22] = [
    "ca",
    "cg",
    "cs",
    "cv",
    "lu",
    "wb",
    "wt",
    "nc",
    "weak",
    "volatile",
    "relaxed",
    "gpu",
    "cta",
    "sys",
    "L1::evict_last",
    "L1::evict_first",
    "L1::no_allocate",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L2::64B",
    "L2::128B",
    "L2::256B",
];

pub(super) fn reg(operand: &Operand) -> Decoded<Reg> {
    match operand {
        Operand::Src(Src::Reg(reg)) => Ok(*reg),
        other => Err(format!("expected a register, found {other:?}")),
    }
}

pub(super) fn src(operand: &Operand) -> Decoded<Src> {
    match operand {
        Operand::Src(src) => Ok(*src),
        other => Err(format!("expected a value, found {other:?}")),
    }
}

pub(super) fn addr(operand: &Operand) -> Decoded<Addr> {
    match operand {
        Operand::Addr(addr) => Ok(*addr),
        other => Err(format!("expected an address, found {other:?}")),
    }
}

pub(super) fn regs(operand: &Operand) -> Decoded<Vec<Reg>> {
    match operand {
        Operand::Vector(items) => items.iter().map(reg).collect(),
        single => Ok(vec![reg(single)?]),
    }
}

pub(super) fn srcs(operand: &Operand) -> Decoded<Vec<Src>> {
    match operand {
        Operand::Vector(items) => items.iter().map(src).collect(),
        single => Ok(vec![src(single)?]),
    }
}

pub(super) fn shared_word(word: &str) -> bool {
    matches!(word, "shared" | "shared::cta")
}

pub(super) struct Words<'a> {
    pub rest: Vec<&'a str>,
}

impl<'a> Words<'a> {
    /// Removes a suffix if it is there.
    pub fn take(&mut self, word: &str) -> bool {
        let hit = self.rest.iter().position(|w| *w == word);
        hit.map(|i| self.rest.remove(i)).is_some()
    }

    /// Removes the first suffix that `f` understands.
    pub fn pick<T>(&mut self, f: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let hit = self.rest.iter().enumerate().find_map(|(i, w)| f(w).map(|v| (i, v)));
        hit.map(|(i, v)| {
            self.rest.remove(i);
            v
        })
    }

    pub fn ty(&mut self) -> Decoded<Ty> {
        self.pick(Ty::parse).ok_or_else(|| "no known type suffix".to_string())
    }

    /// The element type of a matrix operand: also what no other instruction has, floats of eight
    /// bits and elements of four.
    pub fn element(&mut self) -> Decoded<Ty> {
        let narrow = |word| match word {
            "e4m3" => Some(Ty::E4m3),
            "e5m2" => Some(Ty::E5m2),
            "e2m1" => Some(Ty::E2m1),
            "s4" => Some(Ty::S(4)),
            "u4" => Some(Ty::U(4)),
            other => Ty::parse(other),
        };
        self.pick(narrow).ok_or_else(|| "no known element type".to_string())
    }

    pub fn require(&mut self, word: &str) -> Decoded<()> {
        if self.take(word) { Ok(()) } else { Err(format!("expected the suffix `.{word}`")) }
    }

    pub fn hints(&mut self) {
        self.rest.retain(|w| !HINTS.contains(w));
    }

    pub fn done(&self) -> Decoded<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(format!("unknown suffix `.{}`", self.rest.join(".")))
        }
    }
}

pub(super) fn want(operands: &[Operand], counts: std::ops::RangeInclusive<usize>) -> Decoded<()> {
    if counts.contains(&operands.len()) {
        Ok(())
    } else {
        Err(format!("{} operands do not fit", operands.len()))
    }
}

/// Decodes one statement.
pub(super) fn decode(mnemonic: &str, o: &[Operand]) -> Decoded<Op> {
    let mut parts = mnemonic.split('.');
    let head = parts.next().unwrap_or("");
    let mut w = Words { rest: parts.collect() };
    let op = match head {
        "mov" => mov(&mut w, o)?,
        "ld" | "ldu" => decode_memory::load(&mut w, o)?,
        "st" => decode_memory::store(&mut w, o)?,
        "red" => decode_memory::reduce(&mut w, o)?,
        "atom" => decode_memory::answer(&mut w, o)?,
        "cvt" => convert(&mut w, o)?,
        "cvta" => {
            want(o, 2..=2)?;
            let to_space = w.take("to");
            let is_shared = w.pick(|x| shared_word(x).then_some(())).is_some();
            let space = if is_shared {
                Where::Shared
            } else if w.take("param") {
                Where::Param
            } else {
                Where::Global
            };
            if space == Where::Global {
                w.require("global")?;
            }
            w.require("u64")?;
            Op::Cvta { to_space, space, dst: reg(&o[0])?, src: src(&o[1])? }
        }
        "setp" => setp(&mut w, o)?,
        "selp" => {
            want(o, 4..=4)?;
            Op::Selp {
                ty: w.ty()?,
                dst: reg(&o[0])?,
                a: src(&o[1])?,
                b: src(&o[2])?,
                p: src(&o[3])?,
            }
        }
        "cp" => decode_memory::cp(&mut w, o)?,
        "ldmatrix" | "stmatrix" => decode_memory::matrix_move(head, &mut w, o)?,
        "movmatrix" => {
            want(o, 2..=2)?;
            ["sync", "aligned", "m8n8", "trans", "b16"]
                .iter()
                .try_for_each(|word| w.require(word))?;
            Op::MovMatrix { dst: reg(&o[0])?, src: src(&o[1])? }
        }
        "mma" if super::scaled::is_scaled(&w) => super::scaled::decode(&mut w, o)?,
        "mma" => decode_memory::mma(&mut w, o)?,
        "wgmma" => super::unit::wgmma(&mut w, o)?,
        "tcgen05" => super::tmem::decode(&mut w, o)?,
        "bar" | "barrier" => barrier(&mut w, o)?,
        "membar" => {
            w.pick(|x| ["cta", "gl", "sys"].contains(&x).then_some(()));
            Op::Fence
        }
        "setmaxnreg" => {
            let more = w.pick(|x| match x {
                "inc" => Some(true),
                "dec" => Some(false),
                _ => None,
            });
            ["sync", "aligned", "u32"].iter().try_for_each(|word| w.require(word))?;
            want(o, 1..=1)?;
            let Src::Imm(count) = src(&o[0])? else { return Err("expected a number".to_string()) };
            let count = u32::try_from(count).map_err(|_| "expected a number".to_string())?;
            Op::SetMaxRegisters { count, more: more.ok_or("expected .inc or .dec")? }
        }
        "mbarrier" => super::tensor::mbarrier(&mut w, o)?,
        "fence" if w.take("mbarrier_init") => {
            w.require("release")?;
            w.require("cluster")?;
            want(o, 0..=0)?;
            Op::PublishBarriers
        }
        "fence" if w.take("proxy") => {
            w.require("async")?;
            w.pick(|x| ["shared::cta", "global"].contains(&x).then_some(()));
            want(o, 0..=0)?;
            Op::ProxyFence
        }
        "fence" => {
            w.take("sc");
            w.take("acq_rel");
            w.hints();
            Op::Fence
        }
        "shfl" => shuffle(&mut w, o)?,
        "bra" => {
            w.take("uni");
            want(o, 1..=1)?;
            Op::Bra { target: usize::MAX }
        }
        "ret" | "exit" => {
            w.take("uni");
            want(o, 0..=0)?;
            Op::Exit
        }
        _ => arithmetic(head, &mut w, o)?,
    };
    w.done()?;
    Ok(op)
}

fn arithmetic(head: &str, w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    let (lo, hi, wide) = (w.take("lo"), w.take("hi"), w.take("wide"));
    let (left, right, wrap, clamp) = (w.take("l"), w.take("r"), w.take("wrap"), w.take("clamp"));
    let rounded = w.take("rn");
    let approximate = w.take("approx");
    w.take("ftz");
    let ty = w.ty()?;
    let float = ty.is_float();
    let (f, sources) = match head {
        "add" => (Alu::Add, 2),
        "sub" => (Alu::Sub, 2),
        "mul" if float => (Alu::Mul, 2),
        "mul" if hi => (Alu::MulHi, 2),
        "mul" if wide => (Alu::MulWide, 2),
        "mul" if lo => (Alu::MulLo, 2),
        "mad" if float => (Alu::Fma, 3),
        "mad" if hi => (Alu::MadHi, 3),
        "mad" if wide => (Alu::MadWide, 3),
        "mad" if lo => (Alu::MadLo, 3),
        "fma" if float => (Alu::Fma, 3),
        "mul24" if lo => (Alu::Mul24, 2),
        "mad24" if lo => (Alu::Mad24, 3),
        "div" if !float || rounded => (Alu::Div, 2),
        "rem" if !float => (Alu::Rem, 2),
        "shl" => (Alu::Shl, 2),
        "shr" => (Alu::Shr, 2),
        "and" => (Alu::And, 2),
        "or" => (Alu::Or, 2),
        "xor" => (Alu::Xor, 2),
        "not" => (Alu::Not, 1),
        "neg" => (Alu::Neg, 1),
        "abs" => (Alu::Abs, 1),
        "min" => (Alu::Min, 2),
        "max" => (Alu::Max, 2),
        "ex2" if float && approximate => (Alu::Ex2, 1),
        "rsqrt" if float && approximate => (Alu::Rsqrt, 1),
        "rcp" if float && approximate => (Alu::Rcp, 1),
        "sqrt" | "rcp" if float && rounded => (if head == "rcp" { Alu::Rcp } else { Alu::Sqrt }, 1),
        "sqrt" if float && approximate => (Alu::Sqrt, 1),
        "lg2" if float && approximate => (Alu::Lg2, 1),
        "bfe" => (Alu::Bfe, 3),
        "bfi" => (Alu::Bfi, 4),
        "prmt" => (Alu::Prmt, 3),
        "popc" => (Alu::Popc, 1),
        "clz" => (Alu::Clz, 1),
        "brev" => (Alu::Brev, 1),
        "lop3" => (Alu::Lop3(0), 4),
        "shf" if left && wrap != clamp => (Alu::ShfL { wrap }, 3),
        "shf" if right && wrap != clamp => (Alu::ShfR { wrap }, 3),
        _ => return Err(format!("unknown instruction `{head}`")),
    };
    if (lo || hi || wide) && !(head.starts_with("mul") || head.starts_with("mad"))
        || (rounded && !float)
        || (approximate && !matches!(f, Alu::Ex2 | Alu::Rsqrt | Alu::Rcp | Alu::Sqrt | Alu::Lg2))
    {
        return Err("a suffix does not belong to this instruction".to_string());
    }
    if matches!(ty, Ty::U16x2 | Ty::S16x2) && !matches!(f, Alu::Add | Alu::Min | Alu::Max) {
        return Err(format!("`{head}` knows no pairs of whole numbers"));
    }
    // Without a rounding ptxas may make one instruction of a product and a sum, rounded once.
    if float && !rounded && matches!(f, Alu::Add | Alu::Sub | Alu::Mul | Alu::Fma) {
        return Err(format!("`{head}` of floats says no rounding: it may be fused"));
    }
    want(o, sources + 1..=sources + 1)?;
    let mut all = [Src::Imm(0); 4];
    for (slot, operand) in all.iter_mut().zip(&o[1..]) {
        *slot = match operand {
            Operand::Negated(_) => {
                return Err("a negated predicate does not belong here".to_string());
            }
            other => src(other)?,
        };
    }
    let f = match (f, all[3]) {
        (Alu::Lop3(_), Src::Imm(table)) if table < 256 => Alu::Lop3(table as u8),
        (Alu::Lop3(_), _) => return Err("lop3 needs a truth table below 256".to_string()),
        (f, _) => f,
    };
    Ok(Op::Alu { f, ty, dst: reg(&o[0])?, src: all })
}

fn mov(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 2..=2)?;
    let ty = w.ty()?;
    Ok(match (&o[0], &o[1]) {
        (Operand::Vector(parts), value) => {
            let dst = parts
                .iter()
                .map(|p| if matches!(p, Operand::Sink) { Ok(None) } else { reg(p).map(Some) });
            Op::Unpack { ty, dst: dst.collect::<Decoded<_>>()?, src: src(value)? }
        }
        (dst, Operand::Vector(parts)) => {
            Op::Pack { ty, dst: reg(dst)?, src: parts.iter().map(src).collect::<Decoded<_>>()? }
        }
        (dst, value) => Op::Mov { ty, dst: reg(dst)?, src: src(value)? },
    })
}

fn convert(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 2..=3)?;
    let round = w.pick(|x| {
        ["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "rna"]
            .contains(&x)
            .then(|| x.to_string())
    });
    w.take("ftz");
    if let Some((_, word)) =
        w.rest.iter().enumerate().find(|(_, x)| matches!(**x, "e4m3x2" | "e5m2x2"))
    {
        let fraction = if *word == "e4m3x2" { 3 } else { 2 };
        let word = word.to_string();
        let second = o.get(2).map(src).transpose()?;
        if round.as_deref() != Some("rn") {
            return Err("8-bit floats are rounded to the nearest".to_string());
        }
        // Towards them what is too large becomes the greatest; from them everything is exact.
        let wanted: [&str; 2] = if second.is_some() { [&word, "f32"] } else { ["f16x2", &word] };
        if second.is_some() {
            w.require("satfinite")?;
        }
        wanted.iter().try_for_each(|x| w.require(x))?;
        return Ok(Op::Cvt8 { fraction, dst: reg(&o[0])?, src: src(&o[1])?, second });
    }
    let (to, from) = (w.ty()?, w.ty()?);
    let second = o.get(2).map(src).transpose()?;
    if second.is_some() != matches!(to, Ty::F16x2 | Ty::Bf16x2) {
        return Err("two sources belong to a packed result".to_string());
    }
    Ok(Op::Cvt { to, from, round, dst: reg(&o[0])?, src: src(&o[1])?, second })
}

fn setp(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 3..=4)?;
    let unsigned = |x: &str| matches!(x, "lo" | "ls" | "hi" | "hs").then(|| x.to_string());
    let unordered = |x: &str| {
        Some(Cmp::Unordered(match x {
            "equ" => Relation::Eq,
            "neu" => Relation::Ne,
            "ltu" => Relation::Lt,
            "leu" => Relation::Le,
            "gtu" => Relation::Gt,
            "geu" => Relation::Ge,
            "nan" => Relation::Never,
            "num" => return Some(Cmp::Numbers),
            _ => return None,
        }))
    };
    let cmp = if let Some(word) = w.pick(unsigned) {
        match word.as_str() {
            "lo" => Cmp::Lt,
            "ls" => Cmp::Le,
            "hi" => Cmp::Gt,
            _ => Cmp::Ge,
        }
    } else {
        let plain = |x: &str| {
            Some(match x {
                "eq" => Cmp::Eq,
                "ne" => Cmp::Ne,
                "lt" => Cmp::Lt,
                "le" => Cmp::Le,
                "gt" => Cmp::Gt,
                "ge" => Cmp::Ge,
                _ => return None,
            })
        };
        w.pick(plain).or_else(|| w.pick(unordered)).ok_or("unknown comparison")?
    };
    let join = w.pick(|x| match x {
        "and" => Some(Join::And),
        "or" => Some(Join::Or),
        "xor" => Some(Join::Xor),
        _ => None,
    });
    let ty = w.ty()?;
    if matches!(cmp, Cmp::Unordered(_) | Cmp::Numbers) && !ty.is_float() {
        return Err("every integer is a number".to_string());
    }
    let (dst, other) = match &o[0] {
        Operand::Pair(a, b) => (*a, Some(*b)),
        single => (reg(single)?, None),
    };
    let join = match (join, o.get(3)) {
        (Some(join), Some(Operand::Negated(p))) => Some((join, Src::Reg(*p), true)),
        (Some(join), Some(p)) => Some((join, src(p)?, false)),
        (None, None) => None,
        _ => return Err("a combining setp has four operands".to_string()),
    };
    Ok(Op::Setp { cmp, ty, dst, other, a: src(&o[1])?, b: src(&o[2])?, join })
}

fn barrier(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    if w.take("warp") {
        w.require("sync")?;
        want(o, 1..=1)?;
        return Ok(Op::WarpSync { mask: src(&o[0])? });
    }
    w.take("cta");
    w.require("sync")?;
    w.take("aligned");
    want(o, 1..=2)?;
    Ok(Op::Barrier { id: src(&o[0])?, count: o.get(1).map(src).transpose()? })
}

fn shuffle(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 5..=5)?;
    w.require("sync")?;
    w.require("b32")?;
    let mode = w.pick(|x| {
        Some(match x {
            "bfly" => Exchange::Bfly,
            "idx" => Exchange::Idx,
            "up" => Exchange::Up,
            "down" => Exchange::Down,
            _ => return None,
        })
    });
    let mode = mode.ok_or("unknown shuffle")?;
    let (dst, ok) = match &o[0] {
        Operand::Pair(a, b) => (*a, Some(*b)),
        single => (reg(single)?, None),
    };
    Ok(Op::Shfl {
        mode,
        dst,
        ok,
        a: src(&o[1])?,
        b: src(&o[2])?,
        c: src(&o[3])?,
        mask: src(&o[4])?,
    })
}
