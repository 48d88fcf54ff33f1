//! Layouts with run-time extents, divided: CuTe DSL's answer was traced once and run for some
//! values of the symbols. lanebook's answer, with these values put in for them, must be the same
//! text.
use super::super::Verdict;
use lanebook_layout::cute::{self, Tiler};
use lanebook_layout::{Error, LayoutRef, SymNames, SymTable, WellKnown, notation};
use serde_json::Value;

/// Whether a record is of this kind.
pub fn knows(r: &Value) -> bool {
    super::has_keys(r, &["id", "op", "layout", "tiler"])
        && (r.get("at").is_some() || r.get("refused").is_some())
}

type Divide = fn(&LayoutRef<'_>, &Tiler<'_>) -> Result<lanebook_layout::Layout, Error>;

pub fn judge(op: &str, r: &Value) -> Verdict {
    let divide: Divide = match op {
        "logical_divide" => cute::logical_divide,
        "zipped_divide" => cute::zipped_divide,
        "tiled_divide" => cute::tiled_divide,
        "flat_divide" => cute::flat_divide,
        _ => return Verdict::Unexplained("an operation that the suite does not know"),
    };
    let text = |key: &str| r.get(key).and_then(Value::as_str).unwrap_or("");
    let mut syms = SymTable::new();
    let Ok(layout) = notation::cute::parse(text("layout"), &WellKnown, &mut syms) else {
        return Verdict::Differ(format!("{} is not read", text("layout")));
    };
    let answer = if text("tiler").contains(':') {
        let Ok(tile) = notation::cute::parse(text("tiler"), &WellKnown, &mut syms) else {
            return Verdict::Differ(format!("{} is not read", text("tiler")));
        };
        divide(&layout.view(), &Tiler::Layout(tile.view()))
    } else {
        let Ok(tile) = notation::cute::parse_tuple(text("tiler"), &mut syms) else {
            return Verdict::Differ(format!("{} is not read", text("tiler")));
        };
        divide(&layout.view(), &Tiler::Shape(tile.view()))
    };
    let answer = match (answer, r.get("at").and_then(Value::as_array)) {
        (Err(_), None) => return Verdict::Refused("both refuse"),
        (Err(error), Some(_)) => return Verdict::Differ(format!("lanebook refuses: {error:?}")),
        (Ok(_), None) => return Verdict::Skipped("the peer was not able to trace it"),
        (Ok(answer), Some(at)) => (answer, at),
    };
    let (answer, at) = answer;
    for one in at {
        let mut put = answer.clone();
        for name in ["M", "K"] {
            let value = one.get(name).and_then(Value::as_i64).unwrap_or(1);
            let with = syms.sym(name).map(|sym| put.substitute(sym, value));
            match with {
                Some(Ok(with)) => put = with,
                other => return Verdict::Differ(format!("{name} = {value}: {other:?}")),
            }
        }
        let mut found = String::new();
        let printed = notation::cute::print(&put.view(), &WellKnown, &syms, &mut found);
        let wanted = one.get("result").and_then(Value::as_str).unwrap_or("");
        if printed.is_err() || found != wanted {
            return Verdict::Differ(format!("{one}: lanebook has {found}"));
        }
    }
    Verdict::Agree
}
