//! Shared tiles: the cheapest layout for all movements of one, and what is kept from one question
//! to the next.
//!
//! A layout is dropped as soon as something shows that it cannot win: what its movements cost at
//! the least with the widest copy atom that can divide them, what its copies are known to cost,
//! what the layout that won last time costs now. None of it changes which layout wins: of equally
//! cheap ones the first.

use crate::data::{Candidate, PlanError, RejectedCandidate, Unwritable};
use crate::select::memory::copy_bound::{CopyBound, CopyBounds, copies_memory};
use crate::select::memory::tma::TensorMapCopies;
use crate::select::memory::total_cost::{power, touches_shared};
use crate::select::planner::{CopyEnd, CopyOp, Planner};
use heapless::VecView;
use lanebook_ir::{Op, Value};
use lanebook_tile::candidates::candidates;
use lanebook_tile::copy_atom::ViableAtoms;
use lanebook_tile::map::{Fragment, SharedLayout, TileShape};
use lanebook_tile::tiling::Reject;

/// A layout's number where there is none.
const NO_LAYOUT: u16 = u16::MAX;

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

/// What the cheapest layout of a shared tile costs with one distribution in registers on its other
/// side: products of many kinds have the same one.
#[derive(Copy, Clone, Debug)]
pub struct PricedTile {
    /// The tile.
    tile: u16,
    /// Its known movements, as bits: one of them has an end in registers.
    moves: u64,
    /// The distribution there.
    fragment: Fragment,
    /// The cheapest layout's number; without, none costs less than the cost below.
    number: Option<u16>,
    /// What it costs.
    cost: u32,
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

impl PricedTile {
    fn is_of(&self, other: &Self) -> bool {
        (self.tile, self.moves) == (other.tile, other.moves) && self.fragment == other.fragment
    }
}

/// Keeps what the copies of a shared tile cost under a layout, where there is room for it.
fn keep(known: &mut VecView<Copies>, place: Option<usize>, cost: Copies) {
    if let Some(known) = place.and_then(|place| known.get_mut(place)) {
        *known = cost;
    }
}

/// Which layouts a shared tile may have.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum LayoutsFrom {
    /// The one that the program says.
    Written,
    /// What matrix units read has to be one of their own layouts.
    Units,
    /// Everything else is free.
    Candidates,
}

/// A search for the cheapest layout of a shared tile.
struct LayoutSearch {
    /// The tile.
    index: usize,
    value: Value,
    shape: TileShape,
    /// Every layout is priced in full, and a rejected candidate of this operation if it loses.
    record: Option<Op>,
    /// Bytes that the tile may take; the greatest number if that is not limited.
    room: u32,
    from: LayoutsFrom,
    /// What costs so much cannot win.
    roof: u32,
    /// The layout that won last time, by its number, and what it costs now, if less than the roof.
    warm: Option<(usize, Option<u32>)>,
    /// The cheapest so far, its cost, its number.
    best: Option<(SharedLayout, u32, usize)>,
    /// Why the first layout that failed did.
    failure: Option<PlanError>,
    /// A layout was dropped for its cost.
    capped: bool,
}

/// What a free layout can serve: a swizzle moves its pieces by bits of the row's number, which some
/// lane or instance has; padding shifts rows.
fn pieces(layout: &SharedLayout) -> ViableAtoms {
    let mut out = ViableAtoms::ALL;
    if layout.column_block.is_some() {
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
        if let Some(known) = self.known_price(index, limit) {
            return Ok(known);
        }
        let found = self.best_layout(index, None, limit)?;
        if let (Some(_), Some((_, cost)), Some(tile)) = (key, found, self.tiles.get_mut(index)) {
            (tile.key, tile.cost) = (key, cost);
        }
        let cost = found.map(|(_, cost)| cost);
        self.keep_price(index, cost, limit);
        Ok(cost)
    }

    /// What [`Self::tile_cost`] answers, as far as what is kept says it.
    #[inline(never)] // Its distributions leave the stack before layouts are priced.
    fn known_price(&mut self, index: usize, limit: u32) -> Option<Option<u32>> {
        let asked = self.priced_as(index)?;
        let known = self.priced.iter().find(|price| price.is_of(&asked))?;
        let (number, cost, moves) = (known.number, known.cost, known.moves);
        let Some(number) = number else { return (limit <= cost).then_some(None) };
        if cost >= limit && limit < u32::MAX {
            return Some(None);
        }
        if let Some(tile) = self.tiles.get_mut(index) {
            (tile.warm, tile.asked) = (number, Some(((moves, 0), number)));
        }
        Some(Some(cost))
    }

    /// Keeps what was worked out: the cost, or that it is `limit` at the least.
    #[inline(never)] // Beside the search, not below it.
    fn keep_price(&mut self, index: usize, cost: Option<u32>, limit: u32) {
        let Some(asked) = self.priced_as(index) else { return };
        let warm = self.tiles.get(index).map(|tile| tile.warm);
        let number = warm.filter(|number| cost.is_some() && *number != NO_LAYOUT);
        if number.is_some() != cost.is_some() {
            return;
        }
        let price = PricedTile { number, cost: cost.unwrap_or(limit), ..asked };
        match self.priced.iter_mut().find(|known| known.is_of(&price)) {
            Some(known) => *known = price,
            // Where there is no room it is worked out again.
            None => drop(self.priced.push(price)),
        }
    }

    /// Under what the cost of a shared tile is kept, if nothing else decides it: no unit reads the
    /// tile, its layout is free, it has one distribution in registers, and no copy runs ahead.
    fn priced_as(&self, index: usize) -> Option<PricedTile> {
        let alloc = self.plan.allocs.get(index)?;
        if alloc.fixed || alloc.stages > 1 {
            return None;
        }
        let (moves, _) =
            self.key(index, (usize::MAX, usize::MAX)).filter(|(_, units)| *units == 0)?;
        let mut ends = self
            .movements
            .iter()
            .filter(|m| touches_shared(m) == Some(index) && self.is_known(m))
            .flat_map(|m| [m.from, m.to])
            .filter_map(|end| match end {
                CopyEnd::Registers(v) => self.plan.fragment_of(v),
                _ => None,
            });
        let (_, &fragment) = ends.next()?;
        if ends.next().is_some() {
            return None;
        }
        Some(PricedTile {
            tile: u16::try_from(index).ok()?,
            moves,
            fragment,
            number: None,
            cost: 0,
        })
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
        let alloc = self.plan.allocs.get(index).ok_or(PlanError::Stale)?;
        let (value, shape, fixed, written) = (alloc.value, alloc.shape, alloc.fixed, alloc.layout);
        let mut search = LayoutSearch {
            index,
            value,
            shape,
            record,
            room: self.limits.of(value),
            from: match (fixed, self.is_unit_tile(index)) {
                (true, _) => LayoutsFrom::Written,
                (false, true) => LayoutsFrom::Units,
                (false, false) => LayoutsFrom::Candidates,
            },
            roof: limit,
            warm: None,
            best: None,
            failure: None,
            capped: false,
        };
        let is_free = search.from == LayoutsFrom::Candidates;
        let bounds = self.bounds(index, shape, is_free && record.is_none());
        self.price_warm(&mut search, &bounds);
        match search.from {
            LayoutsFrom::Written => self.consider(&mut search, 0, written, &bounds),
            LayoutsFrom::Units => {
                for number in 0..self.unit_layouts() {
                    if let Some(layout) = self.unit_layout(index, number, shape) {
                        self.consider(&mut search, number, layout, &bounds);
                    }
                }
            }
            LayoutsFrom::Candidates => {
                let mut number = 0usize;
                for layout in candidates(shape, self.family) {
                    self.consider(&mut search, number, layout, &bounds);
                    number = number.saturating_add(1);
                }
                // Boxes of a copy through a tensor map can stand one after the other, each as wide
                // as its swizzle mode's rows.
                for boxed in 0..self.strips(index) {
                    if let Some(layout) = self.boxed_layout(index, boxed, shape) {
                        self.consider(&mut search, number, layout, &bounds);
                    }
                    number = number.saturating_add(1);
                }
            }
        }
        if let Some((_, _, number)) = search.best.filter(|_| is_free) {
            let number = u16::try_from(number).unwrap_or(NO_LAYOUT);
            let asked = self.key(index, (usize::MAX, usize::MAX)).map(|key| (key, number));
            if let Some(tile) = self.tiles.get_mut(index) {
                (tile.warm, tile.asked) = (number, asked);
            }
        }
        match search.best {
            None if !search.capped => Err(search.failure.unwrap_or(PlanError::Stale)),
            found => Ok(found.map(|(layout, cost, _)| (layout, cost))),
        }
    }

    /// The layout that won last time is likely to be good again: what costs more than it cannot win,
    /// whatever comes first.
    fn price_warm(&mut self, search: &mut LayoutSearch, bounds: &CopyBounds) {
        let warm = self.tiles.get(search.index).map(|tile| tile.warm);
        let Some(warm) = warm.filter(|warm| *warm != NO_LAYOUT).map(usize::from) else { return };
        if search.record.is_none()
            && search.from == LayoutsFrom::Candidates
            && let Some(layout) = self.free_layout(search.index, warm, search.shape)
            && let Ok(cost) =
                self.layout_cost(search.index, &layout, Some(warm), search.roof, bounds, false)
        {
            search.warm = Some((warm, cost));
            let above = cost.map_or(search.roof, |cost| cost.saturating_add(1));
            search.roof = search.roof.min(above);
        }
    }

    /// Prices a layout, unless it has no room or no unit can read it, and keeps it if it is cheaper
    /// than those before it.
    #[inline(never)] // Called for each kind of layouts: once in the image.
    fn consider(
        &mut self,
        search: &mut LayoutSearch,
        number: usize,
        layout: SharedLayout,
        bounds: &CopyBounds,
    ) {
        if let Some((why, failure)) = self.unfit(search, &layout) {
            self.lose_layout(search, layout, why, 0);
            search.failure = search.failure.or(failure);
            return;
        }
        let cap = match (search.record, search.best) {
            (None, Some((_, least, _))) => least,
            (None, None) => search.roof,
            _ => u32::MAX,
        };
        let priced = match search.warm.filter(|(warm, _)| *warm == number) {
            Some((_, cost)) => Ok(cost.filter(|cost| *cost < cap)),
            None => {
                // Of several reasons why nothing fits the first is reported, and none if something
                // does.
                let none_yet = search.best.is_none() && !search.capped && search.failure.is_none();
                let wants_reason = search.record.is_some() || none_yet;
                let free = Some(number).filter(|_| search.from == LayoutsFrom::Candidates);
                self.layout_cost(search.index, &layout, free, cap, bounds, wants_reason)
            }
        };
        match priced {
            Ok(Some(cost)) => match search.best {
                Some((_, least, _)) if cost >= least => {
                    self.lose_layout(search, layout, Reject::Dearer, cost);
                }
                beaten => {
                    if let Some((beaten, cost, _)) = beaten {
                        self.lose_layout(search, beaten, Reject::Dearer, cost);
                    }
                    search.best = Some((layout, cost, number));
                }
            },
            Ok(None) => search.capped = true,
            Err(error) => {
                if let PlanError::NoCopyAtom { why, .. } = error {
                    self.lose_layout(search, layout, why, 0);
                }
                search.failure = search.failure.or(Some(error));
            }
        }
    }

    /// Why a layout cannot be had at all, and the error if no other can.
    fn unfit(
        &self,
        search: &LayoutSearch,
        layout: &SharedLayout,
    ) -> Option<(Reject, Option<PlanError>)> {
        let LayoutSearch { value, shape, room, .. } = *search;
        let of = self.program.def_op(value);
        let alloc = self.plan.allocs.get(search.index);
        let bytes = alloc.and_then(|alloc| alloc.bytes_by(layout)).unwrap_or(u64::MAX);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if room != u32::MAX && bytes > room {
            let error = of.map(|op| PlanError::SharedMemory { op, need: bytes, have: room });
            return Some((Reject::Room { bytes, most: room }, error));
        }
        if !self.is_unit_tile(search.index) {
            return None;
        }
        let why = self.suits_units(search.index, layout, shape).err()?;
        let error = of.map(|op| match search.from {
            LayoutsFrom::Written => PlanError::Written { op, why: Unwritable::Unit },
            _ => PlanError::NoCopyAtom { op, why },
        });
        Some((why, error))
    }

    /// A layout that is not taken, where that is recorded.
    fn lose_layout(&mut self, search: &LayoutSearch, layout: SharedLayout, why: Reject, cost: u32) {
        if let Some(op) = search.record {
            let what = Candidate::Shared(layout);
            self.plan.lose(RejectedCandidate { op, what, why, cost });
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
            .filter(|layout| layout.row_major && layout.column_block.is_some())
    }

    /// The alignment that every shared tile has at the least, and the most that one can want: a
    /// segment begins where every swizzle that is known to hardware does.
    #[inline(never)]
    pub(crate) fn aligns(&self) -> (u32, u32) {
        let tables = self.target.tables;
        let repeats = tables.units.swizzles.iter().map(|mode| u32::from(mode.repeat_bytes));
        let least = tables.weights.shared_align;
        (least, repeats.max().unwrap_or(0).max(least))
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
        let alloc = self.plan.allocs.get(index).ok_or(PlanError::Stale)?;
        let shape = alloc.shape;
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
        let left = limit.saturating_sub(cost);
        if limit < u32::MAX && self.is_dear(layout, shape, bounds, copies, left) {
            return Ok(None);
        }
        if !wants_reason && let Some(op) = self.refused(layout, bounds) {
            return Err(PlanError::NoCopyAtom { op, why: Reject::Form });
        }
        let map = alloc.map_by(layout).ok_or(PlanError::Stale)?;
        let align = alloc.align_by(layout, self.aligns());
        let pieces = if number.is_some() { pieces(layout) } else { ViableAtoms::ALL };
        let (mut copied, mut done) = (if copies.is_exact() { copies.least() } else { 0 }, 0usize);
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
                let (shared, cap) = (Some((&map, align)), self.share_of(left, movement));
                let bound = bounds.iter().find(|b| usize::from(b.movement) == k);
                let viable = bound.map_or(ViableAtoms::ALL, |b| ViableAtoms {
                    copy_atoms: b.of(&b.viable, layout),
                    ..pieces
                });
                // What was dropped once for its cost is asked for again: it is then worked out to its
                // end, once for all. Which ways copies may go that run ahead depends on the limit.
                let again =
                    is_copy && copies.least() > 0 && cap < u32::MAX && !self.runs_ahead(movement);
                let ask = if again { u32::MAX } else { cap };
                let mut found = self.best_copy_atom(k, movement, shared, ask, viable, None);
                if again && !matches!(found, Ok(Some(_))) {
                    found = self.best_copy_atom(k, movement, shared, cap, viable, None);
                }
                let best = match found {
                    // The reason may be one that was passed over.
                    Err(PlanError::NoCopyAtom { .. }) if wants_reason => {
                        self.best_copy_atom(k, movement, shared, cap, ViableAtoms::ALL, None)?
                    }
                    found => found?,
                };
                let Some(best) = best else {
                    if is_copy {
                        let least = copies.least().max(copied.saturating_add(left));
                        keep(self.copies, place, Copies::new(least, false));
                    }
                    return Ok(None);
                };
                let more = self.weigh(movement, best.found.figures.cost);
                cost = cost.saturating_add(more);
                copied = copied.saturating_add(if is_copy { more } else { 0 });
                done = done.saturating_add(usize::from(is_copy));
                if again && done == self.copies_of(index) {
                    keep(self.copies, place, Copies::new(copied, true));
                }
            }
        }
        keep(self.copies, place, Copies::new(copied, true));
        Ok(Some(cost).filter(|cost| *cost < limit || limit == u32::MAX))
    }

    /// Whether movements cost `left` or more under a layout, however wide their accesses are.
    #[inline(never)] // Beside the search for their instructions, not below it.
    fn is_dear(
        &self,
        layout: &SharedLayout,
        shape: TileShape,
        bounds: &CopyBounds,
        copies: Copies,
        left: u32,
    ) -> bool {
        let element = u32::from(shape.bits / 8);
        let each = |b: &CopyBound| self.least(layout, b, element).saturating_mul(b.weight);
        let sum = |copies: bool| {
            bounds
                .iter()
                .filter(|b| b.copies == copies)
                .fold(0u32, |sum, b| sum.saturating_add(each(b)))
        };
        let copied = if copies.is_exact() { copies.least() } else { copies.least().max(sum(true)) };
        copied.saturating_add(sum(false)) >= left
    }

    /// How many copies a shared tile has between it and another memory.
    #[inline(never)] // Rare, beside the pricing of copies.
    fn copies_of(&self, index: usize) -> usize {
        let is_copy =
            |m: &&CopyOp| touches_shared(m) == Some(index) && self.is_known(m) && copies_memory(m);
        self.movements.iter().filter(is_copy).count()
    }
}
