//! Functions that are snippets: code for the middle of another program.

use crate::attr_names;
use crate::handle::Op;
use crate::program::Program;
use lanebook_tables::OpRole;

impl Program<'_, '_> {
    /// Whether a function is a snippet: whether it takes or returns register tiles, or says so.
    #[must_use]
    pub fn is_snippet(&self, function: Op) -> bool {
        let in_registers = |value| {
            let ty = self.type_of(value);
            ty.is_tile() && !ty.is_memory()
        };
        let end = self.body(function).and_then(|body| self.terminator(body));
        self.has_attr(function, attr_names::SNIPPET)
            || self.parameters(function).any(in_registers)
            || end.is_some_and(|op| self.role(op) == OpRole::Return && self.operand_count(op) > 0)
    }
}
