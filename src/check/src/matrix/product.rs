//! Products: what each lane holds against what the matrix instruction takes it for.

use crate::evaluator::power;
use crate::matrix::operand::ProductSide;
use crate::matrix::scales::{self, ScaleSide};
use crate::matrix::shared_operands::{self, ReadDescriptor};
use crate::violation::Violation;
use lanebook_ir::Program;
use lanebook_plan::{InShared, Plan, ProductPlan};
use lanebook_tables::{MatrixShape, Tables};

/// Words of the set of k positions.
const WORDS: usize = 64;

/// The run of the depth that has one scale.
fn run_of(k: u32, run: u64) -> Option<u32> {
    k.checked_div(u32::try_from(run).ok()?)
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

/// The instances of a product: how many there are, and which registers of a lane they take.
struct Instances {
    /// Extents of one along m, n and k.
    extents: [u64; 3],
    /// How many there are along m, n and k.
    counts: [u32; 3],
    /// log2 of those in a panel.
    repeats: (u8, u8, u8),
    /// Panels along m, n and k.
    panels: (u8, u8, u8),
    /// The instruction computes the transposed product.
    transposed: bool,
}

/// The register block of an operand: panel by panel (`row` and `col` of so many `across`), and in a
/// panel `inner` counts faster than `outer`; both with log2 of how many there are.
fn block(row: u32, col: u32, across: u8, inner: (u32, u8), outer: (u32, u8)) -> Option<u32> {
    let size = power(usize::from(inner.1).checked_add(usize::from(outer.1))?)?;
    let number = row.checked_mul(u32::from(across))?.checked_add(col)?.checked_mul(size)?;
    number.checked_add(outer.0.checked_mul(power(usize::from(inner.1))?)?)?.checked_add(inner.0)
}

/// An instance's number along a dimension as its panel and its number in that.
fn split(i: u32, bits: u8) -> (u32, u32) {
    power(usize::from(bits))
        .and_then(|n| Some((i.checked_div(n)?, i.checked_rem(n)?)))
        .unwrap_or((u32::MAX, 0))
}

impl Instances {
    fn of(p: &ProductPlan) -> Option<Self> {
        let shape = p.product.shape;
        let (repeats, panels) = (p.product.repeats, p.product.panels);
        let ((rm, rn, rk), (pm, pn, pk)) = (repeats, panels);
        let times = |bits: u8, panels: u8| power(usize::from(bits))?.checked_mul(u32::from(panels));
        Some(Self {
            extents: [u64::from(shape.m), u64::from(shape.n), u64::from(shape.k)],
            counts: [times(rm, pm)?, times(rn, pn)?, times(rk, pk)?],
            repeats,
            panels,
            transposed: p.product.transposed,
        })
    }

    fn block_a(&self, im: u32, ik: u32) -> Option<u32> {
        let ((rm, _, rk), (_, _, across)) = (self.repeats, self.panels);
        let ((hm, m), (hk, k)) = (split(im, rm), split(ik, rk));
        block(hm, hk, across, (k, rk), (m, rm))
    }

    fn block_b(&self, ik: u32, i: u32) -> Option<u32> {
        let ((_, rn, rk), (_, across, _)) = (self.repeats, self.panels);
        let ((hk, k), (hn, n)) = (split(ik, rk), split(i, rn));
        block(hk, hn, across, (k, rk), (n, rn))
    }

    fn block_c(&self, im: u32, i: u32) -> Option<u32> {
        let ((rm, rn, _), (_, across, _)) = (self.repeats, self.panels);
        let ((hm, m), (hn, n)) = (split(im, rm), split(i, rn));
        let (inner, outer) = if self.transposed { ((m, rm), (n, rn)) } else { ((n, rn), (m, rm)) };
        block(hm, hn, across, inner, outer)
    }
}

/// A product with its operands, warp by warp. The functions of the module's page are read where
/// each is said first: rho in C's rows, nu in its columns, kappa in A's columns.
struct Comparison<'c> {
    p: &'c ProductPlan,
    a: ProductSide<'c>,
    b: ProductSide<'c>,
    c: ProductSide<'c>,
    d: ProductSide<'c>,
    scales: [Option<ScaleSide<'c>>; 2],
    instances: Instances,
    refuse: Violation,
}

impl Comparison<'_> {
    fn rho(&self, w: u32, im: u32, m: u64) -> Option<u32> {
        self.c.at(m, 0, self.instances.block_c(im, 0)?, w)?.element.map(|(row, _)| row)
    }

    fn nu(&self, w: u32, i: u32, n: u64) -> Option<u32> {
        self.c.at(0, n, self.instances.block_c(0, i)?, w)?.element.map(|(_, col)| col)
    }

    fn kappa(&self, w: u32, ik: u32, k: u64) -> Option<u32> {
        self.a.at(0, k, self.instances.block_a(0, ik)?, w)?.element.map(|(_, col)| col)
    }

    /// Whether a unit finds the element that it should.
    fn element(
        &self,
        side: &ProductSide<'_>,
        (row, col): (u64, u64),
        block: Option<u32>,
        warp: u32,
        want: Option<(u32, u32)>,
    ) -> Result<(), Violation> {
        let found = block.and_then(|block| side.at(row, col, block, warp)).ok_or(self.refuse)?;
        if found.element.is_some() && found.element == want {
            return Ok(());
        }
        let nowhere = (u32::MAX, u32::MAX);
        let narrow = |v: u32| u8::try_from(v).unwrap_or(u8::MAX);
        let (lane, bit, warp) = found.place;
        Err(Violation::Operand {
            op: self.p.op,
            operand: side.number,
            warp: narrow(warp),
            lane: narrow(lane),
            bit: u16::try_from(bit).unwrap_or(u16::MAX),
            want: want.unwrap_or(nowhere),
            found: found.element.unwrap_or(nowhere),
        })
    }

    /// Statement 8: the instances of a warp take each position along k once.
    #[inline(never)]
    fn depth(&self, w: u32) -> Result<(), Violation> {
        let (op, warp) = (self.p.op, u8::try_from(w).unwrap_or(u8::MAX));
        let ([_, _, sk], [_, _, nk]) = (self.instances.extents, self.instances.counts);
        let mut seen = [0u64; WORDS];
        for ik in 0..nk {
            for k in 0..sk {
                let at = self.kappa(w, ik, k).ok_or(self.refuse)?;
                let word = seen.get_mut((at / 64) as usize).ok_or(self.refuse)?;
                let bit = 1u64.checked_shl(at % 64).unwrap_or(0);
                if *word & bit != 0 {
                    return Err(Violation::Depth { op, warp, k: at });
                }
                *word |= bit;
            }
        }
        let tile = self.a.fragment.shape;
        let (bits, panels) = match self.instances.transposed {
            true => (tile.rows, tile.grid.rows),
            false => (tile.cols, tile.grid.cols),
        };
        let depth = power(usize::from(bits))
            .and_then(|n| n.checked_mul(u32::from(panels)))
            .ok_or(self.refuse)?;
        let is_missing =
            |k: &u32| seen.get((k / 64) as usize).is_none_or(|word| (word >> (k % 64)) & 1 == 0);
        (0..depth).find(is_missing).map_or(Ok(()), |k| Err(Violation::Depth { op, warp, k }))
    }

    /// Statement 9 for C and D of a warp, one row of instances; the number of elements compared, as
    /// of the next two.
    #[inline(never)]
    fn sums(&self, w: u32, im: u32) -> Result<u64, Violation> {
        let ([sm, sn, _], [_, nn, _]) = (self.instances.extents, self.instances.counts);
        let mut compared = 0u64;
        for i in 0..nn {
            let block = self.instances.block_c(im, i);
            for side in [&self.c, &self.d] {
                for m in 0..sm {
                    for n in 0..sn {
                        let want = self.rho(w, im, m).zip(self.nu(w, i, n));
                        self.element(side, (m, n), block, w, want)?;
                        compared = compared.saturating_add(1);
                    }
                }
            }
        }
        Ok(compared)
    }

    /// The same for A and its scales.
    #[inline(never)]
    fn left(&self, w: u32, im: u32) -> Result<u64, Violation> {
        let ([sm, _, sk], [_, _, nk]) = (self.instances.extents, self.instances.counts);
        let mut compared = 0u64;
        for ik in 0..nk {
            let block = self.instances.block_a(im, ik);
            for m in 0..sm {
                for k in 0..sk {
                    let (row, col) = (self.rho(w, im, m), self.kappa(w, ik, k));
                    self.element(&self.a, (m, k), block, w, row.zip(col))?;
                    compared = compared.saturating_add(1);
                    if let [Some(scale), _] = &self.scales {
                        let at = (m, k.checked_div(scale.run).ok_or(self.refuse)?);
                        let run = col.and_then(|k| run_of(k, scale.run));
                        scale.compare(self.p, at, block, w, row.zip(run))?;
                    }
                }
            }
        }
        Ok(compared)
    }

    /// The same for B and its scales.
    #[inline(never)]
    fn right(&self, w: u32) -> Result<u64, Violation> {
        let ([_, sn, sk], [_, nn, nk]) = (self.instances.extents, self.instances.counts);
        let mut compared = 0u64;
        for i in 0..nn {
            for ik in 0..nk {
                let block = self.instances.block_b(ik, i);
                for k in 0..sk {
                    for n in 0..sn {
                        let (row, col) = (self.kappa(w, ik, k), self.nu(w, i, n));
                        self.element(&self.b, (k, n), block, w, row.zip(col))?;
                        compared = compared.saturating_add(1);
                        if let [_, Some(scale)] = &self.scales {
                            let at = (n, k.checked_div(scale.run).ok_or(self.refuse)?);
                            let run = row.and_then(|k| run_of(k, scale.run));
                            scale.compare(self.p, at, block, w, col.zip(run))?;
                        }
                    }
                }
            }
        }
        Ok(compared)
    }
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
    let (atom, shape) = (tables.atom(p.product.atom).ok_or(refuse)?, p.product.shape);
    let whole = MatrixShape { k: p.product.depth(), ..shape };
    atom.with_columns(shape.n).filter(|i| i.shape() == Some(whole)).ok_or(refuse)?;
    // The transposed product has nothing in shared memory.
    let transposed = p.product.transposed;
    if transposed && p.shared != [None; 2] {
        return Err(refuse);
    }
    let mut described: [Option<ReadDescriptor<'_>>; 2] = [const { None }; 2];
    for ((to, given), k) in described.iter_mut().zip(p.shared).zip(0u8..) {
        let Some(given) = given else { continue };
        describe(to, tables, program, plan, (p, k, &given))
            .ok_or(Violation::End { op, operand: k })?;
    }
    let [shared_a, shared_b] = &described;
    let side = |k: u8, value, described| ProductSide::of(tables, plan, p, k, value, described);
    let first = side(0, program.operand(op, 0), shared_a.as_ref())?;
    let second = side(1, program.operand(op, 1), shared_b.as_ref())?;
    let c = side(2, program.operand(op, 2), None)?;
    let d = side(3, program.result(op, 0), None)?;
    let (a, b) = if transposed { (second, first) } else { (first, second) };
    let instances = Instances::of(p).ok_or(refuse)?;
    let scales = scales::sides(tables, program, plan, p)?;
    let comparison = Comparison { p, a, b, c, d, scales, instances, refuse };
    let group = power(usize::from(p.product.warpgroup)).ok_or(refuse)?;
    let warps = power(usize::from(plan.warps)).ok_or(refuse)?;
    let mut compared = 0u64;
    for w in (0..warps).filter(|w| w.checked_rem(group) == Some(0)) {
        comparison.depth(w)?;
        let [rows, ..] = comparison.instances.counts;
        for im in 0..rows {
            compared = compared.saturating_add(comparison.sums(w, im)?);
            compared = compared.saturating_add(comparison.left(w, im)?);
        }
        compared = compared.saturating_add(comparison.right(w)?);
    }
    Ok(compared)
}
