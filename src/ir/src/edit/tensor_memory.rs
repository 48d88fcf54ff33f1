//! Tiles of tensor memory as the sums of products that are there: what is stored into one, added to
//! it and loaded from it becomes a tile of registers that products and loops hand on, and each
//! product says that its sums stand in tensor memory. Planning then places them there.
//!
//! Which product adds to what is known from the text alone: a tile is named where it is used, in its
//! own block and in counted loops. Tokens say what that order says, and go away.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::inline::not_kept;
use crate::edit::insert::made_by;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::layouts::PositionOrder;
use crate::program::Program;
use crate::types::{TileEncoding, Type, TypeKind};
use heapless::Vec;
use lanebook_layout::notation::ttg;
use lanebook_layout::triton::{self, Base, CtaMode, Encoding, NoTiles, TensorMemory};
use lanebook_layout::{AxisId, Layout};
use lanebook_tables::{Amount, UnitShape};
use lanebook_tables::{OpRole, Space};

/// Most loops inside each other between a tile and what adds to it.
const OPEN_LOOPS: usize = 8;
/// Operands of a product before the truths behind it, and of a store.
const PRODUCT: usize = 3;
const STORE: usize = 2;
/// Which operand of a product says whether it is done.
const DONE: usize = 4;

/// What an operation does with a tile of tensor memory.
#[derive(Copy, Clone, PartialEq, Eq)]
enum SumsUse {
    Load,
    Store,
    Product,
}

/// Lets the tiles of tensor memory of a function be sums that its products hand on.
///
/// # Errors
/// [`ErrorKind::TensorForm`] at what is not followed; an attribute that nothing obeys; room that
/// ran out.
#[inline(never)]
pub(crate) fn follow_tensor_memory(
    program: &mut Program<'_, '_>,
    kernel: Op,
) -> Result<(), IrError> {
    let alloc = program.tables().op_named(ALLOC);
    loop {
        let is_one = |op: &Op| {
            program.decl_id(*op).is_some_and(|decl| Some(decl) == alloc)
                && program.result(*op, 0).map(|v| program.type_of(v).space)
                    == Some(Some(Space::Tensor))
        };
        let Some(alloc) = program.inside(kernel).find(is_one) else { break };
        check_tile(program, alloc)?;
        let at = SourcePlace { op: None, ..program.place(alloc) };
        let end = follow_tile(program, alloc).map_err(|(kind, op)| {
            let at = op.map_or(at, |op| SourcePlace { op: None, ..program.place(op) });
            IrError { kind, at }
        });
        end?;
    }
    Ok(())
}

fn form(program: &Program<'_, '_>, op: Op) -> IrError {
    let at = SourcePlace { op: None, ..program.place(op) };
    IrError { kind: ErrorKind::TensorForm, at }
}

/// Refuses a tile of whose uses one is not followed, before anything changes.
#[inline(never)]
fn check_tile(program: &Program<'_, '_>, alloc: Op) -> Result<(), IrError> {
    let tile = program.result(alloc, 0).ok_or(form(program, alloc))?;
    if !is_plain(program, program.type_of(tile)) {
        return Err(IrError {
            kind: ErrorKind::TensorLayout,
            at: SourcePlace { op: None, ..program.place(alloc) },
        });
    }
    let mut attrs = program.attrs(alloc);
    if let Some(attr) = attrs.next() {
        return Err(not_kept(program, attr.key));
    }
    let mut has_products = false;
    for place in program.uses(tile) {
        let Some(user) = program.user(place) else { return Err(form(program, alloc)) };
        let Some(kind) = use_of(program, user, tile) else { return Err(form(program, user)) };
        let mut attrs = program.attrs(user);
        if let Some(attr) = attrs.next() {
            return Err(not_kept(program, attr.key));
        }
        let truths = match kind {
            SumsUse::Load => 1..1,
            SumsUse::Store => STORE..program.operand_count(user),
            SumsUse::Product => PRODUCT..program.operand_count(user),
        };
        // Behind them stand barriers, which `compile` has of its own.
        let most = if kind == SumsUse::Product { 2 } else { 1 };
        let is_known = |number| truth(program, user, number).is_some();
        if truths.len() > most || !truths.clone().all(is_known) {
            return Err(form(program, user));
        }
        has_products |= kind == SumsUse::Product;
        let factors = if kind == SumsUse::Product { 0..2 } else { 0..0 };
        for number in factors {
            let space = program.operand(user, number).map(|v| program.type_of(v).space);
            // No unit reads the second one from registers.
            let is_there = match number {
                0 => matches!(space, Some(None | Some(Space::Shared | Space::Register))),
                _ => matches!(space, Some(Some(Space::Shared))),
            };
            if !is_there || program.subscripts(user, number).next().is_some() {
                return Err(form(program, user));
            }
        }
        between(program, alloc, user).map_err(|op| form(program, op))?;
    }
    // A tile that no product adds to would stand in registers.
    if has_products { Ok(()) } else { Err(form(program, alloc)) }
}

/// What an operation does with a tile of tensor memory, where that and tokens are all it has of it.
fn use_of(program: &Program<'_, '_>, user: Op, tile: Value) -> Option<SumsUse> {
    let (kind, number) = match program.role(user) {
        OpRole::Load => (SumsUse::Load, 0),
        OpRole::Store => (SumsUse::Store, 1),
        OpRole::Matrix => (SumsUse::Product, 2),
        _ => return None,
    };
    let is_own = (0..program.operand_count(user))
        .all(|k| (program.operand(user, k) == Some(tile)) == (k == number));
    let is_token = |value: Value| program.type_of(value).kind == TypeKind::Other;
    (is_own && program.subscripts(user, number).all(is_token)).then_some(kind)
}

/// Whether between a tile and what uses it stand nothing but counted loops, not too many; else what
/// does.
fn between(program: &Program<'_, '_>, alloc: Op, user: Op) -> Result<(), Op> {
    let mut at = user;
    for _ in 0..=OPEN_LOOPS {
        if program.block_of(at) == program.block_of(alloc) {
            return Ok(());
        }
        let around = program.parent(at).ok_or(user)?;
        if program.role(around) != OpRole::For {
            return Err(user);
        }
        at = around;
    }
    Err(user)
}

/// A number that an operation has as an operand, where it is known whether it is 0.
fn truth(program: &Program<'_, '_>, op: Op, number: usize) -> Option<bool> {
    let value = program.operand(op, number)?;
    let facts = program.index_facts(value);
    program.int(value).or((facts.low == facts.high).then_some(facts.low)).map(|n| n != 0)
}

/// Whether a tile's layout, where one is written, is that of sums that fill a block: each row on a
/// lane of its own, column behind column.
#[inline(never)] // An encoding is large, and goes with it.
fn is_plain(program: &Program<'_, '_>, ty: Type) -> bool {
    let text = match ty.encoding {
        TileEncoding::None => return true,
        TileEncoding::Alias(name) => program.alias(program.text(name)),
        TileEncoding::Written(text) => Some(program.text(text)),
        _ => None,
    };
    let read = text.and_then(|text| ttg::parse(text).ok());
    match &read {
        Some(encoding) => is_plain_encoding(program, &ty, encoding),
        None => text.is_some_and(|text| is_plain_map(program, &ty, text)),
    }
}

/// Whether an encoding puts each row on the lane where a product of so many rows has it, column
/// behind column.
#[inline(never)] // A map is large, and goes with it.
fn is_plain_encoding(program: &Program<'_, '_>, ty: &Type, encoding: &Encoding) -> bool {
    let Base::TensorMemory(TensorMemory {
        col_stride: 1,
        two_ctas: false,
        cta_mode: CtaMode::Default,
        fp4_padded: false,
        ..
    }) = encoding.base
    else {
        return false;
    };
    let Some((rows, cols)) = ty.shape.pair() else { return false };
    let Ok(map) = triton::to_linear(encoding, &[rows, cols], &NoTiles) else { return false };
    let [row, col] = [AxisId::dim(0), AxisId::dim(1)];
    let mut seen = 0u32;
    for (axis, bits) in map.ins().iter() {
        for bit in 0..bits {
            let found = map.column_on(axis, bit, row).zip(map.column_on(axis, bit, col));
            let place = 1u64.checked_shl(u32::from(bit)).unwrap_or(0);
            let is_there = match (axis, found) {
                // Lanes of no row, columns of no element.
                (AxisId::TLANE | AxisId::TCOL, Some((0, 0))) => continue,
                (AxisId::TLANE, Some((at, 0))) => {
                    let at = u32::try_from(at).ok();
                    at.and_then(|at| lane_of(program, rows, at)).map(u64::from) == Some(place)
                }
                (AxisId::TCOL, Some((0, at))) => at == place,
                _ => false,
            };
            if !is_there {
                return false;
            }
            seen = seen.saturating_add(1);
        }
    }
    seen == rows.trailing_zeros().saturating_add(cols.trailing_zeros())
}

/// The lane on which a row of a product's sums is, of so many rows in one block, whose columns follow
/// each other.
fn lane_of(program: &Program<'_, '_>, rows: u32, row: u32) -> Option<u32> {
    let units = &program.tables().units;
    let alone = |shape: &&UnitShape<'_>| shape.blocks == 1 && !shape.stationary && !shape.sparse;
    let mut tiles = units.shapes.iter().filter(alone).flat_map(|shape| shape.m);
    let (_, name) = tiles.find(|(m, _)| u32::from(*m) == rows)?;
    let tile = units.tensor_tiles.iter().find(|tile| tile.name == *name)?;
    let walks = usize::from(*tile.layout.dims.first()?);
    let (walks, columns) = tile.layout.iters.split_at_checked(walks)?;
    let one = |amount: Amount| amount.param == 0 && amount.factor == 1;
    let [column] = columns else { return None };
    if column.axis != AxisId::TCOL || !one(column.stride) {
        return None;
    }
    let (mut rest, mut lane) = (row, 0u32);
    for walk in walks.iter().rev() {
        let is_plain = walk.axis == AxisId::TLANE && walk.extent.param == 0;
        if !is_plain || walk.stride.param != 0 {
            return None;
        }
        let digit = rest.checked_rem(walk.extent.factor)?;
        rest = rest.checked_div(walk.extent.factor)?;
        lane = lane.checked_add(digit.checked_mul(walk.stride.factor)?)?;
    }
    (rest == 0).then_some(lane)
}

/// Whether a layout in a notation of places puts each row on the lane where a product of so many rows
/// has it, column behind column of a cell.
#[inline(never)] // A layout is large, and goes with it.
fn is_plain_map(program: &Program<'_, '_>, ty: &Type, text: &str) -> bool {
    let mut layout = Layout::new();
    let order = match program.layout_id(text) {
        Some(Ok(id)) => program.layout_at(id, &mut layout),
        _ => None,
    };
    let (Some(order), Some((rows, cols))) = (order, ty.shape.pair()) else { return false };
    let mut memories = program.tables().units.tensor_memories.iter();
    let bits = ty.dtype.and_then(|dtype| program.tables().dtype(dtype)).map(|dtype| dtype.bits);
    let view = layout.view();
    let is_whole = view.replica.is_empty()
        && view.size_value() == Ok(u64::from(rows).saturating_mul(u64::from(cols)))
        && memories.all(|memory| bits == Some(memory.cell_bits.into()));
    let place = |row: u32, col: u32| {
        let (fast, slow, each) = match order {
            PositionOrder::RowsFastest => (row, col, rows),
            PositionOrder::ColumnsFastest => (col, row, cols),
        };
        let at = u64::from(slow).saturating_mul(u64::from(each)).saturating_add(u64::from(fast));
        let offsets = view.offsets_on(at, [AxisId::TLANE, AxisId::TCOL]);
        let lane = lane_of(program, rows, row);
        lane.is_some_and(|lane| offsets == Ok([i64::from(lane), i64::from(col)]))
    };
    // Digits of powers of two add up: bits say all.
    let has_bits = rows.is_power_of_two() && cols.is_power_of_two();
    let bit = |k: u32| 1u32.checked_shl(k).unwrap_or(0);
    is_whole
        && has_bits
        && place(0, 0)
        && (0..rows.trailing_zeros()).all(|k| place(bit(k), 0))
        && (0..cols.trailing_zeros()).all(|k| place(0, bit(k)))
}

/// What went wrong, and about which operation.
type Failed = (ErrorKind, Option<Op>);

/// Lets everything that uses a tile use the sums that are handed on instead.
#[inline(never)]
fn follow_tile(program: &mut Program<'_, '_>, alloc: Op) -> Result<(), Failed> {
    let broken = (ErrorKind::Broken, None);
    let plain = |kind: ErrorKind| (kind, None);
    let tile = program.result(alloc, 0).ok_or(broken)?;
    let of = program.type_of(tile);
    let ty = Type::tensor(of.shape, of.dtype.ok_or(broken)?);
    let mut now = match program.operand(alloc, 0) {
        Some(first) => first,
        None => zeros(program, alloc, ty).map_err(plain)?,
    };
    let mut open: Vec<Op, OPEN_LOOPS> = Vec::new();
    let mut next = program.next(alloc);
    loop {
        let Some(op) = next else {
            let Some(around) = open.pop() else { break };
            now = closed(program, around, now, ty).map_err(plain)?;
            next = program.next(around);
            continue;
        };
        next = program.next(op);
        match use_of(program, op, tile) {
            Some(SumsUse::Load) => loaded(program, op, now).map_err(plain)?,
            Some(SumsUse::Store) if truth(program, op, STORE) != Some(false) => {
                now = program.operand(op, 0).ok_or(broken)?;
            }
            Some(SumsUse::Product) if truth(program, op, DONE) != Some(false) => {
                now = product(program, op, now, ty).map_err(plain)?;
            }
            None if uses_inside(program, op, tile) => {
                now = opened(program, op, now, ty).map_err(plain)?;
                open.push(op).map_err(|_| (ErrorKind::TensorForm, Some(op)))?;
                next = program.body(op).and_then(|body| program.first(body));
            }
            _ => {}
        }
    }
    erase_tile(program, alloc, tile)
}

/// Whether something inside an operation uses a tile.
fn uses_inside(program: &Program<'_, '_>, op: Op, tile: Value) -> bool {
    let mut users = program.uses(tile).filter_map(|place| program.user(place));
    users.any(|user| program.is_inside(user, op))
}

/// A loop begins: it carries the sums.
fn opened(program: &mut Program<'_, '_>, around: Op, now: Value, ty: Type) -> Edit<Value> {
    program.add_operand(around, now)?;
    let body = program.body(around).ok_or(ErrorKind::Broken)?;
    program.add_argument(body, ty)
}

/// A loop ends: it has the sums as its last result.
fn closed(program: &mut Program<'_, '_>, around: Op, now: Value, ty: Type) -> Edit<Value> {
    let body = program.body(around).ok_or(ErrorKind::Broken)?;
    match program.terminator(body) {
        Some(end) => {
            program.add_operand(end, now)?;
        }
        None => {
            let decl = program.tables().op_of_role(OpRole::Yield).ok_or(ErrorKind::Broken)?;
            program.append(body, decl, &[now], &[])?;
        }
    }
    program.add_result(around, ty)
}

fn zeros(program: &mut Program<'_, '_>, anchor: Op, ty: Type) -> Edit<Value> {
    let zero = program.literal_value(Literal::Hex(0))?;
    made_by(program, anchor, OpRole::Constant, &[zero], ty)
}

/// Who reads what a load brings reads the sums, under the layout that the load says.
fn loaded(program: &mut Program<'_, '_>, op: Op, now: Value) -> Edit {
    let result = program.result(op, 0).ok_or(ErrorKind::Broken)?;
    let ty = program.type_of(result);
    let value = match ty.encoding {
        TileEncoding::None => now,
        _ => made_by(program, op, OpRole::Convert, &[now], ty)?,
    };
    program.replace_all_uses(result, value)
}

/// A product, whose sums stand in tensor memory, in the place of one that adds to a tile of it.
fn product(program: &mut Program<'_, '_>, op: Op, now: Value, ty: Type) -> Edit<Value> {
    let adds = truth(program, op, PRODUCT) != Some(false);
    let sums = if adds { now } else { zeros(program, op, ty)? };
    let mut operands: Vec<Value, PRODUCT> = Vec::new();
    for number in 0..2usize {
        let factor = program.operand(op, number).ok_or(ErrorKind::Broken)?;
        let factor = in_registers(program, op, factor)?;
        operands.push(factor).map_err(|_| ErrorKind::Broken)?;
    }
    operands.push(sums).map_err(|_| ErrorKind::Broken)?;
    let sums = made_by(program, op, OpRole::Matrix, &operands, ty)?;
    let word = AttrValue::Word(program.word(attr_names::TENSOR)?);
    let made = program.def_op(sums).ok_or(ErrorKind::Broken)?;
    program.set_attr(made, attr_names::SUMS, word)?;
    Ok(sums)
}

/// A tile of shared memory as one that is loaded from it: a product reads it where it is if its
/// unit does.
fn in_registers(program: &mut Program<'_, '_>, anchor: Op, factor: Value) -> Edit<Value> {
    let of = program.type_of(factor);
    if of.space != Some(Space::Shared) {
        return Ok(factor);
    }
    let ty = Type::tensor(of.shape, of.dtype.ok_or(ErrorKind::Broken)?);
    made_by(program, anchor, OpRole::Load, &[factor], ty)
}

/// What reserves a tile of tensor memory.
const ALLOC: &str = "ttng.tmem_alloc";

/// Takes away a tile and what used it, once nobody reads the tokens of that.
#[inline(never)]
fn erase_tile(program: &mut Program<'_, '_>, alloc: Op, tile: Value) -> Result<(), Failed> {
    let is_unread = |program: &Program<'_, '_>, op: Op| {
        program.results(op).all(|value| value == tile || program.uses(value).next().is_none())
    };
    loop {
        let mut users = program.uses(tile).filter_map(|place| program.user(place));
        let Some(first) = users.next() else { break };
        let last = core::iter::once(first).chain(users).find(|op| is_unread(program, *op));
        let user = last.ok_or((ErrorKind::TensorForm, Some(first)))?;
        program.erase(user).map_err(|kind| (kind, None))?;
    }
    if !is_unread(program, alloc) {
        return Err((ErrorKind::TensorForm, Some(alloc)));
    }
    program.erase(alloc).map_err(|kind| (kind, None))
}
