//! One question at a time: given a value and a layout that somebody wants it in, which values
//! around it should be computed in that layout as well, which only there, and where is it cheaper
//! to convert? The answer is the cheapest cut of a network.
//!
//! The *region* of the question is grown from the value over all operations whose layouts follow
//! from each other, up and down, each value with the layout that the wanted one becomes there.
//! Values in the region may be computed in the old layout, in the new one, or in both; values at
//! its rim stay as they are. In the network:
//!
//! - node A: computed in the new layout (source side: yes), N: wanted in it by somebody;
//! - node B: kept in the old layout (sink side: yes), M: wanted in it by somebody.
//!
//! Wanted but not computed costs a conversion, computed costs its work, and neither A nor B is
//! endless. New layouts only ask for new ones and old for old, so every price is an arc and the
//! cheapest cut is the cheapest choice, exactly. Where a region's layouts meet in a way that is
//! neither (two paths that disagree), a conversion is charged.
use crate::remat::behaviour::{LayoutBehaviour, ValueReader};
use crate::remat::layouts::ProgramLayouts;
use crate::remat::min_cut::{ENDLESS, MinCut, SINK, SOURCE};
use heapless::Vec;
use lanebook_ir::layout_table::{NONE, ValueInLayout};
use lanebook_ir::{ErrorKind, Pool, Value};

/// Values of a region.
const REGION: usize = 128;
const _: () = assert!(REGION <= lanebook_ir::layout_table::TableValue::SLOTS);
/// Values that all questions of a program look at, at the most: so many, and so many for each of
/// its values. Behind half of it regions are small.
const LOOKS: (usize, usize) = (8192, 16);
/// Values of a small region.
const SMALL: usize = 16;
/// A region that is not made smaller.
const SMALLEST: usize = 6;
/// Wants at a region's rim that are shared.
const SHARED: usize = 48;
/// Old layouts of one value that are looked at.
const OLD: usize = 4;

/// A value of the region.
#[derive(Copy, Clone)]
struct RegionValue {
    value: Value,
    /// The wanted layout, as it is here.
    new: u16,
    /// Node A; N follows.
    flow: u16,
}

/// A want of a value that does not have the layout: a conversion that somebody pays for.
#[derive(Copy, Clone)]
struct WantedConversion {
    value: Value,
    layout: u16,
    new: bool,
    flow: u16,
}

/// A region while it is weighed.
struct Region {
    slots: Vec<RegionValue, REGION>,
    wants: Vec<WantedConversion, SHARED>,
    /// What the region costs as it is.
    before: u64,
    /// Values that it may have.
    most: usize,
    /// Values that were left out because it has so many.
    is_cut_off: bool,
    /// Two ways lead to one value with different layouts.
    is_at_odds: bool,
}

impl Region {
    fn new(most: usize) -> Self {
        Self {
            slots: Vec::new(),
            wants: Vec::new(),
            before: 0,
            most,
            is_cut_off: false,
            is_at_odds: false,
        }
    }

    /// Values about which an answer for the whole region is the answer: all of a region that is the
    /// same whichever of them is asked about; of one that was cut off those in the middle.
    fn answered(&self) -> &[RegionValue] {
        let count = match (self.is_at_odds, self.is_cut_off) {
            (true, _) => 0,
            (false, true) => self.slots.len() / 4,
            (false, false) => self.slots.len(),
        };
        self.slots.get(..count).unwrap_or(&[])
    }
}

/// A step that may find that the network has no room: then the question is left.
type CutResult<T = ()> = Result<Option<T>, ErrorKind>;

impl<'s> ProgramLayouts<'_, 's, '_> {
    // ---- entries
    pub fn entry(&self, value: Value, layout: u16) -> Option<u16> {
        let mut at = self.first_entry(value).unwrap_or(NONE);
        while let Some(entry) = self.program.pools.layout_table.entries.get(usize::from(at)) {
            if entry.layout() == layout {
                return Some(at);
            }
            at = entry.next;
        }
        None
    }
    /// Whether a value is computed in a layout.
    pub fn is_on(&self, value: Value, layout: u16) -> bool {
        self.entry(value, layout)
            .and_then(|at| self.program.pools.layout_table.entries.get(usize::from(at)))
            .is_some_and(|entry| entry.is_on())
    }
    /// Layouts in which a value is computed.
    pub fn layouts_on<const N: usize>(&self, value: Value) -> Vec<u16, N> {
        let mut out = Vec::new();
        let mut at = self.first_entry(value).unwrap_or(NONE);
        while let Some(entry) = self.program.pools.layout_table.entries.get(usize::from(at)) {
            if entry.is_on() && out.push(entry.layout()).is_err() {
                break;
            }
            at = entry.next;
        }
        out
    }
    /// The entry of a value in a layout; a new one is last of the value's.
    pub fn enter(&mut self, value: Value, layout: u16, on: bool) -> Result<u16, ErrorKind> {
        if let Some(found) = self.entry(value, layout) {
            if let Some(entry) = self.program.pools.layout_table.entries.get_mut(usize::from(found))
            {
                entry.set_on(entry.is_on() || on);
            }
            return Ok(found);
        }
        let layout_table = &mut self.program.pools.layout_table;
        let limit = u32::try_from(layout_table.entries.capacity()).unwrap_or(u32::MAX);
        let full = ErrorKind::Capacity { pool: Pool::Entries, limit };
        let number = u16::try_from(layout_table.entries.len())
            .ok()
            .filter(|number| *number != NONE)
            .ok_or(full)?;
        layout_table.entries.push(ValueInLayout::new(layout, on)).map_err(|_| full)?;
        let node = layout_table.nodes.get_mut(value.index()).ok_or(ErrorKind::Broken)?;
        if node.first == NONE {
            node.first = number;
            return Ok(number);
        }
        let mut at = node.first;
        while let Some(entry) = layout_table.entries.get_mut(usize::from(at)) {
            if entry.next == NONE {
                entry.next = number;
                break;
            }
            at = entry.next;
        }
        Ok(number)
    }

    // ---- the question
    /// Asks whether values around `value` should be in `layout`, and lets them be so if that is
    /// cheaper. A region whose network has no room is asked about in smaller parts. What was asked
    /// in vain is not asked again until something has changed.
    pub fn ask(&mut self, value: Value, layout: u16) -> Result<bool, ErrorKind> {
        if self.is_vain(value, layout) {
            return Ok(false);
        }
        let whole = self.program.pools.layout_table.nodes.len().saturating_mul(LOOKS.1);
        let left = whole.saturating_add(LOOKS.0).saturating_sub(self.looked);
        let mut most = match left {
            0 => return Ok(false),
            left if left.saturating_mul(2) < whole.saturating_add(LOOKS.0) => SMALL,
            _ => REGION,
        };
        while most >= SMALLEST {
            if let Some(better) = self.ask_within(value, layout, most)? {
                return Ok(better);
            }
            most /= 2;
        }
        Ok(false)
    }
    #[inline(never)]
    fn ask_within(&mut self, value: Value, layout: u16, most: usize) -> CutResult<bool> {
        let mut region = Region::new(most);
        self.grow(value, layout, &mut region)?;
        self.looked = self.looked.saturating_add(region.slots.len());
        let fits = self.build(&mut region)?.is_some();
        // A cut that is no cheaper than what there is says nothing.
        let cut = if fits {
            MinCut::over(&mut self.program.pools.layout_table).solve(region.before)
        } else {
            None
        };
        let better = cut.is_some_and(|cut| cut < region.before);
        if better {
            self.settle(&region)?;
            self.note_change();
        } else if fits && most == REGION {
            for slot in region.answered() {
                self.note_vain(slot.value, slot.new);
            }
        }
        for slot in &region.slots {
            if let Some(node) = self.program.pools.layout_table.nodes.get_mut(slot.value.index()) {
                node.set_slot(None);
            }
        }
        Ok((fits || region.slots.is_empty()).then_some(better))
    }
    fn slot_of(&self, value: Value) -> Option<usize> {
        self.program.pools.layout_table.nodes.get(value.index())?.slot().map(usize::from)
    }
    /// Takes a value into the region, if its layout is free and not the wanted one already.
    fn take(&mut self, value: Value, new: u16, region: &mut Region) {
        let Some(node) = self.program.pools.layout_table.nodes.get(value.index()) else { return };
        if let Some(slot) = node.slot() {
            let known = region.slots.get(usize::from(slot));
            region.is_at_odds |= known.is_none_or(|known| known.new != new);
            return;
        }
        if node.first == NONE
            || self.kind(value) == LayoutBehaviour::Fixed
            || self.is_on(value, new)
        {
            return;
        }
        if region.slots.len() >= region.most {
            region.is_cut_off = true;
            return;
        }
        let number = region.slots.len() as u16;
        if region.slots.push(RegionValue { value, new, flow: NONE }).is_ok()
            && let Some(node) = self.program.pools.layout_table.nodes.get_mut(value.index())
        {
            node.set_slot(Some(number));
        }
    }
    #[inline(never)]
    fn grow(&mut self, value: Value, layout: u16, region: &mut Region) -> Result<(), ErrorKind> {
        self.take(value, layout, region);
        let mut next = 0usize;
        while let Some(slot) = region.slots.get(next).copied() {
            next = next.saturating_add(1);
            let kind = self.kind(slot.value);
            let mut number = 0usize;
            while let Some((_, input)) = self.input(slot.value, kind, number) {
                number = number.saturating_add(1);
                if let Some(new) = self.need(slot.value, kind, slot.new, input)? {
                    self.take(input, new, region);
                }
            }
            let mut walk = self.readers(slot.value);
            while let Some(reader) = self.next_reader(slot.value, &mut walk) {
                let ValueReader::Value(user) = reader else { continue };
                let kind = self.kind(user);
                if let Some(new) = self.give(user, kind, slot.new)? {
                    self.take(user, new, region);
                }
            }
        }
        Ok(())
    }

    // ---- the network
    fn net(&mut self) -> MinCut<'_, 's> {
        MinCut::over(&mut self.program.pools.layout_table)
    }
    #[inline(never)]
    fn build(&mut self, region: &mut Region) -> CutResult {
        if region.slots.is_empty() || self.net().clear().is_none() {
            return Ok(None);
        }
        for number in 0..region.slots.len() {
            let Some(slot) = region.slots.get(number).copied() else { break };
            let Some(flow) = self.state(&slot, region)? else { return Ok(None) };
            if let Some(place) = region.slots.get_mut(number) {
                place.flow = flow;
            }
        }
        for number in 0..region.slots.len() {
            let Some(slot) = region.slots.get(number).copied() else { break };
            if self.inputs(&slot, region)?.is_none() || self.outside(&slot, region)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }
    /// Nodes of one value and what being computed, and being converted, costs there.
    fn state(&mut self, slot: &RegionValue, region: &mut Region) -> CutResult<u16> {
        let kind = self.kind(slot.value);
        let old: Vec<u16, OLD> = self.layouts_on(slot.value);
        let Some(first) = old.first().copied() else { return Ok(None) };
        let mut possible = true;
        let mut number = 0usize;
        while let Some((_, input)) = self.input(slot.value, kind, number) {
            number = number.saturating_add(1);
            let tile = crate::remat::behaviour::in_registers(&self.program.type_of(input));
            possible &= !tile || self.need(slot.value, kind, slot.new, input)?.is_some();
        }
        let work = if possible { self.work_price(slot.value, kind, slot.new)? } else { ENDLESS };
        let convert = self.conversion_price(slot.value, first, slot.new);
        let mut net = self.net();
        let (Some(a), Some(n)) = (net.node(), net.node()) else { return Ok(None) };
        if net.arc(a, SINK, work).and(net.arc(n, a, convert)).is_none() {
            return Ok(None);
        }
        for (number, layout) in old.iter().enumerate() {
            let work = self.work_price(slot.value, kind, *layout)?;
            let convert = self.conversion_price(slot.value, slot.new, *layout);
            let Some(entry) = self.entry(slot.value, *layout) else { return Ok(None) };
            let mut net = self.net();
            let (Some(b), Some(m)) = (net.node(), net.node()) else { return Ok(None) };
            if net.arc(SOURCE, b, work).and(net.arc(b, m, convert)).is_none()
                || (number == 0 && net.arc(b, a, ENDLESS).is_none())
            {
                return Ok(None);
            }
            // Never in both.
            if kind == LayoutBehaviour::Paired && net.arc(a, b, ENDLESS).is_none() {
                return Ok(None);
            }
            region.before = region.before.saturating_add(u64::from(work));
            if let Some(entry) = self.program.pools.layout_table.entries.get_mut(usize::from(entry))
            {
                entry.link = b;
            }
        }
        Ok(Some(a))
    }
    /// Node B of a value's old layout; M follows.
    fn old_flow(&self, value: Value, layout: u16) -> Option<u16> {
        let entry =
            self.program.pools.layout_table.entries.get(usize::from(self.entry(value, layout)?))?;
        if entry.is_on() { Some(entry.link) } else { None }
    }
    /// The node that stands for a want at the rim, or one that the region cannot satisfy; `None`
    /// inside: it costs nothing.
    fn want(
        &mut self,
        value: Value,
        layout: u16,
        new: bool,
        region: &mut Region,
    ) -> CutResult<Option<u16>> {
        let known = region
            .wants
            .iter()
            .find(|want| want.value == value && want.layout == layout && want.new == new);
        if let Some(known) = known {
            return Ok(Some(Some(known.flow)));
        }
        if self.is_on(value, layout) || self.is_wanted_outside(value, layout)? {
            return Ok(Some(None));
        }
        let Some(first) = self.layouts_on::<1>(value).first().copied() else {
            return Ok(Some(None));
        };
        let price = self.conversion_price(value, first, layout);
        let mut net = self.net();
        let Some(flow) = net.node() else { return Ok(None) };
        let arc = if new { net.arc(flow, SINK, price) } else { net.arc(SOURCE, flow, price) };
        if arc.is_none() {
            return Ok(None);
        }
        if !new {
            region.before = region.before.saturating_add(u64::from(price));
        }
        let _ = region.wants.push(WantedConversion { value, layout, new, flow });
        Ok(Some(Some(flow)))
    }
    /// Whether somebody outside the region wants a value in a layout.
    fn is_wanted_outside(&mut self, value: Value, layout: u16) -> Result<bool, ErrorKind> {
        let mut walk = self.readers(value);
        while let Some(reader) = self.next_reader(value, &mut walk) {
            match reader {
                ValueReader::Exact(wanted) if wanted == layout => return Ok(true),
                ValueReader::Value(user) if self.slot_of(user).is_none() => {
                    let kind = self.kind(user);
                    for of in self.layouts_on::<OLD>(user).iter().copied() {
                        if self.need(user, kind, of, value)? == Some(layout) {
                            return Ok(true);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(false)
    }
    /// What a value's being computed asks of its inputs.
    fn inputs(&mut self, slot: &RegionValue, region: &mut Region) -> CutResult {
        let kind = self.kind(slot.value);
        let old: Vec<u16, OLD> = self.layouts_on(slot.value);
        let linked = matches!(kind, LayoutBehaviour::After(..));
        let mut number = 0usize;
        while let Some((_, input)) = self.input(slot.value, kind, number) {
            number = number.saturating_add(1);
            if !crate::remat::behaviour::in_registers(&self.program.type_of(input)) {
                continue;
            }
            let inside = self.slot_of(input).and_then(|at| region.slots.get(at).copied());
            if let Some(wanted) = self.need(slot.value, kind, slot.new, input)? {
                let target = match inside {
                    Some(of) if of.new == wanted => {
                        Some(if linked { of.flow } else { of.flow.saturating_add(1) })
                    }
                    // A loop's result has no conversion before it.
                    _ if linked => {
                        if self.is_on(input, wanted) && inside.is_none() {
                            None
                        } else {
                            Some(SINK)
                        }
                    }
                    _ => match self.want(input, wanted, true, region)? {
                        Some(target) => target,
                        None => return Ok(None),
                    },
                };
                if let Some(target) = target
                    && self.net().arc(slot.flow, target, ENDLESS).is_none()
                {
                    return Ok(None);
                }
            }
            for layout in &old {
                let Some(own) = self.old_flow(slot.value, *layout) else { continue };
                let Some(wanted) = self.need(slot.value, kind, *layout, input)? else { continue };
                let (from, to) = match inside {
                    Some(of) if of.new == wanted => (SOURCE, of.flow.saturating_add(1)),
                    Some(_) if self.is_on(input, wanted) => match self.old_flow(input, wanted) {
                        Some(flow) => (if linked { flow } else { flow.saturating_add(1) }, own),
                        None => return Ok(None),
                    },
                    None if self.is_on(input, wanted) => continue,
                    _ => match self.want(input, wanted, false, region)? {
                        Some(Some(flow)) => (flow, own),
                        Some(None) => continue,
                        None => return Ok(None),
                    },
                };
                if from == SOURCE {
                    self.force(to, region)?;
                }
                if self.net().arc(from, to, ENDLESS).is_none() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(()))
    }
    /// A conversion to the new layout that is paid for as things are.
    fn force(&mut self, wanted: u16, region: &mut Region) -> Result<(), ErrorKind> {
        let Some(slot) = region.slots.iter().find(|slot| slot.flow.saturating_add(1) == wanted)
        else {
            return Ok(());
        };
        let Some(first) = self.layouts_on::<1>(slot.value).first().copied() else { return Ok(()) };
        let known = region.wants.iter().any(|want| want.flow == wanted);
        if !known {
            let (value, layout) = (slot.value, slot.new);
            region.before = region
                .before
                .saturating_add(u64::from(self.conversion_price(value, first, layout)));
            let _ = region.wants.push(WantedConversion { value, layout, new: true, flow: wanted });
        }
        Ok(())
    }
    /// What readers outside the region ask of a value.
    fn outside(&mut self, slot: &RegionValue, region: &mut Region) -> CutResult {
        let mut walk = self.readers(slot.value);
        while let Some(reader) = self.next_reader(slot.value, &mut walk) {
            let mut asked: Vec<u16, OLD> = Vec::new();
            match reader {
                ValueReader::Exact(layout) => {
                    let _ = asked.push(layout);
                }
                ValueReader::Value(user) if self.slot_of(user).is_none() => {
                    let kind = self.kind(user);
                    for layout in self.layouts_on::<OLD>(user).iter().copied() {
                        if let Some(layout) = self.need(user, kind, layout, slot.value)? {
                            let _ = asked.push(layout);
                        }
                    }
                }
                _ => {}
            }
            for layout in &asked {
                let (from, to) = if *layout == slot.new {
                    (SOURCE, slot.flow.saturating_add(1))
                } else if let Some(flow) = self.old_flow(slot.value, *layout) {
                    (flow.saturating_add(1), SINK)
                } else {
                    continue;
                };
                if from == SOURCE {
                    self.force(to, region)?;
                }
                if self.net().arc(from, to, ENDLESS).is_none() {
                    return Ok(None);
                }
            }
        }
        Ok(Some(()))
    }
    /// Lets the region be as the cut says.
    #[inline(never)]
    fn settle(&mut self, region: &Region) -> Result<(), ErrorKind> {
        for slot in &region.slots {
            for layout in self.layouts_on::<OLD>(slot.value).iter().copied() {
                let Some(at) = self.entry(slot.value, layout) else { continue };
                let flow = self.old_flow(slot.value, layout).unwrap_or(SINK);
                let dropped = self.net().is_new(flow);
                if let Some(entry) =
                    self.program.pools.layout_table.entries.get_mut(usize::from(at))
                {
                    entry.set_on(!dropped);
                }
            }
            if self.net().is_new(slot.flow) {
                self.enter(slot.value, slot.new, true)?;
            }
        }
        Ok(())
    }
}
