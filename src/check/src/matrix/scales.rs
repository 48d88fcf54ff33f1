//! Block scales: the byte that an instruction reads for a row and a run of its depth, against the
//! scale that the program has for them.

use crate::evaluator::{held, row_col};
use crate::violation::Violation;
use lanebook_ir::Program;
use lanebook_layout::AxisId;
use lanebook_plan::{BlockBitRole, End, Plan, ProductPlan, ScalePlan};
use lanebook_tables::{Atom, Operand, Tables};

/// The scales of one operand, ready to be read.
pub(crate) struct ScaleSide<'p> {
    scale: ScalePlan,
    fragment: &'p lanebook_tile::map::Fragment,
    operand: &'p Operand<'p>,
    atom: &'p Atom<'p>,
    is_a: bool,
    /// Elements along the depth that share a scale.
    pub run: u64,
}

/// Both sides of a product with scales, and that one without has none.
#[inline(never)]
pub(crate) fn sides<'p>(
    tables: &'p Tables<'p>,
    program: &Program<'_, '_>,
    plan: &'p Plan<'_>,
    p: &ProductPlan,
) -> Result<[Option<ScaleSide<'p>>; 2], Violation> {
    let op = p.op;
    let refuse = Violation::Atom { op, atom: p.product.atom };
    let atom = tables.atom(p.product.atom).ok_or(refuse)?;
    let mut out = [const { None }; 2];
    let numbers = atom.more.map_or((None, None), |more| more.scales);
    // In tensor memory: see `copied`.
    if atom.tensor().is_some() && p.scales == [None; 2] {
        return Ok(out);
    }
    let Some(values) = program.scales(op) else {
        return if numbers == (None, None) && p.scales == [None; 2] {
            Ok(out)
        } else {
            Err(refuse)
        };
    };
    let numbers = [numbers.0, numbers.1];
    for (side, to) in out.iter_mut().enumerate() {
        let place = u8::try_from(side).unwrap_or(0).saturating_add(3);
        let misplaced = Violation::End { op, operand: place };
        let scale = p.scales.get(side).copied().flatten().ok_or(misplaced)?;
        let End::Registers(index) = scale.end else { return Err(misplaced) };
        let tile = plan
            .fragments
            .get(usize::from(index))
            .filter(|f| Some(&f.value) == values.get(side))
            .ok_or(misplaced)?;
        if numbers.get(side).copied().flatten() != Some(scale.operand) {
            return Err(refuse);
        }
        let operand = atom
            .operands
            .get(usize::from(scale.operand))
            .filter(|o| o.registers == 1)
            .ok_or(refuse)?;
        if program.type_of(tile.value).dtype != operand.dtype {
            return Err(misplaced);
        }
        let blocks = if side == 0 { operand.extents.1 } else { operand.extents.0 };
        let run = u64::from(p.product.shape.k)
            .checked_div(u64::from(blocks))
            .filter(|run| *run > 0)
            .ok_or(refuse)?;
        // Every register that a block can name is the tile's.
        let all = u16::from(scale.registers)
            .checked_mul(u16::from(tile.fragment.shape.grid.rows))
            .and_then(|n| n.checked_mul(u16::from(tile.fragment.shape.grid.cols)));
        if all != Some(tile.fragment.registers()) {
            return Err(misplaced);
        }
        *to = Some(ScaleSide {
            scale,
            fragment: &tile.fragment,
            operand,
            atom,
            is_a: side == 0,
            run,
        });
    }
    Ok(out)
}

/// A place in the tile of scales, and the lane and bit where it was looked for.
type FoundScale = (Option<(u32, u32)>, (u32, u32));

impl ScaleSide<'_> {
    /// What an instance reads as the scale of row (column of B) `outer` and run `run` of its depth,
    /// for the warps of `warp`: row and column in the tile of scales, and from where.
    fn at(&self, outer: u64, run: u64, block: u32, warp: u32) -> Option<FoundScale> {
        let layout = self.operand.layout?;
        let (row, col) = if self.is_a { (outer, run) } else { (run, outer) };
        let x = row.checked_mul(u64::from(self.operand.extents.1))?.checked_add(col)?;
        let on = |axis| u32::try_from(layout.offset_on(x, axis).ok()?).ok();
        let (mut lane, mut bit) = (on(AxisId::LANE)?, on(AxisId::BIT)?);
        // The register that the plan names, and what its immediates move.
        let mut register = 0u32;
        let mut rest = block;
        for choice in self.scale.choice.as_slice() {
            if rest & 1 == 1 {
                match *choice {
                    BlockBitRole::Register(place) => {
                        register = register.checked_add(1u32.checked_shl(u32::from(place))?)?
                    }
                    BlockBitRole::Immediate { by, .. } => {
                        self.atom
                            .more?
                            .moves
                            .iter()
                            .find(|moved| moved.by == by && moved.of == self.scale.operand)?;
                    }
                }
            }
            rest >>= 1;
        }
        if register >= u32::from(self.scale.registers) {
            return None;
        }
        register = register.checked_add(rest.checked_mul(u32::from(self.scale.registers))?)?;
        for moved in self.atom.more?.moves.iter().filter(|moved| moved.of == self.scale.operand) {
            let chosen = self.scale.choice.as_slice().iter().enumerate();
            let value = chosen
                .filter(|(k, _)| block.checked_shr(*k as u32).unwrap_or(0) & 1 == 1)
                .try_fold(0u32, |sum, (_, choice)| match *choice {
                    BlockBitRole::Immediate { by, value } if by == moved.by => {
                        sum.checked_add(u32::from(value))
                    }
                    _ => Some(sum),
                })?;
            let (low, high) = *self.atom.operands.get(usize::from(moved.by))?.range;
            if i64::from(value) < low || i64::from(value) > high {
                return None;
            }
            lane = lane.checked_add(value.checked_mul(u32::from(moved.lanes))?)?;
            bit = bit.checked_add(value.checked_mul(u32::from(moved.bits))?)?;
        }
        // A scale is a byte of one register.
        if bit > 24 {
            return None;
        }
        let bit = bit.checked_add(register.checked_mul(32)?)?;
        let found = held(self.fragment, bit, lane, warp)
            .filter(|(_, byte)| *byte == 0)
            .and_then(|(e, _)| row_col(self.fragment.shape, e));
        Some((found, (lane, bit)))
    }

    /// Statement 9c for one row (column of B) and run of an instance: `want` is their place in the
    /// program's product.
    pub(crate) fn compare(
        &self,
        p: &ProductPlan,
        (outer, run): (u64, u64),
        block: Option<u32>,
        warp: u32,
        want: Option<(u32, u32)>,
    ) -> Result<(), Violation> {
        let refuse = Violation::Atom { op: p.op, atom: p.product.atom };
        let (found, (lane, bit)) =
            block.and_then(|block| self.at(outer, run, block, warp)).ok_or(refuse)?;
        if found.is_some() && found == want {
            return Ok(());
        }
        let nowhere = (u32::MAX, u32::MAX);
        let narrow = |v: u32| u8::try_from(v).unwrap_or(u8::MAX);
        Err(Violation::Operand {
            op: p.op,
            operand: if self.is_a { 3 } else { 4 },
            warp: narrow(warp),
            lane: narrow(lane),
            bit: u16::try_from(bit).unwrap_or(u16::MAX),
            want: want.unwrap_or(nowhere),
            found: found.unwrap_or(nowhere),
        })
    }
}
