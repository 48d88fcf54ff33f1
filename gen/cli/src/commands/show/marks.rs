//! What `--at`, `--lane`, `--reg` and `--warp` mark: elements, as the query language finds them.
use super::rows_and_columns;
use crate::args::{Show, View};
use lanebook::query::{QueryStorage, ask};
use lanebook_draw::Picture;
use lanebook_report::problem::Problem;
use lanebook_tables::{ArchId, Tables};
use serde_json::Value;
use std::collections::BTreeMap;

/// Whether anything is to be marked.
pub(super) fn wanted(args: &Show) -> bool {
    args.at.is_some() || args.lane.is_some() || args.reg.is_some() || args.warp.is_some()
}

/// Rows and columns that are marked in a grid.
type Marked = Vec<(u64, u64)>;

/// The picture with what is asked for alone.
pub(super) fn mark(
    args: &Show,
    mut picture: Picture,
    tables: &Tables<'_>,
    most: usize,
) -> Result<Picture, Problem> {
    if args.view != View::Elements || args.other.is_some() {
        return Err(Problem::usage(
            "--at, --lane, --reg and --warp mark elements of one layout, or of an instruction's operands",
            "leave --view and the second layout out",
        ));
    }
    let arch = args.arch.as_deref().and_then(|name| tables.arch_named(name));
    let at = args.at.as_deref().map(rows_and_columns).transpose()?;
    let mut marks: BTreeMap<String, Marked> = BTreeMap::new();
    let mut refused = None;
    let grids: Vec<(Vec<String>, (usize, usize))> = picture
        .panels
        .iter()
        .map(|panel| (panel.parts.clone(), (panel.rows(), panel.columns())))
        .collect();
    for (parts, (rows, columns)) in grids {
        let part = parts.first().cloned().unwrap_or_default();
        let tile = tile(&args.what, &part, (rows, columns));
        match found(tables, arch, &tile, args, at) {
            Ok((elements, words)) => {
                if !words.is_empty() {
                    picture.subtitle.push(if part.is_empty() {
                        words
                    } else {
                        format!("{part}: {words}")
                    });
                }
                marks.insert(part, elements);
            }
            Err(why) => refused = Some(why),
        }
    }
    let any = picture.mark(most, |part, row, column| {
        marks.get(part).is_some_and(|elements| elements.contains(&(row as u64, column as u64)))
    });
    if any {
        // Grids that have no such axis say nothing.
        picture
            .panels
            .retain(|panel| marks.contains_key(&panel.parts.first().cloned().unwrap_or_default()));
        return Ok(picture);
    }
    Err(refused.unwrap_or_else(|| {
        Problem::refused("no element is there", "count from 0, and below what the layout has")
    }))
}

/// The query of a grid's layout with its rows and columns.
fn tile(what: &str, part: &str, (rows, columns): (usize, usize)) -> String {
    if !part.is_empty() {
        return format!("atom(\"{what}\").{part}");
    }
    let cut = what.rfind(';').map_or(0, |at| at + 1);
    let (names, body) = what.split_at(cut);
    let body = body.trim();
    let body =
        if body.contains(['(', '[', '<', '#', ':']) { format!("({body})") } else { body.into() };
    format!("{names}{body} @ {rows}x{columns}")
}

/// The elements that are asked for, and where one element is.
fn found(
    tables: &Tables<'_>,
    arch: Option<ArchId>,
    tile: &str,
    args: &Show,
    at: Option<(u64, u64)>,
) -> Result<(Marked, String), Problem> {
    let mut parts = String::new();
    for (word, number) in [("lane", args.lane), ("register", args.reg), ("warp", args.warp)] {
        if let Some(number) = number {
            parts.push_str(&format!(" {word} {number}"));
        }
    }
    let query = match at {
        Some((row, column)) => format!("{tile} at ({row}, {column})"),
        None => format!("{tile} where{parts}"),
    };
    let mut storage = Box::new(QueryStorage::new());
    let refused = |error: lanebook::query::QueryError| {
        let mut words = String::new();
        let _ = error.why.write_text("it", &mut words);
        let (what, remedy) = words.split_once("; ").unwrap_or((&words, "ask for less"));
        Problem::refused(what, remedy)
    };
    let answer = ask(tables, arch, &query, &mut storage).map_err(refused)?;
    let mut json = String::new();
    let mut words = String::new();
    let unwritten = |_| Problem::refused("the answer cannot be written", "ask for less");
    answer.write_json(&mut json).map_err(unwritten)?;
    if let Some((row, column)) = at {
        answer.write_text(&mut words).map_err(unwritten)?;
        let words = words.trim_end().replace('\n', "; ");
        return Ok((vec![(row, column)], format!("element ({row}, {column}): {words}")));
    }
    let said: Value = serde_json::from_str(&json).unwrap_or_default();
    let elements = said["elements"].as_array().cloned().unwrap_or_default();
    let pair = |element: &Value| Some((element[0].as_u64()?, element[1].as_u64()?));
    Ok((elements.iter().filter_map(pair).collect(), String::new()))
}
