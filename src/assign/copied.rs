//! Block scales in tensor memory: how a copy wants them in shared memory, and what an instruction reads of what it brings.
//!
//! The copy is an atom that moves bytes from shared to tensor memory; a product's table says where in tensor memory it looks for the scale of a
//! row. Together they say where in shared memory each scale has to lie: the tile of scales is stored as pieces, one copy each. The copy takes the
//! kind of descriptor that the product's operands have.

use super::choose::Chooser;
use super::in_shared::UnitUse;
use super::shape::tile_shape;
use crate::ir::Op;
use crate::map::{SharedLayout, TileShape, Turn, log2_exact};
use crate::plan::{InShared, PlanError, Product, ScaleCopy};
use crate::unit::{descriptor_named, operand};
use lanebook_layout::{AxisId, LayoutRef, PostMap};
use lanebook_tables::{Atom, AtomId, FieldRole, Major, Space};

/// A piece of a tile of scales: log2 of its rows in lanes and in columns, of its runs, and of the columns that it fills.
#[derive(Copy, Clone, Debug)]
struct Piece {
    copy: AtomId,
    lanes: u8,
    columns: u8,
    runs: u8,
    cells: u8,
}

impl<'t> Chooser<'_, 't, '_, '_> {
    /// The uses of shared memory that come from a product's scales in tensor memory; `None` if they are not to be had.
    pub(super) fn scale_uses(&self, product: Op, atom: &'t Atom<'t>, out: &mut heapless::Vec<UnitUse<'t>, 4>) -> Option<()> {
        let Some(numbers) = atom.scaled_in_tensor() else { return Some(()) };
        let shape = atom.matrix?;
        for ((side, number), value) in (0u8..).zip(numbers).zip(self.program.scales(product)?) {
            let how = atom.shared(if side == 0 { shape.a } else { shape.b })?;
            let (load, alloc, transposed) = self.loaded(product, value).filter(|(_, _, transposed)| !transposed)?;
            let piece = self.piece(atom, number)?;
            let unit = UnitUse {
                product,
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
            self.layout_of(&piece, tile_shape(self.program, value)?)?;
            out.push(unit).ok()?;
        }
        Some(())
    }

    /// The layout that the copy of a tile of scales takes; `None` if there is none, or the tile is no whole number of pieces.
    pub(super) fn scale_layout(&self, unit: &UnitUse<'_>, shape: TileShape) -> Option<SharedLayout> {
        self.layout_of(&self.piece_of(unit)?, shape)
    }

    fn layout_of(&self, piece: &Piece, shape: TileShape) -> Option<SharedLayout> {
        let rows = piece.lanes.checked_add(piece.columns)?;
        let whole = shape.grid.count() == 1 && shape.bits == 8 && rows <= shape.rows && piece.runs <= shape.cols;
        let strip = (piece.runs < shape.cols).then_some(piece.runs);
        whole.then_some(SharedLayout { row_major: true, strip, turn: Some(Turn { low: piece.lanes, count: piece.columns }), post: PostMap::None })
    }

    /// The descriptor of a piece at address 0.
    pub(super) fn scale_word(&self, unit: &UnitUse<'_>) -> Option<u64> {
        let (tables, arch) = (self.setting.tables, self.setting.arch);
        let piece = self.piece_of(unit)?;
        let row = piece.columns.checked_add(piece.runs)?;
        let extent = |bits: u8| 1u32.checked_shl(u32::from(bits));
        // One row for each lane, of as many bytes as it has cells' bytes.
        let step = |outer: bool, bit: u8| 1u64.checked_shl(u32::from(if outer { row.checked_add(bit)? } else { bit }));
        let found =
            operand::describe_steps(tables, arch, unit.how.descriptor, &PostMap::None, ((extent(piece.lanes)?, extent(row)?), 8), Some(Major::Depth), step);
        found.ok()?.word(tables, arch, unit.how.descriptor, 0).ok()?.pack().ok()
    }

    fn piece_of(&self, unit: &UnitUse<'_>) -> Option<Piece> {
        let (_, number) = unit.scales?;
        let atom = self.plan.product_of(unit.product).map(|p| p.product.atom);
        // While candidates are compared the product is not in the plan: all atoms with scales in tensor memory of one architecture want the same pieces
        // of an operand of this number.
        let arch = self.setting.arch;
        let atoms = || atom.into_iter().chain(arch.atoms.iter().map(|own| own.atom));
        let found = atoms().filter_map(|id| self.setting.tables.atom(id)).find(|atom| atom.scaled_in_tensor().is_some_and(|numbers| numbers.contains(&number)));
        self.piece(found?, number)
    }

    /// What one copy brings for an operand of scales: the bits of its bytes against the bits of rows and runs.
    fn piece(&self, atom: &Atom<'_>, number: u8) -> Option<Piece> {
        let tables = self.setting.tables;
        let copies = self.setting.arch.atoms.iter().filter(|own| own.native).filter_map(|own| Some((own.atom, tables.atom(own.atom)?)));
        let own = atom.operands.get(usize::from(number))?;
        let (scales, outer) = (own.layout?, u64::from(own.extents.0.max(own.extents.1)));
        copies.into_iter().find_map(|(copy, mover)| {
            let movement = mover.movement.filter(|m| (m.from.space, m.to.space) == (Space::Shared, Space::Tensor) && m.unit_bits == 8)?;
            let total = movement.extents.iter().try_fold(1u64, |n, e| n.checked_mul(u64::from(*e)))?;
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
            let mut out = Piece { copy, lanes: 0, columns: 0, runs: 0, cells: 0 };
            // Runs are the bytes of a cell.
            while source(AxisId::BIT, 8u64.checked_shl(u32::from(out.runs))?) == Some(1u64.checked_shl(u32::from(out.runs))?) {
                out.runs = out.runs.checked_add(1)?;
            }
            while source(AxisId::TCOL, 1u64.checked_shl(u32::from(out.cells))?).is_some() {
                out.cells = out.cells.checked_add(1)?;
            }
            // Rows: lanes first, then columns.
            let mut row = 1u64;
            while row < outer {
                let place = match (on(scales, row, AxisId::TLANE)?, on(scales, row, AxisId::TCOL)?) {
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
                let lane_starts = out.runs.checked_add(out.cells)?;
                let wanted = if out.columns == 0 { lane_starts.checked_add(out.lanes)? } else { out.runs.checked_add(out.columns)? };
                if bits.checked_add(1)? != wanted {
                    return None;
                }
                row = row.checked_mul(2)?;
            }
            (out.columns == out.cells && out.runs > 0).then_some(out)
        })
    }

    /// Columns that a product's scales take in tensor memory.
    pub(super) fn scale_columns(&self, op: Op, product: &Product) -> u32 {
        let Some(atom) = self.setting.tables.atom(product.atom) else { return 0 };
        let (Some(numbers), Some(values)) = (atom.scaled_in_tensor(), self.program.scales(op)) else { return 0 };
        let columns = |(number, value)| {
            let piece = self.piece(atom, number)?;
            let shape = tile_shape(self.program, value)?;
            let (up, along) = pieces(&piece, shape)?;
            up.checked_mul(along)?.checked_shl(u32::from(piece.cells))
        };
        numbers.into_iter().zip(values).filter_map(columns).fold(0u32, |sum, n| sum.saturating_add(u32::from(n)))
    }

    /// The scales of a product in tensor memory, now that layouts are settled.
    pub(super) fn copied(&self, product: Op) -> Result<[Option<ScaleCopy>; 2], PlanError> {
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

    fn copy_of(&self, unit: &UnitUse<'_>, operand: u8, side: u8) -> Option<ScaleCopy> {
        let piece = self.piece_of(unit)?;
        let alloc = self.plan.allocs.get(usize::from(unit.alloc))?;
        let word = self.scale_word(unit)?;
        let atom = self.setting.tables.atom(self.plan.product_of(unit.product)?.product.atom)?;
        let table = descriptor_named(self.setting.tables, self.setting.arch, atom.tensor()?.descriptor).ok()?;
        let field = table.fields.iter().find(|field| field.role == FieldRole::Scale(side))?.at;
        let extent = |bits: u8| 1u16.checked_shl(u32::from(bits));
        let sizes = (extent(piece.lanes.checked_add(piece.columns)?)?, extent(piece.runs)?, extent(piece.cells)?);
        let given = InShared { alloc: unit.alloc, load: unit.load, transposed: false, outer_major: false, word };
        Some(ScaleCopy { given, atom: piece.copy, operand, first: 0, piece: sizes, pieces: pieces(&piece, alloc.shape)?, field })
    }
}

/// How many pieces there are along the rows and along the runs.
fn pieces(piece: &Piece, shape: TileShape) -> Option<(u16, u16)> {
    let up = shape.rows.checked_sub(piece.lanes)?.checked_sub(piece.columns)?;
    let along = shape.cols.checked_sub(piece.runs)?;
    Some((1u16.checked_shl(u32::from(up))?, 1u16.checked_shl(u32::from(along))?))
}

/// What a coordinate adds on an axis.
fn on(layout: &LayoutRef<'_>, x: u64, axis: AxisId) -> Option<u64> {
    let place = layout.offset_on(x, axis).ok()?.checked_sub(layout.offset_on(0, axis).ok()?)?;
    u64::try_from(place).ok()
}
