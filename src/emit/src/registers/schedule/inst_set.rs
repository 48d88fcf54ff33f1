//! A set of steps that stand together: a bit each.

/// Most steps of a block that are looked at together.
pub(super) const WINDOW: usize = 4096;

/// A bit for each step of a window.
pub(super) struct InstSet([u64; WINDOW / 64]);

impl InstSet {
    pub(super) const fn new() -> Self {
        Self([0; WINDOW / 64])
    }

    pub(super) fn has(&self, at: usize) -> bool {
        self.0.get(at >> 6).is_some_and(|word| word.wrapping_shr((at & 63) as u32) & 1 != 0)
    }

    pub(super) fn set(&mut self, at: usize, on: bool) {
        if let Some(word) = self.0.get_mut(at >> 6) {
            let bit = 1u64.wrapping_shl((at & 63) as u32);
            *word = if on { *word | bit } else { *word & !bit };
        }
    }

    /// The bits from `from` on, `count` of them, go behind the others before `to`.
    pub(super) fn rotate(&mut self, from: usize, count: usize, to: usize) {
        let mut moved = 0u64;
        for k in 0..count {
            moved |= u64::from(self.has(from.saturating_add(k))).wrapping_shl(k as u32);
        }
        for at in from.saturating_add(count)..to {
            let is_set = self.has(at);
            self.set(at.saturating_sub(count), is_set);
        }
        for k in 0..count {
            let at = to.saturating_sub(count).saturating_add(k);
            self.set(at, moved.wrapping_shr(k as u32) & 1 != 0);
        }
    }
}
