//! Stages: the copies that a loop of stages starts turns ahead, and the buffers that this takes.
//!
//! Every copy from global to shared memory that stands directly in such a loop runs ahead, or the
//! program is refused with what keeps it from that.

use crate::data::{
    End, InShared, MAX_STAGED_SIZES, PlanError, ProductPlan, STAGED_REACH, SpecializedWarps,
    TransferPlan, Unstaged,
};
use crate::in_flight::{CountedWait, closes_group, ends_with_product};
use crate::select::before::Before;
use crate::select::planner::{CopyEnd, CopyOp, Planner};
use lanebook_ir::{IndexStep, Leads, Loop, Op, Program, Value};
use lanebook_tables::{AccessId, AtomId, FieldRole, IndexWord, OpRole, Space, SyncRule, SyncStep};
use lanebook_tile::product::ProductInput;
use lanebook_tile::unit::{descriptor_named, has};

/// Whether copies run ahead in a loop of which it is not known that its upper bound is not below
/// zero: [`bound_from_zero`] makes one that is not, and the loop turns as often.
pub(crate) fn may_end_below_zero(program: &Program<'_, '_>, op: Op) -> bool {
    let bounds = program.counted_loop(op).filter(|_| program.stages(op) > 1);
    let is_plain = |value: Value| program.index_facts(value).is_plain();
    bounds.is_some_and(|parts| is_plain(parts.lower) && !is_plain(parts.upper))
}

/// Puts the greater of a loop's upper bound and zero in place of the bound; answers the bounds and the
/// step that it had.
pub(crate) fn bound_from_zero(program: &mut Program<'_, '_>, op: Op) -> Option<[Value; 3]> {
    let Loop { lower, upper, step, .. } = program.counted_loop(op)?;
    let mark = program.mark();
    let mut before = Before { program, op };
    let zero = before.index(0)?;
    let bound = before.of_indices(IndexWord::Max, upper, zero);
    let done = bound.is_some_and(|bound| program.set_operand(op, 1, bound).is_ok());
    match done {
        true => program.keep(mark),
        false => program.undo(mark),
    }
    done.then_some([lower, upper, step])
}

impl Planner<'_, '_, '_, '_> {
    /// Gives each tile of a copy that runs ahead its buffers.
    ///
    /// # Errors
    /// [`PlanError::Stages`].
    pub(crate) fn stage_tiles(&mut self) -> Result<(), PlanError> {
        for op in self.program.inside(self.function) {
            let stages = self.program.stages(op);
            let refuse = |why| PlanError::Stages { op, why };
            let apart = self.program.is_warp_specialized(op);
            if stages < 2 {
                if apart {
                    return Err(refuse(Unstaged::Single));
                }
                continue;
            }
            if apart {
                self.set_aside(op)?;
            }
            let parts = self.program.counted_loop(op).ok_or(refuse(Unstaged::Bounds))?;
            self.stage_loop(&parts, stages)?;
            let mut none = true;
            for k in 0..self.movements.len() {
                let Some(&movement) = self.movements.get(k) else { continue };
                if self.program.parent(movement.op) != Some(op) {
                    continue;
                }
                if let (CopyEnd::Global(_), CopyEnd::Shared(alloc)) = (movement.from, movement.to) {
                    self.stage_copy(&movement, alloc, &parts, stages)?;
                    none = false;
                }
            }
            if none {
                return Err(refuse(Unstaged::NoCopy));
            }
        }
        Ok(())
    }

    /// Sets warps aside for the copies of a loop: once for all such loops.
    fn set_aside(&mut self, op: Op) -> Result<(), PlanError> {
        let refuse = |why| PlanError::Stages { op, why };
        let (tables, arch, program) = (self.target.tables, self.target.arch, self.program);
        let mut around = core::iter::successors(program.parent(op), |at| program.parent(*at));
        if around.any(|at| at != self.function && program.counted_loop(at).is_none()) {
            return Err(refuse(Unstaged::Bounds));
        }
        let loops = core::iter::successors(Some(op), |at| program.parent(*at));
        let is_loaded = |value: Value| program.is_of_elements(value);
        let mut loops = loops.filter_map(|at| program.counted_loop(at));
        if loops.any(|at| [at.lower, at.upper, at.step].into_iter().any(is_loaded)) {
            return Err(refuse(Unstaged::Loaded));
        }
        let mut all = (0u8..).zip(tables.units.specializations);
        let (how, fact) =
            all.find(|(_, fact)| has(arch, fact.feature)).ok_or(refuse(Unstaged::Apart))?;
        let threads = self.plan.threads.saturating_add(u32::from(fact.threads));
        if threads > u32::from(arch.max_threads) {
            return Err(refuse(Unstaged::Threads));
        }
        let (least, most, step) = fact.registers;
        let whole = |n: u32| {
            let rest = n.checked_rem(u32::from(step)).unwrap_or(0);
            let n = n.saturating_sub(rest).min(u32::from(most));
            u16::try_from(n).unwrap_or(most)
        };
        // A lane has one less than what the greatest number of a register says.
        let entry =
            whole(fact.file.checked_div(threads).unwrap_or(0)).min(most.saturating_sub(step));
        let producer = whole(tables.weights.producer_registers).clamp(least, entry.max(least));
        let all = u32::from(entry).saturating_mul(threads);
        let left = all.saturating_sub(u32::from(producer).saturating_mul(fact.threads.into()));
        let consumer = whole(left.checked_div(self.plan.threads).unwrap_or(0)).max(entry);
        let threads = fact.threads;
        self.plan.specialized = Some(SpecializedWarps { how, threads, entry, producer, consumer });
        Ok(())
    }

    /// Refuses loops whose turns cannot be run ahead of.
    pub(crate) fn stage_loop(&self, parts: &Loop, stages: u8) -> Result<(), PlanError> {
        let refuse = |why| PlanError::Stages { op: parts.op, why };
        let plain = |value: Value| self.program.index_facts(value).is_plain();
        let step = self.program.int(parts.step).filter(|n| *n > 0);
        let step = step.ok_or(refuse(Unstaged::Bounds))?;
        if !plain(parts.lower) || !plain(parts.upper) {
            return Err(refuse(Unstaged::Bounds));
        }
        let far = step.checked_mul(i64::from(stages));
        if far.is_none_or(|far| far >= STAGED_REACH) {
            return Err(refuse(Unstaged::Reach));
        }
        Ok(())
    }

    /// Gives the tile of one copy its buffers.
    fn stage_copy(
        &mut self,
        movement: &CopyOp,
        alloc: u16,
        parts: &Loop,
        stages: u8,
    ) -> Result<(), PlanError> {
        let (program, copy) = (self.program, movement.op);
        let refuse = |why| PlanError::Stages { op: copy, why };
        self.begins_known(copy, parts)?;
        let tensor = program.operand(copy, 0).ok_or(PlanError::Stale)?;
        let writes = |op: Op| program.writes_to(op, tensor);
        if program.inside(parts.op).any(writes) {
            return Err(refuse(Unstaged::Written));
        }
        if program.is_warp_specialized(parts.op) && program.inside(self.function).any(writes) {
            return Err(refuse(Unstaged::WrittenBeside));
        }
        let tile = self.plan.allocs.get(usize::from(alloc)).ok_or(PlanError::Stale)?.value;
        for user in program.uses(tile).filter_map(|place| program.user(place)) {
            let behind = core::iter::successors(program.next(copy), |at| program.next(*at));
            let reads =
                program.role(user) == OpRole::Load && behind.into_iter().any(|at| at == user);
            if user != copy && !reads {
                return Err(PlanError::Stages { op: user, why: Unstaged::Touched });
            }
        }
        let tile = self.plan.allocs.get_mut(usize::from(alloc)).ok_or(PlanError::Stale)?;
        tile.stages = stages;
        Ok(())
    }

    /// Refuses a copy of which a turn ahead does not know where it begins.
    #[inline(never)]
    pub(crate) fn begins_known(&self, copy: Op, parts: &Loop) -> Result<(), PlanError> {
        let program = self.program;
        let refuse = |why| PlanError::Stages { op: copy, why };
        let evenly = |start: Value| match program.index_step(start, parts) {
            IndexStep::Fixed => true,
            IndexStep::By(n) => n > 0 && i32::try_from(n).is_ok(),
            IndexStep::Times(_) | IndexStep::Other => false,
        };
        if program.is_warp_specialized(parts.op)
            && program.subscripts(copy, 0).any(|start| program.is_of_elements(start))
        {
            return Err(refuse(Unstaged::Loaded));
        }
        // What the loop loads to know it is loaded ahead, too.
        let leads = program.leads(parts);
        let is_led = |start: Value| program.def_op(start).is_some_and(|op| leads.contains(&op));
        if !program.subscripts(copy, 0).all(|start| evenly(start) || is_led(start)) {
            return Err(refuse(Unstaged::Uneven));
        }
        self.leads_stay(parts, &leads)
    }

    /// Refuses a loop that writes where it loads what its copies begin at.
    #[inline(never)]
    fn leads_stay(&self, parts: &Loop, leads: &Leads) -> Result<(), PlanError> {
        let program = self.program;
        for &load in leads.iter().filter(|op| program.role(**op) == OpRole::Load) {
            let tensor = program.operand(load, 0).ok_or(PlanError::Stale)?;
            if program.inside(parts.op).any(|op| program.writes_to(op, tensor)) {
                return Err(PlanError::Stages { op: load, why: Unstaged::Written });
            }
        }
        Ok(())
    }

    /// Whether a movement is a copy that runs ahead.
    pub(crate) fn runs_ahead(&self, movement: &CopyOp) -> bool {
        let (CopyEnd::Global(_), CopyEnd::Shared(alloc)) = (movement.from, movement.to) else {
            return false;
        };
        self.plan.allocs.get(usize::from(alloc)).is_some_and(|tile| tile.stages > 1)
    }

    /// Takes the buffers back that no copy would be on its way into: of a loop whose copies all go
    /// through registers, one turn's copies are in registers, and its tiles have two buffers.
    pub(crate) fn spare_buffers(&mut self) {
        let program = self.program;
        for around in program.inside(self.function).filter(|op| program.stages(*op) > 2) {
            let own = |m: &&TransferPlan| program.parent(m.op) == Some(around);
            let ahead = |m: &&TransferPlan| self.plan.runs_ahead(m.op);
            let mut copies = self.plan.transfers.iter().filter(own).filter(ahead);
            if copies.any(|m| m.second.is_none()) {
                continue;
            }
            for k in 0..self.plan.transfers.len() {
                let Some(m) = self.plan.transfers.get(k).filter(own) else { continue };
                let (End::Global(_), End::Shared(alloc)) = (m.from, m.to) else { continue };
                if let Some(tile) = self.plan.allocs.get_mut(usize::from(alloc))
                    && tile.stages > 2
                {
                    tile.keep_buffers(2);
                }
            }
        }
    }

    /// Refuses copies that cannot be waited for turn by turn, and loads that cannot be ordered
    /// after those.
    pub(crate) fn check_stages(&self) -> Result<(), PlanError> {
        for around in self.program.inside(self.function).filter(|op| self.program.stages(*op) > 1) {
            let mut sizes: heapless::Vec<u32, MAX_STAGED_SIZES> = heapless::Vec::new();
            let mut announced = 0u64;
            let own = |m: &&TransferPlan| self.program.parent(m.op) == Some(around);
            for copy in self.plan.transfers.iter().filter(own) {
                let Some(tile) = self.plan.staged(copy).filter(|_| self.plan.runs_ahead(copy.op))
                else {
                    continue;
                };
                let refuse = |why| PlanError::Stages { op: copy.op, why };
                let bytes = tile.stage_bytes();
                if !sizes.contains(&bytes) && sizes.push(bytes).is_err() {
                    return Err(refuse(Unstaged::Sizes));
                }
                for (product, input, given) in self.plan.readers(copy.to) {
                    let step = self.check_reader((copy, bytes), product, input, given)?;
                    if !sizes.contains(&step) && sizes.push(step).is_err() {
                        return Err(refuse(Unstaged::Sizes));
                    }
                }
                if copy.tiled.is_some() {
                    announced = announced.saturating_add(tile.shape.bytes());
                    if announced > self.most_announced() {
                        return Err(refuse(Unstaged::Mover));
                    }
                }
                let writes = self.touch(copy, true).ok_or(refuse(Unstaged::Mover))?;
                if !self.is_waited_for(copy, (writes, writes)) {
                    return Err(refuse(Unstaged::Mover));
                }
                let reads = |m: &&TransferPlan| m.from == copy.to;
                for load in self.plan.transfers.iter().filter(reads) {
                    let refuse = PlanError::Stages { op: load.op, why: Unstaged::Reader };
                    let kind = self.touch(load, false).ok_or(refuse)?;
                    let again = self.target.arch.sync_between(kind, writes).ok_or(refuse)?;
                    if !self.is_waited_for(copy, (writes, kind)) || !is_met(again) {
                        return Err(refuse);
                    }
                }
            }
        }
        Ok(())
    }

    /// Refuses a unit that reads a tile of several buffers by itself, where nothing orders that;
    /// by how many units of its descriptor's start the next buffer is further.
    fn check_reader(
        &self,
        (copy, bytes): (&TransferPlan, u32),
        product: &ProductPlan,
        input: ProductInput,
        given: &InShared,
    ) -> Result<u32, PlanError> {
        let refuse = PlanError::Stages { op: given.load, why: Unstaged::Reader };
        let (tables, arch) = (self.target.tables, self.target.arch);
        let atom = tables.atom(product.product.atom).ok_or(refuse)?;
        let shape = product.product.shape;
        let how = atom.shared(input.of([shape.a, shape.b])).ok_or(refuse)?;
        let writes = self.touch(copy, true).ok_or(refuse)?;
        let again = self.target.arch.sync_between(how.access, writes).ok_or(refuse)?;
        let is_over = is_met(again) || ends_with_product(arch, atom, again);
        if !self.is_waited_for(copy, (writes, how.access)) || !is_over {
            return Err(refuse);
        }
        let table = descriptor_named(tables, arch, how.descriptor).map_err(|_| refuse)?;
        let start = table.fields.iter().find(|f| f.role == FieldRole::Start).ok_or(refuse)?;
        let fits = u32::from(start.at).saturating_add(u32::from(start.bits)) <= u32::BITS;
        let units =
            bytes.checked_div(start.scale).filter(|n| n.checked_mul(start.scale) == Some(bytes));
        let units = units.filter(|_| fits).and_then(|n| n.checked_shl(u32::from(start.at)));
        units.ok_or(refuse)
    }

    /// As what a movement touches shared memory: a load with one instruction, by an address in each
    /// lane.
    fn touch(&self, m: &TransferPlan, writes: bool) -> Option<AccessId> {
        if let Some(tiled) = m.tiled.filter(|_| writes) {
            let form = self.target.tables.units.tiled_moves.get(usize::from(tiled.form))?;
            return form.signal.map(|_| form.to);
        }
        let last = m.second.filter(|_| writes).unwrap_or(m.atom);
        let movement = self.target.tables.atom(last)?.movement?;
        let side = if writes { &movement.to } else { &movement.from };
        let by_lane =
            side.layout.axes().is_ok_and(|axes| axes.contains(&lanebook_layout::AxisId::SLOT));
        let plain = m.tiled.is_none() && side.space == Space::Shared;
        let single = m.second.is_none() && by_lane;
        (plain && (writes || single)).then_some(side.access)
    }

    /// Whether a kind of read may stand between copies of different turns into one buffer.
    pub(crate) fn orders(&self, copy: &TransferPlan, kind: AccessId) -> bool {
        let Some(writes) = self.touch(copy, true) else { return false };
        self.is_waited_for(copy, (writes, kind))
            && self.target.arch.sync_between(kind, writes).is_some_and(is_met)
    }

    /// Whether a later access is ordered after a copy of an earlier turn in a way that lets later
    /// turns' copies go on: what goes through registers is stored at the end of its turn.
    fn is_waited_for(&self, copy: &TransferPlan, (writes, later): (AccessId, AccessId)) -> bool {
        match (copy.second, copy.tiled) {
            (Some(_), _) => self.target.arch.sync_between(writes, later).is_some_and(is_met),
            (None, Some(_)) => self.completes_on_objects(writes, later),
            (None, None) => self.is_counted(copy.atom, writes, later),
        }
    }

    /// Most bytes that the copies of a turn can announce together.
    fn most_announced(&self) -> u64 {
        let objects = self.target.tables.units.mbarriers.iter();
        let own = objects.filter(|c| has(self.target.arch, c.feature));
        own.map(|c| u64::from(c.most_bytes)).min().unwrap_or(0)
    }

    /// Whether a later access is ordered after copies by a wait for the object alone that they
    /// complete on: each turn's copies have one of their own.
    fn completes_on_objects(&self, producer: AccessId, consumer: AccessId) -> bool {
        let (tables, arch) = (self.target.tables, self.target.arch);
        let object = tables.units.mbarriers.iter().find(|c| has(arch, c.feature));
        let Some((object, rule)) = object.zip(self.target.arch.sync_between(producer, consumer))
        else {
            return false;
        };
        let again =
            self.target.arch.sync_between(object.waits, object.announces).is_some_and(is_met);
        let waits = rule.steps.first().is_some_and(|step| step.atom == object.wait);
        again && waits && !rule.steps.iter().any(|step| step.after_producer || step.barrier)
    }

    /// Whether a later access is ordered after copies by a wait that may leave the last ones on
    /// their way, and a barrier: the copies are counted themselves, or in groups that a step behind
    /// them closes.
    fn is_counted(&self, copy: AtomId, producer: AccessId, consumer: AccessId) -> bool {
        let (tables, arch) = (self.target.tables, self.target.arch);
        let Some(rule) = self.target.arch.sync_between(producer, consumer) else { return false };
        let counts = |step: &SyncStep<'_>| CountedWait::of(tables, arch, step);
        let Some((at, wait)) =
            (0usize..).zip(rule.steps).find_map(|(at, step)| Some((at, counts(step)?)))
        else {
            return false;
        };
        let (before, behind) = rule.steps.split_at_checked(at).unwrap_or_default();
        let used = tables.atom(copy).and_then(|atom| atom.counter);
        let counted = match before {
            [] => used.is_some_and(|used| used.counter == wait.counter && !used.unordered),
            [close] => closes_group(tables, close, wait.counter),
            _ => false,
        };
        let rest = behind.get(1..).unwrap_or_default();
        counted
            && rest.iter().any(|step| step.barrier)
            && !rest.iter().any(|step| step.after_producer || counts(step).is_some())
    }
}

/// Whether all that a rule wants may stand before the later access, a barrier among it: what has to
/// stand behind the earlier one stands before the barrier.
fn is_met(rule: &SyncRule<'_>) -> bool {
    let first = rule.steps.iter().position(|step| step.barrier);
    let behind = |first: usize| rule.steps.iter().skip(first).any(|step| step.after_producer);
    first.is_some_and(|first| !behind(first))
}
