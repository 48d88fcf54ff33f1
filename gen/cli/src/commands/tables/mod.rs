//! Commands that write what lies beside tables and rules: the ledger of numbers, the log of proofs, a
//! new architecture's file.
pub mod ids;
pub mod new_arch;
pub mod prove;
