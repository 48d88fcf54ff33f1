//! A layout as a grid: rows and columns of its logical coordinate, in each cell where the element
//! is.
use crate::cell::{Banks, Style};
use crate::{DrawError, Panel, Picture, notation};
use lanebook_layout::coord::Coord;
use lanebook_layout::{AxisId, LayoutRef};

/// Which of the two notations a layout was written in: it decides what is a row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first mode is the row and runs fastest (CuTe).
    ColumnMajor,
    /// The last iter is the column and runs fastest (TIRx).
    RowMajor,
}

impl Order {
    /// The number of the element in a row and column of a grid of so many rows and columns.
    #[must_use]
    pub const fn index(self, (row, column): (u64, u64), (rows, columns): (u64, u64)) -> u64 {
        match self {
            Self::ColumnMajor => row + column * rows,
            Self::RowMajor => row * columns + column,
        }
    }
}

/// Rows and columns to show a layout in: its two modes; else the split of its iters that is most
/// nearly square.
///
/// # Errors
/// When a number is not known.
pub fn shape(layout: &LayoutRef<'_>, order: Order) -> Result<(u64, u64), DrawError> {
    let size = size(layout)?;
    let extents: Vec<u64> = match order {
        Order::ColumnMajor => layout
            .modes()
            .map(|(iters, profile)| LayoutRef { profile, ..LayoutRef::new(iters) })
            .map(|mode| size_of(&mode))
            .collect::<Result<_, _>>()?,
        Order::RowMajor => layout
            .shard
            .iter()
            .map(|it| it.extent_value().map(u64::from))
            .collect::<Result<_, _>>()
            .map_err(symbolic)?,
    };
    if order == Order::ColumnMajor {
        let rows = extents.first().copied().unwrap_or(1);
        return Ok(if extents.len() < 2 { (1, size) } else { (rows, size / rows.max(1)) });
    }
    // Fastest first: the columns are a run of the first iters.
    let mut best = (1, size);
    let mut columns = 1;
    for extent in extents {
        columns *= extent;
        let rows = size / columns.max(1);
        let far = |(a, b): (u64, u64)| if a > b { (a / b.max(1), 1) } else { (b / a.max(1), 0) };
        if far((rows, columns)) < far(best) {
            best = (rows, columns);
        }
    }
    Ok(best)
}

/// Order, rows and columns to show a layout in whose elements are counted in a known way: `extents` are those of its
/// coordinates as written, empty where they are not known.
///
/// # Errors
/// When a number is not known.
pub fn grid(
    layout: &LayoutRef<'_>,
    row_major: bool,
    extents: &[u32],
) -> Result<(Order, (u64, u64)), DrawError> {
    let order = if row_major { Order::RowMajor } else { Order::ColumnMajor };
    let shape = match extents {
        [rows, columns] => (u64::from(*rows), u64::from(*columns)),
        _ => shape(layout, order)?,
    };
    Ok((order, shape))
}

fn symbolic(_: lanebook_layout::Error) -> DrawError {
    DrawError::new(
        "the layout has a number that is not known",
        "write numbers in the place of symbols",
    )
}

fn size_of(layout: &LayoutRef<'_>) -> Result<u64, DrawError> {
    layout.size_value().map_err(symbolic)
}

/// Number of elements of a layout.
///
/// # Errors
/// When it is not known.
pub fn size(layout: &LayoutRef<'_>) -> Result<u64, DrawError> {
    size_of(layout)
}

/// Most cells of one grid.
pub const MOST_CELLS: u64 = 1 << 16;

/// The grid of a layout. `shape` is rows and columns.
///
/// # Errors
/// When the shape does not fit, or a number is not known.
pub fn panel(
    layout: &LayoutRef<'_>,
    order: Order,
    shape: (u64, u64),
    style: &Style,
) -> Result<Panel, DrawError> {
    let size = size(layout)?;
    let (rows, columns) = shape;
    if rows.checked_mul(columns) != Some(size) {
        return Err(DrawError::new(
            format!("{rows} x {columns} is not the layout's {size} elements"),
            "give --shape rows and columns whose product is that number",
        ));
    }
    if size > MOST_CELLS {
        return Err(DrawError::new(
            format!("{size} elements are too many to draw; the limit is {MOST_CELLS}"),
            "draw a tile of it",
        ));
    }
    let (mut cells, mut all) = (Vec::new(), Vec::new());
    let style = style.own(layout);
    for row in 0..rows {
        for column in 0..columns {
            let here = places(layout, order.index((row, column), shape))?;
            cells.push(style.cell(&here));
            all.push(here);
        }
    }
    let labels = |n: u64| (0..n).map(|k| k.to_string()).collect();
    let warp = |row: &[Vec<Coord>]| {
        row.first().and_then(|here| here.first()).map(|place| place.get(AxisId::WARP))
    };
    Ok(Panel {
        row_labels: labels(rows),
        column_labels: labels(columns),
        cells,
        rule: runs(&all.chunks(columns.max(1) as usize).map(warp).collect::<Vec<_>>()),
        repeats: crate::fold::repeats(&all, rows as usize, columns as usize),
        ..Panel::default()
    })
}

/// The length of the runs of equal values that a list is made of; 0 where they differ in length, or
/// all values are equal.
fn runs<T: PartialEq>(values: &[T]) -> usize {
    let run = values.iter().take_while(|value| Some(*value) == values.first()).count();
    let even = run < values.len()
        && values
            .chunks(run.max(1))
            .all(|one| one.len() == run && one.iter().all(|v| v == &one[0]))
        && values.windows(2).skip(run - 1).step_by(run).all(|pair| pair[0] != pair[1]);
    if even { run } else { 0 }
}

/// All different places of an element.
///
/// # Errors
/// When a number is not known or a position is negative where that has no meaning.
pub fn places(layout: &LayoutRef<'_>, x: u64) -> Result<Vec<Coord>, DrawError> {
    let mut out: Vec<Coord> = Vec::new();
    let mut at = Coord::new();
    let walked = layout.apply_all(x, &mut at, |place| {
        if !out.contains(place) {
            out.push(place.clone());
        }
        Ok(())
    });
    walked.map_err(|error| {
        DrawError::new(
            format!("element {x} has no place: {error}"),
            "keep positions on the memory axis at 0 or above, and numbers known",
        )
    })?;
    Ok(out)
}

/// The picture of one layout.
///
/// # Errors
/// As [`panel`].
pub fn picture(
    layout: &LayoutRef<'_>,
    text: &str,
    order: Order,
    shape: (u64, u64),
    banks: Option<Banks>,
) -> Result<Picture, DrawError> {
    let style = Style::of(&[*layout], banks);
    let grid = panel(layout, order, shape, &style)?;
    let mut subtitle = vec![format!("{} x {}, {} elements", shape.0, shape.1, size(layout)?)];
    if order == Order::ColumnMajor
        && let Some(said) = notation::same_tile(layout)
    {
        subtitle.push(format!("TIRx: {said}"));
    }
    Ok(Picture {
        title: text.split_whitespace().collect::<Vec<_>>().join(" "),
        subtitle,
        panels: vec![grid],
        colours: style.colours(),
        notes: style.notes(),
    })
}
