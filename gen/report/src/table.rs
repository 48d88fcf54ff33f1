//! Text in aligned columns.

/// Which way a column leans.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells under a head.
#[derive(Clone, Debug)]
pub struct Table {
    head: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(head: &[(&'static str, Align)]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }
    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
    /// The table, each line with this indent and without blanks at its end.
    pub fn render(&self, indent: usize) -> String {
        let count = |text: &str| text.chars().count();
        let width = |k: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(k))
                .map(|c| count(c))
                .chain([count(self.head[k].0)])
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut out = String::new();
        let mut line = |cells: &dyn Fn(usize) -> String| {
            let mut text = " ".repeat(indent);
            for (k, (_, align)) in self.head.iter().enumerate() {
                let (cell, width) = (cells(k), widths[k]);
                match align {
                    Align::Left => text.push_str(&format!("{cell:<width$}")),
                    Align::Right => text.push_str(&format!("{cell:>width$}")),
                }
                text.push_str("  ");
            }
            out.push_str(text.trim_end());
            out.push('\n');
        };
        line(&|k| self.head[k].0.to_string());
        for row in &self.rows {
            line(&|k| row.get(k).cloned().unwrap_or_default());
        }
        out
    }
}
