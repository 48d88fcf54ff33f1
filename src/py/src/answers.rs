//! Queries, tables of positions, pictures.

use crate::LanebookError;
use lanebook::TABLES;
use lanebook::layout::{AxisId, AxisNames, Coord, WellKnown};
use lanebook::query::{Placed, QueryAnswer, QueryError, QueryStorage, WriteError, ask as answer};
use lanebook::tables::ArchId;
use lanebook_draw::{layout, svg};
use pyo3::prelude::*;

/// The architecture with a name, if one is given.
pub(crate) fn arch_named(name: Option<&str>) -> PyResult<Option<ArchId>> {
    let Some(name) = name else { return Ok(None) };
    match TABLES.arch_named(name) {
        Some(id) => Ok(Some(id)),
        None => Err(LanebookError::new_err(format!(
            "no architecture is called `{name}`; lanebook.architectures() lists them"
        ))),
    }
}

fn refused(text: &str, error: &QueryError) -> PyErr {
    let mut words = String::new();
    let _ = error.write_text(text, &mut words);
    LanebookError::new_err(words.trim_end().to_string())
}

/// Answers a query and hands the answer to `take`.
fn asked<T>(
    text: &str,
    arch: Option<&str>,
    take: impl FnOnce(&QueryAnswer<'_>) -> PyResult<T>,
) -> PyResult<T> {
    let arch = arch_named(arch)?;
    let mut storage = Box::new(QueryStorage::new());
    let found = answer(&TABLES, arch, text, &mut storage).map_err(|error| refused(text, &error))?;
    take(&found)
}

/// The answer to a query as text, or as JSON.
#[pyfunction]
#[pyo3(signature = (text, arch=None, json=false))]
pub fn ask(text: &str, arch: Option<&str>, json: bool) -> PyResult<String> {
    asked(text, arch, |answer| {
        let mut out = String::new();
        let written = if json { answer.write_json(&mut out) } else { answer.write_text(&mut out) };
        match written {
            Ok(()) => Ok(out),
            Err(WriteError::Refused(why)) => Err(refused(text, &answer.error(why))),
            Err(WriteError::Sink) => {
                Err(LanebookError::new_err("the answer cannot be written; report this"))
            }
        }
    })
}

fn placed<'q>(answer: &QueryAnswer<'q>) -> PyResult<&'q Placed> {
    answer.layout().ok_or_else(|| {
        LanebookError::new_err("this is no layout; write one such as (8,4):(4,1)".to_string())
    })
}

/// Most elements of a table: 128 MiB of positions.
const MOST_ELEMENTS: u64 = 1 << 24;

/// The positions of all elements on an axis, by their numbers (copies: the first).
#[pyfunction]
#[pyo3(signature = (text, axis, arch=None))]
pub fn table(text: &str, axis: &str, arch: Option<&str>) -> PyResult<Vec<i64>> {
    asked(text, arch, |answer| {
        let placed = placed(answer)?;
        let axis: AxisId = WellKnown
            .axis(axis)
            .ok_or_else(|| LanebookError::new_err(format!("no axis is called `{axis}`")))?;
        let view = placed.layout.view();
        let failed = |error: lanebook::layout::Error| refused(text, &answer.error(error.into()));
        let size = view.size_value().map_err(failed)?;
        if size > MOST_ELEMENTS {
            return Err(LanebookError::new_err(format!(
                "a table of {size} elements is too long, the limit is {MOST_ELEMENTS}; ask for single elements, or for a tile of it"
            )));
        }
        let mut at = Coord::new();
        (0..size)
            .map(|flat| {
                view.apply_flat(flat, &mut at).map_err(failed)?;
                Ok(at.get(axis))
            })
            .collect()
    })
}

/// The picture of a layout, as SVG; without `full` a part that repeats is drawn once.
#[pyfunction]
#[pyo3(signature = (text, arch=None, full=false))]
pub fn picture(text: &str, arch: Option<&str>, full: bool) -> PyResult<String> {
    let drawn = |error: lanebook_draw::DrawError| {
        LanebookError::new_err(format!("{}; {}", error.message, error.remedy))
    };
    asked(text, arch, |answer| {
        let placed = placed(answer)?;
        let view = placed.layout.view();
        let elements = &placed.elements;
        let (order, shape) =
            layout::grid(&view, elements.row_major, elements.extents()).map_err(drawn)?;
        let picture = layout::picture(&view, text, order, shape, None).map_err(drawn)?;
        Ok(svg::render(&if full { picture } else { picture.folded() }))
    })
}

/// The names of all architectures.
#[pyfunction]
pub fn architectures() -> Vec<&'static str> {
    TABLES.archs.iter().map(|arch| arch.name).collect()
}
