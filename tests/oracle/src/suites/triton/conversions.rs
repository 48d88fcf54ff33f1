//! conversions.jsonl: what a change of layout must do, as far as the two layouts decide it.

use super::super::Verdict;
use super::{Judged, read};
use lanebook_layout::triton::exchange::{ExchangeScope, crossings, renames_alike, scope};
use lanebook_layout::triton::to_linear;
use serde_json::Value;

/// One record.
pub fn judge(record: &Value) -> Judged {
    let shape = read::shape(record)?;
    let layout = |key: &str| {
        let encoding = read::encoding(&record[key])?;
        to_linear(&encoding, &shape, &read::tiles(&record[key])?)
            .map_err(|e| format!("{key}: {e:?}"))
    };
    let (from, to) = (layout("src")?, layout("dst")?);
    let needed = scope(&from, &to);
    let class = record["class"].as_str().unwrap_or("");
    match (needed, class) {
        (ExchangeScope::Thread, "shuffle" | "shared") if !renames_alike(&from, &to) => {
            Ok(Verdict::Ruled(
                "no thread lacks data, but which register holds it depends on the thread: a select does it, Triton exchanges",
            ))
        }
        (ExchangeScope::Thread, "register") | (ExchangeScope::Block, "shared") => {
            Ok(Verdict::Agree)
        }
        // Inside a warp it is a choice of cost. The peer's: shuffles if fewer than two bits cross
        // between registers and threads, else shared memory.
        (ExchangeScope::Warp, "shuffle" | "shared")
            if (crossings(&from, &to) < 2) == (class == "shuffle") =>
        {
            Ok(Verdict::Agree)
        }
        _ => Err(format!("needs {needed:?}, the peer uses {class}")),
    }
}
