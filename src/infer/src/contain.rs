//! Who holds what: whether the threads of one map are among those of another, at every point.

use crate::arena::{
    BaseId, DigitTerm, DigitTerms, FormArena, FormBase, IndexForm, VarRole, too_many,
};
use crate::error::{FormError, FormResult, PoolName};
use crate::points::{Tape, Walk};
use crate::program::{FragmentForm, MAX_RANK};
use crate::solve::Solution;

/// How many threads a block can have.
pub const MAX_THREADS: u32 = 2048;

/// The threads of one element: a map, and the variable that counts its copies.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    /// The thread.
    pub map: IndexForm,
    /// The copy.
    pub copy: BaseId,
}

/// A term of copies with how much of its digit is spoken for.
type Room = heapless::Vec<(DigitTerm, u32), 16>;

#[doc(hidden)]
impl FormArena<'_> {
    /// Whether at every point all threads of `small` are threads of `large`.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`].
    pub fn contains(&mut self, small: Threads, large: Threads) -> FormResult<bool> {
        match self.contained_by_structure(small, large) {
            Ok(true) => return Ok(true),
            Ok(false) | Err(FormError::Overflow) => {}
            Err(other) => return Err(other),
        }
        self.contained_by_points(small, large)
    }

    /// `small - large`, but for the copies of `large`, is made of what those copies can add.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn contained_by_structure(&mut self, small: Threads, large: Threads) -> FormResult<bool> {
        let (mut fixed, mut room) = (DigitTerms::new(), Room::new());
        for k in 0..large.map.len {
            let Some(t) = self.term(large.map, k) else { break };
            if t.digit.base == large.copy {
                room.push((t, 0)).map_err(|_| too_many())?;
            } else {
                fixed.push(t).map_err(|_| too_many())?;
            }
        }
        let fixed = self.finish(&mut fixed, large.map.constant)?;
        let copy = large.copy;
        if self.mentions(fixed, |id, _| id == copy)? {
            return Ok(false);
        }
        let rest = self.add_scaled(small.map, fixed, -1)?;
        if rest.constant != 0 && take(&mut room, rest.constant, 2).is_none_or(|n| n < 2) {
            return Ok(false);
        }
        let mut open = DigitTerms::new();
        open.extend_from_slice(self.terms_of(rest)).map_err(|_| too_many())?;
        while let Some(t) = open.pop() {
            let Some(fits) = take(&mut room, t.stride, t.digit.extent) else {
                return Ok(false);
            };
            if fits >= t.digit.extent {
                continue;
            }
            // What fits was taken for the lower part; the upper one goes on.
            let Some((_, high)) = self.split(t, fits)? else {
                return Ok(false);
            };
            open.push(high).map_err(|_| too_many())?;
        }
        Ok(true)
    }

    fn contained_by_points(&mut self, small: Threads, large: Threads) -> FormResult<bool> {
        match (self.copies_apart(small)?, self.copies_apart(large)?) {
            (Some(of_small), Some(of_large)) => {
                self.contained_beside_copies((small, of_small), (large, of_large))
            }
            _ => self.contained_at_each(small, large),
        }
    }

    /// What copies add to a map, where that is the same at all points, and the map without it.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn copies_apart(&mut self, threads: Threads) -> FormResult<Option<(IndexForm, IndexForm)>> {
        let (mut points, mut copies) = (DigitTerms::new(), DigitTerms::new());
        for t in self.terms_of(threads.map) {
            let sum = if t.digit.base == threads.copy { &mut copies } else { &mut points };
            sum.push(*t).map_err(|_| too_many())?;
        }
        let points = self.finish(&mut points, threads.map.constant)?;
        if self.mentions(points, |id, _| id == threads.copy)? {
            return Ok(None);
        }
        let copies = self.finish(&mut copies, 0)?;
        let (low, high) = self.range(copies)?;
        Ok((low >= 0 && high < i64::from(MAX_THREADS)).then_some((points, copies)))
    }

    /// [`Self::contained_by_points`] of maps to which copies add the same at all points.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn contained_beside_copies(
        &mut self,
        (small, (own, own_copies)): (Threads, (IndexForm, IndexForm)),
        (large, (other, other_copies)): (Threads, (IndexForm, IndexForm)),
    ) -> FormResult<bool> {
        let (mut wanted, mut held) = (Set::default(), Set::default());
        self.reached(own_copies, small.copy, &mut wanted)?;
        self.reached(other_copies, large.copy, &mut held)?;
        let apart = self.add_scaled(own, other, -1)?;
        let mut tape = Tape::new(self, &[apart])?;
        let vars = self.variables(&[apart])?;
        let mut walk = Walk::new(&vars)?;
        while !walk.ended() {
            walk.put(&mut tape);
            tape.derive(self)?;
            let from = tape.value(self, apart)?;
            if !wanted.members().all(|copy| held.has(from.saturating_add(copy))) {
                return Ok(false);
            }
            walk.step();
        }
        Ok(true)
    }

    /// Puts the values that copies add into a set.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn reached(&self, copies: IndexForm, copy: BaseId, out: &mut Set) -> FormResult<()> {
        let mut tape = Tape::new(self, &[copies])?;
        for k in 0..self.extent(copy)? {
            tape.set(copy, i64::from(k));
            tape.derive(self)?;
            out.add(tape.value(self, copies)?);
        }
        Ok(())
    }

    /// [`Self::contained_by_points`] of maps whose copies may add something else at each point.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn contained_at_each(&mut self, small: Threads, large: Threads) -> FormResult<bool> {
        let mut tape = Tape::new(self, &[small.map, large.map])?;
        let mut vars = self.variables(&[small.map, large.map])?;
        vars.retain(|v| v.0 != small.copy && v.0 != large.copy);
        let copies = (self.extent(small.copy)?, self.extent(large.copy)?);
        let (low, high) = self.range(small.map)?;
        // Others are in no set.
        let are_threads = low >= 0 && high < i64::from(MAX_THREADS);
        let others = if are_threads { high.saturating_sub(low) } else { i64::MAX };
        let mut walk = Walk::new(&vars)?;
        while !walk.ended() {
            walk.put(&mut tape);
            let (mut held, mut missing) = (Set::default(), others);
            for k in 0..copies.1 {
                tape.set(large.copy, i64::from(k));
                tape.derive(self)?;
                let thread = tape.value(self, large.map)?;
                if (low..=high).contains(&thread) && !held.has(thread) {
                    missing = missing.saturating_sub(1);
                }
                held.add(thread);
                // Every thread that may be wanted is held.
                if missing < 0 {
                    break;
                }
            }
            if missing < 0 {
                walk.step();
                continue;
            }
            for k in 0..copies.0 {
                tape.set(small.copy, i64::from(k));
                tape.derive(self)?;
                if !held.has(tape.value(self, small.map)?) {
                    return Ok(false);
                }
            }
            walk.step();
        }
        Ok(true)
    }

    /// Whether two maps have the same value at every point: by structure, else point by point.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`].
    pub fn equal(&mut self, a: IndexForm, b: IndexForm) -> FormResult<bool> {
        if self.same(a, b) {
            return Ok(true);
        }
        let mut tape = Tape::new(self, &[a, b])?;
        let vars = self.variables(&[a, b])?;
        let mut walk = Walk::new(&vars)?;
        while !walk.ended() {
            walk.put(&mut tape);
            tape.derive(self)?;
            if tape.value(self, a)? != tape.value(self, b)? {
                return Ok(false);
            }
            walk.step();
        }
        Ok(true)
    }

    /// Whether every point and copy lies in one of `threads` threads.
    pub(crate) fn within(&self, map: IndexForm, threads: u32) -> FormResult<bool> {
        let (low, high) = self.range(map)?;
        if low >= 0 && high < i64::from(threads) {
            return Ok(true);
        }
        let (low, high) = self.range_at_points(map)?;
        Ok(low >= 0 && high < i64::from(threads))
    }

    /// The least and the greatest value of a local index: by its terms, or, where they might be below
    /// zero by these, at all points.
    pub(crate) fn index_range(&self, map: IndexForm) -> FormResult<(i64, i64)> {
        match self.range(map)? {
            (low, _) if low < 0 => self.range_at_points(map),
            range => Ok(range),
        }
    }

    /// The least and the greatest value of a map at all points.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn range_at_points(&self, map: IndexForm) -> FormResult<(i64, i64)> {
        let mut tape = Tape::new(self, &[map])?;
        let vars = self.variables(&[map])?;
        let mut walk = Walk::new(&vars)?;
        let mut out = (i64::MAX, i64::MIN);
        while !walk.ended() {
            walk.put(&mut tape);
            tape.derive(self)?;
            let value = tape.value(self, map)?;
            out = (out.0.min(value), out.1.max(value));
            walk.step();
        }
        Ok(out)
    }

    /// Whether the map asks for a variable of this role.
    pub(crate) fn asks(&self, map: IndexForm, wanted: VarRole) -> FormResult<bool> {
        self.mentions(map, |_, b| matches!(b, FormBase::Var { role, .. } if *role == wanted))
    }
}

/// Takes room for `extent` steps of `stride`; how many there is room for, at least 2.
fn take(room: &mut Room, stride: i64, extent: u32) -> Option<u32> {
    let mut best: Option<(usize, u32, u32)> = None;
    for (k, (t, used)) in room.iter().enumerate() {
        if t.stride == 0 || stride.checked_rem(t.stride) != Some(0) {
            continue;
        }
        let Some(each) = stride.checked_div(t.stride).and_then(|m| u32::try_from(m).ok()) else {
            continue;
        };
        let left = t.digit.extent.saturating_sub(1).saturating_sub(*used);
        let Some(steps) = left.checked_div(each) else { continue };
        let fits = steps.saturating_add(1).min(extent);
        if fits >= 2 && best.is_none_or(|b| fits > b.1) {
            best = Some((k, fits, each));
        }
    }
    let (k, fits, each) = best?;
    let slot = room.get_mut(k)?;
    slot.1 = slot.1.saturating_add(each.saturating_mul(fits.saturating_sub(1)));
    Some(fits)
}

#[doc(hidden)]
impl FormArena<'_> {
    /// Whether no two points of a fragment lie in one place: by structure, else point by point with
    /// a bit of `words` for each place.
    ///
    /// # Errors
    /// [`FormError::Full`] if there are more threads than bits.
    pub(crate) fn injective(
        &mut self,
        fragment: &FragmentForm,
        words: &mut [u64],
    ) -> FormResult<bool> {
        Ok(self.injective_by_structure(fragment)? || self.injective_at_points(fragment, words)?)
    }

    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn injective_by_structure(&mut self, fragment: &FragmentForm) -> FormResult<bool> {
        let outputs = (self.output(fragment.thread)?, self.output(fragment.index)?);
        let equations = [(outputs.0, fragment.thread), (outputs.1, fragment.index)];
        let vars = fragment.vars.with(Some(fragment.copy));
        let mut solved = Solution::default();
        self.solve_with(&equations, &vars, false, &mut solved)?;
        Ok(solved.free.iter().all(|f| f.digit.base == fragment.copy))
    }

    /// [`Self::injective`] point by point: of as many local indices at a time as the words have bits
    /// for.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn injective_at_points(
        &mut self,
        fragment: &FragmentForm,
        words: &mut [u64],
    ) -> FormResult<bool> {
        let has = u32::try_from(words.len()).unwrap_or(u32::MAX).saturating_mul(64);
        let full = FormError::Full { pool: PoolName::Points, has };
        let (least, greatest) = self.range(fragment.thread)?;
        let threads = greatest.checked_sub(least).and_then(|last| last.checked_add(1));
        let threads = threads.ok_or(FormError::Overflow)?;
        let many = i64::from(has).checked_div(threads).filter(|many| *many > 0).ok_or(full)?;
        let mut first = Some(self.range(fragment.index)?.0);
        let mut tape = Tape::new(self, &[fragment.thread, fragment.index])?;
        let mut extents: heapless::Vec<(BaseId, u32), MAX_RANK> = heapless::Vec::new();
        for id in fragment.vars.iter() {
            let _ = extents.push((id, self.extent(id)?));
        }
        while let Some(from) = first.take() {
            words.fill(0);
            let mut walk = Walk::new(&extents)?;
            while !walk.ended() {
                walk.put(&mut tape);
                let mut own = Set::default();
                for k in 0..fragment.copies {
                    tape.set(fragment.copy, i64::from(k));
                    tape.derive(self)?;
                    let thread = tape.value(self, fragment.thread)?.saturating_sub(least);
                    if own.has(thread) {
                        continue;
                    }
                    own.add(thread);
                    let index = tape.value(self, fragment.index)?.saturating_sub(from);
                    if index >= many {
                        let behind = from.saturating_add(index);
                        first = Some(first.map_or(behind, |other: i64| other.min(behind)));
                    }
                    if !(0..many).contains(&index) {
                        continue;
                    }
                    let place = index.saturating_mul(threads).saturating_add(thread);
                    let place = usize::try_from(place).map_err(|_| FormError::Overflow)?;
                    let word = words.get_mut(place >> 6).ok_or(full)?;
                    let bit = 1u64.wrapping_shl(u32::try_from(place & 63).unwrap_or(0));
                    if *word & bit != 0 {
                        return Ok(false);
                    }
                    *word |= bit;
                }
                walk.step();
            }
        }
        Ok(true)
    }
}

/// A set of threads.
#[derive(Debug)]
struct Set([u64; (MAX_THREADS / 64) as usize]);

impl Default for Set {
    fn default() -> Self {
        Self([0; (MAX_THREADS / 64) as usize])
    }
}

impl Set {
    fn place(thread: i64) -> Option<(usize, u64)> {
        let t = usize::try_from(thread).ok()?;
        Some((t >> 6, 1u64.checked_shl(u32::try_from(t & 63).ok()?)?))
    }

    fn add(&mut self, thread: i64) {
        if let Some((word, bit)) = Self::place(thread)
            && let Some(w) = self.0.get_mut(word)
        {
            *w |= bit;
        }
    }

    /// Its members, in their order.
    fn members(&self) -> impl Iterator<Item = i64> + '_ {
        self.0.iter().zip((0i64..).step_by(64)).flat_map(|(word, first)| {
            let bits = (0u32..64).filter(|bit| word.checked_shr(*bit).unwrap_or(0) & 1 == 1);
            bits.map(move |bit| first.saturating_add(i64::from(bit)))
        })
    }

    fn has(&self, thread: i64) -> bool {
        Self::place(thread)
            .is_some_and(|(word, bit)| self.0.get(word).is_some_and(|w| w & bit != 0))
    }
}
