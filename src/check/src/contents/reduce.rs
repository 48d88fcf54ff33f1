//! Reductions: the lane's own places in order, then lanes in pairs, then what warps leave for each
//! other.

use crate::contents::Content;
use crate::contents::goal::{Prover, What};
use crate::contents::through::BitRange;
use crate::evaluator::place_bits;
use crate::lanes::shape;
use crate::violation::Violation;
use lanebook_ir::{AttrValue, Op, Value, attr_names};
use lanebook_plan::SharedExchange;
use lanebook_tables::OpWord;

impl Prover<'_, '_, '_> {
    /// The two registers that a step combines as a reduction does.
    fn combined(&self, bits: BitRange, op: Op) -> Option<[BitRange; 2]> {
        let Content::Inst(number, 0) = bits.content else { return None };
        let look = self.look;
        let atom = look.atom(look.steps.get(usize::from(number))?)?;
        let kind = match look.program.attr(op, attr_names::KIND)? {
            AttrValue::Word(name) | AttrValue::Str(name) | AttrValue::Text(name) => {
                look.program.text(name)
            }
            _ => return None,
        };
        let does =
            atom.does.filter(|does| look.tables.op_named(kind).map(OpWord::Op) == Some(does.op))?;
        let [first, second] = *does.uses else { return None };
        let read = |operand: u8| {
            self.scratch
                .read(look, number, operand, 0)
                .map(|content| self.scratch.through(look, BitRange { content, ..bits }))
        };
        Some([read(first)?, read(second)?])
    }

    /// Bits of a reduction's result.
    pub(super) fn reduced(
        &mut self,
        bits: BitRange,
        op: Op,
        value: Value,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Ok(lanes) = shape::combined_lanes(look.tables, look.program, look.plan, op) else {
            return Ok(false);
        };
        let Some(exchange) = look.plan.exchanges.iter().find(|e| e.op == op) else {
            return self.lanes(bits, op, lanes, at);
        };
        let (Some(few), Some(many)) =
            (look.fragment(value).and_then(shape::places), shape::places(&exchange.to))
        else {
            return Ok(false);
        };
        let lines = many.checked_div(few).and_then(|n| u16::try_from(n).ok()).unwrap_or(0);
        self.lines(bits, op, lines, at)
    }

    /// Lines of an exchange, the first so many of them.
    pub(super) fn lines(
        &mut self,
        bits: BitRange,
        op: Op,
        many: u16,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Some(exchange) = look.plan.exchanges.iter().find(|e| e.op == op) else {
            return Ok(false);
        };
        let Some(last) = many.checked_sub(1) else { return Ok(false) };
        if last == 0 {
            return self.line(bits, exchange, 0, at);
        }
        let Some([first, second]) = self.combined(bits, op) else { return Ok(false) };
        if !self.line(second, exchange, last, at)? {
            return Ok(false);
        }
        self.want(first, What::Lines(op, last), at)?;
        Ok(true)
    }

    /// One line of an exchange.
    fn line(
        &mut self,
        bits: BitRange,
        exchange: &SharedExchange,
        line: u16,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Content::Inst(number, register) = bits.content else { return Ok(false) };
        let own = |s: &lanebook_emit::step::Inst| {
            usize::from(s.origin) == exchange.op.index() && s.atom == exchange.load.atom
        };
        if !look.steps.get(usize::from(number)).is_some_and(own) {
            return Ok(false);
        }
        let place = || {
            let few = shape::places(look.fragment(look.program.result(exchange.op, 0)?)?)?;
            let lines = shape::places(&exchange.to)?.checked_div(few)?;
            let q = at.checked_div(look.place_of(look.program.result(exchange.op, 0)?)?)?;
            q.checked_mul(lines)?
                .checked_add(u32::from(line))?
                .checked_mul(place_bits(&exchange.to))
        };
        let Some(place) = place() else { return Ok(false) };
        let [_, load] = exchange.moves();
        self.brought(bits, &load, (number, register), What::Lines(exchange.op, line), place)
    }

    /// What lanes that differ in some bits have combined.
    pub(super) fn lanes(
        &mut self,
        bits: BitRange,
        op: Op,
        lanes: u8,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        if lanes == 0 {
            let Some(many) = self.places_of(op, at).map(|n| n.1) else { return Ok(false) };
            return self.places(bits, op, many, at);
        }
        let Some(pair) = self.combined(bits, op) else { return Ok(false) };
        for (own, other) in [(0usize, 1usize), (1, 0)] {
            let (Some(own), Some(other)) = (pair.get(own).copied(), pair.get(other).copied())
            else {
                continue;
            };
            let Content::Inst(number, _) = other.content else { continue };
            let Some(step) = look.steps.get(usize::from(number)) else { continue };
            let Some(atom) = look.atom(step) else { continue };
            let Some(does) = atom.does.filter(|does| does.op == OpWord::ShuffleXor) else {
                continue;
            };
            // Where a register says which lane, threads were carried out, unless it stands in a
            // loop that never turns: then the highest is left.
            let highest = lanes.checked_ilog2().and_then(|bit| 1u8.checked_shl(bit)).unwrap_or(0);
            let mask = match shape::mask(atom, step) {
                Some(Some(mask)) => mask,
                Some(None) => self
                    .scratch
                    .instance(number)
                    .map_or(highest, |mask| u8::try_from(mask).unwrap_or(0)),
                None => continue,
            };
            let from =
                does.uses.first().and_then(|operand| self.scratch.read(look, number, *operand, 0));
            let (Some(content), true) = (from, mask.is_power_of_two() && lanes & mask != 0) else {
                continue;
            };
            self.want(own, What::Lanes(op, lanes & !mask), at)?;
            self.want(BitRange { content, ..other }, What::Lanes(op, lanes & !mask), at)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Of the operand's places that belong to one of the result's: number `nth`, and how many there
    /// are.
    fn nth_place(&self, op: Op, at: u32, nth: u16) -> Option<(u32, u16)> {
        let look = self.look;
        let (result, operand) = (look.program.result(op, 0)?, look.program.operand(op, 0)?);
        let (small, large) = (look.fragment(result)?, look.fragment(operand)?);
        let q = at.checked_div(place_bits(small))?;
        let (mut many, mut found) = (0u16, None);
        for p in 0..shape::places(large)? {
            if shape::repeated_place(look.program, op, large, small, p) == Some(q) {
                if many == nth {
                    found = Some(p);
                }
                many = many.checked_add(1)?;
            }
        }
        Some((found?, many))
    }

    fn places_of(&self, op: Op, at: u32) -> Option<(u32, u16)> {
        self.nth_place(op, at, 0)
    }

    /// The first so many of the lane's own places.
    pub(super) fn places(
        &mut self,
        bits: BitRange,
        op: Op,
        many: u16,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let own = || {
            let operand = look.program.operand(op, 0)?;
            let (place, _) = self.nth_place(op, at, many.checked_sub(1)?)?;
            Some((operand, place.checked_mul(look.place_of(operand)?)?))
        };
        let Some((operand, place)) = own() else { return Ok(false) };
        if many == 1 {
            self.want(bits, What::Tile(operand), place)?;
            return Ok(true);
        }
        let Some([first, second]) = self.combined(bits, op) else { return Ok(false) };
        self.want(second, What::Tile(operand), place)?;
        self.want(first, What::Places(op, many.saturating_sub(1)), at)?;
        Ok(true)
    }
}
