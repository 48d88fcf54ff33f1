//! The walk: operations in program order to steps.
//!
//! Before a loop everything that does not change inside it is computed; the loop tests at its end
//! and is entered by a jump to that test, so that a loop without iterations is one. A product
//! updates its accumulator in place wherever nothing else wants the old value.

use crate::elements::LoopSource;
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::loops::OpenLoops;
use crate::step::InstKind;
use crate::sync::order::PendingAccesses;
use lanebook_ir::{Loop, Op};
use lanebook_loops::Told;
use lanebook_tables::OpRole;

impl LowerContext<'_, '_, '_, '_> {
    /// Emits a whole function, but for the part of warps that only copy
    /// ([`LowerContext::copying_warps`]).
    #[inline(never)]
    pub fn function<'f>(
        &mut self,
        function: Op,
        of_loops: &mut impl LoopSource<'f>,
    ) -> Result<(), EmitError> {
        self.snippet = self.program.is_snippet(function);
        self.enter(function)?;
        if let Some(told) = of_loops.told() {
            self.make_fragments(told)?;
        }
        self.make_mbarriers()?;
        let open = &mut PendingAccesses::new(self.objects());
        self.enter_tensor(function)?;
        self.part_warps()?;
        let mut loops = OpenLoops::new();
        let mut at = self.program.body(function).and_then(|body| self.program.first(body));
        loop {
            let Some(op) = at else {
                // A body that passes nothing on may end without saying so.
                if loops.is_empty() {
                    break;
                }
                at = self.leave_turn(&mut loops, open)?;
                continue;
            };
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            match self.program.role(op) {
                OpRole::If if of_loops.told().is_some() => {
                    at = self.first_in_branch(op);
                    continue;
                }
                OpRole::For => {
                    self.note_written();
                    self.turns = self.turns.saturating_add(1);
                    self.enter_loop(op, &mut loops, open)?;
                    self.settle_loop(op, open)?;
                    if let Some(entered) = loops.last_mut() {
                        self.begin_body(entered, open)?;
                        at = self.program.first(entered.frame.parts.body);
                    }
                    continue;
                }
                // Its loop's head has started it.
                _ if self.starts_ahead(op, innermost(&loops)) => {}
                role if of_loops.told().is_some() && !self.is_plain(role) => {
                    if let Some(told) = of_loops.told() {
                        self.of_loops(op, told, open)?;
                    }
                }
                OpRole::Yield => {
                    if !loops.is_empty() && !self.is_branch(self.program.parent(op)) {
                        at = self.leave_turn(&mut loops, open)?;
                        continue;
                    }
                }
                role => self.operation(op, role, innermost(&loops), open)?,
            }
            at = self.behind_branches(op);
        }
        self.wait_for_open(open)?;
        self.leave_tiled(open)?;
        self.order_at_end()?;
        self.leave_tensor(function)?;
        if self.snippet {
            return Ok(());
        }
        self.steps.purpose = InstKind::Control;
        let end = self.machine.isa.end;
        Ok(self.steps.append(end, &[])?)
    }

    /// An operation that opens and ends nothing. A frame of its own: loops' work, which needs the most
    /// stack, does not stand on it.
    #[inline(never)]
    fn operation(
        &mut self,
        op: Op,
        role: OpRole,
        turn: Option<&Loop>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        match role {
            OpRole::Load if self.plan.is_absorbed(op) => {}
            OpRole::Copy if self.is_loaded_before(op) => {}
            OpRole::Copy if self.copy_together(op, turn, open)? => {}
            OpRole::Copy | OpRole::Load | OpRole::Store | OpRole::Atomic => {
                self.movement(op, turn, open)?;
            }
            OpRole::Matrix => self.product(op, open)?,
            role if shapes(role) && self.is_number(op) => self.constant(op)?,
            role if computes(role) && self.is_unread(op) => {}
            OpRole::Slice if !self.is_unread(op) => self.part(op)?,
            // Others stand in its place.
            role if role.is_composed() => {}
            OpRole::Elementwise if self.program.has_same_bits(op) => self.bits_of(op)?,
            OpRole::Elementwise | OpRole::Select => self.elementwise(op)?,
            OpRole::Transpose | OpRole::Reshape | OpRole::Permute => self.rename(op)?,
            OpRole::Convert => self.convert(op, open)?,
            OpRole::Reduce => self.reduce(op, open)?,
            OpRole::Constant => self.constant(op)?,
            OpRole::Index => match self.program.coordinates(op) {
                Some(of) => self.coordinates(op, of)?,
                None => self.define_index(op)?,
            },
            OpRole::Broadcast => {
                if let Some(number) = self.program.repeated_number(op) {
                    self.full_tile(op, number)?;
                }
            }
            OpRole::Return => self.give_results(op)?,
            // What they order in the block, the accesses have ordered among themselves.
            OpRole::Alloc | OpRole::Fence | OpRole::Wait => self.order_beyond(op, open)?,
            _ => return Err(EmitError::Unplanned(op)),
        }
        Ok(())
    }

    /// The end of the innermost loop's body; where it goes on.
    #[inline(never)]
    fn leave_turn(
        &mut self,
        loops: &mut OpenLoops,
        open: &mut PendingAccesses,
    ) -> Result<Option<Op>, EmitError> {
        let Some(l) = loops.pop() else { return Ok(None) };
        self.leave_loop(&l, open)?;
        self.forget_written();
        self.fetch_carried(l.frame.parts.op, open)?;
        Ok(self.behind_branches(l.frame.parts.op))
    }

    /// Whether an operation is a branch.
    fn is_branch(&self, op: Option<Op>) -> bool {
        op.is_some_and(|op| self.program.role(op) == OpRole::If)
    }

    /// Whether an operation is the same in functions of parallel loops and in others.
    fn is_plain(&self, role: OpRole) -> bool {
        matches!(role, OpRole::For | OpRole::Yield | OpRole::Return | OpRole::Alloc)
    }

    /// An operation of a function of parallel loops.
    fn of_loops(
        &mut self,
        op: Op,
        told: &mut Told<'_>,
        open: &mut PendingAccesses,
    ) -> Result<(), EmitError> {
        match self.program.role(op) {
            // What is computed of numbers and indices is known where it is asked for.
            OpRole::Index | OpRole::Constant | OpRole::View => Ok(()),
            OpRole::Elementwise | OpRole::Select | OpRole::ElementLoad => {
                self.value_outside(op, told, open)
            }
            _ => self.in_place(op, told, open),
        }
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

/// The innermost loop that is open.
fn innermost(loops: &OpenLoops) -> Option<&Loop> {
    loops.last().map(|open| &open.frame.parts)
}

/// Operations that make a tile of one with the same elements, or fewer or more of them.
fn shapes(role: OpRole) -> bool {
    matches!(
        role,
        OpRole::Reduce
            | OpRole::Convert
            | OpRole::Transpose
            | OpRole::Reshape
            | OpRole::Permute
            | OpRole::Broadcast
    )
}

/// Operations that are left out where nothing that has registers reads them.
fn computes(role: OpRole) -> bool {
    role != OpRole::Broadcast && (shapes(role) || role.is_lanewise())
}
