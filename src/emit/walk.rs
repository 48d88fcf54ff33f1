//! The walk: operations in program order to steps.
//!
//! Before a loop everything that does not change inside it is computed; the loop tests at its end and is entered by a
//! jump to that test, so that a loop without iterations is one. A product updates its accumulator in place wherever
//! nothing else wants the old value.

use super::context::{Context, EmitError};
use super::loops::OpenLoop;
use super::step::{Purpose, Slot};
use super::sync::Open;
use crate::expr::Reg;
use crate::ir::Op;
use crate::plan::ProductPlan;
use lanebook_tables::OpRole;

/// Deepest nesting of loops.
const MAX_DEPTH: usize = 4;

impl Context<'_, '_, '_, '_> {
    /// Emits a whole function.
    pub fn function(&mut self, function: Op) -> Result<(), EmitError> {
        let mut open = Open::default();
        let mut loops: heapless::Vec<OpenLoop, MAX_DEPTH> = heapless::Vec::new();
        let mut at = self.program.body(function).and_then(|body| self.program.first(body));
        while let Some(op) = at {
            self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
            match self.program.role(op) {
                OpRole::For => {
                    let entered = self.enter_loop(op, &mut open)?;
                    loops.push(entered).map_err(|_| EmitError::Capacity { capacity: MAX_DEPTH as u32 })?;
                    at = self.program.first(entered.parts.body);
                    continue;
                }
                OpRole::Copy | OpRole::Load | OpRole::Store => {
                    let innermost = loops.last().map(|l| l.parts);
                    self.movement(op, innermost.as_ref(), &mut open)?;
                }
                OpRole::Matrix => self.product(op)?,
                OpRole::Elementwise => self.elementwise(op)?,
                OpRole::Transpose | OpRole::Convert => self.rename(op)?,
                OpRole::Constant | OpRole::Alloc | OpRole::Return | OpRole::Index => {}
                OpRole::Yield => {
                    if let Some(l) = loops.last().copied() {
                        self.leave_loop(&l)?;
                        let _ = loops.pop();
                        if !loops.is_empty() {
                            // What was computed inside an outer loop need not have been computed after it.
                            self.selector.forget();
                            self.settled.clear();
                            self.remember_variables();
                        }
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
        self.steps.purpose = Purpose::Control;
        let end = self.machine.isa.end;
        Ok(self.steps.append(end, &[])?)
    }

    fn remember_variables(&mut self) {
        for k in 0..self.indices.len() {
            if let Some(&(_, _, node)) = self.indices.get(k)
                && let Some(crate::expr::Expr::Var(var)) = self.arena.get(node)
                && let Some(Some(reg)) = self.registers.get(var.index())
            {
                self.selector.remember(node, *reg);
            }
        }
    }

    #[inline(never)]
    fn product(&mut self, op: Op) -> Result<(), EmitError> {
        let plan: ProductPlan = *self.plan.product_of(op).ok_or(EmitError::Unplanned(op))?;
        let atom = self.machine.tables.atom(plan.product.atom).ok_or(EmitError::Unplanned(op))?;
        let value = |k: usize| self.program.operand(op, k).ok_or(EmitError::Unplanned(op));
        let (a, b, c) = (value(0)?, value(1)?, value(2)?);
        let d = self.program.result(op, 0).ok_or(EmitError::Unplanned(op))?;
        let (ra, rb, rc) = (self.tile_of(op, a)?, self.tile_of(op, b)?, self.tile_of(op, c)?);
        // In place, if nobody else reads the old accumulator.
        let alone = self.program.uses(c).count() == 1;
        let rd = if alone { rc } else { self.steps.tuple(rc.class, rc.count)? };
        self.hold(d, rd)?;
        self.steps.purpose = Purpose::Matrix;
        let (nm, nn, nk) = plan.product.counts();
        let registers = |k: u8| atom.operands.get(usize::from(k)).map_or(1, |o| u16::from(o.registers));
        let s = plan.product.shape;
        let (ra_count, rb_count, rc_count) = (registers(s.a), registers(s.b), registers(s.c));
        let part = |reg: Reg, index: u16, count: u16| Slot::Reg {
            class: reg.class.0 as u8,
            count: u8::try_from(count).unwrap_or(u8::MAX),
            first: reg.first.wrapping_add(index.wrapping_mul(count)),
        };
        // The words that the element types ask for, where the atom has them as parameters.
        let mut words: heapless::Vec<(u8, Slot), { lanebook_tables::MAX_PARAMS }> = heapless::Vec::new();
        for (param, _) in atom.params() {
            let typed = |k: u8| atom.operands.get(usize::from(k)).and_then(|o| o.vary).is_some_and(|vary| vary.typed_by == Some(param));
            let Some((_, holder)) = [(s.a, a), (s.b, b), (s.c, c), (s.d, d)].into_iter().find(|(k, _)| typed(*k)) else { continue };
            let word = self.program.type_of(holder).dtype.and_then(|dtype| atom.word_of(param, dtype));
            let _ = words.push((param, Slot::Int(i32::from(word.ok_or(EmitError::Unplanned(op))?))));
        }
        for k in 0..nk {
            for m in 0..nm {
                for n in 0..nn {
                    let (ia, ib, ic) = plan.product.blocks((m, n, k));
                    let from = if k == 0 { rc } else { rd };
                    let mut args = [Slot::None; super::step::MAX_ARGS];
                    let set = [(s.a, part(ra, ia, ra_count)), (s.b, part(rb, ib, rb_count)), (s.c, part(from, ic, rc_count)), (s.d, part(rd, ic, rc_count))];
                    for (number, arg) in set {
                        if let Some(place) = args.get_mut(usize::from(number)) {
                            *place = arg;
                        }
                    }
                    for &(number, arg) in &words {
                        if let Some(place) = args.get_mut(usize::from(number)) {
                            *place = arg;
                        }
                    }
                    let used = args.get(..atom.operands.len().min(args.len())).unwrap_or(&[]);
                    self.steps.append(plan.product.atom, used)?;
                }
            }
        }
        Ok(())
    }
}
