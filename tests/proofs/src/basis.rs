//! Rules that are linear over GF(2) in their values, for all shift amounts: equal if equal on all
//! basis vectors.
use crate::formula::{Formula, Node};
use lanebook_tables::{CondArg, IndexOp, Word};
use std::collections::BTreeSet;

/// What a term is in the slots that are not shift amounts.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Shape {
    /// Independent of them.
    Fixed,
    /// Linear in them.
    Linear,
    /// Anything else.
    Other,
}

fn shape(node: &Node, amounts: &BTreeSet<u8>) -> Shape {
    match node {
        Node::Slot(slot) if amounts.contains(slot) => Shape::Fixed,
        Node::Slot(_) => Shape::Linear,
        Node::Const(0, _) => Shape::Linear,
        Node::Const(..) => Shape::Fixed,
        Node::TrailingZeros(arg) | Node::Low32(arg) | Node::High32(arg) => {
            if shape(arg, amounts) == Shape::Fixed { Shape::Fixed } else { Shape::Other }
        }
        Node::Lut3(..) => Shape::Other,
        Node::Op(op, args) => {
            let shapes: Vec<Shape> = args.iter().map(|arg| shape(arg, amounts)).collect();
            match (op, shapes.as_slice()) {
                (_, all) if all.iter().all(|shape| *shape == Shape::Fixed) => Shape::Fixed,
                (IndexOp::Xor, [Shape::Linear, Shape::Linear]) => Shape::Linear,
                (IndexOp::And, [Shape::Linear, Shape::Fixed] | [Shape::Fixed, Shape::Linear]) => {
                    Shape::Linear
                }
                (IndexOp::Shl | IndexOp::Shr | IndexOp::Shl64, [Shape::Linear, Shape::Fixed]) => {
                    Shape::Linear
                }
                (IndexOp::Extend64, [Shape::Linear]) => Shape::Linear,
                _ => Shape::Other,
            }
        }
    }
}

/// Whether basis vectors prove the claim: shift amounts are enumerated, everything else is linear.
#[must_use]
pub fn proves(formula: &Formula) -> bool {
    let mut amounts = BTreeSet::new();
    for term in formula.terms() {
        term.walk(&mut |node| {
            if let Node::Op(IndexOp::Shl | IndexOp::Shr | IndexOp::Shl64, args) = node
                && let Some(Node::Slot(slot)) = args.get(1)
            {
                amounts.insert(*slot);
            }
        });
    }
    let computed: BTreeSet<u8> = formula.lets.iter().map(|(slot, _)| *slot).collect();
    let mut fixed = amounts.clone();
    for (slot, term) in &formula.lets {
        if shape(term, &fixed) == Shape::Fixed {
            fixed.insert(*slot);
        } else {
            return false;
        }
    }
    let free: Vec<u8> = amounts.iter().copied().filter(|slot| !computed.contains(slot)).collect();
    let conditions_known = formula.conditions.iter().all(|(word, args)| {
        let fixed_args =
            args.iter().all(|arg| !matches!(arg, CondArg::Slot(slot) if !fixed.contains(slot)));
        matches!(word, Word::NotConst | Word::Uniform | Word::SingleUse)
            || (fixed_args && matches!(word, Word::Less | Word::Equal))
    });
    let vectors: Vec<u8> = formula.free().filter(|slot| !fixed.contains(slot)).collect();
    let linear = |node: &Node| shape(node, &fixed) == Shape::Linear;
    if free.len() > 2
        || !conditions_known
        || !formula.parts.is_empty()
        || !linear(&formula.left)
        || !linear(&formula.right)
    {
        return false;
    }
    let mut rows = vec![vec![0u64; formula.slots.len()]];
    for slot in &free {
        rows = rows
            .iter()
            .flat_map(|row| {
                (0..64u64).map(move |amount| {
                    let mut row = row.clone();
                    row[usize::from(*slot)] = amount;
                    row
                })
            })
            .collect();
    }
    rows.into_iter().all(|row| {
        let Some(row) = formula.complete(row) else {
            return true;
        };
        let at = |arg: &CondArg| match arg {
            CondArg::Slot(slot) => row[usize::from(*slot)],
            CondArg::Const(value) => value.get() as u64,
        };
        let holds = formula.conditions.iter().all(|(word, args)| match word {
            Word::Less => at(&args[0]) < at(&args[1]),
            Word::Equal => at(&args[0]) == at(&args[1]),
            _ => true,
        });
        if !holds || formula.left.eval(&row).is_none() {
            return true;
        }
        vectors.iter().all(|slot| {
            let width = formula.slots[usize::from(*slot)].width;
            (0..u32::from(width)).all(|bit| {
                let mut row = row.clone();
                row[usize::from(*slot)] = 1 << bit;
                formula.left.eval(&row) == formula.right.eval(&row)
            })
        })
    })
}
