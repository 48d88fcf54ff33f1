//! Views of storage as another shape and in elements of another type.

use super::{OpTypes, VerifyResult};
use crate::error::{ErrorKind, ValueSlot, WantedType};
use lanebook_tables::Space;

impl OpTypes<'_, '_, '_> {
    /// Whether a shared tile, all of it, is looked at in elements of another type where loops do so.
    pub(super) fn is_alias_in_loops(self) -> bool {
        let (from, to) = (ValueSlot::Operand(0), ValueSlot::Result(0));
        let program = self.program;
        let (source, seen) = (self.ty(from), self.ty(to));
        let around = core::iter::successors(Some(self.op), |op| program.parent(*op)).last();
        source.space == Some(Space::Shared)
            && source.is_tile()
            && seen.is_tile()
            && source.dtype != seen.dtype
            && program.subscripts(self.op, 0).next().is_none()
            && around.is_some_and(|function| program.has_loops(function))
    }
    /// Of as many bits.
    fn alias_bits(self) -> VerifyResult {
        let bits = |slot| {
            let ty = self.tile(slot)?;
            let width = self.program.tables().dtype(ty.dtype?)?.bits;
            ty.shape.elements()?.checked_mul(u64::from(width))
        };
        match (bits(ValueSlot::Operand(0)), bits(ValueSlot::Result(0))) {
            (Some(a), Some(b)) if a != b => Err(ErrorKind::Elements { a, b }),
            _ => Ok(()),
        }
    }
    /// Another shape and element type of a shared tile: as many bits, in shared memory.
    pub(super) fn alias_of_shared(self) -> VerifyResult {
        let (from, to) = (ValueSlot::Operand(0), ValueSlot::Result(0));
        self.alias_bits()?;
        match self.ty(to).space == Some(Space::Shared) {
            true => Ok(()),
            false => Err(ErrorKind::Types { left: from, right: to }),
        }
    }
    /// Another shape and element type of a fragment's storage: as many bits, in a fragment.
    pub(super) fn alias_of_fragment(self) -> VerifyResult {
        let (from, to) = (ValueSlot::Operand(0), ValueSlot::Result(0));
        self.kind(to, WantedType::Buffer)?;
        self.alias_bits()?;
        match self.ty(to).is_tile() && !self.ty(to).is_fragment() {
            true => Err(ErrorKind::Types { left: from, right: to }),
            false => Ok(()),
        }
    }
}
