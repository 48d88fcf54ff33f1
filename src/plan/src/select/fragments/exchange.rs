//! Exchanges through shared memory: the pair of instructions that is cheapest for both
//! distributions, and between them where each element lies.

use crate::data::{
    AllocPlan, Candidate, HalfPlan, PlanError, PlanPool, RejectedCandidate, SharedExchange,
    ShufflePlan, beside_halves,
};
use crate::select::fragments::exchange_forms::{FORMS, FormKind};
use crate::select::fragments::reduce::ExchangeSides;
use crate::select::planner::{Planner, full};
use lanebook_ir::Op;
use lanebook_tables::{BankModel, OpRole, Space, TupleStyle};
use lanebook_tile::basis::{HalfAccess, PlaceBasis, construct};
use lanebook_tile::copy_atom::CopyAtom;
use lanebook_tile::map::{BitMatrix, Fragment, MemoryMap, SharedLayout};
use lanebook_tile::offset::varying;
use lanebook_tile::tiling::Reject;

/// Most instructions of one half that are tried; two such lists lie on the deepest stack of all, and
/// more is an error.
const MOST: usize = 40;

/// Instructions that can do a half by themselves: the number of each among the copy atoms, and what
/// it costs where nothing but this half decides where elements lie.
type Able = heapless::Vec<(u8, u32), MOST>;

/// An exchange that is possible.
#[derive(Copy, Clone)]
struct ExchangeForm {
    basis: PlaceBasis,
    store: HalfPlan,
    load: HalfPlan,
    cost: u32,
}

/// Whose bits come in order among the places: the tile's own, those of the store's lanes and warps,
/// or the load's.
#[derive(Copy, Clone, PartialEq, Eq)]
enum PlaceOrder {
    Plain,
    Store,
    Load,
}

const ORDERS: [PlaceOrder; 3] = [PlaceOrder::Plain, PlaceOrder::Store, PlaceOrder::Load];

/// A way as an exchange in one round.
fn exchange_of(
    op: Op,
    (from, to): (&Fragment, &Fragment),
    way: &ExchangeForm,
    alloc: u16,
) -> SharedExchange {
    let (from, to, basis, store, load) = (*from, *to, way.basis, way.store, way.load);
    SharedExchange { op, alloc, from, to, basis, store, load, rounds: BitMatrix::new() }
}

/// Of two reasons why an exchange is too large that of the smaller one; else the first.
fn smaller_need(first: PlanError, second: PlanError) -> PlanError {
    let need = |error: PlanError| match error {
        PlanError::Scratch { need, .. } | PlanError::SharedMemory { need, .. } => need,
        _ => u32::MAX,
    };
    if need(second) < need(first) { second } else { first }
}

impl Planner<'_, '_, '_, '_> {
    /// Gives every reduction and conversion that needs one its tile in shared memory, with atoms
    /// and places.
    pub(crate) fn plan_exchanges(&mut self) -> Result<(), PlanError> {
        let program = self.program;
        for op in program.inside(self.function) {
            if let Some(between) = self.between(op) {
                let inside = self.inside_warps(op, &between)?;
                let planned = self.plan_exchange(op, &between, inside);
                // What no instruction stores and loads can still move inside warps.
                if inside.is_none() {
                    planned?;
                }
            }
        }
        Ok(())
    }

    /// Puts a conversion that can be one inside each warp into the plan, and answers its cost; the
    /// reason why not is kept.
    #[inline(never)]
    fn inside_warps(&mut self, op: Op, between: &ExchangeSides) -> Result<Option<u32>, PlanError> {
        if self.program.role(op) != OpRole::Convert {
            return Ok(None);
        }
        match self.lanes(op, &between.from, &between.to) {
            Ok(plan) => {
                self.push_lanes(plan)?;
                // Both sides stand beside each other: what is too large is a last resort.
                let (from, to) = (between.from.registers(), between.to.registers());
                let is_large = u32::from(from).saturating_add(u32::from(to)) > self.most_packed();
                Ok(Some(if is_large { u32::MAX } else { plan.cost }))
            }
            Err(why) => {
                self.plan.lose(RejectedCandidate { op, what: Candidate::Lanes, why, cost: 0 });
                Ok(None)
            }
        }
    }

    fn push_lanes(&mut self, lanes: ShufflePlan) -> Result<(), PlanError> {
        let capacity = self.plan.lanes.capacity();
        self.plan.lanes.push(lanes).map_err(|_| full(PlanPool::Shuffles, capacity, lanes.op))
    }

    /// The cheapest exchange through shared memory, unless moving `inside` warps costs no more.
    fn plan_exchange(
        &mut self,
        op: Op,
        between: &ExchangeSides,
        inside: Option<u32>,
    ) -> Result<(), PlanError> {
        // What costs so much or more is not picked beside that.
        let ceiling = inside
            .map_or(u32::MAX, |cost| cost.saturating_sub(self.target.tables.weights.exchange()));
        let found = self.best_forms(op, between, ceiling)?;
        self.take_exchange(op, between, &found, inside)
    }

    /// Whether a way can go in as many rounds as it has to.
    ///
    /// # Errors
    /// It cannot: what it takes at the least.
    #[inline(never)]
    fn goes_in_rounds(
        &self,
        op: Op,
        (from, to): (&Fragment, &Fragment),
        way: &ExchangeForm,
    ) -> Result<(), PlanError> {
        let value = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        let bytes = u32::try_from(from.shape.bytes()).unwrap_or(u32::MAX);
        if bytes <= self.scratch_room(op, value) {
            return Ok(());
        }
        self.fit_rounds(&mut exchange_of(op, (from, to), way, 0), value)
    }

    /// Puts an exchange into the plan, unless moving `inside` warps costs no more.
    #[inline(never)] // What it keeps on the stack is never there while ways are compared.
    fn take_exchange(
        &mut self,
        op: Op,
        between: &ExchangeSides,
        (way, forms): &(ExchangeForm, (FormKind, FormKind)),
        inside: Option<u32>,
    ) -> Result<(), PlanError> {
        let shape = between.from.shape;
        let value = self.program.result(op, 0).ok_or(PlanError::Unsupported(op))?;
        let align = self.target.tables.weights.shared_align;
        let number = u16::try_from(self.plan.allocs.len()).unwrap_or(u16::MAX);
        let mut exchange = exchange_of(op, (&between.from, &between.to), way, number);
        for (stores, side) in [(true, &mut exchange.from), (false, &mut exchange.to)] {
            let form = self.form(op, between, stores, *forms).ok_or(PlanError::Stale)?;
            *side = form.fragment;
        }
        self.fit_rounds(&mut exchange, value)?;
        if let Some(inside) = inside {
            let beside = beside_halves(exchange.round_count(), &self.target.tables.weights);
            let cost = way.cost.saturating_add(beside);
            if inside <= cost {
                let what = Candidate::Exchange(way.store.atom, way.load.atom);
                self.plan.lose(RejectedCandidate { op, what, why: Reject::Dearer, cost });
                return Ok(());
            }
            // It was put last.
            let _ = self.plan.lanes.pop();
            self.plan.lose(RejectedCandidate {
                op,
                what: Candidate::Lanes,
                why: Reject::Dearer,
                cost: inside,
            });
        }
        for stores in [true, false] {
            let form = self.form(op, between, stores, *forms).ok_or(PlanError::Stale)?;
            if let Some(lanes) = form.lanes {
                self.push_lanes(lanes)?;
            }
        }
        let map = SharedLayout::BY_ROWS.map(shape).ok_or(PlanError::Stale)?;
        let alloc = AllocPlan {
            bytes: exchange.bytes(),
            align: clear_of_phases(&map, [&exchange.store, &exchange.load]).max(align),
            ..AllocPlan::by_rows(value, shape)
        };
        let capacity = self.plan.allocs.capacity();
        self.plan.allocs.push(alloc).map_err(|_| full(PlanPool::Allocs, capacity, op))?;
        let capacity = self.plan.exchanges.capacity();
        self.plan.exchanges.push(exchange).map_err(|_| full(PlanPool::Exchanges, capacity, op))
    }

    /// The cheapest exchange over all forms of the two sides: as they are at any cost, in others only
    /// below `ceiling`.
    #[inline(never)]
    fn best_forms(
        &mut self,
        op: Op,
        between: &ExchangeSides,
        ceiling: u32,
    ) -> Result<(ExchangeForm, (FormKind, FormKind)), PlanError> {
        let mut best: Option<(ExchangeForm, (FormKind, FormKind))> = None;
        let mut why = None;
        let is_conversion = self.program.role(op) == OpRole::Convert;
        for forms in FORMS {
            if forms != (FormKind::Same, FormKind::Same) && !is_conversion {
                break;
            }
            let from = self.form(op, between, true, forms);
            let to = self.form(op, between, false, forms);
            let (Some(from), Some(to)) = (&from, &to) else { continue };
            let extra = from.cost.saturating_add(to.cost);
            let same = forms == (FormKind::Same, FormKind::Same);
            let most = if same { u32::MAX } else { ceiling };
            let limit = best.as_ref().map_or(most, |(way, _)| way.cost.min(most));
            if extra >= limit {
                continue;
            }
            match self.best_exchange(op, (&from.fragment, &to.fragment), extra, limit) {
                Ok(Some(way)) => best = Some((way, forms)),
                Ok(None) => {}
                Err(error) => why = Some(why.map_or(error, |first| smaller_need(first, error))),
            }
        }
        best.ok_or(why.unwrap_or(PlanError::Undecided(op)))
    }

    /// The cheapest pair of instructions, with the places that both together want; `None` if with
    /// `extra` every one costs `limit` or more.
    #[inline(never)]
    fn best_exchange(
        &mut self,
        op: Op,
        (from, to): (&Fragment, &Fragment),
        extra: u32,
        limit: u32,
    ) -> Result<Option<ExchangeForm>, PlanError> {
        let (mut stores, mut loads) = (Able::new(), Able::new());
        self.able(op, from, true, &mut stores)?;
        self.able(op, to, false, &mut loads)?;
        let mut best: Option<ExchangeForm> = None;
        let (mut why, mut too_large) = (None, None);
        let cheapest = |list: &Able| list.iter().min_by_key(|(_, cost)| *cost).map(|(n, _)| *n);
        let (first, mut limit) = ((cheapest(&stores), cheapest(&loads)), limit);
        // What the two that are cheapest alone cost together is the most for all.
        for bounds in [true, false] {
            for &(store, least_store) in &stores {
                for &(load, least_load) in &loads {
                    if bounds && first != (Some(store), Some(load)) {
                        continue;
                    }
                    for order in ORDERS {
                        let limit =
                            best.as_ref().map_or(limit, |way| way.cost).saturating_sub(extra);
                        if least_store.saturating_add(least_load) >= limit {
                            why = why.or((!bounds).then_some(Reject::Dearer));
                            continue;
                        }
                        match self.exchange_by((store, load), (from, to), order, limit) {
                            Ok(way) => {
                                let way =
                                    ExchangeForm { cost: way.cost.saturating_add(extra), ..way };
                                if let Err(error) = self.goes_in_rounds(op, (from, to), &way) {
                                    too_large =
                                        Some(too_large.map_or(error, |e| smaller_need(e, error)));
                                    continue;
                                }
                                if let Some(beaten) = best.replace(way).filter(|_| !bounds) {
                                    let (store, load) = (beaten.store.atom, beaten.load.atom);
                                    let what = Candidate::Exchange(store, load);
                                    self.lose_exchange(op, from.shape.bytes(), (what, beaten.cost));
                                }
                            }
                            Err(reason) => why = why.or((!bounds).then_some(reason)),
                        }
                    }
                }
            }
            // One as dear may still come before it.
            if let Some(way) = best.as_ref().filter(|_| bounds) {
                limit = limit.min(way.cost.saturating_add(1));
                best = None;
            }
        }
        match (best, why) {
            (None, _) if too_large.is_some() => Err(too_large.unwrap_or(PlanError::Stale)),
            (None, Some(why)) if why != Reject::Dearer => Err(PlanError::NoCopyAtom { op, why }),
            (found, _) => Ok(found),
        }
    }

    /// Keeps a pair of instructions that another one beats, with what its barriers and rounds would
    /// cost beside it.
    #[inline(never)] // Nothing of it stays on the stack while ways are compared.
    fn lose_exchange(&mut self, op: Op, bytes: u64, (atoms, cost): (Candidate, u32)) {
        let room = self.program.result(op, 0).map_or(0, |value| self.scratch_room(op, value));
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let rounds = if room == 0 { 1 } else { bytes.div_ceil(room).max(1) };
        let rounds = rounds.checked_next_power_of_two().unwrap_or(u32::MAX);
        let cost = cost.saturating_add(beside_halves(rounds, &self.target.tables.weights));
        self.plan.lose(RejectedCandidate { op, what: atoms, why: Reject::Dearer, cost });
    }

    /// The instructions between registers and shared memory, one way.
    pub(super) fn movers(&self, stores: bool) -> &[CopyAtom] {
        if stores {
            self.transfers.between(Space::Register, Space::Shared)
        } else {
            self.transfers.between(Space::Shared, Space::Register)
        }
    }

    pub(super) fn banks(&self, copy_atom: &CopyAtom) -> Option<&BankModel<'_>> {
        let movement = self.target.tables.atom(copy_atom.atom)?.movement?;
        let side = if movement.to.space == Space::Shared { &movement.to } else { &movement.from };
        self.target.arch.banks.iter().find(|model| model.name == side.banks)
    }

    /// The instructions that can do one half.
    ///
    /// # Errors
    /// No instruction can: why the first could not.
    #[inline(never)]
    fn able(
        &mut self,
        op: Op,
        fragment: &Fragment,
        stores: bool,
        out: &mut Able,
    ) -> Result<(), PlanError> {
        let mut why: Option<Reject> = None;
        for number in 0..u8::try_from(self.movers(stores).len()).unwrap_or(u8::MAX) {
            let found = self.half_alone(number, fragment, stores);
            match found {
                Ok(cost) => {
                    out.push((number, cost)).map_err(|_| full(PlanPool::CopyAtoms, MOST, op))?
                }
                Err(reason) => why = why.or(Some(reason)),
            }
        }
        if out.is_empty() {
            return Err(PlanError::NoCopyAtom { op, why: why.unwrap_or(Reject::Form) });
        }
        Ok(())
    }

    /// What one half costs where it alone decides.
    #[inline(never)]
    fn half_alone(&self, number: u8, fragment: &Fragment, stores: bool) -> Result<u32, Reject> {
        let copy_atom = self.movers(stores).get(usize::from(number)).ok_or(Reject::Form)?;
        let half = HalfAccess { copy_atom, fragment, banks: self.banks(copy_atom) };
        let basis = construct(&half, &half, false, self.any()).ok_or(Reject::RegisterOrder)?;
        let map = SharedLayout::BY_ROWS.map(fragment.shape).ok_or(Reject::Size)?;
        let found = self.half(copy_atom, &basis.apply(fragment), &map, u32::MAX)?;
        Ok(found.cost(&self.target.tables.weights))
    }

    /// Whether registers that an instruction takes at once need not follow each other.
    pub(super) fn any(&self) -> bool {
        self.target.isa.tuples == TupleStyle::Braces
    }

    /// An exchange by two instructions, if it costs less than `limit`.
    #[inline(never)]
    fn exchange_by(
        &self,
        (store, load): (u8, u8),
        (from, to): (&Fragment, &Fragment),
        order: PlaceOrder,
        limit: u32,
    ) -> Result<ExchangeForm, Reject> {
        let atom =
            |stores, number: u8| self.movers(stores).get(usize::from(number)).ok_or(Reject::Form);
        let (store, load) = (atom(true, store)?, atom(false, load)?);
        let first = HalfAccess { copy_atom: store, fragment: from, banks: self.banks(store) };
        let second = HalfAccess { copy_atom: load, fragment: to, banks: self.banks(load) };
        let apart =
            Reject::Apart { atom_bytes: store.run_bytes.max(load.run_bytes), tile_bytes: 0 };
        let basis = match order {
            PlaceOrder::Plain => PlaceBasis::plain(from.shape.total()),
            _ => construct(&first, &second, order == PlaceOrder::Load, self.any()).ok_or(apart)?,
        };
        let map = SharedLayout::BY_ROWS.map(from.shape).ok_or(Reject::Size)?;
        let store = self.half(store, &basis.apply(from), &map, limit)?;
        let left = limit.saturating_sub(store.cost(&self.target.tables.weights));
        let load = self.half(load, &basis.apply(to), &map, left)?;
        let cost = store
            .cost(&self.target.tables.weights)
            .saturating_add(load.cost(&self.target.tables.weights));
        if cost < limit {
            Ok(ExchangeForm { basis, store, load, cost })
        } else {
            Err(Reject::Dearer)
        }
    }
}

/// The alignment that keeps a tile's start clear of all bits that instances change by exclusive or.
fn clear_of_phases(map: &MemoryMap, halves: [&HalfPlan; 2]) -> u32 {
    let changed = halves.iter().fold(0u32, |all, half| {
        let mask = varying(map, &half.tiling).bytes;
        let instances = half.tiling.instances.as_slice().iter();
        instances.fold(all, |all, e| all | (map.at(*e).bytes & mask))
    });
    changed.checked_ilog2().and_then(|top| 2u32.checked_shl(top)).unwrap_or(1)
}
