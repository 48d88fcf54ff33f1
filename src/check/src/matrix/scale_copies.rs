//! Block scales in tensor memory: from the tile in shared memory through a copy to where the unit
//! looks for each of them.

use crate::evaluator::{Memory, element_at};
use crate::matrix::shared_operands::undisturbed;
use crate::reader::{
    CoordinateWalks, FieldWord, descriptor_named, operand_tile, swizzle_named, tensor_memory,
};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind};
use lanebook_ir::Program;
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_plan::{AllocPlan, Plan, ProductPlan, ScaleCopy};
use lanebook_tables::{Arch, Atom, FieldRole, Major, Movement, Operand, Space, Tables};
use lanebook_tile::product::ProductInput;

/// Lanes of tensor memory that a copy fills before it repeats them, and cells of a lane and bytes
/// of a cell that it fills, at most.
const LANES: usize = 32;
const CELLS: usize = 8;
const BYTES: usize = 4;

/// For each byte of the cells that a copy fills the byte of its source.
type Sources = [[[Option<u16>; BYTES]; CELLS]; LANES];

/// Statement 9d of the module's page; the number of scales that were followed.
#[inline(never)]
pub(crate) fn scales(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    p: &ProductPlan,
) -> Result<u64, Violation> {
    let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
    let atom = tables.atom(p.product.atom).ok_or(refuse)?;
    let arch = tables.arch(plan.arch).ok_or(Violation::UnknownArch)?;
    let (Some(_), Some(numbers), Some(values)) =
        (atom.tensor(), atom.scaled_in_tensor(), program.scales(p.op))
    else {
        return if p.copied == [None; 2] { Ok(0) } else { Err(refuse) };
    };
    let mut followed = 0u64;
    for (input, ((number, value), copy)) in
        ProductInput::BOTH.into_iter().zip(numbers.into_iter().zip(values).zip(p.copied))
    {
        let misplaced = Violation::End { op: p.op, operand: input.of([3, 4]) };
        let copy = copy.filter(|copy| copy.operand == number).ok_or(misplaced)?;
        let tile = plan.allocs.get(usize::from(copy.given.alloc)).ok_or(misplaced)?;
        let load = copy.given.load;
        let own = program.operand(load, 0) == Some(tile.value)
            && program.result(load, 0) == Some(value)
            && undisturbed(program, load, p.op);
        if !own
            || copy.given.transposed
            || program.type_of(value).dtype
                != atom.operands.get(usize::from(number)).and_then(|o| o.dtype)
        {
            return Err(misplaced);
        }
        let copy_atom = tables
            .atom(copy.atom)
            .and_then(|copy_atom| copy_atom.movement)
            .filter(|m| (m.from.space, m.to.space) == (Space::Shared, Space::Tensor));
        let movement = copy_atom.ok_or(misplaced)?;
        let aligned = u32::from(movement.from.align_bytes);
        if tile.offset.checked_rem(aligned) != Some(0)
            || !described(tables, arch, atom, p, input, &copy, movement)
        {
            return Err(misplaced);
        }
        room(tables, arch, plan, p, input, &copy)?;
        followed = followed.saturating_add(places(atom, p, input, tile, &copy, movement)?);
    }
    Ok(followed)
}

/// What a coordinate adds on an axis.
fn on(layout: &LayoutRef<'_>, x: u64, axis: AxisId) -> Option<u32> {
    u32::try_from(layout.offset_on(x, axis).ok()?).ok()
}

fn coordinates(movement: &Movement<'_>) -> Option<u64> {
    movement.extents.iter().try_fold(1u64, |n, e| n.checked_mul(u64::from(*e)))
}

/// The descriptor says where the table's source has its bytes: rows of sixteen bytes, not permuted;
/// and the instruction descriptor's field is where the plan says, and as wide as a piece has runs.
#[inline(never)]
fn described(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    atom: &Atom<'_>,
    p: &ProductPlan,
    input: ProductInput,
    copy: &ScaleCopy,
    movement: &Movement<'_>,
) -> bool {
    let says = || -> Option<bool> {
        let shape = p.product.shape;
        let how = atom.shared(input.of([shape.a, shape.b]))?;
        let table = descriptor_named(tables, arch, how.descriptor)?;
        let word = FieldWord::unpack(table, copy.given.word)?;
        let start = table.fields.iter().find(|f| f.role == FieldRole::Start)?;
        let field = table.fields.iter().find(|f| f.role == FieldRole::Swizzle)?;
        let mode = swizzle_named(tables, arch, word.word(field.name)?)?;
        let shifted = table
            .fields
            .iter()
            .any(|f| matches!(f.role, FieldRole::Pattern(_)) && word.get(f.name) != Some(0));
        if shifted || !mode.xor.is_empty() || word.get(start.name)? != 0 {
            return Some(false);
        }
        let form = operand_tile(tables, arch, Major::Depth, mode.name)?;
        let rows = u64::from(movement.extents.iter().next().copied()?);
        let each = coordinates(movement)?.checked_div(rows)?;
        let walks = CoordinateWalks::of(form, [rows, each], 8, &word)?;
        for x in 0..coordinates(movement)? {
            let found = walks.at(x.checked_div(each)?, x.checked_rem(each)?)?;
            if on(movement.from.layout, x, AxisId::BYTE).map(u64::from) != Some(found) {
                return Some(false);
            }
        }
        let instruction = descriptor_named(tables, arch, atom.tensor()?.descriptor)?;
        let field =
            instruction.fields.iter().find(|f| f.role == FieldRole::Scale(input.of([0, 1])))?;
        // An instance's runs begin at any multiple of how many it has.
        let own = atom.operands.get(usize::from(copy.operand))?.extents;
        let each = u32::from(input.of([own.1, own.0]));
        let mut first = (0..u32::from(copy.piece.1)).filter(|n| n.checked_rem(each) == Some(0));
        let can_be = |n: u32| match field.values.is_empty() {
            true => n <= field.range.1,
            false => field.values.iter().any(|(_, code)| u32::from(*code) == n),
        };
        Some(field.at == copy.field && field.range.0 == 0 && first.all(can_be) && field.scale == 1)
    };
    says() == Some(true)
}

/// The pieces' columns are allocated, and nobody else's.
#[inline(never)]
fn room(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    plan: &Plan<'_>,
    p: &ProductPlan,
    input: ProductInput,
    copy: &ScaleCopy,
) -> Result<(), Violation> {
    let (first, columns, allocated) =
        (u32::from(copy.first), u32::from(copy.columns()), u32::from(plan.tensor_columns));
    let wrong = Violation::Accumulator { op: p.op, first, columns, allocated };
    let end = first.checked_add(columns).ok_or(wrong)?;
    if columns == 0
        || end > allocated
        || tensor_memory(tables, arch).map_or(0, |memory| u32::from(memory.columns)) < allocated
    {
        return Err(wrong);
    }
    let apart = |from: u16, many: u16| {
        end <= u32::from(from) || u32::from(from).saturating_add(u32::from(many)) <= first
    };
    for other in plan.products.iter() {
        if crate::matrix::tensor_memory::held(other)
            .into_iter()
            .flatten()
            .any(|(from, many)| first < from.saturating_add(many) && from < end)
        {
            return Err(wrong);
        }
        for (k, theirs) in ProductInput::BOTH.into_iter().zip(other.copied) {
            if let Some(theirs) = theirs.filter(|_| (other.op, k) != (p.op, input))
                && !apart(theirs.first, theirs.columns())
            {
                return Err(wrong);
            }
        }
    }
    Ok(())
}

/// Which byte of a piece each byte of the cells comes from that one copy fills; `None` if one has
/// two, or lies outside `cells` columns. They are written where the caller has room for them.
fn copied_bytes(movement: &Movement<'_>, cells: u32, sources: &mut Sources) -> Option<()> {
    let to = movement.to.layout;
    for x in 0..coordinates(movement)? {
        let (lane, column, bit) =
            (on(to, x, AxisId::TLANE)?, on(to, x, AxisId::TCOL)?, on(to, x, AxisId::BIT)?);
        let from = u16::try_from(on(movement.from.layout, x, AxisId::BYTE)?).ok()?;
        if bit % 8 != 0 || column >= cells {
            return None;
        }
        let cell = sources
            .get_mut(lane as usize)?
            .get_mut(column as usize)?
            .get_mut((bit / 8) as usize)?;
        if cell.replace(from).is_some() {
            return None;
        }
    }
    Some(())
}

/// Where in a tile of scales the one for a row and a run of its depth lies.
fn scale_byte(tile: &AllocPlan, row: u32, run: u32) -> Option<u32> {
    Memory::Shared(tile).at(element_at(tile.shape, row, run)?).map(|place| place.byte)
}

/// Whole pieces lie in the tile's bytes, aligned.
fn pieces_are_inside(
    p: &ProductPlan,
    input: ProductInput,
    tile: &AllocPlan,
    copy: &ScaleCopy,
    movement: &Movement<'_>,
) -> Result<(), Violation> {
    let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
    let (rows, runs) = (u32::from(copy.piece.0), u32::from(copy.piece.1));
    let (size, need) = (
        u32::try_from(coordinates(movement).ok_or(refuse)?).map_err(|_| refuse)?,
        u32::from(movement.from.align_bytes),
    );
    for (q, t) in (0..copy.pieces.1).flat_map(|t| (0..copy.pieces.0).map(move |q| (q, t))) {
        let (row, run) = (u32::from(q).saturating_mul(rows), u32::from(t).saturating_mul(runs));
        let start = scale_byte(tile, row, run).ok_or(refuse)?;
        if start.checked_add(size).is_none_or(|end| end > tile.bytes)
            || start.checked_rem(need) != Some(0)
        {
            return Err(Violation::End { op: p.op, operand: input.of([3, 4]) });
        }
    }
    Ok(())
}

/// How far rows are apart in the table's layout of an operand of scales: A's hold the runs of an
/// instance, B's are as many rows. `None` where those of an instance are no bytes side by side, or
/// a piece is no whole number of them.
fn row_step(
    own: &Operand<'_>,
    scales: &LayoutRef<'_>,
    input: ProductInput,
    runs: u32,
) -> Option<u64> {
    let (each, own_runs, apart) = match input {
        ProductInput::A => (own.extents.1, own.extents.1, 1),
        ProductInput::B => (1, own.extents.0, own.extents.1),
    };
    for run in 0..own_runs {
        let x = u64::from(run).checked_mul(u64::from(apart))?;
        (on(scales, x, AxisId::BIT)? == u32::from(run).checked_mul(8)?).then_some(())?;
    }
    (runs.checked_rem(u32::from(own_runs)) == Some(0)).then_some(u64::from(each))
}

/// Each scale stands where the unit looks for it.
#[inline(never)]
fn places(
    atom: &Atom<'_>,
    p: &ProductPlan,
    input: ProductInput,
    tile: &AllocPlan,
    copy: &ScaleCopy,
    movement: &Movement<'_>,
) -> Result<u64, Violation> {
    let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
    let mut sources: Sources = [[[None; BYTES]; CELLS]; LANES];
    copied_bytes(movement, u32::from(copy.piece.2), &mut sources).ok_or(refuse)?;
    let (rows, runs, cells) =
        (u32::from(copy.piece.0), u32::from(copy.piece.1), u32::from(copy.piece.2));
    let to = movement.to.layout;
    let own = atom.operands.get(usize::from(copy.operand)).ok_or(refuse)?;
    let scales = own.layout.ok_or(refuse)?;
    // The unit reads all copies of a scale; the copy fills the same ones.
    let copies = |layout: &LayoutRef<'_>| {
        let mut all = layout
            .replica
            .iter()
            .map(|it| (it.extent_value().ok(), it.stride_value().ok(), it.axis()));
        (all.next(), all.next())
    };
    if copies(scales) != copies(to) {
        return Err(refuse);
    }
    let shape = p.product.shape;
    let outer = u32::from(input.of([shape.m, shape.n]));
    let each = row_step(own, scales, input, runs).ok_or(refuse)?;
    let at = |row: u32, run: u32| scale_byte(tile, row, run);
    let all =
        (u32::try_from(tile.shape.row_count()).ok(), u32::try_from(tile.shape.col_count()).ok());
    let (all_rows, all_runs) = all.0.zip(all.1).ok_or(refuse)?;
    let whole =
        (u32::from(copy.pieces.0).checked_mul(rows), u32::from(copy.pieces.1).checked_mul(runs));
    if whole != (Some(all_rows), Some(all_runs))
        || rows == 0
        || runs == 0
        || outer.checked_rem(rows) != Some(0)
        || tile.shape.bits != 8
    {
        return Err(refuse);
    }
    pieces_are_inside(p, input, tile, copy, movement)?;
    let mut followed = 0u64;
    for row in 0..all_rows {
        // The instance that row is in begins with a piece.
        let inside = row.checked_rem(outer).ok_or(refuse)?;
        let first_piece =
            row.checked_sub(inside).and_then(|row| row.checked_div(rows)).ok_or(refuse)?;
        let (lane, column) = (
            on(scales, u64::from(inside).saturating_mul(each), AxisId::TLANE).ok_or(refuse)?,
            on(scales, u64::from(inside).saturating_mul(each), AxisId::TCOL).ok_or(refuse)?,
        );
        for run in 0..all_runs {
            let (piece, byte) =
                (run.checked_div(runs).ok_or(refuse)?, run.checked_rem(runs).ok_or(refuse)?);
            let narrow = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
            let looked = u32::from(copy.column((narrow(first_piece), narrow(piece))))
                .checked_add(column)
                .ok_or(refuse)?;
            // Which piece's copy fills that column, and from where.
            let number = looked
                .checked_sub(u32::from(copy.first))
                .and_then(|n| n.checked_div(cells))
                .ok_or(refuse)?;
            let (up, along) = (u32::from(copy.pieces.0), number);
            let (q, t) =
                (along.checked_rem(up).ok_or(refuse)?, along.checked_div(up).ok_or(refuse)?);
            let cell =
                looked.checked_sub(u32::from(copy.column((narrow(q), narrow(t))))).ok_or(refuse)?;
            let from = sources
                .get(lane as usize)
                .and_then(|lane| lane.get(cell as usize))
                .and_then(|cell| cell.get(byte as usize))
                .copied()
                .flatten();
            let start = at(q.checked_mul(rows).ok_or(refuse)?, t.checked_mul(runs).ok_or(refuse)?);
            let found =
                start.zip(from).and_then(|(start, from)| start.checked_add(u32::from(from)));
            if found.is_none() || found != at(row, run) {
                return Err(Violation::Operand {
                    op: p.op,
                    operand: input.of([3, 4]),
                    warp: 0,
                    lane: u8::try_from(lane).unwrap_or(u8::MAX),
                    bit: narrow(byte.saturating_mul(8)),
                    want: (row, run),
                    found: (u32::MAX, u32::MAX),
                });
            }
            followed = followed.saturating_add(1);
        }
    }
    Ok(followed)
}

/// Each piece is copied once for each of the product's turns, before the product's first
/// instruction, which the same thread issues.
pub(crate) fn counted(plan: &Plan<'_>, steps: &[Inst]) -> Result<(), Violation> {
    for p in plan.products.iter() {
        let own = |step: &&Inst| {
            usize::from(step.origin) == p.op.index() && step.purpose != InstKind::Label
        };
        let first =
            steps.iter().position(|step| own(&step) && step.atom == p.product.atom).unwrap_or(0);
        for copy in p.copied.iter().flatten() {
            let all = p.copied.iter().flatten().filter(|other| other.atom == copy.atom);
            let want = all.fold(0u32, |sum, other| {
                sum.saturating_add(
                    u32::from(other.pieces.0).saturating_mul(u32::from(other.pieces.1)),
                )
            });
            let found =
                steps.iter().take(first).filter(own).filter(|step| step.atom == copy.atom).count();
            let found = u32::try_from(found).unwrap_or(u32::MAX);
            if found != want {
                return Err(Violation::Count { op: p.op, atom: copy.atom, want, found });
            }
        }
    }
    Ok(())
}
