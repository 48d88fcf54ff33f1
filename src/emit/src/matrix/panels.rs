//! Products by an instruction whose extents are no powers of two: its operands are panels of the
//! tiles. Where their registers do not stand beside each other, they are brought together in registers
//! of an instance, and the sums go back to those of the tile behind the last term.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::step::{ALL_ARGS, InstError, InstKind, Missing, Slot};
use lanebook_ir::Op;
use lanebook_plan::ProductPlan;
use lanebook_tables::Instance;
use lanebook_tile::product::ProductTile;
use lanebook_tile::repeat_digits::RepeatRegisters;

/// The tiles' registers of a product, by the instruction's operands.
#[derive(Copy, Clone)]
pub(crate) struct ProductTiles {
    /// A and B.
    pub(crate) inputs: [Reg; 2],
    /// Where sums begin, and where they go.
    pub(crate) sums: [Reg; 2],
}

/// One register of a tuple.
fn member(reg: Reg, index: u16) -> Slot {
    Slot::Reg { class: reg.class.0 as u8, count: 1, first: reg.first.wrapping_add(index) }
}

/// So many registers as an operand, from one of a tuple or a tile on.
fn tuple(reg: Reg, first: u16, count: u16) -> Slot {
    Slot::Reg { class: reg.class.0 as u8, count, first: reg.first.wrapping_add(first) }
}

impl LowerContext<'_, '_, '_, '_> {
    /// All instances of such a product; `fixed`: operands that are the same for all of them.
    #[inline(never)]
    pub(crate) fn instances_of_panels(
        &mut self,
        op: Op,
        plan: &ProductPlan,
        instance: &Instance<'_>,
        tiles: ProductTiles,
        fixed: &[(u8, Slot)],
    ) -> Result<(), EmitError> {
        let unplanned = EmitError::Unplanned(op);
        let product = &plan.product;
        let s = product.shape;
        let tiles_of = [ProductTile::A, ProductTile::B, ProductTile::C];
        let ways = tiles_of.map(|tile| RepeatRegisters::of(product, instance, tile));
        let ([in_a, in_b], [rc, rd]) = (tiles.inputs, tiles.sums);
        let count = |number: u8| instance.registers(number).map(u16::from).ok_or(unplanned);
        let (nm, nn, nk) = product.counts();
        for m in 0..nm {
            for n in 0..nn {
                let (.., ic) = product.blocks((m, n, 0));
                let [.., way_c] = ways;
                // The first register of the sums' block, where they stand beside each other.
                let run_c = match &way_c {
                    Some(way) => way.run(ic),
                    None => Some(ic.wrapping_mul(count(s.c)?)),
                };
                let together = match (&way_c, run_c) {
                    (Some(way), None) => Some(self.panels_together(op, rc, way, ic)?),
                    _ => None,
                };
                for k in 0..nk {
                    let (ia, ib, _) = product.blocks((m, n, k));
                    let mut sides = [(s.a, Slot::None), (s.b, Slot::None)];
                    for ((side, way), (reg, block)) in
                        sides.iter_mut().zip(&ways).zip([(in_a, ia), (in_b, ib)])
                    {
                        let number = count(side.0)?;
                        let run = match way {
                            Some(way) => way.run(block),
                            None => Some(block.wrapping_mul(number)),
                        };
                        side.1 = match (way, run) {
                            (Some(way), None) => {
                                tuple(self.panels_together(op, reg, way, block)?, 0, number)
                            }
                            (_, run) => tuple(reg, run.unwrap_or(0), number),
                        };
                    }
                    let (c, d) = match together {
                        Some(reg) => (tuple(reg, 0, count(s.c)?), tuple(reg, 0, count(s.d)?)),
                        None => {
                            let (from, first) = (if k == 0 { rc } else { rd }, run_c.unwrap_or(0));
                            (tuple(from, first, count(s.c)?), tuple(rd, first, count(s.d)?))
                        }
                    };
                    let mut args = [Slot::None; ALL_ARGS];
                    let [a, b] = sides;
                    let set = [a, b, (s.c, c), (s.d, d)];
                    for (number, arg) in set.iter().chain(fixed).copied() {
                        if let Some(place) = args.get_mut(usize::from(number)) {
                            *place = arg;
                        }
                    }
                    let used = args.get(..instance.atom.operands.len()).ok_or(unplanned)?;
                    self.steps.purpose = InstKind::Matrix;
                    self.steps.append(product.atom, used)?;
                }
                if let (Some(way), Some(reg)) = (&way_c, together) {
                    self.panels_apart(op, reg, way, (rd, ic))?;
                }
            }
        }
        Ok(())
    }

    /// A block of a tile's registers in a tuple of its own.
    fn panels_together(
        &mut self,
        op: Op,
        tile: Reg,
        way: &RepeatRegisters,
        block: u16,
    ) -> Result<Reg, EmitError> {
        let reg = self.steps.tuple(tile.class, way.count())?;
        let atom = self.one_to_one(reg)?;
        self.steps.purpose = InstKind::Fill;
        for index in 0..way.count() {
            let from = way.register(block, index).ok_or(EmitError::Unplanned(op))?;
            self.steps.append(atom, &[member(reg, index), member(tile, from)])?;
        }
        Ok(reg)
    }

    /// Back to the tile.
    fn panels_apart(
        &mut self,
        op: Op,
        reg: Reg,
        way: &RepeatRegisters,
        (tile, block): (Reg, u16),
    ) -> Result<(), EmitError> {
        let atom = self.one_to_one(reg)?;
        self.steps.purpose = InstKind::Fill;
        for index in 0..way.count() {
            let to = way.register(block, index).ok_or(EmitError::Unplanned(op))?;
            self.steps.append(atom, &[member(tile, to), member(reg, index)])?;
        }
        Ok(())
    }

    /// What copies a register of a tuple's class.
    fn one_to_one(&self, reg: Reg) -> Result<lanebook_tables::AtomId, EmitError> {
        let missing = InstError::NoAtom(Missing::Move(reg.class));
        Ok(self.machine.copy_into(reg.class, 1, reg.class).ok_or(missing)?)
    }
}
