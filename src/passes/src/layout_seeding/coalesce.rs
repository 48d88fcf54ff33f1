//! Coalesce: layouts for accesses through tiles of pointers, so that neighbouring lanes take
//! neighbouring elements and a lane takes as many at once as alignment allows.
//!
//! Each access gets nested tiles of its own: the dimension with the longest runs first, a lane's
//! share from runs and divisibility of its pointers, widened to what linked accesses of the same
//! extents and order take (they may then share one layout). Its operands are converted before it
//! and its results behind it; `remove-conversions` finds out which of these conversions are worth
//! their price.
use crate::layout_seeding::blocked::{blocked, order_of};
use crate::layout_seeding::runs::{KnownAxes, TileExtents, element_bits};
use crate::layout_seeding::worthwhile::{self, OpMask};
use crate::layout_seeding::{LayoutSeeding, full};
use crate::{ChoiceError, ChoicePool, PassContext, PassError, edit};
use heapless::VecView;
use lanebook_ir::{ErrorKind, Op, Program, Shape, TileEncoding, Type, Value};
use lanebook_layout::triton::Order;
use lanebook_tables::{OpId, OpRole, PointerAccess, Tables};

/// An access as the tables describe it, with its pointers.
fn access<'t>(
    program: &Program<'_, '_>,
    tables: &Tables<'t>,
    op: Op,
) -> Option<(&'t PointerAccess<'t>, Value)> {
    let name = program.op_name(op);
    let found = tables.seeding.accesses.iter().find(|access| access.op == name)?;
    let pointers = program.operand(op, usize::from(found.pointer))?;
    let ty = program.type_of(pointers);
    // Tiles of pointers only: their element type is one that is kept.
    (ty.is_kept() && !ty.is_memory() && ty.shape.elements().is_some()).then_some((found, pointers))
}

/// An access through a tile of pointers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PointerTile {
    /// The pointers: their type has the tile's extents and its layout.
    pub pointers: Value,
    /// Bits of what each of them points to.
    pub bits: u32,
}

impl PointerTile {
    /// What an operation accesses; `None` if it goes through no tile of pointers.
    #[must_use]
    pub fn of(program: &Program<'_, '_>, tables: &Tables<'_>, op: Op) -> Option<Self> {
        let (_, pointers) = access(program, tables, op)?;
        Some(Self { pointers, bits: element_bits(program, &program.type_of(pointers)) })
    }
}

/// Elements that one lane takes: as many as lie next to each other, aligned, up to the widest
/// access.
fn share(
    known: &KnownAxes<'_>,
    program: &Program<'_, '_>,
    pointers: Value,
    order: &Order,
    widest_bits: u32,
) -> u32 {
    let Some(first) = order.get(0) else { return 1 };
    let ty = program.type_of(pointers);
    let bits = element_bits(program, &ty);
    let runs = known.of(program, pointers).runs(usize::from(first));
    let power = |exponent: u8| 1u64.checked_shl(u32::from(exponent)).unwrap_or(u64::MAX);
    let extent = ty.shape.extent(usize::from(first)).unwrap_or(1);
    let multiple =
        power(runs.divisibility).checked_div(u64::from((bits / 8).max(1))).unwrap_or(1).max(1);
    let contiguous = power(runs.contiguity).min(u64::from(extent));
    let most = widest_bits.checked_div(bits).unwrap_or(1);
    u32::try_from(multiple.min(contiguous)).unwrap_or(u32::MAX).min(most).max(1)
}

fn order(known: &KnownAxes<'_>, program: &Program<'_, '_>, pointers: Value) -> Option<Order> {
    let facts = known.of(program, pointers);
    order_of((0..program.type_of(pointers).shape.rank()).map(|at| facts.runs(at).contiguity))
}

/// Linked accesses of the same extents and order, and the widest share among them.
#[derive(Copy, Clone, Debug)]
pub struct Class {
    shape: Shape,
    order: Order,
    width: u32,
    /// The next class of the same links.
    next: u16,
}

impl Class {
    /// No class.
    pub(super) const NONE: u16 = u16::MAX;
}

/// The class of an access, made with this width when it is new.
fn class_of(
    known: &mut KnownAxes<'_>,
    classes: &mut VecView<Class>,
    op: Op,
    shape: Shape,
    order: Order,
    width: u32,
) -> Option<u16> {
    let head = known.class(op);
    let mut at = head;
    while let Some(class) = classes.get_mut(usize::from(at)) {
        if class.shape == shape && class.order == order {
            class.width = class.width.max(width);
            return Some(at);
        }
        at = class.next;
    }
    let number = u16::try_from(classes.len()).ok().filter(|number| *number != Class::NONE)?;
    classes.push(Class { shape, order, width, next: head }).ok()?;
    known.set_class(op, number);
    Some(number)
}

pub(super) fn run(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>) -> Result<(), PassError> {
    let (program, tables) = (&*work.cx.program, work.tables);
    let count = program.all().filter(|op| access(program, tables, *op).is_some()).count();
    let give: fn(&mut LayoutSeeding<'_, '_, '_, '_, '_>, OpMask) -> Result<u32, PassError> =
        |work, picked| accesses(work, |_| true, picked);
    // Nothing is shared out among however many warps.
    let warps = work.workers().map(|_| ());
    if matches!(warps, Err(PassError::Choice(ChoiceError::WarpCount { .. }))) && count == 0 {
        return Ok(());
    }
    let picked = worthwhile::pick(work, give, count)?;
    give(work, picked).map(|_| ())
}

/// The same for accesses that have no layout, if there are any.
pub(super) fn undecided(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>) -> Result<(), PassError> {
    let open = |ty: &Type| ty.encoding == TileEncoding::None;
    let program = &*work.cx.program;
    let any = program.all().any(|op| {
        access(program, work.tables, op)
            .is_some_and(|(_, pointers)| open(&program.type_of(pointers)))
    });
    if any { accesses(work, open, worthwhile::ALL).map(|_| ()) } else { Ok(()) }
}

fn accesses(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    wanted: impl Fn(&Type) -> bool,
    picked: OpMask,
) -> Result<u32, PassError> {
    let workers = work.workers()?;
    let widest_bits = work.widest_bits()?;
    let convert = work.operation(OpRole::Convert)?;
    let tables = work.tables;
    let isa = tables.isa(work.arch()?.isa).map_or("", |isa| isa.name);
    let mut known =
        KnownAxes::find(work.cx.program, tables, work.room.facts).map_err(PassError::Choice)?;
    work.room.classes.clear();
    let mut given = 0u32;
    // First what linked accesses take, then the layouts.
    for change in [false, true] {
        let mut at = work.cx.program.first(work.cx.program.root());
        let mut number = 0u32;
        while let Some(op) = at {
            let program = &*work.cx.program;
            at = program.following(op, None);
            let Some((found, pointers)) = access(program, tables, op) else { continue };
            let is_wanted = worthwhile::is_picked(picked, number);
            number = number.saturating_add(1);
            let Some(order) = order(&known, program, pointers) else { continue };
            let ty = program.type_of(pointers);
            if !wanted(&ty) {
                continue;
            }
            let own = share(&known, program, pointers, &order, widest_bits);
            let capacity = work.room.classes.capacity();
            let class = class_of(&mut known, work.room.classes, op, ty.shape, order, own)
                .ok_or_else(|| full(ChoicePool::Classes, capacity))?;
            if !change || !is_wanted {
                continue;
            }
            let elements = u32::try_from(ty.shape.elements().unwrap_or(1)).unwrap_or(u32::MAX);
            let most = elements
                .checked_div(workers.lanes.saturating_mul(workers.warps))
                .unwrap_or(1)
                .max(1);
            let linked = work
                .room
                .classes
                .get(usize::from(class))
                .map_or(own, |class| class.width)
                .min(most);
            let few = found
                .most
                .iter()
                .find(|most| most.isa == isa)
                .map_or(u32::MAX, |most| u32::from(most.elements));
            let width = if found.writes { linked.min(own) } else { linked }.min(few).max(1);
            let mut shares = lanebook_layout::triton::Extents::new();
            for dimension in 0..ty.shape.rank() {
                let size = if order.get(0).map(usize::from) == Some(dimension) { width } else { 1 };
                shares.push(size).map_err(|_| edit(ErrorKind::Broken))?;
            }
            let Some(made) = blocked(TileExtents::of(&ty).as_slice(), &shares, &order, workers)
            else {
                continue;
            };
            let capacity = work.room.book.capacity();
            let encoding = work
                .room
                .book
                .encoding(program, &made)
                .ok_or_else(|| full(ChoicePool::SeededLayouts, capacity))?;
            let book = &work.room.book;
            let has = |program: &Program<'_, '_>, ty: &Type| book.says(program, ty, &made);
            if give(work.cx, convert, op, encoding, has)? {
                work.cx.changed(op)?;
                given = given.saturating_add(1);
            }
        }
    }
    Ok(given)
}

/// Converts every tile that an operation reads from and gives to registers; answers whether
/// anything changed.
fn give(
    cx: &mut PassContext<'_, '_, '_>,
    convert: OpId,
    op: Op,
    encoding: TileEncoding,
    has: impl Fn(&Program<'_, '_>, &Type) -> bool,
) -> Result<bool, PassError> {
    let mut any = false;
    for number in 0..cx.program.operand_count(op) {
        let Some(value) = cx.program.operand(op, number) else { continue };
        let ty = cx.program.type_of(value);
        let wanted = ty.encoded(encoding);
        if !ty.is_tile() || ty.is_memory() || has(cx.program, &ty) {
            continue;
        }
        let made = cx.program.insert_before(op, convert, &[value], &[wanted]).map_err(edit)?;
        let Some(new) = cx.program.result(made, 0) else { continue };
        cx.program.set_operand(op, number, new).map_err(edit)?;
        any = true;
    }
    for number in 0..cx.program.results(op).count() {
        let (Some(result), Some(next)) = (cx.program.result(op, number), cx.program.next(op))
        else {
            continue;
        };
        let ty = cx.program.type_of(result);
        let wanted = ty.encoded(encoding);
        if !ty.is_tile() || ty.is_memory() || has(cx.program, &ty) {
            continue;
        }
        cx.program.set_type(result, wanted).map_err(edit)?;
        any = true;
        if !cx.program.is_used(result) {
            continue;
        }
        let made = cx.program.insert_before(next, convert, &[result], &[ty]).map_err(edit)?;
        let Some(old) = cx.program.result(made, 0) else { continue };
        cx.program.replace_all_uses(result, old).map_err(edit)?;
        // The conversion itself reads what it converts.
        cx.program.set_operand(made, 0, result).map_err(edit)?;
    }
    Ok(any)
}
