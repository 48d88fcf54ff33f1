//! Vector memory: global and buffer loads and stores, and loads that go to LDS.

use super::hazard::User;
use super::op::{Gfx, Part, Place, Queue, Src, Vmem};
use super::run::Machine;
use super::tracked::Tracked;
use super::wave::{Pending, Run, Wave};
use crate::fault::{Clash, FaultKind};
use crate::report::Space;
use crate::tags::Tag;

/// What a buffer resource says.
#[derive(Clone, Copy)]
pub(super) struct Resource {
    base: u64,
    records: u64,
}

/// Halves of a register that a part needs when stored.
pub(super) fn halves(part: Part) -> u8 {
    match part {
        Part::Words => 3,
        Part::High16 | Part::Zero8To16 { high: true } | Part::Sign8To16 { high: true } => 2,
        _ => 1,
    }
}

/// The bytes and tags that a store takes from a register.
pub(super) fn outgoing(word: Tracked, part: Part, data: &mut Vec<u8>, tags: &mut Vec<Tag>) {
    match part {
        Part::Words => {
            data.extend(word.value.to_le_bytes());
            tags.extend(word.tags);
        }
        Part::High16 => {
            data.extend(&word.value.to_le_bytes()[2..]);
            tags.push(word.tags[1]);
        }
        Part::Low16 | Part::Zero16 | Part::Sign16 => {
            data.extend(&word.value.to_le_bytes()[..2]);
            tags.push(word.tags[0]);
        }
        Part::Zero8To16 { high: true } | Part::Sign8To16 { high: true } => {
            data.push((word.value >> 16) as u8)
        }
        Part::Zero8 | Part::Sign8 | Part::Zero8To16 { .. } | Part::Sign8To16 { .. } => {
            data.push(word.value as u8)
        }
    }
}

/// The register after a load of `data`; `old` supplies the other half of 16-bit loads if `kept`.
pub(super) fn incoming(data: &[u8], tags: &[Tag], part: Part, old: Tracked, kept: bool) -> Tracked {
    let half = || u32::from(u16::from_le_bytes([data[0], data[1]]));
    let tag = |i: usize| tags.get(i).copied().unwrap_or(0);
    let rest = if kept { old.defined } else { 0 };
    let (low, high) = (
        |bits: u32, tag| Tracked {
            value: old.value & 0xffff_0000 | bits,
            tags: [tag, old.tags[1]],
            defined: 1 | rest & 2,
        },
        |bits: u32, tag| Tracked {
            value: old.value & 0xffff | bits << 16,
            tags: [old.tags[0], tag],
            defined: 2 | rest & 1,
        },
    );
    match part {
        Part::Words => Tracked {
            value: u32::from_le_bytes([data[0], data[1], data[2], data[3]]),
            tags: [tag(0), tag(1)],
            defined: 3,
        },
        Part::Zero8 => Tracked::plain(data[0].into()),
        Part::Sign8 => Tracked::plain(data[0] as i8 as i32 as u32),
        Part::Zero16 => Tracked { value: half(), tags: [tag(0), 0], defined: 3 },
        Part::Sign16 => {
            Tracked { value: half() as u16 as i16 as i32 as u32, tags: [tag(0), 0], defined: 3 }
        }
        Part::Low16 => low(half(), tag(0)),
        Part::High16 => high(half(), tag(0)),
        Part::Zero8To16 { high: false } => low(data[0].into(), 0),
        Part::Zero8To16 { high: true } => high(data[0].into(), 0),
        Part::Sign8To16 { high: false } => low(u32::from(i16::from(data[0] as i8) as u16), 0),
        Part::Sign8To16 { high: true } => high(u32::from(i16::from(data[0] as i8) as u16), 0),
    }
}

/// Whether 16-bit loads keep the other half of their register.
pub(super) fn keeps_halves(m: &Machine<'_, '_>) -> bool {
    // LLVM GCNSubtarget::d16PreservesUnusedBits: not with SRAM ECC, which these parts have on
    // unless the target id says `sramecc-`.
    m.program.header.sramecc_off || m.program.header.gfx.is_rdna()
}

impl Wave {
    pub(super) fn vmem(&mut self, m: &mut Machine<'_, '_>, f: &Vmem) -> Run<()> {
        let words = f.bytes.div_ceil(4) as u16;
        self.check_address(f)?;
        let resource = if let Place::Buffer { resource, .. } = f.place {
            Some(self.resource(resource)?)
        } else {
            None
        };
        if f.to_lds {
            return self.load_to_lds(m, f, resource);
        }
        if let Some(lds) = f.lds_at {
            return self.between_memories(m, f, lds);
        }
        if f.transpose.is_some() {
            self.full("a transposing load")?;
            if self.size != 32 {
                return Err(Clash::new(
                    FaultKind::InvalidOperand,
                    "transposing loads are modelled for waves of 32 lanes",
                ));
            }
        }
        for register in f.data..f.data + words {
            if f.store {
                self.check_read(register, User::Memory)?;
            } else {
                self.check_write(register, User::Memory, Some(Queue::Vm))?;
            }
        }
        let compares = f.atomic.is_some_and(|how| how.op == crate::atomic::Combine::Cas);
        let behind = if compares { f.data + words..f.data + 2 * words } else { 0..0 };
        for register in behind.clone() {
            self.check_read(register, User::Memory)?;
        }
        let answers = f.answer.map_or(0..0, |first| first..first + words);
        for register in answers.clone() {
            self.check_write(register, User::Memory, Some(Queue::Vm))?;
        }
        self.hazards.advance(1);
        let (mut trace, mut fetched, kept) = (Vec::new(), Vec::new(), keeps_halves(m));
        for lane in self.lanes() {
            let thread = self.thread(lane);
            let address = self.vector_address(f, resource, lane)?;
            // Atomic operations want the whole word in place.
            let unit = f.atomic.map_or(f.bytes.min(4), |how| how.bytes());
            aligned(address, unit).map_err(|c| c.by(thread))?;
            let limit = resource.map_or(u64::MAX, |r| r.base.saturating_add(r.records));
            if f.store {
                let (mut data, mut tags) = (Vec::new(), Vec::new());
                for register in f.data..f.data + words {
                    outgoing(
                        self.lane_value(register, lane, halves(f.part))?,
                        f.part,
                        &mut data,
                        &mut tags,
                    );
                }
                if let Some(how) = f.atomic {
                    let words = data.iter().rev();
                    let moved = words.fold(0, |word, byte| word << 8 | u64::from(*byte));
                    let mut compared = compares.then_some(0);
                    for register in behind.clone().rev() {
                        let word = self.lane_value(register, lane, halves(f.part))?.value;
                        compared = compared.map(|all| all << 32 | u64::from(word));
                    }
                    let by = (thread, self.line);
                    let old = m.world.atomic(by, address, (moved, compared), how)?;
                    for (i, register) in answers.clone().enumerate() {
                        let word = (old >> (32 * i)) as u32;
                        self.set_lane(register, lane, Tracked::plain(word));
                    }
                    trace.push((thread, address));
                    continue;
                }
                let fits = in_range(address, f.bytes, limit);
                m.world.recorder.report.clamped += u64::from(fits < f.bytes);
                if fits > 0 {
                    let data = &data[..fits as usize];
                    m.world.store((thread, self.line), address, data, false)?;
                }
            } else {
                let (data, tags) = self.fetch(m, (thread, address), f.bytes, limit)?;
                if f.transpose.is_some() {
                    fetched.push((data, tags));
                    trace.push((thread, address));
                    continue;
                }
                for (i, register) in (f.data..f.data + words).enumerate() {
                    let old = self.tracked(register, lane);
                    let value = incoming(
                        &data[4 * i..],
                        tags.get(2 * i..).unwrap_or(&[]),
                        f.part,
                        old,
                        kept,
                    );
                    self.set_lane(register, lane, value);
                }
            }
            trace.push((thread, address));
        }
        if let Some(form) = f.transpose {
            for lane in self.lanes() {
                let (data, tags) = super::lds::transposed(form, &fetched, lane as u32, f.bytes);
                for (i, register) in (f.data..f.data + words).enumerate() {
                    let value =
                        incoming(&data[4 * i..], &tags[2 * i..], f.part, Tracked::plain(0), kept);
                    self.set_lane(register, lane, value);
                }
            }
        }
        let global = touched(&trace, f.bytes);
        m.world.recorder.access(self.site(m), Space::Global, f.store, f.bytes, trace);
        let vector: Vec<u16> =
            if f.store { Vec::new() } else { (f.data..f.data + words).collect() };
        for register in f.data..f.data + words {
            let free_of_scalar = !matches!(f.place, Place::Buffer { scalar: Src::S(_), .. });
            match f.store {
                true if f.bytes > 8 && free_of_scalar => self.hazards.stored_wide(register),
                true => {}
                false => self.hazards.wrote(register, User::Memory),
            }
        }
        for register in answers.clone() {
            self.hazards.wrote(register, User::Memory);
        }
        // What answers counts as loads do.
        let is_store = f.store && f.answer.is_none();
        let queue = if is_store && m.program.header.gfx.is_rdna() { Queue::Vs } else { Queue::Vm };
        let vector = if f.answer.is_some() { answers.collect() } else { vector };
        self.issue(queue, Pending { vector, global, stores: f.store, ..self.pending() });
        Ok(())
    }

    /// Registers that make the address.
    fn check_address(&self, f: &Vmem) -> Run<()> {
        let (vector, scalar): (Vec<u16>, Vec<u8>) = match f.place {
            Place::Flat(v) => (vec![v, v + 1], vec![]),
            Place::Based { base, offset } => (offset.into_iter().collect(), vec![base, base + 1]),
            Place::Buffer { resource, offset, scalar } => {
                let mut all: Vec<u8> = (resource..resource + 4).collect();
                if let Src::S(s) = scalar {
                    all.push(s);
                }
                (offset.into_iter().collect(), all)
            }
        };
        vector.into_iter().try_for_each(|r| self.check_read(r, User::Memory))?;
        scalar.into_iter().try_for_each(|r| {
            self.scalar(r)?;
            self.hazards.memory_reads_scalar(r)
        })
    }

    fn resource(&self, first: u8) -> Run<Resource> {
        let w = [
            self.scalar(first)?,
            self.scalar(first + 1)?,
            self.scalar(first + 2)?,
            self.scalar(first + 3)?,
        ];
        let stride = w[1] >> 16 & 0x3fff;
        if stride != 0 || w[1] >> 30 != 0 || w[3] >> 23 & 1 != 0 {
            let sentence = "only raw buffer resources (stride 0, no swizzle) are modelled";
            return Err(Clash::new(FaultKind::InvalidOperand, sentence));
        }
        Ok(Resource {
            base: u64::from(w[0]) | u64::from(w[1] & 0xffff) << 32,
            records: w[2].into(),
        })
    }

    pub(super) fn vector_address(
        &self,
        f: &Vmem,
        resource: Option<Resource>,
        lane: usize,
    ) -> Run<u64> {
        let offset_of = |v: Option<u16>| {
            v.map_or(Ok(0), |v| self.lane_value(v, lane, 3).map(|t| u64::from(t.value)))
        };
        Ok(match f.place {
            Place::Flat(v) => {
                let (low, high) =
                    (self.lane_value(v, lane, 3)?.value, self.lane_value(v + 1, lane, 3)?.value);
                (u64::from(low) | u64::from(high) << 32).wrapping_add(f.offset as u64)
            }
            Place::Based { base, offset } => {
                let base = self.scalar_src(Src::S(base), 2)?;
                base.wrapping_add(offset_of(offset)?).wrapping_add(f.offset as u64)
            }
            Place::Buffer { offset, scalar, .. } => {
                let base = resource.map_or(0, |r| r.base);
                base.wrapping_add(
                    offset_of(offset)? + self.scalar_src(scalar, 1)? + f.offset as u64,
                )
            }
        })
    }

    /// Reads global bytes; what lies beyond `limit` reads as zero.
    fn fetch(
        &self,
        m: &mut Machine<'_, '_>,
        (thread, address): (u32, u64),
        bytes: u32,
        limit: u64,
    ) -> Run<(Vec<u8>, Vec<Tag>)> {
        let (mut data, mut tags) = (vec![0; bytes as usize], vec![0; bytes as usize / 2]);
        let fits = in_range(address, bytes, limit) as usize;
        m.world.recorder.report.clamped += u64::from(fits < bytes as usize);
        if fits > 0 {
            let by = (thread, self.line);
            m.world.load(by, address, &mut data[..fits], &mut tags[..fits / 2])?;
        }
        Ok((data, tags))
    }

    /// LDS address = M0 + instruction offset + 4 or 16 bytes a lane; narrow loads fill a dword.
    fn load_to_lds(
        &mut self,
        m: &mut Machine<'_, '_>,
        f: &Vmem,
        resource: Option<Resource>,
    ) -> Run<()> {
        let base = self.m0()?;
        self.hazards.advance(1);
        if base % 4 != 0 {
            return Err(
                Clash::new(FaultKind::Misaligned, "m0 must be a multiple of 4").at(base.into())
            );
        }
        if m.program.header.gfx < Gfx::Gfx950 && base > 0xffff {
            return Err(
                Clash::new(FaultKind::SharedOutOfBounds, "m0 has 16 bits here").at(base.into())
            );
        }
        let step = if f.bytes > 4 { 16 } else { 4 };
        let (mut pieces, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
        for lane in self.lanes() {
            let thread = self.thread(lane);
            let address = self.vector_address(f, resource, lane)?;
            // Atomic operations want the whole word in place.
            let unit = f.atomic.map_or(f.bytes.min(4), |how| how.bytes());
            aligned(address, unit).map_err(|c| c.by(thread))?;
            let limit = resource.map_or(u64::MAX, |r| r.base.saturating_add(r.records));
            let (mut data, mut tags) = self.fetch(m, (thread, address), f.bytes, limit)?;
            if f.bytes < 4 {
                let word = incoming(&data, &tags, f.part, Tracked::plain(0), true);
                (data, tags) = (word.value.to_le_bytes().to_vec(), word.tags.to_vec());
            }
            let target =
                (u64::from(base)).wrapping_add(f.offset as u64).wrapping_add(step * lane as u64);
            from.push((thread, address));
            to.push((thread, target));
            pieces.push((thread, target, data, tags));
        }
        self.check_overwrite(&pieces)?;
        let copy = m.world.shared.begin_copy(self.line, &pieces)?;
        let site = self.site(m);
        let bytes = f.bytes.max(4);
        let banks: Vec<_> = pieces.iter().map(|p| (p.0 % 64, p.1, bytes)).collect();
        let global = touched(&from, f.bytes);
        m.world.recorder.access(site, Space::Global, false, f.bytes, from);
        m.world.recorder.access(site, Space::Shared, true, bytes, to);
        m.world.recorder.transactions(site.line, &[&format!("load_lds_b{}", bytes * 8)], &banks);
        self.issue(Queue::Vm, Pending { copy: Some(copy), global, ..self.pending() });
        Ok(())
    }

    /// LDS operations and loads to LDS are not ordered with each other, even in one wave.
    pub(super) fn check_overwrite(&self, pieces: &[(u32, u64, Vec<u8>, Vec<Tag>)]) -> Run<()> {
        for pending in self.queue(Queue::Lgkm) {
            for &(_, start, len) in &pending.spans {
                let hit = pieces
                    .iter()
                    .find(|p| p.1 < start + u64::from(len) && start < p.1 + p.2.len() as u64);
                if let Some(piece) = hit {
                    let sentence = format!(
                        "a load to LDS overwrites bytes of the LDS access at line {}, which has not been waited for",
                        pending.line
                    );
                    return Err(Clash::new(FaultKind::AsyncOverwrite, sentence)
                        .at(piece.1)
                        .by(piece.0));
                }
            }
        }
        Ok(())
    }
}

/// Spans of lanes that touch as many bytes each.
pub(super) fn touched(trace: &[(u32, u64)], bytes: u32) -> Vec<(u32, u64, u32)> {
    trace.iter().map(|&(thread, address)| (thread, address, bytes)).collect()
}

/// How many of `bytes` lie below `limit`, in whole dwords.
fn in_range(address: u64, bytes: u32, limit: u64) -> u32 {
    let room = limit.saturating_sub(address);
    if room >= u64::from(bytes) { bytes } else { room as u32 / 4 * 4 }
}

fn aligned(address: u64, bytes: u32) -> Run<()> {
    let bytes = if bytes == 3 { 4 } else { bytes };
    if address.is_multiple_of(bytes.into()) {
        return Ok(());
    }
    Err(Clash::new(FaultKind::Misaligned, format!("the address must be a multiple of {bytes}"))
        .at(address))
}
