//! A picture as SVG: one file, no scripts, no fonts of its own, light or dark as the viewer is.
//!
//! Colours are classes; a media query exchanges them. Viewers that do not know media queries show
//! the light scheme.
use crate::colour::{DARK, LIGHT, Scheme, hex};
use crate::{Colours, Panel, Picture};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Width of a monospaced character of a cell, in pixels.
const CHAR: usize = 7;
/// Height of a line of a cell.
const LINE: usize = 13;
/// Space around everything and between panels.
const GAP: usize = 24;
/// Height of a panel's column labels.
const HEAD: usize = 18;
/// Height of a panel's title and note.
const TITLE: usize = 38;
/// Edge of a colour sample in the legend.
const SWATCH: usize = 14;

/// Measures of a panel's cells.
struct Size {
    cell: (usize, usize),
    left: usize,
    width: usize,
    height: usize,
    titles: usize,
}

/// The picture as an SVG document.
#[must_use]
pub fn render(picture: &Picture) -> String {
    let sizes: Vec<Size> = measured(picture);
    let (columns, rows) = tracks(picture, &sizes);
    let top = GAP + 22 + 17 * picture.subtitle.len() + 12;
    let body: usize = rows.iter().sum::<usize>() + GAP * rows.len().saturating_sub(1);
    let legend = legend_width(picture);
    let longest = picture
        .subtitle
        .iter()
        .chain(&picture.notes)
        .map(|l| l.chars().count() * CHAR)
        .max()
        .unwrap_or(0)
        .max(picture.title.chars().count() * 9);
    let wide = columns.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1);
    let width = GAP * 2 + wide.max(legend).max(longest);
    let foot =
        GAP + if picture.colours.is_some() { SWATCH + 26 } else { 0 } + 17 * picture.notes.len();
    let height = top + body + foot + GAP;

    let mut out = String::new();
    let _ = writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc">"#
    );
    let _ = writeln!(out, "<title id=\"title\">{}</title>", escape(&picture.title));
    let _ = writeln!(out, "<desc id=\"desc\">{}</desc>", escape(&picture.subtitle.join("; ")));
    style(&mut out, picture);
    let _ = writeln!(out, r#"<rect class="page" width="{width}" height="{height}"/>"#);
    let _ = writeln!(
        out,
        r#"<text class="title" x="{GAP}" y="{}">{}</text>"#,
        GAP + 12,
        escape(&picture.title)
    );
    for (k, line) in picture.subtitle.iter().enumerate() {
        let _ = writeln!(
            out,
            r#"<text class="faint" x="{GAP}" y="{}">{}</text>"#,
            GAP + 32 + 17 * k,
            escape(line)
        );
    }
    for (panel, size) in picture.panels.iter().zip(&sizes) {
        let start = |tracks: &[usize], at: usize| tracks.iter().take(at).sum::<usize>() + GAP * at;
        // Against the inner corner, so that a product's operands meet.
        let x = GAP
            + start(&columns, panel.place.0)
            + if panel.place.0 == 0 {
                columns.first().map_or(0, |c| c.saturating_sub(size.width))
            } else {
                0
            };
        let x = if columns.len() == 1 { GAP } else { x };
        let bottom = rows.get(panel.place.1).copied().unwrap_or(0).saturating_sub(size.height);
        let y = top
            + start(&rows, panel.place.1)
            + if panel.place.1 == 0 && rows.len() > 1 { bottom } else { 0 };
        draw(&mut out, panel, size, x, y, picture.colours.as_ref());
    }
    let mut y = top + body + GAP;
    if let Some(colours) = &picture.colours {
        legend_at(&mut out, colours, y);
        y += SWATCH + 26;
    }
    for (k, note) in picture.notes.iter().enumerate() {
        let _ = writeln!(
            out,
            r#"<text class="faint" x="{GAP}" y="{}">{}</text>"#,
            y + 12 + 17 * k,
            escape(note)
        );
    }
    out.push_str("</svg>\n");
    out
}

fn measured(picture: &Picture) -> Vec<Size> {
    // One cell size for all panels, so that rows and columns that mean the same stand in line.
    let of = |panel: &Panel| {
        let chars = panel
            .cells
            .iter()
            .flat_map(|cell| &cell.lines)
            .chain(&panel.column_labels)
            .map(|l| l.chars().count())
            .max()
            .unwrap_or(1);
        let lines = panel.cells.iter().map(|cell| cell.lines.len()).max().unwrap_or(1).max(1);
        (chars, lines)
    };
    let (chars, lines) =
        picture.panels.iter().map(of).fold((1, 1), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    let cell = ((chars * CHAR + 8).max(22), (lines * LINE + 8).max(20));
    let size = |panel: &Panel| {
        let label = panel.row_labels.iter().map(|l| l.chars().count()).max().unwrap_or(1);
        let corner = if panel.axes.0.is_empty() {
            0
        } else {
            panel.axes.0.chars().count() + panel.axes.1.chars().count() + 1
        };
        let left = label.max(corner) * CHAR + 8;
        let titles = if panel.title.is_empty() && panel.note.is_empty() { 0 } else { TITLE };
        let text = panel.title.chars().count().max(panel.note.chars().count()) * CHAR + 4;
        let width = (left + cell.0 * panel.columns()).max(text);
        Size { cell, left, width, height: titles + HEAD + cell.1 * panel.rows(), titles }
    };
    picture.panels.iter().map(size).collect()
}

/// Widths of the picture's columns and heights of its rows.
fn tracks(picture: &Picture, sizes: &[Size]) -> (Vec<usize>, Vec<usize>) {
    let mut columns = Vec::new();
    let mut rows = Vec::new();
    for (panel, size) in picture.panels.iter().zip(sizes) {
        let (c, r) = panel.place;
        if columns.len() <= c {
            columns.resize(c + 1, 0);
        }
        if rows.len() <= r {
            rows.resize(r + 1, 0);
        }
        columns[c] = columns[c].max(size.width);
        rows[r] = rows[r].max(size.height);
    }
    (columns, rows)
}

fn style(out: &mut String, picture: &Picture) {
    let mut used: BTreeSet<u16> =
        picture.panels.iter().flat_map(|p| &p.cells).filter_map(|c| c.colour).collect();
    let count = picture.colours.as_ref().map_or(1, |c| c.count);
    // The legend shows them all.
    used.extend(0..picture.colours.as_ref().map_or(0, |c| c.count));
    out.push_str("<style>\n");
    out.push_str("text{font-family:ui-sans-serif,system-ui,'Segoe UI','Helvetica Neue','DejaVu Sans',Arial,sans-serif;font-size:12px}\n");
    out.push_str("text.cell,text.label{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:10.5px;text-anchor:middle}\n");
    out.push_str("text.row{text-anchor:end}text.title{font-size:16px;font-weight:600}text.panel{font-weight:600}\n");
    out.push_str("text.note{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:10.5px}\n");
    scheme(out, &LIGHT, &used, count);
    out.push_str("@media (prefers-color-scheme:dark){\n");
    scheme(out, &DARK, &used, count);
    out.push_str("}\n</style>\n");
}

fn scheme(out: &mut String, scheme: &Scheme, used: &BTreeSet<u16>, count: u16) {
    let _ = writeln!(
        out,
        "text{{fill:{ink}}}text.faint,text.label,text.note{{fill:{faint}}}.page{{fill:{page}}}rect.cell{{stroke:{line};stroke-width:1}}line.rule{{stroke:{ink};stroke-width:1.5}}.none{{fill:{page}}}",
        ink = hex(scheme.ink),
        faint = hex(scheme.faint),
        page = hex(scheme.page),
        line = hex(scheme.line),
    );
    for k in used {
        let _ = write!(out, ".c{k}{{fill:{}}}", hex(scheme.fill(*k, count)));
    }
    out.push('\n');
}

fn draw(
    out: &mut String,
    panel: &Panel,
    size: &Size,
    x: usize,
    y: usize,
    colours: Option<&Colours>,
) {
    out.push_str("<g>\n");
    if size.titles > 0 {
        let _ = writeln!(
            out,
            r#"<text class="panel" x="{x}" y="{}">{}</text>"#,
            y + 12,
            escape(&panel.title)
        );
        let _ = writeln!(
            out,
            r#"<text class="note" x="{x}" y="{}">{}</text>"#,
            y + 28,
            escape(&panel.note)
        );
    }
    let (left, top) = (x + size.left, y + size.titles + HEAD);
    let (w, h) = size.cell;
    if !panel.axes.0.is_empty() {
        let _ = writeln!(
            out,
            r#"<text class="label row" x="{}" y="{}">{}\{}</text>"#,
            left - 6,
            top - 6,
            escape(&panel.axes.0),
            escape(&panel.axes.1)
        );
    }
    for (k, label) in panel.column_labels.iter().enumerate() {
        let _ = writeln!(
            out,
            r#"<text class="label" x="{}" y="{}">{}</text>"#,
            left + k * w + w / 2,
            top - 6,
            escape(label)
        );
    }
    for (row, label) in panel.row_labels.iter().enumerate() {
        let middle = top + row * h + h / 2;
        let _ = writeln!(
            out,
            r#"<text class="label row" x="{}" y="{}">{}</text>"#,
            left - 6,
            middle + 4,
            escape(label)
        );
        for column in 0..panel.columns() {
            let cell = panel.cell(row, column);
            let at = left + column * w;
            let class = match (cell.colour, colours) {
                (Some(k), Some(_)) => format!("c{k}"),
                _ => "none".to_string(),
            };
            let _ = write!(
                out,
                r#"<rect class="cell {class}" x="{at}" y="{}" width="{w}" height="{h}"/>"#,
                top + row * h
            );
            let lines = cell.lines.len();
            for (k, text) in cell.lines.iter().enumerate() {
                let base = middle + 4 + k * LINE - (lines.saturating_sub(1) * LINE) / 2;
                let _ = write!(
                    out,
                    r#"<text class="cell" x="{}" y="{base}">{}</text>"#,
                    at + w / 2,
                    escape(text)
                );
            }
            out.push('\n');
        }
    }
    if panel.rule > 0 {
        for row in (panel.rule..panel.rows()).step_by(panel.rule) {
            let _ = writeln!(
                out,
                r#"<line class="rule" x1="{left}" y1="{0}" x2="{1}" y2="{0}"/>"#,
                top + row * h,
                left + w * panel.columns()
            );
        }
    }
    out.push_str("</g>\n");
}

/// Samples that stand together in the legend: those of one hue.
fn groups(colours: &Colours) -> (u16, u16) {
    let groups = colours.count.clamp(1, 8);
    (groups, (colours.count / groups).max(1))
}

fn group_width(colours: &Colours) -> usize {
    let (_, shades) = groups(colours);
    let text = colours.prefix.chars().count() * 2 + 6;
    (usize::from(shades) * SWATCH / if shades > 4 { 2 } else { 1 }).max(text * CHAR) + 10
}

/// Where the samples begin: behind what is coloured, in words.
fn legend_start(colours: &Colours) -> usize {
    (coloured(colours).chars().count() * CHAR + 8).max(48)
}

/// What is coloured, in words.
fn coloured(colours: &Colours) -> String {
    if colours.wraps {
        format!("{} mod {}", colours.what, colours.count)
    } else {
        colours.what.clone()
    }
}

fn legend_width(picture: &Picture) -> usize {
    let width = |c: &Colours| legend_start(c) + usize::from(groups(c).0) * group_width(c);
    picture.colours.as_ref().map_or(0, width)
}

fn legend_at(out: &mut String, colours: &Colours, y: usize) {
    let (count, shades) = groups(colours);
    let what = coloured(colours);
    let _ =
        writeln!(out, r#"<text class="faint" x="{GAP}" y="{}">{}</text>"#, y + 11, escape(&what));
    let start = GAP + legend_start(colours);
    let edge = if shades > 4 { SWATCH / 2 } else { SWATCH };
    for group in 0..count {
        let x = start + usize::from(group) * group_width(colours);
        for shade in 0..shades {
            let k = group * shades + shade;
            let _ = write!(
                out,
                r#"<rect class="c{k}" x="{}" y="{y}" width="{edge}" height="{SWATCH}"/>"#,
                x + usize::from(shade) * edge
            );
        }
        let p = &colours.prefix;
        let (first, last) = (group * shades, group * shades + shades - 1);
        let text = if count == 1 {
            String::new()
        } else if first == last {
            format!("{p}{first}")
        } else {
            format!("{p}{first}-{last}")
        };
        let _ = writeln!(
            out,
            r#"<text class="note" x="{x}" y="{}">{}</text>"#,
            y + SWATCH + 12,
            escape(&text)
        );
    }
}

/// Text as SVG takes it.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
