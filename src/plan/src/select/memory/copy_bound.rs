//! The least that movements cost: whatever their accesses' width, under a layout, with the widest
//! copy atom that can do them at all.

use crate::select::memory::total_cost::{power, touches_shared};
use crate::select::planner::{CopyEnd, CopyOp, Planner};
use lanebook_ir::Op;
use lanebook_tables::{Space, TupleStyle};
use lanebook_tile::divide::divide;
use lanebook_tile::map::{MemoryMap, SharedLayout, TileShape};

/// Most movements of one tile whose least cost is looked at together.
const BOUNDS: usize = 8;

/// The least that movements of a tile cost.
pub(crate) type CopyBounds = heapless::Vec<CopyBound, BOUNDS>;

/// The least that a movement costs.
#[derive(Copy, Clone)]
pub(crate) struct CopyBound {
    /// Its number.
    pub(crate) movement: u16,
    /// Whatever the width of its accesses.
    pub(crate) base: u32,
    /// Of it, what passes of shared memory cost.
    pub(crate) shared: u32,
    /// With blocks transposed in registers, which columns of a tile can be stored from; the
    /// greatest number where nothing does that.
    pub(crate) transposed: u32,
    /// Bytes that a lane moves.
    pub(crate) lane_bytes: u32,
    /// Executions.
    pub(crate) weight: u32,
    /// It is one between memories.
    pub(crate) copies: bool,
    /// It comes from global memory.
    pub(crate) loads: bool,
    /// One instruction may copy a whole box.
    pub(crate) tiled: bool,
    /// What can do it where the tile lies by columns, and by rows ([`Planner::viable`]).
    pub(crate) viable: [u32; 2],
    /// Bytes of the widest of them.
    pub(crate) width: [u32; 2],
}

impl CopyBound {
    /// Of two figures the one for a layout; neither says anything of strips.
    pub(crate) fn of(&self, figures: &[u32; 2], layout: &SharedLayout) -> u32 {
        figures
            .get(usize::from(layout.row_major))
            .copied()
            .filter(|_| layout.column_block.is_none() && !layout.by_table)
            .unwrap_or(u32::MAX)
    }

    /// With accesses of `width` bytes, of which each costs one instruction.
    pub(crate) fn at(self, width: u32, instruction: u32) -> u32 {
        let count = match width.is_power_of_two() {
            true => self.lane_bytes.checked_shr(width.trailing_zeros()).unwrap_or(0),
            false => self.lane_bytes.checked_div(width.max(1)).unwrap_or(0),
        };
        self.base.saturating_add(count.saturating_mul(instruction))
    }
}

/// Whether a movement goes from memory to memory.
pub(crate) fn copies_memory(movement: &CopyOp) -> bool {
    ![movement.from, movement.to].iter().any(|end| matches!(end, CopyEnd::Registers(_)))
}

impl Planner<'_, '_, '_, '_> {
    /// What a movement costs at the least: the transactions, segments and registers that every way
    /// of doing it shares, and the bytes of a lane, which accesses of some width move.
    pub(crate) fn bound(&self, movement: &CopyOp) -> CopyBound {
        let w = &self.target.tables.weights;
        let tile = |shape: TileShape| {
            u32::try_from(shape.bytes())
                .unwrap_or(u32::MAX)
                .checked_shr(
                    u32::from(self.target.wave).saturating_add(u32::from(self.target.warps)),
                )
                .unwrap_or(0)
        };
        let (mut lane_bytes, mut cost, mut passes, mut shared, mut global) =
            (0u32, 0u32, 0u32, false, false);
        // Lanes that hold the same elements move the same bytes.
        let mut lanes = u32::from(self.target.wave);
        for end in [movement.from, movement.to] {
            match end {
                CopyEnd::Registers(v) => {
                    let Some((_, f)) = self.plan.fragment_of(v) else { continue };
                    // The elements' own bytes, whatever registers they stand in.
                    let bytes = u32::from(f.shape.bits / 8)
                        .checked_shl(f.register.len() as u32)
                        .unwrap_or(0);
                    lane_bytes = bytes.saturating_mul(f.shape.grid.count());
                    lanes = f
                        .lane
                        .as_slice()
                        .iter()
                        .fold(0, |n, e| n.saturating_add(u32::from(*e != 0)));
                    cost = cost.saturating_add(u32::from(f.registers()).saturating_mul(w.register));
                }
                CopyEnd::Shared(k) => {
                    shared = true;
                    if lane_bytes == 0 {
                        lane_bytes =
                            self.plan.allocs.get(usize::from(k)).map_or(0, |a| tile(a.shape));
                    }
                }
                CopyEnd::Global(_) => global = true,
            }
        }
        let warp_bytes = lane_bytes.checked_shl(lanes).unwrap_or(u32::MAX);
        if shared {
            passes = warp_bytes
                .checked_div(self.family.bank_span.max(1))
                .unwrap_or(0)
                .saturating_mul(w.shared_transaction);
            cost = cost.saturating_add(passes);
        }
        if global {
            cost = cost.saturating_add(
                warp_bytes
                    .checked_div(w.segment_bytes)
                    .unwrap_or(0)
                    .saturating_mul(w.global_segment),
            );
        }
        CopyBound {
            movement: 0,
            base: cost,
            shared: passes,
            transposed: u32::MAX,
            lane_bytes,
            weight: 1,
            copies: false,
            loads: false,
            tiled: false,
            viable: [u32::MAX; 2],
            width: [u32::MAX; 2],
        }
    }

    /// The least that known movements of a shared tile cost; where there are more than fit, of the
    /// first ones. `is_free`: under one of the free layouts.
    #[inline(never)]
    pub(crate) fn bounds(&self, index: usize, shape: TileShape, is_free: bool) -> CopyBounds {
        let mut out = CopyBounds::new();
        for (number, movement) in self.movements.iter().enumerate() {
            if touches_shared(movement) != Some(index) || !self.is_known(movement) {
                continue;
            }
            let mut bound = CopyBound {
                movement: u16::try_from(number).unwrap_or(u16::MAX),
                weight: self.weigh(movement, 1),
                copies: copies_memory(movement),
                loads: matches!(movement.from, CopyEnd::Global(_)),
                tiled: copies_memory(movement) && self.may_be_tiled(movement),
                ..self.bound(movement)
            };
            let half = CopyBound { base: bound.shared, ..bound };
            for staged in self
                .staged
                .iter()
                .filter(|s| usize::from(s.movement) == number && s.transpose.is_some())
            {
                let stores = half.at(staged.bits / 8, self.target.tables.weights.instruction);
                bound.transposed =
                    bound.transposed.min(staged.found.figures.cost.saturating_add(stores));
            }
            if is_free {
                for row_major in [true, false] {
                    let known = SharedLayout { row_major, ..SharedLayout::BY_ROWS }
                        .map(shape)
                        .and_then(|map| self.viable(movement, &map, row_major));
                    if let Some((copy_atoms, width)) = known {
                        let place = usize::from(row_major);
                        bound
                            .viable
                            .get_mut(place)
                            .into_iter()
                            .for_each(|viable| *viable = copy_atoms);
                        bound.width.get_mut(place).into_iter().for_each(|widest| *widest = width);
                    }
                }
            }
            if out.push(bound).is_err() {
                break;
            }
        }
        out
    }

    /// Which copy atoms can divide a movement between registers and a tile that lies by rows or by
    /// columns, whatever swizzle or padding it has: bits in the order of the copy atoms between the
    /// two spaces, and the widest one's bytes. Where one moves more at once than lies next to each
    /// other in any case, only the layout says.
    #[inline(never)]
    fn viable(&self, movement: &CopyOp, map: &MemoryMap, row_major: bool) -> Option<(u32, u32)> {
        let (value, spaces) = match (movement.from, movement.to) {
            (CopyEnd::Registers(v), CopyEnd::Shared(_)) => (v, (Space::Register, Space::Shared)),
            (CopyEnd::Shared(_), CopyEnd::Registers(v)) => (v, (Space::Shared, Space::Register)),
            _ => return None,
        };
        let (_, fragment) = self.plan.fragment_of(value)?;
        let inner = if row_major { map.shape.cols } else { map.shape.rows };
        let line = u32::from(map.shape.bits / 8).checked_shl(u32::from(inner))?;
        let any = self.target.isa.tuples == TupleStyle::Braces;
        let as_held = self.is_as_held(movement);
        let (mut copy_atoms, mut widest) = (u32::MAX, 1u32);
        for (k, copy_atom) in (0u32..).zip(self.transfers.between(spaces.0, spaces.1)) {
            let refused = copy_atom.share_bytes <= line
                && k < u32::BITS
                && (!copy_atom.serves_transfers()
                    || divide(copy_atom, fragment, map, any, as_held).is_err());
            if refused {
                copy_atoms &= !1u32.wrapping_shl(k);
            } else {
                widest = widest.max(copy_atom.share_bytes);
            }
        }
        Some((copy_atoms, widest))
    }

    /// What a movement costs at the least under a layout.
    pub(crate) fn least(&self, layout: &SharedLayout, bound: &CopyBound, element: u32) -> u32 {
        let width = bound.of(&bound.width, layout).min(self.widest(layout, bound, element));
        let straight = bound.at(width, self.target.tables.weights.instruction);
        if bound.loads && !layout.row_major { straight.min(bound.transposed) } else { straight }
    }

    /// A movement that nothing can do where the tile lies by rows, or by columns, as a layout has
    /// it.
    pub(crate) fn refused(&self, layout: &SharedLayout, bounds: &CopyBounds) -> Option<Op> {
        bounds.iter().find_map(|bound| {
            let movement =
                self.movements.get(usize::from(bound.movement)).filter(|_| !bound.copies)?;
            let between = match movement.from {
                CopyEnd::Shared(_) => self.transfers.between(Space::Shared, Space::Register),
                _ => self.transfers.between(Space::Register, Space::Shared),
            };
            let none = u32::MAX.checked_shl(between.len() as u32)?;
            (bound.of(&bound.viable, layout) & !none == 0).then_some(movement.op)
        })
    }

    /// Bytes that lie next to each other, aligned, everywhere in a layout: no access can be wider.
    /// Copies from global memory also need the same dimension to be contiguous on both sides, if
    /// nothing is transposed between.
    fn widest(&self, layout: &SharedLayout, bound: &CopyBound, element: u32) -> u32 {
        if bound.loads && !layout.row_major {
            return element;
        }
        if bound.tiled || layout.by_table {
            return u32::MAX;
        }
        let mut widest = self.family.widest;
        if let Some(swizzle) = layout.post.swizzle() {
            widest = widest.min(1u32.checked_shl(u32::from(swizzle.m)).unwrap_or(u32::MAX));
        }
        for pad in layout.post.padding().map_or(&[] as &[lanebook_layout::Pad], |p| p.pads()) {
            widest = widest.min(power(pad.pad));
        }
        widest.max(element)
    }
}
