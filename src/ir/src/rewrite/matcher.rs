//! The matcher: does a rule's left side fit here, and what do its slots hold?
//!
//! Words that commute match in either order. Each such word of a pattern is one decision (keep or
//! swap); decisions are tried depth first, so the first fit is well defined and the others can be
//! asked for ([`find`] with the swaps before).
use crate::rewrite::{Bound, Terms, View};
use lanebook_tables::{
    BuildNode, Cond, CondArg, MAX_SLOTS, MAX_TERM, NO_SLOT, PatternNode, Rule, Word,
};

/// What the slots of a rule hold.
#[derive(Copy, Clone, Debug)]
pub struct Binding<I> {
    slots: [Bound<I>; MAX_SLOTS],
}

impl<I: Copy> Binding<I> {
    /// Nothing bound.
    #[must_use]
    pub fn new() -> Self {
        Self { slots: [Bound::Free; MAX_SLOTS] }
    }
    /// What a slot holds.
    #[must_use]
    pub fn get(&self, slot: u8) -> Bound<I> {
        self.slots.get(usize::from(slot)).copied().unwrap_or(Bound::Free)
    }
    /// The node a slot holds.
    #[must_use]
    pub fn node(&self, slot: u8) -> Option<I> {
        match self.get(slot) {
            Bound::Node(id) => Some(id),
            _ => None,
        }
    }
    fn set(&mut self, slot: u8, value: Bound<I>) -> bool {
        match self.slots.get_mut(usize::from(slot)) {
            Some(place) => {
                *place = value;
                true
            }
            None => false,
        }
    }
}

impl<I: Copy> Default for Binding<I> {
    fn default() -> Self {
        Self::new()
    }
}

/// Decisions about commuting words: bit i = the i-th such word of the pattern, in prefix order, is
/// matched swapped.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Swaps(pub u16);

/// The value of a constant as pattern constants and signed ranges see it.
#[doc(hidden)]
pub fn signed(value: u64, width: u8) -> i64 {
    if width == 32 { i64::from(value as u32 as i32) } else { value as i64 }
}

fn truncate(value: i64, width: u8) -> u64 {
    if width == 32 { u64::from(value as u32) } else { value as u64 }
}

/// The value and width of what a slot holds, if it is a constant.
pub(crate) fn constant<G: Terms>(graph: &G, bound: Bound<G::Id>) -> Option<(u64, u8)> {
    match bound {
        Bound::Const(value, width) => Some((value, width)),
        Bound::Node(id) => match graph.view(id) {
            View::Const { value, width } => Some((value, width)),
            _ => None,
        },
        Bound::Free => None,
    }
}

/// The first fit of a rule at `root` from the decisions `from` on, with the decisions that made it
/// and those to try next (`None`: there is no other).
pub fn find<G: Terms>(
    graph: &G,
    rule: &Rule<'_>,
    root: G::Id,
    from: Swaps,
) -> Option<(Binding<G::Id>, Swaps, Option<Swaps>)> {
    let look = RootView::at(graph, root);
    if look.plausible(rule.pattern) { find_plausible(graph, rule, &look, from) } else { None }
}

/// [`find`] for a root at which the pattern is plausible.
#[doc(hidden)]
#[inline(never)]
pub fn find_plausible<G: Terms>(
    graph: &G,
    rule: &Rule<'_>,
    look: &RootView<G::Id>,
    from: Swaps,
) -> Option<(Binding<G::Id>, Swaps, Option<Swaps>)> {
    let root = look.root;
    let mut swaps = from;
    loop {
        let mut binding = Binding::new();
        let (fits, decided) = fit(graph, rule.pattern, root, swaps, &mut binding);
        let next = next_swaps(swaps, decided);
        if fits
            && computed(graph, rule, &mut binding)
            && rule.conditions.iter().all(|cond| holds(graph, cond, &binding))
        {
            return Some((binding, swaps, next));
        }
        swaps = next?;
    }
}

/// What the slots hold when a rule fits with exactly these decisions.
pub fn matches<G: Terms>(
    graph: &G,
    rule: &Rule<'_>,
    root: G::Id,
    swaps: Swaps,
) -> Option<Binding<G::Id>> {
    let mut binding = Binding::new();
    let (fits, _) = fit(graph, rule.pattern, root, swaps, &mut binding);
    (fits
        && computed(graph, rule, &mut binding)
        && rule.conditions.iter().all(|cond| holds(graph, cond, &binding)))
    .then_some(binding)
}

/// A root and its first two operands: looked at once, they rule out most rules before anything is
/// bound.
#[doc(hidden)]
pub struct RootView<I> {
    root: I,
    operands: Option<(View, View)>,
}

impl<I: Copy> RootView<I> {
    #[doc(hidden)]
    pub fn at<G: Terms<Id = I>>(graph: &G, root: I) -> Self {
        let operands = match (graph.operand(root, 0), graph.operand(root, 1)) {
            (Some(a), Some(b)) => Some((graph.view(a), graph.view(b))),
            _ => None,
        };
        Self { root, operands }
    }
    /// Whether a pattern may fit, from the root and its operands alone.
    #[doc(hidden)]
    pub fn plausible(&self, pattern: &[PatternNode]) -> bool {
        let Some((PatternNode::Index(op, 2, _), rest)) = pattern.split_first() else {
            return true;
        };
        let (Some(first), Some((a, b))) = (rest.first(), self.operands) else {
            return false;
        };
        let fits = |node: &PatternNode, view: View| match (node, view) {
            (PatternNode::AnyConst(_), view) => matches!(view, View::Const { .. }),
            (PatternNode::Const(wanted), View::Const { value, width }) => {
                truncate(wanted.get(), width) == value
            }
            (PatternNode::Index(wanted, ..), View::Index(found)) => *wanted == found,
            (PatternNode::Index(..) | PatternNode::Const(_), _) => false,
            _ => true,
        };
        let (kept, swapped) = (fits(first, a), op.commutes() && fits(first, b));
        if !kept && !swapped {
            return false;
        }
        let Some(second) = second_argument(rest) else { return false };
        (kept && fits(second, b)) || (swapped && fits(second, a))
    }
}

/// The second argument of a word, which stands after all of the first.
#[inline]
fn second_argument(arguments: &[PatternNode]) -> Option<&PatternNode> {
    let (first, rest) = arguments.split_first()?;
    let PatternNode::Index(_, arity, _) = first else { return rest.first() };
    let mut open = *arity;
    for node in rest {
        if open == 0 {
            return Some(node);
        }
        open = match node {
            PatternNode::Index(_, arity, _) => open.saturating_sub(1).saturating_add(*arity),
            _ => open.saturating_sub(1),
        };
    }
    None
}

/// The decisions after these, of which the first `decided` mattered.
#[must_use]
pub fn next_swaps(swaps: Swaps, decided: u8) -> Option<Swaps> {
    let mut at = decided.min(16);
    while let Some(last) = at.checked_sub(1) {
        at = last;
        let bit = 1u16.checked_shl(u32::from(last))?;
        if swaps.0 & bit == 0 {
            // Swap this one, keep those before it, forget those after it.
            return Some(Swaps((swaps.0 & bit.wrapping_sub(1)) | bit));
        }
    }
    None
}

/// Matches a pattern; answers whether it fits and how many decisions were looked at.
fn fit<G: Terms>(
    graph: &G,
    pattern: &[PatternNode],
    root: G::Id,
    swaps: Swaps,
    binding: &mut Binding<G::Id>,
) -> (bool, u8) {
    let mut stack: [Option<G::Id>; MAX_TERM] = [None; MAX_TERM];
    let mut depth = 0usize;
    let mut decided = 0u8;
    if let Some(place) = stack.first_mut() {
        *place = Some(root);
        depth = 1;
    }
    for node in pattern {
        let Some(at) = depth.checked_sub(1) else {
            return (false, decided);
        };
        depth = at;
        let Some(id) = stack.get(at).copied().flatten() else {
            return (false, decided);
        };
        let (slot, arity, swapped) = match (*node, graph.view(id)) {
            (PatternNode::Any(slot), _) => {
                if !bind(binding, slot, id) {
                    return (false, decided);
                }
                continue;
            }
            (PatternNode::AnyConst(slot), View::Const { .. }) => {
                if !bind(binding, slot, id) {
                    return (false, decided);
                }
                continue;
            }
            (PatternNode::Const(wanted), View::Const { value, width })
                if truncate(wanted.get(), width) == value =>
            {
                continue;
            }
            (PatternNode::Index(op, arity, slot), View::Index(found)) if op == found => {
                let mut swapped = false;
                if op.commutes() {
                    swapped = swaps.0.checked_shr(u32::from(decided)).unwrap_or(0) & 1 == 1;
                    decided = decided.saturating_add(1);
                }
                (slot, arity, swapped)
            }
            (PatternNode::Tile(op, slot, arity), View::Tile(found, _)) if op == found => {
                (slot, arity, false)
            }
            (PatternNode::Role(role, slot, arity), View::Tile(_, found)) if role == found => {
                (slot, arity, false)
            }
            _ => return (false, decided),
        };
        if graph.arity(id) != arity || (slot != NO_SLOT && !bind(binding, slot, id)) {
            return (false, decided);
        }
        // The first operand must come off the stack first.
        for turn in 0..arity {
            let number = if swapped { turn } else { arity.saturating_sub(1).saturating_sub(turn) };
            let (Some(operand), Some(place)) = (graph.operand(id, number), stack.get_mut(depth))
            else {
                return (false, decided);
            };
            *place = Some(operand);
            depth = depth.saturating_add(1);
        }
    }
    (depth == 0, decided)
}

fn bind<I: Copy + PartialEq>(binding: &mut Binding<I>, slot: u8, id: I) -> bool {
    match binding.get(slot) {
        Bound::Free => binding.set(slot, Bound::Node(id)),
        Bound::Node(held) => held == id,
        Bound::Const(..) => false,
    }
}

/// Fills the slots that the rule computes.
fn computed<G: Terms>(graph: &G, rule: &Rule<'_>, binding: &mut Binding<G::Id>) -> bool {
    rule.lets.iter().all(|item| match fold(graph, &item.term, binding) {
        Some((value, width)) => binding.set(item.slot, Bound::Const(value, width)),
        None => false,
    })
}

/// The value of a term of slots, constants and folded words.
pub(crate) fn fold<G: Terms>(
    graph: &G,
    term: &[BuildNode],
    binding: &Binding<G::Id>,
) -> Option<(u64, u8)> {
    let mut stack = [(0u64, 0u8); MAX_TERM];
    let mut depth = 0usize;
    for node in term.iter().rev() {
        let value = match *node {
            BuildNode::Slot(slot) => constant(graph, binding.get(slot))?,
            BuildNode::Const(value, width) => (truncate(value.get(), width), width),
            BuildNode::Fold(op, arity) => {
                depth = depth.checked_sub(usize::from(arity))?;
                // The last value pushed is the first argument.
                let first = stack.get(depth.checked_add(usize::from(arity))?.checked_sub(1)?)?.0;
                let second = if arity > 1 { stack.get(depth)?.0 } else { 0 };
                (op.eval(first, second)?, op.width())
            }
            BuildNode::TrailingZeros => {
                depth = depth.checked_sub(1)?;
                let (value, width) = *stack.get(depth)?;
                (u64::from((value != 0).then_some(value.trailing_zeros())?), width)
            }
            BuildNode::Low32 => {
                depth = depth.checked_sub(1)?;
                let (value, _) = *stack.get(depth)?;
                (u64::from(value as u32), 32)
            }
            BuildNode::High32 => {
                depth = depth.checked_sub(1)?;
                let (value, _) = *stack.get(depth)?;
                (value.wrapping_shr(32), 32)
            }
            _ => return None,
        };
        *stack.get_mut(depth)? = value;
        depth = depth.checked_add(1)?;
    }
    if depth == 1 { stack.first().copied() } else { None }
}

/// Whether a condition holds.
fn holds<G: Terms>(graph: &G, cond: &Cond<'_>, binding: &Binding<G::Id>) -> bool {
    let mut args = [Bound::Free; 3];
    for (place, arg) in args.iter_mut().zip(cond.args) {
        *place = match *arg {
            CondArg::Slot(slot) => binding.get(slot),
            CondArg::Const(value) => Bound::Const(value.get() as u64, 64),
        };
    }
    let [a, b, c] = args;
    let value = |bound| constant(graph, bound);
    match cond.word {
        Word::IsConst => value(a).is_some(),
        Word::NotConst => value(a).is_none(),
        Word::PowerOfTwo => value(a).is_some_and(|(v, _)| v.is_power_of_two()),
        Word::LowMask => value(a).is_some_and(|(v, _)| v != 0 && v & v.wrapping_add(1) == 0),
        Word::Fits => match (value(a), value(b), value(c)) {
            (Some((v, width)), Some((low, _)), Some((high, _))) => {
                (low as i64..=high as i64).contains(&signed(v, width))
            }
            _ => false,
        },
        Word::Equal => matches!((value(a), value(b)), (Some((x, _)), Some((y, _))) if x == y),
        Word::Less => matches!((value(a), value(b)), (Some((x, _)), Some((y, _))) if x < y),
        word => graph.holds(word, args.get(..cond.args.len()).unwrap_or(&[])),
    }
}
