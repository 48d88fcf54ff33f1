//! Descriptors as bit fields: shared-memory matrix and instruction descriptors.

use super::{NO_FORM, Verdict};
use serde_json::Value;

/// Not in the tables yet.
pub fn judge(_: &Value) -> Verdict {
    Verdict::Skipped(NO_FORM)
}
