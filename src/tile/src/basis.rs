//! Where the elements of a tile lie in shared memory between two distributions, by construction.
//!
//! Over the field of two elements a panel's places have a basis, one vector for each bit of a
//! place's number. What both instructions take of a lane at once comes first, since it has to lie
//! together. Then come the bits that say which bank, and then those that say nothing of banks: let
//! S be the span of these. Lanes that are served together never meet in a bank if and only if no
//! sum of what they and their shares add, but zero, is in S. Two subspaces that are no larger than
//! all banks have such an S in common: it is found from the highest bit down, each vector as one
//! side has it, with vectors of bank bits added (a swizzle) where it would be a sum of the other's.

use crate::copy_atom::{BitPlace, CopyAtom};
use crate::map::bank::{CLEAR, is_shift};
use crate::map::{BitMatrix, Fragment, MAX_BITS, Subspace, log2_exact};
use lanebook_tables::BankModel;

/// Most bits of a share's number, in elements.
const SHARE: usize = 8;
/// Most different groups of lanes of both sides that are told apart.
const GROUPS: usize = 6;

/// A renumbering of a panel's elements: the place that each bit of an element's number adds, by
/// exclusive or.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlaceBasis {
    /// One place for each element bit.
    pub places: BitMatrix<u32, MAX_BITS>,
}

impl PlaceBasis {
    /// Each element at the place of its own number.
    #[must_use]
    pub fn plain(total: u8) -> Self {
        let mut places = BitMatrix::new();
        for bit in 0..total {
            let _ = places.push(bit_of(usize::from(bit)));
        }
        Self { places }
    }

    /// The place of an element of a panel.
    #[must_use]
    pub fn at(&self, e: u32) -> u32 {
        self.places.at(e)
    }

    /// The distribution of places.
    #[must_use]
    pub fn apply(&self, fragment: &Fragment) -> Fragment {
        let mut out = *fragment;
        for column in out
            .register
            .as_mut_slice()
            .iter_mut()
            .chain(out.lane.as_mut_slice())
            .chain(out.warp.as_mut_slice())
        {
            *column = self.at(*column);
        }
        out
    }
}

/// One half of an exchange.
#[derive(Copy, Clone)]
pub struct HalfAccess<'a> {
    /// The instruction.
    pub copy_atom: &'a CopyAtom,
    /// Who holds what.
    pub fragment: &'a Fragment,
    /// Which lanes are served together, if that is known.
    pub banks: Option<&'a BankModel<'a>>,
}

/// What a bit of a lane's share is.
#[derive(Copy, Clone, PartialEq, Eq)]
enum ShareBit {
    /// It adds this element.
    Element(u32),
    /// Whatever some register adds.
    Register,
}

/// A half bit by bit.
#[derive(Clone)]
struct Share {
    /// Bits of the share's number, the lowest first.
    wants: [Option<ShareBit>; SHARE],
    len: usize,
    /// What each bit of a slot's number adds.
    slots: BitMatrix<u32, 6>,
    /// Registers' columns that nothing has taken yet.
    spare: BitMatrix<u32, 12>,
}

fn bit_of(n: usize) -> u32 {
    u32::try_from(n).ok().and_then(|n| 1u32.checked_shl(n)).unwrap_or(0)
}

impl Share {
    /// `None` if the instruction is no way to move this tile.
    fn new(half: &HalfAccess<'_>, any: bool) -> Option<Self> {
        let HalfAccess { copy_atom, fragment, .. } = *half;
        let element = log2_exact(u64::from(fragment.shape.bits)).filter(|e| *e >= 3)?;
        let (packing, shift) = (fragment.packing(), usize::from(element.checked_sub(3)?));
        let columns = fragment.register.as_slice();
        let mut used = bit_of(usize::from(packing)).wrapping_sub(1);
        let mut out =
            Self { wants: [None; SHARE], len: 0, slots: BitMatrix::new(), spare: BitMatrix::new() };
        let mut slots = [None; 6];
        for &bit in copy_atom.bits.as_slice() {
            let (register, memory) = copy_atom.sides(bit);
            let want = match register {
                BitPlace::Lane(k) => ShareBit::Element(fragment.lane.get(usize::from(k))?),
                BitPlace::RegisterBit(k) if k < element => continue,
                BitPlace::RegisterBit(k) => {
                    let place = k.checked_sub(if fragment.unpacked { 5 } else { element })?;
                    if place < packing || !any {
                        used |= bit_of(usize::from(place));
                        ShareBit::Element(fragment.register.get(usize::from(place))?)
                    } else {
                        ShareBit::Register
                    }
                }
                _ => continue,
            };
            match memory {
                BitPlace::Byte(k) => {
                    let k = usize::from(k).checked_sub(shift)?;
                    *out.wants.get_mut(k)? = Some(want);
                    out.len = out.len.max(k.saturating_add(1));
                }
                BitPlace::Slot(k) => {
                    let free = (0..columns.len()).find(|at| used & bit_of(*at) == 0);
                    let e = match want {
                        ShareBit::Element(e) => e,
                        ShareBit::Register => {
                            used |= bit_of(free?);
                            *columns.get(free?)?
                        }
                    };
                    *slots.get_mut(usize::from(k))? = Some(e);
                }
                _ => {}
            }
        }
        for e in slots.into_iter().map_while(|slot| slot) {
            out.slots.push(e).then_some(())?;
        }
        for (_, &e) in columns.iter().enumerate().filter(|(at, _)| used & bit_of(*at) == 0) {
            out.spare.push(e).then_some(())?;
        }
        Some(out)
    }

    fn want(&self, k: usize) -> Option<ShareBit> {
        self.wants.get(k).copied().flatten()
    }

    /// Takes a register's column, if it is there.
    fn take(&mut self, e: u32) -> Option<u32> {
        let place = self.spare.as_mut_slice().iter_mut().find(|column| **column == e && e != 0)?;
        *place = 0;
        Some(e)
    }

    fn spares(&self) -> impl Iterator<Item = u32> {
        self.spare.as_slice().iter().copied().filter(|e| *e != 0)
    }

    /// What lanes add that one group serves together.
    fn span(&self, group: u64, out: &mut Subspace) {
        let present =
            1u64.checked_shl(bit_of(self.slots.len())).map_or(u64::MAX, |n| n.wrapping_sub(1));
        let first = (group & present).trailing_zeros();
        // Differences of lanes, and of those the sums of what has been taken.
        let mut rest = translated(group & present, first);
        let mut sums = 1u64;
        loop {
            rest &= !sums;
            if rest == 0 {
                return;
            }
            let lane = rest.trailing_zeros();
            let _ = out.insert(self.slots.at(lane), 0);
            sums |= translated(sums, lane);
        }
    }
}

/// A set of numbers below 64, each changed by exclusive or.
fn translated(set: u64, by: u32) -> u64 {
    let mut out = set;
    for (k, low) in (0u32..).zip(CLEAR) {
        if by.wrapping_shr(k) & 1 == 1 {
            let far = 1u32.wrapping_shl(k);
            out = (out & low).wrapping_shl(far) | (out.wrapping_shr(far) & low);
        }
    }
    out
}

/// What lies together: each bit of the longer share, wanted by both as far as both reach. A free
/// bit of the longer one is best a register whose element the other side's lanes share out among
/// banks.
fn together(
    halves: [&HalfAccess<'_>; 2],
    shares: &mut [Share; 2],
) -> Option<BitMatrix<u32, SHARE>> {
    let [a, b] = shares;
    let len = a.len.max(b.len);
    let mut found = [0u32; SHARE];
    for (k, slot) in found.iter_mut().enumerate().take(len) {
        *slot = match (a.want(k), b.want(k)) {
            (Some(ShareBit::Element(x)), Some(ShareBit::Element(y))) if x == y => x,
            (Some(ShareBit::Element(x)), Some(ShareBit::Register)) => b.take(x)?,
            (Some(ShareBit::Register), Some(ShareBit::Element(x))) => a.take(x)?,
            (Some(ShareBit::Element(x)), None) if k >= b.len => x,
            (None, Some(ShareBit::Element(x))) if k >= a.len => x,
            (Some(ShareBit::Register), Some(ShareBit::Register)) => 0,
            (Some(ShareBit::Register), None) if k >= b.len => 0,
            (None, Some(ShareBit::Register)) if k >= a.len => 0,
            _ => return None,
        };
    }
    for (k, slot) in found.iter_mut().enumerate().take(a.len.min(b.len)) {
        if *slot == 0
            && a.want(k) == Some(ShareBit::Register)
            && b.want(k) == Some(ShareBit::Register)
        {
            let common = a.spares().find(|e| b.spares().any(|other| other == *e))?;
            *slot = a.take(common).and(b.take(common))?;
        }
    }
    let (mine, other, banks) = if a.len > b.len {
        (&mut *a, &*b, halves.get(1)?.banks)
    } else {
        (&mut *b, &*a, halves.first()?.banks)
    };
    let mut lanes = Subspace::new();
    if let Some(model) = banks
        && let Some(group) = model.groups.first()
    {
        let shift = u32::from(halves.first()?.fragment.shape.bits / 8).checked_ilog2()?;
        other.span(filling(model, *group, other.len, shift), &mut lanes);
    }
    for slot in found.iter_mut().take(len).skip(other.len).filter(|slot| **slot == 0) {
        let shared = mine.spares().find(|e| lanes.contains(*e));
        *slot = shared.or_else(|| mine.spares().next()).and_then(|e| mine.take(e))?;
    }
    let (mut out, mut span) = (BitMatrix::new(), Subspace::new());
    for &e in found.iter().take(len) {
        (span.insert(e, 0) && out.push(e)).then_some(())?;
    }
    Some(out)
}

/// The lanes of a group, the first ones, that want as many bytes as the banks give at once, with
/// `2^len` elements of `2^shift` bytes a lane: where no two of these meet in a bank, the whole group
/// is served in as few passes as its bytes need.
fn filling(model: &BankModel<'_>, group: u64, len: usize, shift: u32) -> u64 {
    let lane = u32::try_from(len).ok().and_then(|len| len.checked_add(shift));
    let lane_bytes = lane.and_then(|bits| 1u32.checked_shl(bits)).unwrap_or(u32::MAX);
    let bytes = u32::from(model.banks).saturating_mul(u32::from(model.bank_bytes));
    let most = bytes.checked_div(lane_bytes).unwrap_or(1).max(1);
    let (mut lanes, mut rest) = (0u64, group);
    for _ in 0..most {
        // The lowest lane that is left; none.
        let lane = rest & rest.wrapping_neg();
        lanes |= lane;
        rest &= !lane;
    }
    lanes
}

/// What lanes that are served together add, with their shares and with S as far as it is built; and
/// from which bit of a place's number on banks are the same again.
struct Served {
    span: Subspace,
    top: usize,
}

fn served(
    half: &HalfAccess<'_>,
    share: &Share,
    vector: &[u32],
    shift: u32,
    out: &mut heapless::Vec<Served, GROUPS>,
) {
    let Some(model) = half.banks else { return };
    let bytes = u64::from(model.banks).saturating_mul(u64::from(model.bank_bytes));
    let Some(top) = log2_exact(bytes).and_then(|top| usize::from(top).checked_sub(shift as usize))
    else {
        return;
    };
    for (number, &group) in model.groups.iter().enumerate() {
        // Lanes shifted by a constant add the same.
        if model.groups.iter().take(number).any(|before| is_shift(*before, group)) {
            continue;
        }
        let mut span = Subspace::new();
        for &e in vector.iter().take(share.len) {
            let _ = span.insert(e, 0);
        }
        share.span(filling(model, group, share.len, shift), &mut span);
        let _ = out.push(Served { span, top });
    }
}

/// The places of a panel's elements for a store and a load; the one of them that comes `first` has
/// its lanes and warps next to each other. `any`: registers that an instruction takes at once need
/// not follow each other.
///
/// `None` if the two cannot share a place: what lies together for the one does not for the other.
#[must_use]
#[inline(never)]
pub fn construct(
    store: &HalfAccess<'_>,
    load: &HalfAccess<'_>,
    loads_first: bool,
    any: bool,
) -> Option<PlaceBasis> {
    let shape = store.fragment.shape;
    let total = usize::from(shape.total());
    let shift = u32::from(shape.bits / 8).checked_ilog2()?;
    let stored = Share::new(store, any)?;
    let alone = core::ptr::eq(store, load);
    let loaded = if alone { stored.clone() } else { Share::new(load, any)? };
    let mut shares = [stored, loaded];
    let vector = together([store, load], &mut shares)?;
    let mut groups = heapless::Vec::new();
    let [stored, loaded] = &shares;
    served(store, stored, vector.as_slice(), shift, &mut groups);
    if !alone {
        served(load, loaded, vector.as_slice(), shift, &mut groups);
    }
    let (first, second) = if loads_first {
        ((load, loaded), (store, stored))
    } else {
        ((store, stored), (load, loaded))
    };
    // One side's bits in order, each that is no sum of those before.
    let (mut order, mut span): (BitMatrix<u32, MAX_BITS>, _) = (BitMatrix::new(), Subspace::new());
    let mut add = |columns: &[u32]| {
        for &e in columns {
            if order.len() == total {
                return;
            }
            if span.insert(e, 0) {
                let _ = order.push(e);
            }
        }
    };
    add(vector.as_slice());
    for (half, share) in [first, second] {
        add(share.slots.as_slice());
        add(half.fragment.lane.as_slice());
        add(half.fragment.warp.as_slice());
        add(half.fragment.register.as_slice());
    }
    if order.len() != total {
        return None;
    }
    settle(&mut order, vector.len(), &mut groups);
    let mut names = Subspace::new();
    for (p, &e) in order.as_slice().iter().enumerate() {
        names.insert(e, bit_of(p)).then_some(())?;
    }
    let mut places = BitMatrix::new();
    for bit in 0..total {
        places.push(names.names(bit_of(bit))?).then_some(())?;
    }
    Some(PlaceBasis { places })
}

/// The numbers of `count` bits of which `ones` are set, from the highest down.
fn masks(count: u32, ones: u32) -> impl Iterator<Item = u32> {
    let low = 1u32.checked_shl(ones).map_or(u32::MAX, |n| n.wrapping_sub(1));
    let highest = low.checked_shl(count.saturating_sub(ones));
    core::iter::successors(highest, move |mask| {
        // The lowest bit above a gap goes down by one, and those below the gap follow it.
        let tail = mask.trailing_ones();
        let gap = mask.checked_shr(tail)?.trailing_zeros();
        let kept = mask & !2u32.checked_shl(tail.checked_add(gap)?)?.wrapping_sub(1);
        let moved = 2u32.checked_shl(tail)?.wrapping_sub(1);
        Some(kept | moved.checked_shl(gap.checked_sub(1)?)?)
    })
}

/// Gives each bit above the banks vectors of bank bits, so that no group of lanes meets in a bank;
/// where none helps, it stays.
fn settle(
    order: &mut BitMatrix<u32, MAX_BITS>,
    share: usize,
    groups: &mut heapless::Vec<Served, GROUPS>,
) {
    for p in (share..order.len()).rev() {
        let Some(top) = groups.iter().map(|g| g.top).filter(|top| *top <= p).max() else { return };
        let banks = order.as_slice().get(share..top.min(p)).unwrap_or(&[]);
        let own = order.get(p).unwrap_or(0);
        let count = u32::try_from(banks.len()).unwrap_or(0);
        let sum = |mask: u32| {
            let chosen = banks.iter().enumerate().filter(|(q, _)| mask & bit_of(*q) != 0);
            chosen.fold(own, |sum, (_, e)| sum ^ e)
        };
        let fits = |e: &u32| groups.iter().filter(|g| g.top <= p).all(|g| !g.span.contains(*e));
        let found = (0..=count).find_map(|ones| masks(count, ones).map(sum).find(fits));
        let chosen = found.unwrap_or(own);
        if let Some(place) = order.as_mut_slice().get_mut(p) {
            *place = chosen;
        }
        for group in groups.iter_mut().filter(|g| g.top <= p) {
            let _ = group.span.insert(chosen, 0);
        }
    }
}

#[cfg(test)]
#[path = "tests/basis.rs"]
mod tests;
