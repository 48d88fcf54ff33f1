//! A product with its extents in another order: the order of each is free, but common to the two
//! tiles that have it, and so is which warp takes which part.

use crate::map::{BitMatrix, Fragment, KeptAxis, MAX_BITS, TileShape, log2_exact};
use crate::product::{Product, ProductTile};

/// Warp bits of a group.
const MAX_WARP_BITS: usize = 5;

/// An order of an extent: for each of its bits the one that takes its place. `None` where no tile
/// says: the bit stays.
type AxisOrder = [Option<u8>; MAX_BITS];

/// What makes a distribution another one.
struct TileOrder {
    rows: AxisOrder,
    cols: AxisOrder,
    /// For each bit of a warp's number the one whose part it takes.
    warps: [u8; MAX_WARP_BITS],
}

impl Product {
    /// The same product with the extents of one tile in the order in which a known distribution has
    /// them, and its warps in that of the distribution; `None` where the two differ in more.
    #[must_use]
    pub fn in_order_of(&self, tile: ProductTile, known: &Fragment) -> Option<Self> {
        let own = match tile {
            ProductTile::A => &self.a,
            ProductTile::B => &self.b,
            ProductTile::C => &self.c,
        };
        if self.shared != [false; 2] {
            return None;
        }
        let TileOrder { rows, cols, warps } = order_between(own, known)?;
        let moved = warps.iter().take(own.warp.len()).enumerate();
        let is_moved = moved.into_iter().any(|(to, from)| usize::from(*from) != to);
        if is_moved && self.warpgroup > 0 {
            return None;
        }
        let stays: AxisOrder = [None; MAX_BITS];
        let (m, n, k) = match tile {
            ProductTile::A => (&rows, &stays, &cols),
            ProductTile::B => (&stays, &cols, &rows),
            ProductTile::C => (&rows, &cols, &stays),
        };
        Some(Self {
            a: reordered(&self.a, (m, k), &warps)?,
            b: reordered(&self.b, (k, n), &warps)?,
            c: reordered(&self.c, (m, n), &warps)?,
            ..*self
        })
    }
}

/// What makes a distribution the known one.
#[inline(never)] // Of few products; what is priced stands on the stack above it.
fn order_between(own: &Fragment, known: &Fragment) -> Option<TileOrder> {
    let same =
        (own.shape, own.by_rows, own.unpacked) == (known.shape, known.by_rows, known.unpacked);
    let lengths = |f: &Fragment| (f.register.len(), f.lane.len(), f.warp.len());
    if !same || lengths(own) != lengths(known) {
        return None;
    }
    let mut order = TileOrder {
        rows: [None; MAX_BITS],
        cols: [None; MAX_BITS],
        warps: pair_warps(own, known)?,
    };
    for (mine, theirs) in registers_and_lanes(own).zip(registers_and_lanes(known)) {
        order.note(own.shape, *mine, *theirs)?;
    }
    for (theirs, from) in known.warp.as_slice().iter().zip(order.warps) {
        order.note(own.shape, own.warp.get(usize::from(from))?, *theirs)?;
    }
    Some(order)
}

fn registers_and_lanes(f: &Fragment) -> impl Iterator<Item = &u32> {
    f.register.as_slice().iter().chain(f.lane.as_slice())
}

impl TileOrder {
    /// That one element's bits take the place of others; `None` where they cannot, or where another
    /// column says otherwise.
    fn note(&mut self, shape: TileShape, mine: u32, theirs: u32) -> Option<()> {
        for (axis, order) in [(KeptAxis::Rows, &mut self.rows), (KeptAxis::Cols, &mut self.cols)] {
            let (from, to) = (axis.part(shape, mine), axis.part(shape, theirs));
            if from == 0 && to == 0 {
                continue;
            }
            let (from, to) = (log2_exact(u64::from(from))?, log2_exact(u64::from(to))?);
            let place = order.get_mut(usize::from(from))?;
            if place.is_some_and(|known| known != to) {
                return None;
            }
            *place = Some(to);
        }
        Some(())
    }
}

/// For each bit of a warp's number the one whose part it takes: one that is along the same extent
/// stays, the others are exchanged for each other.
fn pair_warps(own: &Fragment, known: &Fragment) -> Option<[u8; MAX_WARP_BITS]> {
    let along = |f: &Fragment, bit: usize| {
        let e = f.warp.get(bit)?;
        Some([KeptAxis::Rows, KeptAxis::Cols].map(|axis| axis.part(f.shape, e) != 0))
    };
    let stays = |bit: usize| along(own, bit) == along(known, bit);
    let mut warps = [0; MAX_WARP_BITS];
    let mut taken = [false; MAX_WARP_BITS];
    for (to, place) in warps.iter_mut().enumerate().take(known.warp.len()) {
        let is_free = |from: &usize| taken.get(*from) == Some(&false) && !stays(*from);
        let fits = |from: &usize| along(own, *from) == along(known, to);
        let from = match stays(to) {
            true => to,
            false => (0..own.warp.len()).find(|from| is_free(from) && fits(from))?,
        };
        *taken.get_mut(from)? = true;
        *place = u8::try_from(from).ok()?;
    }
    Some(warps)
}

/// A distribution with its bits in another order: those of its rows and its columns, and warps.
fn reordered(
    f: &Fragment,
    orders: (&AxisOrder, &AxisOrder),
    warps: &[u8; MAX_WARP_BITS],
) -> Option<Fragment> {
    let mut out = *f;
    out.register = moved(&f.register, f.shape, orders)?;
    out.lane = moved(&f.lane, f.shape, orders)?;
    let mut in_order = BitMatrix::new();
    for from in warps.iter().take(f.warp.len()) {
        if !in_order.push(f.warp.get(usize::from(*from))?) {
            return None;
        }
    }
    out.warp = moved(&in_order, f.shape, orders)?;
    Some(out)
}

fn moved<const N: usize>(
    columns: &BitMatrix<u32, N>,
    shape: TileShape,
    (rows, cols): (&AxisOrder, &AxisOrder),
) -> Option<BitMatrix<u32, N>> {
    let place = |part: u32, order: &AxisOrder| -> Option<Option<u8>> {
        if part == 0 {
            return Some(None);
        }
        let bit = log2_exact(u64::from(part))?;
        Some(Some(order.get(usize::from(bit)).copied()?.unwrap_or(bit)))
    };
    let mut out = BitMatrix::new();
    for &e in columns.as_slice() {
        let row = place(KeptAxis::Rows.part(shape, e), rows)?.map_or(0, |bit| shape.row_bit(bit));
        let col = match place(KeptAxis::Cols.part(shape, e), cols)? {
            Some(bit) => 1u32.checked_shl(u32::from(bit))?,
            None => 0,
        };
        if !out.push(row | col) {
            return None;
        }
    }
    Some(out)
}
