//! Accumulators in tensor memory, and A: where a product's begin and are wanted, how a warp fetches
//! an accumulator when all is added up, and how it stores what is to be there before.

use crate::data::{InTensor, PlanError};
use crate::select::planner::Planner;
use core::num::NonZeroU16;
use lanebook_ir::{Def, Op, Value};
use lanebook_tables::{Atom, AtomId, Major, OpRole, TensorMemory, TensorMove, TensorTile};
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::map::{BitMatrix, Fragment, TileShape, log2_exact};
use lanebook_tile::matrix::{RepeatOrder, Skip, atom_bits, operand_fragment, widest};
use lanebook_tile::product::Product;
use lanebook_tile::product::TensorLoads;
use lanebook_tile::repeat_digits::RepeatDigit;
use lanebook_tile::repeat_places::RepeatPlaces;
use lanebook_tile::unit::tensor::{self, MAX_MOVE_BITS};

/// Where an accumulator is wanted in registers, the loop that carries it there, and whether it
/// begins with what registers hold.
type AccumulatorHome = (Value, Option<Op>, bool);

impl Planner<'_, '_, '_, '_> {
    /// Where an accumulator in tensor memory begins and ends. A loop carries it if only this
    /// product adds to what the loop hands on; else it is stored before each product, unless that
    /// begins with zeros, and fetched behind it.
    pub(crate) fn accumulator_home(&self, product: Op) -> Option<AccumulatorHome> {
        let program = self.program;
        let zero =
            |value: Value| program.constant(value).is_some_and(lanebook_ir::Literal::is_zero);
        let (c, d) = (program.operand(product, 2)?, program.result(product, 0)?);
        let carried = || {
            let Def::Argument(block, number) = program.def(c) else { return None };
            let owner = program.owner_of(block).filter(|owner| {
                program.role(*owner) == OpRole::For && program.parent(product) == Some(*owner)
            })?;
            let carried = program.carried(owner).nth(usize::from(number).checked_sub(1)?)?;
            let alone = program.uses(c).count() == 1 && program.uses(d).count() == 1;
            (alone && carried.yielded == Some(d)).then_some((
                carried.result?,
                Some(owner),
                !zero(carried.init),
            ))
        };
        Some(carried().unwrap_or((d, None, !zero(c))))
    }

    /// The first candidate that there is with more warps alone, since those of this group do not
    /// reach all lanes of tensor memory; and how many there are and would have to be.
    #[inline(never)]
    pub(crate) fn out_of_reach(&self, op: Op) -> Option<(AtomId, u8, (u32, u32))> {
        let memory = tensor::memory(self.target.tables, self.target.arch).ok()?;
        let needed =
            log2_exact(u64::from(memory.warps)).filter(|needed| self.target.warps < *needed)?;
        let target = TargetInfo { warps: needed, ..self.target };
        let warps = |bits: u8| 1u32.checked_shl(u32::from(bits)).unwrap_or(u32::MAX);
        let given = self.given(op)?;
        let numbers = [true, false].into_iter().flat_map(|native| given.numbers(target, native));
        numbers.into_iter().find_map(|number| {
            let product = self.candidate_in(&target, &given, number)?;
            Some((product.atom, product.tensor?.form, (warps(self.target.warps), warps(needed))))
        })
    }

    /// A product's accumulator, now that the layouts of A and B are settled.
    pub(crate) fn in_tensor(
        &self,
        op: Op,
        product: &Product,
        majors: [bool; 2],
    ) -> Result<Option<InTensor>, PlanError> {
        let undecided = PlanError::Undecided(op);
        if product.tensor.is_none() {
            return Ok(None);
        }
        let (tables, arch) = (self.target.tables, self.target.arch);
        let atom = tables.atom(product.atom).ok_or(undecided)?;
        let descriptor = atom.tensor().ok_or(undecided)?.descriptor;
        let (value, carrier, stored) = self.accumulator_home(op).ok_or(undecided)?;
        let name = |v: Option<Value>| {
            v.and_then(|v| self.program.type_of(v).dtype)
                .and_then(|d| tables.dtype(d))
                .and_then(|d| d.pair_of.map_or(Some(d), |single| tables.dtype(single)))
                .map_or("", |d| d.name)
        };
        let types = [
            name(self.program.operand(op, 0)),
            name(self.program.operand(op, 1)),
            name(self.program.result(op, 0)),
        ];
        let majors = majors.map(|outer| if outer { Major::Outer } else { Major::Depth });
        let (rows, columns) = (product.shape.m, product.shape.n);
        let asked = tensor::Instruction { descriptor, blocks: 1, rows, columns, types, majors };
        let word = tensor::instruction(tables, arch, &asked).map_err(|_| undecided)?;
        Ok(Some(InTensor { value, carrier, stored, word, first: 0, first_a: 0 }))
    }
}

/// A product with its accumulators in tensor memory, fetched by the loads of one form. Where A
/// stands there too, it is stored by the form that takes it as it is `known` to be distributed,
/// else by the first that there is.
#[inline(never)]
#[must_use]
pub fn tensor_product(
    target: &TargetInfo<'_>,
    (id, atom): (AtomId, &Atom<'_>),
    tile: (u64, u64, u64),
    bits: (u16, u16, u16),
    form: usize,
    known: Option<&Fragment>,
) -> Option<Product> {
    let (tables, arch, warpgroup) = (target.tables, target.arch, target.warps);
    let memory = tensor::memory(tables, arch).ok()?;
    let moves =
        tables.units.tensor_moves.get(form).filter(|m| arch.features.contains(&m.feature))?;
    let place = tensor::tile_named(tables, arch, atom.tensor()?.tile).ok()?;
    let (m, n, k) = tile;
    let (whole, across) = (TileShape::new(m, n, bits.2)?, TileShape::new(m, k, bits.0)?);
    let instance = widest(atom, whole.cols)?;
    let shape = instance.shape()?;
    let repeat = |extent: u8, step: u16| extent.checked_sub(log2_exact(u64::from(step))?);
    let repeats =
        (repeat(whole.rows, shape.m)?, repeat(whole.cols, shape.n)?, repeat(across.cols, shape.k)?);
    let panels = (whole.grid.rows, whole.grid.cols, across.grid.cols);
    let (rm, rn, rk) = repeats;
    // All instances are issued by one thread: nothing is dealt out to warps.
    let (tile_a, tile_b) = (TileShape::new(m, k, bits.0)?, TileShape::new(k, n, bits.1)?);
    let step_k = RepeatDigit::power(shape.k)?;
    let own_b =
        atom_bits(&instance, shape.b, tile_b, (step_k, RepeatDigit::power(shape.n)?), warpgroup)?;
    let (a, tensor_a) = match atom.tensor()?.a {
        Some(_) => {
            let way = (target, memory, place, tile_a);
            let (a, stores) = stored(
                way,
                (shape.m, shape.k),
                (rm, rk),
                u32::from(panels.0).checked_mul(u32::from(panels.2))?,
                known,
            )?;
            (a, Some(stores))
        }
        None => {
            let own_a = atom_bits(
                &instance,
                shape.a,
                tile_a,
                (RepeatDigit::power(shape.m)?, step_k),
                warpgroup,
            )?;
            (
                operand_fragment(
                    own_a,
                    tile_a,
                    (rm, rk),
                    RepeatOrder::ColumnsFirst,
                    (Some(0), Skip(0)),
                    true,
                )?,
                None,
            )
        }
    };
    let b = operand_fragment(
        own_b,
        tile_b,
        (rk, rn),
        RepeatOrder::RowsFirst,
        (Some(0), Skip(0)),
        false,
    )?;
    let shared = [shape.a, shape.b].map(|number| atom.shared(number).is_some());
    let rows = (log2_exact(u64::from(shape.m))?, log2_exact(u64::from(shape.n))?);
    let (c, count, registers) = fetched((target, memory, place, whole), moves, rows, (rm, rn), 0)?;
    let blocks = u32::from(panels.0)
        .checked_mul(u32::from(panels.1))?
        .checked_shl(u32::from(rm.checked_add(rn)?))?;
    let columns = u16::try_from(blocks.checked_mul(u32::from(shape.n))?).ok()?;
    let columns = NonZeroU16::new(columns)?;
    let loads = TensorLoads { form: u8::try_from(form).ok()?, registers, count, columns };
    Some(Product {
        atom: id,
        shape,
        pairs: false,
        transposed: false,
        warps: (0, 0),
        replicated_warps: 0,
        warpgroup,
        repeats,
        panels,
        below: RepeatPlaces::default(),
        a,
        b,
        c,
        shared,
        tensor: Some(loads),
        tensor_a,
        cycles: atom.cost.cycles,
    })
}

/// A tile in tensor memory: the architecture's, the lanes of its rows, its shape.
type TensorTileSite<'a, 't> =
    (&'a TargetInfo<'t>, &'a TensorMemory<'t>, &'a TensorTile<'t>, TileShape);

/// How A is distributed before it is stored: blocks of so many rows and so much depth, so often
/// along both, in so many panels.
fn stored(
    way: TensorTileSite<'_, '_>,
    step: (u16, u16),
    repeats: (u8, u8),
    panels: u32,
    known: Option<&Fragment>,
) -> Option<(Fragment, TensorLoads)> {
    let (target, memory, _, tile) = way;
    let inside = log2_exact(u64::from(u16::from(memory.cell_bits).checked_div(tile.bits)?))?;
    let steps = (log2_exact(u64::from(step.0))?, log2_exact(u64::from(step.1))?);
    let blocks = panels.checked_shl(u32::from(repeats.0.checked_add(repeats.1)?))?;
    let columns =
        u16::try_from(blocks.checked_mul(u32::from(step.1))?.checked_shr(u32::from(inside))?)
            .ok()?;
    let columns = NonZeroU16::new(columns)?;
    let mut first = None;
    for (form, moves) in (0u8..)
        .zip(target.tables.units.tensor_moves)
        .filter(|(_, m)| target.arch.features.contains(&m.feature))
    {
        let Some((fragment, count, registers)) = fetched(way, moves, steps, repeats, inside) else {
            continue;
        };
        let found = (fragment, TensorLoads { form, registers, count, columns });
        if known.is_none_or(|known| *known == fragment) {
            return Some(found);
        }
        first = first.or(Some(found));
    }
    first
}

/// How a tile is distributed after the loads of a form, the form's count, and log2 of the registers
/// of one load. A cell has `2^inside` elements of a row.
#[inline(never)]
fn fetched(
    (target, memory, place, tile): TensorTileSite<'_, '_>,
    form: &TensorMove<'_>,
    (sm, sn): (u8, u8),
    (rm, rn): (u8, u8),
    inside: u8,
) -> Option<(Fragment, u16, u8)> {
    // The element bit of each bit of a lane's and of a column's number; accumulators of a panel
    // follow each other.
    let mut lanes: [Option<u32>; 16] = [None; 16];
    for bit in 0..sm {
        let at =
            log2_exact(u64::from(tensor::row_lane(place, 1u32.checked_shl(u32::from(bit))?)?))?;
        *lanes.get_mut(usize::from(at))? = Some(tile.row_bit(bit));
    }
    let mut columns: heapless::Vec<u32, MAX_MOVE_BITS> = heapless::Vec::new();
    for bit in inside..sn.checked_add(rn)? {
        columns.push(1u32.checked_shl(u32::from(bit))?).ok()?;
    }
    for bit in 0..rm {
        columns.push(tile.row_bit(sm.checked_add(bit)?)).ok()?;
    }
    // Each warp of a group reaches a part of the lanes; more groups share the columns.
    let reach = log2_exact(u64::from(memory.lanes_per_warp))?;
    let group = log2_exact(u64::from(memory.warps))?;
    let mut warp: BitMatrix<u32, 5> = BitMatrix::new();
    for bit in 0..group {
        if !warp.push((*lanes.get(usize::from(reach.checked_add(bit)?))?)?) {
            return None;
        }
    }
    for _ in group..target.warps {
        if !warp.push(columns.pop()?) {
            return None;
        }
    }
    if warp.len() != usize::from(target.warps) {
        return None;
    }
    // The greatest count whose columns there are.
    let fits = |count: &&u16| {
        let bits = tensor::move_bits(form, **count);
        bits.is_some_and(|bits| {
            bits.iter().all(|b| b.lane_cell || usize::from(b.cell) < columns.len())
        })
    };
    let count = *form.counts.iter().filter(fits).max()?;
    let bits = tensor::move_bits(form, count)?;
    let mut out = Fragment::new(tile);
    out.warp = warp;
    for bit in 0..inside {
        if !out.register.push(1u32.checked_shl(u32::from(bit))?) {
            return None;
        }
    }
    let mut lane: [Option<u32>; 6] = [None; 6];
    let mut register: [Option<u32>; 12] = [None; 12];
    for bit in &bits {
        let from = if bit.lane_cell {
            lanes.get_mut(usize::from(bit.cell))?.take()?
        } else {
            *columns.get(usize::from(bit.cell))?
        };
        let to = if bit.lane {
            lane.get_mut(usize::from(bit.place))?
        } else {
            register.get_mut(usize::from(bit.place))?
        };
        if to.replace(from).is_some() {
            return None;
        }
    }
    let taken = bits.iter().filter(|b| !b.lane_cell).count();
    let whole = (0..taken).all(|k| bits.iter().any(|b| !b.lane_cell && usize::from(b.cell) == k));
    let own = register.iter().map_while(|e| *e).count();
    let filled =
        lane.get(..usize::from(target.wave))?.iter().all(|e| e.is_some_and(|e| out.lane.push(e)));
    if !whole || !filled || bits.iter().filter(|b| !b.lane).count() != own {
        return None;
    }
    // Further loads: the columns, then the lanes, that one does not reach.
    let further = columns
        .iter()
        .skip(taken)
        .copied()
        .chain(lanes.get(..usize::from(reach))?.iter().copied().flatten());
    let all = register.iter().map_while(|e| *e).chain(further);
    for e in all {
        if !out.register.push(e) {
            return None;
        }
    }
    out.covers().then_some((out, count, u8::try_from(own).ok()?))
}
