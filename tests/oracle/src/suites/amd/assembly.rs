//! What assemblers take: a line is taken for a target iff the tables have an atom there whose text
//! it is.
//!
//! A line is held against the templates: words as they stand, registers by class, length and
//! alignment of the tuple, numbers by the operand's range. Nothing is assembled here; that the
//! templates themselves are taken is the audit's check.

use super::{Verdict, mnemonic};
use crate::suites::Case;
use crate::tables::tables;
use lanebook_tables::{Arch, Atom, Isa, Operand, Piece, RegisterKind, Role};
use serde_json::Value;

/// The targets of `llvm_mc_accepts.jsonl`, as its first line names them.
const TARGETS: [&str; 11] = [
    "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1030", "gfx1100", "gfx1151", "gfx1200", "gfx1201",
    "gfx1250", "gfx1251",
];

/// A note.
pub fn note(_: &Value) -> Result<Verdict, String> {
    Ok(Verdict::Skipped("a note about how the file was made"))
}

/// A line, and the targets that took it.
pub fn accepts(case: &Case<'_>) -> Result<Verdict, String> {
    let record = case.record;
    let line = record["asm"].as_str().ok_or("no text")?;
    let wanted: Vec<&str> = record["accepts"]
        .as_array()
        .ok_or("no targets")?
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let ours: Vec<&str> = TARGETS.into_iter().filter(|target| taken(target, line)).collect();
    let (missing, more) = (
        TARGETS.iter().filter(|t| wanted.contains(t) && !ours.contains(t)),
        TARGETS.iter().filter(|t| !wanted.contains(t) && ours.contains(t)),
    );
    let (missing, more): (Vec<_>, Vec<_>) = (missing.collect(), more.collect());
    if more.is_empty() && !missing.is_empty() {
        let rest = |line: &str| missing.iter().all(|target| taken(target, line));
        if other_name(line).is_some_and(|line| rest(&line)) {
            return Ok(Verdict::Ruled(
                "a second name that the assembler keeps: the tables know the instruction by the target's own",
            ));
        }
        if line.contains("_lds_")
            && line.split_once(" offset:-").is_some_and(|(line, _)| rest(line))
        {
            return Ok(Verdict::Ruled(
                "the immediate moves the LDS address too: the tables take none below 0",
            ));
        }
        if line.contains("v[1:3]") && rest(&line.replace("v[1:3]", "v[2:4]")) {
            return Ok(Verdict::Ruled(
                "a tuple that may begin anywhere: emission keeps to even registers",
            ));
        }
    }
    if missing.is_empty() && more.is_empty() {
        Ok(Verdict::Agree)
    } else {
        Err(format!("`{line}`: the tables lack {missing:?}, and claim {more:?}"))
    }
}

/// An instruction of one target.
pub fn instruction(record: &Value) -> Result<Verdict, String> {
    let (line, target) =
        (record["asm"].as_str().ok_or("no text")?, record["gfx"].as_str().ok_or("no target")?);
    if taken(target, line) {
        Ok(Verdict::Agree)
    } else {
        Err(format!("no atom of {target} stands for `{line}`"))
    }
}

/// The line by the other name that gfx11 and gfx12 have for its instruction.
fn other_name(line: &str) -> Option<String> {
    const NAMES: [(&str, &str); 9] = [
        ("ds_read2st64_", "ds_load_2addr_stride64_"),
        ("ds_write2st64_", "ds_store_2addr_stride64_"),
        ("ds_read2_", "ds_load_2addr_"),
        ("ds_write2_", "ds_store_2addr_"),
        ("ds_read_u8_d16", "ds_load_u8_d16"),
        ("ds_read_", "ds_load_"),
        ("ds_write_", "ds_store_"),
        ("v_add_u32", "v_add_nc_u32"),
        ("v_sub_u32", "v_sub_nc_u32"),
    ];
    NAMES.iter().find_map(|(old, new)| Some(format!("{new}{}", line.strip_prefix(old)?)))
}

/// The line with what it leaves out written as the assembler takes it (no modifier is 0), and
/// formats by number.
fn spelled(line: &str) -> Vec<String> {
    let mut line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    for (number, name) in ["FP8", "BF8", "FP6", "BF6", "FP4"].iter().enumerate() {
        line = line.replace(&format!("MATRIX_FMT_{name}"), &number.to_string());
    }
    if line.starts_with("v_mfma_scale") && !line.contains("op_sel:") {
        line = if line.contains(" op_sel_hi") {
            line.replace(" op_sel_hi", " op_sel:[0,0,0] op_sel_hi")
        } else {
            format!("{line} op_sel:[0,0,0] op_sel_hi:[0,0,0]")
        };
    }
    let defaults = [" cbsz:0 blgp:0", " matrix_a_fmt:0 matrix_b_fmt:0", " neg_lo:[0,0,0]"];
    let more: Vec<String> = defaults.iter().map(|default| format!("{line}{default}")).collect();
    std::iter::once(line).chain(more).collect()
}

fn taken(target: &str, line: &str) -> bool {
    let archs = tables().archs.iter().filter(|arch| arch.target == target && arch.name == target);
    let lines = spelled(line);
    archs.into_iter().any(|arch| lines.iter().any(|line| one(arch, line)))
}

fn one(arch: &Arch<'static>, line: &str) -> bool {
    let Some(isa) = tables().isa(arch.isa) else { return false };
    let word = line.split(' ').next().unwrap_or("");
    let atoms = arch
        .atoms
        .iter()
        .filter_map(|have| tables().atom(have.atom))
        .filter(|atom| mnemonic(atom) == word);
    atoms.into_iter().any(|atom| fits(isa, atom, &atom.template.pieces().collect::<Vec<_>>(), line))
}

fn fits(isa: &Isa<'_>, atom: &Atom<'_>, pieces: &[Piece<'_>], rest: &str) -> bool {
    let Some((first, more)) = pieces.split_first() else { return rest.trim().is_empty() };
    // Operands end at a comma, a space or the end; numbers in a list at its bracket.
    let token = |text: &str| {
        let in_list = text.starts_with(|c: char| c.is_ascii_digit());
        text.find(|c| c == ',' || c == ' ' || c == ']' && in_list).unwrap_or(text.len())
    };
    match *first {
        Piece::Text(text) => {
            rest.strip_prefix(text).is_some_and(|rest| fits(isa, atom, more, rest))
        }
        Piece::Operand(k) => {
            let Some(operand) = atom.operands.get(usize::from(k)) else { return false };
            let (own, after) = rest.split_at(token(rest));
            takes(isa, operand, own) && fits(isa, atom, more, after)
        }
        Piece::Optional(k, before) => {
            let Some(operand) = atom.operands.get(usize::from(k)) else { return false };
            let there = rest.strip_prefix(before).is_some_and(|rest| {
                let (own, after) = rest.split_at(token(rest));
                takes(isa, operand, own) && fits(isa, atom, more, after)
            });
            there || fits(isa, atom, more, rest)
        }
        _ => false,
    }
}

fn takes(isa: &Isa<'_>, operand: &Operand<'_>, text: &str) -> bool {
    let number = match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse::<i64>().ok(),
    };
    if let Some(number) = number {
        return (operand.range.0..=operand.range.1).contains(&number);
    }
    if operand.role == Role::Immediate {
        return false;
    }
    let classes = std::iter::once(operand.class).chain(operand.also.iter().copied());
    classes.filter_map(|id| isa.classes.get(id.index())).any(|class| {
        if class.kind == RegisterKind::Special {
            return text == class.prefix;
        }
        let Some(rest) = text.strip_prefix(class.prefix) else { return false };
        let (first, last) = match rest
            .strip_prefix('[')
            .and_then(|r| r.strip_suffix(']'))
            .and_then(|r| r.split_once(':'))
        {
            Some((first, last)) => (first.parse::<u16>().ok(), last.parse::<u16>().ok()),
            None => (rest.parse::<u16>().ok(), rest.parse::<u16>().ok()),
        };
        let (Some(first), Some(last)) = (first, last) else { return false };
        let count = last.saturating_sub(first) + 1;
        count == u16::from(operand.registers.max(1))
            && (count == 1 || first % u16::from(class.tuple_align.max(1)) == 0)
    })
}
