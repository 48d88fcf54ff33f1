//! Layouts that were inferred, back in the program: behind handles, which print as text.

use crate::tell::Told;
use core::fmt::{self, Write};
use lanebook_infer::notation;
use lanebook_infer::{BufferId, FragmentForm, Kind, MAX_RANK, MemoryScope, OperatorId};
use lanebook_ir::{Annotate, AttrValue, ErrorKind, Program, TileEncoding, attr_names};
use lanebook_layout::Swizzle;

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

impl LoopLayouts<'_, '_> {
    /// A shared buffer's layout as a TileAS triple: extents, strides, and a swizzle of bytes.
    fn swizzled(&self, number: u32, out: &mut dyn Write) -> fmt::Result {
        let id = BufferId(u16::try_from(number).map_err(|_| fmt::Error)?);
        let inference = &self.0.inference;
        let (swizzle, column_block) = (inference.swizzle(id), self.strips(id));
        let dims = inference.buffer_of(id).map_err(|_| fmt::Error)?.dims;
        let mut extents: heapless::Vec<u32, MAX_RANK> = heapless::Vec::new();
        for dim in dims.iter() {
            let extent = inference.arena.extent(dim).map_err(|_| fmt::Error)?;
            extents.push(extent).map_err(|_| fmt::Error)?;
        }
        out.write_str("<(")?;
        if let (Some(1), [rows, columns]) = (column_block, extents.as_slice()) {
            // By columns.
            for (number, behind) in [(*rows, ", "), (*columns, "), (1, "), (*rows, ")")] {
                notation::integer(i64::from(number), out)?;
                out.write_str(behind)?;
            }
            return exchanged(swizzle, out);
        }
        if let (Some(column_block), [rows, columns]) = (column_block, extents.as_slice()) {
            let many = columns.checked_div(column_block).unwrap_or(1);
            for (number, between) in [(*rows, ", ("), (column_block, ", "), (many, ")), (")] {
                notation::integer(i64::from(number), out)?;
                out.write_str(between)?;
            }
            let apart = i64::from(*rows).saturating_mul(i64::from(column_block));
            notation::integer(i64::from(column_block), out)?;
            out.write_str(", (1, ")?;
            notation::integer(apart, out)?;
            out.write_str("))")?;
            return exchanged(swizzle, out);
        }
        for (k, extent) in extents.iter().enumerate() {
            separate(k, out)?;
            notation::integer(i64::from(*extent), out)?;
        }
        out.write_str("), (")?;
        for k in 0..extents.len() {
            separate(k, out)?;
            let inner = extents.iter().skip(k.saturating_add(1));
            notation::integer(inner.fold(1, |n, e| n.saturating_mul(i64::from(*e))), out)?;
        }
        out.write_str(")")?;
        exchanged(swizzle, out)
    }

    /// Elements of each row in the strips that a shared buffer lies in.
    fn strips(&self, id: BufferId) -> Option<u32> {
        let bytes = self.0.inference.strips(id)?;
        bytes.checked_div(self.0.inference.buffer_of(id).ok()?.bits >> 3)
    }
}

/// A swizzle, and the end of the triple.
fn exchanged(swizzle: Option<Swizzle>, out: &mut dyn Write) -> fmt::Result {
    if let Some(swizzle) = swizzle {
        out.write_str(", swizzle<")?;
        for (k, figure) in [swizzle.b, swizzle.m, swizzle.s.unsigned_abs()].iter().enumerate() {
            separate(k, out)?;
            notation::integer(i64::from(*figure), out)?;
        }
        out.write_str(">")?;
    }
    out.write_str(">")
}

fn separate(number: usize, out: &mut dyn Write) -> fmt::Result {
    if number == 0 { Ok(()) } else { out.write_str(", ") }
}

impl Annotate for LoopLayouts<'_, '_> {
    fn handle(&self, number: u32, out: &mut dyn Write) -> fmt::Result {
        match self.layout(number) {
            Some(layout) => notation::write(&self.0.inference.arena, &layout, out),
            None => self.swizzled(number, out),
        }
    }
}

impl Told<'_> {
    /// Writes the layouts that inference found into the program: of fragments, and of shared
    /// buffers that have a swizzle, into their types, of nests of loops into their attribute
    /// `layout`. Print it with [`LoopLayouts`].
    ///
    /// # Errors
    /// Those of the edits: a pool of the program is full.
    pub fn annotate(&self, program: &mut Program<'_, '_>) -> Result<(), ErrorKind> {
        for (id, value) in self.buffers() {
            let own = self.inference.buffer_of(id).ok();
            let known = match own.map(|own| own.scope) {
                Some(MemoryScope::Fragment) => self.inference.layout(id).is_some(),
                // A view has the layout of its storage, and says none.
                Some(MemoryScope::Shared) => {
                    let owner = own.is_some_and(|own| own.storage == id);
                    let known = self.inference.swizzle(id).is_some();
                    let known = known || self.inference.strips(id).is_some();
                    // What is padded was written, and stays as it is.
                    owner && known && self.inference.padding(id).is_none()
                }
                _ => false,
            };
            if !known {
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
