//! How attempts of layout inference are compared.

/// A term of an attempt's cost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CostTerm {
    /// Bits of fragments whose register depends on the thread.
    Spilled,
    /// Registers of 32 bits a thread.
    Registers,
    /// Iterations that a thread executes.
    Iterations,
    /// Of each access of the first wave, the greater of its sectors of global memory and its
    /// instructions, each times its price; one in shared memory its instructions.
    Traffic,
}

/// A term with its weight.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CostPart {
    /// What counts.
    pub term: CostTerm,
    /// How much.
    pub weight: u32,
}

/// A way to compare attempts (`inference` in `rules/cost.ron`): by numbers, the first that differs
/// decides.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::tables::{CostPart, CostPolicy, CostTerm};
///
/// let policy: &CostPolicy = TABLES.policy_named("io_aware").unwrap();
/// let first: &[CostPart] = policy.keys[0];
/// assert!(policy.counts(first[0].term));
/// assert!(TABLES.policies.iter().any(|policy| policy.counts(CostTerm::Registers)));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct CostPolicy<'a> {
    /// Its name.
    pub name: &'a str,
    /// The price of a sector of global memory, in [`CostTerm::Traffic`].
    pub sector: u32,
    /// The price of an instruction of a wave there.
    pub access: u32,
    /// The numbers: each a sum of terms.
    pub keys: &'a [&'a [CostPart]],
}

impl CostPolicy<'_> {
    /// Whether any number has this term.
    #[must_use]
    pub fn counts(&self, term: CostTerm) -> bool {
        self.keys.iter().copied().flatten().any(|part| part.term == term)
    }
}
