//! How far synchronisation has come since an access, on every way that leads on from it.

use crate::order::ways::FlowState;
use lanebook_tables::AtomId;

/// Most rules that one kind of access begins: a digit of a word each.
pub(super) const RULES: usize = 16;
/// Bits of such a digit.
pub(super) const DIGIT: u32 = 4;

/// How far synchronisation has come since an access.
#[derive(Copy, Clone)]
pub(super) struct Progress {
    /// Steps of each rule that were met, a digit each.
    pub(super) done: u64,
    /// Steps that have to stand before the end.
    pub(super) ended: u8,
    /// What was closed or begun behind it.
    pub(super) behind: Outstanding,
}

/// How many a wait may leave outstanding without leaving an access.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outstanding {
    /// Groups that were closed, or operations that began, the access' own among them.
    Begun(u8),
    /// It has been waited for: whatever number a wait leaves outstanding, it is none of them.
    Over,
}

impl Outstanding {
    /// Those behind the access' own.
    pub(super) const fn later(self) -> u8 {
        match self {
            Self::Begun(own) => own.saturating_sub(1),
            Self::Over => u8::MAX,
        }
    }
}

/// What waits for a producer count, where they may leave the last ones outstanding.
#[derive(Copy, Clone)]
pub(super) struct Counted {
    pub(super) counter: u8,
    /// What closes a group; nothing where operations are counted by themselves.
    pub(super) closes: Option<AtomId>,
}

impl Progress {
    pub(super) fn done(&self, rule: u32) -> usize {
        (self.done.wrapping_shr(rule.wrapping_mul(DIGIT)) & 0xf) as usize
    }

    pub(super) fn advance(&mut self, rule: u32) {
        self.done = self.done.wrapping_add(1u64.wrapping_shl(rule.wrapping_mul(DIGIT)));
    }

    /// The least of both; whether it is less than it was.
    fn least(&mut self, other: &Self) -> bool {
        let before = (self.done, self.ended, self.behind);
        for rule in 0..RULES as u32 {
            if other.done(rule) < self.done(rule) {
                let mask = 0xfu64.wrapping_shl(rule.wrapping_mul(DIGIT));
                self.done = (self.done & !mask) | (other.done & mask);
            }
        }
        self.ended = self.ended.min(other.ended);
        self.behind = self.behind.min(other.behind);
        before != (self.done, self.ended, self.behind)
    }
}

/// What holds since an access: on ways on which no branch was taken, and on the others.
#[derive(Copy, Clone)]
pub(super) struct Since {
    pub(super) straight: Option<Progress>,
    pub(super) turned: Option<Progress>,
}

fn least(own: &mut Option<Progress>, other: &Option<Progress>) -> bool {
    match (own, other) {
        (Some(own), Some(other)) => own.least(other),
        (own @ None, Some(_)) => {
            *own = *other;
            true
        }
        (_, None) => false,
    }
}

impl FlowState for Since {
    fn join(&mut self, other: &Self) -> bool {
        let straight = least(&mut self.straight, &other.straight);
        least(&mut self.turned, &other.turned) || straight
    }

    fn taken(&mut self) {
        let straight = self.straight.take();
        let _ = least(&mut self.turned, &straight);
    }
}
