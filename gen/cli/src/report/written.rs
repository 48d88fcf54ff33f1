//! Layouts that the program's author wrote: each must be readable, and one that the planner does not follow is said.
//!
//! A shared tile's layout is kept to (or refused by the planner); those of register tiles follow from products and stores, so
//! that a written one is checked and reported, not obeyed.
use crate::commands::compile::Source;
use crate::notation::parse;
use crate::problem::{Excerpt, Problem};
use lanebook::ir::{AttrValue, Encoding, Program, words};
use lanebook::tables::OpRole;

/// One sentence for each written layout that has no influence.
pub fn findings(program: &Program<'_, '_>, source: &Source) -> Result<Vec<String>, Problem> {
    let mut texts: Vec<(&str, bool)> = Vec::new();
    let mut add = |text: &'_ str, kept: bool| {
        // Texts are parts of the source; where they stand is where they begin in it.
        let start = (text.as_ptr() as usize).wrapping_sub(source.text.as_ptr() as usize);
        if let Some(text) = source.text.get(start..start.saturating_add(text.len())).filter(|t| !texts.iter().any(|(other, _)| other == t) && is_layout(t)) {
            texts.push((text, kept));
        }
    };
    for op in program.all() {
        let kept = program.role(op) == OpRole::Alloc;
        match program.attr(op, words::LAYOUT) {
            Some(AttrValue::Layout(name) | AttrValue::Text(name)) => add(program.text(name), kept),
            Some(AttrValue::Alias(name)) => add(program.alias(program.text(name)).unwrap_or(""), kept),
            _ => {}
        }
        let arguments = program.regions(op).flat_map(|r| program.blocks(r)).flat_map(|b| program.arguments(b));
        for value in program.results(op).chain(arguments) {
            let ty = program.type_of(value);
            if matches!(ty.encoding, Encoding::Written(_) | Encoding::Alias(_)) {
                add(program.layout_text(&ty).unwrap_or(""), kept || ty.is_memory());
            }
        }
    }
    let mut out = Vec::new();
    for (text, kept) in texts {
        let start = (text.as_ptr() as usize).wrapping_sub(source.text.as_ptr() as usize);
        if let Err(error) = parse(text) {
            let range = start + error.range.start..start + error.range.end;
            return Err(Problem::refused(error.what, error.remedy).at(Excerpt {
                name: source.name.clone(),
                text: source.text.clone(),
                range,
                label: error.label,
            }));
        }
        if kept {
            continue;
        }
        let line = source.text.get(..start).map_or(0, |before| before.matches('\n').count() + 1);
        out.push(format!("line {line}: the written layout {} is not followed: what a lane holds follows from products and stores", text.trim()));
    }
    Ok(out)
}

/// Whether a text begins like one of the notations that are read here.
fn is_layout(text: &str) -> bool {
    let text = text.trim_start();
    ["S[", "R[", "S<", "("].iter().any(|head| text.starts_with(head)) || text.starts_with(|c: char| c.is_ascii_digit())
}
