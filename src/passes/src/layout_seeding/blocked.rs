//! Nested tiles from an order of dimensions and a lane's share.
use crate::layout_seeding::seeded_layouts::{Core, NewLayout};
use lanebook_layout::triton::{Blocked, Cga, Extents, Order};

/// Dimensions, those with the longest runs first; of equal ones the last first.
pub(super) fn order_of(contiguity: impl Iterator<Item = u8> + Clone) -> Option<Order> {
    let rank = contiguity.clone().count();
    let mut out = Order::new();
    for wanted in (0..=crate::layout_seeding::axis::ANY).rev() {
        for at in (0..rank).rev() {
            if contiguity.clone().nth(at) == Some(wanted) {
                out.push(u8::try_from(at).ok()?).ok()?;
            }
        }
    }
    (out.iter().count() == rank).then_some(out)
}

/// Lanes and warps of the work items.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Workers {
    /// Lanes of a warp.
    pub lanes: u32,
    /// Warps of a block.
    pub warps: u32,
}

/// Spreads lanes, then warps, over a tile's dimensions in order; what is left goes to the last.
pub(super) fn blocked(
    shape: &[u32],
    share: &Extents,
    order: &Order,
    workers: Workers,
) -> Option<NewLayout> {
    let rank = shape.len();
    let (mut lanes, mut warps) = (Extents::new(), Extents::new());
    for _ in 0..rank {
        lanes.push(1).ok()?;
        warps.push(1).ok()?;
    }
    let (mut left_lanes, mut left_warps) = (workers.lanes.max(1), workers.warps.max(1));
    let mut left = left_lanes.checked_mul(left_warps)?;
    for (number, dimension) in order.iter().enumerate() {
        let at = usize::from(dimension);
        let (lane, warp) = (lanes.as_mut_slice().get_mut(at)?, warps.as_mut_slice().get_mut(at)?);
        if number.saturating_add(1) == rank {
            (*lane, *warp) = (left_lanes, left_warps);
            break;
        }
        let pieces = shape.get(at)?.checked_div(share.get(at)?)?.max(1);
        let threads = left.max(1).min(pieces);
        *lane = threads.min(left_lanes).max(1);
        *warp = threads.checked_div(*lane)?.min(left_warps).max(1);
        left_lanes = left_lanes.checked_div(*lane)?.max(1);
        left_warps = left_warps.checked_div(*warp)?.max(1);
        left = left.checked_div(threads.max(1))?;
    }
    let core = Blocked {
        size_per_thread: *share,
        threads_per_warp: lanes,
        warps_per_cta: warps,
        order: *order,
        cga: Cga::default(),
    };
    Some(NewLayout::of(Core::Blocked(core)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(shape: &[u32], share: &[u32], contiguity: &[u8]) -> std::string::String {
        let order = order_of(contiguity.iter().copied()).expect("an order");
        let share = Extents::from_slice(share).expect("few dimensions");
        let made =
            blocked(shape, &share, &order, Workers { lanes: 32, warps: 4 }).expect("a layout");
        let mut out = std::string::String::new();
        made.print(&mut out).expect("it prints");
        out
    }

    #[test]
    fn lanes_follow_the_contiguous_dimension() {
        assert_eq!(
            text(&[128, 64], &[1, 8], &[0, 6]),
            "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"
        );
        assert_eq!(
            text(&[64, 128], &[8, 1], &[6, 0]),
            "#ttg.blocked<{sizePerThread = [8, 1], threadsPerWarp = [8, 4], warpsPerCTA = [1, 4], order = [0, 1]}>"
        );
        // Equal runs: the last dimension first.
        assert_eq!(
            text(&[16, 16], &[1, 1], &[0, 0]),
            "#ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>"
        );
    }
}
