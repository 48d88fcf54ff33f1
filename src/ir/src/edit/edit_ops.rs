//! Changing a program.
//!
//! Every change goes through the pools' journal, so a [`Mark`] that is undone restores the program
//! exactly. Before a change of several records, room for all of them is checked: outside a mark a
//! change happens whole or not at all; inside one, only a full journal can stop it half way, and
//! then the mark must be undone.
use crate::attr::Literal;
use crate::attr_names;
use crate::chains::Digest;
use crate::data::{
    AttrData, AttrKind, BlockData, OpData, RegionData, Stamp, UseData, UseKind, ValueData,
    ValueKind,
};
use crate::error::{ErrorKind, Pool};
use crate::handle::{AttrRef, Block, Op, Region, TextRef, TypeRef, Use, Value};
use crate::program::{Program, payload};
use crate::storage::Mark;
use crate::text::lexer;
use crate::types::{TileEncoding, Type};
use core::hash::{Hash, Hasher};
use lanebook_tables::OpId;

/// Result of a change.
#[doc(hidden)]
pub type Edit<T = ()> = Result<T, ErrorKind>;

impl Program<'_, '_> {
    // ---- marks
    /// Opens a mark: a state to which [`undo`](Self::undo) goes back. Marks nest like brackets.
    pub fn mark(&mut self) -> Mark {
        self.pools.open()
    }
    /// The pool that had no room for a write since this was asked last, and how much it holds.
    #[doc(hidden)]
    pub fn take_lacked(&mut self) -> Option<(Pool, u32)> {
        self.pools.take_lacked()
    }
    /// Closes a mark and keeps what was done since.
    pub fn keep(&mut self, mark: Mark) {
        self.pools.keep(mark);
    }
    /// Closes a mark and takes back everything done since: records, links, types, free lists.
    pub fn undo(&mut self, mark: Mark) {
        self.pools.undo(mark);
    }
    /// A number that changes with every write.
    #[must_use]
    pub fn writes(&self) -> u32 {
        self.pools.writes()
    }

    // ---- types and names
    /// The handle of a type; equal types have one handle.
    pub fn intern(&mut self, ty: Type) -> Edit<TypeRef> {
        let hash = self.type_hash(&ty);
        let index = match self.pools.find_type(hash, |known| self.same_type(known, &ty)) {
            Some(index) => index,
            None => self.pools.add_type(ty, hash)?,
        };
        TypeRef::at(index).ok_or(ErrorKind::Broken)
    }
    /// The same for types that are the same.
    fn type_hash(&self, ty: &Type) -> u32 {
        let mut digest = Digest::NEW;
        (ty.kind, ty.dtype, ty.space, ty.shape).hash(&mut digest);
        if let TileEncoding::Handle(number) = ty.encoding {
            digest.write_u16(number);
        }
        digest.write(self.layout_words(ty).unwrap_or("").as_bytes());
        digest.write(self.text(ty.element).as_bytes());
        digest.value()
    }
    /// Whether two types are the same: names compare by their text.
    #[must_use]
    pub fn same_type(&self, a: &Type, b: &Type) -> bool {
        (a.kind, a.dtype, a.space, a.shape) == (b.kind, b.dtype, b.space, b.shape)
            && self.same_encoding(a, b)
            && self.same_text(a.element, b.element)
    }
    /// Whether two names read alike.
    fn same_text(&self, a: TextRef, b: TextRef) -> bool {
        // Lengths tell most of them apart.
        let longer = matches!((a.place(), b.place()), (Some((_, a)), Some((_, b))) if a != b);
        a == b || (!longer && self.text(a) == self.text(b))
    }
    /// Whether two types have the same encoding: texts compare as texts, not as layouts.
    #[must_use]
    pub fn same_encoding(&self, a: &Type, b: &Type) -> bool {
        match (a.encoding, b.encoding) {
            (TileEncoding::Alias(x), TileEncoding::Alias(y))
            | (TileEncoding::Written(x), TileEncoding::Written(y)) => self.same_text(x, y),
            (TileEncoding::Interned(at, len), TileEncoding::Written(text))
            | (TileEncoding::Written(text), TileEncoding::Interned(at, len)) => {
                self.pools.made(at, len) == self.text(text)
            }
            (x, y) => x == y,
        }
    }
    /// Whether the encodings of two types are the same, or a shape that is left out says nothing of
    /// one.
    pub(crate) fn encodings_agree(&self, a: &Type, b: &Type) -> bool {
        let known = a.shape.is_known() && b.shape.is_known();
        let rest = Type { space: b.space, encoding: b.encoding, ..*a };
        !known || self.same_type(&rest, b) && self.same_layout(a, b)
    }
    /// A name from the library's words or from the program's text.
    pub fn word(&self, word: &str) -> Edit<TextRef> {
        attr_names::find(word)
            .or_else(|| lexer::find(self.text, word))
            .ok_or(ErrorKind::UnknownWord)
    }

    // ---- making operations
    pub(crate) fn new_op(&mut self, decl: Option<OpId>, name: TextRef) -> Edit<Op> {
        Op::at(self.pools.add(OpData::new(decl, name))?).ok_or(ErrorKind::Broken)
    }
    /// Puts an operation that stands nowhere into a block, before another or at the end.
    pub(crate) fn link(&mut self, op: Op, block: Block, before: Option<Op>) -> Edit {
        let prev = match before {
            Some(before) => self.previous(before),
            None => self.last(block),
        };
        self.pools.edit::<OpData>(op.index(), |data| {
            (data.block, data.prev, data.next) = (Some(block), prev, before)
        })?;
        match prev {
            Some(prev) => self.pools.edit::<OpData>(prev.index(), |data| data.next = Some(op))?,
            None => self.pools.edit::<BlockData>(block.index(), |data| data.first_op = Some(op))?,
        }
        match before {
            Some(before) => self.pools.edit::<OpData>(before.index(), |data| data.prev = Some(op)),
            None => self.pools.edit::<BlockData>(block.index(), |data| data.last_op = Some(op)),
        }
    }
    pub(crate) fn unlink(&mut self, op: Op) -> Edit {
        let data = *self.op_data(op).ok_or(ErrorKind::Stale)?;
        let Some(block) = data.block else { return Ok(()) };
        match data.prev {
            Some(prev) => self.pools.edit::<OpData>(prev.index(), |at| at.next = data.next)?,
            None => self.pools.edit::<BlockData>(block.index(), |at| at.first_op = data.next)?,
        }
        match data.next {
            Some(next) => self.pools.edit::<OpData>(next.index(), |at| at.prev = data.prev)?,
            None => self.pools.edit::<BlockData>(block.index(), |at| at.last_op = data.prev)?,
        }
        self.pools
            .edit::<OpData>(op.index(), |at| (at.block, at.prev, at.next) = (None, None, None))
    }
    /// Makes an operation right before another. Its regions are there, each with one empty block.
    pub fn insert_before(
        &mut self,
        anchor: Op,
        decl: OpId,
        operands: &[Value],
        results: &[Type],
    ) -> Edit<Op> {
        let block = self.block_of(anchor).ok_or(ErrorKind::Stale)?;
        self.make(decl, operands, results, block, Some(anchor))
    }
    /// Makes an operation at the end of a block. Its regions are there, each with one empty block.
    pub fn append(
        &mut self,
        block: Block,
        decl: OpId,
        operands: &[Value],
        results: &[Type],
    ) -> Edit<Op> {
        self.block_data(block).ok_or(ErrorKind::Stale)?;
        self.make(decl, operands, results, block, None)
    }
    fn make(
        &mut self,
        decl: OpId,
        operands: &[Value],
        results: &[Type],
        block: Block,
        before: Option<Op>,
    ) -> Edit<Op> {
        let regions = usize::from(self.tables.op(decl).ok_or(ErrorKind::UnknownOp)?.regions);
        self.pools.room::<OpData>(1)?;
        self.pools.room::<UseData>(operands.len())?;
        self.pools.room::<ValueData>(results.len())?;
        self.pools.room::<RegionData>(regions)?;
        self.pools.room::<BlockData>(regions)?;
        if operands.iter().any(|value| self.value_data(*value).is_none()) {
            return Err(ErrorKind::Stale);
        }
        for ty in results {
            self.intern(*ty)?;
        }
        let op = self.new_op(Some(decl), TextRef::EMPTY)?;
        for value in operands {
            self.push_operand(op, *value, UseKind::Main)?;
        }
        for ty in results {
            let ty = self.intern(*ty)?;
            self.push_result(op, ty, TextRef::EMPTY)?;
        }
        for _ in 0..regions {
            self.push_region(op)?;
        }
        self.link(op, block, before)?;
        Ok(op)
    }
    /// Moves an operation, with everything in it, right before another. Its results lose their
    /// names when the block changes, since a name need not be free there.
    pub fn move_before(&mut self, op: Op, anchor: Op) -> Edit {
        let block = self.block_of(anchor).ok_or(ErrorKind::Stale)?;
        if op == anchor {
            return Ok(());
        }
        if self.is_inside(anchor, op) {
            return Err(ErrorKind::Misplaced);
        }
        let moved = self.block_of(op) != Some(block);
        self.unlink(op)?;
        self.link(op, block, Some(anchor))?;
        let mut at = if moved { self.result(op, 0) } else { None };
        while let Some(value) = at {
            self.pools.edit::<ValueData>(value.index(), |data| data.name = TextRef::EMPTY)?;
            at = self.value_data(value).and_then(|data| data.next);
        }
        Ok(())
    }
    /// Whether an operation stands somewhere inside another.
    #[must_use]
    pub fn is_inside(&self, op: Op, outer: Op) -> bool {
        let mut at = self.parent(op);
        while let Some(parent) = at {
            if parent == outer {
                return true;
            }
            at = self.parent(parent);
        }
        false
    }

    // ---- parts of operations
    /// Adds an empty region with one empty block.
    pub(crate) fn push_region(&mut self, op: Op) -> Edit<Block> {
        let last = self.regions(op).last();
        let region = self.pools.add(RegionData {
            owner: Some(op),
            first_block: None,
            next: None,
            stamp: Stamp(0),
        })?;
        let region = Region::at(region).ok_or(ErrorKind::Broken)?;
        match last {
            Some(last) => {
                self.pools.edit::<RegionData>(last.index(), |data| data.next = Some(region))?
            }
            None => {
                self.pools.edit::<OpData>(op.index(), |data| data.first_region = Some(region))?
            }
        }
        self.push_block(region)
    }
    /// Adds an empty block to a region.
    pub(crate) fn push_block(&mut self, region: Region) -> Edit<Block> {
        let last = self.blocks(region).last();
        let block = self.pools.add(BlockData {
            region: Some(region),
            next: None,
            first_op: None,
            last_op: None,
            first_arg: None,
            stamp: Stamp(0),
        })?;
        let block = Block::at(block).ok_or(ErrorKind::Broken)?;
        match last {
            Some(last) => {
                self.pools.edit::<BlockData>(last.index(), |data| data.next = Some(block))?
            }
            None => self
                .pools
                .edit::<RegionData>(region.index(), |data| data.first_block = Some(block))?,
        }
        Ok(block)
    }
    fn new_value(
        &mut self,
        kind: ValueKind,
        owner: usize,
        number: usize,
        ty: TypeRef,
        name: TextRef,
    ) -> Edit<Value> {
        let number = u16::try_from(number).map_err(|_| ErrorKind::NumberTooLarge)?;
        let data = ValueData {
            name,
            ty,
            owner: owner as u16,
            number,
            next: None,
            first_use: None,
            attrs: None,
            chain: None,
            kind,
            stamp: Stamp(0),
        };
        Value::at(self.pools.add(data)?).ok_or(ErrorKind::Broken)
    }
    pub(crate) fn push_result(&mut self, op: Op, ty: TypeRef, name: TextRef) -> Edit<Value> {
        let last = self.results(op).last();
        let number = last
            .and_then(|last| self.value_data(last))
            .map_or(0, |data| usize::from(data.number).saturating_add(1));
        let value = self.new_value(ValueKind::Result, op.index(), number, ty, name)?;
        match last {
            Some(last) => {
                self.pools.edit::<ValueData>(last.index(), |data| data.next = Some(value))?
            }
            None => {
                self.pools.edit::<OpData>(op.index(), |data| data.first_result = Some(value))?
            }
        }
        Ok(value)
    }
    /// Adds a result to an operation.
    pub fn add_result(&mut self, op: Op, ty: Type) -> Edit<Value> {
        let ty = self.intern(ty)?;
        self.push_result(op, ty, TextRef::EMPTY)
    }
    pub(crate) fn push_argument(
        &mut self,
        block: Block,
        ty: TypeRef,
        name: TextRef,
    ) -> Edit<Value> {
        let last = self.arguments(block).last();
        let number = last
            .and_then(|last| self.value_data(last))
            .map_or(0, |data| usize::from(data.number).saturating_add(1));
        let value = self.new_value(ValueKind::Argument, block.index(), number, ty, name)?;
        match last {
            Some(last) => {
                self.pools.edit::<ValueData>(last.index(), |data| data.next = Some(value))?
            }
            None => {
                self.pools.edit::<BlockData>(block.index(), |data| data.first_arg = Some(value))?
            }
        }
        Ok(value)
    }
    /// Adds an argument to a block behind another one; those after it move up one number.
    pub(crate) fn insert_argument(&mut self, block: Block, before: Value, ty: Type) -> Edit<Value> {
        let ty = self.intern(ty)?;
        let data = *self.value_data(before).ok_or(ErrorKind::Stale)?;
        let number = usize::from(data.number).saturating_add(1);
        let value =
            self.new_value(ValueKind::Argument, block.index(), number, ty, TextRef::EMPTY)?;
        let mut at = data.next;
        while let Some(later) = at {
            self.pools.edit::<ValueData>(later.index(), |later| {
                later.number = later.number.saturating_add(1);
            })?;
            at = self.value_data(later).and_then(|data| data.next);
        }
        self.pools.edit::<ValueData>(value.index(), |own| own.next = data.next)?;
        self.pools.edit::<ValueData>(before.index(), |own| own.next = Some(value))?;
        Ok(value)
    }
    /// Adds an argument to a block.
    pub fn add_argument(&mut self, block: Block, ty: Type) -> Edit<Value> {
        let ty = self.intern(ty)?;
        self.push_argument(block, ty, TextRef::EMPTY)
    }
    /// Removes a result that nothing uses; those after it move down one number.
    pub fn remove_result(&mut self, op: Op, number: usize) -> Edit {
        let value = self.result(op, number).ok_or(ErrorKind::Stale)?;
        let before = number.checked_sub(1).and_then(|number| self.result(op, number));
        let next = self.drop_value(value)?;
        match before {
            Some(before) => self.pools.edit::<ValueData>(before.index(), |data| data.next = next),
            None => self.pools.edit::<OpData>(op.index(), |data| data.first_result = next),
        }
    }
    /// Removes a block argument that nothing uses; those after it move down one number.
    pub fn remove_argument(&mut self, block: Block, number: usize) -> Edit {
        let value = self.arguments(block).nth(number).ok_or(ErrorKind::Stale)?;
        let before = number.checked_sub(1).and_then(|number| self.arguments(block).nth(number));
        let next = self.drop_value(value)?;
        match before {
            Some(before) => self.pools.edit::<ValueData>(before.index(), |data| data.next = next),
            None => self.pools.edit::<BlockData>(block.index(), |data| data.first_arg = next),
        }
    }
    /// Renumbers the values after an unused one and frees it; answers its successor.
    fn drop_value(&mut self, value: Value) -> Edit<Option<Value>> {
        let data = *self.value_data(value).ok_or(ErrorKind::Stale)?;
        if data.first_use.is_some() {
            return Err(ErrorKind::StillUsed);
        }
        let mut at = data.next;
        while let Some(later) = at {
            // Results share the first one's name: they have none of their own.
            self.pools.edit::<ValueData>(later.index(), |later| {
                later.number = later.number.saturating_sub(1);
                if data.number == 0 && later.number == 0 && later.name.is_empty() {
                    later.name = data.name;
                }
            })?;
            at = self.value_data(later).and_then(|data| data.next);
        }
        self.release_attrs(data.attrs)?;
        self.pools.release::<ValueData>(value.index())?;
        Ok(data.next)
    }
    /// A literal as a value, to be used as an operand once or more.
    pub fn literal_value(&mut self, literal: Literal) -> Edit<Value> {
        self.pools.room::<AttrData>(1)?;
        self.pools.room::<ValueData>(1)?;
        let (kind, bits, extra) = match literal {
            Literal::Int(value) => (AttrKind::Int, payload(value), 0),
            Literal::Decimal { digits, exponent } => (AttrKind::Decimal, payload(digits), exponent),
            Literal::MinusZero => (AttrKind::MinusZero, payload(0), 0),
            Literal::Hex(value) => (AttrKind::Hex, payload(value as i64), 0),
            Literal::Large(value) => (AttrKind::Large, payload(value as i64), 0),
            Literal::Word(name) => (AttrKind::LiteralWord, name.parts(), 0),
        };
        let cell = self.pools.add(AttrData {
            key: TextRef::EMPTY,
            next: None,
            ty: None,
            payload: bits,
            extra,
            kind,
            stamp: Stamp(0),
        })?;
        let ty = self.intern(Type::ELIDED)?;
        let value = self.new_value(ValueKind::Literal, 0, 0, ty, TextRef::EMPTY)?;
        self.pools.edit::<ValueData>(value.index(), |data| data.attrs = AttrRef::at(cell))?;
        Ok(value)
    }

    // ---- operands
    pub(crate) fn push_operand(&mut self, op: Op, value: Value, kind: UseKind) -> Edit<Use> {
        let next_use = self.value_data(value).ok_or(ErrorKind::Stale)?.first_use;
        let last = self.op_data(op).ok_or(ErrorKind::Stale)?.last_operand;
        let place = self.pools.add(UseData {
            value: Some(value),
            owner: op,
            next: None,
            next_use,
            prev_use: None,
            kind,
            stamp: Stamp(0),
        })?;
        let place = Use::at(place).ok_or(ErrorKind::Broken)?;
        if let Some(next) = next_use {
            self.pools.edit::<UseData>(next.index(), |data| data.prev_use = Some(place))?;
        }
        self.pools.edit::<ValueData>(value.index(), |data| data.first_use = Some(place))?;
        match last {
            Some(last) => {
                self.pools.edit::<UseData>(last.index(), |data| data.next = Some(place))?
            }
            None => {
                self.pools.edit::<OpData>(op.index(), |data| data.first_operand = Some(place))?
            }
        }
        self.pools.edit::<OpData>(op.index(), |data| data.last_operand = Some(place))?;
        Ok(place)
    }
    /// Adds a main operand after all operands.
    pub fn add_operand(&mut self, op: Op, value: Value) -> Edit<Use> {
        self.pools.room::<UseData>(1)?;
        self.push_operand(op, value, UseKind::Main)
    }
    /// Adds a subscript to the operand added last.
    pub fn add_subscript(&mut self, op: Op, value: Value) -> Edit<Use> {
        self.pools.room::<UseData>(1)?;
        self.push_operand(op, value, UseKind::Subscript)
    }
    fn detach(&mut self, place: Use) -> Edit {
        let data = *self.use_data(place).ok_or(ErrorKind::Stale)?;
        let Some(value) = data.value else { return Err(ErrorKind::Stale) };
        match data.prev_use {
            Some(prev) => {
                self.pools.edit::<UseData>(prev.index(), |at| at.next_use = data.next_use)?
            }
            None => {
                self.pools.edit::<ValueData>(value.index(), |at| at.first_use = data.next_use)?
            }
        }
        if let Some(next) = data.next_use {
            self.pools.edit::<UseData>(next.index(), |at| at.prev_use = data.prev_use)?;
        }
        Ok(())
    }
    fn drop_dead_literal(&mut self, value: Value) -> Edit {
        let Some(data) = self.value_data(value).copied() else { return Ok(()) };
        if data.kind == ValueKind::Literal && data.first_use.is_none() {
            self.release_attrs(data.attrs)?;
            self.pools.release::<ValueData>(value.index())?;
        }
        Ok(())
    }
    /// Lets a use see another value.
    pub fn set_use(&mut self, place: Use, value: Value) -> Edit {
        let old = self.used(place).ok_or(ErrorKind::Stale)?;
        if old == value {
            return Ok(());
        }
        let next_use = self.value_data(value).ok_or(ErrorKind::Stale)?.first_use;
        self.detach(place)?;
        self.pools.edit::<UseData>(place.index(), |data| {
            (data.value, data.next_use, data.prev_use) = (Some(value), next_use, None);
        })?;
        if let Some(next) = next_use {
            self.pools.edit::<UseData>(next.index(), |data| data.prev_use = Some(place))?;
        }
        self.pools.edit::<ValueData>(value.index(), |data| data.first_use = Some(place))?;
        self.drop_dead_literal(old)
    }
    /// Replaces a main operand.
    pub fn set_operand(&mut self, op: Op, number: usize, value: Value) -> Edit {
        let place = self.operand_use(op, number).ok_or(ErrorKind::Stale)?;
        self.set_use(place, value)
    }
    /// Removes a main operand with its subscripts; those after it move down one number.
    pub fn remove_operand(&mut self, op: Op, number: usize) -> Edit {
        let place = self.operand_use(op, number).ok_or(ErrorKind::Stale)?;
        let mut next = self.use_data(place).and_then(|data| data.next);
        self.remove_use(op, place)?;
        while let Some(at) =
            next.filter(|at| self.use_data(*at).is_some_and(|data| data.kind == UseKind::Subscript))
        {
            next = self.use_data(at).and_then(|data| data.next);
            self.remove_use(op, at)?;
        }
        Ok(())
    }
    pub(crate) fn remove_use(&mut self, op: Op, place: Use) -> Edit {
        let data = *self.use_data(place).ok_or(ErrorKind::Stale)?;
        let before = self.uses_by(op).take_while(|at| *at != place).last();
        self.detach(place)?;
        match before {
            Some(before) => self.pools.edit::<UseData>(before.index(), |at| at.next = data.next)?,
            None => self.pools.edit::<OpData>(op.index(), |at| at.first_operand = data.next)?,
        }
        if data.next.is_none() {
            self.pools.edit::<OpData>(op.index(), |at| at.last_operand = before)?;
        }
        self.pools.release::<UseData>(place.index())?;
        data.value.map_or(Ok(()), |value| self.drop_dead_literal(value))
    }
    pub(crate) fn drop_operands(&mut self, op: Op) -> Edit {
        while let Some(place) = self.op_data(op).and_then(|data| data.first_operand) {
            self.remove_use(op, place)?;
        }
        Ok(())
    }

    // ---- values
    /// Every use of `old` sees `new` from now on.
    pub fn replace_all_uses(&mut self, old: Value, new: Value) -> Edit {
        if old == new {
            return Ok(());
        }
        self.value_data(new).ok_or(ErrorKind::Stale)?;
        while let Some(place) = self.value_data(old).and_then(|data| data.first_use) {
            self.set_use(place, new)?;
        }
        Ok(())
    }
    /// Changes a value's type.
    pub fn set_type(&mut self, value: Value, ty: Type) -> Edit {
        let ty = self.intern(ty)?;
        self.pools.edit::<ValueData>(value.index(), |data| data.ty = ty)
    }
    /// Gives a value a name from the words or the text. The caller answers for it being free in the
    /// value's scope.
    pub fn set_name(&mut self, value: Value, name: &str) -> Edit {
        let name = self.word(name)?;
        self.pools.edit::<ValueData>(value.index(), |data| data.name = name)
    }
    /// Lets a value take another's name; the other has none then.
    pub fn take_name(&mut self, value: Value, from: Value) -> Edit {
        let name = self.value_data(from).ok_or(ErrorKind::Stale)?.name;
        self.pools.edit::<ValueData>(from.index(), |data| data.name = TextRef::EMPTY)?;
        self.pools.edit::<ValueData>(value.index(), |data| data.name = name)
    }
}
