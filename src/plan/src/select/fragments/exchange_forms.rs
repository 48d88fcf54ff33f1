//! What becomes of a side of an exchange before its store or behind its load: its elements in another
//! order among a lane's registers, each in one of its own, or those that the other side packs brought
//! together from several lanes.

use crate::data::ShufflePlan;
use crate::select::fragments::reduce::ExchangeSides;
use crate::select::planner::Planner;
use lanebook_ir::Op;
use lanebook_tile::map::{BitMatrix, Fragment};

/// A side of an exchange as its instruction finds or leaves it, and what is done inside each lane
/// between that and the distribution that there is.
pub(super) struct SideForm {
    pub(super) fragment: Fragment,
    pub(super) lanes: Option<ShufflePlan>,
    pub(super) cost: u32,
}

/// Which form a side has.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum FormKind {
    /// As it is.
    Same,
    /// Its registers' elements in the order in which the other side has them.
    AsOther,
    /// Those first that the other side has in registers, too.
    CommonFirst,
    /// Each element in a register of its own.
    PlaceEach,
    /// What the other side has side by side in a register brought there from other lanes, so that
    /// whole registers go through shared memory.
    LanesPacked,
}

/// The forms of both sides that are tried, in order.
pub(super) const FORMS: [(FormKind, FormKind); 11] = [
    (FormKind::Same, FormKind::Same),
    (FormKind::AsOther, FormKind::Same),
    (FormKind::Same, FormKind::AsOther),
    (FormKind::AsOther, FormKind::CommonFirst),
    (FormKind::PlaceEach, FormKind::Same),
    (FormKind::Same, FormKind::PlaceEach),
    (FormKind::PlaceEach, FormKind::CommonFirst),
    (FormKind::CommonFirst, FormKind::PlaceEach),
    (FormKind::PlaceEach, FormKind::PlaceEach),
    (FormKind::LanesPacked, FormKind::Same),
    (FormKind::Same, FormKind::LanesPacked),
];

/// Columns with those of `first` in front, in its order.
fn ordered(columns: &[u32], first: &[u32]) -> BitMatrix<u32, 12> {
    let mut out = BitMatrix::new();
    let front = first.iter().filter(|e| columns.contains(e));
    for &e in front.chain(columns.iter().filter(|e| !first.contains(e))) {
        let _ = out.push(e);
    }
    out
}

/// Brings what `other` has side by side in a register into the registers of `own`: a bit of those
/// changes places with each bit of the lanes that is meant, if possible one that `other` has not in
/// registers. Whether there is any.
fn pack_lanes(own: &mut Fragment, other: &Fragment) -> bool {
    let packed = other.register.as_slice().get(..usize::from(other.packing())).unwrap_or_default();
    let mut any = false;
    for &e in packed {
        let Some(lane) = own.lane.as_mut_slice().iter_mut().find(|column| **column == e) else {
            continue;
        };
        let registers = own.register.as_mut_slice();
        let is_free = |column: &u32| !packed.contains(column);
        let apart = |column: &u32| is_free(column) && !other.register.as_slice().contains(column);
        let at = registers.iter().rposition(apart).or(registers.iter().rposition(is_free));
        let Some(register) = at.and_then(|at| registers.get_mut(at)) else { return false };
        core::mem::swap(lane, register);
        any = true;
    }
    own.register = ordered(own.register.as_slice(), other.register.as_slice());
    any
}

impl Planner<'_, '_, '_, '_> {
    /// Registers that a tile and what it becomes inside each lane or warp may have together.
    pub(super) fn most_packed(&self) -> u32 {
        let percent = self.target.tables.weights.packed_percent;
        u32::from(self.target.isa.tile_most()).saturating_mul(percent).div_ceil(100)
    }

    /// A side's form; `None` if there is none, or it is no other than the side as it is.
    #[inline(never)]
    pub(super) fn form(
        &self,
        op: Op,
        between: &ExchangeSides,
        stores: bool,
        forms: (FormKind, FormKind),
    ) -> Option<SideForm> {
        let (own, other, kind) = if stores {
            (&between.from, &between.to, forms.0)
        } else {
            (&between.to, &between.from, forms.1)
        };
        let columns = own.register.as_slice();
        let mut fragment = *own;
        match kind {
            FormKind::Same => return Some(SideForm { fragment, lanes: None, cost: 0 }),
            FormKind::PlaceEach => {
                fragment = own.with_place_each();
                if fragment == *own {
                    return None;
                }
                if stores {
                    // All but the first of a register are moved down.
                    let moved = fragment.registers().saturating_sub(own.registers());
                    let each = self.target.tables.weights.instruction;
                    let cost = u32::from(moved).saturating_mul(each);
                    return Some(SideForm { fragment, lanes: None, cost });
                }
            }
            FormKind::AsOther => {
                fragment.register = ordered(columns, other.register.as_slice());
                fragment.unpacked = false;
            }
            FormKind::LanesPacked => {
                if own.unpacked || !pack_lanes(&mut fragment, other) {
                    return None;
                }
            }
            FormKind::CommonFirst => {
                let mut common: BitMatrix<u32, 12> = BitMatrix::new();
                for &e in columns.iter().filter(|e| other.register.as_slice().contains(e)) {
                    let _ = common.push(e);
                }
                fragment.register = ordered(columns, common.as_slice());
                fragment.unpacked = false;
            }
        }
        // Registers that need not follow each other are no matter of order.
        let packing = usize::from(fragment.packing());
        let packed = |f: &Fragment| {
            let mut out: BitMatrix<u32, 12> = BitMatrix::new();
            for &e in f.register.as_slice().iter().take(packing) {
                let _ = out.push(e);
            }
            out
        };
        let is_same = fragment == *own
            || kind != FormKind::LanesPacked
                && self.any()
                && own.unpacked == fragment.unpacked
                && packed(&fragment) == packed(own);
        if is_same {
            return None;
        }
        // Both stand beside each other for a while: the rest is left to others.
        let both = own.registers().saturating_add(fragment.registers());
        if u32::from(both) > self.most_packed() {
            return None;
        }
        let (given, made) = if stores { (own, &fragment) } else { (&fragment, own) };
        let crosses = kind == FormKind::LanesPacked;
        let found = self.lanes(op, given, made).ok();
        let mut lanes = found.filter(|found| crosses || found.keeps_lanes())?;
        lanes.ahead = stores;
        Some(SideForm { fragment, lanes: Some(lanes), cost: lanes.cost })
    }
}
