//! Products: each instance adds its term to the sum so far.

use crate::contents::flow::written;
use crate::contents::goal::{Prover, What};
use crate::contents::storage::NONE;
use crate::contents::through::BitRange;
use crate::contents::{Content, ContentsContext, class, count};
use crate::evaluator::power;
use crate::matrix::repeat_tuples::RepeatTuple;
use crate::violation::Violation;
use lanebook_emit::step::{Inst, Slot};
use lanebook_ir::{Op, Value};
use lanebook_plan::{BlockBitRole, ProductPlan, ScalePlan};
use lanebook_tables::{Operand, Role};
use lanebook_tile::product::Product;

/// The number of an operand's block: panel by panel, and in a panel the first of two coordinates
/// counts fastest.
fn block(panel: (u32, u8, u32), inner: (u32, u8), outer: (u32, u8)) -> Option<u32> {
    let size = power(usize::from(inner.1).checked_add(usize::from(outer.1))?)?;
    let number =
        panel.0.checked_mul(u32::from(panel.1))?.checked_add(panel.2)?.checked_mul(size)?;
    number.checked_add(outer.0.checked_mul(power(usize::from(inner.1))?)?)?.checked_add(inner.0)
}

/// Which of the panels a number is in, and the number inside.
fn split(i: u32, bits: u8) -> Option<(u32, u32)> {
    let n = power(usize::from(bits))?;
    Some((i.checked_div(n)?, i.checked_rem(n)?))
}

/// The blocks of A, B and C of an instance.
pub(super) fn blocks(p: &Product, (im, i, ik): (u32, u32, u32)) -> Option<(u32, u32, u32)> {
    let ((rm, rn, rk), (_, pn, pk)) = (p.repeats, p.panels);
    let ((hm, m), (hn, n), (hk, k)) = (split(im, rm)?, split(i, rn)?, split(ik, rk)?);
    let a = block((hm, pk, hk), (k, rk), (m, rm))?;
    let b = block((hk, pn, hn), (k, rk), (n, rn))?;
    let c = if p.transposed {
        block((hm, pn, hn), (m, rm), (n, rn))?
    } else {
        block((hm, pn, hn), (n, rn), (m, rm))?
    };
    Some((a, b, c))
}

/// Whether the numbers that a step says, but those of parameters, are in the table's ranges.
fn is_in_range(look: &ContentsContext<'_>, step: &Inst) -> bool {
    let fits = |(k, operand): (usize, &Operand<'_>)| match step.arg(k) {
        Slot::Int(n) if operand.role == Role::Immediate && operand.vary.is_none() => {
            (operand.range.0..=operand.range.1).contains(&i64::from(n))
        }
        _ => true,
    };
    look.atom(step).is_some_and(|atom| atom.operands.iter().enumerate().all(fits))
}

/// The register of a tile of scales that a block's are in, and what the block adds to immediates.
fn chosen(scale: &ScalePlan, block: u32) -> Option<(u32, heapless::Vec<(u8, u8), 12>)> {
    let (mut rest, mut register, mut given) = (block, 0u32, heapless::Vec::new());
    for choice in scale.choice.as_slice() {
        if rest & 1 == 1 {
            match *choice {
                BlockBitRole::Register(place) => {
                    register = register.checked_add(power(usize::from(place))?)?
                }
                BlockBitRole::Immediate { by, value } => given.push((by, value)).ok()?,
            }
        }
        rest >>= 1;
    }
    Some((register.checked_add(rest.checked_mul(u32::from(scale.registers))?)?, given))
}

impl Prover<'_, '_, '_> {
    /// Bits of a product's result.
    pub(super) fn product(&mut self, bits: BitRange, op: Op, at: u32) -> Result<bool, Violation> {
        let Some(p) = self.look.plan.products.iter().find(|p| p.op == op) else { return Ok(false) };
        // What stands in tensor memory is in registers where it has been fetched, and nowhere else.
        if p.tensor.is_some() {
            return Ok(false);
        }
        self.sum(bits, op, p.product.counts().2, at)
    }

    /// Bits of a sum of so many terms.
    pub(super) fn sum(
        &mut self,
        bits: BitRange,
        op: Op,
        many: u16,
        at: u32,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Some(p) = look.plan.products.iter().find(|p| p.op == op) else { return Ok(false) };
        let Some(ik) = many.checked_sub(1) else {
            let Some(c) = look.program.operand(op, 2) else { return Ok(false) };
            self.want(bits, What::Tile(c), at)?;
            return Ok(true);
        };
        let Content::Inst(number, register) = bits.content else { return Ok(false) };
        let Some(step) = look.steps.get(usize::from(number)) else { return Ok(false) };
        let own = step.atom == p.product.atom && usize::from(step.origin) == op.index();
        let Some((operand, member)) = written(look, step, register)
            .filter(|(operand, _)| own && *operand == p.product.shape.d)
        else {
            return Ok(false);
        };
        let slot = step.arg(usize::from(operand));
        let Some(bits_each) = class(slot).and_then(|c| look.class_bits(c)) else {
            return Ok(false);
        };
        let all = bits_each.saturating_mul(u32::from(count(slot)));
        let Some((ic, inside)) = self.block_of(p, operand, (at, all, bits_each)) else {
            return Ok(false);
        };
        if inside != u32::from(member).saturating_mul(bits_each).saturating_add(u32::from(bits.bit))
        {
            return Ok(false);
        }
        let (nm, nn, _) = p.product.counts();
        let mut found = None;
        for (m, n) in (0..u32::from(nm)).flat_map(|m| (0..u32::from(nn)).map(move |n| (m, n))) {
            if let Some(all) = blocks(&p.product, (m, n, u32::from(ik))).filter(|(.., c)| *c == ic)
            {
                found = Some((all, m.saturating_mul(u32::from(nn)).saturating_add(n)));
                break;
            }
        }
        let Some(((ia, ib, ic), instance)) = found else { return Ok(false) };
        let known = self.scratch.bound.get(usize::from(number)).is_some_and(|b| *b != 0);
        if !self.bind(number, instance.saturating_mul(1 << 12).saturating_add(u32::from(ik))) {
            return Ok(false);
        }
        if known { Ok(true) } else { self.terms(number, p, (ia, ib, ic), ik) }
    }

    /// What an instance reads: its blocks of A and B, and the sum before it.
    #[inline(never)]
    fn terms(
        &mut self,
        number: u16,
        p: &ProductPlan,
        (ia, ib, ic): (u32, u32, u32),
        ik: u16,
    ) -> Result<bool, Violation> {
        let (look, s, op) = (self.look, p.product.shape, p.op);
        if !look.steps.get(usize::from(number)).is_some_and(|step| is_in_range(look, step)) {
            return Ok(false);
        }
        let (first, second) = if p.product.transposed { (1, 0) } else { (0, 1) };
        let value = |k: usize| look.program.operand(op, k);
        let in_registers = |k: usize| {
            p.shared.get(k).copied().flatten().is_none()
                && !(k == 0 && p.product.tensor_a.is_some())
        };
        let sides: [(u8, usize, u32, Option<Value>); 2] =
            [(s.a, 0, ia, value(first)), (s.b, 1, ib, value(second))];
        for (operand, k, block, value) in sides {
            if !in_registers(k) {
                // What its descriptor names.
                let named = self
                    .scratch
                    .blocks
                    .get(usize::from(number))
                    .and_then(|all| all.get(k))
                    .copied()
                    .unwrap_or(NONE);
                if named != NONE && u32::from(named) != block {
                    return Ok(false);
                }
                self.unfollowed = self.unfollowed.saturating_add(u32::from(named == NONE));
                continue;
            }
            let Some(value) = value else { return Ok(false) };
            if !self.block(p, number, (operand, block), What::Tile(value))? {
                return Ok(false);
            }
        }
        for (scale, (block, value)) in p.scales.iter().zip([(ia, 0usize), (ib, 1)]) {
            let Some(scale) = scale else { continue };
            let value = look.program.scales(op).and_then(|values| values.get(value).copied());
            if value
                .is_none_or(|value| !matches!(self.scale(number, scale, block, value), Ok(true)))
            {
                return Ok(false);
            }
        }
        self.block(p, number, (s.c, ic), What::Sum(op, ik))
    }

    /// The register of a block's scales, and the immediates that say where in it they are.
    #[inline(never)]
    fn scale(
        &mut self,
        number: u16,
        scale: &ScalePlan,
        block: u32,
        value: Value,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Some(step) = look.steps.get(usize::from(number)) else { return Ok(false) };
        let Some((register, given)) = chosen(scale, block) else { return Ok(false) };
        let moves = look.atom(step).and_then(|atom| atom.more).map_or(&[][..], |more| more.moves);
        for moved in moves.iter().filter(|moved| moved.of == scale.operand) {
            let want: i32 = given
                .iter()
                .filter(|(by, _)| *by == moved.by)
                .map(|(_, value)| i32::from(*value))
                .sum();
            if step.arg(usize::from(moved.by)) != Slot::Int(want) {
                return Ok(false);
            }
        }
        let Some(content) = self.scratch.read(look, number, scale.operand, 0) else {
            return Ok(false);
        };
        self.want(
            BitRange { content, bit: 0, width: 32 },
            What::Tile(value),
            register.saturating_mul(32),
        )?;
        Ok(true)
    }

    /// The block of D's registers that a bit of the tile's belongs to, and the bit in it.
    #[inline(never)]
    fn block_of(
        &self,
        p: &ProductPlan,
        operand: u8,
        (at, all, each): (u32, u32, u32),
    ) -> Option<(u32, u32)> {
        if !p.product.takes_panels() {
            return Some((at.checked_div(all)?, at.checked_rem(all)?));
        }
        let (nm, nn, _) = p.product.counts();
        let blocks = u32::from(nm).checked_mul(u32::from(nn))?;
        RepeatTuple::of(self.look.tables, &p.product, operand, all)?.found(at, each, blocks)
    }

    /// A step's operand holds a block of something.
    fn block(
        &mut self,
        p: &ProductPlan,
        number: u16,
        (operand, block): (u8, u32),
        what: What,
    ) -> Result<bool, Violation> {
        let look = self.look;
        let Some(step) = look.steps.get(usize::from(number)) else { return Ok(false) };
        let slot = step.arg(usize::from(operand));
        let Some(each) = class(slot).and_then(|c| look.class_bits(c)) else { return Ok(false) };
        let all = each.saturating_mul(u32::from(count(slot)));
        let Some(tuple) = RepeatTuple::of(look.tables, &p.product, operand, all) else {
            return Ok(false);
        };
        for member in 0..count(slot) {
            let Some(content) = self.scratch.read(look, number, operand, member) else {
                return Ok(false);
            };
            let Some(at) = tuple.tile_bit(block, u32::from(member).saturating_mul(each)) else {
                return Ok(false);
            };
            self.want(
                BitRange { content, bit: 0, width: u16::try_from(each).unwrap_or(32) },
                what,
                at,
            )?;
        }
        Ok(true)
    }
}
