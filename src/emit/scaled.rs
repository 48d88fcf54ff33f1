//! Block scales of a product: the register that holds an instance's, and the immediates that say where in it, or in which lanes.

use super::context::{Context, EmitError};
use super::step::Slot;
use crate::expr::Reg;
use crate::ir::Op;
use crate::plan::{ProductPlan, ScalePlan};
use lanebook_tables::Atom;

/// Operands that say where the scales of both sides are.
pub(super) type ScaleArgs = heapless::Vec<(u8, Slot), 10>;

/// The scales of a product that have registers.
#[derive(Copy, Clone)]
pub(super) struct Scales {
    sides: [Option<(Reg, ScalePlan)>; 2],
}

impl Context<'_, '_, '_, '_> {
    /// The registers of a product's scales.
    pub(super) fn scales_of(&mut self, op: Op, plan: &ProductPlan) -> Result<Scales, EmitError> {
        let mut sides = [None; 2];
        let Some(values) = self.program.scales(op) else { return Ok(Scales { sides }) };
        for ((value, scale), side) in values.into_iter().zip(plan.scales).zip(&mut sides) {
            *side = Some((self.tile_of(op, value)?, scale.ok_or(EmitError::Unplanned(op))?));
        }
        Ok(Scales { sides })
    }
}

impl Scales {
    /// The operands of the instance that works on these blocks of A and B.
    pub(super) fn args(&self, op: Op, atom: &Atom<'_>, blocks: (u16, u16)) -> Result<ScaleArgs, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut out = ScaleArgs::new();
        for (side, block) in self.sides.iter().zip([blocks.0, blocks.1]) {
            let Some((reg, scale)) = side else { continue };
            let first = reg.first.wrapping_add(scale.register(block));
            out.push((scale.operand, Slot::Reg { class: reg.class.0 as u8, count: 1, first })).map_err(|_| refuse)?;
            let moves = atom.more.map_or(&[][..], |more| more.moves);
            for moved in moves.iter().filter(|moved| moved.of == scale.operand) {
                out.push((moved.by, Slot::Int(i32::from(scale.immediate(block, moved.by))))).map_err(|_| refuse)?;
            }
        }
        Ok(out)
    }
}
