//! Tiles in registers: filling, copying, and whose registers they are.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::memory::movement::register_class;
use crate::step::{InstError, InstKind, Missing, Slot, int};
use lanebook_ir::{Op, Value};
use lanebook_plan::End;
use lanebook_tables::{ClassId, DtypeKind, Operand, RegisterKind};
use lanebook_tile::map::Fragment;

/// Bits of the registers that tiles are counted in.
const TILE_BITS: u16 = 32;

fn single(reg: Reg, k: u16) -> Slot {
    Slot::Reg { class: reg.class.0 as u8, count: 1, first: reg.first.wrapping_add(k) }
}

impl LowerContext<'_, '_, '_, '_> {
    /// A fresh register of a class that holds a number.
    pub(crate) fn filled(&mut self, class: ClassId, value: i64) -> Result<Reg, EmitError> {
        let reg = self.steps.tuple(class, 1)?;
        self.fill(reg, value)?;
        Ok(reg)
    }

    pub(crate) fn fill(&mut self, reg: Reg, value: i64) -> Result<(), EmitError> {
        let missing = InstError::NoAtom(Missing::Fill(reg.class));
        let Some((atom, by_number)) = self.machine.fill(reg.class, value) else {
            return self.fill_through(reg, value);
        };
        for k in 0..reg.count {
            if by_number {
                self.steps.append(atom, &[single(reg, k), int(value).ok_or(missing)?])?;
            } else {
                self.steps.append(atom, &[single(reg, k)])?;
            }
        }
        Ok(())
    }

    /// Where no instruction writes a number into a class: from a register of lanes.
    fn fill_through(&mut self, reg: Reg, value: i64) -> Result<(), EmitError> {
        let missing = InstError::NoAtom(Missing::Fill(reg.class));
        let class = self
            .machine
            .class(RegisterKind::Vector, 32)
            .filter(|class| *class != reg.class)
            .ok_or(missing)?;
        let (atom, by_number) = self.machine.fill(class, value).ok_or(missing)?;
        let copy = self.machine.copy_into(reg.class, 1, class).ok_or(missing)?;
        let between = self.steps.tuple(class, 1)?;
        let number = if by_number { int(value).ok_or(missing)? } else { Slot::None };
        self.steps.append(atom, &[single(between, 0), number])?;
        for k in 0..reg.count {
            self.steps.append(copy, &[single(reg, k), single(between, 0)])?;
        }
        Ok(())
    }

    pub(crate) fn copy_tile(&mut self, op: Op, from: Reg, to: Reg) -> Result<(), EmitError> {
        if from.count != to.count {
            return Err(EmitError::Carried(op));
        }
        let missing = InstError::NoAtom(Missing::Move(to.class));
        self.steps.purpose = InstKind::Fill;
        if let Some(atom) = self.machine.copy_into(to.class, 1, from.class) {
            for k in 0..to.count {
                self.steps.append(atom, &[single(to, k), single(from, k)])?;
            }
            return Ok(());
        }
        // Through a register of lanes, where no instruction goes from class to class.
        let class = self
            .machine
            .class(RegisterKind::Vector, 32)
            .filter(|class| *class != to.class && *class != from.class)
            .ok_or(missing)?;
        let out = self.machine.copy_into(class, 1, from.class).ok_or(missing)?;
        let into = self.machine.copy_into(to.class, 1, class).ok_or(missing)?;
        for k in 0..to.count {
            let between = single(self.steps.tuple(class, 1)?, 0);
            self.steps.append(out, &[between, single(from, k)])?;
            self.steps.append(into, &[single(to, k), between])?;
        }
        Ok(())
    }

    /// Registers with what `reg` holds that an operand takes: the same ones, or copies in a class
    /// of the operand's.
    pub(crate) fn suited(
        &mut self,
        op: Op,
        reg: Reg,
        operand: &Operand<'_>,
    ) -> Result<Reg, EmitError> {
        if operand.accepts(reg.class) {
            return Ok(reg);
        }
        let purpose = self.steps.purpose;
        let copy = self.steps.tuple(operand.class, reg.count)?;
        self.copy_tile(op, reg, copy)?;
        self.steps.purpose = purpose;
        Ok(copy)
    }

    /// The same for an operand whose class may have registers that hold two of the tile's.
    pub(crate) fn taken(
        &mut self,
        op: Op,
        reg: Reg,
        operand: &Operand<'_>,
    ) -> Result<Reg, EmitError> {
        if !self.machine.is_twice(operand.class, reg.class) || operand.also.contains(&reg.class) {
            return self.suited(op, reg, operand);
        }
        let (atom, [low, high]) = self
            .machine
            .joins(operand.class, reg.class)
            .ok_or(InstError::NoAtom(Missing::Move(operand.class)))?;
        let wide = self.steps.tuple(operand.class, reg.count / 2)?;
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Fill);
        for k in 0..wide.count {
            let mut args = [single(wide, k); 3];
            for (number, part) in [(low, 0), (high, 1)] {
                *args.get_mut(usize::from(number)).ok_or(EmitError::Unplanned(op))? =
                    single(reg, k.wrapping_mul(2).wrapping_add(part));
            }
            self.steps.append(atom, &args)?;
        }
        self.steps.purpose = purpose;
        Ok(wide)
    }

    /// Takes wide registers apart into those of a tile.
    pub(crate) fn take_apart(&mut self, wide: Reg, to: Reg) -> Result<(), EmitError> {
        let atom = self
            .machine
            .parts(to.class, wide.class)
            .ok_or(InstError::NoAtom(Missing::Move(to.class)))?;
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Fill);
        for k in 0..wide.count {
            let low = k.wrapping_mul(2);
            self.steps.append(
                atom,
                &[single(to, low), single(to, low.wrapping_add(1)), single(wide, k)],
            )?;
        }
        self.steps.purpose = purpose;
        Ok(())
    }

    /// Registers for the tile that a loop carries, holding its start.
    pub(crate) fn start_carried(
        &mut self,
        op: Op,
        init: Value,
        argument: Value,
    ) -> Result<(), EmitError> {
        if self.plan.in_tensor(self.program, argument).is_some() {
            return Ok(());
        }
        let Some((_, fragment)) = self.plan.fragment_of(argument) else { return Ok(()) };
        let class = self.tile_class(argument)?;
        let reg = self.tile(class, fragment)?;
        self.hold(argument, reg)?;
        if self.program.constant(init).is_some() {
            return self.fill_constant(op, reg, init);
        }
        self.steps.purpose = InstKind::Fill;
        let from = self.tile_of(op, init)?;
        self.copy_tile(op, from, reg)
    }

    pub(crate) fn tile(&mut self, class: ClassId, fragment: &Fragment) -> Result<Reg, EmitError> {
        // No lane has more than that, also where the assembler allocates.
        let count = fragment.registers();
        if count > self.machine.isa.tile_most() {
            let op = Op::at(usize::from(self.steps.origin));
            return Err(InstError::Pool { class, wanted: count, op }.into());
        }
        Ok(self.steps.tuple(class, count)?)
    }

    /// The register class of a tile: what its matrix instruction, its load or its store says.
    pub(crate) fn tile_class(&self, value: Value) -> Result<ClassId, EmitError> {
        let tables = self.machine.tables;
        let operand_class = |atom: lanebook_tables::AtomId, k: u8| {
            tables.atom(atom).and_then(|a| a.operands.get(usize::from(k))).map(|o| o.class)
        };
        let classes = self.machine.isa.classes;
        let holds_tiles =
            |class: ClassId| classes.get(class.index()).is_some_and(|c| c.bits <= TILE_BITS);
        for p in self.plan.products.iter() {
            let s = p.product.shape;
            let (a, b) = if p.product.transposed { (s.b, s.a) } else { (s.a, s.b) };
            for (&end, number) in p.ends.iter().zip([a, b, s.c, s.d]) {
                if let End::Registers(index) = end
                    && self.plan.fragments.get(usize::from(index)).is_some_and(|f| f.value == value)
                    && let Some(class) = operand_class(p.product.atom, number)
                    && holds_tiles(class)
                {
                    return Ok(class);
                }
            }
        }
        for m in self.plan.transfers.iter() {
            for end in [m.from, m.to] {
                if let End::Registers(k) = end
                    && self.plan.fragments.get(usize::from(k)).is_some_and(|f| f.value == value)
                    && let Some(class) = register_class(tables.atom(m.atom))
                    && holds_tiles(class)
                {
                    return Ok(class);
                }
            }
        }
        Ok(self.machine.class(RegisterKind::Vector, 32).ok_or(InstError::NoAtom(Missing::Class))?)
    }

    /// An operation that changes nothing in the registers.
    #[inline(never)]
    pub(crate) fn rename(&mut self, op: Op) -> Result<(), EmitError> {
        let (from, to) = (self.program.operand(op, 0), self.program.result(op, 0));
        let (Some(from), Some(to)) = (from, to) else { return Err(EmitError::Unplanned(op)) };
        if self.plan.fragment_of(from).is_none() && self.program.type_of(from).is_tile()
            || self.is_sliced(op)
        {
            // A matrix unit reads the tile where it lies, or its product loads it.
            return Ok(());
        }
        let reg = self.tile_of(op, from)?;
        self.hold(to, reg)
    }

    /// The same registers as a tile of another type; a constant's are filled for the result, which
    /// has its distribution.
    #[inline(never)]
    pub(crate) fn bits_of(&mut self, op: Op) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let from = self.program.operand(op, 0).ok_or(refuse)?;
        let to = self.program.result(op, 0).ok_or(refuse)?;
        if self.program.constant(from).is_none() {
            let reg = self.tile_of(op, from)?;
            return self.hold(to, reg);
        }
        let (_, fragment) = self.plan.fragment_of(to).ok_or(refuse)?;
        let class = self.tile_class(to)?;
        let reg = self.tile(class, fragment)?;
        self.fill_constant(op, reg, from)?;
        self.hold(to, reg)
    }

    /// Registers of a tile that is read; a constant gets its own.
    pub(crate) fn tile_of(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        if let Some(reg) = self.held_by(value) {
            return Ok(reg);
        }
        if self.program.constant(value).is_none() {
            return self.repeat(op, value);
        }
        let reg = self.filled_tile(op, value)?;
        self.hold(value, reg)?;
        Ok(reg)
    }

    /// Registers of a tile that an accumulation begins with; a constant gets some of its own each
    /// time, since the sum takes them.
    pub(crate) fn start_of(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        if self.program.constant(value).is_some() {
            self.filled_tile(op, value)
        } else {
            self.tile_of(op, value)
        }
    }

    /// A constant tile in fresh registers.
    fn filled_tile(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        let (_, fragment) = self.plan.fragment_of(value).ok_or(EmitError::Unplanned(op))?;
        let class = self.tile_class(value)?;
        let reg = self.tile(class, fragment)?;
        self.fill_constant(op, reg, value)?;
        Ok(reg)
    }

    /// What two neighbouring registers full of a constant tile hold: of elements of 64 bits a half
    /// each, of others the same.
    pub(crate) fn constant_words(&self, value: Value) -> Option<[u32; 2]> {
        let program = self.program;
        let (literal, times) = program.constant_sum(value)?;
        let dtype = program.type_of(value).dtype.and_then(|d| self.machine.tables.dtype(d))?;
        let one = program.literal_bits(literal, dtype)?;
        let bits = match (dtype.kind, dtype.bits) {
            _ if times == 1 || one == 0 => one,
            // A reduction's sum, whose elements have 32 bits.
            (DtypeKind::Float, 32) => {
                let single = f32::from_bits(u32::try_from(one).ok()?);
                u64::from(((f64::from(single) * times as f64) as f32).to_bits())
            }
            (DtypeKind::Signed | DtypeKind::Unsigned, _) => one.wrapping_mul(times),
            _ => return None,
        };
        if dtype.bits == 64 {
            return Some([bits as u32, (bits >> 32) as u32]);
        }
        let mask = u32::MAX.checked_shr(32u32.checked_sub(u32::from(dtype.bits))?)?;
        // Once for each element that lies in a register.
        let word = (bits as u32 & mask).wrapping_mul(u32::MAX.checked_div(mask)?);
        Some([word; 2])
    }

    /// Fills a tile's registers with a constant.
    pub(crate) fn fill_constant(
        &mut self,
        op: Op,
        reg: Reg,
        value: Value,
    ) -> Result<(), EmitError> {
        let [low, high] = self.constant_words(value).ok_or(EmitError::Constant(op))?;
        self.steps.purpose = InstKind::Fill;
        if low == high {
            return self.fill(reg, i64::from(low));
        }
        for k in 0..reg.count {
            let one = reg.member(k);
            self.fill(one, i64::from(if k & 1 == 0 { low } else { high }))?;
        }
        Ok(())
    }
}
