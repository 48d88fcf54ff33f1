//! PTX `mbarrier` and `cp.async.bulk.tensor`: copies of boxes by one thread, and the barriers that
//! they complete on.

use super::decode::{Decoded, Words, addr, reg, src, srcs, want};
use super::op::{Addr, Op, Src};
use super::parse::Operand;
use super::phase::Done;
use super::run::{Machine, Run, Warp, lanes};
use super::transfer::PARAM_WINDOW;
use crate::fault::{Clash, FaultKind};
use crate::report::Space;
use crate::tensor::{TensorMap, map_at};

/// Alignment of a box in shared memory.
const BOX_ALIGN: u64 = 128;
/// Bytes of which a box begins at a multiple within a row of the tensor, measured on an H100.
const CORNER_ALIGN: i64 = 16;

fn in_shared(w: &mut Words<'_>) -> Decoded<()> {
    let found = w.pick(|x| ["shared", "shared::cta"].contains(&x).then_some(()));
    found.ok_or("expected the suffix `.shared`".to_string())
}

pub(super) fn mbarrier(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    if w.take("init") {
        in_shared(w)?;
        w.require("b64")?;
        want(o, 2..=2)?;
        return Ok(Op::MakeBarrier { addr: addr(&o[0])?, count: src(&o[1])? });
    }
    if w.take("arrive") {
        if !w.take("expect_tx") {
            in_shared(w)?;
            w.require("b64")?;
            want(o, 2..=2)?;
            if !matches!(o[0], Operand::Sink) {
                return Err("states of barriers are not modelled: write `_`".to_string());
            }
            return Ok(Op::Arrive { addr: addr(&o[1])? });
        }
        in_shared(w)?;
        w.require("b64")?;
        want(o, 3..=3)?;
        if !matches!(o[0], Operand::Sink) {
            return Err("states of barriers are not modelled: write `_`".to_string());
        }
        return Ok(Op::Announce { addr: addr(&o[1])?, bytes: src(&o[2])? });
    }
    if w.take("try_wait") {
        w.require("parity")?;
        in_shared(w)?;
        w.require("b64")?;
        want(o, 3..=3)?;
        return Ok(Op::TryWait { done: reg(&o[0])?, addr: addr(&o[1])?, parity: src(&o[2])? });
    }
    Err("this form of mbarrier is not modelled".to_string())
}

/// What follows `cp.async.bulk.tensor`.
pub(super) fn copy(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    let rank = w
        .pick(|x| x.strip_suffix('d').and_then(|n| n.parse::<usize>().ok()))
        .ok_or("expected .1d to .5d")?;
    let boxed = |operand: &Operand| {
        let Operand::Tensor(map, at) = operand else {
            return Err("expected [map, {coordinates}]".to_string());
        };
        let at = srcs(&Operand::Vector(at.clone()))?;
        if at.len() == rank {
            Ok((*map, at))
        } else {
            Err(format!("{} coordinates for {rank} dimensions", at.len()))
        }
    };
    if w.rest.first() == Some(&"global") {
        for word in ["global", "shared::cta", "tile", "bulk_group"] {
            w.require(word)?;
        }
        want(o, 2..=2)?;
        let (map, at) = boxed(&o[0])?;
        return Ok(Op::TensorStore { map, at, src: addr(&o[1])? });
    }
    for word in ["global", "tile", "mbarrier::complete_tx::bytes"] {
        w.require(word)?;
    }
    if w.pick(|x| ["shared::cluster", "shared::cta"].contains(&x).then_some(())).is_none() {
        return Err("only copies between global and shared memory are modelled".to_string());
    }
    want(o, 3..=3)?;
    let (map, at) = boxed(&o[1])?;
    Ok(Op::TensorCopy { dst: addr(&o[0])?, map, at, barrier: addr(&o[2])? })
}

impl Warp {
    pub(super) fn make_barrier(
        &mut self,
        m: &mut Machine<'_, '_>,
        addr: Addr,
        count: Src,
        on: u32,
    ) -> Run<()> {
        let line = self.site(m).line;
        for lane in lanes(on) {
            let (address, count) = (self.address(m, lane, addr)?, self.get(m, lane, count)?.value);
            m.world.shared.make_barrier(self.thread(lane), line, address, count)?;
        }
        Ok(())
    }

    pub(super) fn announce(
        &mut self,
        m: &mut Machine<'_, '_>,
        addr: Addr,
        bytes: Src,
        on: u32,
    ) -> Run<()> {
        for lane in lanes(on) {
            let (address, bytes) = (self.address(m, lane, addr)?, self.get(m, lane, bytes)?.value);
            m.world.shared.announce(self.thread(lane), address, bytes)?;
        }
        Ok(())
    }

    /// Threads of a warp arrive. What the warp did before is ordered before what waits for this
    /// phase, if all of it arrives.
    pub(super) fn arrive_all(&mut self, m: &mut Machine<'_, '_>, addr: Addr, on: u32) -> Run<()> {
        let whole = on == self.live;
        let clock = m.world.shared.release(self.index as usize);
        for lane in lanes(on) {
            let at = self.address(m, lane, addr)?;
            let done =
                Done { clock: if whole { clock.clone() } else { vec![] }, ..Done::default() };
            m.arrived(self.thread(lane), at, done)?;
        }
        Ok(())
    }

    /// Waits for a phase: `false`: it is not over, and the warp tries again when something has
    /// happened.
    pub(super) fn try_wait(
        &mut self,
        m: &mut Machine<'_, '_>,
        done: super::op::Reg,
        addr: Addr,
        parity: Src,
        on: u32,
    ) -> Run<bool> {
        let mut places = Vec::new();
        for lane in lanes(on) {
            let (address, parity) =
                (self.address(m, lane, addr)?, self.get(m, lane, parity)?.value);
            if !m.world.shared.is_over(self.thread(lane), address, parity)? {
                self.blocked = Some(address);
                return Ok(false);
            }
            places.push((lane, address));
        }
        for (lane, address) in places {
            // Only a warp that waits as a whole counts as one that has.
            if on == self.live {
                m.world.shared.see(self.thread(lane), address)?;
                self.learn(m, address);
            }
            self.set(lane, done, super::register::Cell::plain(1));
        }
        Ok(true)
    }

    /// The map that an instruction names and where it points it, for a tile at an address.
    pub(super) fn boxed(
        &self,
        m: &Machine<'_, '_>,
        lane: usize,
        tile: u64,
        map: Addr,
        at: &[Src],
    ) -> Run<(TensorMap, Vec<i32>)> {
        let thread = self.thread(lane);
        let map = map_at(m.params, PARAM_WINDOW, self.address(m, lane, map)?)
            .map_err(|c| c.by(thread))?;
        let at: Vec<i32> =
            at.iter().map(|s| self.get(m, lane, *s).map(|c| c.value as i32)).collect::<Run<_>>()?;
        if at.len() != usize::from(map.rank) {
            let sentence = format!("{} coordinates, the map has {} dimensions", at.len(), map.rank);
            return Err(Clash::new(FaultKind::InvalidOperand, sentence).by(thread));
        }
        let begins = i64::from(at[0]) * i64::from(map.element_bytes);
        if begins % CORNER_ALIGN != 0 {
            return Err(Clash::new(
                FaultKind::Misaligned,
                format!(
                    "a box begins at a multiple of {CORNER_ALIGN} bytes in its row, not at {begins}"
                ),
            )
            .at(tile)
            .by(thread));
        }
        if !tile.is_multiple_of(BOX_ALIGN) {
            return Err(Clash::new(
                FaultKind::Misaligned,
                format!("a box starts at a multiple of {BOX_ALIGN}"),
            )
            .at(tile)
            .by(thread));
        }
        Ok((map, at))
    }

    pub(super) fn tensor_copy(
        &mut self,
        m: &mut Machine<'_, '_>,
        [dst, map, barrier]: [Addr; 3],
        at: &[Src],
        on: u32,
    ) -> Run<()> {
        let line = self.site(m).line;
        for lane in lanes(on) {
            let thread = self.thread(lane);
            let (tile, barrier) = (self.address(m, lane, dst)?, self.address(m, lane, barrier)?);
            let (map, at) = self.boxed(m, lane, tile, map, at)?;
            let row_bytes = usize::from(map.boxed[0]) * usize::from(map.element_bytes);
            let mut rows = Vec::new();
            for row in map.rows(&at) {
                m.world.recorder.report.clamped +=
                    u64::from(!map.bounded && row.is_none_or(|(.., len)| len < row_bytes));
                let (mut data, mut tags) = (vec![0; row_bytes], vec![0; row_bytes / 2]);
                if let Some((address, skip, len)) = row {
                    m.check_stored(thread, address, len as u64, false)?;
                    m.world.load_by_unit(
                        (thread, line),
                        (barrier, address),
                        &mut data[skip..skip + len],
                        &mut tags[skip / 2..(skip + len) / 2],
                    )?;
                }
                rows.push((data, tags));
            }
            let mut pieces = Vec::new();
            for (number, (data, tags)) in rows.iter().enumerate() {
                for (from, address) in map.pieces(tile, number) {
                    pieces.push((address, &data[from..from + 8], &tags[from / 2..from / 2 + 4]));
                }
            }
            let copied = m.world.shared.unit_copy(thread, line, &pieces, barrier)?;
            m.complete_later(barrier, copied);
            m.world.recorder.access(
                self.site(m),
                Space::Shared,
                true,
                map.box_bytes(),
                vec![(thread, tile)],
            );
        }
        Ok(())
    }
}
