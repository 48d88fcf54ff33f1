//! Operands that a matrix unit reads from shared memory by itself: which loads that makes needless,
//! which layouts a descriptor can describe, and the descriptor.

use crate::data::{InShared, PlanError};
use crate::select::fragments::explicit_layouts::text;
use crate::select::planner::Planner;
use lanebook_ir::{Def, Op, Value, attr_names};
use lanebook_tables::{AtomId, Major, OpRole, SharedOperand};
use lanebook_tile::map::{SharedLayout, TileShape, log2_exact};
use lanebook_tile::product::Product;
use lanebook_tile::tiling::Reject;
use lanebook_tile::unit::shared_tile::{self, TileReader};
use lanebook_tile::unit::{UnitError, tensor};

/// Most such operands of a function.
pub(crate) const MAX_UNIT_USES: usize = 16;

/// A product's operand that is read where it lies.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SharedOperandUse<'t> {
    /// The product.
    pub(crate) product: Op,
    /// Its instruction.
    pub(crate) atom: AtomId,
    /// What reads the tile in the program.
    pub(crate) load: Op,
    /// The tile.
    pub(crate) alloc: u16,
    /// It is the operand with rows and columns exchanged.
    pub(crate) transposed: bool,
    /// Which operand: A or B.
    pub(crate) is_a: bool,
    /// log2 of the outer extent and of the depth of what one instruction reads.
    pub(crate) block: (u8, u8),
    /// How the instruction takes it.
    pub(crate) how: &'t SharedOperand<'t>,
    /// Whether either coordinate may be contiguous.
    pub(crate) either: bool,
    /// The instruction descriptor, where there is one.
    pub(crate) instruction: Option<&'t str>,
    /// The operand's element type.
    pub(crate) dtype: &'t str,
    /// Columns of one instruction.
    pub(crate) columns: u16,
    /// It holds the block scales of an operand (0 = A), which a copy takes from there, with this
    /// operand of the product.
    pub(crate) scales: Option<(u8, u8)>,
}

impl<'t> Planner<'_, 't, '_, '_> {
    /// Whether a load is needless, since matrix units read the tile by themselves wherever its
    /// result is used.
    pub(crate) fn is_absorbed(&self, op: Op) -> bool {
        let by_units = self.units.iter().filter(|u| u.load == op).count();
        by_units > 0 && self.program.uses_behind(op, OpRole::Transpose) == Some(by_units)
    }

    /// Whether a matrix unit reads a tile.
    pub(crate) fn is_unit_tile(&self, alloc: usize) -> bool {
        self.units.iter().any(|u| usize::from(u.alloc) == alloc)
    }

    /// The uses that a product would make of tiles in shared memory; `None` if one of them is not
    /// to be had.
    pub(crate) fn unit_uses(
        &self,
        product: Op,
        chosen: &Product,
        [a, b]: [Value; 2],
    ) -> Option<heapless::Vec<SharedOperandUse<'t>, 4>> {
        let atom = self.target.tables.atom(chosen.atom)?;
        let s = chosen.shape;
        let mut out = heapless::Vec::new();
        for (is_a, number, value, outer) in [(true, s.a, a, s.m), (false, s.b, b, s.n)] {
            let Some(how) =
                atom.more.and_then(|more| more.shared.iter().find(|s| s.operand == number))
            else {
                continue;
            };
            let (load, alloc, transposed) = self.loaded(product, value)?;
            let block = (log2_exact(u64::from(outer))?, log2_exact(u64::from(s.k))?);
            // The instruction says it, or its descriptor.
            let either = how.along.is_some() || atom.tensor().is_some();
            let instruction = atom.tensor().map(|tensor| tensor.descriptor);
            let dtype = self
                .program
                .type_of(value)
                .dtype
                .and_then(|id| self.target.tables.dtype(id))
                .map_or("", |d| d.name);
            out.push(SharedOperandUse {
                product,
                atom: chosen.atom,
                load,
                alloc,
                transposed,
                is_a,
                block,
                how,
                either,
                instruction,
                dtype,
                columns: s.n,
                scales: None,
            })
            .ok()?;
        }
        self.scale_uses(product, chosen.atom, &mut out)?;
        Some(out)
    }

    /// The load of an operand, its tile, and whether it is exchanged on the way. Between the load
    /// and the product nothing may write the tile: only operations on registers and other loads may
    /// stand there. What else uses the load's result has it in registers, unless it is another
    /// product of a unit.
    pub(crate) fn loaded(&self, product: Op, value: Value) -> Option<(Op, u16, bool)> {
        let (mut value, mut transposed) = (value, false);
        let load = loop {
            let Def::Result(op, _) = self.program.def(value) else { return None };
            // What the program says of the tile in registers, or of how it comes there, holds only
            // if it comes there.
            if text(self.program, value).is_some() {
                return None;
            }
            match self.program.role(op) {
                OpRole::Load if self.program.has_attr(op, attr_names::MOVER) => return None,
                OpRole::Load => {
                    self.program.uses_behind(op, OpRole::Transpose)?;
                    break op;
                }
                OpRole::Transpose => {
                    transposed = !transposed;
                    value = self.program.operand(op, 0)?;
                }
                _ => return None,
            }
        };
        let tile = self.program.operand(load, 0)?;
        let (alloc, _) = self.plan.alloc_of(tile)?;
        let mut at = self.program.next(load)?;
        while at != product {
            match self.program.role(at) {
                OpRole::Load
                | OpRole::Transpose
                | OpRole::Convert
                | OpRole::Constant
                | OpRole::Elementwise
                | OpRole::Select
                | OpRole::Matrix
                | OpRole::Index => {}
                _ => return None,
            }
            at = self.program.next(at)?;
        }
        Some((load, alloc, transposed))
    }

    /// How many layouts [`Self::unit_layout`] counts.
    pub(crate) fn unit_layouts(&self) -> usize {
        shared_tile::layouts(self.target.tables, self.target.arch)
    }

    /// A layout that the swizzle modes know, by its number; of a tile of block scales what these
    /// ask for.
    #[inline(never)]
    pub(crate) fn unit_layout(
        &self,
        alloc: usize,
        number: usize,
        shape: TileShape,
    ) -> Option<SharedLayout> {
        if let Some(scales) =
            self.units.iter().find(|u| usize::from(u.alloc) == alloc && u.scales.is_some())
        {
            return self.scale_layout(scales, shape, number);
        }
        shared_tile::layout(self.target.tables, self.target.arch, number, shape)
    }

    /// Whether every matrix unit that reads a tile can be given it under a layout; else why not.
    #[inline(never)]
    pub(crate) fn suits_units(
        &self,
        alloc: usize,
        layout: &SharedLayout,
        shape: TileShape,
    ) -> Result<(), Reject> {
        for unit in self.units.iter().filter(|u| usize::from(u.alloc) == alloc) {
            let (_, outer) = self.described(unit, layout, shape).ok_or(Reject::Descriptor)?;
            self.takes_order(unit, outer)?;
        }
        Ok(())
    }

    /// Whether a unit takes an operand in an order, by the limits of the tables.
    fn takes_order(&self, unit: &SharedOperandUse<'_>, outer: bool) -> Result<(), Reject> {
        let Some(descriptor) = unit.instruction else { return Ok(()) };
        let major = if outer { Major::Outer } else { Major::Depth };
        let operand = (u8::from(!unit.is_a), unit.dtype, major);
        match tensor::takes_order(
            self.target.tables,
            self.target.arch,
            (descriptor, 1),
            operand,
            unit.columns,
        ) {
            Err(UnitError::Order { limit, columns, .. }) => Err(Reject::Order { limit, columns }),
            _ => Ok(()),
        }
    }

    /// The descriptor's word for a tile at address 0, and whether the outer coordinate is
    /// contiguous.
    #[inline(never)]
    fn described(
        &self,
        unit: &SharedOperandUse<'_>,
        layout: &SharedLayout,
        shape: TileShape,
    ) -> Option<(u64, bool)> {
        if unit.scales.is_some() {
            let known = (0..self.unit_layouts())
                .any(|number| self.scale_layout(unit, shape, number) == Some(*layout));
            return self.scale_word(unit).filter(|_| known).map(|word| (word, false));
        }
        let reader = TileReader {
            descriptor: unit.how.descriptor,
            is_a: unit.is_a,
            transposed: unit.transposed,
            block: unit.block,
            either: unit.either,
        };
        shared_tile::word(self.target.tables, self.target.arch, &reader, layout, shape)
    }

    /// How a product's operands are given, now that layouts are settled.
    pub(crate) fn in_shared(&self, product: Op) -> Result<[Option<InShared>; 2], PlanError> {
        let mut out = [None; 2];
        for unit in self.units.iter().filter(|u| u.product == product && u.scales.is_none()) {
            let alloc = self
                .plan
                .allocs
                .get(usize::from(unit.alloc))
                .ok_or(PlanError::Undecided(product))?;
            let (word, outer_major) = self
                .described(unit, &alloc.layout, alloc.shape)
                .ok_or(PlanError::Undecided(product))?;
            self.takes_order(unit, outer_major).map_err(|_| PlanError::Undecided(product))?;
            let given = InShared {
                alloc: unit.alloc,
                load: unit.load,
                transposed: unit.transposed,
                outer_major,
                word,
            };
            if let Some(slot) = out.get_mut(usize::from(!unit.is_a)) {
                *slot = Some(given);
            }
        }
        Ok(out)
    }
}
