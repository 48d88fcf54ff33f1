//! NVIDIA instruction layouts against the atoms of the tables; swizzles against the algebra.
//!
//! An instruction is found by its mnemonic, the record's `ptx`. One file a kind of record:
//! [`matrix`] and [`moves`] for what a warp or warpgroup does with registers, [`tensor`],
//! [`shared`], [`tma`], [`descriptors`] for the asynchronous matrix units, [`swizzle`] for the
//! algebra.

mod descriptors;
mod lanes;
mod matrix;
mod moves;
mod shared;
mod swizzle;
mod tensor;
mod tma;

use super::fragment::{all_instances, instances};
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

const NO_ATOM: &str = "the instruction is not in the tables yet";
const NO_FORM: &str = "descriptors, canonical shared tiles, tensor memory and scale factors are not in the tables yet";

impl Suite for Nvidia {
    fn name(&self) -> &'static str {
        "nvidia"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        let record = case.record;
        let has = |key: &str| record.get(key).is_some();
        if has("params") {
            return swizzle::judge(record).unwrap_or_else(Verdict::Differ);
        }
        if has("fields") {
            return descriptors::judge(record);
        }
        if has("box") {
            return tma::judge(record);
        }
        if has("swizzle") && has("major") {
            return shared::judge(record);
        }
        let atom = record["atom"].as_str().unwrap_or("");
        if atom.starts_with("tcgen05.") {
            return tensor::judge(record);
        }
        let Some(ptx) = record["ptx"].as_str() else {
            return Verdict::Skipped(NO_FORM);
        };
        if record.get("byte_ids").is_some() {
            return matrix::scales(all_instances(), record).unwrap_or_else(Verdict::Differ);
        }
        let found = instances(ptx);
        let Some(first) = found.first() else {
            return Verdict::Skipped(NO_ATOM);
        };
        let judged = if first.atom.matrix.is_some() {
            matrix::judge(found, record)
        } else {
            moves::judge(first.atom, record)
        };
        judged.unwrap_or_else(Verdict::Differ)
    }
}
