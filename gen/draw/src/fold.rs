//! Large grids with the repeated part drawn once.
//!
//! The 64 x 256 accumulators of a warp group are 32 times the same 8 columns, each time four
//! registers on. A part repeats if every element of the next part is at the same place but for one
//! step on one axis: in the registers of a lane, in the columns of tensor memory, or from warp to
//! warp.
use crate::{Panel, Picture, Repeat};
use lanebook_layout::AxisId;
use lanebook_layout::coord::Coord;
use std::collections::BTreeSet;

/// Rows or columns up to which a grid is drawn as it is.
const LARGE: usize = 32;
/// Fewest rows or columns that are drawn, so that a fragment is still seen whole.
const FEWEST: usize = 8;
/// Fewest parts that are worth folding.
const PARTS: usize = 4;

/// How the rows and the columns of a grid repeat, from the places of its elements row by row.
pub(crate) fn repeats(
    places: &[Vec<Coord>],
    rows: usize,
    columns: usize,
) -> (Option<Repeat>, Option<Repeat>) {
    let at = |row: usize, column: usize| places.get(row * columns + column);
    let down = repeat(rows, columns, at);
    let right = repeat(columns, rows, |along, across| at(across, along));
    (down, right)
}

/// The smallest part that repeats along one dimension.
fn repeat<'p>(
    along: usize,
    across: usize,
    at: impl Fn(usize, usize) -> Option<&'p Vec<Coord>>,
) -> Option<Repeat> {
    if along <= LARGE {
        return None;
    }
    let periods = (FEWEST..=along / PARTS).filter(|period| along.is_multiple_of(*period));
    periods.into_iter().find_map(|period| {
        let (axis, step) = one_step(at(0, 0)?, at(period, 0)?)?;
        let same = (0..along - period).all(|k| {
            (0..across).all(|other| match (at(k, other), at(k + period, other)) {
                (Some(here), Some(next)) => one_step(here, next) == Some((axis, step)),
                _ => false,
            })
        });
        same.then(|| Repeat { period, times: along / period, step: words(axis, step) })
    })
}

/// The axis and the distance by which all places of one element are set off from those of another;
/// nothing if that takes several axes, or one that is drawn for its own sake.
fn one_step(here: &[Coord], next: &[Coord]) -> Option<(AxisId, i64)> {
    let mut found = None;
    if here.len() != next.len() {
        return None;
    }
    for (a, b) in here.iter().zip(next) {
        let axes = a.iter().chain(b.iter()).map(|(axis, _)| axis);
        let moved: BTreeSet<AxisId> = axes.filter(|axis| a.get(*axis) != b.get(*axis)).collect();
        let (Some(&axis), 1) = (moved.first(), moved.len()) else { return None };
        let step = (axis, b.get(axis) - a.get(axis));
        if *found.get_or_insert(step) != step {
            return None;
        }
    }
    let (axis, step) = found?;
    let folds = [AxisId::BIT, AxisId::REGISTER, AxisId::TCOL, AxisId::WARP, AxisId::WID_IN_WG];
    (folds.contains(&axis) && step > 0).then_some((axis, step))
}

/// A step in words.
fn words(axis: AxisId, step: i64) -> String {
    let (count, one) = match axis {
        AxisId::BIT if step % 32 == 0 => (step / 32, "register"),
        AxisId::BIT => (step, "bit"),
        AxisId::REGISTER => (step, "register"),
        AxisId::TCOL => (step, "column of tensor memory"),
        _ => (step, "warp"),
    };
    let many = match one {
        _ if count == 1 => one.to_string(),
        "column of tensor memory" => "columns of tensor memory".to_string(),
        one => format!("{one}s"),
    };
    format!("+{count} {many}")
}

impl Picture {
    /// The picture with the repeated part of large grids drawn once; lines under the title say what
    /// repeats.
    #[must_use]
    pub fn folded(mut self) -> Self {
        for panel in &mut self.panels {
            let said = panel.fold();
            if said.is_empty() {
                continue;
            }
            let name = panel.title.split_once(':').map_or("", |(name, _)| name);
            let begin = if name.is_empty() { String::new() } else { format!("{name}: ") };
            self.subtitle.push(format!("{begin}{}", said.join("; ")));
        }
        self
    }
}

impl Repeat {
    /// What repeats, of so many rows or columns in all.
    ///
    /// ```
    /// let repeat = lanebook_draw::Repeat { period: 8, times: 32, step: "+4 registers".into() };
    /// assert_eq!(repeat.words("columns", 256), "columns 0 to 7 of 256, x32, each time +4 registers");
    /// ```
    #[must_use]
    pub fn words(&self, what: &str, all: usize) -> String {
        let Self { period, times, step } = self;
        format!("{what} 0 to {} of {all}, x{times}, each time {step}", period.saturating_sub(1))
    }
}

impl Panel {
    /// Keeps the parts that repeat, and says so.
    fn fold(&mut self) -> Vec<String> {
        let (rows, columns) = (self.rows(), self.columns());
        let (down, right) = (self.repeats.0.take(), self.repeats.1.take());
        let kept = (
            down.as_ref().map_or(rows, |repeat| repeat.period),
            right.as_ref().map_or(columns, |repeat| repeat.period),
        );
        self.cells = (0..kept.0)
            .flat_map(|row| (0..kept.1).map(move |column| (row, column)))
            .map(|(row, column)| self.cell(row, column))
            .collect();
        self.row_labels.truncate(kept.0);
        self.column_labels.truncate(kept.1);
        let of = [("rows", rows, down), ("columns", columns, right)];
        of.into_iter().filter_map(|(what, all, repeat)| Some(repeat?.words(what, all))).collect()
    }
}
