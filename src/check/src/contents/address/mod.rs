//! Addresses: the integer steps carried out for one thread at a time, and each movement's address
//! against its element's place ([`places`]).
mod places;
pub(super) mod worked_out;

use crate::contents::address::worked_out::WorkedOut;
use crate::contents::arguments::Given;
use crate::contents::arguments::turning::turning;
use crate::contents::flow::{Numbering, is_written, registers};
use crate::contents::storage::{ContentsPool, ContentsScratch, LOOPS, NO_LOOP, NONE, Turned};
use crate::contents::{ContentsContext, ContentsSummary, class, count};
use crate::evaluator::power;
use crate::order::stages::LeftOut;
use crate::parting::lag;
use crate::stages::stages_of;
use crate::violation::Violation;
use heapless::VecView;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::Op;
use lanebook_plan::TransferPlan;
use lanebook_plan::shared_alloc::MAX_MBARRIERS;
use lanebook_tables::{Atom, AtomId, Operand, RegisterKind, Role};

/// Turns of a loop that are gone through.
pub(super) const TURNS: u32 = 3;
/// How often each thread is carried out with bounds inside of tiles.
const WITHIN: u32 = 3;
/// Most steps of one thread.
const FUEL: u32 = 1 << 18;
/// Most registers that a thread makes uniform.
const UNIFORM: usize = 128;
/// Where parameters are said to stand, a number for each register.
const PARAMETERS: u64 = 0x7a00;
/// Bits of an address in global memory.
pub(super) const GLOBAL_BITS: u64 = (1 << 48) - 1;

/// A thread that is carried out.
pub(super) struct ThreadRun<'a, 's> {
    pub(super) look: &'a ContentsContext<'a>,
    numbering: Numbering,
    values: &'s mut VecView<Option<u64>>,
    pub(super) instances: &'s mut VecView<u16>,
    pub(super) blocks: &'s mut VecView<[u16; 3]>,
    pub(super) lanes: &'s mut VecView<u32>,
    /// How many of the lanes' numbers are still to be met, while one lane is carried out for them.
    pub(super) wanted: Option<u32>,
    pub(super) loops: &'s VecView<Turned>,
    pub(super) turns: [u32; LOOPS],
    pub(super) thread: u32,
    pub(super) compared: u32,
    /// What the first lane of the thread's warp has in the registers that are made uniform, in the
    /// order in which they are.
    uniform: heapless::Vec<Option<u64>, UNIFORM>,
    /// How many of them this thread has met; `None` while the first lane is carried out.
    met: Option<usize>,
    /// What steps were found to be; `None` while addresses are compared.
    pub(super) claims: Option<&'s VecView<u32>>,
    /// The loop that the step which is looked at runs ahead of.
    pub(super) ahead: Option<Op>,
    /// Of each ring of mbarriers, by its first one: how often it has been announced to, and
    /// waited for, counted up to two rounds.
    pub(super) rings: [[u8; 2]; MAX_MBARRIERS as usize],
    /// Slots of atoms' sides.
    slots: heapless::Vec<(AtomId, bool, u32), 16>,
    worked_out: &'s WorkedOut,
}

/// Carries out some threads of the group; finds out which instance each movement step is.
#[inline(never)]
pub(super) fn addresses(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    out: &mut ContentsSummary,
) -> Result<(), Violation> {
    let far = ContentsContext { given: Given::Far, ..*look };
    let of_far = turning(&far, scratch);
    let far = ContentsContext { edges: &of_far, ..far };
    let capacity = u32::try_from(scratch.values.capacity()).unwrap_or(u32::MAX);
    scratch
        .values
        .resize(Numbering::of(look).len(), None)
        .map_err(|_| Violation::Room { pool: ContentsPool::Registers, capacity })?;
    out.addresses = some_threads(look, &far, scratch)?;
    // The first blocks, where bounds of tensors lie inside of tiles.
    let is_bounded = look.plan.globals.iter().any(|g| look.program.bounds(g.memref).is_some());
    for number in (0..2).filter(|_| is_bounded) {
        let block = ContentsContext { given: Given::Edge(number), edges: &[], ..*look };
        let turning = turning(&block, scratch);
        let block = ContentsContext { edges: &turning, ..block };
        let compared = within_bounds(&block, scratch)?;
        out.addresses = out.addresses.saturating_add(compared);
    }
    let moves = look
        .steps
        .iter()
        .zip(scratch.instances.iter())
        .filter(|(s, i)| s.purpose == InstKind::Move && **i == NONE && look.is_placed(s));
    out.unplaced = u32::try_from(moves.count()).unwrap_or(u32::MAX);
    Ok(())
}

/// Threads of several blocks; how many addresses were compared.
#[inline(never)] // A run leaves the stack before the next one begins.
fn whole_blocks(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<u32, Violation> {
    let mut run = ThreadRun::of(look, scratch, false);
    run.many_threads()?;
    Ok(run.compared)
}

/// Threads of several blocks, also with arguments that are `far`; how many addresses were compared.
fn some_threads(
    look: &ContentsContext<'_>,
    far: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<u32, Violation> {
    let before = whole_blocks(look, scratch)?;
    let told = scratch.number_told(look);
    further_threads(look, far, scratch, (before, told))
}

/// Every lane as far as conversions inside warps are told by it, threads without work and threads
/// with arguments that are `far`; how many addresses were compared, with those before.
#[inline(never)] // A run leaves the stack before other arguments are looked for.
fn further_threads(
    look: &ContentsContext<'_>,
    far: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
    (before, told): (u32, u16),
) -> Result<u32, Violation> {
    let mut run = ThreadRun::of(look, scratch, false);
    run.compared = before;
    run.all_lanes(told)?;
    let idle = ContentsContext { given: Given::Idle, edges: &[], ..*look };
    run.goes_on_with(&idle);
    run.thread(0)?;
    run.goes_on_with(far);
    run.thread(0)?;
    run.thread(look.plan.threads.saturating_sub(1))?;
    run.goes_on_with(look);
    let compared = run.compared;
    run.all_blocks()?;
    Ok(compared)
}

/// Many threads of a block, each more than once, with other bounds inside of tiles each time; how
/// many addresses were compared.
#[inline(never)] // As above.
fn within_bounds(
    block: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<u32, Violation> {
    let again = (0..WITHIN).flat_map(|_| many_threads(block.plan.threads));
    let mut compared = 0u32;
    for (nth, thread) in (0u64..).zip(again) {
        let edges = block.edges(scratch, nth);
        let block = ContentsContext { edges: &edges, ..*block };
        let mut run = ThreadRun::of(&block, scratch, false);
        run.thread(thread)?;
        compared = compared.saturating_add(run.compared);
    }
    Ok(compared)
}

/// Each bit of a thread's number alone, none, all, and some.
fn many_threads(threads: u32) -> impl Iterator<Item = u32> {
    let bits = (0..u32::BITS).filter_map(|bit| 1u32.checked_shl(bit));
    let alone = bits.take_while(move |bit| *bit < threads);
    core::iter::once(0).chain(alone).chain([threads.saturating_sub(1), threads / 3])
}

impl ContentsContext<'_> {
    /// The movement that a step belongs to, as its atom carries it out.
    pub(super) fn movement_of(&self, step: &Inst) -> Option<TransferPlan> {
        let own = |op: Op| op.index() == usize::from(step.origin);
        self.atom(step)?.movement?;
        if let Some(e) = self.plan.exchanges.iter().find(|e| own(e.op)) {
            return e.moves().into_iter().find(|m| m.is_by(step.atom));
        }
        let is_own = |m: &&TransferPlan| own(m.op) && m.tiled.is_none() && m.is_by(step.atom);
        let m = self.plan.transfers.iter().find(is_own)?;
        let mut out = *m;
        if m.second == Some(step.atom)
            && m.atom != step.atom
            && let Some(transpose) = m.transpose
        {
            out.tiling = transpose.second(&m.tiling)?;
        }
        Some(out)
    }
}

impl<'a, 's> ThreadRun<'a, 's> {
    /// A run that no thread has begun; `claims`: for what steps were found to be.
    pub(super) fn of(
        look: &'a ContentsContext<'a>,
        scratch: &'s mut ContentsScratch<'_>,
        claims: bool,
    ) -> Self {
        let ContentsScratch { values, instances, blocks, lanes, loops, bound, worked_out, .. } =
            scratch;
        worked_out.forget();
        let claims = claims.then_some(&**bound);
        Self {
            look,
            numbering: Numbering::of(look),
            values,
            instances,
            blocks,
            lanes,
            wanted: None,
            loops,
            turns: [0; LOOPS],
            thread: 0,
            compared: 0,
            uniform: heapless::Vec::new(),
            met: None,
            claims,
            ahead: None,
            rings: [[0; 2]; MAX_MBARRIERS as usize],
            slots: heapless::Vec::new(),
            worked_out,
        }
    }
}

impl ThreadRun<'_, '_> {
    /// A register's number.
    pub(super) fn register(&self, class: u8, number: u16) -> Option<u64> {
        self.numbering.at(class, number).and_then(|at| self.values.get(at).copied()).flatten()
    }

    /// The value of an operand: one register, or two of 32 bits.
    pub(super) fn operand(&self, step: &Inst, table_class: u16, k: usize) -> Option<u64> {
        match step.arg(k) {
            Slot::Int(v) => Some(i64::from(v).cast_unsigned()),
            Slot::Word(v) => Some(u64::from(v)),
            Slot::None => self.register(u8::try_from(table_class).ok()?, 0),
            slot @ (Slot::Reg { .. } | Slot::Spread { .. }) => {
                let class = class(slot)?;
                let first = self.register(class, self.look.number(slot, 0)?)?;
                if count(slot) < 2 || self.look.class_bits(class)? > 32 {
                    return Some(first);
                }
                let second = self.register(class, self.look.number(slot, 1)?)?;
                Some(first & 0xffff_ffff | second.checked_shl(32)?)
            }
            _ => None,
        }
    }

    /// Sets what a step writes to a number, or to none.
    fn write(&mut self, step: &Inst, value: Option<u64>) {
        let (look, numbering) = (self.look, self.numbering);
        let mut first = None;
        let values = &mut *self.values;
        registers(look, &numbering, step, is_written, |named| {
            let own = *first.get_or_insert(named.operand) == named.operand;
            let wide = class(step.arg(usize::from(named.operand)))
                .and_then(|c| look.class_bits(c))
                .is_some_and(|bits| bits > 32);
            let part = match value.filter(|_| own) {
                Some(v) if wide => (named.member == 0).then_some(v),
                Some(v) => v
                    .checked_shr(u32::from(named.member).saturating_mul(32))
                    .map(|v| v & 0xffff_ffff),
                None => None,
            };
            if let Some(place) = values.get_mut(named.place) {
                *place = part;
            }
        });
    }

    /// Many threads once more, for what steps were found to be.
    #[inline(never)]
    pub(super) fn again(
        look: &ContentsContext<'_>,
        scratch: &mut ContentsScratch<'_>,
    ) -> Result<(), Violation> {
        ThreadRun::of(look, scratch, true).many_threads()
    }

    /// Threads that differ in each bit of their number.
    fn many_threads(&mut self) -> Result<(), Violation> {
        many_threads(self.look.plan.threads).try_for_each(|thread| self.thread(thread))
    }

    /// One thread, behind the first lane of its warp where it takes over what that one has.
    pub(super) fn thread(&mut self, thread: u32) -> Result<(), Violation> {
        let lanes = power(usize::from(self.look.plan.wave)).unwrap_or(1);
        let first = thread & !lanes.wrapping_sub(1);
        self.uniform.clear();
        self.met = None;
        let shares = self
            .look
            .isa
            .make_uniform
            .is_some_and(|atom| self.look.steps.iter().any(|s| s.atom == atom));
        if shares || first == thread {
            let wanted = self.wanted.take_if(|_| first != thread);
            self.carry_out(first)?;
            self.wanted = wanted.or(self.wanted);
        }
        if first == thread {
            return Ok(());
        }
        self.met = Some(0);
        self.carry_out(thread)
    }

    /// The value of the first lane, in a register that is made uniform.
    fn first_lane(&mut self, own: Option<u64>) -> Option<u64> {
        match &mut self.met {
            None => {
                let _ = self.uniform.push(own);
                own
            }
            Some(met) => {
                let found = self.uniform.get(*met).copied().flatten();
                *met = met.saturating_add(1);
                found
            }
        }
    }

    /// One thread, from the first step to the last.
    #[inline(never)]
    fn carry_out(&mut self, thread: u32) -> Result<(), Violation> {
        self.thread = thread;
        self.values.fill(None);
        self.turns = [0; LOOPS];
        self.rings = [[0; 2]; MAX_MBARRIERS as usize];
        if let Some(fixed) = self.look.isa.thread_register
            && let Some(at) = u8::try_from(fixed.class.0)
                .ok()
                .and_then(|class| self.numbering.at(class, fixed.number))
            && let Some(place) = self.values.get_mut(at)
        {
            *place = Some(u64::from(thread));
        }
        if let Some(fixed) = self.look.isa.param_base {
            let class = u8::try_from(fixed.class.0).unwrap_or(u8::MAX);
            for k in 0..u16::from(fixed.count) {
                if let Some(place) = self
                    .numbering
                    .at(class, fixed.number.saturating_add(k))
                    .and_then(|at| self.values.get_mut(at))
                {
                    *place = Some(PARAMETERS.saturating_add(u64::from(k)));
                }
            }
        }
        for (fixed, number) in self.look.isa.block_registers.iter().zip(0..) {
            let class = u8::try_from(fixed.class.0).unwrap_or(u8::MAX);
            if let Some(place) =
                self.numbering.at(class, fixed.number).and_then(|at| self.values.get_mut(at))
            {
                *place = Some(self.look.block(number));
            }
        }
        let mut at = 0u16;
        let mut fuel = FUEL;
        while let Some(step) = self.look.steps.get(usize::from(at)) {
            fuel = fuel.checked_sub(1).ok_or(Violation::Flow { step: at })?;
            if step.purpose != InstKind::Label && step.atom == self.look.isa.end {
                break;
            }
            let from = at;
            at = self.step(at, step)?;
            self.enter(from, at);
            if self.wanted == Some(0) {
                break;
            }
        }
        Ok(())
    }

    /// A loop that is not entered by a jump, since its first turn is certain, begins that turn with
    /// its first step.
    fn enter(&mut self, from: u16, to: u16) {
        for (l, turns) in self.loops.iter().zip(&mut self.turns) {
            if l.nth != NO_LOOP && l.first == to && l.meet == l.first && from != l.last {
                *turns = 1;
            }
        }
    }

    /// Carries out a step; where it goes on.
    fn step(&mut self, at: u16, step: &Inst) -> Result<u16, Violation> {
        let next = at.saturating_add(1);
        let Some(atom) = self.look.atom(step) else { return Ok(next) };
        let isa = self.look.isa;
        if step.atom == isa.branch {
            let found = (0usize..).zip(self.loops.iter()).find(|(_, l)| l.first == next);
            let Some((number, l)) = found.filter(|(_, l)| l.nth != NO_LOOP) else {
                return self.look.target(step).ok_or(Violation::Flow { step: at });
            };
            if let Some(turns) = self.turns.get_mut(number) {
                *turns = 0;
            }
            return Ok(l.meet);
        }
        if step.atom == isa.branch_if {
            return self.branch(at, step, atom);
        }
        if self.wanted.is_some() {
            self.in_lane(at, step, atom);
        } else if self.claims.is_none() {
            self.compare(at, step, atom)?;
            self.units(at, step, atom)?;
        }
        let mut value = self.value(step, atom);
        if step.purpose == InstKind::Index {
            value = self.invented(at);
        }
        if Some(step.atom) == isa.make_uniform {
            value = self.first_lane(value);
        }
        if self.claims.is_some() && self.wanted.is_none() {
            self.is_number(at, step, value)?;
        }
        self.write(step, value);
        Ok(next)
    }

    /// A loop's branch: taken as often as the program says.
    fn branch(&mut self, at: u16, step: &Inst, atom: &Atom<'_>) -> Result<u16, Violation> {
        let (next, flow) = (at.saturating_add(1), Violation::Flow { step: at });
        let holds = atom.operands.iter().position(|o| o.role == Role::Use).and_then(|k| {
            let class = atom.operands.get(k)?.class.0;
            self.operand(step, class, k)
        });
        if self.look.branch == Some(at) {
            // Those leave that are set aside, and nobody else.
            let leaves = self.thread >= self.look.plan.threads;
            if holds.map(|found| found != 0) != Some(leaves) {
                return Err(flow);
            }
            return if leaves { self.look.target(step).ok_or(flow) } else { Ok(next) };
        }
        let Some((number, l)) =
            (0u8..).zip(self.loops.iter()).find(|(_, l)| l.last == at && l.nth != NO_LOOP)
        else {
            let target = self.look.target(step).ok_or(flow)?;
            if let Some(part) = self.look.order().left_out(at) {
                let turns = self.turns_of(part.around).ok_or(flow)?;
                let out = self.leaves_out(&part, turns).ok_or(flow)?;
                if holds.map(|found| found != 0) != Some(out) {
                    return Err(Violation::Turn { step: at, turns });
                }
            }
            // Where warps part that copy, and where they go is not known, nothing would be seen.
            if holds.is_none() && usize::from(at) >= self.look.readers {
                return Err(flow);
            }
            return Ok(if holds == Some(0) { next } else { target });
        };
        let first = l.first;
        let done = self.turns.get(usize::from(number)).copied().ok_or(flow)?;
        let around = self.look.nth_loop(l.nth).ok_or(flow)?;
        let stages = stages_of(self.look.program, self.look.plan, around);
        let behind = i64::from(self.behind(around));
        let want = self.has_turn(around, i64::from(done).saturating_sub(behind));
        if let Some(want) = want
            && holds.map(|found| found != 0) != Some(want)
        {
            return Err(Violation::Turn { step: at, turns: done });
        }
        if let Some(want) = self.counter(around, i64::from(done).saturating_sub(behind))
            && self.compared_at(at) != Some(want)
        {
            return Err(Violation::Turn { step: at, turns: done });
        }
        // All buffers, twice.
        let apart = self.look.order().is_apart(around);
        let most = if stages > 1 { u32::from(stages).saturating_mul(3) } else { TURNS };
        // The next time begins with another buffer.
        let most = most.saturating_add(u32::from(apart));
        if want == Some(true) && done < most {
            if let Some(turns) = self.turns.get_mut(usize::from(number)) {
                *turns = done.saturating_add(1);
            }
            return Ok(first);
        }
        Ok(next)
    }

    /// What a loop's counter is before the turn of this number, and its bound, as words of 32 bits;
    /// nothing where they are not known.
    fn counter(&self, around: Op, number: i64) -> Option<[u64; 2]> {
        let parts = self.look.program.counted_loop(around)?;
        let (lower, upper) = (self.index(parts.lower)?, self.index(parts.upper)?);
        let step = self.index(parts.step)?;
        let counter = lower.saturating_add(number.saturating_mul(step));
        Some([counter, upper].map(|n| n.cast_unsigned() & 0xffff_ffff))
    }

    /// What the step before a branch compares.
    fn compared_at(&self, branch: u16) -> Option<[u64; 2]> {
        let step = self.look.steps.get(usize::from(branch.checked_sub(1)?))?;
        let atom = self.look.atom(step)?;
        let isa = self.look.isa;
        if step.atom != isa.compare_less && Some(step.atom) != isa.compare_signed {
            return None;
        }
        let mut read = atom.operands.iter().enumerate().filter(|(_, o)| o.role == Role::Use);
        let mut next = || {
            let (k, operand) = read.next()?;
            self.operand(step, operand.class.0, k).map(|n| n & 0xffff_ffff)
        };
        Some([next()?, next()?])
    }

    /// Whether a loop has a turn of this number, or would have one before its first; nothing where
    /// its bounds are not known.
    pub(super) fn has_turn(&self, around: Op, number: i64) -> Option<bool> {
        let parts = self.look.program.counted_loop(around)?;
        let (lower, upper) = (self.index(parts.lower)?, self.index(parts.upper)?);
        let step = self.index(parts.step)?;
        Some(lower.saturating_add(number.saturating_mul(step)) < upper)
    }

    /// Whether a loop of stages, gone through so many times, leaves out a part.
    fn leaves_out(&self, part: &LeftOut, times: u32) -> Option<bool> {
        let turn = i64::from(times).checked_sub(1)?;
        if part.copies {
            return self.has_turn(part.around, turn).map(|has| !has);
        }
        Some(
            turn < i64::from(stages_of(self.look.program, self.look.plan, part.around))
                .checked_sub(1)?,
        )
    }

    /// The number that a step computes, if it computes one.
    fn value(&self, step: &Inst, atom: &Atom<'_>) -> Option<u64> {
        let isa = self.look.isa;
        let operand = |k: u8| {
            let table = atom.operands.get(usize::from(k))?;
            self.operand(step, table.class.0, usize::from(k))
        };
        if Some(step.atom) == isa.read_thread {
            return Some(u64::from(self.thread));
        }
        let axis = |atoms: &[AtomId]| {
            atoms.iter().zip(0u8..).find(|(own, _)| **own == step.atom).map(|(_, axis)| axis)
        };
        if let Some(axis) = axis(isa.read_block) {
            return Some(self.look.block(axis));
        }
        if let Some(axis) = axis(isa.read_blocks) {
            return Some(self.look.blocks(axis));
        }
        if Some(step.atom) == isa.leading_zeros {
            return Some(u64::from(u32::try_from(operand(1)?).ok()?.leading_zeros()));
        }
        if Some(step.atom) == isa.divide {
            return (operand(1)? & 0xffff_ffff).checked_div(operand(2)? & 0xffff_ffff);
        }
        if Some(step.atom) == isa.shared_base {
            return Some(self.look.segment());
        }
        if step.atom == isa.load_param32
            || step.atom == isa.load_param64
            || Some(step.atom) == isa.param_address
        {
            return self.parameter(step, atom);
        }
        if let Some(start) = self.allocated(step, atom) {
            return Some(start);
        }
        if Some(step.atom) == isa.make_uniform {
            return operand(1);
        }
        if step.atom == isa.compare_less || Some(step.atom) == isa.compare_signed {
            let mut uses = (0u8..)
                .zip(atom.operands.iter())
                .filter(|(_, o)| o.role == Role::Use)
                .map(|(k, _)| k);
            let (a, b) = (operand(uses.next()?)?, operand(uses.next()?)?);
            let signed = |n: u64| (n as u32).cast_signed();
            return Some(u64::from(if step.atom == isa.compare_less {
                a & 0xffff_ffff < b & 0xffff_ffff
            } else {
                signed(a) < signed(b)
            }));
        }
        // The tables say of no term how a special register is written: by what takes nothing but a
        // register.
        let kind = |o: &Operand<'_>| isa.classes.get(o.class.index()).map(|c| c.kind);
        if let (true, Some(to), Some(from), 2) = (
            atom.means.is_empty(),
            atom.operands.first(),
            atom.operands.get(1),
            atom.operands.len(),
        ) && (to.role, from.role, kind(to))
            == (Role::Def, Role::Use, Some(RegisterKind::Special))
        {
            return operand(1);
        }
        crate::contents::through::number(atom.means.slice(), operand)
    }

    /// The value of the parameter that a step loads.
    fn parameter(&self, step: &Inst, atom: &Atom<'_>) -> Option<u64> {
        let k = atom.operands.iter().position(|o| o.role == Role::Immediate)?;
        let Slot::Int(n) = step.arg(k) else { return None };
        let by_offset = self.look.isa.param_base.is_some();
        let given = |k: usize| atom.operands.get(k).and_then(|o| self.operand(step, o.class.0, k));
        let mut bases = atom
            .operands
            .iter()
            .enumerate()
            .filter(|(_, o)| matches!(o.role, Role::Use | Role::Address) && !o.implicit);
        if by_offset
            && !bases
                .all(|(k, _)| given(k) == Some(PARAMETERS | PARAMETERS.saturating_add(1) << 32))
        {
            return None;
        }
        let found = (0i32..)
            .zip(self.look.params)
            .find(
                |(number, p)| {
                    if by_offset { i32::try_from(p.offset) == Ok(n) } else { *number == n }
                },
            )?
            .1;
        self.argument(found.value, found.kind)
    }

    /// By how many turns all but copies is behind in a loop; warps that copy have no such loops.
    pub(super) fn behind(&self, around: Op) -> u8 {
        let copies = self.thread >= self.look.plan.threads;
        if copies { 0 } else { lag(self.look.program, self.look.plan, around) }
    }

    /// How many turns of a loop of the program have begun since it was entered.
    pub(super) fn turns_of(&self, around: Op) -> Option<u32> {
        let number = self
            .loops
            .iter()
            .position(|l| l.nth != NO_LOOP && self.look.nth_loop(l.nth) == Some(around))?;
        self.turns.get(number).copied()
    }

    /// The same of the turns alone that read what copies have brought.
    pub(super) fn turns_read(&self, around: Op) -> Option<u32> {
        let behind = u32::from(self.behind(around));
        self.turns_of(around).map(|times| times.saturating_sub(behind))
    }
}

impl ContentsContext<'_> {
    /// Where the shared segment is said to start.
    pub(super) fn segment(&self) -> u64 {
        u64::from(self.plan.shared_align.max(1024)).saturating_mul(16)
    }

    /// Where it starts: at 0, where no instruction asks for it.
    pub(super) fn base(&self) -> u64 {
        if self.isa.shared_base.is_some() { self.segment() } else { 0 }
    }
}
