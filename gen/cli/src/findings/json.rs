//! For scripts: one object, everything by name.
use super::fingerprint::fingerprints;
use super::{Figures, Findings};
use crate::assemblers::Asked;
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    tool: &'static str,
    version: &'static str,
    tables: Option<Figures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sound_part: Option<Figures>,
    failed: bool,
    complete: bool,
    assemblers: &'a [Asked],
    findings: Vec<One<'a>>,
}

#[derive(Serialize)]
struct One<'a> {
    check: &'a str,
    fingerprint: String,
    level: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<At<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<Related<'a>>,
}

#[derive(Serialize)]
struct At<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
struct Related<'a> {
    message: &'a str,
    #[serde(flatten)]
    at: At<'a>,
}

pub fn render(findings: &Findings<'_>) -> Result<String, serde_json::Error> {
    let at = |span| {
        let place = findings.place(span);
        At {
            file: place.file,
            line: place.start.0,
            column: place.start.1,
            end_line: place.end.0,
            end_column: place.end.1,
        }
    };
    let prints = fingerprints(findings.list.iter().copied(), findings.sources);
    let list = findings.list.iter().zip(prints).map(|(one, fingerprint)| One {
        check: one.check,
        fingerprint,
        level: one.level.word(),
        message: &one.message,
        help: one.help.as_deref(),
        at: one.labels.first().map(|label| at(label.span)),
        related: one
            .labels
            .iter()
            .skip(1)
            .map(|label| Related { message: &label.text, at: at(label.span) })
            .collect(),
    });
    let report = Report {
        tool: "lanebook check",
        version: env!("CARGO_PKG_VERSION"),
        tables: findings.figures,
        sound_part: findings.part,
        failed: findings.failed(),
        complete: findings.complete(),
        assemblers: &findings.assemblers,
        findings: list.collect(),
    };
    serde_json::to_string_pretty(&report).map(|text| text + "\n")
}
