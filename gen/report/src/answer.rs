//! Answers and pictures as tables for other programs: comma-separated values, JSON.
use crate::table::{Align, Table};
use lanebook::layout::{AxisNames, Coord, WellKnown};
use lanebook::query::{QueryAnswer, QueryTopic, WriteError};
use lanebook_draw::Picture;
use serde_json::{Value, json};

/// Most elements whose positions are written.
const MOST_ELEMENTS: u64 = 1 << 22;

/// An answer as comma-separated values: of a layout a line for each place of each element, its coordinates and then its
/// positions by axis; of a list a line an item; else names and values.
///
/// ```
/// use lanebook::query::{QueryStorage, ask};
///
/// let mut storage = Box::new(QueryStorage::new());
/// let answer = ask(&lanebook::TABLES, None, "(2,2):(1,4)", &mut storage).expect("a layout");
/// let text = lanebook_report::answer::csv(&answer).expect("it is written");
/// assert_eq!(text, "i0,i1,m\n0,0,0\n1,0,1\n0,1,4\n1,1,5\n");
/// ```
///
/// # Errors
/// What the answer is refused for.
pub fn csv(answer: &QueryAnswer<'_>) -> Result<String, WriteError> {
    if matches!(answer.topic, QueryTopic::Value) && answer.layout().is_some() {
        return positions(answer);
    }
    let mut text = String::new();
    answer.write_json(&mut text)?;
    Ok(listed(&serde_json::from_str(&text).unwrap_or_default()))
}

/// The positions of a layout's elements.
fn positions(answer: &QueryAnswer<'_>) -> Result<String, WriteError> {
    let Some(placed) = answer.layout() else { return Ok(String::new()) };
    let refused = |error: lanebook::layout::Error| WriteError::Refused(error.into());
    let view = placed.layout.view();
    let size = view.size_value().map_err(refused)?;
    if size > MOST_ELEMENTS {
        let most = u32::try_from(MOST_ELEMENTS).unwrap_or(u32::MAX);
        return Err(WriteError::Refused(lanebook::query::Why::TooLarge { most }));
    }
    let mut room = [0u32; 32];
    let extents = placed.extents(&mut room);
    let axes = view.axes().map_err(refused)?;
    let mut head: Vec<String> = (0..extents.len()).map(|k| format!("i{k}")).collect();
    for axis in &axes {
        head.push(WellKnown.name(*axis).map_or_else(|| "position".to_string(), str::to_string));
    }
    let mut out = crate::table::csv_row(&head);
    for element in 0..size {
        let mut rest = element;
        let mut coordinates = vec![0u64; extents.len()];
        let count = coordinates.len();
        for k in 0..count {
            let at = if placed.elements.row_major { count - 1 - k } else { k };
            let extent = u64::from(extents[at]).max(1);
            coordinates[at] = rest % extent;
            rest /= extent;
        }
        let mut places: Vec<Vec<i64>> = Vec::new();
        let walked = view.apply_all(element, &mut Coord::new(), |at| {
            let one: Vec<i64> = axes.iter().map(|axis| at.get(*axis)).collect();
            if !places.contains(&one) {
                places.push(one);
            }
            Ok(())
        });
        walked.map_err(refused)?;
        for place in places {
            let own = coordinates.iter().map(u64::to_string);
            let cells: Vec<String> = own.chain(place.iter().map(i64::to_string)).collect();
            out.push_str(&crate::table::csv_row(&cells));
        }
    }
    Ok(out)
}

/// A JSON object as rows.
fn listed(value: &Value) -> String {
    let Some(object) = value.as_object() else { return String::new() };
    let rest: Vec<&Value> =
        object.iter().filter(|(key, _)| *key != "kind").map(|(_, value)| value).collect();
    if let [Value::Array(items)] = rest.as_slice()
        && items.iter().all(|item| item.is_object() || item.is_array())
    {
        return rows(items);
    }
    let mut out = String::from("name,value\n");
    flattened("", value, &mut out);
    out
}

/// Items with the same names, or lists.
fn rows(items: &[Value]) -> String {
    let mut head: Vec<String> = Vec::new();
    for item in items {
        let names: Vec<String> = match item {
            Value::Object(object) => object.keys().cloned().collect(),
            Value::Array(list) => (0..list.len()).map(|k| format!("i{k}")).collect(),
            _ => Vec::new(),
        };
        for name in names {
            if !head.contains(&name) {
                head.push(name);
            }
        }
    }
    let mut out = crate::table::csv_row(&head);
    for item in items {
        let cells: Vec<String> = head
            .iter()
            .enumerate()
            .map(|(k, name)| {
                let found = if item.is_array() { item.get(k) } else { item.get(name.as_str()) };
                found.map_or_else(String::new, plain)
            })
            .collect();
        out.push_str(&crate::table::csv_row(&cells));
    }
    out
}

/// A value in one cell.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(list) => list.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// A line for each value that is no object, behind the names that lead to it.
fn flattened(before: &str, value: &Value, out: &mut String) {
    let named =
        |key: &str| if before.is_empty() { key.to_string() } else { format!("{before}.{key}") };
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                flattened(&named(key), value, out);
            }
        }
        Value::Array(list) if list.iter().any(|item| item.is_object() || item.is_array()) => {
            for (k, item) in list.iter().enumerate() {
                flattened(&named(&k.to_string()), item, out);
            }
        }
        other => out.push_str(&crate::table::csv_row(&[before.to_string(), plain(other)])),
    }
}

/// A picture as JSON: each grid with the labels of its rows and columns, and the words of its cells.
#[must_use]
pub fn picture_json(picture: &Picture) -> Value {
    let panels: Vec<Value> = picture
        .panels
        .iter()
        .map(|panel| {
            let cells: Vec<Vec<String>> = (0..panel.rows())
                .map(|row| {
                    (0..panel.columns())
                        .map(|column| panel.cell(row, column).lines.join(" "))
                        .collect()
                })
                .collect();
            json!({
                "title": panel.title, "parts": panel.parts, "axes": [panel.axes.0, panel.axes.1],
                "rows": panel.row_labels, "columns": panel.column_labels, "cells": cells,
            })
        })
        .collect();
    json!({
        "title": picture.title, "about": picture.subtitle, "panels": panels, "notes": picture.notes,
    })
}

/// A picture as comma-separated values: a line for each cell.
#[must_use]
pub fn picture_csv(picture: &Picture) -> String {
    let mut table = Table::new(&[
        ("PART", Align::Left),
        ("ROW", Align::Left),
        ("COLUMN", Align::Left),
        ("CELL", Align::Left),
    ]);
    for panel in &picture.panels {
        let part = if panel.parts.is_empty() { panel.title.clone() } else { panel.parts.join(" ") };
        for (r, row) in panel.row_labels.iter().enumerate() {
            for (c, column) in panel.column_labels.iter().enumerate() {
                let cell = panel.cell(r, c).lines.join(" ");
                table.row([part.clone(), row.clone(), column.clone(), cell]);
            }
        }
    }
    table.csv()
}
