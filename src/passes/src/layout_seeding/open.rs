//! Open tiles: tiles of registers that have no layout, because whoever plans the program decides.
//!
//! A program that moves tiles through memrefs is planned whole: how wide a lane's share of a load
//! is, is weighed with everything that reads it. `default-layouts` leaves such programs open, and a
//! product that gets its instruction is then the only thing in them that has a layout. Here that
//! layout goes wherever it must be the same, in place of a conversion to a tile of which nothing is
//! known: through elementwise operations, loops and conditions, up to what changes a tile's shape,
//! to loads and stores, and to other conversions.
//!
//! A class of tiles takes the layout whole or not at all: where one of them cannot (it has another
//! layout, a function's interface, elements of less than a byte), the conversion stays.
use crate::layout_seeding::runs::element_bits;
use crate::{PassContext, PassError, edit};
use lanebook_ir::{Def, Op, Program, TileEncoding, Type, TypeKind, Value};
use lanebook_tables::{LayoutTrait, OpRole};

/// A tile in registers that has no layout yet.
pub(super) fn is_open(ty: &Type) -> bool {
    ty.is_tile()
        && !ty.is_memory()
        && ty.encoding == TileEncoding::None
        && ty.shape.rank() > 0
        && ty.shape.elements().is_some()
}

/// Whether a program moves tiles through memrefs: the planner then cuts them up.
pub(super) fn is_planned(program: &Program<'_, '_>) -> bool {
    (0..program.pools.values.len())
        .filter_map(Value::at)
        .any(|value| program.type_of(value).kind == TypeKind::Memref)
}

/// Whether a program repeats rows of a tile.
pub(super) fn repeats_rows(program: &Program<'_, '_>) -> bool {
    program.all().filter(|op| program.role(*op) == OpRole::Broadcast).any(|op| {
        let pair = |value: Option<Value>| program.type_of(value?).shape.pair();
        matches!((pair(program.operand(op, 0)), pair(program.result(op, 0))),
            (Some((1, _)), Some((rows, _))) if rows > 1)
    })
}

/// Lets open tiles take the layouts that were converted to them.
pub(super) fn join(cx: &mut PassContext<'_, '_, '_>) -> Result<(), PassError> {
    if !is_planned(cx.program) {
        return Ok(());
    }
    // A tile that took a layout may be converted to another open one.
    loop {
        let before = cx.changes();
        let mut at = cx.program.first(cx.program.root());
        while let Some(op) = at {
            at = cx.program.following(op, None);
            if cx.program.role(op) == OpRole::Convert {
                conversion(cx, op)?;
            }
        }
        if cx.changes() == before {
            return Ok(());
        }
    }
}

/// A conversion to an open tile: none, if the tile can be as what is converted.
fn conversion(cx: &mut PassContext<'_, '_, '_>, op: Op) -> Result<(), PassError> {
    let (Some(source), Some(result)) = (cx.program.operand(op, 0), cx.program.result(op, 0)) else {
        return Ok(());
    };
    let (from, to) = (cx.program.type_of(source), cx.program.type_of(result));
    if is_start(cx.program, source, &to) {
        cx.program.set_type(source, from.encoded(to.encoding)).map_err(edit)?;
        cx.program.replace_all_uses(result, source).map_err(edit)?;
        cx.program.erase(op).map_err(edit)?;
        return cx.changed(op);
    }
    if from.is_memory() || from.encoding == TileEncoding::None || !is_open(&to) {
        return Ok(());
    }
    // What only products read is as their instructions want it.
    let program = &*cx.program;
    let is_factor = |place| {
        program.user(place).is_some_and(|user| program.role(user) == OpRole::Matrix)
            && program.operand_number(place).is_some_and(|number| number < 2)
    };
    if program.uses(result).all(is_factor) {
        return Ok(());
    }
    let mark = cx.program.mark();
    match spread(cx, result, from.encoding) {
        Ok(true) => cx.program.keep(mark),
        Ok(false) => {
            cx.program.undo(mark);
            return Ok(());
        }
        Err(error) => {
            cx.program.undo(mark);
            return Err(error);
        }
    }
    cx.program.replace_all_uses(result, source).map_err(edit)?;
    cx.program.erase(op).map_err(edit)?;
    cx.changed(op)
}

/// Whether a tile is an open constant that is read in one layout alone: it is made in it.
fn is_start(program: &Program<'_, '_>, source: Value, to: &Type) -> bool {
    let is_constant =
        program.def_op(source).is_some_and(|def| program.role(def) == OpRole::Constant);
    let is_read_so = |place| {
        program.user(place).filter(|user| program.role(*user) == OpRole::Convert).is_some_and(
            |user| {
                let result = program.result(user, 0).map(|result| program.type_of(result));
                result.is_some_and(|ty| program.same_encoding(&ty, to))
            },
        )
    };
    is_constant
        && is_open(&program.type_of(source))
        && !to.is_memory()
        && to.encoding != TileEncoding::None
        && program.uses(source).all(is_read_so)
}

/// Gives an open tile a layout, and everything that must have the same; `false` where one cannot.
fn spread(
    cx: &mut PassContext<'_, '_, '_>,
    start: Value,
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    cx.forget_work();
    if !take(cx, start, encoding)? {
        return Ok(false);
    }
    while let Some(value) = cx.pop_value() {
        if !made(cx, value, encoding)? {
            return Ok(false);
        }
        let mut place = cx.program.uses(value).next();
        while let Some(at) = place {
            place = cx.program.next_use(at);
            let (Some(user), Some(number)) = (cx.program.user(at), cx.program.operand_number(at))
            else {
                return Ok(false);
            };
            if !read(cx, user, number, encoding)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// One value of the class; `false` if it cannot have the layout.
fn take(
    cx: &mut PassContext<'_, '_, '_>,
    value: Value,
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    let ty = cx.program.type_of(value);
    let wanted = ty.encoded(encoding);
    if !ty.is_tile() || cx.program.same_encoding(&ty, &wanted) {
        return Ok(true);
    }
    // Elements of less than a byte go through memory in pairs, which a layout may part.
    let parts = (2..8).contains(&element_bits(cx.program, &ty));
    if !is_open(&ty) || ty.is_fragment() || parts {
        return Ok(false);
    }
    cx.program.set_type(value, wanted).map_err(edit)?;
    cx.push_value(value)?;
    Ok(true)
}

/// Values of the class that are one after the other; `false` if one is missing, or cannot have the
/// layout.
fn take_each(
    cx: &mut PassContext<'_, '_, '_>,
    values: &[Option<Value>],
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    for value in values {
        let Some(value) = *value else { return Ok(false) };
        if !take(cx, value, encoding)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What makes a value: what else must be as it is.
fn made(
    cx: &mut PassContext<'_, '_, '_>,
    value: Value,
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    let program = &*cx.program;
    match program.def(value) {
        Def::Result(op, number) => match program.role(op) {
            OpRole::Convert | OpRole::Transpose | OpRole::Reshape => Ok(true),
            OpRole::Consume => handed(cx, op, (usize::from(number), true), encoding),
            OpRole::For | OpRole::Parallel => carried(cx, op, usize::from(number), encoding),
            OpRole::If => passed(cx, op, usize::from(number), encoding),
            OpRole::Broadcast if !keeps_rank(program, op) => Ok(true),
            _ if is_alike(program, op) => all(cx, op, encoding),
            _ => Ok(false),
        },
        Def::Argument(block, number) => {
            let around = program.owner_of(block);
            let looped =
                around.filter(|op| matches!(program.role(*op), OpRole::For | OpRole::Parallel));
            if let Some(op) = around.filter(|op| program.role(*op) == OpRole::Consume) {
                return handed(cx, op, (usize::from(number), false), encoding);
            }
            match (looped, usize::from(number).checked_sub(1)) {
                (Some(op), Some(number)) => carried(cx, op, number, encoding),
                _ => Ok(false),
            }
        }
        _ => Ok(false),
    }
}

/// Who reads a value: what else must be as it is.
fn read(
    cx: &mut PassContext<'_, '_, '_>,
    user: Op,
    number: usize,
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    let program = &*cx.program;
    match program.role(user) {
        OpRole::Convert | OpRole::Transpose | OpRole::Reshape | OpRole::Alloc => Ok(true),
        OpRole::Reduce => Ok(program.operand_count(user) == 1),
        OpRole::Broadcast if !keeps_rank(program, user) => Ok(true),
        OpRole::Yield => match program.parent(user).map(|op| (op, program.role(op))) {
            Some((op, OpRole::For | OpRole::Parallel)) => carried(cx, op, number, encoding),
            Some((op, OpRole::If)) => passed(cx, op, number, encoding),
            Some((op, OpRole::Consume)) => handed(cx, op, (number, true), encoding),
            _ => Ok(false),
        },
        OpRole::Consume => handed(cx, user, (number, false), encoding),
        OpRole::Matrix if number < 2 => unread(cx, user, number),
        OpRole::For | OpRole::Parallel => match number.checked_sub(3) {
            Some(number) => carried(cx, user, number, encoding),
            None => Ok(false),
        },
        _ if is_alike(program, user) => all(cx, user, encoding),
        _ => Ok(false),
    }
}

/// Whether an operation's tiles all have one layout.
fn is_alike(program: &Program<'_, '_>, op: Op) -> bool {
    match program.role(op) {
        OpRole::Elementwise | OpRole::Index | OpRole::Select | OpRole::Constant => {
            program.layout_trait(op) == LayoutTrait::Transparent
        }
        OpRole::Broadcast => keeps_rank(program, op),
        OpRole::Load | OpRole::Store | OpRole::Atomic => has_one_shape(program, op),
        _ => false,
    }
}

/// Whether all tiles of registers of an access have the same extents: what it moves, where from or
/// to, under which condition.
fn has_one_shape(program: &Program<'_, '_>, op: Op) -> bool {
    let mut tiles = program.all_operands(op).chain(program.results(op)).filter_map(|value| {
        let ty = program.type_of(value);
        (ty.is_tile() && !ty.is_memory()).then_some(ty.shape)
    });
    let first = tiles.next();
    tiles.all(|shape| Some(shape) == first)
}

/// Whether a repeated tile has as many dimensions as what it repeats.
fn keeps_rank(program: &Program<'_, '_>, op: Op) -> bool {
    let rank = |value: Option<Value>| value.map(|value| program.type_of(value).shape.rank());
    rank(program.operand(op, 0)) == rank(program.result(op, 0))
}

fn all(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    let mut number = 0usize;
    loop {
        let Some(value) = cx.program.all_operands(op).nth(number) else { break };
        number = number.saturating_add(1);
        if !cx.program.type_of(value).is_memory() && !take(cx, value, encoding)? {
            return Ok(false);
        }
    }
    let mut number = 0usize;
    while let Some(value) = cx.program.result(op, number) {
        number = number.saturating_add(1);
        if !take(cx, value, encoding)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A value that a counted loop carries: what comes in, the argument, what each turn passes on, and
/// the result.
fn carried(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    number: usize,
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    let program = &*cx.program;
    let Some(body) = program.body(op) else { return Ok(false) };
    let four = [
        program.operand(op, number.saturating_add(3)),
        program.arguments(body).nth(number.saturating_add(1)),
        program.terminator(body).and_then(|end| program.operand(end, number)),
        program.result(op, number),
    ];
    take_each(cx, &four, encoding)
}

/// What goes into the region of a consumer, or out of it.
fn handed(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    (number, out): (usize, bool),
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    let program = &*cx.program;
    let Some(body) = program.body(op) else { return Ok(false) };
    let pair = if out {
        let end = program.terminator(body);
        [end.and_then(|end| program.operand(end, number)), program.result(op, number)]
    } else {
        if program.operand_count(op) != program.arguments(body).count() {
            return Ok(false);
        }
        [program.operand(op, number), program.arguments(body).nth(number)]
    };
    take_each(cx, &pair, encoding)
}

/// A product reads a factor as its instruction wants it: converted, the planner says to what.
fn unread(cx: &mut PassContext<'_, '_, '_>, op: Op, number: usize) -> Result<bool, PassError> {
    let Some(convert) = cx.program.tables().op_of_role(OpRole::Convert) else { return Ok(false) };
    let Some(value) = cx.program.operand(op, number) else { return Ok(false) };
    let ty = cx.program.type_of(value).encoded(TileEncoding::None);
    let made = cx.program.insert_before(op, convert, &[value], &[ty]).map_err(edit)?;
    let Some(new) = cx.program.result(made, 0) else { return Ok(false) };
    cx.program.set_operand(op, number, new).map_err(edit)?;
    Ok(true)
}

/// What the arms of a condition pass out.
fn passed(
    cx: &mut PassContext<'_, '_, '_>,
    op: Op,
    number: usize,
    encoding: TileEncoding,
) -> Result<bool, PassError> {
    let program = &*cx.program;
    let arm = |region| {
        let end = program.entry(op, region).and_then(|block| program.terminator(block))?;
        program.operand(end, number)
    };
    let three = [arm(0), arm(1), program.result(op, number)];
    take_each(cx, &three, encoding)
}
