//! Functions of a library of the device, as Triton calls them by their symbols: the operations that
//! have these among their other names.

use crate::attr::{Attr, AttrValue};
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::handle::Op;
use crate::program::Program;
use lanebook_tables::OpRole;

/// Lets a call of a library be the operation that computes the same. One that none does stays, and
/// is refused.
pub(super) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    let Some(AttrValue::Str(symbol)) = program.attr(op, attr_names::SYMBOL) else { return Ok(()) };
    let tables = program.tables();
    let Some(id) = tables.op_named(program.text(symbol)) else { return Ok(()) };
    let Some(decl) = tables.op(id) else { return Ok(()) };
    let (least, most) = decl.operands;
    let takes = u8::try_from(program.operand_count(op)).is_ok_and(|n| least <= n && n <= most);
    let said = || [attr_names::SYMBOL].into_iter().chain(attr_names::LIBRARY);
    let is_known = |attr: Attr| said().any(|key| program.key_is(attr.key, key));
    let fits = decl.role == OpRole::Elementwise && takes && program.attrs(op).all(is_known);
    // A name of this language is none of a library.
    if !fits || program.text(symbol) == decl.name || program.decl_id(op) == Some(id) {
        return Ok(());
    }
    for key in said() {
        program.remove_attr(op, key)?;
    }
    program.set_decl(op, id)
}
