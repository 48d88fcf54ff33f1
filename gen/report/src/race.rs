//! A race in the text of a parallel loop, by name.
use serde_json::{Value as Json, json};

/// Two iterations of a loop that meet at an element, by name.
pub struct RaceFinding {
    /// The line of the loop.
    pub line: u32,
    /// The loop.
    pub operator: String,
    /// Whose element, with its indices.
    pub element: String,
    /// Whether both iterations write it; else the second reads it.
    pub both_write: bool,
    /// The iterations, by their loop variables.
    pub iterations: [String; 2],
}

impl RaceFinding {
    /// In a sentence.
    pub fn text(&self) -> String {
        let [first, second] = &self.iterations;
        let Self { line, operator, element, .. } = self;
        let what = if self.both_write {
            format!("iterations {first} and {second} both write {element}")
        } else {
            format!("iteration {first} writes {element}, which iteration {second} reads")
        };
        format!("line {line}: {operator} has a race: {what}; iterations have no order")
    }

    /// Everything by name.
    pub fn json(&self) -> Json {
        json!({
            "line": self.line, "operator": self.operator, "element": self.element,
            "both_write": self.both_write, "iterations": self.iterations,
        })
    }
}
