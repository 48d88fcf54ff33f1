//! Layouts that the program's author wrote: one that cannot be read is refused at the letter that
//! is wrong.
//!
//! Which of those that can be read are obeyed is the contract's to say; what of them can be kept
//! to, the planner's.
use crate::notation::parse;
use crate::problem::{Excerpt, Problem};
use crate::program::Source;
use lanebook::ir::{AttrValue, Program, TileEncoding, attr_names};

/// The first layout that cannot be read.
pub fn check(program: &Program<'_, '_>, source: &Source) -> Result<(), Problem> {
    for op in program.all() {
        match program.attr(op, attr_names::LAYOUT) {
            Some(AttrValue::Layout(name) | AttrValue::Text(name)) => {
                readable(program.text(name), source)?
            }
            Some(AttrValue::Alias(name)) => {
                readable(program.alias(program.text(name)).unwrap_or(""), source)?
            }
            _ => {}
        }
        let arguments =
            program.regions(op).flat_map(|r| program.blocks(r)).flat_map(|b| program.arguments(b));
        for value in program.results(op).chain(arguments) {
            let ty = program.type_of(value);
            if matches!(ty.encoding, TileEncoding::Written(_) | TileEncoding::Alias(_)) {
                readable(program.layout_text(&ty).unwrap_or(""), source)?;
            }
        }
    }
    Ok(())
}

/// Texts are parts of the source; where they stand is where they begin in it.
fn readable(text: &str, source: &Source) -> Result<(), Problem> {
    let start = (text.as_ptr() as usize).wrapping_sub(source.text.as_ptr() as usize);
    let Some(text) =
        source.text.get(start..start.saturating_add(text.len())).filter(|text| is_layout(text))
    else {
        return Ok(());
    };
    let Err(error) = parse(text) else { return Ok(()) };
    let range = start + error.range.start..start + error.range.end;
    Err(Problem::refused(error.what, error.remedy).at(Excerpt {
        name: source.name.clone(),
        text: source.text.clone(),
        range,
        label: error.label,
    }))
}

/// Whether a text begins like one of the notations that are read here.
fn is_layout(text: &str) -> bool {
    let text = text.trim_start();
    ["S[", "R[", "S<", "("].iter().any(|head| text.starts_with(head))
        || text.starts_with(|c: char| c.is_ascii_digit())
}
