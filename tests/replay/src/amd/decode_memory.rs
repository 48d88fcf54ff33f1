//! Memory instructions: names to widths, operands to addresses.

use super::decode::{Decoded, src, sreg, vreg, want};
use super::op::{Ds, Gfx, Op, Part, Pattern, Place, Src, Vmem};
use super::text::{Line, Operand, number};
use super::transpose::Transpose;
use crate::atomic::{Atomic, Word};

/// Cache policy flags: no effect on what a single block computes.
const CACHE_FLAGS: [&str; 5] = ["glc", "slc", "sc0", "sc1", "nt"];

fn modifier(line: &Line, key: &str) -> Decoded<Option<i64>> {
    match line.modifiers.iter().find(|(k, _)| k == key) {
        Some((_, value)) => {
            number(value).map(Some).ok_or_else(|| format!("`{key}:{value}` is no number"))
        }
        None => Ok(None),
    }
}

fn flag(line: &Line, key: &str) -> bool {
    line.modifiers.iter().any(|(k, v)| k == key && v.is_empty())
}

fn only(line: &Line, known: &[&str]) -> Decoded<()> {
    match line
        .modifiers
        .iter()
        .find(|(k, _)| !known.contains(&k.as_str()) && !CACHE_FLAGS.contains(&k.as_str()))
    {
        Some((key, _)) => Err(format!("unknown modifier `{key}`")),
        None => Ok(()),
    }
}

pub(super) fn scalar_load(name: &str, line: &Line) -> Decoded<Op> {
    let words: u8 = match name.trim_start_matches("s_load_dword") {
        "" => 1,
        "x2" => 2,
        "x4" => 4,
        "x8" => 8,
        "x16" => 16,
        _ => return Err(format!("unknown instruction `{name}`")),
    };
    want(line, 3)?;
    only(line, &["offset"])?;
    let o = &line.operands;
    let (offset, imm) = match &o[2] {
        Operand::Int(imm) => (Src::K(0), *imm),
        other => (src(other, 1)?, modifier(line, "offset")?.unwrap_or(0)),
    };
    Ok(Op::ScalarLoad {
        dst: sreg(&o[0], words.into())?,
        words,
        base: sreg(&o[1], 2)?,
        offset,
        imm,
    })
}

/// Bytes and register part of the width suffix of a vector memory instruction.
fn width(suffix: &str, store: bool) -> Option<(u32, Part)> {
    Some(match suffix {
        "dword" => (4, Part::Words),
        "dwordx2" => (8, Part::Words),
        "dwordx3" => (12, Part::Words),
        "dwordx4" => (16, Part::Words),
        "ubyte" => (1, Part::Zero8),
        "sbyte" => (1, Part::Sign8),
        "ushort" => (2, Part::Zero16),
        "sshort" => (2, Part::Sign16),
        "ubyte_d16" if !store => (1, Part::Zero8To16 { high: false }),
        "ubyte_d16_hi" if !store => (1, Part::Zero8To16 { high: true }),
        "sbyte_d16" if !store => (1, Part::Sign8To16 { high: false }),
        "sbyte_d16_hi" if !store => (1, Part::Sign8To16 { high: true }),
        "byte_d16_hi" if store => (1, Part::Zero8To16 { high: true }),
        "short_d16" => (2, Part::Low16),
        "short_d16_hi" => (2, Part::High16),
        "byte" if store => (1, Part::Zero8),
        "short" if store => (2, Part::Low16),
        _ => return None,
    })
}

pub(super) fn decode(name: &str, line: &Line, gfx: Gfx) -> Decoded<Op> {
    if let Some(rest) = name.strip_prefix("ds_") {
        return ds(rest, line, gfx);
    }
    let (buffer, rest) = match (name.strip_prefix("global_"), name.strip_prefix("buffer_")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return Err(format!("unknown instruction `{name}`")),
    };
    if let (false, true, Some(found)) = (buffer, gfx.is_gfx125(), between_memories(rest)) {
        return async_lds(line, found);
    }
    if let (false, true, Some((bytes, form))) =
        (buffer, gfx.is_gfx12(), transposing_load(rest, gfx))
    {
        only(line, &["offset"])?;
        want(line, 3)?;
        let (o, words) = (&line.operands, bytes / 4);
        let place = flat_place(&o[1], &o[2])?;
        let offset = modifier(line, "offset")?.unwrap_or(0);
        let data = vreg(&o[0], words as u16)?;
        return Ok(Op::Vmem(Vmem {
            store: false,
            to_lds: false,
            lds_at: None,
            transpose: Some(form),
            atomic: None,
            answer: None,
            bytes,
            part: Part::Words,
            data,
            place,
            offset,
        }));
    }
    if let (false, Some(rest)) = (buffer, rest.strip_prefix("atomic_")) {
        return atomic(rest, line, gfx);
    }
    let (store, rest) = match (rest.strip_prefix("load_"), rest.strip_prefix("store_")) {
        (Some(rest), _) => (false, rest),
        (_, Some(rest)) => (true, rest),
        _ => return Err(format!("unknown instruction `{name}`")),
    };
    let (mut to_lds, suffix) = match rest.strip_prefix("lds_") {
        Some(suffix) if !buffer && !store => (true, suffix),
        _ => (false, rest),
    };
    let Some((bytes, part)) = width(suffix, store) else {
        return Err(format!("unknown instruction `{name}`"));
    };
    only(line, if buffer { &["offset", "offen", "lds"] } else { &["offset"] })?;
    to_lds |= flag(line, "lds");
    if to_lds
        && (bytes == 8 || store || bytes > 8 && gfx != Gfx::Gfx950 || gfx < Gfx::Gfx942 && !buffer)
    {
        return Err(format!("`{name}` to LDS does not exist on this target"));
    }
    let words = bytes.div_ceil(4) as u16;
    let offset = modifier(line, "offset")?.unwrap_or(0);
    let o = &line.operands;
    if buffer {
        want(line, if to_lds { 3 } else { 4 })?;
        let (data, at) = if to_lds { (0, 0) } else { (vreg(&o[0], words)?, 1) };
        let offen = flag(line, "offen");
        let voffset = match (&o[at], offen) {
            (Operand::Off, false) => None,
            (operand, true) => Some(vreg(operand, 1)?),
            _ => return Err("a vector offset and `offen` belong together".to_string()),
        };
        let place = Place::Buffer {
            resource: sreg(&o[at + 1], 4)?,
            offset: voffset,
            scalar: src(&o[at + 2], 1)?,
        };
        return Ok(Op::Vmem(Vmem {
            store,
            to_lds,
            lds_at: None,
            transpose: None,
            atomic: None,
            answer: None,
            bytes,
            part,
            data,
            place,
            offset,
        }));
    }
    // Loads: data, address, base. Stores: address, data, base. LDS loads: address, base.
    want(line, if to_lds { 2 } else { 3 })?;
    let (data_at, address_at) = if store { (1, 0) } else { (0, usize::from(!to_lds)) };
    let data = if to_lds { 0 } else { vreg(&o[data_at], words)? };
    let place = flat_place(&o[address_at], &o[o.len() - 1])?;
    Ok(Op::Vmem(Vmem {
        store,
        to_lds,
        lds_at: None,
        transpose: None,
        atomic: None,
        answer: None,
        bytes,
        part,
        data,
        place,
        offset,
    }))
}

/// `global_atomic_*`, of words of 32 and 64 bits.
fn atomic(name: &str, line: &Line, gfx: Gfx) -> Decoded<Op> {
    // From RDNA3 on names end with the type.
    let is_typed = gfx.is_rdna() && gfx != Gfx::Rdna2;
    let how = match (name, is_typed) {
        ("add", false) | ("add_u32", true) => Atomic::new("add", Word::Unsigned),
        ("smin", false) | ("min_i32", true) => Atomic::new("min", Word::Signed),
        ("umin", false) | ("min_u32", true) => Atomic::new("min", Word::Unsigned),
        ("smax", false) | ("max_i32", true) => Atomic::new("max", Word::Signed),
        ("umax", false) | ("max_u32", true) => Atomic::new("max", Word::Unsigned),
        ("and" | "or" | "xor", false) => Atomic::new(name, Word::Unsigned),
        ("and_b32" | "or_b32" | "xor_b32", true) => {
            Atomic::new(name.trim_end_matches("_b32"), Word::Unsigned)
        }
        ("cmpswap", false) | ("cmpswap_b32", true) => Atomic::new("cas", Word::Unsigned),
        ("cmpswap_x2", false) | ("cmpswap_b64", true) => Atomic::new("cas", Word::Unsigned64),
        ("swap", false) | ("swap_b32", true) => Atomic::new("exch", Word::Unsigned),
        ("swap_x2", false) | ("swap_b64", true) => Atomic::new("exch", Word::Unsigned64),
        ("add_x2", false) | ("add_u64", true) => Atomic::new("add", Word::Unsigned64),
        ("smin_x2", false) | ("min_i64", true) => Atomic::new("min", Word::Signed64),
        ("umin_x2", false) | ("min_u64", true) => Atomic::new("min", Word::Unsigned64),
        ("smax_x2", false) | ("max_i64", true) => Atomic::new("max", Word::Signed64),
        ("umax_x2", false) | ("max_u64", true) => Atomic::new("max", Word::Unsigned64),
        ("and_x2" | "or_x2" | "xor_x2", false) => {
            Atomic::new(name.trim_end_matches("_x2"), Word::Unsigned64)
        }
        ("and_b64" | "or_b64" | "xor_b64", true) => {
            Atomic::new(name.trim_end_matches("_b64"), Word::Unsigned64)
        }
        ("add_f64", _) if gfx.is_gfx125() || !gfx.is_rdna() && gfx >= Gfx::Gfx90a => {
            Atomic::new("add", Word::F64)
        }
        ("add_f32", _) if gfx != Gfx::Rdna2 => Atomic::new("add", Word::F32),
        ("pk_add_f16", _) if !gfx.is_rdna() || gfx.is_gfx12() => Atomic::new("add", Word::F16x2),
        ("pk_add_bf16", _) if gfx.is_gfx12() || !gfx.is_rdna() && gfx >= Gfx::Gfx942 => {
            Atomic::new("add", Word::Bf16x2)
        }
        _ => None,
    };
    let how = how.ok_or_else(|| format!("unknown instruction `global_atomic_{name}`"))?;
    only(line, &["offset", "scope", "th"])?;
    let scope = line.modifiers.iter().find(|(key, _)| key == "scope").map(|(_, v)| v.as_str());
    let wanted = gfx.is_gfx12().then_some("SCOPE_DEV");
    if scope != wanted {
        return Err("an atomic operation of another scope than the device".to_string());
    }
    // What answers says so, each generation in its way.
    let said = |key: &str, value: &str| line.modifiers.iter().any(|(k, v)| k == key && v == value);
    let is_said = match gfx {
        gfx if gfx.is_gfx12() => said("th", "TH_ATOMIC_RETURN"),
        gfx if !gfx.is_rdna() && gfx >= Gfx::Gfx942 => said("sc0", ""),
        _ => said("glc", ""),
    };
    if is_said != (line.operands.len() == 4) {
        return Err("an atomic operation answers where it says so, and there alone".to_string());
    }
    want(line, if is_said { 4 } else { 3 })?;
    let words = if how.bytes() == 8 { 2 } else { 1 };
    let answer = if is_said { Some(vreg(&line.operands[0], words)?) } else { None };
    if answer.is_some() && gfx == Gfx::Gfx908 && name.contains("_f") {
        return Err("sums of floats answer nothing on this target".to_string());
    }
    let o = &line.operands[usize::from(is_said)..];
    let compares = how.op == crate::atomic::Combine::Cas;
    Ok(Op::Vmem(Vmem {
        store: true,
        to_lds: false,
        lds_at: None,
        transpose: None,
        atomic: Some(how),
        answer,
        bytes: how.bytes(),
        part: Part::Words,
        // What is compared stands behind.
        data: vreg(&o[1], if compares { 2 * words } else { words })?,
        place: flat_place(&o[0], &o[2])?,
        offset: modifier(line, "offset")?.unwrap_or(0),
    }))
}

fn flat_place(address: &Operand, base: &Operand) -> Decoded<Place> {
    Ok(match base {
        Operand::Off => Place::Flat(vreg(address, 2)?),
        base => Place::Based { base: sreg(base, 2)?, offset: Some(vreg(address, 1)?) },
    })
}

/// Whether a copy between global memory and LDS stores to global memory, and its bytes a lane
/// (LLVM's FLATInstructions.td: 1, 4, 8, 16).
fn between_memories(rest: &str) -> Option<(bool, u32)> {
    let (store, width) = match (
        rest.strip_prefix("load_async_to_lds_b"),
        rest.strip_prefix("store_async_from_lds_b"),
    ) {
        (Some(width), _) => (false, width),
        (_, Some(width)) => (true, width),
        _ => return None,
    };
    ["8", "32", "64", "128"]
        .contains(&width)
        .then(|| (store, width.parse::<u32>().map_or(0, |bits| bits / 8)))
}

/// Loads name the LDS address first, stores the global one; the offset moves both (LLVM's
/// FLATInstructions.td and AMDGPUUsage).
fn async_lds(line: &Line, (store, bytes): (bool, u32)) -> Decoded<Op> {
    only(line, &["offset"])?;
    want(line, 3)?;
    let o = &line.operands;
    let (lds, address) = if store { (&o[1], &o[0]) } else { (&o[0], &o[1]) };
    let place = flat_place(address, &o[2])?;
    let (offset, lds_at) = (modifier(line, "offset")?.unwrap_or(0), Some(vreg(lds, 1)?));
    Ok(Op::Vmem(Vmem {
        store,
        to_lds: false,
        lds_at,
        transpose: None,
        atomic: None,
        answer: None,
        bytes,
        part: Part::Words,
        data: 0,
        place,
        offset,
    }))
}

/// Bytes and form of a load that transposes; gfx1250 has other names for what gfx12 has, which its
/// assembler takes, too.
fn transposing_load(rest: &str, gfx: Gfx) -> Option<(u32, Transpose)> {
    match rest {
        "load_tr_b128" => Some((16, Transpose::Eight16)),
        "load_tr_b64" => Some((8, Transpose::Eight8)),
        "load_tr16_b128" if gfx.is_gfx125() => Some((16, Transpose::Eight16)),
        "load_tr8_b64" if gfx.is_gfx125() => Some((8, Transpose::Eight8)),
        _ => None,
    }
}

fn ds(rest: &str, line: &Line, gfx: Gfx) -> Decoded<Op> {
    if let "bpermute_b32" | "permute_b32" = rest {
        want(line, 3)?;
        let o = &line.operands;
        let pull = rest == "bpermute_b32";
        let offset = ds_offset(line)?;
        let (dst, addr, data) = (vreg(&o[0], 1)?, vreg(&o[1], 1)?, vreg(&o[2], 1)?);
        return Ok(Op::Permute { pull, dst, addr, data, offset });
    }
    if rest == "swizzle_b32" {
        want(line, 2)?;
        let bits = ds_offset(line)? as usize;
        if bits >> 15 != 0 {
            return Err("only the pattern of and, or, xor is modelled".to_string());
        }
        let pattern = Pattern::Bits(bits & 31, bits >> 5 & 31, bits >> 10 & 31);
        return Ok(Op::Lanes {
            pattern,
            dst: vreg(&line.operands[0], 1)?,
            data: vreg(&line.operands[1], 1)?,
            ds: true,
        });
    }
    let (write, form) = match (rest.strip_prefix("read"), rest.strip_prefix("write")) {
        (Some(form), _) => (false, form),
        (_, Some(form)) => (true, form),
        _ => return Err(format!("unknown instruction `ds_{rest}`")),
    };
    let (two, form) = match form.strip_prefix('2') {
        Some(form) => (true, form),
        None => (false, form),
    };
    let (far, form) = match form.strip_prefix("st64") {
        Some(form) if two => (true, form),
        _ => (false, form),
    };
    let transposing = |form| (gfx == Gfx::Gfx950).then_some((8, Part::Words, Some(form)));
    let found: Option<(u32, Part, Option<Transpose>)> = match (form, write) {
        ("_b32", _) => Some((4, Part::Words, None)),
        ("_b64", _) => Some((8, Part::Words, None)),
        ("_b96", _) if !two => Some((12, Part::Words, None)),
        ("_b128", _) if !two => Some((16, Part::Words, None)),
        ("_u8", false) if !two => Some((1, Part::Zero8, None)),
        ("_i8", false) if !two => Some((1, Part::Sign8, None)),
        ("_u16", false) if !two => Some((2, Part::Zero16, None)),
        ("_i16", false) if !two => Some((2, Part::Sign16, None)),
        ("_u8_d16", false) if !two => Some((1, Part::Zero8To16 { high: false }, None)),
        ("_u8_d16_hi", false) if !two => Some((1, Part::Zero8To16 { high: true }, None)),
        ("_i8_d16", false) if !two => Some((1, Part::Sign8To16 { high: false }, None)),
        ("_i8_d16_hi", false) if !two => Some((1, Part::Sign8To16 { high: true }, None)),
        ("_b8_d16_hi", true) if !two => Some((1, Part::Zero8To16 { high: true }, None)),
        ("_u16_d16", false) if !two => Some((2, Part::Low16, None)),
        ("_u16_d16_hi", false) if !two => Some((2, Part::High16, None)),
        ("_b8", true) if !two => Some((1, Part::Zero8, None)),
        ("_b16", true) if !two => Some((2, Part::Low16, None)),
        ("_b16_d16_hi", true) if !two => Some((2, Part::High16, None)),
        ("_b64_tr_b16", false) if !two => transposing(Transpose::Sixteen16),
        ("_b64_tr_b8", false) if !two => transposing(Transpose::Sixteen8),
        ("_tr16_b128", false) if !two && gfx.is_gfx125() => {
            Some((16, Part::Words, Some(Transpose::Eight16)))
        }
        ("_tr8_b64", false) if !two && gfx.is_gfx125() => {
            Some((8, Part::Words, Some(Transpose::Split8)))
        }
        _ => None,
    };
    let Some((bytes, part, transpose)) = found else {
        return Err(format!("`ds_{rest}` is not modelled on this target"));
    };
    let words = bytes.div_ceil(4) as u16;
    let o = &line.operands;
    let scale = bytes * if far { 64 } else { 1 };
    let mut offsets = [0, 0];
    if two {
        only(line, &["offset0", "offset1"])?;
        for (slot, key) in offsets.iter_mut().zip(["offset0", "offset1"]) {
            let value = modifier(line, key)?.unwrap_or(0);
            if !(0..256).contains(&value) {
                return Err(format!("`{key}` is 8 bits"));
            }
            *slot = value as u32 * scale;
        }
    } else {
        offsets[0] = ds_offset(line)?;
    }
    let (addr, data) = if write {
        want(line, if two { 3 } else { 2 })?;
        let second = if two { vreg(&o[2], words)? } else { 0 };
        (vreg(&o[0], 1)?, [vreg(&o[1], words)?, second])
    } else {
        want(line, 2)?;
        let first = vreg(&o[0], if two { 2 * words } else { words })?;
        (vreg(&o[1], 1)?, [first, first + words])
    };
    let count = if two { 2 } else { 1 };
    Ok(Op::Ds(Ds { write, bytes, part, transpose, data, addr, count, offsets }))
}

fn ds_offset(line: &Line) -> Decoded<u32> {
    only(line, &["offset"])?;
    let value = modifier(line, "offset")?.unwrap_or(0);
    u16::try_from(value).map(u32::from).map_err(|_| "`offset` is 16 bits".to_string())
}
