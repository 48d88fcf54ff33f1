//! Text in aligned columns.

/// Which way a column leans.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A row of comma-separated values (RFC 4180), with its end.
///
/// ```
/// let cells = ["a".to_string(), "b, c".to_string(), "say \"d\"".to_string()];
/// assert_eq!(lanebook_report::table::csv_row(&cells), "a,\"b, c\",\"say \"\"d\"\"\"\n");
/// ```
#[must_use]
pub fn csv_row(cells: &[String]) -> String {
    let quoted = |cell: &String| {
        if cell.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.clone()
        }
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
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
    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }
    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
    /// The table as JSON: an object for each row, by the head's words in small letters; cells of columns that lean right are
    /// numbers where they are written as one.
    ///
    /// ```
    /// use lanebook_report::table::{Align, Table};
    ///
    /// let mut table = Table::new(&[("NAME", Align::Left), ("BITS", Align::Right)]);
    /// table.row(["f16".to_string(), "16".to_string()]);
    /// assert_eq!(table.json().to_string(), r#"[{"bits":16,"name":"f16"}]"#);
    /// ```
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        let cell = |k: usize, text: &str| match self.head[k].1 {
            Align::Right => text.parse::<i64>().map_or_else(|_| text.into(), Into::into),
            Align::Left => text.into(),
        };
        let object = |row: &Vec<String>| -> serde_json::Value {
            let named = self.head.iter().enumerate().map(|(k, (word, _))| {
                let key = word.to_lowercase().replace(' ', "_");
                (key, cell(k, row.get(k).map_or("", String::as_str)))
            });
            serde_json::Value::Object(named.collect())
        };
        self.rows.iter().map(object).collect()
    }

    /// The table as comma-separated values, the head in small letters first.
    ///
    /// ```
    /// use lanebook_report::table::{Align, Table};
    ///
    /// let mut table = Table::new(&[("NAME", Align::Left), ("BITS", Align::Right)]);
    /// table.row(["f16".to_string(), "16".to_string()]);
    /// assert_eq!(table.csv(), "name,bits\nf16,16\n");
    /// ```
    #[must_use]
    pub fn csv(&self) -> String {
        let head: Vec<String> =
            self.head.iter().map(|(word, _)| word.to_lowercase().replace(' ', "_")).collect();
        let mut out = csv_row(&head);
        for row in &self.rows {
            let cells: Vec<String> =
                (0..head.len()).map(|k| row.get(k).cloned().unwrap_or_default()).collect();
            out.push_str(&csv_row(&cells));
        }
        out
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
