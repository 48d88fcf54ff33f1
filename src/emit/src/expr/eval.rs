//! The value of an expression, for tests and for checks of emitted code.
use crate::expr::reach::NodeSet;
use crate::expr::{Expr, ExprArena, ExprError, ExprId};

/// The value of `root` when variable v has the value `variables[v]` (32-bit ones zero-extended).
///
/// `values` is scratch with at least `root + 1` entries.
pub fn evaluate(
    arena: &ExprArena<'_>,
    root: ExprId,
    variables: &[u64],
    values: &mut [u64],
) -> Result<u64, ExprError> {
    let needed = root.index().saturating_add(1);
    let lent = values.len();
    let values = values.get_mut(..needed).ok_or(ExprError::Scratch {
        needed: u16::try_from(needed).unwrap_or(u16::MAX),
        lent: u16::try_from(lent).unwrap_or(u16::MAX),
    })?;
    values.fill(0);
    // Nodes without a value (a shift too far) matter only if the root needs them.
    let mut reach = NodeSet::new();
    reach.add(root);
    let mut from = ExprId::NONE;
    while let Some(id) = reach.before(from) {
        from = id;
        if let Some(Expr::Op(_, args)) = arena.get(id) {
            for arg in args.into_iter().filter(|arg| *arg != ExprId::NONE) {
                reach.add(arg);
            }
        }
    }
    for id in reach.ascending() {
        let at = |values: &[u64], id: ExprId| values.get(id.index()).copied().unwrap_or(0);
        let value = match arena.get(id).ok_or(ExprError::UnknownNode(id))? {
            Expr::Const(value) => value,
            Expr::Var(var) => {
                let value = *variables.get(var.index()).ok_or(ExprError::UnknownVariable(var))?;
                let wide = arena.facts(id).is_some_and(|facts| facts.width == 64);
                if wide { value } else { u64::from(value as u32) }
            }
            Expr::Op(op, [a, b]) => {
                op.eval(at(values, a), at(values, b)).ok_or(ExprError::NoValue(id))?
            }
        };
        if let Some(place) = values.get_mut(id.index()) {
            *place = value;
        }
    }
    values.last().copied().ok_or(ExprError::UnknownNode(root))
}
