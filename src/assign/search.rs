//! Searching: the cheapest shared layout for all movements of a tile, the cheapest atom for each movement.

use super::candidates::candidates;
use super::choose::{Best, Chooser, Movement, MovementEnd, Record, Staged};
use super::evaluate::{EndMap, Evaluated};
use super::mover::Mover;
use crate::ir::{AttrValue, Op, words};
use crate::map::{MemoryMap, SharedLayout, TileShape};
use crate::plan::{Candidate, GlobalPlan, Loser, PlanError, Reject};
use lanebook_tables::{AtomId, OpRole, Space};

impl Chooser<'_, '_, '_, '_> {
    /// Weighted cost of all movements whose ends are known, with each shared tile at its best.
    pub(super) fn total(&mut self) -> Result<u32, PlanError> {
        let mut sum = 0u32;
        for index in 0..self.plan.allocs.len() {
            let (_, cost) = self.best_layout(index, None)?;
            sum = sum.saturating_add(cost);
        }
        for k in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(k) else { continue };
            if touches_shared(&movement).is_some() || !self.is_known(&movement) {
                continue;
            }
            let best = self.best_mover(k, &movement, None, u32::MAX, None)?.ok_or(PlanError::Undecided(movement.op))?;
            sum = sum.saturating_add(self.weigh(&movement, best.found.figures.cost));
        }
        Ok(sum.saturating_add(self.shaping_cost()))
    }

    /// A cost times the executions of an operation.
    pub(super) fn weigh_at(&self, op: Op, cost: u32) -> u32 {
        let trips = self.setting.tables.weights.loop_trips.max(1);
        let mut at = self.program.parent(op);
        let mut out = cost;
        while let Some(parent) = at {
            if self.program.role(parent) == OpRole::For {
                out = out.saturating_mul(trips);
            }
            at = self.program.parent(parent);
        }
        out
    }

    fn weigh(&self, movement: &Movement, cost: u32) -> u32 {
        let trips = self.setting.tables.weights.loop_trips.max(1);
        (0..movement.depth.min(4)).fold(cost, |c, _| c.saturating_mul(trips))
    }

    /// Whether the register end of a movement, if it has one, is decided.
    fn is_known(&self, movement: &Movement) -> bool {
        !self.is_absorbed(movement.op)
            && [movement.from, movement.to].iter().all(|end| match end {
                MovementEnd::Registers(v) => self.plan.fragment_of(*v).is_some(),
                _ => true,
            })
    }

    /// The cheapest layout of a shared tile for all its known movements, and the cost. With `record` every other layout is
    /// priced in full and kept as a loser of that operation; without, a layout is dropped as soon as it cannot win.
    pub(super) fn best_layout(&mut self, index: usize, record: Option<Op>) -> Result<(SharedLayout, u32), PlanError> {
        let alloc = *self.plan.allocs.get(index).ok_or(PlanError::UnknownArch)?;
        let mut best: Option<(SharedLayout, u32)> = None;
        let mut failure: Option<PlanError> = None;
        let fixed = alloc.fixed.then_some(alloc.layout);
        // What matrix units read has to be one of their own layouts; everything else is free.
        let for_units = self.is_unit_tile(index);
        let most = match (fixed, for_units) {
            (Some(_), _) => 1,
            (None, true) => self.unit_layouts(),
            (None, false) => usize::MAX,
        };
        // Boxes of a copy through a tensor map can stand one after the other, each as wide as its swizzle mode's rows.
        let strips = if self.may_be_tiled(index) { self.unit_layouts() } else { 0 };
        let (mut free, mut boxed) = (candidates(alloc.shape, self.family), 0..strips);
        for number in 0..most {
            let next = match (fixed, for_units) {
                (Some(layout), _) => Some(layout),
                (None, true) => self.unit_layout(index, number, alloc.shape),
                (None, false) => match free.next() {
                    None => match boxed.next() {
                        None => break,
                        Some(number) => self.unit_layout(index, number, alloc.shape).filter(|layout| layout.row_major && layout.strip.is_some()),
                    },
                    next => next,
                },
            };
            let Some(layout) = next else { continue };
            if for_units && let Err(why) = self.suits_units(index, &layout, alloc.shape) {
                if let Some(op) = record {
                    self.plan.lose(Loser { op, what: Candidate::Shared(layout), why, cost: 0 });
                }
                continue;
            }
            let Some(map) = layout.map(alloc.shape) else { continue };
            let limit = match (record, best) {
                (None, Some((_, least))) => least,
                _ => u32::MAX,
            };
            match self.layout_cost(index, &layout, &map, alloc.shape, limit) {
                Ok(cost) => {
                    let beaten = best.is_none_or(|(_, least)| cost < least);
                    if let Some(op) = record {
                        let loser = if beaten { best } else { Some((layout, cost)) };
                        if let Some((shared, cost)) = loser {
                            self.plan.lose(Loser { op, what: Candidate::Shared(shared), why: Reject::Dearer, cost });
                        }
                    }
                    if beaten {
                        best = Some((layout, cost));
                    }
                }
                Err(e) => {
                    if let (Some(op), PlanError::NoMover { why, .. }) = (record, e) {
                        self.plan.lose(Loser { op, what: Candidate::Shared(layout), why, cost: 0 });
                    }
                    failure = failure.or(Some(e));
                }
            }
        }
        match best {
            Some(found) => Ok(found),
            None => Err(failure.unwrap_or(PlanError::UnknownArch)),
        }
    }

    /// Whether a copy through a tensor map could bring a tile, or take it away.
    fn may_be_tiled(&self, index: usize) -> bool {
        self.movements.iter().filter(|m| touches_shared(m) == Some(index)).any(|m| match (m.from, m.to) {
            (MovementEnd::Global(_), _) => self.setting.tiled_moves(true).next().is_some(),
            (_, MovementEnd::Global(_)) => self.setting.tiled_moves(false).next().is_some(),
            _ => false,
        })
    }

    /// Cost of all known movements of a shared tile under one layout; anything at or above `limit` stands for itself.
    fn layout_cost(&self, index: usize, layout: &SharedLayout, map: &MemoryMap, shape: TileShape, limit: u32) -> Result<u32, PlanError> {
        let w = &self.setting.tables.weights;
        let padding = layout.bytes(shape).unwrap_or(u64::MAX).saturating_sub(shape.bytes());
        let mut cost = u32::try_from(padding.saturating_mul(u64::from(w.pad_kib)) / 1024).unwrap_or(u32::MAX);
        if limit < u32::MAX {
            let element = u32::from(shape.bits / 8);
            let mine = |m: &&Movement| touches_shared(m) == Some(index) && self.is_known(m);
            let least =
                self.movements.iter().filter(mine).fold(cost, |sum, m| sum.saturating_add(self.weigh(m, self.at_least(m, self.widest(layout, m, element)))));
            if least >= limit {
                return Ok(limit);
            }
        }
        // Reads first: they are what most layouts fail by.
        for reads in [true, false] {
            for (k, movement) in self.movements.iter().enumerate() {
                let is_read = matches!(movement.from, MovementEnd::Shared(_));
                if is_read != reads || touches_shared(movement) != Some(index) || !self.is_known(movement) {
                    continue;
                }
                if cost >= limit {
                    return Ok(limit);
                }
                // A movement may cost what is left of the limit, shared out over its executions, and no more.
                let cap = limit.saturating_sub(cost).checked_div(self.weigh(movement, 1)).map_or(u32::MAX, |c| c.saturating_add(1));
                match self.best_mover(k, movement, Some((map, layout.align(16))), cap, None)? {
                    Some(best) => cost = cost.saturating_add(self.weigh(movement, best.found.figures.cost)),
                    None => return Ok(limit),
                }
            }
        }
        Ok(cost)
    }

    /// The cheapest atom, or pair of atoms, for a movement; `None` if every one costs `cap` or more. `shared` is the map of
    /// its shared end. With `record` all are priced in full.
    pub(super) fn best_mover(
        &self,
        index: usize,
        movement: &Movement,
        shared: Option<(&MemoryMap, u32)>,
        cap: u32,
        mut record: Option<&mut Record>,
    ) -> Result<Option<Best>, PlanError> {
        let from = self.end_map(movement.op, movement.from, shared)?;
        let to = self.end_map(movement.op, movement.to, shared)?;
        let all = record.is_some();
        let wanted = self.wanted(movement.op);
        let is_wanted = |atom: AtomId| wanted.is_none_or(|name| self.setting.tables.atom(atom).is_some_and(|a| a.name() == name));
        let mut best: Option<Best> = None;
        let mut capped = false;
        let mut closest: Option<Reject> = None;
        let mut consider = |best: &mut Option<Best>, atom: AtomId, second: Option<AtomId>, outcome: Result<Evaluated, Reject>| match outcome {
            Ok(found) => {
                let beaten = best.is_none_or(|b| found.figures.cost < b.found.figures.cost);
                let loser = if beaten { best.map(|b| (b.atom, b.found.figures.cost)) } else { Some((atom, found.figures.cost)) };
                if let (Some(record), Some((atom, cost))) = (record.as_mut(), loser) {
                    record.lose(atom, Reject::Dearer, cost);
                }
                if beaten {
                    *best = Some(Best { atom, second, found, tiled: None });
                }
            }
            Err(why) => {
                capped |= why == Reject::Dearer;
                if closest.is_none_or(|c| nearness(why) > nearness(c)) {
                    closest = Some(why);
                }
                if let Some(record) = record.as_mut() {
                    record.lose(atom, why, 0);
                }
            }
        };
        let limit = |best: &Option<Best>| if all { u32::MAX } else { best.map_or(cap, |b| b.found.figures.cost) };
        for mover in self.movers.iter().filter(|m| m.from == from.space() && m.to == to.space() && is_wanted(m.atom)) {
            let outcome = match limit(&best) {
                most if self.at_least(movement, mover.share_bytes) >= most => Err(Reject::Dearer),
                most => self.setting.evaluate(mover, from, to, most),
            };
            consider(&mut best, mover.atom, None, outcome);
        }
        let loads = from.space() == Space::Global;
        let spaces = if loads { (Space::Register, Space::Shared) } else { (Space::Shared, Space::Register) };
        for staged in self.staged.iter().filter(|s| usize::from(s.movement) == index) {
            for half in self.movers.iter().filter(|m| (m.from, m.to) == spaces && m.register_bits == staged.bits) {
                if !(is_wanted(staged.global) || is_wanted(half.atom)) {
                    continue;
                }
                let left = limit(&best).saturating_sub(staged.found.figures.cost);
                let least = self.at_least(movement, half.share_bytes).saturating_sub(self.at_least(movement, u32::MAX));
                let outcome = if least >= left { Err(Reject::Dearer) } else { self.evaluate_pair(staged, half, if loads { to } else { from }, left) };
                let (first, second) = if loads { (staged.global, half.atom) } else { (half.atom, staged.global) };
                consider(&mut best, first, Some(second), outcome);
            }
        }
        let maps = if let (Some(global), Some((shared, _))) = (self.global_of(movement), shared) { Some((global, shared)) } else { None };
        for (number, form) in self.setting.tiled_moves(loads).filter(|(_, form)| is_wanted(form.atom)) {
            let Some((global, shared)) = maps else { break };
            let most = limit(&best);
            let dtype = self.program.type_of(global.memref).dtype;
            match self.setting.evaluate_tiled(form, global, dtype, shared, most) {
                Ok((found, map)) => {
                    let before = best;
                    consider(&mut best, form.atom, None, Ok(found));
                    if best != before
                        && let Some(best) = best.as_mut()
                    {
                        best.tiled = Some((number, map));
                    }
                }
                Err(why) => consider(&mut best, form.atom, None, Err(why)),
            }
        }
        match best {
            None if !capped => {
                Err(PlanError::NoMover { op: movement.op, why: closest.unwrap_or(if wanted.is_some() { Reject::NotNative } else { Reject::Form }) })
            }
            found => Ok(found.filter(|b| all || b.found.figures.cost < cap)),
        }
    }

    /// What a movement costs at the least with accesses of `width` bytes: its instructions, and the transactions, segments and
    /// registers that every way of doing it shares.
    fn at_least(&self, movement: &Movement, width: u32) -> u32 {
        let w = &self.setting.tables.weights;
        let tile = |shape: TileShape| {
            u32::try_from(shape.bytes())
                .unwrap_or(u32::MAX)
                .checked_shr(u32::from(self.setting.wave).saturating_add(u32::from(self.setting.warps)))
                .unwrap_or(0)
        };
        let (mut lane_bytes, mut cost, mut shared, mut global) = (0u32, 0u32, false, false);
        for end in [movement.from, movement.to] {
            match end {
                MovementEnd::Registers(v) => {
                    let registers = self.plan.fragment_of(v).map_or(0, |(_, f)| u32::from(f.registers()));
                    lane_bytes = registers.saturating_mul(4);
                    cost = cost.saturating_add(registers.saturating_mul(w.register));
                }
                MovementEnd::Shared(k) => {
                    shared = true;
                    if lane_bytes == 0 {
                        lane_bytes = self.plan.allocs.get(usize::from(k)).map_or(0, |a| tile(a.shape));
                    }
                }
                MovementEnd::Global(_) => global = true,
            }
        }
        let warp_bytes = lane_bytes.checked_shl(u32::from(self.setting.wave)).unwrap_or(u32::MAX);
        if shared {
            cost = cost.saturating_add(warp_bytes.checked_div(self.family.bank_span.max(1)).unwrap_or(0).saturating_mul(w.shared_transaction));
        }
        if global {
            cost = cost.saturating_add((warp_bytes / 32).saturating_mul(w.global_segment));
        }
        let count = lane_bytes.checked_div(width.max(1)).unwrap_or(0);
        cost.saturating_add(count.saturating_mul(w.instruction))
    }

    /// Bytes that lie next to each other, aligned, everywhere in a layout: no access can be wider. Copies from global memory
    /// also need the same dimension to be contiguous on both sides.
    fn widest(&self, layout: &SharedLayout, movement: &Movement, element: u32) -> u32 {
        if matches!(movement.from, MovementEnd::Global(_)) && !layout.row_major {
            return element;
        }
        let copies = match (movement.from, movement.to) {
            (MovementEnd::Global(_), _) => Some(true),
            (MovementEnd::Shared(_), MovementEnd::Global(_)) => Some(false),
            _ => None,
        };
        if copies.is_some_and(|loads| self.setting.tiled_moves(loads).next().is_some()) {
            // A copy of a whole box is one instruction.
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

    /// A movement through registers: the staged half, and another of the same width on the shared side.
    fn evaluate_pair(&self, staged: &Staged, half: &Mover, shared: EndMap<'_>, limit: u32) -> Result<Evaluated, Reject> {
        let through = EndMap::Registers(&staged.fragment);
        let (from, to) = if half.from == Space::Register { (through, shared) } else { (shared, through) };
        let other = self.setting.evaluate(half, from, to, limit)?;
        if staged.found.fit != other.fit {
            return Err(Reject::RegisterOrder);
        }
        let (a, b) = (staged.found.figures, other.figures);
        let mut figures = b;
        figures.count = a.count.saturating_add(b.count);
        figures.segments = a.segments;
        figures.further_addresses = a.further_addresses.saturating_add(b.further_addresses);
        figures.cost = a.cost.saturating_add(b.cost);
        Ok(Evaluated { fit: other.fit, figures, bank_status: other.bank_status })
    }

    /// The global tile of a copy between global and shared memory.
    fn global_of(&self, movement: &Movement) -> Option<&GlobalPlan> {
        match (movement.from, movement.to) {
            (MovementEnd::Global(g), MovementEnd::Shared(_)) | (MovementEnd::Shared(_), MovementEnd::Global(g)) => self.plan.globals.get(usize::from(g)),
            _ => None,
        }
    }

    /// The instruction that the program asks for.
    fn wanted(&self, op: Op) -> Option<&str> {
        match self.program.attr(op, words::MOVER)? {
            AttrValue::Str(name) => Some(self.program.text(name)),
            _ => None,
        }
    }

    fn end_map<'m>(&'m self, op: Op, end: MovementEnd, shared: Option<(&'m MemoryMap, u32)>) -> Result<EndMap<'m>, PlanError> {
        match end {
            MovementEnd::Registers(v) => self.plan.fragment_of(v).map(|(_, f)| EndMap::Registers(f)).ok_or(PlanError::Undecided(op)),
            MovementEnd::Shared(_) => shared.map(|(map, align)| EndMap::Shared(map, align)).ok_or(PlanError::Undecided(op)),
            MovementEnd::Global(g) => self.plan.globals.get(usize::from(g)).map(|g| EndMap::Global(&g.map, g.align)).ok_or(PlanError::Undecided(op)),
        }
    }
}

/// How far a candidate came, to report the reason that helps most.
fn nearness(why: Reject) -> u8 {
    match why {
        Reject::Tensor { .. } => 0,
        Reject::Alignment { .. } => 6,
        Reject::Run { .. } => 5,
        Reject::Strided { .. } | Reject::Apart { .. } => 4,
        Reject::RegisterOrder | Reject::Packing { .. } => 3,
        Reject::Share { .. } | Reject::Element { .. } => 2,
        Reject::Lanes { .. } => 1,
        _ => 0,
    }
}

/// The shared tile of a movement.
pub(super) fn touches_shared(movement: &Movement) -> Option<usize> {
    [movement.from, movement.to].iter().find_map(|end| if let MovementEnd::Shared(k) = end { Some(usize::from(*k)) } else { None })
}

/// The largest power of two that divides a number.
pub(super) fn power(n: u32) -> u32 {
    1u32.checked_shl(n.trailing_zeros()).unwrap_or(1 << 30)
}
