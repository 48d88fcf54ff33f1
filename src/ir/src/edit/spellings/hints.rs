//! Hints, which go away: permissions that are met by what is done anyhow, and promises that need not
//! be used. The contract says which there are; one that is not written as it says stays, and is
//! refused.

use crate::attr::Attr;
use crate::edit::edit_ops::Edit;
use crate::handle::Op;
use crate::program::Program;

/// Takes the hints from an operation.
pub(super) fn settle(program: &mut Program<'_, '_>, op: Op) -> Edit {
    loop {
        let hint = |attr: Attr| program.hint(op, attr);
        let found = program.attrs(op).find_map(hint);
        match found {
            Some(key) => program.remove_attr(op, key)?,
            None => return Ok(()),
        }
    }
}
