//! Bank conflicts of a tile in shared memory under an access, and what would be free of them.
//!
//! An access is an instruction, whose address slots walk over the tile, or a distribution over lanes and registers, whose
//! vectors are read in a row. All instances that cover the tile are counted; the report is of the worst.

use crate::algebra::unquoted;
use crate::error::{KindOfValue, Why};
use crate::instruction;
use crate::literal::{element_bits, on_elements};
use crate::units::word;
use crate::value::{Asked, Picked, Placed, QueryValue};
use lanebook_layout::ops::GuardedInverse;
use lanebook_layout::{AxisId, Coord, LayoutRef, Pad, Padding, PostMap, Swizzle, Unit};
use lanebook_tables::{Arch, BankModel, Capability, Side, Space, SwizzleMode};
use lanebook_tile::encoding::conflicts::{Collision, ReadWrite, count_bytes, model};
use lanebook_tile::unit::swizzle;

/// How slots or lanes get their elements.
enum SlotWalk<'v> {
    /// Slot after slot over the tile; `rows`: each slot the start of another row.
    Slots { rows: bool },
    /// A lane's registers, by the inverse of a distribution; bits of one step on axis `bit`, or on `register` 1.
    Registers { back: &'v GuardedInverse, axis: AxisId, step: u32 },
}

/// An access of a tile.
pub(crate) struct BankedAccess<'t, 'v> {
    tile: &'v Placed,
    rows: TileRows,
    /// Elements of the distribution are counted like this.
    held: Option<&'v Placed>,
    walk: SlotWalk<'v>,
    /// Bits of an element.
    bits: u16,
    /// Elements of a slot's run.
    run: u32,
    /// Slots (or lanes) of an instance.
    pub(crate) slots: u32,
    /// Instances over the tile (or the registers).
    pub(crate) instances: u32,
    /// Which lanes are served together.
    pub(crate) model: &'t BankModel<'t>,
    /// The instruction, where one was named.
    pub(crate) instruction: Option<Picked>,
}

/// What an access costs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessCost {
    /// Passes over the banks of the worst instance.
    pub passes: u32,
    /// Passes of an instance if nothing met.
    pub least: u32,
    /// The number of the worst instance.
    pub worst: u32,
    /// Passes of all instances.
    pub all: u32,
}

/// Layouts of the same tile without conflicts.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct FreeOfConflicts<'t> {
    /// The architecture's swizzle mode with the fewest rows.
    pub(crate) mode: Option<&'t SwizzleMode<'t>>,
    /// A swizzle of positions.
    pub(crate) swizzle: Option<Swizzle>,
    /// A padding.
    pub(crate) pad: Option<Pad>,
}

fn argument(args: &[QueryValue], number: usize) -> Result<&QueryValue, Why> {
    args.get(number).ok_or(Why::NeedsBits)
}

/// What the last argument of `conflicts` says.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum SlotOrder {
    /// Each slot is the start of another row.
    Rows,
    /// Slots follow each other along a row.
    Along,
    /// It is what writes the tile.
    Written,
    /// Registers are read from the tile.
    Loaded,
    /// Registers are written to the tile.
    Stored,
}

/// The last argument of `conflicts`, if it is given.
pub(crate) fn order(
    asked: Asked<'_>,
    args: &[QueryValue],
    text: &str,
) -> Result<Option<SlotOrder>, Why> {
    Ok(match args.get(3) {
        None => None,
        Some(QueryValue::Instruction(_)) => Some(SlotOrder::Written),
        Some(_) => match word(args, 3, text)? {
            "rows" => Some(SlotOrder::Rows),
            "along" => Some(SlotOrder::Along),
            "read" => Some(SlotOrder::Loaded),
            "write" => Some(SlotOrder::Stored),
            name if asked.tables.family(asked.arch, name).next().is_some() => {
                Some(SlotOrder::Written)
            }
            _ => return Err(Why::BadWord),
        },
    })
}

/// The access that the arguments of `conflicts` mean: a tile, an instruction or distribution, an element type, and how
/// slots walk.
pub(crate) fn access<'t, 'v>(
    asked: Asked<'t>,
    args: &'v [QueryValue],
    back: Result<&'v GuardedInverse, Why>,
    text: &str,
) -> Result<BankedAccess<'t, 'v>, Why> {
    let tile = argument(args, 0)?.placed()?;
    let bits = match args.get(2) {
        Some(_) => element_bits(asked.tables, word(args, 2, text)?)?,
        None if tile.elements.bits > 0 => tile.elements.bits,
        None => return Err(Why::NeedsBits),
    };
    let arch = instruction::arch(asked)?;
    let order = order(asked, args, text)?;
    if let QueryValue::Layout(held) = argument(args, 1)? {
        // Registers are moved in their own order.
        let way = match order {
            Some(SlotOrder::Rows | SlotOrder::Along) => return Err(Why::BadWord),
            Some(SlotOrder::Stored) => ReadWrite::Write,
            Some(SlotOrder::Loaded | SlotOrder::Written) | None => ReadWrite::Read,
        };
        return distribution(asked, tile, (held, back?), bits, way);
    }
    let picked = shared_mover(asked, arch, argument(args, 1)?, text)?;
    let movement = asked.tables.atom(picked.atom).and_then(|atom| atom.movement);
    let movement = movement.ok_or(Why::WrongInstruction)?;
    let side = shared_side(&movement.from, &movement.to).ok_or(Why::WrongInstruction)?;
    let model = arch.banks.iter().find(|model| *side.banks == *model.name);
    let walk = match order {
        Some(SlotOrder::Rows) => true,
        Some(SlotOrder::Along) => false,
        Some(SlotOrder::Written) | None => movement.crosses_lanes,
        // An instruction says itself which of the two it does.
        Some(SlotOrder::Loaded | SlotOrder::Stored) => return Err(Why::BadWord),
    };
    let (_, slots) = side.layout.reach(AxisId::SLOT)?;
    let run = u32::from(side.slot_bytes)
        .saturating_mul(8)
        .checked_div(u32::from(bits))
        .filter(|run| *run > 0);
    let mut out = BankedAccess {
        tile,
        rows: rows_of(tile)?,
        held: None,
        walk: SlotWalk::Slots { rows: walk },
        bits,
        run: run.ok_or(Why::NeedsBits)?,
        slots: u32::try_from(slots).unwrap_or(0).saturating_add(1).min(64),
        instances: 1,
        model: model.ok_or(Why::NoBankModel)?,
        instruction: Some(picked),
    };
    out.instances = out.chunks()?.div_ceil(out.slots.max(1));
    out.lies_together(&tile.layout.view().post)?;
    Ok(out)
}

/// The side of a movement that lies in shared memory.
pub(crate) fn shared_side<'t>(from: &'t Side<'t>, to: &'t Side<'t>) -> Option<&'t Side<'t>> {
    [from, to].into_iter().find(|side| side.space == Space::Shared)
}

/// The instruction that a value names; of a family the one that moves the most bytes from or to shared memory.
fn shared_mover(
    asked: Asked<'_>,
    arch: &Arch<'_>,
    value: &QueryValue,
    text: &str,
) -> Result<Picked, Why> {
    let span = match value {
        QueryValue::Instruction(picked) => return Ok(*picked),
        QueryValue::Word(span) => *span,
        other => return Err(Why::Kind { wanted: KindOfValue::Instruction, found: other.kind() }),
    };
    let name = unquoted(span, text);
    let (shared, register) = (Space::Shared, Space::Register);
    for (from, to) in [(shared, register), (register, shared), (Space::Global, shared)] {
        for id in arch.dispatch(Capability::Transfer { from, to }) {
            let atom = asked.tables.atom(*id).ok_or(Why::UnknownInstruction)?;
            if atom.is_called(name) {
                return Ok(Picked { atom: *id, instance: instruction::usual(atom) });
            }
        }
    }
    match asked.tables.family(asked.arch, name).next() {
        Some(_) => Err(Why::WrongInstruction),
        None => Err(Why::UnknownInstruction),
    }
}

/// A distribution's access: the widest vectors whose elements lie side by side.
#[inline(never)]
fn distribution<'t, 'v>(
    asked: Asked<'t>,
    tile: &'v Placed,
    (held, back): (&'v Placed, &'v GuardedInverse),
    bits: u16,
    way: ReadWrite,
) -> Result<BankedAccess<'t, 'v>, Why> {
    let view = held.layout.view();
    let axes = view.axes()?;
    let (axis, step) = match axes.contains(&AxisId::BIT) {
        true => (AxisId::BIT, u32::from(held.elements.bits.max(bits))),
        false => (AxisId::REGISTER, 1),
    };
    if !axes.contains(&AxisId::LANE) {
        return Err(Why::NoOperand);
    }
    let (_, last) = view.reach(axis)?;
    let held_elements = u32::try_from(last).unwrap_or(0).checked_div(step.max(1)).unwrap_or(0);
    let (_, lanes) = view.reach(AxisId::LANE)?;
    let arch = asked.arch.ok_or(Why::NeedsArch)?;
    // What stands in shared memory is aligned for the widest vector of a lane.
    let widest = asked.tables.weights.shared_align.saturating_mul(8);
    let mut out = BankedAccess {
        tile,
        rows: rows_of(tile)?,
        held: Some(held),
        walk: SlotWalk::Registers { back, axis, step },
        bits,
        run: widest.checked_div(u32::from(bits)).unwrap_or(1).max(1),
        slots: u32::try_from(lanes).unwrap_or(0).saturating_add(1).min(64),
        instances: 1,
        model: model_of(asked, arch, (bits, 1), way)?,
        instruction: None,
    };
    let post = tile.layout.view().post;
    loop {
        let fits = held_elements.saturating_add(1).checked_rem(out.run) == Some(0);
        out.instances = held_elements.saturating_add(1).checked_div(out.run).unwrap_or(1).max(1);
        if fits
            && out.lies_together(&post).is_ok()
            && let Ok(model) = model_of(asked, arch, (bits, out.run), way)
        {
            out.model = model;
            return Ok(out);
        }
        if out.run <= 1 {
            return Err(Why::NoBankModel);
        }
        out.run = out.run.checked_div(2).unwrap_or(1);
    }
}

fn model_of<'t>(
    asked: Asked<'t>,
    arch: lanebook_tables::ArchId,
    (bits, run): (u16, u32),
    way: ReadWrite,
) -> Result<&'t BankModel<'t>, Why> {
    let bytes = u32::from(bits).saturating_mul(run).checked_div(8).unwrap_or(0).max(1);
    let bytes = u16::try_from(bytes).map_err(|_| Why::NoBankModel)?;
    model(asked.tables, arch, bytes, way).ok_or(Why::NoBankModel)
}

/// The tile as rows of neighbours.
struct TileRows {
    /// Extent of the coordinate whose neighbours lie side by side, and what a step of it adds to an element's number.
    inner: (u64, u64),
    /// The same of the other one.
    outer: (u64, u64),
}

/// Which coordinate's neighbours lie side by side.
fn rows_of(tile: &Placed) -> Result<TileRows, Why> {
    let mut room = [0u32; 32];
    let extents = tile.extents(&mut room);
    let (rows, columns) = match extents {
        [only] => (1, u64::from(*only)),
        [rows, columns] => (u64::from(*rows), u64::from(*columns)),
        _ => return Err(Why::Coordinate { rank: 2 }),
    };
    let row_major = tile.elements.row_major || extents.len() == 1;
    let (row_step, column_step) = if row_major { (columns, 1) } else { (1, rows) };
    let plain = LayoutRef { post: PostMap::None, ..tile.layout.view() };
    let first = plain.offset_on(0, AxisId::M)?;
    let beside = |step: u64, extent: u64| -> Result<bool, Why> {
        Ok(extent > 1 && plain.offset_on(step, AxisId::M)?.checked_sub(first) == Some(1))
    };
    if beside(row_step, rows)? && !beside(column_step, columns)? {
        return Ok(TileRows { inner: (rows, row_step), outer: (columns, column_step) });
    }
    Ok(TileRows { inner: (columns, column_step), outer: (rows, row_step) })
}

impl BankedAccess<'_, '_> {
    /// Bytes of a slot's run.
    pub(crate) fn run_bytes(&self) -> u16 {
        let bytes = self.run.saturating_mul(u32::from(self.bits)).div_ceil(8);
        u16::try_from(bytes).unwrap_or(u16::MAX)
    }

    fn plain(&self) -> LayoutRef<'_> {
        LayoutRef { post: PostMap::None, ..self.tile.layout.view() }
    }

    /// Runs of the tile.
    fn chunks(&self) -> Result<u32, Why> {
        let size = crate::answer::bounded(&self.tile.layout.view())?;
        Ok(u32::try_from(size).unwrap_or(u32::MAX).checked_div(self.run).unwrap_or(0))
    }

    /// The number of the tile's element `k` of a slot's run.
    fn element(&self, instance: u32, slot: u32, k: u32) -> Result<Option<u64>, Why> {
        match &self.walk {
            SlotWalk::Slots { rows } => {
                let tile = &self.rows;
                let per_row = tile.inner.0.checked_div(u64::from(self.run)).unwrap_or(0);
                let number = u64::from(instance)
                    .saturating_mul(u64::from(self.slots))
                    .saturating_add(u64::from(slot));
                let fast = if *rows { tile.outer.0 } else { per_row };
                let (low, high) =
                    (number.checked_rem(fast).unwrap_or(0), number.checked_div(fast).unwrap_or(0));
                let (outer, chunk) = if *rows { (low, high) } else { (high, low) };
                if outer >= tile.outer.0 || chunk >= per_row {
                    return Ok(None);
                }
                let inner = chunk.saturating_mul(u64::from(self.run)).saturating_add(u64::from(k));
                Ok(Some(
                    inner
                        .saturating_mul(tile.inner.1)
                        .saturating_add(outer.saturating_mul(tile.outer.1)),
                ))
            }
            SlotWalk::Registers { back, axis, step } => {
                let place = instance.saturating_mul(self.run).saturating_add(k);
                let mut at = Coord::new();
                at.add(AxisId::LANE, i64::from(slot))?;
                at.add(*axis, i64::from(place.saturating_mul(*step)))?;
                let Some(found) = back.at(&at)? else { return Ok(None) };
                let held = self.held.ok_or(Why::NoOperand)?;
                let coordinates = held.coordinates(found.flat);
                Ok(Some(self.tile.flat(&coordinates).ok_or(Why::Coordinate { rank: 2 })?))
            }
        }
    }

    /// The position of an element under a post-map.
    fn position(&self, element: u64, post: &PostMap) -> Result<i64, Why> {
        Ok(post.apply(self.plain().offset_on(element, AxisId::M)?)?)
    }

    /// Whether each run lies side by side and aligned.
    fn lies_together(&self, post: &PostMap) -> Result<(), Why> {
        for instance in 0..self.instances {
            for slot in 0..self.slots {
                let Some(first) = self.element(instance, slot, 0)? else { continue };
                let start = self.position(first, post)?;
                let aligned = start.checked_rem(i64::from(self.run)) == Some(0);
                for k in 1..self.run {
                    let next = self.element(instance, slot, k)?.ok_or(Why::RunsApart)?;
                    if self.position(next, post)?.checked_sub(start) != Some(i64::from(k)) {
                        return Err(Why::RunsApart);
                    }
                }
                if !aligned {
                    return Err(Why::RunsApart);
                }
            }
        }
        Ok(())
    }

    /// Where a slot's run begins in bytes, `Some(None)` if it takes no part; `None` if that cannot be said.
    pub(crate) fn address(&self, instance: u32, slot: u32, post: &PostMap) -> Option<Option<u64>> {
        let Some(element) = self.element(instance, slot, 0).ok()? else { return Some(None) };
        let position = u64::try_from(self.position(element, post).ok()?).ok()?;
        Some(Some(position.checked_mul(u64::from(self.bits))?.checked_div(8)?))
    }

    /// Passes of one instance.
    pub(crate) fn instance(
        &self,
        instance: u32,
        post: &PostMap,
        collide: impl FnMut(Collision),
    ) -> Result<(u32, u32), Why> {
        let byte = |slot: u32| self.address(instance, slot, post);
        let found = count_bytes(self.model, self.slots, self.run_bytes(), byte, collide);
        let found = found.ok_or(Why::NoBankModel)?;
        Ok((found.transactions, found.least))
    }

    /// Passes of all instances under a post-map; stops where more than `most` are needed over the least.
    pub(crate) fn cost(&self, post: &PostMap, free_only: bool) -> Result<Option<AccessCost>, Why> {
        let mut out = AccessCost::default();
        for instance in 0..self.instances {
            let (passes, least) = self.instance(instance, post, |_| {})?;
            if free_only && passes > least {
                return Ok(None);
            }
            out.all = out.all.saturating_add(passes);
            if passes > out.passes {
                out = AccessCost { passes, least, worst: instance, all: out.all };
            }
        }
        Ok(Some(out))
    }

    fn is_free(&self, post: &PostMap) -> bool {
        self.aligned(post) && self.cost(post, true).ok().flatten().is_some()
    }

    /// Whether runs stay together under a swizzle or padding that is tried.
    fn aligned(&self, post: &PostMap) -> bool {
        let run = self.run;
        let swizzled = post
            .swizzle()
            .is_none_or(|s| 1u32.checked_shl(u32::from(s.m)).is_some_and(|kept| kept >= run));
        let padded = post.padding().is_none_or(|padding| {
            padding.pads().iter().all(|pad| {
                pad.interval.checked_rem(run) == Some(0) && pad.pad.checked_rem(run) == Some(0)
            })
        });
        swizzled && padded
    }

    /// Elements from one row to the next.
    fn row_length(&self) -> Result<u32, Why> {
        let rows = &self.rows;
        let plain = self.plain();
        if rows.outer.0 < 2 {
            return Ok(u32::try_from(rows.inner.0).unwrap_or(u32::MAX));
        }
        let step =
            plain.offset_on(rows.outer.1, AxisId::M)?.checked_sub(plain.offset_on(0, AxisId::M)?);
        Ok(step.and_then(|step| u32::try_from(step).ok()).unwrap_or(0))
    }
}

/// What would be free of conflicts; a writer keeps padding off its run, and a swizzle inside it.
pub(crate) fn free<'t>(
    asked: Asked<'t>,
    access: &BankedAccess<'_, '_>,
    writer: Writer,
) -> Result<FreeOfConflicts<'t>, Why> {
    let arch = instruction::arch(asked)?;
    let mode = swizzle::modes(asked.tables, arch).find(|mode| {
        let [only] = mode.xor else { return false };
        on_elements(*only, access.bits).is_ok_and(|swizzle| {
            writer.takes(swizzle) && access.is_free(&PostMap::Swizzle(swizzle))
        })
    });
    let mut out = FreeOfConflicts { mode, ..FreeOfConflicts::default() };
    let row = access.row_length()?;
    let low = u8::try_from(access.run.max(writer.lane).max(1).ilog2()).unwrap_or(0);
    'found: for b in 1..=5u8 {
        let row_bits = u8::try_from(row.max(1).ilog2()).unwrap_or(0);
        // Bits of the row's number come from the row's length on, or a little above.
        let nearest = i8::try_from(row_bits.saturating_sub(low)).unwrap_or(0);
        for s in (nearest..nearest.saturating_add(3)).filter(|s| s.unsigned_abs() >= b) {
            let Ok(swizzle) = Swizzle::new(b, low, s, Unit::Codomain) else { continue };
            if writer.takes(swizzle) && access.is_free(&PostMap::Swizzle(swizzle)) {
                out.swizzle = Some(swizzle);
                break 'found;
            }
        }
    }
    let mut interval = row.max(writer.run);
    if writer.run > 0 {
        interval = interval.checked_next_multiple_of(writer.run).unwrap_or(interval);
    }
    let step = access.run.max(writer.align);
    'padded: for _ in 0..4 {
        for times in [1u32, 2, 4, 8] {
            let pad = Pad { interval, pad: step.saturating_mul(times) };
            let Ok(padding) = Padding::new(&[pad], Unit::Codomain) else { continue };
            if access.is_free(&PostMap::Padding(padding)) {
                out.pad = Some(pad);
                break 'padded;
            }
        }
        interval = interval.saturating_mul(2);
    }
    Ok(out)
}

/// An instruction that writes lane after lane from one address: what it asks of a tile, in elements.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Writer {
    /// Elements in a row; 0: each lane has an address of its own.
    run: u32,
    /// Elements of one lane.
    lane: u32,
    /// What its address is a multiple of.
    align: u32,
}

impl Writer {
    /// Whether a swizzle moves nothing out of a run, and keeps a lane's elements together.
    fn takes(self, swizzle: Swizzle) -> bool {
        let power = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(u32::MAX);
        let top = swizzle.m.saturating_add(swizzle.b);
        self.run == 0 || (power(swizzle.m) >= self.lane && power(top) <= self.run)
    }
}

/// What a writer asks of a tile.
pub(crate) fn writer(
    asked: Asked<'_>,
    value: &QueryValue,
    text: &str,
    bits: u16,
) -> Result<Writer, Why> {
    let arch = instruction::arch(asked)?;
    let picked = shared_mover(asked, arch, value, text)?;
    let movement = asked.tables.atom(picked.atom).and_then(|atom| atom.movement);
    let movement = movement.ok_or(Why::WrongInstruction)?;
    let side = shared_side(&movement.from, &movement.to).ok_or(Why::WrongInstruction)?;
    let other = if side.space == movement.from.space { &movement.to } else { &movement.from };
    let elements =
        |bytes: u32| bytes.saturating_mul(8).checked_div(u32::from(bits)).ok_or(Why::NeedsBits);
    let (lane, align) =
        (elements(u32::from(other.slot_bytes))?, elements(u32::from(side.align_bytes))?);
    if side.layout.axes()?.contains(&AxisId::SLOT) {
        return Ok(Writer { run: 0, lane, align });
    }
    let (_, last) = side.layout.reach(AxisId::BYTE)?;
    let unit = i64::from(movement.unit_bits / 8);
    let run = elements(u32::try_from(last.saturating_add(unit)).unwrap_or(0))?;
    Ok(Writer { run, lane, align })
}

impl BankedAccess<'_, '_> {
    /// What the tile does to positions.
    pub(crate) fn post(&self) -> PostMap {
        self.tile.layout.view().post
    }

    /// Bits of an element.
    pub(crate) fn bits(&self) -> u16 {
        self.bits
    }
}
