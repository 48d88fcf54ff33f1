//! Which iteration a thread has in a slot of its work, point by point: where structure does not
//! invert a layout.
//!
//! The answers of as many slots as the lent words hold are found in one walk over all iterations. A
//! word is 0 where the thread has none, else the iteration's number, row by row with its copy
//! behind, and one more.

use crate::arena::{BaseId, IndexForm};
use crate::error::{FormError, FormResult, PoolName};
use crate::inference::Inference;
use crate::points::{Tape, Walk};
use crate::program::{FragmentForm, MAX_RANK, VarRange};

/// Most variables that are looked up at a time: their words are the last of those that are lent.
const LOOKUPS: usize = 64;

/// The slots whose iterations stand in the lent words, and how many variables are looked up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TabulatedSlots {
    maps: (IndexForm, IndexForm),
    vars: VarRange,
    copy: BaseId,
    threads: u32,
    first: u32,
    count: u32,
    lookups: u8,
}

/// A variable that stands for one of a loop in a slot: its value is looked up by the thread.
#[doc(hidden)] // For lowering.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LookupVar {
    /// The variable.
    pub var: BaseId,
    /// The loop's.
    pub of: BaseId,
    /// The slot.
    pub slot: u16,
    /// Where the value stands, as who asks numbers that.
    pub node: u16,
}

impl LookupVar {
    fn word(self) -> u64 {
        let parts = [self.var.0, self.of.0, self.slot, self.node];
        parts.iter().fold(0, |word, part| word << 16 | u64::from(*part))
    }

    fn of_word(word: u64) -> Self {
        let part = |at: u32| (word.wrapping_shr(at) & u64::from(u16::MAX)) as u16;
        Self { var: BaseId(part(48)), of: BaseId(part(32)), slot: part(16), node: part(0) }
    }
}

#[doc(hidden)] // For lowering.
impl Inference<'_> {
    /// Forgets the iterations that were found: maps may be others under the same handles.
    pub fn forget_iterations(&mut self) {
        self.tabulated = TabulatedSlots::default();
    }

    /// Forgets the variables that are looked up: others may have their handles.
    pub fn forget_lookups(&mut self) {
        self.tabulated.lookups = 0;
    }

    /// Notes a variable that is looked up; false if there are too many.
    #[must_use]
    pub fn note_lookup(&mut self, own: LookupVar) -> bool {
        let at = usize::from(self.tabulated.lookups);
        let word = self.points.iter_mut().rev().take(LOOKUPS).nth(at);
        let Some(word) = word else { return false };
        *word = own.word();
        self.tabulated.lookups = self.tabulated.lookups.saturating_add(1);
        true
    }

    /// The variables that are looked up.
    pub fn lookups(&self) -> impl Iterator<Item = LookupVar> + '_ {
        let own = self.points.iter().rev().take(usize::from(self.tabulated.lookups));
        own.map(|word| LookupVar::of_word(*word))
    }

    /// Finds which iteration each of so many threads has in a slot; whether that is the same in all
    /// turns of the serial loops around. [`Inference::iteration_of`] tells it.
    ///
    /// # Errors
    /// [`FormError::Full`] with fewer words than threads, or maps of too many parts.
    #[inline(never)] // Its buffers leave the stack before anything is emitted.
    pub fn tabulate(&mut self, spread: &FragmentForm, threads: u32, slot: u32) -> FormResult<bool> {
        let (known, maps) = (self.tabulated, (spread.thread, spread.index));
        let is_there = slot.checked_sub(known.first).is_some_and(|at| at < known.count);
        if is_there && known.maps == maps && known.threads == threads {
            return Ok(true);
        }
        self.tabulated.count = 0;
        let room = self.points.len().saturating_sub(LOOKUPS);
        let has = u32::try_from(room).unwrap_or(u32::MAX);
        let full = FormError::Full { pool: PoolName::Points, has };
        let count = has.checked_div(threads).filter(|count| *count > 0).ok_or(full)?;
        let vars = spread.vars.with(Some(spread.copy));
        let asked = self.arena.variables(&[spread.thread, spread.index])?;
        if asked.iter().any(|(var, _)| !vars.contains(var)) {
            return Ok(false);
        }
        self.points.get_mut(..room).unwrap_or_default().fill(0);
        let mut extents: heapless::Vec<(BaseId, u32), { MAX_RANK + 1 }> = heapless::Vec::new();
        for var in &vars {
            let _ = extents.push((*var, self.arena.extent(*var)?));
        }
        let mut tape = Tape::new(&self.arena, &[spread.thread, spread.index])?;
        let (mut walk, mut number) = (Walk::new(&extents)?, 0u64);
        while !walk.ended() {
            walk.put(&mut tape);
            tape.derive(&self.arena)?;
            number = number.saturating_add(1);
            let thread = tape.value(&self.arena, spread.thread)?;
            let index = tape.value(&self.arena, spread.index)?;
            let place = index
                .checked_sub(i64::from(slot))
                .filter(|at| (0..i64::from(count)).contains(at))
                .filter(|_| (0..i64::from(threads)).contains(&thread))
                .and_then(|at| at.checked_mul(i64::from(threads))?.checked_add(thread))
                .and_then(|place| usize::try_from(place).ok());
            // The first copy stands for the others in its thread.
            if let Some(word) = place.and_then(|place| self.points.get_mut(place))
                && *word == 0
            {
                *word = number;
            }
            walk.step();
        }
        let lookups = known.lookups;
        let (vars, copy) = (spread.vars, spread.copy);
        self.tabulated = TabulatedSlots { maps, vars, copy, threads, first: slot, count, lookups };
        Ok(true)
    }

    /// The number of the iteration that a thread has in a slot; `None` where it has none, or where
    /// that was not asked for.
    #[must_use]
    pub fn iteration_of(&self, slot: u32, thread: u32) -> Option<u64> {
        let known = &self.tabulated;
        let at = slot.checked_sub(known.first).filter(|at| *at < known.count)?;
        let place = at.checked_mul(known.threads)?.checked_add(thread)?;
        let word = self.points.get(usize::try_from(place).ok()?)?;
        (thread < known.threads).then_some(*word)?.checked_sub(1)
    }

    /// The value of a map over the loop's variables in a slot of which iterations were asked for;
    /// `None` where threads differ in it, or it asks for something else.
    ///
    /// # Errors
    /// Those of [`Tape`].
    #[inline(never)] // Its buffers leave the stack before anything is emitted.
    pub fn value_in_slot(&self, slot: u32, map: IndexForm) -> FormResult<Option<i64>> {
        let known = &self.tabulated;
        let vars = known.vars.with(Some(known.copy));
        if known.count == 0 || self.arena.variables(&[map])?.iter().any(|(v, _)| !vars.contains(v))
        {
            return Ok(None);
        }
        let (mut tape, mut all) = (Tape::new(&self.arena, &[map])?, None);
        for thread in 0..known.threads {
            let Some(mut number) = self.iteration_of(slot, thread) else { continue };
            for var in vars.iter().rev() {
                let extent = u64::from(self.arena.extent(*var)?);
                let digit = number.checked_rem(extent).and_then(|digit| i64::try_from(digit).ok());
                tape.set(*var, digit.unwrap_or(0));
                number = number.checked_div(extent).unwrap_or(0);
            }
            tape.derive(&self.arena)?;
            let value = tape.value(&self.arena, map)?;
            if *all.get_or_insert(value) != value {
                return Ok(None);
            }
        }
        Ok(all)
    }
}
