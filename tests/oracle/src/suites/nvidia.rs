//! NVIDIA instruction layouts and descriptors. Not built yet: its files fail the run.

use super::{Case, Suite, Verdict, has_any};
use serde_json::Value;

/// The suite.
pub struct Nvidia;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["id", "arch", "atom", "operand", "map"],
    &["id", "arch", "case", "fields"],
    &["id", "case", "params", "offsets", "out"],
    &["id", "arch", "case", "box", "map"],
];

impl Suite for Nvidia {
    fn name(&self) -> &'static str {
        "nvidia"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, _case: &Case<'_>) -> Verdict {
        Verdict::Unexplained("suite not built yet")
    }
}
