//! Copies that transpose blocks between two atoms: every byte of every block, from where to where.

use crate::evaluator::{Memory, element_bytes, power, spot};
use crate::memory::movement::{LANES, Move, TouchedBytes, byte, coordinates};
use crate::violation::Violation;
use lanebook_layout::AxisId;
use lanebook_plan::TransferPlan;
use lanebook_tables::{Atom, AtomId, Movement, Space};
use lanebook_tile::map::BitMatrix;

type Half<'t> = (&'t Atom<'t>, &'t Movement<'t>);

/// Statement 6 for blocks; the number of bytes followed.
#[inline(never)]
pub(crate) fn movement(
    this: &Move<'_>,
    ((_, load), first): (Half<'_>, AtomId),
    ((_, store), second): (Half<'_>, AtomId),
    (source, target): (Memory<'_>, Memory<'_>),
    spaces: (Space, Space),
) -> Result<u64, Violation> {
    let m = this.m;
    let refuse = Violation::Atom { op: m.op, atom: first };
    let transpose = m.transpose.ok_or(refuse)?;
    let joined = load.to.space == Space::Register && store.from.space == Space::Register;
    if !joined || (load.from.space, store.to.space) != spaces || source.shape() != target.shape() {
        return Err(refuse);
    }
    let size = element_bytes(source.shape()).ok_or(refuse)?;
    let (rows, columns) = (
        power(usize::from(transpose.across)).ok_or(refuse)?,
        power(usize::from(transpose.along)).ok_or(refuse)?,
    );
    let whole = size.checked_mul(power(usize::from(transpose.packing)).ok_or(refuse)?);
    if whole != Some(4)
        || transpose.packing > transpose.across
        || transpose.packing > transpose.along
    {
        return Err(refuse);
    }
    let read = share(this, load, true, columns.checked_mul(size).ok_or(refuse)?, first)?;
    this.covers(&source, &read)?;
    share(this, store, false, rows.checked_mul(size).ok_or(refuse)?, second)?;
    // The columns of a block in place of its rows.
    let mut turned = *m;
    turned.tiling.instances = BitMatrix::new();
    for k in 0..u32::from(transpose.along) {
        let e = source.inner(1u32.checked_shl(k).ok_or(refuse)?).ok_or(refuse)?;
        turned.tiling.instances.push(e).then_some(()).ok_or(refuse)?;
    }
    for e in m.tiling.instances.as_slice().get(usize::from(transpose.across)..).ok_or(refuse)? {
        turned.tiling.instances.push(*e).then_some(()).ok_or(refuse)?;
    }
    let other = Move { m: &turned, ..*this };
    let blocks = this.instances.checked_div(rows).ok_or(refuse)?;
    let lanes = power(m.tiling.address_lanes.len()).ok_or(refuse)?;
    let mut followed = 0u64;
    for block in 0..blocks {
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)))
        {
            let from = block.checked_mul(rows).and_then(|n| n.checked_add(row)).ok_or(refuse)?;
            let to =
                block.checked_mul(columns).and_then(|n| n.checked_add(column)).ok_or(refuse)?;
            let step = source.inner(column).ok_or(refuse)?;
            let (y, z) =
                (column.checked_mul(size).ok_or(refuse)?, row.checked_mul(size).ok_or(refuse)?);
            for w in 0..this.warps {
                for lane in 0..lanes {
                    let (element, at) =
                        this.address(&source, &load.from, (lane, false), w, from)?;
                    let e = element ^ step;
                    this.same(w, lane, y.saturating_mul(8), source.at(e), at.plus(y), e)?;
                    let (_, at) = other.address(&target, &store.to, (lane, false), w, to)?;
                    this.same(w, lane, z.saturating_mul(8), target.at(e), at.plus(z), e)?;
                    followed = followed.saturating_add(u64::from(size));
                }
            }
        }
    }
    Ok(followed)
}

/// A lane's registers hold the bytes behind its own slot, in order and without gaps, `bytes` of
/// them.
fn share(
    this: &Move<'_>,
    half: &Movement<'_>,
    loads: bool,
    bytes: u32,
    atom: AtomId,
) -> Result<TouchedBytes, Violation> {
    let refuse = Violation::Atom { op: this.m.op, atom };
    let (inside, outside) = if loads { (&half.to, &half.from) } else { (&half.from, &half.to) };
    let (count, unit) = coordinates(half).ok_or(refuse)?;
    let mut touched = TouchedBytes([0; LANES]);
    for x in 0..count {
        let (slot, y) = spot(outside, x, AxisId::SLOT, AxisId::BYTE).ok_or(refuse)?;
        let (lane, bit) = spot(inside, x, AxisId::LANE, AxisId::BIT).ok_or(refuse)?;
        if slot != lane || y.checked_mul(8) != Some(bit) {
            return Err(Violation::Share {
                op: this.m.op,
                lane: byte(lane),
                found: u64::from(bit),
                want: u64::from(y.saturating_mul(8)),
            });
        }
        for u in 0..unit {
            touched.add(this.m.op, slot, y.checked_add(u).ok_or(refuse)?)?;
        }
    }
    let found = touched.0.first().copied().unwrap_or(0);
    let want = 1u64.checked_shl(bytes).unwrap_or(0).wrapping_sub(1);
    if found == want {
        Ok(touched)
    } else {
        Err(Violation::Share { op: this.m.op, lane: 0, found, want })
    }
}

/// What the emitted order of steps is checked against.
pub(crate) fn stores(m: &TransferPlan, loads: u32) -> u32 {
    let of = |f: lanebook_tile::tiling::RegisterTranspose| {
        loads.checked_shr(u32::from(f.across))?.checked_shl(u32::from(f.along))
    };
    m.transpose.and_then(of).unwrap_or(loads)
}
