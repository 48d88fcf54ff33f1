//! An atom's operands as grids: the four operands of a matrix instruction laid out like the
//! product, or the two sides of a movement.
use crate::cell::Style;
use crate::layout::places;
use crate::{DrawError, Panel, Picture, notation};
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{Atom, Movement, Operand, Side, Space, Tables};

/// A register's bits: narrower units of a movement are joined to this width where both sides allow
/// it.
const REGISTER_BITS: u16 = 32;

/// The picture of an atom.
///
/// # Errors
/// When the atom has no operand with a layout.
pub fn picture(tables: &Tables<'_>, atom: &Atom<'_>) -> Result<Picture, DrawError> {
    let (panels, style) = if atom.matrix.is_some() {
        matrix(tables, atom)?
    } else if let Some(movement) = &atom.movement {
        movement_panels(atom, movement)?
    } else {
        return Err(DrawError::new(
            format!("`{}` has no operand with a layout", atom.name()),
            "draw an atom that moves tiles or multiplies matrices (`lanebook atoms --class move` or `--class matrix`)",
        ));
    };
    Ok(Picture {
        title: atom.name().to_string(),
        subtitle: vec![template(atom)],
        panels,
        colours: style.colours(),
        notes: style.notes(),
    })
}

/// The instruction's text with its operands' names in angle brackets; what may be left out stands
/// in parentheses.
#[must_use]
pub fn template(atom: &Atom<'_>) -> String {
    use lanebook_tables::Piece;
    let name = |k: u8| atom.operands.get(usize::from(k)).map_or("?", |o| o.name.text());
    let mut out = String::new();
    for piece in atom.template {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Operand(k) => out.push_str(&format!("<{}>", name(k))),
            Piece::Optional(k, before) => out.push_str(&format!("({before}<{}>)", name(k))),
            Piece::Frame(word) => out.push_str(&format!("<{word}>")),
            Piece::Half(k, upper) => {
                out.push_str(&format!("<{}.{}>", name(k), if upper { "high" } else { "low" }))
            }
        }
    }
    out.split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}

/// An operand to draw: its name, what its rows and columns count, its place in the picture.
type Wanted<'a> = (&'a str, &'a Operand<'a>, (&'a str, &'a str), (usize, usize));

/// Operands of a matrix instruction beside the matrices, by number: what they hold, what their rows
/// and columns count.
pub(crate) fn beside(atom: &Atom<'_>) -> Vec<(&'static str, u8, (&'static str, &'static str))> {
    let Some(more) = atom.more else { return Vec::new() };
    let all = [
        ("indices of A", more.index, ("m", "stored")),
        ("scales of A", more.scales.0, ("m", "run")),
        ("scales of B", more.scales.1, ("run", "n")),
    ];
    all.into_iter().filter_map(|(name, operand, axes)| Some((name, operand?, axes))).collect()
}

fn matrix(tables: &Tables<'_>, atom: &Atom<'_>) -> Result<(Vec<Panel>, Style), DrawError> {
    let shape =
        atom.matrix.ok_or_else(|| DrawError::new("no matrix shape", "draw another atom"))?;
    let operand = |k: u8| atom.operands.get(usize::from(k)).filter(|o| o.layout.is_some());
    let (a, b, c, d) = (operand(shape.a), operand(shape.b), operand(shape.c), operand(shape.d));
    let same =
        matches!((c, d), (Some(c), Some(d)) if c.layout == d.layout && c.extents == d.extents);
    let mut wanted: Vec<Wanted<'_>> = Vec::new();
    if let Some(b) = b {
        wanted.push(("B", b, ("k", "n"), (1, 0)));
    }
    if let Some(a) = a {
        wanted.push(("A", a, ("m", "k"), (0, 1)));
    }
    if let Some(c) = c {
        wanted.push((if same { "C and D" } else { "C" }, c, ("m", "n"), (1, 1)));
    }
    if let Some(d) = d.filter(|_| !same) {
        wanted.push(("D", d, ("m", "n"), (2, 1)));
    }
    let layouts: Vec<LayoutRef<'_>> =
        wanted.iter().filter_map(|(_, o, ..)| o.layout.copied()).collect();
    if layouts.is_empty() {
        return Err(DrawError::new(
            format!("`{}` has no operand with a layout", atom.name()),
            "draw another atom",
        ));
    }
    let mut style = Style::of(&layouts, None);
    // Narrower than the matrices, with an element width of their own; their lanes have the same
    // colours.
    let matrices = wanted.len();
    let (mut below, mut right) = (2, 2);
    for (name, number, axes) in beside(atom) {
        let Some(operand) = operand(number) else { continue };
        let place = if axes.1 == "n" { (right, 0) } else { (0, below) };
        if axes.1 == "n" {
            right += 1
        } else {
            below += 1
        }
        wanted.push((name, operand, axes, place));
    }
    let all: Vec<LayoutRef<'_>> =
        wanted.iter().filter_map(|(_, o, ..)| o.layout.copied()).collect();
    style.colour_as(&Style::of(&all, None));
    let mut panels = Vec::new();
    for (at, (name, operand, axes, place)) in wanted.into_iter().enumerate() {
        let Some(layout) = operand.layout else { continue };
        let style = if at < matrices { style.clone() } else { style.own(layout) };
        let (rows, columns) = (u64::from(operand.extents.0), u64::from(operand.extents.1));
        let mut panel =
            crate::layout::panel(layout, crate::layout::Order::RowMajor, (rows, columns), &style)?;
        let dtype = operand.dtype.and_then(|d| tables.dtype(d)).map_or("", |d| d.name);
        panel.title = format!(
            "{name}: {rows} x {columns} {dtype}, {} {} a lane",
            operand.registers,
            if operand.registers == 1 { "register" } else { "registers" }
        );
        panel.parts = name.split(" and ").map(str::to_string).collect();
        panel.note = notation::tirx(layout);
        panel.axes = (axes.0.to_string(), axes.1.to_string());
        panel.place = place;
        panels.push(panel);
    }
    Ok((panels, style))
}

fn movement_panels(
    atom: &Atom<'_>,
    movement: &Movement<'_>,
) -> Result<(Vec<Panel>, Style), DrawError> {
    let sides = [("from", &movement.from), ("to", &movement.to)];
    let style = Style::of(&[*movement.from.layout, *movement.to.layout], None);
    let columns = movement.extents.last().copied().map_or(1, u64::from);
    let size = movement.extents.iter().map(|&e| u64::from(e)).product::<u64>();
    let join = joined(movement, columns);
    let leading: Vec<u64> =
        movement.extents.iter().rev().skip(1).rev().map(|&e| u64::from(e)).collect();
    let rows = size / columns.max(1);
    let mut panels = Vec::new();
    for (number, (word, side)) in sides.into_iter().enumerate() {
        let mut cells = Vec::new();
        let style = style.own(side.layout);
        for row in 0..rows {
            for column in (0..columns).step_by(join as usize) {
                cells.push(style.cell(&places(side.layout, row * columns + column)?));
            }
        }
        let unit = u64::from(movement.unit_bits) * join;
        panels.push(Panel {
            parts: vec![word.to_string()],
            title: format!(
                "{word} {}, operand `{}`: {rows} x {} of {unit} bits",
                space(side.space),
                operand_name(atom, side),
                columns / join
            ),
            note: notation::tirx(side.layout),
            row_labels: (0..rows).map(|row| mixed(row, &leading)).collect(),
            column_labels: (0..columns).step_by(join as usize).map(|k| k.to_string()).collect(),
            cells,
            rule: if leading.len() > 1 { leading.last().map_or(0, |&e| e as usize) } else { 0 },
            place: (number, 0),
            ..Panel::default()
        });
    }
    Ok((panels, style))
}

fn operand_name<'a>(atom: &Atom<'a>, side: &Side<'_>) -> &'a str {
    atom.operands.get(usize::from(side.operand)).map_or("?", |o| o.name.text())
}

/// A memory space in words.
#[must_use]
pub fn space(space: Space) -> &'static str {
    match space {
        Space::Register => "registers",
        Space::Shared => "shared memory",
        Space::Global => "global memory",
        Space::Tensor => "tensor memory",
    }
}

/// A row's number in digits of the leading extents, `matrix.row`.
fn mixed(row: u64, leading: &[u64]) -> String {
    let mut digits = Vec::new();
    let mut rest = row;
    for extent in leading.iter().rev() {
        digits.push((rest % extent.max(&1)).to_string());
        rest /= extent.max(&1);
    }
    digits.reverse();
    digits.join(".")
}

/// How many neighbouring units form one cell: they stay neighbours on both sides, up to a
/// register's width.
fn joined(movement: &Movement<'_>, columns: u64) -> u64 {
    let mut join = 1;
    let unit = i64::from(movement.unit_bits);
    if unit >= 16 {
        return 1;
    }
    let adjacent = |layout: &LayoutRef<'_>, x: u64, count: u64| {
        let step =
            |axis| Some(layout.offset_on(x + count, axis).ok()? - layout.offset_on(x, axis).ok()?);
        let others = [AxisId::LANE, AxisId::SLOT].into_iter().all(|axis| step(axis) == Some(0));
        let bits = step(AxisId::BIT).unwrap_or(0) + 8 * step(AxisId::BYTE).unwrap_or(0);
        others && bits == unit * count as i64
    };
    while columns.is_multiple_of(join * 2)
        && u64::from(movement.unit_bits) * join * 2 <= u64::from(REGISTER_BITS)
    {
        let size = movement.extents.iter().map(|&e| u64::from(e)).product::<u64>();
        let fits = (0..size).step_by((join * 2) as usize).all(|x| {
            adjacent(movement.from.layout, x, join) && adjacent(movement.to.layout, x, join)
        });
        if !fits {
            break;
        }
        join *= 2;
    }
    join
}
