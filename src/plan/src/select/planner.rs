//! The choice: anchors, joint shared layouts, best atoms, reasons.

use crate::data::{
    Candidate, End, Limits, MapPlan, Plan, PlanError, PlanPool, RejectedCandidate, TiledPlan,
    TransferPlan,
};
use crate::select::elementwise::{BytePermutes, lane_shuffle};
use crate::select::fragments::flow::{Waiting, is_register_tile};
use crate::select::fragments::unread::Unread;
use crate::select::loops::collect_loops;
use crate::select::matrix::shared_operands::{MAX_UNIT_USES, SharedOperandUse};
use crate::select::memory::swizzle_search::{Copies, PricedTile, SharedTile};
use crate::select::memory::tma::TensorMapCopies;
use crate::select::memory::total_cost::touches_shared;
use heapless::VecView;
use lanebook_ir::{AttrValue, Op, Program, Value, attr_names};
use lanebook_tables::{Arch, ArchId, AtomId, Capability, Isa, Space, Tables};
use lanebook_tile::candidates::FamilyFigures;
use lanebook_tile::copy_atom::{CopyAtom, CopyAtoms};
use lanebook_tile::evaluate::{Evaluated, TargetInfo, is_addressable};
use lanebook_tile::map::{Fragment, log2_exact};
use lanebook_tile::tiling::{RegisterTranspose, Reject};

/// A movement as found in the program.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct CopyOp {
    pub(crate) op: Op,
    pub(crate) from: CopyEnd,
    pub(crate) to: CopyEnd,
    /// Loops around it.
    pub(crate) depth: u8,
    /// The instruction that the program asks for.
    pub(crate) wanted: WantedAtom,
}

/// Which instruction a program asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum WantedAtom {
    /// It leaves that open.
    Any,
    /// This one.
    Named(AtomId),
    /// One that the tables do not have.
    Unknown,
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum CopyEnd {
    Registers(Value),
    Shared(u16),
    Global(u16),
}

/// Storage that choosing needs beside the plan.
pub struct PlanScratch<'s> {
    /// Copy atoms of the architecture.
    pub copy_atoms: &'s mut VecView<CopyAtom>,
    /// Movements of the program.
    pub movements: &'s mut VecView<CopyOp>,
    /// Global halves of copies that can go through registers.
    pub staged: &'s mut VecView<Staged>,
    /// Candidates of one product that are left: what each costs by itself, and its number.
    pub order: &'s mut VecView<(u32, u16)>,
    /// What copies cost, for shared tiles and their layouts.
    pub copies: &'s mut VecView<Copies>,
    /// What is known of shared tiles, as far as there is room.
    pub tiles: &'s mut VecView<SharedTile>,
    /// What shared tiles cost with the distributions that were asked for, as far as there is room.
    pub priced: &'s mut VecView<PricedTile>,
    /// Register tiles that wait for their distributions.
    pub waiting: &'s mut VecView<Waiting>,
}

/// The cheapest global half, of one width, of a copy that goes through registers: its load from
/// global memory, or its store there. It does not depend on the shared layout.
#[derive(Copy, Clone, Debug)]
pub struct Staged {
    /// The copy, as an index into the movements.
    pub(crate) movement: u16,
    /// Loads from or stores to global memory.
    pub(crate) global: AtomId,
    /// Register bits that the other half empties or fills.
    pub(crate) bits: u32,
    /// Blocks that are transposed between the halves.
    pub(crate) transpose: Option<RegisterTranspose>,
    /// The distribution that the other half finds or leaves.
    pub(crate) fragment: Fragment,
    /// Its figures, with what transposes the blocks.
    pub(crate) found: Evaluated,
}

/// How many times as many registers as of a whole tile an input of a product may have that comes
/// slice by slice.
pub(crate) const MOST_SLICES: u16 = 4;
/// Most (matrix atom, split over warps) candidates of one product.
pub const MAX_PRODUCTS: usize = 192;

/// The rejected candidates of one movement.
pub(crate) struct RejectedAtoms {
    pub(crate) rejected: heapless::Vec<RejectedAtom, 64>,
    pub(crate) dropped: u32,
}

/// An atom that lost.
#[derive(Copy, Clone)]
pub(crate) struct RejectedAtom {
    atom: AtomId,
    /// log2 of the width and height of the blocks that it transposes with a second atom.
    block: Option<(u8, u8)>,
    why: Reject,
    cost: u32,
}

impl RejectedAtoms {
    pub(crate) fn lose(
        &mut self,
        (atom, transpose): (AtomId, Option<RegisterTranspose>),
        why: Reject,
        cost: u32,
    ) {
        let block = transpose.map(|f| (f.along, f.across));
        if self.rejected.push(RejectedAtom { atom, block, why, cost }).is_err() {
            self.dropped = self.dropped.saturating_add(1);
        }
    }
}

/// The best way found for a movement.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Best {
    pub(crate) atom: AtomId,
    pub(crate) second: Option<AtomId>,
    pub(crate) transpose: Option<RegisterTranspose>,
    pub(crate) found: Evaluated,
    /// Where it goes through a tensor map: the instruction's number, and the map.
    pub(crate) tiled: Option<(u8, MapPlan)>,
}

/// Lists the copy atoms whose addresses are made here. A function of register tiles alone has
/// nothing in global memory: between that and registers there is nothing to list.
#[inline(never)] // What it looks at leaves the stack before anything is chosen.
fn list_copy_atoms(
    target: &TargetInfo<'_>,
    program: &Program<'_, '_>,
    function: Op,
    workspace: &mut PlanScratch<'_>,
) -> Result<(), PlanError> {
    let TargetInfo { tables, arch, isa, .. } = *target;
    let mut parameters = program.parameters(function).map(|value| program.type_of(value));
    let within = parameters.all(|ty| ty.is_tile() && !ty.is_memory());
    let is_met = |(from, to): &(Space, Space)| {
        let joins = |space: Space| *from == space || *to == space;
        !joins(Space::Tensor) && (!within || !joins(Space::Global) || joins(Space::Shared))
    };
    // Between two spaces the widest stand first: once one fits, what needs many more instructions
    // need not be tried.
    for (from, to) in Space::pairs().filter(is_met) {
        for copy_atom in arch.dispatch(Capability::Transfer { from, to }).iter().filter_map(|id| {
            let atom = tables.atom(*id).filter(|atom| is_addressable(isa, atom))?;
            let upper = arch.dispatch(Capability::StoreUpper { lower: *id }).first().copied();
            Some(CopyAtom { upper, ..CopyAtom::of(*id, atom)? })
        }) {
            let capacity = workspace.copy_atoms.capacity();
            workspace
                .copy_atoms
                .push(copy_atom)
                .map_err(|_| full(PlanPool::CopyAtoms, capacity, function))?;
        }
    }
    Ok(())
}

/// Chooses atoms and layouts for all of `function`, with shared tiles that keep to `limits`.
///
/// On an error the plan holds whatever had been decided; it must not be used.
pub fn choose(
    tables: &Tables<'_>,
    arch: ArchId,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    workspace: &mut PlanScratch<'_>,
    limits: &Limits,
) -> Result<(), PlanError> {
    plan.clear();
    let machine = tables.arch(arch).ok_or(PlanError::UnknownArch)?;
    let isa = tables.isa(machine.isa).ok_or(PlanError::UnknownArch)?;
    let lanes = machine.wave_lanes.first().copied().unwrap_or(0);
    let threads = program
        .int_attr(function, attr_names::THREADS)
        .and_then(|n| u32::try_from(n).ok())
        .unwrap_or(0);
    let bad = PlanError::Threads {
        threads,
        wave: u32::from(lanes),
        most: u32::from(machine.max_threads),
    };
    let wave = log2_exact(u64::from(lanes)).ok_or(bad)?;
    let in_place = program.has_loops(function);
    // Loops are dealt out to any number of whole waves, whose numbers have so many bits at the most.
    let counted = match in_place && threads.checked_rem(u32::from(lanes)) == Some(0) {
        true => u64::from(threads).checked_next_power_of_two().unwrap_or(0),
        false => u64::from(threads),
    };
    let all = log2_exact(counted).ok_or(bad)?;
    let warps = all.checked_sub(wave).ok_or(bad)?;
    if threads > u32::from(machine.max_threads) {
        return Err(bad);
    }
    suits(tables, arch, (program, function), u32::from(lanes))?;
    (plan.arch, plan.threads, plan.wave, plan.warps) = (arch, threads, wave, warps);
    if in_place {
        return collect_loops(tables, program, function, plan);
    }
    let machine = (tables, machine, isa);
    let target = begin(machine, (program, function), (wave, warps), workspace)?;
    let mut planner = planner_over!(target, program, function, plan, workspace, limits);
    planner.family = planner.family();
    planner.collect(function)?;
    planner.stage_tiles()?;
    planner.prepare_tiles();
    planner.stage()?;
    planner.place_written()?;
    planner.select_products(function)?;
    planner.choose_free_tiles()?;
    planner.settle()?;
    planner.spare_buffers();
    planner.check_stages()?;
    planner.plan_exchanges()?;
    planner.ready()
}

/// Refuses a function that says that it is for another architecture, or for waves of another size.
fn suits(
    tables: &Tables<'_>,
    arch: ArchId,
    (program, function): (&Program<'_, '_>, Op),
    have: u32,
) -> Result<(), PlanError> {
    if let Some(AttrValue::Str(name)) = program.attr(function, attr_names::TARGET)
        && tables.target_named(program.text(name)) != Some(arch)
    {
        return Err(PlanError::Target(function));
    }
    let said = program.int_attr(function, attr_names::WAVE).and_then(|n| u32::try_from(n).ok());
    match said.filter(|lanes| *lanes != have) {
        Some(lanes) => Err(PlanError::Wave { op: function, lanes, have }),
        None => Ok(()),
    }
}

pub(crate) fn full(pool: PlanPool, capacity: usize, op: Op) -> PlanError {
    let capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
    PlanError::Capacity { pool, capacity, op: Some(op) }
}

pub(crate) struct Planner<'a, 't, 'p, 's> {
    pub(crate) target: TargetInfo<'t>,
    pub(crate) function: Op,
    pub(crate) program: &'a Program<'p, 't>,
    pub(crate) plan: &'a mut Plan<'s>,
    /// What moves tiles, by the spaces that it joins.
    pub(crate) transfers: CopyAtoms<'a>,
    pub(crate) movements: &'a mut VecView<CopyOp>,
    pub(crate) staged: &'a mut VecView<Staged>,
    pub(crate) order: &'a mut VecView<(u32, u16)>,
    pub(crate) copies: &'a mut VecView<Copies>,
    pub(crate) family: FamilyFigures,
    /// What transposes blocks of narrow elements in registers.
    pub(crate) choice: Option<BytePermutes<'t>>,
    /// Lanes whose numbers differ in one of these bits are joined by nothing but memory.
    pub(crate) apart: u8,
    /// What matrix units read from shared memory.
    pub(crate) units: heapless::Vec<SharedOperandUse<'t>, MAX_UNIT_USES>,
    /// How many distributions and how many of `units` are settled: the first ones, which nothing
    /// takes back.
    pub(crate) settled: (usize, usize),
    /// Distributions from this one on may still give each narrow element a register of its own.
    pub(crate) free_from: usize,
    /// Shared tiles, as far as there is room.
    pub(crate) tiles: &'a mut VecView<SharedTile>,
    pub(crate) priced: &'a mut VecView<PricedTile>,
    pub(crate) waiting: &'a mut VecView<Waiting>,
    /// What shared tiles may take.
    pub(crate) limits: &'a Limits,
    /// Tiles that nothing reads.
    pub(crate) unread: Unread,
}

/// The machine that a plan's copies are chosen of, for a planner that has found nothing yet; the plan's
/// threads are counted.
///
/// # Errors
/// [`PlanError::Capacity`].
pub(crate) fn begin<'t>(
    (tables, arch, isa): (&'t Tables<'t>, &'t Arch<'t>, &'t Isa<'t>),
    (program, function): (&Program<'_, 't>, Op),
    (wave, warps): (u8, u8),
    workspace: &mut PlanScratch<'_>,
) -> Result<TargetInfo<'t>, PlanError> {
    workspace.copy_atoms.clear();
    workspace.movements.clear();
    workspace.staged.clear();
    workspace.copies.clear();
    workspace.tiles.clear();
    workspace.priced.clear();
    workspace.waiting.clear();
    let target = TargetInfo { tables, arch, isa, wave, warps, as_held: false };
    list_copy_atoms(&target, program, function, workspace)?;
    Ok(target)
}

/// A planner over a machine that [`begin`] gave. It is large, and stands where it is made: no
/// function hands it on.
macro_rules! planner_over {
    ($target:expr, $program:expr, $function:expr, $plan:expr, $workspace:expr, $limits:expr) => {{
        let target: lanebook_tile::evaluate::TargetInfo<'_> = $target;
        $crate::select::planner::Planner {
            target,
            function: $function,
            program: $program,
            plan: $plan,
            transfers: lanebook_tile::copy_atom::CopyAtoms::new($workspace.copy_atoms.as_slice()),
            movements: $workspace.movements,
            staged: $workspace.staged,
            order: $workspace.order,
            copies: $workspace.copies,
            family: $crate::select::planner::NO_FAMILY,
            choice: $crate::select::elementwise::permute_bytes(target.tables, target.arch),
            apart: $crate::select::planner::lanes_apart(target.tables, target.arch),
            units: heapless::Vec::new(),
            settled: (0, 0),
            free_from: usize::MAX,
            tiles: $workspace.tiles,
            priced: $workspace.priced,
            waiting: $workspace.waiting,
            limits: $limits,
            unread: $crate::select::fragments::unread::Unread::of($program, $function),
        }
    }};
}
pub(crate) use planner_over;

/// No figures yet.
pub(crate) const NO_FAMILY: FamilyFigures = FamilyFigures { bank_span: 0, widest: 0, run: 0 };

/// Bits of lanes' numbers, of which no instruction exchanges those that differ in one.
pub(crate) fn lanes_apart(tables: &Tables<'_>, arch: &Arch<'_>) -> u8 {
    (0..8)
        .filter(|bit| lane_shuffle(tables, arch, 1u8.wrapping_shl(*bit)).is_none())
        .fold(0, |all, bit| all | 1u8.wrapping_shl(bit))
}

impl Planner<'_, '_, '_, '_> {
    /// The figures of the shared-layout families, from the architecture's copy atoms and bank
    /// models.
    pub(crate) fn family(&self) -> FamilyFigures {
        let touching = self.transfers.touching(Space::Shared).copied();
        FamilyFigures::of(self.target.tables, self.target.arch, touching)
    }

    /// Writes the final choice down, with every rejected candidate's reason.
    fn settle(&mut self) -> Result<(), PlanError> {
        self.settle_allocs()?;
        self.settle_products()?;
        self.settle_movements()
    }

    /// The layouts of tiles in shared memory.
    #[inline(never)]
    fn settle_allocs(&mut self) -> Result<(), PlanError> {
        for index in 0..self.plan.allocs.len() {
            let op = self.plan.allocs.get(index).and_then(|a| self.program.def_op(a.value));
            let reasons = self.plan.rejected.capacity() > 0;
            let layout = match self.kept_layout(index).filter(|_| !reasons) {
                Some(layout) => layout,
                None => {
                    self.best_layout(index, op.filter(|_| reasons), u32::MAX)?
                        .ok_or(PlanError::Stale)?
                        .0
                }
            };
            let for_units = self.is_unit_tile(index);
            // A unit copies whole pieces of a tile of scales, whether the tile fills the last or
            // not.
            let scales =
                self.units.iter().any(|u| usize::from(u.alloc) == index && u.scales.is_some());
            let aligns = self.aligns();
            let least = aligns.0;
            if let Some(alloc) = self.plan.allocs.get_mut(index) {
                alloc.layout = layout;
                let align = alloc.align_by(&layout, aligns);
                alloc.align = if for_units { layout.period(least) } else { align };
                let bytes =
                    u32::try_from(alloc.bytes_by(&layout).unwrap_or(u64::MAX)).unwrap_or(u32::MAX);
                alloc.bytes = if scales {
                    bytes.max(layout.end(alloc.shape).unwrap_or(u32::MAX))
                } else {
                    bytes
                };
                alloc.repeat(alloc.bytes);
            }
        }
        Ok(())
    }

    /// What products take from shared memory, and where their accumulators stand.
    #[inline(never)]
    fn settle_products(&mut self) -> Result<(), PlanError> {
        for k in 0..self.plan.products.len() {
            let Some(op) = self.plan.products.get(k).map(|p| p.op) else { continue };
            let shared = self.in_shared(op)?;
            let majors = shared.map(|given| given.is_some_and(|given| given.outer_major));
            let tensor = match self.plan.products.get(k) {
                Some(plan) => self.in_tensor(op, &plan.product, majors)?,
                None => None,
            };
            let copied = self.copied(op)?;
            if let Some(product) = self.plan.products.get_mut(k) {
                product.shared = shared;
                product.copied = copied;
                product.tensor = tensor;
                for (end, given) in product.ends.iter_mut().zip(shared) {
                    if let Some(given) = given {
                        *end = End::Shared(given.alloc);
                    }
                }
            }
        }
        Ok(())
    }

    /// The instructions of movements.
    #[inline(never)]
    pub(crate) fn settle_movements(&mut self) -> Result<(), PlanError> {
        for k in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(k) else { continue };
            if self.is_absorbed(movement.op) {
                continue;
            }
            for end in [movement.from, movement.to] {
                if let CopyEnd::Registers(v) = end
                    && (!is_register_tile(self.program, v) || self.plan.fragment_of(v).is_none())
                {
                    return Err(PlanError::Undecided(movement.op));
                }
            }
            let map = match touches_shared(&movement).and_then(|index| self.plan.allocs.get(index))
            {
                Some(alloc) => {
                    Some((alloc.map().ok_or(PlanError::Extents(movement.op))?, alloc.align))
                }
                None => None,
            };
            let mut record = RejectedAtoms { rejected: heapless::Vec::new(), dropped: 0 };
            let recorded = if self.plan.rejected.capacity() > 0 { Some(&mut record) } else { None };
            let map = map.as_ref().map(|(m, a)| (m, *a));
            let best = self
                .best_way(k, &movement, map, u32::MAX, recorded)?
                .ok_or(PlanError::Undecided(movement.op))?;
            for &RejectedAtom { atom, block, why, cost } in &record.rejected {
                let what = block.map_or(Candidate::Atom(atom), |(along, across)| {
                    Candidate::Flipped(atom, along, across)
                });
                self.plan.lose(RejectedCandidate { op: movement.op, what, why, cost });
            }
            self.plan.rejected_dropped = self.plan.rejected_dropped.saturating_add(record.dropped);
            let (from, to) =
                (self.end(movement.op, movement.from)?, self.end(movement.op, movement.to)?);
            let tiled =
                best.tiled.map(|(form, map)| self.keep_map(&movement, form, map)).transpose()?;
            let plan = TransferPlan {
                kept: 0,
                op: movement.op,
                atom: best.atom,
                second: best.second,
                transpose: best.transpose,
                tiled,
                tiling: best.found.tiling,
                from,
                to,
                figures: best.found.figures,
                bank_status: best.found.bank_status,
            };
            let capacity = self.plan.transfers.capacity();
            self.plan
                .transfers
                .push(plan)
                .map_err(|_| full(PlanPool::Transfers, capacity, movement.op))?;
        }
        Ok(())
    }

    /// The map's number in the plan; the tile in shared memory is aligned as its copies need it.
    fn keep_map(
        &mut self,
        movement: &CopyOp,
        form: u8,
        map: MapPlan,
    ) -> Result<TiledPlan, PlanError> {
        let align = TensorMapCopies(&self.target).align(&map);
        if let Some(alloc) =
            touches_shared(movement).and_then(|index| self.plan.allocs.get_mut(index))
        {
            let each = alloc.stage_bytes();
            alloc.align = alloc.align.max(align);
            alloc.repeat(each);
        }
        let number = match self.plan.maps.iter().position(|m| *m == map) {
            Some(number) => number,
            None => {
                let capacity = self.plan.maps.capacity();
                self.plan
                    .maps
                    .push(map)
                    .map_err(|_| full(PlanPool::Maps, capacity, movement.op))?;
                self.plan.maps.len().saturating_sub(1)
            }
        };
        let number = u8::try_from(number).map_err(|_| full(PlanPool::Maps, number, movement.op))?;
        Ok(TiledPlan { form, map: number, completion: None })
    }

    fn end(&self, op: Op, end: CopyEnd) -> Result<End, PlanError> {
        match end {
            CopyEnd::Registers(v) => self
                .plan
                .fragment_of(v)
                .map(|(k, _)| End::Registers(k))
                .ok_or(PlanError::Undecided(op)),
            CopyEnd::Shared(k) => Ok(End::Shared(k)),
            CopyEnd::Global(k) => Ok(End::Global(k)),
        }
    }
}
