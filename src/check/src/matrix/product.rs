//! Products: what each lane holds against what the matrix instruction takes it for.

use crate::evaluator::{held, power, row_col};
use crate::matrix::scales;
use crate::matrix::shared_operands::{self, ReadDescriptor};
use crate::violation::Violation;
use lanebook_ir::Program;
use lanebook_layout::{AxisId, LayoutRef};
use lanebook_plan::{End, InShared, Plan, ProductPlan};
use lanebook_tables::Tables;
use lanebook_tile::map::Fragment;

/// Words of the set of k positions.
const WORDS: usize = 64;

/// One operand of the product: where the unit finds its elements, and its number (0 = A).
struct ProductSide<'p> {
    from: OperandSource<'p>,
    fragment: &'p Fragment,
    number: u8,
    /// log2 of the warps that work on one instance together.
    together: u8,
    /// The instruction takes the tile with rows and columns exchanged.
    swapped: bool,
}

/// Where an operand is.
enum OperandSource<'p> {
    /// In the lanes' registers: as the table lays it out, rows so many elements apart, in so many
    /// bits.
    Registers { layout: &'p LayoutRef<'p>, pitch: u64, bits: u32 },
    /// In a tile in shared memory, as a descriptor says.
    Shared(&'p ReadDescriptor<'p>),
    /// In tensor memory: block after block, rows and columns as they stand there.
    Tensor(crate::matrix::tensor_memory::BlockwiseTile),
}

/// An element as the unit finds it.
struct FoundElement {
    /// Row and column in the operand's tile; `None` if there is none, or not as the atom takes it.
    element: Option<(u32, u32)>,
    /// Where: lane, bit in the tile's registers, warp.
    place: (u32, u32, u32),
}

impl ProductSide<'_> {
    /// The element that the unit takes, by the instruction's rows and columns.
    fn at(&self, row: u64, col: u64, block: u32, warp: u32) -> Option<FoundElement> {
        let found = self.stored(row, col, block, warp)?;
        Some(FoundElement {
            element: if self.swapped {
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
            OperandSource::Registers { layout, pitch, bits } => {
                let x = row.checked_mul(*pitch)?.checked_add(col)?;
                let on = |axis| u32::try_from(layout.offset_on(x, axis).ok()?).ok();
                let start = block.checked_mul(*bits)?;
                let (lane, bit) = (on(AxisId::LANE)?, on(AxisId::BIT)?.checked_add(start)?);
                let member = if self.together == 0 { 0 } else { on(AxisId::WARP)? };
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

/// The run of the depth that has one scale.
fn run_of(k: u32, run: u64) -> Option<u32> {
    k.checked_div(u32::try_from(run).ok()?)
}

/// The bits of a cell of tensor memory.
fn cell_bits(tables: &Tables<'_>, plan: &Plan<'_>) -> u32 {
    tables
        .arch(plan.arch)
        .and_then(|arch| crate::reader::tensor_memory(tables, arch))
        .map_or(0, |memory| memory.cell_bits.into())
}

/// Reads the descriptor of an operand in shared memory, in a frame of its own.
#[inline(never)]
fn describe<'p>(
    to: &mut Option<ReadDescriptor<'p>>,
    tables: &Tables<'p>,
    program: &Program<'_, '_>,
    plan: &'p Plan<'_>,
    (p, operand, given): (&ProductPlan, u8, &InShared),
) -> Option<()> {
    *to = shared_operands::described(tables, program, plan, p, operand, given);
    to.as_ref().map(|_| ())
}

/// Statements 8 and 9 of the module's page; the number of elements compared.
#[inline(never)]
pub(crate) fn product(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    p: &ProductPlan,
) -> Result<u64, Violation> {
    let op = p.op;
    let refuse = Violation::Atom { op, atom: p.product.atom };
    let atom = tables.atom(p.product.atom).ok_or(refuse)?;
    let shape = p.product.shape;
    let instance = atom.with_columns(shape.n).filter(|i| i.shape() == Some(shape)).ok_or(refuse)?;
    let (sm, sn, sk) = (u64::from(shape.m), u64::from(shape.n), u64::from(shape.k));
    let values = [
        program.operand(op, 0),
        program.operand(op, 1),
        program.operand(op, 2),
        program.result(op, 0),
    ];
    // The transposed product takes the program's B as A; then nothing is in shared memory.
    let swapped = p.product.swapped;
    let (number_a, number_b) = if swapped { (shape.b, shape.a) } else { (shape.a, shape.b) };
    if swapped && p.shared != [None; 2] {
        return Err(refuse);
    }
    let operands = [
        (number_a, &p.product.a),
        (number_b, &p.product.b),
        (shape.c, &p.product.c),
        (shape.d, &p.product.c),
    ];
    let mut described: [Option<ReadDescriptor<'_>>; 2] = [const { None }; 2];
    for ((to, given), k) in described.iter_mut().zip(p.shared).zip(0u8..) {
        let Some(given) = given else { continue };
        describe(to, tables, program, plan, (p, k, &given))
            .ok_or(Violation::End { op, operand: k })?;
    }
    let mut sides: [Option<ProductSide<'_>>; 4] = [const { None }; 4];
    for ((((side, end), value), (number, blocks)), k) in
        sides.iter_mut().zip(p.ends).zip(values).zip(operands).zip(0u8..)
    {
        let misplaced = Violation::End { op, operand: k };
        let (from, fragment) = if let Some(given) = p.shared.get(usize::from(k)).copied().flatten()
        {
            if end != End::Shared(given.alloc) || atom.shared(number).is_none() {
                return Err(misplaced);
            }
            let described =
                described.get(usize::from(k)).and_then(Option::as_ref).ok_or(misplaced)?;
            (OperandSource::Shared(described), blocks)
        } else {
            let End::Registers(index) = end else { return Err(misplaced) };
            let f = plan.fragments.get(usize::from(index)).ok_or(Violation::Missing(op))?;
            if Some(f.value) != value {
                return Err(misplaced);
            }
            let stands = match k {
                0 if p.product.tensor_a.is_some() => Some(
                    crate::matrix::tensor_memory::BlockwiseTile::factors(
                        &p.product,
                        cell_bits(tables, plan),
                    )
                    .ok_or(refuse)?,
                ),
                2 | 3 if p.product.tensor.is_some() => {
                    Some(crate::matrix::tensor_memory::BlockwiseTile::sums(&p.product))
                }
                _ => None,
            };
            if let Some(blocks) = stands {
                *side = Some(ProductSide {
                    from: OperandSource::Tensor(blocks),
                    fragment: &f.fragment,
                    number: k,
                    together: p.product.together,
                    swapped: false,
                });
                continue;
            }
            // D's layout is C's: it may be said once. The table has the instance with the most
            // columns; its rows are as far apart in others.
            let operand =
                |number: u8| atom.operands.get(usize::from(number)).filter(|o| o.layout.is_some());
            let operand = operand(number).or_else(|| operand(shape.c)).ok_or(refuse)?;
            let (layout, registers) = (
                operand.layout.ok_or(refuse)?,
                u32::from(instance.registers(number).ok_or(refuse)?),
            );
            // Registers of the operand's own class: they may be wider than those of the tile.
            let class = tables
                .isa(atom.isa)
                .and_then(|isa| isa.classes.get(operand.class.index()))
                .ok_or(refuse)?;
            let bits = registers.checked_mul(u32::from(class.bits)).ok_or(refuse)?;
            (
                OperandSource::Registers { layout, pitch: u64::from(operand.extents.1), bits },
                &f.fragment,
            )
        };
        *side =
            Some(ProductSide { from, fragment, number: k, together: p.product.together, swapped });
    }
    let [Some(first), Some(second), Some(c), Some(d)] = sides else { return Err(refuse) };
    let (a, b) = if swapped { (second, first) } else { (first, second) };
    let (rm, rn, rk) = p.product.repeats;
    let (pm, pn, pk) = p.product.panels;
    let times = |bits: u8, panels: u8| {
        power(usize::from(bits)).and_then(|n| n.checked_mul(u32::from(panels))).ok_or(refuse)
    };
    let (nm, nn, nk) = (times(rm, pm)?, times(rn, pn)?, times(rk, pk)?);
    // The register block of an operand: panel by panel, and in a panel the first of the two given
    // coordinates counts fastest.
    let block =
        |row: u32, col: u32, across: u8, inner: (u32, u8), outer: (u32, u8)| -> Option<u32> {
            let size = power(usize::from(inner.1).checked_add(usize::from(outer.1))?)?;
            let number = row.checked_mul(u32::from(across))?.checked_add(col)?.checked_mul(size)?;
            number
                .checked_add(outer.0.checked_mul(power(usize::from(inner.1))?)?)?
                .checked_add(inner.0)
        };
    let split = |i: u32, bits: u8| {
        power(usize::from(bits))
            .and_then(|n| Some((i.checked_div(n)?, i.checked_rem(n)?)))
            .unwrap_or((u32::MAX, 0))
    };
    let block_a = |im: u32, ik: u32| {
        let ((hm, m), (hk, k)) = (split(im, rm), split(ik, rk));
        block(hm, hk, pk, (k, rk), (m, rm))
    };
    let block_b = |ik: u32, i: u32| {
        let ((hk, k), (hn, n)) = (split(ik, rk), split(i, rn));
        block(hk, hn, pn, (k, rk), (n, rn))
    };
    let block_c = |im: u32, i: u32| {
        let ((hm, m), (hn, n)) = (split(im, rm), split(i, rn));
        if swapped {
            block(hm, hn, pn, (m, rm), (n, rn))
        } else {
            block(hm, hn, pn, (n, rn), (m, rm))
        }
    };
    let scales = scales::sides(tables, program, plan, p)?;
    let mut compared = 0u64;
    let mut compare = |side: &ProductSide<'_>,
                       (row, col): (u64, u64),
                       block: Option<u32>,
                       warp: u32,
                       want: Option<(u32, u32)>|
     -> Result<(), Violation> {
        let found = block.and_then(|block| side.at(row, col, block, warp)).ok_or(refuse)?;
        compared = compared.saturating_add(1);
        if found.element.is_some() && found.element == want {
            return Ok(());
        }
        let nowhere = (u32::MAX, u32::MAX);
        let narrow = |v: u32| u8::try_from(v).unwrap_or(u8::MAX);
        let (lane, bit, warp) = found.place;
        Err(Violation::Operand {
            op,
            operand: side.number,
            warp: narrow(warp),
            lane: narrow(lane),
            bit: u16::try_from(bit).unwrap_or(u16::MAX),
            want: want.unwrap_or(nowhere),
            found: found.element.unwrap_or(nowhere),
        })
    };
    // rho, nu and kappa, read where each is said first.
    let rho = |w: u32, im: u32, m: u64| c.at(m, 0, block_c(im, 0)?, w)?.element.map(|(row, _)| row);
    let nu = |w: u32, i: u32, n: u64| c.at(0, n, block_c(0, i)?, w)?.element.map(|(_, col)| col);
    let kappa =
        |w: u32, ik: u32, k: u64| a.at(0, k, block_a(0, ik)?, w)?.element.map(|(_, col)| col);
    let group = power(usize::from(p.product.together)).ok_or(refuse)?;
    for w in (0..times(plan.warps, 1)?).filter(|w| w.checked_rem(group) == Some(0)) {
        let mut seen = [0u64; WORDS];
        for ik in 0..nk {
            for k in 0..sk {
                let at = kappa(w, ik, k).ok_or(refuse)?;
                let narrow = u8::try_from(w).unwrap_or(u8::MAX);
                let word = seen.get_mut((at / 64) as usize).ok_or(refuse)?;
                let bit = 1u64.checked_shl(at % 64).unwrap_or(0);
                if *word & bit != 0 {
                    return Err(Violation::Depth { op, warp: narrow, k: at });
                }
                *word |= bit;
            }
        }
        let tile = a.fragment.shape;
        let (bits, panels) =
            if swapped { (tile.rows, tile.grid.rows) } else { (tile.cols, tile.grid.cols) };
        let depth = power(usize::from(bits))
            .and_then(|n| n.checked_mul(u32::from(panels)))
            .ok_or(refuse)?;
        if let Some(k) = (0..depth)
            .find(|k| seen.get((k / 64) as usize).is_none_or(|word| (word >> (k % 64)) & 1 == 0))
        {
            return Err(Violation::Depth { op, warp: u8::try_from(w).unwrap_or(u8::MAX), k });
        }
        for im in 0..nm {
            for i in 0..nn {
                for side in [&c, &d] {
                    for m in 0..sm {
                        for n in 0..sn {
                            compare(
                                side,
                                (m, n),
                                block_c(im, i),
                                w,
                                rho(w, im, m).zip(nu(w, i, n)),
                            )?;
                        }
                    }
                }
            }
            for ik in 0..nk {
                for m in 0..sm {
                    for k in 0..sk {
                        compare(
                            &a,
                            (m, k),
                            block_a(im, ik),
                            w,
                            rho(w, im, m).zip(kappa(w, ik, k)),
                        )?;
                        if let [Some(scale), _] = &scales {
                            let at = (m, k.checked_div(scale.run).ok_or(refuse)?);
                            scale.compare(
                                p,
                                at,
                                block_a(im, ik),
                                w,
                                rho(w, im, m)
                                    .zip(kappa(w, ik, k).and_then(|k| run_of(k, scale.run))),
                            )?;
                        }
                    }
                }
            }
        }
        for i in 0..nn {
            for ik in 0..nk {
                for k in 0..sk {
                    for n in 0..sn {
                        compare(&b, (k, n), block_b(ik, i), w, kappa(w, ik, k).zip(nu(w, i, n)))?;
                        if let [_, Some(scale)] = &scales {
                            let at = (n, k.checked_div(scale.run).ok_or(refuse)?);
                            scale.compare(
                                p,
                                at,
                                block_b(ik, i),
                                w,
                                nu(w, i, n).zip(kappa(w, ik, k).and_then(|k| run_of(k, scale.run))),
                            )?;
                        }
                    }
                }
            }
        }
    }
    Ok(compared)
}
