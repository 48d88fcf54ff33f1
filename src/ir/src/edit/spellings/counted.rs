//! Operations on tiles that no instruction does and loops do, one place after the other: how often
//! numbers are in a tile, and elements of a tile that another one names by their places.
//!
//! A loop takes some bins, or one place along a dimension, in each turn: compares all elements with
//! it, and keeps what fits. Nothing leaves registers but what reductions exchange.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::data::OpData;
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{Block, Op, Value};
use crate::program::Program;
use crate::types::{Shape, Type, TypeKind};
use lanebook_tables::{DtypeId, DtypeKind, IndexWord, OpId, OpLowering, OpRole};

/// Most elements that are compared in one turn.
const COMPARED: u32 = 1 << 13;
/// Bits of the numbers that are counted.
const WORD: u16 = 32;

/// Puts a loop in the place of such an operation; nothing happens to others.
pub(super) fn lower(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let wrong = ErrorKind::CountedForm;
    match program.lowering(op) {
        Some(OpLowering::Histogram) => histogram(program, op)?.ok_or(wrong),
        Some(OpLowering::Gather) => gather(program, op)?.ok_or(wrong),
        _ => Ok(()),
    }
}

/// Where operations are put that stand for another one.
struct Maker<'p, 's, 't> {
    program: &'p mut Program<'s, 't>,
    op: Op,
    /// At this block's end, or before the operation.
    block: Option<Block>,
}

impl Maker<'_, '_, '_> {
    fn made(&mut self, decl: OpId, ins: &[Value], results: &[Type]) -> Edit<Op> {
        let name = self.program.op_data(self.op).ok_or(ErrorKind::Stale)?.name;
        let new = match self.block {
            Some(block) => self.program.append(block, decl, ins, results)?,
            None => self.program.insert_before(self.op, decl, ins, results)?,
        };
        self.program.pools.edit::<OpData>(new.index(), |data| data.name = name)?;
        Ok(new)
    }

    fn one(&mut self, decl: Option<OpId>, ins: &[Value], ty: Type) -> Edit<Value> {
        let new = self.made(decl.ok_or(ErrorKind::UnknownOp)?, ins, &[ty])?;
        self.program.result(new, 0).ok_or(ErrorKind::Broken)
    }

    fn named(&mut self, name: &str, ins: &[Value], ty: Type) -> Edit<Value> {
        let decl = self.program.tables().op_named(name);
        self.one(decl, ins, ty)
    }

    fn of(&mut self, role: OpRole, ins: &[Value], ty: Type) -> Edit<Value> {
        let decl = self.program.tables().op_of_role(role);
        self.one(decl, ins, ty)
    }

    fn number(&mut self, number: i64, ty: Type) -> Edit<Value> {
        let literal = self.program.literal_value(Literal::Int(number))?;
        self.of(OpRole::Constant, &[literal], ty)
    }

    fn along(&mut self, value: Value, axis: usize) -> Edit<Value> {
        let new = self.program.def_op(value).ok_or(ErrorKind::Broken)?;
        let axis = AttrValue::Int(i64::try_from(axis).unwrap_or(0), None);
        self.program.set_attr(new, attr_names::AXIS, axis)?;
        Ok(value)
    }

    /// A tile of one dimension, or one number, repeated along a dimension of a matrix.
    fn repeated(&mut self, value: Value, (axis, ty): (usize, Type)) -> Edit<Value> {
        let is_row = self.program.type_of(value).shape.rank() == 1;
        if self.program.type_of(value).shape == ty.shape {
            return Ok(value);
        }
        let out = self.of(OpRole::Broadcast, &[value], ty)?;
        if is_row { self.along(out, axis) } else { Ok(out) }
    }

    /// 0, 1, .. along a dimension of a tile.
    fn places(&mut self, axis: usize, ty: Type) -> Edit<Value> {
        let extent = ty.shape.extent(axis).ok_or(ErrorKind::Extent)?;
        let row = Type { shape: Shape::of(&[extent]).ok_or(ErrorKind::Extent)?, ..ty };
        let row = self.named("tt.make_range", &[], row)?;
        let new = self.program.def_op(row).ok_or(ErrorKind::Broken)?;
        self.program.set_attr(new, attr_names::START, AttrValue::Int(0, None))?;
        self.program.set_attr(new, attr_names::END, AttrValue::Int(extent.into(), None))?;
        self.repeated(row, (1usize.saturating_sub(axis), ty))
    }

    /// The sums along a dimension.
    fn sums(&mut self, tile: Value, axis: usize) -> Edit<Value> {
        let ty = self.program.type_of(tile);
        let other = ty.shape.extent(1usize.saturating_sub(axis));
        let left = match (ty.shape.rank(), other) {
            (1, _) => Type::scalar(ty.dtype.ok_or(ErrorKind::UnknownDtype)?),
            (_, other) => {
                let shape = Shape::of(&[other.ok_or(ErrorKind::Extent)?]);
                Type { shape: shape.ok_or(ErrorKind::Extent)?, ..ty }
            }
        };
        let sums = self.of(OpRole::Reduce, &[tile], left)?;
        let new = self.program.def_op(sums).ok_or(ErrorKind::Broken)?;
        let kind = AttrValue::Word(self.program.word(attr_names::ADD)?);
        self.program.set_attr(new, attr_names::KIND, kind)?;
        self.along(sums, axis)
    }

    /// Begins a loop over so many turns that carries a tile of zeros: its counter, and the tile.
    fn turns(&mut self, turns: u32, ty: Type) -> Edit<(Op, Value, Value)> {
        let zeros = self.number(0, ty)?;
        let mut bounds = [zeros; 4];
        for (place, number) in bounds.iter_mut().zip([0, i64::from(turns), 1]) {
            *place = self.program.literal_value(Literal::Int(number))?;
        }
        let decl = self.program.tables().op_of_role(OpRole::For).ok_or(ErrorKind::UnknownOp)?;
        let around = self.made(decl, &bounds, &[ty])?;
        let body = self.program.body(around).ok_or(ErrorKind::Broken)?;
        let counter = self.program.add_argument(body, Type::INDEX)?;
        let tile = self.program.add_argument(body, ty)?;
        self.block = Some(body);
        Ok((around, counter, tile))
    }

    /// Ends it: what it leaves.
    fn ended(&mut self, around: Op, tile: Value) -> Edit<Value> {
        let decl = self.program.tables().op_of_role(OpRole::Yield).ok_or(ErrorKind::UnknownOp)?;
        self.made(decl, &[tile], &[])?;
        self.block = None;
        self.program.result(around, 0).ok_or(ErrorKind::Broken)
    }
}

/// A tile's whole numbers in another type of them: their lower bits, or all without a sign.
fn whole(maker: &mut Maker<'_, '_, '_>, tile: Value, dtype: DtypeId) -> Edit<Value> {
    let bits = |maker: &Maker<'_, '_, '_>, dtype: Option<DtypeId>| {
        dtype.and_then(|dtype| maker.program.tables().dtype(dtype)).map_or(0, |dtype| dtype.bits)
    };
    let ty = maker.program.type_of(tile);
    let (from, to) = (bits(maker, ty.dtype), bits(maker, Some(dtype)));
    let to_type = Type { dtype: Some(dtype), ..ty };
    match from.cmp(&to) {
        core::cmp::Ordering::Less => maker.named("arith.extui", &[tile], to_type),
        core::cmp::Ordering::Greater => maker.named("arith.trunci", &[tile], to_type),
        core::cmp::Ordering::Equal if ty.dtype == Some(dtype) => Ok(tile),
        core::cmp::Ordering::Equal => maker.named("arith.bitcast", &[tile], to_type),
    }
}

/// What replaces an operation that is over.
fn replaced(program: &mut Program<'_, '_>, op: Op, by: Value) -> Edit<Option<()>> {
    let result = program.result(op, 0).ok_or(ErrorKind::Stale)?;
    program.replace_all_uses(result, by)?;
    program.erase(op).map(Some)
}

fn signed(program: &Program<'_, '_>, bits: u16) -> Edit<DtypeId> {
    program.tables().dtype_of(DtypeKind::Signed, bits).ok_or(ErrorKind::UnknownDtype)
}

fn bits_of(program: &Program<'_, '_>, value: Value) -> Option<(u16, DtypeKind)> {
    let dtype = program.type_of(value).dtype?;
    program.tables().dtype(dtype).map(|dtype| (dtype.bits, dtype.kind))
}

/// How often each number below the count of bins is in a tile; numbers beyond are counted nowhere.
fn histogram(program: &mut Program<'_, '_>, op: Op) -> Edit<Option<()>> {
    let both = program.operand(op, 0).zip(program.result(op, 0));
    let Some((from, to)) = both else { return Ok(None) };
    let mask = program.operand(op, 1);
    let (of, ty) = (program.type_of(from), program.type_of(to));
    let flat = |ty: &Type| ty.shape.extent(0).filter(|_| ty.shape.rank() == 1);
    let (Some(count), Some(bins)) = (flat(&of), flat(&ty)) else { return Ok(None) };
    let is_whole = bits_of(program, from)
        .is_some_and(|(_, kind)| matches!(kind, DtypeKind::Signed | DtypeKind::Unsigned));
    let is_counted = bits_of(program, to).is_some_and(|(bits, kind)| {
        bits == WORD && matches!(kind, DtypeKind::Signed | DtypeKind::Unsigned)
    });
    let is_plain = program.attrs(op).next().is_none()
        && program.operand_count(op) < 3
        && mask
            .is_none_or(|mask| program.is_truth(mask) && program.type_of(mask).shape == of.shape);
    if !is_whole || !is_counted || !is_plain || !bins.is_power_of_two() || bins < 2 {
        return Ok(None);
    }
    let long = bits_of(program, from).is_some_and(|(bits, _)| bits > WORD);
    let (word, own) = (signed(program, WORD)?, signed(program, if long { 64 } else { WORD })?);
    let most = COMPARED.checked_div(count).unwrap_or(0).max(2).min(bins);
    let each = 1u32.checked_shl(most.checked_ilog2().unwrap_or(1)).unwrap_or(2);
    let rows = bins.checked_div(each).ok_or(ErrorKind::Extent)?;
    let shaped = |extents: &[u32], dtype| -> Edit<Type> {
        Ok(Type::tensor(Shape::of(extents).ok_or(ErrorKind::Extent)?, dtype))
    };
    let truth = program.tables().dtype_of(DtypeKind::Bits, 1).ok_or(ErrorKind::UnknownOp)?;
    let mut maker = Maker { program, op, block: None };
    let numbers = whole(&mut maker, from, own)?;
    let all = maker.repeated(numbers, (0, shaped(&[each, count], own)?))?;
    let taken =
        mask.map(|mask| maker.repeated(mask, (0, shaped(&[each, count], truth)?))).transpose()?;
    let (around, counter, so_far) = maker.turns(rows, shaped(&[rows, each], word)?)?;
    let size = maker.program.literal_value(Literal::Int(each.into()))?;
    let multiply = maker.program.tables().op_of_index(IndexWord::Mul);
    let first = maker.one(multiply, &[counter, size], Type::INDEX)?;
    let row = shaped(&[each], word)?;
    let first = maker.of(OpRole::Broadcast, &[first], row)?;
    let places = maker.places(0, row)?;
    let mut own_bins = maker.named("add", &[first, places], row)?;
    if long {
        own_bins = maker.named("arith.extui", &[own_bins], shaped(&[each], own)?)?;
    }
    let compared = maker.repeated(own_bins, (1, shaped(&[each, count], own)?))?;
    let is_in = shaped(&[each, count], truth)?;
    let mut is_own = maker.named("compare.eq", &[all, compared], is_in)?;
    if let Some(taken) = taken {
        is_own = maker.named("arith.andi", &[is_own, taken], is_in)?;
    }
    let counted = maker.named("arith.extui", &[is_own], shaped(&[each, count], word)?)?;
    let counted = maker.sums(counted, 1)?;
    let whole_type = shaped(&[rows, each], word)?;
    let counted = maker.repeated(counted, (0, whole_type))?;
    let next = kept(&mut maker, (counter, 0), [counted, so_far])?;
    let done = maker.ended(around, next)?;
    let done = maker.of(OpRole::Reshape, &[done], shaped(&[bins], word)?)?;
    let dtype = ty.dtype.ok_or(ErrorKind::UnknownDtype)?;
    let mut done = whole(&mut maker, done, dtype)?;
    if maker.program.type_of(done) != ty {
        done = maker.of(OpRole::Convert, &[done], ty)?;
    }
    replaced(program, op, done)
}

/// The first tile where a turn's number is the place along a dimension, else the second one.
fn kept(
    maker: &mut Maker<'_, '_, '_>,
    (counter, axis): (Value, usize),
    [new, old]: [Value; 2],
) -> Edit<Value> {
    let ty = maker.program.type_of(new);
    let truth = maker.program.tables().dtype_of(DtypeKind::Bits, 1);
    let word = signed(maker.program, WORD)?;
    let places = maker.places(axis, Type { dtype: Some(word), ..ty })?;
    let turn = maker.of(OpRole::Broadcast, &[counter], Type { dtype: Some(word), ..ty })?;
    let is_now = maker.named("compare.eq", &[places, turn], Type { dtype: truth, ..ty })?;
    maker.of(OpRole::Select, &[is_now, new, old], ty)
}

/// Elements of a tile along a dimension, each from the place that another tile says there.
fn gather(program: &mut Program<'_, '_>, op: Op) -> Edit<Option<()>> {
    let (from, at) = (program.operand(op, 0), program.operand(op, 1));
    let (Some(from), Some(at), Some(to)) = (from, at, program.result(op, 0)) else {
        return Ok(None);
    };
    let (of, by, ty) = (program.type_of(from), program.type_of(at), program.type_of(to));
    let axis = program.int_attr(op, attr_names::AXIS).and_then(|axis| usize::try_from(axis).ok());
    let rank = of.shape.rank();
    let Some(axis) = axis.filter(|axis| *axis < rank && (1..=2).contains(&rank)) else {
        return Ok(None);
    };
    let other = 1usize.saturating_sub(axis);
    let is_tile = |ty: &Type| ty.is_tile() && !ty.is_memory() && !ty.is_kept();
    let is_alike = is_tile(&of)
        && is_tile(&by)
        && ty.kind == TypeKind::Tensor
        && by.shape == ty.shape
        && by.shape.rank() == rank
        && (rank == 1 || by.shape.extent(other) == of.shape.extent(other))
        && ty.dtype == of.dtype;
    let is_whole = bits_of(program, at)
        .is_some_and(|(_, kind)| matches!(kind, DtypeKind::Signed | DtypeKind::Unsigned));
    let bits = bits_of(program, from).map(|(bits, _)| bits);
    let bits = bits.filter(|bits| matches!(bits, 8 | 16 | 32 | 64));
    let (true, true, Some(bits), Some(turns)) = (is_alike, is_whole, bits, of.shape.extent(axis))
    else {
        return Ok(None);
    };
    if program.attrs(op).any(|attr| program.text(attr.key) != attr_names::AXIS) {
        return Ok(None);
    }
    let (word, own) = (signed(program, WORD)?, signed(program, bits)?);
    let wide = if bits > WORD { own } else { word };
    let truth = program.tables().dtype_of(DtypeKind::Bits, 1);
    let mut maker = Maker { program, op, block: None };
    // Bits of elements, of which all but those of one place are left out, and added.
    let elements = whole(&mut maker, from, own)?;
    let elements = whole(&mut maker, elements, wide)?;
    let places = whole(&mut maker, at, word)?;
    let (inside, outside) = (Type::tensor(of.shape, wide), Type::tensor(ty.shape, wide));
    let zeros = maker.number(0, inside)?;
    let (around, counter, so_far) = maker.turns(turns, outside)?;
    let column = kept(&mut maker, (counter, axis), [elements, zeros])?;
    let column = maker.sums(column, axis)?;
    let column = maker.repeated(column, (axis, outside))?;
    let turn = Type::tensor(ty.shape, word);
    let turn = maker.of(OpRole::Broadcast, &[counter], turn)?;
    let is_now = Type { dtype: truth, ..Type::tensor(ty.shape, word) };
    let is_now = maker.named("compare.eq", &[places, turn], is_now)?;
    let next = maker.of(OpRole::Select, &[is_now, column, so_far], outside)?;
    let done = maker.ended(around, next)?;
    let done = whole(&mut maker, done, own)?;
    let mut done = whole(&mut maker, done, ty.dtype.ok_or(ErrorKind::UnknownDtype)?)?;
    if maker.program.type_of(done) != ty {
        done = maker.of(OpRole::Convert, &[done], ty)?;
    }
    replaced(program, op, done)
}
