//! Fragments made of other fragments: by an access, without a dimension, on all threads.

use crate::arena::{BaseDigit, BaseId, FormArena, FormBase, IndexForm, VarRole, too_many};
use crate::contain::Threads;
use crate::error::{FormError, FormResult};
use crate::pool::take_out;
use crate::program::{FragmentForm, MAX_RANK, VarRange};
use crate::solve::{Equation, MAX_FREE, Solution, VarForms};
use lanebook_layout::order::gcd;

/// Digits that no thread tells.
type OpenDigits = heapless::Vec<BaseDigit, MAX_FREE>;

#[doc(hidden)]
impl FormArena<'_> {
    /// The threads of a fragment's elements.
    #[must_use]
    pub fn threads(&self, fragment: &FragmentForm) -> Threads {
        Threads { map: fragment.thread, copy: fragment.copy }
    }

    /// The threads that hold what an access with these indices asks for.
    pub fn threads_at(
        &mut self,
        fragment: &FragmentForm,
        indices: &[IndexForm],
    ) -> FormResult<Threads> {
        let map = coordinates(fragment.vars, indices)?;
        Ok(Threads { map: self.substitute(fragment.thread, &map)?, copy: fragment.copy })
    }

    /// The local index of what an access with these indices asks for.
    pub fn index_at(
        &mut self,
        fragment: &FragmentForm,
        indices: &[IndexForm],
    ) -> FormResult<IndexForm> {
        let map = coordinates(fragment.vars, indices)?;
        self.substitute(fragment.index, &map)
    }

    /// The fragment that every thread holds whole, row-major.
    pub(crate) fn on_all_threads(
        &mut self,
        vars: VarRange,
        threads: u32,
    ) -> FormResult<FragmentForm> {
        let copy = self.var(threads, VarRole::Copy)?;
        let thread = self.whole(copy)?;
        let index = self.row_major(vars)?;
        self.fragment(vars, copy, thread, index)
    }

    /// Variables for the coordinates of a shape.
    ///
    /// # Errors
    /// A full pool.
    pub fn dims(&mut self, shape: &[u32]) -> FormResult<VarRange> {
        let mut vars = VarRange::default();
        for extent in shape {
            let BaseId(id) = self.var(*extent, VarRole::Dim)?;
            if vars.count == 0 {
                vars.first = id;
            }
            vars.count = vars.count.checked_add(1).ok_or(FormError::Overflow)?;
        }
        Ok(vars)
    }

    /// The row-major number of a point.
    pub(crate) fn row_major(&mut self, vars: VarRange) -> FormResult<IndexForm> {
        let mut out = IndexForm::constant(0);
        let mut stride = 1i64;
        for id in vars.iter().rev() {
            let whole = self.whole(id)?;
            out = self.add_scaled(out, whole, stride)?;
            let extent = i64::from(self.extent(id)?);
            stride = stride.checked_mul(extent).ok_or(FormError::Overflow)?;
        }
        Ok(out)
    }

    /// A fragment from its maps.
    pub fn fragment(
        &mut self,
        vars: VarRange,
        copy: BaseId,
        thread: IndexForm,
        index: IndexForm,
    ) -> FormResult<FragmentForm> {
        let (low, last) = self.index_range(index)?;
        let slots = if low < 0 { u32::MAX } else { u32::try_from(last).unwrap_or(u32::MAX) };
        let copies = self.extent(copy)?;
        let slots = slots.saturating_add(1);
        Ok(FragmentForm { vars, copy, copies, thread, index, slots, padded: false })
    }

    /// A fragment from the map of its threads. The local index counts, row-major, what the thread
    /// leaves open.
    pub fn by_threads(
        &mut self,
        vars: VarRange,
        copy: BaseId,
        thread: IndexForm,
    ) -> FormResult<FragmentForm> {
        let index = self.left_open(vars, copy, thread)?;
        self.fragment(vars, copy, thread, index)
    }

    /// A variable for the values of a map.
    pub(crate) fn output(&mut self, map: IndexForm) -> FormResult<IndexForm> {
        let (_, last) = self.range(map)?;
        let extent = last.max(0).checked_add(1).ok_or(FormError::Overflow)?;
        let var =
            self.var(u32::try_from(extent).map_err(|_| FormError::Overflow)?, VarRole::Output)?;
        self.whole(var)
    }

    /// What `thread` does not tell of the variables, row-major.
    fn left_open(
        &mut self,
        vars: VarRange,
        copy: BaseId,
        thread: IndexForm,
    ) -> FormResult<IndexForm> {
        // The index must be the same for all copies: no digit of a sum that counts them.
        match self.left_open_by(vars, copy, thread, true)? {
            Some(index) => Ok(index),
            None => {
                let whole = self.left_open_by(vars, copy, thread, false)?;
                whole.ok_or_else(too_many)
            }
        }
    }

    /// [`Self::left_open`] with digits of sums (`complete`) or of variables alone; `None` if a sum
    /// counts copies.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn left_open_by(
        &mut self,
        vars: VarRange,
        copy: BaseId,
        thread: IndexForm,
        complete: bool,
    ) -> FormResult<Option<IndexForm>> {
        let whole = self.output(thread)?;
        let mut digits = OpenDigits::new();
        if !self.open_digits((vars, copy), (whole, thread), complete, &mut digits)? {
            return Ok(None);
        }
        self.without_digits_that_others_tell((vars, copy), (whole, thread), &mut digits)?;
        self.numbered(&digits).map(Some)
    }

    /// The digits that a thread's number does not tell; whether no copy counts in them.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn open_digits(
        &mut self,
        (vars, copy): (VarRange, BaseId),
        thread: Equation,
        complete: bool,
        digits: &mut OpenDigits,
    ) -> FormResult<bool> {
        let all = vars.with(Some(copy));
        let mut solved = Solution::default();
        self.solve_with(&[thread], &all, complete, &mut solved)?;
        let own =
            vars.iter().rev().flat_map(|id| solved.free.iter().filter(move |f| f.digit.base == id));
        let derived = solved.free.iter().filter(|f| !all.contains(&f.digit.base));
        for free in own.chain(derived) {
            let base = self.whole(free.digit.base)?;
            if self.mentions(base, |id, _| id == copy)? {
                return Ok(false);
            }
            digits.push(free.digit).map_err(|_| too_many())?;
        }
        Ok(true)
    }

    /// Digits as the digits of one number, the first the lowest.
    fn numbered(&mut self, digits: &[BaseDigit]) -> FormResult<IndexForm> {
        let (mut index, mut stride) = (IndexForm::constant(0), 1i64);
        for own in digits {
            let digit = self.digit(*own)?;
            index = self.add_scaled(index, digit, stride)?;
            stride = stride.checked_mul(i64::from(own.extent)).ok_or(FormError::Overflow)?;
        }
        Ok(index)
    }

    /// Leaves out the digits that the thread and the others tell, the greatest first: of `v0 ^ v1`
    /// one of the two. Where threads and numbers are no more than points, there are none.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn without_digits_that_others_tell(
        &mut self,
        (vars, copy): (VarRange, BaseId),
        (value, thread): Equation,
        digits: &mut OpenDigits,
    ) -> FormResult<()> {
        let mut points = u64::from(self.extent(copy)?);
        for id in vars.iter() {
            points = points.saturating_mul(u64::from(self.extent(id)?));
        }
        let (low, high) = self.range(thread)?;
        let threads = u64::try_from(high.saturating_sub(low).saturating_add(1)).unwrap_or(1);
        let places = digits.iter().fold(threads, |n, own| n.saturating_mul(u64::from(own.extent)));
        if places <= points {
            return Ok(());
        }
        let mut bound = u32::MAX;
        while let Some(most) = digits.iter().map(|own| own.extent).filter(|e| *e < bound).max() {
            for at in (0..digits.len()).rev() {
                let Some(left) = digits.get(at).copied().filter(|own| own.extent == most) else {
                    continue;
                };
                take_out(digits, at);
                let mark = self.mark();
                let is_told = self.is_told_by((vars, copy), (value, thread), digits)?;
                self.release(mark);
                if !is_told {
                    put_back(digits, at, left);
                }
            }
            bound = most;
        }
        Ok(())
    }

    /// Whether a map's value and some digits tell all variables, by structure.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn is_told_by(
        &mut self,
        (vars, copy): (VarRange, BaseId),
        thread: Equation,
        digits: &OpenDigits,
    ) -> FormResult<bool> {
        let all = vars.with(Some(copy));
        let index = self.numbered(digits)?;
        let number = self.output(index)?;
        let mut solved = Solution::default();
        let found = self.solve_with(&[thread, (number, index)], &all, false, &mut solved);
        let is_told = solved.free.iter().all(|free| free.digit.base == copy);
        Ok(found.is_ok() && is_told && solved.vars.len() == all.len())
    }

    /// The fragment of a buffer with dimensions `dims` from that of a loop which accesses it at
    /// `indices`: an element is held by each thread that asks for it. What the indices do not tell
    /// of the loop's variables makes copies. Where they tell all of them, the loop's local index too.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn of_access(
        &mut self,
        around: &FragmentForm,
        dims: VarRange,
        indices: &[IndexForm],
    ) -> FormResult<(FragmentForm, Option<IndexForm>)> {
        let solved = self.solve_access(around.vars, dims, indices)?;
        let thread = self.substitute(around.thread, &solved.vars)?;
        let (thread, copy) = self.merge_copies(thread)?;
        let (thread, copy) = self.condensed(thread, copy)?;
        let fragment = self.by_threads(dims, copy, thread)?;
        let index = match solved.free.is_empty() {
            true => self.substitute(around.index, &solved.vars).ok(),
            false => None,
        };
        Ok((fragment, index))
    }

    /// Loop variables by the coordinates of the element that is accessed.
    pub(crate) fn solve_access(
        &mut self,
        vars: VarRange,
        dims: VarRange,
        indices: &[IndexForm],
    ) -> FormResult<Solution> {
        let mut equations: heapless::Vec<Equation, MAX_RANK> = heapless::Vec::new();
        for (dim, index) in dims.iter().zip(indices) {
            let whole = self.whole(dim)?;
            equations.push((whole, *index)).map_err(|_| too_many())?;
        }
        let mut all: heapless::Vec<BaseId, MAX_RANK> = heapless::Vec::new();
        for id in vars.iter() {
            all.push(id).map_err(|_| too_many())?;
        }
        let mut solved = Solution::default();
        self.solve(&equations, &all, &mut solved)?;
        Ok(solved)
    }

    /// The map with all variables of copies that it asks for made digits of one.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn merge_copies(&mut self, thread: IndexForm) -> FormResult<(IndexForm, BaseId)> {
        let mut olds: heapless::Vec<(BaseId, u32), MAX_COPIES> = heapless::Vec::new();
        for id in &self.bases_under(&[thread])? {
            if let FormBase::Var { extent, role: VarRole::Copy } = self.base(*id)? {
                olds.push((*id, extent)).map_err(|_| too_many())?;
            }
        }
        if let [(only, _)] = olds.as_slice() {
            return Ok((thread, *only));
        }
        let count =
            olds.iter().try_fold(1u32, |n, o| n.checked_mul(o.1).ok_or(FormError::Overflow))?;
        let copy = self.var(count, VarRole::Copy)?;
        let mut map = VarForms::new();
        let mut unit = 1u32;
        for (old, extent) in &olds {
            let digit = self.digit(BaseDigit { base: copy, unit, extent: *extent })?;
            map.push((*old, digit)).map_err(|_| too_many())?;
            unit = unit.saturating_mul(*extent);
        }
        Ok((self.substitute(thread, &map)?, copy))
    }

    /// The fragment of a reduction's result: that of its operand without dimension `dim`, whose
    /// threads all hold the result.
    pub fn reduced(
        &mut self,
        source: &FragmentForm,
        dims: VarRange,
        dim: usize,
    ) -> FormResult<FragmentForm> {
        let mut map = VarForms::new();
        let kept = dims.len() == source.vars.len();
        let mut left = dims.iter();
        for (k, id) in source.vars.iter().enumerate() {
            let form = if k == dim {
                if kept {
                    let _ = left.next();
                }
                let extent = self.extent(id)?;
                let var = self.var(extent, VarRole::Copy)?;
                self.whole(var)?
            } else {
                match left.next() {
                    Some(to) => self.whole(to)?,
                    None => IndexForm::constant(0),
                }
            };
            map.push((id, form)).map_err(|_| too_many())?;
        }
        let thread = self.substitute(source.thread, &map)?;
        let (thread, copy) = self.merge_copies(thread)?;
        let (thread, copy) = self.condensed(thread, copy)?;
        self.by_threads(dims, copy, thread)
    }

    /// The map with only those digits of `copy` that move it.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn condensed(
        &mut self,
        thread: IndexForm,
        copy: BaseId,
    ) -> FormResult<(IndexForm, BaseId)> {
        let whole = self.extent(copy)?;
        if let Some((unit, end)) = self.copies_within(thread, copy)? {
            return self.copies_in_steps(thread, (copy, whole.min(end)), unit);
        }
        let mut digits: heapless::Vec<BaseDigit, MAX_COPIES> = heapless::Vec::new();
        for k in 0..thread.len {
            let Some(t) = self.term(thread, k) else { break };
            if t.digit.base == copy {
                digits.push(t.digit).map_err(|_| too_many())?;
            }
        }
        let count = digits
            .iter()
            .try_fold(1u32, |n, a| n.checked_mul(a.extent))
            .ok_or(FormError::Overflow)?;
        if count >= whole {
            return Ok((thread, copy));
        }
        let fresh = self.var(count, VarRole::Copy)?;
        let mut value = IndexForm::constant(0);
        let mut unit = 1u32;
        for old in &digits {
            let digit = self.digit(BaseDigit { base: fresh, unit, extent: old.extent })?;
            value = self.add_scaled(value, digit, i64::from(old.unit))?;
            unit = unit.saturating_mul(old.extent);
        }
        Ok((self.substitute(thread, &[(copy, value)])?, fresh))
    }

    /// Where sums that are divided as a whole, or operations, count copies: what the units of all
    /// digits of `copy` are multiples of, and where the last of them ends.
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    fn copies_within(&self, thread: IndexForm, copy: BaseId) -> FormResult<Option<(u32, u32)>> {
        let mut all: Option<(u32, u32)> = None;
        let mut counted = |form: IndexForm| {
            let mut found = false;
            for digit in self.terms_of(form).iter().map(|t| t.digit).filter(|d| d.base == copy) {
                let end = digit.unit.saturating_mul(digit.extent);
                all = Some(match all {
                    Some((unit, last)) => (common_unit(unit, digit.unit), last.max(end)),
                    None => (digit.unit, end),
                });
                found = true;
            }
            found
        };
        counted(thread);
        let mut within = false;
        for id in &self.bases_under(&[thread])? {
            within |= match self.base(*id)? {
                FormBase::Sum { form, .. } | FormBase::Parity { form } => counted(form),
                FormBase::Op { a, b, .. } => counted(a) | counted(b),
                FormBase::Var { .. } => false,
            };
        }
        Ok(all.filter(|_| within))
    }

    /// The map of every `unit`th copy before `end`: those between, and behind, are the same.
    fn copies_in_steps(
        &mut self,
        thread: IndexForm,
        (copy, end): (BaseId, u32),
        unit: u32,
    ) -> FormResult<(IndexForm, BaseId)> {
        let count = end.div_ceil(unit.max(1));
        if count >= self.extent(copy)? {
            return Ok((thread, copy));
        }
        let fresh = self.var(count, VarRole::Copy)?;
        let value = self.whole(fresh)?;
        let value = self.scale(value, i64::from(unit))?;
        Ok((self.substitute(thread, &[(copy, value)])?, fresh))
    }
}

/// The greatest unit of which both are multiples.
fn common_unit(a: u32, b: u32) -> u32 {
    u32::try_from(gcd(u64::from(a), u64::from(b))).unwrap_or(1)
}

/// How many variables of copies may meet in one map.
const MAX_COPIES: usize = 24;

/// Dimensions and the indices in their place.
fn coordinates(dims: VarRange, indices: &[IndexForm]) -> FormResult<VarForms> {
    let mut out = VarForms::new();
    for pair in dims.iter().zip(indices) {
        out.push((pair.0, *pair.1)).map_err(|_| too_many())?;
    }
    Ok(out)
}

#[doc(hidden)]
impl FormArena<'_> {
    /// The same storage as elements of another shape and width.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`]; [`FormError::Divisor`] if neither width divides the other.
    pub fn reshaped(
        &mut self,
        fragment: &FragmentForm,
        bits: u32,
        dims: VarRange,
        to_bits: u32,
    ) -> FormResult<FragmentForm> {
        let flat = self.row_major(dims)?;
        let odd = FormError::Divisor { found: i64::from(to_bits) };
        let mut within = IndexForm::constant(0);
        let (mut up, mut down) = (1i64, 1i64);
        let element = if bits >= to_bits {
            up = i64::from(bits.checked_div(to_bits).ok_or(odd)?);
            let (element, part) = self.div_rem(flat, up)?;
            within = part;
            element
        } else {
            down = i64::from(to_bits.checked_div(bits).ok_or(odd)?);
            self.scale(flat, down)?
        };
        let thread = self.at_element(fragment, fragment.thread, element)?;
        let index = self.at_element(fragment, fragment.index, element)?;
        let index = self.div_rem(index, down)?.0;
        let index = self.add_scaled(within, index, up)?;
        self.fragment(dims, fragment.copy, thread, index)
    }

    /// Whether every `parts` elements of a fragment in a row, from the first on, lie in neighbouring
    /// places of the same threads, so that they can be one element of a view.
    ///
    /// # Errors
    /// [`FormError::Full`], [`FormError::Overflow`].
    #[inline(never)] // Its buffers leave the stack before the next step begins.
    pub(crate) fn lies_in_parts(
        &mut self,
        fragment: &FragmentForm,
        parts: u32,
    ) -> FormResult<bool> {
        let mut count = 1u32;
        for id in fragment.vars.iter() {
            count = count.checked_mul(self.extent(id)?).ok_or(FormError::Overflow)?;
        }
        let whole = self.var(count.div_ceil(parts.max(1)), VarRole::Dim)?;
        let part = self.var(parts, VarRole::Dim)?;
        let (first, of_part) = (self.whole(whole)?, self.whole(part)?);
        let first = self.scale(first, i64::from(parts))?;
        let element = self.add(first, of_part)?;
        let thread = self.at_element(fragment, fragment.thread, element)?;
        let thread_of_first = self.at_element(fragment, fragment.thread, first)?;
        let copy = fragment.copy;
        let own = [Threads { map: thread, copy }, Threads { map: thread_of_first, copy }];
        if !self.contains(own[0], own[1])? || !self.contains(own[1], own[0])? {
            return Ok(false);
        }
        let index = self.at_element(fragment, fragment.index, element)?;
        let index_of_first = self.at_element(fragment, fragment.index, first)?;
        let in_a_row = self.add(index_of_first, of_part)?;
        let (_, off) = self.div_rem(index_of_first, i64::from(parts))?;
        let zero = IndexForm::constant(0);
        Ok(self.equal(index, in_a_row)? && self.equal(off, zero)?)
    }

    /// What a map of a fragment is at its `element`th element, row-major.
    fn at_element(
        &mut self,
        fragment: &FragmentForm,
        map: IndexForm,
        element: IndexForm,
    ) -> FormResult<IndexForm> {
        let mut digits = VarForms::new();
        let mut rest = element;
        for id in fragment.vars.iter().rev() {
            let extent = i64::from(self.extent(id)?);
            let (above, digit) = self.div_rem(rest, extent)?;
            rest = above;
            digits.push((id, digit)).map_err(|_| too_many())?;
        }
        self.substitute(map, &digits)
    }
}

/// Puts an entry where it stood.
fn put_back(digits: &mut OpenDigits, at: usize, own: BaseDigit) {
    let mut carried = own;
    for digit in digits.iter_mut().skip(at) {
        core::mem::swap(digit, &mut carried);
    }
    // There is room: it was taken out of here.
    let _ = digits.push(carried);
}
