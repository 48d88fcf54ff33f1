//! Tokens: they go away with everything that hands them on.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::error::{ErrorKind, IrError, SourcePlace};
use crate::handle::{Op, Value};
use crate::program::Program;
use crate::types::{TileEncoding, TypeKind};

/// Words by which operations name tokens.
const WORDS: [&str; 2] = ["token", "tokens"];

fn is_token(program: &Program<'_, '_>, value: Value) -> bool {
    let ty = program.type_of(value);
    let TileEncoding::Written(text) = ty.encoding else { return false };
    ty.kind == TypeKind::Other && program.text(text) == attr_names::TOKEN
}

/// Takes the tokens of a function away.
///
/// # Errors
/// Room that ran out.
#[inline(never)]
pub(crate) fn drop_tokens(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    for are_read in [true, false] {
        let mut next = program.inside(kernel).next();
        while let Some(op) = next {
            next = program.following(op, Some(kernel));
            let at = SourcePlace { op: None, ..program.place(op) };
            let done = if are_read { unread(program, op) } else { unmade(program, op) };
            done.map_err(|kind| IrError { kind, at })?;
        }
    }
    Ok(())
}

/// Lets an operation read none.
fn unread(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let mut found = false;
    loop {
        let is_one = |value| is_token(program, value);
        let place = program.uses_by(op).find(|place| program.used(*place).is_some_and(is_one));
        let Some(place) = place else { break };
        program.remove_use(op, place)?;
        found = true;
    }
    if !found {
        return Ok(());
    }
    for word in WORDS {
        if program.attr(op, word) == Some(AttrValue::Unit) {
            program.remove_attr(op, word)?;
        }
        let said = match program.attr(op, attr_names::PREFIX) {
            Some(AttrValue::Text(said)) => program.text(said),
            _ => "",
        };
        if said == word {
            program.remove_attr(op, attr_names::PREFIX)?;
        }
    }
    Ok(())
}

/// Lets an operation make none, and its blocks take none.
fn unmade(program: &mut Program<'_, '_>, op: Op) -> Edit {
    loop {
        let number = program.results(op).position(|value| is_token(program, value));
        let Some(number) = number else { break };
        program.remove_result(op, number)?;
    }
    let mut region = 0usize;
    while let Some(block) = program.entry(op, region) {
        region = region.saturating_add(1);
        loop {
            let number = program.arguments(block).position(|value| is_token(program, value));
            let Some(number) = number else { break };
            if program.arguments(block).nth(number).is_some_and(|value| program.is_used(value)) {
                return Err(ErrorKind::StillUsed);
            }
            program.remove_argument(block, number)?;
        }
    }
    Ok(())
}
