//! AMD matrix and LDS layouts. Not built yet: its files fail the run.

use super::{Case, Suite, Verdict, has_any};
use serde_json::Value;

/// The suite.
pub struct Amd;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["inst", "gfx", "matrix", "map"],
    &["inst", "gfx", "map", "wave"],
    &["inst", "gfx", "asm"],
    &["op", "gfx", "banks", "groups"],
    &["asm", "accepts"],
    &["kind"],
];

impl Suite for Amd {
    fn name(&self) -> &'static str {
        "amd"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, _case: &Case<'_>) -> Verdict {
        Verdict::Unexplained("suite not built yet")
    }
}
