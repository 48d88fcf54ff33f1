//! The walk: operations in program order to steps.
//!
//! Before a loop everything that does not change inside it is computed; the loop tests at its end
//! and is entered by a jump to that test, so that a loop without iterations is one. A product
//! updates its accumulator in place wherever nothing else wants the old value.

use crate::lower::context::{EmitError, LowerContext};
use crate::lower::loops::OpenLoop;
use crate::pool::EmitPool;
use crate::step::Purpose;
use crate::sync::order::PendingAccesses;
use lanebook_ir::Op;
use lanebook_tables::OpRole;

/// Deepest nesting of loops.
const MAX_DEPTH: usize = 4;

impl LowerContext<'_, '_, '_, '_> {
    /// Emits a whole function.
    #[inline(never)]
    pub fn function(&mut self, function: Op) -> Result<(), EmitError> {
        self.enter()?;
        self.make_completions()?;
        let open = &mut PendingAccesses::new(self.objects());
        self.enter_tensor(function)?;
        let mut loops: heapless::Vec<OpenLoop, MAX_DEPTH> = heapless::Vec::new();
        let mut at = self.program.body(function).and_then(|body| self.program.first(body));
        while let Some(op) = at {
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            match self.program.role(op) {
                OpRole::For => {
                    let entered = self.enter_loop(op, open)?;
                    loops.push(entered).map_err(|_| EmitError::Capacity {
                        pool: EmitPool::Nesting,
                        capacity: MAX_DEPTH as u32,
                    })?;
                    at = self.program.first(entered.parts.body);
                    continue;
                }
                OpRole::Load if self.plan.is_absorbed(op) => {}
                OpRole::Copy | OpRole::Load | OpRole::Store => {
                    let innermost = loops.last().map(|l| l.parts);
                    self.movement(op, innermost.as_ref(), open)?;
                }
                OpRole::Matrix => self.product(op, open)?,
                OpRole::Reduce | OpRole::Convert | OpRole::Transpose | OpRole::Broadcast
                    if self.is_number(op) =>
                {
                    self.constant(op)?
                }
                OpRole::Elementwise | OpRole::Reduce | OpRole::Transpose | OpRole::Convert
                    if self.is_unread(op) => {}
                OpRole::Elementwise => self.elementwise(op)?,
                OpRole::Transpose => self.rename(op)?,
                OpRole::Convert => self.convert(op, open)?,
                OpRole::Reduce => self.reduce(op, open)?,
                OpRole::Constant => self.constant(op)?,
                OpRole::Index => self.define_index(op)?,
                OpRole::Broadcast | OpRole::Alloc | OpRole::Return => {}
                OpRole::Yield => {
                    if let Some(l) = loops.last().copied() {
                        self.leave_loop(&l, open)?;
                        let _ = loops.pop();
                        self.fetch_carried(l.parts.op, open)?;
                        at = self.program.next(l.parts.op);
                        continue;
                    }
                }
                _ => return Err(EmitError::Unplanned(op)),
            }
            at = self.program.next(op);
        }
        if !loops.is_empty() {
            return Err(EmitError::Unplanned(function));
        }
        self.wait_for_open(open)?;
        self.leave_tiled(open)?;
        self.leave_tensor(function)?;
        self.steps.purpose = Purpose::Control;
        let end = self.machine.isa.end;
        Ok(self.steps.append(end, &[])?)
    }

    /// Whether an operation's result is a tile of one number.
    fn is_number(&self, op: Op) -> bool {
        self.program.result(op, 0).is_some_and(|value| self.program.constant(value).is_some())
    }

    /// Whether nothing that has registers reads what an operation makes: no reader and no writer
    /// has said how it is distributed.
    fn is_unread(&self, op: Op) -> bool {
        self.program.results(op).all(|value| self.plan.fragment_of(value).is_none())
    }
}
