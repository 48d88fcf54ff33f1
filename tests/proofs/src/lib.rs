//! Proofs of rewrite rules.
//!
//! A rule is *right* if, for all values of its slots (constants of the pattern included) that
//! satisfy its conditions and give every word of its left side a value, every word of its right
//! side has a value and both sides are equal, modulo 2^32 or 2^64. Instructions stand for what
//! their `means` says.
//!
//! [`prove`] tries, in this order: a truth table of one bit ([`Method::Bits`]), basis vectors
//! ([`Method::Basis`]), equality of polynomials ([`Method::Polynomial`]), and the SMT solver z3
//! ([`Method::Z3`]), which also finds the counter-example of a wrong rule. Conditions that say
//! nothing about values (`uniform`, `single_use`, `not_const`) are dropped.
//!
//! A missing solver is an error, never a skip.
#![forbid(unsafe_code)]

pub mod basis;
pub mod bits;
pub mod formula;
pub mod polynomial;
pub mod project;
pub mod smt;

use formula::Formula;
use lanebook_gen::model::HwModel;
use lanebook_gen::rules::{CompiledRule, Method};
use std::fmt;

/// Why there is no proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Values of the slots for which the sides differ, as the solver gave them.
    Counterexample(Vec<(String, u64)>),
    /// The solver gave up.
    Unknown(String),
    /// The solver could not be run.
    NoSolver(String),
    /// The rule has no formula (a tile rule, an atom without a meaning).
    NoFormula(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Counterexample(values) => {
                f.write_str("the sides differ for")?;
                values.iter().try_for_each(|(name, value)| write!(f, " {name} = {value:#x}"))
            }
            Refusal::Unknown(text) => write!(f, "the solver gave up: {text}"),
            Refusal::NoSolver(text) => {
                write!(f, "cannot run z3: {text}; install it (apt-get install z3)")
            }
            Refusal::NoFormula(text) => write!(f, "nothing to prove: {text}"),
        }
    }
}

/// Proves a rule.
///
/// # Errors
/// The rule is wrong, or there is no proof.
pub fn prove(rule: &CompiledRule, hw: &HwModel) -> Result<Method, Refusal> {
    let formula = Formula::of(rule, hw)?;
    if bits::proves(&formula) {
        return Ok(Method::Bits);
    }
    if basis::proves(&formula) {
        return Ok(Method::Basis);
    }
    if polynomial::proves(&formula) {
        return Ok(Method::Polynomial);
    }
    smt::prove(&formula).map(|()| Method::Z3)
}
