//! Races in the text of a parallel loop: two of its iterations at one element, which one of them
//! writes.
//!
//! Iterations have no order, and different threads execute them. By structure first: where a buffer
//! is accessed by one map, and its outputs tell the loop's variables, no two iterations meet. Else
//! point by point, as serial loops around the parallel one begin: what these add to an index is the
//! same for both iterations. Views of one storage are compared part by part of it, each as wide as
//! the narrowest element. Where data decide, nothing is said.

use crate::arena::{FormBase, IndexForm, VarRole};
use crate::error::{FormError, FormResult};
use crate::inference::Inference;
use crate::points::{Tape, Walk};
use crate::program::{Access, BufferId, Kind, MAX_RANK, Operator, OperatorId, VarRange, When};
use crate::solve::{Equation, Solution};
use crate::subst::Variables;

/// Points of a loop, its inner loops included, beyond which nothing is said of what structure leaves
/// open.
const MOST_POINTS: u64 = 1 << 22;
/// Times that the loop's points are walked over for as many elements as there are words for.
const MOST_TIMES: usize = 64;
/// Bits of an entry that hold the number of an iteration; those above hold the access.
const ITERATION_BITS: u32 = 48;

/// Maps of an access: its indices, and when it happens.
type Maps = heapless::Vec<IndexForm, { MAX_RANK + 1 }>;

/// Two iterations of a loop that meet at an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// Whose element: the one that the second iteration accesses.
    pub buffer: BufferId,
    /// Whether the second iteration writes it, too; it reads it otherwise. The first one writes it.
    pub both_write: bool,
    /// By which accesses, numbered among the operator's.
    pub accesses: [u16; 2],
    /// The iterations, numbered row-major over the loop's variables.
    pub iterations: [u64; 2],
    /// The element's indices, without what serial loops and run-time numbers add.
    pub element: [i64; MAX_RANK],
}

/// The elements of a buffer that a loop reaches: the least index and the extent along each
/// dimension.
#[derive(Clone, Copy)]
struct Reached {
    least: [i64; MAX_RANK],
    greatest: [i64; MAX_RANK],
}

impl Reached {
    const NONE: Self = Self { least: [i64::MAX; MAX_RANK], greatest: [i64::MIN; MAX_RANK] };

    fn take(&mut self, index: &[i64; MAX_RANK]) {
        for (at, (least, greatest)) in
            index.iter().zip(self.least.iter_mut().zip(&mut self.greatest))
        {
            (*least, *greatest) = ((*least).min(*at), (*greatest).max(*at));
        }
    }

    /// The number of an element; `None` if that is too large, or it is none of them.
    fn number(&self, index: &[i64; MAX_RANK]) -> Option<usize> {
        let mut number = 0i64;
        for ((at, least), greatest) in index.iter().zip(&self.least).zip(&self.greatest) {
            if !(*least..=*greatest).contains(at) {
                return None;
            }
            let extent = greatest.checked_sub(*least)?.checked_add(1)?;
            number = number.checked_mul(extent)?.checked_add(at.checked_sub(*least)?)?;
        }
        usize::try_from(number).ok()
    }
}

/// A point at which an access happens.
struct LoopPoint {
    iteration: u64,
    index: [i64; MAX_RANK],
    /// Where in the storage: the indices, or where views of it are compared the first part.
    place: [i64; MAX_RANK],
    /// How many parts, one after the other.
    parts: i64,
}

impl LoopPoint {
    /// The places that it touches.
    fn places(&self) -> impl Iterator<Item = [i64; MAX_RANK]> + '_ {
        (0..self.parts).map(|part| {
            let mut place = self.place;
            if let Some(first) = place.first_mut() {
                *first = first.saturating_add(part);
            }
            place
        })
    }
}

/// How elements of a buffer lie in a storage that is compared part by part.
#[derive(Clone, Copy)]
struct StorageParts {
    /// Parts of an element.
    of_element: i64,
    /// Extents of the buffer.
    extents: [i64; MAX_RANK],
    rank: usize,
}

impl StorageParts {
    /// The first part of an element.
    fn first(&self, index: &[i64; MAX_RANK]) -> i64 {
        let dims = index.iter().zip(&self.extents).take(self.rank);
        let number =
            dims.fold(0i64, |n, (at, extent)| n.saturating_mul(*extent).saturating_add(*at));
        number.saturating_mul(self.of_element)
    }
}

impl Inference<'_> {
    /// Two iterations of a parallel loop that meet at an element which one of them writes; `None` if
    /// there are none, or nobody knows.
    ///
    /// # Errors
    /// [`crate::FormError::Full`] if index maps need more room than is lent.
    pub fn race(&mut self, id: OperatorId) -> FormResult<Option<Race>> {
        let op = *self.operator_of(id)?;
        if op.kind != Kind::Parallel {
            return Ok(None);
        }
        for k in 0..usize::from(op.accesses.1) {
            let Some(access) = self.accesses_of(&op).get(k).copied() else { break };
            let before = self.accesses_of(&op).get(..k).unwrap_or(&[]);
            let storage = self.storage(access.buffer);
            let seen = before.iter().any(|a| a.write && self.storage(a.buffer) == storage);
            if !access.write || seen || self.apart(&op, &access)? {
                continue;
            }
            let found = self.meeting(&op, storage)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Indices along variables by a row-major number of them: of an iteration, say.
    ///
    /// # Errors
    /// [`crate::FormError::Stale`].
    pub fn coordinates(&self, vars: VarRange, number: u64) -> FormResult<[u32; MAX_RANK]> {
        let (mut out, mut rest) = ([0; MAX_RANK], number);
        for (at, var) in vars.iter().enumerate().rev() {
            let extent = u64::from(self.arena.extent(var)?).max(1);
            if let Some(slot) = out.get_mut(at) {
                *slot = u32::try_from(rest.checked_rem(extent).unwrap_or(0)).unwrap_or(0);
            }
            rest = rest.checked_div(extent).unwrap_or(0);
        }
        Ok(out)
    }

    /// Whether structure tells that no two iterations meet: all accesses to the buffer's storage are
    /// by this buffer, at the same indices, which tell the loop's variables.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn apart(&mut self, op: &Operator, access: &Access) -> FormResult<bool> {
        let alike = |other: &Access| {
            let mut both = other.indices().iter().zip(access.indices());
            other.buffer == access.buffer && both.all(|(a, b)| self.arena.same(*a, *b))
        };
        let storage = self.storage(access.buffer);
        let mut own = self.accesses_of(op).iter().filter(|a| self.storage(a.buffer) == storage);
        if !own.all(alike) {
            return Ok(false);
        }
        let mark = self.arena.mark();
        let told = self.tells_iteration(op, access);
        self.arena.release(mark);
        match told {
            // An index that no number holds tells nothing.
            Err(FormError::Overflow) => Ok(false),
            told => told,
        }
    }

    fn tells_iteration(&mut self, op: &Operator, access: &Access) -> FormResult<bool> {
        let mut equations: heapless::Vec<Equation, MAX_RANK> = heapless::Vec::new();
        for index in access.indices() {
            // Outputs are numbers from 0 on.
            let (low, _) = self.arena.range(*index)?;
            let map = self.arena.add(*index, IndexForm::constant(low.saturating_neg()))?;
            let output = self.arena.output(map)?;
            let _ = equations.push((output, map));
        }
        let vars = op.vars.with(None);
        let mut solved = Solution::default();
        self.arena.solve_with(&equations, &vars, false, &mut solved)?;
        Ok(solved.free.iter().all(|free| !vars.contains(&free.digit.base)))
    }

    /// The bits of the narrowest element by which an operator's accesses look at a storage; `None` if
    /// all look at it as the same buffer.
    fn narrowest(&self, op: &Operator, storage: BufferId) -> FormResult<Option<u32>> {
        let (mut first, mut bits, mut viewed) = (None, u32::MAX, false);
        for access in self.accesses_of(op) {
            let own = self.buffer_of(access.buffer)?;
            if own.storage == storage {
                viewed |= *first.get_or_insert(access.buffer) != access.buffer;
                bits = bits.min(own.bits);
            }
        }
        Ok(viewed.then_some(bits))
    }

    /// How a buffer's elements lie in parts of so many bits of its storage.
    fn storage_parts(&self, id: BufferId, bits: u32) -> FormResult<StorageParts> {
        let own = self.buffer_of(id)?;
        let mut extents = [1; MAX_RANK];
        for (to, dim) in extents.iter_mut().zip(own.dims.iter()) {
            *to = i64::from(self.arena.extent(dim)?);
        }
        let of_element = own.bits.checked_div(bits).unwrap_or(1);
        let (rank, of_element) = (own.dims.len(), i64::from(of_element));
        Ok(StorageParts { of_element, extents, rank })
    }

    /// Two iterations that meet at an element of a storage, point by point: first what is written is
    /// noted, then what is read is looked up.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn meeting(&mut self, op: &Operator, storage: BufferId) -> FormResult<Option<Race>> {
        let mut reached = Reached::NONE;
        let bits = self.narrowest(op, storage)?;
        for k in 0..op.accesses.1 {
            if self.writes(op, k, storage).is_none() {
                continue;
            }
            let known = self.walk(op, k, bits, |_, point| {
                point.places().for_each(|place| reached.take(&place));
                true
            })?;
            if !known {
                return Ok(None);
            }
        }
        let Some(last) = reached.number(&reached.greatest) else { return Ok(None) };
        let (mut first, many) = (0usize, self.points.len().max(1));
        if last.checked_div(many).is_none_or(|times| times >= MOST_TIMES) {
            return Ok(None);
        }
        while first <= last {
            let found = self.meeting_from(op, storage, bits, (&reached, first))?;
            if found.is_some() {
                return Ok(found);
            }
            first = first.saturating_add(many);
        }
        Ok(None)
    }

    /// The same of elements from one number on, as many as there are words.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn meeting_from(
        &mut self,
        op: &Operator,
        storage: BufferId,
        bits: Option<u32>,
        (reached, first): (&Reached, usize),
    ) -> FormResult<Option<Race>> {
        self.points.fill(0);
        for both_write in [true, false] {
            for k in 0..op.accesses.1 {
                let accessed = self.accesses_of(op).get(usize::from(k)).map(|a| a.buffer);
                if self.writes(op, k, storage) != Some(both_write) {
                    continue;
                }
                let mut found = None;
                self.walk(op, k, bits, |words, point| {
                    for place in point.places() {
                        let at = reached.number(&place).and_then(|at| at.checked_sub(first));
                        let Some(entry) = at.and_then(|at| words.get_mut(at)) else { continue };
                        let this = point.iteration.saturating_add(1);
                        let before = *entry & 1u64.wrapping_shl(ITERATION_BITS).wrapping_sub(1);
                        if before == 0 && both_write {
                            *entry = u64::from(k).wrapping_shl(ITERATION_BITS) | this;
                        } else if before != 0 && before != this {
                            let first = entry.wrapping_shr(ITERATION_BITS);
                            found = Some(Race {
                                buffer: accessed.unwrap_or(storage),
                                both_write,
                                accesses: [u16::try_from(first).unwrap_or(0), k],
                                iterations: [before.saturating_sub(1), point.iteration],
                                element: point.index,
                            });
                            return false;
                        }
                    }
                    true
                })?;
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// Whether an access of an operator to this storage writes; `None` if it is to another one.
    fn writes(&self, op: &Operator, number: u16, storage: BufferId) -> Option<bool> {
        let access = self.accesses_of(op).get(usize::from(number))?;
        (self.storage(access.buffer) == storage).then_some(access.write)
    }

    /// Hands every point at which an access happens to `take`, with the lent words, until that is
    /// false; false if nobody knows them. With `bits` places are parts of so many of the storage.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn walk(
        &mut self,
        op: &Operator,
        number: u16,
        bits: Option<u32>,
        mut take: impl FnMut(&mut [u64], &LoopPoint) -> bool,
    ) -> FormResult<bool> {
        let Some(access) = self.accesses_of(op).get(usize::from(number)).copied() else {
            return Ok(false);
        };
        let Some(maps) = self.known_maps(&access)? else { return Ok(false) };
        let Some((vars, turns)) = self.walked(op, &maps)? else { return Ok(false) };
        let parts = bits.map(|bits| self.storage_parts(access.buffer, bits)).transpose()?;
        let mut tape = Tape::new(&self.arena, &maps)?;
        let mut walk = Walk::new(&vars)?;
        let mut point = 0u64;
        while !walk.ended() {
            walk.put(&mut tape);
            tape.derive(&self.arena)?;
            let happens = match maps.get(access.indices().len()) {
                Some(when) => tape.value(&self.arena, *when)? != 0,
                None => true,
            };
            if happens {
                let mut index = [0; MAX_RANK];
                for (to, map) in index.iter_mut().zip(access.indices()) {
                    *to = tape.value(&self.arena, *map)?;
                }
                let iteration = point.checked_div(turns).unwrap_or(0);
                let (mut place, mut count) = (index, 1);
                if let Some(own) = &parts {
                    place = [0; MAX_RANK];
                    if let Some(first) = place.first_mut() {
                        *first = own.first(&index);
                    }
                    count = own.of_element;
                }
                if !take(self.points, &LoopPoint { iteration, index, place, parts: count }) {
                    break;
                }
            }
            walk.step();
            point = point.saturating_add(1);
        }
        Ok(true)
    }

    /// The maps of an access, its condition last; `None` if not all of them are known but for what
    /// serial loops around add.
    fn known_maps(&self, access: &Access) -> FormResult<Option<Maps>> {
        let mut maps = Maps::new();
        for index in access.indices() {
            if !self.adds_outer(*index)? {
                return Ok(None);
            }
            let _ = maps.push(*index);
        }
        match access.when {
            When::Always => {}
            When::Where(form) if !self.arena.asks(form, VarRole::Outer)? => {
                let _ = maps.push(form);
            }
            When::Where(_) | When::Unknown => return Ok(None),
        }
        Ok(Some(maps))
    }

    /// Whether a map does nothing with variables of serial loops around but add them as a whole.
    fn adds_outer(&self, map: IndexForm) -> FormResult<bool> {
        for term in self.arena.terms_of(map) {
            let asked = match self.arena.base(term.digit.base)? {
                FormBase::Var { role: VarRole::Outer, .. } => {
                    term.digit.unit != 1 || !self.arena.is_top(term.digit)?
                }
                FormBase::Var { .. } => false,
                FormBase::Sum { form, .. } | FormBase::Parity { form } => {
                    self.arena.asks(form, VarRole::Outer)?
                }
                FormBase::Op { a, b, .. } => {
                    self.arena.asks(a, VarRole::Outer)? || self.arena.asks(b, VarRole::Outer)?
                }
            };
            if asked {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The variables of a loop's points, those of inner serial loops last, and how many turns of
    /// these an iteration has; `None` if there are too many points.
    fn walked(&self, op: &Operator, maps: &Maps) -> FormResult<Option<(Variables, u64)>> {
        let mut vars = Variables::new();
        let (mut points, mut turns) = (1u64, 1u64);
        let own = op.vars.with(None);
        for var in &own {
            let extent = self.arena.extent(*var)?;
            points = points.saturating_mul(u64::from(extent));
            if vars.push((*var, extent)).is_err() {
                return Ok(None);
            }
        }
        for (var, extent) in self.arena.variables(maps)? {
            let inner = matches!(self.arena.base(var)?, FormBase::Var { role: VarRole::Inner, .. });
            if inner {
                turns = turns.saturating_mul(u64::from(extent));
                if vars.push((var, extent)).is_err() {
                    return Ok(None);
                }
            }
        }
        let few = points.saturating_mul(turns) <= MOST_POINTS;
        Ok(few.then_some((vars, turns)))
    }
}
