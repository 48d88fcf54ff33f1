//! Tiles of three to six dimensions as tiles of two: what follows plans matrices.
//!
//! A tile that memory or a product meets is unrolled: one matrix for each place along the dimensions
//! in front of the last two, each with operations of its own. Any other tile is one matrix, whose
//! rows are counted along all dimensions but the last. What goes along other dimensions than that
//! form has is written with reshapes and transpositions, which move nothing.

use crate::attr::Literal;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::{made, made_by};
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Block, Op, TextRef, Value};
use crate::layouts::notation_of;
use crate::program::Program;
use crate::types::{MAX_RANK, Shape, TileEncoding, Type};
use heapless::Vec;
use lanebook_tables::contract::notation;
use lanebook_tables::{DtypeKind, OpRole};

/// Most matrices that a tile is unrolled to.
pub(crate) const MAX_MATRICES: u32 = 64;
/// Up to so many of them are put together one by one.
const FEW: u32 = 4;
/// The matrices of a tile.
pub(crate) type Matrices = Vec<Value, { MAX_MATRICES as usize }>;
/// Most bytes of a written layout's text, with the extents that it is of.
const MOST_TEXT: usize = 512;
/// Most shapes of unrolled tiles that are told apart; of more, all are unrolled.
const SHAPES: usize = 16;

/// A tile of three or more dimensions, as matrices of its last two.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) shape: Shape,
    /// Places along the dimensions in front.
    pub(crate) count: u32,
    pub(crate) rows: u32,
    pub(crate) cols: u32,
    /// Its layout is written: it stays one matrix, whatever meets it.
    pub(crate) is_written: bool,
}

impl Batch {
    /// A type as such a tile, if it is one in registers.
    pub(crate) fn of(ty: &Type) -> Option<Self> {
        if !ty.is_tile() || ty.is_memory() || ty.is_kept() || ty.shape.rank() < 3 {
            return None;
        }
        let shape = ty.shape;
        let front = shape.rank().checked_sub(2)?;
        Some(Self {
            shape,
            count: product(shape, 0, front)?,
            rows: shape.extent(front)?,
            cols: shape.extent(front.checked_add(1)?)?,
            is_written: ty.encoding != TileEncoding::None,
        })
    }

    /// An error if they are too many to have operations of their own.
    pub(crate) const fn few(self) -> Edit {
        few(self.count)
    }

    /// How many dimensions stand in front.
    pub(crate) const fn front(self) -> usize {
        self.shape.rank().saturating_sub(2)
    }

    /// One of the matrices.
    pub(crate) fn matrix(self, ty: Type) -> Edit<Type> {
        let shape = Shape::of(&[self.rows, self.cols]).ok_or(ErrorKind::Extent)?;
        Ok(Type { shape, encoding: TileEncoding::None, ..ty })
    }

    /// All of them below each other, in no layout.
    pub(crate) fn flat(self, ty: Type) -> Edit<Type> {
        let rows = self.count.checked_mul(self.rows).ok_or(ErrorKind::Extent)?;
        let shape = Shape::of(&[rows, self.cols]).ok_or(ErrorKind::Extent)?;
        Ok(Type { shape, encoding: TileEncoding::None, ..ty })
    }

    /// Where a matrix stands along the dimensions in front.
    pub(crate) fn place(self, number: u32) -> [u32; MAX_RANK] {
        let (mut place, mut rest) = ([0; MAX_RANK], number);
        for dimension in (0..self.front()).rev() {
            let extent = self.shape.extent(dimension).unwrap_or(1);
            if let Some(at) = place.get_mut(dimension) {
                *at = rest.checked_rem(extent).unwrap_or(0);
            }
            rest = rest.checked_div(extent).unwrap_or(0);
        }
        place
    }

    /// The number of the matrix at a place, of which the dimensions in front count.
    pub(crate) fn number(self, place: &[u32]) -> u32 {
        let digits = place.iter().take(self.front()).enumerate();
        digits.fold(0, |number: u32, (dimension, at)| {
            let extent = self.shape.extent(dimension).unwrap_or(1);
            number.saturating_mul(extent).saturating_add(*at)
        })
    }
}

/// An error about so many matrices if they are too many.
pub(crate) const fn few(found: u32) -> Edit {
    if found <= MAX_MATRICES {
        Ok(())
    } else {
        Err(ErrorKind::RankCount { found, most: MAX_MATRICES })
    }
}

/// The product of the extents from one dimension to another, which is not counted.
pub(crate) fn product(shape: Shape, from: usize, to: usize) -> Option<u32> {
    (from..to).try_fold(1u32, |all, dimension| all.checked_mul(shape.extent(dimension)?))
}

/// A function whose tiles are brought to two dimensions.
pub(crate) struct Ranks<'r, 's, 't> {
    pub(crate) program: &'r mut Program<'s, 't>,
    kernel: Op,
    /// Shapes of tiles that memory or a product meets.
    unrolled: Vec<Shape, SHAPES>,
    /// There are more of them than are kept.
    is_full: bool,
}

/// Brings the tiles of a function that are in registers to two dimensions.
///
/// # Errors
/// A tile with a layout of its own, or an operation that is not done so, at its place; room that ran
/// out.
#[inline(never)]
pub(crate) fn lower_ranks(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    if program.has_loops(kernel) {
        return Ok(());
    }
    let mut ranks = Ranks { program, kernel, unrolled: Vec::new(), is_full: false };
    if !ranks.look() {
        return Ok(());
    }
    let mut next = ranks.program.inside(kernel).next();
    while let Some(op) = next {
        next = ranks.program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..ranks.program.place(op) };
        ranks.part_written(op).map_err(|kind| IrError { kind, at })?;
    }
    let mut next = ranks.program.inside(kernel).next();
    while let Some(op) = next {
        next = ranks.program.following(op, Some(kernel));
        let at = SourcePlace { op: None, ..ranks.program.place(op) };
        if let Some(key) = ranks.idle_attr(op) {
            let at = SourcePlace { op: None, ..ranks.program.place_of(key) };
            return Err(IrError { kind: ErrorKind::IdleAttr, at });
        }
        ranks.lower(op).map_err(|kind| IrError { kind, at })?;
    }
    let at = SourcePlace { op: None, ..ranks.program.place(kernel) };
    ranks.flatten().map_err(|kind| IrError { kind, at })
}

impl Ranks<'_, '_, '_> {
    /// Finds the shapes that are unrolled; whether there is any tile of three dimensions.
    fn look(&mut self) -> bool {
        let mut found = false;
        let mut next = self.program.inside(self.kernel).next();
        while let Some(op) = next {
            next = self.program.following(op, Some(self.kernel));
            let role = self.program.role(op);
            let meets =
                matches!(role, OpRole::Load | OpRole::Store | OpRole::Atomic | OpRole::Matrix);
            let values = self.program.operands(op).chain(self.program.results(op));
            for batch in values.filter_map(|value| Batch::of(&self.program.type_of(value))) {
                found = true;
                if meets && !self.unrolled.contains(&batch.shape) {
                    self.is_full |= self.unrolled.push(batch.shape).is_err();
                }
            }
        }
        found
    }

    /// A value as a tile of three or more dimensions.
    pub(crate) fn batch(&self, value: Value) -> Option<Batch> {
        Batch::of(&self.program.type_of(value))
    }

    /// Whether tiles of a shape are unrolled.
    pub(crate) fn unrolls(&self, batch: Batch) -> bool {
        if batch.is_written {
            return false;
        }
        let few = batch.count <= MAX_MATRICES;
        self.unrolled.contains(&batch.shape) || self.is_full && few
    }

    /// The matrices that a tile has been unrolled to: the operands of an operation that only holds
    /// them together, and goes away at the end.
    pub(crate) fn stack(&self, value: Value) -> Option<Op> {
        self.program.def_op(value).filter(|op| self.is_stack(*op))
    }

    fn is_stack(&self, op: Op) -> bool {
        self.program.decl_id(op).is_none() && self.program.op_name(op).is_empty()
    }

    /// Holds matrices together, which are to be given.
    pub(crate) fn open_stack(&mut self) -> Edit<Op> {
        self.program.new_op(None, TextRef::EMPTY)
    }

    /// Puts what holds matrices together in the place of a tile.
    pub(crate) fn close_stack(&mut self, stack: Op, before: Op, tile: Value) -> Edit {
        let block = self.program.block_of(before).ok_or(ErrorKind::Stale)?;
        self.place_stack(stack, (block, Some(before)), tile)
    }

    fn place_stack(&mut self, stack: Op, at: (Block, Option<Op>), tile: Value) -> Edit {
        let ty = self.program.intern(self.program.type_of(tile))?;
        let whole = self.program.push_result(stack, ty, TextRef::EMPTY)?;
        self.program.link(stack, at.0, at.1)?;
        self.program.replace_all_uses(tile, whole)
    }

    /// One more matrix of a stack.
    pub(crate) fn push(&mut self, stack: Op, matrix: Value) -> Edit {
        self.program.add_operand(stack, matrix).map(|_| ())
    }

    /// Makes an operation in front of another one, about which its errors are.
    pub(crate) fn make(&mut self, at: Op, role: OpRole, ins: &[Value], ty: Type) -> Edit<Value> {
        made_by(self.program, at, role, ins, ty)
    }

    /// A tile filled with a number that each type has.
    pub(crate) fn filled(&mut self, at: Op, ty: Type) -> Edit<Value> {
        let tables = self.program.tables();
        let kind = ty.dtype.and_then(|dtype| tables.dtype(dtype)).map(|dtype| dtype.kind);
        let is_float = matches!(kind, Some(DtypeKind::Float));
        let number = self.program.literal_value(Literal::Int(i64::from(is_float)))?;
        self.make(at, OpRole::Constant, &[number], ty)
    }

    /// The same elements under two or one other extents.
    pub(crate) fn shaped(&mut self, at: Op, value: Value, extents: &[u32]) -> Edit<Value> {
        let shape = Shape::of(extents).ok_or(ErrorKind::Extent)?;
        let ty = self.program.type_of(value);
        if ty.shape == shape {
            return Ok(value);
        }
        let ty = Type { shape, encoding: TileEncoding::None, ..ty };
        self.make(at, OpRole::Reshape, &[value], ty)
    }

    /// Rows become columns.
    pub(crate) fn turned(&mut self, at: Op, value: Value) -> Edit<Value> {
        let ty = self.program.type_of(value);
        let (rows, cols) = ty.shape.pair().ok_or(ErrorKind::RankForm)?;
        let shape = Shape::of(&[cols, rows]).ok_or(ErrorKind::Extent)?;
        let ty = Type { shape, encoding: TileEncoding::None, ..ty };
        self.make(at, OpRole::Transpose, &[value], ty)
    }

    /// The part that was put into a matrix at some place, if it is still there as a whole.
    fn was_put(&self, into: Value, start: [u32; 2], extents: [u32; 2]) -> Option<Value> {
        let mut at = into;
        loop {
            let op = self.program.def_op(at)?;
            let (part, whole) = (self.program.operand(op, 0)?, self.program.operand(op, 1)?);
            let is_put = self.program.role(op) == OpRole::Slice;
            let (rows, cols) = self.program.type_of(part).shape.pair().filter(|_| is_put)?;
            let mut own = self.program.subscripts(op, 1).map(|value| self.program.int(value));
            let own = [own.next()??, own.next()??].map(|at| u32::try_from(at).ok());
            let own = [own[0]?, own[1]?];
            if (own, [rows, cols]) == (start, extents) {
                return Some(part);
            }
            let apart = |(a, long): (u32, u32), (b, other): (u32, u32)| {
                a.saturating_add(long) <= b || b.saturating_add(other) <= a
            };
            let by_rows = apart((own[0], rows), (start[0], extents[0]));
            if !by_rows && !apart((own[1], cols), (start[1], extents[1])) {
                return None;
            }
            at = whole;
        }
    }

    /// The part of a matrix that begins somewhere.
    pub(crate) fn taken(
        &mut self,
        at: Op,
        from: Value,
        start: [u32; 2],
        extents: [u32; 2],
    ) -> Edit<Value> {
        let shape = Shape::of(&extents).ok_or(ErrorKind::Extent)?;
        let ty = self.program.type_of(from);
        if ty.shape == shape {
            return Ok(from);
        }
        if let Some(part) = self.was_put(from, start, extents) {
            return Ok(part);
        }
        let part = self.slice(at, &[from], Type { shape, encoding: TileEncoding::None, ..ty })?;
        self.starts(part, start)
    }

    /// A matrix with a part of it replaced.
    pub(crate) fn put(&mut self, at: Op, part: Value, into: Value, start: [u32; 2]) -> Edit<Value> {
        let ty = self.program.type_of(into);
        if self.program.type_of(part).shape == ty.shape {
            return Ok(part);
        }
        let whole = self.slice(at, &[part, into], ty)?;
        self.starts(whole, start)
    }

    fn slice(&mut self, at: Op, ins: &[Value], ty: Type) -> Edit<Value> {
        let decl = self.program.tables().op_of_slice(ins.len()).ok_or(ErrorKind::UnknownOp)?;
        made(self.program, at, decl, ins, ty)
    }

    /// Says where a part begins: the subscripts of the operand added last.
    fn starts(&mut self, made: Value, start: [u32; 2]) -> Edit<Value> {
        let op = self.program.def_op(made).ok_or(ErrorKind::Broken)?;
        for at in start {
            let number = self.program.literal_value(Literal::Int(i64::from(at)))?;
            self.program.add_subscript(op, number)?;
        }
        Ok(made)
    }

    /// One matrix of a tile.
    pub(crate) fn matrix(&mut self, at: Op, tile: Value, number: u32) -> Edit<Value> {
        let ty = self.program.type_of(tile);
        let batch = Batch::of(&ty).ok_or(ErrorKind::Broken)?;
        let place = usize::try_from(number).map_err(|_| ErrorKind::Broken)?;
        if let Some(stack) = self.stack(tile) {
            return self.program.operand(stack, place).ok_or(ErrorKind::Broken);
        }
        let def = self.program.def_op(tile);
        if let Some(constant) = def.filter(|def| self.program.role(*def) == OpRole::Constant) {
            let number = self.program.operand(constant, 0).ok_or(ErrorKind::Broken)?;
            return self.make(at, OpRole::Constant, &[number], batch.matrix(ty)?);
        }
        let flat = self.flat(at, tile)?;
        self.taken(at, flat, [number.saturating_mul(batch.rows), 0], [batch.rows, batch.cols])
    }

    /// A tile as one matrix: its own below each other.
    pub(crate) fn flat(&mut self, at: Op, tile: Value) -> Edit<Value> {
        let ty = self.program.type_of(tile);
        let Some(batch) = Batch::of(&ty) else { return Ok(tile) };
        let flat = batch.flat(ty)?;
        let Some(stack) = self.stack(tile) else {
            return self.make(at, OpRole::Reshape, &[tile], flat);
        };
        let mut parts = Matrices::new();
        for part in self.program.operands(stack) {
            parts.push(part).map_err(|_| ErrorKind::Broken)?;
        }
        self.stacked(at, parts)
    }

    /// Matrices of one type below each other.
    pub(crate) fn stacked(&mut self, at: Op, mut parts: Matrices) -> Edit<Value> {
        let first = *parts.first().ok_or(ErrorKind::Broken)?;
        let (rows, cols) = self.program.type_of(first).shape.pair().ok_or(ErrorKind::Broken)?;
        let count = u32::try_from(parts.len()).map_err(|_| ErrorKind::Broken)?;
        if !count.is_power_of_two() || count <= FEW {
            let long = rows.checked_mul(count).ok_or(ErrorKind::Extent)?;
            let shape = Shape::of(&[long, cols]).ok_or(ErrorKind::Extent)?;
            let mut whole = first;
            if count > 1 {
                whole = self.filled(at, Type { shape, ..self.program.type_of(first) })?;
            }
            for (number, part) in (0u32..).zip(parts.iter().copied()) {
                whole = self.put(at, part, whole, [number.saturating_mul(rows), 0])?;
            }
            return Ok(whole);
        }
        // Two and two: an element is then chosen as often as numbers have bits.
        let mut long = rows;
        while parts.len() > 1 {
            let mut pairs = Matrices::new();
            let mut rest = parts.iter().copied();
            while let (Some(upper), Some(lower)) = (rest.next(), rest.next()) {
                let whole = self.stacked_pair(at, [upper, lower], [long, cols])?;
                pairs.push(whole).map_err(|_| ErrorKind::Broken)?;
            }
            long = long.checked_mul(2).ok_or(ErrorKind::Extent)?;
            parts = pairs;
        }
        parts.pop().ok_or(ErrorKind::Broken)
    }

    /// Two matrices of so many rows and columns below each other.
    fn stacked_pair(&mut self, at: Op, pair: [Value; 2], [rows, cols]: [u32; 2]) -> Edit<Value> {
        let size = rows.checked_mul(cols).ok_or(ErrorKind::Extent)?;
        let shape = Shape::of(&[2, size]).ok_or(ErrorKind::Extent)?;
        let ty = Type { shape, ..self.program.type_of(pair[0]) };
        let wide = self.wide(at, pair[1], (size, 0), ty)?;
        let upper = self.shaped(at, pair[0], &[1, size])?;
        let both = self.put(at, upper, wide, [0, 0])?;
        self.shaped(at, both, &[rows.saturating_mul(2), cols])
    }

    /// The matrices of a tile that is one.
    fn matrices(&mut self, at: Op, flat: Value, batch: Batch) -> Edit<Matrices> {
        let extents = [batch.rows, batch.cols];
        let mut parts = Matrices::new();
        let is_put = self.was_put(flat, [0, 0], extents).is_some();
        if is_put || !batch.count.is_power_of_two() || batch.count <= FEW {
            for number in 0..batch.count {
                let start = [number.saturating_mul(batch.rows), 0];
                let part = self.taken(at, flat, start, extents)?;
                parts.push(part).map_err(|_| ErrorKind::Broken)?;
            }
            return Ok(parts);
        }
        // Half of it and half of that.
        parts.push(flat).map_err(|_| ErrorKind::Broken)?;
        let mut rows = batch.count.saturating_mul(batch.rows);
        while rows > batch.rows {
            rows = rows.checked_div(2).unwrap_or(1);
            let mut halves = Matrices::new();
            for whole in parts.iter().copied() {
                for start in [0, rows] {
                    let half = self.taken(at, whole, [start, 0], [rows, batch.cols])?;
                    halves.push(half).map_err(|_| ErrorKind::Broken)?;
                }
            }
            parts = halves;
        }
        Ok(parts)
    }

    /// A tile that is no stack.
    fn whole(&mut self, at: Op, tile: Value) -> Edit<Value> {
        let ty = self.program.type_of(tile);
        let flat = self.flat(at, tile)?;
        self.make(at, OpRole::Reshape, &[flat], ty)
    }

    /// Lets a matrix, whose rows and columns together have the elements of a tile in their order, be
    /// read in that tile's place.
    pub(crate) fn give(&mut self, at: Op, old: Value, matrix: Value) -> Edit {
        let ty = self.program.type_of(old);
        let Some(batch) = Batch::of(&ty) else {
            let is_it = self.program.type_of(matrix).shape == ty.shape;
            let new = if is_it && ty.encoding == TileEncoding::None {
                matrix
            } else {
                self.make(at, OpRole::Reshape, &[matrix], ty)?
            };
            return self.program.replace_all_uses(old, new);
        };
        let (rows, cols) = batch.flat(ty)?.shape.pair().ok_or(ErrorKind::Broken)?;
        let flat = self.shaped(at, matrix, &[rows, cols])?;
        if !self.unrolls(batch) {
            let new = self.make(at, OpRole::Reshape, &[flat], ty)?;
            return self.program.replace_all_uses(old, new);
        }
        batch.few()?;
        let stack = self.open_stack()?;
        for part in self.matrices(at, flat, batch)? {
            self.push(stack, part)?;
        }
        self.close_stack(stack, at, old)
    }

    /// An attribute of an operation in whose place others are made, that these do not obey.
    fn idle_attr(&self, op: Op) -> Option<TextRef> {
        let known: &[&str] = match self.program.role(op) {
            OpRole::Transpose => &[attr_names::ORDER],
            OpRole::Reshape | OpRole::Join | OpRole::Split | OpRole::Slice => &[],
            OpRole::Broadcast => {
                let ranks = [self.program.operand(op, 0), self.program.result(op, 0)]
                    .map(|value| value.map_or(0, |value| self.program.type_of(value).shape.rank()));
                if ranks[0] == ranks[1] { &[] } else { &[attr_names::AXIS] }
            }
            OpRole::Index => &[attr_names::AXIS, attr_names::START, attr_names::END],
            // A copy has them, and is looked at as any other operation.
            _ => return None,
        };
        self.batches(op).next()?;
        let obeyed = |key: TextRef| known.iter().any(|known| self.program.key_is(key, known));
        self.program.attrs(op).map(|attr| attr.key).find(|key| !obeyed(*key))
    }

    /// Whether operands have subscripts that nothing obeys: only the tile that a part is of has any,
    /// one for each dimension.
    fn has_idle_subscripts(&self, op: Op) -> bool {
        let role = self.program.role(op);
        let moves = matches!(role, OpRole::Load | OpRole::Store | OpRole::Atomic);
        let last = self.program.operand_count(op).checked_sub(1);
        (0..self.program.operand_count(op)).any(|number| {
            let of_part = role == OpRole::Slice && Some(number) == last;
            let tile = self.program.operand(op, number).map(|tile| self.program.type_of(tile));
            let wanted = tile.filter(|_| of_part).map_or(0, |ty| ty.shape.rank());
            !moves && self.program.subscripts(op, number).count() != wanted
        })
    }

    /// One operation.
    fn lower(&mut self, op: Op) -> Edit {
        if self.is_stack(op) || self.batches(op).next().is_none() {
            return Ok(());
        }
        if self.has_layout(op) {
            return Err(ErrorKind::RankLayout);
        }
        if self.has_idle_subscripts(op) {
            return Err(ErrorKind::RankForm);
        }
        match self.program.role(op) {
            OpRole::Load | OpRole::Store | OpRole::Atomic | OpRole::Matrix => self.each(op, None),
            OpRole::Convert if self.makes_written(op) => self.convert_whole(op),
            OpRole::Elementwise | OpRole::Select | OpRole::Constant | OpRole::Convert => {
                if self.is_unrolled(op) { self.each(op, None) } else { Ok(()) }
            }
            OpRole::Index => self.range(op),
            OpRole::Broadcast => self.broadcast(op),
            OpRole::Reduce => self.reduce(op),
            OpRole::Scan => self.scan(op),
            OpRole::Transpose => self.transpose(op),
            OpRole::Reshape => self.reshape(op),
            OpRole::Join => self.join(op),
            OpRole::Split => self.split(op),
            OpRole::Slice => self.part(op),
            OpRole::For => self.carry(op),
            OpRole::If => self.pass(op),
            OpRole::Yield => self.hand_on(op),
            _ => Err(ErrorKind::RankForm),
        }
    }

    /// The tiles of three or more dimensions that an operation reads and makes.
    pub(crate) fn batches(&self, op: Op) -> impl Iterator<Item = (Value, Batch)> {
        let values = self.program.operands(op).chain(self.program.results(op));
        values.filter_map(|value| Some((value, self.batch(value)?)))
    }

    /// Whether an operation says how such a tile lies where nothing looks for it, or in a notation
    /// that counts elements in another order than row by row.
    fn has_layout(&self, op: Op) -> bool {
        let says = [attr_names::LAYOUT, attr_names::TILE_LAYOUT];
        says.iter().any(|key| self.program.has_attr(op, key))
            || self.batches(op).any(|(value, batch)| {
                let text = self.program.layout_text(&self.program.type_of(value));
                let by_rows = notation::LANES | notation::TRITON;
                batch.is_written && text.is_none_or(|text| notation_of(text) & by_rows == 0)
            })
    }

    /// Whether an operation makes such a tile whose layout is written.
    fn makes_written(&self, op: Op) -> bool {
        self.program.results(op).any(|tile| self.batch(tile).is_some_and(|it| it.is_written))
    }

    /// What is done matrix by matrix makes a tile in no layout, which is then converted.
    fn part_written(&mut self, op: Op) -> Edit {
        let parts = match self.program.role(op) {
            OpRole::Load | OpRole::Atomic | OpRole::Matrix => true,
            OpRole::Elementwise | OpRole::Select => self.is_unrolled(op),
            _ => false,
        };
        if !parts || !self.makes_written(op) || self.has_layout(op) {
            return Ok(());
        }
        for number in 0..self.program.results(op).count() {
            let tile = self.program.result(op, number).ok_or(ErrorKind::Broken)?;
            let ty = self.program.type_of(tile);
            if !self.batch(tile).is_some_and(|batch| batch.is_written) {
                continue;
            }
            self.program.set_type(tile, Type { encoding: TileEncoding::None, ..ty })?;
            let behind = self.program.next(op).ok_or(ErrorKind::NoTerminator)?;
            let written = self.make(behind, OpRole::Convert, &[tile], ty)?;
            let convert = self.program.def_op(written).ok_or(ErrorKind::Broken)?;
            self.program.replace_all_uses(tile, written)?;
            self.program.set_operand(convert, 0, tile)?;
        }
        Ok(())
    }

    /// A conversion to a written layout is one of the whole tile.
    fn convert_whole(&mut self, op: Op) -> Edit {
        let from = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        if self.stack(from).is_none() {
            return Ok(());
        }
        let whole = self.flat(op, from)?;
        self.program.set_operand(op, 0, whole)
    }

    /// Whether an operation is done matrix by matrix: its tiles are, or have been, unrolled.
    pub(crate) fn is_unrolled(&self, op: Op) -> bool {
        self.batches(op).any(|(value, batch)| self.unrolls(batch) || self.stack(value).is_some())
    }

    /// Lets a loop carry matrices.
    fn carry(&mut self, op: Op) -> Edit {
        let body = self.program.body(op).ok_or(ErrorKind::NoTerminator)?;
        let mut number = 0usize;
        for _ in 0..self.program.carried(op).count() {
            let carried = self.program.carried(op).nth(number).ok_or(ErrorKind::Broken)?;
            let place = number.saturating_add(3);
            let ty = self.program.type_of(carried.argument);
            let Some(batch) = Batch::of(&ty).filter(|batch| self.unrolls(*batch)) else {
                if self.stack(carried.init).is_some() {
                    let whole = self.whole(op, carried.init)?;
                    self.program.set_operand(op, place, whole)?;
                }
                number = number.saturating_add(1);
                continue;
            };
            let (inside, behind) = (self.open_stack()?, self.open_stack()?);
            for matrix in 0..batch.count {
                let own = self.matrix(op, carried.init, matrix)?;
                self.program.add_operand(op, own)?;
                let argument = self.program.add_argument(body, batch.matrix(ty)?)?;
                let result = self.program.add_result(op, batch.matrix(ty)?)?;
                self.push(inside, argument)?;
                self.push(behind, result)?;
            }
            let first = self.program.first(body);
            self.place_stack(inside, (body, first), carried.argument)?;
            self.behind(op, behind, carried.result.ok_or(ErrorKind::Broken)?)?;
            self.program.remove_operand(op, place)?;
            self.program.remove_argument(body, number.saturating_add(1))?;
            self.program.remove_result(op, number)?;
        }
        Ok(())
    }

    fn behind(&mut self, op: Op, stack: Op, tile: Value) -> Edit {
        let block = self.program.block_of(op).ok_or(ErrorKind::Stale)?;
        let next = self.program.next(op);
        self.place_stack(stack, (block, next), tile)
    }

    /// Lets a branch pass matrices out.
    fn pass(&mut self, op: Op) -> Edit {
        let mut number = 0usize;
        for _ in 0..self.program.results(op).count() {
            let result = self.program.result(op, number).ok_or(ErrorKind::Broken)?;
            let ty = self.program.type_of(result);
            let Some(batch) = Batch::of(&ty).filter(|batch| self.unrolls(*batch)) else {
                number = number.saturating_add(1);
                continue;
            };
            let behind = self.open_stack()?;
            for _ in 0..batch.count {
                let own = self.program.add_result(op, batch.matrix(ty)?)?;
                self.push(behind, own)?;
            }
            self.behind(op, behind, result)?;
            self.program.remove_result(op, number)?;
        }
        Ok(())
    }

    /// Lets the end of a loop's body, or of a branch's part, hand matrices on.
    fn hand_on(&mut self, op: Op) -> Edit {
        let mut number = 0usize;
        for _ in 0..self.program.operand_count(op) {
            let value = self.program.operand(op, number).ok_or(ErrorKind::Broken)?;
            let batch = self.batch(value).filter(|batch| self.unrolls(*batch));
            let Some(batch) = batch else {
                if self.stack(value).is_some() {
                    let whole = self.whole(op, value)?;
                    self.program.set_operand(op, number, whole)?;
                }
                number = number.saturating_add(1);
                continue;
            };
            for matrix in 0..batch.count {
                let own = self.matrix(op, value, matrix)?;
                self.program.add_operand(op, own)?;
            }
            self.program.remove_operand(op, number)?;
        }
        Ok(())
    }

    /// Takes away what held matrices together, and lets all other tiles be one matrix.
    fn flatten(&mut self) -> Edit {
        let mut next = self.program.inside(self.kernel).next();
        while let Some(op) = next {
            next = self.program.following(op, Some(self.kernel));
            if self.is_stack(op) {
                self.program.erase(op)?;
                continue;
            }
            if self.program.role(op) == OpRole::Reshape {
                self.forget_reshape(op)?;
            }
        }
        let mut next = self.program.inside(self.kernel).next();
        while let Some(op) = next {
            next = self.program.following(op, Some(self.kernel));
            let mut number = 0usize;
            while let Some(result) = self.program.result(op, number) {
                self.flatten_type(result)?;
                number = number.saturating_add(1);
            }
            let mut number = 0usize;
            loop {
                let blocks = self.program.regions(op).flat_map(|at| self.program.blocks(at));
                let argument = blocks.flat_map(|block| self.program.arguments(block)).nth(number);
                let Some(argument) = argument else { break };
                self.flatten_type(argument)?;
                number = number.saturating_add(1);
            }
        }
        Ok(())
    }

    /// A reshape between tiles that will be one matrix is none.
    fn forget_reshape(&mut self, op: Op) -> Edit {
        let (Some(from), Some(to)) = (self.program.operand(op, 0), self.program.result(op, 0))
        else {
            return Ok(());
        };
        let (a, b) = (self.program.type_of(from), self.program.type_of(to));
        let flat = |ty: Type| Batch::of(&ty).map_or(Ok(ty), |batch| batch.flat(ty));
        let is_own = Batch::of(&a).or(Batch::of(&b)).is_some();
        if !is_own || b.encoding != TileEncoding::None || flat(a)?.shape != flat(b)?.shape {
            return Ok(());
        }
        self.program.replace_all_uses(to, from)?;
        self.program.erase(op)
    }

    /// A tile of more dimensions is one matrix; its layout, which counts elements row by row, is then
    /// one of the extents that it had.
    fn flatten_type(&mut self, value: Value) -> Edit {
        let ty = self.program.type_of(value);
        let Some(batch) = Batch::of(&ty) else { return Ok(()) };
        let flat = batch.flat(ty)?;
        let text = self.program.layout_text(&ty).filter(|_| batch.is_written);
        let Some(text) = text else { return self.program.set_type(value, flat) };
        if notation_of(text) == notation::LANES {
            // Positions alone: the extents do not matter.
            return self.program.set_type(value, Type { encoding: ty.encoding, ..flat });
        }
        let mut shaped: heapless::String<MOST_TEXT> = heapless::String::new();
        let is_full = |_| ErrorKind::RankLayout;
        shaped.push_str(text.trim_ascii()).map_err(is_full)?;
        if !text.bytes().any(|byte| byte == b'@') {
            for (number, extent) in batch.shape.iter().enumerate() {
                shaped.push_str(if number == 0 { " @ " } else { "x" }).map_err(is_full)?;
                decimal(extent.ok_or(ErrorKind::Extent)?, &mut shaped)
                    .ok_or(ErrorKind::RankLayout)?;
            }
        }
        let (at, len) = self.program.pools.make(&shaped)?;
        self.program.set_type(value, Type { encoding: TileEncoding::Interned(at, len), ..flat })
    }
}

/// Writes a number's digits.
fn decimal(number: u32, out: &mut heapless::String<MOST_TEXT>) -> Option<()> {
    let mut unit = 1_000_000_000u32;
    while unit > 0 {
        let digit = number.checked_div(unit)?.checked_rem(10)?;
        if unit == 1 || number >= unit {
            out.push(char::from(b'0'.saturating_add(u8::try_from(digit).ok()?))).ok()?;
        }
        unit /= 10;
    }
    Some(())
}
