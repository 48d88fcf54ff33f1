//! Products in place: the sum stays in its fragment, operands come from fragments or from shared
//! tiles, and the matrix instruction is the one that told the fragments where to lie.
//!
//! The sum's blocks stay where they are, or are gathered before the first instruction and put back
//! behind the last (module `sums`). Of a shared tile each lane loads the elements that the
//! instruction's operand has there, as many at once as lie next to each other.

use crate::elements::address::Place;
use crate::elements::forms::ThreadVar;
use crate::elements::nest::{Chunk, ElementLists, fresh};
use crate::elements::slots::{ExecutingThreads, LANES, WorkSlot};
use crate::elements::sums::BlockRegisters;
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::{ALL_ARGS, InstKind, Slot, slot};
use crate::sync::order::PendingAccesses;
use lanebook_infer::{BaseDigit, BaseId, BufferId, IndexForm, MemoryScope, UnitSide, VarRole};
use lanebook_ir::{Op, attr_names};
use lanebook_loops::{
    AccessModels, AnchorUnit, LaneTile, TileLoad, Told, WarpProduct, operand_place, product_unit,
    unit_anchor,
};
use lanebook_tables::MatrixShape;

/// Most blocks of a factor along a side of the sum.
const FACTORS: usize = 32;
/// Most tiles of a factor that one instruction loads.
const TOGETHER: usize = 8;
/// More than rows and columns of a buffer.
const PLACES: u32 = 1 << 20;

/// The lower halves of two registers, and the lowest bytes of two, in both halves.
pub(crate) const HALVES: [u8; 4] = [0, 1, 4, 5];
pub(crate) const BYTES: [u8; 4] = [0, 4, 0, 4];

/// An operand of a product: where it lies, and what the instruction wants of it.
pub(super) struct InPlaceSide {
    pub buffer: BufferId,
    pub tile: LaneTile,
    /// The instruction's operand.
    number: u8,
    /// Columns are rows where it lies.
    turned: bool,
    /// Rows and columns of the parts of warps, and which warps have them.
    warp: [IndexForm; 2],
    /// Rows and columns from one part of a warp to the next, in the program's coordinates.
    part: [u32; 2],
    /// The instruction that brings rows of a shared tile to all lanes, where one does.
    load: Option<TileLoad>,
}

/// A product that is being emitted.
pub(super) struct InPlaceProduct<'t> {
    pub op: Op,
    pub unit: AnchorUnit<'t>,
    pub shape: MatrixShape,
    thread: ThreadVar,
    /// Variables of rows and columns, in whose place coordinates stand.
    place: [BaseId; 2],
}

/// How often a part fits; `None` if something is left.
fn blocks_of(extent: u32, part: u32) -> Option<u32> {
    extent.checked_div(part).filter(|blocks| blocks.checked_mul(part) == Some(extent))
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// `c = a b + c`.
    #[inline(never)]
    pub(crate) fn product_in_place(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        room: ElementLists<'_>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Product);
        let mut sides = heapless::Vec::new();
        let (product, blocks) = self.product_parts(op, told, &mut sides)?;
        let [a, b, d] = sides.as_slice() else { return Err(refuse) };
        self.meet(op, open, true)?;
        let spread = told.inference.layout(d.buffer).ok_or(refuse)?;
        let threads = (0, self.plan.threads, self.plan.threads);
        let executing = ExecutingThreads { op, spread, thread: product.thread, threads };
        let ElementLists { slots, spots, known, guards } = room;
        let state = crate::elements::address::AccessState { known, guards };
        let mut chunk = Chunk { executing: &executing, slots, spots, state };
        let [rows, columns, _] = blocks;
        let sums = self.block_sums(told, &product, [a, b, d], [rows, columns], &mut chunk)?;
        let tile = (d, [rows, columns]);
        self.move_sums(told, &product, tile, (&mut chunk, &sums), true)?;
        match self.plan.product_of(op).is_some() {
            true => self.multiply_by_unit(told, &product, (a, &sums), &mut chunk, blocks)?,
            false => self.multiply_by_warps(told, &product, [a, b], &sums, &mut chunk, blocks)?,
        }
        self.move_sums(told, &product, tile, (&mut chunk, &sums), false)
    }

    /// The registers of the sums: those of the fragment, where the unit takes them as they lie.
    #[inline(never)] // Beside the products, not below them.
    fn block_sums(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        [a, b, d]: [&InPlaceSide; 3],
        [rows, columns]: [u32; 2],
        chunk: &mut Chunk<'_>,
    ) -> Result<BlockRegisters, EmitError> {
        let storage =
            |side: &InPlaceSide| told.inference.buffer_of(side.buffer).map(|own| own.storage);
        // A factor of the same registers is read until the last product.
        let own = storage(d).map_err(of_form(product.op))?;
        let is_apart = [a, b].iter().all(|side| storage(side).is_ok_and(|other| other != own));
        let in_place = match is_apart {
            true => self.sums_in_place(told, product, (d, [rows, columns]), chunk)?,
            false => None,
        };
        let by_unit = self.plan.product_of(product.op).is_some();
        match in_place {
            Some(sums) if !by_unit || sums.follow_along_rows(columns) => Ok(sums),
            _ => self.sum_registers(product, [rows, columns]),
        }
    }

    /// Multiplies what single warps read into registers.
    #[inline(never)] // Its lists of registers are not there while a unit reads by itself.
    fn multiply_by_warps(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        [a, b]: [&InPlaceSide; 2],
        sums: &BlockRegisters,
        chunk: &mut Chunk<'_>,
        [rows, columns, depth]: [u32; 3],
    ) -> Result<(), EmitError> {
        let refuse = refused(product.op, ElementReason::Product);
        for step in 0..depth {
            let mut factors: heapless::Vec<Reg, FACTORS> = heapless::Vec::new();
            for column in 0..columns {
                if usize::try_from(column).is_ok_and(|column| factors.len() > column) {
                    continue;
                }
                self.shared_factors(told, product, (b, [step, column]), chunk, &mut factors)?;
            }
            let mut lefts: heapless::Vec<Reg, TOGETHER> = heapless::Vec::new();
            let mut first = 0u32;
            for row in 0..rows {
                let mut own = row.wrapping_sub(first) as usize;
                if own >= lefts.len() {
                    lefts.clear();
                    (first, own) = (row, 0);
                    self.shared_factors(told, product, (a, [row, step]), chunk, &mut lefts)?;
                }
                let left = *lefts.get(own).ok_or(refuse)?;
                for (column, right) in (0u32..).zip(&factors) {
                    self.multiply(product, (left, *right), sums.of(row, column))?;
                }
            }
        }
        Ok(())
    }

    /// What is multiplied by what, and how many blocks a warp has along rows, columns and depth.
    #[inline(never)]
    fn product_parts(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        sides: &mut heapless::Vec<InPlaceSide, 3>,
    ) -> Result<(InPlaceProduct<'t>, [u32; 3]), EmitError> {
        let refuse = refused(op, ElementReason::Product);
        let full = of_form(op);
        let machine = (self.machine.tables, self.machine.arch);
        let given = self.plan.product_of(op).map(|own| own.shared);
        let found = match given {
            None => product_unit(self.program, machine.0, machine.1, told, op),
            Some(_) => unit_anchor(self.program, machine, told, op),
        };
        let found = found.ok_or(refuse)?;
        let WarpProduct { unit, warps: (along, across), together } = found;
        let shape = unit.instance().shape().ok_or(refuse)?;
        let wave = unit.wave();
        let warps = along.checked_mul(across).and_then(|n| n.checked_mul(wave));
        let groups = along.checked_div(together).ok_or(refuse)?;
        if warps != Some(self.plan.threads) {
            return Err(refuse);
        }
        let arena = &mut told.inference.arena;
        let var = arena.var(self.plan.threads, VarRole::Output).map_err(&full)?;
        let place = [
            arena.var(PLACES, VarRole::Loop).map_err(&full)?,
            arena.var(PLACES, VarRole::Loop).map_err(&full)?,
        ];
        let thread = ThreadVar { var, node: self.thread };
        let product = InPlaceProduct { op, unit, shape, thread, place };
        let ((a_number, part_m), (b_number, part_n)) = match unit.transposed() {
            true => ((shape.b, u32::from(shape.n)), (shape.a, u32::from(shape.m))),
            false => ((shape.a, u32::from(shape.m)), (shape.b, u32::from(shape.n))),
        };
        // An instruction of a group has rows of all of its warps.
        let apart = if given.is_some() { 1 } else { together };
        let (depth, next_m) = (u32::from(shape.k), part_m.saturating_mul(apart));
        let [m, n] = self.extents_of(op, told, 2)?;
        let [_, k] = self.product_extents(op, told)?;
        let own_m = m.checked_div(groups).ok_or(refuse)?;
        let own_n = n.checked_div(across).ok_or(refuse)?;
        let blocks = [blocks_of(own_m, next_m), blocks_of(own_n, part_n), blocks_of(k, depth)];
        let [Some(rows), Some(columns), Some(steps)] = blocks else { return Err(refuse) };
        let arena = &mut told.inference.arena;
        let digit = |unit, extent| BaseDigit { base: var, unit, extent };
        let group = arena.digit(digit(wave.saturating_mul(together), groups)).map_err(&full)?;
        let member = match apart {
            1 => IndexForm::constant(0),
            apart => arena.digit(digit(wave, apart)).map_err(&full)?,
        };
        let column = arena.digit(digit(wave.saturating_mul(along), across)).map_err(&full)?;
        let down = arena.scale(group, i64::from(own_m)).map_err(&full)?;
        let down = arena.add_scaled(down, member, i64::from(part_m)).map_err(&full)?;
        let right = arena.scale(column, i64::from(own_n)).map_err(&full)?;
        let (none, turned) = (IndexForm::constant(0), |key| self.program.has_attr(op, key));
        let (turned_a, turned_b) =
            (turned(attr_names::TRANSPOSE_A), turned(attr_names::TRANSPOSE_B));
        for (side, operand, number, turned, warp, part) in [
            (UnitSide::A, 0, a_number, turned_a, [down, none], [next_m, depth]),
            (UnitSide::B, 1, b_number, turned_b, [none, right], [depth, part_n]),
            (UnitSide::D, 2, shape.d, false, [down, right], [next_m, part_n]),
        ] {
            let buffer = self.buffer_at(op, told, operand)?;
            let by_unit =
                given.is_some_and(|given| given.get(operand).is_some_and(Option::is_some));
            let (tile, load) = if by_unit {
                (LaneTile::default(), None)
            } else {
                let tile = LaneTile::of(&product.unit, side).ok_or(refuse)?;
                let load = self.tile_load(op, told, (buffer, operand), &found, &tile)?;
                (tile, load)
            };
            let side = InPlaceSide { buffer, tile, number, turned, warp, part, load };
            sides.push(side).map_err(|_| refuse)?;
        }
        Ok((product, [rows, columns, steps]))
    }

    fn buffer_at(&self, op: Op, told: &Told<'_>, number: usize) -> Result<BufferId, EmitError> {
        let value = self.program.operand(op, number).ok_or(EmitError::Unplanned(op))?;
        match told.fact(value) {
            lanebook_loops::Fact::Buffer(id) => Ok(id),
            _ => Err(refused(op, ElementReason::Foreign)),
        }
    }

    /// Rows and columns of an operand's buffer.
    fn extents_of(&self, op: Op, told: &Told<'_>, number: usize) -> Result<[u32; 2], EmitError> {
        let refuse = refused(op, ElementReason::Product);
        let id = self.buffer_at(op, told, number)?;
        let dims = told.inference.buffer_of(id).map_err(of_form(op))?.dims;
        let mut extents = dims.iter().map(|dim| told.inference.arena.extent(dim));
        match (extents.next(), extents.next(), extents.next()) {
            (Some(Ok(rows)), Some(Ok(columns)), None) => Ok([rows, columns]),
            _ => Err(refuse),
        }
    }

    /// Rows and depth of the left operand.
    fn product_extents(&self, op: Op, told: &Told<'_>) -> Result<[u32; 2], EmitError> {
        let [rows, columns] = self.extents_of(op, told, 0)?;
        Ok(match self.program.has_attr(op, attr_names::TRANSPOSE_A) {
            true => [columns, rows],
            false => [rows, columns],
        })
    }

    /// The coordinates of a lane's element in a block.
    pub(super) fn lane_place(
        &self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, at): (&InPlaceSide, [u32; 2]),
        flat: u16,
    ) -> Result<[IndexForm; 2], EmitError> {
        let full = of_form(product.op);
        let arena = &mut told.inference.arena;
        let mut number = IndexForm::constant(i64::from(flat));
        for (unit, extent, worth) in &side.tile.lanes {
            let digit = BaseDigit {
                base: product.thread.var,
                unit: u32::from(*unit),
                extent: u32::from(*extent),
            };
            let digit = arena.digit(digit).map_err(&full)?;
            number = arena.add_scaled(number, digit, i64::from(*worth)).map_err(&full)?;
        }
        let (row, column) = arena.div_rem(number, i64::from(side.tile.columns)).map_err(&full)?;
        let own = if side.tile.transposed { [column, row] } else { [row, column] };
        let mut out = side.warp;
        for ((out, own), (block, part)) in out.iter_mut().zip(own).zip(at.iter().zip(side.part)) {
            *out = arena.add(*out, own).map_err(&full)?;
            let start = i64::from(*block).saturating_mul(i64::from(part));
            out.constant = out.constant.saturating_add(start);
        }
        Ok(out)
    }

    /// The register of a fragment that holds an element in every thread.
    #[inline(never)]
    pub(super) fn held_element(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        buffer: BufferId,
        (coordinates, work): ([IndexForm; 2], &mut WorkSlot),
    ) -> Result<Reg, EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let threads = (0, self.plan.threads, self.plan.threads);
        let spread = told.inference.layout(buffer).ok_or(refuse)?;
        let executing = ExecutingThreads { op, spread, thread: product.thread, threads };
        let number = Self::number_at(told, &executing, coordinates)?;
        self.slot_alone(told, &executing, number, work)?;
        let same = executing.spread.vars.iter().zip(coordinates).all(|(var, wanted)| {
            let own = work.vars.iter().find(|(own, _)| *own == var);
            own.is_some_and(|(_, form)| told.inference.arena.same(*form, wanted))
        });
        if !same || !work.live || work.guard.is_some() {
            return Err(refuse);
        }
        self.held_at(op, told, (buffer, number))
    }

    /// The number of a slot of a fragment at a place, which all threads have.
    #[inline(never)] // What it computes with leaves the stack before the slot is made.
    fn number_at(
        told: &mut Told<'_>,
        executing: &ExecutingThreads,
        coordinates: [IndexForm; 2],
    ) -> Result<u32, EmitError> {
        let (op, layout) = (executing.op, &executing.spread);
        let local = told.inference.arena.index_at(layout, &coordinates).map_err(of_form(op))?;
        let number = u32::try_from(local.constant).ok().filter(|_| local.is_constant());
        number.filter(|number| *number < layout.slots).ok_or(refused(op, ElementReason::Product))
    }

    /// The registers of an element of a fragment, by its slot.
    #[inline(never)] // Behind the slot, not around it.
    fn held_at(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        (buffer, number): (BufferId, u32),
    ) -> Result<Reg, EmitError> {
        let refuse = refused(op, ElementReason::Product);
        let packing = self.packing(op, told, buffer)?;
        if packing.parts != 1 {
            return Err(refused(op, ElementReason::View));
        }
        let regs = self.fragment_regs(op, told, buffer)?;
        let (first, _) = packing.place(u16::try_from(number).map_err(|_| refuse)?);
        Ok(Reg { count: u16::from(packing.words), ..regs.member(first) })
    }

    /// The instruction that brings rows of a shared operand to all lanes, where one does.
    #[inline(never)] // What is looked at for it leaves the stack.
    fn tile_load(
        &self,
        op: Op,
        told: &Told<'_>,
        (buffer, number): (BufferId, usize),
        product: &WarpProduct<'t>,
        tile: &LaneTile,
    ) -> Result<Option<TileLoad>, EmitError> {
        let scope = told.inference.buffer_of(buffer).map_err(of_form(op))?.scope;
        if number > 1 || scope != MemoryScope::Shared {
            return Ok(None);
        }
        let place = operand_place(told, self.program, product, op, number);
        let machine = AccessModels::of(self.machine.tables, self.machine.arch);
        Ok(place.and_then(|place| TileLoad::chosen(&machine, tile, &place)))
    }

    /// The registers of a block of a factor, and of those behind it that come with it.
    fn shared_factors(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, at): (&InPlaceSide, [u32; 2]),
        chunk: &mut Chunk<'_>,
        out: &mut heapless::VecView<Reg>,
    ) -> Result<(), EmitError> {
        let op = product.op;
        let full = refused(op, ElementReason::Room);
        if let Some(load) = &side.load {
            let mark = told.inference.arena.mark();
            let found = self.loaded_tiles(told, product, (side, load, at), chunk);
            told.inference.arena.release(mark);
            if let Some(regs) = found? {
                let instance = product.unit.instance();
                let operand = instance.atom.operands.get(usize::from(side.number));
                let operand = operand.ok_or(refused(op, ElementReason::Product))?;
                let tiles = u16::try_from(load.tiles).unwrap_or(1).max(1);
                let count = regs.count.checked_div(tiles).unwrap_or(0);
                for tile in 0..tiles {
                    let first = regs.member(tile.saturating_mul(count));
                    let own = self.taken(op, Reg { count, ..first }, operand)?;
                    out.push(own).map_err(|_| full)?;
                }
                return Ok(());
            }
        }
        let reg = self.factor(told, product, (side, at), chunk)?;
        out.push(reg).map_err(|_| full)
    }

    /// Registers that instructions bring rows of a shared tile to; `None` where its addresses are
    /// not what they ask for.
    #[inline(never)]
    fn loaded_tiles(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, load, at): (&InPlaceSide, &TileLoad, [u32; 2]),
        chunk: &mut Chunk<'_>,
    ) -> Result<Option<Reg>, EmitError> {
        let op = product.op;
        let (refuse, full) = (refused(op, ElementReason::Product), of_form(op));
        let Some((mover, class)) = self.mover_by(load.id) else { return Ok(None) };
        chunk.slots.clear();
        for part in &load.parts {
            let arena = &mut told.inference.arena;
            let mut own = side.warp;
            for (bit, step) in (0u32..).zip(&load.slots) {
                let unit = 1u32.checked_shl(bit).ok_or(refuse)?;
                let digit = BaseDigit { base: product.thread.var, unit, extent: 2 };
                let digit = arena.digit(digit).map_err(&full)?;
                for (own, step) in own.iter_mut().zip(step) {
                    *own = arena.add_scaled(*own, digit, i64::from(*step)).map_err(&full)?;
                }
            }
            for ((own, part), (block, step)) in
                own.iter_mut().zip(part).zip(at.iter().zip(side.part))
            {
                let start = i64::from(*block).saturating_mul(i64::from(step));
                let start = start.saturating_add(i64::from(*part));
                own.constant = own.constant.saturating_add(start);
            }
            fresh(chunk.slots).ok_or(refuse)?;
            let work = chunk.slots.last_mut().ok_or(refuse)?;
            work.live = true;
            for pair in product.place.into_iter().zip(own) {
                work.vars.push(pair).map_err(|_| refuse)?;
            }
        }
        let [row, column] = product.place;
        let arena = &mut told.inference.arena;
        let (row, column) = (arena.whole(row).map_err(&full)?, arena.whole(column).map_err(&full)?);
        let indices = if side.turned { [column, row] } else { [row, column] };
        let value = told.value(side.buffer).ok_or(refuse)?;
        let place = Place { op, value, indices: &indices, buffer: side.buffer };
        let each = load.registers;
        let count =
            u16::try_from(load.parts.len()).ok().and_then(|n| n.checked_mul(u16::from(each)));
        let (class, count) = (class, count.ok_or(refuse)?);
        let spots_fit = self.tile_spots(told, chunk, &place, load.align)?;
        if !spots_fit {
            return Ok(None);
        }
        let out = self.steps.tuple(class, count)?;
        for k in 0..chunk.spots.len() {
            let spot = chunk.spots.get(k).copied().ok_or(refuse)?;
            let first = u16::try_from(k).unwrap_or(0).saturating_mul(u16::from(each));
            let part = Reg { count: u16::from(each), ..out.member(first) };
            let own = (&place, &spot, product.thread);
            self.moved_with(told, &mut chunk.state, own, (part, None), &mover)?;
        }
        Ok(Some(out))
    }

    /// The registers of a block of a factor.
    #[inline(never)]
    pub(super) fn factor(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, at): (&InPlaceSide, [u32; 2]),
        chunk: &mut Chunk<'_>,
    ) -> Result<Reg, EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let instance = product.unit.instance();
        let count = instance.registers(side.number).ok_or(refuse)?;
        let operand = instance.atom.operands.get(usize::from(side.number)).ok_or(refuse)?;
        let buffer = *told.inference.buffer_of(side.buffer).map_err(of_form(op))?;
        let each = match buffer.bits {
            8 => 4usize,
            16 => 2,
            32 | 64 => 1,
            _ => return Err(refused(op, ElementReason::Element)),
        };
        let dense = (0u32..)
            .zip(&side.tile.elements)
            .all(|(k, (bit, _))| u32::from(*bit) == k.saturating_mul(buffer.bits));
        let class = self.machine.class(lanebook_tables::RegisterKind::Vector, 32).ok_or(refuse)?;
        let words = if buffer.bits == 64 { 2u8 } else { 1 };
        let twice = if self.machine.is_twice(operand.class, class) { 2u8 } else { 1 };
        let count = count.checked_mul(twice).ok_or(refuse)?;
        let all = usize::from(count.checked_div(words).unwrap_or(0)).saturating_mul(each);
        if !dense || side.tile.elements.len() != all {
            return Err(refuse);
        }
        let out = self.steps.tuple(class, u16::from(count))?;
        let step = LANES.checked_div(each).unwrap_or(1).saturating_mul(each);
        let mut first = 0usize;
        while first < side.tile.elements.len() {
            let mark = told.inference.arena.mark();
            let elements = side.tile.elements.iter().skip(first).take(step);
            chunk.slots.clear();
            let mut held: heapless::Vec<Reg, LANES> = heapless::Vec::new();
            for (_, flat) in elements {
                let coordinates = self.lane_place(told, product, (side, at), *flat)?;
                fresh(chunk.slots).ok_or(refuse)?;
                let work = chunk.slots.last_mut().ok_or(refuse)?;
                if buffer.scope == MemoryScope::Fragment {
                    let reg = self.held_element(told, product, side.buffer, (coordinates, work))?;
                    self.note_reader(op, told, side.buffer, reg)?;
                    held.push(reg).map_err(|_| refuse)?;
                    continue;
                }
                work.live = true;
                for pair in product.place.into_iter().zip(coordinates) {
                    work.vars.push(pair).map_err(|_| refuse)?;
                }
            }
            let place = u16::try_from(first.checked_div(each).unwrap_or(0)).map_err(|_| refuse)?;
            let place = place.saturating_mul(u16::from(words));
            let whole = chunk.slots.len().checked_div(each).and_then(|n| u16::try_from(n).ok());
            let whole = whole.and_then(|n| n.checked_mul(u16::from(words))).ok_or(refuse)?;
            let part = Reg { class, first: out.first.wrapping_add(place), count: whole };
            if buffer.scope == MemoryScope::Fragment {
                self.packed(op, &held, (each, words), part)?;
            } else {
                self.loaded(told, product, (side, each, words), chunk, part)?;
            }
            told.inference.arena.release(mark);
            first = first.saturating_add(step);
        }
        self.taken(op, out, operand)
    }

    /// Elements of a shared tile, packed.
    fn loaded(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, each, words): (&InPlaceSide, usize, u8),
        chunk: &mut Chunk<'_>,
        part: Reg,
    ) -> Result<(), EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let [row, column] = product.place;
        let arena = &mut told.inference.arena;
        let (row, column) =
            (arena.whole(row).map_err(of_form(op))?, arena.whole(column).map_err(of_form(op))?);
        let indices = if side.turned { [column, row] } else { [row, column] };
        let value = told.value(side.buffer).ok_or(refuse)?;
        let place = Place { op, value, indices: &indices, buffer: side.buffer };
        if each > 1 && self.load_words(told, chunk, &place, each, part)? {
            return Ok(());
        }
        let into = (each == 1).then_some(part);
        let regs = self.load_elements(told, chunk, place, into)?;
        let many = chunk.slots.len();
        let mut held: heapless::Vec<Reg, LANES> = heapless::Vec::new();
        for k in 0..u16::try_from(many).unwrap_or(0) {
            let k =
                if regs.count == u16::from(words) { 0 } else { k.saturating_mul(u16::from(words)) };
            held.push(Reg { count: u16::from(words), ..regs.member(k) }).map_err(|_| refuse)?;
        }
        if regs == part { Ok(()) } else { self.packed(op, &held, (each, words), part) }
    }

    /// Registers with several elements each, of registers with one each; of elements of several
    /// registers these.
    fn packed(
        &mut self,
        op: Op,
        held: &[Reg],
        (each, words): (usize, u8),
        out: Reg,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Product);
        match each {
            1 => {
                for (k, from) in (0u16..).zip(held) {
                    let to = out.member(k.saturating_mul(u16::from(words)));
                    self.copy_tile(op, *from, Reg { count: u16::from(words), ..to })?;
                }
                Ok(())
            }
            2 => {
                for (k, pair) in (0u16..).zip(held.chunks_exact(2)) {
                    let [low, high] = pair else { return Err(refuse) };
                    self.choose_parts(op, out.member(k), [*low, *high], HALVES)?;
                }
                Ok(())
            }
            4 => {
                for (k, four) in (0u16..).zip(held.chunks_exact(4)) {
                    let [a, b, c, d] = four else { return Err(refuse) };
                    let [low, high] =
                        [self.steps.tuple(out.class, 1)?, self.steps.tuple(out.class, 1)?];
                    self.choose_parts(op, low, [*a, *b], BYTES)?;
                    self.choose_parts(op, high, [*c, *d], BYTES)?;
                    self.choose_parts(op, out.member(k), [low, high], HALVES)?;
                }
                Ok(())
            }
            _ => Err(refuse),
        }
    }

    /// One instruction: `sum = left right + sum`.
    #[inline(never)]
    fn multiply(
        &mut self,
        product: &InPlaceProduct<'t>,
        (left, right): (Reg, Reg),
        sum: Reg,
    ) -> Result<(), EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let instance = product.unit.instance();
        let (atom, s) = (instance.atom, product.shape);
        let (first, second) = if product.unit.transposed() { (right, left) } else { (left, right) };
        let mut args = [Slot::None; ALL_ARGS];
        let mut set = |number: u8, arg: Slot| {
            if let Some(place) = args.get_mut(usize::from(number)) {
                *place = arg;
            }
        };
        for (number, reg) in [(s.a, first), (s.b, second), (s.c, sum), (s.d, sum)] {
            set(number, slot(reg));
        }
        let (x, y) = if product.unit.transposed() { (1, 0) } else { (0, 1) };
        let values = [(s.a, x), (s.b, y), (s.c, 2), (s.d, 2)]
            .map(|(number, operand)| (number, self.program.operand(op, operand)));
        for (param, vary) in atom.params() {
            if let Some(word) = self.parameter_word(op, &instance, (param, vary), &values)? {
                set(param, Slot::Int(i32::from(word)));
            }
        }
        self.steps.purpose = InstKind::Matrix;
        let used = args.get(..atom.operands.len()).ok_or(refuse)?;
        Ok(self.steps.append(product.unit.id(), used)?)
    }
}
