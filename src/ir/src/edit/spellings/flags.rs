//! Attributes that have no value, written as others write them: `reverse = true` is `reverse`,
//! `reverse = false` is nothing. The contract says which have none.

use crate::attr::AttrValue;
use crate::edit::edit_ops::Edit;
use crate::handle::{Op, TextRef};
use crate::program::Program;
use lanebook_tables::AttrForm;

/// Lets the attributes of an operation that have no value be written without one.
pub(super) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    while let Some((key, is_on)) = written(program, op) {
        // Keys may have a prefix, which the text of the contract has not.
        let Some(found) = program.attrs(op).find(|attr| attr.key == key) else { return Ok(()) };
        let text = bare(program, op, found.key).unwrap_or("");
        if is_on {
            program.set_attr(op, text, AttrValue::Unit)?;
        } else {
            program.remove_attr(op, text)?;
        }
    }
    Ok(())
}

/// An attribute without a value that is written with one, and which.
fn written(program: &Program<'_, '_>, op: Op) -> Option<(TextRef, bool)> {
    program.attrs(op).find_map(|attr| {
        let AttrValue::Word(word) = attr.value else { return None };
        let is_on = program.truth_word(word)?;
        bare(program, op, attr.key).map(|_| (attr.key, is_on))
    })
}

/// The key of an attribute without a value, as the contract has it.
fn bare<'t>(program: &Program<'_, 't>, op: Op, key: TextRef) -> Option<&'t str> {
    let contract = program.tables().contract;
    let own = contract.ops.get(program.decl_id(op)?.index())?;
    let mut flags = own.attrs.iter().filter(|attr| matches!(attr.form, AttrForm::Unit));
    flags.find(|attr| program.key_is(key, attr.key)).map(|attr| attr.key)
}
