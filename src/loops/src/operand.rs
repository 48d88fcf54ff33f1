//! How a warp reads a product's operand from shared memory: the elements that a lane holds, and the
//! instructions that bring rows of a tile to all lanes.

use crate::access_models::AccessModels;
use crate::machine::AnchorUnit;
use lanebook_infer::{UnitSide, UnitTile};
use lanebook_layout::AxisId;
use lanebook_tables::{Arch, AtomId, Capability, Role, Space, Tables};
use lanebook_tile::copy_atom::{BitPlace, CopyAtom};
use lanebook_tile::map::log2_exact;

/// Most elements of an operand in a lane.
const ELEMENTS: usize = 32;
/// Most digits of a lane's number in an operand's layout.
const DIGITS: usize = 8;
/// Most bits of a slot's number.
pub(crate) const SLOT_BITS: usize = 6;
/// Bits of a register.
const REGISTER_BITS: u32 = 32;
/// Bits of a byte, as an exponent.
const BYTE: u8 = 3;

/// What a lane holds of an operand of the instruction.
#[derive(Debug, Default)]
pub struct LaneTile {
    /// Bit in the lane's registers, and the row-major number in the instruction's tile without the
    /// lane's part; in the order of the bits.
    pub elements: heapless::Vec<(u16, u16), ELEMENTS>,
    /// Digits of the lane's number, behind them of the warp's among those that work together: unit,
    /// extent, and what one is worth in that number.
    pub lanes: heapless::Vec<(u16, u16, u16), DIGITS>,
    /// Columns of the tile.
    pub columns: u32,
    /// Rows are columns of the product's operand.
    pub transposed: bool,
}

impl LaneTile {
    /// That of one side of a unit.
    #[inline(never)] // The instruction's layout leaves the stack when this is done.
    #[must_use]
    pub fn of(unit: &AnchorUnit<'_>, side: UnitSide) -> Option<Self> {
        unit.tile(side, Self::taken).flatten()
    }

    fn taken(tile: &UnitTile<'_>) -> Option<Self> {
        let mut out =
            Self { columns: tile.columns, transposed: tile.transposed, ..Self::default() };
        if !tile.layout.offset.is_empty() {
            return None;
        }
        out.elements.push((0, 0)).ok()?;
        let mut unit = 1u32;
        for it in tile.layout.shard {
            let extent = it.extent_value().ok()?;
            let stride = u32::try_from(it.stride_value().ok()?).ok()?;
            let narrow = |n: u32| u16::try_from(n).ok();
            // Of warps that work together each has its part.
            let threads = match it.axis() {
                AxisId::LANE => Some(1),
                AxisId::WARP => Some(tile.wave),
                _ => None,
            };
            if let Some(threads) = threads {
                let apart = stride.checked_mul(threads)?;
                let digit = (narrow(apart)?, narrow(extent)?, narrow(unit)?);
                out.lanes.push(digit).ok()?;
            } else {
                let before = out.elements.len();
                for digit in 1..extent {
                    for k in 0..before {
                        let (bit, flat) = *out.elements.get(k)?;
                        let bit = u32::from(bit).checked_add(digit.checked_mul(stride)?)?;
                        let flat = u32::from(flat).checked_add(digit.checked_mul(unit)?)?;
                        out.elements.push((narrow(bit)?, narrow(flat)?)).ok()?;
                    }
                }
            }
            unit = unit.checked_mul(extent)?;
        }
        // In the order of the bits; they are few.
        for _ in 0..out.elements.len() {
            for k in 1..out.elements.len() {
                if let Some([a, b]) = out.elements.get_mut(k.saturating_sub(1)..=k)
                    && a.0 > b.0
                {
                    core::mem::swap(a, b);
                }
            }
        }
        Some(out)
    }

    /// The loads of a lane that brings its elements by itself, where they lie row by row or column
    /// by column: how many, and the bytes of the first.
    #[must_use]
    pub fn plain_loads(&self, place: &OperandPlace, widest: u32) -> Option<(u32, u32)> {
        let element = place.bits >> BYTE;
        let (mut count, mut run, mut first, mut last) = (0u32, 0u32, 0u32, 0u32);
        for (_, flat) in &self.elements {
            let at = place.byte(self.place(u32::from(*flat))?)?;
            let goes_on = count > 0 && Some(at) == last.checked_add(element) && run < widest;
            if !goes_on {
                count = count.checked_add(1)?;
            }
            run = if goes_on { run.checked_add(element)? } else { element };
            first = if count == 1 { run } else { first };
            last = at;
        }
        Some((count, first))
    }

    /// Row and column of the program's operand by the row-major number in the instruction's tile.
    #[must_use]
    pub fn place(&self, flat: u32) -> Option<[u32; 2]> {
        let (row, column) = (flat.checked_div(self.columns)?, flat.checked_rem(self.columns)?);
        Some(if self.transposed { [column, row] } else { [row, column] })
    }

    /// The row-major number of a lane's first element.
    #[must_use]
    pub fn lane(&self, lane: u32) -> Option<u32> {
        self.lanes.iter().try_fold(0u32, |sum, (unit, extent, worth)| {
            let digit = lane.checked_div(u32::from(*unit))?.checked_rem(u32::from(*extent))?;
            sum.checked_add(digit.checked_mul(u32::from(*worth))?)
        })
    }

    /// What a bit of the lane's number is worth in the row-major number, if it is a digit's.
    fn lane_bit(&self, bit: u8) -> Option<u32> {
        let unit = 1u32.checked_shl(u32::from(bit))?;
        self.lanes.iter().find_map(|(own, extent, worth)| {
            let times = unit.checked_div(u32::from(*own))?;
            let even = own.is_power_of_two() && extent.is_power_of_two();
            let inside = even && times > 0 && times < u32::from(*extent);
            inside.then(|| times.checked_mul(u32::from(*worth))).flatten()
        })
    }
}

/// Where an operand lies in shared memory.
#[derive(Copy, Clone, Debug)]
pub struct OperandPlace {
    /// Bytes from a row of the operand to the next, and from a column to the next, as the program
    /// counts them.
    pub steps: [u32; 2],
    /// Bits of an element.
    pub bits: u32,
    /// The dimension in which the operand's tiles are no part of the depth: 0 for the left one.
    pub free: usize,
    /// Rows, or columns, from a tile to the next in that dimension, and how many tiles a warp has
    /// there.
    pub tiles: (u32, u32),
    /// How many tiles follow each other in the depth.
    pub depth: u32,
}

impl OperandPlace {
    /// Bytes from the operand's start to a row and a column.
    #[must_use]
    pub fn byte(&self, [row, column]: [u32; 2]) -> Option<u32> {
        let [by_row, by_column] = self.steps;
        row.checked_mul(by_row)?.checked_add(column.checked_mul(by_column)?)
    }
}

/// An instruction that brings rows of a tile to all lanes.
#[derive(Debug)]
pub struct TileLoad {
    /// The instruction.
    pub id: AtomId,
    /// Tiles, one behind the other in the free dimension, whose registers follow each other in one
    /// of it.
    pub tiles: u32,
    /// Registers that one of it fills.
    pub registers: u8,
    /// The first element of each of its instances in the tile, as row and column.
    pub parts: heapless::Vec<[u8; 2], 4>,
    /// Rows and columns that each bit of a slot's number adds.
    pub slots: heapless::Vec<[u8; 2], SLOT_BITS>,
    /// Bytes behind the address of a slot.
    pub slot_bytes: u16,
    /// What an address must be a multiple of.
    pub align: u16,
}

impl TileLoad {
    /// The instruction that an operand is read by; `None` where each lane brings its own elements,
    /// because none takes rows of it as they lie, or with no fewer instructions.
    #[must_use]
    pub fn chosen(
        machine: &AccessModels<'_, '_>,
        tile: &LaneTile,
        place: &OperandPlace,
    ) -> Option<Self> {
        let (plain, _) = tile.plain_loads(place, machine.family.widest)?;
        let found = Self::of((machine.tables, machine.arch), tile, place)?;
        let parts = u32::try_from(found.parts.len()).ok()?;
        let aligned = place.steps.iter().all(|step| {
            let element = *step == place.bits >> BYTE;
            element || step.checked_rem(u32::from(found.align.max(1))) == Some(0)
        });
        (aligned && parts < plain.saturating_mul(found.tiles)).then_some(found)
    }

    /// Rows and columns of the address of a slot.
    #[must_use]
    pub fn step(&self, slot: u32) -> [u32; 2] {
        let own = (0u32..).zip(&self.slots).filter(|(bit, _)| slot.wrapping_shr(*bit) & 1 == 1);
        own.fold([0, 0], |[row, column], (_, step)| {
            let [rows, columns] = *step;
            [row.saturating_add(u32::from(rows)), column.saturating_add(u32::from(columns))]
        })
    }

    /// The instruction that brings an operand to its lanes with the fewest of it.
    #[inline(never)] // Copy atoms leave the stack when this is done.
    fn of(
        (tables, arch): (&Tables<'_>, &Arch<'_>),
        tile: &LaneTile,
        place: &OperandPlace,
    ) -> Option<Self> {
        let wish = Capability::Transfer { from: Space::Shared, to: Space::Register };
        let mut best: Option<(u32, Self)> = None;
        for id in arch.dispatch(wish) {
            let Some(own) = Self::by((tables, arch), *id, tile, place) else { continue };
            // Instances for as many tiles as one of the widest brings.
            let parts = u32::try_from(own.parts.len()).unwrap_or(u32::MAX);
            let count = parts.saturating_mul(16).checked_div(own.tiles).unwrap_or(u32::MAX);
            if best.as_ref().is_none_or(|best| count < best.0) {
                best = Some((count, own));
            }
        }
        best.map(|best| best.1)
    }

    #[inline(never)] // Of one instruction at a time.
    fn by(
        (tables, _): (&Tables<'_>, &Arch<'_>),
        id: AtomId,
        tile: &LaneTile,
        place: &OperandPlace,
    ) -> Option<Self> {
        let atom = tables.atom(id)?;
        let movement = atom.movement.as_ref().filter(|movement| movement.crosses_lanes)?;
        let copy = CopyAtom::of(id, atom)?;
        let data = atom.operands.get(usize::from(movement.to.operand))?;
        let plain = !copy.uniform
            && !copy.is_fixed
            && !copy.is_sized
            && !copy.is_split
            && copy.pair.is_none()
            && copy.register_base == 0
            && movement.from.base.is_none()
            && movement.atomic.is_none()
            && copy.piece_bits == copy.share_bytes.saturating_mul(8)
            && data.role == Role::Def
            && u32::from(data.registers).checked_mul(REGISTER_BITS)
                == copy.share_bytes.checked_mul(8);
        let whole = u32::try_from(tile.elements.len()).ok()?.checked_mul(place.bits)?;
        let dense = (0u32..)
            .zip(&tile.elements)
            .all(|(k, (bit, _))| Some(u32::from(*bit)) == k.checked_mul(place.bits));
        if !plain || !dense || !whole.is_power_of_two() || !place.bits.is_power_of_two() {
            return None;
        }
        let share = copy.share_bytes.checked_mul(8)?;
        let tiles = share.checked_div(whole)?.max(1);
        if place.tiles.1.checked_rem(tiles) != Some(0) {
            return None;
        }
        let mut out = Self {
            id,
            tiles,
            registers: data.registers,
            parts: heapless::Vec::new(),
            slots: heapless::Vec::new(),
            slot_bytes: movement.from.slot_bytes,
            align: movement.from.align_bytes,
        };
        let mut lanes = 0u8;
        for bit in copy.bits.as_slice() {
            let (register, memory) = copy.sides(*bit);
            if let BitPlace::Lane(_) = register {
                lanes = lanes.checked_add(1)?;
            }
            out.joined(tile, place, register, memory)?;
        }
        let all = tile.lanes.iter().fold(1u32, |n, digit| n.saturating_mul(u32::from(digit.1)));
        if Some(lanes) != log2_exact(u64::from(all)) {
            return None;
        }
        let mut first = 0u32;
        while first < whole {
            let own = tile.elements.get(usize::try_from(first.checked_div(place.bits)?).ok()?)?;
            out.parts.push(small(tile.place(u32::from(own.1))?)?).ok()?;
            first = first.checked_add(share)?;
        }
        Some(out)
    }

    /// One bit of the instruction's coordinate: the operand has it where the lanes want it, and
    /// memory where the instruction looks for it.
    fn joined(
        &mut self,
        tile: &LaneTile,
        place: &OperandPlace,
        register: BitPlace,
        memory: BitPlace,
    ) -> Option<()> {
        let whole = u32::try_from(tile.elements.len()).ok()?.checked_mul(place.bits)?;
        // Rows and columns that it is worth, or bytes inside of an element.
        let (step, inside) = match register {
            BitPlace::Lane(bit) => (tile.place(tile.lane_bit(bit)?)?, 0),
            BitPlace::RegisterBit(bit) => {
                let at = 1u32.checked_shl(u32::from(bit))?;
                if at < place.bits {
                    ([0, 0], 1u32.checked_shl(u32::from(bit.checked_sub(BYTE)?))?)
                } else if at < whole {
                    let number = usize::try_from(at.checked_div(place.bits)?).ok()?;
                    (tile.place(u32::from(tile.elements.get(number)?.1))?, 0)
                } else {
                    let mut step = [0, 0];
                    let times = at.checked_div(whole)?;
                    *step.get_mut(place.free)? = place.tiles.0.checked_mul(times)?;
                    (step, 0)
                }
            }
            _ => return None,
        };
        let bytes = place.byte(step)?;
        match memory {
            BitPlace::Byte(byte) => {
                let wanted = 1u32.checked_shl(u32::from(byte))?;
                (bytes.checked_add(inside)? == wanted).then_some(())
            }
            BitPlace::Slot(bit) if inside == 0 => {
                let bit = usize::from(bit);
                while self.slots.len() <= bit {
                    self.slots.push([0, 0]).ok()?;
                }
                *self.slots.get_mut(bit)? = small(step)?;
                Some(())
            }
            _ => None,
        }
    }
}

/// Rows and columns inside of a tile of an instruction.
fn small([row, column]: [u32; 2]) -> Option<[u8; 2]> {
    Some([u8::try_from(row).ok()?, u8::try_from(column).ok()?])
}
