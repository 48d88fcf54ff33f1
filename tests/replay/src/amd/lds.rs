//! LDS reads and writes, plain, paired and transposing.

use super::hazard::User;
use super::op::{Ds, Op, Part, Queue};
use super::run::Machine;
use super::tracked::Tracked;
use super::transpose::Transpose;
use super::vmem::{halves, incoming, keeps_halves, outgoing};
use super::wave::{LANES, Pending, Run, Wave};
use crate::fault::{Clash, FaultKind};
use crate::report::Space;
use crate::tags::Tag;

/// Bytes and tags that a lane receives of what all lanes fetched; what is narrower than a tag has
/// none.
pub(super) fn transposed(
    form: Transpose,
    fetched: &[(Vec<u8>, Vec<Tag>)],
    lane: u32,
    bytes: u32,
) -> (Vec<u8>, Vec<Tag>) {
    let size = form.bytes();
    let (data, all): (Vec<_>, Vec<_>) = fetched.iter().cloned().unzip();
    let count = bytes / size as u32;
    let tags =
        if size == 2 { form.take(&all, lane, 1, count) } else { vec![0; bytes as usize / 2] };
    (form.take(&data, lane, size, count), tags)
}

impl Wave {
    pub(super) fn lds(&mut self, m: &mut Machine<'_, '_>, f: &Ds) -> Run<()> {
        let words = f.bytes.div_ceil(4) as u16;
        self.check_read(f.addr, User::Memory)?;
        for i in 0..f.count as usize {
            for register in f.data[i]..f.data[i] + words {
                if f.write {
                    self.check_read(register, User::Memory)?;
                } else {
                    self.check_write(register, User::Memory, Some(Queue::Lgkm))?;
                }
            }
        }
        if f.transpose.is_some() {
            self.full("a transposing read")?;
        }
        self.hazards.advance(1);
        let mut pending = Pending { is_write: f.write, ..self.pending() };
        let mut fetched: Vec<(Vec<u8>, Vec<Tag>)> = vec![Default::default(); LANES];
        for i in 0..f.count as usize {
            let (mut banks, mut trace, mut written) = (Vec::new(), Vec::new(), Vec::new());
            for lane in self.lanes() {
                let thread = self.thread(lane);
                let base = self.lane_value(f.addr, lane, 3)?.value;
                // The sum has 32 bits. LLVM (AMDGPU, `hasUsableDSOffset`) adds offsets to bases that may be
                // below zero on all that came after Southern Islands.
                let address = u64::from(base.wrapping_add(f.offsets[i]));
                self.check_alignment(f, address).map_err(|c| c.by(thread))?;
                if f.write {
                    let (mut data, mut tags) = (Vec::new(), Vec::new());
                    for register in f.data[i]..f.data[i] + words {
                        outgoing(
                            self.lane_value(register, lane, halves(f.part))?,
                            f.part,
                            &mut data,
                            &mut tags,
                        );
                    }
                    m.world.shared.write(thread, self.line, address, &data, &tags)?;
                    written.push((address, data, lane as u32));
                } else {
                    let (mut data, mut tags) =
                        (vec![0; f.bytes as usize], vec![0; f.bytes as usize / 2]);
                    m.world.shared.read(thread, self.line, address, &mut data, &mut tags)?;
                    fetched[lane] = (data, tags);
                }
                banks.push((lane as u32, address, f.bytes));
                trace.push((thread, address));
                pending.spans.push((thread, address, f.bytes));
            }
            if f.write {
                collisions(written).map_err(|(lane, at)| {
                    let sentence = "two lanes of the instruction write the same byte";
                    Clash::new(FaultKind::RaceWriteAfterWrite, sentence)
                        .at(at)
                        .by(self.thread(lane as usize))
                })?;
            } else {
                self.receive(m, f, i, &fetched);
            }
            let site = self.site(m);
            m.world.recorder.access(site, Space::Shared, f.write, f.bytes, trace);
            let verb = if f.write { "ds_write" } else { "ds_read" };
            let size = format!("{verb}_b{}", (f.bytes * 8).max(32));
            let exact = m.program.code[self.pc - 1].mnemonic.clone();
            m.world.recorder.transactions(site.line, &[&exact, &size], &banks);
        }
        if !f.write {
            let all = (0..f.count as usize).flat_map(|i| f.data[i]..f.data[i] + words);
            pending.vector = all.collect();
            pending.vector.iter().for_each(|&r| self.hazards.wrote(r, User::Memory));
        }
        self.issue(Queue::Lgkm, pending);
        Ok(())
    }

    /// `ds_bpermute_b32`: lane `addr / 4` is read; `ds_permute_b32`: lane `addr / 4` is written.
    pub(super) fn permute(&mut self, m: &Machine<'_, '_>, op: &Op) -> Run<()> {
        let &Op::Permute { pull, dst, addr, data, offset } = op else { unreachable!("a permute") };
        self.check_read(addr, User::Memory)?;
        self.check_read(data, User::Memory)?;
        self.check_write(dst, User::Memory, Some(Queue::Lgkm))?;
        self.hazards.advance(1);
        let mut results = Vec::new();
        for lane in self.lanes() {
            let at = self.lane_value(addr, lane, 3)?.value.wrapping_add(offset);
            // In waves of 64 lanes RDNA's halves do not see each other.
            let other = if m.program.header.gfx.is_rdna() {
                (at as usize / 4 % 32) | (lane & 32)
            } else {
                at as usize / 4 % LANES
            };
            if pull && self.exec() >> other & 1 == 0 {
                let sentence =
                    format!("lane {lane} pulls from lane {other}, which EXEC switches off");
                return Err(Clash::new(FaultKind::WarpDivergence, sentence).by(self.thread(lane)));
            }
            let (from, to) = if pull { (other, lane) } else { (lane, other) };
            results.push((to, self.tracked(data, from)));
        }
        if !pull {
            // Lanes that nobody writes become zero.
            self.lanes().for_each(|lane| self.set_lane(dst, lane, Tracked::plain(0)));
        }
        results.into_iter().for_each(|(lane, value)| self.set_lane(dst, lane, value));
        self.hazards.wrote(dst, User::Memory);
        self.issue(Queue::Lgkm, Pending { vector: vec![dst], ..self.pending() });
        Ok(())
    }

    /// A move between lanes by a fixed pattern: a vector instruction with DPP, or `ds_swizzle_b32`.
    pub(super) fn lanes_by(
        &mut self,
        pattern: super::op::Pattern,
        dst: u16,
        data: u16,
        ds: bool,
    ) -> Run<()> {
        let user = if ds { User::Memory } else { User::Dpp };
        self.check_read(data, user)?;
        self.check_write(
            dst,
            if ds { User::Memory } else { User::Valu },
            ds.then_some(Queue::Lgkm),
        )?;
        self.hazards.advance(1);
        let mut results = Vec::new();
        for lane in self.lanes() {
            let other = pattern.of(lane);
            if self.exec() >> other & 1 == 0 {
                let sentence = format!("lane {lane} reads lane {other}, which EXEC switches off");
                return Err(Clash::new(FaultKind::WarpDivergence, sentence).by(self.thread(lane)));
            }
            // What was not written of it is carried along.
            results.push((lane, self.tracked(data, other)));
        }
        results.into_iter().for_each(|(lane, value)| self.set_lane(dst, lane, value));
        self.hazards.wrote(dst, if ds { User::Memory } else { User::Valu });
        if ds {
            self.issue(Queue::Lgkm, Pending { vector: vec![dst], ..self.pending() });
        }
        Ok(())
    }

    /// `v_permlane64_b32`: the two halves of a wave exchange a register.
    pub(super) fn other_half(&mut self, dst: u16, src: u16) -> Run<()> {
        self.full("an exchange of halves")?;
        self.check_read(src, User::Valu)?;
        self.check_write(dst, User::Valu, None)?;
        self.hazards.advance(1);
        let values: Vec<Tracked> =
            (0..self.size).map(|lane| self.tracked(src, lane ^ 32)).collect();
        values.into_iter().enumerate().for_each(|(lane, value)| self.set_lane(dst, lane, value));
        self.hazards.wrote(dst, User::Valu);
        Ok(())
    }

    fn check_alignment(&self, f: &Ds, address: u64) -> Run<()> {
        let need = if f.bytes == 12 { 16 } else { f.bytes };
        if address.is_multiple_of(need.into()) {
            return Ok(());
        }
        Err(Clash::new(FaultKind::Misaligned, format!("the address must be a multiple of {need}"))
            .at(address))
    }

    fn receive(&mut self, m: &Machine<'_, '_>, f: &Ds, i: usize, fetched: &[(Vec<u8>, Vec<Tag>)]) {
        let kept = keeps_halves(m);
        for lane in self.lanes() {
            let (mut data, mut tags) = fetched[lane].clone();
            if let Some(form) = f.transpose {
                (data, tags) = transposed(form, fetched, lane as u32, f.bytes);
            }
            let words = if f.part == Part::Words { f.bytes as usize / 4 } else { 1 };
            for word in 0..words {
                let register = f.data[i] + word as u16;
                let old: Tracked = self.tracked(register, lane);
                let value = incoming(
                    &data[4 * word..],
                    tags.get(2 * word..).unwrap_or(&[]),
                    f.part,
                    old,
                    kept,
                );
                self.set_lane(register, lane, value);
            }
        }
    }
}

/// The first byte that two lanes of one write share, unless they write the same there.
fn collisions(mut spans: Vec<(u64, Vec<u8>, u32)>) -> Result<(), (u32, u64)> {
    spans.sort_unstable();
    let same = |w: &[(u64, Vec<u8>, u32)]| w[0].0 == w[1].0 && w[0].1 == w[1].1;
    match spans.windows(2).find(|w| w[0].0 + w[0].1.len() as u64 > w[1].0 && !same(w)) {
        Some(pair) => Err((pair[1].2, pair[1].0)),
        None => Ok(()),
    }
}
