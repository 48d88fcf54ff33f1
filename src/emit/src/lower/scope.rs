//! Scope: what was computed inside a loop, or inside a branch, is not there behind it: the loop may
//! have run no turn.

use crate::lower::context::LowerContext;
use crate::sync::order::Mbarriers;
use lanebook_ir::Op;
use lanebook_tile::unit::has;

impl LowerContext<'_, '_, '_, '_> {
    /// Whether a loop certainly has an iteration.
    pub(crate) fn goes_round(&self, carrier: Op) -> bool {
        let parts = self.program.counted_loop(carrier);
        let bounds = parts.and_then(|parts| {
            Some((self.program.int(parts.lower)?, self.program.int(parts.upper)?))
        });
        bounds.is_some_and(|(lower, upper)| lower < upper)
    }

    /// Whether a way leads past what a loop's turns order: there may be none, and times of a loop of
    /// stages leave out those that have not begun.
    pub(crate) fn may_pass(&self, carrier: Op) -> bool {
        !self.goes_round(carrier) || self.plan.stages(self.program, carrier) > 1
    }

    /// Loops around an operation.
    pub(crate) fn depth(&self, op: Op) -> u32 {
        let around = core::iter::successors(self.program.parent(op), |at| self.program.parent(*at));
        around
            .filter(|at| self.program.counted_loop(*at).is_some())
            .fold(0, |depth, _| depth.saturating_add(1))
    }

    /// Forgets what stands in registers from number `mark` on: whoever wants it computes it again.
    #[inline(never)]
    pub(crate) fn forget_since(&mut self, mark: u16) {
        let made = |reg: &crate::expr::Reg| reg.first >= mark;
        self.selector.forget_from(mark);
        let registers = &self.registers;
        let arena = &self.arena;
        // A variable has one register all along.
        let variable = |node: crate::expr::ExprId| match arena.get(node) {
            Some(crate::expr::Expr::Var(var)) => registers.get(var.index()).copied().flatten(),
            _ => None,
        };
        self.indices.retain(|i| !variable(i.node).is_some_and(|reg| made(&reg)));
        // What was computed since may be made of such registers.
        self.computed.retain(|c| c.made <= mark);
        self.settled.retain(|(_, node)| !variable(*node).is_some_and(|reg| made(&reg)));
        self.quotients.retain(|known| !variable(known.is).is_some_and(|reg| made(&reg)));
        self.splats.retain(|s| !made(&s.reg));
        self.held.retain(|h| !made(&h.reg));
        self.elected = self.elected.filter(|reg| !made(reg));
        self.stride = None;
    }

    /// The kernel's mbarriers as something that threads touch.
    pub(crate) fn objects(&self) -> Option<Mbarriers> {
        let object = self
            .machine
            .tables
            .units
            .mbarriers
            .iter()
            .find(|c| has(self.machine.arch, c.feature))?;
        let own = Mbarriers {
            from: self.plan.mbarrier_offset,
            bytes: u32::from(object.bytes),
            count: self.plan.mbarriers,
            waits: object.waits,
            announces: object.announces,
        };
        (self.plan.mbarriers > 0).then_some(own)
    }
}
