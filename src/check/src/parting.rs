//! Where a kernel's warps part: some only start copies, the others do all the rest.
//!
//! The steps of the others come first, up to the kernel's end; those of the warps that copy stand
//! behind it, from a label that one branch leads to. They lead back to a label before the end, where
//! nothing is moved any more. So each of the two is followed by itself: what they hand to each other
//! is said of the objects that they do that with.

use crate::reader::has;
use crate::stages::stages_of;
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_ir::{Op, Program};
use lanebook_plan::Plan;
use lanebook_tables::{Arch, AtomId, Isa, Tables, WarpSpecialization};

/// The steps of a kernel whose warps may part.
#[derive(Copy, Clone)]
pub(crate) struct WarpParts<'a> {
    /// Those up to the kernel's end.
    pub readers: &'a [Inst],
    /// Those of the warps that only copy, behind them.
    pub copying: &'a [Inst],
    /// The branch by which these leave the others.
    pub branch: Option<u16>,
}

/// What an architecture sets warps aside with.
pub(crate) fn specialization<'t>(
    tables: &'t Tables<'t>,
    arch: &Arch<'_>,
    plan: &Plan<'_>,
) -> Option<&'t WarpSpecialization<'t>> {
    let apart = plan.specialized?;
    let fact = tables.units.specializations.get(usize::from(apart.how))?;
    has(arch, fact.feature).then_some(fact)
}

/// By how many turns what a loop's turns read is behind what they copy: none where other warps copy.
pub(crate) fn lag(program: &Program<'_, '_>, plan: &Plan<'_>, around: Op) -> u8 {
    match program.is_warp_specialized(around) {
        true => 0,
        false => stages_of(program, plan, around).saturating_sub(1),
    }
}

fn narrow(step: usize) -> u16 {
    u16::try_from(step).unwrap_or(u16::MAX)
}

/// Whether a step is of an atom.
fn is(step: &Inst, atom: AtomId) -> bool {
    step.purpose != InstKind::Label && step.atom == atom
}

fn label_of(step: &Inst) -> Option<Slot> {
    step.args.iter().find(|arg| matches!(arg, Slot::Label(_))).copied()
}

/// Takes the steps of a kernel apart.
pub(crate) fn warp_parts<'a>(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
    plan: &Plan<'_>,
    steps: &'a [Inst],
) -> Result<WarpParts<'a>, Violation> {
    let whole = WarpParts { readers: steps, copying: &[], branch: None };
    let Some(apart) = plan.specialized else { return Ok(whole) };
    let flow = |at: usize| Violation::Flow { step: narrow(at) };
    let nothing = Violation::Flow { step: 0 };
    let fact = specialization(tables, arch, plan).ok_or(nothing)?;
    if apart.threads != fact.threads || apart.threads == 0 {
        return Err(nothing);
    }
    let end = steps.iter().position(|s| is(s, isa.end)).ok_or(flow(steps.len()))?;
    let (readers, copying) = steps.split_at_checked(end.saturating_add(1)).ok_or(flow(end))?;
    // One branch leads to the label that they begin with, before anything is moved.
    let begin = copying.first().filter(|s| s.purpose == InstKind::Label).and_then(label_of);
    let begin = begin.ok_or(flow(end))?;
    let jumps = |s: &Inst| is(s, isa.branch) || is(s, isa.branch_if);
    let leads = |s: &Inst| jumps(s) && label_of(s) == Some(begin);
    let branch = readers.iter().position(leads).ok_or(flow(end))?;
    let rest = readers.iter().skip(branch.saturating_add(1)).chain(copying);
    let is_alone = !rest.into_iter().any(leads);
    let before = readers.iter().take(branch).any(|s| s.purpose == InstKind::Move);
    if !is_alone || before || !readers.get(branch).is_some_and(|s| is(s, isa.branch_if)) {
        return Err(flow(branch));
    }
    // They end with a jump to where the others come to as well, and nothing is moved from there on.
    let last = copying.last().filter(|s| is(s, isa.branch)).and_then(label_of);
    let last = last.ok_or(flow(steps.len()))?;
    let is_meet = |s: &Inst| s.purpose == InstKind::Label && label_of(s) == Some(last);
    let meet = readers.iter().position(is_meet).ok_or(flow(steps.len()))?;
    let tail = |s: &Inst| matches!(s.purpose, InstKind::Label | InstKind::Sync | InstKind::Control);
    if meet < branch || !readers.iter().skip(meet).all(tail) {
        return Err(flow(meet));
    }
    // Elsewhere neither leads into the other's steps.
    let own = |part: &[Inst], label: Slot| {
        part.iter().any(|s| s.purpose == InstKind::Label && label_of(s) == Some(label))
    };
    let strays = |(at, s): (usize, &Inst)| {
        let label = label_of(s).filter(|_| jumps(s));
        let inside = if at > end { copying } else { readers };
        let known = at == branch || at > end && label == Some(last);
        label.is_some_and(|label| !known && !own(inside, label))
    };
    if let Some(at) = steps.iter().enumerate().position(strays) {
        return Err(flow(at));
    }
    // What all threads of the block meet at, they do not meet at in between.
    let all = |s: &Inst| {
        let barriers = arch.sync.iter().flat_map(|rule| rule.steps).filter(|want| want.barrier);
        let published = tables.units.mbarriers.iter().flat_map(|c| c.publish);
        let mut all = barriers.chain(published.filter(|want| want.barrier));
        s.purpose != InstKind::Label && all.any(|want| want.atom == s.atom)
    };
    let between = branch..meet;
    let meets = |(at, s): (usize, &Inst)| {
        let some = is(s, fact.barrier);
        (between.contains(&at) || at > end) && all(s) || some && !between.contains(&at)
    };
    if let Some(at) = steps.iter().enumerate().position(meets) {
        return Err(flow(at));
    }
    registers(plan, fact, (readers, branch), copying)?;
    Ok(WarpParts { readers, copying, branch: Some(narrow(branch)) })
}

/// The registers that threads begin with are what a block has, those that one part takes the other
/// one has given up; each part says once how many it has, before all else.
fn registers(
    plan: &Plan<'_>,
    fact: &WarpSpecialization<'_>,
    (readers, branch): (&[Inst], usize),
    copying: &[Inst],
) -> Result<(), Violation> {
    let wrong = Violation::Flow { step: narrow(branch) };
    let apart = plan.specialized.ok_or(wrong)?;
    let (least, most, step) = fact.registers;
    let all = |n: u16, threads: u32| u32::from(n).saturating_mul(threads);
    let begun = all(apart.entry, plan.launched_threads());
    let has = all(apart.consumer, plan.threads)
        .saturating_add(all(apart.producer, u32::from(apart.threads)));
    let is_even =
        |n: u16| (least..=most).contains(&n) && n.checked_rem(step).is_some_and(|rest| rest == 0);
    let right = [apart.entry, apart.producer, apart.consumer].into_iter().all(is_even);
    if !right || begun > fact.file || has > begun {
        return Err(wrong);
    }
    let says = |steps: &[Inst], at: usize, n: u16| {
        let own = |s: &Inst| is(s, fact.resize);
        if n == apart.entry {
            return !steps.iter().any(own);
        }
        let more = Slot::Int(i32::from(n > apart.entry));
        let number = Slot::Int(i32::from(n));
        steps.iter().filter(|s| own(s)).count() == 1
            && steps.get(at).is_some_and(|s| {
                own(s) && s.args.first() == Some(&number) && s.args.get(1) == Some(&more)
            })
    };
    let first = branch.saturating_add(1);
    if says(readers, first, apart.consumer) && says(copying, 1, apart.producer) {
        Ok(())
    } else {
        Err(wrong)
    }
}
