//! What a candidate for a product costs by itself: its instructions and the registers that it
//! holds. It is known without looking at any movement.

use crate::data::stored_before;
use crate::select::matrix::mma_candidates::MmaProblem;
use crate::select::planner::Planner;
use lanebook_ir::{Op, Value};
use lanebook_tables::{ClassId, OpRole, Space};
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::product::Product;

/// What all candidates for one product have around them.
#[derive(Copy, Clone)]
pub(crate) struct OwnCost<'t> {
    target: TargetInfo<'t>,
    /// Registers that the inputs take on their way to shared memory, where nothing brings sixteen
    /// bytes a lane there directly.
    passing: u32,
    /// Whether A and B were there before the product's loop began.
    stays: [bool; 2],
    /// How often an accumulator in tensor memory is fetched.
    fetches: u32,
    /// Its start is stored there.
    starts: bool,
    /// How often A is stored in tensor memory.
    gives: u32,
}

/// The register class of an operand.
fn class(target: &TargetInfo<'_>, product: &Product, operand: u8) -> Option<ClassId> {
    let atom = target.tables.atom(product.atom)?;
    atom.operands.get(usize::from(operand)).map(|o| o.class)
}

/// The registers that a lane has of an operand's class; 0 where the class has no pool.
fn pool(target: &TargetInfo<'_>, product: &Product, operand: u8) -> u32 {
    class(target, product, operand)
        .and_then(|id| target.isa.classes.get(id.index()))
        .map_or(0, |c| u32::from(c.pool.1))
}

/// Whether the classes of both inputs have a pool of registers.
pub(crate) fn inputs_are_pooled(target: &TargetInfo<'_>, product: &Product) -> bool {
    let shape = product.shape;
    [shape.a, shape.b].into_iter().all(|operand| pool(target, product, operand) != 0)
}

impl OwnCost<'_> {
    /// The cost of a candidate, in quarter units.
    pub(crate) fn of(&self, product: &Product) -> u32 {
        let w = self.target.tables.weights;
        let each =
            u32::from(product.cycles).saturating_mul(w.matrix_cycle).saturating_add(w.instruction);
        let held = product
            .in_registers()
            .fold(0u32, |sum, f| sum.saturating_add(u32::from(f.registers())));
        product
            .count()
            .saturating_mul(each)
            .saturating_mul(w.executions(1))
            .saturating_add(held.saturating_mul(w.register))
            .saturating_add(self.tensor_transfers(product).saturating_mul(w.instruction))
            .saturating_add(
                self.missing_registers(product, held)
                    .saturating_mul(w.register)
                    .saturating_mul(w.missing_register),
            )
    }

    /// Registers that the classes' pools do not hold, of `held`. They are dearer than anything
    /// else: such a product is a last resort.
    fn missing_registers(&self, product: &Product, held: u32) -> u32 {
        let pool = |operand| match pool(&self.target, product, operand) {
            0 => u32::MAX,
            registers => registers,
        };
        let (a, d) = (product.shape.a, product.shape.d);
        let output = u32::from(product.c.registers());
        let inputs = held.saturating_sub(output);
        // An input from outside the loop is there as well while the loop's other products have
        // theirs.
        let staying = self.stays.into_iter().zip([&product.a, &product.b]).zip(product.shared);
        let staying = staying.fold(0u32, |sum, ((stays, f), shared)| {
            if stays && !shared { sum.saturating_add(u32::from(f.registers())) } else { sum }
        });
        let beside = self.passing.max(staying);
        match class(&self.target, product, a) == class(&self.target, product, d) {
            true => held.saturating_add(beside).saturating_sub(pool(a)),
            false => inputs
                .saturating_add(beside)
                .saturating_sub(pool(a))
                .saturating_add(output.saturating_sub(pool(d))),
        }
    }

    /// Loads and stores of tensor memory: loads stand behind the loop that carries the sum, if one
    /// does; else behind each product. So do stores of its start before it. A is stored for each
    /// product, or before the loop.
    fn tensor_transfers(&self, product: &Product) -> u32 {
        let count = |registers: u16, each: u8| {
            u32::from(registers).checked_shr(u32::from(each)).unwrap_or(0)
        };
        let fetched = product.tensor.map_or(0, |t| count(product.c.registers(), t.registers));
        let moved =
            fetched.saturating_mul(if self.starts { 2 } else { 1 }).saturating_mul(self.fetches);
        let given = product.tensor_a.map_or(0, |t| count(product.a.registers(), t.registers));
        moved.saturating_add(given.saturating_mul(self.gives))
    }
}

impl<'t> Planner<'_, 't, '_, '_> {
    /// What the candidates for a product cost by themselves.
    pub(crate) fn own_cost(&self, problem: &MmaProblem, inputs: [Value; 2]) -> OwnCost<'t> {
        let op = problem.op();
        let trips = self.target.tables.weights.executions(1);
        let home = self.accumulator_home(op);
        let direct = self
            .transfers
            .between(Space::Global, Space::Shared)
            .iter()
            .any(|copy_atom| copy_atom.share_bytes >= 16);
        let lane_bits = u64::from(self.plan.threads).saturating_mul(32);
        let passing = problem.input_bits().checked_div(lane_bits).unwrap_or(0);
        OwnCost {
            target: self.target,
            passing: if direct { 0 } else { u32::try_from(passing).unwrap_or(u32::MAX) },
            stays: inputs.map(|input| self.stays(op, input)),
            fetches: if home.is_some_and(|(_, carrier, _)| carrier.is_none()) { trips } else { 1 },
            starts: home.is_some_and(|(.., stored)| stored),
            gives: if stored_before(self.program, op).is_some() { 1 } else { trips },
        }
    }

    /// Whether an input of a product was there before the product's loop began.
    fn stays(&self, product: Op, input: Value) -> bool {
        let (program, block) = (self.program, self.program.block_of(product));
        let mut at = input;
        while let Some(def) = program.def_op(at) {
            if program.block_of(def) != block {
                return true;
            }
            match (program.role(def), program.operand(def, 0)) {
                (OpRole::Transpose | OpRole::Convert, Some(from)) => at = from,
                _ => break,
            }
        }
        false
    }
}
