//! Where products in place add up: in the registers of their fragment, where the unit takes each
//! block from them as it lies, else in registers of their own, to and from which elements are
//! copied.

use crate::elements::nest::{Chunk, fresh};
use crate::elements::product::{HALVES, InPlaceProduct, InPlaceSide};
use crate::elements::{ElementReason, of_form, refused};
use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use lanebook_loops::Told;

/// Bytes of an element of which two lie in a register.
const HALF_BYTES: u8 = 2;

/// Registers of blocks of a sum.
pub(super) struct BlockRegisters {
    /// Those of the first one.
    first: Reg,
    /// From one block to the next of the same columns, and of the same rows.
    steps: [u16; 2],
    /// They are those of the fragment.
    in_place: bool,
}

impl BlockRegisters {
    pub(super) fn of(&self, row: u32, column: u32) -> Reg {
        let along = |step: u16, block: u32| u16::try_from(block).unwrap_or(0).wrapping_mul(step);
        let [down, right] = self.steps;
        let at = along(down, row).wrapping_add(along(right, column));
        Reg { first: self.first.first.wrapping_add(at), ..self.first }
    }

    /// Whether the blocks of a row of so many follow each other.
    pub(super) fn follow_along_rows(&self, columns: u32) -> bool {
        columns <= 1 || self.steps[1] == self.first.count
    }
}

impl<'t> LowerContext<'_, 't, '_, '_> {
    /// Registers of so many rows and columns of blocks of a sum.
    pub(super) fn sum_registers(
        &mut self,
        product: &InPlaceProduct<'t>,
        [rows, columns]: [u32; 2],
    ) -> Result<BlockRegisters, EmitError> {
        let refuse = refused(product.op, ElementReason::Product);
        let instance = product.unit.instance();
        let each = instance.registers(product.shape.d).ok_or(refuse)?;
        let operand = instance.atom.operands.get(usize::from(product.shape.d)).ok_or(refuse)?;
        let line = columns.checked_mul(u32::from(each));
        let all = line.and_then(|line| rows.checked_mul(line)).and_then(|n| u16::try_from(n).ok());
        let too_many = refused(product.op, ElementReason::Fragment);
        let all = self.steps.tuple(operand.class, all.ok_or(too_many)?)?;
        let down = line.and_then(|line| u16::try_from(line).ok()).ok_or(too_many)?;
        let steps = [down, u16::from(each)];
        Ok(BlockRegisters { first: Reg { count: u16::from(each), ..all }, steps, in_place: false })
    }

    /// The sum from its fragment, or back there; nothing where it stays there.
    pub(super) fn move_sums(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, [rows, columns]): (&InPlaceSide, [u32; 2]),
        (chunk, sums): (&mut Chunk<'_>, &BlockRegisters),
        reads: bool,
    ) -> Result<(), EmitError> {
        for row in 0..if sums.in_place { 0 } else { rows } {
            for column in 0..columns {
                let sum = sums.of(row, column);
                self.sum_block(told, product, (side, [row, column]), (chunk, sum), reads)?;
            }
        }
        Ok(())
    }

    /// The registers of the fragment, where the unit takes each block of the sum from them as they
    /// lie.
    #[inline(never)] // What is looked at for it leaves the stack.
    pub(super) fn sums_in_place(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, [rows, columns]): (&InPlaceSide, [u32; 2]),
        chunk: &mut Chunk<'_>,
    ) -> Result<Option<BlockRegisters>, EmitError> {
        let refuse = refused(product.op, ElementReason::Product);
        let regs = self.fragment_regs(product.op, told, side.buffer)?;
        let operands = &product.unit.instance().atom.operands;
        let takes = |number: u8| {
            operands.get(usize::from(number)).is_some_and(|own| own.accepts(regs.class))
        };
        if !takes(product.shape.c) || !takes(product.shape.d) {
            return Ok(None);
        }
        let mut sums: Option<BlockRegisters> = None;
        for row in 0..rows {
            for column in 0..columns {
                let at = [row, column];
                let Some(own) = self.block_in_place(told, product, (side, at), (chunk, regs))?
                else {
                    return Ok(None);
                };
                let known = sums.get_or_insert(BlockRegisters {
                    first: own,
                    steps: [0; 2],
                    in_place: true,
                });
                let from = own.first.wrapping_sub(known.first.first);
                match at {
                    [1, 0] => known.steps = [from, known.steps[1]],
                    [0, 1] => known.steps = [known.steps[0], from],
                    _ => {}
                }
                if known.of(row, column) != own {
                    return Ok(None);
                }
            }
        }
        sums.map(Some).ok_or(refuse)
    }

    /// The register of the fragment that holds an element of a lane in a block of the sum.
    fn held_in_block(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, at): (&InPlaceSide, [u32; 2]),
        (chunk, flat): (&mut Chunk<'_>, u16),
    ) -> Result<Reg, EmitError> {
        let refuse = refused(product.op, ElementReason::Product);
        let mark = told.inference.arena.mark();
        let coordinates = self.lane_place(told, product, (side, at), flat)?;
        chunk.slots.clear();
        fresh(chunk.slots).ok_or(refuse)?;
        let work = chunk.slots.last_mut().ok_or(refuse)?;
        let held = self.held_element(told, product, side.buffer, (coordinates, work));
        told.inference.arena.release(mark);
        held
    }

    /// The registers of the fragment that hold a block of the sum, where they are neighbours in the
    /// unit's order.
    #[inline(never)]
    fn block_in_place(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, at): (&InPlaceSide, [u32; 2]),
        (chunk, regs): (&mut Chunk<'_>, Reg),
    ) -> Result<Option<Reg>, EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let each = product.unit.instance().registers(product.shape.d).ok_or(refuse)?;
        let held_by = |count: usize| usize::from(each).checked_div(count);
        let words = held_by(side.tile.elements.len()).and_then(|n| u16::try_from(n).ok());
        // Several elements to a register are packed there.
        let Some(words) = words.filter(|words| *words > 0) else { return Ok(None) };
        let mut own: Option<Reg> = None;
        for (k, (bit, flat)) in (0u16..).zip(&side.tile.elements) {
            let place = k.wrapping_mul(words);
            let held = self.held_in_block(told, product, (side, at), (chunk, *flat))?;
            let first = *own.get_or_insert(Reg { count: u16::from(each), ..held });
            let follows = held.first == first.first.wrapping_add(place);
            if held.count != words
                || !follows
                || u32::from(*bit) != u32::from(place).wrapping_mul(32)
            {
                return Ok(None);
            }
        }
        let first = own.ok_or(refuse)?;
        let from = usize::from(first.first.wrapping_sub(regs.first));
        let whole = usize::from(each);
        if self.even(regs, from, whole) != whole {
            return Ok(None);
        }
        self.note_reader(op, told, side.buffer, first)?;
        Ok(Some(first))
    }

    /// A block of the sum: from its fragment, or back there.
    fn sum_block(
        &mut self,
        told: &mut Told<'_>,
        product: &InPlaceProduct<'t>,
        (side, at): (&InPlaceSide, [u32; 2]),
        (chunk, sum): (&mut Chunk<'_>, Reg),
        reads: bool,
    ) -> Result<(), EmitError> {
        let op = product.op;
        let refuse = refused(op, ElementReason::Product);
        let bits = told.inference.buffer_of(side.buffer).map_err(of_form(op))?.bits;
        let vector = self.machine.class(lanebook_tables::RegisterKind::Vector, 32).ok_or(refuse)?;
        // An element of two registers, or of one that is as wide.
        let is_wide = self.machine.is_twice(sum.class, vector);
        let words = if bits == 64 && !is_wide { 2u8 } else { 1 };
        let own = usize::from(sum.count.checked_div(u16::from(words)).unwrap_or(0));
        let parts = match (bits, side.tile.elements.len().checked_div(own)) {
            (16 | 32 | 64, Some(1)) => 1u8,
            (16, Some(2)) => 2,
            _ => return Err(refuse),
        };
        let apart = bits.max(32).checked_div(u32::from(parts)).unwrap_or(32);
        let operand = product.unit.instance().atom.operands.get(usize::from(product.shape.d));
        let operand = operand.ok_or(refuse)?;
        let mut before: Option<Reg> = None;
        for (k, (bit, flat)) in (0u16..).zip(&side.tile.elements) {
            if u32::from(*bit) != u32::from(k).saturating_mul(apart) {
                return Err(refuse);
            }
            let held = self.held_in_block(told, product, (side, at), (chunk, *flat))?;
            if reads {
                self.note_reader(op, told, side.buffer, held)?;
            }
            let part = k.checked_rem(u16::from(parts)).unwrap_or(0);
            let place = k.checked_div(u16::from(parts)).unwrap_or(k);
            let own = sum.member(place.saturating_mul(u16::from(words)));
            let own = Reg { count: u16::from(words), ..own };
            match (reads, parts, before) {
                (true, ..) if bits == 64 && is_wide => {
                    let wide = self.taken(op, held, operand)?;
                    self.copy_tile(op, wide, own)?;
                }
                (false, ..) if bits == 64 && is_wide => self.take_apart(own, held)?,
                (true, 1, _) => self.copy_tile(op, held, own)?,
                (false, 1, _) => self.copy_tile(op, own, held)?,
                // Of two to a register the first waits for the second.
                (true, _, Some(first)) if part == 1 => {
                    self.choose_parts(op, own, [first, held], HALVES)?;
                }
                (true, ..) => before = Some(held),
                (false, ..) => {
                    let alone = self.steps.tuple(own.class, 1)?;
                    let part = u8::try_from(part).unwrap_or(0);
                    self.take_part(op, (own, part), HALF_BYTES, alone)?;
                    self.copy_tile(op, alone, held)?;
                }
            }
        }
        Ok(())
    }
}
