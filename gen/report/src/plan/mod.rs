//! What `compile` prints: the annotated program, the decisions with their reasons, memory and
//! registers, the sequence.
//!
//! Everything is read from the plan and the steps; nothing is decided or estimated here.
mod annotate;
mod decisions;
mod launch;
mod maps;
mod rejected;
mod resources;
mod snippet;
pub mod words;

use crate::race::RaceFinding;
use lanebook::compile::Compiled;
use lanebook::ir::Program;
use lanebook_tables::{Arch, Isa, Tables};

/// Which parts are wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Everything.
    All,
    /// The annotated program.
    Program,
    /// Program and decisions.
    Report,
    /// The sequence.
    Kernel,
}

/// A compiled program and what is needed to speak about it.
pub struct Report<'r> {
    /// Tables.
    pub tables: &'r Tables<'r>,
    /// Architecture.
    pub arch: &'r Arch<'r>,
    /// Its instruction set.
    pub isa: &'r Isa<'r>,
    /// The program.
    pub program: &'r Program<'r, 'r>,
    /// What came out.
    pub compiled: &'r Compiled<'r>,
    /// Say why of every loser.
    pub explain: bool,
    /// Iterations of parallel loops that meet at an element.
    pub races: Vec<RaceFinding>,
    /// Where the lines of its text end.
    pub lines: words::Lines,
}

impl Report<'_> {
    /// The parts as one text.
    ///
    /// # Errors
    /// What cannot be written as text.
    pub fn render(&self, parts: Parts) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        if matches!(parts, Parts::All | Parts::Program | Parts::Report) {
            out.push_str(&self.annotated()?);
        }
        if matches!(parts, Parts::All | Parts::Report) {
            for section in [
                self.races(),
                self.decisions(),
                self.layouts(),
                self.maps(),
                self.instructions(),
                self.memory(),
                self.registers(),
                self.sums(),
                self.doubts(),
                self.rejected(),
            ] {
                if !section.is_empty() {
                    out.push('\n');
                    out.push_str(&section);
                }
            }
        }
        if parts == Parts::All {
            out.push_str("\nsequence\n");
        }
        if matches!(parts, Parts::All | Parts::Kernel) {
            self.compiled
                .write(self.tables, self.program, &mut out)
                .map_err(|_| std::fmt::Error)?;
        }
        Ok(out)
    }

    /// What has no order: the kernel's result is one of several.
    fn races(&self) -> String {
        if self.races.is_empty() {
            return String::new();
        }
        let lines = self.races.iter().map(|race| format!("  {}\n", race.text()));
        lines.fold("races\n".to_string(), |out, line| out + &line)
    }
}
