//! Operands seen from the machine: a row a lane, a column a register (or tensor-memory lanes and
//! columns), and in each cell the elements that are there.
use crate::layout::places;
use crate::{Cell, Colours, DrawError, Panel, Picture, notation};
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{Atom, Space, Tables};
use std::collections::BTreeMap;

/// Bits of a register and of a tensor-memory cell.
const CELL_BITS: i64 = 32;
/// Columns of one grid; what is wider is continued below.
const MOST_COLUMNS: i64 = 32;
/// Most rows and columns in all.
const MOST: i64 = 4096;

/// What one grid shows.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// Which parts of an instruction it shows, as [`Panel::parts`] has them.
    pub parts: Vec<String>,
    /// Above it.
    pub title: String,
    /// Logical coordinates, row-major over `extents`, to lanes and bits or to lanes and columns of
    /// tensor memory.
    pub layout: &'a LayoutRef<'a>,
    /// The logical extents, slowest first.
    pub extents: Vec<u64>,
    /// Bits of an element.
    pub bits: i64,
    /// Which logical coordinate is coloured.
    pub coloured: usize,
    /// Whether it lies in tensor memory.
    pub tensor: bool,
}

/// The picture of layouts by lane and register, or by tensor-memory lane and column.
///
/// # Errors
/// When there are too many elements, or they lie outside of what can be drawn.
pub fn of(title: &str, subtitle: Vec<String>, wanted: &[Wanted<'_>]) -> Result<Picture, DrawError> {
    draw(title.to_string(), subtitle, wanted, "the first logical coordinate")
}

/// The picture of an atom's operands by lane and register, or by tensor-memory lane and column.
///
/// # Errors
/// When the atom has no operand with a layout of that kind.
pub fn picture(tables: &Tables<'_>, atom: &Atom<'_>) -> Result<Picture, DrawError> {
    let mut wanted: Vec<Wanted<'_>> = Vec::new();
    if let Some(shape) = atom.matrix {
        let same = |a: u8, b: u8| {
            let operand = |k: u8| atom.operands.get(usize::from(k)).map(|o| (o.layout, o.extents));
            operand(a) == operand(b)
        };
        let both = same(shape.c, shape.d);
        let mut list: Vec<(&str, u8, usize)> = vec![
            ("A", shape.a, 0),
            ("B", shape.b, 1),
            (if both { "C and D" } else { "C" }, shape.c, 0),
        ];
        if !both {
            list.push(("D", shape.d, 0));
        }
        // Beside the matrices: coloured by the coordinate that they share with C.
        list.extend(
            crate::atom::beside(atom)
                .into_iter()
                .map(|(name, number, axes)| (name, number, usize::from(axes.1 == "n"))),
        );
        for (name, number, coloured) in list {
            let Some(operand) = atom.operands.get(usize::from(number)) else { continue };
            let (Some(layout), Some(dtype)) =
                (operand.layout, operand.dtype.and_then(|dtype| tables.dtype(dtype)))
            else {
                continue;
            };
            wanted.push(Wanted {
                parts: name.split(" and ").map(str::to_string).collect(),
                title: format!(
                    "{name}: {} x {} {}",
                    operand.extents.0, operand.extents.1, dtype.name
                ),
                layout,
                extents: vec![operand.extents.0.into(), operand.extents.1.into()],
                bits: dtype.bits.into(),
                coloured,
                tensor: layout.axes().unwrap_or_default().contains(&AxisId::TLANE),
            });
        }
    }
    if let Some(movement) = &atom.movement {
        for (word, side) in [("from", &movement.from), ("to", &movement.to)] {
            if matches!(side.space, Space::Register | Space::Tensor) {
                let name = atom
                    .operands
                    .get(usize::from(side.operand))
                    .map_or("?", |operand| operand.name.text());
                wanted.push(Wanted {
                    parts: vec![word.to_string()],
                    title: format!("{word} {}, operand `{name}`", crate::atom::space(side.space)),
                    layout: side.layout,
                    extents: movement.extents.iter().map(|extent| u64::from(*extent)).collect(),
                    bits: movement.unit_bits.into(),
                    coloured: 0,
                    tensor: side.space == Space::Tensor,
                });
            }
        }
    }
    if wanted.is_empty() {
        return Err(DrawError::new(
            format!("`{}` has no operand in registers or tensor memory with a layout", atom.name()),
            "draw an atom that moves tiles or multiplies matrices",
        ));
    }
    let coordinates = if atom.matrix.is_some() {
        "the row of A, C and D; the column of B"
    } else {
        "the first logical coordinate"
    };
    draw(atom.name().to_string(), vec![crate::atom::template(atom)], &wanted, coordinates)
}

fn draw(
    title: String,
    subtitle: Vec<String>,
    wanted: &[Wanted<'_>],
    coordinates: &str,
) -> Result<Picture, DrawError> {
    let most = wanted
        .iter()
        .map(|one| one.extents.get(one.coloured).copied().unwrap_or(1))
        .max()
        .unwrap_or(1);
    let count = most.next_power_of_two().min(32) as u16;
    let mut panels = Vec::new();
    for one in wanted {
        grids(one, count, &mut panels)?;
    }
    // What is narrow enough stands side by side.
    if panels.len() == wanted.len()
        && panels.iter().map(Panel::columns).sum::<usize>() <= MOST_COLUMNS as usize
    {
        for (column, panel) in panels.iter_mut().enumerate() {
            panel.place = (column, 0);
        }
    }
    Ok(Picture {
        title,
        subtitle,
        panels,
        colours: Some(Colours {
            count,
            what: coordinates.into(),
            prefix: String::new(),
            wraps: most > u64::from(count),
        }),
        notes: vec![
            "rows: lanes; columns: 32-bit registers of the operand, or columns of tensor memory"
                .into(),
            "cells: logical coordinates of the elements there, 0-3 for several in a row".into(),
        ],
    })
}

/// The grids of one operand, appended below what is there.
fn grids(wanted: &Wanted<'_>, count: u16, panels: &mut Vec<Panel>) -> Result<(), DrawError> {
    let (row_axis, column_axis) =
        if wanted.tensor { (AxisId::TLANE, AxisId::TCOL) } else { (AxisId::LANE, AxisId::BIT) };
    let mut cells: BTreeMap<(i64, i64), Vec<Vec<u64>>> = BTreeMap::new();
    let size: u64 = wanted.extents.iter().product();
    if size > crate::layout::MOST_CELLS {
        return Err(DrawError::new(
            format!(
                "{size} elements are too many to draw; the limit is {}",
                crate::layout::MOST_CELLS
            ),
            "draw another atom",
        ));
    }
    // Two blocks' lanes stand one below the other.
    let reach = |axis| wanted.layout.reach(axis).map_or(0, |(_, high)| high);
    let block_lanes = (reach(AxisId::TLANE) + 1).max(1);
    let blocks = wanted.tensor && reach(AxisId::CBX) > 0;
    for x in 0..size {
        let coordinate = digits(x, &wanted.extents);
        for place in places(wanted.layout, x)? {
            let row = place.get(row_axis)
                + if wanted.tensor {
                    block_lanes * place.get(AxisId::CBX)
                } else {
                    32 * place.get(AxisId::WARP)
                };
            let inside = place.get(AxisId::BIT) + 8 * place.get(AxisId::BYTE);
            let first = if wanted.tensor {
                place.get(column_axis) * CELL_BITS + inside
            } else {
                place.get(column_axis)
            };
            for column in
                first.div_euclid(CELL_BITS)..=(first + wanted.bits.max(1) - 1).div_euclid(CELL_BITS)
            {
                let there = cells.entry((row, column)).or_default();
                if !there.contains(&coordinate) {
                    there.push(coordinate.clone());
                }
            }
        }
    }
    let (rows, columns) = cells
        .keys()
        .fold((0, 0), |most, (row, column)| (most.0.max(row + 1), most.1.max(column + 1)));
    if cells.keys().any(|(row, column)| *row < 0 || *column < 0) || rows > MOST || columns > MOST {
        return Err(DrawError::new(
            format!("{rows} rows and {columns} columns cannot be drawn"),
            "draw another atom",
        ));
    }
    let prefix = if wanted.tensor { ("lane ", "") } else { ("T", "r") };
    for first in (0..columns).step_by(MOST_COLUMNS as usize) {
        let shown = first..(first + MOST_COLUMNS).min(columns);
        let last = shown.end - 1;
        let part = if columns > MOST_COLUMNS {
            format!(", {}{first} to {}{last} of {columns}", prefix.1, prefix.1)
        } else {
            String::new()
        };
        let mut list = Vec::new();
        for row in 0..rows {
            for column in shown.clone() {
                list.push(
                    cells.get(&(row, column)).map_or_else(Cell::default, |elements| {
                        cell(elements, wanted.coloured, count)
                    }),
                );
            }
        }
        panels.push(Panel {
            parts: wanted.parts.clone(),
            title: format!("{}{part}", wanted.title),
            note: notation::tirx(wanted.layout),
            row_labels: (0..rows)
                .map(|row| match blocks {
                    true => {
                        format!("block {} {}{}", row / block_lanes, prefix.0, row % block_lanes)
                    }
                    false => format!("{}{row}", prefix.0),
                })
                .collect(),
            column_labels: shown.map(|column| format!("{}{column}", prefix.1)).collect(),
            cells: list,
            rule: if rows > 16 { 8 } else { 0 },
            place: (0, panels.len()),
            ..Panel::default()
        });
    }
    Ok(())
}

/// Row-major digits of an index.
fn digits(mut x: u64, extents: &[u64]) -> Vec<u64> {
    let mut out: Vec<u64> = extents
        .iter()
        .rev()
        .map(|extent| {
            let digit = x % extent.max(&1);
            x /= extent.max(&1);
            digit
        })
        .collect();
    out.reverse();
    out
}

/// What a cell says of the elements in it: each coordinate once, ranges where they run.
fn cell(elements: &[Vec<u64>], coloured: usize, count: u16) -> Cell {
    let places = elements.first().map_or(0, Vec::len);
    let parts: Vec<String> = (0..places)
        .map(|at| {
            let mut values: Vec<u64> =
                elements.iter().filter_map(|element| element.get(at).copied()).collect();
            values.sort_unstable();
            values.dedup();
            ranges(&values)
        })
        .collect();
    let colour = elements
        .first()
        .and_then(|element| element.get(coloured))
        .map(|value| (*value % u64::from(count.max(1))) as u16);
    Cell { lines: vec![parts.join(",")], colour }
}

/// `0-3`, or `0+4`, or `0..12` for many.
fn ranges(values: &[u64]) -> String {
    match values {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] if last - first == values.len() as u64 - 1 => format!("{first}-{last}"),
        [first, second] => format!("{first}+{second}"),
        [first, .., last] => format!("{first}..{last}"),
    }
}
