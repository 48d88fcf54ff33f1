//! Layouts for programs that have none: every tile in registers gets nested tiles, one element to a
//! lane, the last dimension first.
//!
//! As where Triton's programs first get layouts: operands of products are those of an instruction
//! over the result's tiles; where an operation wants its operands in other layouts than they have,
//! as most that change shapes do, they are converted. What has a layout keeps it. The layouts are
//! no good yet: `coalesce` and `accelerate-matmul` change what matters, `remove-conversions` lets
//! the rest follow. Where somebody says what the program costs as it is compiled, and it costs more
//! with them, none is given.
//!
//! A program that moves tiles through memrefs is left as it is: its tiles are cut up by whoever plans
//! it, who would have to keep to a lane's share of one element.
use crate::layout_seeding::LayoutSeeding;
use crate::layout_seeding::blocked::{Workers, blocked, order_of};
use crate::layout_seeding::open::{is_open, is_planned};
use crate::layout_seeding::runs::TileExtents;
use crate::layout_seeding::seeded_layouts::{Core, NewLayout};
use crate::layout_seeding::worthwhile::{ALL, OpMask, pick};
use crate::{PassContext, PassError, edit, remat};
use heapless::String;
use lanebook_ir::{Def, ErrorKind, Op, Pool, Program, TileEncoding, Type, Value};
use lanebook_layout::triton::Extents as Shares;
use lanebook_tables::{OpId, OpRole};

/// Bytes of a layout's text.
const LONGEST: usize = 256;

fn is_made(program: &Program<'_, '_>, value: Value) -> bool {
    match program.def(value) {
        Def::Result(op, _) => program.is_alive(op),
        Def::Argument(..) => true,
        _ => false,
    }
}

pub(super) fn run(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>) -> Result<(), PassError> {
    // All tiles or none: with layouts for some of them the others would be converted.
    match pick(work, give, 0)? {
        ALL => give(work, ALL).map(|_| ()),
        _ => Ok(()),
    }
}

/// Gives every tile its layout; answers how many had none.
fn give(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>, _: OpMask) -> Result<u32, PassError> {
    let values = work.cx.program.pools.values.len();
    let open = |program: &Program<'_, '_>, at| {
        Value::at(at)
            .is_some_and(|value| is_made(program, value) && is_open(&program.type_of(value)))
    };
    if is_planned(work.cx.program) || !(0..values).any(|at| open(work.cx.program, at)) {
        return Ok(0);
    }
    let mut given = 0u32;
    let workers = work.workers()?;
    let convert = work.operation(OpRole::Convert)?;
    let mut at = work.cx.program.first(work.cx.program.root());
    while let Some(op) = at {
        at = work.cx.program.following(op, None);
        if work.cx.program.role(op) == OpRole::Matrix {
            operands(work.cx, convert, op, workers)?;
        }
    }
    for at in 0..values {
        let Some(value) = Value::at(at).filter(|_| open(work.cx.program, at)) else { continue };
        let ty = work.cx.program.type_of(value);
        let Some(made) = of(&ty, workers) else { continue };
        let encoding = named(work.cx.program, &made).map_err(edit)?;
        work.cx.program.set_type(value, ty.encoded(encoding)).map_err(edit)?;
        given = given.saturating_add(1);
    }
    remat::agree(work.cx, convert)?;
    // What functions return is what they say behind their arrows.
    let mut at = work.cx.program.first(work.cx.program.root());
    while let Some(op) = at {
        at = work.cx.program.following(op, None);
        if work.cx.program.role(op) == OpRole::Function {
            work.cx.program.say_results(op).map_err(edit)?;
        }
    }
    Ok(given)
}

/// Nested tiles for a tile of these extents.
fn of(ty: &Type, workers: Workers) -> Option<NewLayout> {
    let rank = ty.shape.rank();
    let order = order_of(core::iter::repeat_n(0, rank))?;
    let mut shares = Shares::new();
    for _ in 0..rank {
        shares.push(1).ok()?;
    }
    blocked(TileExtents::of(ty).as_slice(), &shares, &order, workers)
}

/// How a type names a layout: by the program's alias for it, else by its text.
#[inline(never)]
fn named(program: &mut Program<'_, '_>, made: &NewLayout) -> Result<TileEncoding, ErrorKind> {
    if let Some((name, _)) = program.aliases().find(|(_, body)| made.is(program.text(*body))) {
        return Ok(TileEncoding::Alias(name));
    }
    let mut text = String::<LONGEST>::new();
    made.spell(&mut text)
        .map_err(|_| ErrorKind::Capacity { pool: Pool::Made, limit: LONGEST as u32 })?;
    let (at, len) = program.pools.make(&text)?;
    Ok(TileEncoding::Interned(at, len))
}

/// Factors of a product without a layout are operands over what its result gets.
#[inline(never)]
fn operands(
    cx: &mut PassContext<'_, '_, '_>,
    convert: OpId,
    op: Op,
    workers: Workers,
) -> Result<(), PassError> {
    let Some(to) =
        cx.program.result(op, 0).map(|result| cx.program.type_of(result)).filter(is_open)
    else {
        return Ok(());
    };
    let Some(NewLayout { core: Core::Blocked(core), .. }) = of(&to, workers) else { return Ok(()) };
    for number in 0..2u8 {
        let Some(value) = cx.program.operand(op, usize::from(number)) else { continue };
        let ty = cx.program.type_of(value);
        if !is_open(&ty) {
            continue;
        }
        let encoding =
            named(cx.program, &NewLayout::operand(Core::Blocked(core), number, 0)).map_err(edit)?;
        let made = cx
            .program
            .insert_before(op, convert, &[value], &[ty.encoded(encoding)])
            .map_err(edit)?;
        let Some(new) = cx.program.result(made, 0) else { continue };
        cx.program.set_operand(op, usize::from(number), new).map_err(edit)?;
    }
    Ok(())
}
