//! What Triton says of a kernel's parameters: a pointer that is a multiple of so many bytes is
//! aligned, and a number that is a multiple is an index, which may be below zero.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::is_word;
use crate::handle::Op;
use crate::program::Program;
use crate::types::{Type, TypeKind};

/// Lets a kernel's parameters say what they are multiples of as this language has it.
pub(super) fn settle(program: &mut Program<'_, '_>, kernel: Op) -> Edit {
    let mut number = 0usize;
    loop {
        let parameter = program.parameters(kernel).nth(number);
        let Some(value) = parameter else { return Ok(()) };
        number = number.saturating_add(1);
        let said = program.value_attr(value, attr_names::DIVISIBILITY);
        let Some(AttrValue::Int(multiple, _)) = said else { continue };
        let multiple = AttrValue::Int(multiple, None);
        let key = match program.type_of(value).kind {
            TypeKind::Other | TypeKind::Memref => attr_names::ALIGN,
            TypeKind::Index => attr_names::DIV,
            _ if is_word(program, value) => {
                program.set_type(value, Type::INDEX)?;
                program.add_value_attr(value, attr_names::SIGNED, AttrValue::Unit)?;
                attr_names::DIV
            }
            // What is left is refused, as any attribute that nothing obeys.
            _ => continue,
        };
        program.rename_value_attr(value, attr_names::DIVISIBILITY, (key, multiple))?;
    }
}
