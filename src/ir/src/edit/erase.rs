//! Erasing operations, and giving back what they held.
use crate::data::{AttrData, BlockData, OpData, RegionData, ValueData};
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{AttrRef, Op, Region, Value};
use crate::program::Program;

impl Program<'_, '_> {
    // ---- erasing
    /// Erases an operation with everything in it. Its results must be unused.
    pub fn erase(&mut self, op: Op) -> Edit {
        self.op_data(op).filter(|data| data.block.is_some()).ok_or(ErrorKind::Stale)?;
        if self.results(op).any(|value| self.is_used(value)) {
            return Err(ErrorKind::StillUsed);
        }
        let outside = |user: Op| user != op && !self.is_inside(user, op);
        let escapes = self.inside(op).any(|inner| {
            self.results(inner)
                .flat_map(|value| self.uses(value))
                .filter_map(|place| self.user(place))
                .any(outside)
        });
        if escapes {
            return Err(ErrorKind::StillUsed);
        }
        self.drop_operands(op)?;
        let mut at = self.inside(op).next();
        while let Some(inner) = at {
            self.drop_operands(inner)?;
            at = self.following(inner, Some(op));
        }
        // Innermost first: go down to an operation without operations, release it, look at its
        // parent again.
        let mut at = op;
        loop {
            let inner = self.inside(at).next();
            if let Some(inner) = inner {
                at = inner;
                continue;
            }
            let parent = self.parent(at);
            self.release_op(at)?;
            if at == op {
                return Ok(());
            }
            at = parent.ok_or(ErrorKind::Broken)?;
        }
    }
    fn release_op(&mut self, op: Op) -> Edit {
        self.unlink(op)?;
        let data = *self.op_data(op).ok_or(ErrorKind::Stale)?;
        self.release_attrs(data.attrs)?;
        self.release_values(data.first_result)?;
        let mut region = data.first_region;
        while let Some(at) = region {
            region = self.region_data(at).ok_or(ErrorKind::Broken)?.next;
            self.release_region(at)?;
        }
        self.pools.release::<OpData>(op.index())
    }
    /// Gives back a region without operations.
    pub(crate) fn release_region(&mut self, region: Region) -> Edit {
        let mut block = self.region_data(region).ok_or(ErrorKind::Broken)?.first_block;
        while let Some(at) = block {
            let data = *self.block_data(at).ok_or(ErrorKind::Broken)?;
            self.release_values(data.first_arg)?;
            self.pools.release::<BlockData>(at.index())?;
            block = data.next;
        }
        self.pools.release::<RegionData>(region.index())
    }
    fn release_values(&mut self, first: Option<Value>) -> Edit {
        let mut at = first;
        while let Some(value) = at {
            let data = *self.value_data(value).ok_or(ErrorKind::Broken)?;
            self.release_attrs(data.attrs)?;
            self.pools.release::<ValueData>(value.index())?;
            at = data.next;
        }
        Ok(())
    }
    pub(crate) fn release_attrs(&mut self, first: Option<AttrRef>) -> Edit {
        let mut at = first;
        while let Some(attr) = at {
            let next = self.attr_data(attr).ok_or(ErrorKind::Broken)?.next;
            self.pools.release::<AttrData>(attr.index())?;
            at = next;
        }
        Ok(())
    }
}
