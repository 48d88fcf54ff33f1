//! What operations on tiles of three or more dimensions do, as operations on matrices.

use crate::attr::{AttrValue, Literal};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::made;
use crate::edit::ranks::{Batch, Matrices, Ranks, product};
use crate::error::ErrorKind;
use crate::handle::{Op, Use, Value};
use crate::types::{MAX_RANK, Shape, TileEncoding, Type, TypeKind};
use lanebook_tables::{IndexWord, OpRole};

/// Most tiles that an operation makes: a reduction the extreme and where it stands, a split both
/// halves.
const RESULTS: usize = 2;

/// A dimension of a tile, and how many elements there are for each place before and behind it.
#[derive(Copy, Clone)]
struct Middle {
    before: u32,
    along: u32,
    behind: u32,
}

impl Middle {
    fn of(shape: Shape, axis: usize) -> Edit<Self> {
        let whole = |from, to| product(shape, from, to).ok_or(ErrorKind::Extent);
        Ok(Self {
            before: whole(0, axis)?,
            along: shape.extent(axis).ok_or(ErrorKind::RankForm)?,
            behind: whole(axis.saturating_add(1), shape.rank())?,
        })
    }

    /// Rows and columns of the matrix along which the dimension is one, and which of both it is.
    fn matrix(self) -> ([u32; 2], u8) {
        if self.before == 1 && self.behind > 1 {
            return ([self.along, self.behind], 0);
        }
        ([self.before.saturating_mul(self.behind), self.along], 1)
    }

    /// Whether there are elements for other places before and behind it: the matrix is another one
    /// than the tile's own rows.
    const fn is_inside(self) -> bool {
        self.before > 1 && self.behind > 1
    }
}

impl Ranks<'_, '_, '_> {
    /// An operation for each matrix, along another dimension if one is given.
    pub(crate) fn each(&mut self, op: Op, axis: Option<u8>) -> Edit {
        let batch = self.alike(op)?;
        if self.results_of(op) > RESULTS {
            return Err(ErrorKind::RankForm);
        }
        let mut stacks = [None; RESULTS];
        for stack in stacks.iter_mut().take(self.results_of(op)) {
            *stack = Some(self.open_stack()?);
        }
        for number in 0..batch.count {
            let copy = self.copy(op, number)?;
            if let Some(axis) = axis {
                self.set_axis(copy, axis)?;
            }
            for (place, stack) in stacks.iter().enumerate() {
                let Some(stack) = *stack else { continue };
                let result = self.program.result(copy, place).ok_or(ErrorKind::Broken)?;
                let ty = self.program.type_of(result);
                let own = Batch::of(&ty).ok_or(ErrorKind::RankForm)?;
                self.program.set_type(result, own.matrix(ty)?)?;
                self.push(stack, result)?;
            }
            self.move_start(copy, batch, number)?;
        }
        for (place, stack) in stacks.iter().enumerate() {
            let Some(stack) = *stack else { continue };
            let result = self.program.result(op, place).ok_or(ErrorKind::Broken)?;
            self.close_stack(stack, op, result)?;
        }
        self.program.erase(op)
    }

    fn results_of(&self, op: Op) -> usize {
        self.program.results(op).count()
    }

    /// The tiles of an operation that is done matrix by matrix, which have the same dimensions in
    /// front.
    fn alike(&self, op: Op) -> Edit<Batch> {
        let mut all = self.batches(op).map(|(_, batch)| batch);
        let first = all.next().ok_or(ErrorKind::Broken)?;
        let front = |batch: Batch| batch.shape.iter().take(batch.front());
        let same = |other: Batch| other.front() == first.front() && front(other).eq(front(first));
        if !all.all(same) {
            return Err(ErrorKind::RankForm);
        }
        first.few()?;
        Ok(first)
    }

    /// A copy of an operation in front of it, which reads one matrix of each tile.
    fn copy(&mut self, op: Op, number: u32) -> Edit<Op> {
        let copy = self.program.clone_before(op, op)?;
        for place in 0..self.program.operand_count(op) {
            let value = self.program.operand(op, place).ok_or(ErrorKind::Broken)?;
            if self.batch(value).is_some() {
                let own = self.matrix(copy, value, number)?;
                self.program.set_operand(copy, place, own)?;
            }
        }
        Ok(copy)
    }

    /// Lets a matrix of a tile in memory begin where it stands.
    fn move_start(&mut self, copy: Op, batch: Batch, number: u32) -> Edit {
        let is_memory = |place: &usize| {
            let operand = self.program.operand(copy, *place);
            operand.is_some_and(|value| self.program.type_of(value).is_memory())
        };
        let memory = (0..self.program.operand_count(copy)).find(is_memory);
        let Some(memory) = memory else { return Ok(()) };
        let of = self.program.operand(copy, memory).ok_or(ErrorKind::Broken)?;
        let of = self.program.type_of(of);
        if of.kind != TypeKind::Memref {
            return Err(ErrorKind::RankForm);
        }
        // Along one dimension indices say where an element is.
        let indexed = self.program.index_tile(copy).map(|_| {
            self.program
                .int_attr(copy, attr_names::AXIS)
                .and_then(|axis| usize::try_from(axis).ok())
        });
        let indexed = indexed.map(|axis| axis.unwrap_or(0));
        let rank = batch.shape.rank();
        if of.shape.rank() < rank && indexed.is_none() {
            return Err(ErrorKind::RankForm);
        }
        for (dimension, by) in batch.place(number).into_iter().enumerate().take(batch.front()) {
            let Some(place) = of.shape.rank().saturating_add(dimension).checked_sub(rank) else {
                continue;
            };
            if by > 0 && indexed != Some(place) {
                let at = self.subscript(copy, memory, place).ok_or(ErrorKind::RankForm)?;
                self.move_subscript(copy, at, by)?;
            }
        }
        Ok(())
    }

    fn subscript(&self, op: Op, operand: usize, number: usize) -> Option<Use> {
        let first = self.program.operand_use(op, operand)?;
        let behind = self.program.uses_by(op).skip_while(|at| *at != first).skip(1);
        let mut own = behind.take_while(|at| self.program.operand_number(*at).is_none());
        own.nth(number)
    }

    fn move_subscript(&mut self, op: Op, at: Use, by: u32) -> Edit {
        let old = self.program.used(at).ok_or(ErrorKind::Broken)?;
        let by = i64::from(by);
        let new = match self.program.int(old) {
            Some(number) => {
                let sum = number.checked_add(by).ok_or(ErrorKind::Extent)?;
                self.program.literal_value(Literal::Int(sum))?
            }
            None => {
                let by = self.program.literal_value(Literal::Int(by))?;
                let add = self.program.tables().op_of_index(IndexWord::Add);
                made(self.program, op, add.ok_or(ErrorKind::UnknownOp)?, &[old, by], Type::INDEX)?
            }
        };
        self.program.set_use(at, new)
    }

    /// The dimension of a tile that an operation says.
    fn axis(&self, op: Op, shape: Shape) -> Edit<usize> {
        let axis = self.program.int_attr(op, attr_names::AXIS);
        let axis = axis.and_then(|axis| usize::try_from(axis).ok());
        axis.filter(|axis| *axis < shape.rank()).ok_or(ErrorKind::AttrValue)
    }

    fn set_axis(&mut self, op: Op, axis: u8) -> Edit {
        self.program.set_attr(op, attr_names::AXIS, AttrValue::Int(i64::from(axis), None))
    }

    /// The dimension of a matrix that one of the last two of a tile is.
    fn inner_axis(batch: Batch, axis: usize) -> Option<u8> {
        axis.checked_sub(batch.front()).map(|own| u8::from(own > 0))
    }

    /// A copy of an operation along the dimension of a matrix that one inside of a tile has become;
    /// what it makes.
    fn copied_along(&mut self, op: Op, middle: Middle) -> Edit<Value> {
        let copy = self.program.clone_before(op, op)?;
        let made = self.program.result(copy, 0).ok_or(ErrorKind::Broken)?;
        let ty = self.program.type_of(made);
        let (extents, axis) = middle.matrix();
        let shape = Shape::of(&extents).ok_or(ErrorKind::Extent)?;
        self.program.set_type(made, Type { shape, ..ty })?;
        self.set_axis(copy, axis)?;
        Ok(made)
    }

    /// A tile as the matrix along which a dimension of it is one.
    fn along(&mut self, at: Op, tile: Value, middle: Middle) -> Edit<Value> {
        let flat = self.flat(at, tile)?;
        let (extents, _) = middle.matrix();
        if middle.is_inside() {
            let long = middle.before.saturating_mul(middle.along);
            let rows = self.shaped(at, flat, &[long, middle.behind])?;
            let turned = self.turned(at, rows)?;
            return self.shaped(at, turned, &extents);
        }
        self.shaped(at, flat, &extents)
    }

    /// Lets such a matrix be read in a tile's place.
    fn give_along(&mut self, at: Op, old: Value, matrix: Value, middle: Middle) -> Edit {
        let mut matrix = matrix;
        if middle.is_inside() {
            let long = middle.before.saturating_mul(middle.along);
            let wide = self.shaped(at, matrix, &[middle.behind, long])?;
            matrix = self.turned(at, wide)?;
        }
        self.give(at, old, matrix)
    }

    /// Coordinates along a dimension.
    pub(crate) fn range(&mut self, op: Op) -> Edit {
        if self.program.operand_count(op) > 0 {
            return Err(ErrorKind::RankForm);
        }
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let ty = self.program.type_of(result);
        let batch = Batch::of(&ty).ok_or(ErrorKind::Broken)?;
        let of = self.program.coordinates(op).ok_or(ErrorKind::AttrValue)?;
        let middle = Middle::of(batch.shape, of.dim)?;
        if !self.is_unrolled(op) {
            let made = self.copied_along(op, middle)?;
            self.give_along(op, result, made, middle)?;
            return self.program.erase(op);
        }
        if let Some(own) = Self::inner_axis(batch, of.dim) {
            return self.each(op, Some(own));
        }
        batch.few()?;
        let stack = self.open_stack()?;
        for number in 0..batch.count {
            let at = batch.place(number).get(of.dim).copied().unwrap_or(0);
            let at = i64::from(of.start).checked_add(i64::from(at)).ok_or(ErrorKind::Extent)?;
            let at = self.program.literal_value(Literal::Int(at))?;
            let own = self.make(op, OpRole::Constant, &[at], batch.matrix(ty)?)?;
            self.push(stack, own)?;
        }
        self.close_stack(stack, op, result)?;
        self.program.erase(op)
    }

    /// Sums so far along a dimension.
    pub(crate) fn scan(&mut self, op: Op) -> Edit {
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let tile = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        let batch = self.batch(tile).ok_or(ErrorKind::Broken)?;
        let axis = self.axis(op, batch.shape)?;
        if let Some(own) = Self::inner_axis(batch, axis).filter(|_| self.is_unrolled(op)) {
            return self.each(op, Some(own));
        }
        let middle = Middle::of(batch.shape, axis)?;
        let matrix = self.along(op, tile, middle)?;
        let made = self.copied_along(op, middle)?;
        let copy = self.program.def_op(made).ok_or(ErrorKind::Broken)?;
        self.program.set_operand(copy, 0, matrix)?;
        self.give_along(op, result, made, middle)?;
        self.program.erase(op)
    }

    /// Combines a dimension away.
    pub(crate) fn reduce(&mut self, op: Op) -> Edit {
        let first = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        let batch = self.batch(first).ok_or(ErrorKind::Broken)?;
        let axis = self.axis(op, batch.shape)?;
        if self.results_of(op) > RESULTS {
            return Err(ErrorKind::RankForm);
        }
        if let Some(own) = Self::inner_axis(batch, axis).filter(|_| self.is_unrolled(op)) {
            return self.reduce_each(op, batch, own);
        }
        let middle = Middle::of(batch.shape, axis)?;
        let copy = self.program.clone_before(op, op)?;
        for place in 0..self.program.operand_count(op) {
            let tile = self.program.operand(op, place).ok_or(ErrorKind::Broken)?;
            let matrix = self.along(copy, tile, middle)?;
            self.program.set_operand(copy, place, matrix)?;
        }
        let (extents, own) = middle.matrix();
        self.set_axis(copy, own)?;
        let left = if middle.is_inside() || middle.behind == 1 { extents[0] } else { extents[1] };
        for place in 0..self.results_of(op) {
            let old = self.program.result(op, place).ok_or(ErrorKind::Broken)?;
            let mut made = self.line(copy, place, left)?;
            if middle.is_inside() {
                let matrix = self.shaped(op, made, &[middle.behind, middle.before])?;
                made = self.turned(op, matrix)?;
            }
            self.give(op, old, made)?;
        }
        self.program.erase(op)
    }

    /// What a reduction of a matrix makes: so many elements.
    fn line(&mut self, copy: Op, place: usize, extent: u32) -> Edit<Value> {
        let made = self.program.result(copy, place).ok_or(ErrorKind::Broken)?;
        let ty = self.program.type_of(made);
        let shape = Shape::of(&[extent]).ok_or(ErrorKind::Extent)?;
        let ty = Type { shape, encoding: TileEncoding::None, ..ty };
        self.program.set_type(made, ty)?;
        Ok(made)
    }

    /// Combines a dimension of each matrix away.
    fn reduce_each(&mut self, op: Op, batch: Batch, axis: u8) -> Edit {
        batch.few()?;
        let left = if axis == 0 { batch.cols } else { batch.rows };
        let mut lines = [Matrices::new(), Matrices::new()];
        for number in 0..batch.count {
            let copy = self.copy(op, number)?;
            self.set_axis(copy, axis)?;
            for (place, lines) in lines.iter_mut().enumerate().take(self.results_of(op)) {
                let line = self.line(copy, place, left)?;
                let line = self.shaped(op, line, &[1, left])?;
                lines.push(line).map_err(|_| ErrorKind::Broken)?;
            }
        }
        for (place, lines) in lines.iter().enumerate().take(self.results_of(op)) {
            let old = self.program.result(op, place).ok_or(ErrorKind::Broken)?;
            let all = self.stacked(op, lines.clone())?;
            self.give(op, old, all)?;
        }
        self.program.erase(op)
    }

    /// Repeats a tile along a dimension.
    pub(crate) fn broadcast(&mut self, op: Op) -> Edit {
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let from = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        let batch = self.batch(result).ok_or(ErrorKind::RankForm)?;
        let own = self.program.type_of(from);
        if !own.is_tile() {
            return if self.is_unrolled(op) { self.each(op, None) } else { Ok(()) };
        }
        // As one of the same rank, which has one element along what is new.
        let mut extents = [1u32; MAX_RANK];
        let new = self.new_dimension(op, own.shape, batch.shape)?;
        let mut source = 0usize;
        for (dimension, extent) in extents.iter_mut().enumerate().take(batch.shape.rank()) {
            if Some(dimension) != new {
                *extent = own.shape.extent(source).ok_or(ErrorKind::RankForm)?;
                source = source.saturating_add(1);
            }
        }
        if self.is_unrolled(op) {
            let all = extents.get(..batch.shape.rank()).and_then(Shape::of);
            self.broadcast_each(op, all.ok_or(ErrorKind::Extent)?, batch)?;
            return self.program.erase(op);
        }
        let mut matrix = self.flat(op, from)?;
        for dimension in 0..batch.shape.rank() {
            let to = batch.shape.extent(dimension).ok_or(ErrorKind::Extent)?;
            let before = extents.get(dimension).copied().unwrap_or(1);
            if before == to {
                continue;
            }
            if before != 1 {
                return Err(ErrorKind::RankForm);
            }
            let now = extents.get(..batch.shape.rank()).and_then(Shape::of);
            let middle = Middle::of(now.ok_or(ErrorKind::Extent)?, dimension)?;
            matrix = self.repeated(op, matrix, Middle { along: to, ..middle })?;
            if let Some(extent) = extents.get_mut(dimension) {
                *extent = to;
            }
        }
        self.give(op, result, matrix)?;
        self.program.erase(op)
    }

    /// Repeats for each matrix of the result what it is a repetition of. The operand has these
    /// extents, or one element along what is new.
    fn broadcast_each(&mut self, op: Op, extents: Shape, batch: Batch) -> Edit {
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let from = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        batch.few()?;
        let own = Batch::of(&Type { shape: extents, ..self.program.type_of(from) });
        let own = own.ok_or(ErrorKind::RankForm)?;
        let is_one = |to: u32, from: u32| from == 1 || from == to;
        let mut both = extents.iter().zip(batch.shape.iter());
        if !both.all(|(from, to)| to.zip(from).is_some_and(|(to, from)| is_one(to, from))) {
            return Err(ErrorKind::RankForm);
        }
        let size = own.rows.saturating_mul(own.cols);
        let is_batch = self.batch(from).is_some_and(|tile| tile.shape == extents);
        let ty = batch.matrix(self.program.type_of(result))?;
        let stack = self.open_stack()?;
        for number in 0..batch.count {
            let mut place = batch.place(number);
            for (at, extent) in place.iter_mut().zip(extents.iter()).take(own.front()) {
                *at = if extent == Some(1) { 0 } else { *at };
            }
            let chunk = own.number(&place);
            let mut matrix = if is_batch {
                self.matrix(op, from, chunk)?
            } else {
                let flat = self.flat(op, from)?;
                let rows = self.shaped(op, flat, &[own.count, size])?;
                self.taken(op, rows, [chunk, 0], [1, size])?
            };
            let (mut rows, cols) = (own.rows, own.cols);
            if rows != batch.rows && cols == 1 {
                // One element: a column first.
                rows = batch.rows;
                matrix = self.wide(op, matrix, (1, 0), Type { shape: column(rows)?, ..ty })?;
            }
            if rows != batch.rows {
                matrix = self.wide(op, matrix, (cols, 0), ty)?;
            } else if cols != batch.cols {
                matrix = self.wide(op, matrix, (rows, 1), ty)?;
            } else {
                matrix = self.shaped(op, matrix, &[rows, cols])?;
            }
            self.push(stack, matrix)?;
        }
        self.close_stack(stack, op, result)
    }

    /// A line of so many elements repeated: as rows, or as columns.
    pub(crate) fn wide(
        &mut self,
        at: Op,
        line: Value,
        (long, axis): (u32, u8),
        ty: Type,
    ) -> Edit<Value> {
        let line = self.shaped(at, line, &[long])?;
        let wide = self.make(at, OpRole::Broadcast, &[line], ty)?;
        let op = self.program.def_op(wide).ok_or(ErrorKind::Broken)?;
        self.set_axis(op, axis)?;
        Ok(wide)
    }

    /// The dimension of the result that is new, if there is one.
    fn new_dimension(&self, op: Op, from: Shape, to: Shape) -> Edit<Option<usize>> {
        if from.rank() == to.rank() {
            return Ok(None);
        }
        if from.rank().checked_add(1) != Some(to.rank()) {
            return Err(ErrorKind::RankForm);
        }
        if self.program.has_attr(op, attr_names::AXIS) {
            return self.axis(op, to).map(Some);
        }
        let fits = |axis: usize| {
            let others = (0..to.rank()).filter(|dimension| *dimension != axis);
            let mut both = others.map(|dimension| to.extent(dimension)).zip(from.iter());
            both.all(|(to, from)| to == from || from == Some(1))
        };
        (0..to.rank()).find(|axis| fits(*axis)).map(Some).ok_or(ErrorKind::RankForm)
    }

    /// A matrix with each element so often as there are places along a dimension.
    fn repeated(&mut self, at: Op, matrix: Value, middle: Middle) -> Edit<Value> {
        let ty = self.program.type_of(matrix);
        let (extents, axis) = middle.matrix();
        let mut own = matrix;
        if middle.is_inside() {
            own = self.shaped(at, own, &[middle.before, middle.behind])?;
            own = self.turned(at, own)?;
        }
        let line = if axis == 0 { extents[1] } else { extents[0] };
        let shape = Shape::of(&extents).ok_or(ErrorKind::Extent)?;
        let wide = Type { shape, encoding: TileEncoding::None, ..ty };
        let wide = self.wide(at, own, (line, axis), wide)?;
        if !middle.is_inside() {
            return Ok(wide);
        }
        let long = middle.before.saturating_mul(middle.along);
        let turned = self.shaped(at, wide, &[middle.behind, long])?;
        self.turned(at, turned)
    }

    /// The same elements under other extents.
    pub(crate) fn reshape(&mut self, op: Op) -> Edit {
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let from = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        if let (Some(a), Some(b), Some(_)) =
            (self.batch(from), self.batch(result), self.stack(from))
        {
            // The same matrices, counted in another way.
            if (a.rows, a.cols) == (b.rows, b.cols) {
                let stack = self.open_stack()?;
                for number in 0..a.count {
                    let own = self.matrix(op, from, number)?;
                    self.push(stack, own)?;
                }
                self.close_stack(stack, op, result)?;
                return self.program.erase(op);
            }
        }
        let flat = self.flat(op, from)?;
        self.give(op, result, flat)?;
        self.program.erase(op)
    }

    /// Two tiles as pairs.
    pub(crate) fn join(&mut self, op: Op) -> Edit {
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let ty = self.program.type_of(result);
        let batch = Batch::of(&ty).ok_or(ErrorKind::RankForm)?;
        let mut halves = [None; 2];
        for (place, half) in halves.iter_mut().enumerate() {
            let own = self.program.operand(op, place).ok_or(ErrorKind::Broken)?;
            *half = Some(self.as_line(op, own)?);
        }
        let [Some(first), Some(second)] = halves else { return Err(ErrorKind::Broken) };
        let pairs = self.make(op, OpRole::Join, &[first, second], batch.flat(ty)?)?;
        self.give(op, result, pairs)?;
        self.program.erase(op)
    }

    /// A tile as one line.
    fn as_line(&mut self, at: Op, tile: Value) -> Edit<Value> {
        let flat = self.flat(at, tile)?;
        let elements = self.program.type_of(flat).shape.elements();
        let elements = elements.and_then(|elements| u32::try_from(elements).ok());
        self.shaped(at, flat, &[elements.ok_or(ErrorKind::Extent)?])
    }

    /// What is even and what is odd along the last dimension.
    pub(crate) fn split(&mut self, op: Op) -> Edit {
        let pairs = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        let flat = self.flat(op, pairs)?;
        let (rows, _) = self.program.type_of(flat).shape.pair().ok_or(ErrorKind::RankForm)?;
        let copy = self.program.clone_before(op, op)?;
        self.program.set_operand(copy, 0, flat)?;
        for place in 0..self.results_of(op) {
            let old = self.program.result(op, place).ok_or(ErrorKind::Broken)?;
            let half = self.line(copy, place, rows)?;
            let ty = self.program.type_of(old);
            let target = Batch::of(&ty).map_or(Ok(ty), |batch| batch.flat(ty))?;
            let (rows, cols) = target.shape.pair().ok_or(ErrorKind::RankForm)?;
            let half = self.shaped(op, half, &[rows, cols])?;
            self.give(op, old, half)?;
        }
        self.program.erase(op)
    }

    /// Where a part begins and how far it goes.
    fn starts_of(&self, op: Op, operand: usize) -> Edit<[u32; MAX_RANK]> {
        let mut starts = [0; MAX_RANK];
        for (at, value) in starts.iter_mut().zip(self.program.subscripts(op, operand)) {
            let start = self.program.int(value).and_then(|start| u32::try_from(start).ok());
            *at = start.ok_or(ErrorKind::RankForm)?;
        }
        Ok(starts)
    }

    /// A part taken out of a tile, or put into one: of the matrices that it meets their part.
    pub(crate) fn part(&mut self, op: Op) -> Edit {
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let last = self.program.operand_count(op).checked_sub(1).ok_or(ErrorKind::Broken)?;
        let whole = self.program.operand(op, last).ok_or(ErrorKind::Broken)?;
        let is_put = last > 0;
        let small = if is_put { self.program.operand(op, 0) } else { Some(result) };
        let small = small.ok_or(ErrorKind::Broken)?;
        let (Some(a), Some(b)) = (self.batch(whole), self.batch(small)) else {
            return Err(ErrorKind::RankForm);
        };
        if a.front() != b.front() {
            return Err(ErrorKind::RankForm);
        }
        let made = if is_put { a } else { b };
        made.few()?;
        let starts = self.starts_of(op, last)?;
        let front = a.front();
        let inner = [front, front.saturating_add(1)].map(|at| starts.get(at).copied().unwrap_or(0));
        let stack = self.open_stack()?;
        for number in 0..made.count {
            let own = if is_put {
                let at = self.matrix(op, whole, number)?;
                match inside(b, a.place(number), starts) {
                    Some(place) => {
                        let part = self.matrix(op, small, b.number(&place))?;
                        self.put(op, part, at, inner)?
                    }
                    None => at,
                }
            } else {
                let mut place = b.place(number);
                for (at, start) in place.iter_mut().zip(starts).take(front) {
                    *at = at.checked_add(start).ok_or(ErrorKind::Extent)?;
                }
                let reaches = |dimension: usize| {
                    let at = place.get(dimension).copied();
                    a.shape.extent(dimension).zip(at).is_some_and(|(extent, at)| at < extent)
                };
                if !(0..front).all(reaches) {
                    return Err(ErrorKind::RankForm);
                }
                let from = self.matrix(op, whole, a.number(&place))?;
                self.taken(op, from, inner, [b.rows, b.cols])?
            };
            self.push(stack, own)?;
        }
        self.close_stack(stack, op, result)?;
        self.program.erase(op)
    }
}

/// One column of so many rows.
fn column(rows: u32) -> Edit<Shape> {
    Shape::of(&[rows, 1]).ok_or(ErrorKind::Extent)
}

/// Where a place of a tile is in a part of it that begins somewhere, if it is there.
fn inside(part: Batch, place: [u32; MAX_RANK], starts: [u32; MAX_RANK]) -> Option<[u32; MAX_RANK]> {
    let mut out = [0; MAX_RANK];
    for (dimension, at) in out.iter_mut().enumerate().take(part.front()) {
        let own = place.get(dimension)?.checked_sub(*starts.get(dimension)?)?;
        if own >= part.shape.extent(dimension)? {
            return None;
        }
        *at = own;
    }
    Some(out)
}
