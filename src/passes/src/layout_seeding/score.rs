//! The three-term cost of a candidate, and the choice among candidates.
//!
//! A score is the sum of shared-memory transactions, tensor-memory cycles and live registers, each
//! times its weight (`rules/cost.ron`, in quarters: 1, 4 and 0.25 of the TileAS notes are 4, 16 and
//! 1). The lowest wins; of equal scores the one with fewer registers, then the one with fewer
//! transactions, then the one that was listed first.
use lanebook_ir::Op;
use lanebook_tables::{AtomId, Bucket, Family, Space, SubAxis, Weights};
use lanebook_tile::map::SharedLayout;
use lanebook_tile::tiling::Reject;

/// What a candidate costs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct CostTerms {
    /// Shared-memory transactions.
    pub shared: u32,
    /// Tensor-memory cycles; where a table does not say them, columns that a lane takes stand for
    /// them.
    pub tensor: u32,
    /// Live registers of a lane.
    pub registers: u32,
}

impl CostTerms {
    /// Both together: registers are alive one after the other, the larger share counts.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            shared: self.shared.saturating_add(other.shared),
            tensor: self.tensor.saturating_add(other.tensor),
            registers: self.registers.max(other.registers),
        }
    }
    /// The weighted sum in quarters.
    #[must_use]
    pub fn score(self, weights: &Weights) -> u32 {
        let term = |weight: u32, count: u32| weight.saturating_mul(count);
        term(weights.shared_transaction, self.shared)
            .saturating_add(term(weights.tensor_cycle, self.tensor))
            .saturating_add(term(weights.register, self.registers))
    }
    /// What candidates are compared by; smaller is better.
    #[must_use]
    pub fn rank(self, weights: &Weights) -> (u32, u32, u32) {
        (self.score(weights), self.registers, self.shared)
    }
}

/// The number of the best of some candidates; `None` of none.
#[must_use]
pub fn pick(candidates: &[CostTerms], weights: &Weights) -> Option<usize> {
    candidates
        .iter()
        .enumerate()
        .min_by_key(|(number, terms)| (terms.rank(weights), *number))
        .map(|(number, _)| number)
}

/// How a candidate's transactions come about.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct TransactionParts {
    /// Instructions of a warp; of a tile that stays in memory, passes over the banks that it needs
    /// at least.
    pub count: u32,
    /// Transactions of each.
    pub each: u32,
    /// Transactions of each if no two of its slots met in a bank.
    pub least: u32,
}

/// Why a candidate was not taken.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Verdict {
    /// It was taken.
    Taken,
    /// Another one is better.
    Dearer,
    /// The tile does not divide by the atom, or its addresses are not what the atom takes.
    Illegal(Reject),
    /// It joins other memories than the operation.
    Spaces {
        /// From.
        from: Space,
        /// To.
        to: Space,
    },
    /// Its layouts are of another family than the group's.
    Family,
    /// The memory is aligned to less than the table of candidates asks for.
    Alignment {
        /// What it asks for, in bytes.
        need: u32,
        /// What is certain, in bytes.
        have: u32,
    },
    /// No descriptor of the architecture can say the tile.
    Descriptor,
    /// The tile would stay in memory, but is read from registers.
    Bound,
}

/// One candidate of one operation, as it was judged.
#[derive(Copy, Clone, Debug)]
pub struct SeedingCandidate {
    /// The operation; the first of its group for a layout that was weighed as a whole.
    pub op: Op,
    /// A layout for the whole group: its figures are those of all its operations at their best.
    pub whole: bool,
    /// The atom; `None`: the tile stays where it is, and a descriptor names it.
    pub atom: Option<AtomId>,
    /// Its memory.
    pub memory: Space,
    /// What its tile is to a product.
    pub axis: SubAxis,
    /// Where the tile goes.
    pub bucket: Bucket,
    /// In what kind of layout.
    pub family: Family,
    /// The layout of the tile in shared memory.
    pub layout: Option<SharedLayout>,
    /// What it costs, where it is legal.
    pub terms: CostTerms,
    /// How its transactions come about; nothing for a layout that was weighed as a whole.
    pub parts: TransactionParts,
    /// What became of it.
    pub verdict: Verdict,
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanebook::TABLES;

    /// The worked example of seed 001, from its own figures.
    #[test]
    fn scores_of_the_seed() {
        let seed = [
            CostTerms { shared: 4, tensor: 0, registers: 32 },
            CostTerms { shared: 2, tensor: 0, registers: 64 },
            CostTerms { shared: 1, tensor: 0, registers: 0 },
        ];
        let weights = &TABLES.weights;
        let scores: std::vec::Vec<u32> =
            seed.iter().map(|terms| terms.score(weights) / 4).collect();
        assert_eq!(scores, [12, 18, 1]);
        assert_eq!(pick(&seed, weights), Some(2), "the tile stays in memory");
        // A consumer that reads registers leaves the first two.
        assert_eq!(pick(&seed[..2], weights), Some(0), "12 against 18: no tie (errata, row 2)");
    }

    #[test]
    fn ties_go_to_fewer_registers_then_fewer_transactions_then_the_first() {
        let weights = &TABLES.weights;
        let of = |shared, registers| CostTerms { shared, tensor: 0, registers };
        assert_eq!(pick(&[of(1, 8), of(2, 4)], weights), Some(1), "12 quarters each");
        assert_eq!(pick(&[of(3, 0), of(3, 0)], weights), Some(0));
        assert_eq!(pick(&[], weights), None);
        // A tensor cycle is worth four transactions.
        assert_eq!(
            pick(&[CostTerms { shared: 0, tensor: 1, registers: 0 }, of(4, 0)], weights),
            Some(0)
        );
        assert_eq!(
            CostTerms { shared: 0, tensor: 1, registers: 0 }.score(weights),
            of(4, 0).score(weights)
        );
    }
}
