//! Stages in functions of parallel loops: the copies that a serial loop starts turns ahead.
//!
//! Such a copy is chosen as those of functions of tiles are, beside tiles whose layouts are found:
//! their readers say how they lie. What reads them takes its elements from the buffer of its turn.

use crate::data::{Limits, Plan, PlanError, Unstaged};
use crate::select::planner::{CopyEnd, CopyOp, PlanScratch, Planner, begin, planner_over};
use lanebook_ir::{Loop, Op, Program, Value, attr_names};
use lanebook_tables::{AccessId, OpRole, Space, Tables};
use lanebook_tile::copy_atom::CopyAtom;

/// Chooses the copies of a function of parallel loops that run ahead, and gives their tiles buffers.
/// Layouts of tiles, and products that read them by themselves, are in the plan.
///
/// # Errors
/// [`PlanError::Stages`]; what keeps a tile from being copied whole.
#[doc(hidden)]
#[inline(never)] // Its planner leaves the stack before anything is emitted.
pub fn stage_loops(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    function: Op,
    plan: &mut Plan<'_>,
    workspace: &mut PlanScratch<'_>,
) -> Result<(), PlanError> {
    plan.transfers.clear();
    plan.globals.clear();
    plan.maps.clear();
    let staged = |op: &Op| program.role(*op) == OpRole::For && program.stages(*op) > 1;
    let Some(first) = program.inside(function).find(staged) else { return Ok(()) };
    if !plan.threads.is_power_of_two() {
        return Err(PlanError::Stages { op: first, why: Unstaged::Waves });
    }
    let arch = tables.arch(plan.arch).ok_or(PlanError::UnknownArch)?;
    let isa = tables.isa(arch.isa).ok_or(PlanError::UnknownArch)?;
    let limits = Limits::new();
    let machine = (tables, arch, isa);
    let target = begin(machine, (program, function), (plan.wave, plan.warps), workspace)?;
    let mut planner = planner_over!(target, program, function, plan, workspace, &limits);
    planner.family = planner.family();
    for around in program.inside(function).filter(staged) {
        planner.stage_copies(around)?;
    }
    planner.stage()?;
    planner.settle_movements()?;
    planner.spare_buffers();
    planner.check_stages()?;
    planner.check_readers()
}

/// The copies that run ahead of their loops' turns in a function of parallel loops: each loop and
/// the copy.
#[doc(hidden)]
pub fn copies_ahead(program: &Program<'_, '_>, function: Op) -> impl Iterator<Item = (Op, Op)> {
    let space = |op: Op, k: usize| program.type_of(program.operand(op, k)?).space;
    let dtype = |op: Op, k: usize| program.type_of(program.operand(op, k)?).dtype;
    let fills = move |op: Op| {
        program.role(op) == OpRole::Copy
            && dtype(op, 0) == dtype(op, 1)
            && space(op, 0) == Some(Space::Global)
            && space(op, 1) == Some(Space::Shared)
    };
    program.inside(function).filter(move |op| fills(*op)).filter_map(move |op| {
        let around = program.parent(op)?;
        let ahead = program.role(around) == OpRole::For && program.stages(around) > 1;
        ahead.then_some((around, op))
    })
}

impl Planner<'_, '_, '_, '_> {
    /// The copies of one loop.
    fn stage_copies(&mut self, around: Op) -> Result<(), PlanError> {
        let program = self.program;
        let refuse = |why| PlanError::Stages { op: around, why };
        let parts = program.counted_loop(around).ok_or(refuse(Unstaged::Bounds))?;
        let stages = program.stages(around);
        self.stage_loop(&parts, stages)?;
        let mut none = true;
        let own = copies_ahead(program, self.function).filter(|(at, _)| *at == around);
        for (_, op) in own {
            if program.has_attr(op, attr_names::THREADS) {
                return Err(PlanError::Stages { op, why: Unstaged::Range });
            }
            if program.subscripts(op, 0).next().is_none() {
                return Err(PlanError::Stages { op, why: Unstaged::Whole });
            }
            let movement = self.collect_copy(op)?;
            let CopyEnd::Shared(alloc) = movement.to else {
                return Err(PlanError::Unsupported(op));
            };
            self.stage_in_place((&movement, alloc), &parts, stages)?;
            none = false;
        }
        if none { Err(refuse(Unstaged::NoCopy)) } else { Ok(()) }
    }

    /// Gives the tile of one copy its buffers.
    fn stage_in_place(
        &mut self,
        (movement, alloc): (&CopyOp, u16),
        parts: &Loop,
        stages: u8,
    ) -> Result<(), PlanError> {
        let copy = movement.op;
        let stale = PlanError::Stale;
        self.begins_known(copy, parts)?;
        let tensor = self.program.operand(copy, 0).ok_or(stale)?;
        if self.program.inside(parts.op).any(|op| writes(self.program, op, tensor)) {
            return Err(PlanError::Stages { op: copy, why: Unstaged::Written });
        }
        let tile = self.plan.allocs.get(usize::from(alloc)).ok_or(stale)?.value;
        self.alone(copy, tile)?;
        let tile = self.plan.allocs.get_mut(usize::from(alloc)).ok_or(stale)?;
        tile.stages = stages;
        let each = tile.bytes;
        tile.repeat(each);
        Ok(())
    }

    /// Refuses a tile that something else touches than readers behind its copy, in the same turn.
    #[inline(never)]
    fn alone(&self, copy: Op, tile: Value) -> Result<(), PlanError> {
        let program = self.program;
        let behind = |op: Op| {
            let mut later = core::iter::successors(program.next(copy), |at| program.next(*at));
            later.any(|at| at == op)
        };
        for op in program.inside(self.function).filter(|op| *op != copy) {
            if program.role(op) == OpRole::View || !touches(program, op, tile) {
                continue;
            }
            // The operation of the loop's body that it stands in, or is.
            let mut around = core::iter::successors(Some(op), |at| program.parent(*at));
            let own = around.find(|at| program.block_of(*at) == program.block_of(copy));
            let by_unit = self.plan.product_of(op).is_some_and(|_| own != Some(op));
            let reads = own.is_some_and(behind) && !writes(program, op, tile) && !by_unit;
            if !reads {
                return Err(PlanError::Stages { op, why: Unstaged::Touched });
            }
        }
        Ok(())
    }

    /// Refuses readers of elements that nothing orders after copies that run ahead.
    #[inline(never)]
    fn check_readers(&self) -> Result<(), PlanError> {
        let (tables, program) = (self.target.tables, self.program);
        let access = |copy: &CopyAtom| -> Option<AccessId> {
            Some(tables.atom(copy.atom)?.movement?.from.access)
        };
        for copy in self.plan.transfers.iter() {
            let Some(tile) = self.plan.staged(copy) else { continue };
            let element = |op: &Op| {
                *op != copy.op
                    && self.plan.product_of(*op).is_none()
                    && program.role(*op) != OpRole::View
                    && touches(program, *op, tile.value)
            };
            let Some(reader) = program.inside(self.function).find(element) else { continue };
            let loads = self.transfers.between(Space::Shared, Space::Register);
            let mut kinds = loads.iter().filter_map(access);
            if !kinds.all(|kind| self.orders(copy, kind)) {
                return Err(PlanError::Stages { op: reader, why: Unstaged::Reader });
            }
        }
        Ok(())
    }
}

/// Whether an operation has a view of a memory, or itself, among its operands.
fn touches(program: &Program<'_, '_>, op: Op, memory: Value) -> bool {
    program.all_operands(op).any(|value| program.storage_of(value) == memory)
}

/// Whether an operation writes a memory.
fn writes(program: &Program<'_, '_>, op: Op, memory: Value) -> bool {
    let written = match program.role(op) {
        OpRole::Copy | OpRole::Fill | OpRole::ReduceInto | OpRole::ElementStore => 1,
        OpRole::ProductInto => 2,
        _ => return false,
    };
    program.operand(op, written).is_some_and(|value| program.storage_of(value) == memory)
}
