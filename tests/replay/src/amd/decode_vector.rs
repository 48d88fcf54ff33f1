//! Vector and matrix instructions: names and operands to operations.

use super::decode::{Decoded, src, sreg, vreg, want};
use super::op::{ACC, Element, Gfx, Mfma, Op, Pattern, Src, Wide, Wmma};
use super::text::{Line, Operand, number};
use super::vector_table;

pub(super) fn vector(name: &str, line: &Line, gfx: Gfx, wave: u32) -> Decoded<Op> {
    let o = &line.operands;
    if name == "v_nop" {
        return want(line, 0).map(|()| Op::Nop { states: 1 });
    }
    if name == "v_bitop3_b32" {
        return bitop3(line, gfx);
    }
    if name == "v_mov_b32_dpp" {
        return dpp(line, gfx);
    }
    if name == "v_cvt_f32_f16_sdwa" && gfx <= Gfx::Rdna2 {
        return upper_half(line);
    }
    if let Some(op) = narrow_floats(name, line, gfx) {
        return op;
    }
    if let Some((key, _)) = line.modifiers.first() {
        return Err(format!("modifier `{key}` is not modelled"));
    }
    if matches!(name, "v_lshl_add_u64" | "v_mov_b64") && gfx < Gfx::Gfx942 {
        return Err(format!("`{name}` needs gfx942"));
    }
    if let Some((f, count)) = vector_table::find(name) {
        want(line, count + 1)?;
        if matches!(name, "v_cvt_pk_f16_f32" | "v_cvt_pk_bf16_f32") && gfx != Gfx::Gfx950 {
            return Err(format!("`{name}` needs gfx950"));
        }
        let mut sources = [Src::K(0); 3];
        for (slot, operand) in sources.iter_mut().zip(&o[1..]) {
            *slot = src(operand, 1)?;
        }
        return Ok(Op::Lane { f, dst: vreg(&o[0], 1)?, src: sources });
    }
    if let Some((f, wide)) = vector_table::find_compare(name) {
        want(line, 3)?;
        let words = if wide { 2 } else { 1 };
        return Ok(Op::Compare { f, wide, dst: sreg(&o[0], (wave / 32) as u16)?, a: src(&o[1], words)?, b: src(&o[2], words)? });
    }
    match name {
        "v_cndmask_b32" => {
            want(line, 4)?;
            Ok(Op::Cndmask { dst: vreg(&o[0], 1)?, a: src(&o[1], 1)?, b: src(&o[2], 1)?, mask: sreg(&o[3], (wave / 32) as u16)? })
        }
        "v_readfirstlane_b32" => {
            want(line, 2)?;
            Ok(Op::ReadLane { dst: sreg(&o[0], 1)?, src: vreg(&o[1], 1)?, lane: None })
        }
        "v_readlane_b32" => {
            want(line, 3)?;
            Ok(Op::ReadLane { dst: sreg(&o[0], 1)?, src: vreg(&o[1], 1)?, lane: Some(src(&o[2], 1)?) })
        }
        "v_writelane_b32" => {
            want(line, 3)?;
            Ok(Op::WriteLane { dst: vreg(&o[0], 1)?, value: src(&o[1], 1)?, lane: src(&o[2], 1)? })
        }
        "v_permlane64_b32" if gfx >= Gfx::Rdna3 && wave == 64 => {
            want(line, 2)?;
            Ok(Op::OtherHalf { dst: vreg(&o[0], 1)?, src: vreg(&o[1], 1)? })
        }
        "v_permlane32_swap_b32" | "v_permlane16_swap_b32" if gfx == Gfx::Gfx950 => {
            want(line, 2)?;
            let rows = if name.contains("32_swap") { 32 } else { 16 };
            Ok(Op::Swap { rows, a: vreg(&o[0], 1)?, b: vreg(&o[1], 1)? })
        }
        _ => wide(name, line),
    }
}

/// Conversions of 8-bit floats: a pair to a half of a register, a byte to f32.
fn narrow_floats(name: &str, line: &Line, gfx: Gfx) -> Option<Decoded<Op>> {
    let o = &line.operands;
    let (format, key) = match name {
        "v_cvt_pk_fp8_f32" | "v_cvt_f32_fp8" | "v_cvt_f32_fp8_sdwa" => ("fp8", name),
        "v_cvt_pk_bf8_f32" | "v_cvt_f32_bf8" | "v_cvt_f32_bf8_sdwa" => ("bf8", name),
        _ => return None,
    };
    let kind = match gfx {
        Gfx::Gfx942 => "fnuz",
        Gfx::Gfx950 | Gfx::Rdna4 => "ocp",
        _ => return Some(Err(format!("`{name}` is no instruction of this generation"))),
    };
    let modifier = |key: &str| line.modifiers.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
    let find = |which: &str| vector_table::find_narrow(format, kind, which).ok_or_else(|| format!("`{which}` is not modelled"));
    if line.modifiers.len() > 1 {
        return Some(Err("more than one modifier".to_string()));
    }
    Some((|| {
        if key.starts_with("v_cvt_pk") {
            want(line, 3)?;
            let upper = match modifier("op_sel") {
                None if line.modifiers.is_empty() => false,
                Some("[0,0,1]") => true,
                _ => return Err("expected op_sel:[0,0,1] or nothing".to_string()),
            };
            let dst = vreg(&o[0], 1)?;
            let old = if upper { Src::V(dst) } else { Src::K(0) };
            return Ok(Op::Lane { f: find(if upper { "hi" } else { "lo" })?, dst, src: [src(&o[1], 1)?, src(&o[2], 1)?, old] });
        }
        want(line, 2)?;
        let byte = match (key.ends_with("_sdwa"), modifier("src0_sel"), modifier("byte_sel")) {
            (true, Some(word), None) if gfx != Gfx::Rdna4 => word.strip_prefix("BYTE_").unwrap_or("?"),
            (false, None, Some(number)) if gfx == Gfx::Rdna4 => number,
            (false, None, None) if line.modifiers.is_empty() => "0",
            _ => "?",
        };
        Ok(Op::Lane { f: find(byte)?, dst: vreg(&o[0], 1)?, src: [src(&o[1], 1)?, Src::K(0), Src::K(0)] })
    })())
}

/// `v_cvt_f32_f16_sdwa` of an upper half, to a whole register.
fn upper_half(line: &Line) -> Decoded<Op> {
    want(line, 2)?;
    let wanted = [("dst_sel", "DWORD"), ("dst_unused", "UNUSED_PAD"), ("src0_sel", "WORD_1")];
    let has = |(key, value): &(&str, &str)| line.modifiers.iter().any(|(k, v)| k == key && v == value);
    if line.modifiers.len() != wanted.len() || !wanted.iter().all(has) {
        return Err("sub-dword selections are modelled for an upper half to a whole register".to_string());
    }
    let (f, _) = vector_table::find("v_cvt_f32_f16.upper").ok_or("no such conversion")?;
    Ok(Op::Lane { f, dst: vreg(&line.operands[0], 1)?, src: [src(&line.operands[1], 1)?, Src::K(0), Src::K(0)] })
}

/// `v_mov_b32_dpp` with all rows and banks written.
fn dpp(line: &Line, gfx: Gfx) -> Decoded<Op> {
    want(line, 2)?;
    let (dst, data) = (vreg(&line.operands[0], 1)?, vreg(&line.operands[1], 1)?);
    let mut pattern = None;
    for (key, value) in &line.modifiers {
        let found = match key.as_str() {
            "row_mask" | "bank_mask" if value == "0xf" => continue,
            "quad_perm" => {
                let list: Vec<u8> = value.trim_matches(['[', ']']).split(',').filter_map(|n| n.parse().ok()).filter(|n| *n < 4).collect();
                Pattern::Quad(list.try_into().map_err(|_| "expected four lanes of four".to_string())?)
            }
            "row_ror" => Pattern::Rotate(value.parse().ok().filter(|n| (1..16).contains(n)).ok_or("expected row_ror:1..15")?),
            "row_xmask" if gfx.is_rdna() => Pattern::Xor(value.parse().ok().filter(|n| *n < 16).ok_or("expected row_xmask:0..15")?),
            "row_mirror" => Pattern::Mirror,
            "row_half_mirror" => Pattern::HalfMirror,
            other => return Err(format!("modifier `{other}` is not modelled")),
        };
        if pattern.replace(found).is_some() {
            return Err("two patterns".to_string());
        }
    }
    Ok(Op::Lanes { pattern: pattern.ok_or("no pattern")?, dst, data, ds: false })
}

fn bitop3(line: &Line, gfx: Gfx) -> Decoded<Op> {
    let o = &line.operands;
    want(line, 4)?;
    if gfx != Gfx::Gfx950 {
        return Err("`v_bitop3_b32` needs gfx950".to_string());
    }
    let table = match line.modifiers.as_slice() {
        [(key, value)] if key == "bitop3" => number(value).filter(|t| (0..256).contains(t)),
        _ => None,
    };
    let table = table.ok_or("expected bitop3:0..0xff")? as u8;
    let dst = vreg(&o[0], 1)?;
    Ok(Op::Bitop3 { table, dst, src: [src(&o[1], 1)?, src(&o[2], 1)?, src(&o[3], 1)?] })
}

fn wide(name: &str, line: &Line) -> Decoded<Op> {
    let o = &line.operands;
    let plain = |f, dst, src| Ok(Op::Wide { f, dst, carry_out: None, src, carry_in: None });
    match name {
        "v_add_co_u32" | "v_sub_co_u32" => {
            want(line, 4)?;
            let f = if name == "v_add_co_u32" { Wide::AddCo } else { Wide::SubCo };
            let sources = [src(&o[2], 1)?, src(&o[3], 1)?, Src::K(0)];
            Ok(Op::Wide { f, dst: vreg(&o[0], 1)?, carry_out: Some(sreg(&o[1], 2)?), src: sources, carry_in: None })
        }
        "v_addc_co_u32" | "v_subb_co_u32" => {
            want(line, 5)?;
            let f = if name == "v_addc_co_u32" { Wide::AddcCo } else { Wide::SubbCo };
            let sources = [src(&o[2], 1)?, src(&o[3], 1)?, Src::K(0)];
            let (out, carry) = (sreg(&o[1], 2)?, sreg(&o[4], 2)?);
            Ok(Op::Wide { f, dst: vreg(&o[0], 1)?, carry_out: Some(out), src: sources, carry_in: Some(carry) })
        }
        "v_mad_u64_u32" => {
            want(line, 5)?;
            let sources = [src(&o[2], 1)?, src(&o[3], 1)?, src(&o[4], 2)?];
            let out = Some(sreg(&o[1], 2)?);
            Ok(Op::Wide { f: Wide::MadU64U32, dst: vreg(&o[0], 2)?, carry_out: out, src: sources, carry_in: None })
        }
        "v_lshl_add_u64" => {
            want(line, 4)?;
            plain(Wide::LshlAddU64, vreg(&o[0], 2)?, [src(&o[1], 2)?, src(&o[2], 1)?, src(&o[3], 2)?])
        }
        "v_lshlrev_b64" | "v_lshrrev_b64" | "v_ashrrev_i64" => {
            want(line, 3)?;
            let f = match name {
                "v_lshlrev_b64" => Wide::LshlB64,
                "v_lshrrev_b64" => Wide::LshrB64,
                _ => Wide::AshrI64,
            };
            plain(f, vreg(&o[0], 2)?, [src(&o[1], 1)?, src(&o[2], 2)?, Src::K(0)])
        }
        "v_mov_b64" => {
            want(line, 2)?;
            plain(Wide::MovB64, vreg(&o[0], 2)?, [src(&o[1], 2)?, Src::K(0), Src::K(0)])
        }
        _ => Err(format!("unknown instruction `{name}`")),
    }
}

/// Matrix forms: name behind `v_mfma_`, M, K, type, generations with their passes.
const FORMS: [(&str, u32, u32, Element, [u32; 3]); 14] = [
    ("f32_16x16x16_f16", 16, 16, Element::F16, [8, 4, 4]),
    ("f32_16x16x16_bf16", 16, 16, Element::Bf16, [0, 4, 4]),
    ("f32_16x16x16_bf16_1k", 16, 16, Element::Bf16, [8, 4, 4]),
    ("f32_32x32x8_f16", 32, 8, Element::F16, [16, 8, 8]),
    ("f32_32x32x8_bf16", 32, 8, Element::Bf16, [0, 8, 8]),
    ("f32_32x32x8_bf16_1k", 32, 8, Element::Bf16, [16, 8, 8]),
    ("f32_16x16x32_f16", 16, 32, Element::F16, [0, 0, 4]),
    ("f32_16x16x32_bf16", 16, 32, Element::Bf16, [0, 0, 4]),
    ("f32_32x32x16_f16", 32, 16, Element::F16, [0, 0, 8]),
    ("f32_32x32x16_bf16", 32, 16, Element::Bf16, [0, 0, 8]),
    ("i32_16x16x64_i8", 16, 64, Element::I8, [0, 0, 4]),
    ("i32_32x32x32_i8", 32, 32, Element::I8, [0, 0, 8]),
    // Eight-bit floats: the two types stand behind.
    ("f32_16x16x32", 16, 32, Element::E4m3 { fnuz: false }, [0, 4, 4]),
    ("f32_32x32x16", 32, 16, Element::E4m3 { fnuz: false }, [0, 8, 8]),
];

/// A form without the types of eight-bit floats behind it, and these: gfx942's have one zero and no infinity.
fn eight_bits(spelled: &str, gfx: Gfx) -> (String, Option<[Element; 2]>) {
    let fnuz = gfx == Gfx::Gfx942;
    let kind = |word: &str| match word {
        "fp8" => Some(Element::E4m3 { fnuz }),
        "bf8" => Some(Element::E5m2 { fnuz }),
        _ => None,
    };
    let mut words = spelled.rsplitn(3, '_');
    match (words.next().and_then(kind), words.next().and_then(kind), words.next()) {
        (Some(b), Some(a), Some(form)) => (form.to_string(), Some([a, b])),
        _ => (spelled.to_string(), None),
    }
}

/// RDNA's matrix instructions with results in f32.
pub(super) fn wmma(name: &str, line: &Line, gfx: Gfx, wave: u32) -> Decoded<Op> {
    let o = &line.operands;
    want(line, 4)?;
    if !line.modifiers.is_empty() {
        return Err("modifiers of matrix instructions are not modelled".to_string());
    }
    let types = name.strip_prefix("v_wmma_f32_16x16x16_").ok_or_else(|| format!("`{name}` is not modelled"))?;
    let kinds = match (types, gfx) {
        ("f16", Gfx::Rdna3 | Gfx::Rdna4) => [Element::F16; 2],
        ("bf16", Gfx::Rdna3 | Gfx::Rdna4) => [Element::Bf16; 2],
        (_, Gfx::Rdna4) => eight_bits(name, gfx).1.ok_or_else(|| format!("`{name}` is not modelled"))?,
        _ => return Err(format!("`{name}` is not modelled on this target")),
    };
    let mut wmma = Wmma { k: 16, kinds, wave, copies: gfx == Gfx::Rdna3, d: 0, a: 0, b: 0, c: Src::K(0) };
    (wmma.a, wmma.b) = (vreg(&o[1], wmma.source_regs())?, vreg(&o[2], wmma.source_regs())?);
    wmma.d = vreg(&o[0], wmma.result_regs())?;
    wmma.c = match &o[3] {
        Operand::V { .. } => Src::V(vreg(&o[3], wmma.result_regs())?),
        other => src(other, 1)?,
    };
    Ok(Op::Wmma(wmma))
}

pub(super) fn matrix(name: &str, line: &Line, gfx: Gfx) -> Decoded<Op> {
    let o = &line.operands;
    want(line, 4)?;
    if line.modifiers.iter().any(|(_, value)| value != "0") {
        return Err("cbsz, abid and blgp are not modelled".to_string());
    }
    // Older spelling: `16x16x16f16`, `16x16x16bf16_1k`.
    let mut spelled = name.trim_start_matches("v_mfma_").to_string();
    for ty in ["bf16_1k", "bf16", "f16"] {
        if let Some(head) = spelled.strip_suffix(ty) {
            spelled = format!("{}_{ty}", head.trim_end_matches('_'));
            break;
        }
    }
    let at = gfx.cdna().ok_or("RDNA has no such instruction")?;
    let (spelled, kinds) = eight_bits(&spelled, gfx);
    let form = FORMS.iter().enumerate().find(|(_, f)| f.0 == spelled && f.4[at] > 0);
    let Some((id, &(_, m, k, kind, passes))) = form else {
        return Err(format!("`{name}` is not modelled on this target"));
    };
    let kinds = kinds.unwrap_or([kind; 2]);
    let mut mfma = Mfma { m, k, kinds, passes: passes[at], id: id as u32, d: 0, a: 0, b: 0, c: Src::K(0) };
    (mfma.a, mfma.b) = (vreg(&o[1], mfma.source_regs())?, vreg(&o[2], mfma.source_regs())?);
    mfma.d = vreg(&o[0], mfma.result_regs())?;
    mfma.c = src(&o[3], mfma.result_regs())?;
    if let Src::V(c) = mfma.c
        && (c >= ACC) != (mfma.d >= ACC)
    {
        return Err("C and D must both be AGPRs or both be VGPRs".to_string());
    }
    Ok(Op::Mfma(mfma))
}
