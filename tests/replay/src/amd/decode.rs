//! AMDGCN instructions: mnemonic and operands to an operation.

use super::decode_memory;
use super::decode_vector;
use super::objection::Checker;
use super::op::{ACC, Cond, Counts, Gfx, Op, Program, Queue, Src, Stmt};
use super::scalar_table;
use super::text::{Line, Operand, split};
use crate::fault::ParseFault;

pub(super) type Decoded<T> = Result<T, String>;

/// Parses a text with one kernel.
pub(crate) fn parse(text: &str) -> Result<Program, ParseFault> {
    let parts = split(text)?;
    let mut checker = Checker::new(&parts.header);
    let mut code = Vec::with_capacity(parts.lines.len());
    for line in &parts.lines {
        let fault = |sentence: String| {
            let text = format!("{} {}", line.mnemonic, line.rest);
            ParseFault { line: line.line, text, sentence }
        };
        checker.check(line);
        let target = |label: &str| parts.labels.get(label).copied();
        let op = decode(line, (parts.header.gfx, parts.header.wave), &target).map_err(fault)?;
        checker.check_op(line.line, &op);
        code.push(Stmt { line: line.line, mnemonic: line.mnemonic.clone(), op });
    }
    Ok(Program { name: parts.name, header: parts.header, code, objections: checker.objections })
}

/// A scalar or vector source of `words` 32-bit words.
pub(super) fn src(operand: &Operand, words: u16) -> Decoded<Src> {
    match operand {
        Operand::S { first, len } if u16::from(*len) == words => Ok(Src::S(*first)),
        Operand::V { first, len, acc } if *len == words => {
            Ok(Src::V(first + if *acc { ACC } else { 0 }))
        }
        Operand::Int(value) => Ok(Src::K(*value as u64)),
        Operand::Float(value) => Ok(Src::K(u64::from((*value as f32).to_bits()))),
        other => Err(format!("expected a source of {words} words, found {other:?}")),
    }
}

/// A vector register tuple of `words` words.
pub(super) fn vreg(operand: &Operand, words: u16) -> Decoded<u16> {
    match src(operand, words)? {
        Src::V(first) => Ok(first),
        _ => Err(format!("expected {words} vector registers")),
    }
}

/// A scalar register tuple of `words` words.
pub(super) fn sreg(operand: &Operand, words: u16) -> Decoded<u8> {
    match src(operand, words)? {
        Src::S(first) => Ok(first),
        _ => Err(format!("expected {words} scalar registers")),
    }
}

pub(super) fn int(operand: &Operand) -> Decoded<i64> {
    if let Operand::Int(value) = operand {
        Ok(*value)
    } else {
        Err(format!("expected a number, found {operand:?}"))
    }
}

pub(super) fn want(line: &Line, count: usize) -> Decoded<()> {
    if line.operands.len() == count {
        Ok(())
    } else {
        Err(format!("expected {count} operands, found {}", line.operands.len()))
    }
}

/// Whether an instruction has caches write back, or forget, as all of the device is to see it.
fn is_of_caches(name: &str, rest: &str, gfx: Gfx) -> bool {
    match gfx {
        Gfx::Gfx908 | Gfx::Gfx90a => name == "buffer_wbinvl1" && rest.is_empty(),
        Gfx::Gfx942 | Gfx::Gfx950 => matches!(name, "buffer_wbl2" | "buffer_inv") && rest == "sc1",
        Gfx::Rdna2 | Gfx::Rdna3 => {
            matches!(name, "buffer_gl1_inv" | "buffer_gl0_inv") && rest.is_empty()
        }
        Gfx::Rdna4 => name == "global_inv" && rest == "scope:SCOPE_DEV",
        Gfx::Gfx1250 | Gfx::Gfx1251 => {
            matches!(name, "global_wb" | "global_inv") && rest == "scope:SCOPE_DEV"
        }
    }
}

fn decode(
    line: &Line,
    (gfx, wave): (Gfx, u32),
    target: &dyn Fn(&str) -> Option<usize>,
) -> Decoded<Op> {
    let known = super::names::older(&line.mnemonic, gfx)?;
    let name = known.as_str();
    if is_of_caches(name, line.rest.trim(), gfx) {
        // There is one memory here, and nothing before it keeps what it was.
        return Ok(Op::Hint);
    }
    let op = if name.starts_with("s_wait") {
        return wait(name, &line.rest, gfx);
    } else if name.starts_with("s_") {
        scalar(name, line, gfx, target)?
    } else if name.starts_with("v_wmma_") {
        return decode_vector::wmma(name, line, gfx, wave);
    } else if name.starts_with("v_mfma_") && name.ends_with("_f8f6f4") {
        return super::scaled::decode(name, line, gfx);
    } else if name.starts_with("v_mfma_") {
        return decode_vector::matrix(name, line, gfx);
    } else if name.starts_with("v_") {
        return decode_vector::vector(name, line, gfx, wave);
    } else {
        return decode_memory::decode(name, line, gfx);
    };
    Ok(op)
}

fn scalar(
    name: &str,
    line: &Line,
    gfx: Gfx,
    target: &dyn Fn(&str) -> Option<usize>,
) -> Decoded<Op> {
    let o = &line.operands;
    if name.starts_with("s_load_dword") {
        return decode_memory::scalar_load(name, line);
    }
    if !line.modifiers.is_empty() {
        return Err(format!("unknown modifier `{}`", line.modifiers[0].0));
    }
    let cond = match name {
        "s_branch" => Some(Cond::Always),
        "s_cbranch_scc0" => Some(Cond::Scc(false)),
        "s_cbranch_scc1" => Some(Cond::Scc(true)),
        "s_cbranch_vccz" => Some(Cond::Vccz(true)),
        "s_cbranch_vccnz" => Some(Cond::Vccz(false)),
        "s_cbranch_execz" => Some(Cond::Execz(true)),
        "s_cbranch_execnz" => Some(Cond::Execz(false)),
        _ => None,
    };
    if let Some(cond) = cond {
        want(line, 1)?;
        let Operand::Word(label) = &o[0] else {
            return Err("expected a label".to_string());
        };
        let target = target(label).ok_or_else(|| format!("no label `{label}`"))?;
        return Ok(Op::Branch { cond, target });
    }
    match name {
        "s_endpgm" => return want(line, 0).map(|()| Op::End),
        "s_barrier" if !gfx.is_gfx12() => return want(line, 0).map(|()| Op::Barrier),
        "s_barrier_signal" | "s_barrier_wait" if gfx.is_gfx12() => {
            want(line, 1)?;
            // -1 is the barrier of the whole group.
            if int(&o[0])? != -1 {
                return Err("only the group's barrier is modelled".to_string());
            }
            return Ok(if name == "s_barrier_wait" { Op::WaitSignal } else { Op::Signal });
        }
        "s_nop" => {
            want(line, 1)?;
            let states = int(&o[0])?;
            return if (0..16).contains(&states) {
                Ok(Op::Nop { states: states as u32 + 1 })
            } else {
                Err("s_nop takes 0 to 15".to_string())
            };
        }
        "s_setprio" | "s_sleep" | "s_inst_prefetch" => return Ok(Op::Hint),
        "s_cselect_b32" | "s_cselect_b64" => {
            want(line, 3)?;
            let words = if name.ends_with("64") { 2 } else { 1 };
            return Ok(Op::Select {
                dst: (sreg(&o[0], words)?, words as u8),
                a: src(&o[1], words)?,
                b: src(&o[2], words)?,
            });
        }
        _ => {}
    }
    if let Some(base) = name.strip_suffix("_saveexec_b64") {
        want(line, 2)?;
        let entry = scalar_table::find(&format!("{base}_b64")).ok_or("unknown instruction")?;
        return Ok(Op::SaveExec { f: entry.f, dst: sreg(&o[0], 2)?, src: src(&o[1], 2)? });
    }
    let entry = scalar_table::find(name).ok_or_else(|| format!("unknown instruction `{name}`"))?;
    let sources = 1 + usize::from(entry.b > 0);
    // `s_addk_i32 s0, 4` and the like use their destination as first source.
    let in_place = matches!(name, "s_addk_i32" | "s_mulk_i32");
    let dst_count = usize::from(entry.dst > 0);
    want(line, dst_count + sources - usize::from(in_place))?;
    let dst = if entry.dst > 0 { Some((sreg(&o[0], entry.dst.into())?, entry.dst)) } else { None };
    let at = if in_place { 0 } else { dst_count };
    let a = (src(&o[at], entry.a.into())?, entry.a);
    let b = if entry.b > 0 { (src(&o[at + 1], entry.b.into())?, entry.b) } else { (Src::K(0), 0) };
    if matches!(a.0, Src::V(_)) || matches!(b.0, Src::V(_)) {
        return Err("a scalar instruction cannot read a vector register".to_string());
    }
    Ok(Op::Scalar { f: entry.f, dst, a, b })
}

fn wait(name: &str, rest: &str, gfx: Gfx) -> Decoded<Op> {
    // A counter holds no more than the greatest number: waiting for that is waiting for nothing.
    let most = |count: u32, most: u32| {
        if count <= most {
            Ok(Some(count).filter(|_| count < most))
        } else {
            Err(format!("`{name} {rest}` is out of range"))
        }
    };
    if name != "s_waitcnt" {
        // Not counters of operations: what they wait for has no delay here.
        if name == "s_wait_alu" && gfx.is_gfx12()
            || name == "s_wait_xcnt" && gfx.is_gfx125()
            || matches!((name, gfx), ("s_waitcnt_depctr", Gfx::Rdna2 | Gfx::Rdna3))
        {
            return Ok(Op::Hint);
        }
        let count =
            rest.rsplit(' ').next().and_then(|n| n.parse().ok()).ok_or("expected a count")?;
        let (queue, greatest) = match name {
            "s_waitcnt_vscnt"
                if matches!(gfx, Gfx::Rdna2 | Gfx::Rdna3) && rest.starts_with("null,") =>
            {
                (Queue::Vs, 63)
            }
            "s_wait_loadcnt" if gfx.is_gfx12() => (Queue::Vm, 63),
            "s_wait_dscnt" if gfx.is_gfx12() => (Queue::Lgkm, 63),
            "s_wait_storecnt" if gfx.is_gfx12() => (Queue::Vs, 63),
            "s_wait_kmcnt" if gfx.is_gfx12() => (Queue::Km, 31),
            "s_wait_asynccnt" if gfx.is_gfx125() => (Queue::Async, 63),
            _ => return Err(format!("`{name}` is no wait of this generation")),
        };
        let mut counts = Counts::default();
        counts[queue as usize] = most(count, greatest)?;
        return Ok(Op::Wait(counts));
    }
    if gfx.is_gfx12() {
        return Err("`s_waitcnt` is no wait of this generation".to_string());
    }
    let lds_most = if gfx.is_rdna() { 63 } else { 15 };
    if let Some(raw) = super::text::number(rest).filter(|_| !gfx.is_rdna()) {
        // gfx9: vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8.
        let vm = (raw & 15) | ((raw >> 14) & 3) << 4;
        return Ok(Op::Wait([
            Some(vm as u32).filter(|n| *n < 63),
            Some((raw >> 8 & 15) as u32).filter(|n| *n < 15),
            None,
            None,
            None,
        ]));
    }
    let (mut vm, mut lgkm) = (None, None);
    for word in rest.split(['&', ',', ' ']).map(str::trim).filter(|w| !w.is_empty()) {
        let (counter, count) =
            word.strip_suffix(')').and_then(|w| w.split_once('(')).ok_or("expected counter(n)")?;
        let count: u32 = count.trim().parse().map_err(|_| format!("`{count}` is no count"))?;
        match (counter, count) {
            ("vmcnt", 0..=63) => vm = Some(count).filter(|n| *n < 63),
            ("lgkmcnt", count) if count <= lds_most => lgkm = Some(count).filter(|n| *n < lds_most),
            ("expcnt", 0..=7) => {}
            _ => {
                return Err(format!("`{word}` is no counter of this generation or out of range"));
            }
        }
    }
    if rest.is_empty() {
        Err("s_waitcnt needs a counter".to_string())
    } else {
        Ok(Op::Wait([vm, lgkm, None, None, None]))
    }
}
