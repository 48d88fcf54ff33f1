//! Rules of sums and products: both sides are the same polynomial modulo 2^width.
//!
//! A shift left by a slot is a product with a variable that stands for the power of two, so `(x <<
//! k) + (y << k)` is `x p + y p`. Sums of terms that a condition calls `disjoint` or `no_carry`
//! stay sums when they are or-ed or extended. Solvers are slow at products of 32-bit variables;
//! expanding them is instant. Other conditions are not needed, and so not looked at.
use crate::formula::{Formula, Node};
use lanebook_tables::{CondArg, IndexOp, Word};
use std::collections::BTreeMap;

/// Variables of a monomial, sorted: a slot, or (`true`) two to the power of a slot.
type Monomial = Vec<(bool, u8)>;
type Polynomial = BTreeMap<Monomial, u64>;

fn single(monomial: Monomial, factor: u64) -> Polynomial {
    BTreeMap::from([(monomial, factor)])
}

fn add(a: &Polynomial, b: &Polynomial, factor: u64) -> Polynomial {
    let mut out = a.clone();
    for (monomial, count) in b {
        let place = out.entry(monomial.clone()).or_default();
        *place = place.wrapping_add(count.wrapping_mul(factor));
    }
    out
}

fn multiply(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let mut out = Polynomial::new();
    for (x, p) in a {
        for (y, q) in b {
            let mut monomial: Monomial = x.iter().chain(y).copied().collect();
            monomial.sort_unstable();
            let place = out.entry(monomial).or_default();
            *place = place.wrapping_add(p.wrapping_mul(*q));
        }
    }
    out
}

/// A `lets` or part that stands behind a slot.
fn behind(formula: &Formula, slot: u8) -> Option<&Node> {
    formula.lets.iter().chain(&formula.parts).find(|(name, _)| *name == slot).map(|(_, term)| term)
}

/// Whether an argument of a condition is this term: its slot, the part that the slot is bound to,
/// or its number.
fn names(formula: &Formula, arg: &CondArg, node: &Node) -> bool {
    match (arg, node) {
        (CondArg::Slot(x), Node::Slot(y)) => x == y,
        (CondArg::Slot(x), _) => formula.parts.iter().any(|(slot, part)| slot == x && part == node),
        (CondArg::Const(x), Node::Const(y, _)) => x.get() as u64 == *y,
        _ => false,
    }
}

/// Whether a condition says this of these two terms, in either order.
fn given(formula: &Formula, word: Word, a: &Node, b: &Node) -> bool {
    formula.conditions.iter().any(|(found, args)| {
        let says = |a: &Node, b: &Node| matches!(args.as_slice(), [x, y] if names(formula, x, a) && names(formula, y, b));
        *found == word && (says(a, b) || says(b, a))
    })
}

/// The term under a mask that a condition says covers it (the rule `and_covered`, proved bit by
/// bit).
fn unmasked<'a>(node: &'a Node, formula: &Formula) -> Option<&'a Node> {
    let Node::Op(IndexOp::And, args) = node else {
        return None;
    };
    let [a, mask] = args.as_slice() else {
        return None;
    };
    let says = |(word, args): &(Word, Vec<CondArg>)| {
        *word == Word::Covers
            && matches!(args.as_slice(), [x, y] if names(formula, x, mask) && names(formula, y, a))
    };
    formula.conditions.iter().any(says).then_some(a)
}

/// The summands of a term that is a sum without a carry out of any bit (`disjoint`) or out of the
/// word (`no_carry`).
fn summands<'a>(node: &'a Node, formula: &Formula, carries: bool) -> Option<[&'a Node; 2]> {
    let Node::Op(op, args) = node else {
        return None;
    };
    let [a, b] = args.as_slice() else { return None };
    let fits = match op {
        IndexOp::Add => {
            carries || given(formula, Word::NoCarry, a, b) || given(formula, Word::Disjoint, a, b)
        }
        // Disjoint bits: or, exclusive or and sum are one (the rules `add_disjoint`,
        // `xor_disjoint`, proved by the solver).
        IndexOp::Or | IndexOp::Xor => given(formula, Word::Disjoint, a, b),
        _ => false,
    };
    fits.then_some([a, b])
}

/// The polynomial over 64 bits of a zero-extended 32-bit term. Its variables are zero-extended
/// slots.
fn extended(node: &Node, formula: &Formula) -> Option<Polynomial> {
    if let Some([a, b]) = summands(node, formula, false) {
        return Some(add(&extended(a, formula)?, &extended(b, formula)?, 1));
    }
    match node {
        Node::Slot(slot) if behind(formula, *slot).is_none() => {
            Some(single(vec![(false, *slot)], 1))
        }
        Node::Const(value, 32) => Some(single(Vec::new(), *value)),
        _ => None,
    }
}

/// The polynomial of a term in one ring (32 or 64 bits throughout).
fn expand(node: &Node, formula: &Formula, width: u8) -> Option<Polynomial> {
    if node.width(&formula.slots) != width {
        return None;
    }
    if let Some(inner) = unmasked(node, formula) {
        return expand(inner, formula, width);
    }
    if let Some([a, b]) = summands(node, formula, true) {
        return Some(add(&expand(a, formula, width)?, &expand(b, formula, width)?, 1));
    }
    match node {
        Node::Slot(slot) => match behind(formula, *slot) {
            Some(term) => expand(term, formula, width),
            None => Some(single(vec![(false, *slot)], 1)),
        },
        Node::Const(value, _) => Some(single(Vec::new(), *value)),
        Node::Op(IndexOp::Extend64, args) => extended(args.first()?, formula),
        Node::Op(op, args) => {
            let [a, b] = args.as_slice() else { return None };
            match (op, b) {
                (IndexOp::Add64, _) => {
                    Some(add(&expand(a, formula, width)?, &expand(b, formula, width)?, 1))
                }
                (IndexOp::Sub, _) => {
                    Some(add(&expand(a, formula, width)?, &expand(b, formula, width)?, u64::MAX))
                }
                (IndexOp::Mul, _) => {
                    Some(multiply(&expand(a, formula, width)?, &expand(b, formula, width)?))
                }
                (IndexOp::MulWide64, _) => {
                    Some(multiply(&extended(a, formula)?, &extended(b, formula)?))
                }
                (IndexOp::Shl | IndexOp::Shl64, Node::Const(by, _)) => Some(multiply(
                    &expand(a, formula, width)?,
                    &single(Vec::new(), 1u64.checked_shl(*by as u32)?),
                )),
                (IndexOp::Shl | IndexOp::Shl64, Node::Slot(slot))
                    if behind(formula, *slot).is_none() =>
                {
                    Some(multiply(&expand(a, formula, width)?, &single(vec![(true, *slot)], 1)))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Shift amounts that must have a value on the right: each must be one of the left's or of a
/// `let`'s.
fn shifts(nodes: &[&Node]) -> Vec<Node> {
    let mut out = Vec::new();
    for node in nodes {
        node.walk(&mut |node| {
            if let Node::Op(IndexOp::Shl | IndexOp::Shr | IndexOp::Shl64, args) = node {
                out.extend(
                    args.get(1)
                        .filter(|amount| !matches!(amount, Node::Const(by, _) if *by < 32))
                        .cloned(),
                );
            }
        });
    }
    out
}

/// Whether both sides are one polynomial, whatever the conditions.
#[must_use]
pub fn proves(formula: &Formula) -> bool {
    let width = formula.left.width(&formula.slots);
    let sides: Vec<&Node> =
        std::iter::once(&formula.left).chain(formula.lets.iter().map(|(_, term)| term)).collect();
    let given = shifts(&sides);
    if !shifts(&[&formula.right]).iter().all(|amount| given.contains(amount)) {
        return false;
    }
    let (Some(left), Some(right)) =
        (expand(&formula.left, formula, width), expand(&formula.right, formula, width))
    else {
        return false;
    };
    let mask = if width == 32 { u64::from(u32::MAX) } else { u64::MAX };
    add(&left, &right, u64::MAX).values().all(|factor| factor & mask == 0)
}
