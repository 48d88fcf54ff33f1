//! Tensor memory in pictures: what a load or store moves, and where a tile lies.
use super::rows_and_columns;
use crate::args::{Show, View};
use lanebook::unit::tensor;
use lanebook_draw::physical::{self, Wanted};
use lanebook_draw::{DrawError, Picture, cell::Style, layout};
use lanebook_layout::AxisId;
use lanebook_report::problem::Problem;
use lanebook_tables::{Arch, Instance, Tables, TensorTile, TileIter, TileLayout};

/// Columns of a tile whose number of columns is free, and rows of one whose number of rows is.
const FREE: u64 = 8;
/// Bytes of a cell.
const CELL_BYTES: u64 = 4;

/// The picture of a load or store of tensor memory: its cells and its registers; nothing if the
/// atom is no such.
pub fn of_move(
    args: &Show,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    instance: &Instance<'_>,
) -> Option<Result<Picture, Problem>> {
    let name = instance.atom.name();
    let form = tables.units.tensor_moves.iter().find(|form| {
        let known = [form.loads.0, form.loads.1, form.stores.0, form.stores.1].contains(&name);
        known && tensor::move_named(tables, arch, form.name).is_ok()
    })?;
    // The number of the instance is the only parameter that counts; a form with one register has
    // none.
    let count = instance
        .atom
        .params()
        .find_map(|(number, _)| instance.value(number))
        .or(form.counts.first().copied())
        .unwrap_or(1);
    let packed = instance
        .atom
        .params()
        .filter_map(|(number, _)| instance.word(number))
        .any(|word| word.text.contains("pack"));
    let draw = || {
        let moved =
            tensor::moved(form, count, 0, packed).map_err(|error| refused(&error.to_string()))?;
        let (cells, tuple) = (moved.cells.view(), moved.tuple.view());
        let written: Vec<u64> = cells
            .shard
            .iter()
            .rev()
            .filter_map(|it| it.extent_value().ok())
            .map(u64::from)
            .collect();
        let (rows, columns) = written.split_at(
            form.cells.dims.first().map_or(1, |rows| usize::from(*rows)).min(written.len()),
        );
        let extents: Vec<u64> = vec![rows.iter().product(), columns.iter().product()];
        let bits = if packed { i64::from(form.packed.1) } else { 32 };
        let stored = [form.stores.0, form.stores.1].contains(&name);
        let mut wanted = vec![
            Wanted {
                parts: vec![if stored { "to" } else { "from" }.to_string()],
                title: "tensor memory, from the address on".into(),
                layout: &cells,
                extents: extents.clone(),
                bits: 32,
                coloured: 0,
                tensor: true,
            },
            Wanted {
                parts: vec![if stored { "from" } else { "to" }.to_string()],
                title: "registers".into(),
                layout: &tuple,
                extents,
                bits,
                coloured: 0,
                tensor: false,
            },
        ];
        if stored {
            wanted.reverse();
        }
        if args.view == View::Banks {
            return Err(refused("tensor memory has no banks"));
        }
        physical::of(name, Vec::new(), &wanted).map_err(drawn)
    };
    Some(draw())
}

/// The picture of a tile of tensor memory; nothing if none has the name.
pub fn of_tile(
    args: &Show,
    tables: &Tables<'_>,
    arch: &Arch<'_>,
) -> Option<Result<Picture, Problem>> {
    let tile = tensor::tile_named(tables, arch, &args.what).ok()?;
    let draw = || {
        let (rows, columns) = match &args.shape {
            Some(text) => rows_and_columns(text)?,
            None => usual(tile),
        };
        let number = |n: u64| {
            u32::try_from(n)
                .map_err(|_| Problem::usage(format!("{n} is too many"), "give a smaller --shape"))
        };
        let found = tensor::layout(tile, number(rows)?, number(columns)?, false).map_err(|_| {
            let (r, c) = usual(tile);
            Problem::usage(
                format!("`{}` has no {rows} rows and {columns} columns", tile.name),
                format!("such as --shape {r}x{c}"),
            )
        })?;
        let view = found.view();
        let title = format!("{} on {}: {rows} x {columns}", tile.name, arch.name);
        let mut picture = match args.view {
            View::Elements => {
                let style = Style::of(&[view], None);
                let panel = layout::panel(&view, layout::Order::RowMajor, (rows, columns), &style)
                    .map_err(drawn)?;
                Picture {
                    title,
                    subtitle: Vec::new(),
                    panels: vec![panel],
                    colours: style.colours(),
                    notes: style.notes(),
                }
            }
            View::Lanes => {
                let bits =
                    if view.axes().is_ok_and(|axes| axes.contains(&AxisId::BYTE)) { 8 } else { 32 };
                let wanted = Wanted {
                    parts: Vec::new(),
                    title: "tensor memory".into(),
                    layout: &view,
                    extents: vec![rows, columns],
                    bits,
                    coloured: 0,
                    tensor: true,
                };
                physical::of(&title, Vec::new(), &[wanted]).map_err(drawn)?
            }
            View::Banks => return Err(refused("tensor memory has no banks")),
        };
        picture.subtitle.push(lanebook_draw::notation::tirx(&view));
        picture.subtitle.push(about(tile));
        Ok(picture)
    };
    Some(draw())
}

/// Names of the tiles that an architecture has.
pub fn tiles<'t>(tables: &Tables<'t>, arch: &Arch<'_>) -> Vec<&'t str> {
    tables
        .units
        .tensor_tiles
        .iter()
        .map(|tile| tile.name)
        .filter(|name| tensor::tile_named(tables, arch, name).is_ok())
        .collect()
}

fn about(tile: &TensorTile<'_>) -> String {
    let second = if tile.second_lanes > 0 {
        format!(", or {} lanes further", tile.second_lanes)
    } else {
        String::new()
    };
    format!("{:?}{second}; facts: {}", tile.purpose, tile.status.words()).to_lowercase()
}

/// Rows and columns with every free extent at its usual number: the bytes of a cell where bytes are
/// counted.
fn usual(tile: &TensorTile<'_>) -> (u64, u64) {
    let layout: &TileLayout<'_> = &tile.layout;
    let free = |it: &TileIter| if it.axis == AxisId::BYTE { CELL_BYTES } else { FREE };
    let extent = |at: usize| {
        let it = layout.iters.get(at);
        it.map_or(1, |it| {
            u64::from(it.extent.factor.max(1)) * if it.extent.param == 0 { 1 } else { free(it) }
        })
    };
    let rows = usize::from(layout.dims.first().copied().unwrap_or(0));
    let columns = rows + usize::from(layout.dims.get(1).copied().unwrap_or(0));
    ((0..rows).map(extent).product(), (rows..columns).map(extent).product())
}

fn refused(what: &str) -> Problem {
    Problem::refused(what, "leave --view out, or use --view lanes")
}

fn drawn(error: DrawError) -> Problem {
    Problem::refused(error.message, error.remedy)
}
