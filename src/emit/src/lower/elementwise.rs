//! Elementwise operations: one instruction for each register of the result, by the table's `does`.
//!
//! All tiles of such an operation are distributed alike, so registers meet registers. Where
//! elements become narrower, several registers of the operand are packed into one; where they
//! become wider, each register of the operand fills several, by an instruction for each share of
//! it. A loose tile has each element alone; an element of 64 bits has a pair of registers. A tile
//! that nothing reads afterwards gives its registers to the result.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::registers::liveness::overlaps;
use crate::registers::regs_of_value::OperandRegs;
use crate::step::{InstKind, MAX_ARGS, Slot, slot};
use lanebook_ir::Op;
use lanebook_plan::select::{select_elementwise, shares};
use lanebook_tables::{Atom, AtomId, ClassId, DtypeId, OpWord, Role};
use lanebook_tile::map::Fragment;

/// Most operands of an operation.
const MAX_OPERANDS: usize = 4;

/// Most shares of a register.
const MAX_SHARES: usize = 4;

/// One atom of an elementwise operation.
#[derive(Copy, Clone)]
struct ElementwiseAtom<'t> {
    id: AtomId,
    atom: &'t Atom<'t>,
    /// Operand registers for a result register.
    pack: u16,
}

impl LowerContext<'_, '_, '_, '_> {
    #[inline(never)]
    pub(crate) fn elementwise(&mut self, op: Op) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut operands: heapless::Vec<OperandRegs, MAX_OPERANDS> = heapless::Vec::new();
        let from = self.elementwise_operands(op, &mut operands)?;
        let result = self.program.result(op, 0).ok_or(refuse)?;
        let to = self.program.type_of(result).dtype.ok_or(refuse)?;
        let (tables, arch) = (self.machine.tables, self.machine.arch);
        let unit = |found: Option<(AtomId, &'_ Atom<'_>, usize)>| {
            found.and_then(|(id, _, pack)| {
                Some(ElementwiseAtom {
                    id,
                    atom: tables.atom(id)?,
                    pack: u16::try_from(pack).ok()?,
                })
            })
        };
        let (_, fragment) = self.plan.fragment_of(result).ok_or(refuse)?;
        let bits = |id| tables.dtype(id).map_or(0, |d| d.held);
        // Where a register's elements stand alone, in the operands or in the result, there is only
        // the lowest share.
        let unpacked = self.is_unpacked(op, fragment)?;
        let many_shares = if unpacked { 1 } else { shares(bits(from), bits(to)) };
        let word = self.program.decl_id(op).map(OpWord::Op).ok_or(refuse)?;
        let mut units: heapless::Vec<ElementwiseAtom<'_>, MAX_SHARES> = heapless::Vec::new();
        for part in 0..many_shares {
            let found =
                unit(select_elementwise(tables, arch, word, operands.len(), (from, to), part))
                    .ok_or(refuse)?;
            units.push(found).map_err(|_| refuse)?;
        }
        let own = *units.first().ok_or(refuse)?;
        let def = own.atom.operands.iter().find(|o| o.role == Role::Def).ok_or(refuse)?;
        for (source, number) in operands
            .iter_mut()
            .zip(own.atom.does.ok_or(refuse)?.uses.iter().step_by(usize::from(own.pack.max(1))))
        {
            let operand = own.atom.operands.get(usize::from(*number)).ok_or(refuse)?;
            let reg = self.suited(op, source.registers(), operand)?;
            *source = source.in_registers(reg);
        }
        // Elements of a result register, and how many of them the atom makes.
        let many =
            if unpacked { 1 } else { 1u16.checked_shl(u32::from(fragment.packing())).unwrap_or(1) };
        // Where elements become narrower, the last register of an odd number of them is not full:
        // what stands in the rest of it is no element, and may be any.
        let narrows = bits(from) > bits(to) && !unpacked;
        let last = self
            .program
            .operand(op, 0)
            .filter(|_| narrows)
            .and_then(|value| self.plan.fragment_of(value))
            .map_or(u16::MAX, |(_, whole)| whole.registers().saturating_sub(1));
        // Registers that are packed to a result register, each made of as many elements as the atom
        // takes.
        let pieces =
            if from == to || unpacked { 1 } else { many.checked_div(own.pack).unwrap_or(1) };
        let packs = pieces > 1 && bits(from) > bits(to);
        let packer = if packs {
            Some(
                unit(select_elementwise(
                    tables,
                    arch,
                    OpWord::ConcatRegs,
                    usize::from(pieces),
                    (to, to),
                    0,
                ))
                .ok_or(refuse)?,
            )
        } else {
            None
        };
        let count = fragment.registers();
        // No lane has so many: another plan may need fewer.
        if count > self.machine.isa.tile_most() {
            return Err(refuse);
        }
        // An element of 64 bits has two registers.
        let each = u16::from(def.registers.max(1));
        let spare = (from == to || unpacked).then(|| self.spare(op, &operands, def.class, count));
        let out = match spare.flatten() {
            Some(reg) => reg,
            None => self.tile(def.class, fragment)?,
        };
        self.steps.purpose = InstKind::Arithmetic;
        for register in 0..out.count.checked_div(each).ok_or(refuse)? {
            let Some(packer) = packer else {
                let shares = u16::from(many_shares.max(1));
                let share = register.checked_rem(shares).ok_or(refuse)?;
                let unit = *units.get(usize::from(share)).ok_or(refuse)?;
                // A loose tile has as many registers as the other side: each is made of one
                // register, however many the atom takes.
                let step = if unpacked { 1 } else { own.pack };
                let at = register.checked_div(shares).ok_or(refuse)?.wrapping_mul(step);
                let own = out.members(register.wrapping_mul(each), u16::from(def.registers));
                self.unit(op, unit, &operands, own, at, (unpacked, last))?;
                continue;
            };
            let mut parts: heapless::Vec<Reg, MAX_OPERANDS> = heapless::Vec::new();
            for k in 0..pieces {
                let part = self.steps.tuple(def.class, 1)?;
                let at = register.wrapping_mul(pieces).wrapping_add(k).wrapping_mul(own.pack);
                self.unit(op, own, &operands, part, at, (false, last))?;
                parts.push(part).map_err(|_| refuse)?;
            }
            let uses =
                packer.atom.does.ok_or(refuse)?.uses.iter().zip(parts.iter().map(|reg| slot(*reg)));
            self.apply(op, packer, out.member(register), uses)?;
        }
        self.hold(result, out)
    }

    /// An operand's registers that can become the result: as many of its class, which nothing reads
    /// any more. Each of them is read by the instruction that writes it.
    fn spare(&self, op: Op, operands: &[OperandRegs], class: ClassId, count: u16) -> Option<Reg> {
        let is_apart = |reg: Reg| {
            operands
                .iter()
                .all(|other| other.whole() == Some(reg) || !overlaps(other.registers(), reg))
        };
        operands.iter().find_map(|source| {
            let reg = source.whole().filter(|reg| reg.class == class && reg.count == count)?;
            (is_apart(reg) && self.is_free_after(op, reg)).then_some(reg)
        })
    }

    /// The operands of an elementwise operation, and the element type of the first that has one.
    fn elementwise_operands(
        &mut self,
        op: Op,
        operands: &mut heapless::Vec<OperandRegs, MAX_OPERANDS>,
    ) -> Result<DtypeId, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut from = None;
        for k in 0..self.program.operands(op).count() {
            let value = self.program.operand(op, k).ok_or(refuse)?;
            from = from.or(self.program.type_of(value).dtype);
            let source = self.source(op, value)?;
            operands.push(source).map_err(|_| refuse)?;
        }
        from.ok_or(refuse)
    }

    /// Whether registers meet registers because elements of the operands or of the result have one
    /// each, however narrow they are. What is packed meets what is packed, or 32 bits.
    fn is_unpacked(&self, op: Op, result: &Fragment) -> Result<bool, EmitError> {
        let narrow = |f: &Fragment| f.shape.bits < 32;
        let mut unpacked = result.unpacked;
        // A constant fills its register, whatever reads it.
        for value in self.program.operands(op).filter(|v| self.program.constant(*v).is_none()) {
            let Some((_, operand)) = self.plan.fragment_of(value) else { continue };
            if narrow(operand) && narrow(result) && operand.unpacked != result.unpacked {
                return Err(EmitError::Unplanned(op));
            }
            unpacked |= operand.unpacked;
        }
        Ok(unpacked)
    }

    /// One instruction: `out` from the operands' registers from `at` on.
    fn unit(
        &mut self,
        op: Op,
        unit: ElementwiseAtom<'_>,
        operands: &[OperandRegs],
        out: Reg,
        at: u16,
        (unpacked, last): (bool, u16),
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let does = unit.atom.does.ok_or(refuse)?;
        let mut args: heapless::Vec<(&u8, Slot), MAX_ARGS> = heapless::Vec::new();
        for (number, k) in does.uses.iter().zip(0u16..) {
            let (which, part) =
                (k.checked_div(unit.pack).ok_or(refuse)?, k.checked_rem(unit.pack).ok_or(refuse)?);
            let source = operands.get(usize::from(which)).ok_or(refuse)?;
            let part = if unpacked { 0 } else { part };
            let each = unit.atom.operands.get(usize::from(*number)).map_or(1, |o| o.registers);
            let place = at.wrapping_add(part).wrapping_mul(u16::from(each));
            let reg = self.registers(source, place.min(last), u16::from(each)).ok_or(refuse)?;
            args.push((number, slot(reg))).map_err(|_| refuse)?;
        }
        self.apply(op, unit, out, args.iter().copied())
    }

    fn apply<'n>(
        &mut self,
        op: Op,
        unit: ElementwiseAtom<'_>,
        out: Reg,
        uses: impl Iterator<Item = (&'n u8, Slot)>,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut args = [Slot::None; MAX_ARGS];
        let def = unit.atom.operands.iter().position(|o| o.role == Role::Def).ok_or(refuse)?;
        *args.get_mut(def).ok_or(refuse)? = slot(out);
        // What else it writes is of no use to anybody: registers of its own.
        for (operand, arg) in unit.atom.operands.iter().zip(&mut args).skip(def.saturating_add(1)) {
            if operand.role == Role::Def {
                *arg = slot(self.steps.tuple(operand.class, u16::from(operand.registers))?);
            }
        }
        for (number, arg) in uses {
            *args.get_mut(usize::from(*number)).ok_or(refuse)? = arg;
        }
        let used = args.get(..unit.atom.operands.len()).ok_or(refuse)?;
        Ok(self.steps.append(unit.id, used)?)
    }
}
