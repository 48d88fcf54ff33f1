//! Searching: the cheapest atom for each movement, and what all movements cost together.

use crate::data::{GlobalPlan, PlanError};
use crate::select::memory::shared_layouts::CopyBound;
use crate::select::memory::tma::TensorMapCopies;
use crate::select::planner::{Best, CopyEnd, CopyOp, Planner, RejectedAtoms, Staged};
use lanebook_ir::Op;
use lanebook_tables::{AtomId, OpRole, Role, Space};
use lanebook_tile::copy_atom::{CopyAtom, ViableAtoms};
use lanebook_tile::evaluate::{EndMap, Evaluated};
use lanebook_tile::map::{MemoryMap, TileShape};
use lanebook_tile::tiling::{RegisterTranspose, Reject};

impl Planner<'_, '_, '_, '_> {
    /// Weighted cost of all movements whose ends are known, with each shared tile at its best;
    /// `None` if it is `limit` or more whatever becomes of elements that [`Planner::free_from`]
    /// speaks of.
    pub(crate) fn total(&mut self, limit: u32) -> Result<Option<u32>, PlanError> {
        // `firm`: the part that counts against the limit.
        let (mut sum, mut firm) = (0u32, 0u32);
        // What is still to come costs so much at the least.
        let mut rest = if limit < u32::MAX {
            self.movements.iter().fold(0u32, |sum, m| sum.saturating_add(self.least_of(m)))
        } else {
            0
        };
        if limit < u32::MAX {
            rest = rest.saturating_add(self.reduction_cost());
            if rest >= limit {
                return Ok(None);
            }
        }
        for index in 0..self.plan.allocs.len() {
            let is_firm = self
                .movements
                .iter()
                .filter(|m| touches_shared(m) == Some(index))
                .all(|m| self.is_firm(m));
            let left = if is_firm && limit < u32::MAX {
                let own = self
                    .movements
                    .iter()
                    .filter(|m| touches_shared(m) == Some(index))
                    .fold(0u32, |sum, m| sum.saturating_add(self.least_of(m)));
                rest = rest.saturating_sub(own);
                limit.saturating_sub(firm).saturating_sub(rest)
            } else {
                u32::MAX
            };
            let Some(cost) = self.tile_cost(index, left)? else { return Ok(None) };
            sum = sum.saturating_add(cost);
            firm = firm.saturating_add(if is_firm { cost } else { 0 });
        }
        for k in 0..self.movements.len() {
            let Some(&movement) = self.movements.get(k) else { continue };
            if touches_shared(&movement).is_some() || !self.is_known(&movement) {
                continue;
            }
            let is_firm = self.is_firm(&movement);
            let left = if is_firm && limit < u32::MAX {
                rest = rest.saturating_sub(self.least_of(&movement));
                limit.saturating_sub(firm).saturating_sub(rest)
            } else {
                u32::MAX
            };
            let Some(best) = self.best_copy_atom(
                k,
                &movement,
                None,
                self.share_of(left, &movement),
                ViableAtoms::ALL,
                None,
            )?
            else {
                return Ok(None);
            };
            let cost = self.weigh(&movement, best.found.figures.cost);
            sum = sum.saturating_add(cost);
            firm = firm.saturating_add(if is_firm { cost } else { 0 });
        }
        Ok(Some(sum.saturating_add(self.shaping_cost())))
    }

    /// What all executions of a known movement cost at the least, whatever its shared layout;
    /// nothing, if more may become of its registers.
    fn least_of(&self, movement: &CopyOp) -> u32 {
        if !self.is_known(movement) || !self.is_firm(movement) {
            return 0;
        }
        let bound = self.bound(movement);
        let each = match touches_shared(movement).is_some() && !self.may_be_tiled(movement) {
            true => bound.at(self.family.widest, self.target.tables.weights.instruction),
            false => bound.base,
        };
        self.weigh(movement, each)
    }

    /// Whether a movement's register end stays as it is if elements that become narrower take a
    /// register each.
    fn is_firm(&self, movement: &CopyOp) -> bool {
        [movement.from, movement.to].iter().all(|end| match end {
            CopyEnd::Registers(v) => self
                .plan
                .fragment_of(*v)
                .is_none_or(|(k, f)| usize::from(k) < self.free_from || f.shape.bits >= 32),
            _ => true,
        })
    }

    /// What one execution of a movement may cost for all of them to stay at or below `left`, and
    /// one more.
    pub(crate) fn share_of(&self, left: u32, movement: &CopyOp) -> u32 {
        if left == u32::MAX {
            return left;
        }
        left.checked_div(self.weigh(movement, 1)).map_or(u32::MAX, |c| c.saturating_add(1))
    }

    /// A cost times the executions of an operation.
    pub(crate) fn weigh_at(&self, op: Op, cost: u32) -> u32 {
        let trips = self.target.tables.weights.loop_trips.max(1);
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

    pub(crate) fn weigh(&self, movement: &CopyOp, cost: u32) -> u32 {
        let trips = self.target.tables.weights.loop_trips.max(1);
        (0..movement.depth.min(4)).fold(cost, |c, _| c.saturating_mul(trips))
    }

    /// Whether the register end of a movement, if it has one, is decided.
    pub(crate) fn is_known(&self, movement: &CopyOp) -> bool {
        !self.is_absorbed(movement.op)
            && [movement.from, movement.to].iter().all(|end| match end {
                CopyEnd::Registers(v) => self.plan.fragment_of(*v).is_some(),
                _ => true,
            })
    }

    /// The cheapest atom, or pair of atoms, for a movement; `None` if every one costs `cap` or
    /// more. `shared` is the map of its shared end, `viable` the copy atoms that can do it at all.
    /// With `record` all are priced in full.
    pub(crate) fn best_copy_atom(
        &self,
        index: usize,
        movement: &CopyOp,
        shared: Option<(&MemoryMap, u32)>,
        cap: u32,
        viable: ViableAtoms,
        mut record: Option<&mut RejectedAtoms>,
    ) -> Result<Option<Best>, PlanError> {
        let from = self.end_map(movement.op, movement.from, shared)?;
        let to = self.end_map(movement.op, movement.to, shared)?;
        let all = record.is_some();
        let is_wanted = |atom: AtomId| movement.wanted.is_none_or(|wanted| wanted == atom);
        let mut best: Option<Best> = None;
        let mut capped = false;
        let mut closest: Option<Reject> = None;
        let mut consider =
            |best: &mut Option<Best>,
             (atom, second, transpose): (AtomId, Option<AtomId>, Option<RegisterTranspose>),
             outcome: Result<Evaluated, Reject>| match outcome {
                Ok(found) => {
                    let beaten = best.is_none_or(|b| found.figures.cost < b.found.figures.cost);
                    let loser = if beaten {
                        best.map(|b| ((b.atom, b.transpose), b.found.figures.cost))
                    } else {
                        Some(((atom, transpose), found.figures.cost))
                    };
                    if let (Some(record), Some((what, cost))) = (record.as_mut(), loser) {
                        record.lose(what, Reject::Dearer, cost);
                    }
                    if beaten {
                        *best = Some(Best { atom, second, transpose, found, tiled: None });
                    }
                }
                Err(why) => {
                    capped |= why == Reject::Dearer;
                    if closest.is_none_or(|c| nearness(why) > nearness(c)) {
                        closest = Some(why);
                    }
                    if let Some(record) = record.as_mut() {
                        record.lose((atom, transpose), why, 0);
                    }
                }
            };
        let limit = |best: &Option<Best>| {
            if all { u32::MAX } else { best.map_or(cap, |b| b.found.figures.cost) }
        };
        let (bound, instruction) = (self.bound(movement), self.target.tables.weights.instruction);
        let between = self.transfers.between(from.space(), to.space()).iter();
        for (k, copy_atom) in (0u32..).zip(between).filter(|(_, m)| is_wanted(m.atom)) {
            let most = limit(&best);
            if bound.at(copy_atom.share_bytes, instruction) >= most {
                consider(&mut best, (copy_atom.atom, None, None), Err(Reject::Dearer));
                if all {
                    continue;
                }
                // The widest come first: what follows needs as many instructions at the least.
                break;
            }
            if !viable.takes(k, copy_atom) {
                continue;
            }
            let outcome = self.target.evaluate(copy_atom, from, to, most);
            consider(&mut best, (copy_atom.atom, None, None), outcome);
        }
        let loads = from.space() == Space::Global;
        let spaces =
            if loads { (Space::Register, Space::Shared) } else { (Space::Shared, Space::Register) };
        // Where the same dimension is contiguous on both sides there is nothing to transpose.
        let alike = shared.is_some_and(|(map, _)| map.at(1).bytes == u32::from(map.shape.bits / 8));
        // Only what goes from memory to memory can go through registers on its way.
        let direct = from.space() == Space::Register || to.space() == Space::Register;
        let staged = if direct { &[] } else { self.staged.as_slice() };
        for staged in staged
            .iter()
            .filter(|s| usize::from(s.movement) == index && (s.transpose.is_none() || !alike))
        {
            for half in self
                .transfers
                .between(spaces.0, spaces.1)
                .iter()
                .filter(|m| m.register_bits == staged.bits)
            {
                if !(is_wanted(staged.global) || is_wanted(half.atom)) || !viable.suits(half) {
                    continue;
                }
                let left = limit(&best).saturating_sub(staged.found.figures.cost);
                let (first, second) =
                    if loads { (staged.global, half.atom) } else { (half.atom, staged.global) };
                let what = (first, Some(second), staged.transpose);
                if (CopyBound { base: bound.shared, ..bound }).at(half.share_bytes, instruction)
                    >= left
                {
                    consider(&mut best, what, Err(Reject::Dearer));
                    if all {
                        continue;
                    }
                    break;
                }
                let outcome = self.evaluate_pair(staged, half, if loads { to } else { from }, left);
                consider(&mut best, what, outcome);
            }
        }
        let maps = if let (Some(global), Some((shared, _))) = (self.global_of(movement), shared) {
            Some((global, shared))
        } else {
            None
        };
        let forms = maps.map(|_| TensorMapCopies(&self.target).moves(loads));
        for (number, form) in forms.into_iter().flatten().filter(|(_, form)| is_wanted(form.atom)) {
            let Some((global, shared)) = maps else { break };
            // A coordinate for each dimension of the tensor.
            if form.at.len() != global.starts().count() {
                continue;
            }
            let most = limit(&best);
            let dtype = self.program.type_of(global.memref).dtype;
            match TensorMapCopies(&self.target).evaluate(form, global, dtype, shared, most) {
                Ok((found, map)) => {
                    let before = best;
                    consider(&mut best, (form.atom, None, None), Ok(found));
                    if best != before
                        && let Some(best) = best.as_mut()
                    {
                        best.tiled = Some((number, map));
                    }
                }
                Err(why) => consider(&mut best, (form.atom, None, None), Err(why)),
            }
        }
        match best {
            None if !capped => Err(PlanError::NoMover {
                op: movement.op,
                why: closest.unwrap_or(if movement.wanted.is_some() {
                    Reject::NotNative
                } else {
                    Reject::Form
                }),
            }),
            found => Ok(found.filter(|b| all || b.found.figures.cost < cap)),
        }
    }

    /// What a movement costs at the least: the transactions, segments and registers that every way
    /// of doing it shares, and the bytes of a lane, which accesses of some width move.
    pub(crate) fn bound(&self, movement: &CopyOp) -> CopyBound {
        let w = &self.target.tables.weights;
        let tile = |shape: TileShape| {
            u32::try_from(shape.bytes())
                .unwrap_or(u32::MAX)
                .checked_shr(
                    u32::from(self.target.wave).saturating_add(u32::from(self.target.warps)),
                )
                .unwrap_or(0)
        };
        let (mut lane_bytes, mut cost, mut passes, mut shared, mut global) =
            (0u32, 0u32, 0u32, false, false);
        // Lanes that hold the same elements move the same bytes.
        let mut lanes = u32::from(self.target.wave);
        for end in [movement.from, movement.to] {
            match end {
                CopyEnd::Registers(v) => {
                    let Some((_, f)) = self.plan.fragment_of(v) else { continue };
                    // The elements' own bytes, whatever registers they stand in.
                    let bytes = u32::from(f.shape.bits / 8)
                        .checked_shl(f.register.len() as u32)
                        .unwrap_or(0);
                    lane_bytes = bytes.saturating_mul(f.shape.grid.count());
                    lanes = f
                        .lane
                        .as_slice()
                        .iter()
                        .fold(0, |n, e| n.saturating_add(u32::from(*e != 0)));
                    cost = cost.saturating_add(u32::from(f.registers()).saturating_mul(w.register));
                }
                CopyEnd::Shared(k) => {
                    shared = true;
                    if lane_bytes == 0 {
                        lane_bytes =
                            self.plan.allocs.get(usize::from(k)).map_or(0, |a| tile(a.shape));
                    }
                }
                CopyEnd::Global(_) => global = true,
            }
        }
        let warp_bytes = lane_bytes.checked_shl(lanes).unwrap_or(u32::MAX);
        if shared {
            passes = warp_bytes
                .checked_div(self.family.bank_span.max(1))
                .unwrap_or(0)
                .saturating_mul(w.shared_transaction);
            cost = cost.saturating_add(passes);
        }
        if global {
            cost = cost.saturating_add(
                warp_bytes
                    .checked_div(w.segment_bytes)
                    .unwrap_or(0)
                    .saturating_mul(w.global_segment),
            );
        }
        CopyBound {
            movement: 0,
            base: cost,
            shared: passes,
            flipped: u32::MAX,
            lane_bytes,
            weight: 1,
            copies: false,
            loads: false,
            tiled: false,
            viable: [u32::MAX; 2],
            width: [u32::MAX; 2],
        }
    }

    /// A movement through registers: the staged half, and another of the same width on the shared
    /// side.
    fn evaluate_pair(
        &self,
        staged: &Staged,
        half: &CopyAtom,
        shared: EndMap<'_>,
        limit: u32,
    ) -> Result<Evaluated, Reject> {
        if staged.transpose.is_some() && !self.is_chosen_from(half) {
            return Err(Reject::Form);
        }
        let through = EndMap::Registers(&staged.fragment);
        let (from, to) =
            if half.from == Space::Register { (through, shared) } else { (shared, through) };
        let other = self.target.evaluate(half, from, to, limit)?;
        let tiling = staged.found.tiling;
        if staged.transpose.map_or(Some(tiling), |transpose| transpose.second(&tiling))
            != Some(other.tiling)
        {
            return Err(Reject::RegisterOrder);
        }
        let (a, b) = (staged.found.figures, other.figures);
        let mut figures = b;
        figures.count = a.count.saturating_add(b.count);
        figures.segments = a.segments;
        figures.further_addresses = a.further_addresses.saturating_add(b.further_addresses);
        figures.cost = a.cost.saturating_add(b.cost);
        Ok(Evaluated { tiling, figures, bank_status: other.bank_status })
    }

    /// Whether bytes of a copy atom's registers can be chosen.
    pub(crate) fn is_chosen_from(&self, copy_atom: &CopyAtom) -> bool {
        let class = self
            .choice
            .and_then(|choice| choice.atom.operands.iter().find(|o| o.role == Role::Def))
            .map(|o| o.class);
        let (Some(class), Some(atom)) = (class, self.target.tables.atom(copy_atom.atom)) else {
            return false;
        };
        let side = atom
            .movement
            .as_ref()
            .and_then(|m| [&m.from, &m.to].into_iter().find(|side| side.space == Space::Register));
        side.and_then(|side| atom.operands.get(usize::from(side.operand)))
            .is_some_and(|o| o.class == class || o.also.contains(&class))
    }

    /// The global tile of a copy between global and shared memory.
    fn global_of(&self, movement: &CopyOp) -> Option<&GlobalPlan> {
        match (movement.from, movement.to) {
            (CopyEnd::Global(g), CopyEnd::Shared(_)) | (CopyEnd::Shared(_), CopyEnd::Global(g)) => {
                self.plan.globals.get(usize::from(g))
            }
            _ => None,
        }
    }

    fn end_map<'m>(
        &'m self,
        op: Op,
        end: CopyEnd,
        shared: Option<(&'m MemoryMap, u32)>,
    ) -> Result<EndMap<'m>, PlanError> {
        match end {
            CopyEnd::Registers(v) => self
                .plan
                .fragment_of(v)
                .map(|(_, f)| EndMap::Registers(f))
                .ok_or(PlanError::Undecided(op)),
            CopyEnd::Shared(_) => shared
                .map(|(map, align)| EndMap::Shared(map, align))
                .ok_or(PlanError::Undecided(op)),
            CopyEnd::Global(g) => self
                .plan
                .globals
                .get(usize::from(g))
                .map(|g| EndMap::Global(&g.map, g.align))
                .ok_or(PlanError::Undecided(op)),
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
pub(crate) fn touches_shared(movement: &CopyOp) -> Option<usize> {
    [movement.from, movement.to]
        .iter()
        .find_map(|end| if let CopyEnd::Shared(k) = end { Some(usize::from(*k)) } else { None })
}

/// The largest power of two that divides a number.
pub(crate) fn power(n: u32) -> u32 {
    1u32.checked_shl(n.trailing_zeros()).unwrap_or(1 << 30)
}
