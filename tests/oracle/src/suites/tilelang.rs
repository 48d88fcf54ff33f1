//! TileLang's layout helpers, and its programs.
//!
//! Every answer is compared as a function, at every element and copy: the records' expressions are
//! evaluated here ([`expr`]), lanebook's layouts by lanebook. Layouts that a record gives as
//! expressions are first written as strided ones ([`fit`]); maps that have no strided form are
//! skipped.

mod algebra;
mod bases;
mod expr;
mod fit;
mod makers;
mod model;
mod programs;

use super::{Case, Suite, Verdict, has_any};
use serde_json::Value;

/// The suite.
pub struct TileLang;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[&["id", "call", "ok"], &["id", "program", "result"]];

impl Suite for TileLang {
    fn name(&self) -> &'static str {
        "tilelang"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        if case.record.get("program").is_some() {
            return programs::judge(case);
        }
        let call = case.record["call"].as_str().unwrap_or_default();
        let judged = if call.contains('.') || call == "Fragment" || call == "Layout" {
            algebra::judge(case)
        } else if case.record.get("domain").is_some() {
            makers::index_map(case.record)
        } else {
            makers::judge(case.record)
        };
        judged.unwrap_or_else(|what| Verdict::Differ(format!("unreadable record: {what}")))
    }
}
