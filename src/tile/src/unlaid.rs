//! Why a matrix instruction multiplies no tile at all, or not this one: what the planner and the audit
//! of tables say of it.

use crate::map::log2_exact;
use crate::product::Product;
use crate::repeat_digits::below_of;
use crate::tiling::Reject;
use lanebook_tables::{Atom, AtomId, Instance, MatrixShape, Tables};

/// Why no tile is laid out by an instruction for waves of so many lanes; `None` if one is.
#[must_use]
#[inline(never)]
pub fn unlaid(tables: &Tables<'_>, id: AtomId, atom: &Atom<'_>, wave: u16) -> Option<Reject> {
    let mut first = None;
    for number in 0..atom.instances() {
        let Some(member) = atom.instance(number) else { continue };
        let Some(shape) = member.shape() else { continue };
        if lays_out(tables, id, &member, wave) {
            return None;
        }
        let (m, n, k) = (shape.m, shape.n, shape.k);
        let is_odd = [m, n, k].iter().any(|extent| !extent.is_power_of_two());
        let why = match is_odd && below_of(&member, &shape).is_none() {
            true => Reject::OddFactor { m, n, k },
            false => Reject::Operands { m, n, k },
        };
        first = first.or(Some(why));
    }
    first
}

/// Why a tile of these extents is none of an instruction's products, whatever warps there are.
#[must_use]
#[inline(never)]
pub fn undivided(
    tables: &Tables<'_>,
    id: AtomId,
    atom: &Atom<'_>,
    (tile, wave): ((u64, u64, u64), u16),
) -> Option<Reject> {
    if let Some(why) = unlaid(tables, id, atom, wave) {
        return Some(why);
    }
    if divides(atom, tile) {
        return None;
    }
    let MatrixShape { m, n, k, .. } = shapes(atom).next()?;
    Some(Reject::Undivided { m, n, k })
}

/// Whether rows, columns and depth of a tile are so many whole instances of an instruction.
#[must_use]
pub fn divides(atom: &Atom<'_>, tile: (u64, u64, u64)) -> bool {
    let of = |tile: u64, step: u16| tile.checked_rem(u64::from(step)) == Some(0);
    shapes(atom).any(|shape| of(tile.0, shape.m) && of(tile.1, shape.n) && of(tile.2, shape.k))
}

/// The extents of each instance of an instruction.
fn shapes(atom: &Atom<'_>) -> impl Iterator<Item = MatrixShape> {
    (0..atom.instances()).filter_map(|number| atom.instance(number)?.shape())
}

/// Whether an instance multiplies the tile of its own extents, by a wave of the machine.
fn lays_out(tables: &Tables<'_>, id: AtomId, member: &Instance<'_>, wave: u16) -> bool {
    let (Some(shape), Some(matrix)) = (member.shape(), member.atom.matrix) else { return false };
    let bits = |number: u8| {
        member.dtype(number).and_then(|id| tables.dtype(id)).map_or(0, |dtype| dtype.bits)
    };
    let tile = (u64::from(shape.m), u64::from(shape.n), u64::from(shape.k));
    let widths = (bits(matrix.a), bits(matrix.b), bits(matrix.c));
    Product::new(id, member.atom, tile, widths, (0, 0)).is_some_and(|product| {
        Some(product.c.lane.len()) == log2_exact(u64::from(wave)).map(usize::from)
    })
}
