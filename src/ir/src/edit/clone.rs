//! Copying an operation with everything in it.
use crate::attr::AttrValue;
use crate::data::{AttrData, UseData, UseKind, ValueData};
use crate::edit::edit_ops::Edit;
use crate::error::{ErrorKind, Pool};
use crate::handle::{AttrRef, Block, Op, TextRef, Value};
use crate::program::Program;
use crate::storage::full;
use crate::text::parse::MAX_DEPTH;
use heapless::Vec;

/// An operation with regions that is being copied, and its copy.
type OpenCopy = (Op, Op);

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// A copy of an operation, with everything in it, right before `anchor`. Values from outside
    /// are shared; the copy's own results have no names, values inside keep theirs. At most 16
    /// regions inside each other.
    pub fn clone_before(&mut self, op: Op, anchor: Op) -> Edit<Op> {
        let block = self.block_of(anchor).ok_or(ErrorKind::Stale)?;
        self.block_of(op).ok_or(ErrorKind::Stale)?;
        let copy = self.clone_one(op, false)?;
        let mut open: Vec<OpenCopy, MAX_DEPTH> = Vec::new();
        let deep = |_| full(Pool::Depth, MAX_DEPTH);
        open.push((op, copy)).map_err(deep)?;
        let mut at = self.inside(op).next();
        while let Some(here) = at {
            let parent = self.parent(here).ok_or(ErrorKind::Broken)?;
            while open.last().is_some_and(|(old, _)| *old != parent) {
                let _ = open.pop();
            }
            let (_, into) = *open.last().ok_or(ErrorKind::Broken)?;
            let to = self.same_block(parent, here, into)?;
            let new = self.clone_one(here, true)?;
            self.link(new, to, None)?;
            if self.regions(here).next().is_some() {
                open.push((here, new)).map_err(deep)?;
            }
            at = self.following(here, Some(op));
        }
        self.link(copy, block, Some(anchor))?;
        self.forget_twins(op)?;
        Ok(copy)
    }
    /// The block of `copy` that stands where the block of `inner` stands in `parent`.
    fn same_block(&self, parent: Op, inner: Op, copy: Op) -> Edit<Block> {
        let block = self.block_of(inner).ok_or(ErrorKind::Broken)?;
        let blocks = self
            .regions(parent)
            .flat_map(|region| self.blocks(region))
            .zip(self.regions(copy).flat_map(|region| self.blocks(region)));
        blocks
            .into_iter()
            .find(|(old, _)| *old == block)
            .map(|(_, new)| new)
            .ok_or(ErrorKind::Broken)
    }
    /// One operation with empty regions, standing nowhere yet; its results and arguments become the
    /// twins of the old ones.
    fn clone_one(&mut self, op: Op, named: bool) -> Edit<Op> {
        let data = *self.op_data(op).ok_or(ErrorKind::Stale)?;
        let new = self.new_op(self.decl_id(op), data.name)?;
        let mut at = data.first_operand;
        while let Some(UseData { value: Some(value), next, kind, .. }) =
            at.and_then(|at| self.use_data(at).copied())
        {
            if kind != UseKind::Attr {
                self.push_operand(new, self.twin(value), kind)?;
            }
            at = next;
        }
        let mut attr = data.attrs;
        while let Some(cell) = attr {
            let record = *self.attr_data(cell).ok_or(ErrorKind::Broken)?;
            let value = match self.attr_value(&record) {
                AttrValue::Operand(value) => AttrValue::Operand(self.twin(value)),
                other => other,
            };
            self.push_attr(new, record.key, value)?;
            attr = record.next;
        }
        let mut result = data.first_result;
        while let Some(old) = result {
            let record = *self.value_data(old).ok_or(ErrorKind::Broken)?;
            let twin =
                self.push_result(new, record.ty, if named { record.name } else { TextRef::EMPTY })?;
            self.set_twin(old, Some(twin))?;
            result = record.next;
        }
        let mut region = data.first_region;
        while let Some(old) = region {
            let record = *self.region_data(old).ok_or(ErrorKind::Broken)?;
            let mut to = self.push_region(new)?;
            let mut block = record.first_block;
            let mut first = true;
            while let Some(old) = block {
                if !first {
                    let into = self
                        .block_data(to)
                        .and_then(|data| data.region)
                        .ok_or(ErrorKind::Broken)?;
                    to = self.push_block(into)?;
                }
                first = false;
                let record = *self.block_data(old).ok_or(ErrorKind::Broken)?;
                self.clone_arguments(record.first_arg, to)?;
                block = record.next;
            }
            region = record.next;
        }
        Ok(new)
    }
    fn clone_arguments(&mut self, first: Option<Value>, to: Block) -> Edit {
        let mut argument = first;
        while let Some(old) = argument {
            let record = *self.value_data(old).ok_or(ErrorKind::Broken)?;
            let twin = self.push_argument(to, record.ty, record.name)?;
            let mut attr: Option<AttrRef> = record.attrs;
            while let Some(cell) = attr {
                let record: AttrData = *self.attr_data(cell).ok_or(ErrorKind::Broken)?;
                let value = self.attr_value(&record);
                self.push_value_attr(twin, record.key, value)?;
                attr = record.next;
            }
            self.set_twin(old, Some(twin))?;
            argument = record.next;
        }
        Ok(())
    }
    /// The copy of a value while a copy is made; a value from outside is its own. Kept in the link
    /// that reading a text uses.
    pub(crate) fn twin(&self, value: Value) -> Value {
        self.value_data(value).and_then(|data| data.chain).unwrap_or(value)
    }
    pub(crate) fn set_twin(&mut self, value: Value, twin: Option<Value>) -> Edit {
        self.pools.edit::<ValueData>(value.index(), |data| data.chain = twin)
    }
    fn forget_twins(&mut self, op: Op) -> Edit {
        let mut at = Some(op);
        while let Some(here) = at {
            let mut value = self.result(here, 0);
            while let Some(old) = value {
                self.set_twin(old, None)?;
                value = self.value_data(old).and_then(|data| data.next);
            }
            let mut number = 0usize;
            loop {
                let block = self.regions(here).flat_map(|region| self.blocks(region)).nth(number);
                let Some(block) = block else { break };
                number = number.saturating_add(1);
                let mut value = self.arguments(block).next();
                while let Some(old) = value {
                    self.set_twin(old, None)?;
                    value = self.value_data(old).and_then(|data| data.next);
                }
            }
            at = self
                .following(here, Some(op))
                .filter(|next| *next != op && self.is_inside(*next, op));
        }
        Ok(())
    }
}
