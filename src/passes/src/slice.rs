//! Slicing: a loop with attribute `sliceCount` becomes so many loops, each over its part of the
//! iterations.
//!
//! Slice `s` of `c` runs the iterations from `floor(n * s / c)` to `floor(n * (s + 1) / c)` of `n`.
//! What the loop carries goes from each slice into the next, so a reduction comes out as before. A
//! pipeline region with the attribute asks for it on behalf of its loops. Each of the six
//! diagnostics refuses the pass; the program is then as it was.
use crate::PassError;
use crate::context::{PassContext, edit};
use crate::diagnostic::Diagnostic;
use lanebook_ir::{AttrValue, Def, Literal, Loop, Op, Program, Type, Value, attr_names};
use lanebook_tables::{AxisWord, OpId, OpRole};

pub(crate) fn run(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    // Loops inside of loops come first, so that copies of the outer one have them in slices.
    let mut at = cx.program.first(cx.program.root());
    while let Some(op) = at {
        at = cx.program.following(op, None);
        if cx.program.has_attr(op, attr_names::SLICE_COUNT) {
            cx.push(op)?;
        }
    }
    while let Some(op) = cx.pop()? {
        let Some(count) = cx.program.attr(op, attr_names::SLICE_COUNT) else { continue };
        if matches!(cx.program.role(op), OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch) {
            region(cx, op, count)?;
            continue;
        }
        if let Err(diagnostic) = plan(cx.program, op, count).and_then(|()| inside(cx.program, op)) {
            return Err(PassError::Refused { diagnostic, at: op });
        }
        slice(cx, op)?;
    }
    Ok(())
}

/// A pipeline region wants its loops in slices: those that stand in it and do not say otherwise.
fn region(cx: &mut PassContext<'_, '_, '_>, op: Op, count: AttrValue) -> Result<(), PassError> {
    let refused = |diagnostic| Err(PassError::Refused { diagnostic, at: op });
    if !matches!(count, AttrValue::Int(1.., _)) {
        return refused(Diagnostic::SliceCount);
    }
    let mut at = cx.program.body(op).and_then(|body| cx.program.first(body));
    let mut any = false;
    while let Some(inner) = at {
        at = cx.program.next(inner);
        if cx.program.counted_loop(inner).is_some() {
            any = true;
            cx.program.set_attr(inner, attr_names::SLICE_COUNT, count).map_err(edit)?;
            cx.push(inner)?;
        }
    }
    if !any {
        return refused(Diagnostic::SliceOp);
    }
    cx.program.remove_attr(op, attr_names::SLICE_COUNT).map_err(edit)?;
    cx.changed(op)
}

type SliceResult = Result<(), Diagnostic>;

/// What must hold of the loop itself, and of what is in it.
fn plan(program: &Program<'_, '_>, op: Op, count: AttrValue) -> SliceResult {
    let AttrValue::Int(count, _) = count else { return Err(Diagnostic::SliceCount) };
    let Some(parts) = program.counted_loop(op) else { return Err(Diagnostic::SliceOp) };
    if count < 1 || trips(program, &parts).is_some_and(|trips| count > trips) {
        return Err(Diagnostic::SliceCount);
    }
    for inner in program.inside(op) {
        if !is_cloned(program, inner) {
            return Err(Diagnostic::SliceOp);
        }
    }
    if !is_bound(program, op, parts.lower) {
        return Err(Diagnostic::SliceLower);
    }
    for value in program.carried(op) {
        let escapes = program.uses(value.init).any(|place| {
            program.user(place).is_some_and(|user| program.role(user) == OpRole::Return)
        });
        let from_outside = match program.def(value.init) {
            // The first argument of a loop counts; the others are carried.
            Def::Argument(block, number) => {
                number > 0
                    && program.owner_of(block).is_some_and(|owner| program.role(owner).is_loop())
            }
            Def::Nothing => true,
            _ => false,
        };
        if escapes || from_outside {
            return Err(Diagnostic::SliceInitial);
        }
    }
    Ok(())
}

/// What the copies must not have in them.
fn inside(program: &Program<'_, '_>, op: Op) -> SliceResult {
    for inner in program.inside(op) {
        match program.role(inner) {
            OpRole::Return => return Err(Diagnostic::SliceInside),
            OpRole::Copy if !program.has_attr(inner, attr_names::LAYOUT) => {
                return Err(Diagnostic::SliceCopyAtom);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Loads, stores, copies, arithmetic, control flow, pipeline stages, and what only names or shapes
/// values.
fn is_cloned(program: &Program<'_, '_>, op: Op) -> bool {
    match program.role(op) {
        OpRole::Opaque | OpRole::Function | OpRole::AgentSwitch | OpRole::Pragma => false,
        OpRole::Call => program.function(program.symbol(op)).is_some(),
        _ => true,
    }
}

/// A number, or an affine map of numbers and of what enclosing loops count.
fn is_bound(program: &Program<'_, '_>, op: Op, lower: Value) -> bool {
    if program.int(lower).is_some() {
        return true;
    }
    let Some(def) = program.def_op(lower) else { return false };
    let counts = |value: Value| match program.def(value) {
        Def::Argument(block, 0) => program.owner_of(block).is_some_and(|owner| {
            program.counted_loop(owner).is_some() && program.is_inside(op, owner)
        }),
        _ => program.int(value).is_some(),
    };
    program.role(def) == OpRole::Index
        && program.has_attr(def, attr_names::MAP)
        && program.operands(def).all(counts)
}

/// Number of iterations, when the bounds and the step are numbers.
fn trips(program: &Program<'_, '_>, parts: &Loop) -> Option<i64> {
    let (lower, upper, step) =
        (program.int(parts.lower)?, program.int(parts.upper)?, program.int(parts.step)?);
    let span = upper.checked_sub(lower)?.max(0);
    let whole = span.checked_div(step)?;
    if span.checked_rem(step)? > 0 { whole.checked_add(1) } else { Some(whole) }
}

fn slice(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let (Some(parts), Some(count)) =
        (cx.program.counted_loop(op), cx.program.int_attr(op, attr_names::SLICE_COUNT))
    else {
        return Ok(());
    };
    let total = match trips(cx.program, &parts) {
        Some(trips) => Trips::Known {
            lower: cx.program.int(parts.lower).unwrap_or(0),
            step: cx.program.int(parts.step).unwrap_or(1),
            trips,
        },
        None => measured(cx, op, &parts)?,
    };
    cx.program.remove_attr(op, attr_names::SLICE_COUNT).map_err(edit)?;
    let carried = cx.program.carried(op).count();
    for number in 0..count.saturating_sub(1) {
        let here = cx.program.clone_before(op, op).map_err(edit)?;
        let end = total.bound(cx, op, &parts, number.saturating_add(1), count)?;
        cx.program.set_operand(here, 1, end).map_err(edit)?;
        // The original is the last slice: it begins where this one ends, with what this one made.
        cx.program.set_operand(op, 0, end).map_err(edit)?;
        for value in 0..carried {
            if let Some(result) = cx.program.result(here, value) {
                cx.program.set_operand(op, value.saturating_add(3), result).map_err(edit)?;
            }
        }
        // A bound that had to be computed stands before the slice that ends there.
        cx.program.move_before(here, op).map_err(edit)?;
        cx.changed(here)?;
    }
    cx.changed(op)
}

/// How many iterations there are.
#[derive(Copy, Clone)]
enum Trips {
    Known { lower: i64, step: i64, trips: i64 },
    Value(Value),
}

/// The operation of indices that does something: the first that the tables say it of.
fn index_op(program: &Program<'_, '_>, word: AxisWord) -> Result<OpId, PassError> {
    let tables = program.tables();
    let mut known = tables.seeding.meanings.iter().filter(|meaning| meaning.word == word);
    known
        .find_map(|meaning| tables.op_named(meaning.op))
        .ok_or(edit(lanebook_ir::ErrorKind::UnknownOp))
}

fn make(
    cx: &mut PassContext<'_, '_, '_>,
    before: Op,
    word: AxisWord,
    a: Value,
    b: Value,
) -> Result<Value, PassError> {
    let decl = index_op(cx.program, word)?;
    let op = cx.program.insert_before(before, decl, &[a, b], &[Type::INDEX]).map_err(edit)?;
    cx.program.result(op, 0).ok_or(edit(lanebook_ir::ErrorKind::Broken))
}

fn int(cx: &mut PassContext<'_, '_, '_>, value: i64) -> Result<Value, PassError> {
    cx.program.literal_value(Literal::Int(value)).map_err(edit)
}

/// `(upper - lower + step - 1) / step`, before the loop.
fn measured(cx: &mut PassContext<'_, '_, '_>, op: Op, parts: &Loop) -> Result<Trips, PassError> {
    let span = make(cx, op, AxisWord::Sub, parts.upper, parts.lower)?;
    let one = int(cx, 1)?;
    let round = make(cx, op, AxisWord::Sub, parts.step, one)?;
    let up = make(cx, op, AxisWord::Add, span, round)?;
    Ok(Trips::Value(make(cx, op, AxisWord::Div, up, parts.step)?))
}

impl Trips {
    /// `lower + step * floor(trips * number / count)`.
    fn bound(
        self,
        cx: &mut PassContext<'_, '_, '_>,
        op: Op,
        parts: &Loop,
        number: i64,
        count: i64,
    ) -> Result<Value, PassError> {
        match self {
            Self::Known { lower, step, trips } => {
                let whole = i128::from(trips)
                    .wrapping_mul(i128::from(number))
                    .checked_div(i128::from(count))
                    .unwrap_or(0);
                let at = i128::from(lower).wrapping_add(whole.wrapping_mul(i128::from(step)));
                int(
                    cx,
                    i64::try_from(at).map_err(|_| edit(lanebook_ir::ErrorKind::NumberTooLarge))?,
                )
            }
            Self::Value(trips) => {
                let (number, count) = (int(cx, number)?, int(cx, count)?);
                let part = make(cx, op, AxisWord::Mul, trips, number)?;
                let part = make(cx, op, AxisWord::Div, part, count)?;
                let part = make(cx, op, AxisWord::Mul, part, parts.step)?;
                make(cx, op, AxisWord::Add, parts.lower, part)
            }
        }
    }
}
