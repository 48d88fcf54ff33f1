//! Vector and matrix instructions: names and operands to operations.

use super::decode::{Decoded, src, sreg, vreg, want};
use super::op::{ACC, Blocks, Element, Gfx, Mfma, NULL, Op, Pattern, Src, Sum, Wide, Wmma};
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
    let is = |key: &str, value: &str| line.modifiers.iter().any(|m| m.0 == key && m.1 == value);
    if name == "v_pk_add_f16"
        && line.modifiers.len() == 2
        && is("neg_lo", "[0,1]")
        && is("neg_hi", "[0,1]")
    {
        // The second source with its signs turned.
        let plain = Line { modifiers: Vec::new(), ..line.clone() };
        return vector("v_pk_add_f16.less", &plain, gfx, wave);
    }
    if let Some((key, _)) = line.modifiers.first() {
        return Err(format!("modifier `{key}` is not modelled"));
    }
    if matches!(name, "v_lshl_add_u64" | "v_mov_b64") && gfx < Gfx::Gfx942 {
        return Err(format!("`{name}` needs gfx942"));
    }
    if let Some((f, count)) = vector_table::find(name) {
        want(line, count + 1)?;
        if matches!(name, "v_cvt_pk_f16_f32" | "v_cvt_pk_bf16_f32")
            && gfx != Gfx::Gfx950
            && !gfx.is_gfx125()
        {
            return Err(format!("`{name}` needs gfx950 or gfx125x"));
        }
        let mut sources = [Src::K(0); 3];
        for (slot, operand) in sources.iter_mut().zip(&o[1..]) {
            *slot = src(operand, 1)?;
        }
        return Ok(Op::Lane { f, dst: vreg(&o[0], 1)?, src: sources });
    }
    if let Some(f) = vector_table::find_pair(name) {
        return pair(name, f, line, gfx);
    }
    if let Some((f, wide)) = vector_table::find_compare(name) {
        want(line, 3)?;
        let words = if wide { 2 } else { 1 };
        return Ok(Op::Compare {
            f,
            wide,
            dst: sreg(&o[0], (wave / 32) as u16)?,
            a: src(&o[1], words)?,
            b: src(&o[2], words)?,
        });
    }
    match name {
        "v_cndmask_b32" => {
            want(line, 4)?;
            Ok(Op::Cndmask {
                dst: vreg(&o[0], 1)?,
                a: src(&o[1], 1)?,
                b: src(&o[2], 1)?,
                mask: sreg(&o[3], (wave / 32) as u16)?,
            })
        }
        "v_readfirstlane_b32" => {
            want(line, 2)?;
            Ok(Op::ReadLane { dst: sreg(&o[0], 1)?, src: vreg(&o[1], 1)?, lane: None })
        }
        "v_readlane_b32" => {
            want(line, 3)?;
            Ok(Op::ReadLane {
                dst: sreg(&o[0], 1)?,
                src: vreg(&o[1], 1)?,
                lane: Some(src(&o[2], 1)?),
            })
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
        _ => wide(name, line, wave),
    }
}

/// An operation on pairs; the second source of a sum may have its sign turned.
fn pair(name: &str, f: Wide, line: &Line, gfx: Gfx) -> Decoded<Op> {
    if name.ends_with("64") && !name.contains("f64") && !gfx.is_gfx125() {
        return Err(format!("`{name}` needs gfx125x"));
    }
    let (widths, result) = f.words();
    let count = widths.iter().filter(|words| **words > 0).count();
    want(line, count + 1)?;
    let (mut f, mut sources) = (f, [Src::K(0); 3]);
    for (k, words) in widths.into_iter().enumerate().take(count) {
        sources[k] = match &line.operands[k + 1] {
            Operand::Minus { first, len } if name == "v_add_f64" && k == 1 && *len == words => {
                f = vector_table::find_pair("v_add_f64.less").ok_or("no difference")?;
                Src::V(*first)
            }
            operand @ Operand::V { .. } => src(operand, words)?,
            _ => return Err(format!("`{name}` is modelled with vector registers alone")),
        };
    }
    let dst = vreg(&line.operands[0], result)?;
    Ok(Op::Wide { f, dst, carry_out: None, src: sources, carry_in: None })
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
        Gfx::Gfx950 | Gfx::Rdna4 | Gfx::Gfx1250 | Gfx::Gfx1251 => "ocp",
        _ => return Some(Err(format!("`{name}` is no instruction of this generation"))),
    };
    let modifier =
        |key: &str| line.modifiers.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str());
    let find = |which: &str| {
        vector_table::find_narrow(format, kind, which)
            .ok_or_else(|| format!("`{which}` is not modelled"))
    };
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
            return Ok(Op::Lane {
                f: find(if upper { "hi" } else { "lo" })?,
                dst,
                src: [src(&o[1], 1)?, src(&o[2], 1)?, old],
            });
        }
        want(line, 2)?;
        let byte = match (key.ends_with("_sdwa"), modifier("src0_sel"), modifier("byte_sel")) {
            (true, Some(word), None) if !gfx.is_gfx12() => {
                word.strip_prefix("BYTE_").unwrap_or("?")
            }
            (false, None, Some(number)) if gfx.is_gfx12() => number,
            (false, None, None) if line.modifiers.is_empty() => "0",
            _ => "?",
        };
        Ok(Op::Lane {
            f: find(byte)?,
            dst: vreg(&o[0], 1)?,
            src: [src(&o[1], 1)?, Src::K(0), Src::K(0)],
        })
    })())
}

/// `v_cvt_f32_f16_sdwa` of an upper half, to a whole register.
fn upper_half(line: &Line) -> Decoded<Op> {
    want(line, 2)?;
    let wanted = [("dst_sel", "DWORD"), ("dst_unused", "UNUSED_PAD"), ("src0_sel", "WORD_1")];
    let has =
        |(key, value): &(&str, &str)| line.modifiers.iter().any(|(k, v)| k == key && v == value);
    if line.modifiers.len() != wanted.len() || !wanted.iter().all(has) {
        return Err(
            "sub-dword selections are modelled for an upper half to a whole register".to_string()
        );
    }
    let (f, _) = vector_table::find("v_cvt_f32_f16.upper").ok_or("no such conversion")?;
    Ok(Op::Lane {
        f,
        dst: vreg(&line.operands[0], 1)?,
        src: [src(&line.operands[1], 1)?, Src::K(0), Src::K(0)],
    })
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
                let list: Vec<u8> = value
                    .trim_matches(['[', ']'])
                    .split(',')
                    .filter_map(|n| n.parse().ok())
                    .filter(|n| *n < 4)
                    .collect();
                Pattern::Quad(
                    list.try_into().map_err(|_| "expected four lanes of four".to_string())?,
                )
            }
            "row_ror" => Pattern::Rotate(
                value
                    .parse()
                    .ok()
                    .filter(|n| (1..16).contains(n))
                    .ok_or("expected row_ror:1..15")?,
            ),
            "row_xmask" if gfx.is_rdna() => Pattern::Xor(
                value.parse().ok().filter(|n| *n < 16).ok_or("expected row_xmask:0..15")?,
            ),
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
    if gfx != Gfx::Gfx950 && !gfx.is_gfx125() {
        return Err("`v_bitop3_b32` needs gfx950 or gfx125x".to_string());
    }
    let table = match line.modifiers.as_slice() {
        [(key, value)] if key == "bitop3" => number(value).filter(|t| (0..256).contains(t)),
        _ => None,
    };
    let table = table.ok_or("expected bitop3:0..0xff")? as u8;
    let dst = vreg(&o[0], 1)?;
    Ok(Op::Bitop3 { table, dst, src: [src(&o[1], 1)?, src(&o[2], 1)?, src(&o[3], 1)?] })
}

fn wide(name: &str, line: &Line, wave: u32) -> Decoded<Op> {
    let o = &line.operands;
    let mask = (wave / 32) as u16;
    let plain = |f, dst, src| Ok(Op::Wide { f, dst, carry_out: None, src, carry_in: None });
    match name {
        "v_add_co_u32" | "v_sub_co_u32" => {
            want(line, 4)?;
            let f = if name == "v_add_co_u32" { Wide::AddCo } else { Wide::SubCo };
            let sources = [src(&o[2], 1)?, src(&o[3], 1)?, Src::K(0)];
            Ok(Op::Wide {
                f,
                dst: vreg(&o[0], 1)?,
                carry_out: Some(sreg(&o[1], mask)?),
                src: sources,
                carry_in: None,
            })
        }
        "v_addc_co_u32" | "v_subb_co_u32" | "v_add_co_ci_u32" | "v_sub_co_ci_u32" => {
            want(line, 5)?;
            let f = if name.starts_with("v_add") { Wide::AddcCo } else { Wide::SubbCo };
            let sources = [src(&o[2], 1)?, src(&o[3], 1)?, Src::K(0)];
            let (out, carry) = (sreg(&o[1], mask)?, sreg(&o[4], mask)?);
            Ok(Op::Wide {
                f,
                dst: vreg(&o[0], 1)?,
                carry_out: Some(out),
                src: sources,
                carry_in: Some(carry),
            })
        }
        "v_mad_u64_u32" => {
            want(line, 5)?;
            let sources = [src(&o[2], 1)?, src(&o[3], 1)?, src(&o[4], 2)?];
            // Of two words per lane mask, or none where nobody asks for the carry.
            let out = match o[1] {
                Operand::S { first: NULL, .. } => None,
                _ => Some(sreg(&o[1], 2)?),
            };
            Ok(Op::Wide {
                f: Wide::MadU64U32,
                dst: vreg(&o[0], 2)?,
                carry_out: out,
                src: sources,
                carry_in: None,
            })
        }
        "v_lshl_add_u64" => {
            want(line, 4)?;
            plain(
                Wide::LshlAddU64,
                vreg(&o[0], 2)?,
                [src(&o[1], 2)?, src(&o[2], 1)?, src(&o[3], 2)?],
            )
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
const FORMS: [(&str, u32, u32, Element, [u32; 3]); 25] = [
    ("f32_32x32x4_bf16", 32, 4, Element::Bf16, [16, 0, 0]),
    ("f32_16x16x8_bf16", 16, 8, Element::Bf16, [8, 0, 0]),
    // From gfx942 on those of 32 and 64 bits are not made by the wide unit, and need one state less
    // than their passes say.
    ("f32_32x32x2_f32", 32, 2, Element::F32, [16, 15, 15]),
    ("f32_16x16x4_f32", 16, 4, Element::F32, [8, 7, 7]),
    ("f32_16x16x8_xf32", 16, 8, Element::Xf32, [0, 4, 0]),
    ("f32_32x32x4_xf32", 32, 4, Element::Xf32, [0, 8, 0]),
    // What LLVM asks for before a vector instruction is that of 8 passes; before memory it asks for
    // more.
    ("f64_16x16x4_f64", 16, 4, Element::F64, [8, 8, 8]),
    ("i32_32x32x8_i8", 32, 8, Element::I8, [16, 0, 0]),
    ("i32_16x16x16_i8", 16, 16, Element::I8, [8, 0, 0]),
    ("i32_32x32x16_i8", 32, 16, Element::I8, [0, 8, 8]),
    ("i32_16x16x32_i8", 16, 32, Element::I8, [0, 4, 4]),
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

/// A form without the types of eight-bit floats behind it, and these: gfx942's have one zero and no
/// infinity.
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
    // With block scales the formats are modifiers; their timing is that of the form without.
    let run = [("v_wmma_scale_", 32), ("v_wmma_scale16_", 16)]
        .into_iter()
        .find_map(|(head, run)| Some((name.strip_prefix(head)?, run)));
    want(line, if run.is_some() { 6 } else { 4 })?;
    let form = match run {
        Some(("f32_16x16x128_f8f6f4", _)) => "v_wmma_f32_16x16x128_fp8_fp8",
        Some(("f32_32x16x128_f4", _)) => "v_wmma_f32_32x16x128_f4",
        _ => name,
    };
    let mut wmma = wmma_form(form, gfx, wave)
        .ok_or_else(|| format!("`{name}` is not modelled on this target"))?;
    if let Some((_, run)) = run {
        let mut blocks = Blocks { run, at: [(0, 0); 2] };
        let each = blocks.registers(wmma.k);
        blocks.at = [(vreg(&o[4], each)?, 0), (vreg(&o[5], each)?, 0)];
        wmma.scales = Some(blocks);
    }
    for (key, value) in &line.modifiers {
        if let (Some(half), "op_sel", [0, 0, which @ 0..2]) =
            (&mut wmma.half, key.as_str(), &numbers(value)[..])
        {
            *half = *which as u16;
            continue;
        }
        if let Some(blocks) = &mut wmma.scales {
            let number = value
                .parse::<u32>()
                .ok()
                .filter(|n| *n < 2 || *n == 4 && key.ends_with("_fmt"))
                .ok_or_else(|| format!("`{key}:{value}` is not modelled"))?;
            let format = match number {
                0 => Element::E4m3 { fnuz: false },
                1 => Element::E5m2 { fnuz: false },
                _ => Element::E2m1,
            };
            match key.as_str() {
                "matrix_a_fmt" => wmma.kinds[0] = format,
                "matrix_b_fmt" => wmma.kinds[1] = format,
                "matrix_a_scale" => blocks.at[0].1 = 16 * number,
                "matrix_b_scale" => blocks.at[1].1 = 16 * number,
                _ => {
                    return Err(format!(
                        "modifier `{key}:{value}` of a matrix instruction is not modelled"
                    ));
                }
            }
            continue;
        }
        // Whole numbers are signed where this says so.
        let kinds = match wmma.kinds[0] {
            Element::U8 => Some([Element::U8, Element::I8]),
            Element::U4 => Some([Element::U4, Element::I4]),
            _ => None,
        };
        let (Some(kinds), "neg_lo", [a, b, 0]) = (kinds, key.as_str(), &numbers(value)[..]) else {
            return Err(format!(
                "modifier `{key}:{value}` of a matrix instruction is not modelled"
            ));
        };
        wmma.kinds = [a, b].map(|bit| kinds[usize::from(*bit == 1)]);
    }
    if wmma.kinds[0].bits() != wmma.kinds[1].bits() {
        return Err("factors of two widths are not modelled".to_string());
    }
    let (sources, results) = (wmma.source_regs(), wmma.result_regs() * wmma.parts);
    (wmma.a, wmma.b) = (vreg(&o[1], sources * wmma.parts)?, vreg(&o[2], sources)?);
    wmma.d = vreg(&o[0], results)?;
    wmma.c = match &o[3] {
        Operand::V { .. } => Src::V(vreg(&o[3], results)?),
        other => src(other, 1)?,
    };
    Ok(Op::Wmma(wmma))
}

/// The numbers of `[0,1]`.
fn numbers(list: &str) -> Vec<u32> {
    list.trim_matches(['[', ']']).split(',').filter_map(|n| n.parse().ok()).collect()
}

/// What an instruction's name says of it. Wait states of gfx125x: LLVM's GCNHazardRecognizer by
/// latency, its scheduling models say which form has which.
pub(super) fn wmma_form(name: &str, gfx: Gfx, wave: u32) -> Option<Wmma> {
    let (shape, kinds) = eight_bits(name.strip_prefix("v_wmma_")?, gfx);
    // Eight-bit floats stand behind the shape as two types, others as one.
    let mut words = shape.split('_');
    let (sum, shape, kind) = (words.next()?, words.next()?, words.next());
    if words.next().is_some() || kinds.is_some() == kind.is_some() {
        return None;
    }
    let kinds = kinds.or(match kind {
        Some("f32") => Some([Element::F32; 2]),
        Some("f16") => Some([Element::F16; 2]),
        Some("bf16") => Some([Element::Bf16; 2]),
        Some("iu8") => Some([Element::U8; 2]),
        Some("iu4") => Some([Element::U4; 2]),
        Some("f4") => Some([Element::E2m1; 2]),
        _ => None,
    })?;
    let (parts, depth) = match shape.strip_prefix("32x16x") {
        Some(depth) => (2, depth),
        None => (1, shape.strip_prefix("16x16x")?),
    };
    let k: u32 = depth.parse().ok()?;
    let bits = kinds[0].bits();
    let sum = match sum {
        "f32" => Sum::F32,
        "f16" if kinds[0] != Element::Bf16 => Sum::F16,
        "bf16" if kinds[0] == Element::Bf16 => Sum::Bf16,
        "i32" if matches!(kinds[0], Element::U8 | Element::U4) => Sum::I32,
        _ => return None,
    };
    let known = match gfx {
        _ if (parts == 2) != (kinds[0] == Element::E2m1) => false,
        Gfx::Rdna3 => k == 16 && (bits == 16 || sum == Sum::I32),
        Gfx::Rdna4 => (k == 16 && bits < 32 || (bits, k) == (4, 32)) && parts == 1,
        _ if gfx.is_gfx125() => {
            matches!((bits, k), (32, 4) | (16, 32) | (8, 64 | 128) | (4, 128))
                && (kinds[0] != Element::U8 || k == 64)
        }
        _ => false,
    };
    let slow = gfx == Gfx::Gfx1251;
    let apart = match (bits, k, kinds[0]) {
        _ if !gfx.is_gfx125() || bits == 32 => 0,
        (_, _, Element::U8) | (4 | 8, 128, _) if slow => 17,
        (_, _, Element::U8) => 9,
        _ if slow => 9,
        (8, 64, _) => 2,
        _ => 5,
    };
    let piece = match (bits, k) {
        _ if gfx.is_gfx125() && bits < 32 => 16,
        (4, 16) => 4,
        _ => 8,
    };
    let half = (gfx == Gfx::Rdna3 && matches!(sum, Sum::F16 | Sum::Bf16)).then_some(0);
    known.then_some(Wmma {
        k,
        parts,
        kinds,
        wave,
        copies: gfx == Gfx::Rdna3,
        piece,
        sum,
        half,
        apart,
        d: 0,
        a: 0,
        b: 0,
        c: Src::K(0),
        scales: None,
    })
}

pub(super) fn matrix(name: &str, line: &Line, gfx: Gfx) -> Decoded<Op> {
    let o = &line.operands;
    want(line, 4)?;
    if line.modifiers.iter().any(|(_, value)| value != "0") {
        return Err("cbsz, abid and blgp are not modelled".to_string());
    }
    // Older spelling: `16x16x16f16`, `16x16x16bf16_1k`.
    let mut spelled = name.trim_start_matches("v_mfma_").to_string();
    for ty in ["bf16_1k", "bf16", "f16", "xf32", "f32", "f64", "i8"] {
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
    let mut mfma =
        Mfma { m, k, kinds, passes: passes[at], id: id as u32, d: 0, a: 0, b: 0, c: Src::K(0) };
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
