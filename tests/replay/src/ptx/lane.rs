//! PTX operations of single lanes: arithmetic, moves, conversions, parameters, and shuffles.

use super::alu;
use super::op::{Alu, Exchange, Join, Op, Reg, Src, Ty};
use super::register::Cell;
use super::run::{Machine, Run, Warp, lanes};
use crate::fault::{Clash, FaultKind};
use crate::number::{f32_to_f16, float8, to_float8};
use crate::tags::{self, Tag};

impl Warp {
    pub(super) fn lane(&mut self, m: &mut Machine<'_, '_>, op: &Op, lane: usize) -> Run<()> {
        let invalid = |sentence: String| Clash::new(FaultKind::InvalidOperand, sentence);
        match op {
            Op::Alu { f, ty, dst, src } => {
                let cells = [
                    self.get(m, lane, src[0])?,
                    self.get(m, lane, src[1])?,
                    self.get(m, lane, src[2])?,
                    self.get(m, lane, src[3])?,
                ];
                let value = alu::compute(*f, *ty, cells.map(|c| c.value)).map_err(invalid)?;
                self.set(lane, *dst, Cell::new(value, moved(*f, *ty, cells)));
            }
            Op::Setp { cmp, ty, dst, other, a, b, join } => {
                let (a, b) = (self.get(m, lane, *a)?.value, self.get(m, lane, *b)?.value);
                let hit = alu::compare(*cmp, *ty, a, b);
                let further = match join {
                    Some((join, p, negated)) => {
                        Some((*join, (self.get(m, lane, *p)?.value != 0) != *negated))
                    }
                    None => None,
                };
                let joined = |hit: bool| match further {
                    Some((Join::And, p)) => hit && p,
                    Some((Join::Or, p)) => hit || p,
                    Some((Join::Xor, p)) => hit != p,
                    None => hit,
                };
                self.set(lane, *dst, Cell::plain(joined(hit).into()));
                if let Some(other) = other {
                    self.set(lane, *other, Cell::plain(joined(!hit).into()));
                }
            }
            Op::Selp { dst, a, b, p, .. } => {
                let pick = if self.get(m, lane, *p)?.value != 0 { *a } else { *b };
                let cell = self.get(m, lane, pick)?;
                self.set(lane, *dst, cell);
            }
            Op::Mov { ty, dst, src } => {
                let cell = self.get(m, lane, *src)?;
                self.set(lane, *dst, cell);
                if let (Ty::B(128), Src::Reg(reg)) = (ty, src) {
                    let high = self.get(m, lane, Src::Reg(Reg { cell: reg.cell + 1, bits: 64 }))?;
                    self.set(lane, Reg { cell: dst.cell + 1, bits: 64 }, high);
                }
            }
            Op::Pack { ty, dst, src } => self.pack(m, lane, *ty, *dst, src)?,
            Op::Unpack { ty, dst, src } => self.unpack(m, lane, *ty, dst, *src)?,
            Op::Cvt { to, from, round, dst, src, second } => {
                let a = self.get(m, lane, *src)?;
                let value = if let Some(second) = second {
                    let half = if *to == Ty::F16x2 { Ty::F16 } else { Ty::Bf16 };
                    let b = self.get(m, lane, *second)?.value;
                    let high =
                        alu::convert(half, *from, round.as_deref(), a.value).map_err(invalid)?;
                    high << 16 | alu::convert(half, *from, round.as_deref(), b).map_err(invalid)?
                } else {
                    alu::convert(*to, *from, round.as_deref(), a.value).map_err(invalid)?
                };
                let integers = !to.is_float() && !from.is_float();
                self.set(lane, *dst, Cell::new(value, if integers { a.tags } else { [0; 4] }));
            }
            &Op::Cvt8 { fraction, dst, src, second } => {
                let a = self.get(m, lane, src)?.value;
                let value = if let Some(second) = second {
                    let b = self.get(m, lane, second)?.value;
                    let bits = |x: u64| {
                        u64::from(to_float8(f32::from_bits(x as u32), fraction, false, true))
                    };
                    bits(a) << 8 | bits(b)
                } else {
                    let half = |byte: u64| {
                        u64::from(f32_to_f16(float8(byte as u8, fraction, false) as f32))
                    };
                    half(a >> 8 & 255) << 16 | half(a & 255)
                };
                self.set(lane, dst, Cell::plain(value));
            }
            Op::Cvta { to_space, space, dst, src } => {
                let value = self.get(m, lane, *src)?.value;
                let value = super::transfer::convert_address(*to_space, *space, value);
                self.set(lane, *dst, Cell::plain(value.map_err(|c| c.by(self.thread(lane)))?));
            }
            Op::LdParam { ty, dst, offset } => {
                let bytes = ty.bytes() as usize;
                for (i, reg) in dst.iter().enumerate() {
                    let at = *offset as usize + i * bytes;
                    let Some(data) = m
                        .params
                        .get(at..at + bytes)
                        .filter(|_| *offset >= 0 && at.is_multiple_of(bytes))
                    else {
                        let sentence = format!(
                            "{bytes} bytes at {offset} are not a part of the {} parameter bytes",
                            m.params.len()
                        );
                        return Err(Clash::new(FaultKind::Parameter, sentence));
                    };
                    let value = data.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b));
                    let value = if ty.is_signed() { alu::widen(value, *ty) as u64 } else { value };
                    self.set(lane, *reg, Cell::plain(value));
                }
            }
            other => unreachable!("not a lane operation: {other:?}"),
        }
        Ok(())
    }

    fn pack(&mut self, m: &Machine<'_, '_>, lane: usize, ty: Ty, dst: Reg, src: &[Src]) -> Run<()> {
        let part = ty.bits() / src.len() as u32;
        let (mut value, mut tags) = ([0u64; 2], [0; 8]);
        for (i, s) in src.iter().enumerate() {
            let cell = self.get(m, lane, *s)?;
            let bit = i as u32 * part;
            value[bit as usize / 64] |= alu::truncate(cell.value, part) << (bit % 64);
            for unit in 0..part as usize / 16 {
                tags[bit as usize / 16 + unit] = cell.tags[unit];
            }
        }
        self.set(lane, dst, Cell::new(value[0], [tags[0], tags[1], tags[2], tags[3]]));
        if dst.bits == 128 {
            let high = Reg { cell: dst.cell + 1, bits: 64 };
            self.set(lane, high, Cell::new(value[1], [tags[4], tags[5], tags[6], tags[7]]));
        }
        Ok(())
    }

    fn unpack(
        &mut self,
        m: &Machine<'_, '_>,
        lane: usize,
        ty: Ty,
        dst: &[Option<Reg>],
        src: Src,
    ) -> Run<()> {
        let part = ty.bits() / dst.len() as u32;
        let mut halves = vec![self.get(m, lane, src)?];
        if let (128, Src::Reg(reg)) = (ty.bits(), src) {
            halves.push(self.get(m, lane, Src::Reg(Reg { cell: reg.cell + 1, bits: 64 }))?);
        }
        for (i, reg) in dst.iter().enumerate() {
            let Some(reg) = reg else { continue };
            let bit = i as u32 * part;
            let cell = halves[bit as usize / 64];
            let value = alu::truncate(cell.value >> (bit % 64), part);
            let mut tags = [0; 4];
            for (unit, tag) in tags.iter_mut().enumerate().take(part as usize / 16) {
                *tag = cell.tags[(bit as usize % 64) / 16 + unit];
            }
            self.set(lane, *reg, Cell::new(value, tags));
        }
        Ok(())
    }

    pub(super) fn shuffle(&mut self, m: &mut Machine<'_, '_>, op: &Op, on: u32) -> Run<()> {
        let Op::Shfl { mode, dst, ok, a, b, c, mask } = op else { unreachable!("a shuffle") };
        let mut results = Vec::new();
        for lane in lanes(on) {
            let mask = self.get(m, lane, *mask)?.value as u32;
            if mask & self.live != on || mask >> lane & 1 == 0 {
                let sentence = format!(
                    "shfl.sync names lanes {mask:#x}, but lanes {on:#x} of {:#x} execute it",
                    self.live
                );
                return Err(Clash::new(FaultKind::WarpDivergence, sentence).by(self.thread(lane)));
            }
            let (b, c) =
                (self.get(m, lane, *b)?.value as usize & 31, self.get(m, lane, *c)?.value as usize);
            let (clamp, segment) = (c & 31, c >> 8 & 31);
            let most = lane & segment | clamp & !segment;
            let least = lane & segment;
            let (from, fits) = match mode {
                Exchange::Up => (lane.wrapping_sub(b), lane >= b && lane - b >= most),
                Exchange::Down => (lane + b, lane + b <= most),
                Exchange::Bfly => (lane ^ b, lane ^ b <= most),
                Exchange::Idx => (least | b & !segment, (least | b & !segment) <= most),
            };
            let from = if fits { from } else { lane };
            if on >> from & 1 == 0 {
                let sentence = format!("shfl.sync reads lane {from}, which does not take part");
                return Err(Clash::new(FaultKind::WarpDivergence, sentence).by(self.thread(lane)));
            }
            results.push((lane, self.get(m, from, *a)?, fits));
        }
        for (lane, cell, fits) in results {
            self.set(lane, *dst, cell);
            if let Some(ok) = ok {
                self.set(lane, *ok, Cell::plain(fits.into()));
            }
        }
        Ok(())
    }
}

/// Tags of a result: bit operations that move whole halves keep them.
fn moved(f: Alu, ty: Ty, cells: [Cell; 4]) -> [Tag; 4] {
    if ty.bits() != 32 || cells.iter().all(|c| c.tags == [0; 4]) {
        return [0; 4];
    }
    let [a, b] = [cells[0].low(), cells[1].low()];
    let [low, high] = match f {
        Alu::And => tags::tags_of_and(a, b),
        Alu::Or | Alu::Xor => tags::tags_of_or(a, b),
        Alu::Shl => tags::tags_of_shift(a, true, b.value),
        Alu::Shr => tags::tags_of_shift(a, false, b.value),
        Alu::Prmt => {
            let selector = cells[2].value as u32;
            let pick = |i: u32| {
                if selector >> (4 * i) & 8 == 0 { selector >> (4 * i) & 7 } else { 8 }
            };
            tags::tags_of_bytes(a, b, [pick(0), pick(1), pick(2), pick(3)])
        }
        _ => [0, 0],
    };
    [low, high, 0, 0]
}
