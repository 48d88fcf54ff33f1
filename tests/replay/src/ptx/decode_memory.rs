//! PTX loads, stores, copies and matrix instructions: suffixes and operands to operations.

use super::decode::{Decoded, Words, addr, reg, regs, shared_word, src, srcs, want};
use super::fragment::Move;
use super::op::{MmaForm, Op, Src, Ty, Where};
use super::parse::Operand;
use crate::atomic::{Atomic, Word};

fn vector_len(w: &mut Words<'_>) -> usize {
    w.pick(|x| match x {
        "v2" => Some(2),
        "v4" => Some(4),
        _ => None,
    })
    .unwrap_or(1)
}

fn space(w: &mut Words<'_>) -> Where {
    if w.take("global") {
        Where::Global
    } else if w.pick(|x| shared_word(x).then_some(())).is_some() {
        Where::Shared
    } else {
        Where::Generic
    }
}

fn check_vector(ty: Ty, given: usize, len: usize) -> Decoded<()> {
    if given != len {
        return Err(format!("{given} registers for a vector of {len}"));
    }
    if ty.bytes() * len as u32 > 16 {
        return Err("wider than 128 bits".to_string());
    }
    Ok(())
}

pub(super) fn load(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 2..=2)?;
    let is_param = w.take("param");
    let (len, space) = (vector_len(w), space(w));
    w.hints();
    let (ty, dst) = (w.ty()?, regs(&o[0])?);
    check_vector(ty, dst.len(), len)?;
    if is_param {
        return match &o[1] {
            Operand::ParamAddr(offset) => Ok(Op::LdParam { ty, dst, offset: *offset }),
            other => Err(format!("expected a parameter, found {other:?}")),
        };
    }
    Ok(Op::Ld { space, ty, dst, addr: addr(&o[1])? })
}

pub(super) fn store(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 2..=2)?;
    let (len, space) = (vector_len(w), space(w));
    w.hints();
    let (ty, src) = (w.ty()?, srcs(&o[1])?);
    check_vector(ty, src.len(), len)?;
    Ok(Op::St { space, ty, src, addr: addr(&o[0])? })
}

/// `red` on global memory, of words of 32 and 64 bits.
pub(super) fn reduce(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 2..=2)?;
    w.require("global")?;
    let how = combination(w, &["add", "min", "max", "and", "or", "xor"])?;
    Ok(Op::Red { how, dst: None, src: src(&o[1])?, compared: None, addr: addr(&o[0])? })
}

/// `atom` on global memory; `_` takes an answer that nobody reads.
pub(super) fn answer(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 3..=4)?;
    w.require("global")?;
    let how = combination(w, &["add", "min", "max", "and", "or", "xor", "exch", "cas"])?;
    let compares = how.op == crate::atomic::Combine::Cas;
    if compares != (o.len() == 4) {
        return Err("`atom.cas`, and nothing else, has what it compares with".to_string());
    }
    let dst = match o[0] {
        Operand::Sink => None,
        _ => Some(reg(&o[0])?),
    };
    if dst.is_some_and(|dst| dst.bits != 8 * how.bytes()) {
        return Err("an answer of another width".to_string());
    }
    let compared = if compares { Some(src(&o[2])?) } else { None };
    Ok(Op::Red { how, dst, src: src(&o[o.len() - 1])?, compared, addr: addr(&o[1])? })
}

fn combination(w: &mut Words<'_>, known: &[&'static str]) -> Decoded<Atomic> {
    let op = w.pick(|x| known.iter().copied().find(|y| *y == x));
    let op = op.ok_or_else(|| "no known atomic operation".to_string())?;
    let is_bits = ["and", "or", "xor", "exch", "cas"].contains(&op);
    let kept = w.take("noftz");
    let word = w.pick(|x| match x {
        "b32" if is_bits => Some(Word::Unsigned),
        "b64" if is_bits => Some(Word::Unsigned64),
        "u64" if !is_bits => Some(Word::Unsigned64),
        "s64" if !is_bits && op != "add" => Some(Word::Signed64),
        "f64" if !kept => Some(Word::F64),
        "u32" if !is_bits => Some(Word::Unsigned),
        "s32" if !is_bits => Some(Word::Signed),
        "f32" if !kept => Some(Word::F32),
        "f16" if kept => Some(Word::F16),
        "bf16" if kept => Some(Word::Bf16),
        "f16x2" if kept => Some(Word::F16x2),
        "bf16x2" if kept => Some(Word::Bf16x2),
        _ => None,
    });
    let how = word.and_then(|word| Atomic::new(op, word));
    how.ok_or_else(|| "no such atomic operation".to_string())
}

pub(super) fn cp(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    w.require("async")?;
    if w.take("bulk") {
        if w.take("commit_group") {
            want(o, 0..=0)?;
            return Ok(Op::CommitStores);
        }
        if w.take("wait_group") {
            let read = w.take("read");
            want(o, 1..=1)?;
            return match o[0] {
                Operand::Src(Src::Imm(n)) => Ok(Op::WaitStores { keep: n as u32, read }),
                _ => Err("wait_group needs a constant".to_string()),
            };
        }
        w.require("tensor")?;
        return super::tensor::copy(w, o);
    }
    if w.take("commit_group") {
        want(o, 0..=0)?;
        return Ok(Op::CommitGroup);
    }
    if w.take("wait_all") {
        want(o, 0..=0)?;
        return Ok(Op::WaitAll);
    }
    if w.take("wait_group") {
        want(o, 1..=1)?;
        return match o[0] {
            Operand::Src(Src::Imm(n)) => Ok(Op::WaitGroup(n as u32)),
            _ => Err("wait_group needs a constant".to_string()),
        };
    }
    let (ca, cg) = (w.take("ca"), w.take("cg"));
    if ca == cg || w.pick(|x| shared_word(x).then_some(())).is_none() {
        return Err("expected cp.async.{ca,cg}.shared.global".to_string());
    }
    w.require("global")?;
    w.hints();
    want(o, 3..=4)?;
    let bytes = match o[2] {
        Operand::Src(Src::Imm(n)) if n == 16 || (ca && (n == 4 || n == 8)) => n as u32,
        _ => return Err("cp.async copies 16 bytes, with .ca also 4 or 8".to_string()),
    };
    let src_bytes = o.get(3).map(src).transpose()?;
    Ok(Op::CpAsync { bytes, dst: addr(&o[0])?, src: addr(&o[1])?, src_bytes })
}

pub(super) fn matrix_move(head: &str, w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 2..=2)?;
    for word in ["sync", "aligned"] {
        w.require(word)?;
    }
    let shape = w
        .pick(|x| ["m8n8", "m16n16", "m16n8"].into_iter().find(|s| *s == x))
        .ok_or("only m8n8, m16n16 and m16n8 are modelled")?;
    w.require(if shape == "m8n8" { "b16" } else { "b8" })?;
    if w.pick(|x| shared_word(x).then_some(())).is_none() {
        return Err("expected the suffix `.shared`".to_string());
    }
    let trans = w.take("trans");
    let count = w.pick(|x| x.strip_prefix('x').and_then(|n| n.parse::<usize>().ok())).unwrap_or(0);
    let form = match (head, shape) {
        (_, "m8n8") => Move::Halves { trans },
        ("ldmatrix", "m16n16") if trans && count < 4 => Move::Load16,
        ("stmatrix", "m16n8") if trans => Move::Store16,
        _ => return Err(format!("`{head}` has no {shape} like this")),
    };
    let given = |n: usize| {
        if n == count * form.registers() && [1, 2, 4].contains(&count) {
            Ok(())
        } else {
            Err(format!("{n} registers for .x{count}"))
        }
    };
    if head == "ldmatrix" {
        let dst = regs(&o[0])?;
        given(dst.len())?;
        return Ok(Op::LdMatrix { dst, form, addr: addr(&o[1])? });
    }
    let src = srcs(&o[1])?;
    given(src.len())?;
    Ok(Op::StMatrix { src, form, addr: addr(&o[0])? })
}

pub(super) fn mma(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    want(o, 4..=4)?;
    for word in ["sync", "aligned", "row", "col"] {
        w.require(word)?;
    }
    let shape = |x: &str, head: &str, m: u32| {
        x.strip_prefix(head).and_then(|k| k.parse::<u32>().ok()).map(|k| (m, k))
    };
    let (m, k) = w
        .pick(|x| shape(x, "m16n8k", 16).or_else(|| shape(x, "m8n8k", 8)))
        .ok_or("only m16n8kK and m8n8kK shapes are modelled")?;
    if w.rest.len() != 4 {
        return Err("expected four type suffixes".to_string());
    }
    let (d_ty, a, b, c_ty) = (w.ty()?, w.element()?, w.element()?, w.ty()?);
    if [d_ty, a, b, c_ty] == [Ty::F64; 4]
        && ((m, k) == (8, 4) || m == 16 && [4, 8, 16].contains(&k))
    {
        let (d, a, b, c) = (regs(&o[0])?, srcs(&o[1])?, srcs(&o[2])?, srcs(&o[3])?);
        let want = [m * 8 / 32, m * k / 32, k * 8 / 32, m * 8 / 32].map(|n| n as usize);
        if [d.len(), a.len(), b.len(), c.len()] != want {
            return Err(format!("expected {want:?} registers"));
        }
        return Ok(Op::MmaF64 { shape: [m, 8, k], d, a, b, c });
    }
    let known = match (a, b, d_ty) {
        (Ty::S(8) | Ty::U(8), Ty::S(8) | Ty::U(8), Ty::S(32)) if m == 8 => k == 16,
        (Ty::S(4) | Ty::U(4), Ty::S(4) | Ty::U(4), Ty::S(32)) if m == 8 => k == 32,
        _ if m == 8 => false,
        (Ty::S(4) | Ty::U(4), Ty::S(4) | Ty::U(4), Ty::S(32)) => k == 32 || k == 64,
        (Ty::F16, Ty::F16, Ty::F32 | Ty::F16) | (Ty::Bf16, Ty::Bf16, Ty::F32) => k == 8 || k == 16,
        (Ty::Tf32, Ty::Tf32, Ty::F32) => k == 4 || k == 8,
        (Ty::E4m3 | Ty::E5m2, Ty::E4m3 | Ty::E5m2, Ty::F32 | Ty::F16) => k == 16 || k == 32,
        (Ty::S(8) | Ty::U(8), Ty::S(8) | Ty::U(8), Ty::S(32)) => k == 16 || k == 32,
        _ => false,
    };
    if !known || c_ty != d_ty {
        return Err("this shape and these types are not modelled".to_string());
    }
    let form = MmaForm { m, k, a, b, acc: d_ty };
    let (d, a, b, c) = (regs(&o[0])?, srcs(&o[1])?, srcs(&o[2])?, srcs(&o[3])?);
    let acc_regs = if d_ty == Ty::F16 || m == 8 { 2 } else { 4 };
    let (a_regs, b_regs) =
        ((m * k * form.a.bits() / 1024) as usize, (8 * k * form.b.bits() / 1024) as usize);
    if (d.len(), a.len(), b.len(), c.len()) != (acc_regs, a_regs, b_regs, acc_regs) {
        return Err(format!("expected {acc_regs}, {a_regs}, {b_regs}, {acc_regs} registers"));
    }
    Ok(Op::Mma { form, d, a, b, c })
}
