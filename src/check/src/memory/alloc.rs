//! Shared tiles: inside their bytes, aligned, and apart while alive.

use crate::evaluator::{Memory, element_bytes, panel_size, power};
use crate::reader::has;
use crate::violation::Violation;
use lanebook_ir::{Op, Program};
use lanebook_plan::{End, Plan, ProductPlan, SharedExchange};
use lanebook_tables::{Arch, OpRole, Tables};

/// Statements 1 and 2 of the module's page.
pub(crate) fn allocs(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
) -> Result<(), Violation> {
    let arch = tables.arch(plan.arch).ok_or(Violation::UnknownArch)?;
    for (k, a) in plan.allocs.iter().enumerate() {
        let alloc = u16::try_from(k).unwrap_or(u16::MAX);
        let within = |end: Option<u64>, most: u64| -> Result<(), Violation> {
            let end = end.unwrap_or(u64::MAX);
            if end <= most { Ok(()) } else { Err(Violation::Segment { alloc, end, most }) }
        };
        let multiple = |at: u32, need: u32| -> Result<(), Violation> {
            if at.checked_rem(need) == Some(0) {
                Ok(())
            } else {
                Err(Violation::Base { alloc, need, at })
            }
        };
        let size = element_bytes(a.shape).map(u64::from);
        let panels = u32::from(a.shape.grid.rows).saturating_mul(u32::from(a.shape.grid.cols));
        let elements = panel_size(a.shape).and_then(|size| size.checked_mul(panels)).unwrap_or(0);
        // An exchange has places for those of one round.
        let exchange = plan.exchanges.iter().find(|e| usize::from(e.alloc) == k);
        let rounds = exchange.map_or(1, SharedExchange::round_count);
        let elements = elements.checked_div(rounds).unwrap_or(elements);
        for e in 0..elements {
            let end = Memory::Shared(a)
                .at(e)
                .zip(size)
                .and_then(|(p, size)| u64::from(p.byte).checked_add(size));
            within(end, u64::from(a.stage_bytes()))?;
        }
        crate::memory::buffers::buffers(program, plan, k)?;
        let end = u64::from(a.offset).saturating_add(u64::from(a.bytes));
        within(Some(end), u64::from(plan.shared_bytes))?;
        within(Some(end), u64::from(arch.shared.max_bytes))?;
        let changed = a
            .layout
            .post
            .swizzle()
            .map_or(0, |s| usize::from(s.b).saturating_add(usize::from(s.m)));
        multiple(a.align, power(changed).unwrap_or(0))?;
        multiple(a.offset, a.align)?;
        multiple(plan.shared_align, a.align)?;
        for (j, b) in plan.allocs.iter().enumerate().take(k) {
            if shares_bytes((a.offset, a.bytes), (b.offset, b.bytes))
                && takes_back(program, plan, (k, j))
            {
                return Err(Violation::Overlap {
                    alloc,
                    other: u16::try_from(j).unwrap_or(u16::MAX),
                    byte: a.offset.max(b.offset),
                });
            }
        }
    }
    mbarriers(tables, arch, plan)
}

/// Mbarriers lie in the segment, aligned, and apart from every tile: they live as long as
/// the kernel.
#[inline(never)]
fn mbarriers(tables: &Tables<'_>, arch: &Arch<'_>, plan: &Plan<'_>) -> Result<(), Violation> {
    if plan.mbarriers == 0 {
        return Ok(());
    }
    let size = object_bytes(tables, arch);
    let bytes = size.saturating_mul(u32::from(plan.mbarriers));
    let (none, end) = (u16::MAX, u64::from(plan.mbarrier_offset).saturating_add(u64::from(bytes)));
    if bytes == 0 || end > u64::from(plan.shared_bytes) || end > u64::from(arch.shared.max_bytes) {
        return Err(Violation::Segment { alloc: none, end, most: u64::from(plan.shared_bytes) });
    }
    for at in [plan.mbarrier_offset, plan.shared_align] {
        if at.checked_rem(size) != Some(0) {
            return Err(Violation::Base { alloc: none, need: size, at });
        }
    }
    for (k, a) in plan.allocs.iter().enumerate() {
        if shares_bytes((plan.mbarrier_offset, bytes), (a.offset, a.bytes)) {
            return Err(Violation::Overlap {
                alloc: u16::try_from(k).unwrap_or(u16::MAX),
                other: none,
                byte: plan.mbarrier_offset.max(a.offset),
            });
        }
    }
    Ok(())
}

/// The first byte behind the mbarriers; 0 if there are none.
pub(crate) fn mbarriers_end(tables: &Tables<'_>, arch: &Arch<'_>, plan: &Plan<'_>) -> u32 {
    if plan.mbarriers == 0 {
        return 0;
    }
    plan.mbarrier_offset
        .saturating_add(object_bytes(tables, arch).saturating_mul(u32::from(plan.mbarriers)))
}

/// Bytes of an mbarrier.
fn object_bytes(tables: &Tables<'_>, arch: &Arch<'_>) -> u32 {
    tables.units.mbarriers.iter().find(|c| has(arch, c.feature)).map_or(0, |c| u32::from(c.bytes))
}

/// Whether two (start, length) have a byte in common.
pub(crate) fn shares_bytes(a: (u32, u32), b: (u32, u32)) -> bool {
    let end = |(start, length): (u32, u32)| u64::from(start).saturating_add(u64::from(length));
    u64::from(a.0) < end(b) && u64::from(b.0) < end(a)
}

/// Whether one of two tiles that share bytes is read after the other was written, and not written
/// itself in between: on a walk through the program in which each loop is gone through twice, or
/// not at all.
fn takes_back(program: &Program<'_, '_>, plan: &Plan<'_>, pair: (usize, usize)) -> bool {
    let mut at = program
        .functions()
        .next()
        .and_then(|function| program.body(function))
        .and_then(|body| program.first(body));
    let mut loops: heapless::Vec<(Op, u8, LostContents), DEPTH> = heapless::Vec::new();
    let mut lost = LostContents::default();
    loop {
        let Some(op) = at else {
            // The end of a loop's body, or of the function.
            let Some((around, turn, before)) = loops.pop() else { return false };
            if turn == 0 && loops.push((around, 1, before.or(lost))).is_ok() {
                at = program.body(around).and_then(|body| program.first(body));
            } else {
                lost = lost.or(before);
                at = program.next(around);
            }
            continue;
        };
        if program.role(op) == OpRole::For {
            if loops.push((op, 0, lost)).is_err() {
                return true;
            }
            at = program.body(op).and_then(|body| program.first(body));
            continue;
        }
        if lost.meets(plan, op, pair) {
            return true;
        }
        at = program.next(op);
    }
}

/// Most loops inside each other that are walked through.
const DEPTH: usize = 8;

/// Of two tiles: which may hold something, and of which that may be gone. What was never written
/// takes nothing from the other one.
#[derive(Copy, Clone, Default)]
struct LostContents {
    held: [bool; 2],
    first: bool,
    second: bool,
}

impl LostContents {
    fn or(self, other: Self) -> Self {
        let held = [0, 1].map(|k| {
            let of = |one: &Self| one.held.get(k).copied().unwrap_or(true);
            of(&self) | of(&other)
        });
        Self { held, first: self.first | other.first, second: self.second | other.second }
    }

    /// Goes on by one operation; whether it reads something that is gone.
    fn meets(&mut self, plan: &Plan<'_>, op: Op, pair: (usize, usize)) -> bool {
        let is =
            |end: End, number: usize| matches!(end, End::Shared(k) if usize::from(k) == number);
        let reads = |number: usize| {
            let moved = plan.transfers.iter().any(|m| m.op == op && is(m.from, number));
            let given = |p: &ProductPlan| {
                let copied = p.copied.into_iter().flatten().map(|copy| copy.given);
                p.shared
                    .into_iter()
                    .flatten()
                    .chain(copied)
                    .any(|given| usize::from(given.alloc) == number)
            };
            moved || plan.products.iter().any(|p| p.op == op && given(p))
        };
        let writes = |number: usize| {
            let exchanged =
                plan.exchanges.iter().any(|e| e.op == op && usize::from(e.alloc) == number);
            exchanged || plan.transfers.iter().any(|m| m.op == op && is(m.to, number))
        };
        if self.first && reads(pair.0) || self.second && reads(pair.1) {
            return true;
        }
        if writes(pair.0) {
            let [_, second] = self.held;
            *self = Self { held: [true, second], first: false, second };
        }
        if writes(pair.1) {
            let [first, _] = self.held;
            *self = Self { held: [first, true], first, second: false };
        }
        false
    }
}
