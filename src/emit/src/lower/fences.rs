//! Fences whose order other blocks see: the architecture's steps behind the scope's kind. What the
//! block's own accesses have among themselves stands where these are.

use crate::lower::context::{EmitError, LowerContext};
use crate::step::{InstError, InstKind, Missing};
use crate::sync::access::MemAccess;
use crate::sync::order::{AccessKinds, OPEN, PendingAccesses, bit, push};
use lanebook_ir::Op;
use lanebook_plan::End;
use lanebook_tables::{AccessId, SyncStep};

impl LowerContext<'_, '_, '_, '_> {
    /// The steps of a fence: first those behind which others find what the block did, then those
    /// behind which it finds what they did.
    #[inline(never)]
    pub(crate) fn order_beyond(
        &mut self,
        op: Op,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let Some(scope) = self.program.fence_scope(op) else { return Ok(()) };
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        if arch.syncs_behind(scope).next().is_none() {
            return Err(missing(scope, scope));
        }
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        self.finish_copies(scope, open)?;
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

    /// Waits for the copies that no lane makes itself, as an access of a lane to what they touch would.
    fn finish_copies(
        &mut self,
        scope: AccessId,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        let (arch, copies) = (self.machine.arch, self.copies());
        for _ in 0..OPEN {
            let Some((copy, complete)) = open.under_way(arch, copies) else { return Ok(()) };
            let kind = complete.ok_or(missing(copy.kind, scope))?;
            let writes = !copy.writes;
            let seen = MemAccess { kind, writes, completion: None, dealt: 0, ..copy };
            self.meet_all(&[seen], open, true)?;
        }
        match open.under_way(arch, copies) {
            Some((copy, _)) => Err(missing(copy.kind, scope)),
            None => Ok(()),
        }
    }

    /// The kinds of accesses of copies between memories, which are over when something says so.
    fn copies(&self) -> AccessKinds {
        let in_memory = |end: End| !matches!(end, End::Registers(_));
        let is_copy = |plan: &lanebook_plan::TransferPlan| {
            let is_direct = plan.second.is_none() && in_memory(plan.from) && in_memory(plan.to);
            is_direct || plan.tiled.is_some()
        };
        let atoms = self
            .plan
            .transfers
            .iter()
            .filter(|plan| is_copy(plan))
            .filter_map(|plan| self.machine.tables.atom(plan.atom)?.movement.as_ref());
        let kinds = atoms.flat_map(|movement| [movement.from.access, movement.to.access]);
        kinds.fold(0, |kinds, kind| kinds | bit(kind))
    }
}

/// No rule orders an access before a scope.
fn missing(producer: AccessId, scope: AccessId) -> EmitError {
    InstError::NoAtom(Missing::Sync { producer: producer.0, consumer: scope.0 }).into()
}
