//! Rows of figures and how they are printed.
use crate::clock::Effort;
use std::fmt;

/// A figure beside its reference, both in `unit`.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Heading it stands under.
    pub section: &'static str,
    /// What was measured.
    pub what: String,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// What it is held against: the figure, and whose it is. `None`: a figure on its own.
    pub reference: Option<(f64, String)>,
}

impl Row {
    /// The figure as a part of the reference's.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.reference.as_ref().map(|(reference, _)| self.value / reference)
    }
}

/// Rows in the order of measuring.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The rows.
    pub rows: Vec<Row>,
    /// How much is spent on each.
    pub effort: Effort,
    /// Remarks under a section.
    pub notes: Vec<(&'static str, String)>,
}

impl Report {
    /// A report without rows.
    #[must_use]
    pub fn new(effort: Effort) -> Self {
        Self { effort, ..Self::default() }
    }
    /// Adds a figure with a reference.
    pub fn held(
        &mut self,
        section: &'static str,
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
        reference: f64,
        whose: impl Into<String>,
    ) {
        self.rows.push(Row {
            section,
            what: what.into(),
            value,
            unit,
            reference: Some((reference, whose.into())),
        });
    }
    /// Adds a figure on its own.
    pub fn alone(
        &mut self,
        section: &'static str,
        what: impl Into<String>,
        value: f64,
        unit: &'static str,
    ) {
        self.rows.push(Row { section, what: what.into(), value, unit, reference: None });
    }
    /// Adds a remark.
    pub fn note(&mut self, section: &'static str, text: impl Into<String>) {
        self.notes.push((section, text.into()));
    }
}

/// Three significant digits, whole numbers as they are.
fn number(value: f64) -> String {
    match value {
        v if v.fract() == 0.0 || v.abs() >= 1000.0 => format!("{v:.0}"),
        v if v.abs() >= 100.0 => format!("{v:.0}"),
        v if v.abs() >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

fn ratio(value: f64) -> String {
    if value > 0.0 && value < 0.1 { format!("1/{:.0}", 1.0 / value) } else { format!("{value:.2}") }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
        let mut sections: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !sections.contains(&row.section) {
                sections.push(row.section);
            }
        }
        for section in sections {
            writeln!(f, "{section}")?;
            for row in self.rows.iter().filter(|row| row.section == section) {
                write!(f, "  {:<width$} {:>9} {:<6}", row.what, number(row.value), row.unit)?;
                if let (Some((reference, whose)), Some(r)) = (&row.reference, row.ratio()) {
                    // Nothing is no part of nothing.
                    let times = if *reference == 0.0 {
                        format!("{:>8}     ", "")
                    } else {
                        format!("{:>8} x of", ratio(r))
                    };
                    write!(f, " {times} {} {} ({whose})", number(*reference), row.unit)?;
                }
                writeln!(f)?;
            }
            for (_, text) in self.notes.iter().filter(|(of, _)| *of == section) {
                writeln!(f, "  {text}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
