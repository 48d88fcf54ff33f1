//! Tensor memory: `tcgen05.ld` / `st` / `cp`, accumulator layouts, scale factors in tensor memory.

use super::{NO_FORM, Verdict};
use serde_json::Value;

/// Not in the tables yet.
pub fn judge(_: &Value) -> Verdict {
    Verdict::Skipped(NO_FORM)
}
