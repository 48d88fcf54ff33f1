//! A layout, in whatever notation, as a distribution over lanes, warps and registers: for each bit
//! of an element's number, row by row, where it is. Also of warps of another size: those of 32
//! lanes on waves of 64, and back.

mod blocks;
pub(crate) mod in_memory;
mod no_distribution;
mod panels;

pub use no_distribution::NoDistribution;

use crate::ask::{names, on_arch};
use crate::error::{QueryError, Why};
use crate::eval;
use crate::homes::{Distribution, ElementBit, MOST_BITS};
use crate::named_axes::thread_bit;
use crate::shaped;
use crate::text::{Scanner, TextSpan};
use crate::value::{Asked, Placed, QueryStorage, QueryValue};
use core::fmt::Write;
use lanebook_layout::{AxisId, Coord, PostMap};
use lanebook_tables::{ArchId, Tables};
use panels::grid_of;

/// Bits of a register.
const REGISTER_BITS: u32 = 32;

/// Axes that number blocks.
pub(crate) const BLOCKS: [AxisId; 7] =
    [AxisId::BLOCK, AxisId::CBX, AxisId::CBY, AxisId::CBZ, AxisId::BX, AxisId::BY, AxisId::BZ];

/// How the lanes of two warps of 32 make the lanes of one wave of 64, and the other way round.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum WarpSplit {
    /// The first warp is the lower half of the wave, the second the upper one.
    #[default]
    Halves,
    /// The first warp is the even lanes of the wave, the second the odd ones.
    Interleaved,
}

impl WarpSplit {
    /// Both, by name.
    pub const NAMED: [(&'static str, Self); 2] =
        [("halves", Self::Halves), ("interleaved", Self::Interleaved)];

    /// The one of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, split)| split)
    }
}

/// The shape and the element of a tile, and the lanes of a wave.
#[derive(Copy, Clone, Debug)]
pub struct Tile<'a> {
    /// Extents; the last is the fastest.
    pub extents: &'a [u32],
    /// Bits of an element.
    pub element_bits: u16,
}

/// Reads two layouts, in any notation or as operands of instructions, as distributions of a tile over
/// waves of `arch`; they stand in `storage` then. `on ARCH` behind one says of which architecture's
/// warps it is.
///
/// A CuTe layout of two modes is one of threads and values, as CuTe has them: from (thread, value)
/// to the element, column by column. Of warps that it says nothing of each holds all of the tile.
///
/// # Errors
/// Which of them is none, and why.
pub fn distributions(
    tables: &Tables<'_>,
    arch: ArchId,
    texts: [&str; 2],
    tile: Tile<'_>,
    split: WarpSplit,
    storage: &mut QueryStorage,
) -> Result<(), (u8, NoDistribution)> {
    for (number, text) in (0u8..).zip(texts) {
        distribution(tables, arch, text, tile, (split, number), storage)
            .map_err(|why| (number, why))?;
    }
    Ok(())
}

/// The element type that stands in front of a layout, where it is written in the type of a tile:
/// `f16` of `tensor<16x8xf16, ..>`.
#[doc(hidden)] // Of the crate on top.
#[must_use]
pub fn written_element(text: &str) -> Option<&str> {
    let mut scan = Scanner::new(text);
    if !scan.eats_type() || !scan.eat(b'<') {
        return None;
    }
    while scan.extent().is_some() {}
    scan.name()
}

/// Reads a layout as one of the two distributions that `storage` has.
///
/// # Errors
/// Why it is none.
#[doc(hidden)] // Of the crate on top.
pub fn distribution(
    tables: &Tables<'_>,
    arch: ArchId,
    text: &str,
    tile: Tile<'_>,
    (split, number): (WarpSplit, u8),
    storage: &mut QueryStorage,
) -> Result<(), NoDistribution> {
    storage.shape = heapless::Vec::from_slice(tile.extents).unwrap_or_default();
    // What reads a layout needs much of the stack: nothing stands above it that need not.
    let own = evaluated(tables, arch, text, storage);
    storage.shape.clear();
    let own = own?;
    placed(tables, (arch, own), tile, split, (storage, number))
}

/// log2 of the lanes of an architecture's waves.
fn wave_of(tables: &Tables<'_>, arch: ArchId) -> Option<u8> {
    let lanes = tables.arch(arch)?.wave_lanes.first().copied()?;
    u8::try_from(lanes.checked_ilog2()?).ok()
}

/// Computes a layout's text into value 0; the architecture that it is of.
#[inline(never)]
pub(crate) fn evaluated(
    tables: &Tables<'_>,
    arch: ArchId,
    text: &str,
    storage: &mut QueryStorage,
) -> Result<ArchId, NoDistribution> {
    let fault = |(at, why)| match blocks::are_several(text) {
        true => NoDistribution::Blocks,
        false => NoDistribution::Query(QueryError::at(text, at, why)),
    };
    let (body, own) = on_arch(tables, Some(arch), text).map_err(fault)?;
    let (mut scan, asked) = (Scanner::new(body), Asked { tables, arch: own });
    names(asked, &mut scan, storage).map_err(fault)?;
    let start = TextSpan::new(scan.at, scan.at).start;
    if let Some(function) = eval::expression(asked, &mut scan, storage).map_err(fault)? {
        return Err(fault((start, Why::Nested { function })));
    }
    if scan.peek().is_some() {
        let at = TextSpan::new(scan.at, scan.at).start;
        return Err(fault((at, Why::Needed(crate::error::Needed::End))));
    }
    if let QueryValue::Word(_) = storage.value(0) {
        return Err(fault((start, Why::UnknownName)));
    }
    own.ok_or(NoDistribution::Lanes)
}

/// Value 0, which is of the architecture `own`, as a distribution over waves of `arch`.
#[inline(never)]
fn placed(
    tables: &Tables<'_>,
    (arch, own): (ArchId, ArchId),
    tile: Tile<'_>,
    split: WarpSplit,
    (storage, number): (&mut QueryStorage, u8),
) -> Result<(), NoDistribution> {
    let waves = wave_of(tables, own).zip(wave_of(tables, arch));
    let (from, wave) = waves.ok_or(NoDistribution::Lanes)?;
    let mut found = placed_on(Asked { tables, arch: Some(own) }, tile, from, storage)?;
    found.split(wave, split)?;
    if let Some(place) = storage.distributions.get_mut(usize::from(number)) {
        *place = found;
    }
    Ok(())
}

impl QueryStorage {
    /// The two that [`distributions`] has read.
    #[must_use]
    pub const fn distributions(&self) -> &[Distribution; 2] {
        &self.distributions
    }

    /// Of the layout of memory that was read last, if no strides say it: where each bit of an
    /// element's number lies, in elements; else nothing.
    #[doc(hidden)] // Of the crate on top.
    #[must_use]
    pub fn bit_places(&self) -> &[u32] {
        &self.places
    }
}

/// Value 0 as a distribution over waves of `2^wave` lanes.
#[inline(never)]
fn placed_on(
    asked: Asked<'_>,
    tile: Tile<'_>,
    wave: u8,
    storage: &mut QueryStorage,
) -> Result<Distribution, NoDistribution> {
    if let QueryValue::Encoding(_) = storage.value(0) {
        shaped::give(asked, storage, 0, tile.extents)?;
    }
    let QueryValue::Layout(placed) = storage.value(0) else {
        return Err(NoDistribution::Memory);
    };
    let total = tile.extents.iter().try_fold(1u64, |all, n| all.checked_mul(u64::from(*n)));
    let most = 1u64.wrapping_shl(u32::try_from(MOST_BITS).unwrap_or(0));
    let total = total.filter(|n| *n > 0 && *n <= most).ok_or(NoDistribution::Extents)?;
    let panels = grid_of(tile.extents).ok_or(NoDistribution::Extents)?;
    let mut out = Distribution {
        bits: u8::try_from(total.trailing_zeros()).map_err(|_| NoDistribution::Extents)?,
        wave,
        warps: 0,
        element_bits: tile.element_bits,
        register_copies: 0,
        has_copies_inside: false,
        is_packed_anew: false,
        inside_copies: 0,
        panels,
        homes: [ElementBit::Bit(u8::MAX); MOST_BITS],
    };
    if placed.layout.view().post != PostMap::None {
        return Err(NoDistribution::Post);
    }
    let axes = placed.layout.view().axes().map_err(Why::from)?;
    if BLOCKS.iter().any(|axis| axes.contains(axis)) {
        return Err(NoDistribution::Blocks);
    }
    let by_lane = [AxisId::LANE, AxisId::TX, AxisId::TID_IN_WG].iter().any(|a| axes.contains(a));
    if by_lane {
        out.of_places(placed, tile, total)?;
    } else if axes.iter().all(|axis| *axis == AxisId::M) && !placed.elements.row_major {
        if out.panels() != [1, 1] {
            return Err(NoDistribution::Extents);
        }
        out.of_values(placed, tile)?;
    } else {
        return Err(NoDistribution::Memory);
    }
    out.pack()?;
    Ok(out)
}

impl Distribution {
    fn place(&mut self, bit: u32, home: ElementBit) -> Result<(), NoDistribution> {
        if self.homes().contains(&home) {
            return Err(NoDistribution::Twice);
        }
        let bits = usize::from(self.bits);
        let known = self.homes.get_mut(..bits).and_then(|homes| homes.get_mut(bit as usize));
        let slot = known.ok_or(NoDistribution::Shape)?;
        if *slot != ElementBit::Bit(u8::MAX) {
            return Err(NoDistribution::Twice);
        }
        *slot = home;
        if let ElementBit::Warp(warp) = home {
            self.has_warp(warp);
        }
        Ok(())
    }

    /// The layout speaks of warps whose numbers have this bit, be it for copies.
    fn has_warp(&mut self, bit: u8) {
        self.warps = self.warps.max(bit.saturating_add(1));
    }

    /// The home of a thread's bit.
    fn thread(&self, bit: u32) -> ElementBit {
        let bit = u8::try_from(bit).unwrap_or(u8::MAX);
        match bit.checked_sub(self.wave) {
            Some(warp) => ElementBit::Warp(warp),
            None => ElementBit::Lane(bit),
        }
    }

    /// The home of a position on an axis; `None` of an axis that registers do not have.
    fn on_axis(&self, axis: AxisId, bit: u32) -> Option<ElementBit> {
        let narrow = u8::try_from(bit).ok()?;
        let each = u32::from(self.element_bits).checked_ilog2().unwrap_or(0);
        match axis {
            AxisId::LANE => Some(ElementBit::Lane(narrow)),
            AxisId::WARP | AxisId::WID_IN_WG => Some(ElementBit::Warp(narrow)),
            AxisId::TX | AxisId::TID_IN_WG => Some(self.thread(bit)),
            AxisId::BIT => Some(ElementBit::Bit(narrow)),
            AxisId::REGISTER | AxisId::M => {
                u8::try_from(bit.checked_add(each)?).ok().map(ElementBit::Bit)
            }
            _ => Some(self.thread(thread_bit(axis, self.wave)?.checked_add(bit)?)),
        }
    }

    /// From a layout that says where each element is.
    fn of_places(
        &mut self,
        placed: &Placed,
        tile: Tile<'_>,
        total: u64,
    ) -> Result<(), NoDistribution> {
        let view = placed.layout.view();
        if view.size_value().map_err(Why::from)? != total {
            return Err(NoDistribution::Shape);
        }
        let mut room = [0u32; 32];
        let own = placed.extents(&mut room);
        // What has no shape of its own counts elements as the tile does, the last the fastest.
        let shapeless = placed.elements.rank == 0 && placed.elements.row_major;
        let more = |n: &&u32| **n != 1;
        let same = own.iter().filter(more).eq(tile.extents.iter().filter(more));
        let is_panelled = self.panels() != [1, 1];
        let same = same || is_flattened(own, tile.extents);
        if !(same || shapeless) || !(is_panelled || own.iter().all(|n| n.is_power_of_two())) {
            return Err(NoDistribution::Shape);
        }
        let mut at = Coord::new();
        view.apply_flat(0, &mut at).map_err(Why::from)?;
        let axes = view.axes().map_err(Why::from)?;
        if axes.iter().any(|axis| at.get(*axis) != 0) {
            return Err(NoDistribution::Post);
        }
        if is_panelled {
            self.of_panels(placed, own, tile.extents)?;
            return self.copied(placed);
        }
        for bit in 0..u32::from(self.bits) {
            let mut whole = [0u64; 32];
            let coordinate = coordinate(1u64.wrapping_shl(bit), own, &mut whole);
            let flat = placed.flat(coordinate).ok_or(NoDistribution::Shape)?;
            let mut at = Coord::new();
            view.apply_flat(flat, &mut at).map_err(Why::from)?;
            let mut home = None;
            for axis in &axes {
                let Some(position) = u64::try_from(at.get(*axis)).ok().filter(|n| *n != 0) else {
                    continue;
                };
                if !position.is_power_of_two() || home.is_some() {
                    return Err(NoDistribution::Several);
                }
                home = Some(
                    self.on_axis(*axis, position.checked_ilog2().unwrap_or(0))
                        .ok_or(NoDistribution::Memory)?,
                );
            }
            self.place(bit, home.ok_or(NoDistribution::Several)?)?;
        }
        self.copied(placed)
    }

    /// Lanes and registers that hold copies are those that the layout says, and no others are left.
    fn copied(&mut self, placed: &Placed) -> Result<(), NoDistribution> {
        let mut lanes = 0u32;
        for iter in placed.layout.view().replica {
            let extent = iter.extent_value().map_err(Why::from)?;
            let stride = iter.stride_value().map_err(Why::from)?;
            let stride = u64::try_from(stride).map_err(|_| NoDistribution::Copies)?;
            if !extent.is_power_of_two() || !stride.is_power_of_two() {
                return Err(NoDistribution::Copies);
            }
            for bit in stride.checked_ilog2().unwrap_or(0)
                ..stride
                    .checked_ilog2()
                    .unwrap_or(0)
                    .saturating_add(extent.checked_ilog2().unwrap_or(0))
            {
                let home = self.on_axis(iter.axis(), bit).ok_or(NoDistribution::Memory)?;
                if self.homes().contains(&home) {
                    return Err(NoDistribution::Twice);
                }
                match home {
                    ElementBit::Lane(lane) => lanes |= 1u32.wrapping_shl(u32::from(lane)),
                    ElementBit::Warp(warp) => self.has_warp(warp),
                    ElementBit::Bit(bit) => self.copy_register(bit)?,
                }
            }
        }
        self.said(lanes)
    }

    fn copy_register(&mut self, bit: u8) -> Result<(), NoDistribution> {
        if self.panels() != [1, 1] {
            // Panels would be apart by what the copies take.
            return Err(NoDistribution::Copies);
        }
        let register = REGISTER_BITS.max(u32::from(self.element_bits)).checked_ilog2().unwrap_or(0);
        let Some(number) = u32::from(bit).checked_sub(register) else {
            return self.copy_inside(bit);
        };
        self.register_copies |= 1u32.checked_shl(number).ok_or(NoDistribution::Extents)?;
        Ok(())
    }

    /// Without copies inside of a register the elements above them move down.
    fn copy_inside(&mut self, bit: u8) -> Result<(), NoDistribution> {
        self.inside_copies |= 1u32.checked_shl(u32::from(bit)).ok_or(NoDistribution::CopyInside)?;
        Ok(())
    }

    /// Elements of registers that hold copies of theirs side by side, without the copies.
    fn pack_inside(&mut self, (element, register): (u32, u32)) {
        let copies = core::mem::take(&mut self.inside_copies);
        self.has_copies_inside = true;
        let bits = usize::from(self.bits);
        let homes = self.homes.get_mut(..bits).unwrap_or(&mut []);
        let is_copy = |bit: u32| copies.checked_shr(bit).unwrap_or(0) & 1 == 1;
        let first_copy = (element..register).find(|bit| is_copy(*bit)).unwrap_or(register);
        for home in homes {
            let ElementBit::Bit(bit) = home else { continue };
            self.is_packed_anew |= u32::from(*bit) > first_copy;
            let below = (element..u32::from(*bit)).filter(|bit| is_copy(*bit)).count();
            *bit = bit.saturating_sub(u8::try_from(below).unwrap_or(u8::MAX));
        }
    }

    /// Each lane holds elements or is one of `copies`.
    fn said(&self, copies: u32) -> Result<(), NoDistribution> {
        let holds = |lane: u8| {
            copies.checked_shr(u32::from(lane)).unwrap_or(0) & 1 == 1
                || self.homes().contains(&ElementBit::Lane(lane))
        };
        let beyond = |home: &ElementBit| matches!(home, ElementBit::Lane(l) if *l >= self.wave);
        if self.homes().iter().any(beyond) {
            return Err(NoDistribution::Lanes);
        }
        if (0..self.wave).all(holds) { Ok(()) } else { Err(NoDistribution::Unsaid) }
    }

    /// From a layout of threads and values to elements, column by column.
    fn of_values(&mut self, placed: &Placed, tile: Tile<'_>) -> Result<(), NoDistribution> {
        let view = placed.layout.view();
        let mut room = [0u32; 32];
        let own = placed.extents(&mut room);
        let &[threads, values] = own else { return Err(NoDistribution::Memory) };
        if !threads.is_power_of_two() || !values.is_power_of_two() || !view.offset.is_empty() {
            return Err(NoDistribution::Extents);
        }
        let each = u32::from(self.element_bits).checked_ilog2().unwrap_or(0);
        let mut copies = 0u32;
        for bit in 0..threads
            .checked_ilog2()
            .unwrap_or(0)
            .saturating_add(values.checked_ilog2().unwrap_or(0))
        {
            let mut at = Coord::new();
            view.apply_flat(1u64.wrapping_shl(bit), &mut at).map_err(Why::from)?;
            let element = u64::try_from(at.get(AxisId::M)).map_err(|_| NoDistribution::Several)?;
            let home = match bit.checked_sub(threads.checked_ilog2().unwrap_or(0)) {
                None => self.thread(bit),
                Some(value) => {
                    ElementBit::Bit(u8::try_from(value.saturating_add(each)).unwrap_or(u8::MAX))
                }
            };
            if element == 0 {
                match home {
                    ElementBit::Lane(lane) => copies |= 1u32.wrapping_shl(u32::from(lane)),
                    ElementBit::Warp(warp) => self.has_warp(warp),
                    ElementBit::Bit(bit) => self.copy_register(bit)?,
                }
                continue;
            }
            if !element.is_power_of_two() {
                return Err(NoDistribution::Several);
            }
            let number = by_rows(element.checked_ilog2().unwrap_or(0), tile.extents)
                .ok_or(NoDistribution::Shape)?;
            self.place(number, home)?;
        }
        if self.homes().contains(&ElementBit::Bit(u8::MAX)) {
            return Err(NoDistribution::Shape);
        }
        self.said(copies)
    }

    /// Registers without their copies: what is left follows each other.
    fn pack(&mut self) -> Result<(), NoDistribution> {
        let element = u32::from(self.element_bits).checked_ilog2().unwrap_or(0);
        let register = REGISTER_BITS.checked_ilog2().unwrap_or(0).max(element);
        if self.inside_copies != 0 {
            if self.register_copies != 0 {
                return Err(NoDistribution::CopyInside);
            }
            self.pack_inside((element, register));
        }
        let taken = |bits: &[ElementBit], bit: u32| {
            u8::try_from(bit).is_ok_and(|bit| bits.contains(&ElementBit::Bit(bit)))
        };
        let below = self
            .homes()
            .iter()
            .any(|home| matches!(home, ElementBit::Bit(b) if u32::from(*b) < element));
        if below || !u32::from(self.element_bits).is_power_of_two() {
            return Err(NoDistribution::Packing);
        }
        let inside = (element..register).filter(|bit| taken(self.homes(), *bit)).count() as u32;
        if inside != 0 && inside != register.saturating_sub(element) {
            // A tile of less than a register has its first elements there.
            let first = element..element.saturating_add(inside);
            let alone = !self
                .homes()
                .iter()
                .any(|home| matches!(home, ElementBit::Bit(b) if u32::from(*b) >= register));
            if !alone || !first.into_iter().all(|bit| taken(self.homes(), bit)) {
                return Err(NoDistribution::Packing);
            }
        }
        let mut next = u8::try_from(register).unwrap_or(u8::MAX);
        let mut copies = 0u32;
        let above = |home: &ElementBit| match home {
            ElementBit::Bit(bit) => u32::from(*bit).saturating_add(1),
            _ => 0,
        };
        let end = self.homes().iter().map(above).max().unwrap_or(0);
        for bit in register..64 {
            let Ok(narrow) = u8::try_from(bit) else { break };
            let number = bit.saturating_sub(register);
            let bits = usize::from(self.bits);
            let homes = self.homes.get_mut(..bits).unwrap_or(&mut []);
            match homes.iter_mut().find(|home| **home == ElementBit::Bit(narrow)) {
                Some(home) => {
                    *home = ElementBit::Bit(next);
                    next = next.saturating_add(1);
                }
                None => {
                    let copy = 1u32.checked_shl(number).unwrap_or(0) & self.register_copies;
                    if copy == 0 && bit < end {
                        return Err(NoDistribution::Packing);
                    }
                    copies |= copy;
                }
            }
        }
        self.register_copies = copies;
        Ok(())
    }

    /// The same over waves of `2^wave` lanes.
    fn split(&mut self, wave: u8, split: WarpSplit) -> Result<(), NoDistribution> {
        let bits = usize::from(self.bits);
        let homes = self.homes.get_mut(..bits).unwrap_or(&mut []);
        while self.wave < wave {
            for home in homes.iter_mut() {
                *home = match (*home, split) {
                    (ElementBit::Warp(0), WarpSplit::Halves) => ElementBit::Lane(self.wave),
                    (ElementBit::Warp(0), WarpSplit::Interleaved) => ElementBit::Lane(0),
                    (ElementBit::Warp(bit), _) => ElementBit::Warp(bit.saturating_sub(1)),
                    (ElementBit::Lane(bit), WarpSplit::Interleaved) => {
                        ElementBit::Lane(bit.saturating_add(1))
                    }
                    (other, _) => other,
                };
            }
            self.wave = self.wave.saturating_add(1);
            self.warps = self.warps.saturating_sub(1);
        }
        while self.wave > wave {
            let top = self.wave.saturating_sub(1);
            for home in homes.iter_mut() {
                *home = match (*home, split) {
                    (ElementBit::Lane(bit), WarpSplit::Halves) if bit == top => ElementBit::Warp(0),
                    (ElementBit::Lane(0), WarpSplit::Interleaved) => ElementBit::Warp(0),
                    (ElementBit::Lane(bit), WarpSplit::Interleaved) => {
                        ElementBit::Lane(bit.saturating_sub(1))
                    }
                    (ElementBit::Warp(bit), _) => ElementBit::Warp(bit.saturating_add(1)),
                    (other, _) => other,
                };
            }
            self.wave = top;
            self.warps = self.warps.saturating_add(1);
        }
        Ok(())
    }

    /// Whether each register that is written is one of its own, as of a tile that is handed over.
    ///
    /// # Errors
    /// [`NoDistribution::HandedCopies`]: some are copies of others.
    pub const fn handed_over(&self) -> Result<(), NoDistribution> {
        match self.register_copies == 0 && !self.has_copies_inside {
            true => Ok(()),
            false => Err(NoDistribution::HandedCopies),
        }
    }

    /// Whether its registers hold copies of their elements besides, which are left out.
    #[doc(hidden)] // Of the crate on top.
    #[must_use]
    pub const fn has_copies_inside(&self) -> bool {
        self.has_copies_inside
    }

    /// Whether elements are in the registers that are written, but for those that are copies.
    ///
    /// # Errors
    /// [`NoDistribution::CopyInside`]: they share registers with copies of theirs, which are left out.
    #[doc(hidden)] // Of the crate on top.
    pub const fn keeps_places(&self) -> Result<(), NoDistribution> {
        if self.is_packed_anew { Err(NoDistribution::CopyInside) } else { Ok(()) }
    }

    /// The register of the layout's that a register stands for: with its copies left out they
    /// follow each other, and so do those of a panel.
    #[must_use]
    pub fn written_register(&self, register: u32) -> u32 {
        if self.panels() != [1, 1] {
            return self.written_panel_register(register);
        }
        let (mut out, mut rest) = (0u32, register);
        for bit in 0..REGISTER_BITS {
            if self.register_copies.checked_shr(bit).unwrap_or(0) & 1 == 1 {
                continue;
            }
            out |= (rest & 1).checked_shl(bit).unwrap_or(0);
            rest >>= 1;
        }
        out
    }

    /// Bits of an element's number whose homes follow each other, the highest first: the home of the
    /// lowest of them, and how many they are.
    fn runs(&self) -> impl Iterator<Item = (ElementBit, u32)> + '_ {
        let mut left = self.homes();
        // Panels of columns stand between the bits of rows and those of columns.
        let cut = match self.panels.cols {
            0 | 1 => None,
            _ => Some(usize::from(self.panels.column_bits)),
        };
        core::iter::from_fn(move || {
            let (last, rest) = left.split_last()?;
            let (mut first, mut bits) = (*last, 1u32);
            left = rest;
            while let Some((below, rest)) = left.split_last()
                && below.next() == Some(first)
                && cut != Some(left.len())
            {
                (first, bits, left) = (*below, bits.saturating_add(1), rest);
            }
            Some((first, bits))
        })
    }

    /// The digits of an element's number, row by row, the slowest first: extent, stride, and axis.
    fn digits(
        &self,
        mut each: impl FnMut(u64, u64, &'static str) -> core::fmt::Result,
    ) -> core::fmt::Result {
        let [rows, cols] = self.panels().map(u64::from);
        let step = 1u64.checked_shl(u32::from(self.panels.step)).unwrap_or(0);
        let (down, along) = if self.panels.by_rows { (cols, 1) } else { (1, rows) };
        if rows > 1 {
            each(rows, step.saturating_mul(down), "@bit")?;
        }
        let mut left = u32::from(self.bits);
        let columns = u32::from(self.panels.column_bits);
        let mut panels = (cols > 1).then_some((cols, step.saturating_mul(along)));
        for (home, bits) in self.runs() {
            if left <= columns
                && let Some((extent, stride)) = panels.take()
            {
                each(extent, stride, "@bit")?;
            }
            left = left.saturating_sub(bits);
            let (bit, axis) = match home {
                ElementBit::Lane(bit) => (bit, "@laneid"),
                ElementBit::Warp(bit) => (bit, "@warpid"),
                ElementBit::Bit(bit) => (bit, "@bit"),
            };
            let extent = 1u64.checked_shl(bits).unwrap_or(0);
            each(extent, 1u64.checked_shl(u32::from(bit)).unwrap_or(0), axis)?;
        }
        match panels {
            Some((extent, stride)) => each(extent, stride, "@bit"),
            None => Ok(()),
        }
    }

    /// Writes it in TIRx's notation over lanes, for a group of `2^warps` warps.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write(&self, warps: u8, sink: &mut impl Write) -> core::fmt::Result {
        let mut out = crate::write::Out::new(sink);
        out.text("S[(")?;
        let mut is_first = true;
        self.digits(|extent, _, _| {
            out.text(if is_first { "" } else { "," })?;
            is_first = false;
            out.unsigned(extent)
        })?;
        // One element alone.
        out.text(if is_first { "1):(" } else { "):(" })?;
        let is_one = core::mem::replace(&mut is_first, true);
        self.digits(|_, stride, axis| {
            out.text(if is_first { "" } else { "," })?;
            is_first = false;
            out.unsigned(stride)?;
            out.text(axis)
        })?;
        out.text(if is_one { "1@bit)]" } else { ")]" })?;
        let lanes = (0..self.wave).map(ElementBit::Lane);
        let copies = lanes.chain((0..warps).map(ElementBit::Warp));
        let copies = || copies.clone().filter(|home| !self.homes().contains(home));
        if copies().next().is_none() {
            return Ok(());
        }
        out.text(" + R[(")?;
        for (k, _) in copies().enumerate() {
            out.text(if k > 0 { ",2" } else { "2" })?;
        }
        out.text("):(")?;
        for (k, home) in copies().enumerate() {
            out.text(if k > 0 { "," } else { "" })?;
            let (bit, axis) = match home {
                ElementBit::Warp(bit) => (bit, "@warpid"),
                ElementBit::Lane(bit) | ElementBit::Bit(bit) => (bit, "@laneid"),
            };
            out.unsigned(1u64.checked_shl(u32::from(bit)).unwrap_or(0))?;
            out.text(axis)?;
        }
        out.text(")]")
    }
}

/// Whether a tile of two dimensions has the elements of one of more row by row: the last dimension is
/// the same, all others are rows.
fn is_flattened(own: &[u32], extents: &[u32]) -> bool {
    let (Some((last, front)), &[rows, cols]) = (own.split_last(), extents) else { return false };
    let all = front.iter().try_fold(1u32, |all, extent| all.checked_mul(*extent));
    front.len() > 1 && *last == cols && all == Some(rows)
}

/// The coordinate of an element by its number row by row.
fn coordinate<'c>(element: u64, extents: &[u32], room: &'c mut [u64; 32]) -> &'c [u64] {
    let mut rest = element;
    let used = extents.len().min(room.len());
    let slots = room.get_mut(..used).unwrap_or(&mut []);
    for (slot, extent) in slots.iter_mut().zip(extents).rev() {
        let extent = u64::from(*extent);
        *slot = rest.checked_rem(extent).unwrap_or(0);
        rest = rest.checked_div(extent).unwrap_or(0);
    }
    slots
}

/// The bit of an element's number row by row, by its bit column by column.
fn by_rows(bit: u32, extents: &[u32]) -> Option<u32> {
    let mut rest = bit;
    let log = |n: &u32| n.checked_ilog2().unwrap_or(0);
    let mut behind = extents.iter().fold(0u32, |all, n| all.saturating_add(log(n)));
    for extent in extents {
        let own = extent.checked_ilog2().unwrap_or(0);
        behind = behind.checked_sub(own)?;
        if rest < own {
            return rest.checked_add(behind);
        }
        rest = rest.checked_sub(own)?;
    }
    None
}
