//! Queries: the answer in words, as JSON, as a grid of positions, and the banks of an access.

use crate::request::refusal;
use lanebook::TABLES;
use lanebook::query::{Placed, QueryAnswer, QueryError, QueryStorage, QueryTopic, WriteError, ask};
use lanebook_draw::Repeat;
use lanebook_draw::cell::Style;
use lanebook_draw::layout::{self, Order};
use lanebook_tables::{ArchId, BankModel};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Most elements that get a grid.
const MOST_CELLS: u64 = 1 << 14;

/// The answer to a query.
pub(crate) fn query(text: &str, arch: &str, full: bool) -> Value {
    let id = match (arch, TABLES.arch_named(arch)) {
        ("", _) => None,
        (_, Some(id)) => Some(id),
        (_, None) => {
            return refusal(
                &format!("no architecture is called `{arch}`"),
                "choose one of the list",
            );
        }
    };
    let mut storage = Box::new(QueryStorage::new());
    match ask(&TABLES, id, text, &mut storage) {
        Ok(answer) => answered(&answer, text, id, full).unwrap_or_else(|refused| refused),
        Err(error) => refused(text, &error),
    }
}

fn refused(text: &str, error: &QueryError) -> Value {
    let mut words = String::new();
    let _ = error.write_text(text, &mut words);
    let (what, remedy) = words.trim_end().split_once("; ").unwrap_or((words.trim_end(), ""));
    json!({ "error": { "what": what, "remedy": remedy, "line": error.line, "column": error.column } })
}

fn answered(
    answer: &QueryAnswer<'_>,
    text: &str,
    arch: Option<ArchId>,
    full: bool,
) -> Result<Value, Value> {
    let fault = |why: WriteError| match why {
        WriteError::Refused(why) => refused(text, &answer.error(why)),
        WriteError::Sink => refusal("the answer cannot be written", "report this"),
    };
    let mut words = String::new();
    answer.write_text(&mut words).map_err(fault)?;
    let mut out = Map::new();
    out.insert("text".into(), words.into());
    out.insert("answer".into(), object(answer).map_err(fault)?);
    if let (QueryTopic::Value, Some(placed)) = (&answer.topic, answer.layout()) {
        let grid = match grid(answer, placed, arch, full) {
            Ok(grid) => grid,
            Err(why) => refusal(&why.0, &why.1),
        };
        out.insert("grid".into(), grid);
    }
    if let Some(banks) = banks(answer).map_err(|why| refused(text, &answer.error(why)))? {
        out.insert("banks".into(), banks);
    }
    Ok(out.into())
}

fn object(answer: &QueryAnswer<'_>) -> Result<Value, WriteError> {
    let mut text = String::new();
    answer.write_json(&mut text)?;
    Ok(serde_json::from_str(&text).unwrap_or(Value::Null))
}

/// Why there is no grid, and what to do.
type NoGrid = (String, String);

/// The positions of all elements, row by row: of each element its places, one after the other, of each place the
/// position on each axis. An element whose address is known in bytes has a bank as well.
fn grid(
    answer: &QueryAnswer<'_>,
    placed: &Placed,
    arch: Option<ArchId>,
    full: bool,
) -> Result<Value, NoGrid> {
    let drawn = |error: lanebook_draw::DrawError| (error.message, error.remedy);
    let view = placed.layout.view();
    let elements = &placed.elements;
    let (order, (rows, columns)) =
        layout::grid(&view, elements.row_major, elements.extents()).map_err(drawn)?;
    let size = layout::size(&view).map_err(drawn)?;
    let many = |cells: u64, most: u64| {
        (
            format!("{cells} elements are too many for a picture; the most is {most}"),
            "ask for a tile of it".to_string(),
        )
    };
    if rows.checked_mul(columns) != Some(size) || size > layout::MOST_CELLS {
        return Err(many(size, layout::MOST_CELLS));
    }
    // Of what repeats the part that is drawn once, as `lanebook show` has it.
    let (down, right) = match full {
        true => (None, None),
        false => {
            let style = Style::of(&[view], None);
            layout::panel(&view, order, (rows, columns), &style).map_err(drawn)?.repeats
        }
    };
    let part = |all: u64, repeat: &Option<Repeat>| {
        repeat.as_ref().map_or(all, |repeat| (repeat.period as u64).min(all))
    };
    let shown = (part(rows, &down), part(columns, &right));
    if shown.0 * shown.1 > MOST_CELLS {
        return Err(many(shown.0 * shown.1, MOST_CELLS));
    }
    let bank = arch.and_then(|id| TABLES.arch(id)).and_then(|arch| arch.banks.first());
    let mut axes: Vec<String> = Vec::new();
    let mut cells: Vec<Vec<BTreeMap<usize, i64>>> = Vec::new();
    let mut one = answer.clone();
    for row in 0..shown.0 {
        for column in 0..shown.1 {
            one.topic = QueryTopic::Element(match order {
                Order::ColumnMajor => row + column * rows,
                Order::RowMajor => row * columns + column,
            });
            let said = object(&one).map_err(|_| {
                (
                    format!("element ({row}, {column}) has no place"),
                    "write numbers for symbols".to_string(),
                )
            })?;
            let places = said["places"].as_array().cloned().unwrap_or_default();
            cells.push(places.iter().map(|place| positions(place, bank, &mut axes)).collect());
        }
    }
    let cells: Vec<Vec<i64>> = cells
        .iter()
        .map(|places| {
            places
                .iter()
                .flat_map(|place| {
                    (0..axes.len()).map(|axis| place.get(&axis).copied().unwrap_or(0))
                })
                .collect()
        })
        .collect();
    let folded: Vec<String> = [("rows", rows, &down), ("columns", columns, &right)]
        .into_iter()
        .filter_map(|(what, all, repeat)| Some(repeat.as_ref()?.words(what, all as usize)))
        .collect();
    Ok(json!({
        "rows": shown.0, "columns": shown.1, "axes": axes, "cells": cells, "folded": folded,
        "of": [rows, columns],
        "banks": bank.map(|model| model.banks),
    }))
}

/// Positions of a place by the number of the axis.
fn positions(
    place: &Value,
    bank: Option<&BankModel<'_>>,
    axes: &mut Vec<String>,
) -> BTreeMap<usize, i64> {
    let mut out = BTreeMap::new();
    let mut put = |name: &str, value: i64| {
        let number = axes.iter().position(|axis| axis == name).unwrap_or_else(|| {
            axes.push(name.to_string());
            axes.len() - 1
        });
        out.insert(number, value);
    };
    let Some(place) = place.as_object() else { return out };
    for (name, value) in place {
        put(name, value.as_i64().unwrap_or(0));
    }
    if let (Some(byte), Some(bank)) = (place.get("byte").and_then(Value::as_i64), bank) {
        let width = i64::from(bank.bank_bytes.max(1));
        put("bank", byte.div_euclid(width).rem_euclid(i64::from(bank.banks.max(1))));
    }
    out
}

/// The banks of the access that `conflicts` is asked about: what each slot touches, and which are served together.
fn banks(answer: &QueryAnswer<'_>) -> Result<Option<Value>, lanebook::query::Why> {
    let mut addresses: Vec<(u32, u64)> = Vec::new();
    let Some(found) = answer.accessed(|slot, byte| addresses.push((slot, byte)))? else {
        return Ok(None);
    };
    let groups: Vec<Vec<u32>> = found
        .banks
        .groups
        .iter()
        .map(|mask| (0..64).filter(|slot| mask >> slot & 1 == 1).collect())
        .collect();
    Ok(Some(json!({
        "model": found.banks.name, "status": found.banks.status.words(), "banks": found.banks.banks,
        "bank_bytes": found.banks.bank_bytes, "slot_bytes": found.slot_bytes, "instance": found.instance,
        "passes": found.passes, "least": found.least, "groups": groups, "addresses": addresses,
    })))
}
