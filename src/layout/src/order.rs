//! Sorting a few items in place. `core`'s sorts carry a panic for inconsistent orders; this one has
//! none.
//!
//! Stable insertion sort, quadratic: meant for at most [`crate::MAX_ITERS`] items.

/// Sorts so that no item is `before` the one ahead of it.
pub(crate) fn sort_by<T>(items: &mut [T], mut before: impl FnMut(&T, &T) -> bool) {
    for end in 1..items.len() {
        let mut k = end;
        while let Some(ahead) = k.checked_sub(1) {
            let Some([a, b]) = items.get_mut(ahead..=k) else {
                break;
            };
            if !before(b, a) {
                break;
            }
            core::mem::swap(a, b);
            k = ahead;
        }
    }
}
