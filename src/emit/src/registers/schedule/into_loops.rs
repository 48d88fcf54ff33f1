//! What a loop alone reads is computed in it: a tile that is the same in every turn holds its
//! registers as long as the loop goes on, computed anew in each turn as long as it is read. Only
//! what is made of registers that are there in any case moves.

use super::{RegisterRun, Schedule, TOUCHES};
use crate::step::{InstKind, LoopSpan, for_each_register};
use heapless::{Vec, VecView};

/// How a step touches the registers of steps that may move past it.
struct RunsMet {
    /// It reads or writes what they make.
    touches_made: bool,
    /// It writes what they make.
    writes_made: bool,
    /// It writes what they read.
    spoils_read: bool,
}

impl Schedule<'_> {
    /// Moves what only a later block of a loop reads to that block's beginning. The sinks of the
    /// block are known.
    pub(super) fn sink_into_loops(&mut self, end: usize, loops: &mut VecView<LoopSpan>) {
        let (mut last, mut end) = (end, end);
        while last > self.base {
            let first = self.start_of_group(last);
            // Memory may be another one there.
            let is_worthy = self.sinks.has(first.saturating_sub(self.base)) && !self.is_load(first);
            if is_worthy && let Some(reader) = self.first_reader(first, last, end, loops) {
                self.belong(first, last, reader);
                self.carry(first, last, self.start_of_straight(reader), loops);
                let count = last.saturating_sub(first);
                let from = first.saturating_sub(self.base);
                // Nothing is known of where they are now.
                self.joined.rotate(from, count, end.saturating_sub(self.base));
                self.sinks.rotate(from, count, end.saturating_sub(self.base));
                end = end.saturating_sub(count);
            }
            last = first;
        }
    }

    /// The first step that touches what steps make, where one block alone does, in a loop in which
    /// they are not, and their operands are the same wherever the block runs.
    fn first_reader(
        &self,
        first: usize,
        last: usize,
        end: usize,
        loops: &VecView<LoopSpan>,
    ) -> Option<usize> {
        // Only a loop that begins behind them can be one in which they are not.
        if loops.iter().all(|span| usize::from(span.first) < first) {
            return None;
        }
        let (mut made, mut read): (Vec<RegisterRun, TOUCHES>, Vec<RegisterRun, TOUCHES>) =
            (Vec::new(), Vec::new());
        for at in first..last {
            let mut is_full = false;
            self.touches(at, |touch| {
                let list = match (touch.is_fixed, touch.written) {
                    // The same everywhere: no block reads one that another one writes.
                    (true, _) => return,
                    (_, true) => &mut made,
                    _ => &mut read,
                };
                is_full |= list.push(touch).is_err();
            });
            if is_full {
                return None;
            }
        }
        if made.is_empty() {
            return None;
        }
        let mut reader: Option<usize> = None;
        let mut own_end = end;
        // Most have a reader in their own block, which ends the search: it goes first.
        for at in (last..self.steps.len()).chain(0..first) {
            let meets = self.meets(at, &made, &read);
            // What reads it as well, and who writes it.
            if meets.writes_made || at > first && meets.spoils_read {
                return None;
            }
            if !meets.touches_made {
                continue;
            }
            // What a loop itself does stands outside of what its operations do; what stands in the
            // same block sinks there.
            let is_control = self.steps.get(at).is_none_or(|s| s.purpose == InstKind::Control);
            if at < end || is_control {
                return None;
            }
            if reader.is_none() {
                reader = Some(at);
                own_end = self.end_of_straight(at);
            } else if at >= own_end {
                return None;
            }
        }
        let reader = reader?;
        let to = self.start_of_straight(reader);
        let is_inside = |at: usize| {
            let holds = |span: &LoopSpan, at: usize| {
                usize::from(span.first) < at && at <= usize::from(span.last)
            };
            loops.iter().any(|span| holds(span, at) && !holds(span, first))
        };
        is_inside(to).then_some(reader)
    }

    /// How a step touches what others make and read.
    fn meets(&self, at: usize, made: &[RegisterRun], read: &[RegisterRun]) -> RunsMet {
        let mut met = RunsMet { touches_made: false, writes_made: false, spoils_read: false };
        let Some(step) = self.steps.get(at) else { return met };
        for_each_register(self.tables, step, self.patterns, |touch| {
            let overlaps = |own: &RegisterRun| touch.overlaps(own.class, own.first, own.count);
            let is_made = made.iter().any(overlaps);
            met.touches_made |= is_made;
            met.writes_made |= is_made && touch.written;
            met.spoils_read |= touch.written && read.iter().any(overlaps);
        });
        met
    }

    /// The first step behind the label or branch before a step.
    fn start_of_straight(&self, at: usize) -> usize {
        let mut first = at;
        while let Some(before) = first.checked_sub(1).filter(|before| !self.ends_block(*before)) {
            first = before;
        }
        first
    }

    /// One past the last step before the next label or branch, or that branch.
    fn end_of_straight(&self, at: usize) -> usize {
        let mut end = at;
        while end < self.steps.len() && !self.ends_block(end) {
            end = end.saturating_add(1);
        }
        end
    }

    /// Addresses are the reader's now.
    fn belong(&mut self, first: usize, last: usize, reader: usize) {
        let Some(origin) = self.steps.get(reader).map(|step| step.origin) else { return };
        let Some(own) = self.steps.get_mut(first..last) else { return };
        let is_address = |p: InstKind| {
            matches!(p, InstKind::FirstAddress | InstKind::FurtherAddress | InstKind::Fill)
        };
        for step in own.iter_mut().filter(|step| is_address(step.purpose)) {
            step.origin = origin;
        }
    }

    /// Moves steps that stand together before a later one, and the loops between along.
    fn carry(&mut self, first: usize, last: usize, to: usize, loops: &mut VecView<LoopSpan>) {
        let count = last.saturating_sub(first);
        self.rotate(first, count, to);
        let moved = |at: u16| {
            let is_between = (last..to).contains(&usize::from(at));
            at.saturating_sub(if is_between { u16::try_from(count).unwrap_or(0) } else { 0 })
        };
        for span in loops.iter_mut() {
            (span.first, span.last) = (moved(span.first), moved(span.last));
        }
    }
}
