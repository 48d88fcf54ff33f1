//! CuTe: answers of CuTe DSL (`dsl`) and pycute (`pycute`), one record a call.
//!
//! For every record lanebook answers first. An answer is then checked against the operation's
//! *law*, evaluated point by point by code that shares nothing with lanebook ([`mod@reference`]),
//! whatever the peers say; a broken law is a difference. After that it must be the answer of at
//! least one peer: the same text where the operation fixes the text, else the same function on the
//! same modes. Where lanebook refuses, each peer that answers must be shown to be wrong on this
//! very record. The rules that say how, each with its reason, are the constants of [`rules`].

mod basis;
mod boxes;
mod coords;
mod layouts;
mod parse;
mod peers;
mod recast;
mod reference;
mod rules;
mod runtime;
mod swizzle;
mod tiling;

use super::{Case, Suite, Verdict, has_keys};
use serde_json::Value;

/// The suite.
pub struct Cute;

impl Suite for Cute {
    fn name(&self) -> &'static str {
        "cute"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_keys(record, &["id", "op", "in", "dsl", "pycute"]) || runtime::knows(record)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        let r = case.record;
        let op = r.get("op").and_then(Value::as_str).unwrap_or("");
        if runtime::knows(r) {
            return runtime::judge(op, r);
        }
        // Records on numbered axes share operation names with the others; the strides tell them
        // apart.
        let numbered = ["layout", "b", "a"].iter().any(|k| peers::input(r, k).contains('@'));
        match op {
            "make_identity_layout" | "make_layout" | "composition_int_basis" => basis::judge(op, r),
            _ if numbered => basis::judge(op, r),
            "size"
            | "cosize"
            | "rank"
            | "depth"
            | "flatten"
            | "coalesce"
            | "coalesce_profile"
            | "filter"
            | "filter_zeros"
            | "nullspace"
            | "right_inverse"
            | "left_inverse"
            | "complement"
            | "complement_shape"
            | "group_modes"
            | "slice"
            | "slice_and_offset"
            | "dice"
            | "select"
            | "max_common_vector"
            | "max_common_layout"
            | "make_ordered_layout"
            | "make_layout_like"
            | "tile_to_shape"
            | "make_layout_tv" => layouts::judge(op, r),
            "crd2idx"
            | "crd2idx_bad"
            | "crd2idx_oob"
            | "idx2crd"
            | "idx2crd_oob"
            | "crd2crd"
            | "crd2crd_src"
            | "shape_div"
            | "ceil_div"
            | "is_congruent"
            | "is_weakly_congruent" => coords::judge(op, r),
            "recast_layout" | "recast_composed" => recast::judge(r),
            "swizzle_apply" => swizzle::apply(r),
            _ if op.starts_with("composed_") => swizzle::judge(op, r),
            _ if op.starts_with("parse_") => parse::judge(op, r),
            _ if op.starts_with("composition")
                || op.contains("_divide")
                || op.contains("_product") =>
            {
                tiling::judge(op, r)
            }
            _ => Verdict::Unexplained("an operation that the suite does not know"),
        }
    }
}
