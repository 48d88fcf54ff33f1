//! The instructions by which products, loops and tile operations access shared memory: where each
//! lane's address leads, and how many bytes it moves.

use crate::access_models::AccessModels;
use crate::operand::{LaneTile, OperandPlace, TileLoad};
use crate::operators::{WarpProduct, product_unit};
use crate::tell::{Fact, Told};
use crate::unit_operands::unit_product;
use lanebook_infer::{
    Access, BaseId, BufferId, FormError, FragmentForm, IndexForm, Inference, Kind, MAX_RANK,
    Operator, OperatorId, Solution, Tape, UnitSide, VarRole,
};
use lanebook_ir::{Op, Program, attr_names};
use lanebook_tables::{Arch, OpRole, Tables};

/// Most slots of an access.
pub(crate) const SLOTS: usize = 64;

/// One instruction of a warp at a storage.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct SlotAccess {
    /// Whose.
    pub op: Op,
    /// At which buffer, as the operation names it.
    pub buffer: BufferId,
    /// Whether it writes.
    pub writes: bool,
    /// It is one instruction in any case: rows of a tile for all lanes.
    pub is_whole: bool,
    /// Bytes from the start of the storage, row by row, of each slot.
    pub places: SlotPlaces,
    /// Bytes behind the address of a slot.
    pub bytes: u32,
    /// How many of it one warp, or all of them, execute.
    pub times: u32,
    /// The number of its bank model in the architecture.
    pub model: u8,
}

/// What places of an access count.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum AccessPlaces {
    /// Bytes row by row, wherever these lie.
    Rows,
    /// Bytes strip by strip.
    Strips,
}

/// Gives the instructions by which a function whose loops are spread accesses a storage in shared
/// memory: those of a product's first tiles, and all of loops and tile operations, each once.
///
/// # Errors
/// [`FormError`]: lent memory is full.
#[doc(hidden)]
pub fn shared_accesses<'t>(
    told: &mut Told<'_>,
    program: &Program<'_, '_>,
    (tables, arch): (&'t Tables<'t>, &'t Arch<'t>),
    id: BufferId,
    mut give: impl FnMut(&SlotAccess),
) -> Result<(), FormError> {
    let machine = AccessModels::of(tables, arch);
    let wave = told.inference.wave().max(1);
    let threads = program.int_attr(told.function(), attr_names::THREADS).unwrap_or(1);
    let warps = u32::try_from(threads).unwrap_or(1).div_ceil(wave);
    for op in program.inside(told.function()) {
        for number in 0..2 {
            if let Some(read) = machine.operand_at(told, program, (op, number), id) {
                let times = read.times.saturating_mul(warps);
                give(&SlotAccess { times, ..read });
            }
        }
    }
    for number in 0..told.inference.counts().1 {
        let Some((op, own, spread)) = spread_operator(told, number)? else { continue };
        for k in 0..told.inference.accesses_of(&own).len() {
            let Some(access) = told.inference.accesses_of(&own).get(k).copied() else { break };
            if told.inference.buffer_of(access.buffer)?.storage != id {
                continue;
            }
            let warps = own.threads.1.div_ceil(wave);
            let mut slot = 0u32;
            while slot < spread.slots {
                let mut next = slot.saturating_add(1);
                for warp in 0..warps {
                    let first = (warp.saturating_mul(wave), slot);
                    let mark = told.inference.arena.mark();
                    let by = (op, own.threads);
                    let own = (&spread, &access, AccessPlaces::Rows);
                    let found = machine.access(&mut told.inference, by, own, first);
                    told.inference.arena.release(mark);
                    if let Some(found) = found {
                        let element = told.inference.buffer_of(access.buffer)?.bits >> 3;
                        let many = found.bytes.checked_div(element.max(1)).unwrap_or(1).max(1);
                        next = next.max(slot.saturating_add(many));
                        give(&SlotAccess { times: 1, ..found });
                    }
                }
                slot = next;
            }
        }
    }
    Ok(())
}

/// An operator that is spread over threads, with the operation that it stands for.
pub(crate) fn spread_operator(
    told: &Told<'_>,
    number: usize,
) -> Result<Option<(Op, Operator, FragmentForm)>, FormError> {
    let operator = OperatorId(u16::try_from(number).unwrap_or(u16::MAX));
    let own = *told.inference.operator_of(operator)?;
    let found = told.op(operator).zip(told.inference.spread(operator));
    Ok(found.filter(|_| own.kind == Kind::Parallel).map(|(op, spread)| (op, own, spread)))
}

impl AccessModels<'_, '_> {
    /// How the first warp reads an operand of a product, if that lies in a storage.
    #[inline(never)]
    pub(crate) fn operand_at(
        &self,
        told: &Told<'_>,
        program: &Program<'_, '_>,
        (op, number): (Op, usize),
        storage: BufferId,
    ) -> Option<SlotAccess> {
        if program.role(op) != OpRole::ProductInto {
            return None;
        }
        let Fact::Buffer(buffer) = told.fact(program.operand(op, number)?) else { return None };
        if told.inference.buffer_of(buffer).ok()?.storage != storage {
            return None;
        }
        if unit_product(program, (self.tables, self.arch), told, op).is_some() {
            return None;
        }
        self.read_by_warps(told, program, (op, number), buffer)
    }

    /// How the first warp reads an operand of a product of its own.
    #[inline(never)] // Beside what asks for units, not above it.
    fn read_by_warps(
        &self,
        told: &Told<'_>,
        program: &Program<'_, '_>,
        (op, number): (Op, usize),
        buffer: BufferId,
    ) -> Option<SlotAccess> {
        let product = product_unit(program, self.tables, self.arch, told, op)?;
        let side = if number == 0 { UnitSide::A } else { UnitSide::B };
        let tile = LaneTile::of(&product.unit, side)?;
        let place = operand_place(told, program, &product, op, number)?;
        let wave = product.unit.wave();
        let mut places = SlotPlaces::new();
        let loads = TileLoad::chosen(self, &tile, &place);
        let (bytes, model, count) = match &loads {
            Some(load) => {
                for slot in 0..1u32.checked_shl(u32::try_from(load.slots.len()).ok()?)? {
                    let step = load.step(slot);
                    places.push(place.byte(step)?).ok()?;
                }
                let atom = self.tables.atom(load.id)?;
                let banks = atom.movement.as_ref()?.from.banks;
                let parts = u32::try_from(load.parts.len()).ok()?;
                let each = place.tiles.1.checked_div(load.tiles)?;
                (u32::from(load.slot_bytes), self.number_of(banks)?, parts.checked_mul(each)?)
            }
            None => {
                let (count, bytes) = tile.plain_loads(&place, self.family.widest)?;
                let bytes = 1u32.checked_shl(bytes.checked_ilog2()?)?;
                for lane in 0..wave {
                    places.push(place.byte(tile.place(tile.lane(lane)?)?)?).ok()?;
                }
                (bytes, self.model(bytes, false)?, count.checked_mul(place.tiles.1)?)
            }
        };
        let times = count.checked_mul(place.depth.max(1))?;
        let is_whole = loads.is_some();
        Some(SlotAccess { op, buffer, writes: false, is_whole, places, bytes, times, model })
    }

    /// How a warp accesses elements of a storage, from its first thread and a local index on as
    /// many as lie next to each other.
    #[inline(never)]
    pub(crate) fn access(
        &self,
        inference: &mut Inference<'_>,
        (op, threads): (Op, (u32, u32)),
        (spread, access, how): (&FragmentForm, &Access, AccessPlaces),
        (thread, start): (u32, u32),
    ) -> Option<SlotAccess> {
        let element = inference.buffer_of(access.buffer).ok()?.bits >> 3;
        let var = inference.arena.var(threads.1, VarRole::Output).ok()?;
        let lanes = inference.wave().min(threads.1.checked_sub(thread)?);
        let first = bytes_at(inference, (spread, access, how), (var, start))?;
        let mut places = SlotPlaces::new();
        evaluated(inference, first, (var, thread), lanes, &mut places)?;
        let mut bytes = element;
        let mut reach = element;
        let most = self.family.widest.checked_div(element.max(1))?;
        for slot in 1..most.min(spread.slots.saturating_sub(start)) {
            let next = start.checked_add(slot)?;
            let next = bytes_at(inference, (spread, access, how), (var, next))?;
            let mut wanted = first;
            wanted.constant = first.constant.checked_add(i64::from(reach))?;
            if !inference.arena.same(wanted, next) {
                break;
            }
            reach = reach.checked_add(element)?;
            let whole = places.iter().all(|place| place.checked_rem(reach) == Some(0));
            if reach.is_power_of_two() && whole && self.model(reach, access.write).is_some() {
                bytes = reach;
            }
        }
        let model = self.model(bytes, access.write)?;
        let times = spread.slots.saturating_mul(element).div_ceil(bytes.max(1));
        let (buffer, writes, is_whole) = (access.buffer, access.write, false);
        Some(SlotAccess { op, buffer, writes, is_whole, places, bytes, times, model })
    }
}

/// Bytes from the start of a storage, slot by slot.
#[doc(hidden)]
pub type SlotPlaces = heapless::Vec<u32, SLOTS>;

/// Bytes from the start of a storage to the element that a thread accesses with a local index, as a
/// map over the thread; `None` where that is no map.
#[inline(never)]
fn bytes_at(
    inference: &mut Inference<'_>,
    (spread, access, how): (&FragmentForm, &Access, AccessPlaces),
    (thread, slot): (BaseId, u32),
) -> Option<IndexForm> {
    let mut vars: heapless::Vec<BaseId, { MAX_RANK + 1 }> = heapless::Vec::new();
    for id in spread.vars.iter().chain([spread.copy]) {
        vars.push(id).ok()?;
    }
    let whole = inference.arena.whole(thread).ok()?;
    let slot = IndexForm::constant(i64::from(slot));
    let equations = [(whole, spread.thread), (slot, spread.index)];
    let mut given: heapless::Vec<BaseId, { MAX_RANK + 1 }> = heapless::Vec::new();
    for (var, _) in inference.arena.variables(&[spread.thread, spread.index]).ok()? {
        if !vars.contains(&var) {
            given.push(var).ok()?;
        }
    }
    let mut solved = Solution::default();
    inference.arena.solve_given(&equations, &vars, &given, &mut solved).ok()?;
    if !solved.free.is_empty() || solved.vars.len() != vars.len() {
        return None;
    }
    let buffer = *inference.buffer_of(access.buffer).ok()?;
    let mut stride = i64::from(buffer.bits >> 3);
    let mut out = IndexForm::constant(0);
    for (dim, index) in buffer.dims.iter().rev().zip(access.indices().iter().rev()) {
        let index = inference.arena.substitute(*index, &solved.vars).ok()?;
        out = inference.arena.add_scaled(out, index, stride).ok()?;
        stride = stride.checked_mul(i64::from(inference.arena.extent(dim).ok()?))?;
    }
    match how {
        AccessPlaces::Rows => Some(out),
        AccessPlaces::Strips => inference.in_strips(access.buffer, out).ok(),
    }
}

/// The values of a map in the first threads; those of other variables are 0.
#[inline(never)]
fn evaluated(
    inference: &Inference<'_>,
    form: IndexForm,
    (thread, first): (BaseId, u32),
    lanes: u32,
    out: &mut SlotPlaces,
) -> Option<()> {
    let arena = &inference.arena;
    let mut tape = Tape::new(arena, &[form]).ok()?;
    for lane in 0..lanes {
        tape.set(thread, i64::from(first.checked_add(lane)?));
        tape.derive(arena).ok()?;
        out.push(u32::try_from(tape.value(arena, form).ok()?).ok()?).ok()?;
    }
    Some(())
}

/// Where an operand of a product lies, and how many tiles of it a warp has.
#[doc(hidden)]
#[must_use]
pub fn operand_place(
    told: &Told<'_>,
    program: &Program<'_, '_>,
    product: &WarpProduct<'_>,
    op: Op,
    number: usize,
) -> Option<OperandPlace> {
    let Fact::Buffer(buffer) = told.fact(program.operand(op, number)?) else { return None };
    if told.inference.places(buffer).is_some() {
        return None;
    }
    let own = told.inference.buffer_of(buffer).ok()?;
    let mut extents = own.dims.iter().map(|dim| told.inference.arena.extent(dim).ok());
    let (rows, columns) = (extents.next()??, extents.next()??);
    let element = own.bits >> 3;
    let key = if number == 0 { attr_names::TRANSPOSE_A } else { attr_names::TRANSPOSE_B };
    let turned = program.has_attr(op, key);
    let shape = product.unit.instance().shape()?;
    let (m, n) = match product.unit.transposed() {
        true => (u32::from(shape.n), u32::from(shape.m)),
        false => (u32::from(shape.m), u32::from(shape.n)),
    };
    let free = number;
    let (extent, along) = if (number == 0) == turned { (columns, rows) } else { (rows, columns) };
    let (part, warps) = match number {
        0 => (m.checked_mul(product.together)?, product.warps.0.checked_div(product.together)?),
        _ => (n, product.warps.1),
    };
    let mut tiles = extent.checked_div(warps.checked_mul(part)?)?;
    let depth = along.checked_div(u32::from(shape.k))?;
    // Columns of a tile as it lies.
    let is_along = (number == 0) != turned;
    let wide = if is_along { u32::from(shape.k) } else { part };
    // Padding behind each row, or each column.
    let pitch = |bytes: u32| match told.inference.padding(buffer) {
        None => Some(bytes),
        Some((every, more)) => bytes.checked_add(more).filter(|_| every == bytes),
    };
    let by_rows = match told.inference.strips(buffer) {
        None => [pitch(columns.checked_mul(element)?)?, element],
        Some(column_block) if column_block == element => {
            [element, pitch(rows.checked_mul(element)?)?]
        }
        Some(_) if told.inference.padding(buffer).is_some() => return None,
        // A tile, and those beside it that an instruction brings with it, lie in one strip.
        Some(column_block) => {
            let held = column_block.checked_div(wide.checked_mul(element)?)?;
            if held == 0 {
                return None;
            }
            tiles = if is_along { tiles } else { tiles.min(held) };
            [column_block, element]
        }
    };
    let [down, right] = by_rows;
    let steps = if turned { [right, down] } else { [down, right] };
    Some(OperandPlace { steps, bits: own.bits, free, tiles: (part, tiles), depth })
}
