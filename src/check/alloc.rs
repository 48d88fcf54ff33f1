//! Shared tiles: inside their bytes, aligned, and apart while alive.

use super::tile::{Memory, element_bytes, panel_size, power};
use super::violation::Violation;
use crate::ir::{Op, Program, Value};
use crate::plan::Plan;
use crate::unit::has;
use lanebook_tables::{Arch, OpRole, Tables};

/// Statements 1 and 2 of the module's page.
pub(super) fn allocs(tables: &Tables<'_>, program: &Program<'_, '_>, plan: &Plan<'_>) -> Result<(), Violation> {
    let arch = tables.arch(plan.arch).ok_or(Violation::UnknownArch)?;
    for (k, a) in plan.allocs.iter().enumerate() {
        let alloc = u16::try_from(k).unwrap_or(u16::MAX);
        let within = |end: Option<u64>, most: u64| -> Result<(), Violation> {
            let end = end.unwrap_or(u64::MAX);
            if end <= most { Ok(()) } else { Err(Violation::Segment { alloc, end, most }) }
        };
        let multiple =
            |at: u32, need: u32| -> Result<(), Violation> { if at.checked_rem(need) == Some(0) { Ok(()) } else { Err(Violation::Base { alloc, need, at }) } };
        let size = element_bytes(a.shape).map(u64::from);
        let panels = u32::from(a.shape.grid.rows).saturating_mul(u32::from(a.shape.grid.cols));
        let elements = panel_size(a.shape).and_then(|size| size.checked_mul(panels)).unwrap_or(0);
        for e in 0..elements {
            let end = Memory::Shared(a).at(e).zip(size).and_then(|(p, size)| u64::from(p.byte).checked_add(size));
            within(end, u64::from(a.bytes))?;
        }
        let end = u64::from(a.offset).saturating_add(u64::from(a.bytes));
        within(Some(end), u64::from(plan.shared_bytes))?;
        within(Some(end), u64::from(arch.shared.max_bytes))?;
        let changed = a.layout.post.swizzle().map_or(0, |s| usize::from(s.b).saturating_add(usize::from(s.m)));
        multiple(a.align, power(changed).unwrap_or(0))?;
        multiple(a.offset, a.align)?;
        multiple(plan.shared_align, a.align)?;
        for (j, b) in plan.allocs.iter().enumerate().take(k) {
            let byte = a.offset.max(b.offset);
            let life = |number: usize, value: Value| match plan.exchanges.iter().find(|e| usize::from(e.alloc) == number) {
                Some(exchange) => around(program, exchange.op),
                None => life(program, value),
            };
            let (one, other) = (life(k, a.value), life(j, b.value));
            if one.0 > other.1 || other.0 > one.1 {
                continue;
            }
            if shares_bytes((a.offset, a.bytes), (b.offset, b.bytes)) {
                return Err(Violation::Overlap { alloc, other: u16::try_from(j).unwrap_or(u16::MAX), byte });
            }
        }
    }
    completions(tables, arch, plan)
}

/// Completion objects lie in the segment, aligned, and apart from every tile: they live as long as the kernel.
#[inline(never)]
fn completions(tables: &Tables<'_>, arch: &Arch<'_>, plan: &Plan<'_>) -> Result<(), Violation> {
    if plan.completions == 0 {
        return Ok(());
    }
    let size = object_bytes(tables, arch);
    let bytes = size.saturating_mul(u32::from(plan.completions));
    let (none, end) = (u16::MAX, u64::from(plan.completion_offset).saturating_add(u64::from(bytes)));
    if bytes == 0 || end > u64::from(plan.shared_bytes) || end > u64::from(arch.shared.max_bytes) {
        return Err(Violation::Segment { alloc: none, end, most: u64::from(plan.shared_bytes) });
    }
    for at in [plan.completion_offset, plan.shared_align] {
        if at.checked_rem(size) != Some(0) {
            return Err(Violation::Base { alloc: none, need: size, at });
        }
    }
    for (k, a) in plan.allocs.iter().enumerate() {
        if shares_bytes((plan.completion_offset, bytes), (a.offset, a.bytes)) {
            return Err(Violation::Overlap { alloc: u16::try_from(k).unwrap_or(u16::MAX), other: none, byte: plan.completion_offset.max(a.offset) });
        }
    }
    Ok(())
}

/// The first byte behind the completion objects; 0 if there are none.
pub(super) fn completions_end(tables: &Tables<'_>, arch: &Arch<'_>, plan: &Plan<'_>) -> u32 {
    if plan.completions == 0 {
        return 0;
    }
    plan.completion_offset.saturating_add(object_bytes(tables, arch).saturating_mul(u32::from(plan.completions)))
}

/// Bytes of a completion object.
fn object_bytes(tables: &Tables<'_>, arch: &Arch<'_>) -> u32 {
    tables.units.completions.iter().find(|c| has(arch, c.feature)).map_or(0, |c| u32::from(c.bytes))
}

/// Whether two (start, length) have a byte in common.
pub(super) fn shares_bytes(a: (u32, u32), b: (u32, u32)) -> bool {
    let end = |(start, length): (u32, u32)| u64::from(start).saturating_add(u64::from(length));
    u64::from(a.0) < end(b) && u64::from(b.0) < end(a)
}

/// First and last position in text order at which a value is needed.
fn life(program: &Program<'_, '_>, value: Value) -> (usize, usize) {
    let mut out = (usize::MAX, 0usize);
    for user in program.uses(value).filter_map(|place| program.user(place)) {
        let (first, last) = around(program, user);
        out = (out.0.min(first), out.1.max(last));
    }
    out
}

/// First and last position of an operation, or of the outermost loop that it is in.
fn around(program: &Program<'_, '_>, user: Op) -> (usize, usize) {
    let mut out = (usize::MAX, 0usize);
    let outer = outermost_loop(program, user);
    for (position, op) in program.all().enumerate() {
        if op == user || outer.is_some_and(|l| op == l || is_inside(program, op, l)) {
            out = (out.0.min(position), out.1.max(position));
        }
    }
    out
}

fn parents<'p>(program: &'p Program<'_, '_>, op: Op) -> impl Iterator<Item = Op> + 'p {
    core::iter::successors(program.parent(op), |at| program.parent(*at))
}

fn outermost_loop(program: &Program<'_, '_>, op: Op) -> Option<Op> {
    parents(program, op).filter(|p| program.role(*p) == OpRole::For).last()
}

fn is_inside(program: &Program<'_, '_>, op: Op, outer: Op) -> bool {
    parents(program, op).any(|p| p == outer)
}
