//! The canonical text of a rule, and its hash.
//!
//! The text holds everything that its proof depends on and nothing else: both sides, computed
//! constants, conditions, widths of slots, and the meanings of the instructions used. Slots are
//! numbered, so renaming one changes nothing; neither do name, priority, phase, doc and examples.
use super::rule::CompiledRule;
use crate::model::HwModel;
use lanebook_tables::{BuildNode, CondArg, NO_SLOT, PatternNode, Role, TermNode};
use std::fmt::Write;

/// The canonical text.
#[must_use]
pub fn text(rule: &CompiledRule, hw: &HwModel) -> String {
    let mut out = format!("{:?} {}\nslots", rule.language, rule.width);
    for slot in &rule.slots {
        let _ = write!(out, " {}{}", slot.width, if slot.constant { "c" } else { "" });
    }
    out.push_str("\npattern");
    for node in &rule.pattern {
        let _ = match node {
            PatternNode::Any(slot) | PatternNode::AnyConst(slot) => write!(out, " ${slot}"),
            PatternNode::Const(value) => write!(out, " {}", value.get()),
            PatternNode::Index(op, _, slot) => write!(out, " {}{}", op.name(), at(*slot)),
            PatternNode::Tile(op, slot, arity) => write!(out, " op{}/{arity}{}", op.0, at(*slot)),
            PatternNode::Role(role, slot, arity) => write!(out, " {role:?}/{arity}{}", at(*slot)),
        };
    }
    for (slot, term) in &rule.lets {
        let _ = write!(out, "\nlet ${slot} =");
        build(term, hw, &mut out);
    }
    for (word, args) in &rule.conditions {
        let _ = write!(out, "\nwhen {}", word.name());
        for arg in args {
            let _ = match arg {
                CondArg::Slot(slot) => write!(out, " ${slot}"),
                CondArg::Const(value) => write!(out, " {}", value.get()),
            };
        }
    }
    out.push_str("\nbecomes");
    build(&rule.replacement, hw, &mut out);
    out.push('\n');
    out
}

fn at(slot: u8) -> String {
    if slot == NO_SLOT { String::new() } else { format!("@{slot}") }
}

fn build(term: &[BuildNode], hw: &HwModel, out: &mut String) {
    for node in term {
        let _ = match node {
            BuildNode::Slot(slot) => write!(out, " ${slot}"),
            BuildNode::Const(value, width) => write!(out, " {}:{width}", value.get()),
            BuildNode::Fold(op, _) | BuildNode::Index(op, _) => write!(out, " {}", op.name()),
            BuildNode::TrailingZeros => write!(out, " trailing_zeros"),
            BuildNode::Low32 => write!(out, " low32"),
            BuildNode::High32 => write!(out, " high32"),
            BuildNode::Tile(tile) => write!(out, " {tile:?}"),
            BuildNode::Inst(id, arity) => {
                let atom = hw.atom(*id);
                let _ = write!(out, " {}/{arity}[", atom.name.value);
                for operand in &atom.operands {
                    let _ = write!(
                        out,
                        "{:?}{}{} ",
                        operand.role,
                        operand.register_bits * u16::from(operand.registers),
                        if operand.implicit && operand.role != Role::Def { "i" } else { "" }
                    );
                }
                means(&super::meaning(*id, hw), out);
                write!(out, "]")
            }
        };
    }
}

fn means(term: &[TermNode], out: &mut String) {
    out.push_str("means");
    for node in term {
        let _ = match node {
            TermNode::Operand(number) => write!(out, " %{number}"),
            TermNode::Const(value) => write!(out, " {value}"),
            TermNode::Op(op, _) => write!(out, " {}", op.name()),
            TermNode::Lut3(table) => write!(out, " lut3 %{table}"),
            TermNode::BytePermute => write!(out, " byte_permute"),
        };
    }
}

/// FNV-1a with 128 bits, as 32 hexadecimal digits. It guards against mistakes, not against an
/// adversary.
#[must_use]
pub fn hash(text: &str) -> String {
    let mut state: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in text.bytes() {
        state ^= u128::from(byte);
        state = state.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B);
    }
    format!("{state:032x}")
}
