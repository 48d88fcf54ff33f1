//! Products whose unit leaves its sums in tensor memory: which instruction, and how warps have to be
//! laid so that each reaches its rows there.

use crate::machine::{
    AnchorUnit, UnitRequest, unit_of_depth, warp_unit_of_depth, warp_unit_of_sums, wishes,
};
use lanebook_infer::{UnitSide, UnitTile, WarpPolicy, split_warps};
use lanebook_tables::{Arch, Tables};
use lanebook_tile::map::log2_exact;
use lanebook_tile::matrix::widest;
use lanebook_tile::unit::tensor;

/// An instruction that leaves sums in tensor memory.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TensorUnit<'t> {
    /// It, as wide as the sums are.
    pub unit: AnchorUnit<'t>,
    /// Warps along the rows and along the columns of the result.
    pub warps: (u32, u32),
}

/// The instruction of a warp that says where the sums of a product lie in a fragment.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SumsAnchor<'t> {
    /// It.
    pub unit: AnchorUnit<'t>,
    /// It multiplies the product's factors, too.
    pub is_own: bool,
}

/// The anchor of a product's sums, which takes those of its factors that lie in fragments; one that
/// does not multiply its factors only where the sums may be left in tensor memory.
#[inline(never)] // Beside `tensor_unit`, not below it.
pub(crate) fn sums_anchor<'t>(
    (tables, arch): (&'t Tables<'t>, &Arch<'t>),
    (request, depth): (&UnitRequest, u32),
    in_fragments: (bool, bool),
) -> Option<SumsAnchor<'t>> {
    let takes = |unit: &AnchorUnit<'t>| {
        let side = |side| unit.tile(side, |_| ()).is_some();
        (!in_fragments.0 || side(UnitSide::A)) && (!in_fragments.1 || side(UnitSide::B))
    };
    let own = unit_of_depth(tables, arch, request, depth).filter(takes);
    let own = own.or_else(|| warp_unit_of_depth(tables, arch, request, depth).filter(takes));
    if let Some(unit) = own {
        return Some(SumsAnchor { unit, is_own: true });
    }
    let by_unit = in_fragments == (false, false);
    let _ = tensor::memory(tables, arch).ok().filter(|_| by_unit)?;
    let unit = warp_unit_of_sums(tables, arch, request)?;
    Some(SumsAnchor { unit, is_own: false })
}

/// The instruction for a product of such a depth that leaves its sums in tensor memory, where warps
/// can be laid so that each reaches its rows there: of those the one of most rows.
#[inline(never)] // What is looked at for it leaves the stack.
pub(crate) fn tensor_unit<'t>(
    (tables, arch): (&'t Tables<'t>, &Arch<'t>),
    (request, depth): (&UnitRequest, u32),
    policy: WarpPolicy,
    anchor: &AnchorUnit<'t>,
) -> Option<TensorUnit<'t>> {
    let memory = tensor::memory(tables, arch).ok()?;
    let together = u32::from(memory.warps);
    let (m, n) = request.extents;
    let (_, columns) = (log2_exact(u64::from(m))?, log2_exact(u64::from(n))?);
    let warps = request.threads.checked_div(anchor.wave())?;
    let all = warps.checked_mul(anchor.wave())?;
    if all != request.threads || !warps.is_power_of_two() || anchor.transposed() {
        return None;
    }
    let mut best: Option<(u16, TensorUnit<'t>)> = None;
    for id in wishes(tables, request).flat_map(|wish| arch.dispatch(wish)) {
        let Some(atom) = tables.atom(*id) else { continue };
        let whole = atom.tensor().is_some_and(|own| own.a.is_none()) && atom.matrix.is_some();
        let dense = atom.more.is_none_or(|more| more.index.is_none() && more.blocks <= 1);
        if !whole || !dense || !arch.own(*id).is_some_and(|own| own.native) {
            continue;
        }
        let Some(instance) = widest(atom, columns) else { continue };
        let Some(shape) = instance.shape() else { continue };
        let rows = u32::from(shape.m);
        let split = |tile: &UnitTile<'_>| {
            split_warps(policy, (m, n), warps, &UnitTile { rows, together, ..*tile })
        };
        let Some(split) = anchor.tile(UnitSide::D, split).flatten() else { continue };
        // The warps that reach all lanes have the rows of one instruction.
        let covered = split.0.checked_div(together).and_then(|groups| groups.checked_mul(rows));
        let fits = covered == Some(m)
            && depth.checked_rem(u32::from(shape.k)) == Some(0)
            && best.as_ref().is_none_or(|best| shape.m > best.0);
        if fits {
            let unit = anchor.with_instance(*id, instance);
            best = Some((shape.m, TensorUnit { unit, warps: split }));
        }
    }
    best.map(|best| best.1)
}

/// Columns of tensor memory that the sums of a product take.
pub(crate) fn columns(unit: &AnchorUnit<'_>, request: &UnitRequest) -> Option<u32> {
    let shape = unit.instance().shape()?;
    let blocks = request.extents.0.checked_div(u32::from(shape.m))?;
    blocks.checked_mul(request.extents.1)
}
