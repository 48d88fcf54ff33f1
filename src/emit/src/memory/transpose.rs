//! Copies that transpose blocks of narrow elements in registers: loads along one dimension, choices
//! of bytes, stores along the other.
//!
//! A block of `2^a` by `2^b` elements is in the registers of one lane, `2^p` elements in each. Bits
//! of an element's place inside a register change places with bits of the register's number one by
//! one: round `k` takes pairs of registers whose numbers differ in bit `k`, and makes of each pair
//! the register whose elements have their place's bit `k` clear in the result's number, and the
//! other one. After `p` rounds a register has `2^p` elements of the other dimension. What is left
//! of the transposition only says which register is stored where.
//!
//! Does not: decide whether that is cheaper than moving elements alone, which choosing has done.

use crate::expr::Reg;
use crate::lanes::shuffle::ByteSelector;
use crate::lower::context::{EmitError, LowerContext};
use crate::memory::address::memory_sides;
use crate::memory::movement::{data_operand, register_class};
use crate::pool::EmitPool;
use crate::step::{InstKind, slot};
use lanebook_ir::{Loop, Op};
use lanebook_plan::TransferPlan;
use lanebook_tables::AtomId;
use lanebook_tile::tiling::RegisterTranspose;

/// Most elements in a register.
const ELEMENTS: usize = 4;
/// Most choices of a movement: two for each round.
const CHOICES: usize = 4;
/// Most tuples that a batch loads, and that a block stores.
const TUPLES: usize = 16;
/// Registers that a batch loads, where a block has no more.
const BATCH: u32 = 32;

/// What is chosen of a pair of registers.
type Choices = heapless::Vec<ByteSelector, CHOICES>;

/// Which bytes of a pair round `round` takes: for the lower register of the result, or the upper
/// one.
fn choice(transpose: &RegisterTranspose, round: u8, upper: bool) -> Option<[u8; 4]> {
    let element = 4u8.checked_shr(u32::from(transpose.packing))?;
    let own = 1u8.checked_shl(u32::from(round))?;
    let mut out = [0u8; 4];
    for (byte, name) in (0u8..).zip(&mut out) {
        let (place, part) = (byte.checked_div(element)?, byte.checked_rem(element)?);
        let from_second = if place & own == 0 { 0 } else { 4 };
        let place = if upper { place | own } else { place & !own };
        *name = place.checked_mul(element)?.checked_add(part)?.checked_add(from_second)?;
    }
    Some(out)
}

impl LowerContext<'_, '_, '_, '_> {
    /// Addresses of the second atom.
    #[inline(never)]
    pub(crate) fn prepare_transposed(
        &mut self,
        plan: &TransferPlan,
        transpose: &RegisterTranspose,
        innermost: Option<&Loop>,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let second = self.machine.tables.atom(plan.second.ok_or(refuse)?).ok_or(refuse)?;
        let store = TransferPlan { tiling: transpose.second(&plan.tiling).ok_or(refuse)?, ..*plan };
        for view in &memory_sides(second, plan.from, plan.to) {
            self.prepare_side(&store, view, innermost)?;
        }
        Ok(())
    }

    /// Registers that hold choices of bytes, where the instruction cannot name them.
    #[inline(never)]
    pub(crate) fn prepare_choices(
        &mut self,
        plan: &TransferPlan,
        transpose: &RegisterTranspose,
    ) -> Result<(), EmitError> {
        self.steps.purpose = InstKind::FirstAddress;
        let choices = self.choices(plan.op, transpose)?;
        for selector in &choices {
            self.prepare_selector(plan.op, *selector)?;
        }
        Ok(())
    }

    /// The choices of all rounds, lower register first.
    fn choices(&self, op: Op, transpose: &RegisterTranspose) -> Result<Choices, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut out = Choices::new();
        for round in 0..transpose.packing {
            for upper in [false, true] {
                let selector = choice(transpose, round, upper)
                    .and_then(|bytes| self.everywhere(bytes))
                    .ok_or(refuse)?;
                out.push(selector).map_err(|_| refuse)?;
            }
        }
        Ok(out)
    }

    /// All of a movement: as many blocks at a time as a batch has registers for, so that their
    /// loads overlap.
    #[inline(never)]
    pub(crate) fn transposed(
        &mut self,
        plan: &TransferPlan,
        transpose: &RegisterTranspose,
        second: AtomId,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let (first_atom, second_atom) = (
            self.machine.tables.atom(plan.atom).ok_or(refuse)?,
            self.machine.tables.atom(second).ok_or(refuse)?,
        );
        let store = TransferPlan { tiling: transpose.second(&plan.tiling).ok_or(refuse)?, ..*plan };
        let choices = self.choices(plan.op, transpose)?;
        let class = register_class(Some(first_atom)).ok_or(refuse)?;
        let (loaded, stored) = (
            data_operand(first_atom).ok_or(refuse)?.registers,
            data_operand(second_atom).ok_or(refuse)?.registers,
        );
        let rows = 1u32.checked_shl(u32::from(transpose.across)).ok_or(refuse)?;
        let columns = 1u32.checked_shl(u32::from(transpose.along)).ok_or(refuse)?;
        let blocks = plan.tiling.count().checked_div(rows).ok_or(refuse)?;
        let each = rows.saturating_mul(u32::from(loaded)).max(1);
        let most = (TUPLES as u32)
            .checked_div(rows)
            .unwrap_or(1)
            .min(BATCH.checked_div(each).unwrap_or(1))
            .max(1);
        let most = self.in_flight(each, most);
        let mut tuples: heapless::Vec<Reg, TUPLES> = heapless::Vec::new();
        let mut out: heapless::Vec<Reg, TUPLES> = heapless::Vec::new();
        let mut done = 0u32;
        while done < blocks {
            let batch = blocks.saturating_sub(done).min(most);
            tuples.clear();
            for k in 0..batch.saturating_mul(rows) {
                let reg = self.steps.tuple(class, u16::from(loaded))?;
                tuples
                    .push(reg)
                    .map_err(|_| EmitError::full(EmitPool::TransposeRegisters, TUPLES as u32))?;
                self.instance(
                    plan,
                    plan.atom,
                    first_atom,
                    done.saturating_mul(rows).saturating_add(k),
                    Some(slot(reg)),
                )?;
            }
            for block in 0..batch {
                let from = block.saturating_mul(rows) as usize;
                let rest = tuples.get(from..).ok_or(refuse)?;
                out.clear();
                for _ in 0..columns {
                    out.push(self.steps.tuple(class, u16::from(stored))?).map_err(|_| {
                        EmitError::full(EmitPool::TransposeRegisters, TUPLES as u32)
                    })?;
                }
                self.steps.purpose = InstKind::Arithmetic;
                self.transpose_block(plan.op, transpose, rest, &out, &choices)?;
                for (k, reg) in (0u32..).zip(&out) {
                    let at = done.saturating_add(block).saturating_mul(columns).saturating_add(k);
                    self.instance(&store, second, second_atom, at, Some(slot(*reg)))?;
                }
            }
            done = done.saturating_add(batch);
        }
        Ok(())
    }

    /// The second half of a movement whose loads are in registers one behind the other: choices and
    /// stores, block by block; the register behind them.
    #[inline(never)]
    pub(crate) fn store_transposed(
        &mut self,
        plan: &TransferPlan,
        transpose: &RegisterTranspose,
        second: AtomId,
        first: u16,
    ) -> Result<u16, EmitError> {
        let refuse = EmitError::Unplanned(plan.op);
        let atom = |id: AtomId| self.machine.tables.atom(id).ok_or(refuse);
        let (first_atom, second_atom) = (atom(plan.atom)?, atom(second)?);
        let store = TransferPlan { tiling: transpose.second(&plan.tiling).ok_or(refuse)?, ..*plan };
        let choices = self.choices(plan.op, transpose)?;
        let class = register_class(Some(first_atom)).ok_or(refuse)?;
        let loaded = data_operand(first_atom).ok_or(refuse)?.registers;
        let stored = data_operand(second_atom).ok_or(refuse)?.registers;
        let rows = 1u32.checked_shl(u32::from(transpose.across)).ok_or(refuse)?;
        let columns = 1u32.checked_shl(u32::from(transpose.along)).ok_or(refuse)?;
        let full = EmitError::full(EmitPool::TransposeRegisters, TUPLES as u32);
        let mut next = first;
        for block in 0..plan.tiling.count().checked_div(rows).ok_or(refuse)? {
            let mut tuples: heapless::Vec<Reg, TUPLES> = heapless::Vec::new();
            for _ in 0..rows {
                tuples
                    .push(Reg { class, first: next, count: u16::from(loaded) })
                    .map_err(|_| full)?;
                next = next.checked_add(u16::from(loaded)).ok_or(refuse)?;
            }
            let mut out: heapless::Vec<Reg, TUPLES> = heapless::Vec::new();
            for _ in 0..columns {
                out.push(self.steps.tuple(class, u16::from(stored))?).map_err(|_| full)?;
            }
            self.steps.purpose = InstKind::Arithmetic;
            self.transpose_block(plan.op, transpose, &tuples, &out, &choices)?;
            for (k, reg) in (0u32..).zip(&out) {
                let at = block.saturating_mul(columns).saturating_add(k);
                self.instance(&store, second, second_atom, at, Some(slot(*reg)))?;
            }
        }
        Ok(next)
    }

    /// One block: from the tuples of its rows to the tuples of its columns.
    fn transpose_block(
        &mut self,
        op: Op,
        transpose: &RegisterTranspose,
        rows: &[Reg],
        columns: &[Reg],
        choices: &Choices,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let side = 1u16.checked_shl(u32::from(transpose.packing)).ok_or(refuse)?;
        let parts = |bits: u8| {
            bits.checked_sub(transpose.packing)
                .and_then(|bits| 1u16.checked_shl(u32::from(bits)))
                .ok_or(refuse)
        };
        let (across, along) = (parts(transpose.across)?, parts(transpose.along)?);
        for row in 0..across {
            for column in 0..along {
                // A square of registers' elements; what a round makes takes the place of what it
                // reads.
                let mut square: heapless::Vec<Reg, ELEMENTS> = heapless::Vec::new();
                for k in 0..side {
                    let tuple = rows
                        .get(usize::from(row.saturating_mul(side).saturating_add(k)))
                        .ok_or(refuse)?;
                    square
                        .push(Reg {
                            class: tuple.class,
                            first: tuple.first.wrapping_add(column),
                            count: 1,
                        })
                        .map_err(|_| refuse)?;
                }
                for round in 0..transpose.packing {
                    let own = 1u16.checked_shl(u32::from(round)).ok_or(refuse)?;
                    let is_last = round.saturating_add(1) == transpose.packing;
                    for lower in (0..side).filter(|k| k & own == 0) {
                        let numbers = [lower, lower | own];
                        let pair = numbers.map(|k| square.get(usize::from(k)).copied());
                        let [Some(a), Some(b)] = pair else { return Err(refuse) };
                        for (k, which) in numbers.into_iter().zip([0u8, 1]) {
                            let made = if is_last {
                                let tuple = columns
                                    .get(usize::from(column.saturating_mul(side).saturating_add(k)))
                                    .ok_or(refuse)?;
                                Reg {
                                    class: tuple.class,
                                    first: tuple.first.wrapping_add(row),
                                    count: 1,
                                }
                            } else {
                                self.steps.tuple(a.class, 1)?
                            };
                            let named = choices
                                .get(usize::from(round.saturating_mul(2).saturating_add(which)))
                                .ok_or(refuse)?;
                            self.choose(op, made, [a, b], *named)?;
                            *square.get_mut(usize::from(k)).ok_or(refuse)? = made;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
