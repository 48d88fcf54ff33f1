//! Vector arithmetic of a wave: sources checked, every lane computed, results noted.

use super::hazard::User;
use super::op::{LaneFn, Op, Src, Subnormals, Wide};
use super::tracked::Tracked;
use super::wave::{LANES, Run, Wave};

impl Wave {
    /// Checks sources of a vector instruction: registers, flight, wait states.
    fn check_sources(&self, sources: &[(Src, u16)]) -> Run<()> {
        for &(src, words) in sources {
            match src {
                Src::V(first) => {
                    (first..first + words).try_for_each(|r| self.check_read(r, User::Valu))?
                }
                Src::S(first) => {
                    for register in first..first + words as u8 {
                        self.scalar(register)?;
                        self.hazards.reads_scalar(register, false)?;
                    }
                }
                Src::K(_) => {}
            }
        }
        Ok(())
    }

    fn check_results(&mut self, first: u16, words: u16) -> Run<()> {
        (first..first + words).try_for_each(|r| self.check_write(r, User::Valu, None))
    }

    /// A source of one or two words that must be fully written.
    fn wide_source(&self, src: Src, words: u16, lane: usize) -> Run<u64> {
        match src {
            Src::V(first) => {
                let low = self.lane_value(first, lane, 3)?.value;
                let high = if words == 2 { self.lane_value(first + 1, lane, 3)?.value } else { 0 };
                Ok(u64::from(low) | u64::from(high) << 32)
            }
            other => self.scalar_src(other, words as u8),
        }
    }

    fn whole(&self, src: Src, lane: usize) -> Run<Tracked> {
        if let Src::V(register) = src {
            self.lane_value(register, lane, 3)
        } else {
            self.source(src, lane)
        }
    }

    pub(super) fn vector(&mut self, op: &Op) -> Run<()> {
        match op {
            Op::Lane { f, dst, src } => {
                self.check_sources(&src.map(|s| (s, 1)))?;
                self.check_results(*dst, 1)?;
                self.hazards.advance(1);
                for lane in self.lanes() {
                    let value = match f {
                        LaneFn::Tracked(f) => f([
                            self.source(src[0], lane)?,
                            self.source(src[1], lane)?,
                            self.source(src[2], lane)?,
                        ]),
                        plain => {
                            let words = [
                                self.whole(src[0], lane)?.value,
                                self.whole(src[1], lane)?.value,
                                self.whole(src[2], lane)?.value,
                            ];
                            Tracked::plain(match plain {
                                LaneFn::Plain(f) => f(words),
                                LaneFn::Float(f) => {
                                    self.subnormals.writes(f(self.subnormals.reads(words)))
                                }
                                LaneFn::Narrow(f) => f(self.subnormals.reads(words)),
                                LaneFn::Approximate(f) => {
                                    Subnormals::NONE.writes(f(Subnormals::NONE.reads(words)))
                                }
                                LaneFn::Indexed(f) => f(words, lane as u32),
                                LaneFn::Tracked(_) => unreachable!("handled above"),
                            })
                        }
                    };
                    if value.defined == 0 {
                        // Nothing of the result is known: name the source that is to blame.
                        for source in src {
                            self.whole(*source, lane)?;
                        }
                    }
                    self.set_lane(*dst, lane, value);
                }
                self.hazards.wrote(*dst, User::Valu);
            }
            Op::Bitop3 { table, dst, src } => {
                self.check_sources(&src.map(|s| (s, 1)))?;
                self.check_results(*dst, 1)?;
                self.hazards.advance(1);
                for lane in self.lanes() {
                    let [a, b, c] = [
                        self.whole(src[0], lane)?.value,
                        self.whole(src[1], lane)?.value,
                        self.whole(src[2], lane)?.value,
                    ];
                    let pick = |v: u32, set: bool| if set { v } else { !v };
                    let hits = (0..8u32).filter(|i| table >> i & 1 == 1);
                    let value = hits.fold(0, |sum, i| {
                        sum | (pick(a, i & 4 != 0) & pick(b, i & 2 != 0) & pick(c, i & 1 != 0))
                    });
                    self.set_lane(*dst, lane, Tracked::plain(value));
                }
                self.hazards.wrote(*dst, User::Valu);
            }
            Op::Compare { f, wide, dst, a, b } => {
                let words = if *wide { 2 } else { 1 };
                self.check_sources(&[(*a, words), (*b, words)])?;
                self.hazards.advance(1);
                let mut mask = 0;
                for lane in self.lanes() {
                    let hit =
                        f(self.wide_source(*a, words, lane)?, self.wide_source(*b, words, lane)?);
                    mask |= u64::from(hit) << lane;
                }
                self.set_scalar(*dst, mask as u32, true)?;
                if self.size > 32 {
                    self.set_scalar(*dst + 1, (mask >> 32) as u32, true)?;
                }
            }
            Op::Cndmask { dst, a, b, mask } => {
                self.check_sources(&[(*a, 1), (*b, 1), (Src::S(*mask), (self.size / 32) as u16)])?;
                self.check_results(*dst, 1)?;
                self.hazards.advance(1);
                let mask = self.scalar_src(Src::S(*mask), (self.size / 32) as u8)?;
                for lane in self.lanes() {
                    let value = self.whole(if mask >> lane & 1 == 1 { *b } else { *a }, lane)?;
                    self.set_lane(*dst, lane, value);
                }
                self.hazards.wrote(*dst, User::Valu);
            }
            Op::Wide { f, dst, carry_out, src, carry_in } => {
                self.wide(*f, *dst, *carry_out, *src, *carry_in)?
            }
            _ => unreachable!("not a vector operation"),
        }
        Ok(())
    }

    fn wide(
        &mut self,
        f: Wide,
        dst: u16,
        carry_out: Option<u8>,
        src: [Src; 3],
        carry_in: Option<u8>,
    ) -> Run<()> {
        let (widths, result_words) = f.words();
        // A mask has a bit for each lane.
        let mask_words = (self.size / 32) as u16;
        let sources = [(src[0], widths[0]), (src[1], widths[1]), (src[2], widths[2])];
        self.check_sources(&sources)?;
        if let Some(carry) = carry_in {
            self.check_sources(&[(Src::S(carry), mask_words)])?;
        }
        self.check_results(dst, result_words)?;
        self.hazards.advance(1);
        let carries = carry_in.map_or(Ok(0), |c| self.scalar_src(Src::S(c), mask_words as u8))?;
        let mut out = 0u64;
        for lane in self.lanes() {
            let mut s = [0; 3];
            for (value, (src, words)) in s.iter_mut().zip(sources) {
                *value = if words == 0 { 0 } else { self.wide_source(src, words, lane)? };
            }
            let [a, b, c] = s;
            let carry = carries >> lane & 1;
            let (value, over) = match f {
                Wide::AddCo | Wide::AddcCo => (a + b + carry, (a + b + carry) >> 32 != 0),
                Wide::SubCo | Wide::SubbCo => {
                    (a.wrapping_sub(b).wrapping_sub(carry), b + carry > a)
                }
                Wide::MadU64U32 => (a * b).overflowing_add(c),
                Wide::LshlAddU64 => ((a << (b & 7)).wrapping_add(c), false),
                Wide::LshlB64 => (b << (a & 63), false),
                Wide::LshrB64 => (b >> (a & 63), false),
                Wide::AshrI64 => (((b as i64) >> (a & 63)) as u64, false),
                Wide::MovB64 => (a, false),
                Wide::Of { f, .. } => (f([a, b, c]), false),
            };
            out |= u64::from(over) << lane;
            let kept = |half: u16| {
                if let (Wide::MovB64, Src::V(r)) = (f, src[0]) {
                    self.tracked(r + half, lane).tags
                } else {
                    [0, 0]
                }
            };
            let (low, high) = (kept(0), kept(1));
            self.set_lane(dst, lane, Tracked { tags: low, ..Tracked::plain(value as u32) });
            if result_words == 2 {
                self.set_lane(
                    dst + 1,
                    lane,
                    Tracked { tags: high, ..Tracked::plain((value >> 32) as u32) },
                );
            }
        }
        (dst..dst + result_words).for_each(|r| self.hazards.wrote(r, User::Valu));
        if let Some(first) = carry_out {
            self.set_scalar(first, out as u32, true)?;
            if mask_words > 1 {
                self.set_scalar(first + 1, (out >> 32) as u32, true)?;
            }
        }
        Ok(())
    }

    pub(super) fn cross_lane(&mut self, op: &Op) -> Run<()> {
        match op {
            Op::ReadLane { dst, src, lane } => {
                self.check_read(*src, User::Readlane)?;
                let first = self.exec().trailing_zeros() as usize % self.size;
                let lane = match lane {
                    Some(select) => self.lane_select(*select)?,
                    None => first,
                };
                self.hazards.advance(1);
                let value = self.lane_value(*src, lane, 3)?.value;
                self.set_scalar(*dst, value, true)?;
            }
            Op::WriteLane { dst, value, lane } => {
                self.check_sources(&[(*value, 1)])?;
                self.check_results(*dst, 1)?;
                let lane = self.lane_select(*lane)?;
                self.hazards.advance(1);
                let value = self.source(*value, lane)?;
                self.set_lane(*dst, lane, value);
                self.hazards.wrote(*dst, User::Valu);
            }
            Op::Swap { rows, a, b } => {
                self.full("a lane swap")?;
                for register in [*a, *b] {
                    self.check_read(register, User::Swap)?;
                    self.check_write(register, User::Valu, None)?;
                }
                self.hazards.advance(1);
                let rows = *rows as usize;
                for lane in (0..LANES).filter(|l| (l / rows).is_multiple_of(2)) {
                    let (upper, lower) =
                        (self.lane_value(*a, lane + rows, 3)?, self.lane_value(*b, lane, 3)?);
                    self.set_lane(*a, lane + rows, lower);
                    self.set_lane(*b, lane, upper);
                }
                self.hazards.wrote(*a, User::Valu);
                self.hazards.wrote(*b, User::Valu);
            }
            _ => unreachable!("not a cross-lane operation"),
        }
        Ok(())
    }

    fn lane_select(&self, select: Src) -> Run<usize> {
        if let Src::S(register) = select {
            self.hazards.reads_scalar(register, true)?;
        }
        Ok(self.scalar_src(select, 1)? as usize % self.size)
    }
}
