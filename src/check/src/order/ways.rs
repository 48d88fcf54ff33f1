//! Ways through the steps: what holds at each step on every way to it, to a fixed point.
//!
//! Steps follow each other up to a branch; where a branch leads to, ways meet, and what holds there
//! is the weakest of what holds on each. A place is looked at again while that becomes weaker, so
//! loops of any number of turns, beside and in each other, are one pass or a few. A loop that
//! certainly turns is entered by its test once, on a way of its own.

use crate::order::walks::{OrderContext, narrow};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind, Slot};
use lanebook_tables::OpRole;

/// Most places that branches lead to.
const LABELS: usize = 64;
/// Most steps that are met from one start.
const FUEL: u32 = 1 << 20;

/// What holds at a place.
pub(crate) trait FlowState: Copy {
    /// Becomes what holds on both ways; whether it is weaker than it was.
    fn join(&mut self, other: &Self) -> bool;
    /// A branch was taken.
    fn taken(&mut self);
}

/// Where branches lead, and the loops that certainly turn.
pub(crate) struct BranchTargets {
    /// The label, its step.
    labels: heapless::Vec<(Slot, u16), LABELS>,
    /// The jump to a loop's test, and the branch behind it.
    certain: heapless::Vec<(u16, u16), LABELS>,
}

impl BranchTargets {
    /// Those of the steps.
    #[inline(never)]
    pub(crate) fn of(look: &OrderContext<'_>) -> Result<Self, Violation> {
        let mut out = Self { labels: heapless::Vec::new(), certain: heapless::Vec::new() };
        for (at, step) in look.steps.iter().enumerate() {
            if step.purpose == InstKind::Label {
                let label = step.args.first().copied().unwrap_or_default();
                out.labels
                    .push((label, narrow(at)))
                    .map_err(|_| Violation::Flow { step: narrow(at) })?;
            }
        }
        for (at, step) in look.steps.iter().enumerate() {
            if !look.is_branch_if(step) || !look.turns_certainly(step) {
                continue;
            }
            let flow = Violation::Flow { step: narrow(at) };
            let (_, body) = out.target(step).ok_or(flow)?;
            let jump = usize::from(body).checked_sub(1);
            let jump = jump.filter(|k| look.steps.get(*k).is_some_and(|s| look.is_branch(s)));
            if let Some(jump) = jump.filter(|_| usize::from(body) < at) {
                out.certain.push((narrow(jump), narrow(at))).map_err(|_| flow)?;
            }
        }
        Ok(out)
    }

    /// How many places ways may meet at.
    pub(crate) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Number and step of the label that a branch names.
    fn target(&self, branch: &Inst) -> Option<(usize, u16)> {
        let label = branch.args.iter().find(|a| matches!(a, Slot::Label(_)))?;
        let number = self.labels.iter().position(|(own, _)| own == label)?;
        Some((number, self.labels.get(number)?.1))
    }

    /// Number of the label that stands at a step.
    fn at(&self, step: usize) -> Option<usize> {
        self.labels.iter().position(|(_, at)| usize::from(*at) == step)
    }
}

/// What holds at the labels, and which of them are to be looked at again.
struct Labels<H> {
    held: [Option<H>; LABELS],
    due: u64,
}

impl<H: FlowState> Labels<H> {
    /// One more way comes to a label.
    fn come(&mut self, number: usize, with: &H) {
        let Some(held) = self.held.get_mut(number) else { return };
        let weaker = match held {
            Some(held) => held.join(with),
            None => {
                *held = Some(*with);
                true
            }
        };
        if weaker {
            self.due |= 1u64.wrapping_shl(u32::try_from(number).unwrap_or(0));
        }
    }

    /// The first label that is to be looked at again.
    fn next(&mut self) -> Option<(usize, H)> {
        let number = self.due.trailing_zeros() as usize;
        self.due &= self.due.wrapping_sub(1);
        Some((number, (*self.held.get(number)?)?))
    }
}

impl OrderContext<'_> {
    fn is_branch(&self, step: &Inst) -> bool {
        step.purpose != InstKind::Label && step.atom == self.isa.branch
    }

    fn is_branch_if(&self, step: &Inst) -> bool {
        step.purpose != InstKind::Label && step.atom == self.isa.branch_if
    }

    /// Whether a branch is that of a loop whose bounds are numbers, the first below the last.
    fn turns_certainly(&self, branch: &Inst) -> bool {
        let of = self.program.all().find(|op| {
            op.index() == usize::from(branch.origin) && self.program.role(*op) == OpRole::For
        });
        let bound = |k: usize| {
            of.and_then(|op| self.program.operand(op, k)).and_then(|value| self.program.int(value))
        };
        bound(0).zip(bound(1)).is_some_and(|(first, end)| first < end)
    }

    /// From a step on: each step that some way leads to is met with what holds there, and again
    /// when less holds. `meet` answers whether the way goes on; `end` is told what holds at the
    /// end of the steps.
    #[inline(never)] // What holds at the labels lies on the stack once.
    pub(crate) fn everywhere<H: FlowState>(
        &self,
        ways: &BranchTargets,
        (from, start): (usize, H),
        mut meet: impl FnMut(usize, &Inst, &mut H) -> Result<bool, Violation>,
        mut end: impl FnMut(&H) -> Result<(), Violation>,
    ) -> Result<(), Violation> {
        let mut labels = Labels { held: [None; LABELS], due: 0 };
        let mut fuel = FUEL;
        let mut now = Some((from, start));
        while let Some((mut at, mut held)) = now {
            // The branch of a loop that certainly turns, on the way to its test.
            let mut must = None;
            loop {
                let Some(step) = self.steps.get(at) else {
                    end(&held)?;
                    break;
                };
                let flow = Violation::Flow { step: narrow(at) };
                fuel = fuel.checked_sub(1).ok_or(flow)?;
                let here = at;
                at = at.saturating_add(1);
                if step.purpose == InstKind::Label {
                    match ways.at(here).filter(|_| must.is_none()) {
                        Some(number) => {
                            labels.come(number, &held);
                            break;
                        }
                        None => continue,
                    }
                }
                if !meet(here, step, &mut held)? {
                    break;
                }
                if self.is_branch(step) {
                    let (number, target) = ways.target(step).ok_or(flow)?;
                    must = ways.certain.iter().find(|(jump, _)| usize::from(*jump) == here);
                    if must.is_none() {
                        labels.come(number, &held);
                        break;
                    }
                    at = usize::from(target).saturating_add(1);
                } else if self.branch.map(usize::from) == Some(here) {
                    // Other warps leave there, whose steps are followed by themselves.
                } else if self.is_branch_if(step) {
                    let (number, _) = ways.target(step).ok_or(flow)?;
                    let mut gone = held;
                    gone.taken();
                    labels.come(number, &gone);
                    if must.is_some_and(|(_, last)| usize::from(*last) == here) {
                        break;
                    }
                }
            }
            now = labels.next().and_then(|(number, held)| {
                let (_, at) = ways.labels.get(number)?;
                Some((usize::from(*at).saturating_add(1), held))
            });
        }
        Ok(())
    }
}
