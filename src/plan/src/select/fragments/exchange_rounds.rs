//! An exchange in rounds: parts of a tile that every thread has in registers of their own before and
//! behind go through the same bytes of shared memory, one after the other.

use crate::data::{HalfPlan, MAX_ROUND_BITS, PlanError, SharedExchange};
use crate::select::planner::Planner;
use lanebook_ir::{Op, Value, attr_names};
use lanebook_tables::BankModel;
use lanebook_tile::map::{Fragment, Subspace};

/// `place` without its bit `p`: those above move down.
fn without(place: u32, p: u32) -> u32 {
    let below = 1u32.checked_shl(p).unwrap_or(0).wrapping_sub(1);
    (place & below) | (place.wrapping_shr(1) & !below)
}

fn bit(n: u32) -> u32 {
    1u32.checked_shl(n).unwrap_or(0)
}

/// The number of the instance bit that alone moves elements with a bit of their number; `None` if
/// lanes, warps, or the registers of one instruction differ in it, too.
fn instance_bit(half: &HalfPlan, side: &Fragment, element: u32) -> Option<usize> {
    let shared = side.lane.as_slice().iter().chain(side.warp.as_slice());
    if shared.into_iter().any(|e| e & element != 0) {
        return None;
    }
    let mut own = (0u8..).zip(side.register.as_slice()).filter(|(_, e)| **e & element != 0);
    let (column, _) = own.next()?;
    if own.next().is_some() {
        return None;
    }
    // Registers of 32 bits are counted.
    let inside = u8::try_from(side.place_bits().checked_ilog2()?).ok()?;
    let place = column.checked_add(inside)?.checked_sub(5)?;
    half.tiling.instance_registers.as_slice().iter().position(|register| *register == place)
}

/// Puts an instance bit last.
fn put_last(half: &mut HalfPlan, at: usize) {
    let tiling = &mut half.tiling;
    turn(tiling.instances.as_mut_slice().get_mut(at..).unwrap_or_default());
    turn(tiling.instance_registers.as_mut_slice().get_mut(at..).unwrap_or_default());
}

/// The first of a list becomes its last.
fn turn<T>(list: &mut [T]) {
    for at in 1..list.len() {
        let behind = list.get_mut(at.saturating_sub(1)..=at);
        if let Some([a, b]) = behind {
            core::mem::swap(a, b);
        }
    }
}

/// Takes a bit out of every place that a half names.
fn narrow(half: &mut HalfPlan, p: u32) {
    let tiling = &mut half.tiling;
    let columns = (tiling.address_lanes.as_mut_slice().iter_mut())
        .chain(tiling.warps.as_mut_slice())
        .chain(tiling.instances.as_mut_slice())
        .chain(core::iter::once(&mut tiling.second));
    columns.for_each(|place| *place = without(*place, p));
}

impl Planner<'_, '_, '_, '_> {
    /// As few rounds as the bytes allow that there are for it.
    ///
    /// # Errors
    /// There are too few even for as many rounds as it can go in.
    #[inline(never)]
    pub(super) fn fit_rounds(
        &self,
        exchange: &mut SharedExchange,
        value: Value,
    ) -> Result<(), PlanError> {
        let op = exchange.op;
        let room = self.scratch_room(op, value);
        while exchange.bytes() > room {
            if !self.double_rounds(exchange) {
                let (need, have) = (exchange.bytes(), room);
                return Err(match need > self.written_room(op) {
                    true => PlanError::Scratch { op, need, have: self.written_room(op) },
                    false => PlanError::SharedMemory { op, need, have },
                });
            }
        }
        Ok(())
    }

    /// Bytes that an operation may take by its own word.
    fn written_room(&self, op: Op) -> u32 {
        let written = self.program.int_attr(op, attr_names::SCRATCH);
        written.map_or(u32::MAX, |bytes| u32::try_from(bytes).unwrap_or(0))
    }

    /// Bytes that there are for an exchange.
    pub(super) fn scratch_room(&self, op: Op, value: Value) -> u32 {
        self.limits.of(value).min(self.written_room(op))
    }

    /// Lets an exchange go in twice as many rounds, if it can: half the bytes, and every access as
    /// many passes as before.
    #[inline(never)]
    pub(super) fn double_rounds(&self, exchange: &mut SharedExchange) -> bool {
        let shape = exchange.from.shape;
        if exchange.rounds.len() >= MAX_ROUND_BITS || shape.grid.count() != 1 {
            return false;
        }
        for k in (0..u32::from(shape.total())).rev() {
            let element = bit(k);
            if exchange.rounds.as_slice().contains(&element) {
                continue;
            }
            let stored = instance_bit(&exchange.store, &exchange.from, element);
            let loaded = instance_bit(&exchange.load, &exchange.to, element);
            let (Some(stored), Some(loaded)) = (stored, loaded) else { continue };
            let Some(p) = self.spare_bit(exchange, element) else { continue };
            if !exchange.rounds.push(element) {
                return false;
            }
            put_last(&mut exchange.store, stored);
            put_last(&mut exchange.load, loaded);
            narrow(&mut exchange.store, p);
            narrow(&mut exchange.load, p);
            let places = exchange.basis.places.as_mut_slice();
            places.iter_mut().for_each(|place| *place = without(*place, p));
            return true;
        }
        false
    }

    /// Whether a half's instruction reaches its places without the bit `p`: how far a second place, or
    /// lanes that lie at known steps, are away is in its encoding.
    fn reaches(&self, half: &HalfPlan, stores: bool, p: u32) -> bool {
        let stays = |place: &u32| without(*place, p) == *place;
        let mut movers = self.movers(stores).iter();
        let is_fixed = movers.any(|mover| mover.atom == half.atom && mover.is_fixed);
        let tiling = &half.tiling;
        stays(&tiling.second) && (!is_fixed || tiling.address_lanes.as_slice().iter().all(stays))
    }

    /// The highest bit of a place without which those elements of a round that lack `element` still
    /// have places of their own: above all that say which bank, so that no access gets slower.
    fn spare_bit(&self, exchange: &SharedExchange, element: u32) -> Option<u32> {
        let shape = exchange.from.shape;
        let bytes = u32::from(shape.bits / 8);
        let rounds = u8::try_from(exchange.rounds.len()).ok()?;
        let top = u32::from(shape.total().checked_sub(rounds)?);
        let span = |model: &BankModel<'_>| {
            u32::from(model.banks).saturating_mul(u32::from(model.bank_bytes))
        };
        let models = self.target.arch.banks.iter().map(span);
        let least = models.max().unwrap_or(0).checked_div(bytes)?.checked_ilog2()?;
        (least..top).rev().find(|p| {
            if !self.reaches(&exchange.store, true, *p) || !self.reaches(&exchange.load, false, *p)
            {
                return false;
            }
            let mut span = Subspace::new();
            (0u32..).zip(exchange.basis.places.as_slice()).all(|(k, place)| {
                let is_left = bit(k) != element && !exchange.rounds.as_slice().contains(&bit(k));
                !is_left || span.insert(without(*place, *p), 0)
            })
        })
    }
}
