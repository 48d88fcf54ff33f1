//! A product with its depth in another order: the order is free, but common to A and B.

use crate::map::{Columns, Fragment, KeptAxis, MAX_BITS, TileShape, log2_exact};
use crate::product::Product;

/// An order of the depth: for each of its bits the one that takes its place.
type DepthOrder = [Option<u8>; MAX_BITS];

impl Product {
    /// The same product with the depth in the order in which a known distribution of A (else B) has
    /// it; `None` where it differs in more.
    #[must_use]
    pub fn with_depth_of(&self, is_a: bool, known: &Fragment) -> Option<Self> {
        let own = if is_a { &self.a } else { &self.b };
        let depth = |is_a: bool| if is_a { KeptAxis::Cols } else { KeptAxis::Rows };
        let same =
            (own.shape, own.by_rows, own.unpacked) == (known.shape, known.by_rows, known.unpacked);
        let lengths = |f: &Fragment| (f.register.len(), f.lane.len(), f.warp.len());
        if !same || lengths(own) != lengths(known) || self.shared != [false; 2] {
            return None;
        }
        let mut order: DepthOrder = [None; MAX_BITS];
        for (&mine, &theirs) in columns(own).zip(columns(known)) {
            let k = depth(is_a);
            let (from, to) = (k.part(own.shape, mine), k.part(own.shape, theirs));
            let other = if is_a { KeptAxis::Rows } else { KeptAxis::Cols };
            if other.part(own.shape, mine) != other.part(own.shape, theirs)
                || (from == 0) != (to == 0)
            {
                return None;
            }
            if from != 0 {
                let (from, to) = (log2_exact(u64::from(from))?, log2_exact(u64::from(to))?);
                let place = order.get_mut(usize::from(from))?;
                if place.is_some_and(|known| known != to) {
                    return None;
                }
                *place = Some(to);
            }
        }
        Some(Self {
            a: reordered(&self.a, depth(true), &order)?,
            b: reordered(&self.b, depth(false), &order)?,
            ..*self
        })
    }
}

fn columns(f: &Fragment) -> impl Iterator<Item = &u32> {
    f.register.as_slice().iter().chain(f.lane.as_slice()).chain(f.warp.as_slice())
}

/// A distribution with the bits of its depth in another order.
fn reordered(f: &Fragment, depth: KeptAxis, order: &DepthOrder) -> Option<Fragment> {
    let mut out = *f;
    out.register = moved(f.register, f.shape, depth, order)?;
    out.lane = moved(f.lane, f.shape, depth, order)?;
    out.warp = moved(f.warp, f.shape, depth, order)?;
    Some(out)
}

fn moved<const N: usize>(
    columns: Columns<u32, N>,
    shape: TileShape,
    depth: KeptAxis,
    order: &DepthOrder,
) -> Option<Columns<u32, N>> {
    let mut out = Columns::new();
    for &e in columns.as_slice() {
        let part = depth.part(shape, e);
        let next = if part == 0 {
            e
        } else {
            let to = order.get(usize::from(log2_exact(u64::from(part))?)).copied().flatten()?;
            if depth == KeptAxis::Rows {
                shape.row_bit(to)
            } else {
                1u32.checked_shl(u32::from(to))?
            }
        };
        if !out.push(next) {
            return None;
        }
    }
    Some(out)
}
