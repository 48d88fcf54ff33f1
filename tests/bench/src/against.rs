//! Two commits beside each other: what `--json` wrote of one, and the report of the other.
use crate::budget::{self, Verdict};
use crate::report::Report;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Figures that differ by less than this part are told as equal: times of shared cores vary.
const SAME: f64 = 0.05;

/// Where and of what a report was made.
fn made() -> Value {
    let git = |args: &[&str]| {
        let done =
            Command::new("git").args(args).output().ok().filter(|done| done.status.success());
        done.map(|done| String::from_utf8_lossy(&done.stdout).trim().to_string())
    };
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    json!({
        "commit": git(&["rev-parse", "HEAD"]),
        "changed": git(&["status", "--porcelain"]).map(|lines| !lines.is_empty()),
        "unix_seconds": SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()),
        "machine": { "model": model.map(|(_, name)| name), "cores": cores },
        "optimised": !cfg!(debug_assertions),
    })
}

/// A report as JSON: of which commit, when and where it was made, its rows, and the budgets with
/// the worst row of each.
#[must_use]
pub fn document(report: &Report) -> String {
    let rows = report.rows.iter().map(|row| {
        let held = row.reference.as_ref();
        json!({
            "section": row.section, "what": row.what, "value": row.value, "unit": row.unit,
            "reference": held.map(|(value, _)| value), "whose": held.map(|(_, whose)| whose),
            "ratio": row.ratio().filter(|ratio| ratio.is_finite()),
        })
    });
    let budgets = budget::verdicts(report);
    let budgets = budgets.iter().map(|verdict| {
        let Verdict { budget, worst, met, of } = verdict;
        json!({
            "what": budget.what, "most": budget.most, "unit": budget.unit, "is_least": budget.is_least,
            "worst": worst.map(|row| row.value), "of": worst.map(|row| &row.what),
            "ratio": worst.map(|row| row.value / budget.most),
            "rows": of, "rows_met": met, "is_met": of > &0 && met == of, "why": budget.why,
        })
    });
    let document = json!({
        "made": made(),
        "rows": rows.collect::<Vec<_>>(),
        "budgets": budgets.collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

/// The rows of a report beside those of an older one ([`document`]): what is less, more, new and
/// gone.
///
/// # Errors
/// A text that is no such document; the message says why.
pub fn compared(report: &Report, older: &str) -> Result<String, String> {
    let older: Value = serde_json::from_str(older).map_err(|e| format!("not JSON: {e}"))?;
    let rows = older["rows"].as_array().ok_or("no `rows`: write it by `--json`")?;
    let commit = older["made"]["commit"].as_str().unwrap_or("an unknown commit");
    let of = |row: &Value| {
        let text = |name: &str| row[name].as_str().map(str::to_string);
        Some(((text("section")?, text("what")?), row["value"].as_f64()?))
    };
    let mut old: Vec<_> = rows.iter().filter_map(of).collect();
    let (mut out, mut equal) = (format!("Beside {commit}\n"), 0u32);
    for row in &report.rows {
        let key = (row.section.to_string(), row.what.clone());
        let Some(at) = old.iter().position(|(known, _)| *known == key) else {
            let _ = writeln!(out, "  new   {}: {} {}", row.what, row.value, row.unit);
            continue;
        };
        let (_, before) = old.remove(at);
        let times = row.value / before;
        if (times - 1.0).abs() <= SAME || row.value == before {
            equal += 1;
            continue;
        }
        let word = if row.value > before { "more" } else { "less" };
        let _ = writeln!(
            out,
            "  {word}  {}: {before:.2} -> {:.2} {} ({times:.2} x)",
            row.what, row.value, row.unit
        );
    }
    for ((_, what), before) in old {
        let _ = writeln!(out, "  gone  {what}: {before:.2}");
    }
    let _ = writeln!(out, "  {equal} differ by at most {:.0} %", 100.0 * SAME);
    Ok(out)
}
