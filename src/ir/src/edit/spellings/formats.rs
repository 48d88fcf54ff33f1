//! Formats of a product's factors, which Triton says beside their types: what says the same is left
//! out.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::inline::is_no;
use crate::error::ErrorKind;
use crate::handle::Op;
use crate::program::Program;

/// Lets a product's types alone say of what format its factors are. A format of elements that stand
/// in others stays, and nothing obeys it.
pub(super) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    for (factor, key) in [attr_names::LHS, attr_names::RHS].into_iter().enumerate() {
        let Some(AttrValue::Word(word)) = program.attr(op, key) else { continue };
        let said = program.tables().dtype_named(program.text(word));
        let own = program.operand(op, factor).and_then(|value| program.type_of(value).dtype);
        if said.is_some() && said == own {
            program.remove_attr(op, key)?;
        }
    }
    if let Some(AttrValue::Int(number, _)) = program.attr(op, attr_names::INPUT_PRECISION) {
        // Its words in their order, as one that says no more than a number does.
        let words = [attr_names::TF32, attr_names::TF32X3, attr_names::IEEE];
        let word = usize::try_from(number).ok().and_then(|number| words.get(number));
        let word = AttrValue::Word(program.word(word.ok_or(ErrorKind::AttrValue)?)?);
        program.set_attr(op, attr_names::INPUT_PRECISION, word)?;
    }
    // What it would allow is not done.
    match program.attr(op, attr_names::FAST_MATH) {
        Some(value) if is_no(program, value) => program.remove_attr(op, attr_names::FAST_MATH),
        _ => Ok(()),
    }
}
