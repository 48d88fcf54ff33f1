//! What conversions and computations cost: the model of `rules/cost.ron` on a program, and its
//! bill.
//!
//! A conversion costs its bytes, at least those of so many elements of so many bits; one that only
//! renames registers is free. An operation costs the bytes that all threads together compute, so
//! copies count; its effort is in `rules/ops.ron`. A loop's body counts `loop_trips` times in what
//! is *executed*, once in what is *written*.
use crate::remat::behaviour::{LayoutBehaviour, bytes, in_registers};
use crate::remat::layouts::ProgramLayouts;
use crate::remat::min_cut::DEAREST;
use lanebook_ir::{Block, Def, ErrorKind, Op, Program, Value};
use lanebook_tables::{OpRole, Weights};

/// What a program's conversions and computations cost, in thousandths of a cycle.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct CostReport {
    /// Conversions between layouts of tiles in registers.
    pub conversions: u32,
    /// Those of them that only rename registers.
    pub renames: u32,
    /// What the conversions cost, each counted once.
    pub written: u64,
    /// The same with loops counted as often as they are taken to run.
    pub executed: u64,
    /// What computing on tiles costs, executed.
    pub work: u64,
}

impl CostReport {
    /// Conversions and work together, executed.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.executed.saturating_add(self.work)
    }
    /// What passes compare: cost first, then the number of conversions.
    pub(super) const fn rank(&self) -> (u64, u32) {
        (self.total(), self.conversions)
    }
}

/// How often a block is taken to run.
fn trips(program: &Program<'_, '_>, block: Option<Block>) -> u64 {
    let Some(owner) = block.and_then(|block| program.owner_of(block)) else { return 1 };
    let own = usize::from(program.role(owner).is_loop());
    let depth = program.loops_around(owner).saturating_add(own);
    u64::from(program.tables().weights.executions(depth))
}

/// Where a value is made.
pub(super) fn home(program: &Program<'_, '_>, value: Value) -> Option<Block> {
    match program.def(value) {
        Def::Result(op, _) => program.block_of(op),
        Def::Argument(block, _) => Some(block),
        _ => None,
    }
}

/// A price as the network takes it.
pub(super) fn price(cost: u64) -> u32 {
    u32::try_from(cost).unwrap_or(DEAREST).min(DEAREST)
}

impl ProgramLayouts<'_, '_, '_> {
    fn weights(&self) -> &Weights {
        &self.program.tables().weights
    }
    /// How often a block is taken to run.
    pub fn trips(&self, block: Option<Block>) -> u64 {
        match (self.ran.get(), block) {
            (Some((known, count)), Some(block)) if known == block => count,
            (_, None) => 1,
            (_, Some(block)) => {
                let count = trips(self.program, Some(block));
                self.ran.set(Some((block, count)));
                count
            }
        }
    }
    /// What converting a value once costs, written once; without the trifle.
    pub fn conversion(&self, value: Value, from: u16, to: u16) -> u64 {
        if self.renames(from, to) {
            return 0;
        }
        let w = self.weights();
        bytes(self.program, &self.program.type_of(value), w.convert_elements, w.convert_bits)
            .saturating_mul(u64::from(w.convert_byte))
    }
    /// What converting a value costs where it is made.
    pub fn conversion_price(&self, value: Value, from: u16, to: u16) -> u32 {
        price(
            self.conversion(value, from, to)
                .saturating_add(u64::from(self.weights().trifle))
                .saturating_mul(self.trips(home(self.program, value))),
        )
    }
    /// What making a value in a layout costs, once.
    pub fn work(
        &mut self,
        value: Value,
        kind: LayoutBehaviour,
        layout: u16,
    ) -> Result<u64, ErrorKind> {
        let program = &*self.program;
        let copies = self.record(layout).map_or(0, |record| u32::from(record.copies));
        let w = *self.weights();
        let size =
            bytes(program, &program.type_of(value), 0, 0).checked_shl(copies).unwrap_or(u64::MAX);
        let def = program.def_op(value);
        let effort = def.and_then(|op| program.decl(op)).map_or(0, |decl| u64::from(decl.effort));
        Ok(match kind {
            LayoutBehaviour::Same if def.is_some_and(|op| program.role(op) == OpRole::Load) => {
                size.saturating_mul(u64::from(w.load_byte))
            }
            LayoutBehaviour::Same => {
                size.saturating_mul(effort).saturating_mul(u64::from(w.work_byte))
            }
            // Registers that hold it all the while.
            LayoutBehaviour::Carried(..) => size.saturating_mul(u64::from(w.work_byte)),
            LayoutBehaviour::Reduce(axis) => {
                let Some((_, input)) = self.input(value, kind, 0) else { return Ok(0) };
                let (lanes, warps) = match self.need(value, kind, layout, input)? {
                    Some(layout) => self.spread(layout, axis),
                    None => (0, 0),
                };
                let many = |bits: u8, weight: u32| {
                    u64::from(weight).checked_shl(u32::from(bits)).unwrap_or(u64::MAX)
                };
                many(lanes, w.reduce_lane).saturating_add(many(warps, w.reduce_warp))
            }
            LayoutBehaviour::Fixed
            | LayoutBehaviour::Passed(..)
            | LayoutBehaviour::After(..)
            | LayoutBehaviour::Branch(..)
            | LayoutBehaviour::Expand(_)
            | LayoutBehaviour::Permute
            | LayoutBehaviour::Reshape
            | LayoutBehaviour::Half
            | LayoutBehaviour::Whole
            | LayoutBehaviour::Paired => 0,
        })
    }
    /// What making a value in a layout costs where it is made.
    pub fn work_price(
        &mut self,
        value: Value,
        kind: LayoutBehaviour,
        layout: u16,
    ) -> Result<u32, ErrorKind> {
        let work = self.work(value, kind, layout)?.saturating_add(1);
        Ok(price(work.saturating_mul(self.trips(home(self.program, value)))))
    }
    /// The whole program's bill.
    pub fn bill(&mut self) -> Result<CostReport, ErrorKind> {
        let mut bill = CostReport::default();
        let mut at = self.program.first(self.program.root());
        while let Some(op) = at {
            at = self.program.following(op, None);
            let trips = self.trips(self.program.block_of(op));
            if self.program.role(op) == OpRole::Convert {
                self.converts(op, trips, &mut bill)?;
                continue;
            }
            if self.program.role(op) == OpRole::While {
                self.carries(op, trips, &mut bill)?;
            }
            let mut value = self.program.result(op, 0);
            while let Some(result) = value {
                value = self.program.value_data(result).and_then(|data| data.next);
                let ty = self.program.type_of(result);
                let kind = self.natural(result);
                if in_registers(&ty) && kind != LayoutBehaviour::Fixed {
                    let layout = self.at(result)?;
                    let kind = match kind {
                        LayoutBehaviour::After(op, number)
                            if self.program.role(op) != OpRole::While =>
                        {
                            LayoutBehaviour::Carried(op, number)
                        }
                        kind => kind,
                    };
                    bill.work = bill
                        .work
                        .saturating_add(self.work(result, kind, layout)?.saturating_mul(trips));
                }
            }
        }
        Ok(bill)
    }
    /// What a `while` carries, which may be more or less than what comes out.
    fn carries(&mut self, op: Op, trips: u64, bill: &mut CostReport) -> Result<(), ErrorKind> {
        let mut number = 0u16;
        while let Some(value) = self.argument(op, usize::from(number)) {
            let ty = self.program.type_of(value);
            if in_registers(&ty) {
                let layout = self.at(value)?;
                bill.work = bill.work.saturating_add(
                    self.work(value, LayoutBehaviour::Carried(op, number), layout)?
                        .saturating_mul(trips),
                );
            }
            number = number.saturating_add(1);
        }
        Ok(())
    }
    fn converts(&mut self, op: Op, trips: u64, bill: &mut CostReport) -> Result<(), ErrorKind> {
        let (Some(source), Some(result)) =
            (self.program.operand(op, 0), self.program.result(op, 0))
        else {
            return Ok(());
        };
        let (from, to) = (self.program.type_of(source), self.program.type_of(result));
        if !in_registers(&from) || !in_registers(&to) {
            return Ok(());
        }
        let (from, to) = (self.at(source)?, self.at(result)?);
        let cost = if from == to { 0 } else { self.conversion(result, from, to) };
        bill.conversions = bill.conversions.saturating_add(1);
        bill.renames = bill.renames.saturating_add(u32::from(cost == 0));
        bill.written = bill.written.saturating_add(cost);
        bill.executed = bill.executed.saturating_add(cost.saturating_mul(trips));
        Ok(())
    }
}
