//! From one layout of a tensor to another: where each position of the one lies in the other.

use super::{Inverse, compose, inverse};
use crate::error::Result;
use crate::layout::LayoutRef;

/// The map from the positions of `to` to those of `from`, both layouts of one tensor: `from` after
/// the inverse of `to` (the strided `invert_and_compose`).
///
/// Mode `k` of the answer takes the position on `axes[k]`, an axis of `to`; its own axes are those
/// of `from`. Replicas of `to` become iters of stride 0, replicas, offset and post-map of `from`
/// are kept.
///
/// ```
/// # use lanebook_layout::{AxisId, NoSyms, WellKnown, notation, ops};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // From rows to columns.
/// let moved = ops::between(&of("(4,8):(8,1)").view(), &of("(4,8):(1,4)").view()).unwrap();
/// assert_eq!(moved.layout.view().offset_on(1, AxisId::M), Ok(8));
/// ```
///
/// # Errors
/// Those of [`inverse`] for `to`, which must fill a box of positions, and those of [`compose`]:
/// iters of `to` that do not meet those of `from` at common boundaries.
pub fn between(from: &LayoutRef<'_>, to: &LayoutRef<'_>) -> Result<Inverse> {
    let mut back = inverse(to)?;
    back.layout = compose(from, &back.layout.view())?;
    Ok(back)
}
