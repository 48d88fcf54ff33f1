//! Elementwise operations: one instruction for each register of the result, by the table's `does`.
//!
//! All tiles of such an operation are distributed alike, so registers meet registers. Where elements become narrower,
//! several registers of the operand are packed into one; a loose result takes each element alone.

use super::context::{Context, EmitError};
use super::step::{MAX_ARGS, Purpose, Slot, slot};
use crate::assign::doer;
use crate::expr::Reg;
use crate::ir::Op;
use lanebook_tables::Role;

/// Most operands of an operation.
const MAX_OPERANDS: usize = 4;

impl Context<'_, '_, '_, '_> {
    #[inline(never)]
    pub(super) fn elementwise(&mut self, op: Op) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut operands: heapless::Vec<Reg, MAX_OPERANDS> = heapless::Vec::new();
        let mut from = None;
        for k in 0..self.program.operands(op).count() {
            let value = self.program.operand(op, k).ok_or(refuse)?;
            from = from.or(self.program.type_of(value).dtype);
            let reg = self.tile_of(op, value)?;
            operands.push(reg).map_err(|_| refuse)?;
        }
        let result = self.program.result(op, 0).ok_or(refuse)?;
        let to = self.program.type_of(result).dtype.ok_or(refuse)?;
        let found = doer(self.machine.tables, self.machine.arch, self.program.op_name(op), operands.len(), from.ok_or(refuse)?, to);
        let (id, atom, pack) = found.ok_or(refuse)?;
        let does = atom.does.ok_or(refuse)?;
        let def = atom.operands.iter().position(|o| o.role == Role::Def).ok_or(refuse)?;
        let class = atom.operands.get(def).ok_or(refuse)?.class;
        let (_, fragment) = self.plan.fragment_of(result).ok_or(refuse)?;
        let loose = fragment.loose;
        let out = self.tile(op, class, fragment)?;
        self.steps.purpose = Purpose::Arithmetic;
        let one = |reg: Reg, k: u16| slot(Reg { class: reg.class, first: reg.first.wrapping_add(k), count: 1 });
        // A loose result has as many registers as its operand: each is made of one register, however many the atom takes.
        let step = if loose { 1 } else { pack };
        for register in 0..u16::from(out.count) {
            let mut args = [Slot::None; MAX_ARGS];
            *args.get_mut(def).ok_or(refuse)? = one(out, register);
            for (at, &number) in does.uses.iter().enumerate() {
                let (which, part) = (at.checked_div(pack).ok_or(refuse)?, at.checked_rem(pack).ok_or(refuse)?);
                let reg = *operands.get(which).ok_or(refuse)?;
                let part = u16::try_from(if loose { 0 } else { part }).map_err(|_| refuse)?;
                let at = register.wrapping_mul(u16::try_from(step).map_err(|_| refuse)?).wrapping_add(part);
                if at >= u16::from(reg.count) {
                    return Err(refuse);
                }
                *args.get_mut(usize::from(number)).ok_or(refuse)? = one(reg, at);
            }
            let used = args.get(..atom.operands.len()).ok_or(EmitError::Unplanned(op))?;
            self.steps.append(id, used)?;
        }
        self.hold(result, out)
    }
}
