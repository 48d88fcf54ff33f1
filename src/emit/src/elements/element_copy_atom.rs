//! The instruction that moves neighbouring elements of a thread, and what keeps it to some threads.

use crate::elements::address::AccessState;
use crate::elements::{ElementReason, refused};
use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::step::{InstKind, MAX_ARGS, Slot as Arg, slot};
use lanebook_ir::{Op, Value};
use lanebook_tables::{
    AccessId, Atom, AtomId, Capability, ClassId, Movement, OffsetField, Role, Side, Space,
};
use lanebook_tile::copy_atom::{BitPlace, CopyAtom};

/// The instruction that moves neighbouring elements of a thread.
pub(crate) struct ElementCopyAtom<'t> {
    pub id: AtomId,
    pub atom: &'t Atom<'t>,
    pub movement: &'t Movement<'t>,
}

impl<'t> ElementCopyAtom<'t> {
    /// The class of the registers that it fills or empties.
    pub fn class(&self) -> Option<ClassId> {
        let (_, data, _) = self.memory();
        self.atom.operands.get(usize::from(data.operand)).map(|operand| operand.class)
    }

    pub fn memory(&self) -> (&'t Side<'t>, &'t Side<'t>, Option<OffsetField>) {
        let m = self.movement;
        let loads = m.to.space == Space::Register;
        let (memory, data) = if loads { (&m.from, &m.to) } else { (&m.to, &m.from) };
        let field =
            |o: &OffsetField| (o.on_from != o.on_to) && (if loads { o.on_from } else { o.on_to });
        (memory, data, m.offsets.iter().copied().find(field))
    }
}

/// Whether each lane moves so many bytes at its own address, in order, from its first register on.
fn is_plain(copy: &CopyAtom, bytes: u32) -> bool {
    let own = |bit: &lanebook_tile::copy_atom::CopyAtomBit| match copy.sides(*bit) {
        (BitPlace::Lane(a), BitPlace::Slot(b)) => a == b,
        (BitPlace::RegisterBit(a), BitPlace::Byte(b)) => Some(a) == b.checked_add(3),
        _ => false,
    };
    !copy.uniform
        && copy.share_bytes == bytes
        && copy.register_base == 0
        && copy.bits.as_slice().iter().all(own)
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// The instruction that moves so many bytes a lane between registers and memory.
    pub(crate) fn mover(
        &self,
        space: Space,
        loads: bool,
        bytes: u32,
    ) -> Option<ElementCopyAtom<'t>> {
        let tables = self.machine.tables;
        let (from, to) = if loads { (space, Space::Register) } else { (Space::Register, space) };
        let able = self.machine.arch.dispatch(Capability::Transfer { from, to });
        able.iter().find_map(|id| {
            let atom = tables.atom(*id)?;
            let movement = atom.movement.as_ref()?;
            let copy = CopyAtom::of(*id, atom)?;
            let data = if loads { &movement.to } else { &movement.from };
            let operand = atom.operands.get(usize::from(data.operand))?;
            let whole = matches!(operand.role, Role::Def | Role::Use);
            let memory = if loads { &movement.from } else { &movement.to };
            let fits = is_plain(&copy, bytes)
                && self.is_addressed(atom, memory)
                && whole
                && !movement.crosses_lanes
                && movement.size.is_none()
                && u32::from(operand.registers) == bytes.div_ceil(4);
            fits.then_some(ElementCopyAtom { id: *id, atom, movement })
        })
    }

    /// An instruction that brings rows of a tile from shared memory to all lanes, and the class of its
    /// registers; `None` where its addresses are not what is computed here.
    pub(crate) fn mover_by(&self, id: AtomId) -> Option<(ElementCopyAtom<'t>, ClassId)> {
        let atom = self.machine.tables.atom(id)?;
        let mover = ElementCopyAtom { id, atom, movement: atom.movement.as_ref()? };
        let (memory, ..) = mover.memory();
        let class = mover.class()?;
        self.is_addressed(atom, memory).then_some((mover, class))
    }

    /// Whether an instruction's address is what is computed here: 32 bits in shared memory, 64 in
    /// global memory, or a base of 64 bits that is the same in all lanes and 32 bits.
    fn is_addressed(&self, atom: &Atom<'_>, side: &Side<'_>) -> bool {
        let bits = |number: u8| {
            let operand = atom.operands.get(usize::from(number))?;
            let class = self.machine.isa.classes.get(operand.class.index())?;
            Some(u32::from(class.bits).saturating_mul(u32::from(operand.registers)))
        };
        let (lane, base) = (bits(side.operand), side.base.map(bits));
        match (side.space, base) {
            (Space::Shared, None) | (Space::Global, Some(Some(64))) => lane == Some(32),
            (Space::Global, None) => lane == Some(64),
            _ => false,
        }
    }

    /// The kind of access that elements of a buffer have.
    pub(crate) fn access_kind(
        &self,
        op: Op,
        value: Value,
        space: Space,
        writes: bool,
    ) -> Option<AccessId> {
        let bytes = self.element_bytes(op, value).ok()?;
        let mover = self.mover(space, !writes, bytes)?;
        Some(mover.memory().0.access)
    }

    /// The kind of access that so many bytes of a lane are.
    pub(crate) fn access_of(&self, space: Space, bytes: u32, writes: bool) -> Option<AccessId> {
        Some(self.mover(space, !writes, bytes)?.memory().0.access)
    }

    /// One register to or from an address in shared memory.
    #[inline(never)]
    pub(crate) fn part_move(
        &mut self,
        op: Op,
        part: Reg,
        at: ExprId,
        guard: Option<Reg>,
        loads: bool,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::Element);
        let bytes = u32::from(part.count).saturating_mul(4);
        let mover = self.mover(Space::Shared, loads, bytes).ok_or(refuse)?;
        let (side, data, _) = mover.memory();
        let (place, value) = (usize::from(side.operand), usize::from(data.operand));
        let operand = mover.atom.operands.get(value).ok_or(refuse)?;
        self.steps.purpose = InstKind::FirstAddress;
        let address = self.compute(at, RegBank::Vector)?;
        let own = match loads {
            false => self.suited(op, part, operand)?,
            true if operand.class == part.class => part,
            true => self.steps.tuple(operand.class, part.count)?,
        };
        if loads && guard.is_some() {
            self.fill(own, 0)?;
        }
        let mut args = [Arg::None; MAX_ARGS];
        for (k, operand) in mover.atom.operands.iter().enumerate() {
            if let Some(arg) = args.get_mut(k).filter(|_| operand.role == Role::Immediate) {
                *arg = Arg::Int(0);
            }
        }
        *args.get_mut(value).ok_or(refuse)? = slot(own);
        *args.get_mut(place).ok_or(refuse)? = slot(address);
        self.steps.purpose = InstKind::Move;
        let used = args.get(..mover.atom.operands.len()).ok_or(refuse)?;
        self.steps.guard = guard;
        let appended = self.steps.append(mover.id, used);
        self.steps.guard = None;
        appended?;
        if own == part { Ok(()) } else { self.copy_tile(op, own, part) }
    }

    /// Bytes of an element of a buffer.
    pub(crate) fn element_bytes(&self, op: Op, value: Value) -> Result<u32, EmitError> {
        let dtype = self.program.type_of(value).dtype.and_then(|d| self.machine.tables.dtype(d));
        let bits = dtype.map_or(0, |d| u32::from(d.bits));
        match bits {
            8 | 16 | 32 | 64 => Ok(bits >> 3),
            _ => Err(refused(op, ElementReason::Element)),
        }
    }

    /// A register that keeps an instruction to the threads in which a word is below zero.
    #[inline(never)]
    pub(crate) fn guard_of(
        &mut self,
        op: Op,
        word: Option<ExprId>,
    ) -> Result<Option<Reg>, EmitError> {
        let Some(word) = word else { return Ok(None) };
        let refuse = EmitError::Unplanned(op);
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Control);
        let word = self.compute(word, RegBank::Vector)?;
        let rules = self.machine.isa.guard.ok_or(refuse)?;
        let guard = match rules.test {
            Some(test) => {
                let guard = self.predicate(test)?.ok_or(refuse)?;
                self.frame_step(test, Some(guard), &[slot(word), Arg::Int(0)])?;
                guard
            }
            None => word,
        };
        self.steps.purpose = purpose;
        Ok(Some(guard))
    }

    pub(crate) fn known_guard(
        &mut self,
        op: Op,
        state: &mut AccessState<'_>,
        word: Option<ExprId>,
    ) -> Result<Option<Reg>, EmitError> {
        let Some(node) = word else { return Ok(None) };
        if let Some((_, reg)) = state.guards.iter().find(|g| g.0 == node) {
            return Ok(Some(*reg));
        }
        let reg = self.guard_of(op, word)?;
        if let Some(reg) = reg {
            // A full list only costs a second computation.
            let _ = state.guards.push((node, reg));
        }
        Ok(reg)
    }
}
