//! Small things about numbers in order: sorting a few items in place, the greatest common divisor.
//!
//! `core`'s sorts carry a panic for inconsistent orders; this one has
//! none.
//!
//! Stable insertion sort, quadratic: meant for at most [`crate::MAX_ITERS`] items.

/// Sorts so that no item is `before` the one ahead of it.
pub fn sort_by<T>(items: &mut [T], mut before: impl FnMut(&T, &T) -> bool) {
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

/// The greatest common divisor; 0 is a multiple of everything.
#[must_use]
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while let Some(r) = a.checked_rem(b) {
        (a, b) = (b, r);
    }
    a
}
