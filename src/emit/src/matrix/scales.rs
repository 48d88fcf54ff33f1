//! Block scales of a product: the register that holds an instance's, and the immediates that say
//! where in it, or in which lanes; or, in tensor memory, the copies that bring them there before
//! the product's first instruction, by the same thread, so that they are there in time.

use crate::expr::{ExprId, Reg, RegBank};
use crate::lower::context::{EmitError, LowerContext};
use crate::lower::kept::KeptFor;
use crate::step::{InstKind, MAX_ARGS, Slot, slot};
use lanebook_ir::Op;
use lanebook_plan::{InTensor, ProductPlan, ScaleCopy, ScalePlan};
use lanebook_tables::{Atom, FieldRole, IndexOp};
use lanebook_tile::product::ProductInput;
use lanebook_tile::unit::descriptor_named;

/// Operands that say where the scales of both sides are.
pub(crate) type ScaleArgs = heapless::Vec<(u8, Slot), 10>;

/// The scales of a product that have registers.
#[derive(Copy, Clone)]
pub(crate) struct Scales {
    sides: [Option<(Reg, ScalePlan)>; 2],
}

impl LowerContext<'_, '_, '_, '_> {
    /// The registers of a product's scales.
    pub(crate) fn scales_of(&mut self, op: Op, plan: &ProductPlan) -> Result<Scales, EmitError> {
        let mut sides = [None; 2];
        let Some(values) = self.program.scales(op) else { return Ok(Scales { sides }) };
        for ((value, scale), side) in values.into_iter().zip(plan.scales).zip(&mut sides) {
            *side = Some((self.tile_of(op, value)?, scale.ok_or(EmitError::Unplanned(op))?));
        }
        Ok(Scales { sides })
    }
}

impl Scales {
    /// The registers that hold them.
    pub(crate) fn registers(&self) -> impl Iterator<Item = Reg> {
        self.sides.into_iter().flatten().map(|(reg, _)| reg)
    }

    /// The operands of the instance that works on these blocks of A and B.
    pub(crate) fn args(
        &self,
        op: Op,
        atom: &Atom<'_>,
        blocks: (u16, u16),
    ) -> Result<ScaleArgs, EmitError> {
        let refuse = EmitError::Unplanned(op);
        let mut out = ScaleArgs::new();
        for (side, block) in self.sides.iter().zip([blocks.0, blocks.1]) {
            let Some((reg, scale)) = side else { continue };
            let first = reg.first.wrapping_add(scale.register(block));
            out.push((scale.operand, Slot::Reg { class: reg.class.0 as u8, count: 1, first }))
                .map_err(|_| refuse)?;
            let moves = atom.more.map_or(&[][..], |more| more.moves);
            for moved in moves.iter().filter(|moved| moved.of == scale.operand) {
                out.push((moved.by, Slot::Int(i32::from(scale.immediate(block, moved.by)))))
                    .map_err(|_| refuse)?;
            }
        }
        Ok(out)
    }
}

/// Operands that say where in tensor memory the scales of an instance are.
type InColumns = [(u8, Option<Reg>); 2];

impl LowerContext<'_, '_, '_, '_> {
    /// The instruction descriptor's words, one for each run of a piece; where scales are in shared
    /// memory, and where they go.
    pub(crate) fn prepare_scales(
        &mut self,
        plan: &ProductPlan,
        place: &InTensor,
        base: ExprId,
    ) -> Result<(), EmitError> {
        let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        let words = plan.copied.iter().flatten().map(|copy| copy.piece.1).max().unwrap_or(1);
        for run in 0..words {
            let fields = plan.copied.iter().flatten().fold(0u32, |sum, copy| {
                sum | u32::from(run).checked_shl(u32::from(copy.field)).unwrap_or(0)
            });
            let word = self.arena.constant(place.word | fields)?;
            let reg = self.compute(word, RegBank::Vector)?;
            self.keep(number, KeptFor::Instruction(u32::from(run)), reg)?;
        }
        for input in ProductInput::BOTH {
            if let Some(copy) = input.of(plan.copied) {
                self.prepare_pieces(plan, input, &copy, base)?;
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn prepare_pieces(
        &mut self,
        plan: &ProductPlan,
        input: ProductInput,
        copy: &ScaleCopy,
        base: ExprId,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(plan.op);
        let number = u16::try_from(plan.op.index()).unwrap_or(u16::MAX);
        let alloc = self.plan.allocs.get(usize::from(copy.given.alloc)).ok_or(unplanned)?;
        let map = alloc.map().ok_or(unplanned)?;
        let atom = self.machine.tables.atom(plan.product.atom).ok_or(unplanned)?;
        let shape = plan.product.shape;
        let how = atom.shared(input.of([shape.a, shape.b])).ok_or(unplanned)?;
        let table = descriptor_named(self.machine.tables, self.machine.arch, how.descriptor)
            .map_err(|_| unplanned)?;
        let start = table.fields.iter().find(|f| f.role == FieldRole::Start).ok_or(unplanned)?;
        let (scale, at) = (start.scale.max(1), start.at);
        let (upper, lower) = self.descriptor_base(plan.op, copy.given.word, (scale, at), None)?;
        for run in 0..copy.pieces.1 {
            for row in 0..copy.pieces.0 {
                let key = u32::from(run.saturating_mul(copy.pieces.0).saturating_add(row));
                self.steps.purpose = InstKind::FurtherAddress;
                let column = u64::from(copy.column((row, run)));
                let node = if column == 0 {
                    base
                } else {
                    self.arena.op_const(IndexOp::Add, base, column)?
                };
                let reg = self.compute(node, RegBank::Vector)?;
                self.keep(number, KeptFor::ScaleColumn(input, key), reg)?;
                let e = alloc.shape.element(
                    u32::from(row.saturating_mul(copy.piece.0)),
                    u32::from(run.saturating_mul(copy.piece.1)),
                );
                let bytes = alloc.offset.saturating_add(map.at(e).bytes);
                let units = u64::from(bytes.checked_div(scale).unwrap_or(0));
                let more = lower.wrapping_add(units.checked_shl(u32::from(at)).unwrap_or(0));
                let node = if more == 0 {
                    upper
                } else {
                    self.arena.op_const(IndexOp::Add64, upper, more)?
                };
                let reg = self.compute(node, RegBank::Vector)?;
                self.keep(number, KeptFor::ScalePiece(input, key), reg)?;
            }
        }
        Ok(())
    }

    /// Copies all pieces of a product's scales. `one` holds in the thread that issues the product.
    pub(crate) fn copy_scales(
        &mut self,
        op: Op,
        plan: &ProductPlan,
        one: Reg,
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(op);
        self.steps.purpose = InstKind::Move;
        for input in ProductInput::BOTH {
            let Some(copy) = input.of(plan.copied) else { continue };
            let atom = self.machine.tables.atom(copy.atom).ok_or(unplanned)?;
            let movement = atom.movement.ok_or(unplanned)?;
            for key in 0..u32::from(copy.pieces.0.saturating_mul(copy.pieces.1)) {
                let to = self.kept(op, KeptFor::ScaleColumn(input, key)).ok_or(unplanned)?;
                let from = self.kept(op, KeptFor::ScalePiece(input, key)).ok_or(unplanned)?;
                let mut args = [Slot::None; MAX_ARGS];
                for (number, arg) in (0u8..).zip(&mut args).take(atom.operands.len()) {
                    // What is neither end says which thread.
                    *arg = slot(if number == movement.to.operand {
                        to
                    } else if number == movement.from.operand {
                        from
                    } else {
                        one
                    });
                }
                self.steps.append(copy.atom, args.get(..atom.operands.len()).ok_or(unplanned)?)?;
            }
        }
        Ok(())
    }

    /// The instruction descriptor of an instance, and where its scales begin.
    pub(crate) fn scales_in_tensor(
        &self,
        op: Op,
        plan: &ProductPlan,
        atom: &Atom<'_>,
        (m, n, k): (u16, u16, u16),
    ) -> Result<(Reg, InColumns), EmitError> {
        let unplanned = EmitError::Unplanned(op);
        let block = u32::from(plan.product.blocks((m, n, k)).2);
        let mut out = [(plan.product.shape.d, self.kept(op, KeptFor::Accumulator(block))); 2];
        let shape = plan.product.shape;
        let mut word = 0;
        for (input, place) in ProductInput::BOTH.into_iter().zip(&mut out) {
            let Some(copy) = input.of(plan.copied) else { continue };
            let first = input.of([m.saturating_mul(shape.m), n.saturating_mul(shape.n)]);
            let runs = atom
                .scaled_run()
                .and_then(|run| plan.product.depth().checked_div(run))
                .ok_or(unplanned)?
                .saturating_mul(k);
            let (row, run) = (
                first.checked_div(copy.piece.0).ok_or(unplanned)?,
                runs.checked_div(copy.piece.1).ok_or(unplanned)?,
            );
            word = runs.checked_rem(copy.piece.1).ok_or(unplanned)?;
            let key = u32::from(run.saturating_mul(copy.pieces.0).saturating_add(row));
            *place = (copy.operand, self.kept(op, KeptFor::ScaleColumn(input, key)));
        }
        Ok((self.kept(op, KeptFor::Instruction(u32::from(word))).ok_or(unplanned)?, out))
    }
}
