//! What a run found, and how it is printed.

use crate::suites::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// Counts by reason.
type Reasons = BTreeMap<&'static str, usize>;

/// The verdicts of one file.
#[derive(Default)]
pub struct Row {
    /// Where the file lies, relative to the directory of the run.
    pub path: PathBuf,
    /// The suite that knows it; `None`: no schema fits.
    pub suite: Option<&'static str>,
    /// Records read.
    pub cases: usize,
    /// The same answer.
    pub agree: usize,
    /// Refusals that a rule demands.
    pub refused: Reasons,
    /// Answers that a rule upholds against the peer's.
    pub ruled: Reasons,
    /// Records that a rule excuses from comparison.
    pub skipped: Reasons,
    /// Records that nothing excuses.
    pub unexplained: Reasons,
    /// Differences: the record's id, and what differs.
    pub differ: Vec<(String, String)>,
    /// Why the file or a line of it cannot be read.
    pub faults: Vec<String>,
}

impl Row {
    /// Counts one verdict.
    pub fn note(&mut self, id: &str, verdict: Verdict) {
        self.cases += 1;
        match verdict {
            Verdict::Agree => self.agree += 1,
            Verdict::Refused(why) => *self.refused.entry(why).or_default() += 1,
            Verdict::Ruled(why) => *self.ruled.entry(why).or_default() += 1,
            Verdict::Skipped(why) => *self.skipped.entry(why).or_default() += 1,
            Verdict::Unexplained(why) => *self.unexplained.entry(why).or_default() += 1,
            Verdict::Differ(what) => self.differ.push((id.to_owned(), what)),
        }
    }

    fn passed(&self) -> bool {
        self.differ.is_empty() && self.unexplained.is_empty() && self.faults.is_empty()
    }
}

/// All rows of a run.
#[derive(Default)]
pub struct Report {
    /// One a file, in the order of their paths.
    pub rows: Vec<Row>,
}

impl Report {
    /// Whether there is no difference, no unexplained skip and nothing unreadable, and at least one
    /// case was compared.
    pub fn passed(&self) -> bool {
        self.rows.iter().all(Row::passed) && self.rows.iter().any(|r| r.cases > 0)
    }

    /// The table, the reasons, and the first `most` differences of each file.
    pub fn render(&self, most: usize) -> String {
        let mut out = String::new();
        self.table(&mut out);
        for row in &self.rows {
            details(row, most, &mut out);
        }
        for row in self.rows.iter().filter(|r| r.suite.is_none() && r.faults.is_empty()) {
            let _ = writeln!(out, "unknown schema, not compared: {}", row.path.display());
        }
        let verdict = if self.passed() { "passed" } else { "FAILED" };
        let _ = writeln!(out, "{verdict}");
        out
    }

    fn table(&self, out: &mut String) {
        let heads =
            ["file", "cases", "agree", "ruled", "refused", "skipped", "differ", "unexplained"];
        let _ = write!(out, "{:<40}", heads[0]);
        for head in &heads[1..] {
            let _ = write!(out, "{head:>12}");
        }
        out.push('\n');
        let mut total = [0; 7];
        for row in self.rows.iter().filter(|r| r.suite.is_some()) {
            let sum = |reasons: &Reasons| reasons.values().sum::<usize>();
            let counts = [
                row.cases,
                row.agree,
                sum(&row.ruled),
                sum(&row.refused),
                sum(&row.skipped),
                row.differ.len(),
                sum(&row.unexplained),
            ];
            line(out, &row.path.display().to_string(), &counts);
            for (t, c) in total.iter_mut().zip(counts) {
                *t += c;
            }
        }
        line(out, "total", &total);
    }
}

fn line(out: &mut String, name: &str, counts: &[usize]) {
    let _ = write!(out, "{name:<40}");
    for count in counts {
        let _ = write!(out, "{count:>12}");
    }
    out.push('\n');
}

fn details(row: &Row, most: usize, out: &mut String) {
    let kinds = [
        ("ruled", &row.ruled),
        ("refused", &row.refused),
        ("skipped", &row.skipped),
        ("UNEXPLAINED", &row.unexplained),
    ];
    let quiet = kinds.iter().all(|k| k.1.is_empty());
    if quiet && row.differ.is_empty() && row.faults.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", row.path.display());
    for (kind, reasons) in kinds {
        for (why, count) in reasons {
            let _ = writeln!(out, "  {kind:<12}{count:>5}  {why}");
        }
    }
    for fault in &row.faults {
        let _ = writeln!(out, "  UNREADABLE  {fault}");
    }
    for (id, what) in row.differ.iter().take(most) {
        let _ = writeln!(out, "  DIFFER {id}: {what}");
    }
    if row.differ.len() > most {
        let _ = writeln!(out, "  ... and {} more differences", row.differ.len() - most);
    }
}
