//! Findings as text for people and editors, as JSON, as CSV.

use super::{LintFinding, Linted, Severity};
use crate::archs::counted;
use serde_json::{Map, Value, json};
use std::fmt::Write;

impl Linted {
    /// A line for each finding, `FILE:LINE:COLUMN: SEVERITY: OPERATION: WHAT [CHECK]`, with what to do and the query that
    /// shows it below; the counts last.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        for one in &self.findings {
            let _ = writeln!(
                out,
                "{}:{}:{}: {}: {}: {} [{}]",
                self.name,
                one.line,
                one.column,
                one.severity.word(),
                one.op,
                one.what,
                one.check.name()
            );
            if !one.remedy.is_empty() {
                let _ = writeln!(out, "  help: {}", one.remedy);
            }
            if !one.query.is_empty() {
                let _ = writeln!(out, "  ask: {}", one.query);
            }
        }
        let _ = writeln!(
            out,
            "{} of {} for {}: {} wrong, {} costly, {}",
            counted(self.findings.len(), "finding"),
            counted(self.operations, "operation"),
            self.arch,
            self.count(Severity::Wrong),
            self.count(Severity::Costly),
            counted(self.count(Severity::Note), "note")
        );
        out
    }

    /// One object: the program, the architecture, the findings with their numbers.
    #[must_use]
    pub fn json(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(finding).collect();
        json!({
            "program": self.name, "arch": self.arch, "operations": self.operations,
            "wrong": self.count(Severity::Wrong), "costly": self.count(Severity::Costly),
            "notes": self.count(Severity::Note), "findings": findings,
        })
    }

    /// A head and a row for each finding.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = String::from("line,column,severity,check,op,what,remedy,query\n");
        for one in &self.findings {
            let cells = [
                one.line.to_string(),
                one.column.to_string(),
                one.severity.word().into(),
                one.check.name().into(),
                one.op.clone(),
                one.what.clone(),
                one.remedy.clone(),
                one.query.clone(),
            ];
            out.push_str(&crate::table::csv_row(&cells));
        }
        out
    }
}

fn finding(one: &LintFinding) -> Value {
    let figures: Map<String, Value> =
        one.figures.iter().map(|(key, number)| ((*key).to_string(), json!(number))).collect();
    json!({
        "line": one.line, "column": one.column, "severity": one.severity.word(), "check": one.check.name(),
        "op": one.op, "what": one.what, "remedy": one.remedy, "query": one.query, "figures": figures,
    })
}
