//! A layout in a few bytes, for who keeps many: numbers take as many bytes as they need, and the
//! tree over the iters is left out.
//!
//! ```text
//! shard, replica and offset counts; post-map
//! iter:   axis * 2 (+ 1: a denominator follows the stride), extent, stride
//! offset: axis * 2 (+ 1: a denominator follows the value), value
//! ```
//!
//! Equal bytes are equal layouts but for their trees, so that the bytes of canonical forms tell
//! maps apart.

use crate::axis::AxisId;
use crate::layout::{Iter, Layout, LayoutRef, MAX_ITERS, MAX_OFFSETS};
use crate::num::Int;
use crate::post::{MAX_PADS, Pad, Padding, PostMap, Swizzle, Unit};
use core::num::NonZeroU32;
use heapless::VecView;

/// Most bytes of a layout: counts, an iter of 23 bytes, an offset of 18, a post-map.
pub const MAX_PACKED: usize = 3 + MAX_ITERS * 23 + MAX_OFFSETS * 18 + 7 + 10 * MAX_PADS;

/// Appends the bytes of a layout. `None` if it has symbols, or does not fit.
///
/// ```
/// use lanebook_layout::{Layout, NoSyms, WellKnown, notation, packed};
///
/// let layout = notation::tirx::parse("S[(64,64):(72,1)]", &WellKnown, &mut NoSyms).unwrap();
/// let mut bytes = heapless::Vec::<u8, { packed::MAX_PACKED }>::new();
/// packed::pack(&layout.view(), bytes.as_mut_view()).unwrap();
/// assert_eq!(bytes.len(), 11);
/// let mut back = Layout::new();
/// assert_eq!(packed::unpack(&bytes, &mut back), Some(bytes.len()));
/// assert_eq!(back.view().shard, layout.view().shard);
/// ```
#[must_use]
#[inline(never)]
pub fn pack(layout: &LayoutRef<'_>, out: &mut VecView<u8>) -> Option<()> {
    for count in [layout.shard.len(), layout.replica.len(), layout.offset.len()] {
        out.push(u8::try_from(count).ok()?).ok()?;
    }
    pack_post(&layout.post, out)?;
    for it in layout.shard.iter().chain(layout.replica) {
        let (extent, stride) = (it.extent().as_known()?, it.stride());
        pack_axis(it.axis(), stride, out)?;
        unsigned(u64::try_from(extent).ok()?, out)?;
        pack_value(stride, out)?;
    }
    for offset in layout.offset {
        pack_axis(offset.axis(), offset.value(), out)?;
        pack_value(offset.value(), out)?;
    }
    Some(())
}

/// Reads a layout from the beginning of bytes that [`pack`] made: how many they were. `None` for
/// bytes that are none.
#[must_use]
#[inline(never)]
pub fn unpack(bytes: &[u8], out: &mut Layout) -> Option<usize> {
    let mut from = PackedBytes(bytes);
    let [shard, replica, offset] = [from.byte()?, from.byte()?, from.byte()?];
    *out = Layout::new();
    out.set_post(from.post()?).ok()?;
    for number in 0..u16::from(shard).checked_add(u16::from(replica))? {
        let axis = from.axis()?;
        let extent = Int::known(i64::try_from(from.unsigned()?).ok()?);
        let it = Iter::symbolic(extent, from.value(axis.1)?, axis.0).ok()?;
        if number < u16::from(shard) { out.push_shard(it) } else { out.push_replica(it) }.ok()?;
    }
    for _ in 0..offset {
        let axis = from.axis()?;
        out.add_offset(from.value(axis.1)?, axis.0).ok()?;
    }
    bytes.len().checked_sub(from.0.len())
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn unsigned(value: u64, out: &mut VecView<u8>) -> Option<()> {
    let mut left = value;
    loop {
        let (low, rest) = ((left & 0x7f) as u8, left.wrapping_shr(7));
        out.push(if rest == 0 { low } else { low | 0x80 }).ok()?;
        if rest == 0 {
            return Some(());
        }
        left = rest;
    }
}

fn pack_axis(axis: AxisId, value: Int, out: &mut VecView<u8>) -> Option<()> {
    let fraction = u64::from(value.den().get() != 1);
    unsigned(u64::from(axis.0).checked_mul(2)? | fraction, out)
}

/// The sign is the lowest bit.
fn pack_value(value: Int, out: &mut VecView<u8>) -> Option<()> {
    if !value.syms().is_none() {
        return None;
    }
    let coeff = value.coeff();
    unsigned((coeff.wrapping_shl(1) ^ coeff.wrapping_shr(63)) as u64, out)?;
    match value.den().get() {
        1 => Some(()),
        den => unsigned(u64::from(den), out),
    }
}

fn pack_post(post: &PostMap, out: &mut VecView<u8>) -> Option<()> {
    let (tag, swizzle, padding) = match post {
        PostMap::None => (0u8, None, None),
        PostMap::Swizzle(swizzle) => (1, Some(swizzle), None),
        PostMap::Padding(padding) => (2, None, Some(padding)),
        PostMap::SwizzlePadding(swizzle, padding) => (3, Some(swizzle), Some(padding)),
    };
    out.push(tag).ok()?;
    if let Some(swizzle) = swizzle {
        out.extend_from_slice(&[swizzle.b, swizzle.m, swizzle.s as u8, swizzle.unit as u8]).ok()?;
    }
    if let Some(padding) = padding {
        out.push(u8::try_from(padding.pads().len()).ok()?).ok()?;
        out.push(padding.unit() as u8).ok()?;
        for pad in padding.pads() {
            unsigned(u64::from(pad.interval), out)?;
            unsigned(u64::from(pad.pad), out)?;
        }
    }
    Some(())
}

/// Bytes that are still to be read.
struct PackedBytes<'b>(&'b [u8]);

impl PackedBytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }
    fn unsigned(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            let placed = part.checked_shl(shift)?;
            if placed.wrapping_shr(shift) != part {
                return None;
            }
            value |= placed;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift = shift.checked_add(7)?;
        }
    }
    /// An axis, and whether what lies along it is a fraction.
    fn axis(&mut self) -> Option<(AxisId, bool)> {
        let word = self.unsigned()?;
        Some((AxisId(u16::try_from(word.wrapping_shr(1)).ok()?), word & 1 == 1))
    }
    fn value(&mut self, fraction: bool) -> Option<Int> {
        let word = self.unsigned()?;
        let coeff = word.wrapping_shr(1) as i64 ^ (word as i64 & 1).wrapping_neg();
        if !fraction {
            return Some(Int::known(coeff));
        }
        let den = u32::try_from(self.unsigned()?).ok().and_then(NonZeroU32::new)?;
        Int::ratio(coeff, i64::from(den.get())).ok()
    }
    fn unit(&mut self) -> Option<Unit> {
        let byte = self.byte()?;
        [Unit::Element, Unit::Byte, Unit::Codomain].into_iter().find(|unit| *unit as u8 == byte)
    }
    fn post(&mut self) -> Option<PostMap> {
        let tag = self.byte()?;
        let swizzle = if tag & 1 == 1 { Some(self.swizzle()?) } else { None };
        let padding = if tag & 2 == 2 { Some(self.padding()?) } else { None };
        Some(match (swizzle, padding) {
            _ if tag > 3 => return None,
            (None, None) => PostMap::None,
            (Some(swizzle), None) => PostMap::Swizzle(swizzle),
            (None, Some(padding)) => PostMap::Padding(padding),
            (Some(swizzle), Some(padding)) => PostMap::SwizzlePadding(swizzle, padding),
        })
    }
    fn swizzle(&mut self) -> Option<Swizzle> {
        let [b, m, s] = [self.byte()?, self.byte()?, self.byte()?];
        Swizzle::new(b, m, s as i8, self.unit()?).ok()
    }
    fn padding(&mut self) -> Option<Padding> {
        let (count, unit) = (self.byte()?, self.unit()?);
        let mut pads = heapless::Vec::<Pad, MAX_PADS>::new();
        for _ in 0..count {
            let [interval, pad] = [self.unsigned()?, self.unsigned()?];
            let pad =
                Pad { interval: u32::try_from(interval).ok()?, pad: u32::try_from(pad).ok()? };
            pads.push(pad).ok()?;
        }
        Padding::new(&pads, unit).ok()
    }
}
