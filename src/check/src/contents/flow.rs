//! Definitions: which step wrote each register that a step reads.

use crate::contents::storage::{ContentsPool, ContentsScratch, LOOPS, NO_LOOP, NONE, Turned};
use crate::contents::{Content, ContentsContext, class, count};
use crate::order::walks::narrow;
use crate::violation::Violation;
use heapless::VecView;
use lanebook_emit::step::{GUARD_OPERAND, Inst, InstKind, NO_GUARD, Slot};
use lanebook_tables::{Isa, Operandless, RegisterKind, Role};

/// Most classes of an instruction set.
const CLASSES: usize = 16;

/// Registers of all classes in one list.
#[derive(Copy, Clone, Default)]
pub(super) struct Numbering {
    starts: [u32; CLASSES],
    count: u32,
}

impl Numbering {
    /// From the highest numbers that steps name.
    pub(super) fn of(look: &ContentsContext<'_>) -> Self {
        let mut high = [0u32; CLASSES];
        let mut touch = |class: u8, number: u16| {
            if let Some(high) = high.get_mut(usize::from(class)) {
                *high = (*high).max(u32::from(number).saturating_add(1));
            }
        };
        for step in look.steps {
            let Some(atom) = look.atom(step) else { continue };
            for (k, operand) in atom.operands.iter().enumerate() {
                let slot = step.arg(k);
                if operand.implicit && slot == Slot::None {
                    touch(u8::try_from(operand.class.0).unwrap_or(u8::MAX), 0);
                }
                for member in 0..count(slot) {
                    if let (Some(class), Some(number)) = (class(slot), look.number(slot, member)) {
                        touch(class, number);
                    }
                }
            }
            if let Slot::Reg { class, first, .. } = step.guard_slot() {
                touch(class, first);
            }
        }
        for fixed in given_registers(look.isa) {
            for k in 0..u16::from(fixed.count) {
                touch(
                    u8::try_from(fixed.class.0).unwrap_or(u8::MAX),
                    fixed.number.saturating_add(k),
                );
            }
        }
        let mut out = Self::default();
        for (start, high) in out.starts.iter_mut().zip(high) {
            *start = out.count;
            out.count = out.count.saturating_add(high);
        }
        out
    }

    /// The place of a register in the list.
    pub(super) fn at(&self, class: u8, number: u16) -> Option<usize> {
        let start = *self.starts.get(usize::from(class))?;
        let end =
            self.starts.get(usize::from(class).saturating_add(1)).copied().unwrap_or(self.count);
        let at = start.checked_add(u32::from(number)).filter(|at| *at < end)?;
        usize::try_from(at).ok()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }
}

/// One register of a step's operand.
#[derive(Copy, Clone)]
pub(super) struct Named {
    /// Its place in the list of registers.
    pub place: usize,
    /// Operand.
    pub operand: u8,
    /// Number in the operand's tuple.
    pub member: u8,
}

/// Calls `f` with each register of the operands that `wanted` takes.
pub(super) fn registers(
    look: &ContentsContext<'_>,
    numbering: &Numbering,
    step: &Inst,
    wanted: impl Fn(Role) -> bool,
    mut f: impl FnMut(Named),
) {
    let Some(atom) = look.atom(step) else { return };
    for ((operand, table), k) in (0u8..).zip(atom.operands.iter()).zip(0usize..) {
        if !wanted(role_of(step, table.role)) {
            continue;
        }
        let slot = step.arg(k);
        if table.implicit && slot == Slot::None {
            let class = u8::try_from(table.class.0).unwrap_or(u8::MAX);
            if let Some(place) = numbering.at(class, 0) {
                f(Named { place, operand, member: 0 });
            }
            continue;
        }
        for member in 0..count(slot) {
            let place = class(slot)
                .zip(look.number(slot, member))
                .and_then(|(class, number)| numbering.at(class, number));
            if let Some(place) = place {
                f(Named { place, operand, member });
            }
        }
    }
}

/// What a step does with an operand: lanes that a guard keeps it from keep what they had.
pub(super) fn role_of(step: &Inst, role: Role) -> Role {
    match role {
        Role::Def if step.guard != NO_GUARD => Role::UseDef,
        role => role,
    }
}

/// Registers that have a value at entry.
fn given_registers<'a>(isa: &'a Isa<'a>) -> impl Iterator<Item = Operandless<'a>> {
    let one = [isa.thread_register, isa.param_base].into_iter().flatten();
    one.chain(isa.block_registers.iter().copied())
}

/// What reads a register.
pub(super) fn is_read(role: Role) -> bool {
    matches!(role, Role::Use | Role::UseDef | Role::Address)
}

/// What writes one.
pub(super) fn is_written(role: Role) -> bool {
    matches!(role, Role::Def | Role::UseDef)
}

fn full(pool: ContentsPool, capacity: usize) -> Violation {
    Violation::Room { pool, capacity: u32::try_from(capacity).unwrap_or(u32::MAX) }
}

/// Fills `starts`, `reads`, `loops` and `turns`.
#[inline(never)]
pub(super) fn definitions(
    look: &ContentsContext<'_>,
    scratch: &mut ContentsScratch<'_>,
) -> Result<(), Violation> {
    let numbering = Numbering::of(look);
    let many = look.steps.len();
    let steps = |capacity: usize| full(ContentsPool::Steps, capacity);
    scratch.instances.resize(many, NONE).map_err(|_| steps(scratch.instances.capacity()))?;
    scratch.bound.resize(many, 0).map_err(|_| steps(scratch.bound.capacity()))?;
    scratch.blocks.resize(many, [NONE; 3]).map_err(|_| steps(scratch.blocks.capacity()))?;
    scratch
        .state
        .resize(numbering.len(), Content::Nothing)
        .map_err(|_| full(ContentsPool::Registers, scratch.state.capacity()))?;
    find_loops(look, &numbering, scratch.loops)?;
    for (at, step) in (0u16..).zip(look.steps) {
        let start = u32::try_from(scratch.reads.len()).unwrap_or(u32::MAX);
        scratch.starts.push(start).map_err(|_| steps(scratch.starts.capacity()))?;
        enter(look, &numbering, scratch, at)?;
        let mut fits = true;
        let (state, reads) = (&*scratch.state, &mut *scratch.reads);
        registers(look, &numbering, step, is_read, |named| {
            fits &= reads.push(state.get(named.place).copied().unwrap_or_default()).is_ok();
        });
        // The guard stands behind all operands.
        if let Slot::Reg { class, first, .. } = step.guard_slot() {
            let place = numbering.at(class, first);
            let content = place.and_then(|place| state.get(place)).copied().unwrap_or_default();
            fits &= reads.push(content).is_ok();
        }
        if !fits {
            return Err(full(ContentsPool::Reads, scratch.reads.capacity()));
        }
        write(look, &numbering, scratch.state, at, step);
    }
    Ok(())
}

/// Ways that one register leads back.
const WAYS: usize = 32;

/// No step reads a register that nothing has written on some way to it.
#[inline(never)]
pub(super) fn written_before(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
) -> Result<(), Violation> {
    let numbering = Numbering::of(look);
    for (at, step) in (0u16..).zip(look.steps) {
        let Some(atom) = look.atom(step) else { continue };
        let mut wrong = false;
        registers(look, &numbering, step, is_read, |named| {
            let plain = atom
                .operands
                .get(usize::from(named.operand))
                .is_some_and(|o| matches!(o.role, Role::Use | Role::Address) && !o.implicit);
            if plain && !look.is_given(step.arg(usize::from(named.operand)), named.member) {
                let content =
                    scratch.read(look, at, named.operand, named.member).unwrap_or_default();
                wrong |= scratch.is_unwritten(content);
            }
        });
        if wrong {
            return Err(Violation::Content { step: at, writer: u16::MAX, value: None, at: 0 });
        }
    }
    Ok(())
}

/// What a step writes.
fn write(
    look: &ContentsContext<'_>,
    numbering: &Numbering,
    state: &mut VecView<Content>,
    at: u16,
    step: &Inst,
) {
    let mut number = 0u8;
    registers(look, numbering, step, is_written, |named| {
        if let Some(place) = state.get_mut(named.place) {
            *place = Content::Inst(at, number);
        }
        number = number.saturating_add(1);
    });
}

impl ContentsContext<'_> {
    /// Whether a register is one that the kernel begins with, or a special one.
    pub(super) fn is_given(&self, slot: Slot, member: u8) -> bool {
        let Some((own, number)) = class(slot).zip(self.number(slot, member)) else { return true };
        let special =
            self.isa.classes.get(usize::from(own)).is_none_or(|c| c.kind == RegisterKind::Special);
        let mut fixed = given_registers(self.isa);
        let begins = |f: Operandless<'_>| {
            f.class.0 == u16::from(own)
                && (f.number..f.number.saturating_add(u16::from(f.count))).contains(&number)
        };
        special || fixed.any(begins)
    }

    /// The step of a branch's label.
    pub(super) fn target(&self, branch: &Inst) -> Option<u16> {
        let label = branch.args.iter().find(|a| matches!(a, Slot::Label(_)))?;
        let at = self
            .steps
            .iter()
            .position(|s| s.purpose == InstKind::Label && s.args.first() == Some(label))?;
        u16::try_from(at).ok()
    }

    /// Where a step jumps to, if it does so always.
    pub(super) fn jump(&self, at: u16) -> Option<u16> {
        let step = self
            .steps
            .get(usize::from(at))
            .filter(|s| s.purpose != InstKind::Label && s.atom == self.isa.branch)?;
        self.target(step)
    }
}

/// Loops: from a label to a branch back to it; a jump in front of the label leads to where its ways
/// in meet. A branch forward leaves steps out, itself or by the jump behind it; steps that write
/// nothing may stand for them.
fn find_loops(
    look: &ContentsContext<'_>,
    numbering: &Numbering,
    loops: &mut VecView<Turned>,
) -> Result<(), Violation> {
    let mut jumps = 0usize;
    for (at, step) in (0u16..).zip(look.steps) {
        // What other warps do is none of these steps.
        let leaves = look.branch == Some(at);
        if leaves || step.purpose == InstKind::Label || step.atom != look.isa.branch_if {
            continue;
        }
        let flow = Violation::Flow { step: at };
        let target = look.target(step).ok_or(flow)?;
        let (nothing, next) = (u32::MAX, at.saturating_add(1));
        let found = if target < at {
            let meet = target.checked_sub(1).and_then(|k| look.jump(k));
            jumps = jumps.saturating_add(usize::from(meet.is_some()));
            let meet = meet.unwrap_or(target);
            (target..=at).contains(&meet).then_some(Turned {
                first: target,
                meet,
                last: at,
                nth: 0,
                before: nothing,
                end: nothing,
            })
        } else {
            let over = look.jump(next);
            // Behind what is left out, a jump over steps that write nothing and stand for it.
            let instead = target.checked_sub(1).filter(|last| over.is_none() && *last > at);
            let instead = instead.and_then(|last| look.jump(last)).filter(|to| *to > target);
            let writes = |number: u16| {
                let mut any = false;
                if let Some(step) = look.steps.get(usize::from(number)) {
                    registers(look, numbering, step, is_written, |_| any = true);
                }
                any
            };
            if instead.is_some_and(|to| (target..to).any(writes)) {
                return Err(flow);
            }
            jumps = jumps.saturating_add(usize::from(over.or(instead).is_some()));
            let (first, meet) =
                over.map_or((next, instead.unwrap_or(target)), |over| (target, over));
            let last = meet.saturating_sub(1);
            let whole = first <= last && (over.is_none() || target == next.saturating_add(1));
            whole.then_some(Turned {
                first,
                meet,
                last,
                nth: NO_LOOP,
                before: nothing,
                end: nothing,
            })
        };
        loops.push(found.ok_or(flow)?).map_err(|_| full(ContentsPool::Loops, LOOPS))?;
    }
    // In the order in which they begin, as the program has them.
    in_order(loops);
    for (number, l) in (0u8..).zip(loops.iter_mut().filter(|l| l.nth != NO_LOOP)) {
        l.nth = number;
    }
    let all = (0u16..).zip(look.steps).filter(|(at, _)| look.jump(*at).is_some()).count();
    if all == jumps { Ok(()) } else { Err(Violation::Flow { step: u16::MAX }) }
}

/// Puts loops in the order of their first steps. They are few; the library's sorting keeps a panic.
fn in_order(loops: &mut [Turned]) {
    for _ in 0..loops.len() {
        for k in 1..loops.len() {
            if let Some([a, b]) = loops.get_mut(k.saturating_sub(1)..=k)
                && a.first > b.first
            {
                core::mem::swap(a, b);
            }
        }
    }
}

/// Comes to a step: a loop may begin there, its ways may meet, or it may end.
fn enter(
    look: &ContentsContext<'_>,
    numbering: &Numbering,
    scratch: &mut ContentsScratch<'_>,
    at: u16,
) -> Result<(), Violation> {
    for number in 0..scratch.loops.len() {
        let Some(&this) = scratch.loops.get(number) else { break };
        let narrow_number = u8::try_from(number).unwrap_or(u8::MAX);
        if this.first == at {
            let before = keep(scratch)?;
            if let Some(l) = scratch.loops.get_mut(number) {
                l.before = before;
            }
            if this.nth != NO_LOOP {
                turn(look, numbering, scratch.state, &this, narrow_number);
            }
        }
        if this.meet == at && this.meet != this.first {
            let end = keep(scratch)?;
            if let Some(l) = scratch.loops.get_mut(number) {
                l.end = end;
            }
            turn(look, numbering, scratch.state, &this, narrow_number);
        }
        if this.last == at && this.meet == this.first {
            let end = keep(scratch)?;
            if let Some(l) = scratch.loops.get_mut(number) {
                l.end = end;
            }
        }
    }
    Ok(())
}

/// Keeps the registers as they are.
fn keep(scratch: &mut ContentsScratch<'_>) -> Result<u32, Violation> {
    let at = u32::try_from(scratch.turns.len()).unwrap_or(u32::MAX);
    scratch
        .turns
        .extend_from_slice(scratch.state)
        .map_err(|_| full(ContentsPool::Turns, scratch.turns.capacity()))?;
    Ok(at)
}

/// Every register that a loop writes is its own.
fn turn(
    look: &ContentsContext<'_>,
    numbering: &Numbering,
    state: &mut VecView<Content>,
    this: &Turned,
    number: u8,
) {
    let inside = look
        .steps
        .iter()
        .take(usize::from(this.last).saturating_add(1))
        .skip(usize::from(this.first));
    for step in inside {
        registers(look, numbering, step, is_written, |named| {
            if let Some(place) = state.get_mut(named.place) {
                *place = Content::Loop(number, narrow(named.place));
            }
        });
    }
}

impl ContentsScratch<'_> {
    /// What a register of a step's operand holds when the step reads it.
    pub(super) fn read(
        &self,
        look: &ContentsContext<'_>,
        step: u16,
        operand: u8,
        member: u8,
    ) -> Option<Content> {
        let s = look.steps.get(usize::from(step))?;
        let atom = look.atom(s)?;
        let mut at = usize::try_from(*self.starts.get(usize::from(step))?).ok()?;
        for (k, table) in atom.operands.iter().enumerate() {
            if !is_read(role_of(s, table.role)) {
                continue;
            }
            let slot = s.arg(k);
            let many = if table.implicit && slot == Slot::None { 1 } else { count(slot) };
            if k == usize::from(operand) {
                let content = (member < many)
                    .then(|| self.reads.get(at.saturating_add(usize::from(member))).copied())?;
                return content.map(|content| self.of_same_turn(look, step, content));
            }
            at = at.saturating_add(usize::from(many));
        }
        let is_guard = operand == GUARD_OPERAND && member == 0 && s.guard != NO_GUARD;
        is_guard.then(|| self.reads.get(at).copied())?
    }

    /// What copies of a loop of stages load and store in one turn: where it is stored there is such a
    /// turn, so that it was loaded.
    fn of_same_turn(&self, look: &ContentsContext<'_>, step: u16, content: Content) -> Content {
        let Content::Loop(number, register) = content else { return content };
        let part = |first: u16| look.order().left_out(first.checked_sub(1)?).filter(|p| p.copies);
        let skipped = |l: &&Turned| l.nth == NO_LOOP;
        let loaded = self.loops.get(usize::from(number)).filter(skipped);
        let Some(loaded) = loaded.and_then(|l| part(l.first)) else { return content };
        let stored =
            self.loops.iter().filter(skipped).filter(|l| (l.first..=l.last).contains(&step));
        let is_same = |l: &Turned| {
            part(l.first).is_some_and(|p| p.around == loaded.around && p.first > loaded.first)
        };
        let mut stored = stored;
        if !stored.any(is_same) {
            return content;
        }
        self.ways(number, register).map_or(content, |[_, end]| end)
    }

    /// Whether nothing has written what a register holds, on some way: before a loop, or on either
    /// way that leaves steps out.
    fn is_unwritten(&self, content: Content) -> bool {
        let mut all: heapless::Vec<Content, WAYS> = heapless::Vec::new();
        let _ = all.push(content);
        let mut next = 0usize;
        while let Some(&at) = all.get(next) {
            next = next.saturating_add(1);
            match at {
                Content::Nothing => return true,
                Content::Inst(..) => {}
                Content::Loop(number, register) => {
                    let Some([first, end]) = self.ways(number, register) else { continue };
                    let skips =
                        self.loops.get(usize::from(number)).is_some_and(|l| l.nth == NO_LOOP);
                    for way in [Some(first), skips.then_some(end)].into_iter().flatten() {
                        if !all.contains(&way) {
                            // Of ways that are too many nothing is said.
                            let _ = all.push(way);
                        }
                    }
                }
            }
        }
        false
    }

    /// What a register holds before a loop, and at the end of its turns.
    pub(super) fn ways(&self, number: u8, register: u16) -> Option<[Content; 2]> {
        let l = self.loops.get(usize::from(number))?;
        let at = |start: u32| {
            usize::try_from(start)
                .ok()?
                .checked_add(usize::from(register))
                .and_then(|k| self.turns.get(k))
                .copied()
        };
        Some([at(l.before)?, at(l.end)?])
    }
}

/// Operand and member of the register that a step writes under a number.
pub(super) fn written(look: &ContentsContext<'_>, step: &Inst, number: u8) -> Option<(u8, u8)> {
    let atom = look.atom(step)?;
    let mut rest = number;
    for ((operand, table), k) in (0u8..).zip(atom.operands.iter()).zip(0usize..) {
        if !is_written(table.role) {
            continue;
        }
        let slot = step.arg(k);
        let many = if table.implicit && slot == Slot::None { 1 } else { count(slot) };
        if rest < many {
            return Some((operand, rest));
        }
        rest = rest.checked_sub(many)?;
    }
    None
}
