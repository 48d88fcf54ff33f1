//! Whether the order of memory accesses fixes a value's layout between two places.
use crate::attr::AttrValue;
use crate::attr_names;
use crate::handle::Op;
use crate::program::Program;
use lanebook_tables::{AccessId, OpRole};

/// Operations looked at; a longer way counts as fixed.
const WINDOW: usize = 512;

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// Whether a fence, a wait, or a pipeline stage of depth above one (attribute `depth`) stands
    /// between two operations, the second of which is in the block of the first or inside it. A way
    /// of more than 512 operations counts as fixed.
    #[must_use]
    pub fn is_pinned(&self, first: Op, second: Op) -> bool {
        let Some(home) = self.block_of(first) else { return true };
        let mut left = WINDOW;
        let mut at = second;
        loop {
            let Some(block) = self.block_of(at) else { return true };
            while let Some(before) = self.previous(at) {
                at = before;
                if at == first {
                    return false;
                }
                let Some(rest) = left.checked_sub(1) else { return true };
                left = rest;
                if self.orders(at, &mut left) {
                    return true;
                }
            }
            if block == home {
                return true;
            }
            let Some(parent) = self.owner_of(block) else { return true };
            if self.is_stage(parent) || self.role(parent) == OpRole::AgentSwitch {
                return true;
            }
            at = parent;
        }
    }
    /// Whether something between two operations may write memory, so that the first, which reads
    /// it, cannot move to the second. True as well when they stand in different blocks, or more
    /// than 512 operations apart.
    #[must_use]
    pub fn is_overwritten(&self, first: Op, second: Op) -> bool {
        if self.block_of(first) != self.block_of(second) {
            return true;
        }
        let writes =
            |op: Op| self.decl(op).is_none_or(|decl| decl.writes) || self.fence_scope(op).is_some();
        let (mut at, mut left) = (second, WINDOW);
        while let Some(before) = self.previous(at) {
            if before == first {
                return false;
            }
            at = before;
            for op in core::iter::once(at).chain(self.inside(at)) {
                let Some(rest) = left.checked_sub(1) else { return true };
                left = rest;
                if writes(op) {
                    return true;
                }
            }
        }
        true
    }
    /// Who beyond its own block sees what a fence orders: the kind that the tables' orders have of
    /// the name.
    #[must_use]
    pub fn fence_scope(&self, op: Op) -> Option<AccessId> {
        let said = self.attr(op, attr_names::SCOPE).filter(|_| self.role(op) == OpRole::Fence)?;
        let (AttrValue::Word(word) | AttrValue::Str(word) | AttrValue::Text(word)) = said else {
            return None;
        };
        let scope = self.text(word);
        let number = self.tables().accesses.iter().position(|kind| *kind == scope)?;
        u16::try_from(number).ok().map(AccessId)
    }
    /// A pipeline stage of more than one buffer.
    #[must_use]
    pub fn is_stage(&self, op: Op) -> bool {
        matches!(self.role(op), OpRole::Produce | OpRole::Consume)
            && self.int_attr(op, attr_names::DEPTH).is_some_and(|depth| depth > 1)
    }
    /// Whether an operation, or one inside it, orders memory.
    fn orders(&self, op: Op, left: &mut usize) -> bool {
        let orders =
            |op: Op| matches!(self.role(op), OpRole::Fence | OpRole::Wait) || self.is_stage(op);
        if orders(op) {
            return true;
        }
        for inner in self.inside(op) {
            let Some(rest) = left.checked_sub(1) else { return true };
            *left = rest;
            if orders(inner) {
                return true;
            }
        }
        false
    }
}
