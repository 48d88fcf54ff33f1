//! Files with a part of their own, by their names.

/// The ledger of stable numbers.
pub const LEDGER: &str = "hw-tables/ids.ron";
/// What assemblers have said.
pub const VERDICTS: &str = "hw-tables/verdicts.ron";
/// Certificates of proofs, written by a tool.
pub const PROOFS: &str = "rules/proofs.ron";
