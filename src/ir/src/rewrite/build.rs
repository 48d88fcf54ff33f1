//! Builds a rule's right side in the graph.
use crate::rewrite::engine::MadeNodes;
use crate::rewrite::matcher::{Binding, constant};
use crate::rewrite::{Bound, Graph, RunError, TileMake};
use lanebook_tables::{BuildNode, MAX_TERM, NO_SLOT, Rule, RuleId};

/// Makes the nodes of a replacement, inner ones first, and answers the outermost. New nodes are
/// noted in `made`. `Ok(None)`: a folded constant has no value, so the rule does not apply after
/// all.
pub(super) fn build<G: Graph>(
    graph: &mut G,
    id: RuleId,
    rule: &Rule<'_>,
    root: G::Id,
    root_width: u8,
    binding: &Binding<G::Id>,
    made: &mut MadeNodes<G::Id>,
) -> Result<Option<G::Id>, RunError<G::Error>> {
    let bad = RunError::BadRule { rule: id };
    let mut stack: [Bound<G::Id>; MAX_TERM] = [Bound::Free; MAX_TERM];
    let mut depth = 0usize;
    for node in rule.replacement.iter().rev() {
        let arity = match *node {
            BuildNode::Fold(_, arity) | BuildNode::Index(_, arity) => arity,
            BuildNode::Tile(tile) => tile.arity,
            _ => 0,
        };
        let start = depth.checked_sub(usize::from(arity)).ok_or(bad)?;
        let args = stack.get(start..depth).ok_or(bad)?;
        // The last value pushed is the first argument.
        let value = match *node {
            BuildNode::Slot(slot) => binding.get(slot),
            BuildNode::Const(value, width) => Bound::Const(
                if width == 32 { u64::from(value.get() as u32) } else { value.get() as u64 },
                width,
            ),
            BuildNode::Fold(op, _) => {
                let mut values =
                    args.iter().rev().map(|arg| constant(graph, *arg).map(|(value, _)| value));
                let first = values.next().flatten().ok_or(bad)?;
                let second = if arity > 1 { values.next().flatten().ok_or(bad)? } else { 0 };
                match op.eval(first, second) {
                    Some(value) => Bound::Const(value, op.width()),
                    None => return Ok(None),
                }
            }
            BuildNode::Index(op, _) => {
                let mut ids: [Option<G::Id>; 2] = [None; 2];
                for (place, arg) in ids.iter_mut().zip(args.iter().rev()) {
                    *place = Some(node_of(graph, *arg, bad)?);
                }
                let new = match ids {
                    [Some(a), Some(b)] => graph.make_index(op, &[a, b]),
                    [Some(a), None] => graph.make_index(op, &[a]),
                    _ => return Err(bad),
                };
                let new = new.map_err(RunError::Graph)?;
                made.note(new).ok_or(bad)?;
                Bound::Node(new)
            }
            BuildNode::Tile(tile) => {
                let slot = |slot: u8| {
                    if slot == NO_SLOT { None } else { binding.node(slot) }
                };
                let make = TileMake {
                    op: tile.op,
                    like: slot(tile.like),
                    layout: slot(tile.layout),
                    through: slot(tile.through),
                };
                let mut ids = [root; 8];
                for (place, arg) in ids.iter_mut().zip(args.iter().rev()) {
                    *place = node_of(graph, *arg, bad)?;
                }
                let ids = ids.get(..usize::from(arity)).ok_or(bad)?;
                let new = graph.make_tile(make, ids, root).map_err(RunError::Graph)?;
                made.note(new).ok_or(bad)?;
                Bound::Node(new)
            }
            // Computed constants stand in `lets`; instructions are for selection.
            BuildNode::TrailingZeros
            | BuildNode::Low32
            | BuildNode::High32
            | BuildNode::Inst(..) => return Err(bad),
        };
        *stack.get_mut(start).ok_or(bad)? = value;
        depth = start.checked_add(1).ok_or(bad)?;
    }
    match (depth, stack.first()) {
        (1, Some(Bound::Node(id))) => Ok(Some(*id)),
        (1, Some(Bound::Const(value, _))) => {
            let new = graph.make_const(*value, root_width).map_err(RunError::Graph)?;
            made.note(new).ok_or(bad)?;
            Ok(Some(new))
        }
        _ => Err(bad),
    }
}

fn node_of<G: Graph>(
    graph: &mut G,
    bound: Bound<G::Id>,
    bad: RunError<G::Error>,
) -> Result<G::Id, RunError<G::Error>> {
    match bound {
        Bound::Node(id) => Ok(id),
        Bound::Const(value, width) => graph.make_const(value, width).map_err(RunError::Graph),
        Bound::Free => Err(bad),
    }
}
