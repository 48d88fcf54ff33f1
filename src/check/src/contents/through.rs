//! What instructions do to bits and numbers, by the tables' terms: moves, packing, shifts, choices
//! of bytes.

use crate::contents::flow::written;
use crate::contents::storage::ContentsScratch;
use crate::contents::{Content, ContentsContext, class, count};
use lanebook_emit::step::Slot;
use lanebook_tables::{IndexOp, OpWord, TermNode};

/// Most nodes of a term on their way.
const DEPTH: usize = 16;
/// Most instructions in a row that only move bits.
const MOVES: usize = 64;

/// The value of a term.
pub(super) fn number(term: &[TermNode], operand: impl Fn(u8) -> Option<u64>) -> Option<u64> {
    let mut stack: heapless::Vec<u64, DEPTH> = heapless::Vec::new();
    for node in term.iter().rev() {
        let value = match *node {
            TermNode::Operand(k) => operand(k)?,
            TermNode::Const(c) => c.cast_unsigned(),
            TermNode::Op(op, arity) => {
                let first = stack.pop()?;
                let second = if arity > 1 { stack.pop()? } else { 0 };
                apply(op, first, second)?
            }
            TermNode::Lut3(table) => {
                let (a, b, c) = (stack.pop()?, stack.pop()?, stack.pop()?);
                lut(operand(table)?, a, b, c)
            }
            TermNode::BytePermute => {
                let (a, b, selector) = (stack.pop()?, stack.pop()?, stack.pop()?);
                permute(a, b, selector)
            }
        };
        stack.push(value).ok()?;
    }
    let out = stack.pop()?;
    stack.is_empty().then_some(out)
}

const LOW: u64 = 0xffff_ffff;

fn apply(op: IndexOp, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (a & LOW, b & LOW);
    let by = |most: u64| u32::try_from(y).ok().filter(|n| u64::from(*n) < most);
    Some(match op {
        IndexOp::Add => x.wrapping_add(y) & LOW,
        IndexOp::Sub => x.wrapping_sub(y) & LOW,
        IndexOp::Mul => x.wrapping_mul(y) & LOW,
        IndexOp::And => x & y,
        IndexOp::Or => x | y,
        IndexOp::Xor => x ^ y,
        IndexOp::Shl => x.checked_shl(by(32)?)? & LOW,
        IndexOp::Shr => x.checked_shr(by(32)?)?,
        IndexOp::MulWide64 => x.wrapping_mul(y),
        IndexOp::Add64 => a.wrapping_add(b),
        IndexOp::Extend64 => x,
        IndexOp::Shl64 => a.checked_shl(by(64)?)?,
    })
}

fn lut(table: u64, a: u64, b: u64, c: u64) -> u64 {
    let mut out = 0u64;
    for bit in 0..32u32 {
        let of = |v: u64| v.checked_shr(bit).unwrap_or(0) & 1;
        let index = of(a).wrapping_mul(4) | of(b).wrapping_mul(2) | of(c);
        let index = u32::try_from(index).unwrap_or(0);
        out |= (table.checked_shr(index).unwrap_or(0) & 1).checked_shl(bit).unwrap_or(0);
    }
    out
}

/// Bytes 0 to 3 from the second, 4 to 7 from the first; 12 is zero.
fn permute(a: u64, b: u64, selector: u64) -> u64 {
    let all = (b & LOW) | (a & LOW).wrapping_shl(32);
    let mut out = 0u64;
    for k in 0..4u32 {
        let at = selector.checked_shr(k.wrapping_mul(8)).unwrap_or(0) & 0xff;
        let byte = if at < 8 {
            all.checked_shr(u32::try_from(at).unwrap_or(0).wrapping_mul(8)).unwrap_or(0) & 0xff
        } else {
            0
        };
        out |= byte.checked_shl(k.wrapping_mul(8)).unwrap_or(0);
    }
    out
}

/// Some bits of a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct BitRange {
    pub content: Content,
    pub bit: u16,
    pub width: u16,
}

/// The constant in a slot.
fn constant(slot: Slot) -> Option<u64> {
    match slot {
        Slot::Int(v) => Some(i64::from(v).cast_unsigned()),
        Slot::Word(v) => Some(u64::from(v)),
        _ => None,
    }
}

impl ContentsScratch<'_> {
    /// Where bits were before instructions that only move them.
    pub(super) fn through(&self, look: &ContentsContext<'_>, bits: BitRange) -> BitRange {
        let mut at = bits;
        for _ in 0..MOVES {
            match self.moved(look, at).or_else(|| self.chosen(look, at)) {
                Some(next) => at = next,
                None => break,
            }
        }
        at
    }

    /// Where bits were before one such instruction, choices of bytes left aside.
    fn moved(&self, look: &ContentsContext<'_>, bits: BitRange) -> Option<BitRange> {
        let Content::Inst(number, register) = bits.content else { return None };
        let step = look.steps.get(usize::from(number))?;
        let atom = look.atom(step)?;
        let (operand, member) = written(look, step, register)?;
        let read = |operand: u8, member: u8| self.read(look, number, operand, member);
        if let [TermNode::Operand(k)] = *atom.means.slice() {
            // A move of a tuple into a like one.
            let (to, from) = (step.arg(usize::from(operand)), step.arg(usize::from(k)));
            let alike = count(to) == count(from)
                && look.class_bits(class(to)?) == look.class_bits(class(from)?);
            return if alike && operand == 0 {
                Some(BitRange { content: read(k, member)?, ..bits })
            } else {
                None
            };
        }
        if let [
            TermNode::Op(op @ (IndexOp::Shr | IndexOp::Shl), 2),
            TermNode::Operand(a),
            TermNode::Operand(s),
        ] = *atom.means.slice()
        {
            let by = u16::try_from(constant(step.arg(usize::from(s)))?).ok()?;
            let bit = if op == IndexOp::Shr {
                bits.bit.checked_add(by)?
            } else {
                bits.bit.checked_sub(by)?
            };
            let inside = bit.checked_add(bits.width)? <= 32;
            return if inside {
                Some(BitRange { content: read(a, 0)?, bit, ..bits })
            } else {
                None
            };
        }
        let does = atom.does?;
        match does.op {
            OpWord::ConcatRegs => {
                let whole = look.class_bits(class(step.arg(usize::from(operand)))?)?;
                let part =
                    u16::try_from(whole.checked_div(u32::try_from(does.uses.len()).ok()?)?).ok()?;
                let number = bits.bit.checked_div(part)?;
                let bit = bits.bit.checked_rem(part)?;
                let inside = bit.checked_add(bits.width)? <= part;
                let from = *does.uses.get(usize::from(number))?;
                if inside { Some(BitRange { content: read(from, 0)?, bit, ..bits }) } else { None }
            }
            OpWord::SplitRegs => {
                let own =
                    u16::try_from(look.class_bits(class(step.arg(usize::from(operand)))?)?).ok()?;
                let bit = u16::from(register).checked_mul(own)?.checked_add(bits.bit)?;
                Some(BitRange { content: read(*does.uses.first()?, 0)?, bit, ..bits })
            }
            _ => None,
        }
    }

    /// Where bits were before a choice of bytes by a known number.
    fn chosen(&self, look: &ContentsContext<'_>, bits: BitRange) -> Option<BitRange> {
        let Content::Inst(number, _) = bits.content else { return None };
        let step = look.steps.get(usize::from(number))?;
        let does = look.atom(step)?.does.filter(|does| does.op == OpWord::BytePermute)?;
        let third = *does.uses.get(2)?;
        let selector = match constant(step.arg(usize::from(third))) {
            Some(n) => n,
            None => self.known(look, self.read(look, number, third, 0)?)?,
        };
        self.chosen_by(look, bits, selector)
    }

    /// The same by a given number.
    pub(super) fn chosen_by(
        &self,
        look: &ContentsContext<'_>,
        bits: BitRange,
        selector: u64,
    ) -> Option<BitRange> {
        let Content::Inst(number, _) = bits.content else { return None };
        let step = look.steps.get(usize::from(number))?;
        let does = look.atom(step)?.does.filter(|does| does.op == OpWord::BytePermute)?;
        let (first, last) = (bits.bit / 8, bits.bit.checked_add(bits.width)?.checked_sub(1)? / 8);
        let byte = |k: u16| {
            let shifted =
                selector.checked_shr(u32::from(k).checked_mul(u32::from(does.selector))?)?;
            u16::try_from(shifted & 1u64.checked_shl(u32::from(does.selector))?.checked_sub(1)?)
                .ok()
                .filter(|b| *b < 8)
        };
        let start = byte(first)?;
        for k in first..=last {
            if byte(k)? != start.checked_add(k.checked_sub(first)?)? || byte(k)? / 4 != start / 4 {
                return None;
            }
        }
        let from = *does.uses.get(usize::from(start / 4))?;
        let bit = (start % 4).checked_mul(8)?.checked_add(bits.bit % 8)?;
        Some(BitRange { content: self.read(look, number, from, 0)?, bit, ..bits })
    }

    /// The number in a register that constants alone make. Choices of bytes ask for it, so that it
    /// looks through none.
    pub(super) fn known(&self, look: &ContentsContext<'_>, content: Content) -> Option<u64> {
        let mut at = BitRange { content, bit: 0, width: 32 };
        for _ in 0..MOVES {
            match self.moved(look, at) {
                Some(next) => at = next,
                None => break,
            }
        }
        let Content::Inst(number, register) = at.content else { return None };
        let step = look.steps.get(usize::from(number))?;
        let atom = look.atom(step)?;
        let operand = |k: u8| constant(step.arg(usize::from(k)));
        let down = u32::from(register).checked_mul(32)?.checked_add(u32::from(at.bit))?;
        self::number(atom.means.slice(), operand).map(|n| n.checked_shr(down).unwrap_or(0))
    }
}
