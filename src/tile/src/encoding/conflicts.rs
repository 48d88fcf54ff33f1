//! Exact bank conflicts of a warp's access to shared memory, from its register layout, the shared
//! layout and the architecture's bank model.
//!
//! One access is one instruction: each lane reads or writes a vector of
//! [`RegisterAccess::vector_bytes`] at one address. Lanes are served in the groups of the
//! [`BankModel`]; a group takes as many passes as the largest number of *different* words that fall
//! into one of its banks. Equal words are delivered together. Nothing is estimated: all lanes are
//! evaluated, so padded layouts count too.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::encoding::conflicts::{Collision, ReadWrite, RegisterAccess, StridedAccess, count, count_bytes, count_strided, model, vector_bits};
//! use lanebook::encoding::{TableTiles, to_linear};
//! use lanebook::layout::notation::{self, ttg};
//! use lanebook::layout::triton::address::Addresses;
//! use lanebook::layout::{NoSyms, WellKnown, ops};
//!
//! // Rows of 64 elements of 16 bits, a vector of 8 for each lane: eight lanes to a row.
//! let arch = TABLES.arch_named("sm_80").unwrap();
//! let registers = ttg::parse("#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [0, 1]}>").unwrap();
//! let registers = to_linear(&TABLES, arch, &registers, &[8, 64]).unwrap();
//! let shared = ttg::parse("#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>").unwrap();
//! let shared = Addresses::new(&shared, &[8, 64], 16).unwrap();
//! let width = vector_bits(&registers, &shared).unwrap();
//! assert_eq!(width, 3);
//! let access = RegisterAccess { registers: &registers, shared: &shared, vector_bytes: 16 };
//! let banks = model(&TABLES, arch, 16, ReadWrite::Read).unwrap();
//! let mut met: Vec<Collision> = Vec::new();
//! let found = count(&access, 0, 0, banks, |pair| met.push(pair)).unwrap();
//! assert_eq!((found.extra(), met.len()), (0, 0));
//! // By addresses alone: all lanes in one bank.
//! let worst = count_bytes(banks, 32, 4, |lane| Some(Some(u64::from(lane) * 128)), |_| {}).unwrap();
//! assert!(worst.extra() > 0);
//! // Extents that are no powers of two, in the strided form.
//! let lanes = notation::tirx::parse("S[(24,8):(1@laneid,16@bit)]", &WellKnown, &mut NoSyms).unwrap();
//! let rows = notation::tirx::parse("S[(24,8):(8,1)]", &WellKnown, &mut NoSyms).unwrap();
//! let inverse = ops::guarded_inverse(&lanes.view()).unwrap();
//! let strided = StridedAccess { registers: &inverse, shared: rows.view(), element_bits: 16, vector_bytes: 16 };
//! assert_eq!(count_strided(&strided, 0, 0, banks, |_| {}).unwrap().extra(), 0);
//! # let _ = TableTiles::new(&TABLES, arch);
//! ```

use crate::map::Conflicts;
use lanebook_layout::ops::GuardedInverse;
use lanebook_layout::triton::EncodingError;
use lanebook_layout::triton::address::Addresses;
use lanebook_layout::{AxisId, Coord, Hw, LayoutRef, Linear, Logical};
use lanebook_tables::{ArchId, BankModel, Capability, Space, Tables};

/// Widest vector of one lane in bits.
const MAX_VECTOR_BITS: u32 = 128;
/// Most words that one group can touch: 64 lanes of 16 bytes over 4-byte banks, or 32 of 32 over
/// 2-byte ones.
const MAX_WORDS: usize = 512;

/// Whether lanes read shared memory or write it; architectures may serve them in different groups.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ReadWrite {
    /// From shared memory.
    Read,
    /// To shared memory.
    Write,
}

/// A register layout that reads from or writes to a shared layout.
#[derive(Copy, Clone, Debug)]
pub struct RegisterAccess<'a> {
    /// From register, lane and warp to the tensor.
    pub registers: &'a Linear<Hw, Logical>,
    /// Where the tensor's elements are.
    pub shared: &'a Addresses,
    /// Bytes of one lane's vector; elements narrower than a byte count as bytes.
    pub vector_bytes: u16,
}

/// Two lanes of one group that want different words of the same bank.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// Position of the group in the model.
    pub group: u16,
    /// The bank.
    pub bank: u16,
    /// The lanes, first met first; a lane may collide with itself if its vector wraps around the
    /// banks.
    pub lanes: (u8, u8),
    /// The words, in banks' widths from the buffer's start.
    pub words: (u64, u64),
}

/// The widest vector (log2 of its elements, at most 128 bits) that `registers` can move in one
/// access: so many of the lowest offset bits are numbered by register bits alone, each by one of
/// its own, and by nothing else. Padding limits it to the largest power of two that divides every
/// interval and pad.
///
/// # Errors
/// [`EncodingError::Layout`] if the layouts are not of the same tensor.
pub fn vector_bits(
    registers: &Linear<Hw, Logical>,
    shared: &Addresses,
) -> Result<u8, EncodingError> {
    let offsets = shared.offsets();
    let to_offset = offsets.compose(registers)?;
    let column = |axis: AxisId, bit: u8| to_offset.column_on(axis, bit, AxisId::M).unwrap_or(0);
    let element = u32::from(shared.element_bits()).max(1);
    let mut width = 0u8;
    while width < 7
        && element
            .checked_shl(u32::from(width).saturating_add(1))
            .is_some_and(|b| b <= MAX_VECTOR_BITS)
    {
        let unit = 1u64.checked_shl(u32::from(width)).unwrap_or(0);
        let count = registers.ins().bits_of(AxisId::REGISTER);
        let own = (0..count).filter(|b| column(AxisId::REGISTER, *b) == unit).count();
        let touched =
            registers.ins().iter().flat_map(|(axis, bits)| (0..bits).map(move |b| (axis, b)));
        let others = touched.filter(|(axis, b)| column(*axis, *b) & unit != 0).count();
        // Copies of a register (equal columns) do not disturb it, other bits do.
        let next = unit.checked_shl(1).unwrap_or(0);
        if own == 0 || others != own || !keeps_together(shared, next) {
            break;
        }
        width = width.saturating_add(1);
    }
    Ok(width)
}

/// Whether aligned runs of `count` elements stay together and aligned under the padding.
fn keeps_together(shared: &Addresses, count: u64) -> bool {
    if !shared.is_padded() {
        return true;
    }
    // The padded position of a run's last element, and the run's alignment, over the first
    // intervals that matter.
    let last = count.saturating_sub(1);
    shared.pads().iter().all(|(interval, pad)| {
        let divides = |v: u32| u64::from(v).checked_rem(count).is_none_or(|r| r == 0);
        *pad == 0 || (divides(*interval) && divides(*pad))
    }) && shared.padded(last) == last
}

/// The bank model of an access of `bytes` bytes a lane on an architecture: that of the first copy
/// atom of the architecture between registers and shared memory whose slots have as many bytes, one
/// slot a lane. `None` if it has no such copy atom.
#[must_use]
pub fn model<'t>(
    tables: &'t Tables<'t>,
    arch: ArchId,
    bytes: u16,
    way: ReadWrite,
) -> Option<&'t BankModel<'t>> {
    let arch = tables.arch(arch)?;
    let (from, to) = match way {
        ReadWrite::Read => (Space::Shared, Space::Register),
        ReadWrite::Write => (Space::Register, Space::Shared),
    };
    let movements = arch
        .dispatch(Capability::Transfer { from, to })
        .iter()
        .filter_map(|id| tables.atom(*id)?.movement);
    let name = movements.into_iter().find_map(|m| {
        let side = if way == ReadWrite::Read { m.from } else { m.to };
        (side.slot_bytes == bytes && !m.crosses_lanes).then_some(side.banks)
    })?;
    arch.banks.iter().find(|b| b.name == name)
}

/// Counts the passes of the access by register `register` of warp `warp`, and reports every
/// collision.
///
/// `None` if the model's figures cannot be used: no banks, more than 256 of them, or more than 512
/// words in a group.
pub fn count(
    access: &RegisterAccess<'_>,
    register: u32,
    warp: u32,
    model: &BankModel<'_>,
    collide: impl FnMut(Collision),
) -> Option<Conflicts> {
    let ins = access.registers.ins();
    let lanes = 1u32.checked_shl(u32::from(ins.bits_of(AxisId::LANE)))?.min(64);
    let fixed = ins.insert(u64::from(register), AxisId::REGISTER).ok()?
        | ins.insert(u64::from(warp), AxisId::WARP).unwrap_or(0);
    let element = u64::from(access.shared.element_bits());
    let byte = |lane: u32| {
        let index = fixed | ins.insert(u64::from(lane), AxisId::LANE).unwrap_or(0);
        access
            .shared
            .element_packed(access.registers.apply_packed(index))
            .checked_mul(element)?
            .checked_div(8)
    };
    count_bytes(model, lanes, access.vector_bytes, |lane| Some(Some(byte(lane)?)), collide)
}

/// The same for layouts in the strided form, whose extents and intervals may be any integers.
#[derive(Copy, Clone, Debug)]
pub struct StridedAccess<'a> {
    /// From `laneid`, `warpid` and `bit` of the lane's registers back to the element: the inverse
    /// of a layout over these axes.
    pub registers: &'a GuardedInverse,
    /// From the element to its place on axis `m`, in elements.
    pub shared: LayoutRef<'a>,
    /// Bits of an element.
    pub element_bits: u16,
    /// Bytes of one lane's vector; elements narrower than a byte count as bytes.
    pub vector_bytes: u16,
}

/// Counts the passes of the access of the elements at bit `bit` of the registers of warp `warp`,
/// and reports every collision. Lanes that hold no element there are idle.
///
/// `None` as for [`count`], and for an element that `shared` has no place for.
pub fn count_strided(
    access: &StridedAccess<'_>,
    bit: u32,
    warp: u32,
    model: &BankModel<'_>,
    collide: impl FnMut(Collision),
) -> Option<Conflicts> {
    let byte = |lane: u32| {
        let mut at = Coord::new();
        for (axis, x) in [(AxisId::LANE, lane), (AxisId::WARP, warp), (AxisId::BIT, bit)] {
            at.add(axis, i64::from(x)).ok()?;
        }
        let Some(element) = access.registers.at(&at).ok()? else { return Some(None) };
        let place = u64::try_from(access.shared.offset_on(element.flat, AxisId::M).ok()?).ok()?;
        Some(Some(place.checked_mul(u64::from(access.element_bits))?.checked_div(8)?))
    };
    count_bytes(model, 64, access.vector_bytes, byte, collide)
}

/// Counts by the first byte of each lane's (or slot's) vector of `vector_bytes` bytes; `Some(None)` is an idle lane.
///
/// `None` as for [`count`], where `first_byte` gives none, and for addresses beyond 32 bits of words.
pub fn count_bytes(
    model: &BankModel<'_>,
    lane_count: u32,
    vector_bytes: u16,
    mut first_byte: impl FnMut(u32) -> Option<Option<u64>>,
    mut collide: impl FnMut(Collision),
) -> Option<Conflicts> {
    let (banks, width) = (u64::from(model.banks), u64::from(model.bank_bytes));
    if banks == 0 || width == 0 || banks > 256 {
        return None;
    }
    let bank_count = u32::from(model.banks);
    let mut out = Conflicts::default();
    for (group, mask) in (0u16..).zip(model.groups) {
        let mut words = [(0u32, 0u8); MAX_WORDS];
        let mut used = 0usize;
        let mut per_bank = [0u16; 256];
        for lane in (0..lane_count).filter(|l| mask.wrapping_shr(*l) & 1 == 1) {
            let Some(byte) = first_byte(lane)? else { continue };
            let first = byte.checked_div(width)?;
            let last = byte
                .checked_add(u64::from(vector_bytes.max(1)))?
                .checked_sub(1)?
                .checked_div(width)?;
            for word in first..=last {
                let word = u32::try_from(word).ok()?;
                let known = words.get(..used).unwrap_or(&[]);
                if known.iter().any(|(w, _)| *w == word) {
                    continue;
                }
                let bank = word.checked_rem(bank_count)?;
                let here = u8::try_from(lane).unwrap_or(u8::MAX);
                for (other, who) in
                    known.iter().filter(|(w, _)| w.checked_rem(bank_count) == Some(bank))
                {
                    collide(Collision {
                        group,
                        bank: bank as u16,
                        lanes: (*who, here),
                        words: (u64::from(*other), u64::from(word)),
                    });
                }
                *words.get_mut(used)? = (word, here);
                used = used.saturating_add(1);
                let slot = per_bank.get_mut(bank as usize)?;
                *slot = slot.saturating_add(1);
            }
        }
        if used == 0 {
            continue;
        }
        let worst = per_bank.iter().copied().max().unwrap_or(0);
        out.transactions = out.transactions.saturating_add(u32::from(worst));
        let least = (used as u64).checked_add(banks.saturating_sub(1))?.checked_div(banks)?.max(1);
        out.least = out.least.saturating_add(u32::try_from(least).unwrap_or(u32::MAX));
    }
    Some(out)
}
