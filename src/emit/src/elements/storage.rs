//! How elements of a fragment lie in its registers: one each, two registers an element of 64 bits,
//! and several to a register where a view of the same storage has wider elements.

use crate::elements::{ElementReason, of_form, refused};
use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::InstKind;
use lanebook_infer::BufferId;
use lanebook_ir::Op;
use lanebook_loops::Told;

/// Bits of a register.
const REGISTER_BITS: u32 = 32;
/// Bytes of a register.
const REGISTER_BYTES: u8 = 4;

/// How elements lie in registers.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) struct Packing {
    /// Registers of an element.
    pub words: u8,
    /// Elements of a register.
    pub parts: u8,
    /// Bytes of an element in its register, where there are several.
    pub bytes: u8,
}

impl Packing {
    /// Each element has a register.
    pub const SINGLE: Self = Self { words: 1, parts: 1, bytes: REGISTER_BYTES };

    /// The register that a local index begins in, and its part of it.
    pub fn place(self, local: u16) -> (u16, u8) {
        let parts = u16::from(self.parts.max(1));
        let first = local.checked_div(parts).unwrap_or(0).saturating_mul(u16::from(self.words));
        (first, u8::try_from(local.checked_rem(parts).unwrap_or(0)).unwrap_or(0))
    }

    /// Registers of so many local indices.
    pub fn registers(self, slots: u32) -> u32 {
        slots.div_ceil(u32::from(self.parts.max(1))).saturating_mul(u32::from(self.words))
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// How the elements of a buffer lie in registers.
    pub(crate) fn packing(
        &self,
        op: Op,
        told: &Told<'_>,
        id: BufferId,
    ) -> Result<Packing, EmitError> {
        let own = *told.inference.buffer_of(id).map_err(of_form(op))?;
        let mut unit = own.bits;
        for (other, _) in told.buffers() {
            let other = told.inference.buffer_of(other).map_err(of_form(op))?;
            if other.storage == own.storage {
                unit = unit.max(other.bits);
            }
        }
        let unit = unit.min(REGISTER_BITS);
        let small = |n: Option<u32>| n.and_then(|n| u8::try_from(n).ok()).unwrap_or(1);
        let parts = small(unit.checked_div(own.bits)).max(1);
        let bytes = match parts {
            1 => REGISTER_BYTES,
            _ => small(own.bits.checked_div(u8::BITS)).max(1),
        };
        Ok(Packing { words: small(Some(own.bits.div_ceil(REGISTER_BITS))), parts, bytes })
    }

    /// Whether something sees the registers of a fragment in parts: what writes one of them reads
    /// the others.
    pub(crate) fn is_in_parts(
        &self,
        op: Op,
        told: &Told<'_>,
        id: BufferId,
    ) -> Result<bool, EmitError> {
        for (other, _) in told.buffers() {
            let buffer = told.inference.buffer_of(other).map_err(of_form(op))?;
            if buffer.storage == id && self.packing(op, told, other)?.parts > 1 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Refuses a view whose elements lie otherwise in the registers than those of the storage.
    pub(crate) fn check_view(
        &self,
        op: Op,
        told: &mut Told<'_>,
        id: BufferId,
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::View);
        let own = *told.inference.buffer_of(id).map_err(of_form(op))?;
        let owner = *told.inference.buffer_of(own.storage).map_err(of_form(op))?;
        if owner.bits == own.bits {
            return Ok(());
        }
        let layouts = (told.inference.layout(id), told.inference.layout(own.storage));
        let (Some(own_layout), Some(layout)) = layouts else { return Err(refuse) };
        // Looked at from the wider elements every narrow one must be where it is.
        let (wide, narrow) =
            if own.bits > owner.bits { (own_layout, layout) } else { (layout, own_layout) };
        let bits = (own.bits.max(owner.bits), own.bits.min(owner.bits));
        let arena = &mut told.inference.arena;
        let seen = arena.reshaped(&wide, bits.0, narrow.vars, bits.1).map_err(of_form(op))?;
        let same = bits.1 >= u8::BITS
            && arena.equal(seen.index, narrow.index).map_err(of_form(op))?
            && arena.equal(seen.thread, narrow.thread).map_err(of_form(op))?;
        if same { Ok(()) } else { Err(refuse) }
    }

    /// An element of so many bytes from its part of a register.
    #[inline(never)]
    pub(crate) fn take_part(
        &mut self,
        op: Op,
        (from, part): (Reg, u8),
        bytes: u8,
        to: Reg,
    ) -> Result<(), EmitError> {
        let mut chosen = [0u8; 4];
        for (at, byte) in (0u8..).zip(&mut chosen) {
            let within = at.checked_rem(bytes.max(1)).unwrap_or(0);
            *byte = part.saturating_mul(bytes).saturating_add(within);
        }
        self.choose_parts(op, to, [from, from], chosen)
    }

    /// Puts an element of so many bytes into its part of a register.
    #[inline(never)]
    pub(crate) fn put_part(
        &mut self,
        op: Op,
        from: Reg,
        (to, part): (Reg, u8),
        bytes: u8,
        guard: Option<Reg>,
    ) -> Result<(), EmitError> {
        let first = part.saturating_mul(bytes);
        let mut chosen = [0u8; 4];
        for (at, byte) in (0u8..).zip(&mut chosen) {
            let within = at.checked_sub(first).filter(|within| *within < bytes);
            *byte = within.map_or(at, |within| within.saturating_add(REGISTER_BYTES));
        }
        let both = self.steps.tuple(to.class, 1)?;
        self.choose_parts(op, both, [to, from], chosen)?;
        self.copy_guarded(op, guard, both, to)
    }

    /// `out` is these bytes of two registers, which may be of other classes.
    pub(crate) fn choose_parts(
        &mut self,
        op: Op,
        out: Reg,
        mut pair: [Reg; 2],
        bytes: [u8; 4],
    ) -> Result<(), EmitError> {
        let refuse = refused(op, ElementReason::View);
        let selector = self.everywhere(bytes).ok_or(refuse)?;
        self.prepare_selector(op, selector)?;
        for reg in &mut pair {
            if reg.class != out.class {
                let copy = self.steps.tuple(out.class, 1)?;
                self.copy_tile(op, *reg, copy)?;
                *reg = copy;
            }
        }
        self.steps.purpose = InstKind::Arithmetic;
        self.choose(op, out, pair, selector)
    }
}
