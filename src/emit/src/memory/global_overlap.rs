//! Tiles of global memory as something that movements touch: which of them have to be ordered.
//!
//! Tiles of one tensor may overlap. What certainly needs no order: tiles that lie apart by numbers
//! in the program, and elements that one thread alone touches, because it holds the same ones of
//! the same tile each time, and no other holds them, too.

use crate::lower::context::LowerContext;
use crate::sync::access::{GlobalTile, MemAccess, TouchedList};
use lanebook_ir::{IndexStep, Loop, Op, Value};
use lanebook_plan::{End, GlobalPlan, TransferPlan};
use lanebook_tables::{AccessId, Space};

/// How loops around a movement change the place of its tile.
#[derive(Copy, Clone, PartialEq, Eq)]
enum LoopMotion {
    /// Each turn of each loop has a tile of its own.
    Apart,
    /// Some loop leaves it where it is; no two places overlap.
    Again,
    /// Two turns may have tiles that overlap.
    Slides,
}

/// Where a tile begins along a dimension, if that is a number, and how many elements it has there.
type TileInterval = (Option<i64>, u64);

/// Where a tile begins along each dimension of its memref, outermost first, and how many elements
/// it has there; `None` where indices say which.
fn spans(g: &GlobalPlan) -> impl Iterator<Item = Option<(Value, u64)>> {
    let rows = g.start.0.map(|_| g.map.shape.row_count());
    let extents = g.leads().map(|_| 1).chain(rows).chain([g.map.shape.col_count()]);
    let all = g.starts().zip(extents).enumerate();
    let is_told = |dim| !g.is_indexed(dim) && !is_in_parts(g);
    all.map(move |(dim, span)| is_told(dim).then_some(span))
}

/// Whether it lies in one row that is cut into parts: an access may begin in any of those that come
/// before its elements.
fn is_in_parts(g: &GlobalPlan) -> bool {
    g.start.0.is_none() && g.leads().next().is_some()
}

impl LowerContext<'_, '_, '_, '_> {
    /// The global tile of a movement, where it is written and something else touches its tensor, or
    /// it overlaps what it was in another turn.
    #[inline(never)]
    pub(crate) fn touched_outside(&self, plan: &TransferPlan, out: &mut TouchedList) {
        let (number, writes) = match (plan.from, plan.to) {
            (End::Global(g), _) => (g, false),
            (_, End::Global(g)) => (g, true),
            _ => return,
        };
        let Some(g) = self.plan.globals.get(usize::from(number)) else { return };
        let of = |m: &TransferPlan| match (m.from, m.to) {
            (End::Global(other), _) if self.memref(other) == Some(g.memref) => Some(false),
            (_, End::Global(other)) if self.memref(other) == Some(g.memref) => Some(true),
            _ => None,
        };
        let others = || self.plan.transfers.iter().filter_map(of);
        let course = self.course(plan.op, g);
        // Alone, what a thread writes again is its own if it is no other thread's, too; a unit's
        // copies have no order among themselves.
        let own = course == LoopMotion::Apart
            || course == LoopMotion::Again && plan.tiled.is_none() && self.has_one_owner(plan);
        if !others().any(|writes| writes) || (others().nth(1).is_none() && own) {
            return;
        }
        let kind = self.kind_outside(plan, writes);
        let Some(kind) = kind else { return };
        let tensor =
            self.plan.globals.iter().position(|other| other.memref == g.memref).unwrap_or(0);
        let is_dealt = course != LoopMotion::Slides && g.indexed.is_none();
        let dealt = if is_dealt { self.dealt(plan) } else { 0 };
        // What a unit copies it has read when its mbarrier's phase is over. A loop of stages
        // waits for what it copies ahead by itself.
        let own = plan.tiled.filter(|_| !self.plan.runs_ahead(plan.op));
        let completion = own.and_then(|tiled| tiled.completion);
        let tensor = u16::try_from(tensor).unwrap_or(u16::MAX);
        let touched = MemAccess::global(GlobalTile { tensor, tile: number }, kind, writes);
        let _ = out.push(MemAccess { dealt, completion, ..touched });
    }

    /// The kind of access that a movement's end in global memory is.
    pub(crate) fn kind_outside(&self, plan: &TransferPlan, writes: bool) -> Option<AccessId> {
        match plan.tiled {
            Some(tiled) => self
                .machine
                .tables
                .units
                .tiled_moves
                .get(usize::from(tiled.form))
                .map(|form| if writes { form.to } else { form.from }),
            None => [Some(plan.atom), plan.second].into_iter().flatten().find_map(|atom| {
                let movement = self.machine.tables.atom(atom)?.movement?;
                let side = if writes { movement.to } else { movement.from };
                (side.space == Space::Global).then_some(side.access)
            }),
        }
    }

    fn memref(&self, g: u16) -> Option<lanebook_ir::Value> {
        self.plan.globals.get(usize::from(g)).map(|g| g.memref)
    }

    /// Whether each element is moved by one thread alone.
    fn has_one_owner(&self, plan: &TransferPlan) -> bool {
        plan.tiling.has_one_owner(self.plan.wave, self.plan.warps)
    }

    /// In which way the tile is dealt out to threads: the tile that lanes hold, element for element
    /// the same. 0 where that is not known, or where several threads have an element.
    fn dealt(&self, plan: &TransferPlan) -> u16 {
        let in_lanes = |m: &TransferPlan| {
            m.tiled.is_none()
                && m.second.is_none()
                && (matches!(m.from, End::Registers(_)) || matches!(m.to, End::Registers(_)))
        };
        let held = |m: &TransferPlan| match (m.from, m.to) {
            (End::Registers(k), _) | (_, End::Registers(k)) => {
                self.plan.fragments.get(usize::from(k)).map(|f| &f.fragment)
            }
            _ => None,
        };
        let first = self
            .plan
            .transfers
            .iter()
            .position(|m| in_lanes(m) && held(m) == held(plan))
            .filter(|_| in_lanes(plan) && self.has_one_owner(plan));
        first.and_then(|k| u16::try_from(k.saturating_add(1)).ok()).unwrap_or(0)
    }

    /// How the loops around a movement change the place of its tile.
    fn course(&self, op: Op, g: &GlobalPlan) -> LoopMotion {
        let mut course = LoopMotion::Apart;
        let around = core::iter::successors(self.program.parent(op), |at| self.program.parent(*at))
            .filter_map(|at| self.program.counted_loop(at));
        for at in around {
            let mut moved =
                spans(g).flatten().filter(|(start, _)| self.is_stepped(*start, &at)).peekable();
            if moved.peek().is_none() && (g.indexed.is_some() || is_in_parts(g)) {
                // Each turn's indices say where.
                return LoopMotion::Slides;
            }
            if moved.peek().is_none() && course == LoopMotion::Apart {
                course = LoopMotion::Again;
            }
            if !moved.all(|(start, extent)| self.clears(start, extent, &at)) {
                return LoopMotion::Slides;
            }
        }
        course
    }

    /// Whether a loop moves an index by `extent` in each turn, at least.
    fn clears(&self, start: lanebook_ir::Value, extent: u64, at: &Loop) -> bool {
        matches!(self.program.index_step(start, at),
            IndexStep::By(step) if u64::try_from(step).is_ok_and(|step| step >= extent))
    }

    /// Whether two tiles of a tensor certainly have no element in common: along some dimension both
    /// begin at numbers that are far enough from each other.
    pub(crate) fn lie_apart(&self, a: u16, b: u16) -> bool {
        let (Some(a), Some(b)) =
            (self.plan.globals.get(usize::from(a)), self.plan.globals.get(usize::from(b)))
        else {
            return false;
        };
        let places = |g: &GlobalPlan| {
            let mut out: heapless::Vec<TileInterval, { lanebook_plan::MAP_RANK }> =
                heapless::Vec::new();
            for span in spans(g) {
                let at =
                    span.map_or((None, 0), |(start, extent)| (self.program.int(start), extent));
                let _ = out.push(at);
            }
            out
        };
        let far = |((from, extent), (to, other)): (&TileInterval, &TileInterval)| {
            let (Some(from), Some(to)) = (*from, *to) else { return false };
            from.abs_diff(to) >= if from <= to { *extent } else { *other }
        };
        let (a, b) = (places(a), places(b));
        a.len() == b.len() && a.iter().zip(&b).any(far)
    }
}
