//! AMDGCN assembler text: comments, labels, directives, the kernel descriptor, operands.

use std::collections::HashMap;

use super::op::{EXEC, Gfx, Header, M0, NULL, Subnormals, TTMP, VCC};
use crate::fault::ParseFault;

/// An operand as written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    S {
        first: u8,
        len: u8,
    },
    V {
        first: u16,
        len: u16,
        acc: bool,
    },
    /// Vector registers with their sign turned.
    Minus {
        first: u16,
        len: u16,
    },
    Int(i64),
    Float(f64),
    Off,
    Word(String),
}

/// An instruction as written.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub line: u32,
    pub mnemonic: String,
    pub operands: Vec<Operand>,
    /// `offset:16` and flags such as `offen`.
    pub modifiers: Vec<(String, String)>,
    /// Everything behind the mnemonic.
    pub rest: String,
}

/// Directives that do not change what is executed.
const SILENT: [&str; 16] = [
    ".text",
    ".globl",
    ".global",
    ".protected",
    ".hidden",
    ".p2align",
    ".balign",
    ".align",
    ".type",
    ".size",
    ".section",
    ".rodata",
    ".amdhsa_code_object_version",
    ".ident",
    ".addrsig",
    ".file",
];

/// A text split into what matters.
pub(super) struct Split {
    pub name: String,
    pub header: Header,
    pub lines: Vec<Line>,
    pub labels: HashMap<String, usize>,
}

struct Reader {
    target: Option<(Gfx, bool)>,
    symbols: HashMap<String, i64>,
    settings: HashMap<String, i64>,
    metadata: HashMap<String, i64>,
    name: Option<String>,
    lines: Vec<Line>,
    labels: HashMap<String, usize>,
}

/// Splits a text.
pub(super) fn split(text: &str) -> Result<Split, ParseFault> {
    let mut reader = Reader {
        target: None,
        symbols: HashMap::new(),
        settings: HashMap::new(),
        metadata: HashMap::new(),
        name: None,
        lines: Vec::new(),
        labels: HashMap::new(),
    };
    let (mut in_comment, mut in_kernel, mut in_metadata) = (false, false, false);
    for (index, raw) in text.lines().enumerate() {
        let line = index as u32 + 1;
        let fault = |sentence: String| ParseFault { line, text: raw.to_string(), sentence };
        let code = strip_comments(raw, &mut in_comment);
        let mut code = code.trim();
        if code.is_empty() {
            continue;
        }
        if in_metadata {
            in_metadata = code != ".end_amdgpu_metadata";
            if let Some((key, value)) = code.split_once(':')
                && let Ok(value) = value.trim().parse()
            {
                reader.metadata.insert(key.trim_start_matches(['-', ' ']).to_string(), value);
            }
            continue;
        }
        while let Some((label, rest)) = label(code) {
            if reader.labels.insert(label.to_string(), reader.lines.len()).is_some() {
                return Err(fault(format!("label `{label}` twice")));
            }
            code = rest.trim();
        }
        if code.is_empty() {
            continue;
        }
        let (word, rest) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        if word.starts_with('.') {
            match word {
                ".amdgpu_metadata" => in_metadata = true,
                ".end_amdhsa_kernel" => in_kernel = false,
                ".amdhsa_kernel" => in_kernel = true,
                _ => {}
            }
            reader.directive(word, rest.trim(), in_kernel).map_err(fault)?;
        } else {
            reader.lines.push(instruction(line, word, rest.trim()).map_err(fault)?);
        }
    }
    reader.finish()
}

fn strip_comments(raw: &str, in_comment: &mut bool) -> String {
    let mut out = String::new();
    let mut rest = raw;
    loop {
        if *in_comment {
            let Some(end) = rest.find("*/") else {
                return out;
            };
            rest = &rest[end + 2..];
            *in_comment = false;
        }
        let cut = |pattern: &str| rest.find(pattern).unwrap_or(rest.len());
        let (line, block) = (cut("//").min(cut(";")), cut("/*"));
        if block >= line {
            out.push_str(&rest[..line]);
            return out;
        }
        out.push_str(&rest[..block]);
        out.push(' ');
        rest = &rest[block + 2..];
        *in_comment = true;
    }
}

fn label(code: &str) -> Option<(&str, &str)> {
    let (name, rest) = code.split_once(':')?;
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.$@".contains(c));
    (plain && (rest.is_empty() || rest.starts_with(char::is_whitespace))).then_some((name, rest))
}

impl Reader {
    fn value(&self, text: &str) -> Result<i64, String> {
        super::expression::evaluate(text, &|name| self.symbols.get(name).copied())
    }

    fn directive(&mut self, word: &str, rest: &str, in_kernel: bool) -> Result<(), String> {
        match word {
            ".amdgcn_target" => {
                let target = rest.trim_matches('"');
                let (head, features) = target.split_once(':').unwrap_or((target, ""));
                let gfx = match head.rsplit('-').next() {
                    Some("gfx908") => Gfx::Gfx908,
                    Some("gfx90a") => Gfx::Gfx90a,
                    Some("gfx942") => Gfx::Gfx942,
                    Some("gfx950") => Gfx::Gfx950,
                    Some("gfx1030") => Gfx::Rdna2,
                    Some("gfx1100" | "gfx1150" | "gfx1151") => Gfx::Rdna3,
                    Some("gfx1200" | "gfx1201") => Gfx::Rdna4,
                    Some("gfx1250") => Gfx::Gfx1250,
                    Some("gfx1251") => Gfx::Gfx1251,
                    _ => return Err("only gfx908, gfx90a, gfx942, gfx950, gfx1030, gfx1100, gfx115x, gfx120x and gfx125x are modelled".to_string()),
                };
                self.target = Some((gfx, features.contains("sramecc-")));
            }
            ".amdhsa_kernel" => {
                if self.name.replace(rest.to_string()).is_some() {
                    return Err("a second kernel: one kernel a text".to_string());
                }
            }
            ".end_amdhsa_kernel" | ".amdgpu_metadata" => {}
            ".set" => {
                let (name, value) = rest.split_once(',').ok_or("expected `.set name, value`")?;
                let value = self.value(value.trim())?;
                self.symbols.insert(name.trim().to_string(), value);
            }
            _ if in_kernel && word.starts_with(".amdhsa_") => {
                let value = self.value(rest)?;
                self.settings.insert(word.trim_start_matches(".amdhsa_").to_string(), value);
            }
            _ if SILENT.contains(&word) => {}
            _ => return Err(format!("unknown directive `{word}`")),
        }
        Ok(())
    }

    fn finish(self) -> Result<Split, ParseFault> {
        let whole = |sentence: &str| ParseFault {
            line: 1,
            text: String::new(),
            sentence: sentence.to_string(),
        };
        let (gfx, sramecc_off) = self.target.ok_or_else(|| whole("no .amdgcn_target"))?;
        let name = self.name.clone().ok_or_else(|| whole("no .amdhsa_kernel block"))?;
        if self.labels.get(&name) != Some(&0) {
            return Err(whole("the kernel's label must stand before the first instruction"));
        }
        let target =
            |key: &str, default: i64| self.settings.get(key).copied().unwrap_or(default) as u32;
        let on = |key: &str| target(key, 0) != 0;
        // User SGPRs come in this order (AMDGPU usage guide, initial kernel execution state).
        let before = [("private_segment_buffer", 4), ("dispatch_ptr", 2), ("queue_ptr", 2)];
        let mut user: u8 =
            before.iter().filter(|(key, _)| on(&format!("user_sgpr_{key}"))).map(|(_, n)| n).sum();
        let kernarg_at = on("user_sgpr_kernarg_segment_ptr").then_some(user);
        user += if kernarg_at.is_some() { 2 } else { 0 };
        let after = [("dispatch_id", 2), ("flat_scratch_init", 2), ("private_segment_size", 1)];
        user += after
            .iter()
            .filter(|(key, _)| on(&format!("user_sgpr_{key}")))
            .map(|(_, n)| n)
            .sum::<u8>();
        if on("user_sgpr_kernarg_preload_length") {
            return Err(whole("kernarg preload is not modelled"));
        }
        let user_sgprs = target("user_sgpr_count", user.into()) as u8;
        if user_sgprs < user {
            return Err(whole("user_sgpr_count is smaller than the enabled user SGPRs"));
        }
        // In WGP mode waves of a group have two vector caches, and a barrier alone does not order
        // what they do to global memory.
        if gfx.is_rdna() && !gfx.is_gfx125() && target("workgroup_processor_mode", 0) != 0 {
            return Err(whole(
                "WGP mode is not modelled: a group's waves would have two vector L0 caches",
            ));
        }
        let vgprs = target("next_free_vgpr", 0);
        let wave = if gfx.is_rdna() && target("wavefront_size32", 1) == 1 { 32 } else { 64 };
        // Where accumulators are no part of the vector registers, each kind has as many; RDNA has
        // none.
        let accum_offset = match gfx {
            Gfx::Gfx908 => 256,
            _ if gfx.is_rdna() => 256,
            _ => target("accum_offset", 4),
        };
        let header = Header {
            lds_bytes: target("group_segment_fixed_size", 0),
            gfx,
            wave,
            sramecc_off,
            kernarg_at,
            kernarg_bytes: self
                .settings
                .get("kernarg_size")
                .or(self.metadata.get(".kernarg_segment_size"))
                .map(|&n| n as u32),
            user_sgprs,
            block_ids: [("x", 1), ("y", 0), ("z", 0)].map(|(axis, default)| {
                target(&format!("system_sgpr_workgroup_id_{axis}"), default) != 0
            }),
            workitem_id: target("system_vgpr_workitem_id", 0),
            vgprs,
            sgprs: target("next_free_sgpr", 0),
            accum_offset,
            subnormals: Subnormals::of_mode(target("float_denorm_mode_32", 0)),
            most_threads: self.metadata.get(".max_flat_workgroup_size").map(|&n| n as u32),
        };
        if let Some(&lds) = self.metadata.get(".group_segment_fixed_size")
            && lds as u32 != header.lds_bytes
        {
            return Err(whole("the metadata and the kernel descriptor disagree on LDS size"));
        }
        if !header.accum_offset.is_multiple_of(4)
            || header.accum_offset == 0
            || header.accum_offset > 256
        {
            return Err(whole("accum_offset must be a multiple of 4 from 4 to 256"));
        }
        Ok(Split { name, header, lines: self.lines, labels: self.labels })
    }
}

/// An integer in assembler notation.
pub(super) fn number(text: &str) -> Option<i64> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |d| (true, d));
    let value = match digits.get(..2) {
        Some("0x" | "0X") => u64::from_str_radix(&digits[2..], 16).ok()? as i64,
        Some("0b") => i64::from_str_radix(&digits[2..], 2).ok()?,
        _ => digits.parse().ok()?,
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

fn instruction(line: u32, word: &str, rest: &str) -> Result<Line, String> {
    let mut line = Line {
        line,
        mnemonic: word.trim_end_matches("_e32").trim_end_matches("_e64").to_string(),
        operands: Vec::new(),
        modifiers: Vec::new(),
        rest: rest.to_string(),
    };
    if rest.is_empty() || word.starts_with("s_wait") {
        return Ok(line);
    }
    let mut pieces: Vec<String> = vec![String::new()];
    let mut depth = 0;
    for c in rest.chars() {
        depth += i32::from("[(".contains(c)) - i32::from("])".contains(c));
        if c == ',' && depth == 0 {
            pieces.push(String::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    let last = pieces.len() - 1;
    for (i, piece) in pieces.iter().enumerate() {
        let mut words = piece.split_whitespace();
        let first = words.next().ok_or("an empty operand")?;
        line.operands.push(operand(first)?);
        for word in words {
            if i != last {
                return Err(format!("`{word}` stands between operands"));
            }
            let (key, value) = word.split_once(':').unwrap_or((word, ""));
            line.modifiers.push((key.to_string(), value.to_string()));
        }
    }
    Ok(line)
}

fn operand(text: &str) -> Result<Operand, String> {
    match text {
        "off" => return Ok(Operand::Off),
        "vcc" => return Ok(Operand::S { first: VCC, len: 2 }),
        "vcc_lo" => return Ok(Operand::S { first: VCC, len: 1 }),
        "vcc_hi" => {
            return Ok(Operand::S { first: VCC + 1, len: 1 });
        }
        "exec" => {
            return Ok(Operand::S { first: EXEC, len: 2 });
        }
        "exec_lo" => {
            return Ok(Operand::S { first: EXEC, len: 1 });
        }
        "exec_hi" => {
            return Ok(Operand::S { first: EXEC + 1, len: 1 });
        }
        "m0" => return Ok(Operand::S { first: M0, len: 1 }),
        "null" => return Ok(Operand::S { first: NULL, len: 1 }),
        _ => {}
    }
    if let Some(value) = number(text) {
        return Ok(Operand::Int(value));
    }
    if let Some(number) = text.strip_prefix("ttmp").and_then(|n| n.parse::<u8>().ok()) {
        return match number {
            0..16 => Ok(Operand::S { first: TTMP + number, len: 1 }),
            _ => Err(format!("there is no register `{text}`")),
        };
    }
    if let Some((first, len)) = text.strip_prefix("-v").and_then(range) {
        return Ok(Operand::Minus { first, len });
    }
    let (kind, tail) = text.split_at(1);
    if matches!(kind, "s" | "v" | "a")
        && let Some((first, len)) = range(tail)
    {
        let limit = if kind == "s" { 102 } else { 256 };
        if first + len > limit {
            return Err(format!("there is no register `{text}`"));
        }
        return Ok(match kind {
            "s" => Operand::S { first: first as u8, len: len as u8 },
            _ => Operand::V { first, len, acc: kind == "a" },
        });
    }
    if let (true, Ok(value)) = (text.contains('.') && !text.starts_with('.'), text.parse::<f64>()) {
        return Ok(Operand::Float(value));
    }
    Ok(Operand::Word(text.to_string()))
}

fn range(tail: &str) -> Option<(u16, u16)> {
    if let Some(inner) = tail.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let (first, last) = inner.split_once(':').unwrap_or((inner, inner));
        let (first, last): (u16, u16) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        return (last >= first).then(|| (first, last - first + 1));
    }
    tail.parse().ok().map(|n| (n, 1))
}
