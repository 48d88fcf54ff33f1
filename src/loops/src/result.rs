//! Layouts that were inferred, back in the program: behind handles, which print as text.

use crate::tell::Told;
use core::fmt::{self, Write};
use lanebook_infer::notation;
use lanebook_infer::{BufferId, FragmentForm, Kind, MemoryScope, OperatorId};
use lanebook_ir::{Annotate, AttrValue, ErrorKind, Program, TileEncoding, attr_names};

/// Handles of loops begin here, above those of buffers.
const LOOPS: u32 = 1 << 16;

/// The layouts of a function that was told, for printing.
#[derive(Debug)]
pub struct LoopLayouts<'l, 'a>(pub &'l Told<'a>);

impl LoopLayouts<'_, '_> {
    fn layout(&self, number: u32) -> Option<FragmentForm> {
        match number.checked_sub(LOOPS) {
            None => self.0.inference.layout(BufferId(u16::try_from(number).ok()?)),
            Some(number) => self.0.inference.spread(OperatorId(u16::try_from(number).ok()?)),
        }
    }
}

impl Annotate for LoopLayouts<'_, '_> {
    fn handle(&self, number: u32, out: &mut dyn Write) -> fmt::Result {
        match self.layout(number) {
            Some(layout) => notation::write(&self.0.inference.arena, &layout, out),
            None => Err(fmt::Error),
        }
    }
}

impl Told<'_> {
    /// Writes the layouts that inference found into the program: of fragments into their types, of
    /// nests of loops into their attribute `layout`. Print it with [`LoopLayouts`].
    ///
    /// # Errors
    /// Those of the edits: a pool of the program is full.
    pub fn annotate(&self, program: &mut Program<'_, '_>) -> Result<(), ErrorKind> {
        for (id, value) in self.buffers() {
            let fragment =
                self.inference.buffer_of(id).is_ok_and(|b| b.scope == MemoryScope::Fragment);
            if !fragment || self.inference.layout(id).is_none() {
                continue;
            }
            let ty = program.type_of(value).encoded(TileEncoding::Handle(id.0));
            program.set_type(value, ty)?;
            if let Some(op) = program.def_op(value) {
                program.remove_attr(op, attr_names::LAYOUT)?;
            }
        }
        for (id, op) in self.operators() {
            let parallel = self.inference.operator_of(id).is_ok_and(|o| o.kind == Kind::Parallel);
            let is_loop = program.role(op) == lanebook_tables::OpRole::Parallel;
            if parallel && is_loop && self.inference.spread(id).is_some() {
                let handle = LOOPS.saturating_add(u32::from(id.0));
                program.set_attr(op, attr_names::LAYOUT, AttrValue::Handle(handle))?;
            }
        }
        Ok(())
    }
}
