//! Block scales in tensor memory: how a copy wants them in shared memory, and what an instruction
//! reads of what it brings.
//!
//! The copy is an atom that moves bytes from shared to tensor memory; a product's table says where
//! in tensor memory it looks for the scale of a row. Together they say where in shared memory each
//! scale has to lie: the tile of scales is stored as pieces, one copy each. The copy takes the kind
//! of descriptor that the product's operands have.

use crate::data::{InShared, PlanError, ScaleCopy};
use crate::select::matrix::shared_operands::SharedOperandUse;
use crate::select::planner::Planner;
use lanebook_ir::Op;
use lanebook_layout::{AxisId, LayoutRef, Pad, Padding, PostMap, Unit};
use lanebook_tables::{Atom, AtomId, Capability, FieldRole, Major, Space};
use lanebook_tile::map::{RowRotation, SharedLayout, TileShape, log2_exact};
use lanebook_tile::product::Product;
use lanebook_tile::shaping::tile_shape;
use lanebook_tile::unit::{descriptor_named, operand};

/// A piece of a tile of scales: log2 of its rows in lanes and in columns, of its runs, and of the
/// lanes, columns and runs that its copy fills. A narrow product has fewer rows, a shallow one
/// fewer runs: the rest of the piece is left out in shared memory.
#[derive(Copy, Clone, Debug)]
struct ScalePiece {
    copy: AtomId,
    lanes: u8,
    columns: u8,
    runs: u8,
    filled: (u8, u8, u8),
}

impl ScalePiece {
    /// log2 of its rows.
    fn rows(&self) -> u8 {
        self.lanes.saturating_add(self.columns)
    }

    /// The part of it that a tile fills; `None` if a tile is no whole number of them.
    fn of(self, shape: TileShape) -> Option<Self> {
        let whole = (self.lanes, self.columns) == (self.filled.0, self.filled.1);
        let rows = if whole { self.rows() <= shape.rows } else { self.rows() == shape.rows };
        (rows && shape.bits == 8).then_some(Self { runs: self.runs.min(shape.cols), ..self })
    }
}

impl<'t> Planner<'_, 't, '_, '_> {
    /// The uses of shared memory that come from a product's scales in tensor memory; `None` if they
    /// are not to be had.
    pub(crate) fn scale_uses(
        &self,
        product: Op,
        id: AtomId,
        out: &mut heapless::Vec<SharedOperandUse<'t>, 4>,
    ) -> Option<()> {
        let atom = self.target.tables.atom(id)?;
        let Some(numbers) = atom.scaled_in_tensor() else { return Some(()) };
        let shape = atom.matrix?;
        for ((side, number), value) in (0u8..).zip(numbers).zip(self.program.scales(product)?) {
            let how = atom.shared(if side == 0 { shape.a } else { shape.b })?;
            let (load, alloc, transposed) =
                self.loaded(product, value).filter(|(_, _, transposed)| !transposed)?;
            // Its descriptor would have to follow the buffers.
            if self.plan.allocs.get(usize::from(alloc))?.stages > 1 {
                return None;
            }
            let piece = self.piece(atom, number)?.of(tile_shape(self.program, value)?)?;
            let unit = SharedOperandUse {
                product,
                atom: id,
                load,
                alloc,
                transposed,
                is_a: side == 0,
                block: (piece.lanes, piece.runs),
                how,
                either: false,
                instruction: None,
                dtype: "",
                columns: 0,
                scales: Some((side, number)),
            };
            out.push(unit).ok()?;
        }
        Some(())
    }

    /// A layout that the copy of a tile of scales takes, by its number: pieces one after the other,
    /// and with room between them so that what one thread brings of a row, a part of each of
    /// several pieces, goes to different banks. `None` if there is none.
    #[inline(never)]
    pub(crate) fn scale_layout(
        &self,
        unit: &SharedOperandUse<'_>,
        shape: TileShape,
        number: usize,
    ) -> Option<SharedLayout> {
        let piece = self.piece_of(unit)?.of(shape)?;
        let (lanes, columns, runs) = piece.filled;
        let power = |bits: u8| 1u32.checked_shl(u32::from(bits));
        let several = shape.grid.cols > 1 || piece.runs < shape.cols;
        let apart = match number {
            0 => 0,
            1 if several => self.family.bank_span / 2,
            _ => return None,
        };
        // What is left out behind the runs of a row, the rows of a lane, and the lanes of a piece.
        let mut pads: heapless::Vec<Pad, 3> = heapless::Vec::new();
        let (mut stored, mut size) = (0u8, 0u8);
        for (own, all, more) in
            [(piece.runs, runs, 0), (piece.columns, columns, 0), (piece.lanes, lanes, apart)]
        {
            stored = stored.checked_add(own)?;
            let had = size.checked_add(own)?;
            size = size.checked_add(all)?;
            let pad = power(size)?.checked_sub(power(had)?)?.checked_add(more)?;
            if pad > 0 {
                pads.push(Pad { interval: power(stored)?, pad }).ok()?;
            }
        }
        let post = if pads.is_empty() {
            PostMap::None
        } else {
            PostMap::Padding(Padding::new(&pads, Unit::Byte).ok()?)
        };
        let turn =
            (piece.columns > 0).then_some(RowRotation { low: piece.lanes, count: piece.columns });
        Some(SharedLayout {
            column_block: (piece.runs < shape.cols).then_some(piece.runs),
            turn,
            post,
            ..SharedLayout::BY_ROWS
        })
    }

    /// The descriptor of a piece at address 0.
    pub(crate) fn scale_word(&self, unit: &SharedOperandUse<'_>) -> Option<u64> {
        let (tables, arch) = (self.target.tables, self.target.arch);
        let piece = self.piece_of(unit)?;
        let (lanes, columns, runs) = piece.filled;
        let row = columns.checked_add(runs)?;
        let extent = |bits: u8| 1u32.checked_shl(u32::from(bits));
        // One row for each lane, of as many bytes as it has cells' bytes.
        let step = |outer: bool, bit: u8| {
            1u64.checked_shl(u32::from(if outer { row.checked_add(bit)? } else { bit }))
        };
        let found = operand::describe_steps(
            tables,
            arch,
            unit.how.descriptor,
            &PostMap::None,
            ((extent(lanes)?, extent(row)?), 8),
            Some(Major::Depth),
            step,
        );
        found.ok()?.word(tables, arch, unit.how.descriptor, 0).ok()?.pack().ok()
    }

    fn piece_of(&self, unit: &SharedOperandUse<'_>) -> Option<ScalePiece> {
        let (_, number) = unit.scales?;
        self.piece(self.target.tables.atom(unit.atom)?, number)
    }

    /// What one copy brings for an operand of scales: the bits of its bytes against the bits of
    /// rows and runs.
    fn piece(&self, atom: &Atom<'_>, number: u8) -> Option<ScalePiece> {
        let tables = self.target.tables;
        let able = self
            .target
            .arch
            .dispatch(Capability::Transfer { from: Space::Shared, to: Space::Tensor });
        let copies = able.iter().filter_map(|id| Some((*id, tables.atom(*id)?)));
        let own = atom.operands.get(usize::from(number))?;
        // Rows of A's scales hold its runs, columns of B's are B's.
        let is_a = atom.scaled_in_tensor()?.first() == Some(&number);
        let (outer, runs) = if is_a { own.extents } else { (own.extents.1, own.extents.0) };
        let (each, of_run) = if is_a { (u64::from(runs), 1) } else { (1, u64::from(outer)) };
        let (scales, outer) = (own.layout?, u64::from(outer));
        // Those of an instance stand in bytes side by side.
        for run in 0..runs {
            let bit = on(scales, of_run.checked_mul(u64::from(run))?, AxisId::BIT)?;
            (bit == u64::from(run).checked_mul(8)?).then_some(())?;
        }
        copies.into_iter().find_map(|(copy, copy_atom)| {
            let movement = copy_atom.movement.filter(|m| m.unit_bits == 8)?;
            let total =
                movement.extents.iter().try_fold(1u64, |n, e| n.checked_mul(u64::from(*e)))?;
            // Where in the source the byte comes from that goes to a place.
            let source = |axis: AxisId, wanted: u64| {
                let mut x = 1u64;
                while x < total {
                    if on(movement.to.layout, x, axis) == Some(wanted) {
                        return on(movement.from.layout, x, AxisId::BYTE);
                    }
                    x = x.checked_mul(2)?;
                }
                None
            };
            let mut out = ScalePiece { copy, lanes: 0, columns: 0, runs: 0, filled: (0, 0, 0) };
            // Runs are the bytes of a cell.
            while source(AxisId::BIT, 8u64.checked_shl(u32::from(out.runs))?)
                == Some(1u64.checked_shl(u32::from(out.runs))?)
            {
                out.runs = out.runs.checked_add(1)?;
            }
            let filled = |axis| {
                (0..16u8)
                    .take_while(|bit| {
                        1u64.checked_shl(u32::from(*bit)).and_then(|at| source(axis, at)).is_some()
                    })
                    .fold(0u8, |n, _| n.saturating_add(1))
            };
            out.filled = (filled(AxisId::TLANE), filled(AxisId::TCOL), out.runs);
            // Rows: lanes first, then columns.
            let mut row = 1u64;
            while row < outer {
                let x = row.checked_mul(each)?;
                let place = match (on(scales, x, AxisId::TLANE)?, on(scales, x, AxisId::TCOL)?) {
                    (lane, 0) if out.columns == 0 => {
                        out.lanes = out.lanes.checked_add(1)?;
                        source(AxisId::TLANE, lane)?
                    }
                    (0, column) => match source(AxisId::TCOL, column) {
                        Some(place) => {
                            out.columns = out.columns.checked_add(1)?;
                            place
                        }
                        // The next piece.
                        None => break,
                    },
                    _ => return None,
                };
                let bits = log2_exact(place)?;
                let lane_starts = out.runs.checked_add(out.filled.1)?;
                let wanted = if out.columns == 0 {
                    lane_starts.checked_add(out.lanes)?
                } else {
                    out.runs.checked_add(out.columns)?
                };
                if bits.checked_add(1)? != wanted {
                    return None;
                }
                row = row.checked_mul(2)?;
            }
            (out.runs > 0).then_some(out)
        })
    }

    /// Columns that a product's scales take in tensor memory; `None` if its instruction finds no
    /// whole number of pieces.
    #[inline(never)]
    pub(crate) fn scale_columns(&self, op: Op, product: &Product) -> Option<u32> {
        let atom = self.target.tables.atom(product.atom)?;
        let (Some(numbers), Some(values)) = (atom.scaled_in_tensor(), self.program.scales(op))
        else {
            return Some(0);
        };
        let columns = |(number, value)| {
            let shape = tile_shape(self.program, value)?;
            let piece = self.piece(atom, number)?.of(shape)?;
            let (up, along) = pieces(&piece, shape)?;
            up.checked_mul(along)?.checked_shl(u32::from(piece.filled.1))
        };
        numbers
            .into_iter()
            .zip(values)
            .try_fold(0u32, |sum, side| sum.checked_add(u32::from(columns(side)?)))
    }

    /// The scales of a product in tensor memory, now that layouts are settled.
    pub(crate) fn copied(&self, product: Op) -> Result<[Option<ScaleCopy>; 2], PlanError> {
        let mut out = [None; 2];
        for unit in self.units.iter().filter(|u| u.product == product) {
            let Some((side, operand)) = unit.scales else { continue };
            let copy = self.copy_of(unit, operand, side).ok_or(PlanError::Undecided(product))?;
            if let Some(place) = out.get_mut(usize::from(side)) {
                *place = Some(copy);
            }
        }
        Ok(out)
    }

    fn copy_of(&self, unit: &SharedOperandUse<'_>, operand: u8, side: u8) -> Option<ScaleCopy> {
        let alloc = self.plan.allocs.get(usize::from(unit.alloc))?;
        let piece = self.piece_of(unit)?.of(alloc.shape)?;
        let word = self.scale_word(unit)?;
        let atom = self.target.tables.atom(self.plan.product_of(unit.product)?.product.atom)?;
        let table =
            descriptor_named(self.target.tables, self.target.arch, atom.tensor()?.descriptor)
                .ok()?;
        let field = table.fields.iter().find(|field| field.role == FieldRole::Scale(side))?.at;
        let extent = |bits: u8| 1u16.checked_shl(u32::from(bits));
        let sizes = (extent(piece.rows())?, extent(piece.runs)?, extent(piece.filled.1)?);
        let given = InShared {
            alloc: unit.alloc,
            load: unit.load,
            transposed: false,
            outer_major: false,
            word,
        };
        Some(ScaleCopy {
            given,
            atom: piece.copy,
            operand,
            first: 0,
            piece: sizes,
            pieces: pieces(&piece, alloc.shape)?,
            field,
        })
    }
}

/// How many pieces there are along the rows and along the runs.
fn pieces(piece: &ScalePiece, shape: TileShape) -> Option<(u16, u16)> {
    let count = |panels: u8, bits: u8| u16::from(panels).checked_shl(u32::from(bits));
    Some((
        count(shape.grid.rows, shape.rows.checked_sub(piece.rows())?)?,
        count(shape.grid.cols, shape.cols.checked_sub(piece.runs)?)?,
    ))
}

/// What a coordinate adds on an axis.
fn on(layout: &LayoutRef<'_>, x: u64, axis: AxisId) -> Option<u64> {
    let place = layout.offset_on(x, axis).ok()?.checked_sub(layout.offset_on(0, axis).ok()?)?;
    u64::try_from(place).ok()
}
