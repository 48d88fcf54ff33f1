//! TIRx: layouts recorded from Apache TVM.
//!
//! Answers are compared as functions with their copies as a multiset ([`model`]), structural
//! operations iter by iter. Where TIRx and lanebook differ, the law of the operation decides,
//! evaluated by [`model`] and by neither of them: an answer that breaks the law is TIRx's fault
//! (`ruled`), one that keeps it while lanebook's does not is a difference.

mod constructors;
mod factors;
mod forms;
mod law;
mod model;
mod rewrites;
mod slices;
mod swizzles;
mod tally;
mod text;

use super::{Case, Suite, Verdict, has_any};
use lanebook_layout::tirx::{self, AxisKind, AxisKinds};
use lanebook_layout::{AxisNames, WellKnown};
use serde_json::Value;

/// The suite.
pub struct Tirx;

/// Keys that all records of one schema have, a row a schema.
const SHAPES: &[&[&str]] = &[
    &["id", "op", "layout"],
    &["id", "op", "apply", "atom_len"],
    &["id", "op", "apply", "axis", "construct"],
    &["id", "op", "outer", "inner", "tile"],
    &["id", "axis", "is_thread", "is_memory", "scope"],
];

impl Suite for Tirx {
    fn name(&self) -> &'static str {
        "tirx"
    }

    fn knows(&self, _stem: &str, record: &Value) -> bool {
        has_any(record, SHAPES)
    }

    fn judge(&self, case: &Case<'_>) -> Verdict {
        let record = case.record;
        let op = record.get("op").and_then(Value::as_str).unwrap_or("axis");
        let judged = match op {
            "apply" => forms::apply(record),
            "canonicalize" => rewrites::canonicalize(record),
            "spec" => text::spec(record),
            "tile" => factors::tile(record),
            "slice" => slices::slice(record),
            "swizzle" => swizzles::bare(record),
            "compose" => swizzles::composed(record),
            "compose_axis" => swizzles::axis(record),
            "tmem_datapath_layout" => constructors::datapath(record),
            "tcgen05_atom_layout" => constructors::atom(record),
            "wg_local_layout" => constructors::wg_local(record),
            "tmem_mma_operand_layout" => constructors::operand(record),
            "axis" => axis(record),
            _ => return Verdict::Unexplained("an operation that the suite does not know"),
        };
        judged.unwrap_or_else(|what| Verdict::Differ(format!("unreadable record: {what}")))
    }
}

/// The value behind `{"ok": value}`; `None` for an error.
fn answer(v: &Value) -> Option<&Value> {
    v.get("ok")
}

fn axis(record: &Value) -> Result<Verdict, String> {
    let text = |key: &str| {
        let name = answer(&record[key]).and_then(Value::as_str);
        name.map(str::to_owned)
    };
    let name = record["axis"].as_str().ok_or("axis")?;
    let kind = WellKnown.axis(name).and_then(|a| WellKnown.kind(a));
    let Some(kind) = kind else {
        let refused = record["is_thread"].get("err").is_some();
        return Ok(if refused {
            Verdict::Refused("an axis without a kind")
        } else {
            Verdict::Differ(format!("{name} is unknown"))
        });
    };
    let found = match kind {
        AxisKind::Memory => (false, None, None),
        AxisKind::Thread { scope, subscope } => (true, Some(scope), Some(subscope)),
    };
    let named = |s: Option<tirx::Scope>| s.map(|s| s.name().to_owned());
    let same = record["is_thread"] == Value::Bool(found.0)
        && answer(&record["is_memory"]) == Some(&Value::Bool(!found.0))
        && text("scope") == named(found.1)
        && text("subscope") == named(found.2);
    Ok(if same { Verdict::Agree } else { Verdict::Differ(format!("{name}: {kind:?}")) })
}
