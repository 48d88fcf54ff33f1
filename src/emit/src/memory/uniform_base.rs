//! Wave-uniform runs: their start stands in a special register, from which an instance's lanes
//! count.
//!
//! The register is written before each instance, because other operations of a loop write it too.
//! The last instruction of the start leaves its result there at once, where the tables have one
//! that can, and a further instance only adds its step to what is there.

use crate::expr::{BitColumn, Combine, Expr, ExprId, Reg, RegBank, Variable, from_bits};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::{KeptFor, MovementEnd};
use crate::lower::target::SecondOperand;
use crate::memory::address::SideView;
use crate::pool::EmitPool;
use crate::step::{InstError, InstKind, Missing, int, slot};
use lanebook_ir::Op;
use lanebook_plan::TransferPlan;
use lanebook_tables::{ClassId, IndexOp};
use lanebook_tile::map::MemoryMap;

/// Most runs whose last instruction is kept back.
pub(crate) const MAX_RUNS: usize = 16;

/// The start of a run that is made in the special register itself.
#[derive(Copy, Clone)]
pub struct UniformRun {
    op: u16,
    end: MovementEnd,
    last: Last,
}

/// An instruction and its number; the operation's address register is what it takes.
#[derive(Copy, Clone)]
struct Last {
    op: IndexOp,
    number: u32,
}

impl LowerContext<'_, '_, '_, '_> {
    /// A wave-uniform run: one scalar start, instances by known steps.
    #[inline(never)]
    pub(crate) fn prepare_run(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        map: &MemoryMap,
        offset: u32,
    ) -> Result<(), EmitError> {
        self.steps.purpose = InstKind::FirstAddress;
        let mut columns: heapless::Vec<BitColumn, 8> = heapless::Vec::new();
        let moved = plan.tiling.warps.as_slice().iter().any(|&e| map.at(e).bytes != 0);
        let value = if moved { self.wave_start()? } else { self.thread };
        for (bit, &e) in (self.plan.wave..).zip(plan.tiling.warps.as_slice()) {
            columns
                .push(BitColumn { value, bit, column: map.at(e).bytes })
                .map_err(|_| EmitError::full(EmitPool::AddressBits, 8))?;
        }
        let node = from_bits(&mut self.arena, &columns, Combine::Add, offset)?;
        let node = self.simplified(node)?;
        let op = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        // One that goes on from buffer to buffer is whole.
        let kept = match self.plan.staged(plan) {
            Some(_) => None,
            None => self.kept_back(plan, view, node)?,
        };
        let reg = match kept {
            Some((before, last))
                if self.runs.push(UniformRun { op, end: view.at, last }).is_ok() =>
            {
                before
            }
            _ => self.compute(node, RegBank::Scalar)?,
        };
        self.keep(op, KeptFor::Base(view.at), reg)
    }

    /// The register that the last instruction of a start takes, and that instruction, if it can
    /// write the special register.
    fn kept_back(
        &mut self,
        plan: &TransferPlan,
        view: &SideView<'_>,
        node: ExprId,
    ) -> Result<Option<(Reg, Last)>, EmitError> {
        let atom = self.machine.tables.atom(plan.atom).ok_or(EmitError::Unplanned(plan.op))?;
        let Some(special) =
            atom.operands.get(usize::from(view.side.operand)).filter(|o| o.implicit)
        else {
            return Ok(None);
        };
        let Some(Expr::Op(op, [before, number])) = self.arena.get(node) else { return Ok(None) };
        let Some(number) = self.arena.constant_value(number).and_then(|n| u32::try_from(n).ok())
        else {
            return Ok(None);
        };
        let before = self.compute(before, RegBank::Scalar)?;
        let direct = self.machine.binary_into(op, (special.class, before.class), i64::from(number));
        Ok(direct.map(|_| (before, Last { op, number })))
    }

    /// The number of the wave's first thread, where an instruction fetches it: the same in all
    /// lanes, and zero in the bits that count them, so that no mask is needed to see the wave's
    /// number. Every lane is there when addresses are made.
    pub(crate) fn wave_start(&mut self) -> Result<ExprId, EmitError> {
        let Some(atom) = self.machine.isa.make_uniform else { return Ok(self.thread) };
        if let Some((_, known)) = self.settled.iter().find(|(node, _)| *node == self.thread) {
            return Ok(*known);
        }
        let thread = self.compute(self.thread, RegBank::Vector)?;
        let def = self
            .machine
            .tables
            .atom(atom)
            .and_then(|a| a.operands.first())
            .ok_or(EmitError::Rules)?;
        let reg = self.steps.tuple(def.class, 1)?;
        self.steps.append(atom, &[slot(reg), slot(thread)])?;
        let variable =
            Variable::word().below(u64::from(self.plan.threads)).aligned(self.plan.wave).uniform();
        let variable = self.declare(variable, reg)?;
        // A full list only costs another instruction.
        let _ = self.settled.push((self.thread, variable));
        Ok(variable)
    }

    /// The one register of a special class.
    pub(crate) fn special(&mut self, class: ClassId) -> Result<Reg, EmitError> {
        let known = self.steps.registers.iter().find(|v| v.pinned && u16::from(v.class) == class.0);
        match known {
            Some(v) => Ok(Reg { class, first: v.first, count: v.count }),
            None => Ok(self.steps.pinned(class, 0, 1)?),
        }
    }

    /// Writes an instance's start, `bytes` behind the run's, into the special register.
    pub(crate) fn start_run(
        &mut self,
        op: Op,
        end: MovementEnd,
        bytes: u32,
        class: ClassId,
    ) -> Result<(), EmitError> {
        let base = self.kept(op, KeptFor::Base(end)).ok_or(EmitError::Unplanned(op))?;
        let into = self.special(class)?;
        let before = self.run_at.replace(bytes);
        // As a number of 32 bits, with its sign.
        let step = before.map(|at| i64::from(bytes.wrapping_sub(at).cast_signed()));
        if let Some(step) = step
            && let Some(add) = self.machine.binary_into(IndexOp::Add, (class, class), step)
        {
            return if step == 0 { Ok(()) } else { self.write(add, into, into, step) };
        }
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let kept =
            self.runs.iter().find(|run| run.op == number && run.end == end).map(|run| run.last);
        let missing = InstError::NoAtom(Missing::Special(class));
        let (from, bytes) = match kept {
            Some(Last { op: how, number: by }) => {
                let atom = self
                    .machine
                    .binary_into(how, (class, base.class), i64::from(by))
                    .ok_or(missing)?;
                self.write(atom, into, base, i64::from(by))?;
                (into, bytes)
            }
            None => (base, bytes),
        };
        if bytes == 0 {
            return if kept.is_some() { Ok(()) } else { self.copy_special(into, base) };
        }
        if let Some(add) =
            self.machine.binary_into(IndexOp::Add, (class, from.class), i64::from(bytes))
        {
            return self.write(add, into, from, i64::from(bytes));
        }
        let sum = self
            .machine
            .binary(IndexOp::Add, from.class, 1, SecondOperand::Number(i64::from(bytes)))
            .ok_or(missing)?;
        let fresh = self.steps.tuple(from.class, 1)?;
        self.write(sum, fresh, from, i64::from(bytes))?;
        self.copy_special(into, fresh)
    }

    /// `to = from op number`.
    fn write(
        &mut self,
        atom: lanebook_tables::AtomId,
        to: Reg,
        from: Reg,
        number: i64,
    ) -> Result<(), EmitError> {
        let number = int(number).ok_or(InstError::NoAtom(Missing::Special(to.class)))?;
        Ok(self.steps.append(atom, &[slot(to), slot(from), number])?)
    }

    fn copy_special(&mut self, into: Reg, from: Reg) -> Result<(), EmitError> {
        let copy = self
            .machine
            .copy_into(into.class, 1, from.class)
            .ok_or(InstError::NoAtom(Missing::Special(into.class)))?;
        Ok(self.steps.append(copy, &[slot(into), slot(from)])?)
    }
}
