//! Block scales in registers: how the tile of scales is distributed, and which instance finds its
//! own where.
//!
//! An atom's table says where an instance's scales lie, and which immediates move that by bytes of
//! a register or by lanes. So scales of several instances share a register (`packed`: its bytes and
//! some lanes are filled with what other instances need), or each has one of its own. Which of the
//! two can be loaded is the copy atoms' matter: both are tried.

use crate::data::{BlockBitRole, End, PlanError, ScaleFeed, ScalePlan, Unscaled};
use crate::select::fragments::flow::spread;
use crate::select::planner::Planner;
use lanebook_ir::Op;
use lanebook_layout::AxisId;
use lanebook_tables::{Atom, Capability, DtypeId};
use lanebook_tile::map::{BitMatrix, Fragment, TileShape, log2_exact};
use lanebook_tile::product::{Product, ProductInput};
use lanebook_tile::shaping::tile_shape;

/// Ways to hold the scales of A and of B: a bit for each says that every scale has a register of
/// its own.
pub(crate) const SCALE_WAYS: u8 = 4;

impl Planner<'_, '_, '_, '_> {
    /// Gives a product's scales their distributions.
    #[inline(never)]
    pub(crate) fn place_scales(
        &mut self,
        op: Op,
        product: &Product,
        way: u8,
    ) -> Result<(), PlanError> {
        let Some(scales) = self.program.scales(op).filter(|_| product.tensor.is_none()) else {
            return Ok(());
        };
        for (input, value) in ProductInput::BOTH.into_iter().zip(scales) {
            let feed = self.scale_feed(op, product, input, way).ok_or(PlanError::Undecided(op))?;
            spread(
                self.program,
                value,
                (feed.fragment, false),
                None,
                &self.unread,
                (self.waiting, self.plan.fragments),
            )?;
        }
        Ok(())
    }

    /// The scales of a chosen product.
    pub(crate) fn scale_plans(
        &self,
        op: Op,
        product: &Product,
        way: u8,
    ) -> Result<[Option<ScalePlan>; 2], PlanError> {
        let mut out = [None; 2];
        let Some(scales) = self.program.scales(op).filter(|_| product.tensor.is_none()) else {
            return Ok(out);
        };
        for ((input, value), to) in ProductInput::BOTH.into_iter().zip(scales).zip(&mut out) {
            let feed = self.scale_feed(op, product, input, way).ok_or(PlanError::Undecided(op))?;
            let (index, _) = self.plan.fragment_of(value).ok_or(PlanError::Undecided(op))?;
            *to = Some(ScalePlan { end: End::Registers(index), ..feed.plan });
        }
        Ok(out)
    }

    #[inline(never)]
    fn scale_feed(
        &self,
        op: Op,
        product: &Product,
        input: ProductInput,
        way: u8,
    ) -> Option<ScaleFeed> {
        let atom = self.target.tables.atom(product.atom)?;
        let value = input.of(self.program.scales(op)?);
        let alone = way & input.of([1, 2]) != 0;
        feed(atom, product, input, tile_shape(self.program, value)?, alone)
    }

    /// Whether an atom takes a product's scales: it has none and needs none, or types and runs
    /// agree.
    pub(crate) fn takes_scales(&self, op: Op, atom: &Atom<'_>) -> bool {
        let has = atom.scaled().or_else(|| atom.scaled_in_tensor());
        let Some(values) = self.program.scales(op) else { return has.is_none() };
        let Some(numbers) = has else { return false };
        let typed = |(number, value)| {
            self.program.type_of(value).dtype.is_some_and(|dtype| atom.takes(number, dtype))
        };
        numbers.into_iter().zip(values).all(typed)
            && atom.scaled_run().map(u32::from) == self.program.scaled_run(op)
    }

    /// Why no atom of the architecture takes a product with scales, as far as its types and its
    /// blocks say.
    #[inline(never)]
    pub(crate) fn why_unscaled(&self, op: Op) -> Option<PlanError> {
        let (tables, program) = (self.target.tables, self.program);
        let values = program.scales(op)?;
        let have = program.scaled_run(op)?;
        let pair = |k: usize| program.operand(op, k).and_then(|v| program.type_of(v).shape.pair());
        let mut why = Unscaled::None;
        let dtype = |value| -> Option<DtypeId> {
            let own = program.type_of(value).dtype?;
            Some(tables.dtype(own)?.pair_of.unwrap_or(own))
        };
        let (a, first) = (program.operand(op, 0)?, pair(0)?);
        let pairs = program.type_of(a).dtype != dtype(a);
        let extents = (first.0, pair(1)?.1, first.1 << u32::from(pairs));
        for id in self.target.arch.dispatch(Capability::ScaledProduct) {
            let Some(atom) = tables.atom(*id) else { continue };
            let (Some(shape), Some(numbers), Some(run)) =
                (atom.matrix, atom.scaled().or_else(|| atom.scaled_in_tensor()), atom.scaled_run())
            else {
                continue;
            };
            let takes =
                |number: u8, value| dtype(value).is_some_and(|dtype| atom.takes(number, dtype));
            let operands = [shape.a, shape.b, shape.c].into_iter().zip(program.operands(op));
            let elements = operands.into_iter().all(|(number, value)| takes(number, value));
            let wrong = numbers
                .into_iter()
                .zip(values)
                .zip(3u8..)
                .find(|((number, value), _)| !takes(*number, *value));
            let next = match (elements, wrong) {
                (false, _) => Unscaled::Elements,
                (true, Some((_, operand))) => Unscaled::Type { operand },
                (true, None) if u32::from(run) == have => {
                    undivided(extents, (shape.m, shape.n, shape.k))?
                }
                (true, None) => Unscaled::Run { have, takes: run },
            };
            if next.rank() > why.rank() || next.takes_less(why) {
                why = next;
            }
        }
        Some(PlanError::Unscaled { op, why })
    }
}

/// The extent of a product that an atom's does not divide; `None` if it divides all.
fn undivided(extents: (u32, u32, u32), (m, n, k): (u16, u16, u16)) -> Option<Unscaled> {
    let all = (0u8..).zip([(extents.0, m), (extents.1, n), (extents.2, k)]);
    let mut wrong = all.filter(|(_, (have, takes))| have.checked_rem(u32::from(*takes)) != Some(0));
    wrong.next().map(|(which, (have, takes))| Unscaled::Extent { which, have, takes })
}

/// A place that an immediate can move what is read to.
#[derive(Copy, Clone)]
struct ImmediateMove {
    /// log2 of the bytes, or of the lanes.
    place: u8,
    by: u8,
    value: u8,
}

/// What chooses among the scales in a register, and among lanes.
#[derive(Default)]
struct Places {
    bytes: heapless::Vec<ImmediateMove, 4>,
    lanes: heapless::Vec<ImmediateMove, 4>,
}

/// Columns of an instance's own scales: by byte of the register, and by lane.
struct Own {
    bytes: [Option<u32>; 2],
    lanes: [Option<u32>; 6],
    /// log2 of the rows (columns of B) and of the blocks of an instance.
    outer: u8,
    depth: u8,
}

/// How the tile of scales of an input is distributed for a product.
fn feed(
    atom: &Atom<'_>,
    product: &Product,
    input: ProductInput,
    tile: TileShape,
    alone: bool,
) -> Option<ScaleFeed> {
    let number = input.of(atom.scaled()?);
    let own = own(atom, number, input, tile)?;
    let mut places = places(atom, number, &own)?;
    let (along, across) = product.block_bits(input);
    if own.outer != log2_exact(u64::from(input.of([product.shape.m, product.shape.n])))? {
        return None;
    }
    // Columns of the bits of a block's number.
    let mut free: heapless::Vec<(u8, u32), 12> = heapless::Vec::new();
    for k in 0..along {
        free.push((k, 1u32.checked_shl(u32::from(own.depth.checked_add(k)?))?)).ok()?;
    }
    for k in 0..across {
        free.push((along.checked_add(k)?, tile.row_bit(own.outer.checked_add(k)?))).ok()?;
    }
    let mut choice: [BlockBitRole; 12] = [BlockBitRole::default(); 12];
    let mut fragment = Fragment::new(tile);
    fragment.unpacked = alone;
    if alone && own.bytes.iter().any(Option::is_some) {
        return None;
    }
    if !alone {
        // All bytes of a register are scales: neighbours along the depth come first, as they lie in
        // memory.
        for (place, byte) in (0u8..).zip(own.bytes) {
            let column = match byte {
                Some(column) => column,
                None => {
                    let moved = *places.bytes.iter().find(|moved| moved.place == place)?;
                    match take_first(&mut free, |_| true) {
                        Some((bit, column)) => {
                            *choice.get_mut(usize::from(bit))? =
                                BlockBitRole::Immediate { by: moved.by, value: moved.value };
                            column
                        }
                        // A warp has one instance alone along this: no other one needs the bytes,
                        // which hold its own once more.
                        None => 0,
                    }
                }
            };
            if !fragment.register.push(column) {
                return None;
            }
        }
    }
    let mut lanes = own.lanes;
    while let Some(moved) = places.lanes.pop() {
        // What lies across the depth: blocks along it stay neighbours in a lane.
        let Some((bit, column)) = take_first(&mut free, |bit| bit >= along) else { break };
        *choice.get_mut(usize::from(bit))? =
            BlockBitRole::Immediate { by: moved.by, value: moved.value };
        *lanes.get_mut(usize::from(moved.place))? = Some(column);
    }
    for (place, &(bit, column)) in (0u8..).zip(&free) {
        *choice.get_mut(usize::from(bit))? = BlockBitRole::Register(place);
        if !fragment.register.push(column) {
            return None;
        }
    }
    for lane in lanes.iter().take(product.c.lane.len()) {
        if !fragment.lane.push(lane.unwrap_or(0)) {
            return None;
        }
    }
    warps(&mut fragment, product, input, own.outer.checked_add(across)?)?;
    let bits = u32::from(along.checked_add(across)?);
    let mut all = BitMatrix::new();
    for choice in choice.iter().take(bits as usize) {
        if !all.push(*choice) {
            return None;
        }
    }
    // Panels of A are counted by its rows, those of B by its depth.
    let grid = tile.grid;
    fragment.by_rows = input == ProductInput::A || grid.rows == 1 || grid.cols == 1;
    let registers =
        u8::try_from(u32::from(fragment.registers()).checked_div(grid.count())?).ok()?;
    let plan = ScalePlan { end: End::Registers(u16::MAX), operand: number, choice: all, registers };
    fragment.covers().then_some(ScaleFeed { fragment, plan })
}

/// Warps along the operand's own dimension divide the scales, others hold the same; those along m
/// are the low bits.
fn warps(fragment: &mut Fragment, product: &Product, input: ProductInput, first: u8) -> Option<()> {
    let (along_m, along_n) = product.warps;
    let of_m = (0..along_m).map(|k| (k, ProductInput::A));
    for (k, divided) in of_m.chain((0..along_n).map(|k| (k, ProductInput::B))) {
        let column =
            if divided == input { fragment.shape.row_bit(first.checked_add(k)?) } else { 0 };
        if !fragment.warp.push(column) {
            return None;
        }
    }
    (0..product.replicated_warps).all(|_| fragment.warp.push(0)).then_some(())
}

fn take_first(
    free: &mut heapless::Vec<(u8, u32), 12>,
    which: impl Fn(u8) -> bool,
) -> Option<(u8, u32)> {
    let at = free.iter().position(|(bit, _)| which(*bit))?;
    let found = free.get(at).copied()?;
    // The others keep their order.
    let mut rest: heapless::Vec<(u8, u32), 12> = heapless::Vec::new();
    for other in free.iter().filter(|other| other.0 != found.0) {
        rest.push(*other).ok()?;
    }
    *free = rest;
    Some(found)
}

/// Where an instance's own scales lie, as the table's layout says.
fn own(atom: &Atom<'_>, number: u8, input: ProductInput, tile: TileShape) -> Option<Own> {
    let operand = atom.operands.get(usize::from(number))?;
    let layout = operand.layout?;
    let (rows, cols) = operand.extents;
    let (outer, depth) = input.of([(rows, cols), (cols, rows)]);
    let mut out = Own {
        bytes: [None; 2],
        lanes: [None; 6],
        outer: log2_exact(u64::from(outer))?,
        depth: log2_exact(u64::from(depth))?,
    };
    let origin = |axis| layout.offset_on(0, axis).ok();
    for bit in 0..out.outer.checked_add(out.depth)? {
        let (across, step) = match bit.checked_sub(out.depth) {
            None => (false, 1u64.checked_shl(u32::from(bit))?),
            Some(bit) => (true, 1u64.checked_shl(u32::from(bit))?),
        };
        let column = match bit.checked_sub(out.depth) {
            None => 1u32.checked_shl(u32::from(bit))?,
            Some(bit) => tile.row_bit(bit),
        };
        // The layout counts rows first: of A's scales they are A's rows, of B's the blocks.
        let x = if across == (input == ProductInput::A) {
            step.checked_mul(u64::from(cols))?
        } else {
            step
        };
        let on = |axis| layout.offset_on(x, axis).ok()?.checked_sub(origin(axis)?);
        let log = |n: i64| log2_exact(u64::try_from(n).ok()?);
        let to = match (on(AxisId::LANE)?, on(AxisId::BIT)?) {
            (lane, 0) => out.lanes.get_mut(usize::from(log(lane)?))?,
            (0, bit) => out.bytes.get_mut(usize::from(log(bit)?.checked_sub(3)?))?,
            _ => return None,
        };
        *to = Some(column);
    }
    Some(out)
}

/// What immediates move an operand by, to places that it does not have anyway.
fn places(atom: &Atom<'_>, number: u8, own: &Own) -> Option<Places> {
    let mut out = Places::default();
    for moved in atom.more?.moves.iter().filter(|moved| moved.of == number) {
        let most = u8::try_from(atom.operands.get(usize::from(moved.by))?.range.1).ok()?;
        let mut value = 1u8;
        while value <= most {
            let times = |unit: u16| log2_exact(u64::from(unit).checked_mul(u64::from(value))?);
            if moved.bits > 0 {
                let place = times(moved.bits)?.checked_sub(3)?;
                if own.bytes.get(usize::from(place)).is_some_and(Option::is_none) {
                    out.bytes.push(ImmediateMove { place, by: moved.by, value }).ok()?;
                }
            } else {
                let place = times(moved.lanes)?;
                if own.lanes.get(usize::from(place)).is_some_and(Option::is_none) {
                    out.lanes.push(ImmediateMove { place, by: moved.by, value }).ok()?;
                }
            }
            value = value.checked_mul(2)?;
        }
    }
    Some(out)
}
