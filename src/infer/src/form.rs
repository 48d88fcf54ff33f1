//! Arithmetic of index maps: sums, products with numbers, quotients, remainders, and bits.
//!
//! A division splits digits where the divisor falls between two of them: `(16 * i + j) / 4` is
//! `4 * i + j / 4`. Where it falls inside a sum that no split serves, `(14 * i + j) / 4`, the sum
//! is kept as a base of its own and digits of that are taken. So every map has a form; nothing is
//! searched for.

use crate::arena::{
    Arena, Atom, Base, BaseId, Form, MAX_TERMS, Op, Term, Terms, floor_div, too_many,
};
use crate::error::{Error, Result};
use crate::pool::{sort_by_key, take_out};

/// `a / b`, rounded up, of positive numbers.
pub(crate) fn ceil_div(a: u32, b: u32) -> u32 {
    a.div_ceil(b.max(1))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        let r = a.checked_rem(b).unwrap_or(0);
        a = b;
        b = r;
    }
    a
}

impl Arena<'_> {
    /// The base itself as a map.
    pub fn whole(&mut self, base: BaseId) -> Result<Form> {
        let extent = self.extent(base)?;
        self.digit(Atom { base, unit: 1, extent })
    }

    /// A digit as a map.
    pub fn digit(&mut self, atom: Atom) -> Result<Form> {
        let mut terms = Terms::new();
        let _ = terms.push(Term { stride: 1, atom });
        self.finish(terms, 0)
    }

    /// The sum of two maps.
    pub fn add(&mut self, a: Form, b: Form) -> Result<Form> {
        self.add_scaled(a, b, 1)
    }

    /// `a + k * b`.
    pub fn add_scaled(&mut self, a: Form, b: Form, k: i64) -> Result<Form> {
        let constant = b
            .constant
            .checked_mul(k)
            .and_then(|c| c.checked_add(a.constant))
            .ok_or(Error::Overflow)?;
        if b.is_constant() || k == 0 {
            return Ok(Form { constant, ..a });
        }
        let mut terms = self.load(a)?;
        for t in self.terms_of(b) {
            let stride = t.stride.checked_mul(k).ok_or(Error::Overflow)?;
            terms.push(Term { stride, ..*t }).map_err(|_| too_many())?;
        }
        self.finish(terms, constant)
    }

    /// `k * a`.
    pub fn scale(&mut self, a: Form, k: i64) -> Result<Form> {
        if k == 1 {
            return Ok(a);
        }
        self.add_scaled(Form::constant(0), a, k)
    }

    /// The least and the greatest value that the map may have, exact where its digits are
    /// independent.
    pub fn range(&self, form: Form) -> Result<(i64, i64)> {
        self.range_of(self.terms_of(form), form.constant)
    }

    pub(crate) fn range_of(&self, terms: &[Term], constant: i64) -> Result<(i64, i64)> {
        let (mut low, mut high) = (constant, constant);
        for t in terms {
            let base = self.base(t.atom.base)?;
            let least = if t.atom.unit == 1 && t.atom.extent >= base.extent() {
                i64::from(base.min())
            } else {
                0
            };
            let last = i64::from(t.atom.extent.saturating_sub(1));
            let a = t.stride.checked_mul(least).ok_or(Error::Overflow)?;
            let b = t.stride.checked_mul(last).ok_or(Error::Overflow)?;
            low = low.checked_add(a.min(b)).ok_or(Error::Overflow)?;
            high = high.checked_add(a.max(b)).ok_or(Error::Overflow)?;
        }
        Ok((low, high))
    }

    /// Whether the digit reaches the top of its base, so that it is a quotient alone.
    pub(crate) fn is_top(&self, atom: Atom) -> Result<bool> {
        let all = u64::from(atom.unit).saturating_mul(u64::from(atom.extent));
        Ok(all >= u64::from(self.extent(atom.base)?))
    }

    /// Brings terms to canonical form and stores them.
    pub(crate) fn finish(&mut self, mut terms: Terms, constant: i64) -> Result<Form> {
        self.canonical(&mut terms)?;
        self.store(&terms, constant)
    }

    pub(crate) fn canonical(&self, terms: &mut Terms) -> Result<()> {
        for t in terms.iter_mut() {
            let whole = self.extent(t.atom.base)?;
            t.atom.extent = t.atom.extent.min(ceil_div(whole, t.atom.unit));
        }
        terms.retain(|t| t.stride != 0 && t.atom.extent > 1);
        sort(terms);
        self.disjoin(terms)?;
        terms.retain(|t| t.stride != 0);
        self.join(terms)
    }

    /// Splits digits of one base that overlap, and adds those that are the same.
    fn disjoin(&self, terms: &mut Terms) -> Result<()> {
        let mut k = 0;
        while let (Some(a), Some(b)) = (terms.get(k), terms.get(k.saturating_add(1))) {
            let (a, b) = (*a, *b);
            let end = u64::from(a.atom.unit).saturating_mul(u64::from(a.atom.extent));
            let apart = a.atom.base != b.atom.base || u64::from(b.atom.unit) >= end;
            let next = k.saturating_add(1);
            if apart {
                k = next;
                continue;
            }
            if a.atom == b.atom {
                let stride = a.stride.checked_add(b.stride).ok_or(Error::Overflow)?;
                if let Some(t) = terms.get_mut(k) {
                    t.stride = stride;
                }
                take_out(terms, next);
                continue;
            }
            // The lower begins first, or both begin together and the first is the shorter.
            let (at, cut) = if a.atom.unit == b.atom.unit {
                (next, a.atom.extent)
            } else {
                let fits = b.atom.unit.checked_rem(a.atom.unit) == Some(0);
                (k, if fits { b.atom.unit.checked_div(a.atom.unit).unwrap_or(0) } else { 0 })
            };
            let whole = if at == k { a } else { b };
            match self.split(whole, cut)? {
                Some((low, high)) => {
                    if let Some(t) = terms.get_mut(at) {
                        *t = low;
                    }
                    terms.push(high).map_err(|_| too_many())?;
                    sort(terms);
                }
                None => k = next,
            }
        }
        Ok(())
    }

    /// A term as that of its lower `cut` values and the rest, if the digit splits there.
    fn split(&self, t: Term, cut: u32) -> Result<Option<(Term, Term)>> {
        let Atom { base, unit, extent } = t.atom;
        if cut <= 1 || cut >= extent {
            return Ok(None);
        }
        let even = extent.checked_rem(cut) == Some(0);
        if !even && !self.is_top(t.atom)? {
            return Ok(None);
        }
        let stride = t.stride.checked_mul(i64::from(cut)).ok_or(Error::Overflow)?;
        let above = unit.checked_mul(cut).ok_or(Error::Overflow)?;
        let low = Term { stride: t.stride, atom: Atom { base, unit, extent: cut } };
        let high = Atom { base, unit: above, extent: ceil_div(extent, cut) };
        Ok(Some((low, Term { stride, atom: high })))
    }

    /// Joins neighbouring digits whose strides continue each other.
    fn join(&self, terms: &mut Terms) -> Result<()> {
        let mut k = 0;
        while let (Some(a), Some(b)) = (terms.get(k), terms.get(k.saturating_add(1))) {
            let (a, b) = (*a, *b);
            let next = k.saturating_add(1);
            let reach = a.atom.unit.checked_mul(a.atom.extent);
            let on = a.stride.checked_mul(i64::from(a.atom.extent)) == Some(b.stride);
            if a.atom.base == b.atom.base && reach == Some(b.atom.unit) && on {
                let whole = self.extent(a.atom.base)?;
                let both = a.atom.extent.checked_mul(b.atom.extent).ok_or(Error::Overflow)?;
                if let Some(t) = terms.get_mut(k) {
                    t.atom.extent = both.min(ceil_div(whole, a.atom.unit));
                }
                take_out(terms, next);
            } else {
                k = next;
            }
        }
        Ok(())
    }

    /// Quotient and remainder by a positive number, toward minus infinity.
    ///
    /// # Errors
    /// [`Error::Divisor`]; [`Error::Full`], [`Error::Overflow`].
    pub fn div_rem(&mut self, form: Form, d: i64) -> Result<(Form, Form)> {
        if d <= 0 {
            return Err(Error::Divisor { found: d });
        }
        let (mut quotient, mut rest) = (Terms::new(), Terms::new());
        for t in self.load(form)? {
            self.divide_term(t, d, &mut quotient, &mut rest)?;
        }
        let mut q = floor_div(form.constant, d)?;
        let mut c = form.constant.checked_rem_euclid(d).ok_or(Error::Overflow)?;
        self.canonical(&mut rest)?;
        let (low, high) = self.range_of(&rest, c)?;
        let turns = floor_div(low, d)?;
        let shift = turns.checked_mul(d).ok_or(Error::Overflow)?;
        q = q.checked_add(turns).ok_or(Error::Overflow)?;
        c = c.checked_sub(shift).ok_or(Error::Overflow)?;
        if high.checked_sub(shift).ok_or(Error::Overflow)? < d {
            let q = self.finish(quotient, q)?;
            return Ok((q, self.store(&rest, c)?));
        }
        // All strides together divide by `unit`: so does the sum, and the divisor.
        let all = rest.iter().fold(d.unsigned_abs(), |g, t| gcd(g, t.stride.unsigned_abs()));
        let unit = i64::try_from(all).map_err(|_| Error::Overflow)?;
        for t in rest.iter_mut() {
            t.stride = t.stride.checked_div(unit).ok_or(Error::Overflow)?;
        }
        let odd = c.checked_rem_euclid(unit).ok_or(Error::Overflow)?;
        let sum = self.store(&rest, floor_div(c, unit)?)?;
        let by = u32::try_from(floor_div(d, unit)?).map_err(|_| Error::Overflow)?;
        let base = self.sum_base(sum)?;
        let extent = self.extent(base)?;
        let high = Atom { base, unit: by, extent: ceil_div(extent, by) };
        quotient.push(Term { stride: 1, atom: high }).map_err(|_| too_many())?;
        let q = self.finish(quotient, q)?;
        let mut low = Terms::new();
        let _ = low.push(Term { stride: unit, atom: Atom { base, unit: 1, extent: by } });
        Ok((q, self.finish(low, odd)?))
    }

    /// The part of a term that divides, and the part that is left.
    fn divide_term(
        &mut self,
        t: Term,
        d: i64,
        quotient: &mut Terms,
        rest: &mut Terms,
    ) -> Result<()> {
        let whole = |stride: i64| stride.checked_div(d).ok_or(Error::Overflow);
        if t.stride.checked_rem(d) == Some(0) {
            let part = Term { stride: whole(t.stride)?, ..t };
            return quotient.push(part).map_err(|_| too_many());
        }
        let common = gcd(t.stride.unsigned_abs(), d.unsigned_abs());
        let cut = d.unsigned_abs().checked_div(common).unwrap_or(0);
        let cut = u32::try_from(cut).unwrap_or(u32::MAX);
        let mut term = t;
        if cut > 1 && cut < t.atom.extent && self.split(t, cut)?.is_none() {
            // A digit that does not split evenly is a base of its own, which does.
            let alone = self.store(&[Term { stride: 1, ..t }], 0)?;
            let base = self.sum_base(alone)?;
            term = Term { atom: Atom { base, unit: 1, extent: t.atom.extent }, ..t };
        }
        let Some((low, high)) = self.split(term, cut)? else {
            return rest.push(term).map_err(|_| too_many());
        };
        rest.push(low).map_err(|_| too_many())?;
        let part = Term { stride: whole(high.stride)?, ..high };
        quotient.push(part).map_err(|_| too_many())
    }

    /// A sum that is never negative as a base.
    fn sum_base(&mut self, form: Form) -> Result<BaseId> {
        let (low, high) = self.range(form)?;
        let min = u32::try_from(low).map_err(|_| Error::Overflow)?;
        let last = u32::try_from(high).map_err(|_| Error::Overflow)?;
        let extent = last.checked_add(1).ok_or(Error::Overflow)?;
        self.intern(Base::Sum { form, min, extent })
    }

    /// The bits of two maps that only one has: of powers of two whose bits do not meet, as a sum of
    /// parities; of others as a base of its own.
    pub fn xor(&mut self, a: Form, b: Form) -> Result<Form> {
        let (Some(x), Some(y)) = (self.bits(a)?, self.bits(b)?) else {
            return self.derived(Op::Xor, a, b);
        };
        let mut terms = Terms::new();
        let mut constant = 0i64;
        for k in 0..MAX_BITS {
            let (Some(p), Some(q)) = (x.get(k), y.get(k)) else { continue };
            let Some(both) = p.xor(q) else {
                return self.derived(Op::Xor, a, b);
            };
            let weight = 1i64.checked_shl(u32::try_from(k).unwrap_or(0)).ok_or(Error::Overflow)?;
            if both.flip {
                constant = constant.checked_add(weight).ok_or(Error::Overflow)?;
            }
            let atom = match both.atoms.as_slice() {
                [] => continue,
                [one] => *one,
                many => {
                    let mut digits = Terms::new();
                    for atom in many {
                        let t = Term { stride: 1, atom: *atom };
                        digits.push(t).map_err(|_| too_many())?;
                    }
                    sort(&mut digits);
                    let form = self.store(&digits, 0)?;
                    let base = self.intern(Base::Parity { form })?;
                    Atom { base, unit: 1, extent: 2 }
                }
            };
            let stride = if both.flip { weight.saturating_neg() } else { weight };
            terms.push(Term { stride, atom }).map_err(|_| too_many())?;
        }
        self.finish(terms, constant)
    }

    /// Any operation: as a sum of digits where it is one, else as a base of its own.
    pub fn op(&mut self, op: Op, a: Form, b: Form) -> Result<Form> {
        if a.is_constant() && b.is_constant() {
            return Ok(Form::constant(op.apply(a.constant, b.constant)?));
        }
        let (low_a, high_a) = self.range(a)?;
        let (low_b, high_b) = self.range(b)?;
        match op {
            Op::Mul if b.is_constant() => self.scale(a, b.constant),
            Op::Mul if a.is_constant() => self.scale(b, a.constant),
            Op::Div if b.is_constant() && b.constant > 0 => Ok(self.div_rem(a, b.constant)?.0),
            Op::Rem if b.is_constant() && b.constant > 0 => Ok(self.div_rem(a, b.constant)?.1),
            Op::Xor => self.xor(a, b),
            Op::And if b.is_constant() => self.masked(a, b),
            Op::And if a.is_constant() => self.masked(b, a),
            Op::Min if high_a <= low_b => Ok(a),
            Op::Min if high_b <= low_a => Ok(b),
            Op::Max if high_a <= low_b => Ok(b),
            Op::Max if high_b <= low_a => Ok(a),
            Op::Less if high_a < low_b => Ok(Form::constant(1)),
            Op::Less if low_a >= high_b => Ok(Form::constant(0)),
            Op::Equal if high_a < low_b || low_a > high_b => Ok(Form::constant(0)),
            Op::Equal if self.same(a, b) => Ok(Form::constant(1)),
            _ => self.derived(op, a, b),
        }
    }

    /// The bits of `a` that the constant `mask` has.
    fn masked(&mut self, a: Form, mask: Form) -> Result<Form> {
        let Some(bits) = self.bits(a)?.filter(|_| mask.constant >= 0) else {
            return self.derived(Op::And, a, mask);
        };
        let mut out = Form::constant(0);
        let mut k = 0u32;
        for bit in &bits {
            let weight = 1i64.checked_shl(k).ok_or(Error::Overflow)?;
            k = k.saturating_add(1);
            if mask.constant & weight == 0 {
                continue;
            }
            let mut one = Form::constant(i64::from(bit.flip));
            let sign = if bit.flip { -1 } else { 1 };
            match bit.atoms.as_slice() {
                [] => {}
                [atom] => {
                    let digit = self.digit(*atom)?;
                    one = self.add_scaled(one, digit, sign)?;
                }
                _ => return self.derived(Op::And, a, mask),
            }
            out = self.add_scaled(out, one, weight)?;
        }
        Ok(out)
    }

    /// A base for an operation that no sum of digits says.
    fn derived(&mut self, op: Op, a: Form, b: Form) -> Result<Form> {
        let (low, high) = bounds(op, self.range(a)?, self.range(b)?)?;
        let count = high.checked_sub(low).and_then(|n| n.checked_add(1)).ok_or(Error::Overflow)?;
        let extent = u32::try_from(count).map_err(|_| Error::Overflow)?;
        let base = self.intern(Base::Op { op, a, b, min: low, extent })?;
        let whole = self.whole(base)?;
        Ok(Form { constant: whole.constant.checked_add(low).ok_or(Error::Overflow)?, ..whole })
    }

    /// The map bit by bit, if its terms are powers of two whose bits do not meet.
    fn bits(&self, form: Form) -> Result<Option<Bits>> {
        let mut out = Bits::new();
        for _ in 0..MAX_BITS {
            let _ = out.push(Bit::default());
        }
        if form.constant < 0 {
            return Ok(None);
        }
        for k in 0..63u32 {
            if (form.constant >> k) & 1 == 1 {
                let Some(bit) = usize::try_from(k).ok().and_then(|k| out.get_mut(k)) else {
                    return Ok(None);
                };
                bit.flip = true;
            }
        }
        for t in self.terms_of(form) {
            if !u64::try_from(t.stride).is_ok_and(u64::is_power_of_two) {
                return Ok(None);
            }
            let top = self.is_top(t.atom)?;
            if !t.atom.extent.is_power_of_two() && !top {
                return Ok(None);
            }
            let count = t.atom.extent.saturating_sub(1).checked_ilog2().unwrap_or(0);
            for k in 0..=count {
                let place = t.stride.trailing_zeros().saturating_add(k);
                let Some(bit) = usize::try_from(place).ok().and_then(|p| out.get_mut(p)) else {
                    return Ok(None);
                };
                if bit.flip || !bit.atoms.is_empty() {
                    return Ok(None);
                }
                let unit = t.atom.unit.checked_shl(k).ok_or(Error::Overflow)?;
                let atom = Atom { base: t.atom.base, unit, extent: 2 };
                if !bit.take(self, atom)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(out))
    }
}

/// Bits of a map that is worked on bit by bit.
const MAX_BITS: usize = 32;

type Bits = heapless::Vec<Bit, MAX_BITS>;

/// A bit: the parity of digits, turned over if `flip`.
#[derive(Clone, Debug, Default)]
struct Bit {
    atoms: heapless::Vec<Atom, 8>,
    flip: bool,
}

impl Bit {
    /// Adds a digit, or those of its parity; false if there are too many.
    fn take(&mut self, arena: &Arena<'_>, atom: Atom) -> Result<bool> {
        let Base::Parity { form } = arena.base(atom.base)? else {
            return Ok(self.toggle(atom));
        };
        Ok(arena.terms_of(form).iter().all(|t| self.toggle(t.atom)))
    }

    fn toggle(&mut self, atom: Atom) -> bool {
        match self.atoms.iter().position(|a| *a == atom) {
            Some(at) => {
                take_out(&mut self.atoms, at);
                true
            }
            None => self.atoms.push(atom).is_ok(),
        }
    }

    fn xor(&self, other: &Self) -> Option<Self> {
        let mut out = Self { atoms: self.atoms.clone(), flip: self.flip != other.flip };
        other.atoms.iter().all(|a| out.toggle(*a)).then_some(out)
    }
}

/// What an operation on numbers of two ranges can give.
fn bounds(op: Op, a: (i64, i64), b: (i64, i64)) -> Result<(i64, i64)> {
    let all = |f: Op| -> Result<(i64, i64)> {
        let mut out = (i64::MAX, i64::MIN);
        for x in [a.0, a.1] {
            for y in [b.0, b.1] {
                let v = f.apply(x, y)?;
                out = (out.0.min(v), out.1.max(v));
            }
        }
        Ok(out)
    };
    match op {
        Op::Mul | Op::Min | Op::Max => all(op),
        Op::Less | Op::Equal => Ok((0, 1)),
        Op::Div => {
            let most = a.0.unsigned_abs().max(a.1.unsigned_abs());
            let most = i64::try_from(most).map_err(|_| Error::Overflow)?;
            Ok((most.saturating_neg().saturating_sub(1), most))
        }
        Op::Rem => {
            let most = b.0.unsigned_abs().max(b.1.unsigned_abs());
            let most = i64::try_from(most).map_err(|_| Error::Overflow)?;
            Ok((if b.0 < 0 { most.saturating_neg() } else { 0 }, most))
        }
        Op::And | Op::Or | Op::Xor => {
            // As many bits as the widest bound has, below 0 only if an operand may be.
            let widest = [a.0, a.1, b.0, b.1].iter().fold(0, |w, x| w | (*x ^ (*x >> 63)));
            let bits = u64::BITS.saturating_sub(widest.leading_zeros());
            let all = 1i64.checked_shl(bits).ok_or(Error::Overflow)?;
            let low = if a.0 < 0 || b.0 < 0 { all.saturating_neg() } else { 0 };
            Ok((low, all.saturating_sub(1)))
        }
    }
}

/// By base, then by unit, then by extent.
pub(crate) fn sort(terms: &mut [Term]) {
    sort_by_key(terms, |t| (t.atom.base, t.atom.unit, t.atom.extent));
}

const _: () = assert!(MAX_TERMS >= MAX_BITS);
