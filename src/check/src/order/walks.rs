//! Order: synchronisation between accesses of shared memory that conflict, on every way through the
//! steps.

use crate::memory::transpose::stores;
use crate::order::place::{AccessPlace, SharedAccess};
use crate::order::progress::{Counted, DIGIT, Outstanding, Progress, RULES, Since};
use crate::order::stages::StagedAccess;
use crate::order::ways::{BranchTargets, FlowState};
use crate::parting::{WarpParts, warp_parts};
use crate::violation::Violation;
use core::cell::Cell;
use lanebook_emit::Compiled;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::{Op, Program};
use lanebook_plan::{End, HalfPlan, Plan, ProductPlan, SharedExchange, TensorLoads};
use lanebook_tables::{AccessId, Arch, AtomId, Isa, OpRole, Role, SyncStep, Tables, TensorOperand};
use lanebook_tile::tiling::Tiling;

/// What was looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct OrderSummary {
    /// Places where ways through the steps meet.
    pub meets: u32,
    /// Accesses to shared memory.
    pub accesses: u32,
}

/// Checks the order of a compiled function's steps.
///
/// # Errors
/// The first thing that is wrong.
pub fn order(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
) -> Result<OrderSummary, Violation> {
    crate::lanes::shape::lanes(tables, program, &compiled.plan, compiled.steps)?;
    order_of(tables, program, &compiled.plan, compiled.steps)
}

/// The same for a list of steps and the plan that it carries out, without the exchanges between
/// lanes.
///
/// # Errors
/// The first thing that is wrong.
pub fn order_of(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    steps: &[Inst],
) -> Result<OrderSummary, Violation> {
    let arch = tables.arch(plan.arch).ok_or(Violation::UnknownArch)?;
    let isa = tables.isa(arch.isa).ok_or(Violation::UnknownArch)?;
    let WarpParts { readers, copying, branch } = warp_parts(tables, arch, isa, plan, steps)?;
    let look = OrderContext {
        tables,
        program,
        of_loops: function_of_loops(program),
        arch,
        isa,
        plan,
        steps: readers,
        copying,
        branch,
        readers: readers.len(),
    };
    look.counts(steps)?;
    look.stages()?;
    look.fetched()?;
    look.stored()?;
    crate::matrix::scale_copies::counted(plan, steps)?;
    let ways = BranchTargets::of(&look)?;
    let accesses = look.follow_all(&ways)?;
    look.mbarriers(&ways)?;
    Ok(OrderSummary { meets: u32::try_from(ways.len()).unwrap_or(u32::MAX), accesses })
}

#[derive(Copy, Clone)]
pub(crate) struct OrderContext<'a> {
    pub(crate) tables: &'a Tables<'a>,
    pub(crate) program: &'a Program<'a, 'a>,
    /// The function, where it is one of parallel loops.
    pub(crate) of_loops: Option<Op>,
    pub(crate) arch: &'a Arch<'a>,
    pub(crate) isa: &'a Isa<'a>,
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) steps: &'a [Inst],
    /// Those of warps that only copy, which stand behind the others, and the branch by which they
    /// leave them.
    pub(crate) copying: &'a [Inst],
    pub(crate) branch: Option<u16>,
    /// How many steps are not those.
    pub(crate) readers: usize,
}

/// The function of a program that is one of parallel loops.
pub(crate) fn function_of_loops(program: &Program<'_, '_>) -> Option<Op> {
    program.functions().next().filter(|function| program.has_loops(*function))
}

/// How many instructions of which atoms `want` instances are: where half of them take upper halves of
/// registers, those are of another one.
fn by_halves(atom: AtomId, want: u32, tiling: &Tiling) -> [Option<(AtomId, u32)>; 2] {
    match tiling.upper {
        Some(upper) => [Some((atom, want / 2)), Some((upper, want / 2))],
        None => [Some((atom, want)), None],
    }
}

impl OrderContext<'_> {
    /// Statement 15.
    #[inline(never)]
    fn counts(&self, steps: &[Inst]) -> Result<(), Violation> {
        for m in self.plan.transfers.iter() {
            let panels =
                u32::from(m.tiling.grid.rows).saturating_mul(u32::from(m.tiling.grid.cols));
            let want = 1u32
                .checked_shl(u32::try_from(m.tiling.instances.len()).unwrap_or(u32::MAX))
                .unwrap_or(u32::MAX)
                .saturating_mul(panels);
            // Blocks that are transposed are loaded by their rows and stored by their columns.
            let second = m.second.map(|second| (second, stores(m, want)));
            let [lower, upper] = by_halves(m.atom, want, &m.tiling);
            for (atom, want) in [lower, upper, second].into_iter().flatten() {
                let own = |s: &&Inst| {
                    s.purpose == InstKind::Move
                        && s.atom == atom
                        && usize::from(s.origin) == m.op.index()
                };
                let found = u32::try_from(steps.iter().filter(own).count()).unwrap_or(u32::MAX);
                let again = || self.loads_again(m, want, found);
                if found != want && !again() {
                    return Err(Violation::Count { op: m.op, atom, want, found });
                }
            }
        }
        for e in self.plan.exchanges.iter() {
            let halves = [(e.store.atom, &e.store.tiling), (e.load.atom, &e.load.tiling)];
            for (atom, tiling) in halves {
                let panels =
                    u32::from(tiling.grid.rows).saturating_mul(u32::from(tiling.grid.cols));
                let want = 1u32
                    .checked_shl(u32::try_from(tiling.instances.len()).unwrap_or(u32::MAX))
                    .unwrap_or(u32::MAX)
                    .saturating_mul(panels);
                for (atom, want) in by_halves(atom, want, tiling).into_iter().flatten() {
                    let own = |s: &&Inst| {
                        s.purpose == InstKind::Move
                            && s.atom == atom
                            && usize::from(s.origin) == e.op.index()
                    };
                    let found = u32::try_from(steps.iter().filter(own).count()).unwrap_or(u32::MAX);
                    if found != want {
                        return Err(Violation::Count { op: e.op, atom, want, found });
                    }
                }
            }
            self.in_rounds(e)?;
        }
        Ok(())
    }

    /// Statement 13 for an exchange in rounds: each round's loads stand behind its stores and before
    /// the next one's. Which instance a step is, its place among those of one address says.
    fn in_rounds(&self, e: &SharedExchange) -> Result<(), Violation> {
        let rounds = e.round_count();
        let each = |half: &HalfPlan| half.tiling.count().checked_div(rounds).unwrap_or(0);
        let (stores, loads) = (each(&e.store), each(&e.load));
        let is_store = |atom| atom == e.store.atom || Some(atom) == e.store.tiling.upper;
        let moves = self.steps.iter().filter(|s| {
            s.purpose == InstKind::Move
                && usize::from(s.origin) == e.op.index()
                && (is_store(s.atom) || s.atom == e.load.atom)
        });
        let turn = stores.saturating_add(loads);
        for (at, step) in (0u32..).zip(moves) {
            let stored = at.checked_rem(turn).is_some_and(|at| at < stores);
            let atom = if stored { e.store.atom } else { e.load.atom };
            if step.atom != atom && !(stored && is_store(step.atom)) {
                return Err(Violation::Count { op: e.op, atom, want: turn, found: at });
            }
        }
        Ok(())
    }

    /// Whether a load stands in the text as often as a product takes parts of its tile. Where
    /// registers are short, what one of its instructions fills is loaded whenever the product comes
    /// to another part than before: once for each of the other operand's blocks, for each step over
    /// the depth, or for some of both, never more often than the product has instructions.
    fn loads_again(&self, m: &lanebook_plan::TransferPlan, want: u32, found: u32) -> bool {
        let times = found.checked_div(want).filter(|times| times.checked_mul(want) == Some(found));
        let loads = matches!((m.from, m.to), (End::Shared(_) | End::Global(_), End::Registers(_)));
        let parts = |p: &ProductPlan| {
            let (rows, cols, depth) = p.product.counts();
            let all = [rows, cols, depth]
                .into_iter()
                .try_fold(1u32, |all, n| all.checked_mul(u32::from(n)))?;
            all.checked_rem(times?)
        };
        loads && self.plan.products.iter().any(|p| parts(p) == Some(0))
    }

    /// Every access against everything that may come after it; how many there are.
    fn follow_all(&self, ways: &BranchTargets) -> Result<u32, Violation> {
        let mut count = 0u32;
        for (at, step) in self.steps.iter().enumerate() {
            // Waits are ordered after an announcement by the object itself.
            for access in self
                .accesses(at, step)?
                .into_iter()
                .flatten()
                .filter(|access| !self.announces(access))
            {
                count = count.saturating_add(1);
                self.follow(ways, at, access)?;
            }
        }
        Ok(count)
    }

    /// How far synchronisation is right behind a producer.
    fn nothing_yet(
        &self,
        (from, step): (usize, &Inst),
        producer: SharedAccess,
        counted: Option<Counted>,
    ) -> Progress {
        let own = counted.is_some_and(|counted| counted.closes.is_none());
        let mut nothing = Progress { done: 0, ended: 0, behind: Outstanding::Begun(u8::from(own)) };
        // A wait that stands for copies is the first thing that their rules want.
        if self.stands_for_copies(from, step) {
            let rules = self.arch.syncs_behind(producer.kind);
            for (rule, number) in rules.zip(0u32..) {
                if rule.steps.first().is_some_and(|want| want.atom == step.atom) {
                    nothing.advance(number);
                }
            }
        }
        nothing
    }

    /// Statement 14 for one producer.
    #[inline(never)]
    fn follow(
        &self,
        ways: &BranchTargets,
        from: usize,
        producer: SharedAccess,
    ) -> Result<(), Violation> {
        let flow = Violation::Flow { step: narrow(from) };
        let step = self.steps.get(from).ok_or(flow)?;
        // What has to stand before the end of the kernel.
        let last = self
            .tables
            .units
            .tiled_moves
            .iter()
            .find(|f| f.atom == step.atom)
            .map_or(&[][..], |f| f.last);
        let rules = || self.arch.syncs_behind(producer.kind);
        let long = |steps: &[SyncStep<'_>]| steps.len() >= 1usize.wrapping_shl(DIGIT);
        if rules().count() > RULES || rules().any(|r| long(r.steps)) {
            return Err(flow);
        }
        let counted = self.counted(producer, step);
        let nothing = self.nothing_yet((from, step), producer, counted);
        let freed = self.handed_with(producer.place);
        let begun = Since { straight: Some(nothing), turned: None };
        let ring = self.waited_in_ring(from, step);
        let meet = |at: usize, step: &Inst, since: &mut Since, times: Option<u8>| {
            let accesses = self.accesses(at, step)?;
            // What completes on a ring is waited for by the ring's wait so many times later.
            let signal = match ring {
                None => producer.signal,
                Some(ring) if times.is_some_and(|n| n.saturating_add(1) == ring.count) => {
                    let wait = self.ring_of(at, step).filter(|of| *of == ring);
                    wait.and_then(|_| step.args.first().copied())
                }
                Some(_) => None,
            };
            for (progress, straight) in [(&mut since.straight, true), (&mut since.turned, false)] {
                let Some(own) = progress else { continue };
                // A wait may leave open as many groups as were closed behind the producer's, or
                // operations as began behind it.
                let later = counted.map(|c| (c.counter, own.behind.later()));
                for (rule, number) in rules().zip(0u32..) {
                    let want = rule.steps.get(own.done(number));
                    let frees = || freed.is_some() && self.frees(step) == freed;
                    if want.is_some_and(|want| {
                        self.does_behind(step, want, signal, later) || want.barrier && frees()
                    }) {
                        own.advance(number);
                    }
                }
                if let Some(counted) = counted {
                    own.behind = self.behind(step, counted, own.behind);
                }
                let want = last.get(usize::from(own.ended));
                if want.is_some_and(|want| self.does(step, want, signal)) {
                    own.ended = own.ended.saturating_add(1);
                }
                let mut all = rules().zip(0u32..);
                let over = all.all(|(rule, number)| own.done(number) >= rule.steps.len())
                    && rules().next().is_some();
                if over && usize::from(own.ended) >= last.len() {
                    *progress = None;
                    continue;
                }
                for access in accesses.into_iter().flatten() {
                    self.in_order((from, producer), (at, access), (straight, times), own)?;
                }
            }
            Ok(since.straight.is_some() || since.turned.is_some())
        };
        let end = |since: &Since| {
            let ended = [since.straight, since.turned].into_iter().flatten().map(|p| p.ended).min();
            match ended.and_then(|ended| last.get(usize::from(ended))) {
                Some(missing) => Err(Violation::Race {
                    producer: narrow(from),
                    consumer: narrow(self.steps.len()),
                    missing: missing.atom,
                }),
                None => Ok(()),
            }
        };
        let start = (from.saturating_add(1), begun);
        match self.staged_access(from, step) {
            None => self.everywhere(ways, start, |at, s, since| meet(at, s, since, None), end),
            Some(staged) => {
                let rest = match ring {
                    Some(ring) => Some(self.branch_of_rest(ring.around).ok_or(flow)?),
                    None => None,
                };
                self.in_buffers(ways, (&staged, rest), start, meet, end)
            }
        }
    }

    /// The same for an access to a tile of several buffers: so many times through its loop behind it
    /// an access meets the same buffer or another one; behind the loop, or after as many times as
    /// there are buffers, any. Where `rest` is given, what is copied is waited for in its own turn
    /// alone: the loop is not left before that, and the branch there leaves nothing out.
    #[inline(never)]
    fn in_buffers(
        &self,
        ways: &BranchTargets,
        (staged, rest): (&StagedAccess, Option<u16>),
        start: (usize, Since),
        meet: impl Fn(usize, &Inst, &mut Since, Option<u8>) -> Result<bool, Violation>,
        end: impl Fn(&Since) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        let (first, last) =
            self.turns_of(staged.around).ok_or(Violation::Missing(staged.around))?;
        let head = usize::from(first).saturating_add(1);
        let mut left: Option<Since> = None;
        let mut from = Some(start);
        for times in 0..staged.stages {
            let Some(start) = from else { break };
            let mut turned: Option<Since> = None;
            let is_own_turn = times.saturating_add(1) == staged.stages;
            let branch = rest.filter(|_| is_own_turn).map(usize::from);
            let begun: Cell<Option<Since>> = Cell::new(None);
            let mut inside = |at: usize, step: &Inst, since: &mut Since| {
                if !(head..=usize::from(last)).contains(&at) {
                    return Err(Violation::Flow { step: narrow(at) });
                }
                if Some(at) == branch {
                    let mut all = begun.get().unwrap_or(*since);
                    let _ = all.join(since);
                    begun.set(Some(all));
                    return Ok(false);
                }
                if at != usize::from(last) {
                    return meet(at, step, since, Some(times));
                }
                since.taken();
                match &mut turned {
                    Some(turned) => {
                        let _ = turned.join(since);
                    }
                    None => turned = Some(*since),
                }
                Ok(false)
            };
            let flow = Violation::Flow { step: last };
            self.everywhere(ways, start, &mut inside, |_| Err(flow))?;
            if let Some((at, since)) = branch.zip(begun.get()) {
                let start = (at.saturating_add(1), since);
                self.everywhere(ways, start, &mut inside, |_| Err(flow))?;
            }
            from = turned.map(|since| (head, since));
            if rest.is_some() && !is_own_turn {
                continue;
            }
            if let (Some(since), Some(left)) = (turned, &mut left) {
                let _ = left.join(&since);
            } else {
                left = left.or(turned);
            }
        }
        let behind = left.map(|since| (usize::from(last).saturating_add(1), since));
        for start in [from, behind].into_iter().flatten() {
            self.everywhere(ways, start, |at, s, since| meet(at, s, since, None), &end)?;
        }
        Ok(())
    }

    /// What the waits of a producer's rules count: groups that a step of the rules closes, or the
    /// operations of its own counter, if they complete in the order in which they begin.
    fn counted(&self, producer: SharedAccess, step: &Inst) -> Option<Counted> {
        let rules = || self.arch.syncs_behind(producer.kind);
        let used = |atom: AtomId| self.tables.atom(atom).and_then(|atom| atom.counter);
        let mut counters = (0u8..).zip(self.arch.counters).filter(|(_, c)| c.in_order);
        counters.find_map(|(counter, c)| {
            let waits = |rule: &lanebook_tables::SyncRule<'_>| {
                rule.steps.iter().any(|step| step.atom == c.wait)
            };
            let rule = rules().find(|rule| waits(rule))?;
            let counts = |atom: AtomId| used(atom).is_some_and(|used| used.counter == counter);
            let closes = rule.steps.iter().find(|step| counts(step.atom)).map(|step| step.atom);
            let itself = used(step.atom).is_some_and(|u| u.counter == counter && !u.unordered);
            (closes.is_some() || itself).then_some(Counted { counter, closes })
        })
    }

    /// What has been closed or begun behind an access when a step is done.
    fn behind(&self, step: &Inst, counted: Counted, before: Outstanding) -> Outstanding {
        let now = match before {
            Outstanding::Begun(count) if self.begins(step, counted) => {
                Outstanding::Begun(count.saturating_add(1))
            }
            _ => before,
        };
        if self.is_over(step, counted, now.later()) { Outstanding::Over } else { now }
    }

    /// Whether a step is one more of what is counted.
    fn begins(&self, step: &Inst, counted: Counted) -> bool {
        if step.purpose == InstKind::Label {
            return false;
        }
        match counted.closes {
            Some(closes) => closes == step.atom,
            None => {
                let used = self.tables.atom(step.atom).and_then(|atom| atom.counter);
                used.is_some_and(|used| used.counter == counted.counter && !used.unordered)
            }
        }
    }

    /// Whether a step waits for an operation behind which so many others began.
    fn is_over(&self, step: &Inst, counted: Counted, later: u8) -> bool {
        let counter = self.arch.counters.get(usize::from(counted.counter));
        let Some(counter) = counter.filter(|c| c.wait == step.atom) else { return false };
        let bounds = self.tables.atom(step.atom);
        let bounds = bounds.and_then(|atom| atom.operands.get(usize::from(counter.operand)));
        let Some(&Slot::Int(left)) = step.args.get(usize::from(counter.operand)) else {
            return false;
        };
        let waits = bounds.is_some_and(|bounds| i64::from(left) < bounds.range.1);
        counted.closes.is_none()
            && step.purpose != InstKind::Label
            && waits
            && left <= i32::from(later)
    }

    /// Whether a later access needs no order with a producer, or has it.
    fn in_order(
        &self,
        (from, producer): (usize, SharedAccess),
        (at, access): (usize, SharedAccess),
        (straight, times): (bool, Option<u8>),
        since: &Progress,
    ) -> Result<(), Violation> {
        let origin = |at: usize| self.steps.get(at).map(|s| s.origin);
        let staged = |at: usize| self.steps.get(at).and_then(|s| self.staged_access(at, s));
        // Of one loop's buffers, in another one than it was.
        let beside = times.is_some_and(|times| {
            producer.place == access.place
                && staged(from).zip(staged(at)).is_some_and(|(before, now)| {
                    before.around == now.around && !before.meets(&now, times)
                })
        });
        let apart =
            beside || !producer.place.meets(access.place) || !(producer.writes || access.writes);
        // Inside one execution of one operation only the halves of an exchange conflict, and what a
        // product has added up with its own loads.
        let together = straight && (origin(at) == origin(from) || self.home(at) == self.home(from));
        let parts = self.home(at).is_some_and(|op| self.program.role(op) == OpRole::ReduceInto);
        let halves = (parts
            || self.plan.exchanges.iter().any(|e| origin(at) == u16::try_from(e.op.index()).ok()))
            && producer.writes != access.writes;
        let in_columns = matches!(producer.place, AccessPlace::Columns(..));
        let fetches = in_columns && access.kind != producer.kind;
        let object = self.announces(&access);
        if apart
            || (together && !halves && !fetches && !object)
            || self.own_elements(producer, access)
        {
            return Ok(());
        }
        let mut rules = self.arch.syncs_behind(producer.kind).zip(0u32..);
        let (rule, number) =
            rules.find(|(r, _)| r.consumer == access.kind).ok_or(Violation::NoRule {
                producer: producer.kind,
                consumer: access.kind,
                step: narrow(at),
            })?;
        match rule.steps.get(since.done(number)) {
            Some(missing) => Err(Violation::Race {
                producer: narrow(from),
                consumer: narrow(at),
                missing: missing.atom,
            }),
            None => Ok(()),
        }
    }

    /// Whether a step does what the table wants. A wait that leaves fewer operations outstanding
    /// does.
    pub(crate) fn does(&self, step: &Inst, want: &SyncStep<'_>, signal: Option<Slot>) -> bool {
        self.does_behind(step, want, signal, None)
    }

    /// The same where so many operations of a counter came later than those that have to be over.
    fn does_behind(
        &self,
        step: &Inst,
        want: &SyncStep<'_>,
        signal: Option<Slot>,
        later: Option<(u8, u8)>,
    ) -> bool {
        if self.meets_readers(step, want) {
            return true;
        }
        if step.atom != want.atom || step.purpose == InstKind::Label {
            return false;
        }
        // A wait for an object is one for the producer's.
        if self.tables.units.mbarriers.iter().any(|c| c.wait == want.atom)
            && (signal.is_none() || step.args.first().copied() != signal)
        {
            return false;
        }
        let Some(atom) = self.tables.atom(want.atom) else { return false };
        let mut values = want.immediates.iter();
        for (k, (operand, arg)) in atom.operands.iter().zip(&step.args).enumerate() {
            if operand.role != Role::Immediate {
                continue;
            }
            let Some(&value) = values.next() else { continue };
            let Slot::Int(have) = *arg else { return false };
            let mut counters = self.arch.waited_by(want.atom);
            let bounds = counters.find(|(_, c)| usize::from(c.operand) == k);
            // The greatest number waits for nothing.
            let waits = i64::from(have) < operand.range.1;
            let enough = bounds.is_some_and(|(number, _)| {
                let more = later.filter(|(counter, _)| *counter == number).map_or(0, |(_, n)| n);
                have <= value || waits && have <= value.saturating_add(i32::from(more))
            });
            if have != value && !enough {
                return false;
            }
        }
        true
    }

    /// The product whose accumulator a step loads from tensor memory.
    pub(super) fn load_of(&self, step: &Inst) -> Option<&ProductPlan> {
        let loads = |p: &&ProductPlan| {
            let form = p
                .product
                .tensor
                .and_then(|loads| self.tables.units.tensor_moves.get(usize::from(loads.form)));
            form.is_some_and(|form| {
                form.load_atoms.0 == step.atom || form.load_atoms.1 == Some(step.atom)
            })
        };
        self.plan.products.iter().filter(|p| p.op.index() == usize::from(step.origin)).find(loads)
    }

    /// The product that a step stores something to tensor memory for: A, its accumulator's start,
    /// or either.
    pub(super) fn store_of(&self, step: &Inst) -> Option<(&ProductPlan, bool, bool)> {
        let does = |loads: Option<TensorLoads>| {
            let form =
                loads.and_then(|loads| self.tables.units.tensor_moves.get(usize::from(loads.form)));
            form.is_some_and(|form| {
                form.store_atoms.0 == step.atom || form.store_atoms.1 == Some(step.atom)
            })
        };
        let p = self
            .plan
            .products
            .iter()
            .find(|p| p.op.index() == usize::from(step.origin) && p.tensor.is_some())?;
        let (a, start) = (
            does(p.product.tensor_a),
            does(p.product.tensor.filter(|_| p.tensor.is_some_and(|place| place.stored))),
        );
        (a || start).then_some((p, a, start))
    }

    /// A product's accumulators, or its A, as something that is accessed.
    pub(super) fn in_tensor(
        &self,
        p: &ProductPlan,
        a: bool,
        kind: impl Fn(&TensorOperand<'_>) -> Option<AccessId>,
        writes: bool,
    ) -> Option<SharedAccess> {
        let own = self.tables.atom(p.product.atom)?.tensor()?;
        let [sums, factors] = crate::matrix::tensor_memory::held(p);
        let (first, columns) = if a { factors? } else { sums? };
        Some(SharedAccess {
            place: AccessPlace::Columns(first, columns),
            kind: kind(own)?,
            writes,
            signal: None,
            moved: None,
        })
    }

    /// There are as many stores to tensor memory as it takes.
    fn stored(&self) -> Result<(), Violation> {
        for p in self.plan.products.iter() {
            let count = |loads: Option<TensorLoads>, registers: u16| {
                loads.map_or(0, |l| {
                    u32::from(registers).checked_shr(u32::from(l.registers)).unwrap_or(0)
                })
            };
            let starts = p.tensor.is_some_and(|place| place.stored);
            let a = count(p.product.tensor_a, p.product.a.registers());
            let start = count(p.product.tensor.filter(|_| starts), p.product.c.registers());
            // Of A alone, of the start alone, of either.
            let (mut only_a, mut only_start, mut either) = (0u32, 0u32, 0u32);
            for (_, for_a, for_start) in self
                .steps
                .iter()
                .filter(|s| s.purpose != InstKind::Label)
                .filter_map(|s| self.store_of(s))
                .filter(|(q, ..)| q.op == p.op)
            {
                let counter = match (for_a, for_start) {
                    (true, false) => &mut only_a,
                    (false, _) => &mut only_start,
                    (true, true) => &mut either,
                };
                *counter = counter.saturating_add(1);
            }
            let (want, found) =
                (a.saturating_add(start), only_a.saturating_add(only_start).saturating_add(either));
            if want != found || only_a > a || only_start > start {
                return Err(Violation::Count { op: p.op, atom: p.product.atom, want, found });
            }
        }
        Ok(())
    }

    /// Registers that loads from tensor memory fill are not touched before the wait for them, and
    /// there are as many loads as it takes.
    fn fetched(&self) -> Result<(), Violation> {
        for p in self.plan.products.iter() {
            let Some(loads) = p.product.tensor else { continue };
            let own = self
                .tables
                .atom(p.product.atom)
                .and_then(|a| a.tensor())
                .ok_or(Violation::Missing(p.op))?;
            let rule = self
                .arch
                .sync
                .iter()
                .find(|r| r.producer == own.reads && r.consumer == own.fetched);
            let wait = rule.and_then(|r| r.steps.first()).ok_or(Violation::NoRule {
                producer: own.reads,
                consumer: own.fetched,
                step: 0,
            })?;
            let want = u32::from(p.product.c.registers())
                .checked_shr(u32::from(loads.registers))
                .unwrap_or(0);
            let mut found = 0u32;
            for (at, step) in self.steps.iter().enumerate().filter(|(_, s)| {
                s.purpose != InstKind::Label && self.load_of(s).is_some_and(|q| q.op == p.op)
            }) {
                found = found.saturating_add(1);
                let filled = step.args.first().copied();
                let touches = |later: &Inst| later.args.iter().any(|arg| overlap(filled, *arg));
                let until = self
                    .steps
                    .iter()
                    .skip(at.saturating_add(1))
                    .take_while(|s| s.purpose == InstKind::Label || s.atom != wait.atom);
                let Some(early) = until.into_iter().position(touches) else { continue };
                let consumer = narrow(at.saturating_add(1).saturating_add(early));
                return Err(Violation::Race { producer: narrow(at), consumer, missing: wait.atom });
            }
            if found != want {
                return Err(Violation::Count { op: p.op, atom: p.product.atom, want, found });
            }
        }
        Ok(())
    }
}

/// Whether two operands have a register in common.
pub(crate) fn overlap(a: Option<Slot>, b: Slot) -> bool {
    let run = |slot: Slot| match slot {
        Slot::Reg { class, count, first } => {
            Some((class, u32::from(first), u32::from(first).saturating_add(u32::from(count))))
        }
        // Where it goes is not looked up: it may reach all that follows.
        Slot::Spread { class, first, .. } => Some((class, u32::from(first), u32::MAX)),
        _ => None,
    };
    let (Some(a), Some(b)) = (a.and_then(run), run(b)) else { return false };
    a.0 == b.0 && a.1 < b.2 && b.1 < a.2
}

pub(crate) fn narrow(step: usize) -> u16 {
    u16::try_from(step).unwrap_or(u16::MAX)
}
