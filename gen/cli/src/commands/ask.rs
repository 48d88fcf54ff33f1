//! `lanebook ask`: a query, answered.
use crate::args::{Ask, AskFormat};
use crate::output;
use crate::tables;
use lanebook::query::{FUNCTIONS, QueryAnswer, QueryError, QueryStorage, WriteError, ask};
use lanebook_draw::{layout, svg};
use lanebook_report::problem::{Excerpt, Problem, Problems};
use lanebook_tables::{ArchId, Tables};
use std::fmt::Write;

/// Runs the command.
pub fn run(args: &Ask, tables: &Tables<'_>) -> Result<(), Problems> {
    let arch = args.arch.as_deref().map(|name| tables::arch(tables, name)).transpose()?;
    let Some(text) = &args.expression else { return Ok(output::write(None, &functions())?) };
    let mut storage = Box::new(QueryStorage::new());
    let answer = answered(text, arch.map(|(id, ..)| id), args.format, tables, &mut storage)?;
    Ok(output::write(None, &answer)?)
}

/// The answer to a query, in a format.
pub fn answered(
    text: &str,
    arch: Option<ArchId>,
    format: AskFormat,
    tables: &Tables<'_>,
    storage: &mut QueryStorage,
) -> Result<String, Problem> {
    let answer = ask(tables, arch, text, storage).map_err(|error| refused(text, &error))?;
    let mut out = String::new();
    let written = match format {
        AskFormat::Text => answer.write_text(&mut out),
        AskFormat::Json => answer.write_json(&mut out),
        AskFormat::Csv => lanebook_report::answer::csv(&answer).map(|rows| out = rows),
        AskFormat::Svg => return picture(&answer, text),
    };
    match written {
        Ok(()) => Ok(out),
        Err(WriteError::Sink) => {
            Err(Problem::internal("the answer cannot be written", "report this"))
        }
        Err(WriteError::Refused(why)) => Err(refused(text, &answer.error(why))),
    }
}

/// What can be asked.
pub fn functions() -> String {
    let mut out = String::new();
    for form in FUNCTIONS {
        let call = format!("{}({})", form.name, form.takes);
        let _ = writeln!(out, "{call:<52} {}", form.about);
    }
    out
}

/// An error at its place.
fn refused(text: &str, error: &QueryError) -> Problem {
    let mut words = String::new();
    let _ = error.write_text(text, &mut words);
    let words = words.trim_end();
    let (what, remedy) = words.split_once("; ").unwrap_or((words, "ask in another way"));
    let lines: usize =
        text.split_inclusive('\n').take(error.line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = text.get(lines..).unwrap_or_default();
    let column = error.column.saturating_sub(1) as usize;
    let at = lines + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at);
    let end = text[at..]
        .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
        .map_or(text.len(), |length| at + length.max(1));
    let shown = if at >= text.len() { format!("{text} ") } else { text.to_string() };
    Problem::refused(what, remedy).at(Excerpt {
        name: "query".into(),
        range: at..end.max(at + 1).min(shown.len()),
        text: shown,
        label: "here".into(),
    })
}

/// The picture of a layout.
fn picture(answer: &QueryAnswer<'_>, text: &str) -> Result<String, Problem> {
    let drawn = |error: lanebook_draw::DrawError| Problem::refused(error.message, error.remedy);
    let Some(placed) = answer.layout() else {
        return Err(Problem::refused(
            "the answer is no layout, and only layouts have pictures",
            "ask for --format text or json",
        ));
    };
    let view = placed.layout.view();
    let elements = &placed.elements;
    let (order, shape) =
        layout::grid(&view, elements.row_major, elements.extents()).map_err(drawn)?;
    Ok(svg::render(&layout::picture(&view, text, order, shape, None).map_err(drawn)?))
}
