//! Sources: in which register an operation finds an element of its operand.
//!
//! A repeated tile is no movement: its reader finds each element in the register of the tile that
//! it repeats. A constant is one register, or two where its elements have 64 bits.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext, ValueRegs};
use crate::step::{InstKind, Slot, slot};
use lanebook_ir::{Op, Value};
use lanebook_tables::{OpRole, RegisterKind};
use lanebook_tile::shaping::{Shaping, repeated};

/// Bits of the registers that tiles are counted in.
const WORD: u16 = 32;

/// Deepest chain of repetitions.
const DEPTH: usize = 3;

/// Where an operand's elements are, register by register.
#[derive(Clone, Debug)]
pub(crate) struct OperandRegs {
    reg: Reg,
    /// It is one register for all, or a pair of them for elements of 64 bits.
    one: bool,
    /// From the tile that is read to the one that is held: the larger tile's place among the plan's
    /// fragments.
    way: heapless::Vec<(Shaping, u16), DEPTH>,
}

impl OperandRegs {
    /// The same elements in other registers.
    pub(crate) fn in_registers(&self, reg: Reg) -> Self {
        Self { reg, ..self.clone() }
    }

    /// The registers that hold them.
    pub(crate) fn registers(&self) -> Reg {
        self.reg
    }

    /// The tile itself, if no register of it stands for several.
    pub(crate) fn whole(&self) -> Option<Reg> {
        (!self.one && self.way.is_empty()).then_some(self.reg)
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// Where a value's elements are. A constant that has no register yet gets one.
    pub(crate) fn source(&mut self, op: Op, value: Value) -> Result<OperandRegs, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut way = heapless::Vec::new();
        let mut at = value;
        loop {
            if let Some(reg) = self.splat_of(at) {
                return Ok(OperandRegs { reg, one: true, way: heapless::Vec::new() });
            }
            if self.program.constant(at).is_some() {
                let reg = self.splat(op, at)?;
                return Ok(OperandRegs { reg, one: true, way: heapless::Vec::new() });
            }
            if let Some(reg) = self.held_by(at) {
                return Ok(OperandRegs { reg, one: false, way });
            }
            let def = self
                .program
                .def_op(at)
                .filter(|d| self.program.role(*d) == OpRole::Broadcast)
                .ok_or(refuse)?;
            let how = repeated(self.program, def).ok_or(refuse)?;
            let (large, _) = self.plan.fragment_of(at).ok_or(refuse)?;
            way.push((how, large)).map_err(|_| refuse)?;
            at = self.program.operand(def, 0).ok_or(refuse)?;
        }
    }

    /// The register that holds what register `place` of the operand's tile would.
    pub(crate) fn register(&self, source: &OperandRegs, place: u16) -> Option<Reg> {
        self.registers(source, place, 1)
    }

    /// The registers that hold what the `count` registers from `place` on of the operand's tile
    /// would: those of an element.
    pub(crate) fn registers(&self, source: &OperandRegs, place: u16, count: u16) -> Option<Reg> {
        let mut at = u32::from(place);
        for (how, large) in &source.way {
            let fragment = &self.plan.fragments.get(usize::from(*large))?.fragment;
            let words = u32::from(fragment.shape.bits / WORD).max(1);
            let element = how.place(fragment, at.checked_div(words)?);
            at = element.wrapping_mul(words).wrapping_add(at.checked_rem(words)?);
        }
        let own = source.reg.count;
        let at = if source.one { place.checked_rem(own)? } else { u16::try_from(at).ok()? };
        (at.saturating_add(count) <= own).then(|| source.reg.members(at, count))
    }

    fn splat_of(&self, value: Value) -> Option<Reg> {
        self.splats.iter().find(|s| s.value == value).map(|s| s.reg)
    }

    /// A register full of a constant; of elements of 64 bits a pair.
    fn splat(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        let refuse = EmitError::Constant(op);
        let [low, high] = self.constant_words(value).ok_or(refuse)?;
        let dtype = self.program.type_of(value).dtype;
        let bits = dtype.and_then(|id| self.machine.tables.dtype(id)).map_or(0, |d| d.bits);
        let class = self.machine.class(RegisterKind::Vector, WORD).ok_or(refuse)?;
        let reg = self.steps.tuple(class, if bits > WORD { 2 } else { 1 })?;
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Fill);
        for (k, word) in (0..reg.count).zip([low, high]) {
            self.fill(reg.member(k), i64::from(word))?;
        }
        self.steps.purpose = purpose;
        Ok(reg)
    }

    /// A constant that elementwise operations read: one register, filled where the constant stands.
    #[inline(never)]
    pub(crate) fn constant(&mut self, op: Op) -> Result<(), EmitError> {
        let Some(value) = self.program.result(op, 0).filter(|v| self.program.type_of(*v).is_tile())
        else {
            return Ok(());
        };
        let mut users = self.program.uses(value).filter_map(|place| self.program.user(place));
        if !users.any(|user| self.program.role(user).is_lanewise()) {
            return Ok(());
        }
        let reg = self.splat(op, value)?;
        // Where there is no room to remember it, each reader fills its own.
        let _ = self.splats.push(ValueRegs { value, reg });
        Ok(())
    }

    /// A tile of its own for a repeated one: for readers that want whole tiles.
    pub(crate) fn repeat(&mut self, op: Op, value: Value) -> Result<Reg, EmitError> {
        let source = self.source(op, value)?;
        let (_, fragment) = self.plan.fragment_of(value).ok_or(EmitError::Unplanned(op))?;
        let reg = self.tile(source.reg.class, fragment)?;
        let missing = crate::step::InstError::NoAtom(crate::step::Missing::Move(reg.class));
        let atom = self.machine.copy_into(reg.class, 1, reg.class).ok_or(missing)?;
        self.steps.purpose = InstKind::Fill;
        for k in 0..reg.count {
            let from = self.register(&source, k).ok_or(EmitError::Unplanned(op))?;
            let to =
                Slot::Reg { class: reg.class.0 as u8, count: 1, first: reg.first.wrapping_add(k) };
            self.steps.append(atom, &[to, slot(from)])?;
        }
        Ok(reg)
    }
}
