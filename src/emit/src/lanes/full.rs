//! Tiles whose elements are not in memory: a number in all of them, and coordinates.
//!
//! A number is one register for all elements, as a constant is. Coordinates are what a lane adds,
//! computed once, and what each of its registers adds, a number. Each register is written by a sum
//! of its own, so that the check of contents finds what it holds.

use crate::expr::bits::{BitColumn, from_bits};
use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext, ValueRegs};
use crate::pool::EmitPool;
use crate::step::{InstError, InstKind, Missing, int, slot};
use lanebook_ir::{Coordinates, Op, Value};
use lanebook_tables::IndexOp;
use lanebook_tile::map::{Combine, Fragment};

/// Most bits of a thread's number.
const THREAD_BITS: usize = 16;

impl LowerContext<'_, '_, '_, '_> {
    /// A tile full of an index, or of an argument.
    #[inline(never)]
    pub(crate) fn full_tile(&mut self, op: Op, number: Value) -> Result<(), EmitError> {
        let value = self.program.result(op, 0).ok_or(EmitError::Unplanned(op))?;
        let Some((_, fragment)) = self.plan.fragment_of(value) else { return Ok(()) };
        let node = match self.index_value(op, number, None)? {
            Some(node) => node,
            None => self.arena.constant(0)?,
        };
        let base = self.computed_now(node)?;
        let one = self.steps.tuple(base.class, 1)?;
        self.add_to(one, base, 0)?;
        if self.splats.push(ValueRegs { value, reg: one }).is_ok() {
            return Ok(());
        }
        // Where there is no room to remember it, the tile has all its registers.
        let tile = self.tile(base.class, fragment)?;
        for k in 0..tile.count {
            self.add_to(tile.member(k), one, 0)?;
        }
        self.hold(value, tile)
    }

    /// A tile of coordinates.
    #[inline(never)]
    pub(crate) fn coordinates(&mut self, op: Op, of: Coordinates) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let value = self.program.result(op, 0).ok_or(refuse)?;
        let Some((_, fragment)) = self.plan.fragment_of(value) else { return Ok(()) };
        let rows = of.dim.saturating_add(1) < self.program.type_of(value).shape.rank();
        let (node, changed) = self.of_lanes(fragment, rows)?;
        let part = |element: u32| along(fragment, rows, element);
        let size = if rows { fragment.shape.rows } else { fragment.shape.cols };
        let inside = 1u32.checked_shl(u32::from(size)).unwrap_or(0).wrapping_sub(1);
        let mut tile: Option<Reg> = None;
        let mut bases: Option<(u32, Reg)> = None;
        for k in 0..fragment.registers() {
            let own = part(fragment.element(u32::from(k), 0, 0));
            // What lanes change of it is joined to theirs; the rest is a number.
            let joined = own & inside & changed;
            let number = i64::from(of.start).saturating_add(i64::from(own.wrapping_sub(joined)));
            let base = match bases.filter(|(of, _)| *of == joined) {
                Some((_, base)) => base,
                None => {
                    let own = self.arena.op_const(IndexOp::Xor, node, u64::from(joined))?;
                    self.computed_now(own)?
                }
            };
            bases = Some((joined, base));
            let tile = match tile {
                Some(tile) => tile,
                None => *tile.insert(self.tile(base.class, fragment)?),
            };
            self.add_to(tile.member(k), base, number)?;
        }
        self.hold(value, tile.ok_or(refuse)?)
    }

    /// What lanes and warps add to a coordinate, and which of its bits they change.
    fn of_lanes(&mut self, fragment: &Fragment, rows: bool) -> Result<(ExprId, u32), EmitError> {
        let mut columns: heapless::Vec<BitColumn, THREAD_BITS> = heapless::Vec::new();
        let mut changed = 0u32;
        let lanes = (0u8..).zip(fragment.lane.as_slice());
        let warps = (self.plan.wave..).zip(fragment.warp.as_slice());
        for (bit, element) in lanes.chain(warps) {
            let column = along(fragment, rows, *element);
            if column == 0 {
                continue;
            }
            changed |= column;
            columns
                .push(BitColumn { value: self.thread, bit, column })
                .map_err(|_| EmitError::full(EmitPool::AddressBits, THREAD_BITS as u32))?;
        }
        if columns.is_empty() {
            return Ok((self.arena.constant(0)?, 0));
        }
        Ok((from_bits(&mut self.arena, &columns, Combine::Xor, 0)?, changed))
    }

    /// A node in a register of lanes.
    fn computed_now(&mut self, node: ExprId) -> Result<Reg, EmitError> {
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Control);
        let reg = self.compute(node, RegBank::Vector)?;
        self.steps.purpose = purpose;
        Ok(reg)
    }

    /// `to = from + number`.
    fn add_to(&mut self, to: Reg, from: Reg, number: i64) -> Result<(), EmitError> {
        let missing = InstError::NoAtom(Missing::Move(to.class));
        let (atom, is_first) = self.machine.add_number(to.class, number).ok_or(missing)?;
        let (number, from) = (int(number).ok_or(missing)?, slot(from));
        let purpose = core::mem::replace(&mut self.steps.purpose, InstKind::Arithmetic);
        let [a, b] = if is_first { [number, from] } else { [from, number] };
        self.steps.append(atom, &[slot(to), a, b])?;
        self.steps.purpose = purpose;
        Ok(())
    }
}

/// The row or the column of an element.
fn along(fragment: &Fragment, rows: bool, element: u32) -> u32 {
    let (row, col) = fragment.shape.position(element);
    if rows { row } else { col }
}
