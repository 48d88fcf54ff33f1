//! Layouts of shared buffers: each operator that reads or writes one says under which swizzles the
//! banks serve it best, and one that serves all is taken.
//!
//! The swizzles are those that planning tries for a tile ([`candidates`]); what an access takes of
//! the banks is counted by the same model, exactly, and costs what the tables' weights say. A
//! product's operands come first, as its unit reads them; then loops and tile operations in the
//! order of the text. Who is served as well as by any swizzle agrees. Of swizzles that disagree one
//! that serves both is taken, mostly of fewer bits; where there is none, what is cheapest for all
//! together. A view has the swizzle of its storage.

use crate::access_models::AccessModels;
use crate::accesses::{AccessPlaces, SLOTS, SlotAccess, spread_operator};
use crate::operand::SLOT_BITS;
use crate::tell::Told;
use crate::unit_operands::{UnitRefusal, lay_for_units, unit_product, unit_refusal};
use lanebook_infer::{BufferId, FormError, Inference, MemoryScope, When};
use lanebook_ir::{Op, Program};
use lanebook_layout::{PostMap, Swizzle};
use lanebook_plan::select::copies_ahead;
use lanebook_tables::{Arch, BankModel, Tables};
use lanebook_tile::candidates::candidates;
use lanebook_tile::encoding::conflicts::count_bytes;
use lanebook_tile::map::{
    BankAccess, BitMatrix, Column, Combine, MemoryMap, TileShape, count_conflicts,
};

/// Most accesses of one storage that are weighed against each other; those behind them agree, or go
/// after the others.
const PATTERNS: usize = 16;

/// What became of what an operator wants of a shared buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum SharedAnswer {
    /// Its swizzle is the first, and taken.
    Establishes,
    /// The one that is taken serves it as well as any.
    Agrees,
    /// Another one serves it and all before it as well as any: that is taken.
    Merges,
    /// None serves all: what was taken stays, which is cheaper for all together.
    Yields,
    /// None serves all: another one is taken, which is cheaper for all together.
    Prevails,
    /// A unit reads the buffer by itself, through a descriptor that says this layout; no banks are
    /// counted.
    Described,
}

/// A step of [`lay_shared`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SharedStep {
    /// Who asks.
    pub op: Op,
    /// For which buffer, as it names it.
    pub buffer: BufferId,
    /// Whether it writes.
    pub writes: bool,
    /// What it wants.
    pub wanted: Option<Swizzle>,
    /// What is taken then.
    pub taken: Option<Swizzle>,
    /// Passes of the banks for what one instruction of it moves row by row: with what it wants,
    /// with what is taken, and row by row.
    pub passes: [u32; 3],
    /// Instructions that move that with what is taken.
    pub instructions: u32,
    /// How that came about.
    pub answer: SharedAnswer,
}

/// Who listens to [`lay_shared`].
pub trait SharedListener {
    /// A step was made.
    fn step(&mut self, step: SharedStep);

    /// A buffer lies by columns: what its accesses cost by rows, and so.
    fn by_columns(&mut self, buffer: BufferId, costs: [u32; 2]) {
        let _ = (buffer, costs);
    }

    /// Single warps compute a product that the architecture's unit could take from shared memory.
    fn by_warps(&mut self, op: Op, why: UnitRefusal) {
        let _ = (op, why);
    }
}

impl SharedListener for () {
    fn step(&mut self, _: SharedStep) {}
}

/// One instruction of the first warp at a storage.
#[derive(Clone, Debug)]
struct SharedPattern {
    op: Op,
    buffer: BufferId,
    writes: bool,
    /// It is one instruction in any case: rows of a tile for all lanes.
    is_whole: bool,
    /// How often it is taken to be executed.
    times: u32,
    /// Bytes from the start of the storage, in units, of each slot.
    places: [u16; SLOTS],
    count: u8,
    unit: u8,
    /// What each bit of a slot's number adds to its address, by exclusive or, from the first one's;
    /// `None` where addresses are no such sums.
    steps: Option<[u32; SLOT_BITS]>,
    /// Bytes behind the address of a slot.
    bytes: u16,
    /// The bank model's number in the architecture.
    model: u8,
    /// The least cost of all swizzles.
    best: u32,
}

/// What one of a pattern's instructions costs under a swizzle.
#[derive(Copy, Clone)]
struct BankPrice {
    /// Instructions in its place.
    instructions: u32,
    /// Passes of all of them.
    passes: u32,
}

impl SharedPattern {
    /// That of an access; `None` where its addresses are too far apart to be kept.
    #[inline(never)] // The access leaves the stack when this is done.
    fn of(access: &SlotAccess) -> Option<Self> {
        let unit = access.bytes.min(4);
        let mut places = [0u16; SLOTS];
        for (own, place) in places.iter_mut().zip(&access.places) {
            let (whole, rest) = (place.checked_div(unit)?, place.checked_rem(unit)?);
            *own = u16::try_from(whole).ok().filter(|_| rest == 0)?;
        }
        let mut own = Self {
            op: access.op,
            buffer: access.buffer,
            writes: access.writes,
            is_whole: access.is_whole,
            times: access.times,
            places,
            count: u8::try_from(access.places.len()).ok()?,
            unit: u8::try_from(unit).ok()?,
            bytes: u16::try_from(access.bytes).ok()?,
            model: access.model,
            steps: None,
            best: 0,
        };
        own.steps = own.steps_of();
        Some(own)
    }

    fn byte(&self, slot: usize) -> Option<u32> {
        let place = self.places.get(slot).filter(|_| slot < usize::from(self.count))?;
        Some(u32::from(*place).saturating_mul(u32::from(self.unit)))
    }

    /// Passes of the banks where each slot moves so many bytes; `None` if the model cannot be
    /// counted by.
    fn passes(&self, model: &BankModel<'_>, swizzle: Option<Swizzle>, bytes: u32) -> Option<u32> {
        let bytes = u16::try_from(bytes).ok()?;
        match self.columns(swizzle) {
            Some(map) => {
                let mut slots = BitMatrix::new();
                for bit in 0..map.columns.len() {
                    let _ = slots.push(1u32.checked_shl(u32::try_from(bit).ok()?)?);
                }
                let access = BankAccess { slots: &slots, slot_bytes: bytes, kept: 0 };
                count_conflicts(&map, access, model).map(|found| found.transactions)
            }
            None => self.passes_each(model, swizzle, bytes),
        }
    }

    /// [`Self::steps`] of its places.
    fn steps_of(&self) -> Option<[u32; SLOT_BITS]> {
        let bits = usize::from(self.count).checked_ilog2();
        let bits = bits.filter(|_| self.count.is_power_of_two())?;
        let first = self.byte(0)?;
        let mut steps = [0u32; SLOT_BITS];
        for (bit, step) in (0..bits).zip(&mut steps) {
            *step = first ^ self.byte(1usize.checked_shl(bit)?)?;
        }
        for slot in 0..usize::from(self.count) {
            let sum = steps.iter().enumerate().fold(first, |sum, (bit, step)| {
                if slot.wrapping_shr(bit as u32) & 1 == 1 { sum ^ step } else { sum }
            });
            if Some(sum) != self.byte(slot) {
                return None;
            }
        }
        Some(steps)
    }

    /// The map from the bits of a slot's number to what they add under a swizzle.
    fn columns(&self, swizzle: Option<Swizzle>) -> Option<MemoryMap> {
        let (steps, bits) = (self.steps?, usize::from(self.count).checked_ilog2()?);
        let mut columns = BitMatrix::new();
        for step in steps.iter().take(usize::try_from(bits).ok()?) {
            let placed = swizzle.map_or(u64::from(*step), |s| s.apply(u64::from(*step)));
            let _ = columns.push(Column::known(u32::try_from(placed).ok()?));
        }
        let shape = TileShape::new(1, u64::from(self.count), 8)?;
        let next = Column::known(0);
        Some(MemoryMap {
            shape,
            columns,
            combine: Combine::Xor,
            panels: (next, next),
            outer_bytes: None,
        })
    }

    #[inline(never)] // Its lists are long, and mostly not asked for.
    fn passes_each(
        &self,
        model: &BankModel<'_>,
        swizzle: Option<Swizzle>,
        bytes: u16,
    ) -> Option<u32> {
        let place = |slot: u32| {
            let byte = u64::from(self.byte(usize::try_from(slot).ok()?)?);
            Some(Some(swizzle.map_or(byte, |s| s.apply(byte))))
        };
        let found = count_bytes(model, u32::from(self.count), bytes, place, |_| {});
        found.map(|found| found.transactions)
    }

    /// As often as the loops around it turn.
    fn in_loops(mut self, program: &Program<'_, '_>, tables: &Tables<'_>) -> Self {
        self.times = tables.weights.inside_loops(self.times, program.loops_around(self.op));
        self
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.count, self.unit, self.bytes, self.model)
            == (other.count, other.unit, other.bytes, other.model)
            && self.places == other.places
    }
}

fn power(bits: u8) -> u32 {
    1u32.checked_shl(u32::from(bits)).unwrap_or(u32::MAX)
}

/// What is weighed of one storage.
struct SharedWeighing<'w, 't> {
    machine: AccessModels<'w, 't>,
    shape: Option<TileShape>,
    /// Bytes of the widest element of a view, and of the whole storage.
    element: u32,
    bytes: u32,
    patterns: heapless::Vec<SharedPattern, PATTERNS>,
    taken: Option<Swizzle>,
    /// Something was taken.
    is_settled: bool,
    /// All accesses are among the patterns.
    is_whole: bool,
}

impl SharedWeighing<'_, '_> {
    /// The swizzles that the storage may have, none first.
    fn swizzles(&self) -> impl Iterator<Item = Option<Swizzle>> + use<> {
        let (element, bytes) = (self.element, self.bytes);
        let family = self.machine.family;
        let own = self.shape.into_iter().flat_map(move |shape| {
            let panel = u32::try_from(shape.panel_bytes()).unwrap_or(0);
            candidates(shape, family).filter_map(move |layout| match layout.post {
                PostMap::Swizzle(s) if layout.row_major => {
                    let whole = bytes.checked_rem(power(s.m.saturating_add(s.b))) == Some(0);
                    let inside =
                        s.period_bits() < u32::BITS && 1u32.wrapping_shl(s.period_bits()) <= panel;
                    (whole && inside && s.s > 0 && power(s.m) >= element).then_some(Some(s))
                }
                _ => None,
            })
        });
        core::iter::once(None).chain(own)
    }

    /// What an access's instruction costs under a swizzle, which may tear it into several; `None`
    /// where none does that.
    fn price(&self, pattern: &SharedPattern, swizzle: Option<Swizzle>) -> Option<BankPrice> {
        let bytes = u32::from(pattern.bytes);
        let piece = swizzle.filter(|s| s.b > 0).map_or(u32::MAX, |s| power(s.m)).min(bytes);
        if piece < bytes && pattern.is_whole {
            return None;
        }
        let model = match piece < bytes {
            true => self.machine.model(piece, pattern.writes)?,
            false => pattern.model,
        };
        let model = self.machine.arch.banks.get(usize::from(model))?;
        let instructions = bytes.checked_div(piece)?;
        let passes = pattern.passes(model, swizzle, piece)?.saturating_mul(instructions);
        Some(BankPrice { instructions, passes })
    }

    /// What all instructions of an access cost.
    fn cost(&self, pattern: &SharedPattern, swizzle: Option<Swizzle>) -> Option<u32> {
        let (price, weights) = (self.price(pattern, swizzle)?, &self.machine.tables.weights);
        let issued = weights.instruction.saturating_mul(price.instructions);
        let one = issued.saturating_add(weights.shared_transaction.saturating_mul(price.passes));
        Some(one.saturating_mul(pattern.times))
    }

    /// The first swizzle under which an access costs least, and what.
    #[inline(never)]
    fn wish(&self, pattern: &SharedPattern) -> Option<(Option<Swizzle>, u32)> {
        let mut best: Option<(Option<Swizzle>, u32)> = None;
        for swizzle in self.swizzles() {
            let Some(cost) = self.cost(pattern, swizzle) else { continue };
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((swizzle, cost));
            }
        }
        best
    }

    /// Whether a swizzle serves an access as well as any.
    fn serves(&self, pattern: &SharedPattern, swizzle: Option<Swizzle>) -> bool {
        self.cost(pattern, swizzle) == Some(pattern.best)
    }

    /// The first swizzle that serves all accesses and one more as well as any.
    #[inline(never)]
    fn merged(&self, with: &SharedPattern) -> Option<Option<Swizzle>> {
        let all = |swizzle: &Option<Swizzle>| {
            self.serves(with, *swizzle) && self.patterns.iter().all(|p| self.serves(p, *swizzle))
        };
        self.swizzles().find(all)
    }

    /// The swizzle under which all accesses together cost least; of equal ones what is taken.
    #[inline(never)]
    fn cheapest(&self, with: &SharedPattern) -> Option<Option<Swizzle>> {
        let mut best: Option<(Option<Swizzle>, u32)> = None;
        for swizzle in core::iter::once(self.taken).chain(self.swizzles()) {
            let mut sum = self.cost(with, swizzle);
            for pattern in &self.patterns {
                let own = self.cost(pattern, swizzle);
                sum = sum.and_then(|sum| own.map(|own| sum.saturating_add(own)));
            }
            let Some(sum) = sum else { continue };
            if best.is_none_or(|(_, least)| sum < least) {
                best = Some((swizzle, sum));
            }
        }
        best.map(|best| best.0)
    }

    /// One more access; whether it is weighed from here on.
    #[inline(never)]
    fn add(&mut self, mut pattern: SharedPattern, listener: &mut dyn SharedListener) -> bool {
        let Some((wanted, best)) = self.wish(&pattern) else { return false };
        pattern.best = best;
        let first = !self.is_settled && wanted.is_some();
        let (taken, answer) = if self.serves(&pattern, self.taken) {
            (self.taken, SharedAnswer::Agrees)
        } else if let Some(both) = self.merged(&pattern) {
            let own = first && both == wanted;
            (both, if own { SharedAnswer::Establishes } else { SharedAnswer::Merges })
        } else {
            match self.cheapest(&pattern) {
                Some(cheapest) if cheapest != self.taken => (cheapest, SharedAnswer::Prevails),
                _ => (self.taken, SharedAnswer::Yields),
            }
        };
        // Where the list is full, what stands in it is not asked again: it keeps what it has.
        let known = self.patterns.iter().any(|p| p.is_like(&pattern));
        let full = self.patterns.is_full() && !known;
        let (taken, answer) = match answer {
            SharedAnswer::Agrees => (taken, answer),
            _ if full => (self.taken, SharedAnswer::Yields),
            _ => (taken, answer),
        };
        self.is_settled |= taken.is_some();
        self.taken = taken;
        let prices = [wanted, taken, None].map(|swizzle| self.price(&pattern, swizzle));
        let [_, taken_price, _] = prices;
        let instructions = taken_price.map(|price| price.instructions);
        let step = SharedStep {
            op: pattern.op,
            buffer: pattern.buffer,
            writes: pattern.writes,
            wanted,
            taken,
            passes: prices.map(|price| price.map_or(u32::MAX, |price| price.passes)),
            instructions: instructions.unwrap_or(1),
            answer,
        };
        listener.step(step);
        match self.patterns.iter_mut().find(|p| p.is_like(&pattern)) {
            Some(known) => {
                known.times = known.times.saturating_add(pattern.times);
                known.best = known.best.saturating_add(pattern.best);
                true
            }
            None => self.patterns.push(pattern).is_ok(),
        }
    }
}

/// Finds a swizzle for each shared buffer of a function whose loops are spread, by what its
/// products, loops and tile operations take of the banks. Those of written layouts stay.
///
/// # Errors
/// [`FormError`]: lent memory is full.
#[inline(never)] // What is weighed leaves the stack before a function is compiled.
pub fn lay_shared(
    told: &mut Told<'_>,
    program: &Program<'_, '_>,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    listener: &mut dyn SharedListener,
) -> Result<(), FormError> {
    let machine = AccessModels::of(tables, arch);
    lay_for_units(program, (tables, arch), told)?;
    let buffers = told.inference.counts().0;
    for number in 0..buffers {
        let id = BufferId(u16::try_from(number).unwrap_or(u16::MAX));
        let own = *told.inference.buffer_of(id)?;
        let is_free = own.storage == id && !told.inference.is_swizzle_pinned(id);
        let is_free = is_free && !told.inference.is_described(id);
        if own.scope == MemoryScope::Shared && is_free {
            told.inference.set_strips(id, None)?;
            if let Some(costs) = cheaper_by_columns(machine, told, program, id)? {
                told.inference.set_strips(id, Some(own.bits >> 3))?;
                listener.by_columns(id, costs);
            }
            if is_in_panels_ahead(told, program, id) {
                told.inference.set_strips(id, None)?;
                told.inference.set_swizzle(id, None)?;
                continue;
            }
            let (swizzle, _) = storage(machine, told, program, id, listener)?;
            told.inference.set_swizzle(id, swizzle)?;
        }
    }
    by_units(program, (tables, arch), told, listener);
    Ok(())
}

/// Whether a storage is filled by a copy that runs ahead, and its extents are no powers of two: such
/// a copy takes it apart into panels, and swizzles change bits across them.
fn is_in_panels_ahead(told: &Told<'_>, program: &Program<'_, '_>, id: BufferId) -> bool {
    let Some(value) = told.value(id) else { return false };
    let odd = |extent: Option<u32>| extent.is_none_or(|extent| !extent.is_power_of_two());
    let mut copies = copies_ahead(program, told.function());
    program.type_of(value).shape.iter().any(odd)
        && copies.any(|(_, copy)| program.operand(copy, 1) == Some(value))
}

/// Tells of the buffers that units read by themselves.
#[inline(never)] // What is looked at for it leaves the stack.
fn by_units(
    program: &Program<'_, '_>,
    (tables, arch): (&Tables<'_>, &Arch<'_>),
    told: &Told<'_>,
    listener: &mut dyn SharedListener,
) {
    for op in program.inside(told.function()) {
        let Some(product) = unit_product(program, (tables, arch), told, op) else {
            if let Some(why) = unit_refusal(program, (tables, arch), told, op) {
                listener.by_warps(op, why);
            }
            continue;
        };
        for operand in product.operands.iter().flatten() {
            let taken = told.inference.swizzle(operand.buffer);
            listener.step(SharedStep {
                op,
                buffer: operand.buffer,
                writes: false,
                wanted: taken,
                taken,
                passes: [0; 3],
                instructions: 0,
                answer: SharedAnswer::Described,
            });
        }
    }
}

/// What the accesses to a storage of rows cost as it lies and by columns, where that is less; only
/// such storages are asked that products read element by element.
#[inline(never)]
fn cheaper_by_columns(
    machine: AccessModels<'_, '_>,
    told: &mut Told<'_>,
    program: &Program<'_, '_>,
    id: BufferId,
) -> Result<Option<[u32; 2]>, FormError> {
    let own = *told.inference.buffer_of(id)?;
    let element = own.bits >> 3;
    let is_alone = || {
        let mut all = told.buffers().filter_map(|(other, _)| told.inference.buffer_of(other).ok());
        all.by_ref().filter(|other| other.storage == id).count() == 1
    };
    let gathered = |op: Op, number: usize| {
        let read = machine.operand_at(told, program, (op, number), id);
        read.is_some_and(|read| !read.is_whole && read.bytes == element)
    };
    let mut ops = program.inside(told.function());
    let asked = own.dims.len() == 2
        && element > 0
        && is_alone()
        && ops.any(|op| (0..2).any(|number| gathered(op, number)));
    if !asked {
        return Ok(None);
    }
    let (_, by_rows) = storage(machine, told, program, id, &mut ())?;
    told.inference.set_strips(id, Some(element))?;
    let by_columns = storage(machine, told, program, id, &mut ());
    told.inference.set_strips(id, None)?;
    let (_, by_columns) = by_columns?;
    Ok(by_rows.zip(by_columns).filter(|(rows, columns)| columns < rows).map(<[u32; 2]>::from))
}

/// The swizzle of one storage, and what all accesses to it cost together, if that is known.
#[inline(never)]
fn storage(
    machine: AccessModels<'_, '_>,
    told: &mut Told<'_>,
    program: &Program<'_, '_>,
    id: BufferId,
    listener: &mut dyn SharedListener,
) -> Result<(Option<Swizzle>, Option<u32>), FormError> {
    let (shape, bytes) = shape_of(&told.inference, id)?;
    let mut element = 1u32;
    for (other, _) in told.buffers() {
        let other = told.inference.buffer_of(other)?;
        if other.storage == id {
            element = element.max(other.bits >> 3);
        }
    }
    let tables = machine.tables;
    let mut weighing = SharedWeighing {
        machine,
        shape,
        element,
        bytes,
        patterns: heapless::Vec::new(),
        taken: None,
        is_settled: false,
        is_whole: true,
    };
    for op in program.inside(told.function()) {
        for number in 0..2 {
            let Some(read) = machine.operand_at(told, program, (op, number), id) else { continue };
            weighing.is_whole &= match SharedPattern::of(&read) {
                Some(pattern) => weighing.add(pattern.in_loops(program, tables), listener),
                None => false,
            };
        }
    }
    for number in 0..told.inference.counts().1 {
        let Some((op, own, spread)) = spread_operator(told, number)? else { continue };
        for k in 0..told.inference.accesses_of(&own).len() {
            let Some(access) = told.inference.accesses_of(&own).get(k).copied() else { break };
            let other = told.inference.buffer_of(access.buffer)?.storage != id;
            if other {
                continue;
            }
            let (mark, by) = (told.inference.arena.mark(), (op, own.threads));
            let at = (&spread, &access, AccessPlaces::Strips);
            let found = match access.when {
                When::Unknown => None,
                _ => machine.access(&mut told.inference, by, at, (0, 0)),
            };
            told.inference.arena.release(mark);
            weighing.is_whole &= match found.and_then(|found| SharedPattern::of(&found)) {
                Some(pattern) => weighing.add(pattern.in_loops(program, tables), listener),
                None => false,
            };
        }
    }
    let costs = weighing.patterns.iter().map(|own| weighing.cost(own, weighing.taken));
    let sum = costs.reduce(|sum, own| sum?.checked_add(own?)).flatten();
    Ok((weighing.taken, sum.filter(|_| weighing.is_whole)))
}

/// The shape of a storage, of all rows one below the other, if it is such a tile; its bytes.
fn shape_of(
    inference: &Inference<'_>,
    id: BufferId,
) -> Result<(Option<TileShape>, u32), FormError> {
    let own = inference.buffer_of(id)?;
    let (mut rows, mut columns) = (1u64, 1u64);
    for dim in own.dims.iter() {
        rows = rows.saturating_mul(columns);
        columns = u64::from(inference.arena.extent(dim)?);
    }
    if inference.strips(id) == Some(own.bits >> 3) {
        // By columns.
        (rows, columns) = (columns, rows);
    }
    let bits = u16::try_from(own.bits).ok().filter(|bits| *bits >= 8);
    // A plan has a swizzled tile of several panels as one line of all its elements.
    let line = bits.and_then(|bits| TileShape::new(1, rows.saturating_mul(columns), bits));
    let shape = bits.filter(|_| line.is_some());
    let shape = shape.and_then(|bits| TileShape::new(rows, columns, bits));
    let bytes = rows.saturating_mul(columns).saturating_mul(u64::from(own.bits >> 3));
    Ok((shape, u32::try_from(bytes).unwrap_or(u32::MAX)))
}
