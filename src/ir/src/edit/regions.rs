//! Regions of operations that stand already: for what turns an operation into another.
use crate::data::{BlockData, OpData, RegionData};
use crate::edit::edit_ops::Edit;
use crate::error::ErrorKind;
use crate::handle::{Block, Op, Region};
use crate::program::Program;
use lanebook_tables::OpId;

#[doc(hidden)] // For the floors above.
impl Program<'_, '_> {
    /// Lets an operation be another one, with the operands, results and regions that it has.
    pub fn set_decl(&mut self, op: Op, decl: OpId) -> Edit {
        self.tables.op(decl).ok_or(ErrorKind::UnknownOp)?;
        self.pools.edit::<OpData>(op.index(), |data| data.decl = decl.0)
    }
    /// Adds a region with one empty block behind those that an operation has.
    pub fn add_region(&mut self, op: Op) -> Edit<Block> {
        self.pools.room::<RegionData>(1)?;
        self.pools.room::<BlockData>(1)?;
        self.push_region(op)
    }
    /// Erases an operation's last region with everything in it; nothing outside reads what it makes.
    pub fn remove_last_region(&mut self, op: Op) -> Edit {
        let region = self.regions(op).last().ok_or(ErrorKind::Stale)?;
        loop {
            let inner = self.blocks(region).find_map(|block| self.last(block));
            match inner {
                Some(inner) => self.erase(inner)?,
                None => break,
            }
        }
        let before = self.regions(op).take_while(|at| *at != region).last();
        match before {
            Some(before) => {
                self.pools.edit::<RegionData>(before.index(), |data| data.next = None)?
            }
            None => self.pools.edit::<OpData>(op.index(), |data| data.first_region = None)?,
        }
        self.release_region(region)
    }
    /// What is in a region of each of two operations is in the other's from now on.
    pub fn swap_regions(&mut self, a: (Op, usize), b: (Op, usize)) -> Edit {
        let region = |at: (Op, usize)| self.regions(at.0).nth(at.1).ok_or(ErrorKind::Stale);
        let (a, b) = (region(a)?, region(b)?);
        let first = |region: Region| self.region_data(region).and_then(|data| data.first_block);
        let (of_a, of_b) = (first(a), first(b));
        for (region, blocks) in [(a, of_b), (b, of_a)] {
            self.pools.edit::<RegionData>(region.index(), |data| data.first_block = blocks)?;
            let mut at = blocks;
            while let Some(block) = at {
                self.pools.edit::<BlockData>(block.index(), |data| data.region = Some(region))?;
                at = self.block_data(block).and_then(|data| data.next);
            }
        }
        Ok(())
    }
}
