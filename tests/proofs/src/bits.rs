//! Rules whose words are all bitwise: equal for all values if equal for all values of one bit.
use crate::formula::{Formula, Node};
use lanebook_tables::{CondArg, IndexOp, Word};

fn bitwise(node: &Node) -> bool {
    let mut good = true;
    node.walk(&mut |node| {
        good &= match node {
            Node::Slot(_) | Node::Lut3(..) => true,
            Node::Const(value, width) => {
                *width == 32 && (*value == 0 || *value == u64::from(u32::MAX))
            }
            Node::Op(op, _) => matches!(op, IndexOp::And | IndexOp::Or | IndexOp::Xor),
            Node::TrailingZeros(_) | Node::Low32(_) | Node::High32(_) => false,
        };
    });
    good
}

/// Whether the one-bit truth table proves the claim. Conditions are bitwise too, so they are asked
/// of the same bit.
#[must_use]
pub fn proves(formula: &Formula) -> bool {
    let free: Vec<u8> = formula.free().collect();
    let known = |word: Word| {
        matches!(
            word,
            Word::Disjoint | Word::Covers | Word::NotConst | Word::Uniform | Word::SingleUse
        )
    };
    if free.len() > 12
        || formula.slots.iter().any(|slot| slot.width != 32)
        || !formula.terms().all(bitwise)
        || !formula.conditions.iter().all(|(word, args)| {
            known(*word) && args.iter().all(|arg| matches!(arg, CondArg::Slot(_)))
        })
    {
        return false;
    }
    (0..1u32 << free.len()).all(|row| {
        let mut slots = vec![0u64; formula.slots.len()];
        for (number, slot) in free.iter().enumerate() {
            slots[usize::from(*slot)] =
                if row >> number & 1 == 1 { u64::from(u32::MAX) } else { 0 };
        }
        let Some(slots) = formula.complete(slots) else {
            return true;
        };
        let at = |arg: &CondArg| match arg {
            CondArg::Slot(slot) => slots[usize::from(*slot)],
            CondArg::Const(value) => value.get() as u64,
        };
        let holds = formula.conditions.iter().all(|(word, args)| match word {
            Word::Disjoint => at(&args[0]) & at(&args[1]) == 0,
            Word::Covers => at(&args[1]) & !at(&args[0]) & u64::from(u32::MAX) == 0,
            _ => true,
        });
        !holds || formula.left.eval(&slots) == formula.right.eval(&slots)
    })
}
