//! What an audit found, in the formats that people and their tools read.
//!
//! All formats show the same findings in the same order: by file and place, then by text. The order
//! does not depend on anything but the tables.
pub mod explain;
mod fingerprint;
mod json;
mod junit;
pub mod levels;
mod sarif;
mod text;

use crate::args::Format;
use crate::assemblers::{Asked, SKIPPED};
use lanebook_gen::audit::{ASSEMBLER, COMPLETE};
use lanebook_gen::diagnostics::{Diagnostic, Level};
use lanebook_gen::source::{Sources, Span};
use lanebook_report::problem::{Kind, Problem};

/// How many of each thing the tables hold.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Figures {
    /// Architectures.
    pub architectures: usize,
    /// Atoms.
    pub atoms: usize,
    /// Rules.
    pub rules: usize,
    /// Rules with a certificate, by how they were proved: truth table, basis vectors, polynomials,
    /// z3.
    #[serde(skip)]
    pub proofs: [usize; 4],
}

/// The result of an audit.
pub struct Findings<'a> {
    /// The files that were read.
    pub sources: &'a Sources,
    /// What was found, in order.
    pub list: Vec<&'a Diagnostic>,
    /// What was looked at; nothing if it does not compile.
    pub figures: Option<Figures>,
    /// What the audit's own checks saw of what does not compile; nothing if they saw nothing, or
    /// everything.
    pub part: Option<Figures>,
    /// Warnings count as errors.
    pub deny_warnings: bool,
    /// Facts that differ from another version count as errors.
    pub deny_changes: bool,
    /// Notes are shown in text, too.
    pub notes: bool,
    /// What came of the assemblers.
    pub assemblers: Vec<Asked>,
}

/// Where a finding is.
pub struct Place<'a> {
    /// The file, relative to the folder that was audited.
    pub file: &'a str,
    /// First line and column, from 1; columns count characters.
    pub start: (usize, usize),
    /// Last line, and the column behind the last character.
    pub end: (usize, usize),
}

impl<'a> Findings<'a> {
    /// How many there are of a level.
    pub fn count(&self, level: Level) -> usize {
        self.list.iter().filter(|one| one.level == level).count()
    }
    /// Whether a finding makes the audit fail.
    pub fn fails(&self, one: &Diagnostic) -> bool {
        one.level == Level::Error
            || (one.level == Level::Warning && self.deny_warnings)
            || (one.check == "change" && self.deny_changes)
    }
    /// Whether any does.
    pub fn failed(&self) -> bool {
        self.list.iter().any(|one| self.fails(one))
    }
    /// How the audit ends: nothing if well. That something else is in the way is told from
    /// something wrong with what was asked for.
    pub fn outcome(&self) -> Option<Kind> {
        let wrong = self.list.iter().any(|one| self.fails(one) && one.check != COMPLETE);
        self.failed().then_some(if wrong { Kind::Refused } else { Kind::Unjudged })
    }
    /// Whether everything that was asked for could be judged.
    pub fn complete(&self) -> bool {
        self.figures.is_some()
    }
    /// Where a span is.
    pub fn place(&self, span: Span) -> Place<'a> {
        let file = self.sources.file(span.file);
        let (start, end) =
            (self.sources.line_col(span), self.sources.line_col(Span { start: span.end, ..span }));
        Place { file: &file.name, start: (start.line, start.column), end: (end.line, end.column) }
    }
    /// `2 errors, 1 warning`, `no errors`.
    pub fn summary(&self) -> String {
        let counted = |level, what| (self.count(level), what);
        let parts: Vec<String> = [
            counted(Level::Error, "error"),
            counted(Level::Warning, "warning"),
            counted(Level::Note, "note"),
        ]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| crate::tables::counted(n, what))
        .collect();
        let skipped: Vec<&str> = self
            .assemblers
            .iter()
            .filter(|asked| asked.skipped > 0)
            .map(|asked| asked.instruction_set.as_str())
            .collect();
        let skipped = if skipped.is_empty() {
            String::new()
        } else {
            format!("; not assembled: {}", skipped.join(", "))
        };
        match self.count(Level::Error) {
            0 if parts.is_empty() => format!("no errors{skipped}"),
            0 => format!("no errors, {}{skipped}", parts.join(", ")),
            _ => format!("{}{skipped}", parts.join(", ")),
        }
    }
    /// Whether a finding says what was left out.
    pub fn skips(one: &Diagnostic) -> bool {
        let left_out = one.level == Level::Note || one.message.starts_with(SKIPPED);
        [ASSEMBLER, COMPLETE].contains(&one.check) && left_out && one.level != Level::Error
    }
    /// What differs from another version, as text.
    pub fn differences(&self) -> String {
        text::differences(self)
    }
    /// The findings in a format.
    ///
    /// # Errors
    /// If the format's writer fails, which is a fault of this program.
    pub fn render(&self, format: Format) -> Result<String, Problem> {
        let internal = |error: String| {
            Problem::internal(
                format!("the findings cannot be written: {error}"),
                "report this with the tables",
            )
        };
        match format {
            Format::Text => Ok(text::render(self)),
            Format::Json => json::render(self).map_err(|error| internal(error.to_string())),
            Format::Sarif => sarif::render(self).map_err(|error| internal(error.to_string())),
            Format::Junit => junit::render(self).map_err(|error| internal(error.to_string())),
        }
    }
}
