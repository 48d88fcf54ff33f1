//! Tiles in global memory: which movements of a tensor have to stand in an order.
//!
//! Two tiles of a tensor may overlap, also one tile with itself in another turn of a loop. No order
//! is needed between tiles that numbers in the program show apart, and between elements that one
//! thread alone touches, because it holds the same ones of the same tile each time, and no other
//! thread does.

use crate::order::place::{AccessPlace, SharedAccess};
use crate::order::walks::OrderContext;
use lanebook_ir::{IndexStep, Loop, Op, Program, Value};
use lanebook_plan::{End, GlobalPlan, TransferPlan};
use lanebook_tables::AccessId;
use lanebook_tile::map::Fragment;

/// How the loops around a movement change the place of its tile.
#[derive(Copy, Clone, PartialEq, Eq)]
enum LoopEffect {
    /// Each turn of each loop has a tile of its own.
    Apart,
    /// Two turns have the same tile, or tiles that are apart.
    Again,
    /// Two turns may have tiles that overlap.
    Slides,
}

/// Elements of a tile along each dimension of its memref, outermost first.
fn extents(g: &GlobalPlan) -> impl Iterator<Item = u64> {
    let (rows, cols) = (g.map.shape.row_count(), g.map.shape.col_count());
    g.leading.iter().flatten().map(|_| 1).chain(g.start.0.map(|_| rows)).chain([cols])
}

/// Where it begins along each of them.
fn starts(g: &GlobalPlan) -> impl Iterator<Item = Value> {
    g.leading.iter().flatten().map(|lead| lead.start).chain(g.start.0).chain([g.start.1])
}

/// Where a tile begins along a dimension and how many elements it has there; `None` where indices
/// say which they are.
type TensorSpan = Option<(Value, u64)>;

/// Whether it lies in one row that is cut into parts: an access may begin in any of those that come
/// before its elements.
fn is_in_parts(g: &GlobalPlan) -> bool {
    g.start.0.is_none() && g.leading.iter().flatten().next().is_some()
}

/// Its spans, outermost first.
fn spans(g: &GlobalPlan) -> impl Iterator<Item = TensorSpan> {
    let all = starts(g).zip(extents(g));
    let is_told = move |dim| g.indexed != Some(dim) && !is_in_parts(g);
    (0u8..).zip(all).map(move |(dim, span)| is_told(dim).then_some(span))
}

/// Whether numbers show that two tiles have no element in common.
fn apart(program: &Program<'_, '_>, a: &GlobalPlan, b: &GlobalPlan) -> bool {
    let clear = |(first, second): (TensorSpan, TensorSpan)| {
        let Some(((from, extent), (to, other))) = first.zip(second) else { return false };
        let (Some(from), Some(to)) = (program.int(from), program.int(to)) else { return false };
        let ends = |start: i64, n: u64| i64::try_from(n).ok().and_then(|n| start.checked_add(n));
        ends(from, extent).is_some_and(|end| end <= to)
            || ends(to, other).is_some_and(|end| end <= from)
    };
    spans(a).zip(spans(b)).any(clear)
}

/// By how much a loop moves an index in each turn: 0 = not at all; `None` if that is not known.
fn moved_by(program: &Program<'_, '_>, start: Value, around: &Loop) -> Option<u64> {
    match program.index_step(start, around) {
        IndexStep::Fixed => Some(0),
        IndexStep::By(step) => u64::try_from(step).ok(),
        IndexStep::Times(_) | IndexStep::Other => None,
    }
}

/// How the loops around a movement change the place of its tile.
fn course(program: &Program<'_, '_>, op: Op, g: &GlobalPlan) -> LoopEffect {
    let mut out = LoopEffect::Apart;
    let mut around = program.parent(op);
    while let Some(at) = around {
        around = program.parent(at);
        let Some(at) = program.counted_loop(at) else { continue };
        let mut moves = false;
        for (start, extent) in spans(g).flatten() {
            match moved_by(program, start, &at) {
                Some(0) => {}
                Some(by) if by >= extent => moves = true,
                _ => return LoopEffect::Slides,
            }
        }
        if !moves && (g.indexed.is_some() || is_in_parts(g)) {
            return LoopEffect::Slides;
        }
        if !moves {
            out = LoopEffect::Again;
        }
    }
    out
}

impl OrderContext<'_> {
    /// A movement's end in global memory, where something has to stand in an order with it.
    pub(crate) fn outside(
        &self,
        m: &TransferPlan,
        (end, kind, writes): (End, AccessId, bool),
        signal: Option<lanebook_emit::step::Slot>,
    ) -> Option<SharedAccess> {
        let End::Global(number) = end else { return None };
        let g = self.plan.globals.get(usize::from(number))?;
        let of = |end: End| matches!(end, End::Global(h) if self.plan.globals.get(usize::from(h)).is_some_and(|t| t.memref == g.memref));
        let others = || self.plan.transfers.iter().filter(|other| other.op != m.op);
        let met =
            others().any(|other| of(other.to)) || writes && others().any(|other| of(other.from));
        // Alone: what a thread writes again is its own; a unit's copies have no order among
        // themselves.
        let own = || match course(self.program, m.op, g) {
            LoopEffect::Apart => true,
            LoopEffect::Again => m.tiled.is_none() && self.one_thread_each(m),
            LoopEffect::Slides => false,
        };
        if !met && (!writes || own()) {
            return None;
        }
        let tensor = self.plan.globals.iter().position(|t| t.memref == g.memref)?;
        let moved = self.plan.transfers.iter().position(|other| other.op == m.op)?;
        Some(SharedAccess {
            place: AccessPlace::Tensor(tensor),
            kind,
            writes,
            signal,
            moved: Some(u16::try_from(moved).ok()?),
        })
    }

    /// Whether no two threads of the group move one element: as many bits of their numbers say
    /// which elements they move as they have.
    fn one_thread_each(&self, m: &TransferPlan) -> bool {
        let telling = |columns: &[u32]| columns.iter().filter(|c| **c != 0).count();
        telling(m.tiling.address_lanes.as_slice()) == usize::from(self.plan.wave)
            && telling(m.tiling.warps.as_slice()) == usize::from(self.plan.warps)
    }

    /// Whether two accesses of a tensor need no order.
    pub(crate) fn own_elements(&self, a: SharedAccess, b: SharedAccess) -> bool {
        let movement = |access: SharedAccess| {
            access.moved.and_then(|k| self.plan.transfers.get(usize::from(k)))
        };
        let (Some(x), Some(y)) = (movement(a), movement(b)) else { return false };
        let number = |m: &TransferPlan| match (m.from, m.to) {
            (End::Global(g), _) | (_, End::Global(g)) => Some(g),
            _ => None,
        };
        let (Some(first), Some(second)) = (number(x), number(y)) else { return false };
        let (Some(g), Some(h)) =
            (self.plan.globals.get(usize::from(first)), self.plan.globals.get(usize::from(second)))
        else {
            return false;
        };
        if first != second {
            return apart(self.program, g, h);
        }
        let course = course(self.program, x.op, g);
        let held = |m: &TransferPlan| -> Option<&Fragment> {
            match (m.from, m.to) {
                (End::Registers(k), _) | (_, End::Registers(k)) if m.tiled.is_none() => {
                    self.plan.fragments.get(usize::from(k)).map(|f| &f.fragment)
                }
                _ => None,
            }
        };
        let threads = held(x).is_some() && held(x) == held(y) && self.one_thread_each(x);
        (x.op == y.op && course == LoopEffect::Apart) || (threads && course != LoopEffect::Slides)
    }
}
