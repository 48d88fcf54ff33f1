//! Signatures: what operands, results, regions and attributes of each role must agree in.

mod control_flow;
mod storage_views;

use crate::attr::AttrValue;
use crate::attr_names;
use crate::error::{ErrorKind, ValueSlot, WantedType};
use crate::handle::{Op, TextRef, Value};
use crate::program::Program;
use crate::types::{MAX_RANK, Shape, TileEncoding, Type, TypeKind};
use crate::verify::explicit_types;
use crate::verify::structure::small;
use lanebook_tables::{DtypeKind, IndexWord, OpRole};

type VerifyResult = Result<(), ErrorKind>;

/// Most work items a block can be declared with; the architecture's own limit is checked when one
/// is chosen.
const MAX_THREADS: i64 = 65_536;

pub(crate) fn signature(program: &Program<'_, '_>, op: Op, role: OpRole) -> VerifyResult {
    let at = OpTypes { program, op };
    at.layouts()?;
    at.subscripts()?;
    match role {
        OpRole::Function => at.function(),
        OpRole::Alloc => at.reserved(),
        OpRole::Constant => at.constant(),
        OpRole::Copy => at.moved(ValueSlot::Operand(0), ValueSlot::Operand(1)),
        OpRole::Load => {
            at.kind(ValueSlot::Operand(0), WantedType::Memory)?;
            if at.ty(ValueSlot::Operand(0)).kind == TypeKind::Other {
                return Ok(());
            }
            // A number, which has no mask.
            if at.ty(ValueSlot::Result(0)).kind == TypeKind::Scalar && program.operand_count(op) < 2
            {
                return at.dtypes(ValueSlot::Operand(0), ValueSlot::Result(0));
            }
            at.kind(ValueSlot::Result(0), WantedType::Tile)?;
            at.masked(ValueSlot::Result(0))?;
            at.moved(ValueSlot::Operand(0), ValueSlot::Result(0))
        }
        // Through one pointer goes, as it comes, whatever it points to.
        OpRole::Store if at.ty(ValueSlot::Operand(0)).kind == TypeKind::Other => Ok(()),
        // Through a tile of pointers, which stands in front.
        OpRole::Store if at.ty(ValueSlot::Operand(0)).is_kept() => {
            at.kind(ValueSlot::Operand(1), WantedType::Tile)?;
            at.masked(ValueSlot::Operand(0))?;
            at.same(ValueSlot::Operand(0), ValueSlot::Operand(1), false)
        }
        OpRole::Store
            if at.ty(ValueSlot::Operand(0)).kind == TypeKind::Scalar
                && program.operand_count(op) < 3 =>
        {
            at.kind(ValueSlot::Operand(1), WantedType::Memory)?;
            at.dtypes(ValueSlot::Operand(0), ValueSlot::Operand(1))
        }
        OpRole::Atomic if at.is_through_pointers() => at.combined(),
        OpRole::Store | OpRole::Atomic => {
            at.kind(ValueSlot::Operand(0), WantedType::Tile)?;
            at.kind(ValueSlot::Operand(1), WantedType::Memory)?;
            at.masked(ValueSlot::Operand(0))?;
            if program.compared_tile(op).is_some() {
                at.same(ValueSlot::Operand(0), ValueSlot::Operand(2), true)?;
            }
            if program.result(op, 0).is_some() {
                at.same(ValueSlot::Operand(0), ValueSlot::Result(0), true)?;
            }
            at.moved(ValueSlot::Operand(0), ValueSlot::Operand(1))
        }
        OpRole::Matrix => at.matrix(),
        OpRole::Convert => at.same(ValueSlot::Operand(0), ValueSlot::Result(0), true),
        OpRole::Transpose => at.transpose(),
        OpRole::Reshape | OpRole::Permute => at.reshape(),
        OpRole::Join => [ValueSlot::Operand(0), ValueSlot::Operand(1)]
            .into_iter()
            .try_for_each(|half| at.halves(ValueSlot::Result(0), half)),
        OpRole::Split => [ValueSlot::Result(0), ValueSlot::Result(1)]
            .into_iter()
            .try_for_each(|half| at.halves(ValueSlot::Operand(0), half)),
        OpRole::Reduce => at.reduces(),
        OpRole::Scan => at.same(ValueSlot::Operand(0), ValueSlot::Result(0), true),
        OpRole::Broadcast => at.broadcast(),
        OpRole::Elementwise => at.elementwise(),
        OpRole::Select => at.select(),
        OpRole::View if at.ty(ValueSlot::Operand(0)).is_fragment() => at.alias_of_fragment(),
        OpRole::View if at.is_alias_in_loops() => at.alias_of_shared(),
        OpRole::View | OpRole::Slice => at.dtypes(ValueSlot::Operand(0), ValueSlot::Result(0)),
        OpRole::For | OpRole::Parallel => at.counted(),
        OpRole::If => at.branches(),
        OpRole::While => at.while_loop(),
        OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch => {
            match program.body(op).and_then(|body| program.terminator(body)) {
                Some(_) => at.passes_out(program.body(op)),
                None => Ok(()),
            }
        }
        OpRole::Yield | OpRole::Condition | OpRole::Return => match program.parent(op) {
            Some(_) => Ok(()),
            None if program.arguments(program.root()).next().is_some() => Ok(()),
            None => Err(ErrorKind::Misplaced),
        },
        OpRole::ElementLoad => at.element(ValueSlot::Operand(0), ValueSlot::Result(0), 0),
        OpRole::ElementStore => at.element(ValueSlot::Operand(1), ValueSlot::Operand(0), 1),
        OpRole::Fill => {
            at.kind(ValueSlot::Operand(1), WantedType::Buffer)?;
            at.scalar_of(ValueSlot::Operand(1), ValueSlot::Operand(0))
        }
        OpRole::ReduceInto => {
            at.kind(ValueSlot::Operand(0), WantedType::Buffer)?;
            at.kind(ValueSlot::Operand(1), WantedType::Buffer)?;
            at.reduce(ValueSlot::Operand(1))
        }
        OpRole::ProductInto => at.product_into(),
        OpRole::Index => at.counted_tile(),
        OpRole::Call => at.call(),
        OpRole::Fence | OpRole::Wait | OpRole::Pragma | OpRole::Opaque => Ok(()),
    }
}

/// Whether a function's number of threads, if it says one, is a number that a block can have.
pub(crate) fn says_threads(program: &Program<'_, '_>, function: Op) -> bool {
    matches!(
        program.attr(function, attr_names::THREADS),
        None | Some(AttrValue::Int(1..=MAX_THREADS, _))
    )
}

/// What a parameter promises of itself that it cannot.
pub(crate) fn has_wrong_promise(
    program: &Program<'_, '_>,
    parameter: Value,
) -> Option<&'static str> {
    let wrong = |(key, power): &(&str, bool)| match program.value_attr(parameter, key) {
        None => false,
        Some(AttrValue::Int(value, _)) => value <= 0 || (*power && value.count_ones() != 1),
        Some(_) => true,
    };
    [(attr_names::ALIGN, true), (attr_names::STRIDE_DIV, false), (attr_names::DIV, false)]
        .into_iter()
        .find(wrong)
        .map(|(key, _)| key)
}

const fn small_slot(number: usize) -> u8 {
    if number > 255 { u8::MAX } else { number as u8 }
}

/// An operation being checked.
#[derive(Copy, Clone)]
struct OpTypes<'a, 's, 't> {
    program: &'a Program<'s, 't>,
    op: Op,
}

impl OpTypes<'_, '_, '_> {
    fn value(self, slot: ValueSlot) -> Option<Value> {
        let program = self.program;
        let body = program.body(self.op);
        match slot {
            ValueSlot::Operand(number) => program.operand(self.op, usize::from(number)),
            ValueSlot::Result(number) => program.result(self.op, usize::from(number)),
            ValueSlot::Argument(number) => program.arguments(body?).nth(usize::from(number)),
            ValueSlot::Yielded(number) => {
                program.operand(program.terminator(body?)?, usize::from(number))
            }
        }
    }
    fn ty(self, slot: ValueSlot) -> Type {
        self.value(slot).map_or(Type::ELIDED, |value| self.program.type_of(value))
    }
    /// A type that says its shape.
    fn tile(self, slot: ValueSlot) -> Option<Type> {
        Some(self.ty(slot)).filter(|ty| ty.is_tile() && ty.shape.is_known())
    }
    /// The same, or a number, which has no dimensions.
    fn shaped(self, slot: ValueSlot) -> Option<Type> {
        self.tile(slot).or(Some(self.ty(slot)).filter(|ty| ty.kind == TypeKind::Scalar))
    }
    fn satisfies(ty: &Type, want: WantedType) -> bool {
        match want {
            _ if matches!(ty.kind, TypeKind::Elided | TypeKind::Other) => true,
            WantedType::Tile => ty.is_tile(),
            WantedType::Memory => {
                ty.is_memory() || ty.is_kept() || (ty.is_tile() && !ty.shape.is_known())
            }
            WantedType::Buffer => {
                ty.is_memory() || ty.is_fragment() || (ty.is_tile() && !ty.shape.is_known())
            }
            WantedType::Registers => ty.is_tile() && !ty.is_memory(),
            WantedType::Index | WantedType::Condition => {
                matches!(ty.kind, TypeKind::Index | TypeKind::Scalar)
            }
            WantedType::Matrix => {
                ty.is_tile() && (!ty.shape.is_known() || matches!(ty.shape.rank(), 2 | 3))
            }
        }
    }
    fn kind(self, slot: ValueSlot, want: WantedType) -> VerifyResult {
        if Self::satisfies(&self.ty(slot), want) {
            return Ok(());
        }
        Err(match slot {
            ValueSlot::Result(number) => ErrorKind::ResultKind { result: u16::from(number), want },
            ValueSlot::Operand(number)
            | ValueSlot::Argument(number)
            | ValueSlot::Yielded(number) => {
                ErrorKind::OperandKind { operand: u16::from(number), want }
            }
        })
    }
    fn dtypes(self, left: ValueSlot, right: ValueSlot) -> VerifyResult {
        match (self.shaped(left), self.shaped(right)) {
            (Some(a), Some(b)) if a.dtype != b.dtype => {
                Err(ErrorKind::Dtypes { left, right, a: a.dtype, b: b.dtype })
            }
            _ => Ok(()),
        }
    }
    fn extents(
        self,
        left: ValueSlot,
        left_dimension: usize,
        right: ValueSlot,
        right_dimension: usize,
    ) -> VerifyResult {
        let (Some(a), Some(b)) = (self.tile(left), self.tile(right)) else { return Ok(()) };
        match (a.shape.extent(left_dimension), b.shape.extent(right_dimension)) {
            (Some(a), Some(b)) if a != b => {
                let (left_dimension, right_dimension) =
                    (left_dimension as u8, right_dimension as u8);
                Err(ErrorKind::Extents { left, left_dimension, right, right_dimension, a, b })
            }
            _ => Ok(()),
        }
    }
    fn ranks(self, left: ValueSlot, right: ValueSlot, difference: usize) -> VerifyResult {
        let (Some(a), Some(b)) = (self.shaped(left), self.shaped(right)) else { return Ok(()) };
        if a.shape.rank() == b.shape.rank().saturating_add(difference) {
            return Ok(());
        }
        Err(ErrorKind::Ranks { left, right, a: a.shape.rank() as u8, b: b.shape.rank() as u8 })
    }
    /// A mask has a truth for each element that is moved, and what stands in the place of others an
    /// element for each.
    fn masked(self, moved: ValueSlot) -> VerifyResult {
        let Some(mask) = self.program.mask_number(self.op) else { return Ok(()) };
        self.same(ValueSlot::Operand(mask), moved, false)?;
        match self.program.other(self.op) {
            Some(_) => self.same(ValueSlot::Operand(mask.saturating_add(1)), moved, true),
            None => Ok(()),
        }
    }
    /// Whether what stands in front is a pointer, a tile of them, or one number: an atomic operation
    /// as others write it, or of one element.
    fn is_through_pointers(self) -> bool {
        let ty = self.ty(ValueSlot::Operand(0));
        ty.is_kept() || matches!(ty.kind, TypeKind::Other | TypeKind::Scalar)
    }
    /// Such an operation: a tile of pointers has the shape of what is combined.
    fn combined(self) -> VerifyResult {
        let ty = self.ty(ValueSlot::Operand(0));
        match ty.kind {
            TypeKind::Other => Ok(()),
            // A number, which becomes a tile of one element.
            TypeKind::Scalar => {
                self.kind(ValueSlot::Operand(1), WantedType::Memory)?;
                self.dtypes(ValueSlot::Operand(0), ValueSlot::Operand(1))
            }
            _ => {
                self.kind(ValueSlot::Operand(1), WantedType::Tile)?;
                self.same(ValueSlot::Operand(0), ValueSlot::Operand(1), false)
            }
        }
    }
    /// Same shape, and same element type if asked for.
    fn same(self, left: ValueSlot, right: ValueSlot, dtype: bool) -> VerifyResult {
        self.ranks(left, right, 0)?;
        for dimension in 0..MAX_RANK {
            self.extents(left, dimension, right, dimension)?;
        }
        if dtype { self.dtypes(left, right) } else { Ok(()) }
    }
    /// A tile of memory, and what is stored into it first.
    fn reserved(self) -> VerifyResult {
        self.kind(ValueSlot::Result(0), WantedType::Tile)?;
        match self.program.operand(self.op, 0) {
            Some(_) => self.moved(ValueSlot::Operand(0), ValueSlot::Result(0)),
            None => Ok(()),
        }
    }

    /// Whether elements may become others of another type on the way: in copies of functions of
    /// parallel loops.
    fn converts(self, from: ValueSlot, to: ValueSlot) -> bool {
        let parents = |at: &Op| self.program.parent(*at);
        let around = core::iter::successors(Some(self.op), parents).last();
        matches!((from, to), (ValueSlot::Operand(0), ValueSlot::Operand(1)))
            && self.dtypes(from, to).is_err()
            && around.is_some_and(|function| self.program.has_loops(function))
    }
    /// A tile goes from one place to another. A place with subscripts is larger than the tile and
    /// may have more dimensions.
    fn moved(self, from: ValueSlot, to: ValueSlot) -> VerifyResult {
        self.kind(from, WantedType::Tile)?;
        self.kind(to, WantedType::Tile)?;
        if self.ty(from).is_kept() || self.ty(to).is_kept() {
            // Through a tile of pointers, which has the tile's shape.
            return self.same(from, to, false);
        }
        let converts = self.converts(from, to);
        if !converts {
            self.dtypes(from, to)?;
        }
        // Rows chosen by an index tile have shapes of their own.
        if matches!((from, to), (_, ValueSlot::Result(_)))
            && self.program.operand_count(self.op) > 1
            || matches!((from, to), (ValueSlot::Operand(0), ValueSlot::Operand(1)))
                && self.program.operand_count(self.op) > 2
        {
            return Ok(());
        }
        let window = |slot| match slot {
            ValueSlot::Operand(number) => {
                self.program.subscripts(self.op, usize::from(number)).next().is_some()
            }
            _ => false,
        };
        match (window(from), window(to)) {
            (false, false) => self.same(from, to, !converts),
            (true, true) => Ok(()),
            (from_window, _) => {
                let (large, small) = if from_window { (from, to) } else { (to, from) };
                match (self.tile(large), self.tile(small)) {
                    (Some(a), Some(b)) if a.shape.rank() < b.shape.rank() => {
                        self.ranks(large, small, 0)
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    // ---- one role each
    fn constant(self) -> VerifyResult {
        let literal = self.value(ValueSlot::Operand(0)).map(|value| self.program.def(value));
        if matches!(literal, Some(crate::program::Def::Literal(_))) {
            Ok(())
        } else {
            Err(ErrorKind::ConstantLiteral)
        }
    }
    fn matrix(self) -> VerifyResult {
        let (a, b, c) = (ValueSlot::Operand(0), ValueSlot::Operand(1), ValueSlot::Operand(2));
        // One that adds to its third operand in place has that for a result, and at most a token
        // beside it.
        let in_place = self.tile(c).is_some_and(|ty| ty.is_memory())
            && self.tile(ValueSlot::Result(0)).is_none();
        let d = if in_place { c } else { ValueSlot::Result(0) };
        for slot in [a, b, c, d] {
            self.kind(slot, WantedType::Matrix)?;
        }
        // Products side by side have a first dimension of their own.
        let batch =
            self.tile(d).or_else(|| self.tile(a)).map_or(0, |ty| ty.shape.rank().saturating_sub(2));
        for slot in [a, b, c] {
            self.ranks(slot, d, 0)?;
            if batch > 0 {
                self.extents(slot, 0, d, 0)?;
            }
        }
        let (row, column) = (batch, batch.saturating_add(1));
        // Several elements of a narrower format may stand in one that is written.
        let packs = |key: &str, slot: ValueSlot| {
            let tables = self.program.tables();
            let named = match self.program.attr(self.op, key) {
                Some(AttrValue::Word(word)) => tables.dtype_named(self.program.text(word)),
                _ => None,
            };
            let bits = |dtype| tables.dtype(dtype).map(|it| it.bits);
            let written = self.tile(slot).and_then(|ty| bits(ty.dtype?));
            named.and_then(bits).zip(written).is_some_and(|(format, written)| format < written)
        };
        let packed = packs("lhs", a) || packs("rhs", b);
        if !packed {
            self.extents(a, column, b, row)?;
        }
        self.extents(a, row, d, row)?;
        self.extents(b, column, d, column)?;
        self.extents(c, row, d, row)?;
        self.extents(c, column, d, column)?;
        self.dtypes(c, d)?;
        if self.program.scales(self.op).is_some() {
            self.scales((row, column), packed)
        } else {
            Ok(())
        }
    }
    /// One scale for each row of A, and each column of B, and each run of their depth.
    fn scales(self, (row, column): (usize, usize), packed: bool) -> VerifyResult {
        let (a, b, of_a, of_b) = (
            ValueSlot::Operand(0),
            ValueSlot::Operand(1),
            ValueSlot::Operand(3),
            ValueSlot::Operand(4),
        );
        for slot in [of_a, of_b] {
            self.kind(slot, WantedType::Matrix)?;
            self.ranks(slot, a, 0)?;
        }
        if row > 0 {
            self.extents(of_a, 0, a, 0)?;
            self.extents(of_b, 0, b, 0)?;
        }
        self.extents(of_a, row, a, row)?;
        self.extents(of_b, row, b, column)?;
        self.extents(of_a, column, of_b, column)?;
        self.dtypes(of_a, of_b)?;
        let along = |slot| self.tile(slot).and_then(|tile| tile.shape.extent(column));
        match (along(a), along(of_a)) {
            (Some(depth), Some(blocks)) if !packed && depth.checked_rem(blocks) != Some(0) => {
                Err(ErrorKind::Blocks { depth, blocks })
            }
            _ => Ok(()),
        }
    }
    fn transpose(self) -> VerifyResult {
        let (from, to) = (ValueSlot::Operand(0), ValueSlot::Result(0));
        self.ranks(from, to, 0)?;
        self.dtypes(from, to)?;
        let Some(rank) = self.tile(from).map(|ty| ty.shape.rank()) else { return Ok(()) };
        let mut order = [0i64; MAX_RANK];
        let order = match self.program.attr(self.op, attr_names::ORDER) {
            Some(AttrValue::List(list)) => {
                self.program.list(list, &mut order).ok_or(ErrorKind::AttrValue)?
            }
            Some(_) => return Err(ErrorKind::AttrValue),
            None => {
                for (place, dimension) in order.iter_mut().zip((0..rank as i64).rev()) {
                    *place = dimension;
                }
                order.get(..rank).unwrap_or(&[])
            }
        };
        let mut seen = 0u32;
        for (dimension, source) in order.iter().enumerate() {
            let source = usize::try_from(*source)
                .ok()
                .filter(|source| *source < rank)
                .ok_or(ErrorKind::AttrValue)?;
            seen |= 1u32.checked_shl(source as u32).unwrap_or(0);
            self.extents(from, source, to, dimension)?;
        }
        if order.len() == rank && seen.count_ones() as usize == rank {
            Ok(())
        } else {
            Err(ErrorKind::AttrValue)
        }
    }
    fn reshape(self) -> VerifyResult {
        self.dtypes(ValueSlot::Operand(0), ValueSlot::Result(0))?;
        let elements = |slot| self.tile(slot).and_then(|ty| ty.shape.elements());
        match (elements(ValueSlot::Operand(0)), elements(ValueSlot::Result(0))) {
            (Some(a), Some(b)) if a != b => Err(ErrorKind::Elements { a, b }),
            _ => Ok(()),
        }
    }
    /// A tile whose last dimension has extent 2, and one of its halves.
    fn halves(self, whole: ValueSlot, half: ValueSlot) -> VerifyResult {
        self.ranks(whole, half, 1)?;
        self.dtypes(whole, half)?;
        let (Some(of), Some(ty)) = (self.tile(whole), self.tile(half)) else { return Ok(()) };
        for dimension in 0..ty.shape.rank() {
            self.extents(whole, dimension, half, dimension)?;
        }
        match (of.shape.elements(), ty.shape.elements()) {
            (Some(a), Some(b)) if b.checked_mul(2) != Some(a) => Err(ErrorKind::Elements { a, b }),
            _ => Ok(()),
        }
    }
    /// One element and the place that it lies in, which has a subscript for each dimension.
    fn element(self, place: ValueSlot, element: ValueSlot, number: usize) -> VerifyResult {
        self.kind(place, WantedType::Buffer)?;
        let ty = self.ty(place);
        let found = self.program.subscripts(self.op, number).count();
        if ty.is_tile() && ty.shape.is_known() && found != ty.shape.rank() {
            return Err(ErrorKind::Subscripts { rank: ty.shape.rank() as u8, found: small(found) });
        }
        self.scalar_of(place, element)
    }
    /// A scalar of the type of a buffer's elements, or a number.
    fn scalar_of(self, buffer: ValueSlot, element: ValueSlot) -> VerifyResult {
        let (ty, scalar) = (self.ty(buffer), self.ty(element));
        let literal = self.value(element).is_some_and(|value| {
            matches!(self.program.def(value), crate::program::Def::Literal(_))
        });
        if literal || scalar.is_elided() || ty.is_elided() || !ty.shape.is_known() {
            return Ok(());
        }
        self.kind(element, WantedType::Index)?;
        if ty.dtype == scalar.dtype {
            return Ok(());
        }
        Err(ErrorKind::Dtypes { left: element, right: buffer, a: scalar.dtype, b: ty.dtype })
    }
    /// Rows and columns of the operands, turned where the operation says so.
    fn product_into(self) -> VerifyResult {
        let (a, b, c) = (ValueSlot::Operand(0), ValueSlot::Operand(1), ValueSlot::Operand(2));
        for slot in [a, b, c] {
            self.kind(slot, WantedType::Buffer)?;
            self.kind(slot, WantedType::Matrix)?;
            self.ranks(slot, c, 0)?;
        }
        let turned = |key| usize::from(self.program.has_attr(self.op, key));
        let (of_a, of_b) = (turned(attr_names::TRANSPOSE_A), turned(attr_names::TRANSPOSE_B));
        let other = |k: usize| 1usize.saturating_sub(k);
        self.extents(a, of_a, c, 0)?;
        self.extents(b, other(of_b), c, 1)?;
        self.extents(a, other(of_a), b, of_b)
    }
    /// One tile, or, where one says which elements of the other stay, two.
    fn reduces(self) -> VerifyResult {
        self.reduce(ValueSlot::Result(0))?;
        let program = self.program;
        let Some(AttrValue::Word(kind) | AttrValue::Str(kind) | AttrValue::Text(kind)) =
            program.attr(self.op, attr_names::KIND)
        else {
            return Ok(());
        };
        let both = matches!(program.text(kind), attr_names::ARGMAX | attr_names::ARGMIN);
        let (count, found) = (if both { 2 } else { 1 }, program.operand_count(self.op));
        if found != usize::from(count) {
            return Err(ErrorKind::OperandCount { least: count, most: count, found: small(found) });
        }
        let found = program.results(self.op).count();
        if found != usize::from(count) {
            return Err(ErrorKind::ResultCount { least: count, most: count, found: small(found) });
        }
        if !both {
            return Ok(());
        }
        self.same(ValueSlot::Operand(0), ValueSlot::Operand(1), false)?;
        self.same(ValueSlot::Result(0), ValueSlot::Result(1), false)?;
        self.dtypes(ValueSlot::Operand(1), ValueSlot::Result(1))
    }
    fn reduce(self, to: ValueSlot) -> VerifyResult {
        let from = ValueSlot::Operand(0);
        let Some(tile) = self.tile(from) else { return Ok(()) };
        // The dimension may also be left, with one element, unless an attribute says which it is.
        let says = self.program.flag(self.op, attr_names::KEEP_DIMS);
        let left = self.tile(to).is_some_and(|to| to.shape.rank() == tile.shape.rank());
        let is_named = self.program.has_attr(self.op, attr_names::AXIS);
        let left = says.unwrap_or(left && (is_named || to == ValueSlot::Operand(1)));
        self.ranks(from, to, usize::from(!left))?;
        self.dtypes(from, to)?;
        let Some(axis) = self.program.attr(self.op, attr_names::AXIS) else { return Ok(()) };
        let AttrValue::Int(axis, _) = axis else { return Err(ErrorKind::AttrValue) };
        let axis = usize::try_from(axis)
            .ok()
            .filter(|axis| *axis < tile.shape.rank())
            .ok_or(ErrorKind::AttrValue)?;
        for dimension in (0..tile.shape.rank()).filter(|dimension| *dimension != axis) {
            let kept =
                if dimension > axis && !left { dimension.saturating_sub(1) } else { dimension };
            self.extents(from, dimension, to, kept)?;
        }
        let one = self.tile(to).and_then(|to| to.shape.extent(axis)) == Some(1);
        if left && !one { self.ranks(from, to, 1) } else { Ok(()) }
    }
    /// A tile of coordinates has as many along its dimension as its attributes say; one that is an
    /// index has one element, a word or a truth.
    fn counted_tile(self) -> VerifyResult {
        let program = self.program;
        if program.index_word(self.op) == Some(IndexWord::Uniform) {
            let tile = self.tile(ValueSlot::Operand(0)).filter(|ty| !ty.is_memory());
            let dtype = tile.and_then(|ty| program.tables().dtype(ty.dtype?));
            let is_index = dtype.is_some_and(|dtype| match dtype.kind {
                DtypeKind::Signed | DtypeKind::Unsigned => dtype.bits == 32,
                _ => dtype.bits == 1,
            });
            let is_one = tile.is_some_and(|ty| Some(ty.shape) == Shape::of(&[1]));
            return if is_one && is_index {
                Ok(())
            } else {
                Err(ErrorKind::OperandKind { operand: 0, want: WantedType::Index })
            };
        }
        let is_made = program.index_word(self.op).is_none() && program.operand_count(self.op) == 0;
        let is_known = is_made && self.tile(ValueSlot::Result(0)).is_some();
        if is_known && program.coordinates(self.op).is_none() {
            return Err(ErrorKind::AttrValue);
        }
        Ok(())
    }
    fn broadcast(self) -> VerifyResult {
        let (from, to) = (ValueSlot::Operand(0), ValueSlot::Result(0));
        if let (Some(tile), TypeKind::Scalar) = (self.tile(to), self.ty(from).kind)
            && self.ty(from).dtype.is_some_and(|dtype| tile.dtype != Some(dtype))
        {
            let (a, b) = (self.ty(from).dtype, tile.dtype);
            return Err(ErrorKind::Dtypes { left: from, right: to, a, b });
        }
        let (Some(a), Some(b)) = (self.tile(from), self.tile(to)) else { return Ok(()) };
        self.dtypes(from, to)?;
        if a.shape.rank() > b.shape.rank() {
            return self.ranks(from, to, 0);
        }
        if a.shape.rank() == b.shape.rank() {
            for dimension in
                (0..a.shape.rank()).filter(|dimension| a.shape.extent(*dimension) != Some(1))
            {
                self.extents(from, dimension, to, dimension)?;
            }
        }
        Ok(())
    }
    fn elementwise(self) -> VerifyResult {
        let count = u8::try_from(self.program.operand_count(self.op)).unwrap_or(u8::MAX);
        let truth = self.program.decl(self.op).is_some_and(|decl| decl.truth);
        for number in 0..count {
            // One operand: the element type may change (a cast).
            self.same(ValueSlot::Operand(number), ValueSlot::Result(0), count > 1 && !truth)?;
            if truth {
                self.dtypes(ValueSlot::Operand(number), ValueSlot::Operand(0))?;
            }
        }
        if truth {
            return self.condition(ValueSlot::Result(0));
        }
        self.same_bits()
    }
    /// The bits of a tile as another type: of as many bits.
    fn same_bits(self) -> VerifyResult {
        let (from, to) = (ValueSlot::Operand(0), ValueSlot::Result(0));
        let bits = |slot| {
            let dtype = self.program.tables().dtype(self.shaped(slot)?.dtype?)?;
            Some((dtype.bits, dtype.held))
        };
        match bits(from).zip(bits(to)) {
            Some((a, b)) if a != b && self.program.decl(self.op).is_some_and(|d| d.same_bits) => {
                let (a, b) = (self.ty(from).dtype, self.ty(to).dtype);
                Err(ErrorKind::Dtypes { left: from, right: to, a, b })
            }
            _ => Ok(()),
        }
    }
    fn condition(self, slot: ValueSlot) -> VerifyResult {
        let ty = self.ty(slot);
        let one_bit = ty
            .dtype
            .and_then(|dtype| self.program.tables().dtype(dtype))
            .is_none_or(|dtype| dtype.bits == 1);
        let scalar = matches!(
            ty.kind,
            TypeKind::Scalar | TypeKind::Tensor | TypeKind::Elided | TypeKind::Other
        );
        if scalar && one_bit {
            Ok(())
        } else {
            Err(ErrorKind::OperandKind { operand: 0, want: WantedType::Condition })
        }
    }
    fn select(self) -> VerifyResult {
        self.condition(ValueSlot::Operand(0))?;
        for number in [1, 2] {
            let (left, right) = (ValueSlot::Operand(number), ValueSlot::Result(0));
            if !self.ty(left).agrees(&self.ty(right)) {
                self.same(left, right, true)?;
                return Err(ErrorKind::Types { left, right });
            }
        }
        Ok(())
    }
    fn function(self) -> VerifyResult {
        if self.program.symbol(self.op).is_empty() {
            return Err(ErrorKind::AttrValue);
        }
        let promised = |parameter| has_wrong_promise(self.program, parameter).is_none();
        if !says_threads(self.program, self.op) || !self.program.parameters(self.op).all(promised) {
            return Err(ErrorKind::AttrValue);
        }
        Ok(())
    }
    fn types_agree(self, left: ValueSlot, right: ValueSlot) -> VerifyResult {
        let (a, b) = (self.ty(left), self.ty(right));
        if a.agrees(&b) && (a.is_elided() || b.is_elided() || self.program.encodings_agree(&a, &b))
        {
            return Ok(());
        }
        Err(ErrorKind::Types { left, right })
    }
    // ---- everywhere
    fn subscripts(self) -> VerifyResult {
        let program = self.program;
        // What they mean to another system's operation is its own; a product in place has a truth
        // value behind each barrier.
        // So does what stands behind one pointer, which is moved by a tile.
        let is_pointer =
            program.operands(self.op).any(|value| program.type_of(value).kind == TypeKind::Other);
        if program.decl_id(self.op).is_none()
            || program.role(self.op) == OpRole::Matrix
            || is_pointer
        {
            return Ok(());
        }
        for (number, value) in program.operands(self.op).enumerate() {
            // A token stands among the subscripts of a place, and says nothing of where in it.
            let found = program
                .subscripts(self.op, number)
                .filter(|value| program.type_of(*value).kind != TypeKind::Other)
                .count();
            let unknown =
                program.subscripts(self.op, number).any(|value| program.type_of(value).is_elided());
            if found == 0 || unknown {
                continue;
            }
            let ty = program.type_of(value);
            // A view may look at one of a row of tiles.
            let fits = ty.shape.rank() == found
                || program.role(self.op) == OpRole::View && found < ty.shape.rank();
            if ty.is_tile() && ty.shape.is_known() && !fits {
                return Err(ErrorKind::Subscripts {
                    rank: ty.shape.rank() as u8,
                    found: small(found),
                });
            }
            let index = |value: Value| Self::satisfies(&program.type_of(value), WantedType::Index);
            if !ty.is_elided() && !ty.is_tile() && ty.kind != TypeKind::Other
                || !program.subscripts(self.op, number).all(index)
            {
                return Err(ErrorKind::OperandKind {
                    operand: small(number),
                    want: if ty.is_tile() { WantedType::Index } else { WantedType::Tile },
                });
            }
        }
        Ok(())
    }
    /// Written layouts cover their tiles: of results, of the arguments of regions, and of the
    /// attribute `layout`.
    fn layouts(self) -> VerifyResult {
        let program = self.program;
        for value in program.results(self.op) {
            self.encoding(&program.type_of(value))?;
        }
        for block in program.regions(self.op).flat_map(|region| program.blocks(region)) {
            for value in program.arguments(block) {
                self.encoding(&program.type_of(value))?;
            }
        }
        match program.attr(self.op, attr_names::LAYOUT) {
            Some(AttrValue::Layout(text)) => {
                let tile =
                    self.tile(ValueSlot::Result(0)).or_else(|| self.tile(ValueSlot::Operand(0)));
                tile.map_or(Ok(()), |tile| self.covers(program.text(text), &tile))
            }
            Some(AttrValue::Alias(name)) => {
                self.alias(name, self.tile(ValueSlot::Result(0)).as_ref())
            }
            _ => Ok(()),
        }
    }
    fn alias(self, name: TextRef, tile: Option<&Type>) -> VerifyResult {
        match (self.program.alias(self.program.text(name)), tile) {
            (Some(text), Some(tile)) => self.covers(text, tile),
            _ => Ok(()),
        }
    }
    fn encoding(self, ty: &Type) -> VerifyResult {
        match ty.encoding {
            _ if !ty.is_tile() => Ok(()),
            TileEncoding::Written(text) => self.covers(self.program.text(text), ty),
            TileEncoding::Alias(name) => self.alias(name, Some(ty)),
            TileEncoding::Interned(at, len) => self.covers(self.program.pools.made(at, len), ty),
            TileEncoding::None | TileEncoding::Handle(_) => Ok(()),
        }
    }
    fn covers(self, layout: &str, ty: &Type) -> VerifyResult {
        match (explicit_types::elements(layout), ty.shape.elements()) {
            (explicit_types::Size::Unreadable, _) => Err(ErrorKind::LayoutText),
            (explicit_types::Size::Elements(layout), Some(tile)) if layout != tile => {
                Err(ErrorKind::LayoutSize { layout, tile })
            }
            _ => Ok(()),
        }
    }
}
