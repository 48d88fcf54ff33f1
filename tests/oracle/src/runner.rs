//! Finding the files, and putting each record before the suite that knows it.

use crate::report::{Report, Row};
use crate::suites::{Case, Suite, Verdict};
use serde_json::Value;
use std::any::Any;
use std::path::{Path, PathBuf};

/// Judges every record of every `.jsonl` under `dir` (or of `dir` itself, if it is a file).
pub fn run(dir: &Path, suites: &[&dyn Suite]) -> Report {
    let mut report = Report::default();
    let mut files = Vec::new();
    if let Err(e) = collect(dir, &mut files) {
        report.rows.push(Row { path: dir.to_owned(), faults: vec![e], ..Row::default() });
    }
    files.sort();
    for path in files {
        let mut row =
            Row { path: path.strip_prefix(dir).unwrap_or(&path).to_owned(), ..Row::default() };
        if row.path.as_os_str().is_empty() {
            row.path.clone_from(&path);
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => judge_file(&path, &text, suites, &mut row),
            Err(e) => row.faults.push(e.to_string()),
        }
        report.rows.push(row);
    }
    report
}

fn collect(at: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let fault = |e: std::io::Error| format!("{}: {e}", at.display());
    if at.is_file() {
        files.push(at.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(at).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "jsonl") {
            files.push(path);
        }
    }
    Ok(())
}

fn judge_file(path: &Path, text: &str, suites: &[&dyn Suite], row: &mut Row) {
    let stem = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
    let mut records = Vec::new();
    for (k, line) in text.lines().enumerate().filter(|l| !l.1.trim().is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(record) => records.push(record),
            Err(e) => row.faults.push(format!("line {}: {e}", k + 1)),
        }
    }
    let Some(home) = records.iter().find_map(|r| suite_of(path, &stem, r, suites)) else {
        return;
    };
    row.suite = Some(home.name());
    for (k, record) in records.iter().enumerate() {
        // Records of several schemas may share a file; the first known record's suite goes first.
        let suite = if home.knows(&stem, record) {
            Some(home)
        } else {
            suite_of(path, &stem, record, suites)
        };
        let case = Case { stem: &stem, file: &records, record };
        let verdict = match suite {
            Some(s) => judge(s, &case),
            None => Verdict::Unexplained("a record of no known schema"),
        };
        let id = record.get("id").and_then(Value::as_str);
        row.note(&id.map_or_else(|| format!("record {}", k + 1), str::to_owned), verdict);
    }
}

/// The suite for a record: one whose folder the file lies in, if it knows the shape; else any that
/// does.
fn suite_of<'s>(
    path: &Path,
    stem: &str,
    record: &Value,
    suites: &[&'s dyn Suite],
) -> Option<&'s dyn Suite> {
    let lies_in = |s: &dyn Suite| path.components().any(|c| c.as_os_str() == s.name());
    let near = suites.iter().filter(|s| lies_in(**s));
    let knows = |s: &&&dyn Suite| s.knows(stem, record);
    near.clone().find(knows).or_else(|| suites.iter().find(knows)).copied()
}

/// The verdict; a panic is a difference.
fn judge(suite: &dyn Suite, case: &Case<'_>) -> Verdict {
    let guarded = std::panic::AssertUnwindSafe(|| suite.judge(case));
    std::panic::catch_unwind(guarded).unwrap_or_else(|why| {
        let text = message(why.as_ref());
        Verdict::Differ(format!("panicked: {text}"))
    })
}

fn message(why: &(dyn Any + Send)) -> String {
    let plain = why.downcast_ref::<&str>().map(|s| (*s).to_owned());
    plain.or_else(|| why.downcast_ref::<String>().cloned()).unwrap_or_default()
}
