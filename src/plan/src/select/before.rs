//! Operations that are put before another one, which they stand for: each makes one value.
//!
//! Elements move as whole numbers of 32 bits: their bits with zeros in front ([`Before::words`]),
//! so that whatever they are comes out as it went in. They are computed with as values of 32 bits
//! ([`Before::wide`]), rounded once at the end.

use crate::select::extremes::value;
use lanebook_ir::{AttrValue, Literal, Op, Program, Shape, TileEncoding, Type, Value, attr_names};
use lanebook_tables::{DtypeId, DtypeKind, IndexWord, OpId, OpRole};

/// Bits of a register.
pub(crate) const WORD: u16 = 32;

/// A program, and the operation before which others are put.
pub(crate) struct Before<'p, 's, 't> {
    pub(crate) program: &'p mut Program<'s, 't>,
    pub(crate) op: Op,
}

impl Before<'_, '_, '_> {
    /// What an operation that is declared so makes.
    pub(crate) fn made(&mut self, decl: OpId, operands: &[Value], ty: Type) -> Option<Value> {
        value(self.program, self.op, decl, operands, ty)
    }

    /// What an operation of this name makes.
    pub(crate) fn named(&mut self, name: &str, operands: &[Value], ty: Type) -> Option<Value> {
        let decl = self.program.tables().op_named(name)?;
        self.made(decl, operands, ty)
    }

    /// What the operation on two indices makes that computes this.
    pub(crate) fn of_indices(&mut self, word: IndexWord, a: Value, b: Value) -> Option<Value> {
        let decl = self.program.tables().op_of_index(word)?;
        self.made(decl, &[a, b], Type::INDEX)
    }

    /// What the operation of a role makes.
    pub(crate) fn of(&mut self, role: OpRole, operands: &[Value], ty: Type) -> Option<Value> {
        let decl = self.program.tables().op_of_role(role)?;
        self.made(decl, operands, ty)
    }

    /// Says along which dimension what makes a value works.
    pub(crate) fn along(&mut self, of: Value, axis: u8) -> Option<Value> {
        let made = self.program.def_op(of)?;
        let axis = AttrValue::Int(i64::from(axis), None);
        self.program.set_attr(made, attr_names::AXIS, axis).ok()?;
        Some(of)
    }

    /// Whole numbers of 32 bits.
    pub(crate) fn word(&self) -> Option<DtypeId> {
        self.program.tables().dtype_of(DtypeKind::Signed, WORD)
    }

    /// A tile's type with another shape and other elements.
    pub(crate) fn shaped(extents: &[u32], dtype: DtypeId) -> Option<Type> {
        Some(Type::tensor(Shape::of(extents)?, dtype))
    }

    /// A number in all elements.
    pub(crate) fn number(&mut self, number: u32, ty: Type) -> Option<Value> {
        let literal = self.program.literal_value(Literal::Int(i64::from(number))).ok()?;
        self.of(OpRole::Constant, &[literal], ty)
    }

    /// Of each element of a tile of this shape, how its place along a dimension relates to a number.
    pub(crate) fn places(
        &mut self,
        extents: &[u32],
        axis: u8,
        relation: &str,
        number: u32,
    ) -> Option<Value> {
        let (word, truth) = (self.word()?, self.program.tables().dtype_of(DtypeKind::Bits, 1)?);
        let ty = Self::shaped(extents, word)?;
        let place = self.named("tt.make_range", &[], ty)?;
        self.along(place, axis)?;
        let number = self.number(number, ty)?;
        self.named(relation, &[place, number], Self::shaped(extents, truth)?)
    }

    /// A number among indices.
    pub(crate) fn index(&mut self, number: i64) -> Option<Value> {
        self.program.literal_value(Literal::Int(number)).ok()
    }

    /// 1 where a relation holds of two indices, else 0.
    pub(crate) fn compared(&mut self, relation: &str, a: Value, b: Value) -> Option<Value> {
        let truth = self.named("index.cmp", &[a, b], Type::INDEX)?;
        let relation = AttrValue::Word(self.program.word(relation).ok()?);
        self.program.set_attr(self.program.def_op(truth)?, attr_names::KIND, relation).ok()?;
        Some(truth)
    }

    /// The bits of a tile's elements.
    pub(crate) fn words(&mut self, of: Value) -> Option<Value> {
        let ty = self.program.type_of(of);
        let tables = self.program.tables();
        let (own, word) = (ty.dtype?, self.word()?);
        let bits = tables.dtype(own)?.bits;
        let whole = tables.dtype_of(DtypeKind::Signed, bits)?;
        let numbers = match own == whole {
            true => of,
            false => self.named("arith.bitcast", &[of], Type::tensor(ty.shape, whole))?,
        };
        match bits < WORD {
            true => self.named("arith.extui", &[numbers], Type::tensor(ty.shape, word)),
            false => Some(numbers),
        }
    }

    /// Elements of a type again, as the program writes it, of their bits.
    pub(crate) fn elements(&mut self, words: Value, ty: Type) -> Option<Value> {
        let tables = self.program.tables();
        let (own, word) = (ty.dtype?, self.word()?);
        let bits = tables.dtype(own)?.bits;
        let whole = tables.dtype_of(DtypeKind::Signed, bits)?;
        if own == word {
            return self.said(words, ty);
        }
        let narrow = Type::tensor(ty.shape, whole);
        let numbers = match bits < WORD {
            true => {
                let to = if own == whole { ty } else { narrow };
                self.named("arith.trunci", &[words], to)?
            }
            false => words,
        };
        match own == whole {
            true => Some(numbers),
            false => self.named("arith.bitcast", &[numbers], ty),
        }
    }

    /// Whether a tile's elements are two registers each.
    pub(crate) fn is_long(&self, ty: Type) -> bool {
        let dtype = ty.dtype.and_then(|dtype| self.program.tables().dtype(dtype));
        dtype.is_some_and(|dtype| dtype.bits > WORD)
    }

    /// The type of 32 or 64 bits in which a tile's elements are combined; `None` where it is theirs.
    pub(crate) fn wider(&self, ty: Type) -> Option<DtypeId> {
        self.program.tables().combined_as(ty.dtype?)
    }

    /// Whether a tile's elements are whole numbers of 32 or 64 bits without a sign.
    fn is_plain(&self, ty: Type) -> bool {
        let dtype = ty.dtype.and_then(|dtype| self.program.tables().dtype(dtype));
        dtype.is_some_and(|dtype| dtype.kind == DtypeKind::Unsigned && dtype.bits >= WORD)
    }

    /// The order of numbers without a sign, among numbers that have one, and back.
    fn transposed(&mut self, of: Value) -> Option<Value> {
        let ty = self.program.type_of(of);
        let least = if self.is_long(ty) { i64::MIN } else { i64::from(i32::MIN) };
        let literal = self.program.literal_value(Literal::Int(least)).ok()?;
        let ty = Type::tensor(ty.shape, ty.dtype?);
        let sign = self.of(OpRole::Constant, &[literal], ty)?;
        self.named("arith.xori", &[of, sign], ty)
    }

    /// A tile's elements as values of 32 bits; `is_ordered`: they are compared.
    pub(crate) fn wide(&mut self, of: Value, is_ordered: bool) -> Option<Value> {
        let ty = self.program.type_of(of);
        let Some(dtype) = self.wider(ty) else { return Some(of) };
        let is_plain = self.is_plain(ty);
        let name = if is_plain { "arith.bitcast" } else { "cast" };
        let wide = self.named(name, &[of], Type::tensor(ty.shape, dtype))?;
        if is_plain && is_ordered { self.transposed(wide) } else { Some(wide) }
    }

    /// Values of 32 bits as elements of a type, as the program writes it.
    pub(crate) fn narrow(&mut self, wide: Value, ty: Type, is_ordered: bool) -> Option<Value> {
        if self.wider(ty).is_none() {
            return self.said(wide, ty);
        }
        let is_plain = self.is_plain(ty);
        let wide = if is_plain && is_ordered { self.transposed(wide)? } else { wide };
        self.named(if is_plain { "arith.bitcast" } else { "cast" }, &[wide], ty)
    }

    /// The sum of whole numbers along a dimension, of which all but one are 0: that one.
    pub(crate) fn only(&mut self, of: Value, axis: u8, ty: Type) -> Option<Value> {
        let sum = self.of(OpRole::Reduce, &[of], ty)?;
        let add = AttrValue::Word(self.program.word(attr_names::ADD).ok()?);
        self.program.set_attr(self.program.def_op(sum)?, attr_names::KIND, add).ok()?;
        self.along(sum, axis)
    }

    /// The same elements, row by row, in another shape.
    pub(crate) fn reshaped(&mut self, of: Value, extents: &[u32]) -> Option<Value> {
        let ty = self.program.type_of(of);
        let to = Self::shaped(extents, ty.dtype?)?;
        if to.shape == ty.shape {
            return Some(of);
        }
        self.of(OpRole::Reshape, &[of], to)
    }

    /// A part of a matrix, or a matrix with a part put in, at a row and a column.
    pub(crate) fn slice(&mut self, operands: &[Value], start: [u32; 2], ty: Type) -> Option<Value> {
        let decl = self.program.tables().op_of_slice(operands.len())?;
        let made = self.made(decl, operands, ty)?;
        let op = self.program.def_op(made)?;
        for at in start {
            let number = self.index(i64::from(at))?;
            self.program.add_subscript(op, number).ok()?;
        }
        Some(made)
    }

    /// Rows as columns.
    pub(crate) fn turned(&mut self, of: Value) -> Option<Value> {
        let ty = self.program.type_of(of);
        let (rows, cols) = ty.shape.pair()?;
        let to = Self::shaped(&[cols, rows], ty.dtype?)?;
        self.of(OpRole::Transpose, &[of], to)
    }

    /// A tile under the layout that its type says, if it says one.
    pub(crate) fn said(&mut self, of: Value, ty: Type) -> Option<Value> {
        match ty.encoding {
            TileEncoding::None => Some(of),
            _ => self.of(OpRole::Convert, &[of], ty),
        }
    }
}
