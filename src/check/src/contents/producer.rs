//! Warps that only copy: some of their threads are carried out, through the entry that all threads
//! have and then through their own steps.
//!
//! Each time they wait for the object that the next buffer is free with, announce to the one that it
//! is filled with, and copy the boxes of the turn that they are in into that buffer.

use crate::contents::address::ThreadRun;
use crate::contents::arguments::Given;
use crate::contents::arguments::turning::turning;
use crate::contents::flow::{Numbering, is_read, is_written, registers};
use crate::contents::storage::{ContentsPool, ContentsScratch, LOOPS, NONE, Turned};
use crate::contents::{ContentsContext, ContentsSummary};
use crate::evaluator::power;
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind};

/// Fewest lanes of a warp.
const STRIDE: usize = 16;

/// Carries out threads that copy; `steps` are all of the kernel, `look` has those of the others.
#[inline(never)]
pub(super) fn copying(
    look: &ContentsContext<'_>,
    steps: &[Inst],
    scratch: &mut ContentsScratch<'_>,
    out: &mut ContentsSummary,
) -> Result<(), Violation> {
    if look.branch.is_none() {
        return Ok(());
    }
    let far = ContentsContext { given: Given::Far, ..*look };
    let edges = turning(&far, scratch);
    let far = ContentsContext { steps, edges: &edges, ..far };
    let look = ContentsContext { steps, ..*look };
    prepare(&look, scratch)?;
    written_before(&look, scratch)?;
    let (first, lanes) = (look.plan.threads, power(usize::from(look.plan.wave)).unwrap_or(1));
    let last = look.plan.launched_threads().saturating_sub(1);
    let idle = ContentsContext { given: Given::Idle, edges: &[], ..look };
    let mut run = ThreadRun::of(&look, scratch, false);
    run.thread(first.saturating_add(1))?;
    // The lanes of a warp go the same way.
    let warps = (first..=last).step_by(STRIDE).filter(|n| n.checked_rem(lanes) == Some(0));
    for begins in warps {
        let mut ways = [0u32; 2];
        for (way, lane) in ways.iter_mut().zip([0, lanes.saturating_sub(1)]) {
            let before = run.compared;
            run.thread(begins.saturating_add(lane))?;
            *way = run.compared.saturating_sub(before);
        }
        if ways.first() != ways.last() {
            return Err(Violation::Flow { step: u16::MAX });
        }
    }
    for given in [&far, &idle] {
        run.goes_on_with(given);
        run.thread(first)?;
    }
    out.addresses = out.addresses.saturating_add(run.compared);
    let behind = |at: u16| usize::from(at) >= look.readers;
    let all = (0u16..).zip(steps).zip(scratch.instances.iter());
    let moves =
        all.filter(|((at, s), i)| behind(*at) && s.purpose == InstKind::Move && **i == NONE);
    let unplaced = u32::try_from(moves.count()).unwrap_or(u32::MAX);
    out.unplaced = out.unplaced.saturating_add(unplaced);
    Ok(())
}

/// Room for these steps, and the loops of those that copy.
fn prepare(look: &ContentsContext<'_>, scratch: &mut ContentsScratch<'_>) -> Result<(), Violation> {
    scratch.clear();
    let full = |pool, capacity: usize| Violation::Room {
        pool,
        capacity: u32::try_from(capacity).unwrap_or(u32::MAX),
    };
    let many = look.steps.len();
    let steps = |capacity: usize| full(ContentsPool::Steps, capacity);
    scratch.instances.resize(many, NONE).map_err(|_| steps(scratch.instances.capacity()))?;
    scratch.bound.resize(many, 0).map_err(|_| steps(scratch.bound.capacity()))?;
    scratch.blocks.resize(many, [NONE; 3]).map_err(|_| steps(scratch.blocks.capacity()))?;
    let registers = Numbering::of(look).len();
    scratch
        .values
        .resize(registers, None)
        .map_err(|_| full(ContentsPool::Registers, scratch.values.capacity()))?;
    for (last, step) in (0u16..).zip(look.steps).skip(look.readers) {
        if step.purpose == InstKind::Label || step.atom != look.isa.branch_if {
            continue;
        }
        let flow = Violation::Flow { step: last };
        let first = look.target(step).ok_or(flow)?;
        if usize::from(first) < look.readers || first >= last {
            continue;
        }
        let meet = first.checked_sub(1).and_then(|k| look.jump(k)).unwrap_or(first);
        let own =
            |n: &u8| look.nth_loop(*n).is_some_and(|op| op.index() == usize::from(step.origin));
        let nth = (0..u8::MAX).take_while(|n| look.nth_loop(*n).is_some()).find(own).ok_or(flow)?;
        let (before, end) = (u32::MAX, u32::MAX);
        let own = Turned { first, meet, last, nth, before, end };
        scratch.loops.push(own).map_err(|_| full(ContentsPool::Loops, LOOPS))?;
    }
    Ok(())
}

/// No step of theirs reads a register that nothing has written before: in what all threads begin
/// with, or in their own steps, and there in no loop that may have run no turn.
fn written_before(
    look: &ContentsContext<'_>,
    scratch: &ContentsScratch<'_>,
) -> Result<(), Violation> {
    let numbering = Numbering::of(look);
    let begins = look.branch.map_or(0, usize::from);
    let counts = |writer: usize, reader: usize| {
        let has = |l: &Turned, at: usize| (usize::from(l.first)..=l.last.into()).contains(&at);
        scratch.loops.iter().all(|l| !has(l, writer) || has(l, reader))
    };
    for (at, step) in look.steps.iter().enumerate().skip(look.readers) {
        let mut wrong = false;
        registers(look, &numbering, step, is_read, |read| {
            let before = look.steps.iter().enumerate().take(at);
            let mut before =
                before.filter(|(k, _)| *k < begins || *k >= look.readers && counts(*k, at));
            let slot = step.arg(usize::from(read.operand));
            wrong |= !look.is_given(slot, read.member)
                && !before.any(|(_, writer)| {
                    let mut writes = false;
                    registers(look, &numbering, writer, is_written, |written| {
                        writes |= written.place == read.place;
                    });
                    writes
                });
        });
        if wrong {
            let step = u16::try_from(at).unwrap_or(u16::MAX);
            return Err(Violation::Content { step, writer: u16::MAX, value: None, at: 0 });
        }
    }
    Ok(())
}
