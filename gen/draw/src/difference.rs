//! Two layouts of the same elements beside each other, with what they place differently.
use crate::cell::Style;
use crate::layout::{Order, panel, places, size};
use crate::{Colours, DrawError, Picture};
use lanebook_layout::LayoutRef;
use lanebook_layout::coord::Coord;

/// One of the two: its text, the layout, which of its modes is a row.
#[derive(Copy, Clone, Debug)]
pub struct Compared<'a> {
    /// As it was written.
    pub text: &'a str,
    /// The map.
    pub layout: &'a LayoutRef<'a>,
    /// How its elements are counted.
    pub order: Order,
}

/// Whether two places are one, whatever the order of their axes; an axis that is not named is at 0.
fn is_same(a: &Coord, b: &Coord) -> bool {
    a.iter().chain(b.iter()).all(|(axis, _)| a.get(axis) == b.get(axis))
}

/// The picture of two layouts over the same rows and columns: what they place differently is
/// coloured, and marked with `*`.
///
/// # Errors
/// When they have not both so many elements, or a number is not known.
pub fn picture(both: [Compared<'_>; 2], shape: (u64, u64)) -> Result<Picture, DrawError> {
    let [one, other] = both;
    let sizes = (size(one.layout)?, size(other.layout)?);
    if sizes.0 != sizes.1 {
        return Err(DrawError::new(
            format!("`{}` has {} elements, `{}` has {}", one.text, sizes.0, other.text, sizes.1),
            "compare layouts of the same tile",
        ));
    }
    let style = Style::of(&[*one.layout, *other.layout], None);
    let mut panels = Vec::new();
    for (number, side) in both.iter().enumerate() {
        let mut grid = panel(side.layout, side.order, shape, &style)?;
        grid.title = side.text.split_whitespace().collect::<Vec<_>>().join(" ");
        grid.place = (number, 0);
        // What differs is to be seen wherever it is.
        grid.repeats = (None, None);
        panels.push(grid);
    }
    let (mut count, mut first) = (0u64, None);
    for row in 0..shape.0 {
        for column in 0..shape.1 {
            let of =
                |side: &Compared<'_>| places(side.layout, side.order.index((row, column), shape));
            let (here, there) = (of(&one)?, of(&other)?);
            let same = here.len() == there.len()
                && here.iter().all(|place| there.iter().any(|other| is_same(place, other)));
            let at = (row * shape.1 + column) as usize;
            for cell in panels.iter_mut().filter_map(|grid| grid.cells.get_mut(at)) {
                cell.colour = (!same).then_some(0);
                if let Some(last) = cell.lines.last_mut().filter(|_| !same) {
                    last.push('*');
                }
            }
            if !same {
                count += 1;
                first.get_or_insert((row, column));
            }
        }
    }
    let said = match first {
        None => format!("the same at all {} elements", sizes.0),
        Some((row, column)) => format!(
            "{count} of {} elements are placed differently, the first at row {row}, column {column}",
            sizes.0
        ),
    };
    let mut notes = style.notes();
    if count > 0 {
        notes.push("*: placed differently".into());
    }
    Ok(Picture {
        title: "two layouts".into(),
        subtitle: vec![said],
        panels,
        colours: (count > 0).then(|| Colours {
            count: 1,
            what: "placed differently".into(),
            prefix: String::new(),
            wraps: false,
        }),
        notes,
    })
}
