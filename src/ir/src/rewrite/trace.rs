//! A record of which rules were applied, for `--trace` and for devices.
use lanebook_tables::RuleId;

/// One application.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Applied<I> {
    /// The rule.
    pub rule: RuleId,
    /// The node that it replaced.
    pub at: I,
}

/// The last applications, in lent storage; older ones are overwritten. Pass `|rule, at|
/// ring.record(rule, at)` as trace.
pub struct Ring<'s, I> {
    entries: &'s mut [Option<Applied<I>>],
    next: usize,
    total: u32,
}

impl<'s, I: Copy> Ring<'s, I> {
    /// An empty record.
    pub fn new(entries: &'s mut [Option<Applied<I>>]) -> Self {
        entries.fill(None);
        Self { entries, next: 0, total: 0 }
    }
    /// Notes an application.
    pub fn record(&mut self, rule: RuleId, at: I) {
        self.total = self.total.saturating_add(1);
        if let Some(place) = self.entries.get_mut(self.next) {
            *place = Some(Applied { rule, at });
        }
        self.next = match self.next.checked_add(1) {
            Some(next) if next < self.entries.len() => next,
            _ => 0,
        };
    }
    /// Applications in all, also those overwritten.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }
    /// Recorded applications, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Applied<I>> + '_ {
        let (new, old) = self.entries.split_at_checked(self.next).unwrap_or((&[], &[]));
        old.iter().chain(new).flatten().copied()
    }
}
