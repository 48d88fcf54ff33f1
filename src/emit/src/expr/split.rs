//! Parts of an expression: its constant offset, its loop-invariant pieces.
use crate::expr::{Expr, ExprArena, ExprError, ExprId};
use lanebook_tables::IndexOp;

/// The expression without its constant summand, and that summand: `x + c`, or `x | c` and `x ^ c`
/// where no bit can be set in both. 32-bit constants are read as signed, so that `x - 4` gives -4.
/// Expressions without one give 0.
///
/// # Errors
/// If the node does not exist.
pub fn split_constant(arena: &ExprArena<'_>, id: ExprId) -> Result<(ExprId, i64), ExprError> {
    let Some(Expr::Op(op, [base, last])) = arena.get(id) else {
        return if arena.get(id).is_some() { Ok((id, 0)) } else { Err(ExprError::UnknownNode(id)) };
    };
    let (Some(value), Some(facts)) = (arena.constant_value(last), arena.facts(base)) else {
        return Ok((id, 0));
    };
    match op {
        IndexOp::Add => Ok((base, i64::from(value as u32 as i32))),
        IndexOp::Add64 => Ok((base, value as i64)),
        IndexOp::Or | IndexOp::Xor if facts.possible() & value == 0 => {
            Ok((base, i64::from(value as u32 as i32)))
        }
        _ => Ok((id, 0)),
    }
}

/// Calls `found` for the largest parts of `root` that depend on no loop deeper than `level` (the
/// root itself, if it does not): what to compute outside that loop. Constants and variables by
/// themselves are not worth it and are left out. `marks` is scratch with at least `root + 1`
/// entries. Parts come in descending node order.
///
/// # Errors
/// If the scratch is too short.
pub fn frontier(
    arena: &ExprArena<'_>,
    root: ExprId,
    level: u8,
    marks: &mut [bool],
    mut found: impl FnMut(ExprId),
) -> Result<(), ExprError> {
    let needed = root.index().saturating_add(1);
    let lent = marks.len();
    let marks = marks.get_mut(..needed).ok_or(ExprError::Scratch {
        needed: u16::try_from(needed).unwrap_or(u16::MAX),
        lent: u16::try_from(lent).unwrap_or(u16::MAX),
    })?;
    marks.fill(false);
    if let Some(last) = marks.last_mut() {
        *last = true;
    }
    for index in (0..needed).rev() {
        if !marks.get(index).copied().unwrap_or(false) {
            continue;
        }
        let id = ExprId(u16::try_from(index).unwrap_or(u16::MAX));
        let (Some(Expr::Op(_, args)), Some(facts)) = (arena.get(id), arena.facts(id)) else {
            continue;
        };
        if facts.level <= level {
            found(id);
            continue;
        }
        for arg in args {
            if let Some(mark) = marks.get_mut(arg.index()) {
                *mark = true;
            }
        }
    }
    Ok(())
}
