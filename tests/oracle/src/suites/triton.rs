//! Triton: encodings and linear layouts. Not built yet: its files fail the run.

use super::{Case, Suite, Verdict, has_any};
use serde_json::Value;

/// The suite.
pub struct Triton;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["id", "encoding", "shape", "linear"],
    &["id", "encoding", "shape", "byte_address_row_major"],
    &["id", "encoding", "shape", "reason", "how"],
    &["id", "op", "args", "result"],
    &["id", "src", "dst", "shape", "ops", "class"],
];

impl Suite for Triton {
    fn name(&self) -> &'static str {
        "triton"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, _case: &Case<'_>) -> Verdict {
        Verdict::Unexplained("suite not built yet")
    }
}
