//! Elements of half a byte as pairs: what follows moves and multiplies bytes.
//!
//! A tile of `i4`, `u4` or `e2m1` becomes one of the type that holds two of them, half as long along
//! the dimension in which the two are neighbours: the last one of memory, the first one of a tile
//! that has been transposed since. A cast takes the two apart, element by element, with arithmetic
//! of 32 bits, and puts them beside each other again; a product takes them as they are, if they are
//! neighbours along its depth.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::bounds::MemrefBound;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made, made_by};
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::{Def, Program};
use crate::types::{MAX_RANK, Shape, TileEncoding, Type};
use lanebook_tables::{DtypeId, DtypeKind, IndexWord, OpRole, Space};

/// Most operations between a tile and where its elements come from.
const STEPS: usize = 32;
/// Bits of an element.
const HALF: i64 = 4;
/// Bits of the numbers that it is computed with.
const WORD: i64 = 32;
/// Twice the magnitudes that the lower three bits of an e2m1 stand for, four bits each, the first
/// one lowest.
const TWICE: i64 = 0xC864_3210;

/// Twice the magnitude that three bits of an e2m1 stand for.
fn twice(code: u32) -> i64 {
    TWICE.checked_shr(code.saturating_mul(4)).unwrap_or(0) & 15
}

/// Brings tiles and memrefs of elements of half a byte to pairs of them.
///
/// # Errors
/// What is not done with such elements, at its place; room that ran out.
#[inline(never)]
pub(crate) fn pair_elements(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let values = || {
        let made = program.inside(kernel).flat_map(|op| program.results(op));
        program.parameters(kernel).chain(made)
    };
    let is_half = |value: Value| pair_of(program, &program.type_of(value)).is_some();
    if program.has_loops(kernel) || !values().any(is_half) {
        return Ok(());
    }
    // What a program says in pairs itself is counted otherwise.
    if values().any(|value| single_of(program, value).is_some()) {
        let at = SourcePlace { op: None, ..program.place(kernel) };
        return Err(IrError { kind: ErrorKind::PairForm, at });
    }
    let mut parameter = program.parameters(kernel).next();
    let mut number = 0usize;
    while let Some(value) = parameter {
        let at = SourcePlace { op: None, ..program.place(kernel) };
        pair_parameter(program, value).map_err(|kind| IrError { kind, at })?;
        number = number.saturating_add(1);
        parameter = program.parameters(kernel).nth(number);
    }
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        next = program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..program.place(op) };
        pair(program, op).map_err(|kind| IrError { kind, at })?;
    }
    Ok(())
}

/// The type of pairs of a type's elements, if they are half a byte each.
fn pair_of(program: &Program<'_, '_>, ty: &Type) -> Option<DtypeId> {
    program.tables().pair_of(ty.dtype?)
}

/// The type of which a type's elements are two each.
fn single_of(program: &Program<'_, '_>, value: Value) -> Option<DtypeId> {
    program.tables().dtype(program.type_of(value).dtype?)?.pair_of
}

/// A shape that is half as long along a dimension.
fn halved(shape: Shape, dimension: usize) -> Edit<Shape> {
    let mut out = Shape::SCALAR;
    for (place, extent) in shape.iter().enumerate() {
        let extent = match extent {
            Some(extent) if place == dimension => {
                Some(extent.checked_div(2).filter(|_| extent % 2 == 0).ok_or(ErrorKind::PairForm)?)
            }
            extent => extent,
        };
        out = out.with(extent).ok_or(ErrorKind::Extent)?;
    }
    Ok(out)
}

/// Gives a value pairs along a dimension for its elements.
fn set_pairs(program: &mut Program<'_, '_>, value: Value, dimension: usize) -> Edit {
    let ty = program.type_of(value);
    let dtype = pair_of(program, &ty).ok_or(ErrorKind::Broken)?;
    if ty.encoding != TileEncoding::None || !ty.element.is_empty() {
        return Err(ErrorKind::PairForm);
    }
    let shape = halved(ty.shape, dimension)?;
    program.set_type(value, Type { shape, dtype: Some(dtype), ..ty })
}

/// The last dimension of a value.
fn last(program: &Program<'_, '_>, value: Value) -> Edit<usize> {
    program.type_of(value).shape.rank().checked_sub(1).ok_or(ErrorKind::PairForm)
}

/// A memref of the function: its strides, and the bound of its last dimension, count pairs.
fn pair_parameter(program: &mut Program<'_, '_>, value: Value) -> Edit {
    if pair_of(program, &program.type_of(value)).is_none() {
        return Ok(());
    }
    if program.type_of(value).space != Some(Space::Global) {
        return Err(ErrorKind::PairForm);
    }
    let bounds = program.bounds(value);
    let dimension = last(program, value)?;
    set_pairs(program, value, dimension)?;
    if let Some(step) = program.int_value_attr(value, attr_names::STRIDE_DIV) {
        let pairs = step.checked_div(2).filter(|_| step % 2 == 0).ok_or(ErrorKind::PairForm)?;
        program.set_value_attr(value, attr_names::STRIDE_DIV, AttrValue::Int(pairs, None))?;
    }
    let Some(bounds) = bounds else { return Ok(()) };
    program.add_value_attr(value, attr_names::HALVES, AttrValue::Unit)?;
    // Of an odd number, half of the last pair would be outside.
    let is_said = |bound: &&MemrefBound| **bound != MemrefBound::None;
    let even = program.bounds(value).is_some();
    if bounds.get(dimension).as_ref().is_some_and(is_said) && !even {
        return Err(ErrorKind::PairForm);
    }
    Ok(())
}

/// An operation on such elements, or none.
fn pair(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let makes = program.result(op, 0).filter(|v| pair_of(program, &program.type_of(*v)).is_some());
    let more = program.results(op).skip(1).any(|v| pair_of(program, &program.type_of(v)).is_some());
    let reads = program.all_operands(op).any(|v| single_of(program, v).is_some());
    if more || carries_halves(program, op) {
        return Err(ErrorKind::PairForm);
    }
    if makes.is_none() && !reads {
        return Ok(());
    }
    match (program.role(op), makes) {
        _ if has_layout(program, op) => Err(ErrorKind::PairForm),
        (OpRole::Alloc, Some(result)) => {
            let dimension = last(program, result)?;
            set_pairs(program, result, dimension)
        }
        (OpRole::Load, Some(result)) if program.operand_count(op) == 1 => {
            halve_subscript(program, op, 0)?;
            let dimension = last(program, result)?;
            set_pairs(program, result, dimension)
        }
        (OpRole::Copy, None) => {
            for place in 0..program.operand_count(op) {
                halve_subscript(program, op, place)?;
            }
            Ok(())
        }
        (OpRole::Store, None) if program.operand_count(op) == 2 => {
            let tile = program.operand(op, 0).ok_or(ErrorKind::Broken)?;
            if along(program, tile)? != last(program, tile)? {
                return Err(ErrorKind::PairForm);
            }
            halve_subscript(program, op, 1)
        }
        (OpRole::Transpose | OpRole::Convert | OpRole::Reshape, Some(result)) => {
            let from = program.operand(op, 0).ok_or(ErrorKind::Broken)?;
            let dimension = moved(program, op, along(program, from)?)?;
            set_pairs(program, result, dimension)
        }
        (OpRole::Matrix, None) => {
            widen_factor(program, op)?;
            for (place, depth) in [1usize, 0].into_iter().enumerate() {
                let factor = program.operand(op, place).ok_or(ErrorKind::Broken)?;
                // Of matrices side by side the first dimension counts them.
                let rank = program.type_of(factor).shape.rank();
                let depth = rank.checked_sub(2).and_then(|front| front.checked_add(depth));
                if single_of(program, factor).is_none() {
                    continue;
                }
                if depth != Some(along(program, factor)?) {
                    return Err(ErrorKind::PairForm);
                }
            }
            Ok(())
        }
        (OpRole::Elementwise, None) => take_apart(program, op),
        (OpRole::Elementwise, Some(_)) if !reads => put_together(program, op),
        _ => Err(ErrorKind::PairForm),
    }
}

/// A factor of pairs beside one of single elements that have every number of its own becomes a tile
/// of those: the depth of both is counted alike then.
#[inline(never)]
fn widen_factor(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (Some(a), Some(b)) = (program.operand(op, 0), program.operand(op, 1)) else {
        return Err(ErrorKind::Broken);
    };
    let (factor, other, place) = match [a, b].map(|value| single_of(program, value)) {
        [Some(_), None] => (a, b, 0),
        [None, Some(_)] => (b, a, 1),
        _ => return Ok(()),
    };
    let single = single_of(program, factor).ok_or(ErrorKind::Broken)?;
    let wide = program.type_of(other).dtype.ok_or(ErrorKind::PairForm)?;
    if !holds(program, wide, single) {
        return Err(ErrorKind::PairMixed);
    }
    let mut extents: heapless::Vec<u32, MAX_RANK> = heapless::Vec::new();
    let (shape, dimension) = (program.type_of(factor).shape, along(program, factor)?);
    for (at, extent) in shape.iter().enumerate() {
        let twice = if at == dimension { 2 } else { 1 };
        let extent = extent.and_then(|extent| extent.checked_mul(twice));
        extents.push(extent.ok_or(ErrorKind::PairForm)?).map_err(|_| ErrorKind::Extent)?;
    }
    let shape = Shape::of(&extents).ok_or(ErrorKind::Extent)?;
    let cast = program.tables().op_named("cast").ok_or(ErrorKind::UnknownOp)?;
    let whole = made(program, op, cast, &[factor], Type::tensor(shape, wide))?;
    program.set_operand(op, place, whole)?;
    let cast = program.def_op(whole).ok_or(ErrorKind::Broken)?;
    take_apart(program, cast)
}

/// Whether a type has every number of one of half a byte.
fn holds(program: &Program<'_, '_>, wide: DtypeId, single: DtypeId) -> bool {
    let (Some(wide), Some(single)) = (program.tables().dtype(wide), program.tables().dtype(single))
    else {
        return false;
    };
    match single.kind {
        // An e2m1 has a sign, two bits of exponent and one of fraction.
        DtypeKind::Float => wide.format.is_some_and(|format| {
            format.signed && format.zero && format.exponent > 2 && format.fraction >= 1
        }),
        // A sign and three bits, or four bits.
        kind @ (DtypeKind::Signed | DtypeKind::Unsigned) => match wide.kind {
            DtypeKind::Float => wide.format.is_some_and(|format| {
                format.signed && format.zero && format.exponent > 3 && format.fraction >= 3
            }),
            DtypeKind::Signed => true,
            DtypeKind::Unsigned => kind == DtypeKind::Unsigned,
            DtypeKind::Bits => false,
        },
        DtypeKind::Bits => false,
    }
}

/// Whether an operation is given a layout, which would be one of single elements.
fn has_layout(program: &Program<'_, '_>, op: Op) -> bool {
    [attr_names::LAYOUT, attr_names::TILE_LAYOUT].iter().any(|key| program.has_attr(op, key))
}

/// Whether a loop carries such elements.
fn carries_halves(program: &Program<'_, '_>, op: Op) -> bool {
    let mut inside = program.body(op).into_iter().flat_map(|body| program.arguments(body));
    inside.any(|value| pair_of(program, &program.type_of(value)).is_some())
}

/// The dimension of an operation's result that one of its operand's has become.
fn moved(program: &Program<'_, '_>, op: Op, dimension: usize) -> Edit<usize> {
    let (from, to) = (program.operand(op, 0), program.result(op, 0));
    let (Some(from), Some(to)) = (from, to) else { return Err(ErrorKind::Broken) };
    match program.role(op) {
        OpRole::Convert => Ok(dimension),
        // Neighbours stay neighbours where they are so along the last dimension.
        OpRole::Reshape if dimension == last(program, from)? => last(program, to),
        OpRole::Transpose => {
            let rank = program.type_of(to).shape.rank();
            let mut order = [0i64; MAX_RANK];
            let found = match program.attr(op, attr_names::ORDER) {
                Some(AttrValue::List(list)) => {
                    let order = program.list(list, &mut order).ok_or(ErrorKind::AttrValue)?;
                    order.iter().position(|source| usize::try_from(*source) == Ok(dimension))
                }
                Some(_) => None,
                None => rank.checked_sub(1).and_then(|last| last.checked_sub(dimension)),
            };
            found.ok_or(ErrorKind::PairForm)
        }
        _ => Err(ErrorKind::PairForm),
    }
}

/// The dimension along which a tile's pairs are neighbours.
fn along(program: &Program<'_, '_>, tile: Value) -> Edit<usize> {
    // From where they were loaded to here.
    let mut passed: heapless::Vec<Op, STEPS> = heapless::Vec::new();
    let mut at = tile;
    let first = loop {
        let Def::Result(op, _) = program.def(at) else { return Err(ErrorKind::PairForm) };
        match program.role(op) {
            OpRole::Transpose | OpRole::Convert | OpRole::Reshape => {
                passed.push(op).map_err(|_| ErrorKind::PairForm)?;
                at = program.operand(op, 0).ok_or(ErrorKind::Broken)?;
            }
            _ => break last(program, at)?,
        }
    };
    passed.iter().rev().try_fold(first, |dimension, op| moved(program, *op, dimension))
}

/// Lets an operand's last subscript count pairs.
fn halve_subscript(program: &mut Program<'_, '_>, op: Op, operand: usize) -> Edit {
    let Some(value) = program.subscripts(op, operand).last() else { return Ok(()) };
    let half = match program.int(value) {
        Some(n) if n % 2 == 0 => program.literal_value(Literal::Int(n / 2))?,
        None if program.index_facts(value).divisor().is_multiple_of(2) => {
            let two = program.literal_value(Literal::Int(2))?;
            let div = program.tables().op_of_index(IndexWord::Div).ok_or(ErrorKind::UnknownOp)?;
            made(program, op, div, &[value, two], Type::INDEX)?
        }
        _ => return Err(ErrorKind::PairForm),
    };
    let first = program.operand_use(op, operand).ok_or(ErrorKind::Broken)?;
    let behind = program.uses_by(op).skip_while(|at| *at != first).skip(1);
    let own = behind.take_while(|at| program.operand_number(*at).is_none()).last();
    program.set_use(own.ok_or(ErrorKind::Broken)?, half)
}

/// A cast of pairs: each element by itself, as a number of 32 bits.
fn take_apart(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (mut from, result, said) = plain_cast(program, op)?;
    let rank = program.type_of(from).shape.rank();
    // Pairs along the first of two dimensions are taken apart along the second.
    let is_turned = along(program, from)? != last(program, from)?;
    if is_turned && rank != 2 {
        return Err(ErrorKind::PairForm);
    }
    let single = single_of(program, from).ok_or(ErrorKind::Broken)?;
    let mut parts = PairCast { program, at: op };
    if is_turned {
        from = parts.turned(from)?;
    }
    let words = parts.words(from)?;
    let [low, high] = parts.halves(words, single)?;
    let mut whole = parts.beside(low, high)?;
    if is_turned {
        whole = parts.turned(whole)?;
    }
    program.set_operand(op, 0, whole)?;
    // What it is a cast of may be the result already.
    if program.type_of(whole).dtype == said.dtype {
        program.replace_all_uses(result, whole)?;
        program.erase(op)?;
    }
    Ok(())
}

/// A cast to such elements: numbers of 32 bits, of which the lowest four stand in a byte two by two.
fn put_together(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let (from, result, said) = plain_cast(program, op)?;
    let single = said.dtype.ok_or(ErrorKind::Broken)?;
    let pair = pair_of(program, &said).ok_or(ErrorKind::Broken)?;
    let mut parts = PairCast { program, at: op };
    let code = parts.code(from, single)?;
    let [low, high] = parts.apart(code)?;
    let high = parts.with("arith.shli", high, HALF)?;
    let ty = parts.program.type_of(low);
    let words = parts.named("arith.ori", &[low, high], ty)?;
    let byte = Type { dtype: Some(parts.dtype(DtypeKind::Signed, 8)?), ..ty };
    let bytes = parts.named("arith.trunci", &[words], byte)?;
    let pairs = parts.named("arith.bitcast", &[bytes], Type { dtype: Some(pair), ..ty })?;
    program.replace_all_uses(result, pairs)?;
    program.erase(op)
}

/// What an operation casts, and to what, if it only gives elements another type, whatever they are.
fn plain_cast(program: &Program<'_, '_>, op: Op) -> Edit<(Value, Value, Type)> {
    let (from, result) = (program.operand(op, 0), program.result(op, 0));
    let (Some(from), Some(result)) = (from, result) else { return Err(ErrorKind::Broken) };
    let said = program.type_of(result);
    let cast = program.tables().op_named("cast");
    let is_cast = cast.is_some() && program.decl_id(op) == cast;
    let more = said.encoding != TileEncoding::None || program.attrs(op).next().is_some();
    if program.operand_count(op) != 1 || !is_cast || more {
        return Err(ErrorKind::PairForm);
    }
    Ok((from, result, said))
}

/// What a cast is written with, in front of it.
struct PairCast<'p, 's, 't> {
    program: &'p mut Program<'s, 't>,
    at: Op,
}

impl PairCast<'_, '_, '_> {
    fn named(&mut self, name: &str, ins: &[Value], ty: Type) -> Edit<Value> {
        let decl = self.program.tables().op_named(name).ok_or(ErrorKind::UnknownOp)?;
        made(self.program, self.at, decl, ins, ty)
    }

    fn of(&mut self, role: OpRole, ins: &[Value], ty: Type) -> Edit<Value> {
        made_by(self.program, self.at, role, ins, ty)
    }

    fn dtype(&self, kind: DtypeKind, bits: u16) -> Edit<DtypeId> {
        self.program.tables().dtype_of(kind, bits).ok_or(ErrorKind::UnknownDtype)
    }

    /// Rows become columns.
    fn turned(&mut self, value: Value) -> Edit<Value> {
        let ty = self.program.type_of(value);
        let (rows, cols) = ty.shape.pair().ok_or(ErrorKind::PairForm)?;
        let shape = Shape::of(&[cols, rows]).ok_or(ErrorKind::Extent)?;
        self.of(OpRole::Transpose, &[value], Type { shape, encoding: TileEncoding::None, ..ty })
    }

    /// Pairs as numbers of 32 bits, zeros above them.
    fn words(&mut self, pairs: Value) -> Edit<Value> {
        let shape = self.program.type_of(pairs).shape;
        let (byte, word) = (self.dtype(DtypeKind::Signed, 8)?, self.dtype(DtypeKind::Signed, 32)?);
        let bytes = self.named("arith.bitcast", &[pairs], Type::tensor(shape, byte))?;
        self.named("arith.extui", &[bytes], Type::tensor(shape, word))
    }

    /// The same number in all elements of a tile of a type.
    fn number(&mut self, number: Literal, ty: Type) -> Edit<Value> {
        let literal = self.program.literal_value(number)?;
        self.of(OpRole::Constant, &[literal], ty)
    }

    /// An operation with a number of 32 bits.
    fn with(&mut self, name: &str, value: Value, number: i64) -> Edit<Value> {
        let ty = self.program.type_of(value);
        let bits = i64::from((number as u32).cast_signed());
        let number = self.number(Literal::Int(bits), ty)?;
        self.named(name, &[value, number], ty)
    }

    /// The first and the second elements of pairs, as numbers that each stands for.
    fn halves(&mut self, words: Value, single: DtypeId) -> Edit<[Value; 2]> {
        let kind = self.program.tables().dtype(single).ok_or(ErrorKind::UnknownDtype)?.kind;
        let up = WORD.saturating_sub(HALF);
        Ok(match kind {
            DtypeKind::Signed => {
                let low = self.with("arith.shli", words, up)?;
                let high = self.with("arith.shli", words, up.saturating_sub(HALF))?;
                [self.with("arith.shrsi", low, up)?, self.with("arith.shrsi", high, up)?]
            }
            DtypeKind::Unsigned => {
                [self.with("arith.andi", words, 15)?, self.with("arith.shrui", words, HALF)?]
            }
            DtypeKind::Float => {
                let high = self.with("arith.shrui", words, HALF)?;
                [self.float(words)?, self.float(high)?]
            }
            DtypeKind::Bits => return Err(ErrorKind::PairForm),
        })
    }

    /// The number that the lowest four bits are as an e2m1: half of what a table says of three of
    /// them, with the fourth for a sign.
    fn float(&mut self, words: Value) -> Edit<Value> {
        let ty = self.program.type_of(words);
        let float = Type { dtype: Some(self.dtype(DtypeKind::Float, 32)?), ..ty };
        let place = self.with("arith.andi", words, 7)?;
        let place = self.with("arith.shli", place, 2)?;
        let table = self.number(Literal::Int(i64::from((TWICE as u32).cast_signed())), ty)?;
        let twice = self.named("arith.shrui", &[table, place], ty)?;
        let twice = self.with("arith.andi", twice, 15)?;
        let twice = self.named("cast", &[twice], float)?;
        let half = self.number(Literal::Decimal { digits: 5, exponent: -1 }, float)?;
        let size = self.named("mul", &[twice, half], float)?;
        let bits = self.named("arith.bitcast", &[size], ty)?;
        let sign = self.with("arith.andi", words, 8)?;
        let sign = self.with("arith.shli", sign, 28)?;
        let bits = self.named("arith.ori", &[bits, sign], ty)?;
        self.named("arith.bitcast", &[bits], float)
    }

    /// The even and the odd elements along the last dimension.
    fn apart(&mut self, whole: Value) -> Edit<[Value; 2]> {
        let ty = Type { encoding: TileEncoding::None, ..self.program.type_of(whole) };
        let dimension = last(self.program, whole)?;
        let half = Type { shape: halved(ty.shape, dimension)?, ..ty };
        let pairs = Type { shape: half.shape.with(Some(2)).ok_or(ErrorKind::PairForm)?, ..ty };
        let joined = self.of(OpRole::Reshape, &[whole], pairs)?;
        let decl = self.program.tables().op_of_role(OpRole::Split).ok_or(ErrorKind::UnknownOp)?;
        let first = made(self.program, self.at, decl, &[joined], half)?;
        let split = self.program.def_op(first).ok_or(ErrorKind::Broken)?;
        let second = self.program.add_result(split, half)?;
        Ok([first, second])
    }

    /// The four bits that stand for the elements of a tile, zeros above them.
    fn code(&mut self, value: Value, single: DtypeId) -> Edit<Value> {
        let tables = self.program.tables();
        let kind = |dtype: DtypeId| tables.dtype(dtype).map(|dtype| (dtype.kind, dtype.bits));
        let ty = self.program.type_of(value);
        let own = ty.dtype.and_then(kind).ok_or(ErrorKind::UnknownDtype)?;
        let word = Type { dtype: Some(self.dtype(DtypeKind::Signed, 32)?), ..ty };
        let (to, _) = kind(single).ok_or(ErrorKind::UnknownDtype)?;
        if to == DtypeKind::Float {
            return self.float_code(value, own, word);
        }
        let mut words = if own == (DtypeKind::Signed, 32) {
            value
        } else {
            self.named("cast", &[value], word)?
        };
        // What is beyond the type is its end.
        if own.0 == DtypeKind::Float {
            let (least, most) = if to == DtypeKind::Signed { (-8, 7) } else { (0, 15) };
            words = self.with("max", words, least)?;
            words = self.with("min", words, most)?;
        }
        self.with("arith.andi", words, 15)
    }

    /// The e2m1 next to the elements of a tile, of two the even one; the greatest beyond it, and for
    /// what is no number.
    fn float_code(
        &mut self,
        value: Value,
        (kind, bits): (DtypeKind, u16),
        word: Type,
    ) -> Edit<Value> {
        // Each number between two of them is one of all types but the narrowest.
        let float = Type { dtype: Some(self.dtype(DtypeKind::Float, 32)?), ..word };
        let value = if kind == DtypeKind::Float && bits > 8 {
            value
        } else {
            self.named("cast", &[value], float)?
        };
        let ty = self.program.type_of(value);
        let truth = Type { dtype: Some(self.dtype(DtypeKind::Bits, 1)?), ..ty };
        let single = if bits == 32 || ty.dtype == float.dtype {
            value
        } else {
            self.named("cast", &[value], float)?
        };
        let sign = self.named("arith.bitcast", &[single], word)?;
        let sign = self.with("arith.shrui", sign, 28)?;
        let sign = self.with("arith.andi", sign, 8)?;
        let negative = self.named("neg", &[value], ty)?;
        let size = self.named("max", &[value, negative], ty)?;
        let [one, none] = [1, 0].map(|n| self.number(Literal::Int(n), word));
        let (one, mut code) = (one?, none?);
        let none = code;
        for (below, next) in (0u32..).zip(1u32..=7) {
            // The number in the middle between neighbours goes to the even one.
            let hundredths = twice(below).saturating_add(twice(next)).saturating_mul(25);
            let middle = self.number(Literal::Decimal { digits: hundredths, exponent: -2 }, ty)?;
            let relation = if next % 2 == 0 { "compare.oge" } else { "compare.ogt" };
            let above = self.named(relation, &[size, middle], truth)?;
            let more = self.named("select", &[above, one, none], word)?;
            code = self.named("add", &[code, more], word)?;
        }
        let code = self.named("arith.ori", &[code, sign], word)?;
        let most = self.number(Literal::Int(7), word)?;
        let nowhere = self.named("compare.uno", &[value, value], truth)?;
        self.named("select", &[nowhere, most, code], word)
    }

    /// Two tiles, element beside element along the last dimension.
    fn beside(&mut self, low: Value, high: Value) -> Edit<Value> {
        let ty = self.program.type_of(low);
        let pairs = Type { shape: ty.shape.with(Some(2)).ok_or(ErrorKind::PairForm)?, ..ty };
        let joined = self.of(OpRole::Join, &[low, high], pairs)?;
        let mut extents: heapless::Vec<u32, MAX_RANK> = heapless::Vec::new();
        for extent in ty.shape.iter() {
            extents.push(extent.ok_or(ErrorKind::PairForm)?).map_err(|_| ErrorKind::Extent)?;
        }
        if let Some(last) = extents.last_mut() {
            *last = last.checked_mul(2).ok_or(ErrorKind::Extent)?;
        }
        let shape = Shape::of(&extents).ok_or(ErrorKind::Extent)?;
        self.of(OpRole::Reshape, &[joined], Type { shape, ..ty })
    }
}
