//! The cheapest cut of a small network (Dinic's algorithm, without recursion).
//!
//! Node 0 is the source, node 1 the sink. Arcs come in pairs, a direction and its reverse. A network that does not fit its room is
//! refused, and nothing of it counts.
use crate::ir::sheet::{Arc, Flow, NONE, Sheet};

/// An arc that no cut can afford.
pub(super) const ENDLESS: u32 = u32::MAX;
/// The most that an arc with a price can cost.
pub(super) const DEAREST: u32 = 1 << 29;
/// The source: on its side things are so in the new layout.
pub(super) const SOURCE: u16 = 0;
/// The sink.
pub(super) const SINK: u16 = 1;

/// A network in a sheet's room.
pub(super) struct Net<'n, 's> {
    sheet: &'n mut Sheet<'s>,
}

impl<'n, 's> Net<'n, 's> {
    pub fn over(sheet: &'n mut Sheet<'s>) -> Self {
        Self { sheet }
    }
    /// Forgets the network; there is a source and a sink.
    pub fn clear(&mut self) -> Option<()> {
        self.sheet.arcs.clear();
        self.sheet.flow.clear();
        self.node()?;
        self.node().map(|_| ())
    }
    pub fn node(&mut self) -> Option<u16> {
        let number = u16::try_from(self.sheet.flow.len()).ok().filter(|number| *number != NONE)?;
        self.sheet.flow.push(Flow { first: NONE, at: NONE, level: NONE }).ok()?;
        Some(number)
    }
    /// `from` on the source's side and `to` on the sink's costs `price`.
    pub fn arc(&mut self, from: u16, to: u16, price: u32) -> Option<()> {
        for (from, to, left) in [(from, to, price), (to, from, 0)] {
            let number = u16::try_from(self.sheet.arcs.len()).ok().filter(|number| *number != NONE)?;
            let node = self.sheet.flow.get_mut(usize::from(from))?;
            let next = node.first;
            self.sheet.arcs.push(Arc { to, next, left }).ok()?;
            node.first = number;
        }
        Some(())
    }
    fn arc_at(&self, number: u16) -> Option<Arc> {
        self.sheet.arcs.get(usize::from(number)).copied()
    }
    fn level(&self, node: u16) -> u16 {
        self.sheet.flow.get(usize::from(node)).map_or(NONE, |node| node.level)
    }
    /// Whether a node is on the source's side, once the network is solved.
    pub fn is_new(&self, node: u16) -> bool {
        self.level(node) != NONE
    }
    /// Numbers nodes by their distance from the source along arcs with something left.
    fn levels(&mut self) -> bool {
        for node in self.sheet.flow.iter_mut() {
            (node.level, node.at) = (NONE, NONE);
        }
        if let Some(source) = self.sheet.flow.get_mut(usize::from(SOURCE)) {
            source.level = 0;
        }
        // The queue is a chain through the nodes.
        let (mut node, mut last) = (SOURCE, SOURCE);
        while node != NONE {
            let next = self.level(node).saturating_add(1);
            let mut at = self.sheet.flow.get(usize::from(node)).map_or(NONE, |node| node.first);
            while let Some(arc) = self.arc_at(at) {
                if arc.left > 0
                    && let Some(to) = self.sheet.flow.get_mut(usize::from(arc.to))
                    && to.level == NONE
                {
                    to.level = next;
                    if let Some(tail) = self.sheet.flow.get_mut(usize::from(last)) {
                        tail.at = arc.to;
                    }
                    last = arc.to;
                }
                at = arc.next;
            }
            node = self.sheet.flow.get(usize::from(node)).map_or(NONE, |node| node.at);
        }
        for node in self.sheet.flow.iter_mut() {
            node.at = node.first;
        }
        self.level(SINK) != NONE
    }
    /// Pushes one path to the sink; answers how much went, 0 when there is none left in these levels.
    fn path(&mut self) -> u32 {
        let mut trail: heapless::Vec<u16, TRAIL> = heapless::Vec::new();
        let mut node = SOURCE;
        loop {
            if node == SINK {
                let least = trail.iter().filter_map(|number| self.arc_at(*number)).map(|arc| arc.left).min().unwrap_or(0);
                for number in &trail {
                    for (number, back) in [(*number, false), (*number ^ 1, true)] {
                        if let Some(arc) = self.sheet.arcs.get_mut(usize::from(number))
                            && arc.left != ENDLESS
                        {
                            arc.left = if back { arc.left.saturating_add(least).min(ENDLESS.wrapping_sub(1)) } else { arc.left.saturating_sub(least) };
                        }
                    }
                }
                return least;
            }
            let at = self.sheet.flow.get(usize::from(node)).map_or(NONE, |node| node.at);
            let Some(arc) = self.arc_at(at) else {
                // Nothing leads on from here: not in these levels again.
                if let Some(node) = self.sheet.flow.get_mut(usize::from(node)) {
                    node.level = NONE.wrapping_sub(1);
                }
                let Some(last) = trail.pop() else { return 0 };
                node = self.arc_at(last ^ 1).map_or(SOURCE, |back| back.to);
                if let Some(here) = self.sheet.flow.get_mut(usize::from(node)) {
                    here.at = self.sheet.arcs.get(usize::from(last)).map_or(NONE, |arc| arc.next);
                }
                continue;
            };
            if arc.left > 0 && self.level(arc.to) == self.level(node).saturating_add(1) && trail.push(at).is_ok() {
                node = arc.to;
            } else if let Some(here) = self.sheet.flow.get_mut(usize::from(node)) {
                here.at = arc.next;
            }
        }
    }
    /// The price of the cheapest cut; afterwards [`is_new`](Self::is_new) says on which side nodes are. `None`: every cut is
    /// endless, or a path is longer than there is room for.
    #[inline(never)]
    pub fn solve(&mut self) -> Option<u64> {
        let mut total = 0u64;
        while self.levels() {
            let mut any = false;
            loop {
                let pushed = self.path();
                if pushed == 0 {
                    break;
                }
                if pushed == ENDLESS {
                    return None;
                }
                any = true;
                total = total.saturating_add(u64::from(pushed));
            }
            if !any {
                return None;
            }
        }
        Some(total)
    }
}

/// The longest path.
const TRAIL: usize = 1024;
