//! Canonical shared-memory operand layouts: atoms and whole tiles.

use super::{NO_FORM, Verdict};
use serde_json::Value;

/// Not in the tables yet.
pub fn judge(_: &Value) -> Verdict {
    Verdict::Skipped(NO_FORM)
}
