//! Atomic operations on tiles whose elements cannot be dealt out, the same number to each thread,
//! as operations on larger tiles.
//!
//! Of threads that hold the same element one may combine it, and only that one would know what was
//! there, or would have to be the one that a mask speaks of. So each element is put into as many
//! neighbours as make the tile large enough, an index says of all of them where it belongs, and the
//! first of them alone takes part: where a memref has no bounds a mask says so, and where it has
//! some, the others count as outside. What stood there is then the only one of its neighbours that
//! is not 0, and their sum, as whole numbers, is it.

use crate::select::before::{Before, WORD};
use lanebook_ir::{AttrValue, Literal, MemrefBound, Op, Program, Type, Value, attr_names};
use lanebook_tables::{Arch, Capability, OpRole, Tables};
use lanebook_tile::copy_atom::CopyAtom;

/// Operands of an atomic operation behind its memref, at the most.
const BESIDE: usize = 3;

/// Along which dimension of the larger tile the neighbours lie.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Along {
    /// The only one.
    Line,
    /// That of the columns.
    Columns,
    /// That of the rows.
    Rows,
    /// That of rows which a tile of one dimension gets.
    NewRows,
}

impl Along {
    /// The dimension of the tile.
    const fn axis(self) -> u8 {
        matches!(self, Self::Columns) as u8
    }

    /// How many dimensions of the memref are behind that along which an index then counts.
    const fn inner(self) -> usize {
        matches!(self, Self::Rows | Self::NewRows) as usize
    }
}

/// How an operation's tile becomes larger.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Larger {
    along: Along,
    /// The dimension of the memref along which an index counts.
    dim: u8,
    rows: u32,
    cols: u32,
    /// How many neighbours an element has there, itself among them: a power of two.
    copies: u32,
    /// Whether the memref's bounds leave out the others.
    bounded: bool,
}

/// What is needed to make the operation what it was.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Enlarged {
    tile: Value,
    beside: [Option<Value>; BESIDE],
    /// The last operation behind it, which makes what its readers read.
    last: Option<Op>,
    ty: Option<Type>,
    had_axis: bool,
}

impl Enlarged {
    /// Those that stand behind the operation, last first.
    pub(crate) fn behind<'p>(
        &self,
        program: &'p Program<'_, '_>,
        op: Op,
    ) -> impl Iterator<Item = Op> + 'p {
        core::iter::successors(self.last, |at| program.previous(*at))
            .take_while(move |at| *at != op)
    }
}

/// How the tile of an atomic operation becomes larger, where it has to and can.
#[inline(never)]
pub(crate) fn larger(
    program: &Program<'_, '_>,
    (tables, arch): (&Tables<'_>, Option<&Arch<'_>>),
    op: Op,
    function: Op,
) -> Option<Larger> {
    let owned = program.mask(op).is_some() || program.answer(op).is_some();
    if program.role(op) != OpRole::Atomic || !owned {
        return None;
    }
    let threads = program.int_attr(function, attr_names::THREADS)?;
    let threads = u32::try_from(threads).ok().filter(|n| n.is_power_of_two())?;
    let (ty, memref) = (program.type_of(program.operand(op, 0)?), program.operand(op, 1)?);
    let elements = u32::try_from(ty.shape.elements()?).ok().filter(|n| *n > 0)?;
    let bits = program.tables().dtype(ty.dtype?)?.bits;
    // Elements of fewer bits than a register are combined by pairs, unless the machine does one by one: a
    // thread that does holds two of them at the least.
    let is_alone = bits >= WORD || arch.is_some_and(|arch| has_single(program, tables, arch, op));
    let pair = if is_alone { 1 } else { WORD.checked_div(bits)?.max(1) };
    let threads = threads.checked_mul(u32::from(pair))?;
    let places = elements.trailing_zeros().min(threads.trailing_zeros());
    let copies = threads.checked_shr(places).filter(|n| *n > 1)?;
    let _ = elements.checked_mul(copies)?;
    let (rows, cols, is_line) = match ty.shape.rank() {
        1 => (1, ty.shape.extent(0)?, true),
        2 => ty.shape.pair().map(|(rows, cols)| (rows, cols, false))?,
        _ => return None,
    };
    let ways = if is_line { [Along::Line, Along::NewRows] } else { [Along::Columns, Along::Rows] };
    let rank = program.type_of(memref).shape.rank();
    let bounds = program.bounds_beside_mask(op, 1);
    let found = |along: Along| {
        let dim = rank.checked_sub(along.inner())?.checked_sub(1)?;
        // Under another shape rows keep their registers where they are a power of two wide.
        let keeps = match along {
            Along::Line | Along::NewRows => true,
            Along::Columns => rows == 1 || cols.is_power_of_two(),
            Along::Rows => cols == 1 || rows.is_power_of_two(),
        };
        // Pairs of elements share an index.
        let fits = is_alone || along.inner() > 0;
        let counts = program.indexed_dim(op).is_none_or(|own| usize::from(own) == dim);
        let bounded = bounds.as_ref().map(|bounds| bounds.get(dim).copied());
        let is_told = match bounded {
            None => true,
            Some(bound) => bound.is_some_and(|bound| bound != MemrefBound::None),
        };
        let dim = u8::try_from(dim).ok()?;
        let bounded = bounded.is_some();
        let larger = Larger { along, dim, rows, cols, copies, bounded };
        (keeps && fits && counts && is_told).then_some(larger)
    };
    ways.iter().copied().find_map(found)
}

/// Whether the architecture combines the elements of an operation's tile one by one.
#[inline(never)] // Copy atoms leave the stack when this is done.
fn has_single(program: &Program<'_, '_>, tables: &Tables<'_>, arch: &Arch<'_>, op: Op) -> bool {
    let tile = program.operand(op, 0).map(|tile| program.type_of(tile));
    let dtype = tile.and_then(|ty| ty.dtype);
    let Some((kind, dtype)) = program.atomic_op(op).zip(dtype) else { return false };
    let bits = tables.dtype(dtype).map(|own| u32::from(own.bits));
    let answers = program.answer(op).is_some();
    let able = arch.dispatch(Capability::Atomic { op: kind, dtype, answers });
    able.iter().any(|id| {
        let own = tables.atom(*id).and_then(|atom| CopyAtom::of(*id, atom));
        own.is_some_and(|own| own.share_bytes.checked_mul(8) == bits)
    })
}

/// Makes the tile of an operation larger; `None` where the program has no room for it, and is as it
/// was.
#[inline(never)]
pub(crate) fn put(program: &mut Program<'_, '_>, op: Op, how: Larger) -> Option<Enlarged> {
    let mark = program.mark();
    let made = enlarged(program, op, how);
    match made {
        Some(_) => program.keep(mark),
        None => program.undo(mark),
    }
    made
}

fn enlarged(program: &mut Program<'_, '_>, op: Op, how: Larger) -> Option<Enlarged> {
    let tile = program.operand(op, 0)?;
    let had_axis = program.has_attr(op, attr_names::AXIS);
    let mut beside = [None; BESIDE];
    for (slot, number) in beside.iter_mut().zip(2usize..) {
        *slot = program.operand(op, number);
    }
    let (compared, index, mask) =
        (program.compared_tile(op), program.index_tile(op), program.mask(op));
    let before = &mut Before { program, op };
    let wide = how.spread(before, tile)?;
    let compared = match compared {
        Some(compared) => Some(how.spread(before, compared)?),
        None => None,
    };
    let is_first = how.is_first(before)?;
    let words = Type::tensor(before.program.type_of(wide).shape, before.word()?);
    let mut index = match index {
        Some(index) => {
            let index = before.words(index)?;
            how.spread(before, index)?
        }
        None => how.index(before)?,
    };
    let mut only = Some(is_first);
    if how.bounded {
        let outside = before.program.literal_value(Literal::Int(i64::from(i32::MIN))).ok()?;
        let outside = before.of(OpRole::Constant, &[outside], words)?;
        index = before.of(OpRole::Select, &[is_first, index, outside], words)?;
        only = None;
    }
    if let Some(mask) = mask {
        let own = before.program.type_of(mask).shape;
        let narrow = Type::tensor(own, before.word()?);
        let (one, zero) = (before.number(1, narrow)?, before.number(0, narrow)?);
        let taken = before.of(OpRole::Select, &[mask, one, zero], narrow)?;
        let taken = how.spread(before, taken)?;
        let zeros = before.number(0, words)?;
        let taken = before.of(OpRole::Select, &[is_first, taken, zeros], words)?;
        let ty = before.program.type_of(is_first);
        only = Some(before.named("compare.ne", &[taken, zeros], ty)?);
    }
    program.set_operand(op, 0, wide).ok()?;
    remove_beside(program, op)?;
    for value in [compared, Some(index), only].into_iter().flatten() {
        program.add_operand(op, value).ok()?;
    }
    let dim = AttrValue::Int(i64::from(how.dim), None);
    program.set_attr(op, attr_names::AXIS, dim).ok()?;
    let mut out = Enlarged { tile, beside, last: None, ty: None, had_axis };
    let Some(result) = program.result(op, 0) else { return Some(out) };
    let ty = program.type_of(result);
    out.ty = Some(ty);
    if program.uses(result).next().is_some() {
        out.last = Some(behind(program, op, tile, ty)?);
    }
    let shape = program.type_of(wide).shape;
    program.set_type(result, Type::tensor(shape, ty.dtype?)).ok()?;
    if let Some(last) = out.last {
        let before = &mut Before { program, op: last };
        let old = how.narrowed(before, result, Type::tensor(ty.shape, ty.dtype?))?;
        program.set_operand(last, 0, old).ok()?;
    }
    Some(out)
}

/// An operation right behind another one, whose readers read it; what it reads is set later.
fn behind(program: &mut Program<'_, '_>, op: Op, any: Value, ty: Type) -> Option<Op> {
    let decl = program.tables().op_of_role(OpRole::Convert)?;
    let last = match program.next(op) {
        Some(next) => program.insert_before(next, decl, &[any], &[ty]).ok()?,
        None => program.append(program.block_of(op)?, decl, &[any], &[ty]).ok()?,
    };
    program.replace_all_uses(program.result(op, 0)?, program.result(last, 0)?).ok()?;
    Some(last)
}

fn remove_beside(program: &mut Program<'_, '_>, op: Op) -> Option<()> {
    while let Some(last) = program.operand_count(op).checked_sub(1).filter(|last| *last > 1) {
        program.remove_operand(op, last).ok()?;
    }
    Some(())
}

/// Makes the operation what it was; what was put before it is left to the caller. All that this
/// needs room for was given back before.
#[inline(never)]
pub(crate) fn undo(program: &mut Program<'_, '_>, op: Op, was: &Enlarged) -> Option<()> {
    if let Some(last) = was.last {
        program.replace_all_uses(program.result(last, 0)?, program.result(op, 0)?).ok()?;
        let mut at = last;
        while at != op {
            let before = program.previous(at)?;
            program.erase(at).ok()?;
            at = before;
        }
    }
    if let Some((result, ty)) = program.result(op, 0).zip(was.ty) {
        program.set_type(result, ty).ok()?;
    }
    program.set_operand(op, 0, was.tile).ok()?;
    remove_beside(program, op)?;
    for value in was.beside.iter().copied().flatten() {
        program.add_operand(op, value).ok()?;
    }
    if !was.had_axis {
        program.remove_attr(op, attr_names::AXIS).ok()?;
    }
    Some(())
}

impl Larger {
    /// How many elements the tile has.
    fn elements(&self) -> Option<u32> {
        self.rows.checked_mul(self.cols)
    }

    /// The shape of the larger tile: rows and columns, of a line its length alone.
    fn extents(&self) -> Option<([u32; 2], usize)> {
        let (rows, cols) = (self.rows, self.cols);
        Some(match self.along {
            Along::Line => ([cols.checked_mul(self.copies)?, 1], 1),
            Along::Columns => ([rows, cols.checked_mul(self.copies)?], 2),
            Along::Rows => ([rows.checked_mul(self.copies)?, cols], 2),
            Along::NewRows => ([self.copies, cols], 2),
        })
    }

    /// A tile with each element in all of its neighbours.
    fn spread(&self, before: &mut Before<'_, '_, '_>, of: Value) -> Option<Value> {
        let dtype = before.program.type_of(of).dtype?;
        if self.along == Along::NewRows {
            let ty = Before::shaped(&[self.copies, self.cols], dtype)?;
            let wide = before.of(OpRole::Broadcast, &[of], ty)?;
            return before.along(wide, 0);
        }
        let is_turned = self.along == Along::Rows;
        let of = if is_turned { before.turned(of)? } else { of };
        let (elements, (extents, rank)) = (self.elements()?, self.extents()?);
        let line = before.reshaped(of, &[elements])?;
        let ty = Before::shaped(&[elements, self.copies], dtype)?;
        let wide = before.of(OpRole::Broadcast, &[line], ty)?;
        let wide = before.along(wide, 1)?;
        let [rows, cols] = extents;
        if is_turned {
            let wide = before.reshaped(wide, &[cols, rows])?;
            return before.turned(wide);
        }
        before.reshaped(wide, extents.get(..rank)?)
    }

    /// Where each element of the larger tile stands among its neighbours' dimension.
    fn place(&self, before: &mut Before<'_, '_, '_>) -> Option<(Value, Type)> {
        let (extents, rank) = self.extents()?;
        let ty = Before::shaped(extents.get(..rank)?, before.word()?)?;
        let place = before.named("tt.make_range", &[], ty)?;
        Some((before.along(place, self.along.axis())?, ty))
    }

    /// Whether an element of the larger tile is the first of its neighbours.
    fn is_first(&self, before: &mut Before<'_, '_, '_>) -> Option<Value> {
        let (place, ty) = self.place(before)?;
        let low = before.number(self.copies.checked_sub(1)?, ty)?;
        let among = before.named("arith.andi", &[place, low], ty)?;
        let zeros = before.number(0, ty)?;
        let truth = before.program.tables().dtype_of(lanebook_tables::DtypeKind::Bits, 1)?;
        before.named("compare.eq", &[among, zeros], Type::tensor(ty.shape, truth))
    }

    /// Where in the smaller tile an element of the larger one stands.
    fn index(&self, before: &mut Before<'_, '_, '_>) -> Option<Value> {
        let (place, ty) = self.place(before)?;
        let places = before.number(self.copies.trailing_zeros(), ty)?;
        before.named("arith.shrui", &[place, places], ty)
    }

    /// The smaller tile's elements, of neighbours of which all but the first are 0.
    fn narrowed(&self, before: &mut Before<'_, '_, '_>, of: Value, ty: Type) -> Option<Value> {
        if before.is_long(ty) {
            let [low, high] = before.halves(of)?;
            let (low, high) = (self.sums(before, low)?, self.sums(before, high)?);
            return before.rejoined([low, high], ty);
        }
        let words = before.words(of)?;
        let sums = self.sums(before, words)?;
        before.elements(sums, ty)
    }

    /// The sums of neighbours.
    fn sums(&self, before: &mut Before<'_, '_, '_>, of: Value) -> Option<Value> {
        let word = before.word()?;
        if self.along == Along::NewRows {
            return before.only(of, 0, Before::shaped(&[self.cols], word)?);
        }
        let elements = self.elements()?;
        let is_turned = self.along == Along::Rows;
        let of = if is_turned { before.turned(of)? } else { of };
        let lines = before.reshaped(of, &[elements, self.copies])?;
        let sums = before.only(lines, 1, Before::shaped(&[elements], word)?)?;
        match self.along {
            Along::Columns => before.reshaped(sums, &[self.rows, self.cols]),
            Along::Rows => {
                let turned = before.reshaped(sums, &[self.cols, self.rows])?;
                before.turned(turned)
            }
            _ => Some(sums),
        }
    }
}
