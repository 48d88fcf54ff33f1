//! A movement as instances of one atom, and the reasons why it is none.

use crate::copy_atom::CopyAtom;
use crate::map::{BitMatrix, Conflicts, RepeatGrid};
use crate::unit::map::MapRule;
use lanebook_tables::AtomId;

/// A movement decomposed into instances of one atom.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// Element bits that each bit of the slot number (= the supplying lane's number) adds; where one
    /// address does for the wave and lanes lie at known steps, each bit of the lane's number.
    pub address_lanes: BitMatrix<u32, 6>,
    /// Element bits that each warp bit adds.
    pub warps: BitMatrix<u32, 5>,
    /// Element bits that each bit of the instance number adds.
    pub instances: BitMatrix<u32, 12>,
    /// Register copy atoms: for each bit of the atom's register number the bit of the fragment's
    /// register number.
    pub tuple: BitMatrix<u8, 5>,
    /// Register copy atoms: the fragment register-number bit of each instance bit;
    /// [`Self::HALF`] where it says which half of a register.
    pub instance_registers: BitMatrix<u8, 12>,
    /// What instances of odd numbers are of, whose elements stand in the upper halves of registers.
    pub upper: Option<AtomId>,
    /// Element bits that the second place of each slot adds to the first; 0 = there is none.
    pub second: u32,
    /// Panels of the tile: an instance's number above its bits is the panel's.
    pub grid: RepeatGrid,
    /// Panels are counted row by row (else column by column).
    pub by_rows: bool,
    /// Element bits of a panel.
    pub panel_bits: u8,
}

impl Tiling {
    /// Among [`Self::instance_registers`]: the bit of an instance's number, the lowest, that says which
    /// half of a register it moves.
    pub const HALF: u8 = u8::MAX;

    /// The atom that an instance is of, where others are of `atom`.
    #[must_use]
    pub fn atom_of(&self, instance: u32, atom: AtomId) -> AtomId {
        self.upper.filter(|_| instance & 1 == 1).unwrap_or(atom)
    }

    /// Register copy atoms: the first bit of an instance in the tile's registers.
    #[must_use]
    pub fn first_bit(&self, instance: u32) -> u32 {
        let half = if self.upper.is_some() && instance & 1 == 1 { 16 } else { 0 };
        self.register(instance).saturating_mul(32).saturating_add(half)
    }

    /// Element bits that each bit of a slot's number adds: none where a copy atom has one address for
    /// the whole wave.
    pub(crate) fn supplied(&self, copy_atom: &CopyAtom) -> &[u32] {
        if copy_atom.is_fixed { &[] } else { self.address_lanes.as_slice() }
    }

    /// Number of instructions a warp issues.
    #[must_use]
    pub fn count(&self) -> u32 {
        1u32.checked_shl(self.instances.len() as u32)
            .unwrap_or(u32::MAX)
            .saturating_mul(self.grid.count())
    }

    /// Whether each element has one lane among those of 2^`warps` warps of 2^`wave` lanes: no bit of
    /// a lane's or of a warp's number leaves the element as it is.
    #[must_use]
    pub fn has_one_owner(&self, wave: u8, warps: u8) -> bool {
        let all = |columns: &[u32], bits: u8| {
            columns.len() == usize::from(bits) && columns.iter().all(|c| *c != 0)
        };
        all(self.address_lanes.as_slice(), wave) && all(self.warps.as_slice(), warps)
    }

    /// The element that an instance adds to a slot's and a warp's (by exclusive or).
    #[must_use]
    pub fn element(&self, instance: u32) -> u32 {
        let index = instance.checked_shr(self.instances.len() as u32).unwrap_or(0);
        let panel = self
            .grid
            .panel(index, self.by_rows)
            .checked_shl(u32::from(self.panel_bits))
            .unwrap_or(0);
        panel | self.instances.at(instance)
    }

    /// Register copy atoms: the first register of an instance, counted from the tile's first.
    #[must_use]
    pub fn register(&self, instance: u32) -> u32 {
        let mut out = 0u32;
        for (bit, &place) in self.instance_registers.as_slice().iter().enumerate() {
            if (instance >> bit) & 1 == 1 {
                out = out.wrapping_add(1u32.checked_shl(u32::from(place)).unwrap_or(0));
            }
        }
        let index = instance.checked_shr(self.instances.len() as u32).unwrap_or(0);
        let halves = usize::from(self.upper.is_some());
        let bits = self.tuple.len().saturating_add(self.instance_registers.len());
        let bits = bits.saturating_sub(halves);
        out.wrapping_add(index.checked_shl(bits as u32).unwrap_or(0))
    }
}

/// Blocks of a tile that a copy through registers transposes on its way, because the two memories
/// keep different dimensions contiguous.
///
/// A block is what `2^across` instances of the first atom bring, `2^along` elements each: the
/// lowest `across` bits of an instance's number count the block's rows. Of the second atom, which
/// takes `2^across` elements at once, the lowest `along` bits count its columns. Both shares are
/// whole registers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RegisterTranspose {
    /// log2 of the elements in the first atom's share.
    pub along: u8,
    /// log2 of the elements in the second one's share.
    pub across: u8,
    /// log2 of the elements in a register; at least 1, at most `along` and `across`.
    pub packing: u8,
    /// The atom that chooses bytes of two registers.
    pub atom: AtomId,
}

impl RegisterTranspose {
    /// The second atom's decomposition, where the first one's is `first`.
    ///
    /// `None` where the block is not one of the tile's.
    #[must_use]
    pub fn second(&self, first: &Tiling) -> Option<Tiling> {
        let mut out = *first;
        (out.tuple, out.instances, out.instance_registers) =
            (BitMatrix::new(), BitMatrix::new(), BitMatrix::new());
        let inside = self.across.checked_sub(self.packing)?;
        for k in 0..inside {
            out.tuple.push(k).then_some(())?;
        }
        let rest = first.instances.as_slice().get(usize::from(self.across)..)?;
        for k in 0..self.along {
            out.instances.push(1u32.checked_shl(u32::from(k))?).then_some(())?;
        }
        for e in rest {
            out.instances.push(*e).then_some(())?;
        }
        for k in 0..u8::try_from(out.instances.len()).ok()? {
            out.instance_registers.push(inside.checked_add(k)?).then_some(())?;
        }
        Some(out)
    }

    /// Instructions that transpose a block: as many rounds as bits of a register number change
    /// places with bits inside a register.
    #[must_use]
    pub fn block_count(&self) -> u32 {
        let registers = u32::from(self.along)
            .saturating_add(u32::from(self.across))
            .saturating_sub(u32::from(self.packing));
        1u32.checked_shl(registers).unwrap_or(u32::MAX).saturating_mul(u32::from(self.packing))
    }

    /// The same for a whole movement of the first atom's `tiling`.
    #[must_use]
    pub fn count(&self, tiling: &Tiling) -> u32 {
        tiling
            .count()
            .checked_shr(u32::from(self.across))
            .unwrap_or(0)
            .saturating_mul(self.block_count())
    }
}

/// Why a movement is no multiple of an atom. Each value carries the figures that decided.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum Reject {
    /// The atom serves another number of lanes (both as log2).
    Lanes {
        /// The atom's.
        atom: u8,
        /// The wave's.
        wave: u8,
    },
    /// A lane's share is wider than the lane's part of the tile.
    Share {
        /// Bits the atom moves a lane.
        atom_bits: u32,
        /// Bits the tile has a lane.
        tile_bits: u32,
    },
    /// Neighbours in a lane's share are not neighbours in memory.
    Apart {
        /// Bytes between them in the atom.
        atom_bytes: u32,
        /// Bytes between them in the tile's memory map.
        tile_bytes: u32,
    },
    /// Neighbours in a lane's share lie a run-time stride apart.
    Strided {
        /// Bytes between them in the atom.
        atom_bytes: u32,
    },
    /// Addresses are aligned to less than the atom needs.
    Alignment {
        /// What the atom needs, in bytes.
        need: u32,
        /// What is certain, in bytes.
        have: u32,
    },
    /// The atom fills part of a register and the elements around it belong to the same register.
    Packing {
        /// Bits the atom fills.
        atom_bits: u32,
    },
    /// Each element has a register of its own, the atom takes several from one.
    Alone {
        /// Bits the atom moves.
        atom_bits: u32,
    },
    /// The atom serves upper parts of registers alone: beside the one that serves lower ones, whose
    /// pick is its own.
    Upper,
    /// The atom's registers are consecutive, the tile's are not.
    RegisterOrder,
    /// The atom writes one consecutive run for the wave, which this shared layout breaks.
    Run {
        /// Byte of the run at which no element starts, or one that is not next in global memory.
        byte: u32,
    },
    /// An element is split by the atom.
    Element {
        /// Width of the element in bits.
        element_bits: u16,
    },
    /// A lane would hold more registers of the tile than a tuple can have.
    Registers {
        /// Registers wanted.
        registers: u16,
        /// Most there can be.
        most: u16,
    },
    /// Several lanes or warps hold the same elements and would write the same bytes at once.
    Copies,
    /// A lane would need more different addresses of the memory than a movement has registers for.
    Addresses {
        /// Addresses wanted.
        addresses: u32,
        /// Most there can be.
        most: u32,
    },
    /// The tensor has bounds, and nothing keeps this to what lies inside of them.
    Unguarded,
    /// The tensor has bounds, and a part of what a lane moves at once may lie outside of them.
    Bounds {
        /// Bytes that the atom moves a lane.
        share: u32,
        /// Bytes of a row that are certainly all inside or all outside.
        whole: u32,
    },
    /// The atom's facts are not native here: the assembler would expand it.
    NotNative,
    /// A rule of copies through tensor maps is broken.
    Tensor {
        /// Which.
        rule: MapRule,
        /// What was found.
        found: u32,
        /// What was needed: a multiple, the most, or just that.
        needed: u32,
    },
    /// Nothing goes between these memories with addresses that a copy can give.
    Absent,
    /// No descriptor of the matrix unit describes this layout.
    Descriptor,
    /// An extent of the matrix instruction is no power of two, and its odd factor counts elements inside
    /// of a register, or in other lanes.
    OddFactor {
        /// Its rows.
        m: u16,
        /// Its columns.
        n: u16,
        /// Its depth.
        k: u16,
    },
    /// The matrix instruction's operands are not laid out bit by bit over the lanes of a wave.
    Operands {
        /// Its rows.
        m: u16,
        /// Its columns.
        n: u16,
        /// Its depth.
        k: u16,
    },
    /// The matrix instruction's extents do not divide the tile.
    Undivided {
        /// Its rows.
        m: u16,
        /// Its columns.
        n: u16,
        /// Its depth.
        k: u16,
    },
    /// The matrix unit's products of these columns do not take the operand in this layout's order.
    Order {
        /// Number of the limit in [`lanebook_tables::Units::order_limits`].
        limit: u16,
        /// Columns of the product.
        columns: u16,
    },
    /// Lanes of tensor memory that the accumulator takes are reached by no warp of the group: each
    /// reaches a part of them by its number.
    Reach {
        /// Warps of the group.
        warps: u32,
        /// Warps that reach all lanes together.
        needed: u32,
    },
    /// Tensor memory has fewer columns.
    Columns {
        /// Columns wanted.
        need: u32,
        /// Columns there are.
        have: u32,
    },
    /// Tiles that live at the same time do not fit in shared memory together if this one is as
    /// large.
    Room {
        /// Bytes that it takes.
        bytes: u32,
        /// Bytes that it may take.
        most: u32,
    },
    /// The tile has no such movement (its form of addressing is not available here).
    Form,
    /// Elements that share a register, or a lane's copies of them, go different ways in different
    /// lanes.
    Tangled,
    /// Elements would have to leave their warp.
    Warps,
    /// No instruction moves registers between lanes whose numbers differ in these bits.
    Exchange {
        /// The bits.
        lanes: u8,
    },
    /// The tile is too large for the planner's limits.
    Size,
    /// Legal, but dearer than the pick (costs in quarter units).
    Dearer,
}

/// Counted and estimated figures of a movement, for one warp and one execution.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct Figures {
    /// Instructions (both of a pair counted, and what stands between).
    pub count: u32,
    /// Shared-memory transactions of one instruction, and the least possible.
    pub conflicts: Conflicts,
    /// Segments of global memory that one instruction touches.
    pub segments: u32,
    /// Distinct address registers beyond the first.
    pub further_addresses: u32,
    /// Registers that hold the result.
    pub registers: u32,
    /// Weighted sum in quarter units.
    pub cost: u32,
}
