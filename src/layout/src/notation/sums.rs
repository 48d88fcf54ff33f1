//! Sums of run-time numbers, `M * 4 + 1`.
//!
//! A number is a product. A sum that is none stands as a symbol of its own, whose name is the sum:
//! equal sums are equal numbers, and nothing else is known of them but that they are 1 at least.

use super::cursor::{Cursor, Parsed};
use super::{Expected, write};
use crate::error::{Error, Limit};
use crate::num::{Int, SymNames};
use crate::order::sort_by;
use core::fmt::Write;

/// Most products of a sum.
const MAX_TERMS: usize = 8;
/// Bytes of its name; those of [`crate::SymTable`].
const MAX_NAME: usize = 23;

/// What stands between the products of a sum in a symbol's name.
const PLUS: &str = "+";
const FULL: Expected =
    Expected::Fits(Error::Capacity { limit: Limit::Symbols, max: MAX_NAME as u32 });

type SumTerms = heapless::Vec<Int, MAX_TERMS>;

impl Cursor<'_> {
    /// A number or a sum of numbers.
    pub(super) fn total(&mut self, syms: &mut impl SymNames, missing: Expected) -> Parsed<Int> {
        let at = self.mark();
        let mut terms = SumTerms::new();
        let mut next = self.number(syms, missing)?;
        while self.eat(b'+') {
            self.collect(at, &mut terms, next)?;
            next = self.number(syms, Expected::Number)?;
        }
        self.collect(at, &mut terms, next)?;
        self.summed(at, &mut terms, syms)
    }

    /// A sum of products without parentheses, up to the one that closes it.
    pub(super) fn inside(&mut self, syms: &mut impl SymNames) -> Parsed<Int> {
        let at = self.mark();
        let mut terms = SumTerms::new();
        let mut next = self.product(syms, Expected::Number)?;
        while self.eat(b'+') {
            self.collect(at, &mut terms, next)?;
            next = self.product(syms, Expected::Number)?;
        }
        self.collect(at, &mut terms, next)?;
        self.need(b')', Expected::CloseParen)?;
        self.summed(at, &mut terms, syms)
    }

    fn collect(&mut self, at: usize, terms: &mut SumTerms, term: Int) -> Parsed<()> {
        if let Some(known) = terms.iter_mut().find(|known| known.syms() == term.syms()) {
            let sum = known.checked_add(term);
            *known = self.fits(at, sum)?;
            return Ok(());
        }
        terms.push(term).map_err(|_| self.error_at(at, FULL))
    }

    /// The sum: a product if it is one, else the symbol with its name.
    fn summed(&mut self, at: usize, terms: &mut SumTerms, syms: &mut impl SymNames) -> Parsed<Int> {
        terms.retain(|term| *term != Int::ZERO);
        if let [] | [_] = terms.as_slice() {
            return Ok(terms.first().copied().unwrap_or(Int::ZERO));
        }
        // A sum with a difference in it may be nothing, or less.
        if terms.iter().any(|term| term.coeff() < 1 || !term.is_whole()) {
            return Err(self.error_at(at, Expected::PositiveExtent));
        }
        // The plain number stands last; products in the order of their symbols.
        sort_by(terms, |a, b| before(*a, *b));
        let mut name: heapless::String<MAX_NAME> = heapless::String::new();
        for (k, term) in terms.iter().enumerate() {
            let joined = k == 0 || name.write_str(PLUS).is_ok();
            if !joined || write::number(&mut name, *term, syms).is_err() {
                return Err(self.error_at(at, FULL));
            }
        }
        let sym = syms.sym(&name).ok_or_else(|| self.error_at(at, Expected::KnownSymbol))?;
        Ok(Int::sym(sym))
    }
}

fn before(a: Int, b: Int) -> bool {
    match (a.syms().is_none(), b.syms().is_none()) {
        (true, _) => false,
        (false, true) => true,
        _ => a.syms().iter().lt(b.syms().iter()),
    }
}

/// Whether a symbol is a sum, by its name.
pub(super) fn is_sum(name: &str) -> bool {
    name.as_bytes().contains(&b'+')
}
