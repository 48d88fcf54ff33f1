//! What a picture is: grids of labelled, coloured cells.
/// A title, some grids, a legend.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What is shown.
    pub title: String,
    /// Lines under the title.
    pub subtitle: Vec<String>,
    /// The grids.
    pub panels: Vec<Panel>,
    /// What the colours mean.
    pub colours: Option<Colours>,
    /// What the labels mean, one line each.
    pub notes: Vec<String>,
}

/// A grid of cells.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Which parts of an instruction it shows: `A`, or `C` and `D`, or `from`; may be empty.
    pub parts: Vec<String>,
    /// What is shown.
    pub title: String,
    /// A line under the title.
    pub note: String,
    /// What the rows and the columns count, e.g. `m` and `k`; may be empty.
    pub axes: (String, String),
    /// One label a row.
    pub row_labels: Vec<String>,
    /// One label a column.
    pub column_labels: Vec<String>,
    /// Rows times columns, row by row.
    pub cells: Vec<Cell>,
    /// A heavier line before every so many rows; 0 = none.
    pub rule: usize,
    /// Column and row of the picture that the panel stands in.
    pub place: (usize, usize),
    /// How the rows and the columns repeat.
    pub repeats: (Option<Repeat>, Option<Repeat>),
}

impl Picture {
    /// The picture of one part alone, `D` say.
    ///
    /// # Errors
    /// When no grid shows that part.
    pub fn only(mut self, part: &str) -> Result<Self, DrawError> {
        let named: Vec<&str> =
            self.panels.iter().flat_map(|panel| &panel.parts).map(String::as_str).collect();
        if !named.contains(&part) {
            let remedy = match named[..] {
                [] => "leave the part out: the picture has none".to_string(),
                _ => format!("its parts are {}", named.join(", ")),
            };
            return Err(DrawError::new(format!("there is no part `{part}`"), remedy));
        }
        self.panels.retain(|panel| panel.parts.iter().any(|own| own == part));
        // What is left stands in the corner, one grid below another.
        for (row, panel) in self.panels.iter_mut().enumerate() {
            panel.place = (0, row);
        }
        Ok(self)
    }
}

/// What stands in a cell that is not marked.
const UNMARKED: &str = "·";

impl Picture {
    /// The picture with what is marked alone: `is_marked` is asked for each panel's cells, by its first part (empty where it has
    /// none), row and column. Of grids of more than `most` rows or columns those without a mark are left out. Whether
    /// anything is marked.
    ///
    /// ```
    /// use lanebook_draw::{Cell, Panel, Picture};
    ///
    /// let cell = |text: &str| Cell { lines: vec![text.into()], colour: Some(0) };
    /// let labels = |n: usize| (0..n).map(|k| k.to_string()).collect::<Vec<_>>();
    /// let panel = Panel {
    ///     row_labels: labels(1), column_labels: labels(2), cells: vec![cell("a"), cell("b")], ..Panel::default()
    /// };
    /// let mut picture = Picture {
    ///     title: String::new(), subtitle: vec![], panels: vec![panel], colours: None, notes: vec![],
    /// };
    /// assert!(picture.mark(64, |_, _, column| column == 1));
    /// assert_eq!(picture.panels[0].cells[1], cell("b"));
    /// assert_eq!(picture.panels[0].cells[0].lines, ["·"]);
    /// ```
    pub fn mark(&mut self, most: usize, is_marked: impl Fn(&str, usize, usize) -> bool) -> bool {
        let mut any = false;
        for panel in &mut self.panels {
            let (rows, columns) = (panel.rows(), panel.columns());
            let part = panel.parts.first().cloned().unwrap_or_default();
            let marks: Vec<bool> = (0..rows * columns)
                .map(|k| is_marked(&part, k / columns.max(1), k % columns.max(1)))
                .collect();
            let has = |row: usize, column: usize| marks[row * columns + column];
            any |= marks.contains(&true);
            let cut = rows > most || columns > most;
            let kept_rows: Vec<usize> =
                (0..rows).filter(|row| !cut || (0..columns).any(|c| has(*row, c))).collect();
            let kept_columns: Vec<usize> =
                (0..columns).filter(|column| !cut || (0..rows).any(|r| has(r, *column))).collect();
            let mut cells = Vec::new();
            for row in &kept_rows {
                for column in &kept_columns {
                    cells.push(match has(*row, *column) {
                        true => panel.cell(*row, *column),
                        false => Cell { lines: vec![UNMARKED.into()], colour: None },
                    });
                }
            }
            panel.row_labels = kept_rows.iter().map(|row| panel.row_labels[*row].clone()).collect();
            panel.column_labels =
                kept_columns.iter().map(|column| panel.column_labels[*column].clone()).collect();
            panel.cells = cells;
            panel.repeats = (None, None);
            if cut {
                panel.rule = 0;
            }
        }
        any
    }
}

impl Panel {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.row_labels.len()
    }
    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.column_labels.len()
    }
    /// A cell; an empty one outside.
    #[must_use]
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        self.cells
            .get(row * self.columns() + column)
            .filter(|_| column < self.columns())
            .cloned()
            .unwrap_or_default()
    }
}

/// The rows or columns of a grid are the same part over and over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Rows or columns of the part.
    pub period: usize,
    /// How many parts there are.
    pub times: usize,
    /// What sets one part off from the one before, such as `+4 registers`.
    pub step: String,
}

/// One element of the grid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// What it says, one or two lines.
    pub lines: Vec<String>,
    /// Which colour of the picture's [`Colours`].
    pub colour: Option<u16>,
}

/// The colours of a picture: so many shades in order, and what number `k` of them stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colours {
    /// How many; a power of two up to 64.
    pub count: u16,
    /// What is coloured, e.g. `lane`.
    pub what: String,
    /// Text before a number in the legend, e.g. `T`.
    pub prefix: String,
    /// Numbers beyond the count start over.
    pub wraps: bool,
}

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl DrawError {
    pub(crate) fn new(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: remedy.into() }
    }
}
