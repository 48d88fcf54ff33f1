//! Reductions: within a lane's registers, between the lanes that share a row, between the warps
//! that do.
//!
//! Which bits of register, lane and warp number the dimension occupies is read from the
//! distribution; the instruction that exchanges lanes is the cheapest of the table's that can, for
//! each bit.

use crate::expr::{Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::step::{InstError, InstKind, MAX_ARGS, Missing, Slot, int, slot};
use crate::sync::order::PendingAccesses;
use lanebook_ir::Op;
use lanebook_plan::select::{lane_shuffle, select_elementwise};
use lanebook_tables::{Atom, AtomId, ClassId, IndexOp, LaneXor, Operand, Role};
use lanebook_tile::map::{Fragment, KeptAxis};
use lanebook_tile::shaping::{combiner, reduced};

/// The instruction that combines two elements.
#[derive(Copy, Clone)]
pub(crate) struct CombineAtom<'t> {
    pub id: AtomId,
    pub atom: &'t Atom<'t>,
}

impl<'t> CombineAtom<'t> {
    /// The class of the registers that it fills.
    pub fn class(&self) -> Option<ClassId> {
        self.atom.operands.iter().find(|o| o.role == Role::Def).map(|o| o.class)
    }

    /// The first operand that it reads.
    pub fn taken(&self) -> Option<&'t Operand<'t>> {
        let number = *self.atom.does?.uses.first()?;
        self.atom.operands.get(usize::from(number))
    }
}

/// Masks of the lanes between which a reduction combines.
fn masks(whole: &Fragment, kept: KeptAxis) -> impl Iterator<Item = u8> {
    let shares = move |e: u32| e != 0 && kept.part(whole.shape, e) == 0;
    (0u32..)
        .zip(whole.lane.as_slice())
        .filter(move |(_, e)| shares(**e))
        .map(|(bit, _)| 1u8.checked_shl(bit).unwrap_or(0))
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// The cheapest exchange between lanes whose numbers differ in `mask`.
    fn lane_shuffle(&self, mask: u8) -> Option<(AtomId, &'t Atom<'t>, &'t LaneXor<'t>)> {
        lane_shuffle(self.machine.tables, self.machine.arch, mask)
    }

    /// Computes the lane numbers that a reduction's exchanges want in registers.
    #[inline(never)]
    pub(crate) fn prepare_reduce(&mut self, op: Op) -> Result<(), EmitError> {
        let Some((whole, kept)) = self.reduction(op) else { return Ok(()) };
        let number = u16::try_from(op.index()).unwrap_or(u16::MAX);
        for bit in 0..self.plan.wave {
            let mask = 1u8.checked_shl(u32::from(bit)).unwrap_or(0);
            let Some((_, _, how)) =
                self.lane_shuffle(mask).filter(|_| masks(&whole, kept).any(|m| m == mask))
            else {
                continue;
            };
            let Some((_, times)) = how.by else { continue };
            let what = KeptFor::LaneAcross(u32::from(mask));
            if self.kept(op, what).is_some() {
                continue;
            }
            self.steps.origin = number;
            self.steps.purpose = InstKind::FirstAddress;
            let other = self.arena.op_const(IndexOp::Xor, self.thread, u64::from(mask))?;
            let scaled = self.arena.op_const(
                IndexOp::Shl,
                other,
                u64::from(times.max(1).trailing_zeros()),
            )?;
            let reg = self.compute(scaled, RegBank::Vector)?;
            self.keep(number, what, reg)?;
        }
        self.prepare_exchange(op)
    }

    /// A reduction's operand as it is distributed, and what stays of it.
    fn reduction(&self, op: Op) -> Option<(Fragment, KeptAxis)> {
        let kept = reduced(self.program, op)?;
        let (_, whole) = self.plan.fragment_of(self.program.operand(op, 0)?)?;
        Some((*whole, kept))
    }

    #[inline(never)]
    pub(crate) fn reduce(&mut self, op: Op, open: &mut PendingAccesses) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        self.prepare_reduce(op)?;
        let (whole, kept) = self.reduction(op).ok_or(refuse)?;
        let (operand, result) =
            (self.program.operand(op, 0).ok_or(refuse)?, self.program.result(op, 0).ok_or(refuse)?);
        let dtype = self.program.type_of(operand).dtype.ok_or(refuse)?;
        let kind = combiner(self.program, op).ok_or(refuse)?;
        let (id, _, _) =
            select_elementwise(self.machine.tables, self.machine.arch, kind, 2, (dtype, dtype), 0)
                .ok_or(refuse)?;
        let combine = CombineAtom { id, atom: self.machine.tables.atom(id).ok_or(refuse)? };
        let def = combine.atom.operands.iter().find(|o| o.role == Role::Def).ok_or(refuse)?;
        let (_, slice) = self.plan.fragment_of(result).ok_or(refuse)?;
        let source = self.source(op, operand)?;
        let taken = combine
            .atom
            .does
            .and_then(|does| combine.atom.operands.get(usize::from(*does.uses.first()?)))
            .ok_or(refuse)?;
        let reg = self.suited(op, source.registers(), taken)?;
        let source = source.in_registers(reg);
        self.steps.origin = u16::try_from(op.index()).unwrap_or(u16::MAX);
        let out = self.tile(def.class, slice)?;
        // Within the lane.
        self.steps.purpose = InstKind::Arithmetic;
        for r in 0..out.count {
            let mut so_far: Option<Reg> = None;
            for place in (0..whole.registers())
                .filter(|p| whole.slice_place(kept, u32::from(*p)) == u32::from(r))
            {
                let next = self.register(&source, place).ok_or(refuse)?;
                so_far = Some(match so_far {
                    None => next,
                    Some(reg) => {
                        self.combine(op, combine, out.member(r), reg, next)?;
                        out.member(r)
                    }
                });
            }
            let only = so_far.filter(|reg| *reg != out.member(r));
            if let Some(reg) = only {
                let atom = self
                    .machine
                    .copy_into(out.class, 1, reg.class)
                    .ok_or(InstError::NoAtom(Missing::Move(out.class)))?;
                self.steps.append(atom, &[slot(out.member(r)), slot(reg)])?;
            }
        }
        // Between lanes: all exchanges of a bit, then what they brought.
        for bit in 0..self.plan.wave {
            let mask = 1u8.checked_shl(u32::from(bit)).unwrap_or(0);
            // Lanes that no instruction joins leave their parts for each other as warps do.
            if masks(&whole, kept).any(|m| m == mask) && self.lane_shuffle(mask).is_some() {
                let other = self.steps.tuple(out.class, out.count)?;
                for r in 0..out.count {
                    self.shuffle_lanes(op, mask, out.member(r), other.member(r))?;
                }
                for r in 0..out.count {
                    self.combine(op, combine, out.member(r), out.member(r), other.member(r))?;
                }
            }
        }
        // Between warps (and lanes without an exchange): each has left its part, and reads all of
        // them.
        let Some(exchange) = self.plan.exchange_of(op) else { return self.hold(result, out) };
        let lines = exchange.to.registers().checked_div(out.count).ok_or(refuse)?;
        let all = self.exchange(op, out, open)?;
        let sum = self.steps.tuple(def.class, out.count)?;
        self.steps.purpose = InstKind::Arithmetic;
        for r in 0..out.count {
            let part = |line: u16| all.member(r.wrapping_mul(lines).wrapping_add(line));
            self.combine(op, combine, sum.member(r), part(0), part(1))?;
            for line in 2..lines {
                self.combine(op, combine, sum.member(r), sum.member(r), part(line))?;
            }
        }
        self.hold(result, sum)
    }

    pub(crate) fn combine(
        &mut self,
        op: Op,
        combine: CombineAtom<'_>,
        out: Reg,
        a: Reg,
        b: Reg,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut args = [Slot::None; MAX_ARGS];
        let def = combine.atom.operands.iter().position(|o| o.role == Role::Def).ok_or(refuse)?;
        *args.get_mut(def).ok_or(refuse)? = slot(out);
        for (&number, reg) in combine.atom.does.ok_or(refuse)?.uses.iter().zip([a, b]) {
            *args.get_mut(usize::from(number)).ok_or(refuse)? = slot(reg);
        }
        let used = args.get(..combine.atom.operands.len()).ok_or(refuse)?;
        Ok(self.steps.append(combine.id, used)?)
    }

    /// `to` receives what `from` holds in the lane whose number differs in `mask`.
    fn shuffle_lanes(&mut self, op: Op, mask: u8, from: Reg, to: Reg) -> Result<(), EmitError> {
        let found = self
            .lane_shuffle(mask)
            .ok_or(EmitError::Inst(InstError::NoAtom(Missing::Lanes(mask))))?;
        let sender = self.kept(op, KeptFor::LaneAcross(u32::from(mask)));
        self.between_lanes(op, found, mask, sender, (from, to))
    }

    /// `to` receives what `from` holds in the lane that `sender` names, or where the instruction
    /// has no such operand in the one whose number differs in `mask`.
    pub(crate) fn between_lanes(
        &mut self,
        op: Op,
        (id, atom, how): (AtomId, &Atom<'_>, &LaneXor<'_>),
        mask: u8,
        sender: Option<Reg>,
        (from, to): (Reg, Reg),
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let does = atom.does.ok_or(refuse)?;
        let mut args = [Slot::None; MAX_ARGS];
        let mut values = how.set.iter();
        let mut step = how.step;
        for ((k, operand), arg) in (0u8..).zip(atom.operands.iter()).zip(&mut args) {
            *arg = if does.uses.contains(&k) {
                slot(from)
            } else if matches!(operand.role, Role::Def | Role::UseDef) {
                slot(to)
            } else if let Some((_, _)) = how.by.filter(|by| by.0 == k) {
                slot(sender.ok_or(refuse)?)
            } else {
                let value = values
                    .next()
                    .copied()
                    .unwrap_or(0)
                    .wrapping_add(step.wrapping_mul(i32::from(mask)));
                step = 0;
                int(i64::from(value)).ok_or(refuse)?
            };
        }
        let used = args.get(..atom.operands.len()).ok_or(refuse)?;
        Ok(self.steps.append(id, used)?)
    }
}
