//! One operand of a product: where the unit finds its elements.

use crate::evaluator::{held, row_col};
use crate::matrix::repeat_tuples::RepeatTuple;
use crate::matrix::shared_operands::ReadDescriptor;
use crate::matrix::tensor_memory::BlockwiseTile;
use crate::violation::Violation;
use lanebook_ir::Value;
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_plan::{End, Plan, ProductPlan};
use lanebook_tables::{MatrixShape, Tables};
use lanebook_tile::map::Fragment;

/// One operand of the product: where the unit finds its elements, and its number (0 = A).
pub(crate) struct ProductSide<'p> {
    from: OperandSource<'p>,
    pub(crate) fragment: &'p Fragment,
    pub(crate) number: u8,
    /// log2 of the warps that work on one instance together.
    warpgroup: u8,
    /// The instruction takes the tile with rows and columns exchanged.
    transposed: bool,
}

/// Where an operand is.
enum OperandSource<'p> {
    /// In the lanes' registers: as the table lays it out, rows so many elements apart; which bits of
    /// the tile's registers those are. Of pairs, elements follow each other along rows or along
    /// columns.
    Registers { layout: &'p LayoutRef<'p>, pitch: u64, tuple: RepeatTuple, pairs: Option<PairAxis> },
    /// In a tile in shared memory, as a descriptor says.
    Shared(&'p ReadDescriptor<'p>),
    /// In tensor memory: block after block, rows and columns as they stand there.
    Tensor(BlockwiseTile),
}

/// Where the second element of a pair is.
#[derive(Copy, Clone, PartialEq, Eq)]
enum PairAxis {
    NextRow,
    NextColumn,
}

/// An element as the unit finds it.
pub(crate) struct FoundElement {
    /// Row and column in the operand's tile; `None` if there is none, or not as the atom takes it.
    pub(crate) element: Option<(u32, u32)>,
    /// Where: lane, bit in the tile's registers, warp.
    pub(crate) place: (u32, u32, u32),
}

impl<'p> ProductSide<'p> {
    /// Operand `k` of a product (0 = A, 3 = D) as the plan and the table say; `described` is what
    /// its descriptor says, where it lies in shared memory.
    #[inline(never)]
    pub(crate) fn of(
        tables: &'p Tables<'p>,
        plan: &'p Plan<'_>,
        p: &'p ProductPlan,
        k: u8,
        value: Option<Value>,
        described: Option<&'p ReadDescriptor<'p>>,
    ) -> Result<Self, Violation> {
        let op = p.op;
        let refuse = Violation::Atom { op, atom: p.product.atom };
        let misplaced = Violation::End { op, operand: k };
        let atom = tables.atom(p.product.atom).ok_or(refuse)?;
        let (shape, warpgroup, transposed) =
            (p.product.shape, p.product.warpgroup, p.product.transposed);
        // The transposed product takes the program's B as A.
        let (number_a, number_b) = if transposed { (shape.b, shape.a) } else { (shape.a, shape.b) };
        let (number, blocks) = match k {
            0 => (number_a, &p.product.a),
            1 => (number_b, &p.product.b),
            2 => (shape.c, &p.product.c),
            _ => (shape.d, &p.product.c),
        };
        let end = *p.ends.get(usize::from(k)).ok_or(misplaced)?;
        if let Some(given) = p.shared.get(usize::from(k)).copied().flatten() {
            if end != End::Shared(given.alloc) || atom.shared(number).is_none() {
                return Err(misplaced);
            }
            let from = OperandSource::Shared(described.ok_or(misplaced)?);
            return Ok(Self { from, fragment: blocks, number: k, warpgroup, transposed });
        }
        let End::Registers(index) = end else { return Err(misplaced) };
        let f = plan.fragments.get(usize::from(index)).ok_or(Violation::Missing(op))?;
        if Some(f.value) != value {
            return Err(misplaced);
        }
        let fragment = &f.fragment;
        if let Some(blocks) = in_tensor_memory(tables, plan, p, k).ok_or(refuse)? {
            let from = OperandSource::Tensor(blocks);
            return Ok(Self { from, fragment, number: k, warpgroup, transposed: false });
        }
        let from = in_registers(tables, p, number).ok_or(refuse)?;
        Ok(Self { from, fragment, number: k, warpgroup, transposed })
    }
}

/// The blocks of an operand in tensor memory: `Some(None)` where it is in registers, `None` where
/// they are not known.
fn in_tensor_memory(
    tables: &Tables<'_>,
    plan: &Plan<'_>,
    p: &ProductPlan,
    k: u8,
) -> Option<Option<BlockwiseTile>> {
    match k {
        0 if p.product.tensor_a.is_some() => {
            BlockwiseTile::factors(&p.product, cell_bits(tables, plan)).map(Some)
        }
        2 | 3 if p.product.tensor.is_some() => Some(Some(BlockwiseTile::sums(&p.product))),
        _ => Some(None),
    }
}

/// An operand in the lanes' registers. D's layout is C's: it may be said once. The table has the
/// instance with the most columns; its rows are as far apart in others.
fn in_registers<'p>(
    tables: &'p Tables<'p>,
    p: &ProductPlan,
    number: u8,
) -> Option<OperandSource<'p>> {
    let (atom, shape) = (tables.atom(p.product.atom)?, p.product.shape);
    let whole = MatrixShape { k: p.product.depth(), ..shape };
    let instance = atom.with_columns(shape.n).filter(|i| i.shape() == Some(whole))?;
    let laid_out =
        |number: u8| atom.operands.get(usize::from(number)).filter(|o| o.layout.is_some());
    let operand = laid_out(number).or_else(|| laid_out(shape.c))?;
    // Registers of the operand's own class: they may be wider than those of the tile.
    let class = tables.isa(atom.isa)?.classes.get(operand.class.index())?;
    let bits = u32::from(instance.registers(number)?).checked_mul(u32::from(class.bits))?;
    let pitch = u64::from(operand.extents.1);
    let pairs = match p.product.pairs {
        true if number == shape.a => Some(PairAxis::NextColumn),
        true if number == shape.b => Some(PairAxis::NextRow),
        _ => None,
    };
    let tuple = RepeatTuple::of(tables, &p.product, number, bits)?;
    Some(OperandSource::Registers { layout: operand.layout?, pitch, tuple, pairs })
}

impl ProductSide<'_> {
    /// The element that the unit takes, by the instruction's rows and columns.
    pub(crate) fn at(&self, row: u64, col: u64, block: u32, warp: u32) -> Option<FoundElement> {
        let found = self.stored(row, col, block, warp)?;
        Some(FoundElement {
            element: if self.transposed {
                found.element.map(|(row, col)| (col, row))
            } else {
                found.element
            },
            ..found
        })
    }

    /// The element of the program's tile that the unit takes for (row, col) of an instance's
    /// operand, in block `block`, for the warps of `warp`.
    fn stored(&self, row: u64, col: u64, block: u32, warp: u32) -> Option<FoundElement> {
        match &self.from {
            OperandSource::Registers { layout, pitch, tuple, pairs } => {
                let (row, col, next) = match pairs {
                    None => (row, col, 0),
                    Some(PairAxis::NextRow) => (row.checked_mul(2)?, col, *pitch),
                    Some(PairAxis::NextColumn) => (row, col.checked_mul(2)?, 1),
                };
                let x = row.checked_mul(*pitch)?.checked_add(col)?;
                // The second one of a pair stands in the upper half of the same place.
                if pairs.is_some() && !is_above(layout, x, x.checked_add(next)?, self.fragment)? {
                    return None;
                }
                let on = |axis| u32::try_from(layout.offset_on(x, axis).ok()?).ok();
                let (lane, bit) = (on(AxisId::LANE)?, tuple.tile_bit(block, on(AxisId::BIT)?)?);
                let member = if self.warpgroup == 0 { 0 } else { on(AxisId::WARP)? };
                let warp = warp.checked_add(member)?;
                let whole = bit.checked_rem(u32::from(self.fragment.shape.bits)) == Some(0);
                let in_lane = |lane: u32| {
                    if whole {
                        held(self.fragment, bit, lane, warp)
                            .and_then(|(e, _)| row_col(self.fragment.shape, e))
                    } else {
                        None
                    }
                };
                let element = in_lane(lane);
                // Where the unit takes an element from several lanes, all of them hold it.
                for copy in 1..copies(layout)? {
                    let other = lane.checked_add(copy_lanes(layout, copy)?)?;
                    if in_lane(other) != element {
                        return Some(FoundElement { element: None, place: (other, bit, warp) });
                    }
                }
                Some(FoundElement { element, place: (lane, bit, warp) })
            }
            OperandSource::Tensor(blocks) => {
                let element = blocks.element(block, (row, col));
                Some(FoundElement { element, place: (0, 0, warp) })
            }
            OperandSource::Shared(described) => {
                let element = described.at(self.fragment, (row, col), block, warp)?;
                Some(FoundElement { element, place: (0, 0, warp) })
            }
        }
    }
}

/// Whether an element stands in the same lane and warp as another one, half a place above it.
fn is_above(layout: &LayoutRef<'_>, low: u64, high: u64, of: &Fragment) -> Option<bool> {
    let both = |axis| Some((layout.offset_on(low, axis).ok()?, layout.offset_on(high, axis).ok()?));
    let ((lane, lane_above), (warp, warp_above)) = (both(AxisId::LANE)?, both(AxisId::WARP)?);
    let (bit, bit_above) = both(AxisId::BIT)?;
    let half = i64::from(of.shape.bits / 2);
    Some(lane == lane_above && warp == warp_above && bit.checked_add(half)? == bit_above)
}

/// How many lanes hold each element.
fn copies(layout: &LayoutRef<'_>) -> Option<u32> {
    layout.replica.iter().try_fold(1u32, |n, it| n.checked_mul(it.extent_value().ok()?))
}

/// How many lanes a copy is away from the first; `None` if it is not in another lane.
fn copy_lanes(layout: &LayoutRef<'_>, copy: u32) -> Option<u32> {
    let (mut rest, mut away) = (copy, 0u32);
    for it in layout.replica {
        let extent = it.extent_value().ok()?;
        let step =
            u32::try_from(it.stride_value().ok()?).ok().filter(|_| it.axis() == AxisId::LANE)?;
        away = away.checked_add(rest.checked_rem(extent)?.checked_mul(step)?)?;
        rest = rest.checked_div(extent)?;
    }
    Some(away)
}

/// The bits of a cell of tensor memory.
fn cell_bits(tables: &Tables<'_>, plan: &Plan<'_>) -> u32 {
    tables
        .arch(plan.arch)
        .and_then(|arch| crate::reader::tensor_memory(tables, arch))
        .map_or(0, |memory| memory.cell_bits.into())
}
