//! A picture as text for a terminal, in colour if asked for.
use crate::colour::LIGHT;
use crate::{Cell, Panel, Picture};
use anstyle::{Color, RgbColor, Style};

/// How to print.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Paint the cells (with terminal escapes).
    pub colour: bool,
    /// Most rows and columns of a grid that are shown; what is left out is said.
    pub most: usize,
    /// Characters of a line: columns that do not fit stand below the others. 0: no end.
    pub width: usize,
}

/// The picture as text.
#[must_use]
pub fn render(picture: &Picture, options: Options) -> String {
    let mut out = String::new();
    line(&mut out, &picture.title);
    for text in &picture.subtitle {
        line(&mut out, text);
    }
    for panel in &picture.panels {
        out.push('\n');
        grid(&mut out, picture, panel, options);
    }
    if !picture.notes.is_empty() {
        out.push('\n');
    }
    for note in &picture.notes {
        line(&mut out, note);
    }
    if let Some(colours) = picture.colours.as_ref().filter(|_| options.colour) {
        let again =
            if colours.wraps { format!(" modulo {}", colours.count) } else { String::new() };
        line(&mut out, &format!("colour: {}{again}", colours.what));
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn grid(out: &mut String, picture: &Picture, panel: &Panel, options: Options) {
    if !panel.title.is_empty() {
        line(out, &panel.title);
    }
    if !panel.note.is_empty() {
        line(out, &format!("  {}", panel.note));
    }
    let (rows, columns) = (panel.rows().min(options.most), panel.columns().min(options.most));
    let content = panel.cells.iter().map(|cell| said(cell).chars().count()).max().unwrap_or(0);
    let label =
        panel.column_labels.iter().take(columns).map(|l| l.chars().count()).max().unwrap_or(0);
    let width = content.max(label);
    let (row_axis, column_axis) = (&panel.axes.0, &panel.axes.1);
    let corner =
        if row_axis.is_empty() { String::new() } else { format!("{row_axis}\\{column_axis}") };
    let left = panel
        .row_labels
        .iter()
        .map(|l| l.chars().count())
        .chain([corner.chars().count()])
        .max()
        .unwrap_or(0);
    let number = panel.cells.iter().all(|cell| cell.lines.len() <= 1);
    let padded = |text: &str| {
        if number { format!(" {text:>width$} ") } else { format!(" {text:<width$} ") }
    };
    // Columns that fit a line, at least one.
    let fit = match options.width {
        0 => columns,
        most => (most.saturating_sub(left + 1) / (width + 2)).clamp(1, columns.max(1)),
    };
    for first in (0..columns).step_by(fit.max(1)) {
        let shown = first..(first + fit).min(columns);
        if first > 0 {
            out.push('\n');
        }
        let mut head = format!("{corner:>left$} ");
        for text in panel.column_labels.get(shown.clone()).unwrap_or_default() {
            head.push_str(&padded(text));
        }
        line(out, &head);
        for row in 0..rows {
            if panel.rule > 0 && row > 0 && row % panel.rule == 0 {
                out.push('\n');
            }
            let name = panel.row_labels.get(row).map_or("", String::as_str);
            let mut text = format!("{name:>left$} ");
            for column in shown.clone() {
                let cell = panel.cell(row, column);
                text.push_str(&painted(picture, &cell, &padded(&said(&cell)), options.colour));
            }
            line(out, &text);
        }
    }
    if rows < panel.rows() || columns < panel.columns() {
        line(
            out,
            &format!(
                "... {rows} of {} rows and {columns} of {} columns are shown; -o FILE.svg draws them all",
                panel.rows(),
                panel.columns()
            ),
        );
    }
}

/// A cell on one line.
fn said(cell: &Cell) -> String {
    cell.lines.join(":")
}

fn painted(picture: &Picture, cell: &Cell, text: &str, colour: bool) -> String {
    match (&picture.colours, cell.colour) {
        (Some(colours), Some(k)) if colour => {
            let rgb = |c: [u8; 3]| Color::Rgb(RgbColor(c[0], c[1], c[2]));
            let style = Style::new()
                .bg_color(Some(rgb(LIGHT.fill(k, colours.count))))
                .fg_color(Some(rgb(LIGHT.ink)));
            format!("{style}{text}{style:#}")
        }
        _ => text.to_string(),
    }
}
