//! Copy atoms bit by bit: a table atom's two layouts as one list of bits, at byte granularity.
//!
//! A copy atom's logical coordinate is split into bits. Each bit has one *place* on each side: a
//! bit of the lane number or of the register bit offset on a register side, a bit of the address
//! slot or a byte offset on a memory side. What cannot be said so is not a copy atom the planner
//! can divide by, and the build's checks say so about the table.

use crate::map::{BitMatrix, log2_exact};
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_tables::{Atom, AtomId, OffsetField, Piece, Side, Space};

/// Where one bit of the logical coordinate stands on one side.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum BitPlace {
    /// Nowhere (the coordinate bit does not matter on this side).
    #[default]
    Nowhere,
    /// A bit of the lane number.
    Lane(u8),
    /// A power of two of the bit offset in the lane's registers, as its exponent.
    RegisterBit(u8),
    /// A bit of the address slot's number.
    Slot(u8),
    /// A power of two of bytes from the slot's address, as its exponent.
    Byte(u8),
    /// Whether it is the second of the slot's two places, each behind an offset of its own.
    Second,
}

/// The offsets of the two places of a slot.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlacePair {
    /// That of the first.
    pub first: OffsetField,
    /// That of the second.
    pub second: OffsetField,
    /// The registers of both need not follow each other.
    pub is_apart: bool,
}

/// One bit of a copy atom's coordinate.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct CopyAtomBit {
    /// On the source side.
    pub from: BitPlace,
    /// On the destination side.
    pub to: BitPlace,
}

/// Most bits of a copy atom's coordinate, the bits inside its unit included.
pub const MAX_COPY_ATOM_BITS: usize = 14;

/// A copy atom, ready for division.
#[derive(Copy, Clone, Debug)]
pub struct CopyAtom {
    /// The table's atom.
    pub atom: AtomId,
    /// Source space.
    pub from: Space,
    /// Destination space.
    pub to: Space,
    /// Coordinate bits.
    pub bits: BitMatrix<CopyAtomBit, MAX_COPY_ATOM_BITS>,
    /// Bit offset of the data in the lane's registers when the coordinate is zero (the upper half
    /// of a register, say).
    pub register_base: u16,
    /// Register bits that one instruction fills or empties in a lane.
    pub register_bits: u32,
    /// Bits of each register, or run of registers, that it fills or empties from the lowest on; what
    /// lies above is no part of the tile.
    pub piece_bits: u32,
    /// log2 of the lanes that take part.
    pub lanes: u8,
    /// Bytes that one lane moves.
    pub share_bytes: u32,
    /// Its destination is one run behind one address, the same for the whole wave.
    pub uniform: bool,
    /// Between registers and memory: its lanes lie at known steps behind one address, the same for
    /// the whole wave.
    pub is_fixed: bool,
    /// Bytes behind each address in shared memory, next to each other, if it is no such run.
    pub run_bytes: u32,
    /// What each address there must be a multiple of.
    pub shared_align: u16,
    /// It is told how many bytes of a lane's share to read.
    pub is_sized: bool,
    /// An address is a part that is the same in the whole wave, and a lane's offset of fewer bits.
    pub is_split: bool,
    /// Each slot has two places.
    pub pair: Option<PlacePair>,
    /// What stores from the upper halves of registers as this does from their lower ones, if anything
    /// does: elements that share a register can go one by one then.
    pub upper: Option<AtomId>,
}

/// The copy atoms of an architecture by the spaces that they join: what its dispatch answered, bit
/// by bit. They are asked for by their spaces alone; there is no list of all.
#[derive(Copy, Clone, Debug)]
pub struct CopyAtoms<'a> {
    all: &'a [CopyAtom],
    /// Where those between two spaces begin and end.
    places: [(u16, u16); 16],
}

impl<'a> CopyAtoms<'a> {
    /// Of a list in the order of [`Space::pairs`], the first choice first between two spaces.
    #[must_use]
    pub fn new(all: &'a [CopyAtom]) -> Self {
        let mut places = [(0u16, 0u16); 16];
        for (at, copy_atom) in (0u16..).zip(all) {
            if let Some(place) = places.get_mut(number(copy_atom.from, copy_atom.to)) {
                *place = (if place.1 == 0 { at } else { place.0 }, at.saturating_add(1));
            }
        }
        Self { all, places }
    }

    /// Those between two spaces, the first choice first.
    #[must_use]
    pub fn between(&self, from: Space, to: Space) -> &'a [CopyAtom] {
        let (first, end) = self.places.get(number(from, to)).copied().unwrap_or_default();
        self.all.get(usize::from(first)..usize::from(end)).unwrap_or(&[])
    }

    /// Those that begin or end in a space.
    pub fn touching(self, space: Space) -> impl Iterator<Item = &'a CopyAtom> {
        let pairs = Space::pairs().filter(move |(from, to)| *from == space || *to == space);
        pairs.flat_map(move |(from, to)| self.between(from, to))
    }
}

/// A number for two spaces.
fn number(from: Space, to: Space) -> usize {
    (from as usize).wrapping_mul(4).wrapping_add(to as usize)
}

/// What copy atoms a layout of a shared tile can serve at all: others would be refused in the end,
/// for their bytes or their addresses.
#[derive(Copy, Clone, Debug)]
pub struct ViableAtoms {
    /// Bits in the order of the copy atoms between the two spaces.
    pub copy_atoms: u32,
    /// Bytes that lie next to each other under every swizzle phase.
    pub run_bytes: u32,
    /// What all addresses are multiples of at the most.
    pub align: u32,
}

impl ViableAtoms {
    /// Whatever there is.
    pub const ALL: Self = Self { copy_atoms: u32::MAX, run_bytes: u32::MAX, align: u32::MAX };

    /// Whether the copy atom with a number may do. Those without a bit of their own may.
    pub fn takes(&self, number: u32, copy_atom: &CopyAtom) -> bool {
        (number >= u32::BITS || self.copy_atoms.wrapping_shr(number) & 1 == 1)
            && self.suits(copy_atom)
    }

    /// Whether the layout's pieces are large enough for a copy atom.
    pub fn suits(&self, copy_atom: &CopyAtom) -> bool {
        copy_atom.uniform
            || (copy_atom.run_bytes <= self.run_bytes
                && u32::from(copy_atom.shared_align) <= self.align)
    }
}

impl CopyAtom {
    /// Whether loads, stores and copies of tiles may take it. What has two places a slot is for
    /// exchanges through shared memory alone: the longer runs of registers that it fills would have
    /// to be weighed against the registers that are live, which choosing for tiles does not.
    #[must_use]
    pub const fn serves_transfers(&self) -> bool {
        self.pair.is_none()
    }

    /// The copy atom of an atom; `None` if the atom moves nothing or has extents or strides that
    /// are no powers of two.
    #[must_use]
    pub fn of(id: AtomId, atom: &Atom<'_>) -> Option<Self> {
        let movement = atom.movement.as_ref()?;
        // Addresses count bytes.
        let unit = log2_exact(u64::from(movement.unit_bits)).filter(|unit| *unit >= 3)?;
        let mut count = 1u64;
        for &extent in movement.extents {
            count = count.checked_mul(u64::from(extent))?;
        }
        let total = log2_exact(count)?;
        let (from, to) = (origin(movement.from.layout)?, origin(movement.to.layout)?);
        let mut bits = BitMatrix::new();
        for bit in 3..unit {
            let byte = bit.checked_sub(3)?;
            let inner = |side: &Side<'_>| {
                if side.space == Space::Register {
                    BitPlace::RegisterBit(bit)
                } else {
                    BitPlace::Byte(byte)
                }
            };
            if !bits.push(CopyAtomBit { from: inner(&movement.from), to: inner(&movement.to) }) {
                return None;
            }
        }
        for bit in 0..total {
            let x = 1u64.checked_shl(u32::from(bit))?;
            let step = CopyAtomBit {
                from: place(movement.from.layout, x, from)?,
                to: place(movement.to.layout, x, to)?,
            };
            if !bits.push(step) {
                return None;
            }
        }
        let mut lanes = 0u8;
        let mut register_bits = u32::from(movement.unit_bits);
        for b in bits.as_slice() {
            for p in [b.from, b.to] {
                match p {
                    BitPlace::Lane(k) | BitPlace::Slot(k) => lanes = lanes.max(k.checked_add(1)?),
                    BitPlace::RegisterBit(k) => {
                        register_bits = register_bits.max(2u32.checked_shl(u32::from(k))?)
                    }
                    _ => {}
                }
            }
        }
        let in_register = |k: u8| {
            let place = BitPlace::RegisterBit(k);
            bits.as_slice().iter().any(|b| b.from == place || b.to == place)
        };
        let piece = (3u8..16).find(|k| !in_register(*k)).unwrap_or(3);
        // A wave-uniform destination still has lanes: they stand on the other side.
        let uniform = bits
            .as_slice()
            .iter()
            .any(|b| matches!((b.from, b.to), (BitPlace::Slot(_), BitPlace::Byte(_))));
        let in_shared =
            |b: &CopyAtomBit| if movement.to.space == Space::Shared { b.to } else { b.from };
        let run_bytes = bits.as_slice().iter().fold(1u32, |run, b| match in_shared(b) {
            BitPlace::Byte(k) => run.max(2u32.checked_shl(u32::from(k)).unwrap_or(u32::MAX)),
            _ => run,
        });
        let base = [&movement.from, &movement.to]
            .iter()
            .find(|s| s.space == Space::Register)
            .map_or(Ok(0), |s| s.layout.offset_on(0, AxisId::BIT))
            .ok()?;
        let has_second =
            bits.as_slice().iter().any(|b| b.from == BitPlace::Second || b.to == BitPlace::Second);
        let pair = if has_second { Some(pair(atom)?) } else { None };
        Some(Self {
            atom: id,
            pair,
            upper: None,
            from: movement.from.space,
            to: movement.to.space,
            bits,
            register_base: u16::try_from(base).ok()?,
            register_bits,
            piece_bits: 1u32.checked_shl(u32::from(piece)).unwrap_or(u32::MAX),
            lanes,
            uniform,
            is_fixed: is_fixed(bits.as_slice()),
            is_sized: movement.size.is_some(),
            is_split: [&movement.from, &movement.to].iter().any(|side| side.base.is_some()),
            run_bytes: if uniform { 0 } else { run_bytes },
            shared_align: if movement.to.space == Space::Shared {
                movement.to.align_bytes
            } else {
                movement.from.align_bytes
            },
            share_bytes: 1u32.checked_shl((bits.len() as u32).checked_sub(u32::from(lanes))?)?,
        })
    }

    /// The place of a bit on the register side and on the memory side, for copy atoms between the
    /// two.
    #[must_use]
    pub fn sides(&self, bit: CopyAtomBit) -> (BitPlace, BitPlace) {
        if self.from == Space::Register { (bit.from, bit.to) } else { (bit.to, bit.from) }
    }
}

/// Whether lanes lie at known steps behind one address, no slot having one of its own.
fn is_fixed(bits: &[CopyAtomBit]) -> bool {
    let stepped = |b: &CopyAtomBit| {
        matches!(
            (b.from, b.to),
            (BitPlace::Lane(_), BitPlace::Byte(_)) | (BitPlace::Byte(_), BitPlace::Lane(_))
        )
    };
    let of_slot =
        |b: &CopyAtomBit| matches!(b.from, BitPlace::Slot(_)) || matches!(b.to, BitPlace::Slot(_));
    bits.iter().any(stepped) && !bits.iter().any(of_slot)
}

/// The offsets of an atom whose slots have two places.
fn pair(atom: &Atom<'_>) -> Option<PlacePair> {
    let movement = atom.movement.as_ref()?;
    let memory = movement.to.space != Space::Register;
    let field = |place: u8| {
        let own = |o: &OffsetField| {
            o.place == place && if memory { o.on_to && !o.on_from } else { o.on_from && !o.on_to }
        };
        movement.offsets.iter().copied().find(own)
    };
    let data = if memory { movement.from.operand } else { movement.to.operand };
    // What the text shows by halves are two operands.
    let is_apart =
        atom.template.pieces().any(|piece| matches!(piece, Piece::Half(k, _) if k == data));
    Some(PlacePair { first: field(0)?, second: field(1)?, is_apart })
}

/// The axes that places are on.
const AXES: [AxisId; 5] = [AxisId::LANE, AxisId::BIT, AxisId::SLOT, AxisId::BYTE, AxisId::PLACE];

/// Where zero stands on each of them.
fn origin(layout: &LayoutRef<'_>) -> Option<[i64; 5]> {
    layout.offsets_on(0, AXES).ok()
}

/// Where the coordinate `x` (one bit) stands, relative to where zero stands.
fn place(layout: &LayoutRef<'_>, x: u64, origin: [i64; 5]) -> Option<BitPlace> {
    let mut on = layout.offsets_on(x, AXES).ok()?;
    for (place, from) in on.iter_mut().zip(origin) {
        *place = place.checked_sub(from)?;
    }
    let [lane, bit, slot, byte, second] = on;
    let exponent = |v: i64| log2_exact(u64::try_from(v).ok()?);
    match (lane, bit, slot, byte, second) {
        (0, 0, 0, 0, 0) => Some(BitPlace::Nowhere),
        (v, 0, 0, 0, 0) => exponent(v).map(BitPlace::Lane),
        (0, v, 0, 0, 0) => exponent(v).map(BitPlace::RegisterBit),
        (0, 0, v, 0, 0) => exponent(v).map(BitPlace::Slot),
        (0, 0, 0, v, 0) => exponent(v).map(BitPlace::Byte),
        (0, 0, 0, 0, 1) => Some(BitPlace::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanebook::TABLES;
    use lanebook_tables::Capability;

    /// The table compiler counts the bytes of a lane by itself: it must come to the same order as
    /// copy atoms.
    #[test]
    fn the_widest_movers_answer_first() {
        let mut several = 0;
        for arch in TABLES.archs {
            for (from, to) in Space::pairs() {
                let able = arch.dispatch(Capability::Transfer { from, to });
                let widths = || {
                    able.iter()
                        .filter_map(|id| CopyAtom::of(*id, TABLES.atom(*id)?))
                        .map(|copy_atom| copy_atom.share_bytes)
                };
                assert!(
                    widths().is_sorted_by(|a, b| a >= b),
                    "{} {from:?} {to:?}: {able:?}",
                    arch.name
                );
                several += u32::from(widths().min() != widths().max());
            }
        }
        assert!(several > 100, "{several} pairs of spaces with movers of several widths");
    }
}
