//! The cheapest cut of a small network (Dinic's algorithm, without recursion).
//!
//! Node 0 is the source, node 1 the sink. Arcs come in pairs, a direction and its reverse. A
//! network that does not fit its room is refused, and nothing of it counts.
use lanebook_ir::layout_table::{Arc, Flow, LayoutTable, NONE};

/// An arc that no cut can afford.
pub(super) const ENDLESS: u32 = u32::MAX;
/// The most that an arc with a price can cost.
pub(super) const DEAREST: u32 = 1 << 29;
/// The source: on its side things are so in the new layout.
pub(super) const SOURCE: u16 = 0;
/// The sink.
pub(super) const SINK: u16 = 1;

/// A network in a sheet's room.
pub(super) struct MinCut<'n, 's> {
    layout_table: &'n mut LayoutTable<'s>,
}

impl<'n, 's> MinCut<'n, 's> {
    pub fn over(layout_table: &'n mut LayoutTable<'s>) -> Self {
        Self { layout_table }
    }
    /// Forgets the network; there is a source and a sink.
    pub fn clear(&mut self) -> Option<()> {
        self.layout_table.arcs.clear();
        self.layout_table.flow.clear();
        self.node()?;
        self.node().map(|_| ())
    }
    pub fn node(&mut self) -> Option<u16> {
        let number =
            u16::try_from(self.layout_table.flow.len()).ok().filter(|number| *number != NONE)?;
        self.layout_table.flow.push(Flow { first: NONE, at: NONE, level: NONE }).ok()?;
        Some(number)
    }
    /// `from` on the source's side and `to` on the sink's costs `price`.
    pub fn arc(&mut self, from: u16, to: u16, price: u32) -> Option<()> {
        for (from, to, left) in [(from, to, price), (to, from, 0)] {
            let number = u16::try_from(self.layout_table.arcs.len())
                .ok()
                .filter(|number| *number != NONE)?;
            let node = self.layout_table.flow.get_mut(usize::from(from))?;
            let next = node.first;
            self.layout_table.arcs.push(Arc { to, next, left }).ok()?;
            node.first = number;
        }
        Some(())
    }
    /// Whether a node is on the source's side, once the network is solved.
    pub fn is_new(&self, node: u16) -> bool {
        self.layout_table.flow.get(usize::from(node)).is_some_and(|node| node.level != NONE)
    }
    /// The price of the cheapest cut; afterwards [`is_new`](Self::is_new) says on which side nodes
    /// are: on the source's are those that every cheapest cut has there. `None`: every cut is
    /// endless, or costs `most` and more, or a path is longer than there is room for.
    #[inline(never)]
    pub fn solve(&mut self, most: u64) -> Option<u64> {
        let (flow, arcs) =
            (self.layout_table.flow.as_mut_slice(), self.layout_table.arcs.as_mut_slice());
        let mut total = 0u64;
        while spread(flow, arcs, SINK, Some(SOURCE)) {
            let mut any = false;
            loop {
                let pushed = path(flow, arcs);
                if pushed == 0 {
                    break;
                }
                if pushed == ENDLESS {
                    return None;
                }
                any = true;
                total = total.saturating_add(u64::from(pushed));
                if total >= most {
                    return None;
                }
            }
            if !any {
                return None;
            }
        }
        spread(flow, arcs, SOURCE, None);
        Some(total)
    }
}

/// Numbers nodes by their distance along arcs with something left: from the source, or to the sink,
/// then until `goal` is reached. Whether it is.
fn spread(flow: &mut [Flow], arcs: &[Arc], start: u16, goal: Option<u16>) -> bool {
    for node in flow.iter_mut() {
        (node.level, node.at) = (NONE, NONE);
    }
    let Some(first) = flow.get_mut(usize::from(start)) else { return false };
    first.level = 0;
    // The queue is a chain through the nodes.
    let (mut node, mut last, mut reached) = (start, start, false);
    while let Some(Flow { first, level, .. }) = flow.get(usize::from(node)).copied() {
        let mut at = first;
        while let Some(arc) = arcs.get(usize::from(at)) {
            // Toward the sink it is the arc from there to here that counts.
            let left = if goal.is_some() {
                arcs.get(usize::from(at ^ 1)).map_or(0, |back| back.left)
            } else {
                arc.left
            };
            if left > 0
                && let Some(to) = flow.get_mut(usize::from(arc.to))
                && to.level == NONE
            {
                to.level = level.saturating_add(1);
                if let Some(tail) = flow.get_mut(usize::from(last)) {
                    tail.at = arc.to;
                }
                last = arc.to;
                reached |= goal == Some(arc.to);
            }
            at = arc.next;
        }
        if reached {
            break;
        }
        node = flow.get(usize::from(node)).map_or(NONE, |node| node.at);
    }
    for node in flow.iter_mut() {
        node.at = node.first;
    }
    reached
}

/// Pushes one path to the sink; answers how much went, 0 when there is none left at these
/// distances.
fn path(flow: &mut [Flow], arcs: &mut [Arc]) -> u32 {
    let mut trail: heapless::Vec<u16, TRAIL> = heapless::Vec::new();
    let mut node = SOURCE;
    while node != SINK {
        let here = flow.get(usize::from(node)).copied().unwrap_or(Flow {
            first: NONE,
            at: NONE,
            level: NONE,
        });
        let Some(arc) = arcs.get(usize::from(here.at)) else {
            // Nothing leads on from here: not at these distances again.
            if let Some(node) = flow.get_mut(usize::from(node)) {
                node.level = NONE;
            }
            let Some(last) = trail.pop() else { return 0 };
            node = arcs.get(usize::from(last ^ 1)).map_or(SOURCE, |back| back.to);
            if let Some(here) = flow.get_mut(usize::from(node)) {
                here.at = arcs.get(usize::from(last)).map_or(NONE, |arc| arc.next);
            }
            continue;
        };
        let nearer = |to: &Flow| to.level != NONE && to.level.saturating_add(1) == here.level;
        if arc.left > 0
            && flow.get(usize::from(arc.to)).is_some_and(nearer)
            && trail.push(here.at).is_ok()
        {
            node = arc.to;
        } else if let Some(here) = flow.get_mut(usize::from(node)) {
            here.at = arc.next;
        }
    }
    let least = trail
        .iter()
        .filter_map(|number| arcs.get(usize::from(*number)))
        .map(|arc| arc.left)
        .min()
        .unwrap_or(0);
    for number in &trail {
        for (number, back) in [(*number, false), (*number ^ 1, true)] {
            if let Some(arc) = arcs.get_mut(usize::from(number))
                && arc.left != ENDLESS
            {
                arc.left = if back {
                    arc.left.saturating_add(least).min(ENDLESS.wrapping_sub(1))
                } else {
                    arc.left.saturating_sub(least)
                };
            }
        }
    }
    least
}

/// The longest path.
const TRAIL: usize = 1024;
