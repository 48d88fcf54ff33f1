//! Shared tiles: the cheapest layout for all movements of one, and what is kept from one question
//! to the next.
//!
//! A layout is dropped as soon as something shows that it cannot win: what its movements cost at
//! the least with the widest copy atom that can divide them, what its copies are known to cost,
//! what the layout that won last time costs now. None of it changes which layout wins: of equally
//! cheap ones the first.

use crate::data::{Candidate, PlanError, RejectedCandidate, Unwritable};
use crate::select::memory::search::{power, touches_shared};
use crate::select::memory::tma::TensorMapCopies;
use crate::select::planner::{CopyEnd, CopyOp, Planner};
use lanebook_ir::Op;
use lanebook_layout::PostMap;
use lanebook_tables::{Space, TupleStyle};
use lanebook_tile::candidates::candidates;
use lanebook_tile::copy_atom::ViableAtoms;
use lanebook_tile::divide::divide;
use lanebook_tile::map::{MemoryMap, SharedLayout, TileShape};
use lanebook_tile::tiling::Reject;

/// A layout's number where there is none.
const NO_LAYOUT: u16 = u16::MAX;

/// Most movements of one tile whose least cost is looked at together.
const BOUNDS: usize = 8;

/// The least that movements of a tile cost.
type CopyBounds = heapless::Vec<CopyBound, BOUNDS>;

/// The least that a movement costs.
#[derive(Copy, Clone)]
pub(crate) struct CopyBound {
    /// Its number.
    pub(crate) movement: u16,
    /// Whatever the width of its accesses.
    pub(crate) base: u32,
    /// Of it, what passes of shared memory cost.
    pub(crate) shared: u32,
    /// With blocks transposed in registers, which columns of a tile can be stored from; the
    /// greatest number where nothing does that.
    pub(crate) flipped: u32,
    /// Bytes that a lane moves.
    pub(crate) lane_bytes: u32,
    /// Executions.
    pub(crate) weight: u32,
    /// It is one between memories.
    pub(crate) copies: bool,
    /// It comes from global memory.
    pub(crate) loads: bool,
    /// One instruction may copy a whole box.
    pub(crate) tiled: bool,
    /// What can do it where the tile lies by columns, and by rows ([`Planner::viable`]).
    pub(crate) viable: [u32; 2],
    /// Bytes of the widest of them.
    pub(crate) width: [u32; 2],
}

impl CopyBound {
    /// Of two figures the one for a layout; neither says anything of strips.
    fn of(&self, figures: &[u32; 2], layout: &SharedLayout) -> u32 {
        figures
            .get(usize::from(layout.row_major))
            .copied()
            .filter(|_| layout.strip.is_none())
            .unwrap_or(u32::MAX)
    }

    /// With accesses of `width` bytes, of which each costs one instruction.
    pub(crate) fn at(self, width: u32, instruction: u32) -> u32 {
        let count = match width.is_power_of_two() {
            true => self.lane_bytes.checked_shr(width.trailing_zeros()).unwrap_or(0),
            false => self.lane_bytes.checked_div(width.max(1)).unwrap_or(0),
        };
        self.base.saturating_add(count.saturating_mul(instruction))
    }
}

/// What is known of a shared tile from one question to the next.
#[derive(Copy, Clone, Debug)]
pub struct SharedTile {
    /// The number of the layout that won last.
    warm: u16,
    /// Where what its copies cost stands, layout by layout.
    copies: u16,
    /// What decided the cost below: bits of movements and of units. `None`: nothing yet.
    key: Option<(u64, u16)>,
    /// The cost under the cheapest layout.
    cost: u32,
    /// What was asked last, as bits of movements and of units, and the cheapest layout's number.
    asked: Option<((u64, u16), u16)>,
    /// The same for what was decided last.
    decided: Option<((u64, u16), u16)>,
}

/// What all copies of a shared tile cost under one layout: nothing else that is decided changes it.
#[derive(Copy, Clone, Debug, Default)]
pub struct Copies(u32);

impl Copies {
    fn new(least: u32, exact: bool) -> Self {
        Self(least.min(u32::MAX / 2).wrapping_shl(1) | u32::from(exact && least < u32::MAX / 2))
    }

    /// So much at the least.
    fn least(self) -> u32 {
        self.0 >> 1
    }

    /// And no more.
    fn is_exact(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Whether a movement goes from memory to memory.
fn copies_memory(movement: &CopyOp) -> bool {
    ![movement.from, movement.to].iter().any(|end| matches!(end, CopyEnd::Registers(_)))
}

/// What a free layout can serve: a swizzle moves its pieces by bits of the row's number, which some
/// lane or instance has; padding shifts rows.
fn pieces(layout: &SharedLayout) -> ViableAtoms {
    let mut out = ViableAtoms::ALL;
    if layout.strip.is_some() {
        return out;
    }
    if let Some(swizzle) = layout.post.swizzle().filter(|swizzle| swizzle.b > 0) {
        out.run_bytes = 1u32.checked_shl(u32::from(swizzle.m)).unwrap_or(u32::MAX);
    }
    for pad in layout.post.padding().map_or(&[] as &[lanebook_layout::Pad], |p| p.pads()) {
        out.align = out.align.min(power(pad.pad));
    }
    out
}

impl Planner<'_, '_, '_, '_> {
    /// Makes room for what is kept of each shared tile; where there is none, it is worked out again
    /// each time.
    pub(crate) fn prepare_tiles(&mut self) {
        for (index, alloc) in self.plan.allocs.iter().enumerate() {
            let first = self.copies.len();
            let count =
                candidates(alloc.shape, self.family).count().saturating_add(self.strips(index));
            let has_room = !alloc.fixed && count <= self.copies.capacity().saturating_sub(first);
            for _ in 0..if has_room { count } else { 0 } {
                let _ = self.copies.push(Copies::default());
            }
            let copies = u16::try_from(first).ok().filter(|_| has_room).unwrap_or(NO_LAYOUT);
            if self
                .tiles
                .push(SharedTile {
                    warm: NO_LAYOUT,
                    key: None,
                    cost: 0,
                    copies,
                    asked: None,
                    decided: None,
                })
                .is_err()
            {
                return;
            }
        }
    }

    /// Cost of a shared tile's known movements under its cheapest layout; `None` if it is `limit`
    /// or more. Where nothing that decides it can change any more, it is worked out once.
    pub(crate) fn tile_cost(&mut self, index: usize, limit: u32) -> Result<Option<u32>, PlanError> {
        let key = self.settled_key(index);
        if let Some(tile) = self.tiles.get(index).filter(|tile| key.is_some() && tile.key == key) {
            return Ok(Some(tile.cost).filter(|cost| *cost < limit || limit == u32::MAX));
        }
        let found = self.best_layout(index, None, limit)?;
        if let (Some(_), Some((_, cost)), Some(tile)) = (key, found, self.tiles.get_mut(index)) {
            (tile.key, tile.cost) = (key, cost);
        }
        Ok(found.map(|(_, cost)| cost))
    }

    /// The known movements of a shared tile and the units that read it, as bits, if all that they
    /// depend on is settled.
    fn settled_key(&self, index: usize) -> Option<(u64, u16)> {
        self.key(index, self.settled)
    }

    /// The same, if all depends on so many distributions and units only.
    fn key(&self, index: usize, settled: (usize, usize)) -> Option<(u64, u16)> {
        let (mut moves, mut units) = (0u64, 0u16);
        for (k, unit) in
            self.units.iter().enumerate().filter(|(_, unit)| usize::from(unit.alloc) == index)
        {
            let _ = unit;
            units |= 1u16.checked_shl(u32::try_from(k).ok()?).filter(|_| k < settled.1)?;
        }
        for (k, movement) in self.movements.iter().enumerate() {
            if touches_shared(movement) != Some(index) || !self.is_known(movement) {
                continue;
            }
            let is_settled = |end: &CopyEnd| match end {
                CopyEnd::Registers(v) => {
                    self.plan.fragment_of(*v).is_some_and(|(k, _)| usize::from(k) < settled.0)
                }
                _ => true,
            };
            let is_settled = [movement.from, movement.to].iter().all(is_settled);
            moves |= 1u64.checked_shl(u32::try_from(k).ok()?).filter(|_| is_settled)?;
        }
        Some((moves, units))
    }

    /// The cheapest layout of a shared tile for all its known movements, and the cost; of equally
    /// cheap ones the first. `None` if every one costs `limit` or more. With `record` every other
    /// layout is priced in full and kept as a rejected candidate of that operation; without, a
    /// layout is dropped as soon as it cannot win.
    pub(crate) fn best_layout(
        &mut self,
        index: usize,
        record: Option<Op>,
        limit: u32,
    ) -> Result<Option<(SharedLayout, u32)>, PlanError> {
        let alloc = *self.plan.allocs.get(index).ok_or(PlanError::UnknownArch)?;
        let mut best: Option<(SharedLayout, u32)> = None;
        let mut best_number = usize::MAX;
        let mut failure: Option<PlanError> = None;
        let mut capped = false;
        let fixed = alloc.fixed.then_some(alloc.layout);
        // What matrix units read has to be one of their own layouts; everything else is free.
        let for_units = self.is_unit_tile(index);
        let most = match (fixed, for_units) {
            (Some(_), _) => 1,
            (None, true) => self.unit_layouts(),
            (None, false) => usize::MAX,
        };
        let room = self.limits.of(alloc.value);
        let bytes = |layout: &SharedLayout| {
            u32::try_from(layout.bytes(alloc.shape).unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
        };
        let over = |layout: &SharedLayout| {
            if room == u32::MAX { None } else { Some(bytes(layout)).filter(|bytes| *bytes > room) }
        };
        let is_free = fixed.is_none() && !for_units;
        let bounds = self.bounds(index, alloc.shape, is_free && record.is_none());
        // The layout that won last time is likely to be good again: what costs more than it cannot
        // win, whatever comes first.
        let mut roof = limit;
        let warm = self
            .tiles
            .get(index)
            .map(|tile| tile.warm)
            .filter(|warm| *warm != NO_LAYOUT)
            .map(usize::from);
        let mut known = None;
        if record.is_none()
            && is_free
            && let Some(layout) = warm.and_then(|warm| self.free_layout(index, warm, alloc.shape))
            && let Ok(cost) = self.layout_cost(index, &layout, warm, roof, &bounds, false)
        {
            known = Some(cost);
            roof = cost.map_or(roof, |cost| roof.min(cost.saturating_add(1)));
        }
        // Boxes of a copy through a tensor map can stand one after the other, each as wide as its
        // swizzle mode's rows.
        let (mut free, mut boxed) = (candidates(alloc.shape, self.family), 0..self.strips(index));
        for number in 0..most {
            let next = match (fixed, for_units) {
                (Some(layout), _) => Some(layout),
                (None, true) => self.unit_layout(index, number, alloc.shape),
                (None, false) => match free.next() {
                    None => match boxed.next() {
                        None => break,
                        Some(number) => self.boxed_layout(index, number, alloc.shape),
                    },
                    next => next,
                },
            };
            let Some(layout) = next else { continue };
            if let Some(bytes) = over(&layout) {
                if let Some(op) = record {
                    self.plan.lose(RejectedCandidate {
                        op,
                        what: Candidate::Shared(layout),
                        why: Reject::Room { bytes, most: room },
                        cost: 0,
                    });
                }
                failure = failure.or(self
                    .program
                    .def_op(alloc.value)
                    .map(|op| PlanError::SharedMemory { op, need: bytes, have: room }));
                continue;
            }
            if for_units && let Err(why) = self.suits_units(index, &layout, alloc.shape) {
                if let Some(op) = record {
                    self.plan.lose(RejectedCandidate {
                        op,
                        what: Candidate::Shared(layout),
                        why,
                        cost: 0,
                    });
                }
                let of = self.program.def_op(alloc.value);
                failure = failure.or(of.map(|op| match fixed {
                    Some(_) => PlanError::Written { op, why: Unwritable::Unit },
                    None => PlanError::NoMover { op, why },
                }));
                continue;
            }
            let cap = match (record, best) {
                (None, Some((_, least))) => least,
                (None, None) => roof,
                _ => u32::MAX,
            };
            let cost = match known.filter(|_| Some(number) == warm) {
                Some(cost) => Ok(cost.filter(|cost| *cost < cap)),
                None => {
                    // Of several reasons why nothing fits the first is reported, and none if
                    // something does.
                    let wants_reason =
                        record.is_some() || (best.is_none() && !capped && failure.is_none());
                    self.layout_cost(
                        index,
                        &layout,
                        is_free.then_some(number),
                        cap,
                        &bounds,
                        wants_reason,
                    )
                }
            };
            match cost {
                Ok(Some(cost)) => {
                    let beaten = best.is_none_or(|(_, least)| cost < least);
                    if let Some(op) = record {
                        let loser = if beaten { best } else { Some((layout, cost)) };
                        if let Some((shared, cost)) = loser {
                            self.plan.lose(RejectedCandidate {
                                op,
                                what: Candidate::Shared(shared),
                                why: Reject::Dearer,
                                cost,
                            });
                        }
                    }
                    if beaten {
                        best = Some((layout, cost));
                        best_number = number;
                    }
                }
                Ok(None) => capped = true,
                Err(e) => {
                    if let (Some(op), PlanError::NoMover { why, .. }) = (record, e) {
                        self.plan.lose(RejectedCandidate {
                            op,
                            what: Candidate::Shared(layout),
                            why,
                            cost: 0,
                        });
                    }
                    failure = failure.or(Some(e));
                }
            }
        }
        if is_free && best.is_some() {
            let number = u16::try_from(best_number).unwrap_or(NO_LAYOUT);
            let asked = self.key(index, (usize::MAX, usize::MAX)).map(|key| (key, number));
            if let Some(tile) = self.tiles.get_mut(index) {
                (tile.warm, tile.asked) = (number, asked);
            }
        }
        match best {
            None if !capped => Err(failure.unwrap_or(PlanError::UnknownArch)),
            found => Ok(found),
        }
    }

    /// What was asked last is the cheapest so far: its layouts are kept. Nothing is, where more
    /// than one way was asked for (`once` is not).
    pub(crate) fn keep_layouts(&mut self, once: bool) {
        for tile in self.tiles.iter_mut() {
            tile.decided = tile.asked.filter(|_| once);
        }
    }

    /// The cheapest layout of a tile, where it is known from what was decided last.
    pub(crate) fn kept_layout(&self, index: usize) -> Option<SharedLayout> {
        let shape = self.plan.allocs.get(index)?.shape;
        let (key, number) =
            self.tiles.get(index)?.decided.filter(|(_, number)| *number != NO_LAYOUT)?;
        self.free_layout(index, usize::from(number), shape)
            .filter(|_| self.key(index, (usize::MAX, usize::MAX)) == Some(key))
    }

    /// How many layouts [`Self::boxed_layout`] counts for a tile: none where no copy through a
    /// tensor map could bring it, or take it away.
    fn strips(&self, index: usize) -> usize {
        let is_tiled = self
            .movements
            .iter()
            .filter(|m| touches_shared(m) == Some(index))
            .any(|m| self.may_be_tiled(m));
        if is_tiled { self.unit_layouts() } else { 0 }
    }

    fn boxed_layout(&self, index: usize, number: usize, shape: TileShape) -> Option<SharedLayout> {
        self.unit_layout(index, number, shape)
            .filter(|layout| layout.row_major && layout.strip.is_some())
    }

    /// A free layout of a tile by its number.
    fn free_layout(&self, index: usize, number: usize, shape: TileShape) -> Option<SharedLayout> {
        let mut free = candidates(shape, self.family);
        match free.nth(number) {
            Some(layout) => Some(layout),
            None => {
                let number = number.checked_sub(candidates(shape, self.family).count())?;
                self.boxed_layout(index, number, shape).filter(|_| number < self.strips(index))
            }
        }
    }

    /// Whether a copy could go through a tensor map.
    pub(crate) fn may_be_tiled(&self, movement: &CopyOp) -> bool {
        match (movement.from, movement.to) {
            (CopyEnd::Global(_), _) => TensorMapCopies(&self.target).moves(true).next().is_some(),
            (_, CopyEnd::Global(_)) => TensorMapCopies(&self.target).moves(false).next().is_some(),
            _ => false,
        }
    }

    /// The least that known movements of a shared tile cost; where there are more than fit, of the
    /// first ones. `is_free`: under one of the free layouts.
    #[inline(never)]
    fn bounds(&self, index: usize, shape: TileShape, is_free: bool) -> CopyBounds {
        let mut out = CopyBounds::new();
        for (number, movement) in self.movements.iter().enumerate() {
            if touches_shared(movement) != Some(index) || !self.is_known(movement) {
                continue;
            }
            let mut bound = CopyBound {
                movement: u16::try_from(number).unwrap_or(u16::MAX),
                weight: self.weigh(movement, 1),
                copies: copies_memory(movement),
                loads: matches!(movement.from, CopyEnd::Global(_)),
                tiled: copies_memory(movement) && self.may_be_tiled(movement),
                ..self.bound(movement)
            };
            let half = CopyBound { base: bound.shared, ..bound };
            for staged in self
                .staged
                .iter()
                .filter(|s| usize::from(s.movement) == number && s.transpose.is_some())
            {
                let stores = half.at(staged.bits / 8, self.target.tables.weights.instruction);
                bound.flipped = bound.flipped.min(staged.found.figures.cost.saturating_add(stores));
            }
            if is_free {
                for row_major in [true, false] {
                    let known =
                        SharedLayout { row_major, strip: None, turn: None, post: PostMap::None }
                            .map(shape)
                            .and_then(|map| self.viable(movement, &map, row_major));
                    if let Some((copy_atoms, width)) = known {
                        let place = usize::from(row_major);
                        bound
                            .viable
                            .get_mut(place)
                            .into_iter()
                            .for_each(|viable| *viable = copy_atoms);
                        bound.width.get_mut(place).into_iter().for_each(|widest| *widest = width);
                    }
                }
            }
            if out.push(bound).is_err() {
                break;
            }
        }
        out
    }

    /// Which copy atoms can divide a movement between registers and a tile that lies by rows or by
    /// columns, whatever swizzle or padding it has: bits in the order of the copy atoms between the
    /// two spaces, and the widest one's bytes. Where one moves more at once than lies next to each
    /// other in any case, only the layout says.
    #[inline(never)]
    fn viable(&self, movement: &CopyOp, map: &MemoryMap, row_major: bool) -> Option<(u32, u32)> {
        let (value, spaces) = match (movement.from, movement.to) {
            (CopyEnd::Registers(v), CopyEnd::Shared(_)) => (v, (Space::Register, Space::Shared)),
            (CopyEnd::Shared(_), CopyEnd::Registers(v)) => (v, (Space::Shared, Space::Register)),
            _ => return None,
        };
        let (_, fragment) = self.plan.fragment_of(value)?;
        let inner = if row_major { map.shape.cols } else { map.shape.rows };
        let line = u32::from(map.shape.bits / 8).checked_shl(u32::from(inner))?;
        let any = self.target.isa.tuples == TupleStyle::Braces;
        let (mut copy_atoms, mut widest) = (u32::MAX, 1u32);
        for (k, copy_atom) in (0u32..).zip(self.transfers.between(spaces.0, spaces.1)) {
            let refused = copy_atom.share_bytes <= line
                && k < u32::BITS
                && divide(copy_atom, fragment, map, any, self.target.copies).is_err();
            if refused {
                copy_atoms &= !1u32.wrapping_shl(k);
            } else {
                widest = widest.max(copy_atom.share_bytes);
            }
        }
        Some((copy_atoms, widest))
    }

    /// Cost of all known movements of a shared tile under one layout; `None` if it is `limit` or
    /// more. `number`: the layout's, if it is one of the free ones. `wants_reason`: where nothing
    /// can do a movement, the error has to say what comes closest.
    #[inline(never)]
    fn layout_cost(
        &mut self,
        index: usize,
        layout: &SharedLayout,
        number: Option<usize>,
        limit: u32,
        bounds: &CopyBounds,
        wants_reason: bool,
    ) -> Result<Option<u32>, PlanError> {
        let shape = self.plan.allocs.get(index).ok_or(PlanError::UnknownArch)?.shape;
        let tables = self.target.tables;
        let w = &tables.weights;
        let padding = match layout.post.padding() {
            Some(_) => layout.bytes(shape).unwrap_or(u64::MAX).saturating_sub(shape.bytes()),
            None => 0,
        };
        let mut cost =
            u32::try_from(padding.saturating_mul(u64::from(w.pad_kib)) / 1024).unwrap_or(u32::MAX);
        let first =
            self.tiles.get(index).map(|tile| tile.copies).filter(|first| *first != NO_LAYOUT);
        let place = number.and_then(|number| usize::from(first?).checked_add(number));
        let copies = place.and_then(|place| self.copies.get(place)).copied().unwrap_or_default();
        if limit < u32::MAX {
            let element = u32::from(shape.bits / 8);
            let each = |b: &CopyBound| self.least(layout, b, element).saturating_mul(b.weight);
            let sum = |copies: bool| {
                bounds
                    .iter()
                    .filter(|b| b.copies == copies)
                    .fold(0u32, |sum, b| sum.saturating_add(each(b)))
            };
            let copied =
                if copies.is_exact() { copies.least() } else { copies.least().max(sum(true)) };
            if cost.saturating_add(copied).saturating_add(sum(false)) >= limit {
                return Ok(None);
            }
        }
        if !wants_reason && let Some(op) = self.refused(layout, bounds) {
            return Err(PlanError::NoMover { op, why: Reject::Form });
        }
        let map = layout.map(shape).ok_or(PlanError::UnknownArch)?;
        let pieces = if number.is_some() { pieces(layout) } else { ViableAtoms::ALL };
        let mut copied = if copies.is_exact() { copies.least() } else { 0 };
        cost = cost.saturating_add(copied);
        // Reads first: they are what most layouts fail by.
        for reads in [true, false] {
            for (k, movement) in self.movements.iter().enumerate() {
                let is_read = matches!(movement.from, CopyEnd::Shared(_));
                if is_read != reads
                    || touches_shared(movement) != Some(index)
                    || !self.is_known(movement)
                {
                    continue;
                }
                let is_copy = copies_memory(movement);
                if is_copy && copies.is_exact() {
                    continue;
                }
                if cost >= limit {
                    return Ok(None);
                }
                // A movement may cost what is left of the limit, shared out over its executions,
                // and no more.
                let left = limit.saturating_sub(cost);
                let (shared, cap) =
                    (Some((&map, layout.align(w.shared_align))), self.share_of(left, movement));
                let bound = bounds.iter().find(|b| usize::from(b.movement) == k);
                let viable = bound.map_or(ViableAtoms::ALL, |b| ViableAtoms {
                    copy_atoms: b.of(&b.viable, layout),
                    ..pieces
                });
                let best = match self.best_copy_atom(k, movement, shared, cap, viable, None) {
                    // The reason may be one that was passed over.
                    Err(PlanError::NoMover { .. }) if wants_reason => {
                        self.best_copy_atom(k, movement, shared, cap, ViableAtoms::ALL, None)?
                    }
                    found => found?,
                };
                let Some(best) = best else {
                    if let Some(known) =
                        place.and_then(|place| self.copies.get_mut(place)).filter(|_| is_copy)
                    {
                        *known = Copies::new(known.least().max(copied.saturating_add(left)), false);
                    }
                    return Ok(None);
                };
                let more = self.weigh(movement, best.found.figures.cost);
                cost = cost.saturating_add(more);
                copied = copied.saturating_add(if is_copy { more } else { 0 });
            }
        }
        if let Some(known) = place.and_then(|place| self.copies.get_mut(place)) {
            *known = Copies::new(copied, true);
        }
        Ok(Some(cost).filter(|cost| *cost < limit || limit == u32::MAX))
    }

    /// What a movement costs at the least under a layout.
    fn least(&self, layout: &SharedLayout, bound: &CopyBound, element: u32) -> u32 {
        let width = bound.of(&bound.width, layout).min(self.widest(layout, bound, element));
        let straight = bound.at(width, self.target.tables.weights.instruction);
        if bound.loads && !layout.row_major { straight.min(bound.flipped) } else { straight }
    }

    /// A movement that nothing can do where the tile lies by rows, or by columns, as a layout has
    /// it.
    fn refused(&self, layout: &SharedLayout, bounds: &CopyBounds) -> Option<Op> {
        bounds.iter().find_map(|bound| {
            let movement =
                self.movements.get(usize::from(bound.movement)).filter(|_| !bound.copies)?;
            let between = match movement.from {
                CopyEnd::Shared(_) => self.transfers.between(Space::Shared, Space::Register),
                _ => self.transfers.between(Space::Register, Space::Shared),
            };
            let none = u32::MAX.checked_shl(between.len() as u32)?;
            (bound.of(&bound.viable, layout) & !none == 0).then_some(movement.op)
        })
    }

    /// Bytes that lie next to each other, aligned, everywhere in a layout: no access can be wider.
    /// Copies from global memory also need the same dimension to be contiguous on both sides, if
    /// nothing is transposed between.
    fn widest(&self, layout: &SharedLayout, bound: &CopyBound, element: u32) -> u32 {
        if bound.loads && !layout.row_major {
            return element;
        }
        if bound.tiled {
            return u32::MAX;
        }
        let mut widest = self.family.widest;
        if let Some(swizzle) = layout.post.swizzle() {
            widest = widest.min(1u32.checked_shl(u32::from(swizzle.m)).unwrap_or(u32::MAX));
        }
        for pad in layout.post.padding().map_or(&[] as &[lanebook_layout::Pad], |p| p.pads()) {
            widest = widest.min(power(pad.pad));
        }
        widest.max(element)
    }
}
