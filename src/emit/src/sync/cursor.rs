//! Finished steps in front, steps to come behind them, in one list: what is put between them moves
//! those to come.

use crate::step::{Inst, InstError, InstKind, MAX_ARGS, NO_GUARD, Slot};
use heapless::VecView;
use lanebook_tables::AtomId;

/// Places that are made at once.
const PLACES: usize = 32;

/// The list: `done` finished steps, places for more, and from `next` on the steps to come.
pub(crate) struct InstCursor<'s> {
    steps: &'s mut VecView<Inst>,
    done: usize,
    next: usize,
}

impl<'s> InstCursor<'s> {
    /// A list of which all is to come.
    pub(crate) fn new(steps: &'s mut VecView<Inst>) -> Self {
        Self { steps, done: 0, next: 0 }
    }

    /// Finished steps.
    pub(crate) fn len(&self) -> usize {
        self.done
    }

    /// A finished step.
    pub(crate) fn get(&self, at: usize) -> Option<&Inst> {
        self.finished().get(at)
    }

    /// The finished steps in order.
    pub(crate) fn finished(&self) -> &[Inst] {
        self.steps.get(..self.done).unwrap_or(&[])
    }

    /// The finished steps, and those to come.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Inst> {
        self.finished().iter().chain(self.steps.get(self.next..).unwrap_or(&[]))
    }

    /// Steps behind the first one to come.
    fn later(&self) -> impl Iterator<Item = &Inst> {
        self.steps.get(self.next..).unwrap_or(&[]).iter().skip(1)
    }

    /// Whether there is such a step behind the first one to come.
    pub(crate) fn is_to_come(&self, which: impl Fn(&Inst) -> bool) -> bool {
        self.later().any(which)
    }

    /// Whether such a step is the second one to come.
    pub(crate) fn is_next(&self, which: impl Fn(&Inst) -> bool) -> bool {
        self.later().next().is_some_and(which)
    }

    /// The first step to come; it stays one.
    pub(crate) fn coming(&self) -> Option<Inst> {
        self.steps.get(self.next).copied()
    }

    /// The first step to come is finished.
    pub(crate) fn pass(&mut self) {
        let step = self.coming();
        if let (Some(step), Some(place)) = (step, self.steps.get_mut(self.done)) {
            *place = step;
            self.done = self.done.saturating_add(1);
            self.next = self.next.saturating_add(1);
        }
    }

    /// Puts a finished step before those to come.
    pub(crate) fn push(&mut self, step: Inst) -> Result<(), InstError> {
        if self.done >= self.next {
            self.make_places()?;
        }
        if let Some(place) = self.steps.get_mut(self.done) {
            *place = step;
            self.done = self.done.saturating_add(1);
        }
        Ok(())
    }

    /// Moves the steps to come.
    #[inline(never)]
    fn make_places(&mut self) -> Result<(), InstError> {
        let capacity = u32::try_from(self.steps.capacity()).unwrap_or(u32::MAX);
        let end = self.steps.len();
        let empty = Inst {
            atom: AtomId(u16::MAX),
            origin: u16::MAX,
            purpose: InstKind::Label,
            guard_class: 0,
            guard: NO_GUARD,
            args: [Slot::None; MAX_ARGS],
        };
        let mut made = 0usize;
        while made < PLACES && self.steps.push(empty).is_ok() {
            made = made.saturating_add(1);
        }
        if made == 0 {
            return Err(InstError::Steps { capacity });
        }
        for at in (self.next..end).rev() {
            if let Some(step) = self.steps.get(at).copied()
                && let Some(place) = self.steps.get_mut(at.saturating_add(made))
            {
                *place = step;
            }
        }
        self.next = self.next.saturating_add(made);
        Ok(())
    }

    /// Only the finished steps are left.
    pub(crate) fn close(self) {
        self.steps.truncate(self.done);
    }
}
