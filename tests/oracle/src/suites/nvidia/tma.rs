//! TMA boxes in shared memory under each swizzle mode.

use super::{NO_FORM, Verdict};
use serde_json::Value;

/// Not in the tables yet.
pub fn judge(_: &Value) -> Verdict {
    Verdict::Skipped(NO_FORM)
}
