//! Triton: encodings, refusals, the algebra of linear layouts, byte addresses and conversions.
//!
//! Rules, each a reason that the report prints:
//! - linear forms are compared as maps with the same dimensions; where an answer is a free choice
//!   (pseudo-inverse, a composition with the inverse of a map that is not injective) the defining
//!   identity is checked on every basis;
//! - what Triton refuses must be refused here, with the error that stands for Triton's reason,
//!   except an instruction N that is no power of two: the hardware has it, so its strided layout is
//!   checked against the fragment's formula;
//! - a conversion's class is compared: where the two layouts do not decide it, by the peer's own
//!   rule of cost on this library's counts.

mod addresses;
mod algebra;
mod conflicts;
mod conversions;
mod encodings;
mod read;

use super::{Case, Suite, Verdict, has_any};
use serde_json::Value;

/// The suite.
pub struct Triton;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["id", "encoding", "shape", "linear"],
    &["id", "scales_of", "shape", "run", "linear"],
    &["id", "encoding", "shape", "byte_address_row_major"],
    &["id", "encoding", "shape", "reason", "how"],
    &["id", "op", "args", "result"],
    &["id", "src", "dst", "shape", "ops", "class"],
];

/// What a judge gives: a verdict, or why the record cannot be read or the library's answer is
/// wrong.
type Judged = Result<Verdict, String>;

impl Suite for Triton {
    fn name(&self) -> &'static str {
        "triton"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        let record = case.record;
        let has = |key: &str| record.get(key).is_some();
        let judged = if has("scales_of") {
            encodings::scales(record)
        } else if has("linear") {
            encodings::accepted(record)
        } else if has("byte_address_row_major") {
            addresses::judge(record)
        } else if has("reason") {
            encodings::refused(record)
        } else if has("op") {
            algebra::judge(record)
        } else {
            conversions::judge(record)
        };
        judged.unwrap_or_else(Verdict::Differ)
    }
}
