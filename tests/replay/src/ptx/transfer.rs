//! PTX loads, stores and asynchronous copies.

use super::op::{Addr, Reg, Src, Ty, Where};
use super::parse::SHARED_BASE;
use super::register::Cell;
use super::run::{Machine, Run, Warp, lanes};
use crate::fault::{Clash, FaultKind};
use crate::report::Space;
use crate::tags::Tag;

/// Generic addresses of shared memory start here.
const SHARED_WINDOW: u64 = 0x7000_0000_0000;

/// Generic addresses of parameters start here.
pub(super) const PARAM_WINDOW: u64 = 0x7100_0000_0000;

/// `cvta` and `cvta.to`.
pub(super) fn convert_address(to_space: bool, space: Where, value: u64) -> Run<u64> {
    match (space, to_space) {
        (Where::Shared, false) => Ok(SHARED_WINDOW + value),
        (Where::Param, false) => Ok(PARAM_WINDOW + value),
        (Where::Shared, true) => value.checked_sub(SHARED_WINDOW).ok_or_else(|| {
            Clash::new(
                FaultKind::InvalidOperand,
                "this generic address is not in the shared window",
            )
            .at(value)
        }),
        _ => Ok(value),
    }
}

/// Space and address in it.
fn resolve(space: Where, address: u64) -> (Space, u64) {
    match space {
        Where::Shared => (Space::Shared, address),
        Where::Generic if address >= SHARED_WINDOW => (Space::Shared, address - SHARED_WINDOW),
        _ => (Space::Global, address),
    }
}

fn aligned(address: u64, bytes: u32) -> Run<()> {
    if address.is_multiple_of(bytes.into()) {
        return Ok(());
    }
    Err(Clash::new(FaultKind::Misaligned, format!("the address must be a multiple of {bytes}"))
        .at(address))
}

fn rule(verb: &str, bytes: u32) -> String {
    format!("{verb}.shared.{}", bytes * 8)
}

fn value_of(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, &b| sum << 8 | u64::from(b))
}

fn tags_at(tags: &[Tag], unit: usize) -> [Tag; 4] {
    std::array::from_fn(|i| tags.get(unit + i).copied().unwrap_or(0))
}

impl Warp {
    pub(super) fn load(
        &mut self,
        m: &mut Machine<'_, '_>,
        space: Where,
        ty: Ty,
        dst: &[Reg],
        addr: Addr,
        on: u32,
    ) -> Run<()> {
        let one = ty.bytes() as usize;
        let bytes = one * dst.len();
        let line = self.site(m).line;
        let (mut trace, mut banks, mut place) = (Vec::new(), Vec::new(), Space::Global);
        for lane in lanes(on) {
            let thread = self.thread(lane);
            let (space, address) = resolve(space, self.address(m, lane, addr)?);
            aligned(address, bytes as u32).map_err(|c| c.by(thread))?;
            let (mut data, mut tags) = ([0u8; 16], [0 as Tag; 8]);
            let tags_len = bytes / 2;
            if space == Space::Shared {
                m.world.shared.read(
                    thread,
                    line,
                    address,
                    &mut data[..bytes],
                    &mut tags[..tags_len],
                )?;
                banks.push((lane as u32, address, bytes as u32));
            } else {
                m.check_stored(thread, address, bytes as u64, false)?;
                m.world.load((thread, line), address, &mut data[..bytes], &mut tags[..tags_len])?;
            }
            (place, _) = (space, trace.push((thread, address)));
            for (i, reg) in dst.iter().enumerate() {
                self.set_from(
                    lane,
                    *reg,
                    ty,
                    &data[i * one..(i + 1) * one],
                    tags_at(&tags[..tags_len], i * one / 2),
                    &tags[..tags_len],
                );
            }
        }
        m.world.recorder.access(self.site(m), place, false, bytes as u32, trace);
        m.world.recorder.transactions(line, &[&rule("ld", bytes as u32)], &banks);
        Ok(())
    }

    fn set_from(
        &mut self,
        lane: usize,
        reg: Reg,
        ty: Ty,
        data: &[u8],
        mut tags: [Tag; 4],
        all: &[Tag],
    ) {
        for tag in tags.iter_mut().skip((data.len() / 2).max(1)) {
            *tag = 0;
        }
        if data.len() == 16 {
            self.set(lane, reg, Cell::new(value_of(&data[..8]), tags_at(all, 0)));
            self.set(
                lane,
                Reg { cell: reg.cell + 1, bits: 64 },
                Cell::new(value_of(&data[8..]), tags_at(all, 4)),
            );
            return;
        }
        let value = value_of(data);
        let value = if ty.is_signed() { super::alu::widen(value, ty) as u64 } else { value };
        self.set(lane, reg, Cell::new(value, tags));
    }

    pub(super) fn store(
        &mut self,
        m: &mut Machine<'_, '_>,
        space: Where,
        ty: Ty,
        src: &[Src],
        addr: Addr,
        on: u32,
    ) -> Run<()> {
        let one = ty.bytes() as usize;
        let bytes = one * src.len();
        let line = self.site(m).line;
        let (mut trace, mut banks, mut place) = (Vec::new(), Vec::new(), Space::Global);
        for lane in lanes(on) {
            let thread = self.thread(lane);
            let (space, address) = resolve(space, self.address(m, lane, addr)?);
            aligned(address, bytes as u32).map_err(|c| c.by(thread))?;
            let (mut data, mut tags) = (Vec::with_capacity(16), Vec::with_capacity(8));
            for source in src {
                let cell = self.get(m, lane, *source)?;
                data.extend_from_slice(&cell.value.to_le_bytes()[..one.min(8)]);
                tags.extend_from_slice(&cell.tags[..(one / 2).min(4)]);
                if let (16, Src::Reg(reg)) = (one, source) {
                    let high = self.get(m, lane, Src::Reg(Reg { cell: reg.cell + 1, bits: 64 }))?;
                    data.extend_from_slice(&high.value.to_le_bytes());
                    tags.extend_from_slice(&high.tags);
                }
            }
            if space == Space::Shared {
                m.world.shared.write(thread, line, address, &data, &tags)?;
                banks.push((lane as u32, address, bytes as u32));
            } else {
                m.check_stored(thread, address, data.len() as u64, true)?;
                m.world.store((thread, line), address, &data, false)?;
            }
            (place, _) = (space, trace.push((thread, address)));
        }
        m.world.recorder.access(self.site(m), place, true, bytes as u32, trace);
        m.world.recorder.transactions(line, &[&rule("st", bytes as u32)], &banks);
        Ok(())
    }

    /// `red`, `atom` that answers nothing: a word of each lane is combined with one of global
    /// memory.
    pub(super) fn reduce(
        &mut self,
        m: &mut Machine<'_, '_>,
        how: crate::atomic::Atomic,
        (dst, src, compared): (Option<Reg>, Src, Option<Src>),
        addr: Addr,
        on: u32,
    ) -> Run<()> {
        let (line, bytes) = (self.site(m).line, how.bytes());
        let mut trace = Vec::new();
        for lane in lanes(on) {
            let thread = self.thread(lane);
            let (space, address) = resolve(Where::Global, self.address(m, lane, addr)?);
            aligned(address, bytes).map_err(|c| c.by(thread))?;
            assert_eq!(space, Space::Global, "`red` names its space");
            let moved = self.get(m, lane, src)?.value;
            let compared = compared.map(|src| self.get(m, lane, src)).transpose()?;
            let compared = compared.map(|cell| cell.value);
            m.check_stored(thread, address, bytes.into(), true)?;
            let old = m.world.atomic((thread, line), address, (moved, compared), how)?;
            if let Some(dst) = dst {
                self.set(lane, dst, Cell::new(old, [0; 4]));
            }
            trace.push((thread, address));
        }
        m.world.recorder.access(self.site(m), Space::Global, true, bytes, trace);
        Ok(())
    }

    /// `cp.async`: the data arrive when the issuing thread has waited for the group.
    pub(super) fn copy(
        &mut self,
        m: &mut Machine<'_, '_>,
        bytes: u32,
        [dst, src]: [Addr; 2],
        src_bytes: Option<Src>,
        on: u32,
    ) -> Run<()> {
        let line = self.site(m).line;
        let (mut from, mut to, mut banks) = (Vec::new(), Vec::new(), Vec::new());
        for lane in lanes(on) {
            let thread = self.thread(lane);
            let (source, target) = (self.address(m, lane, src)?, self.address(m, lane, dst)?);
            aligned(source, bytes).and(aligned(target, bytes)).map_err(|c| c.by(thread))?;
            let given = match src_bytes {
                Some(s) => self.get(m, lane, s)?.value as u32,
                None => bytes,
            };
            if given > bytes {
                return Err(Clash::new(
                    FaultKind::InvalidOperand,
                    format!("{given} source bytes of a copy of {bytes}"),
                )
                .by(thread));
            }
            let (mut data, mut tags) = (vec![0; bytes as usize], vec![0; bytes as usize / 2]);
            if given > 0 {
                m.check_stored(thread, source, given.into(), false)?;
                let read = m.world.memory.read(
                    source,
                    &mut data[..given as usize],
                    &mut tags[..given as usize / 2],
                );
                read.map_err(|c| c.by(thread))?;
                from.push((thread, source));
            }
            let id = m.world.shared.begin_copy(line, &[(thread, target, data, tags)])?;
            if given > 0 {
                m.world.load_for_copy((thread, line), id, (source, given.into()))?;
            }
            self.copies[lane].open.push(id);
            to.push((thread, target));
            banks.push((lane as u32, target, bytes));
        }
        m.world.recorder.access(self.site(m), Space::Global, false, bytes, from);
        m.world.recorder.access(self.site(m), Space::Shared, true, bytes, to);
        m.world.recorder.transactions(
            line,
            &[&format!("cp.async.{bytes}"), &rule("st", bytes)],
            &banks,
        );
        Ok(())
    }
}

const _: () = assert!(SHARED_BASE < 1 << 16);
