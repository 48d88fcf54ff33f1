//! Products: what each lane holds against what the matrix instruction takes it for.

use super::tile::{held, power, row_col};
use super::violation::Violation;
use crate::ir::Program;
use crate::map::Fragment;
use crate::plan::{Plan, ProductPlan};
use lanebook_layout::AxisId;
use lanebook_tables::{Operand, Tables};

/// Words of the set of k positions.
const WORDS: usize = 64;

/// One operand: its table entry, its fragment and its number (0 = A).
struct Side<'p> {
    operand: &'p Operand<'p>,
    fragment: &'p Fragment,
    number: u8,
}

impl Side<'_> {
    fn extents(&self) -> (u64, u64) {
        (u64::from(self.operand.extents.0), u64::from(self.operand.extents.1))
    }

    /// (lane, bit in the tile's registers) of an element of the atom's operand in register block `block`.
    fn place(&self, row: u64, col: u64, block: u32) -> Option<(u32, u32)> {
        let layout = self.operand.layout.filter(|l| l.replica.is_empty())?;
        let x = row.checked_mul(self.extents().1)?.checked_add(col)?;
        let on = |axis| u32::try_from(layout.offset_on(x, axis).ok()?).ok();
        let start = block.checked_mul(u32::from(self.operand.registers))?.checked_mul(32)?;
        Some((on(AxisId::LANE)?, on(AxisId::BIT)?.checked_add(start)?))
    }

    /// Row and column of the tile's element there; `None` if there is none, or not at its first bit.
    fn at(&self, (lane, bit): (u32, u32), warp: u32) -> Option<(u32, u32)> {
        if bit.checked_rem(u32::from(self.fragment.shape.bits)) != Some(0) {
            return None;
        }
        let (e, _) = held(self.fragment, bit, lane, warp)?;
        row_col(self.fragment.shape, e)
    }
}

/// Statements 8 and 9 of the module's page; the number of elements compared.
pub(super) fn product(tables: &Tables<'_>, program: &Program<'_, '_>, plan: &Plan<'_>, p: &ProductPlan) -> Result<u64, Violation> {
    let op = p.op;
    let refuse = Violation::Atom { op, atom: p.product.atom };
    let atom = tables.atom(p.product.atom).ok_or(refuse)?;
    let shape = atom.matrix.ok_or(refuse)?;
    let values = [program.operand(op, 0), program.operand(op, 1), program.operand(op, 2), program.result(op, 0)];
    let mut sides: [Option<Side<'_>>; 4] = [None, None, None, None];
    let numbers = [shape.a, shape.b, shape.c, shape.d];
    for ((((side, index), value), number), k) in sides.iter_mut().zip(p.fragments).zip(values).zip(numbers).zip(0u8..) {
        let f = plan.fragments.get(usize::from(index)).ok_or(Violation::Missing(op))?;
        if Some(f.value) != value {
            return Err(Violation::End { op, operand: k });
        }
        *side = Some(Side { operand: atom.operands.get(usize::from(number)).ok_or(refuse)?, fragment: &f.fragment, number: k });
    }
    let [Some(a), Some(b), Some(c), Some(d)] = sides else { return Err(refuse) };
    let (sm, sn, sk) = (u64::from(shape.m), u64::from(shape.n), u64::from(shape.k));
    // D's layout is C's: it may be said once.
    let extents = [(&a, (sm, sk)), (&b, (sk, sn)), (&c, (sm, sn))];
    if extents.iter().any(|(s, want)| s.extents() != *want) {
        return Err(refuse);
    }
    let d = Side { operand: if d.operand.layout.is_some() { d.operand } else { c.operand }, ..d };
    let (rm, rn, rk) = p.product.repeats;
    let (pm, pn, pk) = p.product.panels;
    let times = |bits: u8, panels: u8| power(usize::from(bits)).and_then(|n| n.checked_mul(u32::from(panels))).ok_or(refuse);
    let (nm, nn, nk) = (times(rm, pm)?, times(rn, pn)?, times(rk, pk)?);
    // The register block of an operand: panel by panel, and in a panel the first of the two given coordinates counts fastest.
    let block = |row: u32, col: u32, across: u8, inner: (u32, u8), outer: (u32, u8)| -> Option<u32> {
        let size = power(usize::from(inner.1).checked_add(usize::from(outer.1))?)?;
        let number = row.checked_mul(u32::from(across))?.checked_add(col)?.checked_mul(size)?;
        number.checked_add(outer.0.checked_mul(power(usize::from(inner.1))?)?)?.checked_add(inner.0)
    };
    let split = |i: u32, bits: u8| power(usize::from(bits)).and_then(|n| Some((i.checked_div(n)?, i.checked_rem(n)?))).unwrap_or((u32::MAX, 0));
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
        block(hm, hn, pn, (n, rn), (m, rm))
    };
    let mut compared = 0u64;
    let mut compare = |side: &Side<'_>, place: Option<(u32, u32)>, warp: u32, want: Option<(u32, u32)>| -> Result<(), Violation> {
        let place = place.ok_or(refuse)?;
        compared = compared.saturating_add(1);
        let found = side.at(place, warp);
        if found.is_some() && found == want {
            return Ok(());
        }
        let nowhere = (u32::MAX, u32::MAX);
        let narrow = |v: u32| u8::try_from(v).unwrap_or(u8::MAX);
        let bit = u16::try_from(place.1).unwrap_or(u16::MAX);
        Err(Violation::Operand {
            op,
            operand: side.number,
            warp: narrow(warp),
            lane: narrow(place.0),
            bit,
            want: want.unwrap_or(nowhere),
            found: found.unwrap_or(nowhere),
        })
    };
    // rho, nu and kappa, read where each is said first.
    let rho = |w: u32, im: u32, m: u64| c.at(c.place(m, 0, block_c(im, 0)?)?, w).map(|(row, _)| row);
    let nu = |w: u32, i: u32, n: u64| c.at(c.place(0, n, block_c(0, i)?)?, w).map(|(_, col)| col);
    let kappa = |w: u32, ik: u32, k: u64| a.at(a.place(0, k, block_a(0, ik)?)?, w).map(|(_, col)| col);
    for w in 0..times(plan.warps, 1)? {
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
        let depth = power(usize::from(a.fragment.shape.cols)).and_then(|n| n.checked_mul(u32::from(a.fragment.shape.grid.cols))).ok_or(refuse)?;
        if let Some(k) = (0..depth).find(|k| seen.get((k / 64) as usize).is_none_or(|word| (word >> (k % 64)) & 1 == 0)) {
            return Err(Violation::Depth { op, warp: u8::try_from(w).unwrap_or(u8::MAX), k });
        }
        for im in 0..nm {
            for i in 0..nn {
                for side in [&c, &d] {
                    for m in 0..sm {
                        for n in 0..sn {
                            compare(side, block_c(im, i).and_then(|at| side.place(m, n, at)), w, rho(w, im, m).zip(nu(w, i, n)))?;
                        }
                    }
                }
            }
            for ik in 0..nk {
                for m in 0..sm {
                    for k in 0..sk {
                        compare(&a, block_a(im, ik).and_then(|at| a.place(m, k, at)), w, rho(w, im, m).zip(kappa(w, ik, k)))?;
                    }
                }
            }
        }
        for i in 0..nn {
            for ik in 0..nk {
                for k in 0..sk {
                    for n in 0..sn {
                        compare(&b, block_b(ik, i).and_then(|at| b.place(k, n, at)), w, kappa(w, ik, k).zip(nu(w, i, n)))?;
                    }
                }
            }
        }
    }
    Ok(compared)
}
