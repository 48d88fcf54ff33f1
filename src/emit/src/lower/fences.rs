//! Fences whose order other blocks see: the architecture's steps behind the scope's kind. What the
//! block's own accesses have among themselves stands where these are.

use crate::lower::context::{EmitError, LowerContext};
use crate::step::{InstError, InstKind, Missing};
use crate::sync::order::{PendingAccesses, push};
use lanebook_ir::Op;
use lanebook_plan::End;
use lanebook_tables::{AccessId, SyncStep};

impl LowerContext<'_, '_, '_, '_> {
    /// The steps of a fence: first those behind which others find what the block did, then those
    /// behind which it finds what they did.
    #[inline(never)]
    pub(crate) fn order_beyond(&mut self, op: Op, open: &PendingAccesses) -> Result<(), EmitError> {
        let Some(scope) = self.program.fence_scope(op) else { return Ok(()) };
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let missing = |producer: AccessId| {
            let sync = Missing::Sync { producer: producer.0, consumer: scope.0 };
            Err(InstError::NoAtom(sync).into())
        };
        if arch.syncs_behind(scope).next().is_none() {
            return missing(scope);
        }
        if let Some(kind) = self.under_way(open) {
            return missing(kind);
        }
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.steps.purpose = InstKind::Sync;
        let mut last: Option<SyncStep<'_>> = None;
        for step in arch.syncs_behind(scope).flat_map(|rule| rule.steps) {
            let is_there = last
                .is_some_and(|last| last.atom == step.atom && last.immediates == step.immediates);
            if !is_there {
                push(tables, step, &mut self.steps)?;
            }
            last = Some(*step);
        }
        Ok(())
    }

    /// A kind of open accesses that no lane does itself: nothing says when these are over.
    fn under_way(&self, open: &PendingAccesses) -> Option<AccessId> {
        let in_memory = |end: End| !matches!(end, End::Registers(_));
        let own = |plan: &lanebook_plan::TransferPlan| {
            let is_direct = plan.second.is_none() && in_memory(plan.from) && in_memory(plan.to);
            is_direct || plan.tiled.is_some()
        };
        let atoms = self
            .plan
            .transfers
            .iter()
            .filter(|plan| own(plan))
            .filter_map(|plan| self.machine.tables.atom(plan.atom)?.movement.as_ref());
        let mut kinds = atoms.flat_map(|movement| [movement.from.access, movement.to.access]);
        kinds.find(|kind| open.has(*kind))
    }
}
